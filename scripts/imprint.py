"""What the site in one language says about itself, to whoever cites, follows or lists it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from scripts.origin import Origin
from scripts.yaml_files import read_yaml

CITATION = "CITATION.cff"


@dataclass(frozen=True)
class Imprint:
    name: str
    description: str
    language: str  # as pages say it in `lang`
    address: str  # with a slash at its end
    rights: str
    authors: tuple[str, ...]
    origin: Origin
    year: str  # of the commit; empty where there is none


def authors(path: Path) -> tuple[str, ...]:
    """Those that a CITATION.cff names."""
    named = read_yaml(path)["authors"]
    return tuple(
        each.get("name") or f"{each['given-names']} {each['family-names']}" for each in named
    )


def year() -> str:
    """That of the time which the build dates everything with; 0 is none."""
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    return str(datetime.fromtimestamp(time, UTC).year) if time else ""
