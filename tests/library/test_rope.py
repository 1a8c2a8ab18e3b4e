"""RoPE: exact everywhere, its properties, and at home in PyTorch."""

from __future__ import annotations

import copy
import pickle

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.autograd import forward_ad
from transformers import GPTNeoXConfig, LlamaConfig
from transformers.models.glm.modeling_glm import apply_rotary_pos_emb as glm_rotates
from transformers.models.gpt_neox.modeling_gpt_neox import (
    GPTNeoXRotaryEmbedding,
)
from transformers.models.gpt_neox.modeling_gpt_neox import (
    apply_rotary_pos_emb as neox_rotates,
)
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as gptj_rotates
from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as llama_rotates

from tokpos import _rotation
from tokpos.position import PositionEncoding
from tokpos.positions import positions_from_mask
from tokpos.rope import LAYOUTS, RotaryEncoding, Rotation, rotate, rotate_by_formula, rotation
from tokpos.sinusoidal import frequencies, sinusoidal

FAR = 32_768
HALVES = (torch.bfloat16, torch.float16)
layouts = pytest.mark.parametrize("layout", LAYOUTS)
places = st.integers(-FAR, FAR)
LENGTHENED = (
    {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 2048},
    {"rope_type": "dynamic", "factor": 2, "original_max_position_embeddings": 16},
    {"rope_type": "proportional", "partial_rotary_factor": 0.5},
)


