"""WordPiece with BERT's rules: clean, normalize, cut into words, cut words into known pieces.

The result is that of the library ``tokenizers``, token for token, ID for ID, offset for offset.
This code is there to be read: who has a deadline takes
[tokenizers](https://github.com/huggingface/tokenizers), which is many times faster.

`tokpos.figures.tokens.greedy_cut`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tokpos._unicode import DATA, SPACES, check_text
from tokpos.text_cleaning import Placed, clean, lower, place, space_cjk, strip_accents, words
from tokpos.tokenization import Side, Tokenization, pad

CONTINUES = "##"
"""Begins a piece that does not begin its word."""

LONGEST_WORD = 100
"""A word of more characters is unknown as a whole."""

REQUIRED = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
SPECIAL = (*REQUIRED, "[MASK]")


class Piece(NamedTuple):
    """A token with its ID and its place in the text."""

    token: str
    """The piece as the vocabulary has it."""

    id: int
    """Its row in the vocabulary."""

    start: int
    """Place in the text of its first character."""

    end: int
    """Place after its last character."""


class Attempt(NamedTuple):
    """One look into the vocabulary during the greedy cut."""

    candidate: str
    """The piece that was looked for."""

    found: bool
    """Whether the vocabulary has it."""


class WordPiece:
    """BERT's tokenizer.

    Parameters
    ----------
    vocabulary : sequence of str
        The tokens in the order of their IDs; ``[PAD]``, ``[UNK]``, ``[CLS]`` and ``[SEP]`` must
        be there.
    uncased : bool
        Whether everything is brought to lower case.
    strip_accents : bool, optional
        Whether accents are stripped; by default if `uncased`.

    Raises
    ------
    TypeError
        One string was given in place of a list, or a token is not a string.
    ValueError
        A token occurs twice, or a special token is missing.

    References
    ----------
    Devlin et al. 2019, "BERT: Pre-training of Deep Bidirectional Transformers", section 3; the
    greedy cut: Wu et al. 2016, "Google's Neural Machine Translation System", section 4.1.

    Examples
    --------
    >>> bert = bert_base_uncased()
    >>> bert.encode("This is a test sentence").ids
    [101, 2023, 2003, 1037, 3231, 6251, 102]
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        uncased: bool = True,
        strip_accents: bool | None = None,
    ) -> None:
        if isinstance(vocabulary, str):
            raise TypeError("vocabulary must be a list of str; got one str")
        self.vocabulary = list(vocabulary)
        self._ids: dict[str, int] = {}
        for number, token in enumerate(self.vocabulary):
            check_text(token, f"vocabulary[{number}]")
            if token in self._ids:
                raise ValueError(
                    f"vocabulary must not repeat a token; got {token!r} as "
                    f"{self._ids[token]} and {number}"
                )
            self._ids[token] = number
        if missing := [token for token in REQUIRED if token not in self._ids]:
            raise ValueError(
                f"vocabulary must hold {', '.join(REQUIRED)}; {', '.join(missing)} not found"
            )
        self.uncased = uncased
        self.strip_accents = uncased if strip_accents is None else strip_accents
        special = [token for token in SPECIAL if token in self._ids]
        self._special = re.compile("(" + "|".join(map(re.escape, special)) + ")")

    @classmethod
    def from_file(
        cls, path: str | Path, uncased: bool = True, strip_accents: bool | None = None
    ) -> WordPiece:
        """Load a ``vocab.txt``: one token a line, the line number, from 0, is the ID.

        Parameters
        ----------
        path : str or Path
            The file, in UTF-8.
        uncased : bool
            Whether everything is brought to lower case.
        strip_accents : bool, optional
            Whether accents are stripped; by default if `uncased`.

        Returns
        -------
        WordPiece
            Its tokenizer.

        Raises
        ------
        ValueError
            A line is empty, a token occurs twice, or a special token is missing.
        """
        # Not splitlines: U+2028 and its like are tokens in some vocabularies.
        lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        tokens = [line.rstrip(SPACES) for line in lines]
        if "" in tokens:
            raise ValueError(
                f"{path} must have a token on each line; line {tokens.index('') + 1} is empty"
            )
        return cls(tokens, uncased, strip_accents)

    def id(self, token: str) -> int:
        """The ID of a token, that of ``[UNK]`` if it has none.

        Parameters
        ----------
        token : str
            A token.

        Returns
        -------
        int
            Its row in the vocabulary.

        Raises
        ------
        TypeError
            `token` is not a string.
        """
        check_text(token, "token")
        return self._ids.get(token, self._ids["[UNK]"])

    def normalize(self, text: str, start: int = 0) -> list[Placed]:
        """Clean, space out, strip and lower a text.

        Parameters
        ----------
        text : str
            Any text.
        start : int
            Where it begins, if it is part of a longer one.

        Returns
        -------
        list of Placed
            The characters that the words are made of, each with its place; the first character of
            `text` is at `start`.

        Raises
        ------
        TypeError
            `text` is not a string.
        ValueError
            `text` holds a lone surrogate.

        Examples
        --------
        >>> "".join(each.character for each in bert_base_uncased().normalize("Café 猫!"))
        'cafe  猫 !'
        """
        check_text(text)
        placed = space_cjk(clean(place(text, start)))
        if self.strip_accents:
            placed = strip_accents(placed)
        return lower(placed) if self.uncased else placed

    def attempts(self, word: str) -> list[Attempt]:
        """Every look into the vocabulary while a word is cut, in order.

        At each place the longest piece that the vocabulary has is taken. If there is none, the
        whole word is unknown, whatever was found before.

        Parameters
        ----------
        word : str
            A normalized word.

        Returns
        -------
        list of Attempt
            Empty for a word of more than 100 characters, at which the vocabulary is not asked.

        Raises
        ------
        TypeError
            `word` is not a string.
        ValueError
            `word` holds a lone surrogate.

        Examples
        --------
        >>> [each.candidate for each in bert_base_uncased().attempts("cats") if each.found]
        ['cats']
        >>> [each.candidate for each in bert_base_uncased().attempts("embeddings") if each.found]
        ['em', '##bed', '##ding', '##s']
        """
        check_text(word, "word")
        tried: list[Attempt] = []
        start, end = 0, len(word) if len(word) <= LONGEST_WORD else 0
        while start < end:
            candidate = (CONTINUES if start else "") + word[start:end]
            tried.append(Attempt(candidate, candidate in self._ids))
            if tried[-1].found:
                start, end = end, len(word)
            else:
                end -= 1
        return tried

    def cut(self, word: str) -> list[str]:
        """Cut a normalized word into the pieces that the vocabulary has.

        Parameters
        ----------
        word : str
            A normalized word.

        Returns
        -------
        list of str
            Pieces that together are the word, or ``[UNK]`` alone.

        Raises
        ------
        TypeError
            `word` is not a string.
        ValueError
            `word` holds a lone surrogate.

        Examples
        --------
        >>> bert_base_uncased().cut("tokenizer")
        ['token', '##izer']
        """
        tried = self.attempts(word)
        if not tried or not tried[-1].found:
            return ["[UNK]"]
        return [each.candidate for each in tried if each.found]

    def split(self, text: str, specials: bool = True) -> list[Piece]:
        """Cut a text into tokens and add none.

        Parameters
        ----------
        text : str
            Any text.
        specials : bool
            Whether a special token written in the text, such as ``[MASK]``, counts as one. Set it
            to False for a text that a stranger wrote.

        Returns
        -------
        list of Piece
            The tokens with their IDs and their places in the text.

        Raises
        ------
        TypeError
            `text` is not a string.
        ValueError
            `text` holds a lone surrogate.

        Examples
        --------
        >>> [each.token for each in bert_base_uncased().split("Café, [MASK]!")]
        ['cafe', ',', '[MASK]', '!']
        """
        check_text(text)
        pieces: list[Piece] = []
        start = 0
        # re.split with a group gives text and special tokens in turn.
        for number, part in enumerate(self._special.split(text) if specials else [text]):
            if number % 2:
                pieces.append(Piece(part, self._ids[part], start, start + len(part)))
            else:
                for word in words(self.normalize(part, start)):
                    pieces += self._pieces(word)
            start += len(part)
        return pieces

    def _pieces(self, word: list[Placed]) -> list[Piece]:
        """The tokens of one word, each from its first character's place to its last one's."""
        tokens = self.cut("".join(each.character for each in word))
        if tokens == ["[UNK]"]:
            return [Piece("[UNK]", self._ids["[UNK]"], word[0].at, word[-1].at + 1)]
        pieces: list[Piece] = []
        start = 0
        for token in tokens:
            end = start + len(token) - (len(CONTINUES) if start else 0)
            first, last = word[start].at, word[end - 1].at
            pieces.append(Piece(token, self._ids[token], first, last + 1))
            start = end
        return pieces

    def encode(self, text: str, pair: str | None = None, specials: bool = True) -> Tokenization:
        """Turn a text, or a pair of texts, into what BERT takes.

        Parameters
        ----------
        text : str
            The text, which ``[CLS]`` precedes and ``[SEP]`` ends.
        pair : str, optional
            A second text. Its tokens have type 1, and so has the ``[SEP]`` that ends it.
        specials : bool
            Whether a special token written in the text, such as ``[MASK]``, counts as one.

        Returns
        -------
        Tokenization
            Offsets are counted in each text from its own beginning.

        Raises
        ------
        TypeError
            `text` or `pair` is not a string.
        ValueError
            `text` or `pair` holds a lone surrogate.

        Examples
        --------
        >>> both = bert_base_uncased().encode("What is your name?", "My name is BERT.")
        >>> both.type_ids
        [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
        """
        check_text(text)
        if pair is not None:
            check_text(pair, "pair")
        parts = [self._added("[CLS]"), *self.split(text, specials), self._added("[SEP]")]
        type_ids = [0] * len(parts)
        if pair is not None:
            parts += [*self.split(pair, specials), self._added("[SEP]")]
            type_ids += [1] * (len(parts) - len(type_ids))
        return Tokenization(
            tokens=[part.token for part in parts],
            ids=[part.id for part in parts],
            type_ids=type_ids,
            attention_mask=[1] * len(parts),
            offsets=[(part.start, part.end) for part in parts],
        )

    def _added(self, token: str) -> Piece:
        return Piece(token, self._ids[token], 0, 0)

    def encode_batch(
        self,
        texts: Iterable[str | tuple[str, str]],
        length: int | None = None,
        side: Side = "right",
        specials: bool = True,
    ) -> list[Tokenization]:
        """Encode several texts or pairs and pad them to one length.

        Parameters
        ----------
        texts : iterable of str or of pairs of str
            Any texts.
        length : int, optional
            The length to reach; the longest of the batch by default.
        side : {"right", "left"}
            Where the padding goes.
        specials : bool
            Whether a special token written in the text, such as ``[MASK]``, counts as one.

        Returns
        -------
        list of Tokenization
            One for each text, ready for `tokpos.tokenization.tensors`.

        Raises
        ------
        TypeError
            A text is not a string, or one string was given in place of a list.
        ValueError
            `length` is less than a tokenization has, or `side` is unknown.

        Examples
        --------
        >>> one, two = bert_base_uncased().encode_batch(["Hi", "Hi there"])
        >>> one.ids, one.attention_mask
        ([101, 7632, 102, 0], [1, 1, 1, 0])
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of str; got one str")
        batch = []
        for each in texts:
            text, pair = (each, None) if isinstance(each, str) else each
            batch.append(self.encode(text, pair, specials))
        return pad(batch, "[PAD]", self._ids["[PAD]"], length, side)


@cache
def bert_base_uncased() -> WordPiece:
    """The tokenizer of bert-base-uncased, with its 30,522 tokens.

    Returns
    -------
    WordPiece
        The same one at each call.

    Examples
    --------
    >>> len(bert_base_uncased().vocabulary)
    30522
    """
    return WordPiece.from_file(DATA / "bert_base_uncased_vocab.txt")
