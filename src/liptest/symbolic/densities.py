"""Densities of a sum of variables under constraints, bounds on their log ratio, and their excess.

The excess is the integral of (g - factor h)+.

Between two ends of pieces the sign of g - factor h is looked for by bisection, with enclosures by
intervals and by the derivative. Where it is certain the integral is a closed form. What is left
open is so short, or so close to 0, that it counts as an interval from 0 on; so does the part of an
infinite stretch beyond which g has next to no mass.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import arb, arb_poly, fmpq

from liptest.balls import to_fmpq
from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic import elimination as shapes
from liptest.symbolic import exponential_polynomials as functions
from liptest.symbolic.constraints import Ranges, gather_parts
from liptest.symbolic.elimination import plan_elimination
from liptest.symbolic.exponential_polynomials import (
    Function,
    Piece,
    Rates,
    Terms,
    derivative,
    integral,
    restrict,
    scale_function,
    sum_up,
    to_list,
    total,
    value_at,
)
from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import EXPONENTIAL, Noise
from liptest.symbolic.probability import find_function

_ZERO = fmpq(0)


@dataclass(frozen=True)
class Joint:
    """What is known of a sum of variables: the constraints that it depends on.

    The first factor of ``terms`` is 1; often it is one variable alone.
    """

    noises: tuple[Noise, ...]
    terms: shapes.Key
    part: Ranges | None

    @property
    def is_free(self) -> bool:
        """Whether it is one variable, on which nothing that is known depends."""
        return self.part is None and len(self.terms) == 1

    @property
    def variables(self) -> set[int]:
        """Those of the sum, and all that depend on them by what is known."""
        own = {variable for variable, _ in self.terms}
        return own if self.part is None else own.union(self.part.variables)


def joint(
    noises: tuple[Noise, ...], constraints: Iterable[Constraint], terms: shapes.Key
) -> Joint | None:
    """The parts of constraints, as seen from a sum; None where they are impossible."""
    parts = gather_parts(noises, constraints)
    if parts is None:
        return None
    variables = {variable for variable, _ in terms}
    parts_joined = [part for part in parts if not variables.isdisjoint(part.variables)]
    if len(parts_joined) < 2:
        return Joint(noises, terms, parts_joined[0] if parts_joined else None)
    ranges = {form: ends for part in parts_joined for form, ends in part.ranges.items()}
    return Joint(noises, terms, Ranges(parts_joined[0].whole, ranges))


def find_density(known: Joint, rates: Rates) -> functions.Function:
    """t -> density of the sum at t with its constraints, but for a factor that t does not change.

    Raises UnsupportedForm where a family is involved whose densities are not exponentials.
    """
    for noise in (known.noises[variable] for variable, _ in known.terms):
        if noise.family not in EXPONENTIAL:
            raise UnsupportedForm(f"{noise.family} noise that is both compared and answered")
    if known.is_free:
        return find_function(shapes.variable_density(rates, known.noises[known.terms[0][0]]))
    shape, shift = _product_at(known, rates)
    if shape.is_smooth:
        raise UnsupportedForm("noise that is compared with noise of another kind and answered")
    return functions.stretch_function(rates, find_function(shape), fmpq(1), shift)


def _product_at(known: Joint, rates: Rates) -> shapes.Moved:
    """All variables are eliminated but the root: the variable, or one more that is the sum."""
    ranges = {} if known.part is None else dict(known.part.half_open())
    root, is_sum = known.terms[0][0], len(known.terms) > 1
    sum_form: shapes.Key = ()
    if is_sum:
        root = max(known.variables) + 1
        sum_form = (*known.terms, (root, -1))
        if known.terms in ranges:
            ranges[((root, 1),)] = ranges.pop(known.terms)
    factors: dict[Any, list[shapes.Moved]] = {
        form: [shapes.interval(rates, *ends)] for form, ends in ranges.items()
    }
    forms = frozenset(ranges) | ({sum_form} if is_sum else frozenset())
    steps = plan_elimination(forms, known.part is not None and known.part.whole, root)
    if steps is None:
        raise UnsupportedForm("several sums of the same noise variables are compared or answered")
    for step in steps:
        own = factors.pop(step.alone, [])
        if step.variable != root or not is_sum:
            own.insert(0, (shapes.variable_density(rates, known.noises[step.variable]), _ZERO))
        inner = shapes.multiply_shapes(own)
        if step.outer is None:
            return inner
        if step.outer == sum_form:  # the sum minus the root is 0
            left = shapes.stretch_shape(inner, -1 / step.factor)
        else:
            outer = shapes.multiply_shapes(factors.pop(step.outer))
            left = shapes.convolution(inner, step.factor, outer)
        factors.setdefault(step.after, []).append(shapes.stretch_shape(left, step.scale))
    raise AssertionError("the root is eliminated last")


def in_terms_of(
    rates: Rates, function: functions.Function, factor: Fraction, constant: Fraction
) -> functions.Function:
    """The density of factor * t + constant where t has the density ``function``."""
    inverse = 1 / to_fmpq(factor)
    moved = functions.stretch_function(rates, function, inverse, inverse * to_fmpq(constant))
    return functions.enlarge(moved, arb(abs(inverse)))


# Bounds on the logarithm of the ratio of two densities of one variable, over all its values.
#
# The interval between two ends of pieces is bisected: on each part the ratio lies in an enclosure
# by intervals, and in one by its derivative (mean value form), until the largest value is known to
# ``_CLOSE``. On a tail on which both are sums of powers of u = e^(base t) the ratio is a rational
# function of u, and the interval of u reaches 0, once the lowest powers are divided out; where
# these differ the ratio has no bound.


_CLOSE = 1e-12
# Intervals that are looked at on one piece.
_MOST = 20_000
# How far out to look where there is no bound, and where a bound is only approached.
_FARTHER = tuple(2**k for k in range(31))
_FAR = 60


@dataclass(frozen=True)
class RatioExtremes:
    """Largest and smallest ln(g / h), as balls; None for both where one of them is infinite.

    ``above`` and ``below`` are values of the variable at which the ratio comes close to them, or
    on the way to where it has no bound, the least far one first.
    """

    largest: arb | None
    smallest: arb | None
    above: tuple[Any, ...] = ()
    below: tuple[Any, ...] = ()


def extremes(rates: Rates, above: Function, below: Function) -> RatioExtremes:
    """Of ln(above / below) over all t where one of them is not 0.

    Raises UnsupportedForm where tails are not sums of exponentials, SymbolicError where balls are
    too wide for an answer.
    """
    ratios = []
    for low, high in stretches(above, below):
        one, other = (piece_on(function, low, high) for function in (above, below))
        if one is None and other is None:
            continue
        if one is None or other is None:
            return without_bound((_inside(low, high),), above=other is None)
        for ratio in _ratios(rates, one, other, low, high):
            if isinstance(ratio, (TailRatio, PowerTail)) and ratio.unbounded:
                return without_bound(ratio.far_places(), above=ratio.unbounded > 0)
            ratios.append(ratio)
    largest, smallest = _Best(1), _Best(-1)
    for ratio in ratios:
        for side in (largest, smallest):
            side.look_at(ratio)
    return RatioExtremes(largest.ball(), smallest.ball(), (largest.at,), (smallest.at,))


def without_bound(places: tuple[Any, ...], *, above: bool) -> RatioExtremes:
    """Of a log ratio that has no upper bound, or no lower one, on the way through some places."""
    return RatioExtremes(None, None, *((places, ()) if above else ((), places)))


def stretches(above: Function, below: Function) -> list[tuple[Any, Any]]:
    """Between two ends of pieces of one of them, in order; None is infinite."""
    pieces = [*above, *below]
    cuts = sorted({end for piece in pieces for end in (piece.low, piece.high) if end is not None})
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


class _Ratio(ABC):
    """The log ratio of two densities on an interval of a coordinate, from ``first`` to ``last``."""

    first: Any
    last: Any

    @abstractmethod
    def above(self, box: Any) -> Any:
        """An enclosure of the first density for all coordinates of a ball, but for a factor."""

    @abstractmethod
    def below(self, box: Any) -> Any:
        """The same of the second density, but for the same factor."""

    @abstractmethod
    def gap_slope(self, c: Any, box: Any) -> Any:
        """An enclosure of the derivative of ``above - c * below``."""

    @abstractmethod
    def place(self, coordinate: Any) -> Any:
        """The value of the variable, as a rational number nearby."""

    def log(self, box: Any) -> Any:
        """An enclosure of the log ratio for all coordinates of a ball."""
        return (self.above(box) / self.below(box)).log()

    def log_around(self, middle: Any, box: Any) -> Any:
        """The same from the value in the middle of a ball.

        p = c q there; what p - c q comes to elsewhere is small, with all that cancels in it.
        """
        c = self.above(middle) / self.below(middle)
        gap = self.gap_slope(c, box) * (box - middle)
        return c.log() + (gap / (c * self.below(box))).log1p()


@dataclass(frozen=True)
class BoundedRatio(_Ratio):
    """Between two finite ends; the coordinate is the distance from the origin of the terms."""

    rates: Rates
    p: Terms
    q: Terms
    first: Any
    last: Any
    origin: Any

    def above(self, box: Any) -> Any:
        return value_at(self.rates, self.p, box)

    def below(self, box: Any) -> Any:
        return value_at(self.rates, self.q, box)

    def gap_slope(self, c: Any, box: Any) -> Any:
        p, q = self._slopes
        return value_at(self.rates, sum_up([p, scale_function(q, -c)]), box)

    def place(self, coordinate: Any) -> Any:
        return self.origin + _near(arb(coordinate))

    @cached_property
    def _slopes(self) -> tuple[Terms, Terms]:
        return derivative(self.rates, self.p), derivative(self.rates, self.q)


@dataclass(frozen=True)
class TailRatio(_Ratio):
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
    def of(rates: Rates, p: Terms, q: Terms, low: Any, high: Any) -> TailRatio:
        # A right tail is written in e^(-base t), so that u runs to 0 there.
        slope = rates.base if low is None else -rates.base
        (above, power), (below, other) = (
            lowest_powers(rates, terms, slope < 0) for terms in (p, q)
        )
        sign = int(power < other) - int(power > other)
        return TailRatio(above, below, arb(1), high if low is None else low, slope, sign)

    def above(self, box: Any) -> Any:
        return self.p(box)

    def below(self, box: Any) -> Any:
        return self.q(box)

    def gap_slope(self, c: Any, box: Any) -> Any:
        return (self.p.derivative() - self.q.derivative() * c)(box)

    def place(self, coordinate: Any) -> Any:
        if coordinate <= 0:
            return self._out(_FAR)
        return self.origin + _near(arb(coordinate).log() / arb(self.slope))

    def far_places(self) -> tuple[Any, ...]:
        """On the way to u = 0."""
        return tuple(map(self._out, _FARTHER))

    def _out(self, far: int) -> Any:
        return self.origin - far / self.slope


@dataclass(frozen=True)
class PowerTail(_Ratio):
    """The same for sums of powers times exponentials, in the coordinate s = 1 / |t - origin|.

    A term (n, b, c) is c s^n e^(-b / s); what both sides have in common, s^-power e^(-fall / s), is
    divided out. All terms but the constants rise with s from 0 to ``last``, and so do those of the
    derivative.
    """

    p: tuple[tuple[int, Any, Any], ...]
    q: tuple[tuple[int, Any, Any], ...]
    last: Any
    origin: Any
    outwards: int
    power: int
    fall: Any
    unbounded: int = 0
    first: Any = 0

    @staticmethod
    def of(rates: Rates, p: Terms, q: Terms, low: Any, high: Any) -> PowerTail:
        """Of a tail; SymbolicError where a density is too close to 0 in it."""
        outwards = -1 if low is None else 1
        sides = [_far_terms(rates, terms, outwards) for terms in (p, q)]
        (fall, power), (other_fall, other_power) = (_slowest(side) for side in sides)
        sign = int((fall, -power) < (other_fall, -other_power))
        sign -= int((fall, -power) > (other_fall, -other_power))
        above, below = (
            tuple((power - own, speed - fall, c) for own, speed, c in side) for side in sides
        )
        falling = [(n, b) for n, b, _ in (*above, *below) if b > 0]
        start = max([fmpq(1), *((2 - n) / b for n, b in falling)])
        origin = high if low is None else low
        return PowerTail(above, below, arb(1 / start), origin, outwards, power, fall, sign)

    @property
    def start(self) -> Any:
        """How far from the origin it begins."""
        return 1 / _near(self.last)

    def above(self, box: Any) -> Any:
        return _rising(self.p, box)

    def below(self, box: Any) -> Any:
        return _rising(self.q, box)

    def gap_slope(self, c: Any, box: Any) -> Any:
        p, q = (tuple(_slopes(side)) for side in (self.p, self.q))
        return _rising(p, box) - c * _rising(q, box)

    def place(self, coordinate: Any) -> Any:
        distance = fmpq(_FAR) * self.start if coordinate <= 0 else 1 / _near(arb(coordinate))
        return self.origin + self.outwards * distance

    def far_places(self) -> tuple[Any, ...]:
        """On the way out."""
        return tuple(self.origin + self.outwards * far * self.start for far in _FARTHER)


def _far_terms(rates: Rates, terms: Terms, outwards: int) -> list[tuple[int, Any, Any]]:
    """(power of the distance, how fast it falls, coefficient), without those that are 0."""
    return [
        (power, -rate * outwards, coefficient * outwards**power)
        for power, rate, coefficient in to_list(rates, terms)
        if not coefficient.is_zero()
    ]


def _slowest(terms: list[tuple[int, Any, Any]]) -> tuple[Any, int]:
    """How fast the term falls that is the largest far out, and its power."""
    power, fall, coefficient = min(terms, key=lambda term: (term[1], -term[0]))
    if coefficient.contains(0):
        raise SymbolicError("a density is too close to 0 in its tail; rescale the noise")
    return fall, power


def _rising(terms: Iterable[tuple[int, Any, Any]], box: Any) -> Any:
    """The sum for all s of a ball: each term lies between its values at the ends."""
    low, high = arb(box).lower().max(arb(0)), arb(box).upper()
    enclosure = arb(0)
    for power, fall, coefficient in terms:
        ends = [_term_at(power, fall, end) for end in (low, high)]
        enclosure += coefficient * ends[0].union(ends[1])
    return enclosure


def _term_at(power: int, fall: Any, s: arb) -> arb:
    if s.is_zero():
        return arb(1 if power == 0 and fall == 0 else 0)
    return s**power * arb(-arb(fall) / s).exp()


def _slopes(terms: Iterable[tuple[int, Any, Any]]) -> Iterator[tuple[int, Any, Any]]:
    for power, fall, coefficient in terms:
        if power:
            yield power - 1, fall, coefficient * power
        if fall:
            yield power - 2, fall, coefficient * fall


def has_powers(*several: Terms) -> bool:
    """Whether a power of the number is in one of them, beside exponentials."""
    return any(power for terms in several for power, _ in terms)


def _ratios(rates: Rates, one: Piece, other: Piece, low: Any, high: Any) -> Iterator[_Ratio]:
    p, q = (restrict(rates, piece, low, high, 0) for piece in (one, other))
    if low is not None and high is not None:
        yield BoundedRatio(rates, p, q, 0, arb(high - low), low)
    elif not has_powers(p, q):
        yield TailRatio.of(rates, p, q, low, high)
    else:
        tail = PowerTail.of(rates, p, q, low, high)
        yield tail
        ends = (low, low + tail.start) if high is None else (high - tail.start, high)
        yield from _ratios(rates, one, other, *ends)


def _near(ball: Any) -> Any:
    return to_fmpq(Fraction(float(ball.mid())))


def lowest_powers(rates: Rates, terms: Terms, reverse: bool) -> tuple[Any, Any]:
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
    start = next(k for k, coefficient in enumerate(coefficients) if not coefficient.is_zero())
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
        bounds = [bound for bound in (plain, curved) if bound.is_finite()]
        return min(bounds, key=float, default=arb("inf"))


#: (power, rate, coefficient) of each term.
Parts = list[tuple[int, Any, Any]]
#: From one value to another, None where infinite.
Stretch = tuple[Any, Any]
# What stays open weighs less than this, together a little more.
_NOTHING = arb(2) ** -220
# An enclosure so much larger than a value is not made smaller.
_SAME = 4


@dataclass(frozen=True)
class Excess:
    """The integral as a ball, and stretches on which g is certainly the larger one.

    Far out in a tail, where next to nothing is left of g, that is not looked at.
    """

    size: arb
    where: tuple[Stretch, ...]


def excess(rates: Rates, above: Function, below: Function, factor: arb) -> Excess:
    """Of ``above`` over ``factor`` * ``below``; SymbolicError where balls are too wide."""
    size = arb(0)
    where: list[Stretch] = []
    for low, high in stretches(above, below):
        one, other = piece_on(above, low, high), piece_on(below, low, high)
        if one is None:
            continue
        if other is None:
            cut = one._replace(low=low, high=high, terms=restrict(rates, one, low, high, 0))
            size += total(rates, [cut._replace(origin=_origin(low, high))])
            where.append((low, high))
            continue
        part = _on(rates, one, other, factor, (low, high))
        size += part.size
        where += part.where
    return Excess(size, _join(where))


def _origin(low: Any, high: Any) -> Any:
    return low if low is not None else high if high is not None else fmpq(0)


def _on(rates: Rates, one: Piece, other: Piece, factor: arb, stretch: Stretch) -> Excess:
    low, high = (end_of_mass(rates, one, stretch, side) for side in (0, 1))
    parts = [restrict(rates, piece, low, high, 0) for piece in (one, other)]
    gap = sum_up([parts[0], scale_function(parts[1], -factor)])
    certain, open_ = _positive(rates, gap, high - low)
    size = open_ + sum((integral(rates, gap, *ends) for ends in certain), arb(0))
    for side, end in enumerate((low, high)):
        if stretch[side] is None:
            size += arb(0).union(_beyond(rates, one, end, side).abs_upper())
    where = [(low + first, low + last) for first, last in certain]
    if where and stretch[0] is None and _is_above(rates, gap, fmpq(0), certain[0][0]):
        where[0] = None, where[0][1]
    if where and stretch[1] is None and _is_above(rates, gap, certain[-1][1], high - low):
        where[-1] = where[-1][0], None
    return Excess(size, tuple(where))


def _is_above(rates: Rates, gap: Terms, first: Any, last: Any) -> bool:
    """Whether a gap seems to stay above 0 on a stretch on which next to nothing is left."""
    places = (first + (last - first) * k / 4 for k in range(5))
    return all(value_at(rates, gap, arb(place)) > 0 for place in places)


def end_of_mass(rates: Rates, one: Piece, stretch: Stretch, side: int) -> Any:
    """The end of a stretch, or where next to nothing of a function lies further out."""
    if stretch[side] is not None:
        return stretch[side]
    inside = stretch[1 - side]
    start = inside if inside is not None else one.origin
    for power in range(-8, 256):
        end = start + (fmpq(2) ** power if side else -(fmpq(2) ** power))
        if _beyond(rates, one, end, side).abs_upper() < _NOTHING:
            return end
    raise SymbolicError("a density falls too slowly; rescale the noise")


def _beyond(rates: Rates, one: Piece, end: Any, side: int) -> arb:
    low, high = (end, None) if side else (None, end)
    mass: arb = total(rates, [Piece(low, high, end, restrict(rates, one, low, high, 0))])
    return mass


def _positive(rates: Rates, gap: Terms, length: Any) -> tuple[tuple[Stretch, ...], arb]:
    """Where a gap on [0, length) is certainly above 0, and what it may come to elsewhere."""
    parts = list(to_list(rates, gap)), list(to_list(rates, derivative(rates, gap)))
    positive, open_, looked = [], arb(0), 0
    waiting = [(fmpq(0), length)]
    while waiting:
        low, high = waiting.pop()
        looked += 1
        if looked > _MOST:
            raise SymbolicError("where one density exceeds the other was not found; round them")
        middle = (low + high) / 2
        centre = value_at(rates, gap, arb(middle))
        value = _enclose(*parts, (low, high), centre)
        if value <= 0:
            continue
        most = value.upper() * arb(high - low)
        if value > 0:
            positive.append((low, high))
        elif most < _NOTHING or _is_as_known(value, centre):
            open_ += arb(0).union(most)
        else:
            waiting += [(middle, high), (low, middle)]
    return _join(positive), open_


def _is_as_known(value: arb, centre: arb) -> bool:
    """Whether the sign is open because of what the function is known to, not of the stretch."""
    return bool(centre.contains(0)) and bool(value.upper() <= _SAME * centre.abs_upper())


def _enclose(gap: Parts, slope: Parts, ends: Stretch, centre: arb) -> arb:
    """All values of a function between two ends, given the one in the middle."""
    low, high = ends
    plain = _values(gap, low, high)
    if plain > 0 or plain <= 0:
        return plain
    box = arb(low).union(arb(high))
    curved = centre + _values(slope, low, high) * (box - arb((low + high) / 2))
    return curved if curved.rad() < plain.rad() or not plain.is_finite() else plain


def _values(parts: Parts, low: Any, high: Any) -> arb:
    """An enclosure: each exponential lies between its values at the ends, however far apart."""
    enclosure, box = arb(0), arb(low).union(arb(high))
    for power, rate, coefficient in parts:
        exponential = arb(rate * low).exp().union(arb(rate * high).exp())
        enclosure += coefficient * exponential * (box**power if power else 1)
    return enclosure


def _join(where: list[Stretch]) -> tuple[Stretch, ...]:
    """Neighbouring stretches as one; those around a zero stay apart."""
    joined: list[Stretch] = []
    for low, high in where:
        if joined and low is not None and joined[-1][1] == low:
            joined[-1] = joined[-1][0], high
        else:
            joined.append((low, high))
    return tuple(joined)
