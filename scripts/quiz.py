"""A question with options: which one is right is computed, and every option says why.

In a lesson it is a prose cell with the role `quiz`, in each language:

    # %% [markdown] lang="en" role="quiz"
    # What is the shape of `embedding(ids)`?
    #
    # - {{ shape == (3, 2) }} `[3, 2]`
    #
    #     One row of two numbers for each of the three IDs.
    #
    # - {{ shape == (3,) }} `[3]`
    #
    #     That is the shape of the IDs.

The expression in front of an option is true for the right one and false for all others; what is
indented below it is shown when a reader has chosen it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from scripts.execute import Result
from scripts.lesson import Lesson, Problem

_OPTION = re.compile(r"^- (\{\{ .+? \}\}|True|False) (.+)$", re.MULTILINE)

Words = Mapping[str, str]


@dataclass(frozen=True)
class Option:
    verdict: str  # the expression, or what came of it
    text: str
    why: str


@dataclass(frozen=True)
class Question:
    text: str
    options: tuple[Option, ...]


def read(source: str) -> Question:
    """The question of a cell, as it is written or with its expressions computed."""
    text, *rest = _OPTION.split(source)
    thirds = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    options = (Option(v, text.strip(), textwrap.dedent(why).strip()) for v, text, why in thirds)
    return Question(text.strip(), tuple(options))


def check_form(lesson: Lesson) -> list[Problem]:
    """What is wrong with how the questions of a lesson are written."""
    return [
        Problem(lesson.shown_path, text.line, fault, text.cell, language)
        for block in lesson.prose
        if block.role == "quiz"
        for language, text in block.texts.items()
        for fault in _faults(text.source)
    ]


def _faults(source: str) -> list[str]:
    question = read(source)
    found = []
    if not question.text:
        found.append("a quiz without a question")
    if len(question.options) < 3:
        found.append("a quiz has three options or more: `- {{ expression }} text`")
    found += [f"the option {o.text!r} does not say why" for o in question.options if not o.why]
    found += [f'the option {o.text!r}: write “ ” for "' for o in question.options if '"' in o.text]
    mute = [o.text for o in question.options if re.fullmatch(r"\$[^$]+\$", o.text)]
    found += [f"the option {text!r} has no words: a formula alone is not read out" for text in mute]
    typed = [o.text for o in question.options if not o.verdict.startswith("{{")]
    found += [f"the option {text!r} is judged by hand: use an expression" for text in typed]
    return found


def check(lesson: Lesson, result: Result) -> list[Problem]:
    """The questions of which not one option came out true, and all others false."""
    found = []
    for block in lesson.prose:
        values = result.get(block.cell, {}).get("values", {})
        if block.role == "quiz" and values:
            (language, text), *_ = block.texts.items()
            verdicts = [values[o.verdict[3:-3]] for o in read(text.source).options]
            if verdicts.count("True") != 1 or set(verdicts) != {"True", "False"}:
                message = f"one option must be True, the others False; got {', '.join(verdicts)}"
                found.append(Problem(lesson.shown_path, text.line, message, text.cell, language))
    return found


def on_page(source: str, words: Words) -> str:
    """The question as Markdown, each option a part that opens and tells."""
    question = read(source)
    parts = [question.text]
    for option in question.options:
        kind = "right" if option.verdict == "True" else "wrong"
        told = textwrap.indent(_told(option, words), "    ")
        parts.append(f'??? {kind} "{option.text}"\n\n{told}')
    inside = "\n\n".join(parts)
    return f'<div class="quiz" markdown="1">\n\n{inside}\n\n</div>'


def in_notebook(source: str, words: Words) -> str:
    """The question for a notebook, which has no parts that open."""
    question = read(source)
    options = [f"- {option.text}" for option in question.options]
    told = [f"- {option.text}: {_told(option, words)}" for option in question.options]
    answers = f"<details><summary>{words['quiz_answers']}</summary>\n\n" + "\n".join(told)
    return "\n\n".join([question.text, "\n".join(options), f"{answers}\n\n</details>"])


def _told(option: Option, words: Words) -> str:
    say = words["quiz_right" if option.verdict == "True" else "quiz_wrong"]
    return f"**{say}** {option.why}"
