"""What a release is made from: the version, and the commit, whose time dates everything in it."""

from __future__ import annotations

import os
import subprocess
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import tokpos
from scripts.stage import commit_time


@dataclass(frozen=True)
class Provenance:
    version: str
    authors: str
    commit: str  # its short name, marked as dirty where files were changed since
    time: datetime

    @property
    def name(self) -> str:
        """What the name of each file begins with."""
        return f"token-and-position-{self.version}"


def of_checkout(root: Path) -> Provenance:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    authors = ", ".join(author["name"] for author in project["authors"])
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or commit_time(root)
    time = datetime.fromtimestamp(int(seconds), UTC)
    return Provenance(tokpos.__version__, authors, _commit(root), time)


def _commit(root: Path) -> str:
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
