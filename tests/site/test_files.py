"""Every page opened from the file system, with no host at all."""

from __future__ import annotations

import re
from pathlib import Path

from tests.site.conftest import Open


def test_pages_open_from_the_file_system(watch: Open, site: Path, samples: list[str]) -> None:
    watched = watch(f"{site.as_uri()}/")
    for path in samples:
        watched.go(path)
        heading = watched.page.locator("article h1")
        assert heading.is_visible(), path
        # The style sheet has arrived: the header is a flex box of Material's.
        display = "getComputedStyle(document.querySelector('.tp-home')).display"
        assert watched.page.evaluate(display) == "flex", path


def test_switch_and_navigation_work_from_the_file_system(watch: Open, site: Path) -> None:
    watched = watch(f"{site.as_uri()}/")
    page = watched.page
    watched.go("index.html")
    page.click("article a[href*='lookup.html'], .md-nav--primary a[href*='lookup.html']")
    page.wait_for_url(re.compile("/lessons/lookup.html"))
    heading = page.eval_on_selector_all("article h2[id]", "all => all.at(-1).id")
    page.evaluate("(id) => document.getElementById(id).scrollIntoView()", heading)
    page.wait_for_timeout(300)
    page.click(".tp-switch")
    page.wait_for_url(re.compile(f"/zh/lessons/lookup.html#{heading}$"))
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"


def test_mode_is_kept_from_page_to_page(watch: Open, site: Path) -> None:
    watched = watch(f"{site.as_uri()}/", color_scheme="light")
    page = watched.page
    watched.go("index.html")
    for _ in range(2):  # from the system's to light, and on to dark
        page.click("[data-md-component=palette] label:not([hidden])")
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    watched.go("zh/lessons/lookup.html")
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"


def test_the_sidebars_end_above_the_footer(watch: Open, site: Path) -> None:
    watched = watch(f"{site.as_uri()}/", viewport={"width": 1280, "height": 700})
    watched.go("index.html")
    watched.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    watched.page.wait_for_function(
        """() => {
          const bottom = (kind) => document.querySelector(kind).getBoundingClientRect().bottom;
          const footer = document.querySelector(".md-footer").getBoundingClientRect().top;
          const sides = [".md-sidebar--primary", ".md-sidebar--secondary"];
          return sides.every((side) => bottom(`${side} .md-sidebar__scrollwrap`) <= footer);
        }"""
    )
