"""Rows: the sinusoidal table."""

from __future__ import annotations

import torch

from scripts.bench import peers
from scripts.bench.measure import Target, Way, Work, peer, row
from tokpos._types import Tensor
from tokpos.sinusoidal import sinusoidal, sinusoidal_table

BLOCK = 4096


def _error(out: Tensor) -> float:
    """Largest difference to the formula in float64, block by block."""
    length, width = out.shape
    apart = bool(out[0, 1] == 0)  # the first row is 0 1 0 1 ..., or where sines stand apart 0 0 ...
    worst = 0.0
    for start in range(0, length, BLOCK):
        positions = torch.arange(start, min(start + BLOCK, length))
        exact = sinusoidal(positions, width, dtype=torch.float64)
        if apart:
            exact = torch.cat([exact[:, 0::2], exact[:, 1::2]], dim=-1)
        worst = max(worst, (out[start : start + BLOCK] - exact).abs().max().item())
    return worst


def _compare(length: int, width: int) -> Work:
    return Work(
        limit=Way("clone of the table", torch.randn(length, width).clone),
        ours=lambda: sinusoidal_table(length, width),
        others=[
            Way("the formula in float32", lambda: peers.sinusoidal_in_float32(length, width)),
            peer("transformers", lambda: peers.transformers_sinusoidal(length, width), " (GPT-J)"),
            peer("x-transformers", lambda: peers.x_transformers_sinusoidal(length, width)),
        ],
        error=_error,
    )


@row("sinusoidal-8192", "sinusoidal table [8192, 1024]", Target(ratio=2.5, error=6e-8))
def sinusoidal_8192() -> Work:
    return _compare(8192, 1024)


@row(
    "sinusoidal-131072",
    "sinusoidal table [131072, 512]",
    Target(ratio=1.4, mib=281.6, error=6e-8),  # 1.1 tables
)
def sinusoidal_131072() -> Work:
    return _compare(131_072, 512)
