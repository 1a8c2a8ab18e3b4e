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

import matplotlib
import pylopdf_fonts_zh_cn
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont, newTable

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
    """The font with some characters alone, and with TrueType outlines."""
    font = TTFont(source, recalcTimestamp=False)
    options = Options(layout_features=[], notdef_outline=True, drop_tables=["VORG", "BASE"])
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=map(ord, characters))
    subsetter.subset(font)
    _to_truetype(font)
    path = folder / source.with_suffix(".ttf").name
    font.save(path)
    return path


def _to_truetype(font: TTFont) -> None:
    drawn, names = font.getGlyphSet(), font.getGlyphOrder()
    glyphs = {}
    for name in names:
        pen = TTGlyphPen(drawn)
        drawn[name].draw(Cu2QuPen(pen, max_err=ERROR, reverse_direction=True))
        glyphs[name] = pen.glyph()
    outlines = font["glyf"] = newTable("glyf")
    outlines.glyphs, outlines.glyphOrder = glyphs, names
    font["loca"] = newTable("loca")
    del font["CFF "]
    for name in names:
        outlines[name].recalcBounds(outlines)
        font["hmtx"][name] = (font["hmtx"][name][0], getattr(outlines[name], "xMin", 0))
    limits = font["maxp"]
    limits.tableVersion = 0x00010000
    limits.maxZones, limits.maxComponentElements = 1, 0
    for unused in (
        "maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxInstructionDefs",
        "maxStackElements", "maxSizeOfInstructions",
    ):  # fmt: skip
        setattr(limits, unused, 0)
    font["post"].formatType = 3.0
    font.sfntVersion = "\0\1\0\0"
