"""The reference shows what each figure draws, made once and kept like a lesson's result."""

from __future__ import annotations

import subprocess

import pytest

from tests.build.tiny_site import TinySite

FIGURES = '''\
"""Figures."""

from pack import VALUE


class Figure:
    def _repr_mimebundle_(self, include=None, exclude=None):
        drawn = {
            language: {"image/svg+xml": f'<svg data-figure="dot"><!--{language} {VALUE}--></svg>'}
            for language in ("en", "zh")
        }
        return {"application/vnd.tokpos.languages+json": drawn, "text/plain": "a dot"}


def dot() -> Figure:
    """A dot.

    Returns
    -------
    Figure
        A figure named ``dot``.
    """
    return Figure()


def gallery() -> list[Figure]:
    """All."""
    return [dot()]
'''
PACKAGE = '"""The pack.\n\n`pack.figures.dot`\n"""\n\nVALUE = 7\n"""A value."""\n'


@pytest.fixture
def site(tmp_path) -> TinySite:
    site = TinySite(tmp_path)
    site.write("src/pack/figures.py", FIGURES)
    site.write("src/pack/__init__.py", PACKAGE)
    catalogue = "docs/translations/zh.po"
    texts = {"Figures.": "插图。", "A dot.": "一个点。", "All.": "全部。"}
    texts["A figure named ``dot``."] = "名为 ``dot`` 的图。"
    entries = "".join(f'\nmsgid "{ours}"\nmsgstr "{theirs}"\n' for ours, theirs in texts.items())
    site.write(catalogue, (site.root / catalogue).read_text(encoding="utf-8") + entries)
    shows = "            - scripts.drawings.ShowDrawings: {}\n"
    site.edit(
        "mkdocs.yml",
        "          docstring_style",
        f"          extensions:\n{shows}          docstring_style",
    )
    translates = "{catalogue: docs/translations/zh.po}\n"
    site.edit("mkdocs.zh.yml", translates, translates + shows)
    return site


def built(done: subprocess.CompletedProcess) -> str:
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_drawing_stands_at_its_function_and_where_a_docstring_asks_for_it(site: TinySite) -> None:
    assert "Lesson api/figures ran" in built(site.build())
    for folder, language in (("", "en"), ("zh/", "zh")):
        drawing = f'<div class="drawing"><svg data-figure="dot"><!--{language} 7--></svg></div>'
        assert site.page(f"{folder}api/figures.html").count(drawing) == 1
        assert site.page(f"{folder}api/pack.html").count(drawing) == 1
    assert "nothing to run" in built(site.build())
    site.edit("src/pack/__init__.py", "VALUE = 7", "VALUE = 8")
    assert "Lesson api/figures ran" in built(site.build())
    assert "<!--en 8-->" in site.page("api/figures.html")


def test_a_gallery_that_raises_fails_the_build_with_its_place(site: TinySite) -> None:
    site.edit("src/pack/figures.py", "return [dot()]", "return [1 / 0]")
    done = site.build()
    assert done.returncode and "src/pack/figures.py:26:" in done.stdout
    assert "ZeroDivisionError" in done.stdout


def test_a_figure_that_no_gallery_draws_fails_the_build(site: TinySite) -> None:
    site.edit("src/pack/figures.py", "return [dot()]", "return []")
    done = site.build()
    assert (
        done.returncode and "pack.figures.dot: its module's gallery does not draw it" in done.stdout
    )


def test_a_docstring_that_asks_for_what_draws_nothing_fails_the_build(site: TinySite) -> None:
    site.edit("src/pack/__init__.py", "`pack.figures.dot`", "`pack.figures.dots`")
    done = site.build()
    assert done.returncode and "src/pack/__init__.py:3: " in done.stdout
    assert "`pack.figures.dots` draws no figure" in done.stdout
