"""The widgets: their numbers are the library's, and whoever comes by whatever way can use them."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.site.conftest import Open, Watched, collected
from tests.site.widget_inputs import CASES

# The page of each widget.
PAGES = {
    "tokenizer": "lessons/tokens.html",
    "lookup": "lessons/lookup.html",
    "rows": "lessons/learning.html",
    "broadcasting": "lessons/broadcasting.html",
    "bert": "lessons/bert_embeddings.html",
    "sinusoid": "lessons/sinusoidal.html",
    "rope": "lessons/rope.html",
    "bias": "lessons/alibi.html",
    "order": "lessons/why_positions.html",
    "tying": "lessons/head.html",
}
# Another state of each, as an address has it.
STATES = {
    "tokenizer": {"text": "unaffable", "kind": "bytes"},
    "lookup": {"id": "2"},
    "rows": {"optimizer": "adam", "steps": "2"},
    "broadcasting": {"a": "3,1", "b": "1,4"},
    "bert": {"at": "3", "row": "normalized"},
    "sinusoid": {"base": "10", "position": "7"},
    "rope": {"m": "9", "layouts": "mixed"},
    "bias": {"kind": "t5", "head": "2"},
    "order": {"order": "210", "positions": "1"},
    "tying": {"x": "-1", "y": "2"},
}
KIB = 1024


def root(name: str) -> str:
    return f"[data-widget={name}]"


def wait_for(page: Page, name: str) -> None:
    """Scroll to a widget: it is made when it comes near the screen."""
    page.locator(root(name)).scroll_into_view_if_needed()
    page.wait_for_selector(f"{root(name)}.tp-live")


def said(page: Page, name: str) -> str:
    return page.inner_text(f"{root(name)} .tp-said")


@pytest.fixture(scope="module")
def lessons(browser: Browser, address: str) -> Iterator[Watched]:
    """One page of the browser for the tests that only look."""
    with browser.new_context(locale="en-US") as context:
        context.set_default_timeout(30_000)
        watched = Watched(context.new_page(), address)
        yield watched
        assert not watched.troubles, watched.troubles


@pytest.fixture(scope="module", params=PAGES)
def name(request: pytest.FixtureRequest) -> str:
    """Each widget; its tests follow one another, on one page."""
    return str(request.param)


@pytest.fixture(scope="module")
def opened(name: str, lessons: Watched) -> Page:
    lessons.go(PAGES[name])
    wait_for(lessons.page, name)
    return lessons.page


def load_vocabularies(page: Page) -> None:
    page.evaluate(
        """async () => {
          const {folder} = document.querySelector("[data-widget=tokenizer]").dataset;
          for (const name of ["wordpiece", "bytes"]) await new Promise((done, failed) => {
            const script = document.createElement("script");
            Object.assign(script, {src: `${folder}data/${name}.js`, onload: done, onerror: failed});
            document.head.append(script);
          });
        }"""
    )


def differences(found: Any, expected: Any, where: str = "") -> Iterator[str]:
    """What is not as it is expected: numbers to 1e-6 of their size."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            yield from differences(found.get(key), value, f"{where}.{key}")
    elif isinstance(expected, list | tuple):
        if not isinstance(found, list) or len(found) != len(expected):
            yield f"{where}: {found} where {expected} is expected"
            return
        for index, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from differences(one, other, f"{where}[{index}]")
    elif isinstance(expected, float):
        if not (
            isinstance(found, int | float)
            and math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9)
        ):
            yield f"{where}: {found} where {expected} is expected"
    elif found != expected:
        yield f"{where}: {found!r} where {expected!r} is expected"


def test_the_numbers_are_those_of_the_library(opened: Page, name: str) -> None:
    cases = list(CASES[name]())
    assert len(cases) >= 100
    if name == "tokenizer":
        load_vocabularies(opened)
    found = opened.evaluate(
        "([name, inputs]) => inputs.map((input) => tokpos.widgets[name].compute(input))",
        [name, [given for given, _ in cases]],
    )
    with collected() as problems:
        for (given, expected), one in zip(cases, found, strict=True):
            problems += [f"{given!s:.300}: {each}" for each in differences(one, expected)][:1]


