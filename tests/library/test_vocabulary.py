"""The teaching vocabulary, padding, masks and the tensors that they become."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tokpos.tokenization import Tokenization, pad, tensors
from tokpos.vocabulary import Vocabulary, teaching_vocabulary


def test_the_six_tokens_and_the_lessons_sentence():
    words = teaching_vocabulary()
    assert list(words) == ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"] and len(words) == 6
    assert words.ids(["我", "喜欢", "猫"]) == words.encode("我喜欢猫").ids == [2, 3, 4]
    assert words.tokens([2, 3, 5]) == ["我", "喜欢", "狗"]
    assert words.id("苹果") == 1 and "苹果" not in words and "<PAD>" in words


@pytest.mark.parametrize(
    ("text", "tokens", "ids", "offsets"),
    [
        ("", [], [], []),
        ("  \n", [], [], []),
        ("我喜欢猫", ["我", "喜欢", "猫"], [2, 3, 4], [(0, 1), (1, 3), (3, 4)]),
        (" 我 喜欢\u3000狗 ", ["我", "喜欢", "狗"], [2, 3, 5], [(1, 2), (3, 5), (6, 7)]),
        ("我喜欢苹果", ["我", "喜欢", "苹果"], [2, 3, 1], [(0, 1), (1, 3), (3, 5)]),
        ("苹果 香蕉猫", ["苹果", "香蕉", "猫"], [1, 1, 4], [(0, 2), (3, 5), (5, 6)]),
        ("喜", ["喜"], [1], [(0, 1)]),
        ("喜我", ["喜", "我"], [1, 2], [(0, 1), (1, 2)]),
        ("<PAD>猫<UNK>", ["<PAD>", "猫", "<UNK>"], [1, 4, 1], [(0, 5), (5, 6), (6, 11)]),
    ],
)
def test_the_split(text, tokens, ids, offsets):
    words = teaching_vocabulary()
    assert words.split(text) == tokens
    found = words.encode(text)
    assert (found.ids, found.offsets) == (ids, offsets)
    assert found.tokens == words.tokens(ids)


def test_the_longest_token_comes_first():
    words = Vocabulary(["<PAD>", "<UNK>", "a", "ab", "abc", "d"])
    assert words.split("abcabda") == ["abc", "ab", "d", "a"]


@given(st.text("我喜欢猫狗 <>UNKPAD\n", max_size=30))
def test_what_is_split_is_the_text_without_its_spaces(text):
    found = teaching_vocabulary()
    assert "".join(found.split(text)) == "".join(text.split())
    offsets = found.encode(text).offsets
    assert [text[start:end] for start, end in offsets] == found.split(text)
    assert sorted(offsets) == offsets


def test_a_batch_is_padded_on_either_side():
    words = teaching_vocabulary()
    batch = words.encode_batch(["我喜欢猫", "狗", ""])
    made = tensors(batch)
    assert made["input_ids"].tolist() == [[2, 3, 4], [5, 0, 0], [0, 0, 0]]
    assert made["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert made["token_type_ids"].tolist() == [[0] * 3] * 3
    assert all(each.dtype == torch.int64 for each in made.values())
    left = words.encode_batch(["狗"], length=3, side="left")[0]
    assert left.ids == [0, 0, 5] and left.attention_mask == [0, 0, 1]
    assert left.tokens == ["<PAD>", "<PAD>", "狗"] and left.offsets == [(0, 0), (0, 0), (0, 1)]
    assert pad([], "<PAD>", 0) == [] and words.encode_batch([]) == []


def test_the_result_can_be_compared_copied_and_pickled():
    found = teaching_vocabulary().encode("我喜欢猫")
    assert copy.deepcopy(found) == pickle.loads(pickle.dumps(found)) == found and len(found) == 3
    again = pickle.loads(pickle.dumps(teaching_vocabulary()))
    assert again.encode("我喜欢猫") == found


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda w: w.encode(b"cat"), TypeError, "text must be a str; got bytes; decode it first"),
        (lambda w: w.split("猫\ud800"), ValueError, r"lone surrogate U\+D800 at index 1"),
        (lambda w: w.token(6), IndexError, r"token_id must lie in 0..5 \(6 tokens\); got 6"),
        (lambda w: w.tokens([0, -1]), IndexError, "token_id must lie in 0..5 .*; got -1"),
        (lambda w: w.token(2.0), TypeError, "token_id must be an int; got float"),
        (lambda w: w.token(True), TypeError, "token_id must be an int; got bool"),
        (lambda w: w.id(3), TypeError, "token must be a str; got int"),
        (lambda w: w.ids("猫"), TypeError, "tokens must be a list of str; got one str"),
        (lambda w: w.encode_batch("猫"), TypeError, "texts must be a list of str; got one str"),
        (lambda w: w.encode_batch(["我猫"], length=1), ValueError, "at least 2, .*; got 1"),
        (lambda w: w.encode_batch(["我"], side="top"), ValueError, "'left' or 'right'; got 'top'"),
        (lambda w: tensors([w.encode("我"), w.encode("")]), ValueError, r"see pad; got \[1, 0\]"),
        (lambda w: tensors([]), ValueError, r"one length, see pad; got \[\]"),
        (lambda w: Vocabulary("abc"), TypeError, "tokens must be a list of str; got one str"),
        (lambda w: Vocabulary([*w, 3]), TypeError, r"tokens\[6\] must be a str; got int"),
        (lambda w: Vocabulary([*w, "猫"]), ValueError, "tokens must differ; got '猫' as 4 and 6"),
        (lambda w: Vocabulary([*w, ""]), ValueError, r"tokens\[6\] must not be empty"),
        (lambda w: Vocabulary(["a"]), ValueError, "unknown must be one of the tokens; got '<UNK>'"),
        (lambda w: Vocabulary(["<UNK>"]), ValueError, "padding must be one of .*; got '<PAD>'"),
        (lambda w: Tokenization(["a"], [], [], [], []), ValueError, "one length; got {'tokens': 1"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call(teaching_vocabulary())
