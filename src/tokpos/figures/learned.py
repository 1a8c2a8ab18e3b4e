"""Learned positions beside sinusoidal ones: which positions resemble which."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._numbers import decimal
from tokpos.sinusoidal import sinusoidal

WIDTH = 520.0


def _cosines(rows: Tensor) -> Tensor:
    """Cosine similarity of every pair of rows.

    Parameters
    ----------
    rows
        One vector for each position.

    Returns
    -------
    Tensor
        A square map with ones on the diagonal.
    """
    unit = F.normalize(rows.double(), dim=-1)
    return (unit @ unit.T).float()


def _drawn(similarities: Tensor) -> Tensor:
    """A map for the eye, which a page can carry: at most 128 pixels wide, in 65 colors."""
    block = -(-len(similarities) // 128)
    means = F.avg_pool2d(similarities[None, None], block, ceil_mode=True)[0, 0]
    return (32 * means).round() / 32


def similarity_maps(table: Tensor) -> Figure:
    """Cosine similarity of positions: a learned table on the left, sinusoids on the right.

    Of more than 128 positions the picture shows means of neighbors.

    Parameters
    ----------
    table
        A learned position table: one row for each position, of even width.

    Returns
    -------
    Figure
        A figure named ``learned-similarity``.

    Raises
    ------
    ValueError
        The table has not two axes.
    """
    if table.dim() != 2:
        raise ValueError(f"table must have shape [N, D]; got shape {list(table.shape)}")
    length, width = table.shape
    learned = _cosines(table.detach())
    computed = _cosines(sinusoidal(torch.arange(length), width))
    apart = max(1, length // 8)

    def draw(canvas: Canvas) -> None:
        sheet = canvas.sheet(WIDTH, 350)
        scale = canvas.colormap("key", "paper", "position")
        for left, words, values in (
            (0.085, "learned", learned),
            (0.575, "sinusoidal", computed),
        ):
            axes = sheet.add_axes((left, 0.27, 0.4, 0.594))
            axes.imshow(
                _drawn(values).numpy(),
                cmap=scale,
                vmin=-1,
                vmax=1,
                interpolation="none",
                extent=(-0.5, length - 0.5, length - 0.5, -0.5),
            )
            axes.spines[:].set_visible(False)
            axes.set_title(canvas.say(words), loc="left")
            axes.set(xticks=[0, length - 1], yticks=[0, length - 1])
            axes.set_xlabel(canvas.say("position"), labelpad=-10)
        key = sheet.add_axes((0.35, 0.085, 0.3, 0.04))
        key.imshow(torch.linspace(-1, 1, 61)[None].numpy(), cmap=scale, aspect="auto")
        key.spines[:].set_visible(False)
        key.set(yticks=[], xticks=[0, 30, 60], xticklabels=["−1", "0", "1"])
        sheet.text(0.33, 0.105, canvas.say("cosine similarity"), ha="right", va="center")

    def alt(say: Say) -> str:
        def mean(values: Tensor, offset: int) -> str:
            return f"{values.diagonal(offset).mean().item():.2f}".replace("-", "−")

        return say(
            "Two maps of {length} by {length} positions. Cosine similarity at offset 1 and "
            "{apart}: {near} and {far} on average for the learned table, {near2} and {far2} for "
            "the sinusoids, whose map is the same along every diagonal.",
            length=length,
            apart=apart,
            near=mean(learned, 1),
            far=mean(learned, apart),
            near2=mean(computed, 1),
            far2=mean(computed, apart),
        )

    return Figure("learned-similarity", draw, alt)


def similarity_by_distance(table: Tensor, reach: int = 40) -> Figure:
    """Mean cosine similarity against the distance: a learned table and sinusoids.

    Parameters
    ----------
    table
        A learned position table: one row for each position, of even width.
    reach
        Largest distance that is drawn, below the number of rows.

    Returns
    -------
    Figure
        A figure named ``learned-by-distance``.

    Raises
    ------
    ValueError
        The table has not two axes, or too few rows.
    """
    if table.dim() != 2 or len(table) <= reach:
        raise ValueError(f"table must be [N, D], N above {reach}; got shape {list(table.shape)}")
    length, width = table.shape
    distances = list(range(1, reach + 1))

    def means(rows: Tensor) -> list[float]:
        values = _cosines(rows)
        return [values.diagonal(distance).mean().item() for distance in distances]

    learned = means(table.detach())
    computed = means(sinusoidal(torch.arange(length), width))

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 330).add_axes((0.1, 0.17, 0.87, 0.72))
        for words, values, role in (
            ("learned", learned, "position"),
            ("sinusoidal", computed, "faint"),
        ):
            color = canvas.color(role)
            axes.plot(distances, values, "o-", color=color, markersize=4.5, linewidth=1.6)
            top = max(values[-reach // 4 :])
            axes.text(reach, top + 0.05, canvas.say(words), color=color, ha="right", va="bottom")
        axes.set(xlim=(0, reach + 0.5), ylim=(min(0.0, *learned, *computed) - 0.02, 1.05))
        axes.set_xticks(range(0, reach + 1, 5))
        axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
        axes.set_xlabel(canvas.say("distance of two positions"))
        axes.set_title(canvas.say("cosine similarity"), loc="left", x=-0.08)

    def alt(say: Say) -> str:
        rises = [d for d, (a, b) in zip(distances, pairwise(learned), strict=False) if b > a]
        first = rises[0] if rises else reach
        top = max(range(first, reach + 1), key=lambda distance: learned[distance - 1])
        return say(
            "Mean cosine similarity of two positions against their distance, 1 to {reach}. Learned "
            "table: {near} at distance 1, {low} at {first}, {high} at {top}. Sinusoids: {near2} at "
            "distance 1, {far2} at {reach}.",
            reach=reach,
            near=decimal(learned[0], 2),
            low=decimal(learned[first - 1], 2),
            first=first,
            high=decimal(learned[top - 1], 2),
            top=top,
            near2=decimal(computed[0], 2),
            far2=decimal(computed[-1], 2),
        )

    return Figure("learned-by-distance", draw, alt)


def two_tasks(even_or_odd: Tensor, halves: Tensor, reached: int) -> Figure:
    """Cosine similarity of the rows of two tables that were trained on different tasks.

    Parameters
    ----------
    even_or_odd
        A table trained to tell even positions from odd ones.
    halves
        A table trained to tell the first half of a text from the second.
    reached
        Number of rows that a training text reached; the others follow behind a line.

    Returns
    -------
    Figure
        A figure named ``learned-two-tasks``.

    Raises
    ------
    ValueError
        A table has not two axes, or not more rows than were reached.
    """
    for table in (even_or_odd, halves):
        if table.dim() != 2 or not 0 < reached < len(table):
            raise ValueError(
                f"a table must be [N, D], N above {reached}; got shape {list(table.shape)}"
            )
    maps = [_cosines(table.detach()) for table in (even_or_odd, halves)]

    def draw(canvas: Canvas) -> None:
        sheet = canvas.sheet(WIDTH, 350)
        scale = canvas.colormap("key", "paper", "position")
        titles = (canvas.say("even or odd?"), canvas.say("first or second half?"))
        for left, words, values in zip((0.085, 0.575), titles, maps, strict=True):
            axes = sheet.add_axes((left, 0.27, 0.4, 0.594))
            axes.imshow(values.numpy(), cmap=scale, vmin=-1, vmax=1, interpolation="none")
            for line in (axes.axhline, axes.axvline):
                line(reached - 0.5, color=canvas.color("ink"), linewidth=1.6)
            axes.spines[:].set_visible(False)
            axes.set_title(words, loc="left")
            ticks = [0, reached - 1, len(values) - 1]
            axes.set(xticks=ticks, yticks=ticks)
            axes.set_xlabel(canvas.say("position"), loc="left")
        words = canvas.say("behind the lines: rows that no text reached")
        sheet.text(0.085, 0.06, words, color=canvas.color("faint"), va="center")

    def alt(say: Say) -> str:
        return say(
            "Two maps of the cosine similarity of {count} rows. Trained on even or odd, the first "
            "{reached} rows make a chessboard; trained on the first or second half, four squares. "
            "The last {left} rows, which no text reached, show no pattern.",
            count=len(maps[0]),
            reached=reached,
            left=len(maps[0]) - reached,
        )

    return Figure("learned-two-tasks", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module, with made-up tables in place of trained ones."""
    noise = torch.randn(64, 32, generator=torch.Generator().manual_seed(0))
    walk = noise.cumsum(0)
    yield similarity_maps(walk - walk.mean(0))
    yield similarity_by_distance(walk - walk.mean(0))
    answer, other = noise[0], noise[:16]
    parity = torch.tensor([1.0, -1.0]).repeat(6)[:, None] * answer
    halves = torch.tensor([1.0, -1.0]).repeat_interleave(6)[:, None] * answer
    yield two_tasks(torch.cat([parity, other[12:]]), torch.cat([halves, other[12:]]), 12)
