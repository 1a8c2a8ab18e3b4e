"""BERT's embedding layer for inference: two of its three tables added beforehand."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from tokpos._bert_input import check_input
from tokpos._types import Float, Int, Tensor
from tokpos.bert import BertEmbeddings
from tokpos.lookup import values_can_be_read


class FusedBertEmbeddings(nn.Module):
    """BERT's embedding layer for inference, with one addition less and one lookup less.

    The segment rows are added to the token rows once, beforehand: one copy of the token table for
    each segment. What is left is to fetch a row, add the position row in place, and normalize. The
    additions happen in the same order as in `BertEmbeddings`, so the result is the same to the
    last bit, and memory pays for the time: the tables are as large as ``n_segments`` token tables.

    Nothing here trains, and dropout is off. The tables are derived, so the ``state_dict`` is empty:
    keep that of the layer this one was made from. For the same reason a fused layer goes to another
    device and nothing else: a change of dtype would round the sums once more, and ``to_empty``
    would leave noise.

    Parameters
    ----------
    layer : BertEmbeddings
        The layer to copy.

    Raises
    ------
    ValueError
        The layer is on the meta device and has no numbers yet.
    RuntimeError
        Later, if a change of dtype or ``to_empty`` is asked for.

    Examples
    --------
    >>> from tokpos.bert import BertEmbeddings
    >>> layer = BertEmbeddings(100, 8).eval()
    >>> ids = torch.tensor([[1, 2, 3]])
    >>> torch.equal(layer.fused()(ids), layer(ids))
    True
    """

    def __init__(self, layer: BertEmbeddings) -> None:
        super().__init__()
        if layer.word_embeddings.weight.is_meta:
            raise ValueError("layer must hold numbers; it is on the meta device: load it first")
        self.vocab_size = layer.word_embeddings.num_embeddings
        self.n_segments = layer.token_type_embeddings.num_embeddings
        self.max_positions = layer.position_embeddings.num_embeddings
        self.eps = layer.LayerNorm.eps
        tokens = layer.word_embeddings.weight.detach()
        segments = layer.token_type_embeddings.weight.detach()
        for name, table in (
            ("rows", (tokens + segments[:, None]).flatten(0, 1)),
            ("positions", layer.position_embeddings.weight.detach().clone()),
            ("scale", layer.LayerNorm.weight.detach().clone()),
            ("shift", layer.LayerNorm.bias.detach().clone()),
        ):
            self.register_buffer(name, table, persistent=False)

    rows: Tensor
    positions: Tensor
    scale: Tensor
    shift: Tensor

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> FusedBertEmbeddings:
        # Everything that changes a module's tensors passes here. A few known numbers go first.
        known = torch.arange(64, dtype=self.rows.dtype, device=self.rows.device)
        changed = fn(known)
        kept = changed.dtype == known.dtype and not changed.is_meta
        if not (kept and torch.equal(changed.to(known.device), known)):
            raise RuntimeError(
                "a fused layer keeps its numbers and its dtype: change the layer that it was "
                "made from, and call fused() again"
            )
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    @torch.no_grad()
    def forward(
        self,
        ids: Int[Tensor, "B S"],
        segment_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        position_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
    ) -> Float[Tensor, "B S D"]:
        """Turn token IDs into vectors, as `BertEmbeddings` in eval mode does.

        Parameters
        ----------
        ids : Tensor
            Token IDs.
        segment_ids : Tensor, optional
            Which of the two texts each token belongs to; left out, every token has segment 0.
        position_ids : Tensor, optional
            The row of the position table for each token; left out, they are 0, 1, 2, ...

        Returns
        -------
        Tensor
            One vector of width D for each token.

        Raises
        ------
        TypeError
            IDs, segments or positions are not int32 or int64.
        ValueError
            A shape does not fit, or the sequence is longer than the position table.
        IndexError
            An ID, a segment or a position has no row in its table.
        """
        sizes = (self.vocab_size, self.n_segments, self.max_positions)
        check_input(ids, segment_ids, position_ids, *sizes)
        if segment_ids is None:
            vectors = F.embedding(ids, self.rows[: self.vocab_size])
        else:
            places = ids + self.vocab_size * segment_ids
            if not values_can_be_read(ids):
                # A wrong ID would find a row of another segment. There is no row -1.
                places = places.where((ids >= 0) & (ids < self.vocab_size), -1)
            vectors = F.embedding(places, self.rows)
        if position_ids is None:
            vectors += self.positions[: ids.shape[1]]
        else:
            vectors += F.embedding(position_ids, self.positions)
        return F.layer_norm(vectors, vectors.shape[-1:], self.scale, self.shift, self.eps)
