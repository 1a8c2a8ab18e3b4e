"""What a page says about its layout."""

from __future__ import annotations

import pytest

from scripts import layout

CODE = '<div class="{}"><pre><span></span><code>{}\n</code></pre></div>\n'


@pytest.mark.parametrize("classes", ["highlight", "output no-copy highlight"])
@pytest.mark.parametrize(("code", "lines"), [("a", 1), ("a\n\n<i>b</i>\nc", 4)])
def test_a_code_block_says_its_lines(classes: str, code: str, lines: int) -> None:
    block = CODE.format(classes, code)
    said = block.replace('"><pre', f'" style="--lines:{lines}"><pre')
    assert layout.prepare(block) == said


def test_what_has_its_output_below_it_says_so() -> None:
    output = CODE.format("output no-copy highlight", "1")
    page = CODE.format("highlight", "1") + output + output + CODE.format("highlight", "2")
    prepared = layout.prepare(page)
    classes = [part.split('"')[0] for part in prepared.split('<div class="')[1:]]
    shown = ["highlight shows", "output no-copy highlight shows", "output no-copy highlight"]
    assert classes == [*shown, "highlight"]


def test_a_table_stands_in_an_element_of_its_own() -> None:
    assert layout.prepare("<table><tr></table>") == '<div class="table"><table><tr></table></div>'
    assert layout.prepare('<table class="x"></table>') == '<table class="x"></table>'
