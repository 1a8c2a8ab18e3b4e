"""From a lesson and its result to Markdown and notebook."""

from __future__ import annotations

import json

import pytest

from scripts import assemble, plain
from scripts.lesson import Lesson
from tests.build.tiny_lesson import TITLE, pair, parse

WORDS = {"checked": "Checked", "build_error": "Error", "notebook": "Download"}
PAGES = {"lessons/one", "lessons/two", "index"}


def lesson_of(tmp_path, *cells: str) -> Lesson:
    return parse(tmp_path, "\n".join([pair(*TITLE), *cells]) + "\n")


def values(cell: int, **found: str) -> dict:
    return {cell: {"values": found}}


def test_a_computed_word_is_no_markup_outside_code(tmp_path):
    text = "Word {{ w }} and `{{ w }}` and $a_{ {{ n }} }$."
    lesson = lesson_of(tmp_path, pair(text, text))
    page = assemble.page(lesson, values(3, w="<PAD>*_", n="4"), "en", WORDS, PAGES)
    assert "Word &#60;PAD&#62;&#42;&#95; and `<PAD>*_` and $a_{ 4 }$." in page


def test_what_follows_a_folded_answer_is_folded_with_it(tmp_path):
    asked = 'Why?\n\n??? question "Answer"\n    So.\n\n    And so.'
    cells = ["# %%\n1", "# %% check=true hide=true\nassert 1 == 1"]
    claim, after = pair("One.", "一。", ' role="claim"'), pair("After.", "后。")
    lesson = lesson_of(tmp_path, pair(asked, asked), *cells, claim, after, cells[0])
    printed = {"output_type": "execute_result", "data": {"text/plain": "1"}}
    shown = {block.cell: {"outputs": [printed]} for block in lesson.code if not block.hide}
    page = assemble.page(lesson, shown, "en", WORDS, PAGES)
    answer, _, rest = page.partition("??? question")[2].partition("\n\nAfter.")
    assert all(line.startswith("    ") for line in answer.split("\n")[1:] if line)
    assert "    ``` python\n    1\n" in answer and "    !!! checked" in answer
    assert rest.startswith("\n\n``` python\n1\n")


def test_the_description_has_its_values(tmp_path):
    text = '# T\n\n<span class="x"></span>One [link](a.md), `code`, {{ w }},\nand $x$.'
    lesson = parse(tmp_path, pair(text, text) + "\n")
    found = assemble.description(lesson, values(1, w="<PAD>"), "en")
    assert found == "One link, code, <PAD>, and x."


@pytest.mark.parametrize(
    ("text", "notebook"),
    [
        ("See [two](two.md#end).", "See [two](two.ipynb#end)."),
        ("See [home](../index.md).", "See [home](../index.ipynb)."),
        ("See [terms](../glossary.md).", "See terms."),
        ("[`x`][tokpos.x] and [`torch.y`][]", "`x` and `torch.y`"),
        ("`x[0][1]` and $a[i][j]$", "`x[0][1]` and $a[i][j]$"),
        ("```python\ny = x[0][1]\n# a {#b}\n```", "```python\ny = x[0][1]\n# a {#b}\n```"),
        ("## Why {#why}", '<a id="why"></a>\n\n## Why'),
        ('!!! note "So"\n\n    Not so.\n\nNext.', "> **So**\n>\n> Not so.\n\nNext."),
    ],
)
def test_the_markdown_of_a_notebook(text, notebook):
    links = assemble.between_notebooks("lessons/one", PAGES)
    assert plain.simplify(text, links) == notebook


def test_a_picture_stands_alone_in_a_notebook(tmp_path):
    lesson = lesson_of(tmp_path, "# %%\nx")
    svg = '<svg a="b"><image class="tp-only-dark" href="x"/>\n<path fill="var(--tp-ink)"/></svg>'
    data = {assemble.LANGUAGES: {"zh": {assemble.SVG: svg, "text/plain": "图"}}, "text/plain": "x"}
    result = {3: {"outputs": [{"output_type": "execute_result", "data": data, "metadata": {}}]}}
    colors = {"--tp-ink": "#111111", "--tp-paper": "#ffffff"}
    made = assemble.notebook(lesson, result, "zh", WORDS, PAGES, colors, "first()")
    first, *_, last = json.loads(made)["cells"]
    assert first["source"] == "first()"
    (output,) = last["outputs"]
    assert output["data"]["text/plain"] == "图"
    assert "var(" not in output["data"][assemble.SVG] and "dark" not in output["data"][assemble.SVG]
    assert "#111111" in output["data"][assemble.SVG]


def test_a_fence_is_longer_than_those_it_holds():
    assert plain.fence("```\nx\n```", "text").startswith("```` text\n")
