"""What every public function and class says to a bad input.

TypeError for a dtype, ValueError for a shape or a setting, IndexError for an ID or a position. The
message holds the argument's name, what came and what is allowed.
"""

# A table of cases, one a line.
# ruff: noqa: E501

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import partial
from typing import NamedTuple

import pytest
import torch
from torch import nn

import tokpos
from tests.library.every_encoding import HEAD_WIDTH, HEADS, WIDTH
from tokpos.alibi import Alibi, alibi_attention, alibi_bias, alibi_slopes
from tokpos.attention import Attention
from tokpos.bert import BertEmbeddings
from tokpos.bpe_merge import merge, merge_steps
from tokpos.bpe_training import choose, count_pairs, count_words, merge_pair, train_bpe
from tokpos.byte_bpe import ByteBPE
from tokpos.byte_bpe import words as byte_words
from tokpos.byte_letters import to_bytes, to_letters
from tokpos.cache import KeyValueCache, keep
from tokpos.dot_product_attention import attend, attend_explicitly, attention_weights
from tokpos.embedding import TokenEmbedding
from tokpos.head import LanguageModelHead, check_tied, is_tied, retie, tie
from tokpos.language_model import Block, CausalLanguageModel
from tokpos.learned import LearnedEncoding
from tokpos.length import losses, train
from tokpos.lookup import (
    check_ids,
    cost_of_lookup,
    cost_of_product,
    lookup,
    one_hot,
    one_hot_product,
)
from tokpos.position import check_head_positions, check_positions, offsets, over_heads
from tokpos.positions import (
    causal_mask,
    document_mask,
    documents_of_lengths,
    pad_left,
    positions_from_mask,
    positions_of_documents,
    positions_of_step,
)
from tokpos.roberta import RobertaEmbeddings, roberta_positions
from tokpos.rope import RotaryEncoding, rotate, rotate_by_formula, rotation
from tokpos.rope_axes import (
    MultiAxisRotaryEncoding,
    axes_rotation,
    axial_plan,
    grid_positions,
    section_plan,
)
from tokpos.rope_layout import convert_queries_and_keys, convert_rows, feature_order
from tokpos.rope_scaling import check_scaling, scaled_frequencies
from tokpos.shaw import (
    ShawEncoding,
    clipped_offsets,
    shaw_scores_by_pairs,
    shaw_values_by_pairs,
)
from tokpos.sinusoidal import (
    SinusoidalEncoding,
    check_input,
    frequencies,
    sinusoidal,
    sinusoidal_table,
    wavelengths,
    waves,
)
from tokpos.sinusoidal_arrangements import (
    Tensor2TensorEncoding,
    sinusoidal_concatenated,
    tensor2tensor_frequencies,
    tensor2tensor_sinusoidal,
    to_concatenated,
    to_interleaved,
)
from tokpos.t5 import T5Bias, t5_bias, t5_bucket_starts, t5_buckets
from tokpos.text_cleaning import clean, lower, place, space_cjk, strip_accents
from tokpos.text_cleaning import words as bert_words
from tokpos.tokenization import Tokenization, pad, tensors
from tokpos.transformer_xl import (
    TransformerXLEncoding,
    distance_scores,
    distance_scores_by_pairs,
    relative_shift,
    two_way_shift,
)
from tokpos.vocabulary import Vocabulary
from tokpos.wordpiece import WordPiece

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

S = 5
FLOATS = torch.arange(5.0)
PLACES = torch.arange(S)
FEW = torch.arange(3)
X = torch.zeros(2, S, WIDTH)
Q = torch.zeros(2, HEADS, S, HEAD_WIDTH)
TABLE = torch.zeros(7, 3)
IDS = torch.tensor([[1, 2, 3]])
FAR = torch.tensor([[1, 7]])


def scores(
    way: str, q: torch.Tensor, k: torch.Tensor, visible: torch.Tensor | None = None
) -> object:
    if way == "attention_weights":
        return attention_weights(q, k, visible=visible)
    return {"attend": attend, "attend_explicitly": attend_explicitly}[way](q, k, k, visible=visible)


class Row(NamedTuple):
    """A bad call, the error it must raise, and words that the message must hold."""

    name: str
    call: Callable[[], object]
    error: type[Exception]
    words: tuple[str, ...]


ROWS: list[Row] = []


def bad(name: str, call: Callable[[], object], error: type[Exception], *words: str) -> None:
    ROWS.append(Row(name, call, error, words))


