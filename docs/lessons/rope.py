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
# One pair of features of a query and of a key: dashed as they were, solid after the turn.
# In the first two dials the positions differ and the offset is the same, and so is the angle
# between the two.

# %% [markdown] lang="zh" role="caption"
# 查询和键各取一对特征：虚线是转之前，实线是转之后。前两个圆盘里，位置不同，偏移相同，两者的夹角也就相同。

# %% [markdown] lang="en"
# ## One pair of features {#one-pair}
#
# Two numbers are a point in the plane. To turn the point by the angle $a$, multiply by a
# small matrix:
#
# $$R(a) = \begin{pmatrix} \cos a & -\sin a \\ \sin a & \cos a \end{pmatrix}$$
#
# Let $q$ and $k$ be such pairs, and let $\theta$ be the angle for one step. The query at
# position $m$ is turned by $m\theta$, the key at position $n$ by $n\theta$. We take the
# numbers of the picture.

# %% [markdown] lang="zh"
# ## 一对特征 {#one-pair}
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
# For all positions below 50 both sides of the formula agree, and no turn changes the length
# of the query.

# %% [markdown] lang="zh" role="claim"
# 位置小于 50 的所有组合，公式两边都相等；不论转多少，查询的长度都不变。

# %% [markdown] lang="en"
# ## A head has many pairs {#many-pairs}
#
# One pair comes round too soon, like [one hand of a clock](sinusoidal.md#one-hand). So the
# $d$ features of a head are taken as $d/2$ pairs, and each pair has a speed of its own.
# The speeds are those of the sinusoidal encoding, with the width $d$ of a head in place of
# $D$:
#
# $$\theta_i = 10000^{-2i/d}, \qquad i = 0, 1, \dots, \tfrac{d}{2} - 1$$

# %% [markdown] lang="zh"
# ## 一个头有许多对 {#many-pairs}
#
# 只有一对，很快就会转回原处，就像[钟的一根针](sinusoidal.md#one-hand)。所以一个注意力头的 $d$ 个特征分成 $d/2$ 对，每一对转动的快慢不同。快慢与正弦位置编码（sinusoidal position encoding）相同，只是把 $D$ 换成一个头的维度 $d$：
#
# $$\theta_i = 10000^{-2i/d}, \qquad i = 0, 1, \dots, \tfrac{d}{2} - 1$$

# %%
from tokpos.sinusoidal import frequencies

B, H, S, d = 2, 3, 5, 8
generator = torch.Generator().manual_seed(0)
q, k, v = torch.randn(3, B, H, S, d, generator=generator)  # of every head
theta = frequencies(d)
theta

# %% [markdown] lang="en"
# Here is the whole of RoPE in one function. It turns all heads and all places at once:
# features 0 and 1 are the first pair, features 2 and 3 the second, and so on.

# %% [markdown] lang="zh"
# RoPE 的全部内容，一个函数就写完了。它同时转动所有的头、所有的位置：特征 0 和 1 是第一对，特征 2 和 3 是第二对，依此类推。


