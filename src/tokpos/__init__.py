"""Token and position: what happens between a sentence and the first attention layer.

Every public name stands in the table below and is imported when it is first used, so that
``import tokpos`` costs no more than ``import torch``. A function that has its module's name
(``lookup`` in ``tokpos.lookup``) is reached through the module alone: at this level the name
means the module, always.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokpos.bert import BertEmbeddings
    from tokpos.embedding import TokenEmbedding
    from tokpos.lookup import Cost, cost_of_lookup, cost_of_product, one_hot, one_hot_product
    from tokpos.position import PositionEncoding, ScoreTerms
    from tokpos.sinusoidal import (
        SinusoidalEncoding,
        frequencies,
        sinusoidal_table,
        wavelengths,
    )

__version__ = "0.1.0"

__all__ = [
    "BertEmbeddings",
    "Cost",
    "PositionEncoding",
    "ScoreTerms",
    "SinusoidalEncoding",
    "TokenEmbedding",
    "cost_of_lookup",
    "cost_of_product",
    "frequencies",
    "one_hot",
    "one_hot_product",
    "sinusoidal_table",
    "wavelengths",
]

_HOME = {
    "BertEmbeddings": "bert",
    "Cost": "lookup",
    "PositionEncoding": "position",
    "ScoreTerms": "position",
    "SinusoidalEncoding": "sinusoidal",
    "TokenEmbedding": "embedding",
    "cost_of_lookup": "lookup",
    "cost_of_product": "lookup",
    "frequencies": "sinusoidal",
    "one_hot": "lookup",
    "one_hot_product": "lookup",
    "sinusoidal_table": "sinusoidal",
    "wavelengths": "sinusoidal",
}

_MODULES = {"bert", "embedding", "figures", "lookup", "position", "results", "sinusoidal"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tokpos.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"tokpos.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tokpos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
