"""Put small faults into the package, one at a time, and see who notices: `make mutants`.

    python -m scripts.mutants                     a sample of all faults, the same each time
    python -m scripts.mutants --module rope       those of the sample in one module
    python -m scripts.mutants --count 400         a larger sample
    python -m scripts.mutants --found FILE        go on from FILE, which keeps what was found; a new
                                                  FILE after a change of the lessons or the tests

For each fault the lessons that call the faulty function are run, then the tests of the library
that do. A fault that neither notices is a claim that nobody makes, or one that changes no result:
those are explained in tests/mutants.yml. Any other is printed, and the exit status is 1. It takes
long.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from scripts.execute import ENVIRONMENT

os.environ.update(ENVIRONMENT)  # before torch counts the processors

import pytest  # noqa: E402

from scripts import passages, shell  # noqa: E402
from scripts.execute import imports, steps  # noqa: E402
from scripts.lesson import Lesson  # noqa: E402
from scripts.mutants.calls import Function, around, called  # noqa: E402
from scripts.mutants.changes import Change, changes  # noqa: E402
from scripts.mutants.forks import alone, at_once  # noqa: E402
from scripts.mutants.uses import Uses  # noqa: E402
from scripts.yaml_files import read_yaml  # noqa: E402
from scripts.zygote import GARBAGE, import_ahead  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
EXPLAINED = ROOT / "tests/mutants.yml"
TESTED_WITH = ("import torch._dynamo", "import hypothesis")
NO_THEORY = ("__init__", "_types", "_measured", "results")  # the package's table, the kept results
WHO = {
    "the lessons' own checks": ("lessons",),
    "the tests": ("tests",),
    "either": ("lessons", "tests"),
}
LONGEST = 600.0  # seconds for one lesson or one file of tests without a fault


@dataclass
class Witness:
    """A lesson or a file of tests: what may notice a fault."""

    name: str
    call: Callable[[Path], str]  # with the folder of the package, what it noticed
    modules: set[str]  # of the package, that it imports directly
    reached: set[str]  # that it imports directly or not
    seconds: float = 0.0
    called: set[Function] | None = None  # of the package; None where that is not known

    def notices(self, package: Path) -> str:
        answer = alone(partial(self.call, package), self.seconds * 5 + 30)
        return answer if answer is not None else f"{self.name}: died or ran too long"

    def may_notice(self, module: str, function: Function | None) -> bool:
        """Whether a fault in this function, or outside of all, makes a difference to it."""
        if function is None or self.called is None:
            return module in self.reached
        return function in self.called


@dataclass
class Mutant:
    module: str
    change: Change
    faulty: str  # the line
    noticed: dict[str, str] = field(default_factory=dict)  # by "lessons", by "tests"

    @property
    def place(self) -> str:
        return f"src/tokpos/{self.module}.py:{self.change.line}"

    @property
    def name(self) -> str:
        """Unlike any other fault's, as long as the line is the same."""
        return f"{self.place}:{self.change.start}: {self.faulty}"


class Found:
    """What was found before, in a file of lines of JSON; nothing is kept without a file."""

    def __init__(self, path: Path | None):
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        self.noticed: dict[str, dict[str, str]] = dict(map(json.loads, lines))

    def add(self, one: Mutant) -> None:
        if self.path:
            with self.path.open("a", encoding="utf-8") as file:
                print(json.dumps([one.name, one.noticed], ensure_ascii=False), file=file)

    def fill(self, mutants: list[Mutant]) -> list[Mutant]:
        """Give the faults what is known of them; those of which nothing is known."""
        for one in mutants:
            one.noticed = self.noticed.get(one.name, {})
        return [one for one in mutants if not one.noticed]


def lesson_notices(name: str, todo: list[dict], package: Path) -> str:
    """What fails in a run of a lesson."""
    os.environ["TOKPOS_ROOT"], os.environ["TOKPOS_SOURCE"] = str(ROOT), str(package)
    sys.path.insert(0, str(package))
    with tempfile.NamedTemporaryFile() as result:
        shell.run(todo, result.name, LONGEST)
        failed = json.loads(Path(result.name).read_text(encoding="utf-8")).get("failed")
    return f"{name}: {failed['message'].splitlines()[0]}" if failed else ""


def tests_notice(name: str, package: Path) -> str:
    """The first of a file's tests that fails."""
    os.environ["PYTHONPATH"] = str(package)
    with tempfile.TemporaryFile("w+") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        options = [
            "-x",
            "-q",
            "--assert=plain",
            "-p",
            "no:cacheprovider",
            "-o",
            f"pythonpath={package} .",
        ]
        status = pytest.main([*options, str(ROOT / name)])
        said.seek(0)
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said.read(), re.MULTILINE)
    return "" if status == 0 else (failed or [f"{name}: status {status}"])[0]


def lessons() -> list[Lesson]:
    docs = ROOT / "docs"
    return passages.every_lesson(docs, read_yaml(docs / "site.yml")["languages"])


