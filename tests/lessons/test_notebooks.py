"""The notebooks that the site offers run in a fresh kernel as they are, and give what they show.

Some do that here, which takes ten seconds and more for each; what runs a lesson for its page is
held equal to a kernel in tests/build/test_execute.py.
"""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from scripts import assemble, palette
from scripts.execute import ENVIRONMENT

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = [
    path.relative_to(DOCS).with_suffix(".ipynb").as_posix()
    for path in sorted(DOCS.glob("lessons/*.py"))
]


@pytest.mark.parametrize("name", NAMES)
def test_the_languages_share_their_code(site: Path, name: str) -> None:
    """So that what holds of one language's notebook holds of the other's."""
    codes = []
    for folder in ("", "zh/"):
        cells = nbformat.read(site / (folder + name), as_version=4).cells
        codes.append([cell.source for cell in cells if cell.cell_type == "code"])
    (_, *english), (_, *chinese) = codes  # the first cell chooses the language of the figures
    assert english == chinese


@pytest.mark.parametrize("name", ["lessons/lookup.ipynb", *(f"zh/{name}" for name in NAMES[1::14])])
def test_a_downloaded_notebook_gives_what_it_shows(site: Path, name: str) -> None:
    language = "zh" if name.startswith("zh/") else "en"
    shown = nbformat.read(site / name, as_version=4)
    nbformat.validate(shown)
    run = nbformat.read(site / name, as_version=4)
    for cell in run.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    environment = os.environ | ENVIRONMENT | {"PYTHONPATH": str(ROOT / "src")}
    NotebookClient(run, timeout=300, kernel_name="python3").execute(env=environment)
    for before, after in zip(shown.cells, run.cells, strict=True):
        if before.cell_type == "code":
            ours = [_comparable(output, language) for output in before.outputs]
            theirs = [_comparable(output, language) for output in _joined(after.outputs)]
            assert theirs == ours, before.source


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """A kernel sends what a slow cell prints in pieces; they belong together."""
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last["text"] += output.text
        else:
            joined.append(output)
    return joined


def _comparable(output: nbformat.NotebookNode, language: str) -> dict:
    """An output without what a kernel numbers; of a picture, what the notebook holds of it."""
    plain = {key: value for key, value in output.items() if key in ("output_type", "name", "text")}
    if output.output_type == "error":
        return plain | {"error": f"{output.ename}: {output.evalue}"}
    if "data" not in output:
        return plain
    data = dict(assemble.bundle(output.data, language))
    if assemble.LANGUAGES in output.data and assemble.SVG in data:
        data[assemble.SVG] = assemble.standalone(data[assemble.SVG], palette.variables("light"))
    return plain | {"data": data}