# fmt: off
# Lookup, and the embedding that is one
bad("lookup.check_ids", lambda: check_ids([1], 7), TypeError, "ids", "list", "int64")
bad("lookup.check_ids", lambda: check_ids(torch.tensor([-1]), 7), IndexError, "ids", "-1", "0..6")
bad("lookup.lookup", lambda: lookup(FAR, TABLE), IndexError, "ids", "7", "0..6", "[0, 1]")
bad("lookup.lookup", lambda: lookup(FLOATS, TABLE), TypeError, "ids", "float32", "int64")
bad("lookup.lookup", lambda: lookup(torch.tensor([]), TABLE), TypeError, "ids", "empty", "dtype")
bad("lookup.lookup", lambda: lookup(IDS, torch.zeros(7)), ValueError, "table", "[7]", "[V, D]")
bad("lookup.lookup", lambda: lookup(IDS, TABLE.long()), TypeError, "table", "int64", "floating")
bad("lookup.one_hot", lambda: one_hot(FAR, 7), IndexError, "ids", "7", "0..6")
bad("lookup.one_hot", lambda: one_hot(IDS, 0), ValueError, "size", "0", "at least 1")
bad("lookup.one_hot_product", lambda: one_hot_product(FAR, TABLE), IndexError, "ids", "7", "0..6")
bad("lookup.cost_of_lookup", lambda: cost_of_lookup(-1, 7, 3), ValueError, "n_ids", "-1", "0")
bad("lookup.cost_of_product", lambda: cost_of_product(1, 0, 3), ValueError, "size", "0", "1")
bad("embedding.TokenEmbedding", lambda: TokenEmbedding(0, 3), ValueError, "size", "0", "at least 1")
bad("embedding.TokenEmbedding", lambda: TokenEmbedding(7, 3, std=-1.0), ValueError, "std", "-1")
bad("embedding.TokenEmbedding", lambda: TokenEmbedding(7, 3, padding_idx=-1), ValueError, "padding_idx", "-1", "0..6")
bad("embedding.TokenEmbedding.forward", lambda: TokenEmbedding(7, 3)(FAR), IndexError, "ids", "7", "0..6", "[0, 1]")
bad("embedding.TokenEmbedding.from_table", lambda: TokenEmbedding.from_table(FLOATS), ValueError, "table", "[5]", "[V, D]")
bad("embedding.TokenEmbedding.from_pretrained", lambda: TokenEmbedding.from_pretrained(TABLE), NotImplementedError, "from_pretrained", "from_table")

# BERT and RoBERTa
bad("bert.BertEmbeddings", lambda: BertEmbeddings(0, 4), ValueError, "vocab_size", "0", "at least 1")
bad("bert.BertEmbeddings", lambda: BertEmbeddings(9, 4, eps=-1), ValueError, "eps", "-1")
bad("bert.BertEmbeddings", lambda: BertEmbeddings(9, 4, dropout=2), ValueError, "dropout", "2", "0..1")
bad("bert.BertEmbeddings.forward", lambda: BertEmbeddings(7, 4)(FAR), IndexError, "ids", "7", "0..6")
bad("bert.BertEmbeddings.forward", lambda: BertEmbeddings(7, 4)(IDS[0]), ValueError, "ids", "[3]", "[B, S]")
bad("bert.BertEmbeddings.forward", lambda: BertEmbeddings(7, 4, max_positions=2)(IDS), ValueError, "ids", "3", "2", "cut")
bad("bert.BertEmbeddings.forward", lambda: BertEmbeddings(7, 4)(IDS, segment_ids=IDS), IndexError, "segment_ids", "2", "0..1")
bad("bert.BertEmbeddings.from_transformers", lambda: BertEmbeddings.from_transformers(nn.Linear(2, 2)), TypeError, "model", "Linear", "BertModel")
bad("bert.BertEmbeddings.from_safetensors", lambda: BertEmbeddings.from_safetensors("nowhere"), FileNotFoundError, "path", "nowhere")
bad("bert_fused.FusedBertEmbeddings.forward", lambda: BertEmbeddings(7, 4).eval().fused()(FAR), IndexError, "ids", "7", "0..6")
bad("roberta.RobertaEmbeddings", lambda: RobertaEmbeddings(0, 4), ValueError, "vocab_size", "0", "at least 1")
bad("roberta.RobertaEmbeddings.forward", lambda: RobertaEmbeddings(7, 4)(FAR), IndexError, "ids", "7", "0..6")
bad("roberta.RobertaEmbeddings.forward", lambda: RobertaEmbeddings(9, 4, max_positions=4)(IDS), ValueError, "3", "2")
bad("roberta.RobertaEmbeddings.from_vectors", lambda: RobertaEmbeddings(7, 4).from_vectors(X), ValueError, "vectors", "32", "4")
bad("roberta.FusedRobertaEmbeddings.forward", lambda: RobertaEmbeddings(7, 4).eval().fused()(FAR), IndexError, "ids", "7", "0..6")
bad("roberta.roberta_positions", lambda: roberta_positions(FLOATS, 1), TypeError, "mask", "float32")

# Head
bad("head.LanguageModelHead", lambda: LanguageModelHead(0, 3), ValueError, "size", "0", "at least 1")
bad("head.LanguageModelHead.forward", lambda: LanguageModelHead(7, 3)(X), ValueError, "x", "32", "3")
bad("head.LanguageModelHead.forward", lambda: LanguageModelHead(7, 3)(IDS), TypeError, "x", "int64", "floating")
bad("head.tie", lambda: tie(nn.Embedding(7, 3), LanguageModelHead(6, 3)), ValueError, "[7, 3]", "[6, 3]", "[V, D]")
bad("head.tie", lambda: tie(nn.ReLU(), LanguageModelHead(6, 3)), TypeError, "embedding", "weight", "ReLU")
bad("head.is_tied", lambda: is_tied(nn.Embedding(7, 3), nn.ReLU()), TypeError, "head", "weight", "ReLU")
bad("head.check_tied", lambda: check_tied(nn.Embedding(7, 3), LanguageModelHead(7, 3)), RuntimeError, "embedding", "head", "retie")
bad("head.retie", lambda: retie(nn.Embedding(7, 3), LanguageModelHead(7, 3), keep="both"), ValueError, "keep", "both", "embedding")

