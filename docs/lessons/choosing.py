# %% [markdown] lang="en"
# # Choosing
#
# Seven ways to tell a model where its tokens stand, and the way of telling it nothing.
# You build one model. Which of them do you take?
#
# No formula answers that, so here is an experiment: one small language model, trained
# anew with each of them on short texts, then tested on texts that are much longer.

# %% [markdown] lang="zh"
# # 怎样选择
#
# 告诉模型词元（token）在哪儿，已经学过七种办法；还有一种是什么也不告诉它。你只做一个模型，该用哪一种？
#
# 这个问题没有公式可算，只好做实验：同一个小语言模型，每种办法各训练一遍，训练时只读短文本，测试时的文本要长得多。

# %% hide=true
import torch

from tokpos.figures.choosing import loss_against_length
from tokpos.results import load

kept = load("length")
loss_against_length(kept, "spelling")

# %% [markdown] lang="en" role="caption"
# The loss of the next token at near and far places of a text, for each encoding. Each line
# is one training run with its own seed. Shaded: the places that training covered, up to
# {{ kept.data["trained"] }}. Dashed line: the loss of guessing.

# %% [markdown] lang="zh" role="caption"
# 文本中由近到远的位置上，预测下一个词元的损失，每种编码一幅。一条线是一次训练，种子各不相同。底色部分是训练时见过的位置，到 {{ kept.data["trained"] }} 为止；虚线是瞎猜的损失。

# %% hide=true
kept

# %% [markdown] lang="en"
# [One table](../encodings.md) shows side by side what each of them is, where it acts and
# what it costs. Read it with three questions in mind, which decide most cases: do the
# weights exist already, how long will the texts be, and is the answer near or far?
#
# ## One model, one difference {#same-model}
#
# The model is a small [`tokpos.language_model.CausalLanguageModel`][]: all its parts are those
# of GPT-2, except the position encoding, which can be exchanged, and the head, which here is
# not tied to the table.

# %% [markdown] lang="zh"
# 各种位置编码（position encoding）是什么、作用在哪里、代价多大，[一张表](../encodings.md)里都并排列着。看表时带上三个问题，多数情况就能定下来：权重是不是现成的？文本会有多长？答案在近处还是在远处？
#
# ## 同一个模型，只差一处 {#same-model}
#
# 模型是一个小的 [`tokpos.language_model.CausalLanguageModel`][]：各部分都和 GPT-2 一样，只是位置编码可以换，语言模型头（LM head）在这里也不与嵌入表（embedding table）绑定。

# %%
from tokpos.length import ENCODINGS, HEADS, LAYERS, LETTERS, STEPS, TESTED, TRAINED, WIDTH, train

print(f"layers {LAYERS}, width {WIDTH}, heads {HEADS}, vocabulary {LETTERS}")
print(f"trained for {STEPS:,} steps on {TRAINED} tokens, tested on {TESTED}")
for name, make in ENCODINGS.items():
    print(f"{name:15} {sum(p.numel() for p in make().parameters()):6,} parameters of its own")

# %% [markdown] lang="en"
# Everything else is the same for all: the text, the optimizer, the number of steps
# ({{ STEPS }}). So a difference in the loss comes from the encoding, or
# from chance. To see how much is chance, each model is trained with
# {{ len(kept.data["seeds"]) }} seeds.
#
# ## Text that never ends {#text}
#
# To test at any length, the text is made by a program. It draws words at random from a
# fixed list and spells them. A token is a letter or a space.

# %% [markdown] lang="zh"
# 其余的全都一样：文本、优化器、训练步数（{{ STEPS }} 步）。所以损失如果不同，不是因为编码，就是因为偶然。偶然占多少？每种都用 {{ len(kept.data["seeds"]) }} 个种子各训练一次，一看便知。
#
# ## 写不完的文本 {#text}
#
# 要想测多长就测多长，文本得由程序来写。程序有一份固定的单词清单，每次从中随机取一个词（可以重复），一个字母一个字母地拼出来。一个词元就是一个字母或一个空格。

# %%
from tokpos.length import spelling

alphabet = " abcdefghijklmnopqrstuvwx"
generator = torch.Generator().manual_seed(0)
for row in spelling(3, 60, generator).tolist():
    print("".join(alphabet[i] for i in row))

# %% [markdown] lang="en"
# Nobody can predict which word comes next. Inside a word, the letters so far soon give
# it away. So even the best model has a loss, and it can be worked out: with $N$ equally
# likely words, each word costs $\ln N$, and this is spread over its letters and its
# space. With $\ell$ for the mean length of a word, the space included:
#
# $$\text{least loss} = \frac{\ln N}{\ell}$$

# %% [markdown] lang="zh"
# 下一个词是什么，谁也说不准。可是一个词只要拼出几个字母，后面的就猜得到了。所以最好的模型也有损失，而且这个损失算得出来：$N$ 个词出现的机会均等，每个词的代价是 $\ln N$，摊到它的字母和空格上。用 $\ell$ 表示词的平均长度，空格也算在内：
#
# $$\text{最低损失} = \frac{\ln N}{\ell}$$

# %%
import math

text = "".join(alphabet[i] for i in spelling(1, 50_000, generator)[0].tolist())
words = set(text.split()[1:-1])  # the first and the last may be cut
mean_length = sum(len(word) + 1 for word in words) / len(words)
least = math.log(len(words)) / mean_length
guessing = math.log(LETTERS)
print(f"{len(words)} words of {mean_length:.2f} places: least loss {least:.2f}")
print(f"guessing among {LETTERS} tokens: {guessing:.2f}")

# %% [markdown] lang="en"
# Keep these two numbers in mind: near {{ least:.2f }} a model has learned everything,
# and above {{ guessing:.2f }} it does worse than one that knows nothing.
#
# ## Longer than trained {#result}
#
# Here is the figure from above in numbers: the mean over the seeds, at the last places
# of the trained length, just beyond, and at the far end.

# %% [markdown] lang="zh"
# 记住这两个数：接近 {{ least:.2f }}，说明该学的都学到了；超过 {{ guessing:.2f }}，就比什么都不知道的模型还差。
#
# ## 比训练时更长 {#result}
#
# 把上面的图写成数字：各个种子取平均，一列是训练长度以内最后的位置，一列是刚刚超出的位置，一列是最远处。

