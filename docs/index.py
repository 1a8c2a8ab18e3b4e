# %% [markdown] lang="en"
# # Token and position
#
# What happens between a sentence and the first attention layer of a Transformer, in small
# steps, drawn and run.
#
# A sentence goes in; vectors come out, one for each token, and attention starts from them.
# These pages follow that road. At each station you see a picture first, then the formula,
# then the code, then what the code printed.

# %% [markdown] lang="zh"
# # 词元与位置
#
# 从一句话到 Transformer 的第一个注意力层，中间发生了什么？本站把这段过程拆成小步，一步一步画成图，再用代码跑一遍。
#
# 输入一句话，得到一组向量，每个词元（token）对应一个；注意力（attention）就从这些向量开始。各课沿着这条路往前走，每到一站，先看图，再看公式，然后看代码，最后看代码的输出。

# %% hide=true
from tokpos.figures.road import road

road()

# %% [markdown] lang="en" role="caption"
# The road from a sentence to the first attention layer. Three of its stations have a lesson so far.

# %% [markdown] lang="zh" role="caption"
# 从一句话到第一个注意力层的路。其中三站目前已有对应的课。

# %% [markdown] lang="en"
# ## The lessons {#lessons}
#
# 1. [The table](lessons/lookup.md). A token ID picks a row of a table. Why that equals a
#    product with a one-hot vector, and why nobody multiplies.
# 2. [BERT's embedding layer](lessons/bert_embeddings.md). Three tables, their sum and a
#    LayerNorm, taken apart in a real pretrained encoder and put together again by hand.
# 3. [Sinusoidal positions](lessons/sinusoidal.md). How the first Transformer told its
#    tokens where they stand, without learning anything.
#
# Each lesson can be read alone. If this is your first visit, take them in this order.
#
# Three more pages are for looking things up: where
# [the paper, its own code and the libraries differ](differences.md), what was
# [measured](measured.md), and how the modules work on
# [more than one machine](distributed.md).

# %% [markdown] lang="zh"
# ## 课程目录 {#lessons}
#
# 1. [嵌入表（embedding table）](lessons/lookup.md)。一个词元 ID 取出表中的一行。为什么这与独热向量（one-hot）乘矩阵是一回事，又为什么没有人真的去乘。
# 2. [BERT 的嵌入层](lessons/bert_embeddings.md)。从三张表里各取一行，相加，再做层归一化（LayerNorm）。把真实的预训练（pretrained）编码器里的这一层拆开，再亲手装回去。
# 3. [正弦位置编码（sinusoidal position encoding）](lessons/sinusoidal.md)。最早的 Transformer 怎样不靠学习，就让词元知道自己的位置。
#
# 每一课都可以单独读。如果是第一次来，建议按这个顺序读。
#
# 另有三页供查阅：[论文、作者的代码与各个库有何不同](differences.md)，[时间和内存的实测结果](measured.md)，以及[怎样用在多台机器上](distributed.md)。

# %% [markdown] lang="en"
# ## For whom {#for-whom}
#
# You know Python and a little PyTorch, and you have met the word Transformer. You would
# like to see what the first layer does with a sentence, and then look the code up. No
# mathematics beyond the matrix product is assumed.

# %% [markdown] lang="zh"
# ## 写给谁 {#for-whom}
#
# 你会 Python，用过一点 PyTorch，听说过 Transformer。你想看清第一层对一句话做了什么，再去查代码。数学上，会矩阵乘法就够了。

# %% [markdown] lang="en"
# ## What is different here {#different}
#
# - **The numbers are computed.** Every result on a page, even a number in the middle of a
#   sentence, comes from code that ran when the page was built. Measured times are kept
#   with their script, versions and machine.
# - **The claims are checked.** Where a page says "equal", an assertion stands behind it.
#   If it fails, there is no page.
# - **The model is real.** The lessons run a pretrained encoder and its tokenizer, and
#   compare with the library that everybody uses.
# - **Two languages, one lesson.** Each lesson is one file, with English and Chinese side
#   by side and the code run once for both.
# - **The code is yours.** What the pages explain is a small package, `tokpos`, with a
#   reference in both languages; each lesson can be downloaded as a notebook.

# %% [markdown] lang="zh"
# ## 有什么不同 {#different}
#
# - **数字是算出来的。**页面上的每个结果，包括句子里的数字，都来自构建页面时运行的代码。测得的时间则连同脚本、版本和机器信息一起保存。
# - **结论是验证过的。**页面上凡是说“相等”的地方，背后都有一条断言。断言不成立，这一页就不会生成。
# - **模型是真实的。**课里运行的是预训练编码器和它的分词器（tokenizer），结果还与大家都在用的库作比较。
# - **两种语言，同一课。**每一课只有一个文件，英文和中文并排写，代码只运行一次，供两种语言共用。
# - **代码可以拿去用。**页面讲解的是一个小巧的包 `tokpos`，参考手册有中英两种语言；每一课都可以下载为 notebook。
