"""The lessons of the site as one whole: read, checked, run once, ready in every language.

One `Book` serves the builds of all languages in a process, and all rebuilds of `mkdocs serve`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import griffe
import yaml

from scripts import (
    addresses,
    api,
    api_links,
    assemble,
    changes,
    drawings,
    glossary,
    imprint,
    lesson,
    links,
    palette,
    quiz,
    reading,
    review,
    structure,
    widgets,
)
from scripts.changes import Changes
from scripts.execute import Executor, Progress, Result
from scripts.files import digest, write_whole
from scripts.lesson import Lesson, LessonError, Problem
from scripts.yaml_files import read_yaml


@dataclass
class Part:
    """A part of the site: its title, and its pages in order, by the folder and their names.

    Many pages are folded away behind a cover, a page beside the lessons.
    """

    title: dict[str, str]
    pages: list[str]
    cover: str | None = None
    fold: dict[str, str] = field(default_factory=dict)  # the title of what is folded
    level: dict[str, str] = field(default_factory=dict)  # for whom: beginners, ...


@dataclass
class Page:
    """One lesson with all that came of it."""

    lesson: Lesson
    result: Result = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    stale: bool = False  # the file cannot be read now; this is how it last could


class Book:
    def __init__(self, root: Path):
        self.root = root
        self.docs = root / "docs"
        self.cache = root / ".cache"
        self.data: dict[str, Any] = {}  # of each data file, as it could last be read
        self.pages: dict[str, Page] = {}
        self.problems: list[Problem] = []
        self.unreadable: dict[str, list[Problem]] = {}
        self.package: griffe.Module | None = None
        self.entries: api_links.Names | None = None  # of the package
        self.used: dict[str, tuple[Lesson, list[str]]] = {}  # see `entries_used`
        self.drawings: drawings.Drawings = {}
        self.executor = Executor(root, self.cache)
        self.made: dict[str, tuple[list[str], Any]] = {}  # see `_kept`

    # The data files: read once a build

    def _read_data(self) -> None:
        """Read all of it anew; of a file with a fault, what it held before stays.

        Raises
        ------
        LessonError
            A file has a fault and was never without.
        """
        self._read("site.yml", _site)
        self._read("glossary.yml", glossary.read)
        self._read("reviewed.json", review.read)
        self._read("moved.yml", addresses.read_moved)
        self._read("published.txt", addresses.read_published)
        self._read("links.yml", links.read)
        for language in self.languages:
            self._read(f"translations/{language}.yml", read_yaml)
        self._read_changes()
        if (self.root / imprint.CITATION).is_file():
            self._read(imprint.CITATION, imprint.authors, self.root)

    def _read_changes(self) -> None:
        """The changelog of every language, where the first has one."""
        names = {language: self._changelog(language) for language in self.languages}
        if not (self.root / names[self.languages[0]]).is_file():
            return
        before = len(self.problems)
        for name in names.values():
            self._read(name, changes.read, self.root)
        if len(self.problems) == before:
            found = {language: self.data[name] for language, name in names.items()}
            self.problems += changes.check(found)

    def _changelog(self, language: str) -> str:
        return changes.name_of(language, self.languages[0])

    def changes(self, language: str) -> Changes | None:
        """What each version brought, in a language."""
        return self.data.get(self._changelog(language))

    @property
    def authors(self) -> tuple[str, ...]:
        """Who made the site; nobody where it does not say."""
        return self.data.get(imprint.CITATION, ())

    def _read(self, name: str, reader: Callable[[Path], Any], folder: Path | None = None) -> None:
        path = (folder or self.docs) / name
        try:
            self.data[name] = reader(path)
        except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else getattr(error, "lineno", 1)
            shown = path.relative_to(self.root).as_posix()
            what = getattr(error, "problem", None) or f"{type(error).__name__}: {error}"
            missing = isinstance(error, FileNotFoundError)
            message = "there is no such file" if missing else f"this file cannot be read: {what}"
            problem = Problem(shown, line, message)
            if name not in self.data:
                raise LessonError([problem]) from None
            self.problems.append(problem)

    @property
    def settings(self) -> dict[str, Any]:
        return self.data["site.yml"]

    @property
    def terms(self) -> glossary.Glossary:
        return self.data["glossary.yml"]

    @property
    def languages(self) -> list[str]:
        return self.settings["languages"]

    @property
    def parts(self) -> list[Part]:
        return [
            Part(
                part["title"],
                lesson.names_of(part),
                part.get("cover"),
                part.get("fold", {}),
                part.get("level", {}),
            )
            for part in self.settings["parts"]
        ]

    @property
    def moves(self) -> list[addresses.Move]:
        return self.data["moved.yml"]

    @property
    def published(self) -> list[tuple[str, int]]:
        return self.data["published.txt"]

    @property
    def links(self) -> list[links.Link]:
        return self.data["links.yml"]

    def words(self, language: str) -> dict[str, Any]:
        return self.data[f"translations/{language}.yml"]

    # Reading and running

    def names(self) -> list[str]:
        """Pages in order: those beside the lessons first, then the lessons of the list."""
        extra = sorted(path.stem for path in self.docs.glob("*.py"))
        return extra + [name for part in self.parts for name in part.pages]

    def prepare(self, progress: Progress, with_faults: bool = True) -> list[Problem]:
        """Read, check and run every lesson; return all problems, also kept with their pages.

        Without `with_faults` nothing is run where something is wrong already.
        """
        self.check()
        if with_faults or not self.found():
            self._run(progress)
        return self.found()

    def found(self) -> list[Problem]:
        """All problems: of the site, of pages that were read, of those that could not be."""
        pages = [p for page in self.pages.values() for p in page.problems]
        unreadable = [p for problems in self.unreadable.values() for p in problems]
        return self.problems + pages + unreadable

    def check(self) -> None:
        """Read and check everything that can be checked without running it."""
        self.problems = []
        self._read_data()
        languages, recorded = self.languages, self.data["reviewed.json"]
        self.problems += self._check_order() + self.terms.check_entries(languages)
        last, self.pages, self.unreadable = self.pages, {}, {}
        for name in self.names():
            try:
                self.pages[name] = self._checked(name)
            except LessonError as error:
                if name in last:
                    self.pages[name] = Page(last[name].lesson, {}, error.problems, stale=True)
                else:
                    self.unreadable[name] = error.problems
        words = {language: self.words(language) for language in languages}
        for page in self.pages.values():
            self.problems += widgets.check_words(page.lesson, words)
        self.problems += structure.check_pages(self.docs, languages, self.terms)
        self.problems += self._check_words()
        self.problems += review.check_pages_reviewed(self.docs, languages, recorded)
        self.problems += addresses.check_form(self.moves, self.published, languages[1:])
        self.problems += links.check_form(self.links) + links.check_readmes(self.root, self.links)
        self._read_package()

    def _checked(self, name: str) -> Page:
        """A page as it is written, with what is wrong with it before it runs."""
        path, languages = self.docs / f"{name}.py", self.languages

        def make() -> tuple[Lesson, list[Problem]]:
            read = lesson.read(path, self.docs, languages)
            problems = structure.check(read, languages, self.terms)
            return read, problems + review.check_reviewed(read, self.data["reviewed.json"])

        known = [self.docs / file for file in ("site.yml", "glossary.yml", "reviewed.json")]
        written, problems = self._kept(name, [path, *known], make)
        return Page(written, problems=list(problems))

    def _check_words(self) -> list[Problem]:
        translations = [self.docs / f"translations/{language}.yml" for language in self.languages]
        files = [*translations, self.docs / "site.yml", self.docs / "glossary.yml"]

        def make() -> list[Problem]:
            return structure.check_words(self.docs, self.languages, self.terms)

        return self._kept("words", files, make)

    def _kept(self, what: str, files: list[Path], make: Callable[[], Any]) -> Any:
        """What was made of files before, while they are the same; an edit changes few."""
        marks = [f"{path} {digest(path)}" for path in files]
        if what not in self.made or self.made[what][0] != marks:
            self.made[what] = (marks, make())
        return self.made[what][1]

    def _read_package(self) -> None:
        """Read the package that the reference describes; what cannot be parsed is a problem."""
        name = self.settings.get("package")
        if not name:
            return
        files = sorted((self.root / "src" / name).rglob("*.py"))
        problems, names = self._kept("package", files, lambda: self._package(name, files))
        self.problems += problems
        if names is not self.entries:
            self.entries, self.used = names, {}
        self.package = names.package if names else None

    def _package(
        self, name: str, files: list[Path]
    ) -> tuple[list[Problem], api_links.Names | None]:
        problems = []
        for path in files:
            try:
                ast.parse(path.read_bytes())
            except SyntaxError as error:
                shown = path.relative_to(self.root).as_posix()
                problems.append(Problem(shown, error.lineno or 1, f"SyntaxError: {error.msg}"))
        if problems:
            return problems, None
        return [], api_links.Names(api.load(self.root / "src", name))

    def _run(self, progress: Progress) -> None:
        lessons = [page.lesson for page in self.pages.values()]
        galleries = drawings.galleries(self.package) if self.package else []
        results, errors = self.executor.results([*lessons, *galleries], progress)
        for name, page in self.pages.items():
            page.result = results.get(name, {})
            page.problems += errors[name].problems if name in errors else []
            page.problems += assemble.check_languages(page.lesson, page.result, self.languages)
            page.problems += quiz.check(page.lesson, page.result)
        for gallery in galleries:
            self.problems += errors[gallery.name].problems if gallery.name in errors else []
        if self.package:
            self.drawings = drawings.of(self.package, [results.get(g.name, {}) for g in galleries])

    def _check_order(self) -> list[Problem]:
        """Every lesson file stands in the list once; a name without a file fails to be read."""
        shown = "docs/site.yml"
        listed = [name for part in self.parts for name in part.pages]
        files = {
            path.relative_to(self.docs).with_suffix("").as_posix()
            for path in self.docs.glob("*/*.py")
        }
        problems = [
            Problem(shown, 1, f"docs/{name}.py is missing in the list of lessons")
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
        return assemble.description(page.lesson, page.result, language) if page else ""

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

    def locate_in_docstrings(self, language: str, message: str, quoted: str) -> Problem | None:
        """The same for a page of the reference, whose texts are docstrings or their catalogue."""
        catalogue = self.docs / f"translations/{language}.po"
        package = sorted((self.root / "src" / self.settings.get("package", "")).rglob("*.py"))
        for path in [catalogue, *package]:
            if path.is_file() and quoted in (text := path.read_text(encoding="utf-8")):
                line = text.count("\n", 0, text.index(quoted)) + 1
                shown = path.relative_to(self.root).as_posix()
                return Problem(shown, line, message, language=language)
        return None

    def addressed(self, language: str) -> Iterator[tuple[str, Problem]]:
        """Each problem that is no lesson's, with the page that shows it: its own, or the home."""
        for problem in self.problems:
            path = Path(problem.path)
            if path.is_relative_to(f"docs/{language}"):
                yield path.relative_to(f"docs/{language}").as_posix(), problem
            elif path.parts[:1] == ("src",):
                yield f"{api.FOLDER}/index.md", problem
            elif not any(path.is_relative_to(f"docs/{other}") for other in self.languages):
                yield "index.md", problem

    def markdown(self, name: str, language: str) -> str:
        words = self.words(language)
        if name in self.unreadable:
            return assemble.unreadable(name, self.unreadable[name], words)
        page, names = self.pages[name], set(self.names())
        text = assemble.page(
            page.lesson, page.result, language, words, names, page.problems, on_top=page.stale
        )
        text = self.with_minutes(text, language)
        return text + assemble.reference(self.entries_used(page.lesson), words)

    def with_minutes(self, text: str, language: str) -> str:
        """A page with the reading times that it asks for."""
        return reading.put(text, lambda lesson: self.minutes(f"lessons/{lesson}", language))

    def minutes(self, name: str, language: str) -> int | None:
        """How long a lesson takes to read; None where there is none that can be read."""
        page = self.pages.get(name)
        return reading.minutes(page.lesson, language) if page else None

    def entries_used(self, lesson: Lesson) -> list[str]:
        """The entries of the reference that a lesson uses, found once for all that show them."""
        if self.entries is None:
            return []
        last = self.used.get(lesson.name)
        if last is None or last[0] is not lesson:
            last = self.used[lesson.name] = (lesson, self.entries.in_lesson(lesson))
        return last[1]

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
                set(self.names()),
                palette.variables("light"),
                setup.replace("LANGUAGE", language).strip(),
            )
        else:
            content = assemble.EMPTY_NOTEBOOK
        if not path.is_file() or path.read_bytes() != content.encode():
            write_whole(path, content.encode())
        return path


def _site(path: Path) -> dict[str, Any]:
    """Languages and parts; the title of a part and its other words are in each language."""
    site = read_yaml(path)
    for part in site["parts"]:
        named = next(iter(part["title"].values()))
        for what in ("title", "level", "fold"):
            for language in site["languages"]:
                if language not in part.get(what, site["languages"]):
                    raise ValueError(f"the part {named!r} has no {what} in `{language}`")
    return site
