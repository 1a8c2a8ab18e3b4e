# %% [markdown] lang="en"
# # Measured
#
# What the tables and position encodings of `tokpos` cost, compared with a yardstick,
# with their targets and with other libraries. Each table is from one run; the page
# names the machine and every missed target.
#
# Times differ from machine to machine, so this page does not measure. It reads the
# results of scripts. Every time and every size of memory below comes from there.

# %% [markdown] lang="zh"
# # 实测
#
# 用 `tokpos` 的嵌入表（embedding table）和位置编码（position encoding），要多少时间和内存？本页把它们与一把标尺、定下的目标和其他库分别作比较。数字来自一次基准测试，连同机器信息一起保存；若有目标没有达到，也照实列出。
#
# 时间因机器而异，所以本页不现场测量，只读取脚本留下的结果。下面的每个时间和内存数字都来自这份结果。

# %% hide=true
from math import log
from statistics import linear_regression

from tokpos._measured import (
    WORK,
    exponents,
    faster_elsewhere,
    missed,
    misses,
    site_costs,
    table,
)
from tokpos.figures.measured import SUBJECTS, cost_beside_limit, growth_of_cost
from tokpos.results import load

bench, growth = load("bench"), load("growth")
rows, curves = bench.data["rows"], growth.data["curves"]
rounds = [row["rounds"] for row in rows]


def times_at_double(name):
    """By what each way's time and peak memory are multiplied when the size doubles."""
    ways = next(curve["ways"] for curve in curves if curve["name"] == name)
    return {
        key: [2 ** way[f"{key}_exponent"] for way in ways if way[f"{key}_exponent"] is not None]
        for key in ("time", "memory")
    }


lookup_doubled = times_at_double("growth-lookup")["time"]
alibi_doubled = times_at_double("growth-alibi-length")["memory"]

# %% [markdown] lang="en"
# ## How it was measured {#how}
#
# - **Limit.** A yardstick, not a strict bound. Mostly it is one copy of the input or of the
#   result, which no out-of-place operation can avoid; otherwise the plainest PyTorch call that
#   does the core of the work, and then a ratio below 1 is possible. Each row names its own.
# - **Ratio.** A time divided by that of the limit in the same round. Each round runs every way of
#   a row, in a new order, so that other load on the machine affects all of them equally. The
#   median of {{ min(rounds) }} to {{ max(rounds) }} rounds is given; the quartiles beside it say how
#   far it can be trusted.
# - **Time.** CPU time of one thread. Waiting is not counted, but other busy processes can still
#   slow things down through the shared cache.
# - **Peak memory.** The most that a call holds beyond what was there before, results included.
#   It is measured in a process of its own that returns freed memory to the system at once, and
#   on the second call, so that one-time allocations do not count.
# - **Error.** The largest difference from the formula in float64. A bfloat16 result has to be
#   rounded, so there only what goes beyond the rounding counts.
#
# The other libraries run in the same rounds, each called as its own models call it. For RoPE that
# makes a difference: rotary-embedding-torch and x-transformers make cosines and sines at each call;
# tokpos and transformers get them ready-made, and torchtune takes them from a table. The time of
# tokpos including cosines and sines is given in its column as “angles included”; where that is the smaller
# number, the difference is noise. Smaller is better throughout.

# %% [markdown] lang="zh"
# ## 怎样测的 {#how}
#
# - **下限。**只是一把标尺，并不是绝对不能低于它：多半是把输入或结果复制一遍（只要不就地修改，这一步就免不了）；其余几行用的是能完成核心工作的最朴素的 PyTorch 调用，这时倍数可能小于 1。每一行都写明各自的下限。
# - **倍数。**所花的时间除以同一轮里下限的时间。每一轮都以新的次序把同一行的各种做法全部运行一遍，机器上别的活动因此对大家影响相同。共 {{ min(rounds) }} 到 {{ max(rounds) }} 轮，取中位数；旁边的四分位数说明它有多可信。
# - **时间。**单线程的 CPU 时间，等待不计入。可是其他进程繁忙时，缓存被挤占，时间仍可能变长。
# - **峰值内存。**调用期间的内存峰值减去调用之前的内存，结果也算在内。测的是第二次调用，免得把只做一次的准备算进去；另用一个进程来测，它把释放的内存立刻还给系统。
# - **误差。**与 float64 下的公式相比，最大的差。bfloat16 的结果必须舍入，所以只计舍入之外的部分。
#
# 其他库也在这几轮里运行；调用方式照各库自己模型里的用法。调用方式不同，对旋转位置编码（RoPE）的结果有影响：rotary-embedding-torch 和 x-transformers 每次调用都要算余弦和正弦；tokpos 和 transformers 用的是事先算好的，torchtune 则从表里取。tokpos 若把余弦和正弦也算上，耗时写在它那一列的“连角度一起算”后面。所有数字都是越小越好。

