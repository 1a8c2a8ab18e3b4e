"""What a release is made from: version and commit, and the time that dates everything in it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import tokpos
from scripts import imprint, origin
from scripts.origin import Origin
from scripts.stage import commit_time


@dataclass(frozen=True)
class Provenance:
    origin: Origin
    authors: str
    time: datetime

    @property
    def name(self) -> str:
        """What the name of each file begins with."""
        return f"token-and-position-{self.origin.version}"


def of_checkout(root: Path) -> Provenance:
    found = replace(origin.of(root, None), version=tokpos.__version__)
    authors = ", ".join(imprint.authors(root / imprint.CITATION))
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or commit_time(root)
    return Provenance(found, authors, datetime.fromtimestamp(int(seconds), UTC))
