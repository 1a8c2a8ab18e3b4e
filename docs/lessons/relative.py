# %% [markdown] lang="en"
# # Relative positions: two to the left
#
# "Token 10" tells where a token stands in the text. "Two to the left" tells where it
# stands seen from another token. Many rules of language are of the second kind: in English an
# adjective usually stands just before its noun, wherever in the text the two may be.
#
# How does attention learn that a key stands two to the left of a query? This lesson
# takes three answers apart: Shaw's, Transformer-XL's and T5's. All three begin with the
# table in this picture.

# %% [markdown] lang="zh"
# # 相对位置：左边第二个
#
# “第 10 个词元（token）”说的是它在文本里的位置；“左边第二个”说的是从另一个词元看过去，它在哪里。语言的许多规律属于后一种：比如英语的形容词一般紧挨在名词前面，不管这两个词出现在文本的什么地方。
#
# 键在查询左边第二个，注意力怎样才能知道这一点？这一课拆开三种答案：Shaw 的、Transformer-XL 的和 T5 的。三种都从下图这张表开始。

# %% hide=true
from tokpos.figures import relative

relative.offset_matrix()

# %% [markdown] lang="en" role="caption"
# A B C D seen from each other. The row is the query, the token that looks; the column is
# the key, the token that is looked at.

# %% [markdown] lang="zh" role="caption"
# A B C D 互相看。行是查询，也就是看别人的词元；列是键，也就是被看的词元。

# %% [markdown] lang="en"
# ## Count from where you stand {#offset}
#
# Stand on B. A is one to the left, C one to the right, D two to the right. Write left as
# minus, and the row of B is −1, 0, +1, +2. In general, for the query at position $i$ and
# the key at position $j$,
#
# $$\text{offset}(i, j) = j - i$$
#
# that is, key position minus query position. Every offset on this site has this sign. Where
# a method counts a *distance* instead, as Transformer-XL and ALiBi do, it is query minus key.

# %% [markdown] lang="zh"
# ## 从自己站的地方数起 {#offset}
#
# 站在 B 上看：A 在左边第一个，C 在右边第一个，D 在右边第二个。左边记作负，B 这一行就是 −1、0、+1、+2。一般地，查询在位置 $i$，键在位置 $j$，则
#
# $$\text{offset}(i, j) = j - i$$
#
# 也就是键的位置减去查询的位置，叫作**偏移**。本站的偏移都按这个顺序相减。有的方法用的是*距离*，例如 Transformer-XL 和 ALiBi（带线性偏置的注意力），那是查询的位置减去键的位置。

# %%
import torch

from tokpos import offsets

tokens = ["A", "B", "C", "D"]
positions = torch.arange(len(tokens))
offset = offsets(positions, positions)
offset

# %% check=true
row_of_b = offset[tokens.index("B")]
assert row_of_b.tolist() == [-1, 0, 1, 2]
assert offset.tolist() == [[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0]]
assert torch.equal(offset, positions[None, :] - positions[:, None])
assert torch.equal(offsets(positions + 100, positions + 100), offset)
assert all(offset.diagonal(n).eq(n).all() for n in range(-3, 4))

# %% [markdown] lang="en" role="claim"
# Seen from B the offsets are `{{ row_of_b.tolist() }}`. Each diagonal holds one number, and
# a text that begins at position 100 has the same offsets.

# %% [markdown] lang="zh" role="claim"
# 从 B 看，偏移是 `{{ row_of_b.tolist() }}`。每条对角线上都是同一个数；文本即使从位置 100 开始，偏移也不变。

# %% [markdown] lang="en"
# ## The distance goes into the score {#score}
#
# An absolute position belongs to one token, so it can be added to the vector of that
# token. A distance belongs to a *pair*. There is one tensor in a Transformer with a place
# for every pair: the attention scores, of shape $[B, H, S, S]$. Every method of this
# lesson adds a term $t_{ij}$ to them. Shaw and Transformer-XL add it inside the division by
# $\sqrt{d}$; T5 does not divide at all:
#
# $$
# s_{ij} = \frac{q_i \cdot k_j + t_{ij}}{\sqrt{d}}
# \qquad \text{or} \qquad
# s_{ij} = q_i \cdot k_j + t_{ij}
# $$
#
# The methods differ in what $t_{ij}$ is made of. In this site's package a position may
# enter a model through three doors: door 1 is the input, door 2 the queries and keys,
# door 3 the scores ([`tokpos.position`][]). Here nearly everything comes through door 3;
# the two exceptions will be named.
#
# For all experiments below we take random queries, keys and values, in float64 so that
# rounding does not blur the comparisons.

# %% [markdown] lang="zh"
# ## 距离加在分数里 {#score}
#
# 绝对位置属于单个词元，所以可以加到词元的向量上。距离属于一*对*词元。Transformer 里恰好有一个张量，每一对都有一格：注意力分数，形状是 $[B, H, S, S]$。这一课的每种方法都往分数里加一项 $t_{ij}$。Shaw 和 Transformer-XL 加在除以 $\sqrt{d}$ 之前，T5 根本不除：
#
# $$
# s_{ij} = \frac{q_i \cdot k_j + t_{ij}}{\sqrt{d}}
# \qquad \text{或} \qquad
# s_{ij} = q_i \cdot k_j + t_{ij}
# $$
#
# 各种方法的差别，在于 $t_{ij}$ 是什么。本站的包给位置留了三扇门：第 1 扇是输入，第 2 扇是查询和键，第 3 扇是分数（[`tokpos.position`][]）。这一课的东西几乎都从第 3 扇门进来，两处例外到时会说。
#
# 下面的实验都用随机的查询、键和值，类型是 float64，免得舍入误差影响比较。

# %%
H, S, d = 2, 7, 8  # heads, tokens, width of one head
generator = torch.Generator().manual_seed(0)


def randoms(*shape):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


q, k, v = randoms(3, 1, H, S, d)
place = torch.arange(S)
content = q @ k.mT  # what the scores are without positions
content.shape

# %% [markdown] lang="en"
# ## Shaw: a vector for each offset {#shaw}
#
# Shaw, Uszkoreit and Vaswani (2018) let the key look a little different to each query.
# A query that sees the key at offset $j - i$ meets $k_j + a_{j-i}$ in place of $k_j$, where
# $a_{j-i}$ is a learned vector:
#
# $$q_i \cdot (k_j + a_{j-i}) = q_i \cdot k_j + q_i \cdot a_{j-i}$$
#
# So the added term is $t_{ij} = q_i \cdot a_{j-i}$. The query takes part in it: one query
# may care about its left neighbor, another about its right one.
#
# Without a limit, one would need a vector for each offset that the longest text contains.
# The authors suspected that an exact distance no longer matters far away, and **clipped**
# the offsets at a limit that the paper calls $k$ (a number, not a key):
#
# $$\mathrm{clip}(x, k) = \max(-k, \min(k, x))$$

