"""Figures of order and of the rows of a batch say what is so."""

from __future__ import annotations

import pytest
from matplotlib.text import Text

from tokpos.figures import Figure, broadcasting, languages, order
from tokpos.figures._canvas import Canvas, use_style

pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def texts(figure: Figure, language: str = "en") -> list[str]:
    canvas = Canvas(figure.name, language, "light")
    with use_style(canvas):
        figure._draw(canvas)
        return [text.get_text() for text in canvas.drawn.findobj(Text) if text.get_text()]


def test_each_sample_gets_the_rows_of_its_places():
    figure = broadcasting.rows_added([["a", "b", "c"], ["d", "e", "f"]])
    assert figure.alt("en").endswith("get: 0, 1, 2; 0, 1, 2.")
    assert [word for word in texts(figure) if word.startswith("row")] == [
        "row 0", "row 1", "row 2", "row 0", "row 1", "row 2",
    ]  # fmt: skip


def test_with_the_wrong_axis_each_sample_gets_one_row():
    figure = broadcasting.rows_added([["a", "b", "c"], ["d", "e", "f"]], wrong_axis=True)
    assert figure.alt("en").endswith("get: 0, 0, 0; 1, 1, 1.")
    assert figure.name == "broadcasting-rows-wrong"


def test_only_the_first_two_bags_tell_the_order():
    figure = order.what_was_seen()
    assert figure.alt("en").endswith("those of the places 0, 1 differ.")
    assert texts(figure).count("Tom") == 2 + 6  # in both sentences, and in six bags


def test_bars_and_doors_are_named():
    figure = order.accuracy({"no mask, no positions": 0.25, "causal, 1 layer, learned": 1.0})
    assert {"25%", "100%"} <= set(texts(figure))
    for language in languages():
        assert "RoPE" in order.doors().alt(language)