# Positions
bad("position.check_positions", lambda: check_positions(FLOATS, X), TypeError, "positions", "float32", "integers")
bad("position.check_positions", lambda: check_positions(FEW, X), ValueError, "positions", "3", "5")
bad("position.check_head_positions", lambda: check_head_positions(FEW, Q), ValueError, "positions", "[3]", "[5]")
bad("position.check_head_positions", lambda: check_head_positions(PLACES, X.mT[..., :4].transpose(0, 1)), ValueError, "[..., H, S, d]")
bad("position.offsets", lambda: offsets(FLOATS, PLACES), TypeError, "query_positions", "float32", "integers")
bad("position.offsets", lambda: offsets(PLACES, torch.tensor(3)), ValueError, "key_positions", "[..., S]", "single number")
bad("position.offsets", lambda: offsets(torch.zeros(2, 3).long(), torch.zeros(4, 3).long()), ValueError, "query_positions", "[2, 3]", "[4, 3]")
bad("position.over_heads", lambda: over_heads(torch.tensor(3)), ValueError, "positions", "[..., S]", "single number")
bad("positions.positions_from_mask", lambda: positions_from_mask(FLOATS), TypeError, "mask", "float32", "integers")
bad("positions.positions_from_mask", lambda: positions_from_mask(IDS), ValueError, "mask", "2", "0")
bad("positions.positions_of_step", lambda: positions_of_step(-1), ValueError, "past", "-1")
bad("positions.positions_of_step", lambda: positions_of_step(FLOATS), TypeError, "past", "float32")
bad("positions.documents_of_lengths", lambda: documents_of_lengths([3, 4], size=6), ValueError, "lengths", "7", "6")
bad("positions.documents_of_lengths", lambda: documents_of_lengths(IDS), ValueError, "lengths", "[N]", "[1, 3]")
bad("positions.documents_of_lengths", lambda: documents_of_lengths(torch.tensor(3)), ValueError, "lengths", "[N]", "[]")
bad("positions.positions_of_documents", lambda: positions_of_documents(torch.tensor([0, 1, 0])), ValueError, "documents", "0, 1, 0")
bad("positions.document_mask", lambda: document_mask(FLOATS), TypeError, "query_documents", "float32")
bad("positions.causal_mask", lambda: causal_mask(FLOATS, PLACES), TypeError, "query_positions", "float32")
bad("positions.pad_left", lambda: pad_left([]), ValueError, "rows", "none")
bad("learned.LearnedEncoding", lambda: LearnedEncoding(0, 4), ValueError, "length", "0", "at least 1")
bad("learned.LearnedEncoding.into_input", lambda: LearnedEncoding(4, WIDTH)(X), ValueError, "5", "4")
bad("learned.LearnedEncoding.into_input", lambda: LearnedEncoding(4, WIDTH)(X, PLACES), IndexError, "positions", "4", "0..3")
bad("sinusoidal.frequencies", lambda: frequencies(5), ValueError, "width", "5", "even")
bad("sinusoidal.frequencies", lambda: frequencies(4, 1.0), ValueError, "base", "1.0", "above 1")
bad("sinusoidal.wavelengths", lambda: wavelengths(5), ValueError, "width", "5", "even")
bad("sinusoidal.sinusoidal", lambda: sinusoidal(FLOATS.half(), 4), TypeError, "positions", "float16")
bad("sinusoidal.sinusoidal", lambda: sinusoidal(PLACES, 4, dtype=torch.int32), TypeError, "dtype", "int32")
bad("sinusoidal.sinusoidal_table", lambda: sinusoidal_table(-1, 4), ValueError, "length", "-1")
bad("sinusoidal.SinusoidalEncoding", lambda: SinusoidalEncoding(5), ValueError, "width", "5", "even")
bad("sinusoidal.check_input", lambda: check_input(X, None, 4), ValueError, "x", "32", "4")
bad("sinusoidal.SinusoidalEncoding.into_input", lambda: SinusoidalEncoding(4)(X), ValueError, "x", "32", "4")
bad("sinusoidal_arrangements.to_concatenated", lambda: to_concatenated(FLOATS), ValueError, "x", "5", "even")
bad("sinusoidal_arrangements.to_interleaved", lambda: to_interleaved(FLOATS), ValueError, "x", "5", "even")
bad("sinusoidal_arrangements.sinusoidal_concatenated", lambda: sinusoidal_concatenated(PLACES, 5), ValueError, "width", "5", "even")
bad("sinusoidal_arrangements.tensor2tensor_frequencies", lambda: tensor2tensor_frequencies(1), ValueError, "width", "1")
bad("sinusoidal_arrangements.tensor2tensor_sinusoidal", lambda: tensor2tensor_sinusoidal(FLOATS.half(), 4), TypeError, "positions", "float16")
bad("sinusoidal_arrangements.Tensor2TensorEncoding", lambda: Tensor2TensorEncoding(1), ValueError, "width", "1")
bad("sinusoidal_arrangements.Tensor2TensorEncoding.into_input", lambda: Tensor2TensorEncoding(4)(X), ValueError, "x", "32", "4")