# %%
def rope_by_hand(x, positions, theta):
    angle = positions[:, None] * theta  # [S, d/2]
    a, b = x[..., 0::2], x[..., 1::2]  # first and second feature of each pair
    pairs = [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(pairs, dim=-1).flatten(-2)  # pairs side by side again


places = torch.arange(S)
by_hand = rope_by_hand(q, places, theta)
print(list(q.shape), "->", list(by_hand.shape))

# %% [markdown] lang="en"
# The shape stays. In the package the two steps are apart: [`tokpos.rope.rotation`][] makes
# cosines and sines, which serve every head and every layer, and [`tokpos.rope.rotate`][]
# applies them.

# %% [markdown] lang="zh"
# 形状不变。在代码包里，这两步是分开的：[`tokpos.rope.rotation`][] 算出余弦和正弦，供所有的头、所有的层共用；[`tokpos.rope.rotate`][] 拿它们去转动。

# %%
from tokpos.rope import rotate, rotation

turn = rotation(places, theta)
turned_q = rotate(q, turn, "interleaved")
print("cosines", list(turn.cos.shape))
print("before ", q[0, 0, 1])
print("after  ", turned_q[0, 0, 1])

# %% check=true
assert turned_q.shape == q.shape
assert torch.allclose(turned_q.double(), by_hand, rtol=0, atol=1e-6)
assert torch.equal(turned_q[..., 0, :], q[..., 0, :])  # position 0: the angle is 0
assert torch.allclose(turned_q.norm(dim=-1), q.norm(dim=-1), rtol=1e-6, atol=0)
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
# Put the same query and the same key at every place. What each place would score with each
# other place is then a matter of position alone. You will see that the numbers repeat along
# the diagonals.

# %% [markdown] lang="zh"
# ## 只有偏移起作用 {#offset}
#
# 在每个位置都放同一个查询、同一个键。这样一来，任意两个位置之间的分数就只由位置决定。你会看到，同一条对角线上的数都相同。

# %%
from tokpos import RotaryEncoding

rope = RotaryEncoding(d, layout="interleaved")
one_q, one_k = torch.randn(2, d, generator=generator, dtype=torch.float64)
six = torch.arange(6)
turned_q, turned_k = rope(one_q.expand(1, 6, d), one_k.expand(1, 6, d), six, six)
scores = turned_q[0] @ turned_k[0].T
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
# ever built: a query and a key need to know only where they stand themselves.
#
# How does the score run with the offset? For a query and a key whose features are all equal
# it looks like this.

# %% [markdown] lang="zh"
# 可见，放进去的是绝对位置，出来的是相对位置。不需要算距离矩阵：每个查询、每个键只要知道自己在哪里就行。
#
# 分数随偏移怎样变化？如果查询和键的特征全都相等，就是下面这样。

# %%
figures.score_by_distance()

# %% [markdown] lang="en" role="caption"
# The score of a key that equals the query, as a share of the score without any turn. It
# falls in waves, and it is symmetric because here the two vectors are the same.

# %% [markdown] lang="zh" role="caption"
# 键与查询相等时的分数，除以不转动时的分数。它在起伏中下降；两侧对称，是因为这里的两个向量相同。

# %% [markdown] lang="en"
# Keep in mind that this is the curve of one query and one key. Others have other curves, as is
# shown [below](rope.md#not-so).

# %% [markdown] lang="zh"
# 记住，这只是一个查询和一个键的曲线。换了查询和键，曲线就不同，[后面](rope.md#not-so)会看到。

# %% [markdown] lang="en"
# ## Why the value is not turned {#not-v}
#
# Queries and keys decide *where* to look. What is handed over is the value, and values are
# added up. In a score the two turns meet, and the absolute positions cancel. In the sum of
# values there is nothing to cancel a turn with. Try it: compute attention at the places 0 to
# {{ S - 1 }}, and again with every position raised by 100.

# %% [markdown] lang="zh"
# ## 为什么不转动值 {#not-v}
#
# 查询和键决定*看哪里*，交出去的内容是值，值要加起来。在分数里，两次转动碰到一起，绝对位置就抵消了；在值的和里，没有东西来抵消。试一试：先在位置 0 到 {{ S - 1 }} 上算注意力，再把所有位置都加上 100 重算一遍。


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
print("values as they are: the result changes by less than 1e-4:", moved[False] < 1e-4)
print(f"values turned too:  it changes by up to {moved[True]:.1f}")

# %% check=true
assert moved[False] < 1e-4 and moved[True] > 0.5
assert rope.into_input(q) is q  # nothing is added to the input
assert len(list(rope.parameters())) == 0 and len(rope.state_dict()) == 0

# %% [markdown] lang="en" role="claim"
# With values as they are, the output does not notice the shift, up to rounding.
# With turned values it
# changes by up to {{ moved[True]:.1f }}: the absolute position would leak into the sum. RoPE
# itself has no parameter and stores no table.

# %% [markdown] lang="zh" role="claim"
# 值不转动，整体移动就不影响输出。值也转动的话，输出最多变了 {{ moved[True]:.1f }}：绝对位置漏进了和里。RoPE 本身没有参数，也不存任何表。

# %% [markdown] lang="en"
# One more difference from an encoding that is added: a sum is made once, before the first
# layer. RoPE turns in every layer anew, because every layer makes its own queries and keys.

# %% [markdown] lang="zh"
# 与相加的编码还有一点不同：相加只做一次，在第一层之前。RoPE 在每一层都要重新转动，因为每一层都有自己的查询和键。

# %% [markdown] lang="en"
# ## Llama's rotation, number for number {#llama}
#
# Is this what a real model computes? transformers holds Llama's code. It makes one cosine for
# each *feature*, builds a vector with the halves of a head swapped and one of them negated,
# and adds two products. It looks different and turns by the same angles.

# %% [markdown] lang="zh"
# ## 与 Llama 的结果逐个数比对 {#llama}
#
# 真实的模型也是这样算的吗？transformers 里有 Llama 的代码。它给每个*特征*准备一个余弦，把一个头的前后两半对调、其中一半变号，做成另一个向量，再把两个乘积加起来。写法不同，转的角度一样。

# %%
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

config = LlamaConfig(hidden_size=H * d, num_attention_heads=H)
llama_cos, llama_sin = LlamaRotaryEmbedding(config)(q, places.expand(B, S))
theirs = apply_rotary_pos_emb(q, k, llama_cos, llama_sin)
ours = RotaryEncoding(d, layout="half-split")(q, k, places, places)
print("Llama's cosines", list(llama_cos.shape))
print(theirs[0][0, 0, 1])
print(ours[0][0, 0, 1])

# %% check=true
for one, other in zip(ours, theirs, strict=True):
    assert torch.allclose(one, other, rtol=0, atol=2e-6)
neighbors = RotaryEncoding(d, layout="interleaved")(q, k, places, places)[0]
assert (neighbors - theirs[0]).abs().max() > 0.5

# %% [markdown] lang="en" role="claim"
# Queries and keys agree with `apply_rotary_pos_emb` to 2 × 10⁻⁶, in the layout that we call
# half-split. In the other layout they do not.

# %% [markdown] lang="zh" role="claim"
# 查询和键都与 `apply_rotary_pos_emb` 一致，误差不超过 2 × 10⁻⁶。前提是用我们称为“前后半配对”的方式；换成另一种配对方式，就不一致了。

# %% [markdown] lang="en"
# ## Two layouts in the wild {#layouts}
#
# The argument `layout` had two values so far. Which two features are a pair is a matter of
# convention, and there are two conventions.

# %% [markdown] lang="zh"
# ## 两种配对方式 {#layouts}
#
# 参数 `layout` 到现在出现过两个值。哪两个特征算一对，只是约定，而这样的约定有两种。

# %%
figures.layouts()

# %% [markdown] lang="en" role="caption"
# Above, interleaved: neighbors are a pair. Below, half-split: a feature and the one half a
# head further on. The arrows show where each feature must go so that the pairs stay
# together.

# %% [markdown] lang="zh" role="caption"
# 上面是相邻配对：相邻的两个特征是一对。下面是前后半配对：一个特征与隔半个头的那个特征是一对。箭头指出每个特征要移到哪里，才能让原来的一对仍是一对。

# %% [markdown] lang="en"
# The RoFormer paper, Meta's own Llama files and GPT-J have neighbors (**interleaved**).
# GPT-NeoX and most models in transformers, Llama included, have halves (**half-split**).
# The mathematics is the same; only the places of the features differ.

# %% [markdown] lang="zh"
# RoFormer 论文、Meta 自己发布的 Llama 文件和 GPT-J 用**相邻配对**（interleaved）。GPT-NeoX 和 transformers 里的大多数模型，包括 Llama，用**前后半配对**（half-split）。数学上完全一样，只是特征排的位置不同。

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
# interleaved layout, in the new order. Without reordering they are others.

# %% [markdown] lang="zh" role="claim"
# 先重排特征，再按前后半配对转动：得到的数与相邻配对相同，只是换了次序。不重排，得到的就是别的数。

# %% [markdown] lang="en"
# ### What a wrong layout does to a model {#wrong-layout}
#
# Weights fit the layout they were trained in, and neither their names nor their shapes say
# which it was.
# To see what a mistake costs, train a very small model. Its task cannot be done without
# positions: say which token stood three places back.

# %% [markdown] lang="zh"
# ### 用错配对方式，模型会怎样 {#wrong-layout}
#
# 权重是按某一种配对训练出来的，可是从名字、从形状都看不出是哪一种。弄错的代价有多大？训练一个很小的模型看看。它的任务没有位置就做不成：说出三个位置之前是哪个词元。

# %%
from torch import nn

from tokpos import Attention

V, D, back = 12, 32, 3


def build(layout):
    """A table, one attention layer, a head of logits."""
    encoding = RotaryEncoding(16, layout=layout)
    attend = Attention(D, n_heads=2, encoding=encoding, causal=True, n_kv_heads=1)
    return nn.Sequential(nn.Embedding(V, D), attend, nn.Linear(D, V))


def texts(count, generator):
    return torch.randint(V, (count, 24), generator=generator)


torch.manual_seed(0)
model = build("interleaved")
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
generator = torch.Generator().manual_seed(1)
for _ in range(300):
    ids = texts(32, generator)
    logits = model(ids)[:, back:]
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, :-back].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def share_right(model):
    ids = texts(200, torch.Generator().manual_seed(2))
    return (model(ids)[:, back:].argmax(-1) == ids[:, :-back]).float().mean().item()


