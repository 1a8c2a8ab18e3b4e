"""Positions of padded and packed rows, and who may look at whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.positions import (
    causal_mask,
    document_mask,
    documents_of_lengths,
    pad_left,
    positions_from_mask,
    positions_of_documents,
)

WIDTH = 520.0
SMALL = 13.0
ROLES = ("token", "segment", "query", "key")


def left_padding(texts: Sequence[Sequence[str]] | None = None) -> Figure:
    """Texts of unequal length, padded on the left, and their positions counted from the mask.

    Parameters
    ----------
    texts
        The words of each text, up to 6; left out, one of three words and one of five.

    Returns
    -------
    Figure
        A figure named ``positions-left-padding``.
    """
    rows = texts or (["I", "like", "cats"], ["the", "dog", "saw", "the", "cat"])
    _, mask = pad_left([[1] * len(row) for row in rows])
    positions = positions_from_mask(mask)
    length = mask.shape[1]
    step = (WIDTH - 150) / length

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 136 * len(rows) + 6), canvas.say
        for number, row in enumerate(rows):
            y = 12 + 136 * number
            lines = ("the text", "counted from the left", "counted from the mask")
            for line, words in enumerate(lines):
                role = ("token", "faint", "position")[line]
                plane.text(8, y + (20, 58, 94)[line], say(words), role, align="left", size=SMALL)
            blank = length - len(row)
            for place in range(length):
                x, real = 146 + step * place, place >= blank
                word = row[place - blank] if real else "[PAD]"
                plane.cell(
                    x, y, step - 4, 40, word, fill="token-soft" if real else "paper",
                    edge="token" if real else "rule", color="token" if real else "faint",
                )  # fmt: skip
                wrong = place != int(positions[number, place])
                middle = x + step / 2 - 2
                plane.text(middle, y + 58, str(place), "faint", size=SMALL)
                if real and wrong:
                    plane.line((middle - 9, y + 58), (middle + 9, y + 58), "ink", weight=1.8)
                counted = str(int(positions[number, place]))
                plane.text(middle, y + 94, counted, "position" if real else "faint", bold=real)

    def alt(say: Say) -> str:
        first = positions[0][mask[0] > 0].tolist()
        return say(
            "{count} texts in rows of {length} places, padded on the left. Counted from the left, "
            "the first text would begin at position {shift}; counted from the mask its tokens have "
            "the positions {first}.",
            count=len(rows),
            length=length,
            shift=int((mask[0] == 0).sum()),
            first=", ".join(map(str, first)),
        )

    return Figure("positions-left-padding", draw, alt)


def packed_documents(lengths: Sequence[int] = (3, 4, 2)) -> Figure:
    """Documents packed into one row: positions start again, and the mask has a block for each.

    Parameters
    ----------
    lengths
        How many tokens each document has; up to four documents and twelve tokens.

    Returns
    -------
    Figure
        A figure named ``positions-packed``.

    Raises
    ------
    ValueError
        There are too many documents or tokens to be drawn.
    """
    if len(lengths) > len(ROLES) or not 1 <= sum(lengths) <= 12:
        raise ValueError(
            f"lengths must be at most {len(ROLES)} and add up to 1..12; got {list(lengths)}"
        )
    documents = documents_of_lengths(lengths)
    positions = positions_of_documents(documents)
    seen = causal_mask(positions, positions) & document_mask(documents)
    count = len(documents)
    cell = min(36.0, 380 / count)

    def draw(canvas: Canvas) -> None:
        left, top = 118.0, 122.0
        plane, say = canvas.plane(WIDTH, top + cell * count + 16), canvas.say
        plane.text(left - 12, 30, say("document"), align="right", size=SMALL)
        plane.text(left - 12, 66, say("position"), "position", align="right", size=SMALL)
        plane.text(left + cell * count / 2, 104, say("key"), "key", size=SMALL)
        plane.text(left - 12, top + cell * count / 2, say("query"), "query", align="right",
                   size=SMALL)  # fmt: skip
        for place, (document, position) in enumerate(
            zip(documents.tolist(), positions.tolist(), strict=True)
        ):
            x, role = left + cell * place, ROLES[document]
            plane.cell(x, 14, cell, 32, str(document), fill=f"{role}-soft", edge=role, color=role)
            plane.text(x + cell / 2, 66, str(position), "position", bold=True)
            for key in range(count):
                on = bool(seen[place, key])
                plane.cell(
                    left + cell * key, top + cell * place, cell, cell,
                    fill=role if on else "paper", edge="rule",
                )  # fmt: skip
        x = left + cell * count + 10
        if count <= 9:
            plane.text(x, top + cell * count * 0.28, say("filled:\nmay look"), align="left",
                       size=SMALL)  # fmt: skip

    def alt(say: Say) -> str:
        return say(
            "{documents} documents of {lengths} tokens packed into one row. Their positions are "
            "{positions}. The mask is a square of {count} by {count} in which only a triangle for "
            "each document is filled, {filled} of {all} pairs.",
            documents=len(lengths),
            lengths=", ".join(map(str, lengths)),
            positions=", ".join(map(str, positions.tolist())),
            count=count,
            filled=int(seen.sum()),
            all=count * count,
        )

    return Figure("positions-packed", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield left_padding()
    yield packed_documents()
