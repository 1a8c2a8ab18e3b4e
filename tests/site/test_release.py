"""The books and the unpacked archive of the site, as a reader has them."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from pypdf import PdfReader

from scripts import figure_files
from scripts.origin import Origin
from scripts.release import archives, book, paper
from scripts.release.provenance import Provenance
from tests.site.conftest import Open
from tests.site.test_search import ask

ROOT = Path(__file__).parents[2]
MADE = Provenance(
    Origin("1.2.3", "abc1234def"), "Somebody", datetime(2024, 2, 29, 12, 30, 14, tzinfo=UTC)
)
# A lesson with a quiz, and the museum with one of its faults.
PAGES = ["lessons/lookup.html", "museum.html", "faults/mixed_layouts.html"]
LANGUAGES = ["zh", "en"] if os.environ.get("TOKPOS_PAGES") == "all" else ["zh"]


@dataclass
class Printed:
    """A book of a few pages, and what stands on these in the site."""

    language: str
    path: Path
    pages: dict[str, str]

    def __post_init__(self) -> None:
        self.reader = PdfReader(self.path)
        self.sheets = [page.extract_text() for page in self.reader.pages]

    @property
    def text(self) -> str:
        return "".join("".join(self.sheets).split())


@pytest.fixture(scope="module", params=LANGUAGES)
def printed(
    request: pytest.FixtureRequest, site: Path, tmp_path_factory: pytest.TempPathFactory
) -> Printed:
    language = str(request.param)
    folder = site if language == "en" else site / language
    workshop = tmp_path_factory.mktemp(f"book-{language}")
    words = yaml.safe_load((ROOT / f"docs/translations/{language}.yml").read_text("utf-8"))
    path = workshop / "of_few_pages.pdf"
    pages_of_book = book.read(folder, workshop, language, words, MADE, PAGES)
    with ThreadPoolExecutor(1) as apart:  # the tests' own browser runs in this thread
        apart.submit(paper.write, pages_of_book, path, workshop).result()
    pages = {}
    for page in PAGES:
        text = figure_files.together(folder / page)
        pages[page] = text[text.index("<article") : text.index("</article>")]
    return Printed(language, path, pages)


def read_on_paper(articles: str) -> str:
    """The pages without what is to be clicked."""
    clicked = r'<div class="tp-(?:try|seen)">.*?</div>|<details class="tp-cite">.*?</details>'
    return re.sub(clicked, "", articles, flags=re.DOTALL)


def plain(markup: str) -> str:
    """The words of HTML, without the mark at the end of a heading."""
    words = re.sub(r"<[^>]+>", "", re.sub(r'<a [^>]*class="headerlink.*?</a>', "", markup))
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        words = words.replace(entity, character)
    return " ".join(words.split())


def headings(article: str) -> list[tuple[int, str]]:
    found = re.findall(r"<h(\d)[^>]*>(.*?)</h\1>", article, re.DOTALL)
    return [(int(level), plain(text)) for level, text in found]


def bookmarks(items: list[Any], depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    for item in items:
        if isinstance(item, list):
            yield from bookmarks(item, depth + 1)
        else:
            yield depth, item.title, item


def test_bookmarks_are_the_headings(printed: Printed) -> None:
    """Parts, the pages in them, and the sections of these, with the words that they have there."""
    site = yaml.safe_load((ROOT / "docs/site.yml").read_text(encoding="utf-8"))
    part, museum = (site["parts"][n]["title"][printed.language] for n in (0, 3))
    depths = {"lessons": 1, "faults": 2}
    marks = list(bookmarks(printed.reader.outline))
    titles = [title for _, title, _ in marks]
    assert part in titles and museum in titles
    for page, article in printed.pages.items():
        (_, first), *_ = expected = headings(article)
        start = titles.index(first)
        depth = depths.get(page.partition("/")[0], 1)
        found = [(level, title) for level, title, _ in marks[start : start + len(expected)]]
        assert found == [(depth + level - 1, title) for level, title in expected]
    for _, title, item in marks:
        sheet = printed.reader.get_destination_page_number(item)
        assert "".join(title.split()) in "".join(printed.sheets[sheet].split()), title


def test_contents_name_the_page_of_each_chapter(printed: Printed) -> None:
    contents = " ".join(printed.sheets[1].split())
    for _, title, item in bookmarks(printed.reader.outline):
        number = printed.reader.get_destination_page_number(item) + 1
        if any(headings(article)[0][1] == title for article in printed.pages.values()):
            assert f" {title} {number} " in f" {contents} ", title
        if number > 2:
            assert str(number) in printed.sheets[number - 1].split("\n")[:3]  # as it is printed


def test_every_link_leads_somewhere(printed: Printed) -> None:
    begins = {
        title: printed.reader.get_destination_page_number(item)
        for _, title, item in bookmarks(printed.reader.outline)
    }
    known = printed.reader.named_destinations
    inside: Counter[str] = Counter()
    outside = set()
    for sheet in printed.reader.pages:
        for note in (note.get_object() for note in sheet.get("/Annots") or []):
            if note["/Subtype"] == "/Link" and "/Dest" in note:
                inside[str(note["/Dest"])] += 1
            elif note["/Subtype"] == "/Link":
                outside.add(str(note["/A"]["/URI"]))
    assert set(inside) <= set(known)
    for page, article in printed.pages.items():
        name, links = "/" + page.removesuffix(".html"), f'href="(?:\\.\\./)?{re.escape(page)}"'
        of_pages = sum(
            len(re.findall(links, read_on_paper(each))) for each in printed.pages.values()
        )
        assert inside[name] > of_pages  # and one of the contents
        start = begins[headings(article)[0][1]]
        assert printed.reader.get_destination_page_number(known[name]) == start
    on_pages = set(re.findall(r'href="(https://[^"]+)"', "".join(printed.pages.values())))
    assert on_pages and {plain(address) for address in on_pages} == outside


def test_figures_are_there_and_say_what_they_show(printed: Printed) -> None:
    found: list[str] = []

    def walk(node: Any) -> None:
        node = node.get_object()
        if isinstance(node, list):
            for each in node:
                walk(each)
        elif isinstance(node, dict):
            if node.get("/S") == "/Figure":
                found.append(" ".join(str(node.get("/Alt", "")).split()))
            if "/K" in node:
                walk(node["/K"])

    walk(printed.reader.root_object["/StructTreeRoot"])
    wanted = re.findall(
        r'<svg [^>]*data-figure[^>]*aria-label="([^"]*)"', "".join(printed.pages.values())
    )
    assert wanted
    assert [text for text in found if text] == [plain(text) for text in wanted]


def test_words_can_be_found(printed: Printed) -> None:
    """No formula as TeX, no letters or characters that only look right, nothing that is missing."""
    articles = read_on_paper("".join(printed.pages.values()))
    for paragraph in re.findall(r"<p>([^<]{20,})</p>", articles):
        assert "".join(plain(paragraph).split()) in printed.text, paragraph
    assert not re.search("[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufb06\ufffd]", printed.text)
    assert not re.search(r"\\(frac|sqrt|begin|mathrm|text)|\$\$|\\\(", printed.text)
    assert not [title for _, title, _ in bookmarks(printed.reader.outline) if "None" in title]
    assert "1.2.3" in printed.sheets[0] and "abc1234" in printed.sheets[0]
    assert "2024-02-29" in printed.sheets[0] and "CCBY4.0" in printed.sheets[0].replace(" ", "")


def test_what_is_folded_or_clicked_in_the_site_is_read_here(printed: Printed) -> None:
    lesson = printed.pages["lessons/lookup.html"]
    lesson, _, cited = lesson.partition('<details class="tp-cite">')
    folded = re.findall(r"<summary>([^<]+)</summary>", lesson)
    folded += re.findall(r"</strong>([^<]{10,})</p>", lesson.partition('class="quiz"')[2])
    assert len(folded) > 10
    for words in folded:
        assert "".join(plain(words).split()) in printed.text, words
    clicked = re.findall(r'<div class="tp-try">\s*<p>(.*?)</p>', lesson)
    clicked += re.findall(r'<a class="notebook"[^>]*>(.*?)</a>', lesson)
    clicked += re.findall(r"<summary>(.*?)</summary>", cited)
    assert len(clicked) == 3
    for words in clicked:
        assert "".join(plain(words).split()) not in printed.text, words


def test_fonts_travel_with_the_book(printed: Printed) -> None:
    names = set()
    for sheet in printed.reader.pages:
        for font in sheet["/Resources"]["/Font"].values():
            font = font.get_object()
            assert font["/Subtype"] == "/Type0"  # letters of a font, no drawings of letters
            inner = font["/DescendantFonts"][0].get_object()
            assert "/FontFile2" in inner["/FontDescriptor"]
            names.add(str(font["/BaseFont"]).partition("+")[2])
    assert {"STIXGeneral-Regular", "NotoSerifSC-Regular", "KaTeX_Main-Regular"} <= names


def test_the_book_tells_what_it_is(printed: Printed) -> None:
    about, root = printed.reader.metadata, printed.reader.root_object
    assert about and about.author == "Somebody"
    assert about.title == {"en": "Token and Position", "zh": "词元与位置"}[printed.language]
    assert about.creation_date == about.modification_date == MADE.time
    assert root["/PageMode"] == "/UseOutlines"
    assert root["/Lang"] == {"en": "en", "zh": "zh-Hans"}[printed.language]


# The site without a host


@pytest.fixture(scope="module")
def unpacked(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the site, packed and unpacked where somebody may put it."""
    folder = tmp_path_factory.mktemp("release")
    part = folder / "site"

    def others(where: str, names: list[str]) -> list[str]:
        kept = {"tokens.html", "tokens.ipynb"}
        heavy = {"lessons": set(names) - kept, "faults": set(names), "api": set(names)}
        return sorted(heavy.get(Path(where).name, set()))

    shutil.copytree(site, part, ignore=others)
    for index in part.rglob("search_index.js"):  # the whole one is tested by test_search.py
        before, _, content = index.read_text(encoding="utf-8").partition("=")
        searched = json.loads(content)
        searched["docs"] = [
            each
            for each in searched["docs"]
            if (index.parents[1] / each["location"].partition("#")[0]).is_file()
        ]
        index.write_text(f"{before}={json.dumps(searched)}", encoding="utf-8")
    archives.site(folder / "site.zip", part, MADE)
    target = folder / "My downloads 下载"
    with zipfile.ZipFile(folder / "site.zip") as archive:
        archive.extractall(target)
    return target / "token-and-position-1.2.3"


def test_the_archive_works_without_a_host(watch: Open, unpacked: Path) -> None:
    watched = watch(f"{unpacked.as_uri()}/")
    page = watched.page
    watched.go("index.html")
    page.click("article a[href*='tokens.html']")
    page.wait_for_url(re.compile("/lessons/tokens.html"))
    for language, query in (("en", "embedding"), ("zh-Hans", "位置编码")):
        page.wait_for_selector(f":root[lang={language}]")
        assert page.locator("article .katex-html:visible").count()
        for family in ("KaTeX_Main", "KaTeX_AMS"):  # from the style sheet, and from a file
            load = "(family) => document.fonts.load(`1em ${family}`, '=').then((all) => all.length)"
            assert page.evaluate(load, family)
        assert len(ask(page, query)) > 1
        page.keyboard.press("Escape")
        if language == "en":
            page.click(".tp-switch")
            page.wait_for_url(re.compile("/zh/lessons/tokens.html"))
    page.locator("[data-widget=tokenizer]").scroll_into_view_if_needed()  # which makes it
    page.click(".tp-load")
    page.wait_for_selector(".tp-token")  # a vocabulary was loaded, and a text cut by it
