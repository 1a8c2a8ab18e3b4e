"""The Atom feed of changes: an entry for each released version, its text as HTML."""

from __future__ import annotations

import uuid
from xml.sax.saxutils import escape, quoteattr

import markdown

from scripts import changes
from scripts.changes import Changes, Version
from scripts.imprint import Imprint

FILE = "feed.xml"
_NAMES = uuid.UUID("5b0f6a0e-6d0c-5d5e-9d6b-2f1c4a3e7b10")  # of this feed's ids, never to change


def atom(site: Imprint, found: Changes) -> str:
    """The feed of a changelog; the newest version gives its date."""
    newest = max(version.date for version in found.released)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang={quoteattr(site.language)}>',
        f"  <title>{escape(f'{site.name}: {found.title}')}</title>",
        f"  <id>{_id(site)}</id>",
        f"  <updated>{_moment(newest)}</updated>",
        f'  <link rel="self" type="application/atom+xml" href={quoteattr(site.address + FILE)}/>',
        f'  <link rel="alternate" type="text/html" href={_address(site)}/>',
        f"  <author><name>{escape(', '.join(site.authors) or site.name)}</name></author>",
        f"  <rights>{escape(site.rights)}</rights>",
        *(line for version in found.released for line in _entry(site, version)),
        "</feed>",
    ]
    return "\n".join(lines) + "\n"


def _entry(site: Imprint, version: Version) -> list[str]:
    return [
        "  <entry>",
        f"    <title>{escape(version.name)}</title>",
        f"    <id>{_id(site, version.name)}</id>",
        f"    <updated>{_moment(version.date)}</updated>",
        f'    <link rel="alternate" type="text/html" href={_address(site, version)}/>',
        f'    <content type="html">{escape(markdown.markdown(version.text))}</content>',
        "  </entry>",
    ]


def _id(site: Imprint, version: str = "") -> str:
    """The same wherever the site is published: a reader is shown no version twice."""
    return uuid.uuid5(_NAMES, f"{site.language} {version}".strip()).urn


def _moment(date: str) -> str:
    return f"{date}T00:00:00Z"


def _address(site: Imprint, version: Version | None = None) -> str:
    place = f"#{changes.place(version)}" if version else ""
    return quoteattr(f"{site.address}{changes.PAGE}.html{place}")
