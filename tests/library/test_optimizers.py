"""Which rows of a table an optimizer moves, and which optimizer takes which kind of gradient."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tokpos import TokenEmbedding
from tokpos.head import LanguageModelHead, tie

IDS = torch.tensor([[2, 3, 4], [2, 5, 0]])
SGD, Adam, AdamW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
SparseAdam = torch.optim.SparseAdam
RATE = 0.1


def ones(rows=3, **given_):
    # Width 2: of width 1, torch leaves a sparse gradient of stride 0 unapplied.
    return TokenEmbedding.from_table(torch.ones(rows, 2), **given_)


def train(layer, optimizer, ids_of_each_step):
    """The table after each step; the loss is the sum of the rows that were looked up."""
    tables = [layer.weight.detach().clone()]
    for ids in ids_of_each_step:
        optimizer.zero_grad()
        layer(torch.tensor(ids)).sum().backward()
        optimizer.step()
        tables.append(layer.weight.detach().clone())
    return torch.stack(tables)


def adam_moves(gradients, betas=(0.9, 0.999), eps=1e-8):
    """Adam's moves of one number, by the formulas of Kingma and Ba's Algorithm 1."""
    mean = square = 0.0
    moves = []
    for step, gradient in enumerate(gradients, 1):
        mean = betas[0] * mean + (1 - betas[0]) * gradient
        square = betas[1] * square + (1 - betas[1]) * gradient**2
        steady = math.sqrt(square / (1 - betas[1] ** step))
        moves.append(-RATE * mean / (1 - betas[0] ** step) / (steady + eps))
    return moves


# Rows that were not looked up


@pytest.mark.parametrize(
    ("make", "sparse", "row_0", "row_2"),
    [
        (lambda p: SGD(p, lr=RATE), False, 0.9, 1.0),
        (lambda p: SGD(p, lr=RATE), True, 0.9, 1.0),
        (lambda p: SGD(p, lr=RATE, momentum=0.9), False, 0.81, 1.0),
        (lambda p: SGD(p, lr=RATE, weight_decay=0.1), False, 0.8811, 0.9801),
        (lambda p: Adam(p, lr=RATE), False, 0.832994, 1.0),
        (lambda p: SparseAdam(list(p), lr=RATE), True, 0.9, 1.0),
        (lambda p: AdamW(p, lr=RATE, weight_decay=0.0), False, 0.832994, 1.0),
        (lambda p: AdamW(p, lr=RATE, weight_decay=0.1), False, 0.814094, 0.9801),
    ],
    ids=["SGD", "sparse SGD", "momentum", "decay", "Adam", "SparseAdam", "AdamW 0", "AdamW"],
)
def test_D04_the_reported_values(make, sparse, row_0, row_2):
    layer = ones(sparse=sparse)
    tables = train(layer, make(layer.parameters()), [[0], [1]])
    assert tables[2, 0].tolist() == pytest.approx([row_0] * 2, abs=1e-6)
    assert tables[2, 2].tolist() == pytest.approx([row_2] * 2, abs=1e-6)


def test_D04_adam_s_move_is_that_of_the_formula():
    moves = adam_moves([1.0, 0.0, 0.0])
    assert moves[1] == pytest.approx(-0.067006, abs=1e-6)
    layer = ones()
    tables = train(layer, Adam(layer.parameters(), lr=RATE), [[0], [1], [1]])
    assert tables[:, 0, 0].diff().tolist() == pytest.approx(moves, abs=1e-6)
    idle = adam_moves([0.0, 1.0, 1.0])
    assert tables[:, 1, 0].diff().tolist() == pytest.approx(idle, abs=1e-6)


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=4))
def test_D04_which_rows_move_at_each_step(steps):
    def moved(make, sparse):
        layer = ones(5, sparse=sparse)
        tables = train(layer, make(list(layer.parameters())), steps)
        return [set(row.nonzero()[:, 0].tolist()) for row in (tables[1:] != tables[:-1])]

    now = [set(ids) for ids in steps]
    so_far = [set().union(*now[: i + 1]) for i in range(len(now))]
    everything = [set(range(5))] * len(now)
    for make, sparse, expected in (
        (lambda p: SGD(p, lr=RATE), False, now),
        (lambda p: SGD(p, lr=RATE), True, now),
        (lambda p: SparseAdam(p, lr=RATE), True, now),
        (lambda p: SGD(p, lr=RATE, momentum=0.9), False, so_far),
        (lambda p: SGD(p, lr=RATE, momentum=0.9), True, so_far),
        (lambda p: Adam(p, lr=RATE), False, so_far),
        (lambda p: AdamW(p, lr=RATE, weight_decay=0.1), False, everything),
    ):
        assert moved(make, sparse) == expected


def test_D04_zero_gradients_do_not_freeze_a_row_and_restoring_it_does():
    layer, frozen = ones(), [0]
    optimizer = Adam(layer.parameters(), lr=RATE)
    train(layer, optimizer, [[0, 1]])
    kept = layer.weight[frozen].detach().clone()
    layer(torch.tensor([0, 1])).sum().backward()
    layer.weight.grad[frozen] = 0
    optimizer.step()
    assert not torch.equal(layer.weight[frozen], kept)
    with torch.no_grad():
        layer.weight[frozen] = kept
    assert torch.equal(layer.weight[frozen], kept) and layer.weight[1, 0] < 0.9


def test_D04_the_padding_row_stays_but_for_weight_decay():
    for decay, row in ((0.0, 1.0), (0.1, 0.9801)):
        layer = ones(padding_idx=2)
        optimizer = AdamW(layer.parameters(), lr=RATE, weight_decay=decay)
        tables = train(layer, optimizer, [[0, 2], [2, 1]])
        assert tables[-1, 2].tolist() == pytest.approx([row, row], abs=1e-6)


def test_D04_a_tied_head_moves_every_row():
    layer, head = TokenEmbedding(7, 4), LanguageModelHead(7, 4)
    tie(layer, head)
    before = layer.weight.detach().clone()
    nn.functional.cross_entropy(head(layer(torch.tensor([1]))), torch.tensor([2])).backward()
    SGD(layer.parameters(), lr=RATE).step()
    assert (layer.weight != before).any(-1).all()


# Optimizer and kind of gradient

TABLE = {
    # Optimizer, with a sparse gradient, with a dense one: None is "takes it", else the refusal.
    "SGD": (lambda p: SGD(p, lr=RATE), None, None),
    "SGD with momentum": (lambda p: SGD(p, lr=RATE, momentum=0.9), None, None),
    "SGD with decay": (
        lambda p: SGD(p, lr=RATE, weight_decay=0.1),
        r"add\(sparse, dense\)",
        None,
    ),
    "Adagrad": (lambda p: torch.optim.Adagrad(p, lr=RATE), None, None),
    "Adam": (lambda p: Adam(p, lr=RATE), "SparseAdam", None),
    "AdamW": (lambda p: AdamW(p, lr=RATE), "SparseAdam", None),
    "SparseAdam": (lambda p: SparseAdam(p, lr=RATE), None, "does not support dense gradients"),
}


# Adagrad makes sparse tensors without saying whether they are to be checked.
@pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning")
@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("sparse", [True, False])
def test_D05_which_optimizer_takes_which_gradient(name, sparse):
    make, *refusals = TABLE[name]
    refusal = refusals[0 if sparse else 1]
    layer = TokenEmbedding(6, 3, sparse=sparse)
    before = layer.weight.detach().clone()
    layer(IDS).pow(2).sum().backward()
    assert (layer.weight.grad.layout == torch.sparse_coo) == sparse
    optimizer = make(list(layer.parameters()))
    if refusal:
        with pytest.raises(RuntimeError, match=refusal):
            optimizer.step()
    else:
        optimizer.step()
        decays = optimizer.param_groups[0]["weight_decay"] > 0 if not sparse else False
        assert (layer.weight != before).any(-1).tolist() == [True, decays] + [True] * 4


def test_D05_a_tied_head_makes_the_gradient_dense():
    layer, head = TokenEmbedding(7, 4, sparse=True), LanguageModelHead(7, 4)
    tie(layer, head)
    head(layer(IDS)).sum().backward()
    assert layer.weight.grad.layout == torch.strided
    with pytest.raises(RuntimeError, match="dense gradients"):
        SparseAdam(list(layer.parameters())).step()
    Adam(layer.parameters()).step()


@pytest.mark.parametrize("make", [SparseAdam, lambda p: SGD(p, lr=RATE)])
def test_D05_a_batch_of_padding_alone_steps_and_moves_nothing(make):
    layer = TokenEmbedding(6, 3, sparse=True, padding_idx=0)
    before = layer.weight.detach().clone()
    layer(torch.zeros(2, 4, dtype=torch.int64)).sum().backward()
    assert layer.weight.grad._nnz() == 0
    make(list(layer.parameters())).step()
    assert torch.equal(layer.weight, before)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.sampled_from([None, 0, 3]))
def test_D05_the_sparse_gradient_is_the_dense_one(ids, padding_idx):
    table = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    grads = []
    for sparse in (False, True):
        layer = TokenEmbedding.from_table(table, sparse=sparse, padding_idx=padding_idx)
        layer(torch.tensor(ids)).pow(2).sum().backward()
        grads.append(layer.weight.grad)
    assert grads[1]._nnz() == sum(number != padding_idx for number in ids)
    torch.testing.assert_close(grads[1].to_dense(), grads[0])