wrong = build("half-split")
wrong.load_state_dict(model.state_dict())  # no error: the shapes are the same
print(f"trained, interleaved:        {share_right(model):.0%} right")
print(f"the same weights, half-split: {share_right(wrong):.0%} right")

# %% [markdown] lang="en"
# Nothing was raised, and most answers are wrong. (Guessing is right in {{ 1 / V:.0% }} of the
# cases.) Now convert the weights. A row of the query's weight matrix makes one feature. So the rows
# change places, **head by head**, and the biases with them. The keys change in the same
# way, or else their product with the queries would change. Values are not turned;
# their rows stay, and so does the output projection.

# %% [markdown] lang="zh"
# 没有报错，答案却大半是错的。（瞎猜的正确率是 {{ 1 / V:.0% }}。）现在来转换权重。查询权重矩阵的一行产生一个特征，所以要**逐个头**地重排行，偏置跟着一起重排。键也要同样重排，否则它与查询的点积就变了。值不转动，值的行不动，输出投影也不动。

# %%
from tokpos.rope_layout import convert_queries_and_keys, convert_rows

ways = {"source": "interleaved", "target": "half-split"}
weights = model.state_dict()
converted = dict(weights)
for kind in ("weight", "bias"):
    q_name, k_name = f"1.query.{kind}", f"1.key.{kind}"
    converted[q_name], converted[k_name] = convert_queries_and_keys(
        weights[q_name], weights[k_name], n_heads=2, n_kv_heads=1, head_width=16, **ways
    )


def loaded(weights):
    other = build("half-split")
    other.load_state_dict(weights)
    return other


half = converted | {name: weights[name] for name in ("1.key.weight", "1.key.bias")}
too_much = dict(converted)
for kind in ("weight", "bias"):
    too_much[f"1.value.{kind}"] = convert_rows(weights[f"1.value.{kind}"], 1, 16, **ways)
right = {
    "queries and keys": share_right(loaded(converted)),
    "queries alone": share_right(loaded(half)),
    "queries, keys and values": share_right(loaded(too_much)),
}
for name, share in right.items():
    print(f"{name:25} {share:4.0%} right")

# %% check=true
assert share_right(model) > 0.95 and share_right(wrong) < 0.5
assert torch.allclose(loaded(converted)(ids), model(ids), rtol=0, atol=1e-4)
assert right["queries alone"] < 0.5 and right["queries, keys and values"] < 0.5
there = converted["1.query.weight"]
again = convert_rows(there, 2, 16, source="half-split", target="interleaved")
assert torch.equal(again, weights["1.query.weight"])

# %% [markdown] lang="en" role="claim"
# With the rows of queries and keys converted, weights and biases, the logits are those of
# the trained model, to rounding. Queries alone, or values along with them: neither raises
# an error, and both ruin the model. Converting back gives the old rows, bit for bit.

# %% [markdown] lang="zh" role="claim"
# 把查询和键的行（权重和偏置）都转换之后，logits（未归一化分数）与训练好的模型相同，只差舍入误差。只转换查询，或者连值也一起转换，都不会报错，可是模型都坏了。再转换回去，得到的就是原来的行，逐位相等。

# %% [markdown] lang="en"
# Some models normalize queries and keys before the turn, with a weight for each feature.
# These $d$ weights are reordered too.

# %% [markdown] lang="zh"
# 有些模型在转动之前先把查询和键归一化，每个特征各有一个权重。这 $d$ 个权重也要重排。


# %% check=true
def normalized_scores(layout, q_rows, k_rows, norm):
    """Scores of one head whose queries and keys are normalized before the turn."""
    encode = RotaryEncoding(8, layout=layout)
    q, k = (nn.functional.rms_norm(tokens @ rows.T, (8,), norm) for rows in (q_rows, k_rows))
    q, k = encode(q[None], k[None], torch.arange(9), torch.arange(9))
    return q @ k.mT


tokens = torch.randn(9, 16, generator=generator)
q_rows, k_rows = torch.randn(2, 8, 16, generator=generator)
norm = torch.rand(8, generator=generator) + 0.5
new_q, new_k, new_norm = (convert_rows(rows, 1, 8, **ways) for rows in (q_rows, k_rows, norm))
meant = normalized_scores("interleaved", q_rows, k_rows, norm)
good = normalized_scores("half-split", new_q, new_k, new_norm)
bad = normalized_scores("half-split", new_q, new_k, norm)
assert torch.allclose(good, meant, rtol=0, atol=1e-4)
assert (bad - meant).abs().max() > 0.1

# %% [markdown] lang="en" role="claim"
# With the normalization's weight reordered along, the scores stay as they were; left as it
# is, they change.

# %% [markdown] lang="zh" role="claim"
# 归一化的权重一起重排，分数不变；不重排，分数就变了。

# %% [markdown] lang="en"
# ## Decoding: each token at its own position {#cache}
#
# A model that writes text keeps the keys of earlier tokens in a KV cache. A key is turned
# once, by its own position, and then kept as it is. Later queries are turned by theirs, and
# the offset comes out right, however long the key has been lying there.

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

kept = []
for place in range(S):
    here = torch.tensor([place])
    new_q, new_k = rope(q[..., [place], :], k[..., [place], :], here, here)
    kept.append(new_k)
    row = new_q @ torch.cat(kept, dim=-2).mT
    print(f"step {place}: {row.shape[-1]} scores", row[0, 0, 0])

# %% check=true
decoder = Attention(D, n_heads=4, encoding=rope, causal=True, n_kv_heads=2).eval()
for weight in decoder.parameters():
    nn.init.normal_(weight, std=0.3)
x = torch.randn(B, 9, D, generator=generator)


def step_by_step(positions):
    cache, rows = None, []
    for place, position in enumerate(positions):
        out, cache = decoder.step(x[:, [place]], cache, torch.tensor([position]))
        rows.append(out)
    return torch.cat(rows, dim=1)


with torch.no_grad():
    full = decoder(x)
    steps = step_by_step(range(9))
