"""The attention layer: its reference, its fast path, and every encoding through its doors."""

from __future__ import annotations

import copy
import io
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from tests.library.every_encoding import (
    BOTH_WAYS,
    CAUSAL,
    HEAD_WIDTH,
    HEADS,
    RELATIVE,
    WIDTH,
    make,
)
from tokpos.attention import Attention
from tokpos.dot_product_attention import attend, attend_explicitly, attention_weights
from tokpos.position import PositionEncoding, ScoreTerms
from tokpos.positions import document_mask, positions_from_mask, positions_of_documents
from tokpos.rope_axes import MultiAxisRotaryEncoding, axial_plan

every_encoding = pytest.mark.parametrize("name", sorted(CAUSAL))
S = 7


def layer_with(name, causal=True, dtype=torch.float64, **settings):
    """A layer whose weights are large enough for positions to matter."""
    torch.manual_seed(0)
    layer = Attention(WIDTH, HEADS, make(name, causal), causal=causal, **settings)
    for module in layer.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=WIDTH**-0.5)
            if module.bias is not None:
                nn.init.normal_(module.bias, std=0.1)
    return layer.to(dtype)


def tokens(*batch, length=S, dtype=torch.float64, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*batch, length, WIDTH, dtype=dtype, generator=generator)


def run(layer, x, positions=None, **masks):
    """The layer as a model calls it: door 1 first."""
    return layer(layer.encoding.into_input(x, positions), positions, **masks)


def close(here, there, rtol=0.0, atol=1e-12):
    torch.testing.assert_close(here, there, rtol=rtol, atol=atol)


# The formula, and the fused kernel beside it


def heads(batch=(2,), kv_heads=HEADS, queries=S, keys=S + 2, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)

    def draw(n, length):
        return torch.randn(*batch, n, length, HEAD_WIDTH, dtype=dtype, generator=generator)

    return draw(HEADS, queries), draw(kv_heads, keys), draw(kv_heads, keys)


def terms_of(kind, q, keys):
    generator = torch.Generator().manual_seed(5)
    shape = (*q.shape[:-1], keys)
    inside, outside = (torch.randn(shape, generator=generator).to(q.dtype) for _ in range(2))
    if kind == "outside, one for all samples":
        return ScoreTerms(outside=outside[(0,) * (q.dim() - 3)])
    return ScoreTerms(inside if "inside" in kind else None, outside if "outside" in kind else None)


