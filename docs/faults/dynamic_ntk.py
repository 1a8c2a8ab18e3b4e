# %% [markdown] lang="en"
# # Dynamic NTK remembers the longest input
#
# Dynamic NTK makes the base larger when an input is longer than those in training. A
# module that keeps the larger base answers the next short input differently:
# [huggingface/transformers#25306](https://github.com/huggingface/transformers/issues/25306)
# asked the same question twice, with a long text in between.
# [huggingface/transformers#46624](https://github.com/huggingface/transformers/pull/46624)
# fixed a relative of it years later. Today's transformers still keeps the larger base, but
# [resets it below the trained length](../differences.md#dynamic-ntk); the module here never
# does.

# %% [markdown] lang="zh"
# # 动态 NTK 记住了最长的输入
#
# 输入一旦长过训练长度，动态 NTK 就把底数调大。如果模块一直留着调大的底数，下一个短输入的结果就和以前不同：[huggingface/transformers#25306](https://github.com/huggingface/transformers/issues/25306) 把同一个问题问了两遍，中间插了一段长文本，两次答案不一样。几年之后，[huggingface/transformers#46624](https://github.com/huggingface/transformers/pull/46624) 又修好了一个类似的错误。如今的 transformers 仍会留着调大的底数，不过[短于训练长度时会复位](../differences.md#dynamic-ntk)；下面的模块则从不复位。

# %% [markdown] lang="en"
# A head of width 8, trained to length 16, factor 2; inputs of length 16, 64 and 16
# again.

# %% [markdown] lang="zh"
# 注意力头维度 8，训练长度 16，倍数 2；输入的长度依次是 16、64、16。

# %%
from tokpos import scaled_frequencies

rule = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 16}


class Remembers:
    """Grows when it must and never shrinks."""

    def __init__(self):
        self.longest = 16

    def frequencies(self, length):
        self.longest = max(self.longest, length)
        return scaled_frequencies(8, scaling=rule, length=self.longest).frequencies


def right(length):
    return scaled_frequencies(8, scaling=rule, length=length).frequencies


wrong = Remembers().frequencies
for length in (16, 64, 16):
    print("length", length)
    for name, way in (("right", right), ("wrong", wrong)):
        print(f"  {name}", *(f"{turn:.6f}" for turn in way(length).tolist()))

# %% [markdown] lang="en"
# The formula for the long input: the base times $(fL/L_0 - (f-1))^{d/(d-2)}$, with the
# factor $f$, the length $L$ of the input, the length $L_0$ in training and the width $d$ of
# the head.

# %% [markdown] lang="zh"
# 长输入的公式：底数乘以 $(fL/L_0 - (f-1))^{d/(d-2)}$，其中 $f$ 是倍数，$L$ 是输入的长度，$L_0$ 是训练长度，$d$ 是头的维度。

# %%
base = 10000 * (2 * 64 / 16 - (2 - 1)) ** (8 / 6)
formula = [base ** (-2 * pair / 8) for pair in range(4)]
print("formula", *(f"{turn:.6f}" for turn in formula))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# A larger base is a valid base. In a new process the answer is right. The fault appears
# in a server that has seen a long input since it started.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 调大的底数也是合法的底数。在新的进程里测试，答案是对的。出错的，是启动之后已经见过一次长输入的服务。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Short, long, short again: the third must equal the first. Include the training length
# itself and its neighbors.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 短、长、再短：第三次必须等于第一次。训练长度本身，以及它前后的长度，都要测到。


# %%
def forgets(frequencies):
    for length in (15, 16, 17):
        first = frequencies(length).tolist()
        frequencies(64)
        if frequencies(length).tolist() != first:
            return False
    return True


# %% check=true
assert forgets(right)
assert not forgets(Remembers().frequencies)
assert max(abs(a - b) for a, b in zip(right(64).tolist(), formula, strict=True)) < 1e-12
assert right(16).tolist() == scaled_frequencies(8).frequencies.tolist()

# %% [markdown] lang="en" role="claim"
# Computed from the length alone, the frequencies return to their original values. The
# module that remembers keeps those of the long input.

# %% [markdown] lang="zh" role="claim"
# 频率如果只是长度的函数，就会变回来；有记忆的模块，则一直留着长输入的频率。

# %% [markdown] lang="en"
# Keys in a KV cache are another matter: they keep the base that they were turned with.
# Lesson: [RoPE](../lessons/rope.md). Reference:
# [`tokpos.rope_scaling.scaled_frequencies`][].

# %% [markdown] lang="zh"
# KV 缓存里的键是另一回事：它们已经按当时的底数转好，不会再变。相关课程：[RoPE](../lessons/rope.md)。参考：[`tokpos.rope_scaling.scaled_frequencies`][]。
