"""What a lesson's page weighs, beside the same notebook through plain mkdocs-jupyter, and keep it.

    python -m scripts.measure_pages [site]

The site is built before. All is counted as a web server sends it, gzipped: the page with all its
figures, then its style sheets and scripts. Fonts are left out, and what scripts load later.
"""

from __future__ import annotations

import argparse
import gzip
import re
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from shutil import copy

from scripts import figure_files
from scripts.bench_site import YARDSTICKS
from tokpos.results import record

FOLDERS = {"en": "lessons", "zh": "zh/lessons"}
_TAG = re.compile(r"<(?:link|script)\b[^>]*>")
_ADDRESS = re.compile(r"""(?:href|src)=["']?([^"'?> ]+)""")
CONFIG = """\
site_name: Plain
use_directory_urls: false
theme: {name: material, font: false}
plugins: {search: {}, mkdocs-jupyter: {execute: false}}
"""


def loaded(page: Path) -> set[Path]:
    """The style sheets and scripts that a page names, each once."""
    addresses = [
        found[1]
        for tag in _TAG.findall(page.read_text(encoding="utf-8"))
        if tag.startswith("<script") or "stylesheet" in tag
        if (found := _ADDRESS.search(tag)) and "//" not in found[1]
    ]
    return {(page.parent / address).resolve() for address in addresses}


@cache
def gzipped(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), mtime=0))


def weights(folder: Path) -> dict[str, list[int]]:
    """Of each page: its bytes with its figures, and those of its style sheets and scripts."""
    return {
        page.stem: [
            sum(map(gzipped, [page, *figure_files.of(page)])),
            sum(map(gzipped, loaded(page))),
        ]
        for page in sorted(folder.glob("*.html"))
    }


def plain(site: Path, work: Path) -> Path:
    """The site's notebooks, outputs included, as mkdocs-jupyter shows them."""
    for language, folder in FOLDERS.items():
        (work / "docs" / language).mkdir(parents=True)
        for notebook in sorted((site / folder).glob("*.ipynb")):
            copy(notebook, work / "docs" / language)
    (work / "docs/index.md").write_text("# Nothing\n", encoding="utf-8")
    (work / "mkdocs.yml").write_text(CONFIG, encoding="utf-8")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    subprocess.run(build, cwd=work, check=True, capture_output=True)
    return work / "site"


def main() -> None:
    parser = argparse.ArgumentParser(description="weigh the pages of the lessons")
    parser.add_argument("site", nargs="?", type=Path, default=Path("site"))
    site = parser.parse_args().site.resolve()
    with tempfile.TemporaryDirectory() as work:
        jupyter = plain(site, Path(work))
        data = {
            language: {"site": weights(site / folder), "jupyter": weights(jupyter / language)}
            for language, folder in FOLDERS.items()
        }
    result = record("pages", "scripts/measure_pages.py", 0, data)
    result.versions.update({name: version(name) for name in YARDSTICKS})
    print(f"kept as {result.save()}")


if __name__ == "__main__":
    main()
