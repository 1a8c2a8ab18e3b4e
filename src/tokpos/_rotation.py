"""The fast way to turn pairs: `tokpos.rope.rotate_by_formula` says what is computed.

A rotation is so little arithmetic that moving the data is all it costs; the formula moves it
about six times. Here a neighboring pair is one complex number, and one product turns it. Halves
that lie apart take a product and two more sums, in blocks that stay in the processor's cache.
Half-precision numbers are widened and rounded block by block, so that no float32 copy is ever
held. Backward turns by minus the angle; nothing of the input is kept for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import torch
from torch.autograd import forward_ad

from tokpos._types import Tensor

BLOCK = 192 * 1024
"""Numbers in a block: 768 KiB of float32. Smaller ones cost more calls, larger ones the cache."""

NARROW_BLOCK = BLOCK // 2
"""Numbers in a block that is widened first. The room for it, 576 KiB, is all that a call holds
beside its result; with twice as much it would be a tenth faster."""

PLAIN = (Tensor, torch.nn.Parameter)
WIDE = (torch.float32, torch.float64)

Turn = Callable[[Tensor, Tensor, Tensor, str], Tensor]


def applies_to(x: Tensor, cos: Tensor, sin: Tensor) -> bool:
    """Whether these kernels serve: plain tensors, eager mode, no gradient for the angles.

    They write into memory that they allocate. A compiler does better with the formula, and vmap,
    `torch.func`, forward-mode differentiation and tensor subclasses need it.
    """
    return (
        not torch.compiler.is_compiling()
        and type(x) in PLAIN
        and type(cos) in PLAIN
        and type(sin) in PLAIN
        and torch._C._functorch.maybe_current_level() is None  # no vmap, no torch.func
        and not torch._C._functorch.is_legacy_batchedtensor(x)  # a batch of gradients
        and not (cos.requires_grad or sin.requires_grad)
        and forward_ad._current_level < 0
        and cos.dtype == (x.dtype if x.dtype in WIDE else torch.float32)
        and x.shape[-1] % 2 == 0
    )


def turn(x: Tensor, cos: Tensor, sin: Tensor, layout: str, otherwise: Turn) -> Tensor:
    """`x` turned. `otherwise` turns its gradient, which may need the formula."""
    if x.requires_grad and torch.is_grad_enabled():
        turned: Tensor = _Turn.apply(x, cos, sin, layout, otherwise)  # type: ignore[no-untyped-call]
        return turned
    return _write(x, cos, sin, layout)


class _Turn(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, cos: Tensor, sin: Tensor, layout: str, otherwise: Turn) -> Tensor:
        return _write(x, cos, sin, layout)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, cos, sin, ctx.layout, ctx.otherwise = inputs
        ctx.save_for_backward(cos, sin)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        cos, sin = ctx.saved_tensors
        return ctx.otherwise(grad, cos, -sin, ctx.layout), None, None, None, None


def _write(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """The turned features, in new memory."""
    neighbors, width = layout == "interleaved", 2 * cos.shape[-1]
    if neighbors and not _is_pairwise(x):
        x = x.clone(memory_format=torch.contiguous_format)
    one_product = neighbors and width == x.shape[-1] and x.dtype == cos.dtype
    if one_product or not x.is_cpu or x.numel() <= BLOCK or x.shape[-1] > NARROW_BLOCK:
        return _at_once(x, cos, sin, layout)
    turned = torch.empty_like(x)
    if width < x.shape[-1]:
        turned[..., width:] = x[..., width:]
        _in_blocks(x[..., :width], turned[..., :width], cos, sin, layout)
    else:
        _in_blocks(x, turned, cos, sin, layout)
    return turned


def _at_once(x: Tensor, cos: Tensor, sin: Tensor, layout: str) -> Tensor:
    """The fewest calls: where starting one costs more than the cache saves."""
    width = 2 * cos.shape[-1]
    wide = x if width == x.shape[-1] else x[..., :width]
    if x.dtype != cos.dtype:
        wide = wide.to(cos.dtype)
    if layout == "interleaved":
        turned = (_complex(wide) * torch.complex(cos, sin)).view(cos.dtype)
    else:
        turned = wide * torch.cat([cos, cos], dim=-1)
        (a, b), (turned_a, turned_b) = wide.chunk(2, dim=-1), turned.chunk(2, dim=-1)
        turned_a.addcmul_(b, sin, value=-1)
        turned_b.addcmul_(a, sin)
    if x.dtype != cos.dtype:
        turned = turned.to(x.dtype)
    return turned if width == x.shape[-1] else torch.cat([turned, x[..., width:]], dim=-1)


def _in_blocks(source: Tensor, target: Tensor, cos: Tensor, sin: Tensor, layout: str) -> None:
    """Fill `target`, a piece at a time that stays in the processor's cache."""
    wide = source.dtype == cos.dtype
    fill: Callable[..., None]
    if layout == "interleaved":
        fill, tables = _pairs if wide else _widened_pairs, [torch.complex(cos, sin)]
    elif wide:
        fill, tables = _halves, [torch.cat([cos, cos], dim=-1), sin]
    else:
        fill, tables = _widened_halves, [cos, sin]
    fill(*_in_order_of_memory(source, target, *tables))


