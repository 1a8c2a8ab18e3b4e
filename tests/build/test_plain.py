"""The Markdown beside each page: plain, whole, and with links that lead to other Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import assemble, page_text, plain
from tests.build.tiny_lesson import TITLE, pair, parse

WORDS = {
    "checked": "Checked",
    "quiz_right": "Right.",
    "quiz_wrong": "Not so.",
    "quiz_answers": "Answers",
    "machines": {"figure": "Figure: {text}"},
}
ADDRESSES = {"tokpos.rope.rotate": "api/rope.md"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("See [two](two.md#end).", "See [two](two.md)."),
        ("See [terms](../glossary.md).", "See [terms](../glossary.md)."),
        ("See [here](#end).", "See here."),
        ("[`rotate`][tokpos.rope.rotate]", "[`rotate`](../api/rope.md)"),
        ("[`tokpos.rope.rotate`][]", "[`tokpos.rope.rotate`](../api/rope.md)"),
        ("[`torch.nn.Linear`][]", "`torch.nn.Linear`"),
        ("`x[0][1]`, $a[i][j]$ and `{#id}`", "`x[0][1]`, $a[i][j]$ and `{#id}`"),
        ("## Why {#why}\n\nSo.", "## Why\n\nSo."),
        ("| token { #token } | 词元 |", "| token | 词元 |"),
        ("Kept.\n{: .kept }\nNext.", "Kept.\nNext."),
        ('!!! note "So"\n\n    Not so.\n\nNext.', "> **So**\n>\n> Not so.\n\nNext."),
        ('<span class="one-page"></span>One.', "One."),
    ],
)
def test_what_this_site_alone_knows_is_said_plainly(text: str, wanted: str) -> None:
    assert plain.simplify(text, page_text.links("lessons/one", ADDRESSES)) == wanted


def test_a_lesson_has_its_words_code_and_outputs(tmp_path: Path) -> None:
    quiz = "Which?\n\n" + "\n\n".join(
        f"- {{{{ {right} }}}} {name}\n\n    Since {name}."
        for right, name in (("a == 1", "One"), ("a == 2", "Two"), ("a == 3", "Three"))
    )
    lesson = parse(tmp_path, "\n".join([
        pair(*TITLE),
        pair("## Begin {#begin}\n\n{{ w }} and $x$.", "## 开始 {#begin}\n\n{{ w }} 和 $x$。"),
        "# %%\nshow()", pair("Look *here*.", "看这里。", ' role="caption"'),
        pair("`lookup`\n\nTry.\n\n---\n\nSeen.", "`lookup`\n\n试。\n\n---\n\n见。", ' role="widget"'),
        "# %% hide=true\nhidden()", "# %% raises=IndexError\n[][0]",
        "# %% check=true\nassert a == 1", pair("It is one.", "是一。", ' role="claim"'),
        pair(quiz, quiz, ' role="quiz"'),
    ]) + "\n")  # fmt: skip
    svg = {assemble.SVG: "<svg/>", "text/plain": "两条 <线>"}
    data = {assemble.LANGUAGES: {"zh": svg, "en": {**svg, "text/plain": "two <lines>"}}}
    codes = {block.source: block.cell for block in lesson.code}
    answers = next(block.cell for block in lesson.prose if block.role == "quiz")
    result = {
        3: {"values": {"w": "a_b <PAD>"}},
        codes["show()"]: {"outputs": [{"output_type": "display_data", "data": data}]},
        codes["hidden()"]: {"outputs": [{"output_type": "stream", "name": "x", "text": "out\n"}]},
        codes["[][0]"]: {"outputs": [{"output_type": "error", "traceback": ["IndexError: no"]}]},
        answers: {"values": {"a == 1": "True", "a == 2": "False", "a == 3": "False"}},
    }
    links = page_text.links(lesson.name, {})
    english = page_text.of_lesson(lesson, result, "en", WORDS, links)
    assert english.split("\n\n") == [
        "# Title", "## Begin", r"a\_b \<PAD\> and $x$.",
        "``` python\nshow()\n```", r"*Figure: two \<lines\>*", "Look *here*.",
        "``` text\nout\n```",
        "``` python\n[][0]\n```", "``` text\nIndexError: no\n```",
        "``` python\nassert a == 1\n```", "> **Checked**\n>\n> It is one.",
        "Which?", "- One\n- Two\n- Three", "<details><summary>Answers</summary>",
        "- One: **Right.** Since One.\n- Two: **Not so.** Since Two.\n"
        "- Three: **Not so.** Since Three.",
        "</details>\n",
    ]  # fmt: skip
    chinese = page_text.of_lesson(lesson, result, "zh", WORDS, links)
    assert r"*Figure: 两条 \<线\>*" in chinese and "Look" not in chinese
