"""Every page of both languages, as the browser has it after its scripts have run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import nbformat
import pytest
from playwright.sync_api import Browser, Page

from tests.site.conftest import Open, Watched, collected
from tests.site.server import NO_SCRIPTS, published_at

FACTS = """() => {
  const text = document.querySelector("article").cloneNode(true);
  text.querySelectorAll("pre, code, .tp-hint").forEach((element) => element.remove());
  const head = (selector, name) => document.querySelector(selector)?.getAttribute(name);
  return {
    title: document.title,
    language: document.documentElement.lang,
    headings: [...document.querySelectorAll("article :is(h1,h2,h3,h4,h5,h6)")].map((h) => h.id),
    firsts: document.querySelectorAll("article h1").length,
    ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
    links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
    inner: [...document.querySelectorAll("a[href]:not([data-tp=switch])")].map((a) => a.href),
    switch: document.querySelector(".tp-switch").href,
    description: head("meta[name=description]", "content"),
    canonical: head("link[rel=canonical]", "href"),
    alternates: Object.fromEntries([...document.querySelectorAll("link[hreflang]")].map(
      (link) => [link.hreflang, [link.relList.contains("alternate"), link.href]])),
    policy: head("meta[http-equiv='Content-Security-Policy']", "content"),
    text: text.textContent,
    downloads: [...document.querySelectorAll("a.notebook")].map(
      (link) => [link.getAttribute("href"), link.hasAttribute("download")]),
    tex: document.documentElement.outerHTML.includes("application/x-tex"),
    bare: [...document.querySelectorAll(".arithmatex, annotation")].length,
  };
}"""

# How wide the page is, and what makes it wider than the screen.
WIDE = """(width) => {
  const wide = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth);
  const sticks = (element) => element.getBoundingClientRect().right > width;
  const all = wide > width ? [...document.querySelectorAll("article :not(svg *)")] : [];
  return {wide, culprits: all.filter(sticks).slice(0, 3).map((e) => e.outerHTML.slice(0, 80))};
}"""

# What can be scrolled, and what of it has no place in the order of the keyboard. What is far from
# the screen gets its place when it comes near: test_reach.py.
SCROLLING = """() => {
  const near = (e) => e.checkVisibility({contentVisibilityAuto: true});
  const scrolls = (e) => near(e) && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
    ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const all = [...document.querySelectorAll("article :not(svg *, .katex *)")].filter(scrolls);
  const stuck = all.filter((e) => e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 80));
  return {scrolling: all.length, stuck};
}"""
WIDTHS = (390, 320)

# A command or a bracket of TeX, a dollar, an expression that was not computed.
RAW = re.compile(r"\\[a-zA-Z({\[].{0,20}|.{0,20}\$.{0,20}|\{\{.*?\}\}")

Facts = dict[str, Any]


@contextmanager
def bare(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A browser page for pages whose scripts are empty, and what it complains of.

    So they are soon read, and the policy is held against every element of theirs all the same.
    """
    screen = {"width": WIDTHS[0], "height": 844}
    with browser.new_context(extra_http_headers=NO_SCRIPTS, viewport=screen) as context:
        page, troubles = context.new_page(), list[str]()
        page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        yield page, troubles


@pytest.fixture(scope="module")
def still(paths: list[str], browser: Browser, address: str) -> dict[str, Facts]:
    """The facts of every page as it is before scripts change it."""
    found = {}
    with bare(browser) as (page, troubles):
        for path in paths:
            response = page.goto(address + path)
            status = response.status if response else 0
            small = {WIDTHS[0]: page.evaluate(WIDE, WIDTHS[0])}
            facts = {"status": status, "troubles": troubles.copy(), "small": small}
            found[path] = {**page.evaluate(FACTS), **facts}
            troubles.clear()
    return found


@pytest.fixture(scope="module")
def seen(
    still: dict[str, Facts], samples: list[str], browser: Browser, address: str
) -> dict[str, Facts]:
    """The facts of every page; of the samples, as they are after their scripts have run."""
    found = dict(still)
    with browser.new_context(locale="en-US") as context:
        watched = Watched(context.new_page(), address)
        for path in samples:
            watched.page.set_viewport_size({"width": 1280, "height": 844})
            status = watched.go(path)
            watched.make_widget()
            watched.page.wait_for_timeout(150)  # what Material does after the load
            facts = watched.page.evaluate(FACTS)
            small = {}
            for width in WIDTHS:
                watched.page.set_viewport_size({"width": width, "height": 844})
                watched.page.wait_for_timeout(150)
                small[width] = watched.page.evaluate(WIDE, width)
                small[width] |= watched.page.evaluate(SCROLLING)
            troubles = still[path]["troubles"] + watched.troubles
            watched.troubles = []
            found[path] = {**facts, "status": status, "troubles": troubles, "small": small}
    return found


def partner(path: str) -> str:
    return path.removeprefix("zh/") if path.startswith("zh/") else f"zh/{path}"


