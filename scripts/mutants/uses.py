"""Which modules of the package some code imports, directly or not, read from its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


class Uses:
    """The imports of a package whose `__init__` gives names of its modules."""

    def __init__(self, package: Path):
        self.package = package.name
        paths = {path: path.relative_to(package).with_suffix("") for path in package.rglob("*.py")}
        self.modules = {".".join(name.parts): path for path, name in paths.items()}
        self.places: dict[str, str] = {}  # of a public name, its module
        for node in ast.walk(self._tree("__init__")):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(self.package):
                module = (node.module or "").partition(".")[2]
                self.places |= {name.name: module for name in node.names}
        self.own = {
            module: set(self._imported(self._tree(module)))
            for module in self.modules
            if module != "__init__"
        }

    def _tree(self, module: str) -> ast.AST:
        return ast.parse(self.modules[module].read_text(encoding="utf-8"))

    def _imported(self, tree: ast.AST) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    yield from self._named(name.name)
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    yield from self._named(f"{node.module}.{name.name}")
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == self.package:
                yield from self._named(f"{self.package}.{node.attr}")

    def _named(self, name: str) -> Iterator[str]:
        """The module that an imported name is, or is in."""
        package, _, rest = name.partition(".")
        if package != self.package:
            return
        parts = rest.split(".")
        yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))
        yield self.places.get(parts[0], parts[0])

    def direct(self, code: str) -> set[str]:
        return set(self._imported(ast.parse(code))) & self.modules.keys()

    def all(self, code: str) -> set[str]:
        found, waiting = set(), self.direct(code)
        while waiting:
            module = waiting.pop()
            found.add(module)
            waiting |= (self.own.get(module, set()) & self.modules.keys()) - found
        return found
