"""Fast paths for clipped offsets: outside a narrow band around the diagonal a row is constant.

Where positions count up one by one, every key far to the left of a query shares the vector of the
offset -k, every key far to the right that of k. Only the band between them must be looked up, and
it looks the same in each block of rows. `tokpos.shaw` holds the readable formula beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from tokpos._types import Float, Tensor

_ROWS = 64


class _Block(NamedTuple):
    """Some rows of the matrix, and which part of them is not constant."""

    rows: slice
    left: slice
    band: slice
    right: slice
    lookup: Tensor


def _blocks(n_queries: int, n_keys: int, first: int, clip: int, like: Tensor) -> Iterator[_Block]:
    n_rows, width = min(_ROWS, n_queries), min(_ROWS, n_queries) + 2 * clip
    row = torch.arange(n_rows, device=like.device)[:, None]
    index = (torch.arange(width, device=like.device) - row).clamp(0, 2 * clip)
    for start in range(0, n_queries, _ROWS):
        stop = min(start + _ROWS, n_queries)
        begin = start - first - clip  # the key with offset -k from the first query of the block
        low = min(max(begin, 0), n_keys)
        high = min(max(stop - first + clip, low), n_keys)
        yield _Block(
            slice(start, stop),
            slice(0, low),
            slice(low, high),
            slice(high, n_keys),
            index[: stop - start, low - begin : high - begin],
        )


def spread_clipped(
    products: Float[Tensor, "*B S_query vectors"], n_keys: int, first: int
) -> Float[Tensor, "*B S_query S_key"]:
    """Each query's number for every clipped offset, laid out over the keys.

    Parameters
    ----------
    products
        For each query one number for each of the ``2k + 1`` clipped offsets.
    n_keys
        Number of keys.
    first
        The offset of the first query and the first key; positions count up from there.

    Returns
    -------
    Float[Tensor, "*B S_query S_key"]
        Entry i, j is that of the offset ``first + j - i``, clipped.
    """
    return _apply_spread(products, n_keys, first)


def collect_clipped(
    weights: Float[Tensor, "*B S_query S_key"], clip: int, first: int
) -> Float[Tensor, "*B S_query vectors"]:
    """The reverse of `spread_clipped`: for each query the sum over the keys of an offset.

    Parameters
    ----------
    weights
        For each query one number for each key.
    clip
        Largest offset k that is told apart.
    first
        The offset of the first query and the first key; positions count up from there.

    Returns
    -------
    Float[Tensor, "*B S_query vectors"]
        For each query one sum for each of the ``2k + 1`` clipped offsets.
    """
    return _apply_collect(weights, clip, first)


class _Spread(torch.autograd.Function):
    """Linear, so its gradient is `_Collect`, whose gradient is this again."""

    @staticmethod
    def forward(products: Tensor, n_keys: int, first: int) -> Tensor:
        *batch, n_queries, vectors = products.shape
        spread = products.new_empty(*batch, n_queries, n_keys)
        for rows, left, band, right, lookup in _blocks(
            n_queries, n_keys, first, vectors // 2, products
        ):
            block, out = products[..., rows, :], spread[..., rows, :]
            out[..., left] = block[..., :1]
            out[..., band] = block.gather(-1, lookup.expand(*batch, *lookup.shape))
            out[..., right] = block[..., -1:]
        return spread

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        products, ctx.n_keys, ctx.first = inputs
        ctx.clip = products.shape[-1] // 2

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return _apply_collect(grads[0], ctx.clip, ctx.first), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _apply_spread(tangents[0], ctx.n_keys, ctx.first)

    @staticmethod
    def vmap(info: Any, in_dims: Any, products: Tensor, n_keys: int, first: int) -> Any:
        return _apply_spread(products.movedim(in_dims[0], 0), n_keys, first), 0


class _Collect(torch.autograd.Function):
    """Linear, so its gradient is `_Spread`, whose gradient is this again."""

    @staticmethod
    def forward(weights: Tensor, clip: int, first: int) -> Tensor:
        *batch, n_queries, n_keys = weights.shape
        exact = torch.promote_types(weights.dtype, torch.float32)
        collected = weights.new_zeros(*batch, n_queries, 2 * clip + 1, dtype=exact)
        for rows, left, band, right, lookup in _blocks(n_queries, n_keys, first, clip, weights):
            block, out = weights[..., rows, :], collected[..., rows, :]
            out.scatter_add_(-1, lookup.expand(*batch, *lookup.shape), block[..., band].to(exact))
            out[..., 0] += block[..., left].sum(-1, dtype=exact)
            out[..., -1] += block[..., right].sum(-1, dtype=exact)
        return collected.to(weights.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        weights, ctx.clip, ctx.first = inputs
        ctx.n_keys = weights.shape[-1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return _apply_spread(grads[0], ctx.n_keys, ctx.first), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _apply_collect(tangents[0], ctx.clip, ctx.first)

    @staticmethod
    def vmap(info: Any, in_dims: Any, weights: Tensor, clip: int, first: int) -> Any:
        return _apply_collect(weights.movedim(in_dims[0], 0), clip, first), 0


_apply_spread: Callable[..., Tensor] = _Spread.apply
_apply_collect: Callable[..., Tensor] = _Collect.apply
