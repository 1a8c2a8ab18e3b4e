"""The changelogs: their form, the same in both languages, and the versions that files name."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from scripts import api, changes, glossary, imprint, origin, typography
from scripts.passages import Passage

ROOT = Path(__file__).parents[2]
FILES = {"en": ROOT / "CHANGELOG.md", "zh": ROOT / "CHANGELOG.zh.md"}


CHANGES = """\
# Changes

What is new.

## [Unreleased]

- More.

## [0.2.0] - 2026-02-03

### New

- A `<b>` & more.

## [0.1.0] - 2026-01-02

- All.
"""


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", "GIT_COMMITTER_DATE": "2025-06-01T12:00:00Z"},
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture(scope="module")
def ours():
    return {language: changes.read(path) for language, path in FILES.items()}


def test_both_changelogs_have_the_same_versions_dates_and_entries(ours):
    assert changes.check(ours) == []
    found = ours["en"]
    assert not found.versions[0].date and found.released
    dates = [version.date for version in found.released]
    assert dates == sorted(dates, reverse=True)


def test_the_chinese_changelog_keeps_to_the_glossary_and_the_typography():
    """As a page it would be checked with its partner; here the two are one pair of passages."""
    terms = glossary.read(ROOT / "docs/glossary.yml")
    texts = {language: path.read_text(encoding="utf-8") for language, path in FILES.items()}
    texts = {
        language: re.sub(r"^## \[.*\n", "", text, flags=re.M) for language, text in texts.items()
    }
    pair = {each: Passage(FILES[each].name, each, text, 1) for each, text in texts.items()}
    problems = terms.check([pair])
    problems += [p for passage in pair.values() for p in typography.check(passage)]
    assert not problems, "\n".join(map(str, problems))


def test_the_version_is_the_same_everywhere(ours):
    version = origin.version_of(api.load(ROOT / "src", "tokpos"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = ours["en"].released[0]
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert (cited["version"], str(cited["date-released"])) == (version, newest.date)
    assert newest.name == version
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(
        f'name = "{author}"' in project for author in imprint.authors(ROOT / imprint.CITATION)
    )


def test_a_changelog_may_be_empty(tmp_path):
    path = tmp_path / "CHANGELOG.md"
    path.write_text("# Changes\n\nNothing yet.\n", encoding="utf-8")
    assert changes.read(path) == changes.Changes(path.name, "Changes", "Nothing yet.", ())


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("# Changes\n", "Changes\n", 1),
        ("## [0.2.0] - 2026-02-03", "## [0.2.0]", 9),
        ("## [0.1.0] - 2026-01-02", "## 0.1.0", 15),
    ],
)
def test_a_heading_out_of_form_is_named(tmp_path, old, new, line):
    path = tmp_path / "CHANGELOG.md"
    path.write_text(CHANGES.replace(old, new), encoding="utf-8")
    with pytest.raises(changes.FormError) as raised:
        changes.read(path)
    assert raised.value.lineno == line and new.strip() in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("2026-01-02", "2026-01-03", "0.1.0 2026-01-03 with 1 entries here, 0.1.0 2026-01-02"),
        ("- All.", "- All.\n- Too much.", "with 2 entries here"),
        ("## [0.1.0] - 2026-01-02\n\n- All.\n", "", "no further version here, 0.1.0"),
    ],
)
def test_what_differs_between_the_languages_is_named(tmp_path, old, new, wanted):
    path = tmp_path / "CHANGELOG.md"
    path.write_text(CHANGES, encoding="utf-8")
    english = changes.read(path)
    path.write_text(CHANGES.replace(old, new), encoding="utf-8")
    (problem,) = changes.check({"en": english, "zh": replace(changes.read(path), path="zh.md")})
    assert wanted in problem.message and problem.path == "zh.md" and problem.language == "zh"


def test_all_headings_of_the_page_have_ids_of_no_language(ours):
    pages = [changes.page(each) for each in ours.values()]
    english, chinese = (re.findall(r"^##+ .*\{#(.*)\}$", page, re.M) for page in pages)
    assert english == chinese and len(set(english)) == len(english) > 3
    assert len(english) == len(re.findall("^##", pages[0], re.M))


# Where a site comes from


def test_the_origin_of_a_checkout(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text("one")
    assert origin.of(tmp_path, None) == origin.Origin()
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        git(tmp_path, *command)
    found = origin.of(tmp_path, None)
    assert found == origin.Origin("", git(tmp_path, "rev-parse", "HEAD"), False)
    (tmp_path / "notes.txt").write_text("no source")
    assert origin.of(tmp_path, None) == found
    (tmp_path / "docs/page.md").write_text("two")
    assert origin.of(tmp_path, None).modified
    assert origin.of(tmp_path / "docs", None) == origin.Origin()  # a folder in another project
