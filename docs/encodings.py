# %% [markdown] lang="en"
# # All encodings in one table
#
# The seven position encodings of this site, side by side. RoPE has a row for each of its two
# layouts, and the first row is a model without any encoding. Everything in the table but the last
# column is measured on the modules of `tokpos`.

# %% [markdown] lang="zh"
# # 一张表看完所有位置编码
#
# 让 Transformer 知道词元（token）在哪儿，本站讲了七种位置编码（position encoding），这里放在一起比较。RoPE 的两种配对方式各占一行，第一行是什么都不用。表中除了最后一列，都是在 `tokpos` 的模块上实际量出来的。

# %% hide=true
import torch

from tokpos import (
    Alibi,
    Attention,
    LearnedEncoding,
    PositionEncoding,
    RotaryEncoding,
    ShawEncoding,
    SinusoidalEncoding,
    T5Bias,
)
from tokpos.transformer_xl import TransformerXLEncoding

D, H, S, L = 512, 8, 128, 512
d = D // H
encodings = {
    "none": PositionEncoding(),
    "sinusoidal": SinusoidalEncoding(D),
    "learned": LearnedEncoding(L, D),
    "shaw": ShawEncoding(d, 16),
    "transformer_xl": TransformerXLEncoding(H, d),
    "t5": T5Bias(H, 32, 128, bidirectional=False),
    "rope": RotaryEncoding(d, layout="half-split"),
    "rope_interleaved": RotaryEncoding(d, layout="interleaved"),
    "alibi": Alibi(H),
}
generator = torch.Generator().manual_seed(0)
with torch.no_grad():  # as after training: no parameter is zero
    for encoding in encodings.values():
        for parameter in encoding.parameters():
            parameter.normal_(std=0.5, generator=generator)

# %% hide=true
from torch.utils._python_dispatch import TorchDispatchMode


