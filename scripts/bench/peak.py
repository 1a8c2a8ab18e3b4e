"""The child process that measures peak memory; `measure.py` starts it and says why.

A line of its input is "row NAME" or "growth NAME"; its answer is a line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import sys

import torch

from scripts.bench.growth import GROWTHS
from scripts.bench.measure import Call, peak
from scripts.bench.rows import ROWS


def main() -> None:
    torch.set_num_threads(1)
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # a library may print
        for question in sys.stdin:
            kind, name = question.split()
            print(json.dumps(peaks(kind, name)), file=answers, flush=True)


def peaks(kind: str, name: str) -> dict[str, float]:
    """Peak memory of every way."""
    calls: dict[str, Call]
    if kind == "row":
        ways = ROWS[name].work().ways()
        calls = {name: way.call for name, way in ways.items() if way.call}
    else:
        calls = GROWTHS[name].labelled_calls()
    return {name: peak(call) for name, call in calls.items()}


if __name__ == "__main__":
    main()
