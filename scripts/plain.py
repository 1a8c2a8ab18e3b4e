"""Markdown that any reader understands: what this site alone knows is said in plain Markdown.

Notebooks and the Markdown beside each page are made of it; where their links lead is theirs to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_CODE = re.compile(r"^ *(`{3,}).*?^ *\1$|(`+).+?\2(?!`)|\$\$.+?\$\$|\$[^$\n]+?\$", re.M | re.S)
_HEADING_ID = re.compile(r"^(#+ .*?) *\{#([\w.-]+)\}$", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^\{:.*\}\n?| *\{ ?#[\w.-]+ ?\}|<span class=[^>]*></span>", re.MULTILINE)
_ENTRY_LINK = re.compile(r"\[([^\]\[]+)\]\[([^\]]*)\]")
_PAGE_LINK = re.compile(r"\[([^\]\[]+)\]\(([\w./-]+)\.md(#[\w.-]+)?\)")
_PLACE_LINK = re.compile(r"\[([^\]\[]+)\]\(#[\w.-]+\)")
_ADMONITION = re.compile(
    r'^(?:!!!|\?\?\?\+?) [\w-]+(?: "(.*)")?\n((?:(?: {4}.*)?(?:\n|\Z))+)', re.MULTILINE
)


@dataclass(frozen=True)
class Links:
    """Where links lead in one form of a page; what leads nowhere is left as its words."""

    page: Callable[[str, str], str | None]  # of a page's path without `.md`, and `#place` or ""
    entry: Callable[[str], str | None]  # of an object of the reference, by its full name
    places: bool  # whether headings keep their ids, as something to link to


def simplify(text: str, links: Links) -> str:
    """Markdown without links by name, admonitions, and ids or with ids that all renderers know."""
    kept: list[str] = []

    def keep(code: str) -> str:
        kept.append(code)
        return f"\0{len(kept) - 1}\0"

    def kept_again(words: str) -> str:
        return re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], words)

    def to_entry(match: re.Match[str]) -> str:
        target = links.entry(match[2] or kept_again(match[1]).strip("`"))
        return f"[{match[1]}]({target})" if target else match[1]

    def to_page(match: re.Match[str]) -> str:
        target = links.page(match[2], match[3] or "")
        return f"[{match[1]}]({target})" if target else match[1]

    words = outside_code(lambda words: words, text, keep)
    if links.places:
        words = _HEADING_ID.sub(r'<a id="\2"></a>\n\n\1', words)
    else:
        words = _PLACE_LINK.sub(r"\1", _ATTRIBUTES.sub("", words))
    words = _PAGE_LINK.sub(to_page, _ENTRY_LINK.sub(to_entry, words))
    return _ADMONITION.sub(
        lambda match: quote(match[1] or "", re.sub("^ {4}", "", match[2], flags=re.M)) + "\n\n",
        kept_again(words),
    )


def outside_code(
    change: Callable[[str], str], text: str, code: Callable[[str], str] = lambda code: code
) -> str:
    """Change what stands outside fences, code spans and formulas, which `code` may change."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [change(text[end : match.start()]), code(match[0])]
        end = match.end()
    return "".join([*parts, change(text[end:])])


def fence(text: str, header: str) -> str:
    """A fenced block, its fence longer than any that the text holds."""
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"^`{3,}", text, re.M))])
    return f"{ticks} {header}\n{text.rstrip()}\n{ticks}"


def quote(title: str, text: str) -> str:
    lines = [*([f"**{title}**", ""] if title else []), *text.strip().split("\n")]
    return "\n".join(f"> {line}".rstrip() for line in lines)