def test_opens_without_an_error_and_keeps_its_policy(
    seen: dict[str, Facts],
) -> None:
    with collected() as problems:
        for path, facts in seen.items():
            problems += [f"{path}: {trouble}" for trouble in facts["troubles"]]
            if facts["status"] != 200:
                problems.append(f"{path}: status {facts['status']}")


def test_every_page_is_there_in_both_languages(seen: dict[str, Facts]) -> None:
    assert "index.html" in seen
    lone = [path for path in seen if partner(path) not in seen]
    assert not lone, f"without a partner in the other language: {lone}"


def test_language_title_and_description(seen: dict[str, Facts]) -> None:
    descriptions: dict[str, str] = {}
    with collected() as problems:
        for path, facts in seen.items():
            language = "zh-Hans" if path.startswith("zh/") else "en"
            if facts["language"] != language:
                problems.append(f"{path}: lang is {facts['language']!r}")
            if facts["firsts"] != 1:
                problems.append(f"{path}: {facts['firsts']} headings of the first level")
            if not facts["title"] or not facts["description"]:
                problems.append(f"{path}: no title or no description")
            if re.search(r"[\u4e00-\u9fff]", facts["description"] or "") is None:
                if language == "zh-Hans":
                    problems.append(f"{path}: the description is not Chinese")
            elif language == "en" and not re.search("[a-z]{4}", facts["description"]):
                problems.append(f"{path}: the description is not English")
            if "/lessons/" in f"/{path}":
                same = descriptions.setdefault(facts["description"], path)
                if same != path:
                    problems.append(f"{path}: the description is that of {same}")


def test_links_to_the_other_language(seen: dict[str, Facts], site: Path, address: str) -> None:
    root = published_at(site)
    with collected() as problems:
        for path, facts in seen.items():
            english, chinese = sorted([path, partner(path)], key=lambda p: p.startswith("zh/"))
            if urlsplit(facts["switch"]).path != f"/{partner(path)}":
                problems.append(f"{path}: the switch goes to {facts['switch']}")
            if facts["canonical"] != root + path:
                problems.append(f"{path}: the canonical address is {facts['canonical']}")
            wanted = {
                "en": [True, root + english],
                "zh-Hans": [True, root + chinese],
                "x-default": [True, root + english],
            }
            if facts["alternates"] != wanted:
                problems.append(f"{path}: alternates {facts['alternates']}")


def test_both_languages_have_the_same_headings(seen: dict[str, Facts]) -> None:
    with collected() as problems:
        for path, facts in seen.items():
            if path.startswith("zh/"):
                continue
            here, there = set(facts["headings"]), set(seen[partner(path)]["headings"])
            first = facts["headings"][0]
            if unlike := (here ^ there) - {first, seen[partner(path)]["headings"][0]}:
                problems.append(f"{path}: only in one language: {sorted(unlike)}")


def test_ids_are_unique_and_anchors_resolve(
    seen: dict[str, Facts], site: Path, address: str
) -> None:
    with collected() as problems:
        for path, facts in seen.items():
            ids = facts["ids"]
            problems += [f"{path}: id {i!r} twice" for i in set(ids) if ids.count(i) > 1]
            for link in set(facts["links"]):
                target, _, anchor = link.partition("#")
                if not target.startswith(address):
                    continue
                name = unquote(target.removeprefix(address)) or "index.html"
                name += "index.html" if name.endswith("/") else ""
                if not (site / name).is_file():
                    problems.append(f"{path}: {link} is not there")
                elif anchor and unquote(anchor) not in seen[name]["ids"]:
                    problems.append(f"{path}: {link} has no such place")


def test_links_stay_in_their_language(seen: dict[str, Facts], address: str) -> None:
    with collected() as problems:
        for path, facts in seen.items():
            own = [link for link in facts["inner"] if link.startswith(address)]
            chinese = path.startswith("zh/")
            wrong = [link for link in own if link.startswith(f"{address}zh/") != chinese]
            problems += [f"{path}: {link}" for link in wrong]


def test_links_are_relative(site: Path, paths: list[str]) -> None:
    own = re.compile(r'<(?!link rel="canonical"|link rel=" alternate")[^>]* (?:href|src)="([^"]*)"')
    with collected() as problems:
        for path in paths:
            links = own.findall((site / path).read_text(encoding="utf-8"))
            bad = [link for link in links if link.startswith(("/", published_at(site)))]
            problems += [f"{path}: {link}" for link in bad]


def test_no_formula_is_left_as_tex(seen: dict[str, Facts]) -> None:
    with collected() as problems:
        for path, facts in seen.items():
            if facts["bare"] or facts["tex"]:
                problems.append(f"{path}: a formula that was not typeset")
            problems += [f"{path}: {raw!r}" for raw in RAW.findall(facts["text"])]


