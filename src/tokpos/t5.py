"""T5's relative position bias: a learned number for each head and each bucket of offsets.

Raffel et al., *Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer*
(2020), section 2.1: offsets share 32 embeddings; small ones have one each, larger ones are
grouped in ranges that grow as a logarithm up to 128, and beyond that all are one. The rule in
full is in the authors' code (``_relative_position_bucket`` in Mesh TensorFlow).

The logarithm is not computed here. Where each bucket starts is found by comparing whole powers,
so no rounding can put an offset into its neighbor's bucket, whatever the type of the model.

`tokpos.figures.t5.bucket_map`
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tokpos._diagonals import spread_diagonals
from tokpos._scores import check_scores, first_offset
from tokpos._types import Float, Int, Tensor
from tokpos.position import PositionEncoding, ScoreTerms, is_integer, offsets


def t5_bucket_starts(buckets: int, max_distance: int = 128) -> list[int]:
    """The smallest distance of each bucket of one direction.

    Half of the buckets, n/2, hold one distance each: 0, 1, 2, ... Bucket ``n/2 + j`` then starts
    where ``log(distance / (n/2)) / log(max_distance / (n/2)) * n/2`` reaches j.

    Parameters
    ----------
    buckets
        Number n of buckets of one direction, at least 2.
    max_distance
        Where the logarithm ends. The last bucket begins before it (`t5_bucket_starts`).

    Returns
    -------
    list of int
        n distances, the first 0. Two are equal where a bucket is empty.

    Raises
    ------
    ValueError
        If there are fewer than 2 buckets, or ``max_distance`` is not above n/2.

    References
    ----------
    Raffel et al. (2020), section 2.1.

    Examples
    --------
    >>> t5_bucket_starts(16)
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    """
    if buckets < 2:
        raise ValueError(f"buckets must be at least 2 in each direction, got {buckets}")
    exact = buckets // 2
    if max_distance <= exact:
        raise ValueError(
            f"max_distance must be above {exact}, the distances with a bucket of their own, "
            f"got {max_distance}"
        )
    wide = buckets - exact
    starts = list(range(exact + 1))
    for j in range(1, wide):
        # log(x/exact) / log(max/exact) * wide >= j  <=>  x^wide >= max^j exact^(wide - j)
        bound = max_distance**j * exact ** (wide - j)
        start = int(exact * (max_distance / exact) ** (j / wide)) - 1  # near, and not above
        while start**wide < bound:
            start += 1
        starts.append(start)
    return starts


def t5_buckets(
    offset: Int[Tensor, "*P"],
    buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> Int[Tensor, "*P"]:
    """The bucket of each offset, by whole numbers alone.

    In both directions the first half of the buckets is for keys at the query and to its left, the
    second half for keys to its right. In a causal model all buckets look left, and a key to the
    right falls into bucket 0.

    Parameters
    ----------
    offset
        Key position minus query position, of any shape.
    buckets
        Number of buckets, both directions together.
    max_distance
        From this distance on all offsets of a direction share its last bucket.
    bidirectional
        Whether keys to the right have buckets of their own.

    Returns
    -------
    Int[Tensor, "*P"]
        Buckets from 0 to ``buckets - 1`` as int64; the same as those of transformers.

    Raises
    ------
    TypeError
        If the offsets are not integers.
    ValueError
        If there are fewer than 2 buckets in each direction, or ``max_distance`` is too small.

    References
    ----------
    Raffel et al. (2020), section 2.1.

    Examples
    --------
    >>> t5_buckets(torch.tensor([-200, -64, -8, -1, 0, 1, 8, 64, 200])).tolist()
    [15, 14, 8, 1, 0, 17, 24, 30, 31]
    """
    if not is_integer(offset):
        raise TypeError(f"offset must be integers, got {offset.dtype}")
    each = buckets // 2 if bidirectional else buckets
    starts = torch.tensor(t5_bucket_starts(each, max_distance)[1:], device="cpu")
    starts = starts.to(offset.device, non_blocking=True)  # an accelerator need not wait for it
    offset = offset.long()
    distance = offset.abs() if bidirectional else (-offset).clamp(min=0)
    bucket = torch.bucketize(distance, starts, right=True)  # how many starts it has reached
    return bucket + each * (offset > 0) if bidirectional else bucket


def t5_bias(
    table: Float[Tensor, "buckets H"],
    n_queries: int,
    n_keys: int,
    first: int = 0,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> Float[Tensor, "H S_query S_key"]:
    """The bias where positions count up one by one, fast.

    Only ``S_query + S_key - 1`` offsets exist. Each finds its bucket and its numbers once, and
    the matrix is written from them. The gradient is summed the same way back.

    Parameters
    ----------
    table
        One number for each bucket and head.
    n_queries
        Number of queries.
    n_keys
        Number of keys.
    first
        The offset of the first query and the first key: minus the length of the past, for a
        decoder with a cache.
    max_distance
        As in `t5_buckets`.
    bidirectional
        As in `t5_buckets`.

    Returns
    -------
    Float[Tensor, "H S_query S_key"]
        The bias in the type of the table, bit for bit that of the general path.

    Raises
    ------
    ValueError
        If the table has not two axes, a length is below 1, or as `t5_buckets`.

    References
    ----------
    Raffel et al. (2020), section 2.1.

    Examples
    --------
    >>> table = torch.arange(32.0)[:, None]
    >>> t5_bias(table, 3, 3)[0]
    tensor([[ 0., 17., 18.],
            [ 1.,  0., 17.],
            [ 2.,  1.,  0.]])
    """
    if table.dim() != 2:
        raise ValueError(f"table must be [buckets, H], got {list(table.shape)}")
    for name, length in (("n_queries", n_queries), ("n_keys", n_keys)):
        if length < 1:
            raise ValueError(f"{name} must be at least 1, got {length}")
    offset = torch.arange(first - n_queries + 1, first + n_keys, device=table.device)
    bucket = t5_buckets(offset, table.shape[0], max_distance, bidirectional)
    return spread_diagonals(table.mT.index_select(1, bucket), n_queries)


class T5Bias(PositionEncoding):
    """T5's bias as a position encoding: door 3, outside the division.

    T5 itself does not divide by sqrt(d), and all its layers share the table of the first one.
    Both are the model's affair. The state dict of a transformers ``relative_attention_bias`` can
    be loaded as it is: it holds ``weight`` too.

    Parameters
    ----------
    heads
        Number of heads H.
    buckets
        Number of buckets, both directions together.
    max_distance
        From this distance on all offsets of a direction share its last bucket.
    bidirectional
        True in an encoder, False in a decoder.

    Raises
    ------
    ValueError
        If the number of heads is below 1, or as `t5_buckets`.

    References
    ----------
    Raffel et al. (2020), section 2.1.

    Examples
    --------
    >>> encode = T5Bias(heads=8)
    >>> q, place = torch.zeros(1, 8, 4, 16), torch.arange(4)
    >>> encode.into_scores(q, place, place).outside.shape
    torch.Size([8, 4, 4])
    """

    def __init__(
        self,
        heads: int,
        buckets: int = 32,
        max_distance: int = 128,
        *,
        bidirectional: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if heads < 1:
            raise ValueError(f"heads must be at least 1, got {heads}")
        t5_bucket_starts(buckets // 2 if bidirectional else buckets, max_distance)
        self.heads = heads
        self.buckets = buckets
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        self.weight = nn.Parameter(torch.empty(buckets, heads, device=device, dtype=dtype))
        self.reset_parameters()

    @classmethod
    def from_table(
        cls,
        table: Float[Tensor, "buckets H"],
        max_distance: int = 128,
        *,
        bidirectional: bool = True,
    ) -> T5Bias:
        """Start from a copy of a pretrained table.

        Parameters
        ----------
        table
            One number for each bucket and head.
        max_distance
            As for the class.
        bidirectional
            As for the class.

        Returns
        -------
        T5Bias
            A trainable table of its own, on the device and in the type of ``table``.

        Raises
        ------
        ValueError
            If the table has not two axes, or as for the class.
        """
        if table.dim() != 2:
            raise ValueError(f"table must be [buckets, H], got {list(table.shape)}")
        buckets, heads = table.shape
        made = cls(
            heads,
            buckets,
            max_distance,
            bidirectional=bidirectional,
            device=table.device,
            dtype=table.dtype,
        )
        with torch.no_grad():
            made.weight.copy_(table)
        return made

    def reset_parameters(self) -> None:
        """Draw the table afresh, from a normal distribution with a standard deviation of 0.02."""
        nn.init.normal_(self.weight, std=0.02)

    def into_scores(
        self,
        q: Float[Tensor, "*B H S_query d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> ScoreTerms:
        """The bias of every pair, outside the division.

        Parameters
        ----------
        q
            Queries of every head. Only their shape counts.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        ScoreTerms
            ``outside``, in the type of the table. Without an axis for the batch if the positions
            have none.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If the queries have another number of heads, or positions do not fit.
        """
        check_scores(q, query_positions, key_positions, heads=self.heads)
        first = first_offset(query_positions, key_positions)
        if first is not None:
            lengths = len(query_positions), len(key_positions)
            bias = t5_bias(self.weight, *lengths, first, self.max_distance, self.bidirectional)
            return ScoreTerms(outside=bias)
        offset = offsets(query_positions, key_positions)
        bucket = t5_buckets(offset, self.buckets, self.max_distance, self.bidirectional)
        return ScoreTerms(outside=F.embedding(bucket, self.weight).movedim(-1, -3))

    def extra_repr(self) -> str:
        direction = "" if self.bidirectional else ", bidirectional=False"
        return (
            f"heads={self.heads}, buckets={self.buckets}, max_distance={self.max_distance}"
            + direction
        )
