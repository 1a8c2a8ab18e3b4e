"""What each language's site has for programs and for those who cite, follow or mend it.

Beside each page its Markdown, in its head structured data, below a lesson how to cite it, a link
to its one source; beside all pages `llms.txt` and a feed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from scripts import (
    api,
    api_text,
    assemble,
    changes,
    citation,
    feed,
    imprint,
    llms,
    page_text,
    reading,
    structured,
)
from scripts.book import Book, Part
from scripts.imprint import Imprint
from scripts.lesson import Lesson
from scripts.origin import Origin
from scripts.plain import simplify


class Machines:
    """The build of one language, as it looks from here."""

    def __init__(self, book: Book, config: MkDocsConfig, language: str, origin: Origin):
        self.book = book
        self.language = language
        self.words = book.words(language)
        self.repo = (config.extra.get("repo_url") or "").rstrip("/")
        edit = (config.extra.get("edit_uri") or "").strip("/")
        self.edit = f"{self.repo}/{edit}".rstrip("/")
        self.site = Imprint(
            name=config.site_name,
            description=config.site_description or "",
            language=self.words["theme"]["language"],
            address=f"{config.site_url.rstrip('/')}/" if config.site_url else "",
            rights=config.copyright or "",
            authors=book.authors,
            origin=origin,
            year=imprint.year(),
        )
        self.package = book.settings.get("package", "")
        self.changes = book.changes(language)
        self.feed = feed.FILE if self.changes and self.changes.released else ""
        modules = api.modules(book.package) if book.package else ()
        self.modules = {api.page_of(module): module for module in modules}
        self.addresses = api.addresses(self.modules)
        self._reference: api_text.Reference | None = None

    # Pages

    def markdown(self, address: str, text: str) -> str:
        """The plain Markdown of the page at an address, whose own Markdown is `text`."""
        name, _, kind = address.rpartition(".")
        links = page_text.links(name, self.addresses)
        if kind != "ipynb":
            if address in self.modules:
                return self.reference.page(self.modules[address])
            if address == f"{api.FOLDER}/index.md" and self.modules:
                return self.reference.overview()
            return simplify(text, links)
        page = self.book.pages.get(name)
        if page is None:
            return simplify(self.book.markdown(name, self.language), links)
        made = page_text.of_lesson(page.lesson, page.result, self.language, self.words, links)
        made = self.book.with_minutes(made, self.language)
        entries = assemble.reference(self.book.entries_used(page.lesson), self.words)
        return made + simplify(entries, links)

    @property
    def reference(self) -> api_text.Reference:
        if self._reference is None:
            assert self.book.package
            path = self.book.docs / "translations" / f"{self.language}.yml"
            self._reference = api_text.Reference(
                self.book.package,
                api.Words.read(path),
                self.words,
                self.book.drawings,
                self.language,
            )
        return self._reference

    def context(self, page: Page) -> dict[str, Any]:
        """What the theme shows of a page besides its content."""
        name, _, kind = page.file.src_uri.rpartition(".")
        lesson = (
            self.book.pages[name].lesson if kind == "ipynb" and name in self.book.pages else None
        )
        part = self._part(name) if lesson else None
        said: dict[str, Any] = {"plain": posixpath.basename(llms.beside(page.url))}
        if name == "index":
            said["structured"] = structured.script(structured.website(self.site))
        elif lesson and part:
            said["structured"] = structured.script(self._structured(page, lesson, part))
            said["citation"] = self._citation(page, name, lesson)
        return said

    def _part(self, name: str) -> Part | None:
        parts = self.book.parts
        return next((part for part in parts if name in (part.cover, *part.pages)), None)

    def _structured(self, page: Page, lesson: Lesson, part: Part) -> dict[str, Any]:
        return structured.lesson(
            self.site,
            lesson.title(self.language),
            page.meta["description"],
            page.canonical_url or page.url,
            self.words["machines"]["lesson"],
            part.level.get(self.language),
            reading.minutes(lesson, self.language),
        )

    def _citation(self, page: Page, name: str, lesson: Lesson) -> citation.Citation | None:
        if not self.site.authors:
            return None
        first = self.book.languages[0]
        key = "-".join([
            self.package or "page",
            posixpath.basename(name).replace("_", "-"),
            *([self.language] if self.language != first else []),
        ])  # fmt: skip
        title, address = lesson.title(self.language), page.canonical_url or page.url
        return citation.cite(self.site, title, key, address, self.words["machines"]["cite"])

    # Sources

    def edit_url(self, address: str) -> str | None:
        """Where the one source of a page is edited, if the site knows its repository."""
        return f"{self.edit}/{self.source(address)}" if self.repo else None

    def source(self, address: str) -> str:
        """The file that a page is made from, as a path of the project."""
        name, _, kind = address.rpartition(".")
        if kind == "ipynb":
            return f"docs/{name}.py"
        if posixpath.dirname(name) == api.FOLDER and self.book.package:
            module = self.modules.get(address, self.book.package)
            return Path(str(module.filepath)).relative_to(self.book.root).as_posix()
        if address == "glossary.md":
            return "docs/glossary.yml"
        if self.changes and name == changes.PAGE:
            return self.changes.path
        return f"docs/{self.language}/{address}"

    # Beside the pages

    def publish(self, folder: Path, nav: Navigation) -> None:
        """Write what is made of all pages, when their Markdown is there."""
        words = self.words["machines"]["llms"]
        files = {llms.INDEX: llms.index(self.site, nav, list(self._aside()), words)}
        files[llms.FULL] = llms.full(folder, self._lessons())
        if self.changes and self.feed:
            files[self.feed] = feed.atom(self.site, self.changes)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")

    def _lessons(self) -> Sequence[str]:
        return [name for part in self.book.parts for name in part.pages]

    def _aside(self) -> Iterator[str]:
        """Pages that a program which reads the others can do without."""
        yield from ("index.ipynb", "index.md", f"{changes.PAGE}.md")
        for path in sorted((self.book.docs / self.language).glob("*.md")):
            yield path.name
