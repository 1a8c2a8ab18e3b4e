"""The token embedding: like torch's, with clear errors, and honest about which rows train."""

from __future__ import annotations

import copy
import io
import math
import pickle

import pytest
import torch
from torch import nn

from tokpos import TokenEmbedding

IDS = torch.tensor([[2, 3, 4], [2, 5, 0]])


def test_equals_torch_and_shares_its_state_dict():
    torch.manual_seed(0)
    ours, theirs = TokenEmbedding(6, 3), nn.Embedding(6, 3)
    ours.load_state_dict(theirs.state_dict())
    theirs.load_state_dict(ours.state_dict())
    assert torch.equal(ours(IDS), theirs(IDS))
    assert list(ours.state_dict()) == ["weight"]


def test_the_same_seed_gives_the_table_of_torch():
    torch.manual_seed(0)
    ours = TokenEmbedding(6, 3).weight
    torch.manual_seed(0)
    assert torch.equal(ours, nn.Embedding(6, 3).weight)


def test_is_what_supports_of_torch_look_for_and_has_none_of_torch_s_traps():
    layer = TokenEmbedding(6, 3)
    assert isinstance(layer, nn.Embedding)
    assert (layer.num_embeddings, layer.embedding_dim) == (layer.size, layer.width) == (6, 3)
    with pytest.raises(TypeError, match="max_norm"):
        TokenEmbedding(6, 3, max_norm=1.0)
    with pytest.raises(NotImplementedError, match="from_table"):
        TokenEmbedding.from_pretrained(torch.zeros(6, 3))


def test_scale_multiplies_by_the_root_of_the_width():
    table = torch.randn(6, 3)
    scaled = TokenEmbedding.from_table(table, scale=True)
    assert torch.equal(scaled(IDS), table[IDS] * math.sqrt(3))


def test_std_is_that_of_the_table():
    torch.manual_seed(0)
    # 60,000 numbers: the standard deviation's own is 0.3 % of it.
    assert TokenEmbedding(600, 100, std=0.02).weight.std().item() == pytest.approx(0.02, rel=0.02)


def test_from_table_copies_the_rows_the_padding_row_too():
    table = torch.ones(4, 2, dtype=torch.float64)
    made = TokenEmbedding.from_table(table, padding_idx=0)
    assert torch.equal(made.weight, table)
    assert made.weight.dtype == torch.float64
    table.zero_()
    assert made.weight.sum() == 8


def test_padding_row_is_zero_and_gets_no_gradient_from_the_lookup():
    layer = TokenEmbedding(6, 3, padding_idx=0)
    assert layer.weight[0].count_nonzero() == 0
    layer(IDS).sum().backward()
    assert layer.weight.grad[0].count_nonzero() == 0
    assert torch.equal(layer.weight.grad[:, 0], torch.tensor([0.0, 0, 2, 1, 1, 1]))


def test_padding_row_gets_a_gradient_from_a_tied_head():
    layer = TokenEmbedding(6, 3, padding_idx=0)
    (layer(IDS) @ layer.weight.T).logsumexp(-1).sum().backward()
    assert layer.weight.grad[0].count_nonzero() > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0}, "size must be at least 1; got 0"),
        ({"width": -2}, "width must be at least 1; got -2"),
        ({"padding_idx": 6}, r"padding_idx must lie in 0\.\.5; got 6"),
        ({"padding_idx": -1}, r"padding_idx must lie in 0\.\.5; got -1"),
        ({"std": -0.1}, "std must be at least 0; got -0.1"),
        ({"std": math.nan}, "std must be at least 0; got nan"),
    ],
)
def test_D01_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        TokenEmbedding(**({"size": 6, "width": 3} | settings))


@pytest.mark.usefixtures("unchecked_shapes")
def test_from_table_needs_two_axes():
    with pytest.raises(ValueError, match=r"\[V, D\]; got shape \[6\]"):
        TokenEmbedding.from_table(torch.zeros(6))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (torch.tensor([[1, 6]]), IndexError, r"0\.\.5.*got 6 at index \[0, 1\]"),
        (torch.tensor([-1]), IndexError, "got -1"),
        (torch.tensor([1.0]), TypeError, "got torch.float32"),
        (torch.tensor([True]), TypeError, "got torch.bool"),
        (torch.tensor([1], dtype=torch.int16), TypeError, "got torch.int16"),
        (torch.tensor([1], dtype=torch.uint8), TypeError, "got torch.uint8"),
        (torch.tensor([]), TypeError, "an empty list makes a float tensor: give dtype"),
    ],
)
def test_D01_bad_ids_are_named(ids, error, message):
    with pytest.raises(error, match=message):
        TokenEmbedding(6, 3)(ids)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (2, 3), ()])
def test_D01_empty_ids_and_both_integer_dtypes_are_fine(shape, dtype):
    assert TokenEmbedding(6, 3)(torch.zeros(shape, dtype=dtype)).shape == (*shape, 3)


def test_sparse_gradient_is_the_dense_one():
    table = torch.randn(6, 3)
    dense, sparse = (TokenEmbedding.from_table(table, sparse=kind) for kind in (False, True))
    for layer in (dense, sparse):
        layer(IDS).pow(2).sum().backward()
    assert torch.equal(sparse.weight.grad.to_dense(), dense.weight.grad)


def test_copies_pickles_and_state_dicts_come_back_the_same():
    layer = TokenEmbedding(6, 3, scale=True, padding_idx=0)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    loaded = TokenEmbedding(6, 3, scale=True, padding_idx=0)
    loaded.load_state_dict(torch.load(file))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), loaded):
        assert torch.equal(other(IDS), layer(IDS))
        assert other.weight is not layer.weight


@pytest.mark.usefixtures("unchecked_shapes")
def test_compile_export_vmap_and_the_meta_device():
    layer = TokenEmbedding(6, 3, scale=True)
    expected = layer(IDS)
    assert torch.equal(torch.compile(layer, fullgraph=True, backend="eager")(IDS), expected)
    assert torch.equal(torch.export.export(layer, (IDS,)).module()(IDS), expected)
    assert torch.equal(torch.func.vmap(layer)(IDS), expected)
    meta = TokenEmbedding(6, 3, device="meta", dtype=torch.bfloat16)
    assert meta(IDS.to("meta")).shape == (2, 3, 3)


def test_says_what_it_is():
    layer = TokenEmbedding(6, 3, scale=True, padding_idx=0, sparse=True)
    assert repr(layer) == "TokenEmbedding(6, 3, scale=True, sparse=True, padding_idx=0)"
