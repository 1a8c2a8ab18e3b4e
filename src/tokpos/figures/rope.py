"""RoPE as a turn: pairs that turn, which features pair up, what the rules for length change.

Pairs turn counterclockwise, from the first feature of a pair toward the second, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from matplotlib.patches import Arc, Circle

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._plane import Plane
from tokpos.rope import RotaryEncoding, rotate, rotation
from tokpos.rope_axes import axes_rotation, axial_plan, grid_positions
from tokpos.rope_layout import feature_order
from tokpos.rope_scaling import scaled_frequencies
from tokpos.sinusoidal import frequencies

WIDTH = 520.0
SMALL = 13.0


def _pair_at(start: float, position: int, speed: float) -> float:
    """The angle of a pair after its turn, taken from the turned pair itself."""
    pair = torch.tensor([[[math.cos(start), math.sin(start)]]], dtype=torch.float64)
    speeds = torch.tensor([speed], dtype=torch.float64)
    turn = rotation(torch.tensor([position]), speeds, dtype=torch.float64)
    x, y = rotate(pair, turn, "interleaved").flatten().tolist()
    return math.atan2(y, x)


def turning(
    moments: tuple[tuple[int, int], ...] = ((2, 5), (6, 9), (0, 7)), speed: float = 0.25
) -> Figure:
    """A pair of a query and of a key, each turned by its position.

    Parameters
    ----------
    moments
        Positions m of the query and n of the key, a dial for each.
    speed
        Frequency of the pair, in radians per position.

    Returns
    -------
    Figure
        A figure named ``rope-turning``.
    """
    q_start, k_start = 0.35, 0.8
    dials = []
    for m, n in moments:
        q, k = _pair_at(q_start, m, speed), _pair_at(k_start, n, speed)
        dials.append((m, n, q, k, (k - q) % (2 * math.pi)))

    def draw(canvas: Canvas) -> None:
        plane, say, radius = canvas.plane(WIDTH, 270), canvas.say, 64.0
        for i, (m, n, q, k, apart) in enumerate(dials):
            x, y = 87 + 173 * i, 128.0
            plane.axes.add_patch(
                Circle(
                    (x, y),
                    radius,
                    facecolor=canvas.color("paper"),
                    edgecolor=canvas.color("rule"),
                    linewidth=1.4,
                )
            )
            for start, angle, role, name in ((q_start, q, "query", "q"), (k_start, k, "key", "k")):
                pale = _tip(x, y, radius - 2, start)
                plane.line((x, y), pale, role, weight=1.2, dashed=True)
                plane.arrow((x, y), _tip(x, y, radius - 1, angle), role, weight=3)
                plane.text(*_tip(x, y, radius + 13, angle), name, role, bold=True, size=16)
            _arc(plane, x, y, 30, q, q + apart, "score")
            plane.text(x - 5, 18, f"m = {m}", "query", bold=True, align="right")
            plane.text(x + 5, 18, f"n = {n}", "key", bold=True, align="left")
            plane.text(x, 224, f"n − m = {n - m}", "position", bold=True)
            words = say("{angle}° apart", angle=f"{math.degrees(apart):.1f}")
            plane.text(x, 248, words, "score", bold=True)

    def alt(say: Say) -> str:
        return say(
            "Dials with a pair of a query and a pair of a key, dashed before the turn and solid "
            "after it. At {places} they stand {angles} apart: the same offset gives the same "
            "angle, another offset another one.",
            places="; ".join(f"m = {m}, n = {n}" for m, n, *_ in dials),
            angles=", ".join(f"{math.degrees(apart):.1f}°" for *_, apart in dials),
        )

    return Figure("rope-turning", draw, alt)


def _tip(x: float, y: float, reach: float, angle: float) -> tuple[float, float]:
    return x + reach * math.cos(angle), y - reach * math.sin(angle)


def _arc(
    plane: Plane, x: float, y: float, radius: float, start: float, end: float, role: str
) -> None:
    first, last = (-math.degrees(angle) for angle in (end, start))
    plane.axes.add_patch(
        Arc(
            (x, y),
            2 * radius,
            2 * radius,
            theta1=first,
            theta2=last,
            color=plane.canvas.color(role),
            linewidth=2.4,
        )
    )


def layouts(width: int = 8) -> Figure:
    """Which features of a head make a pair, in both layouts.

    Parameters
    ----------
    width
        Width d of the head.

    Returns
    -------
    Figure
        A figure named ``rope-layouts``.
    """
    order = feature_order(width, "interleaved", "half-split").tolist()
    roles = ("token", "query", "position", "segment")

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 330), canvas.say
        cell, left = 54.0, (WIDTH - 54.0 * width) / 2
        rows = ((70.0, list(range(width)), "interleaved"), (248.0, order, "half-split"))
        for y, row, layout in rows:
            neighbors = layout == "interleaved"
            words = (
                say("interleaved: neighbors are a pair")
                if neighbors
                else say("half-split: the same place of both halves is a pair")
            )
            above = y - 50 if neighbors else y + 70
            plane.text(left, above, words, bold=True, align="left")
            for place, feature in enumerate(row):
                role = roles[feature // 2 % len(roles)]
                plane.cell(
                    left + cell * place + 2,
                    y,
                    cell - 4,
                    34,
                    f"x{feature}",
                    fill=f"{role}-soft",
                    edge=role,
                    color=role,
                    bold=True,
                    weight=1.6,
                )
        for place, feature in enumerate(order):
            start = left + cell * (feature + 0.5), 108.0
            plane.arrow(start, (left + cell * (place + 0.5), 244.0), "faint", weight=1.2)
        for pair in range(width // 2):
            role = roles[pair % len(roles)]
            x = left + cell * (2 * pair + 1)
            plane.line((x - cell / 2, 64), (x - cell / 2, 54), role, weight=2)
            plane.line((x + cell / 2, 64), (x + cell / 2, 54), role, weight=2)
            plane.line((x - cell / 2, 54), (x + cell / 2, 54), role, weight=2)
            a, b = (left + cell * (pair + half * width // 2 + 0.5) for half in (0, 1))
            y = 286.0 + 4.5 * pair
            for end in (a, b):
                plane.line((end, 284), (end, y + 2), role, weight=2)
            plane.line((a, y + 2), (b, y + 2), role, weight=2)

    def alt(say: Say) -> str:
        return say(
            "Two rows of {width} features, x0 to x{last}. Above, interleaved: x0 and x1 are a "
            "pair, x2 and x3 the next. Arrows lead to the row below, half-split, in the order "
            "{order}: there a pair stands {half} places apart.",
            width=width,
            last=width - 1,
            order=", ".join(f"x{feature}" for feature in order),
            half=width // 2,
        )

    return Figure("rope-layouts", draw, alt)


def scaling_rules(
    width: int = 128, base: float = 10000.0, trained: int = 4096, factor: float = 8.0
) -> Figure:
    """By what each rule divides the frequency of each pair.

    Parameters
    ----------
    width
        Width d of the head.
    base
        Base of the frequencies.
    trained
        Length of the training.
    factor
        How many times longer the input may get.

    Returns
    -------
    Figure
        A figure named ``rope-scaling-rules``.
    """
    length = {"original_max_position_embeddings": trained}
    rules: tuple[tuple[str, Mapping[str, Any], str], ...] = (
        ("linear", {"rope_type": "linear", "factor": factor}, "token"),
        ("NTK", {"rope_type": "ntk", "factor": factor}, "segment"),
        ("YaRN", {"rope_type": "yarn", "factor": factor, **length}, "position"),
        (
            "Llama 3",
            {
                "rope_type": "llama3",
                "factor": factor,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                **length,
            },
            "query",
        ),
    )
    plain = frequencies(width, base)
    curves = [
        (name, (plain / scaled_frequencies(width, base, rule).frequencies).tolist(), role)
        for name, rule, role in rules
    ]
    turns = (trained * plain / (2 * math.pi)).tolist()
    whole = sum(turn >= 1 for turn in turns)

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 380).add_axes((0.08, 0.15, 0.88, 0.72))
        axes.axvline(whole - 0.5, color=canvas.color("faint"), linewidth=1, linestyle=(0, (4, 3)))
        # Where along the pairs, and how high, each name stands beside its curve.
        spots = {
            "linear": (0.5, factor + 0.25, "left"),
            "NTK": (width * 0.185, 2.35, "right"),
            "YaRN": (width * 0.27, 1.95, "right"),
            "Llama 3": (width * 0.335, 5.6, "right"),
        }
        for name, values, role in curves:
            axes.plot(values, color=canvas.color(role), linewidth=2.6)
            x, y, side = spots[name]
            axes.text(x, y, name, color=canvas.color(role), ha=side, va="bottom", fontweight="bold")
        axes.text(
            whole + 0.3,
            2,
            canvas.say("less than one turn\nin the training"),
            color=canvas.color("faint"),
            fontsize=SMALL,
            va="center",
        )
        axes.set(xlim=(0, len(turns) - 1), ylim=(0.3, factor + 1))
        axes.set_xticks(range(0, len(turns), 10))
        axes.set_yticks(range(1, int(factor) + 1))
        axes.set_xlabel(canvas.say("pair i"))
        axes.set_title(canvas.say("slowed how many times"), loc="left", x=-0.05, pad=10)

    def alt(say: Say) -> str:
        return say(
            "Curves over {pairs} pairs, from fast to slow: how many times each rule slows a pair "
            "for a factor of {factor}. Linear slows all {factor} times. NTK rises smoothly from 1 "
            "to {factor}. YaRN and Llama 3 keep the fast pairs and slow the pairs from "
            "about {whole} on {factor} times, those that turn less than once in {trained} "
            "positions.",
            pairs=len(turns),
            factor=f"{factor:g}",
            whole=whole,
            trained=f"{trained:,}",
        )

    return Figure("rope-scaling-rules", draw, alt)


def score_by_distance(width: int = 64, until: int = 256) -> Figure:
    """The score of a key that equals the query, against the offset.

    Parameters
    ----------
    width
        Width d of the head.
    until
        Largest distance drawn.

    Returns
    -------
    Figure
        A figure named ``rope-score-by-distance``.
    """
    ones = torch.ones(1, until + 1, width, dtype=torch.float64)
    places = torch.arange(until + 1)
    q, k = RotaryEncoding(width, layout="half-split")(ones, ones, places, places)
    shares = (q[0, 0] @ k[0].T / width).tolist()
    near, far = 8, until

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 320).add_axes((0.1, 0.17, 0.86, 0.7))
        axes.axhline(0, color=canvas.color("rule"), linewidth=1)
        distance = range(-until, until + 1)
        values = [shares[abs(offset)] for offset in distance]
        axes.plot(distance, values, color=canvas.color("score"), linewidth=2)
        axes.annotate(
            canvas.say("{share} at offset 0", share="1"),
            (0, 1),
            (18, 1),
            color=canvas.color("score"),
            va="center",
        )
        axes.text(
            until,
            0.62,
            canvas.say("{share} at offset {place}", share=f"{shares[near]:.2f}", place=near)
            + "\n"
            + canvas.say("{share} at offset {place}", share=f"{shares[far]:.2f}", place=far),
            color=canvas.color("faint"),
            ha="right",
            va="center",
        )
        axes.set(xlim=(-until, until), ylim=(min(values) - 0.08, 1.08))
        axes.set_xticks([-until, -until // 2, 0, until // 2, until])
        axes.set_yticks([0, 0.5, 1])
        axes.set_xlabel(canvas.say("offset: key position − query position"))
        axes.set_title(canvas.say("score, as a share of q · k"), loc="left", x=-0.08, pad=10)

    def alt(say: Say) -> str:
        return say(
            "Score of a query and a key of equal features against their offset, from −{until} to "
            "{until}, symmetric. It falls from 1 to {close} at offset {near}, and goes on falling "
            "in waves to {end} at {until}.",
            until=until,
            close=f"{shares[near]:.2f}",
            near=near,
            end=f"{shares[far]:.2f}",
        )

    return Figure("rope-score-by-distance", draw, alt)


def beyond_training(
    pair: int = 63, width: int = 128, trained: int = 4096, factor: float = 8.0
) -> Figure:
    """The angles that a slow pair meets: in the training, in a longer text, and slowed down.

    Parameters
    ----------
    pair
        Number of the pair, counted from 0.
    width
        Width d of the head.
    trained
        Length of the training.
    factor
        How many times longer the text is, and by what the frequency is divided.

    Returns
    -------
    Figure
        A figure named ``rope-beyond-training``.
    """
    slowed = scaled_frequencies(width, scaling={"rope_type": "linear", "factor": factor})
    known = float(trained * frequencies(width)[pair])
    longer = round(trained * factor)
    reached = float(longer * frequencies(width)[pair])
    kept = float(longer * slowed.frequencies[pair])

    def draw(canvas: Canvas) -> None:
        plane, say, radius = canvas.plane(WIDTH, 250), canvas.say, 64.0
        dials = (
            (say("training"), trained, known),
            (say("longer, as it is"), longer, reached),
            (say("longer, slowed"), longer, kept),
        )
        for i, (title, length, angle) in enumerate(dials):
            x, y = 87 + 173 * i, 118.0
            plane.axes.add_patch(
                Circle(
                    (x, y),
                    radius,
                    facecolor=canvas.color("paper"),
                    edgecolor=canvas.color("rule"),
                    linewidth=1.4,
                )
            )
            plane.line((x, y), _tip(x, y, radius, 0), "faint", dashed=True)
            _arc(plane, x, y, 34, 0, min(angle, known), "position")
            if angle > known * 1.001:
                _arc(plane, x, y, 34, known, angle, "segment")
            plane.arrow((x, y), _tip(x, y, radius - 1, angle), "query", weight=3)
            plane.text(x, 22, title, bold=True)
            plane.text(x, 210, say("{length} tokens", length=f"{length:,}"), "faint", size=SMALL)
            words = say("up to {angle}°", angle=f"{math.degrees(angle):.0f}")
            role = "segment" if angle > known * 1.001 else "position"
            plane.text(x, 232, words, role, bold=True)

    def alt(say: Say) -> str:
        return say(
            "Three dials of the slow pair {pair}. In a training on {trained} tokens it turns up to "
            "{known}°. In a text of {longer} tokens it would reach {reached}°, most of it new. "
            "Slowed {factor} times it stays within {kept}°.",
            pair=pair,
            trained=f"{trained:,}",
            known=f"{math.degrees(known):.0f}",
            longer=f"{longer:,}",
            reached=f"{math.degrees(reached):.0f}",
            factor=f"{factor:g}",
            kept=f"{math.degrees(kept):.0f}",
        )

    return Figure("rope-beyond-training", draw, alt)


def precision(width: int = 128, until: int = 1_000_000) -> Figure:
    """The error of a cosine against the position, for the type that its angle is computed in.

    Parameters
    ----------
    width
        Width d of the head.
    until
        Largest position drawn.

    Returns
    -------
    Figure
        A figure named ``rope-precision``.
    """
    places = torch.logspace(0, math.log10(until), 80, dtype=torch.float64).round().long()
    near = places[:, None] + torch.arange(16)  # the worst of a few neighbors, for an even curve
    right = near.double()[..., None] * frequencies(width)

    def worst(cosines: torch.Tensor) -> list[float]:
        errors: list[float] = (cosines.double() - right.cos()).abs().amax((1, 2)).tolist()
        return errors

    def by_angle(dtype: torch.dtype) -> list[float]:
        angles = near.to(dtype)[..., None] * frequencies(width).to(dtype)
        return worst(angles.double().cos())

    curves = (
        (by_angle(torch.bfloat16), "bfloat16", "segment"),
        (by_angle(torch.float32), "float32", "query"),
        (worst(rotation(near, frequencies(width)).cos), "float64", "position"),
    )

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 340).add_axes((0.12, 0.16, 0.8, 0.7))
        axes.set_xscale("log")
        axes.set_yscale("log")
        for errors, name, role in curves:
            axes.plot(places.tolist(), errors, color=canvas.color(role), linewidth=2.4)
            words = canvas.say("angles in {type}", type=name)
            at = 34 if name != "bfloat16" else 22
            shift = -14 if name == "bfloat16" else 10
            axes.annotate(
                words,
                (int(places[at]), errors[at]),
                (0, shift),
                textcoords="offset points",
                color=canvas.color(role),
                fontweight="bold",
                ha="left" if name == "bfloat16" else "right",
                va="top" if name == "bfloat16" else "bottom",
            )
        axes.set(xlim=(1, until), ylim=(1e-9, 10))
        axes.minorticks_off()
        axes.set_xticks([1, 100, 10_000, until], ["1", "100", "10,000", f"{until:,}"])
        axes.set_yticks([1e-8, 1e-6, 1e-4, 1e-2, 1], ["10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1"])
        axes.set_xlabel(canvas.say("position"))
        axes.set_title(canvas.say("largest error of a cosine"), loc="left", x=-0.1, pad=10)

    def alt(say: Say) -> str:
        return say(
            "Three curves of the largest error of a cosine against the position, both axes "
            "logarithmic. With angles in bfloat16 it soon rises to {half}, and 2 is the most that "
            "can be. With float32 it grows with the position, to {single} at {until}. With float64 "
            "it stays below 10⁻⁷ throughout.",
            half=f"{max(curves[0][0]):.1f}",
            single=f"{curves[1][0][-1]:.2f}",
            until=f"{until:,}",
        )

    return Figure("rope-precision", draw, alt)


def image_grid(rows: int = 4, columns: int = 5, cell: tuple[int, int] = (2, 3)) -> Figure:
    """The cells of an image, and which pairs each of their two positions turns.

    Parameters
    ----------
    rows
        Rows of the image.
    columns
        Columns of the image.
    cell
        Row and column of the cell that is followed.

    Returns
    -------
    Figure
        A figure named ``rope-image-grid``.
    """
    plan = axial_plan(16, spacing="repeated")
    cells = grid_positions(rows, columns)
    followed = cell[0] * columns + cell[1]
    turn = axes_rotation(cells, plan, torch.float64)
    angles = torch.atan2(turn.sin, turn.cos)[followed].tolist()
    half = len(angles) // 2

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 400), canvas.say
        size, left, top = 46.0, 150.0, 40.0
        plane.text(left + size * columns / 2, 18, say("column"), "key", bold=True)
        plane.text(left - 50, top + size * rows / 2, say("row"), "query", bold=True, align="right")
        for index, (row, column) in enumerate(cells.T.tolist()):
            chosen = index == followed
            plane.cell(
                left + size * column,
                top + size * row,
                size - 3,
                size - 3,
                f"{row}, {column}",
                fill="position-soft" if chosen else "paper",
                edge="position" if chosen else "rule",
                color="position" if chosen else "faint",
                bold=chosen,
                weight=2.2 if chosen else 1,
            )
        for row in range(rows):
            plane.text(left - 22, top + size * (row + 0.47), str(row), "query", bold=row == cell[0])
        step = WIDTH / (len(angles) + 0.4)
        y = top + size * rows + 88
        for pair, angle in enumerate(angles):
            role = ("query", "key")[plan.axis_of_pair[pair]]
            x = step * (pair + 0.7)
            plane.axes.add_patch(
                Circle(
                    (x, y),
                    25,
                    facecolor=canvas.color(f"{role}-soft"),
                    edgecolor=canvas.color(role),
                    linewidth=1.4,
                )
            )
            if abs(angle) > 0.1:
                plane.line((x, y), (x + 24, y), "faint", dashed=True)
            plane.arrow((x, y), _tip(x, y, 24, angle), role, weight=2.6)
            plane.text(x, y + 42, str(pair), "faint", size=SMALL)
        for start, axis, role in ((0, 0, "query"), (half, 1, "key")):
            x = step * (start + half / 2 + 0.2)
            words = (
                say("turned by row {place}", place=cell[0])
                if axis == 0
                else say("turned by column {place}", place=cell[1])
            )
            plane.text(x, y - 46, words, role, bold=True)
        plane.text(WIDTH / 2, y + 64, say("pair i"), "faint", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "An image of {rows} rows and {columns} columns. The cell in row {row}, column {column} "
            "is marked. Below, {pairs} dials: the first {half} pairs are turned by the row, the "
            "others by the column, in each half from fast to slow.",
            rows=rows,
            columns=columns,
            row=cell[0],
            column=cell[1],
            pairs=len(angles),
            half=half,
        )

    return Figure("rope-image-grid", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once, as in the lesson."""
    yield turning()
    yield layouts()
    yield scaling_rules()
    yield score_by_distance()
    yield beyond_training()
    yield precision()
    yield image_grid()
