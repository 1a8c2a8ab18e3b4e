"""What `make check` finds in a site without running a lesson of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import check, review
from scripts.lesson import Problem
from tests.build.tiny_site import TinySite


@pytest.fixture
def reviewed(tmp_path: Path) -> TinySite:
    """A tiny site without a fault, all of it read side by side."""
    tiny = TinySite(tmp_path)
    assert review.main(tmp_path / "docs") == 0
    assert check.problems(tmp_path) == []
    return tiny


def test_a_fault_in_one_lesson_hides_none_in_the_next(reviewed: TinySite) -> None:
    reviewed.edit("docs/lessons/one.py", "# 它大于零。\n", "")
    reviewed.edit("docs/lessons/two.py", "## 结尾 {#end}", "## 结尾 {#ende}")
    found = {problem.path for problem in check.problems(reviewed.root)}
    assert found == {"docs/lessons/one.py", "docs/lessons/two.py"}


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("docs/site.yml", "one, two", "one", "docs/lessons/two.py is missing in the list"),
        ("docs/site.yml", "one, two", "one, tow", "tow.py"),
        ("docs/site.yml", "    lessons:", "    fold: {en: All}\n    lessons:", "no fold in `zh`"),
        ("docs/lessons/one.py", "A plain sentence.", "A sentence.", "`zh` was not"),
        ("docs/en/index.md", "Welcome to", "Welcome:", "`zh` was not"),
        ("src/pack/__init__.py", "A value.", "The value.", 'untranslated: "The value."'),
    ],
)
def test_what_it_finds(reviewed: TinySite, file: str, old: str, new: str, said: str) -> None:
    reviewed.edit(file, old, new)
    assert said in "\n".join(map(str, check.problems(reviewed.root)))


def test_a_new_pair_waits_for_its_review(reviewed: TinySite) -> None:
    more = '# %% [markdown] lang="en"\n# More.\n# %% [markdown] lang="zh"\n# 再来一句。\n'
    reviewed.edit("docs/lessons/two.py", "# %% raises", f"{more}# %% raises")
    (found,) = check.problems(reviewed.root)
    assert "make reviewed" in found.message


@pytest.mark.parametrize("name", ["mkdocs.zh.yml", "docs/translations/zh.yml"])
def test_a_file_of_a_language_that_is_missing_is_named(reviewed: TinySite, name: str) -> None:
    (reviewed.root / name).unlink()
    (found,) = check.problems(reviewed.root)
    assert (found.path, found.message) == (name, "there is no such file")


def test_words_of_figures_in_a_language_that_are_missing_are_named(reviewed: TinySite) -> None:
    reviewed.write("src/pack/figures/words/zh.json", "{}")
    assert check.problems(reviewed.root) == []
    (reviewed.root / "src/pack/figures/words/zh.json").rename(reviewed.root / "zh.json")
    (found,) = check.problems(reviewed.root)
    assert found.path == "src/pack/figures/words/zh.json"


def test_a_label_that_one_language_lacks_is_named(reviewed: TinySite) -> None:
    reviewed.write("src/pack/figures/words/zh.json", '{"one": "一", "two": "二"}')
    reviewed.write(
        "src/pack/figures/words/fr.json", '{"one": "un", "two": "deux", "three": "trois"}'
    )
    (found,) = check.problems(reviewed.root)
    assert (found.path, found.language) == ("src/pack/figures/words/zh.json", "zh")
    assert found.message == "it lacks the label 'three'"


def test_a_catalogue_that_is_missing_is_one_fault(reviewed: TinySite) -> None:
    (reviewed.root / "docs/translations/zh.po").unlink()
    (found,) = check.problems(reviewed.root)
    assert (found.path, found.language) == ("docs/translations/zh.po", "zh")
    assert "make translations" in found.message


def test_a_widget_without_words_is_named(reviewed: TinySite) -> None:
    cells = "".join(
        f'# %% [markdown] lang="{language}" role="widget"\n# `tying`\n#\n# {words[0]}\n# ---\n# {words[1]}\n'
        for language, words in {"en": ("Try.", "Seen."), "zh": ("试试。", "看到了。")}.items()
    )
    reviewed.edit("docs/lessons/one.py", "\nVALUE\n", f"\nVALUE\n{cells}")

    def unnamed() -> list[str]:
        said = "no `widgets.tying.title`"
        return [
            problem.path for problem in check.problems(reviewed.root) if said in problem.message
        ]

    assert unnamed() == []
    files = [f"docs/translations/{language}.yml" for language in ("en", "zh")]
    for file in files:
        reviewed.edit(file, "\n  tying:", "\n  untying:")
    assert unnamed() == files


def test_of_many_faults_in_a_file_the_first_are_shown_and_the_rest_counted() -> None:
    many = [Problem("b.py", line, "wrong", language="zh") for line in range(9, 0, -1)]
    lines = check.listed([*many, Problem("a.py", 1, "wrong")]).split("\n")
    assert lines[0] == "a.py:1: wrong"
    assert [line.split(":")[1] for line in lines[1:6]] == list("12345")
    assert lines[6:] == ["b.py: 4 more (zh)", "10 to mend"]
