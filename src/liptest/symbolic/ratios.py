"""Bounds on the logarithm of the ratio of two densities of one variable, over all its values.

On a piece on which both are sums of powers of u = e^(base t) the ratio is a rational function of
u. An interval of u is bisected: on each part the ratio lies in an enclosure by intervals, and in
one by its derivative (mean value form), until the largest value is known to ``_CLOSE``. A tail is
an interval of u that reaches 0, once the lowest powers are divided out; where these differ the
ratio has no bound.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, arb_poly, fmpq

from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic.functions import Function, Piece, origin_of, restricted
from liptest.symbolic.rates import Rates

_CLOSE = 1e-12
# Intervals that are looked at on one piece.
_MOST = 20_000
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
    for low, high in _stretches(above, below):
        one, other = (_piece_on(function, low, high) for function in (above, below))
        if one is None and other is None:
            continue
        if one is None or other is None:
            return without_bound((_inside(low, high),), above=other is None)
        ratio = _Ratio.of(rates, one, other, low, high)
        if ratio.unbounded:
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


def _stretches(above: Function, below: Function) -> list[tuple[Any, Any]]:
    pieces = [*above, *below]
    cuts = sorted({end for one in pieces for end in (one.low, one.high) if end is not None})
    ends = [None, *cuts, None]
    return list(pairwise(ends))


def _piece_on(function: Function, low: Any, high: Any) -> Piece | None:
    for piece in function:
        starts = piece.low is None or (low is not None and piece.low <= low)
        if starts and (piece.high is None or (high is not None and high <= piece.high)):
            return piece
    return None


def _inside(low: Any, high: Any) -> Any:
    if low is None or high is None:
        return high - 1 if low is None and high is not None else (low or _ZERO) + 1
    return (low + high) / 2


@dataclass(frozen=True)
class _Ratio:
    """u**extra * p(u) / q(u) for u = e^(slope (t - origin)) in [first, last].

    On a tail ``first`` is 0, p(0) and q(0) are not, and ``extra`` is 0; where it cannot be,
    ``unbounded`` is the sign of the logarithm as u falls to 0.
    """

    p: Any
    q: Any
    first: Any
    last: Any
    origin: Any
    slope: Any
    extra: Any = _ZERO
    unbounded: int = 0

    @staticmethod
    def of(rates: Rates, one: Piece, other: Piece, low: Any, high: Any) -> _Ratio:
        origin = origin_of(low, high)
        # A right tail is written in e^(-base t), so that u runs to 0 there.
        slope = -rates.base if high is None else rates.base
        (p, above), (q, below) = (
            _powers(rates, restricted(rates, piece, low, high, 0), slope < 0)
            for piece in (one, other)
        )
        ends = _at(slope, low, origin), _at(slope, high, origin)
        first, last = ends[::-1] if slope < 0 else ends
        if first is not None:
            return _Ratio(p, q, first, last, origin, slope, above - below)
        sign = int(above < below) - int(above > below)
        return _Ratio(p, q, arb(0), last, origin, slope, _ZERO, sign)

    def log(self, u: Any) -> Any:
        """An enclosure of the logarithm of the ratio for all u of a ball."""
        found = (self.p(u) / self.q(u)).log()
        return found + arb(u).log() * arb(self.extra) if self.extra else found

    def log_around(self, middle: Any, box: Any) -> Any:
        """The same for all u of a box, from the value in its middle.

        p = c q there; what p - c q comes to elsewhere is small, with all that cancels in it.
        """
        c = self.p(middle) / self.q(middle)
        gap = (self.p.derivative() - self.q.derivative() * c)(box) * (box - middle)
        found = c.log() + (gap / (c * self.q(box))).log1p()
        return found + arb(box).log() * arb(self.extra) if self.extra else found

    def place(self, u: Any) -> Any:
        """The value of the variable for a u, as a rational number nearby."""
        if u <= 0:
            return self.far_places()[-1]
        return self.origin + _near(arb(u).log() / arb(self.slope))

    def far_places(self) -> tuple[Any, ...]:
        """On the way to u = 0."""
        return tuple(self.origin - far / self.slope for far in (1, 4, 16, 60))


def _near(ball: Any) -> Any:
    exact = Fraction(float(ball.mid()))
    return fmpq(exact.numerator, exact.denominator)


def _at(slope: Any, end: Any, origin: Any) -> Any:
    return None if end is None else arb(slope * (end - origin)).exp()


def _powers(rates: Rates, terms: Any, reverse: bool) -> tuple[Any, Any]:
    """(p, power): the sum is u**power * p(u), p(0) not 0; with ``reverse``, u = e^(-base t)."""
    if len(terms) != 1 or next(iter(terms))[0]:
        raise UnsupportedForm(
            "noise of different scales, or numbers compared one by one (numpy.max compares "
            "all at once), that are answered"
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
        self._points(ratio, [ratio.first, ratio.last])
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
        heap = [(0.0, number, ratio.first.mid(), ratio.last.mid(), upper)]
        while heap:
            _, _, low, high, upper = heapq.heappop(heap)
            if upper <= self._low + _CLOSE:
                break
            if number > _MOST:
                raise SymbolicError("the largest ratio of two densities was not found; round them")
            middle = ((low + high) / 2 if low <= 0 else (low * high).sqrt()).mid()
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
