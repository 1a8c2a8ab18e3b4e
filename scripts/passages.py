"""The prose that is checked in pairs: the same passage of a lesson or a page in every language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scripts import lesson as lessons
from scripts import markup
from scripts.lesson import Lesson, Problem
from scripts.yaml_files import entries

FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Passage:
    """A piece of prose in one language; `line` is where its first line stands in the file."""

    path: str
    language: str
    source: str
    line: int
    cell: int | None = None

    @cached_property
    def markup(self) -> markup.Markup:
        return markup.parse(self.source)

    def problem(self, message: str, offset: int = 0) -> Problem:
        """A fault `offset` lines below the first line of the passage."""
        return Problem(self.path, self.line + offset, message, self.cell, self.language)


Pair = dict[str, Passage]  # by language


def of_lesson(lesson: Lesson) -> list[Pair]:
    return [
        {
            language: Passage(lesson.shown_path, language, text.source, text.line, text.cell)
            for language, text in block.texts.items()
        }
        for block in lesson.prose
    ]


def of_pages(docs: Path, languages: Sequence[str]) -> tuple[dict[str, list[Pair]], list[Problem]]:
    """The Markdown pages of docs/en, docs/zh ..., each as pairs of its blocks.

    A block is a paragraph, a list, a table, a heading: what stands at the top level of the page.
    A page without a partner, or with another number of blocks, is a problem and gives no pairs.
    """
    folders = {language: docs / language for language in languages}
    names = {page.relative_to(f).as_posix() for f in folders.values() for page in f.rglob("*.md")}
    pages: dict[str, list[Pair]] = {}
    problems: list[Problem] = []
    for name in sorted(names):
        blocks: dict[str, list[Passage]] = {}
        for language, folder in folders.items():
            shown = (folder / name).relative_to(docs.parent).as_posix()
            if (folder / name).is_file():
                blocks[language] = _blocks(folder / name, shown, language)
            else:
                message = f"missing translation: there is no `{shown}`"
                problems.append(Problem(shown, 1, message, language=language))
        if len(blocks) == len(languages):
            uneven = _uneven(blocks, languages)
            problems += uneven
            if not uneven:
                columns = zip(*blocks.values(), strict=True)
                pages[name] = [dict(zip(blocks, row, strict=True)) for row in columns]
    return pages, problems


def of_translations(docs: Path, languages: Sequence[str]) -> dict[str, Pair]:
    """The site's own words, by key; a key that a language lacks is not in its pair."""
    pairs: dict[str, Pair] = {}
    for language in languages:
        file = docs / "translations" / f"{language}.yml"
        shown = file.relative_to(docs.parent).as_posix()
        if file.is_file():
            for key, value, line in entries(file):
                pairs.setdefault(key, {})[language] = Passage(shown, language, value, line)
    return pairs


def every_lesson(docs: Path, languages: list[str]) -> list[Lesson]:
    """The executed pages beside the lessons, and all lessons."""
    files = [*sorted(docs.glob("*.py")), *sorted(docs.glob("*/*.py"))]
    return [lessons.read(file, docs, languages) for file in files]


def _blocks(file: Path, shown: str, language: str) -> list[Passage]:
    text = file.read_text(encoding="utf-8")
    matter = FRONT_MATTER.match(text)
    skipped = matter.group().count("\n") if matter else 0
    body = text[matter.end() :] if matter else text
    lines = body.split("\n")
    return [
        Passage(shown, language, "\n".join(lines[start:end]).rstrip(), skipped + start + 1)
        for start, end in markup.blocks(body)
    ]


def _uneven(blocks: dict[str, list[Passage]], languages: Sequence[str]) -> list[Problem]:
    """Pages whose blocks differ in kind or number, named at the first that does."""
    first, *others = languages
    problems = []
    for other in others:
        ours, theirs = blocks[first], blocks[other]
        for left, right in zip(ours, theirs, strict=False):
            if left.markup.shape != right.markup.shape:
                message = (
                    f"{right.markup.shape or 'nothing'} stands here; "
                    f"in `{first}` (line {left.line}) it is {left.markup.shape or 'nothing'}"
                )
                problems.append(right.problem(message))
                break
        else:
            if len(ours) != len(theirs):
                message = (
                    f"{len(theirs)} blocks (paragraphs, lists, headings ...) in this page; "
                    f"{len(ours)} in `{first}`"
                )
                problems.append(
                    Problem(theirs[0].path if theirs else other, 1, message, language=other)
                )
    return problems
