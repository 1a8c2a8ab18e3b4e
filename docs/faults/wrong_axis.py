# %% [markdown] lang="en"
# # Rotated by the number of the head
#
# Queries come as `[B, S, H, d]`, but the function takes the second axis from the end
# for the sequence. So each head is turned by its own number, and all places alike:
# [mlfoundations/open_lm#4](https://github.com/mlfoundations/open_lm/issues/4) noticed
# it, with training curves, and
# [facebookresearch/xformers#841](https://github.com/facebookresearch/xformers/issues/841)
# explains the cause.
# [NVIDIA/audio-flamingo#27](https://github.com/NVIDIA/audio-flamingo/issues/27) is a
# third case.

# %% [markdown] lang="zh"
# # 按注意力头的编号旋转
#
# 查询的形状是 `[B, S, H, d]`，函数却把倒数第二个轴当作序列。于是每个注意力头按自己的编号旋转，所有位置都一样：[mlfoundations/open_lm#4](https://github.com/mlfoundations/open_lm/issues/4) 发现了它，还附上了训练曲线，原因见 [facebookresearch/xformers#841](https://github.com/facebookresearch/xformers/issues/841)。[NVIDIA/audio-flamingo#27](https://github.com/NVIDIA/audio-flamingo/issues/27) 是第三例。

# %% [markdown] lang="en"
# An input of ones, with three places and three heads: the output shows what was turned
# and how far.

# %% [markdown] lang="zh"
# 输入全是 1，三个位置，三个注意力头：输出一看便知，谁转了多少。

# %%
import torch

from tokpos import frequencies, rotate, rotation

x = torch.ones(1, 3, 3, 4)  # [B, S, H, d]
turn = rotation(torch.arange(3), frequencies(4))


def right(x):
    return rotate(x.transpose(1, 2), turn, "half-split").transpose(1, 2)


def wrong(x):
    return rotate(x, turn, "half-split")


for name, way in (("right", right), ("wrong", wrong)):
    out = way(x)[0, :, :, 0]  # the first feature, by place and head
    print(name, "by place (rows) and head (columns):\n", out.numpy().round(2))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Here there are as many places as heads, so the shapes fit. Code that cuts its table to
# the length of the axis it takes for the sequence accepts any shape. The model then has
# no positions: each head is only turned by a fixed angle, and training has to make do.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 这里位置和注意力头一样多，形状处处对得上。有的代码把哪个轴当成序列，就按哪个轴的长度去截表，于是什么形状都能通过。这样一来，模型就没有位置信息了：每个注意力头只是固定转了一个角度，训练时只能将就。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Feed ones. Places must differ, and heads must not.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 输入全 1。位置之间必须不同，注意力头之间必须相同。


# %%
def turns_by_place(way):
    out = way(torch.ones(1, 3, 3, 4))  # [B, S, H, d]
    heads_alike = all(torch.equal(out[:, :, 0], out[:, :, h]) for h in (1, 2))
    places_differ = all(not torch.equal(out[:, 0], out[:, s]) for s in (1, 2))
    return heads_alike and places_differ


angle = frequencies(4)
formula = torch.cat([angle.cos() - angle.sin(), angle.cos() + angle.sin()])

# %% check=true
assert turns_by_place(right)
assert not turns_by_place(wrong)
assert torch.allclose(right(x)[0, 1, 0].double(), formula, atol=1e-6)
assert torch.equal(wrong(x)[0, 1, 0], torch.ones(4))

# %% [markdown] lang="en" role="claim"
# At place 1 the right way gives every head what the formula gives in float64. The wrong
# way leaves the first head as it was, at every place.

# %% [markdown] lang="zh" role="claim"
# 正确的做法，在位置 1 上，每个注意力头都与 float64 的公式一致。错误的做法，在每个位置上，第一个注意力头都原封不动。

# %% [markdown] lang="en"
# Lesson: [RoPE](../lessons/rope.md). Reference: [`tokpos.rope.rotate`][], which refuses
# the wrong order wherever the lengths differ.

# %% [markdown] lang="zh"
# 相关课程：[RoPE](../lessons/rope.md)。参考：[`tokpos.rope.rotate`][]，只要两个轴的长度不同，顺序弄反了它就会拒绝。
