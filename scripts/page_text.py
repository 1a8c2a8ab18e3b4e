"""The Markdown beside each page, `x.md` beside `x.html`: for whoever reads without a browser.

A lesson's is made of the same blocks as its page and its notebook. Links lead from Markdown to
Markdown; a figure is its alternative text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from scripts.assemble import MARKDOWN, PLAIN, SVG, bundle, plainly
from scripts.execute import Result
from scripts.lesson import Lesson, Prose
from scripts.plain import Links, fence, outside_code, simplify

_MARK = re.compile(r"&#(\d+);")
_MARKS = re.compile(r"([\\`*_<>&$])")

Words = Mapping[str, Any]  # the site's own words in one language


def links(name: str, addresses: Mapping[str, str]) -> Links:
    """The links of page `name`; `addresses` has the page of each entry of the reference."""
    folder = posixpath.dirname(name) or "."

    def entry(path: str) -> str | None:
        address = addresses.get(path)
        return posixpath.relpath(address, folder) if address else None

    return Links(lambda path, place: f"{path}.md", entry, places=False)


def of_lesson(lesson: Lesson, result: Result, language: str, words: Words, links: Links) -> str:
    parts = []
    for block in lesson.blocks:
        done = result.get(block.cell, {})
        if isinstance(block, Prose):
            if block.role != "widget":
                parts.append(_computed(plainly(block, done, language, words, links)))
            continue
        if not block.hide:
            parts.append(fence(block.source, "python"))
        parts += [_output(output, language, words, links) for output in done.get("outputs", [])]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _computed(text: str) -> str:
    """A computed word with backslashes before its marks, easier to read than their numbers."""
    return outside_code(lambda words: _MARK.sub(lambda m: "\\" + chr(int(m[1])), words), text)


def _output(output: dict[str, Any], language: str, words: Words, links: Links) -> str:
    if output["output_type"] == "stream":
        return fence(output["text"], "text")
    if output["output_type"] == "error":
        return fence(output["traceback"][0], "text")
    data = bundle(output["data"], language)
    if SVG in data:
        return figure(data.get(PLAIN, ""), words)
    return simplify(data[MARKDOWN], links) if MARKDOWN in data else fence(data[PLAIN], "text")


def figure(alternative: str, words: Words) -> str:
    """What stands for a figure."""
    text = _MARKS.sub(r"\\\1", " ".join(alternative.split()))
    return f"*{words['machines']['figure'].format(text=text)}*"