def draw(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return numbers.to(dtype)


def exact(x, positions, layout, width=None, base=10000.0):
    """The rotation as complex numbers in float64."""
    width = x.shape[-1] if width is None else width
    angles = positions.double().unsqueeze(-1) * base ** (
        -torch.arange(0, width, 2).double() / width
    )
    turn = torch.polar(torch.ones_like(angles), angles)
    if turn.dim() > 2:
        turn = turn.unsqueeze(-3)
    part, rest = x[..., :width].double(), x[..., width:].double()
    if layout == "interleaved":
        pairs = torch.complex(part[..., 0::2], part[..., 1::2]) * turn
        turned = torch.view_as_real(pairs).flatten(-2)
    else:
        pairs = torch.complex(*part.chunk(2, -1)) * turn
        turned = torch.cat([pairs.real, pairs.imag], -1)
    return torch.cat([turned, rest], -1)


def both(encode, x, positions):
    """The same tensor as queries and keys: both must come out alike."""
    q, k = encode(x, x, positions, positions)
    assert torch.equal(q, k)
    return q


# Exact


@layouts
@settings(max_examples=40)
@given(position=places, pairs=st.integers(1, 16), base=st.floats(2.0, 1e6))
def test_the_rotation_has_sixty_digits(layout, position, pairs, base):
    turn = rotation(torch.tensor([position]), frequencies(2 * pairs, base), dtype=torch.float64)
    with mpmath.workdps(60):
        for i in range(pairs):
            angle = position * mpmath.mpf(base) ** (-mpmath.mpf(i) / pairs)
            # A float64 angle is off by a few roundings, the power by ln(base) of them.
            bound = 32 * 2.0**-53 * max(1, abs(position))
            assert abs(turn.cos[0, i].item() - mpmath.cos(angle)) <= bound
            assert abs(turn.sin[0, i].item() - mpmath.sin(angle)) <= bound


@layouts
def test_float32_is_within_1e_6_at_position_32768(layout):
    x = draw(2, 3, 64, 64)
    positions = torch.arange(FAR - 63, FAR + 1)
    turned = both(RotaryEncoding(64, layout=layout), x, positions)
    assert (turned - exact(x, positions, layout)).abs().max() <= 1e-6


@layouts
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("length", [3, 700])
def test_half_precision_is_multiplied_in_float32_and_rounded_once(layout, dtype, length):
    x = draw(2, 3, length, 64, dtype=dtype)
    positions = torch.arange(FAR, FAR + length)
    turned = both(RotaryEncoding(64, layout=layout), x, positions)
    right = exact(x, positions, layout)
    assert turned.dtype == dtype
    # Half a step of the type, and float32's own roundings, which a cancellation lays bare.
    step = torch.finfo(dtype).eps / 2 * right.abs() + torch.finfo(dtype).tiny
    assert ((turned.double() - right).abs() <= step * 1.0001 + 1e-6).all()


@pytest.mark.usefixtures("unchecked_shapes")  # jaxtyping tells uint8 from Int
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_positions_of_every_integer_type(dtype):
    encode = RotaryEncoding(8, layout="interleaved")
    x = draw(1, 5, 8)
    assert torch.equal(both(encode, x, torch.arange(5).to(dtype)), both(encode, x, torch.arange(5)))


@layouts
def test_negative_positions_turn_back(layout):
    encode = RotaryEncoding(8, layout=layout)
    x = draw(1, 4, 8, dtype=torch.float64)
    there = both(encode, x, torch.arange(4))
    torch.testing.assert_close(both(encode, there, -torch.arange(4)), x, rtol=0, atol=1e-14)


# The fast way and the formula


def fused(x):
    """As one of three parts of a fused projection."""
    return torch.stack([x, x, x], dim=-3)[..., 1, :, :]


VIEWS = {
    "contiguous": lambda x: x,
    "sequence before heads": lambda x: x.transpose(-2, -3).contiguous().transpose(-2, -3),
    "sample last": lambda x: x.movedim(0, -2).contiguous().movedim(-2, 0),
    "transposed": lambda x: x.mT.contiguous().mT,
    "odd offset": lambda x: torch.cat([x.flatten(), x.flatten()[:1]])[1:].view(x.shape),
    "odd offset, in wider rows": lambda x: torch.cat([x[..., :1], x, x[..., :1]], -1)[..., 1:-1],
    "rows of an odd width": lambda x: torch.cat([x, x[..., :1]], -1)[..., :-1],
    "every other": lambda x: torch.cat([x, x], -1)[..., ::2],
    "expanded": lambda x: x[:1, :1].expand(x.shape),
    "fused": fused,
}
SHAPES = (
    (3, 2, 5, 8),
    (1, 1, 1, 8),
    (2, 0, 5, 8),
    (0, 1, 1, 8),
    (2, 3, 700, 72),
    (1, 1, 12_000, 18),
)


@layouts
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("rotary_width", [8, 4])
def test_the_fast_way_equals_the_formula(layout, view, dtype, rotary_width):
    for shape in SHAPES:
        x = VIEWS[view](draw(*shape, dtype=dtype)) if 0 not in shape else draw(*shape, dtype=dtype)
        assert x.shape == shape
        wide = torch.promote_types(dtype, torch.float32)
        for rows in ([shape[-2]], [shape[0], shape[-2]], [1, shape[-2]]):
            positions = torch.randint(-999, 999, rows, generator=torch.Generator().manual_seed(1))
            turn = rotation(positions, frequencies(rotary_width), dtype=wide)
            assert _rotation.applies_to(x, *turn)
            fast, slow = rotate(x, turn, layout), rotate_by_formula(x, turn, layout)
            # Two products and a sum: an addcmul may round once less.
            torch.testing.assert_close(
                fast, slow, rtol=torch.finfo(dtype).eps, atol=8 * torch.finfo(wide).eps
            )
            assert fast.data_ptr() != x.data_ptr() or not x.numel()


def test_the_blocks_cover_everything_once():
    x = torch.zeros(3, 5, 700, 64)
    for piece, part in _rotation._blocks(_rotation.BLOCK, x, torch.ones(1, 1, 700, 64)):
        assert 0 < piece.numel() <= _rotation.BLOCK and part.shape[-2] == piece.shape[-2]
        piece += part
    assert (x == 1).all()


@layouts
def test_large_and_small_inputs_agree(layout):
    x = draw(2, 4, 600, 64)
    assert x.numel() > _rotation.BLOCK
    turn = rotation(torch.arange(600), frequencies(64))
    whole = rotate(x, turn, layout)
    for part in (slice(0, 1), slice(7, 130)):
        small = rotate(x[:, :, part], Rotation(turn.cos[part], turn.sin[part]), layout)
        torch.testing.assert_close(small, whole[:, :, part], rtol=0, atol=1e-6)


@layouts
def test_an_odd_head_with_an_even_rotation(layout):
    x = draw(2, 3, 5, 7)
    turned = both(RotaryEncoding(7, layout=layout, rotary_width=4), x, torch.arange(5))
    assert torch.equal(turned[..., 4:], x[..., 4:])
    right = exact(x, torch.arange(5), layout, 4)
    torch.testing.assert_close(turned.double(), right, rtol=0, atol=1e-6)


# Cases


def test_A01_each_layout_has_its_value():
    x, turn = torch.tensor([[[1.0, 2, 3, 4]]]), rotation(torch.tensor([1]), frequencies(4))
    neighbors = torch.tensor([-1.142640, 1.922076, 2.959851, 4.029800])
    halves = torch.tensor([-1.984111, 1.959901, 2.462378, 4.019800])
    torch.testing.assert_close(rotate(x, turn, "interleaved")[0, 0], neighbors, rtol=0, atol=1e-6)
    torch.testing.assert_close(rotate(x, turn, "half-split")[0, 0], halves, rtol=0, atol=1e-6)
    order = [0, 2, 1, 3]
    swapped = rotate(x[..., order], turn, "half-split")
    torch.testing.assert_close(swapped[0, 0], neighbors[order], rtol=0, atol=1e-6)


def test_A01_the_layout_is_never_guessed():
    with pytest.raises(TypeError, match="layout"):
        RotaryEncoding(4)
    with pytest.raises(TypeError, match="layout"):
        rotate(torch.ones(1, 1, 4), rotation(torch.arange(1), frequencies(4)))


@layouts
@pytest.mark.parametrize("dtype", HALVES)
def test_A02_half_precision_keeps_its_angles(layout, dtype):
    encode = RotaryEncoding(64, layout=layout).to(dtype)
    ones = torch.ones(1, 2, 64, dtype=dtype)
    positions = torch.tensor([2000, 4001])
    right = exact(ones, positions, layout)
    error = (both(encode, ones, positions).double() - right).abs()
    assert (error <= torch.finfo(dtype).eps / 2 * right.abs() + 1e-6).all()
    table = rotation(positions, encode.frequencies(), dtype=dtype)
    angles = positions.double()[:, None] * frequencies(64)
    assert (table.cos.double() - angles.cos()).abs().max() <= 2.0**-9
    assert (table.sin.double() - angles.sin()).abs().max() <= 2.0**-9


def test_A02_positions_256_and_257_differ():
    turn = rotation(torch.tensor([256, 257]), frequencies(4), dtype=torch.bfloat16)
    right = torch.tensor([[-0.0398, -0.8356], [0.8193, -0.8410]])
    assert (turn.cos.float() - right).abs().max() <= 2.0**-9 + 5e-5


@layouts
def test_A03_left_padding_changes_no_score(layout):
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    positions = positions_from_mask(mask)
    assert positions[0, 2:].tolist() == [0, 1, 2] and positions[1].tolist() == [0, 1, 2, 3, 4]
    encode = RotaryEncoding(8, layout=layout)
    x = draw(2, 3, 5, 8, dtype=torch.float64)
    q, k = encode(x, x, positions, positions)
    alone, _ = encode(x[:1, :, 2:], x[:1, :, 2:], torch.arange(3), torch.arange(3))
    assert torch.equal(q[:1, :, 2:], alone)
    shifted = encode(x, x, positions + 2, positions + 2)
    torch.testing.assert_close(
        shifted[0] @ shifted[1].mT, q @ k.mT, rtol=0, atol=1e-13
    )  # RoPE only looks wrong when positions are shifted; a table that is added is wrong
    added = [x[0, 0] + sinusoidal(torch.arange(5) + n, 8, dtype=torch.float64) for n in (0, 2)]
    assert ((added[0] @ added[0].mT) - (added[1] @ added[1].mT)).abs().max() > 1


@layouts
@pytest.mark.parametrize("cut", range(9))
def test_A04_chunks_equal_the_whole(layout, cut):
    encode = RotaryEncoding(8, layout=layout)
    x, positions = draw(1, 8, 8), torch.arange(8)
    whole = both(encode, x, positions)
    parts = [both(encode, x[:, part], positions[part]) for part in (slice(cut), slice(cut, None))]
    torch.testing.assert_close(torch.cat(parts, dim=-2), whole, rtol=0, atol=1e-6)


@layouts
def test_A04_the_offset_counts_each_time(layout):
    encode = RotaryEncoding(8, layout=layout)
    x = draw(1, 8, 8)
    whole = both(encode, x, torch.arange(8))
    row = x[:, 5:6]
    fifth = both(encode, row, torch.tensor([5]))
    torch.testing.assert_close(fifth, whole[:, 5:6], rtol=0, atol=1e-6)
    assert (both(encode, row, torch.tensor([0])) - fifth).abs().max() > 0.1
    assert (both(encode, row, torch.tensor([6])) - fifth).abs().max() > 0.1


@layouts
def test_A05_the_sequence_stands_behind_the_heads(layout):
    ones = torch.ones(1, 3, 3, 4)
    meant = both(RotaryEncoding(4, layout=layout), ones.transpose(1, 2), torch.arange(3))
    row = exact(torch.ones(1, 1, 4), torch.tensor([1]), layout)[0, 0].float()
    if layout == "half-split":
        known = torch.tensor([-0.301169, 0.989950, 1.381773, 1.009950])
        torch.testing.assert_close(row, known, rtol=0, atol=1e-6)
    for head in range(3):
        torch.testing.assert_close(meant[0, head, 1], row, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("unchecked_shapes")
def test_A05_the_wrong_order_is_refused_where_it_shows():
    encode = RotaryEncoding(4, layout="half-split")
    x = torch.ones(1, 5, 2, 4)  # [B, S, H, d]
    with pytest.raises(ValueError, match="the heads stand before the sequence"):
        encode(x, x, torch.arange(5), torch.arange(5))
    with pytest.raises(ValueError, match="the heads stand before the sequence"):
        rotate(x, rotation(torch.arange(5), frequencies(4)), "half-split")


@pytest.mark.usefixtures("unchecked_shapes")
def test_A07_an_odd_rotation_is_refused_at_construction():
    with pytest.raises(ValueError, match="^width must be even and at least 2 .* got 5$"):
        RotaryEncoding(5, layout="interleaved")
    with pytest.raises(ValueError, match="^rotary_width must be even and at least 2 .* got 3$"):
        RotaryEncoding(4, layout="interleaved", rotary_width=3)


def test_A08_a_long_input_leaves_nothing_behind():
    rule = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 16}
    encode = RotaryEncoding(8, layout="half-split", scaling=rule)
    x = draw(1, 16, 8)
    before = both(encode, x, torch.arange(16))
    for length in (64, 15, 17):
        encode.length = length
        both(encode, draw(1, length, 8), torch.arange(length))
    encode.length = 16
    assert torch.equal(both(encode, x, torch.arange(16)), before)
    plain = RotaryEncoding(8, layout="half-split")
    assert torch.equal(before, both(plain, x, torch.arange(16)))


def test_A10_the_attention_factor_enters_once_on_each_side():
    rule = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
    encode = RotaryEncoding(16, layout="half-split", scaling=rule)
    x = draw(1, 3, 16, dtype=torch.float64)
    q, k = encode(x, x, torch.arange(3), torch.arange(3))
    ratio = q.norm(dim=-1) / x.norm(dim=-1)
    torch.testing.assert_close(ratio, torch.full_like(ratio, 1.138629), rtol=1e-6, atol=0)
    grown = (q * k).sum(-1) / (x * x).sum(-1)
    torch.testing.assert_close(grown, torch.full_like(grown, 1.296477), rtol=1e-6, atol=0)


def test_A12_built_on_meta_and_emptied():
    with torch.device("meta"):
        built = RotaryEncoding(8, layout="interleaved")
    encode = built.to_empty(device="cpu")
    assert encode.frequencies()[0] == 1.0
    x = draw(1, 5, 8)
    fresh = RotaryEncoding(8, layout="interleaved")
    assert torch.equal(both(encode, x, torch.arange(5)), both(fresh, x, torch.arange(5)))
    there = torch.zeros(2, 3, 5, 8, device="meta")
    q, _ = built(there, there, *[torch.arange(5, device="meta")] * 2)
    assert q.device.type == "meta" and q.shape == there.shape


@pytest.mark.usefixtures("unchecked_shapes")
@layouts
@pytest.mark.parametrize("scaling", [None, *LENGTHENED])
def test_fake_tensors_build_it_and_pass_through_it(layout, scaling):
    def build():
        return RotaryEncoding(8, layout=layout, scaling=scaling)

    mode, real = FakeTensorMode(), build()
    with mode:
        fake, x, positions = build(), torch.zeros(2, 3, 5, 8), torch.arange(5)
        for encode in (fake, real):
            q, _ = encode(x, x, positions, positions)
            assert type(q) is FakeTensor and q.shape == x.shape
    x = draw(2, 3, 5, 8)
    assert torch.equal(both(fake, x, torch.arange(5)), both(real, x, torch.arange(5)))
    assert torch.equal(fake.frequencies(), real.frequencies())


@layouts
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_loaded_to_another_device(layout, device, tmp_path):
    encode, x = RotaryEncoding(8, layout=layout), draw(1, 5, 8)
    torch.save(encode, tmp_path / "encode.pt")
    again = torch.load(tmp_path / "encode.pt", map_location=device, weights_only=False)
    assert torch.equal(both(again, x, torch.arange(5)), both(encode, x, torch.arange(5)))


def test_copied_among_fake_tensors():
    encode, x = RotaryEncoding(8, layout="interleaved"), draw(1, 5, 8)
    with FakeTensorMode():
        again = copy.deepcopy(encode)
    assert torch.equal(both(again, x, torch.arange(5)), both(encode, x, torch.arange(5)))


def test_the_frequencies_are_the_callers_own():
    encode = RotaryEncoding(8, layout="interleaved")
    x = draw(1, 5, 8)
    before = both(encode, x, torch.arange(5))
    encode.frequencies().zero_()
    assert torch.equal(both(encode, x, torch.arange(5)), before)


@layouts
def test_built_in_inference_mode_and_trained(layout):
    with torch.inference_mode():
        encode = RotaryEncoding(8, layout=layout)
    x = draw(1, 5, 8).requires_grad_()
    both(encode, x, torch.arange(5)).square().sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach(), rtol=0, atol=1e-5)


