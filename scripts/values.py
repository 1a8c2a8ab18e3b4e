"""Print a value of the lesson into a sentence: `{{ expression }}` or `{{ expression:.2e }}`."""

from __future__ import annotations

import ast
import re
from typing import Any

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_value(expression: str, namespace: dict[str, Any]) -> str:
    """Evaluate `expression` in `namespace` and format what comes out."""
    source, spec = split(expression)
    value = _plain(eval(compile(source, "<prose>", "eval"), namespace))
    if not spec:
        return _text(value)
    text = format(value, spec)
    return _powers(text) if isinstance(value, int | float) else text


def split(expression: str) -> tuple[str, str]:
    """The expression and its format specification, which an f-string would take."""
    try:
        ast.parse(expression, mode="eval")
    except SyntaxError:
        source, _, spec = expression.rpartition(":")
        if source:
            return source.strip(), spec.strip()
    return expression, ""


def _plain(value: Any) -> Any:
    """A tensor or array of one number as that number."""
    if getattr(value, "ndim", None) == 0:
        return value.item()
    return value


def _text(value: Any) -> str:
    value = _plain(value)
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _powers(f"{value:.4g}")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_item(item) for item in value) + "]"
    raise TypeError(f"a {type(value).__name__} cannot be printed into a sentence")


def _item(value: Any) -> str:
    return str(value) if isinstance(value, int) else _text(value)


def _powers(text: str) -> str:
    """4.1e-07 as 4.1 × 10⁻⁷."""
    return re.sub(
        r"e([+-])0*(\d+)",
        lambda m: " × 10" + f"{'-' if m[1] == '-' else ''}{m[2]}".translate(SUPERSCRIPT),
        text,
    )
