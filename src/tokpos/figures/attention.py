"""Attention without and with positions, the causal mask, and a step with a KV cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from tokpos.attention import Attention
from tokpos.cache import KeyValueCache
from tokpos.dot_product_attention import attention_weights
from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._plane import Plane
from tokpos.position import PositionEncoding
from tokpos.positions import causal_mask
from tokpos.sinusoidal import SinusoidalEncoding

WIDTH = 520.0
SMALL = 13.0
D = 16
WORDS = ("Tom", "likes", "Ann")


def _layer(encoding: PositionEncoding) -> tuple[Attention, torch.Tensor]:
    """A layer of fixed random weights, and one vector for each word."""
    generator = torch.Generator().manual_seed(4)
    layer = Attention(D, 1, encoding)
    with torch.no_grad():
        for projection in (layer.query, layer.key, layer.value, layer.output):
            projection.weight.normal_(std=D**-0.5, generator=generator)
    return layer.double(), torch.randn(3, D, generator=generator).double()


def _outputs(encoding: PositionEncoding) -> tuple[torch.Tensor, torch.Tensor]:
    """First two numbers of the output for each word: as written, and with the names exchanged."""
    layer, vectors = _layer(encoding)
    with torch.no_grad():
        written, exchanged = (
            layer(encoding.into_input(vectors[list(order)]))[:, :2]
            for order in ((0, 1, 2), (2, 1, 0))
        )
    return written, exchanged


def permuted(positions: bool) -> Figure:
    """What comes out for each word of a sentence, and of the sentence with its names exchanged.

    Parameters
    ----------
    positions
        Whether the sinusoidal encoding is added first.

    Returns
    -------
    Figure
        A figure named ``attention-permuted`` or ``attention-permuted-positions``.
    """
    written, exchanged = _outputs(SinusoidalEncoding(D) if positions else PositionEncoding())

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 322), canvas.say
        for order, outputs, y in (((0, 1, 2), written, 34), ((2, 1, 0), exchanged, 184)):
            for place, word in enumerate(order):
                x = 30 + 160 * place
                plane.cell(
                    x,
                    y - 20,
                    140,
                    36,
                    say(WORDS[word]),
                    fill="token-soft",
                    color="token",
                    bold=True,
                )
                if positions:
                    plane.text(x + 128, y - 10, str(place), "position", size=SMALL, bold=True)
                plane.arrow((x + 70, y + 20), (x + 70, y + 50))
                same = bool((outputs[place] - written[word]).abs().max() < 1e-9)
                plane.cell(
                    x,
                    y + 54,
                    140,
                    36,
                    "  ".join(f"{number:.2f}".replace("-", "−") for number in outputs[place]),
                    edge="token" if same else "segment",
                    color="ink" if same else "segment",
                    weight=1.4,
                )
        words = "the vectors change" if positions else "the same vectors, in another order"
        plane.text(WIDTH / 2, 302, say(words), "segment" if positions else "ink")

    def alt(say: Say) -> str:
        return say(
            "Attention with positions: with the two names exchanged, each word gets a different "
            "vector from before."
            if positions
            else "Attention without positions: with the two names exchanged, each word gets the "
            "very vector that it had before."
        )

    return Figure(f"attention-permuted{'-positions' if positions else ''}", draw, alt)


def _grid(
    plane: Plane, x: float, y: float, cell: float, seen: torch.Tensor, weights: torch.Tensor
) -> None:
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            open_ = bool(seen[i, j])
            plane.cell(
                x + cell * j,
                y + cell * i,
                cell,
                cell,
                f"{weight:.2f}" if open_ else "",
                fill="score-soft" if open_ else "paper",
                color="score",
            )


def mask(words: Sequence[str] = ("Tom", "likes", "Ann", "and", "music")) -> Figure:
    """The causal mask: each word looks at itself and at what stands before it.

    Parameters
    ----------
    words
        The sentence, one word for each row and column.

    Returns
    -------
    Figure
        A figure named ``attention-causal-mask``.
    """
    n = len(words)
    place = torch.arange(n)
    seen = causal_mask(place, place)
    generator = torch.Generator().manual_seed(1)
    q, k = torch.randn(2, 1, n, 4, generator=generator)
    weights = attention_weights(q, k, visible=seen)[0]

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 92 + 64 * n), canvas.say
        plane.text(96, 20, say("query"), "query", align="right", bold=True)
        plane.text(110 + 32 * n, 20, say("key"), "key", bold=True)
        for i, word in enumerate(words):
            plane.text(142 + 64 * i, 50, say(word), "key")
            plane.text(96, 102 + 64 * i, say(word), "query", align="right")
        _grid(plane, 110, 70, 64, seen, weights)

    def alt(say: Say) -> str:
        return say(
            "A square of {n} by {n} cells, a row for each query and a column for each key. Cells "
            "above the diagonal are empty: no word sees a later one. The weights of each row add "
            "up to 1.",
            n=n,
        )

    return Figure("attention-causal-mask", draw, alt)


def cache_step(kept: int = 4) -> Figure:
    """A decoding step: one query, the keys and values kept so far, and one new pair.

    Parameters
    ----------
    kept
        How many tokens the cache holds before the step.

    Returns
    -------
    Figure
        A figure named ``attention-cache-step``.
    """

    def piece(start: int, end: int) -> KeyValueCache:
        zeros = torch.zeros(1, end - start, 1)
        return KeyValueCache(zeros, zeros, torch.arange(start, end))

    places = piece(0, kept).extended(piece(kept, kept + 1)).positions.tolist()

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 250), canvas.say
        step = (WIDTH - 130) / len(places)
        for row, (name, role, y) in enumerate((("key", "key", 60), ("value", "token", 116))):
            plane.text(92, y + 20, say(name), role, align="right", bold=True)
            for place in places:
                new = place == kept
                x = 106 + step * place + (14 if new else 0)
                plane.cell(
                    x,
                    y,
                    step - 4,
                    40,
                    str(place),
                    fill=f"{role}-soft",
                    edge=role if new else "rule",
                    color=role,
                    weight=2.2 if new else 1.0,
                )
                if row == 0:
                    plane.line((x + step / 2, 196), (x + step / 2, 160), "faint")
        plane.text(106 + step * kept / 2, 30, say("kept from the steps before"), "faint")
        plane.text(118 + step * (kept + 0.5), 30, say("new"), bold=True)
        x = 120 + step * kept
        plane.line((106 + step / 2, 196), (x + step / 2, 196), "faint")
        plane.text(x - 12, 222, say("query"), "query", align="right", bold=True)
        plane.cell(
            x,
            202,
            step - 4,
            40,
            str(kept),
            fill="query-soft",
            edge="query",
            color="query",
            weight=2.2,
        )

    def alt(say: Say) -> str:
        return say(
            "One step of a decoder. Keys and values of positions 0 to {last} are kept from the "
            "steps before; key and value of position {new} are put behind them. The one query, at "
            "position {new}, looks at all of them.",
            last=kept - 1,
            new=kept,
        )

    return Figure("attention-cache-step", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield permuted(positions=False)
    yield permuted(positions=True)
    yield mask()
    yield cache_step()
