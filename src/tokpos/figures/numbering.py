"""What happens to IDs as numbers when the vocabulary is numbered anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._plane import Plane

WIDTH = 520.0
SMALL = 13.0
WORDS = ("cat", "dog", "apple")
_FED = ("raw ID", "scaled ID", "one-hot", "embedding")  # what a classifier may be fed

_Along = tuple[Sequence[int], Sequence[int]]
"""For each ID in its order, 0 or 1: the right kind, and the kind that was answered."""


def two_numberings(
    numberings: Sequence[Sequence[int]] = ((4, 5, 6), (800, 12, 95)),
) -> Figure:
    """Cat, dog and apple on the number line, by their IDs in two numberings.

    Parameters
    ----------
    numberings : sequence of sequence of int
        The IDs of the three words in each numbering.

    Returns
    -------
    Figure
        A figure named ``numbering-two``.

    Raises
    ------
    ValueError
        A numbering has not three different IDs.
    """
    for ids in numberings:
        if len(set(ids)) != len(WORDS) or len(ids) != len(WORDS):
            raise ValueError(f"a numbering must have 3 different IDs; got {list(ids)}")

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 176 * len(numberings)), canvas.say
        for number, ids in enumerate(numberings):
            top = 176.0 * number
            low, high = min(ids), max(ids)
            places = [28 + 396 * (each - low) / (high - low) for each in ids]
            heading = say("numbering {number}", number=number + 1)
            plane.text(10, top + 16, heading, align="left", bold=True)
            plane.arrow((10, top + 78), (WIDTH - 10, top + 78), "faint")
            for word, token_id, x in zip(WORDS, ids, places, strict=True):
                _dot(plane, x, top + 78, "token")
                plane.text(x, top + 54, say(word), "token")
                plane.text(x, top + 100, str(token_id))
            for line, other in enumerate((1, 2)):
                y = top + 126 + 26 * line
                left, right = sorted((places[0], places[other]))
                plane.line((left, y), (right, y), "faint")
                for x in (left, right):
                    plane.line((x, y - 5), (x, y + 5), "faint")
                words = say("{distance} apart", distance=abs(ids[0] - ids[other]))
                plane.text(right + 10, y, words, "faint", align="left", size=SMALL)

    def alt(say: Say) -> str:
        told = " ".join(
            say(
                "Numbering {number}: cat {cat}, dog {dog}, apple {apple}. Cat and dog are {near} "
                "apart, cat and apple {far}.",
                number=number + 1,
                cat=ids[0],
                dog=ids[1],
                apple=ids[2],
                near=abs(ids[0] - ids[1]),
                far=abs(ids[0] - ids[2]),
            )
            for number, ids in enumerate(numberings)
        )
        return say("{told}", told=told)

    return Figure("numbering-two", draw, alt)


def answers_along_ids(before: _Along, after: _Along) -> Figure:
    """The kinds of all tokens in the order of their IDs, and what a classifier answered.

    Parameters
    ----------
    before : pair of sequences of int
        For each ID from 0 on its kind, 0 or 1, and the kind that the classifier answered.
    after : pair of sequences of int
        The same after the vocabulary was renumbered.

    Returns
    -------
    Figure
        A figure named ``numbering-answers``.
    """

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 344), canvas.say
        headings = (say("the numbering that the kinds follow"), say("renumbered"))
        for number, (kinds, answers) in enumerate((before, after)):
            top = 172.0 * number
            plane.text(10, top + 16, headings[number], align="left", bold=True)
            plane.text(
                10, top + 42, say("right kind of each ID"), "faint", align="left", size=SMALL
            )
            _strip(plane, top + 54, kinds)
            answered = say("answer, {share} right", share=f"{_share(kinds, answers):.0%}")
            plane.text(10, top + 96, answered, "faint", align="left", size=SMALL)
            _strip(plane, top + 108, answers)
            plane.text(10, top + 148, "0", "faint", align="left", size=SMALL)
            last = str(len(kinds) - 1)
            plane.text(WIDTH - 10, top + 148, last, "faint", align="right", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "The kinds of {count} tokens as a strip, in the order of their IDs. In the original "
            "numbering they form {blocks} blocks, and the classifier answers {before} of them "
            "rightly. Renumbered they form {pieces} blocks; its answers form {answered}, {after} "
            "of them right.",
            count=len(before[0]),
            blocks=_blocks(before[0]),
            before=f"{_share(*before):.0%}",
            pieces=_blocks(after[0]),
            answered=_blocks(after[1]),
            after=f"{_share(*after):.0%}",
        )

    return Figure("numbering-answers", draw, alt)


def accuracies(
    found: Mapping[str, tuple[Sequence[float], Sequence[float]]], chance: float = 0.5
) -> Figure:
    """Accuracy by what the classifier is fed, a dot for each seed, before and after renumbering.

    Parameters
    ----------
    found : mapping from str to pair of sequences of float
        By ``"raw ID"``, ``"scaled ID"``, ``"one-hot"`` and ``"embedding"`` the accuracies before
        and after.
    chance : float
        The accuracy of guessing, drawn as a dashed line.

    Returns
    -------
    Figure
        A figure named ``numbering-accuracies``.
    """
    low = min(chance, *(share for pair in found.values() for each in pair for share in each))
    start = min(0.4, low - 0.02)

    def place(share: float) -> float:
        return 196 + 292 * (share - start) / (1 - start)

    def draw(canvas: Canvas) -> None:
        height = 64.0 * len(found)
        plane, say = canvas.plane(WIDTH, height + 74), canvas.say
        for share in (chance, 1.0):
            x = place(share)
            plane.line((x, 34), (x, height + 36), "rule", dashed=share == chance)
            plane.text(x, height + 54, f"{share:.0%}", "faint", size=SMALL)
        plane.text(place(chance), 18, say("guessing"), "faint", size=SMALL)
        plane.text(place(1.0), 18, say("all correct"), "faint", size=SMALL)
        for row, (name, pair) in enumerate(found.items()):
            y = 52 + 64.0 * row
            plane.text(10, y + 12, say(name), align="left", bold=True)
            for line, (words, shares) in enumerate(zip(("before", "after"), pair, strict=True)):
                role = ("token", "segment")[line]
                plane.text(176, y + 24 * line, say(words), role, align="right", size=SMALL)
                for share in shares:
                    _dot(plane, place(share), y + 24 * line, role)

    def alt(say: Say) -> str:
        def span(shares: Sequence[float]) -> str:
            low, high = (f"{share:.1%}" for share in (min(shares), max(shares)))
            return low if low == high else say("{low} to {high}", low=low, high=high)

        told = " ".join(
            say(
                "{name}: before renumbering {before} right, after it {after}.",
                name=say(name),
                before=span(before),
                after=span(after),
            )
            for name, (before, after) in found.items()
        )
        return say("{told}", told=told)

    return Figure("numbering-accuracies", draw, alt)


def _dot(plane: Plane, x: float, y: float, role: str) -> None:
    plane.axes.plot([x], [y], "o", color=plane.canvas.color(role), markersize=8, alpha=0.75)


def _strip(plane: Plane, y: float, kinds: Sequence[int]) -> None:
    """A cell for each run of one kind."""
    side, x = (WIDTH - 20) / len(kinds), 10.0
    for kind, run in groupby(kinds):
        wide = side * len(list(run))
        fill = "token" if kind else "token-soft"
        plane.cell(x, y, wide, 24, fill=fill, edge=fill, weight=0)
        x += wide
    plane.line((10, y + 24), (WIDTH - 10, y + 24), "token", weight=0.8)


def _share(kinds: Sequence[int], answers: Sequence[int]) -> float:
    right = sum(kind == answer for kind, answer in zip(kinds, answers, strict=True))
    return right / len(kinds)


def _blocks(kinds: Sequence[int]) -> int:
    return sum(1 for _ in groupby(kinds))


def gallery() -> Iterator[Figure]:
    """Every figure of this module once; a single threshold stands in for the classifier."""
    kinds = [0] * 20 + [1] * 20
    mixed = [kinds[7 * place % 40] for place in range(40)]
    threshold = [int(place >= 20) for place in range(40)]
    yield two_numberings()
    yield answers_along_ids((kinds, threshold), (mixed, threshold))
    after = _share(mixed, threshold)
    yield accuracies({kind: ([1.0], [after if "ID" in kind else 1.0]) for kind in _FED})
