"""Relative positions: the matrix of offsets, Shaw's clipping, Transformer-XL's terms and shift."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._matrix import draw_matrix, name_axes
from tokpos.figures._numbers import signed
from tokpos.position import offsets
from tokpos.shaw import clipped_offsets
from tokpos.transformer_xl import relative_shift

WIDTH = 520.0
SMALL = 13.0


def offset_matrix(tokens: Sequence[str] = ("A", "B", "C", "D")) -> Figure:
    """The offset of every pair of a short sentence: the same along each diagonal.

    Parameters
    ----------
    tokens
        The tokens, at positions 0, 1, 2, ...

    Returns
    -------
    Figure
        A figure named ``relative-offsets``.
    """
    place = torch.arange(len(tokens))
    numbers = offsets(place, place).tolist()

    def draw(canvas: Canvas) -> None:
        side = 56.0
        plane = canvas.plane(WIDTH, 116 + side * len(tokens))
        x, y = 130.0, 60.0
        name_axes(plane, x, y, side, tokens, tokens)

        def look(i: int, j: int) -> tuple[str, str]:
            return ("rule", "ink") if i == j else ("position-soft", "position")

        rows = [[signed(number) for number in row] for row in numbers]
        draw_matrix(plane, x, y, side, rows, look, size=17)
        end = x + side * len(tokens)
        plane.text(end + 16, y + side * 0.5, canvas.say("+: to the right"), align="left")
        plane.text(end + 16, y + side * 1.5, canvas.say("0: itself"), align="left")
        plane.text(end + 16, y + side * 2.5, canvas.say("−: to the left"), align="left")
        words = canvas.say("offset = key position − query position")
        plane.text(x + side * len(tokens) / 2, y + side * len(tokens) + 26, words, "position")

    def alt(say: Say) -> str:
        return say(
            "A square of offsets for the tokens {tokens}: a row for each query, a column for each "
            "key. The diagonal is 0, to the right of it stand {right}, to the left {left}. Each "
            "diagonal holds one number.",
            tokens=" ".join(tokens),
            right=", ".join(signed(number) for number in numbers[0][1:]),
            left=", ".join(signed(row[0]) for row in numbers[1:]),
        )

    return Figure("relative-offsets", draw, alt)


def clipped_matrix(length: int = 7, clip: int = 2) -> Figure:
    """Shaw's clipping: beyond k every key on a side shares one vector.

    Parameters
    ----------
    length
        Number of positions S.
    clip
        Largest offset k that is told apart.

    Returns
    -------
    Figure
        A figure named ``relative-clipped``.
    """
    place = torch.arange(length)
    rows = clipped_offsets(offsets(place, place), clip) - clip
    shared = offsets(place, place).abs() > clip

    def draw(canvas: Canvas) -> None:
        side = 42.0
        plane = canvas.plane(WIDTH, 186 + side * length)
        x, y = (WIDTH - side * length) / 2 + 20, 60.0
        names = [str(number) for number in range(length)]
        name_axes(plane, x, y, side, names, names)

        def look(i: int, j: int) -> tuple[str, str]:
            return ("rule", "ink") if shared[i, j] else ("position-soft", "position")

        words = [[signed(number) for number in row] for row in rows.tolist()]
        draw_matrix(plane, x, y, side, words, look)
        top = y + side * length + 62
        heading = canvas.say(
            "k = {clip}: {count} learned vectors, one for each number",
            clip=clip,
            count=2 * clip + 1,
        )
        plane.text(WIDTH / 2, top - 34, heading, bold=True)
        width = min(84.0, (WIDTH - 20) / (2 * clip + 1))
        left = (WIDTH - width * (2 * clip + 1)) / 2
        for n in range(-clip, clip + 1):
            plane.cell(
                left + (n + clip) * width,
                top - 12,
                width,
                36,
                f"a({signed(n)})",
                fill="position-soft",
                edge="position",
                color="position",
            )
        plane.text(WIDTH / 2, top + 46, canvas.say("gray: clipped"), "faint", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "The offsets of {length} positions, clipped at {clip}. In the band around the diagonal "
            "stand −{clip} to +{clip}; all {shared} cells further out are gray and repeat −{clip} "
            "on the left and +{clip} on the right. Below, the {count} learned vectors.",
            length=length,
            clip=clip,
            shared=int(shared.sum()),
            count=2 * clip + 1,
        )

    return Figure("relative-clipped", draw, alt)


def four_terms() -> Figure:
    """Transformer-XL's score: who asks, crossed with what is asked.

    Returns
    -------
    Figure
        A figure named ``transformer-xl-terms``.
    """
    terms = (
        ("(a)", "q · k", "content asks for content"),
        ("(b)", "q · r", "content asks for a distance"),
        ("(c)", "u · k", "everyone asks for content"),
        ("(d)", "v · r", "everyone asks for a distance"),
    )

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 372), canvas.say
        width, height, left, top = 206.0, 92.0, 92.0, 62.0
        columns = (("key", "the key k"), ("position", "the distance, r"))
        for j, (role, words) in enumerate(columns):
            x = left + j * (width + 8)
            plane.text(x + width / 2, top - 28, say(words), role, bold=True)
            plane.box(x - 2, top - 6, width + 4, 2 * height + 20, edge=role, weight=1.8)
            total = "(q + u) · k" if j == 0 else "(q + v) · r"
            plane.arrow((x + width / 2, 266), (x + width / 2, 296), role)
            plane.text(x + width / 2, 314, total, role, size=17, bold=True)
            door = say("door 2 adds u") if j == 0 else say("door 3, inside the division")
            plane.text(x + width / 2, 342, door, "faint", size=SMALL)
        for i, words in enumerate(("the query q", "learned u, v")):
            y = top + height / 2 + i * (height + 8)
            plane.text(left - 14, y, say(words).replace(" ", "\n", 1), "query", align="right")
        for number, (letter, product, meaning) in enumerate(terms):
            i, j = divmod(number, 2)
            x, y = left + 6 + j * (width + 8), top + i * (height + 8)
            fill = "key-soft" if j == 0 else "position-soft"
            plane.cell(x, y, width - 12, height, fill=fill)
            plane.text(x + 10, y + 20, letter, "faint", align="left")
            plane.text(x + width / 2 - 6, y + 34, product, size=19, bold=True)
            plane.text(x + width / 2 - 6, y + 70, say(meaning), size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "The four terms of a score as a table of two by two. The query q and the learned "
            "vectors u and v each meet the key k and the encoded distance r: (a) q·k, (b) q·r, "
            "(c) u·k, (d) v·r. The first column adds up to (q + u)·k, the second to (q + v)·r."
        )

    return Figure("transformer-xl-terms", draw, alt)


def shift(length: int = 3) -> Figure:
    """Transformer-XL's shift in four pictures: pad, read in another shape, drop a row.

    Parameters
    ----------
    length
        Number of positions S, from 2 to 4.

    Returns
    -------
    Figure
        A figure named ``transformer-xl-shift``.

    Raises
    ------
    ValueError
        If the length is another.
    """
    if not 2 <= length <= 4:
        raise ValueError(f"length must lie in 2..4 to be drawn, got {length}")
    x = torch.arange(1.0, length**2 + 1).reshape(length, length)
    padded = torch.cat([torch.zeros(length, 1), x], 1)
    tall = padded.reshape(length + 1, length)
    shifted, marked = relative_shift(x), relative_shift(x, junk=-1.0)

    def draw(canvas: Canvas) -> None:
        side, say = 36.0, canvas.say
        panel = side * (length + 1)
        plane = canvas.plane(WIDTH, 2 * panel + 186)
        lefts, tops = (70.0, WIDTH - 70 - panel), (76.0, panel + 146)

        def cells(k: int, numbers: torch.Tensor, look: Callable[[int, int], str]) -> None:
            rows = [[f"{n:g}" for n in row] for row in numbers.tolist()]
            at = lefts[k % 2], tops[k // 2]
            draw_matrix(plane, *at, side, rows, lambda i, j: (look(i, j), "ink"), size=16)

        titles = (
            "1. a column for each distance",
            "2. zeros in front",
            "3. read with one more row,\ndrop the first",
            "4. a column for each key",
        )
        for k, words in enumerate(titles):
            plane.text(lefts[k % 2] + panel / 2 - 18, tops[k // 2] - 52, say(words), bold=True)
        for j in range(length):
            middle = (j + 0.5) * side
            plane.text(lefts[0] + middle, tops[0] - 16, str(length - 1 - j), "position")
            plane.text(lefts[1] + middle, tops[1] - 16, str(j), "key")
        for i in range(length):
            for k in (0, 3):
                y = tops[k // 2] + (i + 0.5) * side
                plane.text(lefts[k % 2] - 16, y, str(i), "query")
        cells(0, x, lambda i, j: "position-soft" if j >= length - 1 - i else "rule")
        cells(1, padded, lambda i, j: "paper" if j == 0 else "position-soft")
        cells(2, tall, lambda i, j: "paper" if i == 0 else "position-soft")
        y = tops[1] + side / 2
        plane.line((lefts[0] - 8, y), (lefts[0] + length * side + 8, y), "ink", weight=2)
        cells(3, shifted, lambda i, j: "rule" if marked[i, j] < 0 else "position-soft")
        words = say("gray: not meant, in the future; mask it")
        plane.text(WIDTH / 2, 2 * panel + 168, words, "faint", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "The shift in four steps, with the numbers 1 to {last}. A square has a column for each "
            "distance; zeros are put in front; the same numbers are read with one more row and the "
            "first row is dropped. In the result, {rows}, row i stands against keys; the {junk} "
            "entries in the future are gray.",
            last=length**2,
            rows="; ".join(" ".join(f"{n:g}" for n in row) for row in shifted.tolist()),
            junk=int((marked < 0).sum()),
        )

    return Figure("transformer-xl-shift", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield offset_matrix()
    yield clipped_matrix()
    yield four_terms()
    yield shift()
