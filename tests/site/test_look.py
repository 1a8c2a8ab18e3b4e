"""What a reader sees and reaches: both modes, small screens, keyboard, paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page

from scripts import figure_files
from tests.site.conftest import Open, collected

LESSON = "lessons/lookup.html"
Mode = Literal["light", "dark"]
MODES: tuple[Mode, ...] = ("light", "dark")
SCHEMES = {"light": "default", "dark": "slate"}


@pytest.mark.parametrize("mode", MODES)
def test_mode_follows_the_system(watch: Open, mode: str) -> None:
    watched = watch(color_scheme=mode)
    watched.go(LESSON)
    assert watched.page.evaluate("document.body.dataset.mdColorScheme") == SCHEMES[mode]
    background = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(background) > 0.5) == (mode == "light")


def test_mode_can_be_chosen_and_is_kept_in_both_languages(watch: Open) -> None:
    watched = watch(color_scheme="light")
    page = watched.page
    watched.go("index.html")
    for _ in range(2):
        page.click("[data-md-component=palette] label:not([hidden])")
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    watched.go(f"zh/{LESSON}")
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"


def to_mode(page: Page, mode: Mode) -> None:
    """Let the system change its mode, and wait until an open page has followed."""
    page.emulate_media(color_scheme=mode)
    page.wait_for_function(
        "(scheme) => [scheme, undefined].includes(document.body.dataset.mdColorScheme)",
        arg=SCHEMES[mode],
    )


FIGURE = re.compile(r'<svg [^>]*class="tp-figure".*?</svg>', re.DOTALL)
ROLE = re.compile(r"var\(--tp-([\w-]+)\)")
FIXED = re.compile(r"(?:fill|stroke)[=:]\s*\"?(#\w+|rgb[^\";)]*\))")


def test_contrast_of_the_figures(watch: Open, paths: list[str], site: Path) -> None:
    roles: set[str] = set()
    with collected() as problems:
        for path in paths:
            for figure in FIGURE.findall(figure_files.together(site / path)):
                problems += [
                    f"{path}: a color that no mode changes: {c}" for c in FIXED.findall(figure)
                ]
                roles |= set(ROLE.findall(figure))
        assert roles, "no figure with a color of the palette"
        watched = watch(reduced_motion="reduce")
        watched.go(LESSON)
        for mode in MODES:
            to_mode(watched.page, mode)
            problems += [f"{mode}: {pair}" for pair in faint_pairs(watched.page, roles)]


def faint_pairs(page: Page, roles: set[str]) -> list[str]:
    """Roles that words are written in, which are too near to what is behind them."""
    paper = color(page, "paper")
    tints = {role: color(page, role) for role in roles if role.endswith("-soft")}
    words = {role: color(page, role) for role in roles if role not in {*tints, "paper", "rule"}}
    pairs = [(role, "paper", contrast(ours, paper)) for role, ours in words.items()]
    pairs += [("ink", tint, contrast(color(page, "ink"), behind)) for tint, behind in tints.items()]
    return [f"{role} on {behind}: {ratio:.2f}" for role, behind, ratio in pairs if ratio < 4.5]


def color(page: Page, role: str) -> str:
    return page.evaluate(
        """(role) => {
          const probe = document.body.appendChild(document.createElement("i"));
          probe.style.setProperty("color", `var(--tp-${role}, transparent)`);
          const found = getComputedStyle(probe).color;
          probe.remove();
          return found;
        }""",
        role,
    )


def luminance(rgb: str) -> float:
    channels = [float(number) / 255 for number in re.findall(r"[\d.]+", rgb)]
    assert len(channels) == 3, f"not an opaque color: {rgb}"
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("folder", "characters", "height"), [("", 70, 1.6), ("zh/", 38, 1.8)])
def test_measure_of_the_text(watch: Open, folder: str, characters: int, height: float) -> None:
    watched = watch(viewport={"width": 1280, "height": 900})
    watched.go(folder + LESSON)
    em, line, width = watched.page.evaluate(
        """() => {
          const p = document.querySelector("article > p:not(.tp-hint)");
          const style = getComputedStyle(p);
          return [parseFloat(style.fontSize), parseFloat(style.lineHeight),
                  parseFloat(style.maxWidth)];
        }"""
    )
    assert line / em == pytest.approx(height, abs=0.01)
    # A Chinese character is one em wide; a Latin one about half in the usual system fonts.
    assert width / em * (1 if folder else 2.06) == pytest.approx(characters, abs=1)


def test_keyboard_reaches_everything(watch: Open) -> None:
    watched = watch(viewport={"width": 1280, "height": 900})
    page = watched.page
    watched.go(LESSON)
    page.wait_for_timeout(300)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.classList.contains('md-skip')")
    seen = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        seen.add(
            page.evaluate(
                """() => {
                  const e = document.activeElement;
                  const style = getComputedStyle(e.matches(".md-option") ?
                    e.nextElementSibling : e);
                  const shown = style.outlineStyle !== "none" || e.matches("input");
                  const scrolls = e.scrollWidth > e.clientWidth + 1 && e.matches("code, div");
                  return [e.localName, scrolls, shown].join(" ");
                }"""
            )
        )
        if page.evaluate("document.activeElement === document.body"):
            break
    assert "a false true" in seen and "input false true" in seen
    hidden = [what for what in seen if what.endswith("false") and not what.startswith("body")]
    assert not hidden, f"focus is not seen on {hidden}"


def test_navigation_opens_by_keyboard_on_a_small_screen(watch: Open) -> None:
    watched = watch(viewport={"width": 390, "height": 844})
    page = watched.page
    watched.go(LESSON)
    page.focus("header label[for=__drawer]")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    assert page.is_checked("#__drawer")
    assert page.locator(".md-nav--primary a[href$='lessons/sinusoidal.html']").is_visible()


def test_paper_has_the_text_and_its_light_colors(watch: Open) -> None:
    watched = watch(color_scheme="dark")
    page = watched.page
    watched.go(LESSON)
    page.emulate_media(media="print", color_scheme="dark")
    for hidden in ("header", ".md-sidebar", ".md-footer__inner", "a.notebook"):
        assert not page.locator(f"{hidden} >> nth=0").is_visible(), hidden
    assert page.locator("article h1").is_visible()
    ink = page.evaluate("getComputedStyle(document.querySelector('article h1')).color")
    assert luminance(ink) < 0.1
    assert luminance(color(page, "token")) < 0.3


@pytest.mark.parametrize("folder", ["", "zh/"])
def test_the_cheat_sheet_is_one_sheet_of_paper(watch: Open, folder: str) -> None:
    watched = watch()
    watched.go(f"{folder}cheat_sheet.html")
    printed = watched.page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


@pytest.mark.parametrize("width", [390, 620, 1280])
def test_no_line_begins_with_a_closing_mark(watch: Open, width: int) -> None:
    """Browsers know the rule, but not beside a formula."""
    watched = watch(viewport={"width": width, "height": 800})
    for name in ("head", "relative", "rope", "sinusoidal"):
        assert watched.go(f"zh/lessons/{name}.html") == 200
        begun = watched.page.evaluate(
            """() => [...document.querySelectorAll("article p")].flatMap((block) => {
              const left = block.getBoundingClientRect().left;
              const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
              const range = document.createRange();
              const found = [];
              while (texts.nextNode()) {
                const text = texts.currentNode;
                for (const {index} of text.data.matchAll(/[，。：；？！、）》”’,.;:?!)]/g)) {
                  range.setStart(text, index);
                  range.setEnd(text, index + 1);
                  const [box] = range.getClientRects();
                  if (box?.width && box.left < left + 3) found.push(text.data.slice(index));
                }
              }
              return found;
            })"""
        )
        assert not begun, f"{name}: {begun[:3]}"
