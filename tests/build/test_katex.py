"""Formulas are typeset while the site is built."""

from __future__ import annotations

import pytest

from scripts.katex import FormulaError, render, typeset

INLINE = r'<span class="arithmatex">\({}\)</span>'


def test_a_formula_has_a_half_for_the_eye_and_one_for_ears() -> None:
    markup = render("x_1 + 2")
    assert "<math " in markup
    assert markup.count('aria-hidden="true"') == 1


def test_no_tex_is_left() -> None:
    markup = render(r"\frac{pos}{10000^{2i/D}}", display=True)
    assert "annotation" not in markup and "semantics" not in markup and "\\" not in markup


def test_the_half_for_the_eye_is_kept_from_the_search_index() -> None:
    from material.plugins.search.plugin import Parser

    parser = Parser()
    parser.feed(f'<h1 id="top">Top</h1><p>Take {render("E + 1")} now.</p>')
    parser.close()
    assert "".join(parser.data[-1].text).strip() == "<p>Take E+1 now.</p>"


@pytest.mark.parametrize(
    ("tex", "complaint"),
    [
        (r"\frac{1", "end of input"),
        (r"\unknown", "Undefined control sequence"),
        ("词", "unicodeTextInMathMode"),
        (r"\href{https://example.org}{x}", "not allowed"),
    ],
)
def test_what_katex_refuses_or_warns_of_is_an_error(tex: str, complaint: str) -> None:
    with pytest.raises(FormulaError, match=complaint) as failure:
        render(tex)
    assert repr(tex) in str(failure.value)


def test_roles_have_their_color() -> None:
    assert 'class="enclosing tp-token"' in render(r"\token{E}")


def test_formulas_of_a_page_are_replaced_in_place() -> None:
    block = '<div class="arithmatex">\\[\ny &lt; 2\n\\]</div>'
    page = typeset(f"<p>a {INLINE.format('x &lt; 3')} b</p>{block}")
    assert page.startswith(f"<p>a {render('x < 3')} b</p>")
    assert page.endswith(f'<div class="formula">{render("y < 2", display=True)}</div>')
    assert "arithmatex" not in page


@pytest.mark.parametrize(
    ("before", "behind", "rest"), [("（", "）。", "它"), ("", ",", " so"), ("", "-wide", " rows")]
)
def test_a_formula_is_not_parted_from_its_punctuation(before: str, behind: str, rest: str) -> None:
    page = typeset(f"<p>{before}{INLINE.format('a = b')}{behind}{rest}</p>")
    formula, parts = page.partition("katex-html")[::2]
    assert formula.startswith(f'<p><span class="tp-whole">{before}<span class="katex">')
    assert page.endswith(f"</span>{behind}</span>{rest}</p>")
    assert parts.count("<wbr>") == 1 == parts.count("katex-base") - 1


def test_a_formula_in_a_heading_is_an_error() -> None:
    with pytest.raises(FormulaError, match="heading"):
        typeset(f'<h2 id="a">The size {INLINE.format("D")}</h2>')
