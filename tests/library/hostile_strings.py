"""Strings that break tokenizers, seeded: what the tests compare with the library."""

from __future__ import annotations

import random
import sys
import unicodedata

SURROGATES = range(0xD800, 0xE000)


def _by_category() -> dict[str, list[str]]:
    """Every code point, by what this Python takes for its category."""
    found: dict[str, list[str]] = {}
    for code in range(sys.maxunicode + 1):
        if code not in SURROGATES:
            found.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    return found


CORNERS = [
    *"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2000\u2003\u200a\u2028\u2029\u202f",
    *"\u205f\u3000\x00\x01\x7f\xad\u200b\u200c\u200d\u2060\ufeff\ufffd\ufffe\uffff\ufe0f\u20e3",
    *"İıIiſKÅßẞΣσςΟΔΥΣǅǆŉΐﬁﬃÀéñÅçǖệḍ̇ẛ̣가각힣각한글",
    *"\u0300\u0301\u0316\u0323\u0327\u0334\u0344\u0345\u0340\u0f73\u0f75\u0f81\u0958\u09cb\u0bca",
    *"\u0fb2\u1b06\u2126\u212a\u2adc\ufb1d\ufb2a\ufb46\u302a\u302f\u3099\u309a\uf900\ufa0e\ufad9",
    *"我喜欢猫狗，。！？「」々〇〆ぁあアー가㐀䶿一鿿𠀀𪛟𪜀𫝀𫠝𫠠𫢟𫤟𫤠𬺡𬺰𮯠丽𪘀𰀀𱍐",
    *"😀👩👨👧🏽❤🇨🇳🏴\U000e0067\U000e007f𝒜𝟘①²¾Ⅻ٣३𐒠𞤀𐐀ꭰᎠ\u1c89\ua7cb\U00010d50\U00016ea0\u11938",
    *"\ue000\U000f0000\U0010ffff\U0001d15e\U0001d165\U0001d16e\U00011938\U000105c9\U000113c5",
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~§¶·¿«»‘’“”–—…€£©®™×÷ªº¡|¦¨¯´¸\u037e\u0387\u1fef\u2000",
    *["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "’s", " 's", "  ", "   ", "\n\n", " \n "],
    *[
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "[PAD]",
        "[UNK]",
        "[mask]",
        "[MASK",
        "<|endoftext|>",
        "##s",
        "##",
    ],
    *[
        "👩\u200d👩\u200d👧\u200d👦",
        "👍🏽",
        "🇩🇪",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "e\u0301",
        "q\u0307\u0323",
    ],
    *[
        "straße",
        "STRASSE",
        "İstanbul",
        "ΟΔΥΣΣΕΥΣ",
        "naïve",
        "Café",
        "don't",
        "we'll",
        "3.14",
        "$5+3=8",
    ],
]

WORDS = (
    "the of and to in a is that this test sentence embedding embeddings unaffable tokenizer cats "
    "dogs position encoding rotary internationalization I'm you're they've 2026 1,000,000 HELLO "
    "World iPhone C++ x=y http://example.org/a?b=c 我喜欢猫 小明喜欢小红 苹果很好吃 北京 "
    "東京タワー 안녕하세요 Привет мир שלום مرحبا नमस्ते ภาษาไทย Đặng Văn Ελλάδα"
).split()


def hostile_strings(count: int, seed: int) -> list[str]:
    """Random strings of many kinds, the same for the same seed.

    Parameters
    ----------
    count
        How many.
    seed
        Seed of the random numbers.
    """
    draw = random.Random(seed)
    categories = list(_by_category().values())
    everything = range(sys.maxunicode + 1 - len(SURROGATES))

    def anything() -> str:
        code = draw.choice(everything)
        return chr(code if code < SURROGATES.start else code + len(SURROGATES))

    def by_category() -> str:
        return draw.choice(draw.choice(categories))

    def low() -> str:
        return chr(draw.randrange(0x3000))

    def many(source, longest: int) -> str:
        return "".join(source() for _ in range(draw.randrange(longest)))

    kinds = [
        lambda: many(by_category, 12),
        lambda: many(anything, 8),
        lambda: many(low, 16),
        lambda: many(lambda: draw.choice(CORNERS), 12),
        lambda: many(lambda: draw.choice([draw.choice(CORNERS), by_category(), "a"]), 12),
        lambda: "".join(draw.choice(WORDS) + draw.choice(["", " ", draw.choice(CORNERS)])
                        for _ in range(draw.randrange(8))),
        lambda: many(lambda: chr(draw.randrange(32, 127)), 24),
        lambda: "a" + many(lambda: draw.choice(categories[0]), 2) + many(
            lambda: chr(draw.choice([draw.randrange(0x300, 0x370), draw.randrange(0x1AB0, 0x1B00),
                                     draw.randrange(0x590, 0x900)])), 8) + "b",
    ]  # fmt: skip
    long_parts = ["a", "é", "我", "ab", "\u0301", " ", "😀", "1", "!", "'s", "İ"]
    long_counts = [49, 50, 51, 99, 100, 101, 200, 1000]
    long = [draw.choice(long_parts) * draw.choice(long_counts) for _ in range(count // 1000)]
    return long + [draw.choice(kinds)() for _ in range(count - len(long))]


def every_character() -> list[str]:
    """Every code point that Unicode 17 gives a meaning, and a sample of the others.

    Planes 0 to 3 and the tags of plane 14 are whole, surrogates excepted. The rest is unassigned
    or for private use: the borders of each plane, and every 97th in between.
    """
    whole = [*range(0x40000), *range(0xE0000, 0xE0200)]
    borders = [
        plane * 0x10000 + i for plane in range(4, 17) for i in (0, 1, 0xFFFD, 0xFFFE, 0xFFFF)
    ]
    codes = sorted({*whole, *borders, *range(0x40000, sys.maxunicode + 1, 97)})
    return [chr(code) for code in codes if code not in SURROGATES]
