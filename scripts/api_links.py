"""Links between the reference and what is around it: its own entries, the lessons, the manuals.

In a docstring a name in single backticks is a reference, as numpydoc has it, and one in double
backticks is plain code. Which names a lesson uses is read from its code, never run: imports first,
then every name and attribute that leads to an object of the package.
"""

from __future__ import annotations

import ast
import contextlib
import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import griffe

from scripts import api, inventories
from scripts.lesson import Code, Lesson, LessonError, names_of, read
from scripts.translations import Place, documented, rewrite
from scripts.values import split
from scripts.yaml_files import read_yaml

_REFERENCE = re.compile(r"(?<![`\[\w])`([A-Za-z_][\w.]*)`(?![`\]])")

log = logging.getLogger("mkdocs.scripts.api_links")


def find(package: griffe.Module, path: str) -> api.Entry | None:
    """The member of the package at a full path."""
    name, _, rest = path.partition(".")
    if name != package.name:
        return None
    try:
        found: api.Entry = package[rest] if rest else package
        return found
    except (KeyError, griffe.AliasResolutionError):
        return None


class Names:
    """What a name of the package means: the address of its entry in the reference."""

    def __init__(self, package: griffe.Module) -> None:
        self.package = package
        self.shown = {api.final(entry).path: entry.path for entry in api.walk(package)}

    def entry(self, path: str) -> str | None:
        """The entry of an object, by any path that leads to it."""
        found = find(self.package, path)
        try:
            return self.shown.get(api.final(found).path) if found else None
        except griffe.AliasResolutionError:
            return None

    def in_scope(self, name: str, scope: griffe.Object | None) -> str | None:
        """The entry that a docstring means by a name: the nearest, going outwards."""
        while scope is not None:
            if found := self.entry(f"{scope.path}.{name}"):
                return found
            scope = scope.parent
        return self.entry(name)

    def in_lesson(self, lesson: Lesson) -> list[str]:
        """The entries that a lesson uses, each once, in the order of their first use."""
        found: dict[str, None] = {}
        for path in _paths_in(_trees(lesson), self.package.name):
            parts = path.split(".")
            while parts and not (entry := self.entry(".".join(parts))):
                parts.pop()
            # A class is used where its method is; a module is only the way to what it holds.
            for end in range(2, len(parts) + 1):
                entry = self.entry(".".join(parts[:end]))
                if entry and not self._is_module(entry):
                    found.setdefault(entry)
        return list(found)

    def _is_module(self, entry: str) -> bool:
        found = find(self.package, entry)
        return found is not None and found.is_module


def _trees(lesson: Lesson) -> Iterator[ast.AST]:
    for block in lesson.blocks:
        expressions = [] if isinstance(block, Code) else block.expressions
        sources = [block.source] if isinstance(block, Code) else [split(e)[0] for e in expressions]
        for source in sources:
            with contextlib.suppress(SyntaxError):  # the run of the lesson names its place
                yield ast.parse(source)


def _paths_in(trees: Iterable[ast.AST], package: str) -> Iterator[str]:
    """Full paths of the names of a package, in the order in which they are used."""
    bound: dict[str, str] = {}
    for tree in trees:
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr)]
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            if isinstance(node, ast.Import):
                for name in node.names:
                    bound[name.asname or name.name.partition(".")[0]] = (
                        name.name if name.asname else name.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    bound[name.asname or name.name] = f"{node.module}.{name.name}"
            elif isinstance(node, ast.Name | ast.Attribute):
                root, _, rest = _dotted(node).partition(".")
                if (path := bound.get(root, "")).partition(".")[0] == package:
                    yield f"{path}.{rest}".rstrip(".")


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return node.id if isinstance(node, ast.Name) else ""


def lessons(docs: Path) -> list[Lesson]:
    """The lessons in their order; one that cannot be read is another's to report."""
    site = read_yaml(docs / "site.yml")
    result = []
    for name in [name for part in site["parts"] for name in names_of(part)]:
        try:
            result.append(read(docs / f"{name}.py", docs, site["languages"]))
        except (LessonError, FileNotFoundError):
            continue
    return result


class LinkDocstrings(griffe.Extension):
    """Makes references of names, and names under each entry the lessons that use it."""

    def __init__(self, docs: str, language: str) -> None:
        self.docs = Path(docs)
        self.language = language

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        names = Names(pkg)
        manuals = inventories.names(self.docs / "inventories")
        for entry in documented(pkg):
            rewrite(entry, lambda place, text: _linked(text, place, names, manuals))
            for annotation in _annotations(entry):
                _tidy(annotation, pkg)
        words = api.Words.read(self.docs / "translations" / f"{self.language}.yml")
        for path, users in self._used_in(names).items():
            # MkDocs knows the page of a lesson by its notebook.
            links = [f"[{lesson.title(self.language)}](../{lesson.name}.ipynb)" for lesson in users]
            text = words.used_in.format(lessons=words.comma.join(links))
            used = find(pkg, path)
            if used and used.docstring:
                section = griffe.DocstringSectionText(f"{text}\n{{: .used-in }}")
                used.docstring.parsed.append(section)

    def _used_in(self, names: Names) -> dict[str, list[Lesson]]:
        users: dict[str, list[Lesson]] = {}
        for lesson in lessons(self.docs):
            for path in names.in_lesson(lesson):
                users.setdefault(path, []).append(lesson)
        return users


def _linked(text: str, place: Place, names: Names, manuals: set[str]) -> str:
    def link(match: re.Match[str]) -> str:
        name = match[1]
        if isinstance(place.entry, griffe.Function) and name in place.entry.parameters:
            return match[0]
        target = name if name in manuals else names.in_scope(name, place.entry)
        if target and target != place.entry.path:
            return f"[`{name}`][{target}]"
        if not target and name.partition(".")[0] in roots and "." in name:
            message = (
                f"`{name}` is neither in the reference nor in docs/inventories "
                "(plain code stands in double backticks)"
            )
            log.warning(str(place.problem(text, message)))
        return match[0]

    roots = {names.package.name, *(name.partition(".")[0] for name in manuals)}
    return _REFERENCE.sub(link, text)


def _annotations(entry: griffe.Object) -> Iterator[griffe.Expr]:
    """The types in a signature and in the sections of the docstring."""
    found: list[Any] = []
    if isinstance(entry, griffe.Function):
        found = [entry.returns, *(parameter.annotation for parameter in entry.parameters)]
    if entry.docstring:
        lists = [section.value for section in entry.docstring.parsed]
        elements = [element for value in lists if isinstance(value, list) for element in value]
        found += [getattr(element, "annotation", None) for element in elements]
    yield from (annotation for annotation in found if isinstance(annotation, griffe.Expr))


def _tidy(annotation: griffe.Expr, package: griffe.Module) -> None:
    """Shapes in double quotes, as they stand in the source; names that the package only passes on
    (`Tensor`) lead to where they come from."""
    if isinstance(annotation, griffe.ExprTuple):
        annotation.elements = [
            re.sub("^'(.*)'$", r'"\1"', element) if isinstance(element, str) else element
            for element in annotation.elements
        ]
    if isinstance(annotation, griffe.ExprName):
        member = find(package, annotation.canonical_path)
        if isinstance(member, griffe.Alias):
            home, _, _ = member.target_path.rpartition(".")
            if home.partition(".")[0] != package.name:
                annotation.parent = home
        return
    for part in annotation.iterate(flat=False):
        if isinstance(part, griffe.Expr):
            _tidy(part, package)
