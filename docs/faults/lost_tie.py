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
# By default a missing key is an error. But `strict=False` was set, as one does for a partial
# checkpoint, and nobody read the `missing_keys` that the load returned. Without them all looks
# well: a head is a matrix like any other. If both keys are there, table and head compute the same
# at first. Then a training step moves each by a gradient of its own.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 缺了键，默认会报错。可是这里写了 `strict=False`（检查点不全时常这样写），加载时返回的 `missing_keys` 又没有人看。不看它，就什么也看不出来：语言模型头不过是一个普通的矩阵。如果检查点里两个键都有，刚加载完算出来甚至完全一样；一开始训练，两个矩阵各按各的梯度走，就分开了。

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


# %% raises=RuntimeError
Tied().load_state_dict(checkpoint, assign=True)

# %% check=true
assert one_matrix(right)
assert not one_matrix(wrong)
assert torch.allclose(right(torch.tensor(1)), table[1] @ table.T)
assert not torch.allclose(wrong(torch.tensor(1)), table[1] @ table.T)
doubled = sum(parameter.numel() for parameter in wrong.parameters())
assert doubled == 2 * numbers
result = Tied().load_state_dict(checkpoint, strict=False, assign=True)
assert result.missing_keys == ["head.weight"]

both = Tied()
both.load_state_dict({"embedding.weight": table, "head.weight": table.clone()}, assign=True)
assert torch.equal(both.embedding.weight, both.head.weight)
both(torch.arange(3)).square().sum().backward()
torch.optim.SGD(both.parameters(), lr=0.1).step()
assert not torch.allclose(both.embedding.weight, both.head.weight)

retie(wrong.embedding, wrong.head, keep="embedding")
assert one_matrix(wrong)
assert torch.allclose(wrong(torch.tensor(1)), table[1] @ table.T)

# %% [markdown] lang="en" role="claim"
# Without `assign=True` the load keeps the tie. With it there are {{ doubled }} numbers in place of
# {{ numbers }}, the logits are those of the old head, and `missing_keys` names it; two equal matrices
# differ after one step. `retie` makes the logits right.

# %% [markdown] lang="zh" role="claim"
# 不写 `assign=True`，加载会保住权重绑定（weight tying）。写了，参数就从 {{ numbers }} 个变成 {{ doubled }} 个，logits 还是旧的语言模型头算出来的，`missing_keys` 里有它的名字；两个相等的矩阵，训练一步就不同了。调用 `retie` 之后，logits 就对了。

# %% [markdown] lang="en"
# Lesson: [The way out](../lessons/head.md). Reference: [`tokpos.head.check_tied`][].

# %% [markdown] lang="zh"
# 相关课程：[出口：语言模型头](../lessons/head.md)。参考：[`tokpos.head.check_tied`][]。