def test_every_control_is_reached_by_the_keyboard(opened: Page, name: str) -> None:
    controls = f"{root(name)} :is(input, select, button)"
    wanted = opened.locator(f"{controls}:visible").count()
    assert wanted >= 3, "buttons and controls; does mount call place.control?"
    opened.evaluate("selector => document.querySelector(selector).focus()", controls)
    focused = "all => [...document.querySelectorAll(all)].indexOf(document.activeElement)"
    reached = set()
    for _ in range(wanted + 8):
        reached.add(opened.evaluate(focused, controls))
        opened.keyboard.press("Tab")
    assert len(reached - {-1}) == wanted
    ranges = opened.locator(f"{root(name)} input[type=range]:visible")
    for index in range(ranges.count()):
        ranges.nth(index).press("ArrowRight")
    if ranges.count():
        opened.wait_for_function("name => location.search.includes(name)", arg=f"{name}.")


def test_a_drawing_can_be_dragged(opened: Page, name: str) -> None:
    picture = opened.locator(f"{root(name)} .tp-drag").first
    if not picture.count():
        assert name not in ("rope", "tying", "sinusoid")
        return
    picture.scroll_into_view_if_needed()
    before, box = opened.url, picture.bounding_box()
    assert box
    opened.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 0.4 * box["height"])
    opened.mouse.down()
    opened.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"], steps=5)
    opened.mouse.up()
    opened.wait_for_function("before => location.href !== before", arg=before)


def test_a_widget_can_be_linked_to_reset_and_shown(lessons: Watched, name: str) -> None:
    page, chinese = lessons.page, list(PAGES).index(name) % 2
    query = "&".join(f"{name}.{key}={value}" for key, value in STATES[name].items())
    lessons.go(f"{'zh/' if chinese else ''}{PAGES[name]}?{query}#widget-{name}")
    wait_for(page, name)
    assert page.locator(f"{root(name)} :is(.tp-try, .tp-seen)").count() == 2
    filled = "name => document.querySelector(`[data-widget=${name}] .tp-said`)?.textContent"
    page.wait_for_function(filled, arg=name)
    linked = said(page, name)
    assert not re.search(r"\{\w+\}|undefined|NaN", linked)
    page.click(f"{root(name)} .tp-reset")
    page.wait_for_function("name => !location.search.includes(name)", arg=f"{name}.")
    assert said(page, name) != linked
    page.emulate_media(reduced_motion="reduce")
    page.click(f"{root(name)} .tp-show")
    page.wait_for_function("name => location.search.includes(name)", arg=f"{name}.")
    page.emulate_media(reduced_motion="no-preference")


def test_without_scripts_there_is_a_still_figure(browser: Browser, address: str, name: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address + PAGES[name])
        assert page.locator(".drawing > .tp-figure:visible").count() >= 1
        widget = page.locator(root(name))
        assert widget.locator(".tp-still .tp-figure:visible").count() or not widget.is_visible()


def test_an_emptied_text_and_a_mark_taken_away_are_kept_in_the_address(watch: Open) -> None:
    watched = watch()
    for name, selector, key in (
        ("tokenizer", "label:nth-of-type(2) input", "text="),
        ("bias", "input[type=checkbox]", "causal=0"),
    ):
        watched.go(PAGES[name])
        wait_for(watched.page, name)
        control = watched.page.locator(f"{root(name)} {selector}").first
        control.uncheck() if name == "bias" else control.fill("")
        wanted = f"?{name}.{key}"
        watched.page.wait_for_function("wanted => location.search === wanted", arg=wanted)


def test_show_me_goes_step_by_step(watch: Open) -> None:
    watched = watch()
    watched.go(PAGES["lookup"])
    wait_for(watched.page, "lookup")
    watched.page.click(f"{root('lookup')} .tp-show")
    seen = set()
    for _ in range(30):
        seen.add(said(watched.page, "lookup"))
        watched.page.wait_for_timeout(100)
    assert len(seen) >= 3


