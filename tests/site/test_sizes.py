"""How much a reader of a lesson has to load, as a web server sends it: gzipped."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from statistics import median

import pytest

from scripts import figure_files, measure_pages
from tests.site.conftest import collected
from tokpos import results

KIB = 1024
PAGE, WITH_FIGURES, STYLES_AND_SCRIPTS = 60 * KIB, 200 * KIB, 120 * KIB

_FIGURE = re.compile(r'<svg [^>]*role="img".*?</svg>', re.DOTALL)
_DATA = re.compile(r'<template class="data">.*?</template>', re.DOTALL)
_SHEET = re.compile(r'<link rel="stylesheet" href="([^"]+)"')
_SCRIPT = re.compile(r"<script src=[^>]*>")
_LOADED = re.compile(r'<(?:link rel="stylesheet" href|script[^>]* (?:data-)?src)="([^"?]+)')


def gzipped(text: bytes) -> int:
    return len(gzip.compress(text, mtime=0))


@pytest.mark.parametrize("language", ["", "zh/"])
def test_a_lesson_is_light(site: Path, paths: list[str], language: str) -> None:
    """The page, the page with its figures, and its styles and scripts; no data of widgets."""
    pages = [site / path for path in paths if path.startswith(f"{language}lessons/")]
    assert len(pages) >= 14
    with collected() as problems:
        for page in pages:
            html = _DATA.sub("", page.read_text(encoding="utf-8"))
            bare = _FIGURE.sub("", html)
            files = sum(gzipped(path.read_bytes()) for path in figure_files.of(page))
            loaded = [(page.parent / name).read_bytes() for name in _LOADED.findall(html)]
            assert len(loaded) >= 7
            for what, size, limit in (
                ("the page without its figures", gzipped(bare.encode()), PAGE),
                ("the page with all its figures", gzipped(html.encode()) + files, WITH_FIGURES),
                ("styles and scripts", sum(map(gzipped, loaded)), STYLES_AND_SCRIPTS),
            ):
                if size > limit:
                    problems.append(f"{page.stem}: {what}: {size / KIB:.1f} KiB of {limit // KIB}")


def test_a_page_is_drawn_after_one_style_sheet_and_before_any_script(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if "404" not in path.name]
    with collected() as problems:
        for page in pages:
            address = page.relative_to(site).as_posix()
            html = page.read_text(encoding="utf-8")
            head, _, _ = html.partition("</head>")
            sheets = [name.rpartition("/")[2] for name in _SHEET.findall(head)]
            expected = ["site.css", "_mkdocstrings.css"] if "api/" in address else ["site.css"]
            if sheets != expected:
                problems.append(f"{address}: its style sheets are {sheets}")
            problems += [
                f"{address}: {script}" for script in _SCRIPT.findall(html) if "defer" not in script
            ]


@pytest.mark.parametrize("language", measure_pages.FOLDERS)
def test_the_weights_that_the_readme_names_are_still_so(site: Path, language: str) -> None:
    """Within a tenth: other words and drawings change them a little all the time."""
    now = measure_pages.weights(site / measure_pages.FOLDERS[language])
    kept = results.load("pages").data[language]["site"]
    for part, what in enumerate(("pages", "styles and scripts")):
        weighed, named = (median(each[part] for each in of.values()) for of in (now, kept))
        assert weighed == pytest.approx(named, rel=0.1), (
            f"{what}: python -m scripts.measure_pages, then make readme"
        )
