"""Run lessons, both cores at once, and keep what came out of them until something changes.

A kept result is used again while everything that it depends on is the same: its code and the
expressions of its prose, the files and modules that it read, the libraries, the engine.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from scripts.beside import cores
from scripts.files import digest, write_whole
from scripts.lesson import Block, Code, Lesson, LessonError, Problem

ENGINE = ("zygote.py", "shell.py", "values.py", "files.py", "execute.py")
TIME_LIMIT = 300.0  # seconds for one lesson
# One thread and one hash seed for every run, and no compiled modules in the watched folders.
ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
    "HF_HUB_OFFLINE": "1",
    "MPLBACKEND": "agg",
}

Result = dict[int, dict[str, Any]]  # for each cell its outputs, or the values of its expressions
Progress = Callable[[str], None]


def executed(lesson: Lesson) -> list[Block]:
    """The blocks that a run of the lesson does something for."""
    return [b for b in lesson.blocks if isinstance(b, Code) or b.expressions]


def steps(lesson: Lesson) -> list[dict]:
    """What a run does, in order; prose without expressions and the places of cells are no part."""
    found: list[dict] = []
    for block in executed(lesson):
        if isinstance(block, Code):
            options = {"check": block.check, "raises": block.raises, "warns": block.warns}
            found.append({"kind": "code", "source": block.source, **options})
        else:
            found.append({"kind": "values", "expressions": block.expressions})
    return found


class Executor:
    """Runs lessons in forks of one process that has their libraries imported."""

    def __init__(self, root: Path, cache: Path):
        self.root = root
        self.cache = cache
        self.source = root / "src"
        self.ready: subprocess.Popen | None = None  # while serving, a process that waits for runs
        self.unread = False  # whether it has not been asked yet if it is ready
        self.read: dict[Path, tuple[tuple[int, ...], dict]] = {}  # kept results, with their stamps

    def results(
        self, lessons: list[Lesson], progress: Progress
    ) -> tuple[dict[str, Result], dict[str, LessonError]]:
        """The result of every lesson, run or kept, and the error of every one that failed."""
        kept = {lesson.name: self._kept(lesson) for lesson in lessons}
        waiting = [lesson for lesson in lessons if kept[lesson.name] is None]
        results = {
            lesson.name: _by_cell(lesson, answer)
            for lesson in lessons
            if (answer := kept[lesson.name])
        }
        if not waiting:
            progress(f"Lessons: all {len(lessons)} are up to date, nothing to run")
            return results, {}
        names = ", ".join(lesson.name for lesson in waiting)
        progress(f"Lessons: {len(waiting)} of {len(lessons)} to run: {names}")
        errors: dict[str, LessonError] = {}
        for lesson, answer, error in self._run(waiting, progress):
            if error:
                errors[lesson.name] = error
            else:
                results[lesson.name] = _by_cell(lesson, answer)
                if answer["settled"]:
                    self._keep(lesson, answer)
        return results, errors

    # Keeping

    def _key(self, lesson: Lesson) -> str:
        parts = [json.dumps(steps(lesson), sort_keys=True), _libraries()]
        parts += [digest(Path(__file__).parent / name) for name in ENGINE]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def _entry(self, lesson: Lesson) -> Path:
        return self.cache / f"{lesson.name}.json"

    def _kept(self, lesson: Lesson) -> dict | None:
        entry = self._read(self._entry(lesson))
        if entry is None or entry["key"] != self._key(lesson):
            return None
        return entry["answer"] if self._same_files(entry["answer"]["files"]) else None

    def _read(self, path: Path) -> dict | None:
        """What a file of kept results holds; while serving, it is read again when it changed."""
        try:
            state = path.stat()
            stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
            if path in self.read and self.read[path][0] == stamp:
                return self.read[path][1]
            mark, _, body = path.read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(body).hexdigest().encode() != mark:
            return None  # cut short or damaged: run again
        entry: dict = json.loads(body)
        self.read[path] = (stamp, entry)
        return entry

    def _same_files(self, files: dict[str, str]) -> bool:
        return all(digest(self.root / name) == mark for name, mark in files.items())

    def _keep(self, lesson: Lesson, answer: dict) -> None:
        entry = self._entry(lesson)
        body = json.dumps({"key": self._key(lesson), "answer": answer}, sort_keys=True).encode()
        write_whole(entry, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    # Running

    def keep_ready(self, lessons: list[Lesson]) -> None:
        """While serving: import the libraries of lessons ahead, once for all runs to come."""
        self.ready = self._start(lessons)
        self.unread = True

    def _run(self, lessons: list[Lesson], progress: Progress):
        """Yield (lesson, answer, error) for each lesson as it ends."""
        waiting = list(lessons)
        running: dict[str, tuple[Lesson, Path, float]] = {}
        with tempfile.TemporaryDirectory() as folder, self._zygote(lessons) as zygote:
            while waiting or running:
                while waiting and len(running) < cores():
                    lesson = waiting.pop(0)
                    result = Path(folder, f"{len(lessons) - len(waiting)}.json")
                    running[lesson.name] = (lesson, result, time.monotonic())
                    job = {"name": lesson.name, "steps": steps(lesson), "result": str(result)}
                    _send(zygote, {**job, "limit": TIME_LIMIT})
                report = _receive(zygote)
                lesson, result, start = running.pop(report["name"])
                ended = len(lessons) - len(waiting) - len(running)
                seconds = time.monotonic() - start
                answer, error = _outcome(lesson, report["status"], result)
                word = "failed" if error else "ran"
                progress(f"Lesson {lesson.name} {word}, {seconds:.1f} s ({ended}/{len(lessons)})")
                yield lesson, answer, error

    @contextmanager
    def _zygote(self, lessons: list[Lesson]) -> Iterator[subprocess.Popen]:
        """The process that was kept ready, or one for this run alone."""
        if self.ready is None or self.ready.poll() is not None:
            with self._start(lessons) as zygote:
                _receive(zygote)
                yield zygote
            return
        try:
            if self.unread:
                _receive(self.ready)
                self.unread = False
            yield self.ready
        except BaseException:  # lessons may still run in it
            self.ready.kill()
            self.ready.wait()
            raise

    def _start(self, lessons: list[Lesson]) -> subprocess.Popen:
        """A process that begins to import what the lessons import, and answers when it has."""
        environment = os.environ | ENVIRONMENT
        environment["TOKPOS_ROOT"] = str(self.root.resolve())
        environment["TOKPOS_SOURCE"] = str(self.source)
        home = Path(__file__).parents[1]
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(home), *filter(None, [environment.get("PYTHONPATH")])]
        )
        zygote = _Process(
            [sys.executable, "-m", "scripts.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=self.root,
        )
        _send(zygote, {"imports": imports(lessons, self.source)})
        return zygote


class _Process(subprocess.Popen):
    """A process that is stopped, with all it started, when its `with` block is left."""

    def __exit__(self, *_: object) -> None:
        for pipe in (self.stdin, self.stdout):
            if pipe:
                pipe.close()
        try:
            self.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()


def _send(zygote: subprocess.Popen, message: dict) -> None:
    assert zygote.stdin
    zygote.stdin.write(json.dumps(message) + "\n")
    zygote.stdin.flush()


def _receive(zygote: subprocess.Popen) -> dict:
    assert zygote.stdout
    line = zygote.stdout.readline()
    if not line:
        raise RuntimeError("the process that runs the lessons ended by itself")
    return json.loads(line)


def _outcome(lesson: Lesson, status: str, result: Path) -> tuple[dict, LessonError | None]:
    """What the lesson's process left behind, as an answer or as an error with its place."""
    if status != "ok":
        ended = {"late": f"ran longer than {TIME_LIMIT:g} s and was stopped"}
        message = ended.get(status, f"the lesson's process ended here with {status}")
        return {}, LessonError([_problem(lesson, _ended(message, result))])
    answer = json.loads(result.read_text(encoding="utf-8"))
    if failed := answer.get("failed"):
        return answer, LessonError([_problem(lesson, failed)])
    return answer, None


