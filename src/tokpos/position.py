"""Where a position may enter a Transformer: one base class with three doors.

A position encoding acts at one of three places, or at none:

1. into the input: something is added to the token vectors (sinusoidal, learned);
2. into queries and keys: they are transformed by their own position (RoPE);
3. into the scores: a term stands beside ``q k^T`` (Shaw, Transformer-XL, T5, ALiBi).

A model calls all three, and each does nothing unless an encoding overrides it. So the encodings
can be exchanged for one another in the same model, "none" included. Shaw's original also adds
vectors to the values: a side door that nobody else uses.

`tokpos.figures.relative.offset_matrix`
"""

from __future__ import annotations

from collections.abc import Sequence
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

    Examples
    --------
    >>> ScoreTerms(outside=torch.tensor([[0.0, -0.5]]))
    ScoreTerms(inside=None, outside=tensor([[ 0.0000, -0.5000]]))
    """

    inside: Float[Tensor, "*B H S_query S_key"] | None = None
    outside: Float[Tensor, "*B H S_query S_key"] | None = None


class PositionEncoding(nn.Module):
    """A position encoding with its three doors; this one, the base, encodes nothing.

    Positions are always explicit: whole numbers, one for each place of the sequence, and apart
    for queries and keys. The same argument serves a cached decoder, whose one query stands at
    the end, left padding, and packed documents. There is no hidden counter.

    Examples
    --------
    >>> none, place = PositionEncoding(), torch.arange(4)
    >>> none.into_scores(torch.zeros(1, 2, 4, 8), place, place)
    ScoreTerms(inside=None, outside=None)
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
        k: Float[Tensor, "*B H_kv S_key d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> tuple[Float[Tensor, "*B H S_query d"], Float[Tensor, "*B H_kv S_key d"]]:
        """Door 2: queries and keys, each transformed by its own position.

        Parameters
        ----------
        q
            Queries of every head.
        k
            Keys of every head; fewer heads than queries, if each serves a group of them.
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

    @property
    def adds_to_values(self) -> bool:
        """Whether the side door may add anything. If not, a layer can take a fused kernel."""
        return type(self).into_values is not PositionEncoding.into_values

    def attend_in_order(
        self,
        q: Float[Tensor, "*B H S d"],
        k: Float[Tensor, "*B H_kv S d"],
        v: Float[Tensor, "*B H_kv S d_value"],
        scale: float | None = None,
    ) -> Float[Tensor, "*B H S d_value"] | None:
        """A shortcut past door 3: causal attention at the positions 0, 1, 2, ... with no padding.

        An encoding that can do it with less time or memory returns the result that door 3 would
        lead to.

        Parameters
        ----------
        q
            Queries of every head, as door 2 returned them.
        k
            Keys of every head, as door 2 returned them.
        v
            Values, of as many heads as the keys.
        scale
            What the scores are multiplied by; left out, 1/sqrt(d). T5 has 1.

        Returns
        -------
        Float[Tensor, "*B H S d_value"] or None
            One vector for each query of each head; None, as here, if there is no shortcut.
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
    if given and given[-1] != length and len(given) in (1, len(batch) + 1):
        raise ValueError(
            f"{name} holds {given[-1]} positions and x has {length} tokens: "
            f"{name} is {given}, x is {list(x.shape)}"
        )
    if not given or not _fits_batch(given[:-1], batch):
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
    if given and given[-1] == length and _fits_batch(given[:-1], batch):
        return
    allowed = f"[{length}]" + (f" or {[*batch, length]}" if batch else "")
    swapped = bool(given) and given[-1] == heads != length
    remedy = "; is x [..., S, H, d]? the heads stand before the sequence" if swapped else ""
    raise ValueError(
        f"{name} must be {allowed} for x [..., H, S, d] of {list(x.shape)}, got {given}{remedy}"
    )


def _fits_batch(axes: Sequence[int], batch: Sequence[int]) -> bool:
    """Whether axes are none, for the whole batch, or those of the batch, where any may be 1."""
    if not axes:
        return True
    return len(axes) == len(batch) and all(n in (1, b) for n, b in zip(axes, batch, strict=True))


def over_heads(positions: Int[Tensor, "*P S"]) -> Int[Tensor, "*Q S"]:
    """Positions with an axis of length 1 for the heads: ``[B, S]`` becomes ``[B, 1, S]``.

    Raises
    ------
    ValueError
        If ``positions`` is a single number.
    """
    if positions.dim() < 1:
        raise ValueError("positions must be [..., S], got a single number")
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

    Raises
    ------
    TypeError
        If the positions are not whole numbers.
    ValueError
        If queries or keys have a single number, or their batches differ.

    Examples
    --------
    >>> offsets(torch.tensor([2, 3]), torch.arange(4))
    tensor([[-2, -1,  0,  1],
            [-3, -2, -1,  0]])
    """
    given = {"query_positions": query_positions, "key_positions": key_positions}
    for name, positions in given.items():
        if not is_integer(positions):
            raise TypeError(f"{name} must be integers, got {positions.dtype}")
        if positions.dim() < 1:
            raise ValueError(f"{name} must be [..., S], got a single number")
    batches = zip(query_positions.shape[-2::-1], key_positions.shape[-2::-1], strict=False)
    if any(one != other and 1 not in (one, other) for one, other in batches):
        raise ValueError(
            "query_positions and key_positions must have the same batch, "
            f"got {list(query_positions.shape)} and {list(key_positions.shape)}"
        )
    # A small integer type would wrap around where the offset is negative or large.
    keys, queries = key_positions.to(torch.int64), query_positions.to(torch.int64)
    return keys.unsqueeze(-2) - queries.unsqueeze(-1)


def is_integer(numbers: Tensor) -> bool:
    """Whether a tensor holds whole numbers: of an integer type, and not truth values."""
    kind = numbers.dtype
    return not (kind.is_floating_point or kind.is_complex or kind == torch.bool)
