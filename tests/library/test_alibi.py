"""ALiBi: the slopes of the paper's code, a bias that only ever falls, and a fast attention."""

from __future__ import annotations

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.func import vmap
from torch.utils._python_dispatch import TorchDispatchMode

from tokpos._diagonals import spread_diagonals, spread_diagonals_by_index
from tokpos._scores import first_offset
from tokpos.alibi import Alibi, alibi_attention, alibi_bias, alibi_slopes
from tokpos.position import PositionEncoding, offsets

LAST = 131_071
places = st.lists(st.integers(-LAST, LAST), min_size=1, max_size=6).map(torch.tensor)


def papers_slopes(heads):
    """``get_slopes`` as the paper's code has it, in other words: halving until it is a power."""
    if heads & (heads - 1) == 0:
        return [2.0 ** (-8 * (h + 1) / heads) for h in range(heads)]
    power = 2 ** math.floor(math.log2(heads))
    return papers_slopes(power) + papers_slopes(2 * power)[0::2][: heads - power]


def randoms(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def slow_attention(q, k, v, slopes, causal):
    """By the formula, in float64."""
    q, k, v, slopes = q.double(), k.double(), v.double(), slopes.double()
    key = torch.arange(k.shape[-2])
    query = key[k.shape[-2] - q.shape[-2] :]
    distance = (key - query[:, None]).abs()
    scores = q @ k.mT / math.sqrt(q.shape[-1]) - slopes[:, None, None] * distance
    if causal:
        scores = scores.masked_fill(key > query[:, None], -math.inf)
    return scores.softmax(-1) @ v


# Slopes


@pytest.mark.parametrize(
    ("heads", "values"),
    [
        (1, [2.0**-8]),
        (3, [0.0625, 0.00390625, 0.25]),
        (6, [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]),
        (8, [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]),
    ],
)
def test_E01_slopes_where_they_are_powers_of_two(heads, values):
    assert alibi_slopes(heads).tolist() == values


def test_E01_twelve_heads_end_in_every_second_slope_of_sixteen():
    slopes = alibi_slopes(12)
    assert torch.equal(slopes[:8], alibi_slopes(8))
    last = torch.tensor([0.707107, 0.353553, 0.176777, 0.088388])
    torch.testing.assert_close(slopes[8:], last, rtol=0, atol=5e-7)


@pytest.mark.parametrize("heads", range(1, 130))
def test_E01_slopes_of_any_number_of_heads(heads):
    slopes = alibi_slopes(heads, torch.float64)
    exact = torch.tensor(papers_slopes(heads), dtype=torch.float64)
    # exp2 of an exponent that is off by 2**-53 of at most 8: 8 ln 2 roundings and its own.
    torch.testing.assert_close(slopes, exact, rtol=8 * 2.0**-52, atol=0)
    assert torch.equal(alibi_slopes(heads), slopes.float())
    assert len(set(slopes.tolist())) == heads and slopes.min() == 2.0**-8 and slopes.max() < 1


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 12, 16, 20, 32, 71, 112])
def test_E01_the_same_heads_as_bloom_and_mpt(heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    slopes, place = alibi_slopes(heads), torch.arange(9)
    bias = alibi_bias(place, place, slopes)
    bloom = build_alibi_tensor(torch.ones(1, 9), heads, torch.float32)[:, 0]
    mpt = build_mpt_alibi_tensor(heads, 9)[:, 0]
    torch.testing.assert_close(bloom[:, 1], slopes, rtol=1e-6, atol=0)
    torch.testing.assert_close(-mpt[:, -2], slopes, rtol=1e-6, atol=0)
    # They add slope times key position: a constant more in each row, which softmax takes away.
    hidden = place > place[:, None]
    ours = bias.masked_fill(hidden, -math.inf).softmax(-1)
    for theirs in (bloom, mpt):
        rows = theirs[:, None].expand(heads, 9, 9).masked_fill(hidden, -math.inf).softmax(-1)
        torch.testing.assert_close(rows, ours, rtol=1e-5, atol=0)


# Bias


def test_E01_two_steps_back_at_slope_one_half_cost_one():
    bias = alibi_bias(torch.tensor([3]), torch.tensor([1]), torch.tensor([0.5]))
    assert bias.tolist() == [[[-1.0]]]


@given(places, places, st.integers(1, 20), st.booleans())
def test_E01_the_bias_is_never_positive_and_falls_with_the_distance(query, key, heads, symmetric):
    slopes = alibi_slopes(heads)
    bias = alibi_bias(query, key, slopes, slopes if symmetric else None)
    assert bias.shape == (heads, len(query), len(key)) and bias.dtype == torch.float32
    assert (bias <= 0).all() and bias.isfinite().all()
    offset = offsets(query, key)
    assert ((bias == 0) == ((offset == 0) if symmetric else (offset >= 0))).all()
    nearer = alibi_bias(query, key, slopes, slopes if symmetric else None)
    further = alibi_bias(query + 1, key, slopes, slopes if symmetric else None)
    left = (offset <= 0).expand_as(bias)
    assert (further < nearer)[left].all()


@given(places, places, st.integers(-LAST, LAST), st.integers(1, 20))
def test_the_bias_depends_on_the_offset_only(query, key, shift, heads):
    slopes = alibi_slopes(heads)
    here = alibi_bias(query, key, slopes, slopes)
    assert torch.equal(here, alibi_bias(query + shift, key + shift, slopes, slopes))
    # One rounding of the slope and one of the product; an offset below 2**24 is exact.
    exact = -alibi_slopes(heads, torch.float64)[:, None, None] * offsets(query, key).abs()
    torch.testing.assert_close(here.double(), exact, rtol=2 * 2.0**-24 * 1.01, atol=0)


def test_causal_and_symmetric_differ_only_to_the_right():
    place, slopes = torch.arange(6), alibi_slopes(4)
    causal, symmetric = alibi_bias(place, place, slopes), alibi_bias(place, place, slopes, slopes)
    right = (place > place[:, None]).expand_as(causal)
    assert torch.equal(causal[~right], symmetric[~right])
    assert (causal[right] == 0).all() and (symmetric[right] < 0).all()
    assert torch.equal(symmetric, symmetric.mT)


def test_an_encoder_may_tell_the_directions_apart():
    slopes, right = torch.tensor([0.5, 0.25]), torch.tensor([0.125, 1.0])
    bias = alibi_bias(torch.tensor([2]), torch.tensor([0, 2, 4]), slopes, right)
    assert bias.tolist() == [[[-1.0, 0.0, -0.25]], [[-0.5, 0.0, -2.0]]]


# The module


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("shape", [(3, 5, 5), (2, 1, 9), (2, 4, 7)])
@pytest.mark.parametrize("start", [0, 40, LAST])
def test_the_fast_path_equals_the_general_one(shape, symmetric, start):
    heads, n_queries, n_keys = shape
    key = start + torch.arange(n_keys)
    query = key[n_keys - n_queries :]
    encode, q = Alibi(heads, symmetric=symmetric), torch.zeros(heads, n_queries, 4)
    assert first_offset(query, key) == n_queries - n_keys
    slopes = alibi_slopes(heads)
    general = alibi_bias(query, key, slopes, slopes if symmetric else None)
    terms = encode.into_scores(q, query, key)
    assert terms.inside is None and torch.equal(terms.outside, general)
    rows = encode.into_scores(q[None], query[None], key[None]).outside
    assert torch.equal(rows[0], general)


def test_where_a_fast_path_may_be_taken():
    place = torch.arange(4)
    assert first_offset(place, place) == 0
    assert first_offset(place + 5, place) == -5
    assert first_offset(place, (place + 2).int()) == 2
    for query, key in [
        (place, place.flip(0)),
        (place * 2, place),
        (place, torch.tensor([0, 0, 1, 2])),
        (place[None], place[None]),
        (place[:0], place),
        (place.to("meta"), place),
    ]:
        assert first_offset(query, key) is None


def test_E04_positions_from_the_mask_count_no_pads():
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    bias = Alibi(1).into_scores(torch.zeros(2, 1, 5, 4), positions, positions).outside
    assert bias.shape == (2, 1, 5, 5)
    slope = 2.0**-8
    assert bias[0, 0, 4].tolist() == [-2 * slope, -2 * slope, -2 * slope, -slope, 0]
    alone = Alibi(1).into_scores(torch.zeros(1, 3, 4), torch.arange(3), torch.arange(3)).outside
    assert torch.equal(bias[0, :, 2:, 2:], alone)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_E04_a_where_mask_after_the_bias_has_no_nan_in_half_precision(dtype):
    q, place = torch.zeros(1, 2, 300, 8, dtype=dtype), torch.arange(300) * 400
    bias = Alibi(2).into_scores(q, place, place).outside
    assert bias.dtype == torch.float32 and bias.isfinite().all() and (bias <= 0).all()
    visible = place <= place[:, None]
    visible[0] = False  # a row of padding sees nothing
    scores = (q @ q.mT).float() + bias
    weights = scores.where(visible, -math.inf).softmax(-1).where(visible, 0)
    assert weights.isfinite().all() and (weights[..., 0, :] == 0).all()
    torch.testing.assert_close(weights[..., 1:, :].sum(-1), torch.ones(1, 2, 299))
    # What it replaces: the smallest number of the type and the bias run over to minus infinity.
    if dtype == torch.float16:
        assert (torch.finfo(dtype).min + bias.to(dtype)[..., -1, 0]).isinf().any()


@pytest.mark.parametrize("symmetric", [False, True])
@given(split=st.integers(0, 7))
def test_chunks_equal_the_whole(symmetric, split):
    encode, q, place = Alibi(3, symmetric=symmetric), torch.zeros(1, 3, 7, 4), torch.arange(7)
    whole = encode.into_scores(q, place, place).outside
    for part in (slice(0, split), slice(split, 7)):
        bias = encode.into_scores(q[..., part, :], place[part], place).outside
        assert torch.equal(bias, whole[..., part, :])


def test_packed_documents_start_again():
    place = torch.tensor([[0, 1, 2, 0, 1], [0, 1, 0, 1, 2]])
    bias = Alibi(4, symmetric=True).into_scores(torch.zeros(2, 4, 5, 8), place, place).outside
    assert torch.equal(bias[0, :, 3:, 3:], bias[1, :, :2, :2])
    assert torch.equal(bias[0, :, :3, :3], bias[1, :, 2:, 2:])


def test_the_type_is_float32_at_least():
    place = torch.arange(LAST - 2, LAST + 1)
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
        q = torch.zeros(1, 8, 3, 4, dtype=dtype)
        bias = Alibi(8).to(dtype).into_scores(q, place, place).outside
        assert bias.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert bias[0, 2, 0] == -1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        q = torch.zeros(1, 8, 3, 4)
        assert Alibi(8).into_scores(q, place, place).outside.dtype == torch.float32


def test_nothing_is_stored_and_copies_are_the_same():
    encode, q, place = Alibi(3, symmetric=True), torch.zeros(1, 3, 5, 4), torch.arange(5)
    before = set(vars(encode))
    bias = encode.into_scores(q, place, place).outside
    assert set(vars(encode)) == before and not encode.state_dict()
    for again in (copy.deepcopy(encode), pickle.loads(pickle.dumps(encode))):
        assert torch.equal(again.into_scores(q, place, place).outside, bias)
        assert repr(again) == "Alibi(heads=3, symmetric=True)"
    with torch.device("meta"):
        built = Alibi(3, symmetric=True)
    assert torch.equal(built.to_empty(device="cpu").into_scores(q, place, place).outside, bias)
    on_meta = encode.into_scores(q.to("meta"), place.to("meta"), place.to("meta")).outside
    assert on_meta.device.type == "meta" and on_meta.shape == bias.shape
    assert isinstance(encode, PositionEncoding)


def test_vmap_over_samples_and_positions():
    encode, q = Alibi(3), randoms(2, 3, 5, 4)
    place = torch.stack([torch.arange(5), torch.tensor([4, 0, 0, 1, 2])])
    rows = vmap(lambda q, p: encode.into_scores(q, p, p).outside)(q, place)
    assert torch.equal(rows, encode.into_scores(q, place, place).outside)
    one = vmap(lambda q: encode.into_scores(q, place[0], place[0]).outside)(q)
    assert torch.equal(one[1], encode.into_scores(q, place[0], place[0]).outside)


@pytest.mark.usefixtures("unchecked_shapes")
def test_compiles_into_one_graph_and_exports():
    encode = Alibi(3, symmetric=True)
    compiled = torch.compile(encode.into_scores, fullgraph=True, dynamic=True, backend="eager")
    for length in (5, 9, 12):
        q, place = torch.zeros(2, 3, length, 4), torch.arange(length) + 3
        bias = encode.into_scores(q, place, place).outside
        assert torch.equal(compiled(q, place, place).outside, bias)

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


# The fast attention


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("n_queries", "n_keys"), [(1, 1), (1, 9), (5, 5), (3, 8), (300, 300), (257, 600), (512, 512)]
)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_the_fast_attention_equals_the_formula(n_queries, n_keys, batch, causal):
    q = randoms(*batch, 3, n_queries, 8, seed=1)
    k, v = randoms(*batch, 3, n_keys, 8, seed=2), randoms(*batch, 3, n_keys, 6, seed=3)
    slopes = alibi_slopes(3)
    out = alibi_attention(q, k, v, slopes, causal)
    exact = slow_attention(q, k, v, slopes, causal)
    assert out.shape == (*batch, 3, n_queries, 6)
    assert (out - exact).abs().max() <= 5e-6


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_fast_attention_in_half_precision(dtype, causal):
    q, k, v = (randoms(1, 4, 400, 16, seed=seed).to(dtype) for seed in (1, 2, 3))
    slopes = alibi_slopes(4)
    out = alibi_attention(q, k, v, slopes, causal)
    assert out.dtype == dtype
    exact = slow_attention(q, k, v, slopes, causal)
    # The bias stays in float32; weights and result are rounded to the type.
    assert (out.double() - exact).abs().max() <= 2 * torch.finfo(dtype).eps * v.abs().max()


