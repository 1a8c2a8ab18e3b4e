# %% [markdown] lang="en"
# # One segment ID for all tokens
#
# A script for question answering wanted 0 for the question and 1 for the evidence. But
# it looped over `range(len(ids))`, and `ids` was a batch: a list that held one list of
# IDs. So there was a single segment ID, and every token got it:
# [Hanlard/Bert-for-WebQA#2](https://github.com/Hanlard/Bert-for-WebQA/issues/2).

# %% [markdown] lang="zh"
# # 所有词元共用一个词元类型 ID
#
# 一个问答脚本想给问题标 0、给证据标 1，循环写的是 `range(len(ids))`，而 `ids` 是一个批量：外层列表里只有一个元素，就是那串 ID。于是只得到一个词元类型 ID（token type ID），分给了所有的词元（token）：[Hanlard/Bert-for-WebQA#2](https://github.com/Hanlard/Bert-for-WebQA/issues/2)。

# %%
import torch
from torch import nn

from tokpos import bert_base_uncased

pair = bert_base_uncased().encode("What is your name?", "My name is BERT.")
print(pair.tokens)
ids = [pair.ids]  # one sample of a batch
first_sep = pair.tokens.index("[SEP]")

# %% [markdown] lang="en"
# The wrong line, and the right one. A `[SEP]` belongs to the text in front of it: the
# first to the question, the last to the evidence.

# %% [markdown] lang="zh"
# 先是错的一行，再是对的一行。`[SEP]` 归它前面的那段文本：第一个属于问题，最后一个属于证据。

# %%
wrong = [0 if place <= first_sep else 1 for place in range(len(ids))]
right = [0 if place <= first_sep else 1 for place in range(len(ids[0]))]
print("wrong:", wrong)
print("right:", right)

# %% [markdown] lang="en"
# Now take the rows from the segment table and add them to the rows of the tokens.

# %% [markdown] lang="zh"
# 从片段嵌入（segment embedding）的表里取出行来，加到词元的行上。

# %%
torch.manual_seed(0)
tokens, segments = torch.zeros(1, len(pair), 4), nn.Embedding(2, 4)


def added(segment_ids):
    return tokens + segments(torch.tensor(segment_ids))


for name, segment_ids in (("wrong", wrong), ("right", right)):
    rows = added(segment_ids)[0]
    of_b = torch.isclose(rows, segments.weight[1]).all(-1).sum().item()
    print(name, list(added(segment_ids).shape), "rows of segment 1:", of_b)

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# Broadcasting spreads a single row over all places, so the shape of the sum is right. And
# zeros alone are a valid input: to the model the pair is one long text.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 只有一行，广播（broadcasting）会把它铺到所有位置上，所以相加结果的形状是对的。类型全是 0，本来也是合法的输入：在模型看来，两段文本就是一段长文本。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# There must be as many segment IDs as token IDs, and as many ones as the second text has
# tokens, its `[SEP]` included.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 类型 ID 必须与词元 ID 一样多，其中 1 的个数必须等于第二段文本的词元数（它的 `[SEP]` 也算在内）。


# %%
def marks_the_second_text(segment_ids):
    second = len(bert_base_uncased().split("My name is BERT.")) + 1
    return len(segment_ids) == len(pair) and sum(segment_ids) == second


# %% check=true
assert marks_the_second_text(right)
assert marks_the_second_text(pair.type_ids) and pair.type_ids == right
assert not marks_the_second_text(wrong)
assert added(wrong).shape == added(right).shape
assert (right.count(0), right.count(1)) == (7, 6)

# %% [markdown] lang="en" role="claim"
# {{ right.count(0) }} zeros and {{ right.count(1) }} ones, as the tokenizer gives them;
# the wrong list has {{ len(wrong) }} entry, and yet both sums have the same shape.

# %% [markdown] lang="zh" role="claim"
# 对的列表有 {{ right.count(0) }} 个 0、{{ right.count(1) }} 个 1，与分词器（tokenizer）给出的一致；错的列表只有 {{ len(wrong) }} 个数，两种相加结果的形状却一样。

# %% [markdown] lang="en"
# Lesson: [BERT's embedding layer](../lessons/bert_embeddings.md). Reference:
# [`tokpos.bert.BertEmbeddings`][].

# %% [markdown] lang="zh"
# 相关课程：[BERT 的嵌入层](../lessons/bert_embeddings.md)。参考：[`tokpos.bert.BertEmbeddings`][]。
