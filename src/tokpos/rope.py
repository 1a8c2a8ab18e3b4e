"""Rotary position embedding (RoPE): queries and keys are turned by their own position.

Su et al., *RoFormer* (2021), section 3.2. A head's features are taken in pairs, and pair i of a
query at position m is turned by the angle ``m * theta_i``, ``theta_i = base^(-2i/d)``; so is a key
at position n. The score of the two then holds the angles ``(n - m) * theta_i``: the offset, and
nothing else. Values are never turned.

Which two features make a pair is the layout, and weights know only the one they were trained in:

- ``"interleaved"``: features 2i and 2i+1 (RoFormer, Meta's Llama files, GPT-J, GLM, Cohere);
- ``"half-split"``: features i and i + d/2 (GPT-NeoX, and most models of ``transformers``, Llama
  among them: its converter reorders the rows, as `tokpos.rope_layout` does).

Angles are float64 whatever the type of the model, and only cosines and sines are rounded.

`tokpos.figures.rope.turning`
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import torch

from tokpos import _rotation
from tokpos._types import Float, Int, Tensor
from tokpos.lookup import values_can_be_read
from tokpos.position import PositionEncoding, _fits_batch, check_head_positions, is_integer
from tokpos.rope_scaling import LENGTH_RULES, scaled_frequencies

Layout = Literal["interleaved", "half-split"]
"""Which features make a pair: neighbors, or the same place of both halves."""

LAYOUTS: tuple[str, ...] = get_args(Layout)


class Rotation(NamedTuple):
    """How far every pair turns at every position.

    One rotation serves all heads and all layers.

    Attributes
    ----------
    cos
        Cosine of each angle, times the attention factor.
    sin
        Sine of each angle, times the attention factor.
    """

    cos: Float[Tensor, "*P S pairs"]
    sin: Float[Tensor, "*P S pairs"]


def rotation(
    positions: Int[Tensor, "*P S"],
    frequencies: Float[Tensor, " pairs"],
    attention_factor: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Rotation:
    """Cosine and sine of ``position * frequency``, by float64.

    A float32 angle is off by 1e-3 at position 32,768, and a bfloat16 cannot even hold the position
    257. So both are float64 here, and the finished cosines and sines are rounded once. The device
    must know float64; Apple's MPS does not, so compute on the CPU there and move the result.

    Parameters
    ----------
    positions
        Whole numbers in any order, negative ones too: ``[S]``, or ``[*B, S]``.
    frequencies
        Radians per position, as float64: `tokpos.sinusoidal.frequencies` or
        `tokpos.rope_scaling.scaled_frequencies`.
    attention_factor
        Multiplies cosine and sine, so it enters a score twice. YaRN and LongRoPE need it.
    dtype
        The floating-point type that the finished values are rounded to.

    Returns
    -------
    Rotation
        Cosines and sines, a column for each pair.

    Raises
    ------
    TypeError
        If the positions are not integers, the frequencies are not float64, or ``dtype`` is not a
        floating-point type.

    Examples
    --------
    >>> import torch
    >>> from tokpos.rope import rotation
    >>> from tokpos.sinusoidal import frequencies
    >>> rotation(torch.tensor([0, 1]), frequencies(4)).cos
    tensor([[1.0000, 1.0000],
            [0.5403, 0.9999]])
    """
    if not is_integer(positions):
        raise TypeError(f"positions must be integers, got {positions.dtype}")
    if frequencies.dtype != torch.float64:
        raise TypeError(f"frequencies must be float64, got {frequencies.dtype}")
    if not dtype.is_floating_point:
        raise TypeError(f"dtype must be floating-point, got {dtype}")
    return _of_angles(positions.unsqueeze(-1) * frequencies, attention_factor, dtype)


def _of_angles(
    angles: Float[Tensor, "*P S pairs"], attention_factor: float, dtype: torch.dtype
) -> Rotation:
    cos, sin = angles.cos(), angles.sin()
    if attention_factor != 1:
        cos, sin = cos * attention_factor, sin * attention_factor
    cos, sin = cos.to(dtype), sin.to(dtype)
    if torch.compiler.is_compiling():
        # Inductor would compute both again for every head. It does not reach through as_strided.
        cos, sin = cos.as_strided(cos.shape, cos.stride()), sin.as_strided(sin.shape, sin.stride())
    return Rotation(cos, sin)


def rotate_by_formula(
    x: Float[Tensor, "*B H S d"], turn: Rotation, layout: Layout
) -> Float[Tensor, "*B H S d"]:
    """Turn each pair of features, written to be read: what `rotate` computes.

    Parameters
    ----------
    x
        Queries or keys of every head.
    turn
        From `rotation`. Features past its pairs stay as they are.
    layout
        ``"interleaved"`` or ``"half-split"``.

    Returns
    -------
    Float[Tensor, "*B H S d"]
        The turned features, in the type of ``x``. A half-precision ``x`` is multiplied in float32
        and rounded once.

    Raises
    ------
    TypeError
        As `rotate`.
    ValueError
        As `rotate`.

    Examples
    --------
    >>> import torch
    >>> from tokpos.rope import rotate_by_formula, rotation
    >>> from tokpos.sinusoidal import frequencies
    >>> x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    >>> rotate_by_formula(x, rotation(torch.tensor([1]), frequencies(4)), "interleaved")
    tensor([[[-1.1426,  1.9221,  2.9599,  4.0298]]])
    """
    _check_layout(layout)
    _check_fit(x, turn)
    return _by_formula(x, *_over_heads(turn), layout)


def _by_formula(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    width = 2 * cos.shape[-1]
    if width < x.shape[-1]:
        turned = _by_formula(x[..., :width], cos, sin, layout)
        return torch.cat([turned, x[..., width:]], dim=-1)
    exact = torch.promote_types(torch.promote_types(x.dtype, cos.dtype), torch.float32)
    wide, cos, sin = x.to(exact), cos.to(exact), sin.to(exact)
    if layout == "interleaved":
        a, b = wide.reshape(*x.shape[:-1], width // 2, 2).unbind(-1)
        turned = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).reshape(x.shape)
    else:
        a, b = wide.chunk(2, dim=-1)
        turned = torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
    return turned.to(x.dtype)


def rotate(
    x: Float[Tensor, "*B H S d"], turn: Rotation, layout: Layout
) -> Float[Tensor, "*B H S d"]:
    """Turn each pair of features, fast: the same values as `rotate_by_formula`.

    Gradients of any order pass to ``x``, and to the rotation where it asks for one.

    Parameters
    ----------
    x
        Queries or keys of every head.
    turn
        From `rotation`. Features past its pairs stay as they are.
    layout
        ``"interleaved"`` or ``"half-split"``. There is no default: a wrong layout gives no error,
        only a worse model.

    Returns
    -------
    Float[Tensor, "*B H S d"]
        The turned features, in the type of ``x``. A half-precision ``x`` is multiplied in float32
        and rounded once.

    Raises
    ------
    TypeError
        If ``x`` is not floating-point.
    ValueError
        If the layout is unknown, the head is narrower than the rotation, or the shapes do not
        fit: the sequence stands last but one, behind the heads.

    Examples
    --------
    >>> import torch
    >>> from tokpos.rope import rotate, rotation
    >>> from tokpos.sinusoidal import frequencies
    >>> x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    >>> rotate(x, rotation(torch.tensor([1]), frequencies(4)), "half-split")
    tensor([[[-1.9841,  1.9599,  2.4624,  4.0198]]])
    """
    _check_layout(layout)
    _check_fit(x, turn)
    return _turned(x, *_over_heads(turn), layout)


def _turned(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    if _rotation.applies_to(x, cos, sin):
        return _rotation.turn(x, cos, sin, layout, otherwise=_turned)
    return _by_formula(x, cos, sin, layout)


def _over_heads(turn: Rotation) -> tuple[Tensor, Tensor]:
    """Cosine and sine with an axis of length 1 for the heads, where there is a batch."""
    if turn.cos.dim() == 2:
        return turn.cos, turn.sin
    return turn.cos.unsqueeze(-3), turn.sin.unsqueeze(-3)


def _check_layout(layout: str) -> None:
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}; got {layout!r}")


def _check_fit(x: Tensor, turn: Rotation) -> None:
    if not x.is_floating_point():
        raise TypeError(f"x must be floating-point, got {x.dtype}")
    cos, sin = turn
    if cos.shape != sin.shape or cos.dtype != sin.dtype or cos.dim() < 2:
        raise ValueError(
            f"cos and sin must be of one type and one shape [..., S, pairs], "
            f"got {cos.dtype} {list(cos.shape)} and {sin.dtype} {list(sin.shape)}"
        )
    if x.dim() < 3:
        raise ValueError(f"queries and keys must be [..., H, S, d], got {list(x.shape)}")
    if 2 * cos.shape[-1] > x.shape[-1]:
        raise ValueError(
            f"the rotation has {cos.shape[-1]} pairs, which need a head width of at least "
            f"{2 * cos.shape[-1]}, got {x.shape[-1]}"
        )
    *batch, heads, length, _ = x.shape
    given = list(cos.shape[:-1])
    if given[-1] != length or not _fits_batch(given[:-1], batch):
        swapped = given[-1] == heads != length
        remedy = "; is x [..., S, H, d]? the heads stand before the sequence" if swapped else ""
        raise ValueError(
            f"the rotation must be for positions [{length}] or {[*batch, length]} for x "
            f"[..., H, S, d] of {list(x.shape)}, got {given}{remedy}"
        )


class RotaryEncoding(PositionEncoding):
    """Turns queries and keys by their positions: through door 2.

    There is nothing to learn and nothing to store: no parameter, no buffer, no entry in
    ``state_dict``, and no longest sequence. Cosines and sines are derived when they are used, by
    float64, so ``module.to(torch.bfloat16)`` does not change an angle.

    Queries and keys may have different lengths and different numbers of heads.

    Rotating a part of a head has three rules in the wild. This module has the first two:

    - the first ``rotary_width`` features are a small head of their own, with the frequencies
      ``base^(-2i/rotary_width)``: GPT-NeoX, Phi, StableLM (half-split), GPT-J, GLM (interleaved);
    - ``rope_type`` "proportional" (Gemma 4): frequencies ``base^(-2i/d)`` of the whole head, of
      which the last are set to 0. In the half-split layout the features that stay are then the
      ends of both halves, not the end of the head;
    - DeepSeek-V2 and V3 turn the last features: split the head and turn that part by itself.

    Parameters
    ----------
    width
        Width d of a head.
    layout
        ``"interleaved"`` or ``"half-split"``. There is no default: a wrong layout gives no error,
        only a worse model.
    rotary_width
        How many features, from the first, are turned; even. Left out, all of them.
    base
        Sets how slow the last pair is; 10,000 in the paper, in any case above 1.
    scaling
        A rule for longer inputs: settings as in `tokpos.rope_scaling.scaled_frequencies`.
    length
        How long the input gets, the cached keys included: for the rules "dynamic" and "longrope",
        which choose their frequencies by it. Left out, the length of the training.

    Raises
    ------
    ValueError
        If a width is odd or does not fit, or a setting is unknown or out of its range.
    TypeError
        If a setting of the scaling is not a number where it must be one.

    References
    ----------
    Su et al., *RoFormer: Enhanced Transformer with Rotary Position Embedding* (2021), equations 14
    to 16 and 34.

    Examples
    --------
    >>> import torch
    >>> from tokpos.rope import RotaryEncoding
    >>> encode = RotaryEncoding(4, layout="interleaved")
    >>> q = k = torch.ones(1, 3, 4)
    >>> places = torch.arange(3)
    >>> turned_q, turned_k = encode(q, k, places, places)
    >>> turned_q @ turned_k.mT
    tensor([[[4.0000, 3.0805, 1.1673],
             [3.0805, 4.0000, 3.0805],
             [1.1673, 3.0805, 4.0000]]])
    """

    def __init__(
        self,
        width: int,
        *,
        layout: Layout,
        rotary_width: int | None = None,
        base: float = 10000.0,
        scaling: Mapping[str, Any] | None = None,
        length: int | None = None,
    ) -> None:
        super().__init__()
        _check_layout(layout)
        rotated = width if rotary_width is None else rotary_width
        name = "width" if rotary_width is None else "rotary_width"
        if rotated < 2 or rotated % 2:
            raise ValueError(f"{name} must be even and at least 2 (pairs), got {rotated}")
        if rotated > width:
            raise ValueError(f"rotary_width must be at most the head width {width}, got {rotated}")
        self.width = width
        self.layout = layout
        self._rotary_width = rotated
        self._base = base
        self._scaling = dict(scaling) if scaling is not None else None
        self.length = length

    @property
    def rotary_width(self) -> int:
        """How many features, from the first, are turned; fixed at construction."""
        return self._rotary_width

    @property
    def base(self) -> float:
        """Sets how slow the last pair is; fixed at construction."""
        return self._base

    @property
    def scaling(self) -> Mapping[str, Any] | None:
        """The rule for longer inputs; fixed at construction."""
        return None if self._scaling is None else MappingProxyType(self._scaling)

    @property
    def length(self) -> int | None:
        """How long the input gets, the cached keys included; None: the length of the training.

        Set it before the first token and keep it for the whole input. Keys in a cache were turned
        with the frequencies of the length that was set then, and those of another length do not
        fit them.
        """
        return self._length

    @length.setter
    def length(self, length: int | None) -> None:
        chosen, factor = scaled_frequencies(
            self._rotary_width, self._base, self._scaling, length, device="cpu"
        )
        self._length = length
        self.attention_factor = factor
        # Plain numbers: neither `.to(bfloat16)` nor `to_empty` can spoil them. A fake tensor has
        # none; then they are derived at each use.
        self._numbers = tuple(chosen.tolist()) if type(chosen) is Tensor else None
        self._kept: Tensor | None = None

    def frequencies(self, device: torch.device | str | None = None) -> Float[Tensor, " pairs"]:
        """How far each pair turns from one position to the next, in radians, as float64.

        Parameters
        ----------
        device
            Where the result is made.

        Returns
        -------
        Float[Tensor, " pairs"]
            One frequency for each pair.
        """
        if self._numbers is None:
            settings = self._rotary_width, self._base, self._scaling, self._length
            return scaled_frequencies(*settings, device).frequencies
        numbers = torch.tensor(self._numbers, dtype=torch.float64, device="cpu")
        return numbers.to(device, non_blocking=True)  # an accelerator need not wait for it

    def _frequencies_for(self, positions: Tensor) -> Tensor:
        """The numbers as a tensor, which is kept where that is safe: in eager mode, on the CPU."""
        if not values_can_be_read(positions):
            return self.frequencies(positions.device)
        if type(self._kept) is not Tensor:
            self._kept = self.frequencies("cpu")
        return self._kept

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_kept": None}  # a copy may go to another device

    def into_queries_and_keys(
        self,
        q: Float[Tensor, "*B H_query S_query d"],
        k: Float[Tensor, "*B H_key S_key d"],
        query_positions: Int[Tensor, "*P S_query"],
        key_positions: Int[Tensor, "*Q S_key"],
    ) -> tuple[Float[Tensor, "*B H_query S_query d"], Float[Tensor, "*B H_key S_key d"]]:
        """Turn queries and keys, each by its own position.

        Parameters
        ----------
        q
            Queries of every head.
        k
            Keys of every head; there may be fewer heads than in ``q``.
        query_positions
            The position of each query.
        key_positions
            The position of each key.

        Returns
        -------
        tuple
            The turned queries and keys, in their own types.

        Raises
        ------
        TypeError
            If queries or keys are not floating-point, or the positions are not integers.
        ValueError
            If the head width is another, or positions do not fit.
        IndexError
            If the rule chooses its frequencies by the length, and a position is not below it. In
            eager mode on the CPU only.
        """
        for name, x, places in (("query", q, query_positions), ("key", k, key_positions)):
            self._check(x, places, name)
        turn_q = self._rotation(query_positions, q.dtype)
        same = key_positions is query_positions and k.dtype == q.dtype
        turn_k = turn_q if same else self._rotation(key_positions, k.dtype)
        return _turned(q, *turn_q, self.layout), _turned(k, *turn_k, self.layout)

    forward = into_queries_and_keys

    def _rotation(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        frequencies = self._frequencies_for(positions)
        exact = torch.promote_types(dtype, torch.float32)
        return _over_heads(rotation(positions, frequencies, self.attention_factor, exact))

    def _check(self, x: Tensor, positions: Tensor, name: str) -> None:
        check_head_positions(positions, x, f"{name}_positions")
        if not x.is_floating_point():
            raise TypeError(f"{name[0]} must be floating-point, got {x.dtype}")
        if x.shape[-1] != self.width:
            raise ValueError(f"{name[0]} must be [..., S, {self.width}], got {list(x.shape)}")
        if self._scaling is None or self._scaling["rope_type"] not in LENGTH_RULES:
            return
        length = self._length or self._scaling["original_max_position_embeddings"]
        if values_can_be_read(positions) and (last := int(positions.max())) >= length:
            raise IndexError(
                f"{name}_positions must be below {length}, the length that the rule "
                f"{self._scaling['rope_type']!r} chose its frequencies for; got {last}: set length"
            )

    def extra_repr(self) -> str:
        parts = [f"width={self.width}", f"layout={self.layout!r}"]
        if self.rotary_width != self.width:
            parts.append(f"rotary_width={self.rotary_width}")
        parts.append(f"base={self.base:g}")
        if self._scaling is not None:
            parts.append(f"scaling={self._scaling}")
        if self._length is not None:
            parts.append(f"length={self._length}")
        return ", ".join(parts)