KINDS = ["nothing", "inside", "outside", "inside and outside", "outside, one for all samples"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [None, 1.0])
def test_the_reference_is_the_formula(kind, scale):
    q, k, v = heads()
    terms = terms_of(kind, q, k.shape[-2])
    visible = torch.rand(2, 1, S, S + 2, generator=torch.Generator().manual_seed(1)) < 0.6
    weights = attention_weights(q, k, terms, visible, scale)
    for b, h, i in [(0, 0, 0), (1, 3, 6), (0, 2, 4)]:
        scores = []
        for j in range(S + 2):
            score = sum(q[b, h, i, c].item() * k[b, h, j, c].item() for c in range(HEAD_WIDTH))
            if terms.inside is not None:
                score += terms.inside[b, h, i, j].item()
            score *= HEAD_WIDTH**-0.5 if scale is None else scale
            if terms.outside is not None:
                score += terms.outside.expand(2, -1, -1, -1)[b, h, i, j].item()
            scores.append(math.exp(score) if visible[b, 0, i, j] else 0.0)
        expected = torch.tensor(scores, dtype=torch.float64) / sum(scores)
        close(weights[b, h, i], expected)
    close(attend_explicitly(q, k, v, terms, visible, scale), weights @ v)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("batch", "kv_heads"), [((), HEADS), ((2,), HEADS), ((2,), 1), ((), 2), ((2, 3), 2)]
)
@pytest.mark.parametrize(("masked", "scale"), [(False, None), (True, None), (True, 1.0)])
def test_the_fused_kernel_equals_the_reference(kind, batch, kv_heads, masked, scale):
    q, k, v = (x.requires_grad_() for x in heads(batch, kv_heads))
    terms = terms_of(kind, q, k.shape[-2])
    terms = ScoreTerms(*(None if term is None else term.requires_grad_() for term in terms))
    visible = None
    if masked:
        visible = torch.rand(S, S + 2, generator=torch.Generator().manual_seed(1)) < 0.4
        visible[3] = False
    inputs = [q, k, v, *(term for term in terms if term is not None)]
    fast, slow = (way(q, k, v, terms, visible, scale) for way in (attend, attend_explicitly))
    close(fast, slow)
    toward = torch.randn(fast.shape, dtype=torch.float64)
    for one, other in zip(
        torch.autograd.grad(fast, inputs, toward),
        torch.autograd.grad(slow, inputs, toward),
        strict=True,
    ):
        close(one, other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_is_near_the_exact_value(dtype, kind):
    q, k, v = (x.to(dtype) for x in heads())
    terms = terms_of(kind, q.float(), k.shape[-2])
    exact = attend_explicitly(
        q.double(),
        k.double(),
        v.double(),
        ScoreTerms(*(None if term is None else term.double() for term in terms)),
    )
    for way in (attend, attend_explicitly):
        out = way(q, k, v, terms)
        assert out.dtype == dtype
        # Weights and result are rounded to the type once each; values reach 3.
        close(out.double(), exact, atol=max(4 * torch.finfo(dtype).eps, 2e-6))


def test_far_alibi_keys_keep_their_distance_in_bfloat16():
    # A bias of -1000.5 and -1001.5 is -1000 and -1000 in bfloat16: the weights would be equal.
    q = k = torch.zeros(1, 2, 8, dtype=torch.bfloat16)
    v = torch.tensor([[1.0], [0.0]], dtype=torch.bfloat16)[None].expand(1, 2, 1)
    outside = torch.tensor([[[-1000.5, -1001.5]]]).expand(1, 2, 2)
    out = attend(q, k, v, ScoreTerms(outside=outside))
    close(out.float(), torch.full((1, 2, 1), 0.7311), atol=2e-3)


# E04: rows that see nothing


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("way", [attend, attend_explicitly])
@pytest.mark.parametrize("biased", [False, True])
def test_E04_a_row_that_sees_nothing_is_zeros(dtype, way, biased):
    q, k, v = (x.to(dtype).requires_grad_() for x in heads())
    offset = torch.arange(S + 2) - torch.arange(S)[:, None]
    steep = -64.0 * offset.abs().to(torch.promote_types(dtype, torch.float32))
    terms = ScoreTerms(outside=steep.expand(HEADS, -1, -1) if biased else None)
    visible = offset <= 0
    visible[0] = visible[4] = False
    out = way(q, k, v, terms, visible)
    assert not out[:, :, [0, 4]].any()
    assert out[:, :, [1, 2, 3, 5, 6]].any(-1).all()
    for gradient in torch.autograd.grad(out.float().square().sum(), (q, k, v)):
        assert gradient.isfinite().all()


def test_E04_the_mask_is_no_number_that_is_added():
    # finfo.min and a bias of -64 together are -inf in fp16, and a masked key with a bias of
    # +60000 would come back.
    q = k = torch.zeros(1, 3, 8, dtype=torch.float16)
    bias = torch.tensor([[[-64.0, 60000.0, -64.0]]]).expand(1, 3, 3)
    visible = torch.tensor([True, False, True]).expand(3, 3)
    weights = attention_weights(q, k, ScoreTerms(outside=bias), visible)
    assert weights.tolist() == [[[0.5, 0.0, 0.5]] * 3]


@every_encoding
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_E04_a_sample_of_padding_alone_gives_no_nan(name, dtype):
    layer = layer_with(name, dtype=dtype)
    x = tokens(2, dtype=dtype).requires_grad_()
    real = torch.ones(2, S, dtype=torch.bool)
    real[0] = False
    out = run(layer, x, positions_from_mask(real), padding_mask=real)
    assert torch.equal(out[0], layer.output.bias.expand(S, -1))
    close(out[1], run(layer, x[1:])[0], atol=2e-2 if dtype == torch.float16 else 1e-12)
    out.float().square().sum().backward()
    for each in (x, *layer.parameters()):
        assert each.grad is None or each.grad.isfinite().all()


# Every encoding: the same numbers whichever way the tokens come


@every_encoding
@pytest.mark.usefixtures("unchecked_shapes")
def test_A04_chunked_decoding_equals_the_whole_for_every_split(name):
    layer = layer_with(name, n_kv_heads=2)
    x = tokens(2)
    whole = run(layer, x)
    for split in range(S + 1):
        cache, parts = None, []
        for start, end in [(0, split), (split, min(split + 1, S)), (min(split + 1, S), S)]:
            positions = torch.arange(start, end)
            part, cache = layer.step(
                layer.encoding.into_input(x[:, start:end], positions), cache, positions
            )
            parts.append(part)
        close(torch.cat(parts, dim=1), whole)
        assert cache.length == S


@every_encoding
def test_A03_a_left_padded_batch_equals_each_row_alone(name):
    layer = layer_with(name)
    real = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7, [0, 0, 0, 0, 0, 0, 1]])
    x = tokens(3)
    out = run(layer, x, positions_from_mask(real), padding_mask=real)
    for row, keep in enumerate(real.bool()):
        close(out[row, keep], run(layer, x[row, keep][None])[0])


