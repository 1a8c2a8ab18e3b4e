"""What can be checked without running a lesson: `make check`.

The list of the lessons, the form of every page in each language, which pairs were read side by
side, the translations of the docstrings. Of a file with many faults the first are shown, and how
many more there are.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

from scripts import api, catalogue, review, translations
from scripts.book import Book
from scripts.lesson import LessonError, Problem

SHOWN = 5  # of each file and language


def problems(root: Path) -> list[Problem]:
    """Every fault of the project in `root` that shows without running anything."""
    book = Book(root)
    try:
        book.check()
    except LessonError as error:
        return error.problems
    found, recorded = book.found(), book.data["reviewed.json"]
    if not found:  # a pair with a fault is not ready to be read
        found += review.unrecorded_pages(book.docs, book.languages, recorded)
        for page in book.pages.values():
            found += review.unrecorded(page.lesson, recorded)
    for language in book.languages[1:]:
        found += _missing([root / f"mkdocs.{language}.yml"], root, language)
        if book.package:
            found += _untranslated(root, book.package.name, language)
    return found


def _missing(files: list[Path], root: Path, language: str, how: str = "") -> list[Problem]:
    message = f"there is no such file{how}"
    lacking = [path.relative_to(root).as_posix() for path in files if not path.is_file()]
    return [Problem(shown, 1, message, language=language) for shown in lacking]


def _untranslated(root: Path, package: str, language: str) -> list[Problem]:
    """What a language lacks of the labels of figures, and of the docstrings."""
    words = root / "src" / package / "figures/words"
    labels = {path.stem: json.loads(path.read_bytes()) for path in sorted(words.glob("*.json"))}
    file, texts = words / f"{language}.json", root / "docs/translations" / f"{language}.po"
    found = _missing([file], root, language) if words.is_dir() else []
    for label in sorted(set().union(*labels.values()) - labels.get(language, {}).keys()):
        if language in labels:
            shown = file.relative_to(root).as_posix()
            found.append(Problem(shown, 1, f"it lacks the label {label!r}", language=language))
    if lacking := _missing([texts], root, language, ": make translations begins it"):
        return found + lacking
    loaded = api.load(root / "src", package)  # a new one: it is written into
    return found + translations.translate(loaded, catalogue.read(texts))


def listed(found: list[Problem]) -> str:
    """The faults by file and language, of each the first ones; at the end their number."""

    def place(problem: Problem) -> tuple[str, str, int]:
        return problem.path, problem.language or "", problem.line

    lines = []
    for (path, language), group in groupby(sorted(found, key=place), lambda one: place(one)[:2]):
        those = list(group)
        lines += [str(problem) for problem in those[:SHOWN]]
        if len(those) > SHOWN:
            lines.append(f"{path}: {len(those) - SHOWN} more{f' ({language})' if language else ''}")
    return "\n".join([*lines, f"{len(found)} to mend"])


if __name__ == "__main__":
    found = problems(Path.cwd())
    print(listed(found) if found else "the languages agree")
    sys.exit(1 if found else 0)
