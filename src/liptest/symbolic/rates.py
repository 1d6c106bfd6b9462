"""Rates of exponentials: e^(rate * t) over the reals, or products of q^(power * t) over integers.

A rate is an exact rational number. Over the reals it is the rate itself. Over the integers it
stands for sum of power_i * ln q_i and is written as sum of power_i * 2**(64 i), so that rates add
as exponents do. Sums of powers times exponentials are kept as polynomials in e^(base * t), one for
each power of t and each offset: the rate is offset + base * exponent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

#: Multiples of the base that the largest rate may be.
_MOST_MULTIPLES = 64
_DIGIT = 64
_FAR = 128


class Rates:
    """How rates behave; one instance for all systems with the same bases, which keeps caches."""

    #: 1 where sums over [low, high) take the place of integrals.
    step = 0

    def __init__(self, base: Any) -> None:
        self.base = base
        self.offsets: list[Any] = [fmpq(0)]
        self._numbers: dict[Any, int] = {fmpq(0): 0}
        self._sums: dict[tuple[int, int], tuple[int, int]] = {}
        self._powers: dict[Any, Any] = {}
        self._parts: dict[Any, list[Any]] = {}
        self._weights: dict[Any, Any] = {}
        #: Functions that are known, by shape and precision.
        self.functions: dict[Any, Any] = {}

    def clear(self) -> None:
        """Forget what was computed."""
        for cache in (self._powers, self._parts, self._weights, self.functions):
            cache.clear()

    def split(self, rate: Any) -> tuple[int, int]:
        """(number of the offset, exponent) of a rate."""
        exponent = int((rate / self.base).floor())
        # Exponents that are far apart belong to different polynomials.
        exponent = (exponent + _FAR) % (2 * _FAR) - _FAR
        offset = rate - self.base * exponent
        number = self._numbers.get(offset)
        if number is None:
            number = self._numbers[offset] = len(self.offsets)
            self.offsets.append(offset)
        return number, exponent

    def rate(self, offset: int, exponent: int) -> Any:
        """The rate of an offset's number and an exponent."""
        return self.offsets[offset] + self.base * exponent

    def added(self, left: int, right: int) -> tuple[int, int]:
        """(number, carry): offsets left + right = offset + base * carry."""
        found = self._sums.get((left, right))
        if found is None:
            found = self.split(self.offsets[left] + self.offsets[right])
            self._sums[left, right] = found
        return found

    def power(self, rate: Any, distance: Any) -> Any:
        """e^(rate * distance)."""
        key = (rate.p, rate.q, distance.p, distance.q, ctx.prec)
        found = self._powers.get(key)
        if found is None:
            found = self._powers[key] = self._power(rate, distance)
        return found

    def _power(self, rate: Any, distance: Any) -> Any:
        return arb(rate * distance).exp()

    def sign(self, rate: Any) -> int:
        """Of the rate: 1 where the exponential grows, 0 where it is constant."""
        return int(rate > 0) - int(rate < 0)

    def primitive(self, power: int, rate: Any) -> list[Any]:
        """Coefficients a_j: sum of a_j t^j e^(rate t) has the derivative t^power e^(rate t)."""
        key = (power, rate.p, rate.q, ctx.prec)
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = self._primitive(power, rate)
        return found

    def _primitive(self, power: int, rate: Any) -> list[Any]:
        if rate == 0:
            return [arb(0)] * (power + 1) + [arb(fmpq(1, power + 1))]
        found = [arb(0)] * (power + 1)
        found[power] = 1 / arb(rate)
        for j in range(power - 1, -1, -1):
            found[j] = -(j + 1) * found[j + 1] / arb(rate)
        return found

    def primitive_at(self, power: int, rate: Any, place: Any) -> Any:
        """The primitive at a place."""
        value, at = arb(0), arb(place)
        for coefficient in reversed(self.primitive(power, rate)):
            value = value * at + coefficient
        return value * self.power(rate, place)

    def weight(self, power: int, offset: int, exponent: int, low: Any, high: Any) -> Any:
        """Integral of one term from low to high; None is infinite."""
        key = (power, offset, exponent, hashed(low), hashed(high), ctx.prec)
        found = self._weights.get(key)
        if found is None:
            rate = self.rate(offset, exponent)
            above = arb(0) if high is None else self.primitive_at(power, rate, high)
            below = arb(0) if low is None else self.primitive_at(power, rate, low)
            sign = self.sign(rate)
            if (high is None and sign >= 0) or (low is None and sign <= 0):
                above = arb.nan()
            found = self._weights[key] = above - below
        return found


