"""The figures of BERT's embedding layer show the numbers and rows of the layer they are given."""

from __future__ import annotations

import re

import pytest
import torch
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Text

from tokpos import BertEmbeddings
from tokpos.figures import _canvas, bert, layer_norm

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")

TOKENS = ["[CLS]", "hi", "you", "[SEP]"]
IDS = [4, 9, 30, 5]


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return BertEmbeddings(50, 6, max_positions=20).eval()


def drawn(figure, language="en"):
    canvas = _canvas.Canvas(figure.name, language, "light")
    with _canvas.use_style(canvas):
        figure._draw(canvas)
    return canvas


def words(figure, language="en"):
    return [text.get_text() for text in drawn(figure, language).drawn.findobj(Text)]


def written(value, digits):
    return f"{value:.{digits}f}".replace("-", "−")


def test_sentence_to_vectors_shows_tokens_ids_and_the_output(layer):
    out = layer(torch.tensor([IDS]))[0]
    figure = bert.sentence_to_vectors("Hi you", TOKENS, IDS, out)
    shown = words(figure)
    assert {"Hi you", *TOKENS, *map(str, IDS), "4 vectors, each of 6 numbers"} <= set(shown)
    for row in out.tolist():
        assert {written(value, 3) for value in (*row[:3], row[-1])} <= set(shown)
    assert "4 tokens ([CLS] hi you [SEP])" in figure.alt("en")
    assert "4 个词元" in figure.alt("zh")


def test_three_tables_light_the_fetched_rows_and_add_one_token(layer):
    figure = bert.three_tables(layer, TOKENS, IDS, [0, 0, 0, 0], place=2)
    shown = words(figure)
    assert {"0", "4", "5", "9", "30", "49", "19", "[50, 6]", "[2, 6]", "[20, 6]"} <= set(shown)
    rows = [
        layer.word_embeddings.weight[30],
        layer.token_type_embeddings.weight[0],
        layer.position_embeddings.weight[2],
    ]
    for row in (*rows, sum(rows)):
        assert written(row[0].item(), 4) in shown
    assert {"row 30", "row 0", "row 2", "the sum"} <= set(shown)
    assert "token rows 4, 5, 9, 30, the segment rows 0" in figure.alt("en")


@pytest.mark.parametrize(("segments", "counts"), [([0, 0, 0, 0], (4, 0)), ([0, 0, 1, 1], (2, 2))])
def test_rows_by_place_points_every_token_twice(layer, segments, counts):
    figure = bert.rows_by_place(layer, TOKENS, segments, "rows")
    canvas = drawn(figure)
    arrows = canvas.drawn.findobj(FancyArrowPatch)
    roles = [arrow.get_edgecolor()[:3] for arrow in arrows]
    assert len(arrows) == 2 * len(TOKENS) and len(set(roles)) == 2
    assert words(figure).count("row 19") == 1
    assert f"row 0, {counts[0]} tokens; row 1, {counts[1]} tokens" in figure.alt("en")


def test_printed_tensors_names_shapes_numbers_and_steps(layer):
    ids = torch.tensor([IDS])
    shown = words(bert.printed_tensors(layer, ids))
    assert shown.count("EmbeddingBackward0") == 3
    assert shown.count("AddBackward0") == 2
    assert shown.count("NativeLayerNormBackward0") == 1
    assert shown.count("[4, 6]") == 1 and shown.count("[1, 4, 6]") == 5
    first = layer(ids)[0, 0, :2].tolist()
    assert " ".join(written(value, 4) for value in first) + " …" in shown


def test_zero_is_written_without_a_minus(layer):
    with torch.no_grad():
        layer.word_embeddings.weight[30] = -1e-9
    shown = words(bert.three_tables(layer, TOKENS, IDS, [0, 0, 0, 0], place=2))
    assert "0.0000" in shown and "−0.0000" not in shown


def test_spread_of_rows_gives_each_row_its_deviation():
    rows = torch.randn(4, 64, generator=torch.Generator().manual_seed(0))
    normalized = torch.nn.functional.layer_norm(rows, (64,))
    figure = layer_norm.spread_of_rows(TOKENS, rows, normalized, 2 * normalized)
    shown = words(figure)
    for row in rows:
        assert f"std {row.std(correction=0):.3f}" in shown
    assert shown.count("std 1.000") == shown.count("std 2.000") == 4
    assert "by its std: the standard deviation of every row is 1.000;" in figure.alt("en")
    assert "before LayerNorm: the standard deviations of the rows go from" in figure.alt("en")
    assert re.search("标准差 2.000", " ".join(words(figure, "zh")))
