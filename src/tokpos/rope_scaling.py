"""RoPE for inputs longer than those of the training: each rule chooses other frequencies.

A slow pair turns by a small part of a circle in the whole training. Beyond its length the pair
reaches angles that the model has never met. Every rule slows pairs down so that they stay in the
known part, and the rules differ in which pairs they slow, and by how much.

The settings are those of a checkpoint's ``rope_parameters`` in ``transformers`` (older files say
``rope_scaling``), checked by name. The result is a pure function of settings and length: no rule
remembers an earlier input.

`tokpos.figures.rope.scaling_rules`
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from tokpos._types import Float, Tensor
from tokpos.sinusoidal import frequencies


class ScaledFrequencies(NamedTuple):
    """What a rule gives to `tokpos.rope.rotation`.

    Attributes
    ----------
    frequencies
        Radians per position, one for each pair, as float64.
    attention_factor
        Multiplies cosine and sine. It enters a score twice, through the query and the key.
    """

    frequencies: Float[Tensor, " pairs"]
    attention_factor: float


LENGTH_RULES = ("dynamic", "longrope")
"""The rules whose frequencies depend on how long the input gets."""

_KEYS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(required.split()), frozenset(optional.split()))
    for name, required, optional in (
        ("default", "", ""),
        ("linear", "factor", ""),
        ("ntk", "factor", ""),
        ("dynamic", "factor original_max_position_embeddings", ""),
        (
            "yarn",
            "factor original_max_position_embeddings",
            "attention_factor beta_fast beta_slow mscale mscale_all_dim truncate",
        ),
        (
            "llama3",
            "factor low_freq_factor high_freq_factor original_max_position_embeddings",
            "",
        ),
        (
            "longrope",
            "short_factor long_factor original_max_position_embeddings",
            "factor attention_factor",
        ),
        ("proportional", "partial_rotary_factor", "factor"),
    )
}
"""For each rule the settings that it needs and those that it may have."""

_ELSEWHERE = {
    "rope_theta": "it is the argument base",
    "partial_rotary_factor": "it is the head width times this number, as the width",
    "type": "it is now named rope_type",
    "mrope_section": "it belongs to tokpos.rope_axes",
}


def scaled_frequencies(
    width: int,
    base: float = 10000.0,
    scaling: Mapping[str, Any] | None = None,
    length: int | None = None,
    device: torch.device | str | None = None,
) -> ScaledFrequencies:
    """Frequencies and attention factor by one of the rules.

    With ``theta_i = base^(-2i/d)``, d the width, L0 the length of the training
    (``original_max_position_embeddings``) and s the ``factor``:

    - ``default``: ``theta_i``.
    - ``linear`` (position interpolation): ``theta_i / s``.
    - ``ntk``: the base is multiplied by ``s^(d/(d-2))``. The first pair keeps its frequency, the
      last one gets ``theta_i / s``.
    - ``dynamic``: the same with ``s L/L0 - (s-1)`` in place of s for L above L0, else ``theta_i``.
    - ``yarn``: ``theta_i`` for pairs that turn more than ``beta_fast`` times in L0, ``theta_i / s``
      for those below ``beta_slow``, and a ramp over the pairs between. ``truncate`` (true if left
      out) rounds the ends of the ramp to whole pairs. The attention factor is ``0.1 ln s + 1``;
      given, ``attention_factor`` wins; ``mscale`` and ``mscale_all_dim``, which stand together,
      make it ``(0.1 mscale ln s + 1) / (0.1 mscale_all_dim ln s + 1)``.
    - ``llama3``: as yarn with the limits ``high_freq_factor`` and ``low_freq_factor``, but the
      ramp is over the number of turns, and there is no attention factor.
    - ``longrope``: ``theta_i`` divided by a number for each pair, ``long_factor`` for L above L0,
      else ``short_factor``. The attention factor is ``sqrt(1 + ln s / ln L0)``; given,
      ``attention_factor`` wins.
    - ``proportional``: ``theta_i / s`` for the first ``partial_rotary_factor`` of the pairs, 0 for
      the others.

    Parameters
    ----------
    width
        Number of features that are turned; even.
    base
        Sets how slow the last pair is; in any case above 1.
    scaling
        ``rope_type``, which names the rule, and the rule's own settings. None is ``default``.
    length
        How long the input gets: L. Only ``dynamic`` and ``longrope`` read it. Left out, L0. Keys
        in a cache keep the frequencies of the length that they were turned with.
    device
        Where the result is made.

    Returns
    -------
    ScaledFrequencies
        The frequencies as float64, and the attention factor.

    Raises
    ------
    ValueError
        If a rule or a setting is unknown, missing or out of its range, the width is odd, or 2 where
        the rule changes the base, the base is not above 1, the length is negative, or a list has
        not one number for each pair.
    TypeError
        If a setting is not a number, a list of numbers or a truth value where it must be one.

    References
    ----------
    Chen et al., *Extending Context Window of Large Language Models via Positional Interpolation*
    (2023), equation 4. Peng et al., *YaRN* (2023), equations 13 to 22 and section 3.4: the paper's
    ramp is over the number of turns, its published code and every library take it over the pairs,
    as here. Ding et al., *LongRoPE* (2024), and the settings of Phi-3. Grattafiori et al., *The
    Llama 3 Herd of Models* (2024), and the code of Llama 3.1.

    Examples
    --------
    >>> from tokpos.rope_scaling import scaled_frequencies
    >>> scaled_frequencies(8).frequencies
    tensor([1.0000, 0.1000, 0.0100, 0.0010], dtype=torch.float64)
    >>> settings = {"rope_type": "linear", "factor": 4}
    >>> scaled_frequencies(8, scaling=settings).frequencies
    tensor([0.2500, 0.0250, 0.0025, 0.0003], dtype=torch.float64)
    """
    settings: dict[str, Any] = {"rope_type": "default"} if scaling is None else dict(scaling)
    check_scaling(settings)
    if length is not None and length < 0:
        raise ValueError(f"length must not be negative, got {length}")
    theta = frequencies(width, base, device)
    rule: str = settings["rope_type"]
    factor = float(settings.get("factor", 1.0))
    if rule == "linear":
        return ScaledFrequencies(theta / factor, 1.0)
    if rule == "ntk":
        return ScaledFrequencies(_of_stretched_base(width, base, factor, device), 1.0)
    if rule == "dynamic":
        ratio = max(1.0, (length or 0) / settings["original_max_position_embeddings"])
        stretch = 1 + factor * (ratio - 1)
        return ScaledFrequencies(_of_stretched_base(width, base, stretch, device), 1.0)
    if rule == "yarn":
        return ScaledFrequencies(_yarn(theta, width, base, settings), _yarn_factor(settings))
    if rule == "llama3":
        return ScaledFrequencies(_llama3(theta, settings), 1.0)
    if rule == "longrope":
        return ScaledFrequencies(_longrope(theta, settings, length), _longrope_factor(settings))
    if rule == "proportional":
        turning = int(settings["partial_rotary_factor"] * width // 2)
        pair = torch.arange(len(theta), device=device)
        return ScaledFrequencies(torch.where(pair < turning, theta / factor, 0.0), 1.0)
    return ScaledFrequencies(theta, 1.0)


def _of_stretched_base(
    width: int, base: float, stretch: float, device: torch.device | str | None
) -> Tensor:
    if width == 2:
        raise ValueError("width must be at least 4 to change the base: one pair turns by 1 radian")
    return frequencies(width, base * stretch ** (width / (width - 2)), device)


def _yarn(theta: Tensor, width: int, base: float, settings: Mapping[str, Any]) -> Tensor:
    trained = settings["original_max_position_embeddings"]

    def pair_that_turns(times: float) -> float:
        return width * math.log(trained / (2 * math.pi * times)) / (2 * math.log(base))

    first = pair_that_turns(float(settings.get("beta_fast", 32)))
    last = pair_that_turns(float(settings.get("beta_slow", 1)))
    if settings.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, width - 1)
    last = max(last, first + 0.001)  # a step in place of no ramp, as in the published code
    pair = torch.arange(len(theta), dtype=torch.float64, device=theta.device)
    slowed = ((pair - first) / (last - first)).clamp(0, 1)
    return _between(theta, theta / settings["factor"], slowed)


def _yarn_factor(settings: Mapping[str, Any]) -> float:
    if settings.get("attention_factor") is not None:
        return float(settings["attention_factor"])
    grown = 0.1 * math.log(max(1.0, settings["factor"]))
    scale, scale_all = settings.get("mscale", 1.0), settings.get("mscale_all_dim")
    return float((scale * grown + 1) / (1 if scale_all is None else scale_all * grown + 1))


def _llama3(theta: Tensor, settings: Mapping[str, Any]) -> Tensor:
    low, high = settings["low_freq_factor"], settings["high_freq_factor"]
    turns = settings["original_max_position_embeddings"] * theta / (2 * math.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return _between(theta / settings["factor"], theta, kept)


def _between(start: Tensor, end: Tensor, share: Tensor) -> Tensor:
    return start * (1 - share) + end * share


def _longrope(theta: Tensor, settings: Mapping[str, Any], length: int | None) -> Tensor:
    for name in ("short_factor", "long_factor"):
        if len(settings[name]) != len(theta):
            raise ValueError(
                f"{name} must hold one number for each of {len(theta)} pairs, "
                f"got {len(settings[name])}"
            )
    is_long = (length or 0) > settings["original_max_position_embeddings"]
    name = "long_factor" if is_long else "short_factor"
    divisors: Tensor = torch.tensor(settings[name], dtype=torch.float64, device=theta.device)
    return theta / divisors


def _longrope_factor(settings: Mapping[str, Any]) -> float:
    if settings.get("attention_factor") is not None:
        return float(settings["attention_factor"])
    trained, factor = settings["original_max_position_embeddings"], settings["factor"]
    return math.sqrt(1 + math.log(max(1.0, factor)) / math.log(trained))


def check_scaling(settings: Mapping[str, Any]) -> None:
    """Refuse settings that a rule does not know, lacks, or cannot take.

    Parameters
    ----------
    settings
        As for `scaled_frequencies`.

    Raises
    ------
    ValueError
        If a rule or a setting is unknown, missing or out of its range.
    TypeError
        If a setting is not a number, a list of numbers or a truth value where it must be one.
    """
    rule = settings.get("rope_type")
    if rule not in _KEYS:
        raise ValueError(f"rope_type must be one of {', '.join(_KEYS)}; got {rule!r}")
    required, optional = _KEYS[rule]
    given = set(settings) - {"rope_type"}
    if unknown := sorted(given - required - optional):
        allowed = ", ".join(sorted(required | optional)) or "no setting"
        remedies = "".join(f"; {key}: {_ELSEWHERE[key]}" for key in unknown if key in _ELSEWHERE)
        raise ValueError(
            f"unknown settings {', '.join(unknown)} for rope_type {rule!r}, "
            f"which takes {allowed}{remedies}"
        )
    if missing := sorted(required - given):
        raise ValueError(f"rope_type {rule!r} needs the settings {', '.join(missing)}")
    for key in given:
        _check_setting(key, settings[key])
    _check_together(rule, settings)


def _check_setting(key: str, value: Any) -> None:
    if key == "truncate":
        if not isinstance(value, bool):
            raise TypeError(f"truncate must be True or False, got {value!r}")
        return
    if key == "attention_factor" and value is None:
        return  # checkpoints write it for "by the formula"
    numbers = value if key in ("short_factor", "long_factor") else [value]
    if not isinstance(numbers, Sequence) or not all(map(_is_number, numbers)):
        kind = "a list of numbers" if numbers is value else "a number"
        raise TypeError(f"{key} must be {kind}, got {value!r}")
    if not all(0 < number < math.inf for number in numbers):
        raise ValueError(f"{key} must be above 0 and finite, got {value!r}")
    if key == "partial_rotary_factor" and value > 1:
        raise ValueError(f"{key} must be at most 1, got {value!r}")
    if key == "original_max_position_embeddings" and value < 2:
        raise ValueError(f"{key} must be at least 2, got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_together(rule: str, settings: Mapping[str, Any]) -> None:
    if ("mscale" in settings) != ("mscale_all_dim" in settings):
        raise ValueError("mscale and mscale_all_dim must be given together: their ratio counts")
    for low, high in (("beta_slow", "beta_fast"), ("low_freq_factor", "high_freq_factor")):
        below, above = settings.get(low, 1), settings.get(high, 32)
        if not below < above:
            raise ValueError(f"{low} must be below {high}, got {below} and {above}")
    if rule == "longrope" and "factor" not in settings:
        if settings.get("attention_factor") is None:
            raise ValueError("rope_type 'longrope' needs factor or attention_factor")
