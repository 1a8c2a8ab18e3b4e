"""The figures of tokens say what is so; their form is tested for all figures."""

from __future__ import annotations

import inspect
import re

import pytest

from tests.library.alt_text import alt
from tokpos.bpe_training import train_bpe
from tokpos.byte_bpe import gpt2
from tokpos.figures import languages, tokens
from tokpos.figures._canvas import Canvas, use_style
from tokpos.wordpiece import bert_base_uncased

# A drawing gives whole pixels where its signature says float, which beartype refuses.
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def drawn_words(figure) -> list[str]:
    canvas = Canvas(figure.name, "en", "light")
    with use_style(canvas):
        figure._draw(canvas)
        return [text.get_text() for text in canvas.drawn.axes[0].texts]


@pytest.mark.parametrize("text", ["My cat likes embeddings", "Unaffable?"])
def test_the_road_shows_the_ids_of_its_sentence(text):
    found = bert_base_uncased().encode(text)
    figure = tokens.text_to_ids(text)
    for language in languages():
        assert ", ".join(map(str, found.ids)) in alt(figure, language)
    shown = drawn_words(figure)
    assert [word for word in shown if word in map(str, found.ids)] == [*map(str, found.ids)]
    assert {f"{start}–{end}" for start, end in found.offsets if end} <= set(shown)


@pytest.mark.parametrize("word", ["embeddings", "cats", "unaffable", "a"])
def test_the_greedy_cut_has_a_line_for_each_look(word):
    tried = bert_base_uncased().attempts(word)
    shown = drawn_words(tokens.greedy_cut(word))
    candidates = [attempt.candidate for attempt in tried]
    assert shown.count("no") == sum(not attempt.found for attempt in tried)
    assert shown.count("in the vocabulary") == len(bert_base_uncased().cut(word))
    assert set(candidates) <= set(shown)
    assert f" {len(tried)} " in tokens.greedy_cut(word).alt("en")


@pytest.mark.parametrize("text", ["国人", "我", "人", "a", "猫"])
def test_the_tree_ends_in_the_ids_of_gpt_2(text):
    figure = tokens.bytes_and_merges(text)
    ids = [str(number) for number in gpt2().encode(text).ids]
    for language in languages():
        assert ", ".join(ids) in alt(figure, language)
        assert text.encode().hex(" ") in alt(figure, language)
    assert drawn_words(figure)[-len(ids) - 1 : -1] == ids


def test_the_merges_are_those_of_the_trainer():
    corpus = inspect.signature(tokens.learned_merges).parameters["corpus"].default
    training = train_bpe(corpus, 4)
    assert "喜欢" in training.vocabulary
    for language in languages():
        counts = re.findall(r"\((\d+)×\)", alt(tokens.learned_merges(merges=4), language))
        assert [int(count) for count in counts] == [merge.count for merge in training.merges]


def test_padding_is_pale_and_has_0_in_the_mask():
    batch = bert_base_uncased().encode_batch(["cats", "I like cats"])
    figure = tokens.padded_batch(batch)
    words = drawn_words(figure)[1:]
    assert words[0::2] == ["[CLS]", "cats", "[SEP]", "[PAD]", "[PAD]", *batch[1].tokens]
    assert "".join(words[1::2]) == "11100" + "11111"
    for language in languages():
        assert "3, 5" in alt(figure, language)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tokens.greedy_cut("a" * 13), "1 to 12 letters; got 13"),
        (lambda: tokens.greedy_cut(""), "1 to 12 letters; got 0"),
        (lambda: tokens.bytes_and_merges("我喜欢猫"), "1 to 3 characters; got 4"),
        (lambda: tokens.learned_merges(merges=9), r"1\.\.8; got 9"),
        (lambda: tokens.learned_merges(merges=0), r"1\.\.8; got 0"),
        (
            lambda: tokens.padded_batch([bert_base_uncased().encode(t) for t in ("a", "a b")]),
            r"one length up to 8; got \[3, 4\]",
        ),
        (lambda: tokens.padded_batch([bert_base_uncased().encode("a " * 7)]), r"8; got \[9\]"),
    ],
)
def test_what_is_too_large_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
