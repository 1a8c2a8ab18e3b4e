"""What a drawing gets in hand: words of one language, colors by role, a sheet to draw on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, cast

import matplotlib
from matplotlib import font_manager
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure as Sheet
from pylopdf_fonts_zh_cn import sans_path

from tokpos._words import say
from tokpos.figures._palette import Colors, color_of
from tokpos.figures._plane import TEXT_SIZE, Plane

FAMILY = ["DejaVu Sans", "Noto Sans SC"]


@cache
def _register_chinese_font() -> None:
    fonts = font_manager.fontManager
    fonts.addfont(str(sans_path()))
    # The package has the regular weight only. matplotlib would report each search for the bold
    # one on stderr, so the same file answers for both and `Plane.text` thickens the strokes.
    regular = next(font for font in reversed(fonts.ttflist) if font.name == FAMILY[1])
    fonts.ttflist.append(replace(regular, weight=700))


@cache
def drawable_characters() -> frozenset[int]:
    """Code points for which a font of the family has a glyph."""
    _register_chinese_font()
    paths = [font_manager.findfont(name, fallback_to_default=False) for name in FAMILY]
    fonts = [font_manager.get_font(path) for path in paths]
    return frozenset(code for font in fonts for code in font.get_charmap())


class Canvas:
    """One drawing in one language with one set of colors.

    Parameters
    ----------
    name : str
        The figure's name, for messages.
    language : str
        Language of `say`.
    colors : {"css", "light", "dark"}
        CSS variables, or the fixed values of one mode.
    """

    def __init__(self, name: str, language: str, colors: Colors) -> None:
        self.name = name
        self.language = language
        self.colors = colors
        self._sheet: Sheet | None = None

    def say(self, english: str, /, **values: object) -> str:
        """The words of this language for `english`, with `values` put into its braces."""
        return say(english, self.language, f"figure {self.name!r}", **values)

    def color(self, role: str) -> str:
        """The color of a role: ``ink``, ``faint``, ``token``, ``token-soft``, ..."""
        return color_of(role, self.colors)

    def colormap(self, *roles: str) -> Colormap:
        """A color scale through the given roles, for ``imshow``.

        Pixels know no CSS variables: a page gets one picture for each mode and shows one.
        """
        mode: Colors = "light" if self.colors == "css" else self.colors
        return LinearSegmentedColormap.from_list(
            f"{self.name}-scale", [color_of(role, mode) for role in roles]
        )

    def sheet(self, width: float, height: float) -> Sheet:
        """A matplotlib figure of that many pixels, to be filled with axes; once a drawing."""
        if self._sheet is not None:
            raise RuntimeError(f"figure {self.name!r} asks for a second sheet")
        self._sheet = Sheet(figsize=(width / 72, height / 72))
        return self._sheet

    def plane(self, width: float, height: float) -> Plane:
        """A sheet for a diagram: coordinates in pixels, the origin in the upper left corner."""
        axes = self.sheet(width, height).add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        return Plane(self, axes)

    @property
    def drawn(self) -> Sheet:
        """The sheet that was drawn on."""
        if self._sheet is None:
            raise RuntimeError(f"figure {self.name!r} drew nothing")
        return self._sheet

    def style(self) -> dict[str, Any]:
        """matplotlib's settings for this canvas."""
        _register_chinese_font()
        ink, faint, rule = self.color("ink"), self.color("faint"), self.color("rule")
        return {
            "font.family": FAMILY,
            "font.size": TEXT_SIZE,
            "axes.titlesize": TEXT_SIZE,
            "axes.labelsize": TEXT_SIZE,
            "xtick.labelsize": TEXT_SIZE,
            "ytick.labelsize": TEXT_SIZE,
            "legend.fontsize": TEXT_SIZE,
            "axes.unicode_minus": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.facecolor": "none",
            "axes.edgecolor": faint,
            "axes.labelcolor": ink,
            "axes.titlecolor": ink,
            "axes.linewidth": 1.0,
            "axes.grid": False,
            "grid.color": rule,
            "grid.linewidth": 0.8,
            "text.color": ink,
            "xtick.color": faint,
            "ytick.color": faint,
            "lines.color": ink,
            "lines.linewidth": 2.2,
            "patch.edgecolor": ink,
            "patch.facecolor": self.color("paper"),
            "hatch.color": faint,
            "legend.frameon": False,
            "legend.labelcolor": ink,
            "figure.facecolor": "none",
            "figure.edgecolor": "none",
            "image.interpolation": "nearest",
            "svg.fonttype": "path",
            "svg.hashsalt": self.name,
        }


@contextmanager
def use_style(canvas: Canvas) -> Iterator[None]:
    """matplotlib in the canvas's style, whatever the reader has set; put back afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        cast(Any, matplotlib.rcParams).update(canvas.style())
        yield
