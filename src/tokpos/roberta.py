"""RoBERTa's embedding layer: BERT's, but positions are counted from behind the padding ID.

Liu et al., *RoBERTa: A Robustly Optimized BERT Pretraining Approach* (2019). The paper does not
speak of it; the counting comes from its library, fairseq (``make_positions``). There a padding
token has the position ``padding_idx`` and the first real token ``padding_idx + 1``. So with
``padding_idx = 1`` a table of 514 rows serves 512 tokens.
"""

from __future__ import annotations

from typing import ClassVar

import torch

from tokpos._bert_input import check_fits, check_length
from tokpos._types import Bool, Float, Int, Tensor
from tokpos.bert import BertEmbeddings
from tokpos.bert_fused import FusedBertEmbeddings
from tokpos.lookup import check_ids
from tokpos.positions import positions_from_mask


def roberta_positions(
    mask: Int[Tensor, "*B S"] | Bool[Tensor, "*B S"], padding_idx: int, past: int = 0
) -> Int[Tensor, "*B S"]:
    """Rows of RoBERTa's position table: real tokens from ``padding_idx + 1``, padding apart.

    Parameters
    ----------
    mask : Tensor
        1 or True at each real token, 0 or False at padding.
    padding_idx : int
        ID of the padding token, and position of every padding token.
    past : int
        How many real tokens were read before, in cached decoding.

    Returns
    -------
    Tensor
        The row of the position table for each token, int64.

    Raises
    ------
    TypeError
        ``mask`` holds neither integers nor truth values.
    ValueError
        ``mask`` holds another number than 0 and 1, or ``past`` is negative.

    Examples
    --------
    >>> ids = torch.tensor([[0, 5, 6, 2, 1, 1]])
    >>> roberta_positions(ids != 1, padding_idx=1)
    tensor([[2, 3, 4, 5, 1, 1]])
    """
    if past < 0:
        raise ValueError(f"past must not be negative; got {past}")
    counted = positions_from_mask(mask) + (past + 1)
    return counted * mask.to(torch.int64) + padding_idx


