"""How much work it is for a browser to draw a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser


@pytest.mark.parametrize("path", ["index.html", "lessons/rope.html", "zh/lessons/sinusoidal.html"])
def test_no_script_has_all_of_a_page_styled_again(
    browser: Browser, address: str, tmp_path: Path, path: str
) -> None:
    """Once at most; for a table Material changes the page, and more than the table is styled."""
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
    assert len([each for each in whole if each["beginData"].get("stackTrace")]) <= 1


def test_the_scroll_bars_have_the_colors_of_the_palette(browser: Browser, address: str) -> None:
    page = browser.new_page(color_scheme="light")
    page.goto(address)
    seen = []
    for _ in range(3):  # as the system has them, light, dark
        seen.append(page.evaluate("getComputedStyle(document.documentElement).colorScheme"))
        page.locator("[data-md-component=palette] label:visible").click()
    page.close()
    assert seen == ["normal", "normal", "dark"]
