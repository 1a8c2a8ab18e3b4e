"""The cell of a widget in a lesson: its form, its place, and what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import assemble, widgets
from scripts.lesson import LessonError, read

CELL = "`lookup` {{ data }}\n\nTry.\n\n---\n\nSeen."
WORDS = {"widgets": {"all": {"show": "Show"}, "lookup": {"title": "A <title>"}}}


def lesson(tmp_path: Path, cell: str = CELL, before: str = "# %%\n1\n"):
    lines = cell.replace("\n", "\n# ")
    body = "".join(
        f'# %% [markdown] lang="{language}" role="widget"\n# {lines}\n' for language in ("en", "zh")
    )
    start = '# %% [markdown] lang="en"\n# # One\n# %% [markdown] lang="zh"\n# # 一\n'
    (tmp_path / "one.py").write_text(start + before + body, encoding="utf-8")
    return read(tmp_path / "one.py", tmp_path, ["en", "zh"])


def test_a_widget_in_good_form(tmp_path):
    assert widgets.check_form(lesson(tmp_path)) == []


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("lookup\n\nTry.\n\n---\n\nSeen.", "begins with its name, as code"),
        ("`nothing`\n\nTry.\n\n---\n\nSeen.", "no widget 'nothing'; there are bert,"),
        ("`lookup`\n\nTry.", "what to try, `---`, and what was seen"),
    ],
)
def test_a_fault_of_form_is_named(tmp_path, cell, message):
    problems = widgets.check_form(lesson(tmp_path, cell))
    assert len(problems) == 2 and all(message in str(problem) for problem in problems)


def test_a_widget_follows_a_figure(tmp_path):
    with pytest.raises(LessonError, match="a widget must follow the figure"):
        lesson(tmp_path, before="")


def test_its_data_and_words_are_text_and_its_scripts_come_last():
    page = widgets.on_page(CELL, CELL, {"data": '["<b>"]'}, WORDS, "")
    assert '<template class="data">["&lt;b&gt;"]</template>' in page and " hidden " in page
    assert 'aria-label="A &lt;title&gt;"' in page
    assert "hidden" not in widgets.on_page(CELL, CELL, {}, WORDS, "a still")
    whole = widgets.with_scripts(page, "lessons/one.html")
    assert whole.index("shared.js") < whole.index("lookup.js")
    assert 'src="../assets/widgets/lookup.js"' in whole
    assert widgets.with_scripts("<p>no widget</p>", "a.html") == "<p>no widget</p>"


def test_a_computed_minus_is_one_in_words_and_a_hyphen_in_code(tmp_path):
    text = "It is {{ x }}, on {{ day }}: `{{ x }}`."
    source = f'# %% [markdown] lang="en"\n# # One\n# {text}\n'
    (tmp_path / "one.py").write_text(source, encoding="utf-8")
    (block,) = read(tmp_path / "one.py", tmp_path, ["en"]).prose
    done = assemble.prose(block, {"values": {"x": "-1.5", "day": "2026-11-30"}}, "en")
    assert "It is −1.5, on 2026-11-30: `-1.5`." in done