def test_one_security_policy_for_the_whole_site(seen: dict[str, Facts]) -> None:
    policies = {facts["policy"] for facts in seen.values()}
    assert len(policies) == 1, policies
    policy = dict(rule.split(" ", 1) for rule in policies.pop().split("; "))
    assert policy["default-src"] == "'none'"
    assert re.fullmatch(r"'self'( 'sha256-[\w+/]+=')*", policy["script-src"])
    assert policy["style-src-elem"] == "'self'"
    assert policy["font-src"] == "'self' data:"
    for name in ("connect-src", "worker-src"):
        assert policy[name] == "'self'"


VIOLATIONS = {  # what is put into a page, and the directive that forbids it
    "<script>intruder = true</script>": "script-src",
    '<script src="https://example.org/a.js"></script>': "script-src",
    '<p onclick="go()">': "script-src",
    "<style>p { color: red }</style>": "style-src-elem",
    '<link rel="stylesheet" href="https://example.org/a.css">': "style-src-elem",
    '<img src="https://example.org/a.png">': "img-src",
    '<iframe src="https://example.org/"></iframe>': "default-src",
}


def test_what_a_page_must_not_hold_is_noticed(browser: Browser, site: Path, address: str) -> None:
    """In the visit that every page gets: without this test its silence would say nothing."""
    whole = (site / "index.html").read_text(encoding="utf-8")
    broken = whole.replace("</article>", "\n".join(VIOLATIONS) + "</article>")
    with bare(browser) as (page, troubles):
        page.route("**/index.html", lambda route: route.fulfill(body=broken))
        page.goto(f"{address}index.html")
        page.wait_for_timeout(100)
    told = [re.findall(r"directive:? [\"']([\w-]+)", trouble)[:1] for trouble in troubles]
    assert sorted(told) == sorted([directive] for directive in VIOLATIONS.values()), troubles


def test_the_policy_holds(watch: Open) -> None:
    watched = watch()
    watched.go("index.html")
    page = watched.page
    ran = page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.intruder = true";
          document.body.append(script);
          return window.intruder === true;
        }"""
    )
    assert not ran
    assert len(watched.troubles) == 1
    assert "Content Security Policy" in watched.troubles.pop()


def test_no_page_scrolls_sideways(seen: dict[str, Facts]) -> None:
    with collected() as problems:
        for path, facts in seen.items():
            for width, small in facts["small"].items():
                if small["wide"] > width:
                    at = " | ".join(small["culprits"])
                    problems.append(f"{path} on {width}: {small['wide']} pixels wide, at {at}")


def test_wide_things_can_be_scrolled_by_keyboard(
    seen: dict[str, Facts], samples: list[str]
) -> None:
    small = {(path, width): seen[path]["small"][width] for path in samples for width in WIDTHS}
    assert any(one["scrolling"] for one in small.values()), "nothing is wide on a small screen"
    with collected() as problems:
        for (path, width), one in small.items():
            problems += [f"{path} on {width}: {element}" for element in one["stuck"]]


@pytest.mark.parametrize("folder", ["", "zh/"])
def test_sitemap(site: Path, paths: list[str], folder: str) -> None:
    root = published_at(site)
    sitemap = (site / folder / "sitemap.xml").read_text(encoding="utf-8")
    assert "lastmod" not in sitemap
    own = [path for path in paths if path.startswith("zh/") == bool(folder)]
    assert sorted(re.findall("<loc>(.*?)</loc>", sitemap)) == sorted(root + path for path in own)
    for path in own:
        english, chinese = sorted([path, partner(path)], key=lambda p: p.startswith("zh/"))
        for language, target in (("en", english), ("zh-Hans", chinese), ("x-default", english)):
            assert f'hreflang="{language}" href="{urljoin(root, target)}"' in sitemap


def test_downloads_are_notebooks(seen: dict[str, Facts], site: Path) -> None:
    lessons = [path for path in seen if "/lessons/" in f"/{path}"]
    assert lessons
    for path in lessons:
        notebook = Path(path).with_suffix(".ipynb")
        ((href, offered),) = seen[path]["downloads"]
        assert urljoin(f"/{path}", href).endswith(f"/{notebook.as_posix()}") and offered, path
        _check_notebook(site / notebook, "zh" if path.startswith("zh/") else "en")


def test_a_click_downloads_the_notebook(watch: Open, site: Path) -> None:
    watched = watch(accept_downloads=True)
    watched.go("zh/lessons/lookup.html")
    with watched.page.expect_download() as downloading:
        watched.page.click("a.notebook")
    download = downloading.value
    assert download.suggested_filename == "lookup.ipynb"
    assert Path(download.path()).read_bytes() == (site / "zh/lessons/lookup.ipynb").read_bytes()


def _check_notebook(path: Path, language: str) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = notebook.cells
    assert any(cell.cell_type == "code" and cell.outputs for cell in cells)
    prose = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    chinese = len(re.findall(r"[\u4e00-\u9fff]", prose)) / len(prose)
    assert chinese > 0.2 if language == "zh" else chinese < 0.1
    assert "{{" not in prose
    assert json.loads(path.read_text(encoding="utf-8"))["nbformat"] == 4
