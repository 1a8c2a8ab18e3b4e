# %% [markdown] lang="en"
# # RoPE: turn the query and the key
#
# A position encoding can be added to the token vectors before the first layer. RoPE, the
# rotary position embedding, adds nothing. It waits until an attention layer has made its
# queries and keys, and turns each of them by an angle that grows with its position.
#
# Why should turning two vectors tell how far apart they stand? Look at the angle between
# them.

# %% [markdown] lang="zh"
# # RoPE：转动查询和键
#
# 位置编码（position encoding）可以在第一层之前加到词元（token）向量上。旋转位置编码（RoPE）什么都不加。它等每个注意力层算出查询和键之后，再把每个查询、每个键转一个角度，位置越靠后，转得越多。
#
# 转一转两个向量，怎么就能知道它们相隔多远？看两者的夹角就明白了。

# %% hide=true
from tokpos.figures import rope as figures

figures.turning()

# %% [markdown] lang="en" role="caption"
# One pair of features (two numbers) of a query and of a key: dashed before, solid after the
# turn. In the first two dials the positions differ and the offset is the same, and so is the angle
# between the two.

# %% [markdown] lang="zh" role="caption"
# 查询和键各取一对维度，也就是向量里的两个数：虚线是转之前，实线是转之后。前两个圆盘里，位置不同，偏移相同，两者的夹角也就相同。

# %% [markdown] lang="en"
# ## One pair of features {#one-pair}
#
# Two numbers are a point in the plane. To turn the point by the angle $a$, multiply by a
# small matrix:
#
# $$R(a) = \begin{pmatrix} \cos a & -\sin a \\ \sin a & \cos a \end{pmatrix}$$
#
# Let $q$ and $k$ be such pairs, and let $\theta$ be the angle for one step. The query at
# position $m$ is turned by $m\theta$, the key at position $n$ by $n\theta$, as in the picture.

# %% [markdown] lang="zh"
# ## 一对维度 {#one-pair}
#
# 两个数就是平面上的一个点。把点转过角度 $a$，就是乘一个小矩阵：
#
# $$R(a) = \begin{pmatrix} \cos a & -\sin a \\ \sin a & \cos a \end{pmatrix}$$
#
# 设 $q$ 和 $k$ 各是这样一对数，每走一步转过的角度是 $\theta$。位置 $m$ 上的查询转 $m\theta$，位置 $n$ 上的键转 $n\theta$。下面就用图中的数。

# %%
import math

import torch

torch.set_printoptions(precision=3, sci_mode=False, linewidth=80)

theta = 0.25  # radians per position
q = torch.tensor([math.cos(0.35), math.sin(0.35)])
k = torch.tensor([math.cos(0.80), math.sin(0.80)])


def turned(pair, position):
    a = position * theta
    R = torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    return R @ pair


for m, n in [(2, 5), (6, 9), (0, 7)]:
    score = turned(q, m) @ turned(k, n)
    print(f"m = {m}   n = {n}   n - m = {n - m}   score {score:.4f}")

# %% [markdown] lang="en"
# The first two scores agree. A dot product sees the two lengths and the angle between the
# vectors. Turning changes no length. And it changes the angle by $n\theta - m\theta$, where
# only the offset is left:
#
# $$\bigl(R(m\theta)\, q\bigr)^{\top} R(n\theta)\, k = q^{\top} R\bigl((n - m)\,\theta\bigr)\, k$$
#
# The offset is $n - m$, key position minus query position, as everywhere on this site.

# %% [markdown] lang="zh"
# 前两个分数相等。点积只看两个向量的长度和夹角。转动不改变长度；夹角改变了 $n\theta - m\theta$，里面只剩下偏移：
#
# $$\bigl(R(m\theta)\, q\bigr)^{\top} R(n\theta)\, k = q^{\top} R\bigl((n - m)\,\theta\bigr)\, k$$
#
# 偏移是 $n - m$，即键的位置减查询的位置，本站各处都这样约定。

# %% check=true
for m in range(50):
    for n in range(50):
        assert math.isclose(turned(q, m) @ turned(k, n), q @ turned(k, n - m), abs_tol=1e-5)
        assert math.isclose(turned(q, m).norm(), q.norm(), rel_tol=1e-6)

# %% [markdown] lang="en" role="claim"
# For all positions below 50 both sides of the formula agree to 10⁻⁵, and no turn changes the
# length of the query, to rounding.

# %% [markdown] lang="zh" role="claim"
# 位置小于 50 的所有组合，公式两边相差不超过 10⁻⁵；不论转多少，查询的长度都不变（只差舍入误差）。

# %% [markdown] lang="en"
# ## A head has many pairs {#many-pairs}
#
# One pair comes round too soon, like [one hand of a clock](sinusoidal.md#one-hand). So the
# $d$ features of a head are taken as $d/2$ pairs, and each pair has a speed of its own.
# The speeds are those of the sinusoidal encoding, with the width $d$ of a head in place of
# $D$:
#
# $$\theta_i = 10000^{-2i/d}, \qquad i = 0, 1, \dots, \tfrac{d}{2} - 1$$
#
# Here is the whole of RoPE in one function. It turns all heads and all places at once:
# features 0 and 1 are the first pair, features 2 and 3 the second, and so on.

# %% [markdown] lang="zh"
# ## 一个头有许多对 {#many-pairs}
#
# 只有一对，很快就会转回原处，就像[钟的一根针](sinusoidal.md#one-hand)。所以一个注意力头的 $d$ 维分成 $d/2$ 对，每一对转动的快慢不同。快慢与正弦位置编码（sinusoidal position encoding）相同，只是把 $D$ 换成一个头的维度 $d$：
#
# $$\theta_i = 10000^{-2i/d}, \qquad i = 0, 1, \dots, \tfrac{d}{2} - 1$$
#
# RoPE 的全部内容，一个函数就写完了。它同时转动所有的头、所有的位置：第 0 维和第 1 维是第一对，第 2 维和第 3 维是第二对，依此类推。

# %%
from tokpos.sinusoidal import frequencies

B, H, S, d = 2, 3, 5, 8
generator = torch.Generator().manual_seed(0)
q, k, v = torch.randn(3, B, H, S, d, generator=generator)  # of every head
theta, places = frequencies(d), torch.arange(S)


def rope_by_hand(x):
    angle = places[:, None] * theta  # [S, d/2]
    a, b = x[..., 0::2], x[..., 1::2]  # first and second feature of each pair
    pairs = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(pairs, dim=-1).flatten(-2)  # pairs side by side again


print("frequencies", theta)

# %% [markdown] lang="en"
# In the package the two steps are apart: [`tokpos.rope.rotation`][] makes cosines and sines,
# which serve every head and every layer, and [`tokpos.rope.rotate`][] applies them. Its last
# argument says which features form a pair ([below](rope.md#layouts)).

# %% [markdown] lang="zh"
# 在本站的包里，这两步是分开的：[`tokpos.rope.rotation`][] 算出余弦和正弦，供所有的头、所有的层共用；[`tokpos.rope.rotate`][] 拿它们去转动，最后一个参数说明哪两维配成一对（见[下文](rope.md#layouts)）。

# %%
from tokpos.rope import rotate, rotation

turn = rotation(places, theta)
turned_q = rotate(q, turn, "interleaved")
print("cosines", list(turn.cos.shape))
print("before ", q[0, 0, 1])
print("after  ", turned_q[0, 0, 1])

