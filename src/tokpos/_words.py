"""Words for the reader: English in the code, other languages in ``figures/words/<language>.json``.

A catalogue maps the English words, as the code writes them, to the words of its language. A new
language is one new file. Nothing here needs matplotlib, so kept results can speak too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

LANGUAGES_MIME = "application/vnd.tokpos.languages+json"
"""An output with one bundle for each language; the site takes its own, Jupyter ignores it."""

SOURCE_LANGUAGE = "en"
CATALOGUES = Path(__file__).parent / "figures" / "words"

_MARK = re.compile(r"\[[^\]]*\]|[,;:。] ")  # first, what is left alone

_current = SOURCE_LANGUAGE


class MissingWordError(LookupError):
    """A figure or a result says something that the catalogue of a language does not have."""


def languages() -> tuple[str, ...]:
    """The languages with a catalogue, English first."""
    return (SOURCE_LANGUAGE, *sorted(path.stem for path in CATALOGUES.glob("*.json")))


def use_language(language: str) -> None:
    """Choose the language in which plain Jupyter shows figures and kept results."""
    global _current
    _current = known_language(language)


def current_language() -> str:
    """The language chosen by `use_language`."""
    return _current


def known_language(language: str) -> str:
    """Return `language` if it has a catalogue, else raise ValueError."""
    if language not in languages():
        raise ValueError(f"language must be one of {', '.join(languages())}; got {language!r}")
    return language


@cache
def _catalogue(path: Path) -> dict[str, str]:
    words: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return words


def say(english: str, language: str, speaker: str, /, **values: object) -> str:
    """The words of `language` for `english`, with `values` put into its braces.

    The marks between the parts of a value become those of the language; a shape such as
    ``[2, 3]`` stays as it is.
    """
    words, marks = english, {mark: mark for mark in (", ", "; ", ": ", "。 ")}
    if known_language(language) != SOURCE_LANGUAGE:
        path = CATALOGUES / f"{language}.json"
        catalogue = _catalogue(path)
        marks = {mark: catalogue.get(mark, mark) for mark in marks}
        try:
            words = catalogue[english]
        except KeyError:
            raise MissingWordError(
                f"{speaker} in language {language!r}: words/{path.name} has no entry "
                f"for {english!r}"
            ) from None
    for name, value in values.items():
        if isinstance(value, str):
            values[name] = _MARK.sub(lambda found: marks.get(found[0], found[0]), value)
    return words.format(**values) if values else words


class Told:
    """Markdown in the reader's language: what `tell` gives for it."""

    def __init__(self, tell: Callable[[str], str]) -> None:
        self.tell = tell

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        shown = self.tell(current_language())
        return {
            LANGUAGES_MIME: {
                language: {"text/markdown": self.tell(language)} for language in languages()
            },
            "text/markdown": shown,
            "text/plain": shown,
        }
