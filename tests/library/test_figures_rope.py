"""The figures of RoPE say what is so; their form is tested for all figures."""

from __future__ import annotations

import math
import re

import pytest
import torch

from tests.library.alt_text import alt
from tokpos.figures import languages, rope
from tokpos.rope_layout import feature_order
from tokpos.rope_scaling import scaled_frequencies
from tokpos.sinusoidal import frequencies

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def numbers(text: str) -> list[float]:
    found = re.findall(r"(?<![\w.])−?\d[\d,]*(?:\.\d+)?", text)
    return [float(number.replace("−", "-").replace(",", "")) for number in found]


def test_the_angle_between_follows_the_offset():
    figure = rope.turning(moments=((1, 4), (11, 14), (3, 3)), speed=0.25)
    apart = [math.degrees(0.45 + 0.25 * offset) for offset in (3, 3, 0)]
    for language in languages():
        shown = numbers(alt(figure, language))
        assert shown[6:9] == [round(angle, 1) for angle in apart]


@pytest.mark.parametrize("width", [4, 8])
def test_the_second_row_is_the_order_of_the_layouts(width):
    order = feature_order(width, "interleaved", "half-split").tolist()
    for language in languages():
        assert ", ".join(f"x{i}" for i in order) in alt(rope.layouts(width), language)


def test_pairs_are_slowed_where_the_figure_says():
    text = rope.scaling_rules().alt("en")
    whole = int((4096 * frequencies(128) / (2 * math.pi) >= 1).sum())
    assert {64.0, 8.0, float(whole), 4096.0} <= set(numbers(text))
    settings = {"factor": 8.0, "original_max_position_embeddings": 4096}
    limits = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    for rule in ({"rope_type": "yarn"}, {"rope_type": "llama3", **limits}):
        scaled = scaled_frequencies(128, scaling={**rule, **settings}).frequencies
        slowed = frequencies(128) / scaled
        torch.testing.assert_close(slowed[whole:], torch.full((64 - whole,), 8.0).double())
        assert (slowed[: whole - 1] < 8).all() and slowed[0] == 1


def test_the_score_is_the_mean_of_the_cosines():
    near, far = (torch.cos(n * frequencies(64)).mean().item() for n in (8, 256))
    for language in languages():
        shown = numbers(alt(rope.score_by_distance(), language))
        assert {round(near, 2), round(far, 2)} <= set(shown)


def test_the_followed_cell_is_named():
    for language in languages():
        assert {2.0, 3.0, 8.0, 4.0} <= set(numbers(alt(rope.image_grid(), language)))
