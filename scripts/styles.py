"""One style sheet for every page: the theme's own, then those that mkdocs.yml names.

A page is drawn when the last of its style sheets is there: one file is there sooner than eight.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from pathlib import Path

ADDRESS = "assets/site.css"

_LINK = re.compile(r"url\((?!['\"]?(?:data:|https?:|[#/]))(['\"]?)([^'\")]+)\1\)")
_CHARSET = re.compile(r'@charset "[^"]*";')
# While colors change, nothing moves softly: the page as a whole is styled twice more for it.
_SWITCHING = re.compile(r"\[data-md-color-switching\][^{}]*\{[^}]*\}")


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
