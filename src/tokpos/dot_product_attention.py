"""Scaled dot-product attention of every head: by the formula, and by the fused kernel.

Vaswani et al., *Attention Is All You Need* (2017), section 3.2.1: ``softmax(q k^T / sqrt(d)) v``.
A position encoding's terms stand inside and outside of the division (`tokpos.position`), and the
mask comes after both.

`tokpos.figures.attention.mask`
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tokpos._scores import in_autocast, no_autocast
from tokpos._types import Bool, Float, Tensor
from tokpos.position import ScoreTerms, _fits_batch

NOTHING = ScoreTerms()


def attention_weights(
    q: Float[Tensor, "*B H S_query d"],
    k: Float[Tensor, "*B H_kv S_key d"],
    terms: ScoreTerms = NOTHING,
    visible: Bool[Tensor, "*M S_query S_key"] | None = None,
    scale: float | None = None,
) -> Float[Tensor, "*B H S_query S_key"]:
    """How much each query takes from each key: ``softmax((q k^T + inside) scale + outside)``.

    The mask comes after the terms and is no number that is added: what is not visible is left
    out. A query that sees no key has weight 0 everywhere. Scores of half precision are computed in
    float32.

    Parameters
    ----------
    q
        Queries of every head.
    k
        Keys of every head; fewer heads than queries, if each serves a group of them.
    terms
        What a position encoding adds to the scores.
    visible
        True where a query may look at a key. Left out, every query sees every key.
    scale
        What the scores are multiplied by; left out, 1/sqrt(d). T5 has 1.

    Returns
    -------
    Float[Tensor, "*B H S_query S_key"]
        Weights of at least float32. Each row sums to 1, or to 0 where a query sees nothing.

    Raises
    ------
    TypeError
        If ``visible`` is not of dtype bool.
    ValueError
        If the shapes do not fit.

    References
    ----------
    Vaswani et al., "Attention Is All You Need", 2017, equation 1.

    Examples
    --------
    >>> q = k = torch.eye(3)[None]
    >>> visible = torch.tensor([[False, False, False], [True, True, False], [True, True, True]])
    >>> attention_weights(q, k, visible=visible, scale=1.0)
    tensor([[[0.0000, 0.0000, 0.0000],
             [0.2689, 0.7311, 0.0000],
             [0.2119, 0.2119, 0.5761]]])
    """
    _check_heads(q, k, visible)
    exact = torch.promote_types(q.dtype, torch.float32)
    with no_autocast(q):
        scores = q.to(exact) @ for_each_query_head(k, q).to(exact).mT
        if terms.inside is not None:
            scores = scores + terms.inside
        scores = scores * (q.shape[-1] ** -0.5 if scale is None else scale)
        if terms.outside is not None:
            scores = scores + terms.outside
        if visible is None:
            return scores.softmax(dim=-1)
        # A row of -inf alone has no softmax. Such a row keeps its scores, and loses its weights.
        sees_any = visible.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~visible & sees_any, -torch.inf).softmax(dim=-1)
        return weights.masked_fill(~sees_any, 0.0)


def attend_explicitly(
    q: Float[Tensor, "*B H S_query d"],
    k: Float[Tensor, "*B H_kv S_key d"],
    v: Float[Tensor, "*B H_kv S_key d_value"],
    terms: ScoreTerms = NOTHING,
    visible: Bool[Tensor, "*M S_query S_key"] | None = None,
    scale: float | None = None,
) -> Float[Tensor, "*B H S_query d_value"]:
    """The weighted mean of the values, by the formula: the reference for `attend`.

    Parameters
    ----------
    q
        Queries of every head.
    k
        Keys of every head; fewer heads than queries, if each serves a group of them.
    v
        Values, of as many heads as the keys.
    terms
        What a position encoding adds to the scores.
    visible
        True where a query may look at a key. Left out, every query sees every key.
    scale
        What the scores are multiplied by; left out, 1/sqrt(d). T5 has 1.

    Returns
    -------
    Float[Tensor, "*B H S_query d_value"]
        One vector for each query of each head; zeros where a query sees nothing.

    Raises
    ------
    TypeError
        If ``visible`` is not of dtype bool.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> q = k = torch.zeros(1, 2, 4)
    >>> v = torch.tensor([[[2.0], [6.0]]])
    >>> visible = torch.tensor([[True, False], [True, True]])
    >>> attend_explicitly(q, k, v, visible=visible)
    tensor([[[2.],
             [4.]]])
    """
    weights = attention_weights(q, k, terms, visible, scale)
    return weights.to(v.dtype) @ for_each_query_head(v, q)


def attend(
    q: Float[Tensor, "*B H S_query d"],
    k: Float[Tensor, "*B H_kv S_key d"],
    v: Float[Tensor, "*B H_kv S_key d_value"],
    terms: ScoreTerms = NOTHING,
    visible: Bool[Tensor, "*M S_query S_key"] | None = None,
    scale: float | None = None,
) -> Float[Tensor, "*B H S_query d_value"]:
    """The same as `attend_explicitly`, by PyTorch's fused kernel.

    The kernel knows one term, added after the division. A term of its own inside is divided
    beforehand, and what is not visible is -inf. Terms beside half precision go the explicit way:
    the kernel would round a far key's distance to that type.

    Parameters
    ----------
    q
        Queries of every head.
    k
        Keys of every head; fewer heads than queries, if each serves a group of them.
    v
        Values, of as many heads as the keys.
    terms
        What a position encoding adds to the scores.
    visible
        True where a query may look at a key. Left out, every query sees every key.
    scale
        What the scores are multiplied by; left out, 1/sqrt(d). T5 has 1.

    Returns
    -------
    Float[Tensor, "*B H S_query d_value"]
        One vector for each query of each head; zeros where a query sees nothing.

    Raises
    ------
    TypeError
        If ``visible`` is not of dtype bool.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> q, k, v = torch.randn(3, 2, 4, 5, 8)
    >>> torch.allclose(attend(q, k, v), attend_explicitly(q, k, v), atol=1e-6)
    True
    """
    _check_heads(q, k, visible)
    grouped = q.shape[-3] != k.shape[-3]
    if terms.inside is None and terms.outside is None:
        if visible is None:
            return F.scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=grouped)
        term: Tensor | None = None
    elif q.dtype in (torch.float16, torch.bfloat16) or in_autocast(q) or _in_transform(q):
        return attend_explicitly(q, k, v, terms, visible, scale)
    else:
        term = _one_term(terms, q.shape[-1] ** -0.5 if scale is None else scale).to(q.dtype)
        term = term[(None,) * (q.dim() - term.dim())]  # the fused kernel wants all axes
    if visible is None:
        return F.scaled_dot_product_attention(q, k, v, term, scale=scale, enable_gqa=grouped)
    # As in the reference: a query that sees nothing is let see all, and its result is dropped.
    sees_any = visible.any(dim=-1, keepdim=True)
    mask = visible | ~sees_any
    if term is not None:
        mask = term.masked_fill(~mask, -torch.inf)
    out = F.scaled_dot_product_attention(q, k, v, mask, scale=scale, enable_gqa=grouped)
    return out.masked_fill(~sees_any, 0.0)


def _in_transform(q: Tensor) -> bool:
    """Whether `torch.func` is at work: PyTorch 2.14's kernel has no gradient for a term there."""
    return not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(q)


