"""All files of a release, made side by side on all processors."""

from __future__ import annotations

import hashlib
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from scripts.beside import cores
from scripts.browser import chromium
from scripts.release import archives, book, paper, provenance
from scripts.release.provenance import Provenance
from scripts.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
SUMS = "SHA256SUMS"


class SiteMissing(RuntimeError):
    """There is no built site to make a release from."""


def make(site: Path, target: Path) -> None:
    """Make every file of a release in the folder `target`.

    Raises
    ------
    SiteMissing
        A language of the site is not built.
    BrowserMissing
        There is no browser to print the books.
    """
    languages, made = folders(site), provenance.of_checkout(ROOT)
    chromium()
    name, count = f"{target}/{made.name}", cores()
    tasks: list[tuple[Any, ...]] = [
        (write_book, Path(f"{name}-book-{language}.pdf"), language, folder, made)
        for language, folder in languages.items()
    ]
    with tempfile.TemporaryDirectory() as drawn:
        parts = 4 * count  # figures take unlike times
        tasks += [(archives.draw, Path(drawn), part, parts) for part in range(parts)]
        tasks += [(archives.site, Path(f"{name}-site.zip"), site, made)]
        tasks += [(archives.notebooks, Path(f"{name}-notebooks.zip"), languages, made)]
        _all_done(tasks, count)
        archives.figures(Path(f"{name}-figures.zip"), Path(drawn), made)
    _write_sums(target)


def folders(site: Path) -> dict[str, Path]:
    """The folder of each language in the built site."""
    first, *others = read_yaml(ROOT / "docs/site.yml")["languages"]
    found = {first: site, **{other: site / other for other in others}}
    for folder in found.values():
        if not (folder / "index.html").is_file():
            raise SiteMissing(f"{folder} has no index.html. Build the site first: make site")
    return found


def write_book(target: Path, language: str, folder: Path, made: Provenance) -> None:
    words = read_yaml(ROOT / f"docs/translations/{language}.yml")
    with tempfile.TemporaryDirectory() as workshop:
        read = book.read(folder, Path(workshop), language, words, made)
        paper.write(read, target, Path(workshop))


def _all_done(tasks: list[tuple[Any, ...]], count: int) -> None:
    """Do each task in one of `count` processes; the first that fails ends it."""
    spawned = multiprocessing.get_context("spawn")  # a fork of threads may stand still
    with ProcessPoolExecutor(count, mp_context=spawned) as pool:
        try:
            for done in as_completed([pool.submit(*task) for task in tasks]):
                done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _write_sums(folder: Path) -> None:
    """The hashes of the files, as `sha256sum --check` reads them."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
    ]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")
