# %% [markdown] lang="en"
# # T5's offset with the wrong sign
#
# T5 counts the offset as key position minus query position. GluonNLP counted query
# minus key; the pull request that prepared T5 reversed the sign:
# [dmlc/gluon-nlp#1470](https://github.com/dmlc/gluon-nlp/pull/1470). With the other
# sign, left and right are exchanged. In a decoder it is worse.

# %% [markdown] lang="zh"
# # T5 的偏移反了符号
#
# T5 的偏移，是键的位置减查询的位置。GluonNLP 原来数的是查询减键，后来要用它实现 T5，才改了过来：[dmlc/gluon-nlp#1470](https://github.com/dmlc/gluon-nlp/pull/1470)。符号反了，左右就对调；在解码器里更糟。

# %%
import math

import torch

from tokpos import offsets, t5_buckets

places = torch.arange(6)
right = offsets(places, places)  # key minus query
wrong = -right
for name, offset in (("right", right), ("wrong", wrong)):
    print(name, "buckets of the last query, looking back:")
    print("  encoder", t5_buckets(offset)[-1].tolist())
    print("  decoder", t5_buckets(offset, bidirectional=False)[-1].tolist())

# %% [markdown] lang="en"
# In the decoder the whole past falls into one bucket. The formula shows why: it sets the
# distance of every future key to 0, and with the wrong sign the past counts as the
# future.

# %% [markdown] lang="zh"
# 在解码器里，过去的所有位置都落进了同一个桶。看公式就明白：未来的距离一律截成 0，而符号一反，过去就成了未来。


# %%
def causal_bucket(offset, buckets=32, reach=128):
    distance = max(-offset, 0)
    exact = buckets // 2
    if distance < exact:
        return distance
    share = math.log(distance / exact) / math.log(reach / exact)
    return min(exact + int(share * (buckets - exact)), buckets - 1)


print("formula ", [causal_bucket(offset) for offset in right[-1].tolist()])

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# All buckets exist, so every lookup works. For an encoder trained from scratch the sign
# does not matter: the buckets of left and right only exchange their names. It matters for
# weights that were trained with the other sign. A decoder with one bucket has only its
# mask to tell it the order, and it runs all the same.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 桶的编号都存在，查表没有问题。从头训练的编码器，符号反不反都一样：左右两半的桶只是互换了名字。用别人按另一种符号训练好的权重，才会出错。解码器只剩一个桶，顺序只能靠掩码来分辨，但照样能运行。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Write down a few buckets by hand: one step back, one step ahead, and in the decoder
# several steps back.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 手工写出几个桶：往左一步、往右一步；在解码器里，再往左多写几步。


# %%
def counts_key_minus_query(offset):
    """`offset[i, j]` stands for query i and key j."""
    both = t5_buckets(offset)
    past = t5_buckets(offset, bidirectional=False)[5]
    return both[1, 0] == 1 and both[0, 1] == 17 and past.tolist() == [5, 4, 3, 2, 1, 0]


# %% check=true
assert counts_key_minus_query(right)
assert not counts_key_minus_query(wrong)
assert torch.equal(t5_buckets(wrong), t5_buckets(right).T)
seen = t5_buckets(wrong, bidirectional=False).tril()
assert seen.unique().tolist() == [0]
far = list(range(-200, 6))
buckets = t5_buckets(torch.tensor(far), bidirectional=False)
assert buckets.tolist() == [causal_bucket(offset) for offset in far]

# %% [markdown] lang="en" role="claim"
# With the wrong sign the encoder's buckets are mirrored, and all keys that a decoder
# may see are in bucket 0. The decoder's right ones agree with the formula for {{ len(far) }}
# offsets.

# %% [markdown] lang="zh" role="claim"
# 符号反了，编码器的桶左右对调，而解码器看得见的键全在 0 号桶里。符号正确时，{{ len(far) }} 个偏移都与公式一致。

# %% [markdown] lang="en"
# Lesson: [Relative positions](../lessons/relative.md). Reference:
# [`tokpos.t5.t5_buckets`][].

# %% [markdown] lang="zh"
# 相关课程：[相对位置](../lessons/relative.md)。参考：[`tokpos.t5.t5_buckets`][]。
