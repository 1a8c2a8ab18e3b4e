# %% [markdown] lang="en"
# # A museum of real faults
#
# Every fault in this museum comes from a public report or change. Such faults arise
# where tokens, tables and positions become a program, and most of them gave no error at
# all.
#
# Each page takes one fault apart: what was reported and where, the smallest input that
# shows it, the wrong value beside the right one, why there was no error, and a short
# test that passes on the right way and fails on the wrong one. The wrong code is a short
# reconstruction for teaching. Follow the links to see what the projects wrote and
# whether they fixed it. All values are computed in this build.

# %% [markdown] lang="zh"
# # 真实错误博物馆
#
# 馆里的每个错误，都来自公开的报告或改动。它们都出在把词元（token）、嵌入（embedding）表和位置写成程序的地方，而且大多没有任何报错。
#
# 每一页拆解一个错误：谁在哪里报告了什么，能看出问题的最小输入，错误的值与正确的值并排放，为什么没有报错，以及一个短小的测试——正确的做法能通过，错误的做法通不过。错误的做法是为了讲解重新写的几行代码；各项目原来的代码、后来怎样改正，请看链接。所有的数都在本次构建中算出。

# %% [markdown] lang="en"
# ## How to use it {#use}
#
# When a port does not reproduce its model, read down the second column: it says what
# comes out instead. When you write such code yourself, copy the tests. Each is a few
# lines long and needs neither weights nor a GPU.
#
# What many of these faults have in common is worth more than any one of them:
#
# - **The shapes fit.** Broadcasting makes them fit:
#   [one segment ID](faults/segment_ids.md),
#   [a table cut by the batch](faults/sequence_first.md). Look at the values, with inputs of
#   zeros or ones.
# - **The first case is right.** Position 0, the prompt, a short input:
#   [a missing offset](faults/cache_offset.md),
#   [a doubled exponent](faults/factor_two.md). Test the second case.
# - **The model learns all the same.** Training adapts to many wrong tables, so a falling
#   loss proves nothing. Compare with a formula.
# - **The default was somebody else's.** [An epsilon](faults/layer_norm_eps.md),
#   [a layout](faults/mixed_layouts.md), [a tidied text](faults/cleanup.md). Write down
#   what the weights were trained with.

# %% [markdown] lang="zh"
# ## 怎样使用 {#use}
#
# 移植的代码复现不出原来的模型时，请顺着第二列找：那里写着“实际得到的是什么”。自己写这样的代码时，不妨把测试拿去用；每个只有几行，不需要权重，也不需要 GPU。
#
# 这些错误的共同之处，比任何一个错误本身都更值得记住：
#
# - **形状对得上**，那是广播（broadcasting）让它对上的：[一个词元类型 ID（token type ID）](faults/segment_ids.md)、[按批量截的表](faults/sequence_first.md)。要看值：输入全 0 或全 1。
# - **第一种情形是对的**，例如位置 0、提示词、短输入：[从 0 数起的解码](faults/cache_offset.md)、[乘了两遍的指数](faults/factor_two.md)。要测第二种情形。
# - **模型照样能学**：许多错表，模型也能将就着学，所以损失在降，说明不了什么。要与公式比。
# - **默认值是别人的**：[epsilon](faults/layer_norm_eps.md)、[配对方式](faults/mixed_layouts.md)、[整理过的文本](faults/cleanup.md)。要记下权重是用什么设置训练的。

# %% [markdown] lang="en"
# ## From text to IDs {#text}
#
# | Fault | What comes out instead | Where it was reported |
# |---|---|---|
# | [Decoding that tidies the text](faults/cleanup.md) | `x != y` comes back as `x!= y` | [huggingface/transformers#44914](https://github.com/huggingface/transformers/pull/44914) |
# | [A newline deleted as a control character](faults/fused_words.md) | `notebook` for two words, one on each line | [dotnet/machinelearning#7724](https://github.com/dotnet/machinelearning/issues/7724) |
# | [A vocabulary renumbered at every restart](faults/renumbered_vocabulary.md) | words fetch the rows of other words | [yandexdataschool/Practical_RL#383](https://github.com/yandexdataschool/Practical_RL/pull/383) |

