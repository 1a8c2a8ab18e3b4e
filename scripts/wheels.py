"""What an index has for this Python and this machine: which files, how large, since when.

uv resolves the requirements in a project made for it, and its lock tells size and day of each file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

PROJECT = """\
[project]
name = "asked"
version = "0"
requires-python = "=={python}.*"
dependencies = {requirements}

[tool.uv]
environments = ["sys_platform == 'linux' and platform_machine == 'x86_64'"]
"""
_RANK = {tag: place for place, tag in enumerate(sys_tags())}


@dataclass(frozen=True)
class Locked:
    """A version of a package, and the file of it that would be installed here."""

    name: str
    version: str
    size: int
    hash: str
    released: str  # the day, year first


def resolve(requirements: Sequence[str]) -> list[Locked]:
    """All that would be installed for `requirements`, with what they need in turn."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    with tempfile.TemporaryDirectory() as folder:
        text = PROJECT.format(python=python, requirements=json.dumps(list(requirements)))
        Path(folder, "pyproject.toml").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "uv", "lock", "--quiet", "--directory", folder]
        subprocess.run(command, check=True)
        lock = tomllib.loads(Path(folder, "uv.lock").read_text(encoding="utf-8"))
    return [_locked(package) for package in lock["package"] if package["name"] != "asked"]


def _locked(package: dict) -> Locked:
    fitting = {}
    for wheel in package.get("wheels", []):
        ranks = [_RANK[tag] for tag in _tags(wheel["url"]) if tag in _RANK]
        if ranks:
            fitting[min(ranks)] = wheel
    file = fitting[min(fitting)] if fitting else package["sdist"]
    digest, day = file["hash"].partition(":")[2], file["upload-time"][:10]
    return Locked(package["name"], package["version"], file["size"], digest, day)


def _tags(url: str) -> frozenset:
    return parse_wheel_filename(unquote(url.rpartition("/")[2]))[3]