# RoPE
PLAN, GRID = axial_plan(HEAD_WIDTH, 2, spacing="repeated"), torch.zeros(2, S).long()
TURN = rotation(PLACES, frequencies(HEAD_WIDTH))
bad("rope.rotation", lambda: rotation(FLOATS.half(), frequencies(4)), TypeError, "positions", "float16")
bad("rope.rotate", lambda: rotate(Q, TURN, "pairs"), ValueError, "layout", "pairs", "interleaved")
bad("rope.rotate", lambda: rotate(Q[..., :4], TURN, "interleaved"), ValueError, "4", "8")
bad("rope.rotate_by_formula", lambda: rotate_by_formula(Q, TURN, "pairs"), ValueError, "layout", "pairs")
bad("rope.RotaryEncoding", lambda: RotaryEncoding(5, layout="interleaved"), ValueError, "width", "5", "even")
bad("rope.RotaryEncoding", lambda: RotaryEncoding(4, layout="half"), ValueError, "layout", "half", "half-split")
bad("rope.RotaryEncoding", lambda: RotaryEncoding(4, layout="interleaved", rotary_width=3), ValueError, "rotary_width", "3", "even")
bad("rope.RotaryEncoding.into_queries_and_keys", lambda: RotaryEncoding(4, layout="interleaved")(Q, Q, PLACES, PLACES), ValueError, "8", "4")
bad("rope.RotaryEncoding.into_queries_and_keys", lambda: RotaryEncoding(8, layout="interleaved")(Q.mT.mT.transpose(1, 2), Q, PLACES, PLACES), ValueError, "query_positions", "[..., S, H, d]")
bad("rope.RotaryEncoding.into_queries_and_keys", lambda: RotaryEncoding(8, layout="interleaved")(Q, Q, PLACES, FLOATS), TypeError, "key_positions", "float32")
bad("rope_layout.feature_order", lambda: feature_order(5, "interleaved", "half-split"), ValueError, "width", "5", "even")
bad("rope_layout.convert_rows", lambda: convert_rows(torch.zeros(12, 3), 2, 4, source="interleaved", target="half-split"), ValueError, "12", "8")
bad("rope_layout.convert_queries_and_keys", lambda: convert_queries_and_keys(torch.zeros(16, 3), torch.zeros(16, 3), 4, 2, 4, source="interleaved", target="half-split"), ValueError, "16", "8")
bad("rope_scaling.scaled_frequencies", lambda: scaled_frequencies(8, scaling={"rope_type": "magic"}), ValueError, "magic", "linear")
bad("rope_scaling.check_scaling", lambda: check_scaling({"rope_type": "linear", "factor": 2.0, "speed": 1}), ValueError, "speed")
bad("rope_axes.axial_plan", lambda: axial_plan(6, 2, spacing="repeated"), ValueError, "6")
bad("rope_axes.section_plan", lambda: section_plan([], interleaved=False), ValueError, "sections")
bad("rope_axes.grid_positions", lambda: grid_positions(-1, 2), ValueError, "-1")

