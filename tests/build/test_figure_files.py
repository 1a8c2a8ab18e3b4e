"""Figures as files of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import figure_files, palette


def figure(name: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tp-figure" data-figure="{name}"'
        f' role="img" aria-label="A &lt; B" width="40" height="30">\n'
        f'<path style="fill: var(--tp-token)"/>\n</svg>'
    )


PAGE = '<svg class="icon"></svg>' + "".join(f"<div>{figure(name)}</div>" for name in "abc")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "lessons/page.html"
    path.parent.mkdir()
    path.write_text(figure_files.apart(PAGE, tmp_path, "../{}".format), encoding="utf-8")
    return path


def test_the_first_stands_in_the_page_and_the_others_are_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith(PAGE[: PAGE.index("</div>")])
    assert text.count("<svg") == 2
    first, second = figure_files.of(page)
    assert re.fullmatch(r"b-[0-9a-f]{8}\.svg", first.name) and second.name.startswith("c-")
    tag = f'<img class="tp-figure" src="../figures/{first.name}" alt="A &lt; B" width="40"'
    assert f'{tag} height="30" loading="lazy">' in text


def test_a_file_has_the_colors_that_it_uses_in_both_modes(page: Path) -> None:
    text = figure_files.of(page)[0].read_text(encoding="utf-8")
    light, dark = text.split("@media(prefers-color-scheme:dark)")
    for mode, part in (("light", light), ("dark", dark)):
        for role, value in palette.variables(mode).items():
            assert (f"{role}:{value};" in part) == (
                role in ("--tp-ink", "--tp-paper", "--tp-token")
            )


def test_another_drawing_has_another_name(page: Path) -> None:
    names = {path.name for path in figure_files.of(page)}
    site = page.parents[1]
    figure_files.apart(PAGE.replace("<path", "<path id='x'"), site, "../{}".format)
    assert len({path.name for path in (site / "figures").iterdir()} - names) == 2


def test_a_page_is_put_together_again(page: Path) -> None:
    assert figure_files.together(page).replace("\n</div>", "</div>") == PAGE


def test_a_page_without_figures_is_left_alone(tmp_path: Path) -> None:
    assert figure_files.apart("<p>", tmp_path, str) == "<p>"
    assert not list(tmp_path.iterdir())
