"""Bounds on the logarithm of the ratio of two densities of one variable, over all its values.

The interval between two ends of pieces is bisected: on each part the ratio lies in an enclosure by
intervals, and in one by its derivative (mean value form), until the largest value is known to
``_CLOSE``. On a tail on which both are sums of powers of u = e^(base t) the ratio is a rational
function of u, and the interval of u reaches 0, once the lowest powers are divided out; where these
differ the ratio has no bound.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import arb, arb_poly, fmpq

from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic.functions import Function, Piece, restricted
from liptest.symbolic.rates import Rates
from liptest.symbolic.terms import Terms, derivative, sum_of, times, value_at

_CLOSE = 1e-12
# Intervals that are looked at on one piece.
_MOST = 20_000
# How far out to look where there is no bound, and where a bound is only approached.
_FARTHER = tuple(2**k for k in range(31))
_FAR = 60
_ZERO = fmpq(0)


@dataclass(frozen=True)
class Extremes:
    """Largest and smallest ln(g / h), as balls; None for both where one of them is infinite.

    ``above`` and ``below`` are values of the variable at which the ratio comes close to them, or
    on the way to where it has no bound, the least far one first.
    """

    largest: arb | None
    smallest: arb | None
    above: tuple[Any, ...] = ()
    below: tuple[Any, ...] = ()


def extremes(rates: Rates, above: Function, below: Function) -> Extremes:
    """Of ln(above / below) over all t where one of them is not 0.

    Raises UnsupportedForm where tails are no sums of exponentials, SymbolicError where balls are
    too wide for an answer.
    """
    ratios = []
    for low, high in stretches(above, below):
        one, other = (piece_on(function, low, high) for function in (above, below))
        if one is None and other is None:
            continue
        if one is None or other is None:
            return without_bound((_inside(low, high),), above=other is None)
        ratio = _ratio(rates, one, other, low, high)
        if isinstance(ratio, _Tail) and ratio.unbounded:
            return without_bound(ratio.far_places(), above=ratio.unbounded > 0)
        ratios.append(ratio)
    largest, smallest = _Best(1), _Best(-1)
    for ratio in ratios:
        for side in (largest, smallest):
            side.look_at(ratio)
    return Extremes(largest.ball(), smallest.ball(), (largest.at,), (smallest.at,))


def without_bound(places: tuple[Any, ...], *, above: bool) -> Extremes:
    """Of a log ratio that has no upper bound, or no lower one, on the way through some places."""
    return Extremes(None, None, *((places, ()) if above else ((), places)))


def stretches(above: Function, below: Function) -> list[tuple[Any, Any]]:
    """Between two ends of pieces of one of them, in order; None is infinite."""
    pieces = [*above, *below]
    cuts = sorted({end for one in pieces for end in (one.low, one.high) if end is not None})
    ends = [None, *cuts, None]
    return list(pairwise(ends))


def piece_on(function: Function, low: Any, high: Any) -> Piece | None:
    """The piece of a function that holds a stretch, None where it is 0 there."""
    for piece in function:
        starts = piece.low is None or (low is not None and piece.low <= low)
        if starts and (piece.high is None or (high is not None and high <= piece.high)):
            return piece
    return None


def _inside(low: Any, high: Any) -> Any:
    if low is None or high is None:
        return high - 1 if low is None and high is not None else (low or _ZERO) + 1
    return (low + high) / 2


class _Ratio:
    """The log ratio of two densities on an interval of a coordinate, from ``first`` to ``last``."""

    first: Any
    last: Any

    def log(self, box: Any) -> Any:
        """An enclosure for all coordinates of a ball."""
        raise NotImplementedError

    def log_around(self, middle: Any, box: Any) -> Any:
        """The same from the value in the middle of a ball.

        p = c q there; what p - c q comes to elsewhere is small, with all that cancels in it.
        """
        raise NotImplementedError

    def place(self, coordinate: Any) -> Any:
        """The value of the variable, as a rational number nearby."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Bounded(_Ratio):
    """Between two finite ends; the coordinate is the distance from the origin of the terms."""

    rates: Rates
    p: Terms
    q: Terms
    first: Any
    last: Any
    origin: Any

    def log(self, box: Any) -> Any:
        return (value_at(self.rates, self.p, box) / value_at(self.rates, self.q, box)).log()

    def log_around(self, middle: Any, box: Any) -> Any:
        c = value_at(self.rates, self.p, middle) / value_at(self.rates, self.q, middle)
        p, q = self._slopes
        gap = value_at(self.rates, sum_of([p, times(q, -c)]), box) * (box - middle)
        return c.log() + (gap / (c * value_at(self.rates, self.q, box))).log1p()

    def place(self, coordinate: Any) -> Any:
        return self.origin + _near(arb(coordinate))

    @cached_property
    def _slopes(self) -> tuple[Terms, Terms]:
        return derivative(self.rates, self.p), derivative(self.rates, self.q)


