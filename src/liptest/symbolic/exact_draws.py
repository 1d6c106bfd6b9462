"""Draws of noise that are exact: digits of a uniform number decide, one after the other.

U has a digit for each coin, as many as are asked for. The noise is the number N whose distribution
function passes U there: every comparison of U with the function is decided by balls, with further
digits where a ball leaves it open. So N has the law of the noise itself, not that of a float
(docs/theory/size.md, S15).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb

from liptest.balls import precision, to_fmpq
from liptest.errors import SymbolicError
from liptest.symbolic.noise import Noise
from liptest.symbolic.rounded_laws import mass_beyond

RandomBelow = Callable[[int], int]
_DIGITS = 64
# Halvings of the scale that a first interval has.
_FIRST = 4


class ExactDraw:
    """One draw of a noise variable, of which intervals are told that become shorter.

    ``below(n)`` is uniform on 0 .. n-1, and the only source of randomness.
    """

    def __init__(self, noise: Noise, below: RandomBelow) -> None:
        self.noise = noise
        self._below = below
        self._digits = 0
        self._uniform = 0
        self._width = Fraction(1) if noise.is_discrete else noise.parameter / (1 << _FIRST)
        self._cell = self._first_cell()

    @property
    def interval(self) -> tuple[Fraction, Fraction]:
        """Both ends of an interval that holds the draw; they are equal for whole numbers."""
        low = self._cell * self._width
        return low, low if self.noise.is_discrete else low + self._width

    def halve(self) -> None:
        """Learn which half of the interval it lies in; whole numbers are known already."""
        if self.noise.is_discrete:
            return
        self._width /= 2
        self._cell *= 2
        if not self._is_within(self._cell):
            self._cell += 1

    def _first_cell(self) -> int:
        """The lowest cell whose end is not passed."""
        low, high = -1, 1
        while not self._is_within(high):
            low, high = high, 2 * high
        while self._is_within(low):
            low, high = 2 * low, low
        while high - low > 1:
            middle = (low + high) // 2
            if self._is_within(middle):
                high = middle
            else:
                low = middle
        return high

    def _is_within(self, cell: int) -> bool:
        """Whether the draw lies in this cell or in a lower one."""
        end = Fraction(cell) if self.noise.is_discrete else (cell + 1) * self._width
        while True:
            if self._digits:
                with precision(2 * self._digits):
                    mass = probability_up_to(self.noise, end)
                    size = arb(1 << self._digits)
                    if arb(self._uniform + 1) / size <= mass:
                        return True
                    if arb(self._uniform) / size >= mass:
                        return False
            self._uniform = self._uniform << _DIGITS | self._below(1 << _DIGITS)
            self._digits += _DIGITS


def probability_up_to(noise: Noise, end: Fraction) -> arb:
    """A ball that holds P(N <= end), at the precision that is set."""
    parameter = to_fmpq(noise.parameter)
    at = to_fmpq(end)
    if noise.family == "geometric":
        count = math.floor(end)
        return arb(0) if count < 1 else 1 - arb(1 - parameter) ** count
    if noise.family == "two-sided geometric":
        count = math.floor(end)
        if count < 0:
            return arb(parameter) ** -count / arb(1 + parameter)
        return 1 - arb(parameter) ** (count + 1) / arb(1 + parameter)
    if noise.is_discrete:
        raise SymbolicError(f"{noise.family} noise has no law here")
    if noise.family == "exponential" and end <= 0:
        return arb(0)
    return mass_beyond(noise.family, parameter, at, -1)


def draw_cell(
    constant: Fraction, terms: Sequence[tuple[ExactDraw, Fraction]], step: Fraction
) -> int:
    """floor(y / step + 1/2) of y = constant + the sum of factors times draws, exactly.

    It ends unless a continuous y is a rounding point itself, which has probability 0.
    """
    half = Fraction(1, 2)
    while True:
        low, high = _find_ends(constant, terms)
        least, most = math.floor(low / step + half), math.floor(high / step + half)
        if least == most:
            return least
        for draw, _ in terms:
            draw.halve()


def draw_sign(constant: Fraction, terms: Sequence[tuple[ExactDraw, Fraction]]) -> int:
    """1, 0 or -1: the sign of a constant plus the sum of factors times draws, exactly.

    It ends unless continuous numbers add up to 0, which has probability 0.
    """
    factors: dict[ExactDraw, Fraction] = {}
    for draw, factor in terms:
        factors[draw] = factors.get(draw, Fraction(0)) + factor
    parts = [(draw, factor) for draw, factor in factors.items() if factor]
    while True:
        low, high = _find_ends(constant, parts)
        if low > 0 or high < 0 or low == high:
            return (low > 0) - (high < 0)
        for draw, _ in parts:
            draw.halve()


def _find_ends(
    constant: Fraction, terms: Sequence[tuple[ExactDraw, Fraction]]
) -> tuple[Fraction, Fraction]:
    """What a sum lies between, as far as its draws are known."""
    low = high = constant
    for draw, factor in terms:
        ends = [factor * end for end in draw.interval]
        low, high = low + min(ends), high + max(ends)
    return low, high
