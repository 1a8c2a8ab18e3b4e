"""The book of one language as HTML: title, contents, and the pages of the site as chapters."""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from scripts.release import chapter, fonts, navigation
from scripts.release.chapter import Chapter
from scripts.release.navigation import SVG, Entry
from scripts.release.provenance import Provenance

STYLE = Path(__file__).with_name("book.css")


@dataclass(frozen=True)
class Heading:
    """A heading of the book, which is a bookmark as well."""

    text: str
    anchor: str  # where the contents lead, if to this heading


@dataclass
class Book:
    words: Mapping[str, Any]  # the site's own
    provenance: Provenance
    home: BeautifulSoup
    entries: list[Entry]
    chapters: dict[str, Chapter]  # by their pages
    fonts: str = ""  # style rules

    @property
    def title(self) -> str:
        return self.home.title.get_text().strip() if self.home.title else ""

    @property
    def subtitle(self) -> str:
        return str(self.home.select("meta[name=description]")[0]["content"])


def read(
    folder: Path,
    workshop: Path,
    language: str,
    words: Mapping[str, Any],
    provenance: Provenance,
    pages: Collection[str] | None = None,
) -> Book:
    """The pages of a language in the folder of its site, some or all.

    What the book takes besides its text, figures and fonts, is put into the workshop.
    """
    entries = navigation.read(folder)
    if pages is not None:
        entries = navigation.only(entries, pages)
    home = BeautifulSoup(SVG.sub("", (folder / "index.html").read_text("utf-8")), "html.parser")
    chapters = {
        entry.page: chapter.read(folder, entry.page, depth, workshop / "figures")
        for entry, depth in navigation.walk(entries)
        if entry.page
    }
    for each in chapters.values():
        chapter.bind(each, chapters, words["quiz_answers"])
    book = Book(words, provenance, home, entries, chapters)
    book.fonts = fonts.faces(language, set(whole(book)), workshop)
    return book


def whole(book: Book) -> str:
    """The book, with zeros for the numbers of pages: they are known when it is cut into sheets."""
    sections = list(_sections(book))
    rules = "".join(_running_title(number, title) for number, (title, _) in enumerate(sections))
    body = "".join(
        f'<section class="section-{number}">{content}</section>'
        for number, (_, content) in enumerate(sections)
    )
    return _document(book, f"{_front(book, {})}{body}", rules)


def front(book: Book, numbers: Mapping[str, int]) -> str:
    """Title and contents alone, with the page that each anchor of the contents is on."""
    return _document(book, _front(book, numbers))


def headings(book: Book) -> list[Heading]:
    """All headings in their order."""
    found = [Heading(book.words["release"]["contents"], "")]
    for number, (entry, _) in enumerate(navigation.walk(book.entries)):
        if not entry.page:
            found.append(Heading(entry.title, _anchor(entry, number)))
            continue
        opening = _anchor(entry, number)
        for tag in book.chapters[entry.page].headings:
            text = " ".join(tag.get_text().split())
            found.append(Heading(text, opening))
            opening = ""
    return found


def _anchor(entry: Entry, number: int) -> str:
    return chapter.anchor(entry.page) if entry.page else f"part-{number}"


def _document(book: Book, body: str, rules: str = "") -> str:
    tag = book.words["theme"]["language"]
    styles = dict.fromkeys(style for each in book.chapters.values() for style in each.styles)
    links = "".join(f'<link rel="stylesheet" href="{style.as_uri()}">' for style in styles)
    own = book.fonts + STYLE.read_text(encoding="utf-8") + rules
    return (
        f'<!doctype html><html lang="{tag}"><head><meta charset="utf-8">'
        f"<title>{html.escape(book.title)}</title>{links}<style>{own}</style></head>"
        '<body dir="ltr" data-md-color-scheme="default" data-md-color-primary="custom"'
        f' data-md-color-accent="custom"><main class="md-content">{body}</main></body></html>'
    )


def _front(book: Book, numbers: Mapping[str, int]) -> str:
    words, made = book.words["release"], book.provenance
    state = book.words["machines"]["modified" if made.origin.modified else "commit"]
    version = words["version"].format(
        version=made.origin.version,
        commit=state.format(commit=made.origin.short),
        date=made.time.date().isoformat(),
    )
    licenses = book.home.select(".md-copyright__highlight")[0].get_text().strip()
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in (made.authors, version, licenses))
    rows = "".join(
        f'<li class="depth-{depth}"><a href="#{_anchor(entry, number)}">'
        f"<span>{html.escape(entry.title)}</span>"
        f"<span>{numbers.get(_anchor(entry, number), 0)}</span></a></li>"
        for number, (entry, depth) in enumerate(navigation.walk(book.entries))
    )
    return (
        f'<section class="title md-typeset"><p class="name">{html.escape(book.title)}</p>'
        f'<p class="about">{html.escape(book.subtitle)}</p><div>{lines}</div></section>'
        f'<section class="contents md-typeset"><h1 class="level-1">{words["contents"]}</h1>'
        f"<ol>{rows}</ol></section>"
    )


def _sections(book: Book) -> Iterator[tuple[str, str]]:
    """What begins on a new page, with the title at the head of its pages.

    That is each chapter, but for those that are folded away in the navigation: they follow one
    another under the title of the fold.
    """
    title, content = "", ""
    for number, (entry, depth) in enumerate(navigation.walk(book.entries)):
        begins = depth <= 1 and (entry.page or depth == 1)
        if begins and title:
            yield title, content
            title, content = "", ""
        if begins:
            title = entry.title
        if entry.page:
            content += book.chapters[entry.page].article.decode(formatter="minimal")
        else:
            if depth == 0 and title:
                yield title, content
                title, content = "", ""
            anchor = _anchor(entry, number)
            content += (
                f'<h{depth + 1} class="part-{depth}" id="{anchor}">'
                f"{html.escape(entry.title)}</h{depth + 1}>"
            )
    yield title, content


def _running_title(number: int, title: str) -> str:
    text, name = json.dumps(title, ensure_ascii=False), f"section-{number}"
    return f"@page {name} {{ @top-right {{ content: {text} }} }} .{name} {{ page: {name} }}\n"
