"""One style sheet for every page: the theme's own, then those that mkdocs.yml names.

A page is drawn when the last of its style sheets is there: one file is there sooner than eight.
Half of the theme's is for parts that this site does not have; a site that is published goes
without them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from scripts.files import write_whole

ADDRESS = "assets/site.css"

_LINK = re.compile(r"url\((?!['\"]?(?:data:|https?:|[#/]))(['\"]?)([^'\")]+)\1\)")
_CHARSET = re.compile(r'@charset "[^"]*";')
# While colors change, nothing moves softly: the page as a whole is styled twice more for it.
_SWITCHING = re.compile(r"\[data-md-color-switching\][^{}]*\{[^}]*\}")

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}@;]+)\{([^{}]*)\}")
_EMPTY = re.compile(r"@(?:media|supports|container)[^{}]*\{\s*\}")
_COMMA = re.compile(r",(?![^(\[]*[)\]])")  # between two selectors of a rule
_BRACKETS = re.compile(r"\([^()]*\)")
_ASKED = re.compile(r"\.((?:[\w-]|\\.)+)|\[[\w-]+=[\"']?([\w-]+)[\"']?\]")
_NAME = re.compile(r"[\w-]+")
_QUOTED = r"""\"[^"]*"|'[^']*'"""
_VARIABLE = re.compile(
    rf"(?<![\w-])(--[\w-]+):(?:{_QUOTED}|\((?:{_QUOTED}|\([^()]*\)|[^()\"'])*\)|[^;{{}}()\"'])*;?"
)


def bundle(theme: Sequence[str], names: Sequence[str], read: Callable[[str], str]) -> str:
    """The two sheets in the folders of the theme, and those with `names`, as `read` gives them."""
    sheets = [
        ("assets/stylesheets/", _of_the_theme(theme, "main")),
        ("assets/stylesheets/", _of_the_theme(theme, "palette")),
        *((name, read(name)) for name in names),
    ]
    joined = "\n".join(_moved(_CHARSET.sub("", sheet), name) for name, sheet in sheets)
    return f'@charset "UTF-8";\n{joined}'


def _of_the_theme(folders: Sequence[str], name: str) -> str:
    """Material's `main` or `palette`; the name of the file holds a hash."""
    for folder in folders:
        for path in Path(folder, "assets/stylesheets").glob(f"{name}.*.min.css"):
            return _SWITCHING.sub("", path.read_text(encoding="utf-8"))
    raise FileNotFoundError(f"the theme has no assets/stylesheets/{name}.*.min.css")


def _moved(sheet: str, name: str) -> str:
    """The sheet with its links to files as they are from where the bundle stands."""
    there, here = posixpath.dirname(name), posixpath.dirname(ADDRESS)

    def link(match: re.Match) -> str:
        path = posixpath.relpath(posixpath.join(there, match[2]), here)
        return f"url({match[1]}{path}{match[1]})"

    return _LINK.sub(link, sheet)


def trim(site: Path, languages: Collection[str]) -> None:
    """Take from a finished site's sheet what no page and no other file of it can come to need.

    `languages` are the folders of other sites.
    """
    names: set[str] = set()
    for path in site.rglob("*"):
        if path.relative_to(site).parts[0] in languages:
            continue
        if path.suffix == ".html":
            for value in set(re.findall(r'="([^"]*)"', path.read_text(encoding="utf-8"))):
                names.update(_NAME.findall(value))
        elif path.suffix in (".js", ".css") and path != site / ADDRESS:
            names.update(_NAME.findall(path.read_text(encoding="utf-8")))
    sheet = (site / ADDRESS).read_text(encoding="utf-8")
    write_whole(site / ADDRESS, trimmed(sheet, names).encode())


def trimmed(sheet: str, names: Collection[str]) -> str:
    """The sheet without selectors that ask for a class or a value that is not among the names.

    What stands in brackets, as in `:not(.a)` and `:is(.a, .b)`, decides nothing.
    """

    def can_match(selector: str) -> bool:
        while (bare := _BRACKETS.sub("", selector)) != selector:
            selector = bare
        asked = (name or value for name, value in _ASKED.findall(selector))
        return all(each in names or "\\" in each for each in asked)

    def rule(match: re.Match[str]) -> str:
        selectors = [each for each in _COMMA.split(match[1]) if can_match(each)]
        return f"{','.join(selectors)}{{{match[2]}}}" if selectors else ""

    sheet = _EMPTY.sub("", _RULE.sub(rule, _COMMENT.sub("", sheet)))
    read = {*re.findall(r"var\(\s*(--[\w-]+)", sheet), *names}
    return _VARIABLE.sub(lambda match: match[0] if match[1] in read else "", sheet)
