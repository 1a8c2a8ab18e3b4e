"""Files and folders: their mark, and how one is written so that nobody sees half of it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def digest(path: Path) -> str:
    """The hash of a file's content, of a folder's names, or of nothing where nothing is."""
    if path.is_dir():
        content = "\0".join(sorted(os.listdir(path))).encode()
    elif path.is_file():
        content = path.read_bytes()
    else:
        return ""
    return hashlib.sha256(content).hexdigest()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is never seen half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
