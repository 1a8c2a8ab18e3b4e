"""The colors of the figures as CSS variables, from the one place where they are kept."""

from __future__ import annotations

import json
from pathlib import Path

PALETTE = Path(__file__).parent.parent / "src/tokpos/figures/palette.json"


def stylesheet(source: Path = PALETTE) -> str:
    """`--tp-<role>` for both modes, and a text class `.tp-<role>` for each role with a tint.

    Dark values hold on a screen only, so that paper always gets the light ones.
    """
    roles: dict[str, dict[str, str]] = json.loads(source.read_text(encoding="utf-8"))
    light = _rules("light", source)
    dark = _rules("dark", source)
    spoken = [role for role in roles if f"{role}-soft" in roles]
    classes = "".join(
        f".tp-{role} {{ color: var(--tp-{role}) }}\n"
        f".tp-{role}-cell {{ background-color: var(--tp-{role}-soft) }}\n"
        for role in spoken
    )
    return (
        f":root {{\n{light}}}\n@media screen {{\n"
        f'[data-md-color-scheme="slate"] {{\n{dark}}}\n}}\n{classes}'
    )


def variables(mode: str, source: Path = PALETTE) -> dict[str, str]:
    """The value of each variable in one mode, for pictures that stand where no style sheet is."""
    roles: dict[str, dict[str, str]] = json.loads(source.read_text(encoding="utf-8"))
    return {f"--tp-{role}": value[mode] for role, value in roles.items()}


def _rules(mode: str, source: Path) -> str:
    return "".join(f"  {name}: {value};\n" for name, value in variables(mode, source).items())
