"""What it costs to shift noise: the largest log ratio of its density to the shifted one.

docs/theory/size.md, S2. A shift by s of a variable of density f costs sup ln f(x) - ln f(x + s).
All costs here are linear on either side of 0, so two numbers say all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from liptest.balls import ball, precision
from liptest.symbolic.forms import Rational
from liptest.symbolic.noise import Noise

_BITS = 128


@dataclass(frozen=True)
class ShiftCost:
    """Of one noise: what a shift by 1 to the right and to the left costs; None is infinite.

    ``is_whole``: only whole shifts are possible. Rates are exact, or rounded up by 2**-100.
    """

    right: Fraction | None
    left: Fraction | None
    is_whole: bool = False

    def price(self, shift: Rational) -> Fraction | None:
        """What a shift costs; None is infinite."""
        if not shift:
            return Fraction(0)
        rate = self.right if shift > 0 else self.left
        if rate is None or (self.is_whole and Fraction(shift).denominator != 1):
            return None
        return rate * max(shift, -shift)

    @property
    def is_fixed(self) -> bool:
        """Whether no shift has a finite cost."""
        return self.right is None and self.left is None


_FIXED = ShiftCost(None, None)


@lru_cache(maxsize=1024)
def shift_cost(noise: Noise) -> ShiftCost:
    """The row of a noise in the table of S2; what is not in the table is not shifted."""
    parameter = noise.parameter
    if noise.family in ("laplace", "logistic"):
        return ShiftCost(1 / parameter, 1 / parameter)
    if noise.family in ("exponential", "gumbel"):
        return ShiftCost(1 / parameter, None)
    if noise.family in ("rounded exponential", "rounded gumbel"):
        return ShiftCost(1 / parameter, None, is_whole=True)
    if noise.family == "two-sided geometric" and 0 < parameter < 1:
        rate = _minus_log(parameter)
        return ShiftCost(rate, rate, is_whole=True)
    if noise.family == "geometric" and 0 < parameter < 1:
        return ShiftCost(_minus_log(1 - parameter), None, is_whole=True)
    return _FIXED


def total_price(costs: Mapping[int, ShiftCost], shifts: Mapping[int, Rational]) -> Fraction | None:
    """Of independent noises that are shifted by these amounts; None is infinite."""
    total = Fraction(0)
    for variable, shift in shifts.items():
        price = costs[variable].price(shift)
        if price is None:
            return None
        total += price
    return total


def _minus_log(ratio: Fraction) -> Fraction:
    """An upper bound of -ln of a ratio in (0, 1)."""
    with precision(_BITS):
        return upper_end(-ball(ratio).log())


def upper_end(ball: arb) -> Fraction:
    """The upper end of a ball, exactly."""
    mantissa, exponent = (int(part) for part in ball.upper().mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent
