"""The API reference: its pages, the docstrings' translations, its links both ways."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from pydoc import locate

import griffe
import pytest
import yaml
from babel.messages.catalog import Catalog
from mkdocstrings import Inventory

from scripts import (
    api,
    api_links,
    catalogue,
    glossary,
    inventories,
    lesson,
    translations,
    typography,
)
from scripts.passages import Passage

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

INIT = '''
"""A package to document."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from demo.table import Table, fetch

__all__ = ["Table", "fetch"]
'''

TABLE = '''
"""A table of rows.

A second paragraph, wrapped
over two lines.
"""
from collections.abc import Iterator

from demo._hidden import Hidden


class Table:
    """Rows to look up.

    Parameters
    ----------
    rows
        How many rows.

    Attributes
    ----------
    width : int
        How wide they are.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows

    @classmethod
    def empty(cls) -> "Table":
        """Make a table without rows; see `fetch`."""

    def __len__(self) -> int:
        return self.rows


def fetch(table: Table, ids: list[int]) -> list[int]:
    """Fetch some rows.

    - The first item,
      wrapped.
    - The second item.

    ```
    code = "not translated"

    more = 1
    ```

    $$
    x = 1
    $$

    Parameters
    ----------
    table
        Where to look, a `Table`.
    ids
        Which rows to fetch.

        A second paragraph about them.

    Returns
    -------
    list
        The rows.

    Raises
    ------
    IndexError
        If there is no such row.

    Warns
    -----
    UserWarning
        If nothing is asked for.

    Notes
    -----
    A word on speed.

    Examples
    --------
    Two rows at once:

    >>> fetch(table, [1, 2])
    [1, 2]
    """


def walk(table: Table) -> Iterator[int]:
    """Walk along the rows.

    Yields
    ------
    int
        One row after the other.
    """


def _private() -> None:
    """Nobody sees this."""
'''

ENGLISH = [
    "A package to document.",
    "A table of rows.",
    "A second paragraph, wrapped over two lines.",
    "Rows to look up.",
    "How many rows.",
    "How wide they are.",
    "Make a table without rows; see `fetch`.",
    "Fetch some rows.",
    "The first item, wrapped.",
    "The second item.",
    "Where to look, a `Table`.",
    "Which rows to fetch.",
    "A second paragraph about them.",
    "The rows.",
    "If there is no such row.",
    "If nothing is asked for.",
    "Notes",
    "A word on speed.",
    "Two rows at once:",
    "Walk along the rows.",
    "One row after the other.",
]

LESSON = """
# %% [markdown] lang="en"
# # Looking up
# %% [markdown] lang="zh"
# # 查表
# %%
import demo
from demo import Table
from demo.table import fetch as get

