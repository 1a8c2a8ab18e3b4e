"""`mkdocs build --strict` of a tiny site: what it makes, and what it leaves alone when it fails."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.build.tiny_site import ENVIRONMENT, ONE, PROJECT, TWO, TinySite


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    site = TinySite(tmp_path_factory.mktemp("built"))
    done = site.build()
    assert done.returncode == 0, done.stdout
    return site


@pytest.fixture(scope="module")
def spare(tmp_path_factory):
    """A built site that a test may break, as long as it mends it."""
    site = TinySite(tmp_path_factory.mktemp("spare"))
    done = site.build()
    assert done.returncode == 0, done.stdout
    return site


def test_one_build_makes_both_languages(built):
    assert "<h1" in built.page("lessons/one.html") and "First lesson" in built.page(
        "lessons/one.html"
    )
    assert "第一课" in built.page("zh/lessons/one.html")
    assert "第一课" not in built.page("lessons/one.html")


def test_computed_prose_and_checks_are_on_both_pages(built):
    english, chinese = built.page("lessons/one.html"), built.page("zh/lessons/one.html")
    assert "The value is 7" in english and "值是 7" in chinese
    for page, words in ((english, "Checked in this build"), (chinese, "本次构建已验证")):
        assert 'class="admonition checked"' in page and words in page


def test_a_raised_error_shows_its_message(built):
    assert "IndexError: list index out of range" in built.page("zh/lessons/two.html")


def test_links_between_lessons_and_the_download(built):
    page = built.page("zh/lessons/one.html")
    assert 'href="two.html#end"' in page
    assert 'href="one.ipynb" download' in page


def test_formulas_are_rendered_in_the_build(built):
    assert 'class="katex"' in built.page("lessons/one.html")
    assert "$x^2$" not in built.page("lessons/one.html")


def test_the_notebook_of_a_language_runs_as_it_is(built):
    notebook = json.loads(built.page("zh/lessons/one.ipynb"))
    sources = "\n".join(cell["source"] for cell in notebook["cells"])
    assert "值是 7" in sources and "The value" not in sources and "VALUE" in sources
    assert "two.ipynb#end" in sources


def test_no_trace_of_the_folder_or_the_stage(built):
    for name, content in built.bytes().items():
        assert str(built.root).encode() not in content, name
    assert {path.name for path in built.root.iterdir()} >= {"site"}
    assert not [path for path in built.root.iterdir() if path.name.startswith(".site")]


def test_two_builds_of_one_source_are_byte_identical(built, tmp_path):
    other = TinySite(tmp_path / "another" / "folder")
    other.build_anew(alone=True, PYTHONHASHSEED="7", LC_ALL="C.UTF-8", TZ="Asia/Shanghai")
    again = other.build_anew(PYTHONHASHSEED="8")  # now from kept results
    assert again.returncode == 0
    assert other.bytes() == built.bytes()


def test_nothing_to_do_is_said_at_once(spare):
    said = spare.build().stdout
    assert "Lessons: all 2 are up to date, nothing to run" in said


def test_progress_names_lesson_count_and_time(spare):
    spare.edit("src/pack/__init__.py", "VALUE", "# touched\n\nVALUE")
    said = spare.build().stdout
    spare.edit("src/pack/__init__.py", "# touched\n\nVALUE", "VALUE")
    assert "Lessons: 1 of 2 to run: lessons/one" in said
    assert "Lesson lessons/one ran, " in said and "(1/1)" in said


# Failures: what is edited, and what the message must name

GLYPH = """
# %%
from tokpos.figures import Figure
Figure("odd", lambda canvas: canvas.sheet(100, 50).text(5, 5, "\\u0e01"), lambda say: "odd")
"""
FAILURES = {
    "a cell that raises": (
        "docs/lessons/one.py", "\nVALUE\n", "\nVALUE / 0\n",
        ["docs/lessons/one.py:10", "cell 3", "ZeroDivisionError"],
    ),
    "a check that fails": (
        "docs/lessons/one.py", "VALUE > 0", "VALUE > 9",
        ["docs/lessons/one.py:16", "cell 6", "the check failed"],
    ),
    "an expression that raises": (
        "docs/lessons/one.py", "{{ VALUE }}", "{{ VALU }}",
        ["docs/lessons/one.py:12", "cell 4 (en)", "NameError"],
    ),
    "a missing translation": (
        "docs/lessons/one.py", '# %% [markdown] lang="zh"\n# 值是', "# %%\n# 值是",
        ["docs/lessons/one.py:11", "cell 4 (zh)", "missing translation"],
    ),
    "an unknown page": (
        "docs/lessons/one.py", "two.md#end", "three.md",
        ["docs/lessons/one.py:3", "cell 1 (en)", "docs/lessons/one.py:6", "cell 2 (zh)", "three.md"],
    ),
    "a dead anchor": (
        "docs/lessons/one.py", "two.md#end", "two.md#start",
        ["docs/lessons/one.py:3", "cell 1 (en)", "docs/lessons/one.py:6", "cell 2 (zh)", "#start"],
    ),
    "a dead anchor of a page": (
        "docs/*/index.md", "two.md)", "two.md#none)",
        ["docs/en/index.md:3: (en)", "docs/zh/index.md:3: (zh)", "#none"],
    ),
    "an unknown cross-reference": (
        "docs/lessons/one.py", "](two.md#end)", "][pack.NOTHING]",
        ["docs/lessons/one.py:3", "cell 1 (en)", "docs/lessons/one.py:6", "cell 2 (zh)", "NOTHING"],
    ),
    "a module that cannot be read": (
        "src/pack/__init__.py", "VALUE = 7", "VALUE = = 7",
        ["src/pack/__init__.py:3: SyntaxError"],
    ),
    "an untranslated docstring": (
        "src/pack/__init__.py", "The pack.", "The new pack.",
        ["src/pack/__init__.py:1: (zh)", "untranslated", "The new pack."],
    ),
    "a data file that cannot be read": (
        "docs/glossary.yml", "english: {}", "english: {",
        ["docs/glossary.yml:", "cannot be read"],
    ),
    "a formula that is none": (
        "docs/lessons/one.py", "$x^2$", r"$\nothing$",
        ["docs/lessons/one.py:12", "cell 4 (en)", "nothing"],
    ),
    "a warning from a library": (
        "docs/lessons/one.py", "\nVALUE\n", "\nimport warnings\nwarnings.warn('old')\n",
        ["docs/lessons/one.py:11", "cell 3", "UserWarning: old"],
    ),
    "a missing glyph": (
        "docs/lessons/two.py", "\n[][0]\n", "\n[][0]\n" + GLYPH,
        ["docs/lessons/two.py:", "cell 4", "U+0E01"],
    ),
    "one language changed alone": (
        "docs/lessons/two.py", "Another sentence.", "Another long sentence.",
        ["docs/lessons/two.py:7", "cell 2 (zh)", "make reviewed"],
    ),
    "a lesson that is not listed": (
        "docs/site.yml", "[one, two]", "[one]",
        ["docs/site.yml", "docs/lessons/two.py is missing"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def reviewed(spare):
    """The site with its pairs recorded as reviewed."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.review", "docs"],
        cwd=spare.root, env=ENVIRONMENT | {"PYTHONPATH": str(PROJECT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return spare


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_names_its_place_and_leaves_the_last_site(reviewed, case):
    name, old, new, wanted = FAILURES[case]
    before = reviewed.bytes()
    texts = {path: path.read_text(encoding="utf-8") for path in reviewed.root.glob(name)}
    try:
        for path in texts:
            reviewed.edit(path.relative_to(reviewed.root), old, new)
        failed = reviewed.build_anew(PYTHONPATH=str(PROJECT / "src"))
    finally:
        for path, text in texts.items():
            reviewed.write(path.relative_to(reviewed.root), text)
    assert failed.returncode != 0
    for words in wanted:
        assert words in failed.stdout, failed.stdout
    assert reviewed.bytes() == before
    assert not list(reviewed.root.glob(".site*"))


def test_the_next_run_after_a_failure_is_right(reviewed):
    before = reviewed.bytes()
    assert reviewed.build().returncode == 0
    assert reviewed.bytes() == before


def test_a_killed_build_leaves_the_last_site_and_the_next_is_right(reviewed):
    before = reviewed.bytes()
    reviewed.edit("docs/lessons/one.py", "\nVALUE\n", "\nimport time\ntime.sleep(30)\nVALUE\n")
    build = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=reviewed.root, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, text=True,
    )  # fmt: skip
    for line in build.stdout:
        if "to run" in line:
            break
    time.sleep(1.5)
    os.killpg(build.pid, signal.SIGKILL)
    build.communicate()
    reviewed.write("docs/lessons/one.py", ONE)
    assert reviewed.bytes() == before
    assert reviewed.build().returncode == 0
    assert reviewed.bytes() == before


def test_two_builds_at_once(reviewed):
    before = reviewed.bytes()
    reviewed.edit("docs/lessons/two.py", "\n[][0]\n", "\nimport time\ntime.sleep(1)\n[][0]\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    builds = [
        subprocess.Popen(command, cwd=reviewed.root, env=ENVIRONMENT, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
        for _ in range(2)
    ]  # fmt: skip
    said = [build.communicate()[0] for build in builds]
    reviewed.write("docs/lessons/two.py", TWO)
    assert [build.returncode for build in builds] == [0, 0], said
    assert set(reviewed.bytes()) == set(before)
    assert reviewed.build().returncode == 0
    assert reviewed.bytes() == before
