"""Small faults in the package: where they are put, whom they concern, and forks that die."""

import ast
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.mutants.__main__ import Found, sample
from scripts.mutants.calls import Function, around, called
from scripts.mutants.changes import changes
from scripts.mutants.forks import alone, at_once
from scripts.mutants.uses import Uses

PACKAGE = Path(__file__).parents[2] / "src" / "tokpos"


@pytest.mark.parametrize(
    ("line", "faulty"),
    [
        ("y = x[:n] + 10_000", ["y = x[:n] - 10_000", "y = x[:n + 1] + 10_000", "y = x[:n] + 10001"]),
        ("y = x.sum(-1)", ["y = x.sum(1)", "y = x.sum(-2)"]),
        ("y = sin(b) if 词 < b else not b", [
            "y = cos(b) if 词 < b else not b",
            "y = sin(b) if 词 <= b else not b",
            "y = sin(b) if 词 < b else b",
        ]),
        ("def f(x: Float[Tensor, 'B 2']) -> int: raise ValueError(1 + 1)", []),
    ],
)  # fmt: skip
def test_the_faults_of_a_line(line, faulty):
    assert sorted(change.applied(line) for change in changes(line)) == sorted(faulty)


def test_a_fault_of_the_package_is_python_and_another_program():
    for path in PACKAGE.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        right = ast.dump(ast.parse(source))
        for change in list(changes(source))[::10]:
            assert ast.dump(ast.parse(change.applied(source))) != right, change


def test_what_uses_a_module():
    uses = Uses(PACKAGE)
    code = "from tokpos import Attention\nimport torch\n"
    assert uses.direct(code) == {"attention"}
    assert {"attention", "position"} <= uses.all(code) and "wordpiece" not in uses.all(code)


SOURCE = """\
LIMIT = 3

@property
def outer(x=1):
    def inner():
        return LIMIT + 1
    return inner()

def other():
    return 2
"""


def test_the_function_around_a_line():
    lines = {line: around(SOURCE, "m", line) for line in range(1, 12)}
    assert lines[1] is lines[3] is lines[4] is lines[8] is None
    assert lines[5] == lines[7] == Function("m", 3) and lines[6] == Function("m", 5)
    assert lines[10] == Function("m", 9)


def test_what_a_call_calls(tmp_path, monkeypatch):
    (tmp_path / "probe.py").write_text(SOURCE.replace("@property", ""), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    probe = importlib.import_module("probe")

    def alone_called(call):
        return alone(lambda: called(call, tmp_path), 20)

    assert alone_called(lambda: str(probe.outer())) == (
        "4",
        {Function("probe", 4), Function("probe", 5)},
    )
    child = [sys.executable, "-c", ""]
    assert alone_called(lambda: str(subprocess.run(child).returncode)) == ("0", None)


def test_a_fork_that_dies_or_takes_too_long_gives_nothing():
    assert alone(lambda: 7, 20) == 7
    assert alone(lambda: os._exit(1), 20) is None
    assert alone(lambda: time.sleep(60), 0.2) is None


def test_forks_at_once():
    assert sorted(at_once(lambda n=n: n * n for n in range(5))) == [0, 1, 4, 9, 16]
    with pytest.raises(RuntimeError, match="died"):
        list(at_once([lambda: os._exit(1)]))


def test_a_run_goes_on_from_what_an_earlier_one_found(tmp_path):
    first, *others = sample(180, "rope")
    first.noticed = {"lessons": "a claim", "tests": ""}
    Found(tmp_path / "found.jsonl").add(first)
    again = sample(180, "rope")
    assert Found(tmp_path / "found.jsonl").fill(again) == again[1:]
    assert again[0].noticed == first.noticed
    assert Found(None).fill(again) == again and len(others) == len(again) - 1
