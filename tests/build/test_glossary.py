"""The glossary: its data, the check of terms, and its page. The data is the project's own."""

from __future__ import annotations

import re
from pathlib import Path

import markdown
import pytest
import yaml

from scripts import glossary
from scripts.lesson import Problem
from scripts.passages import Passage

DATA = Path(__file__).parents[2] / "docs/glossary.yml"
TERMS = glossary.read(DATA)
LANGUAGES = yaml.safe_load((DATA.parent / "site.yml").read_text("utf-8"))["languages"]
WORDS = {
    language: yaml.safe_load((DATA.parent / f"translations/{language}.yml").read_text("utf-8"))
    for language in LANGUAGES
}


def check(*pairs: tuple[str, str]) -> list[Problem]:
    """The faults of a page of these pairs; each language's texts stand ten lines apart."""
    return TERMS.check(
        [
            {
                "en": Passage("page.py", "en", english, 10 * number, 2 * number - 1),
                "zh": Passage("page.py", "zh", chinese, 10 * number + 5, 2 * number),
            }
            for number, (english, chinese) in enumerate(pairs, 1)
        ]
    )


def chinese(text: str, english: str = "") -> list[str]:
    return [problem.message for problem in check((english, text))]


# Forbidden renderings of terms, and ordinary uses of the same characters.


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("令牌", "令牌"),
        ("先标记化，再查表", "标记化"),
        ("一个标记序列", "标记"),
        ("每个标记 ID 都是整数", "标记"),
        ("标记（token）是什么", "标记"),
        ("特殊标记 `[CLS]`", "特殊标记"),
        ("词汇表有三万行", "词汇表"),
        ("嵌入矩阵", "嵌入矩阵"),
        ("查找表", "查找表"),
        ("词元（token）id 是行号", None),
        ("隐藏状态", "隐藏状态"),
        ("段嵌入", "段嵌入"),
        ("旋转位置嵌入", "旋转位置嵌入"),
        ("层标准化", "层标准化"),
        ("密集梯度", "密集梯度"),
        ("叶子张量", "叶子张量"),
        ("注意力得分", "注意力得分"),
        ("按位相等", "按位相等"),
    ],
)
def test_forbidden_renderings(text, word):
    if word:
        assert any(f"`{word}" in message and "the term is" in message for message in chinese(text))
    else:
        assert chinese(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "在图上标记出这一行",
        "图中标记为红色的行",
        "把它标记成已读",
        "图上的标记表示方向",
        "代码 `令牌` 与 `标记化`",
        "公式 $\\text{令牌}$",
        "```\n令牌\n```",
        "不注意机制上的区别",
        "片段嵌入（segment embedding）",
        "在文件里查找这个词",
        "信息的损耗",
        "字典里没有这个词",
        "注意力评分函数",
        "给词元（token）编号",
    ],
)
def test_ordinary_words(text):
    assert chinese(text) == []


# Words that are wrong only where the English has the term.


@pytest.mark.parametrize(
    ("english", "text", "wrong"),
    [
        ("Each token has a row.", "每个标记有一行。", "标记"),
        ("Each token has a row.", "每个词元（token）有一行，图中已标记。", None),
        ("Mark the row.", "标记这一行。", None),
        ("The `token` is marked.", "`token` 已被标记。", None),
        ("Two axes.", "两个维度。", "维度"),
        ("Two axes, of width 3.", "两个轴，维度是 3。", None),
        ("A width of 3.", "维度是 3。", None),
        ("The lookup is fast.", "查找很快。", "查找"),
        ("Its stride is 0.", "它的步长是 0。", "步长"),
        ("The step is 0.", "它的步长是 0。", None),
        ("A position encoding.", "一种位置嵌入（position embedding）。", "位置嵌入"),
        ("A position embedding.", "一种位置嵌入（position embedding）。", None),
    ],
)
def test_words_with_an_innocent_use(english, text, wrong):
    found = chinese(text, english)
    if wrong:
        assert [m for m in found if m.startswith(f"`{wrong}` where the English has")], found
    else:
        assert found == []


