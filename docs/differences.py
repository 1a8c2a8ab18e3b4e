# %% [markdown] lang="en"
# # How the paper, its own code and the libraries differ
#
# Two implementations of the same position encoding can give different numbers. This page shows
# where papers, their authors' code and libraries differ, and by how much.
#
# This page is for the day on which a port does not reproduce its model. Each section says what
# the paper has, what its authors' code does, what the libraries do and which of these `tokpos`
# takes. The claims under the cells are run in this build; what else is said of a library or of an
# author's code is read from its source.
#
# | Thing | Who differs | How it shows |
# |---|---|---|
# | [Sinusoids: frequencies, order](#sinusoidal) | tensor2tensor, fairseq; transformers' Marian | a slower last pair; sines in the first half, cosines in the second |
# | [Sinusoids: first position, padding](#fairseq) | fairseq, M2M100 | the first token gets row 2; row 1 is zero |
# | [Learned positions](#roberta) | RoBERTa and its kin | 514 rows serve 512 tokens; left padding shifts, with `inputs_embeds` |
# | [RoPE: which features pair](#rope-layout) | Llama's own files, GPT-J; NeoX, transformers | no error, wrong scores |
# | [RoPE on a part of a head](#partial-rotation) | NeoX; Gemma 4; DeepSeek-V3 | different features turn, at different speeds |
# | [RoPE in bfloat16](#rope-bfloat16) | transformers after `.to(bfloat16)` | far positions get different angles |
# | [YaRN's ramp](#yarn) | the paper; its code and transformers | the pairs in the middle are slowed differently |
# | [Dynamic NTK](#dynamic-ntk) | transformers | after a longer text, a text as long as in training keeps its frequencies |
# | [RoPE on several axes](#axes) | Qwen2-VL; Qwen3-VL; Pixtral | height and width get different pairs |
# | [ALiBi's slopes and bias](#alibi) | the paper; its code; Bloom, MPT; Falcon | different slopes at 12 heads; different raw scores; bias computed in bfloat16 |
# | [T5's buckets](#t5) | the original code; ports that round | one bucket unused; a few offsets in a neighboring bucket |
# | [Shaw's clipping](#shaw) | Wav2Vec2-BERT | far to the left, near to the right |
# | [Transformer-XL's sinusoid](#transformer-xl) | the paper; its code and XLNet | sines in the first half, cosines in the second |
# | [Tokenizers and Unicode](#unicode) | the library `tokenizers` | rare characters are not set apart |

# %% [markdown] lang="zh"
# # 论文、作者的代码与各个库有何不同
#
# 两份实现挂着同一种位置编码（position encoding）的名字，算出的数却可能不同：论文、作者的代码和各个库在哪里分道扬镳，相差多少，都列在这里。
#
# 移植的代码复现不出原来的模型时，请翻到这一页。每一节都说明论文怎么写，作者的代码怎么做，各个库怎么做，`tokpos` 又选了哪一种。代码单元下面的结论，都在本次构建中实际运行得出；其他关于库和作者代码的说法，依据是它们的源码。
#
# | 对象 | 涉及谁 | 表现 |
# |---|---|---|
# | [正弦位置编码（sinusoidal）：频率与顺序](#sinusoidal) | tensor2tensor、fairseq；transformers 的 Marian | 最后一对维度更慢；正弦在前半，余弦在后半 |
# | [正弦位置编码：起点与填充](#fairseq) | fairseq、M2M100 | 第一个词元（token）用第 2 行；第 1 行全是零 |
# | [可学习的位置](#roberta) | RoBERTa 及其同类 | 514 行只够 512 个词元；用 `inputs_embeds` 时，左侧填充使位置错开 |
# | [旋转位置编码（RoPE）：哪些维度配成一对](#rope-layout) | Llama 原版文件、GPT-J；NeoX、transformers | 不报错，但分数不对 |
# | [只转一部分维度的 RoPE](#partial-rotation) | NeoX；Gemma 4；DeepSeek-V3 | 转的维度不同，快慢也不同 |
# | [bfloat16 下的 RoPE](#rope-bfloat16) | `.to(bfloat16)` 之后的 transformers | 远处的位置角度不对 |
# | [YaRN 的过渡段](#yarn) | 论文；作者的代码和 transformers | 中间各对维度放慢的程度不同 |
# | [动态 NTK](#dynamic-ntk) | transformers | 处理过长文本之后，短文本仍用旧频率 |
# | [多个轴上的 RoPE](#axes) | Qwen2-VL；Qwen3-VL；Pixtral | 高和宽分到的维度不同 |
# | [ALiBi（带线性偏置的注意力）的斜率与偏置](#alibi) | 论文；作者的代码；Bloom、MPT；Falcon | 12 个头时斜率不同；原始分数不同；偏置用 bfloat16 来算 |
# | [T5 的桶](#t5) | 原来的代码；有舍入的移植 | 有一个桶从来不用；少数偏移落进隔壁的桶 |
# | [Shaw 的截断](#shaw) | Wav2Vec2-BERT | 左边看得远，右边看得近 |
# | [Transformer-XL 的正弦](#transformer-xl) | 论文；作者的代码和 XLNet | 正弦在前半，余弦在后半 |
# | [分词器（tokenizer）与 Unicode](#unicode) | `tokenizers` 库 | 生僻字两边没有空格 |

# %%
import math

import tokenizers
import torch
import transformers

transformers.logging.disable_progress_bar()
torch.manual_seed(0)
torch.set_printoptions(precision=4, sci_mode=False, linewidth=80)


def gap(ours, theirs):
    """The largest absolute difference."""
    return (ours.double() - theirs.double()).abs().max().item()


print("transformers", transformers.__version__, " tokenizers", tokenizers.__version__)

# %% [markdown] lang="en"
# ## Sinusoids: two sets of frequencies, two orders of columns {#sinusoidal}
#
# - **The paper**, *Attention Is All You Need*, section 3.5: pair $i$ turns by $10000^{-2i/D}$, and
#   sine and cosine alternate.
# - **Its code**, tensor2tensor (`get_timing_signal_1d`): pair $i$ turns by $10000^{-i/(D/2 - 1)}$,
#   so that the last one reaches $10000^{-1}$ exactly. All sines come first, then all cosines.
# - **Libraries**: fairseq adopted tensor2tensor's, and M2M100 and Speech2Text follow
#   it; so does Marian itself, as its C++ source says. But transformers' Marian
#   (`create_weight`) has the paper's frequencies in tensor2tensor's order.
# - **tokpos** has each under its own name. [`tokpos.sinusoidal.SinusoidalEncoding`][] is the
#   paper's, which the [lesson](lessons/sinusoidal.md#many-hands) explains;
#   [`tokpos.sinusoidal_arrangements.ConcatenatedEncoding`][] is that of transformers' Marian, and
#   [`tokpos.sinusoidal_arrangements.Tensor2TensorEncoding`][] the one of the paper's code.

# %% [markdown] lang="zh"
# ## 正弦位置编码：两组频率，两种列序 {#sinusoidal}
#
# - **论文**：*Attention Is All You Need* 第 3.5 节。第 $i$ 对维度每步转 $10000^{-2i/D}$，正弦列与余弦列交替排列。
# - **作者的代码**：tensor2tensor（`get_timing_signal_1d`）。第 $i$ 对维度每步转 $10000^{-i/(D/2 - 1)}$，最后一对恰好达到 $10000^{-1}$；先排所有的正弦，再排所有的余弦。
# - **各个库**：fairseq 沿用了 tensor2tensor 的写法，M2M100 和 Speech2Text 也随之沿用；从 C++ 源码看，Marian 本身也是如此。transformers 的 Marian（`create_weight`）却用论文的频率，列序则同 tensor2tensor。
# - **tokpos** 三种都有，各有各的名字：[`tokpos.sinusoidal.SinusoidalEncoding`][] 是论文的写法，[这一课](lessons/sinusoidal.md#many-hands)讲的就是它；[`tokpos.sinusoidal_arrangements.ConcatenatedEncoding`][] 是 transformers 的 Marian 的写法；[`tokpos.sinusoidal_arrangements.Tensor2TensorEncoding`][] 是作者代码的写法。

# %%
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from tokpos import (
    frequencies,
    sinusoidal_concatenated,
    sinusoidal_table,
    tensor2tensor_frequencies,
    tensor2tensor_sinusoidal,
)

