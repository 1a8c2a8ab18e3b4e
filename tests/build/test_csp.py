"""The security policy of a page, computed from the page."""

from __future__ import annotations

import base64
import hashlib

import pytest

from scripts.csp import PolicyError, protect

PAGE = '<head><meta charset="utf-8"></head><body>{}</body>'


def policy_of(body: str, serving: bool = False) -> dict[str, list[str]]:
    page = protect(PAGE.format(body), serving)
    content = page.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    return {name: sources for name, *sources in (rule.split() for rule in content.split("; "))}


def test_nothing_comes_from_another_host() -> None:
    for name, sources in policy_of("").items():
        assert not [source for source in sources if source[0] != "'" and source != "data:"], name
    assert policy_of("")["default-src"] == ["'none'"]


def test_an_inline_script_is_named_by_its_hash() -> None:
    digest = base64.b64encode(hashlib.sha256("let a = '文'".encode()).digest()).decode()
    sources = policy_of("<script>let a = '文'</script><script>let a = '文'</script>")["script-src"]
    assert sources == ["'self'", f"'sha256-{digest}'"]


def test_files_and_data_need_no_hash() -> None:
    body = '<script src="a.js"></script><script id="c" type="application/json">{}</script>'
    assert policy_of(body)["script-src"] == ["'self'"]


def test_serving_allows_the_reload_script_and_nothing_else() -> None:
    usual, serving = policy_of("<script>1</script>"), policy_of("<script>1</script>", serving=True)
    assert serving.pop("script-src") == ["'self'", "'unsafe-inline'"]
    usual.pop("script-src")
    assert serving == usual


@pytest.mark.parametrize("body", ["<style>a{}</style>", '<svg><style type="text/css">*{}</style>'])
def test_a_style_element_is_an_error(body: str) -> None:
    with pytest.raises(PolicyError, match="style"):
        protect(PAGE.format(body))


def test_an_inline_handler_is_an_error() -> None:
    with pytest.raises(PolicyError, match="onclick"):
        protect(PAGE.format('<a href="x" onclick="go()">x</a>'))


def test_text_that_looks_like_markup_is_not_one() -> None:
    assert protect(PAGE.format("<p>&lt;style&gt; on one = two</p>"))


def test_a_page_with_no_place_for_the_policy_is_an_error() -> None:
    with pytest.raises(PolicyError, match="charset"):
        protect("<head></head>")
