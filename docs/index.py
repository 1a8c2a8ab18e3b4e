# %% [markdown] lang="en"
# # Token and position
#
# How a Transformer takes a sentence in, from text to vectors to positions, and how a token
# comes out again: in small steps, drawn and run.
#
# A sentence goes in; vectors come out, one for each token, and attention starts from them.
# These pages follow that road. Each lesson opens with a picture; then come code, what the
# code printed, and formulas where they help, piece by piece.

# %% [markdown] lang="zh"
# # 词元与位置
#
# 一句话怎样进入 Transformer，从文本变成向量，再带上位置？最后又怎样变回词元（token）？本站把这段过程拆成小步，一步一步画成图，再用代码跑一遍。
#
# 输入一句话，得到一组向量，每个词元对应一个；注意力（attention）就从这些向量开始。各课沿着这条路往前走。每一课先看图，再一点一点往下走：代码、代码的输出，需要时再给公式。

# %% hide=true
from tokpos.figures.road import road

road()

# %% [markdown] lang="en" role="caption"
# The road from a sentence to the first attention layer.

# %% [markdown] lang="zh" role="caption"
# 从一句话到第一个注意力层的路。

# %% [markdown] lang="en"
# ## The lessons {#lessons}
#
# | No. | Lesson | The question | Best after | Minutes |
# |---|---|---|---|---|
# | 1 | [Tokens and IDs](lessons/tokens.md) | What does a model get instead of a sentence? | | <span data-minutes="tokens"></span> |
# | 2 | [Why the ID is not a number](lessons/not_a_number.md) | Why can nothing be computed with an ID? | 1 | <span data-minutes="not_a_number"></span> |
# | 3 | [The table](lessons/lookup.md) | How does an ID become a vector? | 1 | <span data-minutes="lookup"></span> |
# | 4 | [The table learns](lessons/learning.md) | Which rows move, and why do some come to be alike? | 3 | <span data-minutes="learning"></span> |
# | 5 | [The way out](lessons/head.md) | How does a vector become a token again? | 3, 4 | <span data-minutes="head"></span> |
# | 6 | [BERT's embedding layer](lessons/bert_embeddings.md) | What does BERT's first layer do, number by number? | 3 | <span data-minutes="bert_embeddings"></span> |
# | 7 | [Shapes and broadcasting](lessons/broadcasting.md) | How can unequal shapes be added? | 3 | <span data-minutes="broadcasting"></span> |
# | 8 | [Why positions at all](lessons/why_positions.md) | Does attention not see the order by itself? | 3 | <span data-minutes="why_positions"></span> |
# | 9 | [Sinusoidal positions](lessons/sinusoidal.md) | How do waves tell where a token stands? | 7, 8 | <span data-minutes="sinusoidal"></span> |
# | 10 | [Learned positions](lessons/learned.md) | What if the positions are a table too? | 8 | <span data-minutes="learned"></span> |
# | 11 | [Relative positions](lessons/relative.md) | How does a model learn "two to the left"? | 8 | <span data-minutes="relative"></span> |
# | 12 | [RoPE](lessons/rope.md) | Why turn queries and keys? | 9, 11 | <span data-minutes="rope"></span> |
# | 13 | [ALiBi](lessons/alibi.md) | How far does a plain penalty on distance get? | 11 | <span data-minutes="alibi"></span> |
# | 14 | [Choosing](lessons/choosing.md) | Which one, for what? | 9 to 13 | <span data-minutes="choosing"></span> |
#
# <span class="on-screen"></span>A lesson that you have read to its end gets a mark here and in the navigation. The marks stay in
# your browser.
#
# **In a hurry?** Read these five pages; most others build on them:
# [the table](lessons/lookup.md), [BERT's embedding layer](lessons/bert_embeddings.md),
# [why positions](lessons/why_positions.md), [sinusoidal positions](lessons/sinusoidal.md),
# [RoPE](lessons/rope.md). Before RoPE, look at the beginning of
# [relative positions](lessons/relative.md).
#
# **For teaching.** Each lesson is one sitting, with exercises, a quiz and a notebook to download
# under its title; the [cheat sheet](cheat_sheet.md) is one page to print.
#
# **Hunting a bug?** The [museum of faults](museum.md) shows what goes wrong silently, each
# fault with a test that catches it. [All encodings in one table](encodings.md) and
# [where paper, code and libraries differ](differences.md) have the values to compare with;
# [measured](measured.md) has times and memory, and [more than one process](distributed.md)
# says what still holds when a model is split among machines.

