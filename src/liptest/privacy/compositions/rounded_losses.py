"""What many releases cost from below, where losses are multiples of no one number.

Each output of a release is moved to one of the two grid losses next to its own, by a coin that is
the same under both laws. That is a map of the output, so that sums of grid losses tell two datasets
apart no better than the releases do: for each set of sums, P - e^epsilon Q of it bounds delta from
below. The coin leaves the mean where it is, so that the deficit is of the second order in the
distance of grid points (theory 6.18). Weights are multiples of 2^-192, those of P rounded down and
those of Q up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np
from flint import arb, fmpz, fmpz_poly
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.privacy.compositions.loss_grid import (
    BITS,
    ONE,
    UNIT_BITS,
    compose_times,
    units_above,
    units_below,
)
from liptest.privacy.divergences.likelihoods import LikelihoodPair

Floats = NDArray[np.float64]

# Weights of ends that are cut off, each time: sums with such a part are never in the set.
_CUT = 1 << (UNIT_BITS - 180)


@dataclass(frozen=True)
class RoundedLosses:
    """Weights under P and under Q of the grid losses ``(first + i) step``, times 2^192.

    ``infinite`` is the weight under P of what Q never has.
    """

    p: fmpz_poly
    q: fmpz_poly
    first: int
    infinite: int
    step: Fraction
    is_upper: bool = False

    @classmethod
    def of_pair(cls, pair: LikelihoodPair, step: Fraction) -> RoundedLosses:
        """The losses of one release of an actual pair."""
        rows: tuple[dict[int, int], dict[int, int]] = ({}, {})
        infinite = 0
        with precision(BITS):
            for p, q in pair.in_balls():
                if not (p.lower() > 0 and q.upper() > 0):
                    continue
                place = float((p.mid() / q.upper()).log().mid()) / float(step)
                cell = math.floor(place)
                share = arb(place - cell)
                for at, part in ((cell, 1 - share), (cell + 1, share)):
                    rows[0][at] = rows[0].get(at, 0) + units_below(p * part)
                    rows[1][at] = rows[1].get(at, 0) + units_above(q * part)
            only = pair.left_only if isinstance(pair.left_only, arb) else exact_ball(pair.left_only)
            if not pair.open_right:
                infinite = max(units_below(only), 0)
        low, high = min(rows[0], default=0), max(rows[0], default=0)
        listed = [[row.get(k, 0) for k in range(low, high + 1)] for row in rows]
        return _trim(fmpz_poly(listed[0]), fmpz_poly(listed[1]), low, infinite, step)

    def __mul__(self, other: RoundedLosses) -> RoundedLosses:
        """Both releases together, on grids of one step."""
        p, q = self.p * other.p // fmpz(ONE), self.q * other.q
        q = q // fmpz(ONE) + fmpz_poly([1] * (q.degree() + 1))
        both = self.infinite * (other._finite + other.infinite) + self._finite * other.infinite
        return _trim(p, q, self.first + other.first, both >> UNIT_BITS, self.step)

    @cached_property
    def _finite(self) -> int:
        return int(self.p(1))

    def power(self, releases: int) -> RoundedLosses:
        """A number of releases together."""
        return compose_times(self, releases)

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """Weights of the cells from each one on."""
        count = max(self.p.degree(), self.q.degree()) + 1
        sums = []
        for poly in (self.p, self.q):
            cells = [int(coefficient) for coefficient in poly.coeffs()]
            cells += [0] * (count - len(cells))
            sums.append([*accumulate(reversed(cells), initial=0)][::-1])
        return sums[0], sums[1]

    @cached_property
    def _in_floats(self) -> tuple[Floats, Floats]:
        p, q = (np.array([entry / ONE for entry in sums]) for sums in self._sums)
        return p, q

    def delta_at(self, epsilon: float) -> float:
        """A lower bound of delta at an epsilon >= 0."""
        p, q = self._in_floats
        with np.errstate(over="ignore"):
            # Any cell will do: floats only choose it.
            cell = int(np.argmax(p - np.exp(min(epsilon, 700.0)) * q))
        with precision(BITS):
            gamma = exact_ball(Fraction(epsilon)).exp()
            delta = self._mass(0, cell) - gamma * self._mass(1, cell)
            return max(math.nextafter(float(delta.lower()), -math.inf), 0.0)

    def epsilon_at(self, delta: float) -> float:
        """A lower bound of epsilon for a delta > 0."""
        p, q = self._in_floats
        spare = p + self.infinite / ONE - delta
        with np.errstate(divide="ignore", invalid="ignore"):
            epsilons = np.where((spare > 0) & (q > 0), np.log(spare) - np.log(q), -np.inf)
        cell = int(np.argmax(epsilons))
        if not epsilons[cell] > 0:
            return 0.0
        with precision(BITS):
            gamma = (self._mass(0, cell) - exact_ball(Fraction(delta))) / self._mass(1, cell)
            if not gamma > 1:
                return 0.0
            return max(math.nextafter(float(gamma.log().lower()), -math.inf), 0.0)

    def _mass(self, side: int, cell: int) -> arb:
        """Of the set of all cells from one on, with what Q never has."""
        more = self.infinite if side == 0 else 0
        return arb(self._sums[side][cell] + more) / ONE


def round_together(parts: Iterable[tuple[LikelihoodPair, int]], step: Fraction) -> RoundedLosses:
    """Several actual pairs, each some number of times."""
    powers = [RoundedLosses.of_pair(pair, step).power(times) for pair, times in parts]
    powers.sort(key=lambda power: power.p.degree())
    result = powers[0]
    for power in powers[1:]:
        result = result * power
    return result


def _trim(p: fmpz_poly, q: fmpz_poly, first: int, infinite: int, step: Fraction) -> RoundedLosses:
    """Without ends of hardly any weight under P."""
    cells: Sequence[fmpz] = p.coeffs()
    start, stop = _end(cells), len(cells) - _end(cells[::-1])
    if start or stop < max(len(cells), q.degree() + 1):
        stop = max(stop, start + 1)
        p, q = (fmpz_poly(poly.coeffs()[start:stop]) for poly in (p, q))
    return RoundedLosses(p, q, first + start, min(infinite, ONE), step)


def _end(cells: Sequence[fmpz]) -> int:
    """How many cells from the front weigh next to nothing together."""
    lost = 0
    for k, weight in enumerate(cells):
        lost += int(weight)
        if lost > _CUT:
            return k
    return max(len(cells) - 1, 0)
