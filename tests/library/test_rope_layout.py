"""Weights from one layout to the other: scores stay, values stay, wrong head counts are refused."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tokpos.rope import LAYOUTS, RotaryEncoding
from tokpos.rope_layout import convert_queries_and_keys, convert_rows, feature_order

THERE = {"source": "interleaved", "target": "half-split"}
BACK = {"source": "half-split", "target": "interleaved"}
both_ways = pytest.mark.parametrize("way", [THERE, BACK])


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def heads(x, rows, bias, norm, n):
    """Projection and normalization of every head: ``[B, H, S, d]``."""
    out = (x @ rows.T + bias).unflatten(-1, (n, -1)).transpose(1, 2)
    return out * out.square().mean(-1, keepdim=True).rsqrt() * norm


@both_ways
@pytest.mark.parametrize("rotary_width", [None, 4])
def test_A01_scores_stay_when_queries_and_keys_change_together(way, rotary_width):
    n_heads, n_kv_heads, d = 4, 2, 6
    x, positions = draw(2, 5, 8), torch.arange(5) + 3
    q = [draw(24, 8, seed=1), draw(24, seed=2), draw(d, seed=3)]
    k = [draw(12, 8, seed=4), draw(12, seed=5), draw(d, seed=6)]

    def scores(layout, q, k):
        encode = RotaryEncoding(d, layout=layout, rotary_width=rotary_width)
        queries, keys = heads(x, *q, n_heads), heads(x, *k, n_kv_heads)
        queries, keys = encode(queries, keys, positions, positions)
        return queries @ keys.repeat_interleave(n_heads // n_kv_heads, dim=1).mT

    counts = (n_heads, n_kv_heads), (n_heads, n_kv_heads), (1, 1)
    done = [
        convert_queries_and_keys(a, b, *count, d, rotary_width=rotary_width, **way)
        for a, b, count in zip(q, k, counts, strict=True)
    ]
    q_new, k_new = (list(side) for side in zip(*done, strict=True))
    before = scores(way["source"], q, k)
    torch.testing.assert_close(scores(way["target"], q_new, k_new), before, rtol=0, atol=1e-13)
    for wrong in ((q_new, k), (q, k_new), (q, k)):
        assert (scores(way["target"], *wrong) - before).abs().max() > 0.1
    for part in range(3):  # each of weight, bias and norm must come along
        mixed = [*q_new[:part], q[part], *q_new[part + 1 :]]
        assert (scores(way["target"], mixed, k_new) - before).abs().max() > 0.01


def test_A01_the_values_of_the_case():
    q, k = torch.arange(16.0)[:, None], torch.arange(8.0)[:, None]
    new_q, new_k = convert_queries_and_keys(q, k, 4, 2, 4, **THERE)
    order = torch.tensor([0, 2, 1, 3])
    assert new_q.flatten().tolist() == [
        (4 * h + order[i]).item() for h in range(4) for i in range(4)
    ]
    assert new_k.flatten().tolist() == [
        (4 * h + order[i]).item() for h in range(2) for i in range(4)
    ]


@settings(max_examples=40)
@given(pairs=st.integers(1, 16), rest=st.integers(0, 5), n=st.integers(1, 5))
def test_there_and_back_is_the_same(pairs, rest, n):
    d = 2 * pairs + rest
    rows = draw(n * d, 2)
    for one, other in ((THERE, BACK), (BACK, THERE)):
        there = convert_rows(rows, n, d, rotary_width=2 * pairs, **one)
        assert torch.equal(convert_rows(there, n, d, rotary_width=2 * pairs, **other), rows)
        by_head = (there.unflatten(0, (n, d)), rows.unflatten(0, (n, d)))
        assert torch.equal(*(side[:, 2 * pairs :] for side in by_head))
        for head in range(n):  # nothing leaves its head
            assert torch.equal(*(side[head].sort(dim=0).values for side in by_head))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_layout_changes_nothing(layout):
    rows = draw(8, 3)
    assert torch.equal(convert_rows(rows, 2, 4, source=layout, target=layout), rows)


def test_llamas_converter_does_the_same():
    # The permutation of Meta's rows: view(heads, d / 2, 2, D), transpose(1, 2), as published.
    rows = draw(24, 5)
    theirs = rows.view(3, 4, 2, 5).transpose(1, 2).reshape(24, 5)
    assert torch.equal(convert_rows(rows, 3, 8, **THERE), theirs)


def test_types_and_devices_are_kept():
    rows = draw(8).bfloat16()
    assert convert_rows(rows, 2, 4, **THERE).dtype == torch.bfloat16
    there = convert_rows(torch.empty(8, 3, device="meta"), 2, 4, **THERE)
    assert there.device.type == "meta" and there.shape == (8, 3)
    assert convert_rows(rows, 2, 4, **THERE).data_ptr() != rows.data_ptr()
    with torch.device("meta"):
        assert feature_order(4, **THERE).tolist() == [0, 2, 1, 3]


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: convert_queries_and_keys(draw(16), draw(8), 4, 4, 4, **THERE),
            r"k must have 16 rows, 4 heads of width 4; got \[8\]",
        ),
        (
            lambda: convert_queries_and_keys(draw(16), draw(8), 2, 2, 4, **THERE),
            r"q must have 8 rows, 2 heads of width 4; got \[16\]",
        ),
        (
            lambda: convert_queries_and_keys(draw(16), draw(12), 4, 3, 4, **THERE),
            "n_heads must be a multiple of n_kv_heads, got 4 and 3",
        ),
        (
            lambda: convert_queries_and_keys(draw(16), draw(8), 4, 0, 4, **THERE),
            "n_heads must be a multiple of n_kv_heads, got 4 and 0",
        ),
        (
            lambda: convert_rows(draw(8, 3), 4, 4, **THERE),
            r"n_heads \* head_width = 4 \* 4 = 16 rows, got \[8, 3\]",
        ),
        (lambda: convert_rows(draw(8), 0, 4, **THERE), "n_heads must be at least 1, got 0"),
        (
            lambda: feature_order(4, "neox", "half-split"),
            "source must be one of interleaved, half-split; got 'neox'",
        ),
        (lambda: feature_order(4, "half-split", "gptj"), "target must be one of .* got 'gptj'"),
        (lambda: feature_order(5, **THERE), "width must be even and at least 2 .* got 5"),
        (
            lambda: feature_order(8, **THERE, rotary_width=3),
            "rotary_width must be even and at least 2 .* got 3",
        ),
        (
            lambda: feature_order(8, **THERE, rotary_width=10),
            "rotary_width must be at most the head width 8, got 10",
        ),
    ],
)
def test_A01_wrong_counts_and_layouts_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
