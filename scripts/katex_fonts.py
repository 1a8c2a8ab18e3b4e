"""What the site's formulas use of KaTeX's fonts, as a style sheet that brings it along.

    python -m scripts.katex_fonts [site]

A page with formulas is not whole before their fonts are there, 60 kB. Of these the formulas use a
quarter, which comes with the site's one style sheet. For any other character browsers load the
whole font, as KaTeX's own sheet says: run this again when formulas have new ones. The site is
built before; fonttools needs the package `brotli` for it.
"""

from __future__ import annotations

import argparse
import base64
import io
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.filter import SoupStrainer
from fontTools import subset
from fontTools.ttLib.tables._g_l_y_f import Glyph

from scripts.files import write_whole

KATEX = Path(__file__).resolve().parent.parent / "docs/assets/vendor/katex"
SHEET = KATEX / "used.css"
FAMILIES = {
    "KaTeX_Main": ("KaTeX_Main-Regular.woff2", "normal"),
    "KaTeX_Math": ("KaTeX_Math-Italic.woff2", "italic"),
    **{f"KaTeX_Size{n}": (f"KaTeX_Size{n}-Regular.woff2", "normal") for n in (1, 2, 3)},
}
NO_WIDTH = 0x200B  # stands in every fraction and index; a font without it would not be enough
_RULE = """\
@font-face {{
  font-family: {family};
  font-style: {style};
  font-weight: 400;
  font-display: block;
  src: url(data:font/woff2;base64,{data}) format("woff2");
  unicode-range: {ranges};
}}
"""


def used(page: str) -> Iterator[tuple[str, bool]]:
    """The characters of a page's formulas, each with whether it is an italic letter."""
    formulas = SoupStrainer(class_="katex-html")
    for text in BeautifulSoup(page, "html.parser", parse_only=formulas).find_all(string=True):
        italic = text.parent is not None and "mathnormal" in text.parent.get_attribute_list("class")
        yield from ((character, italic) for character in text)


def rule(family: str, characters: set[str]) -> str:
    """The rule that brings those of the characters that the family's font has."""
    name, style = FAMILIES[family]
    options = subset.Options(flavor="woff2", hinting=False)
    font = subset.load_font(str(KATEX / "fonts" / name), options)
    codes = {ord(character) for character in {*characters, " "}} & set(font.getBestCmap())
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    font["hmtx"]["no_width"] = (0, 0)
    font["glyf"]["no_width"] = Glyph()
    for table in font["cmap"].tables:
        table.cmap[NO_WIDTH] = "no_width"
    content = io.BytesIO()
    subset.save_font(font, content, options)
    return _RULE.format(
        family=family,
        style=style,
        data=base64.b64encode(content.getvalue()).decode(),
        ranges=", ".join(f"U+{code:X}" for code in sorted({*codes, NO_WIDTH})),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="keep what formulas use of KaTeX's fonts")
    parser.add_argument("site", nargs="?", type=Path, default=Path("site"))
    found: set[tuple[str, bool]] = set()
    for page in parser.parse_args().site.rglob("*.html"):
        found.update(used(page.read_text(encoding="utf-8")))
    rules = [
        rule(family, {character for character, italic in found if italic == (style == "italic")})
        for family, (_, style) in FAMILIES.items()
    ]
    head = "/* Made by scripts/katex_fonts.py from KaTeX's fonts, under its license. */\n"
    write_whole(SHEET, (head + "".join(rules)).encode())
    print(f"{SHEET.stat().st_size / 1000:.1f} kB  {SHEET}")


if __name__ == "__main__":
    main()