def _ended(message: str, result: Path) -> dict:
    """What failed where a lesson ended in a step: until its end, that is what `result` holds."""
    step = result.read_text() if result.is_file() else ""
    at = {"step": int(step) if step.isdigit() else 0, "line": 1, "expression": "", "detail": ""}
    return {"message": message, **at}


def _problem(lesson: Lesson, failed: dict) -> Problem:
    block = executed(lesson)[failed["step"]]
    detail = failed["detail"].rstrip()
    if isinstance(block, Code):
        line = block.line + failed["line"] - 1
        return Problem(lesson.shown_path, line, failed["message"], block.cell, detail=detail)
    marks = "{{ " + failed["expression"] + " }}" if failed["expression"] else "{{"
    language, text = next((k, t) for k, t in block.texts.items() if marks in t.source)
    line = text.line_of(marks)
    return Problem(lesson.shown_path, line, failed["message"], text.cell, language, detail)


def _by_cell(lesson: Lesson, answer: dict) -> Result:
    blocks = executed(lesson)[: len(answer["steps"])]
    return {block.cell: step for block, step in zip(blocks, answer["steps"], strict=True)}


def imports(lessons: list[Lesson], source: Path) -> list[str]:
    """The import statements of lessons and package that do not import the package itself."""
    own = {path.stem for path in source.glob("*")}
    cells = [ast.parse(code.source) for lesson in lessons for code in lesson.code]
    used = {_top(name) for tree in cells for name in _imported(tree)} & own
    modules = [path for name in sorted(used) for path in sorted((source / name).rglob("*.py"))]
    trees = cells + [tree for path in modules if (tree := _parsed(path))]
    found: dict[str, None] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.level or _top(node.module) in own):
                continue
            if isinstance(node, ast.Import) and any(_top(a.name) in own for a in node.names):
                continue
            if isinstance(node, ast.Import | ast.ImportFrom):
                found[ast.unparse(node)] = None
    return list(found)


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _parsed(path: Path) -> ast.AST | None:
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError:
        return None  # the lesson that imports it fails, with its place


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


@cache
def _libraries() -> str:
    """Name and version of everything installed: any of it may change a result."""
    found = {f"{d.name}=={d.version}" for d in importlib.metadata.distributions()}
    return "\n".join([sys.version, *sorted(found)])
