"""Calls in forks of this process, some at once: each has the libraries and ends with its answer."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from scripts.beside import cores

_FORK = multiprocessing.get_context("fork")
Call = Callable[[], Any]


def alone(call: Call, limit: float) -> Any:
    """What `call` gives in a fork; nothing when it dies or takes longer than `limit` seconds."""
    process, pipe = _start(call)
    answer = None
    if pipe.poll(limit):
        answer = _received(pipe)
    _stop(process)
    return answer


def at_once(calls: Iterable[Call]) -> Iterator[Any]:
    """What each of the calls gives, as they end."""
    waiting = iter(calls)
    running: dict[Connection, Any] = {}
    while True:
        while len(running) < cores() and (call := next(waiting, None)):
            process, pipe = _start(call)
            running[pipe] = process
        if not running:
            return
        ready = wait(list(running))
        for pipe in [pipe for pipe in running if pipe in ready]:
            answer = _received(pipe)
            _stop(running.pop(pipe))
            if answer is None:
                raise RuntimeError("a fork died before it had an answer")
            yield answer


def _start(call: Call) -> tuple[Any, Connection]:
    ours, theirs = _FORK.Pipe(duplex=False)

    def work() -> None:
        os.setpgid(0, 0)
        theirs.send(call())

    process = _FORK.Process(target=work)
    process.start()
    theirs.close()
    return process, ours


def _received(pipe: Connection) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return None


def _stop(process: Any) -> None:
    """End a fork and everything that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()
    process.join()
