"""Write the locks with hashes, locks/*.txt, from the plain ones: `make lock` runs it.

    python -m scripts.hashes index cuda.txt

`cuda.txt` holds the versions of what only PyPI's build of torch needs. The hashes are read from the
index's own pages. (pip-compile asks PyPI's JSON interface, which mirrors lack, and there downloads
every file to hash it.) The builds of torch for CPUs are on PyTorch's own index.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote
from urllib.request import Request, urlopen

from packaging.tags import Tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
LINK = re.compile(r'href="[^"]*?([^"/#]+)#sha256=([0-9a-f]{64})"')
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)
BUILDS = ("setuptools", "uv")  # what builds a source, and what installs the rest

Pins = dict[str, str]


def pins(path: Path) -> Pins:
    return dict(PIN.findall(path.read_text(encoding="utf-8")))


def listed(index: str, name: str, version: str) -> list[str]:
    """The hashes of a version's wheels for Linux, or of its source where it has no wheel."""
    request = Request(f"{index.rstrip('/')}/{name}/", headers={"Accept": "text/html"})
    with urlopen(request, timeout=60) as answer:
        files = LINK.findall(answer.read().decode())
    named = [(unquote(file), digest) for file, digest in files]
    wheels = {digest for file, digest in named if _is_wheel(file, version)}
    return sorted(wheels or {digest for file, digest in named if _is_source(file, version)})


def _is_wheel(file: str, version: str) -> bool:
    try:
        _, found, _, tags = parse_wheel_filename(file)
    except InvalidWheelFilename:
        return False
    return found == Version(version) and any(map(_runs, tags))


def _is_source(file: str, version: str) -> bool:
    try:
        return parse_sdist_filename(file)[1] == Version(version)
    except InvalidSdistFilename:
        return False


def _runs(tag: Tag) -> bool:
    """Whether it is for Linux and a Python that set-up takes."""
    python = re.fullmatch(r"none|abi3|cp31[1-9]", tag.abi)
    return bool(python and re.fullmatch(r"any|(many)?linux.*_(x86_64|aarch64)", tag.platform))


def for_cpus(version: str, lock: Path) -> list[str]:
    """The hashes of torch's builds for CPUs; out of PyTorch's reach those that `lock` has."""
    try:
        return listed(CPU_INDEX, "torch", version)
    except OSError as error:
        print(f"make: PyTorch's index for CPUs does not answer: {error}")
    kept = lock.read_text(encoding="utf-8") if lock.exists() else ""
    if f"torch=={version} " in kept:
        return re.findall(r"sha256:(\w+)", kept)
    print(f"make: {lock} cannot accept torch {version}: run this again where that index answers")
    return []


def write(path: Path, chosen: Pins, hashes: dict[str, list[str]], *head: str) -> None:
    lines = ["# Made by `make lock`: these files are installed and no others.", *head]
    for name, version in chosen.items():
        entry = [f"{name}=={version}", *(f"    --hash=sha256:{mark}" for mark in hashes[name])]
        lines.append(" \\\n".join(entry))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(index: str, cuda_pins: Path, root: Path) -> None:
    site, test = (pins(root / f"requirements{which}.txt") for which in ("", "-test"))
    cuda, locks = pins(cuda_pins), root / "locks"
    every = test | cuda
    with ThreadPoolExecutor(8) as pool:
        try:
            lists = list(pool.map(lambda pin: listed(index, *pin), every.items()))
        except OSError as error:
            sys.exit(f"make: the package index does not answer: {error}")
    found = dict(zip(every, lists, strict=True))
    if without := [f"{name}=={every[name]}" for name in every if not found[name]]:
        sys.exit(f"make: the index has no file for Linux of {', '.join(without)}")
    cpu = f"{site['torch']}+cpu"
    cpu_marks = for_cpus(cpu, locks / "cpu.txt")
    locks.mkdir(exist_ok=True)
    write(locks / "build.txt", {name: site.pop(name) for name in BUILDS}, found)
    write(locks / "cpu.txt", {"torch": cpu} if cpu_marks else {}, {"torch": cpu_marks})
    write(locks / "site.txt", site, found)
    more = {name: version for name, version in test.items() if name not in {*site, *BUILDS}}
    write(locks / "test.txt", more, found, "-r site.txt")
    write(locks / "cuda.txt", cuda, found)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path.cwd())
