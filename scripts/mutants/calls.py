"""Which functions of the package a run calls: a fault elsewhere in it cannot be noticed."""

from __future__ import annotations

import ast
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

CHILDREN = {"os.fork", "os.posix_spawn", "subprocess.Popen"}  # audited by Python


class Function(NamedTuple):
    """A function of the package, by its module and its first line, decorators included."""

    module: str
    line: int


def around(source: str, module: str, line: int) -> Function | None:
    """The innermost function whose body has a line; None for what runs when it is imported."""
    inner = None
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and line in _lines(node.body):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if inner is None or first > inner.line:
                inner = Function(module, first)
    return inner


def _lines(body: list[ast.stmt]) -> range:
    return range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1)


def called(call: Callable[[], str], package: Path) -> tuple[str, set[Function] | None]:
    """What `call` gives, and the functions that it called; None if other processes did as well."""
    found: set[Function] = set()
    children = False
    folder = f"{package}{os.sep}"

    def watch(frame: FrameType, _: str, __: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(folder):
            found.add(Function(Path(code.co_filename).stem, code.co_firstlineno))

    def audit(event: str, _: object) -> None:
        nonlocal children
        children |= event in CHILDREN

    sys.addaudithook(audit)
    threading.settrace(watch)
    sys.settrace(watch)
    answer = call()
    sys.settrace(None)
    return answer, None if children else found
