"""Learned positions beside sinusoidal ones: which positions resemble which."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.sinusoidal import sinusoidal

WIDTH = 520.0


def _cosines(rows: Tensor) -> Tensor:
    """Cosine similarity of every pair of rows.

    Parameters
    ----------
    rows
        One vector for each position.

    Returns
    -------
    Tensor
        A square map with ones on the diagonal.
    """
    unit = F.normalize(rows.double(), dim=-1)
    return (unit @ unit.T).float()


def similarity_maps(table: Tensor) -> Figure:
    """Cosine similarity of positions: a learned table on the left, sinusoids on the right.

    Parameters
    ----------
    table
        A learned position table: one row for each position, of even width.

    Returns
    -------
    Figure
        A figure named ``learned-similarity``.

    Raises
    ------
    ValueError
        The table has not two axes.
    """
    if table.dim() != 2:
        raise ValueError(f"table must have shape [N, D]; got shape {list(table.shape)}")
    length, width = table.shape
    learned = _cosines(table.detach())
    computed = _cosines(sinusoidal(torch.arange(length), width))
    apart = max(1, length // 8)

    def draw(canvas: Canvas) -> None:
        sheet = canvas.sheet(WIDTH, 350)
        scale = canvas.colormap("key", "paper", "position")
        for left, words, values in (
            (0.085, "learned", learned),
            (0.575, "sinusoidal", computed),
        ):
            axes = sheet.add_axes((left, 0.27, 0.4, 0.594))
            axes.imshow(values.numpy(), cmap=scale, vmin=-1, vmax=1, interpolation="none")
            axes.spines[:].set_visible(False)
            axes.set_title(canvas.say(words), loc="left")
            axes.set(xticks=[0, length - 1], yticks=[0, length - 1])
            axes.set_xlabel(canvas.say("position"), labelpad=-10)
        key = sheet.add_axes((0.35, 0.085, 0.3, 0.04))
        key.imshow(torch.linspace(-1, 1, 61)[None].numpy(), cmap=scale, aspect="auto")
        key.spines[:].set_visible(False)
        key.set(yticks=[], xticks=[0, 30, 60], xticklabels=["−1", "0", "1"])
        sheet.text(0.33, 0.105, canvas.say("cosine similarity"), ha="right", va="center")

    def alt(say: Say) -> str:
        def mean(values: Tensor, offset: int) -> str:
            return f"{values.diagonal(offset).mean().item():.2f}".replace("-", "−")

        return say(
            "Two maps of {length} by {length} positions. Cosine similarity at offset 1 and "
            "{apart}: {near} and {far} on average for the learned table, {near2} and {far2} for "
            "the sinusoids, whose map is the same along every diagonal.",
            length=length,
            apart=apart,
            near=mean(learned, 1),
            far=mean(learned, apart),
            near2=mean(computed, 1),
            far2=mean(computed, apart),
        )

    return Figure("learned-similarity", draw, alt)


def gallery() -> Iterator[Figure]:
    """The figure of this module, with a random walk in place of a trained table."""
    steps = torch.randn(64, 32, generator=torch.Generator().manual_seed(0))
    walk = steps.cumsum(0)
    yield similarity_maps(walk - walk.mean(0))
