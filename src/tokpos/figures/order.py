"""Order: what each place has seen, what a trained model makes of it, and where positions enter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.positions import causal_mask

WIDTH = 520.0
SMALL = 13.0


def doors() -> Figure:
    """The road through one attention layer, and the three doors by which positions enter.

    Returns
    -------
    Figure
        A figure named ``order-doors``.
    """
    places = (
        (80, "door 1: the input", "sinusoidal, learned"),
        (244, "door 2: queries and keys", "RoPE"),
        (330, "door 3: the scores", "Shaw, Transformer-XL, T5, ALiBi"),
    )

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 500), canvas.say
        plane.cell(20, 14, 212, 38, say("token vectors"), fill="token-soft", edge="token",
                   color="token", bold=True)  # fmt: skip
        plane.arrow((126, 52), (126, 108))
        plane.cell(20, 108, 212, 38, say("input of the layer"), edge="ink")
        for x, name, role in ((20, "V", "token"), (96, "Q", "query"), (172, "K", "key")):
            plane.arrow((x + 30, 146), (x + 30, 178))
            plane.cell(x, 178, 60, 36, name, fill=f"{role}-soft", edge=role, color=role, bold=True)
        for x in (126, 202):
            plane.arrow((x, 214), (x, 310))
        plane.cell(96, 310, 136, 40, say("scores"), fill="score-soft", edge="score",
                   color="score", bold=True)  # fmt: skip
        plane.arrow((164, 350), (164, 386), "faint")
        plane.cell(96, 386, 136, 36, say("softmax: weights"), edge="score", color="score")
        for x, start in ((50, 214), (164, 422)):
            plane.arrow((x, start), (x, 450))
        plane.cell(20, 450, 212, 38, say("weights × V"), edge="ink")
        for y, title, names in places:
            plane.box(272, y - 33, 240, 66, fill="position-soft", edge="position")
            plane.text(284, y - 12, say(title), "position", align="left", bold=True)
            plane.text(284, y + 13, say(names), align="left", size=SMALL)
        for y, ends in ((80, (132,)), (244, (208, 132)), (330, (236,))):
            for end in ends:
                plane.arrow((272, y), (end, y), "position", weight=2)

    def alt(say: Say) -> str:
        return say(
            "The road through an attention layer: token vectors, the layer's input, from it V, Q "
            "and K, from Q and K the scores, from the scores the weights, and the weights times V. "
            "Positions enter by three doors: {doors}.",
            doors="; ".join(
                say("{title} ({names})", title=say(title), names=say(names))
                for _, title, names in places
            ),
        )

    return Figure("order-doors", draw, alt)


def what_was_seen(words: Sequence[str] = ("Tom", "likes", "Ann", "?")) -> Figure:
    """Which tokens each place has seen after one causal layer, in two orders of the first three.

    Parameters
    ----------
    words
        Four tokens that the catalogues know. In the second order the first and the third are
        exchanged.

    Returns
    -------
    Figure
        A figure named ``order-seen``.
    """
    first, second, third, last = words
    orders = (list(words), [third, second, first, last])
    place = torch.arange(len(words))
    seen = causal_mask(place, place).tolist()

    def bag(order: Sequence[str], number: int) -> list[str]:
        """The tokens in view of a place, in an order that does not tell theirs."""
        return sorted(word for word, open_ in zip(order, seen[number], strict=True) if open_)

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 448), canvas.say
        step = (WIDTH - 16) / len(words)
        bags = [[bag(order, number) for number in range(len(words))] for order in orders]
        for half, order in enumerate(orders):
            top = 12 + 224 * half
            for number, word in enumerate(order):
                x, here = 8 + step * number, bags[half][number]
                same = here == bags[1 - half][number]
                role = "faint" if same else "segment"
                plane.cell(x, top, step - 12, 36, say(word), fill="token-soft", edge="token",
                           color="token", bold=True)  # fmt: skip
                plane.arrow((x + step / 2 - 6, top + 38), (x + step / 2 - 6, top + 64))
                fill = "paper" if same else "segment-soft"
                named = "\n".join(map(say, here))
                plane.cell(x, top + 66, step - 12, 108, named, edge=role, color=role, fill=fill)
        plane.text(WIDTH / 2, 212, say("seen after one layer: a bag for each place"), size=SMALL)
        plane.text(WIDTH / 2, 436, say("colored: not the same bag in both orders"), "segment",
                   size=SMALL)  # fmt: skip

    def alt(say: Say) -> str:
        return say(
            "Two orders of the same {count} tokens, and below each token the bag of tokens that "
            "its place has seen after one causal layer. The last bag is the same in both; those of "
            "the places {places} differ.",
            count=len(words),
            places=", ".join(
                str(n) for n in range(len(words)) if bag(orders[0], n) != bag(orders[1], n)
            ),
        )

    return Figure("order-seen", draw, alt)


def accuracy(shares: Mapping[str, float], guess: float = 0.5) -> Figure:
    """The share of right answers of several models, as bars beside the share of a guess.

    Parameters
    ----------
    shares
        The share of each model, from 0 to 1, by its name.
    guess
        The share that a guess reaches.

    Returns
    -------
    Figure
        A figure named ``order-accuracy``.
    """

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 64 + 44 * len(shares)), canvas.say
        left, full = 238, 210
        for row, (name, share) in enumerate(shares.items()):
            y = 36 + 44 * row
            role = "position" if share > guess + 0.25 else "segment"
            plane.text(left - 10, y + 14, say(name), align="right", size=SMALL)
            plane.cell(left, y, full * share, 28, fill=f"{role}-soft", edge=role)
            words = f"{share:.0%}"
            plane.text(left + full * share + 8, y + 14, words, role, align="left", bold=True)
        x = left + full * guess
        plane.line((x, 28), (x, 40 + 44 * len(shares)), "faint", dashed=True)
        plane.text(x, 14, say("a guess between two: {share}", share=f"{guess:.0%}"), "faint",
                   size=SMALL)  # fmt: skip

    def alt(say: Say) -> str:
        return say(
            "The share of right answers as bars, beside a guess at {guess}. {shares}.",
            guess=f"{guess:.0%}",
            shares="; ".join(f"{say(name)}: {share:.0%}" for name, share in shares.items()),
        )

    return Figure("order-accuracy", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield doors()
    yield what_was_seen()
    yield accuracy(
        {
            "no mask, no positions": 0.5,
            "causal, 1 layer, no positions": 0.5,
            "causal, 2 layers, no positions": 1.0,
            "causal, 1 layer, learned": 1.0,
        }
    )
