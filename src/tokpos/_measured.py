"""What the benchmark found, as tables and lists in the reader's language.

Every number comes from the kept results `bench` and `growth`, and so does which rows miss their
targets. The words for rows and ways are here, once; a row without words is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tokpos._words import Told, say
from tokpos.results import Result

WORK: dict[str, dict[str, str]] = {
    "rope": {
        "rope-interleaved": "RoPE, interleaved, q and k of [8, 12, 512, 64]",
        "rope-half-split": "RoPE, half-split, q and k of [8, 12, 512, 64]",
        "rope-far": "RoPE, half-split, positions 32,768 to 33,279",
        "rope-interleaved-training": "RoPE, interleaved, with backward",
        "rope-half-split-training": "RoPE, half-split, with backward",
        "rope-interleaved-bf16": "RoPE, interleaved, bfloat16",
        "rope-half-split-bf16": "RoPE, half-split, bfloat16",
        "rope-compiled": "RoPE, half-split, compiled",
        "rope-compiled-training": "RoPE, half-split, compiled, with backward",
        "rope-compiled-interleaved": "RoPE, interleaved, compiled",
        "rope-compiled-interleaved-training": "RoPE, interleaved, compiled, with backward",
        "rope-step": "RoPE of one token, half-split, q and k of [8, 12, 1, 64] at position 4,000",
    },
    "scores": {
        "alibi-attention": "attention with ALiBi, causal, S = 2,048, 16 heads",
        "t5-bias": "T5 bias, S = 512, 12 heads",
        "t5-bias-training": "T5 bias, with backward",
        "shaw-keys": "Shaw, keys, S = 2,048, clip 16",
        "shaw-keys-training": "Shaw, keys, with backward",
        "shaw-values": "Shaw, values, S = 1,024, clip 16",
    },
    "tables": {
        "sinusoidal-8192": "sinusoidal table [8192, 1024]",
        "sinusoidal-131072": "sinusoidal table [131072, 512]",
        "lookup": "lookup of [8, 512] rows, V = 50,257, D = 384",
        "training-step": "training step of GPT-2's table, V = 50,257, D = 768, 512 tokens, SGD",
        "training-step-adam": "training step of GPT-2's table, SparseAdam",
        "bert-embedding": "BERT's embedding, inference, [32, 128], D = 768",
        "bert-embedding-pairs": "BERT's embedding, inference, two segments",
        "import": "import of tokpos after torch",
    },
}
"""The rows of each table, and what it calls them."""

_HALVES = (
    "The two features of a pair lie half a head apart, so that one complex product cannot turn "
    "them: each block is passed over several times."
)
_COMPILED = (
    "What runs is the compiler's own code for the readable formula; neighbors are taken apart in "
    "it and put together again."
)
_DIAGONALS = (
    "There is one value for each offset, but the whole matrix must be written, and in the "
    "backward pass read and summed along its diagonals."
)
_BAND = (
    "After the product, the few vectors have to be spread over all pairs, or collected from them."
)
_SPARSE = "The step is PyTorch's own; what is added is the check of the IDs and of the table."
_BERT = (
    "Besides one gather and one LayerNorm there are the position rows to add; with two segments "
    "the rows come from a table twice as large."
)
_FLOAT64 = (
    "Every number is part of a product in complex128 and then rounded once; the clone copies "
    "numbers that are there already."
)

LIMITED_BY = {
    "rope-interleaved": "One complex product turns a pair; the clone does no arithmetic at all.",
    "rope-half-split": _HALVES,
    "rope-far": _HALVES,
    "rope-interleaved-training": "The products are made twice, forward and backward.",
    "rope-half-split-training": _HALVES,
    "rope-interleaved-bf16": (
        "Each number is widened to float32, turned, and rounded once; the clone moves half as "
        "many bytes and does none of it."
    ),
    "rope-half-split-bf16": (
        "Each number is widened to float32, turned in several passes, and rounded once; the clone "
        "moves half as many bytes and does none of it."
    ),
    "rope-compiled": "What runs is the compiler's own code for the readable formula.",
    "rope-compiled-training": "What runs is the compiler's own code for the readable formula.",
    "rope-compiled-interleaved": _COMPILED,
    "rope-compiled-interleaved-training": _COMPILED,
    "rope-step": (
        "Most of the work here is probably starting the kernels, and the arguments are checked as "
        "well."
    ),
    "alibi-attention": "The bias is one more number to read and to add for each score.",
    "t5-bias": _DIAGONALS,
    "t5-bias-training": _DIAGONALS,
    "shaw-keys": _BAND,
    "shaw-keys-training": _BAND,
    "shaw-values": _BAND,
    "sinusoidal-8192": _FLOAT64,
    "sinusoidal-131072": _FLOAT64,
    "lookup": "The lookup is PyTorch's own; what is added is the check of the IDs.",
    "training-step": _SPARSE,
    "training-step-adam": _SPARSE,
    "bert-embedding": _BERT,
    "bert-embedding-pairs": _BERT,
    "import": (
        "No module of the package is read before its name is used. What is left is noise: the "
        "time of torch itself varies from one start to the next."
    ),
}
"""What stands between a row and its limit; said where the row misses its target."""

WAYS = {
    "clone of the table": "clone of the table",
    "clone of q and k": "clone of q and k",
    "2 clones": "clone of q and k",
    "4 clones": "two clones of q and k",
    "the usual formula, unchecked": "the usual formula, unchecked",
    "PyTorch's attention, no bias": "PyTorch's attention, no bias",
    "clone of the bias": "clone of the bias",
    "2 clones of the bias": "two clones of the bias",
    "nn.Embedding, sparse, SGD": "PyTorch's table, sparse gradient",
    "nn.Embedding, sparse, SparseAdam": "PyTorch's table, sparse gradient",
    "a gather and a LayerNorm": "a gather and a LayerNorm",
    "the formula in float32": "the formula in float32",
    "skewing": "skewing",
    "one-hot product": "one-hot product",
    "dense, SGD": "dense gradient",
    "dense, Adam": "dense gradient",
    "angle addition": "angle addition",
    "formula": "formula",
    "interleaved": "interleaved",
    "half-split": "half-split",
    "one vector as the mask": "one vector as the mask",
    "built [H, S, S]": "matrix for each head",
    "each offset once": "each offset once",
    "each pair": "each pair",
    "33 products, then spread": "33 products, then spread",
    "a vector for each pair": "a vector for each pair",
    "lookup": "lookup",
    "sparse": "sparse gradient",
    "dense": "dense gradient",
}
"""What a table calls a way that is no library; any other name is code and stays as it is."""

ERRORS = {
    "error": "{number}",
    "error beyond the rounding": "{number} beyond the rounding",
    "packages it must not load": "packages it must not load: {number}",
}

GROWTHS = {
    "growth-sinusoidal": "sinusoidal table",
    "growth-rope": "RoPE",
    "growth-alibi-length": "attention with ALiBi",
    "growth-alibi-heads": "attention with ALiBi",
    "growth-t5": "T5 bias",
    "growth-shaw": "Shaw, keys",
    "growth-lookup": "128 rows of the table",
    "growth-training-step": "training step, SGD",
}

SITE = {
    "build-cold": "build, everything run; limit: the cells on all cores, then plain MkDocs",
    "build-warm": "build, nothing changed; limit: plain MkDocs",
    "build-jupyter": "build, everything run; limit: mkdocs-jupyter on the same notebooks",
    "edit-prose": "a paragraph edited while the site is served, until the open page shows it",
    "edit-code": "a cell edited while the site is served, besides the run of its lesson",
    "growth-cold": "exponent of the CPU time of a build in which everything runs",
    "growth-executed": "lessons that run again after one cell was edited",
}

IN_SECONDS = ("edit-prose", "edit-code")
"""What has no limit to be divided by."""

ANGLES_INCLUDED = "tokpos, angles included"
"""The way of RoPE that makes its cosines and sines at each call."""

WHY_NOT = ("torch.compile needs a C++ compiler",)
"""Why a row may not run."""

Words = Callable[..., str]

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOTHING = "—"


class Miss(NamedTuple):
    """A target that was missed."""

    words: str
    number: str
    wanted: str
    way: str = ""


def table(result: Result, subject: str) -> Told:
    """The rows of a subject: tokpos, target, the fastest other way, peak memory, error."""
    rows = _rows(result, subject)

    def tell(language: str) -> str:
        words = _in(language, "the table of the benchmark")
        heads = ["Work", "tokpos", "Target", "Fastest other", "Peak, MiB", "Error"]
        lines = [
            [
                words(
                    "{work}<br>limit: {way}",
                    work=_unbroken(words(WORK[subject][row["name"]])),
                    way=_way(row["ways"][0]["name"], result, words),
                ),
                _ratio(row, words),
                _target(row, result, words),
                _fastest_other(row, result, words),
                _with_most(_ours(row).get("mib"), row["target"].get("mib"), words),
                _error(row, words),
            ]
            for row in rows
        ]
        return _markdown([words(head) for head in heads], lines)

    return Told(tell)


def missed(result: Result) -> Told:
    """How many rows meet their targets, and those that do not, each with what limits it."""
    rows = [row for subject in WORK for row in _rows(result, subject)]
    odd = [row for row in rows if misses(row)]
    kept = len(rows) - sum(bool(row["missed"] or row["not_run"]) for row in rows)

    def tell(language: str) -> str:
        words = _in(language, "the list of missed targets")
        head = "{kept} of {count} rows meet their targets."
        if odd:
            head = "{kept} of {count} rows meet their targets. These do not:"
        lines = [words(head, kept=kept, count=len(rows)), ""]
        for row in odd:
            reason = words(LIMITED_BY[row["name"]])
            low, middle, _ = _ours(row)["ratio"]
            if low <= row["target"].get("ratio", 0) < middle:
                reason = words("{reason} The lower quartile meets the target.", reason=reason)
            item = words(
                "**{work}**: {misses}. {reason}",
                work=words(_work(row)),
                misses=words("; ").join(_missed_words(miss, result, words) for miss in misses(row)),
                reason=reason,
            )
            lines.append(f"- {item}")
        return "\n".join(lines)

    return Told(tell)


def faster_elsewhere(result: Result) -> Told:
    """The rows in which something else takes less time than tokpos."""
    found = []
    for row in (row for subject in WORK for row in _rows(result, subject)):
        other = _other(row)
        if other and "ratio" in _ours(row) and other["ratio"][1] < _ours(row)["ratio"][1]:
            found.append((row, other))

    def tell(language: str) -> str:
        words = _in(language, "the list of faster ways")
        if not found:
            return words("In no row is another library or way faster than tokpos.")
        lines = [words("Another library or way is faster than tokpos here:"), ""]
        for row, other in found:
            item = words(
                "**{work}**: {way} takes {theirs} times the limit, tokpos {ours}. {reason}",
                work=words(_work(row)),
                way=_way(other["name"], result, words),
                theirs=_number(other["ratio"][1]),
                ours=_number(_ours(row)["ratio"][1]),
                reason=words(LIMITED_BY[row["name"]]),
            )
            lines.append(f"- {item}")
        return "\n".join(lines)

    return Told(tell)


def exponents(result: Result) -> Told:
    """For each way of each growth the exponents of its time and its peak memory.

    The last way of a growth is the plain one, those before it are those of tokpos.
    """
    curves = {curve["name"]: curve for curve in result.data["curves"]}
    _demand("growth", set(GROWTHS), set(curves))

    def tell(language: str) -> str:
        words = _in(language, "the table of the exponents")
        heads = ["Work", "Way", "Time grows with", "Peak memory grows with"]
        lines = []
        for name, work in GROWTHS.items():
            *ours, plain = curves[name]["ways"]
            for way in (*ours, plain):
                called = _way(way["name"], result, words)
                lines.append(
                    [
                        words(work) if way is ours[0] else "",
                        called if way is plain else words("tokpos: {way}", way=called),
                        _power(curves[name]["against"], way["time_exponent"]),
                        _power(curves[name]["against"], way.get("memory_exponent")),
                    ]
                )
        return _markdown([words(head) for head in heads], lines)

    return Told(tell)


def site_costs(result: Result) -> Told:
    """What building and serving the site costs, beside its targets."""
    found = {target["name"]: target for target in result.data["targets"]}
    _demand("site", set(SITE), set(found))

    def tell(language: str) -> str:
        words = _in(language, "the table of the site")
        lines = []
        for name, work in SITE.items():
            unit = words("{number} s") if name in IN_SECONDS else "{number}"
            value, most = (f"{found[name][key]:.3g}" for key in ("value", "most"))
            measured = unit.format(number=value)
            if found[name]["missed"]:
                measured = words("**{measured}** (missed)", measured=measured)
            lines.append([words(work), measured, unit.format(number=most)])
        heads = [words(head) for head in ("Work", "Measured", "At most")]
        return _markdown(heads, lines)

    return Told(tell)


def misses(row: Mapping[str, Any]) -> list[Miss]:
    """The targets that the numbers of a row miss."""
    ours, target = _ours(row), row["target"]
    found: list[Miss] = []
    if row["not_run"]:
        return found
    if "ratio" in target and not ours["ratio"][1] <= target["ratio"]:
        numbers = _number(ours["ratio"][1]), _number(target["ratio"])
        found.append(Miss("{number} times the limit, at most {wanted} wanted", *numbers))
    if "mib" in target and "mib" in ours and not ours["mib"] <= target["mib"]:
        numbers = _number(ours["mib"]), _number(target["mib"])
        found.append(Miss("peak memory of {number} MiB, at most {wanted} wanted", *numbers))
    if "error" in target and "error" in ours and not ours["error"] <= target["error"]:
        numbers = _small(ours["error"]), _small(target["error"])
        found.append(Miss("error of {number}, at most {wanted} wanted", *numbers))
    for name, factor in target.get("times_faster", {}).items():
        other = next(way for way in row["ways"] if way["name"] == name)
        times = other["ratio"][1] / ours["ratio"][1]
        if not times >= factor:
            words = "{number} times faster than with {way}, at least {wanted} wanted"
            found.append(Miss(words, f"{times:.3g}", _number(factor), name))
    return found


def _in(language: str, speaker: str) -> Words:
    return lambda english, /, **values: say(english, language, speaker, **values)


def _rows(result: Result, subject: str) -> list[dict[str, Any]]:
    rows = {row["name"]: row for row in result.data["rows"]}
    _demand("bench", {name for names in WORK.values() for name in names}, set(rows))
    return [rows[name] for name in WORK[subject]]


def _demand(name: str, known: set[str], found: set[str]) -> None:
    if known != found:
        odd = ", ".join(sorted(known ^ found))
        raise ValueError(f"result {name!r} and the words for it must have the same rows; see {odd}")


def _work(row: Mapping[str, Any]) -> str:
    return next(names[row["name"]] for names in WORK.values() if row["name"] in names)


def _ours(row: Mapping[str, Any]) -> dict[str, Any]:
    ours: dict[str, Any] = next(way for way in row["ways"] if way["name"] == "tokpos")
    return ours


def _other(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fastest of what is neither the limit nor tokpos."""
    others = [
        way for way in row["ways"][1:] if "ratio" in way and not way["name"].startswith("tokpos")
    ]
    return min(others, key=lambda way: float(way["ratio"][1]), default=None)


