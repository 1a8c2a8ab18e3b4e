"""The sinusoidal encoding: exact everywhere, its properties, and at home in PyTorch."""

from __future__ import annotations

import copy
import math
import pickle
import shutil
import sysconfig
from pathlib import Path

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import tokpos
from tokpos.sinusoidal import (
    SinusoidalEncoding,
    frequencies,
    sinusoidal,
    sinusoidal_table,
    wavelengths,
)

LAST = 131_071
FLOAT32 = 6e-8  # what library and lesson promise; rounding to float32 alone costs up to 3e-8

even_widths = st.integers(1, 96).map(lambda pairs: 2 * pairs)
bases = st.floats(2.0, 1e6)
places = st.integers(-LAST, LAST)


def true_row(position, width, base):
    """The formula with 60 digits."""
    with mpmath.workdps(60):
        angles = [
            mpmath.mpf(position) / mpmath.mpf(base) ** (mpmath.mpf(2 * i) / width)
            for i in range(width // 2)
        ]
        pairs = [(float(mpmath.sin(angle)), float(mpmath.cos(angle))) for angle in angles]
    return torch.tensor(pairs, dtype=torch.float64).flatten()


def rounding(positions, width, base):
    """Bound of the error of a float64 angle: a few roundings of 2**-53, relative to the angle.

    The exponent is at most ln(base), so its own rounding counts ln(base) times in the power.
    """
    largest = torch.as_tensor(positions).abs().max().item()
    return (4 + 2 * math.log(base)) * 2.0**-53 * max(1, largest)


# Exact


@given(places, even_widths, bases)
def test_float32_is_within_6e_8_of_60_digits(position, width, base):
    row = sinusoidal(torch.tensor(position), width, base)
    assert row.dtype == torch.float32
    assert (row.double() - true_row(position, width, base)).abs().max() <= FLOAT32


@pytest.mark.parametrize("position", [0, 1, 333, 8191, 99_999, LAST, 2**24 + 1])
def test_float64_is_exact_to_the_rounding_of_its_angle(position):
    row = sinusoidal(torch.tensor(position), 512, dtype=torch.float64)
    error = (row - true_row(position, 512, 10000.0)).abs().max()
    assert error <= rounding(position, 512, 10000.0)


@pytest.mark.parametrize(
    ("width", "base"), [(2, 10000.0), (64, 10000.0), (384, 10000.0), (128, 500_000.0), (6, 2.0)]
)
def test_every_position_of_the_whole_range_agrees_with_float64(width, base):
    for first in range(0, LAST + 1, 16384):
        positions = torch.arange(first, first + 16384)
        angles = positions.double()[:, None] / base ** (torch.arange(0, width, 2).double() / width)
        rows = sinusoidal(positions, width, base)
        assert (rows[:, 0::2].double() - angles.sin()).abs().max() <= FLOAT32
        assert (rows[:, 1::2].double() - angles.cos()).abs().max() <= FLOAT32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_the_exact_value_rounded_once(dtype):
    positions = torch.tensor([0, 7, 2049, LAST])
    exact = sinusoidal(positions, 64, dtype=torch.float64)
    rows = sinusoidal(positions, 64, dtype=dtype)
    assert (rows.double() - exact).abs().max() <= torch.finfo(dtype).eps / 4


# The fast table and the readable formula


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 24, 25, 26, 1000, 8192])
@pytest.mark.parametrize("width", [2, 4, 50])
def test_the_fast_table_equals_the_formula(length, width):
    table = sinusoidal_table(length, width)
    formula = sinusoidal(torch.arange(length), width)
    # In float64 they differ by roundings of the angle; so few float32 values round otherwise.
    torch.testing.assert_close(table, formula, rtol=0, atol=FLOAT32)
    in_float64 = sinusoidal_table(length, width, dtype=torch.float64)
    exact = sinusoidal(torch.arange(length), width, dtype=torch.float64)
    assert table.shape == (length, width)
    torch.testing.assert_close(in_float64, exact, rtol=0, atol=4 * rounding(8192, width, 10000.0))


def test_the_fast_table_is_exact_to_its_end():
    table = sinusoidal_table(LAST + 1, 64)
    exact = sinusoidal(torch.arange(LAST + 1), 64, dtype=torch.float64)
    assert (table - exact).abs().max() <= FLOAT32


# The formula


def test_B03_values_of_the_formula():
    rows = sinusoidal(torch.tensor([0, 1]), 4)
    assert rows[0].tolist() == [0, 1, 0, 1]
    expected = torch.tensor([0.841471, 0.540302, 0.010000, 0.999950])
    torch.testing.assert_close(rows[1], expected, rtol=0, atol=5e-7)