# %% [markdown] lang="zh"
# ## 课程目录 {#lessons}
#
# | 序 | 课 | 回答的问题 | 最好先读 | 分钟 |
# |---|---|---|---|---|
# | 1 | [词元与 ID](lessons/tokens.md) | 模型拿到的不是句子，那是什么？ | | <span data-minutes="tokens"></span> |
# | 2 | [为什么 ID 不是数](lessons/not_a_number.md) | 为什么不能拿 ID 来计算？ | 1 | <span data-minutes="not_a_number"></span> |
# | 3 | [嵌入表（embedding table）](lessons/lookup.md) | 一个编号怎样变成一个向量？ | 1 | <span data-minutes="lookup"></span> |
# | 4 | [嵌入表怎样学习](lessons/learning.md) | 哪些行会动？为什么有些行越来越像？ | 3 | <span data-minutes="learning"></span> |
# | 5 | [出口](lessons/head.md) | 向量怎样又变成词元？ | 3、4 | <span data-minutes="head"></span> |
# | 6 | [BERT 的嵌入层](lessons/bert_embeddings.md) | BERT 的第一层到底算了什么？ | 3 | <span data-minutes="bert_embeddings"></span> |
# | 7 | [形状与广播（broadcasting）](lessons/broadcasting.md) | 形状不同，为什么也能相加？ | 3 | <span data-minutes="broadcasting"></span> |
# | 8 | [为什么需要位置](lessons/why_positions.md) | 注意力自己看不出顺序吗？ | 3 | <span data-minutes="why_positions"></span> |
# | 9 | [正弦位置编码（sinusoidal position encoding）](lessons/sinusoidal.md) | 一组波怎样说明词元在哪儿？ | 7、8 | <span data-minutes="sinusoidal"></span> |
# | 10 | [可学习的位置](lessons/learned.md) | 如果位置也是一张表呢？ | 8 | <span data-minutes="learned"></span> |
# | 11 | [相对位置](lessons/relative.md) | 怎样让模型学会“往左两个”？ | 8 | <span data-minutes="relative"></span> |
# | 12 | [RoPE](lessons/rope.md) | 为什么要旋转查询和键？ | 9、11 | <span data-minutes="rope"></span> |
# | 13 | [ALiBi（带线性偏置的注意力）](lessons/alibi.md) | 只按距离扣分，能走多远？ | 11 | <span data-minutes="alibi"></span> |
# | 14 | [怎样选择](lessons/choosing.md) | 哪一种，用在哪里？ | 9 至 13 | <span data-minutes="choosing"></span> |
#
# <span class="on-screen"></span>读到末尾的课，会在这里和导航里打上记号。记号只保存在你的浏览器里。
#
# **时间不多？**先读这五页，别的课大多以它们为基础：[嵌入表](lessons/lookup.md)、[BERT 的嵌入层](lessons/bert_embeddings.md)、[为什么需要位置](lessons/why_positions.md)、[正弦位置编码](lessons/sinusoidal.md)、[RoPE](lessons/rope.md)。读 RoPE 之前，可以先看看[相对位置](lessons/relative.md)的开头。
#
# **用来讲课。**一课的分量正好讲一次课：有练习、小测验，标题下可以下载 notebook；[速查表](cheat_sheet.md)一页纸，可以打印。
#
# **正在查一个错误？**[错误博物馆](museum.md)收的是不声不响的错误，每件都附上能抓住它的测试。可以对照的数值在[一张表看完所有位置编码](encodings.md)和[论文、代码与各个库有何不同](differences.md)里；[实测](measured.md)列出各种做法的时间和内存开销，[多个进程](distributed.md)说明模型分到多个进程上之后，哪些结论仍然成立。

# %% [markdown] lang="en"
# ## For whom {#for-whom}
#
# You know Python and a little PyTorch, and you have met the word Transformer. You would
# like to see what the first layer does with a sentence, in code that you can come back to.
# You have trained a small network once, and know the matrix product, the gradient, and mean
# and standard deviation.

# %% [markdown] lang="zh"
# ## 写给谁 {#for-whom}
#
# 你会 Python，用过一点 PyTorch，听说过 Transformer。你想看清第一层对一句话做了什么，并用代码核对。你训练过一个小网络；数学上，会矩阵乘法，知道梯度、均值和标准差是什么，就够了。

# %% [markdown] lang="en"
# ## What is different here {#different}
#
# - **The numbers are computed.** Every result of ours, even a number in the middle of a
#   sentence, comes from code that ran when the page was built; only measured times and
#   the results of long trainings are kept, with their script, versions and machine.
#   Numbers of others stand with their source.
# - **The claims are checked.** Where a page says "equal", an assertion stands behind it.
#   If it fails, there is no page.
# - **The model is real.** The lessons run a pretrained encoder and its tokenizer, and
#   compare with a library that many people use.
# - **Two languages, one lesson.** Each lesson is one file, with English and Chinese side
#   by side and the code run once for both.
# - **The code is yours.** What the pages explain is a small package, `tokpos`, with a
#   reference in both languages; each lesson can be downloaded as a notebook.

# %% [markdown] lang="zh"
# ## 有什么不同 {#different}
#
# - **数字是算出来的。**我们自己的每个结果，包括句子里的数字，都来自构建页面时运行的代码。测得的时间和耗时很长的训练结果，则连同脚本、版本和机器信息一起保存；引用别人的数字，会说明出处。
# - **结论是验证过的。**页面上凡是说“相等”的地方，背后都有一条断言。断言不成立，这一页就不会生成。
# - **模型是真实的。**课里运行的是预训练编码器和它的分词器（tokenizer），结果还与一个很多人在用的库作比较。
# - **两种语言，同一课。**每一课只有一个文件，英文和中文并排写，代码只运行一次，供两种语言共用。
# - **代码可以拿去用。**页面讲解的是一个小巧的包 `tokpos`，参考手册有中英两种语言；每一课都可以下载为 notebook。
