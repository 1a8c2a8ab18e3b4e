"""Sinusoidal position encoding: a position is read off a clock with many hands.

Vaswani et al., *Attention Is All You Need* (2017), section 3.5:
``PE(p, 2i) = sin(p / 10000^(2i/D))`` and ``PE(p, 2i+1) = cos(p / 10000^(2i/D))``, where
``i = 0 .. D/2 - 1`` counts pairs of coordinates. Sine and cosine alternate, as in the paper.

An angle grows with the position, and a float32 keeps seven digits of it, so that few are left
behind the decimal point where the position is large. Angles here are float64 throughout, and only
the finished sines and cosines are rounded.

`tokpos.figures.waves.heat_map`
"""

from __future__ import annotations

import math

import torch

from tokpos._types import Float, Int, Tensor
from tokpos.position import PositionEncoding, check_positions, is_integer


def frequencies(
    width: int, base: float = 10000.0, device: torch.device | str | None = None
) -> Float[Tensor, " pairs"]:
    """How far each pair turns from one position to the next, in radians.

    Pair i turns by ``base^(-2i/D)``: the first by 1 radian, each later one by a constant factor
    less.

    Parameters
    ----------
    width
        Width D of the encoding; even, since coordinates come in pairs.
    base
        Sets how slow the last pair is; 10,000 in the paper, in any case above 1.
    device
        Where the result is made.

    Returns
    -------
    Float[Tensor, " pairs"]
        D/2 frequencies as float64, in radians per position.

    Raises
    ------
    ValueError
        If the width is odd or smaller than 2, or the base is not a finite number above 1.

    Examples
    --------
    >>> frequencies(4)
    tensor([1.0000, 0.0100], dtype=torch.float64)
    """
    if width < 2 or width % 2:
        raise ValueError(f"width must be even and at least 2 (sine and cosine), got {width}")
    if not 1 < base < math.inf:
        raise ValueError(f"base must be a finite number above 1, got {base}")
    pair = torch.arange(width // 2, dtype=torch.float64, device=device)
    return base ** (-2 * pair / width)


def wavelengths(width: int, base: float = 10000.0) -> Float[Tensor, " pairs"]:
    """After how many positions each pair has turned once.

    The first wavelength is 2 pi, the last one ``2 pi base^((D-2)/D)``: less than ``2 pi base``,
    which the paper gives as the end of the series, and for a small D much less.

    Parameters
    ----------
    width
        Width D of the encoding, even.
    base
        As in `frequencies`.

    Returns
    -------
    Float[Tensor, " pairs"]
        D/2 wavelengths as float64, in positions.

    Raises
    ------
    ValueError
        As `frequencies`.

    Examples
    --------
    >>> wavelengths(4)
    tensor([  6.2832, 628.3185], dtype=torch.float64)
    """
    return 2 * math.pi / frequencies(width, base)


def sinusoidal(
    positions: Int[Tensor, "*P"] | Float[Tensor, "*P"],
    width: int,
    base: float = 10000.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "*P D"]:
    """The sinusoidal encoding of any positions, by the formula.

    In float32 the result is within 6e-8 of the exact value at every position up to 131,071. The
    device must know float64; Apple's MPS does not, so compute on the CPU there and move the
    result.

    Parameters
    ----------
    positions
        Positions of any shape: whole numbers, in any order, negative ones too, or numbers
        between them as float32 or float64.
    width
        Width D of the encoding, even.
    base
        As in `frequencies`.
    dtype
        The floating-point type that the finished values are rounded to.

    Returns
    -------
    Float[Tensor, "*P D"]
        One row for each position: sine and cosine of the first pair, of the second, and so on.

    Raises
    ------
    TypeError
        If ``dtype`` is not a floating-point type, or the positions are neither integers nor
        float32 nor float64; a half-precision float cannot hold every position.
    ValueError
        As `frequencies`.

    Examples
    --------
    >>> sinusoidal(torch.tensor([0, 1]), 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    return waves(positions, frequencies(width, base, positions.device), dtype)


def waves(
    positions: Int[Tensor, "*P"] | Float[Tensor, "*P"],
    turn: Float[Tensor, " pairs"],
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "*P D"]:
    """Sine and cosine of any positions for any frequencies.

    Parameters
    ----------
    positions
        Positions of any shape, as for `sinusoidal`.
    turn
        How far each pair turns from one position to the next, in radians, as float64.
    dtype
        The floating-point type that the finished values are rounded to.

    Returns
    -------
    Float[Tensor, "*P D"]
        One row for each position: sine and cosine of the first pair, of the second, and so on.

    Raises
    ------
    TypeError
        If ``dtype`` is not a floating-point type, or the positions are neither integers nor
        float32 nor float64.

    Examples
    --------
    >>> waves(torch.tensor([1]), torch.tensor([1.0, 0.01]))
    tensor([[0.8415, 0.5403, 0.0100, 0.9999]])
    """
    if not (is_integer(positions) or positions.dtype in (torch.float32, torch.float64)):
        raise TypeError(f"positions must be integers, float32 or float64, got {positions.dtype}")
    _check_floating(dtype, "dtype")
    angles = positions.to(torch.float64)[..., None] * turn
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(dtype)


def sinusoidal_table(
    length: int,
    width: int,
    base: float = 10000.0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Float[Tensor, "S D"]:
    """The encoding of positions 0 .. S-1, fast: the same values as `sinusoidal`.

    Sine and cosine are taken of about ``2 sqrt(S)`` rows only. Every other row is the sum of two
    angles, and to add angles is to multiply complex numbers: position ``a + b`` is the row of a
    turned on by the angles of b. What is left to do costs little more than to write the table.

    Parameters
    ----------
    length
        Number of positions S.
    width
        Width D of the encoding, even.
    base
        As in `frequencies`.
    dtype
        The floating-point type that the finished values are rounded to.
    device
        Where the table is made.

    Returns
    -------
    Float[Tensor, "S D"]
        The table, equal to `sinusoidal` up to the last digit of a float32.

    Raises
    ------
    TypeError
        If ``dtype`` is not a floating-point type.
    ValueError
        If the length is negative, or as `frequencies`.

    Examples
    --------
    >>> sinusoidal_table(2, 4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    if length < 0:
        raise ValueError(f"length must not be negative, got {length}")
    _check_floating(dtype, "dtype")
    if torch.compiler.is_compiling():  # a loop over blocks would be unrolled into the graph
        return sinusoidal(torch.arange(length, device=device), width, base, dtype)

    # A row of the table, read as complex numbers, is sin + i cos = i exp(-i angle).
    turn = frequencies(width, base, device)
    stride = max(1, math.isqrt(length))
    near = torch.arange(stride, device=device)[:, None] * turn
    near = torch.complex(near.cos(), -near.sin())
    far = torch.arange(0, length, stride, device=device)[:, None] * turn
    far = torch.complex(far.sin(), far.cos())

    table = torch.empty(length, width, dtype=dtype, device=device)
    block = torch.empty_like(near)  # small enough to stay in the cache
    rows = torch.view_as_real(block).flatten(-2)
    for start, first in zip(range(0, length, stride), far, strict=True):
        torch.mul(near, first, out=block)
        part = table[start : start + stride]
        part.copy_(rows[: len(part)])
    return table


class SinusoidalEncoding(PositionEncoding):
    """Adds the sinusoidal encoding to the token vectors: through door 1, the input.

    There is nothing to learn and nothing to store: no parameter, no buffer, no entry in
    ``state_dict``, and no longest sequence. The encoding is derived when it is used, in float64,
    so that ``module.to(torch.bfloat16)`` does not change an angle; only the sum is rounded to the
    type of ``x``.

    Parameters
    ----------
    width
        Width D of the token vectors, even. An odd width is refused: its last sine would have no
        cosine, and a step could not turn it.
    base
        As in `frequencies`.

    Raises
    ------
    ValueError
        As `frequencies`.

    Examples
    --------
    >>> SinusoidalEncoding(4)(torch.zeros(1, 2, 4))
    tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
             [0.8415, 0.5403, 0.0100, 0.9999]]])
    """

    def __init__(self, width: int, base: float = 10000.0) -> None:
        super().__init__()
        frequencies(width, base, device="meta")  # refuses a bad setting now, not at the first use
        self.width = width
        self.base = base

    def into_input(
        self,
        x: Float[Tensor, "*B S D"],
        positions: Int[Tensor, "*P S"] | None = None,
    ) -> Float[Tensor, "*B S D"]:
        """Add to each token vector the encoding of its position.

        Parameters
        ----------
        x
            Token vectors. The batch stands first: of shape ``[S, B, D]``, the encoding would
            number the samples in place of the tokens, without an error.
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
        return (x + self._rows(x, positions)).to(x.dtype)

    forward = into_input

    def _rows(self, x: Tensor, positions: Tensor | None) -> Tensor:
        """What is added to each token vector, in float32 or better."""
        exact = torch.promote_types(x.dtype, torch.float32)
        if positions is None:
            return sinusoidal_table(x.shape[-2], self.width, self.base, exact, x.device)
        return sinusoidal(positions, self.width, self.base, exact)

    def extra_repr(self) -> str:
        """The two settings."""
        return f"width={self.width}, base={self.base:g}"


def check_input(x: Tensor, positions: Tensor | None, width: int) -> None:
    """Refuse token vectors, and positions for them, that an encoding of `width` cannot join.

    Parameters
    ----------
    x
        Token vectors.
    positions
        The position of each token, or None.
    width
        Width D of the encoding.

    Raises
    ------
    TypeError
        If ``x`` is not floating-point, or the positions are not integers.
    ValueError
        If the width of ``x`` is another, or the positions do not fit ``x``.
    """
    _check_floating(x.dtype, "x")
    if x.dim() < 2 or x.shape[-1] != width:
        raise ValueError(f"x must be [..., S, {width}], got {list(x.shape)}")
    if positions is not None:
        check_positions(positions, x)


def _check_floating(dtype: torch.dtype, name: str) -> None:
    if not dtype.is_floating_point:
        raise TypeError(f"{name} must be floating-point, got {dtype}")