class Written(TorchDispatchMode):
    """Counts the numbers that operations write; a view writes none."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        mine = {a.untyped_storage().data_ptr() for a in args if isinstance(a, torch.Tensor)}
        for tensor in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() not in mine:
                self.numbers += tensor.numel() * (2 if tensor.is_complex() else 1)
        return made


x = torch.randn(1, S, D, generator=generator)
positions = torch.arange(S)


def doors(encoding):
    """The doors that an encoding overrides."""
    names = ("into_input", "into_queries_and_keys", "into_scores")
    return [
        number
        for number, name in enumerate(names, 1)
        if getattr(type(encoding), name) is not getattr(PositionEncoding, name)
    ]


@torch.no_grad()
def written(encoding):
    """Numbers that one sentence makes the encoding write, in the input and in one layer."""
    q = torch.randn(1, H, S, d, generator=generator)
    with Written() as counter:
        encoding.into_input(x, positions)
        encoding.into_queries_and_keys(q, q, positions, positions)
        encoding.into_scores(q, positions, positions)
    return counter.numbers


@torch.no_grad()
def moved(encoding, by=7):
    """How far the output of a layer moves when all positions are later by `by`."""
    torch.manual_seed(0)
    layer = Attention(D, H, encoding, causal=True).double()
    for projection in layer.parameters():
        projection.mul_(5) if projection.dim() > 1 else None
    encoding.double()
    short, where = x[:, :16].double(), positions[:16]
    outputs = [layer(encoding.into_input(short, p), p) for p in (where, where + by)]
    encoding.float()
    return (outputs[0] - outputs[1]).abs().max().item()


@torch.no_grad()
def end(encoding, far=1_000_000):
    """Whether there is a position that it cannot encode, at any of the doors."""
    q, there, start = torch.zeros(1, H, 1, d), torch.tensor([far]), torch.tensor([0])
    try:
        encoding.into_input(x[:, :1], there)
        encoding.into_queries_and_keys(q, q, there, start)
        encoding.into_scores(q, there, start)
        return False
    except IndexError:
        return True


measured = {
    name: {
        "doors": doors(encoding),
        "parameters": sum(p.numel() for p in encoding.parameters()),
        "written": written(encoding) / (S * D),
        "moved": moved(encoding),
        "end": end(encoding),
    }
    for name, encoding in encodings.items()
}

# %% hide=true
parameters, written = (
    {name: row[what] for name, row in measured.items()} for what in ("parameters", "written")
)

# %% [markdown] lang="en"
# | Encoding | Acts on | Parameters | Numbers written | Sees | Ends | Used by |
# |---|---|---|---|---|---|---|
# | none | nothing | {{ parameters["none"] }} | {{ written["none"]:.1f }} | — | — | — |
# | [sinusoidal](lessons/sinusoidal.md) | input | {{ parameters["sinusoidal"] }} | {{ written["sinusoidal"]:.1f }} | place | — | Transformer (2017) |
# | [learned](lessons/learned.md) | input | {{ parameters["learned"] }} | {{ written["learned"]:.1f }} | place | {{ L }} positions | BERT, GPT-2, OPT |
# | [Shaw](lessons/relative.md#shaw) | scores | {{ parameters["shaw"] }} | {{ written["shaw"]:.1f }} | offset | — | Music Transformer |
# | [Transformer-XL](lessons/relative.md#transformer-xl) | q and k, scores | {{ parameters["transformer_xl"] }} | {{ written["transformer_xl"]:.1f }} | offset | — | Transformer-XL, XLNet |
# | [T5](lessons/relative.md#t5) | scores | {{ parameters["t5"] }} | {{ written["t5"]:.1f }} | offset | — | T5, Flan-T5, mT5 |
# | [RoPE](lessons/rope.md), half-split | q and k | {{ parameters["rope"] }} | {{ written["rope"]:.1f }} | offset | — | Llama (transformers), Qwen, Gemma |
# | [RoPE](lessons/rope.md), interleaved | q and k | {{ parameters["rope_interleaved"] }} | {{ written["rope_interleaved"]:.1f }} | offset | — | GPT-J, Llama (Meta) |
# | [ALiBi](lessons/alibi.md) | scores | {{ parameters["alibi"] }} | {{ written["alibi"]:.1f }} | offset | — | BLOOM, MPT |
#
# The model width is $D$ = {{ D }}, with {{ H }} heads of {{ d }} and sentences of $S$ = {{ S }};
# the learned table has {{ L }} rows, Shaw clips at 16, T5 has 32 buckets.
#
# ## What the columns say {#columns}
#
# - **Acts on.** The door through which the position enters: the token vectors, the queries and
#   keys, or the attention scores.
# - **Parameters.** Parameters of one encoding. Some models share one encoding between all layers
#   (T5). The papers of Shaw and Transformer-XL give each layer its own, except for
#   Transformer-XL's $u$ and $v$, which all layers share.
# - **Numbers written.** How many numbers its operations write to memory for one sentence, those
#   in between included, in units of the sentence's own $S \cdot D$ numbers. What acts on the
#   input is written once per model. The rest is counted for one layer; a model can share some of
#   it between layers (RoPE's cosines and sines, T5's bias).
# - **Sees.** All positions were moved by 7. If the output of the layer moved too, the encoding
#   sees the place; if not, it sees only the offset between two tokens.
# - **Ends.** Whether position 1,000,000 raises an error and, if so, how many positions there are.
#   That a formula accepts it does not mean that a model trained on short texts can use it.
# - **Used by.** Models that were published with it.

# %% [markdown] lang="zh"
# | 位置编码 | 作用处 | 参数 | 写出的数 | 看到的 | 有无尽头 | 采用者 |
# |---|---|---|---|---|---|---|
# | 不用 | 无 | {{ parameters["none"] }} | {{ written["none"]:.1f }} | — | — | — |
# | [正弦](lessons/sinusoidal.md) | 输入 | {{ parameters["sinusoidal"] }} | {{ written["sinusoidal"]:.1f }} | 绝对位置 | — | Transformer（2017） |
# | [可学习](lessons/learned.md) | 输入 | {{ parameters["learned"] }} | {{ written["learned"]:.1f }} | 绝对位置 | {{ L }} 个位置 | BERT、GPT-2、OPT |
# | [Shaw](lessons/relative.md#shaw) | 分数 | {{ parameters["shaw"] }} | {{ written["shaw"]:.1f }} | 偏移 | — | Music Transformer |
# | [Transformer-XL](lessons/relative.md#transformer-xl) | q 和 k、分数 | {{ parameters["transformer_xl"] }} | {{ written["transformer_xl"]:.1f }} | 偏移 | — | Transformer-XL、XLNet |
# | [T5](lessons/relative.md#t5) | 分数 | {{ parameters["t5"] }} | {{ written["t5"]:.1f }} | 偏移 | — | T5、Flan-T5、mT5 |
# | [RoPE](lessons/rope.md)，前后半配对 | q 和 k | {{ parameters["rope"] }} | {{ written["rope"]:.1f }} | 偏移 | — | Llama（transformers）、Qwen、Gemma |
# | [RoPE](lessons/rope.md)，相邻配对 | q 和 k | {{ parameters["rope_interleaved"] }} | {{ written["rope_interleaved"]:.1f }} | 偏移 | — | GPT-J、Llama（Meta） |
# | [ALiBi（带线性偏置的注意力）](lessons/alibi.md) | 分数 | {{ parameters["alibi"] }} | {{ written["alibi"]:.1f }} | 偏移 | — | BLOOM、MPT |
#
# 模型维度 $D$ = {{ D }}，{{ H }} 个头，每个头 {{ d }} 维，句子长度 $S$ = {{ S }}；可学习的表有 {{ L }} 行，Shaw 在 16 处截断，T5 有 32 个桶。
#
# ## 各列的意思 {#columns}
#
# - **作用处。**位置从哪扇门进来：词元向量、查询和键，还是注意力分数。
# - **参数。**一份位置编码的参数量。有的模型各层共用一份（例如 T5），有的每层一份：Shaw 和 Transformer-XL 的论文里是每层一份，不过 Transformer-XL 的 $u$ 和 $v$ 各层共用。
# - **写出的数。**处理一句话时，位置编码的各步运算一共往内存里写了多少个数，中间结果也算，以这句话本身的 $S \cdot D$ 个数为单位。作用于输入的，整个模型只写一次；其余的按一层算，各层可以共用的部分（例如 RoPE 的余弦和正弦、T5 的偏置），整个模型也可以只写一次。
# - **看到的。**把所有位置都往后移 7。注意力层的输出变了，说明看到的是绝对位置；没变，说明只看到两个词元之间的偏移。
# - **有无尽头。**位置 1,000,000 是否报错；报错的，写明一共有多少个位置。公式能算，不等于只用短文本训练过的模型也能用。
# - **采用者。**发布时就用这种编码的模型。

# %% check=true
assert [name for name, row in measured.items() if row["moved"] > 1e-6] == ["sinusoidal", "learned"]
assert [name for name, row in measured.items() if row["end"]] == ["learned"]
assert measured["none"]["written"] == 0
INPUT, QUERIES_AND_KEYS, SCORES = 1, 2, 3
assert {name: row["doors"] for name, row in measured.items()} == {
    "none": [],
    "sinusoidal": [INPUT],
    "learned": [INPUT],
    "shaw": [SCORES],
    "transformer_xl": [QUERIES_AND_KEYS, SCORES],
    "t5": [SCORES],
    "rope": [QUERIES_AND_KEYS],
    "rope_interleaved": [QUERIES_AND_KEYS],
    "alibi": [SCORES],
}

# %% [markdown] lang="en" role="claim"
# Each encoding acts where the table says. Only the two that are added to the input see the place
# itself, and only the learned table has an end.

# %% [markdown] lang="zh" role="claim"
# 各种编码的作用处与表中所写一致。只有加到输入上的两种看得到绝对位置；只有可学习的表有尽头。

# %% [markdown] lang="en"
# [The last lesson](lessons/choosing.md) is about choosing among them, with an experiment.

# %% [markdown] lang="zh"
# 怎样选择，以及用它们各训练一遍的实验，见[最后一课](lessons/choosing.md)。
