"""A matrix of queries and keys, drawn as square cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokpos.figures._plane import Plane


def draw_matrix(
    plane: Plane,
    x: float,
    y: float,
    side: float,
    rows: Sequence[Sequence[str]],
    look: Callable[[int, int], tuple[str, str]],
    size: float = 14.0,
) -> None:
    """Square cells with words; ``look`` gives fill and color of the cell in row i, column j."""
    for i, row in enumerate(rows):
        for j, words in enumerate(row):
            fill, color = look(i, j)
            plane.cell(
                x + j * side, y + i * side, side, side, words, fill=fill, color=color, size=size
            )


def name_axes(
    plane: Plane, x: float, y: float, side: float, queries: Sequence[str], keys: Sequence[str]
) -> None:
    """The names of queries left of a matrix and of keys above it."""
    say = plane.canvas.say
    for i, name in enumerate(queries):
        plane.text(x - 16, y + (i + 0.5) * side, name, "query", bold=True)
    for j, name in enumerate(keys):
        plane.text(x + (j + 0.5) * side, y - 14, name, "key", bold=True)
    plane.text(x + len(keys) * side / 2, y - 40, say("key"), "key")
    plane.text(x - 34, y + len(queries) * side / 2, say("query"), "query", align="right")
