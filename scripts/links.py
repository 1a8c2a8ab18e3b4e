"""Where pages point outside: to the addresses of docs/links.yml, and each of those is pointed to.

Scripts, styles and pictures are not looked at here: the security policy of a page lets none of
them come from outside.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from scripts.lesson import Problem
from scripts.yaml_files import entries

SHOWN = "docs/links.yml"
_TRACKING = re.compile(r"[?&](utm_\w+|fbclid|gclid|igshid|mc_[ce]id|msclkid|ref|ref_src|spm)=")
_HREF = re.compile(r"""href\s*=\s*["']?((?!data:)(?:[a-zA-Z][\w+.-]*:|//)[^"'\s>]*)""")
_MARKDOWN = re.compile(r"(?:\]\(|<|^\[.*\]: )(https?://[^\s)>]+)", re.MULTILINE)


@dataclass(frozen=True)
class Link:
    """One entry of the list: an address, or with `*` at its end all addresses that begin so."""

    address: str
    topic: str
    line: int


def read(path: Path) -> list[Link]:
    return [Link(address, key.partition(".")[0], line) for key, address, line in entries(path)]


def check_form(links: list[Link]) -> list[Problem]:
    """Every entry is an address as one writes it, stands once, and in the order of its topic."""
    problems, seen, last = [], dict[str, int](), Link("", "", 0)
    for link in links:
        fault = _fault(link.address)
        if link.address in seen:
            fault = f"it stands in line {seen[link.address]} already"
        elif not fault and link.topic == last.topic and link.address < last.address:
            fault = f"in the order of the alphabet it stands before {last.address}"
        if fault:
            problems.append(Problem(SHOWN, link.line, f"{link.address}: {fault}"))
        seen.setdefault(link.address, link.line)
        last = link
    return problems


def _fault(address: str) -> str:
    """What is wrong with the form of an address, or nothing."""
    parts = urlsplit(address)
    if not address.startswith("https://"):
        return "an address begins with https://"
    if not re.fullmatch(r"[!-~]+", address):
        return "an address has no blanks, and of other letters than ASCII the codes, such as %E8"
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc) or not parts.path:
        return "after https:// come a host in small letters, without user or port, and a slash"
    if tracked := _TRACKING.search(address):
        return f"`{tracked[1]}` only tells where a reader comes from; leave it out"
    if "#" in address:
        return "pages may point to any place of it; leave out what begins with #"
    return ""


class Outside:
    """What the pages of one language point to, held against the list.

    `own` are the beginnings of addresses that are not outside: the site's, its repository's.
    `manuals` are those whose pages the reference links to by name; no other entry has a `*`.
    `used` are the addresses that are pointed to besides the pages.
    """

    def __init__(
        self,
        links: list[Link],
        own: Iterable[str],
        manuals: Iterable[str] = (),
        used: Iterable[str] = (),
    ):
        self.listed = {link.address: link for link in links}
        self.begun = tuple(a[:-1] for a in self.listed if a.endswith("*"))
        self.own = tuple(address for address in own if address)
        self.manuals = set(manuals)
        self.used: set[str] = set()
        for address in used:
            self.uses(address)

    def unlisted(self, page: str) -> list[str]:
        """The addresses that a finished page points to and that are not in the list, each once."""
        found = dict.fromkeys(html.unescape(address) for address in _HREF.findall(page))
        return [each for each in found if not each.startswith(self.own) and not self.uses(each)]

    def uses(self, address: str) -> bool:
        """Whether an address is in the list; from now on it counts as pointed to."""
        entry = address.partition("#")[0]
        if entry not in self.listed:
            entry = next((f"{a}*" for a in self.begun if address.startswith(a)), "")
        self.used.add(entry)
        return bool(entry)

    def check_list(self) -> list[Problem]:
        """The entries that no page needs, known when all pages are made."""
        problems = []
        for address, link in self.listed.items():
            fault = "" if address in self.used else "no page points there; take it out"
            if address.endswith("*") and address[:-1] not in self.manuals:
                fault = "only manuals that mkdocs.yml names as inventories are listed with `*`"
            if fault:
                problems.append(Problem(SHOWN, link.line, f"{address}: {fault}"))
        return problems


def unlisted(address: str, what: str = "page") -> str:
    return f"this {what} points to '{address}', which is not in {SHOWN}"


def _readmes(root: Path) -> list[Path]:
    return sorted(root.glob("*.md"))


def beside(root: Path) -> set[str]:
    """What the Markdown beside the project's folders points to, README.md and its like."""
    texts = [path.read_text(encoding="utf-8") for path in _readmes(root)]
    return {address for text in texts for address in _MARKDOWN.findall(text)}


def check_readmes(root: Path, links: list[Link]) -> list[Problem]:
    """The links of those files that are not in the list."""
    listed, problems = Outside(links, []), []
    for path in _readmes(root):
        text = path.read_text(encoding="utf-8")
        for match in _MARKDOWN.finditer(text):
            if not listed.uses(match[1]):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(Problem(path.name, line, unlisted(match[1], "file")))
    return problems