# %% check=true
assert turned_q.shape == q.shape
assert torch.allclose(turned_q.double(), rope_by_hand(q), rtol=0, atol=1e-6)
assert torch.equal(turned_q[..., 0, :], q[..., 0, :])  # position 0: the angle is 0
pair_length = q.unflatten(-1, (-1, 2)).norm(dim=-1)
assert torch.allclose(turned_q.unflatten(-1, (-1, 2)).norm(dim=-1), pair_length, rtol=1e-5)

# %% [markdown] lang="en" role="claim"
# `rotate` gives what the function by hand gives, to rounding. {{ list(q.shape) }} stays
# {{ list(turned_q.shape) }}. Each pair keeps its length, and so does each whole vector. At
# position 0 nothing changes.

# %% [markdown] lang="zh" role="claim"
# `rotate` 与手写的函数结果相同。形状 {{ list(q.shape) }} 仍是 {{ list(turned_q.shape) }}。每一对的长度不变，整个向量的长度也不变。在位置 0，什么都没有变。

# %% [markdown] lang="en"
# ## Only the offset counts {#offset}
#
# Put the same query and the same key at every place. Then every difference between the
# scores comes from positions alone. The numbers repeat along the diagonals:

# %% [markdown] lang="zh"
# ## 只有偏移起作用 {#offset}
#
# 在每个位置都放同一个查询、同一个键，分数有差别就只能是因为位置。同一条对角线上的数都相同：

# %%
from tokpos import RotaryEncoding

rope = RotaryEncoding(d, layout="interleaved")
one_q, one_k = torch.randn(2, d, generator=generator, dtype=torch.float64)
six = torch.arange(6)
six_q, six_k = rope(one_q.expand(1, 6, d), one_k.expand(1, 6, d), six, six)
scores = six_q[0] @ six_k[0].T
scores


# %% check=true
def score(m, n):
    """Scores of the one query at the positions m with the one key at the positions n."""
    at_m, at_n = rope(one_q.expand(1, len(m), d), one_k.expand(1, len(n), d), m, n)
    return (at_m * at_n).sum(-1)[0]


m, n, shift = torch.randint(0, 100_000, (3, 2_000), generator=generator)
drift = (score(m, n) - score(m + shift, n + shift)).abs().max()
spread = (score(m, n) - score(m, n + 1)).abs().median()
assert drift < 1e-9
assert spread > 0.1
for offset in range(-5, 6):
    diagonal = scores.diagonal(offset)
    assert torch.allclose(diagonal, diagonal[0].expand_as(diagonal), rtol=0, atol=1e-12)

# %% [markdown] lang="en" role="claim"
# {{ len(m) }} random pairs of positions, each pair moved on by a random shift: in float64
# no score changes by as much as 10⁻⁹. Move only the key, by one place, and the median change of
# a score is {{ spread:.1f }}.

# %% [markdown] lang="zh" role="claim"
# 随机取 {{ len(m) }} 对位置，每一对整体移动一段随机的距离：float64 下，分数的变化都不到 10⁻⁹。如果只把键移动一个位置，分数变化的中位数就是 {{ spread:.1f }}。

# %% [markdown] lang="en"
# So an absolute position goes in, and a relative one comes out. No matrix of distances is
# built: a query and a key need to know only where they stand themselves.

# %% [markdown] lang="zh"
# 可见，放进去的是绝对位置，出来的是相对位置。不需要算距离矩阵：每个查询、每个键只要知道自己在哪里就行。

# %% [markdown] lang="en"
# ## Why the value is not turned {#not-v}
#
# Queries and keys decide *where* to look; what is handed over is a sum of values. In a score
# two turns meet, and the absolute positions cancel. In the sum there is nothing to cancel a
# turn with. Try it: compute attention at the places 0 to {{ S - 1 }}, and again with every
# position raised by 100.

# %% [markdown] lang="zh"
# ## 为什么不转动值 {#not-v}
#
# 查询和键决定*看哪里*，交出去的是值的加权和。在分数里，两次转动碰到一起，绝对位置就抵消了；在值的和里，没有东西来抵消。试一试：先在位置 0 到 {{ S - 1 }} 上算注意力，再把所有位置都加上 100 重算一遍。


# %%
def attention(positions, turn_values):
    at_q, at_k = rope(q, k, positions, positions)
    values = rope(v, v, positions, positions)[0] if turn_values else v
    weights = (at_q @ at_k.mT / math.sqrt(d)).softmax(-1)
    return weights @ values


moved = {}
for turn_values in (False, True):
    change = attention(places + 100, turn_values) - attention(places, turn_values)
    moved[turn_values] = change.abs().max().item()
    print(f"values turned: {turn_values!s:5}  change: up to {moved[turn_values]:.1f}")

# %% check=true
assert moved[False] < 1e-4 and moved[True] > 0.5
assert rope.into_input(q) is q  # nothing is added to the input
assert len(list(rope.parameters())) == 0 and len(rope.state_dict()) == 0

# %% [markdown] lang="en" role="claim"
# With values as they are, the output does not notice the shift, up to rounding. With turned
# values the absolute position leaks into the sum. RoPE itself has no parameter and stores no
# table.

# %% [markdown] lang="zh" role="claim"
# 值不转动，整体移动就不影响输出，只差舍入误差。值也转动的话，绝对位置就漏进了和里。RoPE 本身没有参数，也不存任何表。

# %% [markdown] lang="en"
# What is added to the input is added once. RoPE turns anew in every layer, because each makes
# its own queries and keys.

# %% [markdown] lang="zh"
# 加到输入上的编码只加一次。RoPE 在每一层都要重新转动，因为每一层都有自己的查询和键。

# %% [markdown] lang="en"
# ## Two layouts in the wild {#layouts}
#
# Which two features are a pair is a matter of convention, and there are two conventions.

# %% [markdown] lang="zh"
# ## 两种配对方式 {#layouts}
#
# 哪两维算一对，只是约定，而这样的约定有两种。

# %% hide=true
figures.layouts()

# %% [markdown] lang="en" role="caption"
# Above, interleaved: neighbors are a pair. Below, half-split: a feature pairs with the
# feature half a head further on. The arrows show where each feature must go so that the
# pairs stay together.

# %% [markdown] lang="zh" role="caption"
# 上面是相邻配对：相邻的两维是一对。下面是前后半配对：一维与隔半个头的那一维是一对。箭头指出每一维要移到哪里，才能让原来的一对仍是一对。

# %% [markdown] lang="en" role="widget"
# `rope`
#
# **Try it.** Drag query and key, and move both positions by the same number. Then let the key be
# turned in the other layout.
#
# ---
#
# With one layout for both the score is a flat line: it knows the offset only. With two layouts it
# depends on where the two stand, and no error is raised.

# %% [markdown] lang="zh" role="widget"
# `rope`
#
# **动手试。**拖动查询和键，把两个位置改动同样多。然后让键按另一种方式配对。
#
# ---
#
# 两者配对方式相同，分数是一条平线：它只由偏移决定。配对方式不同，分数就随位置变，而且不会报错。

# %% [markdown] lang="en"
# The RoFormer paper, Meta's own Llama files and GPT-J have neighbors (**interleaved**).
# GPT-NeoX and most models in transformers, Llama included, have halves (**half-split**;
# [compared](../differences.md#rope-layout)). The mathematics is the same; only the places
# of the features differ.

# %% [markdown] lang="zh"
# RoFormer 论文、Meta 自己发布的 Llama 文件和 GPT-J 用**相邻配对**（interleaved）。GPT-NeoX 和 transformers 里的大多数模型，包括 Llama，用**前后半配对**（half-split；[比对](../differences.md#rope-layout)）。数学上完全一样，只是各维排的位置不同。

