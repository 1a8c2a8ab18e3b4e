"""The BPE trainer: the same merges as the library's, ties included."""

from __future__ import annotations

import json
import random

import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, WhitespaceSplit
from tokenizers.trainers import BpeTrainer

from tests.library.hostile_strings import hostile_strings
from tokpos.bpe_training import SplitWord, choose, count_pairs, count_words, train_bpe

BILINGUAL = [
    "I like cats. You like dogs. He likes cats and dogs.",
    "我喜欢猫。你喜欢狗。他喜欢猫和狗。",
    "low lower lowest, new newer newest",
    "我 喜欢 猫 喜欢 狗",
]


def library(corpus, level, size=10**6, min_count=2):
    found = Tokenizer(BPE())
    found.pre_tokenizer = (
        ByteLevel(add_prefix_space=False) if level == "bytes" else WhitespaceSplit()
    )
    alphabet = ByteLevel.alphabet() if level == "bytes" else []
    trainer = BpeTrainer(
        vocab_size=size,
        min_frequency=min_count,
        initial_alphabet=alphabet,
        show_progress=False,
    )
    found.train_from_iterator(corpus, trainer)
    model = json.loads(found.to_str())["model"]
    vocabulary = sorted(model["vocab"], key=model["vocab"].get)
    return vocabulary, [tuple(pair) for pair in model["merges"]], found


def assert_same(corpus, level, min_count):
    ours = train_bpe(corpus, 10**6, level, min_count)
    vocabulary, merges, _ = library(corpus, level, min_count=min_count)
    assert ours.vocabulary == vocabulary, corpus
    assert [merge.pair for merge in ours.merges] == merges, corpus
    assert [ours.vocabulary[merge.id] for merge in ours.merges] == [m.token for m in ours.merges]


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("level", ["characters", "bytes"])
def test_random_corpora_give_the_merges_of_the_library(level):
    draw = random.Random(7)
    for _ in range(100):
        letters = draw.choice(["a", "ab", "ab ", "abc", "我喜欢猫狗 ab", "abcdefgh ", "aé我\n "])
        corpus = [
            "".join(draw.choice(letters) for _ in range(draw.randrange(1, 30)))
            for _ in range(draw.randrange(1, 8))
        ]
        assert_same(corpus, level, draw.choice([1, 2, 3]))


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("level", ["characters", "bytes"])
def test_the_bilingual_corpus_and_hostile_strings_give_the_merges_of_the_library(level):
    assert_same(BILINGUAL, level, 1)
    assert_same(hostile_strings(25, seed=5), level, 2)


def test_the_first_merges_are_the_first_of_more():
    few, many = train_bpe(BILINGUAL, 5), train_bpe(BILINGUAL, 50)
    assert few.merges == many.merges[:5]
    vocabulary, merges, _ = library(BILINGUAL, "characters", len(few.vocabulary), 2)
    assert (few.vocabulary, [merge.pair for merge in few.merges]) == (vocabulary, merges)


def test_the_tokenizer_that_was_trained_splits_as_the_librarys():
    trained = train_bpe(BILINGUAL, 40, "bytes")
    _, _, theirs = library(BILINGUAL, "bytes", len(trained.vocabulary))
    ours = trained.tokenizer()
    for text in [*BILINGUAL, *hostile_strings(200, seed=6)]:
        assert ours.encode(text).ids == theirs.encode(text).ids, ascii(text)
    assert trained.cut("喜欢") == ours.encode("喜欢").tokens


def test_each_step_shows_the_corpus_after_it():
    found = train_bpe(["low low lower"], 2)
    assert found.start == (SplitWord(tuple("low"), 2), SplitWord(tuple("lower"), 1))
    assert [(m.pair, m.count, m.id) for m in found.merges] == [
        (("l", "o"), 3, 5),
        (("lo", "w"), 3, 6),
    ]
    assert found.merges[0].corpus == (
        SplitWord(("lo", "w"), 2),
        SplitWord(("lo", "w", "e", "r"), 1),
    )
    for before, merge in zip(
        [found.start, *(merge.corpus for merge in found.merges)], found.merges, strict=False
    ):
        assert count_pairs(before)[merge.pair] == merge.count == max(count_pairs(before).values())
    assert found.alphabet == list("elorw") and found.cut("slower") == ["s", "low", "e", "r"]


def test_a_tie_goes_to_the_lower_ids():
    assert choose(
        {("b", "c"): 2, ("a", "z"): 2, ("a", "b"): 2}, {"a": 0, "b": 1, "c": 2, "z": 3}
    ) == (
        "a",
        "b",
    )
    # "lo" has an ID above every letter's: e, r comes before lo, w.
    assert [m.pair for m in train_bpe(["lower lower"], 3).merges][0] == ("e", "r")


def test_the_count_of_overlapping_pairs_and_of_words():
    assert count_pairs([SplitWord(("a", "a", "a"), 2)]) == {("a", "a"): 4}
    assert count_words(["a\u3000b\na"]) == {"a": 2, "b": 1}
    assert count_words(["a a"], "bytes") == {"a": 1, "Ġa": 1}
    assert train_bpe([], 3).merges == [] and train_bpe(["", " "], 3).alphabet == []


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: train_bpe("low", 3), TypeError, "corpus must be a list of str; got one str"),
        (lambda: train_bpe([b"low"], 3), TypeError, r"corpus\[0\] must be a str; got bytes"),
        (lambda: train_bpe(["a", "\ud800"], 3), ValueError, r"corpus\[1\] .* U\+D800"),
        (lambda: train_bpe(["a"], -1), ValueError, "merges must be at least 0; got -1"),
        (lambda: train_bpe(["a"], 1, min_count=0), ValueError, "min_count must be at least 1"),
        (lambda: train_bpe(["a"], 1, "words"), ValueError, "'characters' or 'bytes'; got 'words'"),
        (lambda: train_bpe(["a a"], 1).tokenizer(), ValueError, "'bytes' for a tokenizer"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