def witnesses() -> dict[str, list[Witness]]:
    """The lessons, and the library's tests."""
    uses = Uses(SOURCE / "tokpos")
    found: dict[str, list[Witness]] = {"lessons": [], "tests": []}
    for one in lessons():
        code = "\n".join(block.source for block in one.code)
        call = partial(lesson_notices, one.name, steps(one))
        found["lessons"].append(Witness(one.name, call, uses.direct(code), uses.all(code)))
    for path in sorted((ROOT / "tests/library").glob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        code = path.read_text(encoding="utf-8")
        found["tests"].append(
            Witness(name, partial(tests_notice, name), uses.direct(code), uses.all(code))
        )
    return found


def without_fault(one: Witness) -> tuple[str, float, str, set[Function] | None]:
    """Its name, how long it takes, what it notices without a fault, and what it calls."""
    start = time.monotonic()
    watched = partial(called, partial(one.call, SOURCE), SOURCE / "tokpos")
    noticed, calls = alone(watched, LONGEST) or (f"{one.name}: died or ran too long", None)
    return one.name, time.monotonic() - start, noticed, calls


def sample(count: int, only: str | None) -> list[Mutant]:
    """Faults of every module, as many as it has places for them; the same ones each time."""
    found: list[Mutant] = []
    modules = [
        path for path in sorted((SOURCE / "tokpos").glob("*.py")) if path.stem not in NO_THEORY
    ]
    sources = {path.stem: path.read_text(encoding="utf-8") for path in modules}
    all_changes = {module: list(changes(source)) for module, source in sources.items()}
    total = sum(map(len, all_changes.values()))
    for module, possible in all_changes.items():
        number = min(len(possible), max(2, round(count * len(possible) / total)))
        chosen = random.Random(module).sample(possible, number)
        if only in (None, module):
            found += [Mutant(module, one, one.shown(sources[module])) for one in chosen]
    return found


def judged(mutant: Mutant, everyone: dict[str, list[Witness]]) -> Mutant:
    """Run the package with the fault; of the lessons and of the tests, the first that notices."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "tokpos")
        package.mkdir()
        for path in (SOURCE / "tokpos").iterdir():
            (package / path.name).symlink_to(path)
        faulty = package / f"{mutant.module}.py"
        source = faulty.read_text(encoding="utf-8")
        faulty.unlink()
        faulty.write_text(mutant.change.applied(source), encoding="utf-8")
        function = around(source, mutant.module, mutant.change.line)
        for kind, those in everyone.items():
            near = [one for one in those if one.may_notice(mutant.module, function)]
            near.sort(key=lambda one: (mutant.module not in one.modules, one.seconds))
            mutant.noticed[kind] = next(
                filter(None, (one.notices(Path(folder)) for one in near)), ""
            )
    return mutant


def explanations() -> dict[tuple[str, str], str]:
    """Why a fault changes nothing, by its module and its line."""
    entries = read_yaml(EXPLAINED)
    return {(entry["module"], entry["line"]): entry["why"] for entry in entries}


def report(mutants: list[Mutant]) -> int:
    """Print the shares and the faults that nobody noticed; how many of these are unexplained."""
    why = explanations()
    print(f"\n{len(mutants)} faults; noticed by")
    for who, kinds in WHO.items():
        seen = sum(any(one.noticed[kind] for kind in kinds) for one in mutants)
        print(f"  {who:24} {seen / len(mutants):.0%}")
    unseen = [one for one in mutants if not any(one.noticed.values())]
    unexplained = 0
    for one in unseen:
        reason = why.get((one.module, one.faulty))
        unexplained += reason is None
        print(f"{one.place}: {one.change.old!r} as {one.change.new!r}: {one.faulty}")
        print(f"    {reason or 'NOBODY NOTICED, and tests/mutants.yml does not explain it'}")
    return unexplained


def ready_witnesses(modules: set[str]) -> dict[str, list[Witness]]:
    """The witnesses; those of the modules have run without a fault, and noticed none."""
    gc.set_threshold(*GARBAGE)
    import_ahead([*TESTED_WITH, *imports(lessons(), SOURCE)])
    everyone = witnesses()
    near = [one for those in everyone.values() for one in those if one.reached & modules]
    print(f"{len(near)} lessons and files of tests without a fault", flush=True)
    named = {one.name: one for one in near}
    for name, seconds, noticed, calls in at_once(partial(without_fault, one) for one in near):
        named[name].seconds, named[name].called = seconds, calls
        if noticed:
            sys.exit(f"mutants: without a fault, too, there is one: {noticed}")
    return everyone


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--count", type=int, default=180)
    parser.add_argument("--module", help="of the package, without its ending")
    parser.add_argument("--found", type=Path, metavar="FILE", help="what an earlier run found")
    asked = parser.parse_args(arguments)
    mutants, found = sample(asked.count, asked.module), Found(asked.found)
    if not mutants:
        parser.error(
            f"--module {asked.module}: there is no such module, or none of it can be changed"
        )
    todo, ended = found.fill(mutants), {one.name: one for one in mutants}
    everyone = ready_witnesses({one.module for one in todo})
    for number, one in enumerate(at_once(partial(judged, each, everyone) for each in todo), 1):
        found.add(one)
        ended[one.name].noticed = one.noticed
        lessons, tests = (one.noticed[kind] or "-" for kind in ("lessons", "tests"))
        print(f"{number}/{len(todo)} {one.place} {one.faulty}", flush=True)
        print(f"    {lessons}\n    {tests}", flush=True)
    return int(report(sorted(mutants, key=lambda one: one.place)) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
