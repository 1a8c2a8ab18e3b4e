"""Where the browser of the tests is, or what to install to have one.

`python -m scripts.browser` prints the Debian packages that are missing, and to the error stream
the sentence that a person needs; its exit status is 1 then.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = "chromium-headless-shell"  # Chromium without a window, which costs a quarter less time
NAMES = (PACKAGE, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Arguments: without these the browser asks for hosts of its own at every start.
SILENT = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DOWNLOADED = "chromium-*/chrome-linux*/chrome"  # where `playwright install chromium` puts it


class BrowserMissing(RuntimeError):
    """No usable browser, or no font for Chinese; the message says what to install."""


@cache
def chromium() -> Path:
    """The browser for Playwright's `executable_path`."""
    if missing := missing_packages():
        raise BrowserMissing(what_to_install(missing))
    found = _find_chromium()
    assert found is not None
    return found


def missing_packages() -> list[str]:
    missing = []
    if _find_chromium() is None:
        missing.append(PACKAGE)
    if shutil.which("fc-list") is None:
        missing.append("fontconfig")
    if not _has_chinese_font():
        missing.append("fonts-wqy-microhei")
    if not _answers([sys.executable, "-m", "playwright"]):
        missing.append("libatomic1")  # what Playwright's own Node lacks on a bare Debian
    return missing


def what_to_install(missing: list[str]) -> str:
    message = (
        f"The browser tests need {' and '.join(missing)}. Install with\n"
        f"    sudo apt-get install --no-install-recommends {' '.join(missing)}"
    )
    if PACKAGE in missing:
        message += (
            "\nor, where that package is only a snap (Ubuntu) or there is no apt, with\n"
            "    .venv/bin/python -m playwright install --with-deps chromium"
        )
    return message


def _find_chromium() -> Path | None:
    return next((path for path in _candidates() if _answers([path])), None)


def _candidates() -> Iterator[Path]:
    for name in NAMES:
        if path := shutil.which(name):
            yield Path(path)
    yield from sorted((Path.home() / ".cache/ms-playwright").glob(DOWNLOADED), reverse=True)


def _answers(command: list[str | Path]) -> bool:
    # On Ubuntu /usr/bin/chromium-browser may be a stub that only asks for a snap.
    try:
        subprocess.run([*command, "--version"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _has_chinese_font() -> bool:
    if shutil.which("fc-list") is None:
        return False
    fonts = subprocess.run(["fc-list", ":lang=zh-cn", "family"], check=True, capture_output=True)
    return bool(fonts.stdout.strip())


def main() -> int:
    missing = missing_packages()
    if not missing:
        return 0
    print(*missing)
    print(what_to_install(missing), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