# %% [markdown] lang="zh"
# ## Shaw：每个偏移一个向量 {#shaw}
#
# Shaw、Uszkoreit 和 Vaswani（2018）的做法，是让同一个键在不同的查询眼里略有不同。一个键在查询看来偏移是 $j - i$，查询看到的就不是 $k_j$，而是 $k_j + a_{j-i}$，其中 $a_{j-i}$ 是一个可学习的向量：
#
# $$q_i \cdot (k_j + a_{j-i}) = q_i \cdot k_j + q_i \cdot a_{j-i}$$
#
# 所以加上的项是 $t_{ij} = q_i \cdot a_{j-i}$。查询也参与其中：有的查询在意左邻，有的查询在意右邻。
#
# 不加限制的话，最长的文本里有多少种偏移，就要有多少个向量。作者猜想，距离远了，精确的数值就不再重要，于是把偏移**截断**（clip）到一个上限，论文把它记作 $k$（这是一个数，不是键）：
#
# $$\mathrm{clip}(x, k) = \max(-k, \min(k, x))$$

# %% hide=true
relative.clipped_matrix(S, clip=2)

# %% [markdown] lang="en" role="caption"
# Offsets clipped at 2. In the band each number has its own vector; a gray cell takes the
# vector of the limit on its side.

# %% [markdown] lang="zh" role="caption"
# 截断到 2 的偏移。中间那条带里，每个数都有自己的向量；灰色的格子用的是这一侧上限处的向量。

# %%
from tokpos import clipped_offsets

clip = 2
a = randoms(2 * clip + 1, d)  # a learned table: one vector for each clipped offset
rows = clipped_offsets(offsets(place, place), clip)  # which row of it each pair takes
rows

# %% check=true
assert rows[0].tolist() == [2, 3, 4, 4, 4, 4, 4]
assert rows[-1].tolist() == [0, 0, 0, 0, 0, 1, 2]
assert torch.equal(rows - clip, offsets(place, place).clamp(-clip, clip))

# %% [markdown] lang="en" role="claim"
# A row number is the clipped offset plus {{ clip }}. The first token sees every key from
# offset {{ clip }} on through row {{ rows[0, -1].item() }}; the last token sees every key
# {{ clip }} or more to its left through row {{ rows[-1, 0].item() }}.

# %% [markdown] lang="zh" role="claim"
# 行号等于截断后的偏移加 {{ clip }}。第一个词元看偏移从 {{ clip }} 起的每个键，用的都是第 {{ rows[0, -1].item() }} 行；最后一个词元看左边至少相隔 {{ clip }} 的每个键，用的都是第 {{ rows[-1, 0].item() }} 行。

# %% [markdown] lang="en"
# Here is the definition as two loops, easy to read and slow.
# [`tokpos.shaw.ShawEncoding`][] does the same without loops.

# %% [markdown] lang="zh"
# 下面照定义写成两重循环，方便阅读。[`tokpos.shaw.ShawEncoding`][] 不用循环，算的是同样的东西。


# %%
from tokpos import ShawEncoding


def shaw_by_definition(q, k, a, clip):
    scores = torch.empty(H, S, S, dtype=q.dtype)
    for i in range(S):
        for j in range(S):
            clipped = max(-clip, min(clip, j - i))
            seen = k[0, :, j] + a[clipped + clip]  # the key as this query sees it
            scores[:, i, j] = (q[0, :, i] * seen).sum(-1)
    return scores[None]


shaw = ShawEncoding(d, clip, dtype=torch.float64)
shaw.load_state_dict({"key_vectors": a})
shaw_term = shaw.into_scores(q, place, place).inside
shaw_term.shape

# %% check=true
from tokpos.shaw import shaw_scores_by_pairs

by_loops = shaw_by_definition(q, k, a, clip)
by_pairs = shaw_scores_by_pairs(q, a, offsets(place, place))
shaw_term = shaw_term.detach()
assert torch.allclose(content + shaw_term, by_loops, rtol=0, atol=1e-12)
assert torch.allclose(content + by_pairs, by_loops, rtol=0, atol=1e-12)
assert torch.equal(shaw_term[..., 0, 2:], shaw_term[..., 0, 2:3].expand(1, H, S - 2))

# %% [markdown] lang="en" role="claim"
# Content plus Shaw's term equals the loops, within 10⁻¹² in float64. For the first token the
# term is the same number for all keys from offset {{ clip }} on.

# %% [markdown] lang="zh" role="claim"
# 内容项加上 Shaw 的项，与循环的结果相等，float64 下误差不超过 10⁻¹²。对偏移从 {{ clip }} 起的所有键，第一个词元加的是同一个数。

# %% [markdown] lang="en"
# The encoding does not build $a_{j-i}$ for every pair. There are only $2k + 1$ different
# vectors, so each query is multiplied by each of them once, and every pair looks up its
# product. The difference is large:

# %% [markdown] lang="zh"
# 这个类并没有给每一对都造一个 $a_{j-i}$。不同的向量只有 $2k + 1$ 个，所以先让每个查询与它们各乘一次，每一对词元再去取自己的那个乘积。差别很大：

# %%
text, wide, limit, heads = 512, 64, 16, 8
for_every_pair = text * text * wide  # the vectors a, shared by the heads
products = heads * text * (2 * limit + 1)  # each query of each head times each vector
print(f"a vector for every pair: {for_every_pair:11,} numbers")
print(f"products to look up:     {products:11,} numbers")

# %% check=true
from transformers import Wav2Vec2BertConfig
from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as theirs

limits = {f"{side}_max_position_embeddings": clip for side in ("left", "right")}
config = Wav2Vec2BertConfig(
    hidden_size=H * d, num_attention_heads=H, position_embeddings_type="relative_key", **limits
)
layer = theirs.Wav2Vec2BertSelfAttention(config).double()
layer.distance_embedding.load_state_dict({"weight": a})
_, their_term = theirs._apply_relative_key_position_encoding(layer, q, k)
assert torch.allclose(their_term, shaw_term / d**0.5, rtol=0, atol=1e-12)

# %% [markdown] lang="en" role="claim"
# transformers has it in the speech encoder Wav2Vec2-BERT, as `relative_key`. With the same
# table its term equals ours, divided by $\sqrt{d}$, within 10⁻¹².

# %% [markdown] lang="zh" role="claim"
# transformers 的语音编码器 Wav2Vec2-BERT 也有这一项，叫作 `relative_key`。用同一张表，它等于我们的项除以 $\sqrt{d}$，误差不超过 10⁻¹²。

# %% [markdown] lang="en"
# The paper has a second table, for the values. With attention weights $\alpha_{ij}$ the
# output of a query becomes $z_i = \sum_j \alpha_{ij} (v_j + a^V_{j-i})$. That is the
# first exception: these vectors come through none of the three doors. In the authors'
# own experiments they brought no gain over the first table alone, and the two methods
# below leave them out.

# %% [markdown] lang="zh"
# 论文里还有第二张表，用在值上。注意力权重记作 $\alpha_{ij}$，查询的输出就变成 $z_i = \sum_j \alpha_{ij} (v_j + a^V_{j-i})$。这是第一处例外：三扇门里哪一扇都不走。在作者自己的实验里，有了第一张表，再加它也没有好处。下面两种方法都没有它。

# %% check=true
with_values = ShawEncoding(d, clip, values=True, dtype=torch.float64)
weights = ((content + shaw_term) / d**0.5).softmax(-1)
output = weights @ v + with_values.into_values(weights, place, place)
for i in range(S):
    seen = v[0] + with_values.value_vectors[rows[i]]  # every value as query i sees it
    z = (weights[0, :, i, :, None] * seen).sum(-2)
    assert torch.allclose(output[0, :, i], z, rtol=0, atol=1e-12)