@pytest.mark.usefixtures("unchecked_shapes")
@layouts
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_A14_one_graph_for_all_lengths(layout, dtype):
    encode = RotaryEncoding(8, layout=layout, rotary_width=6)
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph

    compiled = torch.compile(encode, fullgraph=True, dynamic=True, backend=backend)
    for length in (4, 9, 17, 33):
        x, positions = draw(2, 3, length, 8, dtype=dtype), torch.arange(length) + 1000
        for fast, eager in zip(
            compiled(x, x[:, :1], positions, positions),
            encode(x, x[:, :1], positions, positions),
            strict=True,
        ):
            torch.testing.assert_close(fast, eager, rtol=torch.finfo(dtype).eps, atol=1e-6)
    assert len(graphs) == 1


# Against transformers


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES])
def test_transformers_llama(dtype):
    q, k = draw(2, 4, 9, 8, dtype=dtype), draw(2, 2, 9, 8, dtype=dtype, seed=1)
    positions = torch.arange(9).expand(2, 9)
    table = LlamaRotaryEmbedding(LlamaConfig(hidden_size=32, num_attention_heads=4))
    theirs = llama_rotates(q, k, *table(q, positions))
    ours = RotaryEncoding(8, layout="half-split")(q, k, positions, positions)
    for one, other in zip(ours, theirs, strict=True):
        # Theirs rounds cosine, sine and each product to the type.
        torch.testing.assert_close(one, other, rtol=0, atol=16 * torch.finfo(dtype).eps)


