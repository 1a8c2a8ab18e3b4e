# %% [markdown] lang="en"
# # Decoding that tidies the text and changes it
#
# The conversion script for Llama 3 left the option `clean_up_tokenization_spaces` on,
# as
# [huggingface/transformers#44914](https://github.com/huggingface/transformers/pull/44914)
# reports. The option dates from the days of BERT: after decoding, it removes spaces in
# front of punctuation. Code such as `x != y` then comes back as a different text. In
# [huggingface/transformers#32575](https://github.com/huggingface/transformers/issues/32575)
# the lost space stood between a colon and a quote.

# %% [markdown] lang="zh"
# # 解码时顺手整理，改动了文本
#
# [huggingface/transformers#44914](https://github.com/huggingface/transformers/pull/44914) 指出，Llama 3 的转换脚本一直开着 `clean_up_tokenization_spaces` 这个选项。这个选项是 BERT 时代留下的：解码之后，删掉标点前面的空格。于是 `x != y` 这样的代码，解码出来就成了另一段文本。[huggingface/transformers#32575](https://github.com/huggingface/transformers/issues/32575) 里丢的，是冒号和引号之间的空格。

# %% [markdown] lang="en"
# The smallest input is a line of code. GPT-2's byte-level BPE keeps every byte of it,
# spaces included.

# %% [markdown] lang="zh"
# 最小的输入就是一行代码。GPT-2 的字节级 BPE 会保留其中的每个字节，空格也不例外。

# %%
from tokpos import gpt2

bpe = gpt2()
text = "if x != y : print ( 'so' )"
ids = bpe.encode(text).ids
print(len(ids), "tokens")
print(repr(bpe.decode(ids)))

# %% [markdown] lang="en"
# The wrong way decodes, and then replaces ten strings, as the option does.

# %% [markdown] lang="zh"
# 错误的做法是：解码之后，再像那个选项一样替换十种字符串。

# %%
ENGLISH = {" .": ".", " ?": "?", " !": "!", " ,": ",", " ' ": "'"}
ENGLISH |= {f" {word}": word for word in ("n't", "'m", "'s", "'ve", "'re")}


def tidied(ids):
    text = bpe.decode(ids)
    for spaced, joined in ENGLISH.items():
        text = text.replace(spaced, joined)
    return text


print("right:", repr(bpe.decode(ids)))
print("wrong:", repr(tidied(ids)))

# %% [markdown] lang="en"
# The space in front of `'so'` was lost to the rule for the English `'s`.

# %% [markdown] lang="zh"
# `'so'` 前面的空格，是针对英文缩写 `'s` 的那条规则删掉的。

# %% [markdown] lang="en"
# ## Why it is silent {#silent}
#
# The IDs are right, so the loss and the generated tokens are right too. Only the decoded
# text differs, and in English prose it even looks better: the option was made for tokens
# that had lost their spaces. Byte-level tokens have lost none.

# %% [markdown] lang="zh"
# ## 为什么没有报错 {#silent}
#
# ID 没有错，所以损失和生成的词元（token）也都没有错，改动的只是解码出来的文本。如果是普通的英文文章，看上去甚至更整齐：这套整理本来就是给丢了空格的词元准备的，而字节级的词元什么都没丢。

# %% [markdown] lang="en"
# ## The test that catches it {#test}
#
# Encode, decode, compare. A tokenizer that keeps all bytes must give back every text as
# it was.

# %% [markdown] lang="zh"
# ## 能抓住它的测试 {#test}
#
# 编码，解码，再比较。能保留全部字节的分词器（tokenizer），必须把每段文本原样还回来。


# %%
def comes_back(decode, texts):
    return all(decode(bpe.encode(text).ids) == text for text in texts)


texts = [text, "a , b", "x != y", "':", "我喜欢猫 .", "  two  spaces"]

# %% check=true
from transformers import PreTrainedTokenizerBase

assert comes_back(bpe.decode, texts)
assert not comes_back(tidied, ["x != y"])
option = PreTrainedTokenizerBase.clean_up_tokenization
for each in texts:
    assert tidied(bpe.encode(each).ids) == option(None, each)

# %% [markdown] lang="en" role="claim"
# Plain decoding gives back all {{ len(texts) }} texts. With the cleaning, which is that of
# transformers, `x != y` does not come back.

# %% [markdown] lang="zh" role="claim"
# 直接解码，{{ len(texts) }} 段文本都原样还原；加上整理（结果与 transformers 的一样），像 `x != y` 这样的文本就还原不了。

# %% [markdown] lang="en"
# Lesson: [Tokens and IDs](../lessons/tokens.md). Reference:
# [`tokpos.byte_bpe.ByteBPE`][].

# %% [markdown] lang="zh"
# 相关课程：[词元与 ID](../lessons/tokens.md)。参考：[`tokpos.byte_bpe.ByteBPE`][]。
