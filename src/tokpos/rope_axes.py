"""RoPE with several axes: an image's rows and columns, a video's time, height and width.

A token then has a position on each axis, and each pair of features is turned by the position on
one of them. Nothing else changes: the rotation is that of `tokpos.rope`. What remains to be said
is the plan, which pair follows which axis, and with what frequency; models differ in it.

Positions have their axes first, ``[axes, S]`` or ``[axes, *B, S]``.

`tokpos.figures.rope.image_grid`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import torch

from tokpos._types import Float, Int, Tensor
from tokpos.position import PositionEncoding, check_head_positions, is_integer
from tokpos.rope import Layout, Rotation, _check_layout, _of_angles, _over_heads, _turned
from tokpos.rope_scaling import scaled_frequencies
from tokpos.sinusoidal import frequencies

Spacing = Literal["repeated", "dealt"]
"""Whether every axis gets the same frequencies, or the frequencies are dealt out like cards."""


class AxisPlan(NamedTuple):
    """Which axis turns each pair, and how fast.

    Attributes
    ----------
    axis_of_pair
        For each pair the axis whose position turns it.
    frequencies
        For each pair the radians per position, as float64.
    attention_factor
        Multiplies cosine and sine.
    """

    axis_of_pair: tuple[int, ...]
    frequencies: Float[Tensor, " pairs"]
    attention_factor: float = 1.0


def axial_plan(
    width: int,
    n_axes: int = 2,
    base: float = 10000.0,
    *,
    spacing: Spacing,
    device: torch.device | str | None = None,
) -> AxisPlan:
    """One block of pairs for each axis, as in vision models.

    Parameters
    ----------
    width
        Width d of a head: a multiple of twice the number of axes.
    n_axes
        Number of axes; the first is an image's height, the second its width.
    base
        Sets how slow the last pair is; in any case above 1.
    spacing
        ``"repeated"``: each axis has the frequencies of a head of width ``d / n_axes`` (vision
        part of Qwen2-VL). ``"dealt"``: the frequencies of a head of width d are dealt to the axes
        in turn, so the first axis is a little faster (Pixtral).
    device
        Where the frequencies are made; left out, on the CPU.

    Returns
    -------
    AxisPlan
        The plan of d/2 pairs.

    Raises
    ------
    ValueError
        If the width cannot be shared equally, or a setting is out of its range.

    Examples
    --------
    >>> from tokpos.rope_axes import axial_plan
    >>> plan = axial_plan(8, spacing="repeated")
    >>> plan.axis_of_pair, plan.frequencies
    ((0, 0, 1, 1), tensor([1.0000, 0.0100, 1.0000, 0.0100], dtype=torch.float64))
    >>> axial_plan(8, spacing="dealt").frequencies
    tensor([1.0000, 0.0100, 0.1000, 0.0010], dtype=torch.float64)
    """
    device = "cpu" if device is None else device
    if spacing not in get_args(Spacing):
        raise ValueError(f"spacing must be one of {', '.join(get_args(Spacing))}; got {spacing!r}")
    if n_axes < 1:
        raise ValueError(f"n_axes must be at least 1, got {n_axes}")
    if width < 1 or width % (2 * n_axes):
        raise ValueError(
            f"width must be a multiple of {2 * n_axes}, pairs for {n_axes} axes; got {width}"
        )
    if spacing == "repeated":
        speeds = frequencies(width // n_axes, base, device).repeat(n_axes)
    else:
        speeds = frequencies(width, base, device).view(-1, n_axes).T.flatten()
    pairs = width // 2 // n_axes
    return AxisPlan(tuple(axis for axis in range(n_axes) for _ in range(pairs)), speeds)


def section_plan(
    sections: Sequence[int],
    base: float = 10000.0,
    *,
    interleaved: bool,
    scaling: Mapping[str, Any] | None = None,
    length: int | None = None,
    device: torch.device | str | None = None,
) -> AxisPlan:
    """The frequencies of an ordinary head, shared out in sections: "mrope".

    A token of text has the same position on every axis, and is turned as by ordinary RoPE.

    Parameters
    ----------
    sections
        Number of pairs for each axis: time, height, width. Their sum is d/2.
    base
        Sets how slow the last pair is; in any case above 1.
    interleaved
        False: one block for each axis, so time has the fast pairs (Qwen2-VL). True: the axes take
        turns from the first pair on, and what is left goes to the first axis (Qwen3-VL).
    scaling
        As in `tokpos.rope_scaling.scaled_frequencies`.
    length
        As in `tokpos.rope_scaling.scaled_frequencies`.
    device
        Where the frequencies are made; left out, on the CPU.

    Returns
    -------
    AxisPlan
        The plan of d/2 pairs.

    Raises
    ------
    ValueError
        If a section is smaller than 1, a later axis has more pairs than its turns, or a setting is
        unknown or out of its range.

    Examples
    --------
    >>> from tokpos.rope_axes import section_plan
    >>> section_plan([4, 2, 2], interleaved=False).axis_of_pair
    (0, 0, 0, 0, 1, 1, 2, 2)
    >>> section_plan([4, 2, 2], interleaved=True).axis_of_pair
    (0, 1, 2, 0, 1, 2, 0, 0)
    """
    if not sections or min(sections) < 1:
        raise ValueError(f"sections must hold a number above 0 for each axis, got {list(sections)}")
    pairs, n_axes = sum(sections), len(sections)
    if interleaved:
        axis_of_pair = [0] * pairs
        for axis, turns in enumerate(sections[1:], start=1):
            places = range(axis, turns * n_axes, n_axes)
            if places[-1] >= pairs:
                raise ValueError(
                    f"sections {list(sections)} give axis {axis} {turns} pairs, and only "
                    f"{len(range(axis, pairs, n_axes))} of {pairs} are its turn"
                )
            for place in places:
                axis_of_pair[place] = axis
    else:
        axis_of_pair = [axis for axis, n in enumerate(sections) for _ in range(n)]
    device = "cpu" if device is None else device
    chosen = scaled_frequencies(2 * pairs, base, scaling, length, device)
    return AxisPlan(tuple(axis_of_pair), chosen.frequencies, chosen.attention_factor)


def grid_positions(
    *lengths: int, device: torch.device | str | None = None
) -> Int[Tensor, "axes S"]:
    """The positions of a grid's cells, row by row: the last axis runs fastest.

    Parameters
    ----------
    lengths
        Number of cells along each axis, such as height and width.
    device
        Where the result is made.

    Returns
    -------
    Int[Tensor, "axes S"]
        A row for each axis, a column for each cell.

    Raises
    ------
    ValueError
        If there is no axis or a length is negative.

    Examples
    --------
    >>> from tokpos.rope_axes import grid_positions
    >>> grid_positions(2, 3)
    tensor([[0, 0, 0, 1, 1, 1],
            [0, 1, 2, 0, 1, 2]])
    """
    if not lengths or min(lengths) < 0:
        raise ValueError(f"lengths must be given, and not negative; got {list(lengths)}")
    along = [torch.arange(length, device=device) for length in lengths]
    return torch.stack([axis.flatten() for axis in torch.meshgrid(*along, indexing="ij")])


def axes_rotation(
    positions: Int[Tensor, "axes *P S"],
    plan: AxisPlan,
    dtype: torch.dtype = torch.float32,
) -> Rotation:
    """Cosine and sine of every pair by the position on its own axis, by float64.

    Parameters
    ----------
    positions
        Whole numbers, the axes first: ``[axes, S]``, or ``[axes, *B, S]``.
    plan
        From `axial_plan` or `section_plan`.
    dtype
        The floating-point type that the finished values are rounded to.

    Returns
    -------
    Rotation
        For `tokpos.rope.rotate`.

    Raises
    ------
    TypeError
        If the positions are not integers, the frequencies are not float64, or ``dtype`` is not a
        floating-point type.
    ValueError
        If the number of axes is another.

    Examples
    --------
    >>> from tokpos.rope_axes import axes_rotation, axial_plan, grid_positions
    >>> axes_rotation(grid_positions(2, 2), axial_plan(4, spacing="repeated")).sin
    tensor([[0.0000, 0.0000],
            [0.0000, 0.8415],
            [0.8415, 0.0000],
            [0.8415, 0.8415]])
    """
    if not is_integer(positions):
        raise TypeError(f"positions must be integers, got {positions.dtype}")
    if not dtype.is_floating_point:
        raise TypeError(f"dtype must be floating-point, got {dtype}")
    _check_frequencies(plan)
    _check_axes(positions, plan.axis_of_pair, "positions")
    rows = positions.unbind(0)
    own = torch.stack([rows[axis] for axis in plan.axis_of_pair], dim=-1)
    speeds = plan.frequencies.to(positions.device, non_blocking=True)
    return _of_angles(own * speeds, plan.attention_factor, dtype)


class MultiAxisRotaryEncoding(PositionEncoding):
    """Turns queries and keys by a position on several axes: through door 2.

    Like `tokpos.rope.RotaryEncoding` it stores nothing and learns nothing. Positions have their
    axes first: ``[axes, S]`` or ``[axes, *B, S]``, the sequence last as everywhere.

    `tokpos.attention.Attention` has one position for each token and refuses this encoding. A layer
    of your own calls it on queries and keys, and then `tokpos.dot_product_attention.attend`.

    Parameters
    ----------
    width
        Width d of a head; features past the pairs of the plan stay as they are.
    plan
        From `axial_plan` or `section_plan`.
    layout
        ``"interleaved"`` or ``"half-split"``. There is no default: a wrong layout gives no error,
        only a worse model.

    Raises
    ------
    TypeError
        If the frequencies are not float64.
    ValueError
        If the layout is unknown, the plan needs a wider head, or its frequencies are on the meta
        device.

    References
    ----------
    Wang et al., *Qwen2-VL* (2024), section 2.1. Agrawal et al., *Pixtral 12B* (2024), section 2.

    Examples
    --------
    >>> import torch
    >>> from tokpos.rope_axes import MultiAxisRotaryEncoding, axial_plan, grid_positions
    >>> encode = MultiAxisRotaryEncoding(4, axial_plan(4, spacing="dealt"), layout="half-split")
    >>> q = k = torch.ones(1, 4, 4)
    >>> cells = grid_positions(2, 2)
    >>> turned_q, turned_k = encode(q, k, cells, cells)
    >>> (turned_q @ turned_k.mT)[0, 0]
    tensor([4.0000, 3.9999, 3.0806, 3.0805])
    """

    def __init__(self, width: int, plan: AxisPlan, *, layout: Layout) -> None:
        super().__init__()
        _check_layout(layout)
        _check_frequencies(plan)
        if plan.frequencies.device.type == "meta":
            raise ValueError("plan must hold numbers; its frequencies are on the meta device")
        if len(plan.axis_of_pair) != len(plan.frequencies):
            raise ValueError(
                f"plan has {len(plan.axis_of_pair)} axes and {len(plan.frequencies)} frequencies "
                f"for its pairs"
            )
        if 2 * len(plan.axis_of_pair) > width:
            raise ValueError(
                f"plan has {len(plan.axis_of_pair)} pairs, which need a head width of at least "
                f"{2 * len(plan.axis_of_pair)}, got {width}"
            )
        self.width = width
        self.layout = layout
        self.axis_of_pair = plan.axis_of_pair
        # Plain numbers: neither `.to(bfloat16)` nor `to_empty` can spoil them. A fake tensor has
        # none, and stays as it is.
        speeds = plan.frequencies
        self._frequencies: tuple[float, ...] | Tensor = (
            tuple(speeds.tolist()) if type(speeds) is Tensor else speeds
        )
        self.attention_factor = plan.attention_factor

    def plan(self, device: torch.device | str | None = None) -> AxisPlan:
        """Which axis turns each pair, and how fast.

        Parameters
        ----------
        device
            Where the frequencies are made.

        Returns
        -------
        AxisPlan
            The plan that the encoding was made with.
        """
        speeds = self._frequencies
        if isinstance(speeds, tuple):
            speeds = torch.tensor(speeds, dtype=torch.float64, device="cpu")
        return AxisPlan(
            self.axis_of_pair, speeds.to(device, non_blocking=True), self.attention_factor
        )

    def into_queries_and_keys(
        self,
        q: Float[Tensor, "*B H_query S_query d"],
        k: Float[Tensor, "*B H_key S_key d"],
        query_positions: Int[Tensor, "axes *P S_query"],
        key_positions: Int[Tensor, "axes *Q S_key"],
    ) -> tuple[Float[Tensor, "*B H_query S_query d"], Float[Tensor, "*B H_key S_key d"]]:
        """Turn queries and keys, each by its own position on every axis.

        Parameters
        ----------
        q
            Queries of every head.
        k
            Keys of every head; there may be fewer heads than in ``q``.
        query_positions
            The position of each query, the axes first.
        key_positions
            The position of each key, the axes first.

        Returns
        -------
        tuple
            The turned queries and keys, in their own types.

        Raises
        ------
        TypeError
            If queries or keys are not floating-point, or the positions are not integers.
        ValueError
            If the head width or the number of axes is another, or positions do not fit.
        """
        for name, x, places in (("query", q, query_positions), ("key", k, key_positions)):
            self._check(x, places, name)
        turn_q = self._rotation(query_positions, q.dtype)
        same = key_positions is query_positions and k.dtype == q.dtype
        turn_k = turn_q if same else self._rotation(key_positions, k.dtype)
        return _turned(q, *turn_q, self.layout), _turned(k, *turn_k, self.layout)

    forward = into_queries_and_keys

    def _rotation(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        exact = torch.promote_types(dtype, torch.float32)
        return _over_heads(axes_rotation(positions, self.plan(positions.device), exact))

    def _check(self, x: Tensor, positions: Tensor, name: str) -> None:
        if not x.is_floating_point():
            raise TypeError(f"{name[0]} must be floating-point, got {x.dtype}")
        if x.dim() < 3 or x.shape[-1] != self.width:
            raise ValueError(f"{name[0]} must be [..., H, S, {self.width}], got {list(x.shape)}")
        _check_axes(positions, self.axis_of_pair, f"{name}_positions")
        check_head_positions(positions[0], x, f"{name}_positions of an axis")

    def extra_repr(self) -> str:
        n_axes = max(self.axis_of_pair) + 1
        pairs = "+".join(str(self.axis_of_pair.count(axis)) for axis in range(n_axes))
        return f"width={self.width}, pairs={pairs}, layout={self.layout!r}"


def _check_frequencies(plan: AxisPlan) -> None:
    if plan.frequencies.dtype != torch.float64:
        raise TypeError(f"frequencies must be float64, got {plan.frequencies.dtype}")


def _check_axes(positions: Tensor, axis_of_pair: tuple[int, ...], name: str) -> None:
    n_axes = max(axis_of_pair) + 1
    if positions.dim() < 2 or positions.shape[0] != n_axes:
        raise ValueError(
            f"{name} must be [{n_axes}, ..., S], a row for each axis; got {list(positions.shape)}"
        )
