"""The figure of the last lesson draws every encoding and every seed of the kept result."""

from __future__ import annotations

import math

import pytest
from matplotlib.text import Text

from tokpos.figures import _canvas, choosing
from tokpos.length import ENCODINGS, LETTERS
from tokpos.results import record

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")

EDGES = [0, 8, 32, 64, 255]


@pytest.fixture
def result():
    """Two tasks, whose losses tell encoding, seed and range."""
    found = {
        name: [[number + seed / 10 + place / 100 for place in range(4)] for seed in range(3)]
        for number, name in enumerate(ENCODINGS)
    }
    data = {"trained": 32, "tested": 256, "edges": EDGES, "spelling": found, "recall": found}
    return record("length", "a script", 0, data)


def drawn(figure, language="en"):
    canvas = _canvas.Canvas(figure.name, language, "light")
    with _canvas.use_style(canvas):
        figure._draw(canvas)
    return canvas.drawn


def test_every_encoding_of_the_experiment_has_a_name():
    assert list(choosing.NAMES) == list(ENCODINGS)


def test_each_panel_has_its_seeds_guessing_and_the_trained_places(result):
    figure = choosing.loss_against_length(result, "recall")
    sheet = drawn(figure)
    assert figure.name == "length-recall"
    assert len(sheet.axes) == len(ENCODINGS)
    for axes, rows in zip(sheet.axes, result.data["recall"].values(), strict=True):
        guess, *seeds = axes.lines
        assert set(guess.get_ydata()) == {math.log(LETTERS)}
        assert [list(line.get_ydata()) for line in seeds] == rows
        assert all(low < place <= high for low, place, high in zip(
            EDGES, seeds[0].get_xdata(), EDGES[1:], strict=False
        ))  # fmt: skip
        assert axes.get_xscale() == "log" and axes.get_xlim() == (choosing.FIRST, 256)
        [ground] = axes.patches
        assert (ground.get_x(), ground.get_x() + ground.get_width()) == (choosing.FIRST, 32)
        assert axes.get_ylim()[1] > max(map(max, result.data["recall"]["alibi"]))


def test_names_stand_over_their_panels(result):
    sheet = drawn(choosing.loss_against_length(result, "spelling"), "zh")
    words = [{text.get_text() for text in axes.findobj(Text)} for axes in sheet.axes]
    assert "不用编码" in words[0] and "瞎猜" in words[0] and "ALiBi" in words[-1]


def test_alt_tells_the_spread_of_the_seeds(result):
    figure = choosing.loss_against_length(result, "spelling")
    assert "no encoding: 0.01–0.21 up to place 32, 0.03–0.23 at the far end" in figure.alt("en")
    assert "位置 32 以内 7.01–7.21" in figure.alt("zh")


def test_an_unknown_task_or_a_missing_encoding_is_an_error(result):
    with pytest.raises(ValueError, match="task must be one of spelling, recall; got 'copy'"):
        choosing.loss_against_length(result, "copy")
    del result.data["recall"]["rope"]
    with pytest.raises(ValueError, match="result must hold rope; it holds none, sinusoidal"):
        choosing.loss_against_length(result, "recall")
