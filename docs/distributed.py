# %% [markdown] lang="en"
# # More than one process
#
# Token tables, position encodings and the attention layer of `tokpos` are ordinary modules, and
# PyTorch's own tools split them over several processes. This page gives the code, and says what
# does not work.
#
# `tokpos` has no parallel engine of its own. Three things can be split, and each has its tool.
#
# | What is split | Tool | What you have to tell it |
# |---|---|---|
# | [the table, by vocabulary](#vocabulary) | `parallelize_module`, `RowwiseParallel` | that every process has all IDs (`Replicate`) |
# | [the text, by position](#sequence) | `exchange` of [`tokpos.attention.Attention`][] | the positions of each piece |
# | [all parameters](#parameters) | `fully_shard` (FSDP2) | an encoding that learns |
#
# Code blocks that need two processes are taken from our tests and do not run here; everything that
# one process can show runs on this page.

# %% [markdown] lang="zh"
# # 多个进程
#
# `tokpos` 的嵌入表（embedding table）、位置编码（position encoding）和注意力层都是普通的模块，用 PyTorch 自带的工具就能切分到多个进程上。本页给出代码，并说明哪些做法行不通。
#
# `tokpos` 没有自己的并行框架。能切分的东西有三样，各有各的工具。
#
# | 切分什么 | 工具 | 要说明什么 |
# |---|---|---|
# | [按词表（vocabulary）切分嵌入表](#vocabulary) | `parallelize_module`、`RowwiseParallel` | 每个进程都有全部 ID（`Replicate`） |
# | [按位置切分文本](#sequence) | [`tokpos.attention.Attention`][] 的 `exchange` | 每一份的位置 |
# | [切分所有参数](#parameters) | `fully_shard`（FSDP2） | 带参数的位置编码 |
#
# 需要两个进程的代码取自我们的测试，不在本页运行；一个进程就能说明的，都在本页运行。

# %%
import torch

from tokpos import Alibi, Attention, RotaryEncoding, ShawEncoding, TokenEmbedding
from tokpos.t5 import T5Bias

torch.manual_seed(0)
torch.set_printoptions(precision=4, sci_mode=False, linewidth=80)
print("torch", torch.__version__)

# %% [markdown] lang="en"
# ## What was tested {#tested}
#
# Two processes on one machine, connected by gloo, run every scenario of
# `tests/library/one_of_two.py`; `test_distributed.py` compares outputs and gradients with those of
# a single process. Splitting by position and training under FSDP2 are tested with ten variants:
# none, sinusoidal, learned, RoPE in both layouts, ALiBi, T5, Transformer-XL, and Shaw with and
# without values. Run it yourself:
#
# ```shell
# make test ARGS=tests/library/test_distributed.py
# ```
#
# Not tested: GPUs with NCCL, more than two processes, speed.

# %% [markdown] lang="zh"
# ## 测试了什么 {#tested}
#
# 同一台机器上的两个进程用 gloo 相连，运行 `tests/library/one_of_two.py` 里的每一个场景；`test_distributed.py` 把输出和梯度与单个进程的结果作比较。按位置切分和 FSDP2 训练各测十种情形：不用编码、正弦编码、可学习的位置、旋转位置编码（RoPE）的两种配对方式、ALiBi（带线性偏置的注意力）、T5、Transformer-XL，以及有值向量和没有值向量的 Shaw。你可以自己运行：
#
# ```shell
# make test ARGS=tests/library/test_distributed.py
# ```
#
# 没有测试的：GPU 与 NCCL、多于两个的进程、速度。

# %% [markdown] lang="en"
# ## The table, split by vocabulary {#vocabulary}
#
# Each process holds some of the rows. It looks up the IDs that are its own and puts zeros for the
# others; the sum over all processes is the result. Here are both halves in one process.

# %% [markdown] lang="zh"
# ## 按词表切分嵌入表 {#vocabulary}
#
# 每个进程只存一部分行。遇到自己的 ID 就查表，别人的 ID 填零；各进程的结果相加，就是查表的结果。下面在一个进程里演示这两半。


