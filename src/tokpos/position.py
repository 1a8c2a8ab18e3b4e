"""Where a position may enter a Transformer: one base class with three doors.

A position encoding acts at one of three places, or at none:

1. into the input: something is added to the token vectors (sinusoidal, learned);
2. into queries and keys: they are transformed by their own position (RoPE);
3. into the scores: a term stands beside ``q k^T`` (Shaw, Transformer-XL, T5, ALiBi).

A model calls all three, and each does nothing unless an encoding overrides it. So the encodings
can be exchanged for one another in the same model, "none" included. Shaw's original also adds
vectors to the values: a side door that nobody else uses.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from tokpos._types import Float, Int, Tensor


class ScoreTerms(NamedTuple):
    """What an encoding adds to the attention scores, and where.

    The scores of a head of width d are ``(q k^T + inside) / sqrt(d) + outside``. A term of None
    adds nothing. Whether a model divides at all is the attention layer's affair: T5 does not.

    Attributes
    ----------
    inside
        Added before the division, where a term belongs that depends on the query (Shaw,
        Transformer-XL).
    outside
        Added after the division, where a bias belongs that depends on the distance alone
        (ALiBi, T5).
    """

    inside: Float[Tensor, "*B H S_query S_key"] | None = None
    outside: Float[Tensor, "*B H S_query S_key"] | None = None


class PositionEncoding(nn.Module):
    """A position encoding with its three doors; this one, the base, encodes nothing.

    Positions are always explicit: whole numbers, one for each place of the sequence, and apart
    for queries and keys. The same argument serves a cached decoder, whose one query stands at
    the end, left padding, and packed documents. There is no hidden counter.
    """

    def into_input(
        self,
        x: Float[Tensor, "*B S D"],
        positions: Int[Tensor, "*P S"] | None = None,
    ) -> Float[Tensor, "*B S D"]:
        """Door 1: the token vectors, with their positions put in.

        Parameters
        ----------
        x
            Token vectors. The batch stands first, the sequence second.
        positions
            The position of each token: one row for the whole batch, or one row for each sample.
            Left out, they are 0, 1, 2, ...

        Returns
        -------
        Float[Tensor, "*B S D"]
            What enters the first layer; here ``x`` itself.
        """
        return x

    def into_queries_and_keys(
        self,
        q: Float[Tensor, "*B H S_query d"],
        k: Float[Tensor, "*B H S_key d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> tuple[Float[Tensor, "*B H S_query d"], Float[Tensor, "*B H S_key d"]]:
        """Door 2: queries and keys, each transformed by its own position.

        Parameters
        ----------
        q
            Queries of every head.
        k
            Keys of every head.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        tuple
            The queries and the keys that the scores are made of; here ``q`` and ``k`` themselves.
        """
        return q, k

    def into_scores(
        self,
        q: Float[Tensor, "*B H S_query d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> ScoreTerms:
        """Door 3: the terms that stand beside ``q k^T``.

        Parameters
        ----------
        q
            Queries of every head, as they were before door 2.
        query_positions
            The position of each query.
        key_positions
            The position of each key. The offset of a pair is key position minus query position.

        Returns
        -------
        ScoreTerms
            What is added before and after the division by sqrt(d); here nothing.
        """
        return ScoreTerms()

    def into_values(
        self,
        weights: Float[Tensor, "*B H S_query S_key"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> Float[Tensor, "*B H S_query d"] | None:
        """Side door: what stands beside ``weights @ v``.

        Parameters
        ----------
        weights
            Attention weights of every head, after the softmax.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        Float[Tensor, "*B H S_query d"] or None
            What is added to each head's output; None, as here, adds nothing.
        """
        return None


def check_positions(positions: Tensor, x: Tensor, name: str = "positions") -> None:
    """Refuse positions that do not fit the token vectors ``x``.

    The check looks at types and shapes alone, so it holds under ``torch.compile`` too.

    Parameters
    ----------
    positions
        One position for each token: shape ``[S]``, or that of ``x`` without its last axis, where
        an axis of the batch may be 1.
    x
        Token vectors, shape ``[*B, S, D]``.
    name
        What the message calls the argument.

    Raises
    ------
    TypeError
        If the positions are not whole numbers.
    ValueError
        If their shape does not fit. A single position is not spread over a longer sequence.
    """
    if not is_integer(positions):
        raise TypeError(f"{name} must be integers, got {positions.dtype}")
    *batch, length = x.shape[:-1]
    given = list(positions.shape)
    one_row = len(given) == 1
    same_axes = len(given) == len(batch) + 1
    if given and given[-1] != length and (one_row or same_axes):
        raise ValueError(
            f"{name} holds {given[-1]} positions and x has {length} tokens: "
            f"{name} is {given}, x is {list(x.shape)}"
        )
    rows_fit = same_axes and all(n in (1, b) for n, b in zip(given, batch, strict=False))
    if not (one_row or rows_fit):
        allowed = f"[{length}]" + (f" or {[*batch, length]}" if batch else "")
        raise ValueError(f"{name} must be {allowed} for x of {list(x.shape)}, got {given}")


def check_head_positions(positions: Tensor, x: Tensor, name: str = "positions") -> None:
    """Refuse positions that do not fit the queries or keys ``x``.

    The check looks at types and shapes alone. It finds heads and sequence in the wrong order
    wherever their lengths differ.

    Parameters
    ----------
    positions
        One position for each query or key: shape ``[S]``, or ``[*B, S]``, where an axis of the
        batch may be 1.
    x
        Queries or keys, shape ``[*B, H, S, d]``.
    name
        What the message calls the argument.

    Raises
    ------
    TypeError
        If the positions are not whole numbers.
    ValueError
        If their shape does not fit.
    """
    if x.dim() < 3:
        raise ValueError(f"queries and keys must be [..., H, S, d], got {list(x.shape)}")
    if not is_integer(positions):
        raise TypeError(f"{name} must be integers, got {positions.dtype}")
    *batch, heads, length, _ = x.shape
    given = list(positions.shape)
    rows_fit = len(given) == len(batch) + 1 and all(
        n in (1, b) for n, b in zip(given, batch, strict=False)
    )
    if (rows_fit or len(given) == 1) and given[-1] == length:
        return
    allowed = f"[{length}]" + (f" or {[*batch, length]}" if batch else "")
    swapped = bool(given) and given[-1] == heads != length
    remedy = "; is x [..., S, H, d]? the heads stand before the sequence" if swapped else ""
    raise ValueError(
        f"{name} must be {allowed} for x [..., H, S, d] of {list(x.shape)}, got {given}{remedy}"
    )


def over_heads(positions: Int[Tensor, "*P S"]) -> Int[Tensor, "*Q S"]:
    """Positions with an axis of length 1 for the heads: ``[B, S]`` becomes ``[B, 1, S]``."""
    return positions if positions.dim() == 1 else positions.unsqueeze(-2)


def offsets(
    query_positions: Int[Tensor, "*P S_query"], key_positions: Int[Tensor, "*P S_key"]
) -> Int[Tensor, "*P S_query S_key"]:
    """The offset of every pair: key position minus query position, negative to the left.

    Parameters
    ----------
    query_positions
        The position of each query.
    key_positions
        The position of each key.

    Returns
    -------
    Int[Tensor, "*P S_query S_key"]
        One row for each query.
    """
    return key_positions.unsqueeze(-2) - query_positions.unsqueeze(-1)


def is_integer(numbers: Tensor) -> bool:
    """Whether a tensor holds whole numbers: of an integer type, and not truth values."""
    kind = numbers.dtype
    return not (kind.is_floating_point or kind.is_complex or kind == torch.bool)
