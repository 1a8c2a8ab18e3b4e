"""The archives of a release, and what becomes of the last release when a new one cannot be made."""

from __future__ import annotations

import errno
import os
import re
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from scripts import browser
from scripts.origin import Origin
from scripts.release import __main__ as command
from scripts.release import archives, chapter, files
from scripts.release.provenance import Provenance, of_checkout

MADE = Provenance(Origin("1.2.3"), "Somebody", datetime(2024, 2, 29, 12, 30, 14, tzinfo=UTC))
PAGES = {
    "index.html": "home",
    "index.ipynb": "{}",
    "lessons/one.ipynb": "{}",
    "zh/index.html": "首页",
    "zh/index.ipynb": "{}",
    "zh/lessons/one.ipynb": "{}",
}


def write(root: Path, names: list[str]) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGES[name], encoding="utf-8")
    return root


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return write(tmp_path / "site", list(PAGES))


def names(archive: Path, folder: str) -> set[str]:
    """What an archive holds, all of it in one folder."""
    held = zipfile.ZipFile(archive).namelist()
    assert held == sorted(set(held))
    assert all(name.startswith(f"{folder}/") for name in held)
    return {name.removeprefix(f"{folder}/") for name in held}


def test_an_archive_has_the_same_bytes_whoever_makes_it_and_when(tmp_path: Path) -> None:
    one = write(tmp_path / "one", list(PAGES))
    other = write(tmp_path / "other", list(PAGES)[::-1])
    for path in other.rglob("*"):
        os.utime(path, (1, 1))
    (other / "index.html").chmod(0o600)
    for folder in (one, other):
        archives.site(folder.with_suffix(".zip"), folder, MADE)
    assert one.with_suffix(".zip").read_bytes() == other.with_suffix(".zip").read_bytes()
    for entry in zipfile.ZipFile(one.with_suffix(".zip")).infolist():
        assert entry.date_time == (2024, 2, 29, 12, 30, 14)
        assert entry.external_attr >> 16 == 0o100644


def test_the_archive_of_the_site_is_the_site(built: Path, tmp_path: Path) -> None:
    archive = tmp_path / "site.zip"
    archives.site(archive, built, MADE)
    folder = "token-and-position-1.2.3"
    assert names(archive, folder) == {*PAGES, "LICENSE"}
    with zipfile.ZipFile(archive) as opened:
        for name, text in PAGES.items():
            assert opened.read(f"{folder}/{name}").decode() == text


