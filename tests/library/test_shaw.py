"""Shaw's vectors: clipped offsets, keys inside the division, values by the side door."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap
from torch.utils._python_dispatch import TorchDispatchMode

from tokpos._band import collect_clipped, spread_clipped
from tokpos.position import PositionEncoding, offsets
from tokpos.shaw import (
    ShawEncoding,
    clipped_offsets,
    shaw_scores_by_pairs,
    shaw_values_by_pairs,
)

FLOAT64 = {"rtol": 0, "atol": 1e-12}
places = st.lists(st.integers(-40, 40), min_size=1, max_size=6).map(torch.tensor)


def randoms(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def made(width=4, clip=3):
    encode = ShawEncoding(width, clip, values=True, dtype=torch.float64)
    with torch.no_grad():
        encode.key_vectors.copy_(randoms(2 * clip + 1, width, seed=8))
        encode.value_vectors.copy_(randoms(2 * clip + 1, width, seed=9))
    return encode


# Clipping


def test_the_clipped_offsets_of_a_row():
    place = torch.arange(5)
    rows = clipped_offsets(offsets(place, place), 2)
    assert rows.tolist() == [
        [2, 3, 4, 4, 4],
        [1, 2, 3, 4, 4],
        [0, 1, 2, 3, 4],
        [0, 0, 1, 2, 3],
        [0, 0, 0, 1, 2],
    ]
    assert clipped_offsets(torch.tensor([-9, 9]), 0).tolist() == [0, 0]
    assert clipped_offsets(torch.tensor([-128], dtype=torch.int8), 200).tolist() == [72]


# By the formula


def loop(q, key, value, query_positions, key_positions, clip):
    """Equations 2 to 4 of the paper, one pair after the other, without q k^T and a v."""
    heads, n_queries, width = q.shape
    inside = torch.zeros(heads, n_queries, len(key_positions), dtype=torch.float64)
    weights = randoms(*inside.shape, seed=3).softmax(-1)
    out = torch.zeros(heads, n_queries, width, dtype=torch.float64)
    for h in range(heads):
        for i, query in enumerate(query_positions.tolist()):
            for j, place in enumerate(key_positions.tolist()):
                row = max(-clip, min(clip, place - query)) + clip
                inside[h, i, j] = q[h, i] @ key[row]
                out[h, i] += weights[h, i, j] * value[row]
    return inside, weights, out


@settings(max_examples=40)
@given(query=places, key=places, clip=st.integers(0, 5), consecutive=st.booleans())
def test_scores_and_values_are_those_of_the_paper(query, key, clip, consecutive):
    if consecutive:
        query, key = query[0] + torch.arange(len(query)), key[0] + torch.arange(len(key))
    encode, q = made(4, clip), randoms(2, len(query), 4)
    vectors = encode.key_vectors.detach(), encode.value_vectors.detach()
    inside, weights, out = loop(q, *vectors, query, key, clip)
    terms = encode.into_scores(q, query, key)
    assert terms.outside is None
    # Sums of at most 6 products of numbers below 5: a few dozen roundings of 2**-53 of 25.
    torch.testing.assert_close(terms.inside, inside, **FLOAT64)
    torch.testing.assert_close(encode.into_values(weights, query, key), out, **FLOAT64)
    pairs = offsets(query, key)
    torch.testing.assert_close(shaw_scores_by_pairs(q, vectors[0], pairs), inside, **FLOAT64)
    torch.testing.assert_close(shaw_values_by_pairs(weights, vectors[1], pairs), out, **FLOAT64)


def test_the_same_as_wav2vec2_bert():
    from transformers import Wav2Vec2BertConfig
    from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as theirs

    config = Wav2Vec2BertConfig(
        hidden_size=32,
        num_attention_heads=4,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=5,
        right_max_position_embeddings=5,
    )
    layer = theirs.Wav2Vec2BertSelfAttention(config)
    encode = ShawEncoding(8, 5)
    encode.load_state_dict({"key_vectors": layer.distance_embedding.weight})
    q, place = randoms(2, 4, 30, 8, dtype=torch.float32), torch.arange(30)
    with torch.no_grad():
        _, right = theirs._apply_relative_key_position_encoding(layer, q, q)
        inside = encode.into_scores(q, place, place).inside
    # Sums of 8 products of size 1 in float32.
    torch.testing.assert_close(inside / math.sqrt(8), right, rtol=0, atol=2e-6)


# The fast paths


@pytest.mark.parametrize(
    ("n_queries", "n_keys", "first", "clip"),
    [
        (1, 1, 0, 0),
        (5, 9, 0, 2),
        (9, 5, 3, 2),
        (1, 40, -39, 4),
        (200, 200, 0, 16),
        (130, 150, -20, 3),
        (70, 3, 0, 90),
        (64, 64, 500, 2),
        (64, 64, -500, 2),
        (65, 200, -100, 7),
    ],
)
def test_the_band_equals_gather_and_scatter_in_values_and_gradients(n_queries, n_keys, first, clip):
    query, key = torch.arange(n_queries), first + torch.arange(n_keys)
    rows = clipped_offsets(offsets(query, key), clip).expand(2, n_queries, n_keys)
    products = randoms(2, n_queries, 2 * clip + 1).requires_grad_()
    weights = randoms(2, n_queries, n_keys, seed=1).requires_grad_()
    slow = products.gather(-1, rows), torch.zeros_like(products).scatter_add(-1, rows, weights)
    fast = spread_clipped(products, n_keys, first), collect_clipped(weights, clip, first)
    assert torch.equal(fast[0], slow[0])
    torch.testing.assert_close(fast[1], slow[1], **FLOAT64)
    for one, other, x, grad in (
        (fast[0], slow[0], products, weights),
        (fast[1], slow[1], weights, products),
    ):
        found = torch.autograd.grad(one, x, grad.detach())
        torch.testing.assert_close(found, torch.autograd.grad(other, x, grad.detach()), **FLOAT64)


def test_the_band_has_gradients_of_gradients_and_vmaps():
    products, weights = randoms(2, 6, 5).requires_grad_(), randoms(2, 6, 7).requires_grad_()
    for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
        check(lambda p: spread_clipped(p, 7, -1), products)
        check(lambda w: collect_clipped(w, 2, -1), weights)
    rows = vmap(lambda p: spread_clipped(p, 7, -1), in_dims=1, out_dims=1)(products)
    assert torch.equal(rows, spread_clipped(products.movedim(1, 0), 7, -1).movedim(0, 1))
    rows = vmap(lambda w: collect_clipped(w, 2, -1))(weights)
    assert torch.equal(rows, collect_clipped(weights, 2, -1))


def test_gradients_of_the_module_by_both_paths():
    encode, q = made(), randoms(1, 2, 5, 4).requires_grad_()
    weights = randoms(1, 2, 5, 7).softmax(-1).requires_grad_()
    query, key = torch.arange(5), torch.arange(7)
    for at in ((query, key), (query[None], key[None])):
        torch.autograd.gradcheck(
            lambda q, _, at=at: encode.into_scores(q, *at).inside, (q, encode.key_vectors)
        )
        torch.autograd.gradcheck(
            lambda w, _, at=at: encode.into_values(w, *at), (weights, encode.value_vectors)
        )


# The module


@given(query=places, key=places, shift=st.integers(-1000, 1000))
def test_scores_depend_on_the_offset_only(query, key, shift):
    encode, q = made(), randoms(1, 2, len(query), 4)
    here = encode.into_scores(q, query, key).inside
    torch.testing.assert_close(
        encode.into_scores(q, query + shift, key + shift).inside, here, rtol=0, atol=0
    )


@given(split=st.integers(0, 7))
def test_chunks_equal_the_whole(split):
    encode, q, place = made(), randoms(1, 3, 7, 4), torch.arange(7)
    weights = randoms(1, 3, 7, 7).softmax(-1)
    scores = encode.into_scores(q, place, place).inside
    values = encode.into_values(weights, place, place)
    for part in (slice(0, split), slice(split, 7)):
        terms = encode.into_scores(q[..., part, :], place[part], place)
        torch.testing.assert_close(terms.inside, scores[..., part, :], **FLOAT64)
        out = encode.into_values(weights[..., part, :], place[part], place)
        torch.testing.assert_close(out, values[..., part, :], **FLOAT64)


def test_packed_documents_and_left_padding():
    encode, q = made(), randoms(2, 3, 5, 4)
    place = torch.tensor([[0, 1, 2, 0, 1], [0, 0, 0, 1, 2]])
    inside = encode.into_scores(q, place, place).inside
    weights = randoms(2, 3, 5, 5).softmax(-1)
    out = encode.into_values(weights, place, place)
    for sample, part in ((0, slice(0, 3)), (1, slice(2, 5))):
        alone = encode.into_scores(q[sample, :, part], torch.arange(3), torch.arange(3)).inside
        torch.testing.assert_close(inside[sample, :, part, part], alone, **FLOAT64)
    pairs = offsets(place, place)
    right = shaw_values_by_pairs(weights, encode.value_vectors, pairs)
    torch.testing.assert_close(out, right, **FLOAT64)


def test_without_value_vectors_the_side_door_is_shut():
    encode, place = ShawEncoding(4, 2), torch.arange(3)
    assert encode.into_values(torch.ones(1, 2, 3, 3), place, place) is None
    assert list(encode.state_dict()) == ["key_vectors"]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_and_autocast(dtype):
    encode, q, place = made(16, 4).to(dtype), randoms(1, 2, 90, 16).to(dtype), torch.arange(90)
    exact = copy.deepcopy(encode).double().into_scores(q.double(), place, place).inside
    inside = encode.into_scores(q, place, place).inside
    assert inside.dtype == dtype
    # One rounding of the result; sums are kept in float32.
    step = torch.finfo(dtype).eps * exact.abs().clamp(min=1)
    assert ((inside.double() - exact).abs() <= step).all()
    with torch.autocast("cpu", dtype=dtype):
        mixed = made(16, 4).float().into_scores(q.float(), place, place).inside
    assert mixed.dtype == dtype and ((mixed.double() - exact).abs() <= 8 * step).all()


@pytest.mark.parametrize("consecutive", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_many_keys_of_an_offset_are_summed_in_float32(dtype, consecutive):
    encode = ShawEncoding(3, 1, values=True, dtype=dtype)
    with torch.no_grad():
        encode.value_vectors.copy_(torch.eye(3))
    query, key = torch.tensor([0, 1]), torch.arange(4096)
    key = key if consecutive else key.flip(0)
    q = torch.ones(1, 1, 2, 3, dtype=dtype)
    right = torch.tensor([[0.0, 1.0, 4095.0], [1.0, 1.0, 4094.0]], dtype=dtype)
    # A sum in half precision stops to grow, at 256 ones in bfloat16.
    weights = torch.ones(1, 1, 2, 4096, dtype=dtype)
    assert torch.equal(encode.into_values(weights, query, key)[0, 0], right)
    encode.into_scores(q, query, key).inside.sum().backward()
    torch.testing.assert_close(encode.key_vectors.grad[:, 0], right.float().sum(0).to(dtype))


@pytest.mark.parametrize("consecutive", [True, False])
def test_no_scatter_add_is_left_in_half_precision(consecutive):
    kinds = []  # an accelerator keeps such a sum in the type it is given, the CPU does not

    class Sums(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if "scatter_add" in str(func):
                kinds.append(args[0].dtype)
            return func(*args, **(kwargs or {}))

    encode = ShawEncoding(3, 1, values=True, dtype=torch.bfloat16)
    query, key = torch.arange(4), torch.arange(4) if consecutive else torch.tensor([3, 1, 2, 0])
    with Sums():
        encode.into_values(torch.ones(1, 1, 4, 4, dtype=torch.bfloat16), query, key)
        q = torch.ones(1, 1, 4, 3, dtype=torch.bfloat16)
        encode.into_scores(q, query, key).inside.sum().backward()
    assert len(kinds) >= 2 and set(kinds) == {torch.float32}


def test_the_band_has_forward_derivatives():
    for function, x in (
        (lambda x: spread_clipped(x, 6, -2), randoms(2, 5, 7)),
        (lambda x: collect_clipped(x, 3, -2), randoms(2, 5, 6)),
    ):
        tangent = torch.ones_like(x)
        _, moved = torch.func.jvp(function, (x,), (tangent,))
        torch.testing.assert_close(moved, function(tangent))
        asking = x.requires_grad_()
        assert torch.autograd.gradcheck(function, (asking,), check_forward_ad=True)


def test_state_copies_and_the_meta_device():
    encode, q, place = made(), randoms(1, 3, 5, 4), torch.arange(5)
    inside = encode.into_scores(q, place, place).inside
    for again in (copy.deepcopy(encode), pickle.loads(pickle.dumps(encode))):
        assert torch.equal(again.into_scores(q, place, place).inside, inside)
        assert repr(again) == "ShawEncoding(width=4, clip=3, values=True)"
    with torch.device("meta"):
        built = ShawEncoding(4, 3, values=True, dtype=torch.float64)
        on_meta = built.into_scores(q.to("meta"), place.to("meta"), place.to("meta")).inside
    assert on_meta.device.type == "meta" and on_meta.shape == inside.shape
    filled = built.to_empty(device="cpu")
    filled.reset_parameters()
    assert 0 < filled.key_vectors.abs().max() <= math.sqrt(6 / 11)  # Glorot's bound
    assert 0 < filled.value_vectors.abs().max() <= math.sqrt(6 / 11)
    filled.load_state_dict(encode.state_dict())
    assert torch.equal(filled.into_scores(q, place, place).inside, inside)
    assert isinstance(encode, PositionEncoding)


def test_vmap_over_samples_and_positions():
    encode, q = made(), randoms(2, 3, 5, 4)
    weights = randoms(2, 3, 5, 5).softmax(-1)
    place = torch.stack([torch.arange(5), torch.tensor([4, 0, 0, 1, 2])])
    rows = vmap(lambda q, p: encode.into_scores(q, p, p).inside)(q, place)
    torch.testing.assert_close(rows, encode.into_scores(q, place, place).inside, **FLOAT64)
    rows = vmap(lambda q: encode.into_scores(q, place[0], place[0]).inside)(q)
    torch.testing.assert_close(rows, encode.into_scores(q, place[0], place[0]).inside, **FLOAT64)
    rows = vmap(lambda w, p: encode.into_values(w, p, p))(weights, place)
    torch.testing.assert_close(rows, encode.into_values(weights, place, place), **FLOAT64)


@pytest.mark.usefixtures("unchecked_shapes")
def test_compiles_into_one_graph_and_exports():
    encode = made()
    both = torch.compile(
        lambda q, w, p: (encode.into_scores(q, p, p).inside, encode.into_values(w, p, p)),
        fullgraph=True,
        dynamic=True,
        backend="eager",
    )
    for length in (5, 9, 100):
        q, place = randoms(2, 3, length, 4), torch.arange(length) + 3
        weights = randoms(2, 3, length, length).softmax(-1)
        inside, out = both(q, weights, place)
        right = encode.into_scores(q, place, place).inside
        torch.testing.assert_close(inside, right, **FLOAT64)
        torch.testing.assert_close(out, encode.into_values(weights, place, place), **FLOAT64)

    class Door(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = encode

        def forward(self, q, positions):
            return self.encode.into_scores(q, positions, positions).inside

    length = torch.export.Dim("length", min=2)
    example = (randoms(2, 3, 5, 4), torch.arange(5))
    program = torch.export.export(Door(), example, dynamic_shapes=({2: length}, {0: length}))
    torch.testing.assert_close(program.module()(q, place), right, **FLOAT64)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_positions_of_a_narrow_integer_type_do_not_overflow(dtype):
    encode, q = made(), randoms(1, 2, 3, 4)
    for query, key in (([100, 7, 120], [120, 0, 3]), ([100, 101, 102], [1, 2, 3])):
        right = encode.into_scores(q, torch.tensor(query), torch.tensor(key)).inside
        places = torch.tensor(query, dtype=dtype), torch.tensor(key, dtype=dtype)
        assert torch.equal(encode.into_scores(q, *places).inside, right)


# Bad input

PLACE = torch.arange(3)
Q = torch.zeros(1, 2, 3, 4)
W = torch.zeros(1, 2, 3, 3)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: clipped_offsets(PLACE.float(), 2), TypeError, "offset must be integers"),
        (lambda: clipped_offsets(PLACE, -1), ValueError, "clip must not be negative, got -1"),
        (lambda: ShawEncoding(4, -3), ValueError, "clip must not be negative, got -3"),
        (lambda: ShawEncoding(0), ValueError, "width must be at least 1, got 0"),
        (
            lambda: ShawEncoding(8).into_scores(Q, PLACE, PLACE),
            ValueError,
            r"q must be \[..., H, S, 8\], got \[1, 2, 3, 4\]",
        ),
        (
            lambda: ShawEncoding(4).into_scores(Q.mT, PLACE, PLACE),
            ValueError,
            r"query_positions must be \[4\] or \[1, 4\]",
        ),
        (
            lambda: ShawEncoding(4).into_scores(Q, PLACE, PLACE.bfloat16()),
            TypeError,
            "key_positions must be integers, got torch.bfloat16",
        ),
        (
            lambda: ShawEncoding(4, values=True).into_values(W, PLACE, PLACE[:2]),
            ValueError,
            r"key_positions must hold 3 positions for weights of \[1, 2, 3, 3\], got \[2\]",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
