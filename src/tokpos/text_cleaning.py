"""BERT's normalization, step by step, and the cut into words.

Each step takes characters with their places in the text and gives such.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tokpos._unicode import (
    SPACES,
    characters,
    check_text,
    combining_class,
    decompose,
    is_cjk,
    is_punctuation,
    lowercase,
)


class Placed(NamedTuple):
    """A character after normalization, and where in the text it comes from."""

    character: str
    """One character."""

    at: int
    """Place in the text of the character that it was made of."""


def place(text: str, start: int = 0) -> list[Placed]:
    """Give every character its place.

    Parameters
    ----------
    text : str
        Any text, or a part of one.
    start : int
        Where the part begins.

    Returns
    -------
    list of Placed
        The same characters.

    Raises
    ------
    TypeError
        `text` is not a string.
    ValueError
        `text` holds a lone surrogate.
    """
    check_text(text)
    return [Placed(character, index) for index, character in enumerate(text, start)]


def clean(text: Iterable[Placed]) -> list[Placed]:
    r"""Drop control, format and private-use characters, and make every kind of space a plain one.

    Tab, newline and carriage return are spaces. The other controls go without leaving one, even
    a vertical tab. NUL and U+FFFD go too.

    Parameters
    ----------
    text : iterable of Placed
        Characters with their places.

    Returns
    -------
    list of Placed
        What is left, with the places it had.

    Raises
    ------
    TypeError
        `text` is a string, see `place`.

    Examples
    --------
    >>> "".join(each.character for each in clean(place("co\x00op\tsoft\xadware")))
    'coop software'
    """
    _check_placed(text)
    removed = characters("removed")
    return [
        Placed(" ", index) if character in SPACES else Placed(character, index)
        for character, index in text
        if character not in removed
    ]


def space_cjk(text: Iterable[Placed]) -> list[Placed]:
    """Put spaces around every Chinese character, so that each becomes a word.

    Parameters
    ----------
    text : iterable of Placed
        Characters with their places.

    Returns
    -------
    list of Placed
        The spaces have the place of the character that they surround.

    Raises
    ------
    TypeError
        `text` is a string, see `place`.
    """
    _check_placed(text)
    spaced: list[Placed] = []
    for each in text:
        if is_cjk(each.character):
            spaced += [Placed(" ", each.at), each, Placed(" ", each.at)]
        else:
            spaced.append(each)
    return spaced


def strip_accents(text: Sequence[Placed]) -> list[Placed]:
    """Take characters apart (NFD) and drop the marks: é becomes e.

    Parameters
    ----------
    text : sequence of Placed
        Characters with their places.

    Returns
    -------
    list of Placed
        What is left.

    Raises
    ------
    TypeError
        `text` is a string, see `place`.

    Examples
    --------
    >>> "".join(each.character for each in strip_accents(place("Café")))
    'Cafe'
    """
    _check_placed(text)
    marks = characters("mark")
    return [each for each in _nfd(text) if each.character not in marks]


def _nfd(text: Sequence[Placed]) -> list[Placed]:
    """Normalization form D.

    Marks that follow one another are sorted, but places are not: the n-th character that was not
    added stands where the n-th character of the text stood, as in the library.
    """
    parts = [
        (part, added > 0) for each in text for added, part in enumerate(decompose(each.character))
    ]
    placed: list[Placed] = []
    n = -1
    for part, added in _in_canonical_order(parts):
        n += not added
        placed.append(Placed(part, text[n].at))
    return placed


def _in_canonical_order(parts: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Sort each run of marks by combining class; what has class 0 ends a run."""
    ordered: list[tuple[str, bool]] = []
    run: list[tuple[int, tuple[str, bool]]] = []
    for part in parts:
        if rank := combining_class(part[0]):
            run.append((rank, part))
        else:
            ordered += [mark for _, mark in sorted(run, key=lambda mark: mark[0])]
            ordered.append(part)
            run = []
    return ordered + [mark for _, mark in sorted(run, key=lambda mark: mark[0])]


def lower(text: Iterable[Placed]) -> list[Placed]:
    """Bring every character to lower case, one by one.

    Parameters
    ----------
    text : iterable of Placed
        Characters with their places.

    Returns
    -------
    list of Placed
        One character can become two: İ becomes i and a dot.

    Raises
    ------
    TypeError
        `text` is a string, see `place`.
    """
    _check_placed(text)
    return [Placed(small, index) for character, index in text for small in lowercase(character)]


def words(text: Iterable[Placed]) -> list[list[Placed]]:
    """Cut at spaces, which go, and around every punctuation mark, which is a word of its own.

    Parameters
    ----------
    text : iterable of Placed
        Normalized characters with their places.

    Returns
    -------
    list of list of Placed
        The words; none is empty.

    Raises
    ------
    TypeError
        `text` is a string, see `place`.

    Examples
    --------
    >>> ["".join(each.character for each in word) for word in words(place("don't stop"))]
    ['don', "'", 't', 'stop']
    """
    _check_placed(text)
    found: list[list[Placed]] = []
    inside = False
    for each in text:
        if each.character in SPACES:
            inside = False
        elif is_punctuation(each.character):
            found.append([each])
            inside = False
        elif inside:
            found[-1].append(each)
        else:
            found.append([each])
            inside = True
    return found


def _check_placed(text: object) -> None:
    if isinstance(text, str):
        raise TypeError("text must be characters with their places, see place; got a str")
