"""What building and serving the site costs, beside its limits: `make bench-site`.

    python -m scripts.bench_site            measure, and write .cache/bench_site.json
    python -m scripts.bench_site --check    exit with 1 if a target is missed
    python -m scripts.bench_site --keep     write the kept result that the site shows
    python -m scripts.bench_site --part edits growth    the others as they were measured last

Everything is wall time of a command, and so wants a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import log
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

import yaml

from scripts import api
from scripts.beside import cores
from scripts.book import Book
from scripts.yaml_files import read_yaml
from tokpos.results import Result, record

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / ".cache/bench_site.json"
COPIED = (
    "docs", "src", "scripts", "mkdocs.yml", "mkdocs.zh.yml", "pyproject.toml",
    "README.md", "README.zh.md", "CHANGELOG.md", "CHANGELOG.zh.md", "CITATION.cff",
)  # fmt: skip
BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
EDITED = "lessons/lookup"
EDITS = 5  # of each kind
SIZES = (14, 50, 200)
YARDSTICKS = ("mkdocs", "mkdocs-material", "mkdocs-jupyter")


@dataclass
class Target:
    """A measured value and the most that it may be."""

    name: str
    value: float
    most: float

    @property
    def missed(self) -> bool:
        return self.value > self.most


# Commands and projects


def timed(command: Sequence[str], folder: Path) -> dict[str, float]:
    """Wall time of a command, and the most memory that one of its processes held, in MB."""
    start = time.monotonic()
    environment = os.environ | {"PYTHONPATH": "src", "NO_MKDOCS_2_WARNING": "1"}
    with tempfile.TemporaryFile() as said:
        run = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=said)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode:
            said.seek(0)
            sys.exit(f"bench-site: {' '.join(command)} failed:\n{said.read().decode()[-3000:]}")
    return {
        "seconds": time.monotonic() - start,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss / 1024,
    }


def middle(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: median(run[key] for run in runs) for key in runs[0]}


def project(folder: Path) -> Path:
    """A copy of the project, without anything that was made."""
    folder.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    return folder


def course(folder: Path, count: int) -> Path:
    """A project of `count` small lessons, without a reference."""
    project(folder)
    docs = folder / "docs"
    texts = (*folder.glob("README*"), *docs.rglob("*.md"), *docs.rglob("*.py"))
    for made in (*texts, docs / "reviewed.json"):
        made.unlink()
    names = [f"lesson_{number:03}" for number in range(count)]
    for number, name in enumerate(names):
        body = SMALL.replace("NUMBER", str(number))
        (docs / "lessons" / f"{name}.py").write_text(body, encoding="utf-8")
    settings = read_yaml(docs / "site.yml")
    part = {"title": {"en": "Lessons", "zh": "课程"}, "lessons": names}
    kept = {key: value for key, value in settings.items() if key != "package"} | {"parts": [part]}
    (docs / "site.yml").write_text(yaml.safe_dump(kept, allow_unicode=True), encoding="utf-8")
    for name in ("moved.yml", "published.txt", "links.yml"):
        (docs / name).write_text("# nothing\n", encoding="utf-8")
    for path in folder.glob("CHANGELOG*"):
        path.write_text("# Changes\n", encoding="utf-8")
    for language in ("en", "zh"):
        home = f"# Home\n\n[A lesson](lessons/{names[0]}.md).\n"
        (docs / language / "index.md").write_text(home, encoding="utf-8")
    return folder


_PROSE = """\
# %% [markdown] lang="en"
# A paragraph of some words about lesson NUMBER, with `code`, **weight** and $x^2$, so that there is
# something to render, to search and to cut into words. The mean is {{ x.mean().item():.3f }}.
# %% [markdown] lang="zh"
# 这段文字讲第 NUMBER 课，有 `code`、**强调** 和 $x^2$，平均值是 {{ x.mean().item():.3f }}。
"""
_CODE = """\
# %%
y = x @ x.T
y[:3, :3]
"""
SMALL = (
    """\
