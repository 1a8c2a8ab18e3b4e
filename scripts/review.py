"""Which pairs of passages were read side by side: docs/reviewed.json, and what it finds.

A pair is recorded by the fingerprints of its texts. When one text changes and its partner does not,
the partner's fingerprint stands in a recorded pair that the page no longer has: that is the fault.
A record from before a language came says nothing until all pairs were read again.
The record is free of order, and each pair is one line, so that two people's changes merge.

`make reviewed` (python -m scripts.review) says that all pairs, as they stand, were read.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts import passages
from scripts.lesson import Lesson, LessonError, Problem
from scripts.passages import Pair
from scripts.yaml_files import read_yaml

Fingerprints = tuple[str, ...]  # of a pair, in the order of the languages' names
Record = dict[str, list[Fingerprints]]  # by the page's name


def read(path: Path) -> Record:
    """The recorded pairs; none when nothing was recorded yet."""
    if not path.is_file():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: [tuple(pair.split()) for pair in pairs] for name, pairs in data.items()}


def check_reviewed(lesson: Lesson, recorded: Record) -> list[Problem]:
    """The pairs of a lesson of which one language alone was changed since they were reviewed."""
    return _changed_alone(passages.of_lesson(lesson), recorded.get(lesson.shown_path, []))


def unrecorded(lesson: Lesson, recorded: Record) -> list[Problem]:
    """The pairs of a lesson that are not recorded as reviewed, new ones too."""
    return _unrecorded(passages.of_lesson(lesson), recorded.get(lesson.shown_path, []))


def check_pages_reviewed(docs: Path, languages: Sequence[str], recorded: Record) -> list[Problem]:
    """The same as `check_reviewed`, of the Markdown pages and the site's own words."""
    pages = _pages(docs, languages).items()
    return [p for name, pairs in pages for p in _changed_alone(pairs, recorded.get(name, []))]


def unrecorded_pages(docs: Path, languages: Sequence[str], recorded: Record) -> list[Problem]:
    """The same as `unrecorded`, of the Markdown pages and the site's own words."""
    pages = _pages(docs, languages).items()
    return [p for name, pairs in pages for p in _unrecorded(pairs, recorded.get(name, []))]


def everything(docs: Path, languages: list[str]) -> dict[str, list[Pair]]:
    """All pairs of the project that are reviewed, by the name under which they are recorded."""
    lessons = passages.every_lesson(docs, languages)
    pairs = {lesson.shown_path: passages.of_lesson(lesson) for lesson in lessons}
    return pairs | _pages(docs, languages)


def write(path: Path, pages: dict[str, list[Pair]]) -> None:
    """Record every pair, sorted, one a line."""
    data = {
        name: sorted(" ".join(_fingerprints(pair)) for pair in pairs)
        for name, pairs in sorted(pages.items())
    }
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _pages(docs: Path, languages: Sequence[str]) -> dict[str, list[Pair]]:
    """Pages and translations; one that lacks a language is the structure check's to name."""
    pages, _ = passages.of_pages(docs, languages)
    own = passages.of_translations(docs, languages).values()
    pairs = {f"docs/*/{name}": pairs for name, pairs in pages.items()}
    return pairs | {"docs/translations": [pair for pair in own if len(pair) == len(languages)]}


def _fingerprint(text: str) -> str:
    """Of the text without the blanks at the ends of its lines: no editor's habit is a change."""
    lines = "\n".join(line.rstrip() for line in text.strip().split("\n"))
    return hashlib.sha256(lines.encode()).hexdigest()[:12]


def _fingerprints(pair: Pair) -> Fingerprints:
    return tuple(_fingerprint(pair[language].source) for language in sorted(pair))


def _new_and_gone(
    pairs: Sequence[Pair], recorded: Iterable[Fingerprints]
) -> tuple[list[Pair], list[Fingerprints]]:
    """The pairs that are not recorded, and the recorded ones that are no more."""
    known = Counter(recorded)
    new = []
    for pair in pairs:
        prints = _fingerprints(pair)
        if known[prints]:
            known[prints] -= 1
        else:
            new.append(pair)
    return new, list(known.elements())


def _changed_alone(pairs: Sequence[Pair], recorded: Iterable[Fingerprints]) -> list[Problem]:
    new, gone = _new_and_gone(pairs, recorded)
    problems = []
    for pair in new:
        candidates = [_stayed(pair, old) for old in gone]
        stayed = min(candidates, key=lambda found: (-len(found), found), default=[])
        changed = [f"`{language}`" for language in sorted(pair) if language not in stayed]
        for language in stayed:
            message = (
                f"{', '.join(changed)} {'was' if len(changed) == 1 else 'were'} changed and "
                f"`{language}` was not: read them side by side, then run `make reviewed`"
            )
            problems.append(pair[language].problem(message))
    return problems


def _stayed(pair: Pair, old: Fingerprints) -> list[str]:
    """The languages in which a pair is as it was recorded; none if those were other languages."""
    prints = _fingerprints(pair)
    if len(old) != len(prints):
        return []
    columns = zip(sorted(pair), prints, old, strict=True)
    return [language for language, now, before in columns if now == before]


def _unrecorded(pairs: Sequence[Pair], recorded: Iterable[Fingerprints]) -> list[Problem]:
    new, _ = _new_and_gone(pairs, recorded)
    message = "this pair is not recorded as reviewed: read it, then run `make reviewed`"
    return [next(iter(pair.values())).problem(message) for pair in new]


def main(docs: Path) -> int:
    languages = read_yaml(docs / "site.yml")["languages"]
    record = docs / "reviewed.json"
    try:
        pages = everything(docs, languages)
    except LessonError as error:
        print(error)
        return 1
    recorded = read(record)
    count = 0
    for name, pairs in pages.items():
        for pair in _new_and_gone(pairs, recorded.get(name, []))[0]:
            places = " and ".join(f"{p.path}:{p.line} ({p.language})" for p in pair.values())
            print(f"reviewed: {places}")
            count += 1
    write(record, pages)
    print(f"{count or 'no'} new pairs recorded in {record.relative_to(docs.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path("docs").absolute()))
