"""BERT's embedding layer in pictures: the way in, the three tables, the tensors on the way.

The figures read the tables of a layer by their names, so they draw `tokpos.BertEmbeddings` and
the transformers layer alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._numbers import decimal
from tokpos.figures._plane import Plane

if TYPE_CHECKING:
    from tokpos.bert import BertEmbeddings

WIDTH = 530.0
SMALL = 13.0


def _middle(count: int, step: float) -> list[float]:
    """Centers of `count` columns, spread evenly over the width."""
    return [WIDTH / 2 + (i - (count - 1) / 2) * step for i in range(count)]


def sentence_to_vectors(
    sentence: str, tokens: Sequence[str], ids: Sequence[int], vectors: Tensor
) -> Figure:
    """The whole way in: a sentence, its tokens, their IDs, the layer, one vector for each token.

    Parameters
    ----------
    sentence : str
        The text.
    tokens : sequence of str
        Its tokens as the tokenizer names them, special tokens included.
    ids : sequence of int
        Their IDs.
    vectors : Tensor
        The layer's output for them, ``[S, D]``.

    Returns
    -------
    Figure
        A figure named ``bert-sentence-to-vectors``.
    """
    rows = vectors.detach()
    width = rows.shape[1]

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 648), canvas.say
        step = min(74.0, (WIDTH - 10) / len(tokens))
        columns = _middle(len(tokens), step)
        plane.text(WIDTH / 2, 24, sentence, size=17, bold=True)
        plane.arrow((WIDTH / 2, 42), (WIDTH / 2, 76))
        plane.text(WIDTH / 2 + 14, 58, say("the tokenizer splits"), "faint", align="left")
        for x, token, number in zip(columns, tokens, ids, strict=True):
            plane.box(x - step / 2 + 2, 84, step - 4, 32, fill="token-soft", edge="token", radius=6)
            plane.text(x, 100, token, size=SMALL)
            plane.text(x, 162, str(number), "token", bold=True)
            plane.arrow((x, 178), (x, 206))
            plane.arrow((x, 420), (x, 448))
        plane.text(WIDTH / 2, 136, say("and numbers: one token ID for each token"), "faint")
        _draw_layer(plane, 212, 202)
        for x, row in zip(columns, rows, strict=True):
            shown = [decimal(v) for v in row[:3].tolist()] + ["⋮", decimal(row[-1].item())]
            column = [[words] for words in shown]
            plane.cells(x - step / 2 + 3, 454, column, step - 6, 27, size=SMALL)
        words = say("{count} vectors, each of {width} numbers", count=len(tokens), width=width)
        plane.text(WIDTH / 2, 614, words, bold=True)

    def alt(say: Say) -> str:
        return say(
            "The sentence “{sentence}” becomes {count} tokens ({tokens}), each token an ID. The "
            "embedding layer adds a token row, a segment row and a position row and applies "
            "LayerNorm. Out come {count} vectors of {width} numbers.",
            sentence=sentence,
            count=len(tokens),
            tokens=" ".join(tokens),
            width=width,
        )

    return Figure("bert-sentence-to-vectors", draw, alt)


def _draw_layer(plane: Plane, top: float, height: float) -> None:
    say = plane.canvas.say
    plane.box(6, top, WIDTH - 12, height, edge="faint")
    plane.text(WIDTH / 2, top + 22, say("BERT's embedding layer"), bold=True)
    lines = (
        ("token", say("token row: which token is it?")),
        ("segment", say("segment row: in which of the two texts?")),
        ("position", say("position row: at which place?")),
    )
    for i, (role, words) in enumerate(lines):
        y = top + 42 + 36 * i
        plane.cell(60, y, WIDTH - 120, 30, words, fill=f"{role}-soft", edge=role, color=role)
        if i:
            plane.text(36, y + 15, "+", size=18, bold=True)
    plane.text(WIDTH / 2, top + 172, say("LayerNorm, then dropout (in training only)"))


def three_tables(
    layer: BertEmbeddings,
    tokens: Sequence[str],
    ids: Sequence[int],
    segments: Sequence[int],
    place: int,
) -> Figure:
    """The three tables with the rows that a text fetches, and one token's three rows added.

    Parameters
    ----------
    layer : BertEmbeddings
        The layer whose tables are drawn.
    tokens : sequence of str
        The tokens of the text.
    ids : sequence of int
        Their IDs.
    segments : sequence of int
        Their segments.
    place : int
        The position of the token whose rows are added below the tables.

    Returns
    -------
    Figure
        A figure named ``bert-three-tables``.
    """
    tables = {
        "token": layer.word_embeddings.weight.detach(),
        "segment": layer.token_type_embeddings.weight.detach(),
        "position": layer.position_embeddings.weight.detach(),
    }
    names = dict(zip(ids, tokens, strict=True))
    fetched = {
        "token": (ids[place], sorted(names)),
        "segment": (segments[place], sorted(set(segments))),
        "position": (place, list(range(len(ids)))),
    }

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 640), canvas.say
        heads = {
            "token": say("token table"),
            "segment": say("segment table"),
            "position": say("position table"),
        }
        for x, (role, table) in zip(_middle(3, 176), tables.items(), strict=True):
            plane.text(x, 18, heads[role], role, bold=True)
            plane.text(x, 40, str(list(table.shape)), "faint")
            labels = {"token": names, "position": dict(enumerate(tokens))}.get(role, {})
            _draw_table(plane, x - 58, 58, len(table), role, *fetched[role], labels)
        top = 440
        words = say("{token} at position {place}: its three rows", token=tokens[place], place=place)
        plane.text(WIDTH / 2, top, words, bold=True)
        total = torch.zeros(())
        for i, (role, table) in enumerate(tables.items()):
            row = table[fetched[role][0]]
            total = total + row
            label = say("row {number}", number=fetched[role][0])
            _draw_row(plane, top + 22 + 40 * i, "+" if i else "", label, row, role)
        plane.line((24, top + 146), (WIDTH - 14, top + 146), "ink")
        _draw_row(plane, top + 154, "=", say("the sum"), total, "ink")

    def alt(say: Say) -> str:
        return say(
            "Three tables of {tokens}, {segments} and {positions} rows. The text fetches the "
            "token rows {ids}, the segment rows {used} and the position rows 0 to {last}. Below, "
            "the token row, the segment row and the position row of “{token}” are added.",
            tokens=len(tables["token"]),
            segments=len(tables["segment"]),
            positions=len(tables["position"]),
            ids=", ".join(map(str, fetched["token"][1])),
            used=", ".join(map(str, fetched["segment"][1])),
            last=len(ids) - 1,
            token=tokens[place],
        )

    return Figure("bert-three-tables", draw, alt)


def _draw_table(
    plane: Plane,
    x: float,
    y: float,
    size: int,
    role: str,
    chosen: int,
    lit: Sequence[int],
    labels: dict[int, str],
) -> None:
    """The first row, those that are lit, and the last; dots where rows are left out."""
    heights: dict[int, float] = {}
    for row in sorted({0, *lit, size - 1}):
        if heights and row > max(heights) + 1:
            plane.text(x + 58, y + 9, "⋮", "faint")
            y += 17
        heights[row] = y
        y += 24
    # The chosen row last, so that no neighbor covers its edge.
    for row in sorted(heights, key=lambda row: row == chosen):
        hit, strong, y = row in lit, row == chosen, heights[row]
        soft, color = (f"{role}-soft", role) if hit else ("paper", "faint")
        plane.cell(x, y, 116, 24, fill=soft, edge=role if hit else "rule", weight=1 + 1.6 * strong)
        plane.text(x + 8, y + 12, str(row), color, align="left", bold=strong, size=SMALL)
        plane.text(x + 110, y + 12, labels.get(row, ""), align="right", bold=strong, size=SMALL)


def _draw_row(plane: Plane, y: float, sign: str, label: str, row: Tensor, role: str) -> None:
    soft = "paper" if role == "ink" else f"{role}-soft"
    plane.text(18, y + 16, sign, size=18, bold=True)
    plane.text(116, y + 16, label, role, align="right", bold=True)
    shown = [decimal(v, 4) for v in row[:4].tolist()] + ["…", decimal(row[-1].item(), 4)]
    for i, words in enumerate(shown):
        plane.cell(126 + 66 * i, y, 66, 32, words, fill=soft, edge=role, size=SMALL)


def rows_by_place(
    layer: BertEmbeddings, tokens: Sequence[str], segments: Sequence[int], name: str
) -> Figure:
    """Which segment row and which position row each token points at.

    Parameters
    ----------
    layer : BertEmbeddings
        The layer, for the sizes of its tables.
    tokens : sequence of str
        The tokens of the text.
    segments : sequence of int
        Their segments.
    name : str
        Name of the figure, since a page may show several texts.

    Returns
    -------
    Figure
        The tokens between the segment table and the position table.
    """
    n_segments = layer.token_type_embeddings.num_embeddings
    last = layer.position_embeddings.num_embeddings - 1
    step = 36.0

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 60 + step * len(tokens) + 66), canvas.say
        for x, role, words in (
            (64, "segment", say("segment table")),
            (WIDTH / 2, "token", say("tokens")),
            (WIDTH - 64, "position", say("position table")),
        ):
            plane.text(x, 18, words, role, bold=True)
        places = [60 + step * i for i in range(len(tokens))]
        middle = (places[0] + places[-1]) / 2
        doors = [middle + 38 * (i - (n_segments - 1) / 2) for i in range(n_segments)]
        for i, y in enumerate(doors):
            _draw_target(
                plane, 12, y, 104, 38, say("row {number}", number=i), "segment", i in segments
            )
        for i, (y, token) in enumerate(zip(places, tokens, strict=True)):
            plane.box(WIDTH / 2 - 58, y - 15, 116, 30, fill="token-soft", edge="token", radius=6)
            plane.text(WIDTH / 2, y, token)
            plane.arrow((WIDTH / 2 - 60, y), (118, doors[segments[i]]), "segment")
            plane.arrow((WIDTH / 2 + 60, y), (WIDTH - 118, y), "position")
            _draw_target(
                plane, WIDTH - 116, y, 104, step, say("row {number}", number=i), "position", True
            )
        y = places[-1] + step
        plane.text(WIDTH - 64, y - 2, "⋮", "faint")
        _draw_target(
            plane,
            WIDTH - 116,
            y + step - 4,
            104,
            step,
            say("row {number}", number=last),
            "position",
            False,
        )

    def alt(say: Say) -> str:
        told = "; ".join(
            say("row {row}, {count} tokens", row=row, count=segments.count(row))
            for row in range(n_segments)
        )
        return say(
            "{count} tokens. To the left, arrows into the segment table: {told}. To the right, "
            "each token points at a position row of its own, 0 to {last}.",
            count=len(tokens),
            told=told,
            last=len(tokens) - 1,
        )

    return Figure(name, draw, alt)


def _draw_target(
    plane: Plane, x: float, y: float, width: float, height: float, words: str, role: str, hit: bool
) -> None:
    plane.cell(
        x,
        y - height / 2,
        width,
        height,
        words,
        fill=f"{role}-soft" if hit else "paper",
        edge=role if hit else "rule",
        color=role if hit else "faint",
    )


def printed_tensors(layer: BertEmbeddings, ids: Tensor) -> Figure:
    """Where each tensor that one prints stands on the way through the layer.

    Parameters
    ----------
    layer : BertEmbeddings
        The layer, in eval mode.
    ids : Tensor
        Token IDs ``[1, S]``; every segment is taken as 0.

    Returns
    -------
    Figure
        A figure named ``bert-printed-tensors``: one station for each step, with the tensor's
        shape, its first numbers, and the ``grad_fn`` that made it.
    """
    token = layer.word_embeddings(ids)
    segment = layer.token_type_embeddings(torch.zeros_like(ids))
    position = layer.position_embeddings(torch.arange(ids.shape[1]))
    partial = token + segment
    total = partial + position
    normed = layer.LayerNorm(total)

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 658), canvas.say
        left, center, right = _middle(3, 176)
        for x, tensor, role, name, words in (
            (left, token, "token", "input_ids", say("token rows")),
            (center, segment, "segment", "token_type_ids", say("segment rows")),
            (right, position, "position", "position_ids", say("position rows")),
        ):
            plane.cell(x - 84, 4, 168, 50, edge=role)
            plane.text(x, 19, name, role, bold=True)
            plane.text(x, 40, str(list(tensor.shape[:-1])), "faint", size=SMALL)
            plane.arrow((x, 54), (x, 90), role)
            _draw_station(plane, x, 92, tensor, role, words)
        plane.arrow((left, 196), (left, 238), "token")
        plane.arrow((center, 196), (left + 60, 238), "segment")
        _draw_station(plane, left, 240, partial, "ink", say("token + segment"))
        plane.arrow((left, 344), (center - 40, 386))
        plane.arrow((right, 196), (center + 40, 386), "position")
        _draw_station(plane, center, 388, total, "ink", say("the sum of all three"))
        plane.arrow((center, 492), (center, 548))
        plane.text(center + 14, 510, say("LayerNorm"), align="left", bold=True)
        plane.text(center + 14, 530, say("dropout: in training only"), "faint", align="left")
        _draw_station(plane, center, 550, normed, "ink", say("the layer's output"), width=204)

    def alt(say: Say) -> str:
        return say(
            "From the IDs {ids} three lookups: token rows {token}, segment rows {segment}, "
            "position rows {position}. Token and segment rows are added, then the position rows, "
            "then LayerNorm gives the output {output}. Each step carries the name of its grad_fn.",
            ids=list(ids.shape),
            token=list(token.shape),
            segment=list(segment.shape),
            position=list(position.shape),
            output=list(normed.shape),
        )

    return Figure("bert-printed-tensors", draw, alt)


def _draw_station(
    plane: Plane, x: float, y: float, tensor: Tensor, role: str, words: str, width: float = 168
) -> None:
    fill = "paper" if role == "ink" else f"{role}-soft"
    plane.cell(x - width / 2, y, width, 104, fill=fill, edge=role)
    first = tensor.detach().reshape(-1)[:2].tolist()
    plane.text(x, y + 18, words, role, bold=True)
    plane.text(x, y + 42, str(list(tensor.shape)), size=SMALL)
    plane.text(x, y + 64, " ".join(decimal(v, 4) for v in first) + " …", size=SMALL)
    plane.text(x, y + 86, tensor.grad_fn.name() if tensor.grad_fn else "", "faint", size=SMALL)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once, with seeded tables of BERT's sizes."""
    from tokpos.bert import BertEmbeddings

    tokens = ["[CLS]", "this", "is", "a", "test", "sentence", "[SEP]"]
    ids = [101, 2023, 2003, 1037, 3231, 6251, 102]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(6)
        layer = BertEmbeddings(30522, 64).eval()
    out = layer(torch.tensor([ids]))[0]
    yield sentence_to_vectors("This is a test sentence", tokens, ids, out)
    yield three_tables(layer, tokens, ids, [0] * 7, place=4)
    yield rows_by_place(layer, tokens, [0] * 7, "bert-rows-of-a-sentence")
    yield rows_by_place(layer, tokens, [0] * 4 + [1] * 3, "bert-rows-of-a-pair")
    yield printed_tensors(layer, torch.tensor([ids]))
