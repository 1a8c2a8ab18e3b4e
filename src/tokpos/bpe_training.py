"""How a BPE vocabulary is learned: merge the pair that occurs most often, and again.

The merges are those of the library's ``BpeTrainer``, ties included. Each step counts the whole
corpus anew and keeps what it saw, so this is for small corpora and for the eye: who has a
deadline takes [tokenizers](https://github.com/huggingface/tokenizers).

`tokpos.figures.tokens.learned_merges`
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from tokpos._unicode import SPACES, check_text
from tokpos.bpe_merge import Pair
from tokpos.bpe_merge import merge as merge_word
from tokpos.byte_bpe import ByteBPE
from tokpos.byte_bpe import words as gpt2_words
from tokpos.byte_letters import BYTE_LETTERS, to_letters

Level = Literal["characters", "bytes"]

_SPACE = re.compile(f"[{re.escape(SPACES)}]+")


@dataclass(frozen=True)
class SplitWord:
    """A word of the corpus as it is cut at present."""

    pieces: tuple[str, ...]
    """Its pieces."""

    count: int
    """How often the corpus has the word."""


@dataclass(frozen=True)
class Merge:
    """One step of the training."""

    pair: Pair
    """The two pieces that were merged."""

    token: str
    """What they make."""

    id: int
    """The row of the vocabulary that the new token gets."""

    count: int
    """How often the pair stood in the corpus before."""

    corpus: tuple[SplitWord, ...]
    """Each word of the corpus after it."""


@dataclass(frozen=True)
class Training:
    """What was learned, and how.

    Attributes
    ----------
    level : {"characters", "bytes"}
        What the first pieces were.
    alphabet : list of str
        The first pieces, in the order of their IDs.
    start : tuple of SplitWord
        Each word of the corpus before the first merge.
    merges : list of Merge
        The merges in their order.
    """

    level: Level
    alphabet: list[str]
    start: tuple[SplitWord, ...]
    merges: list[Merge]

    @property
    def vocabulary(self) -> list[str]:
        """The tokens in the order of their IDs: the alphabet, then what was merged."""
        return list(dict.fromkeys([*self.alphabet, *(merge.token for merge in self.merges)]))

    def cut(self, word: str) -> list[str]:
        """Cut a word by the merges that were learned.

        Parameters
        ----------
        word : str
            A word. At the level of bytes its pieces are shown in GPT-2's alphabet.

        Returns
        -------
        list of str
            Its pieces. A character that the alphabet has not stays a piece of its own.

        Raises
        ------
        TypeError
            `word` is not a string.
        ValueError
            `word` holds a lone surrogate.

        Examples
        --------
        >>> train_bpe(["low low lower"], merges=2).cut("slow")
        ['s', 'low']
        """
        check_text(word, "word")
        letters = to_letters(word.encode()) if self.level == "bytes" else word
        return merge_word(letters, {merge.pair: rank for rank, merge in enumerate(self.merges)})

    def tokenizer(self, specials: Iterable[str] = ()) -> ByteBPE:
        """The tokenizer that uses these merges.

        Parameters
        ----------
        specials : iterable of str
            Tokens that are no bytes, numbered after all others.

        Returns
        -------
        ByteBPE
            A byte-level BPE.

        Raises
        ------
        ValueError
            The merges are of characters, which leave other characters without a token.

        Examples
        --------
        >>> train_bpe(["猫 猫"], merges=2, level="bytes").tokenizer().encode("猫").tokens
        ['çĮ«']
        """
        if self.level != "bytes":
            raise ValueError(f"level must be 'bytes' for a tokenizer; got {self.level!r}")
        return ByteBPE([merge.pair for merge in self.merges], specials)


def count_words(corpus: Iterable[str], level: Level = "characters") -> dict[str, int]:
    """Count the words of a corpus. No merge ever crosses the border of a word.

    Parameters
    ----------
    corpus : iterable of str
        Texts.
    level : {"characters", "bytes"}
        For characters, texts are cut at spaces, which go. For bytes they are cut by GPT-2's
        pattern, and written in its alphabet.

    Returns
    -------
    dict of str to int
        How often each word occurs, in the order in which they first do.

    Raises
    ------
    TypeError
        The corpus is one string, or holds something else than strings.
    ValueError
        `level` is unknown, or a text holds a lone surrogate.

    Examples
    --------
    >>> count_words(["low low lower", "猫"])
    {'low': 2, 'lower': 1, '猫': 1}
    """
    if isinstance(corpus, str):
        raise TypeError("corpus must be a list of str; got one str")
    if level not in ("characters", "bytes"):
        raise ValueError(f"level must be 'characters' or 'bytes'; got {level!r}")
    counts: Counter[str] = Counter()
    for number, text in enumerate(corpus):
        check_text(text, f"corpus[{number}]")
        if level == "bytes":
            counts.update(to_letters(word.encode()) for word in gpt2_words(text))
        else:
            counts.update(word for word in _SPACE.split(text) if word)
    return dict(counts)


def count_pairs(corpus: Iterable[SplitWord]) -> dict[Pair, int]:
    """Count the pairs of pieces that stand side by side.

    Parameters
    ----------
    corpus : iterable of SplitWord
        The words as they are cut.

    Returns
    -------
    dict of pair to int
        In ``aaa`` the pair a, a counts twice, though only one of the two can be merged.

    Raises
    ------
    TypeError
        `corpus` holds something else than `SplitWord`.

    Examples
    --------
    >>> count_pairs([SplitWord(("l", "o", "w"), 2)])
    {('l', 'o'): 2, ('o', 'w'): 2}
    """
    counts: dict[Pair, int] = {}
    for number, word in enumerate(corpus):
        if not isinstance(word, SplitWord):
            raise TypeError(f"corpus[{number}] must be a SplitWord; got {type(word).__name__}")
        for pair in zip(word.pieces, word.pieces[1:], strict=False):
            counts[pair] = counts.get(pair, 0) + word.count
    return counts


def merge_pair(pieces: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """Merge a pair wherever it stands, from the left.

    Parameters
    ----------
    pieces : tuple of str
        The pieces of a word.
    pair : pair of str
        What to merge.

    Returns
    -------
    tuple of str
        The pieces after it.

    Raises
    ------
    TypeError
        `pieces` or `pair` is not a tuple.

    Examples
    --------
    >>> merge_pair(("a", "a", "a"), ("a", "a"))
    ('aa', 'a')
    """
    for name, given in (("pieces", pieces), ("pair", pair)):
        if not isinstance(given, tuple):
            raise TypeError(f"{name} must be a tuple of str; got {type(given).__name__}")
    merged: list[str] = []
    place = 0
    while place < len(pieces):
        width = 2 if pieces[place : place + 2] == pair else 1
        merged.append("".join(pieces[place : place + width]))
        place += width
    return tuple(merged)


def choose(pairs: Mapping[Pair, int], ids: Mapping[str, int]) -> Pair:
    """The pair to merge: the most frequent one; among equals, the one with the lowest IDs.

    Parameters
    ----------
    pairs : mapping from pair to int
        How often each pair occurs.
    ids : mapping from str to int
        The ID of each piece.

    Returns
    -------
    pair of str
        The first piece's ID decides a tie, then the second's.

    Raises
    ------
    ValueError
        There is no pair.

    Examples
    --------
    >>> choose({("b", "a"): 3, ("a", "b"): 3}, {"a": 0, "b": 1})
    ('a', 'b')
    """
    if not pairs:
        raise ValueError("pairs must hold at least one pair; got none")
    return min(pairs, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))


def train_bpe(
    corpus: Iterable[str], merges: int, level: Level = "characters", min_count: int = 2
) -> Training:
    """Learn merges from a corpus.

    Parameters
    ----------
    corpus : iterable of str
        Texts.
    merges : int
        How many merges to learn, at most.
    level : {"characters", "bytes"}
        What the first pieces are: the characters of the corpus, or all 256 bytes.
    min_count : int
        A pair that occurs less often is not merged.

    Returns
    -------
    Training
        The merges with what each did to the corpus.

    Raises
    ------
    TypeError
        The corpus is one string, or holds something else than strings.
    ValueError
        `level` is unknown, `merges` is negative, `min_count` is below 1, or a text holds a lone
        surrogate.

    References
    ----------
    Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units",
    algorithm 1.

    Examples
    --------
    >>> for merge in train_bpe(["low low lower", "我喜欢 喜欢"], merges=3).merges:
    ...     print(merge.pair, merge.count, merge.token)
    ('l', 'o') 3 lo
    ('lo', 'w') 3 low
    ('喜', '欢') 2 喜欢
    """
    if merges < 0:
        raise ValueError(f"merges must be at least 0; got {merges}")
    if min_count < 1:
        raise ValueError(f"min_count must be at least 1; got {min_count}")
    counts = count_words(corpus, level)
    first = (
        BYTE_LETTERS.values()
        if level == "bytes"
        else {letter for word in counts for letter in word}
    )
    alphabet = sorted(first)
    ids = {piece: number for number, piece in enumerate(alphabet)}
    words = start = tuple(SplitWord(tuple(word), count) for word, count in counts.items())
    learned: list[Merge] = []
    while len(learned) < merges and (pairs := count_pairs(words)):
        pair = choose(pairs, ids)
        if pairs[pair] < min_count:
            break
        words = tuple(SplitWord(merge_pair(word.pieces, pair), word.count) for word in words)
        token = pair[0] + pair[1]
        learned.append(Merge(pair, token, ids.setdefault(token, len(ids)), pairs[pair], words))
    return Training(level, alphabet, start, learned)
