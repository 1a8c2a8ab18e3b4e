# %% [markdown] lang="en"
# # Missing parentheses, wrong frequencies
#
# For images, LoFTR gave half of its features to each axis and wrote
# `-math.log(10000.0) / d_model//2`. Python divides from left to right, so `//2` rounds the tiny
# quotient down, to −1:
# [zju3dv/LoFTR#41](https://github.com/zju3dv/LoFTR/issues/41). The authors also trained
# a corrected model; its scores came out a little better.

# %% [markdown] lang="zh"
# # 少了一对括号，频率就错了
#
# LoFTR 处理图像，两个轴各分到一半特征，代码写成 `-math.log(10000.0) / d_model//2`。Python 从左往右除，于是 `//2` 把一个很小的商向下取整，成了 -1：[zju3dv/LoFTR#41](https://github.com/zju3dv/LoFTR/issues/41)。作者改正之后重新训练，分数略有提高。

# %%
import math

import torch

from tokpos import frequencies

d_model = 64
half = d_model // 2  # the features of one axis
print("wrong:", -math.log(10000.0) / d_model // 2)
print("right:", round(-math.log(10000.0) / (d_model // 2), 4))

# %% [markdown] lang="en"
# The exponents are then 0, −2, −4 and so on, at any usual width.

# %% [markdown] lang="zh"
# 于是不管维度是多少，指数都是 0、-2、-4，依次类推。

# %%
columns = torch.arange(0, half, 2, dtype=torch.float64)
right = torch.exp(columns * (-math.log(10000.0) / half))
wrong = torch.exp(columns * (-math.log(10000.0) / d_model // 2))
for pair in (0, 1, 2, 5, 10, 15):
    print(f"pair {pair:2}   right {right[pair]:.1e}   wrong {wrong[pair]:.1e}")
dead = int((torch.cos((wrong * 100).float()) == 1).sum())
print(dead, "of", len(wrong), "cosines are 1 up to position 100, in float32")

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# The first pair is right, and the table has the right shape and range. The slow pairs
# stand still; in a right table they nearly do so too, near position 0. The fast pairs
# are enough to learn something.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 第一个频率对没有错，表的形状和数值范围也都对。慢的频率对一动不动——在正确的表里，靠近位置 0 的地方也几乎如此。剩下的几对转得快，模型靠它们总能学到一些东西。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Look at the last pair: its frequency is known, the base to the power of $-(D-2)/D$.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 看最后一个频率对：它的频率是已知的，等于底数的 $-(D-2)/D$ 次方。


# %%
def last_pair_is_right(turns, width, base=10000.0):
    expected = base ** (-(width - 2) / width)
    return math.isclose(turns[-1].item(), expected, rel_tol=1e-6)


# %% check=true
assert last_pair_is_right(right, half)
assert last_pair_is_right(frequencies(half), half)
assert not last_pair_is_right(wrong, half)
assert torch.allclose(right, frequencies(half))
assert wrong[0] == right[0] == 1

# %% [markdown] lang="en" role="claim"
# The last pair turns by {{ right[-1].item():.1e }} in the right table, and by
# {{ wrong[-1].item():.1e }} in the wrong one. The test sees the difference.

# %% [markdown] lang="zh" role="claim"
# 在正确的表里，最后一个频率对每步转 {{ right[-1].item():.1e }}；在错误的表里，只转 {{ wrong[-1].item():.1e }}。测试看得出差别。

# %% [markdown] lang="en"
# Lesson: [Sinusoidal positions](../lessons/sinusoidal.md). Reference:
# [`tokpos.sinusoidal.frequencies`][].

# %% [markdown] lang="zh"
# 相关课程：[正弦位置编码（sinusoidal position encoding）](../lessons/sinusoidal.md)。参考：[`tokpos.sinusoidal.frequencies`][]。