# %% [markdown] lang="zh"
# ## 从文本到 ID {#text}
#
# | 错误 | 实际得到的 | 在哪里报告 |
# |---|---|---|
# | [解码时顺手整理文本](faults/cleanup.md) | `x != y` 解码成 `x!= y` | [huggingface/transformers#44914](https://github.com/huggingface/transformers/pull/44914) |
# | [把换行当控制字符删掉](faults/fused_words.md) | 分两行写的两个词成了 `notebook` | [dotnet/machinelearning#7724](https://github.com/dotnet/machinelearning/issues/7724) |
# | [每次启动都重新编号的词表（vocabulary）](faults/renumbered_vocabulary.md) | 词取到别的词的行 | [yandexdataschool/Practical_RL#383](https://github.com/yandexdataschool/Practical_RL/pull/383) |

# %% [markdown] lang="en"
# ## Tables that learn {#tables}
#
# | Fault | What comes out instead | Where it was reported |
# |---|---|---|
# | [A padding row that is not zero](faults/padding_row.md) | a mean that depends on the padding | [pytorch/pytorch#6411](https://github.com/pytorch/pytorch/issues/6411) |
# | [Adam and rows that are not in the batch](faults/adam_moves_rows.md) | rows move without a gradient | [pytorch/pytorch#18404](https://github.com/pytorch/pytorch/issues/18404) |
# | [Rows frozen by a zero gradient](faults/frozen_rows.md) | they decay toward zero | [huggingface/diffusers#1009](https://github.com/huggingface/diffusers/issues/1009) |
# | [Loading with `assign=True`](faults/lost_tie.md) | logits of the old head | [pytorch/pytorch#188346](https://github.com/pytorch/pytorch/issues/188346) |
# | [A deep copy of two parameters over one storage](faults/deepcopy.md) | two matrices in place of one | [pytorch/pytorch#79788](https://github.com/pytorch/pytorch/issues/79788) |

# %% [markdown] lang="zh"
# ## 要训练的表 {#tables}
#
# | 错误 | 实际得到的 | 在哪里报告 |
# |---|---|---|
# | [不是零的填充行](faults/padding_row.md) | 平均值随填充的多少而变 | [pytorch/pytorch#6411](https://github.com/pytorch/pytorch/issues/6411) |
# | [Adam 与不在批量里的行](faults/adam_moves_rows.md) | 没有梯度的行也在动 | [pytorch/pytorch#18404](https://github.com/pytorch/pytorch/issues/18404) |
# | [用零梯度冻结的行](faults/frozen_rows.md) | 一点点往零衰减 | [huggingface/diffusers#1009](https://github.com/huggingface/diffusers/issues/1009) |
# | [用 `assign=True` 加载](faults/lost_tie.md) | 旧的语言模型头（LM head）给出的分数 | [pytorch/pytorch#188346](https://github.com/pytorch/pytorch/issues/188346) |
# | [深拷贝共用一块存储的两个参数](faults/deepcopy.md) | 一个矩阵变成两个 | [pytorch/pytorch#79788](https://github.com/pytorch/pytorch/issues/79788) |

# %% [markdown] lang="en"
# ## BERT's layer, shapes and broadcasting {#bert}
#
# | Fault | What comes out instead | Where it was reported |
# |---|---|---|
# | [One segment ID for all tokens](faults/segment_ids.md) | a pair read as one text | [Hanlard/Bert-for-WebQA#2](https://github.com/Hanlard/Bert-for-WebQA/issues/2) |
# | [The wrong epsilon](faults/layer_norm_eps.md) | rows of small numbers shrink | [keras-team/keras-hub#642](https://github.com/keras-team/keras-hub/issues/642) |
# | [A sequence-first table cut by the batch](faults/sequence_first.md) | the row of the sample's number | [songyangco/GETNext#2](https://github.com/songyangco/GETNext/issues/2) |
# | [`[S, 1, D]` added to one sample](faults/broadcast_square.md) | S samples | [KasperGroesLudvigsen/influenza_transformer#9](https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9) |

