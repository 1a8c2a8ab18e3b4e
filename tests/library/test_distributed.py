"""The same modules in two processes: each result equals that of a single one.

The scenarios are in one_of_two.py. Two processes run all of them once, over gloo on the CPU.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.library.every_encoding import CAUSAL, WIDTH
from tests.library.one_of_two import IDS, PLACES, V, loss_of, model_with
from tokpos.embedding import TokenEmbedding
from tokpos.head import LanguageModelHead, tie

ROOT = Path(__file__).parents[2]
every_encoding = pytest.mark.parametrize("name", sorted(CAUSAL))

pytestmark = pytest.mark.skipif(
    not (torch.distributed.is_available() and torch.distributed.is_gloo_available()),
    reason="torch was built without gloo",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What each of two processes kept of each scenario."""
    folder = tmp_path_factory.mktemp("two")
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    environment.setdefault("GLOO_SOCKET_IFNAME", "lo")
    command = [sys.executable, "-m", "tests.library.one_of_two"]
    logs = [folder / f"{rank}.txt" for rank in range(2)]
    processes = []
    try:
        for rank, log in enumerate(logs):
            with log.open("w") as out:
                processes.append(
                    subprocess.Popen(
                        [*command, str(rank), str(folder)],
                        cwd=ROOT,
                        env=environment,
                        stdout=out,
                        stderr=subprocess.STDOUT,
                    )
                )
        codes = [process.wait(timeout=240) for process in processes]
    finally:
        for process in processes:
            process.kill()
    if any(codes):
        pytest.fail("\n".join(log.read_text()[-3000:] for log in logs), pytrace=False)
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


def of(results, scenario):
    """What both processes say of a scenario that has to work."""
    for result in results:
        assert "error" not in result[scenario], result[scenario]["error"]
    return [result[scenario] for result in results]


def close(here, there, atol=1e-12):
    torch.testing.assert_close(here, there, rtol=0, atol=atol)


# The table split by vocabulary


@pytest.mark.parametrize("kind", ["nn.Embedding", "TokenEmbedding", "TokenEmbedding, by hand"])
def test_a_table_split_by_vocabulary(results, kind):
    torch.manual_seed(0)
    table = nn.Embedding(V, WIDTH) if kind == "nn.Embedding" else TokenEmbedding(V, WIDTH)
    scale = 1 if kind == "nn.Embedding" else WIDTH**0.5
    out = table(IDS) * scale
    out.square().sum().backward()
    both = of(results, f"rows of {kind}")
    assert [each["mine"][0] for each in both] == [6, 5]  # V = 11, so one row less in the second
    for each in both:
        close(each["out"], out.detach(), atol=1e-5)
        close(each["grad"], table.weight.grad, atol=1e-4)


def test_a_tied_head_split_by_vocabulary(results):
    torch.manual_seed(0)
    table, head = TokenEmbedding(V, WIDTH), LanguageModelHead(V, WIDTH)
    tie(table, head)
    logits = head(table(IDS))
    loss_of(logits, IDS).backward()
    for each in of(results, "a tied head split by vocabulary"):
        assert each["tied"] and each["pieces"] == ["S(2)"]  # each process scores its own tokens
        close(each["out"], logits.detach(), atol=1e-4)
        close(each["grad"], table.weight.grad, atol=1e-5)


# Positions split along the sequence


@every_encoding
def test_the_sequence_split_equals_the_whole(results, name):
    model = model_with(name)
    logits = model(IDS)
    loss_of(logits, IDS).backward()
    for places, each in zip(PLACES, of(results, f"sequence, {name}"), strict=True):
        close(each["out"], logits[:, places].detach())
        for key, parameter in model.named_parameters():
            close(each["grads"][key], parameter.grad)


# Parameters split by FSDP2


@pytest.mark.parametrize("scenario", [*sorted(CAUSAL), "whole model"])
def test_training_under_fsdp_equals_one_process_and_keeps_the_tie(results, scenario):
    model = model_with("t5" if scenario == "whole model" else scenario)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for _ in range(2):
        logits = model(IDS[:, :-1])
        apart = [loss_of(logits[rank], IDS[rank, 1:]) for rank in range(2)]
        optimizer.zero_grad()
        (sum(apart) / 2).backward()
        optimizer.step()
        losses.append(torch.stack(apart).detach())
    both = of(results, f"step, {scenario}")
    close(torch.stack([each["losses"] for each in both], dim=1), torch.stack(losses))
    for each in both:
        assert each["tied"] and each["split"]
        for key, value in model.state_dict().items():
            close(each["state"][key], value)


def test_a_model_from_the_meta_device_is_filled_after_sharding(results):
    for each in of(results, "from the meta device"):
        assert each["tied_before"]  # plain tensors lose the tie in to_empty, DTensors keep it
        assert each["tied"] and 0.015 < each["std"] < 0.025


# What does not work, and is said on the page


@pytest.mark.parametrize(
    ("scenario", "kind", "words"),
    [
        ("a door without its parameters", "TypeError", ""),
        ("sparse, FSDP", "NotImplementedError", "SparseCPU"),
        ("sparse, split table", "NotImplementedError", "sparse"),
    ],
)
def test_what_does_not_work(results, scenario, kind, words):
    for result in results:
        name, _, message = result[scenario].get("error", "").partition(": ")
        assert name == kind and words in message, result[scenario]


def test_keys_and_values_gathered_apart_give_wrong_gradients(results):
    model = model_with("rope")
    logits = model(IDS)
    loss_of(logits, IDS).backward()
    for places, each in zip(PLACES, of(results, "sequence, two collectives"), strict=True):
        close(each["out"], logits[:, places].detach())
        for part in ("key.weight", "value.weight"):
            right = model.get_parameter(f"blocks.1.attention.{part}").grad
            wrong = each["grads"][f"blocks.1.attention.{part}"]
            assert (wrong - right).abs().max() > 0.5 * right.abs().max()


def test_redistribute_into_a_tied_head_has_no_way_back(results):
    torch.manual_seed(0)
    table, head = TokenEmbedding(V, WIDTH), LanguageModelHead(V, WIDTH)
    tie(table, head)
    logits = head(table(IDS))
    for each in of(results, "a tied head behind redistribute"):
        close(each["out"], logits.detach(), atol=1e-4)
        assert each["raised"] == "AssertionError"


def test_no_value_of_a_split_id_is_checked_and_its_row_is_zeros(results):
    for each in of(results, "an ID without a row"):
        assert not each["out"].any()


def test_a_tie_made_after_sharding_is_alive(results):
    assert all(each["tied"] for each in of(results, "tied after sharding"))
