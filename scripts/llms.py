"""`llms.txt`: the site as a list of its Markdown, for programs that read it (llmstxt.org).

`llms-full.txt` beside it has the whole text of all lessons.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

from scripts.imprint import Imprint
from scripts.plain import outside_code

INDEX, FULL = "llms.txt", "llms-full.txt"
_LINK = re.compile(r"\]\((?!\w+:|/)([^)\s]+)\)")


def index(site: Imprint, nav: Navigation, optional: Sequence[str], words: Mapping[str, Any]) -> str:
    """The list in the order of the navigation; the pages at the addresses in `optional` last."""
    full = site.address + FULL
    lines = [f"# {site.name}", "", f"> {site.description}", "", words["about"].format(full=full)]
    last = []
    for item in nav.items:
        pages = list(_pages(item))
        last += [page for page in pages if page.file.src_uri in optional]
        pages = [page for page in pages if page.file.src_uri not in optional]
        if isinstance(item, Section) and pages:
            lines += ["", f"## {item.title}", "", *(_line(site, page) for page in pages)]
    if last:  # a title that programs know, in every language
        lines += ["", "## Optional", "", *(_line(site, page) for page in last)]
    return "\n".join(lines) + "\n"


def _pages(item: Any) -> Iterator[Page]:
    if isinstance(item, Page):
        yield item
    for child in item.children or []:
        yield from _pages(child)


def _line(site: Imprint, page: Page) -> str:
    told = " ".join(str(page.meta.get("description", "")).split())
    name = re.sub(r"[\[\]]", r"\\\g<0>", html.unescape(str(page.title)))
    return f"- [{name}]({site.address}{beside(page.url)})" + (f": {told}" if told else "")


def beside(url: str) -> str:
    """The address of the Markdown beside a page."""
    return str(Path(url).with_suffix(".md"))


def full(folder: Path, names: Sequence[str]) -> str:
    """The Markdown of pages one after the other, with links as from the folder of the site."""
    return "\n".join(
        _moved((folder / f"{name}.md").read_text(encoding="utf-8"), posixpath.dirname(name))
        for name in names
    )


def _moved(text: str, folder: str) -> str:
    def link(match: re.Match[str]) -> str:
        return f"]({posixpath.normpath(posixpath.join(folder, match[1]))})"

    return outside_code(lambda words: _LINK.sub(link, words), text)
