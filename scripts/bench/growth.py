"""How time and peak memory grow with the sequence S, the vocabulary V, the heads H.

A growth is a function of one size that returns the ways as calls. Sizes and ways take turns in
every round, and the exponent is the slope of the straight line through the logarithms: 1 where
twice the size costs twice as much, 2 where it costs four times as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from scripts.bench import peers
from scripts.bench.measure import SEED, Call, Settings, peaks_of_growth, seconds, spread
from tokpos._types import Tensor
from tokpos.alibi import alibi_attention, alibi_slopes
from tokpos.embedding import TokenEmbedding
from tokpos.lookup import lookup, one_hot_product
from tokpos.rope import rotate, rotate_by_formula, rotation
from tokpos.shaw import ShawEncoding, clipped_offsets
from tokpos.sinusoidal import frequencies, sinusoidal, sinusoidal_table
from tokpos.t5 import t5_bias, t5_buckets

LEAST_MIB = 0.25
"""Below this a peak is noise of the allocator and has no exponent."""


@dataclass(frozen=True)
class Growth:
    """Ways to do one work, measured at several sizes."""

    name: str
    title: str
    against: str
    """What the sizes are: S, V or H."""

    sizes: Sequence[int]
    prepare: Callable[[int], dict[str, Call]]

    def calls(self) -> dict[tuple[str, int], Call]:
        """The call of each way at each size."""
        torch.manual_seed(SEED)
        return {
            (way, size): call for size in self.sizes for way, call in self.prepare(size).items()
        }

    def labelled_calls(self) -> dict[str, Call]:
        """The same with the keys that JSON can hold."""
        return {_label(way, size): call for (way, size), call in self.calls().items()}


GROWTHS: dict[str, Growth] = {}


def growth(
    name: str, title: str, against: str, sizes: Sequence[int]
) -> Callable[[Callable[[int], dict[str, Call]]], Growth]:
    """Make a function of a size into a growth."""

    def add(prepare: Callable[[int], dict[str, Call]]) -> Growth:
        GROWTHS[name] = Growth(name, title, against, sizes, prepare)
        return GROWTHS[name]

    return add


def measure(curve: Growth, settings: Settings) -> dict[str, Any]:
    """Times, peaks and exponents of every way, as JSON can hold them."""
    taken = seconds(curve.calls(), settings)
    peaks = peaks_of_growth(curve.name)
    ways = []
    for name in dict.fromkeys(way for way, _ in taken):
        spreads = [spread(taken[name, size]) for size in curve.sizes]
        found: dict[str, Any] = {
            "name": name,
            "milliseconds": [[_rounded(1e3 * cut) for cut in cuts] for cuts in spreads],
            "time_exponent": _rounded(exponent(curve.sizes, [cuts[1] for cuts in spreads])),
        }
        if peaks:
            mib = [peaks[_label(name, size)] for size in curve.sizes]
            counted = [(s, m) for s, m in zip(curve.sizes, mib, strict=True) if m >= LEAST_MIB]
            found["mib"] = mib
            found["memory_exponent"] = (
                _rounded(exponent(*zip(*counted, strict=True))) if (len(counted) > 2) else None
            )
        ways.append(found)
    return {
        "name": curve.name,
        "title": curve.title,
        "against": curve.against,
        "sizes": list(curve.sizes),
        "rounds": len(next(iter(taken.values()))),
        "ways": ways,
    }


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Slope of the least-squares line through log value against log size."""
    xs, ys = [math.log(x) for x in sizes], [math.log(y) for y in values]
    x_mean, y_mean = fmean(xs), fmean(ys)
    rise = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return rise / sum((x - x_mean) ** 2 for x in xs)


def _label(way: str, size: int) -> str:
    return f"{way} @ {size}"


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")


# Against the length S


@growth(
    "growth-sinusoidal",
    "sinusoidal table of width 128",
    "S",
    [512, 1024, 2048, 4096, 8192, 16_384],
)
def sinusoidal_tables(length: int) -> dict[str, Call]:
    places = torch.arange(length)
    return {
        "angle addition": lambda: sinusoidal_table(length, 128),
        "formula": lambda: sinusoidal(places, 128),
    }


