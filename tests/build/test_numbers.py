"""What an update has changed on the pages is listed: the place, what stood there, what stands now."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import numbers
from tests.build.tiny_site import PROJECT, TinySite

# A lesson whose numbers come from a library, in each kind of place.
LESSON = """\
# %% [markdown] lang="en"
# # Second lesson
# Another sentence.
# %% [markdown] lang="zh"
# # 第二课
# 又一句话。
# %%
import library

for power in 1, 2, 3:
    print(power, max(library.NUMBER, 0.5) ** power if power == 2 else 0)
# %% [markdown] lang="en"
# It is {{ library.NUMBER:.2f }} here, and {{ 6 * 7 }}.
#
# ## The end {#end}
# %% [markdown] lang="zh"
# 这里是 {{ library.NUMBER:.2f }}，还有 {{ 6 * 7 }}。
#
# ## 结尾 {#end}
# %% raises=ValueError
raise ValueError(f"no more than {library.NUMBER}")
"""
CHANGES = """\
docs/lessons/two.py:8, cell 3, output 1
    old  2 0.25
    new  2 0.5625
docs/lessons/two.py:13, cell 4, {{ library.NUMBER:.2f }}
    old  0.50
    new  0.75
docs/lessons/two.py:21, cell 6, output 1
    old  ValueError: no more than 0.5
    new  ValueError: no more than 0.75
numbers: 3 places on the pages changed, of 6
"""


class Site(TinySite):
    """A tiny site with a library of its own, and what is computed in it."""

    def __init__(self, root: Path):
        super().__init__(root)
        self.write("docs/lessons/two.py", LESSON)

    def library(self, version: str, number: float) -> None:
        self.write("libraries/library.py", f"NUMBER = {number}\n")
        metadata = f"Metadata-Version: 2.1\nName: library\nVersion: {version}\n"
        self.write("libraries/library.dist-info/METADATA", metadata)

    def numbers(self, *options: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(map(str, (PROJECT, self.root / "src", self.root / "libraries")))
        return subprocess.run(
            [sys.executable, "-m", "scripts.numbers", *options],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=180,
        )

    def changes(self) -> str:
        """What is listed after what the run of the lessons says."""
        done = self.numbers("--since", "before.json")
        assert done.returncode == 0, done.stdout
        lines = done.stdout.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("Lesson"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site whose numbers were kept in before.json."""
    site = Site(tmp_path_factory.mktemp("kept"))
    site.library("1.0", 0.5)
    done = site.numbers("--keep", "before.json")
    assert done.returncode == 0, done.stdout
    return site.root


@pytest.fixture
def site(kept: Path, tmp_path: Path) -> Site:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    return Site(tmp_path)


def test_a_library_that_moves_numbers(site):
    site.library("2.0", 0.75)
    assert site.changes() == CHANGES


def test_a_library_that_moves_none(site):
    site.library("2.0", 0.5)
    assert site.changes() == "numbers: no places on the pages changed, of 6\n"


def test_a_module_that_moves_numbers(site):
    site.edit("src/pack/__init__.py", "VALUE = 7", "VALUE = 8")
    listed = site.changes()
    assert "docs/lessons/one.py:12, cell 4, {{ VALUE }}\n    old  7\n    new  8\n" in listed
    assert "numbers: 2 places on the pages changed, of 6\n" in listed


def test_a_lesson_that_fails_is_named(site):
    site.library("2.0", -1)
    site.edit("docs/lessons/two.py", "for power", "assert library.NUMBER > 0\nfor power")
    done = site.numbers("--since", "before.json")
    assert done.returncode == 1
    assert "docs/lessons/two.py:10: cell 3: AssertionError" in done.stdout
    assert "no number is compared" in done.stdout


def test_without_a_record_it_says_who_makes_one(site):
    done = site.numbers("--since", "nothing.json")
    assert done.returncode and "make update" in done.stdout and "Traceback" not in done.stdout


def test_every_kind_of_output_is_kept(site):
    kept = json.loads((site.root / "before.json").read_text(encoding="utf-8"))
    assert kept["docs/lessons/two.py:8, cell 3, output 1"] == "1 0\n2 0.25\n3 0\n"
    assert kept["docs/lessons/one.py:8, cell 3, output 1"] == "7"


# A drawing


def drawn(svg: str, text: str = "A line.") -> list[tuple[str, str]]:
    both = {"en": {numbers.SVG: svg}, "zh": {numbers.SVG: svg}}
    data = {"application/vnd.tokpos.languages+json": both, numbers.PLAIN: text}
    return list(numbers._of_output("here", {"output_type": "display_data", "data": data}, "en"))


def test_a_drawing_that_differs():
    before, now = dict(drawn("<svg>1</svg>", "Up to 1.")), dict(drawn("<svg>2</svg>", "Up to 2."))
    assert numbers.changes(before, now) == [
        "here, drawing\n    looks different",
        "here\n    old  Up to 1.\n    new  Up to 2.",
    ]
    assert numbers.changes(before, {}) == [
        "here, drawing\n    is no more",
        "here\n    old  Up to 1.",
    ]


def test_lines_are_compared_with_their_partners():
    (change,) = numbers.changes({"here": "a\nb\nc 1\n"}, {"here": "new\na\nb\nc 2\n"})
    assert change == "here\n    new  new\n    old  c 1\n    new  c 2"
