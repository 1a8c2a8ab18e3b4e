"""A page of the built site as a chapter of the book: what is clicked there is read here.

Every id gets the page in front of it, so that no id stands in the book twice, and a link to
another page becomes one to its chapter. Figures are taken out of the page before it is parsed,
and become pictures of their own: a browser that cuts a book into sheets goes through everything
in it many times, and the glyphs in the figures are most of what there is.
"""

from __future__ import annotations

import hashlib
import html
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from scripts import assemble, figure_files, palette
from scripts.files import write_whole
from scripts.release.navigation import SVG

_ARTICLE = re.compile(r"<article[ >].*?</article>", re.DOTALL)
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)"')
_HEADING = re.compile(r"h[1-6]")
# Words in code that look like the text around them: half of all elements, and none is seen.
_PLAIN_CODE = re.compile(r'<span class="(?:n\w|[npw]|m\w|bp|vm|fm)">([^<]*)</span>|<span></span>')
# What is of use on a screen alone.
_NOT_READ = {"link", "script", "template"}
_CLICKED = {"tp-hint", "headerlink", "notebook", "tp-try", "tp-data", "tp-seen", "tp-cite"}
SCALE = 0.78  # of a figure, as the text on paper is smaller than on a screen
TALLEST = 800  # of a figure, in pixels of 1/96 inch: with its caption it fits on a sheet
LONG = 16  # lines of code that may be cut by the end of a page

_COLORS = palette.variables("light")


def anchor(page: str) -> str:
    """The id of a page in the book."""
    return page.removesuffix(".html")


@dataclass
class Chapter:
    page: str
    article: Tag
    ids: set[str]
    depth: int
    styles: list[Path]  # the style sheets of its page

    @property
    def anchor(self) -> str:
        return anchor(self.page)

    @property
    def headings(self) -> list[Tag]:
        return list(self.article.find_all(_HEADING))


def read(folder: Path, page: str, depth: int, figures: Path) -> Chapter:
    """The article of a page, as it stands in the site; its figures go into a folder."""
    whole = figure_files.together(folder / page)
    found = _ARTICLE.search(whole)
    if found is None:
        raise ValueError(f"{folder / page}: no article in it")
    text = SVG.sub(lambda svg: _picture(svg[0], figures), found[0])
    article = BeautifulSoup(_PLAIN_CODE.sub(r"\1", text), "html.parser").article
    assert article is not None
    for tag in article.find_all(_is_for_screens):
        tag.decompose()
    for code in article.find_all("pre"):
        if code.get_text().count("\n") > LONG:
            code["class"] = "long"
    for widget in article.find_all(class_=["widget", "tp-still"]):
        widget.unwrap()
    ids = {str(tag["id"]) for tag in article.find_all(id=True)}
    here = (folder / page).parent
    styles = [(here / address).resolve() for address in _STYLE.findall(whole)]
    return Chapter(page, article, ids, depth, styles)


def _is_for_screens(tag: Tag) -> bool:
    classes = tag.get_attribute_list("class")
    return (
        tag.name in _NOT_READ
        or not _CLICKED.isdisjoint(classes)
        or ("widget" in classes and tag.has_attr("hidden"))  # one without a figure
        or (tag.name == "p" and tag.find(class_="on-screen", recursive=False) is not None)
    )


def _picture(svg: str, figures: Path) -> str:
    """The figure as a file, and the image that shows it."""
    head = svg[: svg.index(">")]
    said = dict(re.findall(r' ([\w-]+)="([^"]*)"', head))
    if "data-figure" not in said:
        return svg  # a part of a formula, such as a root
    content = assemble.standalone(svg, _COLORS).encode()
    mark = hashlib.sha256(content).hexdigest()[:8]
    path = figures / f"{said['data-figure']}-{mark}.svg"
    if not path.exists():
        write_whole(path, content)
    width = float(said["width"]) * min(SCALE, TALLEST / float(said["height"]))
    alt = said.get("aria-label", "")
    return f'<img src="{figures.name}/{path.name}" width="{width:g}" alt="{alt}">'


def bind(chapter: Chapter, book: Mapping[str, Chapter], answers: str) -> None:
    """Make the chapter a part of the book; `answers` is the title of what answers its quiz."""
    for heading in chapter.headings:
        level = int(heading.name[1])
        heading["class"] = " ".join([*heading.attrs.get("class", []), f"level-{level}"])
        heading.name = f"h{min(level + chapter.depth, 6)}"
    for link in chapter.article.find_all("a", href=True):
        _lead(link, chapter, book)
    for tag in chapter.article.find_all(id=True):
        tag["id"] = f"{chapter.anchor}/{tag['id']}"
    _answer_at_the_end(chapter.article, answers)
    for folded in chapter.article.find_all("details"):
        folded["open"] = ""
    start = BeautifulSoup("", "html.parser").new_tag("a", id=chapter.anchor)
    chapter.headings[0].insert(0, start)


def _lead(link: Tag, chapter: Chapter, book: Mapping[str, Chapter]) -> None:
    """Lead a link to its place in the book; where that has no such place, leave the words."""
    parts = urlsplit(str(link["href"]))
    if parts.scheme:
        return
    folder = posixpath.dirname(chapter.page)
    page = posixpath.normpath(posixpath.join(folder, parts.path)) if parts.path else chapter.page
    target, place = book.get(page), unquote(parts.fragment)
    if target and place in target.ids:
        link["href"] = f"#{target.anchor}/{place}"
    elif target and not place:
        link["href"] = f"#{target.anchor}"
    else:
        link.unwrap()


def _answer_at_the_end(article: Tag, title: str) -> None:
    """The options of each question as a list, and what they tell behind all questions."""
    answered = []
    for number, quiz in enumerate(article.find_all(class_="quiz"), 1):
        options, told = [], []
        for option in quiz.find_all("details", recursive=False):
            summary = option.find("summary")
            assert isinstance(summary, Tag)
            options.append(f"<li>{summary.extract().decode_contents()}</li>")
            told.append(f"<li>{option.decode_contents()}</li>")
            option.decompose()
        quiz["class"] = "asked"
        quiz.insert(0, _parsed(f'<span class="number">{number}.</span>'))
        quiz.append(_parsed(f'<ol class="options">{"".join(options)}</ol>'))
        answered.append(f'<li><ol class="options">{"".join(told)}</ol></li>')
    if answered:
        title = f'<p class="name">{html.escape(title)}</p>'
        article.append(_parsed(f'<div class="answers">{title}<ol>{"".join(answered)}</ol></div>'))


def _parsed(text: str) -> Tag:
    tag = BeautifulSoup(text, "html.parser").find()
    assert isinstance(tag, Tag)
    return tag