def test_transformers_gpt_j_has_neighbors():
    x = draw(2, 9, 3, 8)  # [B, S, H, d] there
    sin, cos = create_sinusoidal_positions(9, 8).chunk(2, dim=-1)
    theirs = gptj_rotates(x, sin.expand(2, 9, 4), cos.expand(2, 9, 4)).transpose(1, 2)
    ours = both(RotaryEncoding(8, layout="interleaved"), x.transpose(1, 2), torch.arange(9))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-6)


def test_transformers_gpt_neox_turns_the_first_part():
    config = GPTNeoXConfig(hidden_size=48, num_attention_heads=3, rotary_pct=0.25)
    x = draw(2, 3, 9, 16)
    theirs, _ = neox_rotates(x, x, *GPTNeoXRotaryEmbedding(config)(x, torch.arange(9)[None]))
    encode = RotaryEncoding(16, layout="half-split", rotary_width=4)
    ours = both(encode, x, torch.arange(9))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-6)
    assert torch.equal(ours[..., 4:], x[..., 4:])


def test_transformers_glm_turns_neighbors_of_the_first_half():
    x = draw(2, 3, 9, 8)
    turn = rotation(torch.arange(9)[None], frequencies(4))
    theirs, _ = glm_rotates(x, x, *(torch.cat([row, row], dim=-1) for row in turn))
    ours = both(RotaryEncoding(8, layout="interleaved", rotary_width=4), x, torch.arange(9))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-6)


