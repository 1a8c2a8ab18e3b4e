"""From one RoPE layout to the other: the weights of queries and keys, rows reordered.

A layout says which two features of a head are a pair. Weights trained in one layout serve the
other once the rows that make the features change places: in each head, and for queries and keys
alike, so that their product stays as it was. Values are not turned and must keep their order.

Whatever stands between projection and rotation changes along: biases, and the weights of a
normalization of queries and keys.

`tokpos.figures.rope.layouts`
"""

from __future__ import annotations

import torch

from tokpos._types import Float, Int, Tensor
from tokpos.rope import LAYOUTS, Layout


def feature_order(
    width: int, source: Layout, target: Layout, rotary_width: int | None = None
) -> Int[Tensor, " d"]:
    """Which feature of the source stands at each place of the target.

    Parameters
    ----------
    width
        Width d of a head.
    source
        The layout that the weights were trained in.
    target
        The layout that they are to be used with.
    rotary_width
        How many features, from the first, are turned. Left out, all of them.

    Returns
    -------
    Int[Tensor, " d"]
        ``x[..., order]`` is x in the target's order. It lies on the CPU.

    Raises
    ------
    ValueError
        If a layout is unknown, or a width is odd or does not fit.

    Examples
    --------
    >>> from tokpos.rope_layout import feature_order
    >>> feature_order(6, "interleaved", "half-split")
    tensor([0, 2, 4, 1, 3, 5])
    >>> feature_order(6, "half-split", "interleaved")
    tensor([0, 3, 1, 4, 2, 5])
    """
    for name, layout in (("source", source), ("target", target)):
        if layout not in LAYOUTS:
            raise ValueError(f"{name} must be one of {', '.join(LAYOUTS)}; got {layout!r}")
    rotated = width if rotary_width is None else rotary_width
    name = "width" if rotary_width is None else "rotary_width"
    if rotated < 2 or rotated % 2:
        raise ValueError(f"{name} must be even and at least 2 (pairs), got {rotated}")
    if rotated > width:
        raise ValueError(f"rotary_width must be at most the head width {width}, got {rotated}")
    order = torch.arange(width, device="cpu")
    if source != target:
        pairs = (rotated // 2, 2) if source == "interleaved" else (2, rotated // 2)
        order[:rotated] = order[:rotated].view(pairs).T.flatten()
    return order


def convert_rows(
    rows: Float[Tensor, "rows ..."],
    n_heads: int,
    head_width: int,
    *,
    source: Layout,
    target: Layout,
    rotary_width: int | None = None,
) -> Float[Tensor, "rows ..."]:
    """Rows of queries or of keys in the other layout.

    Not for values, whose rows keep their order.

    Parameters
    ----------
    rows
        What makes the features, a row for each: the weight of a ``Linear`` ``[H d, D]``, its bias
        ``[H d]``, or the weight of a normalization, ``[d]`` where the heads share it, as one head.
    n_heads
        Number of heads in ``rows``: those of the keys where ``rows`` makes keys.
    head_width
        Width d of a head.
    source
        The layout that the weights were trained in.
    target
        The layout that they are to be used with.
    rotary_width
        How many features, from the first, are turned. Left out, all of them.

    Returns
    -------
    Float[Tensor, "rows ..."]
        A new tensor; the same rows in each head, in another order.

    Raises
    ------
    ValueError
        If ``rows`` does not have ``n_heads * head_width`` rows, or as `feature_order`.

    Examples
    --------
    >>> import torch
    >>> from tokpos.rope_layout import convert_rows
    >>> bias = torch.arange(8.0)
    >>> convert_rows(bias, 2, 4, source="interleaved", target="half-split")
    tensor([0., 2., 1., 3., 4., 6., 5., 7.])
    """
    order = feature_order(head_width, source, target, rotary_width)
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1, got {n_heads}")
    if rows.dim() < 1 or rows.shape[0] != n_heads * head_width:
        raise ValueError(
            f"rows must have n_heads * head_width = {n_heads} * {head_width} = "
            f"{n_heads * head_width} rows, got {list(rows.shape)}"
        )
    by_head = rows.reshape(n_heads, head_width, *rows.shape[1:])
    return by_head.index_select(1, order.to(rows.device)).flatten(0, 1)


def convert_queries_and_keys(
    q: Float[Tensor, "query_rows ..."],
    k: Float[Tensor, "key_rows ..."],
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    *,
    source: Layout,
    target: Layout,
    rotary_width: int | None = None,
) -> tuple[Float[Tensor, "query_rows ..."], Float[Tensor, "key_rows ..."]]:
    """The weights of queries and keys, both in the other layout.

    One without the other would give other scores and no error.

    Parameters
    ----------
    q
        Weight or bias of the queries, as ``rows`` of `convert_rows`.
    k
        Weight or bias of the keys.
    n_heads
        Number of query heads.
    n_kv_heads
        Number of key heads, in grouped-query attention fewer than ``n_heads``.
    head_width
        Width d of a head.
    source
        The layout that the weights were trained in.
    target
        The layout that they are to be used with.
    rotary_width
        How many features, from the first, are turned. Left out, all of them.

    Returns
    -------
    tuple
        New tensors for queries and keys.

    Raises
    ------
    ValueError
        If the number of rows is not heads times width, the query heads do not split into
        ``n_kv_heads`` groups, or as `feature_order`.

    Examples
    --------
    >>> import torch
    >>> from tokpos.rope_layout import convert_queries_and_keys
    >>> q, k = torch.arange(8.0), torch.arange(4.0)
    >>> convert_queries_and_keys(q, k, 2, 1, 4, source="half-split", target="interleaved")
    (tensor([0., 2., 1., 3., 4., 6., 5., 7.]), tensor([0., 2., 1., 3.]))
    """
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads must be a multiple of n_kv_heads, got {n_heads} and {n_kv_heads}"
        )
    done = []
    for name, rows, heads in (("q", q, n_heads), ("k", k, n_kv_heads)):
        if rows.dim() < 1 or rows.shape[0] != heads * head_width:
            raise ValueError(
                f"{name} must have {heads * head_width} rows, {heads} heads of width "
                f"{head_width}; got {list(rows.shape)}"
            )
        done.append(
            convert_rows(
                rows, heads, head_width, source=source, target=target, rotary_width=rotary_width
            )
        )
    return done[0], done[1]
