"""Shaw's relative positions: a learned vector for each offset, compared with the query.

Shaw et al., *Self-Attention with Relative Position Representations* (2018), section 3: the key of
each pair gets the vector ``a^K`` of their offset added, equation 4, and the value the vector
``a^V``, equation 3. Offsets are clipped to -k .. k, so there are ``2k + 1`` vectors of each kind.
All heads of a layer share them here, as in the paper's big model; in its base model each head has
its own.

`tokpos.figures.relative.clipped_matrix`
"""

from __future__ import annotations

import torch
from torch import nn

from tokpos._band import collect_clipped, spread_clipped
from tokpos._scores import check_scores, first_offset
from tokpos._types import Float, Int, Tensor
from tokpos.position import (
    PositionEncoding,
    ScoreTerms,
    _fits_batch,
    is_integer,
    offsets,
    over_heads,
)


def clipped_offsets(offset: Int[Tensor, "*P"], clip: int) -> Int[Tensor, "*P"]:
    """The row of the table for each offset: clipped to -k .. k, and counted from 0.

    Parameters
    ----------
    offset
        Key position minus query position, of any shape.
    clip
        Largest offset k that is told apart.

    Returns
    -------
    Int[Tensor, "*P"]
        Rows from 0 (k or more to the left) to 2k (k or more to the right) as int64.

    Raises
    ------
    TypeError
        If the offsets are not integers.
    ValueError
        If ``clip`` is negative.

    References
    ----------
    Shaw et al. (2018), section 3.2, ``clip(x, k)``.

    Examples
    --------
    >>> clipped_offsets(torch.tensor([-9, -2, -1, 0, 1, 2, 9]), clip=2).tolist()
    [0, 0, 1, 2, 3, 4, 4]
    """
    if not is_integer(offset):
        raise TypeError(f"offset must be integers, got {offset.dtype}")
    _check_clip(clip)
    return (offset.long() + clip).clamp(0, 2 * clip)


