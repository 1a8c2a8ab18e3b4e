"""A drawing board for diagrams: text, cells, boxes and arrows in pixel coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.patheffects import withStroke

if TYPE_CHECKING:
    from tokpos.figures._canvas import Canvas

TEXT_SIZE = 14.0
"""In CSS pixels at a figure's natural size (one of matplotlib's points at 72 dpi)."""

LINE_HEIGHT = 1.35
HALF_CAPITAL = 0.36
"""Half the height of a capital letter, in text sizes."""


class Plane:
    """A diagram's drawing board: text, cells and arrows in pixel coordinates, y downwards."""

    def __init__(self, canvas: Canvas, axes: Axes) -> None:
        self.canvas = canvas
        self.axes = axes

    def text(
        self,
        x: float,
        y: float,
        words: str,
        color: str = "ink",
        *,
        size: float = TEXT_SIZE,
        align: str = "center",
        bold: bool = False,
    ) -> None:
        """Words in the color of a role, centered vertically on `y`; lines split at newlines.

        Lines stand on a common baseline, whatever letters they hold: matplotlib's own centering
        would lift a word with a descender above its neighbors.
        """
        lines = words.split("\n")
        for number, line in enumerate(lines):
            middle = y + LINE_HEIGHT * size * (number - (len(lines) - 1) / 2)
            drawn = self.axes.text(
                x,
                middle + HALF_CAPITAL * size,
                line,
                color=self.canvas.color(color),
                fontsize=size,
                ha=cast(Any, align),
                va="baseline",
                fontweight="bold" if bold else "normal",
            )
            if bold and not line.isascii():
                drawn.set_path_effects([withStroke(linewidth=0.7, foreground=drawn.get_color())])

    def cell(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: str = "",
        *,
        fill: str = "paper",
        edge: str = "rule",
        color: str = "ink",
        size: float = TEXT_SIZE,
        bold: bool = False,
        weight: float = 1.0,
    ) -> None:
        """A rectangle with its upper left corner at `x`, `y`, and words in its middle."""
        self.axes.add_patch(
            Rectangle(
                (x, y),
                width,
                height,
                facecolor=self.canvas.color(fill),
                edgecolor=self.canvas.color(edge),
                linewidth=weight,
            )
        )
        if words:
            self.text(x + width / 2, y + height / 2, words, color, size=size, bold=bold)

    def cells(
        self,
        x: float,
        y: float,
        rows: Sequence[Sequence[str]],
        width: float,
        height: float,
        **look: Any,
    ) -> None:
        """A matrix of cells of one look; each is `width` by `height`."""
        for i, row in enumerate(rows):
            for j, words in enumerate(row):
                self.cell(x + j * width, y + i * height, width, height, words, **look)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "paper",
        edge: str = "rule",
        radius: float = 8.0,
        weight: float = 1.2,
    ) -> None:
        """A rectangle with round corners."""
        self.axes.add_patch(
            FancyBboxPatch(
                (x + radius, y + radius),
                width - 2 * radius,
                height - 2 * radius,
                boxstyle=f"round,pad={radius}",
                facecolor=self.canvas.color(fill),
                edgecolor=self.canvas.color(edge),
                linewidth=weight,
            )
        )

    def arrow(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        color: str = "faint",
        *,
        weight: float = 1.6,
        bend: float = 0.0,
    ) -> None:
        """An arrow from `start` to `end`; `bend` curves it."""
        self.axes.add_patch(
            FancyArrowPatch(
                start,
                end,
                arrowstyle="-|>,head_length=6,head_width=3.2",
                mutation_scale=1,
                shrinkA=0,
                shrinkB=0,
                color=self.canvas.color(color),
                linewidth=weight,
                connectionstyle=f"arc3,rad={bend}",
            )
        )

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        color: str = "rule",
        *,
        weight: float = 1.2,
        dashed: bool = False,
    ) -> None:
        """A straight line."""
        self.axes.plot(
            [start[0], end[0]],
            [start[1], end[1]],
            color=self.canvas.color(color),
            linewidth=weight,
            linestyle=(0, (3, 3)) if dashed else "-",
        )
