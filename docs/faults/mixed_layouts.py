# %% [markdown] lang="en"
# # Weights for one RoPE layout, rotation by the other
#
# Meta's Llama turns neighboring features as pairs, `[x0, x1]`; transformers pairs the
# two halves of a head, `[x0, x2]` at width 4.
# [Dao-AILab/flash-attention#288](https://github.com/Dao-AILab/flash-attention/issues/288)
# and
# [huggingface/transformers#25199](https://github.com/huggingface/transformers/issues/25199)
# ask which is right. Both are, each with its own weights: the conversion script
# reorders their rows. Weights of one kind under the rotation of the other give no
# error.

# %% [markdown] lang="zh"
# # 权重按一种 RoPE 配对训练，旋转却用了另一种
#
# Meta 的 Llama 旋转相邻的两维，即 `[x0, x1]`；transformers 让一个注意力头的前后两半互相配对，维度为 4 时就是 `[x0, x2]`。[Dao-AILab/flash-attention#288](https://github.com/Dao-AILab/flash-attention/issues/288) 和 [huggingface/transformers#25199](https://github.com/huggingface/transformers/issues/25199) 都问哪一种对。都对，只是各配各的权重：转换脚本会重排权重的行。拿一种的权重去配另一种的旋转，不会报错。

# %% hide=true
from tokpos.figures.rope import layouts

layouts(8)

# %% [markdown] lang="en" role="caption"
# Which features of a head make a pair, at width 8.

# %% [markdown] lang="zh" role="caption"
# 注意力头维度为 8 时，哪两维配成一对。

# %% [markdown] lang="en"
# One head of width 4, position 1.

# %% [markdown] lang="zh"
# 一个注意力头，维度 4，位置 1。

# %%
import torch

from tokpos import feature_order, frequencies, rotate, rotation

x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
turn = rotation(torch.tensor([1]), frequencies(4))
for layout in ("interleaved", "half-split"):
    print(f"{layout:11}", rotate(x, turn, layout)[0, 0].numpy().round(4))

# %% [markdown] lang="en"
# The same with complex numbers in float64, one multiplication for each pair of neighbors:
# it agrees with the interleaved result. And with the features reordered, the other layout
# gives the same numbers, in the new order.

# %% [markdown] lang="zh"
# 用 float64 的复数再算一遍，相邻的两维组成一个复数，每一对只需一次乘法：结果与相邻配对一致。把各维重排之后，前后半配对给出的也是同样的数，只是次序变了。

# %%
z = torch.tensor([1 + 2j, 3 + 4j], dtype=torch.complex128)
turned = z * torch.exp(1j * frequencies(4))
print("complex    ", torch.view_as_real(turned).flatten().numpy().round(4))
order = feature_order(4, "interleaved", "half-split")
other = rotate(x[..., order], turn, "half-split")
print("reordered  ", other[0, 0].numpy().round(4), order.tolist())

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Both are rotations: shapes, lengths and the score of a token with itself are right in
# either. The scores between different tokens are not. What that does to a model is shown in
# [the lesson](../lessons/rope.md#wrong-layout).

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 两种都是旋转：形状、长度都对，一个词元（token）与自己的注意力分数也对。不对的是不同词元之间的分数；模型会怎样，见[课程](../lessons/rope.md#wrong-layout)。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Take the scores of the source model at several distances. They must survive the
# conversion.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 取原模型在几种距离上的注意力分数来比较。经过转换，分数必须不变。

# %%
torch.manual_seed(0)
q, k = torch.randn(2, 1, 6, 8, dtype=torch.float64)
turn6 = rotation(torch.arange(6), frequencies(8), dtype=torch.float64)


def scores(q, k, layout):
    return rotate(q, turn6, layout) @ rotate(k, turn6, layout).mT


def keeps_the_scores(order):
    ours = scores(q[..., order], k[..., order], "half-split")
    return torch.allclose(ours, scores(q, k, "interleaved"))


right, wrong = feature_order(8, "interleaved", "half-split"), torch.arange(8)
off = (scores(q, k, "half-split") - scores(q, k, "interleaved"))[0]

# %% check=true
assert keeps_the_scores(right)
assert not keeps_the_scores(wrong)
assert off.diagonal().abs().max() < 1e-12 and off.abs().max() > 1
neighbors = rotate(x, turn, "interleaved")
assert torch.allclose(torch.view_as_real(turned).flatten().float(), neighbors)
assert torch.allclose(other, neighbors[..., order])

# %% [markdown] lang="en" role="claim"
# With their features reordered, queries and keys keep every score. Without that, scores
# are off by up to {{ off.abs().max().item():.1f }}, but on the diagonal only by
# rounding.

# %% [markdown] lang="zh" role="claim"
# 重排之后，查询和键的每个分数都不变。不重排，分数最多差 {{ off.abs().max().item():.1f }}，而对角线上只差舍入误差。

# %% [markdown] lang="en"
# Lesson: [RoPE](../lessons/rope.md). Reference:
# [`tokpos.rope_layout.convert_queries_and_keys`][].

# %% [markdown] lang="zh"
# 相关课程：[RoPE](../lessons/rope.md)。参考：[`tokpos.rope_layout.convert_queries_and_keys`][]。
