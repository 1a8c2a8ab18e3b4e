"""What can be checked without running a lesson: `make check`.

The list of the lessons, the form of every page in each language, which pairs were read side by
side, the translations of the docstrings. Of a file with many faults the first are shown, and how
many more there are.
"""

from __future__ import annotations

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
        needed = [root / f"mkdocs.{language}.yml"]
        if book.package:
            figures = root / "src" / book.package.name / "figures/words"
            needed += [figures / f"{language}.json"] if figures.is_dir() else []
        for path in needed:
            if not path.is_file():
                shown = path.relative_to(root).as_posix()
                found.append(Problem(shown, 1, "there is no such file", language=language))
        if book.package:
            texts = catalogue.read(book.docs / "translations" / f"{language}.po")
            package = api.load(root / "src", book.package.name)  # a new one: it is written into
            found += translations.translate(package, texts)
    return found


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
