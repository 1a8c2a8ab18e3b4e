"""The order of a built site's pages, as its navigation shows it: the order of the book."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup, Tag

SVG = re.compile(r"<svg[ >].*?</svg>", re.DOTALL)


@dataclass(frozen=True)
class Entry:
    """A page, or a title with entries below it."""

    title: str
    page: str = ""  # its path within the language's folder; "" for a title alone
    inside: tuple[Entry, ...] = ()


def read(folder: Path) -> list[Entry]:
    """The navigation of one language of the site, from the home page in its folder."""
    home = SVG.sub("", (folder / "index.html").read_text(encoding="utf-8"))
    nav = BeautifulSoup(home, "html.parser").select_one("nav.md-nav--primary")
    if nav is None:
        raise ValueError(f"{folder / 'index.html'}: no navigation in it")
    return list(_entries(nav))


def _entries(nav: Tag) -> Iterator[Entry]:
    for item in nav.select(":scope > ul > li"):
        name = item.select_one(".md-ellipsis")
        title = " ".join(name.get_text().split()) if name else ""
        if below := item.select_one(":scope > nav[data-md-level]"):
            yield Entry(title, inside=tuple(_entries(below)))
        elif link := item.select_one(":scope > a.md-nav__link"):
            yield Entry(title, str(link["href"]))


def only(entries: Collection[Entry], pages: Collection[str]) -> list[Entry]:
    """The entries that lead to some pages, and the titles above them."""
    found = []
    for entry in entries:
        inside = tuple(only(entry.inside, pages))
        if inside or entry.page in pages:
            found.append(Entry(entry.title, entry.page, inside))
    return found


def walk(entries: Collection[Entry], depth: int = 0) -> Iterator[tuple[Entry, int]]:
    """Every entry in order, and how deep it stands."""
    for entry in entries:
        yield entry, depth
        yield from walk(entry.inside, depth + 1)
