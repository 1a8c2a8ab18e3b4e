"""Positions meet tokens, in pictures: the sum, its price, and what can be read out of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._plane import Plane
from tokpos.sinusoidal import sinusoidal_table

WIDTH = 520.0
SMALL = 13.0


def token_plus_position(tokens: list[str], vectors: Tensor, columns: int = 48) -> Figure:
    """Token vectors, the encoding of their positions, and the sum, as three maps.

    Parameters
    ----------
    tokens
        The tokens of a text.
    vectors
        Their vectors, ``[S, D]``.
    columns
        How many of the D coordinates are drawn, from the first on.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-token-plus-position``.
    """
    rows = vectors.detach().float()
    encoding = sinusoidal_table(*rows.shape)
    maps = (
        ("token vectors", "token", rows),
        ("their positions", "position", encoding),
        ("their sum", "ink", rows + encoding),
    )

    def draw(canvas: Canvas) -> None:
        panel = 24.0 * len(tokens)
        height = 3 * (panel + 46)
        sheet = canvas.sheet(WIDTH, height)
        for i, (words, role, values) in enumerate(maps):
            bottom = 1 - ((i + 1) * (panel + 46) - 8) / height
            axes = sheet.add_axes((0.2, bottom, 0.79, panel / height))
            axes.imshow(
                values[:, :columns].numpy(),
                cmap=canvas.colormap("paper", role),
                vmin=-2,
                vmax=2,
                aspect="auto",
                interpolation="none",
            )
            axes.spines[:].set_visible(False)
            axes.tick_params(length=0)
            axes.set(xticks=[])
            labels = [f"{n}" for n in range(len(tokens))] if role == "position" else tokens
            axes.set_yticks(range(len(tokens)), labels)
            if role != "position":
                for label, token in zip(axes.get_yticklabels(), tokens, strict=True):
                    if tokens.count(token) > 1:
                        label.set(color=canvas.color("ink"), fontweight="bold")
            sign = ("", "+ ", "= ")[i]
            axes.set_title(
                sign + canvas.say(words),
                loc="left",
                x=-0.24,
                color=canvas.color(role),
                fontweight="bold",
            )

    def alt(say: Say) -> str:
        return say(
            "Three maps of {count} rows, one for each of the tokens {tokens}: the token vectors, "
            "the encodings of positions 0 to {last}, and their sum. Rows of equal tokens are "
            "equal in the first map and differ in the last.",
            count=len(tokens),
            tokens=" ".join(tokens),
            last=len(tokens) - 1,
        )

    return Figure("sinusoidal-token-plus-position", draw, alt)


def added_or_concatenated(width: int = 384) -> Figure:
    """What a Linear costs behind a sum and behind a concatenation, drawn to scale.

    Parameters
    ----------
    width
        Width D of the token vectors.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-added-or-concatenated``.
    """
    side = 104.0

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 480), canvas.say
        plane.text(10, 20, say("added"), align="left", bold=True)
        _bar(plane, 10, 62, side, "token", "D")
        plane.text(10 + side / 2, 106, "+", size=18, bold=True)
        _bar(plane, 10, 126, side, "position", "D")
        plane.arrow((24 + side, 108), (226, 108))
        plane.text(176, 92, f"D = {width}", "faint", size=SMALL)
        _square(plane, 236, 40, side, say("{count} weights", count=f"{width**2:,}"))

        plane.text(10, 232, say("concatenated"), align="left", bold=True)
        _bar(plane, 10, 310, side, "token", "D")
        _bar(plane, 10 + side, 310, side, "position", "D")
        plane.arrow((24 + 2 * side, 324), (264, 324))
        plane.text(10 + side, 358, f"2D = {2 * width}", "faint", size=SMALL)
        _square(plane, 274, 240, 2 * side, say("{count} weights", count=f"{(2 * width) ** 2:,}"))

    def alt(say: Say) -> str:
        return say(
            "Above, a token vector and a position vector of width {width} are added, and a square "
            "Linear behind them has {small} weights. Below they stand side by side, {double} "
            "wide, and the square Linear has {large} weights, four times as many.",
            width=width,
            small=f"{width**2:,}",
            double=2 * width,
            large=f"{(2 * width) ** 2:,}",
        )

    return Figure("sinusoidal-added-or-concatenated", draw, alt)


def _bar(plane: Plane, x: float, y: float, width: float, role: str, words: str) -> None:
    plane.cell(x, y, width, 28, words, fill=f"{role}-soft", edge=role, color=role)


def _square(plane: Plane, x: float, y: float, side: float, words: str) -> None:
    plane.cell(x, y, side, side, "Linear", edge="faint")
    plane.text(x + side / 2, y + side + 18, words, size=SMALL)


def lengths(token: float = 1.0, width: int = 384) -> Figure:
    """How long a token vector is beside a position vector, with and without the factor sqrt(D).

    Parameters
    ----------
    token
        Length of a token vector before the factor.
    width
        Width D.

    Returns
    -------
    Figure
        A figure named ``sinusoidal-lengths``.
    """
    position, factor = math.sqrt(width / 2), math.sqrt(width)
    longest = max(token * factor, position)

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 214), canvas.say
        for i, (words, role, length) in enumerate(
            (
                (say("token vector as it is"), "token", token),
                (say("position vector"), "position", position),
                (say("token vector times √D"), "token", token * factor),
            )
        ):
            y = 8 + 70 * i
            plane.text(10, y + 10, words, role, align="left")
            plane.cell(10, y + 24, 440 * length / longest, 26, fill=role, edge=role)
            plane.text(
                18 + 440 * length / longest, y + 37, f"{length:.1f}", role, align="left", bold=True
            )

    def alt(say: Say) -> str:
        return say(
            "Three bars at D = {width}: a token vector is {token} long, a position vector "
            "{position}, and the token vector times √D is {scaled}.",
            width=width,
            token=f"{token:.1f}",
            position=f"{position:.1f}",
            scaled=f"{token * factor:.1f}",
        )

    return Figure("sinusoidal-lengths", draw, alt)


def read_from_the_sum(
    stored: Mapping[str, tuple[float, float]], scaled: Mapping[str, tuple[float, float]]
) -> Figure:
    """How often position and token are read rightly out of their sum.

    Parameters
    ----------
    stored
        For ``"position"`` and ``"token"`` two shares between 0 and 1: read without a probe, and
        with a linear probe. The token vectors are taken as they are.
    scaled
        The same with the token vectors times sqrt(D).

    Returns
    -------
    Figure
        A figure named ``sinusoidal-read-from-the-sum``.
    """

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 400), canvas.say
        for i, (title, shares) in enumerate(
            (
                (say("token vectors as they are"), stored),
                (say("token vectors times √D"), scaled),
            )
        ):
            top = 200 * i
            plane.text(10, top + 20, title, align="left", bold=True)
            for j, (role, name) in enumerate(
                (
                    ("position", say("position")),
                    ("token", say("token")),
                )
            ):
                for k, words in enumerate((say("nearest row"), say("linear probe"))):
                    y = top + 40 + 74 * j + 32 * k
                    share = shares[role][k]
                    if not k:
                        plane.text(10, y + 29, name, role, align="left", bold=True)
                    plane.text(198, y + 13, words, "faint", align="right", size=SMALL)
                    plane.cell(208, y, 236, 26)
                    plane.cell(
                        208, y, 236 * share, 26, edge=role, fill=role if k else f"{role}-soft"
                    )
                    plane.text(452, y + 13, f"{share:.1%}", role, align="left", bold=True)

    def alt(say: Say) -> str:
        shares = {
            f"{way}_{what}_{name}": f"{share:.1%}"
            for name, setting in (("stored", stored), ("scaled", scaled))
            for what in ("position", "token")
            for way, share in zip(("row", "probe"), setting[what], strict=True)
        }
        return say(
            "Share read rightly out of the sum, by the nearest row and by a linear probe. Token "
            "vectors as they are: position {row_position_stored} and {probe_position_stored}, "
            "token {row_token_stored} and {probe_token_stored}. Times √D: position "
            "{row_position_scaled} and {probe_position_scaled}, token {row_token_scaled} and "
            "{probe_token_scaled}.",
            **shares,
        )

    return Figure("sinusoidal-read-from-the-sum", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this subject once, with random token vectors and rounded shares."""
    random = torch.Generator().manual_seed(0)
    vectors = torch.randn(4, 384, generator=random)[[0, 1, 2, 0, 3]]
    yield token_plus_position(["the", "dog", "saw", "the", "cat"], vectors)
    yield added_or_concatenated()
    yield lengths()
    yield read_from_the_sum(
        {"position": (1.0, 1.0), "token": (0.02, 1.0)},
        {"position": (0.87, 0.91), "token": (1.0, 1.0)},
    )
