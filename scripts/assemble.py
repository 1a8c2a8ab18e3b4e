"""From a lesson and its result to the Markdown page and the notebook of one language."""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any

from scripts import quiz, widgets
from scripts.execute import Result
from scripts.lesson import EXPRESSION, Block, Code, Lesson, Problem, Prose
from scripts.plain import Links, fence, outside_code, quote, simplify

LANGUAGES = "application/vnd.tokpos.languages+json"  # one MIME bundle for each language
SVG, MARKDOWN, PLAIN = "image/svg+xml", "text/markdown", "text/plain"
# The end of a text with an answer that is folded, or what has been put into the answer since.
_FOLDED = re.compile(r"(?:^\?\?\? .*\n|\A(?= {4}))(?:(?: {4}.*)?\n)*(?: {4}.*)?\Z", re.M)
PAGE_LINK = re.compile(r"(\]\([\w./-]+)\.md(#[\w-]+)?\)")

MINUS = re.compile(r"(?<![\w.])-(?=\d)")
# What Markdown would take as its own in a computed word.
MARKS = {ord(mark): f"&#{ord(mark)};" for mark in "&<>*_`|$"}

Words = Mapping[str, str]  # the site's own words in one language


def page(
    lesson: Lesson,
    result: Result,
    language: str,
    words: Words,
    pages: set[str],
    problems: Sequence[Problem] = (),
    on_top: bool = False,
) -> str:
    """The lesson in `language` as Markdown; problems are shown at their cells, or all on top.

    What follows a text that ends with a folded answer belongs to the answer, and is folded too.
    """
    here = [p for p in problems if not on_top and any(_belongs(p, b) for b in lesson.blocks)]
    parts = [_error(problem, words) for problem in problems if problem not in here]
    shown: list[str] = []  # what the last code cell has put out

    def add(part: str) -> None:
        if parts and _FOLDED.search(parts[-1]):
            part = _indented(part)
        parts.append(part)

    def written(block: Prose) -> str:
        return link(prose(block, result.get(block.cell, {}), language), lesson.name, pages)

    for block, after in zip(lesson.blocks, [*lesson.blocks[1:], None], strict=True):
        parts += [_error(problem, words) for problem in here if _belongs(problem, block)]
        if isinstance(block, Code):
            caption = ""
            if isinstance(after, Prose) and after.role == "caption":
                caption = written(after)
            if not block.hide:
                add(fence(block.source, "python"))
            outputs = result.get(block.cell, {}).get("outputs", [])
            shown = [_output(output, language, caption) for output in outputs]
            if not _is_widget(after):
                for each in shown:
                    add(each)
                shown = []
        elif block.role == "claim":
            add(_note(written(block), words))
        elif block.role == "quiz":
            parts.append(quiz.on_page(written(block), words))
        elif block.role == "widget":
            source = block.texts[language].source
            values = result.get(block.cell, {}).get("values", {})
            still, shown = "\n\n".join(shown), []
            parts.append(widgets.on_page(source, written(block), values, words, still))
        elif block.role == "text":
            parts.append(written(block))
    text = "\n\n".join(part for part in parts if part) + "\n"
    return _with_download(text, lesson, words) if "/" in lesson.name else text


def _is_widget(block: Block | None) -> bool:
    return isinstance(block, Prose) and block.role == "widget"


def _with_download(text: str, lesson: Lesson, words: Words) -> str:
    """The page with the way to its notebook under its title."""
    file = f"{lesson.path.stem}.ipynb"
    way = f'<a class="notebook" href="{file}" download>{words["notebook"]}</a>'
    way = f'<p class="notebook">{way}</p>'
    return re.sub(r"^# .*$", lambda match: f"{match[0]}\n\n{way}", text, count=1, flags=re.M)


def reference(entries: list[str], words: Words) -> str:
    """A line with the entries of the reference that a lesson uses."""
    if not entries:
        return ""
    names = words["comma"].join(f"[`{entry.rpartition('.')[2]}`][{entry}]" for entry in entries)
    return f"\n{words['in_reference'].format(names=names)}\n{{: .used-in }}\n"


def unreadable(name: str, problems: list[Problem], words: Words) -> str:
    """The page of a lesson that could not be read: its problems alone."""
    return "\n\n".join([f"# {name}", *(_error(problem, words) for problem in problems)]) + "\n"


def prose(block: Prose, done: Mapping[str, Any], language: str) -> str:
    """The text of a block with its expressions computed: as they are in code, else as words."""
    values = done.get("values", {})

    def value(match: re.Match) -> str:
        return values.get(match[1], match[0])

    def word(match: re.Match) -> str:
        return MINUS.sub("−", value(match)).translate(MARKS)

    return outside_code(
        lambda words: EXPRESSION.sub(word, words),
        block.texts[language].source,
        lambda code: EXPRESSION.sub(value, code),
    )


def description(lesson: Lesson, result: Result, language: str) -> str:
    """The first paragraph after the title, without its marks."""
    texts = (prose(block, result.get(block.cell, {}), language) for block in lesson.prose)
    return next(filter(None, map(opening, texts)), "")


