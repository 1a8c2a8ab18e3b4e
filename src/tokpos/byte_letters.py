"""GPT-2's alphabet: a visible character for each of the 256 bytes."""

from __future__ import annotations


def _byte_letters() -> dict[int, str]:
    """A visible character for each byte, so that a token can be printed and put into a file.

    Bytes that print as themselves in Latin-1 stand for themselves; the other 68 get U+0100 and
    what follows. A space is then Ġ. The order is that of the characters, and of GPT-2's IDs.
    """
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    letters = {byte: chr(byte) for byte in visible}
    return letters | {byte: chr(0x100 + n) for n, byte in enumerate(hidden)}


BYTE_LETTERS = _byte_letters()
"""The character by which GPT-2 writes each byte."""

LETTER_BYTES = {letter: byte for byte, letter in BYTE_LETTERS.items()}
"""The byte that each of these characters stands for."""


def to_letters(data: bytes) -> str:
    """Write bytes in GPT-2's alphabet, one character for each.

    Parameters
    ----------
    data : bytes
        Any bytes.

    Returns
    -------
    str
        As many visible characters.

    Raises
    ------
    TypeError
        `data` is not bytes.

    Examples
    --------
    >>> to_letters("Hi 猫".encode())
    'HiĠçĮ«'
    """
    if not isinstance(data, bytes | bytearray):
        raise TypeError(f"data must be bytes; got {type(data).__name__}")
    return "".join(BYTE_LETTERS[byte] for byte in data)


def to_bytes(letters: str) -> bytes:
    """Read bytes in GPT-2's alphabet.

    Parameters
    ----------
    letters : str
        Characters as `to_letters` writes them.

    Returns
    -------
    bytes
        As many bytes.

    Raises
    ------
    TypeError
        `letters` is not a string.
    ValueError
        A character stands for no byte.

    Examples
    --------
    >>> to_bytes('çĮ«').decode()
    '猫'
    """
    if not isinstance(letters, str):
        raise TypeError(f"letters must be a str; got {type(letters).__name__}")
    try:
        return bytes(LETTER_BYTES[letter] for letter in letters)
    except KeyError as stranger:
        raise ValueError(
            f"letters must be of GPT-2's 256, one for each byte; got {stranger}"
        ) from None
