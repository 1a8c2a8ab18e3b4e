"""Byte-level BPE as in GPT-2: cut into words, write each as bytes, merge pairs of pieces.

There are 256 bytes and each has a token, so nothing is unknown. The result is that of the library
``tokenizers``, token for token, ID for ID, offset for offset. This code is there to be read: who
has a deadline takes [tokenizers](https://github.com/huggingface/tokenizers), which is many
times faster.

`tokpos.figures.tokens.bytes_and_merges`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tokpos._unicode import DATA, SPACES, check_text, pattern_class
from tokpos.bpe_merge import Pair, merge
from tokpos.byte_letters import BYTE_LETTERS, to_bytes, to_letters
from tokpos.tokenization import Tokenization

END_OF_TEXT = "<|endoftext|>"


@cache
def _word_pattern() -> re.Pattern[str]:
    r"""GPT-2's pattern: an English ending, or letters, or numbers, or the rest, or spaces.

    As published, with the classes of the package ``regex``, it is::

        's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
    """
    letter, number = pattern_class("letter"), pattern_class("number")
    space = re.escape(SPACES)
    return re.compile(
        "'s|'t|'re|'ve|'m|'ll|'d"
        f"| ?[{letter}]+| ?[{number}]+| ?[^{space}{letter}{number}]+"
        f"|[{space}]+(?![^{space}])|[{space}]+"
    )


def words(text: str) -> list[str]:
    """Cut a text by GPT-2's pattern. A space belongs to the word after it.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Words that together are the text.

    Raises
    ------
    TypeError
        `text` is not a string.
    ValueError
        `text` holds a lone surrogate.

    Examples
    --------
    >>> words("I'm 25,  我喜欢猫!")
    ['I', "'m", ' 25', ',', ' ', ' 我喜欢猫', '!']
    """
    check_text(text)
    return _word_pattern().findall(text)


class BytePiece(NamedTuple):
    """A token with its bytes, and the character that each byte is part of."""

    token: str
    """The token in GPT-2's alphabet."""

    id: int
    """Its row in the vocabulary."""

    data: bytes
    """The bytes that it stands for."""

    owners: tuple[int, ...]
    """For each byte, the place in the text of its character."""


