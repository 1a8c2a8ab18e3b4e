"""How other libraries do the same work, and how it is done where no library is at hand.

Each function imports what it needs and returns the call to be timed, with everything made
beforehand that the library too makes once. They are called the way their own models call them.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from tokpos._types import Tensor

Call = Callable[[], Any]


# The sinusoidal table


def sinusoidal_in_float32(length: int, width: int) -> Tensor:
    """The formula as it is copied from page to page."""
    position = torch.arange(length).float()[:, None]
    turn = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
    table = torch.empty(length, width)
    table[:, 0::2] = torch.sin(position * turn)
    table[:, 1::2] = torch.cos(position * turn)
    return table


def transformers_sinusoidal(length: int, width: int) -> Call:
    from transformers.models.gptj.modeling_gptj import create_sinusoidal_positions

    return lambda: create_sinusoidal_positions(length, width)


def x_transformers_sinusoidal(length: int, width: int) -> Call:
    from x_transformers.x_transformers import ScaledSinusoidalEmbedding

    encode = ScaledSinusoidalEmbedding(width).requires_grad_(False)
    encode.scale.fill_(1.0)
    x = torch.empty(1, length, 1)
    return lambda: encode(x)


# RoPE: each takes q and k of [B, H, S, d] at positions 0 .. S-1 and returns both, turned


def transformers_rope(q: Tensor, k: Tensor, layout: str, start: int = 0) -> Call:
    """Llama (half-split) or Cohere (interleaved): cosines and sines once for all layers."""
    name = "cohere" if layout == "interleaved" else "llama"
    theirs = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
    config_of, rotary_of = (
        getattr(theirs, f"{name.title()}{part}") for part in ("Config", "RotaryEmbedding")
    )
    _, heads, length, width = q.shape
    config = config_of(
        hidden_size=heads * width,
        num_attention_heads=heads,
        max_position_embeddings=start + length,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
    )
    places = torch.arange(start, start + length)[None]
    cos, sin = rotary_of(config)(q, places)
    return lambda: theirs.apply_rotary_pos_emb(q, k, cos, sin)


def torchtune_rope(q: Tensor, k: Tensor, start: int = 0) -> Call:
    """Interleaved; its cosines and sines are a table, and the heads stand behind the sequence."""
    rotate = _torchtune_positions().RotaryPositionalEmbeddings(q.shape[-1], start + q.shape[-2])
    q_there, k_there = (x.transpose(1, 2).contiguous().detach() for x in (q, k))
    q_there.requires_grad_(q.requires_grad)
    k_there.requires_grad_(k.requires_grad)
    places = torch.arange(start, start + q.shape[-2])[None] if start else None

    def call() -> tuple[Tensor, Tensor]:
        turned = (rotate(x, input_pos=places) for x in (q_there, k_there))
        a, b = (x.transpose(1, 2) for x in turned)
        return a, b

    call.inputs = (q_there, k_there)  # type: ignore[attr-defined]
    return call


def _torchtune_positions() -> Any:
    """The one file of torchtune that is needed: the package itself wants many others beside it."""
    package = importlib.util.find_spec("torchtune")
    if package is None or package.origin is None:
        raise ImportError("torchtune")
    file = Path(package.origin).parent / "modules" / "position_embeddings.py"
    spec = importlib.util.spec_from_file_location("torchtune_position_embeddings", file)
    if spec is None or spec.loader is None:
        raise ImportError(str(file))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rotary_embedding_torch(q: Tensor, k: Tensor, start: int = 0) -> Call:
    """Interleaved; it keeps the angles and takes cosine and sine at each call."""
    from rotary_embedding_torch import RotaryEmbedding

    rotate = RotaryEmbedding(q.shape[-1])
    return lambda: tuple(rotate.rotate_queries_or_keys(x, offset=start) for x in (q, k))


def x_transformers_rope(q: Tensor, k: Tensor, start: int = 0) -> Call:
    """Interleaved; angles once for all layers, cosine and sine at each call."""
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    freqs, scale = RotaryEmbedding(q.shape[-1])(torch.arange(start, start + q.shape[-2]))
    return lambda: tuple(apply_rotary_pos_emb(x, freqs, scale) for x in (q, k))


def rope_by_halves(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """Half-split as it is mostly written, with nothing checked."""

    def rotated(x: Tensor) -> Tensor:
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-b, a], dim=-1) * sin

    return rotated(q), rotated(k)


# ALiBi


def bloom_attention(q: Tensor, k: Tensor, v: Tensor) -> Call:
    """The way of transformers' Bloom: bias, mask, scores and weights as whole matrices."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    batch, heads, length, width = q.shape
    hidden = torch.full((length, length), torch.finfo(q.dtype).min).triu(1)
    attended = torch.ones(batch, length)

    def call() -> Tensor:
        alibi = build_alibi_tensor(attended, heads, q.dtype)
        scores = alibi.baddbmm(
            q.reshape(batch * heads, length, width),
            k.reshape(batch * heads, length, width).transpose(-1, -2),
            beta=1.0,
            alpha=1 / math.sqrt(width),
        )
        scores = scores.view(batch, heads, length, length) + hidden
        weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        weights = weights.view(batch * heads, length, length)
        return torch.bmm(weights, v.reshape(batch * heads, length, width)).view(q.shape)

    return call


