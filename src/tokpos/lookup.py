"""The table: looking a row up, the one-hot product that gives the same row, and what each costs.

`tokpos.figures.lookup.lookup_rows`
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F

from tokpos._types import Float, Int, Tensor

ID_DTYPES = (torch.int32, torch.int64)


class Cost(NamedTuple):
    """What one call costs, counted, not measured.

    Examples
    --------
    >>> cost_of_lookup(3, size=7, width=4).operations
    0
    """

    operations: int
    """Additions and multiplications."""

    bytes_read: int
    """Bytes of the inputs that the call must read, each counted once."""

    bytes_written: int
    """Bytes that the call must write, the result included."""


def check_ids(ids: Tensor, size: int, name: str = "ids") -> None:
    """Raise the error that says what is wrong with `ids`, if anything is.

    The values are looked at in eager mode on the CPU only. Elsewhere that would break a compiled
    graph or make an accelerator wait.

    Parameters
    ----------
    ids : Tensor
        Row numbers, of any shape.
    size : int
        Number of rows that the table has.
    name : str
        What the message calls the argument.

    Raises
    ------
    TypeError
        `ids` is not an int32 or int64 tensor.
    IndexError
        An ID is below 0 or not below `size`.

    Examples
    --------
    >>> check_ids(torch.tensor([[1, 7]]), 7)
    Traceback (most recent call last):
    IndexError: ids must lie in 0..6 (7 rows); got 7 at index [0, 1] of shape [1, 2]
    """
    if not isinstance(ids, Tensor):
        raise TypeError(f"{name} must be a tensor of int32 or int64; got {type(ids).__name__}")
    if ids.dtype not in ID_DTYPES:
        remedy = "; an empty list makes a float tensor: give dtype" if ids.numel() == 0 else ""
        raise TypeError(f"{name} must be of dtype int32 or int64; got {ids.dtype}{remedy}")
    if not values_can_be_read(ids):
        return
    low, high = (edge.item() for edge in ids.aminmax())
    if low < 0 or high >= size:
        place = tuple(((ids < 0) | (ids >= size)).nonzero()[0].tolist())
        where = f"at index {list(place)} of shape {list(ids.shape)}" if place else "as a scalar"
        raise IndexError(
            f"{name} must lie in 0..{size - 1} ({size} rows); got {ids[place].item()} {where}"
        )


def values_can_be_read(ids: Tensor) -> bool:
    """Whether the numbers of a tensor may be looked at: there are some, in eager mode, on the CPU.

    Parameters
    ----------
    ids : Tensor
        Any tensor.

    Returns
    -------
    bool
        False under compile, export and vmap, on the meta device and on an accelerator, for an
        empty tensor, and for a subclass of tensor such as DTensor.
    """
    return (
        ids.numel() > 0
        and ids.is_cpu
        and not torch.compiler.is_compiling()
        and type(ids) in (Tensor, torch.nn.Parameter)
        and not torch._C._functorch.is_functorch_wrapped_tensor(ids)
        and not torch._C._functorch.is_legacy_batchedtensor(ids)
    )


def _check_table(table: Tensor) -> None:
    if table.dim() != 2:
        raise ValueError(f"table must have shape [V, D]; got shape {list(table.shape)}")
    if not table.is_floating_point():
        raise TypeError(f"table must be of a floating dtype; got {table.dtype}")


def lookup(ids: Int[Tensor, "*batch"], table: Float[Tensor, "V D"]) -> Float[Tensor, "*batch D"]:
    """Fetch the rows of a table: ``table[ids]``.

    Parameters
    ----------
    ids : Tensor
        Row numbers from 0 to V - 1, int32 or int64, of any shape.
    table : Tensor
        One row of width D for each of V tokens.

    Returns
    -------
    Tensor
        The shape of `ids` with one more axis of width D.

    Raises
    ------
    TypeError
        `ids` is not int32 or int64, or `table` is not of a floating dtype.
    ValueError
        `table` has not two axes.
    IndexError
        An ID has no row.

    Examples
    --------
    >>> table = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    >>> lookup(torch.tensor([2, 0]), table)
    tensor([[2.0000, 2.5000],
            [0.0000, 0.5000]])
    """
    _check_table(table)
    check_ids(ids, table.shape[0])
    return F.embedding(ids, table)


def one_hot(
    ids: Int[Tensor, "*batch"], size: int, dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*batch V"]:
    """Write each ID as a row with a single 1 at its place.

    Parameters
    ----------
    ids : Tensor
        IDs from 0 to V - 1, int32 or int64, of any shape.
    size : int
        V, the number of IDs there are.
    dtype : torch.dtype
        Dtype of the result, so that it can be multiplied with a table of that dtype.

    Returns
    -------
    Tensor
        The shape of `ids` with one more axis of width V.

    Raises
    ------
    TypeError
        `ids` is not int32 or int64.
    ValueError
        `size` is below 1.
    IndexError
        An ID is not below `size`.

    Examples
    --------
    >>> one_hot(torch.tensor([2, 0]), 3)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    if size < 1:
        raise ValueError(f"size must be at least 1; got {size}")
    check_ids(ids, size)
    return (ids.unsqueeze(-1) == torch.arange(size, device=ids.device)).to(dtype)


