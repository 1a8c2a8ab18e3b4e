# %% [markdown] lang="en"
# # ALiBi: a score falls with the distance
#
# Most methods on this site make something of a position: a wave, a row of a table, an angle.
# ALiBi, attention with linear biases, does none of that. It takes each attention score as
# it is and subtracts a little for every step between the query and the key.
#
# Can it be that simple? And what does a model see then of a text that is longer than any in
# its training? First, what the subtraction does to one query.

# %% [markdown] lang="zh"
# # ALiBi：离得越远，分数扣得越多
#
# 本站讲的方法，大多要把位置变成点什么：一组波、表里的一行、一个角度。ALiBi（带线性偏置的注意力）不做这些。注意力分数照常算，查询和键相距每多一步，就多扣一点。
#
# 真有这么简单吗？如果文本比训练时读过的都长，模型又能看到什么？先看这样一扣，对一个查询有什么影响。

# %% hide=true
from tokpos.figures import alibi as figures

figures.softmax_before_and_after()

# %% [markdown] lang="en" role="caption"
# The attention weights of the last query, twice from the same random scores. Below, a
# quarter was subtracted for each step of distance: keys far back keep little.

# %% [markdown] lang="zh" role="caption"
# 最后一个查询的注意力权重，两幅图用的是同一组随机分数。下面一幅，距离每多一步，分数就再减 1/4：离得远的键，剩下的权重就少。

# %% [markdown] lang="en"
# ## Subtract the distance {#subtract}
#
# Take five tokens. A row for each query, a column for each key: how far back does the key
# stand? Keys to the right of the query are hidden by the causal mask, so they do not matter
# here.

# %% [markdown] lang="zh"
# ## 减去距离 {#subtract}
#
# 取五个词元（token）。一行是一个查询，一列是一个键：键在查询前面多远？查询右边的键由因果掩码遮住，这里不用管。

# %%
import math

import torch

torch.set_printoptions(precision=3, sci_mode=False, linewidth=80)

S = 5
places = torch.arange(S)
distance = (places[:, None] - places).clamp(min=0)
distance

# %% [markdown] lang="en"
# One number for each head, its **slope** $m$, says what a step costs. For the query at
# position $i$ and a key at position $j$, which does not come after the query:
#
# $$\mathrm{score}(i, j) = \frac{q_i \cdot k_j}{\sqrt{d}} - m \cdot (i - j)$$
#
# That is all. Token vectors, queries, keys and values stay as they are. What is added to a
# score, $-m \cdot (i - j)$, is called the **bias**.

# %% [markdown] lang="zh"
# 每个注意力头有一个数，叫**斜率** $m$，表示每一步扣多少。查询在位置 $i$，键在位置 $j$，键不在查询之后：
#
# $$\mathrm{score}(i, j) = \frac{q_i \cdot k_j}{\sqrt{d}} - m \cdot (i - j)$$
#
# 就这些。词元向量、查询、键和值都原样不动。加到分数上的 $-m \cdot (i - j)$ 叫作**偏置**。

# %%
from tokpos.alibi import alibi_bias

slope = torch.tensor([0.5])  # of one head
alibi_bias(places, places, slope)[0]

# %% [markdown] lang="en"
# What does softmax make of it? It takes $e$ to the power of each score. Subtracting from a
# score therefore divides the weight: each step back multiplies it by $e^{-m}$, here by
# {{ math.exp(-0.5):.2f }}. Let all queries and keys be zero, so that nothing but the bias is
# at work.

# %% [markdown] lang="zh"
# softmax 会怎样处理？它以每个分数为指数，取 $e$ 的幂。分数减去一个数，到这里就是除以一个数：每往回一步，权重就乘上 $e^{-m}$，这里是 {{ math.exp(-0.5):.2f }}。先让所有的查询和键都是零，只留下偏置起作用。

# %%
from tokpos.dot_product_attention import attention_weights
from tokpos.position import ScoreTerms
from tokpos.positions import causal_mask

nothing = torch.zeros(1, S, 8)
terms = ScoreTerms(outside=alibi_bias(places, places, slope))
visible = causal_mask(places, places)
weights = attention_weights(nothing, nothing, terms, visible)[0]
weights

# %% check=true
B, H, d = 2, 8, 16
generator = torch.Generator().manual_seed(0)
q, k = torch.randn(2, B, H, S, d, generator=generator)


def weights_by_hand(q, k, slopes):
    scores = q @ k.mT / math.sqrt(q.shape[-1]) - slopes[:, None, None] * distance
    return scores.masked_fill(~visible, -math.inf).softmax(-1)


some = torch.rand(H, generator=generator)
terms = ScoreTerms(outside=alibi_bias(places, places, some))
assert torch.allclose(
    attention_weights(q, k, terms, visible), weights_by_hand(q, k, some), rtol=0, atol=1e-6
)
steps = weights[-1, :-1] / weights[-1, 1:]
assert torch.allclose(steps, torch.tensor(math.exp(-0.5)).expand(S - 1), rtol=1e-5, atol=0)
without = attention_weights(q, k, visible=visible)
rescaled = without * torch.exp(-some[:, None, None] * distance)
rescaled = rescaled / rescaled.sum(-1, keepdim=True)
assert torch.allclose(rescaled, weights_by_hand(q, k, some), rtol=0, atol=1e-6)

