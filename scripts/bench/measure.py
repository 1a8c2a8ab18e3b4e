"""How a row is measured: CPU time beside a limit, peak memory, error, and the target for each.

All ways of a row run in one process at one thread, and each round runs every one of them, in a new
order: what else the machine does falls on all alike. A ratio is taken within a round, and the
median of the rounds counts. Time is CPU time, so a busy neighbor costs cache, not the result.

What a call frees stays with the process, as long as it is smaller than 32 MiB: else the system
would be asked for the same pages again and again, and how long that takes depends on the neighbors
most of all. Larger blocks come fresh from the system each time, as they do for everybody.

Memory is the most that a call holds beyond what there was before, its outputs included: the
kernel's own mark of resident memory (VmHWM), reset before the call. A child process does this, in
which every larger block is returned at once to the system; in the process that is timed, freed
memory is kept and used again, and the mark would not move.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from statistics import median, quantiles
from typing import IO, Any

import torch

SEED = 0
ROOT = Path(__file__).resolve().parents[2]
MIB = 2**20
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Names of malloc.h."""

Call = Callable[[], Any]


def keep_freed_memory() -> None:
    """Have glibc keep what is freed, and ask the system for blocks of 32 MiB and more alone."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:  # other C libraries have no such knob
            mallopt(M_TRIM_THRESHOLD, 2**30)
            mallopt(M_MMAP_THRESHOLD, 32 * MIB)


@dataclass(frozen=True)
class Settings:
    """How long to measure."""

    rounds: int = 11
    """Rounds at most."""

    fewest: int = 5
    """Rounds at least, when they are slow."""

    budget: float = 15.0
    """Seconds of CPU time after which no new round starts."""

    sample: float = 0.02
    """Seconds of CPU time that a sample of calls must take."""


@dataclass(frozen=True)
class Target:
    """What must hold for tokpos; what is None is not demanded."""

    ratio: float | None = None
    """Time of tokpos over that of the limit, at most."""

    mib: float | None = None
    """Peak memory in MiB, at most."""

    error: float | None = None
    """Error, at most."""

    times_faster: Mapping[str, float] = field(default_factory=dict)
    """Time of another way over that of tokpos, at least."""


@dataclass(frozen=True)
class Way:
    """One way to do the work of a row."""

    name: str
    call: Call | None
    """None if it cannot run here."""

    why_not: str = ""


def peer(package: str, make: Callable[[], Call], note: str = "") -> Way:
    """What another library does, or the word that it is not installed.

    Parameters
    ----------
    package : str
        Its name for pip.
    make : callable
        Imports it and returns the call.
    note : str
        What differs there.

    Returns
    -------
    Way
        Named after the package and its version.
    """
    try:
        name = f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return Way(package + note, None, "not installed")
    try:
        return Way(name + note, make())
    except ImportError as error:
        return Way(name + note, None, f"does not import: {error}")


@dataclass(frozen=True)
class Work:
    """What a row compares."""

    limit: Way
    """The cheapest thing that any implementation must do: ratio 1."""

    ours: Call | None
    """What tokpos does."""

    others: list[Way] = field(default_factory=list)
    error: Callable[[Any], float] | None = None
    """Error of a way's result; None if there is nothing to be wrong about."""

    error_name: str = "error"
    clock: Callable[[], float] = time.process_time
    memory: bool = True
    fewest: int = 0
    """Rounds at least, where few would tell too little."""

    why_not: str = ""
    """Why tokpos cannot run here."""

    def ways(self) -> dict[str, Way]:
        ours = Way("tokpos", self.ours, self.why_not)
        return {way.name: way for way in (self.limit, ours, *self.others)}


@dataclass(frozen=True)
class Row:
    """A line of the benchmark's table."""

    name: str
    title: str
    target: Target
    prepare: Callable[[], Work]

    def work(self) -> Work:
        torch.manual_seed(SEED)
        return self.prepare()


ROWS: dict[str, Row] = {}


def row(name: str, title: str, target: Target) -> Callable[[Callable[[], Work]], Row]:
    """Make a function that prepares the work into a row."""

    def add(prepare: Callable[[], Work]) -> Row:
        if name in ROWS:
            raise ValueError(f"two rows are named {name!r}")
        ROWS[name] = Row(name, title, target, prepare)
        return ROWS[name]

    return add


def seconds(
    calls: Mapping[Any, Call], settings: Settings, clock: Callable[[], float] = time.process_time
) -> dict[Any, list[float]]:
    """Time of one call of each, one number a round."""
    counts = {key: _warm_up(call, settings, clock) for key, call in calls.items()}
    taken: dict[Any, list[float]] = {key: [] for key in calls}
    order = list(calls)
    shuffle = random.Random(SEED).shuffle
    begin = clock()
    gc.collect()
    gc.disable()
    try:
        for number in range(settings.rounds):
            if number >= settings.fewest and clock() - begin > settings.budget:
                break
            shuffle(order)
            for key in order:
                taken[key].append(_sample(calls[key], counts[key], clock))
    finally:
        gc.enable()
    return taken


