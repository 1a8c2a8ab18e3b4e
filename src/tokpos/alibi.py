"""ALiBi: no position is encoded, but a score falls with the distance, in each head at its own rate.

Press et al., *Train Short, Test Long: Attention with Linear Biases Enables Input Length
Extrapolation* (2022), section 3: to the scores of head h the bias ``-m_h * distance`` is added,
after the division by sqrt(d). The slopes m are fixed, not learned. In the paper they are, for any
number of heads H, a geometric series: it starts at ``2^(-8/H)``, and its ratio is the same. Its
code (``get_slopes``) keeps to that for powers of two alone; for other numbers it has a rule of its
own. Here the code's rule holds, as in Bloom and MPT.

`tokpos.figures.alibi.bias_of_heads`
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tokpos._diagonals import spread_diagonals
from tokpos._scores import check_scores, first_offset, in_autocast
from tokpos._types import Float, Int, Tensor
from tokpos.dot_product_attention import for_each_query_head
from tokpos.position import PositionEncoding, ScoreTerms, offsets, over_heads

_ROWS = 256  # queries that alibi_attention handles at a time


def alibi_slopes(
    heads: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Float[Tensor, " H"]:
    """How fast the scores of each head fall with the distance.

    For a power of two, H, the slopes are ``2^(-8h/H)``, h = 1 .. H. For any other number they are
    those of the power of two P below it, followed by every second one of those for 2P. So the
    list is not sorted, and that is right.

    Parameters
    ----------
    heads
        Number of heads H, at least 1.
    dtype
        The floating-point type that the float64 values are rounded to.
    device
        Where the result is made.

    Returns
    -------
    Float[Tensor, " H"]
        One slope for each head, from 2^(-8) up to less than 1.

    Raises
    ------
    TypeError
        If ``dtype`` is not a floating-point type.
    ValueError
        If the number of heads is below 1.

    References
    ----------
    Press et al. (2022), section 3, and ``get_slopes`` in the authors' code.

    Examples
    --------
    >>> alibi_slopes(4).tolist()
    [0.25, 0.0625, 0.015625, 0.00390625]
    >>> alibi_slopes(3).tolist()
    [0.0625, 0.00390625, 0.25]
    """
    if heads < 1:
        raise ValueError(f"heads must be at least 1, got {heads}")
    if not dtype.is_floating_point:
        raise TypeError(f"dtype must be floating-point, got {dtype}")
    power = 2 ** (heads.bit_length() - 1)
    # On the CPU, since Apple's MPS knows no float64. An accelerator need not wait for the result.
    whole = torch.arange(1, power + 1, dtype=torch.float64, device="cpu") * (8 / power)
    halves = torch.arange(1, 2 * power, 2, dtype=torch.float64, device="cpu") * (4 / power)
    slopes = torch.exp2(-torch.cat([whole, halves[: heads - power]])).to(dtype)
    return slopes.to(torch.get_default_device() if device is None else device, non_blocking=True)


def alibi_bias(
    query_positions: Int[Tensor, "*P S_query"],
    key_positions: Int[Tensor, "*P S_key"],
    slopes: Float[Tensor, " H"],
    right_slopes: Float[Tensor, " H"] | None = None,
) -> Float[Tensor, "*P H S_query S_key"]:
    """The bias of every pair: minus the slope times the distance, never positive.

    To the left of a query all variants are the same. They differ in the keys to its right:

    - causal, as in the paper: they are the mask's affair and have bias 0 here;
    - symmetric, for an encoder: pass ``right_slopes=slopes``, and the bias is ``-m |offset|``;
    - with other slopes on the right an encoder can tell the two directions apart.

    Parameters
    ----------
    query_positions
        The position of each query.
    key_positions
        The position of each key.
    slopes
        One slope for each head, as `alibi_slopes` gives them.
    right_slopes
        The slopes for keys to the right; left out, those have bias 0.

    Returns
    -------
    Float[Tensor, "*P H S_query S_key"]
        The bias in float32, or in float64 if the slopes are.

    Raises
    ------
    TypeError
        If the positions are not integers, or the slopes not floating-point.
    ValueError
        If the slopes are not a vector, or the two vectors differ in length.

    References
    ----------
    Press et al. (2022), section 3 and Figure 3.

    Examples
    --------
    >>> place = torch.arange(3)
    >>> alibi_bias(place, place, torch.tensor([0.5]))[0]
    tensor([[ 0.0000,  0.0000,  0.0000],
            [-0.5000,  0.0000,  0.0000],
            [-1.0000, -0.5000,  0.0000]])
    """
    _check_slopes(slopes, right_slopes)
    offset = offsets(over_heads(query_positions), over_heads(key_positions))
    if offset.dim() == 2:
        offset = offset.unsqueeze(0)
    return _bias(offset, slopes[:, None, None], right_slopes)


def _bias(offset: Tensor, slopes: Tensor, right_slopes: Tensor | None) -> Tensor:
    """The formula, for offsets and slopes that broadcast with one another."""
    exact = torch.promote_types(slopes.dtype, torch.float32)
    left = slopes.to(exact) * offset.clamp(max=0)
    if right_slopes is None:
        return left
    right = right_slopes.to(exact).reshape(slopes.shape) * offset.clamp(min=0)
    return left - right


def _check_slopes(slopes: Tensor, right_slopes: Tensor | None) -> None:
    for name, given in (("slopes", slopes), ("right_slopes", right_slopes)):
        if given is None:
            continue
        if not given.is_floating_point():
            raise TypeError(f"{name} must be floating-point, got {given.dtype}")
        if given.dim() != 1 or given.shape != slopes.shape:
            allowed = list(slopes.shape) if slopes.dim() == 1 else "[H]"
            raise ValueError(f"{name} must be {allowed}, got {list(given.shape)}")


class Alibi(PositionEncoding):
    """ALiBi as a position encoding: door 3, after the division.

    It has no parameters and stores no table, so any positions can be asked for. What stands
    to the right of a query is masked in a causal model; an encoder takes ``symmetric=True``.

    Parameters
    ----------
    heads
        Number of heads H.
    symmetric
        Whether the bias falls to the right of a query as well. Otherwise it is 0 there.

    Raises
    ------
    ValueError
        As `alibi_slopes`.

    Examples
    --------
    >>> q, place = torch.zeros(1, 8, 4, 16), torch.arange(4)
    >>> Alibi(8).into_scores(q, place, place).outside[0, 3]
    tensor([-1.5000, -1.0000, -0.5000,  0.0000])
    """

    def __init__(self, heads: int, *, symmetric: bool = False) -> None:
        super().__init__()
        alibi_slopes(heads, device="meta")  # refuses a bad setting now, not at the first use
        self.heads = heads
        self.symmetric = symmetric

    def into_scores(
        self,
        q: Float[Tensor, "*B H S_query d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> ScoreTerms:
        """The bias of `alibi_bias`, outside the division.

        Parameters
        ----------
        q
            Queries of every head. Only their shape and type count.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        ScoreTerms
            ``outside``, in float32, or in float64 if the queries are. Without an axis for the
            batch if the positions have none.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If the queries have another number of heads, or positions do not fit.
        """
        check_scores(q, query_positions, key_positions, heads=self.heads)
        exact = torch.promote_types(q.dtype, torch.float32)
        slopes = alibi_slopes(self.heads, exact, q.device)
        right = slopes if self.symmetric else None
        first = first_offset(query_positions, key_positions)
        if first is None:
            return ScoreTerms(outside=alibi_bias(query_positions, key_positions, slopes, right))
        n_queries, n_keys = len(query_positions), len(key_positions)
        offset = torch.arange(first - n_queries + 1, first + n_keys, device=q.device)
        return ScoreTerms(
            outside=spread_diagonals(_bias(offset, slopes[:, None], right), n_queries)
        )

    def attend_in_order(
        self,
        q: Float[Tensor, "*B H S d"],
        k: Float[Tensor, "*B H_kv S d"],
        v: Float[Tensor, "*B H_kv S d_value"],
        scale: float | None = None,
    ) -> Float[Tensor, "*B H S d_value"] | None:
        """A shortcut past door 3: `alibi_attention`.

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
            One vector for each query of each head; None in half precision, to which the kernel
            might round the bias.

        Raises
        ------
        ValueError
            If the queries have another number of heads.
        """
        if q.dtype not in (torch.float32, torch.float64) or in_autocast(q):
            return None
        slopes = alibi_slopes(self.heads, q.dtype, q.device)
        keys, values = for_each_query_head(k, q), for_each_query_head(v, q)
        return alibi_attention(q, keys, values, slopes, scale=scale)

    def extra_repr(self) -> str:
        return f"heads={self.heads}" + (", symmetric=True" if self.symmetric else "")


def alibi_attention(
    q: Float[Tensor, "*B H S_query d"],
    k: Float[Tensor, "*B H S_key d"],
    v: Float[Tensor, "*B H S_key d_value"],
    slopes: Float[Tensor, " H"],
    causal: bool = True,
    scale: float | None = None,
) -> Float[Tensor, "*B H S_query d_value"]:
    """Attention with ALiBi, fast: softmax of scores and bias, times the values.

    On the CPU no matrix of the bias is built. Queries in reverse order make its rows overlap: each
    begins one step further in one vector of all offsets, so that a strided view of that vector
    serves as the mask, the future (minus infinity) included. Blocks of queries leave out the keys
    that none of them may see.

    Parameters
    ----------
    q
        Queries of every head: those of the last positions, if there are fewer than keys.
    k
        Keys of every head, at positions that count up one by one.
    v
        Values of every head.
    slopes
        One slope for each head, as `alibi_slopes` gives them.
    causal
        Whether keys to the right of a query are hidden. Otherwise the bias is symmetric.
    scale
        What the scores are multiplied by; left out, 1/sqrt(d). T5 has 1.

    Returns
    -------
    Float[Tensor, "*B H S_query d_value"]
        The weighted sum of the values for each query, in the type of ``q``.

    Raises
    ------
    TypeError
        If the slopes are not floating-point.
    ValueError
        If the shapes do not fit, or there are more queries than keys.

    References
    ----------
    Press et al. (2022), section 3.

    Examples
    --------
    >>> q = k = torch.zeros(1, 1, 2, 4)
    >>> v = torch.tensor([[[[1.0], [0.0]]]])
    >>> alibi_attention(q, k, v, torch.tensor([1.0])).flatten()
    tensor([1.0000, 0.2689])
    """
    _check_slopes(slopes, None)
    heads, n_queries, n_keys = slopes.shape[0], q.shape[-2], k.shape[-2]
    for name, x, length in (("q", q, n_queries), ("k", k, n_keys), ("v", v, n_keys)):
        if x.dim() < 3 or x.shape[-3] != heads or x.shape[-2] != length:
            raise ValueError(f"{name} must be [..., {heads}, {length}, d], got {list(x.shape)}")
    if n_queries > n_keys:
        raise ValueError(f"q must not be longer than k ({n_keys} keys), got {n_queries} queries")

    if n_queries == 0:
        return F.scaled_dot_product_attention(q, k, v)
    offset = torch.arange(1 - n_keys, n_keys, device=q.device)
    bias = _bias(offset, slopes[:, None], None if causal else slopes)
    if causal:
        bias = bias.masked_fill(offset > 0, -math.inf)
    # The CPU's kernels take a float32 mask beside half precision. Others want that of the queries.
    on_cpu = q.device.type == "cpu"
    bias = bias.to(torch.promote_types(q.dtype, torch.float32) if on_cpu else q.dtype)
    # A compiled graph would hold one copy of the loop for each block.
    if not causal or torch.compiler.is_compiling() or n_queries <= _ROWS:
        return _attend(q, k, v, bias, scale)
    out = q.new_empty(*q.shape[:-1], v.shape[-1])
    for start in range(0, n_queries, _ROWS):
        block = slice(start, min(start + _ROWS, n_queries))
        unseen = n_queries - block.stop  # keys, and with them the first places of the bias
        seen = slice(0, n_keys - unseen)
        out[..., block, :] = _attend(
            q[..., block, :], k[..., seen, :], v[..., seen, :], bias[:, unseen:], scale
        )
    return out


def _attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float | None) -> Tensor:
    """Attention of the last positions; place ``S_key - 1`` of the bias is that of offset 0.

    Row i of the reversed queries is the query at ``S_key - 1 - i``. Its offset to key 0 is
    ``i - (S_key - 1)``, so its row begins at place i.
    """
    rows = bias.unfold(-1, k.shape[-2], 1)[:, : q.shape[-2]]  # a view
    mask = rows[(None,) * (q.dim() - 3)]
    return F.scaled_dot_product_attention(q.flip(-2), k, v, mask, scale=scale).flip(-2)