# %%
from tokpos import t5_bucket_starts

edges = kept.data["edges"]


def losses_from(start, task, name):
    """For each seed, the mean loss in the range that begins at the place `start`."""
    return [row[edges.index(start)] for row in kept.data[task][name]]


def mean(numbers):
    return sum(numbers) / len(numbers)


WITHIN, BEYOND, FAR = 16, 32, 128  # where the three ranges begin


def show(task):
    starts = [WITHIN, BEYOND, FAR]
    ends = [edges[edges.index(start) + 1] for start in starts]
    print(" " * 15, *(f"{a:4}–{b - 1:<4}" for a, b in zip(starts, ends, strict=True)))
    for name in sorted(ENCODINGS, key=lambda name: mean(losses_from(FAR, task, name))):
        means = [mean(losses_from(start, task, name)) for start in starts]
        print(f"{name:15}", *(f"{each:6.2f}   " for each in means))


show("spelling")
unused = [start for start in t5_bucket_starts(16, 64) if start >= TRAINED]

# %% [markdown] lang="en"
# Read it column by column.
#
# **Within the trained length** all are alike, and near the least loss. The model
# without an encoding is among them: the causal mask [lets the order
# through](why_positions.md#causal).
#
# **Beyond it** they part. ALiBi stays where it was. The two encodings that are added to
# the input fail at once.
#
# **Less expected:** RoPE. It sees nothing but offsets, and those of neighboring letters are
# the same everywhere. Still its loss climbs, and at the far end it is above that of the
# model without any encoding, and above guessing. T5's bias fails as well. Two other relative
# encodings, Shaw and Transformer-XL, stay as level as ALiBi. So "relative encodings
# extrapolate" is too simple. Settings count too: our Shaw clips at 16, so that training
# reached every vector it uses; T5's last {{ len(unused) }} of 16 buckets begin at distances
# {{ unused[0] }} and {{ unused[1] }} and were never trained.

# %% [markdown] lang="zh"
# 一列一列地看。
#
# **训练长度以内**，各种编码差不多一样好，都接近最低的损失。不用编码的模型也在其中，因为因果掩码[会漏进来一点顺序](why_positions.md#causal)。
#
# **超出之后**，就分开了。ALiBi（带线性偏置的注意力）的损失基本不变。加在输入上的两种，一超出就失灵。
#
# **不太容易想到的**，是旋转位置编码（RoPE）的表现。它只看偏移，而相邻字母之间的偏移处处相同，损失却照样往上爬，到最远处比不用任何编码还高，也比瞎猜高。T5 的偏置也不行。另外两种相对的编码，Shaw 和 Transformer-XL，损失却和 ALiBi 一样平稳。可见“相对的就能外推（extrapolation）”这话说得太简单了。设置也有影响：这里的 Shaw 截断在 16，用到的每个向量都训练过；T5 的 16 个桶里，最后 {{ len(unused) }} 个从距离 {{ unused[0] }} 和 {{ unused[1] }} 开始，训练时从没用到。


# %% check=true
def rise(task, name, start):
    """For each seed, how far the loss lies above that within the trained length."""
    pairs = zip(losses_from(start, task, name), losses_from(WITHIN, task, name), strict=True)
    return [far - near for far, near in pairs]


far = {name: mean(losses_from(FAR, "spelling", name)) for name in ENCODINGS}
within = {name: losses_from(WITHIN, "spelling", name) for name in ENCODINGS}
assert all(abs(loss - least) < 0.1 for each in within.values() for loss in each)
assert max(rise("spelling", "alibi", FAR)) < 0.1
assert min(rise("spelling", "sinusoidal", BEYOND) + rise("spelling", "learned", BEYOND)) > 1
for name, start in (("sinusoidal", BEYOND), ("sinusoidal", FAR), ("rope", FAR)):
    assert min(losses_from(start, "spelling", name)) > guessing
assert ENCODINGS["t5"]().weight.shape[0] == 16 and TRAINED > 16 and len(unused) == 2
assert all(abs(loss - guessing) < 0.5 for loss in losses_from(FAR, "spelling", "learned"))
assert max(rise("spelling", "shaw", FAR) + rise("spelling", "transformer-xl", FAR)) < 0.2
for name in ("none", "t5", "rope"):
    assert min(rise("spelling", name, FAR)) > 0.7
assert far["rope"] > far["none"] + 0.3

# %% [markdown] lang="en" role="claim"
# With every encoding and every seed the loss at the last places of the trained length is
# less than 0.1 away from the least one. Beyond, ALiBi's rises by less than 0.1, Shaw's
# and Transformer-XL's by less than 0.2. Sinusoidal and learned rise by more than 1 just
# past the trained length, sinusoidal above guessing; at the far end it has
# {{ far["sinusoidal"]:.1f }}, and learned is near guessing, with {{ far["learned"]:.1f }}.
# RoPE ends above guessing, at {{ far["rope"]:.1f }}, T5 at {{ far["t5"]:.1f }}, no encoding
# at {{ far["none"]:.1f }}.

# %% [markdown] lang="zh" role="claim"
# 不论哪种编码、哪个种子，在训练长度以内最后的位置上，损失与最低值都相差不到 0.1。超出之后，ALiBi 的损失上升不到 0.1，Shaw 和 Transformer-XL 上升不到 0.2；正弦位置编码（sinusoidal）和可学习的表刚一超出就上升 1 以上，其中正弦超过了瞎猜。在最远处，正弦是 {{ far["sinusoidal"]:.1f }}；可学习的表是 {{ far["learned"]:.1f }}，接近瞎猜；RoPE 是 {{ far["rope"]:.1f }}，也超过了瞎猜；T5 是 {{ far["t5"]:.1f }}，不用编码是 {{ far["none"]:.1f }}。

# %% [markdown] lang="en"
# ## Run it here, in short {#again}
#
# The whole experiment takes too long for a page; a script ran it and its numbers are
# kept. But the main contrast shows after a few steps. The next cell trains three of the
# models here and now.

# %% [markdown] lang="zh"
# ## 在这里重跑一小段 {#again}
#
# 整个实验太长，没法在页面里跑，是脚本事先跑好、把数字存下来的。不过最主要的差别，只训练一小会儿就看得出来。下面当场训练其中三个模型。

