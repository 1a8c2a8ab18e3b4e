"""What spares a browser work while it lays a page out, since the page says it.

- How many lines a code block has, and so how high it will be (`--lines`).
- Which block has its output below it: `:has(+ .output)` would be asked of all at each addition.
- A table stands in an element of its own: Material's script puts it into another one, and only
  what stands beside it there is styled again.
"""

from __future__ import annotations

import re

_BLOCK = re.compile(
    r'<div class="(?P<classes>(?:[\w -]+ )?highlight)"(?P<code>[^>]*>.*?)</pre>'
    r'(?P<output>(?=</div>\s*<div class="output\b))?',
    re.DOTALL,
)
_END = re.compile(r"\n?(?:</\w+>)*$")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


def prepare(page: str) -> str:
    """The HTML of a page's content with what is said above."""
    return _TABLE.sub(r'<div class="table">\g<0></div>', _BLOCK.sub(_block, page))


def _block(block: re.Match[str]) -> str:
    lines = _END.sub("", block["code"]).count("\n") + 1
    shows = " shows" if block["output"] is not None else ""
    return f'<div class="{block["classes"]}{shows}" style="--lines:{lines}"{block["code"]}</pre>'
