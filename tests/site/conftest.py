"""The built site in a real browser. `TOKPOS_SITE=site` tests a site that was built before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Route, sync_playwright

from scripts.addresses import MOVED, read_moved
from scripts.browser import SILENT, chromium
from tests.conftest import ROOT
from tests.site.server import serving

# Material has begun, and so have the scripts that wait for it.
READY = "() => window.document$ && new Promise((done) => document$.subscribe(() => done(true)))"


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, with a slash at the end."""
    with serving(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(SILENT))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def paths(site: Path) -> list[str]:
    """Every page of both languages, by its path; without those of unknown and old addresses."""
    found = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    moved = {move.old for move in read_moved(ROOT / MOVED)} | {"404.html"}
    return [path for path in found if path.removeprefix("zh/") not in moved]


@pytest.fixture(scope="session")
def samples(paths: list[str]) -> list[str]:
    """For what takes a second a page or more: pages of every kind, in both languages.

    The home pages, and some of each kind that one plan or one template makes; the languages have
    other ones of them. `TOKPOS_PAGES=all` takes every page.
    """
    if os.environ.get("TOKPOS_PAGES") == "all":
        return paths
    steps = {"": 5, "lessons": 6, "faults": 19, "api": 29}
    homes = ["index.html", "zh/index.html"]
    kinds: dict[str, list[str]] = {}
    for path in paths:
        kinds.setdefault(Path(path.removeprefix("zh/")).parent.name, []).append(path)
    return homes + [
        path
        for kind, found in kinds.items()
        for path in [path for path in found if path not in homes][:: steps[kind]]
    ]


class Watched:
    """A page of the browser, with what went wrong in it."""

    def __init__(self, page: Page, home: str):
        self.page = page
        self.home = home
        self.troubles: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        page.on("requestfailed", lambda request: self._failed(request))
        page.route("**/*", self._guard)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{message.type}: {message.text}")

    def _guard(self, route: Route) -> None:
        url = route.request.url
        if url.startswith((self.home, "data:", "blob:", "about:")):
            route.fallback()
        else:
            self.troubles.append(f"foreign request: {url}")
            route.abort()

    def _failed(self, request: Request) -> None:
        # A page that is left stops its own requests.
        if request.failure != "net::ERR_ABORTED":
            self.troubles.append(f"{request.failure}: {request.url}")

    def go(self, path: str) -> int:
        """Open a page of the site and give the status."""
        response = self.page.goto(self.home + path)
        self.page.wait_for_function(READY)
        return response.status if response else 0

    def make_widget(self) -> None:
        """Go down to the widget of the page, if it has one, which makes it, and up again."""
        widget = self.page.locator("[data-widget]")
        if widget.count():
            widget.scroll_into_view_if_needed()
            self.page.wait_for_selector("[data-widget].tp-live")
            self.page.evaluate("scrollTo(0, 0)")


Open = Callable[..., Any]


@pytest.fixture
def watch(browser: Browser, address: str) -> Iterator[Open]:
    """Open browser pages with options of a context; whatever goes wrong in one fails the test."""
    opened: list[Watched] = []

    def watch(home: str = address, **options: Any) -> Watched:
        context = browser.new_context(**{"locale": "en-US", **options})
        context.set_default_timeout(30_000)
        opened.append(Watched(context.new_page(), home))
        return opened[-1]

    yield watch
    for watched in opened:
        watched.page.context.close()
    troubles = [trouble for watched in opened for trouble in watched.troubles]
    assert not troubles, "\n".join(troubles)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Gather problems over many pages, and fail with all of them."""
    problems: list[str] = []
    yield problems
    assert not problems, "\n".join(problems)
