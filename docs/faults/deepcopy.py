# %% [markdown] lang="en"
# # A deep copy separates parameters that shared their storage
#
# `copy.deepcopy` keeps two names of one parameter together. But two parameters over one
# storage become two storages:
# [pytorch/pytorch#79788](https://github.com/pytorch/pytorch/issues/79788). If head and
# table were tied by assigning the numbers (`.data`) and not the parameter, they are
# such a pair. A copy of the model, made for a moving average for instance, has lost the
# tie.

# %% [markdown] lang="zh"
# # 深拷贝把共用的数分成了两份
#
# 同一个参数有两个名字，`copy.deepcopy` 会让它们在副本里仍是一个。可是两个参数共用一块存储，拷贝之后就成了两块：[pytorch/pytorch#79788](https://github.com/pytorch/pytorch/issues/79788)。绑定语言模型头（LM head）与嵌入表（embedding table）时，如果赋值的是数（`.data`）而不是参数，就是这种情形；一做副本（比如用来求模型的滑动平均），绑定就没了。

# %%
import copy

import torch
from torch import nn


def model(by_parameter):
    embedding, head = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
    if by_parameter:
        head.weight = embedding.weight
    else:
        head.weight.data = embedding.weight.data
    return nn.ModuleDict({"embedding": embedding, "head": head})


def one_storage(pair):
    return pair["embedding"].weight.data_ptr() == pair["head"].weight.data_ptr()


torch.manual_seed(0)
right, wrong = model(by_parameter=True), model(by_parameter=False)
for name, pair in (("right", right), ("wrong", wrong)):
    twin = copy.deepcopy(pair)
    print(name, "one storage:", one_storage(pair), " in the copy:", one_storage(twin))

# %% [markdown] lang="en"
# Write a number into one side of the copy to see what that means.

# %% [markdown] lang="zh"
# 往副本的一边写一个数，就能看出区别。


# %%
def written_and_read(pair):
    """Write into the table of a copy, read from its head."""
    twin = copy.deepcopy(pair)
    with torch.no_grad():
        twin["embedding"].weight[2, 0] = 42.0
    return twin["head"].weight[2, 0].item()


print("right:", written_and_read(right))
print("wrong:", round(written_and_read(wrong), 4))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Before the copy, table and head hold the same numbers in the wrong model too, even in a test that
# writes on one side and reads on the other. The copy starts with the same numbers. What could have
# given it away is the number of parameters: the wrong model has two from the beginning, and hands
# both to the optimizer.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 拷贝之前，错误的模型两边的数也总是相同，哪怕测试时从一边写、从另一边读，也看不出差别。刚拷贝出来，数也都一样，只是存了两份。要数一数参数的个数，或者问两边是不是同一个参数，才看得出来：错误的模型从一开始就有两个，交给优化器的也是两个。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Tied means one parameter, not equal numbers: compare with `is`. No copy is needed, as the wrong
# model fails already.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 绑定的意思是同一个参数，而不是数相等，所以用 `is` 来比较。不必等到拷贝，错误的模型本身就通不过。


# %%
def tied(pair):
    return pair["embedding"].weight is pair["head"].weight


# %% check=true
assert tied(right) and tied(copy.deepcopy(right))
assert not tied(wrong)
assert one_storage(right) and one_storage(wrong)
assert one_storage(copy.deepcopy(right)) and not one_storage(copy.deepcopy(wrong))
assert written_and_read(right) == 42 != written_and_read(wrong)
assert len(list(right.parameters())) == 1 and len(list(wrong.parameters())) == 2

# %% [markdown] lang="en" role="claim"
# Assigned as a parameter, table and head are one in the copy too. Assigned as numbers,
# they share a storage in the model and none in its copy.

# %% [markdown] lang="zh" role="claim"
# 赋值的是参数，副本里嵌入表和语言模型头仍是一个；赋值的只是数，两者在模型里共用一块存储，在副本里就各有各的了。

# %% [markdown] lang="en"
# Lesson: [The way out](../lessons/head.md). Reference: [`tokpos.head.tie`][].

# %% [markdown] lang="zh"
# 相关课程：[出口：语言模型头](../lessons/head.md)。参考：[`tokpos.head.tie`][]。
