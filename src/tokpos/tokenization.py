"""What a tokenizer gives: tokens with their IDs and places, and batches of equal length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from tokpos._types import Int, Tensor

Side = Literal["left", "right"]


@dataclass(frozen=True)
class Tokenization:
    """What a tokenizer makes of a text: five lists with one entry for each token.

    Attributes
    ----------
    tokens : list of str
        The tokens.
    ids : list of int
        The ID of each token.
    type_ids : list of int
        The token type ID of each token: 1 in the second text of a pair, else 0.
    attention_mask : list of int
        1 for each token, 0 for padding.
    offsets : list of tuple of int
        Where each token stands in its text: its first character and the one after its last. An
        added token has (0, 0).

    Raises
    ------
    ValueError
        The lists differ in length.
    """

    tokens: list[str]
    ids: list[int]
    type_ids: list[int]
    attention_mask: list[int]
    offsets: list[tuple[int, int]]

    def __post_init__(self) -> None:
        lengths = {name: len(entries) for name, entries in vars(self).items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the lists must have one length; got {lengths}")

    def __len__(self) -> int:
        """The number of tokens, padding included."""
        return len(self.ids)


def pad(
    batch: Sequence[Tokenization],
    token: str,
    token_id: int,
    length: int | None = None,
    side: Side = "right",
) -> list[Tokenization]:
    """Bring tokenizations to one length by adding padding tokens.

    Parameters
    ----------
    batch : sequence of Tokenization
        Tokenizations of any length.
    token : str
        The padding token.
    token_id : int
        Its ID.
    length : int, optional
        The length to reach; the longest of the batch by default.
    side : {"right", "left"}
        Where the padding goes.

    Returns
    -------
    list of Tokenization
        The same tokens; padding has mask 0, type 0 and offsets (0, 0).

    Raises
    ------
    ValueError
        `length` is less than a tokenization has, or `side` is unknown.

    Examples
    --------
    >>> from tokpos.vocabulary import teaching_vocabulary
    >>> words = teaching_vocabulary()
    >>> short, long = pad([words.encode("猫"), words.encode("我喜欢猫")], "<PAD>", 0)
    >>> short.ids, short.attention_mask
    ([4, 0, 0], [1, 0, 0])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right'; got {side!r}")
    longest = max(map(len, batch), default=0)
    target = longest if length is None else length
    if target < longest:
        raise ValueError(f"length must be at least {longest}, the longest; got {length}")
    return [_padded(each, token, token_id, target - len(each), side) for each in batch]


def _padded(text: Tokenization, token: str, token_id: int, n: int, side: Side) -> Tokenization:
    filling = Tokenization([token] * n, [token_id] * n, [0] * n, [0] * n, [(0, 0)] * n)
    first, second = (filling, text) if side == "left" else (text, filling)
    return Tokenization(
        **{name: entries + vars(second)[name] for name, entries in vars(first).items()}
    )


def tensors(batch: Sequence[Tokenization]) -> dict[str, Int[Tensor, "B S"]]:
    """Stack tokenizations of one length into the tensors that a model takes.

    Parameters
    ----------
    batch : sequence of Tokenization
        B tokenizations of S tokens each; `pad` makes them equal.

    Returns
    -------
    dict of str to Tensor
        ``input_ids``, ``token_type_ids`` and ``attention_mask``, each of int64 and shape [B, S].

    Raises
    ------
    ValueError
        The batch is empty, or the lengths differ.

    Examples
    --------
    >>> from tokpos.vocabulary import teaching_vocabulary
    >>> tensors([teaching_vocabulary().encode("我喜欢猫")])["input_ids"]
    tensor([[2, 3, 4]])
    """
    lengths = [len(each) for each in batch]
    if len(set(lengths)) != 1:
        raise ValueError(f"batch must hold tokenizations of one length, see pad; got {lengths}")
    columns = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
    return {
        name: torch.tensor([getattr(each, column) for each in batch], dtype=torch.int64)
        for name, column in columns.items()
    }
