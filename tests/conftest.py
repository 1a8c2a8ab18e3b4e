"""What holds for every test of the project."""

from __future__ import annotations

import os
from collections.abc import Iterator

import jaxtyping
import pytest
import torch
from hypothesis import settings

# The shapes in tokpos' signatures are enforced, arguments and results: what the reference prints
# is true. This must stand before anything imports tokpos.
jaxtyping.install_import_hook("tokpos", "beartype.beartype")

# Sums keep one order and times do not depend on what else the machine does.
torch.set_num_threads(1)

# Nothing in a test comes from the network; what transformers loads is on the disk.
os.environ["HF_HUB_OFFLINE"] = "1"

# A slow machine is no failure, and a commit's tests give the same result each time.
settings.register_profile("tokpos", deadline=None, derandomize=True, database=None)
settings.load_profile("tokpos")


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """tokpos as its users have it: its own errors come first, and torch.compile sees its code."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
