"""The benchmark: it runs, its targets can be missed, its JSON is whole."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time

import pytest

from scripts import bench_site
from scripts.bench import __main__ as bench
from scripts.bench import growth, measure, table
from scripts.bench.measure import ROWS, Row, Settings, Target, Way, Work

TINY = Settings(rounds=2, fewest=2, budget=1.0, sample=1e-4)


def spin(milliseconds):
    """Something that takes that much CPU time."""

    def call():
        end = time.process_time() + milliseconds / 1000
        while time.process_time() < end:
            pass
        return milliseconds

    return call


@pytest.fixture
def add_row(monkeypatch):
    """Adds a row whose limit takes 1 ms; its memory is not measured, as no child knows it."""

    def add(target, ours=2.0, others=(), name="probe", **work):
        made = Work(Way("the limit", spin(1)), spin(ours), list(others), memory=False, **work)
        monkeypatch.setitem(ROWS, name, Row(name, "a probe", target, lambda: made))
        return ROWS[name]

    return add


def run(tmp_path, *arguments):
    path = tmp_path / "out" / "bench.json"
    status = bench.main([*arguments, "--json", str(path)], TINY)
    return status, json.loads(path.read_text(encoding="utf-8"))


def test_a_row_runs_and_its_json_is_whole(tmp_path, capsys):
    _, content = run(tmp_path, "--row", "lookup")
    result = content["bench"]
    assert {"Python", "torch", "transformers"} <= set(result["versions"])
    assert "cores: " in result["machine"]
    assert result["script"] == "scripts/bench/__main__.py" and result["seed"] == measure.SEED
    [row] = result["data"]["rows"]
    assert row["name"] == "lookup" and row["rounds"] == 2 and row["target"] == {"ratio": 1.2}
    ways = {way["name"]: way for way in row["ways"]}
    assert list(ways) == ["F.embedding", "tokpos", "table[ids]", "one-hot product"]
    assert ways["F.embedding"]["ratio"] == [1, 1, 1]
    assert all(0 < way["ratio"][0] <= way["ratio"][2] for way in ways.values())
    shown = capsys.readouterr().out
    assert "lookup: lookup of [8, 512] rows" in shown and "tokpos" in shown
    assert content["growth"]["data"] == {"curves": []}
    if "mib" in ways["tokpos"]:  # Linux has a mark of resident memory that can be reset
        assert ways["tokpos"]["mib"] == pytest.approx(6, abs=0.5)  # [8, 512, 384] of float32
        assert ways["one-hot product"]["mib"] > 90  # [512, 50257] of float32


def test_a_growth_runs_and_has_exponents(tmp_path, capsys, monkeypatch):
    quadratic = growth.Growth(
        "growth-probe", "a probe", "S", [1, 2, 4], lambda size: {"square": spin(size * size)}
    )
    monkeypatch.setitem(growth.GROWTHS, "growth-probe", quadratic)
    monkeypatch.setattr(
        growth, "peaks_of_growth", lambda name: {f"square @ {n}": 8.0 * n for n in (1, 2, 4)}
    )
    _, content = run(tmp_path, "--row", "growth-probe")
    [curve] = content["growth"]["data"]["curves"]
    [way] = curve["ways"]
    assert curve["sizes"] == [1, 2, 4] and len(way["milliseconds"]) == 3
    assert way["time_exponent"] == pytest.approx(2, abs=0.2)
    assert way["memory_exponent"] == 1 and way["mib"] == [8, 16, 32]
    assert "memory S^1.00" in capsys.readouterr().out


def test_ratio_is_that_of_the_times(add_row):
    row = measure.measure(add_row(Target(ratio=4), ours=3.0), TINY)
    assert row["ways"][1]["ratio"][1] == pytest.approx(3, rel=0.15)
    assert not row["missed"]


@pytest.mark.parametrize(
    ("target", "work", "words"),
    [
        (Target(ratio=1.2), {}, "ratio [12].*, at most 1.2"),
        (Target(error=0.5), {"error": lambda out: out}, "error 2, at most 0.5"),
        (Target(error=0.5), {"error": lambda out: float("nan")}, "error nan, at most 0.5"),
        (Target(error=0.0), {"error": lambda out: 1e-9}, "error 1e-09, at most 0"),
        (
            Target(times_faster={"slow": 40}),
            {"others": [Way("slow", spin(6))]},
            "times faster than slow, at least 40",
        ),
    ],
)
def test_check_fails_on_a_missed_target_and_names_it(
    add_row, tmp_path, capsys, target, work, words
):
    add_row(target, **work)
    assert run(tmp_path, "--row", "probe")[0] == 0
    capsys.readouterr()
    status, content = run(tmp_path, "--row", "probe", "--check")
    [row] = content["bench"]["data"]["rows"]
    [missed] = row["missed"]
    assert status == 1
    assert f"0 of 1 rows meet their targets\nprobe: MISSED: {missed}" in capsys.readouterr().out
    assert re.search(words, missed)


def test_check_is_content_when_targets_are_kept(add_row, tmp_path, capsys):
    slow = [Way("slow", spin(6))]
    target = Target(ratio=4, error=2.0, times_faster={"slow": 1.5})
    add_row(target, others=slow, error=lambda out: out)
    assert run(tmp_path, "--row", "probe", "--check")[0] == 0
    shown = capsys.readouterr().out
    assert "1 of 1 rows meet their targets" in shown
    assert "OK: ratio at most 4, error at most 2, 1.5 times faster than slow" in shown


def test_a_target_of_zero_is_shown_and_kept(add_row):
    row = measure.measure(add_row(Target(error=0.0), error=lambda out: 0.0), TINY)
    assert row["target"] == {"error": 0.0} and not row["missed"]
    assert table.verdict(row) == "OK: error at most 0"


def test_what_cannot_run_says_why_and_has_no_numbers(add_row, tmp_path, capsys):
    def broken():
        raise ImportError("no module named x")

    absent = measure.peer("no-such-package-of-anyone", lambda: spin(1))
    add_row(Target(ratio=4), others=[absent, measure.peer("torch", broken)])
    _, content = run(tmp_path, "--row", "probe")
    *_, missing, failing = content["bench"]["data"]["rows"][0]["ways"]
    assert missing == {"name": "no-such-package-of-anyone", "why_not": "not installed"}
    assert failing["why_not"] == "does not import: no module named x"
    assert "no-such-package-of-anyone: not installed" in capsys.readouterr().out


def test_a_row_that_cannot_run_is_not_passed_over(tmp_path, capsys, monkeypatch):
    work = Work(Way("the limit", spin(1)), None, memory=False, why_not="it needs a compiler")
    monkeypatch.setitem(ROWS, "probe", Row("probe", "a probe", Target(ratio=1), lambda: work))
    assert run(tmp_path, "--row", "probe", "--check")[0] == 0
    assert "probe: NOT RUN: it needs a compiler" in capsys.readouterr().out


def test_an_unknown_row_gives_the_list():
    with pytest.raises(SystemExit, match=r"no row is named 'rop-step'.*\n.*") as error:
        bench.main(["--row", "rop-step"])
    assert all(f"\n  {name}" in str(error.value) for name in [*ROWS, *growth.GROWTHS])


def test_a_beginning_stands_for_all_rows_that_begin_so():
    assert bench.choose([]) == [*ROWS, *growth.GROWTHS]
    assert bench.choose(["sinusoidal"]) == ["sinusoidal-8192", "sinusoidal-131072"]
    assert bench.choose(["t5-bias"]) == ["t5-bias"]
    assert bench.choose(["growth-l", "import"]) == ["import", "growth-lookup"]


def test_a_part_of_a_run_is_not_kept(add_row, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench.Result, "save", lambda result: pytest.fail("it was written"))
    add_row(Target())
    run(tmp_path, "--row", "probe", "--keep")
    assert "only a whole run is kept" in capsys.readouterr().err


def test_blocks_are_aligned():
    ways = [
        {"name": "a", "ratio": [1, 1, 1], "milliseconds": 1.0},
        {"name": "tokpos", "ratio": [1.5, 2, 12], "milliseconds": 20.0, "mib": 3.0, "error": 1e-7},
        {"name": "absent", "why_not": "not installed"},
    ]
    row = {"name": "n", "title": "t", "target": {}, "missed": [], "not_run": "", "ways": ways}
    lines = table.block(row).splitlines()
    ends = [lines[i].index(text) + len(text) for i, text in ((2, "ratio"), (3, "  1"), (4, "  2"))]
    assert lines[1] == "    OK: no target"
    assert lines[4].split() == ["tokpos", "2", "1.5..12", "20", "3.0", "1.0e-07"]
    assert ends[0] >= ends[1] - 1 and lines[5].strip() == "absent: not installed"


def test_a_generated_course_builds(tmp_path):
    root = bench_site.course(tmp_path / "course", 2)
    environment = os.environ | {"PYTHONPATH": "src"}
    done = subprocess.run(
        bench_site.BUILD, cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted(path.stem for path in (root / "site/zh/lessons").glob("*.html"))
    assert pages == ["lesson_000", "lesson_001"]


def test_a_part_of_the_sites_benchmark_goes_to_what_was_measured_before(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_site, "MEASURED", tmp_path / "made/bench_site.json")
    for name in ("edits", "builds"):
        monkeypatch.setitem(bench_site.PARTS, name, lambda _, name=name: MEASURED_PARTS[name])
        bench_site.main(["--part", name])
    assert bench_site.measured_before() == MEASURED_PARTS
    told = json.loads(bench_site.MEASURED.read_text(encoding="utf-8"))["data"]["targets"]
    assert [each["name"] for each in told if each["missed"]] == ["build-warm", "edit-code"]


MEASURED_PARTS = {
    "builds": {
        "cells_cpu": 10.0,
        **{
            kind: {"seconds": seconds}
            for kind, seconds in {"cold": 9.0, "warm": 8.0, "plain": 5.0, "jupyter": 40.0}.items()
        },
    },
    "edits": {"prose": 2.0, "code": 5.0, "run": 2.0, "besides": 3.0},
}
