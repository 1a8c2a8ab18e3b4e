"""Our layer with the right encoding is the attention of Llama, BERT and T5."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tokpos.attention import Attention
from tokpos.rope import RotaryEncoding
from tokpos.t5 import T5Bias

transformers = pytest.importorskip("transformers")

WIDTH, HEADS, HEAD_WIDTH, S = 32, 4, 8, 7


def tokens():
    return torch.randn(2, S, WIDTH, generator=torch.Generator().manual_seed(3))


def filled(module):
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module.eval()


def copied(layer, **parts):
    with torch.no_grad():
        for name, theirs in parts.items():
            getattr(layer, name).load_state_dict(theirs.state_dict())
    return layer


def close(here, there):
    # Sums of 32 products of float32, some of them in another order.
    torch.testing.assert_close(here, there, rtol=1e-5, atol=3e-5)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("n_kv_heads", [1, 2, HEADS])
@pytest.mark.parametrize("start", [0, 11])
def test_llama_with_grouped_heads(n_kv_heads, start):
    from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding

    config = transformers.LlamaConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        num_key_value_heads=n_kv_heads,
        attn_implementation="eager",
    )
    peer, x = filled(LlamaAttention(config, layer_idx=0)), tokens()
    positions = torch.arange(start, start + S)
    hidden = torch.full((S, S), -torch.inf).triu(1)[None, None]
    angles = LlamaRotaryEmbedding(config)(x, positions[None])
    expected = peer(x, angles, attention_mask=hidden)[0]
    layer = copied(
        Attention(
            WIDTH,
            HEADS,
            RotaryEncoding(HEAD_WIDTH, layout="half-split"),
            causal=True,
            n_kv_heads=n_kv_heads,
            bias=False,
        ),
        query=peer.q_proj,
        key=peer.k_proj,
        value=peer.v_proj,
        output=peer.o_proj,
    )
    close(layer(x, positions), expected)
    wrong = copied(
        Attention(
            WIDTH,
            HEADS,
            RotaryEncoding(HEAD_WIDTH, layout="interleaved"),
            causal=True,
            n_kv_heads=n_kv_heads,
            bias=False,
        ),
        query=peer.q_proj,
        key=peer.k_proj,
        value=peer.v_proj,
        output=peer.o_proj,
    )
    assert (wrong(x, positions) - expected).abs().max() > 0.05  # A01: nothing complains


def test_bert_with_padding():
    from transformers.models.bert.modeling_bert import BertSelfAttention

    config = transformers.BertConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, attn_implementation="eager"
    )
    peer, x = filled(BertSelfAttention(config)), tokens()
    real = torch.tensor([[1, 1, 1, 1, 0, 0, 0], [1] * S])
    hidden = torch.zeros(2, 1, 1, S).masked_fill(real[:, None, None] == 0, -torch.inf)
    expected = peer(x, attention_mask=hidden)[0]
    layer = copied(Attention(WIDTH, HEADS), query=peer.query, key=peer.key, value=peer.value)
    nn.init.eye_(layer.output.weight)  # BERT's output layer stands in a module of its own
    close(layer(x, padding_mask=real), expected)


@pytest.mark.parametrize("decoder", [False, True])
def test_t5_does_not_divide(decoder):
    from transformers.models.t5.modeling_t5 import T5Attention

    config = transformers.T5Config(
        d_model=WIDTH, d_kv=5, num_heads=HEADS, is_decoder=decoder, attn_implementation="eager"
    )
    peer = filled(T5Attention(config, has_relative_attention_bias=True, layer_idx=0))
    x = tokens()
    hidden = torch.full((S, S), -torch.inf).triu(1)[None, None] if decoder else None
    expected = peer(x, mask=hidden)[0]
    encoding = T5Bias.from_table(
        peer.relative_attention_bias.weight.detach(), bidirectional=not decoder
    )
    layer = copied(
        Attention(WIDTH, HEADS, encoding, causal=decoder, head_width=5, scale=1.0, bias=False),
        query=peer.q,
        key=peer.k,
        value=peer.v,
        output=peer.o,
    )
    close(layer(x), expected)
    layer.scale = None
    assert (layer(x) - expected).abs().max() > 0.01