# %%
from tokpos.length import losses

steps = 120
again, models = {}, {}
for name in ("alibi", "sinusoidal", "rope"):
    models[name] = train("spelling", name, seed=0, steps=steps)
    each = losses(models[name], "spelling", seed=0)
    again[name] = {
        start: each[start:end].mean().item()
        for start, end in zip(edges, edges[1:], strict=False)
        if start in (WITHIN, BEYOND, FAR)
    }
    print(f"{name:11}", *(f"from {start}: {loss:.1f} " for start, loss in again[name].items()))

# %% check=true
assert again["alibi"][WITHIN] < least + 0.2
for start in (BEYOND, FAR):
    assert abs(again["alibi"][start] - again["alibi"][WITHIN]) < 0.15
    assert again["sinusoidal"][start] - again["sinusoidal"][WITHIN] > 0.3
assert again["rope"][FAR] - again["rope"][WITHIN] > 0.7

# %% [markdown] lang="en" role="claim"
# After {{ steps }} steps in place of {{ STEPS }} the contrast is already
# there, though the sinusoidal model has not yet learned the task
# (its loss is {{ again["sinusoidal"][WITHIN]:.1f }}): ALiBi's loss beyond the trained length stays
# within 0.15 of that before it, the sinusoidal model's rises at once by more than 0.3, and
# RoPE's rises by more than 0.7 at the far end.

# %% [markdown] lang="zh" role="claim"
# 只训练 {{ steps }} 步，而不是 {{ STEPS }} 步，差别已经看得出来，只是用正弦位置编码的模型还没学会这个任务（损失是 {{ again["sinusoidal"][WITHIN]:.1f }}）：超出训练长度之后，ALiBi 的损失与之前相差不到 0.15；正弦位置编码的损失一超出就上升 0.3 以上；RoPE 的损失到最远处上升 0.7 以上。

# %% [markdown] lang="en"
# ### It is the far keys that disturb {#window}
#
# What goes wrong with RoPE, and why not with ALiBi? We suspect the far keys. So take
# the models that were just trained, and let no token see more than a few places back: a
# **window**. Nothing is trained again. Only places far beyond the trained length are scored.

# %% [markdown] lang="zh"
# ### 捣乱的是远处的键 {#window}
#
# RoPE 错在哪里？ALiBi 为什么没事？嫌疑最大的是远处的键。拿刚才训练好的模型来试：每个词元只准往回看几个位置，这叫**窗口**。模型不再训练，只测远在训练长度之外的位置。

# %%
import torch.nn.functional as F

ids = spelling(24, TESTED, torch.Generator().manual_seed(1))
place = torch.arange(TESTED - 1)
distance = place[:, None] - place


@torch.no_grad()
def loss_with_window(model, window):
    """Mean loss at the far end, when a layer sees `window` places, the token's own included."""
    logits = model(ids[:, :-1], mask=distance < window)
    each = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
    return each[:, FAR:].mean().item()


windows = [2, 4, 8, 16, 32, 64, TESTED]
print("window     ", *(f"{window:5}" for window in windows))
seen = {}
for name, model in models.items():
    seen[name] = {window: loss_with_window(model, window) for window in windows}
    print(f"{name:11}", *(f"{loss:5.1f}" for loss in seen[name].values()))

# %% check=true
assert abs(seen["alibi"][16] - seen["alibi"][TESTED]) < 0.1
assert abs(seen["rope"][TRAINED] - seen["alibi"][TRAINED]) < 0.1
assert abs(seen["rope"][TRAINED] - again["rope"][WITHIN]) < 0.1
assert seen["rope"][TESTED] - seen["rope"][TRAINED] > 0.7
assert min(seen["sinusoidal"].values()) > least + 1

# %% [markdown] lang="en" role="claim"
# With a window of {{ TRAINED }} places RoPE is as good as ALiBi, and as good as within the
# trained length, to 0.1; without it, RoPE's loss is {{ seen["rope"][TESTED] - seen["rope"][TRAINED]:.1f }} higher than with it.
# ALiBi loses less than 0.1 with a window of 16. No window saves the sinusoidal model.

# %% [markdown] lang="zh" role="claim"
# 窗口是 {{ TRAINED }} 个位置时，RoPE 和 ALiBi 一样好，也和训练长度以内一样好，相差都不到 0.1；不加窗口，RoPE 的损失高出 {{ seen["rope"][TESTED] - seen["rope"][TRAINED]:.1f }}。ALiBi 只看 16 个位置，与全看相差不到 0.1。用正弦位置编码的模型，什么窗口都救不了。

# %% [markdown] lang="en"
# Three things follow.
#
# - In this RoPE model near keys are as good far out as at the start. It is the keys further
#   back than any in training that do the harm: hide them, and it is gone.
# - ALiBi's level line is no proof that it *uses* a long text. It shows that a long text
#   does not *disturb* it: heads with a large slope hardly
#   [see far keys](alibi.md#far-keys), and for the others a far key costs a little more than a
#   nearer one, smoothly, in a task that has no need of it.
# - The sinusoidal model fails in another way. Every token, near ones included, carries a row
#   that training never showed, so hiding the far keys does not help.

# %% [markdown] lang="zh"
# 由此看出三点。
#
# - 这个 RoPE 模型里，离查询近的键，在文本末尾和在开头一样好用。捣乱的是比训练时见过的都远的键：遮住它们，损失就回来了。
# - ALiBi 的损失不上升，并不证明它*用上了*长文本，只说明长文本没有*打扰*它：斜率大的头几乎[看不见远处的键](alibi.md#far-keys)；斜率小的头看得见，但扣的分随距离平缓变化，这个任务又用不着它们。
# - 正弦的毛病不一样。每个词元都带着一行训练时从没见过的数，近处的也不例外，遮住谁都没用。

# %% [markdown] lang="en"
# ## Another task {#recall}
#
# A single task proves little. In the second one each text has its own few pairs of a key and a
# value, say `A` and `k`. When a key comes back, its value is to be predicted. Only these
# places count.