for name, turns in (
    ("the paper", frequencies(64)),
    ("tensor2tensor", tensor2tensor_frequencies(64)),
):
    print(f"{name:14}", *(f"{turns[i].item():.4e}" for i in (0, 1, 16, 31)))

# %% check=true
places = torch.arange(512)
marian = MarianSinusoidalPositionalEmbedding(512, 64).create_weight()
m2m = M2M100SinusoidalPositionalEmbedding.get_embedding(512, 64)
paper = sinusoidal_table(512, 64)

assert tensor2tensor_frequencies(64)[-1].item() == 1e-4
assert gap(sinusoidal_concatenated(places, 64), marian) < 6e-8
assert gap(tensor2tensor_sinusoidal(places, 64), m2m) < 1e-4
for other in (marian, m2m):
    assert 1.99 < gap(paper, other) <= 2

# %% [markdown] lang="en" role="claim"
# At $D = 64$ the last pair turns by {{ frequencies(64)[-1].item():.4e }} in the paper and by
# {{ tensor2tensor_frequencies(64)[-1].item():.4e }} in tensor2tensor. The table of transformers'
# Marian is the paper's in two halves, to 6 × 10⁻⁸. Read in the paper's order, this table and that
# of M2M100 are each off by up to {{ gap(paper, marian):.2f }}.

# %% [markdown] lang="zh" role="claim"
# $D = 64$ 时，最后一对维度每步转过的角度，论文里是 {{ frequencies(64)[-1].item():.4e }}，tensor2tensor 里是 {{ tensor2tensor_frequencies(64)[-1].item():.4e }}。transformers 的 Marian 的表就是把论文的各列重排，正弦全放前半，余弦全放后半，相差不超过 6 × 10⁻⁸。如果按论文的列序去读，这张表和 M2M100 的表误差都能达到 {{ gap(paper, marian):.2f }}。

# %% [markdown] lang="en"
# Width and length of the tables agree, so no shape tells them apart. Look at row 0: `0, 1, 0, 1`
# is the paper's order, `0, 0, ..., 1, 1` the other one. Then look at the last sine of row 1: at
# $D = 64$ the angle is so small that its sine is the frequency itself, to seven digits.

# %% [markdown] lang="zh"
# 这些表的长和宽都一样，看形状分不出来。先看第 0 行：`0, 1, 0, 1` 是论文的列序，`0, 0, ..., 1, 1` 是另一种。再看第 1 行最后一个正弦：$D = 64$ 时角度极小，它的正弦就等于频率本身，前七位有效数字都一样。

# %% [markdown] lang="en"
# ## Sinusoids: where counting starts, and a row of zeros {#fairseq}
#
# - **The paper** does not say which number the first token has, nor what padding gets.
# - **fairseq** (`SinusoidalPositionalEmbedding`) counts real tokens from `padding_idx + 1`, and
#   the row at `padding_idx` is zero.
# - **Libraries**: M2M100 and Speech2Text in transformers do the same. They also multiply position
#   and frequency in float32, which costs digits far out.
# - **tokpos** counts from 0 and treats no row in a special way: positions are an argument. For a
#   model of this kind pass what [`tokpos.roberta.roberta_positions`][] gives, and set the output
#   to zero at padding. Angles are float64.

# %% [markdown] lang="zh"
# ## 正弦位置编码：从几数起，还有一行零 {#fairseq}
#
# - **论文**没有说第一个词元的位置是几，也没有说填充处放什么。
# - **fairseq**（`SinusoidalPositionalEmbedding`）从 `padding_idx + 1` 开始数真实词元，第 `padding_idx` 行则全是零。
# - **各个库**：transformers 里的 M2M100 和 Speech2Text 也这样做；另外，位置与频率在 float32 下相乘，位置越远，丢的精度越多。
# - **tokpos** 从 0 数起，不特殊对待任何一行：位置由调用者传入。要配合这类模型，就传入 [`tokpos.roberta.roberta_positions`][] 的结果，再把填充处的输出置零。角度用 float64 计算。

# %%
from tokpos import roberta_positions

ids = torch.tensor([[5, 6, 7, 1]])  # 1 is padding
theirs = M2M100SinusoidalPositionalEmbedding(1024, 64, padding_idx=1)(ids)[0]
rows = roberta_positions(ids != 1, padding_idx=1)
ours = tensor2tensor_sinusoidal(rows, 64) * (ids != 1).unsqueeze(-1)
print("positions", rows.tolist())
print(theirs[:, :4])

# %% check=true
table = M2M100SinusoidalPositionalEmbedding.get_embedding(1026, 64, 1)
exact = tensor2tensor_sinusoidal(torch.arange(1026), 64, dtype=torch.float64)
rest = torch.arange(1026) != 1
error = gap(table[rest], exact[rest])
our_error = gap(tensor2tensor_sinusoidal(torch.arange(1026), 64), exact)

assert rows.tolist() == [[2, 3, 4, 1]] and not table[1].any()
assert gap(ours[0], theirs) < 1e-6
assert error > 1e-5 and our_error < 6e-8

# %% [markdown] lang="en" role="claim"
# With these positions and zeros at padding ours equals M2M100's to 10⁻⁶. Over its
# {{ len(table) }} rows, the row of padding apart, M2M100 is off from float64 by up to
# {{ error:.0e }}, ours by {{ our_error:.0e }}.

# %% [markdown] lang="zh" role="claim"
# 用这些位置，并在填充处置零，我们的结果与 M2M100 相差不超过 10⁻⁶。M2M100 的表有 {{ len(table) }} 行，除去填充那一行，与 float64 比较，它的误差最大为 {{ error:.0e }}，我们的为 {{ our_error:.0e }}。

# %% [markdown] lang="en"
# ## Learned positions: RoBERTa counts from the number after the padding ID {#roberta}
#
# - **The paper** says nothing of it.
# - **Its code**, fairseq (`make_positions`): real tokens get `padding_idx + 1` and up, padding gets
#   `padding_idx`.
# - **Libraries**: transformers does so from token IDs. From `inputs_embeds` it cannot see the
#   padding and counts every place, so with padding on the left every real token is shifted.
# - **tokpos**: [`tokpos.roberta.RobertaEmbeddings`][] does the same from IDs. From vectors it takes
#   the mask, and then both ways agree.

# %% [markdown] lang="zh"
# ## 可学习的位置：RoBERTa 从填充 ID 加 1 开始编号 {#roberta}
#
# - **论文**对此只字未提。
# - **作者的代码**：fairseq（`make_positions`）。真实词元从 `padding_idx + 1` 往上数，填充处一律是 `padding_idx`。
# - **各个库**：给词元 ID 时，transformers 也这样数。给 `inputs_embeds` 时它看不到哪里是填充，只好每处都数；填充在左边，真实词元就全部错位。
# - **tokpos**：给 ID 时，[`tokpos.roberta.RobertaEmbeddings`][] 的做法相同。给向量时可以传入掩码，这样无论给哪一种，结果都一致。

# %%
from transformers import RobertaConfig
from transformers.models.roberta import modeling_roberta as roberta

from tokpos import RobertaEmbeddings

config = RobertaConfig(
    vocab_size=20,
    hidden_size=8,
    max_position_embeddings=10,
    type_vocab_size=1,
)
theirs = roberta.RobertaEmbeddings(config).eval()
eps = config.layer_norm_eps
ours = RobertaEmbeddings(20, 8, max_positions=10, eps=eps).eval()
ours.load_state_dict(theirs.state_dict())

left_padded = torch.tensor([[1, 1, 0, 5, 6, 2]])
vectors = theirs.word_embeddings(left_padded)
by_ids = theirs.create_position_ids_from_input_ids(left_padded, 1)
by_place = theirs.create_position_ids_from_inputs_embeds(vectors, 1)
print("from IDs    ", by_ids[0].tolist())
print("from vectors", by_place[0].tolist())

# %% check=true


def fits(length):
    try:
        theirs(torch.full((1, length), 5))
    except (IndexError, RuntimeError):
        return False
    return True


real = left_padded != 1
blind = theirs(inputs_embeds=vectors)
assert torch.equal(ours(left_padded), theirs(left_padded))
assert torch.equal(ours.from_vectors(vectors, real), ours(left_padded))
assert torch.equal(ours.from_vectors(vectors), blind)
assert gap(blind[real], theirs(left_padded)[real]) > 0.1
assert ours.usable_length == 8 and fits(8) and not fits(9)

