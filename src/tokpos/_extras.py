"""What only some parts of the package need, and how to get it where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def from_extra(extra: str) -> Iterator[None]:
    """Import here what comes only with an extra; the error names that extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("tokpos"):
            raise
        message = f"No module named {error.name!r}; install tokpos with its extra {extra!r}"
        raise ModuleNotFoundError(message, name=error.name) from error
