# %% [markdown] lang="en"
# # Cheat sheet
#
# <span class="one-page"></span>From token IDs to attention scores and logits, on one printable page. $B$ batch size, $S$ sequence
# length, $D$ model width, $V$ vocabulary size, $H$ heads, $d = D/H$, $p$ position, $p_q$ and $p_k$ those of query and key.

# %% [markdown] lang="zh"
# # 速查表
#
# <span class="one-page"></span>从词元（token）ID 到注意力分数和 logits（未归一化分数），一页纸，可以打印。$B$ 批量大小，$S$ 序列长度，$D$ 模型维度，$V$ 词表（vocabulary）大小，$H$ 头数，$d = D/H$，$p$ 位置，$p_q$ 和 $p_k$ 是查询和键的位置。

# %% hide=true
import math

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


def digits(numbers, places=4):
    return ", ".join(f"{number:.{places}f}" for number in numbers)


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
# | positions added, table `pe` | `x + pe[:S]` | $[B, S, D] + [S, D]$ = {{ list((x + pe).shape) }} |
# | queries of all heads | `q` | $[B, H, S, d]$ = {{ list(q.shape) }} |
# | scores | `q @ k.mT / d**0.5` | $[B, H, S, S]$ = {{ list((q @ k.mT).shape) }} |
# | logits of hidden states `h` | `h @ table.weight.T` | $[B, S, V]$ = {{ list((x @ table.weight.T).shape) }} |
#
# ## Formulas {#formulas}
#
# | What | Formula |
# |---|---|
# | lookup, $e_t$ one-hot | $e_t W = W_t$ |
# | BERT's layer | $\mathrm{LayerNorm}(W_t + W^{seg} + W^{pos})$, $\epsilon = 10^{-12}$ |
# | LayerNorm | $\gamma \, (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta$, mean $\mu$, variance $\sigma^2$ with divisor $D$ |
# | sinusoidal, pair $i$ | $\sin(p \, \omega_i), \cos(p \, \omega_i)$, $\omega_i = 10000^{-2i/D}$ |
# | RoPE, pair $i$ | $(a, b) \to (a \cos \alpha - b \sin \alpha, \; a \sin \alpha + b \cos \alpha)$, $\alpha = p \cdot 10000^{-2i/d}$ |
# | ALiBi, head $n$, $H$ a power of 2 | score $- m_n \, (p_q - p_k)$, $m_n = 2^{-8n/H}$, $n = 1 \dots H$ |
# | T5 | score $+ \, b_{\mathrm{bucket}(p_k - p_q)}$, no division by $\sqrt{d}$ |
# | tied head | logits $= h W^T$ |
#
# ## Values to compare with {#values}
#
# | What | Value |
# |---|---|
# | sinusoidal, $p = 1$, $D = 4$ | {{ digits(wave, 5) }} |
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
# | 词元向量 | `table(ids)` | $[B, S, D]$ = {{ list(x.shape) }} |
# | 加上位置，位置表 `pe` | `x + pe[:S]` | $[B, S, D] + [S, D]$ = {{ list((x + pe).shape) }} |
# | 各头的查询 | `q` | $[B, H, S, d]$ = {{ list(q.shape) }} |
# | 分数 | `q @ k.mT / d**0.5` | $[B, H, S, S]$ = {{ list((q @ k.mT).shape) }} |
# | 隐状态（hidden state）`h` 的 logits | `h @ table.weight.T` | $[B, S, V]$ = {{ list((x @ table.weight.T).shape) }} |
#
# ## 公式 {#formulas}
#
# | 内容 | 公式 |
# |---|---|
# | 查表，$e_t$ 是独热向量（one-hot） | $e_t W = W_t$ |
# | BERT 的嵌入层 | $\mathrm{LayerNorm}(W_t + W^{seg} + W^{pos})$，$\epsilon = 10^{-12}$ |
# | 层归一化（LayerNorm） | $\gamma \, (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta$，均值 $\mu$；方差 $\sigma^2$ 是离差平方和除以 $D$ |
# | 正弦，第 $i$ 对 | $\sin(p \, \omega_i), \cos(p \, \omega_i)$，$\omega_i = 10000^{-2i/D}$ |
# | RoPE，第 $i$ 对 | $(a, b) \to (a \cos \alpha - b \sin \alpha, \; a \sin \alpha + b \cos \alpha)$，$\alpha = p \cdot 10000^{-2i/d}$ |
# | ALiBi（带线性偏置的注意力），第 $n$ 个头，$H$ 是 2 的幂 | 分数 $- m_n \, (p_q - p_k)$，$m_n = 2^{-8n/H}$，$n = 1 \dots H$ |
# | T5 | 分数 $+ \, b_{\mathrm{bucket}(p_k - p_q)}$，不除以 $\sqrt{d}$ |
# | 权重绑定（weight tying）的输出 | logits $= h W^T$ |
#
# ## 对照用的数值 {#values}
#
# | 内容 | 数值 |
# |---|---|
# | 正弦，$p = 1$，$D = 4$ | {{ digits(wave, 5) }} |
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
waves = [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]
assert (wave.double() - torch.tensor(waves).double()).abs().max() < 1e-6
assert slopes == [2**n for n in range(1, 9)]
assert buckets == [0, 15] + [16 + int(16 * math.log(far / 16, 8)) for far in (16, 32, 127)]

# %% [markdown] lang="en" role="claim"
# RoPE's values in both layouts are those of the complex rotation in float64, to four digits; the
# other values are those of the formulas.

# %% [markdown] lang="zh" role="claim"
# RoPE 两种配对方式的数值，都与 float64 下用复数旋转算出的一致，精确到四位小数；其余的数值与各自的公式一致。
