"""The terms of the site (docs/glossary.yml): the check that prose keeps to them, and their page.

Every language of the site has a name for each term. Prose is checked in two of them.

In Chinese text: a forbidden rendering is an error; so is a word that may be meant innocently
where the English partner has the term and the Chinese lacks its rendering; a term that asks for
it is followed by the English in brackets at its first use on a page; and a lower-case English
term left standing in a Chinese sentence is an error. In English text: forbidden forms and British
spellings. Code and formulas are never looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts.lesson import Problem
from scripts.markup import Words
from scripts.passages import Pair, Passage
from scripts.yaml_files import entries, read_yaml

SHOWN = "docs/glossary.yml"
KEYS = {  # besides the languages
    "id", "aliases", "introduce", "never", "mistaken", "once", "meaning", "hint", "note",
}  # fmt: skip
_ASIDE = re.compile(r"（[^（）]*）|“[^”]*”|《[^》]*》|\{\w+\}")


@dataclass(frozen=True)
class Group:
    """Terms of one subject: a table of the page, under its title in each language."""

    id: str
    title: dict[str, str]
    line: int


@dataclass(frozen=True)
class Term:
    """One term; the fields are those of docs/glossary.yml, whose head explains them."""

    id: str
    group: str
    line: int
    names: dict[str, str]
    aliases: dict[str, tuple[str, ...]]
    introduce: str | None
    never: tuple[re.Pattern[str], ...]
    mistaken: tuple[re.Pattern[str], ...]
    once: tuple[str, ...]
    meaning: dict[str, str]
    hint: bool
    note: dict[str, str]

    def forms(self, language: str) -> tuple[str, ...]:
        return (self.names[language], *self.aliases.get(language, ()))

    def stands_in(self, text: str, language: str) -> bool:
        if language == "zh":
            return any(form in text for form in self.forms(language))
        return bool(_english(self.forms(language)).search(text))


@dataclass(frozen=True)
class Glossary:
    groups: tuple[Group, ...]
    terms: tuple[Term, ...]
    english: tuple[tuple[re.Pattern[str], str], ...]  # what is never written, and what is instead

    def check_entries(self, languages: Sequence[str]) -> list[Problem]:
        """What the glossary itself lacks in a language: a title, a name, a note of several."""
        problems = []
        for group in self.groups:
            what = f"the group `{group.id}` has no title"
            problems += _lacking(group.title, languages, group.line, what)
        for term in self.terms:
            what = f"the term `{term.names['en']}` has no"
            problems += _lacking(term.names, languages, term.line, f"{what} name")
            for kind, texts in (("meaning", term.meaning), ("note", term.note)):
                if texts:
                    problems += _lacking(texts, languages, term.line, f"{what} {kind}")
            for key in sorted(term.names.keys() - set(languages)):
                message = (
                    f"`{key}` of the term `{term.names['en']}` is neither a key nor a language"
                )
                problems.append(Problem(SHOWN, term.line, message))
        return problems

    @cached_property
    def _translated(self) -> tuple[Term, ...]:
        """What Chinese is checked for; a term without a Chinese name is a problem by itself."""
        return tuple(term for term in self.terms if "zh" in term.names)

    def check(self, pairs: Sequence[Pair]) -> list[Problem]:
        """Every fault against the glossary in the pairs of one page, in their order."""
        problems = [fault for pair in pairs for p in pair.values() for fault in self.check_words(p)]
        for pair in pairs:
            if "en" in pair and "zh" in pair:
                problems += self._mistaken(pair["en"], pair["zh"])
        chinese = [pair["zh"] for pair in pairs if "zh" in pair]
        for term in self._translated:
            problems += _introduced(term, chinese) + _named_once(term, chinese)
        return problems

    def check_words(self, passage: Passage) -> list[Problem]:
        """What is wrong in a passage whatever stands beside it."""
        faults = {"en": self._english_faults, "zh": self._chinese_faults}.get(passage.language)
        return [
            passage.problem(message, words.offset_at(index))
            for words in passage.markup.words
            for index, message in (faults(words.text) if faults else ())
        ]

    def _english_faults(self, text: str) -> Iterator[tuple[int, str]]:
        for pattern, instead in self.english:
            for match in pattern.finditer(text):
                yield match.start(), f"`{match.group()}`: write `{match.expand(instead)}`"

    def _chinese_faults(self, text: str) -> Iterator[tuple[int, str]]:
        # Brackets, quotes, titles and `{fields}` may hold English: blank them out, keep the places.
        outside = _ASIDE.sub(lambda match: " " * len(match.group()), text)
        for term in self._translated:
            instead = f"the term is {term.names['zh']} ({term.names['en']})"
            for pattern in term.never:
                for match in pattern.finditer(text):
                    yield match.start(), f"`{match.group()}`: {instead}"
            if term.introduce and term.introduce in term.names["en"]:
                for match in _english(term.forms("en"), re.NOFLAG).finditer(outside):
                    yield match.start(), f"`{match.group()}` in Chinese text: {instead}"

    def _mistaken(self, english: Passage, chinese: Passage) -> list[Problem]:
        theirs = "\n".join(words.text for words in english.markup.words)
        ours = "\n".join(words.text for words in chinese.markup.words)
        problems = []
        for term in self._translated:
            if not term.mistaken or term.stands_in(ours, "zh") or not term.stands_in(theirs, "en"):
                continue
            for words in chinese.markup.words:
                for pattern in term.mistaken:
                    for match in pattern.finditer(words.text):
                        message = (
                            f"`{match.group()}` where the English has `{term.names['en']}`: "
                            f"the term is {term.names['zh']}"
                        )
                        problems.append(chinese.problem(message, words.offset_at(match.start())))
        return problems


def read(path: Path) -> Glossary:
    data = read_yaml(path)
    lines = {key: line for key, _, line in entries(path)}
    groups, terms = [], []
    for number, group in enumerate(data["groups"]):
        groups.append(Group(group["id"], group["title"], lines[f"groups.{number}.id"]))
        for place, entry in enumerate(group["terms"]):
            terms.append(_term(entry, group["id"], lines[f"groups.{number}.terms.{place}.en"]))
    twice = {term.id for term in terms if [t.id for t in terms].count(term.id) > 1}
    if twice:
        raise ValueError(f"{path.name}: two terms have the id {', '.join(sorted(twice))}")
    english = tuple(
        (re.compile(rf"\b{wrong}", re.IGNORECASE), instead)
        for wrong, instead in data["english"].items()
    )
    return Glossary(tuple(groups), tuple(terms), english)


def _term(entry: dict[str, Any], group: str, line: int) -> Term:
    names = {key: name for key, name in entry.items() if key not in KEYS}
    introduce = entry.get("introduce", False)
    return Term(
        id=entry.get("id", re.sub(r"\W+", "-", names["en"].lower()).strip("-")),
        group=group,
        line=line,
        names=names,
        aliases={k: tuple(v) for k, v in entry.get("aliases", {}).items()},
        introduce=names["en"] if introduce is True else introduce or None,
        never=tuple(re.compile(word) for word in entry.get("never", ())),
        mistaken=tuple(re.compile(word) for word in entry.get("mistaken", ())),
        once=tuple(entry.get("once", ())),
        meaning=entry.get("meaning", {}),
        hint=entry.get("hint", True),
        note=entry.get("note", {}),
    )


def _lacking(
    texts: Mapping[str, str], languages: Sequence[str], line: int, what: str
) -> list[Problem]:
    missing = [language for language in languages if language not in texts]
    return [Problem(SHOWN, line, f"{what} in `{each}`", language=each) for each in missing]


def _english(forms: Sequence[str], flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """The words as words, with their plural; not inside a longer name joined by a hyphen."""
    either = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in forms)
    return re.compile(rf"(?<![\w-])(?:{either})s?(?![\w-])", flags | re.ASCII)


def _running(column: Sequence[Passage]) -> Iterator[tuple[Passage, Words]]:
    """The words of a page outside headings, titles of admonitions and descriptions of images."""
    for passage in column:
        for words in passage.markup.words:
            if words.kind == "text":
                yield passage, words


def _introduced(term: Term, column: Sequence[Passage]) -> list[Problem]:
    """The first use outside headings, alone or within a longer word, has its brackets."""
    if term.introduce is None:
        return []
    either = "|".join(map(re.escape, term.forms("zh")))
    whole = re.compile(
        rf"(?:{either})[\w \n]{{0,12}}?（[^（）]*{re.escape(term.introduce)}", re.IGNORECASE
    )
    for passage, words in _running(column):
        match = re.search(either, words.text)
        if match and not whole.match(words.text, match.start()):
            message = (
                f"the first use of {match.group()} on this page: "
                f"write {match.group()}（{term.introduce}）"
            )
            return [passage.problem(message, words.offset_at(match.start()))]
        if match:
            return []
    return []


def _named_once(term: Term, column: Sequence[Passage]) -> list[Problem]:
    """Another author's word may be named once on a page, not used."""
    problems = []
    for other in term.once:
        uses = [
            passage.problem(
                f"{other} again: it may be named once on a page; the term is {term.names['zh']}",
                words.offset_at(match.start()),
            )
            for passage, words in _running(column)
            for match in re.finditer(re.escape(other), words.text)
        ]
        problems += uses[1:]
    return problems


def page(glossary: Glossary, language: str, words: Mapping[str, Mapping[str, Any]]) -> str:
    """The glossary page of a language as Markdown: a table for each group, an anchor for each term.

    `words` is the site's own words in each language, in the order of the columns after the first.
    """
    own = words[language]["glossary"]
    columns = sorted(words, key=lambda column: column != language)
    head = [*(words[column]["theme"]["name"] for column in columns), own["note"]]
    lines = [f"# {own['title']}", "", own["intro"]]
    for group in glossary.groups:
        lines += ["", f"## {group.title.get(language, group.id)} {{#{group.id}-terms}}", ""]
        lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for term in glossary.terms:
            if term.group == group.id:
                first, *others = (term.names.get(column, "") for column in columns)
                told = [text[language] for text in (term.meaning, term.note) if language in text]
                cells = [f"{first} {{ #{term.id} }}", *others, " ".join(told)]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