# %% [markdown] lang="en" role="claim"
# The output with value vectors equals the sum in the paper, within 10⁻¹², for every query.

# %% [markdown] lang="zh" role="claim"
# 对每个查询，带值向量的输出都等于论文里的和，误差不超过 10⁻¹²。

# %% [markdown] lang="en"
# ## Transformer-XL: four terms {#transformer-xl}
#
# Dai et al. (2019) start from another question: what does attention make of the *absolute*
# positions that the first Transformer adds to its input? Let $e$ be a token vector and $p$
# a position vector. Then the product of query and key is a product of two sums, and that
# has four terms:
#
# $$
# W_Q (e_i + p_i) \cdot W_K (e_j + p_j) =
# \underbrace{W_Q e_i \cdot W_K e_j}_{(a)} +
# \underbrace{W_Q e_i \cdot W_K p_j}_{(b)} +
# \underbrace{W_Q p_i \cdot W_K e_j}_{(c)} +
# \underbrace{W_Q p_i \cdot W_K p_j}_{(d)}
# $$

# %% [markdown] lang="zh"
# ## Transformer-XL：四项 {#transformer-xl}
#
# Dai 等（2019）从另一头入手。他们先问：最早的 Transformer 把*绝对*位置加到输入上，注意力拿它做了什么？设 $e$ 是词元向量，$p$ 是位置向量。查询与键的乘积是两个和相乘，展开就是四项：
#
# $$
# W_Q (e_i + p_i) \cdot W_K (e_j + p_j) =
# \underbrace{W_Q e_i \cdot W_K e_j}_{(a)} +
# \underbrace{W_Q e_i \cdot W_K p_j}_{(b)} +
# \underbrace{W_Q p_i \cdot W_K e_j}_{(c)} +
# \underbrace{W_Q p_i \cdot W_K p_j}_{(d)}
# $$

# %% [markdown] lang="en"
# Now make it relative. Three replacements, each with a reason:
#
# - The key's position $p_j$ gives way to the *distance* $i - j$, never negative in a
#   causal model: $R_{i-j}$ is the sinusoidal vector for that number. Nothing in it is
#   learned.
# - A distance is a different kind of thing from a word, so it gets a matrix of its own:
#   $r_{i-j} = W_R R_{i-j}$.
# - The query's position must not count any more. So $W_Q p_i$ becomes one learned vector,
#   the same for every $i$: $u$ in $(c)$, $v$ in $(d)$.
#
# $$
# s_{ij} \sqrt{d} =
# \underbrace{q_i \cdot k_j}_{(a)} +
# \underbrace{q_i \cdot r_{i-j}}_{(b)} +
# \underbrace{u \cdot k_j}_{(c)} +
# \underbrace{v \cdot r_{i-j}}_{(d)}
# $$

# %% [markdown] lang="zh"
# 现在把它改成相对的。换掉三样，各有理由：
#
# - 键的位置 $p_j$ 换成*距离* $i - j$（因果模型里不会是负数）：$R_{i-j}$ 是把这个数当作位置算出的正弦向量，其中没有要学习的东西。
# - 距离和词不是一类东西，所以单独给它一个矩阵：$r_{i-j} = W_R R_{i-j}$。
# - 查询的位置不应该再起作用。于是 $W_Q p_i$ 换成一个可学习的向量，对每个 $i$ 都一样：在 $(c)$ 里是 $u$，在 $(d)$ 里是 $v$。
#
# $$
# s_{ij} \sqrt{d} =
# \underbrace{q_i \cdot k_j}_{(a)} +
# \underbrace{q_i \cdot r_{i-j}}_{(b)} +
# \underbrace{u \cdot k_j}_{(c)} +
# \underbrace{v \cdot r_{i-j}}_{(d)}
# $$

# %% hide=true
relative.four_terms()

# %% [markdown] lang="en" role="caption"
# The upper row depends on the query's vector, the lower one does not look at it. The
# $v$ here is a learned vector and has nothing to do with the values.

# %% [markdown] lang="zh" role="caption"
# 上面一行取决于查询，下面一行对每个查询都一样。这里的 $v$ 是一个可学习的向量，与值无关。

# %% [markdown] lang="en"
# The four terms, computed directly from the formula, pair by pair. (Transformer-XL's code
# puts [all sines first](../differences.md#transformer-xl), then all cosines; hence
# `sinusoidal_concatenated`.)

# %% [markdown] lang="zh"
# 照公式一对一对直接计算这四项。（Transformer-XL 的代码[先排所有的正弦](../differences.md#transformer-xl)，再排所有的余弦，所以用 `sinusoidal_concatenated`。）


# %%
from tokpos import TransformerXLEncoding, sinusoidal_concatenated

D = H * d
xl = TransformerXLEncoding(H, d, dtype=torch.float64)
u, v_bias, W_R = (
    weight.detach().normal_(generator=generator)
    for weight in (xl.content_bias, xl.position_bias, xl.projection)
)


def terms_by_definition(i, j):
    """The terms (a), (b), (c), (d) of every head for one query and one key."""
    distance = torch.tensor(i - j)
    r = W_R @ sinusoidal_concatenated(distance, D, dtype=torch.float64)  # [H, d]
    query, key = q[0, :, i], k[0, :, j]
    return [(x * y).sum(-1) for x, y in ((query, key), (query, r), (u, key), (v_bias, r))]


for name, number in zip("abcd", terms_by_definition(3, 1), strict=True):
    print(f"({name}) first head, query 3, key 1: {number[0]:7.3f}")

# %% [markdown] lang="en"
# The last line of the picture says how code does it: $(a)$ and $(c)$ are one product, that
# of $q + u$ with the keys; $(b)$ and $(d)$ are one product too, that of $q + v$ with $r$.
# Here is the second exception: [`tokpos.transformer_xl.TransformerXLEncoding`][] adds $u$ to
# the queries, through door 2. The second product comes through door 3.

# %% [markdown] lang="zh"
# 图的最下面说明了代码的做法：$(a)$ 和 $(c)$ 合成一次乘法，$q + u$ 乘键；$(b)$ 和 $(d)$ 也合成一次，$q + v$ 乘 $r$。第二处例外就在这里：[`tokpos.transformer_xl.TransformerXLEncoding`][] 从第 2 扇门把 $u$ 加到查询上。第二次乘法的结果，仍从第 3 扇门进来。

# %%
q_plus_u, _ = xl.into_queries_and_keys(q, k, place, place)
a_and_c = (q_plus_u @ k.mT).detach()
b_and_d = xl.into_scores(q, place, place).inside.detach()
a_and_c.shape, b_and_d.shape

# %% check=true
for i in range(S):
    for j in range(S):
        term_a, term_b, term_c, term_d = terms_by_definition(i, j)
        assert torch.allclose(a_and_c[0, :, i, j], term_a + term_c, rtol=0, atol=1e-12)
        assert torch.allclose(b_and_d[0, :, i, j], term_b + term_d, rtol=0, atol=1e-12)

# %% [markdown] lang="en" role="claim"
# For each of the {{ S * S }} pairs the four terms of the formula equal what the two
# products give, within 10⁻¹².

