"""Run the benchmark, or a part of it.

    python -m scripts.bench                     every row and every growth
    python -m scripts.bench --row rope          those whose name begins with it
    python -m scripts.bench --check             exit with 1 if a target is missed
    python -m scripts.bench --keep              write the kept results of the package
    python -m scripts.bench --list              the names

`make bench`, with ROW=..., CHECK=1, KEEP=1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from scripts.bench import growth, table
from scripts.bench.measure import ROOT, SEED, Settings, keep_freed_memory, measure
from scripts.bench.rows import ROWS
from tokpos.results import Result, record

PEERS = ("transformers", "torchtune", "rotary-embedding-torch", "x-transformers")


def main(arguments: Sequence[str] | None = None, settings: Settings | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.bench", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--row", nargs="*", default=[], help="names, or how they begin")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    parser.add_argument("--keep", action="store_true", help="write the kept results")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--budget", type=float, help="CPU seconds for each row, memory apart")
    parser.add_argument("--json", type=Path, default=ROOT / ".cache" / "bench.json")
    asked = parser.parse_args(arguments)
    if asked.list:
        print("\n".join([*ROWS, *growth.GROWTHS]))
        return 0
    names = choose(asked.row)
    torch.set_num_threads(1)
    keep_freed_memory()
    settings = settings or Settings()
    if asked.budget is not None:
        settings = replace(settings, budget=asked.budget)
    rows: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    results: list[Result] = []
    for name in names:
        if name in ROWS:
            rows.append(measure(ROWS[name], settings))
            print(table.block(rows[-1]) + "\n", flush=True)
        else:
            curves.append(growth.measure(growth.GROWTHS[name], settings))
            print(table.curve(curves[-1]) + "\n", flush=True)
        results = [_result("bench", {"rows": rows}), _result("growth", {"curves": curves})]
        _write(results, asked.json)  # after each, as a run may be stopped
    if asked.keep:
        _keep(results, set(names))
    if rows:
        print(table.summary(rows))
    bad = [row["name"] for row in rows if row["missed"]]
    return int(asked.check and bool(bad))


def choose(beginnings: Sequence[str]) -> list[str]:
    """The rows and growths with these names, or whose names begin so; all if none is given."""
    every = [*ROWS, *growth.GROWTHS]
    if not beginnings:
        return every
    for beginning in beginnings:
        if not any(name.startswith(beginning) for name in every):
            known = "\n  ".join(every)
            raise SystemExit(f"no row is named {beginning!r}, nor begins so; there are\n  {known}")
    exact = [name for name in every if name in beginnings]
    vague = [beginning for beginning in beginnings if beginning not in exact]
    return [
        name
        for name in every
        if name in exact or any(name.startswith(beginning) for beginning in vague)
    ]


def _result(name: str, data: dict[str, Any]) -> Result:
    result = record(name, "scripts/bench/__main__.py", SEED, data)
    return replace(
        result,
        versions=result.versions | _peer_versions(),
        machine=f"{result.machine}, cores: {os.cpu_count()}",
    )


def _peer_versions() -> dict[str, str]:
    """Those that are installed; the rows name the others."""
    found = {}
    for package in PEERS:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def _write(results: list[Result], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {result.name: asdict(result) for result in results}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _keep(results: list[Result], ran: set[str]) -> None:
    """Write whole results: lines of two runs do not belong in one table."""
    for result, whole in zip(results, (set(ROWS), set(growth.GROWTHS)), strict=True):
        if whole <= ran:
            print(f"kept as {result.save().relative_to(ROOT)}")
        elif whole & ran:
            print(f"{result.name}.json is not written: only a whole run is kept", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