def test_B03_both_columns_of_a_pair_have_its_exponent():
    tiny = 1e-3
    row = sinusoidal(torch.tensor(tiny, dtype=torch.float64), 6, 10000.0, torch.float64)
    angles = torch.stack([row[0::2].asin(), row[1::2].acos()], dim=-1).flatten()
    # acos near 1 loses half of the digits: an angle of 2e-6 is known to 1e-16 / 2e-6.
    exponents = -torch.log(angles / tiny) / math.log(10000)
    expected = torch.tensor([0, 0, 2, 2, 4, 4]) / 6
    torch.testing.assert_close(exponents, expected.double(), rtol=0, atol=1e-4)


def test_B03_rows_have_length_sqrt_half_the_width():
    rows = sinusoidal(torch.arange(50), 8, dtype=torch.float64)
    torch.testing.assert_close(rows.norm(dim=-1), torch.full((50,), 2.0).double())


def test_wavelengths_run_from_two_pi_by_a_constant_factor():
    waves = wavelengths(64)
    assert waves.dtype == torch.float64 and waves.shape == (32,)
    assert math.isclose(waves[0], 2 * math.pi)
    assert math.isclose(waves[-1], 2 * math.pi * 10000 ** (62 / 64))
    assert round(waves[-1].item() / (2 * math.pi)) == 7499
    assert math.isclose(wavelengths(4)[-1], 200 * math.pi)
    torch.testing.assert_close(waves * frequencies(64), torch.full((32,), 2 * math.pi).double())


@pytest.mark.parametrize("shape", [[], [0], [3], [2, 3], [2, 1, 3]])
@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64, torch.float32])
def test_positions_of_any_shape(shape, dtype):
    positions = torch.randint(100, shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    rows = sinusoidal(positions, 6)
    assert rows.shape == (*shape, 6)
    assert torch.equal(rows.reshape(-1, 6), sinusoidal(positions.long().reshape(-1), 6))


# Properties


@given(places, even_widths, bases)
def test_every_pair_has_norm_1(position, width, base):
    pairs = sinusoidal(torch.tensor(position), width, base, torch.float64).unflatten(-1, (-1, 2))
    # Two squares and a sum: each rounded by 2**-53 of at most 1, sine and cosine by 2**-53 each.
    assert (pairs.square().sum(-1) - 1).abs().max() <= 6 * 2.0**-53
    in_float32 = sinusoidal(torch.tensor(position), width, base).double().unflatten(-1, (-1, 2))
    # Now sine and cosine by 2**-25 each: 2 (|sin| + |cos|) 2**-25, at most 2 sqrt(2) 2**-25.
    assert (in_float32.square().sum(-1) - 1).abs().max() <= 2.9 * 2.0**-25


@given(places, places, st.integers(-1000, 1000), even_widths, bases)
def test_the_dot_product_depends_on_the_difference_only(p, q, shift, width, base):
    rows = sinusoidal(torch.tensor([p, q, p + shift, q + shift]), width, base, torch.float64)
    here, there = rows[0] @ rows[1], rows[2] @ rows[3]
    # Each of width/2 cosines has an angle made of two: 4 angles off by `rounding`.
    tolerance = width / 2 * 4 * rounding(LAST + 1000, width, base)
    assert (here - there).abs() <= tolerance
    assert torch.equal(here, rows[1] @ rows[0])  # even: no direction


@given(places, st.integers(-1000, 1000), even_widths, bases)
def test_a_step_turns_every_pair_by_a_fixed_angle(position, step, width, base):
    before, after = sinusoidal(
        torch.tensor([position, position + step]), width, base, torch.float64
    ).unflatten(-1, (-1, 2))
    angle = step * frequencies(width, base)
    sine, cosine = before.unbind(-1)
    turned = torch.stack(
        [sine * angle.cos() + cosine * angle.sin(), cosine * angle.cos() - sine * angle.sin()], -1
    )
    assert (turned - after).abs().max() <= 4 * rounding(LAST + 1000, width, base)


def test_no_two_of_100_000_positions_are_alike():
    offsets = torch.arange(1, 100_000)
    cosines = torch.cos(offsets[:, None] * frequencies(64))
    assert (64 - 2 * cosines.sum(-1)).sqrt().min() > 1.47


# The module


def test_the_module_adds_the_encoding_to_every_sample():
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
    encode = SinusoidalEncoding(8)
    expected = x + sinusoidal(torch.arange(5), 8)
    torch.testing.assert_close(encode(x), expected, rtol=0, atol=2e-7)
    assert torch.equal(encode.into_input(x), encode(x))
    assert torch.equal(encode(x[0]), encode(x)[0])


def test_B02_zeros_show_the_axis():
    out = SinusoidalEncoding(4)(torch.zeros(2, 3, 4))
    assert torch.equal(out[0], out[1])
    assert torch.equal(out[0], sinusoidal(torch.arange(3), 4))


def test_explicit_positions_serve_shifts_padding_and_decoding():
    encode = SinusoidalEncoding(8)
    x = torch.zeros(2, 4, 8)
    whole = encode(x)
    assert torch.equal(encode(x, torch.arange(4)), whole)
    assert torch.equal(encode(x[:, 3:], torch.tensor([3])), whole[:, 3:])
    padded = encode(x, torch.tensor([[0, 0, 0, 1], [0, 1, 2, 3]]))
    assert torch.equal(padded[0, 2:], whole[0, :2]) and torch.equal(padded[1], whole[1])
    assert torch.equal(encode(x, torch.arange(4)[None]), whole)


def test_B05_there_is_no_end():
    encode = SinusoidalEncoding(4)
    far = torch.arange(1_000_000, 1_000_003)
    assert torch.equal(encode(torch.zeros(1, 3, 4), far)[0], sinusoidal(far, 4))
    assert encode(torch.zeros(1, 20_000, 4)).shape == (1, 20_000, 4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_the_modules_dtype_does_not_change_its_angles(dtype):
    positions = torch.arange(LAST - 3, LAST + 1)
    x = torch.zeros(1, 4, 64)
    encode = SinusoidalEncoding(64)
    assert torch.equal(copy.deepcopy(encode).to(dtype)(x, positions), encode(x, positions))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_the_sum_has_the_type_of_x_and_is_rounded_once(dtype):
    x = torch.randn(3, 64, generator=torch.Generator().manual_seed(0)).to(dtype)
    positions = torch.arange(LAST - 2, LAST + 1)
    out = SinusoidalEncoding(64)(x, positions)
    exact = x.double() + sinusoidal(positions, 64, dtype=torch.float64)
    assert out.dtype == dtype
    # Half a step of the type at the sum, and the rounding of the encoding to float32.
    step = torch.finfo(dtype).eps * exact.abs().clamp(min=1)
    assert ((out.double() - exact).abs() <= step / 2 * 1.01 + (dtype != torch.float64) * 6e-8).all()


def test_gradients_pass_through():
    x = torch.randn(2, 3, 4, requires_grad=True)
    SinusoidalEncoding(4)(x).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))


