"""The figures of kept results draw the numbers that were measured, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.text import Text

from tokpos.figures import _canvas, languages, measured
from tokpos.results import load

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def drawn(figure, language="en"):
    canvas = _canvas.Canvas(figure.name, language, "light")
    with _canvas.use_style(canvas):
        figure._draw(canvas)
    return canvas.drawn


def words(figure, language="en"):
    return [text.get_text() for text in drawn(figure, language).findobj(Text)]


def row(name, ours=1.5, target=2.0, others=()):
    ways = [
        {"name": "the limit", "ratio": [1, 1, 1], "milliseconds": 1.0},
        {"name": "tokpos", "ratio": [1, ours, 9], "milliseconds": ours},
        {"name": "tokpos, angles included", "ratio": [1, 7.7, 9], "milliseconds": ours},
        *({"name": name, "ratio": [1, ratio, 99], "milliseconds": ratio} for name, ratio in others),
        {"name": "x-transformers", "why_not": "not installed"},
    ]
    demanded = {} if target is None else {"ratio": target}
    return {"name": name, "title": "t", "target": demanded, "ways": ways}


@pytest.fixture
def bench(monkeypatch):
    """A small result of three rows, and the labels for it."""
    labels = {"one": "lookup", "two": "T5 bias", "three": "RoPE"}
    monkeypatch.setitem(measured.SUBJECTS, "rope", labels)
    rows = [
        row("one", others=[("transformers 9.9", 6.5), ("table[ids]", 3.0)]),
        row("two", ours=2.5),
        row("three", target=None),
    ]
    return replace(load("bench"), data={"rows": rows})


def marks(figure):
    """Every mark of the axes with the rows: its shape, where it stands, how it is filled."""
    axes = drawn(figure).axes[0]
    return [
        (line.get_marker(), line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.lines
        if line.get_marker() not in ("None", "", None)
    ]


def test_each_row_has_its_ratio_beside_the_target(bench):
    shown = words(measured.cost_beside_limit(bench, "rope"))
    assert {"1.5 ≤ 2", "2.5 > 2", "1.5", "tokpos", "transformers"} <= set(shown)
    assert "x-transformers" not in shown


def test_marks_stand_at_the_medians(bench):
    first, second, third = (measured.ROW * n + 34 for n in range(3))
    assert sorted(marks(measured.cost_beside_limit(bench, "rope"))) == sorted(
        [
            ("o", 1.5, first),
            ("s", 6.5, first),
            ("o", 3.0, first),
            ("o", 2.5, second),
            ("o", 1.5, third),
        ]
    )


def test_the_axis_is_logarithmic_and_holds_every_mark(bench):
    axes = drawn(measured.cost_beside_limit(bench, "rope")).axes[0]
    low, high = axes.get_xlim()
    assert axes.get_xscale() == "log"
    assert low < 1 and high > 6.5


def test_alt_tells_the_ratios(bench):
    figure = measured.cost_beside_limit(bench, "rope")
    assert "lookup 1.5; T5 bias 2.5; RoPE 1.5" in figure.alt("en")
    assert "查表" in figure.alt("zh") and "2.5" in figure.alt("zh")


def test_a_missing_row_or_an_unknown_subject_is_an_error(bench):
    with pytest.raises(ValueError, match="result must hold sinusoidal-8192, .*; it holds one, two"):
        measured.cost_beside_limit(bench, "tables")
    with pytest.raises(ValueError, match="one of rope, scores, tables; got 'heads'"):
        measured.cost_beside_limit(bench, "heads")
    with pytest.raises(ValueError, match="time or memory; got 'space'"):
        measured.growth_of_cost(load("growth"), "space")


def test_every_kept_row_with_a_ratio_to_keep_is_drawn():
    labelled = {name for rows in measured.SUBJECTS.values() for name in rows}
    kept = {each["name"] for each in load("bench").data["rows"] if "ratio" in each["target"]}
    assert kept - labelled == set()
    assert {curve["name"] for curve in load("growth").data["curves"]} == set(measured.GROWTHS)


@pytest.mark.parametrize("what", ["time", "memory"])
def test_growth_draws_every_way_with_its_exponent(what):
    result = load("growth")
    figure = measured.growth_of_cost(result, what)
    shown, sheet = words(figure), drawn(figure)
    assert len(sheet.axes) == len(measured.GROWTHS)
    for axes, name in zip(sheet.axes, measured.GROWTHS, strict=True):
        [curve] = [each for each in result.data["curves"] if each["name"] == name]
        assert axes.get_xscale() == axes.get_yscale() == "log"
        assert len(axes.lines) == len(curve["ways"])
        for line, way in zip(axes.lines, curve["ways"], strict=True):
            assert list(line.get_xdata()) == curve["sizes"]
            if what == "time":
                assert list(line.get_ydata()) == [cuts[1] for cuts in way["milliseconds"]]
            power = way[f"{what}_exponent"]
            exponent = f"{power or 0:.2f}".replace("-", "−")
            written = "—" if power is None else f"{curve['against']}^{exponent}"
            assert f"{measured.WAYS[way['name']]}: {written}" in shown
            assert written in figure.alt("zh")


def test_all_labels_have_words_in_every_language():
    for figure in measured.gallery():
        for language in languages():
            assert words(figure, language)