# %%
def looked_up(rows, first, ids):
    """What the process that holds these rows gives."""
    own = (ids >= first) & (ids < first + len(rows))
    return rows[(ids - first).where(own, 0)].where(own.unsqueeze(-1), 0.0)


table = TokenEmbedding(11, 4)
upper, lower = table.weight.detach().split([6, 5])
ids = torch.tensor([[2, 9, 5, 6]])
print(looked_up(upper, 0, ids))
print(looked_up(lower, 6, ids))

# %% check=true
together = looked_up(upper, 0, ids) + looked_up(lower, 6, ids)
nobody = torch.tensor([[16]])
assert torch.equal(together, table(ids))
assert not (looked_up(upper, 0, nobody) + looked_up(lower, 6, nobody)).any()

# %% [markdown] lang="en" role="claim"
# The two halves add up to the lookup in the whole table, bit for bit. ID {{ nobody.item() }}
# belongs to nobody, and its sum is zeros: no process sees that anything is wrong.

# %% [markdown] lang="zh" role="claim"
# 两半之和与在整张表里查表逐位相等。ID {{ nobody.item() }} 不属于任何进程，相加的结果全是零：没有哪个进程看得出有错。

# %% [markdown] lang="en"
# PyTorch does this for `nn.Embedding`, and [`tokpos.embedding.TokenEmbedding`][] is one:
#
# ```python
# mesh = init_device_mesh("cpu", (2,))
# table = TokenEmbedding(V, WIDTH, scale=True)
# table = parallelize_module(table, mesh, RowwiseParallel(input_layouts=Replicate()))
# out = table(IDS)
# ```
#
# `IDS` are token IDs, `V` and `WIDTH` the sizes of the table. `table.weight` is then a `DTensor`,
# of which each process has its rows; `V` need not be divisible by the number of processes. In a
# tied head the same matrix gives each process the logits of its own part of the vocabulary. The
# head must be given the finished vectors: `full_tensor()` brings them together.
#
# ```python
# table, head = TokenEmbedding(V, WIDTH), LanguageModelHead(V, WIDTH)
# table.weight = nn.Parameter(distribute_tensor(table.weight, mesh, [Shard(0)]))
# head.weight = table.weight
# vectors = table(DTensor.from_local(IDS, mesh, [Replicate()])).full_tensor()
# vectors = DTensor.from_local(vectors, mesh, [Replicate()])
# logits = head(vectors)
# loss_of(logits.full_tensor(), IDS).backward()
# ```

# %% [markdown] lang="zh"
# PyTorch 对 `nn.Embedding` 就是这样做的，[`tokpos.embedding.TokenEmbedding`][] 正是它的子类：
#
# ```python
# mesh = init_device_mesh("cpu", (2,))
# table = TokenEmbedding(V, WIDTH, scale=True)
# table = parallelize_module(table, mesh, RowwiseParallel(input_layouts=Replicate()))
# out = table(IDS)
# ```
#
# `IDS` 是词元（token）ID，`V` 和 `WIDTH` 是表的行数和维度。此后 `table.weight` 是一个 `DTensor`，每个进程存其中自己的那些行；`V` 不必能被进程数整除。权重绑定（weight tying）时，语言模型头（LM head）用同一个矩阵，每个进程算出词表里自己那一部分的 logits（未归一化分数）。交给这个头的必须是合并好的向量，用 `full_tensor()` 合并：
#
# ```python
# table, head = TokenEmbedding(V, WIDTH), LanguageModelHead(V, WIDTH)
# table.weight = nn.Parameter(distribute_tensor(table.weight, mesh, [Shard(0)]))
# head.weight = table.weight
# vectors = table(DTensor.from_local(IDS, mesh, [Replicate()])).full_tensor()
# vectors = DTensor.from_local(vectors, mesh, [Replicate()])
# logits = head(vectors)
# loss_of(logits.full_tensor(), IDS).backward()
# ```