# %% [markdown] lang="en" role="claim"
# A table of {{ config.max_position_embeddings }} rows with padding ID 1 takes
# {{ ours.usable_length }} tokens and fails at {{ ours.usable_length + 1 }}. After left padding,
# transformers' two ways differ by up to {{ gap(blind[real], theirs(left_padded)[real]):.2f }} at
# real tokens. Ours equal each other and the first way, bit for bit.

# %% [markdown] lang="zh" role="claim"
# 填充 ID 为 1 时，{{ config.max_position_embeddings }} 行的表能容纳 {{ ours.usable_length }} 个词元，到 {{ ours.usable_length + 1 }} 个就出错。填充在左边时，同一批词元，以 ID 传入还是以向量传入，transformers 的结果在真实词元处最多相差 {{ gap(blind[real], theirs(left_padded)[real]):.2f }}。我们的两种结果逐位相等，也与 transformers 以 ID 传入的结果逐位相等。

# %% [markdown] lang="en"
# ## RoPE: neighbors or halves {#rope-layout}
#
# - **The paper**, *RoFormer*, equations 15 and 34: features $2i$ and $2i+1$ are a pair. Call this
#   layout *interleaved*.
# - **Its code** does so too; so do Meta's own Llama files, GPT-J, GLM-4, Cohere, DeepSeek-V2 and
#   V3.
# - **Libraries**: GPT-NeoX pairs features $i$ and $i + d/2$, *half-split*, and so does transformers
#   for Llama and most others: when it converts a checkpoint it reorders the rows of the weights.
# - **tokpos**: [`tokpos.rope.RotaryEncoding`][] has both. `layout` has no default, because nothing
#   can guess it. [`tokpos.rope_layout.convert_queries_and_keys`][] carries weights across.

# %% [markdown] lang="zh"
# ## RoPE：与邻居配对，还是与另一半配对 {#rope-layout}
#
# - **论文**：*RoFormer* 式 15 和式 34。第 $2i$ 维与第 $2i+1$ 维是一对，叫*相邻配对*。
# - **作者的代码**也是这样，Meta 原版的 Llama 文件、GPT-J、GLM-4、Cohere、DeepSeek-V2 和 V3 同样如此。
# - **各个库**：GPT-NeoX 把第 $i$ 维与第 $i + d/2$ 维配成一对，叫*前后半配对*。transformers 对 Llama 和大多数模型也这样配，转换检查点时，权重的行会重新排列。
# - **tokpos**：[`tokpos.rope.RotaryEncoding`][] 两种都有。`layout` 没有默认值，因为谁也猜不出来。[`tokpos.rope_layout.convert_queries_and_keys`][] 把权重从一种配对方式换到另一种。

# %%
from tokpos.figures import rope

rope.layouts()

# %% [markdown] lang="en" role="caption"
# The pairs of a head of width 8. The numbers in the cells are features of the interleaved layout;
# below they stand where the half-split layout wants them.

# %% [markdown] lang="zh" role="caption"
# 维度为 8 的头怎样配对。格子里的数字是相邻配对时的维度编号；下面一排是前后半配对时它们该放的位置。

# %%
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama

from tokpos import RotaryEncoding, convert_queries_and_keys, rotate, rotation

x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])  # one head, one token
turn = rotation(torch.tensor([1]), frequencies(4))
interleaved = rotate(x, turn, "interleaved")
halves = rotate(x, turn, "half-split")
print("interleaved", interleaved.flatten())
print("half-split ", halves.flatten())

# %% check=true
cos, sin = turn.cos[None], turn.sin[None]
twice = [torch.cat([part, part], dim=-1) for part in (cos, sin)]
by_llama, _ = llama.apply_rotary_pos_emb(x[None], x[None], *twice)
assert gap(halves, by_llama[0]) < 1e-6
assert gap(interleaved, gptj.apply_rotary_pos_emb(x[None], sin, cos)[0]) < 1e-6

tokens, where = torch.randn(5, 16).double(), torch.arange(5)
w_q, w_k = torch.randn(16, 16).double(), torch.randn(16, 16).double()


def heads(rows):
    return (tokens @ rows.T).unflatten(-1, (2, 8)).transpose(0, 1)


def scores(layout, w_q, w_k):
    q, k = heads(w_q), heads(w_k)
    q, k = RotaryEncoding(8, layout=layout)(q, k, where, where)
    return q @ k.mT


right = scores("interleaved", w_q, w_k)
mixed = scores("half-split", w_q, w_k)
way = {"source": "interleaved", "target": "half-split"}
moved = convert_queries_and_keys(w_q, w_k, 2, 2, 8, **way)
assert gap(right, mixed) > 1
assert gap(right, scores("half-split", *moved)) < 1e-12

# %% [markdown] lang="en" role="claim"
# The half-split turn is that of transformers' Llama, the interleaved one that of its GPT-J. Weights
# of one layout under the other change scores of a typical size of
# {{ right.abs().mean().item():.0f }} by up to {{ gap(right, mixed):.0f }}, with no error raised;
# after the conversion they agree to 10⁻¹².

# %% [markdown] lang="zh" role="claim"
# 前后半配对的结果与 transformers 的 Llama 一致，相邻配对的结果与它的 GPT-J 一致。把一种配对的权重用在另一种上，分数的绝对值平均只有 {{ right.abs().mean().item():.0f }}，却最多会差 {{ gap(right, mixed):.0f }}，而程序并不报错；转换之后，相差不超过 10⁻¹²。

# %% [markdown] lang="en"
# ## RoPE on a part of a head: three rules {#partial-rotation}
#
# - **The paper** turns the whole head.
# - **A small head of its own** (GPT-NeoX, Phi, StableLM; GPT-J and GLM-4 interleaved): the first
#   $r$ features turn, with the frequencies $\mathrm{base}^{-2i/r}$ of a head of width $r$.
# - **Proportional** (Gemma 4): the frequencies are those of the whole head,
#   $\mathrm{base}^{-2i/d}$, and the slow ones are set to 0. In the half-split layout the features
#   that stay are the ends of both halves.
# - **The last features** (DeepSeek-V2 and V3, interleaved): the head is split, and the second part
#   turns.
# - **tokpos** has the first as `rotary_width` and the second as `rope_type` "proportional" of
#   [`tokpos.rope.RotaryEncoding`][]. For the third, split the head and turn that part.

# %% [markdown] lang="zh"
# ## 只转一部分维度的 RoPE：三种规则 {#partial-rotation}
#
# - **论文**转动整个头。
# - **自成一个小头**（GPT-NeoX、Phi、StableLM；GPT-J 和 GLM-4 用相邻配对）：只转前 $r$ 维，频率 $\mathrm{base}^{-2i/r}$ 按维度为 $r$ 的头来算。
# - **按比例**（Gemma 4）：频率 $\mathrm{base}^{-2i/d}$ 仍按整个头来算，只是把慢的那些设为 0。前后半配对时，不转的是两半各自的末尾。
# - **最后几维**（DeepSeek-V2 和 V3，用相邻配对）：把头切开，只转后面那一段。
# - **tokpos**：第一种是 [`tokpos.rope.RotaryEncoding`][] 的 `rotary_width`，第二种是它的 `rope_type` "proportional"。要用第三种，就把头切开，只转那一段。

# %%
from transformers import AttentionInterface, DeepseekV3Config, GPTNeoXConfig, LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek
from transformers.models.gpt_neox import modeling_gpt_neox as neox

from tokpos import scaled_frequencies

head = torch.randn(1, 1, 9, 16)
nine = torch.arange(9)


def turned_features(before, after):
    return (before != after).any(dim=(0, 1, 2)).nonzero().flatten().tolist()


small = RotaryEncoding(16, layout="half-split", rotary_width=4)
rule = {"rope_type": "proportional", "partial_rotary_factor": 0.25}
gemma = RotaryEncoding(16, layout="half-split", scaling=rule)
for name, encode in (("small head  ", small), ("proportional", gemma)):
    after, _ = encode(head, head, nine, nine)
    print(name, "turns", turned_features(head, after))
    speeds = [round(f, 3) for f in encode.frequencies().tolist()]
    print(" " * 12, "frequencies", speeds)

# %% [markdown] lang="en"
# DeepSeek's rule is inside its attention layer. We replace the attention function by one that only
# records its queries, and ask which of their features depend on the positions.

# %% [markdown] lang="zh"
# DeepSeek 的规则写在注意力层里面。我们把注意力函数换成一个只记下查询的函数，看看查询的哪些维度随位置变化。

