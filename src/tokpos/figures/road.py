"""The home page's picture: the road from a sentence to the first attention layer."""

from __future__ import annotations

from collections.abc import Iterator

from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._plane import Plane

WIDTH = 430
_MIDDLE = 118
"""The road runs down along this x."""

_BESIDE = 244
"""Here begins what is written beside the road."""

PLACES = 3
TILE = (64, 34)
GAP = 8
_ENTRY = 13
"""Side of one entry of a vector; a vector is drawn as four of them."""


def road() -> Figure:
    """From a sentence to the first attention layer, each lesson beside its station.

    Narrow and tall, so that a phone shows it at its natural size.

    Returns
    -------
    Figure
        A figure named ``road``.
    """

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 716), canvas.say
        _sentence(plane, 8, say("I like cats"), say("a sentence"))
        _step(plane, 48, say("split"))
        _tiles(plane, 90, [say("I"), say("like"), say("cats")], "token-soft", "ink")
        _station(plane, 107, say("tokens"))
        _step(plane, 124, say("number"))
        _tiles(plane, 166, ["2", "3", "4"], "token", "paper")
        _station(plane, 183, say("token IDs"))
        _step(plane, 200, say("look up"))
        _vectors(plane, 242, "token")
        _station(plane, 250, say("token vectors"), say("The table"), "token")
        _plus(plane, 308)
        _vectors(plane, 322, "position")
        _station(plane, 330, say("position vectors"), say("Sinusoidal positions"), "position")
        _plus(plane, 388)
        _vectors(plane, 402, "segment")
        _station(plane, 410, say("segment vectors"), say("BERT's embedding layer"), "segment")
        _step(plane, 454, say("add, LayerNorm"), length=62)
        _vectors(plane, 520, "ink")
        _station(plane, 546, say("one vector a place"))
        _step(plane, 572, "")
        plane.box(10, 616, 2 * (_MIDDLE - 10), 44, edge="ink", weight=1.6)
        plane.text(_MIDDLE, 638, say("first attention layer"), bold=True)
        plane.box(_BESIDE - 4, 676, 16, 16, fill="paper", edge="faint", radius=4)
        plane.text(_BESIDE + 20, 684, say("a lesson"), "faint", align="left")

    def alt(say: Say) -> str:
        return say(
            "A road from top to bottom. A sentence is split into {count} tokens; the tokens are "
            "numbered and become token IDs; each ID fetches a token vector from the table. A "
            "position vector and a segment vector are added, LayerNorm follows, and one vector "
            "for each place enters the first attention layer. Beside the road stand the lessons: "
            "The table, Sinusoidal positions, BERT's embedding layer.",
            count=PLACES,
        )

    return Figure("road", draw, alt)


def gallery() -> Iterator[Figure]:
    """The one picture of this module."""
    yield road()


def _sentence(plane: Plane, y: float, words: str, label: str) -> None:
    plane.box(10, y, 2 * (_MIDDLE - 10), 40)
    plane.text(_MIDDLE, y + 20, words, size=17)
    _station(plane, y + 20, label)


def _step(plane: Plane, y: float, words: str, length: float = 42) -> None:
    """An arrow down the road, with what happens there."""
    plane.arrow((_MIDDLE, y + 4), (_MIDDLE, y + length - 4), "faint")
    plane.text(_MIDDLE + 12, y + length / 2 - 2, words, "faint", align="left", size=13)


def _plus(plane: Plane, y: float) -> None:
    plane.text(_MIDDLE, y, "+", "ink", size=18)


def _left(place: int, width: float) -> float:
    """Left edge of something that stands in the middle of a place."""
    return _MIDDLE + (place - (PLACES - 1) / 2) * (TILE[0] + GAP) - width / 2


def _tiles(plane: Plane, y: float, words: list[str], fill: str, color: str) -> None:
    for place, word in enumerate(words):
        plane.cell(_left(place, TILE[0]), y, *TILE, word, fill=fill, edge="token", color=color)


def _vectors(plane: Plane, y: float, role: str) -> None:
    """One upright vector for each place."""
    fill = "rule" if role == "ink" else f"{role}-soft"
    for place in range(PLACES):
        for entry in range(4):
            plane.cell(
                _left(place, 22), y + entry * _ENTRY, 22, _ENTRY, fill=fill, edge=role, weight=1.1
            )


def _station(plane: Plane, y: float, label: str, lesson: str = "", role: str = "ink") -> None:
    """What stands on the road here, and the lesson about it."""
    plane.text(_BESIDE, y, label, role, align="left", bold=bool(lesson))
    if lesson:
        plane.box(
            _BESIDE - 4, y + 15, WIDTH - _BESIDE - 2, 28, edge=role, fill=f"{role}-soft", radius=6
        )
        plane.text(_BESIDE + 6, y + 29, lesson, size=13, align="left")
