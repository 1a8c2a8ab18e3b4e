"""Transformer-XL's relative positions: the sinusoid of the distance, asked for by the query.

Dai et al., *Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context* (2019),
section 3.3. The score of query i and key j has four terms::

    (a) q_i . k_j   (b) q_i . r_(i-j)   (c) u . k_j   (d) v . r_(i-j)

with ``r_n = W_r R_n``, R the sinusoidal encoding, and two learned vectors u and v for each head.
(a) and (c) are the product of ``q + u`` with the keys, (b) and (d) that of ``q + v`` with r.

The paper writes R as in *Attention Is All You Need*; its code puts all sines before all cosines,
``[sin | cos]``, and so it is here: the columns of ``W_r`` follow that order.

`tokpos.figures.relative.four_terms`
"""

from __future__ import annotations

import torch
from torch import nn

from tokpos._scores import check_scores, no_autocast
from tokpos._types import Float, Int, Tensor
from tokpos.position import PositionEncoding, ScoreTerms, offsets, over_heads
from tokpos.sinusoidal import frequencies
from tokpos.sinusoidal_arrangements import sinusoidal_concatenated


def relative_shift(
    x: Float[Tensor, "*B S_query S_key"], junk: float | None = None
) -> Float[Tensor, "*B S_query S_key"]:
    """The paper's shift: from a column for each distance to a column for each key.

    Column c of x belongs to the distance ``S_key - 1 - c``, the largest first. Row i moves left
    by ``S_query - 1 - i``. To that end a column of zeros is put in front, the numbers are read as
    a matrix of ``S_key + 1`` rows, and its first row is dropped.

    Only the keys up to ``S_key - S_query + i`` are meant: beyond, in the future, stands what
    moved in from the next row.

    Parameters
    ----------
    x
        The product of each query with r of each distance.
    junk
        What is put in place of the entries that are not meant. Left out, they are what the
        reading in another shape leaves there.

    Returns
    -------
    Float[Tensor, "*B S_query S_key"]
        Entry i, j is ``x[i, j + S_query - 1 - i]``.

    Raises
    ------
    ValueError
        If x has fewer than two axes, or more queries than keys.

    References
    ----------
    Dai et al. (2019), appendix B.

    Examples
    --------
    >>> x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    >>> relative_shift(x)
    tensor([[3., 0., 4.],
            [5., 6., 0.],
            [7., 8., 9.]])
    """
    if x.dim() < 2 or x.shape[-2] > x.shape[-1]:
        raise ValueError(
            f"x must be [..., S_query, S_key], no more queries than keys, got {list(x.shape)}"
        )
    *batch, n_queries, n_keys = x.shape
    padded = torch.cat([x.new_zeros(*batch, n_queries, 1), x], -1)
    shifted = padded.reshape(*batch, n_keys + 1, n_queries)[..., 1:, :].reshape(x.shape)
    if junk is None:
        return shifted
    query = torch.arange(n_queries, device=x.device)[:, None]
    meant = torch.arange(n_keys, device=x.device) <= query + (n_keys - n_queries)
    return shifted.where(meant, junk)


def two_way_shift(x: Float[Tensor, "*B S_query distances"]) -> Float[Tensor, "*B S_query S_key"]:
    """The shift where keys to the right count too: every entry is meant.

    An encoder needs all ``S_query + S_key - 1`` distances, negative ones too. The result is the
    first S_key columns of `relative_shift`, which the wider x fills without junk.

    Parameters
    ----------
    x
        The product of each query with r of each distance, the largest distance first.

    Returns
    -------
    Float[Tensor, "*B S_query S_key"]
        Entry i, j is ``x[i, j + S_query - 1 - i]``.

    Raises
    ------
    ValueError
        As `relative_shift`.

    References
    ----------
    Dai et al. (2019), appendix B, has the shift for the left side only.

    Examples
    --------
    >>> two_way_shift(torch.tensor([[2.0, 1.0, 0.0, -1.0, -2.0]] * 3))
    tensor([[ 0., -1., -2.],
            [ 1.,  0., -1.],
            [ 2.,  1.,  0.]])
    """
    return relative_shift(x)[..., : x.shape[-1] - x.shape[-2] + 1]


def distance_scores_by_pairs(
    q: Float[Tensor, "*B H S_query d"],
    projection: Float[Tensor, "H d D"],
    query_positions: Int[Tensor, "*P S_query"],
    key_positions: Int[Tensor, "*P S_key"],
) -> Float[Tensor, "*B H S_query S_key"]:
    """``q_i . W_r R_(i-j)`` as the paper writes it: R for every pair. To be read, not to be used.

    Parameters
    ----------
    q
        Queries of every head, v added.
    projection
        ``W_r`` of every head.
    query_positions
        The position of each query.
    key_positions
        The position of each key.

    Returns
    -------
    Float[Tensor, "*B H S_query S_key"]
        The terms (b) and (d).

    Raises
    ------
    TypeError
        If the positions are not integers.
    ValueError
        If the shapes do not fit.

    References
    ----------
    Dai et al. (2019), section 3.3.
    """
    _check_projection(projection)
    check_scores(q, query_positions, key_positions, *projection.shape[:2])
    distance = -offsets(over_heads(query_positions), over_heads(key_positions))
    encoding = sinusoidal_concatenated(distance, projection.shape[-1], dtype=q.dtype)
    if distance.dim() == 2:
        return torch.einsum("...hqd,hdD,qkD->...hqk", q, projection, encoding)
    return torch.einsum("...hqd,hdD,...qkD->...hqk", q, projection, encoding.squeeze(-4))


