"""Tokens and IDs: a vocabulary, and a text split into what it holds.

`tokpos.figures.tokens.text_to_ids`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokpos._unicode import SPACES, check_text
from tokpos.tokenization import Side, Tokenization, pad

UNKNOWN = "<UNK>"
PADDING = "<PAD>"


class Vocabulary:
    """A list of tokens, each of which has its place in the list as its ID.

    Parameters
    ----------
    tokens : iterable of str
        The tokens in the order of their IDs.
    unknown : str
        The token that stands for whatever is not in the list.
    padding : str
        The token that fills a batch up.

    Raises
    ------
    TypeError
        A token is not a string, or one string was given in place of a list.
    ValueError
        A token is empty or occurs twice, or `unknown` or `padding` is not among them.

    Examples
    --------
    >>> words = Vocabulary(["<PAD>", "<UNK>", "cat", "cats"])
    >>> words.split("cats cat dog")
    ['cats', 'cat', 'dog']
    >>> words.ids(["cats", "cat", "dog"])
    [3, 2, 1]
    """

    def __init__(
        self, tokens: Iterable[str], unknown: str = UNKNOWN, padding: str = PADDING
    ) -> None:
        if isinstance(tokens, str):
            raise TypeError("tokens must be a list of str; got one str")
        self._tokens = list(tokens)
        self._ids: dict[str, int] = {}
        for place, token in enumerate(self._tokens):
            check_text(token, f"tokens[{place}]")
            if not token:
                raise ValueError(f"tokens[{place}] must not be empty")
            if token in self._ids:
                raise ValueError(
                    f"tokens must differ; got {token!r} as {self._ids[token]} and {place}"
                )
            self._ids[token] = place
        for name, token in (("unknown", unknown), ("padding", padding)):
            if token not in self._ids:
                raise ValueError(f"{name} must be one of the tokens; got {token!r}")
        self.unknown = unknown
        self.padding = padding
        # What a text can hold: nobody writes <PAD> and means padding.
        self._words = {token for token in self._tokens if token not in (unknown, padding)}
        self._longest = max(map(len, self._words), default=0)

    def __len__(self) -> int:
        """V, the number of tokens."""
        return len(self._tokens)

    def __iter__(self) -> Iterator[str]:
        """The tokens in the order of their IDs."""
        return iter(self._tokens)

    def __contains__(self, token: object) -> bool:
        """Whether `token` has an ID of its own."""
        return token in self._ids

    def id(self, token: str) -> int:
        """The ID of a token, that of the unknown token if it has none.

        Parameters
        ----------
        token : str
            A token.

        Returns
        -------
        int
            Its place in the list.

        Raises
        ------
        TypeError
            `token` is not a string.
        """
        check_text(token, "token")
        return self._ids.get(token, self._ids[self.unknown])

    def token(self, token_id: int) -> str:
        """The token that has an ID.

        Parameters
        ----------
        token_id : int
            An ID from 0 to V - 1.

        Returns
        -------
        str
            The token.

        Raises
        ------
        TypeError
            `token_id` is not a whole number.
        IndexError
            No token has it.
        """
        if isinstance(token_id, bool) or not isinstance(token_id, int):
            raise TypeError(f"token_id must be an int; got {type(token_id).__name__}")
        if not 0 <= token_id < len(self):
            raise IndexError(
                f"token_id must lie in 0..{len(self) - 1} ({len(self)} tokens); got {token_id}"
            )
        return self._tokens[token_id]

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The ID of each token, as `id` gives it.

        Parameters
        ----------
        tokens : iterable of str
            Tokens.

        Returns
        -------
        list of int
            As many IDs.

        Raises
        ------
        TypeError
            A token is not a string, or one string was given in place of a list.
        """
        if isinstance(tokens, str):
            raise TypeError("tokens must be a list of str; got one str, which encode splits")
        return [self.id(token) for token in tokens]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The token of each ID, as `token` gives it.

        Parameters
        ----------
        ids : iterable of int
            IDs from 0 to V - 1.

        Returns
        -------
        list of str
            As many tokens.

        Raises
        ------
        TypeError
            An ID is not a whole number.
        IndexError
            No token has an ID.
        """
        return [self.token(token_id) for token_id in ids]

    def split(self, text: str) -> list[str]:
        """Cut a text into tokens, the longest one first at every place.

        What lies between tokens and spaces is one unknown word. The spaces themselves go.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of str
            Tokens of the vocabulary and unknown words, in their order.

        Raises
        ------
        TypeError
            `text` is not a string.
        ValueError
            `text` holds a lone surrogate.

        Examples
        --------
        >>> teaching_vocabulary().split("我喜欢猫")
        ['我', '喜欢', '猫']
        """
        return [text[start:end] for start, end in self._spans(text)]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        check_text(text)
        spans: list[tuple[int, int]] = []
        place = unknown_from = 0
        while place <= len(text):
            end = self._longest_match(text, place)
            at_space = place == len(text) or text[place] in SPACES
            if (end or at_space) and unknown_from < place:
                spans.append((unknown_from, place))
            if end:
                spans.append((place, end))
            place = end or place + 1
            if end or at_space:
                unknown_from = place
        return spans

    def _longest_match(self, text: str, start: int) -> int:
        """Where the longest token that starts here ends; 0 if none does."""
        for end in range(min(start + self._longest, len(text)), start, -1):
            if text[start:end] in self._words:
                return end
        return 0

    def encode(self, text: str) -> Tokenization:
        """Split a text and number its tokens.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        Tokenization
            An unknown word is there as the unknown token; its offsets tell what it was.

        Raises
        ------
        TypeError
            `text` is not a string.
        ValueError
            `text` holds a lone surrogate.

        Examples
        --------
        >>> teaching_vocabulary().encode("我喜欢苹果").tokens
        ['我', '喜欢', '<UNK>']
        """
        spans = self._spans(text)
        ids = [
            self.id(text[start:end]) if text[start:end] in self._words else self._ids[self.unknown]
            for start, end in spans
        ]
        n = len(spans)
        return Tokenization(self.tokens(ids), ids, [0] * n, [1] * n, spans)

    def encode_batch(
        self, texts: Iterable[str], length: int | None = None, side: Side = "right"
    ) -> list[Tokenization]:
        """Encode several texts and pad them to one length.

        Parameters
        ----------
        texts : iterable of str
            Any texts.
        length : int, optional
            The length to reach; the longest of the batch by default.
        side : {"right", "left"}
            Where the padding goes.

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
        >>> [each.ids for each in teaching_vocabulary().encode_batch(["猫", "我喜欢猫"])]
        [[4, 0, 0], [2, 3, 4]]
        """
        batch = [self.encode(text) for text in _several(texts)]
        return pad(batch, self.padding, self._ids[self.padding], length, side)


def _several(texts: Iterable[str]) -> Iterable[str]:
    if isinstance(texts, str):
        raise TypeError("texts must be a list of str; got one str")
    return texts


def teaching_vocabulary() -> Vocabulary:
    """The six tokens of the lessons: ``<PAD>`` 0, ``<UNK>`` 1, 我 2, 喜欢 3, 猫 4, 狗 5.

    Returns
    -------
    Vocabulary
        A new one at each call.

    Examples
    --------
    >>> teaching_vocabulary().encode("我喜欢猫").ids
    [2, 3, 4]
    """
    return Vocabulary([PADDING, UNKNOWN, "我", "喜欢", "猫", "狗"])
