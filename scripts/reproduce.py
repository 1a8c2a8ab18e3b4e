"""Builds of one commit that are as unlike as can be give the same bytes: `make reproduce`.

Two clones in folders of other names and depths; one processor and all of them; cold and warm;
other hash seeds, locales, time zones and file modes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ONE = {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Honolulu"}
ALL = {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Shanghai"}


def one_processor() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.umask(0o077)


def clone(folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return folder


def build(
    folder: Path, environment: dict[str, str], prepare: Callable[[], None] | None = None
) -> dict[str, str]:
    """Build the site of a checkout; the hash of each of its files."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    environment = os.environ | {"PYTHONPATH": "src"} | environment
    done = subprocess.run(command, cwd=folder, env=environment, preexec_fn=prepare)
    if done.returncode:
        sys.exit(f"reproduce: the build in {folder} failed")
    site = folder / "site"
    files = sorted(path for path in site.rglob("*") if path.is_file())
    return {
        path.relative_to(site).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        near, far = clone(Path(folder, "a")), clone(Path(folder, "another", "folder", "b"))
        sites = {
            "cold, one processor": build(near, ONE, one_processor),
            "cold, all processors": build(far, ALL),
            "warm, all processors": build(far, ONE),
            "warm, one processor": build(near, ALL, one_processor),
        }
    first, *others = sites.values()
    for name, site in sites.items():
        mark = hashlib.sha256("".join(f"{k} {v}\n" for k, v in site.items()).encode()).hexdigest()
        print(f"{mark[:16]}  {len(site)} files  {name}")
    unlike = {
        path for site in others for path in site.keys() | first if site.get(path) != first.get(path)
    }
    if unlike:
        sys.exit("reproduce: these differ: " + ", ".join(sorted(unlike)))
    print("reproduce: all builds are the same, byte for byte")


if __name__ == "__main__":
    main()