# Terms beside the scores
bad("alibi.alibi_slopes", lambda: alibi_slopes(0), ValueError, "heads", "0", "at least 1")
bad("alibi.alibi_bias", lambda: alibi_bias(FLOATS, PLACES, alibi_slopes(4)), TypeError, "query_positions", "float32")
bad("alibi.alibi_attention", lambda: alibi_attention(Q, Q, Q, alibi_slopes(3)), ValueError, "q", "3", "4")
bad("alibi.Alibi", lambda: Alibi(0), ValueError, "heads", "0", "at least 1")
bad("alibi.Alibi.attend_in_order", lambda: Alibi(3).attend_in_order(Q, Q, Q), ValueError, "q", "3", "4")
bad("alibi.Alibi.into_scores", lambda: Alibi(3).into_scores(Q, PLACES, PLACES), ValueError, "q", "3", "4")
bad("t5.t5_bucket_starts", lambda: t5_bucket_starts(1), ValueError, "buckets", "1")
bad("t5.t5_buckets", lambda: t5_buckets(FLOATS), TypeError, "offset", "float32")
bad("t5.t5_bias", lambda: t5_bias(torch.zeros(7), 3, 3), ValueError, "table", "[7]")
bad("t5.T5Bias", lambda: T5Bias(0), ValueError, "heads", "0", "at least 1")
bad("t5.T5Bias.from_table", lambda: T5Bias.from_table(torch.zeros(7)), ValueError, "table", "[7]")
bad("t5.T5Bias.into_scores", lambda: T5Bias(3).into_scores(Q, PLACES, PLACES), ValueError, "q", "3", "4")
bad("shaw.clipped_offsets", lambda: clipped_offsets(FLOATS, 2), TypeError, "offset", "float32")
VECTORS, PAIRS = torch.zeros(7, HEAD_WIDTH), torch.zeros(S, S).long()
bad("shaw.shaw_scores_by_pairs", lambda: shaw_scores_by_pairs(Q, VECTORS, PAIRS.float()), TypeError, "offset", "float32", "integers")
bad("shaw.shaw_scores_by_pairs", lambda: shaw_scores_by_pairs(Q, VECTORS[1:], PAIRS), ValueError, "vectors", "[6, 8]", "2k + 1")
bad("shaw.shaw_scores_by_pairs", lambda: shaw_scores_by_pairs(Q[..., :4], VECTORS, PAIRS), ValueError, "q", "[2, 4, 5, 4]", "8")
bad("shaw.shaw_scores_by_pairs", lambda: shaw_scores_by_pairs(Q, VECTORS, PAIRS[:3]), ValueError, "offset", "[3, 5]", "5")
bad("shaw.shaw_scores_by_pairs", lambda: shaw_scores_by_pairs(Q, VECTORS, PAIRS.expand(3, S, S)), ValueError, "offset", "[3, 5, 5]", "2")
bad("shaw.shaw_values_by_pairs", lambda: shaw_values_by_pairs(Q @ Q.mT, VECTORS, PAIRS.float()), TypeError, "offset", "float32", "integers")
bad("shaw.shaw_values_by_pairs", lambda: shaw_values_by_pairs(Q @ Q.mT, VECTORS, PAIRS[:, :3]), ValueError, "offset", "[5, 3]", "[5, 5]")
bad("shaw.shaw_values_by_pairs", lambda: shaw_values_by_pairs(PAIRS.double(), VECTORS, PAIRS), ValueError, "weights", "[5, 5]", "[..., H, S_query, S_key]")
bad("shaw.ShawEncoding", lambda: ShawEncoding(0), ValueError, "width", "0", "at least 1")
bad("shaw.ShawEncoding.into_scores", lambda: ShawEncoding(4).into_scores(Q, PLACES, PLACES), ValueError, "q", "4", "8")
bad("shaw.ShawEncoding.into_values", lambda: ShawEncoding(8, values=True).into_values(Q @ Q.mT, FEW, PLACES), ValueError, "query_positions", "3", "5")
bad("transformer_xl.relative_shift", lambda: relative_shift(FLOATS), ValueError, "x", "[5]")
bad("transformer_xl.two_way_shift", lambda: two_way_shift(torch.zeros(5, 3)), ValueError, "x", "[5, 3]", "no more queries")
PROJECTION = torch.zeros(HEADS, HEAD_WIDTH, WIDTH)
for name, function in (("distance_scores", distance_scores), ("distance_scores_by_pairs", distance_scores_by_pairs)):
    bad(f"transformer_xl.{name}", partial(function, Q, PROJECTION[:3], PLACES, PLACES), ValueError, "q", "3", "4")
    bad(f"transformer_xl.{name}", partial(function, Q, PROJECTION[..., 1:], PLACES, PLACES), ValueError, "projection", "[4, 8, 31]", "even")
    bad(f"transformer_xl.{name}", partial(function, Q, PROJECTION, FEW, PLACES), ValueError, "query_positions", "[3]", "[5]")
    bad(f"transformer_xl.{name}", partial(function, Q, PROJECTION, PLACES, FLOATS), TypeError, "key_positions", "float32", "integers")
bad("transformer_xl.TransformerXLEncoding", lambda: TransformerXLEncoding(0, 8), ValueError, "heads", "0", "at least 1")
bad("transformer_xl.TransformerXLEncoding.into_scores", lambda: TransformerXLEncoding(3, 8, 24).into_scores(Q, PLACES, PLACES), ValueError, "q", "3", "4")
bad("transformer_xl.TransformerXLEncoding.into_queries_and_keys", lambda: TransformerXLEncoding(3, 8, 24).into_queries_and_keys(Q, Q, PLACES, PLACES), ValueError, "q", "3", "4")

# Attention, cache, model
KV = KeyValueCache(Q, Q, PLACES)
LAYER = Attention(WIDTH, HEADS, causal=True)
MODEL = CausalLanguageModel(7, WIDTH, 2, HEADS)
for way in ("attention_weights", "attend", "attend_explicitly"):
    bad(f"dot_product_attention.{way}", partial(scores, way, Q, Q[..., :4]), ValueError, "q and k", "4", "8")
    bad(f"dot_product_attention.{way}", partial(scores, way, Q, Q[:, :3]), ValueError, "heads", "4", "3")
    bad(f"dot_product_attention.{way}", partial(scores, way, Q, Q, torch.ones(S, S)), TypeError, "visible", "float32", "bool")
    bad(f"dot_product_attention.{way}", partial(scores, way, Q, Q, torch.ones(S, 3).bool()), ValueError, "visible", "[5, 3]", "[2, 4, 5, 5]")
