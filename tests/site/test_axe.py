"""What axe-core finds: nothing."""

from __future__ import annotations

import os

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.site.conftest import Open, collected
from tests.site.test_look import to_mode


@pytest.mark.parametrize(("width", "part"), [(1280, ""), (390, "index")])
def test_axe_finds_nothing(watch: Open, samples: list[str], width: int, part: str) -> None:
    watched = watch(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    pages = samples if os.environ.get("TOKPOS_PAGES") == "all" else [*samples[:2], *samples[2::4]]
    with collected() as problems:
        for path in [path for path in [*pages, "404.html"] if part in path]:
            to_mode(watched.page, "light")
            watched.go(path)
            watched.make_widget()
            watched.page.wait_for_timeout(150)
            watched.page.evaluate(WHOLE)
            watched.page.evaluate(LIGHTEN)
            problems += [f"{path}: {found}" for found in violations(watched.page)]
            if "zh/" in path or "api/" in path:
                continue  # the dark colors are those of the English page
            to_mode(watched.page, "dark")
            dark = violations(watched.page, "color-contrast")
            problems += [f"{path}, dark: {found}" for found in dark]


# A figure is one image to assistive technology, and a formula's half for the eye is hidden from it.
# In code every token of a kind has the same colors. Thousands of such parts would only take axe's
# time; one of each stays, and the contrast of the figures is tested below.
LIGHTEN = """() => {
  document.querySelectorAll(".drawing svg > *, .katex-html > *").forEach((part) => part.remove());
  const kinds = new Set();
  for (const token of document.querySelectorAll("pre span:not(:has(*)), pre a:empty")) {
    const kind = [token.className, token.parentNode.className, token.closest("div")?.className];
    if (kinds.has(String(kind))) token.replaceWith(token.textContent);
    kinds.add(String(kind));
  }
}"""


# What is far from the screen is judged as well, as it is when it has come near.
WHOLE = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { content-visibility: visible !important }");
  document.adoptedStyleSheets = [sheet];
  dispatchEvent(new Event("resize"));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def violations(page: Page, *rules: str) -> list[str]:
    """What axe-core finds, by all of its rules or by those given."""
    options: dict[str, object] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = list(rules)
    return [
        f"{violation['id']}: {node['html'][:120]} {' '.join(node['failureSummary'].split())}"
        for violation in Axe().run(page, options=options).response["violations"]
        for node in violation["nodes"]
    ]