# %% [markdown] lang="en"
# ## The text, split by position {#sequence}
#
# A long text can be too much for one device. Then each process takes a piece of it.
# What is split is the work on queries, MLP and head. Keys and values travel, and their
# positions with them: every process gets all keys and values of a layer. Nothing in a
# piece says where it stood, so the positions are passed along.
#
# In a causal model late tokens see more keys than early ones; with a part of each kind
# both pieces see equally many. That balances the work only with a kernel that skips
# masked keys. Ours does not: it computes the scores of all queries of a piece with all
# keys, and a mask takes some away.
#
# Here are two pieces, one after the other, in one process. `exchange` is called with the keys and
# values of the piece and returns those that it may look at. In the first round it stores them; in
# the second it returns those of both pieces. We also try two mistakes: positions counted from 0 in
# each piece, and pieces that exchange nothing.

# %% [markdown] lang="zh"
# ## 按位置切分文本 {#sequence}
#
# 长文本可能一台设备放不下。这时每个进程分到一份。切分的是查询、MLP 和语言模型头的计算；键和值要连同它们的位置一起传递，每个进程都会得到一层的全部键和值。一份文本自己不知道原来在哪里，所以要把位置传进去。
#
# 因果模型里，靠后的词元看到的键比靠前的多；每一份都既有靠前的、也有靠后的，两份看到的键就一样多。但要让工作量也均匀，内核得会跳过遮住的键。我们的内核不跳过：一份里的每个查询与所有键的分数都要计算，再用掩码去掉一部分。
#
# 下面在一个进程里先后计算两份。`exchange` 收到这一份的键和值，返回这一份可以看的键和值。第一轮只把它们存下来，第二轮返回两份合起来的。另外再试两种错误：每一份都从 0 数位置；两份互不交换。

# %%
pieces = (torch.tensor([0, 1, 6, 7]), torch.tensor([2, 3, 4, 5]))
from_zero = (torch.arange(4), torch.arange(4))
for piece in pieces:
    print(piece.tolist(), "see", (piece + 1).sum().item(), "keys")


def in_order(out):
    return torch.cat(out, dim=-2)[:, torch.cat(pieces).argsort()]


def in_two_pieces(layer, x, positions=pieces):
    held = []

    def keep(cache):
        held.append(cache)
        return cache

    def gather(cache):
        one, other = held
        return one.extended(other)

    parts = [(x[:, piece], own) for piece, own in zip(pieces, positions, strict=True)]
    for part, own in parts:
        layer(part, own, exchange=keep)
    return in_order([layer(part, own, exchange=gather) for part, own in parts])


# %%
def gap(one, other):
    return (one - other).abs().max().item()


def compare(layer, x):
    whole, split = layer(x), in_two_pieces(layer, x)
    counted = in_two_pieces(layer, x, from_zero)
    alone = in_order([layer(x[:, piece]) for piece in pieces])
    right, grad = (
        torch.autograd.grad(out.square().sum(), layer.key.weight)[0] for out in (whole, split)
    )
    return gap(split, whole), gap(grad, right), gap(counted, whole), gap(alone, whole)


encodings = {
    "none": None,
    "RoPE": RotaryEncoding(8, layout="half-split"),
    "ALiBi": Alibi(4),
    "T5": T5Bias(4, bidirectional=False),
    "Shaw": ShawEncoding(8, clip=3, values=True),
}
x = torch.randn(2, 8, 32).double()
results = {}
for name, encoding in encodings.items():
    layer = Attention(32, 4, encoding, causal=True).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    results[name] = compare(layer, x)
    *_, counted, alone = results[name]
    print(f"{name:6} off by {counted:.2f} if counted from 0, by {alone:.2f} without exchange")

# %% check=true
for output, gradient, counted, alone in results.values():
    assert output < 1e-12 and gradient < 1e-10
    assert counted > 0.1 and alone > 0.1

# %% [markdown] lang="en" role="claim"
# With explicit positions and gathered keys and values, two pieces give the output of
# the whole text to 10⁻¹² and the gradient of the keys' weights to 10⁻¹⁰ in float64,
# with {{ len(encodings) - 1 }} encodings and with none. If the keys are gathered but
# each piece counts its positions from 0, or if nothing is exchanged, the output is off:
# the causal mask needs the positions too.