def test_a_fault_is_placed():
    (problem,) = check(("a\n\na token", "甲\n\n乙\n每个标记"))
    assert (problem.path, problem.line, problem.cell, problem.language) == ("page.py", 18, 2, "zh")


# The English in brackets at the first use on a page.


@pytest.mark.parametrize(
    "text",
    [
        "词元（token）是一块文本。词元有编号。",
        "**词元**（token）是一块文本。",
        "[词元](a.md)（token）是一块文本。",
        "词元 ID（token ID）是行号。",
        "独热向量（one-hot vector）只有一个 1。",
        "嵌入表（embedding table）是一个矩阵。",
        "Dropout（暂退法）只在训练时起作用。",
        "层归一化（LayerNorm）与旋转位置编码（rotary position embedding，RoPE；position encoding）",
        "形状与权重不必解释。",
        "`词元` 在代码里不算。",
        "## 词元与位置 {#a}\n\n词元（token）",
        '!!! note "词元"\n\n    词元（token）',
    ],
)
def test_introduced(text):
    assert chinese(text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("词元是一块文本。", 15),
        ("甲\n词元是一块文本。词元（token）", 16),
        ("## 词元（token） {#a}\n\n词元是一块文本。", 17),
        ("| 甲 |\n|---|\n| 词元 |", 17),
        ("词元，也就是说（看这里）token", 15),
    ],
)
def test_not_introduced(text, line):
    problems = [p for p in check(("", text)) if "first use of 词元" in p.message]
    assert [(p.line, p.cell, p.language) for p in problems] == [(line, 2, "zh")]
    assert "词元（token）" in problems[0].message


def test_a_term_is_introduced_once_a_page():
    assert check(("a", "词元（token）"), ("b", "词元")) == []
    (problem,) = check(("a", "甲"), ("b", "词元"))
    assert problem.line == 25


# English terms left standing, and other authors' words.


def test_an_english_term_in_a_chinese_sentence():
    assert any("`token` in Chinese text" in m for m in chinese("每个 token 一行。"))
    assert any("`tokens` in Chinese text" in m for m in chinese("这些 tokens 各占一行。"))


@pytest.mark.parametrize(
    "text",
    [
        "词元（token）",
        "`token` 一行",
        "所谓“token”",
        "位置 {token} 上",
        "《A token is a row》这篇文章",
        "Token Embedding 这个名字",
        "pre-token-izer 这个词",
        "softmax 与 logits（未归一化分数）",
    ],
)
def test_english_that_may_stand(text):
    assert chinese(text) == []


def test_another_authors_word_may_be_named_once():
    named = ("a", "层归一化（LayerNorm），也译作层规范化。")
    assert check(named) == []
    (problem,) = check(named, ("b", "层规范化"))
    assert problem.line == 25
    assert "named once" in problem.message


# English text.


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("A positional encoding", "position encoding"),
        ("Positional embeddings", "position embedding"),
        ("The tokeniser", "tokenizer"),
        ("Tokenisation", "Tokenization"),
        ("It is normalised", "normalized"),
        ("an optimiser", "optimizer"),
        ("to initialise", "initialize"),
        ("colourful neighbours", "color"),
        ("neighbouring rows", "neighbor"),
        ("at the centre", "center"),
        ("a grey cell", "gray"),
        ("modelling and labelled", "modeling"),
        ("learnt rows", "learned"),
        ("under a licence", "license"),
        ("analyse it", "analyze"),
    ],
)
def test_english_faults(text, instead):
    found = [p for p in check((text, "")) if f"write `{instead}" in p.message]
    assert found, check((text, ""))
    assert (found[0].line, found[0].cell, found[0].language) == (10, 1, "en")