@every_encoding
@pytest.mark.parametrize("causal", [True, False])
def test_packed_documents_equal_each_alone(name, causal):
    layer = layer_with(name, causal)
    documents = torch.tensor([4, 4, 4, 0, 0, 9, 9])
    x = tokens(2)
    positions, mask = positions_of_documents(documents), document_mask(documents)
    out = run(layer, x, positions, mask=mask)
    for document in (4, 0, 9):
        own = documents == document
        close(out[:, own], run(layer, x[:, own]))


@every_encoding
@pytest.mark.parametrize("causal", [True, False])
def test_positions_left_out_are_0_1_2(name, causal):
    layer, x = layer_with(name, causal), tokens(2)
    close(run(layer, x), run(layer, x, torch.arange(S)))
    close(run(layer, x), run(layer, x, torch.arange(S).expand(2, S)))
    close(run(layer, x)[0], run(layer, x[0]))


class Largest(TorchDispatchMode):
    """The most bytes that any tensor made inside has behind it."""

    bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for each in tree_leaves(out):
            if isinstance(each, torch.Tensor):
                self.bytes = max(self.bytes, each.untyped_storage().nbytes())
        return out


@pytest.mark.parametrize("settings", [{}, {"n_kv_heads": 2, "scale": 0.3}])
@pytest.mark.parametrize("length", [S, 300])  # more than one block of queries
def test_alibi_in_order_equals_door_3(length, settings):
    layer, x = layer_with("alibi", **settings), tokens(2, length=length).requires_grad_()
    here, there = layer(x), layer(x, torch.arange(length))
    close(here, there)
    upstream = torch.randn_like(here)
    inputs = [x, *layer.parameters()]
    for one, other in zip(
        torch.autograd.grad(here, inputs, upstream),
        torch.autograd.grad(there, inputs, upstream),
        strict=True,
    ):
        close(one, other, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_alibi_in_order_keeps_the_bias_exact_beside_half_precision(dtype):
    layer, x = layer_with("alibi", dtype=dtype), tokens(2, length=300).to(dtype)
    assert torch.equal(layer(x), layer(x, torch.arange(300)))  # both by door 3
    q = torch.ones(1, HEADS, S, HEAD_WIDTH)
    assert layer.encoding.attend_in_order(q, q, q) is not None
    with torch.autocast("cpu", torch.bfloat16):
        assert layer.encoding.attend_in_order(q, q, q) is None


def test_alibi_in_order_builds_no_matrix_of_the_bias():
    length = 1024
    layer, x = layer_with("alibi", dtype=torch.float32), tokens(1, length=length).float()
    matrix = HEADS * length * length * 4  # bytes of a number for each head and pair
    with Largest() as short:
        layer(x)
    with Largest() as long:
        layer(x, torch.arange(length))
    assert short.bytes < matrix / 8 and long.bytes >= matrix


@pytest.mark.parametrize("name", sorted(BOTH_WAYS))
@settings(max_examples=10)
@given(order=st.permutations(range(S)))
def test_tokens_in_another_order_give_the_same_only_without_positions(name, order):
    layer, x = layer_with(name, causal=False), tokens(2)
    order = torch.tensor(order)
    out, moved = run(layer, x), run(layer, x[:, order])
    # A token that keeps its position gives the same in another order of rows.
    close(run(layer, x[:, order], order), out[:, order])
    if name == "none":
        close(moved, out[:, order])


@pytest.mark.parametrize("name", sorted(BOTH_WAYS))
def test_positions_and_the_causal_mask_break_the_symmetry(name):
    order = torch.tensor([2, 1, 0, 3, 4, 5, 6])
    x = tokens(2)
    for causal in (False, True):
        layer = layer_with(name, causal)
        apart = (run(layer, x[:, order]) - run(layer, x)[:, order]).abs().max()
        assert (apart < 1e-12) == (name == "none" and not causal)


@every_encoding
@settings(max_examples=10)
@given(shift=st.integers(1, 40))
def test_a_shift_changes_nothing_for_relative_encodings(name, shift):
    layer, x = layer_with(name), tokens(2)
    there = run(layer, x, torch.arange(S) + shift)
    apart = (there - run(layer, x)).abs().max()
    # Angles of float64 at positions up to 47 are off by some 1e-14.
    same = apart < 1e-12
    assert same == (name in RELATIVE), "ABSOLUTE in every_encoding.py says which are not relative"


@every_encoding
def test_keys_gathered_from_elsewhere_give_the_whole(name):
    layer, x = layer_with(name), tokens(2)
    whole = run(layer, x)
    pieces = []
    for places in (slice(0, 3), slice(3, S)):
        positions = torch.arange(S)[places]
        own = layer.encoding.into_input(x[:, places], positions)
        pieces.append(layer.step(own, None, positions)[1])
    for places in (slice(0, 3), slice(3, S)):
        positions = torch.arange(S)[places]
        # Whichever order they come in: their positions say where they stand.
        out = run(
            layer, x[:, places], positions, exchange=lambda mine: pieces[1].extended(pieces[0])
        )
        close(out, whole[:, places])


# Grouped heads


@pytest.mark.usefixtures("unchecked_shapes")
@every_encoding
@pytest.mark.parametrize("n_kv_heads", [1, 2])
def test_grouped_heads_are_full_heads_with_repeated_weights(name, n_kv_heads):
    grouped, full = layer_with(name, n_kv_heads=n_kv_heads), layer_with(name)
    with torch.no_grad():
        for part in ("query", "output"):
            getattr(full, part).load_state_dict(getattr(grouped, part).state_dict())
        for part in ("key", "value"):
            for kind in ("weight", "bias"):
                few = getattr(getattr(grouped, part), kind).unflatten(0, (n_kv_heads, HEAD_WIDTH))
                many = few.repeat_interleave(HEADS // n_kv_heads, dim=0).flatten(0, 1)
                getattr(getattr(full, part), kind).copy_(many)
    x = tokens(2)
    close(run(grouped, x), run(full, x))
    positions = torch.arange(S) * 2
    close(run(grouped, x, positions), run(full, x, positions))


def test_head_width_and_scale_are_free():
    layer = Attention(WIDTH, 3, head_width=5, scale=1.0, bias=False)
    assert layer.query.weight.shape == (15, WIDTH) and layer.output.bias is None
    assert layer(tokens(2, dtype=torch.float32)).shape == (2, S, WIDTH)


# At home in PyTorch


@every_encoding
@pytest.mark.parametrize("causal", [True, False])
def test_gradients(name, causal):
    layer = layer_with(name, causal)
    x = tokens(1, length=4).requires_grad_()
    parameters = dict(layer.named_parameters())
    some = {key: parameters[key] for key in parameters if "encoding" in key or "key" in key}

    def out(x, *values):
        given = dict(zip(some, values, strict=True))
        with torch.nn.utils.stateless._reparametrize_module(layer, given):
            return run(layer, x)

    inputs = [x, *(value.detach().requires_grad_() for value in some.values())]
    assert torch.autograd.gradcheck(out, inputs, fast_mode=True)


@pytest.mark.usefixtures("unchecked_shapes")
@every_encoding
def test_compiles_into_one_graph(name):
    layer = layer_with(name, n_kv_heads=2)
    compiled = torch.compile(layer, fullgraph=True, backend="eager", dynamic=True)
    for length in (5, 9, 12):
        x, positions = tokens(2, length=length), torch.arange(length) + 3
        real = torch.arange(length) > 1
        close(compiled(x, positions, padding_mask=real), layer(x, positions, padding_mask=real))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("name", ["rope", "t5", "shaw-values", "transformer-xl"])
def test_exports(name):
    layer = layer_with(name)
    length = torch.export.Dim("length", min=2, max=40)
    exported = torch.export.export(
        layer,
        (tokens(2), torch.arange(S)),
        dynamic_shapes={"x": {1: length}, "positions": {0: length}},
    ).module()
    for n in (4, 11):
        x, positions = tokens(2, length=n), torch.arange(n) + 2
        close(exported(x, positions), layer(x, positions))


@every_encoding
def test_vmap_over_samples(name):
    layer, x = layer_with(name), tokens(3)
    close(torch.func.vmap(layer)(x), layer(x))
    positions = torch.stack([torch.arange(S), torch.arange(S) + 2, torch.arange(S) * 2])
    close(torch.func.vmap(layer)(x, positions), layer(x, positions))


@every_encoding
def test_autocast_is_near_float32(name):
    layer, x = layer_with(name, dtype=torch.float32), tokens(2, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = layer(x)
    assert out.dtype == torch.bfloat16
    close(out.float(), layer(x), atol=5e-2)


@every_encoding
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(name, dtype):
    layer, x = layer_with(name, dtype=torch.float32), tokens(2, dtype=torch.float32)
    out = copy.deepcopy(layer).to(dtype)(x.to(dtype))
    assert out.dtype == dtype
    close(out.float(), layer(x), atol=6e-2 if dtype == torch.bfloat16 else 8e-3)


@every_encoding
def test_meta_then_to_empty_then_reset(name):
    with torch.device("meta"):
        layer = Attention(WIDTH, HEADS, CAUSAL[name](), causal=True)
        assert layer(torch.empty(2, S, WIDTH)).shape == (2, S, WIDTH)
    layer = layer.to_empty(device="cpu")
    for module in layer.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    assert 0.015 < layer.query.weight.std() < 0.025 and not layer.query.bias.any()
    out = layer(tokens(2, dtype=torch.float32))
    assert out.isfinite().all() and out.abs().max() < 1


@every_encoding
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_pickles_give_the_same(name, copied):
    layer, x = layer_with(name), tokens(2)
    again = copied(layer)
    assert torch.equal(again(x), layer(x)) and repr(again) == repr(layer)


@every_encoding
def test_state_dict_holds_learned_parameters_only(name):
    layer, x = layer_with(name), tokens(2)
    assert set(layer.state_dict()) == {key for key, _ in layer.named_parameters()}
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    fresh = Attention(WIDTH, HEADS, CAUSAL[name](), causal=True).double()
    fresh.load_state_dict(torch.load(file), strict=True)
    assert torch.equal(fresh(x), layer(x))


def test_each_door_gets_what_it_is_promised():
    given = {}

    class Watching(PositionEncoding):
        def into_queries_and_keys(self, q, k, query_positions, key_positions):
            given["door 2"] = q, query_positions, key_positions
            return 2 * q, 3 * k

        def into_scores(self, q, query_positions, key_positions):
            given["door 3"] = q, query_positions, key_positions
            return ScoreTerms()

    layer, x = layer_with("none"), tokens(2)
    layer.encoding = Watching()
    cache = layer.step(x[:, :4], None, torch.arange(4))[1]
    layer.step(x[:, 4:], cache, torch.arange(4, S))
    q = layer.query(x[:, 4:]).unflatten(-1, (HEADS, HEAD_WIDTH)).transpose(1, 2)
    for door, keys in (("door 2", torch.arange(4, S)), ("door 3", torch.arange(S))):
        assert torch.equal(given[door][0], q)  # door 3 too: as it was before door 2
        assert torch.equal(given[door][1], torch.arange(4, S))
        assert torch.equal(given[door][2], keys)
    k = layer.key(x[:, :4]).unflatten(-1, (HEADS, HEAD_WIDTH)).transpose(1, 2)
    close(cache.keys, 3 * k)  # kept as door 2 left them


def test_the_side_door_of_the_values_is_opened():
    class Beside(PositionEncoding):
        def into_values(self, weights, query_positions, key_positions):
            near = (key_positions[None, :] - query_positions[:, None]).to(weights.dtype)
            return (weights * near).sum(-1, keepdim=True).expand(*weights.shape[:-1], HEAD_WIDTH)

    plain, beside = layer_with("none"), layer_with("none")
    beside.encoding = Beside()
    x = tokens(2)
    q, k = (
        part(x).unflatten(-1, (HEADS, HEAD_WIDTH)).transpose(1, 2)
        for part in (plain.query, plain.key)
    )
    offset = torch.arange(S)[None, :] - torch.arange(S)[:, None]
    weights = attention_weights(q, k, visible=offset <= 0)
    added = (weights * offset).sum(-1, keepdim=True).expand(-1, -1, -1, HEAD_WIDTH)
    added = added.transpose(1, 2).flatten(-2) @ plain.output.weight.T
    close(beside(x), plain(x) + added)


# Which kernel is taken


class Kernels(TorchDispatchMode):
    """Notes the name of each operation."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))

    @property
    def fused(self):
        return any("flash_attention_for_cpu" in name for name in self.names)


def test_a_term_for_all_samples_takes_the_fused_kernel():
    q, k, v = heads(dtype=torch.float32)
    terms = terms_of("outside, one for all samples", q, k.shape[-2])
    assert terms.outside.dim() == 3
    with Kernels() as kernels:
        attend(q, k, v, terms)
    assert kernels.fused


@pytest.mark.parametrize(("name", "fused"), [("shaw", True), ("shaw-values", False)])
@torch.no_grad()
def test_only_vectors_for_the_values_need_the_weights(name, fused):
    layer = layer_with(name, dtype=torch.float32)
    with Kernels() as kernels:
        layer(tokens(2, dtype=torch.float32))
    assert kernels.fused == fused


@every_encoding
@pytest.mark.parametrize("causal", [True, False])
def test_an_empty_sequence_gives_an_empty_one(name, causal):
    x = tokens(2, length=0).requires_grad_()
    out = run(layer_with(name, causal), x)
    assert out.shape == x.shape
    out.sum().backward()


# Bad input


def test_an_encoding_of_several_axes_is_refused():
    plan = axial_plan(HEAD_WIDTH, spacing="dealt")
    encode = MultiAxisRotaryEncoding(HEAD_WIDTH, plan, layout="interleaved")
    with pytest.raises(TypeError, match="MultiAxisRotaryEncoding takes one on every axis"):
        Attention(WIDTH, HEADS, encode)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("name", ["none", "shaw-values"])  # by the kernel, and by the formula
def test_a_mask_is_for_all_samples_or_has_their_batch(name):
    layer, x = layer_with(name), tokens(2)
    for batch in ((), (1,), (2,)):
        assert layer(x, mask=torch.ones(*batch, S, S, dtype=torch.bool)).shape == x.shape
    for batch in ((2, 1), (1, 1), (3,)):
        mask = torch.ones(*batch, S, S, dtype=torch.bool)
        with pytest.raises(ValueError, match=r"mask must be \[7, 7\] or \[2, 7, 7\] .*no heads"):
            layer(x, mask=mask)
    with pytest.raises(ValueError, match=r"or \[1, 7, 7\] .* got \[3, 7, 7\]"):
        layer(x[:1], mask=torch.ones(3, S, S, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"mask must be \[7, 7\] \(.* got \[1, 7, 7\]"):
        layer(x[0], mask=torch.ones(1, S, S, dtype=torch.bool))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("way", [attend, attend_explicitly])
def test_what_is_visible_is_for_all_or_has_the_batch_and_the_heads(way):
    q, k, v = heads()
    for axes in ((), (1, 1), (2, 1), (1, HEADS), (2, HEADS)):
        assert way(q, k, v, visible=torch.ones(*axes, S, S + 2, dtype=torch.bool)).shape == q.shape
    for axes in ((2,), (HEADS,), (3, 1), (2, 2), (1, 2, HEADS)):
        with pytest.raises(ValueError, match=r"visible must be \[7, 9\] or \[2, 4, 7, 9\]"):
            way(q, k, v, visible=torch.ones(*axes, S, S + 2, dtype=torch.bool))
