"""What was computed for the pages, kept before an update and compared after it: `make update`.

    python -m scripts.numbers --keep before.json
    python -m scripts.numbers --since before.json

A lesson that ran with the present versions already is not run again. Numbers are the same in every
language, so the first one's are taken.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from scripts.assemble import MARKDOWN, PLAIN, SVG, bundle
from scripts.book import Book
from scripts.files import write_whole
from scripts.lesson import LessonError

DRAWING = "drawing"

Computed = dict[str, str]  # each place, and what stands there; of a drawing its hash


def computed(book: Book) -> Computed:
    return dict(_of_pages(book)) | dict(_of_reference(book))


def _of_pages(book: Book) -> Iterator[tuple[str, str]]:
    for page in book.pages.values():
        for block in page.lesson.blocks:
            place = f"{page.lesson.shown_path}:{block.line}, cell {block.cell}"
            step = page.result.get(block.cell, {})
            for expression, value in step.get("values", {}).items():
                yield f"{place}, {{{{ {expression} }}}}", value
            for number, output in enumerate(step.get("outputs", []), 1):
                yield from _of_output(f"{place}, output {number}", output, book.languages[0])


def _of_output(place: str, output: dict[str, Any], language: str) -> Iterator[tuple[str, str]]:
    if output["output_type"] == "stream":
        yield place, output["text"]
    elif output["output_type"] == "error":
        yield place, output["traceback"][0]
    else:
        shown = bundle(output["data"], language)
        if SVG in shown:
            yield f"{place}, {DRAWING}", _mark(shown[SVG])
        # The plain text of a drawing tells its numbers to those who do not see it.
        yield place, shown.get(MARKDOWN) or shown.get(PLAIN) or output["data"].get(PLAIN, "")


def _of_reference(book: Book) -> Iterator[tuple[str, str]]:
    for function, drawn in book.drawings.items():
        for number, svg in enumerate(drawn.get(book.languages[0], []), 1):
            yield f"{function}, figure {number}, {DRAWING}", _mark(svg)


def _mark(svg: str) -> str:
    return hashlib.sha256(svg.encode()).hexdigest()[:16]


def changes(before: Computed, now: Computed) -> list[str]:
    """Each place where something else stands now, with the lines that differ, old and new."""
    found = []
    for place in dict.fromkeys([*before, *now]):
        old, new = before.get(place, ""), now.get(place, "")
        if old != new:
            drawn = place.endswith(DRAWING)
            lines = [f"    {_drawn(old, new)}"] if drawn else list(_unlike(old, new))
            found.append("\n".join([place, *lines]))
    return found


def _drawn(old: str, new: str) -> str:
    return "looks different" if old and new else "is new" if new else "is no more"


def _unlike(old: str, new: str) -> Iterator[str]:
    olds, news = old.splitlines(), new.splitlines()
    steps = SequenceMatcher(None, olds, news, autojunk=False).get_opcodes()
    for kind, start, end, new_start, new_end in steps:
        if kind != "equal":
            yield from (f"    old  {line}" for line in olds[start:end])
            yield from (f"    new  {line}" for line in news[new_start:new_end])


def main(root: Path) -> int:
    parser = argparse.ArgumentParser(description="what was computed for the pages")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--keep", type=Path, metavar="FILE", help="write it into FILE")
    which.add_argument("--since", type=Path, metavar="FILE", help="list what changed since FILE")
    options = parser.parse_args()
    if options.since and not options.since.is_file():
        print(f"numbers: there is no {options.since}; `make update` writes it before it updates")
        return 1
    book = Book(root)
    try:
        problems = book.prepare(print)
    except LessonError as error:
        problems = error.problems
    if problems:
        print(*problems, sep="\n")
        print(f"numbers: {len(problems)} problem(s), named above: no number is compared")
        return 1
    now = computed(book)
    if options.keep:
        write_whole(options.keep, json.dumps(now, ensure_ascii=False, indent=1).encode())
        return 0
    found = changes(json.loads(options.since.read_text(encoding="utf-8")), now)
    for change in found:
        print(change)
    print(f"numbers: {len(found) or 'no'} places on the pages changed, of {len(now)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