def test_the_fast_attention_has_the_right_gradients():
    slopes = alibi_slopes(2, torch.float64)
    q, k, v = (randoms(1, 2, n, 4, seed=n, dtype=torch.float64).requires_grad_() for n in (3, 5, 5))
    for causal in (True, False):
        torch.autograd.gradcheck(
            lambda q, k, v, c=causal: alibi_attention(q, k, v, slopes, c), (q, k, v)
        )
    learned = slopes.clone().requires_grad_()
    torch.autograd.gradcheck(lambda s: alibi_attention(q, k, v, s), learned)


def test_blocks_of_queries_have_the_gradients_of_the_formula():
    slopes = alibi_slopes(2, torch.float64)
    inputs = [randoms(1, 2, 520, 4, seed=n, dtype=torch.float64).requires_grad_() for n in range(3)]
    grad = randoms(1, 2, 520, 4, seed=3, dtype=torch.float64)
    fast = torch.autograd.grad(alibi_attention(*inputs, slopes), inputs, grad)
    slow = torch.autograd.grad(slow_attention(*inputs, slopes, True), inputs, grad)
    for one, other in zip(fast, slow, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@given(split=st.integers(1, 8))
def test_the_fast_attention_in_chunks_equals_the_whole(split):
    q, k, v = (randoms(1, 3, 9, 4, seed=seed, dtype=torch.float64) for seed in (1, 2, 3))
    slopes = alibi_slopes(3, torch.float64)
    whole = alibi_attention(q, k, v, slopes)
    first = alibi_attention(*(x[..., :split, :] for x in (q, k, v)), slopes)
    rest = alibi_attention(q[..., split:, :], k, v, slopes)
    # Weights of a row sum to 1, over at most 9 keys: some 20 roundings of a number below 4.
    torch.testing.assert_close(torch.cat([first, rest], -2), whole, rtol=0, atol=80 * 2.0**-53)


@pytest.mark.usefixtures("unchecked_shapes")
def test_the_fast_attention_compiles_and_vmaps():
    slopes = alibi_slopes(3)
    compiled = torch.compile(alibi_attention, fullgraph=True, dynamic=True, backend="eager")
    for length in (5, 300):
        q, k, v = (randoms(2, 3, length, 8, seed=seed) for seed in (1, 2, 3))
        out = alibi_attention(q, k, v, slopes)
        torch.testing.assert_close(compiled(q, k, v, slopes), out, rtol=0, atol=5e-6)
        rows = vmap(lambda q, k, v: alibi_attention(q, k, v, slopes))(q, k, v)
        torch.testing.assert_close(rows, out, rtol=0, atol=5e-6)


# One value for each offset, spread over the matrix


@pytest.mark.parametrize(
    ("n_queries", "n_keys"), [(1, 1), (1, 7), (7, 1), (5, 5), (64, 3), (130, 70)]
)
def test_spreading_equals_indexing_in_values_and_gradients(n_queries, n_keys):
    values = randoms(2, n_queries + n_keys - 1, dtype=torch.float64).requires_grad_()
    fast, slow = spread_diagonals(values, n_queries), spread_diagonals_by_index(values, n_queries)
    assert torch.equal(fast, slow)
    grad = randoms(2, n_queries, n_keys, seed=1, dtype=torch.float64)
    (one,) = torch.autograd.grad(fast, values, grad)
    (other,) = torch.autograd.grad(slow, values, grad)
    torch.testing.assert_close(one, other, rtol=0, atol=n_queries * 8 * 2.0**-53)


def test_spreading_has_gradients_of_gradients_and_vmaps():
    values = randoms(2, 70, dtype=torch.float64).requires_grad_()
    torch.autograd.gradcheck(lambda v: spread_diagonals(v, 67), values)
    torch.autograd.gradgradcheck(lambda v: spread_diagonals(v, 67), values)
    rows = vmap(lambda v: spread_diagonals(v, 67), in_dims=1, out_dims=1)(values[:, None])
    assert torch.equal(rows[:, 0], spread_diagonals(values, 67))
    total = torch.func.grad(lambda v: (spread_diagonals(v, 67) ** 2).sum())
    each = torch.func.vmap(total)(values.detach())
    assert torch.equal(each[1], total(values.detach()[1]))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_positions_of_a_narrow_integer_type_do_not_overflow(dtype):
    encode, q = Alibi(2, symmetric=True), torch.zeros(1, 2, 3, 4)
    for query, key in (([100, 7, 120], [120, 0, 3]), ([100, 101, 102], [1, 2, 3])):
        right = encode.into_scores(q, torch.tensor(query), torch.tensor(key)).outside
        places = torch.tensor(query, dtype=dtype), torch.tensor(key, dtype=dtype)
        assert torch.equal(encode.into_scores(q, *places).outside, right)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("slope_dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_fast_attention_takes_slopes_of_any_type(dtype, slope_dtype):
    q, k, v = (randoms(1, 2, 5, 4, seed=seed).to(dtype) for seed in range(3))
    out = alibi_attention(q, k, v, alibi_slopes(2, slope_dtype))
    expected = alibi_attention(q.double(), k.double(), v.double(), alibi_slopes(2, torch.float64))
    assert out.dtype == dtype
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=2 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("n_keys", [0, 3])
def test_the_fast_attention_of_no_queries_is_empty(n_keys):
    q, k, v = torch.zeros(1, 2, 0, 4), torch.zeros(1, 2, n_keys, 4), torch.zeros(1, 2, n_keys, 6)
    for causal in (True, False):
        assert alibi_attention(q, k, v, alibi_slopes(2), causal).shape == (1, 2, 0, 6)


def test_a_device_without_float64_gets_finished_slopes():
    class NoFloat64(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            assert not (made.is_meta and made.dtype == torch.float64)
            return made

    with NoFloat64():
        assert alibi_slopes(12, device="meta").is_meta
        with torch.device("meta"):
            assert alibi_slopes(12).is_meta
    assert alibi_slopes(12).device.type == "cpu"


def test_spreading_has_forward_derivatives():
    values, tangent = (randoms(2, 6, seed=seed, dtype=torch.float64) for seed in range(2))
    _, moved = torch.func.jvp(lambda x: spread_diagonals(x, 3), (values,), (tangent,))
    torch.testing.assert_close(moved, spread_diagonals(tangent, 3))
    asking = values.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: spread_diagonals(x, 3), (asking,), check_forward_ad=True
    )

    def gradient(x):  # its derivative is that of the sum along the diagonals
        return torch.func.grad(lambda y: spread_diagonals(y, 3).pow(3).sum())(x)

    _, ahead = torch.func.jvp(gradient, (values.detach(),), (tangent,))
    counts = torch.tensor([1.0, 2.0, 3.0, 3.0, 2.0, 1.0], dtype=torch.float64)
    torch.testing.assert_close(ahead, 6 * counts * values.detach() * tangent)


# Bad input

PLACE = torch.arange(3)
Q = torch.zeros(1, 2, 3, 4)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: alibi_slopes(0), ValueError, "heads must be at least 1, got 0"),
        (lambda: Alibi(-2), ValueError, "heads must be at least 1, got -2"),
        (lambda: alibi_slopes(2, torch.int64), TypeError, "dtype .* got torch.int64"),
        (
            lambda: alibi_bias(PLACE.float(), PLACE, torch.ones(2)),
            TypeError,
            "query_positions must be integers, got torch.float32",
        ),
        (
            lambda: alibi_bias(PLACE, PLACE > 1, torch.ones(2)),
            TypeError,
            "key_positions must be integers, got torch.bool",
        ),
        (lambda: alibi_bias(PLACE, PLACE, PLACE), TypeError, "slopes must be floating-point"),
        (
            lambda: alibi_bias(PLACE, PLACE, torch.ones(2, 1)),
            ValueError,
            r"slopes must be \[H\], got \[2, 1\]",
        ),
        (
            lambda: alibi_bias(PLACE, PLACE, torch.ones(2), torch.ones(3)),
            ValueError,
            r"right_slopes must be \[2\], got \[3\]",
        ),
        (
            lambda: Alibi(3).into_scores(Q, PLACE, PLACE),
            ValueError,
            r"q must be \[..., 3, S, d\], got \[1, 2, 3, 4\]",
        ),
        (
            lambda: Alibi(2).into_scores(Q, PLACE[:2], PLACE),
            ValueError,
            r"query_positions must be \[3\] or \[1, 3\]",
        ),
        (
            lambda: Alibi(2).into_scores(Q, PLACE, PLACE.float()),
            TypeError,
            "key_positions must be integers, got torch.float32",
        ),
        (
            lambda: Alibi(2).into_scores(Q, PLACE, PLACE.expand(5, 3)),
            ValueError,
            r"key_positions must be \[S_key\] or \[1, S_key\] for q of .*, got \[5, 3\]",
        ),
        (
            lambda: alibi_attention(Q, Q, Q, torch.ones(3)),
            ValueError,
            r"q must be \[..., 3, 3, d\], got \[1, 2, 3, 4\]",
        ),
        (
            lambda: alibi_attention(Q, Q, Q[..., :2, :], torch.ones(2)),
            ValueError,
            r"v must be \[..., 2, 3, d\], got \[1, 2, 2, 4\]",
        ),
        (
            lambda: alibi_attention(Q, Q[..., :2, :], Q[..., :2, :], torch.ones(2)),
            ValueError,
            r"q must not be longer than k \(2 keys\), got 3 queries",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
