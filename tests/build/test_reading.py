"""How long a lesson takes to read, and that a page which shows it is not run for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import reading
from scripts.lesson import Lesson, read
from tests.build.tiny_site import TinySite


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    english = "# " + "word 猫 " * 440
    chinese = "# " + "字" * 700 + " word"
    code = "\n".join(["x = 1"] * 50)
    path = tmp_path / "docs/one.py"
    path.parent.mkdir()
    path.write_text(
        f'# %% [markdown] lang="en"\n{english}\n# %% [markdown] lang="zh"\n{chinese}\n'
        f"# %%\n{code}\n# %% hide=true\n{code}\n"
        f'# %% [markdown] lang="en"\n# ## Exercises {{#exercises}}\n{english}\n'
        f'# %% [markdown] lang="zh"\n# ## 练习 {{#exercises}}\n{chinese}\n# %%\n{code}\n'
        f'# %% [markdown] lang="en"\n# ## Reading {{#reading}}\n{english}\n'
        f'# %% [markdown] lang="zh"\n# ## 阅读 {{#reading}}\n{chinese}\n',
        encoding="utf-8",
    )
    return read(path, path.parent, ["en", "zh"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_or_characters_and_the_code_that_is_shown(lesson: Lesson, language: str) -> None:
    """The exercises are not counted; what follows them is."""
    assert reading.minutes(lesson, language) == 2 + 2 + 2


def test_a_page_shows_the_minutes_and_does_not_run_for_them(tmp_path: Path) -> None:
    site = TinySite(tmp_path)
    asked = 'A plain sentence, <span data-minutes="two"></span> minutes.'
    site.edit("docs/lessons/one.py", "A plain sentence.", asked)
    site.edit("docs/lessons/one.py", "一句话。", '读完<span data-minutes="two"></span>分钟。')
    assert site.build().returncode == 0
    assert "A plain sentence, 0 minutes." in site.page("lessons/one.html")
    site.edit("docs/lessons/two.py", "Another sentence.", "Another sentence." + " word" * 440)
    said = site.build().stdout
    assert "nothing to run" in said
    assert "A plain sentence, 2 minutes." in site.page("lessons/one.html")
