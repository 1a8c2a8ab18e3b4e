"""All rows of the table, in its order."""

from __future__ import annotations

from importlib import import_module

from scripts.bench.measure import ROWS

for _subject in ("sinusoidal", "rope", "scores", "tables", "import"):
    import_module(f"scripts.bench.rows_{_subject}")  # which adds its rows

__all__ = ["ROWS"]