# %%
from tokpos.rope_layout import feature_order

x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
turn = rotation(torch.tensor([1]), frequencies(4))
order = feature_order(4, "interleaved", "half-split")
print("order      ", order.tolist())
print("interleaved", rotate(x, turn, "interleaved")[0, 0])
print("half-split ", rotate(x, turn, "half-split")[0, 0])
print("reordered  ", rotate(x[..., order], turn, "half-split")[0, 0])

# %% check=true
same = rotate(x, turn, "interleaved")[..., order]
assert torch.allclose(rotate(x[..., order], turn, "half-split"), same, rtol=0, atol=1e-6)
assert (rotate(x, turn, "half-split") - rotate(x, turn, "interleaved")).abs().max() > 0.5

# %% [markdown] lang="en" role="claim"
# Reorder the features, then turn in the half-split layout: the numbers are those of the
# interleaved layout, in the new order. Without reordering they differ.

# %% [markdown] lang="zh" role="claim"
# 先重排各维，再按前后半配对转动：得到的数与相邻配对相同，只是换了次序。不重排，得到的就是别的数。

# %% [markdown] lang="en"
# Llama's code in transformers looks different. It has a cosine and a sine for each
# *feature* and a second vector, the halves of the head swapped and one of them negated.
# The result is the query (or key) times the cosines plus this second vector times the
# sines.

# %% [markdown] lang="zh"
# transformers 里 Llama 的代码看上去不同。它给*每一维*准备一个余弦和一个正弦；把一个头的前后两半对调、其中一半变号，做成另一个向量；原向量乘余弦，新向量乘正弦，两者相加。

# %% check=true
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

config = LlamaConfig(hidden_size=H * d, num_attention_heads=H)
theirs = apply_rotary_pos_emb(q, k, *LlamaRotaryEmbedding(config)(q, places.expand(B, S)))
ours = RotaryEncoding(d, layout="half-split")(q, k, places, places)
for one, other in zip(ours, theirs, strict=True):
    assert torch.allclose(one, other, rtol=0, atol=2e-6)
assert (turned_q - theirs[0]).abs().max() > 0.5  # turned_q: interleaved

# %% [markdown] lang="en" role="claim"
# Queries and keys in our half-split layout agree with `apply_rotary_pos_emb` to 2 × 10⁻⁶. In
# the interleaved layout they do not.

# %% [markdown] lang="zh" role="claim"
# 用前后半配对，查询和键都与 `apply_rotary_pos_emb` 一致，误差不超过 2 × 10⁻⁶；用相邻配对就不一致了。

# %% [markdown] lang="en"
# ### What a wrong layout does to a model {#wrong-layout}
#
# Weights fit the layout they were trained in, and neither their names nor their shapes say
# which it was. To see what a mistake costs, we trained a very small model. A single layer
# cannot do its task [without positions](why_positions.md#causal): say which token stood
# three places back. (The notebook has the training loop; `share_right` is the share of right
# answers on new texts.)

# %% [markdown] lang="zh"
# ### 用错配对方式，模型会怎样 {#wrong-layout}
#
# 权重是按某一种配对训练出来的，可是从名字、从形状都看不出是哪一种。弄错的代价有多大？我们训练了一个很小的模型。它的任务是说出三个位置之前是哪个词元；只有一层、又[没有位置](why_positions.md#causal)的话，这是做不成的。（训练的循环在 notebook 里；`share_right` 是在新文本上答对的比例。）

# %%
from torch import nn

from tokpos import Attention

V, D, back = 12, 32, 3


def build(layout):
    """A table, one attention layer, a head of logits."""
    encoding = RotaryEncoding(16, layout=layout)
    attend = Attention(D, n_heads=2, encoding=encoding, causal=True, n_kv_heads=1)
    return nn.Sequential(nn.Embedding(V, D), attend, nn.Linear(D, V))


# %% hide=true
torch.manual_seed(0)
model = build("interleaved")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(300):
    ids = torch.randint(V, (32, 24), generator=generator)
    logits = model(ids)[:, back:].mT
    loss = nn.functional.cross_entropy(logits, ids[:, :-back])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
test = torch.randint(V, (200, 24), generator=generator)


def share_right(model):
    return (model(test)[:, back:].argmax(-1) == test[:, :-back]).float().mean().item()


# %%
def half_split(weights):
    other = build("half-split")
    other.load_state_dict(weights)  # no error: the shapes are the same
    return other


wrong = half_split(model.state_dict())
print(f"trained, interleaved:         {share_right(model):.0%} right")
print(f"the same weights, half-split: {share_right(wrong):.0%} right")

# %% [markdown] lang="en"
# Guessing would give {{ 1 / V:.0% }}. Now convert the weights. A row of the query's weight matrix
# makes one feature. So the rows change places, **head by head**, and the biases with them.
# The keys change in the same way, or else their product with the queries would change. Values
# are not turned; their rows stay, and so does the output projection.

# %% [markdown] lang="zh"
# 瞎猜的正确率是 {{ 1 / V:.0% }}。现在来转换权重。查询权重矩阵的一行算出一维，所以要**逐个头**地重排行，偏置跟着一起重排。键也要同样重排，否则它与查询的点积就变了。值不转动，值的行不动，输出投影也不动。

# %%
from tokpos.rope_layout import convert_rows

ways = {"source": "interleaved", "target": "half-split"}
weights = model.state_dict()
for name, n_heads in (("query", 2), ("key", 1)):
    for each in (f"1.{name}.weight", f"1.{name}.bias"):
        weights[each] = convert_rows(weights[each], n_heads, 16, **ways)
converted = half_split(weights)
print(f"converted, half-split:        {share_right(converted):.0%} right")

# %% check=true
assert share_right(model) > 0.95 and share_right(wrong) < 0.5
assert torch.allclose(converted(ids), model(ids), rtol=0, atol=1e-4)
again = convert_rows(weights["1.query.weight"], 2, 16, source="half-split", target="interleaved")
assert torch.equal(again, model.state_dict()["1.query.weight"])

# %% [markdown] lang="en" role="claim"
# Under the wrong layout most answers are wrong, and no error is raised. Converted, the model
# has the logits of the trained one, to rounding. Converting back gives the old rows, bit for
# bit.

# %% [markdown] lang="zh" role="claim"
# 用错配对方式，答案大半是错的，却没有报错。转换之后，logits（未归一化分数）与训练好的模型相同，只差舍入误差。再转换回去，得到的就是原来的行，逐位相等。

# %% [markdown] lang="en"
# ## Decoding: each token at its own position {#cache}
#
# A model that writes text keeps the keys of earlier tokens in a KV cache. A key is turned
# once, by its own position, and kept as it is. Later queries are turned by theirs, and the
# offset comes out right.

# %% [markdown] lang="zh"
# ## 解码：每个词元用自己的位置 {#cache}
#
# 模型生成文本时，把之前词元的键存在 KV 缓存里。键只按自己的位置转一次，然后原样存着。后来的查询按各自的位置转。不管键在缓存里放了多久，偏移都是对的。

# %% hide=true
from tokpos.figures import attention as attention_figures

attention_figures.cache_step()

# %% [markdown] lang="en" role="caption"
# A decoding step: one new token, and the keys and values that are kept.

# %% [markdown] lang="zh" role="caption"
# 解码的一步：一个新词元，以及缓存里的键和值。

# %%
rope = RotaryEncoding(d, layout="half-split")
whole_q, whole_k = rope(q, k, places, places)
whole = whole_q @ whole_k.mT  # all scores at once

