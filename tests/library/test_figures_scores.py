"""The figures of relative positions, ALiBi and T5 say what is so."""

from __future__ import annotations

import math
import re

import pytest
import torch
from matplotlib.patches import Rectangle

from tests.library.alt_text import alt
from tokpos.alibi import alibi_slopes
from tokpos.figures import alibi, languages, relative, t5
from tokpos.figures._canvas import Canvas, use_style

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def numbers(text: str) -> list[float]:
    found = re.findall(r"(?<![\w.])[−-]?\d+(?:\.\d+)?", text.replace("−", "-"))
    return [float(number) for number in found]


def texts(figure, language="en") -> list[str]:
    canvas = Canvas(figure.name, language, "light")
    with use_style(canvas):
        figure._draw(canvas)
        return [text.get_text() for axes in canvas.drawn.axes for text in axes.texts]


def cells(figure) -> int:
    canvas = Canvas(figure.name, "en", "light")
    with use_style(canvas):
        figure._draw(canvas)
        return sum(isinstance(patch, Rectangle) for patch in canvas.drawn.axes[0].patches)


def test_the_offsets_of_four_tokens():
    figure = relative.offset_matrix()
    shown = [text for text in texts(figure) if re.fullmatch(r"0|[+−]\d", text)]
    assert shown == "0 +1 +2 +3 −1 0 +1 +2 −2 −1 0 +1 −3 −2 −1 0".split()
    for language in languages():
        assert "+1, +2, +3" in alt(figure, language) and "−1, −2, −3" in alt(figure, language)


@pytest.mark.parametrize(("length", "clip"), [(7, 2), (5, 1), (4, 3)])
def test_clipped_cells_are_counted(length, clip):
    figure = relative.clipped_matrix(length, clip)
    beyond = sum(abs(i - j) > clip for i in range(length) for j in range(length))
    for language in languages():
        assert {length, beyond, 2 * clip + 1} <= set(numbers(alt(figure, language)))
    assert cells(figure) == length**2 + 2 * clip + 1
    assert max(numbers(" ".join(t for t in texts(figure) if t[0] in "+−"))) == clip


def test_the_shift_ends_in_the_right_matrix():
    figure = relative.shift()
    for language in languages():
        assert "3 0 4; 5 6 0; 7 8 9" in alt(figure, language)
        assert numbers(alt(figure, language).split("7 8 9")[1]) == [3]
    assert cells(figure) == 9 + 12 + 12 + 9
    with pytest.raises(ValueError, match=r"length must lie in 2..4 to be drawn, got 5"):
        relative.shift(5)


def test_the_four_terms_are_all_there():
    shown = texts(relative.four_terms(), "zh")
    for term in ("q · k", "q · r", "u · k", "v · r", "(q + u) · k", "(q + v) · r"):
        assert shown.count(term) == 1


def test_each_head_says_its_slope_and_how_far_it_sees():
    figure = alibi.bias_of_heads(length=64)
    for language in languages():
        assert "1/2, 1/4, 1/8, 1/16, 1/32, 1/64, 1/128, 1/256" in alt(figure, language)
        assert "2, 4, 8, 16, 32, 64, 64, 64" in alt(figure, language)
    assert alibi.bias_of_heads(3).alt("en").startswith("3 maps")
    with pytest.raises(ValueError, match=r"heads must lie in 1..8 to be drawn, got 12"):
        alibi.bias_of_heads(12)


def test_twelve_heads_are_not_sorted():
    for language in languages():
        assert "0.707, 0.354, 0.177, 0.088" in alt(alibi.slopes_of_heads(), language)
    rest = [f"{slope:.3f}" for slope in alibi_slopes(12)[8:].tolist()]
    assert rest == ["0.707", "0.354", "0.177", "0.088"]


def test_the_shares_are_those_of_the_softmax():
    scores = torch.randn(16, generator=torch.Generator().manual_seed(0)).double()
    biased = scores - 0.25 * torch.arange(15, -1, -1)
    shares = [round(100 * each.softmax(-1)[-4:].sum().item()) for each in (scores, biased)]
    for language in languages():
        assert {*shares, 16.0, 4.0} <= set(numbers(alt(alibi.softmax_before_and_after(), language)))


def test_the_map_names_where_the_far_buckets_begin():
    for language in languages():
        text = alt(t5.bucket_map(), language)
        assert "8, 12, 16, 23, 32, 46, 64, 91" in text
        assert {8.0, 15.0, 16.0, 31.0} <= set(numbers(text))


def test_the_bucket_matrix_shows_the_buckets():
    def bucket(offset):
        far = 4 + math.floor(math.log(max(abs(offset), 4) / 4) / math.log(4) * 4 + 1e-9)
        return (8 if offset > 0 else 0) + (abs(offset) if abs(offset) < 4 else min(far, 7))

    figure = t5.bucket_matrix(11, 16, 16)
    row = " ".join(str(bucket(j)) for j in range(11))
    column = " ".join(str(bucket(-i)) for i in range(11))
    for language in languages():
        assert row in alt(figure, language) and column in alt(figure, language)


def test_pictures_hold_every_cell_without_loss():
    for figure, pictures in ((t5.bias_matrix(), 2), (alibi.bias_of_heads(), 9)):
        svg = figure.svg("en")
        assert svg.count("tp-only-light") == svg.count("tp-only-dark") == pictures
        assert "image/jpeg" not in svg
