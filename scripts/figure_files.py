"""The figures of a page: the first stands in it, every other one is a file of its own.

A figure is two thirds of its page's weight, and most are far below what a reader sees first: a
file is loaded when the reader comes near. It follows the page's mode, since a picture's
`prefers-color-scheme` is the `color-scheme` of what it stands in; where a browser does not do
that, the paper that it brings keeps it legible.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from scripts import palette
from scripts.files import write_whole

FOLDER = "figures"

_FIGURE = re.compile(r'<svg [^>]*class="tp-figure".*?</svg>', re.DOTALL)
_FILE = re.compile(r'<img class="tp-figure" src="([^"]+)"[^>]*>')
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_ATTRIBUTE = re.compile(r' ([\w-]+)="([^"]*)"')
_COLOR = re.compile(r"var\((--tp-[\w-]+)\)")


def apart(page: str, site: Path, link: Callable[[str], str]) -> str:
    """A finished page with all its figures but the first as files of the site.

    `link` gives the address of a file of `site` as the page names it.
    """
    first = _FIGURE.search(page)
    if not first:
        return page
    end = first.end()
    return page[:end] + _FIGURE.sub(lambda match: _image(match[0], site, link), page[end:])


def of(page: Path) -> list[Path]:
    """The files of the figures of a page."""
    return [page.parent / found for found in _FILE.findall(page.read_text(encoding="utf-8"))]


def together(page: Path) -> str:
    """The text of a page with all its figures in it."""

    def back(match: re.Match[str]) -> str:
        return _STYLE.sub("", (page.parent / match[1]).read_text(encoding="utf-8"), count=1)

    return _FILE.sub(back, page.read_text(encoding="utf-8"))


def _image(svg: str, site: Path, link: Callable[[str], str]) -> str:
    head, _, rest = svg.partition(">")
    content = f"{head}><style>{_rules(svg)}</style>{rest}\n".encode()
    said = dict(_ATTRIBUTE.findall(head))
    name = f"{FOLDER}/{said['data-figure']}-{hashlib.sha256(content).hexdigest()[:8]}.svg"
    if not (site / name).exists():
        write_whole(site / name, content)
    return (
        f'<img class="tp-figure" src="{link(name)}" alt="{said["aria-label"]}"'
        f' width="{said["width"]}" height="{said["height"]}" loading="lazy">'
    )


def _rules(svg: str) -> str:
    """The colors that the figure uses, in both modes, and which of its raster parts is shown."""
    used = {"--tp-ink", "--tp-paper", *_COLOR.findall(svg)}

    def values(mode: str) -> str:
        known = palette.variables(mode)
        return "".join(f"{name}:{known[name]};" for name in sorted(used))

    return (
        f":root{{{values('light')}color:var(--tp-ink);background:var(--tp-paper)}}"
        ".tp-only-dark{display:none}"
        f"@media(prefers-color-scheme:dark){{:root{{{values('dark')}}}"
        ".tp-only-light{display:none}.tp-only-dark{display:inline}}"
    )
