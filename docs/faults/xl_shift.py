# %% [markdown] lang="en"
# # Transformer-XL's shift drops the wrong row
#
# Transformer-XL computes its scores by distance and then moves each row to its place
# with a trick: put zeros in front, read in another shape, drop the first row. Others put
# the zeros behind and drop the last row, and one form looks wrong beside the other:
# [labmlai/annotated_deep_learning_paper_implementations#185](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/185).
# What is wrong is a mixture: zeros in front, and the last row dropped. And in the right
# form, too, what stands above the diagonal means nothing. Encoders for speech, which have
# no causal mask to remove it, used it nevertheless:
# [espnet/espnet#2684](https://github.com/espnet/espnet/issues/2684) and
# [ZhengkunTian/OpenTransformer#25](https://github.com/ZhengkunTian/OpenTransformer/issues/25).

# %% [markdown] lang="zh"
# # Transformer-XL 的移位丢错了一行
#
# Transformer-XL 先按距离算分数，再把每一行移到该在的位置，用的是一个巧办法：前面补零，换个形状来读，丢掉第一行。也有人把零补在后面，丢掉最后一行；两种写法放在一起看，总有一种像是错的：[labmlai/annotated_deep_learning_paper_implementations#185](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/185)。真正错的是混用：零补在前面，丢的却是最后一行。再说，就算移位正确，对角线上方的数也没有意义。语音识别的编码器没有因果掩码来去掉它们，却照样用了：[espnet/espnet#2684](https://github.com/espnet/espnet/issues/2684)、[ZhengkunTian/OpenTransformer#25](https://github.com/ZhengkunTian/OpenTransformer/issues/25)。

# %%
import torch

from tokpos import relative_shift

x = torch.arange(1.0, 10.0).view(3, 3)  # rows: queries, columns: distances 2, 1, 0


def reshaped(x):
    padded = torch.cat([torch.zeros(len(x), 1), x], dim=1)
    return padded.view(len(x) + 1, len(x))


def wrong(x):
    return reshaped(x)[:-1]


def right(x):
    return reshaped(x)[1:]


print("right:\n", right(x).int().numpy())
print("wrong:\n", wrong(x).int().numpy())

# %% hide=true
from tokpos.figures.relative import shift

shift(3)

# %% [markdown] lang="en" role="caption"
# The trick, step by step. The gray entries lie in the future and mean nothing.

# %% [markdown] lang="zh" role="caption"
# 这个巧办法的每一步。灰色的部分属于未来，没有意义。

# %% [markdown] lang="en"
# Here is the intended result, written out: the score of query $i$ with key $j$ is taken
# from the column of the distance $i - j$.

# %% [markdown] lang="zh"
# 把应有的结果写出来：查询 $i$ 与键 $j$ 的分数，取自距离 $i - j$ 的那一列。


# %%
def intended(x):
    n = len(x)
    return {(i, j): x[i, n - 1 - (i - j)].item() for i in range(n) for j in range(i + 1)}


print("place  intended right  wrong")
for place, score in intended(x).items():
    print(place, f"{score:6.0f} {right(x)[place]:6.0f} {wrong(x)[place]:6.0f}")

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# The shape is the same, and most of the numbers are there, one row lower: each query gets
# scores of the query before it. Even in the right result all that stands above the
# diagonal is junk, such as the {{ right(x)[0, 2].int().item() }} of query 1 in the row of
# query 0, so strange values there surprise nobody. A model trained with the wrong shift
# learns what it can.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 形状一样，数也大多都在，只是低了一行。每个查询拿到的都是上一个查询的分数。就连正确的结果，对角线上方也全是无效值，例如查询 0 那一行里的 {{ right(x)[0, 2].int().item() }}，其实是查询 1 的分数；所以那里出现奇怪的数，谁也不会在意。用错误的移位训练，模型也只能将就着学。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Use small whole numbers, and compare only the entries that count.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 用小整数，只比较有意义的那些位置。


# %%
def gives_what_is_intended(shift):
    for n in (2, 3, 5):
        x = torch.arange(1.0, n * n + 1).view(n, n)
        if any(shift(x)[place] != score for place, score in intended(x).items()):
            return False
    return True


# %% check=true
assert gives_what_is_intended(right)
assert gives_what_is_intended(relative_shift)
assert not gives_what_is_intended(wrong)
assert all(wrong(x)[place] != score for place, score in intended(x).items())
assert torch.equal(right(x), relative_shift(x))
assert right(x)[0, 2] == x[1, 0] and wrong(x)[1, 0] == x[0, 2]

# %% [markdown] lang="en" role="claim"
# The right shift gives all {{ len(intended(x)) }} intended entries; with the wrong row
# dropped, none of them is right.

# %% [markdown] lang="zh" role="claim"
# 正确的移位，{{ len(intended(x)) }} 个有意义的数全对；丢错了行，一个也不对。

# %% [markdown] lang="en"
# Lesson: [Relative positions](../lessons/relative.md). Reference:
# [`tokpos.transformer_xl.relative_shift`][].

# %% [markdown] lang="zh"
# 相关课程：[相对位置](../lessons/relative.md)。参考：[`tokpos.transformer_xl.relative_shift`][]。
