"""The way between the languages: the switch, the line for a first visit, unknown addresses."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from tests.site.conftest import Open, Watched

LESSON = "lessons/lookup.html"
SHORT = "faults/left_padding.html"  # for what is the same on every page
NEXT = "lessons/sinusoidal.html"


def headings(page: Page) -> list[str]:
    return page.eval_on_selector_all("article h2[id]", "all => all.map((h) => h.id)")


def read_at(page: Page, heading: str) -> None:
    """Scroll, as a reader does, until a heading is near the top; the address stays as it is."""
    page.evaluate(
        """(id) => scrollTo(0, document.getElementById(id).getBoundingClientRect().top
                              + scrollY - 90)""",
        heading,
    )
    page.wait_for_timeout(200)


def is_seen(page: Page, heading: str) -> bool:
    page.wait_for_timeout(400)
    return page.evaluate(
        """(id) => {
          const box = document.getElementById(id).getBoundingClientRect();
          return box.top >= 0 && box.top < innerHeight;
        }""",
        heading,
    )


def follow(page: Page, path: str) -> None:
    """Click the link of the navigation to a page."""
    page.eval_on_selector_all(
        ".md-nav--primary a", "(all, end) => all.find((a) => a.href.endsWith(end)).click()", path
    )


def switch(page: Page, expected: str) -> None:
    page.click(".tp-switch")
    page.wait_for_url(re.compile(expected))


def test_switch_goes_there_and_back(watch: Open) -> None:
    watched = watch()
    watched.go(LESSON)
    switch(watched.page, f"/zh/{LESSON}$")
    assert watched.page.evaluate("document.documentElement.lang") == "zh-Hans"
    switch(watched.page, f"[0-9]/{LESSON}$")
    assert watched.page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("start", ["", "zh/"])
def test_switch_stays_at_the_heading(watch: Open, start: str) -> None:
    other = "" if start else "zh/"
    watched = watch(viewport={"width": 1280, "height": 600})
    watched.go(start + LESSON)
    for heading in headings(watched.page)[-2:]:
        watched.go(start + LESSON)
        read_at(watched.page, heading)
        switch(watched.page, f"/{other}{LESSON}#{heading}$")
        assert is_seen(watched.page, heading)


def test_switch_keeps_the_anchor_of_the_address(watch: Open) -> None:
    watched = watch()
    watched.go(LESSON)
    heading = headings(watched.page)[-1]
    watched.go(f"{LESSON}#{heading}")
    switch(watched.page, f"/zh/{LESSON}#{heading}$")
    assert is_seen(watched.page, heading)


@pytest.mark.parametrize("start", ["", "zh/"])
def test_switch_after_instant_navigation(watch: Open, start: str) -> None:
    other = "" if start else "zh/"
    watched = watch(viewport={"width": 1280, "height": 600})
    page = watched.page
    watched.go(start + LESSON)
    page.wait_for_load_state("networkidle")
    page.evaluate("window.sameDocument = true")
    follow(page, start + NEXT)
    page.wait_for_url(re.compile(f"/{start}{NEXT}$"))
    page.wait_for_timeout(500)
    assert page.evaluate("window.sameDocument"), "the page was loaded in full"
    heading = headings(page)[-1]
    read_at(page, heading)
    switch(page, f"/{other}{NEXT}#{heading}$")
    assert is_seen(page, heading)
    page.go_back()
    page.wait_for_url(re.compile(f"/{start}{NEXT}"))


# The line for a first visit


@pytest.mark.parametrize(
    ("page", "locale", "offered"),
    [
        (SHORT, "zh-CN", True),
        (SHORT, "zh-TW", True),
        (SHORT, "en-US", False),
        (SHORT, "de-DE", False),
        (f"zh/{SHORT}", "en-GB", True),
        (f"zh/{SHORT}", "zh-CN", False),
    ],
)
def test_line_by_the_language_of_the_browser(
    watch: Open, page: str, locale: str, offered: bool
) -> None:
    watched = watch(locale=locale)
    watched.go(page)
    line = watched.page.locator(".tp-hint")
    assert line.is_visible() == offered
    if offered:
        assert (line.get_attribute("lang") or "")[:2] == locale[:2]
        assert bool(re.search("[\u4e00-\u9fff]", line.inner_text())) == (locale[:2] == "zh")


def test_line_leads_to_the_same_page_and_is_not_shown_again(watch: Open) -> None:
    watched = watch(locale="zh-CN")
    watched.go(SHORT)
    watched.page.click(".tp-hint a")
    watched.page.wait_for_url(re.compile(f"/zh/{SHORT}$"))
    watched.go(SHORT)
    assert not watched.page.locator(".tp-hint").is_visible()


def test_line_can_be_dismissed_for_good(watch: Open) -> None:
    watched = watch(locale="zh-CN")
    watched.go(SHORT)
    watched.page.click(".tp-hint button")
    assert not watched.page.locator(".tp-hint").is_visible()
    watched.go(NEXT)
    assert not watched.page.locator(".tp-hint").is_visible()


def test_line_is_there_after_instant_navigation_too(watch: Open) -> None:
    watched = watch(locale="zh-CN")
    watched.go(SHORT)
    watched.page.wait_for_load_state("networkidle")
    follow(watched.page, NEXT)
    watched.page.wait_for_url(re.compile(f"{NEXT}$"))
    watched.page.wait_for_timeout(500)
    assert watched.page.locator(".tp-hint").is_visible()


# Unknown addresses


@pytest.mark.parametrize("path", ["nowhere.html", "zh/nowhere.html", "lessons/deep/er/nowhere"])
def test_unknown_address_speaks_both_languages(watch: Open, path: str, address: str) -> None:
    watched = watch()
    assert watched.go(path) == 404
    _expect_404(watched)
    assert {link for link in _links(watched) if link.startswith(address)} == {
        f"{address}index.html",
        f"{address}zh/index.html",
    }
    assert watched.page.evaluate("getComputedStyle(document.querySelector('h1')).fontWeight") != ""
    watched.page.click("article p[lang=zh-Hans] a")
    watched.page.wait_for_url(f"{address}zh/index.html")


def _expect_404(watched: Watched) -> None:
    text = watched.page.locator("article").inner_text()
    assert "There is no page" in text and "没有页面" in text
    # That the address is unknown is the one thing that may be complained of.
    complaints = [t for t in watched.troubles if "404 (Not Found)" in t]
    assert watched.troubles == complaints and len(complaints) == 1
    watched.troubles.clear()


def _links(watched: Watched) -> list[str]:
    return watched.page.eval_on_selector_all("article a[href]", "all => all.map((a) => a.href)")


def test_the_line_on_a_first_visit_moves_nothing(watch: Open) -> None:
    watched = watch(locale="en-US", viewport={"width": 700, "height": 844})
    watched.page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) window.shift += entry.value;
        }).observe({type: "layout-shift", buffered: true});"""
    )
    watched.go(f"zh/{SHORT}")
    watched.page.locator(".tp-hint:visible").wait_for()
    box = watched.page.locator(".tp-hint").bounding_box()
    assert box and box["width"] == watched.page.evaluate("document.documentElement.clientWidth")
    watched.page.wait_for_timeout(500)
    assert watched.page.evaluate("window.shift") < 0.02
