# %% [markdown] lang="en"
# # The factor 2 of the exponent, twice
#
# In $\sin(p / 10000^{2i/D})$ the letter $i$ counts pairs. In code a loop often counts
# columns, 0, 2, 4, and then the factor 2 is in it already.
# [SamLynnEvans/Transformer#25](https://github.com/SamLynnEvans/Transformer/issues/25)
# reports code that doubles it again and gives the cosine an exponent of its own;
# [jadore801120/attention-is-all-you-need-pytorch#32](https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/32)
# and [Kyubyong/transformer#38](https://github.com/Kyubyong/transformer/issues/38) are
# close relatives.

# %% [markdown] lang="zh"
# # 指数里的 2 乘了两次
#
# 在 $\sin(p / 10000^{2i/D})$ 里，$i$ 数的是数对。代码里的循环却常常按列来数：0、2、4，这时 2 已经乘进去了。[SamLynnEvans/Transformer#25](https://github.com/SamLynnEvans/Transformer/issues/25) 报告的代码又乘了一遍，余弦还另用一个指数；[jadore801120/attention-is-all-you-need-pytorch#32](https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/32) 和 [Kyubyong/transformer#38](https://github.com/Kyubyong/transformer/issues/38) 与它类似。

# %% [markdown] lang="en"
# Width 4 and position 1 are enough.

# %% [markdown] lang="zh"
# 维度取 4，位置取 1，就够了。

# %%
import math

import torch

from tokpos import sinusoidal_table


def waves(angles):
    pairs = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
    return torch.tensor(pairs, dtype=torch.float64)


def formula(position, width):
    return waves(position / 10000 ** (2 * i / width) for i in range(width // 2))


def doubled(position, width):  # i is a column here, not a pair
    return waves(position / 10000 ** (2 * i / width) for i in range(0, width, 2))


def two_angles(position, width):  # the cosine has an exponent of its own besides
    row = []
    for i in range(0, width, 2):
        row.append(math.sin(position / 10000 ** (2 * i / width)))
        row.append(math.cos(position / 10000 ** (2 * (i + 1) / width)))
    return torch.tensor(row, dtype=torch.float64)


rows = {"right": formula(1, 4), "tokpos": sinusoidal_table(2, 4)[1]}
rows |= {"doubled": doubled(1, 4), "two angles": two_angles(1, 4)}
for name, row in rows.items():
    print(f"{name:10}", *(f"{value:9.6f}" for value in row.tolist()))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# All numbers lie between −1 and 1, and position 0 is right: `0, 1, 0, 1`. The first
# column is right everywhere. The table is fixed and its rows differ, so a model can often
# learn with it. What suffers: the slow pairs are slower still, and with two angles a
# shift is no longer a turn.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 所有的数都在 −1 与 1 之间；位置 0 是对的：`0, 1, 0, 1`；第一列处处都对。而且表是固定的，各行也不同，模型往往还能学。受损的有两处：慢的数对更慢了；如果一对里的正弦和余弦属于两个不同的角度，“平移就是旋转”这条性质也没有了。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# It takes two. Sine and cosine of one angle: the squares of each pair add up to 1. And
# the right angles: position 1 at width 4 is $\sin 1, \cos 1, \sin 0.01, \cos 0.01$.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 要有两个。一是正弦和余弦同角：每一对的平方和必须等于 1。二是角度正确：维度为 4 时，位置 1 那一行必须是 $\sin 1, \cos 1, \sin 0.01, \cos 0.01$。


# %%
def pairs_are_of_one_angle(row, width=8):
    return all(
        torch.allclose(
            row(position, width).double().view(-1, 2).square().sum(-1),
            torch.ones(width // 2, dtype=torch.float64),
        )
        for position in range(50)
    )


def angles_are_right(row):
    by_hand = [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]
    return torch.allclose(row(1, 4).double(), torch.tensor(by_hand).double())


def from_table(position, width):
    return sinusoidal_table(50, width)[position]


# %% check=true
for right in (formula, from_table):
    assert pairs_are_of_one_angle(right) and angles_are_right(right)
assert pairs_are_of_one_angle(doubled) and not angles_are_right(doubled)
assert not pairs_are_of_one_angle(two_angles) and not angles_are_right(two_angles)
assert torch.equal(doubled(0, 4), formula(0, 4))
assert torch.equal(two_angles(0, 4), formula(0, 4))

# %% [markdown] lang="en" role="claim"
# The formula and [`tokpos.sinusoidal.sinusoidal_table`][] pass both. Two angles fail both;
# a doubled exponent alone passes the first and fails the second. At position 0 no test can
# tell them apart.

# %% [markdown] lang="zh" role="claim"
# 公式和 [`tokpos.sinusoidal.sinusoidal_table`][] 两个测试都通过；用了两个角度的，两个都不通过；只是指数多乘一遍的，第一个通过，第二个不通过。只看位置 0，什么测试也分不出来。

# %% [markdown] lang="en"
# Lesson: [Sinusoidal positions](../lessons/sinusoidal.md). Reference:
# [`tokpos.sinusoidal.frequencies`][].

# %% [markdown] lang="zh"
# 相关课程：[正弦位置编码（sinusoidal position encoding）](../lessons/sinusoidal.md)。参考：[`tokpos.sinusoidal.frequencies`][]。
