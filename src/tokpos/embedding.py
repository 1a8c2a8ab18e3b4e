"""The token embedding as a module: a table that trains.

`tokpos.figures.gradients.rows_with_gradient`
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import torch
from torch import nn

from tokpos._types import Float, Int, Tensor
from tokpos.lookup import check_ids


class TokenEmbedding(nn.Embedding):
    """One trainable row of width D for each of V tokens.

    A `torch.nn.Embedding`, whose `state_dict` it shares, but an ID without a row is named in the
    error, together with its place and the IDs that are allowed.

    Whatever supports `torch.nn.Embedding` supports this class too, such as ``parallelize_module``,
    which splits the table among processes. IDs are not checked there (DTensor): one without a row
    gives zeros.

    Parameters
    ----------
    size : int
        V, the number of tokens in the vocabulary.
    width : int
        D, the width of a row (``d_model``).
    scale : bool
        Multiply the rows by sqrt(D), as "Attention Is All You Need" does (section 3.4).
    padding_idx : int, optional
        ID of the padding token, from 0 to V - 1. Its row starts as zeros and gets no gradient
        from the lookup; a tied output layer and weight decay may still move it.
    sparse : bool
        Make the gradient of the table a sparse tensor, which holds the rows looked up and no
        others. `torch.optim.SGD` (without weight decay) and `torch.optim.SparseAdam` take it,
        Adam and AdamW do not.
    std : float
        Standard deviation of the normal distribution that the table starts from.

    Raises
    ------
    ValueError
        A setting is out of its range.

    References
    ----------
    Vaswani et al., "Attention Is All You Need", 2017, section 3.4.

    Examples
    --------
    >>> embed = TokenEmbedding(7, 4)
    >>> embed(torch.tensor([[1, 6]])).shape
    torch.Size([1, 2, 4])
    >>> embed
    TokenEmbedding(7, 4)
    """

    def __init__(
        self,
        size: int,
        width: int,
        *,
        scale: bool = False,
        padding_idx: int | None = None,
        sparse: bool = False,
        std: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        for name, value in (("size", size), ("width", width)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1; got {value}")
        if padding_idx is not None and not 0 <= padding_idx < size:
            raise ValueError(f"padding_idx must lie in 0..{size - 1}; got {padding_idx}")
        if not std >= 0:
            raise ValueError(f"std must be at least 0; got {std}")
        self.std = std  # torch's __init__ draws the table, and so needs it
        super().__init__(size, width, padding_idx, sparse=sparse, device=device, dtype=dtype)
        self.size = size
        self.width = width
        self.scale = scale

    @classmethod
    def from_table(cls, table: Float[Tensor, "V D"], **settings: object) -> TokenEmbedding:
        """Start from a copy of the rows of `table`, the padding row included, zero or not.

        Parameters
        ----------
        table : Tensor
            The rows, for instance those of a pretrained model.
        **settings
            `scale`, `padding_idx` and `sparse`, as for the class.

        Returns
        -------
        TokenEmbedding
            A trainable table of its own, on the device and in the dtype of `table`.

        Raises
        ------
        ValueError
            `table` has not two axes.
        """
        if table.dim() != 2:
            raise ValueError(f"table must have shape [V, D]; got shape {list(table.shape)}")
        made = cls(*table.shape, device=table.device, dtype=table.dtype, **settings)  # type: ignore[arg-type]
        with torch.no_grad():
            made.weight.copy_(table)
        return made

    @classmethod
    def from_pretrained(cls, *args: Any, **settings: Any) -> NoReturn:
        """Torch's way, refused: its table is the caller's tensor and does not train.

        Raises
        ------
        NotImplementedError
            Always; `from_table` is there instead.
        """
        raise NotImplementedError(
            "from_pretrained is not supported: from_table(table) copies the rows and trains them"
        )

    def reset_parameters(self) -> None:
        """Draw the table afresh; the padding row becomes zeros."""
        nn.init.normal_(self.weight, std=self.std)
        self._fill_padding_idx_with_zero()

    def forward(self, ids: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch D"]:
        """Fetch the row of each ID.

        Parameters
        ----------
        ids : Tensor
            IDs from 0 to V - 1, int32 or int64, of any shape.

        Returns
        -------
        Tensor
            The shape of `ids` with one more axis of width D.

        Raises
        ------
        TypeError
            `ids` is not int32 or int64.
        IndexError
            An ID has no row.
        """
        check_ids(ids, self.size)
        rows = super().forward(ids)
        return rows * math.sqrt(self.width) if self.scale else rows

    def extra_repr(self) -> str:
        """The settings that differ from their defaults."""
        parts = [str(self.size), str(self.width)]
        parts += [f"{name}=True" for name in ("scale", "sparse") if getattr(self, name)]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)