# Cells


def _way(name: str, result: Result, words: Words) -> str:
    """A library without its version, another way in words, or code."""
    library, _, rest = name.partition(" ")
    if library in result.versions:
        return f"{library} {rest.partition(' ')[2]}".strip()
    return words(WAYS[name]) if name in WAYS else f"`{name}`"


def _ratio(row: Mapping[str, Any], words: Words) -> str:
    if row["not_run"]:
        why = row["not_run"]
        return words("not run: {why}", why=words(why) if why in WHY_NOT else why)
    low, middle, high = map(_number, _ours(row)["ratio"])
    spread = f"{low}\u2060–\u2060{high}"  # not to be broken
    ours = words("**{middle}** ({spread})", middle=middle, spread=spread)
    for way in row["ways"]:
        if way["name"] == ANGLES_INCLUDED and "ratio" in way:
            number = _number(way["ratio"][1])
            ours = words("{ours}<br>angles included: {number}", ours=ours, number=number)
    return ours


def _target(row: Mapping[str, Any], result: Result, words: Words) -> str:
    target = row["target"]
    parts: list[str] = []
    if "ratio" in target:
        parts.append(f"≤\u00a0{_number(target['ratio'])}")
    for name, factor in target.get("times_faster", {}).items():
        way = _way(name, result, words)
        parts.append(
            words("at least {factor} times faster than {way}", factor=_number(factor), way=way)
        )
    if misses(row):
        parts.append(words("**missed**"))
    return words(", ").join(parts) or NOTHING


