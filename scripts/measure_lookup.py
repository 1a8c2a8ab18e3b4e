"""Time the lookup and the one-hot product against the size of the vocabulary, and keep the result.

    python -m scripts.measure_lookup

CPU time at one thread. Each repeat measures every size and both ways once, so that whatever else
the machine does falls on all of them alike; the middle of the repeats and their quartiles are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import quantiles

import torch

from tokpos._types import Tensor
from tokpos.lookup import lookup, one_hot_product
from tokpos.results import record

SEED = 0
SIZES = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_257, 100_000]
N_IDS = 128
WIDTH = 384
REPEATS = 15
CALLS = {"lookup": 200, "product": 1}
"""Calls in one repeat: enough for the clock."""

WAYS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "lookup": lookup,
    "product": one_hot_product,
}


def cpu_time(way: str, batches: Tensor, table: Tensor) -> float:
    """Seconds for one call; each call looks up other IDs, as a training run does."""
    run = WAYS[way]
    calls = batches[: CALLS[way]]
    start = time.process_time()
    for ids in calls:
        run(ids, table)
    return (time.process_time() - start) / len(calls)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    tables = {size: torch.randn(size, WIDTH) for size in SIZES}
    times: dict[str, dict[int, list[float]]] = {way: {size: [] for size in SIZES} for way in WAYS}
    for repeat in range(REPEATS + 1):
        for size, table in tables.items():
            batches = torch.randint(size, (max(CALLS.values()), N_IDS))
            for way in WAYS:
                seconds = cpu_time(way, batches, table)
                if repeat:  # the first round only warms up
                    times[way][size].append(seconds)
        print(f"repeat {repeat} of {REPEATS}", flush=True)

    def three_quartiles(way: str) -> list[list[float]]:
        """Lower quartile, median, upper quartile in microseconds for each size."""
        return [
            [float(f"{1e6 * cut:.3g}") for cut in quantiles(times[way][size], n=4)]
            for size in SIZES
        ]

    data = {
        "what": "CPU time of one call in microseconds: lower quartile, median, upper quartile",
        "n_ids": N_IDS,
        "width": WIDTH,
        "dtype": "float32",
        "repeats": REPEATS,
        "sizes": SIZES,
        **{way: three_quartiles(way) for way in WAYS},
    }
    print(record("lookup_time", "scripts/measure_lookup.py", SEED, data).save().name)


if __name__ == "__main__":
    main()
