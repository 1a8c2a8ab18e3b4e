"""On a finished page, the first use of each term leads to the glossary and says what it means.

A term with a meaning in docs/glossary.yml becomes a link whose title is that meaning: shown on
hover, and read out at the link. Headings, code, formulas, figures and what is a link already stay
as they are.
"""

from __future__ import annotations

import html
import re

from scripts.glossary import Glossary

_PIECE = re.compile(r"<(/?)([a-zA-Z][\w-]*)[^>]*?(/?)>|<!--.*?-->", re.DOTALL)
_CLOSED = {  # nothing in these is looked at
    "a", "abbr", "annotation", "autoref", "button", "code", "h1", "h2", "h3", "h4", "h5", "h6",
    "label",
    "math", "pre", "script", "style", "summary", "svg", "title",
}  # fmt: skip
_FORMULA = re.compile(r'class="[^"]*\b(?:katex|arithmatex|doc-heading)\b')


def add(page: str, glossary: Glossary, language: str, target: str) -> str:
    """The page with its hints; `target` is the relative address of the glossary page."""
    hints = _Hints(glossary, language, target)
    parts: list[str] = []
    end, depth, closed = 0, 0, ""  # `closed` is the element whose end is waited for
    for piece in _PIECE.finditer(page):
        text = page[end : piece.start()]
        parts += [text if closed else hints.put(text), piece[0]]
        end, name = piece.end(), (piece[2] or "").lower()
        if not name or piece[3]:
            continue
        if closed:
            depth += (-1 if piece[1] else 1) if name == closed else 0
            closed = closed if depth else ""
        elif not piece[1] and (name in _CLOSED or _FORMULA.search(piece[0])):
            closed, depth = name, 1
    return "".join([*parts, page[end:]])


class _Hints:
    """The terms of a page, and which of them it has used."""

    def __init__(self, glossary: Glossary, language: str, target: str):
        self.language = language
        self.target = target
        self.used: set[str] = set()
        terms = [t for t in glossary.terms if t.hint and t.meaning.get(language)]
        self.terms = {form.lower(): term for term in terms for form in term.forms(language)}
        # Any of the forms, the longest first, so that none is found inside another; in an
        # alphabet as whole words, the plural too.
        either = "|".join(map(re.escape, sorted(self.terms, key=len, reverse=True))) or "(?!)"
        if language != "zh":
            either = rf"(?<![\w-])(?:{either})(?=s?(?![\w-]))"
        self.pattern = re.compile(either, re.IGNORECASE)

    def put(self, text: str) -> str:
        """A piece of text with the hints that are due in it."""
        return self.pattern.sub(self._hint, text)

    def _hint(self, match: re.Match[str]) -> str:
        term = self.terms[match[0].lower()]
        if term.id in self.used:
            return match[0]
        self.used.add(term.id)
        meaning = html.escape(term.meaning[self.language], quote=True)
        href = f"{self.target}#{term.id}"
        return f'<a class="term" href="{href}" title="{meaning}">{match[0]}</a>'
