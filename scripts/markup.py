"""What a piece of Markdown holds: its headings, formulas, links, code, and its plain words.

markdown-it reads it, taught what the site's Markdown has besides: admonitions, tabs, footnotes,
formulas, cross-references by name (`[text][tokpos.one_hot]`) and `{{ expressions }}`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.backticks import backtick
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from scripts.lesson import EXPRESSION

# In the plain words a private character stands for what is no words: each expression has its own
# (it is put in before the Markdown is read, and may stand anywhere), code and formulas share one.
FIRST_EXPRESSION = 0xE000
CODE = "\uf8ff"
OPAQUE = "\ue000-\uf8ff"

_HEADING_ID = re.compile(r"\s*\{:?\s*(?P<attributes>[^{}]*)\}\s*$")
_ATTRIBUTES = re.compile(r"\{:?\s*[#.][^{}\n]*\}|\{:?\s*[\w-]+=[^{}\n]*\}")
_WORDS_IN_FORMULA = re.compile(r"\\text(?:bf|it|rm|tt|sf|normal)?\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_TAB = re.compile(r'(?<![^\n ])===[!+]* (?=")')  # a tab has the form of an admonition
_TAG = re.compile(r"<([A-Za-z][\w-]*)")


@dataclass(frozen=True)
class Part:
    """One thing that must be the same in all languages."""

    kind: str
    value: str
    offset: int  # in lines, from the first line of the piece


@dataclass(frozen=True)
class Words:
    """The plain words of a paragraph, a heading, a table cell: no marks, no code, no addresses."""

    text: str
    offset: int
    kind: str  # "text", "heading", "title" (of an admonition) or "alt" (of an image)

    def offset_at(self, index: int) -> int:
        return self.offset + self.text.count("\n", 0, index)


@dataclass
class Markup:
    parts: list[Part] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    shape: str = ""  # the kind of its first block

    def of(self, *kinds: str) -> list[Part]:
        return [part for part in self.parts if part.kind in kinds]


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": True}).enable("table").disable("code")
    reader.use(admon_plugin).use(deflist_plugin).use(footnote_plugin, inline=False)
    reader.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=True)
    reader.inline.ruler.at("backticks", _code_span)
    reader.inline.ruler.before("link", "cross_reference", _cross_reference)
    reader.inline.ruler.before("link", "attributes", _attribute_list)
    return reader


def _code_span(state: StateInline, silent: bool) -> bool:
    """A code span that knows how many lines it covers."""
    start, count = state.pos, len(state.tokens)
    found = backtick(state, silent)
    if len(state.tokens) > count:
        state.tokens[-1].meta["lines"] = state.src.count("\n", start, state.pos)
    return found


def _cross_reference(state: StateInline, silent: bool) -> bool:
    """`[text][target]` and `` [`target`][] ``, unless the target is defined in the page."""
    if state.src[state.pos] != "[":
        return False
    end = state.md.helpers.parseLinkLabel(state, state.pos)
    match = re.compile(r"\[([^\[\]\n]*)\]").match(state.src, end + 1) if end >= 0 else None
    if not match:
        return False
    label = state.src[state.pos + 1 : end]
    target = match[1] or label.strip("`")
    if target.upper() in state.env.get("references", {}):
        return False
    if not silent:
        token = state.push("cross_reference", "a", 0)
        token.meta["target"] = target
        maximum = state.posMax
        state.pos, state.posMax = state.pos + 1, end
        state.md.inline.tokenize(state)
        state.posMax = maximum
    state.pos = match.end()
    return True


def _attribute_list(state: StateInline, silent: bool) -> bool:
    """`{ .class #id key=value }` after a link or an image: no words."""
    match = _ATTRIBUTES.match(state.src, state.pos)
    if not match:
        return False
    if not silent:
        state.push("attribute_list", "", 0).content = match.group()
    state.pos = match.end()
    return True


_READER = _reader()


def blocks(source: str) -> list[tuple[int, int]]:
    """First and last line (exclusive) of each block at the top level.

    What the reader sees and gives no place to, such as the definitions of links, is a block too.
    """
    masked, _ = _mask(source)
    lines = masked.split("\n")
    spans: list[tuple[int, int]] = []
    end = 0
    for token in _READER.parse(masked):
        if token.level == 0 and token.map and token.map[0] >= end:
            spans += _filled(lines, end, token.map[0])
            spans.append((token.map[0], token.map[1]))
            end = token.map[1]
    return spans + _filled(lines, end, len(lines))


def _filled(lines: list[str], start: int, end: int) -> list[tuple[int, int]]:
    """The lines between two places, from the first that is not blank."""
    filled = [number for number in range(start, end) if lines[number].strip()]
    return [(filled[0], filled[-1] + 1)] if filled else []


def parse(source: str) -> Markup:
    masked, expressions = _mask(source)
    markup = Markup()
    for index, expression in enumerate(expressions):
        offset = masked.count("\n", 0, masked.index(chr(FIRST_EXPRESSION + index)))
        markup.parts.append(Part("expression", "{{ " + expression + " }}", offset))
    definitions: dict[str, Any] = {}
    tokens = _READER.parse(masked, definitions)
    for link in definitions.get("references", {}).values():
        markup.parts.append(Part("link", link["href"], link["map"][0]))
    markup.shape = _shape(tokens)
    offset, context = 0, "text"
    for number, token in enumerate(tokens):
        offset = token.map[0] if token.map else offset
        if token.type == "heading_open":
            context = "heading"
            _heading(markup, token, tokens[number + 1], offset)
        elif token.type == "admonition_title_open":
            context = "title"
        elif token.type in ("heading_close", "admonition_title_close"):
            context = "text"
        elif token.type == "inline":
            _inline(markup, token.children or [], offset, context)
        else:
            _block(markup, token, tokens[number:], offset)
    markup.parts = [
        Part(part.kind, _unmask(part.value, expressions), part.offset) for part in markup.parts
    ]
    return markup


def _mask(source: str) -> tuple[str, list[str]]:
    expressions: list[str] = []

    def replace(match: re.Match[str]) -> str:
        expressions.append(match[1])
        return chr(FIRST_EXPRESSION + len(expressions) - 1)

    return EXPRESSION.sub(replace, _TAB.sub("!!! tab ", source)), expressions


def _unmask(value: str, expressions: list[str]) -> str:
    for index, expression in enumerate(expressions):
        value = value.replace(chr(FIRST_EXPRESSION + index), "{{ " + expression + " }}")
    return value


def _shape(tokens: list[Token]) -> str:
    if not tokens:
        return ""
    kind = tokens[0].type.removesuffix("_open").replace("_", " ")
    return f"{kind} {tokens[0].tag}" if kind == "heading" else kind


def _heading(markup: Markup, token: Token, inline: Token, offset: int) -> None:
    """The level and the id; the id is no words of the heading."""
    match = _HEADING_ID.search(inline.content)
    identifier = re.search(r"#([^\s}]+)", match["attributes"]) if match else None
    value = "#" * int(token.tag[1]) + (f" {{#{identifier[1]}}}" if identifier else "")
    markup.parts.append(Part("heading", value, offset))


def _block(markup: Markup, token: Token, rest: list[Token], offset: int) -> None:
    kind, value = "", ""
    if token.type == "fence":
        kind, value = "code block", f"{token.info.strip()}\n{token.content.rstrip()}"
    elif token.type == "math_block":
        kind, value = "formula", f"$${_formula(token.content)}$$"
    elif token.type == "admonition_open":
        kind, value = "admonition", f"{token.markup} {token.info.split(chr(34))[0].strip()}"
    elif token.type == "table_open":
        table = rest[: next(i for i, t in enumerate(rest) if t.type == "table_close")]
        columns = sum(t.type == "th_open" for t in table)
        rows = sum(t.type == "tr_open" for t in table)
        kind, value = "table", f"{rows} x {columns}"
    elif token.type == "html_block":
        for tag in _TAG.findall(token.content):
            markup.parts.append(Part("HTML tag", f"<{tag.lower()}>", offset))
    if kind:
        markup.parts.append(Part(kind, value, offset))


def _inline(markup: Markup, children: list[Token], offset: int, context: str) -> None:
    text = ""

    def add(kind: str, value: str) -> None:
        markup.parts.append(Part(kind, value, offset + text.count("\n")))

    for child in children:
        if child.type == "text":
            # CommonMark leaves some marks standing between Chinese characters; they are no words.
            text += child.content.replace("**", "")
        elif child.type == "softbreak":
            text += "\n"
        elif child.type == "hardbreak":
            text += " \n"
        elif child.type == "code_inline":
            add("code span", f"`{child.content}`")
            text += CODE + "\n" * child.meta.get("lines", 0)
        elif child.type.startswith("math_inline"):
            add("formula", f"{child.markup}{_formula(child.content)}{child.markup}")
            text += CODE + "\n" * child.content.count("\n")
        elif child.type == "link_open":
            add("link", str(child.attrs["href"]))
        elif child.type == "cross_reference":
            add("link", f"[{child.meta['target']}]")
        elif child.type == "footnote_ref":
            add("footnote", f"[^{child.meta['label']}]")
        elif child.type == "image":
            add("image", str(child.attrs["src"]))
            alt = Words(child.content, offset + text.count("\n"), "alt")
            markup.words.append(alt)
        elif child.type == "html_inline":
            for tag in _TAG.findall(child.content):
                add("HTML tag", f"<{tag.lower()}>")
    markup.words.append(Words(text, offset, context))


def _formula(tex: str) -> str:
    """A formula to compare: the words in \\text{} may differ, and so may its line breaks."""
    return " ".join(_WORDS_IN_FORMULA.sub(r"\\text{}", tex).split())
