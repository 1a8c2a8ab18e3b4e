"""Give the warnings of MkDocs and its plugins their place: file, line, cell and language.

MkDocs names the page that holds a dead link; the reader of a message wants the line of the file
where the link is written.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from scripts.lesson import Problem

LOGGERS = ("mkdocs.structure.pages", "mkdocs.plugins.mkdocs_autorefs._internal.plugin")
DOCSTRINGS = (
    "mkdocs.scripts.api_links",
    "mkdocs.scripts.drawings",
    "mkdocs.scripts.translations",
)
SOURCE = re.compile(r"(src/(\S+))\.py:(\d+): (.*)", re.DOTALL)
PAGE = re.compile(r"'([\w./-]+\.(?:ipynb|md))' contains|(?:^|\s)([\w./-]+\.(?:ipynb|md)):")
QUOTED = re.compile(r"(?:link|target) '([^']+)'")

Locate = Callable[[str, str, str], Problem | None]  # page, message, quoted text


class Places(logging.Filter):
    """Rewrites a warning about a page with its place, and keeps what it found in `problems`."""

    def __init__(self, locate: Locate):
        super().__init__()
        self.locate = locate
        self.problems: list[tuple[str, Problem]] = []

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if record.levelno >= logging.WARNING and (source := SOURCE.match(message)):
            address = f"api/{source[2].partition('/')[2].replace('/', '.')}.md"
            self.problems.append((address, Problem(source[1] + ".py", int(source[3]), source[4])))
            return True
        page, quoted = PAGE.search(message), QUOTED.search(message)
        if record.levelno >= logging.WARNING and page and quoted:
            name = page[1] or page[2]
            if problem := self.locate(name, message, quoted[1]):
                record.msg, record.args = str(problem), ()
                self.problems.append((name, problem))
        return True

    def attach(self) -> None:
        """Take the place of the filter of the build before."""
        for name in (*LOGGERS, *DOCSTRINGS):
            logger = logging.getLogger(name)
            for old in [f for f in logger.filters if isinstance(f, Places)]:
                logger.removeFilter(old)
            logger.addFilter(self)