class ByteBPE:
    """A byte-level BPE tokenizer.

    Parameters
    ----------
    merges : iterable of pairs of str
        The merges in the order in which they were learned, in GPT-2's alphabet.
    specials : iterable of str
        Tokens that are no bytes, numbered after all others.

    Raises
    ------
    TypeError
        A merge is not a pair of strings.
    ValueError
        A merge occurs twice, or joins something that is neither a byte nor merged before.

    References
    ----------
    Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units"; on bytes:
    Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2.

    Examples
    --------
    >>> gpt = gpt2()
    >>> gpt.encode("This is a test sentence").ids
    [1212, 318, 257, 1332, 6827]
    >>> gpt.decode([1212, 318])
    'This is'
    """

    def __init__(self, merges: Iterable[Pair], specials: Iterable[str] = ()) -> None:
        self.vocabulary = list(BYTE_LETTERS.values())
        self._ids = {token: number for number, token in enumerate(self.vocabulary)}
        self.ranks: dict[Pair, int] = {}
        for rank, pair in enumerate(merges):
            self._learn(rank, pair)
        self._special_ids: dict[str, int] = {}
        for token in specials:
            check_text(token, "specials")
            if not token or token in self._special_ids:
                raise ValueError(f"specials must differ and not be empty; got {token!r}")
            self._special_ids[token] = len(self.vocabulary)
            self.vocabulary.append(token)
        # Of two that begin alike the longer one is meant.
        longest_first = sorted(self._special_ids, key=len, reverse=True)
        self._special = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")

    def _learn(self, rank: int, pair: Pair) -> None:
        if not (isinstance(pair, tuple) and [*map(type, pair)] == [str, str]):
            raise TypeError(f"merges must be pairs of str; got {pair!r} at {rank}")
        if pair in self.ranks:
            raise ValueError(f"merges must differ; got {pair} at {self.ranks[pair]} and {rank}")
        for part in pair:
            if part not in self._ids:
                raise ValueError(
                    f"merges must join bytes or what was merged before; got {part!r} at {rank}"
                )
        self.ranks[pair] = rank
        token = pair[0] + pair[1]
        if token not in self._ids:  # two merges can give one token
            self._ids[token] = len(self.vocabulary)
            self.vocabulary.append(token)

    @classmethod
    def from_file(cls, path: str | Path, specials: Iterable[str] = ()) -> ByteBPE:
        """Load a ``merges.txt``: a merge on each line, its two parts with a space between them.

        Parameters
        ----------
        path : str or Path
            The file, in UTF-8; a first line that begins with ``#version`` is passed over.
        specials : iterable of str
            Tokens that are no bytes, numbered after all others.

        Returns
        -------
        ByteBPE
            Its tokenizer.

        Raises
        ------
        ValueError
            A line has not two parts, or its merge is not possible.
        """
        # Not splitlines: it would cut at U+0085, which stands for a byte.
        lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        first = 1 if lines[0].startswith("#version") else 0
        merges: list[Pair] = []
        for number, line in enumerate(lines[first:], first + 1):
            parts = line.split(" ")
            if len(parts) != 2 or not all(parts):
                raise ValueError(f"{path}, line {number}, must have two parts; got {line!r}")
            merges.append((parts[0], parts[1]))
        return cls(merges, specials)

    def pieces(self, text: str, specials: bool = True) -> list[BytePiece]:
        """Cut a text into tokens and tell whose bytes they hold.

        Parameters
        ----------
        text : str
            Any text.
        specials : bool
            Whether a special token written in the text, such as ``<|endoftext|>``, counts as one.
            Set it to False for a text that a stranger wrote.

        Returns
        -------
        list of BytePiece
            The tokens. One character can be spread over several, and one can hold parts of two.

        Raises
        ------
        TypeError
            `text` is not a string.
        ValueError
            `text` holds a lone surrogate.

        Examples
        --------
        >>> for piece in gpt2().pieces("狗"):
        ...     print(piece.token, piece.id, piece.data.hex(" "), piece.owners)
        çĭ 45379 e7 8b (0, 0)
        Ĺ 245 97 (0,)
        """
        check_text(text)
        found: list[BytePiece] = []
        start = 0
        # re.split with a group gives text and special tokens in turn.
        apart = self._special.split(text) if specials and self._special_ids else [text]
        for number, part in enumerate(apart):
            if number % 2:
                owners = [start + i for i, character in enumerate(part) for _ in character.encode()]
                found.append(BytePiece(part, self._special_ids[part], part.encode(), tuple(owners)))
                start += len(part)
                continue
            for word in words(part):
                found += self._pieces(word, start)
                start += len(word)
        return found

    def _pieces(self, word: str, start: int) -> list[BytePiece]:
        owners = [start + i for i, character in enumerate(word) for _ in character.encode()]
        found: list[BytePiece] = []
        begin = 0
        for token in merge(to_letters(word.encode()), self.ranks):
            end = begin + len(token)
            found.append(
                BytePiece(token, self._ids[token], to_bytes(token), tuple(owners[begin:end]))
            )
            begin = end
        return found

    def encode(self, text: str, specials: bool = True) -> Tokenization:
        """Turn a text into IDs. None is added.

        Parameters
        ----------
        text : str
            Any text.
        specials : bool
            Whether a special token written in the text, such as ``<|endoftext|>``, counts as one.

        Returns
        -------
        Tokenization
            The offsets of a token take in every character that it holds a byte of.

        Raises
        ------
        TypeError
            `text` is not a string.
        ValueError
            `text` holds a lone surrogate.

        Examples
        --------
        >>> found = gpt2().encode("A cat, 狗")
        >>> found.tokens
        ['A', 'Ġcat', ',', 'Ġç', 'ĭ', 'Ĺ']
        >>> found.offsets
        [(0, 1), (1, 5), (5, 6), (6, 8), (7, 8), (7, 8)]
        """
        found = self.pieces(text, specials)
        return Tokenization(
            tokens=[piece.token for piece in found],
            ids=[piece.id for piece in found],
            type_ids=[0] * len(found),
            attention_mask=[1] * len(found),
            offsets=[(piece.owners[0], piece.owners[-1] + 1) for piece in found],
        )

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes that IDs stand for. They need not be whole characters.

        Parameters
        ----------
        ids : sequence of int
            IDs from 0 to V - 1.

        Returns
        -------
        bytes
            The bytes of all of them.

        Raises
        ------
        TypeError
            An ID is not a whole number.
        IndexError
            No token has an ID.

        Examples
        --------
        >>> gpt2().decode_bytes([104])
        b'\\xab'
        """
        return b"".join(self._bytes(place, token_id) for place, token_id in enumerate(ids))

    def _bytes(self, place: int, token_id: int) -> bytes:
        if isinstance(token_id, bool) or not isinstance(token_id, int):
            raise TypeError(f"ids[{place}] must be an int; got {type(token_id).__name__}")
        if not 0 <= token_id < len(self.vocabulary):
            raise IndexError(
                f"ids[{place}] must lie in 0..{len(self.vocabulary) - 1} "
                f"({len(self.vocabulary)} tokens); got {token_id}"
            )
        token = self.vocabulary[token_id]
        special = len(self.vocabulary) - len(self._special_ids) <= token_id
        return token.encode() if special else to_bytes(token)

    def decode(self, ids: Sequence[int]) -> str:
        """The text that IDs stand for.

        Parameters
        ----------
        ids : sequence of int
            IDs from 0 to V - 1.

        Returns
        -------
        str
            The text, exactly.

        Raises
        ------
        TypeError
            An ID is not a whole number.
        IndexError
            No token has an ID.
        ValueError
            The bytes are no text, for instance because a character is cut. The library puts a
            U+FFFD there and the bytes are lost; `decode_bytes` keeps them.

        Examples
        --------
        >>> gpt2().decode(gpt2().encode("我喜欢猫").ids)
        '我喜欢猫'
        """
        data = self.decode_bytes(ids)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"ids must stand for whole characters; the bytes "
                f"{data[error.start : error.end].hex(' ')} (at byte {error.start} of {len(data)}) "
                f"are none; decode_bytes returns the bytes as they are"
            ) from None


@cache
def gpt2() -> ByteBPE:
    """GPT-2's tokenizer, with its 50,257 tokens.

    Returns
    -------
    ByteBPE
        The same one at each call.

    Examples
    --------
    >>> len(gpt2().vocabulary)
    50257
    """
    return ByteBPE.from_file(DATA / "gpt2_merges.txt", [END_OF_TEXT])
