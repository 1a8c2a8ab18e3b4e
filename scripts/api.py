"""The API reference: which objects are public, and the pages that show them.

The package is read, never imported. A name with an underscore in front is private; of the others
an object is public when griffe says so: it stands in `__all__` where there is one, else it is
defined here. Every object is shown once: an object of a private module under the package that
re-exports it, any other in its own module. Nothing is listed by hand, so that a new module has
its page as soon as its file is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import griffe
import yaml
from babel.messages.catalog import Catalog

from scripts import catalogue
from scripts.yaml_files import read_yaml

FOLDER = "api"
# The package is shown without a heading; an entry of the contents puts it into the inventory.
_NO_HEADING = {"show_root_heading": False, "show_root_toc_entry": True, "heading_level": 2}

Entry = griffe.Object | griffe.Alias


@dataclass(frozen=True)
class Words:
    """What the reference says in one language: its own words, and the docstrings' translations."""

    title: str
    description: str
    used_in: str
    comma: str
    docstrings: Catalog = field(default_factory=Catalog)

    @classmethod
    def read(cls, path: Path) -> Words:
        """Read `zh.yml` and, where there is one, the catalogue `zh.po` beside it."""
        own = read_yaml(path)["api"]
        return cls(**own, docstrings=catalogue.read(path.with_suffix(".po")))

    def summary(self, entry: Entry) -> str:
        """The first paragraph of a docstring, on one line."""
        if not entry.docstring:
            return ""
        first, _, _ = str(entry.docstring.parsed[0].value).partition("\n\n")
        passage = " ".join(first.split())
        return catalogue.translation(self.docstrings, passage) or passage


def load(source: Path, name: str) -> griffe.Module:
    """Read the package from its sources, docstrings in numpy's style."""
    loader = griffe.GriffeLoader(
        search_paths=[source],
        docstring_parser="numpy",
        docstring_options={"warnings": False},  # mkdocstrings gives them
        allow_inspection=False,
    )
    package = loader.load(name)
    assert isinstance(package, griffe.Module)
    return package


def modules(package: griffe.Module) -> Iterator[griffe.Module]:
    """The public modules that hold a public object, packages before what is in them."""
    if next(entries(package), None):
        yield package
    for name in sorted(package.modules):
        if not name.startswith("_"):
            yield from modules(package.modules[name])


def entries(parent: griffe.Module | griffe.Class) -> Iterator[Entry]:
    """The public objects of a module or class in the order of the source, re-exports last."""
    members = [member for member in parent.members.values() if _is_shown(member)]

    def place(member: Entry) -> tuple[bool, str, int]:
        return member.is_alias, _home(member), member.lineno or 0

    return iter(sorted(members, key=place))


def walk(package: griffe.Module) -> Iterator[Entry]:
    """Every object of the reference: the package, its modules, their objects, their methods."""
    yield package
    for module in modules(package):
        if module is not package:
            yield module
        for entry in entries(module):
            yield entry
            if isinstance(target := final(entry), griffe.Class):
                yield from entries(target)


def final(entry: Entry) -> griffe.Object:
    """The object itself, where an entry may be a re-export."""
    return entry.final_target if isinstance(entry, griffe.Alias) else entry


def _home(member: Entry) -> str:
    """Where an object is defined."""
    path = member.target_path if isinstance(member, griffe.Alias) else member.path
    return path.rpartition(".")[0]


def _is_shown(member: Entry) -> bool:
    if member.name.startswith("_") or not member.is_public:
        return False
    if isinstance(member, griffe.Alias):
        return "._" in _home(member)
    return not member.is_module and (not member.is_attribute or member.has_docstring)


def page_of(module: griffe.Module) -> str:
    """The address of a module's page; `tokpos.figures.lookup` is at `api/figures.lookup.md`."""
    _, _, rest = module.path.partition(".")
    return f"{FOLDER}/{rest or module.path}.md"


def addresses(modules: Mapping[str, griffe.Module]) -> dict[str, str]:
    """The page of every entry, by the path that the reference shows; `modules` by their pages."""
    found: dict[str, str] = {}
    for page, module in modules.items():
        found.setdefault(module.path, page)
        for entry in entries(module):
            found[entry.path] = page
            if isinstance(target := final(entry), griffe.Class):
                found |= {member.path: page for member in entries(target)}
    return found


def pages(package: griffe.Module, words: Words) -> list[tuple[str, str]]:
    """Address and Markdown of every page."""
    listed = list(modules(package))
    overview = [f"# {words.title}", _directive(package, members=[], **_NO_HEADING)]
    for module in listed:
        listing = [f"- {_link(entry)} – {words.summary(entry)}" for entry in entries(module)]
        heading = f"## [`{module.path}`]({Path(page_of(module)).name}) {{#{module.path}-overview}}"
        overview += [heading, words.summary(module), "\n".join(listing)]
    result = [(f"{FOLDER}/index.md", _front(words.title, words.description) + _join(overview))]
    for module in listed:
        names = [entry.name for entry in entries(module)]
        body = _directive(module, members=names, heading_level=1, show_root_full_path=True)
        result.append((page_of(module), _front(module.path, words.summary(module)) + _join([body])))
    return result


def _link(entry: Entry) -> str:
    return f"[`{entry.name}`][{entry.path}]"


def _directive(module: griffe.Module, **options: object) -> str:
    lines = yaml.safe_dump({"options": options}, allow_unicode=True, sort_keys=False).splitlines()
    return "\n".join([f"::: {module.path}", *(f"    {line}" for line in lines)])


def _front(title: str, description: str) -> str:
    front = {"title": title, "description": description.replace("`", "")}
    return f"---\n{yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=1000)}---\n\n"


def _join(parts: list[str]) -> str:
    return "\n\n".join(parts) + "\n"
