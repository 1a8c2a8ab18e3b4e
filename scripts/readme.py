"""README.md and README.zh.md, written from docs/readme: `make readme`.

The words stand in docs/readme/en.md and zh.md. A number in them is an expression, as in a lesson:
it is counted in the lessons or read from a kept result, and never typed. A test says when the
files are not what comes out now.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import tokpos
from scripts import lesson as lessons
from scripts import passages, reading
from scripts.files import write_whole
from scripts.lesson import EXPRESSION, Code, Lesson, LessonError, Problem, Prose
from scripts.values import format_value
from scripts.yaml_files import read_yaml
from tokpos import results

ROOT = Path(__file__).resolve().parents[1]
FILES = {"en": "README.md", "zh": "README.zh.md"}

_HEADING = re.compile(r"^(#+) (.*?) *\{#([\w-]+)\}$", re.MULTILINE)
_LISTED = re.compile(r"\]\(lessons/(\w+)\.md\) \| (.*?) \|")  # a row of the table of the home page


def render(language: str) -> str:
    """The README of a language, with everything in it computed.

    Raises
    ------
    LessonError
        An expression cannot be evaluated; the error says where it stands.
    """
    path = ROOT / "docs/readme" / f"{language}.md"
    words, known = path.read_text(encoding="utf-8"), facts(language)

    def computed(found: re.Match[str]) -> str:
        try:
            return format_value(found[1], known)
        except Exception as error:
            line = words.count("\n", 0, found.start()) + 1
            message = f"`{found[0]}` cannot be computed: {type(error).__name__}: {error}"
            shown = path.relative_to(ROOT).as_posix()
            raise LessonError([Problem(shown, line, message)]) from None

    text = EXPRESSION.sub(computed, words)
    for _, title, identifier in _HEADING.findall(text):
        text = text.replace(f"](#{identifier})", f"](#{slug(title)})")
    return _HEADING.sub(r"\1 \2", text)


def slug(title: str) -> str:
    """The anchor of a heading where a README is shown, which knows no ids of ours."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def facts(language: str) -> dict[str, Any]:
    """What the expressions may name."""
    site = read_yaml(ROOT / "docs/site.yml")
    written = every_page()
    cases = read_yaml(ROOT / "docs/cases.yml")
    reports = {source for case in cases.values() for source in case["sources"]}
    kept = {path.stem: results.load(path.stem) for path in results.FOLDER.glob("*.json")}
    rows = {row["name"]: row for row in kept["bench"].data["rows"]}
    course = [name for part in site["parts"] for name in lessons.names_of(part)]
    course = [name for name in course if name.startswith("lessons/")]
    return {
        "language": language,
        "version": tokpos.__version__,
        "course": table_of(course, written, language),
        "lessons": len(course),
        "faults": sum(name.startswith("faults/") for name in written),
        **count(written.values()),
        "cases": len(cases),
        "reports": len(reports),
        "projects": len({report.partition("#")[0] for report in reports}),
        "rows": len(rows),
        "rows_kept": sum(not (row["missed"] or row["not_run"]) for row in rows.values()),
        "ratio": lambda row, way: ratio(rows[row], way),
        "builds": kept["site"].data["builds"],
        "edits": kept["site"].data["edits"],
        "weight": lambda of, what: weight(kept["pages"].data[language][of], what),
        "downloads": kept["downloads"].data,
        "others": kept["elsewhere"].data,
        "needs": lambda name: needs(kept["elsewhere"].data[name]["needs"]),
        "date": lambda name: kept[name].date,
        "machine": kept["site"].machine.split(", ")[2],
        "cores": kept["site"].data["cores"],
        "torch": locked("torch"),
        "jupyter": kept["site"].versions["mkdocs-jupyter"],
    }


@cache
def every_page() -> dict[str, Lesson]:
    """The executed pages, by their names; they have every language, and both READMEs need them."""
    languages = read_yaml(ROOT / "docs/site.yml")["languages"]
    return {each.name: each for each in passages.every_lesson(ROOT / "docs", languages)}


def count(written: Any) -> Counter[str]:
    """How much of what can be false or wrong stands on the pages; languages share all of it."""
    counted: Counter[str] = Counter()
    for block in (block for each in written for block in each.blocks):
        if isinstance(block, Code):
            asserted = re.findall(r"^\s*assert\b", block.source, re.MULTILINE)
            counted["assertions"] += len(asserted) if block.check else 0
        else:
            text = block.texts["en"]
            counted["values"] += len(text.expressions)
            counted["widgets"] += block.role == "widget"
            counted["claims"] += block.role == "claim"
            counted["with_transformers"] += block.role == "claim" and "transformers" in text.source
    return counted


def table_of(course: list[str], written: dict[str, Lesson], language: str) -> str:
    """The rows of the lessons: number, title, question, minutes."""
    home = [block for block in written["index"].blocks if isinstance(block, Prose)]
    questions = dict(_LISTED.findall("\n".join(block.texts[language].source for block in home)))
    lines = []
    for number, name in enumerate(course, 1):
        title = f"[{written[name].title(language)}](docs/{name}.py)"
        minutes = reading.minutes(written[name], language)
        question = questions.get(name.removeprefix("lessons/"))
        if question is None:
            message = f"the table of the lessons has no row for {name}"
            raise LessonError([Problem("docs/index.py", 1, message, language=language)])
        lines.append(f"| {number} | {title} | {question} | {minutes} |")
    return "\n".join(lines)


def ratio(row: dict[str, Any], way: str) -> float:
    """How many times the limit of a row a way took; a library is named without its version."""
    (found,) = (each for each in row["ways"] if each["name"].partition(" ")[0] == way)
    middle: float = found["ratio"][1]
    return middle


def weight(pages: dict[str, list[int]], what: str) -> float:
    """The median of the pages of lessons in kB: of the page, or of its styles and scripts."""
    return median(page[["page", "rest"].index(what)] for page in pages.values()) / 1000


def locked(package: str) -> str:
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (version,) = re.findall(rf"^{package}==(\S+)", lock, re.MULTILINE)
    return version


def needs(requirements: list[str]) -> str:
    return ", ".join(f"`{each}`" for each in requirements)


def main() -> int:
    try:
        written = {name: render(language) for language, name in FILES.items()}
    except LessonError as error:
        print(f"readme: nothing is written\n{error}", file=sys.stderr)
        return 1
    for name, text in written.items():
        write_whole(ROOT / name, text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
