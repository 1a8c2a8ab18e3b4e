"""Rows: what enters the scores: ALiBi, T5's bias, Shaw's vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from scripts.bench import peers
from scripts.bench.measure import Target, Way, Work, peer, row
from scripts.bench.rows_rope import with_backward
from tokpos._types import Tensor
from tokpos.alibi import alibi_attention, alibi_slopes
from tokpos.shaw import ShawEncoding, clipped_offsets
from tokpos.t5 import t5_bias, t5_buckets


def _to(exact: Tensor) -> Callable[[Tensor], float]:
    return lambda out: float((out.detach().double() - exact).abs().max())


@row(
    "alibi-attention",
    "attention with ALiBi, causal, S = 2,048, 16 heads",
    Target(ratio=2.0, mib=20.0, error=5e-6),
)
def alibi() -> Work:
    heads = 16
    q, k, v = torch.randn(3, 1, heads, 2048, 64).unbind()
    slopes = alibi_slopes(heads)
    exact = peers.built_bias_attention(
        q.double(), k.double(), v.double(), alibi_slopes(heads, torch.float64)
    )
    return Work(
        limit=Way(
            "PyTorch's attention, no bias",
            lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        ),
        ours=lambda: alibi_attention(q, k, v, slopes),
        others=[
            peer("transformers", lambda: peers.bloom_attention(q, k, v), " (Bloom)"),
            Way("built [H, S, S]", lambda: peers.built_bias_attention(q, k, v, slopes)),
            peer("torch", lambda: peers.flex_alibi_attention(q, k, v, slopes), " (flex)"),
        ],
        error=_to(exact),
    )


# T5

T5_HEADS, T5_LENGTH = 12, 512


def _t5(training: bool) -> Work:
    table = torch.randn(32, T5_HEADS, requires_grad=training)
    place = torch.arange(T5_LENGTH)
    exact = F.embedding(t5_buckets(place - place[:, None]), table.detach()).permute(2, 0, 1)
    calls: dict[str, Callable[[int, int, Tensor], Callable[[], Any]]] = {
        "transformers": peers.transformers_t5_bias,
        "x-transformers": peers.x_transformers_t5_bias,
    }

    def whole(forward: Callable[[], Any]) -> Callable[[], Any]:
        return with_backward(forward, [table]) if training else forward

    def theirs(package: str) -> Way:
        return peer(package, lambda: whole(calls[package](T5_HEADS, T5_LENGTH, table)))

    data = exact.contiguous()
    return Work(
        limit=Way("2 clones of the bias", lambda: (data.clone(), data.clone()))
        if training
        else Way("clone of the bias", data.clone),
        ours=whole(lambda: t5_bias(table, T5_LENGTH, T5_LENGTH)),
        others=[theirs(package) for package in calls],
        error=None if training else _to(exact.double()),
    )


@row("t5-bias", "T5 bias forward, S = 512, 12 heads", Target(ratio=1.4, error=0.0))
def t5() -> Work:
    return _t5(training=False)


@row("t5-bias-training", "T5 bias forward and backward", Target(ratio=3.2))
def t5_training() -> Work:
    return _t5(training=True)


# Shaw

CLIP = 16


def _shaw_keys(training: bool) -> Work:
    length = 2048
    q, k = (x.requires_grad_(training) for x in torch.randn(2, 1, 1, length, 64).unbind())
    encode = ShawEncoding(64, CLIP).requires_grad_(training)
    table, place = encode.key_vectors, torch.arange(length)
    index = clipped_offsets(place - place[:, None], CLIP)

    def whole(forward: Callable[[], Any], *inputs: Tensor) -> Callable[[], Any]:
        return with_backward(forward, inputs) if training else forward

    exact = (q.double() @ table.double().mT).gather(-1, index.expand(1, 1, length, length))
    return Work(
        limit=Way("q @ k.mT", whole(lambda: q @ k.mT, q, k)),
        ours=whole(lambda: encode.into_scores(q, place, place).inside, q, table),
        others=[
            Way(
                "a vector for each pair",
                whole(lambda: peers.shaw_keys_by_einsum(q, table, index), q, table),
            ),
            Way("skewing", whole(lambda: peers.shaw_keys_by_skewing(q, table), q, table)),
        ],
        error=None if training else _to(exact.detach()),
    )


@row("shaw-keys", "Shaw's term for the keys, S = 2,048, clip 16", Target(ratio=1.2))
def shaw_keys() -> Work:
    return _shaw_keys(training=False)


@row("shaw-keys-training", "the same, forward and backward", Target(ratio=1.4))
def shaw_keys_training() -> Work:
    return _shaw_keys(training=True)


@row("shaw-values", "Shaw's term for the values, S = 1,024, clip 16", Target(ratio=3.0))
def shaw_values() -> Work:
    length = 1024
    weights = torch.randn(1, 4, length, length).softmax(-1)
    v = torch.randn(1, 4, length, 64)
    encode = ShawEncoding(64, CLIP, values=True).requires_grad_(False)
    table, place = encode.value_vectors, torch.arange(length)
    assert table is not None
    vectors: Tensor = table
    index = clipped_offsets(place - place[:, None], CLIP)
    exact = peers.shaw_values_by_einsum(weights.double(), vectors.double(), index)
    return Work(
        limit=Way("weights @ v", lambda: weights @ v),
        ours=lambda: encode.into_values(weights, place, place),
        others=[
            Way(
                "a vector for each pair",
                lambda: peers.shaw_values_by_einsum(weights, vectors, index),
            )
        ],
        error=_to(exact),
    )
