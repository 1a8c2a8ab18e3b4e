"""The sinusoidal encoding in pictures: hands that turn, waves, and what they have in common.

A pair (sin, cos) of the encoding is drawn as the hand of a clock: it starts at the top, turns
clockwise, and the tip is sin to the right and cos up. `tokpos.figures.added` shows what happens
when positions meet tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Arc, Circle

from tokpos.figures._canvas import Canvas, Plane
from tokpos.figures._figure import Figure, Say
from tokpos.sinusoidal import frequencies, sinusoidal, wavelengths

WIDTH = 520.0
SMALL = 13.0


def _number(value: float, digits: int = 2) -> str:
    return f"{value:,.{digits}f}".replace("-", "−")


def _wave(length: float) -> str:
    """A wavelength with three digits or more."""
    return _number(length, 2 if length < 10 else 1 if length < 100 else 0)


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
    plane.axes.plot(
        [x, tip[0]], [y, tip[1]], color=color, linewidth=weight, solid_capstyle="round"
    )
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
            "In each, one hand has visibly moved while the faster hands stand where they stood."
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
        plane.text(x - 10, (y + tip[1]) / 2, f"cos = {_number(cosine, 3)}", "key", align="right")
        plane.text((x + tip[0]) / 2 + 4, tip[1] - 14, f"sin = {_number(sine, 3)}", "query")
        plane.text(tip[0] + 14, tip[1], f"({_number(sine, 3)}, {_number(cosine, 3)})",
                   "position", align="left", bold=True)
        words = say("turned by {angle} radian", angle=f"{angle:g}")
        plane.text(x, y + 34, words, "position")

    def alt(say: Say) -> str:
        return say(
            "A hand of length 1 on a dial, turned clockwise from the top by {angle} radian. Its "
            "tip is sin = {sine} to the right and cos = {cosine} up.",
            angle=f"{angle:g}",
            sine=_number(sine, 3),
            cosine=_number(cosine, 3),
        )

    return Figure("sinusoidal-one-hand", draw, alt)


def _arc(
    plane: Plane, x: float, y: float, radius: float, start: float, end: float, role: str
) -> None:
    """The arc that a hand sweeps from angle `start` to `end`."""
    degrees = [math.degrees(angle) - 90 for angle in (start, end)]
    plane.axes.add_patch(
        Arc((x, y), 2 * radius, 2 * radius, theta1=degrees[0], theta2=degrees[1],
            color=plane.canvas.color(role), linewidth=2.2)
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
        line = np.linspace(0, until, 1200)
        axes.plot(line, 2 * np.abs(np.sin(line / 2)), color=canvas.color("rule"), linewidth=1.6)
        axes.plot(whole, distance, "o", color=canvas.color("position"), markersize=5)
        turn = 2 * math.pi
        axes.plot([turn, nearest], [0, distance[nearest]], "o", markersize=11,
                  markerfacecolor="none", markeredgecolor=canvas.color("ink"), clip_on=False)
        words = canvas.say("{turn}: back, but no token stands here", turn=f"2π ≈ {turn:.2f}")
        axes.text(-0.5, 2.36, words, va="top")
        axes.plot([turn, turn], [0.1, 2.1], color=canvas.color("faint"), linewidth=0.8)
        words = canvas.say("{place}: off by {distance}", place=nearest,
                           distance=f"{distance[nearest]:.3f}")
        axes.text(until + 0.5, 2.36, words, va="top", ha="right")
        axes.plot([nearest, nearest], [0.1, 2.1], color=canvas.color("faint"), linewidth=0.8)
        axes.set(xlim=(-0.5, until + 0.5), ylim=(0, 2.1), yticks=[0, 1, 2])
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
            plane.text(x, 56, say("{wave} steps", wave=_wave(waves[pair])), "faint", size=SMALL)
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
            fast=_wave(waves[0]),
            slow=_wave(waves[-1]),
        )

    return Figure("sinusoidal-dials", draw, alt)


def wavelength_of_each_pair(width: int = 64, small: int = 4, text: int = 512) -> Figure:
    """The wavelengths, a geometric series, for a wide and a narrow encoding.

    Parameters
    ----------
    width
        Width D of the wide encoding.
    small
        Width of the narrow one.
    text
        A length of text to compare with.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-wavelengths``.
    """
    wide, narrow = wavelengths(width).tolist(), wavelengths(small).tolist()

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 420).add_axes((0.15, 0.13, 0.82, 0.8))
        axes.set_yscale("log")
        for y, words in (
            (2 * math.pi * 10000, canvas.say("2π · 10,000, which no pair reaches")),
            (text, canvas.say("a text of {length} tokens", length=text)),
        ):
            axes.axhline(y, color=canvas.color("faint"), linewidth=1, linestyle=(0, (4, 3)))
            axes.text(len(wide) - 1, y * 1.12, words, color=canvas.color("faint"), ha="right")
        axes.plot(range(len(wide)), wide, "o", color=canvas.color("position"), markersize=6)
        axes.plot(range(len(narrow)), narrow, "D", color=canvas.color("segment"), markersize=9,
                  clip_on=False)
        axes.text(len(wide) - 3.4, wide[-1] / 1.5, f"D = {width}: {_wave(wide[-1])}",
                  color=canvas.color("position"), ha="right")
        axes.text(len(narrow) - 0.2, narrow[-1], f"D = {small}: {_wave(narrow[-1])}",
                  color=canvas.color("segment"), va="center")
        axes.text(1.0, wide[0] / 1.15, f"2π ≈ {wide[0]:.2f}", va="top")
        axes.set(xlim=(-0.8, len(wide) - 0.5), ylim=(3, 150_000))
        axes.set_yticks([10, 100, 1000, 10_000, 100_000], ["10", "100", "1,000", "10,000",
                                                            "100,000"])
        axes.minorticks_off()
        axes.set_xlabel(canvas.say("pair i"))
        axes.set_title(canvas.say("positions for one turn"), loc="left", x=-0.16)

    def alt(say: Say) -> str:
        return say(
            "Wavelengths on a logarithmic scale. At D = {width} they rise in {pairs} even steps "
            "from {fast} to {slow} positions; at D = {small} there are only {few}: {values}. None "
            "reaches 2π · 10,000.",
            width=width,
            pairs=len(wide),
            fast=_wave(wide[0]),
            slow=_wave(wide[-1]),
            small=small,
            few=len(narrow),
            values=", ".join(map(_wave, narrow)),
        )

    return Figure("sinusoidal-wavelengths", draw, alt)


def heat_map(length: int = 128, width: int = 64) -> Figure:
    """The whole table: a row for each position, a column for each coordinate.

    Parameters
    ----------
    length
        Number of positions S.
    width
        Width D of the encoding.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-heat-map``.
    """
    table = sinusoidal(torch.arange(length), width).numpy()

    def draw(canvas: Canvas) -> None:
        sheet = canvas.sheet(WIDTH, 560)
        axes = sheet.add_axes((0.11, 0.13, 0.87, 0.76))
        scale = canvas.colormap("faint", "paper", "position")
        axes.imshow(table, cmap=scale, vmin=-1, vmax=1, aspect="auto", interpolation="none")
        axes.spines[:].set_visible(False)
        axes.set(ylabel=canvas.say("position"), xticks=[0, width // 2, width - 1])
        axes.xaxis.tick_top()
        axes.set_xlabel(canvas.say("coordinate of the encoding"))
        axes.xaxis.set_label_position("top")
        key = sheet.add_axes((0.4, 0.045, 0.3, 0.028))
        key.imshow(np.linspace(-1, 1, 61)[None], cmap=scale, aspect="auto", interpolation="none")
        key.spines[:].set_visible(False)
        key.set(yticks=[], xticks=[0, 30, 60], xticklabels=["−1", "0", "1"])
        for x, words, align in ((0, "fast pairs", "left"), (1, "slow pairs", "right")):
            axes.text(x, -0.025, canvas.say(words), transform=axes.transAxes, ha=align, va="top")

    def alt(say: Say) -> str:
        return say(
            "A map of {length} positions by {width} coordinates. On the left, stripes that "
            "alternate within a few positions; to the right they grow longer, until sines stay "
            "near 0 and cosines near 1.",
            length=length,
            width=width,
        )

    return Figure("sinusoidal-heat-map", draw, alt)


def curves(pairs: Sequence[int] = (0, 4, 8, 16), length: int = 100, width: int = 64) -> Figure:
    """Sine and cosine of a few pairs against the position, one above the other.

    Parameters
    ----------
    pairs
        Which pairs i to draw.
    length
        Number of positions S.
    width
        Width D of the encoding.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-curves``.
    """
    turn, waves = frequencies(width), wavelengths(width)
    line = torch.linspace(0, length - 1, 1000, dtype=torch.float64)

    def draw(canvas: Canvas) -> None:
        panel = 122.0
        height = panel * len(pairs) + 46
        sheet = canvas.sheet(WIDTH, height)
        for i, pair in enumerate(pairs):
            bottom = (height - panel * (i + 1) + 14) / height
            axes = sheet.add_axes((0.06, bottom, 0.84, 76 / height))
            last = pair == pairs[-1]
            _draw_waves(canvas, axes, (line * turn[pair]).numpy(), line.numpy(), last)
            words = canvas.say("pair {pair}, turns once in {wave} positions", pair=pair,
                               wave=_wave(waves[pair].item()))
            axes.set_title(words, loc="left")
            if last:
                axes.set_xlabel(canvas.say("position"))

    def alt(say: Say) -> str:
        return say(
            "Sine and cosine of the pairs {pairs} at D = {width}, for positions 0 to {last}: the "
            "first turns once in {fast} positions, the last once in {slow}.",
            pairs=", ".join(map(str, pairs)),
            width=width,
            last=length - 1,
            fast=_wave(waves[pairs[0]].item()),
            slow=_wave(waves[pairs[-1]].item()),
        )

    return Figure("sinusoidal-curves", draw, alt)


def _draw_waves(
    canvas: Canvas, axes: Axes, angles: np.ndarray, positions: np.ndarray, ticks: bool
) -> None:
    """The two curves of one pair, each named at its right end."""
    sine, cosine = np.sin(angles), np.cos(angles)
    lift = 0.28 if abs(sine[-1] - cosine[-1]) < 0.5 else 0.0
    up = 1 if sine[-1] >= cosine[-1] else -1
    for name, wave, role, shift in (("sin", sine, "query", up), ("cos", cosine, "key", -up)):
        axes.plot(positions, wave, color=canvas.color(role), linewidth=1.8)
        axes.text(positions[-1] * 1.015, wave[-1] + shift * lift, name, va="center",
                  color=canvas.color(role))
    axes.set(xlim=(0, positions[-1]), ylim=(-1.1, 1.1), yticks=[-1, 1])
    axes.set_yticklabels(["−1", "1"])
    axes.tick_params(labelbottom=ticks)


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
            words = say("pair {pair}: {step} steps turn it by {angle}°", pair=pair, step=step,
                        angle=f"{angles[row]:.1f}")
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


def similarity(width: int = 64, reach: int = 150) -> Figure:
    """The dot product of two encodings against their offset: even, and not falling all the way.

    Parameters
    ----------
    width
        Width D of the encoding.
    reach
        Largest offset that is drawn.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-similarity``.
    """
    offsets = np.arange(-reach, reach + 1)
    turn = frequencies(width).numpy()
    products = np.cos(offsets[:, None] * turn).sum(axis=1)
    ahead = products[reach:]
    far = reach // 2 + int(ahead[reach // 2 :].argmax())
    near = int((ahead < ahead[far]).argmax())

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 360).add_axes((0.09, 0.16, 0.88, 0.75))
        color = canvas.color("position")
        axes.plot(offsets, products, color=color, linewidth=1.4)
        axes.plot(offsets, products, "o", color=color, markersize=2.4)
        axes.text(7, ahead[0], f"D/2 = {width // 2}", va="center")
        for offset, side, words in (
            (near, "right", canvas.say("offset {offset}:\n{product}", offset=near,
                                       product=f"{ahead[near]:.1f}")),
            (far, "center", canvas.say("offset {offset}:\n{product}, more again", offset=far,
                                       product=f"{ahead[far]:.1f}")),
        ):
            axes.plot([offset], [ahead[offset]], "o", markersize=10, markerfacecolor="none",
                      markeredgecolor=canvas.color("ink"))
            axes.plot([offset] * 2, [5.6, ahead[offset] - 0.6], color=canvas.color("faint"),
                      linewidth=0.8)
            axes.text(offset + (8 if side == "right" else 0), 5.2, words, ha=side, va="top",
                      linespacing=1.3)
        axes.text(-reach / 2, 5.2, canvas.say("the same on this side"), ha="center", va="top")
        axes.set(xlim=(-reach, reach), ylim=(0, width / 2 * 1.08))
        axes.set_xlabel(canvas.say("offset p − q"))
        axes.set_title("PE(p) · PE(q)", loc="left", x=-0.08)

    def alt(say: Say) -> str:
        return say(
            "The dot product PE(p) · PE(q) at D = {width} against p − q: {top} at offset 0, the "
            "same on both sides, falling in ripples. At offset {far} it is {more}, at offset "
            "{near} only {less}.",
            width=width,
            top=width // 2,
            far=far,
            more=f"{ahead[far]:.1f}",
            near=near,
            less=f"{ahead[near]:.1f}",
        )

    return Figure("sinusoidal-similarity", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this subject once, as in the lesson."""
    yield clock()
    yield one_hand()
    yield comes_back()
    yield dials()
    yield wavelength_of_each_pair()
    yield heat_map()
    yield curves()
    yield turning()
    yield similarity()
