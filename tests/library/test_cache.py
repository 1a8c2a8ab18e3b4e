"""The KV cache: a value that is passed in, and a longer one that comes back."""

from __future__ import annotations

import pytest
import torch

from tokpos.cache import KeyValueCache

B, H, D = 2, 3, 4


def piece(start, end, *, rows=False, padding=None, seed=0):
    torch.manual_seed(seed + start)
    positions = torch.arange(start, end)
    return KeyValueCache(
        torch.randn(B, H, end - start, D),
        torch.randn(B, H, end - start, D),
        positions.expand(B, -1) if rows else positions,
        padding,
    )


def test_pieces_stand_one_behind_the_other_and_stay_what_they_are():
    one, two = piece(0, 3), piece(3, 5)
    kept = [part.clone() for part in (one.keys, one.values, one.positions)]
    both = one.extended(two)
    assert one.length == 3 and two.length == 2 and both.length == 5
    assert torch.equal(both.keys, torch.cat([one.keys, two.keys], dim=2))
    assert torch.equal(both.values, torch.cat([one.values, two.values], dim=2))
    assert both.positions.tolist() == [0, 1, 2, 3, 4] and both.padding_mask is None
    for part, before in zip((one.keys, one.values, one.positions), kept, strict=True):
        assert torch.equal(part, before)


@pytest.mark.parametrize("rows", [(False, True), (True, False), (True, True)])
def test_one_row_of_positions_or_one_for_each_sample(rows):
    both = piece(0, 3, rows=rows[0]).extended(piece(3, 5, rows=rows[1]))
    assert both.positions.tolist() == [[0, 1, 2, 3, 4]] * B


def test_padding_is_kept_and_new_tokens_are_real():
    padding = torch.tensor([[False, True, True], [True, True, True]])
    both = piece(0, 3, padding=padding).extended(piece(3, 5))
    assert both.padding_mask.int().tolist() == [[0, 1, 1, 1, 1], [1, 1, 1, 1, 1]]
    behind = piece(0, 3).extended(piece(3, 4, padding=torch.tensor([[False], [True]])))
    assert behind.padding_mask.int().tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]


def test_an_empty_piece_changes_nothing():
    one = piece(0, 3)
    for same in (one.extended(piece(3, 3)), piece(0, 0).extended(one)):
        assert torch.equal(same.keys, one.keys) and torch.equal(same.positions, one.positions)


def test_it_is_a_tree_of_tensors():
    leaves, spec = torch.utils._pytree.tree_flatten(piece(0, 3, padding=torch.ones(B, 3).bool()))
    assert len(leaves) == 4
    assert isinstance(torch.utils._pytree.tree_unflatten(leaves, spec), KeyValueCache)


def test_gradients_go_through_a_cache():
    one = piece(0, 2)._replace(keys=torch.randn(B, H, 2, D, requires_grad=True))
    one.extended(piece(2, 3)).keys.square().sum().backward()
    assert torch.equal(one.keys.grad, 2 * one.keys.detach())
