# %% [markdown] lang="en"
# # Rows frozen by a zero gradient decay toward zero
#
# A training script for a single new word was meant to freeze all other rows of the
# table. It set their gradients to zero before each step. But the optimizer was AdamW,
# and weight decay needs no gradient:
# [huggingface/diffusers#1009](https://github.com/huggingface/diffusers/issues/1009) and
# [huggingface/diffusers#1176](https://github.com/huggingface/diffusers/issues/1176)
# found the "frozen" rows shrinking.
# [huggingface/diffusers#1665](https://github.com/huggingface/diffusers/pull/1665)
# copies the old values back after each step.

# %% [markdown] lang="zh"
# # 用零梯度冻结的行，一点点往零衰减
#
# 一个训练脚本只想学一个新词，打算冻结嵌入表（embedding table）里其余的行，办法是每一步之前把它们的梯度清零。可是用的优化器是 AdamW，它的权重衰减不需要梯度：[huggingface/diffusers#1009](https://github.com/huggingface/diffusers/issues/1009) 和 [huggingface/diffusers#1176](https://github.com/huggingface/diffusers/issues/1176) 都发现，“冻结”的行在缩小。[huggingface/diffusers#1665](https://github.com/huggingface/diffusers/pull/1665) 的做法是，每一步之后把原来的值抄回去。

# %% [markdown] lang="en"
# A table of ones. The new word is row 2; the other rows should stay.

# %% [markdown] lang="zh"
# 一张全是 1 的表；新词是第 2 行，其余的行都应当不动。

# %%
import torch
from torch import nn

rate, decay, steps, new_word = 0.1, 0.1, 100, 2


def trained(freeze_before=None, freeze_after=None):
    table = nn.Embedding(3, 2)
    nn.init.ones_(table.weight)
    optimizer = torch.optim.AdamW(table.parameters(), lr=rate, weight_decay=decay)
    for _ in range(steps):
        optimizer.zero_grad()
        table(torch.tensor([0, new_word])).sum().backward()
        if freeze_before:
            freeze_before(table)
        optimizer.step()
        if freeze_after:
            freeze_after(table)
    return table.weight.detach()


# %%
def zero_gradients(table):
    table.weight.grad[:new_word] = 0


def copy_back(table):
    with torch.no_grad():
        table.weight[:new_word] = 1


wrong = trained(freeze_before=zero_gradients)
right = trained(freeze_after=copy_back)
print("wrong, row 0:", round(wrong[0, 0].item(), 4))
print("right, row 0:", round(right[0, 0].item(), 4))
print("by formula:  ", round((1 - rate * decay) ** steps, 4))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Print the gradients: they are zero, as intended, and the row of the new word does move. Each step
# removes only the learning rate times the decay, {{ rate * decay:.0% }} of a row: it is plain only
# when the rows are compared with those at the start.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 去看梯度，确实都是零；新词那一行也照常在变。而且每一步只缩小 {{ rate * decay:.0% }}，即学习率乘衰减：要和最初的状态比，才明显。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Keep a copy of what should stay, train, and compare bit for bit.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 把应当不动的部分留一份副本，训练之后逐位比较。


# %%
def frozen_stays(weight):
    return torch.equal(weight[:new_word], torch.ones(new_word, 2))


# %% check=true
assert frozen_stays(right)
assert not frozen_stays(wrong)
assert abs(wrong[0, 0].item() - (1 - rate * decay) ** steps) < 1e-5
assert right[new_word, 0] < 1 and wrong[new_word, 0] < 1

# %% [markdown] lang="en" role="claim"
# Copied back, the rows are what they were, bit for bit. With their gradients set to
# zero they have shrunk to {{ wrong[0, 0].item():.3f }} after {{ steps }} steps, and
# nothing but the decay did it.

# %% [markdown] lang="zh" role="claim"
# 抄回去的行，与原来逐位相等。只把梯度清零的行，{{ steps }} 步之后缩到了 {{ wrong[0, 0].item():.3f }}，全是权重衰减造成的。

# %% [markdown] lang="en"
# Lesson: [The table learns](../lessons/learning.md). Reference:
# [`tokpos.embedding.TokenEmbedding`][].

# %% [markdown] lang="zh"
# 相关课程：[嵌入表怎样学习](../lessons/learning.md)。参考：[`tokpos.embedding.TokenEmbedding`][]。
