"""Tiny lessons for the tests of what reads and checks lessons."""

from __future__ import annotations

from pathlib import Path

from scripts.lesson import Lesson, read

LANGUAGES = ["en", "zh"]
TITLE = ("# Title", "# 标题")


def cell(text: str, marker: str) -> str:
    """A cell of prose as it stands in the file."""
    return "\n".join(
        [f"# %% [markdown] {marker}", *(f"# {line}".rstrip() for line in text.split("\n"))]
    )


def pair(english: str, chinese: str, options: str = "") -> str:
    return cell(english, f'lang="en"{options}') + "\n" + cell(chinese, f'lang="zh"{options}')


def write(folder: Path, text: str | bytes, name: str = "one") -> Path:
    path = folder / "docs/lessons" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def parse(folder: Path, text: str | bytes, name: str = "one") -> Lesson:
    return read(write(folder, text, name), folder / "docs", LANGUAGES)


def of_pairs(folder: Path, *pairs: tuple[str, str], name: str = "one") -> Lesson:
    """A lesson of a title and these pairs; the first pair's English stands at line 6."""
    return parse(folder, "\n".join(pair(*texts) for texts in (TITLE, *pairs)) + "\n", name)
