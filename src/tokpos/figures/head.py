"""The language-model head: one matrix at both ends, and the two halves of its gradient."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._numbers import decimal
from tokpos.figures._plane import Plane
from tokpos.head import LanguageModelHead

WIDTH = 520.0
SMALL = 13.0
MOST_ROWS = 10


def one_matrix(table: Tensor, number: int, hidden: Tensor, words: Sequence[str]) -> Figure:
    """The same matrix at the entrance, where one row is read, and at the exit, where all are.

    Parameters
    ----------
    table
        The shared matrix, up to 10 rows and 3 columns.
    number
        The ID that enters.
    hidden
        The hidden state that leaves the last layer, as wide as the table.
    words
        The vocabulary, one word for each row.

    Returns
    -------
    Figure
        A figure named ``head-one-matrix``.

    Raises
    ------
    ValueError
        The table is too large to be drawn, or the sizes do not fit together.
    """
    size, width = table.shape
    if size > MOST_ROWS or width > 3 or len(words) != size or hidden.shape != (width,):
        raise ValueError(
            f"table must have at most {MOST_ROWS} rows and 3 columns, words one for each row and "
            f"hidden one number for each column; got {list(table.shape)}, {len(words)} and "
            f"{list(hidden.shape)}"
        )
    head = LanguageModelHead(size, width, device="meta")  # its own numbers are not wanted
    head.weight = nn.Parameter(table)
    with torch.no_grad():
        logits = head(hidden).tolist()
    best = max(range(size), key=logits.__getitem__)
    cell, high = 44, 30

    def matrix(plane: Plane, x: float, top: float, lit: set[int]) -> None:
        for row, values in enumerate(table.tolist()):
            for column, value in enumerate(values):
                on = row in lit
                plane.cell(
                    x + cell * column,
                    top + high * row,
                    cell,
                    high,
                    decimal(value, 1),
                    fill="token-soft" if on else "paper",
                    edge="token" if on else "rule",
                    color="token" if on else "faint",
                    size=SMALL,
                )

    def draw(canvas: Canvas) -> None:
        top = 96.0
        height = top + high * size + 62
        plane, say = canvas.plane(WIDTH, height), canvas.say
        in_x, out_x, bars_x = 74.0, 258.0, 410.0
        plane.text(in_x + 66, 20, say("entrance"), "token", bold=True)
        plane.text(in_x + 66, 44, say("one row is read"), size=SMALL)
        plane.text(out_x + 66, 20, say("exit"), "token", bold=True)
        plane.text(out_x + 66, 44, say("every row is read"), size=SMALL)
        plane.text(bars_x + 40, 20, say("logits"), "score", bold=True)
        matrix(plane, in_x, top, {number})
        matrix(plane, out_x, top, set(range(size)))
        for row, word in enumerate(words):
            y = top + high * (row + 0.5)
            plane.text(in_x - 8, y, word, "token" if row == number else "faint", align="right")
            plane.cell(
                bars_x, top + high * row + 2, 44, high - 4, decimal(logits[row], 1),
                fill="score-soft" if row == best else "paper",
                edge="score" if row == best else "rule",
                color="score" if row == best else "ink", size=SMALL,
            )  # fmt: skip
            plane.text(bars_x + 50, y, word, "score" if row == best else "faint", align="left")
        for column, value in enumerate(hidden.tolist()):
            plane.cell(
                out_x + cell * column, 60, cell, 26, decimal(value, 1), fill="query-soft",
                edge="query", color="query", size=SMALL,
            )  # fmt: skip
        plane.text(out_x - 6, 73, say("hidden state"), "query", align="right", size=SMALL)
        plane.text(out_x + cell * width + 10, top + high * size / 2, "=", size=16)
        words_below = say("one matrix W {shape} in both places", shape=f"[{size}, {width}]")
        y = top + high * size + 12
        plane.line((in_x + 66, y), (in_x + 66, y + 10), "faint")
        plane.line((out_x + 66, y), (out_x + 66, y + 10), "faint")
        plane.line((in_x + 66, y + 10), (out_x + 66, y + 10), "faint")
        plane.text((in_x + out_x) / 2 + 66, y + 30, words_below)

    def alt(say: Say) -> str:
        return say(
            "The same matrix of {size} rows and {width} columns twice. At the entrance the row of "
            "“{word}” is read; at the exit the dot products of the hidden state with every row "
            "are {size} logits, the largest for “{best}”.",
            size=size,
            width=width,
            word=words[number],
            best=words[best],
        )

    return Figure("head-one-matrix", draw, alt)


def _halves_of_the_gradient(
    table: Tensor, ids: Sequence[int], targets: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """The gradient of a shared matrix, apart by use: as a table and as a head.

    Parameters
    ----------
    table
        The matrix.
    ids
        The tokens that enter.
    targets
        The tokens that ought to be predicted.

    Returns
    -------
    tuple of Tensor
        What the lookup sends back and what the head sends back; their sum is the gradient.
    """
    entrance = table.clone().requires_grad_()
    exit_ = table.clone().requires_grad_()
    vectors = F.embedding(torch.tensor(ids), entrance)
    loss = F.cross_entropy(vectors @ exit_.T, torch.tensor(targets), reduction="sum")
    one, other = torch.autograd.grad(loss, (entrance, exit_))
    return one, other


def two_uses(
    table: Tensor, ids: Sequence[int], targets: Sequence[int], words: Sequence[str]
) -> Figure:
    """The gradient of the shared matrix as a sum: some rows from the entrance, all from the exit.

    Parameters
    ----------
    table
        The shared matrix, up to 10 rows.
    ids
        The tokens that enter.
    targets
        The tokens that ought to be predicted.
    words
        The vocabulary, one word for each row.

    Returns
    -------
    Figure
        A figure named ``head-two-uses``.
    """
    halves = _halves_of_the_gradient(table, ids, targets)
    parts = [half.norm(dim=1).tolist() for half in (*halves, halves[0] + halves[1])]
    longest = max(max(part) for part in parts)
    used = sorted(set(ids))
    names = ("from the entrance", "from the exit", "their sum")

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 92 + 32 * len(words)), canvas.say
        plane.text(8, 20, say("length of each row's gradient"), align="left", bold=True)
        for column, (name, part) in enumerate(zip(names, parts, strict=True)):
            x = 74 + 150 * column
            plane.text(x, 54, say(name), "ink" if column == 2 else "faint", align="left")
            for row, value in enumerate(part):
                y = 76 + 32 * row
                plane.line((x, y - 2), (x, y + 24), "rule")
                if value > 0:
                    long = 92 * value / longest
                    role = "token" if row in used else "score"
                    plane.cell(x, y, long, 22, fill=role, edge=role)
                plane.text(x + 92 * value / longest + 6, y + 11, f"{value:.1f}", align="left",
                           size=SMALL)  # fmt: skip
        for row, word in enumerate(words):
            role = "token" if row in used else "ink"
            plane.text(64, 87 + 32 * row, word, role, align="right", bold=row in used)

    def alt(say: Say) -> str:
        return say(
            "Bars for the gradient of each of {size} rows. From the entrance only the rows of "
            "{used} get one; from the exit every row does, and so does the sum.",
            size=len(words),
            used=", ".join(words[row] for row in used),
        )

    return Figure("head-two-uses", draw, alt)


def way_out(words: Sequence[str], ids: Sequence[int], size: int, width: int) -> Figure:
    """The whole road from a text to the next token, with the shape at each station.

    Parameters
    ----------
    words
        The tokens of the text.
    ids
        Their IDs.
    size
        V, the number of tokens in the vocabulary.
    width
        D, the width of a vector.

    Returns
    -------
    Figure
        A figure named ``head-road``.
    """
    length = len(ids)

    def draw(canvas: Canvas) -> None:
        say = canvas.say
        stations = (
            (say("text"), " ".join(words), "ink", ""),
            (say("token IDs"), ", ".join(map(str, ids)), "token", say("tokenizer")),
            (say("token vectors"), f"[{length}, {width}]", "token", say("embedding: read rows")),
            (say("hidden states"), f"[{length}, {width}]", "query", say("Transformer")),
            ("logits", f"[{length}, {size}]", "score", say("LM head: score every row")),
            (say("probabilities"), f"[{length}, {size}]", "score", "softmax"),
        )
        step = 86.0
        plane = canvas.plane(WIDTH, 44 + step * (len(stations) - 1) + 16)
        for number, (name, value, role, way) in enumerate(stations):
            y = 8 + step * number
            fill = "paper" if role == "ink" else f"{role}-soft"
            plane.box(150, y, 160, 40, fill=fill, edge=role)
            plane.text(230, y + 20, value, role, bold=True)
            plane.text(138, y + 20, name, role, align="right")
            if number:
                plane.arrow((230, y - step + 44), (230, y - 4))
                shared = number in (2, 4)
                plane.text(
                    244, y - 23, way, "position" if shared else "faint", align="left", bold=shared
                )
        # The two places where one matrix may serve
        entrance, exit_ = 8 + step * 2 - 23, 8 + step * 4 - 23
        for y in (entrance, exit_):
            plane.line((462, y), (478, y), "position")
        plane.line((478, entrance), (478, exit_), "position")
        plane.text(488, (entrance + exit_) / 2, "W", "position", align="left", bold=True)

    def alt(say: Say) -> str:
        return say(
            "A road from top to bottom: the text “{text}”, its token IDs {ids}, token vectors and "
            "hidden states of shape [{length}, {width}], logits and probabilities of shape "
            "[{length}, {size}]. The embedding and the LM head may use the same matrix W.",
            text=" ".join(words),
            ids=", ".join(map(str, ids)),
            length=length,
            width=width,
            size=size,
        )

    return Figure("head-road", draw, alt)


def scores_by_projection(table: Tensor, hidden: Tensor, words: Sequence[str]) -> Figure:
    """Rows and a hidden state as arrows: a score is a row's reach along it, times its length.

    Parameters
    ----------
    table
        The rows, ``[V, 2]``.
    hidden
        The hidden state, two numbers.
    words
        The token of each row.

    Returns
    -------
    Figure
        A figure named ``head-projection``.
    """
    logits = (table @ hidden).tolist()
    along = hidden / hidden.norm()
    reach = [score / hidden.norm().item() for score in logits]
    every = torch.cat([table, hidden[None], torch.zeros(1, 2)])
    low, high = every.min(0).values - 0.45, every.max(0).values + 0.45
    scale = (WIDTH - 40) / (high[0] - low[0]).item()

    def draw(canvas: Canvas) -> None:
        plane = canvas.plane(WIDTH, (high[1] - low[1]).item() * scale + 16)

        def at(point: Tensor) -> tuple[float, float]:
            x, y = point.tolist()
            return 20 + (x - low[0].item()) * scale, 8 + (high[1].item() - y) * scale

        origin = at(torch.zeros(2))
        plane.line(
            at(along * min(0.0, *reach)), at(along * (max(reach) + 0.3)), "rule", dashed=True
        )
        for row, word, score, far in zip(table, words, logits, reach, strict=True):
            best = score == max(logits)
            plane.line(at(row), at(along * far), "score" if best else "faint", dashed=True)
            plane.arrow(origin, at(row), "token")
            x, y = at(row)
            name = f"{word}  {decimal(score, 1)}"
            plane.text(x, y - 14 if row[1] >= 0 else y + 16, name, "score" if best else "token",
                       bold=best)  # fmt: skip
        plane.arrow(origin, at(hidden), "query", weight=3)
        x, y = at(hidden)
        plane.text(x, y + 18, canvas.say("hidden state"), "query", bold=True)

    def alt(say: Say) -> str:
        listed = ", ".join(f"{w} {s:.1f}" for w, s in zip(words, logits, strict=True))
        return say(
            "A hidden state and the rows of a table as arrows. The score of each row is how far it "
            "reaches along the hidden state, times the length of the hidden state: {scores}.",
            scores=listed,
        )

    return Figure("head-projection", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once, with a small seeded matrix."""
    words = ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"]
    table = torch.randn(6, 3, generator=torch.Generator().manual_seed(3))
    hidden = torch.tensor([-1.0, -0.5, 1.0])
    yield one_matrix(table, 3, hidden, words)
    yield two_uses(table, [2, 3], [3, 4], words)
    yield way_out(["我", "喜欢"], [2, 4], 9, 16)
    rows = torch.tensor([[1.0, 0.5], [3.0, -0.9], [-0.8, 0.9]])
    yield scores_by_projection(rows, torch.tensor([1.2, 0.3]), ["猫", "狗", "我"])