# %% [markdown] lang="en" role="claim"
# The package and the formula give the same weights, to 10⁻⁶, with random queries and keys
# too. And ALiBi's weights are the ordinary ones, each multiplied by $e^{-m}$ for every
# step back, and scaled to add up to 1 again.

# %% [markdown] lang="zh" role="claim"
# 本站的包与公式得到的权重相同（误差不超过 10⁻⁶），查询和键是随机数时也一样。ALiBi 的权重，就是普通的权重每往回一步乘一次 $e^{-m}$，再放缩到总和为 1。

# %% [markdown] lang="en"
# ## One slope for each head {#slopes}
#
# A single slope would make all heads equally short-sighted. So every head gets its own, and
# nobody trains them: they are a fixed series. With eight heads it starts at 1/2, and each
# next slope is half as large. In general, for $H$ heads where $H$ is a power of two:
#
# $$m_h = 2^{-8h/H}, \qquad h = 1, 2, \dots, H$$

# %% [markdown] lang="zh"
# ## 每个头一个斜率 {#slopes}
#
# 如果只有一个斜率，所有的头就一样近视。所以每个头有自己的斜率；这些斜率不用训练，是一串固定的数。八个头时从 1/2 开始，每一个都是前一个的一半。一般地，设有 $H$ 个头，而 $H$ 是 2 的幂，那么：
#
# $$m_h = 2^{-8h/H}, \qquad h = 1, 2, \dots, H$$

# %%
from tokpos.alibi import alibi_slopes

for head, number in enumerate(alibi_slopes(8).tolist(), start=1):
    half = math.log(2) / number  # after so many steps the weight is halved
    print(f"head {head}   slope 1/{1 / number:<3.0f}   weight halved after {half:5.1f} steps")

# %% check=true
assert alibi_slopes(8).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
for heads in (1, 2, 4, 8, 16, 32, 64):
    right = torch.tensor([2 ** (-8 * h / heads) for h in range(1, heads + 1)])
    assert torch.allclose(alibi_slopes(heads), right, rtol=1e-6, atol=0)
    assert alibi_slopes(heads)[-1] == 1 / 256

# %% [markdown] lang="en" role="claim"
# Eight heads have the slopes 1/2, 1/4, ... 1/256, exactly. For every power of two up to 64
# the slopes are those of the formula, and the last one is 1/256.

# %% [markdown] lang="zh" role="claim"
# 八个头的斜率正是 1/2、1/4……1/256。头数取 64 以内的每个 2 的幂，斜率都与公式相同，最后一个总是 1/256。

# %% [markdown] lang="en"
# So the first head looks at what has just been said, and the last one at a few hundred
# tokens. Here is the bias of all eight.

# %% [markdown] lang="zh"
# 可见第一个头只看刚说过的几个词，最后一个头能看几百个词元。下面是八个头的偏置。

# %% hide=true
import json

random = torch.Generator().manual_seed(0)
widget_data = json.dumps(
    {
        "buckets": 32,
        "distance": 128,
        "table": torch.randn(32, 12, generator=random).double().round(decimals=4).tolist(),
        "scores": torch.randn(24, generator=random).double().round(decimals=4).tolist(),
    }
)

# %%
figures.bias_of_heads()

# %% [markdown] lang="en" role="caption"
# A map for each head, a row for each query, a column for each key. The color tells what
# share of the weight the bias leaves: steep slopes leave a thin stripe, gentle ones nearly
# everything. The future is blank.

# %% [markdown] lang="zh" role="caption"
# 每个头一张图，一行是一个查询，一列是一个键。颜色表示偏置给权重留下多少：斜率大，只剩一条窄带；斜率小，几乎全都留着。未来是空白。

# %% [markdown] lang="en" role="widget"
# `bias` {{ widget_data }}
#
# **Try it.** Go through the heads. Then take T5's buckets instead, here with random numbers in
# place of learned ones.
#
# ---
#
# A steep slope leaves the far keys next to nothing. T5's bias may be any number, but far keys share a
# bucket, and so a number.

# %% [markdown] lang="zh" role="widget"
# `bias` {{ widget_data }}
#
# **动手试。**逐个看各个头。然后换成 T5 的桶，这里用随机数代替学到的数。
#
# ---
#
# 斜率大的头，远处的键几乎什么也分不到。T5 的偏置可以是任何数，但远处的键共用一个桶，也就共用一个数。

# %% [markdown] lang="en"
# ## Twelve heads are not a power of two {#other-heads}
#
# Many models have 12, 20 or 40 heads. The paper's formula could serve them as well. But the
# authors' code does something else, and so do [Bloom and MPT](../differences.md#alibi) in
# transformers: take the slopes for the power of two below, here 8. The missing four come from
# the slopes for the next power of two, here 16: take every second one, starting with the
# first.

# %% [markdown] lang="zh"
# ## 十二个头，不是 2 的幂 {#other-heads}
#
# 很多模型有 12、20 或 40 个头。论文的公式本来也能用，但作者的代码用的是另一种办法，transformers 里的 [Bloom 和 MPT](../differences.md#alibi) 也照这个办法算：先取小于头数的最大的 2 的幂，这里是 8，用它的全部斜率；缺的四个从下一个 2 的幂的斜率里取，这里是 16 个头的，从第一个起，隔一个取一个。

