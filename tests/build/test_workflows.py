"""The workflows for GitHub: they ask for little, and call what the project has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MAY_WRITE = {"pages": {"pages", "id-token"}, "tests": set()}


@pytest.fixture(params=MAY_WRITE)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def read(name: str) -> dict:
    return yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8"))


def test_there_are_no_others():
    assert {path.stem for path in (ROOT / ".github/workflows").iterdir()} == set(MAY_WRITE)


def test_a_workflow_may_write_what_it_must_and_no_more(name):
    workflow = read(name)
    asked = [job.get("permissions", {}).items() for job in workflow["jobs"].values()]
    assert workflow["permissions"] == {"contents": "read"}
    assert {what for one in asked for what, how in one if how == "write"} == MAY_WRITE[name]


def test_a_workflow_calls_what_there_is(name):
    (commands,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    steps = [step for job in read(name)["jobs"].values() for step in job["steps"]]
    runs = "\n".join(step.get("run", "") for step in steps)
    made, called = (re.findall(rf"^{tool} (\S+)", runs, re.MULTILINE) for tool in ("make", "bash"))
    assert made or called
    assert set(made) <= set(commands.split())
    assert all((ROOT / script).is_file() for script in called)
    for step in steps:
        assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/none@v1")), step
