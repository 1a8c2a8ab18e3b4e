"""What outlives one MkDocs build: the command, the book, and the folder the site is made in.

MkDocs loads the hook anew for each language and each rebuild; this module is imported once.
"""

from __future__ import annotations

from pathlib import Path

from scripts.book import Book
from scripts.places import Places
from scripts.stage import Stage

command = "build"
first: str | None = None  # the configuration whose build starts the others
book: Book
places: Places
stage: Stage | None = None
kept_drawings: dict[str, list[str]] = {}  # of each page in the making, by the file it goes to


def open_book(root: Path) -> Book:
    """The book of the project in `root`, the same one for every build of the process."""
    global book
    if "book" not in globals() or book.root != root:
        book = Book(root)
    return book
