"""The gettext catalogue of the docstrings: reading, writing, bringing up to date.

An entry is a passage of a docstring and the places where it stands, like
`tokpos.lookup.one_hot/parameters.ids`. babel reads and writes it; two runs give the same bytes.
"""

from __future__ import annotations

import difflib
import re
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, unescape, write_po

# Written by hand: babel's own header holds dates.
HEADER = r"""# The docstrings of the package, translated.
# Brought up to date with the sources by `make translations`.
msgid ""
msgstr ""
"Language: {language}\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"

"""


def read(path: Path) -> Catalog:
    """The catalogue of a language, `zh.po`; an empty one where there is no such file."""
    catalogue = Catalog(locale=path.stem.replace("-", "_"))
    if not path.exists():
        return catalogue
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.stem)
    for message in catalogue:
        # To babel the lines `#| msgid "..."`, which it writes itself, are plain comments.
        before = " ".join(line for line in message.user_comments if line.startswith("|"))
        if quoted := re.findall(r'"((?:[^"\\]|\\.)*)"', before):
            message.previous_id = [unescape('"' + "".join(quoted) + '"')]
    return catalogue


def write(catalogue: Catalog, path: Path) -> None:
    body = BytesIO()
    write_po(
        body, catalogue, width=100, omit_header=True, include_previous=True, include_lineno=False
    )
    entries = body.getvalue().decode("utf-8").rstrip("\n")
    text = HEADER.format(language=path.stem) + entries + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def translation(catalogue: Catalog, passage: str) -> str | None:
    """The translation of a passage, unless it is missing or waits to be looked at."""
    message = catalogue.get(passage)
    return str(message.string) if message and message.string and not message.fuzzy else None


def updated(old: Catalog, found: dict[str, list[str]]) -> tuple[Catalog, dict[str, int]]:
    """The catalogue for these passages and their places; how many are new, changed and gone.

    A translation goes with its passage, wherever that stands. What is new at the place of a
    passage that has gone from there takes over its translation, marked fuzzy.
    """
    new = Catalog(locale=old.locale)
    gone = sum(1 for message in old if message.id and message.id not in found)
    counts = {"new": 0, "changed": 0, "gone": gone}
    for passage, places in found.items():
        locations = [(place, 0) for place in dict.fromkeys(places)]
        if known := old.get(passage):
            flags = {"fuzzy"} if known.fuzzy else set()
            new.add(passage, known.string, locations, flags, previous_id=_previous(known))
        elif before := _before(old, found, passage):
            counts["changed"] += 1
            previous = _previous(before) or [str(before.id)]
            new.add(passage, before.string, locations, {"fuzzy"}, previous_id=previous)
        else:
            counts["new"] += 1
            new.add(passage, "", locations)
    return new, counts


def _previous(message: Message) -> list[str]:
    """What a fuzzy translation was made from."""
    return list(message.previous_id) if message.fuzzy else []


def _before(old: Catalog, found: dict[str, list[str]], passage: str) -> Message | None:
    """The translated passage, most like this one, that stands no longer at one of its places."""
    places = set(found[passage])
    left = [
        message
        for message in old
        if message.string
        and places & {place for place, _ in message.locations} - {*found.get(str(message.id), ())}
    ]

    def likeness(message: Message) -> float:
        return difflib.SequenceMatcher(None, str(message.id), passage).ratio()

    return max(left, key=likeness, default=None)