# %% [markdown] lang="zh" role="claim"
# 对全部 {{ S * S }} 对，公式的四项与两次乘法的结果相等，误差不超过 10⁻¹²。

# %% [markdown] lang="en"
# ### The shift {#shift}
#
# The product with $r$ has a column for each distance, and what we need is a column for
# each key. Take a causal model: its columns are the distances $S - 1, \dots, 1, 0$, and
# row $i$ must slide left by $S - 1 - i$. The paper says only that each row shifts; its
# code does it without a loop. Put a zero in front of each row, read the same numbers as
# a matrix with one more row, and drop the first row.

# %% [markdown] lang="zh"
# ### 移位 {#shift}
#
# 与 $r$ 相乘，得到的是一个距离一列，而我们需要的是一个键一列。以因果模型为例：各列依次是距离 $S - 1, \dots, 1, 0$，第 $i$ 行要左移 $S - 1 - i$ 格，列才对得上键。论文的做法不用循环：每行前面补一个零，把同样的数按多一行的矩阵重新读一遍，再去掉第一行。

# %% hide=true
relative.shift()

# %% [markdown] lang="en" role="caption"
# The numbers stay in their order in memory; only the shape in which they are read changes.

# %% [markdown] lang="zh" role="caption"
# 数在内存里的顺序不变，变的只是读它们时用的形状。

# %%
from tokpos import relative_shift

x = torch.arange(1.0, 10.0).reshape(3, 3)  # rows: queries; columns: distances 2, 1, 0
relative_shift(x)

# %% check=true
n = len(x)
for i in range(n):
    for j in range(i + 1):  # keys up to the query: a causal model needs no others
        assert relative_shift(x)[i, j] == x[i, j + n - 1 - i]
above = relative_shift(x)[~torch.ones(n, n).tril().bool()].int().tolist()

# %% [markdown] lang="en" role="claim"
# On and below the diagonal, entry $(i, j)$ is the one for distance $i - j$. The numbers above
# it, here {{ above[0] }}, {{ above[1] }} and {{ above[2] }}, moved in from the zeros and the next row: a causal mask must hide
# them.

# %% [markdown] lang="zh" role="claim"
# 对角线及其下方，第 $(i, j)$ 格正是距离 $i - j$ 的那一格。对角线上方是补的零和从下一行挤过来的数，这里是 {{ above[0] }}、{{ above[1] }}、{{ above[2] }}：必须用因果掩码遮住。

# %% check=true
from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention

from tokpos import frequencies

distances = torch.arange(S, -S, -1, dtype=torch.float64)
R = XLNetModel.positional_embedding(distances, frequencies(D))[:, 0]  # [2S, D]
by_distance = (q + v_bias[:, None]) @ (W_R @ R.T)
theirs = XLNetRelativeAttention.rel_shift_bnij(by_distance, klen=S)
assert by_distance.shape == (1, H, S, 2 * S)
assert torch.equal(theirs[0, :, 2], by_distance[0, :, 2, S - 2 : 2 * S - 2])
assert torch.allclose(theirs, b_and_d, rtol=0, atol=1e-12)

# %% [markdown] lang="en" role="claim"
# transformers no longer contains Transformer-XL, but it has XLNet, which builds on it and
# looks both ways: {{ by_distance.shape[-1] }} columns for {{ S }} tokens, the distances
# from $S$ down to $-S + 1$, and row $i$ slides by $S - i$. After the shift, its position
# term equals ours within 10⁻¹².

# %% [markdown] lang="zh" role="claim"
# transformers 里已经没有 Transformer-XL，但有建立在它之上的 XLNet，两边都看：{{ S }} 个词元有 {{ by_distance.shape[-1] }} 列，距离从 $S$ 降到 $-S + 1$，第 $i$ 行左移 $S - i$ 格。移位之后，XLNet 的位置项与我们的相等，误差不超过 10⁻¹²。

# %% [markdown] lang="en"
# ## T5: one number for each bucket {#t5}
#
# Raffel et al. (2020) reduce this to the minimum. The term is a single learned number
# for each head and each bucket of offsets. It does not look at the query, it does not
# look at the key, it looks at the offset alone:
#
# $$s_{ij} = q_i \cdot k_j + b_{\,\mathrm{bucket}(j - i)}$$
#
# This is a **relative position bias**. And offsets share their numbers: near offsets have
# one each, far ones are put together in **buckets** that grow with the distance. Whether a word
# stands 3 or 4 away may matter; whether 103 or 104, hardly.

# %% [markdown] lang="zh"
# ## T5：每个桶一个数 {#t5}
#
# Raffel 等（2020）只留下最少的东西：加的项只是一个可学习的数，各个头各有自己的数。它不看查询，也不看键，只看偏移：
#
# $$s_{ij} = q_i \cdot k_j + b_{\,\mathrm{bucket}(j - i)}$$
#
# 这叫**相对位置偏置**（relative position bias）。偏移还要共用这些数：近处的偏移各用一个；远处的若干个偏移合在一个**桶**（bucket）里，越远的桶越宽。相隔 3 还是 4，也许要紧；相隔 103 还是 104，就差不多了。

# %% hide=true
from tokpos.figures import t5

t5.bucket_map()

# %% [markdown] lang="en" role="caption"
# The bucket of each offset. The encoder halves its buckets, one half for each side; the
# decoder looks left only and has all of them there.

# %% [markdown] lang="zh" role="caption"
# 每个偏移所在的桶。编码器把桶分成两半，左右各一半；解码器只看左边，所有的桶都归左边。

# %% [markdown] lang="en"
# The rule for $n$ buckets on one side and the distance $x = |j - i|$: the first $n/2$
# buckets hold one distance each. From there on the bucket grows with the logarithm of
# $x$, such that it would reach $n$ at the distance $m$, and the last bucket takes all the
# rest:
#
# $$
# \mathrm{bucket}(x) = \min\left(n - 1, \;
# \frac{n}{2} + \left\lfloor \frac{\log(2x/n)}{\log(2m/n)} \cdot \frac{n}{2} \right\rfloor
# \right)
# \qquad \text{if } x \ge \frac{n}{2}
# $$
#
# T5 has $m = 128$, and 32 buckets in all. In an encoder that makes $n = 16$ for each side,
# and the buckets of the right side are numbered from $n$ on.

# %% [markdown] lang="zh"
# 规则是这样的：设一侧有 $n$ 个桶，距离 $x = |j - i|$。前 $n/2$ 个桶，每个只装一个距离。再往后，桶号随 $x$ 的对数增长，到距离 $m$ 时本应达到 $n$；其余的全部归最后一个桶：
#
# $$
# \mathrm{bucket}(x) = \min\left(n - 1, \;
# \frac{n}{2} + \left\lfloor \frac{\log(2x/n)}{\log(2m/n)} \cdot \frac{n}{2} \right\rfloor
# \right)
# \qquad \text{当 } x \ge \frac{n}{2}
# $$
#
# T5 取 $m = 128$，一共 32 个桶。编码器每侧 $n = 16$ 个，右侧的桶从 $n$ 开始编号。

# %%
import math

from tokpos import t5_bucket_starts, t5_buckets


