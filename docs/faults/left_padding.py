# %% [markdown] lang="en"
# # Positions that count the padding
#
# To generate text in batches, padding goes on the left. If positions are then counted
# from the left edge, the positions of a text depend on its neighbors in the batch:
# [huggingface/transformers#22161](https://github.com/huggingface/transformers/issues/22161)
# for GPT-NeoX,
# [huggingface/transformers#29583](https://github.com/huggingface/transformers/pull/29583)
# for the GPT models with a position table.

# %% [markdown] lang="zh"
# # 把填充也数进位置里
#
# 批量生成文本时，填充放在左边。如果位置从左边缘开始数，同一段文本的位置就会随批量里的同伴而变：[huggingface/transformers#22161](https://github.com/huggingface/transformers/issues/22161) 说的是 GPT-NeoX，[huggingface/transformers#29583](https://github.com/huggingface/transformers/pull/29583) 说的是带位置表的各个 GPT 模型。

# %%
import torch

from tokpos import positions_from_mask

mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
wrong = torch.arange(5).expand(2, 5)
right = positions_from_mask(mask)
print("wrong:", wrong.tolist())
print("right:", right.tolist())

# %% hide=true
from tokpos.figures.positions import left_padding

left_padding()

# %% [markdown] lang="en" role="caption"
# The same two masks with words. Counted from the left, the first text begins at
# position {{ wrong[0, 2].item() }}; counted from the mask, at {{ right[0, 2].item() }}.

# %% [markdown] lang="zh" role="caption"
# 同样的两个掩码，配上文字。从左边数起，第一段文本从位置 {{ wrong[0, 2].item() }} 开始；按掩码来数，从 {{ right[0, 2].item() }} 开始。

# %% [markdown] lang="en"
# What it does depends on the encoding. Where positions are added to the input, a shift
# of all positions changes the scores between tokens. With RoPE only differences count, so
# a shift alone does no harm. It does harm once the prompt is counted one way and the next
# token the other: see [RoPE](../lessons/rope.md#left-padding).

# %% [markdown] lang="zh"
# 后果如何，要看用的是哪种位置编码（position encoding）。加到输入上的编码，所有位置一起平移，词元（token）之间的分数就变了；而旋转位置编码（RoPE）只看位置之差，整体平移只带来舍入误差，GPT-NeoX 用的就是它；只有提示词和后面的词元数法不一致时，才会出错，见 [RoPE](../lessons/rope.md#left-padding)。

# %%
from tokpos import frequencies, rotate, rotation
from tokpos.sinusoidal import sinusoidal

x = torch.randn(3, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def added(places):
    rows = x + sinusoidal(places, 8, dtype=torch.float64)
    return rows @ rows.T


def turned(places):
    turn = rotation(places, frequencies(8), dtype=torch.float64)
    rows = rotate(x[None], turn, "half-split")[0]  # queries and keys alike
    return rows @ rows.T


text_right, text_wrong = right[0, 2:], wrong[0, 2:]
for name, scores in (("added", added), ("turned", turned)):
    difference = (scores(text_right) - scores(text_wrong)).abs().max().item()
    print(f"{name:6} scores differ by {difference:.3f}")

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# The shifted positions exist, so the lookup works. The longest text of each batch has
# no padding and is right. A batch of one has no padding at all.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 平移后的位置都存在，查表自然没有问题。每个批量里最长的文本没有填充，结果是对的；批量大小为 1 时，根本没有填充。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# A padded row must equal the same text alone.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 带填充的一行，必须与这段文本单独运行的结果相同。


# %%
def as_if_alone(number):
    """`number` turns a mask into positions; the first row begins with two padding tokens."""
    places = number(mask)[0, 2:]
    return torch.allclose(added(places), added(torch.arange(3)))


# %% check=true
assert as_if_alone(positions_from_mask)
assert not as_if_alone(lambda mask: torch.arange(5).expand(2, 5))
assert torch.allclose(turned(text_right), turned(text_wrong))
assert right[:, 2:].tolist() == [[0, 1, 2], [2, 3, 4]]

# %% [markdown] lang="en" role="claim"
# Counted from the mask, the padded text gives the scores of the text alone. Counted
# from the edge it does not. With RoPE the scores are equal either way, up to rounding.

# %% [markdown] lang="zh" role="claim"
# 按掩码来数，带填充的文本与单独的文本分数相同；从边缘数起，就不同。用 RoPE 的话，两种数法的分数只差舍入误差。

# %% [markdown] lang="en"
# Lessons: [Learned positions](../lessons/learned.md) and [RoPE](../lessons/rope.md).
# Reference: [`tokpos.positions.positions_from_mask`][].

# %% [markdown] lang="zh"
# 相关课程：[可学习的位置](../lessons/learned.md)、[RoPE](../lessons/rope.md)。参考：[`tokpos.positions.positions_from_mask`][]。
