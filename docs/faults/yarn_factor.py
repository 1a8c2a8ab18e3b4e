# %% [markdown] lang="en"
# # YaRN's attention factor, squared or ignored
#
# YaRN multiplies cosine and sine by a factor, $0.1 \ln s + 1$, where $s$ is the length of
# the texts as a multiple of that in training (`factor` below). One engine read the
# finished factor from a model's file and multiplied it by its own, and so squared it:
# [sgl-project/sglang#33558](https://github.com/sgl-project/sglang/pull/33558), which
# reports about 20 points more on a mathematics benchmark after the fix. Another engine
# ignored the file and always computed its own:
# [ml-explore/mlx-lm#1507](https://github.com/ml-explore/mlx-lm/pull/1507).

# %% [markdown] lang="zh"
# # YaRN 的注意力因子，要么被平方，要么被忽略
#
# YaRN 给余弦和正弦乘一个因子 $0.1 \ln s + 1$，其中 $s$ 是文本长度可以达到训练时的多少倍（即下面的 `factor`）。有个推理引擎读到模型文件里算好的因子，又拿自己算的乘了一遍，等于平方：[sgl-project/sglang#33558](https://github.com/sgl-project/sglang/pull/33558)，据提交者说，改正之后，一项数学测试提高了约 20 分。另一个引擎只用自己算的，不理会文件里写的：[ml-explore/mlx-lm#1507](https://github.com/ml-explore/mlx-lm/pull/1507)。

# %%
import math

from tokpos import scaled_frequencies


def factor(**given):
    rule = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
    return scaled_frequencies(16, scaling={**rule, **given}).attention_factor


own = 0.1 * math.log(4.0) + 1
print(f"formula {own:.6f}  tokpos {factor():.6f}")

# %% [markdown] lang="en"
# A file may leave the factor out, state the value of the formula, or set it to 1, which
# switches it off.

# %% [markdown] lang="zh"
# 文件里可以不写这个因子，可以写出公式的值，也可以写成 1，等于关掉它。


# %%
def squared(attention_factor=None):
    return own if attention_factor is None else own * attention_factor


def ignored(attention_factor=None):
    return own


print("in the file    right     squared   ignored")
for given in (None, own, 1.0):
    shown = "nothing" if given is None else f"{given:.6f}"
    row = [way(attention_factor=given) for way in (factor, squared, ignored)]
    print(f"{shown:12}", *(f"{value:9.6f}" for value in row))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# The factor only makes attention sharper or flatter, at all positions alike;
# frequencies and shapes stay right. And each wrong way agrees with the right one for
# some files. A test with one model may see no difference.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 这个因子只让注意力更尖锐或更平缓，对所有位置都一样；频率和形状都是对的。而且对某些文件来说，错误的做法与正确的做法结果相同，只拿一个模型测试，可能看不出差别。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Try all three kinds of file. What the file says takes precedence, and it is applied once.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 三种文件都要试。文件里写了什么就用什么，而且只乘一次。


# %%
def takes_the_file_at_its_word(way):
    said_nothing = math.isclose(way(attention_factor=None), own)
    said = all(math.isclose(way(attention_factor=value), value) for value in (own, 1.0, 0.5))
    return said_nothing and said


# %% check=true
assert takes_the_file_at_its_word(factor)
assert not takes_the_file_at_its_word(squared)
assert not takes_the_file_at_its_word(ignored)
assert math.isclose(squared(own), own**2)
assert math.isclose(squared(None), own) and math.isclose(ignored(own), own)

# %% [markdown] lang="en" role="claim"
# The right factor is {{ own:.6f }}, the squared one {{ squared(own):.6f }}. When the file
# says nothing, both wrong ways give the right value too.

# %% [markdown] lang="zh" role="claim"
# 正确的因子是 {{ own:.6f }}，平方之后是 {{ squared(own):.6f }}。文件里什么都不写的时候，两种错误的做法也得到正确的值。

# %% [markdown] lang="en"
# Lesson: [RoPE](../lessons/rope.md). Reference:
# [`tokpos.rope_scaling.scaled_frequencies`][].

# %% [markdown] lang="zh"
# 相关课程：[RoPE](../lessons/rope.md)。参考：[`tokpos.rope_scaling.scaled_frequencies`][]。
