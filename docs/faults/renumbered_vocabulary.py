# %% [markdown] lang="en"
# # A vocabulary renumbered at every restart
#
# A course notebook collected its words in a Python set, and the order of a set of
# strings changes with each start of Python, which hashes them anew. So every restart
# numbered the vocabulary differently:
# [yandexdataschool/Practical_RL#383](https://github.com/yandexdataschool/Practical_RL/pull/383).
# [ufal/neuralmonkey#719](https://github.com/ufal/neuralmonkey/pull/719) is milder:
# chance decided only between words of equal frequency, but where the list was cut off
# it also decided which of them got in. Its author names the consequence: without its
# saved vocabulary, a trained model can be useless.

# %% [markdown] lang="zh"
# # 每次重启，词表都重新编号
#
# 一门课程的 notebook 用 Python 的集合来收集词，而字符串的集合，顺序在每次启动 Python 时都会变，因为哈希值换了。所以每次重启，词表（vocabulary）的编号都不一样：[yandexdataschool/Practical_RL#383](https://github.com/yandexdataschool/Practical_RL/pull/383)。[ufal/neuralmonkey#719](https://github.com/ufal/neuralmonkey/pull/719) 里的情形轻一些：只有频率相同的词次序随机，不过在词表截断的地方，谁留谁去也就每次不同。提交者也点明了后果：如果没有保存词表，训练好的模型可能就没用了。

# %% [markdown] lang="en"
# Six words and a table with one row for each. The row of a word holds the number that
# the word had in training, so it is easy to see whose row was fetched.

# %% [markdown] lang="zh"
# 六个词，一张表，每个词一行。每行就写这个词训练时的编号，这样一眼就能看出取到的是谁。

# %%
import random

import torch
from torch import nn

words = ["cat", "dog", "likes", "reads", "books", "milk"]


def numbered(words):
    return {word: number for number, word in enumerate(words)}


trained = numbered(sorted(words))
table = nn.Embedding.from_pretrained(torch.arange(len(words))[:, None].float())

# %% [markdown] lang="en"
# A shuffle stands for the order that the set may have at the next start. The table
# comes from the checkpoint; the numbers are new.

# %% [markdown] lang="zh"
# 下面用一次随机打乱，代表集合在下次启动时可能给出的顺序。表从检查点加载，编号却是新的。

# %%
shuffled = random.Random(1).sample(words, len(words))
restarted = numbered(shuffled)
names = {number: word for word, number in trained.items()}


def row_of(word, numbers):
    return names[int(table(torch.tensor(numbers[word])))]


for word in words:
    print(f"{word:6} right: {row_of(word, trained):6} wrong: {row_of(word, restarted)}")

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# All numbers are in range and all shapes fit. Within one run everything is consistent:
# training works, evaluation works. The fault shows only after a restart, and then as a
# bad model, which may have a hundred other causes.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 编号都在范围之内，形状也都对得上。同一次运行之内，前后完全一致：训练正常，评估也正常。重启之后问题才出现，而且只表现为“模型变差了”，而模型变差可能有上百种别的原因。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Start Python several times, with different seeds for its hashes: within one run a set
# keeps its order. Better still: save the vocabulary with the table, and load both.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 把 Python 启动几次，每次给哈希换一个种子：在同一次运行里，集合的顺序不会变。更好的办法是：把词表和嵌入表（embedding table）一起保存、一起加载。

# %%
import os
import subprocess
import sys


def same_at_each_start(expression):
    program = f"words = {words}; print(*{expression})"
    orders = set()
    for seed in ("1", "2", "3"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        orders.add(subprocess.check_output([sys.executable, "-c", program], env=environment))
    return len(orders) == 1


# %% check=true
assert same_at_each_start("sorted(set(words))")
assert not same_at_each_start("set(words)")
assert all(row_of(word, trained) == word for word in words)
assert all(row_of(word, restarted) != word for word in words)

# %% [markdown] lang="en" role="claim"
# The sorted words have one order at all starts; the set does not. With the new numbers, all
# {{ len(words) }} words fetch the row of another.

# %% [markdown] lang="zh" role="claim"
# 排过序的词，每次启动顺序都一样；集合就不一样。换成新编号后，{{ len(words) }} 个词全都取到了别的词的行。

# %% [markdown] lang="en"
# Lesson: [Why the ID is not a number](../lessons/not_a_number.md). Reference:
# [`tokpos.vocabulary.Vocabulary`][].

# %% [markdown] lang="zh"
# 相关课程：[为什么 ID 不是数](../lessons/not_a_number.md)。参考：[`tokpos.vocabulary.Vocabulary`][]。