# %% [markdown] lang="zh"
# ## BERT 的嵌入层、形状与广播 {#bert}
#
# | 错误 | 实际得到的 | 在哪里报告 |
# |---|---|---|
# | [所有词元共用一个词元类型 ID](faults/segment_ids.md) | 两段文本被读成一段 | [Hanlard/Bert-for-WebQA#2](https://github.com/Hanlard/Bert-for-WebQA/issues/2) |
# | [用错的 epsilon](faults/layer_norm_eps.md) | 数很小的行被缩小 | [keras-team/keras-hub#642](https://github.com/keras-team/keras-hub/issues/642) |
# | [按批量去截序列在前的表](faults/sequence_first.md) | 样本的编号 | [songyangco/GETNext#2](https://github.com/songyangco/GETNext/issues/2) |
# | [把 `[S, 1, D]` 加到一个样本上](faults/broadcast_square.md) | S 个样本 | [KasperGroesLudvigsen/influenza_transformer#9](https://github.com/KasperGroesLudvigsen/influenza_transformer/issues/9) |

# %% [markdown] lang="en"
# ## Sinusoidal positions {#sinusoidal}
#
# | Fault | What comes out instead | Where it was reported |
# |---|---|---|
# | [The factor 2 of the exponent, twice](faults/factor_two.md) | sine and cosine of two different angles | [SamLynnEvans/Transformer#25](https://github.com/SamLynnEvans/Transformer/issues/25) |
# | [`//` where parentheses were meant](faults/floor_division.md) | pairs that stand still | [zju3dv/LoFTR#41](https://github.com/zju3dv/LoFTR/issues/41) |

# %% [markdown] lang="zh"
# ## 正弦位置编码 {#sinusoidal}
#
# | 错误 | 实际得到的 | 在哪里报告 |
# |---|---|---|
# | [指数里的 2 乘了两次](faults/factor_two.md) | 两个角度的正弦和余弦 | [SamLynnEvans/Transformer#25](https://github.com/SamLynnEvans/Transformer/issues/25) |
# | [`//` 少了一对括号](faults/floor_division.md) | 一动不动的数对 | [zju3dv/LoFTR#41](https://github.com/zju3dv/LoFTR/issues/41) |

# %% [markdown] lang="en"
# ## RoPE and decoding {#rope}
#
# | Fault | What comes out instead | Where it was reported |
# |---|---|---|
# | [Weights for the other layout](faults/mixed_layouts.md) | scores wrong off the diagonal | [Dao-AILab/flash-attention#288](https://github.com/Dao-AILab/flash-attention/issues/288) |
# | [Angles in bfloat16](faults/bf16_angles.md) | 256 and 257 are one position | [EleutherAI/gpt-neox#1003](https://github.com/EleutherAI/gpt-neox/issues/1003) |
# | [Positions that count the padding](faults/left_padding.md) | a result that depends on the batch | [huggingface/transformers#22161](https://github.com/huggingface/transformers/issues/22161) |
# | [A decoding step without its offset](faults/cache_offset.md) | each new token at position 0 | [Blaizzy/mlx-vlm#1983](https://github.com/Blaizzy/mlx-vlm/issues/1983) |
# | [Heads where the sequence should stand](faults/wrong_axis.md) | an angle for each head, none for the place | [facebookresearch/xformers#841](https://github.com/facebookresearch/xformers/issues/841) |
# | [Dynamic NTK that remembers](faults/dynamic_ntk.md) | the base of the long input, for short ones too | [huggingface/transformers#25306](https://github.com/huggingface/transformers/issues/25306) |
# | [YaRN's attention factor](faults/yarn_factor.md) | the factor's square, or the default where the file says otherwise | [sgl-project/sglang#33558](https://github.com/sgl-project/sglang/pull/33558) |

