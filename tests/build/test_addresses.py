"""Addresses that were published stay: pages that moved lead on, pages that are gone stop a build."""

from __future__ import annotations

import re

import pytest

from scripts import addresses
from scripts.addresses import Move
from tests.build.tiny_site import TinySite

MOVED = "lessons/old.html: lessons/one.html\nlessons/old.ipynb: lessons/one.ipynb\nwas.html: api/pack.html\n"
PUBLISHED = "api/pack.html\nlessons/old.html\nlessons/old.ipynb\nlessons/one.html\nlessons/one.ipynb\nwas.html\n"
LISTED = "a:\n  - https://example.org/a\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The tiny site after some moves, with a link to the outside."""
    site = TinySite(tmp_path_factory.mktemp("moved"))
    site.write(addresses.MOVED, MOVED)
    site.write(addresses.PUBLISHED, PUBLISHED)
    site.write("docs/links.yml", LISTED)
    for language in ("en", "zh"):
        site.edit(f"docs/{language}/index.md", ".md)", ".md) [a](https://example.org/a#b)")
    done = site.build()
    assert done.returncode == 0, done.stdout
    return site


@pytest.mark.parametrize(
    ("folder", "words"), [("", "This page has moved"), ("zh/", "这一页换了地址")]
)
def test_an_old_address_leads_to_the_new_one(built, folder, words):
    page = built.page(f"{folder}lessons/old.html")
    language = "zh-Hans" if folder else "en"
    assert f'<html lang="{language}">' in page and f"<h1>{words}</h1>" in page
    assert f'<link rel="canonical" href="http://127.0.0.1:8000/{folder}lessons/one.html">' in page
    assert '<a href="one.html" data-tp="moved">' in page
    assert '<script src="../assets/js/moved.js"></script>' in page
    assert (built.root / "site" / folder / "assets/js/moved.js").is_file()
    assert '<meta http-equiv="refresh" content="0; url=one.html">' in page
    assert 'content="noindex"' in page
    assert re.search(
        r"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self';", page
    )
    assert 'href="api/pack.html"' in built.page(f"{folder}was.html")


def test_an_old_notebook_is_there_once_more(built):
    for folder in ("", "zh/"):
        old, new = (built.page(f"{folder}lessons/{name}.ipynb") for name in ("old", "one"))
        assert old == new


def test_an_old_address_is_no_page_of_the_site(built):
    for folder in ("", "zh/"):
        assert "old" not in built.page(f"{folder}sitemap.xml")
        assert "old.html" not in built.page(f"{folder}index.html")


FAULTS = [
    "docs/moved.yml:1: lessons/two.html is still made, so it has not moved",
    "docs/moved.yml:2: there is no lessons/none.html",
    "docs/moved.yml:3: there is no lessons/other.html; it has moved to lessons/none.html",
    "docs/published.txt:2: (en): lessons/gone.html was published and is not made any more: say in docs/moved.yml where it has moved",
    "docs/published.txt:3: (en): lessons/gone.ipynb was published",
    "docs/published.txt:3: (zh): lessons/gone.ipynb was published",
    "docs/links.yml:2: https://example.org/a: no page points there; take it out",
    "docs/en/index.md:3: (en): this page points to 'https://example.org/b', which is not in docs/links.yml",
    "docs/zh/index.md:3: (zh): this page points to 'https://example.org/b', which is not in docs/links.yml",
    "docs/lessons/one.py:3: cell 1 (en): this page points to 'http://example.org/',",
    "docs/lessons/one.py:6: cell 2 (zh): this page points to 'http://example.org/',",
    "src/pack/__init__.py:4: (en): this page points to 'https://example.org/c',",
    "docs/translations/zh.po:9: (zh): this page points to 'https://example.org/c',",
]  # fmt: skip


def test_each_fault_is_named_with_its_place_and_the_last_site_stays(built):
    before = built.bytes()
    built.write(
        addresses.MOVED,
        "lessons/two.html: lessons/one.html\nlessons/other.html: lessons/none.html\nolder.html: lessons/other.html\n",
    )
    built.write(addresses.PUBLISHED, "api/pack.html\nlessons/gone.html\nlessons/gone.ipynb\n")
    for name in ("docs/en/index.md", "docs/zh/index.md"):
        built.edit(name, "https://example.org/a#b", "https://example.org/b")
    built.edit("docs/lessons/one.py", "(two.md#end)", "(two.md#end) [x](http://example.org/)")
    built.edit("src/pack/__init__.py", "A value.", "A value: https://example.org/c")
    built.edit("src/pack/__init__.py", "https://example.org/c", "[c](https://example.org/c).")
    built.edit("docs/translations/zh.po", "A value.", "A value: [c](https://example.org/c).")
    built.edit("docs/translations/zh.po", "一个值。", "一个值：[c](https://example.org/c)。")
    failed = built.build()
    assert failed.returncode
    said = [fault for fault in FAULTS if fault not in failed.stdout]
    assert not said, failed.stdout
    assert built.bytes() == before


# The form of the two lists


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("/a.html", "b.html", "is no address"),
        ("a.html", "../b.html", "is no address"),
        ("a.md", "b.html", "is no address"),
        ("a.html", "https://example.org/b.html", "is no address"),
        ("a.html", "b.html#c", "is no address"),
        ("a", "b.html", "is no address"),
        ("a.ipynb", "b.html", "not of one kind"),
        ("zh/a.html", "b.html", "the first language"),
        ("a.html", "zh/b.html", "the first language"),
    ],
)
def test_a_move_that_is_none(old, new, fault):
    (problem,) = addresses.check_form([Move(old, new, 7)], [], ["zh"])
    assert fault in problem.message and (problem.path, problem.line) == (addresses.MOVED, 7)


def test_an_address_moves_once(tmp_path):
    (tmp_path / "moved.yml").write_text("# head\na.html: b.html\na.html: c.html\n")
    moves = addresses.read_moved(tmp_path / "moved.yml")
    (problem,) = addresses.check_form(moves, [], ["zh"])
    assert problem.line == 3 and "in a line above" in problem.message


def test_published_addresses_are_sorted(tmp_path):
    (tmp_path / "published.txt").write_text("# head\nb.html\na.html\nc.html\nc.html\nzh/d.html\n")
    published = addresses.read_published(tmp_path / "published.txt")
    problems = addresses.check_form([], published, ["zh"])
    assert [problem.line for problem in problems] == [3, 5, 6]
    assert "a.html stands after b.html" in problems[0].message


def test_publishing_adds_what_is_there_and_takes_nothing_out(built, capsys):
    built.write(addresses.PUBLISHED, "# head\nzebra.html\n")
    addresses.main(built.root)
    assert "12 addresses, 11 of them new" in capsys.readouterr().out
    lines = (built.root / addresses.PUBLISHED).read_text().splitlines()
    assert lines[0] == "# head" and lines[1:] == sorted(lines[1:])
    assert {"lessons/old.ipynb", "lessons/one.html", "was.html", "zebra.html"} <= set(lines)
    assert not {"404.html", "zh/index.html", "assets/js/moved.js"} & set(lines)
    addresses.main(built.root)
    assert "0 of them new" in capsys.readouterr().out


def test_publishing_needs_a_site(tmp_path):
    with pytest.raises(SystemExit, match="make site"):
        addresses.main(tmp_path)