def bucket_by_formula(offset, n=16, m=128):
    """The bucket of an offset, as the formula has it; `n` buckets on one side."""
    x = bucket = abs(offset)
    if x >= n / 2:
        bucket = min(n - 1, n // 2 + math.floor(math.log(2 * x / n, 2 * m / n) * n / 2))
    return bucket + n if offset > 0 else bucket


print("smallest distance of each bucket:", t5_bucket_starts(16))
for example in (-1, 1, -20, 20, -200, 200):
    print(f"offset {example:4}: bucket {bucket_by_formula(example)}")

# %% check=true
from transformers.models.t5.modeling_t5 import T5Attention

many = torch.arange(-3000, 3001)
both_sides = t5_buckets(many)
causal = t5_buckets(many, bidirectional=False)
assert both_sides.tolist() == [bucket_by_formula(offset) for offset in many.tolist()]
assert causal.tolist() == [bucket_by_formula(min(offset, 0), n=32) for offset in many.tolist()]
assert torch.equal(both_sides, T5Attention._relative_position_bucket(many, bidirectional=True))
assert torch.equal(causal, T5Attention._relative_position_bucket(many, bidirectional=False))
assert causal[many >= 0].eq(0).all()

# %% [markdown] lang="en" role="claim"
# For all {{ f"{len(many):,}" }} offsets from −{{ f"{-many[0].item():,}" }} to {{ f"{many[-1].item():,}" }} the
# buckets of [`tokpos.t5.t5_buckets`][] equal the formula and those of transformers, for an
# encoder and for a decoder. In a decoder every key to the right falls into bucket 0; the
# causal mask hides it anyway.

# %% [markdown] lang="zh" role="claim"
# 从 −{{ f"{-many[0].item():,}" }} 到 {{ f"{many[-1].item():,}" }} 的全部 {{ f"{len(many):,}" }} 个偏移，[`tokpos.t5.t5_buckets`][] 给出的桶都与公式相同，也与 transformers 相同，编码器和解码器都是如此。在解码器里，右边的键全部落进 0 号桶，反正因果掩码会遮住它们。

# %% [markdown] lang="en"
# The bias is then a lookup: the buckets of all pairs, and a table with one row for each
# bucket and one column for each head.

# %% [markdown] lang="zh"
# 剩下的就是查表：先算出每一对的桶，再到一张表里取数。表里每个桶一行，每个头一列。

# %% hide=true
t5.bias_matrix()

# %% [markdown] lang="en" role="caption"
# The table of one head, drawn at random, and the bias it becomes. Every diagonal has one
# color; away from the middle, neighboring diagonals share it.

# %% [markdown] lang="zh" role="caption"
# 一个头的表（随机取的数），以及由它得到的偏置。每条对角线是一种颜色；离中间越远，共用一种颜色的对角线越多。

# %%
from transformers import T5Config, T5EncoderModel

from tokpos import T5Bias

config = T5Config(d_model=32, d_kv=d, num_heads=4, d_ff=16, num_layers=3, vocab_size=10)
t5_encoder = T5EncoderModel(config)
first_layer = t5_encoder.encoder.block[0].layer[0].SelfAttention
bias = T5Bias(config.num_heads)
bias.load_state_dict(first_layer.relative_attention_bias.state_dict())

long = torch.arange(300)
query = torch.zeros(1, config.num_heads, len(long), d)
t5_term = bias.into_scores(query, long, long).outside
t5_term.shape

# %% check=true
tables = [name for name, _ in t5_encoder.named_parameters() if "relative_attention_bias" in name]
assert torch.equal(t5_term, first_layer.compute_bias(300, 300)[0])
last = t5_bucket_starts(16)[-1]
for side in (t5_term[:, 0], t5_term[:, :, 0]):  # by distance, to the right and to the left
    assert (side[:, last:] == side[:, -1:]).all() and (side[:, last - 1] != side[:, last]).all()
assert len(tables) == 1 and first_layer.scaling == 1.0
assert (config.relative_attention_num_buckets, config.relative_attention_max_distance) == (32, 128)

# %% [markdown] lang="en" role="claim"
# The bias of {{ len(long) }} tokens equals that of transformers bit for bit. From distance
# {{ last }} on, where the last bucket begins, each head has one number on each side. The
# model has {{ config.num_layers }} layers and {{ len(tables) }} table, that of its first
# layer, which all layers share. And T5's attention multiplies its scores by
# {{ first_layer.scaling }}: it does not divide by $\sqrt{d}$.

# %% [markdown] lang="zh" role="claim"
# {{ len(long) }} 个词元的偏置与 transformers 的逐位相等。最后一个桶从距离 {{ last }} 开始，从那里起，同一个头、同一侧的偏置不再变化。模型有 {{ config.num_layers }} 层，表只有 {{ len(tables) }} 张，放在第一层，各层共用。T5 的注意力给分数乘的是 {{ first_layer.scaling }}：它不除以 $\sqrt{d}$。

# %% [markdown] lang="en"
# ## Side by side {#side-by-side}
#
# What all three promise, in one test: move the whole text by 1,000 positions, and see
# whether the added terms stay as they are.

# %% [markdown] lang="zh"
# ## 放在一起比 {#side-by-side}
#
# 三种方法都应当只看偏移，这一点一次就能检验：把整段文本挪 1,000 个位置，看加上的项变不变。

# %%
from tokpos import SinusoidalEncoding

t5_bias = T5Bias(H, dtype=torch.float64)
sinusoidal = SinusoidalEncoding(D)
vectors = randoms(1, S, D)


def terms(start):
    """What each method adds, and the products of sinusoidal inputs, for a text at `start`."""
    at = place + start
    x = sinusoidal(vectors, at)
    return {
        "Shaw": shaw.into_scores(q, at, at).inside,
        "Transformer-XL": xl.into_scores(q, at, at).inside,
        "T5": t5_bias.into_scores(q, at, at).outside,
        "sinusoidal (absolute)": x @ x.mT,
    }


here, there = terms(0), terms(1000)
change = {name: (here[name] - there[name]).abs().max().item() for name in here}

# %% check=true
assert max(change[name] for name in ("Shaw", "Transformer-XL", "T5")) < 1e-9
assert change["sinusoidal (absolute)"] > 1

# %% [markdown] lang="en" role="claim"
# Shaw's, Transformer-XL's and T5's terms do not change (within 10⁻⁹). With sinusoids added
# to the input, the products of the same vectors do.

# %% [markdown] lang="zh" role="claim"
# Shaw、Transformer-XL 和 T5 的项都不变（误差不超过 10⁻⁹）。把正弦位置编码（sinusoidal position encoding）加到输入上，同样这些向量的点积就变了。

# %% hide=true
base_heads, base_d = 12, 64  # the sizes of bert-base and t5-base
base = {
    "Shaw": ShawEncoding(base_d, clip=16),
    "Transformer-XL": TransformerXLEncoding(base_heads, base_d),
    "T5": T5Bias(base_heads),
}
size = {name: sum(w.numel() for w in module.parameters()) for name, module in base.items()}
matrix = base["Transformer-XL"].projection.numel()

# %% [markdown] lang="en"
# | What | Shaw | Transformer-XL | T5 |
# |---|---|---|---|
# | term | $q_i \cdot a_{j-i}$ | $q_i \cdot r_{i-j} + u \cdot k_j + v \cdot r_{i-j}$ | $b_{\mathrm{bucket}(j-i)}$ |
# | where it is added | inside the division | inside the division | no division |
# | looks at the query | yes | yes | no |
# | learned | a vector for each clipped offset | a matrix, and two vectors for each head | one number for each bucket and head |
# | parameters at width {{ base_heads * base_d }} | {{ f"{size['Shaw']:,}" }} a layer | {{ f"{matrix:,}" }} a layer, {{ f"{size['Transformer-XL'] - matrix:,}" }} for all layers | {{ size["T5"] }} for all layers |
# | far away | one vector for each side | every distance has its own | one number for each side |
#
# The parameters of Shaw are those of one key table with the limit 16, shared by the heads.
# Those of Transformer-XL are the matrix $W_R$ and the vectors $u$ and $v$.

# %% [markdown] lang="zh"
# | 方面 | Shaw | Transformer-XL | T5 |
# |---|---|---|---|
# | 加的项 | $q_i \cdot a_{j-i}$ | $q_i \cdot r_{i-j} + u \cdot k_j + v \cdot r_{i-j}$ | $b_{\mathrm{bucket}(j-i)}$ |
# | 加在哪里 | 除法之前 | 除法之前 | 没有除法 |
# | 看不看查询 | 看 | 看 | 不看 |
# | 学什么 | 截断后的每个偏移一个向量 | 一个矩阵，每个头两个向量 | 每个桶、每个头一个数 |
# | 维度 {{ base_heads * base_d }} 时的参数 | 每层 {{ f"{size['Shaw']:,}" }} | 每层 {{ f"{matrix:,}" }}，各层共用 {{ f"{size['Transformer-XL'] - matrix:,}" }} | 各层共用 {{ size["T5"] }} |
# | 远处 | 每侧一个向量 | 每个距离各不相同 | 每侧一个数 |
#
# Shaw 的参数按一张键的表计算，上限取 16，各头共用。Transformer-XL 的参数，是矩阵 $W_R$ 以及向量 $u$ 和 $v$。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: beyond the limit, attention sees nothing"
#     Clipping takes away the exact distance, not the key. The product $q_i \cdot k_j$ is
#     still there for every pair, and so is the side on which the key stands. Here the key
#     farthest away matches the first query, and gets most of its attention.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：超过上限，注意力就看不见了"
#     截断丢掉的是精确的距离，不是键。每一对的 $q_i \cdot k_j$ 都还在，键在哪一侧也还知道。下面让最远的键与第一个查询相配，它就得到了大部分注意力。

# %%
matching = k.clone()
matching[..., -1, :] = 3 * q[..., 0, :]
scores = (q @ matching.mT + shaw_term) / d**0.5
far_weight = scores.softmax(-1)[0, :, 0, -1]
print([round(share, 2) for share in far_weight.tolist()])

# %% check=true
assert S - 1 > clip and (far_weight > 0.5).all()

# %% [markdown] lang="en" role="claim"
# At offset {{ S - 1 }}, beyond the limit {{ clip }}, the matching key gets more than half
# of the attention in every head.

# %% [markdown] lang="zh" role="claim"
# 偏移是 {{ S - 1 }}，超过了上限 {{ clip }}，相配的键在每个头里仍得到一半以上的注意力。

# %% [markdown] lang="en"
# !!! note "Often said, not so: T5 can read only 128 tokens"
#     The 128 sets the scale of the logarithm. The last bucket begins before it, at
#     {{ last }} (in a decoder at {{ t5_bucket_starts(32)[-1] }}), and has no upper bound. How well
#     a model does on texts longer than those it was trained on is another question,
#     measured in [Choosing](choosing.md).

# %% [markdown] lang="zh"
# !!! note "常见的误解：T5 只能读 128 个词元"
#     128 定的是对数的尺度。最后一个桶在它之前就开始了，从 {{ last }} 起（解码器从 {{ t5_bucket_starts(32)[-1] }} 起），而且没有上界。至于文本比训练时更长，模型表现如何，那是另一个问题，[怎样选择](choosing.md)里有实测。

# %%
far_buckets = t5_buckets(torch.tensor([-100_000, -last, last, 100_000]))
far_buckets.tolist()

# %% check=true
assert far_buckets.tolist() == [15, 15, 31, 31]
assert t5_buckets(torch.tensor(1 - last)) == 14
far_bias = T5Bias(H).into_scores(q[..., :1, :].float(), torch.tensor([100_000]), place).outside
assert far_bias.shape == (H, 1, S) and far_bias.isfinite().all()

# %% [markdown] lang="en" role="claim"
# Offset −100,000 shares the bucket of −{{ last }}, and 100,000 that of {{ last }}: a query
# at position 100,000 gets a bias for every key.

# %% [markdown] lang="zh" role="claim"
# 偏移 −100,000 与 −{{ last }} 在同一个桶，100,000 与 {{ last }} 在同一个桶：查询即使在位置 100,000，对每个键也都有偏置。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - The offset of a pair is key position minus query position. It does not change when the
#   text moves.
# - A distance belongs to a pair, so it enters the scores, not the input.
# - Shaw: a learned vector for each offset, clipped, multiplied by the query.
# - Transformer-XL: the product of query and key taken apart into four terms; distance in
#   place of position, two learned vectors in place of the query's own position.
# - T5: one learned number for each head and bucket; exact near, logarithmic far.
#
# All three change the scores by an added term. [RoPE](rope.md) achieves the same without
# one, by turning queries and keys; [ALiBi](alibi.md) adds a bias like T5's and learns
# nothing at all.

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 一对词元的偏移，是键的位置减去查询的位置；文本整体挪动，偏移不变。
# - 距离属于一对词元，所以加在分数里，而不是加在输入上。
# - Shaw：偏移先截断，每个偏移一个可学习的向量，与查询相乘。
# - Transformer-XL：把查询与键的乘积拆成四项；位置换成距离，查询自己的位置换成两个可学习的向量。
# - T5：每个头、每个桶一个可学习的数；近处精确，远处按对数。
#
# 三种方法都往分数里加一项。[RoPE](rope.md) 不加任何项，靠旋转查询和键达到同样的目的；[ALiBi](alibi.md) 也像 T5 那样加一个偏置，但什么也不学。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Shaw, Uszkoreit, Vaswani, [Self-Attention with Relative Position Representations](https://arxiv.org/abs/1803.02155),
#   2018. Section 3.1: vectors for values (equation 3) and keys (equation 4). Section 3.2:
#   clipping. Section 3.3: how to compute it (equation 5).
# - Dai et al., [Transformer-XL](https://arxiv.org/abs/1901.02860), 2019. Section 3.3: the
#   four terms. Appendix B: the shift.
# - Raffel et al., [Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer](https://arxiv.org/abs/1910.10683),
#   2020. Section 2.1: the bias and its buckets, in a few sentences.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Shaw、Uszkoreit、Vaswani，[Self-Attention with Relative Position Representations](https://arxiv.org/abs/1803.02155)，2018。第 3.1 节：值的向量（式 3）和键的向量（式 4）。第 3.2 节：截断。第 3.3 节：怎样计算（式 5）。
# - Dai 等，[Transformer-XL](https://arxiv.org/abs/1901.02860)，2019。第 3.3 节：四项。附录 B：移位。
# - Raffel 等，[Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer](https://arxiv.org/abs/1910.10683)，2020。第 2.1 节：用几句话讲了偏置和桶。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** A decoder with a cache has read five tokens and now gets two more. The queries stand at
# positions 5 and 6, the keys at 0 to 6. What is the shape of the offsets, and what is the
# first row? Would it be right to count the queries from 0?
#
# ??? question "Answer"
#     The shape is `{{ list(offsets(torch.tensor([5, 6]), torch.arange(7)).shape) }}`, the first row `{{ offsets(torch.tensor([5, 6]), torch.arange(7))[0].tolist() }}`:
#     five keys stand to the left of the query and one to its right, which the causal mask
#     hides. Counted from 0, the queries would believe that they stand at the beginning of
#     the text, and their first row would be
#     `{{ offsets(torch.tensor([0, 1]), torch.arange(7))[0].tolist() }}`. No error would be raised.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 一个带缓存的解码器已经读了五个词元，现在又来两个。查询在位置 5 和 6，键在位置 0 到 6。偏移的形状是什么？第一行是什么？查询从 0 数起对不对？
#
# ??? question "答案"
#     形状是 `{{ list(offsets(torch.tensor([5, 6]), torch.arange(7)).shape) }}`，第一行是 `{{ offsets(torch.tensor([5, 6]), torch.arange(7))[0].tolist() }}`：左边有五个键，右边有一个，由因果掩码遮住。如果从 0 数起，查询就以为自己站在文本开头，第一行会变成 `{{ offsets(torch.tensor([0, 1]), torch.arange(7))[0].tolist() }}`，而且不会报错。

# %%
decoding = offsets(torch.tensor([5, 6]), torch.arange(7))
wrong_decoding = offsets(torch.tensor([0, 1]), torch.arange(7))
decoding

# %% check=true hide=true
assert decoding.shape == (2, 7) and decoding[0].tolist() == [-5, -4, -3, -2, -1, 0, 1]
assert torch.equal(decoding, offsets(torch.arange(7), torch.arange(7))[5:])

# %% [markdown] lang="en" role="claim"
# The two rows are the last two rows of the offsets of the whole text.

# %% [markdown] lang="zh" role="claim"
# 这两行正是整段文本的偏移矩阵的最后两行。

# %% [markdown] lang="en"
# **2.** By hand: into which bucket does offset −32 fall in T5's encoder, and offset +32?
# ($n = 16$, $m = 128$.)
#
# ??? question "Answer"
#     The distance is 32, and $2x/n = 4$, $2m/n = 16$. $\log 4 / \log 16 = 1/2$, half of the
#     eight far buckets: 8 + 4 = {{ t5_buckets(torch.tensor(-32)).item() }}. To the right the numbers begin at 16:
#     {{ t5_buckets(torch.tensor(32)).item() }}.

# %% [markdown] lang="zh"
# **2.** 手算：在 T5 的编码器里，偏移 −32 落进哪个桶？+32 呢？（$n = 16$，$m = 128$。）
#
# ??? question "答案"
#     距离是 32，$2x/n = 4$，$2m/n = 16$。$\log 4 / \log 16 = 1/2$，正好是八个远桶的一半：8 + 4 = {{ t5_buckets(torch.tensor(-32)).item() }}。右侧从 16 开始编号：{{ t5_buckets(torch.tensor(32)).item() }}。

# %%
by_hand = t5_buckets(torch.tensor([-32, 32])).tolist()
by_hand

# %% check=true hide=true
assert by_hand == [8 + 4, 8 + 4 + 16]

# %% [markdown] lang="en" role="claim"
# The two buckets are those of the calculation by hand.

# %% [markdown] lang="zh" role="claim"
# 两个桶号与手算一致。

# %% [markdown] lang="en"
# **3.** Find the fault, which is also in [the museum](../faults/t5_direction.md). Somebody
# writes a T5 decoder and takes the offset as query minus key. The program runs. What does
# the bias know of the past?
#
# ??? question "Answer"
#     Nothing. All keys of the past now count as keys on the right, and a decoder puts
#     these into bucket 0. The printed buckets of the last query are all
#     {{ t5_buckets(-offsets(place, place), bidirectional=False)[-1].unique().item() }}: the model has no positions left, apart from what
#     the causal mask tells it.

# %% [markdown] lang="zh"
# **3.** 找错，[错误博物馆](../faults/t5_direction.md)里也有这一个。有人写 T5 的解码器，偏移用了查询减键。程序能运行。这时偏置对过去还知道什么？
#
# ??? question "答案"
#     什么也不知道。过去的键现在全成了右边的键，而解码器把右边的键都放进 0 号桶。打印出来，最后一个查询的桶全是 {{ t5_buckets(-offsets(place, place), bidirectional=False)[-1].unique().item() }}：除了因果掩码透露的那一点，模型再也没有位置信息。

# %%
right = t5_buckets(offsets(place, place), bidirectional=False)
flipped = t5_buckets(-offsets(place, place), bidirectional=False)
print("key minus query:", right[-1].tolist())
print("query minus key:", flipped[-1].tolist())

# %% check=true hide=true
assert right[-1].tolist() == list(range(S - 1, -1, -1))
assert flipped.tril().eq(0).all()

# %% [markdown] lang="en" role="claim"
# With the wrong sign, every key up to the query is in bucket 0.

# %% [markdown] lang="zh" role="claim"
# 符号弄反之后，查询及其左边的键全在 0 号桶。

# %% [markdown] lang="en"
# **4.** Set $u$ and $v$ of Transformer-XL to zero. Which terms are left? Can a query that
# is itself the zero vector still prefer near keys?
#
# ??? question "Answer"
#     $(a)$ and $(b)$ are left, and both are products with the query. A query of zeros then
#     scores every key 0. With $v$, term $(d)$ still tells it near from far.

# %% [markdown] lang="zh"
# **4.** 把 Transformer-XL 的 $u$ 和 $v$ 设为零，还剩哪几项？如果查询本身是零向量，它还能偏向近处的键吗？
#
# ??? question "答案"
#     剩下 $(a)$ 和 $(b)$，两项都是与查询的乘积。零查询给每个键的分数都是 0。有了 $v$，$(d)$ 仍能让它分出远近。

# %%
nothing = torch.zeros_like(q)
asked_with_v = xl.into_scores(nothing, place, place).inside.detach()
without = TransformerXLEncoding(H, d, dtype=torch.float64)
without.load_state_dict(xl.state_dict() | {"position_bias": torch.zeros(H, d)})
asked_without = without.into_scores(nothing, place, place).inside.detach()
asked_without.abs().max().item(), [round(n, 2) for n in asked_with_v[0, 0, -1].tolist()]

# %% check=true hide=true
assert asked_without.abs().max() == 0
assert asked_with_v[0, 0, -1].unique().numel() == S

# %% [markdown] lang="en" role="claim"
# Without $v$ the position term of the zero query is 0 everywhere; with $v$ the last token gives
# each of its {{ S }} keys a different number.

# %% [markdown] lang="zh" role="claim"
# 没有 $v$，零查询的位置项处处是 0；有了 $v$，最后一个词元给 {{ S }} 个键的分数各不相同。

# %% [markdown] lang="en"
# ## Quiz {#quiz}
#
# Five questions. Each answer is computed from the tensors of this page.

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}
#
# 共五题，每题的答案都由本页的张量算出。


