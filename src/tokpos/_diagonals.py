"""Fast paths for a bias that depends on the offset alone: it is the same along each diagonal.

For Q queries and K keys whose positions count up one by one there are only ``Q + K - 1`` offsets.
What is computed for each of them once is spread over the matrix here, and the gradient of the
matrix is summed up again. `tokpos.t5` and `tokpos.alibi` hold the readable formula beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tokpos._types import Float, Tensor

_ROWS = 64  # in one block: what is read and written of it stays in the cache


def spread_diagonals_by_index(
    values: Float[Tensor, "*B offsets"], n_queries: int
) -> Float[Tensor, "*B S_query S_key"]:
    """What `spread_diagonals` does, as one readable line of indexing.

    Parameters
    ----------
    values
        One number for each offset, from the smallest (last query, first key) to the largest.
    n_queries
        Number of queries Q; the number of keys follows from it.

    Returns
    -------
    Float[Tensor, "*B S_query S_key"]
        Entry i, j is the value of offset ``j - i``.
    """
    n_keys = values.shape[-1] - n_queries + 1
    query = torch.arange(n_queries, device=values.device)
    key = torch.arange(n_keys, device=values.device)
    return values[..., key - query[:, None] + n_queries - 1]


def spread_diagonals(
    values: Float[Tensor, "*B offsets"], n_queries: int
) -> Float[Tensor, "*B S_query S_key"]:
    """One value for each offset becomes the matrix that holds it along each diagonal.

    The last query's row is the start of ``values``, each earlier one begins one step later: all
    rows are windows on the same vector, and one copy writes them.

    Parameters
    ----------
    values
        One number for each offset, from the smallest (last query, first key) to the largest.
    n_queries
        Number of queries Q; the number of keys follows from it.

    Returns
    -------
    Float[Tensor, "*B S_query S_key"]
        The same as `spread_diagonals_by_index`.
    """
    if torch.compiler.is_compiling():  # the compiler fuses the indexing itself
        return spread_diagonals_by_index(values, n_queries)
    if not (torch.is_grad_enabled() and values.requires_grad):
        return _windows(values, n_queries)
    return _apply_spread(values, n_queries)


def _windows(values: Tensor, n_queries: int) -> Tensor:
    """The matrix of the values, written in one copy."""
    return values.unfold(-1, values.shape[-1] - n_queries + 1, 1).flip(-2).contiguous()


def _sum_diagonals(matrix: Tensor) -> Tensor:
    """The sum along each diagonal, from the lower left corner to the upper right one."""
    *batch, n_queries, n_keys = matrix.shape
    sums = matrix.new_zeros(*batch, n_queries + n_keys - 1)
    for start in range(0, n_queries, _ROWS):
        rows = matrix[..., start : start + _ROWS, :]
        n_rows = rows.shape[-2]
        width = n_keys + n_rows - 1
        # Row r goes n_rows - 1 - r places to the right, so that diagonals become columns.
        sheared = matrix.new_zeros(*batch, n_rows, width)
        strides = (*sheared.stride()[:-2], width - 1, 1)
        sheared.as_strided(rows.shape, strides, n_rows - 1).copy_(rows)
        first = n_queries - start - n_rows
        sums[..., first : first + width] += sheared.sum(-2)
    return sums


class _Spread(torch.autograd.Function):
    """The matrix of the values; its gradient is the sum along each diagonal."""

    @staticmethod
    def forward(values: Tensor, n_queries: int) -> Tensor:
        return _windows(values, n_queries)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.n_queries = inputs[1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return _apply_sum(grads[0]), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _apply_spread(tangents[0], ctx.n_queries)

    @staticmethod
    def vmap(info: Any, in_dims: Any, values: Tensor, n_queries: int) -> Any:
        return _apply_spread(values.movedim(in_dims[0], 0), n_queries), 0


class _Sum(torch.autograd.Function):
    """The other way round; its gradient is the matrix again."""

    @staticmethod
    def forward(matrix: Tensor) -> Tensor:
        return _sum_diagonals(matrix)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.n_queries = inputs[0].shape[-2]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return _apply_spread(grads[0], ctx.n_queries)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _apply_sum(tangents[0])

    @staticmethod
    def vmap(info: Any, in_dims: Any, matrix: Tensor) -> Any:
        return _apply_sum(matrix.movedim(in_dims[0], 0)), 0


_apply_spread: Callable[..., Tensor] = _Spread.apply
_apply_sum: Callable[..., Tensor] = _Sum.apply
