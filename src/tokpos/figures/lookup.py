"""The table: rows fetched by number, the same by a product, and what both cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from tokpos._types import Float, Int, Tensor
from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._plane import Plane
from tokpos.lookup import Cost, cost_of_lookup, cost_of_product, lookup, one_hot
from tokpos.results import Result, load

_CELL = (46, 32)
"""Width and height of a cell with a number in it."""

_TOP = 62
"""Where the cells begin, under the two lines of headings."""

MOST_ROWS, MOST_COLUMNS = 12, 3


def lookup_rows(
    ids: Int[Tensor, " S"], table: Float[Tensor, "V D"], words: Sequence[str] | None = None
) -> Figure:
    """IDs on the left, the table in the middle with the fetched rows lit, the result on the right.

    Parameters
    ----------
    ids : Tensor
        A few IDs.
    table : Tensor
        A small table: up to 12 rows, up to 3 columns.
    words : sequence of str, optional
        The vocabulary, one word for each row.

    Returns
    -------
    Figure
        A figure named ``lookup-rows``.

    Raises
    ------
    ValueError
        The table is too large to be drawn, or has not as many rows as there are words.
    """
    words = _demand_small(ids, table, words)
    numbers = ids.tolist()
    rows, width = table.shape
    ids_x, table_x, result_x = 64, 206, 392

    def draw(canvas: Canvas) -> None:
        height = _TOP + _CELL[1] * max(rows, len(numbers)) + 12
        plane = canvas.plane(544, height)
        first = _TOP + _CELL[1] * (max(rows, len(numbers)) - len(numbers)) / 2
        _heading(plane, ids_x + _CELL[0] / 2, canvas.say("token IDs"), ids.shape)
        _heading(plane, table_x + width * _CELL[0] / 2, canvas.say("the table"), table.shape)
        result = lookup(ids, table)
        _heading(plane, result_x + width * _CELL[0] / 2, canvas.say("the result"), result.shape)
        for place, number in enumerate(numbers):
            y = first + place * _CELL[1]
            middle, row = y + _CELL[1] / 2, _TOP + (number + 0.5) * _CELL[1]
            plane.text(ids_x - 10, middle, words[number], align="right")
            plane.cell(
                ids_x, y, *_CELL, str(number), fill="token", edge="paper", color="paper", bold=True
            )
            plane.arrow((ids_x + _CELL[0] + 4, middle), (table_x - 22, row), "token")
            plane.arrow((table_x + width * _CELL[0] + 4, row), (result_x - 4, middle), "token")
        _draw_table(plane, table_x, table, set(numbers))
        for row_number in range(rows):
            lit = row_number in numbers
            plane.text(
                table_x - 8,
                _TOP + (row_number + 0.5) * _CELL[1],
                str(row_number),
                "token" if lit else "faint",
                align="right",
                bold=lit,
            )
        plane.cells(result_x, first, _written(result), *_CELL, fill="token-soft", edge="token")

    def alt(say: Say) -> str:
        return say(
            "The token IDs {ids} point at rows of a table of {rows} rows and {width} columns. "
            "The rows {lit} are lit; copied in the order of the IDs they are the result, "
            "{count} rows of {width} numbers.",
            ids=_listed(numbers),
            rows=rows,
            width=width,
            lit=_listed(sorted(set(numbers))),
            count=len(numbers),
        )

    return Figure("lookup-rows", draw, alt)


def product_rows(ids: Int[Tensor, " S"], table: Float[Tensor, "V D"]) -> Figure:
    """The same rows by a product: one-hot rows, times the table, give the result.

    Parameters
    ----------
    ids : Tensor
        A few IDs.
    table : Tensor
        A small table: up to 12 rows, up to 3 columns.

    Returns
    -------
    Figure
        A figure named ``product-rows``.

    Raises
    ------
    ValueError
        The table is too large to be drawn.
    """
    _demand_small(ids, table, None)
    numbers = ids.tolist()
    rows, width = table.shape
    small = min(28.0, 168 / rows)
    table_x = 8 + rows * small + 32
    result_x = table_x + width * _CELL[0] + 32

    def draw(canvas: Canvas) -> None:
        tallest = max(rows, len(numbers))
        plane = canvas.plane(result_x + width * _CELL[0] + 8, _TOP + _CELL[1] * tallest + 12)
        hot, result = one_hot(ids, rows), lookup(ids, table)
        first = _TOP + _CELL[1] * (tallest - len(numbers)) / 2
        middle = _TOP + _CELL[1] * tallest / 2
        _heading(plane, 8 + rows * small / 2, canvas.say("one-hot rows"), hot.shape)
        _heading(plane, table_x + width * _CELL[0] / 2, canvas.say("the table"), table.shape)
        _heading(plane, result_x + width * _CELL[0] / 2, canvas.say("the result"), result.shape)
        plane.text(table_x - 16, middle, "×", size=20)
        plane.text(result_x - 16, middle, "=", size=20)
        for place, row in enumerate(hot.int().tolist()):
            for column, bit in enumerate(row):
                plane.cell(
                    8 + column * small,
                    first + place * _CELL[1],
                    small,
                    _CELL[1],
                    str(bit),
                    fill="token" if bit else "paper",
                    color="paper" if bit else "faint",
                    bold=bool(bit),
                )
        _draw_table(plane, table_x, table, set(numbers))
        plane.cells(result_x, first, _written(result), *_CELL, fill="token-soft", edge="token")

    def alt(say: Say) -> str:
        return say(
            "{count} one-hot rows of {rows} entries, with the single 1 in the columns {ids}, "
            "times the table of {rows} rows and {width} columns, give the result: "
            "its rows {ids}, all other rows having been multiplied by 0.",
            count=len(numbers),
            rows=rows,
            ids=_listed(numbers),
            width=width,
        )

    return Figure("product-rows", draw, alt)


def counted_cost(n_ids: int, width: int, marked: int = 50_257) -> Figure:
    """Operations and bytes of lookup and product against the size of the vocabulary.

    Parameters
    ----------
    n_ids : int
        How many IDs are looked up.
    width : int
        D, the width of a row.
    marked : int
        The vocabulary size that is marked in the picture; GPT-2's by default.

    Returns
    -------
    Figure
        A figure named ``counted-cost``.
    """
    end = 2 * marked // 1000 * 1000
    sizes = [1, marked, end]
    lookups = [cost_of_lookup(n_ids, size, width) for size in sizes]
    products = [cost_of_product(n_ids, size, width) for size in sizes]

    def moved(costs: list[Cost]) -> list[float]:
        return [(cost.bytes_read + cost.bytes_written) / 1e6 for cost in costs]

    def draw(canvas: Canvas) -> None:
        panels = canvas.sheet(544, 470).subplots(2, 1, sharex=True)
        panels[0].figure.subplots_adjust(0.09, 0.12, 0.93, 0.93, hspace=0.34)
        _line_pair(
            canvas,
            panels[0],
            sizes,
            [cost.operations / 1e9 for cost in lookups],
            [cost.operations / 1e9 for cost in products],
        )
        _line_pair(canvas, panels[1], sizes, moved(lookups), moved(products))
        panels[0].set_title(canvas.say("arithmetic, in billions of operations"), loc="left")
        panels[1].set_title(canvas.say("memory read and written, in MB"), loc="left")
        panels[1].set_xlabel(canvas.say("size of the vocabulary, V"))
        panels[1].xaxis.set_major_locator(FixedLocator([0, marked, end]))
        panels[1].xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        for panel in panels:
            panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            panel.set(xlim=(0, end), ylim=(-0.03 * panel.dataLim.y1, None))

    def alt(say: Say) -> str:
        return say(
            "Two charts against the size V of the vocabulary, for {n_ids} IDs of width {width}. "
            "The product's operations and bytes rise as straight lines: at V = {marked} they are "
            "{operations} billion operations and {product} MB. The lookup stays level: no "
            "operation, {lookup} MB.",
            n_ids=n_ids,
            width=width,
            marked=f"{marked:,}",
            operations=f"{products[1].operations / 1e9:.1f}",
            yi=f"{products[1].operations / 1e8:.0f}",
            product=f"{moved(products)[1]:.0f}",
            lookup=f"{moved(lookups)[1]:.1f}",
        )

    return Figure("counted-cost", draw, alt)


def measured_time(result: Result) -> Figure:
    """The kept times of lookup and product against the size of the vocabulary.

    Parameters
    ----------
    result : Result
        ``tokpos.results.load("lookup_time")``.

    Returns
    -------
    Figure
        A figure named ``measured-time``.
    """
    data = result.data
    sizes = data["sizes"]

    def median(way: str, index: int) -> float:
        return float(data[way][index][1])

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(544, 360).add_axes((0.13, 0.15, 0.84, 0.77))
        for way, role, band in (("lookup", "token", "token-soft"), ("product", "ink", "rule")):
            low, middle, high = zip(*data[way], strict=True)
            axes.fill_between(sizes, low, high, color=canvas.color(band), linewidth=0)
            axes.plot(sizes, middle, color=canvas.color(role), marker="o", markersize=5)
        axes.set(xscale="log", yscale="log", ylim=(10, 3e5))
        axes.set_title(canvas.say("CPU time of one call, one thread"), loc="left")
        axes.set_xlabel(canvas.say("size of the vocabulary, V"))
        axes.xaxis.set_major_locator(FixedLocator([500, 5_000, 50_257]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.yaxis.set_major_locator(FixedLocator([10, 100, 1e3, 1e4, 1e5]))
        axes.yaxis.set_major_formatter(FuncFormatter(_microseconds))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        label = len(sizes) // 2 - 1
        for way, role, words, factor in (
            ("product", "ink", canvas.say("one-hot product"), 1.7),
            ("lookup", "token", canvas.say("lookup"), 1.45),
        ):
            axes.text(
                sizes[label],
                median(way, label) * factor,
                words,
                color=canvas.color(role),
                ha="right" if way == "product" else "center",
            )

    def alt(say: Say) -> str:
        return say(
            "Measured CPU time of one call with {n_ids} IDs, both axes logarithmic. From "
            "V = {first} to V = {last} the one-hot product goes from {p0} to {p1}, the lookup "
            "from {l0} to {l1}.",
            n_ids=data["n_ids"],
            first=f"{sizes[0]:,}",
            last=f"{sizes[-1]:,}",
            p0=_microseconds(median("product", 0)),
            p1=_microseconds(median("product", -1)),
            l0=_microseconds(median("lookup", 0)),
            l1=_microseconds(median("lookup", -1)),
        )

    return Figure("measured-time", draw, alt)


def gallery() -> Iterator[Figure]:
    """Each figure once, with the numbers of the lesson."""
    table = torch.tensor(
        [
            [0.0, 0.0, 0.0],
            [0.3, -0.1, 0.4],
            [1.2, 0.5, -0.7],
            [-0.4, 0.9, 0.8],
            [0.6, -1.1, 0.2],
            [0.5, -0.9, 0.1],
        ]
    )
    ids = torch.tensor([2, 3, 4])
    yield lookup_rows(ids, table, ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"])
    yield product_rows(ids, table)
    yield counted_cost(n_ids=128, width=384)
    yield measured_time(load("lookup_time"))


def _demand_small(ids: Tensor, table: Tensor, words: Sequence[str] | None) -> Sequence[str]:
    if ids.dim() != 1 or not 1 <= len(ids) <= MOST_ROWS:
        raise ValueError(f"ids must have shape [S], S in 1..{MOST_ROWS}; got {list(ids.shape)}")
    if table.dim() != 2 or table.shape[0] > MOST_ROWS or table.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"table must have at most {MOST_ROWS} rows and {MOST_COLUMNS} columns to be drawn; "
            f"got shape {list(table.shape)}"
        )
    if words is not None and len(words) != table.shape[0]:
        raise ValueError(f"words must be one for each of {table.shape[0]} rows; got {len(words)}")
    return words if words is not None else [""] * table.shape[0]


def _heading(plane: Plane, x: float, words: str, shape: Sequence[int]) -> None:
    plane.text(x, 18, words, bold=True)
    plane.text(x, 41, f"[{_listed(shape)}]", "faint")


def _draw_table(plane: Plane, x: float, table: Tensor, lit: set[int]) -> None:
    """The cells of a table: unlit rows first, so that the borders of lit ones lie on top."""
    for row, numbers in sorted(enumerate(_written(table)), key=lambda pair: pair[0] in lit):
        look: dict[str, Any] = (
            {"fill": "token-soft", "edge": "token"} if row in lit else {"color": "faint"}
        )
        plane.cells(x, _TOP + row * _CELL[1], [numbers], *_CELL, **look)


def _line_pair(
    canvas: Canvas, axes: Axes, sizes: list[int], low: list[float], high: list[float]
) -> None:
    axes.plot(sizes, high, color=canvas.color("ink"))
    axes.plot(sizes, low, color=canvas.color("token"), clip_on=False)
    axes.axvline(sizes[1], color=canvas.color("rule"), linewidth=1, zorder=0)
    axes.plot(sizes[1], high[1], "o", color=canvas.color("ink"), markersize=6)
    axes.text(
        sizes[1] * 0.94,
        high[1] * 1.12,
        canvas.say("one-hot product"),
        color=canvas.color("ink"),
        ha="right",
    )
    axes.text(
        sizes[1] * 1.06,
        high[1] * 0.12,
        canvas.say("lookup"),
        color=canvas.color("token"),
        ha="left",
    )


def _written(matrix: Tensor) -> list[list[str]]:
    return [[f"{number:.1f}".replace("-", "−") for number in row] for row in matrix.tolist()]


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _microseconds(value: float, _: object = None) -> str:
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g} µs"