class RobertaEmbeddings(BertEmbeddings):
    """The layer between RoBERTa's token IDs and its first attention layer.

    As in `BertEmbeddings` a token row, a segment row and a position row are added, normalized, and
    in training thinned out by dropout. Positions are another matter: they are counted over real
    tokens alone and begin at ``padding_idx + 1`` (see `roberta_positions`). In eval mode the result
    equals that of transformers' layer bit for bit.

    XLM-RoBERTa and CamemBERT have the same layer.

    Parameters
    ----------
    vocab_size : int
        Number of tokens V, the rows of the token table.
    width : int
        Width D of every row.
    max_positions : int
        Rows of the position table. `usable_length`, the longest sequence, is smaller.
    n_segments : int
        Rows of the segment table; RoBERTa has one.
    eps : float
        Added to the variance inside LayerNorm. Published RoBERTa models use 1e-5.
    dropout : float
        Probability of zeroing a number in training.
    padding_idx : int
        ID of the padding token. Its row of the token table and the row of that number in the
        position table start as zeros and get no gradient from the lookup.

    Raises
    ------
    ValueError
        A setting is out of its range, or no position is left behind ``padding_idx``.

    Examples
    --------
    >>> layer = RobertaEmbeddings(50265, 768)
    >>> layer.usable_length
    512
    >>> layer(torch.tensor([[0, 100, 2, 1]])).shape
    torch.Size([1, 4, 768])
    """

    _layer_names: ClassVar[tuple[str, ...]] = (
        "RobertaEmbeddings",
        "XLMRobertaEmbeddings",
        "CamembertEmbeddings",
    )
    _model_types: ClassVar[tuple[str, ...]] = ("roberta", "xlm-roberta", "camembert")
    _config_padding_idx: ClassVar[int] = 1

    def __init__(
        self,
        vocab_size: int,
        width: int,
        *,
        max_positions: int = 514,
        n_segments: int = 1,
        eps: float = 1e-5,
        dropout: float = 0.1,
        padding_idx: int = 1,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if padding_idx is None:
            raise ValueError("padding_idx must be an ID: positions are counted from it; got None")
        if 0 <= padding_idx < vocab_size and max_positions < padding_idx + 2:
            raise ValueError(
                f"max_positions must be at least padding_idx + 2 = {padding_idx + 2}, "
                f"as positions begin at padding_idx + 1; got {max_positions}"
            )
        super().__init__(
            vocab_size,
            width,
            max_positions=max_positions,
            n_segments=n_segments,
            eps=eps,
            dropout=dropout,
            padding_idx=padding_idx,
            device=device,
            dtype=dtype,
        )
        self.padding_idx = padding_idx
        self.position_embeddings.padding_idx = padding_idx
        with torch.no_grad():
            self.position_embeddings.weight[padding_idx].zero_()

    @property
    def usable_length(self) -> int:
        """The longest row, padding included: rows of the position table - ``padding_idx`` - 1."""
        return self.position_embeddings.num_embeddings - self.padding_idx - 1

    def reset_parameters(self) -> None:
        """Start the three tables with a standard deviation of 0.02, rows of padding as zeros."""
        super().reset_parameters()
        row = self.position_embeddings.padding_idx
        if row is not None:
            with torch.no_grad():
                self.position_embeddings.weight[row].zero_()

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        segment_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        position_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        past: int = 0,
    ) -> Float[Tensor, "B S D"]:
        """Turn token IDs into the vectors that enter the first attention layer.

        Parameters
        ----------
        ids : Tensor
            Token IDs. Those equal to ``padding_idx`` are padding, on either side.
        segment_ids : Tensor, optional
            The row of the segment table for each token; left out, every token has segment 0.
        position_ids : Tensor, optional
            The row of the position table for each token; one row serves every sample. Left out,
            they are those of `roberta_positions`.
        past : int
            How many real tokens were read before, in cached decoding.

        Returns
        -------
        Tensor
            One vector of width D for each token.

        Raises
        ------
        TypeError
            IDs, segments or positions are not int32 or int64.
        ValueError
            A shape does not fit, or the sequence is longer than `usable_length`.
        IndexError
            An ID, a segment or a position has no row in its table.
        """
        check_ids(ids, self.word_embeddings.num_embeddings, name="ids")
        if ids.ndim != 2:
            raise ValueError(
                f"ids must have the shape [B, S]; got {list(ids.shape)}"
                + ("; ids[None] makes a batch of one" if ids.ndim == 1 else "")
            )
        real = ids != self.padding_idx
        places = self._places("ids", real, segment_ids, position_ids, past)
        return self._add(self.word_embeddings(ids), *places)

    def fused(self) -> FusedRobertaEmbeddings:
        """A frozen copy for inference, faster and with the same result to the last bit.

        Returns
        -------
        FusedRobertaEmbeddings
            A layer without parameters that train. It does not follow later changes of this one.
        """
        return FusedRobertaEmbeddings(self)

    def from_vectors(
        self,
        vectors: Float[Tensor, "B S D"],
        mask: Int[Tensor, "B S"] | Bool[Tensor, "B S"] | None = None,
        segment_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        position_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        past: int = 0,
    ) -> Float[Tensor, "B S D"]:
        """The same from token vectors in place of IDs (``inputs_embeds`` in transformers).

        A vector does not tell whether it is padding. With the mask the result is that of the IDs
        at every place. Without it all vectors count as real tokens, as in transformers: then
        padding on the right gets other vectors, and padding on the left shifts the real tokens.

        Parameters
        ----------
        vectors : Tensor
            Token vectors, as the token table gives them.
        mask : Tensor, optional
            1 or True at each real token, 0 or False at padding.
        segment_ids : Tensor, optional
            The row of the segment table for each token; left out, every token has segment 0.
        position_ids : Tensor, optional
            The row of the position table for each token; one row serves every sample.
        past : int
            How many real tokens were read before, in cached decoding.

        Returns
        -------
        Tensor
            One vector of width D for each token.

        Raises
        ------
        TypeError
            The vectors are not floating-point, or segments or positions are not int32 or int64.
        ValueError
            A shape does not fit, or the sequence is longer than `usable_length`.
        IndexError
            A segment or a position has no row in its table.
        """
        if not vectors.is_floating_point():
            raise TypeError(f"vectors must be floating-point; got {vectors.dtype}")
        width = self.word_embeddings.embedding_dim
        if vectors.ndim != 3 or vectors.shape[-1] != width:
            raise ValueError(f"vectors must be [B, S, {width}]; got {list(vectors.shape)}")
        batch, length, _ = vectors.shape
        if mask is None:
            mask = torch.ones(batch, length, dtype=torch.bool, device=vectors.device)
        elif list(mask.shape) != [batch, length]:
            raise ValueError(
                f"mask must have the shape [{batch}, {length}]; got {list(mask.shape)}"
            )
        places = self._places("vectors", mask, segment_ids, position_ids, past)
        return self._add(vectors, *places)

    def _places(
        self,
        name: str,
        real: Tensor,
        segment_ids: Tensor | None,
        position_ids: Tensor | None,
        past: int,
    ) -> tuple[Tensor, Tensor]:
        """Rows of the segment table and of the position table, checked."""
        if segment_ids is None:
            segment_ids = real.new_zeros(real.shape, dtype=torch.int64)
        else:
            check_ids(segment_ids, self.token_type_embeddings.num_embeddings, name="segment_ids")
            check_fits("segment_ids", segment_ids, real.shape)
        if position_ids is None:
            check_length(name, past + real.shape[-1], self.usable_length)
            return segment_ids, roberta_positions(real, self.padding_idx, past)
        check_ids(position_ids, self.position_embeddings.num_embeddings, name="position_ids")
        check_fits("position_ids", position_ids, real.shape)
        return segment_ids, position_ids


