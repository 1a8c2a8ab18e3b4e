"""For each widget: what goes into its `compute`, and what the library makes of it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import cycle, islice, product
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tokpos import bert, byte_bpe, wordpiece
from tokpos.alibi import alibi_bias, alibi_slopes
from tokpos.dot_product_attention import attention_weights
from tokpos.lookup import lookup, one_hot, one_hot_product
from tokpos.rope import rotate, rotation
from tokpos.sinusoidal import frequencies, sinusoidal
from tokpos.t5 import t5_bias, t5_buckets

Case = tuple[dict[str, Any], dict[str, Any]]

float64 = torch.float64


def numbers(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    return torch.randn(shape, dtype=float64, generator=torch.Generator().manual_seed(seed))


# The tokenizer

TEXTS = [
    "", " ", "My cat likes embeddings.", "unaffable", "我喜欢猫", "小明喜欢小红。", "Hello, World!",
    "don't you'll we've I'm he'd it's", "naïve café Ünïcödé", "İstanbul ǅ ß ẞ", "1234567890 3.14 1,000",
    "a  b   c    d", "tabs\tand\nlines\r\n", "  ahead and behind  ", "😀", "👨‍👩‍👧", "é (e + ´) é", "한국어 ひらがな カタカナ",
    "(brackets) [and] {more} <tags/>", "https://example.org/a_b?c=d&e=f", "x" * 101, "y" * 100,
    "embeddings embeddings", "[CLS] [SEP] [MASK] text", "…—“quotes”‘single’", "$100 + €200 = ¥300", "a\u200bb\u00adc\ufeffd",
    "𠮷野家 𝔘𝔫𝔦", "\u0000\ufffdnull", "Ω≈ç√∫", "ﬁ ﬂ ligatures", "Владимир Ελλάδα العربية עברית", "हिन्दी ไทย",
]  # fmt: skip


def texts() -> Iterator[str]:
    yield from TEXTS
    chance = random.Random(0)
    letters = "abc ABC ,.!?'-_019 éÅñ我喜欢猫狗。，😀\u00a0\u3000\n"
    for _ in range(80):
        yield "".join(chance.choices(letters, k=chance.randint(1, 40)))


def tokenizer() -> Iterator[Case]:
    words, pieces = wordpiece.bert_base_uncased(), byte_bpe.gpt2()
    for text, second in zip(texts(), islice(cycle(["", "Why?", "为什么"]), 200), strict=False):
        cut = words.encode(text, second or None)
        expected = {
            "tokens": [{"text": t, "id": i} for t, i in zip(cut.tokens, cut.ids, strict=True)],
            "types": list(cut.type_ids),
        }
        yield {"kind": "wordpiece", "text": text, "second": second}, expected
        ids = [piece.id for piece in pieces.pieces(text, specials=False)]
        whole = [{"id": i, "bytes": list(pieces.decode_bytes([i]))} for i in ids]
        yield {"kind": "bytes", "text": text}, {"tokens": whole}


# Tables


def lookups() -> Iterator[Case]:
    for seed in range(60):
        rows, width = 1 + seed % 7, 1 + seed % 5
        table = numbers((rows, width), seed)
        for row in {0, rows - 1, seed % rows}:
            ids = torch.tensor([row])
            yield (
                {"table": table.tolist(), "id": row},
                {
                    "oneHot": one_hot(ids, rows)[0].tolist(),
                    "product": one_hot_product(ids, table)[0].tolist(),
                    "row": lookup(ids, table)[0].tolist(),
                },
            )


BATCHES = [
    {"ids": [2, 3], "targets": [3, 4]},
    {"ids": [2, 3, 2], "targets": [3, 5, 2]},
    {"ids": [4], "targets": [3]},
]


def rows() -> Iterator[Case]:
    choices = product(
        ["sgd", "adam", "adamw"], [0.0, 0.1, 0.5], [0.0, 0.9], [False, True], [0, 1, 2, 3, 7]
    )
    for seed, (optimizer, decay, momentum, tied, steps) in enumerate(choices):
        table, head = numbers((6, 2), seed), numbers((6, 2), seed + 1000)
        how = {"optimizer": optimizer, "rate": 0.1, "decay": decay, "momentum": momentum}
        start = {"table": table.tolist(), "head": head.tolist(), "batches": BATCHES}
        yield start | how | {"tied": tied, "steps": steps}, _trained(table, head, how, tied, steps)


def _trained(
    table: torch.Tensor, head: torch.Tensor, how: dict[str, Any], tied: bool, steps: int
) -> dict[str, Any]:
    embedding = nn.Embedding.from_pretrained(table.clone(), freeze=False)
    weight = embedding.weight if tied else nn.Parameter(head.clone())
    parameters = [embedding.weight] if tied else [embedding.weight, weight]
    rate, decay = how["rate"], how["decay"]
    optimizer: torch.optim.Optimizer
    if how["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(parameters, rate, momentum=how["momentum"], weight_decay=decay)
    elif how["optimizer"] == "adam":
        optimizer = torch.optim.Adam(parameters, rate, weight_decay=decay)
    else:
        optimizer = torch.optim.AdamW(parameters, rate, weight_decay=decay)
    moved = gradient = torch.zeros(6, dtype=torch.bool)
    for step in range(steps):
        batch = BATCHES[step % len(BATCHES)]
        before = embedding.weight.detach().clone()
        optimizer.zero_grad()
        scores = embedding(torch.tensor(batch["ids"])) @ weight.T
        F.cross_entropy(scores, torch.tensor(batch["targets"])).backward()
        optimizer.step()
        moved = (embedding.weight != before).any(1)
        gradient = (embedding.weight.grad != 0).any(1)
    return {
        "table": embedding.weight.tolist(),
        "moved": moved.tolist(),
        "gradient": gradient.tolist(),
    }


def broadcasting() -> Iterator[Case]:
    chance = random.Random(0)
    shapes = [
        [],
        [1],
        [4],
        [3, 4],
        [3, 1],
        [1, 4],
        [2, 3, 4],
        [2, 1, 4],
        [1, 1, 1],
        [2, 3],
        [6, 6, 6],
    ]
    pairs = [(a, b) for a in shapes for b in shapes]
    pairs += [
        ([chance.choice([1, 2, 3]) for _ in range(chance.randint(0, 3))] for _ in range(2))
        for _ in range(60)
    ]
    for a, b in pairs:
        try:
            shape = list(torch.broadcast_shapes(a, b))
        except RuntimeError:
            axes = range(1, min(len(a), len(b)) + 1)
            axis = next(-i for i in axes if a[-i] != b[-i] and 1 not in (a[-i], b[-i]))
            yield {"a": a, "b": b}, {"axis": axis, "sizes": [a[axis], b[axis]]}
            continue
        places = [torch.arange(math.prod(s)).reshape(s).expand(shape).flatten() for s in (a, b)]
        yield {"a": a, "b": b}, {"shape": shape, "from": torch.stack(places, 1).tolist()}


def bert_sums() -> Iterator[Case]:
    layer = bert.BertEmbeddings(7, 32, max_positions=8).double().eval()
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(numbers(tuple(parameter.shape), seed))
        tables = {
            "token": layer.word_embeddings.weight,
            "segment": layer.token_type_embeddings.weight,
            "position": layer.position_embeddings.weight,
        }
        norm = layer.LayerNorm
        dots = {
            "tt": (tables["token"] ** 2).sum(1), "ss": (tables["segment"] ** 2).sum(1),
            "pp": (tables["position"] ** 2).sum(1), "ts": tables["token"] @ tables["segment"].T,
            "tp": tables["token"] @ tables["position"].T, "sp": tables["segment"] @ tables["position"].T,
        }  # fmt: skip
        given = {
            "features": 32, "eps": norm.eps, "gamma": norm.weight[:6].tolist(), "beta": norm.bias[:6].tolist(),
            "dots": {name: table.tolist() for name, table in dots.items()},
            **{name: {"slice": t[:, :6].tolist(), "total": t.sum(1).tolist()} for name, t in tables.items()},
        }  # fmt: skip
        for token, segment, position in product(range(7), range(2), range(8)):
            out = layer(
                torch.tensor([[token]]), torch.tensor([[segment]]), torch.tensor([[position]])
            )
            rows = zip(tables.values(), (token, segment, position), strict=True)
            whole = sum(table[row] for table, row in rows)
            yield (
                {"layer": given, "token": token, "segment": segment, "position": position},
                {
                    "sum": whole[:6].tolist(),
                    "mean": whole.mean().item(),
                    "variance": whole.var(correction=0).item(),
                    "normalized": out[0, 0, :6].tolist(),
                },
            )


# Positions


def sinusoids() -> Iterator[Case]:
    for width, base, position in product(
        [2, 4, 8, 32, 64], [2, 100, 10000, 100000], [0, 1, 20, 127, 9999]
    ):
        row = sinusoidal(torch.tensor(position), width, float(base), dtype=float64)
        others = sinusoidal(torch.arange(16), width, float(base), dtype=float64)
        yield (
            {"width": width, "base": base, "position": position, "length": 16},
            {"row": row.tolist(), "similarity": (others @ row / (row @ row)).tolist()},
        )


def rotations() -> Iterator[Case]:
    layouts = {"half": "half-split", "interleaved": "interleaved"}
    places = [0, 1, 3, 32, 1000, 100000]
    for seed, (width, base, both) in enumerate(
        product([2, 4, 64], [100, 10000], product(layouts, layouts))
    ):
        q, k = numbers((width,), seed), numbers((width,), seed + 500)
        for m, n in zip(places, [*places[1:], places[0]], strict=True):
            turn = frequencies(width, float(base))
            turned = [
                rotate(
                    x[None, None],
                    rotation(torch.tensor([at]), turn, dtype=float64),
                    layouts[layout],
                )[0, 0]  # type: ignore[arg-type]
                for x, at, layout in zip((q, k), (m, n), both, strict=True)
            ]
            yield (
                {"q": q.tolist(), "k": k.tolist(), "m": m, "n": n, "base": base, "layouts": both},
                {
                    "q": turned[0].tolist(),
                    "k": turned[1].tolist(),
                    "score": (turned[0] @ turned[1]).item(),
                },
            )


def biases() -> Iterator[Case]:
    sizes = [(32, 128), (8, 20)]
    choices = product(["alibi", "t5"], [4, 8, 12], [0, 3], [1, 4, 24], [True, False], sizes)
    for seed, (kind, heads, head, length, causal, (buckets, distance)) in enumerate(choices):
        table, scores = numbers((buckets, heads), seed), numbers((24,), seed + 300)
        places = torch.arange(length)
        if kind == "alibi":
            slopes = alibi_slopes(heads, dtype=float64)
            bias = alibi_bias(places, places, slopes, None if causal else slopes)[head]
        else:
            bias = t5_bias(table, length, length, 0, distance, not causal)[head]
        if causal:
            bias = bias.masked_fill(places[None] > places[:, None], -math.inf)
        offset = places[None] - places[:, None]
        own = scores[:length]
        yield (
            {
                "kind": kind, "heads": heads, "head": head, "length": length, "causal": causal,
                "buckets": buckets, "distance": distance, "table": table.tolist(), "scores": scores.tolist(),
            },
            {
                "bias": bias.tolist(),
                "bucket": t5_buckets(offset, buckets, distance, not causal).tolist(),
                "before": own.softmax(0).tolist(),
                "after": (own + bias[-1]).softmax(0).tolist(),
            },
        )  # fmt: skip


def orders() -> Iterator[Case]:
    for seed, (order, positions) in enumerate(
        product(["012", "021", "102", "120", "201", "210"], [False, True])
    ):
        for more in range(9):
            x, query, key, value, places = (
                numbers(shape, 10 * (9 * seed + more) + i)
                for i, shape in enumerate([(3, 4), (4, 4), (4, 4), (4, 4), (3, 4)])
            )
            rows = x[[int(word) for word in order]] + (places if positions else 0)
            weights = attention_weights((rows @ query)[None], (rows @ key)[None])[0]
            given = {"x": x, "query": query, "key": key, "value": value, "places": places}
            yield (
                {name: tensor.tolist() for name, tensor in given.items()}
                | {"order": [int(word) for word in order], "positions": positions},
                {
                    "weights": weights.tolist(),
                    "out": (weights @ rows @ value).tolist(),
                },
            )


def scores() -> Iterator[Case]:
    for seed in range(100):
        table = numbers((1 + seed % 6, 2), seed)
        hidden = numbers((2,), seed + 400) * (0 if seed == 5 else 1)
        found = F.linear(hidden, table)
        yield (
            {"table": table.tolist(), "hidden": hidden.tolist()},
            {
                "scores": found.tolist(),
                "probabilities": found.softmax(0).tolist(),
                "best": int(found.argmax()),
                "nearest": int((table - hidden).norm(dim=1).argmin()),
            },
        )


CASES: dict[str, Callable[[], Iterator[Case]]] = {
    "tokenizer": tokenizer,
    "lookup": lookups,
    "rows": rows,
    "broadcasting": broadcasting,
    "bert": bert_sums,
    "sinusoid": sinusoids,
    "rope": rotations,
    "bias": biases,
    "order": orders,
    "tying": scores,
}