@dataclass(frozen=True)
class _Tail(_Ratio):
    """p(u) / q(u) for u = e^(slope (t - origin)) from 0 on; p(0) and q(0) are not 0.

    Where that cannot be, ``unbounded`` is the sign of the logarithm as u falls to 0.
    """

    p: Any
    q: Any
    last: Any
    origin: Any
    slope: Any
    unbounded: int = 0
    first: Any = 0

    @staticmethod
    def of(rates: Rates, p: Terms, q: Terms, low: Any, high: Any) -> _Tail:
        # A right tail is written in e^(-base t), so that u runs to 0 there.
        slope = rates.base if low is None else -rates.base
        (above, power), (below, other) = (_powers(rates, one, slope < 0) for one in (p, q))
        sign = int(power < other) - int(power > other)
        return _Tail(above, below, arb(1), high if low is None else low, slope, sign)

    def log(self, box: Any) -> Any:
        return (self.p(box) / self.q(box)).log()

    def log_around(self, middle: Any, box: Any) -> Any:
        c = self.p(middle) / self.q(middle)
        gap = (self.p.derivative() - self.q.derivative() * c)(box) * (box - middle)
        return c.log() + (gap / (c * self.q(box))).log1p()

    def place(self, coordinate: Any) -> Any:
        if coordinate <= 0:
            return self._out(_FAR)
        return self.origin + _near(arb(coordinate).log() / arb(self.slope))

    def far_places(self) -> tuple[Any, ...]:
        """On the way to u = 0."""
        return tuple(map(self._out, _FARTHER))

    def _out(self, far: int) -> Any:
        return self.origin - far / self.slope


def _ratio(rates: Rates, one: Piece, other: Piece, low: Any, high: Any) -> _Bounded | _Tail:
    p, q = (restricted(rates, piece, low, high, 0) for piece in (one, other))
    if low is None or high is None:
        return _Tail.of(rates, p, q, low, high)
    return _Bounded(rates, p, q, 0, arb(high - low), low)


def _near(ball: Any) -> Any:
    exact = Fraction(float(ball.mid()))
    return fmpq(exact.numerator, exact.denominator)


def _powers(rates: Rates, terms: Terms, reverse: bool) -> tuple[Any, Any]:
    """(p, power): the sum is u**power * p(u), p(0) not 0; with ``reverse``, u = e^(-base t)."""
    if len(terms) != 1 or next(iter(terms))[0]:
        raise UnsupportedForm(
            "noise of scales without a small common measure, or several sums of it, answered"
        )
    (((_, offset), (low, poly)),) = terms.items()
    coefficients, rate = poly.coeffs(), rates.rate(offset, low)
    if reverse:
        rate = -(rate + rates.base * (len(coefficients) - 1))
        coefficients = coefficients[::-1]
    start = next(k for k, one in enumerate(coefficients) if not one.is_zero())
    if coefficients[start].contains(0):
        raise SymbolicError("a density is too close to 0 in its tail; rescale the noise")
    return arb_poly(coefficients[start:]), rate / rates.base + start


class _Best:
    """The largest ``sign`` * logarithm of all ratios that were looked at."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self._low: Any = None
        self._high: Any = None
        self.at: Any = None

    def ball(self) -> arb:
        """The largest one, with its sign back."""
        ball: arb = self._low.union(self._high) * self._sign
        return ball

    def look_at(self, ratio: _Ratio) -> None:
        """Take in all u of a ratio."""
        self._points(ratio, [arb(ratio.first), ratio.last])
        self._bisect(ratio)

    def _points(self, ratio: _Ratio, places: list[Any]) -> None:
        for u in places:
            value = ratio.log(u) * self._sign
            if not value.is_finite():
                raise UnsupportedForm("densities that fall to 0 at the end of a range")
            if self._low is None or value.lower() > self._low:
                self._low, self.at = value.lower(), ratio.place(u)
            self._high = value.upper() if self._high is None else self._high.max(value.upper())

    def _bisect(self, ratio: _Ratio) -> None:
        number, upper = 0, arb("inf")
        heap = [(0.0, number, arb(ratio.first), ratio.last.mid(), upper)]
        while heap:
            _, _, low, high, upper = heapq.heappop(heap)
            if upper <= self._low + _CLOSE:
                break
            if number > _MOST:
                raise SymbolicError("the largest ratio of two densities was not found; round them")
            middle = ((low + high) / 2).mid()
            for ends in ((low, middle), (middle, high)):
                number += 1
                bound = self._bound(ratio, *ends)
                heapq.heappush(heap, (-float(bound), number, *ends, bound))
            self._points(ratio, [middle])
        # What is left has no larger bound than the interval that was looked at last.
        self._high = self._high.max(upper)

    def _bound(self, ratio: _Ratio, low: Any, high: Any) -> Any:
        box = arb(low).union(arb(high))
        plain = (ratio.log(box) * self._sign).upper()
        middle = box.mid()
        curved = (ratio.log_around(middle, box) * self._sign).upper()
        bounds = [one for one in (plain, curved) if one.is_finite()]
        return min(bounds, key=float, default=arb("inf"))
