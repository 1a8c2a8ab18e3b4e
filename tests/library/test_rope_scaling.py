"""The rules for longer inputs: by their formulas, against transformers, and strict in settings."""

from __future__ import annotations

import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tokpos.rope import RotaryEncoding
from tokpos.rope_scaling import LENGTH_RULES, scaled_frequencies
from tokpos.sinusoidal import frequencies

YARN = {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 2048}
DYNAMIC = {"rope_type": "dynamic", "factor": 2, "original_max_position_embeddings": 16}
LLAMA = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONG = {
    "rope_type": "longrope",
    "short_factor": [1 + i / 100 for i in range(32)],
    "long_factor": [1 + i / 2 for i in range(32)],
    "original_max_position_embeddings": 4096,
    "factor": 32.0,
}


def theirs(scaling, width=64, base=10000.0, trained=2048, length=None):
    """What transformers makes of the same settings, in float32."""
    parameters = {**scaling, "rope_theta": base}
    if parameters["rope_type"] == "dynamic":
        trained = parameters.pop("original_max_position_embeddings")
    config = LlamaConfig(
        hidden_size=2 * width,
        num_attention_heads=2,
        head_dim=width,
        max_position_embeddings=trained,
        rope_parameters=parameters,
    )
    return ROPE_INIT_FUNCTIONS[scaling["rope_type"]](config, "cpu", seq_len=length)


def near(numbers, right, rtol=1e-12, atol=0.0):
    right = torch.tensor([float(x) for x in right], dtype=torch.float64)
    torch.testing.assert_close(numbers, right, rtol=rtol, atol=atol)


# Against transformers

CHOICES = [
    ({"rope_type": "linear", "factor": 4.0}, 64, 10000.0, None),
    *[(DYNAMIC, 64, 10000.0, length) for length in (None, 3, 15, 16, 17, 64, 100_000)],
    *[
        ({**YARN, **extra}, width, 10000.0, None)
        for width in (16, 64, 128)
        for extra in (
            {},
            {"truncate": False},
            {"attention_factor": 1.0},
            {"mscale": 1.0, "mscale_all_dim": 1.0},
            {"mscale": 0.707, "mscale_all_dim": 1.3},
            {"beta_fast": 16, "beta_slow": 2},
            {"original_max_position_embeddings": 16, "factor": 40},
        )
    ],
    (LLAMA, 128, 500_000.0, None),
    *[(LONG, 64, 10000.0, length) for length in (None, 4095, 4096, 4097)],
    ({**LONG, "attention_factor": 1.25}, 64, 10000.0, 5000),
    ({"rope_type": "proportional", "partial_rotary_factor": 0.25}, 64, 10000.0, None),
    ({"rope_type": "proportional", "partial_rotary_factor": 0.3}, 10, 1e6, None),
]


@pytest.mark.parametrize(("scaling", "width", "base", "length"), CHOICES)
def test_transformers_has_the_same(scaling, width, base, length):
    ours = scaled_frequencies(width, base, scaling, length)
    numbers, factor = theirs(scaling, width, base, length=length)
    # Theirs are float32 throughout: a power of 5e5 in it is good to ln(5e5) roundings or so.
    torch.testing.assert_close(ours.frequencies.float(), numbers, rtol=1e-6, atol=0)
    assert math.isclose(ours.attention_factor, factor, rel_tol=1e-12)
    assert ours.frequencies.dtype == torch.float64


# The formulas, in mpmath


