"""T5's bias: buckets by whole numbers, a learned table, and only as many offsets as there are."""

from __future__ import annotations

import copy
import pickle

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.func import vmap

from tokpos.position import PositionEncoding, offsets
from tokpos.t5 import T5Bias, t5_bias, t5_bucket_starts, t5_buckets

places = st.lists(st.integers(-1000, 1000), min_size=1, max_size=6).map(torch.tensor)


def true_bucket(offset, buckets=32, max_distance=128, bidirectional=True):
    """The paper's code with a logarithm of 60 digits."""
    each = buckets // 2 if bidirectional else buckets
    distance = abs(offset) if bidirectional else max(-offset, 0)
    exact = each // 2
    bucket = distance
    if distance >= exact:
        with mpmath.workdps(60):
            share = mpmath.log(mpmath.mpf(distance) / exact)
            share *= (each - exact) / mpmath.log(mpmath.mpf(max_distance) / exact)
            # A whole number comes out a little off: 1e-50 is far less than any other fraction.
            bucket = min(exact + int(mpmath.floor(share + mpmath.mpf(10) ** -50)), each - 1)
    return bucket + (each if bidirectional and offset > 0 else 0)


def randoms(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def theirs():
    from transformers.models.t5.modeling_t5 import T5Attention

    return T5Attention._relative_position_bucket


# Buckets


def test_E05_two_ways():
    right = {
        0: 0, -1: 1, 1: 17, -8: 8, 8: 24, -16: 10, -32: 12, -64: 14, -127: 15, -200: 15, 200: 31,
    }  # fmt: skip
    assert t5_buckets(torch.tensor(list(right))).tolist() == list(right.values())


def test_E05_causal():
    right = {5: 0, 0: 0, -15: 15, -16: 16, -32: 21, -64: 26, -128: 31, -1000: 31}
    buckets = t5_buckets(torch.tensor(list(right)), bidirectional=False)
    assert buckets.tolist() == list(right.values())


@pytest.mark.parametrize("bidirectional", [True, False])
def test_E05_the_same_as_transformers_bit_for_bit(bidirectional):
    offset = torch.arange(-3000, 3001)
    ours = t5_buckets(offset, bidirectional=bidirectional)
    assert torch.equal(ours, theirs()(offset, bidirectional))
    assert ours.dtype == torch.int64 and ours.min() == 0 and ours.max() == 31


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_E05_no_type_and_no_autocast_moves_a_bucket(dtype):
    offset = torch.arange(-300, 301)
    exact = t5_buckets(offset)
    with torch.autocast("cpu", dtype=dtype):
        assert torch.equal(t5_buckets(offset), exact)
    place = torch.arange(300)
    encode = T5Bias(1).to(dtype)
    with torch.no_grad():
        encode.weight.copy_(torch.arange(32)[:, None])
    for at in (place, place[None]):
        bias = encode.into_scores(torch.zeros(1, 1, 300, 4, dtype=dtype), at, at).outside
        assert bias.dtype == dtype
        assert torch.equal(bias.reshape(300, 300).long(), t5_buckets(offsets(place, place)))


@given(
    st.integers(-(10**6), 10**6),
    st.integers(4, 80),
    st.integers(2, 5000),
    st.booleans(),
)
def test_E05_any_setting_agrees_with_60_digits(offset, buckets, reach, bidirectional):
    max_distance = (buckets // 2 if bidirectional else buckets) // 2 + reach
    bucket = t5_buckets(torch.tensor(offset), buckets, max_distance, bidirectional).item()
    assert bucket == true_bucket(offset, buckets, max_distance, bidirectional)
    assert 0 <= bucket < buckets


@pytest.mark.parametrize("setting", [(32, 128), (64, 256), (16, 10**6), (6, 4), (320, 800)])
def test_E05_both_sides_of_every_start(setting):
    starts = t5_bucket_starts(setting[0] // 2, setting[1])
    assert starts == sorted(starts) and starts[0] == 0 and starts[-1] <= setting[1]
    near = sorted({s + step for s in starts for step in (-1, 0, 1)} | {10**9})
    offset = torch.tensor([-n for n in near] + near)
    right = [true_bucket(n, *setting) for n in offset.tolist()]
    assert t5_buckets(offset, *setting).tolist() == right


def test_buckets_of_any_shape_and_integer():
    offset = torch.tensor([[-7, 0], [3, 90]])
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        assert t5_buckets(offset.to(dtype)).tolist() == [[7, 0], [19, 30]]
    assert t5_buckets(torch.tensor(-128, dtype=torch.int8)).item() == 15
    assert t5_buckets(offset[:0]).shape == (0, 2)


# Against transformers


@pytest.mark.parametrize("decoder", [False, True])
@pytest.mark.parametrize(
    ("n_queries", "n_keys", "past"), [(7, 7, 0), (512, 512, 0), (1, 9, 8), (3, 200, 197)]
)
def test_the_bias_equals_that_of_transformers_bit_for_bit(n_queries, n_keys, past, decoder):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=16, num_heads=4, d_kv=4, is_decoder=decoder)
    layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    with torch.no_grad():
        layer.relative_attention_bias.weight.copy_(randoms(32, 4))
        right = layer.compute_bias(n_queries, n_keys, past_seen_tokens=past)[0]
    encode = T5Bias(4, bidirectional=not decoder)
    encode.load_state_dict(layer.relative_attention_bias.state_dict())
    query, key = past + torch.arange(n_queries), torch.arange(n_keys)
    q = torch.zeros(1, 4, n_queries, 4)
    terms = encode.into_scores(q, query, key)
    assert terms.inside is None and torch.equal(terms.outside, right)
    assert terms.outside.is_contiguous()
    assert torch.equal(encode.into_scores(q, query[None], key[None]).outside[0], right)
    weight = layer.relative_attention_bias.weight
    assert torch.equal(t5_bias(weight, n_queries, n_keys, -past, 128, not decoder), right)
    made = T5Bias.from_table(weight, bidirectional=not decoder)
    assert torch.equal(made.into_scores(q, query, key).outside, right)
    assert made.weight is not weight and made.weight.requires_grad


# The module


@pytest.mark.parametrize("bidirectional", [False, True])
@given(query=places, key=places, shift=st.integers(-1000, 1000))
def test_the_bias_is_the_row_of_the_bucket_and_depends_on_the_offset_only(
    bidirectional, query, key, shift
):
    encode = T5Bias(3, bidirectional=bidirectional)
    q = torch.zeros(1, 3, len(query), 4)
    bias = encode.into_scores(q, query, key).outside
    assert torch.equal(bias, encode.into_scores(q, query + shift, key + shift).outside)
    bucket = t5_buckets(offsets(query, key), bidirectional=bidirectional)
    assert torch.equal(bias, encode.weight[bucket].permute(2, 0, 1))


@given(split=st.integers(0, 7))
def test_chunks_equal_the_whole(split):
    encode, q, place = T5Bias(3), torch.zeros(1, 3, 7, 4), torch.arange(7)
    whole = encode.into_scores(q, place, place).outside
    for part in (slice(0, split), slice(split, 7)):
        assert torch.equal(
            encode.into_scores(q[..., part, :], place[part], place).outside, whole[..., part, :]
        )


def test_packed_documents_and_left_padding():
    place = torch.tensor([[0, 1, 2, 0, 1], [0, 0, 0, 1, 2]])
    encode = T5Bias(4)
    bias = encode.into_scores(torch.zeros(2, 4, 5, 8), place, place).outside
    alone = encode.into_scores(torch.zeros(4, 3, 8), torch.arange(3), torch.arange(3)).outside
    assert bias.shape == (2, 4, 5, 5)
    for part in (bias[0, :, :3, :3], bias[1, :, 2:, 2:]):
        assert torch.equal(part, alone)
    assert torch.equal(bias[0, :, 3:, 3:], alone[:, :2, :2])


def test_both_paths_have_the_same_gradient():
    encode = T5Bias(2).double()
    place, q = torch.arange(150), torch.zeros(1, 2, 150, 4)
    grad = randoms(2, 150, 150, dtype=torch.float64)
    (fast,) = torch.autograd.grad(encode.into_scores(q, place, place).outside, encode.weight, grad)
    slow = torch.zeros(32, 2, dtype=torch.float64)
    slow.index_add_(0, t5_buckets(offsets(place, place)).flatten(), grad.flatten(1).T)
    # Sums of up to 11,175 numbers of size 1 in another order.
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-10)
    (general,) = torch.autograd.grad(
        encode.into_scores(q, place[None], place[None]).outside, encode.weight, grad[None]
    )
    torch.testing.assert_close(general, slow, rtol=0, atol=1e-10)
    table = randoms(8, 2, dtype=torch.float64).requires_grad_()
    torch.autograd.gradcheck(lambda t: t5_bias(t, 5, 7, -2, 8), table)
    torch.autograd.gradgradcheck(lambda t: t5_bias(t, 5, 7, -2, 8), table)


def test_state_copies_and_the_meta_device():
    encode, q, place = (
        T5Bias(3, 16, 50, bidirectional=False),
        torch.zeros(1, 3, 5, 4),
        torch.arange(5),
    )
    assert list(encode.state_dict()) == ["weight"]
    bias = encode.into_scores(q, place, place).outside
    for again in (copy.deepcopy(encode), pickle.loads(pickle.dumps(encode))):
        assert torch.equal(again.into_scores(q, place, place).outside, bias)
        assert repr(again) == "T5Bias(heads=3, buckets=16, max_distance=50, bidirectional=False)"
    with torch.device("meta"):
        built = T5Bias(3, 16, 50, bidirectional=False)
        on_meta = built.into_scores(q.to("meta"), place.to("meta"), place.to("meta")).outside
    assert on_meta.device.type == "meta" and on_meta.shape == bias.shape
    filled = built.to_empty(device="cpu")
    filled.reset_parameters()
    assert filled.weight.std() < 0.05 and filled.weight.abs().max() > 0
    filled.load_state_dict(encode.state_dict())
    assert torch.equal(filled.into_scores(q, place, place).outside, bias)
    assert isinstance(encode, PositionEncoding)
    assert T5Bias(2, dtype=torch.bfloat16).weight.dtype == torch.bfloat16


def test_vmap_over_samples_and_positions():
    encode, q = T5Bias(3), randoms(2, 3, 5, 4)
    place = torch.stack([torch.arange(5), torch.tensor([4, 0, 0, 1, 200])])
    rows = vmap(lambda q, p: encode.into_scores(q, p, p).outside)(q, place)
    assert torch.equal(rows, encode.into_scores(q, place, place).outside)
    tables = randoms(2, 32, 3)
    each = vmap(lambda table: t5_bias(table, 5, 5))(tables)
    assert torch.equal(each[1], t5_bias(tables[1], 5, 5))


@pytest.mark.usefixtures("unchecked_shapes")
def test_compiles_into_one_graph_and_exports():
    encode = T5Bias(3)
    compiled = torch.compile(encode.into_scores, fullgraph=True, dynamic=True, backend="eager")
    fast = torch.compile(t5_bias, fullgraph=True, dynamic=True, backend="eager")
    for length in (5, 9, 200):
        q, place = torch.zeros(2, 3, length, 4), torch.arange(length) + 3
        bias = encode.into_scores(q, place, place).outside
        assert torch.equal(compiled(q, place, place).outside, bias)
        assert torch.equal(fast(encode.weight, length, length), bias)

    class Door(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = encode

        def forward(self, q, positions):
            return self.encode.into_scores(q, positions, positions).outside

    length = torch.export.Dim("length", min=2)
    example = (torch.zeros(2, 3, 5, 4), torch.arange(5))
    program = torch.export.export(Door(), example, dynamic_shapes=({2: length}, {0: length}))
    assert torch.equal(program.module()(q, place), bias)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_positions_of_a_narrow_integer_type_do_not_overflow(dtype):
    encode, q = T5Bias(2), torch.zeros(1, 2, 3, 4)
    for query, key in (([100, 7, 120], [120, 0, 3]), ([100, 101, 102], [1, 2, 3])):
        right = encode.into_scores(q, torch.tensor(query), torch.tensor(key)).outside
        places = torch.tensor(query, dtype=dtype), torch.tensor(key, dtype=dtype)
        assert torch.equal(encode.into_scores(q, *places).outside, right)


# Bad input

PLACE = torch.arange(3)
Q = torch.zeros(1, 2, 3, 4)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: t5_buckets(PLACE.float()),
            TypeError,
            "offset must be integers, got torch.float32",
        ),
        (lambda: t5_buckets(PLACE, 3), ValueError, "buckets must be at least 2 in each .* got 1"),
        (lambda: t5_bucket_starts(0), ValueError, "buckets must be at least 2 .* got 0"),
        (lambda: t5_buckets(PLACE, 32, 8), ValueError, "max_distance must be above 8.* got 8"),
        (lambda: T5Bias(0), ValueError, "heads must be at least 1, got 0"),
        (lambda: T5Bias(2, 2), ValueError, "buckets must be at least 2 in each direction, got 1"),
        (
            lambda: T5Bias(2, 32, 16, bidirectional=False),
            ValueError,
            "max_distance must be above 16.* got 16",
        ),
        (lambda: T5Bias.from_table(torch.ones(3)), ValueError, r"table must be .* got \[3\]"),
        (lambda: t5_bias(torch.ones(3), 1, 1), ValueError, r"table must be .* got \[3\]"),
        (lambda: t5_bias(torch.ones(32, 1), 0, 1), ValueError, "n_queries must be .* got 0"),
        (lambda: t5_bias(torch.ones(32, 1), 1, -1), ValueError, "n_keys must be .* got -1"),
        (
            lambda: T5Bias(3).into_scores(Q, PLACE, PLACE),
            ValueError,
            r"q must be \[..., 3, S, d\], got \[1, 2, 3, 4\]",
        ),
        (
            lambda: T5Bias(2).into_scores(Q, PLACE.float(), PLACE),
            TypeError,
            "query_positions must be integers, got torch.float32",
        ),
        (
            lambda: T5Bias(2).into_scores(Q, PLACE, PLACE.double()),
            TypeError,
            "key_positions must be integers, got torch.float64",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
