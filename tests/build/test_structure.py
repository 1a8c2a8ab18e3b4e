"""The languages of a page have one structure: each rule, and what is none of its business."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import structure
from scripts.glossary import Glossary
from scripts.lesson import Problem
from tests.build.tiny_lesson import LANGUAGES, of_pairs, pair, parse

NO_TERMS = Glossary((), (), ())


def found(folder: Path, *pairs: tuple[str, str]) -> list[Problem]:
    return structure.check(of_pairs(folder, *pairs), LANGUAGES, NO_TERMS)


FENCE = "```python\nx = `1` ，$a$ {{\n```"
ALIKE = {
    "headings": ("## One {#one}\n\n### Two {#two}", "## 一 {#one}\n\n### 二 {#two}"),
    "formulas in another order": ("$a$ of $b$", "$b$ 的 $a$"),
    "formula with words": (r"$x_{\text{in {a}}}$", r"$x_{\text{输入 {a}}}$"),
    "formula over two lines": ("$$\na = b\n$$", "$$a = b$$"),
    "expression in a formula": ("$x = {{ n }}$", "$x = {{ n }}$"),
    "escaped dollars": (r"\$5 and \$6 buy it", r"\$5、\$6 都行"),
    "links": (
        "[a](b.md#c), [d][tokpos.e], [`tokpos.f`][], ![g](h.svg)",
        "[`tokpos.f`][]、[甲](b.md#c)、[丁][tokpos.e]、![庚](h.svg)",
    ),
    "link by reference": ("[a][x]\n\n[x]: b.md", "[甲][x]\n\n[x]: b.md"),
    "code spans in another order": ("`a` before ``b`c``", "``b`c`` 之前是 `a`"),
    "code over two lines": ("a `b c` d", "甲 `b\nc` 丁"),
    "code blocks": (f"a\n\n{FENCE}", f"甲\n\n{FENCE}"),
    "code blocks in an admonition": (
        '!!! note "A"\n\n    a\n\n    ```\n    # b\n    ```',
        '!!! note "甲"\n\n    甲\n\n    ```\n    # b\n    ```',
    ),
    "braces in formulas": ("$x^{a_{{b}}}$ and $$ {{c}} $$", "$x^{a_{{b}}}$ 与 $$ {{c}} $$"),
    "braces in code": ("`{{x}}` and `{{` and `}}`", "`{{`、`}}` 与 `{{x}}`"),
    "expressions": ("{{ a }}, `{{ b[0] }}`, {{ e:.1e }}", "{{ e:.1e }}、`{{ b[0] }}`、{{ a }}"),
    "expression with Markdown in it": ("{{ a['x'] * b['y'] }} `c`", "{{ a['x'] * b['y'] }} `c`"),
    "admonition": ('!!! note "A"\n\n    $a$', '!!! note "甲"\n\n    $a$'),
    "table": ("| a | b |\n|---|---|\n| `c` | d |", "| 甲 | 乙 |\n|---|---|\n| `c` | 丁 |"),
    "tabs": ('=== "A"\n\n    `a`\n\n=== "B"\n\n    b', '=== "甲"\n\n    `a`\n\n=== "乙"\n\n    乙'),
    "footnotes": ("a[^1] b\n\n[^1]: `c` d", "甲[^1] 乙\n\n[^1]: `c` 丁"),
    "definitions": ("a\n:   `b` c", "甲\n:   `b` 丙"),
    "tags": ("a<br>b <kbd>c</kbd>", "甲<br>乙 <kbd>丙</kbd>"),
    "a heading's attributes": ("## One {#one .quiet}", "## 一 { #one .quiet }"),
    "heading without a partner's mark": ("## What `x` is {#x}", "## `x` 是什么 {#x}"),
}


@pytest.mark.parametrize("name", ALIKE)
def test_alike(tmp_path, name):
    assert found(tmp_path, ALIKE[name]) == []


# name: (English, Chinese, language, line, part of the message). The English starts at line 6.
UNLIKE = {
    "heading level": ("a\n\n## A {#a}", "甲\n\n### 甲 {#a}", "zh", 12, "`### {#a}`"),
    "heading id": ("## A {#a}", "## 甲 {#b}", "zh", 8, "`## {#b}`"),
    "heading missing": ("## A {#a}\n\nb", "乙", "zh", 10, "`## {#a}` of `en` (line 6)"),
    "heading added": ("a", "甲\n\n## 乙 {#b}", "zh", 10, "`## {#b}` does not stand in `en`"),
    "headings exchanged": (
        "## A {#a}\n\n## B {#b}", "## 乙 {#b}\n\n## 甲 {#a}", "zh", 10, "`## {#b}`",
    ),
    "formula": ("a\n$x$", "甲\n$y$", "zh", 10, "formula `$y$`"),
    "formula missing": ("a\n$x$", "甲", "zh", 9, "formula `$x$` of `en` (line 7)"),
    "formula twice": ("$x$", "$x$ 与 $x$", "zh", 8, "formula `$x$` does not"),
    "formula shown otherwise": ("a\n\n$$x$$", "甲 $x$", "zh", 10, "formula `$x$`"),
    "link": ("[a](b.md)", "[甲](c.md)", "zh", 8, "link `c.md`"),
    "link anchor": ("[a](b.md#x)", "[甲](b.md#y)", "zh", 8, "link `b.md#y`"),
    "cross-reference": ("[a][b.c]", "[甲][b.d]", "zh", 8, "link `[b.d]`"),
    "cross-reference by code": ("[`b.c`][]", "[`b.d`][]", "zh", 8, "link `[b.d]`"),
    "link's definition": ("[a][x]\n\n[x]: b.md", "[甲][x]\n\n[x]: c.md", "zh", 12, "`c.md`"),
    "image": ("![a](b.svg)", "![甲](c.svg)", "zh", 8, "image `c.svg`"),
    "code span": ("`a`", "甲\n`b`", "zh", 9, "code span `b`"),
    "code span missing": ("`a` `a`", "`a`", "zh", 8, "code span `a` of `en` (line 6)"),
    "code block": ("```\na\n```", "```\nb\n```", "zh", 10, "code block"),
    "code block's language": ("```python\na\n```", "```text\na\n```", "zh", 10, "code block"),
    "expression": ("a {{ n }}", "甲 {{ m }}", "zh", 8, "expression `{{ m }}`"),
    "expression's format": ("{{ n:.1f }}", "{{ n:.2f }}", "zh", 8, "expression `{{ n:.2f }}`"),
    "expression in a code block": ("```\n{{ n }}\n```", "```\n{{ m }}\n```", "zh", 11, "{{ m }}"),
    "admonition kind": ('!!! note "A"\n\n    a', '!!! tip "甲"\n\n    甲', "zh", 10, "admonition"),
    "admonition missing": ('!!! note "A"\n\n    a', "甲", "zh", 10, "admonition `!!! note`"),
    "code in an admonition": (
        '!!! note "A"\n\n    a\n\n    `b`', '!!! note "甲"\n\n    甲\n\n    `c`', "zh", 16, "`c`",
    ),
    "table rows": (
        "| a |\n|---|\n| b |\n| c |", "| 甲 |\n|---|\n| 乙 |", "zh", 11, "table `2 x 1`",
    ),
    "tab missing": ('=== "A"\n\n    a', "甲", "zh", 10, "admonition `!!! tab`"),
    "footnote": ("a[^1]\n\n[^1]: b", "甲\n\n[^1]: 乙", "zh", 10, "footnote `[^1]`"),
    "code in a footnote": ("a[^1]\n\n[^1]: `b`", "甲[^1]\n\n[^1]: `c`", "zh", 12, "`c`"),
    "code in a definition": ("a\n:   `b`", "甲\n:   `c`", "zh", 10, "`c`"),
    "tags": ("a<br>b", "甲<hr>乙", "zh", 8, "HTML tag `<hr>`"),
    "no id, English": ("## A", "## 甲 {#a}", "en", 6, "without an id"),
    "no id, Chinese": ("## A {#a}", "甲\n\n## 甲", "zh", 10, "without an id"),
    "id twice": ("## A {#a}\n\n## B {#a}", "## 甲 {#a}\n\n## 乙 {#a}", "en", 8, "line 6 already"),
    "second H1": ("# A", "# 甲", "zh", 8, "a second H1"),
    "brace without blanks": ("{{x}}", "甲", "en", 6, "stray `{{`"),
    "brace alone": ("a", "甲\n乙 }} 丙", "zh", 9, "stray `}}`"),
    "brace in a heading": ("## A {{x}} {#a}", "## 甲 {#a}", "en", 6, "stray"),
    "brace in an admonition": ("!!! note\n\n    {{a", "!!! note\n\n    甲", "en", 8, "stray"),
    "brace in a link": ("[{{a](b)", "[甲](b)", "en", 6, "stray"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNLIKE)
def test_unlike(tmp_path, name):
    english, chinese, language, line, message = UNLIKE[name]
    problems = found(tmp_path, (english, chinese))
    matching = [p for p in problems if message in p.message and p.language == language]
    assert matching, problems
    assert line in [p.line for p in matching], matching
    assert {p.cell for p in matching} == {3 if language == "en" else 4}
    assert {p.path for p in matching} == {"docs/lessons/one.py"}


def test_the_title_stands_in_the_first_prose(tmp_path):
    lesson = parse(tmp_path, pair("a", "甲") + "\n" + pair("# A", "# 甲"))
    problems = structure.check(lesson, LANGUAGES, NO_TERMS)
    assert [(p.line, p.cell, p.language) for p in problems] == [(6, 3, "en"), (8, 4, "zh")]
    assert "must stand in the first prose" in problems[0].message


def test_a_page_without_title(tmp_path):
    problems = structure.check(parse(tmp_path, pair("a", "甲")), LANGUAGES, NO_TERMS)
    assert [(p.line, p.cell, p.language) for p in problems] == [(2, 1, "en"), (4, 2, "zh")]
    assert "no H1" in problems[0].message


def pages(folder: Path, **texts: str) -> list[Problem]:
    """Problems of a page given in each language."""
    for language, text in texts.items():
        path = folder / "docs" / language / "page.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return structure.check_pages(folder / "docs", LANGUAGES, NO_TERMS)


def test_pages_alike(tmp_path):
    english = "---\ntitle: A\n---\n# A\n\na `b`\n\n## C {#c}\n\n- [d](e.md)\n- f\n"
    chinese = "# 甲\n\n甲 `b`\n\n## 丙 {#c}\n\n- [丁](e.md)\n- 己\n"
    assert pages(tmp_path, en=english, zh=chinese) == []


@pytest.mark.parametrize(
    ("english", "chinese", "language", "line", "message"),
    [
        ("# A\n\na `b`\n", "# 甲\n\n甲\n", "zh", 3, "code span `b` of `en` (line 3)"),
        ("# A\n\na\n\nb\n", "# 甲\n\n甲\n", "zh", 1, "2 blocks"),
        ("# A\n\na\n", "# 甲\n\n- 甲\n", "zh", 3, "bullet list"),
        ("---\nx: y\n---\n# A\n\n## B\n", "# 甲\n\n## 乙 {#b}\n", "en", 6, "without an id"),
        ("# A\n\n[a](b.md)\n", "# 甲\n\n[甲](c.md)\n", "zh", 3, "link `c.md`"),
        ("# A\n\n[a][x]\n\n[x]: b.md\n", "# 甲\n\n[甲][x]\n\n[x]: c.md\n", "zh", 5, "`c.md`"),
        ("# A\n\na\n", "# 甲\n\n甲,乙\n", "zh", 3, "half-width"),
    ],
)
def test_pages_unlike(tmp_path, english, chinese, language, line, message):
    problems = pages(tmp_path, en=english, zh=chinese)
    (problem, *_) = [p for p in problems if message in p.message]
    assert (problem.path, problem.line) == (f"docs/{language}/page.md", line)
    assert (problem.language, problem.cell) == (language, None)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_in_one_language_alone(tmp_path, language):
    other = "zh" if language == "en" else "en"
    (problem,) = pages(tmp_path, **{language: "# A\n"})
    assert (problem.path, problem.language) == (f"docs/{other}/page.md", other)
    assert "missing translation" in problem.message


def words(folder: Path, english: str, chinese: str) -> list[Problem]:
    (folder / "docs/translations").mkdir(parents=True)
    for language, text in (("en", english), ("zh", chinese)):
        (folder / "docs/translations" / f"{language}.yml").write_text(text, encoding="utf-8")
    return structure.check_words(folder / "docs", LANGUAGES, NO_TERMS)


def test_words_alike(tmp_path):
    assert words(tmp_path, "a: {b: 'Part {n}'}\nc: d\n", "c: 丁\na:\n  b: '第 {n} 部分'\n") == []


@pytest.mark.parametrize(
    ("english", "chinese", "language", "line", "message"),
    [
        ("a: b\nc: {d: e}\n", "a: 乙\n", "zh", 1, "missing translation: `c.d`"),
        ("a: b\n", "a: 乙\nc: 丙\n", "en", 1, "`c`, which stands in docs/translations/zh.yml:2"),
        ("a: b\nc: '{n} of {m}'\n", "a: 乙\nc: '{n}'\n", "zh", 2, "`c`: its fields"),
        ("a: b\nc: d\n", "a: 乙\nc: 丙,丁\n", "zh", 2, "half-width"),
        ("theme: {name: a}\n", "theme: {name: a}\n", "zh", 1, "is that of `en`, too: a"),
    ],
)
def test_words_unlike(tmp_path, english, chinese, language, line, message):
    (problem,) = words(tmp_path, english, chinese)
    assert (problem.path, problem.line) == (f"docs/translations/{language}.yml", line)
    assert message in problem.message
    assert problem.language == language
