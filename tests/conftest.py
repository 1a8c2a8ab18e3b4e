"""What holds for every test of the project."""

from __future__ import annotations

import fcntl
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
import torch
from hypothesis import settings

from scripts.beside import cores

ROOT = Path(__file__).parents[1]

# The shapes in tokpos' signatures are enforced, arguments and results: what the reference prints
# is true. This must stand before anything imports tokpos.
jaxtyping.install_import_hook("tokpos", "beartype.beartype")

# Sums keep one order and times do not depend on what else the machine does.
torch.set_num_threads(1)

# Drawings make much garbage of small things; looking for it took a sixth of the library's tests.
gc.set_threshold(100_000, 50, 1000)

# Nothing in a test comes from the network; what transformers loads is on the disk.
os.environ["HF_HUB_OFFLINE"] = "1"

# A slow machine is no failure, and a commit's tests give the same result each time.
settings.register_profile("tokpos", deadline=None, derandomize=True, database=None)
settings.load_profile("tokpos")


# Files of the library's tests that take long: they come before its others, and no worker is left
# alone with one at the end.
LONG = ("test_byte_bpe.py", "test_wordpiece.py", "test_attention.py", "test_distributed.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parent.name == "library" and item.path.name not in LONG)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: tests of the site wait for the browser now and then."""
    return min(cores() + 1, 4)


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """tokpos as its users have it: its own errors come first, and torch.compile sees its code."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built from the checkout unless one is given; once for all workers."""
    if given := os.environ.get("TOKPOS_SITE"):
        return Path(given).resolve()
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # each worker has a folder of its own in there
    folder = shared / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():  # it stands there only when it is whole
            built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            if built.returncode:
                said = f"{built.stdout}{built.stderr}"[-4000:]
                pytest.fail(f"the site is not built:\n{said}", pytrace=False)
    return folder


@pytest.fixture(autouse=True)
def _compile_anew() -> Iterator[None]:
    """torch.compile counts how often it met a function, and gives up: no test is another's try."""
    yield
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