# %% [markdown] lang="zh"
# ## RoPE 与解码 {#rope}
#
# | 错误 | 实际得到的 | 在哪里报告 |
# |---|---|---|
# | [权重属于另一种配对](faults/mixed_layouts.md) | 对角线以外的分数都不对 | [Dao-AILab/flash-attention#288](https://github.com/Dao-AILab/flash-attention/issues/288) |
# | [用 bfloat16 算角度](faults/bf16_angles.md) | 256 和 257 成了同一个位置 | [EleutherAI/gpt-neox#1003](https://github.com/EleutherAI/gpt-neox/issues/1003) |
# | [把填充也数进位置里](faults/left_padding.md) | 换一个批量，结果就不同 | [huggingface/transformers#22161](https://github.com/huggingface/transformers/issues/22161) |
# | [解码时位置又从 0 数起](faults/cache_offset.md) | 每个新词元都在位置 0 | [Blaizzy/mlx-vlm#1983](https://github.com/Blaizzy/mlx-vlm/issues/1983) |
# | [本该是序列的轴放了注意力头](faults/wrong_axis.md) | 转多少看是第几个头，不看位置 | [facebookresearch/xformers#841](https://github.com/facebookresearch/xformers/issues/841) |
# | [有记忆的动态 NTK](faults/dynamic_ntk.md) | 短输入也用上长输入的底数 | [huggingface/transformers#25306](https://github.com/huggingface/transformers/issues/25306) |
# | [YaRN 的注意力因子](faults/yarn_factor.md) | 因子的平方，或者不管文件怎么写都用默认值 | [sgl-project/sglang#33558](https://github.com/sgl-project/sglang/pull/33558) |

# %% [markdown] lang="en"
# ## Relative positions {#relative}
#
# | Fault | What comes out instead | Where it was reported |
# |---|---|---|
# | [ALiBi with twelve heads](faults/alibi_slopes.md) | slopes of another series | [ml-explore/mlx#343](https://github.com/ml-explore/mlx/issues/343) |
# | [T5's offset, query minus key](faults/t5_direction.md) | all of the past in one bucket | [dmlc/gluon-nlp#1470](https://github.com/dmlc/gluon-nlp/pull/1470) |
# | [Transformer-XL's shift, wrong row dropped](faults/xl_shift.md) | scores of other queries | [labmlai/annotated_deep_learning_paper_implementations#185](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/185) |

# %% [markdown] lang="zh"
# ## 相对位置 {#relative}
#
# | 错误 | 实际得到的 | 在哪里报告 |
# |---|---|---|
# | [十二个注意力头的 ALiBi（带线性偏置的注意力）](faults/alibi_slopes.md) | 另一个数列的斜率 | [ml-explore/mlx#343](https://github.com/ml-explore/mlx/issues/343) |
# | [T5 的偏移用查询减键](faults/t5_direction.md) | 过去的位置全落进一个桶 | [dmlc/gluon-nlp#1470](https://github.com/dmlc/gluon-nlp/pull/1470) |
# | [Transformer-XL 的移位丢错了行](faults/xl_shift.md) | 别的查询的分数 | [labmlai/annotated_deep_learning_paper_implementations#185](https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/185) |

# %% hide=true
import re
from collections import Counter
from pathlib import Path

listed = []
for page in Path("docs").glob("museum.py"):  # a notebook by itself has no such file
    text = page.read_text(encoding="utf-8")
    listed = re.findall(r"^# \| \[.+?\]\(faults/(\w+)\.md\)", text, re.MULTILINE)

# %% check=true hide=true
for folder in Path("docs").glob("faults"):
    files = sorted(file.stem for file in folder.glob("*.py"))
    assert set(listed) == set(files)
    assert len(set(Counter(listed).values())) == 1  # each once in each language

# %% [markdown] lang="en" role="claim"
# The museum has {{ len(set(listed)) }} pages, and each of them is listed in the tables.

# %% [markdown] lang="zh" role="claim"
# 馆里共有 {{ len(set(listed)) }} 页，每一页都在表中。
