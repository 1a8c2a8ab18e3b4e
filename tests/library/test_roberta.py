"""RoBERTa's embedding layer: the same as transformers', positions behind the padding ID."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
import torch
import torch.nn.functional as F
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from transformers import (
    BertConfig,
    BertModel,
    CamembertConfig,
    CamembertModel,
    RobertaConfig,
    RobertaModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from tokpos.bert import BertEmbeddings
from tokpos.roberta import RobertaEmbeddings, roberta_positions

transformers.logging.set_verbosity_error()

TINY = {"num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
CONFIGS = {
    "small": {"vocab_size": 40, "hidden_size": 8, "max_position_embeddings": 16},
    "other padding": {
        "vocab_size": 40,
        "hidden_size": 8,
        "max_position_embeddings": 20,
        "pad_token_id": 3,
    },
    "padding first": {"vocab_size": 30, "hidden_size": 5, "pad_token_id": 0},
    "two segments": {"vocab_size": 40, "hidden_size": 16, "type_vocab_size": 2},
    "other eps": {"vocab_size": 40, "hidden_size": 16, "layer_norm_eps": 1e-5},
}


def tiny_model(kind=RobertaModel, config_of=RobertaConfig, **config):
    torch.manual_seed(0)
    model = kind(config_of(**(TINY | config)), add_pooling_layer=False).eval()
    with torch.no_grad():  # a new LayerNorm has weight 1 and bias 0, which would hide mistakes
        model.embeddings.LayerNorm.weight.normal_()
        model.embeddings.LayerNorm.bias.normal_()
    return model


def tiny_layer(**given_):
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "width": 8, "max_positions": 18}
    return RobertaEmbeddings(**(sizes | given_)).eval()


def padded_ids(model, batch=3, length=7):
    """Texts of every length, padded on the right, on the left, and on both sides."""
    config, generator = model.config, torch.Generator().manual_seed(1)
    pad = config.pad_token_id
    ids = torch.randint(pad + 1, config.vocab_size, (batch, length), generator=generator)
    ids[0, 4:] = pad
    ids[1, :3] = pad
    return ids


# Positions


def test_C02_positions_by_the_reported_values():
    ids = torch.tensor([[0, 5, 6, 2, 1, 1]])
    assert roberta_positions(ids != 1, 1).tolist() == [[2, 3, 4, 5, 1, 1]]
    assert roberta_positions((ids != 1).long(), 1, past=3).tolist() == [[5, 6, 7, 8, 1, 1]]


@given(
    st.lists(st.lists(st.integers(0, 6), min_size=5, max_size=5), min_size=1, max_size=3),
    st.integers(0, 4),
    st.integers(0, 3),
)
def test_C02_positions_equal_transformers(rows, pad, past):
    ids = torch.tensor(rows)
    make = transformers.models.roberta.modeling_roberta.RobertaEmbeddings
    expected = make.create_position_ids_from_input_ids(ids, pad, past)
    assert torch.equal(roberta_positions(ids != pad, pad, past), expected)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(("rows", "pad"), [(10, 3), (18, 1), (514, 1), (12, 0)])
def test_C02_usable_length_and_not_the_length_of_the_table(rows, pad):
    usable = rows - pad - 1
    layer = tiny_layer(max_positions=rows, padding_idx=pad)
    full = torch.full((1, usable), 9)
    assert layer.usable_length == usable
    assert layer(full).shape == (1, usable, 8)
    words = rf"has {usable + 1} tokens a row, .* ends after {usable}: cut .*max_length={usable}"
    with pytest.raises(ValueError, match="ids " + words):
        layer(F.pad(full, (0, 1), value=9))
    with pytest.raises(ValueError, match="vectors " + words):
        layer.from_vectors(torch.zeros(1, usable + 1, 8))
    with pytest.raises(ValueError, match=rf"ids has {usable + 2} tokens"):
        layer(full[:, :2], past=usable)
    model = tiny_model(vocab_size=20, hidden_size=8, max_position_embeddings=rows, pad_token_id=pad)
    assert model.embeddings(full).shape == (1, usable, 8)
    with pytest.raises((IndexError, RuntimeError)):
        model.embeddings(F.pad(full, (0, 1), value=9))


# Equal to transformers


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_C02_equals_tiny_models_forward_and_backward(name, dtype):
    model = tiny_model(**CONFIGS[name]).to(dtype)
    layer = RobertaEmbeddings.from_transformers(model)
    ids = padded_ids(model)
    kinds = model.config.type_vocab_size
    segments = torch.randint(kinds, ids.shape, generator=torch.Generator().manual_seed(2))
    positions = torch.randint(16, ids.shape, generator=torch.Generator().manual_seed(3))
    for ours, theirs in (
        ({}, {}),
        ({"segment_ids": segments}, {"token_type_ids": segments}),
        ({"position_ids": positions}, {"position_ids": positions}),
        ({"past": 4}, {"cache_length": 4}),
    ):
        layer.zero_grad()
        model.zero_grad()
        out, expected = layer(ids, **ours), model.embeddings(input_ids=ids, **theirs)
        assert out.dtype == dtype and torch.equal(out, expected)
        grad = torch.randn(out.shape, generator=torch.Generator().manual_seed(4)).to(dtype)
        out.backward(grad)
        expected.backward(grad)
        for key, parameter in model.embeddings.named_parameters():
            assert torch.equal(layer.get_parameter(key).grad, parameter.grad), key
        assert not layer.position_embeddings.weight.grad[model.config.pad_token_id].any()


@pytest.mark.parametrize("name", CONFIGS)
def test_C02_fused_equals_the_readable_layer_bit_for_bit(name):
    model = tiny_model(**CONFIGS[name])
    layer, ids = RobertaEmbeddings.from_transformers(model), padded_ids(model)
    fused = layer.fused()
    segments = ids % model.config.type_vocab_size
    for given_ in ({}, {"segment_ids": segments}, {"past": 3}, {"position_ids": ids % 7}):
        assert torch.equal(fused(ids, **given_), layer(ids, **given_))
    too_long = torch.full((1, layer.usable_length + 1), 9)
    with pytest.raises(ValueError, match=f"ends after {layer.usable_length}"):
        fused(too_long)


@pytest.mark.parametrize(
    ("kind", "config_of"),
    [(XLMRobertaModel, XLMRobertaConfig), (CamembertModel, CamembertConfig)],
)
def test_equals_its_kin(kind, config_of):
    model = tiny_model(kind, config_of, **CONFIGS["small"])
    layer, ids = RobertaEmbeddings.from_transformers(model), padded_ids(model)
    assert torch.equal(layer(ids), model.embeddings(input_ids=ids))


def test_equals_transformers_in_training_too():
    model = tiny_model(**CONFIGS["small"]).train()
    layer, ids = RobertaEmbeddings.from_transformers(model), padded_ids(model)
    torch.manual_seed(4)
    out = layer(ids)
    torch.manual_seed(4)
    assert torch.equal(out, model.embeddings(input_ids=ids)) and (out == 0).any()


@pytest.mark.parametrize("name", CONFIGS)
def test_C02_both_paths_agree(name):
    model = tiny_model(**CONFIGS[name])
    layer, ids = RobertaEmbeddings.from_transformers(model), padded_ids(model)
    real = ids != model.config.pad_token_id
    vectors, out = layer.word_embeddings(ids), layer(ids)
    assert torch.equal(layer.from_vectors(vectors, real), out)  # padding too
    assert torch.equal(layer.from_vectors(vectors, real.long(), past=2), layer(ids, past=2))
    blind = layer.from_vectors(vectors)
    assert torch.equal(blind, model.embeddings(inputs_embeds=vectors))
    assert torch.equal(blind[0, :4], out[0, :4])  # padding on the right: real tokens agree
    assert not torch.equal(blind[0, 4:], out[0, 4:])  # and padding does not
    assert not torch.equal(blind[1, 3:], out[1, 3:])  # padding on the left shifts real tokens


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(0, 4), st.integers(0, 4))
def test_A03_C02_a_padded_row_equals_the_unpadded_run(length, left, right):
    layer = tiny_layer()
    ids = torch.arange(2, 2 + length)[None]
    padded = F.pad(ids, (left, right), value=1)
    assert torch.equal(layer(padded)[:, left : left + length], layer(ids))


@given(st.integers(1, 9), st.integers(0, 9))
def test_A04_chunks_equal_the_whole_at_every_split(length, split):
    layer, split = tiny_layer(), min(split, length)
    ids = torch.arange(2, 2 + length)[None].repeat(2, 1)
    whole = layer(ids)
    parts = [layer(ids[:, :split]), layer(ids[:, split:], past=split)]
    assert torch.equal(torch.cat(parts, dim=1), whole)


def test_refuses_layers_that_only_look_the_same():
    bert = BertModel(BertConfig(**TINY, vocab_size=10, hidden_size=8), add_pooling_layer=False)
    with pytest.raises(TypeError, match="RobertaModel or its RobertaEmbeddings, got BertModel"):
        RobertaEmbeddings.from_transformers(bert)
    with pytest.raises(TypeError, match="BertModel or its BertEmbeddings, got RobertaModel"):
        BertEmbeddings.from_transformers(tiny_model(**CONFIGS["small"]))


# Safetensors and state


def test_C07_reads_a_checkpoint_with_old_computed_tables(tmp_path):
    layer = tiny_layer(eps=1e-7)
    prefix = "roberta.embeddings."
    tensors = {prefix + key: value for key, value in layer.state_dict().items()}
    tensors |= {f"{prefix}position_ids": torch.arange(18)[None], "lm_head.bias": torch.ones(3)}
    config = {"vocab_size": 20, "hidden_size": 8, "max_position_embeddings": 18}
    config |= {"type_vocab_size": 1, "model_type": "roberta", "layer_norm_eps": 1e-7}
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file(tensors, tmp_path / "model.safetensors")
    loaded, ids = RobertaEmbeddings.from_safetensors(tmp_path), torch.tensor([[0, 5, 2, 1]])
    assert type(loaded) is RobertaEmbeddings and not loaded.training
    assert loaded.padding_idx == 1 and loaded.LayerNorm.eps == 1e-7
    assert torch.equal(loaded(ids), layer(ids))
    for kind in ("xlm-roberta", "camembert"):
        (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": kind}))
        assert torch.equal(RobertaEmbeddings.from_safetensors(tmp_path)(ids), layer(ids))
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "bert"}))
    with pytest.raises(ValueError, match="'roberta' or 'xlm-roberta' or 'camembert'; got 'bert'"):
        RobertaEmbeddings.from_safetensors(tmp_path)


def test_C07_state_goes_both_ways_and_old_keys_load():
    model = tiny_model(**CONFIGS["small"])
    layer = RobertaEmbeddings.from_transformers(model)
    model.embeddings.load_state_dict(layer.state_dict())
    layer.load_state_dict(layer.state_dict() | {"position_ids": torch.arange(16)[None]})
    assert not list(layer.buffers())
    with pytest.raises(RuntimeError, match="position_idz"):
        layer.load_state_dict(layer.state_dict() | {"position_idz": torch.arange(16)})


@pytest.mark.parametrize("way", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies_are_equal_and_apart(way):
    layer, ids = tiny_layer(), torch.tensor([[3, 1]])
    twin = way(layer)
    assert torch.equal(twin(ids), layer(ids)) and twin.usable_length == 16
    assert twin.word_embeddings.weight is not layer.word_embeddings.weight


def test_A12_meta_device_then_to_empty():
    with torch.device("meta"):
        layer = RobertaEmbeddings(20, 8, max_positions=18).eval()
        assert layer(torch.zeros(2, 5, dtype=torch.long)).shape == (2, 5, 8)
    layer.to_empty(device="cpu").reset_parameters()
    assert not layer.position_embeddings.weight[1].any()
    assert not layer.word_embeddings.weight[1].any()
    assert layer.position_embeddings.weight[2].any()
    layer.load_state_dict(tiny_layer().state_dict())
    ids = torch.tensor([[3, 1, 4]])
    assert torch.equal(layer(ids), tiny_layer()(ids))


def test_starts_with_rows_of_padding_at_zero():
    layer = RobertaEmbeddings(2000, 64)
    assert not layer.word_embeddings.weight[1].any()
    assert not layer.position_embeddings.weight[1].any()
    assert layer.position_embeddings.weight[0].any()
    # 32,000 numbers and more: the standard deviation's own is 0.4 % of it.
    for table in (layer.word_embeddings, layer.position_embeddings):
        assert table.weight[2:].std().item() == pytest.approx(0.02, rel=0.02)


# At home in PyTorch


@pytest.mark.usefixtures("unchecked_shapes")
def test_A14_compile_export_and_vmap():
    layer = tiny_layer()
    compiled = torch.compile(layer, fullgraph=True, backend="eager", dynamic=True)
    for length in (4, 9, 16):
        ids = torch.arange(2 * length).view(2, length) % 20
        assert torch.equal(compiled(ids), layer(ids))
    ids = torch.tensor([[0, 5, 2, 1]])
    assert torch.equal(torch.export.export(layer, (ids,)).module()(ids), layer(ids))
    many = torch.arange(12).view(3, 2, 2)
    assert torch.equal(torch.func.vmap(layer)(many), torch.stack([layer(each) for each in many]))


# Bad input

IDS = torch.tensor([[0, 5, 6], [2, 1, 1]])
VECTORS = torch.zeros(2, 3, 8)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m(IDS + 15), IndexError, r"ids must lie in 0\.\.19.*got 20"),
        (lambda m: m(IDS.float()), TypeError, "ids .*float32"),
        (lambda m: m(IDS[0]), ValueError, r"\[B, S\]; got \[3\]; ids\[None\]"),
        (lambda m: m(IDS, IDS), IndexError, r"segment_ids must lie in 0\.\.0.*got 5"),
        (lambda m: m(IDS, IDS[:, :2] * 0), ValueError, r"segment_ids .*got \[2, 2\]"),
        (lambda m: m(IDS, None, IDS + 12), IndexError, r"position_ids must lie in 0\.\.17.*18"),
        (lambda m: m(IDS, None, IDS.half()), TypeError, "position_ids .*float16"),
        (lambda m: m(IDS, None, IDS[:, :1]), ValueError, r"position_ids .*got \[2, 1\]"),
        (lambda m: m(IDS, past=-1), ValueError, "past must not be negative; got -1"),
        (lambda m: m.from_vectors(IDS), TypeError, "vectors .*int64"),
        (lambda m: m.from_vectors(VECTORS[..., :4]), ValueError, r"\[B, S, 8\]; got \[2, 3, 4\]"),
        (lambda m: m.from_vectors(VECTORS[0]), ValueError, r"\[B, S, 8\]; got \[3, 8\]"),
        (lambda m: m.from_vectors(VECTORS, IDS), ValueError, "mask must hold 1 .*got 5"),
        (lambda m: m.from_vectors(VECTORS, IDS[:1]), ValueError, r"mask .*\[2, 3\]; got \[1, 3\]"),
        (lambda m: m.from_vectors(VECTORS, VECTORS[..., 0]), TypeError, "mask .*float32"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call(tiny_layer())


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"padding_idx": None}, "padding_idx must be an ID.*got None"),
        ({"padding_idx": 20}, r"padding_idx must lie in 0\.\.19; got 20"),
        ({"padding_idx": -1}, r"padding_idx must lie in 0\.\.19; got -1"),
        ({"max_positions": 2}, r"max_positions must be at least padding_idx \+ 2 = 3.*got 2"),
        ({"vocab_size": 0}, "vocab_size must be at least 1; got 0"),
        ({"eps": -1.0}, "eps must be at least 0"),
    ],
)
def test_bad_settings(given_, words):
    with pytest.raises(ValueError, match=words):
        tiny_layer(**given_)
