"""The arrangements of the sinusoidal encoding: the same columns elsewhere, or other frequencies."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.speech_to_text.modeling_speech_to_text import (
    Speech2TextSinusoidalPositionalEmbedding,
)

from tokpos.sinusoidal import frequencies, sinusoidal
from tokpos.sinusoidal_arrangements import (
    ConcatenatedEncoding,
    Tensor2TensorEncoding,
    sinusoidal_concatenated,
    tensor2tensor_frequencies,
    tensor2tensor_sinusoidal,
    to_concatenated,
    to_interleaved,
)

LAST = 131_071
FLOAT32 = 6e-8
even_widths = st.integers(1, 64).map(lambda pairs: 2 * pairs)
places = st.integers(-LAST, LAST)


def paper(position, column, width):
    """One entry in the paper's order."""
    angle = position / 10000 ** (2 * (column // 2) / width)
    return math.cos(angle) if column % 2 else math.sin(angle)


def tensor2tensor(length, channels, least=1.0, most=1e4):
    """The signal as tensor2tensor and fairseq write it, in float64."""
    timescales = channels // 2
    step = math.log(most / least) / max(timescales - 1, 1)
    inverse = least * np.exp(np.arange(timescales) * -step)
    scaled = np.arange(length)[:, None] * inverse[None]
    return torch.from_numpy(np.concatenate([np.sin(scaled), np.cos(scaled)], axis=1))


# The same columns in another order


def test_B03_columns_are_the_paper_s_in_two_halves():
    rows = sinusoidal_concatenated(torch.arange(20), 10, dtype=torch.float64)
    order = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
    expected = [[paper(p, column, 10) for column in order] for p in range(20)]
    torch.testing.assert_close(rows, torch.tensor(expected).double(), rtol=0, atol=1e-7)
    assert torch.equal(rows, sinusoidal(torch.arange(20), 10, dtype=torch.float64)[:, order])


@given(even_widths, st.integers(0, 3))
def test_converters_undo_each_other(width, batch):
    x = torch.randn(batch, 2, width)
    assert torch.equal(to_interleaved(to_concatenated(x)), x)
    assert torch.equal(to_concatenated(to_interleaved(x)), x)
    assert to_concatenated(x).shape == x.shape


@given(places, places, even_widths)
def test_the_order_of_columns_changes_no_dot_product_within_an_encoding(p, q, width):
    one, two = (sinusoidal(torch.tensor(each), width, dtype=torch.float64) for each in (p, q))
    other = to_concatenated(one) @ to_concatenated(two)
    # The same D products added in another order: D roundings of a sum of at most D/2.
    torch.testing.assert_close(other, one @ two, rtol=0, atol=width * width * 2.0**-53)


def test_the_two_orders_do_not_understand_each_other():
    rows = sinusoidal(torch.arange(1, 50), 64, dtype=torch.float64)
    assert (rows - to_concatenated(rows)).abs().max(-1).values.min() > 0.5


def test_equals_marian_to_its_float32():
    theirs = MarianSinusoidalPositionalEmbedding(512, 64).create_weight()
    ours = sinusoidal_concatenated(torch.arange(512), 64)
    # Marian computes in float64 and rounds once, as here.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=FLOAT32)


# Other frequencies


@pytest.mark.parametrize("width", [2, 4, 6, 64, 512])
@pytest.mark.parametrize("scales", [(1.0, 1e4), (1.0, 500.0), (2.0, 1e4), (0.1, 30.0)])
def test_equals_the_formula_of_tensor2tensor(width, scales):
    ours = tensor2tensor_sinusoidal(torch.arange(300), width, *scales, dtype=torch.float64)
    # Angles up to 600, their frequencies a few roundings apart (exp of a log, or a power).
    expected = tensor2tensor(300, width, *scales)
    torch.testing.assert_close(ours, expected, rtol=0, atol=600 * 40 * 2.0**-53)


@pytest.mark.parametrize(
    "kind", [M2M100SinusoidalPositionalEmbedding, Speech2TextSinusoidalPositionalEmbedding]
)
def test_equals_fairseq_s_heirs_as_far_as_their_float32_goes(kind):
    theirs = kind.get_embedding(1026, 64, 1)
    ours = tensor2tensor_sinusoidal(torch.arange(1026), 64)
    assert not theirs[1].any() and ours[1].any()  # they put zeros at the padding ID's row
    rest = torch.arange(1026) != 1
    error = (theirs - tensor2tensor_sinusoidal(torch.arange(1026), 64, dtype=torch.float64)).abs()
    assert (ours - theirs)[rest].abs().max() < 3e-4
    assert error[rest].max() > 1e-5  # their angles are float32: 60 times our whole error, or more
    module = kind(1024, 64, 1)
    ids = torch.tensor([[5, 6, 7, 1]])
    # Their first token stands at position padding_idx + 1.
    torch.testing.assert_close(module(ids)[0, :3], ours[2:5], rtol=0, atol=1e-6)


@pytest.mark.parametrize("width", [4, 64, 512])
def test_first_and_last_pair_against_the_paper(width):
    ours, papers = tensor2tensor_frequencies(width), frequencies(width)
    assert ours[0] == papers[0] == 1
    assert ours[-1].item() == pytest.approx(1e-4, rel=1e-12)
    assert papers[-1].item() == pytest.approx(10000 ** -((width - 2) / width), rel=1e-12)
    assert (ours[1:] < papers[1:]).all()
    rows = tensor2tensor_sinusoidal(torch.arange(100), width)
    assert (rows - sinusoidal_concatenated(torch.arange(100), width)).abs().max() > 0.1


@given(places, even_widths)
def test_float32_is_the_float64_value_rounded_once(position, width):
    place = torch.tensor(position)
    exact = tensor2tensor_sinusoidal(place, width, dtype=torch.float64)
    assert (tensor2tensor_sinusoidal(place, width) - exact).abs().max() <= FLOAT32
    for dtype in (torch.bfloat16, torch.float16):
        half = tensor2tensor_sinusoidal(place, width, dtype=dtype)
        # torch goes from float64 to a half type by way of float32: half a step of both.
        assert (half.double() - exact).abs().max() <= torch.finfo(dtype).eps / 4 + 2.0**-25


@settings(max_examples=50)
@given(st.integers(-500, 500), st.integers(-500, 500), st.integers(-500, 500), even_widths)
def test_the_dot_product_depends_on_the_difference_only(p, q, shift, width):
    def product(one, two):
        rows = tensor2tensor_sinusoidal(torch.tensor([one, two]), width, dtype=torch.float64)
        return rows[0] @ rows[1]

    # Angles up to 1000 with a rounding of 2**-53 each, in D products.
    assert abs(product(p, q) - product(p + shift, q + shift)) <= width * 4000 * 2.0**-53


# The modules

MODULES = [
    (ConcatenatedEncoding, sinusoidal_concatenated, "ConcatenatedEncoding(width=8, base=10000)"),
    (
        Tensor2TensorEncoding,
        tensor2tensor_sinusoidal,
        "Tensor2TensorEncoding(width=8, min_timescale=1, max_timescale=10000)",
    ),
]
each_module = pytest.mark.parametrize(("kind", "formula", "name"), MODULES)


@each_module
def test_B02_modules_add_the_encoding_to_every_sample(kind, formula, name):
    encode, x = kind(8), torch.randn(2, 5, 8)
    torch.testing.assert_close(encode(x), x + formula(torch.arange(5), 8), rtol=0, atol=2e-7)
    zeros = encode(torch.zeros(2, 3, 8))
    assert torch.equal(zeros[0], zeros[1])
    far = torch.tensor([[3, 1, 4, 1, 5], [LAST, 0, 0, 1, 2]])
    assert torch.equal(encode(x, far), x + formula(far, 8))
    assert torch.equal(encode.into_input(x, far), encode(x, far))
    assert repr(encode) == name


@each_module
def test_chunks_equal_the_whole_at_every_split(kind, formula, name):
    encode, x, where = kind(8), torch.randn(2, 6, 8), torch.arange(6)
    whole = encode(x, where)
    for split in range(7):
        parts = [encode(x[:, side], where[side]) for side in (slice(split), slice(split, None))]
        assert torch.equal(torch.cat(parts, dim=1), whole)


@each_module
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_the_modules_dtype_does_not_change_its_angles(kind, formula, name, dtype):
    encode, where = kind(8), torch.arange(LAST - 2, LAST + 1)
    zeros = torch.zeros(1, 3, 8)
    assert torch.equal(copy.deepcopy(encode).to(dtype)(zeros, where), encode(zeros, where))
    assert encode(zeros.to(dtype), where).dtype == dtype


@each_module
def test_C07_A12_nothing_is_stored(kind, formula, name):
    with torch.device("meta"):
        encode = kind(8)
    encode = pickle.loads(pickle.dumps(copy.deepcopy(encode.to_empty(device="cpu"))))
    x = torch.zeros(1, 4, 8)
    assert torch.equal(encode(x), kind(8)(x)) and not encode.state_dict()
    assert encode(x.to("meta")).device.type == "meta"


@pytest.mark.usefixtures("unchecked_shapes")
@each_module
def test_A14_compile_export_vmap_and_gradients(kind, formula, name):
    encode = kind(8)
    compiled = torch.compile(encode, fullgraph=True, backend="eager", dynamic=True)
    for length in (4, 9, 17):
        x, where = torch.randn(2, length, 8), torch.arange(length) + 1000
        torch.testing.assert_close(compiled(x), encode(x), rtol=0, atol=2e-7)
        torch.testing.assert_close(compiled(x, where), encode(x, where), rtol=0, atol=2e-7)
    exported = torch.export.export(encode, (x, where)).module()
    torch.testing.assert_close(exported(x, where), encode(x, where), rtol=0, atol=2e-7)
    assert torch.equal(torch.func.vmap(encode)(x, where.expand(2, -1)), encode(x, where))
    x.requires_grad_()
    encode(x).sum().backward()
    assert torch.equal(x.grad, torch.ones_like(x))


# Bad input

PLACES = torch.arange(3)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("width", [5, 1, 0, -2])
@pytest.mark.parametrize(
    "call",
    [
        ConcatenatedEncoding,
        Tensor2TensorEncoding,
        tensor2tensor_frequencies,
        lambda width: sinusoidal_concatenated(PLACES, width),
        lambda width: tensor2tensor_sinusoidal(PLACES, width),
    ],
)
def test_B01_an_odd_width_is_refused_by_name(call, width):
    with pytest.raises(ValueError, match=f"width must be even and at least 2 .* got {width}$"):
        call(width)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: to_concatenated(torch.zeros(2, 5)), ValueError, r"even width.*got shape \[2, 5\]"),
        (lambda: to_interleaved(torch.zeros(())), ValueError, r"got shape \[\]"),
        (lambda: ConcatenatedEncoding(4, 1.0), ValueError, "base must be .* above 1, got 1.0"),
        (lambda: Tensor2TensorEncoding(4, 0.0), ValueError, "above 0 .* got 0.0 and 10000.0"),
        (lambda: Tensor2TensorEncoding(4, 9, 2), ValueError, "below max_timescale.* 9 and 2"),
        (lambda: Tensor2TensorEncoding(4, 1, math.inf), ValueError, "finite, got 1 and inf"),
        (lambda: tensor2tensor_sinusoidal(PLACES > 1, 4), TypeError, "positions .* torch.bool"),
        (
            lambda: tensor2tensor_sinusoidal(PLACES, 4, dtype=torch.int64),
            TypeError,
            "dtype must be floating-point, got torch.int64",
        ),
        (lambda: ConcatenatedEncoding(4)(torch.zeros(1, 3, 8)), ValueError, r"\[..., S, 4\], got"),
        (lambda: Tensor2TensorEncoding(4)(torch.zeros(4)), ValueError, r"\[..., S, 4\], got \[4\]"),
        (
            lambda: Tensor2TensorEncoding(4)(torch.zeros(1, 6, 4), torch.arange(5)),
            ValueError,
            "5 positions and x has 6 tokens",
        ),
        (
            lambda: ConcatenatedEncoding(4)(torch.zeros(1, 3, 4), torch.zeros(3)),
            TypeError,
            "positions must be integers, got torch.float32",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
