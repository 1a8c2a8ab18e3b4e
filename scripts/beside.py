"""Work beside this process: a fork that does one thing, and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable


def cores() -> int:
    """The processors that this process may use (`taskset` takes some away)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Beside:
    """A fork that does `work`; fork before there are threads, and before there is much to do."""

    def __init__(self, work: Callable[[Beside], None]):
        sys.stdout.flush()
        sys.stderr.flush()
        self._parent = os.getpid()
        self.child = os.fork()
        if self.child:
            return
        status = 1
        try:
            work(self)
            status = 0
        except SystemExit:
            pass  # it has said why
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)

    def succeeded(self) -> bool:
        """Wait for its end."""
        _, status = os.waitpid(self.child, 0)
        self.child = 0
        return status == 0

    def stop(self) -> None:
        if self.child:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            self.child = 0

    def end_if_orphaned(self) -> None:
        """Called in the fork, now and then: nobody waits for the work of a process that is gone."""
        if os.getppid() != self._parent:
            os._exit(1)