def test_transformers_gemma_4_leaves_the_ends_of_both_halves():
    rule = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
    x = draw(2, 3, 9, 16)
    turned = both(RotaryEncoding(16, layout="half-split", scaling=rule), x, torch.arange(9))
    changed = (turned != x).any(dim=(0, 1, 2)).nonzero().flatten().tolist()
    assert changed == [0, 1, 8, 9]
    small = both(RotaryEncoding(16, layout="half-split", rotary_width=4), x, torch.arange(9))
    assert (small != x).any(dim=(0, 1, 2)).nonzero().flatten().tolist() == [0, 1, 2, 3]


# Properties


@layouts
@settings(max_examples=40)
@given(position=places, pairs=st.integers(1, 32), seed=st.integers(0, 99))
def test_a_turn_keeps_the_length(layout, position, pairs, seed):
    x = draw(1, 1, 2 * pairs, dtype=torch.float64, seed=seed)
    turned = both(RotaryEncoding(2 * pairs, layout=layout), x, torch.tensor([position]))
    # cos^2 + sin^2 is 1 to a few roundings, and so is each product.
    torch.testing.assert_close(turned.norm(), x.norm(), rtol=8 * 2.0**-53, atol=0)


@layouts
@settings(max_examples=40)
@given(m=places, n=places, shift=st.integers(-1000, 1000), seed=st.integers(0, 99))
def test_a_score_depends_on_the_offset_only(layout, m, n, shift, seed):
    encode = RotaryEncoding(16, layout=layout)
    q, k = draw(2, 1, 1, 16, dtype=torch.float64, seed=seed)
    scores = []
    for by in (0, shift):
        turned = encode(q[None], k[None], torch.tensor([m + by]), torch.tensor([n + by]))
        scores.append((turned[0] * turned[1]).sum())
    # Four angles of at most FAR + 1000, each off by a few roundings, times the lengths.
    bound = 4 * 32 * 2.0**-53 * (FAR + 1000) * (q.norm() * k.norm()).item()
    assert (scores[0] - scores[1]).abs() <= bound


