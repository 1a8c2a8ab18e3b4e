"""Token and position: what happens between a sentence and the first attention layer.

Every public name stands in the table below and is imported when it is first used, so that
``import tokpos`` costs no more than ``import torch``. A function that has its module's name
(``lookup`` in ``tokpos.lookup``) is reached through the module alone: at this level the name
means the module, always.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokpos.alibi import Alibi, alibi_attention, alibi_bias, alibi_slopes
    from tokpos.attention import Attention
    from tokpos.bert import BertEmbeddings
    from tokpos.bert_fused import FusedBertEmbeddings
    from tokpos.bpe_training import train_bpe
    from tokpos.byte_bpe import ByteBPE, gpt2
    from tokpos.cache import KeyValueCache
    from tokpos.dot_product_attention import attend, attend_explicitly, attention_weights
    from tokpos.embedding import TokenEmbedding
    from tokpos.head import LanguageModelHead, check_tied, is_tied, retie, tie
    from tokpos.language_model import CausalLanguageModel
    from tokpos.learned import LearnedEncoding
    from tokpos.lookup import Cost, cost_of_lookup, cost_of_product, one_hot, one_hot_product
    from tokpos.position import PositionEncoding, ScoreTerms, offsets
    from tokpos.positions import (
        causal_mask,
        document_mask,
        documents_of_lengths,
        pad_left,
        positions_from_mask,
        positions_of_documents,
        positions_of_step,
    )
    from tokpos.roberta import FusedRobertaEmbeddings, RobertaEmbeddings, roberta_positions
    from tokpos.rope import RotaryEncoding, rotate, rotate_by_formula, rotation
    from tokpos.rope_axes import (
        MultiAxisRotaryEncoding,
        axes_rotation,
        axial_plan,
        grid_positions,
        section_plan,
    )
    from tokpos.rope_layout import convert_queries_and_keys, convert_rows, feature_order
    from tokpos.rope_scaling import scaled_frequencies
    from tokpos.shaw import ShawEncoding, clipped_offsets
    from tokpos.sinusoidal import SinusoidalEncoding, frequencies, sinusoidal_table, wavelengths
    from tokpos.sinusoidal_arrangements import (
        ConcatenatedEncoding,
        Tensor2TensorEncoding,
        sinusoidal_concatenated,
        tensor2tensor_frequencies,
        tensor2tensor_sinusoidal,
        to_concatenated,
        to_interleaved,
    )
    from tokpos.t5 import T5Bias, t5_bias, t5_bucket_starts, t5_buckets
    from tokpos.transformer_xl import (
        TransformerXLEncoding,
        distance_scores,
        relative_shift,
        two_way_shift,
    )
    from tokpos.vocabulary import Vocabulary, teaching_vocabulary
    from tokpos.wordpiece import WordPiece, bert_base_uncased

__version__ = "0.1.0"

__all__ = [
    "Alibi",
    "Attention",
    "BertEmbeddings",
    "ByteBPE",
    "CausalLanguageModel",
    "ConcatenatedEncoding",
    "Cost",
    "FusedBertEmbeddings",
    "FusedRobertaEmbeddings",
    "KeyValueCache",
    "LanguageModelHead",
    "LearnedEncoding",
    "MultiAxisRotaryEncoding",
    "PositionEncoding",
    "RobertaEmbeddings",
    "RotaryEncoding",
    "ScoreTerms",
    "ShawEncoding",
    "SinusoidalEncoding",
    "T5Bias",
    "Tensor2TensorEncoding",
    "TokenEmbedding",
    "TransformerXLEncoding",
    "Vocabulary",
    "WordPiece",
    "alibi_attention",
    "alibi_bias",
    "alibi_slopes",
    "attend",
    "attend_explicitly",
    "attention_weights",
    "axes_rotation",
    "axial_plan",
    "bert_base_uncased",
    "causal_mask",
    "check_tied",
    "clipped_offsets",
    "convert_queries_and_keys",
    "convert_rows",
    "cost_of_lookup",
    "cost_of_product",
    "distance_scores",
    "document_mask",
    "documents_of_lengths",
    "feature_order",
    "frequencies",
    "gpt2",
    "grid_positions",
    "is_tied",
    "offsets",
    "one_hot",
    "one_hot_product",
    "pad_left",
    "positions_from_mask",
    "positions_of_documents",
    "positions_of_step",
    "relative_shift",
    "retie",
    "roberta_positions",
    "rotate",
    "rotate_by_formula",
    "rotation",
    "scaled_frequencies",
    "section_plan",
    "sinusoidal_concatenated",
    "sinusoidal_table",
    "t5_bias",
    "t5_bucket_starts",
    "t5_buckets",
    "teaching_vocabulary",
    "tensor2tensor_frequencies",
    "tensor2tensor_sinusoidal",
    "tie",
    "to_concatenated",
    "to_interleaved",
    "train_bpe",
    "two_way_shift",
    "wavelengths",
]

_HOME = {
    "Alibi": "alibi",
    "Attention": "attention",
    "BertEmbeddings": "bert",
    "ByteBPE": "byte_bpe",
    "CausalLanguageModel": "language_model",
    "ConcatenatedEncoding": "sinusoidal_arrangements",
    "Cost": "lookup",
    "FusedBertEmbeddings": "bert_fused",
    "FusedRobertaEmbeddings": "roberta",
    "KeyValueCache": "cache",
    "LanguageModelHead": "head",
    "LearnedEncoding": "learned",
    "MultiAxisRotaryEncoding": "rope_axes",
    "PositionEncoding": "position",
    "RobertaEmbeddings": "roberta",
    "RotaryEncoding": "rope",
    "ScoreTerms": "position",
    "ShawEncoding": "shaw",
    "SinusoidalEncoding": "sinusoidal",
    "T5Bias": "t5",
    "Tensor2TensorEncoding": "sinusoidal_arrangements",
    "TokenEmbedding": "embedding",
    "TransformerXLEncoding": "transformer_xl",
    "Vocabulary": "vocabulary",
    "WordPiece": "wordpiece",
    "alibi_attention": "alibi",
    "alibi_bias": "alibi",
    "alibi_slopes": "alibi",
    "attend": "dot_product_attention",
    "attend_explicitly": "dot_product_attention",
    "attention_weights": "dot_product_attention",
    "axes_rotation": "rope_axes",
    "axial_plan": "rope_axes",
    "bert_base_uncased": "wordpiece",
    "causal_mask": "positions",
    "check_tied": "head",
    "clipped_offsets": "shaw",
    "convert_queries_and_keys": "rope_layout",
    "convert_rows": "rope_layout",
    "cost_of_lookup": "lookup",
    "cost_of_product": "lookup",
    "distance_scores": "transformer_xl",
    "document_mask": "positions",
    "documents_of_lengths": "positions",
    "feature_order": "rope_layout",
    "frequencies": "sinusoidal",
    "gpt2": "byte_bpe",
    "grid_positions": "rope_axes",
    "is_tied": "head",
    "offsets": "position",
    "one_hot": "lookup",
    "one_hot_product": "lookup",
    "pad_left": "positions",
    "positions_from_mask": "positions",
    "positions_of_documents": "positions",
    "positions_of_step": "positions",
    "relative_shift": "transformer_xl",
    "retie": "head",
    "roberta_positions": "roberta",
    "rotate": "rope",
    "rotate_by_formula": "rope",
    "rotation": "rope",
    "scaled_frequencies": "rope_scaling",
    "section_plan": "rope_axes",
    "sinusoidal_concatenated": "sinusoidal_arrangements",
    "sinusoidal_table": "sinusoidal",
    "t5_bias": "t5",
    "t5_bucket_starts": "t5",
    "t5_buckets": "t5",
    "teaching_vocabulary": "vocabulary",
    "tensor2tensor_frequencies": "sinusoidal_arrangements",
    "tensor2tensor_sinusoidal": "sinusoidal_arrangements",
    "tie": "head",
    "to_concatenated": "sinusoidal_arrangements",
    "to_interleaved": "sinusoidal_arrangements",
    "train_bpe": "bpe_training",
    "two_way_shift": "transformer_xl",
    "wavelengths": "sinusoidal",
}

_MODULES = {
    *_HOME.values(),
    "bpe_merge",
    "byte_letters",
    "figures",
    "results",
    "text_cleaning",
    "tokenization",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tokpos.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"tokpos.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tokpos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