def theta(width, base=10000.0):
    return [mpmath.mpf(base) ** (-mpmath.mpf(2 * i) / width) for i in range(width // 2)]


@settings(max_examples=30)
@given(factor=st.floats(1, 64), pairs=st.integers(2, 40), base=st.floats(10, 1e6))
def test_linear_and_ntk(factor, pairs, base):
    linear = scaled_frequencies(2 * pairs, base, {"rope_type": "linear", "factor": factor})
    near(linear.frequencies, [t / factor for t in theta(2 * pairs, base)])
    ntk = scaled_frequencies(2 * pairs, base, {"rope_type": "ntk", "factor": factor})
    stretched = base * mpmath.mpf(factor) ** (mpmath.mpf(pairs) / (pairs - 1))
    near(ntk.frequencies, theta(2 * pairs, stretched))
    assert ntk.frequencies[0] == 1  # the fastest pair is kept, the slowest as by linear
    torch.testing.assert_close(ntk.frequencies[-1], linear.frequencies[-1], rtol=1e-12, atol=0)
    assert linear.attention_factor == ntk.attention_factor == 1


def test_llama3_keeps_the_fast_pairs_and_slows_the_others():
    def one(t):
        turns = 8192 * t / (2 * mpmath.pi)
        kept = min(max((turns - 1) / 3, 0), 1)
        return kept * t + (1 - kept) * t / 8

    near(scaled_frequencies(128, 5e5, LLAMA).frequencies, map(one, theta(128, 5e5)))


def test_longrope_divides_pair_by_pair():
    for length, name in ((None, "short"), (4096, "short"), (4097, "long")):
        ours = scaled_frequencies(64, scaling=LONG, length=length)
        divisors = LONG[f"{name}_factor"]
        near(ours.frequencies, [t / f for t, f in zip(theta(64), divisors, strict=True)])
        assert math.isclose(ours.attention_factor, math.sqrt(1 + math.log(32) / math.log(4096)))


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.25, 2.0])
def test_longrope_scales_the_attention_of_longer_texts_alone(factor):
    ours = scaled_frequencies(64, scaling=LONG | {"factor": factor}).attention_factor
    right = math.sqrt(1 + math.log(factor) / math.log(4096)) if factor > 1 else 1
    assert math.isclose(ours, right) and math.isclose(ours, theirs(LONG | {"factor": factor})[1])


def test_proportional_stops_the_slow_pairs():
    rule = {"rope_type": "proportional", "partial_rotary_factor": 0.5, "factor": 2}
    ours = scaled_frequencies(16, scaling=rule).frequencies
    near(ours, [t / 2 for t in theta(16)[:4]] + [0] * 4)


def test_no_rule_is_the_plain_frequencies():
    for rule in (None, {"rope_type": "default"}):
        ours = scaled_frequencies(16, 500.0, rule)
        assert torch.equal(ours.frequencies, frequencies(16, 500.0))
        assert ours.attention_factor == 1


@pytest.mark.parametrize("rule", ["linear", "ntk", "dynamic", "yarn", "llama3"])
def test_a_factor_of_one_changes_nothing(rule):
    named = {"dynamic": DYNAMIC, "yarn": YARN, "llama3": LLAMA}.get(rule, {"rope_type": rule})
    ours = scaled_frequencies(16, scaling={**named, "factor": 1})
    torch.testing.assert_close(ours.frequencies, frequencies(16), rtol=1e-15, atol=0)
    assert ours.attention_factor == 1


# Cases


def test_A08_dynamic_is_a_function_of_the_length():
    plain = [1, 0.1, 0.01, 0.001]
    for length in (16, 64, 16, 15, 17, 16):
        ours = scaled_frequencies(8, scaling=DYNAMIC, length=length).frequencies
        if length <= 16:
            near(ours, plain)
        else:
            base = 10000 * (2 * length / 16 - 1) ** (8 / 6)
            near(ours, [base ** (-i / 4) for i in range(4)])
    long = scaled_frequencies(8, scaling=DYNAMIC, length=64).frequencies
    near(long, [1, 0.052276, 0.002733, 0.000143], rtol=0, atol=5e-7)


def test_A10_yarn_has_its_values():
    ours = scaled_frequencies(16, scaling=YARN)
    known = [1, 0.316228, 0.1, 0.0256935, 0.00625, 0.00138350, 2.5e-4, 7.90569e-5]
    near(ours.frequencies, known, rtol=3e-6)
    assert math.isclose(ours.attention_factor, 1.138629, abs_tol=5e-7)
    unrounded = scaled_frequencies(16, scaling={**YARN, "truncate": False}).frequencies
    near(unrounded[3:6], [0.0238702, 0.00505697, 0.00081129], rtol=3e-6)


def test_A10_an_explicit_attention_factor_wins():
    def factor(**extra):
        return scaled_frequencies(16, scaling={**YARN, **extra}).attention_factor

    assert factor(attention_factor=1.0) == 1.0
    assert factor(attention_factor=None) == factor()
    assert factor(mscale=1.0, mscale_all_dim=1.0) == 1.0
    assert factor(mscale=2.0, mscale_all_dim=1.0, attention_factor=0.5) == 0.5
    assert factor(factor=1) == factor(factor=0.5) == 1.0


