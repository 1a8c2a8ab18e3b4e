"""The reference as plain Markdown: signatures, and the docstrings in the language of the site."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import griffe

from scripts import api, catalogue, drawings, page_text
from scripts.plain import fence
from scripts.translations import Place, rewritten

_QUOTED = re.compile(r"'([^'\"]*)'")
_ALTERNATIVE = re.compile(r'aria-label="([^"]*)"')


class Reference:
    """The pages of the reference in one language."""

    def __init__(
        self,
        package: griffe.Module,
        texts: api.Words,
        words: Mapping[str, Any],
        drawn: drawings.Drawings,
        language: str,
    ):
        self.package = package
        self.texts = texts
        self.words = words
        self.drawn = drawn
        self.language = language

    def page(self, module: griffe.Module) -> str:
        return self._joined(self._module(module))

    def overview(self) -> str:
        return self._joined(self._overview())

    def _joined(self, parts: Iterator[str]) -> str:
        return "\n\n".join(part for part in parts if part) + "\n"

    def _overview(self) -> Iterator[str]:
        yield f"# {self.texts.title}"
        yield from self._docstring(self.package)
        for module in api.modules(self.package):
            file = api.page_of(module).rpartition("/")[2]
            yield f"## [`{module.path}`]({file})"
            yield self.texts.summary(module)
            yield "\n".join(
                f"- `{entry.name}` – {self.texts.summary(entry)}" for entry in api.entries(module)
            )

    def _module(self, module: griffe.Module) -> Iterator[str]:
        yield f"# `{module.path}`"
        yield from self._docstring(module)
        for entry in api.entries(module):
            target = api.final(entry)
            yield from self._entry(entry.path, target, "##")
            if isinstance(target, griffe.Class):
                for member in api.entries(target):
                    yield from self._entry(member.path, api.final(member), "###")

    def _entry(self, path: str, entry: griffe.Object, heading: str) -> Iterator[str]:
        if not entry.docstring:
            return  # the reference leaves it out too
        yield f"{heading} `{path}`"
        yield fence(_signature(entry), "python")
        yield from self._docstring(entry)
        if entry.is_class and "__init__" in entry.members:
            yield from self._docstring(api.final(entry.members["__init__"]))

    def _docstring(self, entry: griffe.Object) -> Iterator[str]:
        sections = entry.docstring.parsed if entry.docstring else []
        for number, section in enumerate(sections):
            yield from self._section(section, entry)
            if number == 0:
                yield from self._figures(entry.path)

    def _section(self, section: griffe.DocstringSection, entry: griffe.Object) -> Iterator[str]:
        kind, value = section.kind.value, section.value
        if isinstance(section, griffe.DocstringSectionAdmonition):
            yield f"**{self._translated(section.title or '', entry)}**"
            yield self._translated(value.description, entry)
        elif isinstance(value, str):
            yield self._text(value, entry)
        else:
            yield f"**{self.words['machines']['sections'][kind]}**"
            if isinstance(section, griffe.DocstringSectionExamples):
                for part, text in value:
                    plain = part is griffe.DocstringSectionKind.text
                    yield self._translated(text, entry) if plain else fence(text, "pycon")
            else:
                yield "\n".join(self._item(element, entry) for element in value)

    def _text(self, text: str, entry: griffe.Object) -> str:
        """A text in which the full name of a figure's function alone is that figure."""
        parts = re.split(r"\n\n+", self._translated(text, entry))
        shown = [list(self._figures(part.strip("`"))) or [part] for part in parts]
        return "\n\n".join(part for parts in shown for part in parts)

    def _figures(self, path: str) -> Iterator[str]:
        for svg in self.drawn.get(path, {}).get(self.language, []):
            if found := _ALTERNATIVE.search(svg):
                yield page_text.figure(html.unescape(found[1]), self.words)

    def _item(self, element: Any, entry: griffe.Object) -> str:
        told = textwrap.indent(self._translated(element.description, entry), "  ").strip()
        called = ": ".join(
            str(each) for each in (getattr(element, "name", ""), element.annotation) if each
        )
        return f"- `{_double_quoted(called)}` – {told}"

    def _translated(self, text: str, entry: griffe.Object) -> str:
        def change(place: Place, passage: str) -> str:
            return catalogue.translation(self.texts.docstrings, passage) or passage

        return rewritten(text, Place(entry, ""), change)


def _signature(entry: griffe.Object) -> str:
    if isinstance(entry, griffe.Function | griffe.Class):
        return _double_quoted(entry.signature())
    assert isinstance(entry, griffe.Attribute)
    kind = f": {entry.annotation}" if entry.annotation else ""
    value = f" = {entry.value}" if entry.value else ""
    return _double_quoted(f"{entry.name}{kind}{value}")


def _double_quoted(code: str) -> str:
    """Code with the quotes of the source, which griffe does not keep."""
    return _QUOTED.sub(r'"\1"', code)
