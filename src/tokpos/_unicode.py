"""What the tokenizers ask about a character, answered alike by every version of Python.

Unicode adds characters each year and now and then moves one to another category. A tokenizer
keeps the version that it was made with: BERT's rules in the library ``tokenizers`` know marks and
punctuation as of Unicode 8, decompositions as of Unicode 9 and lower case as of Unicode 17, and
GPT-2's pattern knows letters and numbers as of Unicode 16. The sets are kept in
``data/unicode.txt``. Python's ``unicodedata`` gives only what never changes once it is there: the
decomposition and the combining class of a character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from string import punctuation as ASCII_PUNCTUATION

DATA = Path(__file__).parent / "data"

SPACES = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space. ``str.isspace`` has four more, U+001C to U+001F."""

CJK_BLOCKS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),  # BERT's own code has 2B820, and the library has had 2B920 ever since
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""The blocks that BERT calls Chinese: neither Hangul nor kana, and no extension after E."""


_remembered = lru_cache(maxsize=1 << 16)  # texts repeat their characters


@cache
def _file() -> dict[str, list[str]]:
    """The items of each set, as the file has them."""
    items: dict[str, list[str]] = {}
    name = ""
    for line in (DATA / "unicode.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            items[name] += line.split()
        elif not line.startswith("#"):
            name = line
            items[name] = []
    return items


def _ranges(name: str) -> list[tuple[int, int]]:
    """The set `name` as pairs of first and last code point."""
    edges = (item.partition("-") for item in _file()[name])
    return [(int(first, 16), int(last or first, 16)) for first, _, last in edges]


@cache
def characters(name: str) -> frozenset[str]:
    """The set `name` of ``data/unicode.txt``."""
    return frozenset(chr(code) for first, last in _ranges(name) for code in range(first, last + 1))


@cache
def pattern_class(name: str) -> str:
    r"""The set `name` as the inside of a regular expression's brackets, for ``\p{L}`` and such."""
    return "".join(f"{re.escape(chr(a))}-{re.escape(chr(b))}" for a, b in _ranges(name))


@_remembered
def is_cjk(character: str) -> bool:
    """Whether BERT puts spaces around this character."""
    return any(first <= ord(character) <= last for first, last in CJK_BLOCKS)


@_remembered
def is_punctuation(character: str) -> bool:
    """Whether this is punctuation to BERT: Unicode's, and every ASCII symbol, ``$`` included."""
    return character in ASCII_PUNCTUATION or character in characters("punctuation")


@_remembered
def decompose(character: str) -> str:
    """The canonical decomposition (NFD) of one character; mostly the character itself."""
    if character in characters("decomposed"):
        return unicodedata.normalize("NFD", character)
    return character


@_remembered
def combining_class(character: str) -> int:
    """The number by which NFD sorts marks that follow one another; 0 for what stays in place."""
    if character in characters("combining"):
        return unicodedata.combining(character)
    return 0


@cache
def _new_lowercase() -> dict[str, str]:
    pairs = (item.split(">") for item in _file()["lowercase"])
    return {chr(int(upper, 16)): chr(int(lower, 16)) for upper, lower in pairs}


@_remembered
def lowercase(character: str) -> str:
    """One character in lower case, whatever stands around it: a final sigma is no special case."""
    return _new_lowercase().get(character) or character.lower()


def check_text(text: object, name: str = "text") -> None:
    """Raise the error that says why `text` cannot be split, if it cannot.

    Parameters
    ----------
    text : object
        What was given as a text.
    name : str
        What the message calls the argument.

    Raises
    ------
    TypeError
        It is not a string.
    ValueError
        It holds half of a surrogate pair, which is no character and has no UTF-8.
    """
    if not isinstance(text, str):
        remedy = "; decode it first" if isinstance(text, bytes | bytearray) else ""
        raise TypeError(f"{name} must be a str; got {type(text).__name__}{remedy}")
    if half := re.search("[\ud800-\udfff]", text):
        raise ValueError(
            f"{name} must hold whole characters; got the lone surrogate "
            f"U+{ord(half[0]):04X} at index {half.start()}"
        )