def test_values_are_left_alone_and_the_other_doors_are_closed():
    encode = RotaryEncoding(8, layout="interleaved")
    x, places_ = draw(2, 3, 8), torch.arange(3)
    assert isinstance(encode, PositionEncoding)
    assert encode.into_input(x) is x
    assert encode.into_scores(x, places_, places_) == (None, None)
    assert encode.into_values(torch.ones(2, 3, 3), places_, places_) is None


def test_grouped_queries_of_another_length():
    encode = RotaryEncoding(8, layout="half-split")
    q, k = draw(2, 4, 1, 8), draw(2, 2, 7, 8, seed=1)
    turned_q, turned_k = encode(q, k, torch.tensor([6]), torch.arange(7))
    right_q = exact(q, torch.tensor([6]), "half-split")
    right_k = exact(k, torch.arange(7), "half-split")
    torch.testing.assert_close(turned_q.double(), right_q, rtol=0, atol=1e-6)
    torch.testing.assert_close(turned_k.double(), right_k, rtol=0, atol=1e-6)


# Gradients


@layouts
@pytest.mark.parametrize("rotary_width", [2, 4])
def test_gradients_of_first_and_second_order_and_forward_mode(layout, rotary_width):
    encode = RotaryEncoding(4, layout=layout, rotary_width=rotary_width)
    x = draw(1, 2, 4, dtype=torch.float64).requires_grad_()

    def call(x):
        return encode(x, x, torch.arange(2) + 5, torch.arange(2))

    assert torch.autograd.gradcheck(call, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, x, check_fwd_over_rev=True)


@layouts
@pytest.mark.parametrize("rotary_width", [4, 6])
def test_many_gradients_in_one_call(layout, rotary_width):
    x = draw(1, 2, 6).requires_grad_()
    turn = rotation(torch.arange(2), frequencies(rotary_width))
    wanted = torch.eye(12).view(12, 1, 2, 6)
    turned = rotate(x, turn, layout)
    (rows,) = torch.autograd.grad(turned, x, wanted, is_grads_batched=True, retain_graph=True)
    for row, each in zip(rows, wanted, strict=True):
        (right,) = torch.autograd.grad(turned, x, each, retain_graph=True)
        torch.testing.assert_close(row, right, rtol=0, atol=1e-6)


@layouts
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_gradient_is_turned_back(layout, dtype):
    x = draw(2, 3, 700, 64, dtype=dtype).requires_grad_()
    g = draw(2, 3, 700, 64, dtype=dtype, seed=1)
    turn = rotation(torch.arange(700), frequencies(64))
    (fast,) = torch.autograd.grad(rotate(x, turn, layout), x, g)
    back = rotate(g, Rotation(turn.cos, -turn.sin), layout)
    assert torch.equal(fast, back)
    (slow,) = torch.autograd.grad(rotate_by_formula(x, turn, layout), x, g)
    torch.testing.assert_close(fast, slow, rtol=2 * torch.finfo(dtype).eps, atol=2e-6)
    (ones,) = torch.autograd.grad(rotate(x, turn, layout).sum(), x)  # an expanded gradient
    torch.testing.assert_close(
        ones, rotate(torch.ones_like(x), Rotation(turn.cos, -turn.sin), layout)
    )


def test_the_angles_get_a_gradient_where_they_ask_for_one():
    speeds = frequencies(4).requires_grad_()
    x = draw(1, 3, 4, dtype=torch.float64)

    def call(speeds):
        return rotate(x, rotation(torch.arange(3), speeds, dtype=torch.float64), "interleaved")

    assert torch.autograd.gradcheck(call, speeds)


