"""Learned position embeddings: a table with one row for each position, and an end.

Gehring et al., *Convolutional Sequence to Sequence Learning* (2017), section 3.1; compared with
sinusoids by Vaswani et al., *Attention Is All You Need* (2017), Table 3, row (E); used by BERT and
GPT-2. A row that no training sequence was long enough to reach stays as it was drawn, and behind
the last row there is nothing.

`tokpos.figures.learned.similarity_maps`
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tokpos._types import Float, Int, Tensor
from tokpos.lookup import check_ids
from tokpos.position import PositionEncoding
from tokpos.sinusoidal import check_input


class LearnedEncoding(PositionEncoding):
    """Adds one trainable row for each position to the token vectors: through door 1, the input.

    Parameters
    ----------
    length : int
        Number of rows N: the longest sequence.
    width : int
        Width D of the token vectors.
    std : float
        Standard deviation of the normal distribution that the rows start from; BERT and GPT-2
        start from 0.02.

    Raises
    ------
    ValueError
        A setting is out of its range.

    References
    ----------
    Gehring et al., "Convolutional Sequence to Sequence Learning", 2017, section 3.1.

    Examples
    --------
    >>> encode = LearnedEncoding(16, 4)
    >>> encode(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    >>> encode
    LearnedEncoding(16, 4)
    """

    def __init__(
        self,
        length: int,
        width: int,
        *,
        std: float = 0.02,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        for name, value in (("length", length), ("width", width)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1; got {value}")
        if not std >= 0:
            raise ValueError(f"std must be at least 0; got {std}")
        self.length = length
        self.width = width
        self.std = std
        self.weight = nn.Parameter(torch.empty(length, width, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every row afresh."""
        nn.init.normal_(self.weight, std=self.std)

    def into_input(
        self,
        x: Float[Tensor, "*B S D"],
        positions: Int[Tensor, "*P S"] | None = None,
    ) -> Float[Tensor, "*B S D"]:
        """Add to each token vector the row of its position.

        Parameters
        ----------
        x
            Token vectors. The batch stands first, the sequence second.
        positions
            The position of each token: one row for the whole batch, or one row for each sample.
            Left out, they are 0, 1, 2, ...

        Returns
        -------
        Float[Tensor, "*B S D"]
            The sum, in the type of ``x``.

        Raises
        ------
        TypeError
            If ``x`` is not floating-point, or the positions are not integers.
        ValueError
            If the width of ``x`` is another, the sequence is longer than the table, or the
            positions do not fit ``x``.
        IndexError
            If a position has no row.
        """
        check_input(x, positions, self.width)
        if positions is None:
            self._check_length(x.shape[-2])
            rows = self.weight[: x.shape[-2]]
        else:
            positions = positions.to(torch.int64)
            check_ids(positions, self.length, name="positions")
            rows = F.embedding(positions, self.weight)
        return (x + rows).to(x.dtype)

    forward = into_input

    def _check_length(self, length: int) -> None:
        if length > self.length:
            raise ValueError(
                f"x has {length} tokens, but the table of positions ends after {self.length}: cut "
                f"the text to {self.length} tokens, make a LearnedEncoding of {length} rows and "
                "train it, or take an encoding without an end (SinusoidalEncoding)"
            )

    def extra_repr(self) -> str:
        """The two sizes of the table."""
        return f"{self.length}, {self.width}"
