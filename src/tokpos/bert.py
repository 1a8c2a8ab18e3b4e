"""BERT's embedding layer: three tables, their sum, and a LayerNorm.

Devlin et al., *BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding* (2019), section 3, "Input/Output Representations", and Figure 2. The paper draws
the sum of the three tables; that a LayerNorm and dropout follow it is in the authors' code
(``embedding_postprocessor`` in ``modeling.py``).

`tokpos.figures.bert.three_tables`
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from torch import nn

from tokpos._bert_input import check_input
from tokpos._extras import from_extra
from tokpos._types import Float, Int, Tensor

if TYPE_CHECKING:
    from tokpos.bert_fused import FusedBertEmbeddings

# Tables that older versions of transformers stored although they are computed.
_COMPUTED = ("position_ids", "token_type_ids")

# The first checkpoints were converted from TensorFlow, where LayerNorm names its two vectors so.
_TENSORFLOW_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}

Layer = TypeVar("Layer", bound="BertEmbeddings")


class BertEmbeddings(nn.Module):
    """The layer between BERT's token IDs and its first attention layer.

    Each token fetches one row of each table: by its ID, by its segment (0 or 1), by its
    position (0, 1, 2, ...). The three rows are added, LayerNorm normalizes the sum, and dropout
    follows in training. In eval mode the result equals that of transformers' layer bit for bit,
    since the rows are added in the same order.

    The parameters have the names that they have in published checkpoints, so a state dict of
    the transformers layer can be loaded as it is, and the reverse.

    Parameters
    ----------
    vocab_size : int
        Number of tokens V, the rows of the token table.
    width : int
        Width D of every row.
    max_positions : int
        Rows of the position table: the longest sequence, special tokens included.
    n_segments : int
        Rows of the segment table.
    eps : float
        Added to the variance inside LayerNorm. BERT uses 1e-12, PyTorch's default is 1e-5.
    dropout : float
        Probability of zeroing a number in training.
    padding_idx : int, optional
        ID whose row of the token table gets no gradient from the lookup, or None.

    Raises
    ------
    ValueError
        A setting is out of its range.

    References
    ----------
    Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
    Understanding", 2019, section 3 and Figure 2.

    Examples
    --------
    >>> layer = BertEmbeddings(30522, 768)
    >>> layer(torch.tensor([[101, 2023, 102]])).shape
    torch.Size([1, 3, 768])
    """

    # How the layer and its models are called elsewhere. By name, since this package does not need
    # transformers to be installed.
    _layer_names: ClassVar[tuple[str, ...]] = ("BertEmbeddings",)
    _model_types: ClassVar[tuple[str, ...]] = ("bert",)
    _config_eps: ClassVar[float] = 1e-12
    _config_padding_idx: ClassVar[int] = 0

    def __init__(
        self,
        vocab_size: int,
        width: int,
        *,
        max_positions: int = 512,
        n_segments: int = 2,
        eps: float = 1e-12,
        dropout: float = 0.1,
        padding_idx: int | None = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        sizes = {
            "vocab_size": vocab_size,
            "width": width,
            "max_positions": max_positions,
            "n_segments": n_segments,
        }
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1; got {size}")
        if not eps >= 0:
            raise ValueError(f"eps must be at least 0; got {eps}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout must lie in 0..1; got {dropout}")
        if padding_idx is not None and not 0 <= padding_idx < vocab_size:
            raise ValueError(f"padding_idx must lie in 0..{vocab_size - 1}; got {padding_idx}")
        made: Any = {"device": device, "dtype": dtype}
        self.word_embeddings = nn.Embedding(vocab_size, width, padding_idx=padding_idx, **made)
        self.token_type_embeddings = nn.Embedding(n_segments, width, **made)
        self.position_embeddings = nn.Embedding(max_positions, width, **made)
        self.LayerNorm = nn.LayerNorm(width, eps=eps, **made)
        self.dropout = nn.Dropout(dropout)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start the three tables as BERT does, with a standard deviation of 0.02.

        The row of ``padding_idx`` starts as zeros, LayerNorm with weight 1 and bias 0.
        """
        for table in (self.word_embeddings, self.token_type_embeddings, self.position_embeddings):
            nn.init.normal_(table.weight, std=0.02)
        if self.word_embeddings.padding_idx is not None:
            with torch.no_grad():
                self.word_embeddings.weight[self.word_embeddings.padding_idx].zero_()
        self.LayerNorm.reset_parameters()

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        segment_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
        position_ids: Int[Tensor, "B S"] | Int[Tensor, "1 S"] | Int[Tensor, " S"] | None = None,
    ) -> Float[Tensor, "B S D"]:
        """Turn token IDs into the vectors that enter the first attention layer.

        Parameters
        ----------
        ids : Tensor
            Token IDs.
        segment_ids : Tensor, optional
            Which of the two texts each token belongs to, called ``token_type_ids`` by the
            tokenizer; one row serves every sample. Left out, every token has segment 0.
        position_ids : Tensor, optional
            The row of the position table for each token; one row serves every sample. Left
            out, the positions are 0, 1, 2, ... from the left.

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
        check_input(ids, segment_ids, position_ids, *self._sizes())
        if segment_ids is None:
            segment_ids = torch.zeros_like(ids)
        if position_ids is None:
            position_ids = torch.arange(ids.shape[1], device=ids.device)
        return self._add(self.word_embeddings(ids), segment_ids, position_ids)

    def _sizes(self) -> tuple[int, int, int]:
        segments, positions = self.token_type_embeddings, self.position_embeddings
        return (
            self.word_embeddings.num_embeddings,
            segments.num_embeddings,
            positions.num_embeddings,
        )

    def _add(self, tokens: Tensor, segment_ids: Tensor, position_ids: Tensor) -> Tensor:
        # The order of the two additions decides the last bit: token, segment, then position.
        rows = tokens + self.token_type_embeddings(segment_ids)
        rows = rows + self.position_embeddings(position_ids)
        vectors: Tensor = self.dropout(self.LayerNorm(rows))
        return vectors

    def fused(self) -> FusedBertEmbeddings:
        """A frozen copy for inference, faster and with the same result to the last bit.

        Returns
        -------
        FusedBertEmbeddings
            A layer without parameters that train. It does not follow later changes of this one.
        """
        from tokpos.bert_fused import FusedBertEmbeddings  # which needs this module

        return FusedBertEmbeddings(self)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        # Called by load_state_dict on its own shallow copy, so the caller's dict stays whole.
        for name in _COMPUTED:
            state_dict.pop(f"{prefix}{name}", None)
            state_dict.pop(f"{prefix}embeddings.{name}", None)
        for old, new in _TENSORFLOW_NAMES.items():
            if prefix + old in state_dict:
                state_dict[prefix + new] = state_dict.pop(prefix + old)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    @classmethod
    def from_transformers(cls: type[Layer], model: nn.Module) -> Layer:
        """Copy the embedding layer of a transformers model.

        Sizes, eps, dropout, dtype, device and training mode are those of the model. The weights
        are copies: training one layer does not change the other.

        Parameters
        ----------
        model : torch.nn.Module
            The model, or its ``embeddings``.

        Returns
        -------
        BertEmbeddings
            A layer that gives the same numbers.

        Raises
        ------
        TypeError
            The model's embedding layer is of another kind. BERT's and RoBERTa's have tables of
            the same names and count their positions differently.
        """
        source: Any = getattr(model, "embeddings", model)
        if all(kind.__name__ not in cls._layer_names for kind in type(source).__mro__):
            name = cls._layer_names[0]
            raise TypeError(
                f"model must be a transformers {name.removesuffix('Embeddings')}Model or its "
                f"{name}, got {type(model).__name__}"
            )
        weight = source.word_embeddings.weight
        layer = cls._empty(
            weight.device,
            weight.dtype,
            vocab_size=source.word_embeddings.num_embeddings,
            width=source.word_embeddings.embedding_dim,
            max_positions=source.position_embeddings.num_embeddings,
            n_segments=source.token_type_embeddings.num_embeddings,
            eps=source.LayerNorm.eps,
            dropout=source.dropout.p,
            padding_idx=source.word_embeddings.padding_idx,
        )
        layer.load_state_dict(source.state_dict())
        return layer.train(source.training)

    @classmethod
    def from_safetensors(cls: type[Layer], path: str | Path) -> Layer:
        """Load the embedding layer of a checkpoint, without the transformers library.

        Only the tensors of this layer are read. Sizes, eps and dropout come from the
        ``config.json`` beside the weights. The layer is in eval mode.

        Parameters
        ----------
        path : str or pathlib.Path
            A ``.safetensors`` file, or the folder that holds ``model.safetensors``.

        Returns
        -------
        BertEmbeddings
            The layer with the weights of the file, in the dtype of the file.

        Raises
        ------
        FileNotFoundError
            The weights or the ``config.json`` are missing.
        ValueError
            The config is of another kind of model or has no absolute positions, or the tensors
            are missing or not of the sizes that it names.
        """
        file = Path(path)
        if file.is_dir():
            file = file / "model.safetensors"
        config_file = file.with_name("config.json")
        for needed in (file, config_file):
            if not needed.is_file():
                raise FileNotFoundError(f"path: there is no file {needed}")
        settings = cls._settings(json.loads(config_file.read_text(encoding="utf-8")))
        tensors = _read_tensors(file)
        weight = tensors["word_embeddings.weight"]
        layer = cls._empty(weight.device, weight.dtype, **settings)
        try:
            layer.load_state_dict(tensors)
        except RuntimeError as error:
            raise ValueError(f"{file} does not fit its config.json: {error}") from error
        return layer.eval()

    @classmethod
    def _settings(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        kinds, kind = cls._model_types, config.get("model_type", cls._model_types[0])
        if kind not in kinds:
            allowed = " or ".join(map(repr, kinds))
            raise ValueError(f"config.json: model_type must be {allowed}; got {kind!r}")
        positions = config.get("position_embedding_type", "absolute")
        if positions != "absolute":
            raise ValueError(
                f"config.json: position_embedding_type must be 'absolute'; got {positions!r}"
            )
        sizes = {
            "vocab_size": "vocab_size",
            "width": "hidden_size",
            "max_positions": "max_position_embeddings",
            "n_segments": "type_vocab_size",
        }
        missing = [key for key in sizes.values() if key not in config]
        if missing:
            raise ValueError(f"config.json must give {', '.join(missing)}")
        return {name: config[key] for name, key in sizes.items()} | {
            "eps": config.get("layer_norm_eps", cls._config_eps),
            "dropout": config.get("hidden_dropout_prob", 0.1),
            "padding_idx": config.get("pad_token_id", cls._config_padding_idx),
        }

    @classmethod
    def _empty(
        cls: type[Layer], device: torch.device, dtype: torch.dtype, **settings: Any
    ) -> Layer:
        # Through the meta device: no random numbers are drawn for weights that get overwritten.
        return cls(**settings, device="meta", dtype=dtype).to_empty(device=device)


def _read_tensors(file: Path) -> dict[str, Tensor]:
    """Tensors of the embedding layer, by their names inside it, whatever model they stand in."""
    with from_extra("transformers"):
        from safetensors import safe_open

    mark = "word_embeddings.weight"
    with safe_open(str(file), framework="pt") as weights:
        names = list(weights.keys())
        prefixes = [name.removesuffix(mark) for name in names if name.endswith(mark)]
        if len(prefixes) != 1:
            raise ValueError(
                f"{file} must hold one tensor whose name ends in {mark}; got {len(prefixes)}"
            )
        prefix = prefixes[0]
        return {
            name.removeprefix(prefix): weights.get_tensor(name)
            for name in names
            if name.startswith(prefix)
        }