def test_the_archive_of_the_notebooks_has_what_runs_them(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(folder: Path, root: Path) -> tuple[Path, Path]:
        wheel = folder / "tokpos-1.2.3-py3-none-any.whl"
        wheel.write_bytes(b"the package")
        return folder / "tokpos-1.2.3.tar.gz", wheel

    monkeypatch.setattr(archives.package, "build", build)  # test_package.py builds it
    archive = tmp_path / "notebooks.zip"
    archives.notebooks(archive, {"en": built, "zh": built / "zh"}, MADE)
    folder = "token-and-position-1.2.3-notebooks"
    assert names(archive, folder) == {
        "en/index.ipynb", "en/lessons/one.ipynb", "zh/index.ipynb", "zh/lessons/one.ipynb",
        "README.md", "README.zh.md", "LICENSE", "requirements.txt",
        "tokpos-1.2.3-py3-none-any.whl",
    }  # fmt: skip
    with zipfile.ZipFile(archive) as opened:
        package, *others = opened.read(f"{folder}/requirements.txt").decode().split()
    file, extras = package.rstrip("]").split("[")
    assert file == "./tokpos-1.2.3-py3-none-any.whl"
    project = tomllib.loads((files.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    assert set(extras.split(",")) <= set(optional)
    assert {*others} - {*optional["site"]} == {"jupyterlab"}


def test_figures_are_those_of_the_gallery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Drawn:
        def __init__(self, name: str):
            self.name = name

        def save(self, folder: Path) -> None:
            (folder / self.name).touch(exist_ok=False)  # no part draws it twice

    figures = [Drawn(f"{number}.svg") for number in range(5)]
    monkeypatch.setattr(archives, "gallery", lambda: iter(figures))
    drawn = tmp_path / "drawn"
    drawn.mkdir()
    for part in range(3):
        archives.draw(drawn, part, 3)
    archives.figures(tmp_path / "figures.zip", drawn, MADE)
    held = names(tmp_path / "figures.zip", "token-and-position-1.2.3-figures")
    assert held == {figure.name for figure in figures} | {"LICENSE"}


def test_a_release_is_dated_by_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1709209814")
    made = of_checkout(files.ROOT)
    assert made.time == datetime(2024, 2, 29, 12, 30, 14, tzinfo=UTC)
    assert re.fullmatch(r"token-and-position-\d+\.\d+\.\d+", made.name)


def test_a_chapter_brings_all_that_its_page_is_drawn_with(tmp_path: Path) -> None:
    """The sign of a root is a drawing like those of figures, and no picture of its own."""
    root = '<span class="hide-tail"><svg viewBox="0 0 40 10"><path d="M95 702"></path></svg></span>'
    figure = '<svg data-figure="road" width="100" height="50" aria-label="A &amp; B"><path/></svg>'
    style = '<link rel="stylesheet" href="../own.css">'
    page = f"<html>{style}<article><h1 id=it>It</h1><p>{root}</p>{figure}</article></html>"
    (tmp_path / "api").mkdir()
    (tmp_path / "api/page.html").write_text(page, encoding="utf-8")
    read = chapter.read(tmp_path, "api/page.html", 0, tmp_path / "figures")
    assert read.styles == [tmp_path / "own.css"]
    assert read.article.select_one(".hide-tail path")["d"] == "M95 702"
    (image,) = read.article.find_all("img")
    assert image["alt"] == "A & B" and (tmp_path / image["src"]).is_file()


# What stands in the way


@pytest.fixture
def last(tmp_path: Path) -> Path:
    """A release that was made before."""
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "kept.zip").write_bytes(b"last")
    return folder


def refused(capsys: pytest.CaptureFixture[str], site: Path, last: Path) -> str:
    """What the command says when it makes no release."""
    with pytest.raises(SystemExit) as end:
        command.main(["--site", str(site), str(last)])
    assert (last / "kept.zip").read_bytes() == b"last"
    assert [path.name for path in last.parent.glob("*release*")] == ["release"]
    return str(end.value.code)


def test_without_a_site_the_command_says_what_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, last: Path
) -> None:
    said = refused(capsys, tmp_path / "nowhere", last)
    assert "nowhere has no index.html" in said and "make site" in said


def test_without_a_browser_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str],
    built: Path,
    last: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> Path:
        raise browser.BrowserMissing(browser.what_to_install(["chromium-headless-shell"]))

    monkeypatch.setattr(files, "chromium", missing)
    assert "apt-get install" in refused(capsys, built, last)


def test_a_full_disk_leaves_the_last_release(
    capsys: pytest.CaptureFixture[str],
    built: Path,
    last: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(tasks: list, count: int) -> None:
        Path(f"{tasks[0][1]}").write_bytes(b"half of a book")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "_all_done", full)
    said = refused(capsys, built, last)
    assert "No space left on device" in said and "as it was" in said


def test_a_release_comes_with_its_hashes(
    built: Path, last: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def made(tasks: list, count: int) -> None:
        for _, target, *_ in tasks:
            if target.suffix:
                target.write_bytes(target.name.encode())

    monkeypatch.setattr(files, "_all_done", made)
    monkeypatch.setattr(files, "chromium", lambda: None)
    command.main(["--site", str(built), str(last)])
    found = sorted(path.name.split("-", 4)[-1] for path in last.iterdir())
    assert found == [
        "SHA256SUMS", "book-en.pdf", "book-zh.pdf", "figures.zip", "notebooks.zip", "site.zip",
    ]  # fmt: skip
    assert len((last / files.SUMS).read_text().splitlines()) == 5
    assert os.system(f"cd {last} && sha256sum --check --quiet {files.SUMS}") == 0
    assert capsys.readouterr().out.count(" MB  ") == 6
