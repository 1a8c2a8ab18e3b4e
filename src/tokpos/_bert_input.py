"""What BERT's and RoBERTa's embedding layers refuse."""

from __future__ import annotations

from collections.abc import Sequence

from tokpos._types import Tensor
from tokpos.lookup import check_ids


def check_input(
    ids: Tensor,
    segment_ids: Tensor | None,
    position_ids: Tensor | None,
    vocab_size: int,
    n_segments: int,
    max_positions: int,
) -> None:
    """Refuse IDs, segments and positions that BERT's three tables have no rows for.

    Parameters
    ----------
    ids : Tensor
        Token IDs.
    segment_ids : Tensor, optional
        Which of the two texts each token belongs to.
    position_ids : Tensor, optional
        The row of the position table for each token.
    vocab_size : int
        Rows of the token table.
    n_segments : int
        Rows of the segment table.
    max_positions : int
        Rows of the position table.

    Raises
    ------
    TypeError
        IDs, segments or positions are not int32 or int64.
    ValueError
        A shape does not fit, or the sequence is longer than the position table.
    IndexError
        An ID, a segment or a position has no row in its table.
    """
    check_ids(ids, vocab_size, name="ids")
    if ids.ndim != 2:
        raise ValueError(
            f"ids must have the shape [B, S]; got {list(ids.shape)}"
            + ("; ids[None] makes a batch of one" if ids.ndim == 1 else "")
        )
    if position_ids is None:
        check_length("ids", ids.shape[1], max_positions)
    for name, given, size in (
        ("segment_ids", segment_ids, n_segments),
        ("position_ids", position_ids, max_positions),
    ):
        if given is not None:
            check_ids(given, size, name=name)
            check_fits(name, given, ids.shape)


def check_length(name: str, length: int, limit: int) -> None:
    """Refuse a sequence that is longer than the position table.

    Parameters
    ----------
    name : str
        What the message calls the argument.
    length : int
        Number of tokens in a row.
    limit : int
        Number of tokens that the position table serves.

    Raises
    ------
    ValueError
        ``length`` is above ``limit``. The message tells what to do.
    """
    if length > limit:
        raise ValueError(
            f"{name} has {length} tokens a row, but the position table ends after {limit}: "
            f"cut the text to {limit} tokens, special tokens included (a tokenizer does it by "
            f"truncation=True, max_length={limit}), or take a position encoding without an end"
        )


def check_fits(name: str, given: Tensor, shape: Sequence[int]) -> None:
    """Refuse numbers of tokens that do not fit a batch.

    Parameters
    ----------
    name : str
        What the message calls the argument.
    given : Tensor
        Segments, positions or a mask.
    shape : sequence of int
        Batch and length, ``[B, S]``.

    Raises
    ------
    ValueError
        The shape is neither that of the batch nor one row for all samples.
    """
    batch, length = shape
    shapes = [[batch, length], [1, length], [length]]
    if list(given.shape) not in shapes:
        raise ValueError(
            f"{name} must have the shape of ids, {shapes[0]}, or be one row for all samples, "
            f"{shapes[2]}; got {list(given.shape)}"
        )