assert torch.allclose(row, whole[..., S - 1 :, :], rtol=0, atol=1e-5)
assert torch.allclose(torch.cat(kept, dim=-2), whole_k, rtol=0, atol=1e-6)
assert torch.allclose(steps, full, rtol=0, atol=1e-4)
# The fault: the one new token of a step is taken for position 0.
at_zero, _ = rope(q[..., [S - 1], :], new_k, torch.tensor([0]), torch.tensor([0]))
assert (at_zero @ torch.cat(kept, dim=-2).mT - row).abs().max() > 1

# %% [markdown] lang="en" role="claim"
# Step by step the scores and the kept keys are those of the full pass, to rounding, and so
# is the output of a whole attention layer. With the last query turned as if it stood at
# position 0, the scores differ.

# %% [markdown] lang="zh" role="claim"
# 一步一步算出的分数和缓存里的键，与一次算完的相同，只差舍入误差；整个注意力层的输出也是如此。如果最后一个查询按位置 0 来转，分数就变了。

# %% [markdown] lang="en"
# The fault to watch for: a step that counts its one new token as position 0. It raises no
# error.
#
# ### Padding on the left {#left-padding}
#
# Texts of unequal length are often padded on the left. Positions are then counted from the
# mask, so that each text begins at 0.

# %% [markdown] lang="zh"
# 要当心的错误是：解码时只有一个新词元，就把它的位置当成 0。程序不会报错。
#
# ### 左边的填充 {#left-padding}
#
# 长短不一的文本常在左边填充。这时要按掩码数位置，让每段文本都从 0 开始。

# %% hide=true
from tokpos.figures import positions as position_figures

position_figures.left_padding()

# %% [markdown] lang="en" role="caption"
# The shorter text has padding in front. Counted from the mask, its first word has position 0.

# %% [markdown] lang="zh" role="caption"
# 较短的文本前面有填充。按掩码来数，它的第一个词在位置 0。

# %%
from tokpos import positions_from_mask
from tokpos.sinusoidal import sinusoidal

mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
positions_from_mask(mask)

# %% check=true
real = slice(2, 5)  # the three real tokens of the first text
counted = positions_from_mask(mask)
three = torch.arange(3)
alone_q, alone_k = rope(q[:1, :, real], k[:1, :, real], three, three)
alone = alone_q @ alone_k.mT
by_mask, by_place = (
    torch.matmul(at_q, at_k.mT)
    for at_q, at_k in (rope(q, k, counted, counted), rope(q, k, places, places))
)
assert torch.allclose(by_mask[:1, :, real, real], alone, rtol=0, atol=1e-5)
assert torch.allclose(by_place[:1, :, real, real], alone, rtol=0, atol=1e-5)

added = [q[0, 0, real] + sinusoidal(torch.arange(3) + start, d) for start in (0, 2)]
change = (added[0] @ added[0].T - added[1] @ added[1].T).abs().max().item()
assert change > 0.5

# %% [markdown] lang="en" role="claim"
# The scores among the real tokens are those of the text alone. With RoPE even positions that
# count the padding would give them, since all are shifted alike. An encoding that is added
# would not forgive it: its scores change by up to {{ change:.1f }}.

# %% [markdown] lang="zh" role="claim"
# 真实词元之间的分数，与这段文本单独计算时相同。用 RoPE，就算把填充也数进去，分数也一样，因为所有位置移动了同样的距离。相加的编码就不行了：分数最多变了 {{ change:.1f }}。

# %% [markdown] lang="en"
# That is no license to mix the two ways of counting. Suppose the prompt is counted by its mask
# and the next token by the length of the cache. Then the offset between them is wrong, by as
# much as there is padding.

# %% [markdown] lang="zh"
# 但不能把两种数法混着用。假如提示词按掩码数，下一个词元却按缓存的长度数，偏移就错了，填充有几个就错几个。

# %% check=true
next_q = torch.randn(1, H, 1, d, generator=generator)
right_place, cache_length = torch.tensor([3]), torch.tensor([5])
wanted, _ = rope(next_q, next_q, right_place, right_place)
mixed, _ = rope(next_q, next_q, cache_length, cache_length)
kept_keys = rope(k, k, counted, counted)[1][:1, :, real]
assert torch.allclose(kept_keys, alone_k, rtol=0, atol=1e-5)
assert ((wanted - mixed) @ kept_keys.mT).abs().max() > 0.5

# %% [markdown] lang="en" role="claim"
# After three real tokens the next one is number {{ right_place.item() }}. Turned as number
# {{ cache_length.item() }}, the length of the cache, it scores differently with the same kept
# keys.

# %% [markdown] lang="zh" role="claim"
# 三个真实词元之后，下一个的位置是 {{ right_place.item() }}。如果按缓存的长度 {{ cache_length.item() }} 来转，它与缓存里同样的键算出的分数就变了。

# %% [markdown] lang="en"
# ## Angles need more digits than the model {#precision}
#
# Models often run in bfloat16, which keeps {{ round(-math.log2(torch.finfo(torch.bfloat16).eps)) + 1 }}
# binary digits of a number. That is enough for features. It is not enough for a position:

# %% [markdown] lang="zh"
# ## 角度比模型需要更多位数 {#precision}
#
# 模型常用 bfloat16 运行，一个数只保留 {{ round(-math.log2(torch.finfo(torch.bfloat16).eps)) + 1 }} 位二进制数字。对特征来说够了，对位置来说不够：

# %%
for position in (256, 257, 100_000):
    print(f"{position:7,} in bfloat16 is {int(torch.tensor(position).bfloat16()):7,}")

# %% [markdown] lang="en"
# The fast pairs need their angle to a fraction of a radian. So what comes out when the
# angles are computed in each type, at position 100,000, for a head of width 128? The right
# values are those of float64.

# %% [markdown] lang="zh"
# 转得快的那些对，角度至少要准到零点几弧度。在位置 100,000、头的维度为 128 时，分别用各种类型计算角度，结果如何？以 float64 的值为准。

# %%
far = torch.tensor([100_000])
exact = far.double()[:, None] * frequencies(128)


def cosine_error(dtype):
    """The largest error of a cosine whose angle is computed in this type."""
    angle = far.to(dtype)[:, None] * frequencies(128).to(dtype)
    return (angle.double().cos() - exact.cos()).abs().max().item()


error = {name: cosine_error(getattr(torch, name)) for name in ("float32", "bfloat16")}
finished = rotation(far, frequencies(128), dtype=torch.bfloat16).cos
rounded = (finished.double() - exact.cos()).abs().max().item()
error["float64, rounded to bfloat16 at the end"] = rounded
for name, value in error.items():
    print(f"angles in {name:42} {value:.3f}")