def _sample(call: Call, count: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def _warm_up(call: Call, settings: Settings, clock: Callable[[], float]) -> int:
    """Run it until it is warm; how many calls make a sample."""
    call()  # the first one compiles, allocates, reads
    once = _sample(call, 1, clock)
    if once > settings.sample:
        return 1
    few = _sample(call, min(1000, int(settings.sample / max(once, 1e-6))), clock)
    return max(1, round(settings.sample / max(few, 1e-7)))


def spread(numbers: list[float]) -> list[float]:
    """Lower quartile, median, upper quartile."""
    if len(numbers) == 1:
        return numbers * 3
    low, _, high = quantiles(numbers, n=4, method="inclusive")
    return [low, median(numbers), high]


def measure(row: Row, settings: Settings) -> dict[str, Any]:
    """Run a row: each way's numbers, as JSON can hold them, and which targets were missed."""
    work = row.work()
    ways = work.ways()
    result = {name: _numbers_of(name, way, work) for name, way in ways.items()}
    calls = {name: way.call for name, way in ways.items() if way.call}
    fewest = max(settings.fewest, work.fewest)
    settings = replace(settings, fewest=fewest, rounds=max(settings.rounds, fewest))
    taken = seconds(calls, settings, work.clock)
    base = taken[work.limit.name]
    for name, times in taken.items():
        result[name]["milliseconds"] = _rounded(1e3 * median(times))
        ratios = [a / b for a, b in zip(times, base, strict=True)]
        result[name]["ratio"] = [_rounded(number) for number in spread(ratios)]
    if work.memory:
        for name, mib in peaks_of_row(row.name).items():
            result[name]["mib"] = mib
    target = {key: value for key, value in vars(row.target).items() if value not in (None, {})}
    missed, not_run = _judge(row.target, result)
    return {
        "name": row.name,
        "title": row.title,
        "rounds": len(base),
        "error_name": work.error_name if work.error else None,
        "target": target,
        "missed": missed,
        "not_run": not_run,
        "ways": list(result.values()),
    }


def _numbers_of(name: str, way: Way, work: Work) -> dict[str, Any]:
    numbers: dict[str, Any] = {"name": name}
    if way.call is None:
        return numbers | {"why_not": way.why_not}
    if work.error is not None and name != work.limit.name:
        numbers["error"] = _rounded(work.error(way.call()))
    return numbers


def _judge(target: Target, result: dict[str, dict[str, Any]]) -> tuple[list[str], str]:
    """What was missed, in words, and why nothing could be if tokpos did not run."""
    ours = result["tokpos"]
    if "why_not" in ours:
        return [], ours["why_not"]
    missed = []
    if target.ratio is not None and ours["ratio"][1] > target.ratio:
        missed.append(f"ratio {ours['ratio'][1]:g}, at most {target.ratio:g}")
    for key, name in (("mib", "peak MiB"), ("error", "error")):
        limit = getattr(target, key)
        # A comparison with NaN is false, so it is asked whether the number is good.
        if limit is not None and key in ours and not ours[key] <= limit:
            missed.append(f"{name} {ours[key]:g}, at most {limit:g}")
    for name, factor in target.times_faster.items():
        faster = result[name]["ratio"][1] / ours["ratio"][1]
        if not faster >= factor:
            missed.append(f"{faster:.3g} times faster than {name}, at least {factor:g}")
    return missed, ""


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")


# Peak memory


def peaks_of_row(name: str) -> dict[str, float]:
    """Peak memory in MiB of each way of a row, measured in the child process."""
    return _ask_child(f"row {name}")


def peaks_of_growth(name: str) -> dict[str, float]:
    """The same for each way and size of a curve, keyed as "way @ size"."""
    return _ask_child(f"growth {name}")


def _ask_child(question: str) -> dict[str, float]:
    """One line to the child, one line back; nothing where the system does not tell."""
    if not os.access("/proc/self/clear_refs", os.W_OK):
        return {}  # Linux alone has it
    child, complaints = _child()
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(question + "\n")
    child.stdin.flush()
    answer = child.stdout.readline()
    if not answer:
        complaints.seek(0)
        raise RuntimeError(f"peak memory of {question} could not be measured:\n{complaints.read()}")
    peaks: dict[str, float] = json.loads(answer)
    return peaks


@cache
def _child() -> tuple[subprocess.Popen[str], IO[str]]:
    """The child process, which imports everything once and then answers, and what it complains."""
    environment = os.environ | {
        "MALLOC_MMAP_THRESHOLD_": "65536",  # glibc gives such blocks back when they are freed
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    complaints = tempfile.TemporaryFile("w+")
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "scripts.bench.peak"],
        env=environment,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
    )
    atexit.register(_end, child, complaints)
    return child, complaints


def _end(child: subprocess.Popen[str], complaints: IO[str]) -> None:
    _child.cache_clear()
    child.communicate()  # no further question: it ends by itself
    complaints.close()


def peak(call: Call) -> float:
    """Most MiB that a call holds beyond what there is before; for the child process."""
    call()  # what is made once and kept is not counted
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the mark falls to what is held now
    before = _kib("VmRSS")
    result = call()
    held = _kib("VmHWM") - before
    del result
    return _rounded(max(0, held) / 1024)


def _kib(key: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{key}:")[2].split()[0])