def test_touch_drags_as_well(watch: Open) -> None:
    watched = watch(has_touch=True, viewport={"width": 390, "height": 844})
    watched.go(PAGES["tying"])
    wait_for(watched.page, "tying")
    picture = watched.page.locator(f"{root('tying')} .tp-drag")
    picture.scroll_into_view_if_needed()
    before, box = said(watched.page, "tying"), picture.bounding_box()
    assert box
    watched.page.touchscreen.tap(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
    watched.page.wait_for_function(
        "text => document.querySelector('.tp-said').textContent !== text", arg=before
    )


def test_a_page_that_is_left_keeps_nothing_of_its_widget(watch: Open) -> None:
    watched = watch()
    page = watched.page
    watched.go(PAGES["rope"])
    wait_for(page, "rope")
    for _ in range(3):
        left = page.query_selector(root("rope"))
        assert left
        page.click("a.md-footer__link--next")
        wait_for(page, "bias")
        assert left.evaluate("root => [root.isConnected, root.childElementCount]") == [False, 0]
        page.go_back()
        wait_for(page, "rope")
        assert page.locator(f"{root('rope')} .tp-stage").count() == 1
    page.locator(f"{root('rope')} input[type=range]").first.press("ArrowRight")
    page.wait_for_function("() => location.search.includes('rope.')")


def test_a_widget_waits_for_what_all_widgets_share(watch: Open) -> None:
    """Instant navigation asks for all scripts of a page at once; any may be there first."""
    watched = watch()
    watched.go("lessons/not_a_number.html")
    held: list[Route] = []
    watched.page.route("**/widgets/shared.js", lambda route: held.append(route))
    with watched.page.expect_response("**/widgets/lookup.js"):
        watched.page.click("a.md-footer__link--next")
    watched.page.wait_for_timeout(200)
    held.pop().fallback()
    wait_for(watched.page, "lookup")


def test_a_widget_far_from_the_screen_is_made_when_it_comes_near(watch: Open) -> None:
    watched = watch()
    watched.go(PAGES["rope"])
    page, rope = watched.page, watched.page.locator(root("rope"))
    box = rope.bounding_box()
    assert box and box["y"] > 2 * 720
    page.wait_for_timeout(300)
    assert rope.locator(".tp-stage").count() == 0
    page.evaluate("top => scrollTo(0, top)", box["y"] - 1.5 * 720)
    rope.locator(".tp-stage").wait_for()


def test_a_vocabulary_is_loaded_when_it_is_asked_for(watch: Open) -> None:
    watched = watch()
    requests: list[str] = []
    watched.page.on("request", lambda request: requests.append(request.url))
    watched.go(PAGES["tokenizer"])
    wait_for(watched.page, "tokenizer")
    watched.page.wait_for_timeout(300)
    assert not [url for url in requests if "widgets/data" in url]
    watched.page.click(".tp-load")
    watched.page.wait_for_selector(".tp-token")
    assert len([url for url in requests if "widgets/data" in url]) == 1


def test_pieces_of_a_character_stand_together(watch: Open) -> None:
    watched = watch()
    watched.go(f"{PAGES['tokenizer']}?tokenizer.kind=bytes&tokenizer.text=%F0%9F%98%80%E5%96%9C")
    wait_for(watched.page, "tokenizer")
    watched.page.wait_for_selector(".tp-token")
    groups = watched.page.locator(".tp-tokens li")
    assert "�" not in watched.page.inner_text(".tp-tokens")
    assert groups.first.locator("i").inner_text() == "😀"
    assert groups.first.locator(".tp-token").count() > 1


def test_widgets_work_from_the_file_system(watch: Open, site: Path) -> None:
    watched = watch(home=site.as_uri() + "/")
    watched.go(f"zh/{PAGES['tokenizer']}")
    wait_for(watched.page, "tokenizer")
    watched.page.click(".tp-load")
    watched.page.wait_for_selector(".tp-token")


def test_each_script_is_small(site: Path) -> None:
    with collected() as problems:
        for path in (site / "assets" / "widgets").glob("*.js"):
            size = len(gzip.compress(path.read_bytes()))
            if size > 8 * KIB:
                problems.append(f"{path.name}: {size} bytes")


def test_pages_without_a_widget_load_none(paths: list[str], site: Path) -> None:
    with collected() as problems:
        for path in paths:
            text = (site / path).read_text(encoding="utf-8")
            if ("data-widget=" in text) != ("/widgets/shared.js" in text):
                problems.append(path)
    assert {
        path for path in paths if "data-widget=" in (site / path).read_text(encoding="utf-8")
    } == {language + page for language in ("", "zh/") for page in PAGES.values()}
