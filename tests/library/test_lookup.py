"""Lookup and one-hot product: equal in value and gradient, clear about bad input, well counted."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from tokpos.lookup import (
    check_ids,
    cost_of_lookup,
    cost_of_product,
    lookup,
    one_hot,
    one_hot_product,
    values_can_be_read,
)


@st.composite
def ids_and_table(draw):
    """IDs of any shape, with repeats or empty, and a table that has a row for each."""
    size, width = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    dtype = draw(st.sampled_from([torch.int32, torch.int64]))
    ids = torch.randint(size, shape, generator=generator, dtype=dtype)
    return ids, torch.randn(size, width, generator=generator)


def gradient(way, ids, table, upstream):
    table = table.clone().requires_grad_()
    (way(ids, table) * upstream).sum().backward()
    return table.grad


@given(ids_and_table())
def test_lookup_indexing_and_product_are_equal_bit_for_bit(example):
    ids, table = example
    assert torch.equal(lookup(ids, table), table[ids.long()])
    assert torch.equal(one_hot_product(ids, table), lookup(ids, table))
    assert lookup(ids, table).shape == (*ids.shape, table.shape[1])


@given(ids_and_table())
def test_gradients_agree_where_ids_repeat(example):
    ids, table = example
    upstream = torch.randn(*ids.shape, table.shape[1])
    ours, product = (gradient(way, ids, table, upstream) for way in (lookup, one_hot_product))
    # At most 64 terms of size about 1: 64 roundings of 2**-24 each, with room.
    torch.testing.assert_close(ours, product, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_gradients_are_equal_bit_for_bit_where_no_id_repeats(seed):
    torch.manual_seed(seed)
    ids, table, upstream = torch.randperm(9)[:5], torch.randn(9, 4), torch.randn(5, 4)
    assert torch.equal(
        gradient(lookup, ids, table, upstream), gradient(one_hot_product, ids, table, upstream)
    )


def test_gradcheck_in_float64():
    ids = torch.tensor([[0, 2], [2, 1]])
    table = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda table: lookup(ids, table), table)
    assert torch.autograd.gradcheck(lambda table: one_hot_product(ids, table), table)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_floating_dtype_is_kept(dtype):
    ids, table = torch.tensor([1, 0, 1]), torch.randn(2, 3).to(dtype)
    assert lookup(ids, table).dtype == dtype
    assert torch.equal(one_hot_product(ids, table), table[ids])


@given(ids_and_table())
def test_one_hot_rows_hold_a_single_one_at_the_id(example):
    ids, table = example
    rows = one_hot(ids, len(table))
    assert torch.equal(rows, F.one_hot(ids.long(), len(table)).float())
    assert torch.equal(rows.sum(-1), torch.ones(ids.shape))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (torch.tensor([[1, 7]]), IndexError, r"0\.\.6.*got 7 at index \[0, 1\]"),
        (torch.tensor([-1]), IndexError, r"0\.\.6.*got -1 at index \[0\]"),
        (torch.tensor(8), IndexError, "got 8 as a scalar"),
        (torch.tensor([2**40]), IndexError, f"got {2**40}"),
        (torch.tensor([1.0]), TypeError, "int32 or int64; got torch.float32"),
        (torch.tensor([1], dtype=torch.int16), TypeError, "got torch.int16"),
        (torch.tensor([1], dtype=torch.uint8), TypeError, "got torch.uint8"),
        (torch.tensor([True]), TypeError, "got torch.bool"),
        (torch.tensor([]), TypeError, "empty list makes a float tensor"),
        ([1, 2], TypeError, "got list"),
    ],
)
@pytest.mark.parametrize("way", [lookup, one_hot_product])
def test_D01_bad_ids_are_named(way, ids, error, message):
    with pytest.raises(error, match=message):
        way(ids, torch.zeros(7, 3))


def test_D01_empty_ids_and_both_integer_dtypes_are_fine():
    table = torch.randn(7, 3)
    for dtype in (torch.int32, torch.int64):
        assert lookup(torch.zeros(0, dtype=dtype), table).shape == (0, 3)
        assert lookup(torch.zeros(2, 0, dtype=dtype), table).shape == (2, 0, 3)
        assert torch.equal(lookup(torch.tensor([6], dtype=dtype), table), table[6:])


@given(st.lists(st.integers(-5, 15), min_size=1, max_size=6), st.integers(1, 10))
def test_the_first_bad_id_is_the_one_that_is_named(ids, size):
    bad = [place for place, number in enumerate(ids) if not 0 <= number < size]
    if not bad:
        check_ids(torch.tensor(ids), size)
        return
    with pytest.raises(IndexError, match=rf"got {ids[bad[0]]} at index \[{bad[0]}\]"):
        check_ids(torch.tensor(ids), size)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (torch.zeros(7), ValueError, r"\[V, D\]; got shape \[7\]"),
        (torch.zeros(7, 2, 3), ValueError, r"got shape \[7, 2, 3\]"),
        (torch.zeros(7, 3, dtype=torch.int64), TypeError, "got torch.int64"),
    ],
)
@pytest.mark.parametrize("way", [lookup, one_hot_product])
def test_bad_tables_are_named(way, table, error, message):
    with pytest.raises(error, match=message):
        way(torch.tensor([0]), table)


def test_one_hot_needs_a_size():
    with pytest.raises(ValueError, match="size must be at least 1; got 0"):
        one_hot(torch.zeros(0, dtype=torch.int64), 0)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("way", [lookup, one_hot_product])
def test_works_where_values_cannot_be_read(way):
    ids, table = torch.tensor([[2, 0], [1, 2]]), torch.randn(3, 4)
    compiled = torch.compile(way, fullgraph=True, backend="eager")
    assert torch.equal(compiled(ids, table), table[ids])
    assert torch.equal(torch.func.vmap(way, in_dims=(0, None))(ids, table), table[ids])
    assert way(ids.to("meta"), table.to("meta")).shape == (2, 2, 4)


def test_values_are_read_where_they_can_be():
    ids = torch.tensor([[2, 0], [1, 2]])
    assert values_can_be_read(ids) and values_can_be_read(torch.nn.Parameter(torch.ones(2)))
    assert not values_can_be_read(ids[:0]) and not values_can_be_read(ids.to("meta"))

    class Kind(torch.Tensor):
        pass

    assert not values_can_be_read(ids.as_subclass(Kind))
    told = []
    for batched in (torch.func.vmap, torch._vmap_internals._vmap):  # the second: batched gradients
        batched(lambda row: (told.append(values_can_be_read(row)), row)[1])(ids)
    assert told == [False, False]


@given(st.integers(0, 50), st.integers(1, 300), st.integers(1, 40))
def test_costs_agree_with_what_torch_counts(n_ids, size, width):
    ids, table = torch.zeros(n_ids, dtype=torch.int64), torch.zeros(size, width)
    looked_up, multiplied = cost_of_lookup(n_ids, size, width), cost_of_product(n_ids, size, width)
    with FlopCounterMode(display=False) as counter:
        result = lookup(ids, table)
    assert counter.get_total_flops() == looked_up.operations == 0
    assert looked_up.bytes_written == result.nbytes
    assert looked_up.bytes_read == ids.nbytes + result.nbytes
    with FlopCounterMode(display=False) as counter:
        one_hot_product(ids, table)
    # torch counts V additions for each number of the result, one more than there are.
    assert counter.get_total_flops() == multiplied.operations + n_ids * width
    rows = one_hot(ids, size)
    assert multiplied.bytes_written == rows.nbytes + result.nbytes
    assert multiplied.bytes_read == ids.nbytes + rows.nbytes + table.nbytes


def test_cost_of_the_lookup_does_not_depend_on_the_vocabulary():
    assert len({cost_of_lookup(128, size, 384) for size in (1, 1_000, 50_257)}) == 1


@pytest.mark.parametrize("cost", [cost_of_lookup, cost_of_product])
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((-1, 5, 5), "n_ids must be at least 0; got -1"),
        ((1, 0, 5), "size must be at least 1; got 0"),
        ((1, 5, 0), "width must be at least 1; got 0"),
        ((1, 5, 5, 0), "item_bytes must be at least 1; got 0"),
    ],
)
def test_costs_refuse_impossible_sizes(cost, sizes, message):
    with pytest.raises(ValueError, match=message):
        cost(*sizes)
