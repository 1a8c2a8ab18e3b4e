"""Learned positions: rows of a table, and an end that is said before anything runs."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import GPT2Config, GPT2Model

from tokpos.learned import LearnedEncoding
from tokpos.position import PositionEncoding


def encoding(length=16, width=4, **settings):
    torch.manual_seed(0)
    return LearnedEncoding(length, width, **settings)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_adds_the_row_of_each_position(dtype):
    encode, x = encoding(dtype=dtype), torch.randn(2, 5, 4).to(dtype)
    assert torch.equal(encode(x), x + encode.weight[:5])
    places = torch.tensor([[0, 0, 0, 1, 2], [15, 3, 3, 0, 1]])
    assert torch.equal(encode(x, places), x + encode.weight[places])
    assert encode(x).dtype == dtype and isinstance(encode, PositionEncoding)


def test_equals_gpt2_s_table():
    torch.manual_seed(0)
    model = GPT2Model(GPT2Config(vocab_size=20, n_positions=16, n_embd=8, n_layer=0, n_head=1))
    model.eval()
    encode = LearnedEncoding(16, 8)
    encode.load_state_dict(model.wpe.state_dict())
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    assert torch.equal(model.ln_f(encode(model.wte(ids))), model(ids).last_hidden_state)


@given(st.integers(1, 16), st.integers(0, 16))
def test_chunks_equal_the_whole_at_every_split(length, split):
    encode, x = encoding(), torch.randn(2, length, 4)
    places, split = torch.arange(length), min(split, length)
    whole = encode(x)
    parts = [encode(x[:, side], places[side]) for side in (slice(split), slice(split, None))]
    assert torch.equal(torch.cat(parts, dim=1), whole)


def test_a_shift_changes_the_rows():
    encode, x = encoding(), torch.zeros(1, 4, 4)
    assert not torch.equal(encode(x, torch.arange(2, 6)), encode(x))


def test_only_rows_in_use_get_a_gradient():
    for places in (None, torch.arange(3)):
        encode = encoding()
        encode(torch.zeros(2, 3, 4), places).sum().backward()
        assert encode.weight.grad[:, 0].tolist() == [2.0] * 3 + [0.0] * 13


def test_gradients_by_differences():
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    encode = encoding(dtype=torch.float64)
    places = torch.tensor([[0, 0, 1], [5, 5, 2]])

    def run(x, weight):
        return torch.func.functional_call(encode, {"weight": weight}, (x, places))

    assert torch.autograd.gradcheck(run, (x, encode.weight))


def test_starts_with_its_std():
    torch.manual_seed(0)
    # 40,000 numbers: the standard deviation's own is 0.35 % of it.
    assert LearnedEncoding(400, 100).weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert LearnedEncoding(400, 100, std=1.0).weight.std().item() == pytest.approx(1, rel=0.02)


# State


def test_C07_the_state_holds_the_table_alone():
    encode = encoding()
    assert list(encode.state_dict()) == ["weight"] and not list(encode.buffers())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_equal_and_apart(copied):
    encode = encoding()
    again = copied(encode)
    x = torch.zeros(1, 9, 4)
    assert torch.equal(again(x), encode(x)) and again.weight is not encode.weight
    assert repr(again) == "LearnedEncoding(16, 4)"


def test_A12_meta_device_then_to_empty():
    with torch.device("meta"):
        encode = LearnedEncoding(16, 4)
        assert encode(torch.zeros(2, 3, 4)).shape == (2, 3, 4)
        with pytest.raises(ValueError, match="17 tokens"):
            encode(torch.zeros(2, 17, 4))
    encode = encode.to_empty(device="cpu")
    encode.reset_parameters()
    assert 0 < encode.weight.std() < 0.1
    encode.load_state_dict(encoding().state_dict())
    assert torch.equal(encode.weight, encoding().weight)


@pytest.mark.usefixtures("unchecked_shapes")
def test_A14_compile_export_vmap_and_autocast():
    encode = encoding()
    compiled = torch.compile(encode, fullgraph=True, backend="eager", dynamic=True)
    for length in (4, 9, 16):
        x, places = torch.randn(2, length, 4), torch.arange(length).flip(0)
        assert torch.equal(compiled(x), encode(x))
        assert torch.equal(compiled(x, places), encode(x, places))
    x, places = torch.randn(2, 3, 4), torch.tensor([[0, 1, 2], [4, 5, 6]])
    exported = torch.export.export(encode, (x, places)).module()
    assert torch.equal(exported(x, places), encode(x, places))
    assert torch.equal(torch.func.vmap(encode)(x, places), encode(x, places))
    assert torch.equal(torch.func.vmap(encode)(x), encode(x))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encode(x), x + encode.weight[:3])


# The end, and bad input


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(("length", "rows"), [(6, 5), (3, 1), (17, 16), (513, 512)])
def test_B05_C01_past_the_end_both_numbers_and_the_remedy(length, rows):
    encode = LearnedEncoding(rows, 4)
    words = rf"x has {length} tokens.* ends after {rows}: cut .* to {rows} tokens.*Sinusoidal"
    with pytest.raises(ValueError, match=words):
        encode(torch.zeros(2, length, 4))
    words = rf"positions must lie in 0\.\.{rows - 1} \({rows} rows\); got {rows} at index"
    with pytest.raises(IndexError, match=words):
        encode(torch.zeros(2, length, 4), torch.arange(length))
    assert encode(torch.zeros(2, rows, 4)).shape == (2, rows, 4)


@pytest.mark.usefixtures("unchecked_shapes")
def test_C01_the_length_is_checked_before_any_kernel_under_compile_too():
    compiled = torch.compile(encoding(), fullgraph=True, backend="eager")
    with pytest.raises(Exception, match="17 tokens"):
        compiled(torch.zeros(1, 17, 4))


def test_B02_the_batch_stands_first():
    encode = encoding()
    out = encode(torch.zeros(2, 3, 4))
    assert torch.equal(out[0], out[1]) and torch.equal(out[0], encode.weight[:3])


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: LearnedEncoding(0, 4), ValueError, "length must be at least 1; got 0"),
        (lambda: LearnedEncoding(4, -1), ValueError, "width must be at least 1; got -1"),
        (lambda: LearnedEncoding(4, 4, std=-1), ValueError, "std must be at least 0; got -1"),
        (lambda: encoding()(torch.zeros(1, 2, 4).long()), TypeError, "x .* got torch.int64"),
        (lambda: encoding()(torch.zeros(1, 2, 8)), ValueError, r"x must be \[..., S, 4\], got"),
        (lambda: encoding()(torch.zeros(4)), ValueError, r"got \[4\]"),
        (
            lambda: encoding()(torch.zeros(1, 2, 4), torch.zeros(2)),
            TypeError,
            "positions must be integers, got torch.float32",
        ),
        (
            lambda: encoding()(torch.zeros(1, 2, 4), torch.arange(3)),
            ValueError,
            "3 positions and x has 2 tokens",
        ),
        (
            lambda: encoding()(torch.zeros(1, 2, 4), torch.tensor([0, -1])),
            IndexError,
            r"positions must lie in 0\.\.15.*got -1 at index \[1\]",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
