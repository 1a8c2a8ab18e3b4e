"""The project's YAML files: what one holds, and where each text stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

# libyaml's, where PyYAML was built with it: ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), LOADER)


def entries(file: Path) -> Iterator[tuple[str, str, int]]:
    """Key, text and line of every text in a YAML file; nested keys are joined by dots."""
    return _entries(yaml.compose(file.read_text(encoding="utf-8"), LOADER))


def _entries(node: yaml.Node | None, prefix: str = "") -> Iterator[tuple[str, str, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _entries(value, f"{prefix}.{key.value}" if prefix else str(key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _entries(value, f"{prefix}.{index}")
    elif isinstance(node, yaml.ScalarNode):
        yield prefix, str(node.value), node.start_mark.line + 1
