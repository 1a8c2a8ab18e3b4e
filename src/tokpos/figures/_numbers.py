"""Numbers as figures show them."""

from __future__ import annotations


def signed(number: int) -> str:
    """A whole number with its sign, as a figure shows it."""
    return f"{number:+d}".replace("-", "−") if number else "0"


def wave(length: float) -> str:
    """A wavelength with three digits or more."""
    return f"{length:,.{2 if length < 10 else 1 if length < 100 else 0}f}"


def decimal(value: float, digits: int = 3) -> str:
    """A number with so many digits after the point, and no minus before a zero."""
    words = f"{value:.{digits}f}"
    return words.lstrip("-") if float(words) == 0 else words.replace("-", "−")