# %% [markdown] lang="zh" role="claim"
# 明确给出位置，再把键和值合到一起，不论用这 {{ len(encodings) - 1 }} 种位置编码中的哪一种，还是不用编码，两份的输出都与整段文本的一致，在 float64 下误差不超过 10⁻¹²，键的权重的梯度误差不超过 10⁻¹⁰。如果合并了键，却在每一份里都从 0 数位置，或者互不交换，输出就全都不对：因果掩码也要用到位置。

# %% [markdown] lang="en"
# Between two processes the gathering is a collective. It must be *one* for keys and values. With two
# of equal size, one for each, outputs are right, but the gradients of the weights of keys and values
# are off by more than half of their largest entry, and no error is raised (the test is
# `test_keys_and_values_gathered_apart_give_wrong_gradients`). So both go stacked.
#
# ```python
# def gathered(cache: KeyValueCache) -> KeyValueCache:
#     """The keys and values of both processes, one behind the other."""
#     positions = [torch.empty_like(cache.positions) for _ in range(dist.get_world_size())]
#     dist.all_gather(positions, cache.positions)
#     both = torch.stack([cache.keys, cache.values])
#     keys, values = torch.cat(differentiable.all_gather(both), dim=-2)
#     return KeyValueCache(keys, values, torch.cat(positions))
# ```
#
# This is short, and it has three limits: a padding mask is lost, all pieces must be equally long,
# and the positions must be one row for the whole batch.
#
# `differentiable` is `torch.distributed.nn.functional`, whose `all_gather` has a backward pass;
# PyTorch {{ torch.__version__ }} warns that it is deprecated. A whole model takes one `exchange` for
# each layer. Each process has the mean over its own tokens, half of all, so its part of the loss is
# half of that mean; the gradients are summed.
#
# ```python
# logits = model(IDS[:, mine], mine, exchanges=[gathered] * 2)
# (loss_of(logits, IDS[:, mine]) / 2).backward()
# for key, parameter in model.named_parameters():
#     dist.all_reduce(parameter.grad)
# ```
#
# The test takes the tokens themselves as targets; to train, shift the whole text first, then cut.

# %% [markdown] lang="zh"
# 换成两个进程，这一步合并就是一次集合通信。键和值必须放在*同一次*里：如果键一次、值一次，两次大小相同，那么输出正确，键和值的权重的梯度却差得很远，误差超过梯度最大值的一半，而且不报错（测试是 `test_keys_and_values_gathered_apart_give_wrong_gradients`）。所以把两者叠在一起传。
#
# ```python
# def gathered(cache: KeyValueCache) -> KeyValueCache:
#     """The keys and values of both processes, one behind the other."""
#     positions = [torch.empty_like(cache.positions) for _ in range(dist.get_world_size())]
#     dist.all_gather(positions, cache.positions)
#     both = torch.stack([cache.keys, cache.values])
#     keys, values = torch.cat(differentiable.all_gather(both), dim=-2)
#     return KeyValueCache(keys, values, torch.cat(positions))
# ```
#
# 这个函数很短，也有三个限制：填充掩码会丢掉，各份必须一样长，位置只能是整个批量共用的一行。
#
# `differentiable` 是 `torch.distributed.nn.functional`，其中的 `all_gather` 能反向传播；PyTorch {{ torch.__version__ }} 会警告说它已被弃用。整个模型的每一层都要传入一个 `exchange`。每个进程算的是自己那一半词元的平均损失，所以取它的一半作为在总损失里的份额；梯度则相加。
#
# ```python
# logits = model(IDS[:, mine], mine, exchanges=[gathered] * 2)
# (loss_of(logits, IDS[:, mine]) / 2).backward()
# for key, parameter in model.named_parameters():
#     dist.all_reduce(parameter.grad)
# ```
#
# 测试里的目标就是词元自身；真正训练时，要先把整段文本错开一位，再切分。

