# %% [markdown] lang="en"
# # Cheat sheet
#
# <span class="one-page"></span>From a sentence to the first attention layer on one page, to print. $B$ batch, $S$ sequence, $D$
# model width, $V$ vocabulary, $H$ heads, $d = D/H$.

# %% [markdown] lang="zh"
# # 速查表
#
# <span class="one-page"></span>从一句话到第一个注意力层，一页纸，可以打印。$B$ 批量，$S$ 序列长度，$D$ 模型维度，$V$ 词表（vocabulary）大小，$H$ 头数，$d = D/H$。

# %% hide=true
import torch
from torch import nn

from tokpos import alibi_slopes, frequencies, rotate, sinusoidal_table, t5_buckets
from tokpos.rope import rotation

B, S, V, D, H = 2, 5, 11, 8, 2
d = D // H
torch.manual_seed(0)
ids = torch.randint(V, (B, S))
table = nn.Embedding(V, D)
x = table(ids)
q, k = torch.randn(2, B, H, S, d)
example = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])  # one head, one place
turn = rotation(torch.tensor([1]), frequencies(4))
interleaved = rotate(example, turn, layout="interleaved")[0, 0].tolist()
half_split = rotate(example, turn, layout="half-split")[0, 0].tolist()
distances = torch.tensor([0, 15, 16, 32, 127])


def digits(numbers):
    return ", ".join(f"{number:.4f}" for number in numbers)


wave = sinusoidal_table(2, 4)[1]
pe = sinusoidal_table(S, D)
slopes = [round(1 / slope) for slope in alibi_slopes(8).tolist()]
buckets = t5_buckets(-distances, bidirectional=False).tolist()

# %% [markdown] lang="en"
# ## Shapes {#shapes}
#
# | What | Code | Shape |
# |---|---|---|
# | IDs | `ids` | $[B, S]$ = {{ list(ids.shape) }} |
# | table | `table.weight` | $[V, D]$ = {{ list(table.weight.shape) }} |
# | token vectors | `table(ids)` | $[B, S, D]$ = {{ list(x.shape) }} |
# | positions added | `x + pe[:S]` | $[B, S, D] + [S, D]$ = {{ list((x + pe).shape) }} |
# | queries of all heads | `q` | $[B, H, S, d]$ = {{ list(q.shape) }} |
# | scores | `q @ k.mT` | $[B, H, S, S]$ = {{ list((q @ k.mT).shape) }} |
# | logits | `h @ table.weight.T` | $[B, S, V]$ = {{ list((x @ table.weight.T).shape) }} |
#
# ## Formulas {#formulas}
#
# | What | Formula |
# |---|---|
# | lookup | $e_t W = W_t$ |
# | BERT's layer | $\mathrm{LayerNorm}(W_t + W^{seg} + W^{pos})$, $\epsilon = 10^{-12}$ |
# | LayerNorm | $\gamma \, (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta$, variance with divisor $D$ |
# | sinusoidal, pair $i$ | $\sin(p \, \omega_i), \cos(p \, \omega_i)$, $\omega_i = 10000^{-2i/D}$ |
# | RoPE, pair $i$ | $(a, b) \to (a \cos p\omega_i - b \sin p\omega_i, \; a \sin p\omega_i + b \cos p\omega_i)$ |
# | ALiBi, head $h$, $H$ a power of 2 | score $- m_h \, (p_q - p_k)$, $m_h = 2^{-8h/H}$, $h = 1 \dots H$ |
# | T5 | score $+ \, b_{\mathrm{bucket}(p_k - p_q)}$, no division by $\sqrt{d}$ |
# | tied head | logits $= h W^T$ |
#
# ## Values to compare with {#values}
#
# | What | Value |
# |---|---|
# | sinusoidal, $p = 1$, $D = 4$ | {{ digits(wave) }} |
# | RoPE of `[1, 2, 3, 4]` at 1, interleaved | {{ digits(interleaved) }} |
# | RoPE of `[1, 2, 3, 4]` at 1, half-split | {{ digits(half_split) }} |
# | ALiBi, 8 heads | {{ ", ".join(f"1/{slope}" for slope in slopes) }} |
# | T5 buckets, causal, distances 0, 15, 16, 32, 127 | {{ buckets }} |