# %% [markdown] lang="en"
# # Lesson NUMBER
# What the lesson is about.
# %% [markdown] lang="zh"
# # 第 NUMBER 课
# 这一课讲什么。
# %%
import torch
from tokpos.figures.sinusoidal import clock
_ = torch.manual_seed(NUMBER)
x = torch.randn(200, 200)
# %%
clock()
"""
    + (_PROSE + _CODE) * 8
)


# The same pages with plain tools


def plain(folder: Path, root: Path, pages: dict[str, dict[str, str]]) -> list[Path]:
    """For each language the pages as Markdown, for MkDocs alone; the folders to build."""
    python = {"paths": [str(root / "src")], "options": {"docstring_style": "numpy"}}
    plugins = {"search": {}, "autorefs": {}, "mkdocstrings": {"handlers": {"python": python}}}
    built = []
    for language, texts in pages.items():
        home = folder / language
        for name, text in texts.items():
            path = home / "docs" / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (home / "mkdocs.yml").write_text(_plain_config(language, plugins), encoding="utf-8")
        built.append(home)
    return built


def _plain_config(language: str, plugins: dict[str, Any]) -> str:
    """The project's own Markdown, without its hook, templates and extensions of mkdocstrings."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    extensions = text[text.index("markdown_extensions:") : text.index("validation:")]
    settings = {
        "site_name": "Plain",
        "theme": {"name": "material", "language": language, "font": False},
        "plugins": plugins,
    }
    return yaml.safe_dump(settings) + extensions


def executed_pages(root: Path) -> dict[str, dict[str, str]]:
    """Every page of the project after its run, as Markdown, for each language."""
    book = Book(root)
    book.prepare(lambda _: None)
    pages: dict[str, dict[str, str]] = {}
    for language in book.languages:
        texts = {name: _without_svg(book.markdown(name, language)) for name in book.names()}
        for page in (book.docs / language).glob("*.md"):
            texts[page.stem] = page.read_text(encoding="utf-8")
        if book.package:
            words = api.Words.read(book.docs / "translations" / f"{language}.yml")
            reference = api.pages(book.package, words)
            texts |= {address.removesuffix(".md"): text for address, text in reference}
        pages[language] = texts
    return pages


def _without_svg(text: str) -> str:
    """Drawings as files would be: not in the page."""
    return re.sub(r"<svg .*?</svg>", '<img src="figure.svg" alt="">', text, flags=re.DOTALL)


def notebooks(root: Path, folder: Path) -> list[Path]:
    """The notebooks of the project, not run, for mkdocs-jupyter to run; the folders to build."""
    book = Book(root)
    book.prepare(lambda _: None)
    built = []
    for language in book.languages:
        home = folder / language
        for name in book.names():
            notebook = json.loads(book.notebook(name, language).read_text(encoding="utf-8"))
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    cell["outputs"] = []
            path = home / "docs" / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(notebook), encoding="utf-8")
        (home / "docs/index.md").write_text("# Home\n", encoding="utf-8")
        jupyter = {"execute": True, "allow_errors": True, "include": ["*.ipynb"]}
        config = _plain_config(language, {"search": {}, "mkdocs-jupyter": jupyter})
        (home / "mkdocs.yml").write_text(config, encoding="utf-8")
        built.append(home)
    return built