@growth(
    "growth-rope",
    "RoPE of queries of 8 heads, d = 64",
    "S",
    [256, 512, 1024, 2048, 4096, 8192],
)
def rope(length: int) -> dict[str, Call]:
    q = torch.randn(1, 8, length, 64)
    turn = rotation(torch.arange(length), frequencies(64))
    return {
        "interleaved": lambda: rotate(q, turn, "interleaved"),
        "half-split": lambda: rotate(q, turn, "half-split"),
        "formula": lambda: rotate_by_formula(q, turn, "half-split"),
    }


def _alibi(heads: int, length: int) -> dict[str, Call]:
    q, k, v = torch.randn(3, 1, heads, length, 64).unbind()
    slopes = alibi_slopes(heads)
    return {
        "one vector as the mask": lambda: alibi_attention(q, k, v, slopes),
        "built [H, S, S]": lambda: peers.built_bias_attention(q, k, v, slopes),
    }


@growth(
    "growth-alibi-length",
    "attention with ALiBi, 4 heads",
    "S",
    [256, 512, 1024, 2048, 4096],
)
def alibi_by_length(length: int) -> dict[str, Call]:
    return _alibi(4, length)


@growth(
    "growth-alibi-heads",
    "attention with ALiBi, S = 1,024",
    "H",
    [1, 2, 4, 8, 16],
)
def alibi_by_heads(heads: int) -> dict[str, Call]:
    return _alibi(heads, 1024)


@growth(
    "growth-t5",
    "T5's bias, 4 heads",
    "S",
    [128, 256, 512, 1024],
)
def t5(length: int) -> dict[str, Call]:
    table, place = torch.randn(32, 4), torch.arange(length)
    return {
        "each offset once": lambda: t5_bias(table, length, length),
        "each pair": lambda: (
            F.embedding(t5_buckets(place - place[:, None]), table).permute(2, 0, 1).contiguous()
        ),
    }


@growth(
    "growth-shaw",
    "Shaw's term for the keys, 4 heads, clip 16",
    "S",
    [128, 256, 512, 1024],
)
def shaw(length: int) -> dict[str, Call]:
    q, place = torch.randn(1, 4, length, 64), torch.arange(length)
    encode = ShawEncoding(64, 16).requires_grad_(False)
    index = clipped_offsets(place - place[:, None], 16)
    return {
        "33 products, then spread": lambda: encode.into_scores(q, place, place).inside,
        "a vector for each pair": lambda: peers.shaw_keys_by_einsum(q, encode.key_vectors, index),
    }


# Against the vocabulary V


@growth(
    "growth-lookup",
    "128 rows of width 384",
    "V",
    [1000, 2000, 5000, 10_000, 20_000, 50_257],
)
def lookups(size: int) -> dict[str, Call]:
    table, ids = torch.randn(size, 384), torch.randint(size, (128,))
    return {
        "lookup": lambda: lookup(ids, table),
        "one-hot product": lambda: one_hot_product(ids, table),
    }


@growth(
    "growth-training-step",
    "one training step of the table by SGD, 1,024 tokens, D = 128",
    "V",
    [1000, 2000, 5000, 10_000, 20_000, 50_257],
)
def training_steps(size: int) -> dict[str, Call]:
    ids, grad = torch.randint(size, (1024,)), torch.randn(1024, 128)

    def step(sparse: bool) -> Call:
        table: nn.Module = TokenEmbedding(size, 128, sparse=sparse)
        optimizer = torch.optim.SGD(table.parameters(), lr=0.1)

        def call() -> Tensor:
            out: Tensor = table(ids)
            out.backward(grad)
            optimizer.step()
            optimizer.zero_grad()  # last, so that the gradient's memory counts in each call
            return out

        return call

    return {"sparse": step(True), "dense": step(False)}