def opening(text: str) -> str:
    """The first paragraph of a Markdown text that is no heading, without its marks."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if not paragraph.startswith("#"):
            plain = re.sub(r"\[([^\]]*)\][(\[][^)\]]*[)\]]|<span[^>]*></span>", r"\1", paragraph)
            return html.unescape(" ".join(re.sub(r"[`*$]", "", plain).split()))
    return ""


def link(text: str, name: str, pages: set[str]) -> str:
    """The text of page `name` with its links to lessons, which MkDocs knows by their notebooks."""
    folder = posixpath.dirname(name)

    def target(match: re.Match) -> str:
        if posixpath.normpath(posixpath.join(folder, match[1][2:])) in pages:
            return f"{match[1]}.ipynb{match[2] or ''})"
        return match[0]

    return PAGE_LINK.sub(target, text)


def bundle(data: Mapping[str, Any], language: str) -> Mapping[str, Any]:
    """What an object shows in `language`: its own bundle, or the one that all languages share."""
    return data.get(LANGUAGES, {}).get(language, data)


def check_languages(lesson: Lesson, result: Result, languages: Sequence[str]) -> list[Problem]:
    """The cells that show something in some languages and not in all of the site's."""
    problems = []
    for block in lesson.code:
        shown = [output.get("data", {}) for output in result.get(block.cell, {}).get("outputs", [])]
        for language in languages:
            if any(language not in data.get(LANGUAGES, languages) for data in shown):
                message = f"what this cell shows has no `{language}`"
                problems.append(
                    Problem(lesson.shown_path, block.line, message, block.cell, language)
                )
    return problems


def _belongs(problem: Problem, block: Code | Prose) -> bool:
    if isinstance(block, Prose):
        return problem.cell in {text.cell for text in block.texts.values()}
    return problem.cell == block.cell


def _note(text: str, words: Words) -> str:
    return f'!!! checked "{words["checked"]}"\n\n' + _indented(text)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def _error(problem: Problem, words: Words) -> str:
    return f'!!! build-error "{words["build_error"]}"\n\n' + _indented(fence(str(problem), "text"))


def error_html(problem: Problem, words: Words) -> str:
    """The same for a page that is HTML already."""
    title, text = html.escape(words["build_error"]), html.escape(str(problem))
    return (
        '<div class="admonition build-error">'
        f'<p class="admonition-title">{title}</p><pre>{text}</pre></div>'
    )


def _output(output: dict, language: str, caption: str) -> str:
    kind = output["output_type"]
    if kind == "stream":
        style = "warned" if output["name"] == "stderr" else "printed"
        return fence(output["text"], f"{{ .text .output .{style} .no-copy }}")
    if kind == "error":
        return fence(output["traceback"][0], "{ .text .output .raised .no-copy }")
    data = bundle(output["data"], language)
    if SVG in data:
        return _figure(data[SVG], caption)
    if MARKDOWN in data:
        return data[MARKDOWN]
    return fence(data[PLAIN], "{ .text .output .no-copy }")


def _figure(svg: str, caption: str) -> str:
    drawing = f'<div class="drawing">{svg.strip()}</div>'
    if not caption:
        return drawing
    return f"{drawing}\n/// caption\n    attrs: {{class: drawing}}\n\n{caption}\n///"


# The notebook

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def _dump(cells: list[dict]) -> str:
    content = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


EMPTY_NOTEBOOK = _dump([])


def notebook(
    lesson: Lesson,
    result: Result,
    language: str,
    words: Words,
    pages: set[str],
    colors: Mapping[str, str],
    setup: str = "",
) -> str:
    """The lesson in `language` as a notebook with its outputs, that runs in Jupyter as it is.

    `colors` gives the value of each CSS variable that pictures use, since a notebook has no style
    sheet; `setup` is code to run first.
    """
    cells = []
    links = between_notebooks(lesson.name, pages)
    if setup:
        cells.append(_notebook_code("setup", setup, [], {}))
    for block in lesson.blocks:
        name, done = f"cell-{block.cell}", result.get(block.cell, {})
        if _is_widget(block):
            continue
        if isinstance(block, Prose):
            text = plainly(block, done, language, words, links)
            cells.append({"cell_type": "markdown", "id": name, "metadata": {}, "source": text})
            continue
        metadata: dict[str, Any] = {"tags": ["raises-exception"]} if block.raises else {}
        if block.hide:
            metadata["jupyter"] = {"source_hidden": True}
        outputs = [_notebook_output(o, language, colors) for o in done.get("outputs", [])]
        cells.append(_notebook_code(name, block.source, outputs, metadata))
    return _dump(cells)


def between_notebooks(name: str, pages: set[str]) -> Links:
    """A link to another lesson leads to its notebook; one to a page without a notebook nowhere."""
    folder = posixpath.dirname(name)

    def page(path: str, place: str) -> str | None:
        known = posixpath.normpath(posixpath.join(folder, path)) in pages
        return f"{path}.ipynb{place}" if known else None

    return Links(page, lambda entry: None, places=True)


def plainly(
    block: Prose, done: Mapping[str, Any], language: str, words: Words, links: Links
) -> str:
    """The text of a block in plain Markdown."""
    text = simplify(prose(block, done, language), links)
    if block.role == "claim":
        return quote(words["checked"], text)
    return quiz.in_notebook(text, words) if block.role == "quiz" else text


def _notebook_code(name: str, source: str, outputs: list[dict], metadata: dict) -> dict:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": metadata,
        "outputs": outputs,
        "source": source,
    }


def _notebook_output(output: dict, language: str, colors: Mapping[str, str]) -> dict:
    if "data" not in output:
        return output
    more = {"execution_count": None} if output["output_type"] == "execute_result" else {}
    data = dict(bundle(output["data"], language))
    if SVG in data and LANGUAGES in output["data"]:
        data[SVG] = standalone(data[SVG], colors)
    return {**output, **more, "data": data}


def standalone(svg: str, colors: Mapping[str, str]) -> str:
    """A picture of the site with its colors written out, on paper, for places without CSS."""
    svg = re.sub(r"<image [^>]*\btp-only-dark\b[^>]*/>\n?", "", svg)
    svg = re.sub(r"var\((--[\w-]+)\)", lambda match: colors[match[1]], svg)
    paper = f'style="background: {colors["--tp-paper"]}; color: {colors["--tp-ink"]}"'
    return svg.replace("<svg ", f"<svg {paper} ", 1)