kept, rows = [], []
for place in range(S):
    here = torch.tensor([place])
    new_q, new_k = rope(q[..., [place], :], k[..., [place], :], here, here)
    kept.append(new_k)
    rows.append(new_q @ torch.cat(kept, dim=-2).mT)
    print(f"step {place}: {place + 1} scores", rows[-1][0, 0, 0])

# %% check=true
for place, row in enumerate(rows):
    assert torch.allclose(row, whole[..., [place], : place + 1], rtol=0, atol=1e-5)
assert torch.allclose(torch.cat(kept, dim=-2), whole_k, rtol=0, atol=1e-6)
at_zero, _ = rope(q[..., [S - 1], :], new_k, torch.tensor([0]), torch.tensor([0]))
assert (at_zero @ whole_k.mT - rows[-1]).abs().max() > 1

# %% [markdown] lang="en" role="claim"
# Step by step the scores and the kept keys are those of the full pass, to rounding. With the
# last query turned as if it stood at position 0, a [fault](../faults/cache_offset.md) that
# raises no error, the scores differ.

# %% [markdown] lang="zh" role="claim"
# 一步一步算出的分数和缓存里的键，与一次算完的相同，只差舍入误差。如果最后一个查询按位置 0 来转，分数就变了；这个[错误](../faults/cache_offset.md)不会报错。

# %% [markdown] lang="en"
# ### Padding on the left {#left-padding}
#
# When texts of unequal length are continued together, the short ones are padded on the left,
# and positions are [counted from the mask](../faults/left_padding.md). With RoPE it does no
# harm to shift all positions alike. But if the prompt is counted by its mask and the next
# token by the length of the cache, the offset between them is wrong.

# %% [markdown] lang="zh"
# ### 左边的填充 {#left-padding}
#
# 成批续写长短不一的文本时，短的通常在左边填充，位置则[按掩码来数](../faults/left_padding.md)。用 RoPE，所有位置移动同样的距离并不要紧；可是提示词按掩码数，下一个词元却按缓存的长度数，偏移就错了。

# %% check=true
for counted in (torch.arange(2, 5), torch.arange(3)):  # by the place, by the mask
    real_q, real_k = rope(q[:1, :, 2:], k[:1, :, 2:], counted, counted)
    assert torch.allclose(real_q @ real_k.mT, whole[:1, :, 2:, 2:], rtol=0, atol=1e-5)
right_place, cache_length = torch.tensor([3]), torch.tensor([5])
wanted, mixed = (rope(q[:1, :, :1], k[:1, :, :1], at, at)[0] for at in (right_place, cache_length))
assert ((wanted - mixed) @ real_k.mT).abs().max() > 0.5

# %% [markdown] lang="en" role="claim"
# Three real tokens after two of padding score the same with each other, whether the padding
# is counted or not. The next one has position {{ right_place.item() }}. Turned by
# {{ cache_length.item() }}, the length of the cache, it scores differently with keys counted by
# the mask.

# %% [markdown] lang="zh" role="claim"
# 三个真实词元前面有两个填充，数不数填充，它们之间的分数都一样。下一个词元的位置是 {{ right_place.item() }}。如果按缓存的长度 {{ cache_length.item() }} 来转，它与按掩码数位置的键算出的分数就变了。

# %% [markdown] lang="en"
# ## Angles need more digits than the model {#precision}
#
# Models often run in bfloat16, which keeps {{ round(-math.log2(torch.finfo(torch.bfloat16).eps)) + 1 }}
# binary digits of a number. That is enough for features, but not for a position: 257 becomes
# {{ int(torch.tensor(257).bfloat16()) }}, and 100,000 becomes
# {{ f"{int(torch.tensor(100_000).bfloat16()):,}" }}. The fast pairs need their angle to a
# fraction of a radian. So how far are cosines from those of float64, when their angles are
# computed in a smaller type?

# %% [markdown] lang="zh"
# ## 算角度，要比模型其余部分用更多的位数 {#precision}
#
# 模型常用 bfloat16 运行，一个数只有 {{ round(-math.log2(torch.finfo(torch.bfloat16).eps)) + 1 }} 位二进制有效数字。对向量里的数来说够了，对位置来说不够：257 变成 {{ int(torch.tensor(257).bfloat16()) }}，100,000 变成 {{ f"{int(torch.tensor(100_000).bfloat16()):,}" }}。转得快的那些对，角度至少要准到零点几弧度。用位数较少的类型计算角度，余弦与 float64 的值会差多少？

# %% hide=true
figures.precision()

# %% [markdown] lang="en" role="caption"
# The largest error of a cosine at each position, for a head of width 128. The top curve
# is that of bfloat16: after 256 tokens it can no longer tell all neighboring positions
# apart.

# %% [markdown] lang="zh" role="caption"
# 头的维度为 128 时，各个位置上余弦的最大误差。最上面一条是 bfloat16：256 个词元之后，它连相邻的位置都分不开了。

# %% check=true
far = torch.tensor([100_000])
exact = far.double()[:, None] * frequencies(128)


def worst(cosines):
    return (cosines.double() - exact.cos()).abs().max().item()


def cosine_error(dtype):
    angle = far.to(dtype)[:, None] * frequencies(128).to(dtype)
    return worst(angle.double().cos())


error = {name: cosine_error(getattr(torch, name)) for name in ("float32", "bfloat16")}
finished = rotation(far, frequencies(128), dtype=torch.bfloat16).cos
assert error["float32"] < 0.01 and error["bfloat16"] > 1.5 and worst(finished) <= 2.0**-9
llama = LlamaRotaryEmbedding(LlamaConfig(hidden_size=256, num_attention_heads=2))
as_made = worst(llama(torch.zeros(1), far[None])[0][0, :, :64])
after_to = worst(llama.bfloat16()(torch.zeros(1), far[None])[0][0, :, :64])
assert as_made < 0.01 and after_to > 1

# %% [markdown] lang="en" role="claim"
# At position 100,000, with angles in float32, cosines are off by up to
# {{ error["float32"]:.3f }}; with angles in bfloat16 by {{ error["bfloat16"]:.1f }}, and 2 is the
# most that is possible; with the rounding to bfloat16 at the very end by
# {{ worst(finished):.3f }}. The table of transformers' Llama is off by {{ as_made:.3f }}, and
# by {{ after_to:.1f }} after `.to(torch.bfloat16)`.

# %% [markdown] lang="zh" role="claim"
# 在位置 100,000，角度用 float32 计算时，余弦的误差是 {{ error["float32"]:.3f }}；用 bfloat16 计算时，误差是 {{ error["bfloat16"]:.1f }}，而误差最大也不过是 2；最后才舍入成 bfloat16，误差是 {{ worst(finished):.3f }}。transformers 的 Llama，余弦误差是 {{ as_made:.3f }}；做过 `.to(torch.bfloat16)` 之后，误差是 {{ after_to:.1f }}。

# %% [markdown] lang="en"
# So compute the angles in float32 or better (transformers takes float32, this package
# float64), and round the finished cosines and sines. Llama's frequencies are a buffer, so
# `.to(torch.bfloat16)` [rounds them too](../differences.md#rope-bfloat16). Our
# [`tokpos.rope.RotaryEncoding`][] has no buffer.

# %% [markdown] lang="zh"
# 所以角度要用 float32 或更高的精度来算（transformers 用 float32，本站的包用 float64），算好余弦和正弦之后再舍入。Llama 的频率是一个缓冲区，`.to(torch.bfloat16)` [会把它一起舍入](../differences.md#rope-bfloat16)。我们的 [`tokpos.rope.RotaryEncoding`][] 没有缓冲区。

