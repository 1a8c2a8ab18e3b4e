"""How Chinese and English text is set: each rule, and what it must leave alone."""

from __future__ import annotations

import pytest

from scripts import typography
from scripts.passages import Passage


def faults(text: str, language: str = "zh") -> list[tuple[int, str]]:
    return [(p.line, p.message) for p in typography.check(Passage("page.md", language, text, 1))]


RIGHT = [
    "词元，位置；向量：查表。对吗？对！（是的）“好”",
    "一个 token 在第 3 行，共 50,257 行，误差 3.1e-8。",
    "调用 `f(x, y)` 得到 `a`，再看 $x, y$：它们相等。",
    "`x`（一个张量）与 **粗体**，*斜体*。",
    "论文（Vaswani et al., 2017）提出 softmax(x) 之后的结果",
    "写成 f(x)，而不是 g(x)。",
    "例句 What is your name? My name is BERT. 共 13 个词元",
    "这是“What is your name?”和“I like cats.”两句",
    "见 [查表](lookup.md)，再看 [`tokpos.one_hot`][] 的说明",
    "```python\n# 汉字,没有空格abc\n```",
    '!!! note "常见的说法"\n\n    其实不然。',
    "数值 {{ n }} 比 {{ m:.1e }} 大 10 倍",
    "第一行以 `x`\n结尾，第二行在 Latin\n之后",
    "第一行  \n第二行",
    "| 词元 | ID |\n|---|---|\n| 猫 | 4 |",
    "## 为什么没有人真的相乘？ {#why}",
    "它占 50% 左右，即 1/2 左右",
    "don't 与 it's 之间有汉字",
    "![图：三张表](a.svg){ width=3 }",
    "文件名是 model.safetensors，版本 2.13 以上",
    '=== "第一种"\n\n    甲',
    "词元[^1] 是什么\n\n[^1]: 见 `a`。",
    "词元\n:   一块文本",
    "他说：“‘词元’是什么？”",
]


@pytest.mark.parametrize("text", RIGHT)
def test_right(text):
    assert faults(text) == []


WRONG = [
    ("词元,位置", "`，` belongs"),
    ("词元, 位置", "`，` belongs"),
    ("词元.", "`。` belongs"),
    ("词元. 位置", "`。` belongs"),
    ("词元...", "`……` belongs"),
    ("例如:词元", "`：` belongs"),
    ("词元;位置", "`；` belongs"),
    ("对吗?", "`？` belongs"),
    ("词元（token）.", "`。` belongs"),
    ("对!", "`！` belongs"),
    ("`x`,然后", "`，` belongs"),
    ("`x`, 然后", "`，` belongs"),
    ("用 BERT,然后", "`，` belongs"),
    ("数是 {{ n }},然后", "`，` belongs"),
    ("向量(三维)", "brackets"),
    ("词元(token)", "brackets"),
    ("词元 (token)", "brackets"),
    ("(Vaswani et al.) 提出", "brackets"),
    ("用token表示", "no space"),
    ("第3行", "no space"),
    ("共 3行", "no space"),
    ("调用`f`得到", "no space"),
    ("令 $x$为零", "no space"),
    ("共{{ n }} 行", "no space"),
    ("共 {{ n }}行", "no space"),
    ("**BERT**的", "no space"),
    ("见 [BERT](a.md)的页面", "no space"),
    ("词元 ，位置", "a space beside"),
    ("`x` ，位置", "a space beside"),
    ("词元， 位置", "a space beside"),
    ("词元 （token）", "a space beside"),
    ("第一行\n第二行", "line break"),
    ("第一行，\n第二行", "line break"),
    ("您好", "not 您"),
    ('所谓"词元"', "straight quotes"),
    ("所谓'词元'", "straight quotes"),
    ("## 查表。 {#lookup}", "full stop"),
    ("| 词元 | ID |\n|---|---|\n| 猫,狗 | 4 |", "`，` belongs"),
    ('!!! note "常见的说法,不对"\n\n    其实不然。', "`，` belongs"),
    ("![图:三张表](a.svg)", "`：` belongs"),
    ("- 猫\n    - 狗,猫", "`，` belongs"),
    ("甲[^1]\n\n[^1]: 猫,狗", "`，` belongs"),
    ('=== "猫"\n\n    猫,狗', "`，` belongs"),
    ("> 猫,狗", "`，` belongs"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong(text, message):
    found = faults(text)
    assert [m for _, m in found if message in m], found


def test_the_line_is_that_of_the_fault():
    text = "一\n`a b\nc` 三 x\n四,五\n\n!!! note\n\n    六 x\n    七(八)\n"
    assert [line for line, _ in faults(text)] == [4, 9]


@pytest.mark.parametrize("text", ["a,b 猫,狗 x", "用token表示", 'so "猫" is', "您"])
def test_english_has_its_own_rules(text):
    assert faults(text, "en") == []


def test_no_heading_ends_with_a_full_stop():
    assert [line for line, _ in faults("a\n\n## A table. {#a}", "en")] == [3]
    assert faults("## What is a table? {#a}\n\nA sentence.", "en") == []