def shaw_scores_by_pairs(
    q: Float[Tensor, "*B H S_query d"],
    vectors: Float[Tensor, "offsets d"],
    offset: Int[Tensor, "*P S_query S_key"],
) -> Float[Tensor, "*B H S_query S_key"]:
    """``q . a^K`` as the paper writes it: a vector for every pair. To be read, not to be used.

    Parameters
    ----------
    q
        Queries of every head.
    vectors
        The vectors of the ``2k + 1`` clipped offsets.
    offset
        Key position minus query position of every pair.

    Returns
    -------
    Float[Tensor, "*B H S_query S_key"]
        What stands beside ``q k^T``, before the division.

    Raises
    ------
    TypeError
        If the offsets are not integers.
    ValueError
        If the shapes do not fit.

    References
    ----------
    Shaw et al. (2018), equation 5.

    Examples
    --------
    >>> q, vectors = torch.ones(1, 2, 1), torch.tensor([[-1.0], [0.0], [1.0]])
    >>> shaw_scores_by_pairs(q, vectors, torch.tensor([[0, 1], [-1, 0]]))
    tensor([[[ 0.,  1.],
             [-1.,  0.]]])
    """
    _check_vectors(vectors)
    if q.dim() < 3 or q.shape[-1] != vectors.shape[1]:
        raise ValueError(f"q must be [..., H, S, {vectors.shape[1]}], got {list(q.shape)}")
    _check_pairs(offset, q, None)
    a = vectors[clipped_offsets(offset, vectors.shape[0] // 2)]
    return torch.einsum("...hqd,...qkd->...hqk", q, a)


def shaw_values_by_pairs(
    weights: Float[Tensor, "*B H S_query S_key"],
    vectors: Float[Tensor, "offsets d"],
    offset: Int[Tensor, "*P S_query S_key"],
) -> Float[Tensor, "*B H S_query d"]:
    """The weighted sum of ``a^V`` as the paper writes it. To be read, not to be used.

    Parameters
    ----------
    weights
        Attention weights of every head, after the softmax.
    vectors
        The vectors of the ``2k + 1`` clipped offsets.
    offset
        Key position minus query position of every pair.

    Returns
    -------
    Float[Tensor, "*B H S_query d"]
        What stands beside ``weights @ v``.

    Raises
    ------
    TypeError
        If the offsets are not integers.
    ValueError
        If the shapes do not fit.

    References
    ----------
    Shaw et al. (2018), equation 3.

    Examples
    --------
    >>> weights, vectors = torch.tensor([[[0.25, 0.75]]]), torch.tensor([[-1.0], [0.0], [1.0]])
    >>> shaw_values_by_pairs(weights, vectors, torch.tensor([[0, 5]]))
    tensor([[[0.7500]]])
    """
    _check_vectors(vectors)
    if weights.dim() < 3:
        raise ValueError(f"weights must be [..., H, S_query, S_key], got {list(weights.shape)}")
    _check_pairs(offset, weights, weights.shape[-1])
    a = vectors[clipped_offsets(offset, vectors.shape[0] // 2)]
    return torch.einsum("...hqk,...qkd->...hqd", weights, a)


class ShawEncoding(PositionEncoding):
    """Shaw's relative positions: door 3, inside the division, and the side door to the values.

    A vector for every pair would be S x S x d numbers. But a query can meet ``2k + 1`` vectors
    only: it is multiplied with each of them once, and every pair looks its product up. Weights
    of the values are summed for each clipped offset first, and multiplied then.

    Parameters
    ----------
    width
        Head width d.
    clip
        Largest offset k that is told apart; 16 in the paper's base model, 8 in its big one.
    values
        Whether the values get vectors too. The paper found no gain in it for translation.

    Attributes
    ----------
    key_vectors
        ``a^K``, from offset -k to k.
    value_vectors
        ``a^V``, or None.

    Raises
    ------
    ValueError
        If the width is below 1, or ``clip`` is negative.

    References
    ----------
    Shaw et al. (2018), section 3.

    Examples
    --------
    >>> encode = ShawEncoding(width=16, clip=2)
    >>> q, place = torch.zeros(1, 8, 4, 16), torch.arange(4)
    >>> encode.into_scores(q, place, place).inside.shape
    torch.Size([1, 8, 4, 4])
    """

    def __init__(
        self,
        width: int,
        clip: int = 16,
        *,
        values: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if width < 1:
            raise ValueError(f"width must be at least 1, got {width}")
        _check_clip(clip)
        self.width = width
        self.clip = clip

        def vectors() -> nn.Parameter:
            return nn.Parameter(torch.empty(2 * clip + 1, width, device=device, dtype=dtype))

        self.key_vectors = vectors()
        self.value_vectors = vectors() if values else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the vectors afresh, by Glorot's uniform rule as the authors' code does."""
        nn.init.xavier_uniform_(self.key_vectors)
        if self.value_vectors is not None:
            nn.init.xavier_uniform_(self.value_vectors)

    @property
    def adds_to_values(self) -> bool:
        """Whether there are value vectors."""
        return self.value_vectors is not None

    def into_scores(
        self,
        q: Float[Tensor, "*B H S_query d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> ScoreTerms:
        """The product of each query with the vector of each offset, inside the division.

        Parameters
        ----------
        q
            Queries of every head.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        ScoreTerms
            ``inside``, in the type that the product of queries and vectors has.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If the queries have another width, or positions do not fit.
        """
        check_scores(q, query_positions, key_positions, width=self.width)
        products = q @ self.key_vectors.mT
        first = first_offset(query_positions, key_positions)
        if first is not None:
            return ScoreTerms(inside=spread_clipped(products, len(key_positions), first))
        rows = self._rows(query_positions, key_positions)
        rows = rows.expand(*q.shape[:-1], rows.shape[-1])
        # The gradient adds up what all keys of an offset send: in float32 at least.
        exact = torch.promote_types(products.dtype, torch.float32)
        return ScoreTerms(inside=products.to(exact).gather(-1, rows).to(products.dtype))

    def into_values(
        self,
        weights: Float[Tensor, "*B H S_query S_key"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*P S_key"],
    ) -> Float[Tensor, "*B H S_query d"] | None:
        """The weighted sum of the value vectors, beside that of the values.

        Parameters
        ----------
        weights
            Attention weights of every head, after the softmax.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        Float[Tensor, "*B H S_query d"] or None
            What is added to each head's output; None if there are no value vectors.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If positions do not fit the weights.
        """
        if self.value_vectors is None:
            return None
        check_scores(weights, query_positions, key_positions)
        if key_positions.shape[-1] != weights.shape[-1]:
            raise ValueError(
                f"key_positions must hold {weights.shape[-1]} positions for weights of "
                f"{list(weights.shape)}, got {list(key_positions.shape)}"
            )
        first = first_offset(query_positions, key_positions)
        if first is not None:
            sums = collect_clipped(weights, self.clip, first)
        else:
            rows = self._rows(query_positions, key_positions).expand(weights.shape)
            exact = torch.promote_types(weights.dtype, torch.float32)
            none = weights.new_zeros(*weights.shape[:-1], 2 * self.clip + 1, dtype=exact)
            sums = none.scatter_add(-1, rows, weights.to(exact)).to(weights.dtype)
        return sums @ self.value_vectors

    def _rows(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """The row of the table for each pair, with an axis for the heads where there is a batch."""
        offset = offsets(over_heads(query_positions), over_heads(key_positions))
        return clipped_offsets(offset, self.clip)

    def extra_repr(self) -> str:
        values = "" if self.value_vectors is None else ", values=True"
        return f"width={self.width}, clip={self.clip}{values}"


def _check_clip(clip: int) -> None:
    if clip < 0:
        raise ValueError(f"clip must not be negative, got {clip}")


def _check_vectors(vectors: Tensor) -> None:
    if vectors.dim() != 2 or vectors.shape[0] % 2 == 0:
        raise ValueError(f"vectors must be [2k + 1, d], got {list(vectors.shape)}")


def _check_pairs(offset: Tensor, x: Tensor, n_keys: int | None) -> None:
    """Refuse offsets that do not fit queries or weights ``x`` of every head."""
    *batch, _, n_queries, _ = x.shape
    given = list(offset.shape)
    pairs_fit = len(given) >= 2 and given[-2] == n_queries and n_keys in (None, given[-1])
    if not (pairs_fit and _fits_batch(given[:-2], batch)):
        pairs = [n_queries, "S_key" if n_keys is None else n_keys]
        allowed = f"{pairs}" + (f" or {[*batch, *pairs]}" if batch else "")
        raise ValueError(f"offset must be {allowed} for {list(x.shape)}, got {given}")
