# %% [markdown] lang="en"
# # Each new token is rotated like the first
#
# With a KV cache a model computes one new token at a time. If its positions are `arange`
# over the length of the input, each new token stands at position 0:
# [Blaizzy/mlx-vlm#1983](https://github.com/Blaizzy/mlx-vlm/issues/1983). Code that
# stores its cosines and sines by length alone, whatever position the input starts at,
# has a like effect, as every later step gets the angles of the first one:
# [lucidrains/rotary-embedding-torch#11](https://github.com/lucidrains/rotary-embedding-torch/issues/11).

# %% [markdown] lang="zh"
# # 每个新词元都按第一个位置旋转
#
# 有了 KV 缓存，模型每次只算一个词元（token）。如果位置是按输入长度用 `arange` 数出来的，每个新词元就都站在位置 0：[Blaizzy/mlx-vlm#1983](https://github.com/Blaizzy/mlx-vlm/issues/1983)。另一种错误与它相像：存旋转用的余弦和正弦时，只按长度区分，不管从哪个位置开始，于是后面每一步拿到的都是第一步的角度：[lucidrains/rotary-embedding-torch#11](https://github.com/lucidrains/rotary-embedding-torch/issues/11)。

# %%
import torch

from tokpos import frequencies, positions_of_step, rotate, rotation

k = torch.randn(1, 8, 8, generator=torch.Generator().manual_seed(0))  # [H, S, d]


def turn(k, places):
    return rotate(k, rotation(places, frequencies(8)), "half-split")


whole = turn(k, torch.arange(8))

# %% [markdown] lang="en"
# A prompt, then token by token, as a decoder works. The right way asks how many tokens
# are in the cache already.

# %% [markdown] lang="zh"
# 像解码器那样，先处理提示词，再逐个处理新词元。正确的做法，要先问缓存里已经有几个词元。


# %%
def from_zero(past, new):
    return torch.arange(new)


def decoded(places_of, parts):
    past, rows = 0, []
    for new in parts:
        rows.append(turn(k[:, past : past + new], places_of(past, new)))
        past += new
    return torch.cat(rows, dim=1)


prompt_then_steps = [5, 1, 1, 1]
for name, places_of in (("right", positions_of_step), ("wrong", from_zero)):
    error = (decoded(places_of, prompt_then_steps) - whole).abs().amax((0, 2))
    print(name, "error at each place:", error.numpy().round(2))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# The prompt is processed as a whole and is right, so the first new word is right as
# well. From then on all new keys are rotated as if they stood at position 0. That
# position exists, so nothing is out of range.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 提示词是整段处理的，没有错，所以第一个新词也对。从那以后，所有新的键都按位置 0 旋转。位置 0 是存在的，所以没有什么越界。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# However a sequence is cut, the result must be that of one pass.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 一个序列，不管怎么切，结果都必须与一次算完相同。


# %%
def same_for_every_cut(places_of):
    cuts = [[8], [5, 3], prompt_then_steps, [1] * 8]
    return all(torch.allclose(decoded(places_of, parts), whole, atol=1e-6) for parts in cuts)


# %% check=true
assert same_for_every_cut(positions_of_step)
assert not same_for_every_cut(from_zero)
assert torch.equal(decoded(from_zero, [8]), whole)
steps = (decoded(from_zero, prompt_then_steps) - whole).abs().amax((0, 2))
assert steps[:5].max() < 1e-6 and steps[5:].min() > 0.5

# %% [markdown] lang="en" role="claim"
# With the offset all cuts agree. Without it, a single pass is right, the prompt is
# right, and each later key is off by {{ steps[5:].min().item():.2f }} or more.

# %% [markdown] lang="zh" role="claim"
# 从缓存的长度数起，各种切法结果一致。每次从 0 数起，一次算完是对的，提示词是对的，之后每个键至少差 {{ steps[5:].min().item():.2f }}。

# %% [markdown] lang="en"
# Lesson: [RoPE](../lessons/rope.md). Reference:
# [`tokpos.positions.positions_of_step`][].

# %% [markdown] lang="zh"
# 相关课程：[RoPE](../lessons/rope.md)。参考：[`tokpos.positions.positions_of_step`][]。