# %%
seen = []


def look(module, query, key, value, mask, **settings):
    seen.append(query)
    return value.transpose(1, 2), None


AttentionInterface.register("look", look)
config = DeepseekV3Config(
    hidden_size=32,
    num_attention_heads=2,
    num_key_value_heads=2,
    q_lora_rank=None,
    kv_lora_rank=8,
    qk_nope_head_dim=6,
    qk_rope_head_dim=4,
    v_head_dim=4,
    attn_implementation="look",
)
layer, hidden = deepseek.DeepseekV3Attention(config, 0), torch.randn(1, 9, 32)
angles = deepseek.DeepseekV3RotaryEmbedding(config)
for positions in (nine, nine + 5):
    with torch.no_grad():
        layer(hidden, angles(hidden, positions[None]), None)
print("DeepSeek-V3, width 10, turns", turned_features(*seen))

# %% check=true
neox_config = GPTNeoXConfig(hidden_size=16, num_attention_heads=1, rotary_pct=0.25)
table = neox.GPTNeoXRotaryEmbedding(neox_config)(head, nine[None])
theirs, _ = neox.apply_rotary_pos_emb(head, head, *table)
assert gap(small(head, head, nine, nine)[0], theirs) < 2e-6

gemma_config = LlamaConfig(
    hidden_size=16, num_attention_heads=1, rope_parameters={**rule, "rope_theta": 1e4}
)
theirs, _ = ROPE_INIT_FUNCTIONS["proportional"](gemma_config, "cpu")
assert gap(scaled_frequencies(16, scaling=rule).frequencies, theirs) < 1e-6

assert turned_features(head, small(head, head, nine, nine)[0]) == [0, 1, 2, 3]
assert turned_features(head, gemma(head, head, nine, nine)[0]) == [0, 1, 8, 9]
assert turned_features(*seen) == [6, 7, 8, 9]

# %% [markdown] lang="en" role="claim"
# The first rule equals transformers' GPT-NeoX, the second has the frequencies of transformers'
# "proportional", both to 2 × 10⁻⁶. A quarter of a head of width 16 is features 0 to 3 by the first
# and 0, 1, 8, 9 by the second; in DeepSeek-V3 the last
# {{ config.qk_rope_head_dim }} of {{ config.qk_nope_head_dim + config.qk_rope_head_dim }} turn.

# %% [markdown] lang="zh" role="claim"
# 第一种与 transformers 的 GPT-NeoX 一致，第二种的频率与 transformers 的 "proportional" 一致，误差都不超过 2 × 10⁻⁶。头的维度为 16、转四分之一时，第一种转第 0 到 3 维，第二种转第 0、1、8、9 维；DeepSeek-V3 里，{{ config.qk_nope_head_dim + config.qk_rope_head_dim }} 维中转的是最后 {{ config.qk_rope_head_dim }} 维。

# %% [markdown] lang="en"
# ## RoPE in bfloat16: the frequencies are rounded with the model {#rope-bfloat16}
#
# - **The paper** says nothing about number formats.
# - **Libraries**: transformers multiplies position and frequency in float32, also in a bfloat16
#   model. But the frequencies are a buffer, and `.to(torch.bfloat16)` rounds it. A
#   model *loaded* with `dtype=torch.bfloat16` keeps them in float32, so the same weights behave
#   in two ways.
# - **tokpos** derives the frequencies in float64 at each use and stores nothing that could be
#   rounded.

# %% [markdown] lang="zh"
# ## bfloat16 下的 RoPE：频率跟着模型一起被舍入 {#rope-bfloat16}
#
# - **论文**不谈数据类型。
# - **各个库**：即使模型是 bfloat16，transformers 也用 float32 计算位置与频率之积。可是频率是模块的缓冲区（buffer），`.to(torch.bfloat16)` 会把它一起舍入。若用 `dtype=torch.bfloat16` *加载*模型，频率则仍是 float32，于是同一份权重有两种行为。
# - **tokpos** 每次用到频率时都用 float64 重新推算，不存任何会被舍入的东西。

# %%
from transformers import LlamaModel

place = torch.tensor([2000])
right = torch.outer(place.double(), frequencies(64)).cos()
config = LlamaConfig(hidden_size=128, num_attention_heads=2)
rope_table = llama.LlamaRotaryEmbedding(config)
anything = torch.zeros(1, dtype=torch.bfloat16)


def cosines(table):
    cos, _ = table(anything, place[None])
    return cos[0, :, :32]


before = gap(cosines(rope_table), right)
after = gap(cosines(rope_table.to(torch.bfloat16)), right)
ours = gap(rotation(place, frequencies(64), dtype=torch.bfloat16).cos, right)
print(f"largest error of a cosine at position {place.item()}")
print(f"transformers, model in bfloat16, buffer float32   {before:.4f}")
print(f"transformers, after .to(torch.bfloat16)           {after:.4f}")
print(f"tokpos                                            {ours:.4f}")

# %% check=true
import tempfile

tiny = LlamaConfig(
    vocab_size=9,
    hidden_size=8,
    intermediate_size=8,
    num_hidden_layers=1,
    num_attention_heads=1,
)
with tempfile.TemporaryDirectory() as folder:
    LlamaModel(tiny).save_pretrained(folder)
    loaded = LlamaModel.from_pretrained(folder, dtype=torch.bfloat16)
assert loaded.dtype == torch.bfloat16
assert loaded.rotary_emb.inv_freq.dtype == torch.float32
assert LlamaModel(tiny).to(torch.bfloat16).rotary_emb.inv_freq.dtype == torch.bfloat16

assert 0.35 < after < 0.36
assert before <= 2**-9 + 1e-4 and ours <= 2**-9

encode = RotaryEncoding(64, layout="half-split")
ones = torch.ones(1, 1, 64).bfloat16()
turned, _ = encode(ones, ones, place, place)
again, _ = encode.to(torch.bfloat16)(ones, ones, place, place)
assert torch.equal(turned, again)

# %% [markdown] lang="en" role="claim"
# After `.to(torch.bfloat16)` transformers' Llama has bfloat16 frequencies, and a cosine of its
# table is off by {{ after:.3f }} at position {{ place.item() }}; a model loaded in bfloat16 keeps
# float32 frequencies. Ours is off by no more than the rounding of the finished cosine, 2⁻⁹, and
# `.to` changes nothing.

# %% [markdown] lang="zh" role="claim"
# `.to(torch.bfloat16)` 之后，transformers 的 Llama 的频率也成了 bfloat16，在位置 {{ place.item() }}，它的表里余弦最多差 {{ after:.3f }}；以 bfloat16 加载的模型则保留 float32 频率。我们的误差不超过余弦算完后的那一次舍入，即 2⁻⁹，`.to` 也不改变结果。

# %% [markdown] lang="en"
# ## YaRN: a ramp over turns or over pairs {#yarn}
#
# - **The paper** (arXiv v2), section 3.2: a pair that turns $r$ times within the trained length
#   keeps the share $\gamma = (r - \alpha)/(\beta - \alpha)$ of its frequency, clipped to
#   $[0, 1]$, and takes the rest from the slowed one. For Llama $\alpha = 1$ and $\beta = 32$. The
#   ramp is linear in the *turns*.
# - **Its code** finds the two pairs that turn 32 times and once, rounds them outward to whole
#   pairs, and draws a line between them. The ramp is linear in the *pair's number*, and the number
#   of turns falls exponentially with it.
# - **Libraries**: transformers follows the code. `truncate=False` leaves out the rounding.
# - **tokpos** follows the code, as transformers does: `rope_type` "yarn" of
#   [`tokpos.rope_scaling.scaled_frequencies`][]. Llama 3's rule is the paper's ramp, with other
#   limits.

# %% [markdown] lang="zh"
# ## YaRN：按圈数过渡，还是按第几对过渡 {#yarn}
#
# - **论文**（arXiv v2）第 3.2 节：在训练长度内转 $r$ 圈的一对维度，保留原频率的份额是 $\gamma = (r - \alpha)/(\beta - \alpha)$（截断到 $[0, 1]$），其余取自放慢后的频率。对 Llama，$\alpha = 1$，$\beta = 32$。份额随*圈数*线性变化。
# - **作者的代码**先找出转 32 圈和转 1 圈的是哪两对，把编号向外取整，再在两者之间连一条直线。份额随对的*编号*线性变化，而圈数随编号按指数下降。
# - **各个库**：transformers 的算法与作者的代码相同，设 `truncate=False` 则不取整。
# - **tokpos** 的算法也与作者的代码相同，和 transformers 一样：[`tokpos.rope_scaling.scaled_frequencies`][] 的 `rope_type` "yarn"。Llama 3 反而像论文那样按圈数过渡，只是两端不同。

