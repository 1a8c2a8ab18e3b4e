"""Hints: the first use of a term leads to the glossary, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import glossary, hints
from scripts.glossary import Glossary

TERMS = """\
english: {}
groups:
  - id: text
    title: {en: Text, zh: 文本}
    terms:
      - en: token
        zh: 词元
        meaning: {en: "A piece of <text>.", zh: 一小块文本。}
      - en: token ID
        zh: 词元 ID
        meaning: {en: Its number., zh: 它的编号。}
      - {en: vector, zh: 向量}
"""


@pytest.fixture
def terms(tmp_path: Path) -> Glossary:
    path = tmp_path / "glossary.yml"
    path.write_text(TERMS, encoding="utf-8")
    return glossary.read(path)


def link(word: str, term: str, meaning: str) -> str:
    return f'<a class="term" href="../g.html#{term}" title="{meaning}">{word}</a>'


def add(html: str, terms: Glossary, language: str = "en") -> str:
    return hints.add(html, terms, language, "../g.html")


def test_the_first_use_of_each_term(terms: Glossary) -> None:
    page = "<p>Some token, a token ID, tokens.</p><p>A token and a vector.</p>"
    token, number = link("token", "token", "A piece of &lt;text&gt;."), "Its number."
    assert add(page, terms) == (
        f"<p>Some {token}, a {link('token ID', 'token-id', number)}, tokens.</p>"
        "<p>A token and a vector.</p>"
    )


def test_chinese_words_need_no_blanks(terms: Glossary) -> None:
    page = "<p>这个词元ID，词元 ID 与词元。</p>"
    number, token = link("词元 ID", "token-id", "它的编号。"), link("词元", "token", "一小块文本。")
    assert add(page, terms, "zh") == f"<p>这个{token}ID，{number} 与词元。</p>"


def test_a_term_inside_a_used_longer_one_is_left_alone(terms: Glossary) -> None:
    number, token = link("词元 ID", "token-id", "它的编号。"), link("词元", "token", "一小块文本。")
    page = "<p>词元 ID。词元 ID 和词元。</p>"
    assert add(page, terms, "zh") == f"<p>{number}。词元 ID 和{token}。</p>"


@pytest.mark.parametrize(
    "around",
    [
        "<h2 id='token'>token</h2>",
        "<code>token</code>",
        "<pre><span>token</span> <span>x</span> token</pre>",
        '<a href="token">token</a>',
        '<span class="katex"><span>token</span><br>token</span>',
        "<svg><text>token</text></svg>",
        "<summary>token</summary>",
        "<!-- token -->",
        '<img alt="token">',
        "<p>tokenizer, sub-token</p>",
    ],
)
def test_elsewhere_nothing_changes(terms: Glossary, around: str) -> None:
    page = f"{around}<p>token</p>"
    found = add(page, terms)
    assert found == f"{around}<p>{link('token', 'token', 'A piece of &lt;text&gt;.')}</p>"


def test_capital_letters_and_the_plural(terms: Glossary) -> None:
    meaning = "A piece of &lt;text&gt;."
    assert add("<p>Tokens</p>", terms) == f"<p>{link('Token', 'token', meaning)}s</p>"
