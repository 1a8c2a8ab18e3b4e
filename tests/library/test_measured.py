"""The tables of the benchmark tell what was measured, in every language, and what was missed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tokpos import _measured
from tokpos._words import LANGUAGES_MIME, languages
from tokpos.results import load

BENCH, GROWTH = load("bench"), load("growth")


def row(ours, target, **more):
    """The row `lookup` with other numbers."""
    ways = [
        {"name": "F.embedding", "ratio": [1.0, 1.0, 1.0]},
        {"name": "tokpos", "ratio": [1.0, 1.5, 2.0], "mib": 3.0, "error": 2e-7} | ours,
        {"name": "tokpos, another", "ratio": [0.1, 0.2, 0.3]},
        {"name": "dense, SGD", "ratio": [2.0, 3.0, 4.0]},
        {"name": "transformers 9.9", "ratio": [4.0, 5.0, 6.0]},
        {"name": "torchtune", "why_not": "not installed"},
    ]
    given = {"error_name": "error", "missed": [], "not_run": ""} | more
    return {"name": "lookup", "target": target, "ways": ways, **given}


def bench(changed):
    rows = [changed if each["name"] == "lookup" else each for each in BENCH.data["rows"]]
    return replace(BENCH, data={"rows": rows})


def line(changed, language="en"):
    lines = _measured.table(bench(changed), "tables").tell(language).splitlines()
    return next(each for each in lines if "50,257" in each).split(" | ")[1:]


@pytest.mark.parametrize("language", languages())
def test_the_kept_results_are_told_in_every_language(language):
    for subject, rows in _measured.WORK.items():
        lines = _measured.table(BENCH, subject).tell(language).splitlines()
        assert len(lines) == len(rows) + 2
        assert len({each.count("|") for each in lines}) == 1
    ways = sum(len(curve["ways"]) for curve in GROWTH.data["curves"])
    assert len(_measured.exponents(GROWTH).tell(language).splitlines()) == ways + 2
    items = _measured.missed(BENCH).tell(language).count("\n- ")
    assert items == sum(bool(each["missed"]) for each in BENCH.data["rows"])


@pytest.mark.parametrize("language", languages())
def test_every_row_has_words_for_what_limits_it(language):
    names = {name for rows in _measured.WORK.values() for name in rows}
    assert names == set(_measured.LIMITED_BY)
    for reason in _measured.LIMITED_BY.values():
        assert _measured._in(language, "test")(reason).endswith((".", "。"))


def test_sizes_in_the_words_are_those_of_the_benchmark():
    size = re.compile(r"(?<![\w,-])\d+(?:,\d{3})*")
    for each in BENCH.data["rows"]:
        for language in languages():
            told = size.findall(_measured._in(language, "test")(_measured._work(each)))
            assert set(told) <= set(size.findall(each["title"])), each["name"]


def test_a_row_holds_its_numbers_beside_their_targets():
    told = line(row({}, {"ratio": 1.6, "mib": 4.0, "error": 1e-6}))
    assert told[0] == "**1.5** (1\u2060–\u20602)"
    assert told[1] == "≤\u00a01.6"
    assert told[2] == "dense gradient 3"
    assert told[3] == "3 (≤\u00a04)"
    assert told[4] == "2\u00a0×\u00a010⁻⁷ (≤\u00a010⁻⁶) |"


@pytest.mark.parametrize(
    ("ours", "target", "words"),
    [
        ({}, {"ratio": 1.4}, "1.5 times the limit, at most 1.4 wanted"),
        ({}, {"mib": 2.0}, "peak memory of 3 MiB, at most 2 wanted"),
        ({"error": float("nan")}, {"error": 1e-7}, "error of nan, at most 10⁻⁷ wanted"),
        ({}, {"times_faster": {"dense, SGD": 3.0}}, "2 times faster than with dense gradient"),
    ],
)
def test_what_is_missed_is_said(ours, target, words):
    changed = row(ours, target, missed=["so the benchmark says"])
    assert words in _measured.missed(bench(changed)).tell("en")
    assert "**missed**" in line(changed)[1]
    assert "**未达到**" in line(changed, "zh")[1]


def test_what_did_not_run_is_neither_kept_nor_missed():
    why = _measured.WHY_NOT[0]
    changed = row({}, {"ratio": 1.6}, not_run=why)
    changed["ways"][1] = {"name": "tokpos", "why_not": why}
    assert line(changed) == [f"not run: {why}", "≤\u00a01.6", "dense gradient 3", "—", "— |"]
    assert not _measured.misses(changed)
    kept = (int(_measured.missed(each).tell("en").split()[0]) for each in (BENCH, bench(changed)))
    assert next(kept) == next(kept) + 1


def test_a_faster_way_is_named():
    slow = bench(row({"ratio": [6.0, 7.0, 8.0]}, {"ratio": 9.0}))
    assert "dense gradient takes 3 times the limit, tokpos 7" in (
        _measured.faster_elsewhere(slow).tell("en")
    )


def test_nothing_to_complain_of():
    rows = [each | {"target": {}, "missed": []} for each in BENCH.data["rows"]]
    for each in rows:
        each["ways"] = each["ways"][:2]
    good = replace(BENCH, data={"rows": rows})
    assert (
        _measured.missed(good).tell("en").strip()
        == f"{len(rows)} of {len(rows)} rows meet their targets."
    )
    assert _measured.faster_elsewhere(good).tell("en").startswith("In no row")


def test_a_row_without_words_is_refused():
    rows = [*BENCH.data["rows"], {"name": "new"}]
    with pytest.raises(ValueError, match="see new"):
        _measured.table(replace(BENCH, data={"rows": rows}), "rope")
    with pytest.raises(ValueError, match="see growth-t5"):
        curves = [each for each in GROWTH.data["curves"] if each["name"] != "growth-t5"]
        _measured.exponents(replace(GROWTH, data={"curves": curves}))


def test_a_notebook_gets_every_language():
    bundle = _measured.missed(BENCH)._repr_mimebundle_()
    assert set(bundle[LANGUAGES_MIME]) == set(languages())
    assert bundle["text/markdown"] == bundle[LANGUAGES_MIME]["en"]["text/markdown"]