# %% [markdown] lang="en"
# ## Longer than trained {#longer}
#
# RoPE has no last position: any angle can be computed. But a model trained on short texts has
# never met the offsets of a long one. The fast pairs have met every angle. The slow ones have
# not:

# %% [markdown] lang="zh"
# ## 比训练时更长 {#longer}
#
# RoPE 没有最后一个位置，什么角度都算得出来。可是用短文本训练的模型，从没见过长文本里那么大的偏移。转得快的对早就转过许多圈，什么角度都见过；转得慢的却不是这样：

# %%
trained, factor = 4096, 8.0
plain = frequencies(128)
turns = trained * plain / (2 * math.pi)  # how often each pair turns during training
for pair in (0, 20, 40, 46, 63):
    print(f"pair {pair:2}: {turns[pair]:7.2f} turns in {trained} tokens")
unfinished = int((turns < 1).sum())

# %% [markdown] lang="en"
# {{ unfinished }} of the {{ len(plain) }} pairs do not finish a single turn. A text
# {{ factor:.0f }} times as long takes them to angles that are new to the model.

# %% [markdown] lang="zh"
# {{ len(plain) }} 对里有 {{ unfinished }} 对连一圈都没转完。文本长到 {{ factor:.0f }} 倍时，它们就会转到模型没见过的角度。

# %% hide=true
figures.beyond_training()

# %% [markdown] lang="en" role="caption"
# The slowest pair. During training it sweeps only a narrow sector. A longer text takes it far
# outside. Slowed, it stays inside, and positions stand closer together.

# %% [markdown] lang="zh" role="caption"
# 最慢的一对。训练时它只转过窄窄的一角；文本变长，它就会转到这一角之外很远的地方。放慢之后，它留在里面，只是各个位置靠得更近。

# %% [markdown] lang="en"
# Each of these rules slows pairs, so that they stay within the angles that the model has met,
# or nearer to them. With $L$ for the length in training and $s$ for the factor:
#
# - **Position interpolation** divides all: $\theta_i / s$. The fast pairs are slowed too, so
#   neighboring tokens differ by smaller angles.
# - **NTK-aware** raises the base, to $10000 \cdot s^{d/(d-2)}$. The first pair stays as it
#   was, the last is slowed $s$ times, the others less: some of them still go beyond.
# - **YaRN** counts turns. Pairs that turn more than 32 times in $L$ stay, pairs that turn
#   less than once are divided by $s$, with a ramp between. It also multiplies cosines and
#   sines by $0.1 \ln s + 1$, its *attention factor*, and so every score by its square.
# - **Llama 3** counts turns too, with the limits 4 and 1 and another ramp.

# %% [markdown] lang="zh"
# 下面的规则都让一些对转得慢一点，留在模型见过的角度里，或者至少靠近一些。设训练长度为 $L$，倍数为 $s$：
#
# - **位置插值**（position interpolation）：全都除以同一个数，$\theta_i / s$。转得快的对也慢了下来，相邻词元的角度差变小了。
# - **NTK-aware**（NTK 是神经正切核的缩写，这里只当名字）：加大底数，变成 $10000 \cdot s^{d/(d-2)}$。第一对不变，最后一对放慢到原来的 $s$ 分之一，其余的在两者之间，有些对仍会转到范围之外。
# - **YaRN**：数圈数。在 $L$ 之内转 32 圈以上的对不变，不到一圈的除以 $s$，中间逐渐过渡。它还把余弦和正弦都乘以 $0.1 \ln s + 1$，叫作*注意力因子*，分数于是乘上它的平方。
# - **Llama 3**：也数圈数，界限是 4 和 1，过渡的方式不同。

# %% hide=true
figures.scaling_rules()

# %% [markdown] lang="en" role="caption"
# How many times each rule slows each pair, for {{ factor:.0f }} times the length. Pairs to the
# right of the dashed line did not finish a turn during training.

# %% [markdown] lang="zh" role="caption"
# 长度变为 {{ factor:.0f }} 倍时，每种规则把每一对放慢到几分之一。虚线右边的对，在训练时连一圈都没转完。

# %%
from tokpos.rope_scaling import scaled_frequencies

length = {"original_max_position_embeddings": trained}
bounds = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
rules = {
    "interpolation": {"rope_type": "linear", "factor": factor},
    "NTK": {"rope_type": "ntk", "factor": factor},
    "YaRN": {"rope_type": "yarn", "factor": factor, **length},
    "Llama 3": {"rope_type": "llama3", "factor": factor, **bounds, **length},
}
scaled = {name: scaled_frequencies(128, scaling=rule) for name, rule in rules.items()}
print({name: round(rule.attention_factor, 2) for name, rule in scaled.items()})

# %% check=true
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

# NTK for a length that is known beforehand is the rule "dynamic" at that length.
theirs = rules | {"NTK": {"rope_type": "dynamic", "factor": 1.0}}
for name, rule in theirs.items():
    longest = trained if name == "NTK" else int(factor * trained)
    sizes = {"hidden_size": 256, "num_attention_heads": 2, "max_position_embeddings": longest}
    config = LlamaConfig(**sizes, rope_parameters={**rule, "rope_theta": 10000.0})
    make = ROPE_INIT_FUNCTIONS[rule["rope_type"]]
    numbers, attention_factor = make(config, "cpu", seq_len=factor * trained)
    assert torch.allclose(scaled[name].frequencies.float(), numbers, rtol=1e-5, atol=0)
    assert math.isclose(scaled[name].attention_factor, attention_factor)

slow = turns < 1
for name, (slower, _) in scaled.items():
    beyond = factor * slower[slow] > plain[slow] * 1.0001  # at the new last position
    assert math.isclose(slower[-1], plain[-1] / factor) and beyond.any() == (name == "NTK")
    assert slower[0] == (1 / factor if name == "interpolation" else 1)

# %% [markdown] lang="en" role="claim"
# All four agree with transformers to 10⁻⁵. All slow the last pair {{ factor:.0f }} times; all but
# interpolation keep the first, at {{ plain[0]:.0f }} radian a token, where interpolation has
# {{ 1 / factor }}. With every rule but NTK the pairs that had not finished a turn stay within
# the angles met in training.

# %% [markdown] lang="zh" role="claim"
# 四种规则都与 transformers 一致，误差不超过 10⁻⁵。它们都让最后一对慢到原来的 1/{{ factor:.0f }}。第一对原来每走一个词元转 {{ plain[0]:.0f }} 弧度；只有插值改变了这个角度，使它变成 {{ 1 / factor }} 弧度，其他规则都不改变。除了 NTK，没转完一圈的对都留在训练时见过的角度之内。

# %% check=true
yarn, x = RotaryEncoding(128, layout="half-split", scaling=rules["YaRN"]), torch.ones(1, 6, 128)
growth = (yarn(x, x, six, six)[0].norm(dim=-1) / x.norm(dim=-1)).mean().item()
assert math.isclose(growth, 0.1 * math.log(factor) + 1, rel_tol=1e-6)
per_pair = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
longrope = {"rope_type": "longrope", "factor": factor, **per_pair, **length}
of_longrope = scaled_frequencies(128, scaling=longrope).attention_factor
assert of_longrope > 1

# %% [markdown] lang="en" role="claim"
# YaRN's attention factor breaks the rule that a turn keeps the length, on purpose: every
# turned vector is {{ growth:.3f }} times as long, every score {{ growth**2:.3f }} times as large.
# LongRoPE, which slows each pair by a number of its own, has such a factor too, here
# {{ of_longrope:.3f }}.

