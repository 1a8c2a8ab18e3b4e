"""The record of reviewed pairs: what is a change in one language alone, and what is none."""

from __future__ import annotations

import difflib
import json
import random
from pathlib import Path

import pytest

from scripts import passages, review
from scripts.lesson import Lesson, Problem, read
from tests.build.tiny_lesson import LANGUAGES, TITLE, cell, of_pairs, write

THREE = [*LANGUAGES, "fr"]
PAIRS = [("a", "甲"), ("b", "乙"), ("c", "丙")]


def record(lesson: Lesson) -> review.Record:
    """As `make reviewed` writes it and the next build reads it."""
    path = lesson.path.with_suffix(".json")
    review.write(path, {lesson.shown_path: passages.of_lesson(lesson)})
    return review.read(path)


def check(folder: Path, *pairs: tuple[str, str]) -> list[Problem]:
    """The faults of a lesson of these pairs when `PAIRS` were reviewed."""
    recorded = record(of_pairs(folder, *PAIRS))
    return review.check_reviewed(of_pairs(folder, *pairs), recorded)


def unrecorded(folder: Path, *pairs: tuple[str, str]) -> list[int | None]:
    recorded = record(of_pairs(folder, *PAIRS))
    return [p.cell for p in review.unrecorded(of_pairs(folder, *pairs), recorded)]


def test_nothing_changed(tmp_path):
    assert check(tmp_path, *PAIRS) == []
    assert unrecorded(tmp_path, *PAIRS) == []


@pytest.mark.parametrize(
    ("changed", "language", "line", "cell"),
    [(("b", "乙乙"), "en", 10, 5), (("bb", "乙"), "zh", 12, 6)],
)
def test_one_language_alone(tmp_path, changed, language, line, cell):
    pairs = [PAIRS[0], changed, PAIRS[2]]
    (problem,) = check(tmp_path, *pairs)
    assert (problem.path, problem.line, problem.cell) == ("docs/lessons/one.py", line, cell)
    assert problem.language == language
    assert f"`{language}` was not" in problem.message
    assert "make reviewed" in problem.message
    assert unrecorded(tmp_path, *pairs) == [5]


@pytest.mark.parametrize(
    "pairs",
    [
        [PAIRS[0], ("bb", "乙乙"), PAIRS[2]],
        [*PAIRS, ("d", "丁")],
        [*PAIRS, ("a", "另一个译法")],
        [PAIRS[0], PAIRS[2]],
        list(reversed(PAIRS)),
        [("a  ", "甲"), *PAIRS[1:]],
    ],
    ids=["both", "a new pair", "a new pair with a known text", "one less", "moved", "blanks"],
)
def test_no_change_in_one_language_alone(tmp_path, pairs):
    assert check(tmp_path, *pairs) == []


def test_new_and_changed_pairs_are_not_recorded(tmp_path):
    assert unrecorded(tmp_path, PAIRS[0], ("bb", "乙乙"), PAIRS[2], ("d", "丁")) == [5, 9]
    assert unrecorded(tmp_path, *reversed(PAIRS)) == []


def test_of_two_equal_pairs_one_is_changed(tmp_path):
    recorded = record(of_pairs(tmp_path, *PAIRS, PAIRS[0]))
    lesson = of_pairs(tmp_path, *PAIRS, ("a", "甲甲"))
    (problem,) = review.check_reviewed(lesson, recorded)
    assert (problem.cell, problem.language) == (9, "en")


def test_partners_exchanged(tmp_path):
    problems = check(tmp_path, ("a", "乙"), ("b", "甲"), PAIRS[2])
    assert [p.cell for p in problems] == [3, 5]


def test_nothing_recorded_yet(tmp_path):
    lesson = of_pairs(tmp_path, *PAIRS)
    recorded = review.read(tmp_path / "none.json")
    assert review.check_reviewed(lesson, recorded) == []
    assert [p.cell for p in review.unrecorded(lesson, recorded)] == [1, 3, 5, 7]


def in_three(folder: Path, *texts: str) -> Lesson:
    cells = [cell(text, f'lang="{each}"') for each, text in zip(THREE, texts, strict=True)]
    return read(write(folder, "\n".join(cells) + "\n"), folder / "docs", THREE)


