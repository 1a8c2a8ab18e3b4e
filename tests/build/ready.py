"""A process with MkDocs and its plugins imported, from which the builds of tests are forked.

Its imports take longer than a tiny build, and the tests make a hundred of them. The code that
builds is the same; builds that need an interpreter of their own are started as commands.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
IMPORTED = (
    "mkdocs.__main__", "mkdocs.commands.build", "mkdocs.livereload", "material.plugins.search.plugin",
    "mkdocs_jupyter.plugin", "mkdocs_jupyter.convert", "mkdocs_autorefs.plugin",
    "mkdocstrings_handlers.python", "jieba", "py_mini_racer",
    "scripts.assets", "scripts.csp", "scripts.edits", "scripts.katex", "scripts.stage",
)  # fmt: skip


def run(
    arguments: list[str],
    folder: Path,
    environment: dict[str, str],
    timeout: float,
    killed_after: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """`python -m mkdocs` with `arguments` in `folder`; both streams are in `stdout`."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as said:
        message = [killed_after, arguments, str(folder), environment, said.name]
        process = _process()
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], timeout)[0]:
            _process.cache_clear()
            _end(process)
            raise subprocess.TimeoutExpired(arguments, timeout)
        code = int(process.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, said.read())


@cache
def _process() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.build.ready"],
        cwd=PROJECT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        process.kill()


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        killed_after, *what = json.loads(line)
        child = os.fork()
        if not child:
            os.setsid()
            _build(*what)
        if killed_after is not None:
            time.sleep(killed_after)
            with contextlib.suppress(ProcessLookupError):  # it was ready before
                os.killpg(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _build(arguments: list[str], folder: str, environment: dict[str, str], output: str) -> None:
    """In a fork, what `python -m mkdocs` does; it does not return."""
    status = 1
    try:
        said = os.open(output, os.O_WRONLY | os.O_APPEND)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[0], sys.argv = folder, ["mkdocs", *arguments]
        runpy.run_module("mkdocs", run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