# %% hide=true
def depends(term):
    """On what of query, key and distance a term of Transformer-XL depends."""
    at, generator = place.clone(), torch.Generator().manual_seed(1)
    other = torch.randn(q.shape, generator=generator, dtype=torch.float64)
    R = sinusoidal_concatenated(at[:, None] - at, D, dtype=q.dtype)
    r = torch.einsum("hdD,ijD->hijd", W_R, R)
    compute = {
        "a": lambda q, k, r: q @ k.mT,
        "b": lambda q, k, r: torch.einsum("bhid,hijd->bhij", q, r),
        "c": lambda q, k, r: (u[:, None] @ k.mT).expand(1, H, S, S),
        "d": lambda q, k, r: torch.einsum("hd,hijd->hij", v_bias, r),
    }[term]
    before = compute(q, k, r)
    changed = {"query": (other, k, r), "key": (q, other, r), "distance": (q, k, r.flip(-2))}
    return {name for name, new in changed.items() if not torch.allclose(compute(*new), before)}


offset_of_d_from_b = offset[tokens.index("B"), tokens.index("D")].item()
table_shape = tuple(ShawEncoding(16, clip=4).key_vectors.shape)


def same_bucket(one, other):
    first, second = t5_buckets(torch.tensor([one, other])).tolist()
    return first == second