# %%
figures.precision()

# %% [markdown] lang="en" role="caption"
# The largest error of a cosine at each position, for a head of width 128. What matters for a
# model in bfloat16 is the top curve: after a few hundred tokens its angles are lost.

# %% [markdown] lang="zh" role="caption"
# 头的维度为 128 时，各个位置上余弦的最大误差。对 bfloat16 的模型来说，要紧的是最上面一条：几百个词元之后，角度就不对了。

# %% check=true
near = torch.arange(99_800, 100_200)
together = len(near.bfloat16().unique())
assert error["float32"] < 0.01 and error["bfloat16"] > 1.5
assert finished.dtype == torch.bfloat16
assert (finished.double() - exact.cos()).abs().max() <= 2.0**-9
assert int(torch.tensor(257).bfloat16()) == 256

# %% [markdown] lang="en" role="claim"
# At position 100,000 cosines are off by up to {{ error["float32"]:.3f }} with angles in float32 and
# by {{ error["bfloat16"]:.1f }} with angles in bfloat16, where the most that is possible is
# 2. The {{ len(near) }} positions around it are only {{ together }} different numbers in
# bfloat16.

# %% [markdown] lang="zh" role="claim"
# 在位置 100,000，角度用 float32 计算时，余弦的误差是 {{ error["float32"]:.3f }}；用 bfloat16 计算时，误差是 {{ error["bfloat16"]:.1f }}，而误差最大也不过是 2。它附近的 {{ len(near) }} 个位置，在 bfloat16 里只剩 {{ together }} 个不同的数。

# %% [markdown] lang="en"
# So compute the angles in float32 or better, whatever the type of the model, and round the
# finished cosines and sines. The code of transformers takes float32, this package float64.
# One trap is left: `model.to(torch.bfloat16)` rounds buffers too, and Llama's frequencies are a
# buffer. Our [`tokpos.rope.RotaryEncoding`][] has no buffer, so nothing can be rounded.

# %% [markdown] lang="zh"
# 所以不论模型是什么类型，角度都要用 float32 或更高的精度来算，算好余弦和正弦之后再舍入。transformers 的代码用 float32，本站的代码包用 float64。还有一个陷阱：`model.to(torch.bfloat16)` 连缓冲区也一起舍入，而 Llama 的频率正是一个缓冲区。我们的 [`tokpos.rope.RotaryEncoding`][] 没有缓冲区，也就没有东西会被舍入。


# %% check=true
def cosines_of_llama(table):
    """Llama's cosines at the far position, one for each pair."""
    only_for_its_type = torch.zeros(1, 1, 128, dtype=torch.float32)
    return table(only_for_its_type, far[None])[0][0, :, :64]


llama = LlamaRotaryEmbedding(LlamaConfig(hidden_size=256, num_attention_heads=2))
as_made = (cosines_of_llama(llama) - exact.cos()).abs().max().item()
rounded = (cosines_of_llama(llama.to(torch.bfloat16)) - exact.cos()).abs().max().item()
assert as_made < 0.01 and rounded > 1
encode = RotaryEncoding(128, layout="half-split").to(torch.bfloat16)
assert torch.equal(encode.frequencies(), frequencies(128))

# %% [markdown] lang="en" role="claim"
# At position 100,000 Llama's cosines are off by {{ as_made:.3f }}, and by {{ rounded:.1f }} after
# `.to(torch.bfloat16)`. The frequencies of `RotaryEncoding` are untouched by it.

# %% [markdown] lang="zh" role="claim"
# 在位置 100,000，Llama 的余弦误差是 {{ as_made:.3f }}；做过 `.to(torch.bfloat16)` 之后，误差是 {{ rounded:.1f }}。`RotaryEncoding` 的频率不受影响。

# %% [markdown] lang="en"
# ## Longer than trained {#longer}
#
# RoPE has no last position: any angle can be computed. But a model that was trained on short
# texts has never met the offsets of a long one. The fast pairs have been round many times
# and know every angle. The slow ones have not:

# %% [markdown] lang="zh"
# ## 比训练时更长 {#longer}
#
# RoPE 没有最后一个位置，什么角度都算得出来。可是用短文本训练的模型，从没见过长文本里那么大的偏移。转得快的对早就转过许多圈，什么角度都见过；转得慢的就没有了：

# %%
trained, factor = 4096, 8.0
plain = frequencies(128)
turns = trained * plain / (2 * math.pi)  # how often each pair turns in the training
for pair in (0, 20, 40, 46, 63):
    print(f"pair {pair:2}: {turns[pair]:7.2f} turns in {trained} tokens")
unfinished = int((turns < 1).sum())

# %% [markdown] lang="en"
# {{ unfinished }} of the {{ len(plain) }} pairs do not finish a single turn. In a text
# {{ factor:.0f }} times as long they would reach angles that are new to the model.

# %% [markdown] lang="zh"
# {{ len(plain) }} 对里有 {{ unfinished }} 对连一圈都没转完。文本长到 {{ factor:.0f }} 倍时，它们就会转到模型没见过的角度。

# %%
figures.beyond_training()

# %% [markdown] lang="en" role="caption"
# The slowest pair. In the training it turns through a narrow sector only. A longer text leads it
# far out of there. Slowed, it stays inside, and positions stand closer together.

# %% [markdown] lang="zh" role="caption"
# 最慢的一对。训练时它只转过窄窄的一角；文本变长，它就远远转了出去。放慢之后，它留在里面，只是各个位置靠得更近。

# %% [markdown] lang="en"
# Each of these rules for longer texts makes pairs turn more slowly, to keep them where the
# model has been. With $L$ for the length of the training and $s$ for the factor:
#
# - **Position interpolation** divides all: $\theta_i / s$. Now neighbors are harder to tell
#   apart, because the fast pairs are slowed too.
# - **NTK-aware** raises the base, to $10000 \cdot s^{d/(d-2)}$. The first pair stays as it
#   was, the last is slowed $s$ times, and the others lie between.
# - **YaRN** counts turns. Pairs that turn more than 32 times in $L$ stay, pairs that turn
#   less than once are divided by $s$, with a ramp between. It also makes all scores a
#   little larger, by the factor $(0.1 \ln s + 1)^2$.
# - **Llama 3** counts turns too, with the limits 4 and 1 and another ramp.

