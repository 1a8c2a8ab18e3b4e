"""Read a lesson: one py:percent file that holds every language.

A lesson is a list of blocks. A `Code` block runs once and belongs to every language. A `Prose`
block holds one text for each language, side by side in the file.
"""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

MARKER = re.compile(r"^# %%(?P<markdown> \[markdown\])?(?P<options>.*)$")
EXPRESSION = re.compile(r"\{\{ (.+?) \}\}")
ROLES = {"text", "claim", "caption", "quiz", "widget"}
CODE_OPTIONS = {"check", "raises", "warns", "hide"}


@dataclass(frozen=True)
class Problem:
    """A fault in a lesson: where it is and what is wrong."""

    path: str
    line: int
    message: str
    cell: int | None = None
    language: str | None = None
    detail: str = ""

    def __str__(self) -> str:
        cell = f" cell {self.cell}" if self.cell is not None else ""
        language = f" ({self.language})" if self.language else ""
        detail = f"\n{self.detail}" if self.detail else ""
        place = f"{self.path}:{self.line}:{cell}{language}".removesuffix(":")
        return f"{place}: {self.message}{detail}"


class LessonError(Exception):
    """A lesson that cannot be read, run or published; holds every problem found."""

    def __init__(self, problems: list[Problem]):
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True)
class Text:
    """The prose of one language in a block; `line` is where its first line stands."""

    source: str
    line: int
    cell: int

    @cached_property
    def expressions(self) -> list[str]:
        return EXPRESSION.findall(self.source)

    def line_of(self, fragment: str) -> int:
        before = self.source.split(fragment, 1)[0] if fragment in self.source else ""
        return self.line + before.count("\n")


@dataclass(frozen=True)
class Prose:
    texts: dict[str, Text]
    role: str
    cell: int

    @property
    def line(self) -> int:
        return min(text.line for text in self.texts.values())

    @property
    def expressions(self) -> list[str]:
        """The expressions of all languages, each once, in the order in which they stand."""
        return list(dict.fromkeys(e for text in self.texts.values() for e in text.expressions))


@dataclass(frozen=True)
class Code:
    source: str
    line: int
    cell: int
    check: bool = False
    raises: str | None = None
    warns: str | None = None
    hide: bool = False


Block = Prose | Code


@dataclass(frozen=True)
class Lesson:
    path: Path
    name: str  # the address of its page, "lessons/lookup"
    shown_path: str  # the path that messages name
    blocks: tuple[Block, ...]

    @property
    def code(self) -> list[Code]:
        return [block for block in self.blocks if isinstance(block, Code)]

    @property
    def prose(self) -> list[Prose]:
        return [block for block in self.blocks if isinstance(block, Prose)]

    def title(self, language: str) -> str:
        heading = re.search(r"^# (.+?)(?: *\{.*\})?$", self.prose[0].texts[language].source, re.M)
        return heading.group(1) if heading else self.name


@dataclass(frozen=True)
class _Cell:
    """A cell as it stands in the file, before the languages are brought together."""

    number: int
    line: int  # of the marker
    markdown: bool
    options: dict[str, str]
    source: str


def names_of(part: dict[str, Any]) -> list[str]:
    """The pages of a part of docs/site.yml: `lessons`, or another folder that it names."""
    folder = part.get("folder", "lessons")
    return [f"{folder}/{name}" for name in part["lessons"]]


def read(path: Path, docs: Path, languages: list[str]) -> Lesson:
    """Read a lesson file; raise `LessonError` with every problem of its form."""
    shown = path.relative_to(docs.parent).as_posix()
    name = path.relative_to(docs).with_suffix("").as_posix()
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise LessonError([Problem(shown, 1, "there is no such file")]) from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise LessonError([Problem(shown, line, f"not valid UTF-8: {error.reason}")]) from None
    problems: list[Problem] = []
    cells = _cells(text.replace("\r\n", "\n"), shown, problems)
    blocks = _blocks(cells, shown, languages, problems)
    if not problems and not (blocks and isinstance(blocks[0], Prose)):
        problems.append(Problem(shown, 1, "a lesson starts with prose: its title"))
    if problems:
        raise LessonError(problems)
    return Lesson(path, name, shown, tuple(blocks))


def _cells(text: str, shown: str, problems: list[Problem]) -> list[_Cell]:
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if MARKER.match(line)]
    if any(line.strip() for line in lines[: starts[0] if starts else None]):
        problems.append(Problem(shown, 1, "text before the first `# %%` marker"))
    cells = []
    for number, (start, end) in enumerate(pairwise([*starts, len(lines)]), 1):
        match = MARKER.match(lines[start])
        assert match
        body = lines[start + 1 : end]
        if match["markdown"]:
            for offset, line in enumerate(body):
                if line.strip() and not line.startswith("#"):
                    message = "a line of prose does not start with `# `"
                    problems.append(Problem(shown, start + 2 + offset, message, number))
            body = [re.sub(r"^# ?", "", line) for line in body]
        options = _options(match["options"], shown, start + 1, number, problems)
        source = "\n".join(body).rstrip()
        cells.append(_Cell(number, start + 1, bool(match["markdown"]), options, source))
    return cells