bad("attention.Attention", lambda: Attention(30, 4), ValueError, "width", "30", "4")
bad("attention.Attention", lambda: Attention(0, 4), ValueError, "width", "0", "at least 1")
bad("attention.Attention", lambda: Attention(32, 4, n_kv_heads=3), ValueError, "n_kv_heads", "3", "4")
bad("attention.Attention", lambda: Attention(32, 4, nn.ReLU()), TypeError, "encoding", "ReLU", "PositionEncoding")
bad("attention.Attention.forward", lambda: LAYER(X[..., :4]), ValueError, "x", "4", "[..., S, 32]")
bad("attention.Attention.forward", lambda: LAYER(X.long()), TypeError, "x", "int64", "floating")
bad("attention.Attention.forward", lambda: LAYER(X, FLOATS), TypeError, "positions", "float32", "integers")
bad("attention.Attention.forward", lambda: LAYER(X, FEW), ValueError, "positions", "3", "5")
bad("attention.Attention.forward", lambda: LAYER(X, mask=torch.ones(S, S)), TypeError, "mask", "float32", "bool")
bad("attention.Attention.forward", lambda: LAYER(X, mask=torch.ones(S, 3).bool()), ValueError, "mask", "[5, 3]", "[2, 5, 5]")
bad("attention.Attention.forward", lambda: LAYER(X, padding_mask=torch.ones(2, S)), TypeError, "padding_mask", "float32", "integers")
bad("attention.Attention.forward", lambda: LAYER(X, padding_mask=torch.ones(2, 3).bool()), ValueError, "padding_mask", "[2, 3]", "[2, 5]")
bad("attention.Attention.step", lambda: LAYER.step(X, None, FEW), ValueError, "positions", "3", "5")
bad("attention.Attention.step", lambda: LAYER.step(X[:1], KV, PLACES), ValueError, "new.keys", "[1, 4, 5, 8]", "[2, 4, 'S', 8]")
bad("cache.KeyValueCache.extended", lambda: KV.extended(KeyValueCache(Q, Q[..., :4], PLACES)), ValueError, "new.values", "4", "8")
bad("cache.keep", lambda: keep([], KV, KeyValueCache(Q[:1], Q[:1], PLACES)), ValueError, "new.keys", "[1, 4, 5, 8]", "[2, 4, 'S', 8]")
bad("language_model.Block", lambda: Block(30, 4), ValueError, "width", "30", "4")
bad("language_model.Block", lambda: Block(32, 4, nn.ReLU()), TypeError, "encoding", "ReLU", "PositionEncoding")
bad("language_model.Block.forward", lambda: Block(32, 4)(X, FEW), ValueError, "positions", "3", "5")
bad("language_model.CausalLanguageModel", lambda: CausalLanguageModel(0, 32, 2, 4), ValueError, "vocab_size", "0", "at least 1")
bad("language_model.CausalLanguageModel", lambda: CausalLanguageModel(7, 32, 0, 4), ValueError, "n_layers", "0", "at least 1")
bad("language_model.CausalLanguageModel", lambda: CausalLanguageModel(7, 32, 2, 4, "rope"), TypeError, "encoding", "str", "PositionEncoding")
bad("language_model.CausalLanguageModel", lambda: CausalLanguageModel(7, 32, 2, 4, nn.ReLU), TypeError, "encoding", "ReLU", "PositionEncoding")
bad("language_model.CausalLanguageModel.forward", lambda: MODEL(FAR), IndexError, "ids", "7", "0..6")
bad("language_model.CausalLanguageModel.forward", lambda: MODEL(FLOATS), TypeError, "ids", "float32", "int64")
bad("language_model.CausalLanguageModel.forward", lambda: MODEL(torch.tensor(1)), ValueError, "ids", "[..., S]", "single number")
bad("language_model.CausalLanguageModel.forward", lambda: MODEL(IDS, PLACES), ValueError, "positions", "5", "3")
bad("language_model.CausalLanguageModel.forward", lambda: MODEL(IDS, exchanges=[]), ValueError, "exchanges", "0", "2")
bad("language_model.CausalLanguageModel.step", lambda: MODEL.step(IDS, [KV], FEW), ValueError, "caches", "1", "2")
bad("language_model.CausalLanguageModel.step", lambda: MODEL.step(FAR, None, torch.arange(2)), IndexError, "ids", "7", "0..6")
bad("language_model.CausalLanguageModel.generate", lambda: MODEL.generate(FAR, 3), IndexError, "ids", "7", "0..6")
bad("language_model.CausalLanguageModel.generate", lambda: MODEL.generate(IDS.float(), 3), TypeError, "ids", "float32", "int64")
bad("language_model.CausalLanguageModel.generate", lambda: MODEL.generate(IDS, 3, padding_mask=torch.ones(1, 3)), TypeError, "mask", "float32", "integers")
bad("language_model.CausalLanguageModel.generate", lambda: MODEL.generate(IDS[0], 3), ValueError, "ids", "[3]", "[B, S]")
bad("language_model.CausalLanguageModel.generate", lambda: MODEL.generate(IDS, -1), ValueError, "n_tokens", "-1")
bad("language_model.CausalLanguageModel.generate", lambda: MODEL.generate(IDS, 1, padding_mask=torch.tensor([[1, 1, 0]])), ValueError, "padding_mask", "[0]", "left")
bad("language_model.CausalLanguageModel.generate", lambda: MODEL.generate(IDS, 1, padding_mask=torch.ones(3).long()), ValueError, "padding_mask", "[3]", "[1, 3]")

