"""What outlives one MkDocs build: the command, the book, and the folder the site is made in.

MkDocs loads the hook anew for each language and each rebuild; this module is imported once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.nav import Navigation

from scripts.beside import Beside
from scripts.book import Book
from scripts.lesson import Problem
from scripts.links import Outside
from scripts.machines import Machines
from scripts.origin import Origin
from scripts.places import Places
from scripts.stage import Stage

if TYPE_CHECKING:
    from scripts.edits import Built

command = "build"
first: str | None = None  # the configuration whose build starts the others
book: Book
prepared: list[Problem] | None = None  # of a book that was prepared ahead of a build
places: Places
outside: Outside  # where the pages of the build that runs point outside
stage: Stage | None = None
others: dict[str, Beside] = {}  # the languages that are built beside the first
beside: Beside | None = None  # this process, where it is one of those
late_problems = False  # whether a finished page shows a problem that is none of a lesson's
nav: Navigation  # of the build that runs
origin: Origin
machines: dict[str, Machines] = {}  # of each language that was built
built: dict[str, Built] = {}  # of each language, while serving
kept_drawings: dict[str, list[str]] = {}  # of each page in the making, by the file it goes to


def open_book(root: Path) -> Book:
    """The book of the project in `root`, the same one for every build of the process."""
    global book
    if "book" not in globals() or book.root != root:
        book = Book(root)
    return book
