"""Figures: the same bytes each time, every language, legible, and safe beside one another."""

from __future__ import annotations

import ast
import io
import json
import pkgutil
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.colors
import pytest
from matplotlib.figure import Figure as Sheet
from matplotlib.text import Text
from PIL import Image

import tokpos.figures
from tokpos import _words
from tokpos.figures import Figure, MissingGlyphError, MissingWordError, languages, palette
from tokpos.figures._canvas import Canvas

PACKAGE = Path(tokpos.figures.__file__).parents[1]
SUBJECTS = [m.name for m in pkgutil.iter_modules(tokpos.figures.__path__) if m.name[0] != "_"]
# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")

PHONE = 358
"""Pixels that a figure gets on a screen of 390 px."""


@cache
def gallery(subject: str) -> list[Figure]:
    return list(import_module(f"tokpos.figures.{subject}").gallery())


@cache
def drawn(figure: Figure, language: str) -> tuple[str, Sheet]:
    """The picture for a page, and the sheet that it was taken from: each is drawn once."""
    canvases = []
    draw = figure._draw
    figure._draw = lambda canvas: canvases.append(canvas) or draw(canvas)
    text = figure.svg(language)
    figure._draw = draw
    return text, canvases[0].drawn


def svg(figure: Figure, language: str) -> str:
    return drawn(figure, language)[0]


each_subject = pytest.mark.parametrize("subject", SUBJECTS)


def probe(draw, alt=lambda say: say("the table")) -> Figure:
    return Figure("probe", draw, alt)


# Every figure of the package


def test_names_are_fit_for_files_and_no_two_are_the_same():
    names = [figure.name for subject in SUBJECTS for figure in gallery(subject)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z][a-z0-9-]*", name) for name in names)


@each_subject
def test_the_same_bytes_each_time(subject):
    second = next(iter(import_module(f"tokpos.figures.{subject}").gallery()))
    assert svg(gallery(subject)[0], "zh") == second.svg("zh")


@each_subject
def test_alone_in_its_ids_and_styles(subject):
    for figure in gallery(subject):
        for language in languages():
            text = svg(figure, language)
            root = ElementTree.fromstring(text)
            ids = [element.get("id") for element in root.iter() if element.get("id")]
            wanted = set(re.findall(r'(?:href="#|url\(#)([^")]*)', text))
            assert len(set(ids)) == len(ids)
            assert set(ids) == wanted
            assert all(name.startswith(f"{figure.name}-") for name in ids)
            assert "<style" not in text and "<script" not in text
            assert root.get("role") == "img" and root.get("aria-label") == figure.alt(language)


@each_subject
def test_colors_are_variables_in_a_page_and_values_in_a_file(subject):
    for figure in gallery(subject):
        page = re.sub("<image.*?>", "", svg(figure, "en"), flags=re.DOTALL)
        assert not re.search(r"#[0-9a-f]{6}", page)
        assert set(re.findall(r"var\(--tp-([a-z-]*)\)", page)) <= set(palette())
    dark = gallery(subject)[0].svg("en", "dark")
    assert "var(" not in dark and palette()["paper"]["dark"] in dark


@each_subject
def test_text_is_large_enough_for_a_phone_inside_the_sheet_and_apart(subject):
    for figure in gallery(subject):
        for language in languages():
            sheet = drawn(figure, language)[1]
            boxes = {text: text.get_window_extent() for text in shown_texts(sheet)}
            shrunk = min(1, PHONE / (72 * sheet.get_figwidth()))
            where = f"{figure.name} in {language}"
            for text, box in boxes.items():
                assert text.get_fontsize() * shrunk > 8.7, f"{where}: {text.get_text()!r} is tiny"
                inside = sheet.bbox.padded(1)
                assert inside.contains(*box.min) and inside.contains(*box.max), (
                    f"{where}: {text.get_text()!r} leaves the sheet"
                )
            for (one, here), (other, there) in combinations(boxes.items(), 2):
                assert not here.padded(-1.5).overlaps(there.padded(-1.5)), (
                    f"{where}: {one.get_text()!r} lies on {other.get_text()!r}"
                )


def shown_texts(sheet) -> list[Text]:
    """The texts of a drawing, without the labels of ticks that are not drawn."""
    axes = [(a, axis) for a in sheet.axes for axis in (a.xaxis, a.yaxis)]
    ticks = {t for _, axis in axes for t in (*axis.get_major_ticks(), *axis.get_minor_ticks())}
    unused = ticks - {t for a, axis in axes if a.axison for t in axis._update_ticks()}
    hidden = {label for tick in unused for label in (tick.label1, tick.label2)}
    return [
        text
        for text in sheet.findobj(Text)
        if text.get_text().strip() and text.get_visible() and text not in hidden
    ]


