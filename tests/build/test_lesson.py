"""Reading a lesson: its cells, and every fault of its form with line, cell and language."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest

from scripts.lesson import Code, LessonError, Problem, Prose
from tests.build.tiny_lesson import TITLE, pair, parse

ROOT = Path(__file__).parents[2]
LESSONS = [*ROOT.glob("docs/*.py"), *ROOT.glob("docs/lessons/*.py")]
HEAD = pair(*TITLE) + "\n"  # four lines, cells 1 and 2

WHOLE = (
    HEAD
    + """\
# %%
x = 1
x  # a comment

# %% check=true
assert x == 1
# %% [markdown] lang="en" role="claim"
# The number is {{ x }}.
#
# - One `{{ x + 1 }}`
#     - within
# %% [markdown] lang="zh" role="claim"
# 这个数是 {{ x }}。
#
# - 其一 `{{ x + 1 }}`
#     - 其内
# %% raises=IndexError hide=true
[][1]
# %% warns=UserWarning
import warnings
"""
)


def problems(folder: Path, text: str | bytes) -> list[Problem]:
    with pytest.raises(LessonError) as caught:
        parse(folder, text)
    return caught.value.problems


def test_blocks(tmp_path):
    lesson = parse(tmp_path, WHOLE)
    kinds = [type(block) for block in lesson.blocks]
    assert kinds == [Prose, Code, Code, Prose, Code, Code]
    title, first, check, claim, raises, warns = lesson.blocks
    assert lesson.name == "lessons/one"
    assert lesson.shown_path == "docs/lessons/one.py"
    assert (title.role, claim.role) == ("text", "claim")
    assert (first.source, first.line, first.cell) == ("x = 1\nx  # a comment", 6, 3)
    assert (check.check, first.check) == (True, False)
    assert (raises.raises, raises.hide, warns.warns) == ("IndexError", True, "UserWarning")
    english, chinese = claim.texts["en"], claim.texts["zh"]
    assert english.source == "The number is {{ x }}.\n\n- One `{{ x + 1 }}`\n    - within"
    assert (english.line, english.cell, chinese.line, chinese.cell) == (12, 5, 17, 6)
    assert english.expressions == chinese.expressions == claim.expressions == ["x", "x + 1"]
    assert english.line_of("within") == 15


def test_the_title(tmp_path):
    lesson = parse(tmp_path, pair("# A *title* {#top}\n\nOne.", "# 标题 {#top}\n\n一句话。"))
    assert lesson.title("zh") == "标题"


def test_windows_line_ends_are_read_alike(tmp_path):
    plain = parse(tmp_path, WHOLE)
    windows = parse(tmp_path, WHOLE.replace("\n", "\r\n"))
    assert windows.blocks == plain.blocks


def test_bad_utf8_is_named_with_its_line(tmp_path):
    (problem,) = problems(tmp_path, HEAD.encode() + b"# %%\nx = '\xff'\n")
    assert (problem.path, problem.line) == ("docs/lessons/one.py", 6)
    assert "UTF-8" in problem.message


EN, ZH = '# %% [markdown] lang="en"', '# %% [markdown] lang="zh"'
FAULTS = {
    # name: (what follows the title, line, cell, language, part of the message)
    "no partner": (f"{EN}\n# a\n# %%\n1", 5, 3, "zh", "no `zh` cell"),
    "no partner at the end": (f"{EN}\n# a", 5, 3, "zh", "no `zh` cell"),
    "no English": (f"{ZH}\n# 甲\n# %%\n1", 5, 3, "en", "no `en` cell"),
    "twice one language": (f"{ZH}\n# 甲\n{ZH}\n# 乙", 7, 4, "zh", "two cells in a row"),
    "unknown language": (f'{EN}\n# a\n# %% [markdown] lang="fr"\n# b', 7, 4, "fr", "'fr'"),
    "no language": (f"{EN}\n# a\n# %% [markdown]\n# b", 7, 4, "", "`lang` is ''"),
    "unknown role": (pair("a", "甲", ' role="aside"'), 5, 3, "en", "unknown role 'aside'"),
    "roles differ": (
        f'# %%\n1\n{EN} role="caption"\n# a\n{ZH}\n# 甲', 9, 5, "zh", "role differs",
    ),
    "unknown prose option": (pair("a", "甲", " tone=dry"), 5, 3, "en", "unknown option `tone`"),
    "empty prose": (f"{EN}\n#\n{ZH}\n# 甲", 5, 3, "en", "an empty cell"),
    "prose without its mark": (f"{EN}\n# a\nb\n{ZH}\n# 甲", 7, 3, None, "does not start with"),
    "unknown code option": ("# %% chekc=true\n1", 5, 3, None, "unknown option `chekc`"),
    "no value": ("# %% hide\n1", 5, 3, None, "`hide` is not an option"),
    "other value": ("# %% check=false\nassert 1 == 1", 5, 3, None, "`check=false`"),
    "syntax error": ("# %%\nx = 1\nx = (", 7, 3, None, "SyntaxError"),
    "check of nothing": ("# %% check=true\nx = 1", 5, 3, None, "asserts nothing"),
    "check of a constant": ("# %% check=true\nassert True", 5, 3, None, "asserts nothing"),
    "check without claim": (
        "# %% check=true\nassert 1 == 1\n" + pair("a", "甲"), 5, 3, None, "followed by a claim",
    ),
    "check at the end": ("# %% check=true\nassert 1 == 1", 5, 3, None, "followed by a claim"),
    "claim without check": (
        "# %%\n1\n" + pair("a", "甲", ' role="claim"'), 7, 4, None, "follow a check cell",
    ),
    "caption without figure": (
        pair("a", "甲") + "\n" + pair("b", "乙", ' role="caption"'), 9, 5, None, "a caption must",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults(tmp_path, name):
    text, line, cell, language, message = FAULTS[name]
    found = problems(tmp_path, HEAD + text + "\n")
    assert [p for p in found if message in p.message and p.language == language], found
    (problem, *_) = [p for p in found if message in p.message]
    assert (problem.line, problem.cell) == (line, cell)
    assert str(problem).startswith(f"docs/lessons/one.py:{line}: cell {cell}")


def test_all_faults_are_told_at_once(tmp_path):
    found = problems(tmp_path, HEAD + f"# %% hide\n1\n{EN}\n# a\n")
    assert {problem.cell for problem in found} == {3, 4}


@pytest.mark.parametrize("text", ["", "x = 1\n", "# %%\n1\n", "# no marker\n"])
def test_a_file_that_is_no_lesson(tmp_path, text):
    (problem, *_) = problems(tmp_path, text)
    assert problem.line == 1


def test_text_before_the_first_marker(tmp_path):
    (problem,) = problems(tmp_path, "import os\n" + HEAD)
    assert (problem.line, problem.cell) == (1, None)


def test_a_marker_whose_quotes_do_not_close(tmp_path):
    (problem, *_) = problems(tmp_path, HEAD + '# %% [markdown] lang="en\n# a\n')
    assert (problem.line, problem.cell) == (5, 3)


def jupytext_cells(text: str) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source) for cell in jupytext.reads(text, fmt="py:percent").cells]


def our_cells(lesson) -> list[tuple[str, str]]:
    cells = []
    for block in lesson.blocks:
        if isinstance(block, Code):
            cells.append((block.cell, "code", block.source))
        else:
            cells += [(text.cell, "markdown", text.source) for text in block.texts.values()]
    return [(kind, source) for _, kind, source in sorted(cells)]


@pytest.mark.parametrize("path", [None, *LESSONS], ids=lambda path: path.stem if path else "tiny")
def test_jupytext_reads_the_same_cells(tmp_path, path):
    text = path.read_text(encoding="utf-8") if path else WHOLE
    assert our_cells(parse(tmp_path, text)) == jupytext_cells(text)


def test_a_check_must_be_reached(tmp_path):
    claim = pair("x", "x", ' role="claim"')
    for option, body in (
        ("check=true raises=ValueError", "assert int('a') == 1"),
        ("check=true", "if x:\n    assert x == 1"),
        ("check=true", "def f():\n    assert x == 1"),
    ):
        with pytest.raises(LessonError):
            parse(tmp_path, "\n".join([pair(*TITLE), f"# %% {option}", body, claim]))
    parse(
        tmp_path, "\n".join([pair(*TITLE), "# %% check=true", "for x in [1]:\n    assert x", claim])
    )
