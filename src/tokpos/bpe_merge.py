"""How BPE cuts a word: merge the pair of pieces that was learned first, and again."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import NamedTuple

Pair = tuple[str, str]


class MergeStep(NamedTuple):
    """One merge inside a word."""

    rank: int
    """Place of the merge in the list; the lowest possible one comes first."""

    place: int
    """Which of the pieces was merged with the next."""

    pieces: list[str]
    """The pieces after it."""


def merge_steps(word: str, ranks: Mapping[Pair, int]) -> list[MergeStep]:
    """Merge the characters of a word, step by step: the readable way.

    Each step looks at every pair, so a long word takes time with the square of its length;
    `merge` does not.

    Parameters
    ----------
    word : str
        A word; its characters are the pieces to begin with.
    ranks : mapping from pair to int
        The rank of each merge.

    Returns
    -------
    list of MergeStep
        At each step the pair of the lowest rank, the leftmost one if it is there more than once.

    Raises
    ------
    TypeError
        `word` is not a string.

    Examples
    --------
    >>> for step in merge_steps("abab", {("a", "b"): 0, ("ab", "ab"): 1}):
    ...     print(step.pieces)
    ['ab', 'a', 'b']
    ['ab', 'ab']
    ['abab']
    """
    _check_word(word)
    pieces = list(word)
    steps: list[MergeStep] = []
    while possible := [
        (ranks[pair], place)
        for place, pair in enumerate(zip(pieces, pieces[1:], strict=False))
        if pair in ranks
    ]:
        rank, place = min(possible)
        pieces = [*pieces[:place], pieces[place] + pieces[place + 1], *pieces[place + 2 :]]
        steps.append(MergeStep(rank, place, pieces))
    return steps


def merge(word: str, ranks: Mapping[Pair, int]) -> list[str]:
    """Merge the characters of a word: the last pieces of `merge_steps`, by a heap.

    For n characters it takes time n log n.

    Parameters
    ----------
    word : str
        A word; its characters are the pieces to begin with.
    ranks : mapping from pair to int
        The rank of each merge.

    Returns
    -------
    list of str
        The pieces when no merge is possible any more.

    Raises
    ------
    TypeError
        `word` is not a string.

    Examples
    --------
    >>> merge("ababa", {("a", "b"): 0, ("ab", "ab"): 1})
    ['abab', 'a']
    """
    _check_word(word)
    end = len(word)
    pieces: list[str] = list(word)
    after, before = list(range(1, end + 1)), list(range(-1, end - 1))  # the neighbors
    heap = [
        (ranks[pair], place, pair)
        for place, pair in enumerate(zip(word, word[1:], strict=False))
        if pair in ranks
    ]
    heapify(heap)
    while heap:
        _, left, pair = heappop(heap)
        right = after[left]
        # An entry is stale if one of its pieces has changed meanwhile; a merged one is "".
        if right == end or (pieces[left], pieces[right]) != pair:
            continue
        pieces[left], pieces[right] = pieces[left] + pieces[right], ""
        after[left] = after[right]
        if after[left] < end:
            before[after[left]] = left
        for one in (before[left], left):
            if one >= 0 and after[one] < end:
                pair = pieces[one], pieces[after[one]]
                if pair in ranks:
                    heappush(heap, (ranks[pair], one, pair))
    return [piece for piece in pieces if piece]


def _check_word(word: object) -> None:
    if not isinstance(word, str):
        raise TypeError(f"word must be a str; got {type(word).__name__}")
