"""The site and its lessons as structured data of schema.org, in the heads of pages."""

from __future__ import annotations

import json
from typing import Any

from scripts.imprint import Imprint

LICENSE = "https://creativecommons.org/licenses/by/4.0/"


def website(site: Imprint) -> dict[str, Any]:
    return {
        "@context": "https://schema.org",
        "@type": "WebSite",
        "name": site.name,
        "description": site.description,
        "inLanguage": site.language,
        "url": site.address,
        "license": LICENSE,
        "author": _authors(site),
    }


def lesson(
    site: Imprint,
    name: str,
    description: str,
    address: str,
    kind: str,
    level: str | None,
    minutes: int,
) -> dict[str, Any]:
    """One lesson: what it is, for whom, how long it takes."""
    said = {
        "@context": "https://schema.org",
        "@type": "LearningResource",
        "name": name,
        "description": description,
        "inLanguage": site.language,
        "learningResourceType": kind,
        "educationalLevel": level,
        "timeRequired": f"PT{max(minutes, 1)}M",
        "url": address,
        "isPartOf": {"@type": "WebSite", "name": site.name, "url": site.address},
        "isAccessibleForFree": True,
        "license": LICENSE,
        "author": _authors(site),
    }
    return {key: value for key, value in said.items() if value}


def _authors(site: Imprint) -> list[dict[str, str]]:
    return [{"@type": "Organization", "name": author} for author in site.authors]


def script(data: dict[str, Any]) -> str:
    """The text of a script element, which nothing in it can end."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
