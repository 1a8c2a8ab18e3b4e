"""How much work it is for a browser to draw a page."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from mkdocs.config import load_config
from PIL import Image
from playwright.sync_api import Browser

from scripts import assets, styles
from tests.site.conftest import READY, ROOT, Open


@pytest.mark.parametrize("path", ["index.html", "lessons/rope.html", "zh/lessons/sinusoidal.html"])
def test_no_script_has_all_of_a_page_styled_again(
    browser: Browser, address: str, tmp_path: Path, path: str
) -> None:
    trace = tmp_path / "trace.json"
    page = browser.new_page(viewport={"width": 390, "height": 844})
    categories = ["devtools.timeline", "disabled-by-default-devtools.timeline.stack"]
    browser.start_tracing(page=page, path=trace, categories=categories)
    page.goto(address + path)
    page.wait_for_selector("[data-md-component=palette] label:not([hidden])")
    page.wait_for_timeout(500)
    browser.stop_tracing()
    page.close()
    styled = [
        event["args"]
        for event in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        if event["name"] == "UpdateLayoutTree" and "elementCount" in event["args"]
    ]
    largest = max(each["elementCount"] for each in styled)
    whole = [each for each in styled if each["elementCount"] > 0.8 * largest]
    assert not [each for each in whole if each["beginData"].get("stackTrace")]


def test_the_scroll_bars_have_the_colors_of_the_palette(browser: Browser, address: str) -> None:
    page = browser.new_page(color_scheme="light")
    page.goto(address)
    page.wait_for_function(READY)
    seen = []
    for _ in range(3):  # as the system has them, light, dark
        seen.append(page.evaluate("getComputedStyle(document.documentElement).colorScheme"))
        page.locator("[data-md-component=palette] label:visible").click()
    page.close()
    assert seen == ["light", "light", "dark"]


def test_figures_that_are_files_have_the_mode_of_the_page_and_not_the_systems(
    watch: Open,
) -> None:
    """Most of a figure has the color of the paper around it."""
    for system in ("light", "dark"):
        watched = watch(color_scheme=system)
        watched.go("zh/lessons/rope.html")
        page, seen = watched.page, []
        for _ in range(3):  # as the system has them, light, dark
            figure = page.locator("img.tp-figure").first
            figure.scroll_into_view_if_needed()
            page.wait_for_function("image => image.complete", arg=figure.element_handle())
            paper = page.evaluate("getComputedStyle(document.body).getPropertyValue('--tp-paper')")
            drawn = Image.open(BytesIO(figure.screenshot())).convert("RGB")
            counted = drawn.getcolors(drawn.width * drawn.height) or []
            _, (red, green, blue) = max(counted)
            assert f"#{red:02x}{green:02x}{blue:02x}" == paper.strip()
            assert len(counted) > 20, "nothing is drawn"
            seen.append(paper)
            page.evaluate("scrollTo(0, 0)")
            page.locator("[data-md-component=palette] label:visible").click()
        assert len(set(seen)) == 2


def test_a_page_is_drawn_before_its_scripts_are_loaded(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}lessons/rope.html")
    page.wait_for_function(READY)
    drawn, loaded = page.evaluate(
        """() => [
          performance.getEntriesByName("first-contentful-paint")[0].startTime,
          performance.getEntriesByType("resource")
            .filter(({name}) => /bundle|language|reach|progress/.test(name))
            .map(({startTime}) => startTime),
        ]"""
    )
    page.close()
    assert len(loaded) == 4 and min(loaded) > drawn


@pytest.mark.parametrize("width", [390, 1280])
def test_a_code_block_is_as_high_as_it_says_before_it_is_laid_out(watch: Open, width: int) -> None:
    watched = watch(viewport={"width": width, "height": 800})
    for path in ("lessons/rope.html", "zh/lessons/tokens.html", "api/rope.html"):
        assert watched.go(path) == 200
        wrong = watched.page.evaluate(
            """() => [...document.querySelectorAll(".md-typeset .highlight")]
              .filter((block) => block.checkVisibility())
              .map((block) => {
                const said = block.getBoundingClientRect().height;
                block.style.contentVisibility = "visible";
                block.style.minHeight = 0;
                return [said, block.getBoundingClientRect().height, block.textContent];
              })
              .filter(([said, height]) => Math.abs(said - height) > 2)"""
        )
        assert not wrong, f"{path}: {wrong[:3]}"


@pytest.mark.parametrize("way", ["", "zh/"])
@pytest.mark.parametrize("name", ["choosing", "relative", "rope", "sinusoidal"])
def test_formulas_need_no_font_besides_those_in_the_style_sheet(
    watch: Open, way: str, name: str
) -> None:
    """Else: python -m scripts.katex_fonts."""
    watched = watch()
    watched.go(f"{way}lessons/{name}.html")
    for formula in watched.page.locator(".formula").all():
        formula.scroll_into_view_if_needed()
    watched.page.wait_for_timeout(200)  # a font is asked for when a line with it is laid out
    watched.page.evaluate("document.fonts.ready")
    files, faces = watched.page.evaluate(
        """() => [
          performance.getEntriesByType("resource").filter(({name}) => /woff2/.test(name)).length,
          [...document.fonts].filter(({status}) => status === "loaded").length,
        ]"""
    )
    assert not files and faces >= 2


def test_what_the_style_sheet_goes_without_is_for_no_part_of_a_page(
    watch: Open, site: Path, samples: list[str]
) -> None:
    """A selector that matches something is in the published sheet; so is a variable in use."""

    def selectors(sheet: str) -> set[str]:
        rules = re.findall(r"([^{}@;]+)\{[^{}]*\}", re.sub(r"/\*.*?\*/", "", sheet, flags=re.S))
        return {each.strip() for rule in rules for each in re.split(r",(?![^(\[]*[)\]])", rule)}

    published = (site / styles.ADDRESS).read_text(encoding="utf-8")
    gone = selectors(assets.sheet(load_config(str(ROOT / "mkdocs.yml")))) - selectors(published)
    assert len(gone) > 500
    plain = [re.sub("::.*|:(?:before|after)$", "", each) for each in gone]
    plain = [re.sub(r"(^|[>~+ ])$", r"\1*", each) for each in plain]
    watched = watch()
    for path in (each for each in samples if not each.startswith("zh/")):
        watched.go(path)
        watched.page.wait_for_function(READY)
        matching, unset = watched.page.evaluate(
            """(selectors) => {
              const said = getComputedStyle(document.body);
              const read = [...document.querySelectorAll("article [style*='var(--']")]
                .flatMap((part) => part.getAttribute("style").match(/--tp-[a-z-]+(?=\\))/g));
              return [
                selectors.filter((each) => document.querySelector(each)),
                read.filter((name) => !said.getPropertyValue(name)),
              ];
            }""",
            plain,
        )
        assert not matching and not unset, f"{path}: {matching} {unset}"