# %%
width, trained, factor = 128, 4096, 8.0
yarn = {
    "rope_type": "yarn",
    "factor": factor,
    "original_max_position_embeddings": trained,
}
theta = frequencies(width)

ours = scaled_frequencies(width, scaling=yarn).frequencies
turns = trained * theta / (2 * math.pi)
kept = ((turns - 1) / (32 - 1)).clamp(0, 1)
by_the_paper = kept * theta + (1 - kept) * theta / factor

print("how many times a pair is slowed")
print("pair   turns   by the paper   by the code")
for i in (15, 20, 25, 30, 35, 40, 45, 50):
    paper, code = (theta[i] / each[i] for each in (by_the_paper, ours))
    print(f"{i:4}  {turns[i]:6.1f}   {paper:12.2f}   {code:11.2f}")

# %% check=true
config = LlamaConfig(
    hidden_size=width,
    num_attention_heads=1,
    max_position_embeddings=int(factor) * trained,
    rope_parameters={**yarn, "rope_theta": 1e4},
)
theirs, _ = ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
ratio = ours / by_the_paper
apart = (ratio - 1).abs() > 1e-6

assert (ours / theirs - 1).abs().max() < 1e-6
assert ratio.max() > 2 and 0.9 < ratio.min() < 1

# %% [markdown] lang="en" role="claim"
# Ours are transformers' frequencies to 10⁻⁶. The paper's differ in {{ apart.sum().item() }} of the
# {{ len(theta) }} pairs, most in pair {{ ratio.argmax().item() }}, which by the code turns
# {{ ratio.max().item():.2f }} times as fast.

# %% [markdown] lang="zh" role="claim"
# 我们的频率与 transformers 相差不超过 10⁻⁶。{{ len(theta) }} 对维度中有 {{ apart.sum().item() }} 对与论文不同，差得最多的是第 {{ ratio.argmax().item() }} 对：按作者的代码，它的频率是论文的 {{ ratio.max().item():.2f }} 倍。

# %% [markdown] lang="en"
# ## Dynamic NTK: transformers remembers the long text {#dynamic-ntk}
#
# - **The source** is a post, not a paper. YaRN's section 3.3 describes it: in every forward pass
#   the base is multiplied by $s^{d/(d-2)}$ with $s = \max(1, L/L_0)$, $d$ the width of the head,
#   $L$ the length of the text and $L_0$ that of the training.
# - **Libraries**: in transformers $L_0$ is `max_position_embeddings`, and with a `factor` $f$
#   it is $s = f L/L_0 - (f - 1)$, which for $f = 1$ is the formula above. transformers keeps the
#   changed frequencies for later, shorter texts, and resets them only below $L_0$: at exactly
#   $L_0$ those of the long text stay.
# - **tokpos** has the libraries' formula as a pure function of the length; nothing is remembered.

# %% [markdown] lang="zh"
# ## 动态 NTK：transformers 记住了长文本 {#dynamic-ntk}
#
# - **出处**是一篇帖子，不是论文。YaRN 第 3.3 节描述了它：每次前向传播都从原来的底数算起，按当时的文本长度乘以 $s^{d/(d-2)}$，其中 $s = \max(1, L/L_0)$，$d$ 是头的维度，$L$ 是文本长度，$L_0$ 是训练长度。
# - **各个库**：在 transformers 里，$L_0$ 是 `max_position_embeddings`；它多了一个 `factor`，记作 $f$，取 $s = f L/L_0 - (f - 1)$，$f = 1$ 时两者相同。改过的频率会留给之后较短的文本，只有长度小于 $L_0$ 才复位：恰好等于 $L_0$ 时，用的仍是旧频率。
# - **tokpos** 用的是库的公式，写成长度的纯函数，什么都不记。

# %%
rule = {"rope_type": "dynamic", "factor": 2.0}
trained = {"original_max_position_embeddings": 16}
config = LlamaConfig(
    hidden_size=8,
    num_attention_heads=1,
    max_position_embeddings=16,
    rope_parameters={**rule, "rope_theta": 1e4},
)
dynamic = llama.LlamaRotaryEmbedding(config)

second_pair = {}
for step, length in enumerate((16, 64, 17, 16, 15)):
    dynamic(torch.zeros(1), torch.arange(length)[None])
    own = scaled_frequencies(8, scaling={**rule, **trained}, length=length)
    pair = dynamic.inv_freq[1].item(), own.frequencies[1].item()
    second_pair[step] = pair
    print(f"length {length}   transformers {pair[0]:.4f}   tokpos {pair[1]:.4f}")

# %% check=true
theirs, ours = zip(*second_pair.values(), strict=True)
assert all(math.isclose(theirs[i], ours[i], rel_tol=1e-5) for i in (0, 1, 4))
assert theirs[1] == theirs[2] == theirs[3]
assert ours[3] == ours[0] > ours[2]

# %% [markdown] lang="en" role="claim"
# With $L_0 = 16$: after a text of 64 tokens transformers turns texts of 17 and of 16 with the
# frequencies of 64, and returns to the original ones only at 15. Before the long text both agree.

# %% [markdown] lang="zh" role="claim"
# $L_0 = 16$ 时，处理过一段 64 个词元的文本之后，transformers 遇到 17 个和 16 个词元的文本，用的仍是 64 个词元时的频率；短到 15 个词元，才换回原来的频率。处理长文本之前，两者一致。

# %% [markdown] lang="en"
# ## RoPE on several axes: who gets the fast pairs {#axes}
#
# - **Qwen2-VL** gives time, height and width a block of pairs each, so time has all the fast ones.
# - **Qwen3-VL** lets the axes take turns; what is left goes to time.
# - **Pixtral** has two axes and deals the frequencies out like cards, one block for each axis.
#   Qwen2-VL's image part repeats the same frequencies for both.
# - **tokpos** writes this down as a plan: [`tokpos.rope_axes.section_plan`][] and
#   [`tokpos.rope_axes.axial_plan`][].

# %% [markdown] lang="zh"
# ## 多个轴上的 RoPE：转得快的几对归谁 {#axes}
#
# - **Qwen2-VL** 给时间、高、宽各分连续的几对维度，于是转得快的都归时间。
# - **Qwen3-VL** 让三个轴轮流取，剩下的归时间。
# - **Pixtral** 只有两个轴，频率像发牌一样轮流分给它们，每个轴分到的几对再排成一段。Qwen2-VL 的图像部分则让两个轴用同一组频率。
# - **tokpos** 把分法写成一份计划：[`tokpos.rope_axes.section_plan`][] 和 [`tokpos.rope_axes.axial_plan`][]。

# %%
from transformers import Qwen2VLConfig, Qwen3VLConfig
from transformers.models.pixtral import modeling_pixtral as pixtral
from transformers.models.pixtral.configuration_pixtral import PixtralVisionConfig
from transformers.models.qwen2_vl import modeling_qwen2_vl as qwen2
from transformers.models.qwen3_vl import modeling_qwen3_vl as qwen3

from tokpos import (
    MultiAxisRotaryEncoding,
    axial_plan,
    grid_positions,
    section_plan,
)

blocks = section_plan([4, 2, 2], interleaved=False)
turns = section_plan([4, 2, 2], interleaved=True)
dealt = axial_plan(16, spacing="dealt")
print("pair      ", *range(8))
for name, plan, letters in (
    ("Qwen2-VL", blocks, "thw"),
    ("Qwen3-VL", turns, "thw"),
    ("Pixtral", dealt, "hw"),
):
    print(f"{name:10}", *(letters[axis] for axis in plan.axis_of_pair))
speeds = [round(f, 4) for f in dealt.frequencies.tolist()]
print("Pixtral's frequencies", speeds)

# %% check=true
video, image = grid_positions(3, 2, 2), grid_positions(3, 4)
x = torch.randn(1, 1, 12, 16)


def turned(plan, positions):
    encode = MultiAxisRotaryEncoding(16, plan, layout="half-split")
    return encode(x, x, positions, positions)[0]