def test_autocast_leaves_it_alone():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = SinusoidalEncoding(64)(torch.zeros(1, 4, 64), torch.arange(LAST - 3, LAST + 1))
    assert torch.equal(out[0], sinusoidal(torch.arange(LAST - 3, LAST + 1), 64))


def test_nothing_is_stored():
    encode = SinusoidalEncoding(64)
    before = set(vars(encode))
    encode(torch.zeros(1, 5000, 64))
    assert set(vars(encode)) == before
    assert not list(encode.parameters()) and not list(encode.buffers())
    assert not encode.state_dict()
    encode.load_state_dict({}, strict=True)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_pickles_give_the_same(copied):
    encode = SinusoidalEncoding(8, base=500.0)
    again = copied(encode)
    assert torch.equal(again(torch.zeros(1, 9, 8)), encode(torch.zeros(1, 9, 8)))
    assert repr(again) == repr(encode) == "SinusoidalEncoding(width=8, base=500)"


def test_meta_device_and_to_empty():
    encode = SinusoidalEncoding(8)
    out = encode(torch.zeros(2, 5, 8, device="meta"))
    assert out.device.type == "meta" and out.shape == (2, 5, 8)
    with torch.device("meta"):
        built = SinusoidalEncoding(8)
    filled = built.to_empty(device="cpu")
    assert torch.equal(filled(torch.zeros(1, 5, 8)), encode(torch.zeros(1, 5, 8)))


def test_vmap_over_samples_and_over_positions():
    encode = SinusoidalEncoding(8)
    x = torch.randn(3, 5, 8)
    positions = torch.randint(1000, (3, 5))
    assert torch.equal(torch.func.vmap(encode)(x), encode(x))
    assert torch.equal(torch.func.vmap(encode)(x, positions), encode(x, positions))
    rows = torch.func.vmap(lambda p: sinusoidal(p, 8))(positions)
    assert torch.equal(rows, sinusoidal(positions, 8))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("dynamic", [False, True])
