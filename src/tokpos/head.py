"""The language-model head: one score for each token of the vocabulary, and the tied matrix.

The head multiplies a hidden state with one row for each token. Those rows may be the embedding
table itself: then one matrix is read at the entrance and at the exit, and its gradient is the sum
of both uses.

Press and Wolf, *Using the Output Embedding to Improve Language Models* (2017); Inan et al.,
*Tying Word Vectors and Word Classifiers* (2017); Vaswani et al., *Attention Is All You Need*
(2017), section 3.4.

`tokpos.figures.head.one_matrix`
"""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import nn

from tokpos._types import Float, Tensor


class LanguageModelHead(nn.Module):
    """Scores every token of the vocabulary: ``logits = x @ weight.T``.

    The matrix has the shape of an embedding table, ``[V, D]``, so that the two can be one.

    Parameters
    ----------
    size : int
        V, the number of tokens in the vocabulary.
    width : int
        D, the width of a hidden state.
    std : float, optional
        Standard deviation of the normal distribution that the matrix starts from. Left out, it is
        ``1 / sqrt(D)``: hidden states whose numbers have mean square 1, as LayerNorm leaves them,
        then get logits of standard deviation 1.

    Raises
    ------
    ValueError
        A setting is out of its range.

    Examples
    --------
    >>> head = LanguageModelHead(7, 4)
    >>> head(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 3, 7])
    """

    def __init__(
        self,
        size: int,
        width: int,
        *,
        std: float | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        for name, value in (("size", size), ("width", width)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1; got {value}")
        if std is None:
            std = width**-0.5
        if not std >= 0:
            raise ValueError(f"std must be at least 0; got {std}")
        self.size = size
        self.width = width
        self.std = std
        self.weight = nn.Parameter(torch.empty(size, width, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrix afresh; a table that is tied to it changes too."""
        nn.init.normal_(self.weight, std=self.std)

    def forward(self, x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B V"]:
        """Score every token of the vocabulary at each place.

        Parameters
        ----------
        x : Tensor
            Hidden states.

        Returns
        -------
        Tensor
            One logit for each token of the vocabulary.

        Raises
        ------
        TypeError
            ``x`` is not floating-point.
        ValueError
            The width of ``x`` is another.
        """
        if not x.is_floating_point():
            raise TypeError(f"x must be floating-point, got {x.dtype}")
        if x.dim() < 1 or x.shape[-1] != self.width:
            raise ValueError(f"x must be [..., {self.width}], got {list(x.shape)}")
        return F.linear(x, self.weight)

    def extra_repr(self) -> str:
        """The two sizes of the matrix."""
        return f"{self.size}, {self.width}"


def tie(embedding: nn.Module, head: nn.Module, std: float | None = None) -> None:
    """Make the head use the table of the embedding: one matrix from now on.

    The direction matters: the values of the table survive and those of the head are dropped.

    `TokenEmbedding` starts with standard deviation 1, so logits start with one of about sqrt(D).
    With ``std=width**-0.5`` they start with 1. An embedding made with ``scale=True`` then brings
    its rows back to standard deviation 1, as "Attention Is All You Need" does in section 3.4.

    Parameters
    ----------
    embedding : torch.nn.Module
        A `TokenEmbedding` or `torch.nn.Embedding`.
    head : torch.nn.Module
        A `LanguageModelHead`, or a `torch.nn.Linear` from D to V.
    std : float, optional
        Draw the shared matrix afresh with this standard deviation, a padding row as zeros. Left
        out, the values of the table stay.

    Raises
    ------
    TypeError
        One of the two has no parameter named ``weight``.
    ValueError
        The two matrices have different shapes, or ``std`` is negative.

    Examples
    --------
    >>> embedding, head = nn.Embedding(7, 4), LanguageModelHead(7, 4)
    >>> tie(embedding, head)
    >>> is_tied(embedding, head)
    True
    """
    table = _matrix(embedding, "embedding")
    _check_same_shape(table, _matrix(head, "head"))
    if std is not None:
        if not std >= 0:
            raise ValueError(f"std must be at least 0; got {std}")
        nn.init.normal_(table, std=std)
        padding_idx = getattr(embedding, "padding_idx", None)
        if padding_idx is not None:
            with torch.no_grad():
                table[padding_idx].zero_()
    head.weight = table


def is_tied(embedding: nn.Module, head: nn.Module) -> bool:
    """Whether embedding and head share one matrix, and not only equal numbers.

    Parameters
    ----------
    embedding : torch.nn.Module
        A `TokenEmbedding` or `torch.nn.Embedding`.
    head : torch.nn.Module
        A `LanguageModelHead`, or a `torch.nn.Linear` from D to V.

    Returns
    -------
    bool
        True if both hold the same parameter.

    Raises
    ------
    TypeError
        One of the two has no parameter named ``weight``.

    Examples
    --------
    >>> embedding, head = nn.Embedding(7, 4), LanguageModelHead(7, 4)
    >>> is_tied(embedding, head)
    False
    """
    return _matrix(embedding, "embedding") is _matrix(head, "head")


def check_tied(embedding: nn.Module, head: nn.Module) -> None:
    """Raise an error if embedding and head share no matrix; to be called after loading.

    ``deepcopy``, ``to``, ``half`` and ``load_state_dict`` keep a tie.
    ``load_state_dict(assign=True)``, ``to("meta")``, and ``to_empty`` of a module from the meta
    device, lose it without a word.

    Parameters
    ----------
    embedding : torch.nn.Module
        A `TokenEmbedding` or `torch.nn.Embedding`.
    head : torch.nn.Module
        A `LanguageModelHead`, or a `torch.nn.Linear` from D to V.

    Raises
    ------
    TypeError
        One of the two has no parameter named ``weight``.
    RuntimeError
        The tie is lost. The message says in how many rows the two matrices differ.

    Examples
    --------
    >>> embedding, head = nn.Embedding(7, 4), LanguageModelHead(7, 4)
    >>> tie(embedding, head)
    >>> check_tied(embedding, head)
    """
    if is_tied(embedding, head):
        return
    table, matrix = _matrix(embedding, "embedding"), _matrix(head, "head")
    raise RuntimeError(
        f"embedding and head hold two matrices of shapes {list(table.shape)} and "
        f"{list(matrix.shape)}, {_difference(table, matrix)}; retie(embedding, head) makes them one"
    )


def retie(
    embedding: nn.Module, head: nn.Module, keep: Literal["embedding", "head"] | None = None
) -> None:
    """Repair a tie that was lost.

    Where both matrices hold the same numbers, nothing but the memory changes. Where they differ,
    one of them is out of date, and only the caller knows which: a checkpoint with one key has
    filled one of the two.

    Parameters
    ----------
    embedding : torch.nn.Module
        A `TokenEmbedding` or `torch.nn.Embedding`.
    head : torch.nn.Module
        A `LanguageModelHead`, or a `torch.nn.Linear` from D to V.
    keep : {"embedding", "head"}, optional
        Whose values survive. It may be left out if the two are equal or already tied.

    Raises
    ------
    TypeError
        One of the two has no parameter named ``weight``.
    ValueError
        The shapes differ, ``keep`` is another word, or the values differ and ``keep`` is left out.

    Examples
    --------
    >>> embedding, head = nn.Embedding(7, 4), LanguageModelHead(7, 4)
    >>> retie(embedding, head, keep="head")
    >>> is_tied(embedding, head)
    True
    """
    if keep not in (None, "embedding", "head"):
        raise ValueError(f"keep must be 'embedding' or 'head'; got {keep!r}")
    table, matrix = _matrix(embedding, "embedding"), _matrix(head, "head")
    _check_same_shape(table, matrix)
    if keep is None and not _same_values(table, matrix):
        raise ValueError(
            f"embedding and head hold different values, {_difference(table, matrix)}: "
            "keep='embedding' or keep='head' says whose survive"
        )
    if keep == "head":
        embedding.weight = matrix
    else:
        head.weight = table


def _matrix(module: nn.Module, name: str) -> nn.Parameter:
    weight = getattr(module, "weight", None)
    if not isinstance(weight, nn.Parameter):
        raise TypeError(f"{name} must have a parameter named weight; got {type(module).__name__}")
    return weight


def _check_same_shape(table: Tensor, matrix: Tensor) -> None:
    if table.shape != matrix.shape:
        raise ValueError(
            "embedding and head must have matrices of one shape [V, D]; "
            f"got {list(table.shape)} and {list(matrix.shape)}"
        )


def _same_values(table: Tensor, matrix: Tensor) -> bool:
    if table is matrix or (table.is_meta and matrix.is_meta):
        return True  # on the meta device there are no values to lose
    same_kind = table.dtype == matrix.dtype and table.device == matrix.device
    return same_kind and torch.equal(table, matrix)


def _difference(table: Tensor, matrix: Tensor) -> str:
    if table.dtype != matrix.dtype or table.device != matrix.device:
        kinds = (f"{each.dtype} on {each.device}" for each in (table, matrix))
        return "of " + " and ".join(kinds)
    if table.shape != matrix.shape or table.is_meta:
        return "each with values of its own"
    with torch.no_grad():
        rows = (table != matrix).any(-1).sum().item()
    return f"which differ in {rows} of {len(table)} rows" if rows else "with the same values"
