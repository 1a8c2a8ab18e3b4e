"""What scrolls by itself is reached by the keyboard, also when it was far from the screen."""

from __future__ import annotations

import pytest

from tests.site.conftest import Open

PAGE = "lessons/sinusoidal.html"
STUCK = """() => {
  const near = (e) => {
    const box = e.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  };
  const scrolls = (e) =>
    e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible";
  const found = [...document.querySelectorAll("article :is(pre > code, .formula, .drawing)")];
  const seen = found.filter((e) => e.checkVisibility() && near(e) && scrolls(e));
  return [seen.length, seen.filter((e) => e.tabIndex < 0).length];
}"""


@pytest.mark.parametrize("folded", [True, False])
def test_what_comes_near_the_screen_can_be_scrolled_by_keyboard(watch: Open, folded: bool) -> None:
    watched = watch(viewport={"width": 390, "height": 844})
    watched.go(PAGE)
    page, seen = watched.page, 0
    if not folded:
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    height = page.evaluate("document.documentElement.scrollHeight")
    for top in range(0, int(height), 800):
        page.evaluate("top => scrollTo(0, top)", top)
        page.wait_for_timeout(120)
        scrolling, stuck = page.evaluate(STUCK)
        seen += scrolling
        assert not stuck, f"at {top} px"
    assert seen > 5


def test_a_code_block_near_the_screen_has_its_button_and_is_no_landmark(watch: Open) -> None:
    watched = watch()
    watched.go(PAGE)
    block = watched.page.locator("article .highlight:not(.no-copy)").nth(8)
    assert block.locator("nav").count() == 0
    block.scroll_into_view_if_needed()
    block.locator("nav[role=none] button").wait_for()


def test_the_closed_list_of_pages_takes_no_focus_on_a_phone(watch: Open) -> None:
    watched = watch(viewport={"width": 390, "height": 844})
    watched.go(PAGE)
    page, inside = watched.page, "!!document.activeElement.closest('.md-sidebar--primary')"
    for _ in range(15):
        page.keyboard.press("Tab")
        assert not page.evaluate(inside)
    page.click(".md-header label[for=__drawer]")
    link = page.locator(".md-sidebar--primary a.md-nav__link:visible").first
    link.focus()
    assert page.evaluate(inside)
