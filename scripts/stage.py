"""Where a site, or a release, is made before it takes the place of the last one."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TextIO


class Stage:
    """A folder beside the published site; `publish` swaps the two, `discard` drops it."""

    def __init__(self, site: Path, cache: Path):
        self.site = site.resolve()
        self.cache = cache
        cache.mkdir(parents=True, exist_ok=True)
        self.site.parent.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._recover()
            self._clear()
        prefix = f".{self.site.name}-{os.getpid()}-"
        self.folder = Path(tempfile.mkdtemp(prefix=prefix, dir=self.site.parent))
        self.folder.chmod(0o755)

    @property
    def _last(self) -> Path:
        return self.site.with_name(f".{self.site.name}-last")

    def publish(self) -> None:
        with self._locked():
            self._recover()
            if self.site.exists():
                self.site.rename(self._last)
            self.folder.rename(self.site)
            shutil.rmtree(self._last, ignore_errors=True)

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _recover(self) -> None:
        """Bring back a site that a build was killed over, between its two renames."""
        if self._last.exists() and not self.site.exists():
            self._last.rename(self.site)
        shutil.rmtree(self._last, ignore_errors=True)

    def _clear(self) -> None:
        """Remove what killed builds left behind."""
        for folder in self.site.parent.glob(f".{self.site.name}-*-*"):
            if not Path("/proc", folder.name.split("-")[-2]).exists():
                shutil.rmtree(folder, ignore_errors=True)

    def _locked(self) -> TextIO:
        lock = open(self.cache / "publish.lock", "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        return lock


def commit_time(root: Path) -> str:
    """The time of the last commit, the date of everything that a build dates."""
    command = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "0"
    return done.stdout.strip() or "0"
