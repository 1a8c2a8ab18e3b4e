"""The table learns: the loop of training, rows before and after it, one token in two sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say

WIDTH = 520.0
SMALL = 13.0


def loop(size: int = 6, ids: Sequence[int] = (2, 3, 4)) -> Figure:
    """One step of training: rows go out, a gradient comes back to them, the optimizer moves them.

    Parameters
    ----------
    size
        V, the rows of the table.
    ids
        The rows that are looked up.

    Returns
    -------
    Figure
        A figure named ``learning-loop``.
    """
    high = 26.0
    top = 62.0

    def draw(canvas: Canvas) -> None:
        height = top + high * size + 92
        plane, say = canvas.plane(WIDTH, height), canvas.say
        middle = top + high * size / 2
        plane.text(82, 24, say("the table"), "token", bold=True)
        for row in range(size):
            lit = row in ids
            plane.cell(
                36, top + high * row, 92, high, fill="token-soft" if lit else "paper",
                edge="token" if lit else "rule",
            )  # fmt: skip
            plane.text(28, top + high * (row + 0.5), str(row), "token" if lit else "faint",
                       align="right", size=SMALL)  # fmt: skip
        for x, words, role in (
            (230, say("the model"), "ink"),
            (410, say("the loss"), "score"),
        ):
            fill = "paper" if role == "ink" else f"{role}-soft"
            plane.box(x, middle - 26, 100, 52, fill=fill, edge=role)
            plane.text(x + 50, middle, words, role, bold=True)
        plane.arrow((136, middle - 12), (224, middle - 12), "token")
        plane.text(180, middle - 28, say("rows"), "token", size=SMALL)
        plane.arrow((336, middle - 12), (404, middle - 12))
        plane.arrow((404, middle + 12), (336, middle + 12), "key")
        plane.arrow((224, middle + 12), (136, middle + 12), "key")
        plane.text(180, middle + 30, say("gradient"), "key", size=SMALL)
        y = top + high * size
        plane.arrow((82, y + 40), (82, y + 6), "position")
        plane.text(8, y + 60, say("the optimizer moves the rows; the next step begins"), "position",
                   align="left")  # fmt: skip

    def alt(say: Say) -> str:
        return say(
            "A table of {size} rows. The rows {ids} go through the model to the loss; the gradient "
            "comes back the same way to these rows; the optimizer then moves them, and the next "
            "step begins.",
            size=size,
            ids=", ".join(map(str, ids)),
        )

    return Figure("learning-loop", draw, alt)


def cosines(words: Sequence[str], before: Tensor, after: Tensor) -> Figure:
    """The cosine of every two rows of a table, before and after training, as two maps.

    Parameters
    ----------
    words
        The token of each row.
    before
        The table before training, ``[V, D]``.
    after
        The table after training.

    Returns
    -------
    Figure
        A figure named ``learning-cosines``.
    """
    maps = [F.normalize(table.detach(), dim=1) for table in (before, after)]
    maps = [rows @ rows.T for rows in maps]
    count = len(words)

    def draw(canvas: Canvas) -> None:
        height = 310.0
        sheet, say = canvas.sheet(WIDTH, height), canvas.say
        scale = canvas.colormap("key", "paper", "token")
        side = 214.0
        for number, (title, values) in enumerate(
            zip((say("before training"), say("after training")), maps, strict=True)
        ):
            left = 52 + 250 * number
            axes = sheet.add_axes((left / WIDTH, 20 / height, side / WIDTH, side / height))
            axes.imshow(values.numpy(), cmap=scale, vmin=-1, vmax=1, interpolation="none")
            axes.spines[:].set_visible(False)
            axes.tick_params(length=0)
            axes.set_yticks(range(count), words if number == 0 else [""] * count)
            axes.set_xticks(range(count), words, rotation=90)
            axes.xaxis.tick_top()
            for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
                for label in labels:
                    label.set(color=canvas.color("ink"), fontsize=SMALL)
            axes.text(
                0.5, 1.24, title, transform=axes.transAxes, ha="center", va="bottom",
                fontweight="bold",
            )  # fmt: skip

    def alt(say: Say) -> str:
        def nearest(values: Tensor) -> str:
            others = values - 2 * torch.eye(count)
            return ", ".join(f"{words[i]}–{words[j]}" for i, j in enumerate(others.argmax(1)))

        return say(
            "Two maps of the cosines between {count} rows. Before training no two words stand out; "
            "after it some pairs are nearly alike. The nearest word of each after training: "
            "{pairs}.",
            count=count,
            pairs=nearest(maps[1]),
        )

    return Figure("learning-cosines", draw, alt)


def through_layers(
    one_sense: Sequence[Sequence[float]], two_senses: Sequence[Sequence[float]]
) -> Figure:
    """How alike the vectors of one token in two sentences are, layer by layer.

    Parameters
    ----------
    one_sense
        For each pair of sentences in which the token has one sense, the cosine after the
        embedding layer and after each layer of the encoder.
    two_senses
        The same for pairs in which it has two.

    Returns
    -------
    Figure
        A figure named ``learning-layers``.
    """
    depth = len(one_sense[0])
    groups = ((one_sense, "token", "-"), (two_senses, "key", (0, (5, 2))))
    ends = [[curve[-1] for curve in curves] for curves, _, _ in groups]

    def draw(canvas: Canvas) -> None:
        sheet, say = canvas.sheet(WIDTH, 360), canvas.say
        axes = sheet.add_axes((0.1, 0.15, 0.66, 0.73))
        names = (say("one sense"), say("two senses"))
        for name, end, (curves, role, line) in zip(names, ends, groups, strict=True):
            color = canvas.color(role)
            for values in curves:
                axes.plot(range(depth), values, "o", color=color, markersize=5, clip_on=False)
                axes.plot(range(depth), values, color=color, linestyle=line, linewidth=1.8)
            axes.text(
                depth - 0.8, sum(end) / len(end), name, color=color, va="center", fontweight="bold"
            )
        axes.set(xlim=(0, depth - 1), ylim=(min(min(end) for end in ends) - 0.05, 1.02))
        axes.set_xticks(range(depth))
        axes.set_xlabel(say("layer; 0 is the embedding layer"))
        axes.set_title(say("cosine similarity"), loc="left", x=-0.12)

    def alt(say: Say) -> str:
        listed = [", ".join(f"{value:.2f}" for value in sorted(end)) for end in ends]
        return say(
            "The cosine of the vectors of one token in two sentences, from the embedding layer, "
            "where it is {first}, to layer {last}. There it is {same} for pairs of one sense and "
            "{other} for pairs of two senses.",
            first=f"{one_sense[0][0]:.2f}",
            last=depth - 1,
            same=listed[0],
            other=listed[1],
        )

    return Figure("learning-layers", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once, with seeded tables and rounded curves."""
    yield loop()
    random = torch.Generator().manual_seed(0)
    before = torch.randn(6, 16, generator=random)
    after = before.clone()
    after[5] = after[4] + 0.2 * torch.randn(16, generator=random)
    yield cosines(["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"], before, after)
    yield through_layers([[1.0, 0.96, 0.9], [1.0, 0.97, 0.93]], [[1.0, 0.85, 0.6]])