def plain_build(folders: list[Path]) -> dict[str, float]:
    """One build after the other, as two configurations of MkDocs are built."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    runs = [timed(command, folder) for folder in folders]
    return {key: sum(run[key] for run in runs) for key in runs[0]}


def cells_cpu(root: Path) -> float:
    """CPU seconds that the cells of the kept results took."""
    entries = (root / ".cache").rglob("*.json")
    bodies = [json.loads(path.read_bytes().partition(b"\n")[2]) for path in entries]
    return sum(body["answer"]["cpu"] for body in bodies)


# Serving


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The address where a project is served, and what the server says."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"PYTHONPATH": "src", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"]
    server = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    assert server.stdout
    try:
        said: list[str] = []
        for line in server.stdout:
            said.append(line)
            if "Serving on" in line:
                break
        else:
            sys.exit("bench-site: mkdocs serve ended:\n" + "".join(said))
        threading.Thread(target=said.extend, args=(server.stdout,), daemon=True).start()
        yield f"http://127.0.0.1:{port}/", said
    finally:
        server.terminate()
        server.wait()


def get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=300) as answer:
        text: str = answer.read().decode()
    return text


def until_shown(address: str, page: str, path: Path, old: str, new: str, shown: str) -> float:
    """Seconds from saving an edit until the open page, told to load again, has it."""
    epoch = re.search(r"livereload\((\d+), (\d+)\)", get(address + page))
    assert epoch
    text = path.read_text(encoding="utf-8")
    assert old in text and shown not in get(address + page)
    start = time.monotonic()
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    told = epoch[1]
    while told == epoch[1]:
        told = get(f"{address}livereload/{epoch[1]}/{epoch[2]}")
    assert shown in get(address + page), f"{page} was loaded again without the edit"
    return time.monotonic() - start


# The parts


def measure_builds(rounds: int) -> dict[str, Any]:
    """The project's builds, cold and warm, beside its pages in plain MkDocs and mkdocs-jupyter."""
    cold, warm, cpu = [], [], []
    with tempfile.TemporaryDirectory() as work:
        root = project(Path(work, "project"))
        for _ in range(rounds):
            shutil.rmtree(root / ".cache", ignore_errors=True)
            cold.append(timed(BUILD, root))
            cpu.append(cells_cpu(root))
            warm.append(timed(BUILD, root))
        pages = executed_pages(root)
        homes = plain(Path(work, "plain"), root, pages)
        simple = [plain_build(homes) for _ in range(rounds)]
        jupyter = plain_build(notebooks(root, Path(work, "jupyter")))
    return {
        "pages": sum(len(texts) for texts in pages.values()),
        "cells_cpu": median(cpu),
        "cold": middle(cold),
        "warm": middle(warm),
        "plain": middle(simple),
        "jupyter": jupyter,
    }


def measure_edits(_: int) -> dict[str, Any]:
    """Seconds until the open page has an edit of a paragraph, and of a code cell."""
    prose, code = [], []
    with tempfile.TemporaryDirectory() as work:
        root = project(Path(work, "project"))
        lesson, page = root / f"docs/{EDITED}.py", f"{EDITED}.html"
        with served(root) as (address, said):
            title = lesson.read_text(encoding="utf-8").split("\n")[1]
            last = title
            for n in range(EDITS):
                old, last = last, f"{title}\n#\n# Edit number {n}."
                prose.append(until_shown(address, page, lesson, old, last, f"number {n}."))
            last = "# %%\n"
            for n in range(EDITS):
                old, last = last, f"# %%\nprint('output', {n})\n# %%\n"
                code.append(until_shown(address, page, lesson, old, last, f"output {n}\n"))
            own = [float(run) for run in re.findall(rf"{EDITED} ran, ([\d.]+) s", "".join(said))]
    assert len(own) == EDITS + 1, "an edit of prose ran the lesson, or one of code did not"
    alone = "".join(said).count("Made again, and nothing else")
    # The first of a kind may lengthen the lesson's reading time, which other pages show.
    assert alone >= 2 * EDITS - 2, "edits of a lesson built the whole site"
    besides = [shown - run for shown, run in zip(code, own[1:], strict=True)]
    return {
        "prose": median(prose),
        "code": median(code),
        "run": median(own[1:]),
        "besides": median(besides),
    }


def measure_growth(rounds: int) -> dict[str, Any]:
    """Cold, warm and one-edit builds of generated courses of several sizes; one run of each."""
    runs: dict[str, list[dict[str, float]]] = {"cold": [], "warm": [], "edit": []}
    executed = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as work:
            root = course(Path(work, "project"), size)
            runs["cold"].append(timed(BUILD, root))
            runs["warm"].append(timed(BUILD, root))
            kept = {path: path.stat().st_mtime_ns for path in (root / ".cache").rglob("*.json")}
            lesson = root / "docs/lessons/lesson_001.py"
            text = lesson.read_text(encoding="utf-8")
            lesson.write_text(text.replace("y = x @ x.T", "y = x.T @ x", 1), encoding="utf-8")
            runs["edit"].append(timed(BUILD, root))
            executed.append(sum(path.stat().st_mtime_ns != mark for path, mark in kept.items()))
    return {"sizes": SIZES, "runs": runs, "executed": executed}


