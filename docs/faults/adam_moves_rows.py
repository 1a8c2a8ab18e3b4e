# %% [markdown] lang="en"
# # Adam moves a row that was not in the batch
#
# Someone looked up a rare word once and then saw its row move a little at every later
# step, although the word was absent and its gradient zero:
# [pytorch/pytorch#18404](https://github.com/pytorch/pytorch/issues/18404). With plain
# SGD the row stayed. It is not a bug in the optimizer, but it is not what one expects after
# reading that only the rows looked up are updated.

# %% [markdown] lang="zh"
# # 不在批量里的行，也被 Adam 挪动了
#
# 有人查了一次某个少见的词，之后的批量里再没有它，梯度也是零，可是每走一步，它的行都会再动一点：[pytorch/pytorch#18404](https://github.com/pytorch/pytorch/issues/18404)。换成普通的 SGD 就不动。这不是优化器的错误，可是读过“只有查到的行才会更新”的人，多半想不到会这样。

# %% [markdown] lang="en"
# A table of three rows, all ones.
# Step 1 looks up row 0, step 2 looks up row 1. The loss is the sum,
# so each entry of a looked-up row has gradient 1.

# %% [markdown] lang="zh"
# 一张三行的嵌入表（embedding table），全是 1。第一步查第 0 行，第二步查第 1 行。损失就是各数之和，所以查到的行，每个数的梯度都是 1。

# %%
import torch
from torch import nn


def row_0_after_each_step(make, sparse=False):
    table = nn.Embedding(3, 2, sparse=sparse)
    nn.init.ones_(table.weight)
    optimizer = make(table.parameters())
    rows = []
    for looked_up in (0, 1):
        optimizer.zero_grad()
        table(torch.tensor([looked_up])).sum().backward()
        optimizer.step()
        rows.append(table.weight[0, 0].item())
    return rows


ways = {
    "SGD": row_0_after_each_step(lambda p: torch.optim.SGD(p, lr=0.1)),
    "SparseAdam": row_0_after_each_step(lambda p: torch.optim.SparseAdam(p, lr=0.1), True),
    "Adam": row_0_after_each_step(lambda p: torch.optim.Adam(p, lr=0.1)),
}
for name, (first, second) in ways.items():
    print(f"{name:11} after step 1: {first:.6f}   after step 2: {second:.6f}")

# %% [markdown] lang="en"
# Adam remembers: its averages of the gradient are not zero after step 1, so step 2
# moves the row again. The formula gives the size of the move.

# %% [markdown] lang="zh"
# Adam 有记忆：第一步之后，它对梯度的滑动平均不再是零，所以第二步又推了这一行一把。推多远，公式算得出来。

# %%
m, v = 0.9 * 0.1, 0.999 * 0.001  # the averages after a gradient of 1 and one of 0
move = -0.1 * (m / (1 - 0.9**2)) / ((v / (1 - 0.999**2)) ** 0.5)
print(f"move by the formula: {move:.6f}")
print(f"move seen:           {ways['Adam'][1] - ways['Adam'][0]:.6f}")

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Nobody looks at rows that are not in the batch. The loss falls, and the row moves in a
# direction that was right once.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 不在批量里的行，没有人会去看。损失照样下降，挪动的方向也曾经是对的。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Compare the rows that the batch did not contain, before and after a step.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 走一步之前和之后，比较批量里没有的那些行。


# %%
def stays_when_absent(rows):
    after_first, after_second = rows
    return after_first == after_second


# %% check=true
assert stays_when_absent(ways["SGD"])
assert stays_when_absent(ways["SparseAdam"])
assert not stays_when_absent(ways["Adam"])
assert abs(ways["Adam"][1] - ways["Adam"][0] - move) < 1e-6

# %% [markdown] lang="en" role="claim"
# SGD and SparseAdam leave the absent row alone. Adam moves it by {{ move:.6f }}, as its
# formula says.

# %% [markdown] lang="zh" role="claim"
# SGD 和 SparseAdam 不动缺席的行；Adam 则把它挪了 {{ move:.6f }}，与公式一致。

# %% [markdown] lang="en"
# Lesson: [The table learns](../lessons/learning.md). Reference:
# [`tokpos.embedding.TokenEmbedding`][], with `sparse=True` for SparseAdam.

# %% [markdown] lang="zh"
# 相关课程：[嵌入表怎样学习](../lessons/learning.md)。参考：[`tokpos.embedding.TokenEmbedding`][]，配合 SparseAdam 时用 `sparse=True`。
