"""The docstrings in another language: a gettext catalogue and what puts its texts in place.

A docstring is cut into passages: a paragraph, an item of a list, the description of a parameter.
Each is one entry of the catalogue, its lines joined, so that wrapping a line anew changes
nothing. Code blocks and displayed formulas are left as they are. One passage without a
translation is a warning that says where it stands, and so fails a strict build.

    python -m scripts.translations

brings the catalogue of every language but the first up to date with the sources, and begins those
that are not there yet: new passages come in empty, those that are gone leave, and where the text
of a place has changed the old translation stays, marked fuzzy, until somebody has looked at it.
"""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import griffe
from babel.messages.catalog import Catalog

from scripts import api, catalogue
from scripts.lesson import Problem
from scripts.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parent.parent

_FENCE = re.compile(r" *(```|~~~)")
_AS_IT_IS = re.compile(r" *(```|~~~|>>>|\$\$)| {4}|`[\w.]+`$")
_ITEM = re.compile(r"^ *(?:[-*+]|\d+\.) +", re.MULTILINE)

log = logging.getLogger("mkdocs.scripts.translations")


@dataclass(frozen=True)
class Place:
    """Where a passage stands: an object of the package and a part of its docstring."""

    entry: griffe.Object
    part: str  # "text", "parameters.ids", "raises.ValueError", "notes"

    def __str__(self) -> str:
        return f"{self.entry.path}/{self.part}"

    def line_of(self, passage: str) -> int:
        """The line of the source whose words begin the passage."""
        docstring = self.entry.docstring
        assert docstring
        lines = [_ITEM.sub("", line).strip() for line in docstring.lines]
        common = [len(line) if passage.startswith(line) else 0 for line in lines]
        return (docstring.lineno or 1) + common.index(max(common))

    def problem(self, passage: str, message: str, language: str | None = None) -> Problem:
        path = self.entry.relative_filepath.as_posix()
        message = f"{self.entry.path}, {self.part}: {message}"
        return Problem(path, self.line_of(passage), message, language=language)


Change = Callable[[Place, str], str]


def rewrite(entry: griffe.Object, change: Change) -> None:
    """Replace every passage of an object's docstring by what `change` makes of it."""
    if not entry.docstring:
        return
    for section in entry.docstring.parsed:
        kind = section.kind.value.replace(" ", "_")
        if isinstance(section, griffe.DocstringSectionAdmonition):
            kind = str(section.value.kind)
            section.title = rewritten(section.title, Place(entry, "title"), change)
        place = Place(entry, kind)
        if isinstance(section.value, str):
            section.value = rewritten(section.value, place, change)
        elif isinstance(section, griffe.DocstringSectionExamples):
            section.value = [
                (part, rewritten(text, place, change) if part.value == "text" else text)
                for part, text in section.value
            ]
        elif isinstance(section.value, list):
            for element in section.value:
                # What is raised has a type and no name, what is returned need not have a name.
                name = getattr(element, "name", str(element.annotation))
                where = Place(entry, f"{kind}.{name}" if name else kind)
                element.description = rewritten(element.description, where, change)
        else:
            section.value.description = rewritten(section.value.description, place, change)


def rewritten(text: str | None, place: Place, change: Change) -> str:
    blocks = []
    for block in _blocks(text or ""):
        if _AS_IT_IS.match(block):
            blocks.append(block)
            continue
        marks, pieces = [""], [block]
        if _ITEM.match(block):  # a list is one from its first line on, as for Markdown
            marks, pieces = _ITEM.findall(block), _ITEM.split(block)[1:]
        changed = [change(place, " ".join(piece.split())) for piece in pieces]
        blocks.append("\n".join(map(str.__add__, marks, changed)))
    return "\n\n".join(blocks)


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs; a fenced block is one, blank lines and all."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        if line.strip() or fenced:
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


def passages(package: griffe.Module) -> dict[str, list[str]]:
    """Every passage of the reference and the places where it stands, in the order of the source.

    The sections are read and put back unchanged.
    """
    found: dict[str, list[str]] = {}

    def note(place: Place, passage: str) -> str:
        found.setdefault(passage, []).append(str(place))
        return passage

    for entry in documented(package):
        rewrite(entry, note)
    return found


def translate(package: griffe.Module, texts: Catalog) -> list[Problem]:
    """Put the translations in place; return the places that have none."""
    missing = []

    def change(place: Place, passage: str) -> str:
        if (text := catalogue.translation(texts, passage)) is not None:
            return text
        message = texts.get(passage)
        state = "changed since it was translated" if message and message.fuzzy else "untranslated"
        missing.append(place.problem(passage, f'{state}: "{passage}"', str(texts.locale)))
        return passage

    for entry in documented(package):
        rewrite(entry, change)
    return missing


def documented(package: griffe.Module) -> Iterator[griffe.Object]:
    """Every object whose docstring the reference shows; a constructor is shown with its class."""
    for entry in map(api.final, api.walk(package)):
        yield entry
        if entry.is_class and "__init__" in entry.members:
            yield api.final(entry.members["__init__"])


class TranslateDocstrings(griffe.Extension):
    """Swaps the docstrings' texts as mkdocstrings loads the package."""

    def __init__(self, catalogue: str) -> None:
        self.path = Path(catalogue)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        for problem in translate(pkg, catalogue.read(self.path)):
            log.warning(str(problem))


def catalogues(docs: Path) -> list[Path]:
    """One for each language of the site but the first, which is that of the sources."""
    _, *others = read_yaml(docs / "site.yml")["languages"]
    return [docs / "translations" / f"{language}.po" for language in others]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Bring the catalogues up to date.")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="folder of the package")
    parser.add_argument("--package", default="tokpos")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="folder of the catalogues")
    options = parser.parse_args(arguments)
    found = passages(api.load(options.source, options.package))
    for path in catalogues(options.docs):
        texts, counts = catalogue.updated(catalogue.read(path), found)
        catalogue.write(texts, path)
        empty = sum(1 for message in texts if message.id and not message.string)
        fuzzy = sum(1 for message in texts if message.id and message.fuzzy)
        print(
            f"{path.name}: {len(found)} passages: {counts['new']} new, "
            f"{counts['changed']} changed, {counts['gone']} gone; "
            f"{empty} untranslated, {fuzzy} to look at again"
        )


if __name__ == "__main__":
    main()
