"""The small language model: with every encoding, cached, padded, packed, and against GPT-2."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from tests.library.every_encoding import CAUSAL, HEADS, WIDTH, make
from tokpos.head import is_tied
from tokpos.language_model import CausalLanguageModel
from tokpos.learned import LearnedEncoding
from tokpos.position import PositionEncoding
from tokpos.positions import (
    document_mask,
    pad_left,
    positions_from_mask,
    positions_of_documents,
)

every_encoding = pytest.mark.parametrize("name", sorted(CAUSAL))
V, S = 11, 7


def model_with(name, **settings):
    """A model whose weights are large enough for positions to matter."""
    torch.manual_seed(0)
    model = CausalLanguageModel(V, WIDTH, 2, HEADS, make(name), **settings)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=WIDTH**-0.5)
    nn.init.normal_(model.embedding.weight)
    return model.double()


def ids(*shape):
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(2))


def close(here, there, atol=1e-11):
    torch.testing.assert_close(here, there, rtol=0, atol=atol)


@every_encoding
def test_A04_steps_equal_the_whole_for_every_split(name):
    model, text = model_with(name), ids(2, S)
    whole = model(text)
    for split in range(1, S):
        first, caches = model.step(text[:, :split], None, torch.arange(split))
        second, caches = model.step(text[:, split:], caches, torch.arange(split, S))
        close(torch.cat([first, second], dim=1), whole)
        assert [cache.length for cache in caches] == [S, S]


@every_encoding
def test_A03_a_padded_batch_writes_what_each_text_writes_alone(name):
    model = model_with(name)
    texts = [[5, 6, 7], [1, 2, 3, 4, 5, 6], [9]]
    padded, mask = pad_left(texts)
    logits = model(padded, padding_mask=mask)
    close(model(padded, positions_from_mask(mask), padding_mask=mask.bool()), logits)
    written = model.generate(padded, 5, padding_mask=mask)
    assert torch.equal(model.generate(padded, 5, padding_mask=mask, cached=False), written)
    for row, text in enumerate(texts):
        alone = torch.tensor([text])
        close(logits[row, mask[row].bool()], model(alone)[0])
        assert torch.equal(written[row, -len(text) - 5 :], model.generate(alone, 5)[0])


@every_encoding
def test_packed_documents_equal_each_alone(name):
    model, text = model_with(name), ids(2, S)
    documents = torch.tensor([0, 0, 0, 1, 1, 1, 1])
    logits = model(text, positions_of_documents(documents), mask=document_mask(documents))
    for document in (0, 1):
        own = documents == document
        close(logits[:, own], model(text[:, own]))


@every_encoding
def test_a_later_token_changes_no_earlier_score(name):
    model, text = model_with(name), ids(1, S)
    other = text.clone()
    other[0, 4] = (other[0, 4] + 1) % V
    apart = (model(other) - model(text)).abs().amax(-1)[0]
    assert (apart[:4] < 1e-12).all() and (apart[4:] > 1e-9).all()


def test_the_order_of_earlier_tokens_matters_only_with_positions():
    for name in CAUSAL:
        model, text = model_with(name), ids(1, S)
        # One layer: the last token of a model without positions sees a set.
        model.blocks = model.blocks[:1]
        moved = text[:, [1, 2, 0, 3, 5, 4, 6]]
        apart = (model(moved) - model(text))[0, -1].abs().max()
        assert (apart < 1e-12) == (name == "none")


def test_one_encoding_for_all_layers_or_one_for_each():
    shared = CausalLanguageModel(V, WIDTH, 3, HEADS, LearnedEncoding(9, WIDTH))
    own = CausalLanguageModel(V, WIDTH, 3, HEADS, lambda: LearnedEncoding(9, WIDTH))
    for model, n in ((shared, 1), (own, 3)):
        assert len({id(block.attention.encoding) for block in model.blocks}) == n
    assert shared.encoding is shared.blocks[2].attention.encoding
    text = ids(1, 5)
    own.encoding.load_state_dict(shared.encoding.state_dict())
    del own.blocks[1:], shared.blocks[1:]
    shared.load_state_dict(own.state_dict())
    assert torch.equal(own(text), shared(text))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_kv_heads", [1, HEADS])
def test_the_settings(scale, tied, n_kv_heads):
    model = model_with("rope", scale_embedding=scale, tied=tied, n_kv_heads=n_kv_heads)
    assert is_tied(model.embedding, model.head) == tied
    entered = []
    model.blocks[0].register_forward_pre_hook(lambda block, given: entered.append(given[0]))
    text = ids(2, S)
    assert model(text).shape == (2, S, V)
    rows = model.embedding.weight[text] * (WIDTH**0.5 if scale else 1)
    assert torch.equal(entered[0], rows)
    assert torch.equal(model.generate(text, 3), model.generate(text, 3, cached=False))


def test_it_starts_as_stated():
    torch.manual_seed(0)
    model = CausalLanguageModel(100, 64, 2, 4, lambda: LearnedEncoding(50, 64), tied=False)
    for name, parameter in model.named_parameters():
        if "norm" in name:
            assert (parameter == float(name.endswith("weight"))).all()
        elif name.endswith("bias"):
            assert not parameter.any()
        else:
            assert 0.018 < parameter.std() < 0.022, name


@every_encoding
def test_a_training_step_lowers_the_loss_and_reaches_every_parameter(name):
    torch.manual_seed(0)
    model = CausalLanguageModel(V, WIDTH, 2, HEADS, CAUSAL[name]())
    text = ids(4, S)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(8):
        loss = nn.functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        for key, parameter in model.named_parameters():
            assert parameter.grad is not None and parameter.grad.isfinite().all(), key
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.95 * losses[0]


@every_encoding
@pytest.mark.parametrize("tied", [False, True])
def test_meta_then_to_empty_then_reset(name, tied):
    with torch.device("meta"):
        model = CausalLanguageModel(V, WIDTH, 2, HEADS, CAUSAL[name](), tied=tied)
        assert model(torch.zeros(1, S, dtype=torch.long)).shape == (1, S, V)
    model = model.to_empty(device="cpu")
    model.reset_parameters()
    assert is_tied(model.embedding, model.head) == tied
    text = ids(1, S)
    assert model(text).abs().max() < 2
    assert torch.equal(model.generate(text, 2), model.generate(text, 2, cached=False))
    # The usual loop of a trainer that knows no model: every module for itself.
    for module in model.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    assert is_tied(model.embedding, model.head) == tied
    assert model.blocks[1].mlp[0].weight.std() < 0.025


@every_encoding
def test_copies_pickles_and_state_dicts(name):
    model, text = model_with(name), ids(2, S)
    whole = model(text)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(again(text), whole)
        assert is_tied(again.embedding, again.head)
    fresh = CausalLanguageModel(V, WIDTH, 2, HEADS, CAUSAL[name]()).double()
    fresh.load_state_dict(model.state_dict(), strict=True)
    assert torch.equal(fresh(text), whole) and is_tied(fresh.embedding, fresh.head)


@pytest.mark.usefixtures("unchecked_shapes")
def test_compiles_and_exports():
    model = model_with("rope")
    compiled = torch.compile(model, fullgraph=True, backend="eager", dynamic=True)
    for length in (5, 9):
        text = ids(2, length)
        close(compiled(text), model(text))
    exported = torch.export.export(
        model, (ids(2, S),), dynamic_shapes={"ids": {1: torch.export.Dim("S", min=2, max=30)}}
    ).module()
    close(exported(ids(2, 12)), model(ids(2, 12)))


@pytest.mark.usefixtures("unchecked_shapes")
@torch.no_grad()
def test_a_compiled_step_takes_and_gives_caches():
    model, text = model_with("rope"), ids(2, S)
    step = torch.compile(model.step, fullgraph=True, backend="eager", dynamic=True)
    logits, caches = model.step(text[:, :4], None, torch.arange(4))
    for place in range(4, S):
        logits, caches = step(text[:, place : place + 1], caches, torch.tensor([place]))
        close(logits[:, 0], model(text)[:, place])


@every_encoding
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_and_autocast(name, dtype):
    model, text = model_with(name).float(), ids(2, S)
    exact = model(text)
    half = copy.deepcopy(model).to(dtype)
    with torch.autocast("cpu", dtype=dtype):
        logits = model(text)
    for out in (half(text), logits):
        assert out.dtype == dtype
        # Logits reach 20 here: some roundings of the type relative to that.
        close(out.float(), exact, atol=100 * torch.finfo(dtype).eps)


def test_a_model_without_positions_still_knows_how_many_came_before():
    # Haviv et al. (2022): the causal mask alone breaks the symmetry.
    model = model_with("none")
    same = torch.zeros(1, S, dtype=torch.long)
    logits = model(same)[0]
    close(logits, logits[:1].expand(S, -1))  # one token repeated: nothing to count
    start = same.clone()
    start[0, 0] = 1
    apart = (model(start)[0, 2:] - model(start)[0, 1:-1]).abs().amax(-1)
    assert (apart > 1e-6).all()


# Against transformers


def test_it_is_gpt2_with_a_learned_table():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=V, n_embd=WIDTH, n_layer=2, n_head=HEADS, n_positions=20
    )
    peer = transformers.GPT2LMHeadModel(config).eval()
    for parameter in peer.parameters():
        nn.init.normal_(parameter, std=0.3)
    model = CausalLanguageModel(V, WIDTH, 2, HEADS, LearnedEncoding(20, WIDTH))
    state = peer.transformer.state_dict()
    table = {"embedding.weight": state["wte.weight"], "head.weight": state["wte.weight"]}
    for part in ("weight", "bias"):
        table[f"norm.{part}"] = state[f"ln_f.{part}"]
        for i in range(2):
            block = f"blocks.{i}"
            table[f"{block}.attention.encoding.weight"] = state["wpe.weight"]
            names = {
                "attention_norm": "ln_1",
                "mlp_norm": "ln_2",
                "attention.output": "attn.c_proj",
                "mlp.0": "mlp.c_fc",
                "mlp.2": "mlp.c_proj",
            }
            for ours, theirs in names.items():
                table[f"{block}.{ours}.{part}"] = state[f"h.{i}.{theirs}.{part}"].t()
            joint = state[f"h.{i}.attn.c_attn.{part}"].t().chunk(3)
            for ours, each in zip(("query", "key", "value"), joint, strict=True):
                table[f"{block}.attention.{ours}.{part}"] = each
    model.load_state_dict(table, strict=True)
    text = ids(2, 9)
    with torch.no_grad():
        expected = peer(text).logits
        torch.testing.assert_close(model(text), expected, rtol=1e-5, atol=1e-4)
        padded, mask = pad_left([[5, 6, 7], [1, 2, 3, 4, 5, 6]])
        real = mask.bool()
        theirs = peer(padded, attention_mask=mask, position_ids=positions_from_mask(mask)).logits
        ours = model(padded, padding_mask=mask)
        torch.testing.assert_close(ours[real], theirs[real], rtol=1e-5, atol=1e-4)
    written = peer.generate(text, max_new_tokens=6, do_sample=False, pad_token_id=0)
    assert torch.equal(model.generate(text, 6)[:, : written.shape[1]], written)


def test_the_base_encoding_is_none():
    assert type(CausalLanguageModel(V, WIDTH, 1, HEADS).encoding) is PositionEncoding


# Generating


@pytest.mark.parametrize("cached", [True, False])
def test_without_padding_one_row_of_positions_serves_the_batch(cached):
    seen = []

    class Watching(PositionEncoding):
        def into_scores(self, q, query_positions, key_positions):
            seen.append((query_positions.tolist(), key_positions.tolist()))
            return super().into_scores(q, query_positions, key_positions)

    model = CausalLanguageModel(V, WIDTH, 1, HEADS, Watching())
    model.generate(ids(2, 3), 3, cached=cached)
    rows = [(list(range(n)), list(range(n))) for n in (3, 4, 5)]
    steps = [rows[0], ([3], [0, 1, 2, 3]), ([4], [0, 1, 2, 3, 4])]
    assert seen == (steps if cached else rows)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 2), (2, 3, 1)])
def test_a_padding_mask_of_another_shape_is_refused(shape):
    model = CausalLanguageModel(V, WIDTH, 1, HEADS)
    with pytest.raises(ValueError, match=r"padding_mask must have the shape of ids, \[2, 3\]"):
        model.generate(ids(2, 3), 2, padding_mask=torch.ones(shape, dtype=torch.int64))