# %% [markdown] lang="en"
# ## Rotary positions {#rope}
#
# Queries and keys are turned, in both layouts. The limit is to copy them; for a single token it is
# the usual formula, without checks.

# %% [markdown] lang="zh"
# ## 旋转位置编码 {#rope}
#
# RoPE 转动查询和键，两种配对方式都测。下限是把它们复制一遍；只有一个词元（token）时，下限是不带检查的普通写法。

# %% hide=true
cost_beside_limit(bench, "rope")

# %% [markdown] lang="en" role="caption"
# Time as a multiple of the limit, on a logarithmic axis. The ratio of tokpos and its target are at
# the right of each row: ≤ where the target is met, > where it is missed.

# %% [markdown] lang="zh" role="caption"
# 耗时是下限的多少倍，对数轴。每行右端是 tokpos 的倍数和目标：≤ 表示达到，> 表示没有达到。

# %% hide=true
table(bench, "rope")

# %% [markdown] lang="en"
# The column tokpos gives the median, with the quartiles in brackets; the column of the fastest
# other way gives its median. A number after ≤ is a target.

# %% [markdown] lang="zh"
# tokpos 一列是中位数，括号里是四分位数；“其他做法中最快的”一列也是中位数。≤ 后面的数是目标。

# %% [markdown] lang="en"
# ## What enters the scores {#scores}
#
# ALiBi, T5's bias and Shaw's vectors all depend on the offset of key and query. What they could
# cost is a matrix for each head, or a vector for each pair.

# %% [markdown] lang="zh"
# ## 加进注意力分数的项 {#scores}
#
# ALiBi（带线性偏置的注意力）、T5 的偏置和 Shaw 的向量，都取决于键与查询的偏移。照最直接的做法，每个头要一个矩阵，或者每一对查询和键要一个向量。

# %% hide=true
cost_beside_limit(bench, "scores")

# %% [markdown] lang="en" role="caption"
# The same for biases and vectors of offsets. Shaw's limit is the product of queries and keys, or of
# weights and values, which a layer computes anyway; a ratio below 1 means less than that.

# %% [markdown] lang="zh" role="caption"
# 各种偏置和偏移向量的耗时。Shaw 的下限是查询与键（或权重与值）的那次乘积，每一层本来就要算；小于 1 表示比它还省。

# %% hide=true
table(bench, "scores")

# %% [markdown] lang="en"
# ## Tables and rows {#tables}
#
# Making the sinusoidal table, fetching rows, one training step, BERT's embedding layer, and what
# `import tokpos` adds to `import torch`.

# %% [markdown] lang="zh"
# ## 造表与取行 {#tables}
#
# 这里测的是：造正弦位置编码（sinusoidal）的表、取行、训练一步、BERT 的嵌入层，还有 `import torch` 之后再 `import tokpos` 多用的时间。

# %% hide=true
cost_beside_limit(bench, "tables")

# %% [markdown] lang="en" role="caption"
# The same for tables. The distant marks are one-hot products and dense gradients, whose cost grows
# with the vocabulary.

# %% [markdown] lang="zh" role="caption"
# 各种表的耗时。远在右边的记号是独热向量（one-hot）乘积和稠密梯度，它们的代价随词表（vocabulary）增长。

# %% hide=true
table(bench, "tables")

# %% [markdown] lang="en"
# ## What misses its target {#missed}
#
# The list is made from the numbers. Each entry says what keeps the row from its limit.

# %% [markdown] lang="zh"
# ## 没有达到目标的项目 {#missed}
#
# 名单由数据算出；每一条都说明与下限的差距从何而来。

# %% hide=true
missed(bench)

# %% hide=true
faster_elsewhere(bench)

# %% [markdown] lang="en"
# A kept result can be broken or incomplete. These checks notice a missing row, quartiles out of
# order and a target judged wrongly.

# %% [markdown] lang="zh"
# 保存的结果也可能损坏或不全。下面的检查能发现缺少的行、次序颠倒的四分位数，以及判错的目标。

# %% check=true
names = [name for part in WORK.values() for name in part]
assert sorted(names) == sorted(row["name"] for row in rows)

