"""What was published stays: at its address is a page, or one that leads to where it has moved.

docs/published.txt lists the addresses that were published, docs/moved.yml says where those went
that have moved. Both hold the addresses of the first language; every language has the same below
its folder.

    python -m scripts.addresses

adds the addresses of the built site to docs/published.txt.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts import csp
from scripts.files import write_whole
from scripts.lesson import Problem
from scripts.yaml_files import entries, read_yaml

MOVED, PUBLISHED = "docs/moved.yml", "docs/published.txt"
ROOT = Path(__file__).resolve().parent.parent
_ADDRESS = re.compile(r"(?!.*(?:^|/)\.)[\w./-]+\.(html|ipynb)")
_TEMPLATE = ROOT / "docs/theme/moved.html"


@dataclass(frozen=True)
class Move:
    old: str
    new: str
    line: int


def read_moved(path: Path) -> list[Move]:
    return [Move(old, new, line) for old, new, line in entries(path)]


def read_published(path: Path) -> list[tuple[str, int]]:
    """The addresses, each with its line."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [(line, number) for number, line in lines if line and not line.startswith("#")]


def check_form(
    moves: list[Move], published: list[tuple[str, int]], others: list[str]
) -> list[Problem]:
    """What is no address in the two lists, or stands twice; `others` are the other languages."""
    problems = []
    for move in moves:
        fault = _fault(move.old, others) or _fault(move.new, others)
        if not fault and Path(move.old).suffix != Path(move.new).suffix:
            fault = f"{move.old} and {move.new} are not of one kind"
        elif not fault and move.old in [each.old for each in moves if each.line < move.line]:
            fault = f"{move.old} has moved in a line above already"
        if fault:
            problems.append(Problem(MOVED, move.line, fault))
    last = ""
    for address, line in published:
        fault = _fault(address, others)
        if not fault and address <= last:
            fault = f"{address} stands after {last}: sorted, each once (`make published`)"
        if fault:
            problems.append(Problem(PUBLISHED, line, fault))
        last = address
    return problems


def _fault(address: str, others: list[str]) -> str:
    if not _ADDRESS.fullmatch(address) or address.startswith("/"):
        return f"{address!r} is no address such as lessons/tokens.html or lessons/tokens.ipynb"
    if address.partition("/")[0] in others:
        return f"{address}: write the address of the first language; it holds for the others"
    return ""


def add_moved(
    files: Files, config: MkDocsConfig, moves: list[Move], words: Mapping[str, Any], serving: bool
) -> list[Problem]:
    """Put at each old address what leads to the new one; return the moves that cannot be.

    A notebook is put there again: whoever has the address of a download wants the file.
    """
    made = {file.dest_uri: file for file in files}
    made |= {file.src_uri: file for file in files if file.src_uri.endswith(".ipynb")}
    onward = {move.old: move.new for move in moves}
    problems = []
    for move in moves:
        fault = f"{move.old} is still made, so it has not moved" if move.old in made else ""
        if move.new not in made:
            fault = f"there is no {move.new}"
            fault += f"; it has moved to {onward[move.new]}" if move.new in onward else ""
        if fault:
            problems.append(Problem(MOVED, move.line, fault))
        elif move.old.endswith(".html"):
            text = csp.protect(page(move, config.site_url, words), serving)
            files.append(File.generated(config, move.old, content=text))
        else:
            notebook = str(made[move.new].abs_src_path)
            files.append(File.generated(config, move.old, abs_src_path=notebook))
    return problems


def page(move: Move, root: str | None, words: Mapping[str, Any]) -> str:
    folder = posixpath.dirname(move.old) or "."
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        language=words["theme"]["language"],
        words=words["addresses"],
        address=f"{root}{move.new}" if root else "",
        way=posixpath.relpath(move.new, folder),
        assets=posixpath.relpath("assets", folder),
    )


def gone(site: Path, published: list[tuple[str, int]], language: str) -> list[Problem]:
    """The published addresses at which the finished site of a language has nothing."""
    why = f"was published and is not made any more: say in {MOVED} where it has moved"
    return [
        Problem(PUBLISHED, line, f"{address} {why}", language=language)
        for address, line in published
        if not (site / address).is_file()
    ]


def present(site: Path, others: list[str]) -> set[str]:
    """The addresses of pages and notebooks in the first language of a built site."""
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.*")}
    pages = {each for each in found if not _fault(each, others)}
    return pages - {"404.html"}


def main(root: Path) -> None:
    site, path = root / "site", root / PUBLISHED
    if not (site / "index.html").is_file():
        sys.exit("There is no built site: run `make site` first")
    settings = read_yaml(root / "docs/site.yml")
    head = "".join(f"{line}\n" for line in path.read_text("utf-8").splitlines() if line[:1] == "#")
    before = {address for address, _ in read_published(path)}
    now = before | present(site, settings["languages"][1:])
    write_whole(path, (head + "".join(f"{address}\n" for address in sorted(now))).encode())
    print(f"{PUBLISHED}: {len(now)} addresses, {len(now - before)} of them new")


if __name__ == "__main__":
    main(ROOT)
