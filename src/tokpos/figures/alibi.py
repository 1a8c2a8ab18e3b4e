"""ALiBi: the bias of every head, the slopes, and what both do to the weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import torch

from tokpos.alibi import alibi_bias, alibi_slopes
from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._matrix import draw_matrix
from tokpos.figures.relative import SMALL, WIDTH


def _slope(number: float) -> str:
    """A slope as a fraction where it is a power of two, else with three digits."""
    share = Fraction(number)
    return f"1/{share.denominator}" if share.numerator == 1 else f"{number:.3f}"


def bias_of_heads(heads: int = 8, length: int = 64) -> Figure:
    """The bias of every head as a map, colored by the share of the weight that it leaves.

    Parameters
    ----------
    heads
        Number of heads H, up to 8.
    length
        Number of positions S.

    Returns
    -------
    Figure
        A figure named ``alibi-heads``.

    Raises
    ------
    ValueError
        If there are more heads, or fewer than 1.
    """
    if not 1 <= heads <= 8:
        raise ValueError(f"heads must lie in 1..8 to be drawn, got {heads}")
    place = torch.arange(length)
    slopes = alibi_slopes(heads).tolist()
    bias = alibi_bias(place, place, alibi_slopes(heads))
    left = bias.masked_fill(place > place[:, None], -math.inf).exp()

    def draw(canvas: Canvas) -> None:
        height = 150 * -(-heads // 4) + 76
        sheet = canvas.sheet(WIDTH, height)
        scale = canvas.colormap("paper", "score")
        for h in range(heads):
            x, top = 14 + 126 * (h % 4), 34 + 150 * (h // 4)
            corner = x / WIDTH, 1 - (top + 112) / height
            axes = sheet.add_axes((*corner, 112 / WIDTH, 112 / height))
            axes.imshow(left[h].numpy(), cmap=scale, vmin=0, vmax=1, interpolation="none")
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(True)
            axes.spines[:].set_color(canvas.color("rule"))
            axes.set_title(f"m = {_slope(slopes[h])}")
        key = sheet.add_axes((0.34, 30 / height, 0.38, 14 / height))
        key.imshow([[n / 100 for n in range(101)]], cmap=scale, aspect="auto")
        key.spines[:].set_visible(False)
        ticks = [0.0, *(100 * math.exp(bias) for bias in (-2, -1, -0.5)), 100.0]
        key.set(yticks=[], xticks=ticks, xticklabels=["−∞", "−2", "−1", "−½", "0"])
        words = canvas.say("rows: queries\ncolumns: keys")
        sheet.text(0.03, 36 / height, words, size=SMALL, va="center")
        sheet.text(0.97, 36 / height, canvas.say("the bias"), size=SMALL, ha="right", va="center")

    def alt(say: Say) -> str:
        reaches = (bias[:, -1] > -1).sum(-1).tolist()
        return say(
            "{heads} maps of the bias for {length} queries and keys, with the slopes {slopes}. "
            "Dark at the diagonal, where the bias is 0, they fade to the lower left. The number "
            "of keys with a bias above −1, for the last query: {reaches}. The future is blank.",
            heads=heads,
            length=length,
            slopes=", ".join(map(_slope, slopes)),
            reaches=", ".join(map(str, reaches)),
        )

    return Figure("alibi-heads", draw, alt)


def slopes_of_heads(counts: Sequence[int] = (8, 12)) -> Figure:
    """The slopes of two models on a logarithmic scale: for 12 heads the list is not sorted.

    Parameters
    ----------
    counts
        Two numbers of heads.

    Returns
    -------
    Figure
        A figure named ``alibi-slopes``.
    """
    few, many = counts
    values = {count: alibi_slopes(count).tolist() for count in counts}

    def draw(canvas: Canvas) -> None:
        axes = canvas.sheet(WIDTH, 340).add_axes((0.12, 0.16, 0.84, 0.7))
        axes.set_yscale("log", base=2)
        axes.plot(
            range(1, many + 1),
            values[many],
            "D",
            color=canvas.color("segment"),
            markersize=11,
            markerfacecolor="none",
            markeredgewidth=1.8,
        )
        axes.plot(range(1, few + 1), values[few], "o", color=canvas.color("score"), markersize=6)
        axes.text(few - 0.4, 2.0**-6.6, f"H = {few}", color=canvas.color("score"), ha="right")
        x, y = many - 0.1, values[many][-1]
        axes.text(x, y * 0.5, f"H = {many}", color=canvas.color("segment"), ha="right")
        axes.set(xlim=(0.4, many + 0.6), ylim=(2.0**-8.6, 1.0))
        axes.set_xticks(range(1, many + 1))
        axes.set_yticks([2.0**-n for n in (8, 6, 4, 2, 0)], ["1/256", "1/64", "1/16", "1/4", "1"])
        axes.minorticks_off()
        axes.set_xlabel(canvas.say("head"))
        axes.set_title(canvas.say("slope m"), loc="left", x=-0.1, pad=14)

    def alt(say: Say) -> str:
        return say(
            "Slopes on a logarithmic scale. With {few} heads they fall from {first} to {last} in "
            "equal steps. With {many} heads the first {few} are the same, and then {rest} follow.",
            few=few,
            many=many,
            first=_slope(values[few][0]),
            last=_slope(values[few][-1]),
            rest=", ".join(map(_slope, values[many][few:])),
        )

    return Figure("alibi-slopes", draw, alt)


def both_directions(length: int = 5, slope: float = 0.5) -> Figure:
    """The bias of one head twice: of a decoder, whose future is masked, and of an encoder.

    Parameters
    ----------
    length
        Number of positions S.
    slope
        The slope m of the head.

    Returns
    -------
    Figure
        A figure named ``alibi-directions``.
    """
    place, slopes = torch.arange(length), torch.tensor([slope])
    causal = alibi_bias(place, place, slopes)[0].tolist()
    symmetric = alibi_bias(place, place, slopes, slopes)[0].tolist()

    def draw(canvas: Canvas) -> None:
        side = 46.0
        plane, say = canvas.plane(WIDTH, 90 + side * length), canvas.say
        titles = (say("causal: the future is masked"), say("symmetric: for an encoder"))
        for k, (rows, title) in enumerate(zip((causal, symmetric), titles, strict=True)):
            x, y = 12 + (side * length + 36) * k, 44.0
            masked = k == 0
            words = [
                ["" if masked and j > i else _bias_number(rows[i][j]) for j in range(length)]
                for i in range(length)
            ]

            def look(i: int, j: int, masked: bool = masked) -> tuple[str, str]:
                if i == j:
                    return "rule", "ink"
                return ("paper", "faint") if masked and j > i else ("score-soft", "score")

            plane.text(x, 20, title, bold=True, align="left")
            draw_matrix(plane, x, y, side, words, look)
        below = say("rows: queries; columns: keys; m = {slope}", slope=_slope(slope))
        plane.text(WIDTH / 2, 68 + side * length, below, "faint", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "The bias of {length} queries and keys twice, with the slope {slope}. In both, the "
            "last row is {row}. To the right of the diagonal the causal one is blank, and the "
            "symmetric one mirrors the left: its first row is {first}.",
            length=length,
            slope=_slope(slope),
            row=", ".join(map(_bias_number, symmetric[-1])),
            first=", ".join(map(_bias_number, symmetric[0])),
        )

    return Figure("alibi-directions", draw, alt)


def _bias_number(bias: float) -> str:
    return f"−{-bias:g}" if bias < 0 else "0"


def softmax_before_and_after(length: int = 16, slope: float = 0.25, seed: int = 0) -> Figure:
    """The weights of the last query without the bias and with it, from the same scores.

    Parameters
    ----------
    length
        Number of keys.
    slope
        The slope m of the head.
    seed
        The scores are drawn at random; they stand for any.

    Returns
    -------
    Figure
        A figure named ``alibi-softmax``.
    """
    place = torch.arange(length)
    scores = torch.randn(length, generator=torch.Generator().manual_seed(seed))
    bias = alibi_bias(place[-1:], place, torch.tensor([slope]))[0, 0]
    before, after = scores.softmax(-1), (scores + bias).softmax(-1)
    near = length // 4
    shares = [100 * weights[-near:].sum().item() for weights in (before, after)]

    def draw(canvas: Canvas) -> None:
        height = 400.0
        sheet = canvas.sheet(WIDTH, height)
        highest = 1.15 * float(torch.cat([before, after]).max())
        titles = (
            canvas.say("softmax(scores)"),
            canvas.say("softmax(scores − m · distance), m = {slope}", slope=_slope(slope)),
        )
        for k, (weights, words) in enumerate(zip((before, after), titles, strict=True)):
            axes = sheet.add_axes((0.11, 0.59 - 0.46 * k, 0.86, 0.31))
            axes.bar(
                place.tolist(),
                weights.tolist(),
                color=canvas.color("score" if k else "faint"),
                width=0.7,
            )
            axes.set(ylim=(0, highest), xlim=(-0.6, length - 0.4), yticks=[0, 0.1, 0.2])
            axes.set_xticks(range(0, length, 5))
            axes.tick_params(labelbottom=k == 1)
            axes.set_title(words, loc="left")
            share = canvas.say("the last {near}: {share}%", near=near, share=f"{shares[k]:.0f}")
            axes.text(length - near - 0.7, 0.93 * highest, share, ha="right", va="top")
            axes.axvline(length - near - 0.5, color=canvas.color("rule"), linestyle=(0, (4, 3)))
        axes.set_xlabel(
            canvas.say("position of the key; the query stands at {last}", last=length - 1)
        )

    def alt(say: Say) -> str:
        return say(
            "Weights of one query over {length} keys. From random scores alone the last {near} "
            "keys get {before}% of the weight. With the bias of slope {slope} they get {after}%, "
            "and the bars shrink to the left.",
            length=length,
            near=near,
            slope=_slope(slope),
            before=f"{shares[0]:.0f}",
            after=f"{shares[1]:.0f}",
        )

    return Figure("alibi-softmax", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once."""
    yield bias_of_heads()
    yield slopes_of_heads()
    yield both_directions()
    yield softmax_before_and_after()