# Words


def test_catalogues_hold_only_what_the_code_says():
    said = {
        node.value
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }

    for path in _words.CATALOGUES.glob("*.json"):
        for english, words in json.loads(path.read_text(encoding="utf-8")).items():
            assert english in said, f"{path.name}: nothing says {english!r}"
            assert words.strip()


def test_a_missing_word_is_an_error_that_names_figure_language_and_word():
    figure = probe(lambda canvas: canvas.plane(90, 40).text(45, 20, canvas.say("no such words")))
    assert "<svg" in figure.svg("en")
    with pytest.raises(MissingWordError, match=r"'probe' in language 'zh'.*zh.json.*no such words"):
        figure.svg("zh")
    with pytest.raises(MissingWordError, match="nor these"):
        probe(lambda canvas: canvas.plane(9, 9), lambda say: say("nor these")).alt("zh")


def test_a_missing_glyph_is_an_error_that_names_figure_language_and_character():
    figure = probe(lambda canvas: canvas.plane(90, 40).text(45, 20, "cat 🐈"))
    for make in (figure.svg, figure.png):
        with pytest.raises(MissingGlyphError, match=r"'probe' in language 'zh'.*'🐈' \(U\+1F408\)"):
            make("zh")


def test_a_new_language_is_one_new_file(tmp_path, monkeypatch):
    (tmp_path / "de.json").write_text('{"the table": "die Tabelle"}', encoding="utf-8")
    monkeypatch.setattr(_words, "CATALOGUES", tmp_path)
    figure = probe(lambda canvas: canvas.plane(150, 40).text(75, 20, canvas.say("the table")))
    assert languages() == ("en", "de")
    assert figure.alt("de") == "die Tabelle"
    shown = figure._repr_mimebundle_()[tokpos.figures.LANGUAGES_MIME]
    assert set(shown) == {"en", "de"}
    assert "die Tabelle" in shown["de"]["image/svg+xml"]  # its name; the words are drawn as paths
    assert shown["de"]["image/svg+xml"] != shown["en"]["image/svg+xml"]
    assert {path.name for path in figure.save(tmp_path / "saved")} >= {
        f"probe.{language}.{mode}.{kind}"
        for language in ("en", "de")
        for mode in ("light", "dark")
        for kind in ("svg", "png")
    }
    with pytest.raises(ValueError, match="one of en, de; got 'zh'"):
        figure.svg("zh")


# The figure itself


def simple(canvas: Canvas) -> None:
    plane = canvas.plane(200, 60)
    plane.cell(10, 10, 60, 30, "1", fill="token-soft", edge="token")
    plane.text(130, 25, canvas.say("the table"), "token", bold=True)


def test_a_notebook_gets_every_language_for_the_site_and_one_for_itself():
    figure = probe(simple)
    bundle = figure._repr_mimebundle_()
    assert bundle["image/svg+xml"] == figure.svg("en", "light")
    assert bundle["text/plain"] == "the table"
    for language, each in bundle[tokpos.figures.LANGUAGES_MIME].items():
        assert each == {
            "image/svg+xml": figure.svg(language),
            "text/plain": figure.alt(language),
        }
    tokpos.figures.use_language("zh")
    try:
        assert figure._repr_mimebundle_()["text/plain"] == figure.alt("zh")
    finally:
        tokpos.figures.use_language("en")
    with pytest.raises(ValueError, match="language must be one of en, .*; got 'xx'"):
        tokpos.figures.use_language("xx")


def test_save_writes_every_language_and_mode_twice_the_same(tmp_path):
    paths = probe(simple).save(tmp_path / "new" / "folder")
    before = [path.read_bytes() for path in paths]
    assert len(paths) == 2 * 2 * len(languages())
    assert [path.read_bytes() for path in probe(simple).save(tmp_path / "new" / "folder")] == before
    dark = Image.open(io.BytesIO(probe(simple).png("zh", "dark")))
    assert dark.size == (400, 120)
    assert (
        matplotlib.colors.to_hex([part / 255 for part in dark.convert("RGB").getpixel((0, 0))])
        == palette()["paper"]["dark"]
    )


def test_pixels_come_once_for_each_mode():
    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(200, 100).add_axes((0, 0, 1, 1))
        axes.imshow([[0, 1]], cmap=canvas.colormap("paper", "position"))

    svg = probe(draw).svg("en")
    assert svg.count('class="tp-only-light"') == svg.count('class="tp-only-dark"') == 1
    for mode in ("light", "dark"):
        (own,) = re.findall(f'<image class="tp-only-{mode}"([^>]*)>', svg)
        assert re.findall("<image([^>]*)>", probe(draw).svg("en", mode)) == [own]


