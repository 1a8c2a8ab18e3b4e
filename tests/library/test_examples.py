"""The examples of the docstrings, run as they stand: the reference shows what they give."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
import torch

import tokpos


def modules() -> list[str]:
    found = pkgutil.walk_packages(tokpos.__path__, "tokpos.")
    return [module.name for module in found if "._" not in module.name]


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_a_module(name: str, unchecked_shapes: None) -> None:
    torch.manual_seed(0)
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed


@pytest.mark.parametrize("name", tokpos.__all__)
def test_what_the_package_offers_has_an_example(name: str) -> None:
    assert ">>> " in (getattr(tokpos, name).__doc__ or "")
