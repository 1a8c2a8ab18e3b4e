"""While the site is served: an edit of a lesson makes that lesson's pages again, and no others.

What other pages take from a lesson is its title, its reading time, its anchors, and which entries
of the reference it uses. While these stay as they are, an edit can only change the lesson's own
page, its Markdown and its notebook, its part of the search index, and what `llms.txt` and its
companion say of it. After any other change the site is built in full.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from mkdocs.commands.build import _build_page, _populate_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files, InclusionLevel
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page as SitePage

from scripts import reading, session
from scripts.book import Page
from scripts.files import digest

log = logging.getLogger("mkdocs.plugins.tokpos")


@dataclass
class Built:
    """What the build of one language worked with, for the pages that are made again."""

    config: MkDocsConfig
    files: Files
    nav: Navigation
    env: jinja2.Environment
    index: Any  # of the search plugin, whose one instance serves all languages

    def page(self, name: str) -> SitePage:
        file = self.files.get_file_from_path(f"{name}.ipynb")
        assert file and file.page
        return file.page

    @contextmanager
    def searched_anew(self, page: SitePage) -> Iterator[None]:
        """Put what a page adds to the search index where its entries stood before."""
        if self.index is None:
            yield
            return
        entries = self.index.entries
        own = [entry["location"].partition("#")[0] == page.url for entry in entries]
        start, end = own.index(True), len(own) - own[::-1].index(True)
        self.index.entries = []
        search(self.config).search_index = self.index
        yield
        self.index.entries = [*entries[:start], *self.index.entries, *entries[end:]]


def search(config: MkDocsConfig) -> Any:
    """The search plugin, where there is one."""
    return config.plugins.get("material/search")


class Rebuild:
    """What the server calls after a change: the pages of the lessons that changed, or `full`."""

    def __init__(self, watched: list[str], full: Callable[[], None]):
        self.watched = [Path(path) for path in watched]
        self.full = full
        self.marks = self._marks()

    def __call__(self) -> None:
        session.prepared = None
        before, self.marks = self.marks, self._marks()
        marks = before.items() ^ self.marks.items()
        if not self._lessons_alone({path for path, _ in marks}):
            self.full()

    def _marks(self) -> dict[Path, str]:
        """The content of everything that is watched."""
        files = [f for path in self.watched for f in (path.rglob("*") if path.is_dir() else [path])]
        return {path.resolve(): digest(path) for path in files if path.is_file()}

    def _lessons_alone(self, changed: set[Path]) -> bool:
        """Make the pages of the lessons in `changed`; whether nothing else had to be made."""
        book, last = session.book, session.book.pages
        lessons = {page.lesson.path.resolve() for page in last.values()}
        if not changed or not changed <= lessons or _problems_elsewhere():
            return False
        session.prepared = book.prepare(log.info)
        if _problems_elsewhere() or list(book.pages) != list(last):
            return False
        again = [name for name, page in book.pages.items() if page != last[name]]
        if any(_taken(book.pages[name]) != _taken(last[name]) for name in again):
            return False
        if not all(_make(built, again) for built in session.built.values()):
            return False
        session.prepared = None
        log.info(f"Made again, and nothing else: {', '.join(again) or 'no page'}")
        return True


def _problems_elsewhere() -> bool:
    """Whether a page shows, or should show, a problem that is not of its own lesson."""
    return bool(session.book.problems or session.book.unreadable or session.late_problems)


def _taken(page: Page) -> list[Any]:
    """What other pages take from a lesson, besides its anchors."""
    lesson, languages = page.lesson, session.book.languages
    titles = [lesson.title(language) for language in languages]
    times = [reading.minutes(lesson, language) for language in languages]
    return [titles, times, session.book.entries_used(lesson)]


def _make(built: Built, names: list[str]) -> bool:
    """Make the pages of lessons again; whether their anchors stayed and their links lead somewhere.

    What the plugins do once for all pages is done for these.
    """
    config, files = built.config, built.files
    autorefs: Any = config.plugins["autorefs"]
    documents = files.documentation_pages(inclusion=InclusionLevel.is_in_serve)
    for name in names:
        session.book.notebook(name, config.theme["language"])
        page = built.page(name)
        anchors, session.places.problems = page.present_anchor_ids, []
        _populate_page(page, config, files)
        autorefs.on_env(built.env, config=config, files=[page.file])
        with built.searched_anew(page):
            _build_page(page, config, documents, built.nav, built.env)
        page.validate_anchor_links(files=files, log_level=config.validation.links.anchors)
        if page.present_anchor_ids != anchors or session.places.problems:
            return False
    machines = session.machines[config.theme["language"]]
    machines.publish(Path(config.site_dir), built.nav)
    for name in ("material/search", "material/offline"):
        if plugin := config.plugins.get(name):
            plugin.on_post_build(config=config)
    return True
