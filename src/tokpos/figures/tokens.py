"""From a text to IDs: the road of a sentence, WordPiece's cut, bytes, merges, padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokpos.bpe_merge import merge_steps
from tokpos.bpe_training import SplitWord, Training, train_bpe
from tokpos.byte_bpe import gpt2
from tokpos.byte_letters import to_bytes, to_letters
from tokpos.figures._canvas import Canvas
from tokpos.figures._figure import Figure, Say
from tokpos.figures._plane import Plane
from tokpos.tokenization import Tokenization
from tokpos.wordpiece import bert_base_uncased

WIDTH = 520.0
SMALL = 13.0
_TILE = 34.0
"""Height of a tile with a token in it."""


def _em(words: str) -> float:
    """About how wide words are, in text sizes: a Chinese character is as wide as high."""
    return sum(1.0 if ord(letter) > 0x2E80 else 0.62 for letter in words)


def text_to_ids(text: str = "My cat likes embeddings") -> Figure:
    """The road of a real sentence through BERT's tokenizer: text, words, tokens, IDs.

    Parameters
    ----------
    text : str
        A sentence short enough for one line.

    Returns
    -------
    Figure
        A figure named ``tokens-text-to-ids``.
    """
    found = bert_base_uncased().encode(text)

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 352), canvas.say
        plane.box(10, 34, WIDTH - 20, 42)
        plane.text(WIDTH / 2, 55, text, size=18)
        plane.text(10, 16, say("text"), "faint", align="left", size=SMALL)
        widths = [max(44.0, 9.4 * len(token) + 14) for token in found.tokens]
        gap = 6.0
        scale = min(1.0, (WIDTH - 20 - gap * (len(widths) - 1)) / sum(widths))
        x = (WIDTH - scale * sum(widths) - gap * (len(widths) - 1)) / 2
        plane.text(10, 122, say("tokens"), "faint", align="left", size=SMALL)
        plane.text(10, 334, say("token IDs"), "faint", align="left", size=SMALL)
        for token, number, (start, end), width in zip(
            found.tokens, found.ids, found.offsets, widths, strict=True
        ):
            wide, middle = scale * width, x + scale * width / 2
            added = start == end
            plane.cell(
                x, 140, wide, _TILE, token,
                fill="paper" if added else "token-soft",
                edge="faint" if added else "token", size=SMALL,
            )  # fmt: skip
            plane.text(
                middle, 190, say("special") if added else f"{start}–{end}", "faint", size=SMALL
            )
            plane.arrow((middle, 206), (middle, 272), "faint")
            plane.cell(
                x, 278, wide, _TILE, str(number), fill="token", edge="token", color="paper",
                size=SMALL,
            )  # fmt: skip
            x += wide + gap
        plane.arrow((WIDTH / 2, 80), (WIDTH / 2, 134), "faint")
        plane.text(WIDTH / 2 + 12, 106, say("the tokenizer splits"), "faint", align="left")
        plane.text(WIDTH / 2, 334, say("each ID is a row of the table"), "token", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "The text “{text}” is split into the tokens {tokens}. Under each stands where it was "
            "in the text, and below its ID: {ids}. The first and the last token were added.",
            text=text,
            tokens=" ".join(found.tokens),
            ids=", ".join(map(str, found.ids)),
        )

    return Figure("tokens-text-to-ids", draw, alt)


def greedy_cut(word: str = "embeddings") -> Figure:
    """WordPiece at work on one word: try the longest rest first, take the first that is known.

    Parameters
    ----------
    word : str
        A word in lower case, of up to 12 letters.

    Returns
    -------
    Figure
        A figure named ``tokens-greedy-cut``.

    Raises
    ------
    ValueError
        The word is empty, or too long to be drawn.
    """
    if not 1 <= len(word) <= 12:
        raise ValueError(f"word must have 1 to 12 letters; got {len(word)}")
    tried = bert_base_uncased().attempts(word)
    pieces = bert_base_uncased().cut(word)
    cell, line = 26.0, 25.0

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 60 + line * len(tried) + 54), canvas.say
        for place, letter in enumerate(word):
            plane.text(24 + cell * (place + 0.5), 20, letter, size=17, bold=True)
        start, y = 0, 44.0
        for candidate, found in tried:
            length = len(candidate) - (2 if start else 0)
            for place in range(start, start + length):
                plane.cell(
                    24 + cell * place, y, cell, line - 5, word[place],
                    fill="token" if found else "paper", edge="token" if found else "rule",
                    color="paper" if found else "faint", size=SMALL,
                )  # fmt: skip
            x = 24 + cell * len(word) + 16
            plane.text(
                x, y + line / 2 - 3, candidate, "token" if found else "faint", align="left",
                size=SMALL, bold=found,
            )  # fmt: skip
            plane.text(
                WIDTH - 8, y + line / 2 - 3, say("in the vocabulary") if found else say("no"),
                "token" if found else "faint", align="right", size=SMALL,
            )  # fmt: skip
            start += length if found else 0
            y += line
        words = say("result: {pieces}", pieces="  ".join(pieces))
        plane.text(24, y + 26, words, "ink", align="left", size=16, bold=True)

    def alt(say: Say) -> str:
        return say(
            "The word {word} is cut in {count} looks into the vocabulary. At each place the "
            "longest rest is tried first, then one letter less each time, until a piece is found. "
            "Result: {pieces}.",
            word=word,
            count=len(tried),
            pieces=" ".join(pieces),
        )

    return Figure("tokens-greedy-cut", draw, alt)


def bytes_and_merges(text: str = "国人") -> Figure:
    """The bytes of Chinese characters as leaves, GPT-2's merges of them as a tree.

    Parameters
    ----------
    text : str
        One to three characters, without a space.

    Returns
    -------
    Figure
        A figure named ``tokens-bytes-and-merges``.

    Raises
    ------
    ValueError
        The text has not 1 to 3 characters.
    """
    if not 1 <= len(text) <= 3:
        raise ValueError(f"text must have 1 to 3 characters; got {len(text)}")
    letters = to_letters(text.encode())
    steps = merge_steps(letters, gpt2().ranks)
    found = gpt2().pieces(text)
    side = 62.0
    left = (WIDTH - side * len(letters)) / 2

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 258 + 68 * len(steps)), canvas.say
        x = left
        for character in text:
            wide = side * len(character.encode())
            plane.cell(x + 3, 30, wide - 6, 40, character, fill="segment-soft", edge="segment",
                       size=20)  # fmt: skip
            x += wide
        plane.text(10, 14, say("characters"), "faint", align="left", size=SMALL)
        plane.text(
            10, 88, say("bytes, and how GPT-2 writes them"), "faint", align="left", size=SMALL
        )
        for place, letter in enumerate(letters):
            plane.cell(left + side * place + 3, 104, side - 6, 50, fill="paper", edge="rule")
            x = left + side * (place + 0.5)
            plane.text(x, 119, to_bytes(letter).hex(), size=SMALL)
            plane.text(x, 141, letter, "token", size=SMALL)
        lows = _draw_tree(plane, letters, left, side)
        plane.text(10, 196, say("merges,\nby rank"), "faint", align="left", size=SMALL)
        bottom = 200 + 68 * len(steps)
        place = 0
        for piece in found:
            x = left + side * (place + len(piece.token) / 2)
            plane.line((x, lows[place]), (x, bottom), "token", dashed=True)
            plane.cell(x - 28, bottom, 56, 30, str(piece.id), fill="token", edge="token",
                       color="paper", size=SMALL)  # fmt: skip
            place += len(piece.token)
        plane.text(10, bottom + 44, say("token IDs"), "faint", align="left", size=SMALL)

    def alt(say: Say) -> str:
        return say(
            "The characters {text} are {count} bytes: {bytes}. Merges join them, in the order of "
            "their ranks {ranks}. What is left are the tokens with the IDs {ids}.",
            text=text,
            count=len(letters),
            bytes=text.encode().hex(" "),
            ranks=", ".join(f"{step.rank:,}" for step in steps),
            ids=", ".join(str(piece.id) for piece in found),
        )

    return Figure("tokens-bytes-and-merges", draw, alt)


def _draw_tree(plane: Plane, letters: str, left: float, side: float) -> dict[int, float]:
    """Draw each merge under the two that it joins; where each piece ends, by its first byte."""
    pieces = list(letters)
    lows = {place: 154.0 for place in range(len(letters))}
    for number, step in enumerate(merge_steps(letters, gpt2().ranks)):
        begins = [len("".join(pieces[:place])) for place in range(len(pieces))]
        first, second = begins[step.place], begins[step.place + 1]
        merged = step.pieces[step.place]
        y = 182 + 68 * number
        middle = left + side * (first + len(merged) / 2)
        for begin, piece in zip((first, second), pieces[step.place :], strict=False):
            x = left + side * (begin + len(piece) / 2)
            plane.line((x, lows[begin]), (middle, y), "token", weight=1.6)
        plane.cell(middle - 32, y, 64, 40, fill="token-soft", edge="token")
        plane.text(middle, y + 12, merged, size=SMALL)
        plane.text(middle, y + 29, f"{step.rank:,}", "faint", size=SMALL)
        del lows[second]
        lows[first] = y + 40.0
        pieces = step.pieces
    return lows


def learned_merges(
    corpus: Sequence[str] = ("low low lower newer", "我 喜欢 猫", "我 也 喜欢 狗"), merges: int = 4
) -> Figure:
    """The trainer at work: the corpus at the top, then after each merge.

    Parameters
    ----------
    corpus : sequence of str
        A few short texts.
    merges : int
        How many merges to draw, up to 8.

    Returns
    -------
    Figure
        A figure named ``tokens-learned-merges``.

    Raises
    ------
    ValueError
        Fewer merges than 1 are asked for, or more than can be drawn.
    """
    if not 1 <= merges <= 8:
        raise ValueError(f"merges must lie in 1..8; got {merges}")
    training = train_bpe(corpus, merges)

    def draw(canvas: Canvas) -> None:
        rows = [_rows(training.start), *(_rows(merge.corpus) for merge in training.merges)]
        height = 40 + sum(36 + 30 * len(each) for each in rows)
        plane, say = canvas.plane(WIDTH, height), canvas.say
        y = 18.0
        heading = say("the corpus, cut into characters; ×: how often the word occurs")
        for step, each in enumerate(rows):
            if step:
                merge = training.merges[step - 1]
                heading = say(
                    "merge {number}: {left} + {right}, side by side {count} times",
                    number=step,
                    left=merge.pair[0],
                    right=merge.pair[1],
                    count=merge.count,
                )
            plane.text(10, y, heading, "token" if step else "ink", align="left", bold=bool(step),
                       size=SMALL)  # fmt: skip
            y += 16
            new = training.merges[step - 1].token if step else ""
            for row in each:
                _draw_words(plane, row, y, new)
                y += 30
            y += 20

    def alt(say: Say) -> str:
        return say(
            "A corpus of {words} words, and what {count} merges make of it, one below the other: "
            "{merges}.",
            words=sum(word.count for word in training.start),
            count=len(training.merges),
            merges=_in_words(training),
        )

    return Figure("tokens-learned-merges", draw, alt)


def _in_words(training: Training) -> str:
    return ", ".join(
        f"{merge.pair[0]} + {merge.pair[1]} ({merge.count}×)" for merge in training.merges
    )


def _wide(word: SplitWord) -> float:
    return sum(10 + 13 * _em(piece) for piece in word.pieces) + 44


def _rows(corpus: Sequence[SplitWord]) -> list[list[SplitWord]]:
    """The words in rows that fit the width."""
    rows: list[list[SplitWord]] = [[]]
    for word in corpus:
        if rows[-1] and sum(map(_wide, [*rows[-1], word])) > WIDTH - 10:
            rows.append([])
        rows[-1].append(word)
    return rows


def _draw_words(plane: Plane, words: Sequence[SplitWord], y: float, new: str) -> None:
    """Words as tiles, piece by piece; the pieces that the last merge made are lit."""
    x = 10.0
    for word in words:
        for piece in word.pieces:
            wide, lit = 10 + 13 * _em(piece), piece == new
            plane.cell(
                x, y, wide, 24, piece, fill="token" if lit else "token-soft", edge="token",
                color="paper" if lit else "ink", size=SMALL,
            )  # fmt: skip
            x += wide
        plane.text(x + 4, y + 12, f"×{word.count}", "faint", align="left", size=SMALL)
        x += 44


def padded_batch(batch: Sequence[Tokenization] | None = None) -> Figure:
    """Texts of one length thanks to padding, and the attention mask under their tokens.

    Parameters
    ----------
    batch : sequence of Tokenization, optional
        Texts padded to one length of up to 8; left out, two sentences in BERT's tokens.

    Returns
    -------
    Figure
        A figure named ``tokens-padded-batch``.

    Raises
    ------
    ValueError
        The texts differ in length, or are too long to be drawn.
    """
    rows = batch or bert_base_uncased().encode_batch(["I like cats", "He reads"])
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or max(lengths) > 8:
        raise ValueError(f"batch must have texts of one length up to 8; got {sorted(lengths)}")
    side = (WIDTH - 20) / max(lengths)

    def draw(canvas: Canvas) -> None:
        plane, say = canvas.plane(WIDTH, 38 + 82 * len(rows)), canvas.say
        words = say("the tokens, and under each its entry in the mask")
        plane.text(10, 16, words, "faint", align="left", size=SMALL)
        for number, row in enumerate(rows):
            y = 38 + 82.0 * number
            for place, (token, real) in enumerate(zip(row.tokens, row.attention_mask, strict=True)):
                x = 10 + side * place
                plane.cell(
                    x, y, side - 4, _TILE, token,
                    fill="token-soft" if real else "paper", edge="token" if real else "rule",
                    color="token" if real else "faint", size=SMALL,
                )  # fmt: skip
                role = "ink" if real else "faint"
                plane.text(x + side / 2 - 2, y + 52, str(real), role, bold=bool(real))

    def alt(say: Say) -> str:
        return say(
            "{count} texts of {lengths} tokens, each filled up to {longest} places. Under each "
            "token stands 1, under padding 0.",
            count=len(rows),
            lengths=", ".join(str(sum(row.attention_mask)) for row in rows),
            longest=max(lengths),
        )

    return Figure("tokens-padded-batch", draw, alt)


def gallery() -> Iterator[Figure]:
    """Every figure of this module once, as in the lesson."""
    yield text_to_ids()
    yield greedy_cut()
    yield bytes_and_merges()
    yield learned_merges()
    yield padded_batch()