def _fastest_other(row: Mapping[str, Any], result: Result, words: Words) -> str:
    other = _other(row)
    if other is None:
        return NOTHING
    return f"{_way(other['name'], result, words)} {_number(other['ratio'][1])}"


def _error(row: Mapping[str, Any], words: Words) -> str:
    error = _ours(row).get("error")
    if error is None:
        return NOTHING
    number = _with_most(error, row["target"].get("error"), words, _small)
    return words(ERRORS[row["error_name"]], number=number)


def _with_most(
    number: float | None,
    most: float | None,
    words: Words,
    write: Callable[[float], str] | None = None,
) -> str:
    write = write or _number
    if number is None:
        return NOTHING
    if most is None:
        return write(number)
    return words("{number} ({bound})", number=write(number), bound=f"≤\u00a0{write(most)}")


def _missed_words(miss: Miss, result: Result, words: Words) -> str:
    way = _way(miss.way, result, words) if miss.way else ""
    return words(miss.words, number=miss.number, wanted=miss.wanted, way=way)


def _unbroken(words: str) -> str:
    """The words with shapes and equations held together."""
    return re.sub(r"(?<=[=,]) (?=\d)|(?<=\w) (?==)", "\u00a0", words)


def _number(number: float) -> str:
    return f"{number:,g}"


def _small(number: float) -> str:
    """0.00000056 as 5.6 × 10⁻⁷."""
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    digits, _, power = f"{number:.1e}".partition("e")
    digits = digits.removesuffix(".0")
    ten = "10" + str(int(power)).translate(SUPERSCRIPT)
    return ten if digits == "1" else f"{digits}\u00a0×\u00a0{ten}"


def _power(against: str, exponent: float | None) -> str:
    if exponent is None:
        return NOTHING
    return f"{against}<sup>{exponent:.2f}</sup>".replace("-", "−")


def _markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    every = [heads, ["---"] * len(heads), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in every)
