"""The keys and values that a decoder keeps, so that each token passes the layer once.

A causal decoder's earlier tokens never change, and so neither do their keys and values. Keeping
them makes a step cost one token in place of the whole text. What is kept here is a plain value:
it is passed in, and a longer one comes back. No module counts or grows anything on its own.

Shazeer, *Fast Transformer Decoding: One Write-Head is All You Need* (2019), section 2.4.1, writes
the step down.

`tokpos.figures.attention.cache_step`
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from tokpos._types import Bool, Float, Int, Tensor


class KeyValueCache(NamedTuple):
    """Keys and values of one layer, with all that later queries must know of them.

    Attributes
    ----------
    keys
        Keys of every head, already transformed by door 2: the position of a token is in its key
        for good, and is never put in again.
    values
        Values of every head.
    positions
        The position of each key.
    padding_mask
        True at real tokens, False at padding; None if every token is real.

    References
    ----------
    Shazeer, "Fast Transformer Decoding: One Write-Head is All You Need", 2019, section 2.4.1.

    Examples
    --------
    >>> import torch
    >>> one = KeyValueCache(torch.ones(4, 3, 8), torch.ones(4, 3, 8), torch.arange(3))
    >>> two = KeyValueCache(torch.ones(4, 1, 8), torch.ones(4, 1, 8), torch.tensor([3]))
    >>> one.extended(two).positions
    tensor([0, 1, 2, 3])
    """

    keys: Float[Tensor, "*B H_kv S d"]
    values: Float[Tensor, "*B H_kv S d"]
    positions: Int[Tensor, "*P S"]
    padding_mask: Bool[Tensor, "*P S"] | None = None

    @property
    def length(self) -> int:
        """The number of tokens that are kept."""
        return self.keys.shape[-2]

    def extended(self, new: KeyValueCache) -> KeyValueCache:
        """This cache with the tokens of another behind it. Neither of the two is changed.

        Parameters
        ----------
        new
            What follows, of the same heads and the same batch.

        Returns
        -------
        KeyValueCache
            The longer cache.

        Raises
        ------
        ValueError
            If batch, heads or widths of the two differ.
        """
        for name in ("keys", "values"):
            here, there = getattr(self, name).shape, getattr(new, name).shape
            if here[:-2] != there[:-2] or here[-1] != there[-1]:
                raise ValueError(
                    f"new.{name} must be [..., H, S, d] with the axes of the cache, "
                    f"{[*here[:-2], 'S', here[-1]]}, got {list(there)}"
                )
        padding_mask = None
        if self.padding_mask is not None or new.padding_mask is not None:
            padding_mask = _joined(_real_tokens(self), _real_tokens(new))
        return KeyValueCache(
            torch.cat([self.keys, new.keys], dim=-2),
            torch.cat([self.values, new.values], dim=-2),
            _joined(self.positions, new.positions),
            padding_mask,
        )


def keep(
    kept: list[KeyValueCache], before: KeyValueCache | None, new: KeyValueCache
) -> KeyValueCache:
    """The cache with the new tokens behind it, noted in a list: what a step hands to a layer.

    Parameters
    ----------
    kept
        Where the longer cache is noted, so that the step can return it.
    before
        What the steps before have kept; None in the first.
    new
        Keys and values of the new tokens.

    Returns
    -------
    KeyValueCache
        The longer cache.
    """
    kept.append(new if before is None else before.extended(new))
    return kept[-1]


def _real_tokens(cache: KeyValueCache) -> Tensor:
    if cache.padding_mask is not None:
        return cache.padding_mask
    return torch.ones(cache.length, dtype=torch.bool, device=cache.keys.device)


def _joined(before: Tensor, after: Tensor) -> Tensor:
    """Rows one behind the other, where either may be one row for the whole batch."""
    if before.shape[:-1] == after.shape[:-1]:
        return torch.cat([before, after], dim=-1)
    batch = torch.broadcast_shapes(before.shape[:-1], after.shape[:-1])  # type: ignore[no-untyped-call]
    return torch.cat([part.expand(*batch, part.shape[-1]) for part in (before, after)], dim=-1)
