"""The page at an old address (docs/moved.yml), in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser

from scripts.addresses import Move, page
from scripts.assets import ASSETS
from scripts.csp import protect
from tests.conftest import ROOT
from tests.site.conftest import Open
from tests.site.server import serving

MOVE = Move("old/page.html", "new/page.html", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one page, which has moved."""
    folder = tmp_path_factory.mktemp("moved")
    words = yaml.safe_load((ROOT / "docs/translations/zh.yml").read_text(encoding="utf-8"))
    texts = {
        "old/page.html": protect(page(MOVE, "https://example.org/", words)),
        "new/page.html": '<!doctype html><meta charset="utf-8"><h1>new</h1>',
        "assets/js/moved.js": (ASSETS / "js/moved.js").read_text(encoding="utf-8"),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def home(folder: Path) -> Iterator[str]:
    with serving(folder) as home:
        yield home


def test_it_keeps_the_query_and_the_place(watch: Open, home: str) -> None:
    watched = watch(home)
    watched.page.goto(f"{home}new/page.html?first")
    watched.page.goto(f"{home}old/page.html?a=1&b=%E5#part-2")
    watched.page.wait_for_url(f"{home}new/page.html?a=1&b=%E5#part-2")
    watched.page.go_back()  # not to the old address, which would lead on again
    assert watched.page.url == f"{home}new/page.html?first"


def test_it_works_from_the_file_system(watch: Open, folder: Path) -> None:
    watched = watch(f"{folder.as_uri()}/")
    watched.page.goto(f"{folder.as_uri()}/old/page.html#part")
    watched.page.wait_for_url(f"{folder.as_uri()}/new/page.html#part")


def test_it_works_without_scripts(browser: Browser, home: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{home}old/page.html")
        page.wait_for_url(f"{home}new/page.html")
        assert page.locator("h1").inner_text() == "new"


def test_where_neither_works_there_is_a_link(watch: Open, home: str, folder: Path) -> None:
    watched = watch(home, viewport={"width": 390, "height": 400})
    watched.page.route("**/moved.js", lambda route: route.fulfill(body=""))
    watched.page.goto(f"{home}old/page.html")
    assert watched.page.locator("h1").inner_text() == "这一页换了地址"
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390
    watched.page.click("text=前往新地址")
    watched.page.wait_for_url(f"{home}new/page.html")