def built_bias_attention(q: Tensor, k: Tensor, v: Tensor, slopes: Tensor) -> Tensor:
    """A bias of shape [H, S, S], made and then given to PyTorch's attention as its mask.

    With an axis for the batch: without one PyTorch leaves its fast kernel.
    """
    place = torch.arange(q.shape[-2])
    bias = slopes[:, None, None] * (place - place[:, None]).to(slopes.dtype)
    bias.masked_fill_(place > place[:, None], -math.inf)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])


def flex_alibi_attention(q: Tensor, k: Tensor, v: Tensor, slopes: Tensor) -> Call:
    """PyTorch's flex attention, compiled."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    length = q.shape[-2]

    def bias(score: Tensor, b: Tensor, h: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return score + slopes[h] * (key - query)

    def causal(b: Tensor, h: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return query >= key

    blocks = create_block_mask(causal, None, None, length, length, device="cpu")
    compiled = torch.compile(flex_attention)
    return lambda: compiled(q, k, v, score_mod=bias, block_mask=blocks)


# T5


def transformers_t5_bias(heads: int, length: int, table: Tensor) -> Call:
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=heads * 8, d_kv=8, num_heads=heads, is_decoder=False)
    layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    layer.relative_attention_bias.weight = torch.nn.Parameter(table.detach().clone())

    def call() -> Tensor:
        bias: Tensor = layer.compute_bias(length, length)[0]
        return bias

    call.inputs = (layer.relative_attention_bias.weight,)  # type: ignore[attr-defined]
    return call


def x_transformers_t5_bias(heads: int, length: int, table: Tensor) -> Call:
    from x_transformers.x_transformers import RelativePositionBias

    layer = RelativePositionBias(1.0, heads=heads)
    layer.relative_attention_bias.weight = torch.nn.Parameter(table.detach().clone())

    def call() -> Tensor:
        bias: Tensor = layer(length, length)
        return bias

    call.inputs = (layer.relative_attention_bias.weight,)  # type: ignore[attr-defined]
    return call


# Shaw


def shaw_keys_by_einsum(q: Tensor, table: Tensor, index: Tensor) -> Tensor:
    """A vector for each pair of places, [S, S, d], then products."""
    return torch.einsum("...id,ijd->...ij", q, table[index])


def shaw_values_by_einsum(weights: Tensor, table: Tensor, index: Tensor) -> Tensor:
    """The same for the values."""
    return torch.einsum("...ij,ijd->...id", weights, table[index])


def shaw_keys_by_skewing(q: Tensor, table: Tensor) -> Tensor:
    """Products with one vector for each of 2S-1 offsets, and the skew of Music Transformer."""
    length, clip = q.shape[-2], (len(table) - 1) // 2
    offsets = torch.arange(1 - length, length).clamp(-clip, clip) + clip
    products = F.pad(q @ table[offsets].T, (1, 0))
    skewed = products.flatten(-2)[..., length:].unflatten(-1, (length, -1))
    return skewed[..., :length]


# BERT


def transformers_bert(layer: torch.nn.Module, ids: Tensor, segments: Tensor | None) -> Call:
    """The layer of transformers with the weights of ours."""
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertEmbeddings

    table: Any = layer.word_embeddings
    config = BertConfig(vocab_size=table.num_embeddings, hidden_size=table.embedding_dim)
    theirs = BertEmbeddings(config)
    theirs.load_state_dict(layer.state_dict(), strict=False)
    theirs.eval()
    return lambda: theirs(input_ids=ids, token_type_ids=segments)