for plan, config, table in (
    (blocks, Qwen2VLConfig().text_config, qwen2.Qwen2VLRotaryEmbedding),
    (turns, Qwen3VLConfig().text_config, qwen3.Qwen3VLTextRotaryEmbedding),
):
    config.hidden_size, config.num_attention_heads, config.head_dim = 16, 1, 16
    config.rope_parameters = {
        "rope_type": "default",
        "rope_theta": 1e4,
        "mrope_section": [4, 2, 2],
    }
    angles = table(config)(x, video[:, None])
    theirs, _ = qwen2.apply_rotary_pos_emb(x, x, *angles)
    assert gap(turned(plan, video), theirs) < 3e-6

config = PixtralVisionConfig(hidden_size=16, num_attention_heads=1)
angles = pixtral.PixtralVisionRotaryEmbedding(config)(x, image[None])
theirs, _ = pixtral.apply_rotary_pos_emb(x, x, *angles)
assert gap(turned(dealt, image), theirs) < 3e-6

# %% [markdown] lang="en" role="claim"
# Queries turned by each of the three plans equal those of transformers' Qwen2-VL, Qwen3-VL and
# Pixtral to 3 × 10⁻⁶, on a grid of {{ video.shape[1] }} cells.

# %% [markdown] lang="zh" role="claim"
# 在 {{ video.shape[1] }} 格的网格上，按三份计划转动的查询，分别与 transformers 的 Qwen2-VL、Qwen3-VL 和 Pixtral 一致，误差不超过 3 × 10⁻⁶。

# %% [markdown] lang="en"
# ## ALiBi: the order of the slopes, and where the bias is added {#alibi}
#
# - **The paper**, section 3: for any number $H$ of heads the slopes are a geometric series that
#   starts at $2^{-8/H}$, and its ratio is the same number. Minus slope times distance is added
#   after the division by $\sqrt d$ (footnote 10).
# - **Its code** (`get_slopes`) keeps to that for powers of two alone. Otherwise it takes the slopes
#   of the power below, then every second one of the power above: for 12 heads all of 8 heads, then
#   numbers 1, 3, 5 and 7 of 16. There paper and code contradict each other.
# - **Libraries**: Bloom adds slope times *key position* in place of minus slope times
#   distance, MPT slope times the offset from the *last* key. In each row this adds only
#   a constant, which softmax cancels: compare weights, not scores. Falcon computes the
#   bias in bfloat16, slopes and positions rounded as well, whatever the model's type,
#   and its attention *layer* divides it by $\sqrt d$ together with the scores.
# - **tokpos**: [`tokpos.alibi.alibi_slopes`][] is `get_slopes`; [`tokpos.alibi.Alibi`][] is the
#   paper's bias in float32, outside the division.

# %% [markdown] lang="zh"
# ## ALiBi：斜率的顺序，偏置的位置 {#alibi}
#
# - **论文**第 3 节：不论头数 $H$ 是多少，斜率都是一个等比数列，首项是 $2^{-8/H}$，公比也是这个数；偏置是负的斜率乘距离，在除以 $\sqrt d$ 之后相加（脚注 10）。
# - **作者的代码**（`get_slopes`）只有头数是 2 的幂时才照此计算。其他头数，则先取不超过头数的最大的 2 的幂所对应的全部斜率，再从下一个 2 的幂的那一组里隔一个取一个，补足为止：12 个头先用 8 个头的全部斜率，再用 16 个头的第 1、3、5、7 个。在这里，论文与代码互相矛盾。
# - **各个库**：Bloom 加的是斜率乘*键的位置*，MPT 加的是斜率乘相对*末尾*键的偏移。与论文相比，每一行都多一个常数，softmax 会把它消去：要比就比注意力权重，不要比分数。Falcon 不管模型是什么类型，都用 bfloat16 来算偏置，斜率和位置也先舍入，它的注意力*层*还让偏置和分数一起除以 $\sqrt d$。
# - **tokpos**：[`tokpos.alibi.alibi_slopes`][] 就是 `get_slopes`；[`tokpos.alibi.Alibi`][] 是论文的偏置，用 float32，在除法之外。

# %%
from tokpos.figures import alibi

alibi.slopes_of_heads()

# %% [markdown] lang="en" role="caption"
# The slopes of 8 heads and of 12. The last four diamonds start again from the top: they are every
# second slope of 16 heads.

# %% [markdown] lang="zh" role="caption"
# 8 个头和 12 个头的斜率。最后四个菱形从上面重新开始：它们是 16 个头的斜率里隔一个取一个得来的。

# %%
from transformers import FalconConfig
from transformers.models.bloom import modeling_bloom as bloom
from transformers.models.falcon import modeling_falcon as falcon
from transformers.models.mpt import modeling_mpt as mpt

from tokpos import alibi_bias, alibi_slopes

slopes = alibi_slopes(12)
by_the_paper = torch.exp2(-8 * torch.arange(1, 13) / 12)
print("by the code  ", [round(m, 3) for m in slopes.tolist()])
print("by the paper ", [round(m, 3) for m in by_the_paper.tolist()])

# %% check=true
nine = torch.arange(9)
hidden = torch.full((9, 9), -math.inf).triu(1)
bias = alibi_bias(nine, nine, slopes)
theirs = bloom.build_alibi_tensor(torch.ones(1, 9), 12, torch.float32)
from_the_last = mpt.build_mpt_alibi_tensor(12, 9)  # both [12, 1, 9]

assert torch.equal(slopes[:8], alibi_slopes(8))
assert torch.equal(slopes[8:], alibi_slopes(16)[:8:2])
assert gap(slopes, by_the_paper) > 0.4 and slopes[8] > slopes[7]
for other in (theirs, from_the_last):
    assert gap(bias, other.expand(12, 9, 9)) > 1
    right, weights = ((b + hidden).softmax(-1) for b in (bias, other))
    assert gap(weights, right) < 1e-6

# %% [markdown] lang="en" role="claim"
# The last four slopes of 12 heads by the code are numbers 1, 3, 5 and 7 of 16; the paper's series
# differs from the code's list by up to {{ gap(slopes, by_the_paper):.2f }}. With the same slopes,
# Bloom's bias differs from minus slope times distance by up to
# {{ gap(bias, theirs.expand(12, 9, 9)):.1f }} within nine positions; after the softmax Bloom, MPT
# and that bias agree to 10⁻⁶.

# %% [markdown] lang="zh" role="claim"
# 按作者的代码，12 个头的最后四个斜率是 16 个头的第 1、3、5、7 个；论文的等比数列与它最多差 {{ gap(slopes, by_the_paper):.2f }}。斜率相同时，在九个位置之内，Bloom 的偏置与负的斜率乘距离最多差 {{ gap(bias, theirs.expand(12, 9, 9)):.1f }}；经过 softmax 之后，Bloom、MPT 与它相差都不超过 10⁻⁶。

# %%
far = torch.arange(2048)
real = torch.ones(1, 2048).long()
rounded = falcon.build_alibi_tensor(real, 12, torch.float32)[:, 0]
exact = slopes[:, None] * far
steepest = rounded[8]  # the head with the largest slope
print("the bias at keys 1024 to 1031")
for name, row in (("Falcon     ", steepest), ("not rounded", exact[8])):
    print(name, *(f"{b:.1f}" for b in row[1024:1032].tolist()))

# %% check=true
config = FalconConfig(
    hidden_size=64,
    num_attention_heads=4,
    alibi=True,
    multi_query=False,
    new_decoder_architecture=False,
    attn_implementation="eager",
)
layer, x = falcon.FalconAttention(config, 0).eval(), torch.randn(1, 9, 64)
few = falcon.build_alibi_tensor(torch.ones(1, 9).long(), 4, torch.float32)
with torch.no_grad():
    _, weights = layer(x, few, hidden[None, None], output_attentions=True)
    q, k, _ = layer._split_heads(layer.query_key_value(x))
products = q.transpose(1, 2) @ k.transpose(1, 2).mT
bias = alibi_bias(nine, nine, alibi_slopes(4))
root = 4  # of the head width, 16
inside = ((products + bias) / root + hidden).softmax(-1)
outside = (products / root + bias + hidden).softmax(-1)

assert gap(weights, inside) < 1e-6 and gap(weights, outside) > 0.05
assert steepest.unique().numel() < 1000 and gap(rounded, exact) > 4