def test_two_figures_share_no_id():
    one, two = (
        probe(lambda canvas, text=text: canvas.plane(90, 40).text(45, 20, text))
        for text in ("one", "other")
    )
    ids = [set(re.findall(' id="([^"]*)"', figure.svg("en"))) for figure in (one, two)]
    assert ids[0] and not ids[0] & ids[1]


def test_the_readers_settings_change_nothing_and_are_left_alone():
    with matplotlib.rc_context({"font.size": 33, "axes.facecolor": "red"}):
        before = dict(matplotlib.rcParams)
        svg = probe(simple).svg("en")
        assert dict(matplotlib.rcParams) == before
    assert svg == probe(simple).svg("en")


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda canvas: canvas.color("tokens"), ValueError, "paper, ink.*got 'tokens'"),
        (lambda canvas: None, RuntimeError, "'probe' drew nothing"),
        (lambda canvas: (canvas.sheet(9, 9), canvas.sheet(9, 9)), RuntimeError, "second sheet"),
        (
            lambda canvas: canvas.sheet(90, 90).subplots().plot([1, 2], color="#ff0000"),
            ValueError,
            "#ff0000 is not of the palette",
        ),
    ],
)
def test_mistakes_in_a_drawing_are_named(draw, error, message):
    with pytest.raises(error, match=message):
        probe(draw).svg("en")


# Colors


def linear(color: str) -> list[float]:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(one: str, other: str) -> float:
    """Contrast by WCAG 2."""
    light, dark = sorted(
        (0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(linear, (one, other))),
        reverse=True,
    )
    return (light + 0.05) / (dark + 0.05)


TINTED = [role for role in palette() if f"{role}-soft" in palette()]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_is_readable_on_paper_and_on_tints(mode):
    colors = {role: values[mode] for role, values in palette().items()}
    for role in (*TINTED, "ink", "faint"):
        assert contrast(colors[role], colors["paper"]) >= 4.5, role
    for role in TINTED:
        assert contrast(colors[role], colors[f"{role}-soft"]) >= 4.5, role
        assert contrast(colors["ink"], colors[f"{role}-soft"]) >= 4.5, role


# Machado, Oliveira and Fernandes 2009, severity 1, for linear RGB.
EYES = {
    "no deficiency": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def oklab(rgb: list[float]) -> list[float]:
    """Ottosson's OKLab, in which distances are about those that one sees."""
    cones = multiply(
        (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        ),
        [min(max(part, 0), 1) for part in rgb],
    )
    return multiply(
        (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        ),
        [part ** (1 / 3) for part in cones],
    )


def multiply(matrix, vector) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_roles_are_told_apart_by_every_eye(eye, mode):
    seen = {role: oklab(multiply(EYES[eye], linear(palette()[role][mode]))) for role in TINTED}
    for (one, here), (other, there) in combinations(seen.items(), 2):
        distance = sum((a - b) ** 2 for a, b in zip(here, there, strict=True)) ** 0.5
        assert distance > 0.1, f"{one} and {other}"


# What importing costs


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_importing_the_package_imports_neither_matplotlib_nor_transformers():
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
        "sys.modules['jaxtyping'] = None\n"
        "import tokpos, tokpos.lookup, tokpos.results; tokpos.TokenEmbedding(2, 2)\n"
        "print([name for name in ('matplotlib', 'transformers') if name in sys.modules])"
    )
    done = run(code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_figures_need_no_pyplot_and_write_nothing_on_stderr():
    code = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
        "from tokpos.figures.road import road\n"
        "road().svg('zh'); print('matplotlib.pyplot' in sys.modules)"
    )
    done = run(code)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_public_names_are_reached_and_listed():
    import tokpos

    assert set(tokpos.__all__) == set(tokpos._HOME) <= set(dir(tokpos))
    for name, home in tokpos._HOME.items():
        assert getattr(tokpos, name) is getattr(import_module(f"tokpos.{home}"), name)
    for name in tokpos._MODULES:
        assert getattr(tokpos, name) is import_module(f"tokpos.{name}")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tokpos.nothing  # noqa: B018


def test_a_value_takes_the_marks_of_its_language_and_a_shape_does_not(monkeypatch, tmp_path):
    (tmp_path / "zh.json").write_text(json.dumps({"{told}": "{told}", ", ": "、", "; ": "；"}))
    monkeypatch.setattr(_words, "CATALOGUES", tmp_path)
    told = "q and k of [8, 12], v; out"
    assert _words.say("{told}", "zh", "test", told=told) == "q and k of [8, 12]、v；out"
    assert _words.say("{told}", "en", "test", told=told) == told