# %% [markdown] lang="zh"
# ## 换一个任务 {#recall}
#
# 只试一个任务不算数。第二个任务里，每段文本都有自己的几对字母，例如 `A` 配 `k`。前一个字母再次出现时，要预测和它配对的是哪个；只有这些位置才计入损失。

# %%
from tokpos.length import recall

row = recall(1, 48, generator)[0].tolist()
pairs = ["ABCD"[key] + alphabet[value] for key, value in zip(row[::2], row[1::2], strict=True)]
print(" ".join(pairs))

# %% hide=true
loss_against_length(kept, "recall")

# %% [markdown] lang="en" role="caption"
# The second task, drawn as the first. A model that has learned it is near 0.

# %% [markdown] lang="zh" role="caption"
# 第二个任务，画法同前。学会了的，损失接近 0。

# %%
show("recall")

# %%
learned_it = {
    name: sum(loss < 0.1 for loss in losses_from(WITHIN, "recall", name)) for name in ENCODINGS
}
print("seeds that learned it:", learned_it)

# %% [markdown] lang="en"
# It is harder. A letter must be found again, and then the one *after* it must be fetched.
# In {{ STEPS }} steps most runs do not learn it. A loss of
# $\ln {{ LETTERS - 4 }}$ = {{ math.log(LETTERS - 4):.2f }} means that the model knows which
# {{ LETTERS - 4 }} tokens are values, and no more. At about $\ln 4$ = {{ math.log(4):.2f }} it
# knows the values of this text, at most four, but not which belongs to which key.
#
# Chance plays a large part, too: one encoding may learn it with one seed and not with
# another. With ALiBi {{ learned_it["alibi"] }} of {{ len(kept.data["seeds"]) }} seeds
# did, with Transformer-XL {{ learned_it["transformer-xl"] }}. So in this task the
# encodings differ within the trained length already, {{ len(kept.data["seeds"]) }} seeds
# are few, and the order is not that of the first task: only the two best and the worst
# are the same.

# %% [markdown] lang="zh"
# 这个任务难一些：先要找到同一个字母上次出现的地方，再取出它*后面*那个。{{ STEPS }} 步之内，多数训练没有学会。损失是 $\ln {{ LETTERS - 4 }}$ = {{ math.log(LETTERS - 4):.2f }}，说明模型只知道答案是 {{ LETTERS - 4 }} 个词元之一；在 $\ln 4$ = {{ math.log(4):.2f }} 上下，说明它知道这段文本里用的是哪几个（至多四个），却不知道谁和谁配对。
#
# 偶然的影响也很大：同一种编码，换个种子，有的学会了，有的没学会。ALiBi 的 {{ len(kept.data["seeds"]) }} 个种子里，学会的是 {{ learned_it["alibi"] }} 个；Transformer-XL 是 {{ learned_it["transformer-xl"] }} 个。所以在这个任务里，训练长度以内就分出了高下，{{ len(kept.data["seeds"]) }} 个种子嫌少，顺序也与第一个任务不同：只有最好的两种和最坏的一种没有变。

# %%
back = []  # how many tokens back the same key last stood
for row in recall(50, TESTED, generator)[:, ::2].tolist():
    last = {}
    for place_of_key, key in enumerate(row):
        if key in last:
            back.append(2 * (place_of_key - last[key]))
        last[key] = place_of_key
near = sum(steps_back <= TRAINED for steps_back in back) / len(back)
print(f"last seen at most {TRAINED} tokens back: {near:.1%}")

# %% check=true
order = {
    task: sorted(ENCODINGS, key=lambda name: mean(losses_from(FAR, task, name)))
    for task in ("spelling", "recall")
}
assert order["spelling"] != order["recall"]
assert set(order["spelling"][:2]) == set(order["recall"][:2])
assert order["spelling"][-1] == order["recall"][-1]
assert near > 0.95
assert any(0 < count < len(kept.data["seeds"]) for count in learned_it.values())
assert sum(learned_it.values()) < len(ENCODINGS) * len(kept.data["seeds"]) / 2
level = [
    abs(by)
    for by, loss in zip(
        rise("recall", "alibi", FAR), losses_from(WITHIN, "recall", "alibi"), strict=True
    )
    if loss < 0.1
]
assert level and max(level) < 0.1

# %% [markdown] lang="en" role="claim"
# At the far end the order of the encodings is not that of the first task. Fewer than half of
# the runs learned this one, and with some encodings it was the seed that decided. Where
# ALiBi learned it, its loss stays level, to 0.1.

# %% [markdown] lang="zh" role="claim"
# 最远处各种编码的顺序，与第一个任务不同。学会这个任务的训练不到一半，有的编码学没学会，要看种子。ALiBi 凡是学会了的，超出训练长度之后损失都很平稳，变化不到 0.1。

# %% [markdown] lang="en"
# This task does not ask for far keys either. The beginning of the text has the answer, but
# in {{ near:.0% }} of the cases the key was last seen at most {{ TRAINED }} tokens back.

# %% [markdown] lang="zh"
# 这个任务同样用不着远处的键：文本开头固然有答案，可是 {{ near:.0% }} 的情形里，同一个字母上次出现就在 {{ TRAINED }} 个词元以内。

# %% [markdown] lang="en"
# ## What this shows, and what it does not {#honest}
#
# Two layers, width {{ WIDTH }}, made-up text, {{ len(kept.data["seeds"]) }} seeds: this is a
# model of a model. It shows a tendency, not a law.
#
# - **It shows** that "no error" and "works" are two different things. All models read
#   the long text without complaint; only the loss shows the difference.
# - **It shows** that seeing offsets alone does not make a model read long texts. Three
#   relative encodings stay level in the first task, two do not, and nothing in the
#   [table of encodings](../encodings.md) tells which.
# - **It does not show** which encoding is best at the trained length. The first task is
#   too easy for that, and in the second it depends on the seed and on how long one
#   trains.
# - **It does not show** who finds something far back. In both tasks what is needed is near.
# - **It does not show** what some further training on long texts would do. In practice that
#   is how RoPE models get [longer](rope.md#longer).
# - Depth, width, task, training and the settings of an encoding may change the order.
#   Press et al. compared four encodings in large models and found the same extremes:
#   ALiBi stays level, sinusoidal fails soon after the trained length.