class FusedRobertaEmbeddings(FusedBertEmbeddings):
    """RoBERTa's embedding layer for inference: see `FusedBertEmbeddings`.

    Parameters
    ----------
    layer : RobertaEmbeddings
        The layer to copy.

    Examples
    --------
    >>> layer = RobertaEmbeddings(100, 8).eval()
    >>> ids = torch.tensor([[0, 5, 2, 1]])
    >>> torch.equal(layer.fused()(ids), layer(ids))
    True
    """

    def __init__(self, layer: RobertaEmbeddings) -> None:
        super().__init__(layer)
        self.padding_idx = layer.padding_idx
        self.usable_length = layer.usable_length

    @torch.no_grad()
    def forward(
        self,
        ids: Int[Tensor, "B S"],
        segment_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        position_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        past: int = 0,
    ) -> Float[Tensor, "B S D"]:
        """Turn token IDs into vectors, as `RobertaEmbeddings` in eval mode does.

        Parameters
        ----------
        ids : Tensor
            Token IDs. Those equal to ``padding_idx`` are padding, on either side.
        segment_ids : Tensor, optional
            The row of the segment table for each token; left out, every token has segment 0.
        position_ids : Tensor, optional
            The row of the position table for each token; one row serves every sample. Left out,
            they are those of `roberta_positions`.
        past : int
            How many real tokens were read before, in cached decoding.

        Returns
        -------
        Tensor
            One vector of width D for each token.

        Raises
        ------
        TypeError
            IDs, segments or positions are not int32 or int64.
        ValueError
            A shape does not fit, or the sequence is longer than `RobertaEmbeddings` takes.
        IndexError
            An ID, a segment or a position has no row in its table.
        """
        if position_ids is None and isinstance(ids, Tensor) and ids.ndim == 2:
            check_length("ids", past + ids.shape[1], self.usable_length)
            position_ids = roberta_positions(ids != self.padding_idx, self.padding_idx, past)
        return super().forward(ids, segment_ids, position_ids)
