"""Other arrangements of the sinusoidal encoding, and the variant whose frequencies differ.

The paper's formula alternates sine and cosine (`tokpos.sinusoidal`). transformers' Marian
(``MarianSinusoidalPositionalEmbedding``) puts the same columns in another order: first every sine,
then every cosine. A model trained with one order does not understand the other, and nothing in a
shape tells them apart.

The authors' own library, tensor2tensor, differs in more than the order. It spreads the
wavelengths so that the last pair reaches ``10000 * 2 pi`` exactly, with D/2 - 1 where the paper's
exponent has D/2. fairseq took this over, and with it M2M100 and Speech2Text.
"""

from __future__ import annotations

import math

import torch

from tokpos._types import Float, Int, Tensor
from tokpos.position import PositionEncoding
from tokpos.sinusoidal import SinusoidalEncoding, check_input, sinusoidal, waves


def to_concatenated(x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
    """Put columns that alternate into two halves: first all sines, then all cosines.

    Parameters
    ----------
    x : Tensor
        An encoding, or anything else with its columns: sine, cosine, sine, cosine, ...

    Returns
    -------
    Tensor
        The same columns: sine, sine, ..., cosine, cosine, ...

    Raises
    ------
    ValueError
        The width is odd.

    Examples
    --------
    >>> to_concatenated(torch.tensor([0.0, 0.5, 1.0, 1.5]))
    tensor([0.0000, 1.0000, 0.5000, 1.5000])
    """
    _check_even(x)
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)


