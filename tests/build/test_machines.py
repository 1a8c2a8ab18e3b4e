"""What a site has for programs and citing, on the tiny site in the theme of the project."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from mkdocs.utils import yaml_load

from scripts.book import Book
from scripts.lesson import LessonError
from tests.build.test_changes import CHANGES, git
from tests.build.test_third_language import THEME
from tests.build.tiny_site import PROJECT, TinySite

REPO = "https://example.org/pack"
ADDRESS = "http://127.0.0.1:8000/"
ROOTS = {"en": "", "zh": "zh/"}
ATOM = "{http://www.w3.org/2005/Atom}"
FILES = {
    "CHANGELOG.md": CHANGES,
    "CHANGELOG.zh.md": CHANGES.replace("Changes", "更新记录").replace("All.", "全部。"),
    "CITATION.cff": "authors:\n  - name: The pack & co\n",
}
EDITS = [
    ("mkdocs.yml", "theme: {name: material, font: false, language: en}\n", THEME + (
        "  features: [content.action.edit]\n"
        "copyright: Mine & <b>yours</b>\n"
    )),
    ("mkdocs.yml", "generator: false", f"generator: false, repo_url: {REPO}/, edit_uri: edit/main/"),
    ("docs/site.yml", "zh: 第一部分}\n", "zh: 第一部分}\n    level: {en: Beginner, zh: 入门}\n"),
    ("docs/lessons/one.py", "# # First lesson", "# # First </script> & lesson\n#"),
    ("docs/lessons/one.py", "# # 第一课", "# # 第一课\n#"),
    ("src/pack/__init__.py", "VALUE = 7", '__version__ = "0.2.0"\n\nVALUE = 7'),
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    site = TinySite(tmp_path_factory.mktemp("machines"))
    for name, text in FILES.items():
        site.write(name, text)
    for edit in EDITS:
        site.edit(*edit)
    site.write(".gitignore", "/.cache/\n/site/\n__pycache__/\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        git(site.root, *command)
    done = site.build()
    assert done.returncode == 0, done.stdout
    return site


def pages(site: TinySite) -> list[str]:
    return [n for n in site.bytes() if n.endswith(".html") and not n.endswith("404.html")]


# Markdown


def test_beside_each_page_stands_its_markdown(built):
    beside = [name for name in built.bytes() if name.endswith(".md")]
    assert beside == [re.sub("html$", "md", page) for page in pages(built)]
    for page in pages(built):
        plain = Path(page).with_suffix(".md").name
        assert f'rel=" alternate" type="text/markdown" href="{plain}"' in built.page(page)
    assert "值是 7，还有 $x^2$。" in built.page("zh/lessons/one.md")
    assert "``` text\n7\n```" in built.page("lessons/one.md")


def test_the_reference_is_signatures_and_docstrings_of_the_language(built):
    module = "# `pack`\n\n这个包。\n\n## `pack.VALUE`\n\n``` python\nVALUE = 7\n```\n\n一个值。"
    assert module in built.page("zh/api/pack.md")
    assert "The pack." in built.page("api/pack.md")
    assert "## [`pack`](pack.md)" in built.page("api/index.md")


@pytest.mark.parametrize("language", ROOTS)
def test_llms_txt_lists_every_page_once(built, language):
    text, root = built.page(f"{ROOTS[language]}llms.txt"), ADDRESS + ROOTS[language]
    lines = text.split("\n")
    assert lines[0] == ("# Tiny", "# 小站")[language == "zh"] and lines[2].startswith(">")
    title = ("First part", "第一部分")[language == "zh"]
    assert re.findall("^## (.*)$", text, re.M)[0] == title and "## Optional" in lines
    found = re.findall(r"^- \[.+?\]\((.+?)\)", text, re.M)
    own = [page for page in pages(built) if page.startswith("zh/") == (language == "zh")]
    assert sorted(found) == sorted(ADDRESS + re.sub("html$", "md", page) for page in own)
    assert f"({root}changes.md): What is new.\n" in text
    assert language == "zh" or "- [First & lesson](" in text
    told = (": A plain sentence. See the other.", "：一句话。见 另一课。")[language == "zh"]
    assert f"({root}lessons/one.md): {told[1:].strip()}" in text
    full = built.page(f"{ROOTS[language]}llms-full.txt")
    assert full.count("\n# ") == 1 and "](lessons/two.md)" in full


# Heads and feet


@pytest.mark.parametrize("language", ROOTS)
def test_a_lesson_says_what_it_is_as_structured_data(built, language):
    page = built.page(f"{ROOTS[language]}lessons/one.html")
    (text,) = re.findall('<script type="application/ld.json">(.*?)</script>', page, re.S)
    said = json.loads(text)
    assert said["@type"] == "LearningResource" and said["timeRequired"] == "PT1M"
    assert said["name"] == ("First </script> & lesson", "第一课")[language == "zh"]
    assert said["description"].startswith(("A plain sentence.", "一句话。")[language == "zh"])
    assert said["inLanguage"] == ("en", "zh-Hans")[language == "zh"]
    assert said["educationalLevel"] == ("Beginner", "入门")[language == "zh"]
    assert said["url"] == f"{ADDRESS}{ROOTS[language]}lessons/one.html"
    assert said["author"][0]["name"] == "The pack & co"


def test_a_lesson_says_how_to_cite_it(built):
    page = built.page("lessons/one.html")
    (box,) = re.findall('<details class="tp-cite">(.*?)</details>', page, re.S)
    line, bibtex = (
        html.unescape(re.search(f"<{tag}>(.*?)</{tag}>", box, re.S)[1]) for tag in ("p", "code")
    )
    address = f"{ADDRESS}lessons/one.html"
    assert line == (
        "The pack & co, “First </script> & lesson”, Tiny, version 0.2.0, 2025. " + address
    )
    short = git(built.root, "rev-parse", "HEAD")[:7]
    assert bibtex == (
        "@misc{pack-one,\n  author = {{The pack \\& co}},\n"
        "  title = {{First </script> \\& lesson}},\n  howpublished = {Tiny},\n  year = {2025},\n"
        f"  note = {{version 0.2.0, commit {short}}},\n  url = {{{address}}},\n}}"
    )
    assert "@misc{pack-one-zh," in built.page("zh/lessons/one.html")
    for other in ("index.html", "api/pack.html", "glossary.html", "changes.html"):
        assert "tp-cite" not in built.page(other)
    assert "tp-cite" not in built.page("lessons/one.md")


def test_the_foot_says_version_and_commit(built):
    commit = git(built.root, "rev-parse", "HEAD")
    for page in pages(built):
        foot = built.page(page).partition('class="tp-origin"')[2].partition("</footer>")[0]
        assert re.search(r'>pack <a href="(\.\./)*changes.html">0.2.0</a>', foot), page
        said = ("commit {}", "提交 {}")[page.startswith("zh/")].format(commit[:7])
        assert f'<a href="{REPO}/commit/{commit}">{said}</a>' in foot, page


def test_every_page_is_edited_at_its_one_source(built):
    titles = {"": "Edit this page", "zh/": "编辑此页"}
    found = {}
    for page in pages(built):
        (link,) = re.findall(r'<a href="([^"]*)" title="([^"]*)"[^>]* rel="edit"', built.page(page))
        language = "zh/" if page.startswith("zh/") else ""
        assert link[1] == titles[language]
        found[page] = link[0].removeprefix(f"{REPO}/edit/main/")
        assert (built.root / found[page]).is_file(), page
    for one in ("lessons/one.html", "api/pack.html", "glossary.html"):
        assert found[one] == found[f"zh/{one}"]
    assert found["lessons/one.html"] == "docs/lessons/one.py"
    assert found["api/pack.html"] == "src/pack/__init__.py"
    assert found["zh/index.html"] == "docs/zh/index.md"
    assert found["zh/changes.html"] == "CHANGELOG.zh.md"
    assert "md-source" not in built.page("index.html")  # it would ask api.github.com


@pytest.mark.parametrize("given", ["", "https://github.com/someone/pack"])
def test_the_repository_comes_from_the_environment(monkeypatch, given):
    monkeypatch.setenv("REPO_URL", given)
    with (PROJECT / "mkdocs.zh.yml").open("rb") as file:
        config = yaml_load(file)  # what it inherits included
    assert (config["extra"]["repo_url"] or "") == given and "repo_url" not in config
    assert config["extra"]["edit_uri"] == "edit/main"
    assert "content.action.edit" in config["theme"]["features"]


FAULTS = {
    "a date": ("CHANGELOG.zh.md", "2026-01-02", "2026-01-03", "CHANGELOG.zh.md:15: (zh): 0.1.0"),
    "a heading": ("CHANGELOG.md", "## [0.1.0]", "## 0.1.0", "CHANGELOG.md:15: this file cannot"),
    "authors": ("CITATION.cff", "authors:", "writers:", "CITATION.cff:1: this file cannot be read"),
    "a level": ("docs/site.yml", ", zh: 入门", "", "has no level in `zh`"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_file(built, fault):
    name, old, new, wanted = FAULTS[fault]
    text = (built.root / name).read_text("utf-8")
    book = Book(built.root)
    try:
        built.edit(name, old, new)
        book.check()
        said = "\n".join(map(str, book.problems))
    except LessonError as error:
        said = str(error)
    finally:
        built.write(name, text)
    assert wanted in said


# The feed


@pytest.mark.parametrize("language", ROOTS)
def test_the_feed_has_an_entry_for_each_released_version(built, language):
    feed = xml.fromstring(built.page(f"{ROOTS[language]}feed.xml"))
    address = ADDRESS + ROOTS[language]
    assert feed.findtext(f"{ATOM}updated") == "2026-02-03T00:00:00Z"
    assert feed.findtext(f"{ATOM}author/{ATOM}name") == "The pack & co"
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {"self": f"{address}feed.xml", "alternate": f"{address}changes.html"}
    entries = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == ["0.2.0", "0.1.0"]
    assert [entry.findtext(f"{ATOM}updated")[:10] for entry in entries] == [
        "2026-02-03",
        "2026-01-02",
    ]
    content = entries[0].findtext(f"{ATOM}content")
    assert content.startswith("<h3>New</h3>") and "<code>&lt;b&gt;</code> &amp; more." in content
    page = built.page(f"{ROOTS[language]}changes.html")
    for entry in entries:
        path, _, place = entry.find(f"{ATOM}link").get("href").partition("#")
        assert path == f"{address}changes.html" and f'id="{place}"' in page
    ids = [element.text for element in feed.iter(f"{ATOM}id")]
    assert len(set(ids)) == 3 and all(each.startswith("urn:uuid:") for each in ids)


def test_the_feed_is_found_from_every_page(built):
    for page in pages(built):
        up = "../" * page.removeprefix("zh/").count("/")
        feed = f'rel=" alternate" type="application/atom.xml" title="[^"]+" href="{up}feed.xml"'
        assert re.search(feed, built.page(page)), page
        # With the plain word, the theme asks for a sitemap beside each alternate.
        assert "rel=alternate" not in built.page(page) and 'rel="alternate"' not in built.page(page)
    assert built.page("feed.xml") != built.page("zh/feed.xml")