def one_hot_product(
    ids: Int[Tensor, "*batch"], table: Float[Tensor, "V D"]
) -> Float[Tensor, "*batch D"]:
    """Fetch rows the long way: one-hot rows times the table.

    The result is that of `lookup`, bit for bit, as long as every entry of the table is finite
    (0 times infinity is no number). It is here to be compared with, not to be used.

    Parameters
    ----------
    ids : Tensor
        Row numbers from 0 to V - 1, int32 or int64, of any shape.
    table : Tensor
        One row of width D for each of V tokens.

    Returns
    -------
    Tensor
        The shape of `ids` with one more axis of width D.

    Raises
    ------
    TypeError
        `ids` is not int32 or int64, or `table` is not of a floating dtype.
    ValueError
        `table` has not two axes.
    IndexError
        An ID has no row.

    Examples
    --------
    >>> table = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
    >>> one_hot_product(torch.tensor([2, 0]), table)
    tensor([[2.0000, 2.5000],
            [0.0000, 0.5000]])
    """
    _check_table(table)
    return one_hot(ids, table.shape[0], table.dtype) @ table


def cost_of_lookup(n_ids: int, size: int, width: int, item_bytes: int = 4) -> Cost:
    """Count the work of `lookup`.

    Parameters
    ----------
    n_ids : int
        How many IDs are looked up.
    size : int
        V, the rows of the table. No number in the result depends on it.
    width : int
        D, the width of a row.
    item_bytes : int
        Bytes of one entry; 4 for float32.

    Returns
    -------
    Cost
        No arithmetic; IDs (8 bytes each) and their rows read; the rows written.

    Raises
    ------
    ValueError
        A size is out of its range.

    Examples
    --------
    >>> cost_of_lookup(3, size=7, width=4)
    Cost(operations=0, bytes_read=72, bytes_written=48)
    """
    _check_sizes(n_ids=n_ids, size=size, width=width, item_bytes=item_bytes)
    rows = n_ids * width * item_bytes
    return Cost(operations=0, bytes_read=8 * n_ids + rows, bytes_written=rows)


def cost_of_product(n_ids: int, size: int, width: int, item_bytes: int = 4) -> Cost:
    """Count the work of `one_hot_product`.

    Parameters
    ----------
    n_ids : int
        How many IDs are looked up.
    size : int
        V, the rows of the table.
    width : int
        D, the width of a row.
    item_bytes : int
        Bytes of one entry; 4 for float32.

    Returns
    -------
    Cost
        V multiplications and V - 1 additions for each entry of the result; IDs, one-hot rows and
        the whole table read; one-hot rows and the result written.

    Raises
    ------
    ValueError
        A size is out of its range.

    Examples
    --------
    >>> cost_of_product(3, size=7, width=4)
    Cost(operations=156, bytes_read=220, bytes_written=132)
    """
    _check_sizes(n_ids=n_ids, size=size, width=width, item_bytes=item_bytes)
    one_hot_rows = n_ids * size * item_bytes
    table = size * width * item_bytes
    result = n_ids * width * item_bytes
    return Cost(
        operations=n_ids * width * (2 * size - 1),
        bytes_read=8 * n_ids + one_hot_rows + table,
        bytes_written=one_hot_rows + result,
    )


def _check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        lowest = 0 if name == "n_ids" else 1
        if size < lowest:
            raise ValueError(f"{name} must be at least {lowest}; got {size}")