# %% [markdown] lang="zh"
# ## 形状 {#shapes}
#
# | 内容 | 代码 | 形状 |
# |---|---|---|
# | ID | `ids` | $[B, S]$ = {{ list(ids.shape) }} |
# | 嵌入表（embedding table） | `table.weight` | $[V, D]$ = {{ list(table.weight.shape) }} |
# | 词元（token）向量 | `table(ids)` | $[B, S, D]$ = {{ list(x.shape) }} |
# | 加上位置 | `x + pe[:S]` | $[B, S, D] + [S, D]$ = {{ list((x + pe).shape) }} |
# | 各头的查询 | `q` | $[B, H, S, d]$ = {{ list(q.shape) }} |
# | 分数 | `q @ k.mT` | $[B, H, S, S]$ = {{ list((q @ k.mT).shape) }} |
# | logits（未归一化分数） | `h @ table.weight.T` | $[B, S, V]$ = {{ list((x @ table.weight.T).shape) }} |
#
# ## 公式 {#formulas}
#
# | 内容 | 公式 |
# |---|---|
# | 查表 | $e_t W = W_t$ |
# | BERT 的嵌入层 | $\mathrm{LayerNorm}(W_t + W^{seg} + W^{pos})$，$\epsilon = 10^{-12}$ |
# | 层归一化（LayerNorm） | $\gamma \, (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta$，算方差时除以 $D$ |
# | 正弦，第 $i$ 对 | $\sin(p \, \omega_i), \cos(p \, \omega_i)$，$\omega_i = 10000^{-2i/D}$ |
# | RoPE，第 $i$ 对 | $(a, b) \to (a \cos p\omega_i - b \sin p\omega_i, \; a \sin p\omega_i + b \cos p\omega_i)$ |
# | ALiBi（带线性偏置的注意力），第 $h$ 个头，$H$ 是 2 的幂 | 分数 $- m_h \, (p_q - p_k)$，$m_h = 2^{-8h/H}$，$h = 1 \dots H$ |
# | T5 | 分数 $+ \, b_{\mathrm{bucket}(p_k - p_q)}$，不除以 $\sqrt{d}$ |
# | 权重绑定（weight tying）的输出 | logits $= h W^T$ |
#
# ## 对照用的数值 {#values}
#
# | 内容 | 数值 |
# |---|---|
# | 正弦，$p = 1$，$D = 4$ | {{ digits(wave) }} |
# | `[1, 2, 3, 4]` 在位置 1，RoPE 相邻配对 | {{ digits(interleaved) }} |
# | `[1, 2, 3, 4]` 在位置 1，RoPE 前后半配对 | {{ digits(half_split) }} |
# | ALiBi，8 个头 | {{ ", ".join(f"1/{slope}" for slope in slopes) }} |
# | T5 的桶，因果，距离 0、15、16、32、127 | {{ buckets }} |

# %% check=true hide=true
by_hand = x @ table.weight.T
assert torch.equal(by_hand, nn.functional.linear(x, table.weight))
turns = torch.exp(1j * frequencies(4))  # position 1, as complex numbers in float64
pairs = torch.tensor([1 + 2j, 3 + 4j], dtype=torch.complex128) * turns
halves = torch.tensor([1 + 3j, 2 + 4j], dtype=torch.complex128) * turns
right = {
    "interleaved": (interleaved, torch.view_as_real(pairs).flatten()),
    "half-split": (half_split, torch.view_as_real(halves).T.flatten()),
}
for ours, known in right.values():
    assert (torch.tensor(ours).double() - known).abs().max() < 5e-5

# %% [markdown] lang="en" role="claim"
# The values of both layouts are those of the complex rotation in float64, to four digits.

# %% [markdown] lang="zh" role="claim"
# 两种配对方式的数值，都与 float64 下用复数旋转算出的一致，精确到四位小数。
