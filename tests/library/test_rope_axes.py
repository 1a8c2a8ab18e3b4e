"""RoPE with several axes: the plans of real models, and ordinary RoPE where axes agree."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import Qwen2VLConfig, Qwen3VLConfig
from transformers.models.pixtral.configuration_pixtral import PixtralVisionConfig
from transformers.models.pixtral.modeling_pixtral import PixtralVisionRotaryEmbedding
from transformers.models.pixtral.modeling_pixtral import apply_rotary_pos_emb as pixtral_rotates
from transformers.models.qwen2_vl.modeling_qwen2_vl import (
    Qwen2VLRotaryEmbedding,
    Qwen2VLVisionRotaryEmbedding,
    apply_rotary_pos_emb_vision,
)
from transformers.models.qwen2_vl.modeling_qwen2_vl import apply_rotary_pos_emb as qwen2_rotates
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding

from tokpos.rope import LAYOUTS, RotaryEncoding, rotate
from tokpos.rope_axes import (
    AxisPlan,
    MultiAxisRotaryEncoding,
    axes_rotation,
    axial_plan,
    grid_positions,
    section_plan,
)
from tokpos.rope_scaling import scaled_frequencies
from tokpos.sinusoidal import frequencies

layouts = pytest.mark.parametrize("layout", LAYOUTS)
IMAGE = grid_positions(3, 4)
PLAN = axial_plan(8, spacing="dealt")


def draw(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def both(encode, x, positions):
    q, k = encode(x, x, positions, positions)
    assert torch.equal(q, k)
    return q


def test_queries_and_keys_of_one_place_share_the_rotation(monkeypatch):
    made = []

    def counted(*given):
        made.append(given)
        return axes_rotation(*given)

    monkeypatch.setattr("tokpos.rope_axes.axes_rotation", counted)
    encode, x = MultiAxisRotaryEncoding(8, PLAN, layout="half-split"), draw(1, 12, 8)
    encode(x, x, IMAGE, IMAGE)
    assert len(made) == 1
    encode(x, x.double(), IMAGE, IMAGE)
    encode(x, x, IMAGE, IMAGE.clone())
    assert len(made) == 5


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    "make_plan",
    [
        lambda: axial_plan(8, spacing="dealt"),
        lambda: axial_plan(8, spacing="repeated"),
        lambda: section_plan([2, 2], interleaved=True),
    ],
)
def test_built_among_fake_and_meta_tensors(make_plan):
    def build():
        return MultiAxisRotaryEncoding(8, make_plan(), layout="half-split")

    x, right = draw(1, 12, 8), both(build(), draw(1, 12, 8), IMAGE)
    with torch.device("meta"):
        built = build()
    assert torch.equal(both(built, x, IMAGE), right)
    there = built(x.to("meta"), x.to("meta"), *[IMAGE.to("meta")] * 2)[0]
    assert there.is_meta and there.shape == x.shape
    assert axes_rotation(IMAGE.to("meta"), make_plan()).cos.is_meta
    real = build()
    with FakeTensorMode():
        x, places = torch.zeros(1, 12, 8), torch.zeros(2, 12, dtype=torch.int64)
        for encode in (build(), real):
            assert encode(x, x, places, places)[0].shape == x.shape


# Against transformers


def test_transformers_pixtral_deals_the_frequencies():
    config = PixtralVisionConfig(hidden_size=48, num_attention_heads=3, head_dim=16)
    x = draw(1, 3, 12, 16)
    cos, sin = PixtralVisionRotaryEmbedding(config)(x, IMAGE[None])
    theirs, _ = pixtral_rotates(x, x, cos, sin)
    plan = axial_plan(16, base=config.rope_parameters["rope_theta"], spacing="dealt")
    ours = both(MultiAxisRotaryEncoding(16, plan, layout="half-split"), x, IMAGE)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=3e-6)


def test_transformers_qwen2_vl_vision_repeats_the_frequencies():
    config = Qwen2VLConfig().vision_config
    width = config.embed_dim // config.num_heads
    x = draw(12, 3, width)  # [S, H, d] there
    cos, sin = Qwen2VLVisionRotaryEmbedding(config)(x, IMAGE[None])
    theirs, _ = apply_rotary_pos_emb_vision(x, x, cos[0], sin[0])
    plan = axial_plan(width, base=config.rope_parameters["rope_theta"], spacing="repeated")
    encode = MultiAxisRotaryEncoding(width, plan, layout="half-split")
    ours = both(encode, x.transpose(0, 1), IMAGE).transpose(0, 1)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=3e-6)


@pytest.mark.parametrize("interleaved", [False, True])
def test_transformers_qwen_vl_text_has_sections(interleaved):
    sections = [24, 20, 20] if interleaved else [16, 24, 24]
    config, table = (
        (Qwen3VLConfig().text_config, Qwen3VLTextRotaryEmbedding)
        if interleaved
        else (Qwen2VLConfig().text_config, Qwen2VLRotaryEmbedding)
    )
    config.hidden_size, config.num_attention_heads, config.head_dim = 256, 2, 128
    config.rope_parameters = {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": sections,
    }
    x = draw(2, 2, 12, 128)
    positions = torch.stack([grid_positions(3, 2, 2), grid_positions(3, 2, 2) + 7], dim=1)
    theirs, _ = qwen2_rotates(x, x, *table(config)(x, positions))
    plan = section_plan(sections, interleaved=interleaved)
    ours = both(MultiAxisRotaryEncoding(128, plan, layout="half-split"), x, positions)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=3e-6)


# The plans


def test_plans_use_every_pair_as_often_as_asked():
    for sections in ([16, 24, 24], [24, 20, 20], [4, 2, 2], [5]):
        for interleaved in (False, True):
            if interleaved and sections[0] < max(sections):
                continue  # the second axis would need more turns than it has
            plan = section_plan(sections, interleaved=interleaved)
            assert [plan.axis_of_pair.count(axis) for axis in range(len(sections))] == sections
            assert torch.equal(plan.frequencies, frequencies(2 * sum(sections)))
    dealt = axial_plan(24, 3, spacing="dealt")
    assert sorted(dealt.frequencies.tolist()) == sorted(frequencies(24).tolist())
    assert dealt.axis_of_pair == (0,) * 4 + (1,) * 4 + (2,) * 4
    repeated = axial_plan(24, 3, spacing="repeated").frequencies.view(3, 4)
    assert all(torch.equal(row, frequencies(8)) for row in repeated)


@pytest.mark.usefixtures("unchecked_shapes")
def test_sections_may_be_scaled():
    rule = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
    plan = section_plan([4, 2, 2], interleaved=False, scaling=rule)
    right = scaled_frequencies(16, scaling=rule)
    assert torch.equal(plan.frequencies, right.frequencies)
    assert plan.attention_factor == right.attention_factor
    x = draw(1, 3, 16)
    ours = both(
        MultiAxisRotaryEncoding(16, plan, layout="half-split"), x, torch.arange(3).expand(3, 3)
    )
    plain = both(RotaryEncoding(16, layout="half-split", scaling=rule), x, torch.arange(3))
    assert torch.equal(ours, plain)


def test_a_grid_is_read_row_by_row():
    assert IMAGE.tolist() == [[0] * 4 + [1] * 4 + [2] * 4, [0, 1, 2, 3] * 3]
    assert grid_positions(5).tolist() == [[0, 1, 2, 3, 4]]
    assert grid_positions(2, 0, 3).shape == (3, 0)


# Properties


@layouts
@pytest.mark.parametrize(
    "plan", [section_plan([4, 2, 2], interleaved=flag) for flag in (False, True)]
)
def test_text_is_turned_as_by_ordinary_rope(layout, plan):
    x, positions = draw(2, 3, 5, 16), torch.arange(5) + 100
    ours = both(MultiAxisRotaryEncoding(16, plan, layout=layout), x, positions.expand(3, 2, 5))
    assert torch.equal(ours, both(RotaryEncoding(16, layout=layout), x, positions))


@layouts
@pytest.mark.parametrize("spacing", ["repeated", "dealt"])
def test_a_score_depends_on_the_offset_along_each_axis(layout, spacing):
    encode = MultiAxisRotaryEncoding(8, axial_plan(8, spacing=spacing), layout=layout)
    x = draw(1, 12, 8, dtype=torch.float64)
    q, k = encode(x, x, IMAGE, IMAGE)
    moved = IMAGE + torch.tensor([[50], [-7]])
    q_moved, k_moved = encode(x, x, moved, moved)
    torch.testing.assert_close(q_moved @ k_moved.mT, q @ k.mT, rtol=0, atol=1e-12)
    turned = encode(x, x, IMAGE, IMAGE.flip(0))[1]
    assert (q @ turned.mT - q @ k.mT).abs().max() > 0.1


@layouts
def test_features_past_the_plan_stay(layout):
    x = draw(1, 12, 10)
    ours = both(
        MultiAxisRotaryEncoding(10, axial_plan(8, spacing="dealt"), layout=layout), x, IMAGE
    )
    assert torch.equal(ours[..., 8:], x[..., 8:]) and not torch.equal(ours[..., :8], x[..., :8])


def test_A02_far_cells_are_exact_in_half_precision():
    plan = axial_plan(8, spacing="repeated")
    far = IMAGE + 32_000
    table = axes_rotation(far, plan, torch.bfloat16)
    angles = far[[0, 0, 1, 1]].T.double() * plan.frequencies
    assert (table.cos.double() - angles.cos()).abs().max() <= 2.0**-9
    x = draw(1, 12, 8, dtype=torch.bfloat16)
    encode = MultiAxisRotaryEncoding(8, plan, layout="interleaved").to(torch.bfloat16)
    right = rotate(x.double(), axes_rotation(far, plan, torch.float64), "interleaved")
    error = (both(encode, x, far).double() - right).abs()
    assert (error <= 2.0**-8 * right.abs() + 1e-6).all()


# At home in PyTorch


def encoding(layout="half-split"):
    return MultiAxisRotaryEncoding(8, axial_plan(8, spacing="dealt"), layout=layout)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_store_nothing_and_give_the_same(copied):
    encode = encoding()
    x = draw(1, 12, 8)
    again = copied(encode)
    assert torch.equal(both(again, x, IMAGE), both(encode, x, IMAGE))
    assert not encode.state_dict() and not list(encode.buffers())
    assert repr(encode) == "MultiAxisRotaryEncoding(width=8, pairs=2+2, layout='half-split')"


def test_A12_emptied_and_on_meta():
    encode = encoding()
    with torch.device("meta"):
        q, _ = encode(draw(1, 12, 8), draw(1, 12, 8), grid_positions(3, 4), grid_positions(3, 4))
    assert q.device.type == "meta"
    x = draw(1, 12, 8)
    filled = copy.deepcopy(encode).to_empty(device="cpu")
    assert torch.equal(both(filled, x, IMAGE), both(encode, x, IMAGE))


@layouts
def test_gradients(layout):
    encode = encoding(layout)
    x = draw(2, 4, 8, dtype=torch.float64).requires_grad_()
    cells = grid_positions(2, 2)
    assert torch.autograd.gradcheck(lambda x: encode(x, x, cells, cells), x)


def test_vmap_over_samples_and_positions():
    encode = encoding()
    x, cells = draw(3, 2, 12, 8), torch.stack([IMAGE, IMAGE + 1, IMAGE + 5], dim=1)
    mapped, _ = torch.func.vmap(encode, (0, 0, 1, 1))(x, x, cells, cells)
    torch.testing.assert_close(mapped, both(encode, x, cells), rtol=0, atol=1e-6)


@pytest.mark.usefixtures("unchecked_shapes")
def test_A14_one_graph_for_all_sizes():
    encode, graphs = encoding(), []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph

    compiled = torch.compile(encode, fullgraph=True, dynamic=True, backend=backend)
    for rows in (2, 3, 7):
        x, cells = draw(2, 3 * rows, 8), grid_positions(rows, 3)
        right = both(encode, x, cells)
        torch.testing.assert_close(compiled(x, x, cells, cells)[0], right, rtol=0, atol=1e-6)
    assert len(graphs) == 1
    program = torch.export.export(encode, (x, x, cells, cells))
    exported, _ = program.module()(x, x, cells, cells)
    torch.testing.assert_close(exported, right, rtol=0, atol=1e-6)


# Bad input

X = torch.zeros(2, 12, 8)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: axial_plan(8, spacing="even"), ValueError, "spacing must be one of .* got 'even'"),
        (lambda: axial_plan(8, 0, spacing="dealt"), ValueError, "n_axes must be .* got 0"),
        (lambda: axial_plan(6, spacing="dealt"), ValueError, "width must be a multiple of 4, .* 6"),
        (lambda: axial_plan(0, spacing="dealt"), ValueError, "width must be a multiple of 4, .* 0"),
        (
            lambda: section_plan([4, 0], interleaved=True),
            ValueError,
            r"sections must hold .* got \[4, 0\]",
        ),
        (lambda: section_plan([], interleaved=True), ValueError, r"sections must hold .* got \[\]"),
        (
            lambda: section_plan([1, 1, 4], interleaved=True),
            ValueError,
            r"sections \[1, 1, 4\] give axis 2 4 pairs, and only 2 of 6 are its turn",
        ),
        (lambda: grid_positions(), ValueError, "lengths must be given"),
        (lambda: grid_positions(2, -1), ValueError, r"not negative; got \[2, -1\]"),
        (
            lambda: axes_rotation(IMAGE.float(), axial_plan(8, spacing="dealt")),
            TypeError,
            "positions must be integers, got torch.float32",
        ),
        (
            lambda: axes_rotation(IMAGE, axial_plan(8, spacing="dealt"), torch.int32),
            TypeError,
            "dtype must be floating-point, got torch.int32",
        ),
        (
            lambda: axes_rotation(IMAGE[:1], axial_plan(8, spacing="dealt")),
            ValueError,
            r"positions must be \[2, ..., S\], a row for each axis; got \[1, 12\]",
        ),
        (
            lambda: MultiAxisRotaryEncoding(8, axial_plan(8, spacing="dealt"), layout="x"),
            ValueError,
            "layout must be one of interleaved, half-split; got 'x'",
        ),
        (
            lambda: MultiAxisRotaryEncoding(4, axial_plan(8, spacing="dealt"), layout="half-split"),
            ValueError,
            "plan has 4 pairs, which need a head width of at least 8, got 4",
        ),
        (
            lambda: MultiAxisRotaryEncoding(
                8, AxisPlan((0, 1), frequencies(8)), layout="half-split"
            ),
            ValueError,
            "plan has 2 axes and 4 frequencies",
        ),
        (
            lambda: axes_rotation(IMAGE, AxisPlan((0, 1), torch.ones(2))),
            TypeError,
            "frequencies must be float64, got torch.float32",
        ),
        (
            lambda: MultiAxisRotaryEncoding(
                8, AxisPlan((0, 1), torch.ones(2)), layout="half-split"
            ),
            TypeError,
            "frequencies must be float64, got torch.float32",
        ),
        (
            lambda: MultiAxisRotaryEncoding(
                8, axial_plan(8, spacing="dealt", device="meta"), layout="half-split"
            ),
            ValueError,
            "plan must hold numbers; its frequencies are on the meta device",
        ),
        (
            lambda: encoding()(X, X, IMAGE, IMAGE[0]),
            ValueError,
            r"key_positions must be \[2, ..., S\], a row for each axis; got \[12\]",
        ),
        (
            lambda: encoding()(X, X, IMAGE, IMAGE[:, :5]),
            ValueError,
            r"key_positions of an axis must be \[12\] for x .* got \[5\]",
        ),
        (lambda: encoding()(X.int(), X, IMAGE, IMAGE), TypeError, "q must be floating-point"),
        (
            lambda: encoding()(X, X[..., :4], IMAGE, IMAGE),
            ValueError,
            r"k must be \[..., H, S, 8\], got \[2, 12, 4\]",
        ),
        (
            lambda: encoding()(X, X, IMAGE.float(), IMAGE),
            TypeError,
            "query_positions of an axis must be integers, got torch.float32",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
