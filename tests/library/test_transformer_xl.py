"""Transformer-XL: four terms, a shift that must drop the right row, and positions in any order."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap

from tokpos.position import PositionEncoding
from tokpos.sinusoidal_arrangements import sinusoidal_concatenated
from tokpos.transformer_xl import (
    TransformerXLEncoding,
    distance_scores,
    distance_scores_by_pairs,
    relative_shift,
    two_way_shift,
)

LAST = 131_071
FLOAT64 = {"rtol": 0, "atol": 1e-9}  # angles up to 131,071 are known to 3e-11
places = st.lists(st.integers(-LAST, LAST), min_size=1, max_size=5).map(torch.tensor)


def randoms(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def made(heads=2, head_width=4, width=6):
    encode = TransformerXLEncoding(heads, head_width, width, dtype=torch.float64)
    with torch.no_grad():
        for seed, parameter in enumerate(encode.parameters()):
            parameter.copy_(randoms(*parameter.shape, seed=seed + 5))
    return encode


# The shift


def test_E07_the_first_row_is_dropped():
    x = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]]).double()
    assert relative_shift(x).tolist() == [[3, 0, 4], [5, 6, 0], [7, 8, 9]]
    assert relative_shift(x, junk=-math.inf).tolist() == [
        [3, -math.inf, -math.inf],
        [5, 6, -math.inf],
        [7, 8, 9],
    ]


@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (3, 3), (1, 5), (4, 7), (6, 6)])
def test_E07_every_entry_that_is_meant(n_queries, n_keys):
    x = randoms(2, n_queries, n_keys)
    shifted, marked = relative_shift(x), relative_shift(x, junk=9.0)
    for i in range(n_queries):
        for j in range(n_keys):
            if j <= i + n_keys - n_queries:
                right = x[:, i, j + n_queries - 1 - i]
                assert torch.equal(shifted[:, i, j], right)
                assert torch.equal(marked[:, i, j], right)
            else:
                assert (marked[:, i, j] == 9).all()


@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (3, 3), (1, 5), (4, 7), (5, 2)])
def test_E07_two_ways_need_all_distances_and_have_no_junk(n_queries, n_keys):
    x = randoms(2, n_queries, n_queries + n_keys - 1)
    shifted = two_way_shift(x)
    assert shifted.shape == (2, n_queries, n_keys)
    for i in range(n_queries):
        for j in range(n_keys):
            assert torch.equal(shifted[:, i, j], x[:, i, j + n_queries - 1 - i])


@pytest.mark.parametrize(("n_queries", "n_keys"), [(6, 6), (3, 8), (1, 4)])
def test_E07_shift_and_explicit_positions_agree(n_queries, n_keys):
    encode, q = made(), randoms(2, 2, n_queries, 4)
    key = torch.arange(n_keys)
    query = key[n_keys - n_queries :]
    right = distance_scores(q, encode.projection, query, key)
    largest = n_keys - 1
    for smallest, shift in ((0, relative_shift), (1 - n_queries, two_way_shift)):
        distance = torch.arange(largest, smallest - 1, -1)
        table = sinusoidal_concatenated(distance, 6, dtype=torch.float64)
        r = torch.einsum("hdD,nD->hnd", encode.projection, table)
        shifted = shift(q @ r.mT)
        meant = key <= query[:, None] if smallest == 0 else torch.ones(n_queries, n_keys) > 0
        torch.testing.assert_close(shifted[..., meant], right[..., meant], **FLOAT64)


def test_E07_the_same_shift_as_xlnet():
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    x = randoms(1, 2, 4, 7)
    right = XLNetRelativeAttention.rel_shift_bnij(torch.cat([x.new_zeros(1, 2, 4, 1), x], -1), 4)
    # XLNet's table starts one distance further out, at n_keys, and so has a column more.
    assert torch.equal(right, two_way_shift(x))


# The four terms


def four_terms(q, k, encode, query_positions, key_positions):
    """The paper's formula, one pair after the other."""
    u, v, projection = (p.detach() for p in encode.parameters())
    heads, n_queries, _ = q.shape
    scores = torch.zeros(heads, n_queries, k.shape[1], dtype=torch.float64)
    half = encode.width // 2
    turn = [10000.0 ** (-2 * pair / encode.width) for pair in range(half)]
    for h in range(heads):
        for i, query in enumerate(query_positions.tolist()):
            for j, key in enumerate(key_positions.tolist()):
                angles = [(query - key) * speed for speed in turn]
                table = [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
                r = projection[h] @ torch.tensor(table, dtype=torch.float64)
                scores[h, i, j] = q[h, i] @ k[h, j] + q[h, i] @ r + u[h] @ k[h, j] + v[h] @ r
    return scores


@settings(max_examples=40)
@given(query=places, key=places)
def test_the_scores_are_the_four_terms(query, key):
    encode = made()
    q, k = randoms(2, len(query), 4, seed=1), randoms(2, len(key), 4, seed=2)
    turned, same = encode.into_queries_and_keys(q, k, query, key)
    terms = encode.into_scores(q, query, key)
    assert terms.outside is None and same is k
    exact = four_terms(q, k, encode, query, key)
    torch.testing.assert_close(turned @ k.mT + terms.inside, exact, **FLOAT64)
    asking = q + encode.position_bias[:, None]
    slow = distance_scores_by_pairs(asking, encode.projection, query, key)
    torch.testing.assert_close(terms.inside, slow, **FLOAT64)


def test_the_scores_are_those_of_xlnet():
    from transformers import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetModel

    config = XLNetConfig(vocab_size=9, d_model=16, n_layer=1, n_head=2, d_inner=8, dropout=0.0)
    model = XLNetModel(config).double().eval()
    layer = model.layer[0].rel_attn
    u, v, projection = (
        randoms(*shape, seed=n) for n, shape in enumerate([(2, 8), (2, 8), (16, 2, 8)])
    )
    length = 6
    with torch.no_grad():
        layer.r_w_bias.copy_(u)
        layer.r_r_bias.copy_(v)
        layer.r.copy_(projection)
        q, k, value = (randoms(length, 1, 2, 8, seed=n) for n in (3, 4, 5))
        table = model.relative_positional_encoding(length, length, bsz=1).double()
        r = torch.einsum("ibh,hnd->ibnd", table, layer.r)
        _, theirs = layer.rel_attn_core(q, k, value, r, output_attentions=True)
        encode = TransformerXLEncoding(2, 8, dtype=torch.float64)
        encode.content_bias.copy_(u)
        encode.position_bias.copy_(v)
        encode.projection.copy_(projection.permute(1, 2, 0))
        place = torch.arange(length)
        ours_q, ours_k = (x.permute(1, 2, 0, 3) for x in (q, k))
        turned, _ = encode.into_queries_and_keys(ours_q, ours_k, place, place)
        scores = turned @ ours_k.mT + encode.into_scores(ours_q, place, place).inside
    weights = (scores / math.sqrt(8)).softmax(-1)
    # XLNet's angles are float32.
    torch.testing.assert_close(weights, theirs.permute(2, 3, 0, 1), rtol=0, atol=2e-5)


@given(query=places, key=places, shift=st.integers(-1000, 1000))
def test_scores_depend_on_the_distance_only(query, key, shift):
    encode, q = made(), randoms(1, 2, len(query), 4)
    here = encode.into_scores(q, query, key).inside
    there = encode.into_scores(q, query + shift, key + shift).inside
    torch.testing.assert_close(there, here, **FLOAT64)


def test_float32_is_exact_far_out():
    encode, place = made(2, 8, 16), torch.arange(LAST - 40, LAST + 1)
    q = randoms(1, 2, 41, 8)
    exact = encode.into_scores(q, place, place).inside
    single = encode.float().into_scores(q.float(), place, place).inside
    # Some 40 products of numbers of size 4, each rounded to float32.
    assert single.dtype == torch.float32
    assert (single - exact).abs().max() <= 1e-6 * exact.abs().max()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_does_not_round_the_term(dtype):
    encode, place = made(2, 8, 16).to(dtype), torch.arange(1000, 1040)
    q = randoms(1, 2, 40, 8).to(dtype)
    exact = copy.deepcopy(encode).double().into_scores(q.double(), place, place).inside
    for cast in (False, True):
        with torch.autocast("cpu", dtype=dtype, enabled=cast):
            inside = encode.into_scores(q, place, place).inside
        assert inside.dtype == torch.float32
        assert (inside - exact).abs().max() <= 1e-6 * exact.abs().max()
    assert encode.into_queries_and_keys(q, q, place, place)[0].dtype == dtype


def test_gradients():
    encode, q = made(), randoms(1, 2, 3, 4).requires_grad_()
    query, key = torch.tensor([4, 0, 9]), torch.arange(4)
    u, v, projection = encode.parameters()
    torch.autograd.gradcheck(
        lambda q, *_: encode.into_scores(q, query, key).inside, (q, v, projection)
    )
    k = randoms(1, 2, 4, 4)
    torch.autograd.gradcheck(
        lambda q, _: encode.into_queries_and_keys(q, k, query, key)[0] @ k.mT, (q, u)
    )
    x = randoms(2, 3, 5).requires_grad_()
    torch.autograd.gradcheck(lambda x: relative_shift(x, junk=0.0), x)
    torch.autograd.gradcheck(two_way_shift, x)


# The module


@given(split=st.integers(0, 7))
def test_chunks_equal_the_whole(split):
    encode, q, place = made(), randoms(1, 2, 7, 4), torch.arange(7)
    whole = encode.into_scores(q, place, place).inside
    for part in (slice(0, split), slice(split, 7)):
        inside = encode.into_scores(q[..., part, :], place[part], place).inside
        torch.testing.assert_close(inside, whole[..., part, :], **FLOAT64)


def test_packed_documents_and_left_padding():
    encode, q = made(), randoms(2, 2, 5, 4)
    place = torch.tensor([[0, 1, 2, 0, 1], [0, 0, 0, 1, 2]])
    inside = encode.into_scores(q, place, place).inside
    for sample, part in ((0, slice(0, 3)), (1, slice(2, 5))):
        alone = encode.into_scores(q[sample, :, part], torch.arange(3), torch.arange(3)).inside
        torch.testing.assert_close(inside[sample, :, part, part], alone, **FLOAT64)
    asking = q + encode.position_bias[:, None]
    slow = distance_scores_by_pairs(asking, encode.projection, place, place)
    torch.testing.assert_close(inside, slow, **FLOAT64)


def test_state_copies_and_the_meta_device():
    encode, q, place = made(), randoms(1, 2, 5, 4), torch.arange(5)
    assert list(encode.state_dict()) == ["content_bias", "position_bias", "projection"]
    inside = encode.into_scores(q, place, place).inside
    for again in (copy.deepcopy(encode), pickle.loads(pickle.dumps(encode))):
        assert torch.equal(again.into_scores(q, place, place).inside, inside)
        assert repr(again) == "TransformerXLEncoding(heads=2, head_width=4, width=6)"
    with torch.device("meta"):
        built = TransformerXLEncoding(2, 4, 6, dtype=torch.float64)
        on_meta = built.into_scores(q.to("meta"), place.to("meta"), place.to("meta")).inside
    assert on_meta.device.type == "meta" and on_meta.shape == inside.shape
    filled = built.to_empty(device="cpu")
    filled.reset_parameters()
    assert all(0 < p.abs().max() < 0.1 for p in filled.parameters())
    filled.load_state_dict(encode.state_dict())
    assert torch.equal(filled.into_scores(q, place, place).inside, inside)
    assert isinstance(encode, PositionEncoding)
    assert TransformerXLEncoding(3, 4).width == 12


def test_vmap_over_samples_and_positions():
    encode, q = made(), randoms(2, 2, 5, 4)
    place = torch.stack([torch.arange(5), torch.tensor([4, 0, 0, 1, 2])])
    rows = vmap(lambda q, p: encode.into_scores(q, p, p).inside)(q, place)
    torch.testing.assert_close(rows, encode.into_scores(q, place, place).inside, **FLOAT64)


@pytest.mark.usefixtures("unchecked_shapes")
def test_compiles_into_one_graph_and_exports():
    encode = made()
    compiled = torch.compile(encode.into_scores, fullgraph=True, dynamic=True, backend="eager")
    shift = torch.compile(relative_shift, fullgraph=True, dynamic=True, backend="eager")
    for length in (5, 9, 12):
        q, place = randoms(2, 2, length, 4), torch.arange(length) + 3
        right = encode.into_scores(q, place, place).inside.detach()
        torch.testing.assert_close(compiled(q, place, place).inside, right, **FLOAT64)
        assert torch.equal(shift(right), relative_shift(right))

    class Door(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = encode

        def forward(self, q, positions):
            return self.encode.into_scores(q, positions, positions).inside

    length = torch.export.Dim("length", min=2)
    example = (randoms(2, 2, 5, 4), torch.arange(5))
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


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: relative_shift(Q[0, 0, 0]), ValueError, r"x must be .* got \[4\]"),
        (
            lambda: relative_shift(Q.mT),
            ValueError,
            r"no more queries than keys, got \[1, 2, 4, 3\]",
        ),
        (lambda: TransformerXLEncoding(0, 4), ValueError, "heads must be at least 1, got 0"),
        (lambda: TransformerXLEncoding(2, 0), ValueError, "head_width must be .* got 0"),
        (lambda: TransformerXLEncoding(1, 3), ValueError, "width must be even .* got 3"),
        (
            lambda: TransformerXLEncoding(3, 4).into_scores(Q, PLACE, PLACE),
            ValueError,
            r"q must be \[..., 3, S, 4\], got \[1, 2, 3, 4\]",
        ),
        (
            lambda: TransformerXLEncoding(2, 6).into_queries_and_keys(Q, Q, PLACE, PLACE),
            ValueError,
            r"q must be \[..., 2, S, 6\], got \[1, 2, 3, 4\]",
        ),
        (
            lambda: TransformerXLEncoding(2, 4).into_scores(Q, PLACE.float(), PLACE),
            TypeError,
            "query_positions must be integers, got torch.float32",
        ),
        (
            lambda: TransformerXLEncoding(2, 4).into_scores(Q, PLACE, PLACE.float()),
            TypeError,
            "key_positions must be integers, got torch.float32",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
