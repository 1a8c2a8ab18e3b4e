"""What a site was made from: the version of its package, and the commit."""

from __future__ import annotations

import ast
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import griffe

# What a page can come from. Other files do not make it another site.
_SOURCES = ("docs", "src", "scripts", "mkdocs*.yml", "CHANGELOG*.md", "CITATION.cff")


@dataclass(frozen=True)
class Origin:
    version: str = ""
    commit: str = ""  # in full
    modified: bool = False  # whether a source is not as the commit has it

    @property
    def short(self) -> str:
        """Seven digits: how many git shows depends on what else the clone holds."""
        return self.commit[:7]


def of(root: Path, package: griffe.Module | None) -> Origin:
    """A checkout without git has a version and no commit."""
    inside, _, commit = _git(root, "rev-parse", "--show-prefix", "HEAD").partition("\n")
    if inside or not commit:  # none, or the commit of a project around this one
        return Origin(version_of(package))
    modified = _git(root, "status", "--porcelain", "--", *_SOURCES)
    return Origin(version_of(package), commit, bool(modified))


def version_of(package: griffe.Module | None) -> str:
    """What the package says in `__version__`; read, not imported."""
    if package is None or "__version__" not in package.members:
        return ""
    value = str(getattr(package["__version__"], "value", ""))
    with suppress(ValueError, SyntaxError):  # it is computed
        return str(ast.literal_eval(value))
    return ""


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.removesuffix("\n")
