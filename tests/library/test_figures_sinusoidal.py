"""The figures of the sinusoidal encoding say what is so; their form is tested for all figures."""

from __future__ import annotations

import math
import re

import pytest
import torch
from matplotlib.patches import Circle

from tokpos.figures import added, languages, sinusoidal, waves
from tokpos.figures._canvas import Canvas, use_style
from tokpos.sinusoidal import frequencies
from tokpos.sinusoidal import sinusoidal as encode

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def numbers(text: str) -> list[float]:
    found = re.findall(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?", text.replace("−", "-"))
    return [float(number.replace(",", "")) for number in found]


def test_the_moments_of_the_clock_are_apart_by_what_it_says():
    assert "10:08:05" in sinusoidal.clock().alt("en")
    for language in languages():
        assert {30.0, 6.0} <= set(numbers(sinusoidal.clock().alt(language)))


def test_one_hand_shows_the_first_pair_of_position_1():
    sine, cosine = encode(torch.tensor(1), 2).tolist()
    for language in languages():
        shown = numbers(sinusoidal.one_hand().alt(language))
        assert {round(sine, 3), round(cosine, 3)} <= set(shown)


def test_the_nearest_return_is_the_nearest():
    start, *others = encode(torch.arange(49), 2, dtype=torch.float64)
    distances = [(row - start).norm().item() for row in others]
    nearest = distances.index(min(distances)) + 1
    for language in languages():
        shown = numbers(sinusoidal.comes_back().alt(language))
        assert nearest == 44 and {44.0, round(min(distances), 3)} <= set(shown)


def test_a_dial_for_each_pair_and_a_row_for_each_position():
    figure = sinusoidal.dials(width=4, positions=(0, 7))
    assert numbers(figure.alt("en")) == [2, 0, 7, 0, 6.28, 628]
    canvas = Canvas(figure.name, "en", "light")
    with use_style(canvas):
        figure._draw(canvas)
        circles = [patch for patch in canvas.drawn.axes[0].patches if isinstance(patch, Circle)]
    assert len(circles) == 2 * 2 * 2  # a dial and the hub of its hand


@pytest.mark.parametrize("step", [1, 3, 10])
def test_the_turning_is_the_step_times_the_frequency(step):
    angles = [math.degrees(step * frequencies(64)[pair].item()) for pair in (4, 8)]
    for language in languages():
        shown = numbers(sinusoidal.turning(step=step).alt(language))
        assert {round(angle, 1) for angle in angles} <= set(shown)


def test_the_far_offset_that_is_named_is_more_alike_than_the_near_one():
    shown = numbers(waves.similarity().alt("en"))
    far, more, near, less = shown[-4:]
    products = [torch.cos(k * frequencies(64)).sum().item() for k in (far, near)]
    assert far > near and products[0] > products[1]
    assert [round(product, 1) for product in products] == [more, less]


def test_wavelengths_end_before_two_pi_times_the_base():
    shown = numbers(waves.wavelength_of_each_pair(64, 4).alt("en"))
    assert {47117.0, 6.28, 628.0} <= set(shown)


def test_the_heat_map_holds_the_table_without_loss():
    figure = waves.heat_map(length=16, width=8)
    svg = figure.svg("en")
    assert svg.count("tp-only-light") == svg.count("tp-only-dark") == 2  # the map and its key
    assert "image/jpeg" not in svg and "data:image/png" in svg


def test_curves_name_their_pairs():
    assert {0.0, 4.0, 8.0, 16.0} <= set(numbers(waves.curves().alt("zh")))


def test_the_sum_figure_takes_the_vectors_that_it_gets():
    tokens = ["a", "b", "a"]
    figure = added.token_plus_position(tokens, torch.zeros(3, 8), columns=8)
    assert "a b a" in figure.alt("en")
    assert figure.svg("en").count("tp-only-light") == 3


def test_four_times_the_weights():
    small, large = 384**2, 768**2
    assert {small, large} <= set(numbers(added.added_or_concatenated(384).alt("zh")))


def test_the_lengths_are_those_of_the_vectors():
    assert numbers(added.lengths(1.07, 384).alt("en"))[1:] == [1.1, 13.9, 21.0]


def test_the_shares_are_said_in_their_order():
    figure = added.read_from_the_sum(
        {"position": (0.1, 0.2), "token": (0.3, 0.4)}, {"position": (0.5, 0.6), "token": (0.7, 0.8)}
    )
    for language in languages():
        shares = re.findall(r"([\d.]+)%", figure.alt(language))
        assert shares == ["10.0", "20.0", "30.0", "40.0", "50.0", "60.0", "70.0", "80.0"]