# %% [markdown] lang="zh"
# ## 说明了什么，没说明什么 {#honest}
#
# 两层，{{ WIDTH }} 维，编出来的文本，{{ len(kept.data["seeds"]) }} 个种子：这只是模型的模型。从中看得到倾向，得不出定律。
#
# - **说明了**“不报错”和“能用”是两回事。每个模型读长文本都不报错，只有看损失才知道行不行。
# - **说明了**“相对”不等于“能读长文本”。第一个任务里，三种相对的编码损失基本不变，两种不行；哪种行、哪种不行，从[编码总表](../encodings.md)里看不出来。
# - **没说明**在训练长度以内哪种编码最好。第一个任务太容易，第二个要看种子，也要看训练多久。
# - **没说明**谁能找到远处的东西。两个任务里，需要的东西都在近处。
# - **没说明**再用长文本短训一次会怎样。实际中，用 RoPE 的模型就是这样[变长](rope.md#longer)的。
# - 深度、维度、任务、训练或者编码的设置一变，顺序就可能变。Press 等人在大得多的模型上比较了四种编码（正弦、RoPE、T5 的偏置、ALiBi），最好和最坏的与这里一致：ALiBi 不变，正弦超出训练长度不久就不行了。

# %% [markdown] lang="en"
# ## What to choose for what {#choose}
#
# | You have | Take | Because |
# |---|---|---|
# | published weights | what they were trained with | there is no choice; see below |
# | an encoder, its length fixed, texts of all lengths up to it in training | a learned table | simple; nothing beyond its end is ever asked for |
# | a new decoder | RoPE | no parameters, fits caches and fast attention kernels, and there are rules to lengthen it |
# | longer texts than in training, answers near | ALiBi, or RoPE with [a window](choosing.md#window) | level without any further training |
# | longer texts than in training, answers far | RoPE with [a scaling rule](rope.md#longer), trained further | common practice; not tested here |
# | offsets that matter in a small range | [Shaw or T5](relative.md) | they learn a separate value for each offset or range of offsets |
#
# The second row is BERT's case, the third that of most decoders today. The table is
# advice, and the experiment only a part of its reasons: speed, available code and what
# others have tried at scale count as much. What each one costs is
# [measured](../measured.md).

# %% [markdown] lang="zh"
# ## 什么情况用什么 {#choose}
#
# | 你的情况 | 选用 | 原因 |
# |---|---|---|
# | 要加载公布的权重 | 训练时用的那种 | 没得选，见下文 |
# | 编码器，最大长度固定，训练时各个位置都见过 | 可学习的表 | 简单；表的尽头之外，永远用不到 |
# | 新的解码器 | RoPE | 没有参数，适合缓存和快速的注意力实现，要变长也有办法 |
# | 文本长过训练长度，答案在近处 | ALiBi，或者 RoPE 加[窗口](choosing.md#window) | 不用再训练，损失也不上升 |
# | 文本长过训练长度，答案在远处 | RoPE 加[缩放规则](rope.md#longer)，再接着训练 | 常见的做法；这里没有测 |
# | 有用的偏移只在小范围内 | [Shaw 或 T5](relative.md) | 每个偏移（或每段偏移）各学各的 |
#
# 第二行是 BERT 的情形，第三行是如今大多数解码器的情形。这张表只是建议，实验也只是理由的一部分：速度如何、有没有现成的代码、别人在大模型上试过没有，同样要紧。各种方法的代价，见[实测](../measured.md)。

# %% [markdown] lang="en"
# ### Given weights: no choice {#given}
#
# Weights were trained with one encoding. With another the shapes often fit, there is no
# error, and the model talks nonsense. The configuration says which one it was, more or less:

# %% [markdown] lang="zh"
# ### 权重现成：没得选 {#given}
#
# 权重是配着某一种编码训练出来的。换一种，形状往往也合得上，程序不报错，模型却满口胡话。当初是哪一种？有的配置写明了，有的没写：

# %%
from transformers import BertConfig, BloomConfig, GPT2Config, LlamaConfig, T5Config

hints = ("position", "rope", "rotary", "relative", "alibi")
about = {}
for config in (BertConfig, GPT2Config, T5Config, LlamaConfig, BloomConfig):
    entries = config().to_dict()
    about[config.__name__] = {
        key: value for key, value in entries.items() if any(hint in key for hint in hints)
    }
    print(config.__name__, about[config.__name__])

# %% check=true
assert about["BertConfig"].keys() == {"max_position_embeddings"}
assert about["GPT2Config"].keys() == {"n_positions"}
assert "rope_parameters" in about["LlamaConfig"] and about["BloomConfig"] == {}
assert any("relative_attention" in key for key in about["T5Config"])
assert not any("layout" in str(each) or "interleaved" in str(each) for each in about.values())

# %% [markdown] lang="en" role="claim"
# The configuration of T5 speaks of buckets and that of Llama of RoPE; those of BERT and
# GPT-2 give the number of rows only, and that of Bloom says nothing: ALiBi is in the
# model's code. None of them names RoPE's layout.

# %% [markdown] lang="zh" role="claim"
# T5 的配置写着桶，Llama 的写着 RoPE；BERT 和 GPT-2 的只写了表有多少行；Bloom 的什么也没写，ALiBi 写在模型的代码里。没有一份写明 RoPE 的配对方式。

# %% [markdown] lang="en"
# The last point is easy to overlook. The same Llama weights exist in [two
# layouts](rope.md#layouts), and a [wrong one](rope.md#wrong-layout) ruins the model in
# silence. That is why our RoPE has no default layout:

# %% [markdown] lang="zh"
# 最后一点容易忽略。同一套 Llama 权重有[两种配对方式](rope.md#layouts)的版本，[用错了](rope.md#wrong-layout)，模型就不声不响地坏了。所以我们的实现没有默认值：

# %% raises=TypeError
from tokpos import RotaryEncoding

