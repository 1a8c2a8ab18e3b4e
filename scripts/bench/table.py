"""What a run prints: a block of aligned lines for each row, and what was missed at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEADINGS = ("", "ratio", "quartiles", "ms", "peak MiB", "error")


def block(row: Mapping[str, Any]) -> str:
    """A row as text: its verdict, then a line for each way."""
    lines = [f"{row['name']}: {row['title']}", f"    {verdict(row)}"]
    cells = [HEADINGS, *(_cells(way) for way in row["ways"])]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEADINGS))]
    for name, *numbers in cells:
        shown = [cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)]
        lines.append("    " + "  ".join([name.ljust(widths[0]), *shown]).rstrip())
    return "\n".join(lines)


def verdict(row: Mapping[str, Any]) -> str:
    """OK, MISSED, or NOT RUN, and the targets."""
    if row["not_run"]:
        return f"NOT RUN: {row['not_run']}"
    if row["missed"]:
        return f"MISSED: {'; '.join(row['missed'])}"
    return f"OK: {targets(row)}"


def targets(row: Mapping[str, Any]) -> str:
    """What the row demands of tokpos."""
    target = row["target"]
    words = []
    if "ratio" in target:
        words.append(f"ratio at most {target['ratio']:g}")
    if "mib" in target:
        words.append(f"peak at most {target['mib']:g} MiB")
    if "error" in target:
        words.append(f"{row['error_name']} at most {target['error']:g}")
    for name, factor in target.get("times_faster", {}).items():
        words.append(f"{factor:g} times faster than {name}")
    return ", ".join(words) or "no target"


def _cells(way: Mapping[str, Any]) -> tuple[str, ...]:
    if "why_not" in way:
        return (f"{way['name']}: {way['why_not']}", "", "", "", "", "")
    low, middle, high = way["ratio"]
    return (
        way["name"],
        f"{middle:.3g}",
        f"{low:.3g}..{high:.3g}",
        f"{way['milliseconds']:.3g}",
        f"{way['mib']:.1f}" if "mib" in way else "",
        f"{way['error']:.1e}" if "error" in way else "",
    )


def curve(found: Mapping[str, Any]) -> str:
    """A growth as text: for each way its times, and the exponents."""
    lines = [f"{found['name']}: {found['title']}"]
    sizes = "  ".join(f"{size:,}".rjust(9) for size in found["sizes"])
    lines.append(f"    {found['against']} = ".ljust(32) + sizes)
    for way in found["ways"]:
        times = "  ".join(f"{1e3 * ms[1]:,.3g}".rjust(9) for ms in way["milliseconds"])
        power = f"time {found['against']}^{way['time_exponent']:.2f}"
        lines.append(f"    {way['name']}, µs".ljust(32) + f"{times}  {power}")
        if "mib" in way:
            peaks = "  ".join(f"{mib:.3g}".rjust(9) for mib in way["mib"])
            power = ""
            if way["memory_exponent"] is not None:
                power = f"memory {found['against']}^{way['memory_exponent']:.2f}"
            lines.append("    peak MiB".ljust(32) + f"{peaks}  {power}")
    return "\n".join(lines)


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each row that is not in order, or that all are."""
    odd = [f"{row['name']}: {verdict(row)}" for row in rows if row["missed"] or row["not_run"]]
    kept = len(rows) - len(odd)
    return "\n".join([f"{kept} of {len(rows)} rows meet their targets", *odd])
