"""The package as others install it, an sdist and a wheel, into dist/: `make package`.

    python -m scripts.package [folder]

They are built in a copy of the files that git tracks, so that nothing that lies about gets in and
the checkout stays as it is. The wheel is built from the sdist, which is thereby known to be whole.
The same commit gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from scripts.stage import commit_time

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("pyproject.toml", "README.md", "LICENSE", "src")

# The wheel is built in the unpacked sdist; setuptools works in the folder where it is.
BUILD = """\
import os, shutil, sys
from setuptools.build_meta import build_sdist, build_wheel
folder = sys.argv[1]
name = build_sdist(folder)
shutil.unpack_archive(f"{folder}/{name}", f"{folder}/unpacked")
os.chdir(f"{folder}/unpacked/{name.removesuffix('.tar.gz')}")
build_wheel(folder)
"""


class BuildError(RuntimeError):
    """What setuptools said before it gave up."""


def tracked(root: Path) -> list[str]:
    """The files that the package is made of; outside a checkout, all that Python did not make."""
    listing = ["git", "-C", str(root), "ls-files", "-z", "--", *PARTS]
    done = subprocess.run(listing, capture_output=True, text=True)
    if done.returncode == 0 and done.stdout:
        return sorted(name for name in done.stdout.split("\0") if name and (root / name).exists())
    files = [path for part in PARTS for path in [root / part, *(root / part).rglob("*")]]
    names = [path.relative_to(root) for path in files if path.is_file()]
    made = ("__pycache__", "tokpos.egg-info")
    return sorted(name.as_posix() for name in names if not {*made} & {*name.parts})


def build(folder: Path, root: Path = ROOT) -> tuple[Path, Path]:
    """Build both into `folder`; return the sdist and the wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or commit_time(root)
    with tempfile.TemporaryDirectory() as work:
        source, made = Path(work, "source"), Path(work, "made")
        made.mkdir()
        for name in tracked(root):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, source / name)
            (source / name).chmod(0o644)
        done = subprocess.run(
            [sys.executable, "-c", BUILD, str(made)],
            cwd=source, env=os.environ | {"SOURCE_DATE_EPOCH": epoch}, umask=0o022,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if done.returncode:
            raise BuildError(f"setuptools cannot build the package:\n{done.stdout[-3000:]}")
        (sdist,), (wheel,) = made.glob("*.tar.gz"), made.glob("*.whl")
        _settle(sdist, folder / sdist.name, int(epoch))
        shutil.copyfile(wheel, folder / wheel.name)
    return folder / sdist.name, folder / wheel.name


def _settle(sdist: Path, target: Path, epoch: int) -> None:
    """The sdist without what differs from one build to the next: times, owners, modes, order."""
    with tarfile.open(sdist) as made, target.open("wb") as file:
        with gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as zipped:
            with tarfile.open(fileobj=zipped, mode="w") as settled:
                for member in sorted(made.getmembers(), key=lambda member: member.name):
                    member.mtime, member.pax_headers = epoch, {}
                    member.uid = member.gid = 0
                    member.uname = member.gname = ""
                    member.mode = 0o755 if member.isdir() else 0o644
                    settled.addfile(member, made.extractfile(member))


def main() -> int:
    parser = argparse.ArgumentParser(description="build the sdist and the wheel")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("dist"))
    folder = parser.parse_args().folder
    try:
        built = build(folder)
    except BuildError as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    for path in built:
        print(f"{path.stat().st_size / 1000:7,.0f} kB  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
