"""The experiment of the last lesson: its two texts, its training, its measure."""

from __future__ import annotations

import inspect
import math

import pytest
import torch

from tokpos import results
from tokpos.length import (
    ENCODINGS,
    LETTERS,
    RATE,
    STEPS,
    TASKS,
    TESTED,
    TRAINED,
    _seen_before,
    losses,
    recall,
    spelling,
    train,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("length", [1, 2, TRAINED + 1, TESTED])
def test_texts_have_the_length_and_only_known_tokens(task, length):
    ids = TASKS[task](5, length, generator())
    assert ids.shape == (5, length) and ids.dtype == torch.int64
    assert 0 <= ids.min() and ids.max() < LETTERS


@pytest.mark.parametrize("task", TASKS)
def test_texts_follow_their_generator(task):
    one, same, other = (TASKS[task](3, 50, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)


def test_spelling_writes_words_of_one_list():
    lists = []
    for seed in (0, 1):
        text = " ".join(map(str, spelling(1, 20_000, generator(seed))[0].tolist()))
        words = text.split(" 0 ")[1:-1]  # those at the ends may be cut
        assert all(2 <= len(word.split()) <= 5 for word in words)
        lists.append(set(words))
    assert lists[0] == lists[1] and len(lists[0]) == 40


def test_spelling_begins_in_the_middle_of_a_word_too():
    starts = spelling(500, 4, generator())[:, 0]
    assert (starts == 0).any() and len(starts.unique()) > 10


def test_recall_repeats_each_key_with_its_value():
    ids = recall(20, 200, generator())
    keys, values = ids[:, ::2], ids[:, 1::2]
    assert keys.max() < 4 <= values.min()
    for row, answers in zip(keys.tolist(), values.tolist(), strict=True):
        first = dict(reversed(list(zip(row, answers, strict=True))))
        assert answers == [first[key] for key in row]
    assert len({tuple(row) for row in values[:, :5].tolist()}) > 1  # each text has its own pairs


def test_a_key_counts_when_it_stood_further_left():
    ids = torch.tensor([[0, 9, 1, 7, 0, 9, 0, 9, 3, 9]])
    assert _seen_before(ids)[0].nonzero().flatten().tolist() == [4, 6]
    assert not _seen_before(spelling(1, 2, generator())).any()


def test_losses_of_a_model_that_guesses():
    model = train("spelling", "none", 0, steps=1)
    with torch.no_grad():
        model.head.weight.zero_()
    for task in TASKS:
        each = losses(model, task, 0, count=8)
        assert each.shape == (TESTED - 1,)
        counted = each[~each.isnan()]
        assert torch.allclose(counted, torch.tensor(math.log(LETTERS)))
    # In `recall` only keys count, which stand at even places, and never the first.
    assert each[1::2].isnan().all() and each[0].isnan() and not each[40::2].isnan().any()


def test_a_short_training_lowers_the_loss():
    before, after = (
        losses(train("spelling", "alibi", 0, steps=steps), "spelling", 0, count=8)[:TRAINED].mean()
        for steps in (1, 40)
    )
    assert before > 3 and after < before - 0.5


def test_the_seed_decides_the_weights():
    one, same, other = (train("recall", "rope", seed, steps=2).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["embedding.weight"], other["embedding.weight"])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_is_trained_and_tested_at_full_length(encoding):
    model = train("recall", encoding, 0, steps=1)
    assert not model.training
    assert losses(model, "recall", 0, count=1)[40::2].isfinite().all()


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="task must be one of spelling, recall; got 'copy'"):
        train("copy", "none", 0)
    with pytest.raises(ValueError, match="encoding must be one of none, .*alibi; got 'rotary'"):
        train("recall", "rotary", 0)
    with pytest.raises(ValueError, match="task must be one of spelling, recall; got 'copy'"):
        losses(train("recall", "none", 0, steps=1), "copy", 0)


def test_the_kept_losses_are_of_models_trained_so():
    kept = results.load("length").data
    assert (kept["steps"], kept["rate"]) == (STEPS, RATE)
    assert inspect.signature(train).parameters["steps"].default == STEPS
    assert (kept["trained"], kept["tested"]) == (TRAINED, TESTED)
