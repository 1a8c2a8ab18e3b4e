"""A third language is cells, pages and entries, and no code: French, in the theme of the site."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import sync_playwright

from scripts import translations
from scripts.book import Book
from scripts.browser import SILENT, chromium
from tests.build.tiny_site import CHINESE, ENVIRONMENT, PROJECT, TinySite
from tests.site.conftest import READY
from tests.site.server import serving

ROOTS = {"en": "", "zh": "zh/", "fr": "fr/"}
TAGS = {"en": "en", "zh": "zh-Hans", "fr": "fr"}
NAMES = {"en": "English", "zh": "中文", "fr": "Français"}
PAGES = ["index.html", "glossary.html", "lessons/one.html", "lessons/two.html", "api/pack.html"]
ADDRESS = "http://127.0.0.1:8000/"

THEME = f"""\
extra_javascript: [assets/js/language.js]
theme:
  name: material
  custom_dir: {PROJECT}/docs/theme
  font: false
  language: en
  palette: [{{scheme: default}}]
"""
WORDS = {
    "checked": "Vérifié",
    "theme": {
        "language": "fr",
        "name": "Français",
        "title": "Version française",
        "hint": "Cette page existe en français.",
        "go": "La lire en français",
        "lost": "Aucune page à cette adresse. {home}.",
        "toc": "Sur cette page",
    },
    "api": {"title": "Référence"},
    "glossary": {"title": "Glossaire", "note": "Remarque"},
}
CATALOGUE = {"The pack.": "Le paquet.", "A value.": "Une valeur."}
FILES = {
    "mkdocs.fr.yml": CHINESE.replace("zh", "fr").replace("小站", "Petit site"),
    "docs/fr/index.md": "# Accueil\n\nVoici [deux](lessons/two.md).\n",
}
EDITS = [  # file, what stands there, and the French beside it
    ("docs/site.yml", "[en, zh", ", fr"),
    ("docs/site.yml", "zh: 第一部分", ", fr: Première partie"),
    ("docs/glossary.yml", "zh: 文本", ", fr: Texte"),
    ("docs/glossary.yml", "zh: 词元", ", fr: jeton"),
]
CELLS = [
    ("docs/lessons/one.py", "# 一句话。见 [另一课](two.md#end)。\n", "", """\
# # Première leçon
# Une phrase. Voir [l'autre](two.md#end).
"""),
    ("docs/lessons/one.py", "# 值是 {{ VALUE }}，还有 $x^2$。\n", "",
     "# La valeur est {{ VALUE }}, et $x^2$.\n"),
    ("docs/lessons/one.py", "# 它大于零。\n", ' role="claim"', "# Elle est positive.\n"),
    ("docs/lessons/two.py", "# ## 结尾 {#end}\n", "", """\
# # Deuxième leçon
# Une autre phrase.
#
# ## La fin {#end}
"""),
]  # fmt: skip


def toy(words: dict, french: dict) -> dict:
    """The site's own words in French as far as they are known, in English with a mark else."""
    return {
        key: toy(text, french.get(key, {}))
        if isinstance(text, dict)
        else french.get(key, f"{text} (fr)")
        for key, text in words.items()
    }