def test_a_tangent_without_a_gradient():
    turn = rotation(torch.arange(3), frequencies(4))
    x, t = draw(1, 3, 4), draw(1, 3, 4, seed=1)
    with forward_ad.dual_level():
        turned = forward_ad.unpack_dual(rotate(forward_ad.make_dual(x, t), turn, "half-split"))
        assert torch.equal(turned.tangent, rotate(t, turn, "half-split"))
        moving = Rotation(turn.cos, forward_ad.make_dual(turn.sin, torch.ones_like(turn.sin)))
        turned = forward_ad.unpack_dual(rotate(x, moving, "half-split"))
        assert torch.equal(turned.tangent, torch.cat([-x[..., 2:], x[..., :2]], dim=-1))


# At home in PyTorch


@layouts
def test_vmap_and_functional_gradients(layout):
    encode = RotaryEncoding(8, layout=layout)
    x, rows = draw(3, 2, 5, 8), torch.randint(99, (3, 5))
    whole = both(encode, x, rows)
    for axes, positions in (((0, 0, 0, 0), rows), ((0, 0, None, None), rows[0])):
        mapped, _ = torch.func.vmap(encode, axes)(x, x, positions, positions)
        right = whole if axes[2] == 0 else both(encode, x, rows[0])
        torch.testing.assert_close(mapped, right, rtol=0, atol=1e-6)
    positions_only = torch.func.vmap(encode, (None, None, 0, 0))(x[0], x[0], rows, rows)[0]
    assert positions_only.shape == x.shape
    gradient = torch.func.grad(lambda x: both(encode, x, rows).square().sum())(x)
    torch.testing.assert_close(gradient, 2 * x, rtol=0, atol=1e-5)