# %% [markdown] lang="zh" role="claim"
# YaRN 的注意力因子有意打破了“转动不改变长度”：这里每个转过的向量都是原来的 {{ growth:.3f }} 倍长，分数于是都是原来的 {{ growth**2:.3f }} 倍。另一种规则 LongRoPE 给每一对单独规定放慢多少，也有这样一个因子，在这里会是 {{ of_longrope:.3f }}。

# %% [markdown] lang="en"
# The papers on these rules train their models further with the new angles, Chen et al. for
# at most 1,000 steps.

# %% [markdown] lang="zh"
# 讲这些规则的论文，还用新的角度把模型再训练了一段，Chen 等不超过 1,000 步。

# %% [markdown] lang="en"
# ## Turning a part of a head {#partial}
#
# This has nothing to do with length: some models turn only some of the features; the
# rest carry content without position. GPT-NeoX, Gemma 4 and DeepSeek-V3 each choose
# different features and speeds: see the [comparison](../differences.md#partial-rotation)
# and exercise 2.

# %% [markdown] lang="zh"
# ## 只转一个头的一部分 {#partial}
#
# 这是另一回事，与长度无关：有些模型只转动一部分维度，剩下的只装内容，不带位置。转哪几维、转多快，GPT-NeoX、Gemma 4 和 DeepSeek-V3 各有各的做法，见[比对](../differences.md#partial-rotation)和练习 2。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: RoPE pairs the neighbors x0 and x1"
#     In one of two layouts it does. What it costs to confuse them is shown
#     [above](rope.md#wrong-layout).
#
# !!! note "Often said, not so: with RoPE, far keys count less"
#     That is up to the query and the key. If all features of both are the same number,
#     the score falls in waves, as in this picture. But take as key the query itself,
#     turned 40 steps further: now the best place is 40 back.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：RoPE 把相邻的 x0 和 x1 配成一对"
#     两种配对方式里，只有一种是这样。两者弄混的代价，[上面](rope.md#wrong-layout)已经看到了。
#
# !!! note "常见的误解：用了 RoPE，远处的键就不重要"
#     这要看查询和键。如果两者的每一维都是同一个数，分数就在起伏中下降，如下图。可是取查询本身，多转 40 步，当作键：这时分数最高的位置，正是往回 40 步。

# %% hide=true
figures.score_by_distance(width=64)

# %% [markdown] lang="en" role="caption"
# All features of query and key equal, in a head of width 64: the score as a share of the
# score without any turn.

# %% [markdown] lang="zh" role="caption"
# 头的维度为 64，查询和键的各维都是同一个数：分数除以不转动时的分数。

# %%
wide, before = RotaryEncoding(64, layout="half-split"), torch.arange(201)
query = torch.randn(1, 1, 64, generator=generator, dtype=torch.float64)
key, _ = wide(query, query, torch.tensor([40]), torch.tensor([40]))
at_200, at_before = wide(query, key.expand(1, 201, 64), torch.tensor([200]), before)
by_place = (at_200 @ at_before.mT)[0, 0]
best = 200 - by_place.argmax().item()
print(f"best distance {best}: score {by_place[200 - best]:.1f}, at distance 0: {by_place[200]:.1f}")

# %% check=true
assert best == 40 and by_place[200] < 0.8 * by_place[200 - best]
assert math.isclose(by_place[200 - best], query.square().sum(), rel_tol=1e-9)

# %% [markdown] lang="en" role="claim"
# The highest of {{ len(before) }} scores is {{ best }} places back. The small model above has
# learned the same for {{ back }} places.

# %% [markdown] lang="zh" role="claim"
# {{ len(before) }} 个分数里最高的在往回 {{ best }} 个位置处。上面的小模型学到的也是这种本事，只不过是 {{ back }} 个位置。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - RoPE turns queries and keys, pair by pair, by position times frequency. It has no
#   parameters, and leaves values alone.
# - A turn keeps the length, and of the two positions only the offset $n - m$ shows in a score.
# - Two layouts: neighbors or halves. To convert, reorder the rows of queries and keys, head by
#   head, with biases and norms; no others.
# - A cached key keeps its turn. A new token is turned by its own position.
# - Compute angles in float32 or better.
# - For longer texts, pairs are slowed: all of them equally, or the slow ones most.
#
# [ALiBi](alibi.md), in the next lesson, needs no rotation and no vector at all.

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - RoPE 把查询和键一对一对地转动，角度是位置乘频率。它没有参数，也不动值。
# - 转动不改变向量的长度；两个位置对分数的影响，只有偏移 $n - m$。
# - 配对方式有两种：相邻，或前后半。转换权重时，逐个头重排查询和键的行，偏置和归一化权重也一起重排；别的都不能动。
# - 缓存里的键保持转过的样子，新词元按自己的位置转。
# - 角度要用 float32 或更高的精度来算。
# - 文本更长时，让各对转得慢一点：或者全都一样，或者越慢的放慢得越多。
#
# 下一课的 ALiBi（带线性偏置的注意力）不用转动，连向量也不用，见 [ALiBi](alibi.md)。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Su et al., [RoFormer](https://arxiv.org/abs/2104.09864), 2021: the rotation in section 3.2,
#   equations 14 to 16; its cheap form in section 3.4.2, equation 34.
# - Chen et al., [arXiv 2306.15595](https://arxiv.org/abs/2306.15595), 2023: position
#   interpolation.
# - Peng et al., [YaRN](https://arxiv.org/abs/2309.00071), 2023, which also writes down the
#   NTK-aware rule.
# - Grattafiori et al., [The Llama 3 Herd of Models](https://arxiv.org/abs/2407.21783), 2024,
#   section 3.4.2: training on longer and longer texts. The rule itself is that of Llama 3.1's code.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Su 等，[RoFormer](https://arxiv.org/abs/2104.09864)，2021：转动在第 3.2 节，公式 14 到 16；省计算的写法在第 3.4.2 节，公式 34。
# - Chen 等，[arXiv 2306.15595](https://arxiv.org/abs/2306.15595)，2023：位置插值。
# - Peng 等，[YaRN](https://arxiv.org/abs/2309.00071)，2023，其中也写出了 NTK-aware 的规则。
# - Grattafiori 等，[The Llama 3 Herd of Models](https://arxiv.org/abs/2407.21783)，2024，第 3.4.2 节：在越来越长的文本上接着训练。规则本身取自 Llama 3.1 的代码。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** By hand: the features $(1, 0, 1, 0)$ at position 2, interleaved, width 4. Which two
# angles are there, and what comes out?
#
# ??? question "Answer"
#     The frequencies are 1 and $10000^{-2/4} = 1/100$, so the angles are 2 and 0.02. The
#     pair $(1, 0)$ becomes cosine and sine: $(\cos 2, \sin 2, \cos 0.02, \sin 0.02)$.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 手算：向量 $(1, 0, 1, 0)$ 在位置 2，相邻配对，维度 4。两个角度各是多少？结果是什么？
#
# ??? question "答案"
#     频率是 1 和 $10000^{-2/4} = 1/100$，所以角度是 2 和 0.02。数对 $(1, 0)$ 变成余弦和正弦，结果就是 $(\cos 2, \sin 2, \cos 0.02, \sin 0.02)$。

# %%
x = torch.tensor([[[1.0, 0.0, 1.0, 0.0]]])
result = rotate(x, rotation(torch.tensor([2]), frequencies(4)), "interleaved")
result

