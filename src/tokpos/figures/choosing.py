"""Choosing: the loss of every encoding against the place in the text, beyond the trained length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator, NullLocator

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.length import LETTERS
from tokpos.results import Result, load

WIDTH = 520
PANEL = 156
"""Height of a panel in pixels, its name and its axis included."""

NAMES = {
    "none": "no encoding",
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "shaw": "Shaw",
    "transformer-xl": "Transformer-XL",
    "t5": "T5",
    "rope": "RoPE",
    "alibi": "ALiBi",
}
"""What the figure calls the encodings, in the order of its panels."""

FIRST = 2
"""Where the axis of places begins; places are counted from 1 on it."""

SMALL = 13.0


def loss_against_length(result: Result, task: str) -> Figure:
    """Loss at near and far places, one panel for each encoding, one line for each seed.

    Each mark is the mean between two edges, and stands in their middle on the logarithmic axis.
    The ground is colored where the places are those of the training.

    Parameters
    ----------
    result : Result
        ``tokpos.results.load("length")``.
    task : {"spelling", "recall"}
        Which task is drawn.

    Returns
    -------
    Figure
        A figure named ``length-`` and the task.

    Raises
    ------
    ValueError
        The result has no such task, or lacks an encoding.
    """
    tasks = [name for name, found in result.data.items() if isinstance(found, dict)]
    if task not in tasks:
        raise ValueError(f"task must be one of {', '.join(tasks)}; got {task!r}")
    found = result.data[task]
    if missing := [name for name in NAMES if name not in found]:
        raise ValueError(f"result must hold {', '.join(missing)}; it holds {', '.join(found)}")
    edges, trained = result.data["edges"], result.data["trained"]
    highest = max(math.log(LETTERS), *(max(row) for name in NAMES for row in found[name]))

    def draw(canvas: Canvas) -> None:
        height = PANEL * ((len(NAMES) + 1) // 2) + 34
        sheet = canvas.sheet(WIDTH, height)
        for number, name in enumerate(NAMES):
            left, top = 0.075 + 0.49 * (number % 2), PANEL * (number // 2) + 40
            axes = sheet.add_axes((left, 1 - (top + 100) / height, 0.4, 100 / height))
            axes.set(xscale="log", xlim=(FIRST, edges[-1] + 1), ylim=(0, 1.08 * highest))
            _draw_panel(canvas, axes, found[name], edges, trained)
            _write_name(canvas, axes, canvas.say(NAMES[name]))
        _write_once(canvas, sheet.axes[0], trained)
        sheet.axes[-2].set_xlabel(canvas.say("place in the text"), fontsize=SMALL)

    def alt(say: Say) -> str:
        within, beyond = edges.index(trained) - 1, len(edges) - 2
        panels = [
            say(
                "{name}: {before} up to place {trained}, {after} at the far end",
                name=say(NAMES[name]),
                before=_span(found[name], within),
                after=_span(found[name], beyond),
                trained=trained,
            )
            for name in NAMES
        ]
        return say(
            "{count} charts of the loss against the place in the text, on a logarithmic axis, "
            "three seeds each; guessing costs {guess}. {panels}.",
            count=len(NAMES),
            guess=f"{math.log(LETTERS):.2f}",
            panels="; ".join(panels),
        )

    return Figure(f"length-{task}", draw, alt)


def gallery() -> Iterator[Figure]:
    """Each figure once, from the kept result."""
    result = load("length")
    for task in ("spelling", "recall"):
        yield loss_against_length(result, task)


def _middles(edges: Sequence[int]) -> list[float]:
    """The middle of each range on a logarithmic axis; places are counted from 1 there."""
    return [math.sqrt((a + 1) * b) for a, b in zip(edges, edges[1:], strict=False)]


def _span(rows: Sequence[Sequence[float]], place: int) -> str:
    """Least and largest loss of the seeds."""
    losses = [f"{row[place]:.2f}" for row in rows]
    return f"{min(losses)}–{max(losses)}"


def _draw_panel(canvas: Canvas, axes: Axes, rows: Any, edges: Sequence[int], trained: int) -> None:
    axes.axvspan(FIRST, trained, color=canvas.color("token-soft"), zorder=0, linewidth=0)
    axes.axhline(math.log(LETTERS), color=canvas.color("faint"), linewidth=1.2, dashes=(4, 3))
    for row in rows:
        axes.plot(
            _middles(edges), row, color=canvas.color("position"), marker="o", markersize=3.5,
            linewidth=1.6, clip_on=False,
        )  # fmt: skip
    axes.xaxis.set_major_locator(FixedLocator([4, trained, edges[-1] + 1]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MultipleLocator(2))
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_fontsize(SMALL)


def _write_name(canvas: Canvas, axes: Axes, words: str) -> None:
    line = axes.text(
        0.5, 1.06, words, transform=axes.transAxes, ha="center", va="bottom", fontweight="bold"
    )
    if not words.isascii():  # the Chinese font has no bold
        line.set_path_effects([withStroke(linewidth=0.7, foreground=canvas.color("ink"))])


def _write_once(canvas: Canvas, axes: Axes, trained: int) -> None:
    """In the first panel, what ground and broken line mean."""
    axes.text(
        FIRST * 1.1, math.log(LETTERS) + 0.15, canvas.say("guessing"),
        color=canvas.color("faint"), fontsize=SMALL,
    )  # fmt: skip
    axes.text(
        trained / 1.1, math.log(LETTERS) - 0.2, canvas.say("trained"),
        color=canvas.color("token"), fontsize=SMALL, ha="right", va="top",
    )  # fmt: skip
    axes.text(0, 1.06, canvas.say("loss"), transform=axes.transAxes, fontsize=SMALL, va="bottom")