def _one_term(terms: ScoreTerms, scale: float) -> Tensor:
    if terms.inside is None:
        assert terms.outside is not None
        return terms.outside
    inside = terms.inside * scale
    return inside if terms.outside is None else inside + terms.outside


def for_each_query_head(
    x: Float[Tensor, "*B H_kv S_key d_x"], q: Float[Tensor, "*B H S_query d"]
) -> Float[Tensor, "*B H S_key d_x"]:
    """Keys or values ``x``, repeated for the queries ``q`` that share them."""
    group = q.shape[-3] // x.shape[-3]
    return x if group == 1 else x.repeat_interleave(group, dim=-3)


def _check_heads(q: Tensor, k: Tensor, visible: Tensor | None) -> None:
    if q.dim() < 3 or q.dim() != k.dim() or q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"q and k must be [..., H, S, d] of one width d, got {list(q.shape)} and "
            f"{list(k.shape)}"
        )
    if q.shape[-3] % k.shape[-3]:
        raise ValueError(
            f"the heads of q must be a multiple of those of k, got {q.shape[-3]} and {k.shape[-3]}"
        )
    if visible is None:
        return
    if visible.dtype != torch.bool:
        raise TypeError(f"visible must be of dtype bool, got {visible.dtype}")
    *batch, heads, length, _ = q.shape
    pairs, given = [length, k.shape[-2]], list(visible.shape)
    if given[-2:] != pairs or not _fits_batch(given[:-2], [*batch, heads]):
        raise ValueError(
            f"visible must be {pairs} or {[*batch, heads, *pairs]} (queries, keys), where an axis "
            f"before these two may be 1, got {given}"
        )
