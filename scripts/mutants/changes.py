"""Every small fault that can be put into a module: a constant, a sign, an axis, an off-by-one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# What is written for what. Of an operator that stands between two operands, the text there.
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
NAMES = {
    "sin": "cos",
    "cos": "sin",
    "min": "max",
    "max": "min",
    "amin": "amax",
    "amax": "amin",
    "ceil": "floor",
    "floor": "ceil",
    "tril": "triu",
    "triu": "tril",
    "clamp_min": "clamp_max",
    "ones": "zeros",
    "zeros": "ones",
}


@dataclass(frozen=True)
class Change:
    """Text of a module from offset `start` to `end`, and what stands there instead."""

    line: int
    start: int
    end: int
    old: str
    new: str

    def applied(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]

    def shown(self, source: str) -> str:
        """The line with the fault."""
        return self.applied(source).split("\n")[self.line - 1].strip()


def changes(source: str) -> Iterator[Change]:
    """Every change of a module's source, in its order."""
    raw = source.encode()
    starts = [0]
    for row in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))

    def place(row: int, column: int) -> int:
        return len(raw[: starts[row - 1] + column].decode())

    for node in _live(ast.parse(source)):
        for first, last, old, new in _faults(node, source):
            if first is last:
                at = place(first.lineno, first.col_offset)
                end = place(first.end_lineno, first.end_col_offset)
            else:  # an operator, between its operands
                at = place(first.end_lineno, first.end_col_offset)
                end = place(last.lineno, last.col_offset)
            at = source.index(old, at, end)
            yield Change(source.count("\n", 0, at) + 1, at, at + len(old), old, new)


def _live(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that do something: no annotations, no messages of errors, no imports for types."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Raise | ast.JoinedStr) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            yield from _live(child)


def _faults(node: Any, source: str) -> Iterator[tuple[Any, Any, str, str]]:
    """For each fault of one node: the nodes it lies in or between, old text, new text."""

    def text(node: ast.AST) -> str:
        return ast.get_source_segment(source, node) or ""

    match node:
        case ast.Constant(value=bool(value)):
            yield node, node, str(value), str(not value)
        case ast.Constant(value=int(value)):
            yield node, node, text(node), str(value + 1)
        case ast.Constant(value=float(value)):
            yield node, node, text(node), str(value * 1.5 or 1.0)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            yield left, right, *OPERATORS[type(op)]
        case ast.BoolOp(op=op, values=[left, right, *_]):
            yield left, right, *OPERATORS[type(op)]
        case ast.Compare(left=left, ops=[op, *_], comparators=[right, *_]) if type(op) in OPERATORS:
            yield left, right, *OPERATORS[type(op)]
        case ast.UnaryOp(op=ast.USub()):
            yield node, node, "-", ""
        case ast.UnaryOp(op=ast.Not()):
            yield node, node, "not ", ""
        case ast.Slice(lower=lower, upper=upper):
            for bound in (lower, upper):
                if isinstance(bound, ast.Name | ast.Attribute):
                    yield bound, bound, text(bound), f"{text(bound)} + 1"
        case ast.Attribute(value=value, attr=attr) if attr in NAMES:
            yield node, node, text(node), f"{text(value)}.{NAMES[attr]}"
        case ast.Name(id=name) if name in NAMES:
            yield node, node, name, NAMES[name]