def distance_scores(
    q: Float[Tensor, "*B H S_query d"],
    projection: Float[Tensor, "H d D"],
    query_positions: Int[Tensor, "*P S_query"],
    key_positions: Int[Tensor, "*P S_key"],
) -> Float[Tensor, "*B H S_query S_key"]:
    """``q_i . W_r R_(i-j)`` for any positions, without R for every pair.

    ``q . (W_r R)`` is ``(W_r^T q) . R``, and the sine and cosine of a difference of angles are
    made of those of the two angles. So each pair of coordinates of ``W_r^T q`` is turned by the
    angle of the query's own position, and then multiplied with the encoding of the key's. The
    positions may stand in any order, and no shift is needed.

    Parameters
    ----------
    q
        Queries of every head, v added.
    projection
        ``W_r`` of every head.
    query_positions
        The position of each query.
    key_positions
        The position of each key.

    Returns
    -------
    Float[Tensor, "*B H S_query S_key"]
        The same as `distance_scores_by_pairs`, computed in float32 at least, in the type of
        ``q``.

    Raises
    ------
    TypeError
        If the positions are not integers.
    ValueError
        If the shapes do not fit.

    References
    ----------
    Dai et al. (2019), section 3.3.

    Examples
    --------
    >>> q, projection = torch.ones(1, 1, 2), torch.eye(2)[None]
    >>> distance_scores(q, projection, torch.tensor([1]), torch.tensor([0, 1]))
    tensor([[[1.3818, 1.0000]]])
    """
    _check_projection(projection)
    check_scores(q, query_positions, key_positions, *projection.shape[:2])
    exact = torch.promote_types(q.dtype, torch.float32)
    with no_autocast(q):
        asked = q.to(exact) @ projection.to(exact)
        sine, cosine = asked.chunk(2, -1)
        width = projection.shape[-1]
        here, there = (
            sinusoidal_concatenated(over_heads(positions), width, dtype=exact)
            for positions in (query_positions, key_positions)
        )
        query_sin, query_cos = here.chunk(2, -1)
        # sin(i - j) = sin i cos j - cos i sin j, and cos(i - j) = cos i cos j + sin i sin j
        with_sin = cosine * query_sin - sine * query_cos
        with_cos = sine * query_sin + cosine * query_cos
        return (torch.cat([with_sin, with_cos], -1) @ there.mT).to(q.dtype)


class TransformerXLEncoding(PositionEncoding):
    """Transformer-XL's relative positions: u through door 2, the distance through door 3.

    Door 2 adds u to the queries, so that their product with the keys holds the terms (a) and (c).
    Door 3 gets the queries without u, adds v, and gives (b) and (d), inside the division. In the
    paper all layers share u and v, and each has its own ``W_r``.

    Parameters
    ----------
    heads
        Number of heads H.
    head_width
        Head width d.
    width
        Width D of the sinusoidal encoding, even; left out, H d as in the paper.

    Attributes
    ----------
    content_bias
        u of every head (``r_w_bias`` in the authors' code).
    position_bias
        v of every head (``r_r_bias``).
    projection
        ``W_r`` of every head (``r_net``, a linear layer whose weight has the heads' rows one
        below the other).

    Raises
    ------
    ValueError
        If a number is below 1, or the width is odd.

    References
    ----------
    Dai et al. (2019), section 3.3.

    Examples
    --------
    >>> encode = TransformerXLEncoding(heads=2, head_width=8)
    >>> q, place = torch.zeros(1, 2, 4, 8), torch.arange(4)
    >>> encode.into_scores(q, place, place).inside.shape
    torch.Size([1, 2, 4, 4])
    """

    def __init__(
        self,
        heads: int,
        head_width: int,
        width: int | None = None,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        for name, number in (("heads", heads), ("head_width", head_width)):
            if number < 1:
                raise ValueError(f"{name} must be at least 1, got {number}")
        width = heads * head_width if width is None else width
        frequencies(width, device="meta")  # refuses an odd width
        self.heads = heads
        self.head_width = head_width
        self.width = width

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(*shape, device=device, dtype=dtype))

        self.content_bias = parameter(heads, head_width)
        self.position_bias = parameter(heads, head_width)
        self.projection = parameter(heads, head_width, width)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all afresh, from a normal distribution with a standard deviation of 0.02."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.02)

    def into_queries_and_keys(
        self,
        q: Float[Tensor, "*B H S_query d"],
        k: Float[Tensor, "*B H S_key d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> tuple[Float[Tensor, "*B H S_query d"], Float[Tensor, "*B H S_key d"]]:
        """Add u to the queries.

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
            ``q + u`` in the type of ``q``, and ``k`` itself.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If the queries have other heads or another width, or positions do not fit.
        """
        check_scores(q, query_positions, key_positions, self.heads, self.head_width)
        return (q + self.content_bias[:, None]).to(q.dtype), k

    def into_scores(
        self,
        q: Float[Tensor, "*B H S_query d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> ScoreTerms:
        """The terms (b) and (d), inside the division.

        Parameters
        ----------
        q
            Queries of every head, without u.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        ScoreTerms
            ``inside``, in float32, or in float64 if the queries are.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If the queries have other heads or another width, or positions do not fit.
        """
        check_scores(q, query_positions, key_positions, self.heads, self.head_width)
        exact = torch.promote_types(q.dtype, torch.float32)
        asking = q.to(exact) + self.position_bias[:, None]
        inside = distance_scores(asking, self.projection, query_positions, key_positions)
        return ScoreTerms(inside=inside)

    def extra_repr(self) -> str:
        return f"heads={self.heads}, head_width={self.head_width}, width={self.width}"


def _check_projection(projection: Tensor) -> None:
    if projection.dim() != 3 or projection.shape[-1] % 2:
        raise ValueError(f"projection must be [H, d, D], D even, got {list(projection.shape)}")
