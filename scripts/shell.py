"""Run the steps of one lesson in an IPython shell, as a fresh kernel would, and record outputs.

Runs in a fork of `scripts.zygote`. Both file descriptors are captured, so that what a library
writes past `sys.stdout` and `sys.stderr` is seen as well.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from scripts.files import digest
from scripts.values import format_value

ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
MOST_OUTPUT = 1 << 20  # bytes one cell may print
MOST_FILE = 1 << 30  # bytes a lesson may write to one file
MOST_MEMORY = 6 << 30  # bytes a lesson may take
GRACE = 2.0  # seconds in which a thread that was told to end may do so
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class StepFailed(Exception):
    """A step of the lesson that fails the build; `line` counts from the cell's first line."""

    def __init__(self, message: str, line: int = 1, detail: str = "", expression: str = ""):
        super().__init__(message)
        self.record = {
            "message": message,
            "line": line,
            "detail": detail,
            "expression": expression,
        }


class _Compiler(CachingCompiler):
    """Names the code of a cell after its step, so that tracebacks are the same in every run."""

    step = 0

    @property
    def name(self) -> str:
        return f"<step {self.step}>"

    def get_code_name(self, raw_code: str, code: str, number: int) -> str:
        return self.name


class _Recorder:
    """Collects the outputs of one cell in their order."""

    def __init__(self) -> None:
        self.files = {name: tempfile.TemporaryFile() for name in ("stdout", "stderr")}
        self.read = dict.fromkeys(self.files, 0)
        self.outputs: list[dict] = []
        os.dup2(self.files["stdout"].fileno(), 1)
        os.dup2(self.files["stderr"].fileno(), 2)

    def streams(self) -> None:
        """Move what was printed since the last call into the outputs."""
        sys.stdout.flush()
        sys.stderr.flush()
        for name, file in self.files.items():
            size = os.fstat(file.fileno()).st_size
            if size - self.read[name] > MOST_OUTPUT:
                raise StepFailed(f"printed more than {MOST_OUTPUT:,} bytes to {name}")
            raw = os.pread(file.fileno(), size - self.read[name], self.read[name])
            text = raw.decode(errors="replace")
            self.read[name] = size
            last = self.outputs[-1] if self.outputs else {}
            if text and last.get("name") == name:
                last["text"] += text
            elif text:
                self.outputs.append({"output_type": "stream", "name": name, "text": text})

    def display(self, kind: str, data: dict, metadata: dict | None = None) -> None:
        self.streams()
        self.outputs.append({"output_type": kind, "data": data, "metadata": metadata or {}})

    def take(self) -> list[dict]:
        self.streams()
        outputs, self.outputs = self.outputs, []
        return outputs


class _Publisher(DisplayPublisher):
    """Takes what a cell displays."""

    def publish(self, data: dict, metadata: dict | None = None, *_: Any, **__: Any) -> None:
        assert isinstance(self.shell, _Shell)
        self.shell.recorder.display("display_data", data, metadata)


