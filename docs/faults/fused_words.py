# %% [markdown] lang="en"
# # A deleted newline fuses two words
#
# A tokenizer for .NET deleted newlines, tabs and carriage returns instead of treating
# them as spaces:
# [dotnet/machinelearning#7724](https://github.com/dotnet/machinelearning/issues/7724).
# Two words separated only by a line break became one. Real documents are full of such
# places.

# %% [markdown] lang="zh"
# # 删掉换行，两个词粘成一个
#
# .NET 的一个分词器（tokenizer）把换行、制表符和回车当作控制字符删掉，而没有当作空格：[dotnet/machinelearning#7724](https://github.com/dotnet/machinelearning/issues/7724)。两个词之间如果只有一个换行，就粘成了一个词。真实的文档里，这样的地方到处都是。

# %% [markdown] lang="en"
# Two lines with one word each are enough.

# %% [markdown] lang="zh"
# 两行，每行一个词，就够了。

# %%
import unicodedata

from tokpos import bert_base_uncased

wordpiece = bert_base_uncased()


def tokens(text):
    return [piece.token for piece in wordpiece.split(text)]


# %% [markdown] lang="en"
# In Unicode a newline is a control character. Code that deletes all control characters
# deletes the newline too; BERT's own code makes an exception for three of them.

# %% [markdown] lang="zh"
# 在 Unicode 里，换行属于控制字符。把控制字符全部删掉，换行也就没了；BERT 自己的代码则为其中三个字符破例。


# %%
def without_controls(text):
    return "".join(c for c in text if unicodedata.category(c) != "Cc")


for text in ["note\nbook", "one\nline"]:
    print("right:", tokens(text), "wrong:", tokens(without_controls(text)))

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# The result is a list of ordinary tokens: `notebook` is in the vocabulary. A fused word
# that is not in it is cut into pieces, which is just as ordinary. No token is unknown, no
# letter is missing, and a sentence on one line comes out right.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# 得到的都是正常的词元（token）：`notebook` 就在词表（vocabulary）里。粘成的词如果不在词表里，也只是切成几段，同样很正常。没有未知的词元，一个字母也没少；写在一行里的句子，结果更是全对。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# A newline, a tab and a carriage return must do what a space does.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 换行、制表符和回车，效果必须与空格一样。


# %%
def spaces_are_alike(tokens):
    return all(tokens(f"note{c}book") == tokens("note book") for c in "\n\t\r")


# %% check=true
assert spaces_are_alike(tokens)
assert not spaces_are_alike(lambda text: tokens(without_controls(text)))
assert tokens("note\nbook") == ["note", "book"]
assert tokens(without_controls("note\nbook")) == ["notebook"]
assert tokens(without_controls("one\nline")) == ["one", "##line"]

# %% [markdown] lang="en" role="claim"
# The right way gives {{ len(tokens("note\nbook")) }} tokens for each of the three, as for a
# space. With the newline deleted it is
# {{ len(tokens(without_controls("note\nbook"))) }}.

# %% [markdown] lang="zh" role="claim"
# 按正确的做法，不论用三种字符中的哪一种隔开，都切出 {{ len(tokens("note\nbook")) }} 个词元，与用空格一样；把换行当控制字符删掉，就只剩 {{ len(tokens(without_controls("note\nbook"))) }} 个。

# %% [markdown] lang="en"
# Lesson: [Tokens and IDs](../lessons/tokens.md). Reference:
# [`tokpos.text_cleaning.clean`][].

# %% [markdown] lang="zh"
# 相关课程：[词元与 ID](../lessons/tokens.md)。参考：[`tokpos.text_cleaning.clean`][]。