# %% check=true hide=true
expected = torch.tensor([math.cos(2), math.sin(2), math.cos(0.02), math.sin(0.02)])
assert torch.allclose(result[0, 0], expected, rtol=0, atol=1e-6)

# %% [markdown] lang="en" role="claim"
# The four numbers are those of the answer.

# %% [markdown] lang="zh" role="claim"
# 四个数与答案一致。

# %% [markdown] lang="en"
# **2.** A quarter of a head of width 16 is turned, half-split. (a) At positions of shape
# [2, 5], what is the shape of the cosines? Does it contain the number of heads? (b) GPT-NeoX
# turns the first features, as a small head of their own. Gemma 4's rule "proportional" takes
# the frequencies of the whole head and sets the slow ones to 0. Which features turn in each?
#
# ??? question "Answer"
#     (a) One cosine for each pair: two of them, `[2, 5, 2]`. Heads do not occur: all heads
#     turn alike. (b) The small head is features 0 to 3. In the whole head 0 pairs with 8,
#     1 with 9 and so on, and the two fast pairs turn: 0, 1, 8, 9.

# %% [markdown] lang="zh"
# **2.** 头的维度是 16，转四分之一，前后半配对。（a）位置的形状是 [2, 5]，余弦的形状是什么？里面有头的数目吗？（b）GPT-NeoX 转前面的几维，把它们当作一个小的头；Gemma 4 的规则“proportional”取整个头的频率，把慢的那些设为 0。两种做法各转哪几维？
#
# ??? question "答案"
#     （a）每一对一个余弦，共两个，所以是 `[2, 5, 2]`。里面没有头的数目：所有的头转得一样。（b）小的头就是第 0 到 3 维。在整个头里，0 与 8 配对，1 与 9 配对，依此类推，转的是最快的两对：0、1、8、9。

# %%
first = RotaryEncoding(16, layout="half-split", rotary_width=4)
gemma = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
proportional = RotaryEncoding(16, layout="half-split", scaling=gemma)
cosines = rotation(torch.arange(5).expand(2, 5), first.frequencies()).cos
print("cosines", list(cosines.shape))

ones, touched = torch.ones(1, 1, 16), {}
for name, encode in (("first features", first), ("proportional", proportional)):
    result, _ = encode(ones, ones, torch.tensor([9]), torch.tensor([9]))
    touched[name] = (result != ones).flatten().nonzero().flatten().tolist()
    print(f"{name:15} turned: {touched[name]}")

# %% check=true hide=true
assert cosines.shape == (2, 5, 2)
assert touched == {"first features": [0, 1, 2, 3], "proportional": [0, 1, 8, 9]}

# %% [markdown] lang="en" role="claim"
# The shape is `{{ list(cosines.shape) }}`. The first rule turns the features
# `{{ touched["first features"] }}`, the second `{{ touched["proportional"] }}`; all others stay
# as they were, bit for bit.

# %% [markdown] lang="zh" role="claim"
# 形状是 `{{ list(cosines.shape) }}`。第一种做法转 `{{ touched["first features"] }}` 这几维，第二种转 `{{ touched["proportional"] }}`；其余各维没有动过，与原来逐位相等。

# %% [markdown] lang="en"
# **3.** Find the fault: somebody has queries as `[B, S, H, d]`, straight from the projection,
# and passes them to RoPE with the positions 0 to S − 1.
#
# ??? question "Answer"
#     The sequence must come after the heads, `[B, H, S, d]`. Otherwise each head is turned
#     by its own number. If S and H differ, the shapes give the mistake away; if they are
#     equal, nothing does. Remedy: `q.transpose(1, 2)`.

# %% [markdown] lang="zh"
# **3.** 找错。有人拿到的查询形状是 `[B, S, H, d]`，刚从投影层出来，就连同位置 0 到 S − 1 一起交给 RoPE。
#
# ??? question "答案"
#     序列必须在头的后面，即 `[B, H, S, d]`，否则每个头就按自己的编号转动了。S 与 H 不等时，从形状看得出来；相等时就看不出来。改法：`q.transpose(1, 2)`。

# %% raises=ValueError
not_yet = torch.randn(2, 5, 3, 8)  # [B, S, H, d]
rope(not_yet, not_yet, torch.arange(5), torch.arange(5))

# %% [markdown] lang="en"
# **4.** Find the fault in each converter: (a) it reorders the rows of the queries alone;
# (b) those of queries, keys and values; (c) all rows of the queries at once,
# `weight[feature_order(n_heads * head_width, ...)]`.
#
# ??? question "Answer"
#     (a) Query and key disagree about the order of their features. (b) Values are not turned,
#     and the output projection expects their features in the old order. (c) That order mixes
#     the heads: features of one head land in another. None of them raises an error.

# %% [markdown] lang="zh"
# **4.** 找出每个转换程序的错：（a）只重排查询的行；（b）查询、键和值的行都重排；（c）把查询的所有行一次重排，`weight[feature_order(n_heads * head_width, ...)]`。
#
# ??? question "答案"
#     （a）查询和键各维的次序对不上了。（b）值不转动，输出投影要求值的各维保持原来的次序。（c）这样把各个头混在一起了：一个头的某些维跑到了另一个头里。三个都不会报错。

# %%
from tokpos.rope_layout import feature_order