@pytest.mark.parametrize(
    "text",
    [
        "The position encoding has four hours; otherwise precise, concise, a promise.",
        "`positional_encoding`, `colour` and $\\text{positional encoding}$",
        "It is positional, a color, a parallel axis controlled by rolling.",
        "Raise, rise, exercise, comprise, advertise, revised, supervised, noise, likewise.",
        "Totally equal, a learned table of a modeled meter.",
    ],
)
def test_english_that_is_right(text):
    assert check((text, "")) == []


# The data and its page.


def test_every_term_of_the_field_is_there():
    entries = [(term.names["en"], term.names["zh"]) for term in TERMS.terms]
    assert len(entries) == len(set(entries)) > 80
    for names in (("token", "词元"), ("hidden state", "隐状态"), ("leaf tensor", "叶张量")):
        assert names in entries


def test_no_term_forbids_its_own_or_anothers_name():
    for term in TERMS.terms:
        text = f"{term.names['zh']}（{term.introduce or ''}）"
        faults = TERMS.check_words(Passage("", "zh", text, 1))
        assert [p.message for p in faults] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_shows_each_term_with_an_anchor(language):
    source = glossary.page(TERMS, language, WORDS)
    html = markdown.markdown(source, extensions=["attr_list", "tables"])
    assert source.startswith(f"# {WORDS[language]['glossary']['title']}\n")
    for term in TERMS.terms:
        name = re.escape(term.names[language])
        assert re.search(rf'<td id="{term.id}">{name}</td>', html), term
    assert len(re.findall(r"<td id=", html)) == len(TERMS.terms)


def test_every_entry_speaks_every_language():
    assert TERMS.check_entries(LANGUAGES) == []


ENTRY = """\
english: {}
groups:
  - id: a
    title: {en: A, zh: 甲, fr: La}
    terms:
      - en: b
        zh: 乙
        fr: be
        note: {en: B., zh: 乙。, fr: Bé.}
"""


def entry(folder: Path, old: str, new: str) -> glossary.Glossary:
    assert old in ENTRY
    (folder / "glossary.yml").write_text(ENTRY.replace(old, new), encoding="utf-8")
    return glossary.read(folder / "glossary.yml")


@pytest.mark.parametrize(
    ("old", "new", "line", "language", "message"),
    [
        ("        fr: be\n", "", 6, "fr", "the term `b` has no name in `fr`"),
        ("        zh: 乙\n", "", 6, "zh", "the term `b` has no name in `zh`"),
        (", fr: Bé.", "", 6, "fr", "the term `b` has no note in `fr`"),
        (", fr: La", "", 3, "fr", "the group `a` has no title in `fr`"),
        ("zh: 乙\n", "zh: 乙\n        nevre: []\n", 6, None, "`nevre` of the term `b` is neither"),
    ],
)
def test_what_an_entry_lacks_is_named_with_its_place(tmp_path, old, new, line, language, message):
    terms = entry(tmp_path, old, new)
    (problem,) = terms.check_entries(["en", "zh", "fr"])
    assert (problem.path, problem.line) == ("docs/glossary.yml", line)
    assert problem.language == language
    assert problem.message.startswith(message)
    terms.check([{"zh": Passage("", "zh", "乙", 1)}])  # goes on without the name


def test_the_page_has_a_column_for_each_language(tmp_path):
    french = {"theme": {"name": "Français"}, "glossary": {"title": "T", "intro": "I", "note": "N"}}
    source = glossary.page(entry(tmp_path, "", ""), "fr", WORDS | {"fr": french})
    assert "| Français | English | 中文 | N |\n|---|---|---|---|\n" in source
    assert "## La {#a-terms}" in source and "| be { #b } | b | 乙 | Bé. |" in source


def test_equal_ids_are_refused(tmp_path):
    with pytest.raises(ValueError, match="two terms have the id"):
        entry(tmp_path, "en: b\n", "en: b\n        zh: 丙\n        fr: ce\n      - en: B\n")
