"""The figures of numberings say what is so; their form is tested for all figures."""

from __future__ import annotations

import re

import pytest

from tokpos.figures import languages, numbering
from tokpos.figures._canvas import Canvas, use_style

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def drawn(figure):
    canvas = Canvas(figure.name, "en", "light")
    with use_style(canvas):
        figure._draw(canvas)
        return canvas.drawn.axes[0]


def test_the_words_stand_at_their_ids_and_their_distances_are_told():
    figure = numbering.two_numberings([(4, 5, 6), (800, 12, 95)])
    words = [text.get_text() for text in drawn(figure).texts]
    assert [word for word in words if word.isdigit()] == ["4", "5", "6", "800", "12", "95"]
    assert [word for word in words if "apart" in word] == [
        "1 apart", "2 apart", "788 apart", "705 apart",
    ]  # fmt: skip
    for language in languages():
        numbers = re.findall(r"\d+", figure.alt(language))
        assert numbers == ["1", "4", "5", "6", "1", "2", "2", "800", "12", "95", "788", "705"]


def test_a_strip_has_a_cell_for_each_run():
    kinds, answers = [0, 0, 1, 0, 1, 1], [0, 0, 0, 0, 1, 1]
    figure = numbering.answers_along_ids((sorted(kinds), answers), (kinds, answers))
    cells = drawn(figure).patches
    assert len(cells) == 2 + 2 + 4 + 2
    widths = [cell.get_width() for cell in cells[4:8]]
    assert widths == pytest.approx([500 * part / 6 for part in (2, 1, 1, 2)])
    for language in languages():
        assert "83%" in figure.alt(language) and "4" in figure.alt(language)


def test_each_seed_has_its_dot_and_chance_its_line():
    figure = numbering.accuracies({"raw ID": ([1.0, 0.98], [0.5, 0.55]), "one-hot": ([1.0], [1.0])})
    lines = drawn(figure).lines
    dots = [line.get_xdata()[0] for line in lines if line.get_marker() == "o"]
    chance, certain = (line.get_xdata()[0] for line in lines if line.get_marker() != "o")
    assert dots[0] == certain and dots[2] == chance and len(dots) == 6
    assert chance < dots[3] < dots[1] < certain
    assert "98.0% to 100.0% right, after it 50.0% to 55.0%" in figure.alt("en")
    assert "one-hot: before renumbering 100.0% right" in figure.alt("en")


@pytest.mark.parametrize("ids", [(1, 2), (1, 2, 2), (1, 2, 3, 4)])
def test_three_different_ids_are_asked_for(ids):
    with pytest.raises(ValueError, match=r"3 different IDs; got \[1, 2"):
        numbering.two_numberings([ids])