# %%
figures.slopes_of_heads()

# %% [markdown] lang="en" role="caption"
# Slopes of 8 heads (dots) and of 12 (diamonds). The first eight are the same. The other four
# begin again at the top, and so the list is not sorted.

# %% [markdown] lang="zh" role="caption"
# 8 个头的斜率（圆点）和 12 个头的斜率（菱形）。前八个相同，后四个又从上面开始，所以整串数不是从大到小排的。

# %%
twelve = torch.cat([alibi_slopes(8), alibi_slopes(16)[0::2][:4]])
series = torch.tensor([2 ** (-8 * h / 12) for h in range(1, 13)])
print("by the code's rule ", alibi_slopes(12)[6:])
print("put together       ", twelve[6:])
print("the formula with 12", series[6:])


# %% check=true
def slopes_by_rule(heads):
    """The same rule for any number of heads, written out."""
    power = 2 ** int(math.log2(heads))
    missing = heads - power
    return torch.cat([alibi_slopes(power), alibi_slopes(2 * power)[0::2][:missing]])


assert torch.equal(alibi_slopes(12), twelve)
for heads in range(1, 65):
    assert torch.equal(alibi_slopes(heads), slopes_by_rule(heads))
    assert len(alibi_slopes(heads).unique()) == heads
assert not torch.allclose(alibi_slopes(12), series, rtol=0.1, atol=0)
assert (alibi_slopes(12).diff() > 0).any()  # not sorted

# %% [markdown] lang="en" role="claim"
# For every number of heads up to 64 the slopes are those of the rule, and no two heads have
# the same one. With 12 heads they are not sorted, and the paper's formula gives others.

# %% [markdown] lang="zh" role="claim"
# 头数从 1 到 64，斜率都与这条规则一致，没有两个头的斜率相同。12 个头的斜率不是从大到小排的，与论文公式给出的也不同。

# %% [markdown] lang="en"
# A model that was trained with one set of slopes and runs with the other
# [raises no error](../faults/alibi_slopes.md). It only weighs the distances wrongly, in one
# head by a factor of {{ (twelve / series).max():.0f }}. Sorting the list is the same mistake:
# each head has learned with its own slope.

# %% [markdown] lang="zh"
# 模型按一组斜率训练，却用另一组运行，[不会报错](../faults/alibi_slopes.md)，只是各个头对远近的轻重与训练时不同，差得最多的一个头，斜率相差 {{ (twelve / series).max():.0f }} 倍。给斜率排个序，也是同样的错：每个头都是配着自己的斜率学出来的。

# %% [markdown] lang="en"
# ## Causal and symmetric {#directions}
#
# A decoder hides the future, so its bias only has to cover the past. An encoder looks both
# ways. The paper considers only decoders; the simplest way to take ALiBi to an encoder is to
# let the distance count on both sides.

# %% [markdown] lang="zh"
# ## 因果与对称 {#directions}
#
# 解码器看不到未来，所以偏置只需要管过去。编码器往两边看。论文里只有解码器；要把 ALiBi 用到编码器，最简单的办法是两边都按距离扣分。

# %%
figures.both_directions()

# %% [markdown] lang="en" role="caption"
# The bias of one head. Left, for a decoder: to the right of each query is the future, and the
# mask hides it. Right, for an encoder: both sides are penalized alike.

# %% [markdown] lang="zh" role="caption"
# 一个头的偏置。左图用于解码器：每个查询的右边是未来，由掩码遮住。右图用于编码器：两边扣得一样多。

# %%
from tokpos.alibi import Alibi

place = torch.arange(6)
queries = torch.zeros(1, 8, 6, 16)  # only the shape counts
causal = Alibi(8).into_scores(queries, place, place).outside
symmetric = Alibi(8, symmetric=True).into_scores(queries, place, place).outside
print(list(causal.shape))
print(causal[0, 2])
print(symmetric[0, 2])

# %% check=true
right_of_query = (place > place[:, None]).expand_as(causal)
assert torch.equal(causal[~right_of_query], symmetric[~right_of_query])
assert (causal[right_of_query] == 0).all() and (symmetric[right_of_query] < 0).all()
assert torch.equal(symmetric, symmetric.mT)
mirrored = symmetric.flip(-1).flip(-2)
assert torch.equal(symmetric, mirrored)

# %% [markdown] lang="en" role="claim"
# To the left of a query the two agree. To the right the causal bias is 0, because the mask
# hides these keys, and the symmetric one falls.

# %% [markdown] lang="zh" role="claim"
# 查询左边，两者相同。查询右边，因果的偏置是 0，那里归掩码管；对称的偏置往右也下降。

# %% [markdown] lang="en"
# Note what a symmetric bias cannot do: two to the left and two to the right cost the same.
# Read the sentence backward, and the bias is the same. An encoder that needs the direction
# must get it from something else, for instance from other slopes on the right, which
# [`tokpos.alibi.alibi_bias`][] takes as `right_slopes`.

