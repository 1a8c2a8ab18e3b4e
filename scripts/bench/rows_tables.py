"""Rows: fetching rows: lookup, a training step of the table, BERT's embedding layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from scripts.bench import peers
from scripts.bench.measure import Target, Way, Work, peer, row
from tokpos._types import Tensor
from tokpos.bert import BertEmbeddings
from tokpos.embedding import TokenEmbedding
from tokpos.lookup import lookup, one_hot_product

VOCABULARY, WIDTH = 50_257, 384
MANY = 64
"""Batches of IDs that take turns, as in training: always the same rows would stay in the cache."""


def _in_turn(batches: Tensor, do: Callable[[Tensor], Any]) -> Callable[[], Any]:
    turn = 0

    def call() -> Any:
        nonlocal turn
        turn += 1
        return do(batches[turn % len(batches)])

    return call


@row("lookup", "lookup of [8, 512] rows, V = 50,257, D = 384", Target(ratio=1.2))
def looked_up() -> Work:
    table = torch.randn(VOCABULARY, WIDTH)
    batches = torch.randint(VOCABULARY, (MANY, 8, 512))
    return Work(
        limit=Way("F.embedding", _in_turn(batches, lambda ids: F.embedding(ids, table))),
        ours=_in_turn(batches, lambda ids: lookup(ids, table)),
        others=[
            Way("table[ids]", _in_turn(batches, lambda ids: table[ids])),
            Way(
                "one-hot product",
                _in_turn(batches[:, 0, :], lambda ids: one_hot_product(ids, table)),
            ),
        ],
    )


# One training step


GPT_2 = 768
TOKENS = (4, 128)


def _step(make: Callable[[], nn.Module], optimizer: type, **settings: Any) -> Callable[[], Any]:
    table = make()
    optimize = optimizer(table.parameters(), **settings)
    grad = torch.randn(*TOKENS, GPT_2)

    def do(ids: Tensor) -> None:
        table(ids).backward(grad)
        optimize.step()
        optimize.zero_grad()  # last, so that the gradient's memory counts in each call

    return _in_turn(torch.randint(VOCABULARY, (MANY, *TOKENS)), do)


def _compare_steps(sparse: type, dense: type) -> Work:
    def plain() -> nn.Module:
        return nn.Embedding(VOCABULARY, GPT_2, sparse=True)

    def ours(is_sparse: bool) -> nn.Module:
        return TokenEmbedding(VOCABULARY, GPT_2, sparse=is_sparse)

    return Work(
        limit=Way(f"nn.Embedding, sparse, {sparse.__name__}", _step(plain, sparse, lr=0.1)),
        ours=_step(lambda: ours(True), sparse, lr=0.1),
        others=[Way(f"dense, {dense.__name__}", _step(lambda: ours(False), dense, lr=0.1))],
    )


@row(
    "training-step",
    "one training step of GPT-2's table (V = 50,257, D = 768) by SGD, 512 tokens",
    Target(ratio=1.2, times_faster={"dense, SGD": 40.0}),
)
def training_step() -> Work:
    return _compare_steps(torch.optim.SGD, torch.optim.SGD)


@row(
    "training-step-adam",
    "the same by SparseAdam",
    Target(ratio=1.2, times_faster={"dense, Adam": 40.0}),
)
def training_step_adam() -> Work:
    return _compare_steps(torch.optim.SparseAdam, torch.optim.Adam)


# BERT


def _bert(mixed: bool) -> Work:
    layer = BertEmbeddings(30_522, 768).eval().requires_grad_(False)
    fused = layer.fused()
    ids = torch.randint(1000, 30_000, (32, 128))
    segments = torch.arange(128).ge(60).long().expand(32, 128).contiguous() if mixed else None
    table, norm = layer.word_embeddings.weight, layer.LayerNorm
    double = BertEmbeddings(30_522, 768).double().eval().requires_grad_(False)
    double.load_state_dict({name: x.double() for name, x in layer.state_dict().items()})
    exact = double(ids, segments)
    return Work(
        limit=Way(
            "a gather and a LayerNorm",
            lambda: F.layer_norm(F.embedding(ids, table), (768,), norm.weight, norm.bias, 1e-12),
        ),
        ours=lambda: fused(ids, segments),
        others=[
            Way("tokpos, three lookups", lambda: layer(ids, segments)),
            peer("transformers", lambda: peers.transformers_bert(layer, ids, segments)),
        ],
        error=lambda out: float((out.double() - exact).abs().max()),
    )


@row(
    "bert-embedding",
    "BERT's embedding, inference, [32, 128], D = 768",
    Target(ratio=1.35, error=5e-6),
)
def bert() -> Work:
    return _bert(mixed=False)


@row(
    "bert-embedding-pairs",
    "BERT's embedding, inference, two segments in each row",
    Target(ratio=1.7, error=5e-6),
)
def bert_pairs() -> Work:
    return _bert(mixed=True)
