"""The READMEs: made from what is so now, the same in both languages, every link and number held."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from scripts import glossary, markup, readme, structure

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs/readme"

# Versions that were tried, and names with digits: what no script counts.
TYPED = {
    "3.11",
    "3.11.2",
    "3.11.7",
    "2.13.0",
    "2.14.1",
    "12",
    "8, 12, 512, 64",
    "86",
    "64",
    "6",
    "4.0",
}


@pytest.mark.parametrize("language", readme.FILES)
def test_the_readme_is_what_comes_out_now(language):
    written = (ROOT / readme.FILES[language]).read_text(encoding="utf-8")
    assert written == readme.render(language), "run make readme"


def test_both_languages_have_the_same_form(tmp_path):
    """Headings, links, code, expressions and tables agree; terms and typography are the site's."""
    for language in readme.FILES:
        text = (SOURCES / f"{language}.md").read_text(encoding="utf-8")
        (tmp_path / language).mkdir()
        (tmp_path / language / "README.md").write_text(text.replace(".zh.md", ".md"))
    terms = glossary.read(ROOT / "docs/glossary.yml")
    problems = structure.check_pages(tmp_path, list(readme.FILES), terms)
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize("name", readme.FILES.values())
def test_no_mark_of_markdown_is_left_over(name):
    """`**词。**词` is bold on the site, and two stars each where a README is shown."""
    text = (ROOT / name).read_text(encoding="utf-8")
    html = MarkdownIt("commonmark").enable("table").render(text)
    words = re.sub(r"<code.*?</code>|<[^>]*>", "", html, flags=re.DOTALL)
    assert not re.findall(r".{8}(?:\*\*|`|\]\(|\{#).{8}", words)


@pytest.mark.parametrize("language", readme.FILES)
def test_no_number_is_typed(language):
    """In the words, that is: code is run by other tests, and addresses are no numbers."""
    text = (SOURCES / f"{language}.md").read_text(encoding="utf-8")
    prose = "\n".join(line for line in text.split("\n") if not line.startswith("    "))
    words = "\n".join(words.text for words in markup.parse(prose).words)
    assert set(re.findall(r"(?<!\w)\d[\d.]*(?:, \d+)*(?<!\.)", words)) <= TYPED


@pytest.mark.parametrize("name", readme.FILES.values())
def test_what_the_readme_names_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    assert headings[0] and len(headings) == len(set(headings))
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        if link.startswith("#"):
            assert link[1:] in map(readme.slug, headings), link
        else:
            assert (ROOT / link).is_file(), link
    for path in re.findall(r"^    ([\w/.-]+/)(?=,| )|`((?:\w+/)+[\w.]+)`", text, re.MULTILINE):
        if not {"site/", "dist/"} & {*path}:
            assert (ROOT / "".join(path)).exists(), path
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"(?:^    |`(?:\w+=\S+ )*)make (\w[\w-]*)", text, re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), f"make {command}"


@pytest.mark.parametrize("language", readme.FILES)
def test_the_picture_is_there_and_light(language):
    picture = (SOURCES / f"{language}.webp").read_bytes()
    assert picture[:4] + picture[8:12] == b"RIFFWEBP" and len(picture) < 120_000


def test_every_lesson_is_in_the_table():
    parts = yaml.safe_load((ROOT / "docs/site.yml").read_text(encoding="utf-8"))["parts"]
    lessons = [name for part in parts if "folder" not in part for name in part["lessons"]]
    row = re.compile(
        r"^\| (\d+) \| \[.+?\]\(docs/lessons/(\w+)\.py\) \| .+ \| \d+ \|$", re.MULTILINE
    )
    for name in readme.FILES.values():
        rows = row.findall((ROOT / name).read_text(encoding="utf-8"))
        assert rows == [(str(number), each) for number, each in enumerate(lessons, 1)]