# %% [markdown] lang="en" role="claim"
# Over 2,048 keys the steepest of Falcon's 12 heads has {{ steepest.unique().numel() }} different
# biases, and the largest error is {{ gap(rounded, exact):.1f }}. The weights of its attention layer
# equal those of a bias inside the division to 10⁻⁶; outside they would differ by up to
# {{ gap(weights, outside):.2f }}.

# %% [markdown] lang="zh" role="claim"
# 在 2,048 个键上，Falcon 的 12 个头里最陡的那个只有 {{ steepest.unique().numel() }} 种不同的偏置，最大误差为 {{ gap(rounded, exact):.1f }}。它的注意力层算出的权重，与“偏置在除法之内”的结果相差不超过 10⁻⁶；若放在除法之外，最多会差 {{ gap(weights, outside):.2f }}。

# %% [markdown] lang="en"
# ## T5: whole numbers decide the bucket {#t5}
#
# - **The paper**, section 2.1: a relative position bias of 32 numbers for each head, for ranges of
#   offsets that get wider with distance (the bucket number grows with the logarithm), up to 128. It
#   does not say how many offsets have a bucket of their own.
# - **Its code**, Mesh TensorFlow (`_relative_position_bucket`): half of the buckets of a direction
#   hold one offset each. To the right of the query the bucket is 16 more than to the left. Offset
#   0 counts as left, so bucket 16, "right, at distance 0", is never used and its row never
#   trained.
# - **Libraries**: transformers takes the logarithm in float32, whatever the model's
#   type. A port that takes it in the model's own bfloat16 moves some offsets into a
#   neighboring bucket.
# - **tokpos**: [`tokpos.t5.t5_buckets`][] takes no logarithm and compares whole numbers. With T5's
#   32 buckets up to 128 it equals transformers at every offset.

# %% [markdown] lang="zh"
# ## T5：用整数决定进哪个桶 {#t5}
#
# - **论文**第 2.1 节：相对位置偏置（relative position bias）每个头有 32 个数，各管一段偏移，越远的段越宽（段的编号随距离的对数增长），到 128 为止。有多少个偏移各占一个桶，论文没有说。
# - **作者的代码**：Mesh TensorFlow（`_relative_position_bucket`）。每个方向有一半的桶只装一个偏移。键在查询右边时，桶号比在左边大 16。偏移 0 算左边，所以 16 号桶，即“右边、距离 0”，从来用不到，那一行也就从来不被训练。
# - **各个库**：不管模型是什么类型，transformers 都用 float32 取对数。如果移植时用模型自己的 bfloat16 取对数，就有一些偏移会落进隔壁的桶。
# - **tokpos**：[`tokpos.t5.t5_buckets`][] 不取对数，只比较整数；按 T5 的设置，即 32 个桶、到 128 为止，在每个偏移上都与 transformers 相等。

# %%
from transformers.models.t5.modeling_t5 import T5Attention

from tokpos import t5_buckets

offset = torch.arange(-1000, 1001)
buckets = t5_buckets(offset)


def by_logarithm(offset, dtype):
    distance = offset.abs()
    share = torch.log(distance.clamp(min=1).to(dtype) / 8) / math.log(128 / 8)
    far = (8 + (share * 8).long()).clamp(max=15)
    return torch.where(distance < 8, distance, far) + 16 * (offset > 0)


moved = offset[by_logarithm(offset, torch.bfloat16) != buckets]
print("in another bucket by a bfloat16 logarithm:", moved.tolist())
sizes = torch.bincount(buckets, minlength=32)
print("offsets in buckets 14 to 18:", sizes[14:19].tolist())

# %% check=true
for both_ways in (True, False):
    theirs = T5Attention._relative_position_bucket(offset, both_ways)
    assert torch.equal(t5_buckets(offset, bidirectional=both_ways), theirs)
unused = sorted(set(range(32)) - set(buckets.tolist()))
causal = t5_buckets(offset, bidirectional=False)
assert unused == [16] and set(causal.tolist()) == set(range(32))
assert torch.equal(by_logarithm(offset, torch.float32), buckets)
assert len(moved) > 0

# %% [markdown] lang="en" role="claim"
# Ours are transformers' buckets at all {{ f"{len(offset):,}" }} offsets, both ways and causal. Both
# ways, bucket {{ unused[0] }} alone stays empty; causal, none does. A float32 logarithm moves no
# offset, a bfloat16 one {{ len(moved) }}.

# %% [markdown] lang="zh" role="claim"
# 在全部 {{ f"{len(offset):,}" }} 个偏移上，无论双向还是因果，我们的桶都与 transformers 相同。双向时只有 {{ unused[0] }} 号桶是空的，因果时没有空桶。用 float32 取对数不会错位，用 bfloat16 则有 {{ len(moved) }} 个偏移错位。

# %% [markdown] lang="en"
# T5 has one more peculiarity: it does not divide by $\sqrt d$ at all. To get this from
# [`tokpos.attention.Attention`][], pass `scale=1.0`.

# %% [markdown] lang="zh"
# T5 还有一个特别之处：它根本不除以 $\sqrt d$。[`tokpos.attention.Attention`][] 设 `scale=1.0` 就与它一样。

# %%
from transformers import T5Config

from tokpos import Attention
from tokpos.t5 import T5Bias

config = T5Config(d_model=32, d_kv=8, num_heads=4, attn_implementation="eager")
peer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
encoding = T5Bias.from_table(peer.relative_attention_bias.weight.detach())
layer = Attention(32, 4, encoding, scale=1.0, bias=False)
for name in ("query", "key", "value", "output"):
    theirs = getattr(peer, name[0])
    getattr(layer, name).load_state_dict(theirs.state_dict())

# %% check=true
x = torch.randn(1, 7, 32)
with torch.no_grad():
    theirs = peer.eval()(x)[0]
    undivided = gap(layer(x), theirs)
    layer.scale = None  # 1 over the root of d
    divided = gap(layer(x), theirs)
assert undivided < 1e-4 < divided

# %% [markdown] lang="en" role="claim"
# Not divided by $\sqrt d$, our layer with T5's weights equals transformers' to 10⁻⁴; divided, it is
# off by {{ divided:.1g }}.

# %% [markdown] lang="zh" role="claim"
# 不除以 $\sqrt d$ 时，装入 T5 权重的这一层与 transformers 相差不超过 10⁻⁴；除以它，就相差 {{ divided:.1g }}。

# %% [markdown] lang="en"
# ## Shaw: one clip or two {#shaw}
#
# - **The paper**, section 3.2: offsets are clipped to $-k \dots k$, the same $k$ on both sides, with
#   vectors for keys and for values.
# - **Libraries**: Wav2Vec2-BERT in transformers clips at 64 to the left and 8 to the right, and has
#   vectors for keys alone.
# - **tokpos**: [`tokpos.shaw.ShawEncoding`][] has the paper's one $k$, and value vectors where
#   `values=True`. A table with two limits fits after its last row is repeated.

# %% [markdown] lang="zh"
# ## Shaw：一个界限，还是两个 {#shaw}
#
# - **论文**第 3.2 节：偏移截断到 $-k \dots k$，两边用同一个 $k$，键和值各有一套向量。
# - **各个库**：transformers 里的 Wav2Vec2-BERT 左边截到 64，右边截到 8，只有键的向量。
# - **tokpos**：[`tokpos.shaw.ShawEncoding`][] 用论文的单一 $k$，设 `values=True` 就有值的向量。两边界限不同的表，把最后一行重复若干次就能装进来。

# %%
from transformers import Wav2Vec2BertConfig
from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as speech

from tokpos import ShawEncoding

config = Wav2Vec2BertConfig(
    hidden_size=32, num_attention_heads=4, position_embeddings_type="relative_key"
)
peer = speech.Wav2Vec2BertSelfAttention(config)
table = peer.distance_embedding.weight.detach()
left = config.left_max_position_embeddings
right = config.right_max_position_embeddings
encode = ShawEncoding(8, clip=left)
repeated = table[-1:].expand(left - right, 8)
encode.load_state_dict({"key_vectors": torch.cat([table, repeated])})
print(f"{len(table)} rows: {left} to the left, 0, {right} to the right")

# %% check=true
q, place = torch.randn(1, 4, 150, 8), torch.arange(150)
with torch.no_grad():
    _, theirs = speech._apply_relative_key_position_encoding(peer, q, q)
    ours = encode.into_scores(q, place, place).inside / math.sqrt(8)