RotaryEncoding(WIDTH // HEADS)

# %% [markdown] lang="en"
# However you come by the weights: reproduce one known output before you use them.

# %% [markdown] lang="zh"
# 权重不论从哪里来，先算一个已知的输出对一对，再拿去用。

# %% [markdown] lang="en"
# ## Often said, not so {#not-so}
#
# !!! note "Often said, not so: a table of 256 rows is good for 256 places"
#     It is good for the places that training reached. The rows after that are as they
#     were drawn, [bit for bit](learned.md#unreached), and the loss shows it.

# %% [markdown] lang="zh"
# ## 常见的误解 {#not-so}
#
# !!! note "常见的误解：表有 256 行，就能用到 256 个位置"
#     能用到的，只是训练时够得着的位置。再往后的行还是随机取的初始值，[逐位相等](learned.md#unreached)，损失也说明了这一点。

# %%
fresh = train("spelling", "learned", seed=0, steps=1).encoding.weight.detach()
later = train("spelling", "learned", seed=0, steps=20).encoding.weight.detach()
row_moved = (later != fresh).any(dim=1)
print("rows:", len(row_moved), " moved:", int(row_moved.sum()))

# %% check=true
assert row_moved[:TRAINED].all() and not row_moved[TRAINED:].any()

# %% [markdown] lang="en" role="claim"
# Training moved the first {{ TRAINED }} rows of the learned table and none of the other
# {{ TESTED - TRAINED }}.

# %% [markdown] lang="zh" role="claim"
# 训练动了可学习的表的前 {{ TRAINED }} 行，其余 {{ TESTED - TRAINED }} 行一行也没动。

# %% [markdown] lang="en"
# ## In short {#summary}
#
# - Weights that exist decide by themselves: take their encoding, and RoPE's layout with
#   it.
# - In an easy task the encodings hardly differ within the trained length; beyond it
#   they differ greatly, and no error says so.
# - ALiBi stays level, probably because far keys cost points, which is also its price.
# - In the first task, what is added to the input fails as soon as a text is longer than
#   those in training.
# - Seeing offsets alone is not enough: RoPE fails here because of far keys, and a window
#   saves it.
# - For a new decoder RoPE is the usual choice; to make it longer, scale it and train it
#   further.

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 权重是现成的，就不用选：用它原来的编码，RoPE 的配对方式也要一致。
# - 任务容易时，各种编码在训练长度以内几乎没有差别；超出之后相差很大，而且不报错。
# - ALiBi 的损失不变，多半是因为远处的键被扣了分；代价也在这里。
# - 在第一个任务里，加在输入上的编码，文本一超出训练长度就失灵。
# - 光有相对位置不够：RoPE 在这里失灵，是因为远处的键；加个窗口就好了。
# - 新的解码器通常用 RoPE；要变长，就缩放，再接着训练。

# %% [markdown] lang="en"
# ## In the papers {#papers}
#
# - Press, Smith and Lewis, [Train Short, Test Long](https://arxiv.org/abs/2108.12409),
#   2022, sections 2 and 4: the same question asked of large models. Sinusoidal fails
#   soon after the trained length, RoPE and T5's bias later, ALiBi not.
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017,
#   section 3.5: sinusoids were taken in the hope that they reach beyond the lengths met in
#   training.
# - Kazemnejad et al., [arXiv 2305.19466](https://arxiv.org/abs/2305.19466), 2023: a
#   comparison on reasoning tasks, in which models without an encoding extrapolate
#   better than most of those with one. The order depends on the task.
# - Chen et al., [arXiv 2306.15595](https://arxiv.org/abs/2306.15595), 2023: RoPE models
#   made longer by position interpolation and a little further training.

# %% [markdown] lang="zh"
# ## 延伸阅读 {#papers}
#
# - Press、Smith 和 Lewis，[Train Short, Test Long](https://arxiv.org/abs/2108.12409)，2022，第 2 节和第 4 节：在大模型上问同样的问题。正弦刚超出训练长度就失灵，RoPE 和 T5 的偏置晚一些，ALiBi 没有失灵。
# - Vaswani 等，[Attention Is All You Need](https://arxiv.org/abs/1706.03762)，2017，第 3.5 节：选用正弦，是希望它能用到训练长度之外。
# - Kazemnejad 等，[arXiv 2305.19466](https://arxiv.org/abs/2305.19466)，2023：在推理任务上作比较，不用编码的模型，外推比多数用了编码的还好。可见顺序因任务而异。
# - Chen 等，[arXiv 2306.15595](https://arxiv.org/abs/2306.15595)，2023：用位置插值（position interpolation）加一小段训练，把 RoPE 模型变长。

# %% [markdown] lang="en"
# ## Exercises {#exercises}
#
# **1.** Predict the shapes: `spelling(24, 256, generator)`, the logits of the model for
# all tokens but the last, and the result of `losses(...)`. Why does the last have one
# place fewer?
#
# ??? question "Answer"
#     `[24, 256]`; `[24, 255, 25]`; `[255]`. The last token has no successor to be predicted,
#     and the losses are means over the sequences.

# %% [markdown] lang="zh"
# ## 练习 {#exercises}
#
# **1.** 预测形状：`spelling(24, 256, generator)`；模型对最后一个词元之外的所有词元给出的 logits（未归一化分数）；`losses(...)` 的结果。最后这个为什么少一个位置？
#
# ??? question "答案"
#     `[24, 256]`；`[24, 255, 25]`；`[255]`。最后一个词元后面没有词元可以预测；损失是各个序列的平均。

# %%
with torch.no_grad():
    logits = models["alibi"](ids[:, :-1])
each = losses(models["alibi"], "spelling", seed=0)
list(ids.shape), list(logits.shape), list(each.shape)

# %% check=true hide=true
assert ids.shape == (24, 256) and logits.shape == (24, 255, 25) and each.shape == (255,)

# %% [markdown] lang="en" role="claim"
# The shapes are those of the answer.

# %% [markdown] lang="zh" role="claim"
# 形状与答案一致。

# %% [markdown] lang="en"
# **2.** The sinusoidal model fails at places 200 to 231. Take these same letters and
# number them 0, 1, 2, ... What becomes of the loss? Nothing is trained again.
#
# ??? question "Answer"
#     It is as low as within the trained length. The letters were never the trouble;
#     their numbers were. Cutting a long text into pieces is a remedy, and each piece
#     then knows nothing of those before.

# %% [markdown] lang="zh"
# **2.** 用正弦位置编码的模型，在位置 200 到 231 上失灵了。取同样这些字母，改从 0、1、2……编号，损失会怎样？模型不再训练。
#
# ??? question "答案"
#     和训练长度以内一样低。有问题的从来不是字母，而是编号。所以把长文本切成段也是个办法，只是每一段都不知道前面各段的内容。

# %%
many = spelling(128, TESTED, torch.Generator().manual_seed(2))
piece, following = many[:, 200:232], many[:, 201:233]


@torch.no_grad()
def loss_of_piece(first):
    """Mean loss in the second half of the piece, when its positions begin with `first`."""
    logits = models["sinusoidal"](piece, torch.arange(first, first + 32))
    each = F.cross_entropy(logits.transpose(1, 2), following, reduction="none")
    return each[:, 16:].mean().item()


print(f"numbered from 200: {loss_of_piece(200):.1f}")
print(f"numbered from 0:   {loss_of_piece(0):.1f}")

# %% check=true hide=true
assert loss_of_piece(200) - loss_of_piece(0) > 0.4
assert abs(loss_of_piece(0) - again["sinusoidal"][WITHIN]) < 0.25

# %% [markdown] lang="en" role="claim"
# The loss of the same letters is higher by over 0.4 when they are numbered from 200.

# %% [markdown] lang="zh" role="claim"
# 同样的字母，从 200 编号，损失高出 0.4 以上。

# %% [markdown] lang="en"
# **3.** Find the fault. Somebody tests a model at length 64, takes the mean over all 64
# places, gets a loss a little above that of the training, and reports that the model
# reads twice the length. What is wrong?
#
# ??? question "Answer"
#     Half of those places lie within the trained length, and the mean hides half of the
#     harm. Count only places beyond it.

# %% [markdown] lang="zh"
# **3.** 找错。有人用长度 64 测试模型，对全部 64 个位置取平均，损失比训练时高一些，于是报告说：模型能读两倍长的文本。错在哪里？
#
# ??? question "答案"
#     这些位置有一半在训练长度以内，取平均就把坏处藏起了一半。只该算超出的那些位置。

# %%
each = losses(models["sinusoidal"], "spelling", seed=0)
for start, end in ((0, 64), (32, 64)):
    print(f"places {start:2} to {end - 1}: {each[start:end].mean():.1f}")

# %% check=true hide=true
assert each[32:64].mean() - each[:64].mean() > 0.2

# %% [markdown] lang="en" role="claim"
# The mean over all 64 places is too low by over 0.2.

# %% [markdown] lang="zh" role="claim"
# 对全部 64 个位置取平均，损失看上去低了 0.2 以上。

# %% [markdown] lang="en"
# **4.** Choose: a model reads sensor data, one token a second, without end. It keeps
# the last 64 keys in a cache. Whether an event was 3 or 5 seconds ago matters; what the
# clock says does not. Which encodings fit?
#
# ??? question "Answer"
#     One that sees offsets only: RoPE, ALiBi, Shaw, T5, Transformer-XL. Sinusoidal and
#     learned number the tokens from the start, and the numbers grow without end; the
#     learned table would have no row. And the model should be trained with the window
#     that it will have.

# %% [markdown] lang="zh"
# **4.** 选一选：一个模型读传感器的数据，每秒一个词元，没有尽头，缓存里只留最近 64 个键。事件发生在 3 秒前还是 5 秒前有差别，钟面上是几点没有差别。哪些编码合适？
#
# ??? question "答案"
#     只看偏移的：RoPE、ALiBi、Shaw、T5、Transformer-XL。正弦和可学习的表从头编号，号码越来越大，没有尽头，可学习的表终究会没有行可查。另外，模型训练时用的窗口，应当和使用时一样。

# %%
from tokpos import Attention

torch.manual_seed(0)
x = torch.randn(1, 8, WIDTH)
early, late = torch.arange(8), torch.arange(100, 108)
shifted = {}
for name, make in ENCODINGS.items():
    layer = Attention(WIDTH, HEADS, make(), causal=True)
    for weight in layer.parameters():
        torch.nn.init.normal_(weight, std=WIDTH**-0.5)
    with torch.no_grad():
        before, after = (layer(layer.encoding.into_input(x, p), p) for p in (early, late))
    shifted[name] = (after - before).abs().max().item()
    print(f"{name:15}", "the place" if shifted[name] > 1e-3 else "offsets only")

# %% check=true hide=true
assert {name for name, by in shifted.items() if by > 1e-3} == {"sinusoidal", "learned"}
assert all(by < 1e-4 for name, by in shifted.items() if name not in ("sinusoidal", "learned"))

# %% [markdown] lang="en" role="claim"
# With all positions moved by 100, the layer's output changes for sinusoidal and learned
# only.

# %% [markdown] lang="zh" role="claim"
# 所有位置都移动 100，注意力层的输出只在用正弦和可学习的表时改变。

# %% [markdown] lang="en"
# The first line is not a mistake: a model without an encoding ignores the numbers that
# it is given. What it can know of a token's place comes from the mask. All it knows of
# the order is what the mask tells it.

# %% [markdown] lang="zh"
# 第一行没有写错：不用编码的模型也看不到位置本身；关于顺序，它只知道掩码透露的那一点。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
from tokpos import LearnedEncoding, SinusoidalEncoding


def refuses(encoding):
    try:
        encoding.into_input(torch.zeros(1, TRAINED + 1, WIDTH))
    except (IndexError, ValueError):
        return True
    return False


refusing = {
    "learned": refuses(LearnedEncoding(TRAINED, WIDTH)),
    "sinusoidal": refuses(SinusoidalEncoding(WIDTH)),
    "rope": refuses(RotaryEncoding(WIDTH // HEADS, layout="interleaved")),
}
sin_far = mean(losses_from(FAR, "spelling", "sinusoidal"))
near_enough = abs(seen["alibi"][16] - seen["alibi"][TESTED]) < 0.1

# %% [markdown] lang="en" role="quiz"
# Each of these is made for texts of {{ TRAINED }} tokens and gets one of
# {{ TRAINED + 1 }}. Which raises an error?
#
# - {{ refusing["learned"] }} A learned table of {{ TRAINED }} rows
#
#     There is no row for the last token. The error is a kindness: others go wrong in
#     silence.
#
# - {{ refusing["sinusoidal"] }} The sinusoidal encoding
#
#     The formula has a value at every position.
#
# - {{ refusing["rope"] }} RoPE
#
#     Any position is an angle. What the model makes of it is another question.

# %% [markdown] lang="zh" role="quiz"
# 下面每一种都是按 {{ TRAINED }} 个词元的文本做的，现在来了一段 {{ TRAINED + 1 }} 个词元的文本。哪一种会报错？
#
# - {{ refusing["learned"] }} {{ TRAINED }} 行的可学习的表
#
#     最后一个词元没有行可查。报错是好事，别的会不声不响地出错。
#
# - {{ refusing["sinusoidal"] }} 正弦位置编码
#
#     公式在任何位置都有值。
#
# - {{ refusing["rope"] }} RoPE
#
#     任何位置都是一个角度。模型拿这个角度怎么办，是另一个问题。

# %% [markdown] lang="en" role="quiz"
# Guessing costs {{ guessing:.2f }}. Far out, the sinusoidal model's loss is
# {{ sin_far:.1f }}. How can a model be worse than guessing?
#
# - {{ sin_far > guessing }} It is sure of wrong letters
#
#     Guessing gives each letter the same share. A model that gives the right one less
#     than that pays more.
#
# - {{ sin_far < guessing }} It cannot; the test is too short
#
#     The loss has no upper end. The surer a model is of something wrong, the more it
#     pays.
#
# - {{ abs(sin_far - guessing) < 0.05 }} It guesses, and the rest is chance
#
#     Then the mean over many places would be near the loss of guessing.

# %% [markdown] lang="zh" role="quiz"
# 瞎猜的损失是 {{ guessing:.2f }}。在最远处，用正弦位置编码的模型损失是 {{ sin_far:.1f }}。怎么会比瞎猜还差？
#
# - {{ sin_far > guessing }} 它很有把握，却答错了
#
#     瞎猜给每个字母同样的概率。给正确字母的概率比这还低，损失就更高。
#
# - {{ sin_far < guessing }} 不会更差，只是测得太少
#
#     损失没有上限。对错误的答案越有把握，损失越高。
#
# - {{ abs(sin_far - guessing) < 0.05 }} 它就是在瞎猜，多出来的是偶然
#
#     真是这样，许多位置平均下来，应当接近瞎猜的损失。

# %% [markdown] lang="en" role="quiz"
# ALiBi's loss stays level up to {{ TESTED }} tokens. What does that prove?
#
# - {{ not near_enough }} It uses all {{ TESTED }} tokens
#
#     A window of 16 places gave nearly the same loss.
#
# - {{ near_enough }} In this task the longer text does not disturb it
#
#     What it needs is near, and far keys do not get in the way.
#
# - {{ near_enough and refusing["rope"] }} ALiBi is the best encoding
#
#     The task asks for near letters only, which suits ALiBi.

# %% [markdown] lang="zh" role="quiz"
# 直到 {{ TESTED }} 个词元，ALiBi 的损失都不上升。这证明了什么？
#
# - {{ not near_enough }} {{ TESTED }} 个词元它都用上了
#
#     只看 16 个位置，损失也几乎一样。
#
# - {{ near_enough }} 在这个任务里，多出来的文本没有打扰它
#
#     需要的在近处，远处的键没有添乱。
#
# - {{ near_enough and refusing["rope"] }} ALiBi 是最好的编码
#
#     这个任务只要近处的字母，正合 ALiBi 的长处。

# %% [markdown] lang="en" role="quiz"
# You load published Llama weights into code of your own. Which encoding do you take?
#
# - {{ "rope_parameters" in about["LlamaConfig"] and not refusing["rope"] }} RoPE, with the base and the layout of these weights
#
#     The queries and keys have learned to be turned in this way and no other.
#
# - {{ refusing["rope"] }} ALiBi, because it reads longer texts
#
#     It would run, as it needs no weights. But the model has never met its bias, and
#     its own turns are missing.
#
# - {{ "layout" in str(about["LlamaConfig"]) }} RoPE in either layout, because the configuration names the layout
#
#     The configuration names the base and the scaling, and not the layout. It depends
#     on where the weights come from.

# %% [markdown] lang="zh" role="quiz"
# 你把公布的 Llama 权重加载到自己的代码里，该用哪种编码？
#
# - {{ "rope_parameters" in about["LlamaConfig"] and not refusing["rope"] }} RoPE，底数和配对方式都与这套权重一致
#
#     查询和键学会的，就是这样转，换一种转法就不行。
#
# - {{ refusing["rope"] }} ALiBi，因为它能读更长的文本
#
#     程序能运行，因为 ALiBi 不需要权重。可是模型从没见过它的偏置，自己习惯的旋转又没有了。
#
# - {{ "layout" in str(about["LlamaConfig"]) }} RoPE，哪种配对方式都行，因为配置里写着是哪一种
#
#     配置里写着底数和缩放，没有写配对方式。是哪一种，要看权重从哪里来。

# %% [markdown] lang="en" role="quiz"
# A model with a learned table of {{ len(row_moved) }} rows is trained on texts of
# {{ TRAINED }} tokens. How many rows has training changed?
#
# - {{ int(row_moved.sum()) == len(row_moved) }} All {{ len(row_moved) }}
#
#     A row gets a gradient only when its position occurs.
#
# - {{ int(row_moved.sum()) == TRAINED }} {{ TRAINED }}
#
#     The others are still the random numbers of the start.
#
# - {{ int(row_moved.sum()) == 0 }} None: positions are numbers, not weights
#
#     That is the sinusoidal encoding. Here each position has a trainable row.

# %% [markdown] lang="zh" role="quiz"
# 模型有一张 {{ len(row_moved) }} 行的可学习的表，用 {{ TRAINED }} 个词元的文本训练。训练改变了几行？
#
# - {{ int(row_moved.sum()) == len(row_moved) }} 全部 {{ len(row_moved) }} 行
#
#     位置出现过，那一行才有梯度。
#
# - {{ int(row_moved.sum()) == TRAINED }} {{ TRAINED }} 行
#
#     其余各行还是最初的随机数。
#
# - {{ int(row_moved.sum()) == 0 }} 一行也没有：位置是数，不是权重
#
#     那是正弦位置编码。这里每个位置都有可训练的一行。