# %% [markdown] lang="zh"
# 用于更长文本的各种规则，都是让一些对转得慢一点，留在模型见过的范围里。设训练长度为 $L$，倍数为 $s$：
#
# - **位置插值**（position interpolation）：全都除以同一个数，$\theta_i / s$。代价是相邻的词元更难分清，因为转得快的对也慢下来了。
# - **NTK-aware**：加大底数，变成 $10000 \cdot s^{d/(d-2)}$。第一对不变，最后一对的频率降到 $s$ 分之一，其余的在两者之间。
# - **YaRN**：数圈数。在 $L$ 之内转 32 圈以上的对不变，不到一圈的除以 $s$，中间逐渐过渡。它还让所有分数都变大一点，乘以 $(0.1 \ln s + 1)^2$。
# - **Llama 3**：也数圈数，界限是 4 和 1，过渡的方式不同。

# %%
figures.scaling_rules()

# %% [markdown] lang="en" role="caption"
# How many times each rule slows each pair, for {{ factor:.0f }} times the length. Pairs to the
# right of the dashed line did not finish a turn in the training.

# %% [markdown] lang="zh" role="caption"
# 长度变为 {{ factor:.0f }} 倍时，每种规则让每一对慢多少倍。虚线右边的对，在训练时连一圈都没转完。

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
for name, (slower, attention_factor) in scaled.items():
    slowed = [f"{plain[i] / slower[i]:4.1f}" for i in (0, 20, 40, 63)]
    print(f"{name:14} pairs 0, 20, 40, 63 slowed {', '.join(slowed)}", end="")
    print(f"   attention factor {attention_factor:.2f}")

# %% [markdown] lang="en"
# Are these the rules that checkpoints mean? transformers has a function for each kind.

# %% [markdown] lang="zh"
# 这些就是模型配置里所指的规则吗？transformers 给每一种规则都写了一个函数。


# %% check=true
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS


def of_transformers(rule, longest, seq_len=None):
    config = LlamaConfig(
        hidden_size=256,
        num_attention_heads=2,
        max_position_embeddings=longest,
        rope_parameters={**rule, "rope_theta": 10000.0},
    )
    return ROPE_INIT_FUNCTIONS[rule["rope_type"]](config, "cpu", seq_len=seq_len)


for name in ("interpolation", "YaRN", "Llama 3"):
    numbers, attention_factor = of_transformers(rules[name], int(factor * trained))
    assert torch.allclose(scaled[name].frequencies.float(), numbers, rtol=1e-5, atol=0)
    assert math.isclose(scaled[name].attention_factor, attention_factor)
# NTK for a length that is known beforehand: the rule "dynamic" at that length.
dynamic = {"rope_type": "dynamic", "factor": 1.0}
numbers, _ = of_transformers(dynamic, trained, seq_len=factor * trained)
assert torch.allclose(scaled["NTK"].frequencies.float(), numbers, rtol=1e-5, atol=0)

slow = turns < 1
for name, (slower, _) in scaled.items():
    assert math.isclose(slower[-1], plain[-1] / factor)
    assert math.isclose(slower[0], plain[0] / (factor if name == "interpolation" else 1))
    if name != "NTK":  # at the new last position no further than the training went
        assert (factor * trained * slower[slow] <= trained * plain[slow] * 1.0001).all()
step_of_first = scaled["interpolation"].frequencies[0].item()

# %% [markdown] lang="en" role="claim"
# All four agree with transformers to 10⁻⁵. All slow the last pair {{ factor:.0f }} times; all but
# interpolation keep the first. With interpolation, YaRN and Llama 3 every pair that had not
# finished a turn stays within the angles of the training. The price of interpolation: from
# one token to the next the first pair turns by {{ step_of_first }} radians, not by
# {{ plain[0]:.0f }}.

# %% [markdown] lang="zh" role="claim"
# 四种规则都与 transformers 一致，误差不超过 10⁻⁵。它们都让最后一对的频率降到 {{ factor:.0f }} 分之一；除了插值，第一对都不变。用插值、YaRN 和 Llama 3 时，没转完一圈的对都留在训练时见过的角度之内。插值的代价是：从一个词元到下一个，第一对只转 {{ step_of_first }} 弧度，而不是 {{ plain[0]:.0f }} 弧度。

# %% [markdown] lang="en"
# Two remarks. YaRN's factor multiplies cosines and sines, so a turned vector is longer than
# before: the rule "a turn keeps the length" is broken on purpose. LongRoPE has such a factor
# too. And these rules only choose angles; a model usually needs some more training to make
# good use of them.

# %% [markdown] lang="zh"
# 补充两点。YaRN 的因子乘在余弦和正弦上，所以转过的向量比原来长：“转动不改变长度”在这里是有意打破的。LongRoPE 也有这样一个因子。另外，这些规则只管选角度，模型通常还要再训练一段时间，才能用好它们。

# %% check=true
yarn = RotaryEncoding(128, layout="half-split", scaling=rules["YaRN"])
vectors = torch.randn(1, 6, 128, generator=generator, dtype=torch.float64)
long_q, long_k = yarn(vectors, vectors, torch.arange(6), torch.arange(6))
growth = (long_q.norm(dim=-1) / vectors.norm(dim=-1)).mean().item()
of_score = ((long_q * long_k).sum(-1) / vectors.square().sum(-1)).mean().item()
assert math.isclose(growth, 0.1 * math.log(factor) + 1, rel_tol=1e-6)
assert math.isclose(of_score, growth**2, rel_tol=1e-6)
per_pair = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
longrope = {"rope_type": "longrope", "factor": factor, **per_pair, **length}
of_longrope = scaled_frequencies(128, scaling=longrope).attention_factor
assert of_longrope > 1

# %% [markdown] lang="en" role="claim"
# With YaRN and the factor {{ factor:.0f }} every turned vector is {{ growth:.3f }} times as long,
# and the score of a query with an equal key at its own place {{ of_score:.3f }} times as
# large. LongRoPE's factor would be {{ of_longrope:.3f }}.

# %% [markdown] lang="zh" role="claim"
# 用 YaRN、倍数为 {{ factor:.0f }} 时，每个转过的向量都是原来的 {{ growth:.3f }} 倍长；同一位置上，查询与相等的键的分数是原来的 {{ of_score:.3f }} 倍。LongRoPE 的因子会是 {{ of_longrope:.3f }}。

# %% [markdown] lang="en"
# ## Turning a part of a head {#partial}
#
# Another matter, and not one of length: some models turn only some of the features. The
# rest then carry content without any position. Three ways are in use:
#
# - the first features are turned, as a small head of their own (GPT-NeoX, GPT-J);
# - all frequencies of the whole head are taken, and the slow ones are set to 0 (the rule
#   "proportional" of Gemma 4);
# - the last features are turned (DeepSeek-V2 and V3).
#
# In the half-split layout the first two do not even touch the same features.

