"""Questions: their form, the option that came out right, and how page and notebook show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import assemble, quiz
from scripts.execute import Executor
from scripts.lesson import Lesson, read

LANGUAGES = ["en", "zh"]
WORDS = {
    "quiz_right": "Right.",
    "quiz_wrong": "Not so.",
    "quiz_answers": "Answers",
    "checked": "Checked",
    "notebook": "Notebook",
}
QUESTION = """\
# %% [markdown] lang="LANGUAGE" role="quiz"
# What is `1 + x`?
#
# - {{ 1 + x == 2 }} `2`, or {{ x + 1 }}
#
#     Since $x$ is {{ x }}.
#
# - {{ 1 + x == 1 }} `1`
#
#     That would be `x` alone.
#
# - {{ 1 + x == 11 }} `11`
#
#     These are numbers, not words.
"""
LESSON = """\
# %% [markdown] lang="en"
# # Title
# %% [markdown] lang="zh"
# # 标题
# %%
x = 1
""" + "".join(QUESTION.replace("LANGUAGE", language) for language in LANGUAGES)


def lesson(root: Path, text: str = LESSON) -> Lesson:
    path = root / "docs/lessons/one.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read(path, root / "docs", LANGUAGES)


def run(root: Path, text: str = LESSON) -> tuple[Lesson, dict]:
    one = lesson(root, text)
    results, errors = Executor(root, root / ".cache").results([one], lambda _: None)
    assert not errors
    return one, results[one.name]


def test_the_computed_option_is_right_on_the_page(tmp_path: Path) -> None:
    one, result = run(tmp_path)
    assert quiz.check(one, result) == []
    page = assemble.page(one, result, "en", WORDS, {one.name})
    assert '??? right "`2`, or 2"\n\n    **Right.** Since $x$ is 1.' in page
    assert '??? wrong "`1`"\n\n    **Not so.** That would be `x` alone.' in page
    assert page.count("??? ") == 3 and "{{" not in page and "True" not in page


def test_the_notebook_keeps_the_answers_folded(tmp_path: Path) -> None:
    one, result = run(tmp_path)
    notebook = assemble.notebook(one, result, "zh", WORDS, {one.name}, {})
    question, _, answers = notebook.partition("<details><summary>Answers")
    assert "- `2`, or 2" in question and "Right." not in question
    assert "- `2`, or 2: **Right.** Since $x$ is 1." in answers
    assert "- `11`: **Not so.** These are numbers" in answers


@pytest.mark.parametrize("x", ["0", "10", "5"])
def test_a_question_whose_answer_changed_is_found(tmp_path: Path, x: str) -> None:
    right = {"0": "1", "10": "11"}.get(x)
    one, result = run(tmp_path, LESSON.replace("x = 1\n", f"x = {x}\n"))
    problems = quiz.check(one, result)
    if right:  # another option is the right one now, and the page says so
        assert problems == []
        assert f'??? right "`{right}`"' in assemble.page(one, result, "en", WORDS, {one.name})
    else:
        (problem,) = problems
        assert problem.line == 8 and "got False, False, False" in problem.message


def test_two_right_options_are_found(tmp_path: Path) -> None:
    one, result = run(tmp_path, LESSON.replace("1 + x == 11", "1 + x > 0"))
    assert "got True, False, True" in quiz.check(one, result)[0].message


FORMS = {
    "no question": ("# What is `1 + x`?\n#\n", "", "a quiz without a question"),
    "two options": ("# - {{ 1 + x == 11 }} `11`\n", "# or\n", "three options or more"),
    "no reason": ("#     That would be `x` alone.\n", "", "does not say why"),
    "judged by hand": ("{{ 1 + x == 1 }}", "False", "judged by hand"),
    "a formula alone": ("`1`\n", "$1$\n", "has no words"),
    "a quote": ("`1`\n", 'the "one"\n', "write “ ”"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_fault_of_the_form_names_its_cell(tmp_path: Path, form: str) -> None:
    old, new, message = FORMS[form]
    found = quiz.check_form(lesson(tmp_path, LESSON.replace(old, new)))
    assert found and all(message in problem.message for problem in found)
    assert {problem.language for problem in found} == set(LANGUAGES)
