"""Small faults in the package: where they are put, whom they concern, and forks that die."""

import ast
import os
import time
from pathlib import Path

import pytest

from scripts.mutants.__main__ import Found, sample
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