def translate(site: TinySite) -> None:
    """A new catalogue by the command, its passages filled in."""
    command = ["--source", "src", "--package", "pack", "--docs", "docs"]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.translations", *command],
        cwd=site.root, env=ENVIRONMENT | {"PYTHONPATH": str(PROJECT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fr.po: 2 passages: 2 new" in done.stdout and "zh.po: 2 passages: 0 new" in done.stdout
    for english, french in CATALOGUE.items():
        empty = f'msgid "{english}"\nmsgstr ""'
        site.edit("docs/translations/fr.po", empty, empty[:-1] + f'{french}"')


def with_french(root: Path) -> TinySite:
    """The tiny site in the theme of the site, with everything that makes it speak French."""
    site = TinySite(root)
    site.edit("mkdocs.yml", "theme: {name: material, font: false, language: en}\n", THEME)
    for name, text in FILES.items():
        site.write(name, text)
    for name, before, added in EDITS:
        site.edit(name, before, before + added)
    for name, before, options, cell in CELLS:
        site.edit(name, before, f'{before}# %% [markdown] lang="fr"{options}\n{cell}')
    words = yaml.safe_load((root / "docs/translations/en.yml").read_text(encoding="utf-8"))
    text = yaml.safe_dump(toy(words, WORDS), allow_unicode=True)
    site.write("docs/translations/fr.yml", text)
    translate(site)
    return site


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    site = with_french(tmp_path_factory.mktemp("french"))
    done = site.build()
    assert done.returncode == 0, done.stdout
    return site


# What is built


def test_every_page_is_there_in_all_three(built):
    for root in ROOTS.values():
        for page in PAGES:
            assert (built.root / "site" / root / page).is_file(), root + page
    assert "Première leçon" in built.page("fr/lessons/one.html")
    assert "La valeur est 7" in built.page("fr/lessons/one.html")
    assert "Vérifié" in built.page("fr/lessons/one.html")
    assert "Première partie" in built.page("fr/index.html")
    for other in ("lessons/one.html", "zh/lessons/one.html"):
        assert "leçon" not in built.page(other)


@pytest.mark.parametrize("language", ROOTS)
def test_one_switch_for_each_other_language(built, language):
    others = [other for other in ROOTS if other != language]
    for page in PAGES:
        html = built.page(ROOTS[language] + page)
        found = re.findall(r'<a class="[^"]*tp-switch"[^>]*>[^<]*</a>', html)
        assert len(found) == len(others)
        for link, other in zip(found, others, strict=True):
            assert target(link, ROOTS[language] + page) == ROOTS[other] + page
            assert f'hreflang="{TAGS[other]}"' in link and f">{NAMES[other]}</a>" in link
        hints = re.findall(r'<p class="tp-hint" lang="([^"]*)"', html)
        assert hints == [TAGS[other] for other in others]
    assert f'<html lang="{TAGS[language]}"' in html


def target(link: str, page: str) -> str:
    """Where a link of a page leads, from the root of the site."""
    address = re.search('href="([^"]*)"', link)
    assert address
    return Path("/", page).parent.joinpath(address[1]).resolve().relative_to("/").as_posix()


def test_with_two_languages_there_is_one_switch(tmp_path):
    site = TinySite(tmp_path)
    site.edit("mkdocs.yml", "theme: {name: material, font: false, language: en}\n", THEME)
    done = site.build()
    assert done.returncode == 0, done.stdout
    for page, other in (("lessons/one.html", "中文"), ("zh/lessons/one.html", "English")):
        (link,) = re.findall(r'<a class="[^"]*tp-switch"[^>]*>[^<]*</a>', site.page(page))
        assert f">{other}</a>" in link
        assert site.page(page).count('data-tp="hint"') == 1


def test_alternates_and_sitemaps_name_all_three(built):
    for root in ROOTS.values():
        sitemap = built.page(f"{root}sitemap.xml")
        for page in PAGES:
            wanted = [(TAGS[each], ADDRESS + ROOTS[each] + page) for each in ROOTS]
            wanted.append(("x-default", ADDRESS + page))
            html = built.page(root + page)
            assert re.findall('rel=" alternate" hreflang="(.*?)" href="(.*?)"', html) == wanted
            assert f'<link rel="canonical" href="{ADDRESS}{root}{page}">' in html
            entry = sitemap.partition(f"<loc>{ADDRESS}{root}{page}</loc>")[2].partition("</url>")[0]
            assert re.findall('hreflang="(.*?)" href="(.*?)"', entry) == wanted


@pytest.mark.parametrize("root", ROOTS.values())
def test_the_page_for_unknown_addresses_speaks_all_three(built, root):
    lines = re.findall(r'<p lang="(.*?)">.*?href="(.*?)".*?</p>', built.page(f"{root}404.html"))
    up = "../" if root else ""
    own_first = sorted(ROOTS, key=lambda each: ROOTS[each] != root)
    wanted = [(TAGS[each], f"{up}{ROOTS[each]}index.html") for each in own_first]
    assert [(tag, address.removeprefix("/" + root)) for tag, address in lines] == wanted
    assert "Aucune page à cette adresse. <a" in built.page(f"{root}404.html")


def test_glossary_reference_and_notebook_are_french(built):
    glossary = built.page("fr/glossary.html")
    heads = re.findall("<th>(.*?)</th>", glossary)
    assert heads == ["Français", "English", "中文", "Remarque"]
    assert re.search('id="token">jeton</td>\\s*<td>token</td>\\s*<td>词元</td>', glossary)
    assert re.findall("<th>(.*?)</th>", built.page("glossary.html"))[:3] == [
        "English",
        "中文",
        "Français",
    ]
    reference = built.page("fr/api/pack.html")
    assert "Le paquet." in reference and "Une valeur." in reference and "A value." not in reference
    assert "Référence" in built.page("fr/api/index.html")
    cells = json.loads(built.page("fr/lessons/one.ipynb"))["cells"]
    assert "La valeur est 7, et $x^2$." in [cell["source"] for cell in cells]


# In the browser


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(SILENT))
        yield browser
        browser.close()


@pytest.fixture
def visit(built, browser):
    """Open a page with a browser that prefers some language."""
    contexts = []

    def visit(path: str, locale: str):
        contexts.append(browser.new_context(locale=locale))
        page = contexts[-1].new_page()
        page.goto(address + path)
        page.wait_for_function(READY)
        return page

    with serving(built.root / "site") as address:
        yield visit
        for context in contexts:
            context.close()


@pytest.mark.parametrize("root", ROOTS.values())
@pytest.mark.parametrize(
    ("locale", "best"), [("fr-CA", "fr"), ("zh-TW", "zh"), ("en-GB", "en"), ("de-DE", None)]
)
def test_the_line_of_a_first_visit(visit, root, locale, best):
    page = visit(f"{root}lessons/one.html", locale)
    shown = page.locator(".tp-hint:visible")
    if best is None or ROOTS[best] == root:
        assert shown.count() == 0
        return
    assert shown.count() == 1 and shown.get_attribute("lang") == TAGS[best]
    shown.locator("a").click()
    page.wait_for_url(f"**:*/{ROOTS[best]}lessons/one.html")
    assert page.locator(".tp-hint:visible").count() == 0


def test_the_switch_leads_from_each_to_each(visit):
    page = visit("lessons/two.html#end", "en-US")
    for language in ("fr", "zh", "fr", "en", "zh", "en"):
        page.click(f".tp-switch[hreflang={TAGS[language]}]")
        page.wait_for_url(f"**:*/{ROOTS[language]}lessons/two.html#end")
        assert page.evaluate("document.documentElement.lang") == TAGS[language]


# What is missing


def test_a_missing_cell_fails_the_build_with_file_cell_and_language(built):
    before, source = built.bytes(), (built.root / "docs/lessons/one.py").read_text("utf-8")
    try:
        cell = re.search('# %% .markdown. lang="fr"\\n# La valeur.*\\n', source)
        built.edit("docs/lessons/one.py", cell[0], "")
        failed = built.build()
    finally:
        built.write("docs/lessons/one.py", source)
    assert failed.returncode != 0
    assert "docs/lessons/one.py:14: cell 5 (fr): missing translation" in failed.stdout
    assert built.bytes() == before


FIGURE = """
# %%
from tokpos.figures import Figure
Figure("odd", lambda canvas: canvas.sheet(100, 50).text(5, 5, "odd"), lambda say: "odd")
"""
MISSING = {
    "a name in the glossary": (
        "docs/glossary.yml", ", fr: jeton", "",
        "docs/glossary.yml:6: (fr): the term `token` has no name in `fr`",
    ),
    "a title in the glossary": (
        "docs/glossary.yml", ", fr: Texte", "",
        "docs/glossary.yml:3: (fr): the group `text` has no title in `fr`",
    ),
    "one of the site's own words": (
        "docs/translations/fr.yml", "checked: Vérifié\n", "",
        "docs/translations/fr.yml:1: (fr): missing translation: `checked`",
    ),
    "a word of the theme": (
        "docs/translations/fr.yml", "  toc: Sur cette page\n", "",
        "docs/translations/fr.yml:1: (fr): missing translation: `theme.toc`",
    ),
    "a figure's words": (
        "docs/lessons/two.py", "\n[][0]\n", "\n[][0]\n" + FIGURE,
        "cell 5 (fr): what this cell shows has no `fr`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MISSING)
def test_what_is_missing_is_named(built, what, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PROJECT / "src"))
    name, old, new, wanted = MISSING[what]
    text = (built.root / name).read_text("utf-8")
    try:
        built.edit(name, old, new)
        problems = Book(built.root).prepare(lambda said: None)
    finally:
        built.write(name, text)
    assert [wanted in str(problem) for problem in problems] == [True], problems


FAILURES = {
    "a title in the list of lessons": (
        "docs/site.yml", ", fr: Première partie", "", "has no title in `fr`",
    ),
    "the configuration": ("mkdocs.fr.yml", "language: fr", "language: en", "mkdocs.fr.yml must say"),
}  # fmt: skip


@pytest.mark.parametrize("what", FAILURES)
def test_what_is_missing_stops_the_build(built, what):
    name, old, new, wanted = FAILURES[what]
    text = (built.root / name).read_text("utf-8")
    try:
        built.edit(name, old, new)
        failed = built.build()
    finally:
        built.write(name, text)
    assert failed.returncode != 0
    assert wanted in failed.stdout, failed.stdout


def test_there_is_a_catalogue_for_every_language_but_the_first(built):
    found = translations.catalogues(built.root / "docs")
    assert [path.name for path in found] == ["zh.po", "fr.po"]
    assert all(path.is_file() for path in found)
