"""The process from which lessons are forked: libraries imported once, one fork for each lesson.

It reads one JSON message a line from its standard input and answers on its standard output:

    {"imports": ["import torch", ...]} -> {"status": "ready"}
    {"name": ..., "steps": [...], "result": path, "limit": s}  -> {"name": ..., "status": ...}

A fork writes what came out of its lesson to `result`; this process only watches how it ends. It
starts no thread, so a fork is a whole process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import sys
import tempfile
import time
import warnings
from typing import TextIO

POLL_SECONDS = 0.02
PR_SET_PDEATHSIG = 1  # of Linux's prctl.h
GARBAGE = (100_000, 50, 1000)  # of gc.set_threshold: looking for it took a fifth of a drawing
GRACE = 5.0  # seconds after its time limit in which a lesson may say where it stood


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of the commands ends this process
    sys.path.insert(0, os.environ["TOKPOS_SOURCE"])
    commands, answers = os.dup(0), os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # a stray print must not reach the answers
    running: dict[int, tuple[str, float]] = {}
    gc.set_threshold(*GARBAGE)
    try:
        _serve(commands, answers, running)
    finally:
        for pid in running:
            os.killpg(pid, signal.SIGKILL)


def _serve(commands: int, answers: TextIO, running: dict[int, tuple[str, float]]) -> None:
    buffer = b""
    while True:
        if select.select([commands], [], [], POLL_SECONDS)[0]:
            chunk = os.read(commands, 1 << 16)
            if not chunk:
                return
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if "imports" in message:
                    import_ahead(message["imports"])
                    answers.write(json.dumps({"status": "ready"}) + "\n")
                else:
                    pid = _fork(message, answers.fileno(), commands)
                    running[pid] = (message["name"], time.monotonic() + message["limit"] + GRACE)
        _collect(running, answers)


def import_ahead(statements: list[str]) -> None:
    """Run import statements, each of which may fail, for all forks to come."""
    import scripts.shell  # noqa: F401  (IPython is needed by every lesson)

    for statement in statements:
        before = set(sys.modules)
        with tempfile.TemporaryFile() as said, warnings.catch_warnings(record=True) as caught:
            kept = os.dup(1), os.dup(2)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            # A library that is missing fails where its lesson imports it, with that cell's line.
            with contextlib.suppress(Exception):
                exec(statement, {})
            sys.stdout.flush()
            sys.stderr.flush()
            for descriptor, number in zip(kept, (1, 2), strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)
            noisy = caught or os.fstat(said.fileno()).st_size
        if noisy:  # the lesson is to import it by itself, and be judged by what it says
            for name in set(sys.modules) - before:
                del sys.modules[name]


def _fork(message: dict, *inherited: int) -> int:
    zygote = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status, complaints = 1, os.dup(2)
    try:
        os.setpgid(0, 0)
        _end_with(zygote)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in inherited:
            os.close(descriptor)
        from scripts.shell import run

        run(message["steps"], message["result"], message["limit"])
        status = 0
    except BaseException:
        os.dup2(complaints, 2)
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _end_with(parent: int) -> None:
    """Have Linux kill this process when its parent is killed; elsewhere its time limit ends it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was killed before that
            os._exit(1)


def _collect(running: dict[int, tuple[str, float]], answers: TextIO) -> None:
    for pid, (name, deadline) in list(running.items()):
        status = "late" if time.monotonic() > deadline else None
        if status:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        else:
            done, code = os.waitpid(pid, os.WNOHANG)
            if not done:
                continue
            code = os.waitstatus_to_exitcode(code)
            status = "ok" if code == 0 else f"signal {-code}" if code < 0 else f"exit {code}"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # what the lesson left running
        del running[pid]
        answers.write(json.dumps({"name": name, "status": status}) + "\n")


if __name__ == "__main__":
    main()
