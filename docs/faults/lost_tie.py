# %% [markdown] lang="en"
# # Loading a checkpoint unties table and head
#
# With `load_state_dict(..., assign=True)` each name gets a parameter of its own, and one matrix
# becomes two:
# [pytorch/pytorch#188346](https://github.com/pytorch/pytorch/issues/188346). In
# [TransformerLensOrg/TransformerLens#1725](https://github.com/TransformerLensOrg/TransformerLens/issues/1725)
# the checkpoint held only one of the two names, so the head kept its old numbers, and
# the model computed with them.

# %% [markdown] lang="zh"
# # 加载检查点之后，嵌入表和语言模型头不再绑定
#
# 用 `load_state_dict(..., assign=True)` 加载，每个名字都会得到各自的新参数，原来的一个矩阵就成了两个：[pytorch/pytorch#188346](https://github.com/pytorch/pytorch/issues/188346)。在 [TransformerLensOrg/TransformerLens#1725](https://github.com/TransformerLensOrg/TransformerLens/issues/1725) 里，检查点只含两个名字中的一个，语言模型头（LM head）就留着旧的数，模型照样拿它来算。

# %%
import torch
from torch import nn

from tokpos import is_tied, retie


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        return self.head(self.embedding(ids))


torch.manual_seed(0)
checkpoint = {"embedding.weight": torch.arange(28.0).view(7, 4) / 28}
numbers = sum(parameter.numel() for parameter in Tied().parameters())
print(numbers, "numbers in the tied model")

# %% [markdown] lang="en"
# The two ways to load, and the logits of token 1, which must be its row times every
# row.

# %% [markdown] lang="zh"
# 两种加载方式，以及词元（token）1 的 logits（未归一化分数）——应当是它那一行与每一行的点积。


# %%
def loaded(assign):
    model = Tied()
    model.load_state_dict(checkpoint, strict=False, assign=assign)
    return model


right, wrong = loaded(assign=False), loaded(assign=True)
table = checkpoint["embedding.weight"]
print("formula:", (table[1] @ table.T).numpy().round(2))
for name, model in (("right", right), ("wrong", wrong)):
    print(f"{name}:  ", model(torch.tensor(1)).detach().numpy().round(2))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Every key in the checkpoint was loaded, and a head is a matrix like any other. If both
# keys are there, the two matrices even compute the same, until a training step moves
# one without the other.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 检查点里有的键都加载了，而语言模型头不过是一个普通的矩阵。如果检查点里两个键都有，算出来甚至完全一样，直到某一步训练只挪动了其中一个。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# After each load, check that the two are still one: [`tokpos.head.is_tied`][]. To
# repair the tie there is [`tokpos.head.retie`][].

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 每次加载之后，检查两者是否还是同一个。[`tokpos.head.is_tied`][] 就是做这件事的；[`tokpos.head.retie`][] 负责修复。


# %%
def one_matrix(model):
    return is_tied(model.embedding, model.head)


# %% check=true
assert one_matrix(right)
assert not one_matrix(wrong)
assert torch.allclose(right(torch.tensor(1)), table[1] @ table.T)
assert not torch.allclose(wrong(torch.tensor(1)), table[1] @ table.T)
doubled = sum(parameter.numel() for parameter in wrong.parameters())
assert doubled == 2 * numbers
retie(wrong.embedding, wrong.head, keep="embedding")
assert one_matrix(wrong)
assert torch.allclose(wrong(torch.tensor(1)), table[1] @ table.T)

# %% [markdown] lang="en" role="claim"
# The default load keeps the tie. With `assign=True` there are {{ doubled }} numbers in
# place of {{ numbers }}, and the logits are those of the old head. `retie` makes them
# right.

# %% [markdown] lang="zh" role="claim"
# 默认的加载方式会保住权重绑定（weight tying）。用 `assign=True`，参数从 {{ numbers }} 个变成 {{ doubled }} 个，logits 还是旧的语言模型头算出来的。调用 `retie` 之后就对了。

# %% [markdown] lang="en"
# Lesson: [The way out](../lessons/head.md). Reference: [`tokpos.head.check_tied`][].

# %% [markdown] lang="zh"
# 相关课程：[出口：语言模型头](../lessons/head.md)。参考：[`tokpos.head.check_tied`][]。