@pytest.mark.usefixtures("unchecked_shapes")
@layouts
def test_compiles_with_gradients(layout):
    encode = RotaryEncoding(8, layout=layout)
    compiled = torch.compile(encode, fullgraph=True, backend="aot_eager")
    x, positions = draw(2, 3, 5, 8).requires_grad_(), torch.arange(5)
    for call in (compiled, encode):
        q, k = call(x, x, positions, positions)
        (x.grad,) = torch.autograd.grad((q * k.detach()).sum(), x)
        if call is compiled:
            first = x.grad
    torch.testing.assert_close(first, x.grad, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("unchecked_shapes")
@layouts
def test_exports_with_a_free_length(layout):
    encode = RotaryEncoding(8, layout=layout)
    length = torch.export.Dim("length")
    x, positions = draw(2, 3, 5, 8), torch.arange(5)
    free = {2: length}, {2: length}, {0: length}, {0: length}
    program = torch.export.export(encode, (x, x, positions, positions), dynamic_shapes=free)
    longer, there = draw(2, 3, 11, 8), torch.arange(11) + 7
    one = program.module()(longer, longer, there, there)[0]
    torch.testing.assert_close(one, both(encode, longer, there), rtol=0, atol=1e-6)


@layouts
def test_autocast_leaves_it_alone(layout):
    encode = RotaryEncoding(64, layout=layout)
    x, positions = draw(1, 4, 64), torch.arange(FAR, FAR + 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(both(encode, x, positions), both(encode, x, positions))
        inside = both(encode, x, positions)
    assert inside.dtype == torch.float32
    assert (inside - exact(x, positions, layout)).abs().max() <= 1e-6


def test_nothing_is_stored():
    encode = RotaryEncoding(8, layout="interleaved")
    before = {name: value for name, value in vars(encode).items() if name[0] != "_"}
    both(encode, draw(1, 500, 8), torch.arange(500))
    assert {name: value for name, value in vars(encode).items() if name[0] != "_"} == before
    assert not list(encode.parameters()) and not list(encode.buffers())
    assert not encode.state_dict()
    encode.load_state_dict({}, strict=True)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_pickles_give_the_same(copied):
    rule = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 16}
    encode = RotaryEncoding(
        8, layout="half-split", rotary_width=6, base=500.0, scaling=rule, length=40
    )
    again = copied(encode)
    x = draw(1, 9, 8)
    assert torch.equal(both(again, x, torch.arange(9)), both(encode, x, torch.arange(9)))
    assert repr(again) == repr(encode)
    assert "width=8, layout='half-split', rotary_width=6, base=500, scaling=" in repr(encode)


# Bad input

ENCODE = RotaryEncoding(4, layout="interleaved")
TURN = rotation(torch.arange(3), frequencies(4))
X, THREE = torch.zeros(2, 3, 4), torch.arange(3)
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 16}


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: RotaryEncoding(4, layout="neox"),
            ValueError,
            "layout must be one of interleaved, half-split; got 'neox'",
        ),
        (
            lambda: RotaryEncoding(4, layout="half-split", rotary_width=6),
            ValueError,
            "rotary_width must be at most the head width 4, got 6",
        ),
        (lambda: RotaryEncoding(0, layout="half-split"), ValueError, "width must be .* got 0"),
        (
            lambda: RotaryEncoding(4, layout="half-split", base=1.0),
            ValueError,
            "base must be .* above 1, got 1.0",
        ),
        (
            lambda: RotaryEncoding(4, layout="half-split", length=-1),
            ValueError,
            "length must not be negative, got -1",
        ),
        (lambda: ENCODE(X.long(), X, THREE, THREE), TypeError, "q must be floating-point"),
        (lambda: ENCODE(X, X.long(), THREE, THREE), TypeError, "k must be floating-point"),
        (
            lambda: ENCODE(X[..., :2], X, THREE, THREE),
            ValueError,
            r"q must be \[..., S, 4\], got \[2, 3, 2\]",
        ),
        (
            lambda: ENCODE(X, X, THREE.double(), THREE),
            TypeError,
            "query_positions must be integers, got torch.float64",
        ),
        (
            lambda: ENCODE(X, X, THREE, THREE[:2]),
            ValueError,
            r"key_positions must be \[3\] for x \[..., H, S, d\] of \[2, 3, 4\], got \[2\]",
        ),
        (lambda: ENCODE(X[0], X, THREE, THREE), ValueError, r"must be \[..., H, S, d\], got"),
        (
            lambda: rotation(THREE > 1, frequencies(4)),
            TypeError,
            "positions must be integers, got torch.bool",
        ),
        (
            lambda: rotation(THREE, frequencies(4).float()),
            TypeError,
            "frequencies must be float64, got torch.float32",
        ),
        (
            lambda: rotation(THREE, frequencies(4), dtype=torch.int64),
            TypeError,
            "dtype must be floating-point, got torch.int64",
        ),
        (lambda: rotate(X, TURN, "half"), ValueError, "layout must be one of .* got 'half'"),
        (lambda: rotate_by_formula(X, TURN, "half"), ValueError, "layout must be one of"),
        (lambda: rotate(X.int(), TURN, "half-split"), TypeError, "x must be floating-point"),
        (
            lambda: rotate(X[..., :2], TURN, "half-split"),
            ValueError,
            "2 pairs, which need a head width of at least 4, got 2",
        ),
        (
            lambda: rotate(X[:, :2], TURN, "half-split"),
            ValueError,
            r"must be for positions \[2\] or \[2\] for x .* of \[2, 2, 4\], got \[3\]",
        ),
        (lambda: rotate(X[0], TURN, "half-split"), ValueError, r"\[..., H, S, d\], got \[3, 4\]"),
        (
            lambda: rotate(X, Rotation(TURN.cos, TURN.sin[:1]), "half-split"),
            ValueError,
            "cos and sin must be of one type and one shape",
        ),
        (
            lambda: RotaryEncoding(4, layout="half-split", scaling=DYNAMIC)(
                X, X, THREE, THREE + 14
            ),
            IndexError,
            "key_positions must be below 16, the length .* 'dynamic' .* got 16: set length",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()


@layouts
@pytest.mark.parametrize("rotate_", [rotate, rotate_by_formula])
@pytest.mark.parametrize(
    ("dtype", "turn_dtype", "exact"),
    [
        (torch.bfloat16, torch.bfloat16, torch.float32),
        (torch.float32, torch.bfloat16, torch.float32),
        (torch.float64, torch.float32, torch.float64),
    ],
)
def test_a_rotation_of_another_type_costs_no_digits(rotate_, layout, dtype, turn_dtype, exact):
    x = draw(2, 7, 8, dtype=dtype)
    turn = rotation(torch.arange(7), frequencies(8), dtype=turn_dtype)
    wide = Rotation(turn.cos.to(exact), turn.sin.to(exact))
    right = rotate_by_formula(x.to(exact), wide, layout).to(dtype)
    assert torch.equal(rotate_(x, turn, layout), right)


@pytest.mark.parametrize("name", ["base", "scaling", "rotary_width"])
def test_what_the_frequencies_were_made_of_is_fixed(name):
    encode = RotaryEncoding(8, layout="interleaved", scaling={"rope_type": "linear", "factor": 2})
    with pytest.raises(AttributeError):
        setattr(encode, name, 4)
    with pytest.raises(TypeError):
        encode.scaling["factor"] = 4
    assert encode.base == 10000 and encode.rotary_width == 8
    assert encode.scaling == {"rope_type": "linear", "factor": 2}
    assert copy.deepcopy(encode).scaling == pickle.loads(pickle.dumps(encode)).scaling