get(Table(3), [1])
# %% [markdown] lang="en"
# Rows: {{ len(demo.table.Table.empty().rows):.1f }}
# %% [markdown] lang="zh"
# 行数：{{ len(demo.table.Table.empty().rows):.1f }}
"""

CONFIG = """
site_name: demo
use_directory_urls: false
theme: {name: mkdocs, locale: en}
plugins:
  autorefs: {}
  mkdocstrings:
    handlers:
      python:
        paths: [src]
        options:
          show_source: false
          docstring_style: numpy
          merge_init_into_class: true
          extensions:
            - scripts.translations.TranslateDocstrings: {catalogue: zh.po}
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A project with a tiny package."""
    package = tmp_path / "src" / "demo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(INIT.lstrip())
    (package / "_hidden.py").write_text('class Hidden:\n    """Hidden."""\n')
    (package / "table.py").write_text(TABLE.lstrip())
    return tmp_path


def load(project: Path) -> griffe.Module:
    return api.load(project / "src", "demo")


def catalogue_of(passages: dict[str, str]) -> Catalog:
    texts = Catalog(locale="zh")
    for english, chinese in passages.items():
        texts.add(english, chinese)
    return texts


def update(project: Path) -> tuple[Catalog, dict[str, int]]:
    path = project / "zh.po"
    texts, counts = catalogue.updated(catalogue.read(path), translations.passages(load(project)))
    catalogue.write(texts, path)
    return catalogue.read(path), counts


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_only_public_objects_are_shown_each_once(demo: Path) -> None:
    shown = [entry.path for entry in api.walk(load(demo))]
    table = ["demo.table", "demo.table.Table", "demo.table.Table.empty"]
    assert shown == ["demo", *table, "demo.table.fetch", "demo.table.walk"]


def test_an_object_of_a_private_module_stands_where_it_is_exported(demo: Path) -> None:
    with (demo / "src/demo/table.py").open("a") as file:
        file.write('\n__all__ = ["Hidden", "Table"]\n')
    shown = [entry.path for entry in api.entries(load(demo)["table"])]
    assert shown == ["demo.table.Table", "demo.table.Hidden"]


def test_a_new_module_has_its_page(demo: Path) -> None:
    (demo / "src/demo/more.py").write_text('"""More."""\n\ndef f():\n    """Do `x`."""\n')
    words = api.Words("Reference", "All of it.", "Used in {lessons}", ", ")
    pages = dict(api.pages(load(demo), words))
    assert list(pages) == ["api/index.md", "api/more.md", "api/table.md"]
    assert "- [`f`][demo.more.f] – Do `x`." in pages["api/index.md"]
    assert "::: demo.more" in pages["api/more.md"]
    front = yaml.safe_load(pages["api/more.md"].split("---")[1])
    assert front == {"title": "demo.more", "description": "More."}


def test_every_section_is_cut_into_passages(demo: Path) -> None:
    assert list(translations.passages(load(demo))) == ENGLISH


def test_every_section_is_translated_and_code_is_not(demo: Path) -> None:
    package = load(demo)
    chinese = {english: f"译 {number}" for number, english in enumerate(ENGLISH)}
    assert translations.translate(package, catalogue_of(chinese)) == []
    assert list(translations.passages(package)) == list(chinese.values())
    text = package["table.fetch"].docstring.parsed[0].value
    assert "- 译 8\n- 译 9" in text
    assert '```\ncode = "not translated"\n\nmore = 1\n```' in text
    assert "$$\nx = 1\n$$" in text
    example = package["table.fetch"].docstring.parsed[-1].value[1][1]
    assert example == ">>> fetch(table, [1, 2])\n[1, 2]"


def test_what_is_missing_names_its_place(demo: Path) -> None:
    chinese = dict.fromkeys(ENGLISH, "译")
    del chinese["Which rows to fetch."]
    texts = catalogue_of(chinese)
    texts.add("The rows.", "那些行", flags={"fuzzy"})
    missing = translations.translate(load(demo), texts)
    lines = (demo / "src/demo/table.py").read_text().splitlines()
    ids, rows = (
        next(number for number, line in enumerate(lines, 1) if text in line)
        for text in ("Which rows to fetch.", "        The rows.")
    )
    assert len(missing) == 2
    assert f"table.py:{ids}: (zh): demo.table.fetch, parameters.ids: untr" in str(missing[0])
    assert f"table.py:{rows}: (zh): demo.table.fetch, returns: changed since" in str(missing[1])


def build(project: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(project / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        check=False,
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_one_untranslated_string_fails_a_strict_build(demo: Path) -> None:
    (demo / "docs").mkdir()
    (demo / "docs/index.md").write_text(
        "# Reference\n\n[both names][demo.fetch]\n\n::: demo.table\n"
    )
    (demo / "mkdocs.yml").write_text(CONFIG)
    chinese = dict.fromkeys(ENGLISH, "已译出")
    catalogue.write(catalogue_of(chinese), demo / "zh.po")
    result = build(demo)
    assert result.returncode == 0, result.stderr
    page = (demo / "site/index.html").read_text()
    assert "已译出" in page and "Which rows" not in page
    assert 'href="#demo.table.fetch">both names</a>' in page

    chinese["Which rows to fetch."] = ""
    catalogue.write(catalogue_of(chinese), demo / "zh.po")
    result = build(demo)
    assert result.returncode != 0
    assert "src/demo/table.py:" in result.stderr
    assert 'demo.table.fetch, parameters.ids: untranslated: "Which rows' in result.stderr


def test_updating_keeps_translations(demo: Path) -> None:
    texts, counts = update(demo)
    assert counts == {"new": len(ENGLISH), "changed": 0, "gone": 0}
    for message in texts:
        message.string = f"译：{message.id}" if message.id else message.string
    catalogue.write(texts, demo / "zh.po")
    before = (demo / "zh.po").read_bytes()
    _, counts = update(demo)
    assert counts == {"new": 0, "changed": 0, "gone": 0}
    assert (demo / "zh.po").read_bytes() == before  # no dates, no order of its own

    table = demo / "src/demo/table.py"
    edit(table, "wrapped\nover two lines", "wrapped over\ntwo lines")
    edit(table, "def walk", "def stroll")
    _, counts = update(demo)
    assert counts == {"new": 0, "changed": 0, "gone": 0}


def test_updating_marks_what_changed(demo: Path) -> None:
    texts, _ = update(demo)
    for message in texts:
        message.string = f"译：{message.id}" if message.id else message.string
    catalogue.write(texts, demo / "zh.po")

    table = demo / "src/demo/table.py"
    edit(table, "Which rows to fetch.", "The rows to fetch, by number.")
    edit(table, "If there is no such row.", "If a row is missing.\n    KeyError\n        Never.")
    edit(table, "    A second paragraph about them.\n", "")
    texts, counts = update(demo)
    assert counts == {"new": 1, "changed": 2, "gone": 3}
    changed = texts["The rows to fetch, by number."]
    assert changed.fuzzy and changed.string == "译：Which rows to fetch."
    assert changed.previous_id == ["Which rows to fetch."]
    assert texts["If a row is missing."].fuzzy
    assert texts["Never."].string == "" and not texts["Never."].fuzzy
    assert "A second paragraph about them." not in texts
    again, counts = update(demo)
    assert counts == {"new": 0, "changed": 0, "gone": 0}
    assert again["The rows to fetch, by number."].previous_id == ["Which rows to fetch."]


@pytest.fixture
def lessons(demo: Path) -> Path:
    docs = demo / "docs"
    for folder in ("lessons", "translations", "inventories"):
        (docs / folder).mkdir(parents=True)
    (docs / "lessons/lookup.py").write_text(LESSON.lstrip())
    (docs / "site.yml").write_text(
        "languages: [en, zh]\nparts: [{title: {en: I, zh: 一}, lessons: [lookup]}]"
    )
    words = {"title": "T", "description": "D", "used_in": "用到它的课：{lessons}", "comma": "、"}
    (docs / "translations/zh.yml").write_text(yaml.safe_dump({"api": words}))
    return docs


def test_names_that_a_lesson_uses(demo: Path, lessons: Path) -> None:
    read = lesson.read(lessons / "lessons/lookup.py", lessons, ["en", "zh"])
    names = api_links.Names(load(demo)).in_lesson(read)
    assert names == ["demo.table.fetch", "demo.table.Table", "demo.table.Table.empty"]


def linked(demo: Path, docs: Path) -> griffe.Module:
    package = load(demo)
    loader = griffe.GriffeLoader()
    api_links.LinkDocstrings(str(docs), "zh").on_package(pkg=package, loader=loader)
    return package


def test_entries_name_the_lessons_that_use_them(demo: Path, lessons: Path) -> None:
    package = linked(demo, lessons)
    line = "用到它的课：[查表](../lessons/lookup.ipynb)\n{: .used-in }"
    for name, used in [("table.fetch", True), ("table.Table.empty", True), ("table.walk", False)]:
        assert (package[name].docstring.parsed[-1].value == line) == used


def test_names_in_single_backticks_are_references(
    demo: Path, lessons: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = demo / "src/demo/table.py"
    edit(table, "A word on speed.", "``fetch`` and `fetch` and `ids`, like `str`, not `demo.fech`.")
    (lessons / "inventories/python.txt").write_text("Python 3\nstr class s.html#$\n")
    package = linked(demo, lessons)
    sections = package["table.fetch"].docstring.parsed
    assert sections[1].value[0].description == "Where to look, a [`Table`][demo.table.Table]."
    assert (
        package["table.Table.empty"]
        .docstring.parsed[0]
        .value.endswith("see [`fetch`][demo.table.fetch].")
    )
    notes = next(section for section in sections if section.kind.value == "admonition")
    assert notes.value.contents == (
        "``fetch`` and `fetch` and `ids`, like [`str`][str], not `demo.fech`."
    )
    assert "`demo.fech` is neither in the reference nor in docs/inventories" in caplog.text


def test_an_inventory_is_sphinx_own_format(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("# x\nManual 3\n\nb.B class p.html#$\na function q\n")
    manual = inventories.Manual.read(tmp_path / "m.txt")
    parsed = Inventory.parse_sphinx(io.BytesIO(manual.inventory()), domain_filter=["py"])
    assert (parsed.project, parsed.version) == ("Manual", "3")
    assert {item.name: item.uri for item in parsed.values()} == {"a": "q", "b.B": "p.html#b.B"}
    assert inventories.names(tmp_path) == {"a", "b.B"}


# The project itself


@pytest.fixture(scope="module")
def package() -> griffe.Module:
    return api.load(ROOT / "src", "tokpos")


@pytest.fixture(scope="module", params=translations.catalogues(DOCS), ids=lambda path: path.stem)
def texts(request: pytest.FixtureRequest) -> Catalog:
    return catalogue.read(request.param)


def test_every_public_object_has_a_docstring(package: griffe.Module) -> None:
    # PyTorch asks a module for `extra_repr`; nobody else calls it.
    bare = [e.path for e in api.walk(package) if not e.has_docstring and e.name != "extra_repr"]
    assert bare == []


def test_docstrings_have_the_sections_that_the_signature_asks_for(package: griffe.Module) -> None:
    faults = []
    for entry in map(api.final, api.walk(package)):
        if not entry.docstring or not (entry.is_function or entry.is_class):
            continue
        sections = {section.kind.value: section.value for section in entry.docstring.parsed}
        asked = [p.name.lstrip("*") for p in entry.parameters if p.name not in ("self", "cls")]
        told = [element.name.lstrip("*") for element in sections.get("parameters", ())]
        # One sentence may do for a small function; a list of parameters is whole or absent.
        # `device` and `dtype` are those of every module of PyTorch.
        asked = [name for name in asked if name in told or name not in ("device", "dtype")]
        if told and asked and told != asked:
            faults.append(f"{entry.path}: has the parameters {asked}, tells of {told}")
        returns = entry.is_function and str(entry.returns) != "None"
        if told and returns and not {"returns", "yields"} & sections.keys():
            faults.append(f"{entry.path}: does not tell what it returns")
    assert not faults, "\n".join(faults)


def test_the_catalogue_has_no_gap_and_nothing_stale(
    package: griffe.Module, texts: Catalog, tmp_path: Path
) -> None:
    new, counts = catalogue.updated(texts, translations.passages(package))
    assert counts == {"new": 0, "changed": 0, "gone": 0}, "run `make translations`"
    assert [str(m.id) for m in texts if m.id and (m.fuzzy or not m.string)] == []
    name = f"{texts.locale}.po"
    catalogue.write(new, tmp_path / name)
    assert (tmp_path / name).read_bytes() == (DOCS / "translations" / name).read_bytes()


def test_translations_keep_code_links_and_terms(texts: Catalog) -> None:
    terms = glossary.read(DOCS / "glossary.yml")
    faults = []
    for message in texts:
        if not message.id:
            continue
        english = Passage("", "en", str(message.id), 1)
        translated = Passage("", str(texts.locale), str(message.string), 1)
        ours, theirs = (
            Counter((part.kind, part.value) for part in passage.markup.parts)
            for passage in (english, translated)
        )
        if ours != theirs:
            faults.append(f"{message.id}: {(ours - theirs) + (theirs - ours)}")
        problems = typography.check(translated) + terms.check_words(translated)
        faults += [f"{message.string}: {problem.message}" for problem in problems]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("path", sorted((DOCS / "inventories").glob("*.txt")), ids=lambda p: p.stem)
def test_inventories_are_up_to_date_and_name_what_exists(path: Path) -> None:
    manual = inventories.Manual.read(path)
    assert path.with_suffix(".inv").read_bytes() == manual.inventory()
    assert [name for name, _, _ in manual.symbols if name != "None" and locate(name) is None] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_reference_has_its_words(language: str) -> None:
    words = api.Words.read(DOCS / "translations" / f"{language}.yml")
    assert "{lessons}" in words.used_in


def test_the_real_lessons_use_the_package(package: griffe.Module) -> None:
    names = api_links.Names(package)
    for read in api_links.lessons(DOCS):
        if read.name.startswith("lessons/"):  # a fault may do with plain torch
            assert names.in_lesson(read), read.name
