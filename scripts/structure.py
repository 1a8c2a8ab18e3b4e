"""Check that the languages say the same thing in the same form: in lessons and in pages.

Headings, formulas, links, code and computed expressions must be the same; the words differ, and
are held to the glossary and to the typography of their language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts import passages, quiz, typography, widgets
from scripts.glossary import Glossary
from scripts.lesson import Lesson, Problem
from scripts.markup import Part
from scripts.passages import Pair, Passage

IN_ORDER = ("heading", "admonition")
IN_ANY_ORDER = (
    "expression", "formula", "link", "footnote", "image",
    "code span", "code block", "table", "HTML tag",
)  # fmt: skip
FIELD = re.compile(r"\{\w*\}")
UNLIKE = ("theme.language", "theme.name")  # words by which readers and browsers know a language


def check(lesson: Lesson, languages: Sequence[str], terms: Glossary) -> list[Problem]:
    """Every fault in the form of a lesson's prose."""
    form = quiz.check_form(lesson) + widgets.check_form(lesson)
    return _check_page(passages.of_lesson(lesson), languages, terms) + form


def check_pages(docs: Path, languages: Sequence[str], terms: Glossary) -> list[Problem]:
    """Every fault in the Markdown pages that each language keeps in a folder of its own."""
    pages, problems = passages.of_pages(docs, languages)
    for pairs in pages.values():
        problems += _check_page(pairs, languages, terms)
    return problems


def check_words(docs: Path, languages: Sequence[str], terms: Glossary) -> list[Problem]:
    """The site's own words (docs/translations/en.yml ...): the same keys and `{fields}` in each."""
    problems: list[Problem] = []
    first, *others = languages
    pairs = passages.of_translations(docs, languages)
    for key, pair in pairs.items():
        known = next(iter(pair.values()))
        for language in languages:
            if language not in pair:
                shown = f"docs/translations/{language}.yml"
                message = f"missing translation: `{key}`, which stands in {known.path}:{known.line}"
                problems.append(Problem(shown, 1, message, language=language))
        for other in others:
            if first in pair and other in pair:
                fields = [Counter(FIELD.findall(pair[c].source)) for c in (first, other)]
                if fields[0] != fields[1]:
                    message = f"`{key}`: its fields in braces are not those of `{first}`"
                    problems.append(pair[other].problem(message))
            if key in UNLIKE and other in pair:
                same = next(c for c in pair if pair[c].source == pair[other].source)
                if same != other:
                    message = f"`{key}` is that of `{same}`, too: {pair[other].source}"
                    problems.append(pair[other].problem(message))
        for passage in pair.values():
            problems += typography.check(passage) + terms.check_words(passage)
    return problems


def _check_page(pairs: Sequence[Pair], languages: Sequence[str], terms: Glossary) -> list[Problem]:
    problems: list[Problem] = []
    for pair in pairs:
        problems += _differences(pair, languages)
        for passage in pair.values():
            problems += _stray_braces(passage)
            problems += typography.check(passage)
    for language in languages:
        column = [pair[language] for pair in pairs if language in pair]
        problems += _check_headings(column)
    problems += terms.check(pairs)
    return sorted(problems, key=lambda problem: (problem.path, problem.line))


def _differences(pair: Pair, languages: Sequence[str]) -> list[Problem]:
    """What stands in one language of a pair alone; the first language is the model."""
    first, *others = languages
    problems = []
    for other in others:
        if first in pair and other in pair:
            model, copy = pair[first], pair[other]
            for kind in IN_ORDER:
                problems += _other_sequence(kind, model, copy)
            for kind in IN_ANY_ORDER:
                problems += _other_multiset(kind, model, copy)
    return problems


def _other_sequence(kind: str, model: Passage, copy: Passage) -> list[Problem]:
    ours, theirs = model.markup.of(kind), copy.markup.of(kind)
    for left, right in zip(ours, theirs, strict=False):
        if left.value != right.value:
            message = (
                f"{kind} `{right.value}` where `{model.language}` "
                f"(line {model.line + left.offset}) has `{left.value}`"
            )
            return [copy.problem(message, right.offset)]
    return _surplus(kind, model, copy, ours[len(theirs) :], theirs[len(ours) :])


def _other_multiset(kind: str, model: Passage, copy: Passage) -> list[Problem]:
    ours, theirs = model.markup.of(kind), copy.markup.of(kind)
    return _surplus(kind, model, copy, _without(ours, theirs), _without(theirs, ours))


def _without(parts: Iterable[Part], others: Iterable[Part]) -> list[Part]:
    """The parts left when each of the others has taken its equal away."""
    taken = Counter(part.value for part in others)
    left = []
    for part in parts:
        if taken[part.value]:
            taken[part.value] -= 1
        else:
            left.append(part)
    return left


def _surplus(
    kind: str, model: Passage, copy: Passage, missing: Sequence[Part], added: Sequence[Part]
) -> list[Problem]:
    problems = []
    for part in missing:
        where = f"`{model.language}` (line {model.line + part.offset})"
        message = f"{kind} {_shown(part)} of {where} is missing here"
        problems.append(copy.problem(message))
    for part in added:
        message = f"{kind} {_shown(part)} does not stand in `{model.language}` (line {model.line})"
        problems.append(copy.problem(message, part.offset))
    return problems


def _shown(part: Part) -> str:
    value = part.value.replace("\n", " ⏎ ")
    value = value if len(value) <= 60 else value[:57] + "..."
    return value if part.kind == "code span" else f"`{value}`"


def _check_headings(column: Sequence[Passage]) -> list[Problem]:
    """One language of a page: one title, in the first cell; every other heading with its own id."""
    problems = []
    titles = 0
    seen: dict[str, int] = {}
    for passage in column:
        for part in passage.markup.of("heading"):
            level, _, identifier = part.value.partition(" ")
            if level == "#":
                titles += 1
                if titles > 1:
                    problems.append(passage.problem("a second H1 in this page", part.offset))
                elif passage is not column[0]:
                    message = "the H1 must stand in the first prose of the page"
                    problems.append(passage.problem(message, part.offset))
            elif not identifier:
                message = "a heading without an id: end it with `{#its-id}`"
                problems.append(passage.problem(message, part.offset))
            if identifier:
                line = passage.line + part.offset
                if identifier in seen:
                    message = f"the id `{identifier}` stands at line {seen[identifier]} already"
                    problems.append(passage.problem(message, part.offset))
                seen.setdefault(identifier, line)
    if column and not titles:
        problems.append(column[0].problem("no H1: the page has no title"))
    return problems


def _stray_braces(passage: Passage) -> list[Problem]:
    """Double braces that are no expression; in code and formulas they are nobody's business."""
    problems = []
    for words in passage.markup.words:
        for match in re.finditer(r"\{\{|\}\}", words.text):
            message = f"stray `{match.group()}`: an expression is `{{{{ it }}}}`, one blank inside"
            problems.append(passage.problem(message, words.offset_at(match.start())))
    return problems
