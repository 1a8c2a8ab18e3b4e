"""Kept results: complete, explained in every language, and refused where something is missing."""

from __future__ import annotations

import json
import re

import pytest

from tests.library.alt_text import plain
from tokpos import results
from tokpos._words import LANGUAGES_MIME, languages, use_language

NAMES = sorted(path.stem for path in results.FOLDER.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_every_kept_result_tells_how_it_came_about(name, request):
    result = results.load(name)
    assert (request.config.rootpath / result.script).is_file()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result.date)
    assert {"Python", "torch"} <= set(result.versions)
    assert "+" not in result.versions["torch"]
    assert (results.FOLDER / f"{name}.json").stat().st_size < 100_000


@pytest.mark.parametrize("name", NAMES)
def test_shows_where_it_comes_from_in_every_language(name):
    result = results.load(name)
    bundle = result._repr_mimebundle_()
    assert set(bundle[LANGUAGES_MIME]) == set(languages())
    for each in bundle[LANGUAGES_MIME].values():
        for part in (result.script, result.date, str(result.seed), result.machine):
            assert part in plain(each["text/markdown"])


def test_plain_jupyter_shows_the_chosen_language():
    result = results.load("lookup_time")
    use_language("zh")
    try:
        assert result._repr_mimebundle_()["text/markdown"] == result.provenance("zh")
    finally:
        use_language("en")
    assert result._repr_mimebundle_()["text/markdown"] == result.provenance("en")


def test_what_is_recorded_comes_back(tmp_path):
    made = results.record("probe", "scripts/probe.py", 3, {"times": [1.5, 2]})
    made.save(tmp_path)
    assert results.load("probe", tmp_path) == made


def test_unknown_names_and_incomplete_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\(.*lookup_time.*\); got 'lookup'"):
        results.load("lookup")
    path = results.record("probe", "scripts/probe.py", 3, {}).save(tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["seed"]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match="see seed"):
        results.load("probe", tmp_path)


def test_lookup_times_hold_what_the_lesson_says():
    data = results.load("lookup_time").data
    assert 50_257 in data["sizes"]
    for way in ("lookup", "product"):
        assert len(data[way]) == len(data["sizes"])
        assert all(0 < low <= middle <= high for low, middle, high in data[way])
    grown = {way: data[way][-1][1] / data[way][0][1] for way in ("lookup", "product")}
    assert grown["product"] > 10 * grown["lookup"]
