# %% [markdown] lang="en"
# # LayerNorm with the wrong epsilon
#
# A port of BERT gave the right epsilon, 1e-12, to the first LayerNorm and forgot the
# others, which took the default 1e-5:
# [keras-team/keras-hub#642](https://github.com/keras-team/keras-hub/issues/642). In
# [nomic-ai/gpt4all#1946](https://github.com/nomic-ai/gpt4all/pull/1946) an encoder in
# C++ used a value of its own instead of the model's.

# %% [markdown] lang="zh"
# # 层归一化用错了 epsilon
#
# 一份移植的 BERT，只有第一个层归一化（LayerNorm）用了正确的 epsilon，即 1e-12；其余各层忘了设，就成了默认的 1e-5：[keras-team/keras-hub#642](https://github.com/keras-team/keras-hub/issues/642)。在 [nomic-ai/gpt4all#1946](https://github.com/nomic-ai/gpt4all/pull/1946) 里，一个用 C++ 写的编码器没有用模型的值，用的是自己的值。

# %% [markdown] lang="en"
# A row of small numbers shows it: its variance is smaller than the wrong epsilon.

# %% [markdown] lang="zh"
# 一行很小的数就能看出来：它的方差比错误的 epsilon 还小。

# %%
import torch
import torch.nn.functional as F

row = torch.tensor([1e-3, -1e-3, 2e-3, -2e-3])
variance = row.double().var(correction=0).item()
print(f"variance {variance:.1e}")

# %%
exact = (row.double() - row.double().mean()) / (variance + 1e-12) ** 0.5
right = F.layer_norm(row, (4,), eps=1e-12)
wrong = F.layer_norm(row, (4,))
print("formula:", exact.numpy().round(4))
print("right:  ", right.numpy().round(4))
print("wrong:  ", wrong.numpy().round(4))
shrunk = (variance / (variance + 1e-5)) ** 0.5
print(f"wrong / right = {(wrong / right)[0]:.4f}, by the formula {shrunk:.4f}")

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# For rows with a variance near 1 both epsilons give almost the same, and a test with
# `torch.randn` has no other rows. The smaller the variance of a row, the larger the
# error.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 方差接近 1 的行，两种 epsilon 的结果几乎一样，而用 `torch.randn` 写的测试里只有这样的行。一行的方差越小，误差越大。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Test with a row of small variance, not with standard random numbers.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 测试要用方差很小的行，不要用标准正态的随机数。


# %%
def like_the_formula(norm, row):
    centered = row.double() - row.double().mean()
    right = centered / (centered.square().mean() + 1e-12) ** 0.5
    return torch.allclose(norm(row).double(), right, rtol=1e-4, atol=0)


def bert(row):
    return F.layer_norm(row, row.shape, eps=1e-12)


def default(row):
    return F.layer_norm(row, row.shape)


ordinary = torch.randn(64, generator=torch.Generator().manual_seed(0))

# %% check=true
assert like_the_formula(bert, row)
assert not like_the_formula(default, row)
assert like_the_formula(bert, ordinary) and like_the_formula(default, ordinary)
assert abs((wrong / right)[0].item() - shrunk) < 1e-4

# %% [markdown] lang="en" role="claim"
# On a row of standard random numbers both pass. On the small row the default shrinks the
# result to {{ shrunk:.3f }} of what it should be, and the test fails.

# %% [markdown] lang="zh" role="claim"
# 换成一行标准正态的随机数，两种都通过。遇到这行很小的数，默认值把结果缩到应有大小的 {{ shrunk:.3f }}，测试不通过。

# %% [markdown] lang="en"
# Lesson: [BERT's embedding layer](../lessons/bert_embeddings.md). Reference:
# [`tokpos.bert.BertEmbeddings`][].

# %% [markdown] lang="zh"
# 相关课程：[BERT 的嵌入层（embedding layer）](../lessons/bert_embeddings.md)。参考：[`tokpos.bert.BertEmbeddings`][]。
