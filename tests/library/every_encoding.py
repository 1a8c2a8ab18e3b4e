"""Every position encoding once, small, with parameters large enough to matter."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import torch

from tokpos.position import PositionEncoding

WIDTH, HEADS, HEAD_WIDTH = 32, 4, 8
LENGTH = 64  # rows of the learned table; nothing here is longer


def _of(module: str, name: str, *args: object, **settings: object) -> Callable:
    def make() -> PositionEncoding:
        return getattr(importlib.import_module(f"tokpos.{module}"), name)(*args, **settings)

    return make


CAUSAL = {
    "none": PositionEncoding,
    "sinusoidal": _of("sinusoidal", "SinusoidalEncoding", WIDTH),
    "learned": _of("learned", "LearnedEncoding", LENGTH, WIDTH),
    "rope": _of("rope", "RotaryEncoding", HEAD_WIDTH, layout="interleaved"),
    "rope-half": _of("rope", "RotaryEncoding", HEAD_WIDTH, layout="half-split"),
    "alibi": _of("alibi", "Alibi", HEADS),
    "t5": _of("t5", "T5Bias", HEADS, 8, 16, bidirectional=False),
    "transformer-xl": _of("transformer_xl", "TransformerXLEncoding", HEADS, HEAD_WIDTH),
    "shaw": _of("shaw", "ShawEncoding", HEAD_WIDTH, 3),
    "shaw-values": _of("shaw", "ShawEncoding", HEAD_WIDTH, 3, values=True),
}
"""Encodings for a causal layer, by name."""

BOTH_WAYS = CAUSAL | {
    "alibi": _of("alibi", "Alibi", HEADS, symmetric=True),
    "t5": _of("t5", "T5Bias", HEADS, 8, 16),
}
"""The same for a layer that looks both ways."""

ABSOLUTE = {"sinusoidal", "learned"}
"""Those that add something to each token by its own position."""

RELATIVE = sorted(CAUSAL.keys() - ABSOLUTE)
"""Those whose scores depend on offsets alone."""


def make(name: str, causal: bool = True, dtype: torch.dtype = torch.float64) -> PositionEncoding:
    """One of them, with parameters of standard deviation 0.5."""
    encoding = (CAUSAL if causal else BOTH_WAYS)[name]()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.normal_(std=0.5, generator=generator)
    return encoding.to(dtype)
