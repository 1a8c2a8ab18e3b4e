"""The folded answers of lesson 6 are the code that ran."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from scripts import lesson

DOCS = Path(__file__).parents[2] / "docs"


def test_every_folded_answer_stands_in_a_check_cell():
    page = lesson.read(DOCS / "lessons/bert_embeddings.py", DOCS, ["en", "zh"])
    checks = {code.source for code in page.code if code.check and code.hide}
    answers = [
        textwrap.dedent(answer).strip()
        for prose in page.prose
        for answer in re.findall(
            r"^ {4}```python\n(.*?)^ {4}```", prose.texts["en"].source, re.MULTILINE | re.DOTALL
        )
    ]
    assert len(answers) == 3
    assert set(answers) == checks
