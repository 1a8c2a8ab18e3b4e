"""Kept results: what takes too long for a page, or differs from run to run, made by a script.

Each is a JSON file in the folder ``results``, and holds beside its data how it came about.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

import torch

from tokpos._words import Told, say

FOLDER = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Result:
    """A kept result, which shows itself as the line that says where it comes from."""

    name: str
    """Name of the file, without its ending."""

    script: str
    """The script that made it, from the top of the repository."""

    seed: int
    """Seed of the random numbers."""

    versions: dict[str, str]
    """Versions of Python and of the libraries that matter."""

    machine: str
    """Kind of machine, threads included."""

    date: str
    """Day of the run, year first."""

    data: dict[str, Any]
    """The result itself."""

    def provenance(self, language: str) -> str:
        """Where the result comes from, in a sentence of Markdown."""
        return say(
            "Kept result `{name}`: made by `{script}` on {date}, seed {seed}, {versions}; "
            "{machine}.",
            language,
            f"result {self.name!r}",
            name=self.name,
            script=self.script,
            date=self.date,
            seed=self.seed,
            versions=", ".join(f"{name} {version}" for name, version in self.versions.items()),
            machine=self.machine,
        )

    def save(self, folder: Path = FOLDER) -> Path:
        """Write the file and return its path."""
        path = folder / f"{self.name}.json"
        content = {key: value for key, value in asdict(self).items() if key != "name"}
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        return Told(self.provenance)._repr_mimebundle_(include, exclude)


def load(name: str, folder: Path = FOLDER) -> Result:
    """Read a kept result.

    Parameters
    ----------
    name : str
        Name of its file, without the ending.
    folder : Path
        Where it is kept; the package's own folder by default.

    Returns
    -------
    Result
        The data and how they came about.

    Raises
    ------
    ValueError
        There is no such result, or the file lacks a part or has one too many.
    """
    path = folder / f"{name}.json"
    if not path.is_file():
        kept = ", ".join(sorted(file.stem for file in folder.glob("*.json"))) or "none"
        raise ValueError(f"name must be that of a kept result ({kept}); got {name!r}")
    content = json.loads(path.read_text(encoding="utf-8"))
    expected = {field.name for field in fields(Result)} - {"name"}
    if set(content) != expected:
        odd = ", ".join(sorted(expected ^ set(content)))
        raise ValueError(f"{path.name} must hold exactly {', '.join(sorted(expected))}; see {odd}")
    return Result(name=name, **content)


def record(name: str, script: str, seed: int, data: dict[str, Any]) -> Result:
    """Make a result of this run, on this machine, with these versions.

    Parameters
    ----------
    name : str
        Name of the file to be.
    script : str
        The script that runs, from the top of the repository.
    seed : int
        Seed that it used.
    data : dict
        What it found; JSON must be able to hold it.

    Returns
    -------
    Result
        Not yet in a file.
    """
    machine = [platform.system(), platform.machine(), _processor()]
    machine.append(f"torch threads: {torch.get_num_threads()}")
    return Result(
        name=name,
        script=script,
        seed=seed,
        versions={
            "Python": platform.python_version(),
            "torch": torch.__version__.split("+")[0],
        },
        machine=", ".join(machine),
        date=date.today().isoformat(),
        data=data,
    )


def _processor() -> str:
    """The processor's name where Linux tells it, else what Python knows."""
    about = Path("/proc/cpuinfo")
    if about.is_file():
        for line in about.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "processor unknown"
