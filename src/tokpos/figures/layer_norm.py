"""What LayerNorm does to the numbers of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
from matplotlib.axes import Axes
from torch import Tensor

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say

WIDTH = 530.0
SMALL = 13.0


def spread_of_rows(
    tokens: Sequence[str], before: Tensor, normalized: Tensor, after: Tensor
) -> Figure:
    """How the numbers of each row are spread, before LayerNorm, within it, and after.

    Parameters
    ----------
    tokens : sequence of str
        The tokens of the text.
    before : Tensor
        The rows that enter, ``[S, D]``.
    normalized : Tensor
        Those rows with mean 0 and variance 1.
    after : Tensor
        The same with the learned weight and bias of each column.

    Returns
    -------
    Figure
        A curve for each row, with its standard deviation and its largest number.
    """
    stages = {
        "the sum, before LayerNorm": before,
        "each row less its mean, divided by its std": normalized,
        "times weight, plus bias: the output": after,
    }
    rows = {title: tensor.detach().double().numpy() for title, tensor in stages.items()}

    def draw(canvas: Canvas) -> None:
        panel = 44 * len(tokens) + 74.0
        height = panel * len(rows)
        sheet = canvas.sheet(WIDTH, height)
        for i, (title, values) in enumerate(rows.items()):
            bottom = 1 - (i * panel + panel - 34) / height
            axes = sheet.add_axes((0.17, bottom, 0.53, (panel - 70) / height))
            _draw_spread(canvas, axes, tokens, values)
            axes.set_title(canvas.say(title), loc="left", x=-0.3, pad=12)

    def alt(say: Say) -> str:
        def spread(values: npt.NDArray[np.float64]) -> str:
            deviations = values.std(axis=1)
            least, most = f"{deviations.min():.3f}", f"{deviations.max():.3f}"
            if least == most:
                return say("the standard deviation of every row is {one}", one=least)
            return say(
                "the standard deviations of the rows go from {least} to {most}",
                least=least,
                most=most,
            )

        told = "; ".join(
            say("{title}: {spread}", title=say(title), spread=spread(values))
            for title, values in rows.items()
        )
        return say("{told}", told=told)

    return Figure("layer-norm-spread-of-rows", draw, alt)


def _draw_spread(
    canvas: Canvas, axes: Axes, tokens: Sequence[str], values: npt.NDArray[np.float64]
) -> None:
    edge = 4 * float(np.median(values.std(axis=1)))
    grid = np.linspace(-edge, edge, 50)
    smooth = np.exp(-0.5 * np.arange(-3, 4) ** 2)
    for i, (token, row) in enumerate(zip(tokens, values, strict=True)):
        count = np.histogram(row, bins=grid)[0]
        curve = np.convolve(count, smooth / smooth.sum(), mode="same")
        curve = curve / curve.max() * 0.82
        base, middle = -i, (grid[1:] + grid[:-1]) / 2
        axes.fill(
            middle,
            base + curve,
            facecolor=canvas.color("rule"),
            edgecolor=canvas.color("ink"),
            linewidth=1.2,
        )
        axes.text(-edge * 1.06, base + 0.2, token, ha="right", va="center")
        spread = canvas.say("std {value}", value=f"{row.std():.3f}")
        axes.text(edge * 1.06, base + 0.44, spread, va="center")
        largest = canvas.say("largest {value}", value=f"{row.max():.2f}")
        axes.text(edge * 1.06, base + 0.02, largest, va="center", color=canvas.color("faint"))
    axes.set(xlim=(-edge, edge), ylim=(-len(tokens) + 0.95, 1), yticks=[])
    axes.spines["left"].set_visible(False)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once, with seeded rows."""
    rows = torch.randn(4, 256, generator=torch.Generator().manual_seed(6))
    rows = rows * torch.tensor([[0.05], [0.1], [0.2], [0.1]])
    normalized = torch.nn.functional.layer_norm(rows, (256,))
    tokens = ["[CLS]", "hello", "world", "[SEP]"]
    yield spread_of_rows(tokens, rows, normalized, normalized * 0.5 + 0.1)
