# %% [markdown] lang="en"
# # One sample becomes a square of samples
#
# The table is `[S, 1, D]`, and it is cut to the right length, but the input is `[B, S, D]`.
# In
# [KasperGroesLudvigsen/influenza_transformer#9](https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9)
# this raised an error about sizes;
# [datawhalechina/hello-agents#61](https://github.com/datawhalechina/hello-agents/issues/61)
# found the mixed shapes in a course. The error is the lucky case. With a batch of one,
# as in a first trial or in generation, there is none.

# %% [markdown] lang="zh"
# # 一个样本变成一个方阵
#
# 表的形状是 `[S, 1, D]`，长度截对了，却加到 `[B, S, D]` 的输入上：[KasperGroesLudvigsen/influenza_transformer#9](https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9) 碰到的是大小不匹配的报错，[datawhalechina/hello-agents#61](https://github.com/datawhalechina/hello-agents/issues/61) 发现一份教程里混用了两种形状。能报错算是走运；批量大小为 1 时，比如第一次试跑，或者生成文本时，什么错都不报。

# %%
import torch

from tokpos import sinusoidal_table

table = sinusoidal_table(10, 4)  # [S, D]
pe = table.unsqueeze(1)  # [S, 1, D]


def plain(x):
    return x + table[: x.size(1)]


def mixed(x):
    return x + pe[: x.size(1)]


for B, S in ((1, 3), (3, 3)):
    x = torch.zeros(B, S, 4)
    right, wrong = plain(x), mixed(x)
    print(f"in {list(x.shape)}  right {list(right.shape)}  wrong {list(wrong.shape)}")

# %% [markdown] lang="en"
# A batch size that is neither 1 nor S stops with an error, as it should.

# %% [markdown] lang="zh"
# 批量大小既不是 1，也不等于 S，就会停下来报错，这才是应该的。

# %% raises=RuntimeError
mixed(torch.zeros(2, 3, 4))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# One sample of S tokens becomes S samples, and whatever comes next takes any number of
# samples. A loss may object to the number; in generation there is no loss. With B = S even
# the shape is right, but each sample gets one row, chosen by the number of the sample.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 一个有 S 个词元（token）的样本变成 S 个样本，而后面的层对样本数没有要求。算损失时也许会因为个数不符而报错，生成文本时却没有损失可算。当 B = S 时，连形状都对，只是一个样本的所有位置加的都是同一行，行号就是样本的编号。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# A batch of one keeps its shape. And with as many samples as tokens, equal samples stay
# equal.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 批量大小为 1 时，进去什么形状，出来还是什么形状；样本数与词元数相同时，各个样本仍然一样。


# %%
def keeps_the_batch(encode):
    one, square = torch.zeros(1, 3, 4), torch.zeros(3, 3, 4)
    if encode(one).shape != one.shape:
        return False
    return all(torch.equal(sample, encode(one)[0]) for sample in encode(square))


# %% check=true
assert keeps_the_batch(plain)
assert not keeps_the_batch(mixed)
assert mixed(torch.zeros(1, 3, 4)).shape == (3, 3, 4)
rows = mixed(torch.zeros(3, 3, 4))
assert not torch.equal(rows[0], rows[1]) and torch.equal(rows[:, 0], rows[:, 1])

# %% [markdown] lang="en" role="claim"
# A single sample comes out as {{ list(mixed(torch.zeros(1, 3, 4)).shape) }} from the
# wrong way. With three samples of three tokens the shape is right, but every token gets
# the row of its sample's number.

# %% [markdown] lang="zh" role="claim"
# 错误的做法把一个样本变成了 {{ list(mixed(torch.zeros(1, 3, 4)).shape) }}。三个样本、每个三个词元时，形状对了，值却是按样本编号取的。

# %% [markdown] lang="en"
# Lesson: [Shapes and broadcasting](../lessons/broadcasting.md). Reference:
# [`tokpos.sinusoidal.SinusoidalEncoding`][], whose positions run along the last axis but one.

# %% [markdown] lang="zh"
# 相关课程：[形状与广播（broadcasting）](../lessons/broadcasting.md)。参考：[`tokpos.sinusoidal.SinusoidalEncoding`][]，位置沿倒数第二个轴排列。
