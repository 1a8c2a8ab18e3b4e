"""Byte-level BPE: the same as the library on every character and on 100,000 hostile strings."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split

from tests.library.hostile_strings import every_character, hostile_strings
from tokpos.bpe_merge import merge, merge_steps
from tokpos.byte_bpe import END_OF_TEXT, ByteBPE, gpt2, words
from tokpos.byte_letters import BYTE_LETTERS, to_bytes, to_letters

STRINGS = 100_000


@cache
def library() -> Tokenizer:
    ours = gpt2()
    ids = {token: number for number, token in enumerate(ours.vocabulary[:-1])}
    found = Tokenizer(BPE(ids, list(ours.ranks)))
    found.pre_tokenizer = ByteLevel(add_prefix_space=False)
    found.add_special_tokens([AddedToken(END_OF_TEXT, normalized=False)])
    return found


def assert_same(texts: list[str]) -> None:
    ours = gpt2()
    for text, right in zip(texts, library().encode_batch(texts), strict=True):
        found = ours.encode(text)
        assert found.ids == right.ids, ascii(text)
        assert found.tokens == right.tokens, ascii(text)
        assert found.offsets == right.offsets, ascii(text)


@pytest.mark.usefixtures("unchecked_shapes")
def test_hostile_strings_give_the_same_as_in_the_library_and_come_back():
    texts = hostile_strings(STRINGS, seed=1)
    assert_same(texts)
    for text in texts[::10]:
        assert gpt2().decode(gpt2().encode(text).ids) == text


@given(st.text(max_size=40))
def test_any_text_gives_the_same_as_in_the_library_and_comes_back(text):
    assert_same([text])
    assert gpt2().decode(gpt2().encode(text).ids) == text


@pytest.mark.usefixtures("unchecked_shapes")
def test_the_pattern_on_every_code_point():
    """Beside a letter, a number, a mark of neither kind and a space, each code point at once."""
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    theirs = Split(Regex(pattern), "isolated")
    text = "".join(f"a{c}1{c}!{c} {c}{c}'{c}" for c in every_character())
    for start in range(0, len(text), 110_000):
        part = text[start : start + 110_000]
        right = [word for word, _ in theirs.pre_tokenize_str(part)]
        assert words(part) == right


def test_the_lessons_sentence_and_what_a_character_is_cut_into():
    found = gpt2().encode("This is a test sentence")
    assert found.ids == [1212, 318, 257, 1332, 6827]
    assert found.offsets == [(0, 4), (4, 7), (7, 9), (9, 14), (14, 23)]
    assert gpt2().encode("").ids == []
    pieces = gpt2().pieces("狗 😀")
    assert b"".join(piece.data for piece in pieces) == "狗 😀".encode()
    assert [owner for piece in pieces for owner in piece.owners] == [0, 0, 0, 1, 2, 2, 2, 2]


def test_the_alphabet_is_that_of_the_library_and_its_order_that_of_the_ids():
    assert sorted(BYTE_LETTERS.values()) == sorted(ByteLevel.alphabet())
    assert list(BYTE_LETTERS.values()) == sorted(BYTE_LETTERS.values())
    assert to_bytes(to_letters(bytes(range(256)))) == bytes(range(256))
    assert gpt2().vocabulary[:3] == ["!", '"', "#"] and gpt2().vocabulary[220] == "Ġ"


def test_every_id_is_decoded_and_the_256_bytes_are_tokens():
    ours = gpt2()
    assert len(ours.vocabulary) == len(set(ours.vocabulary)) == 50257
    assert sorted(ours.decode_bytes([number]) for number in range(256)) == [
        bytes([byte]) for byte in range(256)
    ]
    for number in range(256, 50257, 7):
        assert to_letters(ours.decode_bytes([number])) == ours.vocabulary[number]


def test_a_special_token_in_the_text_counts_unless_told_otherwise():
    ours = gpt2()
    found = ours.encode(f"a{END_OF_TEXT} b")
    assert found.ids == [64, 50256, 275] and found.offsets == [(0, 1), (1, 14), (14, 16)]
    plain = ours.encode(END_OF_TEXT, specials=False)
    assert 50256 not in plain.ids and ours.decode(plain.ids) == END_OF_TEXT
    assert ours.decode([50256]) == END_OF_TEXT
    # The longer one where two begin alike, and a character outside ASCII.
    two = ByteBPE([], ["<a", "<a>", "<猫>"])
    assert [piece.id for piece in two.pieces("<a><a<猫>")] == [257, 256, 258]
    assert two.pieces("<猫>")[0].owners == (0, 1, 1, 1, 2)
    assert two.decode([258]) == "<猫>"


# The heap and the plain way


@given(st.text("abc", max_size=30), st.permutations([a + b for a in "abc" for b in "abc"]))
def test_the_heap_gives_what_the_steps_give(word, order):
    ranks = {(pair[0], pair[1]): rank for rank, pair in enumerate(order)}
    for one in order[:4]:
        for other in order[:4]:
            ranks[one, other] = len(ranks)
            ranks[one, other[0]] = len(ranks)
    steps = merge_steps(word, ranks)
    assert merge(word, ranks) == (steps[-1].pieces if steps else list(word))


@pytest.mark.parametrize("word", ["", "a", "aaaaa", "abababab" * 5, "unbelievable", "ĠçĮ«" * 6])
def test_the_heap_gives_what_the_steps_give_with_the_merges_of_gpt2(word):
    steps = merge_steps(word, gpt2().ranks)
    assert merge(word, gpt2().ranks) == (steps[-1].pieces if steps else list(word))
    ranks = [step.rank for step in steps]
    assert all(gpt2().ranks[pair] in ranks for pair in _joined(steps, list(word)))


def _joined(steps, pieces):
    for step in steps:
        yield pieces[step.place], pieces[step.place + 1]
        pieces = step.pieces


def test_work_grows_with_the_length_alone():
    """Counted, not timed: looks at the ranks for a word eight times as long."""

    class Counting(dict):
        looks = 0

        def __contains__(self, pair):
            self.looks += 1
            return super().__contains__(pair)

    counts = []
    for times in (1, 8):
        ranks = Counting(gpt2().ranks)
        merge("abcdefgh aaa" * 200 * times, ranks)
        counts.append(ranks.looks)
    assert counts[1] <= 8.1 * counts[0]


# Bad input


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: b.encode(b"cat"), TypeError, "text must be a str; got bytes; decode it first"),
        (lambda b: b.encode("ab\udfff"), ValueError, r"lone surrogate U\+DFFF at index 2"),
        (lambda b: words(3), TypeError, "text must be a str; got int"),
        (lambda b: b.decode([50257]), IndexError, r"ids\[0\] must lie in 0..50256 .*; got 50257"),
        (lambda b: b.decode([0, -1]), IndexError, r"ids\[1\] must lie in .*; got -1"),
        (lambda b: b.decode([0.0]), TypeError, r"ids\[0\] must be an int; got float"),
        (lambda b: b.decode([True]), TypeError, r"ids\[0\] must be an int; got bool"),
        (
            lambda b: b.decode([45379]),
            ValueError,
            r"whole characters; the bytes e7 8b \(at byte 0 of 2\) are none",
        ),
        (lambda b: to_bytes("a猫"), ValueError, "one for each byte; got '猫'"),
        (lambda b: ByteBPE([("a", "b"), ("ab", "cd")]), ValueError, "got 'cd' at 1"),
        (lambda b: ByteBPE([("a", "b"), ("a", "b")]), ValueError, "differ; .* at 0 and 1"),
        (lambda b: ByteBPE(["ab"]), TypeError, "merges must be pairs of str; got 'ab' at 0"),
        (lambda b: ByteBPE([], ["<a>", "<a>"]), ValueError, "specials must differ"),
        (lambda b: ByteBPE([], [""]), ValueError, "not be empty"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call(gpt2())


def test_a_file_with_a_bad_line_is_refused(tmp_path):
    path = tmp_path / "merges.txt"
    path.write_text("#version: 0.2\na b\n# #\n", encoding="utf-8")
    assert ByteBPE.from_file(path).vocabulary[256:] == ["ab", "##"]
    path.write_text("a b\nabc\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2, must have two parts; got 'abc'"):
        ByteBPE.from_file(path)


def test_two_merges_can_make_one_token():
    found = ByteBPE([("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")])
    assert found.vocabulary[256:] == ["ab", "bc", "abc"]
