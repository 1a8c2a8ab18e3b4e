"""Train every encoding on short sequences and test it on long ones, and keep the losses.

    python -m scripts.measure_length

Each task, encoding and seed of `tokpos.length`, in as many processes as there are processors.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import product

import torch

from scripts.beside import cores
from tokpos.length import ENCODINGS, RATE, STEPS, TASKS, TESTED, TRAINED, losses, train
from tokpos.results import record

SEEDS = (0, 1, 2)
EDGES = (0, 8, 16, 32, 64, 128, TESTED - 1)
"""Losses are averaged between these places."""


def run(job: tuple[str, str, int]) -> list[float]:
    torch.set_num_threads(1)
    task, encoding, seed = job
    each = losses(train(task, encoding, seed), task, seed)
    ranges = zip(EDGES, EDGES[1:], strict=False)
    return [round(each[start:end].nanmean().item(), 4) for start, end in ranges]


def main() -> None:
    jobs = list(product(TASKS, ENCODINGS, SEEDS))
    found: dict[str, dict[str, list[list[float]]]] = {task: {} for task in TASKS}
    with ProcessPoolExecutor(cores()) as pool:
        for (task, encoding, seed), means in zip(jobs, pool.map(run, jobs), strict=True):
            found[task].setdefault(encoding, []).append(means)
            print(task, encoding, seed, means, flush=True)
    torch.set_num_threads(1)
    data = {
        "what": "mean loss in nats between the edges, for each seed",
        "steps": STEPS,
        "rate": RATE,
        "trained": TRAINED,
        "tested": TESTED,
        "edges": EDGES,
        "seeds": SEEDS,
        **found,
    }
    print(record("length", "scripts/measure_length.py", SEEDS[0], data).save().name)


if __name__ == "__main__":
    main()
