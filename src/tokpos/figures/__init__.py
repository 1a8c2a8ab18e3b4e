"""Drawings that explain, one function each, labelled in the reader's language.

A module of this folder holds the figures of one subject, and its ``gallery()`` yields each of
them once, ready to be saved. Words come from ``words/<language>.json``, colors from
``palette.json``. Needs the extra ``figures``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from tokpos._extras import from_extra
from tokpos._words import LANGUAGES_MIME, MissingWordError, languages, use_language

with from_extra("figures"):
    from tokpos.figures._canvas import Canvas
    from tokpos.figures._figure import Figure, MissingGlyphError
    from tokpos.figures._palette import palette
    from tokpos.figures._plane import Plane

__all__ = [
    "LANGUAGES_MIME",
    "Canvas",
    "Figure",
    "MissingGlyphError",
    "MissingWordError",
    "Plane",
    "gallery",
    "languages",
    "palette",
    "use_language",
]


def gallery() -> Iterator[Figure]:
    """Every figure of every subject, for `make figures` and the tests."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        if not module.name.startswith("_"):
            yield from import_module(f"{__name__}.{module.name}").gallery()