class _Hook(DisplayHook):
    """Takes the value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        """Print nothing: the outputs have no numbers."""

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        assert isinstance(self.shell, _Shell)
        self.shell.recorder.display("execute_result", format_dict, md_dict)


class _Shell(InteractiveShell):
    compiler_class: Any = _Compiler
    display_pub_class: Any = _Publisher
    displayhook_class: Any = _Hook

    recorder: _Recorder
    compile: _Compiler
    error: BaseException | None = None  # of the running cell, or of showing its result

    def _showtraceback(self, etype: object, evalue: BaseException, stb: object) -> None:
        """Print nothing: the page shows the message of an error, the build its place."""
        self.error = evalue


def _shell(recorder: _Recorder) -> _Shell:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.cache_size = 0
    with tempfile.TemporaryDirectory() as folder:
        shell = _Shell.instance(config=config, ipython_dir=folder)
    shell.recorder = recorder
    return shell


class OutOfTime(BaseException):
    """Raised where the lesson stands when its time is over; no `except Exception` holds it."""


def run(steps: list[dict], result: str, limit: float) -> None:
    """Run `steps` in order and write what came of them as JSON to the file `result`.

    Until the end, `result` holds the number of the step that runs.
    """

    def out_of_time(*_: object) -> None:
        raise OutOfTime(f"ran longer than {limit:g} s and was stopped")

    signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, limit)
    for limited, most in ((resource.RLIMIT_FSIZE, MOST_FILE), (resource.RLIMIT_DATA, MOST_MEMORY)):
        resource.setrlimit(limited, (most, most))
    files = _Files(Path(os.environ["TOKPOS_ROOT"]), Path(os.environ["TOKPOS_SOURCE"]))
    sys.addaudithook(files.hear)
    recorder = _Recorder()
    shell = _shell(recorder)
    answer: dict = {"steps": []}
    for number, step in enumerate(steps):
        Path(result).write_text(str(number))
        try:
            if step["kind"] == "code":
                shell.compile.step = number
                answer["steps"].append({"outputs": _run_code(shell, recorder, step)})
            else:
                answer["steps"].append({"values": _run_values(shell, recorder, step)})
        except StepFailed as error:
            answer["failed"] = {**error.record, "step": number}
            break
        except OutOfTime as error:
            answer["failed"] = {**StepFailed(str(error)).record, "step": number}
            break
    signal.setitimer(signal.ITIMER_REAL, 0)
    answer["files"], answer["settled"] = files.hashes()
    answer["cpu"] = time.process_time()
    Path(result).write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")


def _run_code(shell: _Shell, recorder: _Recorder, step: dict) -> list[dict]:
    threads = set(threading.enumerate())
    with warnings.catch_warnings(record=True) as caught:
        shell.error = None
        shell.run_cell(step["source"], store_history=False)
        error = shell.error
    outputs = recorder.take()
    _judge_error(step, error, shell.compile.name)
    _judge_warnings(step, caught, outputs, shell.compile.name)
    _judge_left(set(threading.enumerate()) - threads)
    if error is not None:
        message = f"{type(error).__name__}: {error}"
        outputs.append(
            {
                "output_type": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": [message],
            }
        )
    for warning in caught:
        text = f"{warning.category.__name__}: {warning.message}\n"
        outputs.append({"output_type": "stream", "name": "stderr", "text": text})
    for output in outputs:
        if match := ADDRESS.search(json.dumps(output)):
            raise StepFailed(f"the output holds a memory address, {match[0]}: it changes every run")
    return outputs


def _judge_error(step: dict, error: BaseException | None, name: str) -> None:
    wanted = step["raises"]
    if error is None:
        if wanted:
            raise StepFailed(f"did not raise {wanted}, as the cell says it does")
        return
    if wanted == type(error).__name__:
        return
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == name:
            line = frame.lineno
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, OutOfTime):
        message, wanted = str(error), ""
    if isinstance(error, MemoryError):
        message = f"MemoryError: a lesson may take {MOST_MEMORY >> 30} GiB"
    if isinstance(error, AssertionError) and step["check"]:
        message = f"the check failed: {message.rstrip(': ')}"
    if wanted:
        message = f"raised {message}, not {wanted}, as the cell says"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "IPython" not in f.filename]
    detail = "".join(traceback.format_list(frames))
    raise StepFailed(message, line or 1, detail)


def _judge_warnings(step: dict, caught: list, outputs: list[dict], name: str) -> None:
    wanted = step["warns"]
    if wanted and wanted not in {warning.category.__name__ for warning in caught}:
        raise StepFailed(f"did not warn {wanted}, as the cell says it does")
    for warning in caught:
        if warning.category.__name__ != wanted:
            text = f"{warning.category.__name__}: {warning.message}"
            line = warning.lineno if warning.filename == name else 1
            raise StepFailed(f"a warning: {text}", line, f"from {Path(warning.filename).name}")
    for output in outputs:
        if output.get("name") == "stderr":
            raise StepFailed(f"wrote to the standard error: {output['text'].strip()}")


def _judge_left(threads: set[threading.Thread]) -> None:
    if threads:
        gc.collect()  # a pool's threads end with the pool
    for thread in threads:
        thread.join(GRACE)
    names = [f"the thread {thread.name}" for thread in threads if thread.is_alive()]
    for pid, name in _children():
        os.kill(pid, signal.SIGKILL)
        names.append(f"the process {name}")
    if names:
        raise StepFailed(f"left running: {', '.join(sorted(names))}")


def _children() -> Iterator[tuple[int, str]]:
    """The processes that this one started and that still run."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return  # there is none
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended by now
            pid, _, rest = entry.read_text().partition(" (")
            name, _, fields = rest.rpartition(") ")
            state, parent = fields.split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                yield int(pid), name


def _run_values(shell: _Shell, recorder: _Recorder, step: dict) -> dict[str, str]:
    values = {}
    for expression in step["expressions"]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                values[expression] = format_value(expression, shell.user_ns)
        except Exception as error:
            message = f"`{expression}` raised {type(error).__name__}: {error}"
            raise StepFailed(message, expression=expression) from None
        if recorder.take():
            raise StepFailed(f"`{expression}` printed something", expression=expression)
    return values


class _Files:
    """The project's files that a lesson reads, as Python tells of them; it may write none."""

    READ = ("open", "os.listdir", "os.scandir")
    WRITTEN = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate")

    def __init__(self, root: Path, source: Path):
        self.root = root.resolve()
        self.read: set[Path] = set()
        # Of each file when it was first read. A module may be imported without being opened.
        self.stamps = {path.resolve(): _stamp(path) for path in source.rglob("*.py")}

    def hear(self, event: str, args: tuple) -> None:
        """What `sys.addaudithook` calls. What native code opens by itself is not heard."""
        if event in self.READ and not _imports():
            self._note(args[0], writes=event == "open" and bool((args[2] or 0) & _WRITING))
        elif event in self.WRITTEN:
            for name in args[: 2 if event == "os.rename" else 1]:
                self._note(name, writes=True)

    def _note(self, name: object, writes: bool) -> None:
        if not isinstance(name, str | os.PathLike):
            return
        path = Path(os.path.abspath(name)).resolve()
        if path.is_relative_to(self.root):
            if writes:
                raise PermissionError(f"a lesson writes no file of the project: {path}")
            self.read.add(path)
            self.stamps.setdefault(path, _stamp(path))

    def hashes(self) -> tuple[dict[str, str], bool]:
        """The files that were read, modules included, with their hashes.

        Also whether all of them stayed as they were: what changed during the run may have been
        read before the change, so that its hash says nothing.
        """
        modules = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        found, settled = {}, True
        for path in self.read | {Path(module).resolve() for module in modules if module}:
            if not path.is_relative_to(self.root) or not path.exists():
                continue
            relative = path.relative_to(self.root)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
            if not hidden and path.suffix != ".pyc":
                found[relative.as_posix()] = digest(path)
                settled = settled and self.stamps.get(path, ()) == _stamp(path)
        return found, settled


def _imports() -> bool:
    """Whether it is Python's import system that looks for a module, in every folder of the path."""
    return "importlib" in sys._getframe(2).f_code.co_filename


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when a file is written, whatever the clock says."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
