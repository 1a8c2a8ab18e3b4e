# %% [markdown] lang="en"
# # A table that numbers the samples
#
# A widely copied class keeps its table as `[S, 1, D]`, for inputs whose first axis is
# the sequence, and slices it with `pe[:x.size(0)]`. When the batch comes first, it
# slices by the batch size:
# [songyangco/GETNext#2](https://github.com/songyangco/GETNext/issues/2) and
# [tanjimin/C.Origami#42](https://github.com/tanjimin/C.Origami/issues/42) found the
# same encoding at all places (another case:
# [cmu-l3/anlp-fall2025-code#1](https://github.com/cmu-l3/anlp-fall2025-code/issues/1)).

# %% [markdown] lang="zh"
# # 给样本编号的表
#
# 有一个流传很广的类，表的形状是 `[S, 1, D]`，适用于第一个轴是序列的输入，用 `pe[:x.size(0)]` 截取。如果输入的第一个轴是批量，就成了按批量大小来截：[songyangco/GETNext#2](https://github.com/songyangco/GETNext/issues/2) 和 [tanjimin/C.Origami#42](https://github.com/tanjimin/C.Origami/issues/42) 都发现，所有位置的位置编码（position encoding）竟然相同（另一例：[cmu-l3/anlp-fall2025-code#1](https://github.com/cmu-l3/anlp-fall2025-code/issues/1)）。

# %% [markdown] lang="en"
# Zeros in place of token embeddings, two samples of three tokens: what comes out is the
# encoding alone.

# %% [markdown] lang="zh"
# 用零代替词元（token）的嵌入（embedding），两个样本，每个三个词元：这样输出的就只有位置编码本身。

# %%
import torch

from tokpos import sinusoidal_table

table = sinusoidal_table(10, 4)  # [S, D]
pe = table.unsqueeze(1)  # [S, 1, D]
x = torch.zeros(2, 3, 4)  # [B, S, D]


def batch_first(x):
    return x + table[: x.size(1)]


def sequence_first(x):
    return x + pe[: x.size(0)]


right, wrong = batch_first(x), sequence_first(x)
for name, out in (("right", right), ("wrong", wrong)):
    for number, sample in enumerate(out):
        print(f"{name}, sample {number}:\n{sample.numpy().round(2)}")

# %% hide=true
from tokpos.figures.broadcasting import rows_added

rows_added(wrong_axis=True)

# %% [markdown] lang="en" role="caption"
# The same mistake with words, three samples of four tokens: each sample gets one row of
# the table, the row of its own number.

# %% [markdown] lang="zh" role="caption"
# 同一个错误，用真实的词元画出来，三个样本，每个四个词元：每个样本只拿到表中的一行，行号就是样本的编号。

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# `[B, 1, D]` broadcasts over the sequence for every batch size up to the length of the
# table, so there is no error, and the shape is right. All tokens of a sample get one and
# the same vector: the model does not see their order. Which vector that is depends on
# where in the batch the sample happens to stand.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 只要批量大小不超过表的长度，`[B, 1, D]` 总能沿序列广播（broadcasting），所以不报错，形状也对。一个样本的所有词元都加上了同一个向量，模型因此看不出顺序；加的是哪个向量，要看样本碰巧排在批量的第几个。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Feed zeros. All samples must come out alike, and the places must differ.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 输入全零。各个样本必须一样，各个位置必须两两不同。


# %%
def numbers_the_tokens(encode):
    out = encode(torch.zeros(2, 3, 4))
    samples_alike = torch.equal(out[0], out[1])
    places_differ = len(out[0].unique(dim=0)) == 3
    return samples_alike and places_differ


# %% check=true
assert numbers_the_tokens(batch_first)
assert not numbers_the_tokens(sequence_first)
assert not torch.equal(wrong[0], wrong[1]) and torch.equal(wrong[:, 0], wrong[:, 2])
assert wrong.shape == right.shape

# %% [markdown] lang="en" role="claim"
# The right way passes. In the wrong one the samples differ and the places are alike:
# just the other way round.

# %% [markdown] lang="zh" role="claim"
# 正确的做法通过测试。错误的做法正好反过来：样本之间不同，位置之间相同。

# %% [markdown] lang="en"
# Lesson: [Shapes and broadcasting](../lessons/broadcasting.md). Reference:
# [`tokpos.sinusoidal.SinusoidalEncoding`][].

# %% [markdown] lang="zh"
# 相关课程：[形状与广播](../lessons/broadcasting.md)。参考：[`tokpos.sinusoidal.SinusoidalEncoding`][]。
