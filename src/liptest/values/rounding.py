"""Equal up to the rounding of floats: what a run with real floats gives is near the exact value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

# Floats of the code differ from exact values by their rounding; more is another number.
SHARE_OF_FLOATS, _ONE = Fraction(1, 10**9), Fraction(1)
# Far from the ends of what floats hold.
_MOST = 1 << 256


@dataclass(frozen=True, eq=False)
class Near:
    """Equal to numbers that differ from it by no more than the rounding of floats.

    Parameters
    ----------
    value
        The exact number, or what is not finite: that equals only itself, NaN too.
    size
        How large the parts are that add up to it: floats are rounded in such steps, of 1 at least.
    """

    value: Any
    size: Fraction

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (int, float, Fraction)):
            return False
        try:
            gap = abs(Fraction(other) - Fraction(self.value))
        except (OverflowError, ValueError):
            return str(other) == str(self.value)
        return gap <= SHARE_OF_FLOATS * max(self.size, _ONE)


def is_exact_factor(factor: Fraction) -> bool:
    """Whether floats that a program has are multiplied by it without rounding: a power of two."""
    top, bottom = abs(factor.numerator), factor.denominator
    return 0 < top < _MOST and bottom < _MOST and not (top & (top - 1) or bottom & (bottom - 1))


def is_negative_zero(number: Any) -> Any:
    """Whether it is -0.0, of a float or of each entry of an array of floats."""
    return (number == 0) & np.signbit(number)


def holds_negative_zero(value: Any) -> bool:
    """Whether a float is -0.0, or one of the entries of an array of floats; False for others."""
    kind = type(value)  # what is symbolic calls itself a float, too
    is_array = issubclass(kind, np.ndarray) and value.dtype.kind == "f"
    is_float = is_array or issubclass(kind, (float, np.floating))
    return is_float and bool(np.any(is_negative_zero(value)))
