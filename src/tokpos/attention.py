"""Multi-head attention that takes any position encoding through its doors.

Vaswani et al., *Attention Is All You Need* (2017), section 3.2:
``softmax(q k^T / sqrt(d)) v`` for each head. Nothing in it knows an order. What it learns of the
order comes through the doors of a position encoding (`tokpos.position`), and from a causal mask.

Queries may share keys and values in groups (Ainslie et al., *GQA*, 2023): with as many key heads
as query heads this is multi-head attention, with one it is multi-query attention.

`tokpos.figures.attention.permuted`
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tokpos._types import Bool, Float, Int, Tensor
from tokpos.cache import KeyValueCache, keep
from tokpos.dot_product_attention import attend, attention_weights, for_each_query_head
from tokpos.position import (
    PositionEncoding,
    ScoreTerms,
    _fits_batch,
    check_positions,
    is_integer,
    over_heads,
)
from tokpos.positions import causal_mask
from tokpos.rope_axes import MultiAxisRotaryEncoding


class Projection(nn.Linear):
    """A linear layer that starts from standard deviation 0.02, with a bias of 0.

    So do GPT-2's, save that it divides the weights of the layers that end a sub-layer by the
    square root of their number.
    """

    def reset_parameters(self) -> None:
        """Draw the weights afresh, and set the bias to 0."""
        nn.init.normal_(self.weight, std=0.02)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class Attention(nn.Module):
    """Self-attention with several heads and any position encoding.

    Positions are explicit. They go to the doors of the encoding and, in a causal layer, decide who
    sees whom: a query sees the keys whose position is not beyond its own. So the same layer serves
    cached decoding, left padding, packed documents and a sequence split among processes.

    Weights start from a normal distribution with standard deviation 0.02, biases from 0.

    Parameters
    ----------
    width
        Width D of the token vectors.
    n_heads
        Number of heads H.
    encoding
        The position encoding; left out, there is none.
    causal
        Whether a query sees only the keys whose position is not beyond its own.
    n_kv_heads
        Number of key and value heads, a divisor of H; left out, H.
    head_width
        Width d of a head; left out, D/H.
    scale
        What the scores are multiplied by; left out, 1/sqrt(d). T5 has 1.
    bias
        Whether the four projections have a bias.

    Raises
    ------
    TypeError
        If ``encoding`` is no position encoding, or one of several axes.
    ValueError
        If a size is below 1 or does not divide.

    References
    ----------
    Vaswani et al., "Attention Is All You Need", 2017, section 3.2. Ainslie et al., "GQA: Training
    Generalized Multi-Query Transformer Models from Multi-Head Checkpoints", 2023, section 2.2.

    Examples
    --------
    >>> attention = Attention(16, 4, causal=True, n_kv_heads=2)
    >>> attention(torch.randn(2, 5, 16)).shape
    torch.Size([2, 5, 16])
    """

    def __init__(
        self,
        width: int,
        n_heads: int,
        encoding: PositionEncoding | None = None,
        *,
        causal: bool = False,
        n_kv_heads: int | None = None,
        head_width: int | None = None,
        scale: float | None = None,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        _check_sizes(width, n_heads, n_kv_heads, head_width)
        if encoding is not None and not isinstance(encoding, PositionEncoding):
            raise TypeError(f"encoding must be a PositionEncoding, got {type(encoding).__name__}")
        if isinstance(encoding, MultiAxisRotaryEncoding):
            raise TypeError(
                "encoding must take one position for each token, and MultiAxisRotaryEncoding takes "
                "one on every axis: call it on queries and keys of your own"
            )
        self.width = width
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_width = width // n_heads if head_width is None else head_width
        self.causal = causal
        self.scale = scale
        self.encoding = PositionEncoding() if encoding is None else encoding
        made: Any = {"bias": bias, "device": device, "dtype": dtype}
        self.query = Projection(width, n_heads * self.head_width, **made)
        self.key = Projection(width, n_kv_heads * self.head_width, **made)
        self.value = Projection(width, n_kv_heads * self.head_width, **made)
        self.output = Projection(n_heads * self.head_width, width, **made)

    def forward(
        self,
        x: Float[Tensor, "*B S D"],
        positions: Int[Tensor, "*P S"] | None = None,
        *,
        mask: Bool[Tensor, "*M S S_key"] | None = None,
        padding_mask: Int[Tensor, "*R S"] | Bool[Tensor, "*R S"] | None = None,
        exchange: Callable[[KeyValueCache], KeyValueCache] | None = None,
    ) -> Float[Tensor, "*B S D"]:
        """Let every token look at the others.

        Parameters
        ----------
        x
            Token vectors. The batch stands first, the sequence second.
        positions
            The position of each token: one row for the whole batch, or one row for each sample.
            Left out, they are 0, 1, 2, ...
        mask
            True where a query may look at a key: one for the whole batch, or one for each sample.
        padding_mask
            1 or True at real tokens, 0 or False at padding.
        exchange
            Turns keys and values of these tokens into those that are looked at, for instance by
            gathering what other processes hold. Left out, the tokens look at one another.

        Returns
        -------
        Float[Tensor, "*B S D"]
            One vector for each token. A token that sees nothing gets the bias of the output alone.

        Raises
        ------
        TypeError
            If ``x``, the positions or a mask have a dtype that does not fit.
        ValueError
            If a shape does not fit.
        """
        _check_tokens(x, self.width, positions, padding_mask)
        in_order = positions is None
        if positions is None:
            positions = torch.arange(x.shape[-2], device=x.device)
        q = self._split(self.query(x), self.n_heads)
        k = self._split(self.key(x), self.n_kv_heads)
        v = self._split(self.value(x), self.n_kv_heads)
        turned, k = self.encoding.into_queries_and_keys(q, k, positions, positions)
        real = None if padding_mask is None else padding_mask.to(torch.bool)
        seen = KeyValueCache(k, v, positions, real)
        if exchange is not None:
            seen = exchange(seen)
        nothing_masked = exchange is None and mask is None and padding_mask is None
        out = self._in_order(turned, seen) if self.causal and in_order and nothing_masked else None
        if out is None:
            terms = self.encoding.into_scores(q, positions, seen.positions)
            out = self._attend(turned, seen, terms, positions, self._visible(positions, seen, mask))
        vectors: Tensor = self.output(out.transpose(-3, -2).flatten(-2))
        return vectors

    def step(
        self,
        x: Float[Tensor, "*B S D"],
        cache: KeyValueCache | None,
        positions: Int[Tensor, "*P S"],
        *,
        mask: Bool[Tensor, "*M S S_key"] | None = None,
        padding_mask: Int[Tensor, "*R S"] | Bool[Tensor, "*R S"] | None = None,
    ) -> tuple[Float[Tensor, "*B S D"], KeyValueCache]:
        """Let new tokens look at the kept ones and at themselves.

        Parameters
        ----------
        x
            The vectors of the new tokens: one in a decoding step, more in the first.
        cache
            What the steps before have kept; None in the first.
        positions
            The position of each new token. Nothing counts on its own.
        mask
            True where a query may look at a key: one for the whole batch, or one for each sample.
        padding_mask
            1 or True at real tokens, 0 or False at padding, for the new tokens.

        Returns
        -------
        tuple
            One vector for each new token, and the cache that holds the new tokens too.

        Raises
        ------
        TypeError
            If ``x``, the positions or a mask have a dtype that does not fit.
        ValueError
            If a shape does not fit.
        """
        kept: list[KeyValueCache] = []
        exchange = partial(keep, kept, cache)
        out = self(x, positions, mask=mask, padding_mask=padding_mask, exchange=exchange)
        return out, kept[0]

    def extra_repr(self) -> str:
        """The settings of the layer."""
        parts = [f"{self.width}, n_heads={self.n_heads}"]
        if self.n_kv_heads != self.n_heads:
            parts.append(f"n_kv_heads={self.n_kv_heads}")
        if self.causal:
            parts.append("causal=True")
        if self.scale is not None:
            parts.append(f"scale={self.scale:g}")
        return ", ".join(parts)

    def _split(self, x: Tensor, n_heads: int) -> Tensor:
        return x.view(*x.shape[:-1], n_heads, self.head_width).transpose(-3, -2)

    def _visible(
        self, positions: Tensor, seen: KeyValueCache, mask: Tensor | None
    ) -> Tensor | None:
        """Where every condition lets a query look at a key; an axis of 1 stands for the heads."""
        allowed: list[Tensor] = []
        if self.causal:
            allowed.append(causal_mask(over_heads(positions), over_heads(seen.positions)))
        if seen.padding_mask is not None:
            real = seen.padding_mask.unsqueeze(-2)
            allowed.append(_over_heads(real.expand(*real.shape[:-2], positions.shape[-1], -1)))
        if mask is not None:
            _check_mask(mask, [*seen.keys.shape[:-3]], positions.shape[-1], seen.length)
            allowed.append(_over_heads(mask))
        if not allowed:
            return None
        visible = allowed[0]
        for condition in allowed[1:]:
            visible = visible & condition
        return visible

    def _attend(
        self,
        q: Tensor,
        seen: KeyValueCache,
        terms: ScoreTerms,
        positions: Tensor,
        visible: Tensor | None,
    ) -> Tensor:
        if not self.encoding.adds_to_values:
            return attend(q, seen.keys, seen.values, terms, visible, self.scale)
        weights = attention_weights(q, seen.keys, terms, visible, self.scale).to(q.dtype)
        out = weights @ for_each_query_head(seen.values, q)
        beside = self.encoding.into_values(weights, positions, seen.positions)
        return out if beside is None else out + beside

    def _in_order(self, q: Tensor, seen: KeyValueCache) -> Tensor | None:
        """Causal, with positions 0, 1, 2, ...: the kernel knows this mask by name."""
        if self.encoding.adds_to_values:
            return None
        if type(self.encoding).into_scores is PositionEncoding.into_scores:
            return F.scaled_dot_product_attention(
                q,
                seen.keys,
                seen.values,
                is_causal=True,
                scale=self.scale,
                enable_gqa=self.n_heads != self.n_kv_heads,
            )
        return self.encoding.attend_in_order(q, seen.keys, seen.values, self.scale)


def _over_heads(mask: Tensor) -> Tensor:
    """A mask with an axis of length 1 for the heads, if it has one for the batch."""
    return mask if mask.dim() == 2 else mask.unsqueeze(-3)


def _check_sizes(width: int, n_heads: int, n_kv_heads: int, head_width: int | None) -> None:
    sizes = {"width": width, "n_heads": n_heads, "n_kv_heads": n_kv_heads}
    if head_width is not None:
        sizes["head_width"] = head_width
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    if head_width is None and width % n_heads:
        raise ValueError(
            f"width must be a multiple of n_heads = {n_heads} or head_width be given, got {width}"
        )
    if n_heads % n_kv_heads:
        raise ValueError(f"n_kv_heads must divide n_heads = {n_heads}, got {n_kv_heads}")


def _check_tokens(
    x: Tensor, width: int, positions: Tensor | None, padding_mask: Tensor | None
) -> None:
    if not x.is_floating_point():
        raise TypeError(f"x must be floating-point, got {x.dtype}")
    if x.dim() < 2 or x.shape[-1] != width:
        raise ValueError(f"x must be [..., S, {width}], got {list(x.shape)}")
    if positions is not None:
        check_positions(positions, x)
    if padding_mask is None:
        return
    if not (is_integer(padding_mask) or padding_mask.dtype == torch.bool):
        raise TypeError(f"padding_mask must be integers or truth values, got {padding_mask.dtype}")
    if padding_mask.shape not in (x.shape[:-1], x.shape[-2:-1]):
        raise ValueError(
            f"padding_mask must be {list(x.shape[:-1])} or {[x.shape[-2]]}, "
            f"got {list(padding_mask.shape)}"
        )


def _check_mask(mask: Tensor, batch: list[int], n_queries: int, n_keys: int) -> None:
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be of dtype bool (True where visible), got {mask.dtype}")
    pairs, given = [n_queries, n_keys], list(mask.shape)
    if given[-2:] != pairs or not _fits_batch(given[:-2], batch):
        allowed = f"{pairs}" + (f" or {[*batch, *pairs]}" if batch else "")
        raise ValueError(f"mask must be {allowed} (queries, keys; no heads), got {given}")