unmoved = [name for name in change if change[name] < 1e-9]

# %% [markdown] lang="en" role="quiz"
# In A B C D, what is the offset when B is the query and D the key?
#
# - {{ offset_of_d_from_b == -2 }} −2
#
#     That is query minus key. D stands to the right of B, so the offset is positive.
#
# - {{ offset_of_d_from_b == 2 }} +2
#
#     Key position minus query position: 3 − 1.
#
# - {{ offset_of_d_from_b == 3 }} +3
#
#     That is the position of D in the text, counted from the first token, not from B.

# %% [markdown] lang="zh" role="quiz"
# 在 A B C D 里，查询是 B，键是 D，偏移是多少？
#
# - {{ offset_of_d_from_b == -2 }} −2
#
#     这是查询减键。D 在 B 的右边，偏移应当是正的。
#
# - {{ offset_of_d_from_b == 2 }} +2
#
#     键的位置减去查询的位置：3 − 1。
#
# - {{ offset_of_d_from_b == 3 }} +3
#
#     这是 D 在文本里的位置，是从第一个词元数的，不是从 B 数的。

# %% [markdown] lang="en" role="quiz"
# Shaw's encoding with limit 4 and head width 16: what shape does the table of key vectors have?
#
# - {{ table_shape == (8, 16) }} `[8, 16]`
#
#     Four to the left and four to the right, but offset 0 needs a vector as well.
#
# - {{ table_shape == (9, 16) }} `[9, 16]`
#
#     The offsets −4 to 4 are nine.
#
# - {{ table_shape == (4, 16) }} `[4, 16]`
#
#     One vector for each distance would not tell left from right, and distance 0 would be left
#     out.

