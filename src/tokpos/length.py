"""Trained on short sequences, tested on long ones: the experiment that compares encodings.

Two tasks make text that never ends, so that a model can be trained on its first 32 tokens and
tested far beyond. In `spelling` the next letter depends on a few letters before it. In `recall` it
depends on a pair that may stand anywhere before. Press et al., *Train Short, Test Long* (ALiBi,
2022), ask the same of large models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from tokpos._types import Float, Int, Tensor
from tokpos.alibi import Alibi
from tokpos.language_model import CausalLanguageModel
from tokpos.learned import LearnedEncoding
from tokpos.position import PositionEncoding
from tokpos.rope import RotaryEncoding
from tokpos.shaw import ShawEncoding
from tokpos.sinusoidal import SinusoidalEncoding
from tokpos.t5 import T5Bias
from tokpos.transformer_xl import TransformerXLEncoding

WIDTH, HEADS, LAYERS = 64, 4, 2
TRAINED = 32
"""Length of the sequences that a model is trained on."""

TESTED = 256
"""Length of the sequences that it is tested on."""

STEPS, RATE = 1500, 3e-3
"""How many updates a model is trained for, and the largest learning rate of them (Adam)."""

LETTERS = 25
_SPACE = 0
_WORDS = 40
_PAIRS = 4

ENCODINGS: dict[str, Callable[[], PositionEncoding]] = {
    "none": PositionEncoding,
    "sinusoidal": lambda: SinusoidalEncoding(WIDTH),
    "learned": lambda: LearnedEncoding(TESTED, WIDTH),
    "shaw": lambda: ShawEncoding(WIDTH // HEADS, 16),
    "transformer-xl": lambda: TransformerXLEncoding(HEADS, WIDTH // HEADS),
    "t5": lambda: T5Bias(HEADS, 16, 64, bidirectional=False),
    "rope": lambda: RotaryEncoding(WIDTH // HEADS, layout="half-split"),
    "alibi": lambda: Alibi(HEADS),
}
"""What makes each encoding for one layer of the model."""


def spelling(count: int, length: int, generator: torch.Generator) -> Int[Tensor, "B S"]:
    """Words of a fixed list in random order, letter by letter, a space after each.

    The letters inside a word follow from those before them; the first letter of the next word does
    not. So the least possible loss is above zero, and the same at every place.

    Parameters
    ----------
    count
        Number of sequences B.
    length
        Their length S.
    generator
        Draws the words. The list itself is always the same.

    Returns
    -------
    Int[Tensor, "B S"]
        Token IDs below `LETTERS`; 0 is the space.
    """
    fixed = torch.Generator().manual_seed(7)
    sizes = torch.randint(2, 6, (_WORDS,), generator=fixed).tolist()
    words = [torch.randint(1, LETTERS, (size,), generator=fixed) for size in sizes]
    spaced = [F.pad(word, (0, 1), value=_SPACE) for word in words]
    longest = -(-length // 3) + 2  # words and spaces take three places or more
    rows = []
    for _ in range(count):
        chosen = torch.randint(_WORDS, (longest,), generator=generator).tolist()
        start = int(torch.randint(6, (1,), generator=generator))
        rows.append(torch.cat([spaced[word] for word in chosen])[start : start + length])
    return torch.stack(rows)


def recall(count: int, length: int, generator: torch.Generator) -> Int[Tensor, "B S"]:
    """Pairs of a key and its value, drawn again and again; each sequence has its own pairs.

    When a key comes back, its value can be told from its first appearance, however far that is.
    Keys stand at even places, values at odd ones.

    Parameters
    ----------
    count
        Number of sequences B.
    length
        Their length S.
    generator
        Draws pairs and keys.

    Returns
    -------
    Int[Tensor, "B S"]
        Token IDs below `LETTERS`: keys first, then values.
    """
    values = torch.randint(_PAIRS, LETTERS, (count, _PAIRS), generator=generator)
    keys = torch.randint(_PAIRS, (count, -(-length // 2)), generator=generator)
    return torch.stack([keys, values.gather(1, keys)], dim=-1).flatten(1)[:, :length]


TASKS: dict[str, Callable[[int, int, torch.Generator], Tensor]] = {
    "spelling": spelling,
    "recall": recall,
}
"""The tasks by name."""


def train(task: str, encoding: str, seed: int, steps: int = STEPS) -> CausalLanguageModel:
    """A small language model, trained on sequences of length `TRAINED`.

    Parameters
    ----------
    task
        A name in `TASKS`.
    encoding
        A name in `ENCODINGS`.
    seed
        Seed of the weights and of the text.
    steps
        Number of updates, each on 32 new sequences.

    Returns
    -------
    CausalLanguageModel
        In evaluation mode.

    Raises
    ------
    ValueError
        If there is no such task or encoding.
    """
    _demand("task", task, TASKS)
    _demand("encoding", encoding, ENCODINGS)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = CausalLanguageModel(LETTERS, WIDTH, LAYERS, HEADS, ENCODINGS[encoding], tied=False)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for _ in range(steps):
        ids = TASKS[task](32, TRAINED + 1, generator)
        loss = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def losses(
    model: CausalLanguageModel, task: str, seed: int, count: int = 64
) -> Float[Tensor, " S"]:
    """Mean loss of the next token at each place of long sequences.

    In the task `recall` only places count at which the key was seen before; others cannot be told.

    Parameters
    ----------
    model
        What `train` gave.
    task
        A name in `TASKS`.
    seed
        Seed of the text.
    count
        Number of sequences.

    Returns
    -------
    Float[Tensor, "S"]
        In nats, for S = `TESTED` - 1 places; where no place counts, NaN.
    """
    _demand("task", task, TASKS)
    ids = TASKS[task](count, TESTED, torch.Generator().manual_seed(10_000 + seed))
    each = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
    if task == "spelling":
        return each.mean(0)
    counted = _seen_before(ids)[:, :-1]
    return (each * counted).sum(0) / counted.sum(0)


def _seen_before(ids: Tensor) -> Tensor:
    """Whether a place holds a key that stands further left as well."""
    same = ids[:, :, None] == ids[:, None, :]
    before = torch.ones_like(same[0]).tril(-1)
    return (same & before).any(-1) & (ids < _PAIRS)


def _demand(argument: str, name: str, known: dict[str, Any]) -> None:
    if name not in known:
        raise ValueError(f"{argument} must be one of {', '.join(known)}; got {name!r}")