# %% [markdown] lang="zh"
# ## 只转一个头的一部分 {#partial}
#
# 这是另一回事，与长度无关：有些模型只转动一部分特征，剩下的只装内容，不带位置。现有的做法有三种：
#
# - 转前面的特征，把它们当作一个小的头（GPT-NeoX、GPT-J）；
# - 取整个头的频率，把慢的那些设为 0（Gemma 4 的规则“proportional”）；
# - 转后面的特征（DeepSeek-V2 和 V3）。
#
# 在前后半配对下，前两种做法连转动哪些特征都不一样。

# %%
first = RotaryEncoding(16, layout="half-split", rotary_width=4)
gemma = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
proportional = RotaryEncoding(16, layout="half-split", scaling=gemma)

features = torch.ones(1, 1, 16)
touched = {}
for name, encode in (("first features", first), ("proportional", proportional)):
    result, _ = encode(features, features, torch.tensor([9]), torch.tensor([9]))
    touched[name] = (result != features).flatten().nonzero().flatten().tolist()
    print(f"{name:15} turned: {touched[name]}")

# %% check=true
assert touched == {"first features": [0, 1, 2, 3], "proportional": [0, 1, 8, 9]}

# %% [markdown] lang="en" role="claim"
# A quarter of a head of width 16: the first rule turns the features
# {{ touched["first features"] }}, the second {{ touched["proportional"] }}. All others stay
# as they were, bit for bit.

# %% [markdown] lang="zh" role="claim"
# 维度为 16 的头，转四分之一：第一种做法转特征 {{ touched["first features"] }}，第二种转 {{ touched["proportional"] }}。其余的特征没有动过，与原来逐位相等。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: RoPE pairs the neighbors x0 and x1"
#     In one of two layouts it does. In the other, that of Llama in transformers, the partner
#     of a feature stands half a head further on. What it costs to confuse them is shown
#     [above](rope.md#layouts).
#
# !!! note "Often said, not so: with RoPE, far keys count less"
#     The score depends on the offset. How, is up to the query and the key. Take as key the
#     query itself, turned on by 40 steps: now the best place to stand is 40 back.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：RoPE 把相邻的 x0 和 x1 配成一对"
#     两种配对方式里，只有一种是这样。在另一种里，也就是 transformers 的 Llama 里，与一个特征配对的是隔半个头的那个特征。两者弄混的代价，[上面](rope.md#layouts)已经看到了。
#
# !!! note "常见的误解：用了 RoPE，远处的键就不重要"
#     分数由偏移决定，至于怎样决定，要看查询和键。取查询本身，多转 40 步，当作键：这时分数最高的位置，正是往回 40 步。

# %%
wanted = 40
query = torch.randn(1, 1, 64, generator=generator, dtype=torch.float64)
wide = RotaryEncoding(64, layout="half-split")
key = wide(query, query, torch.tensor([wanted]), torch.tensor([wanted]))[0]

here, before = torch.tensor([200]), torch.arange(201)
at_here, at_before = wide(query, key.expand(1, 201, 64), here, before)
by_place = (at_here @ at_before.mT)[0, 0]
best = 200 - by_place.argmax().item()
print(f"best distance {best}: score {by_place[200 - best]:.1f}, at distance 0: {by_place[200]:.1f}")

# %% check=true
assert best == wanted and by_place[200] < 0.8 * by_place[200 - wanted]
assert math.isclose(by_place[200 - wanted], query.square().sum(), rel_tol=1e-9)

# %% [markdown] lang="en" role="claim"
# For this pair the highest of {{ len(before) }} scores stands {{ best }} places back, not
# beside the query. The small model above has learned the same for {{ back }} places.

# %% [markdown] lang="zh" role="claim"
# 对这一对查询和键来说，{{ len(before) }} 个分数里最高的在往回 {{ best }} 个位置处，而不在查询旁边。上面的小模型学到的也是这种本事，只不过是 {{ back }} 个位置。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - RoPE turns queries and keys, pair by pair, by position times frequency. It adds nothing,
#   has no parameters, and leaves values alone.
# - Lengths stay, and a score depends on the offset $n - m$ alone.
# - Two layouts: neighbors or halves. To convert, reorder the rows of queries and keys, head by
#   head, with biases and norms; never those of values.
# - A cached key keeps its turn. A new token is turned by its own position.
# - Compute angles in float32 or better.
# - For longer texts, pairs are slowed: all of them, or the slow ones above all.
#
# The next lesson, [ALiBi](alibi.md), needs no rotation and no vector at all.

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - RoPE 把查询和键一对一对地转动，角度是位置乘频率。它什么都不加，没有参数，也不动值。
# - 长度不变，分数只由偏移 $n - m$ 决定。
# - 配对方式有两种：相邻，或前后半。转换权重时，逐个头重排查询和键的行，偏置和归一化权重也一起重排；值的行绝不能动。
# - 缓存里的键保持转过的样子，新词元按自己的位置转。
# - 角度要用 float32 或更高的精度来算。
# - 文本更长时，让一些对转得慢一点：或者全部，或者主要是慢的那些。
#
# 下一课的 ALiBi（带线性偏置的注意力）不用转动，连向量也不用，见 [ALiBi](alibi.md)。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Su et al., [RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864),
#   2021, section 3.2: the rotation, equations 14 to 16, and its cheap form, equation 34.
# - Chen et al., [Extending Context Window of Large Language Models via Positional Interpolation](https://arxiv.org/abs/2306.15595),
#   2023.
# - Peng et al., [YaRN: Efficient Context Window Extension of Large Language Models](https://arxiv.org/abs/2309.00071),
#   2023, which also writes down the NTK-aware rule.
# - Grattafiori et al., [The Llama 3 Herd of Models](https://arxiv.org/abs/2407.21783), 2024.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Su 等，[RoFormer: Enhanced Transformer with Rotary Position Embedding](https://arxiv.org/abs/2104.09864)，2021，第 3.2 节：转动见公式 14 到 16，省计算的写法见公式 34。
# - Chen 等，[Extending Context Window of Large Language Models via Positional Interpolation](https://arxiv.org/abs/2306.15595)，2023。
# - Peng 等，[YaRN: Efficient Context Window Extension of Large Language Models](https://arxiv.org/abs/2309.00071)，2023，其中也写出了 NTK-aware 的规则。
# - Grattafiori 等，[The Llama 3 Herd of Models](https://arxiv.org/abs/2407.21783)，2024。

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
# **1.** 手算：特征 $(1, 0, 1, 0)$ 在位置 2，相邻配对，维度 4。两个角度各是多少？结果是什么？
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
# **2.** Predict the shapes: positions `[B, S]` = [2, 5], a head of width 64 of which 32
# features are turned. What is the shape of the cosines? Does it contain the number of heads?
#
# ??? question "Answer"
#     One cosine for each pair: 16 of them, `[2, 5, 16]`. Heads do not occur: all heads turn
#     alike.

