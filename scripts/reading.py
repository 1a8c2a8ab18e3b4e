"""How long a lesson takes to read, put where a page asks for it: `<span data-minutes="rope">`.

The number is made with the page and not by its code, so that an edit of one lesson does not run
the page that lists them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from scripts.lesson import Block, Code, Lesson, Prose

WORDS, CHARACTERS, LINES = 220, 350, 25  # read in a minute: of prose, of Chinese prose, of code
_SECTION = re.compile(r"^## .*\{#([\w-]+)\}$", re.MULTILINE)
_PLACE = re.compile(r'<span data-minutes="([\w-]+)"></span>')


def minutes(lesson: Lesson, language: str) -> int:
    """Reading time of a lesson in a language: its words or characters, and the code it shows.

    Exercises and quiz are for those who stay; they are not counted.
    """
    read = list(_read(lesson, language))
    prose = " ".join(block.texts[language].source for block in read if isinstance(block, Prose))
    words, characters = len(re.findall("[A-Za-z]+", prose)), len(re.findall("[一-鿿]", prose))
    shown = [block for block in read if isinstance(block, Code) and not block.hide]
    lines = sum(len(code.source.splitlines()) for code in shown)
    # Words in Chinese text are names and formulas, characters in English text are examples.
    reading = characters / CHARACTERS if characters > words else words / WORDS
    return round(reading + lines / LINES)


def _read(lesson: Lesson, language: str) -> Iterator[Block]:
    counted = True
    for block in lesson.blocks:
        if isinstance(block, Prose):
            for section in _SECTION.findall(block.texts[language].source):
                counted = section not in ("exercises", "quiz")
        if counted:
            yield block


def put(text: str, of: Callable[[str], int | None]) -> str:
    """A page with the minutes of each lesson that it asks for; `of` gives them by its name."""

    def number(match: re.Match[str]) -> str:
        found = of(match[1])
        return match[0] if found is None else str(found)

    return _PLACE.sub(number, text)
