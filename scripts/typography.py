"""How the words of each language are set: punctuation, quotes, and the space between scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from scripts.lesson import Problem
from scripts.markup import OPAQUE, Words
from scripts.passages import Passage

Fault = tuple[int, str]  # where in the words, and what is wrong

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
LATIN = rf"A-Za-z0-9\u00c0-\u024f{OPAQUE}"
FULL_WIDTH = dict(zip(",.:;?!()", "，。：；？！（）", strict=True))

_AFTER_HAN = re.compile(
    rf"(?<=[{HAN}）”’》])([,:;?!]|\.+(?![A-Za-z0-9.]))|(?<=[{HAN}])[ \t]+([,;?!]|\.+)(?![\w.])"
)
_BEFORE_HAN = re.compile(rf"[,:;?!.](?=[{HAN}])|[,:;](?=[ \t]+[{HAN}])")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_NO_SPACE = re.compile(rf"[{HAN}](?=[{LATIN}])|[{LATIN}](?=[{HAN}])")
_NEEDLESS_SPACE = re.compile(r"[ \t](?=[，。：；？！、（）])|(?<=[，。：；？！、（）])[ \t]+(?=\S)")
_BROKEN_LINE = re.compile(rf"(?<=[{HAN}，。：；？！、）”])\n(?=[{HAN}（“])")
_HAN = re.compile(rf"[{HAN}]")
_SINGLE_QUOTED = re.compile(rf"(?<![A-Za-z])'[^'\n]*[{HAN}][^'\n]*'(?![A-Za-z])")


def check(passage: Passage) -> list[Problem]:
    problems = []
    for words in passage.markup.words:
        for rule in (*RULES[""], *RULES.get(passage.language, ())):
            for index, message in rule(words):
                message = f"{message}: `{_around(words.text, index)}`"
                problems.append(passage.problem(message, words.offset_at(index)))
    return problems


def _around(text: str, index: int) -> str:
    """A few characters on each side; `…` stands for code, a formula, an expression."""
    start, end = max(0, index - 8), min(len(text), index + 10)
    return re.sub(rf"[{OPAQUE}]", "…", text[start:end]).replace("\n", " ").strip()


def _heading_stop(words: Words) -> Iterator[Fault]:
    text = words.text.rstrip()
    if words.kind == "heading" and text.endswith((".", "。", "．")):
        yield len(text) - 1, "a heading ends without a full stop"


def _half_width(words: Words) -> Iterator[Fault]:
    found: dict[int, str] = {}
    for match in _AFTER_HAN.finditer(words.text):
        found[match.end() - len(match.group().strip())] = match.group().strip()
    for match in _BEFORE_HAN.finditer(words.text):
        found[match.start()] = match.group()
    for index, mark in sorted(found.items()):
        right = "……" if mark.startswith("..") else FULL_WIDTH[mark[0]]
        yield index, f"half-width `{mark}` in Chinese text, where `{right}` belongs"


def _half_width_brackets(words: Words) -> Iterator[Fault]:
    text = words.text
    for match in _BRACKETS.finditer(text):
        before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip()
        call = match.start() > 0 and re.match(r"\w", text[match.start() - 1], re.ASCII)
        beside = _HAN.match(before[-1:]) or (_HAN.match(after[:1]) and not call)
        if _HAN.search(match[1]) or beside:
            yield match.start(), "half-width brackets in Chinese text, where `（）` belong"


def _spaces(words: Words) -> Iterator[Fault]:
    for match in _NO_SPACE.finditer(words.text):
        yield match.start(), "no space between Chinese and Latin letters, digits, code or formula"
    for match in _NEEDLESS_SPACE.finditer(words.text):
        yield match.start(), "a space beside full-width punctuation"
    for match in _BROKEN_LINE.finditer(words.text):
        yield match.start(), "a line break between Chinese characters, which shows as a space"


def _quotes(words: Words) -> Iterator[Fault]:
    pieces = words.text.split('"')
    index = 0
    for number, piece in enumerate(pieces):
        closed = number + 1 < len(pieces)
        if number % 2 and closed and _HAN.search(piece):
            yield index - 1, "straight quotes around Chinese text, where `“”` belong"
        index += len(piece) + 1
    for match in _SINGLE_QUOTED.finditer(words.text):
        yield match.start(), "straight quotes around Chinese text, where `‘’` belong"


def _polite(words: Words) -> Iterator[Fault]:
    for match in re.finditer("您", words.text):
        yield match.start(), "the reader is 你, not 您"


# By language; "" holds what all languages keep.
RULES: dict[str, tuple[Callable[[Words], Iterator[Fault]], ...]] = {
    "": (_heading_stop,),
    "zh": (_half_width, _half_width_brackets, _spaces, _quotes, _polite),
}