# %% [markdown] lang="zh"
# **2.** 预测形状：位置的形状 `[B, S]` 是 [2, 5]，头的维度是 64，其中 32 个特征要转动。余弦的形状是什么？里面有头的数目吗？
#
# ??? question "答案"
#     每一对一个余弦，共 16 个，所以是 `[2, 5, 16]`。里面没有头的数目：所有的头转得一样。

# %%
cosines = rotation(torch.arange(5).expand(2, 5), frequencies(32)).cos
cosines.shape

# %% check=true hide=true
assert cosines.shape == (2, 5, 16)

# %% [markdown] lang="en" role="claim"
# The shape is {{ list(cosines.shape) }}.

# %% [markdown] lang="zh" role="claim"
# 形状是 {{ list(cosines.shape) }}。

# %% [markdown] lang="en"
# **3.** Find the fault: somebody has queries as `[B, S, H, d]`, straight from the projection,
# and passes them to RoPE with the positions 0 to S − 1.
#
# ??? question "Answer"
#     The sequence must come after the heads, `[B, H, S, d]`. Otherwise each head is turned
#     by its own number. Where S and H differ, the shapes tell; where they are equal, nothing
#     does. Remedy: `q.transpose(1, 2)`.

# %% [markdown] lang="zh"
# **3.** 找错。有人拿到的查询形状是 `[B, S, H, d]`，刚从投影层出来，就连同位置 0 到 S − 1 一起交给 RoPE。
#
# ??? question "答案"
#     序列必须在头的后面，即 `[B, H, S, d]`，否则每个头就按自己的编号转动了。S 与 H 不等时，从形状看得出来；相等时就看不出来。改法：`q.transpose(1, 2)`。

# %% raises=ValueError
not_yet = torch.randn(2, 5, 3, 8)  # [B, S, H, d]
rope(not_yet, not_yet, torch.arange(5), torch.arange(5))

# %% [markdown] lang="en"
# **4.** Find the fault: a converter reorders all rows of the query's weight at once,
# `weight[feature_order(n_heads * head_width, ...)]`, and the keys' likewise. Why does that ruin
# the scores?
#
# ??? question "Answer"
#     That order mixes the heads: features of one head land in another. The rows must be
#     reordered inside each head.

# %% [markdown] lang="zh"
# **4.** 找错。某个转换程序把查询权重的所有行一次重排，`weight[feature_order(n_heads * head_width, ...)]`，键也这样做。分数为什么全错了？
#
# ??? question "答案"
#     这样重排把各个头混在一起了：一个头的特征跑到了另一个头里。只能在每个头内部重排。


# %%
def scores_of_heads(layout, q_rows, k_rows):
    """Scores of two heads of width 8."""
    heads = [(tokens @ rows.T).unflatten(-1, (2, 8)).transpose(0, 1) for rows in (q_rows, k_rows)]
    q, k = RotaryEncoding(8, layout=layout)(*heads, torch.arange(9), torch.arange(9))
    return q @ k.mT


q_rows, k_rows = torch.randn(2, 16, 16, generator=generator)
meant = scores_of_heads("interleaved", q_rows, k_rows)
by_head = scores_of_heads("half-split", *(convert_rows(r, 2, 8, **ways) for r in (q_rows, k_rows)))
all_rows = feature_order(16, **ways)
at_once = scores_of_heads("half-split", q_rows[all_rows], k_rows[all_rows])
print("head by head, the same scores:    ", torch.allclose(by_head, meant, rtol=0, atol=1e-3))
print("all rows at once, the same scores:", torch.allclose(at_once, meant, rtol=0, atol=1e-3))

# %% check=true hide=true
assert torch.allclose(by_head, meant, rtol=0, atol=1e-3)
assert (at_once - meant).abs().max() > 1

# %% [markdown] lang="en" role="claim"
# Converted head by head, both heads score as before. With all rows reordered at once they do
# not.

# %% [markdown] lang="zh" role="claim"
# 逐个头转换，两个头的分数都与原来相同；所有行一次重排，就不同了。

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
#     一共 4 对，所以有 4 个角度，但特征仍是 8 个。

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
# - {{ right["queries and keys"] > 0.95 }} Those of queries and keys
#
#     Both are turned, and their dot product must stay what it was.
#
# - {{ right["queries alone"] > 0.95 }} Those of queries
#
#     Then query and key disagree about the order of their features.
#
# - {{ right["queries, keys and values"] > 0.95 }} Those of queries, keys and values
#
#     Values are not turned. The output projection expects their features in the old order.

# %% [markdown] lang="zh" role="quiz"
# 按相邻配对训练的权重，要用在前后半配对的代码里。要重排哪些行？
#
# - {{ right["queries and keys"] > 0.95 }} 查询和键的行
#
#     两者都要转动，而且它们的点积必须不变。
#
# - {{ right["queries alone"] > 0.95 }} 查询的行
#
#     这样查询和键的特征次序就对不上了。
#
# - {{ right["queries, keys and values"] > 0.95 }} 查询、键和值的行
#
#     值不转动，而输出投影要求值的特征保持原来的次序。

# %% [markdown] lang="en" role="quiz"
# The model runs in bfloat16. Which way of computing the cosines is good enough at position
# 100,000?
#
# - {{ error["float64, rounded to bfloat16 at the end"] < 0.01 }} Angles in float64, cosines rounded at the end
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
# - {{ error["float64, rounded to bfloat16 at the end"] < 0.01 }} 角度用 float64，最后才把余弦舍入
#
#     只有算好的余弦被舍入，而它在 −1 和 1 之间。
#
# - {{ error["bfloat16"] < 0.01 }} 角度用 bfloat16，与模型其余部分一样
#
#     位置本身就被舍入了，差了上百，余弦再准也没用。
#
# - {{ cosine_error(torch.float16) < 0.01 }} 角度用 float16，位数更多
#
#     位数多几位，但大于 {{ torch.finfo(torch.float16).max:,.0f }} 的数都没有：位置变成了无穷大。

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
#     The fastest pair turns hundreds of times in the training, so it is kept.

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