def test_the_modules_length_chooses_the_rule():
    for rule in (DYNAMIC, {**LONG, "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}):
        assert rule["rope_type"] in LENGTH_RULES
        encode = RotaryEncoding(8, layout="half-split", scaling=rule)
        for length in (None, 5000, 16):
            encode.length = length
            right = scaled_frequencies(8, scaling=rule, length=length)
            assert torch.equal(encode.frequencies(), right.frequencies)
            assert encode.attention_factor == right.attention_factor


# Bad settings


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("scaling", "error", "words"),
    [
        ({}, ValueError, "rope_type must be one of default, linear, .*; got None"),
        ({"rope_type": "su"}, ValueError, "rope_type must be one of .*; got 'su'"),
        (
            {"rope_type": "linear", "factr": 2.0},
            ValueError,
            "unknown settings factr for rope_type 'linear', which takes factor",
        ),
        (
            {"rope_type": "default", "factor": 2.0},
            ValueError,
            "unknown settings factor for rope_type 'default', which takes no setting",
        ),
        (
            {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4},
            ValueError,
            "unknown settings rope_theta .*: it is the argument base",
        ),
        (
            {"rope_type": "linear"},
            ValueError,
            "rope_type 'linear' needs the settings factor",
        ),
        (
            {"rope_type": "dynamic", "factor": 2.0},
            ValueError,
            "'dynamic' needs the settings original_max_position_embeddings",
        ),
        ({"rope_type": "linear", "factor": "2"}, TypeError, "factor must be a number, got '2'"),
        ({"rope_type": "linear", "factor": True}, TypeError, "factor must be a number, got True"),
        ({"rope_type": "linear", "factor": None}, TypeError, "factor must be a number, got None"),
        (
            {"rope_type": "linear", "factor": 0},
            ValueError,
            "factor must be above 0 and finite, got 0",
        ),
        (
            {"rope_type": "linear", "factor": math.nan},
            ValueError,
            "factor must be above 0 and finite, got nan",
        ),
        ({**YARN, "truncate": 1}, TypeError, "truncate must be True or False, got 1"),
        ({**YARN, "mscale": 1.0}, ValueError, "mscale and mscale_all_dim must be given together"),
        (
            {**YARN, "beta_slow": 40},
            ValueError,
            "beta_slow must be below beta_fast, got 40 and 32",
        ),
        (
            {**LLAMA, "low_freq_factor": 4.0},
            ValueError,
            "low_freq_factor must be below high_freq_factor, got 4.0 and 4.0",
        ),
        (
            {**YARN, "original_max_position_embeddings": 1},
            ValueError,
            "original_max_position_embeddings must be at least 2, got 1",
        ),
        (
            {**LONG, "long_factor": 2.0},
            TypeError,
            "long_factor must be a list of numbers, got 2.0",
        ),
        (
            {**LONG, "short_factor": [1.0] * 3},
            ValueError,
            "short_factor must hold one number for each of 4 pairs, got 3",
        ),
        (
            {**LONG, "short_factor": [1.0] * 4, "long_factor": [1.0] * 5},
            ValueError,
            "long_factor must hold one number for each of 4 pairs, got 5",
        ),
        (
            {name: LONG[name] for name in LONG if name != "factor"},
            ValueError,
            "'longrope' needs factor or attention_factor",
        ),
        (
            {"rope_type": "proportional", "partial_rotary_factor": 1.5},
            ValueError,
            "partial_rotary_factor must be at most 1, got 1.5",
        ),
    ],
)
def test_bad_settings_are_refused_by_name(scaling, error, words):
    with pytest.raises(error, match=words):
        scaled_frequencies(8, scaling=scaling)
    with pytest.raises(error, match=words):
        RotaryEncoding(8, layout="half-split", scaling=scaling)


@pytest.mark.usefixtures("unchecked_shapes")
def test_bad_widths_and_lengths_are_refused():
    with pytest.raises(ValueError, match="width must be even .* got 5"):
        scaled_frequencies(5)
    with pytest.raises(ValueError, match="width must be at least 4 to change the base"):
        scaled_frequencies(2, scaling=DYNAMIC, length=64)
    with pytest.raises(ValueError, match="length must not be negative, got -1"):
        scaled_frequencies(4, length=-1)
