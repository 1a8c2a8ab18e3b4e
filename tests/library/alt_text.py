"""What stands for a picture, to be compared in every language."""

from __future__ import annotations

from tokpos.figures import Figure


def plain(text: str) -> str:
    """The text with the marks of English lists."""
    return text.replace("、", ", ").replace("；", "; ").replace("：", ": ")


def alt(figure: Figure, language: str) -> str:
    return plain(figure.alt(language))
