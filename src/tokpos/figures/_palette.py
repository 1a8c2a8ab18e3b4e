"""Colors by role, one value for each mode; CSS, figures and widgets read the same file."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal

Mode = Literal["light", "dark"]
Colors = Literal["css", "light", "dark"]

MODES: tuple[Mode, ...] = ("light", "dark")
PALETTE = Path(__file__).parent / "palette.json"


@cache
def palette() -> dict[str, dict[str, str]]:
    """Role to ``{"light": "#rrggbb", "dark": "#rrggbb"}``."""
    roles: dict[str, dict[str, str]] = json.loads(PALETTE.read_text(encoding="utf-8"))
    return roles


def color_of(role: str, colors: Colors) -> str:
    """The color of `role` as ``#rrggbb``; for ``"css"`` a stand-in that `as_variable` knows."""
    roles = palette()
    if role not in roles:
        raise ValueError(f"role must be one of {', '.join(roles)}; got {role!r}")
    if colors == "css":
        return f"#7f{list(roles).index(role):02x}e1"
    return roles[role][colors]


def as_variable(stand_in: str) -> str:
    """The CSS variable behind a stand-in of `color_of`; ValueError for any other color."""
    for role in palette():
        if color_of(role, "css") == stand_in:
            return f"var(--tp-{role})"
    raise ValueError(f"color {stand_in} is not of the palette: take it by role")
