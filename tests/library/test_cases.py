"""Every fault in docs/cases.yml has a test that names it, and no test names another."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
CASES, SITE = (
    yaml.safe_load((DOCS / name).read_text(encoding="utf-8")) for name in ("cases.yml", "site.yml")
)
NAMED = re.compile(r"^def test_([A-Z]\d\d)_", re.MULTILINE)
SOURCE = re.compile(r"[\w.-]+/[\w.-]+#\d+")


def test_every_case_has_its_test() -> None:
    texts = [path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py")]
    tested = {case for text in texts for case in NAMED.findall(text)}
    assert sorted(CASES) == sorted(tested)


def test_a_case_is_told_in_each_language_with_its_sources() -> None:
    for case, facts in CASES.items():
        assert set(facts) == {*SITE["languages"], "sources"}, case
        assert all(SOURCE.fullmatch(source) for source in facts["sources"]), case