bounded = []
for row in rows:
    name, target = row["name"], row["target"]
    assert target or row["not_run"], name
    assert row["ways"][0]["ratio"] == [1, 1, 1], name
    for way in row["ways"]:
        low, middle, high = way.get("ratio", [1, 1, 1])
        assert 0 < low <= middle <= high, name
    ours = next(way for way in row["ways"] if way["name"] == "tokpos")
    if "error" in target and not row["not_run"]:
        assert 0 <= ours["error"] <= target["error"], name
        bounded.append(name)
    assert bool(misses(row)) == bool(row["missed"]), name

assert {"rope-far", "alibi-attention", "sinusoidal-8192"} <= set(bounded)
drawn = {name for labels in SUBJECTS.values() for name in labels}
assert set(names) - drawn == {"rope-far"} and drawn < set(names)

# %% [markdown] lang="en" role="claim"
# All {{ len(rows) }} rows are here, each with a target or with the reason why it did not run. The
# figures show {{ len(drawn) }} of them; RoPE at far positions is in the table only. Ratios are
# positive and their quartiles in order. The error stays within its bound in each of the
# {{ len(bounded) }} rows that have one. The rows listed as missed are the same as those that the
# benchmark itself marked.

# %% [markdown] lang="zh" role="claim"
# {{ len(rows) }} 行都在，每一行要么有目标，要么写明为什么没有运行。图里画了 {{ len(drawn) }} 行，远处位置的 RoPE 只列在表里。倍数都是正数，四分位数的次序正确。有误差上限的 {{ len(bounded) }} 行，误差都在上限之内。列为没有达到的，正是基准测试自己判定的那些行。

# %% [markdown] lang="en"
# ## How cost grows {#growth}
#
# One size says little about the next. So each way was run at several: of the sequence, $S$, of the
# vocabulary, $V$, or of the number of heads, $H$. On two logarithmic axes a power is a straight
# line. Its slope is the exponent: with 1, twice the size costs twice as much; with 2, four times.

# %% [markdown] lang="zh"
# ## 代价怎样增长 {#growth}
#
# 测了一种大小，还说不出另一种会怎样。所以每种做法都在几种大小下运行：序列长度 $S$、词表大小 $V$，或头数 $H$。两轴都取对数时，幂函数是一条直线，斜率就是指数：指数为 1，大小翻倍则代价翻倍；指数为 2，代价变成四倍。

# %% hide=true
growth_of_cost(growth, "time")

# %% [markdown] lang="en" role="caption"
# CPU time of one call against the size, with the exponent of the fitted line.

# %% [markdown] lang="zh" role="caption"
# 单次调用的 CPU 时间随大小的变化，并标出拟合直线的指数。

# %% hide=true
growth_of_cost(growth, "memory")

# %% [markdown] lang="en" role="caption"
# Peak memory of a second call. A dash stands for peaks too small to fit a line to.

# %% [markdown] lang="zh" role="caption"
# 第二次调用的峰值内存。横线表示峰值太小，拟合不出直线。

# %% [markdown] lang="en"
# The same in numbers. The package's own fast ways are marked; the plain one is below each.

# %% [markdown] lang="zh"
# 两张图的数字如下。标有 tokpos 的是本库的快速做法，其下是直接的做法。

# %% hide=true
exponents(growth)

# %% check=true
for curve in curves:
    sizes = [log(size) for size in curve["sizes"]]
    for way in curve["ways"]:
        medians = [log(median) for _, median, _ in way["milliseconds"]]
        slope = linear_regression(sizes, medians).slope
        assert abs(slope - way["time_exponent"]) < 0.02

# %% [markdown] lang="en" role="claim"
# Fitted again here from the kept medians, every exponent of time comes out as kept, to 0.02.

# %% [markdown] lang="zh" role="claim"
# 在这里用保存的中位数重新拟合，每个时间指数都与保存的一致，相差不超过 0.02。

# %% [markdown] lang="en"
# What that means for doubling, by the fitted line: with the vocabulary twice as large, the lookup
# takes {{ lookup_doubled[0]:.2f }} times as long and the one-hot product
# {{ lookup_doubled[-1]:.2f }} times. With the text twice as long, the peak memory of attention with
# ALiBi becomes {{ alibi_doubled[0]:.2f }} times as large, and {{ alibi_doubled[-1]:.2f }} times
# where a matrix is built for each head.
#
# A fit over a few sizes is a summary, not a law. At small sizes the start of each call may take
# most of the time, which pulls an exponent down; a size at which the data leave the cache may push
# it up.

# %% [markdown] lang="zh"
# 按拟合的直线，大小翻倍时：词表大一倍，查表的时间变为 {{ lookup_doubled[0]:.2f }} 倍，独热乘积变为 {{ lookup_doubled[-1]:.2f }} 倍。文本长一倍，带 ALiBi 的注意力的峰值内存变为 {{ alibi_doubled[0]:.2f }} 倍；如果给每个头都造一个矩阵，则变为 {{ alibi_doubled[-1]:.2f }} 倍。
#
# 在几种大小上拟合，得到的是概括，不是定律。规模小时，启动调用的开销可能占了大头，使指数偏低；数据大到缓存装不下时，指数又可能偏高。

