"""What the built site has for programs: Markdown, inventories, structured data."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import pytest

from scripts import api
from scripts.plain import outside_code
from tests.site.conftest import collected
from tests.site.server import published_at

ROOT = Path(__file__).parents[2]

# What no plain Markdown has, outside code.
SITE_ONLY = re.compile(
    r"\{[:#%].*|\{\{.*|^(?:!!!|\?\?\?|///|:::).*|<(?!/?(?:details|summary|br|sup)\b)[a-z/].*|&#\d.*"
    r"|\]\[.*",
    re.MULTILINE,
)


def test_every_markdown_is_plain_and_links_to_what_is_there(site: Path, paths: list[str]) -> None:
    with collected() as problems:
        for name in paths:
            page = site / name
            text = page.with_suffix(".md").read_text(encoding="utf-8")
            words = re.sub("``[^`]*``", "", outside_code(lambda w: w, text, lambda code: "`code`"))
            problems += [f"{name}: {found[:60]!r}" for found in SITE_ONLY.findall(words)]
            for target in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", words):
                if not target.endswith(".md") or not (page.parent / target).is_file():
                    problems.append(f"{name}: a link to {target}")
            if not text.startswith("# "):
                problems.append(f"{name}: no title")


@pytest.fixture(scope="module")
def public() -> set[str]:
    """The full name of everything that the reference shows."""
    entries = api.walk(api.load(ROOT / "src", "tokpos"))
    return {entry.path for entry in entries if entry.docstring}


@pytest.mark.parametrize("folder", ["", "zh/"])
def test_the_inventory_leads_to_every_public_object(
    site: Path, public: set[str], folder: str
) -> None:
    header, name, version, packed, content = (
        (site / folder / "objects.inv").read_bytes().split(b"\n", 4)
    )
    assert header == b"# Sphinx inventory version 2" and b"zlib" in packed
    assert name.startswith(b"# Project: ") and version.startswith(b"# Version: ")
    listed = {}
    for line in zlib.decompress(content).decode().splitlines():
        match = re.fullmatch(r"(.+?) (\S+:\S+) (-?\d+) (\S*) (.*)", line)
        assert match, line
        listed[match[1]] = match[4].replace("$", match[1])
    assert len(public) > 300 and not public - listed.keys()
    ids: dict[str, set[str]] = {}
    with collected() as problems:
        for path in sorted(public):
            page, _, place = listed[path].partition("#")
            file = site / folder / page
            if page not in ids:
                found = file.read_text(encoding="utf-8") if file.is_file() else ""
                ids[page] = set(re.findall(r'\bid="([^"]+)"', found))
            if place not in ids[page]:
                problems.append(f"{path}: {listed[path]} is not there")


def test_structured_data_of_every_lesson(site: Path, paths: list[str]) -> None:
    root, kinds = published_at(site), {}
    with collected() as problems:
        for name in paths:
            head = (site / name).read_text(encoding="utf-8").partition("</head>")[0]
            found = re.findall('<script type="application/ld.json">(.*?)</script>', head, re.S)
            said = [json.loads(text) for text in found]
            kinds[name] = [each["@type"] for each in said]
            for each in said:
                if each["url"].replace("zh/index", "zh/") != root + name and "index" not in name:
                    problems.append(f"{name}: its address is {each['url']}")
                if each["inLanguage"] != ("zh-Hans" if name.startswith("zh/") else "en"):
                    problems.append(f"{name}: its language is {each['inLanguage']}")
                if each["@type"] == "LearningResource":
                    if not re.fullmatch(r"PT[1-9]\d?M", each["timeRequired"]):
                        problems.append(f"{name}: it takes {each['timeRequired']}")
                    if not (each["name"] and each["description"] and each["educationalLevel"]):
                        problems.append(f"{name}: no name, description or level")
    for name, found in kinds.items():
        lesson = re.match(r"(zh/)?((lessons|faults)/|museum\.)", name)
        wanted = ["LearningResource"] if lesson else []
        assert found == (["WebSite"] if re.fullmatch("(zh/)?index.html", name) else wanted), name


@pytest.mark.parametrize("folder", ["", "zh/"])
def test_llms_txt_lists_every_page(site: Path, paths: list[str], folder: str) -> None:
    listed = re.findall(
        r"^- \[.+?\]\((.+?)\)", (site / folder / "llms.txt").read_text("utf-8"), re.M
    )
    own = [path for path in paths if path.startswith("zh/") == bool(folder)]
    root = published_at(site)
    assert sorted(listed) == sorted(root + re.sub("html$", "md", path) for path in own)
