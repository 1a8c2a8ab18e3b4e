"""The three doors of a position encoding, and the positions that go through them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import tokpos
from tokpos.position import PositionEncoding, ScoreTerms, check_positions, offsets

S, T = 3, 5  # queries and keys


@pytest.fixture
def heads():
    torch.manual_seed(0)
    return torch.randn(2, 4, S, 8), torch.randn(2, 4, T, 8)


def attend(encoding, x, q, k, query_positions, key_positions):
    """The input and the scores of an attention layer that knows only the doors."""
    x = encoding.into_input(x)
    terms = encoding.into_scores(q, query_positions, key_positions)
    q, k = encoding.into_queries_and_keys(q, k, query_positions, key_positions)
    scores = q @ k.mT
    if terms.inside is not None:
        scores = scores + terms.inside
    scores = scores / q.shape[-1] ** 0.5
    if terms.outside is not None:
        scores = scores + terms.outside
    return x, scores


def test_every_door_does_nothing_by_default(heads):
    q, k = heads
    x = torch.randn(2, S, 16)
    encoding = PositionEncoding()
    after, scores = attend(encoding, x, q, k, torch.arange(S), torch.arange(T))
    assert after is x
    assert torch.equal(scores, q @ k.mT / 8**0.5)
    assert encoding.into_scores(q, torch.arange(S), torch.arange(T)) == ScoreTerms(None, None)
    assert not list(encoding.parameters()) and not encoding.state_dict()


def test_each_door_can_be_opened_alone(heads):
    class Turned(PositionEncoding):
        def into_queries_and_keys(self, q, k, query_positions, key_positions):
            sign = [(-1.0) ** positions[:, None] for positions in (query_positions, key_positions)]
            return q * sign[0], k * sign[1]

    class Biased(PositionEncoding):
        def into_scores(self, q, query_positions, key_positions):
            offset = key_positions[None, :] - query_positions[:, None]
            near = -offset.abs().float().expand(*q.shape[:-2], -1, -1)
            return ScoreTerms(inside=q.sum(-1, keepdim=True) * near, outside=0.5 * near)

    q, k = heads
    positions = torch.arange(T - S, T), torch.arange(T)  # a cached decoder: the last S queries
    offset = positions[1][None, :] - positions[0][:, None]
    _, turned = attend(Turned(), q, q, k, *positions)
    assert torch.allclose(turned, q @ k.mT / 8**0.5 * (-1.0) ** offset)
    _, biased = attend(Biased(), q, q, k, *positions)
    near = -offset.abs()
    expected = (q @ k.mT + q.sum(-1, keepdim=True) * near) / 8**0.5 + 0.5 * near
    assert torch.allclose(biased, expected, atol=1e-6)


def test_the_public_names():
    assert tokpos.PositionEncoding is PositionEncoding and tokpos.ScoreTerms is ScoreTerms
    assert issubclass(PositionEncoding, nn.Module)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64])
def test_one_row_or_one_for_each_sample_fits(dtype):
    x = torch.zeros(2, 3, 4)
    for shape in ([3], [2, 3], [1, 3]):
        check_positions(torch.zeros(shape, dtype=dtype), x)
    check_positions(torch.zeros(3, dtype=dtype), torch.zeros(3, 4))
    check_positions(torch.zeros(6, 2, 3, dtype=dtype), torch.zeros(6, 2, 3, 4))
    check_positions(torch.zeros(0, dtype=dtype), torch.zeros(2, 0, 4))


@pytest.mark.parametrize(
    ("shape", "x", "words"),
    [
        ([1], [2, 3, 4], "places holds 1 positions and x has 3 tokens"),  # B05, its silent kind
        ([5], [1, 6, 4], "places holds 5 positions and x has 6 tokens"),  # B05
        ([2, 1], [2, 3, 4], "places holds 1 positions and x has 3 tokens"),
        ([3, 3], [2, 3, 4], r"places must be \[3\] or \[2, 3\] .* got \[3, 3\]"),
        ([3, 2], [2, 3, 4], "places holds 2 positions and x has 3 tokens"),
        ([2, 3, 1], [2, 3, 4], r"places must be \[3\] or \[2, 3\] .* got \[2, 3, 1\]"),
        ([], [2, 3, 4], r"places must be \[3\] or \[2, 3\] .* got \[\]"),
        ([1, 3], [3, 4], r"places must be \[3\] for x of \[3, 4\], got \[1, 3\]"),
    ],
)
def test_B05_positions_of_another_shape_are_refused_with_both_numbers(shape, x, words):
    with pytest.raises(ValueError, match=words):
        check_positions(torch.zeros(shape, dtype=torch.int64), torch.zeros(x), "places")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.complex64])
def test_positions_that_are_no_whole_numbers_are_refused(dtype):
    with pytest.raises(TypeError, match=f"positions must be integers, got {dtype}"):
        check_positions(torch.zeros(3, dtype=dtype), torch.zeros(2, 3, 4))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64])
def test_offsets_do_not_wrap_around(dtype):
    queries, keys = torch.tensor([100, 0], dtype=dtype), torch.tensor([0, 100], dtype=dtype)
    assert offsets(queries, keys).tolist() == [[-100, 0], [0, 100]]
