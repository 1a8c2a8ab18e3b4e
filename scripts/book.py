"""The lessons of the site as one whole: read, checked, run once, ready in every language.

One `Book` serves the builds of all languages in a process, and all rebuilds of `mkdocs serve`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import griffe
import yaml

from scripts import api, api_links, assemble, glossary, lesson, palette, review, structure
from scripts.execute import Executor, Progress, Result, write_whole
from scripts.lesson import Lesson, LessonError, Problem


@dataclass
class Part:
    """A part of the course: its title and its lessons' names, in order."""

    title: dict[str, str]
    lessons: list[str]


@dataclass
class Page:
    """One lesson with all that came of it."""

    lesson: Lesson
    result: Result = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    stale: bool = False  # the file cannot be read now; this is how it last could


class Book:
    terms: glossary.Glossary

    def __init__(self, root: Path):
        self.root = root
        self.docs = root / "docs"
        self.cache = root / ".cache"
        self.pages: dict[str, Page] = {}
        self.problems: list[Problem] = []
        self.unreadable: dict[str, list[Problem]] = {}
        self.package: griffe.Module | None = None

    # Settings: read anew at each build, so that an edit of them shows while serving

    @property
    def settings(self) -> dict[str, Any]:
        return yaml.safe_load((self.docs / "site.yml").read_text(encoding="utf-8"))

    @property
    def languages(self) -> list[str]:
        return self.settings["languages"]

    @property
    def parts(self) -> list[Part]:
        return [Part(part["title"], part["lessons"]) for part in self.settings["parts"]]

    def words(self, language: str) -> dict[str, Any]:
        path = self.docs / "translations" / f"{language}.yml"
        return yaml.safe_load(path.read_text(encoding="utf-8"))

    # Reading and running

    def names(self) -> list[str]:
        """Pages in order: those beside the lessons first, then the lessons of the list."""
        extra = sorted(path.stem for path in self.docs.glob("*.py"))
        return extra + [f"lessons/{name}" for part in self.parts for name in part.lessons]

    def prepare(self, progress: Progress) -> list[Problem]:
        """Read, check and run every lesson; return all problems, also kept with their pages."""
        languages = self.languages
        self.terms = glossary.read(self.docs / "glossary.yml")
        recorded = review.read(self.docs / "reviewed.json")
        last, self.pages, self.unreadable = self.pages, {}, {}
        self.problems = self._check_order()
        for name in self.names():
            path = self.docs / f"{name}.py"
            if not path.is_file():
                continue
            try:
                page = Page(lesson.read(path, self.docs, languages))
            except LessonError as error:
                if name in last:
                    self.pages[name] = Page(last[name].lesson, {}, error.problems, stale=True)
                else:
                    self.unreadable[name] = error.problems
                continue
            page.problems += structure.check(page.lesson, languages, self.terms)
            page.problems += review.check_reviewed(page.lesson, recorded)
            self.pages[name] = page
        self._run(progress)
        if package := self.settings.get("package"):
            self.package = api.load(self.root / "src", package)
        self.problems += structure.check_pages(self.docs, languages, self.terms)
        self.problems += structure.check_words(self.docs, languages, self.terms)
        self.problems += review.check_pages_reviewed(self.docs, languages, recorded)
        found = [p for page in self.pages.values() for p in page.problems]
        found += [p for problems in self.unreadable.values() for p in problems]
        return self.problems + found

    def _run(self, progress: Progress) -> None:
        executor = Executor(self.root, self.cache)
        lessons = [page.lesson for page in self.pages.values()]
        results, errors = executor.results(lessons, progress)
        for name, page in self.pages.items():
            page.result = results.get(name, {})
            page.problems += errors[name].problems if name in errors else []

    def _check_order(self) -> list[Problem]:
        """Every lesson file stands in the list once, and every name of the list has its file."""
        shown = "docs/site.yml"
        listed = [name for part in self.parts for name in part.lessons]
        files = {path.stem for path in (self.docs / "lessons").glob("*.py")}
        problems = [
            Problem(shown, 1, f"lesson {name!r}: there is no docs/lessons/{name}.py")
            for name in listed
            if name not in files
        ]
        problems += [
            Problem(shown, 1, f"docs/lessons/{name}.py is missing in the list of lessons")
            for name in sorted(files - set(listed))
        ]
        twice = sorted({name for name in listed if listed.count(name) > 1})
        return problems + [Problem(shown, 1, f"lesson {name!r} is listed twice") for name in twice]

    # What a language's build takes

    def title(self, name: str, language: str) -> str:
        page = self.pages.get(name)
        return page.lesson.title(language) if page else name

    def description(self, name: str, language: str) -> str:
        page = self.pages.get(name)
        return page.lesson.description(language) if page else ""

    def locate(self, page: str, language: str, message: str, quoted: str) -> Problem | None:
        """A fault found on a finished page, put where the text that it quotes stands."""
        name, _, kind = page.rpartition(".")
        written = {quoted, quoted.replace(".ipynb", ".md")}
        if kind == "ipynb" and name in self.pages:
            lesson = self.pages[name].lesson
            for block in lesson.prose:
                text = block.texts[language]
                for words in written:
                    if words in text.source:
                        line = text.line_of(words)
                        return Problem(lesson.shown_path, line, message, text.cell, language)
            return Problem(lesson.shown_path, 1, message, language=language)
        path = self.docs / language / page
        if not path.is_file():
            return None
        lines = path.read_text(encoding="utf-8").split("\n")
        found = [number for number, line in enumerate(lines, 1) if any(w in line for w in written)]
        shown = path.relative_to(self.root).as_posix()
        return Problem(shown, found[0] if found else 1, message, language=language)

    def markdown(self, name: str, language: str) -> str:
        words = self.words(language)
        if name in self.unreadable:
            return assemble.unreadable(name, self.unreadable[name], words)
        page, names = self.pages[name], set(self.names())
        text = assemble.page(
            page.lesson, page.result, language, words, names, page.problems, on_top=page.stale
        )
        return text + assemble.reference(self._entries(page.lesson), words)

    def _entries(self, lesson: Lesson) -> list[str]:
        """The entries of the reference that a lesson uses."""
        if self.package is None:
            return []
        return api_links.Names(self.package).in_lesson(lesson)

    def notebook(self, name: str, language: str) -> Path:
        """The notebook of a page, written where MkDocs takes it from."""
        path = self.cache / "notebooks" / language / f"{name}.ipynb"
        if name in self.pages:
            page, setup = self.pages[name], self.settings.get("notebook_setup", "")
            content = assemble.notebook(
                page.lesson,
                page.result,
                language,
                self.words(language),
                palette.variables("light"),
                setup.replace("LANGUAGE", language).strip(),
            )
        else:
            content = assemble.EMPTY_NOTEBOOK
        if not path.is_file() or path.read_text(encoding="utf-8") != content:
            write_whole(path, content.encode())
        return path
