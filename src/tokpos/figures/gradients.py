"""Which rows of the table have a gradient, and which rows an optimizer then moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tokpos.embedding import TokenEmbedding
from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.head import LanguageModelHead, tie

WIDTH = 520.0
SMALL = 13.0
RATE = 0.1
MOMENTUM = 0.9
DECAY = 0.1


def _number(value: float) -> str:
    words = f"{value:.3f}"
    return "0" if float(words) == 0 else words.replace("-", "−")


def _gradient(ids: Sequence[int], size: int, padding_idx: int | None, tied: bool) -> Tensor:
    """Length of each row's gradient; the loss is the sum of the rows, or that of a tied head."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        layer = TokenEmbedding(size, 4, padding_idx=padding_idx)
    head = LanguageModelHead(size, 4, device="meta")
    if tied:
        tie(layer, head)
        targets = torch.tensor([*ids[1:], ids[0]])
        loss = F.cross_entropy(head(layer(torch.tensor(ids))), targets, reduction="sum")
    else:
        loss = layer(torch.tensor(ids)).sum()
    (grad,) = torch.autograd.grad(loss, layer.weight)
    return grad.norm(dim=1) if tied else grad[:, 0]


def rows_with_gradient(ids: Sequence[int] = (2, 3, 4, 2, 0), size: int = 6) -> Figure:
    """The rows that get a gradient: those looked up, but for padding; with a tied head, all.

    Parameters
    ----------
    ids
        The IDs that are looked up; 0 is the padding.
    size
        V, the rows of the table.

    Returns
    -------
    Figure
        A figure named ``gradient-rows``.
    """
    columns = [
        ("the lookup alone", _gradient(ids, size, None, False), "{:.0f}"),
        ("with padding_idx=0", _gradient(ids, size, 0, False), "{:.0f}"),
        ("with a tied head", _gradient(ids, size, 0, True), "{:.2f}"),
    ]

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 124 + 34 * size), canvas.say
        listed = ", ".join(map(str, ids))
        plane.text(8, 20, say("looked up: {ids}", ids=listed), "token", align="left", bold=True)
        plane.text(8, 44, say("size of the gradient of each row"), "faint", align="left")
        for row in range(size):
            plane.text(70, 120 + 34 * row, say("row {number}", number=row), "faint", align="right")
        for column, (words, sizes, form) in enumerate(columns):
            x = 84 + 146 * column
            plane.text(x + 66, 84, say(words), size=SMALL)
            for row, value in enumerate(sizes.tolist()):
                lit = value != 0
                plane.cell(
                    x,
                    104 + 34 * row,
                    132,
                    32,
                    form.format(value) if lit else "0",
                    fill="token-soft" if lit else "paper",
                    edge="token" if lit else "rule",
                    color="token" if lit else "faint",
                    bold=lit,
                )

    def alt(say: Say) -> str:
        reached = [", ".join(map(str, c[1].nonzero().flatten().tolist())) for c in columns]
        return say(
            "A table of {size} rows, of which {ids} are looked up. Rows with a gradient: {alone} "
            "by the lookup alone, {padded} if row 0 is padding, {tied} with a tied head.",
            size=size,
            ids=", ".join(map(str, ids)),
            alone=reached[0],
            padded=reached[1],
            tied=reached[2],
        )

    return Figure("gradient-rows", draw, alt)


Make = Callable[[list[nn.Parameter]], torch.optim.Optimizer]

_OPTIMIZERS: dict[str, tuple[Make, bool, bool]] = {
    # How it is made, whether the gradient is sparse, whether the head is tied.
    "SGD": (lambda p: torch.optim.SGD(p, lr=RATE), False, False),
    "SGD, momentum": (lambda p: torch.optim.SGD(p, lr=RATE, momentum=MOMENTUM), False, False),
    "Adam": (lambda p: torch.optim.Adam(p, lr=RATE), False, False),
    "AdamW": (lambda p: torch.optim.AdamW(p, lr=RATE, weight_decay=DECAY), False, False),
    "SparseAdam": (lambda p: torch.optim.SparseAdam(p, lr=RATE), True, False),
    "SGD, tied head": (lambda p: torch.optim.SGD(p, lr=RATE), False, True),
}


def _moves(name: str) -> Tensor:
    """How far each of three rows of ones moves in step 2: row 0 was used in step 1, row 1 is now.

    Parameters
    ----------
    name
        A key of ``_OPTIMIZERS``.

    Returns
    -------
    Tensor
        Three numbers, the first coordinate of each row's move.
    """
    make, sparse, tied = _OPTIMIZERS[name]
    # Width 2: of width 1, torch leaves a sparse gradient of stride 0 unapplied.
    with torch.random.fork_rng(devices=[]):
        layer = TokenEmbedding.from_table(torch.ones(3, 2), sparse=sparse)
    head = LanguageModelHead(3, 2, device="meta")
    if tied:
        tie(layer, head)
    optimizer = make(list(layer.parameters()))
    before = layer.weight.detach().clone()
    for row in (0, 1):
        optimizer.zero_grad()
        before = layer.weight.detach().clone()
        vector = layer(torch.tensor([row]))
        target = torch.tensor([row])
        loss = F.cross_entropy(head(vector), target) if tied else vector.sum()
        loss.backward()
        optimizer.step()
    return (layer.weight.detach() - before)[:, 0]


def rows_that_move() -> Figure:
    """What each optimizer does in a step to rows that the step did not look up.

    Returns
    -------
    Figure
        A figure named ``gradient-optimizers``.
    """
    moved = {name: _moves(name).tolist() for name in _OPTIMIZERS}
    headings = ("used in step 1", "used in step 2", "never used")

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 112 + 42 * len(moved)), canvas.say
        plane.text(8, 20, say("how far each row moves in step 2"), align="left", bold=True)
        for column, words in enumerate(headings):
            x = 198 + 126 * column
            plane.text(x, 56, say("row {number}", number=column), "token", bold=True)
            plane.text(x, 80, say(words), "faint", size=SMALL)
        for line, (name, values) in enumerate(moved.items()):
            y = 100 + 42 * line
            plane.text(128, y + 18, say(name), align="right")
            for column, value in enumerate(values):
                lit = abs(value) > 1e-9
                plane.cell(
                    138 + 126 * column,
                    y,
                    120,
                    36,
                    _number(value),
                    fill="token-soft" if lit else "paper",
                    edge="token" if lit else "rule",
                    color="token" if lit else "faint",
                )

    def alt(say: Say) -> str:
        listed = "; ".join(
            f"{say(name)}: {', '.join(_number(value) for value in values)}"
            for name, values in moved.items()
        )
        return say(
            "How far three rows move in step 2, in which row 1 is looked up; row 0 was looked up "
            "in step 1, row 2 never. {moves}.",
            moves=listed,
        )

    return Figure("gradient-optimizers", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield rows_with_gradient()
    yield rows_that_move()