bad("length.train", lambda: train("copy", "none", 0), ValueError, "task", "copy", "spelling", "recall")
bad("length.train", lambda: train("recall", "rotary", 0), ValueError, "encoding", "rotary", "rope")
bad("length.losses", lambda: losses(MODEL, "copy", 0), ValueError, "task", "copy", "spelling")

# Tokenizers
WORDS = Vocabulary(["<PAD>", "<UNK>", "cat"])
bad("vocabulary.Vocabulary", lambda: Vocabulary(["cat", "cat", "<UNK>", "<PAD>"]), ValueError, "tokens", "cat")
bad("vocabulary.Vocabulary.token", lambda: WORDS.token(9), IndexError, "9", "0..2")
bad("vocabulary.Vocabulary.tokens", lambda: WORDS.tokens([9]), IndexError, "9", "0..2")
bad("vocabulary.Vocabulary.encode_batch", lambda: WORDS.encode_batch(["cat"], side="up"), ValueError, "side", "up", "left")
bad("tokenization.pad", lambda: pad([], "<PAD>", 0, side="up"), ValueError, "side", "up", "left")
bad("bpe_training.train_bpe", lambda: train_bpe(["a"], -1), ValueError, "merges", "-1")

bad("tokenization.Tokenization", lambda: Tokenization(["a"], [], [], [], []), ValueError, "lists", "length", "1")
bad("tokenization.tensors", lambda: tensors([WORDS.encode("cat"), WORDS.encode("cat cat")]), ValueError, "batch", "[1, 2]")
bad("vocabulary.Vocabulary.id", lambda: WORDS.id(3), TypeError, "token", "int", "str")
bad("vocabulary.Vocabulary.encode_batch", lambda: WORDS.encode_batch("cat"), TypeError, "texts", "str", "list")
bad("vocabulary.Vocabulary.ids", lambda: WORDS.ids("cat"), TypeError, "tokens", "list")
bad("vocabulary.Vocabulary.split", lambda: WORDS.split(3), TypeError, "text", "int", "str")
bad("vocabulary.Vocabulary.encode", lambda: WORDS.encode(3), TypeError, "text", "int", "str")
BYTES = train_bpe(["aa aa"], 1, level="bytes").tokenizer()
bad("bpe_training.Training.cut", lambda: train_bpe(["aa"], 1).cut(3), TypeError, "word", "int", "str")
bad("bpe_training.Training.tokenizer", lambda: train_bpe(["aa"], 1).tokenizer(), ValueError, "level", "characters", "bytes")
bad("bpe_training.count_words", lambda: count_words(["a"], level="x"), ValueError, "level", "x", "bytes")
bad("bpe_training.count_words", lambda: count_words("a"), TypeError, "corpus", "str", "list")
bad("bpe_training.count_pairs", lambda: count_pairs(["aa"]), TypeError, "corpus", "str", "SplitWord")
bad("bpe_training.merge_pair", lambda: merge_pair("aa", ("a", "a")), TypeError, "pieces", "str", "tuple")
bad("bpe_training.choose", lambda: choose({}, {}), ValueError, "pairs", "at least one", "none")
bad("bpe_merge.merge_steps", lambda: merge_steps(3, {}), TypeError, "word", "int", "str")
bad("bpe_merge.merge", lambda: merge(3, {}), TypeError, "word", "int", "str")
bad("byte_letters.to_letters", lambda: to_letters("abc"), TypeError, "data", "str", "bytes")
bad("byte_letters.to_bytes", lambda: to_bytes(b"a"), TypeError, "letters", "bytes", "str")
bad("byte_letters.to_bytes", lambda: to_bytes("你"), ValueError, "letters", "你", "256")
bad("byte_bpe.words", lambda: byte_words(3), TypeError, "text", "int", "str")
bad("byte_bpe.ByteBPE", lambda: ByteBPE([("a",)]), TypeError, "merges", "pairs")
bad("byte_bpe.ByteBPE", lambda: ByteBPE([("a", "b")] * 2), ValueError, "merges", "differ", "1")
bad("byte_bpe.ByteBPE.from_file", lambda: ByteBPE.from_file("nowhere"), FileNotFoundError, "nowhere")
bad("byte_bpe.ByteBPE.pieces", lambda: BYTES.pieces(3), TypeError, "text", "int", "str")
bad("byte_bpe.ByteBPE.encode", lambda: BYTES.encode(3), TypeError, "text", "int", "str")
bad("byte_bpe.ByteBPE.decode_bytes", lambda: BYTES.decode_bytes([999]), IndexError, "ids", "999", "0..256")
bad("byte_bpe.ByteBPE.decode", lambda: BYTES.decode([-1]), IndexError, "ids", "-1", "0..256")
PIECES = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat"])
bad("wordpiece.WordPiece", lambda: WordPiece(["cat"]), ValueError, "vocabulary", "[UNK]")
bad("wordpiece.WordPiece", lambda: WordPiece("cat"), TypeError, "vocabulary", "str", "list")
bad("wordpiece.WordPiece.from_file", lambda: WordPiece.from_file("nowhere"), FileNotFoundError, "nowhere")
bad("wordpiece.WordPiece.normalize", lambda: PIECES.normalize(3), TypeError, "text", "int", "str")
bad("wordpiece.WordPiece.split", lambda: PIECES.split(3), TypeError, "text", "int", "str")
bad("wordpiece.WordPiece.id", lambda: PIECES.id(3), TypeError, "token", "int", "str")
bad("wordpiece.WordPiece.attempts", lambda: PIECES.attempts(3), TypeError, "word", "int", "str")
bad("wordpiece.WordPiece.cut", lambda: PIECES.cut(3), TypeError, "word", "int", "str")
bad("text_cleaning.place", lambda: place(3), TypeError, "text", "int", "str")
for step in (clean, space_cjk, strip_accents, lower, bert_words):
    bad(f"text_cleaning.{step.__name__}", partial(step, "a cat"), TypeError, "text", "str", "place")
