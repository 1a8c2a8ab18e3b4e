"""How a page is cited: in a line, and as an entry of BibTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scripts.imprint import Imprint

_SPECIAL = re.compile(r"([#$%&_{}])")


@dataclass(frozen=True)
class Citation:
    line: str
    bibtex: str


def cite(site: Imprint, title: str, key: str, address: str, words: Mapping[str, Any]) -> Citation:
    """The page at an address as a source; `key` names it in BibTeX."""
    version, commit = site.origin.version, site.origin.short
    said = [
        words["comma"].join(site.authors),
        words["title"].format(title=title),
        site.name,
        words["version"].format(version=version) if version else "",
        site.year,
    ]
    note = [f"version {version}" if version else "", f"commit {commit}" if commit else ""]
    fields = {
        "author": " and ".join(f"{{{_escaped(name)}}}" for name in site.authors),
        "title": f"{{{_escaped(title)}}}",
        "howpublished": _escaped(site.name),
        "year": site.year,
        "note": ", ".join(filter(None, note)),
        "url": address,
    }
    inside = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    line = words["line"].format(what=words["comma"].join(filter(None, said)), address=address)
    return Citation(line, f"@misc{{{key},\n{inside}}}")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