# %% [markdown] lang="zh"
# 要注意对称的偏置做不到什么：左边第二个和右边第二个扣得一样多。把句子倒过来读，偏置还是那样。编码器想要分清方向，还得加点别的，比如右边用另一组斜率，[`tokpos.alibi.alibi_bias`][] 的参数 `right_slopes` 就是做这个的。

# %%
left, right = torch.tensor([0.5]), torch.tensor([1.0])
alibi_bias(place, place, left, right_slopes=right)[0, 2]

# %% [markdown] lang="en"
# ## Bloom has another tensor and the same weights {#bloom}
#
# Bloom is a large model with ALiBi. Look at what its code in transformers adds to the
# scores. There is one row for each head, where we have a matrix. None of the numbers is
# negative, and they grow to the right.

# %% [markdown] lang="zh"
# ## Bloom 的张量不同，权重相同 {#bloom}
#
# Bloom 是用 ALiBi 的大模型。看看 transformers 里它的代码往分数上加了什么。我们是一个头一个矩阵，它是一个头一行；而且没有负数，越往右越大。

# %%
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

bloom = build_alibi_tensor(torch.ones(1, 6), num_heads=8, dtype=torch.float32)
print(list(bloom.shape))
print(bloom[0])
print(causal[0])

# %% [markdown] lang="en"
# Compare its one row with our last one: 0 to 2.5 there, −2.5 to 0 here. The difference is the
# same for every key. In each row it is slope times the *query's* position:
#
# $$m \cdot j = -m \cdot (i - j) + m \cdot i$$
#
# Softmax ignores what is added to all scores of a row.

# %% [markdown] lang="zh"
# 拿它的那一行与这边的最后一行比：那边是 0 到 2.5，这边是 −2.5 到 0。每个键相差的数都一样。在每一行里，差的都是斜率乘*查询*的位置：
#
# $$m \cdot j = -m \cdot (i - j) + m \cdot i$$
#
# 给一行的所有分数都加上同一个数，softmax 的结果不变。


# %% check=true
def after_softmax(scores):
    hidden = place > place[:, None]
    return scores.masked_fill(hidden, -math.inf).softmax(-1)


queries, keys = torch.randn(2, 12, 6, 16, generator=generator)
for heads in (1, 8, 12):
    scores = queries[:heads] @ keys[:heads].mT / 4
    theirs = build_alibi_tensor(torch.ones(1, 6), heads, torch.float32)
    ours = alibi_bias(place, place, alibi_slopes(heads))
    assert torch.allclose(after_softmax(scores + theirs), after_softmax(scores + ours), atol=1e-6)
    assert torch.allclose(theirs[:, 0, 1], alibi_slopes(heads), rtol=1e-6, atol=0)
    shift = alibi_slopes(heads)[:, None, None] * place[:, None]
    past = (place <= place[:, None]).expand(heads, 6, 6)
    assert torch.allclose((theirs - ours)[past], shift.expand(heads, 6, 6)[past], atol=1e-6)
assert not torch.allclose(bloom, causal)

# %% [markdown] lang="en" role="claim"
# Before softmax the tensors differ, by slope times the query's position. After softmax all
# weights agree to rounding, with 1, 8 and 12 heads. So do the slopes themselves.

# %% [markdown] lang="zh" role="claim"
# softmax 之前，两个张量不同，差的是斜率乘查询的位置。softmax 之后，1、8、12 个头的权重全都相同，只差舍入误差；斜率本身也相同。

# %% [markdown] lang="en"
# The short form saves memory. It has a price in bfloat16: near the end of a long text it adds
# large numbers, and the steps between them get lost. Our form has its small numbers where the
# weight is, near the query. Look at what is left of the last 16 keys of 2,048, for the first
# head.

# %% [markdown] lang="zh"
# 短的写法省内存，可是用 bfloat16 时要付出代价：文本很长时，末尾加的数很大，相邻两个数之差就丢了。我们的写法，小的数正好在查询附近，也就是权重所在的地方。看看 2,048 个键里最后 16 个，第一个头还剩下什么。

# %%
long = 2048
theirs = build_alibi_tensor(torch.ones(1, long), 8, torch.bfloat16)[0, 0, -16:]
ours = alibi_bias(torch.tensor([long - 1]), torch.arange(long), alibi_slopes(8))
ours = ours[0, 0, -16:].bfloat16()
different = {"slope * key position": len(theirs.unique()), "-slope * distance": len(ours.unique())}
for name, count in different.items():
    print(f"{name:20} {count:2} different numbers for 16 keys")

# %% check=true
assert different == {"slope * key position": 3, "-slope * distance": 16}

# %% [markdown] lang="en" role="claim"
# In bfloat16, slope times key position has only {{ different["slope * key position"] }}
# different numbers for the 16 nearest keys, minus slope times distance has
# {{ different["-slope * distance"] }}. Keep the bias in float32, as
# [`tokpos.alibi.Alibi`][] does.

# %% [markdown] lang="zh" role="claim"
# 在 bfloat16 下，最近的 16 个键，“斜率乘键的位置”只剩 {{ different["slope * key position"] }} 个不同的数，“负的斜率乘距离”有 {{ different["-slope * distance"] }} 个。偏置要用 float32 来算、来加，[`tokpos.alibi.Alibi`][] 就是这样做的。

