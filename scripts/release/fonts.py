"""The fonts of the book, the same on every machine; they come with what draws the figures.

Latin letters are STIX and code is DejaVu Sans Mono, both from Matplotlib. Chinese is Song, and Hei
where it is heavy and in code: Noto Serif SC and Noto Sans SC. Of these, only the characters of the
book are taken, and with TrueType outlines. Chromium would put their own outlines into the PDF as
drawings, and for many characters it would say that they are the radicals that look the same: the
words could be seen but not found.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
import pylopdf_fonts_zh_cn
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

ERROR = 1.0  # of an outline, in thousandths of a character's width

_LATIN = "U+0-2DFF, U+1D400-1D7FF"
# Without the marks that Chinese text has too, as wide as a character: — ‘’“” …
_LATIN_AMONG_CHINESE = "U+0-2013, U+2015-2017, U+201E-2025, U+2027-2DFF, U+1D400-1D7FF"


def faces(language: str, characters: Iterable[str], folder: Path) -> str:
    """Style rules for the families BookText, BookHan, BookSigns, BookCode, BookCodeHan.

    What is made for it goes into `folder`, which is beside the document.
    """
    latin = _LATIN_AMONG_CHINESE if language == "zh" else _LATIN
    ttf = Path(matplotlib.get_data_path(), "fonts", "ttf")
    song = _small(pylopdf_fonts_zh_cn.serif_path(), characters, folder)
    hei = _small(pylopdf_fonts_zh_cn.sans_path(), characters, folder)
    rules = [
        _face("BookText", ttf / "STIXGeneral.ttf", 400, "normal", latin),
        _face("BookText", ttf / "STIXGeneralItalic.ttf", 400, "italic", latin),
        _face("BookText", ttf / "STIXGeneralBol.ttf", 700, "normal", latin),
        _face("BookText", ttf / "STIXGeneralBolIta.ttf", 700, "italic", latin),
        _face("BookHan", song, 400),
        _face("BookHan", hei, 700),
        _face("BookSigns", ttf / "DejaVuSans.ttf", 400),
        _face("BookCode", ttf / "DejaVuSansMono.ttf", 400),
        _face("BookCode", ttf / "DejaVuSansMono-Bold.ttf", 700),
        _face("BookCodeHan", hei, 400),
    ]
    return "\n".join(rules)


def _face(
    family: str, path: Path, weight: int, style: str = "normal", characters: str = "U+0-10FFFF"
) -> str:
    return (
        f'@font-face {{ font-family: {family}; src: url("{path.as_uri()}"); font-weight: {weight};'
        f" font-style: {style}; unicode-range: {characters} }}"
    )


def _small(source: Path, characters: Iterable[str], folder: Path) -> Path:
    """A font with some characters of another alone, and with TrueType outlines."""
    path = folder / source.with_suffix(".ttf").name
    with TTFont(source, lazy=True) as font:
        _with_characters(font, characters).save(path)
    return path


def _with_characters(font: TTFont, characters: Iterable[str]) -> TTFont:
    known, drawn = font.getBestCmap(), font.getGlyphSet()
    glyphs = {ord(each): known[ord(each)] for each in characters if ord(each) in known}
    names = [".notdef", *sorted(set(glyphs.values()) - {".notdef"})]
    outlines = {name: _outline(drawn[name]) for name in names}

    built = FontBuilder(font["head"].unitsPerEm)
    built.updateHead(created=font["head"].created, modified=font["head"].modified)
    built.setupGlyphOrder(names)
    built.setupCharacterMap(glyphs)
    built.setupGlyf(outlines)
    starts = built.font["glyf"]
    built.setupHorizontalMetrics(
        {name: (round(drawn[name].width), getattr(starts[name], "xMin", 0)) for name in names}
    )
    built.setupHorizontalHeader(ascent=font["hhea"].ascent, descent=font["hhea"].descent)
    family, exact = (font["name"].getDebugName(number) for number in (1, 6))
    built.setupNameTable({"familyName": family, "styleName": "Regular", "psName": exact})
    built.setupOS2(sTypoAscender=font["hhea"].ascent, sTypoDescender=font["hhea"].descent)
    built.setupPost(keepGlyphNames=False)
    built.font.recalcTimestamp = False  # the same bytes at any time
    return built.font


def _outline(glyph: Any) -> Any:
    pen = TTGlyphPen(None)
    glyph.draw(Cu2QuPen(pen, max_err=ERROR, reverse_direction=True))
    return pen.glyph()
