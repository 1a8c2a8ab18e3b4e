"""Positions and masks: padding on either side, cached steps, packed documents."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from tokpos.learned import LearnedEncoding
from tokpos.positions import (
    causal_mask,
    document_mask,
    documents_of_lengths,
    pad_left,
    positions_from_mask,
    positions_of_documents,
    positions_of_step,
)
from tokpos.sinusoidal import SinusoidalEncoding, sinusoidal

MASK = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
rows_of_bits = st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=3)
lengths = st.lists(st.integers(0, 5), max_size=5)


def attend(x, mask):
    """One head of attention without weights of its own: enough to see who looks at whom."""
    return F.scaled_dot_product_attention(x, x, x, attn_mask=mask)


# Positions from a mask


def test_A03_left_padding_by_the_reported_values():
    assert positions_from_mask(MASK).tolist() == [[0, 0, 0, 1, 2], [0, 1, 2, 3, 4]]


@given(rows_of_bits)
def test_A03_real_tokens_are_counted_wherever_padding_stands(rows):
    mask = torch.tensor(rows)
    positions = positions_from_mask(mask)
    for bits, counted in zip(rows, positions.tolist(), strict=True):
        real = [position for bit, position in zip(bits, counted, strict=True) if bit]
        assert real == list(range(len(real)))
        assert 0 <= min(counted) and max(counted) <= max(0, len(real) - 1)  # valid rows
    assert torch.equal(positions_from_mask(mask.bool()), positions)
    assert torch.equal(positions_from_mask(mask.int()), positions)
    assert positions.dtype == torch.int64


def test_A03_right_padding_needs_no_row_past_the_text():
    assert positions_from_mask(torch.tensor([1, 1, 1, 0, 0])).tolist() == [0, 1, 2, 2, 2]


@pytest.mark.parametrize("encode", [SinusoidalEncoding(8), LearnedEncoding(5, 8)])
@pytest.mark.parametrize("padding", [(3, 0), (0, 3), (1, 2)])
def test_A03_a_padded_row_equals_the_unpadded_run(encode, padding):
    x = torch.randn(1, 2, 8)
    mask = F.pad(torch.ones(1, 2, dtype=torch.long), padding)
    padded = F.pad(x, (0, 0, *padding))
    positions = positions_from_mask(mask)
    inside = slice(padding[0], padding[0] + 2)
    assert torch.equal(encode(padded, positions)[:, inside], encode(x))
    seen = causal_mask(positions, positions) & document_mask(mask)
    alone = attend(encode(x), causal_mask(torch.arange(2), torch.arange(2)))
    torch.testing.assert_close(attend(encode(padded, positions), seen)[:, inside], alone)
    if padding[0]:
        assert not torch.allclose(encode(padded)[:, inside], encode(x))  # the fault


def test_A03_which_scores_change_when_all_positions_shift():
    q, k = torch.randn(2, 5, 8, dtype=torch.float64).unbind()
    places = torch.arange(5)

    def added(shift):
        rows = sinusoidal(places + shift, 8, dtype=torch.float64)
        return (q + rows) @ (k + rows).T

    def turned(shift):
        angles = (places + shift).double()[:, None] * torch.tensor([1.0, 0.1, 0.01, 0.001])
        turn = torch.polar(torch.ones_like(angles), angles)
        spin = [torch.view_as_complex(each.reshape(5, 4, 2).contiguous()) * turn for each in (q, k)]
        return (spin[0] @ spin[1].conj().T).real

    assert (added(2) - added(0)).abs().max() > 0.1
    # A few roundings of float64 in a sum of eight products.
    torch.testing.assert_close(turned(2), turned(0), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("kind", "config", "same_by_default"),
    [
        (
            GPT2LMHeadModel,
            GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=2, n_head=2),
            False,
        ),
        (
            LlamaForCausalLM,
            LlamaConfig(
                vocab_size=50,
                hidden_size=32,
                intermediate_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
            ),
            True,
        ),
    ],
)
def test_A03_transformers_needs_these_positions_for_a_table(kind, config, same_by_default):
    torch.manual_seed(0)
    config._attn_implementation = "eager"
    model = kind(config).eval()
    ids, mask = pad_left([[5, 6, 7], [1, 2, 3, 4, 5]])
    where = positions_from_mask(mask)
    with torch.no_grad():
        alone = model(torch.tensor([[5, 6, 7]])).logits[0, -1]
        given_ = model(ids, attention_mask=mask, position_ids=where).logits[0, -1]
        start = torch.arange(5).expand(2, 5)
        shifted = model(ids, attention_mask=mask, position_ids=start).logits[0, -1]
    torch.testing.assert_close(given_, alone, rtol=0, atol=1e-5)
    assert torch.allclose(shifted, alone, rtol=0, atol=1e-5) == same_by_default


# Cached decoding


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), st.integers(0, 4))
def test_A04_a_step_goes_on_where_the_cache_ends(past, new):
    steps = positions_of_step(torch.tensor(past), new)
    assert steps.tolist() == [list(range(begin, begin + new)) for begin in past]
    assert torch.equal(positions_of_step(past[0], new), steps[0])


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3))
def test_A04_chunks_give_the_positions_of_the_whole(first, second, padding):
    mask = F.pad(torch.ones(2, first + second, dtype=torch.long), (padding, 0))
    mask[0, : padding + 1] = 0
    whole = positions_from_mask(mask)
    begin = padding + first
    step = positions_of_step(mask[:, :begin].sum(-1), second)
    assert torch.equal(step, whole[:, begin:])
    seen = causal_mask(whole, whole) & document_mask(mask)
    chunk = causal_mask(step, whole) & document_mask(mask[:, begin:], mask)
    assert torch.equal(chunk, seen[:, begin:])


# Packed documents


@given(lengths, st.integers(0, 3))
def test_documents_and_their_positions_from_lengths(counts, padding):
    documents = documents_of_lengths(counts, sum(counts) + padding)
    parts = [*counts, padding]
    assert documents.tolist() == [i for i, count in enumerate(parts) for _ in range(count)]
    expected = [place for count in parts for place in range(count)]
    assert positions_of_documents(documents).tolist() == expected
    assert torch.equal(documents_of_lengths(torch.tensor(counts).long()), documents[: sum(counts)])


@settings(max_examples=40)
@given(lengths.filter(any), st.integers(0, 3))
def test_packed_equals_one_at_a_time(counts, padding):
    documents = documents_of_lengths(counts, sum(counts) + padding)
    positions = positions_of_documents(documents)
    x = torch.randn(len(documents), 8, generator=torch.Generator().manual_seed(0))
    seen = causal_mask(positions, positions) & document_mask(documents)
    packed = attend(SinusoidalEncoding(8)(x, positions), seen)
    for document in range(len(counts)):
        mine = documents == document
        if mine.any():
            steps = torch.arange(int(mine.sum()))
            alone = attend(SinusoidalEncoding(8)(x[mine]), causal_mask(steps, steps))
            torch.testing.assert_close(packed[mine], alone)
    assert packed.isfinite().all()  # padding looks at padding: nothing is empty


def test_documents_may_carry_any_numbers_and_differ_by_row():
    documents = torch.tensor([[9, 9, -1, -1], [0, 5, 5, 5]])
    assert positions_of_documents(documents).tolist() == [[0, 1, 0, 1], [0, 0, 1, 2]]


def test_masks_keep_documents_apart_and_time_in_order():
    mask = document_mask(torch.tensor([[0, 0, 1]]))
    assert mask.tolist() == [[[True, True, False], [True, True, False], [False, False, True]]]
    assert document_mask(torch.tensor([1]), torch.tensor([0, 1])).tolist() == [[False, True]]
    assert (
        causal_mask(torch.arange(3), torch.arange(3)).tolist() == torch.ones(3, 3).tril().tolist()
    )
    assert causal_mask(torch.tensor([[1], [0]]), torch.arange(3)).int().tolist() == [
        [[1, 1, 0]],
        [[1, 0, 0]],
    ]


@given(rows_of_bits)
def test_no_row_of_a_padded_mask_is_empty(rows):
    mask = torch.tensor(rows)
    positions = positions_from_mask(mask)
    assert (causal_mask(positions, positions) & document_mask(mask)).any(-1).all()


def test_pad_left_ends_every_text_at_the_right_edge():
    ids, mask = pad_left([[5, 6], [], [1, 2, 3]], padding_idx=9)
    assert ids.tolist() == [[9, 5, 6], [9, 9, 9], [1, 2, 3]]
    assert mask.tolist() == [[0, 1, 1], [0, 0, 0], [1, 1, 1]]


# At home in PyTorch


def everything(mask, documents):
    counted, apart = positions_from_mask(mask), positions_of_documents(documents)
    seen = causal_mask(counted, apart) & document_mask(documents)
    return counted, apart, positions_of_step(mask.sum(-1), 2), seen


@pytest.mark.usefixtures("unchecked_shapes")
def test_A14_compile_export_vmap_and_the_meta_device():
    documents = torch.tensor([[3, 3, 3, 8, 8], [1, 2, 2, 2, 4]])
    expected = everything(MASK, documents)
    compiled = torch.compile(everything, fullgraph=True, backend="eager", dynamic=True)
    for repeat in (1, 2, 3):
        given_ = MASK.repeat(1, repeat), documents.repeat_interleave(repeat, -1)
        for one, other in zip(compiled(*given_), everything(*given_), strict=True):
            assert torch.equal(one, other)

    class Module(torch.nn.Module):
        def forward(self, mask, documents):
            return everything(mask, documents)

    exported = torch.export.export(Module(), (MASK, documents)).module()(MASK, documents)
    for one, other in zip(exported, expected, strict=True):
        assert torch.equal(one, other)
    mapped = torch.func.vmap(everything)(MASK, documents)
    for one, other in zip(mapped, expected, strict=True):
        assert torch.equal(one, other)
    for one, other in zip(everything(MASK.to("meta"), documents.to("meta")), expected, strict=True):
        assert one.shape == other.shape and one.device.type == "meta"
    assert positions_of_step(3, device="meta").device.type == "meta"


# Bad input


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: positions_from_mask(MASK.float()), TypeError, "mask .* got torch.float32"),
        (lambda: positions_from_mask(MASK - 1), ValueError, "mask must hold 1 .* got -1"),
        (lambda: positions_from_mask(torch.tensor(1)), ValueError, r"\[..., S\]; got a single"),
        (lambda: positions_of_step(-1), ValueError, "past must not be negative; got -1"),
        (lambda: positions_of_step(3, -2), ValueError, "new must not be negative; got -2"),
        (lambda: positions_of_step(torch.tensor([3, -4])), ValueError, "past .* got -4"),
        (lambda: positions_of_step(torch.tensor([1.0])), TypeError, "past .* got torch.float32"),
        (lambda: documents_of_lengths([2, -1]), ValueError, "lengths .* negative; got -1"),
        (lambda: documents_of_lengths([2, 5], 6), ValueError, "add up to 7 tokens.* size 6"),
        (lambda: documents_of_lengths([1.5]), TypeError, "lengths .* got torch.float32"),
        (lambda: documents_of_lengths(MASK), ValueError, r"lengths .*\[N\]; got \[2, 5\]"),
        (lambda: positions_of_documents(MASK > 0), TypeError, "documents .* got torch.bool"),
        (lambda: positions_of_documents(torch.tensor(1)), ValueError, "got a single number"),
        (
            lambda: positions_of_documents(torch.tensor([[1, 1, 1], [1, 2, 1]])),
            ValueError,
            r"side by side.*\[1, 2, 1\]",
        ),
        (lambda: document_mask(MASK.float()), TypeError, "query_documents .* got torch.float32"),
        (lambda: document_mask(MASK, MASK.half()), TypeError, "key_documents .* torch.float16"),
        (
            lambda: document_mask(MASK, MASK.repeat(2, 1)[:3]),
            ValueError,
            r"the same batch; got \[2, 5\] and \[3, 5\]",
        ),
        (lambda: causal_mask(MASK.bool(), MASK), TypeError, "query_positions .* got torch.bool"),
        (lambda: causal_mask(MASK, torch.tensor(2)), ValueError, "key_positions .* single number"),
        (lambda: pad_left([]), ValueError, "at least one text; got none"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
