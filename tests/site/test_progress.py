"""A lesson that was read to its end is marked, in both languages, and only in this browser."""

from __future__ import annotations

import pytest

from tests.site.conftest import Open, Watched

LESSON = "lessons/lookup.html"
MARKED = "() => [...document.querySelectorAll('.tp-read')].map((link) => link.pathname)"


def marked(watched: Watched, path: str) -> set[str]:
    watched.go(path)
    watched.page.wait_for_timeout(300)
    return {path.lstrip("/") for path in watched.page.evaluate(MARKED)}


def read_to_the_end(watched: Watched, path: str) -> None:
    watched.go(path)
    watched.page.evaluate(
        "[...document.querySelectorAll('article h2[id]')].at(-1).scrollIntoView()"
    )
    watched.page.wait_for_timeout(300)


def test_a_lesson_is_marked_when_its_end_was_seen(watch: Open) -> None:
    watched = watch()
    assert marked(watched, "index.html") == set()
    assert marked(watched, LESSON) == set(), "it was opened, not read"
    read_to_the_end(watched, LESSON)
    assert marked(watched, "index.html") == {LESSON}
    assert marked(watched, "zh/index.html") == {f"zh/{LESSON}"}
    table = watched.page.locator(f"article td a.tp-read[href*='{LESSON}']")
    assert table.count() == 1 and table.is_visible()


@pytest.mark.parametrize("kept", ["", "{}", "[1]", "not JSON"])
def test_what_else_stands_in_the_browser_does_no_harm(watch: Open, kept: str) -> None:
    watched = watch()
    watched.page.add_init_script(f"localStorage.setItem('tokpos.read', {kept!r})")
    assert marked(watched, "index.html") == set()
