"""One of two processes: runs every scenario of test_distributed.py, and keeps what came out.

python -m tests.library.one_of_two RANK FOLDER
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as differentiable
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module
from torch.utils._pytree import tree_map_only

from tests.library.every_encoding import CAUSAL, HEADS, WIDTH, make
from tokpos.cache import KeyValueCache
from tokpos.embedding import TokenEmbedding
from tokpos.head import LanguageModelHead, is_tied, tie
from tokpos.language_model import CausalLanguageModel

V, S, B = 11, 8, 2
IDS = torch.randint(V, (B, S), generator=torch.Generator().manual_seed(2))
# Each process has an early and a late piece, so that both see about as many keys.
PLACES = (torch.tensor([0, 1, 6, 7]), torch.tensor([2, 3, 4, 5]))
DOORS = ("into_input", "into_queries_and_keys", "into_scores", "into_values")


def model_with(name: str, **settings: object) -> CausalLanguageModel:
    torch.manual_seed(0)
    model = CausalLanguageModel(V, WIDTH, 2, HEADS, make(name), **settings).double()
    for parameter in model.embedding.parameters():
        nn.init.normal_(parameter)
    return model


def loss_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten())


# The table split by vocabulary


def rows(rank: int, mesh: DeviceMesh, make: Callable[[], nn.Embedding]) -> dict:
    torch.manual_seed(0)
    table = make()
    table = parallelize_module(table, mesh, RowwiseParallel(input_layouts=Replicate()))
    out = table(IDS)
    out.square().sum().backward()
    return {
        "out": out.detach(),
        "grad": table.weight.grad.full_tensor(),
        "mine": list(table.weight.to_local().shape),
    }


def rows_by_hand(rank: int, mesh: DeviceMesh) -> dict:
    """Three lines, for any module that looks rows up or multiplies with them."""
    torch.manual_seed(0)
    table = TokenEmbedding(V, WIDTH, scale=True)
    table.weight = nn.Parameter(distribute_tensor(table.weight, mesh, [Shard(0)]))
    ids = DTensor.from_local(IDS, mesh, [Replicate()])
    out = table(ids).full_tensor()
    out.square().sum().backward()
    return {
        "out": out.detach(),
        "grad": table.weight.grad.full_tensor(),
        "mine": list(table.weight.to_local().shape),
    }


def a_tied_head_split_by_vocabulary(rank: int, mesh: DeviceMesh) -> dict:
    torch.manual_seed(0)
    table, head = TokenEmbedding(V, WIDTH), LanguageModelHead(V, WIDTH)
    table.weight = nn.Parameter(distribute_tensor(table.weight, mesh, [Shard(0)]))
    head.weight = table.weight
    # Each process has the rows of its own tokens: they must meet before the head reads them.
    # Through a plain tensor, since DTensor knows no way back from the head's sum to the table's.
    vectors = table(DTensor.from_local(IDS, mesh, [Replicate()])).full_tensor()
    vectors = DTensor.from_local(vectors, mesh, [Replicate()])
    logits = head(vectors)
    pieces = [str(placement) for placement in logits.placements]
    loss_of(logits.full_tensor(), IDS).backward()
    return {
        "out": logits.full_tensor().detach(),
        "grad": table.weight.grad.full_tensor(),
        "tied": is_tied(table, head),
        "pieces": pieces,
    }


def a_tied_head_behind_redistribute(rank: int, mesh: DeviceMesh) -> dict:
    torch.manual_seed(0)
    table, head = TokenEmbedding(V, WIDTH), LanguageModelHead(V, WIDTH)
    table.weight = nn.Parameter(distribute_tensor(table.weight, mesh, [Shard(0)]))
    head.weight = table.weight
    vectors = table(DTensor.from_local(IDS, mesh, [Replicate()]))
    logits = head(vectors.redistribute(mesh, [Replicate()])).full_tensor()
    result = {"out": logits.detach(), "raised": ""}
    try:
        loss_of(logits, IDS).backward()
    except Exception as error:
        result["raised"] = type(error).__name__
    return result


def an_id_without_a_row_in_a_split_table(rank: int, mesh: DeviceMesh) -> dict:
    table = TokenEmbedding(V, WIDTH)
    table = parallelize_module(table, mesh, RowwiseParallel(input_layouts=Replicate()))
    return {"out": table(torch.tensor([[V + 5]])).detach()}


# Positions split along the sequence


def gathered(cache: KeyValueCache) -> KeyValueCache:
    """The keys and values of both processes, one behind the other."""
    positions = [torch.empty_like(cache.positions) for _ in range(dist.get_world_size())]
    dist.all_gather(positions, cache.positions)
    both = torch.stack([cache.keys, cache.values])
    keys, values = torch.cat(differentiable.all_gather(both), dim=-2)
    return KeyValueCache(keys, values, torch.cat(positions))


def the_sequence_split(rank: int, mesh: DeviceMesh, name: str) -> dict:
    model, mine = model_with(name), PLACES[rank]
    logits = model(IDS[:, mine], mine, exchanges=[gathered] * 2)
    # Each process has the mean over half of the tokens: half of it is its part of the whole.
    (loss_of(logits, IDS[:, mine]) / 2).backward()
    grads = {}
    for key, parameter in model.named_parameters():
        dist.all_reduce(parameter.grad)
        grads[key] = parameter.grad
    return {"out": logits.detach(), "grads": grads}


def gathered_apart(cache: KeyValueCache) -> KeyValueCache:
    """The same with a collective each for keys and values: wrong, and silent."""
    positions = [torch.empty_like(cache.positions) for _ in range(dist.get_world_size())]
    dist.all_gather(positions, cache.positions)
    keys, values = (
        torch.cat(differentiable.all_gather(each), dim=-2) for each in (cache.keys, cache.values)
    )
    return KeyValueCache(keys, values, torch.cat(positions))


def the_sequence_split_in_two_collectives(rank: int, mesh: DeviceMesh) -> dict:
    model, mine = model_with("rope"), PLACES[rank]
    logits = model(IDS[:, mine], mine, exchanges=[gathered_apart] * 2)
    (loss_of(logits, IDS[:, mine]) / 2).backward()
    grads = {}
    for key, parameter in model.named_parameters():
        dist.all_reduce(parameter.grad)
        grads[key] = parameter.grad
    return {"out": logits.detach(), "grads": grads}


# Parameters split by FSDP2


def sharded(name: str, mesh: DeviceMesh, by_block: bool, **settings: object) -> nn.Module:
    model = model_with(name, **settings)
    if by_block:
        if list(model.encoding.parameters()):
            # What is called is a door, not forward: FSDP must gather the parameters there too.
            fully_shard(model.encoding, mesh=mesh)
            for door in DOORS:
                register_fsdp_forward_method(model.encoding, door)
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def a_training_step(rank: int, mesh: DeviceMesh, name: str, by_block: bool) -> dict:
    model = sharded(name, mesh, by_block)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    mine = IDS[rank : rank + 1]  # one sample of the batch each
    losses = []
    for _ in range(2):
        loss = loss_of(model(mine[:, :-1]), mine[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    split = all(isinstance(parameter, DTensor) for parameter in model.parameters())
    return {
        "losses": torch.stack(losses),
        "tied": is_tied(model.embedding, model.head),
        "split": split,
        "state": {key: value.full_tensor() for key, value in model.state_dict().items()},
    }


def from_the_meta_device(rank: int, mesh: DeviceMesh) -> dict:
    with torch.device("meta"):
        model = CausalLanguageModel(V, WIDTH, 2, HEADS, CAUSAL["rope"]())
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    model.to_empty(device="cpu")
    tied_before = is_tied(model.embedding, model.head)
    torch.manual_seed(0)
    model.reset_parameters()
    std = model.embedding.weight.full_tensor().std()
    loss_of(model(IDS), IDS).backward()
    return {
        "tied_before": tied_before,
        "tied": is_tied(model.embedding, model.head),
        "std": std.item(),
    }


def a_door_without_its_parameters(rank: int, mesh: DeviceMesh) -> dict:
    model = model_with("learned")
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)(IDS)
    return {}


def sparse_gradients_under_fsdp(rank: int, mesh: DeviceMesh) -> dict:
    table = fully_shard(TokenEmbedding(V, WIDTH, sparse=True), mesh=mesh)
    table(IDS).sum().backward()
    return {"sparse": table.weight.grad.to_local().is_sparse}


def sparse_gradients_of_a_split_table(rank: int, mesh: DeviceMesh) -> dict:
    table = TokenEmbedding(V, WIDTH, sparse=True)
    table.weight = nn.Parameter(distribute_tensor(table.weight, mesh, [Shard(0)]))
    table(DTensor.from_local(IDS, mesh, [Replicate()])).full_tensor().sum().backward()
    return {"sparse": table.weight.grad.to_local().is_sparse}


def retied_after_sharding(rank: int, mesh: DeviceMesh) -> dict:
    model = model_with("rope", tied=False)
    fully_shard(model, mesh=mesh)
    tie(model.embedding, model.head)
    loss_of(model(IDS), IDS).backward()
    return {"tied": is_tied(model.embedding, model.head)}


SCENARIOS = {
    "rows of nn.Embedding": partial(rows, make=partial(nn.Embedding, V, WIDTH)),
    "rows of TokenEmbedding": partial(rows, make=partial(TokenEmbedding, V, WIDTH, scale=True)),
    "rows of TokenEmbedding, by hand": rows_by_hand,
    "a tied head split by vocabulary": a_tied_head_split_by_vocabulary,
    "a tied head behind redistribute": a_tied_head_behind_redistribute,
    "an ID without a row": an_id_without_a_row_in_a_split_table,
    **{f"sequence, {name}": partial(the_sequence_split, name=name) for name in CAUSAL},
    "sequence, two collectives": the_sequence_split_in_two_collectives,
    **{f"step, {n}": partial(a_training_step, name=n, by_block=True) for n in CAUSAL},
    "step, whole model": partial(a_training_step, name="t5", by_block=False),
    "from the meta device": from_the_meta_device,
    "a door without its parameters": a_door_without_its_parameters,
    "sparse, FSDP": sparse_gradients_under_fsdp,
    "sparse, split table": sparse_gradients_of_a_split_table,
    "tied after sharding": retied_after_sharding,
}


def main(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder / 'meeting'}",  # no port that another test could hold
        rank=rank,
        world_size=2,
        timeout=timedelta(seconds=60),
    )
    mesh = init_device_mesh("cpu", (2,))
    results = {}
    for name, scenario in SCENARIOS.items():
        try:
            # A clone waits for a tensor that is still on its way.
            results[name] = tree_map_only(torch.Tensor, torch.clone, scenario(rank, mesh))
        except Exception as error:  # one that fails must not leave the other process waiting
            traceback.print_exc()
            results[name] = {"error": f"{type(error).__name__}: {error}"[:300]}
        dist.barrier()
    torch.save(results, folder / f"{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
