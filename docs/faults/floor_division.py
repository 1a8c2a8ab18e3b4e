# %% [markdown] lang="en"
# # Missing parentheses, wrong frequencies
#
# For images, LoFTR gave half of its features to each axis and wrote
# `-math.log(10000.0) / d_model//2`. Python divides from left to right, so `//2` rounds the tiny
# quotient down, to −1:
# [zju3dv/LoFTR#41](https://github.com/zju3dv/LoFTR/issues/41). The authors also trained
# corrected models: on ScanNet the scores were a little better, outdoors they were not
# ([zju3dv/LoFTR#64](https://github.com/zju3dv/LoFTR/issues/64)).

# %% [markdown] lang="zh"
# # 少了一对括号，频率就错了
#
# LoFTR 处理图像，两个轴各分到一半特征，代码写成 `-math.log(10000.0) / d_model//2`。Python 从左往右除，于是 `//2` 把一个很小的商向下取整，成了 −1：[zju3dv/LoFTR#41](https://github.com/zju3dv/LoFTR/issues/41)。作者改正之后重新训练：在 ScanNet 上分数略有提高，室外的模型却没有更好（[zju3dv/LoFTR#64](https://github.com/zju3dv/LoFTR/issues/64)）。

# %%
import math

import torch

from tokpos import frequencies

d_model = 64
half = d_model // 2  # the features of one axis
print("wrong:", -math.log(10000.0) / d_model // 2)
print("right:", round(-math.log(10000.0) / (d_model // 2), 4))

# %% [markdown] lang="en"
# From width {{ math.ceil(math.log(10000.0) / 2) }} on the quotient is always −1, so the exponents are
# 0, −2, −4 and so on.

# %% [markdown] lang="zh"
# 维度只要不小于 {{ math.ceil(math.log(10000.0) / 2) }}，这个商总是 −1，于是指数总是 0、−2、−4，依次类推。

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
# The sine and cosine columns of one frequency are a pair. The first pair is right, and
# the table has the right shape and range. The slow pairs hardly move; in a right table
# the slowest nearly do so too, near position 0. The fast pairs were enough: the
# published model worked with them.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 表里同一个频率的正弦列和余弦列是一对。第一对没有错，表的形状和数值范围也都对。频率低的那些对几乎不随位置变化；在正确的表里，频率最低的几对在开头几个位置也几乎不变，所以看不出来。剩下频率高的几对已经够用：公开发布的模型靠它们就能工作。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Look at the last pair: its frequency is known. For an axis with $D$ features, here {{ half }}, it is
# the base to the power of $-(D-2)/D$.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 看最后一对：它的频率是已知的。一个轴有 $D$ 个特征（这里是 {{ half }} 个）时，它等于底数的 $-(D-2)/D$ 次方。


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
for width in range(1, 4097):
    assert (-math.log(10000.0) / width // 2 == -1) == (width >= math.ceil(math.log(10000.0) / 2))

# %% [markdown] lang="en" role="claim"
# From one position to the next, the last pair turns by {{ right[-1].item():.1e }} radians in the right
# table, and by {{ wrong[-1].item():.1e }} in the wrong one. The test sees the difference.

# %% [markdown] lang="zh" role="claim"
# 位置每往后一个，最后一对的角度在正确的表里增加 {{ right[-1].item():.1e }} 弧度，在错误的表里只增加 {{ wrong[-1].item():.1e }}。测试看得出差别。

# %% [markdown] lang="en"
# Lesson: [Sinusoidal positions](../lessons/sinusoidal.md). Reference:
# [`tokpos.sinusoidal.frequencies`][].

# %% [markdown] lang="zh"
# 相关课程：[正弦位置编码（sinusoidal position encoding）](../lessons/sinusoidal.md)。参考：[`tokpos.sinusoidal.frequencies`][]。
