"""Inventories of other manuals: which names a docstring or a lesson may link to, and where.

    python -m scripts.inventories

writes `docs/inventories/<manual>.inv` from `<manual>.txt`, which holds the name and version of
the manual, and one line for each symbol in use: name, role, page. The result is Sphinx's own
format, so mkdocstrings reads it like any manual's `objects.inv`, from the disk.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "inventories"


@dataclass(frozen=True)
class Manual:
    name: str
    version: str
    symbols: tuple[tuple[str, str, str], ...]  # name, role, page; `$` in a page is the name

    @classmethod
    def read(cls, path: Path) -> Manual:
        lines = path.read_text(encoding="utf-8").splitlines()
        first, *rest = [line for line in lines if line and not line.startswith("#")]
        name, version = first.rsplit(" ", 1)
        symbols = []
        for line in rest:
            symbol, role, page = line.split()
            symbols.append((symbol, role, page))
        return cls(name, version, tuple(symbols))

    def inventory(self) -> bytes:
        header = (
            "# Sphinx inventory version 2\n"
            f"# Project: {self.name}\n"
            f"# Version: {self.version}\n"
            "# The remainder of this file is compressed using zlib.\n"
        )
        lines = [f"{name} py:{role} 1 {page} -\n" for name, role, page in sorted(self.symbols)]
        return header.encode() + zlib.compress("".join(lines).encode(), 9)


def names(folder: Path) -> set[str]:
    """Every symbol that can be linked to."""
    manuals = [Manual.read(path) for path in sorted(folder.glob("*.txt"))]
    return {name for manual in manuals for name, _, _ in manual.symbols}


def manuals(config: MkDocsConfig) -> list[str]:
    """The beginning of every address that a link by name can lead to."""
    if "mkdocstrings" not in config.plugins:
        return []
    python = config.plugins["mkdocstrings"].config.handlers.get("python", {})
    return [inventory["base_url"] for inventory in python.get("inventories", [])]


def resolve_paths(config: MkDocsConfig) -> None:
    """Make the paths in mkdocstrings' settings absolute, before mkdocstrings reads them.

    An inventory's address gets a mark of its content, since mkdocstrings keeps what it read from
    an address for a day.
    """
    if "mkdocstrings" not in config.plugins:
        return
    root = Path(config.config_file_path).resolve().parent
    python = config.plugins["mkdocstrings"].config.handlers["python"]
    for inventory in python.get("inventories", []):
        address = urlsplit(inventory["url"])
        if address.scheme == "file":
            path = root / address.path
            inventory["url"] = f"{path.as_uri()}#{zlib.crc32(path.read_bytes()):08x}"
    for extension in python.get("options", {}).get("extensions", []):
        for settings in extension.values():
            for key in {"catalogue", "docs"} & settings.keys():
                settings[key] = str(root / settings[key])


def main() -> None:
    for path in sorted(FOLDER.glob("*.txt")):
        path.with_suffix(".inv").write_bytes(Manual.read(path).inventory())


if __name__ == "__main__":
    main()