# %% [markdown] lang="en"
# ## Nothing stored, no last position {#no-last-position}
#
# The bias is computed from positions, and it depends on their distance alone. So there is
# no table that could end, and everything that must hold for relative positions holds:
# moving a text changes nothing, padding on the left changes nothing, and a decoder with a
# KV cache computes one row of the matrix at each step.

# %% [markdown] lang="zh"
# ## 什么都不存，没有最后一个位置 {#no-last-position}
#
# 偏置由位置算出来，而且只取决于距离，所以没有一张会用完的表。相对位置该有的性质它都有：整段文本移动，结果不变；左边加填充，结果不变；解码器用 KV 缓存时，每一步只算矩阵的一行。

# %%
step = Alibi(8).into_scores(torch.zeros(1, 8, 1, 16), torch.tensor([5]), place).outside
print(list(step.shape))
step[0]

# %% check=true
from torch import nn

from tokpos import Attention, positions_from_mask

slopes = alibi_slopes(8)
far = place + 1_000_000
assert torch.equal(alibi_bias(far, far, slopes), alibi_bias(place, place, slopes))
assert torch.equal(step, causal[:, -1:])

layer = Attention(32, n_heads=4, encoding=Alibi(4), causal=True)
for weight in layer.parameters():
    nn.init.normal_(weight, std=0.3, generator=generator)
x = torch.randn(2, 6, 32, generator=generator)
with torch.no_grad():
    full = layer(x)
    cache, rows = None, []
    for number in range(6):
        out, cache = layer.step(x[:, [number]], cache, torch.tensor([number]))
        rows.append(out)
    mask = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]])
    padded = layer(x, positions_from_mask(mask), padding_mask=mask)
    alone = layer(x[:1, 2:])
assert torch.allclose(torch.cat(rows, dim=1), full, rtol=0, atol=1e-4)
assert torch.allclose(padded[:1, 2:], alone, rtol=0, atol=1e-4)

# %% [markdown] lang="en" role="claim"
# At positions around a million the bias is that of positions around 0, bit for bit. Step by
# step with a cache, an attention layer gives what it gives in one pass, and a text with padding
# on the left gets what it gets alone, to rounding.

# %% [markdown] lang="zh" role="claim"
# 位置在一百万附近时，偏置与在 0 附近时逐位相等。用缓存一步一步算，或者在左边加填充，注意力层的输出都与一次算完、单独计算时相同，只差舍入误差。

# %% [markdown] lang="en"
# ### What far keys still count {#far-keys}
#
# The paper's title says it: train short, test long. Its models read texts longer than those
# they were trained on at about the same loss. It is worth knowing why. Here are 4,096 keys
# with equal scores. How much of the weight goes to keys more than 512 back?

# %% [markdown] lang="zh"
# ### 远处的键还有多少分量 {#far-keys}
#
# 论文的标题就是：训练短，测试长。把模型用在比训练时更长的文本上，叫作外推（extrapolation）；论文里的模型这样用，损失大致不变。为什么能这样，值得弄清楚。下面是 4,096 个键，分数全都相等。离查询超过 512 步的键，一共得到多少权重？

# %%
many = 4096
bias = alibi_bias(torch.tensor([many - 1]), torch.arange(many), alibi_slopes(8))[:, 0]
beyond = bias.softmax(-1)[:, : many - 513].sum(-1)  # more than 512 back
for number, share in zip(alibi_slopes(8).tolist(), beyond.tolist(), strict=True):
    print(f"slope 1/{1 / number:<3.0f}  beyond 512: {share:6.2%}  bias there {-512 * number:6.1f}")

# %% check=true
assert (beyond[:5] < 1e-6).all() and 0.12 < beyond[-1] < 0.15

# %% [markdown] lang="en" role="claim"
# In five of the eight heads less than a millionth of the weight lies beyond 512 places; in
# the gentlest head it is {{ beyond[-1]:.0% }}.

# %% [markdown] lang="zh" role="claim"
# 八个头里有五个，512 个位置以外的权重不到百万分之一；斜率最小的头也只有 {{ beyond[-1]:.0% }}。

# %% [markdown] lang="en"
# More text before the query changes little for a steep head: the far keys are nearly
# invisible. That is a reason for the loss to stay flat, and it is also the price. A key 512
# back can still win, but in the first head its score must be
# {{ 512 * alibi_slopes(8)[0]:.0f }} higher than that of a near key.
# [The last lesson](choosing.md#window) tests this with windows, and measures how ALiBi reads
# long texts beside the other methods.

# %% [markdown] lang="zh"
# 文本变长，多出来的都是左边更远的键；对斜率大的头，这些键几乎看不见，影响很小。损失大致不变，这是一个可能的原因；代价也在这里。512 步以外的键不是不能胜出，可是在第一个头里，它的分数要比近处的键高出 {{ 512 * alibi_slopes(8)[0]:.0f }} 才行。[最后一课](choosing.md#window)会用窗口来检验，还会实测 ALiBi 读长文本时与其他方法相比好多少、差多少。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: each ALiBi head learns its slope"
#     The slopes are fixed numbers. No optimizer ever sees them. (The authors also tried to
#     train them and kept the fixed ones.)
#
# !!! note "Often said, not so: the bias is part of the product that is divided by √d"
#     It is added after the division.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：每个 ALiBi 头都学习自己的斜率"
#     斜率是固定的数，优化器根本见不到。（作者也试过训练斜率，最后还是用固定的。）
#
# !!! note "常见的误解：偏置和点积一起除以 √d"
#     偏置是除完之后才加的。

