"""Broadcasting: how axes line up from the right, which rows meet, and why they cost no memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say

WIDTH = 520.0
SMALL = 13.0


def _shape(sizes: Sequence[int]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


def axes_lined_up(tokens: Sequence[int] = (2, 3, 4), positions: Sequence[int] = (3, 4)) -> Figure:
    """Two shapes written under each other from the right: equal, or one of them 1 or missing.

    Parameters
    ----------
    tokens
        Shape of the token rows.
    positions
        Shape of the position rows, with as many axes or fewer.

    Returns
    -------
    Figure
        A figure named ``broadcasting-axes``.
    """
    rows, places = (torch.empty(*shape, device="meta") for shape in (tokens, positions))
    result = (rows + places).shape
    lines = [
        ("token rows", list(tokens), "token"),
        ("position rows", list(positions), "position"),
        ("their sum", list(result), "ink"),
    ]
    count = len(result)

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 270), canvas.say
        left = 152
        step = (WIDTH - left - 12) / count
        names = ["batch", "sequence", "width"][-count:] if count <= 3 else [""] * count
        for column, name in enumerate(names):
            x = left + step * (column + 0.5)
            plane.text(x, 22, say(name) if name else "", "faint", size=SMALL)
        for line, (words, sizes, role) in enumerate(lines):
            y = 44 + 68 * line + (16 if line == 2 else 0)
            plane.text(8, y + 16, say(words), role, align="left", bold=True)
            plane.text(8, y + 38, _shape(sizes), "faint", align="left", size=SMALL)
            for column in range(count):
                at = column - (count - len(sizes))
                x = left + step * column
                if at < 0 or (sizes[at] == 1 and result[column] != 1):
                    given = say("no axis") if at < 0 else "1"
                    repeated = say("{given}:\nrepeated {times}×", given=given, times=result[column])
                    plane.cell(x, y, step - 8, 52, edge="faint", fill="paper")
                    plane.text(x + (step - 8) / 2, y + 26, repeated, "faint", size=SMALL)
                else:
                    soft = "paper" if role == "ink" else f"{role}-soft"
                    plane.cell(
                        x, y, step - 8, 52, str(sizes[at]), fill=soft, edge=role, color=role,
                        size=18, bold=True,
                    )  # fmt: skip
        plane.line((left, 188), (WIDTH - 20, 188), "faint")

    def alt(say: Say) -> str:
        return say(
            "The shapes {tokens} and {positions} under each other, lined up at the right. Where an "
            "axis is 1 or missing it is repeated. The sum has the shape {result}.",
            tokens=_shape(tokens),
            positions=_shape(positions),
            result=_shape(result),
        )

    return Figure("broadcasting-axes", draw, alt)


def stride_zero(batch: int = 3, length: int = 4) -> Figure:
    """One row of positions seen as a batch: every row of the view is the same row in memory.

    Parameters
    ----------
    batch
        Rows of the view.
    length
        Positions in a row.

    Returns
    -------
    Figure
        A figure named ``broadcasting-stride``.
    """
    row = torch.arange(length)
    view = row.expand(batch, length)
    same = view.data_ptr() == row.data_ptr()
    numbers = view.untyped_storage().nbytes() // view.element_size()
    assert same
    cell, gap = 44, 40

    def draw(canvas: Canvas) -> None:
        height = 122 + cell * batch
        plane, say = canvas.plane(WIDTH, height), canvas.say
        seen_x, kept_x = 30, WIDTH - 30 - cell * length
        plane.text(seen_x, 20, say("what is seen"), align="left", bold=True)
        plane.text(kept_x, 20, say("what is in memory"), align="left", bold=True)
        shape = say("shape {shape}", shape=_shape(view.shape))
        plane.text(seen_x, 44, shape, "faint", align="left", size=SMALL)
        stored = say("{count} numbers", count=numbers)
        plane.text(kept_x, 44, stored, "faint", align="left", size=SMALL)
        kept_y = 64 + cell * (batch - 1) / 2
        for i, values in enumerate(view.tolist()):
            y = 64 + cell * i
            for j, value in enumerate(values):
                plane.cell(
                    seen_x + cell * j, y, cell, cell, str(value), fill="position-soft",
                    edge="position", color="position",
                )  # fmt: skip
            start = (seen_x + cell * length + 6, y + cell / 2)
            end = (kept_x - 6, kept_y + cell / 2)
            plane.arrow(start, end, "faint")
        for j, value in enumerate(row.tolist()):
            plane.cell(
                kept_x + cell * j, kept_y, cell, cell, str(value), fill="position-soft",
                edge="position", color="position", bold=True, weight=2,
            )  # fmt: skip
        words = say(
            "stride {stride}: a row further down, {zero} numbers further on in memory",
            stride=f"({', '.join(map(str, view.stride()))})",
            zero=view.stride(0),
        )
        plane.text(WIDTH / 2, height - gap / 2 - 6, words)

    def alt(say: Say) -> str:
        return say(
            "On the left a view of shape {shape}, {batch} equal rows of positions. An arrow from "
            "each row leads to the same {count} numbers in memory: the stride of the first axis "
            "is {zero}.",
            shape=_shape(view.shape),
            batch=batch,
            count=numbers,
            zero=view.stride(0),
        )

    return Figure("broadcasting-stride", draw, alt)


def rows_added(
    texts: Sequence[Sequence[str]] | None = None, length: int = 8, *, wrong_axis: bool = False
) -> Figure:
    """Which row of the position table each token of a batch gets: by its place, or by mistake.

    Parameters
    ----------
    texts
        The tokens of each sample, as many in each; left out, three sentences of four.
    length
        Rows of the position table.
    wrong_axis
        Whether the table has its sequence first, ``[length, 1, D]``, and is cut to the batch size.

    Returns
    -------
    Figure
        A figure named ``broadcasting-rows`` or ``broadcasting-rows-wrong``.
    """
    samples = texts or (
        ["i", "like", "cats", "."],
        ["you", "love", "dogs", "."],
        ["he", "reads", "books", "."],
    )
    count, places = len(samples), len(samples[0])
    table = torch.arange(float(length))[:, None]  # row p holds the number p
    nothing = torch.zeros(count, places, 1)
    added = table[:, None][:count] if wrong_axis else table[:places]
    rows = (nothing + added)[..., 0].int().tolist()
    left = 92
    step = (WIDTH - left - 8) / places

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 34 + 96 * count), canvas.say
        role = "segment" if wrong_axis else "position"
        for place in range(places):
            middle = left + step * (place + 0.5) - 4
            plane.text(middle, 14, say("place {place}", place=place), "faint", size=SMALL)
        for number, words in enumerate(samples):
            y = 32 + 96 * number
            plane.text(8, y + 18, say("sample {number}", number=number), align="left")
            for place, word in enumerate(words):
                x, row = left + step * place, rows[number][place]
                plane.cell(x, y, step - 8, 36, word, fill="token-soft", edge="token", color="token")
                plane.cell(
                    x, y + 42, step - 8, 32, say("row {row}", row=row), fill=f"{role}-soft",
                    edge=role, color=role, bold=True,
                )  # fmt: skip

    def alt(say: Say) -> str:
        return say(
            "{count} samples of {places} tokens each. The rows of the position table that the "
            "samples get: {rows}.",
            count=count,
            places=places,
            rows="; ".join(", ".join(map(str, row)) for row in rows),
        )

    return Figure(f"broadcasting-rows{'-wrong' if wrong_axis else ''}", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield axes_lined_up()
    yield stride_zero()
    yield rows_added()
    yield rows_added(wrong_axis=True)
