# %% [markdown] lang="en"
# # Angles in bfloat16
#
# A model in bfloat16 may compute its RoPE tables in bfloat16 too, or round the
# frequencies when its type is changed. Position times frequency is a large number, and
# its rounding error can be several radians:
# [EleutherAI/gpt-neox#1003](https://github.com/EleutherAI/gpt-neox/issues/1003) measured
# it in float16,
# [huggingface/transformers#25681](https://github.com/huggingface/transformers/issues/25681)
# and
# [huggingface/transformers#29496](https://github.com/huggingface/transformers/issues/29496)
# met it in Llama and Mistral.

# %% [markdown] lang="zh"
# # 用 bfloat16 算角度
#
# bfloat16 的模型，可能连 RoPE 的表也用 bfloat16 来算，或者在转换类型时把频率一起舍入了。位置乘频率是个很大的数，它的舍入误差可以有好几弧度：[EleutherAI/gpt-neox#1003](https://github.com/EleutherAI/gpt-neox/issues/1003) 在 float16 下量出了误差，[huggingface/transformers#25681](https://github.com/huggingface/transformers/issues/25681) 和 [huggingface/transformers#29496](https://github.com/huggingface/transformers/issues/29496) 分别在 Llama 和 Mistral 里碰到了它。

# %% [markdown] lang="en"
# Two neighboring positions are enough: bfloat16 has 8 significant bits, and 257 needs
# 9.

# %% [markdown] lang="zh"
# 两个相邻的位置就够了：bfloat16 只有 8 位有效二进制数字，而 257 需要 9 位。

# %%
import torch

from tokpos import frequencies, rotation

places = torch.tensor([256, 257])
exact = (places.double()[:, None] * frequencies(4)).cos()


def half_angles(places, width):
    return (places.bfloat16()[:, None] * frequencies(width).bfloat16()).cos()


right = rotation(places, frequencies(4), dtype=torch.bfloat16).cos
wrong = half_angles(places, 4)
for name, cos in (("float64", exact), ("right", right), ("wrong", wrong)):
    print(f"{name:8}", cos.double().numpy().round(3).tolist())

# %% [markdown] lang="en"
# Rounding the result to bfloat16 is harmless: an error of at most 2⁻⁹. Rounding before
# the cosine is not. For a head of width 64, at far positions, the error comes close to
# the largest that a cosine can have.

# %% [markdown] lang="zh"
# 把结果舍入成 bfloat16 没有关系，误差不超过 2⁻⁹；在算余弦之前就舍入，则不行。注意力头维度为 64 时，远处位置的误差，已经接近余弦误差的上限 2。

# %%
far = torch.tensor([2000, 4001])
truth = (far.double()[:, None] * frequencies(64)).cos()


def worst(cos):
    return (cos.double() - truth).abs().max().item()


first = torch.arange(64)
start = half_angles(first, 64).double() - (first.double()[:, None] * frequencies(64)).cos()
rounded_table = rotation(far, frequencies(64), dtype=torch.bfloat16).cos
rounded_frequencies = (far.double()[:, None] * frequencies(64).bfloat16().double()).cos()
print(f"table rounded at the end  {worst(rounded_table):.4f}")
print(f"only frequencies rounded  {worst(rounded_frequencies):.2f}")
print(f"everything in bfloat16    {worst(half_angles(far, 64)):.2f}")

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Cosine and sine belong to the same (wrong) angle, so a turned vector keeps its length but
# for rounding, and nothing overflows. Near the start of a text the error is small: below
# position {{ len(first) }} it is about {{ start.abs().max():.1f }} at most. And a model that was
# trained with the fault may have adapted to it; then only a port to another library shows
# the difference.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 余弦和正弦出自同一个（错的）角度，所以转动后的向量长度几乎不变，也不会溢出。离文本开头不远的位置，误差也小：位置 {{ len(first) }} 以前最多约 {{ start.abs().max():.1f }}。如果训练时就带着这个错误，模型可能已经适应了它；移植到别的库，差别才会显出来。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Compare the table with float64 at far positions. Allow only the rounding of its own
# type.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 取远处的位置，把表与 float64 比较，只允许差它自己类型的舍入误差。


# %%
def angles_are_exact(table, places=far, width=64):
    truth = (places.double()[:, None] * frequencies(width)).cos()
    return (table(places, width).double() - truth).abs().max().item() <= 2**-9


def rounded_once(places, width):
    return rotation(places, frequencies(width), dtype=torch.bfloat16).cos


# %% check=true
assert angles_are_exact(rounded_once)
assert not angles_are_exact(half_angles)
assert torch.equal(wrong[0], wrong[1]) and not torch.equal(right[0], right[1])
assert worst(rounded_frequencies) > 0.3 and worst(half_angles(far, 64)) > 1
assert start.abs().max() < 0.2
angle = far.bfloat16()[:, None] * frequencies(64).bfloat16()
assert (angle.cos().square() + angle.sin().square() - 1).abs().max() < 0.02

# %% [markdown] lang="en" role="claim"
# Rounded once at the end, the table is right to within {{ worst(rounded_table):.4f }}.
# With angles in bfloat16 the worst cosine is off by
# {{ worst(half_angles(far, 64)):.2f }}, and positions 256 and 257 are the same.

# %% [markdown] lang="zh" role="claim"
# 只在最后舍入一次，表的误差是 {{ worst(rounded_table):.4f }}。用 bfloat16 算角度，余弦最多差 {{ worst(half_angles(far, 64)):.2f }}，而且位置 256 和 257 成了同一个。

# %% [markdown] lang="en"
# Lesson: [RoPE](../lessons/rope.md). Reference: [`tokpos.rope.rotation`][].

# %% [markdown] lang="zh"
# 相关课程：[RoPE](../lessons/rope.md)。参考：[`tokpos.rope.rotation`][]。
