# %% [markdown] lang="en"
# # ALiBi's slopes for twelve heads
#
# For 8 heads the slopes are 1/2, 1/4 and so on to 1/256, and the paper gives $2^{-8h/n}$
# for any number $n$ of heads. But the authors' code uses that for powers of two only,
# and their [rule for other numbers](../differences.md#alibi) differs.
# [ml-explore/mlx#343](https://github.com/ml-explore/mlx/issues/343) found that MLX used
# $2^{-8h/n}$ for all; [ml-explore/mlx#3071](https://github.com/ml-explore/mlx/pull/3071)
# replaced it with the authors' rule.

# %% [markdown] lang="zh"
# # 十二个注意力头的 ALiBi 斜率
#
# 8 个注意力头时，ALiBi（带线性偏置的注意力）的斜率是 1/2、1/4，一直到 1/256；论文对任何头数 $n$ 都写作 $2^{-8h/n}$。可是作者的代码只在头数是 2 的幂时才这样算，[其他头数另有规则](../differences.md#alibi)。[ml-explore/mlx#343](https://github.com/ml-explore/mlx/issues/343) 发现 MLX 处处都用 $2^{-8h/n}$，[ml-explore/mlx#3071](https://github.com/ml-explore/mlx/pull/3071) 换成了作者的规则。

# %% [markdown] lang="en"
# The authors' rule: take all slopes for the next lower power of two, here 8. Fill up with
# every second slope for the next higher one, here 16, starting with the first.

# %% [markdown] lang="zh"
# 作者的规则：先取小于头数的最大的 2 的幂，这里是 8，用它的全部斜率；不够的，从下一个 2 的幂（16）的斜率里，从第一个起，隔一个取一个。

# %%
from tokpos import alibi_slopes


def powers(n):
    return [2 ** (-8 * h / n) for h in range(1, n + 1)]


def filled_up(n):
    below = 2 ** (n.bit_length() - 1)
    return powers(below) + powers(2 * below)[::2][: n - below]


columns = filled_up(12), alibi_slopes(12).tolist(), powers(12)
print("head  right     tokpos    wrong")
for h, row in enumerate(zip(*columns, strict=True), 1):
    print(f"{h:4}", *(f"{slope:9.6f}" for slope in row))

# %% hide=true
from tokpos.figures.alibi import slopes_of_heads

slopes_of_heads((8, 12))

# %% [markdown] lang="en" role="caption"
# The slopes of models with 8 and with 12 heads. Of the 12, the first eight are those of
# the model with 8 heads; the last four are new.

# %% [markdown] lang="zh" role="caption"
# 8 个头和 12 个头的模型的斜率。12 个里的前八个与 8 个头的模型相同，后四个是新的。

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Both lists lie between 0 and 1 and have the same smallest slope. The wrong one is even
# sorted, as one would expect. Models whose number of heads is a power of two are right.
# A checkpoint with 12 heads that was trained with the authors' rule meets other slopes,
# and no error is raised.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 两组数都在 0 与 1 之间，最小的一个也相同；错的那组甚至是排好序的，正像人们想象中的数列。头数是 2 的幂的模型，结果都对。12 个头的检查点，如果是按作者的规则训练的，用上的就不是训练时的斜率，而且没有报错。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Test numbers of heads that are not powers of two, against the rule written out.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 拿几个不是 2 的幂的头数，与照规则写出的结果比较。

# %%
import math


def follows_the_authors_code(slopes):
    return all(
        math.isclose(ours, right, rel_tol=1e-6)
        for n in (1, 3, 6, 8, 12, 20)
        for ours, right in zip(slopes(n), filled_up(n), strict=True)
    )


# %% check=true
assert follows_the_authors_code(lambda n: alibi_slopes(n).tolist())
assert not follows_the_authors_code(powers)
assert powers(8) == filled_up(8) == alibi_slopes(8).tolist()
wrong = sum(not math.isclose(a, b) for a, b in zip(powers(12), filled_up(12), strict=True))
assert wrong == 12 and min(powers(12)) == min(filled_up(12))
assert filled_up(6) == [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]

# %% [markdown] lang="en" role="claim"
# With 8 heads both rules agree. With 12, every one of the {{ wrong }} slopes differs
# from the one that the authors' rule gives the same head.

# %% [markdown] lang="zh" role="claim"
# 8 个头时，两种规则一致。12 个头时，逐个头比较，{{ wrong }} 个斜率没有一个与作者的规则相同。

# %% [markdown] lang="en"
# Lesson: [ALiBi](../lessons/alibi.md). Reference: [`tokpos.alibi.alibi_slopes`][].

# %% [markdown] lang="zh"
# 相关课程：[ALiBi](../lessons/alibi.md)。参考：[`tokpos.alibi.alibi_slopes`][]。
