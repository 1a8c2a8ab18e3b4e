"""Each language's search finds its own sections, on a host and from the file system."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page

from tests.site.conftest import Open

RESULTS = ".md-search-result__list a.md-search-result__link"
QUERIES = [
    ("", "embedding"),
    ("", "LayerNorm"),
    ("", "one-hot"),
    ("zh/", "位置编码"),
    ("zh/", "向量"),
    ("zh/", "查表"),
    ("zh/", "LayerNorm"),
]


def ask(page: Page, query: str) -> list[str]:
    """The addresses of what the search finds."""
    page.click("input.md-search__input")
    page.keyboard.insert_text(query)  # at once, as from an input method
    page.keyboard.press("End")  # the search listens to keys
    page.wait_for_selector(RESULTS, timeout=10_000)
    page.wait_for_timeout(300)
    return page.eval_on_selector_all(RESULTS, "all => all.map((a) => a.href)")


def sections(site: Path, folder: str) -> dict[str, str]:
    """The text of each section of the index by its address."""
    index = json.loads((site / folder / "search/search_index.json").read_text(encoding="utf-8"))
    cut = re.compile("\u200b|<[^>]+>")
    return {doc["location"]: cut.sub("", f"{doc['title']} {doc['text']}") for doc in index["docs"]}


def check_found(found: list[str], home: str, folder: str, query: str, site: Path) -> None:
    texts = sections(site, folder)
    addresses = [unquote(re.sub(r"\?h=[^#]*", "", link)) for link in found]
    assert all(link.startswith(home + folder) for link in addresses)
    places = [link.removeprefix(home + folder) for link in addresses]
    assert any("#" in place for place in places), f"no section, only {places}"
    holding = [place for place in places if query.lower() in texts[place].lower()]
    assert holding, f"none of {places} says {query}"


@pytest.mark.parametrize(("folder", "query"), QUERIES)
def test_search_on_a_host(watch: Open, site: Path, address: str, folder: str, query: str) -> None:
    watched = watch()
    watched.go(f"{folder}index.html")
    check_found(ask(watched.page, query), address, folder, query, site)


@pytest.mark.parametrize(("folder", "query"), [("", "embedding"), ("zh/", "位置编码")])
def test_search_from_the_file_system(watch: Open, site: Path, folder: str, query: str) -> None:
    home = f"{site.as_uri()}/"
    watched = watch(home)
    watched.go(f"{folder}lessons/lookup.html")
    check_found(ask(watched.page, query), home, folder, query, site)


def test_a_result_leads_to_its_section(watch: Open) -> None:
    watched = watch()
    page = watched.page
    watched.go("zh/index.html")
    ask(page, "查表")
    section = page.locator(f"{RESULTS}[href*='#']:visible").first
    target, _, anchor = (section.get_attribute("href") or "").partition("#")
    section.click()
    page.wait_for_url(re.compile(re.escape(target.partition("?")[0])))
    page.wait_for_timeout(500)
    box = "(id) => document.getElementById(id).getBoundingClientRect().top"
    assert 0 <= page.evaluate(box, unquote(anchor)) < 200


def test_each_language_has_an_index_of_its_own(site: Path) -> None:
    english = " ".join(sections(site, "").values())
    chinese = " ".join(sections(site, "zh/").values())

    def share(text: str) -> float:
        return len(re.findall("[\u4e00-\u9fff]", text)) / len(text)

    assert share(english) < 0.05 < 0.15 < share(chinese)


def test_formulas_are_indexed_once(site: Path) -> None:
    # KaTeX puts zero-width spaces into the half of a formula that is for the eye.
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    texts = [doc["text"] for doc in json.loads(index)["docs"]]
    doubled = [text for text in texts if re.search("[A-Za-z0-9=)]\u200b", text)]
    assert not doubled
    assert "data-search-exclude" not in "".join(p.read_text() for p in site.rglob("lookup.html"))


def test_the_index_is_loaded_when_it_is_asked_for(watch: Open) -> None:
    """It is larger than many pages, and its set-up keeps a processor busy."""
    watched = watch()
    loaded: list[str] = []
    watched.page.on("request", lambda request: loaded.append(request.url))
    watched.go("lessons/lookup.html")
    watched.page.wait_for_timeout(500)
    assert not [url for url in loaded if "search_index" in url]
    ask(watched.page, "embedding")
    assert len([url for url in loaded if "search_index" in url]) == 1


def test_no_worker_is_started_before_the_reader_searches(watch: Open) -> None:
    watched = watch()
    watched.go("index.html")
    watched.page.wait_for_timeout(500)
    assert not watched.page.workers
    assert ask(watched.page, "embedding")
    assert len(watched.page.workers) == 1