def by_head(rows):
    return convert_rows(rows, len(rows) // 16, 16, **ways)


def at_once(rows):
    return rows[feature_order(len(rows), **ways)]


converters = {
    "queries and keys": {"query": by_head, "key": by_head},
    "queries alone": {"query": by_head},
    "values too": {"query": by_head, "key": by_head, "value": by_head},
    "all rows at once": {"query": at_once, "key": by_head},  # there is one head of keys
}
off = {}
for name, reorder in converters.items():
    weights = model.state_dict()
    for each in [key for key in weights if key.split(".")[1] in reorder]:
        weights[each] = reorder[each.split(".")[1]](weights[each])
    off[name] = (half_split(weights)(ids) - model(ids)).abs().max().item()
    print(f"{name:17} logits off by up to {off[name]:.0f}")

# %% check=true hide=true
assert off["queries and keys"] < 1e-3
assert all(by > 1 for name, by in off.items() if name != "queries and keys")

# %% [markdown] lang="en" role="claim"
# Only the converter that reorders queries and keys, head by head, keeps the logits of the
# trained model.

# %% [markdown] lang="zh" role="claim"
# 只有逐个头地重排查询和键，得到的 logits 才与训练好的模型相同。

# %% [markdown] lang="en"
# **5.** Some models normalize queries and keys before the turn, with a weight for each
# feature. What else must a converter reorder?
#
# ??? question "Answer"
#     These $d$ weights, in the same order as the rows. Otherwise features are multiplied by
#     the weights of others.

# %% [markdown] lang="zh"
# **5.** 有些模型在转动之前先把查询和键归一化，每一维各有一个权重。转换程序还要重排什么？
#
# ??? question "答案"
#     这 $d$ 个权重，次序与行的次序一样，否则有的维乘的就是别的维的权重。


# %%
tokens, nine = torch.randn(9, 16, generator=generator), torch.arange(9)
rows, norm = torch.randn(2, 8, 16, generator=generator), torch.rand(8, generator=generator) + 0.5


def normalized_scores(layout, q_rows, k_rows, norm):
    """Scores of one head whose queries and keys are normalized before the turn."""
    q, k = (nn.functional.rms_norm(tokens @ rows.T, (8,), norm) for rows in (q_rows, k_rows))
    q, k = RotaryEncoding(8, layout=layout)(q[None], k[None], nine, nine)
    return q @ k.mT


*moved, moved_norm = (convert_rows(each, 1, 8, **ways) for each in (*rows, norm))
before = normalized_scores("interleaved", *rows, norm)
for name, used in (("reordered too", moved_norm), ("left as they are", norm)):
    change = (normalized_scores("half-split", *moved, used) - before).abs().max()
    print(f"weights {name:17} the same scores: {bool(change < 1e-4)}")

# %% check=true hide=true
after = normalized_scores("half-split", *moved, moved_norm)
assert torch.allclose(after, before, rtol=0, atol=1e-4) and change > 0.1

# %% [markdown] lang="en" role="claim"
# With the normalization's weights reordered as well, the scores stay as they were; without
# that, they change.

# %% [markdown] lang="zh" role="claim"
# 归一化的权重也重排，分数不变；不重排，分数就变了。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
asked_shape = list(rope(q, k, places, places)[0].shape)
pairs_asked = torch.tensor([[10, 7], [103, 100], [7, 10], [20, 14]])
asked = score(pairs_asked[:, 0], pairs_asked[:, 1])


def same_as_first(number):
    return math.isclose(asked[0], asked[number], abs_tol=1e-9)


def kept_by(name, pair):
    return math.isclose(scaled[name].frequencies[pair], plain[pair], rel_tol=1e-9)


# %% [markdown] lang="en" role="quiz"
# Queries have the shape `[2, 3, 5, 8]`, that is `[B, H, S, d]`. What is their shape after RoPE?
#
# - {{ asked_shape == [2, 3, 5, 8] }} `[2, 3, 5, 8]`
#
#     Each pair of numbers becomes another pair of numbers.
#
# - {{ asked_shape == [2, 3, 5, 16] }} `[2, 3, 5, 16]`
#
#     That would append a position vector of width d. RoPE appends nothing.
#
# - {{ asked_shape == [2, 3, 5, 4] }} `[2, 3, 5, 4]`
#
#     There are 4 pairs, and so 4 angles. The features are still 8.

# %% [markdown] lang="zh" role="quiz"
# 查询的形状是 `[2, 3, 5, 8]`，即 `[B, H, S, d]`。经过 RoPE 之后，形状是什么？
#
# - {{ asked_shape == [2, 3, 5, 8] }} `[2, 3, 5, 8]`
#
#     每一对数变成另一对数，个数不变。
#
# - {{ asked_shape == [2, 3, 5, 16] }} `[2, 3, 5, 16]`
#
#     这是把维度为 d 的位置向量拼在了后面。RoPE 什么都不拼。
#
# - {{ asked_shape == [2, 3, 5, 4] }} `[2, 3, 5, 4]`
#
#     一共 4 对，所以有 4 个角度，但维度仍是 8。

# %% [markdown] lang="en" role="quiz"
# A query at position 10 and a key at position 7 have some score. The same two vectors score
# the same at:
#
# - {{ same_as_first(1) }} query 103, key 100
#
#     The offset is −3 again, and nothing else counts.
#
# - {{ same_as_first(2) }} query 7, key 10
#
#     The distance is the same, the offset is not: +3 turns the other way.
#
# - {{ same_as_first(3) }} query 20, key 14
#
#     Twice as far is another offset. Ratios of positions play no part.

# %% [markdown] lang="zh" role="quiz"
# 位置 10 上的查询和位置 7 上的键有一个分数。同样两个向量，放在哪里分数不变？
#
# - {{ same_as_first(1) }} 查询在 103，键在 100
#
#     偏移仍是 −3，别的都不起作用。
#
# - {{ same_as_first(2) }} 查询在 7，键在 10
#
#     距离一样，偏移不一样：+3 是往另一个方向转。
#
# - {{ same_as_first(3) }} 查询在 20，键在 14
#
#     远了一倍，偏移就变了。位置的比例不起作用。

# %% [markdown] lang="en" role="quiz"
# Weights in the interleaved layout are to run in half-split code. Whose rows must be
# reordered?
#
# - {{ off["queries and keys"] < 1e-3 }} Those of queries and keys
#
#     Both are turned, and their dot product must stay what it was.
#
# - {{ off["queries alone"] < 1e-3 }} Those of queries
#
#     Then query and key disagree about the order of their features.
#
# - {{ off["values too"] < 1e-3 }} Those of queries, keys and values
#
#     Values are not turned. The output projection expects their features in the old order.

# %% [markdown] lang="zh" role="quiz"
# 按相邻配对训练的权重，要用在前后半配对的代码里。要重排哪些行？
#
# - {{ off["queries and keys"] < 1e-3 }} 查询和键的行
#
#     两者都要转动，而且它们的点积必须不变。
#
# - {{ off["queries alone"] < 1e-3 }} 查询的行
#
#     这样查询和键各维的次序就对不上了。
#
# - {{ off["values too"] < 1e-3 }} 查询、键和值的行
#
#     值不转动，而输出投影要求值的各维保持原来的次序。

# %% [markdown] lang="en" role="quiz"
# The model runs in bfloat16. Which way of computing the cosines is good enough at position
# 100,000?
#
# - {{ worst(finished) < 0.01 }} Angles in float64, cosines rounded at the end
#
#     Only the finished cosine is rounded, and it lies between −1 and 1.
#
# - {{ error["bfloat16"] < 0.01 }} Angles in bfloat16, like the rest of the model
#
#     The position itself is rounded, by more than a hundred. No cosine can repair that.
#
# - {{ cosine_error(torch.float16) < 0.01 }} Angles in float16, which has more digits
#
#     It has a few more digits, but no number above {{ torch.finfo(torch.float16).max:,.0f }}: the position becomes infinite.

# %% [markdown] lang="zh" role="quiz"
# 模型用 bfloat16 运行。位置到了 100,000，怎样计算余弦才够准？
#
# - {{ worst(finished) < 0.01 }} 角度用 float64，最后才把余弦舍入
#
#     只有算好的余弦被舍入，而它在 −1 和 1 之间。
#
# - {{ error["bfloat16"] < 0.01 }} 角度用 bfloat16，与模型其余部分一样
#
#     位置本身就被舍入了，差了上百，余弦再准也没用。
#
# - {{ cosine_error(torch.float16) < 0.01 }} 角度用 float16，位数更多
#
#     有效数字是多几位，可是最大只能表示 {{ torch.finfo(torch.float16).max:,.0f }}：位置变成了无穷大。

# %% [markdown] lang="en" role="quiz"
# Which rule changes even the fastest pair, and so the step from a token to its neighbor?
#
# - {{ not kept_by("interpolation", 0) }} Position interpolation
#
#     It divides all frequencies alike, the first one too.
#
# - {{ not kept_by("NTK", 0) }} NTK-aware
#
#     A larger base leaves the first pair alone: its exponent is 0.
#
# - {{ not kept_by("YaRN", 0) }} YaRN
#
#     The fastest pair turns hundreds of times during training, so it is kept.

# %% [markdown] lang="zh" role="quiz"
# 哪种规则连最快的一对也改变，使得从一个词元到下一个词元转过的角度变了？
#
# - {{ not kept_by("interpolation", 0) }} 位置插值
#
#     所有频率都除以同一个数，第一个也不例外。
#
# - {{ not kept_by("NTK", 0) }} NTK-aware
#
#     底数加大，第一对不变，因为它的指数是 0。
#
# - {{ not kept_by("YaRN", 0) }} YaRN
#
#     最快的一对在训练中转了几百圈，所以保持不变。