def curves(growth: dict[str, Any]) -> list[dict[str, Any]]:
    """The growth as the figure of the page "Measured" takes it."""
    logs = [log(size) for size in growth["sizes"]]

    def way(name: str, runs: list[dict[str, float]]) -> dict[str, Any]:
        times, peaks = [run["cpu"] * 1000 for run in runs], [run["memory"] for run in runs]
        return {
            "name": name,
            "milliseconds": [[time] * 3 for time in times],
            "time_exponent": linear_regression(logs, [log(time) for time in times]).slope,
            "mib": peaks,
            "memory_exponent": linear_regression(logs, [log(peak) for peak in peaks]).slope,
        }

    runs = growth["runs"]
    common = {"against": "N", "sizes": growth["sizes"], "rounds": 1}
    return [
        {"name": "growth-site-cold", "ways": [way("everything run", runs["cold"])], **common},
        {
            "name": "growth-site-warm",
            "ways": [way("nothing changed", runs["warm"]), way("a cell edited", runs["edit"])],
            **common,
        },
    ]


PARTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "builds": measure_builds,
    "edits": measure_edits,
    "growth": measure_growth,
}


def targets(found: dict[str, Any]) -> Iterator[Target]:
    """What was measured beside what it may be."""
    if builds := found.get("builds"):
        cold, warm, simple = (builds[kind]["seconds"] for kind in ("cold", "warm", "plain"))
        floor = builds["cells_cpu"] / found["cores"] + simple
        yield Target("build-cold", cold / floor, 1.3)
        yield Target("build-warm", warm / simple, 1.3)
        yield Target("build-jupyter", cold / builds["jupyter"]["seconds"], 0.25)
    if edits := found.get("edits"):
        yield Target("edit-prose", edits["prose"], 2.5)
        yield Target("edit-code", edits["besides"], 2.5)
    if growth := found.get("growth"):
        yield Target("growth-cold", curves(growth)[0]["ways"][0]["time_exponent"], 1.0)
        yield Target("growth-executed", max(growth["executed"]), 1)


def measured_before() -> dict[str, Any]:
    """The parts that earlier runs have measured."""
    if not MEASURED.exists():
        return {}
    data = json.loads(MEASURED.read_text(encoding="utf-8"))["data"]
    return {name: data[name] for name in PARTS if name in data}


def judged(found: dict[str, Any]) -> Result:
    """What was measured as a result that can be kept, with its curves and targets."""
    data = dict(found)
    if "growth" in found:
        data["curves"] = curves(found["growth"])
    data["targets"] = [asdict(target) | {"missed": target.missed} for target in targets(found)]
    result = record("site", "scripts/bench_site.py", 0, data)
    result.versions.update({name: version(name) for name in YARDSTICKS})
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.bench_site", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--part", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    parser.add_argument("--keep", action="store_true", help="write the kept result")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args(arguments)
    found = measured_before() | {"cores": cores()}
    for name in asked.part:
        found[name] = PARTS[name](asked.rounds)
        print(f"{name}: {json.dumps(found[name], indent=1)}", flush=True)
        result = judged(found)
        MEASURED.parent.mkdir(exist_ok=True)
        MEASURED.write_text(json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8")
    if asked.keep and PARTS.keys() <= found.keys():
        print(f"kept as {result.save().relative_to(ROOT)}")
    for target in targets(found):
        verdict = "MISSED" if target.missed else "kept"
        print(f"{verdict:6} {target.value:7.2f}, at most {target.most:.2f}  {target.name}")
    return int(asked.check and any(target.missed for target in targets(found)))


if __name__ == "__main__":
    raise SystemExit(main())
