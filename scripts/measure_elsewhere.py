"""What others ship to the same end, beside this package: how large, how old, what it brings along.

    python -m scripts.measure_elsewhere

Only what an index has can be measured: the packages of "Dive into Deep Learning" and of labml's
annotated papers. Each is resolved with the newest PyTorch that the index has.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from scripts.package import build
from scripts.wheels import resolve
from tokpos.results import record

OTHERS = ("labml-nn", "d2l")


def inside(wheel: Path) -> dict[str, Any]:
    """What a wheel says of itself."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        told = Parser().parsestr(file.read(about).decode())
    needs = [Requirement(each) for each in told.get_all("Requires-Dist", [])]
    needs = [each for each in needs if each.marker is None or each.marker.evaluate({"extra": ""})]
    return {
        "version": told["Version"],
        "size": wheel.stat().st_size,
        "needs": [f"{each.name}{each.specifier}" for each in needs],
        "typed": any(name.endswith("py.typed") for name in names),
    }


def of_index(name: str, folder: Path) -> dict[str, Any]:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*pip, name], check=True)
    (wheel,) = folder.glob(f"{name.replace('-', '_')}-*.whl")
    installed = resolve([name, "torch"])
    (itself,) = (each for each in installed if each.name == name)
    return inside(wheel) | {"released": itself.released, "installed": len(installed)}


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        ours = inside(build(Path(work, "ours"))[1])
        ours["installed"] = len(resolve(ours["needs"])) + 1
        data = {"tokpos": ours} | {name: of_index(name, Path(work)) for name in OTHERS}
    print(f"kept as {record('elsewhere', 'scripts/measure_elsewhere.py', 0, data).save()}")


if __name__ == "__main__":
    main()
