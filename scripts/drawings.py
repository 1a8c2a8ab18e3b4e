"""The drawings of the reference: what each function of the package's figures draws.

The `gallery()` of every module of figures is run like a lesson of one cell, and kept like one. A
figure carries its name, and the docstring of the function that makes it says that name, or how it
begins ("named ``growth-`` and the unit"): so each drawing finds its entry. It stands there, and
wherever a docstring gives the function's full name in single backticks as a paragraph of its own.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

from scripts import api
from scripts.assemble import LANGUAGES, SVG
from scripts.execute import Result
from scripts.lesson import Code, Lesson
from scripts.translations import Place

PLACE = re.compile(r'<div class="drawing" data-of="([\w.]+)"></div>')
_NAMED = re.compile(r"\bnamed ``([\w-]+)``")
_ALONE = re.compile(r"(?<![^\n]\n)^`([\w.]+)`$(?!\n[^\n])", re.MULTILINE)
_CARRIED = re.compile(r'<svg [^>]*data-figure="([\w-]+)"')

Drawings = dict[str, dict[str, list[str]]]  # of a function's path, for each language, the SVGs

log = logging.getLogger("mkdocs.scripts.drawings")


def galleries(package: griffe.Module) -> list[Lesson]:
    """A lesson of one cell for every module with a gallery."""
    found = []
    for module in api.modules(package):
        if "gallery" not in module.functions or module.is_init_module:
            continue  # a package's own gallery repeats those of its modules
        source = f"from {module.path} import gallery; display(*gallery())"
        cell = Code(source, module.functions["gallery"].lineno or 1, 1, hide=True)
        address = api.page_of(module).removesuffix(".md")
        shown = module.relative_filepath.as_posix()
        found.append(Lesson(Path(str(module.filepath)), address, shown, (cell,)))
    return found


def of(package: griffe.Module, results: list[Result]) -> Drawings:
    """The drawings that the galleries made, by the functions that draw them."""
    makers = dict(_makers(package))
    drawn: Drawings = {}
    for result in results:
        for output in result.get(1, {}).get("outputs", []):
            for language, bundle in output.get("data", {}).get(LANGUAGES, {}).items():
                carried = _CARRIED.match(bundle[SVG])
                if carried and (maker := _maker(carried[1], makers)):
                    drawn.setdefault(maker, {}).setdefault(language, []).append(bundle[SVG])
    return drawn


def _maker(figure: str, makers: dict[str, str]) -> str | None:
    begins = [name for name in makers if name.endswith("-") and figure.startswith(name)]
    return makers.get(figure) or (makers[max(begins, key=len)] if begins else None)


def _makers(package: griffe.Module) -> Iterator[tuple[str, str]]:
    """The name of each figure and the path of the function that makes it."""
    for entry in map(api.final, api.walk(package)):
        module = entry.parent
        if module and "gallery" in module.members and entry.is_function and entry.docstring:
            if match := _NAMED.search(entry.docstring.value):
                yield match[1], entry.path


class ShowDrawings(griffe.Extension):
    """Keeps a place for each drawing; the finished page takes it in."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        makers = {path for _, path in _makers(pkg)}

        for entry in map(api.final, api.walk(pkg)):
            if not entry.docstring:
                continue
            sections = entry.docstring.parsed
            text = Place(entry, "text")

            def show(found: re.Match[str], text: Place = text) -> str:
                if found[1] in makers:
                    return _place(found[1])
                log.warning(str(text.problem(found[0], f"{found[0]} draws no figure")))
                return found[0]

            for section in sections:
                if isinstance(section, griffe.DocstringSectionText):
                    section.value = _ALONE.sub(show, section.value)
            if entry.path in makers:
                sections.insert(1, griffe.DocstringSectionText(_place(entry.path)))


def _place(path: str) -> str:
    return f'<div class="drawing" data-of="{path}"></div>'


def put(page: str, drawings: Drawings, language: str) -> str:
    """A finished page with its drawings in their places."""

    def draw(match: re.Match[str]) -> str:
        found = drawings.get(match[1], {}).get(language, [])
        if not found:
            log.warning(f"{match[1]}: its module's gallery does not draw it in language {language}")
        return "".join(f'<div class="drawing">{drawing.strip()}</div>' for drawing in found)

    return PLACE.sub(draw, page)
