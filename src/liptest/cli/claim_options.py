"""Claims in other forms than epsilon and delta, and the step of a grid, as they are written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from cyclopts import Group, Parameter

from liptest.errors import InputError, quote
from liptest.mechanisms.additive import check_step

CLAIM = Group("Claim")
#: The keys of all forms of claim beside epsilon.
NOTIONS = ("rho", "renyi", "mu", "curve")
_GIVE = {
    "renyi": "--renyi 2:1.0 (order:divergence, several with commas)",
    "curve": "--curve 1:1e-3,2:1e-6 (epsilon:delta)",
}

Rho = Annotated[float | None, Parameter(group=CLAIM, help="Instead: zCDP.")]
Renyi = Annotated[
    str | None,
    Parameter(group=CLAIM, help="Instead: Renyi DP, order:divergence, 2:1.0,8:3."),
]
Mu = Annotated[float | None, Parameter(group=CLAIM, help="Instead: Gaussian DP.")]
Curve = Annotated[
    str | None,
    Parameter(group=CLAIM, help="Instead: several epsilon:delta, 1:1e-3,2:1e-6."),
]


def read_pairs(name: str, text: str) -> list[tuple[str, str]]:
    """ "2:1.0,8:3" as pairs of texts; InputError for anything else."""
    pairs = [tuple(part.split(":")) for part in text.split(",")]
    if any(len(pair) != 2 or not all(end.strip() for end in pair) for pair in pairs):
        raise InputError(
            f"{name}={quote(text)} is not a list of pairs; give {_GIVE[name]}", name=name
        )
    return [(pair[0].strip(), pair[1].strip()) for pair in pairs]


def from_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """The claims that arguments of a command state, as keys of a check."""
    claims: dict[str, Any] = {key: options.get(key) for key in NOTIONS}
    for key in ("renyi", "curve"):
        if claims[key] is not None:
            claims[key] = read_pairs(key, claims[key])
    return claims


def to_arguments(model: Any) -> dict[str, Any]:
    """The claims of a check as keyword arguments of ``check_privacy``, those that are stated."""
    claims: dict[str, Any] = {key: getattr(model, key) for key in NOTIONS}
    pairs = claims["curve"]
    if pairs is not None:
        if len({epsilon for epsilon, _ in pairs}) < len(pairs):
            raise InputError("curve: an epsilon is stated twice", name="curve")
        claims["curve"] = dict(pairs)
    return {key: value for key, value in claims.items() if value is not None}


def read_grid_step(text: str) -> Fraction:
    """The step of a grid as it is written, a decimal number or p/q, exactly; InputError else."""
    try:
        # As a float first: of 1e999999999 no fraction is made.
        if "/" not in text and not 0 < float(text) < math.inf:
            raise ValueError
        return check_step(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(
            f"grid_step={text!r} is not a number above 0; write 1, 0.01 or 1/7", name="grid_step"
        ) from None
