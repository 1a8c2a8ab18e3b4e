"""T5: which offsets share a bucket, and how a table becomes a bias."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._matrix import draw_matrix, name_axes
from tokpos.figures.relative import WIDTH
from tokpos.position import offsets
from tokpos.t5 import t5_bias, t5_bucket_starts, t5_buckets


def bucket_map(buckets: int = 32, max_distance: int = 128, reach: int = 150) -> Figure:
    """The bucket of each offset, for an encoder and for a decoder.

    Parameters
    ----------
    buckets
        Number of buckets.
    max_distance
        Where the logarithm ends.
    reach
        Largest offset that is drawn.

    Returns
    -------
    Figure
        A figure named ``t5-buckets``.
    """
    offset = torch.arange(-reach, reach + 1)
    half = buckets // 2

    def draw(canvas: Canvas) -> None:
        height = 520.0
        sheet = canvas.sheet(WIDTH, height)
        titles = (
            canvas.say("both directions (encoder)"),
            canvas.say("causal (decoder): all buckets look left"),
        )
        for k, words in enumerate(titles):
            axes = sheet.add_axes((0.1, 0.575 - 0.475 * k, 0.86, 0.355))
            numbers = t5_buckets(offset, buckets, max_distance, k == 0)
            exact = (half if k == 0 else buckets) // 2
            far = offset.abs() >= exact
            if k == 1:
                far &= offset < 0
            for some, role, size in ((far, "segment", 2.2), (~far, "position", 3.2)):
                axes.plot(
                    offset[some].tolist(),
                    numbers[some].tolist(),
                    "o",
                    color=canvas.color(role),
                    markersize=size,
                )
            axes.set(xlim=(-reach, reach), ylim=(-2, buckets + 1))
            axes.set_yticks(range(0, buckets + 1, 8))
            axes.set_xticks([-128, -64, 0, 64, 128], ["−128", "−64", "0", "64", "128"])
            axes.set_title(words, loc="left")
            if k == 1:
                axes.set_xlabel(canvas.say("offset: key − query"))
            y = 3 if k == 0 else 26
            near = canvas.say("near: one offset each")
            axes.text(20, y + 4.4, near, color=canvas.color("position"), va="center")
            wide = canvas.say("far: a logarithm")
            axes.text(20, y, wide, color=canvas.color("segment"), va="center")

    def alt(say: Say) -> str:
        starts = t5_bucket_starts(half, max_distance)
        return say(
            "Two plots of the bucket against the offset. In both directions: {exact} single "
            "offsets, then ranges that begin at {starts}, to the left up to bucket {left}, to the "
            "right up to {last}. Causal: {causal} single offsets to the left, then ranges up to "
            "bucket {last}, and bucket 0 for all keys to the right.",
            exact=half // 2,
            starts=", ".join(map(str, starts[half // 2 :])),
            left=half - 1,
            last=buckets - 1,
            causal=half,
        )

    return Figure("t5-buckets", draw, alt)


def bucket_matrix(length: int = 11, buckets: int = 16, max_distance: int = 16) -> Figure:
    """The bucket of every pair of a short sentence, with few buckets.

    Parameters
    ----------
    length
        Number of positions S.
    buckets
        Number of buckets, both directions together.
    max_distance
        Where the logarithm ends.

    Returns
    -------
    Figure
        A figure named ``t5-bucket-matrix``.
    """
    place = torch.arange(length)
    numbers = t5_buckets(offsets(place, place), buckets, max_distance)
    wide = offsets(place, place).abs() >= buckets // 4

    def draw(canvas: Canvas) -> None:
        side = 36.0
        plane = canvas.plane(WIDTH, 106 + side * length)
        x, y = WIDTH - side * length - 10, 60.0
        names = [str(number) for number in range(length)]
        name_axes(plane, x, y, side, names, names)

        def look(i: int, j: int) -> tuple[str, str]:
            return ("segment-soft", "segment") if wide[i, j] else ("position-soft", "position")

        rows = [[str(number) for number in row] for row in numbers.tolist()]
        draw_matrix(plane, x, y, side, rows, look)
        words = canvas.say(
            "{buckets} buckets, up to distance {reach}", buckets=buckets, reach=max_distance
        )
        plane.text(x + side * length / 2, y + side * length + 24, words)

    def alt(say: Say) -> str:
        return say(
            "A square of bucket numbers for {length} positions with {buckets} buckets up to "
            "distance {reach}. First row: {row}. First column: {column}. Each diagonal has one "
            "bucket; far from the middle neighboring diagonals share one.",
            length=length,
            buckets=buckets,
            reach=max_distance,
            row=" ".join(map(str, numbers[0].tolist())),
            column=" ".join(map(str, numbers[:, 0].tolist())),
        )

    return Figure("t5-bucket-matrix", draw, alt)


def bias_matrix(length: int = 64, seed: int = 0) -> Figure:
    """The table of one head and the bias that it becomes: one number along each diagonal.

    Parameters
    ----------
    length
        Number of positions S.
    seed
        The table is drawn at random; it stands for a learned one.

    Returns
    -------
    Figure
        A figure named ``t5-bias``.
    """
    table = torch.randn(32, 1, generator=torch.Generator().manual_seed(seed))
    bias = t5_bias(table, length, length)[0]

    def draw(canvas: Canvas) -> None:
        height = 420.0
        sheet = canvas.sheet(WIDTH, height)
        scale = canvas.colormap("key", "paper", "position")
        reach = float(table.abs().max())
        strip = sheet.add_axes((0.12, 0.08, 0.05, 0.76))
        square = sheet.add_axes((0.3, 0.08, 0.67, 0.76))
        for axes, numbers in ((strip, table), (square, bias)):
            axes.imshow(
                numbers.numpy(),
                cmap=scale,
                vmin=-reach,
                vmax=reach,
                aspect="auto",
                interpolation="none",
            )
            axes.spines[:].set_visible(False)
            axes.xaxis.tick_top()
        strip.set(xticks=[], yticks=[0, 8, 15, 24, 31])
        sheet.text(0.145, 0.87, canvas.say("bucket"), ha="center", va="bottom")
        square.set(xticks=[0, length // 2, length - 1], yticks=[0, length // 2, length - 1])
        square.set_xlabel(canvas.say("key"), color=canvas.color("key"))
        square.xaxis.set_label_position("top")
        square.set_ylabel(canvas.say("query"), color=canvas.color("query"))

    def alt(say: Say) -> str:
        return say(
            "On the left a random table of one head, {buckets} colored cells. On the right the "
            "bias of {length} queries and keys: the cells of the table as diagonal stripes, one "
            "step wide near the diagonal and ever wider away from it.",
            buckets=len(table),
            length=length,
        )

    return Figure("t5-bias", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield bucket_map()
    yield bucket_matrix()
    yield bias_matrix()