def _pairs(source: Tensor, target: Tensor, circle: Tensor) -> None:
    torch.mul(_complex(source), circle, out=_complex(target))


def _widened_pairs(source: Tensor, target: Tensor, circle: Tensor) -> None:
    spare = torch.empty(NARROW_BLOCK, dtype=circle.real.dtype, device=source.device)
    wide = spare[:0]
    for x, out, c in _blocks(NARROW_BLOCK, source, target, circle):
        if x.shape != wide.shape:
            wide = spare[: x.numel()].view(x.shape)
            pairs = _complex(wide)
        wide.copy_(x)
        pairs.mul_(c)
        out.copy_(wide)


def _halves(source: Tensor, target: Tensor, cos: Tensor, sin: Tensor) -> None:
    halves = *source.chunk(2, dim=-1), *target.chunk(2, dim=-1)
    blocks = _blocks(BLOCK, source, target, *halves, cos, sin)
    for x, out, a, b, turned_a, turned_b, c, s in blocks:
        torch.mul(x, c, out=out)
        turned_a.addcmul_(b, s, value=-1)
        turned_b.addcmul_(a, s)


def _widened_halves(source: Tensor, target: Tensor, cos: Tensor, sin: Tensor) -> None:
    """In place but for half a block: for less memory, and whole blocks round faster than halves."""
    spare = torch.empty(NARROW_BLOCK * 3 // 2, dtype=cos.dtype, device=source.device)
    wide = spare[:0]
    for x, out, c, s in _blocks(NARROW_BLOCK, source, target, cos, sin):
        if x.shape != wide.shape:
            wide = spare[: x.numel()].view(x.shape)
            a, b = wide.chunk(2, dim=-1)
            product = spare[x.numel() : x.numel() * 3 // 2].view(a.shape)
        wide.copy_(x)
        torch.mul(a, s, out=product)
        a.mul_(c).addcmul_(b, s, value=-1)
        torch.addcmul(product, b, c, out=b)
        out.copy_(wide)


def _in_order_of_memory(x: Tensor, *others: Tensor) -> list[Tensor]:
    """The same tensors with their axes as those of `x` lie in memory, the farthest apart first."""
    axes = [*sorted(range(x.dim() - 1), key=x.stride, reverse=True), x.dim() - 1]
    tensors = [y[(None,) * (x.dim() - y.dim())].permute(axes) for y in (x, *others)]
    while tensors[0].dim() > 3 and all(_leads_as_one(y, tensors[0].shape[:2]) for y in tensors):
        tensors = [y.flatten(0, 1) for y in tensors]
    return tensors


def _leads_as_one(y: Tensor, lengths: torch.Size) -> bool:
    """Whether the first two axes can be read as one: they lie so, or the same row serves all."""
    one_row = y.shape[:2] == (1, 1)
    return one_row or (y.shape[:2] == lengths and y.stride(0) == y.shape[1] * y.stride(1))


def _blocks(most: int, x: Tensor, *others: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """`x` and the others, cut along the same axes until a piece of `x` has `most` numbers."""
    if x.numel() <= most:
        yield x, *others
        return
    axis = next(a for a in range(x.dim()) if x.shape[a] > 1)
    each = x.numel() // x.shape[axis]
    step = max(1, most // each)
    pieces = [
        torch.split(y, step, axis) if y.shape[axis] > 1 else repeat(y, -(-x.shape[axis] // step))
        for y in (x, *others)
    ]
    if each <= most:
        yield from zip(*pieces, strict=True)
    else:
        for piece in zip(*pieces, strict=True):
            yield from _blocks(most, *piece)


def _is_pairwise(x: Tensor) -> bool:
    """Whether neighbors of the last axis can be read as complex numbers."""
    *strides, last = x.stride()
    return last == 1 and x.storage_offset() % 2 == 0 and all(s % 2 == 0 for s in strides)


def _complex(x: Tensor) -> Tensor:
    return x.view(torch.complex64 if x.dtype == torch.float32 else torch.complex128)
