"""Every lesson and page of the project: one structure, the glossary's terms, all pairs reviewed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from babel.messages.pofile import read_po

from scripts import glossary, lesson, passages, reading, review, structure, typography

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LANGUAGES = yaml.safe_load((DOCS / "site.yml").read_text(encoding="utf-8"))["languages"]
TERMS = glossary.read(DOCS / "glossary.yml")
LESSONS = sorted([*DOCS.glob("*.py"), *DOCS.glob("*/*.py")])


def told(problems: list[lesson.Problem]) -> str:
    return "\n".join(map(str, problems))


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def page(request) -> lesson.Lesson:
    return lesson.read(request.param, DOCS, LANGUAGES)


@pytest.fixture(params=sorted(DOCS.glob("lessons/*.py")), ids=lambda path: path.stem)
def course_lesson(request) -> lesson.Lesson:
    return lesson.read(request.param, DOCS, LANGUAGES)


@pytest.fixture(params=LANGUAGES)
def language(request) -> str:
    return request.param


def test_lesson_has_one_structure(page):
    assert told(structure.check(page, LANGUAGES, TERMS)) == ""


def test_lesson_is_reviewed(page):
    recorded = review.read(DOCS / "reviewed.json")
    assert told(review.check_reviewed(page, recorded)) == ""
    assert told(review.unrecorded(page, recorded)) == ""


def test_a_lesson_takes_ten_to_twenty_minutes(course_lesson, language):
    assert 10 <= reading.minutes(course_lesson, language) <= 20


def test_a_lesson_has_three_to_five_exercises_and_five_questions(course_lesson):
    texts = [block.texts[LANGUAGES[0]].source for block in course_lesson.prose]
    exercises = "\n".join(texts).partition("{#exercises}")[2]
    assert 3 <= exercises.count('??? question "Answer"') <= 5
    assert [block.role for block in course_lesson.prose].count("quiz") == 5


def test_lessons_and_pages_were_found():
    assert {"index", "lookup", "sinusoidal", "left_padding"} <= {path.stem for path in LESSONS}
    pages, problems = passages.of_pages(DOCS, LANGUAGES)
    assert "how_it_is_made.md" in pages
    assert told(problems) == ""


def test_pages_have_one_structure():
    assert told(structure.check_pages(DOCS, LANGUAGES, TERMS)) == ""


def test_the_sites_own_words_have_one_structure():
    assert told(structure.check_words(DOCS, LANGUAGES, TERMS)) == ""


def test_pages_and_words_are_reviewed():
    recorded = review.read(DOCS / "reviewed.json")
    assert told(review.check_pages_reviewed(DOCS, LANGUAGES, recorded)) == ""
    assert told(review.unrecorded_pages(DOCS, LANGUAGES, recorded)) == ""


def chinese_elsewhere() -> dict[str, list[str]]:
    """The Chinese that is kept by its English: labels of figures, docstrings."""
    labels = ROOT / "src/tokpos/figures/words/zh.json"
    with open(DOCS / "translations/zh.po", encoding="utf-8") as file:
        catalogue = read_po(file)
    return {
        "figures": list(json.loads(labels.read_text(encoding="utf-8")).values()),
        "docstrings": [str(message.string) for message in catalogue if message.id],
    }


@pytest.mark.parametrize("where", ["figures", "docstrings"])
def test_labels_and_docstrings_keep_to_the_terms(where):
    # A line break in a label is meant: each line is a text.
    lines = [line for text in chinese_elsewhere()[where] for line in text.split("\n")]
    texts = [passages.Passage(where, "zh", line, 1) for line in lines]
    assert texts
    problems = [typography.check(text) + TERMS.check_words(text) for text in texts]
    assert told([problem for found in problems for problem in found]) == ""