# %%
from transformers import BloomConfig, BloomModel

small_bloom = BloomModel(BloomConfig(vocab_size=10, hidden_size=32, n_layer=1, n_head=4))
names = [name for name, _ in small_bloom.named_parameters()]
about_positions = [n for n in names if "alibi" in n or "slope" in n or "position" in n]
print(len(names), "parameters, about positions:", about_positions)
print("of Alibi:", list(Alibi(8).parameters()), dict(Alibi(8).state_dict()))

# %% check=true
assert about_positions == [] and not list(Alibi(8).parameters()) and not Alibi(8).state_dict()
terms = Alibi(8).into_scores(q, places, places)
assert terms.inside is None and terms.outside is not None
before = ScoreTerms(inside=terms.outside)
gentler = ScoreTerms(outside=terms.outside / math.sqrt(d))
assert torch.allclose(
    attention_weights(q, k, before), attention_weights(q, k, gentler), rtol=0, atol=1e-6
)
assert not torch.allclose(attention_weights(q, k, before), attention_weights(q, k, terms))

# %% [markdown] lang="en" role="claim"
# Neither Bloom nor our `Alibi` has a parameter for positions. Added before the division, the
# bias would act as if every slope were divided by √d.

# %% [markdown] lang="zh" role="claim"
# Bloom 和我们的 `Alibi` 都没有与位置有关的参数。如果在除法之前加偏置，效果就等于每个斜率都除以 √d。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - ALiBi subtracts slope times distance from each score, after the division by $\sqrt{d}$.
#   Each step back multiplies the weight by $e^{-m}$.
# - The slopes are fixed: 1/2 to 1/256 for eight heads. For a number of heads that is not a
#   power of two, the rule of the authors' code applies.
# - A decoder masks the future. An encoder lets the bias fall on both sides.
# - Bloom adds slope times key position; after softmax that is the same.
# - Nothing is learned and nothing is stored. Far keys fade, most of all in the steep heads.
#
# Which of all these methods should a model take? [Choosing](choosing.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - ALiBi 在除以 $\sqrt{d}$ 之后，从每个分数里减去斜率乘距离。每往回一步，权重乘一次 $e^{-m}$。
# - 斜率是固定的：八个头是 1/2 到 1/256。头数不是 2 的幂时，按作者代码的规则来。
# - 解码器遮住未来；编码器让偏置往两边下降。
# - Bloom 加的是斜率乘键的位置，经过 softmax 之后结果相同。
# - 什么都不学，什么都不存。远处的键越来越淡，斜率大的头尤其如此。
#
# 这么多方法，模型该用哪一种？见[怎样选择](choosing.md)。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Press, Smith and Lewis, [Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation](https://arxiv.org/abs/2108.12409),
#   2022, section 3: the bias, Figure 3, and the slopes.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Press、Smith 和 Lewis，[Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation](https://arxiv.org/abs/2108.12409)，2022，第 3 节：偏置、图 3 和斜率。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** By hand: the slopes of 4 heads, and of 6.
#
# ??? question "Answer"
#     For 4 heads $2^{-8h/4}$: 1/4, 1/16, 1/64, 1/256. For 6, take these four, then every
#     second slope of 8 heads: 1/2 and 1/8.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 手算：4 个头的斜率，6 个头的斜率。
#
# ??? question "答案"
#     4 个头是 $2^{-8h/4}$：1/4、1/16、1/64、1/256。6 个头先取这四个，再从 8 个头的斜率里隔一个取一个：1/2 和 1/8。

# %%
print([f"1/{1 / number:.0f}" for number in alibi_slopes(4).tolist()])
print([f"1/{1 / number:.0f}" for number in alibi_slopes(6).tolist()])

# %% check=true hide=true
assert alibi_slopes(4).tolist() == [1 / 4, 1 / 16, 1 / 64, 1 / 256]
assert alibi_slopes(6).tolist() == [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]

# %% [markdown] lang="en" role="claim"
# The slopes are those of the answer.

# %% [markdown] lang="zh" role="claim"
# 斜率与答案一致。

# %% [markdown] lang="en"
# **2.** Predict the shape: a decoding step with 12 heads, one new query and a cache of 100
# keys, the new one included. What is the shape of the bias? Where does the batch size enter?
#
# ??? question "Answer"
#     `[12, 1, 100]`: one row for each head. If all samples have the same positions, the batch
#     size does not enter at all; the bias is broadcast.

# %% [markdown] lang="zh"
# **2.** 预测形状：解码的一步，12 个头，一个新的查询，缓存里连新的在内有 100 个键。偏置的形状是什么？批量大小出现在哪里？
#
# ??? question "答案"
#     `[12, 1, 100]`：每个头一行。如果所有样本的位置都相同，批量大小根本不出现，偏置会广播（broadcasting）到每个样本。