# %% [markdown] lang="en"
# ## Building this site {#site}
#
# The pages run their code, so building them costs time too. The yardsticks: plain MkDocs with the
# same pages as finished Markdown without drawings, and mkdocs-jupyter, which runs each notebook once for each language.
# The first three rows are ratios of wall times; the row of the exponent and that of the lessons say
# themselves what they are.

# %% [markdown] lang="zh"
# ## 构建本站 {#site}
#
# 页面要运行代码，所以构建也要花时间。标尺有两把：单纯用 MkDocs 构建同样的页面，用的是现成的、不含图的 Markdown；用 mkdocs-jupyter，每种语言都把 notebook 运行一遍。前三行是实际时间之比；指数和课数两行，项目里已经写明。

# %% hide=true
site = load("site")
site_costs(site)

# %% hide=true
growth_of_cost(site, "time")

# %% [markdown] lang="en" role="caption"
# CPU time of a whole build against the number $N$ of generated lessons, with the exponent of the
# fitted line. After the edit of one cell only its lesson runs, whatever $N$ is.

# %% [markdown] lang="zh" role="caption"
# 完整构建一次的 CPU 时间随课数 $N$ 的变化（这些课由程序生成），并标出拟合直线的指数。改一个单元之后，不论 $N$ 是多少，只重新运行那一课。

# %% check=true
for target in site.data["targets"]:
    assert target["missed"] == (target["value"] > target["most"]), target["name"]
sizes = site.data["growth"]["sizes"]
assert site.data["growth"]["executed"] == [1] * len(sizes)

# %% [markdown] lang="en" role="claim"
# What is marked as missed is above its bound, and nothing else is. One edited cell ran one lesson
# again in courses of {{ sizes[0] }}, {{ sizes[1] }} and {{ sizes[2] }} lessons.

# %% [markdown] lang="zh" role="claim"
# 标为未达到的，都超过了上限；其余都没有超过。课数为 {{ sizes[0] }}、{{ sizes[1] }}、{{ sizes[2] }} 时，改一个单元都只重新运行一课。

# %% [markdown] lang="en"
# ## Versions, machine, date {#run}
#
# The results record where they come from.

# %% [markdown] lang="zh"
# ## 版本、机器、日期 {#run}
#
# 这些结果各自写明了来历。

# %% hide=true
bench

# %% hide=true
growth

# %% hide=true
site

# %% [markdown] lang="en"
# ## Run it again {#again}
#
# Your machine will give other numbers; ratios usually differ less than times. Each command sets up
# what it needs first, except the last, which needs the environment that the others make.
#
# | Command | What it does |
# |---|---|
# | `make bench` | runs everything, rows and growths, prints it and writes `.cache/bench.json` |
# | `make bench ROW=rope` | runs only the rows and growths whose name begins with it |
# | `make bench CHECK=1` | runs everything, and fails when a target is missed |
# | `make bench KEEP=1` | runs everything, and keeps the result for this page |
# | `make bench-site` | measures building and serving; also with `CHECK=1` and `KEEP=1` |
# | `.venv/bin/pip install '.[peers]'` | installs the other libraries; without them their places stay empty |
#
# Only a whole run is kept, because lines of two runs do not belong in one table. See
# `scripts/bench` for what each row calls.

# %% [markdown] lang="zh"
# ## 自己再测一次 {#again}
#
# 换一台机器，数字会不同；倍数的差别通常比时间的差别小。下面各条命令会先准备好测量所需的环境，最后一条除外：它要等环境建好之后再用。
#
# | 命令 | 作用 |
# |---|---|
# | `make bench` | 测所有行和所有增长曲线，结果打印成文本，并写入 `.cache/bench.json` |
# | `make bench ROW=rope` | 只测名字以此开头的 |
# | `make bench CHECK=1` | 测全部，有目标没达到就以失败结束 |
# | `make bench KEEP=1` | 测全部，并把结果保存下来供本页使用 |
# | `make bench-site` | 测量构建和预览；也可以加 `CHECK=1` 和 `KEEP=1` |
# | `.venv/bin/pip install '.[peers]'` | 安装其他库；没有安装的，相应位置留空 |
#
# 只有完整的一次运行才会保存，因为两次运行的数据不该放进同一张表。每一行究竟调用了什么，见 `scripts/bench`。
