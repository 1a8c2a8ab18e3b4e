"""What the encodings of door 3 have in common: their check, and when a fast path may be taken."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch

from tokpos._types import Int, Tensor
from tokpos.lookup import values_can_be_read
from tokpos.position import _fits_batch, check_head_positions, is_integer


def check_scores(
    q: Tensor,
    query_positions: Tensor,
    key_positions: Tensor,
    heads: int | None = None,
    width: int | None = None,
) -> None:
    """Refuse queries and positions that do not fit one another or the encoding.

    Parameters
    ----------
    q
        Queries of every head, ``[*B, H, S, d]``.
    query_positions
        The position of each query.
    key_positions
        The position of each key.
    heads
        Number of heads that the encoding has, if it counts.
    width
        Head width that the encoding has, if it counts.

    Raises
    ------
    TypeError
        If the positions are not integers.
    ValueError
        If a shape does not fit.
    """
    check_head_positions(query_positions, q, "query_positions")
    *batch, q_heads, _, q_width = q.shape
    heads_fit = heads is None or heads == q_heads
    width_fits = width is None or width == q_width
    if not (heads_fit and width_fits):
        shown = f"{heads or 'H'}, S, {width or 'd'}"
        raise ValueError(f"q must be [..., {shown}], got {list(q.shape)}")
    if not is_integer(key_positions):
        raise TypeError(f"key_positions must be integers, got {key_positions.dtype}")
    given = list(key_positions.shape)
    if not given or not _fits_batch(given[:-1], batch):
        allowed = "[S_key]" + (f" or [{', '.join(map(str, batch))}, S_key]" if batch else "")
        raise ValueError(f"key_positions must be {allowed} for q of {list(q.shape)}, got {given}")


def first_offset(
    query_positions: Int[Tensor, "*P S_query"], key_positions: Int[Tensor, "*P S_key"]
) -> int | None:
    """The offset of the first query and the first key, if a fast path may be taken.

    It may if queries and keys each have one row of positions that count up one by one. That is
    looked up in eager mode on the CPU only; elsewhere reading a value would break a compiled
    graph or make an accelerator wait.

    Parameters
    ----------
    query_positions
        The position of each query.
    key_positions
        The position of each key.

    Returns
    -------
    int or None
        The offset; None if the general path must be taken.
    """
    start = _start(query_positions)
    if start is None or key_positions is query_positions:
        return None if start is None else 0
    key_start = _start(key_positions)
    return None if key_start is None else key_start - start


def _start(positions: Tensor) -> int | None:
    """The first of positions that count up one by one; None if they do not, or cannot be read."""
    if positions.dim() != 1 or not values_can_be_read(positions):
        return None
    start = int(positions[0])
    stop = start + len(positions)
    counted = torch.arange(start, stop, dtype=positions.dtype, device=positions.device)
    return start if torch.equal(positions, counted) else None


def in_autocast(x: Tensor) -> bool:
    """Whether autocast is on where ``x`` is; the meta device knows none, and raises when asked."""
    kind = x.device.type
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)


def no_autocast(x: Tensor) -> AbstractContextManager[None]:
    """Keep products in the type of their factors."""
    return torch.autocast(x.device.type, enabled=False) if in_autocast(x) else nullcontext()