def _options(
    text: str, shown: str, line: int, number: int, problems: list[Problem]
) -> dict[str, str]:
    options: dict[str, str] = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        problems.append(Problem(shown, line, f"its options cannot be read: {error}", number))
        return options
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            problems.append(Problem(shown, line, f"`{word}` is not an option: key=value", number))
        options[key] = value
    return options


def _blocks(
    cells: list[_Cell], shown: str, languages: list[str], problems: list[Problem]
) -> list[Block]:
    blocks: list[Block] = []
    queue = list(cells)
    while queue:
        cell = queue.pop(0)
        if not cell.markdown:
            blocks.append(_code(cell, shown, problems))
            continue
        group = [cell]
        while queue and queue[0].markdown and len(group) < len(languages):
            if queue[0].options.get("lang") == languages[0]:
                break
            group.append(queue.pop(0))
        blocks.append(_prose(group, shown, languages, problems))
    _check_order(blocks, shown, problems)
    return blocks


def _code(cell: _Cell, shown: str, problems: list[Problem]) -> Code:
    def wrong(message: str, line: int = cell.line) -> None:
        problems.append(Problem(shown, line, message, cell.number))

    for key in cell.options.keys() - CODE_OPTIONS:
        wrong(f"unknown option `{key}` of a code cell; known: {', '.join(sorted(CODE_OPTIONS))}")
    for key in ("check", "hide"):
        if cell.options.get(key, "true") != "true":
            wrong(f"`{key}={cell.options[key]}`: the only value is true")
    code = Code(
        cell.source,
        cell.line + 1,
        cell.number,
        check="check" in cell.options,
        raises=cell.options.get("raises"),
        warns=cell.options.get("warns"),
        hide="hide" in cell.options,
    )
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        wrong(f"SyntaxError: {error.msg}", cell.line + (error.lineno or 1))
        return code
    asserts = [n for n in tree.body if isinstance(n, ast.Assert | ast.For | ast.With)]
    tests = [n.test for top in asserts for n in ast.walk(top) if isinstance(n, ast.Assert)]
    if code.check and not any(not isinstance(test, ast.Constant) for test in tests):
        wrong("a check cell asserts nothing")
    if code.check and code.raises:
        wrong("a check cell cannot raise: what it asserts would not be reached")
    return code


def _prose(group: list[_Cell], shown: str, languages: list[str], problems: list[Problem]) -> Prose:
    first = group[0]
    role = first.options.get("role", "text")
    texts: dict[str, Text] = {}
    for cell in group:
        language = cell.options.get("lang", "")

        def wrong(message: str, cell: _Cell = cell, language: str = language) -> None:
            problems.append(Problem(shown, cell.line, message, cell.number, language))

        for key in cell.options.keys() - {"lang", "role"}:
            wrong(f"unknown option `{key}` of a prose cell; known: lang, role")
        if language not in languages:
            wrong(f"`lang` is {language!r}; the site's languages are {', '.join(languages)}")
        elif language in texts:
            wrong(f"two cells in a row in `{language}`: another language is missing between them")
        if cell.options.get("role", "text") != role:
            wrong(f"its role differs from its partner's, {role!r}")
        if role not in ROLES:
            wrong(f"unknown role {role!r}; known: {', '.join(sorted(ROLES))}")
        if not cell.source.strip():
            wrong("an empty cell")
        texts[language] = Text(cell.source, cell.line + 1, cell.number)
    for language in languages:
        if language not in texts:
            message = f"missing translation: no `{language}` cell beside this one"
            problems.append(Problem(shown, first.line, message, first.number, language))
    return Prose(texts, role, first.number)


def _check_order(blocks: list[Block], shown: str, problems: list[Problem]) -> None:
    """Claims follow checks, captions and widgets figures; a check is followed by its claim."""

    def wrong(block: Block, message: str) -> None:
        problems.append(Problem(shown, block.line - 1, message, block.cell))

    around = [None, *blocks, None]
    for before, block, after in zip(around, blocks, around[2:], strict=False):
        role = block.role if isinstance(block, Prose) else ""
        checked = isinstance(before, Code) and before.check
        if isinstance(block, Code) and block.check:
            if not (isinstance(after, Prose) and after.role == "claim"):
                wrong(block, "a check cell must be followed by a claim, in each language")
        if role == "claim" and not checked:
            wrong(block, "a claim must follow a check cell")
        if role == "caption" and not isinstance(before, Code):
            wrong(block, "a caption must follow the code cell that shows its figure")
        if role == "widget" and getattr(before, "role", "code") not in ("code", "caption"):
            wrong(block, "a widget must follow the figure that stands there without JavaScript")
