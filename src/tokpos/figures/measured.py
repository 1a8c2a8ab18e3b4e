"""What was measured: cost beside a limit, a target and other libraries, and how cost grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.results import Result, load

WIDTH = 520
ROW, KEY, FOOT = 46, 62, 46
"""Heights in pixels: a row, the key above all rows, the axis below them."""

SUBJECTS: dict[str, dict[str, str]] = {
    "rope": {
        "rope-interleaved": "RoPE, interleaved",
        "rope-half-split": "RoPE, half-split",
        "rope-interleaved-training": "RoPE, interleaved, with backward",
        "rope-half-split-training": "RoPE, half-split, with backward",
        "rope-interleaved-bf16": "RoPE, interleaved, bfloat16",
        "rope-half-split-bf16": "RoPE, half-split, bfloat16",
        "rope-compiled": "RoPE, half-split, compiled",
        "rope-compiled-training": "RoPE, half-split, compiled, with backward",
        "rope-compiled-interleaved": "RoPE, interleaved, compiled",
        "rope-compiled-interleaved-training": "RoPE, interleaved, compiled, with backward",
        "rope-step": "RoPE of one token",
    },
    "scores": {
        "alibi-attention": "attention with ALiBi",
        "t5-bias": "T5 bias",
        "t5-bias-training": "T5 bias, with backward",
        "shaw-keys": "Shaw, keys",
        "shaw-keys-training": "Shaw, keys, with backward",
        "shaw-values": "Shaw, values",
    },
    "tables": {
        "sinusoidal-8192": "sinusoidal table of 8,192 rows",
        "sinusoidal-131072": "sinusoidal table of 131,072 rows",
        "lookup": "lookup",
        "training-step": "training step, SGD",
        "training-step-adam": "training step, Adam",
        "bert-embedding": "BERT's embedding",
        "bert-embedding-pairs": "BERT's embedding, two segments",
        "import": "import of the package",
    },
}
"""The rows of each figure, and what a figure calls them."""

MARKERS = {
    "transformers": "s",
    "torchtune": "^",
    "rotary-embedding-torch": "D",
    "x-transformers": "X",
}
"""One shape for each library; any other way is a ring."""

PLACES = {
    "x-transformers": (314, 16),
    "transformers": (22, 40),
    "torchtune": (152, 40),
    "rotary-embedding-torch": (262, 40),
}
"""Where they stand in the key."""

GROWTHS = {
    "growth-sinusoidal": "sinusoidal table",
    "growth-rope": "RoPE",
    "growth-alibi-length": "attention with ALiBi",
    "growth-alibi-heads": "attention with ALiBi",
    "growth-t5": "T5 bias",
    "growth-shaw": "Shaw, keys",
    "growth-lookup": "128 rows of the table",
    "growth-training-step": "training step, SGD",
}

SITE_GROWTHS = {
    "growth-site-cold": "building the site",
    "growth-site-warm": "building the site",
}

WAYS = {
    "angle addition": "angle addition",
    "formula": "formula",
    "interleaved": "interleaved",
    "half-split": "half-split",
    "one vector as the mask": "one vector as the mask",
    "built [H, S, S]": "matrix for each head",
    "each offset once": "each offset once",
    "each pair": "each pair",
    "33 products, then spread": "33 products, then spread",
    "a vector for each pair": "a vector for each pair",
    "lookup": "lookup",
    "one-hot product": "one-hot product",
    "sparse": "sparse gradient",
    "dense": "dense gradient",
    "everything run": "everything run",
    "nothing changed": "nothing changed",
    "a cell edited": "a cell edited",
}

ROLES = ("position", "query", "ink")
"""Colors of the ways of a growth."""


def cost_beside_limit(result: Result, subject: str) -> Figure:
    """Time of tokpos, of its target and of other ways, each as a multiple of the limit.

    Parameters
    ----------
    result : Result
        ``tokpos.results.load("bench")``.
    subject : {"rope", "scores", "tables"}
        Which rows are drawn.

    Returns
    -------
    Figure
        A figure named ``measured-`` and the subject.

    Raises
    ------
    ValueError
        There is no such subject, or the result lacks one of its rows.
    """
    if subject not in SUBJECTS:
        raise ValueError(f"subject must be one of {', '.join(SUBJECTS)}; got {subject!r}")
    labels = SUBJECTS[subject]
    rows = _chosen(result.data["rows"], labels)

    def draw(canvas: Canvas) -> None:
        height = KEY + ROW * len(rows) + FOOT
        sheet = canvas.sheet(WIDTH, height)
        axes = sheet.add_axes((0.03, FOOT / height, 0.94, ROW * len(rows) / height))
        axes.set(xscale="log", xlim=_range(rows), ylim=(ROW * len(rows), 0))
        ticks = [n for n in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if _inside(axes, n)]
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_locator(NullLocator())
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(canvas.say("time, as a multiple of the limit"))
        for number, row in enumerate(rows):
            _draw_row(canvas, axes, row, canvas.say(labels[row["name"]]), number * ROW)
        _draw_key(canvas, height, rows)

    def alt(say: Say) -> str:
        return say(
            "{count} rows on a logarithmic axis of time as a multiple of the limit. Each has the "
            "dot of tokpos, a bar for its target, and marks of other libraries and ways, nearly "
            "all to the right. Ratios of tokpos: {ours}.",
            count=len(rows),
            ours="; ".join(f"{say(labels[row['name']])} {_ours(row):g}" for row in rows),
        )

    return Figure(f"measured-{subject}", draw, alt)


def growth_of_cost(result: Result, what: str) -> Figure:
    """Time or peak memory against S, V or H, or the number of lessons, with each exponent.

    Parameters
    ----------
    result : Result
        ``tokpos.results.load("growth")`` or ``load("site")``.
    what : {"time", "memory"}
        What is drawn.

    Returns
    -------
    Figure
        A figure named ``measured-growth-`` or ``measured-site-`` and what is drawn.

    Raises
    ------
    ValueError
        ``what`` is another word, or the result lacks a curve.
    """
    if what not in ("time", "memory"):
        raise ValueError(f"what must be time or memory; got {what!r}")
    labels = SITE_GROWTHS if result.name == "site" else GROWTHS
    curves = _chosen(result.data["curves"], labels)

    def numbers(way: Mapping[str, Any]) -> list[float]:
        if what == "time":
            return [cuts[1] for cuts in way["milliseconds"]]
        return [max(mib, 0.01) for mib in way["mib"]]

    def draw(canvas: Canvas) -> None:
        panel_height = 244
        height = panel_height * ((len(curves) + 1) // 2)
        sheet = canvas.sheet(WIDTH, height)
        for place, curve in enumerate(curves):
            column, line = place % 2, place // 2
            bottom = 1 - (line * panel_height + 206) / height
            box = (0.148 + 0.5 * column, bottom, 0.31, 120 / height)
            _draw_curve(canvas, sheet.add_axes(box), curve, what, numbers)

    def alt(say: Say) -> str:
        unit = say("CPU time") if what == "time" else say("peak memory")
        found = [
            f"{say(labels[curve['name']])}: "
            + ", ".join(
                f"{say(WAYS[way['name']])} {_power(curve, way, what)}" for way in curve["ways"]
            )
            for curve in curves
        ]
        return say(
            "{count} charts of {unit}, both axes logarithmic, with the exponent of the fitted "
            "line. {found}.",
            count=len(curves),
            unit=unit,
            found="; ".join(found),
        )

    return Figure(f"measured-{result.name}-{what}", draw, alt)


def gallery() -> Iterator[Figure]:
    """Each figure once, from the kept results."""
    bench, growth = load("bench"), load("growth")
    for subject in SUBJECTS:
        yield cost_beside_limit(bench, subject)
    for what in ("time", "memory"):
        yield growth_of_cost(growth, what)


def _chosen(found: Sequence[dict[str, Any]], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    named = {each["name"]: each for each in found}
    missing = [name for name in labels if name not in named]
    if missing:
        raise ValueError(f"result must hold {', '.join(missing)}; it holds {', '.join(named)}")
    return [named[name] for name in labels]


def _ours(row: Mapping[str, Any]) -> float:
    return next(
        float(way["ratio"][1]) for way in row["ways"] if way["name"] == "tokpos" and "ratio" in way
    )


def _others(row: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Name without version, and ratio, of what is neither the limit nor tokpos."""
    return [
        (way["name"].split()[0], float(way["ratio"][1]))
        for way in row["ways"][1:]
        if "ratio" in way and not way["name"].startswith("tokpos")
    ]


