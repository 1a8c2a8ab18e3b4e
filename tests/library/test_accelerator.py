"""On an accelerator nothing waits: no value is read back, and no shape depends on one.

No GPU is needed to see it: a tensor on the meta device has a shape and no values. Whatever would
make the host wait (``item``, ``nonzero``, a mask as an index, a copy to the CPU) raises an error
there. A CPU build of torch cannot run fake tensors of the device "cuda".
"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.library.every_encoding import BOTH_WAYS, CAUSAL, HEADS, WIDTH
from tokpos.attention import Attention
from tokpos.bert import BertEmbeddings
from tokpos.embedding import TokenEmbedding
from tokpos.head import LanguageModelHead
from tokpos.language_model import CausalLanguageModel
from tokpos.lookup import lookup, one_hot_product
from tokpos.positions import (
    causal_mask,
    document_mask,
    documents_of_lengths,
    positions_from_mask,
    positions_of_documents,
    positions_of_step,
)
from tokpos.roberta import RobertaEmbeddings
from tokpos.rope import LAYOUTS, RotaryEncoding

B, S, V = 2, 6, 11


@pytest.fixture
def device():
    """Every tensor made inside is on a device whose values nobody can read."""
    with torch.device("meta"):
        yield "meta"


def ids():
    return torch.randint(V, (B, S))


def x(width=WIDTH):
    return torch.randn(B, S, width, requires_grad=True)


def backward(out):
    assert out.is_meta
    out.sum().backward()


def test_reading_a_value_is_noticed(device):
    for wait in (torch.Tensor.item, torch.Tensor.tolist, bool, torch.nonzero):
        with pytest.raises(RuntimeError):
            wait(torch.ones(()) if wait is not torch.nonzero else torch.ones(3))


@pytest.mark.parametrize("name", sorted(CAUSAL))
@pytest.mark.parametrize("given", ["nothing", "positions", "padding"])
def test_attention(device, name, given):
    for causal, encodings in ((True, CAUSAL), (False, BOTH_WAYS)):
        layer = Attention(WIDTH, HEADS, encodings[name](), causal=causal)
        real = torch.ones(B, S, dtype=torch.bool)
        positions = None if given == "nothing" else torch.arange(S)
        if given == "padding":
            positions = positions_from_mask(real)
        before = layer.encoding.into_input(x(), positions)
        backward(layer(before, positions, padding_mask=real if given == "padding" else None))


@pytest.mark.parametrize("name", sorted(CAUSAL))
def test_the_language_model_and_its_steps(device, name):
    model = CausalLanguageModel(V, WIDTH, 2, HEADS, CAUSAL[name]())
    backward(model(ids(), padding_mask=torch.ones(B, S, dtype=torch.bool)))
    logits, caches = model.step(ids(), None, torch.arange(S))
    logits, caches = model.step(ids()[:, :1], caches, torch.tensor([S]))
    assert logits.shape == (B, 1, V) and caches[0].length == S + 1
    written = model.generate(ids(), 3, padding_mask=torch.ones(B, S, dtype=torch.long))
    assert written.shape == (B, S + 3) and written.device.type == device


@pytest.mark.parametrize(
    "make",
    [
        lambda: TokenEmbedding(V, WIDTH, scale=True, padding_idx=0),
        lambda: TokenEmbedding(V, WIDTH, sparse=True),
        lambda: nn.Sequential(TokenEmbedding(V, WIDTH), LanguageModelHead(V, WIDTH)),
        lambda: BertEmbeddings(V, WIDTH),
        lambda: RobertaEmbeddings(V, WIDTH),
    ],
)
def test_layers_that_take_ids(device, make):
    backward(make()(ids()))


def test_functions_of_ids_and_masks(device):
    table = torch.randn(V, WIDTH, requires_grad=True)
    backward(lookup(ids(), table))
    backward(one_hot_product(ids(), table))
    mask = torch.ones(B, S, dtype=torch.long)
    positions = positions_from_mask(mask)
    documents = torch.zeros(B, S, dtype=torch.long)
    for made in (
        positions,
        positions_of_documents(documents),
        positions_of_step(mask.sum(-1), new=2),
        document_mask(documents),
        causal_mask(positions, positions),
    ):
        assert made.device.type == device


# Where another device is the default


@pytest.mark.parametrize("name", sorted(CAUSAL))
def test_a_layer_stays_where_its_input_is(name):
    layer, x = Attention(WIDTH, HEADS, CAUSAL[name](), causal=True), x_on_the_cpu(B, S, WIDTH)
    rows = torch.arange(S).repeat(B, 1)
    given = [(x,), (x, torch.arange(S)), (x, rows)]
    expected = [layer(*each) for each in given]
    with torch.device("meta"):
        for each, right in zip(given, expected, strict=True):
            assert torch.equal(layer(*each), right)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_rotation_in_blocks_stays_where_its_input_is(layout):
    x, places = x_on_the_cpu(1, 8, 512, 64).bfloat16(), torch.arange(512)
    encode = RotaryEncoding(64, layout=layout)
    expected = encode(x, x, places, places)[0]
    with torch.device("meta"):
        assert torch.equal(encode(x, x, places, places)[0], expected)


def test_documents_are_counted_on_the_host(device):
    assert documents_of_lengths([2, 1], size=4).tolist() == [0, 0, 1, 2]


def x_on_the_cpu(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))
