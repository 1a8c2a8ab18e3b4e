"""Formulas become HTML and MathML while the site is built, so that no page ships TeX or a renderer.

KaTeX itself (docs/assets/vendor/katex) runs in an embedded V8, loaded once a process. It is
version 0.19.1 as npm's `katex` ships it: `katex.min.js`, the license, and the style sheet with its
woff2 fonts alone. `used.css` beside it is ours: scripts/katex_fonts.py.
"""

from __future__ import annotations

import atexit
import html
import re
from functools import cache
from pathlib import Path
from typing import Protocol

from py_mini_racer import JSEvalException, MiniRacer

KATEX = Path(__file__).parent.parent / "docs/assets/vendor/katex/katex.min.js"

# `\token{x}` and its sisters color a symbol like the part of the figure that it stands for.
ROLES = ("token", "segment", "position", "query", "key", "score")

# Everything KaTeX would only warn of is an error, but for the class names of the colors.
_RENDER = """
var roles = %s;
function render(tex, display) {
  var macros = {};
  roles.forEach(function (role) {
    macros["\\\\" + role] = "\\\\htmlClass{tp-" + role + "}{#1}";
  });
  return katex.renderToString(tex, {
    displayMode: display,
    output: "htmlAndMathml",
    throwOnError: true,
    macros: macros,
    trust: function (context) { return context.command === "\\\\htmlClass"; },
    errorColor: "refused",
    strict: function (code) { return code === "htmlExtension" ? "ignore" : "error"; },
  });
}
"""

# What pymdownx.arithmatex (generic) leaves in a page, and what may not be parted from a formula:
# opening marks before it; letters and closing marks behind it.
_FORMULA = re.compile(
    r"(?P<before>[(\[（“‘《]*)"
    r'<(?P<tag>span|div) class="arithmatex">(?P<open>\\[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>'
    r"(?P<behind>[A-Za-z-]*[,.:;?!)\]’”，。：；？！、）》…—]*)",
    re.S,
)
_PARTS = '</span><span class="katex-base">'  # between two of them a line may break
_HEADING = re.compile(r"<h[1-6][ >](?:(?!</h[1-6]>).)*?class=\"arithmatex\"", re.S)
_ANNOTATION = re.compile(r"<annotation .*?</annotation>", re.S)


class FormulaError(ValueError):
    """A formula that KaTeX refuses; `tex` is the formula."""

    def __init__(self, tex: str, reason: str):
        super().__init__(f"the formula {tex!r} {reason}")
        self.tex = tex


class _Renderer(Protocol):
    def __call__(self, tex: str, display: bool) -> str: ...


@cache
def _renderer() -> _Renderer:
    engine = MiniRacer()
    atexit.register(engine.close)  # left to the interpreter's own end, it hangs now and then
    engine.eval(KATEX.read_text(encoding="utf-8"))
    engine.eval(_RENDER % list(ROLES))

    def call(tex: str, display: bool) -> str:
        return str(engine.call("render", tex, display))

    return call


@cache
def render(tex: str, display: bool = False) -> str:
    """One formula as HTML for the eye and MathML for ears and search.

    Raises
    ------
    FormulaError
        KaTeX refuses the formula or warns of it.
    """
    try:
        markup = _renderer()(tex, display)
    except JSEvalException as error:
        raise FormulaError(tex, f"cannot be typeset: {_reason(error)}") from None
    if "color:refused" in markup:  # how KaTeX marks a command that it may not carry out
        raise FormulaError(tex, "uses a command that is not allowed here")
    # The annotation is the TeX source once more. The visible half is kept out of the search
    # index, which has the MathML; its wrapper must be a tag that does not occur inside it,
    # because the index's parser ends an exclusion at the first closing tag of that name.
    markup = _ANNOTATION.sub("", markup).replace("<semantics>", "").replace("</semantics>", "")
    opening = '<span class="katex-html" aria-hidden="true">'
    before, visible = markup.split(opening)
    closing = "</span></span></span>" if display else "</span></span>"
    if not visible.endswith(closing):
        raise FormulaError(tex, "gave markup of an unknown form")
    visible = visible.removesuffix(closing)
    return (
        f'{before}<bdi class="katex-html" aria-hidden="true" data-search-exclude="math">'
        f"{visible}</bdi>{closing.removeprefix('</span>')}"
    )


def typeset(page: str) -> str:
    """The page with every formula that arithmatex marked rendered in its place.

    Raises
    ------
    FormulaError
        KaTeX refuses a formula, or a formula stands in a heading (whose text also goes, as it
        is written, into the table of contents and the title).
    """
    if heading := _HEADING.search(page):
        raise FormulaError(heading[0], "stands in a heading")
    return _FORMULA.sub(_replace, page)


def _replace(match: re.Match[str]) -> str:
    before, behind = match["before"], match["behind"]
    display = match["open"] == r"\["
    markup = render(html.unescape(match["tex"]).strip(), display)
    if display:
        return f'{before}<div class="formula">{markup}</div>{behind}'
    if not before and not behind:
        return markup
    markup = markup.replace(_PARTS, _PARTS.replace("><", "><wbr><"))
    return f'<span class="tp-whole">{before}{markup}{behind}</span>'


def _reason(error: Exception) -> str:
    """KaTeX's own sentence out of V8's report with its stack trace."""
    found = re.search(r"(?:ParseError: |LaTeX-incompatible input)[^\n]*", str(error))
    return found[0] if found else str(error).strip().splitlines()[0]
