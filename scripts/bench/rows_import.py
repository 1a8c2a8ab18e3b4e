"""Row: what importing the package costs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from scripts.bench.measure import ROOT, Target, Way, Work, row

MUST_NOT_LOAD = ("matplotlib", "transformers", "tokenizers", "numpy", "regex", "IPython")


def _interpreter(code: str) -> Callable[[], subprocess.CompletedProcess[str]]:
    """A fresh interpreter that runs the code."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    return lambda: subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )


def _time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _loaded(_: Any) -> float:
    """How many packages that must not be loaded are loaded by tokpos and not by torch."""
    code = (
        "import sys, torch; before = set(sys.modules); from tokpos import *; "
        f"print(len((set(sys.modules) - before) & set({MUST_NOT_LOAD!r})))"
    )
    return float(_interpreter(code)().stdout)


@row(
    "import",
    "import of tokpos after torch, fresh interpreters",
    Target(ratio=1.05, error=0.0),
)
def imported() -> Work:
    return Work(
        limit=Way("import torch", _interpreter("import torch")),
        ours=_interpreter("import torch, tokpos"),
        others=[
            Way("tokpos, every public name", _interpreter("import torch; from tokpos import *"))
        ],
        error=_loaded,
        error_name="packages it must not load",
        clock=_time_of_children,
        memory=False,
        fewest=15,
    )
