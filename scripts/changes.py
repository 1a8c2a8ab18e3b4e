"""The changelogs, CHANGELOG.md and CHANGELOG.zh.md: what a version brought, in each language.

Their form is that of "Keep a Changelog": a title, a paragraph, and below a heading for each
version, the newest first, lists of entries. What is not released yet stands first, without a date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.lesson import Problem

_VERSION = re.compile(r"## \[(?P<name>[^\]]+)\](?: - (?P<date>\d{4}-\d\d-\d\d))?")
PAGE = "changes"
FORM = "`## [0.1.0] - 2026-11-30`; only the first may have no date"


class FormError(ValueError):
    """A changelog that is not in its form; `lineno` says where."""

    def __init__(self, line: int, message: str):
        super().__init__(message)
        self.lineno = line


@dataclass(frozen=True)
class Version:
    name: str
    date: str  # "2026-11-30"; empty before the release
    text: str
    line: int

    @property
    def entries(self) -> list[str]:
        return re.findall(r"^- (.+)$", self.text, re.MULTILINE)


@dataclass(frozen=True)
class Changes:
    path: str  # as messages name it
    title: str
    intro: str
    versions: tuple[Version, ...]

    @property
    def released(self) -> tuple[Version, ...]:
        return tuple(version for version in self.versions if version.date)


def name_of(language: str, first: str) -> str:
    """The file of a language; the first one's has no language in its name."""
    return "CHANGELOG.md" if language == first else f"CHANGELOG.{language}.md"


def read(path: Path) -> Changes:
    """Read a changelog.

    Raises
    ------
    FormError
        A heading is not that of a title or of a version.
    """
    title, *lines = path.read_text(encoding="utf-8").split("\n")
    if not title.startswith("# "):
        raise FormError(1, f"it begins with {title!r}: wanted a title, `# ...`")
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    versions: list[Version] = []
    for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        match = _VERSION.fullmatch(lines[start])
        if not match or not (match["date"] or not versions):
            raise FormError(start + 2, f"`{lines[start]}` is no version: wanted {FORM}")
        text = "\n".join(lines[start + 1 : end]).strip()
        versions.append(Version(match["name"], match["date"] or "", text, start + 2))
    intro = "\n".join(lines[: starts[0] if starts else None]).strip()
    return Changes(path.name, title[2:].strip(), intro, tuple(versions))


def check(found: Mapping[str, Changes]) -> list[Problem]:
    """Where the languages' changelogs differ in versions, dates or the number of entries."""
    (_, known), *others = found.items()
    problems = []
    for language, other in others:
        ours, theirs = ([_facts(version) for version in each.versions] for each in (known, other))
        if ours != theirs:
            unlike = [n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
            place = unlike[0] if unlike else min(len(ours), len(theirs))
            here = _said(theirs[place]) if place < len(theirs) else "no further version"
            there = _said(ours[place]) if place < len(ours) else "no further version"
            line = other.versions[place].line if place < len(theirs) else 1
            message = f"{here} here, {there} in {known.path}"
            problems.append(Problem(other.path, line, message, language=language))
    return problems


def _facts(version: Version) -> tuple[str, str, int]:
    name = version.name if version.date else ""  # "Unreleased" is a word of the language
    return name, version.date, len(version.entries)


def _said(facts: tuple[str, str, int]) -> str:
    name, date, entries = facts
    return f"{name or 'what is not released'} {date}".strip() + f" with {entries} entries"


def place(version: Version) -> str:
    """Where a version stands on the page."""
    return f"v{version.name}" if version.date else "unreleased"


def page(changes: Changes) -> str:
    """The page as Markdown; every heading has an id that is the same in all languages."""
    parts = [f"# {changes.title}", changes.intro]
    for version in changes.versions:
        at, name = place(version), version.name
        text = version.text
        for number, heading in enumerate(re.findall(r"^### .+$", text, re.MULTILINE), 1):
            text = text.replace(heading, f"{heading} {{#{at}-{number}}}", 1)
        parts += [f"## {f'{name} – {version.date}' if version.date else name} {{#{at}}}", text]
    return "\n\n".join(part for part in parts if part) + "\n"
