"""Rows: RoPE, in both layouts, forward and backward, in half precision, compiled, step by step."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from scripts.bench import peers
from scripts.bench.measure import Target, Way, Work, peer, row
from tokpos._types import Tensor
from tokpos.rope import Layout, RotaryEncoding, rotate, rotate_by_formula, rotation
from tokpos.sinusoidal import frequencies

SHAPE = (8, 12, 512, 64)
OUTPUTS = 24.0
"""MiB of q and k in float32."""


def _rotated(q: Tensor, k: Tensor, layout: Layout, start: int) -> Callable[[], Any]:
    """Ours: cosines and sines once for all layers, as the models of transformers have them."""
    places = torch.arange(start, start + q.shape[-2])
    turn = rotation(places, frequencies(q.shape[-1]))
    return lambda: (rotate(q, turn, layout), rotate(k, turn, layout))


def _exact(q: Tensor, k: Tensor, layout: Layout, start: int) -> Tensor:
    """Both, turned in float64."""
    places = torch.arange(start, start + q.shape[-2])
    turn = rotation(places, frequencies(q.shape[-1]), dtype=torch.float64)
    return torch.stack([rotate_by_formula(x.double(), turn, layout) for x in (q, k)])


def _error(q: Tensor, k: Tensor, layout: Layout, start: int) -> Callable[[Any], float]:
    exact = _exact(q.detach(), k.detach(), layout, start)
    return lambda out: float((torch.stack(tuple(out)).double() - exact).abs().max())


def _others(q: Tensor, k: Tensor, layout: Layout, start: int = 0) -> list[Way]:
    known = [peer("transformers", lambda: peers.transformers_rope(q, k, layout, start))]
    if layout == "interleaved":  # the others know no other layout
        known += [
            peer("torchtune", lambda: peers.torchtune_rope(q, k, start)),
            peer("rotary-embedding-torch", lambda: peers.rotary_embedding_torch(q, k, start)),
            peer("x-transformers", lambda: peers.x_transformers_rope(q, k, start)),
        ]
    return known


def _module(q: Tensor, k: Tensor, layout: Layout, start: int) -> Way:
    encode = RotaryEncoding(q.shape[-1], layout=layout)
    places = torch.arange(start, start + q.shape[-2])
    return Way("tokpos, angles included", lambda: encode(q, k, places, places))


def _forward(layout: Layout, start: int = 0, dtype: torch.dtype = torch.float32) -> Work:
    q, k = torch.randn(2, *SHAPE, dtype=dtype).unbind()
    return Work(
        limit=Way("clone of q and k", lambda: (q.clone(), k.clone())),
        ours=_rotated(q, k, layout, start),
        others=[_module(q, k, layout, start), *_others(q, k, layout, start)],
        error=_error(q, k, layout, start),
    )


@row(
    "rope-interleaved",
    "RoPE forward, interleaved, q and k of [8, 12, 512, 64]",
    Target(ratio=1.3, mib=1.05 * OUTPUTS),
)
def interleaved() -> Work:
    return _forward("interleaved")


@row(
    "rope-half-split",
    "RoPE forward, half-split, q and k of [8, 12, 512, 64]",
    Target(ratio=2.5, mib=1.05 * OUTPUTS),
)
def half_split() -> Work:
    return _forward("half-split")


@row(
    "rope-far",
    "RoPE forward, half-split, positions 32,768 to 33,279",
    Target(error=1e-6),
)
def far() -> Work:
    return _forward("half-split", start=32_768)


# Forward and backward


def with_backward(forward: Callable[[], Any], inputs: Sequence[Tensor]) -> Callable[[], Any]:
    """Forward, and the gradients of the inputs, or of those that the call names as its own."""
    inputs = getattr(forward, "inputs", inputs)

    def outputs() -> tuple[Tensor, ...]:
        out = forward()
        return (out,) if isinstance(out, Tensor) else tuple(out)

    grads = [torch.randn_like(out) for out in outputs()]
    return lambda: torch.autograd.grad(outputs(), inputs, grads)


def _training(layout: Layout) -> Work:
    q, k = (x.requires_grad_() for x in torch.randn(2, *SHAPE).unbind())
    both = partial(with_backward, inputs=(q, k))
    others = [
        Way(way.name, both(way.call) if way.call else None, way.why_not)
        for way in _others(q, k, layout)
    ]
    data = [x.detach() for x in (q, k)] * 2
    return Work(
        limit=Way("4 clones", lambda: [x.clone() for x in data]),
        ours=both(_rotated(q, k, layout, 0)),
        others=others,
    )


@row(
    "rope-interleaved-training",
    "RoPE forward and backward, interleaved",
    Target(ratio=1.4),
)
def interleaved_training() -> Work:
    return _training("interleaved")


@row(
    "rope-half-split-training",
    "RoPE forward and backward, half-split",
    Target(ratio=2.9),
)
def half_split_training() -> Work:
    return _training("half-split")


# bfloat16


def _half_precision(layout: Layout) -> Work:
    """Angles and products in float32; the result may be rounded to bfloat16, and no more."""
    work = _forward(layout, dtype=torch.bfloat16)
    q, k = (x.detach() for x in work.limit.call())  # type: ignore[misc]
    exact = _exact(q, k, layout, 0)
    # bfloat16 keeps 8 digits: half a unit in the last place.
    rounding = torch.exp2(exact.abs().clamp(min=1e-30).log2().floor() - 8)

    def beyond(out: Any) -> float:
        wrong = (torch.stack(tuple(out)).double() - exact).abs() - rounding
        return float(wrong.max().clamp(min=0))

    return Work(work.limit, work.ours, work.others, beyond, "error beyond the rounding")


@row(
    "rope-interleaved-bf16",
    "RoPE forward, interleaved, bfloat16",
    Target(ratio=4.8, error=1e-6),
)
def interleaved_bf16() -> Work:
    return _half_precision("interleaved")


@row(
    "rope-half-split-bf16",
    "RoPE forward, half-split, bfloat16",
    Target(ratio=4.8, error=1e-6),
)
def half_split_bf16() -> Work:
    return _half_precision("half-split")


# Compiled


def _compiled(layout: Layout, training: bool) -> Work:
    q, k = (x.requires_grad_(training) for x in torch.randn(2, *SHAPE).unbind())
    data = [x.detach() for x in (q, k)] * (2 if training else 1)
    limit = Way(f"{len(data)} clones", lambda: [x.clone() for x in data])
    if not any(map(shutil.which, ("g++", "clang++"))):
        return Work(limit, None, why_not="torch.compile needs a C++ compiler")
    turn = rotation(torch.arange(q.shape[-2]), frequencies(q.shape[-1]))

    @torch.compile(fullgraph=True)
    def ours(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return rotate(q, turn, layout), rotate(k, turn, layout)

    def forward() -> tuple[Tensor, Tensor]:
        return ours(q, k)

    if training:
        return Work(limit, with_backward(forward, (q, k)))
    return Work(limit, forward, error=_error(q, k, layout, 0))


@row(
    "rope-compiled",
    "RoPE forward under torch.compile, half-split",
    Target(ratio=1.3),
)
def compiled() -> Work:
    return _compiled("half-split", training=False)


@row(
    "rope-compiled-training",
    "RoPE forward and backward under torch.compile, half-split",
    Target(ratio=1.5),
)
def compiled_training() -> Work:
    return _compiled("half-split", training=True)


@row(
    "rope-compiled-interleaved",
    "RoPE forward under torch.compile, interleaved",
    Target(ratio=1.3),
)
def compiled_interleaved() -> Work:
    return _compiled("interleaved", training=False)


@row(
    "rope-compiled-interleaved-training",
    "RoPE forward and backward under torch.compile, interleaved",
    Target(ratio=1.5),
)
def compiled_interleaved_training() -> Work:
    return _compiled("interleaved", training=True)


# One token


@row(
    "rope-step",
    "RoPE of one token, half-split, q and k of [8, 12, 1, 64] at position 4,000",
    Target(ratio=2.0),
)
def step() -> Work:
    """Starting the kernels is all the work here, and ours checks its arguments as well."""
    q, k = torch.randn(2, *SHAPE[:2], 1, SHAPE[-1]).unbind()
    turn = rotation(torch.tensor([4000]), frequencies(SHAPE[-1]))
    cos, sin = (torch.cat([x, x], dim=-1) for x in turn)
    layout: Layout = "half-split"
    return Work(
        limit=Way("the usual formula, unchecked", lambda: peers.rope_by_halves(q, k, cos, sin)),
        ours=_rotated(q, k, layout, 4000),
        others=[_module(q, k, layout, 4000), *_others(q, k, layout, 4000)],
        error=_error(q, k, layout, 4000),
    )
