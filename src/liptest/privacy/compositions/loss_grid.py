"""What many releases cost together: losses on a grid, with weights in whole numbers.

A pair of laws is a law of its loss under P. Losses of independent releases add up, so that laws on
a grid of step h are polynomials, and releases their product. Weights are multiples of 2^-192,
rounded outwards at each product: no error of a Fourier transform, and a delta of 1e-40 is as good
as 1e-2.

From above (theory 6.12): any curve delta(gamma), gamma = e^epsilon, that is convex with
delta(0) = 1 is that of a pair; its linear interpolation between grid points is one on the grid, and
above it. From below (6.13): losses and weights of an actual pair are rounded down. Y. Zhu, J. Dong,
Y.-X. Wang, "Optimal Accounting of Differential Privacy via Characteristic Function", 2022;
V. Doroshenko and others, "Connect the Dots", 2022.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeVar

from flint import arb, fmpz, fmpz_poly

from liptest.balls import precision
from liptest.mechanisms.laws import as_fraction, exact_ball
from liptest.privacy.divergences.likelihoods import LikelihoodPair

#: Weights are multiples of 2 to minus this.
UNIT_BITS = 192
#: The precision at which weights are summed up.
BITS = 320
#: The weight of probability 1.
ONE = 1 << UNIT_BITS
# Weights of ends that are cut off, each time: what is cut counts as infinite loss, or not at all.
_CUT = 1 << (UNIT_BITS - 180)
#: An upper bound of delta at an epsilon >= 0, in balls: of both orders of all pairs.
Curve = Callable[[arb], arb]


@dataclass(frozen=True)
class GridLosses:
    """Weights of the losses ``base + (first + i) step``, and of infinite loss, all times 2^192.

    ``is_upper`` tells to which side everything is rounded.
    """

    weights: fmpz_poly
    first: int
    infinite: int
    step: Fraction
    is_upper: bool
    base: Fraction = Fraction(0)

    def __mul__(self, other: GridLosses) -> GridLosses:
        """The losses of both releases together, on grids of one step."""
        product = self.weights * other.weights
        if self.is_upper:
            product += fmpz_poly([ONE - 1] * (product.degree() + 1))
        cells = [int(weight) for weight in (product // fmpz(ONE)).coeffs()]
        both = self.infinite * (other.finite + other.infinite) + self.finite * other.infinite
        infinite = min(self._unit(both), ONE)
        first, base = self.first + other.first, self.base + other.base
        return trim(cells, first, infinite, self.step, is_upper=self.is_upper, base=base)

    @cached_property
    def finite(self) -> int:
        """The weight of all finite losses; rounded up, that of both kinds may exceed 1."""
        return int(self.weights(1))

    def power(self, releases: int) -> GridLosses:
        """The losses of a number of releases together."""
        return compose_times(self, releases)

    def _unit(self, value: int) -> int:
        return -((-value) >> UNIT_BITS) if self.is_upper else value >> UNIT_BITS

    @cached_property
    def _sums(self) -> tuple[list[arb], list[arb]]:
        """Sums of p and of p e^-loss over the cells from each one on."""
        cells = [int(weight) for weight in self.weights.coeffs()]
        with precision(BITS):
            step, unit = exact_ball(self.step), arb(2) ** -UNIT_BITS
            shrink = (-step).exp()
            factor = (-exact_ball(self._loss(len(cells)))).exp()
            p = q = arb(0)
            sums_p, sums_q = [p], [q]
            grow = 1 / shrink
            for weight in reversed(cells):
                factor *= grow
                if weight:
                    mass = weight * unit
                    p, q = p + mass, q + mass * factor
                sums_p.append(p)
                sums_q.append(q)
        return sums_p[::-1], sums_q[::-1]

    def delta_at(self, epsilon: float) -> float:
        """delta at an epsilon >= 0, rounded to the safe side."""
        with precision(BITS):
            exact = Fraction(epsilon)
            cell = math.floor((exact - self.base) / self.step) + 1 - self.first
            delta = self._at(min(max(cell, 0), len(self._sums[0]) - 1), exact_ball(exact).exp())
            return self._outwards(delta.max(arb(0)).min(arb(1)))

    def epsilon_at(self, delta: float) -> float:
        """The epsilon >= 0 for a delta > 0, rounded to the safe side; inf where there is none."""
        with precision(BITS):
            target = exact_ball(Fraction(delta))
            spare = target - self._infinite()
            if not spare > 0:
                # Infinite loss weighs as much: what is certain from below is the last cell.
                last = float(self._loss(len(self._sums[0])))
                return math.inf if self.is_upper else max(last, 0.0)
            count = len(self._sums[0]) - 1
            low = min(max(math.floor(-self.base / self.step) + 1 - self.first, 0), count)
            keys = range(low, count + 1)
            # delta falls with epsilon: the first grid loss at which it is small enough.
            at = bisect_left(keys, True, key=lambda i: self._is_enough(i, target))
            cell = keys[at] if at < len(keys) else count
            p, q = (sums[cell] for sums in self._sums)
            if not q > 0:  # no positive loss but infinity
                return 0.0
            top = p - spare
            if not top > 0:
                return 0.0
            epsilon = (top / q).log()
            return max(0.0, self._outwards(epsilon))

    def _is_enough(self, cell: int, target: arb) -> bool:
        delta = self.corner(cell)[1]
        return bool(delta <= target)

    def corner(self, cell: int) -> tuple[arb, arb]:
        """gamma = e^loss of a cell, and delta there."""
        gamma = exact_ball(self._loss(cell)).exp()
        return gamma, self._at(cell, gamma)

    def _loss(self, cell: int) -> Fraction:
        return self.base + self.step * (self.first + cell)

    def _at(self, cell: int, gamma: arb) -> arb:
        p, q = (sums[cell] for sums in self._sums)
        return p - gamma * q + self._infinite()

    def _infinite(self) -> arb:
        return arb(self.infinite) / ONE

    def _outwards(self, value: arb) -> float:
        if self.is_upper:
            return math.nextafter(float(value.upper()), math.inf)
        return max(math.nextafter(float(value.lower()), -math.inf), 0.0)


def grid_above(
    curve: Curve,
    largest: float,
    step: Fraction,
    reverse: Curve | None = None,
    *,
    is_convex: bool = True,
) -> GridLosses:
    """The losses of a pair whose deltas are the interpolation of a curve.

    ``largest`` bounds the finite losses; beyond it whatever the curve leaves is infinite loss.
    ``reverse`` is the curve of (Q, P) where ``curve`` is that of (P, Q) alone. A curve that bounds
    that of a pair need not be convex: the lower hull of its points then bounds it, too.
    """
    cells = max(2, math.ceil(Fraction(largest) / step) + 1)
    with precision(BITS):
        unit = exact_ball(step)
        gammas = [(unit * i).exp() for i in range(cells + 1)]
        # A delta is at least the total variation's line and at most 1.
        right = [curve(unit * i).upper().max(arb(0)).min(arb(1)) for i in range(cells + 1)]
        # delta(1/gamma) = 1 - 1/gamma + delta(gamma)/gamma: the other order of the pair.
        back = right
        if reverse is not None:
            back = [reverse(unit * i).upper().max(arb(0)).min(arb(1)) for i in range(cells + 1)]
        left = [(1 - 1 / g + d / g).upper().min(arb(1)) for g, d in zip(gammas, back, strict=True)]
        points = [(1 / g, d) for g, d in zip(gammas[:0:-1], left[:0:-1], strict=True)]
        points += list(zip(gammas, right, strict=True))
        points = [(arb(0), arb(1)), *points]
        kept = list(range(len(points))) if is_convex else _lower_hull(points)
        weights = [0] * (len(points) - 1)
        drop = _drop(points, kept[0], kept[1])
        for k, following in zip(kept[1:], [*kept[2:], None], strict=True):
            after = arb(0) if following is None else _drop(points, k, following)
            weights[k - 1] = units_above(points[k][0] * (drop - after))
            drop = after
        infinite = units_above(points[-1][1])
    return trim(weights, -cells, infinite, step, is_upper=True)


def _drop(points: list[tuple[arb, arb]], k: int, other: int) -> arb:
    (x, y), (right, lower) = points[k], points[other]
    return (y - lower) / (right - x)


def _lower_hull(points: list[tuple[arb, arb]]) -> list[int]:
    """Which points are corners of the lower hull, the ends included."""
    hull: list[int] = []
    for k in range(len(points)):
        while len(hull) > 1 and not _drop(points, hull[-2], hull[-1]) > _drop(points, hull[-1], k):
            hull.pop()
        hull.append(k)
    return hull


def grid_below(pair: LikelihoodPair, step: Fraction) -> GridLosses:
    """The losses of an actual pair, rounded down with their weights."""
    cells: dict[int, int] = {}
    infinite = 0
    with precision(BITS):
        unit = exact_ball(step)
        for p, q in pair.in_balls():
            weight = units_below(p.lower())
            if weight <= 0 or not q.upper() > 0:
                continue
            cell = math.floor(as_fraction(((p.lower() / q.upper()).log() / unit).lower()))
            cells[cell] = cells.get(cell, 0) + weight
        only = pair.left_only if isinstance(pair.left_only, arb) else exact_ball(pair.left_only)
        if not pair.open_right:
            infinite = max(units_below(only.lower()), 0)
    if not cells:
        return GridLosses(fmpz_poly([0]), 0, infinite, step, is_upper=False)
    low, high = min(cells), max(cells)
    listed = [cells.get(k, 0) for k in range(low, high + 1)]
    return trim(listed, low, infinite, step, is_upper=False)


def together(parts: Iterable[tuple[GridLosses, int]]) -> GridLosses:
    """The losses of several releases, each some number of times."""
    powers = sorted(
        (part.power(times) for part, times in parts), key=lambda power: power.weights.degree()
    )
    result = powers[0]
    for power in powers[1:]:
        result = result * power
    return result


def trim(
    cells: list[int],
    first: int,
    infinite: int,
    step: Fraction,
    *,
    is_upper: bool,
    base: Fraction = Fraction(0),
) -> GridLosses:
    """Ends of hardly any weight cut off: to the right infinite, to the left raised; or dropped."""
    cells = cells or [0]  # of laws that have no output in common
    start, stop, lost = 0, len(cells), 0
    while stop - start > 1 and lost + cells[stop - 1] <= _CUT:
        stop -= 1
        lost += cells[stop]
    infinite += lost if is_upper else 0
    lost = 0
    while stop - start > 1 and lost + cells[start] <= _CUT:
        lost += cells[start]
        start += 1
    kept = cells[start:stop]
    kept[0] += lost if is_upper else 0
    return GridLosses(fmpz_poly(kept), first + start, min(infinite, ONE), step, is_upper, base)


class _Composes(Protocol):
    """What is multiplied by another of its kind: both releases together."""

    def __mul__(self, other: Any) -> Any: ...


Losses = TypeVar("Losses", bound=_Composes)


def compose_times(one: Losses, releases: int) -> Losses:
    """A number of releases together, 1 or more, by squares."""
    result, square = None, one
    while True:
        if releases & 1:
            result = square if result is None else result * square
        releases >>= 1
        if not releases:
            assert result is not None
            return result
        square = square * square


def units_above(value: arb) -> int:
    """A probability in units, rounded up."""
    upper = (value.upper() * ONE).upper()
    return max(math.ceil(as_fraction(upper)), 0) if upper > 0 else 0


def units_below(value: arb) -> int:
    """A probability in units, rounded down."""
    lower = (value.lower() * ONE).lower()
    return math.floor(as_fraction(lower)) if lower > 0 else 0