bad("wordpiece.WordPiece.encode", lambda: PIECES.encode(3), TypeError, "text", "int", "str")
bad("wordpiece.WordPiece.encode_batch", lambda: PIECES.encode_batch("cat"), TypeError, "texts", "str", "list")
bad("rope_axes.axes_rotation", lambda: axes_rotation(torch.zeros(3, 5).long(), PLAN), ValueError, "positions", "[3, 5]", "2")
bad("rope_axes.MultiAxisRotaryEncoding", lambda: MultiAxisRotaryEncoding(6, PLAN, layout="interleaved"), ValueError, "plan", "6", "8")
bad("rope_axes.MultiAxisRotaryEncoding", lambda: MultiAxisRotaryEncoding(8, PLAN, layout="half"), ValueError, "layout", "half", "half-split")
bad("rope_axes.MultiAxisRotaryEncoding.into_queries_and_keys", lambda: MultiAxisRotaryEncoding(8, PLAN, layout="interleaved")(Q[..., :6], Q, GRID, GRID), ValueError, "q", "8", "6")
bad("rope_axes.MultiAxisRotaryEncoding.into_queries_and_keys", lambda: MultiAxisRotaryEncoding(8, PLAN, layout="interleaved")(Q, Q, PLACES, PLACES), ValueError, "query_positions", "[5]", "2")
bad("sinusoidal.waves", lambda: waves(FLOATS.half(), frequencies(4)), TypeError, "positions", "float16")
# fmt: on


SILENT = {
    "position.PositionEncoding": "encodes nothing, whatever comes",
    "position.is_integer": "asks about any tensor",
    "lookup.values_can_be_read": "asks about any tensor",
    "dot_product_attention.for_each_query_head": "called behind the check of the heads",
    "vocabulary.teaching_vocabulary": "takes nothing",
    "wordpiece.bert_base_uncased": "takes nothing",
    "byte_bpe.gpt2": "takes nothing",
    "length.spelling": "torch.randint refuses what is no number",
    "length.recall": "torch.randint refuses what is no number",
    "attention.Projection": "is torch.nn.Linear",
}
"""What has no bad input of its own, and why."""

NO_ARGUMENTS = {"reset_parameters", "extra_repr", "frequencies", "plan", "fused", "usable_length"}


def public() -> Iterator[str]:
    """Every public function, class that is no plain record, and method, as ``module.name``."""
    for module in pkgutil.iter_modules(tokpos.__path__):
        if module.name.startswith("_") or module.name in ("figures", "results"):
            continue
        home = importlib.import_module(f"tokpos.{module.name}")
        for name, value in vars(home).items():
            if name.startswith("_") or getattr(value, "__module__", None) != home.__name__:
                continue
            if inspect.isfunction(value):
                yield f"{module.name}.{name}"
            if inspect.isclass(value):
                record = issubclass(value, tuple) or (
                    is_dataclass(value) and "__post_init__" not in vars(value)
                )
                if not record and "__init__" in vars(value):
                    yield f"{module.name}.{name}"
                for method, code in vars(value).items():
                    called = inspect.isfunction(code) or isinstance(code, classmethod)
                    if called and not method.startswith("_") and method not in NO_ARGUMENTS:
                        yield f"{module.name}.{name}.{method}"


@pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{row.name}" for i, row in enumerate(ROWS)])
def test_a_bad_input_is_refused_and_named(row):
    with pytest.raises(row.error) as caught:
        row.call()
    assert type(caught.value) is row.error
    message = str(caught.value)
    for word in row.words:
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message)
        assert found or word in message.split(), f"{word!r} is not in: {message}"


def test_everything_public_has_a_row_or_a_reason():
    covered = {row.name for row in ROWS} | set(SILENT)
    # forward is a second name for a door, and a class that checks nothing is met by its methods.
    missing = [
        name
        for name in public()
        if not any(name == each or each.startswith(name + ".") for each in covered)
        and not (name.endswith(".forward") and f"{name[:-8]}.into_input" in covered)
        and not (name.endswith(".forward") and f"{name[:-8]}.into_queries_and_keys" in covered)
        and not any(name.startswith(f"{each}.") for each in SILENT)
    ]
    assert not missing, "each needs a row above, or its reason in SILENT"


def test_no_row_names_what_is_not_there():
    there = set(public())
    assert {row.name for row in ROWS} - there == set()