def _range(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    every = [ratio for row in rows for _, ratio in _others(row)] + [_ours(row) for row in rows]
    return 0.8 * min(1.0, *every), 1.25 * max(every)


def _inside(axes: Axes, number: float) -> bool:
    low, high = axes.get_xlim()
    return low <= number <= high


def _draw_row(canvas: Canvas, axes: Axes, row: Mapping[str, Any], label: str, top: float) -> None:
    """The label with our ratio and the target, and below it the marks on a line."""
    ours, target = _ours(row), row["target"].get("ratio")
    left, right = axes.get_xlim()
    axes.text(left, top + 20, label, color=canvas.color("ink"))
    shown = (
        f"{ours:g}" if target is None else f"{ours:g} {'≤' if ours <= target else '>'} {target:g}"
    )
    color = canvas.color("position")
    axes.text(right, top + 20, shown, color=color, ha="right", fontweight="bold")
    y = top + 34
    axes.plot([left, right], [y, y], color=canvas.color("rule"), linewidth=0.8, zorder=0)
    axes.plot([1, 1], [y - 5, y + 5], color=canvas.color("faint"), linewidth=1, zorder=0)
    for name, ratio in _others(row):
        axes.plot(ratio, y, **_look(canvas, name))
    if target is not None:
        axes.plot([target, target], [y - 7, y + 7], color=canvas.color("ink"), linewidth=2)
    axes.plot(ours, y, "o", color=color, markersize=9, clip_on=False)


def _look(canvas: Canvas, name: str) -> dict[str, Any]:
    return {
        "marker": MARKERS.get(name, "o"),
        "markersize": 7.5,
        "markerfacecolor": canvas.color("paper"),
        "markeredgecolor": canvas.color("query"),
        "markeredgewidth": 1.5,
        "linestyle": "",
        "clip_on": False,
    }


def _draw_key(canvas: Canvas, height: float, rows: Sequence[Mapping[str, Any]]) -> None:
    """What the marks mean: ours and the target in the first line, the others in the second."""
    axes = canvas.drawn.add_axes((0, 1 - KEY / height, 1, KEY / height))
    axes.set(xlim=(0, WIDTH), ylim=(KEY, 0))
    axes.axis("off")
    axes.plot(22, 16, "o", color=canvas.color("position"), markersize=9)
    axes.text(34, 21, "tokpos", color=canvas.color("position"), fontweight="bold")
    axes.plot([110, 110], [9, 23], color=canvas.color("ink"), linewidth=2)
    axes.text(120, 21, canvas.say("target"), color=canvas.color("ink"))
    used = {name for row in rows for name, _ in _others(row)}
    places = {"": (194, 16), **PLACES}
    for name, (x, y) in places.items():
        if name in used or not name:
            axes.plot(x, y, **_look(canvas, name))
            axes.text(x + 12, y + 5, name or canvas.say("another way"), color=canvas.color("ink"))


def _draw_curve(
    canvas: Canvas, axes: Axes, curve: Mapping[str, Any], what: str, numbers: Any
) -> None:
    sizes = curve["sizes"]
    axes.set(xscale="log", yscale="log")
    lines = [(canvas.say({**GROWTHS, **SITE_GROWTHS}[curve["name"]]), "ink", "bold")]
    for role, way in zip(ROLES, curve["ways"], strict=False):
        axes.plot(sizes, numbers(way), color=canvas.color(role), marker="o", markersize=4)
        words = canvas.say(
            "{way}: {power}",
            way=canvas.say(WAYS[way["name"]]),
            power=_power(curve, way, what),
        )
        lines.append((words, role, "normal"))
    for place, (words, role, weight) in enumerate(reversed(lines)):
        line = axes.annotate(
            words,
            (0, 1),
            (-70, 12 + 19 * place),
            xycoords="axes fraction",
            textcoords="offset points",
            color=canvas.color(role),
            fontweight=weight,
        )
        if weight == "bold" and not words.isascii():  # the Chinese font has no bold
            line.set_path_effects([withStroke(linewidth=0.7, foreground=canvas.color(role))])
    axes.xaxis.set_major_locator(FixedLocator([sizes[0], sizes[-1]]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 100 * low else (1.0, 3.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(_milliseconds if what == "time" else _mib))
    axes.set_xlabel(curve["against"], labelpad=-8)


def _power(curve: Mapping[str, Any], way: Mapping[str, Any], what: str) -> str:
    power = way[f"{what}_exponent"]
    return "—" if power is None else f"{curve['against']}^{power:.2f}".replace("-", "−")


def _milliseconds(value: float, _: object = None) -> str:
    for factor, unit in ((1e3, "s"), (1, "ms")):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value * 1e3:g} µs"


def _mib(value: float, _: object = None) -> str:
    return f"{value:g} MiB"
