"""The sinusoidal encoding as a clock: each pair is a hand that turns.

A hand starts at the top and turns clockwise; its tip is sin to the right and cos up. The same
encoding as waves is in `tokpos.figures.waves`, its sum with tokens in `tokpos.figures.added`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.patches import Arc, Circle

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._numbers import wave
from tokpos.figures._plane import Plane
from tokpos.sinusoidal import frequencies, wavelengths

WIDTH = 520.0
SMALL = 13.0


def _tip(x: float, y: float, reach: float, angle: float) -> tuple[float, float]:
    return x + reach * math.sin(angle), y - reach * math.cos(angle)


def _dial(plane: Plane, x: float, y: float, radius: float, ticks: int = 0) -> None:
    color = plane.canvas.color
    plane.axes.add_patch(
        Circle((x, y), radius, facecolor=color("paper"), edgecolor=color("rule"), linewidth=1.4)
    )
    for angle in np.linspace(0, 2 * math.pi, ticks, endpoint=False):
        plane.line(_tip(x, y, radius - 7, angle), _tip(x, y, radius - 1, angle), "faint")


def _hand(
    plane: Plane, x: float, y: float, reach: float, angle: float, role: str, weight: float
) -> None:
    color = plane.canvas.color(role)
    tip = _tip(x, y, reach, angle)
    plane.axes.plot([x, tip[0]], [y, tip[1]], color=color, linewidth=weight, solid_capstyle="round")
    plane.axes.add_patch(Circle((x, y), weight * 0.9, facecolor=color, edgecolor="none"))


def clock() -> Figure:
    """Four moments on an ordinary clock: each hand tells what the faster ones cannot.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-clock``.
    """
    moments = (
        (36485, "a moment", ""),
        (36515, "30 seconds later", "second"),
        (38285, "30 minutes later", "minute"),
        (58085, "6 hours later", "hour"),
    )
    hands = (("hour", 43200, 46, 6.0), ("minute", 3600, 70, 4.0), ("second", 60, 82, 2.0))
    remarks = {
        "": "",
        "second": "only the second hand shows it",
        "minute": "the second hand is back",
        "hour": "second and minute hand are back",
    }

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 560), canvas.say
        for i, (seconds, words, moved) in enumerate(moments):
            x, y = 135 + 250 * (i % 2), 100 + 280 * (i // 2)
            _dial(plane, x, y, 92, ticks=12)
            for name, turn, reach, weight in hands:
                role = "position" if name == moved else "ink"
                _hand(plane, x, y, reach, 2 * math.pi * seconds / turn, role, weight)
            time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            plane.text(x, y + 114, time, size=16, bold=True)
            plane.text(x, y + 138, say(words))
            if moved:
                plane.text(x, y + 160, say(remarks[moved]), "position", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "Four clock faces: 10:08:05, then 30 seconds later, 30 minutes later, 6 hours later. "
            "In the last three one hand has visibly moved while the faster ones stand where they "
            "stood."
        )

    return Figure("sinusoidal-clock", draw, alt)


def one_hand(angle: float = 1.0) -> Figure:
    """One pair as a hand: sine and cosine are the two coordinates of its tip.

    Parameters
    ----------
    angle
        How far the hand has turned, in radians, between 0 and pi/2.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-one-hand``.
    """
    sine, cosine = math.sin(angle), math.cos(angle)

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 300), canvas.say
        x, y, radius = 200.0, 150.0, 138.0
        tip = _tip(x, y, radius, angle)
        _dial(plane, x, y, radius)
        plane.line((x, y), (x, y - radius), "faint", dashed=True)
        plane.line(tip, (x, tip[1]), "query", weight=3)
        plane.line((x, y), (x, tip[1]), "key", weight=3)
        _hand(plane, x, y, radius, angle, "position", 4)
        _arc(plane, x, y, 44, 0, angle, "position")
        plane.text(x - 10, (y + tip[1]) / 2, f"cos = {cosine:.3f}", "key", align="right")
        plane.text((x + tip[0]) / 2 + 4, tip[1] - 14, f"sin = {sine:.3f}", "query")
        plane.text(
            tip[0] + 14, tip[1], f"({sine:.3f}, {cosine:.3f})", "position", align="left", bold=True
        )
        words = say("turned by {angle} radian", angle=f"{angle:g}")
        plane.text(x, y + 34, words, "position")

    def alt(say: Say) -> str:
        return say(
            "A hand of length 1 on a dial, turned clockwise from the top by {angle} radian. Its "
            "tip is sin = {sine} to the right and cos = {cosine} up.",
            angle=f"{angle:g}",
            sine=f"{sine:.3f}",
            cosine=f"{cosine:.3f}",
        )

    return Figure("sinusoidal-one-hand", draw, alt)


def _arc(
    plane: Plane, x: float, y: float, radius: float, start: float, end: float, role: str
) -> None:
    """The arc that a hand sweeps from angle `start` to `end`."""
    degrees = [math.degrees(angle) - 90 for angle in (start, end)]
    plane.axes.add_patch(
        Arc(
            (x, y),
            2 * radius,
            2 * radius,
            theta1=degrees[0],
            theta2=degrees[1],
            color=plane.canvas.color(role),
            linewidth=2.2,
        )
    )


def comes_back(until: int = 48) -> Figure:
    """How far the fastest hand is from its start: it returns between whole positions.

    Parameters
    ----------
    until
        Last position that is drawn.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-comes-back``.
    """
    whole = np.arange(until + 1)
    distance = 2 * np.abs(np.sin(whole / 2))
    nearest = int(distance[1:].argmin()) + 1

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 300).add_axes((0.1, 0.18, 0.87, 0.68))
        line = np.linspace(0, until, 481)
        axes.plot(line, 2 * np.abs(np.sin(line / 2)), color=canvas.color("rule"), linewidth=1.6)
        axes.plot(whole, distance, "o", color=canvas.color("position"), markersize=5)
        turn = 2 * math.pi
        axes.plot(
            [turn, nearest],
            [0, distance[nearest]],
            "o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=canvas.color("ink"),
            clip_on=False,
        )
        words = canvas.say("{turn}: back, but no token stands here", turn=f"2π ≈ {turn:.2f}")
        axes.text(-0.5, 2.36, words, va="top")
        axes.plot([turn, turn], [0.1, 2.1], color=canvas.color("faint"), linewidth=0.8)
        words = canvas.say(
            "{place}: off by {distance}", place=nearest, distance=f"{distance[nearest]:.3f}"
        )
        axes.text(until + 0.5, 2.36, words, va="top", ha="right")
        axes.plot([nearest, nearest], [0.1, 2.1], color=canvas.color("faint"), linewidth=0.8)
        axes.set(xlim=(-0.5, until + 0.5), ylim=(0, 2.1), yticks=[0, 1, 2])
        axes.set_xticks(range(0, until + 1, 10))
        axes.set_xlabel(canvas.say("position"))

    def alt(say: Say) -> str:
        return say(
            "Distance of the fastest hand's tip from where it stood at position 0, for positions "
            "0 to {until}. The curve touches 0 at multiples of 2π; the dots at whole positions "
            "only come near it, at {place} within {distance}.",
            until=until,
            place=nearest,
            distance=f"{distance[nearest]:.3f}",
        )

    return Figure("sinusoidal-comes-back", draw, alt)


def dials(width: int = 8, positions: Sequence[int] = (0, 1, 2, 10, 100, 1000)) -> Figure:
    """One row of hands for each position: the whole encoding as a set of clocks.

    Parameters
    ----------
    width
        Width D of the encoding; a dial for each of its D/2 pairs.
    positions
        The positions to draw.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-dials``.
    """
    turn = frequencies(width).tolist()
    waves = wavelengths(width).tolist()

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 96 + 84 * len(positions)), canvas.say
        step = (WIDTH - 90) / len(turn)
        centers = [100 + step * (pair + 0.5) for pair in range(len(turn))]
        for pair, x in enumerate(centers):
            plane.text(x, 16, say("pair {pair}", pair=pair), bold=True)
            plane.text(x, 38, say("turns once in"), "faint", size=SMALL)
            plane.text(x, 56, say("{wave} steps", wave=wave(waves[pair])), "faint", size=SMALL)
        plane.text(50, 38, say("position"), "position", bold=True)
        for row, position in enumerate(positions):
            y = 112 + 84 * row
            plane.text(50, y, f"{position:,}", "position", size=16, bold=True)
            for x, speed in zip(centers, turn, strict=True):
                _dial(plane, x, y, 36)
                _hand(plane, x, y, 31, position * speed, "position", 3.4)

    def alt(say: Say) -> str:
        return say(
            "A row of {pairs} dials for each of the positions {positions}. The hand of pair 0 "
            "turns once in {fast} positions, that of the last pair once in {slow}.",
            pairs=len(turn),
            positions=", ".join(f"{position:,}" for position in positions),
            fast=wave(waves[0]),
            slow=wave(waves[-1]),
        )

    return Figure("sinusoidal-dials", draw, alt)


def turning(
    step: int = 3,
    starts: Sequence[int] = (2, 20, 200),
    pairs: Sequence[int] = (4, 8),
    width: int = 64,
) -> Figure:
    """A step of fixed length turns a pair by a fixed angle, wherever it starts.

    Parameters
    ----------
    step
        Number of positions k from the pale hand to the strong one.
    starts
        Positions p to start from, a column of dials for each.
    pairs
        Pairs i, a row of dials for each.
    width
        Width D of the encoding.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-turning``.
    """
    turn = frequencies(width).tolist()
    angles = [math.degrees(step * turn[pair]) for pair in pairs]

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 40 + 194 * len(pairs)), canvas.say
        columns = [100 + 164 * i for i in range(len(starts))]
        for x, start in zip(columns, starts, strict=True):
            plane.text(x, 18, f"{start} → {start + step}", "position", size=16, bold=True)
        for row, pair in enumerate(pairs):
            y = 112 + 194 * row
            for x, start in zip(columns, starts, strict=True):
                before, after = start * turn[pair], (start + step) * turn[pair]
                _dial(plane, x, y, 70)
                _hand(plane, x, y, 62, before, "rule", 4)
                _hand(plane, x, y, 62, after, "position", 4)
                _arc(plane, x, y, 40, before, after, "position")
            words = say(
                "pair {pair}: {step} steps turn it by {angle}°",
                pair=pair,
                step=step,
                angle=f"{angles[row]:.1f}",
            )
            plane.text(WIDTH / 2, y + 90, words)

    def alt(say: Say) -> str:
        return say(
            "Dials with the hand of a pair before and after {step} steps, from the positions "
            "{starts}. Pair {first} turns by {wide}° from each of them, pair {second} by {small}°.",
            step=step,
            starts=", ".join(map(str, starts)),
            first=pairs[0],
            wide=f"{angles[0]:.1f}",
            second=pairs[-1],
            small=f"{angles[-1]:.1f}",
        )

    return Figure("sinusoidal-turning", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once, as in the lesson."""
    yield clock()
    yield one_hand()
    yield comes_back()
    yield dials()
    yield turning()