class WholeRates(Rates):
    """Over the integers: the base is the first of the numbers q."""

    step = 1

    def __init__(self, ratios: tuple[Fraction, ...]) -> None:
        super().__init__(fmpq(1))
        self.ratios = tuple(fmpq(one.numerator, one.denominator) for one in ratios)
        self._signs: dict[Any, int] = {}

    def exponents(self, rate: Any) -> list[int]:
        """Of the numbers q."""
        left, found = int(rate.p), []
        for _ in self.ratios:
            digit = ((left + (1 << (_DIGIT - 1))) & ((1 << _DIGIT) - 1)) - (1 << (_DIGIT - 1))
            found.append(digit)
            left = (left - digit) >> _DIGIT
        return found

    def _power(self, rate: Any, distance: Any) -> Any:
        value, steps = arb(1), int(distance.p)
        for ratio, exponent in zip(self.ratios, self.exponents(rate), strict=True):
            if exponent * steps:
                value *= arb(ratio) ** (exponent * steps)
        return value

    def sign(self, rate: Any) -> int:
        if rate == 0:
            return 0
        found = self._signs.get(rate)
        if found is None:
            found = self._signs[rate] = self._sign(rate)
        return found

    def _sign(self, rate: Any) -> int:
        value = self._power(rate, fmpq(1))
        if value > 1:
            return 1
        if value < 1:
            return -1
        exact = Fraction(1)
        for ratio, exponent in zip(self.ratios, self.exponents(rate), strict=True):
            exact *= Fraction(int(ratio.p), int(ratio.q)) ** exponent
        return (exact > 1) - (exact < 1)

    def _primitive(self, power: int, rate: Any) -> list[Any]:
        """sum of a_j t^j q^t, whose difference from t to t + 1 is t^power q^t."""
        ratio, whole = self._power(rate, fmpq(1)), self.sign(rate) == 0
        found = [arb(0)] * (power + 1 + whole)
        if whole:
            for j in range(power, -1, -1):
                rest = sum((found[i] * math.comb(i, j) for i in range(j + 2, power + 2)), arb(0))
                found[j + 1] = (int(j == power) - rest) / (j + 1)
            return found
        for j in range(power, -1, -1):
            rest = sum((found[i] * math.comb(i, j) for i in range(j + 1, power + 1)), arb(0))
            found[j] = (int(j == power) - ratio * rest) / (ratio - 1)
        return found


def hashed(value: Any) -> Any:
    """What stands for a number in a key: rationals of the flint library hash slowly."""
    return None if value is None else (value.p, value.q)


def digit(place: int) -> Any:
    """The rate that stands for ln q of the number at a place."""
    return fmpq(1 << (_DIGIT * place))


def common_base(rates: Iterable[Any]) -> Any:
    """A base of which all rates are small multiples, or the most frequent rate."""
    counts = Counter(rates)
    if not counts:
        return fmpq(1)
    found = fmpq(0)
    for rate in counts:
        found = _gcd(found, rate)
    if max(counts) <= found * _MOST_MULTIPLES:
        return found
    return max(counts, key=lambda rate: (counts[rate], rate))


def _gcd(left: Any, right: Any) -> Any:
    one, other = int(left.p) * int(right.q), int(right.p) * int(left.q)
    return fmpq(math.gcd(one, other), int(left.q) * int(right.q))
