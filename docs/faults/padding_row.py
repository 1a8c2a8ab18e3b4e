# %% [markdown] lang="en"
# # The padding row is not zero
#
# `padding_idx` gives a row of zeros, but only once: when the layer is made. Initialize
# the table yourself afterwards, or load pretrained rows, and the zeros are overwritten:
# [pytorch/pytorch#6411](https://github.com/pytorch/pytorch/issues/6411),
# [pytorch/pytorch#1812](https://github.com/pytorch/pytorch/issues/1812) and
# [pytorch/pytorch#46585](https://github.com/pytorch/pytorch/issues/46585) report it in
# three forms.

# %% [markdown] lang="zh"
# # 填充行不是零
#
# 设了 `padding_idx`，嵌入表（embedding table）里对应的那一行就是零——但这只发生在创建层的那一刻。之后再用自己的方法初始化，或者加载预训练的行，零就被盖掉了。零被盖掉的三种情形，见 [pytorch/pytorch#6411](https://github.com/pytorch/pytorch/issues/6411)、[pytorch/pytorch#1812](https://github.com/pytorch/pytorch/issues/1812) 和 [pytorch/pytorch#46585](https://github.com/pytorch/pytorch/issues/46585)。

# %%
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(5, 3, padding_idx=0)
print("as made:          ", embedding.weight[0].tolist())
nn.init.uniform_(embedding.weight, 0.1, 0.9)
print("after a new init: ", [round(x, 2) for x in embedding.weight[0].tolist()])

# %% [markdown] lang="en"
# The mean over the tokens is the simplest way to turn a text into one vector. It now
# depends on how much padding happens to follow the text.

# %% [markdown] lang="zh"
# 把各个词元（token）的向量取平均，是把一段文本变成一个向量的最简单办法。填充行不是零，平均值就会随着文本后面填充的多少而变。


# %%
def summed(table, ids):
    """The sum over all places; the caller divides by the number of real tokens."""
    return table(torch.tensor(ids)).sum(0)


zeroed = nn.Embedding.from_pretrained(embedding.weight.clone(), padding_idx=0)
with torch.no_grad():
    zeroed.weight[0] = 0

for ids in ([1, 2], [1, 2, 0, 0]):
    right, wrong = summed(zeroed, ids) / 2, summed(embedding, ids) / 2
    print(f"{ids!s:12}", "right", right.numpy().round(2), "wrong", wrong.detach().numpy().round(2))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# A row of random numbers looks like any other row. And the gradient never repairs it: all that
# `padding_idx` guarantees is that the lookup sends none there. (Weight decay shrinks the row,
# slowly.)

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 一行随机数，看上去和别的行没有区别。梯度也不会把它改回来：`padding_idx` 真正保证的只有一件事，就是查表不会向这一行传回梯度。（权重衰减会让它慢慢缩小。）

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# The same text with more padding must give the same sum.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 同一段文本，多加一些填充，总和必须不变。


# %%
def padding_adds_nothing(table):
    return torch.equal(summed(table, [1, 2]), summed(table, [1, 2, 0, 0]))


# %% check=true
assert padding_adds_nothing(zeroed)
assert not padding_adds_nothing(embedding)
embedding(torch.tensor([0, 0, 1])).sum().backward()
assert embedding.weight.grad[0].abs().max() == 0
assert embedding.weight.grad[1].abs().min() == 1

# %% [markdown] lang="en" role="claim"
# With zeros in the padding row the sum stays the same; with the new numbers it does
# not. The gradient of that row is zero all the same.

# %% [markdown] lang="zh" role="claim"
# 填充行是零，总和就不变；填充行是新的随机数，总和就变了。而这一行的梯度，照样是零。

# %% [markdown] lang="en"
# Lesson: [The table learns](../lessons/learning.md). Reference:
# [`tokpos.embedding.TokenEmbedding`][], whose new initialization keeps the zeros.

# %% [markdown] lang="zh"
# 相关课程：[嵌入表怎样学习](../lessons/learning.md)。参考：[`tokpos.embedding.TokenEmbedding`][]，它重新初始化时会保住这些零。