# %% [markdown] lang="en"
# ## All parameters, split by FSDP2 {#parameters}
#
# FSDP2 shards every parameter along its first axis and brings a block's parameters together when
# the block's `forward` is called. But nobody calls the `forward` of a position encoding: the model
# enters by other methods of [`tokpos.position.PositionEncoding`][]: its three doors, and `into_values`,
# the side door by which Shaw adds to the values. An encoding that learns has to be wrapped itself,
# and its doors registered. RoPE, ALiBi and the sinusoids have no parameters and need nothing.
#
# ```python
# DOORS = ("into_input", "into_queries_and_keys", "into_scores", "into_values")
#
# if list(model.encoding.parameters()):
#     fully_shard(model.encoding, mesh=mesh)
#     for door in DOORS:
#         register_fsdp_forward_method(model.encoding, door)
# for block in model.blocks:
#     fully_shard(block, mesh=mesh)
# fully_shard(model, mesh=mesh)
# ```
#
# A model that does not fit into the memory of one device is made on the meta device, which has
# none, then sharded, then filled piece by piece. On a model from the meta device `to_empty` breaks
# the tie between table and head, unless FSDP2 has already sharded the parameters, as in the block
# below: between `DTensor`s the tie survives. The model's `reset_parameters` restores the tie if it
# was lost, and then initializes all parameters. To load a checkpoint instead, restore the tie with
# [`tokpos.head.tie`][], which works after sharding too.
#
# ```python
# with torch.device("meta"):
#     model = CausalLanguageModel(V, WIDTH, 2, HEADS, CAUSAL["rope"]())
# for block in model.blocks:
#     fully_shard(block, mesh=mesh)
# fully_shard(model, mesh=mesh)
# model.to_empty(device="cpu")
# model.reset_parameters()
# assert is_tied(model.embedding, model.head)
# ```

# %% [markdown] lang="zh"
# ## 用 FSDP2 切分所有参数 {#parameters}
#
# FSDP2 沿第 0 轴切分每个参数，调用某一块的 `forward` 时，再把这一块的参数合起来。可是模型从不调用位置编码的 `forward`，它调用的是 [`tokpos.position.PositionEncoding`][] 的另外几个方法：三扇“门”，再加上 Shaw 给值加向量的侧门 `into_values`。FSDP2 并不知道要在那里合并参数。所以，带参数的编码要单独用 FSDP2 包一层，再把这些方法登记上去。RoPE、ALiBi 和正弦编码没有参数，什么都不用做。
#
# ```python
# DOORS = ("into_input", "into_queries_and_keys", "into_scores", "into_values")
#
# if list(model.encoding.parameters()):
#     fully_shard(model.encoding, mesh=mesh)
#     for door in DOORS:
#         register_fsdp_forward_method(model.encoding, door)
# for block in model.blocks:
#     fully_shard(block, mesh=mesh)
# fully_shard(model, mesh=mesh)
# ```
#
# 一台设备的内存放不下的模型，可以先在不占内存的 meta 设备上建好，切分，再由各个进程填上自己的那一份。对来自 meta 设备的模型，`to_empty` 会切断嵌入表与语言模型头之间的绑定；只有像这里这样，参数先由 FSDP2 切分成 `DTensor`，绑定才会保留。绑定若已丢失，模型的 `reset_parameters` 会先恢复它，再把所有参数随机初始化。如果不随机初始化，而是加载检查点，就用 [`tokpos.head.tie`][] 恢复绑定，切分之后调用也有效。
#
# ```python
# with torch.device("meta"):
#     model = CausalLanguageModel(V, WIDTH, 2, HEADS, CAUSAL["rope"]())
# for block in model.blocks:
#     fully_shard(block, mesh=mesh)
# fully_shard(model, mesh=mesh)
# model.to_empty(device="cpu")
# model.reset_parameters()
# assert is_tied(model.embedding, model.head)
# ```

# %%
from tokpos import CausalLanguageModel, is_tied

with torch.device("meta"):
    encoding = RotaryEncoding(8, layout="half-split")
    model = CausalLanguageModel(11, 32, 2, 4, encoding)
