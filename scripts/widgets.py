"""A widget in a lesson: a figure that can be touched, what to try with it, what was seen.

In a lesson it is a prose cell with the role `widget` after a figure:

    # %% [markdown] lang="en" role="widget"
    # `lookup` {{ table_as_json }}
    #
    # Choose another word.
    #
    # ---
    #
    # The product has the numbers of the row.

The first line names the widget, docs/assets/widgets/NAME.js, and may compute its data, as JSON.
Right after the code cell that draws the figure, the widget takes its place; after the caption it
stands below it. Without JavaScript the figure is there and no widget.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts.lesson import EXPRESSION, Lesson, Problem

SCRIPTS = Path(__file__).parent.parent / "docs/assets/widgets"

_FIRST = re.compile(r"`([\w-]+)`(?: (\{\{ .+? \}\}))?$")
_USED = re.compile(r'<div [^>]*data-widget="([\w-]+)"')


def names() -> list[str]:
    return sorted(path.stem for path in SCRIPTS.glob("*.js") if path.stem != "shared")


def check_form(lesson: Lesson) -> list[Problem]:
    """What is wrong with how the widgets of a lesson are written."""
    return [
        Problem(lesson.shown_path, text.line, fault, text.cell, language)
        for block in lesson.prose
        if block.role == "widget"
        for language, text in block.texts.items()
        for fault in _faults(text.source)
    ]


def check_words(lesson: Lesson, words: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    """Widgets of a lesson without a title among the words of a language."""
    return [
        Problem(
            f"docs/translations/{language}.yml",
            1,
            f"no `widgets.{match[1]}.title`, for the widget of {lesson.shown_path}:{text.line}",
            language=language,
        )
        for block in lesson.prose
        if block.role == "widget"
        for language, text in block.texts.items()
        if (match := _FIRST.match(text.source.split("\n", 1)[0]))
        and "title" not in words[language].get("widgets", {}).get(match[1], {})
    ]


def _faults(source: str) -> list[str]:
    first, *_ = source.split("\n", 1)
    match = _FIRST.match(first)
    if not match:
        return ["a widget begins with its name, as code, and perhaps `{{ data }}`"]
    if match[1] not in names():
        return [f"no widget {match[1]!r}; there are {', '.join(names())}"]
    if len([part for part in _parts(source) if part]) != 2:
        return ["a widget says what to try, `---`, and what was seen"]
    return []


def _parts(source: str) -> list[str]:
    """What to try, and what was seen."""
    _, _, text = source.partition("\n")
    return [part.strip() for part in text.split("\n---\n")]


def on_page(
    source: str, text: str, values: Mapping[str, str], words: Mapping[str, Any], still: str
) -> str:
    """The widget as Markdown: `source` is its cell as written, `text` with what was computed."""
    match = _FIRST.match(source.split("\n", 1)[0])
    assert match
    name, data = match[1], "null"
    if match[2]:
        (expression,) = EXPRESSION.findall(match[2])
        data = values.get(expression, "null")
    own = {**words["widgets"]["all"], **words["widgets"][name]}
    texts = json.dumps(own, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    templates = "".join(
        f'<template class="{kind}">{html.escape(content, quote=False)}</template>'
        for kind, content in (("words", texts), ("data", data))
    )
    to_try, seen = _parts(text)
    title = html.escape(own["title"])
    return "\n\n".join([
        f'<div class="widget" id="widget-{name}" role="group" aria-label="{title}"'
        f' data-widget="{name}"{"" if still else " hidden"} markdown="1">',
        f'<div class="tp-try" markdown="1">\n\n{to_try}\n\n</div>',
        f'<div class="tp-still" markdown="1">\n\n{still}\n\n</div>' if still else "",
        f'<div class="tp-data">{templates}</div>',
        f'<div class="tp-seen" markdown="1">\n\n{seen}\n\n</div>',
        "</div>",
    ])  # fmt: skip


def with_scripts(page: str, url: str) -> str:
    """The HTML of a page with the scripts of its widgets at its end."""
    used = list(dict.fromkeys(_USED.findall(page)))
    if not used:
        return page
    assets = posixpath.relpath("assets", posixpath.dirname(url) or ".")
    page = page.replace(' data-widget="', f' data-folder="{assets}/widgets/" data-widget="')
    scripts = "".join(
        f'<script src="{assets}/widgets/{name}.js" defer></script>' for name in ("shared", *used)
    )
    return page + scripts


def data_script(name: str, path: Path) -> str:
    """The script that brings the lines of a data file, to pages that are files as well."""
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    if lines[0].startswith("#version"):
        del lines[0]
    text = json.dumps("\n".join(lines), ensure_ascii=False)
    return f"window.tokpos.data.{name} = {text};\n"
