"""The sinusoidal encoding as waves: how long they are, how they look, how alike two places are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._numbers import wave
from tokpos.figures.sinusoidal import WIDTH
from tokpos.sinusoidal import frequencies, sinusoidal, wavelengths


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
        axes.plot(
            range(len(narrow)),
            narrow,
            "D",
            color=canvas.color("segment"),
            markersize=9,
            clip_on=False,
        )
        axes.text(
            len(wide) - 3.4,
            wide[-1] / 1.5,
            f"D = {width}: {wave(wide[-1])}",
            color=canvas.color("position"),
            ha="right",
        )
        axes.text(
            len(narrow) - 0.2,
            narrow[-1],
            f"D = {small}: {wave(narrow[-1])}",
            color=canvas.color("segment"),
            va="center",
        )
        axes.text(1.0, wide[0] / 1.15, f"2π ≈ {wide[0]:.2f}", va="top")
        axes.set(xlim=(-0.8, len(wide) - 0.5), ylim=(3, 150_000))
        axes.set_xticks(range(0, len(wide), 5))
        axes.set_yticks(
            [10, 100, 1000, 10_000, 100_000], ["10", "100", "1,000", "10,000", "100,000"]
        )
        axes.minorticks_off()
        axes.set_xlabel(canvas.say("pair i"))
        axes.set_title(canvas.say("positions for one turn"), loc="left", x=-0.16)

    def alt(say: Say) -> str:
        return say(
            "Wavelengths on a logarithmic scale. At D = {width} {pairs} of them rise evenly "
            "from {fast} to {slow} positions; at D = {small} there are only {few}: {values}. None "
            "reaches 2π · 10,000.",
            width=width,
            pairs=len(wide),
            fast=wave(wide[0]),
            slow=wave(wide[-1]),
            small=small,
            few=len(narrow),
            values=", ".join(map(wave, narrow)),
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
        axes.set_yticks(range(0, length, 20))
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
    line = torch.linspace(0, length - 1, 397, dtype=torch.float64)

    def draw(canvas: Canvas) -> None:
        panel = 122.0
        height = panel * len(pairs) + 46
        sheet = canvas.sheet(WIDTH, height)
        for i, pair in enumerate(pairs):
            bottom = (height - panel * (i + 1) + 14) / height
            axes = sheet.add_axes((0.06, bottom, 0.84, 76 / height))
            last = pair == pairs[-1]
            _draw_waves(canvas, axes, (line * turn[pair]).numpy(), line.numpy(), last)
            words = canvas.say(
                "pair {pair}, turns once in {wave} positions",
                pair=pair,
                wave=wave(waves[pair].item()),
            )
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
            fast=wave(waves[pairs[0]].item()),
            slow=wave(waves[pairs[-1]].item()),
        )

    return Figure("sinusoidal-curves", draw, alt)


def _draw_waves(
    canvas: Canvas, axes: Axes, angles: np.ndarray, positions: np.ndarray, ticks: bool
) -> None:
    """The two curves of one pair, each named at its right end."""
    sine, cosine = np.sin(angles), np.cos(angles)
    lift = 0.28 if abs(sine[-1] - cosine[-1]) < 0.5 else 0.0
    up = 1 if sine[-1] >= cosine[-1] else -1
    for name, line, role, shift in (("sin", sine, "query", up), ("cos", cosine, "key", -up)):
        axes.plot(positions, line, color=canvas.color(role), linewidth=1.8)
        axes.text(
            positions[-1] * 1.015,
            line[-1] + shift * lift,
            name,
            va="center",
            color=canvas.color(role),
        )
    axes.set(xlim=(0, positions[-1]), ylim=(-1.1, 1.1), yticks=[-1, 1])
    axes.set_xticks(range(0, round(positions[-1]) + 1, 20))
    axes.set_yticklabels(["−1", "1"])
    axes.tick_params(labelbottom=ticks)


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
        axes.text(7, ahead[0], f"D/2 = {width // 2}", va="center")
        for offset, side, words in (
            (
                near,
                "right",
                canvas.say(
                    "offset {offset}:\n{product}", offset=near, product=f"{ahead[near]:.1f}"
                ),
            ),
            (
                far,
                "center",
                canvas.say(
                    "offset {offset}:\n{product}, more again",
                    offset=far,
                    product=f"{ahead[far]:.1f}",
                ),
            ),
        ):
            axes.plot(
                [offset],
                [ahead[offset]],
                "o",
                markersize=10,
                markerfacecolor="none",
                markeredgecolor=canvas.color("ink"),
            )
            axes.plot(
                [offset] * 2, [5.6, ahead[offset] - 0.6], color=canvas.color("faint"), linewidth=0.8
            )
            axes.text(
                offset + (8 if side == "right" else 0),
                5.2,
                words,
                ha=side,
                va="top",
                linespacing=1.3,
            )
        axes.text(-reach / 2, 5.2, canvas.say("the same on this side"), ha="center", va="top")
        axes.set(xlim=(-reach, reach), ylim=(0, width / 2 * 1.08))
        axes.set_xticks(range(-reach, reach + 1, reach // 3))
        axes.set_yticks(range(0, width // 2 + 1, 8))
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
    """Every figure of this module once, as in the lesson."""
    yield wavelength_of_each_pair()
    yield heat_map()
    yield curves()
    yield similarity()