# %%
one_step = alibi_bias(torch.tensor([99]), torch.arange(100), alibi_slopes(12))
one_step.shape

# %% check=true hide=true
assert one_step.shape == (12, 1, 100)

# %% [markdown] lang="en" role="claim"
# The shape is {{ list(one_step.shape) }}.

# %% [markdown] lang="zh" role="claim"
# 形状是 {{ list(one_step.shape) }}。

# %% [markdown] lang="en"
# **3.** Find the fault: `bias = slopes[:, None, None] * (query_positions[:, None] - key_positions)`.
# No error, and the causal mask is right. What does the model look at?
#
# ??? question "Answer"
#     The sign is wrong: distance is rewarded. The first key of the text gets the most weight.

# %% [markdown] lang="zh"
# **3.** 找错。`bias = slopes[:, None, None] * (query_positions[:, None] - key_positions)`。程序不报错，因果掩码也对。模型会看哪里？
#
# ??? question "答案"
#     符号反了：距离越远，分数越高。文本的第一个键得到的权重最大。

# %%
faulty = alibi_slopes(8)[:, None, None] * (place[:, None] - place)
after_softmax(faulty)[0, -1]

# %% check=true hide=true
assert (after_softmax(faulty)[:, -1].argmax(-1) == 0).all()
assert (after_softmax(causal)[:, -1].argmax(-1) == 5).all()

# %% [markdown] lang="en" role="claim"
# With the wrong sign the last query looks at the first key most, in all eight heads; with
# the right one at itself.

# %% [markdown] lang="zh" role="claim"
# 符号错了，八个头的最后一个查询都最看重第一个键；符号对了，都最看重自己。

# %% [markdown] lang="en"
# **4.** Find the fault: an encoder uses the causal bias and no mask. Which keys does the first
# token look at, if all scores are equal?
#
# ??? question "Answer"
#     To the right the bias is 0, so nothing is penalized there: the first token looks at all
#     keys alike, however far away, and the last token looks at what is near. The two ends of
#     a text are treated differently.

# %% [markdown] lang="zh"
# **4.** 找错。编码器用了因果的偏置，又没有掩码。如果分数全都相等，第一个词元看哪些键？
#
# ??? question "答案"
#     右边的偏置是 0，那里什么都不扣：第一个词元看所有的键都一样，不管多远；最后一个词元主要看近处。文本两头的待遇就不一样了。

# %%
print("first token", causal.softmax(-1)[0, 0])
print("last token ", causal.softmax(-1)[0, -1])

# %% check=true hide=true
assert torch.allclose(causal.softmax(-1)[0, 0], torch.tensor(1 / 6).expand(6))
assert causal.softmax(-1)[0, -1].argmax() == 5
mirror = symmetric.softmax(-1)[0]
assert torch.allclose(mirror[0], mirror[-1].flip(0))

# %% [markdown] lang="en" role="claim"
# With the causal bias the first token spreads its weight evenly. With the symmetric one the
# two ends are each other's mirror image.

# %% [markdown] lang="zh" role="claim"
# 用因果的偏置，第一个词元把权重平均分给所有的键。用对称的偏置，文本的两头互为镜像。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
first_slope = alibi_slopes(8)[0].item()
ratio = weights[-1, -3].item() / weights[-1, -1].item()  # two steps back, slope 1/2
learned = sum(p.numel() for p in Alibi(8).parameters())
same_after = torch.allclose(after_softmax(bloom), after_softmax(causal), atol=1e-6)
same_before = torch.allclose(bloom.expand_as(causal), causal, atol=1e-6)
ends = alibi_slopes(12)[-1].item()

# %% [markdown] lang="en" role="quiz"
# Slope 1/2, equal scores. How large is the weight of a key two steps back, as a share of the
# weight of the query's own key?
#
# - {{ math.isclose(ratio, math.exp(-1), rel_tol=1e-5) }} $e^{-1}$, that is {{ math.exp(-1):.2f }}
#
#     Two steps cost 2 · 1/2 = 1; a score lower by 1 means a weight multiplied by $e^{-1}$.
#
# - {{ math.isclose(ratio, 1 / 4, rel_tol=1e-5) }} 1/4
#
#     That halves the weight at each step. The slope is subtracted from the score, and the
#     weight is multiplied by $e^{-1/2}$.
#
# - {{ math.isclose(ratio, 0, abs_tol=1e-5) }} 0
#
#     A score of 0 − 1 is not a weight of 0: softmax makes every visible key count.

# %% [markdown] lang="zh" role="quiz"
# 斜率是 1/2，分数全都相等。往回两步的键，权重是查询自己那个键的多少？
#
# - {{ math.isclose(ratio, math.exp(-1), rel_tol=1e-5) }} $e^{-1}$，即 {{ math.exp(-1):.2f }}
#
#     两步扣 2 · 1/2 = 1；分数少 1，权重就乘 $e^{-1}$。
#
# - {{ math.isclose(ratio, 1 / 4, rel_tol=1e-5) }} 1/4
#
#     这是每一步都减半。斜率是从分数里减的，权重乘的是 $e^{-1/2}$。
#
# - {{ math.isclose(ratio, 0, abs_tol=1e-5) }} 0
#
#     分数是 0 − 1，不等于权重是 0：只要看得见，softmax 就给每个键一点权重。