assert gap(ours, theirs) < 3e-6
for row, limit in ((theirs[0, 0, 0], right), (theirs[0, 0, -1].flip(0), left)):
    assert (row[limit:] == row[limit]).all()  # by distance, from 0
    assert row[limit - 1] != row[limit]

# %% [markdown] lang="en" role="claim"
# In Wav2Vec2-BERT all keys from {{ right }} to the right on get one term, and all from {{ left }}
# to the left on another. With the last row repeated, ours equals it to 3 × 10⁻⁶.

# %% [markdown] lang="zh" role="claim"
# 在 Wav2Vec2-BERT 里，右边从距离 {{ right }} 起，各个键加上同一项；左边从距离 {{ left }} 起，各个键加上另一项。把最后一行重复之后，我们的结果与它相差不超过 3 × 10⁻⁶。

# %% [markdown] lang="en"
# ## Transformer-XL: the sinusoid in two halves {#transformer-xl}
#
# - **The paper**, section 3.3, takes the sinusoid $R$ of *Attention Is All You Need*, where sine
#   and cosine alternate.
# - **Its code** puts all sines first, with the paper's frequencies: the arrangement of
#   transformers' Marian.
# - **Libraries**: XLNet does the same. transformers no longer has Transformer-XL.
# - **tokpos** follows the code in [`tokpos.transformer_xl.TransformerXLEncoding`][]: the columns of
#   the learned $W_{k,R}$ (`r_net`) are in that order. A checkpoint's numbers fit as they stand;
#   name and shape of the weight differ.

# %% [markdown] lang="zh"
# ## Transformer-XL：分成两半的正弦 {#transformer-xl}
#
# - **论文**第 3.3 节沿用 *Attention Is All You Need* 的正弦编码 $R$，正弦与余弦交替排列。
# - **作者的代码**把所有的正弦排在前面，频率同论文，也就是 transformers 的 Marian 的排法。
# - **各个库**：XLNet 也是如此。transformers 已经不再提供 Transformer-XL。
# - **tokpos** 的 [`tokpos.transformer_xl.TransformerXLEncoding`][] 与作者的代码顺序相同，因为学到的 $W_{k,R}$（`r_net`）各列就按这个顺序。检查点里的数不必重排，但权重的名字和形状不同。

# %%
from transformers import XLNetConfig, XLNetModel

from tokpos.sinusoidal import sinusoidal

config = XLNetConfig(vocab_size=9, d_model=8, n_layer=1, n_head=2, d_inner=8)
theirs = XLNetModel(config).relative_positional_encoding(3, 3, bsz=1)[:, 0]
distance = torch.arange(3, -3, -1)
print("distance", distance.tolist())
print(theirs[2])

# %% check=true
halves = sinusoidal_concatenated(distance, 8)
alternating = sinusoidal(distance, 8)
assert gap(halves, theirs) < 1e-6 < 0.5 < gap(alternating, theirs)

# %% [markdown] lang="en" role="claim"
# XLNet's encoding of the distances 3 to −2 is the concatenated one to 10⁻⁶; from the paper's order
# it differs by up to {{ gap(alternating, theirs):.2f }}.

# %% [markdown] lang="zh" role="claim"
# 对距离 3 到 −2，XLNet 的编码与两半排列的编码相差不超过 10⁻⁶，与论文的列序最多差 {{ gap(alternating, theirs):.2f }}。

# %% [markdown] lang="en"
# ## Tokenizers: several Unicodes in one library {#unicode}
#
# - **BERT's own code** puts spaces around Chinese characters, extension E (U+2B820 to U+2CEAF)
#   included, and asks Python what counts as punctuation, so the answer depends on the Unicode
#   version of that Python.
# - **Libraries**: `tokenizers` starts extension E at U+2B920, so 256 characters get no space and
#   stick to their neighbors. It knows punctuation as of Unicode 8, lower case as of Unicode 17. The
#   slow `BasicTokenizer` in transformers keeps BERT's own rule.
# - **tokpos**: [`tokpos.wordpiece.WordPiece`][] does as `tokenizers` does, because published
#   vocabularies are used through it: here on the samples below, in
#   `tests/library/test_wordpiece.py` on every character.

# %% [markdown] lang="zh"
# ## 分词器：一个库里有几种 Unicode {#unicode}
#
# - **BERT 自己的代码**在汉字两边加空格，包括扩展 E 区（U+2B820 到 U+2CEAF）；哪些是标点则问 Python，Python 带的是哪一版 Unicode 就是哪一版。
# - **各个库**：`tokenizers` 的扩展 E 区从 U+2B920 才开始，有 256 个字两边没有空格，会和旁边的字粘在一起。它认识的标点截至 Unicode 8，小写截至 Unicode 17。transformers 里较慢的 `BasicTokenizer` 用的仍是 BERT 自己的规则。
# - **tokpos**：[`tokpos.wordpiece.WordPiece`][] 的结果与 `tokenizers` 相同，因为公开的词表（vocabulary）都是配合它使用的。本页用下面的例子检验，`tests/library/test_wordpiece.py` 则检验每一个字符。

# %%
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from transformers.models.bert.tokenization_bert_legacy import BasicTokenizer

from tokpos.wordpiece import place as placed
from tokpos.wordpiece import space_cjk

spaces = BertNormalizer(lowercase=False, strip_accents=False, clean_text=False)
old = BasicTokenizer()
extensions = [chr(code) for code in range(0x2A700, 0x2CEB0)]
stuck = [c for c in extensions if spaces.normalize_str(c) == c]
ours = [c for c in extensions if len(space_cjk(placed(c))) == 1]
first, last = (f"U+{ord(c):X}" for c in (stuck[0], stuck[-1]))
print(f"no spaces: {first} to {last}, {len(stuck)} characters")

small = BertNormalizer(lowercase=True, strip_accents=False)
split = BertPreTokenizer().pre_tokenize_str
dash, comma, capital = "\u2e43", "\U0001da87", "\ua7ce"
for name, mark in (("a dash of Unicode 9:", dash), ("a comma of Unicode 8:", comma)):
    print(name, ascii([word for word, _ in split(f"a{mark}b")]))
print("a capital of Unicode 17:", ascii(small.normalize_str(capital)))

# %% check=true
assert [ord(c) for c in stuck] == list(range(0x2B820, 0x2B920))
assert ours == stuck
assert all(old._is_chinese_char(ord(c)) for c in extensions)
assert len(split(f"a{dash}b")) == 1 and len(split(f"a{comma}b")) == 3
assert small.normalize_str(capital) == "\ua7cf"

# %% [markdown] lang="en" role="claim"
# Among {{ f"{len(extensions):,}" }} code points of the extensions C to E, `tokenizers` leaves
# {{ len(stuck) }} without spaces; `tokpos` leaves the same ones, BERT's own rule none. Of the three
# characters tried, the dash of Unicode 9 does not split a word, the comma of Unicode 8 does, and
# the capital of Unicode 17 gets its small letter.

# %% [markdown] lang="zh" role="claim"
# 在扩展 C 区到 E 区的 {{ f"{len(extensions):,}" }} 个码位里，`tokenizers` 有 {{ len(stuck) }} 个不加空格；`tokpos` 不加空格的也正是这些；按 BERT 自己的规则，每个字两边都会加空格。另试了三个字符：Unicode 9 的破折号没有把词切开，Unicode 8 的逗号切开了，Unicode 17 的大写字母转成了小写。

# %% [markdown] lang="en"
# ## When a port does not agree {#what-to-do}
#
# 1. Compare the table or the bias alone before any weights: one row, in float64.
# 2. Compare row 0 and row 1: row 0 shows the order, row 1 the frequencies. The output for the first
#    token shows where counting starts.
# 3. Compare attention weights and not scores: a constant added to a row makes no difference.
# 4. Try left padding, then one token at a time with a cache. A wrong position shows there first.
# 5. Last, try positions beyond 2,000, and then bfloat16.

# %% [markdown] lang="zh"
# ## 移植结果对不上时 {#what-to-do}
#
# 1. 先不管权重，只比表或偏置：取一行，用 float64 比。
# 2. 比第 0 行和第 1 行：第 0 行看得出列序，第 1 行看得出频率。起点要看第一个词元的输出。
# 3. 比注意力权重，不要比分数：整行多出同一个常数，不算不同。
# 4. 试试左侧填充，再试带缓存、一次一个词元。位置错了，最先在这里暴露。
# 5. 最后才测远处的位置，例如 2,000 以外，再换成 bfloat16。
