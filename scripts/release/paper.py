"""From the HTML of a book to its PDF: the browser cuts the sheets, the rest is put right here.

Chromium makes a bookmark of each heading, but glues the words of a title where it is broken into
lines. While it sets the contents nobody knows the numbers of the pages, so these are set a second
time. And it writes the time of the clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pikepdf
from pikepdf import Dictionary, Name, OutlineItem, Pdf
from playwright.sync_api import Page, sync_playwright

from scripts.browser import SILENT, chromium
from scripts.release import book as books
from scripts.release.book import Book, Heading

CLOSED = 2  # bookmarks of this level and deeper are folded at first: the reference has a thousand


def write(book: Book, path: Path, workshop: Path) -> None:
    """Write the PDF of a book, whose figures are in `workshop`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(SILENT))
        page = browser.new_context(java_script_enabled=False).new_page()
        page.set_default_timeout(0)  # a book takes its time
        with _printed(page, workshop / "book.html", books.whole(book)) as pdf:
            bookmarks = _named_bookmarks(pdf, books.headings(book))
            with _printed(page, workshop / "front.html", books.front(book, bookmarks)) as front:
                _replace_front(pdf, front)
                _describe(pdf, book)
                compact = pikepdf.ObjectStreamMode.generate
                pdf.save(path, object_stream_mode=compact, deterministic_id=True)


def _printed(page: Page, document: Path, text: str) -> Pdf:
    document.write_text(text, encoding="utf-8")
    page.goto(document.as_uri())
    sheets = document.with_suffix(".pdf")
    page.pdf(
        path=sheets,
        prefer_css_page_size=True,
        print_background=True,
        tagged=True,
        outline=True,  # of what is tagged
    )
    return pikepdf.open(sheets)


def _named_bookmarks(pdf: Pdf, headings: Sequence[Heading]) -> dict[str, int]:
    """Give each bookmark the words of its heading; return the page of each chapter's anchor."""
    sheets = {page.obj.objgen: number for number, page in enumerate(pdf.pages, 1)}
    numbers = {}
    with pdf.open_outline() as outline:
        bookmarks = list(_walk(outline.root))
        for (bookmark, depth), heading in zip(bookmarks, headings, strict=True):
            bookmark.title = heading.text
            bookmark.is_closed = depth >= CLOSED
            assert isinstance(bookmark.destination, pikepdf.Array)
            if heading.anchor:
                numbers[heading.anchor] = sheets[bookmark.destination[0].objgen]
    return numbers


def _walk(bookmarks: list[OutlineItem], depth: int = 1) -> Iterator[tuple[OutlineItem, int]]:
    for bookmark in bookmarks:
        yield bookmark, depth
        yield from _walk(bookmark.children, depth + 1)


def _replace_front(pdf: Pdf, front: Pdf) -> None:
    """Draw the first pages as they are in `front`; their links and tags stay."""
    for index, page in enumerate(front.pages):
        for key in (Name.Contents, Name.Resources):
            pdf.pages[index].obj[key] = pdf.copy_foreign(front.make_indirect(page.obj[key]))


def _describe(pdf: Pdf, book: Book) -> None:
    made = book.provenance
    date = made.time.strftime("D:%Y%m%d%H%M%SZ")
    pdf.docinfo[Name.Title] = book.title
    pdf.docinfo[Name.Author] = made.authors
    pdf.docinfo[Name.Subject] = book.subtitle
    pdf.docinfo[Name.CreationDate] = pdf.docinfo[Name.ModDate] = date
    pdf.Root.PageMode = Name.UseOutlines
    pdf.Root.ViewerPreferences = Dictionary(DisplayDocTitle=True)