# %% [markdown] lang="en" role="quiz"
# How many numbers does training change in the slopes of eight heads?
#
# - {{ learned == 0 }} None
#
#     The slopes are fixed before training and never touched.
#
# - {{ learned == 8 }} Eight, one for each head
#
#     There are eight slopes, but they are not parameters.
#
# - {{ learned == 1 }} One, the first; the others are powers of it
#
#     They are powers of it, and it is fixed as well.

# %% [markdown] lang="zh" role="quiz"
# 八个头的斜率里，训练会改变几个数？
#
# - {{ learned == 0 }} 一个也不改
#
#     斜率在训练之前就定下来了，以后从不改动。
#
# - {{ learned == 8 }} 八个，每个头一个
#
#     斜率有八个，但都不是参数。
#
# - {{ learned == 1 }} 一个：第一个，其余的都是它的幂
#
#     其余的确实是它的幂，但它本身也是固定的。

# %% [markdown] lang="en" role="quiz"
# What is the last slope of twelve heads?
#
# - {{ math.isclose(ends, 2**-3.5, rel_tol=1e-5) }} $2^{-3.5}$, about {{ 2**-3.5:.3f }}
#
#     The last four are every second slope of 16 heads: $2^{-0.5}$, $2^{-1.5}$, $2^{-2.5}$, $2^{-3.5}$.
#
# - {{ math.isclose(ends, 2**-8, rel_tol=1e-5) }} 1/256, as always
#
#     It is among them, but in the eighth place: the list is not sorted.
#
# - {{ math.isclose(ends, 2**-12, rel_tol=1e-5) }} $2^{-12}$, halved once for each head
#
#     Halving at each head holds for eight heads.

# %% [markdown] lang="zh" role="quiz"
# 十二个头的最后一个斜率是多少？
#
# - {{ math.isclose(ends, 2**-3.5, rel_tol=1e-5) }} $2^{-3.5}$，约 {{ 2**-3.5:.3f }}
#
#     最后四个是 16 个头的斜率里隔一个取一个：$2^{-0.5}$、$2^{-1.5}$、$2^{-2.5}$、$2^{-3.5}$。
#
# - {{ math.isclose(ends, 2**-8, rel_tol=1e-5) }} 1/256，总是这个数
#
#     这个数也在里面，但在第八个：这串数不是从大到小排的。
#
# - {{ math.isclose(ends, 2**-12, rel_tol=1e-5) }} $2^{-12}$，每个头减半一次
#
#     每个头减半，是八个头的情形。

# %% [markdown] lang="en" role="quiz"
# Bloom adds slope times key position, never a negative number. Why is that ALiBi?
#
# - {{ same_after and not same_before }} Each row differs from ours by one number, which softmax ignores
#
#     That number is slope times the query's position.
#
# - {{ same_before }} It is the same tensor
#
#     Ours is never positive. Only the weights agree.
#
# - {{ not same_after }} It is not: it rewards far keys
#
#     It rewards keys further to the right, and in the past those are the near ones.

# %% [markdown] lang="zh" role="quiz"
# Bloom 加的是斜率乘键的位置，没有一个是负数。为什么这也是 ALiBi？
#
# - {{ same_after and not same_before }} 每一行与我们的只差一个相同的数，softmax 不受影响
#
#     这个数就是斜率乘查询的位置。
#
# - {{ same_before }} 因为是同一个张量
#
#     我们的从来不是正数。相同的只是权重。
#
# - {{ not same_after }} 这不是 ALiBi，远处的键反而加了分
#
#     加分多的是靠右的键；在过去的键里，靠右就是靠近。

# %% [markdown] lang="en" role="quiz"
# In the symmetric bias of an encoder, which two keys cost a query at position 3 the same?
#
# - {{ (symmetric[0, 3, 1] == symmetric[0, 3, 5]).item() }} Those at positions 1 and 5
#
#     Both are two steps away.
#
# - {{ (symmetric[0, 3, 1] == symmetric[0, 3, 4]).item() }} Those at positions 1 and 4
#
#     Two steps to the left and one to the right.
#
# - {{ (symmetric[0, 3, 4] == symmetric[0, 3, 5]).item() }} Those at positions 4 and 5
#
#     In the causal bias both are 0. An encoder's falls on the right as well.

# %% [markdown] lang="zh" role="quiz"
# 编码器用对称的偏置。对位置 3 上的查询，哪两个键扣得一样多？
#
# - {{ (symmetric[0, 3, 1] == symmetric[0, 3, 5]).item() }} 位置 1 和位置 5 的键
#
#     都隔两步。
#
# - {{ (symmetric[0, 3, 1] == symmetric[0, 3, 4]).item() }} 位置 1 和位置 4 的键
#
#     一个在左边两步，一个在右边一步。
#
# - {{ (symmetric[0, 3, 4] == symmetric[0, 3, 5]).item() }} 位置 4 和位置 5 的键
#
#     在因果的偏置里两个都是 0。编码器的偏置在右边也下降。
