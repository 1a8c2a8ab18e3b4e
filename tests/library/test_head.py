"""The head and its tie: what keeps it, what loses it, and how the loss is noticed and repaired."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from tokpos import TokenEmbedding
from tokpos.head import LanguageModelHead, check_tied, is_tied, retie, tie


class Model(nn.Module):
    """Nothing but the two ends."""

    def __init__(self, tied=True, **made):
        super().__init__()
        self.embedding = TokenEmbedding(7, 4, **made)
        self.head = LanguageModelHead(7, 4, **made)
        if tied:
            tie(self.embedding, self.head)

    def forward(self, ids):
        return self.head(self.embedding(ids))

    @property
    def tied(self):
        return is_tied(self.embedding, self.head)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def numbers_in(model):
    return sum(parameter.numel() for parameter in model.parameters())


# The head


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_scores_are_products_with_every_row(dtype):
    head, x = LanguageModelHead(7, 4, dtype=dtype), torch.randn(2, 3, 4).to(dtype)
    assert torch.equal(head(x), F.linear(x, head.weight)) and head(x).dtype == dtype
    by_hand = torch.stack([(x * row).sum(-1) for row in head.weight], dim=-1)
    # bfloat16 adds with a rounding each time: a few of 2**-8, of numbers around 1.
    atol = 2e-2 if dtype == torch.bfloat16 else 1e-6
    torch.testing.assert_close(head(x), by_hand, rtol=0, atol=atol)
    assert list(head.state_dict()) == ["weight"] and repr(head) == "LanguageModelHead(7, 4)"


def test_gradients_by_differences():
    x = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    head = LanguageModelHead(3, 4, dtype=torch.float64)
    run = lambda x, w: torch.func.functional_call(head, {"weight": w}, (x,))  # noqa: E731
    assert torch.autograd.gradcheck(run, (x, head.weight))


def test_equals_gpt2_s_tied_head_bit_for_bit():
    config = GPT2Config(vocab_size=50, n_positions=16, n_embd=32, n_layer=1, n_head=2)
    theirs = GPT2LMHeadModel(config).eval()
    assert theirs.lm_head.weight is theirs.transformer.wte.weight
    embedding = TokenEmbedding.from_table(theirs.transformer.wte.weight.detach())
    head = LanguageModelHead(50, 32)
    tie(embedding, head)
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    hidden = theirs.transformer(ids).last_hidden_state
    assert torch.equal(head(hidden), theirs(ids).logits)
    theirs(ids, labels=ids).loss.backward()
    hidden = theirs.transformer(inputs_embeds=embedding(ids)).last_hidden_state
    F.cross_entropy(head(hidden)[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
    torch.testing.assert_close(embedding.weight.grad, theirs.lm_head.weight.grad)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_the_gradient_of_the_shared_matrix_is_the_sum_of_both_uses(ids):
    ids = torch.tensor(ids)
    tied, apart = Model(), Model(tied=False)
    with torch.no_grad():
        for weight in apart.parameters():
            weight.copy_(tied.head.weight)
    for model in (tied, apart):
        F.cross_entropy(model(ids), ids.flip(0)).backward()
    both = apart.embedding.weight.grad + apart.head.weight.grad
    # Two terms added in either order, a few roundings apart.
    torch.testing.assert_close(tied.head.weight.grad, both, rtol=1e-5, atol=1e-6)
    unused = [row for row in range(7) if row not in ids.tolist()]
    assert not apart.embedding.weight.grad[unused].any()
    assert tied.embedding.weight.grad[unused].any(-1).all()  # the exit reaches every row


# What keeps the tie and what loses it


@pytest.mark.parametrize(
    "way",
    [
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
        lambda model: model.to(torch.float64),
        lambda model: model.half(),
        lambda model: model.to_empty(device="cpu"),
        lambda model: model.load_state_dict(copy.deepcopy(model.state_dict())) and model,
    ],
    ids=["deepcopy", "pickle", "to", "half", "to_empty", "load_state_dict"],
)
def test_C05_what_keeps_the_tie(way):
    model = way(Model())
    assert model.tied and numbers_in(model) == 28
    check_tied(model.embedding, model.head)


@pytest.mark.parametrize("head", [LanguageModelHead(7, 4), nn.Linear(4, 7, bias=False)])
@pytest.mark.parametrize("embedding", [TokenEmbedding(7, 4), nn.Embedding(7, 4)])
def test_C05_assign_loses_the_tie_and_retie_repairs_it(embedding, head):
    tie(embedding, head)
    model = nn.ModuleDict({"embedding": embedding, "head": head})
    assert numbers_in(model) == 28
    state = {key: value.clone() for key, value in model.state_dict().items()}
    model.load_state_dict(state, assign=True)
    assert not is_tied(embedding, head) and numbers_in(model) == 56
    words = r"\[7, 4\] and \[7, 4\], with the same values; retie\(embedding, head\)"
    with pytest.raises(RuntimeError, match=words):
        check_tied(embedding, head)
    retie(embedding, head)
    assert is_tied(embedding, head) and numbers_in(model) == 28


@pytest.mark.parametrize("key", ["embedding", "head"])
def test_C05_a_checkpoint_with_one_key_leaves_the_other_matrix_stale(key):
    model = Model()
    fresh = torch.arange(28.0).view(7, 4)
    model.load_state_dict({f"{key}.weight": fresh}, strict=False, assign=True)
    with pytest.raises(RuntimeError, match="differ in 7 of 7 rows"):
        check_tied(model.embedding, model.head)
    with pytest.raises(ValueError, match="differ in 7 of 7 rows: keep='embedding' or keep='head'"):
        retie(model.embedding, model.head)
    assert not model.tied
    retie(model.embedding, model.head, keep=key)
    assert model.tied and torch.equal(model.embedding.weight, fresh)
    assert torch.equal(model(torch.tensor([1])), fresh[1:2] @ fresh.T)


def test_C05_from_the_meta_device_to_empty_loses_it():
    with torch.device("meta"):
        model = Model()
    assert model.tied
    model.to_empty(device="cpu")
    assert not model.tied and numbers_in(model) == 56
    tie(model.embedding, model.head)
    model.load_state_dict(Model().state_dict())
    assert model.tied and numbers_in(model) == 28


def test_C05_to_the_meta_device_loses_it_too():
    assert not Model().to("meta").tied


def test_retie_on_the_meta_device_has_no_values_to_compare():
    with torch.device("meta"):
        model = Model(tied=False)
    with pytest.raises(RuntimeError, match="each with values of its own"):
        check_tied(model.embedding, model.head)
    retie(model.embedding, model.head)
    assert model.tied


def test_retie_sees_dtypes_that_differ():
    embedding, head = TokenEmbedding(7, 4), LanguageModelHead(7, 4).half()
    with pytest.raises(ValueError, match="torch.float32 on cpu and torch.float16 on cpu"):
        retie(embedding, head)
    retie(embedding, head, keep="head")
    assert is_tied(embedding, head) and embedding.weight.dtype == torch.float16


# Scale


def test_C05_the_direction_of_the_tie_decides_the_scale_of_the_logits():
    x = torch.randn(500, 256)
    x = x / x.pow(2).mean(-1, keepdim=True).sqrt()
    embedding, linear = nn.Embedding(1000, 256), nn.Linear(256, 1000, bias=False)
    head = LanguageModelHead(1000, 256)
    # 500,000 logits, but only 1,000 rows and 500 states: the spread is known to about 1 %.
    assert linear(x).std().item() == pytest.approx(3**-0.5, rel=0.02)
    assert head(x).std().item() == pytest.approx(1, rel=0.02)
    retie(embedding, linear, keep="embedding")
    assert linear(x).std().item() == pytest.approx(16, rel=0.02)
    tie(embedding, head, std=256**-0.5)
    assert head(x).std().item() == pytest.approx(1, rel=0.02)
    scaled = TokenEmbedding(1000, 256, scale=True)
    tie(scaled, head, std=256**-0.5)
    assert scaled(torch.arange(1000)).std().item() == pytest.approx(1, rel=0.02)


def test_C05_the_values_of_the_table_survive_a_tie():
    embedding, head = TokenEmbedding(7, 4, padding_idx=2), LanguageModelHead(7, 4)
    before = embedding.weight.detach().clone()
    tie(embedding, head)
    assert torch.equal(head.weight, before)
    tie(embedding, head, std=0.5)
    assert not torch.equal(head.weight, before)
    assert not head.weight[2].any() and head.weight.any()


def test_an_optimizer_sees_one_matrix():
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    F.cross_entropy(model(torch.tensor([1, 2])), torch.tensor([2, 3])).backward()
    optimizer.step()
    assert len(optimizer.param_groups[0]["params"]) == 1 and model.tied


# At home in PyTorch


@pytest.mark.usefixtures("unchecked_shapes")
def test_A14_compile_export_vmap_and_autocast():
    model, ids = Model(), torch.tensor([[1, 2, 6], [0, 0, 3]])
    compiled = torch.compile(model, fullgraph=True, backend="eager", dynamic=True)
    for repeat in (1, 2, 5):
        assert torch.equal(compiled(ids.repeat(1, repeat)), model(ids.repeat(1, repeat)))
    torch.testing.assert_close(torch.export.export(model, (ids,)).module()(ids), model(ids))
    torch.testing.assert_close(torch.func.vmap(model)(ids), model(ids))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert model(ids).dtype == torch.bfloat16


# Bad input


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: LanguageModelHead(0, 4), ValueError, "size must be at least 1; got 0"),
        (lambda: LanguageModelHead(7, -4), ValueError, "width must be at least 1; got -4"),
        (lambda: LanguageModelHead(7, 4, std=-1), ValueError, "std must be at least 0; got -1"),
        (lambda: LanguageModelHead(7, 4)(torch.zeros(2, 5)), ValueError, r"\[..., 4\], got \[2, 5"),
        (lambda: LanguageModelHead(7, 4)(torch.zeros(4).long()), TypeError, "got torch.int64"),
        (
            lambda: tie(TokenEmbedding(7, 4), LanguageModelHead(4, 7)),
            ValueError,
            r"one shape \[V, D\]; got \[7, 4\] and \[4, 7\]",
        ),
        (
            lambda: retie(TokenEmbedding(7, 4), LanguageModelHead(6, 4), keep="head"),
            ValueError,
            r"got \[7, 4\] and \[6, 4\]",
        ),
        (
            lambda: tie(TokenEmbedding(7, 4), LanguageModelHead(7, 4), std=-0.1),
            ValueError,
            "std must be at least 0; got -0.1",
        ),
        (lambda: tie(TokenEmbedding(7, 4), nn.ReLU()), TypeError, "head must have .* got ReLU"),
        (lambda: is_tied(nn.ReLU(), nn.Linear(1, 1)), TypeError, "embedding must .* got ReLU"),
        (
            lambda: retie(TokenEmbedding(7, 4), LanguageModelHead(7, 4), keep="both"),
            ValueError,
            "keep must be 'embedding' or 'head'; got 'both'",
        ),
        (
            lambda: check_tied(TokenEmbedding(7, 4), LanguageModelHead(6, 4)),
            RuntimeError,
            r"\[7, 4\] and \[6, 4\]",
        ),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()