def to_interleaved(x: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
    """Put two halves into columns that alternate, as in the paper: undoes `to_concatenated`.

    Parameters
    ----------
    x : Tensor
        An encoding, or anything else with its columns: sine, sine, ..., cosine, cosine, ...

    Returns
    -------
    Tensor
        The same columns: sine, cosine, sine, cosine, ...

    Raises
    ------
    ValueError
        The width is odd.

    Examples
    --------
    >>> to_interleaved(torch.tensor([0.0, 1.0, 0.5, 1.5]))
    tensor([0.0000, 0.5000, 1.0000, 1.5000])
    """
    _check_even(x)
    half = x.shape[-1] // 2
    return torch.stack([x[..., :half], x[..., half:]], dim=-1).flatten(-2)


def sinusoidal_concatenated(
    positions: Int[Tensor, "*P"] | Float[Tensor, "*P"],
    width: int,
    base: float = 10000.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "*P D"]:
    """The paper's sines and cosines in two halves, as transformers' Marian has them.

    Parameters
    ----------
    positions
        Positions of any shape, as for `tokpos.sinusoidal.sinusoidal`.
    width
        Width D of the encoding, even.
    base
        As in `frequencies`.
    dtype
        The floating-point type that the finished values are rounded to.

    Returns
    -------
    Float[Tensor, "*P D"]
        One row for each position: first the sines of all pairs, then the cosines.

    Raises
    ------
    TypeError
        If ``dtype`` or the type of the positions does not fit.
    ValueError
        As `frequencies`.

    Examples
    --------
    >>> sinusoidal_concatenated(torch.tensor([1]), 4)
    tensor([[0.8415, 0.0100, 0.5403, 0.9999]])
    """
    return to_concatenated(sinusoidal(positions, width, base, dtype))


def tensor2tensor_frequencies(
    width: int,
    min_timescale: float = 1.0,
    max_timescale: float = 10000.0,
    device: torch.device | str | None = None,
) -> Float[Tensor, " pairs"]:
    """How far each pair turns from one position to the next in tensor2tensor's variant.

    Pair i turns by ``min * (max / min)^(-i / (D/2 - 1))``: by default the first by 1 radian and the
    last by 1/10,000. Only the first pair agrees with the paper's.

    Parameters
    ----------
    width
        Width D of the encoding, even. A single pair turns by ``min_timescale``.
    min_timescale
        By how many radians the first pair turns. (Its name says the inverse. tensor2tensor
        multiplies with it all the same, which does no harm while it is 1.)
    max_timescale
        Positions for which the last pair takes a radian, where ``min_timescale`` is 1.
    device
        Where the result is made.

    Returns
    -------
    Float[Tensor, " pairs"]
        D/2 frequencies as float64, in radians per position.

    Raises
    ------
    ValueError
        If the width is odd or smaller than 2, or the timescales are not two finite numbers above
        0 with the larger one last.

    Examples
    --------
    >>> tensor2tensor_frequencies(6)
    tensor([1.0000e+00, 1.0000e-02, 1.0000e-04], dtype=torch.float64)
    """
    if width < 2 or width % 2:
        raise ValueError(f"width must be even and at least 2 (sine and cosine), got {width}")
    if not 0 < min_timescale < max_timescale < math.inf:
        raise ValueError(
            "min_timescale must be above 0 and below max_timescale, which must be finite, "
            f"got {min_timescale} and {max_timescale}"
        )
    pair = torch.arange(width // 2, dtype=torch.float64, device=device)
    steps = max(width // 2 - 1, 1)
    return min_timescale * (max_timescale / min_timescale) ** (-pair / steps)


def tensor2tensor_sinusoidal(
    positions: Int[Tensor, "*P"] | Float[Tensor, "*P"],
    width: int,
    min_timescale: float = 1.0,
    max_timescale: float = 10000.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "*P D"]:
    """The encoding of tensor2tensor and fairseq: other frequencies, in two halves.

    fairseq and its heirs also begin to count behind the padding ID and put zeros at padding:
    their row of the first token is that of position ``padding_idx + 1``.

    Parameters
    ----------
    positions
        Positions of any shape, as for `tokpos.sinusoidal.sinusoidal`.
    width
        Width D of the encoding, even.
    min_timescale
        As in `tensor2tensor_frequencies`.
    max_timescale
        As in `tensor2tensor_frequencies`.
    dtype
        The floating-point type that the finished values are rounded to.

    Returns
    -------
    Float[Tensor, "*P D"]
        One row for each position: first the sines of all pairs, then the cosines.

    Raises
    ------
    TypeError
        If ``dtype`` or the type of the positions does not fit.
    ValueError
        As `tensor2tensor_frequencies`.

    Examples
    --------
    >>> tensor2tensor_sinusoidal(torch.tensor([1]), 4)
    tensor([[8.4147e-01, 1.0000e-04, 5.4030e-01, 1.0000e+00]])
    """
    turn = tensor2tensor_frequencies(width, min_timescale, max_timescale, positions.device)
    return to_concatenated(waves(positions, turn, dtype))


class ConcatenatedEncoding(SinusoidalEncoding):
    """Adds `sinusoidal_concatenated` to the token vectors: through door 1, the input.

    Parameters
    ----------
    width
        Width D of the token vectors, even.
    base
        As in `frequencies`.

    Raises
    ------
    ValueError
        As `frequencies`.

    Examples
    --------
    >>> ConcatenatedEncoding(4)(torch.zeros(1, 2, 4))
    tensor([[[0.0000, 0.0000, 1.0000, 1.0000],
             [0.8415, 0.0100, 0.5403, 0.9999]]])
    """

    def _rows(self, x: Tensor, positions: Tensor | None) -> Tensor:
        return to_concatenated(super()._rows(x, positions))


class Tensor2TensorEncoding(PositionEncoding):
    """Adds `tensor2tensor_sinusoidal` to the token vectors: through door 1, the input.

    Parameters
    ----------
    width
        Width D of the token vectors, even.
    min_timescale
        As in `tensor2tensor_frequencies`.
    max_timescale
        As in `tensor2tensor_frequencies`.

    Raises
    ------
    ValueError
        As `tensor2tensor_frequencies`.

    Examples
    --------
    >>> Tensor2TensorEncoding(4)(torch.zeros(1, 2, 4))[0, 1]
    tensor([8.4147e-01, 1.0000e-04, 5.4030e-01, 1.0000e+00])
    """

    def __init__(
        self, width: int, min_timescale: float = 1.0, max_timescale: float = 10000.0
    ) -> None:
        super().__init__()
        # Refuses a bad setting now, not at the first use.
        tensor2tensor_frequencies(width, min_timescale, max_timescale, device="meta")
        self.width = width
        self.min_timescale = min_timescale
        self.max_timescale = max_timescale

    def into_input(
        self,
        x: Float[Tensor, "*B S D"],
        positions: Int[Tensor, "*P S"] | None = None,
    ) -> Float[Tensor, "*B S D"]:
        """Add to each token vector the encoding of its position.

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
            If the width of ``x`` is another, or the positions do not fit ``x``.
        """
        check_input(x, positions, self.width)
        if positions is None:
            positions = torch.arange(x.shape[-2], device=x.device)
        exact = torch.promote_types(x.dtype, torch.float32)
        rows = tensor2tensor_sinusoidal(
            positions, self.width, self.min_timescale, self.max_timescale, exact
        )
        return (x + rows).to(x.dtype)

    forward = into_input

    def extra_repr(self) -> str:
        """The three settings."""
        scales = f"min_timescale={self.min_timescale:g}, max_timescale={self.max_timescale:g}"
        return f"width={self.width}, {scales}"


def _check_even(x: Tensor) -> None:
    if x.dim() < 1 or x.shape[-1] % 2:
        raise ValueError(
            f"x must have an even width, a cosine for each sine; got shape {list(x.shape)}"
        )