# %% [markdown] lang="zh" role="quiz"
# Shaw 的编码，上限是 4，头的维度是 16：键向量的表是什么形状？
#
# - {{ table_shape == (8, 16) }} `[8, 16]`
#
#     左边四个，右边四个，但偏移 0 也要一个向量。
#
# - {{ table_shape == (9, 16) }} `[9, 16]`
#
#     从 −4 到 4，一共九个偏移。
#
# - {{ table_shape == (4, 16) }} `[4, 16]`
#
#     每个距离一个，就分不清左右，而且漏了 0。

# %% [markdown] lang="en" role="quiz"
# A head of Transformer-XL wants *every* token to look at its left neighbor, whatever the
# words are. Which term can say that by itself?
#
# - {{ depends("b") == {"distance"} }} $(b)$, $q_i \cdot r_{i-j}$
#
#     It knows the distance, but it depends on the query too: it is not the same for every
#     token.
#
# - {{ depends("c") == {"distance"} }} $(c)$, $u \cdot k_j$
#
#     It is the same for every query, but it depends on the key's content and knows no
#     distance.
#
# - {{ depends("d") == {"distance"} }} $(d)$, $v \cdot r_{i-j}$
#
#     It depends on the distance alone.

# %% [markdown] lang="zh" role="quiz"
# Transformer-XL 的一个头希望*每个*词元都看左邻，不管是什么词。哪一项单独就能做到？
#
# - {{ depends("b") == {"distance"} }} $(b)$，$q_i \cdot r_{i-j}$
#
#     它知道距离，但也取决于查询，所以不是对每个词元都一样。
#
# - {{ depends("c") == {"distance"} }} $(c)$，$u \cdot k_j$
#
#     它对每个查询都一样，但取决于键的内容，而且不知道距离。
#
# - {{ depends("d") == {"distance"} }} $(d)$，$v \cdot r_{i-j}$
#
#     它只取决于距离。

# %% [markdown] lang="en" role="quiz"
# Which two offsets share a bucket in T5's encoder?
#
# - {{ same_bucket(-3, -4) }} −3 and −4
#
#     Near offsets have a bucket each, up to distance 7.
#
# - {{ same_bucket(-40, 40) }} −40 and +40
#
#     The two sides have buckets of their own. Only the distance is the same.
#
# - {{ same_bucket(-40, -45) }} −40 and −45
#
#     Far offsets share: both lie between 32 and 45.

# %% [markdown] lang="zh" role="quiz"
# 在 T5 的编码器里，哪两个偏移在同一个桶？
#
# - {{ same_bucket(-3, -4) }} −3 和 −4
#
#     近处的偏移一个一桶，直到距离 7。
#
# - {{ same_bucket(-40, 40) }} −40 和 +40
#
#     左右两侧各有自己的桶，这两个只是距离相同。
#
# - {{ same_bucket(-40, -45) }} −40 和 −45
#
#     远处的偏移共用一个桶：两个都在 32 到 45 之间。

# %% [markdown] lang="en" role="quiz"
# A text is moved from position 0 to position 1,000. Whose scores change?
#
# - {{ "T5" not in unmoved }} T5's, because 1,000 is beyond 128
#
#     The buckets are made from offsets, and no offset changed.
#
# - {{ "Shaw" not in unmoved }} Shaw's, because all offsets are clipped now
#
#     Clipping looks at the offset of a pair, not at the position in the text.
#
# - {{ "sinusoidal (absolute)" not in unmoved }} those of sinusoids added to the input
#
#     A different vector is added to each token vector, and the scores see both.

# %% [markdown] lang="zh" role="quiz"
# 一段文本从位置 0 挪到位置 1,000，哪种方法的分数会变？
#
# - {{ "T5" not in unmoved }} T5，因为 1,000 超过了 128
#
#     桶由偏移决定，而偏移一个也没变。
#
# - {{ "Shaw" not in unmoved }} Shaw，因为偏移全被截断了
#
#     截断看的是一对词元的偏移，不是在文本里的位置。
#
# - {{ "sinusoidal (absolute)" not in unmoved }} 把正弦向量加到输入上的方法
#
#     每个词元向量加上的位置向量都换了，而分数是由相加的结果算出来的。