model.to_empty(device="cpu")
before = is_tied(model.embedding, model.head)
model.reset_parameters()
print("tied after to_empty:", before)
print("tied after reset_parameters:", is_tied(model.embedding, model.head))

# %% check=true
assert not before and is_tied(model.embedding, model.head)
assert 0.01 < model.embedding.weight.std() < 0.03

# %% [markdown] lang="en" role="claim"
# In one process, without sharding: `to_empty` loses the tie, `reset_parameters` restores it and
# initializes the table with a standard deviation of
# {{ model.embedding.weight.std().item():.3f }}.

# %% [markdown] lang="zh" role="claim"
# 在一个进程里不切分时：`to_empty` 丢掉绑定，`reset_parameters` 恢复绑定，并把嵌入表随机初始化，标准差为 {{ model.embedding.weight.std().item():.3f }}。

# %% [markdown] lang="en"
# ## What does not work {#does-not-work}
#
# Seen with PyTorch {{ torch.__version__ }} in two gloo processes. Silent faults first.
#
# | What you do | What happens | What to do |
# |---|---|---|
# | an ID without a row in a split table | zeros, no error: the values in a `DTensor` are not checked | check the IDs before they become one: [`tokpos.lookup.check_ids`][] |
# | keys and values gathered in two collectives of equal size | right outputs, wrong gradients, no error | stack them, gather once |
# | a split table's output goes to a tied head by `redistribute` | forward works, backward raises `AssertionError` | `full_tensor()`, then `from_local` |
# | `sparse=True` under FSDP2 | `NotImplementedError` in the backward pass | dense gradients |
# | `sparse=True` in a split table | `NotImplementedError` | dense gradients |
# | FSDP2 by block, with a learned encoding that is not wrapped itself | `TypeError` in the forward pass | wrap the encoding, register its doors |

# %% [markdown] lang="zh"
# ## 行不通的做法 {#does-not-work}
#
# 以下是 PyTorch {{ torch.__version__ }}、两个 gloo 进程下的结果，不报错的排在前面。
#
# | 做法 | 结果 | 应当怎样做 |
# |---|---|---|
# | 在切分后的表里查一个没有对应行的 ID | 得到零，不报错：`DTensor` 里的数值不检查 | 在变成 DTensor 之前检查 ID：[`tokpos.lookup.check_ids`][] |
# | 键和值分两次收集，两次大小相同 | 输出正确，梯度错误，不报错 | 叠在一起，只收集一次 |
# | 切分后的表的输出经 `redistribute` 交给绑定的头 | 前向传播正常，反向传播报 `AssertionError` | 先 `full_tensor()`，再 `from_local` |
# | FSDP2 下用 `sparse=True` | 反向传播时报 `NotImplementedError` | 用稠密梯度 |
# | 切分后的表用 `sparse=True` | 报 `NotImplementedError` | 用稠密梯度 |
# | FSDP2 按块切分，编码带参数，却没有单独处理 | 前向传播时报 `TypeError` | 把编码包一层，登记它的门 |

# %% raises=IndexError
from tokpos.lookup import check_ids

check_ids(nobody, 11)

# %% [markdown] lang="en"
# ## What to read {#what-to-read}
#
# - PyTorch's manual: [tensor parallelism](https://docs.pytorch.org/docs/stable/distributed.tensor.parallel.html),
#   [FSDP2](https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html).
# - On this site: [the table](lessons/lookup.md), and
#   [how papers, code and libraries differ](differences.md).
# - The code: [`tokpos.cache.KeyValueCache`][], [`tokpos.head`][].

# %% [markdown] lang="zh"
# ## 延伸阅读 {#what-to-read}
#
# - PyTorch 手册：[张量并行](https://docs.pytorch.org/docs/stable/distributed.tensor.parallel.html)，[FSDP2](https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html)。
# - 本站：[嵌入表](lessons/lookup.md)，以及[论文、代码与各个库有何不同](differences.md)。
# - 代码：[`tokpos.cache.KeyValueCache`][]、[`tokpos.head`][]。