@pytest.mark.parametrize(
    ("texts", "stayed"),
    [
        (("a", "甲", "â"), []),
        (("aa", "甲甲", "ââ"), []),
        (("aa", "甲", "â"), ["fr", "zh"]),
        (("a", "甲", "ââ"), ["en", "zh"]),
        (("aa", "甲甲", "â"), ["fr"]),
    ],
)
def test_one_of_three_languages(tmp_path, texts, stayed):
    recorded = record(in_three(tmp_path, "a", "甲", "â"))
    problems = review.check_reviewed(in_three(tmp_path, *texts), recorded)
    assert [p.language for p in problems] == stayed
    assert all(f"changed and `{p.language}` was not" in p.message for p in problems)


def test_a_language_that_came_is_to_be_reviewed_and_no_fault(tmp_path):
    recorded = record(of_pairs(tmp_path, *PAIRS))
    lesson = in_three(tmp_path, *TITLE, "# Titre")
    assert review.check_reviewed(lesson, recorded) == []
    assert [p.cell for p in review.unrecorded(lesson, recorded)] == [1]


def test_lessons_do_not_mix(tmp_path):
    recorded = record(of_pairs(tmp_path, *PAIRS))
    other = of_pairs(tmp_path, ("a", "甲甲"), name="two")
    assert review.check_reviewed(other, recorded) == []


def test_the_record_has_one_line_a_pair_and_no_order(tmp_path):
    path = tmp_path / "reviewed.json"
    written = set()
    for seed in range(3):
        pairs = random.Random(seed).sample(PAIRS, len(PAIRS))
        lesson = of_pairs(tmp_path, *pairs)
        review.write(path, {"two": [], "one": passages.of_lesson(lesson)})
        written.add(path.read_text(encoding="utf-8"))
    (text,) = written
    lines = text.splitlines()
    assert len(lines) == 4 + len(PAIRS) + 1 + 1  # the braces, two names, the pairs, the title
    assert all(len(line) < 40 for line in lines)
    assert list(json.loads(text)) == ["one", "two"]


@pytest.fixture
def project(tmp_path):
    """A lesson, a page and the site's own words, all recorded."""
    of_pairs(tmp_path, *PAIRS)
    texts = {
        "site.yml": "languages: [en, zh]\n",
        "en/page.md": "# A\n\na\n\nb\n",
        "zh/page.md": "# 甲\n\n甲\n\n乙\n",
        "translations/en.yml": "a: b\n",
        "translations/zh.yml": "a: 乙\n",
    }
    for name, text in texts.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    assert review.main(tmp_path / "docs") == 0
    return tmp_path / "docs"


def test_make_reviewed_says_what_it_recorded(project, capsys):
    capsys.readouterr()
    lesson = project / "lessons/one.py"
    lesson.write_text(lesson.read_text("utf-8").replace("乙", "乙乙"), encoding="utf-8")
    before = (project / "reviewed.json").read_text("utf-8")
    assert review.main(project) == 0
    told = capsys.readouterr().out
    assert "docs/lessons/one.py:10 (en) and docs/lessons/one.py:12 (zh)" in told
    assert "1 new" in told
    after = (project / "reviewed.json").read_text("utf-8")
    changed = [line for line in difflib.ndiff(before.split(), after.split()) if line[0] in "+-"]
    assert len(changed) == 2  # the Chinese fingerprint, before and after
    assert review.main(project) == 0
    assert "no new" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "old", "new", "path", "line", "language"),
    [
        ("zh/page.md", "乙", "丁", "docs/en/page.md", 5, "en"),
        ("en/page.md", "b", "d", "docs/zh/page.md", 5, "zh"),
        ("translations/zh.yml", "乙", "丁", "docs/translations/en.yml", 1, "en"),
    ],
)
def test_pages_and_words(project, file, old, new, path, line, language):
    recorded = review.read(project / "reviewed.json")
    assert review.check_pages_reviewed(project, LANGUAGES, recorded) == []
    assert review.unrecorded_pages(project, LANGUAGES, recorded) == []
    text = (project / file).read_text("utf-8")
    (project / file).write_text(text.replace(old, new), encoding="utf-8")
    (problem,) = review.check_pages_reviewed(project, LANGUAGES, recorded)
    assert (problem.path, problem.line, problem.language) == (path, line, language)
    assert len(review.unrecorded_pages(project, LANGUAGES, recorded)) == 1


def test_make_reviewed_refuses_a_lesson_that_cannot_be_read(project, capsys):
    before = (project / "reviewed.json").read_bytes()
    (project / "lessons/one.py").write_text('# %% [markdown] lang="en"\n# a\n', encoding="utf-8")
    assert review.main(project) == 1
    assert "docs/lessons/one.py:1" in capsys.readouterr().out
    assert (project / "reviewed.json").read_bytes() == before