def test_compiles_into_one_graph(dynamic):
    encode = SinusoidalEncoding(8)
    compiled = torch.compile(encode, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for length in (5, 9):
        x = torch.randn(2, length, 8)
        positions = torch.arange(LAST - length + 1, LAST + 1)
        torch.testing.assert_close(compiled(x), encode(x), rtol=0, atol=2e-7)
        torch.testing.assert_close(compiled(x, positions), encode(x, positions), rtol=0, atol=2e-7)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.skipif(
    not (shutil.which("g++") and Path(sysconfig.get_path("include"), "Python.h").exists()),
    reason="Inductor needs a C++ compiler and Python's headers",
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_code_keeps_its_float64_angles():
    positions = torch.arange(LAST - 7, LAST + 1)
    compiled = torch.compile(SinusoidalEncoding(64), fullgraph=True)
    exact = sinusoidal(positions, 64, dtype=torch.float64)
    assert (compiled(torch.zeros(8, 64), positions) - exact).abs().max() <= FLOAT32


@pytest.mark.usefixtures("unchecked_shapes")
def test_exports_with_a_free_length():
    encode = SinusoidalEncoding(8)
    length = torch.export.Dim("length")
    program = torch.export.export(encode, (torch.zeros(2, 5, 8),), dynamic_shapes=({1: length},))
    x = torch.randn(2, 12, 8)
    torch.testing.assert_close(program.module()(x), encode(x), rtol=0, atol=2e-7)


def test_the_public_names():
    assert tokpos.SinusoidalEncoding is SinusoidalEncoding
    assert tokpos.sinusoidal_table is sinusoidal_table
    assert tokpos.frequencies is frequencies and tokpos.wavelengths is wavelengths
    assert tokpos.sinusoidal.sinusoidal is sinusoidal
    assert isinstance(SinusoidalEncoding(4), tokpos.PositionEncoding)


# Bad input

PLACES = torch.arange(3)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    "call",
    [
        SinusoidalEncoding,
        frequencies,
        wavelengths,
        lambda width: sinusoidal(PLACES, width),
        lambda width: sinusoidal_table(3, width),
    ],
)
@pytest.mark.parametrize("width", [5, 1, 0, -2, 4.5])
def test_B01_an_odd_width_is_refused_by_name(call, width):
    with pytest.raises(ValueError, match=f"width must be even and at least 2 .* got {width}$"):
        call(width)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: SinusoidalEncoding(4, base=1.0), ValueError, "base must be .* above 1, got 1.0"),
        (lambda: SinusoidalEncoding(4, base=-9.0), ValueError, "base must be .* got -9.0"),
        (lambda: frequencies(4, math.inf), ValueError, "base must be .* got inf"),
        (lambda: frequencies(4, math.nan), ValueError, "base must be .* got nan"),
        (lambda: sinusoidal_table(-1, 4), ValueError, "length must not be negative, got -1"),
        (
            lambda: sinusoidal(PLACES.bfloat16(), 4),
            TypeError,
            "positions must be integers, float32 or float64, got torch.bfloat16",
        ),
        (lambda: sinusoidal(PLACES > 1, 4), TypeError, "positions .* got torch.bool"),
        (lambda: sinusoidal(PLACES, 4, dtype=torch.int64), TypeError, "dtype .* got torch.int64"),
        (lambda: sinusoidal_table(3, 4, dtype=torch.bool), TypeError, "dtype .* got torch.bool"),
        (
            lambda: SinusoidalEncoding(4)(PLACES[None]),
            TypeError,
            "x must be floating-point, got torch.int64",
        ),
        (
            lambda: SinusoidalEncoding(4)(torch.zeros(2, 3, 8)),
            ValueError,
            r"x must be \[..., S, 4\], got \[2, 3, 8\]",
        ),
        (
            lambda: SinusoidalEncoding(4)(torch.zeros(4)),
            ValueError,
            r"x must be \[..., S, 4\], got \[4\]",
        ),
        (
            lambda: SinusoidalEncoding(4)(torch.zeros(1, 3, 4), torch.zeros(3)),
            TypeError,
            "positions must be integers, got torch.float32",
        ),
        (
            lambda: SinusoidalEncoding(4)(torch.zeros(1, 6, 4), torch.arange(5)),
            ValueError,
            "positions holds 5 positions and x has 6 tokens",
        ),
        (
            lambda: SinusoidalEncoding(4)(torch.zeros(1, 3, 4), torch.zeros(1).long()),
            ValueError,
            "positions holds 1 positions and x has 3 tokens",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
