"""Which position each token has, and which tokens it may look at.

Positions are explicit everywhere in this package: whole numbers, one for each token. The functions
here make them for the usual cases: padding on either side, cached decoding, several documents
packed into one row. The masks that belong to them say True where a query may look at a key, as
`torch.nn.functional.scaled_dot_product_attention` wants it.

Padding needs no mask of its own kind. It is one more document: real tokens look at real tokens and
padding looks at padding, so no row of the scores is empty and no softmax gives NaN.

`tokpos.figures.positions.left_padding`
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tokpos._types import Bool, Int, Tensor
from tokpos.lookup import values_can_be_read
from tokpos.position import is_integer


def positions_from_mask(mask: Int[Tensor, "*B S"] | Bool[Tensor, "*B S"]) -> Int[Tensor, "*B S"]:
    """Count the real tokens of each row, wherever its padding stands.

    The first real token has position 0. Padding before it has position 0 too, and padding after a
    token has the position of that token, so that padding never asks for a row that is not there.

    Parameters
    ----------
    mask : Tensor
        1 or True at each real token, 0 or False at padding.

    Returns
    -------
    Tensor
        The position of each token, int64.

    Raises
    ------
    TypeError
        ``mask`` holds neither integers nor truth values.
    ValueError
        ``mask`` is a single number, or holds another number than 0 and 1.

    Examples
    --------
    >>> positions_from_mask(torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]))
    tensor([[0, 0, 0, 1, 2],
            [0, 1, 2, 3, 4]])
    """
    _check_mask(mask)
    return (mask.to(torch.int64).cumsum(-1) - 1).clamp(min=0)


def positions_of_step(
    past: int | Int[Tensor, "*B"], new: int = 1, device: torch.device | str | None = None
) -> Int[Tensor, "*B S"]:
    """Positions of the tokens that a cached decoder reads next.

    Parameters
    ----------
    past : int or Tensor
        How many real tokens are in the cache already: one number for the whole batch, or one for
        each sample (with padding, ``mask.sum(-1)``).
    new : int
        How many tokens come now.
    device : torch.device or str, optional
        Where the result is made if ``past`` is a number; a tensor has a device of its own.

    Returns
    -------
    Tensor
        The position of each new token, int64: one row, or one for each sample.

    Raises
    ------
    TypeError
        ``past`` does not hold whole numbers.
    ValueError
        ``past`` or ``new`` is negative.

    Examples
    --------
    >>> positions_of_step(5)
    tensor([5])
    >>> positions_of_step(torch.tensor([3, 5]), new=2)
    tensor([[3, 4],
            [5, 6]])
    """
    if new < 0:
        raise ValueError(f"new must not be negative; got {new}")
    if not isinstance(past, Tensor):
        if past < 0:
            raise ValueError(f"past must not be negative; got {past}")
        return torch.arange(past, past + new, device=device)
    _check_integers(past, "past")
    if values_can_be_read(past) and past.min() < 0:
        raise ValueError(f"past must not be negative; got {past.min().item()}")
    return past.to(torch.int64).unsqueeze(-1) + torch.arange(new, device=past.device)


def documents_of_lengths(
    lengths: Sequence[int] | Int[Tensor, " N"], size: int | None = None
) -> Int[Tensor, " S"]:
    """Write the number of its document at each token of a packed row.

    Parameters
    ----------
    lengths : sequence of int or Tensor
        How many tokens each document has, in the order of the row. It is read on the host.
    size : int, optional
        Length S of the row. What is left after the last document is padding, a document of its
        own. Left out, the row ends with the last document.

    Returns
    -------
    Tensor
        0 at each token of the first document, 1 at each of the second, and so on, int64.

    Raises
    ------
    TypeError
        ``lengths`` does not hold whole numbers.
    ValueError
        ``lengths`` is not one row, a length is negative, or the documents are longer than the row.

    Examples
    --------
    >>> documents_of_lengths([3, 2], size=6)
    tensor([0, 0, 0, 1, 1, 2])
    """
    counts = torch.as_tensor(lengths, device="cpu")
    if not isinstance(lengths, Tensor) and counts.numel() == 0:
        counts = counts.long()  # an empty list makes a float tensor
    _check_integers(counts, "lengths")
    if counts.dim() != 1:
        raise ValueError(f"lengths must have shape [N]; got {list(counts.shape)}")
    if counts.numel() and counts.min() < 0:
        raise ValueError(f"lengths must not be negative; got {counts.min().item()}")
    total = int(counts.sum())
    if size is None:
        size = total
    if total > size:
        raise ValueError(f"lengths add up to {total} tokens, but the row has size {size}")
    counts = torch.cat([counts.to(torch.int64), torch.tensor([size - total], device="cpu")])
    return torch.arange(len(counts), device="cpu").repeat_interleave(counts)


def positions_of_documents(documents: Int[Tensor, "*B S"]) -> Int[Tensor, "*B S"]:
    """Count the tokens of each packed document from 0.

    Parameters
    ----------
    documents : Tensor
        The document of each token: any numbers, the same for all tokens of a document, which stand
        side by side. Padding has a number of its own.

    Returns
    -------
    Tensor
        The position of each token in its document, int64.

    Raises
    ------
    TypeError
        ``documents`` does not hold whole numbers.
    ValueError
        ``documents`` is a single number, or a document comes back after another one.

    Examples
    --------
    >>> positions_of_documents(torch.tensor([7, 7, 7, 4, 4]))
    tensor([0, 1, 2, 0, 1])
    """
    _check_integers(documents, "documents")
    if documents.dim() < 1:
        raise ValueError("documents must have shape [..., S]; got a single number")
    place = torch.arange(documents.shape[-1], device=documents.device)
    begins = torch.ones_like(documents, dtype=torch.bool)
    begins[..., 1:] = documents[..., 1:] != documents[..., :-1]
    _check_side_by_side(documents, begins)
    first = torch.where(begins, place, 0).cummax(-1).values
    return place - first


def document_mask(
    query_documents: Int[Tensor, "*B S_query"] | Bool[Tensor, "*B S_query"],
    key_documents: Int[Tensor, "*K S_key"] | Bool[Tensor, "*K S_key"] | None = None,
) -> Bool[Tensor, "*M S_query S_key"]:
    """Let each token look at its own document and at no other.

    An attention mask of padding fits as it is: 1 is the text and 0 is the padding.

    Parameters
    ----------
    query_documents : Tensor
        The document of each query.
    key_documents : Tensor, optional
        The document of each key. Left out, queries and keys are the same tokens.

    Returns
    -------
    Tensor
        True where the query may look at the key. `tokpos.attention.Attention` takes it as it is;
        beside an axis for the heads it is ``mask.unsqueeze(-3)``.

    Raises
    ------
    TypeError
        The documents are neither whole numbers nor truth values.
    ValueError
        The batches of queries and keys differ.

    Examples
    --------
    >>> document_mask(torch.tensor([0, 0, 1])).int()
    tensor([[1, 1, 0],
            [1, 1, 0],
            [0, 0, 1]], dtype=torch.int32)
    """
    if key_documents is None:
        key_documents = query_documents
    for name, given in (("query_documents", query_documents), ("key_documents", key_documents)):
        if not (is_integer(given) or given.dtype == torch.bool):
            raise TypeError(f"{name} must be integers or truth values; got {given.dtype}")
    _check_batches(query_documents, key_documents, "documents")
    return query_documents.unsqueeze(-1) == key_documents.unsqueeze(-2)


def causal_mask(
    query_positions: Int[Tensor, "*P S_query"], key_positions: Int[Tensor, "*K S_key"]
) -> Bool[Tensor, "*M S_query S_key"]:
    """Let each query look at keys whose position is not after its own.

    The comparison is made by position, so a cached step needs nothing special. Padding and other
    documents are kept apart by `document_mask`: ``causal_mask(p, p) & document_mask(documents)``.

    Parameters
    ----------
    query_positions : Tensor
        The position of each query.
    key_positions : Tensor
        The position of each key.

    Returns
    -------
    Tensor
        True where the query may look at the key. `tokpos.attention.Attention` takes it as it is;
        beside an axis for the heads it is ``mask.unsqueeze(-3)``.

    Raises
    ------
    TypeError
        The positions are not whole numbers.
    ValueError
        The batches of queries and keys differ.

    Examples
    --------
    >>> causal_mask(torch.tensor([2]), torch.arange(4))
    tensor([[ True,  True,  True, False]])
    """
    _check_integers(query_positions, "query_positions")
    _check_integers(key_positions, "key_positions")
    _check_batches(query_positions, key_positions, "positions")
    return key_positions.unsqueeze(-2) <= query_positions.unsqueeze(-1)


def pad_left(
    rows: Sequence[Sequence[int]], padding_idx: int = 0
) -> tuple[Int[Tensor, "B S"], Int[Tensor, "B S"]]:
    """Put texts of unequal length into one batch, so that all of them end at the right edge.

    A decoder wants its padding on the left: the next token then stands in the same column for
    every sample.

    Parameters
    ----------
    rows : sequence of sequence of int
        The token IDs of each text.
    padding_idx : int
        The ID that fills the places before a shorter text.

    Returns
    -------
    tuple of Tensor
        The IDs, and the mask with 1 at each real token and 0 at padding, both int64.

    Raises
    ------
    ValueError
        There are no texts.

    Examples
    --------
    >>> ids, mask = pad_left([[5, 6, 7], [1, 2, 3, 4, 5]])
    >>> ids
    tensor([[0, 0, 5, 6, 7],
            [1, 2, 3, 4, 5]])
    >>> mask
    tensor([[0, 0, 1, 1, 1],
            [1, 1, 1, 1, 1]])
    """
    if len(rows) == 0:
        raise ValueError("rows must hold at least one text; got none")
    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), padding_idx, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, (text, length) in enumerate(zip(rows, map(len, rows), strict=True)):
        ids[row, longest - length :] = torch.tensor(text, dtype=torch.int64)
        mask[row, longest - length :] = 1
    return ids, mask


def _check_mask(mask: Tensor) -> None:
    if not (is_integer(mask) or mask.dtype == torch.bool):
        raise TypeError(f"mask must be integers or truth values; got {mask.dtype}")
    if mask.dim() < 1:
        raise ValueError("mask must have shape [..., S]; got a single number")
    if mask.dtype != torch.bool and values_can_be_read(mask):
        wrong = mask[(mask != 0) & (mask != 1)]
        if wrong.numel():
            raise ValueError(
                f"mask must hold 1 at real tokens and 0 at padding; got {wrong[0].item()}"
            )


def _check_integers(numbers: Tensor, name: str) -> None:
    if not is_integer(numbers):
        raise TypeError(f"{name} must be integers; got {numbers.dtype}")


def _check_batches(queries: Tensor, keys: Tensor, name: str) -> None:
    for side, given in (("query", queries), ("key", keys)):
        if given.dim() < 1:
            raise ValueError(f"{side}_{name} must have shape [..., S]; got a single number")
    batches = zip(queries.shape[-2::-1], keys.shape[-2::-1], strict=False)
    if any(one != other and 1 not in (one, other) for one, other in batches):
        raise ValueError(
            f"query_{name} and key_{name} must have the same batch; "
            f"got {list(queries.shape)} and {list(keys.shape)}"
        )


def _check_side_by_side(documents: Tensor, begins: Tensor) -> None:
    if not values_can_be_read(documents):
        return
    ordered = documents.sort(-1).values
    kinds = 1 + (ordered[..., 1:] != ordered[..., :-1]).sum(-1)
    torn = (begins.sum(-1) > kinds).nonzero()
    if len(torn):
        row = documents[tuple(torn[0].tolist())].tolist() if documents.dim() > 1 else documents
        raise ValueError(
            "documents must give the tokens of a document side by side; "
            f"one comes back after another in {list(map(int, row))[:20]}"
        )
