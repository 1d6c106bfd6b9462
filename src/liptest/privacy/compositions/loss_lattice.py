"""Losses that are multiples of one number: composed exactly, but for the last digits.

The losses of randomised response, of geometric and of discrete Gaussian noise, and those of an
(epsilon, delta) claim have equal distances. On a lattice of just that distance nothing has to be
interpolated, so that both ends of an enclosure agree to many digits (theory 6.14). A pair whose
curve lies above those of all others stands for all of them. Releases on different lattices are
composed each on its own, and then mixed (6.15).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from flint import arb, fmpz_poly
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.mechanisms.laws import as_fraction, exact_ball
from liptest.privacy.compositions.loss_grid import (
    BITS,
    ONE,
    Curve,
    GridLosses,
    trim,
    units_above,
    units_below,
)
from liptest.privacy.divergences.likelihoods import FEW_ATOMS, LikelihoodPair

Floats = NDArray[np.float64]
#: Losses and weights.
Atoms = tuple[Floats, Floats]

# Losses may lie so far from the lattice; they are moved onto it, to the safe side.
_OFF_BITS = 40
_OFF = Fraction(1, 1 << _OFF_BITS)
# Claims with the tolerance of their test do not lie as close.
_CLAIMED_BITS = 28
# Remainders that are so much larger still are none; distances have to be larger by far.
_SPARE_BITS, _CLEAR_BITS, _WHOLE_BITS = 5, 9, 200
# Cells of a lattice, of one law and of many.
_MOST_CELLS = 1 << 15
_MOST_TOGETHER = 1 << 18
# By what a pair may be exceeded that stands for all: a share, and a mass.
_SHARE, _SLACK = Fraction(1, 1 << 40), Fraction(1, 1 << 180)
# Mixed in floats: sums of up to 2^20 positive numbers, each of a few rounded operations, and losses
# that are known to 2^-36.
_ROUNDED, _UNDERFLOW = 2.0**-31, 1e-290
_ATOMS, _AT_ONCE = 1 << 17, 1 << 20


def losses_above(pair: LikelihoodPair) -> GridLosses | None:
    """The losses of a pair on a lattice of their own, from above; None where there is none."""
    with precision(BITS):
        atoms, infinite = [], mass_without_bound(pair)
        for p, q in pair.in_balls():
            if not p.upper() > 0:
                continue
            if not q.lower() > 0:
                infinite += p.upper()
                continue
            atoms.append(((p.upper() / q.lower()).log(), units_above(p)))
        return _on_lattice(atoms, units_above(infinite), is_upper=True)


def losses_below(pair: LikelihoodPair, cells: int = 0) -> GridLosses | None:
    """The losses of an actual pair on a lattice of their own, from below.

    Where there is none, and ``cells`` are given: moved down to the lattice of at most so many cells
    on which they are moved by least (theory 6.13); few losses can lie very close to one.
    """
    with precision(BITS):
        atoms = []
        for p, q in pair.in_balls():
            weight = units_below(p)
            if weight > 0 and q.upper() > 0:
                atoms.append(((p.lower() / q.upper()).log(), weight))
        only = pair.left_only if isinstance(pair.left_only, arb) else exact_ball(pair.left_only)
        infinite = 0 if pair.open_right else units_below(only)
        losses = _on_lattice(atoms, infinite, is_upper=False)
        if losses is None and 0 < len(atoms) <= FEW_ATOMS and cells > 1:
            step = _closest(np.array([float(loss.mid()) for loss, _ in atoms]), cells)
            losses = _place(atoms, infinite, Fraction(step), None, is_upper=False)
        return losses


def _closest(losses: Floats, cells: int) -> float:
    """The distance of a lattice that losses are closest to."""
    span = float(np.ptp(losses))
    counts = np.arange(1, cells + 1)
    places = np.outer(counts, (losses - losses.min()) / span)
    off = np.ptp(places - np.round(places), axis=1) / counts
    return span / float(counts[np.argmin(off)])


def losses_of_claim(epsilon: Fraction, delta: Fraction) -> GridLosses:
    """Of whatever is (epsilon, delta)-private: losses +-epsilon, and infinity with mass delta."""
    with precision(BITS):
        spare = exact_ball(1 - delta)
        far = spare / (1 + exact_ball(epsilon).exp())
        near = spare - far
        cells = [units_above(far), units_above(near)] if epsilon else [units_above(spare)]
        infinite = units_above(exact_ball(delta))
    step = 2 * epsilon if epsilon else Fraction(1)
    return GridLosses(fmpz_poly(cells), 0, infinite, step, is_upper=True, base=-epsilon)


def losses_of_points(points: Sequence[tuple[Fraction, Fraction]]) -> GridLosses | None:
    """Of whatever has all these pairs (epsilon, delta); None where epsilons have no lattice.

    A curve of deltas is convex: it lies below the polygon through (0, 1), its points, and those of
    the other order of the pair (theory 6.16).
    """
    with precision(BITS):
        hull = _lower_hull(points)
        atoms = []
        for before, here, after in zip(hull[:-1], hull[1:], [*hull[2:], None], strict=True):
            drop = (before[2] - here[2]) / (here[1] - before[1])
            next_drop = arb(0) if after is None else (here[2] - after[2]) / (after[1] - here[1])
            atoms.append((here[0], units_above(here[1] * (drop - next_drop))))
        infinite = units_above(hull[-1][2])
        return _on_lattice(atoms, infinite, is_upper=True, bits=_CLAIMED_BITS)


def curve_of_points(points: Sequence[tuple[Fraction, Fraction]]) -> Curve:
    """The deltas that these pairs leave possible: the same polygon, as the largest of its lines."""
    with precision(BITS):
        hull = _lower_hull(points)
        lines = [
            (one[1], one[2], (one[2] - other[2]) / (other[1] - one[1]))
            for one, other in pairwise(hull)
        ]

    def curve(epsilon: arb) -> arb:
        gamma, largest = epsilon.exp(), hull[-1][2]
        for x, y, drop in lines:
            largest = largest.max(y - (gamma - x) * drop)
        return largest

    return curve


def _lower_hull(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[arb, arb, arb]]:
    """Corners (loss, gamma, delta) of the lower hull; any choice of corners is above it."""
    corners = [(arb(0), arb(0), arb(1))]
    for epsilon, delta in points:
        loss, own = exact_ball(epsilon), exact_ball(delta)
        corners.append((loss, loss.exp(), own))
        back = (-loss).exp()
        corners.append((-loss, back, 1 - back + own * back))
    hull: list[tuple[arb, arb, arb]] = []
    least = math.inf
    for corner in sorted(corners, key=lambda point: (float(point[1].mid()), float(point[2].mid()))):
        x, y = float(corner[1].mid()), float(corner[2].mid())
        if y >= least:
            continue
        least = y
        while len(hull) > 1:
            (_, a, b), (_, c, d) = hull[-2:]
            if (float(d.mid()) - float(b.mid())) * (x - float(a.mid())) < (y - float(b.mid())) * (
                float(c.mid()) - float(a.mid())
            ):
                break
            hull.pop()
        hull.append(corner)
    return hull


def covering(losses: GridLosses, curves: Iterable[Callable[[arb], arb]]) -> GridLosses | None:
    """The losses, raised by next to nothing, if their curve is above all of these; else None.

    A curve gives a hockey-stick divergence from above, at each gamma >= 0. It is convex, and that
    of the losses is straight between neighbouring losses, so that these are compared.
    """
    others = list(curves)
    # Laws in floats differ in their last digits where they should be one.
    losses = replace(losses, base=losses.base + _OFF)
    with precision(BITS):
        share, slack = 1 + exact_ball(_SHARE), exact_ball(_SLACK)
        for cell, weight in enumerate(losses.weights.coeffs()):
            if not weight:
                continue
            gamma, most = losses.corner(cell)
            most = most * share + slack
            if any(not curve(gamma) <= most for curve in others):
                return None
    cells = [_raise(int(weight)) for weight in losses.weights.coeffs()]
    infinite = _raise(losses.infinite) + int(_SLACK * ONE)
    return replace(losses, weights=fmpz_poly(cells), infinite=infinite)


def _raise(weight: int) -> int:
    return -int(-weight * (1 + _SHARE) // 1)


def mass_without_bound(pair: LikelihoodPair) -> arb:
    """Probability on the left that may be of infinite loss."""
    only = pair.left_only if isinstance(pair.left_only, arb) else exact_ball(pair.left_only)
    return (only + exact_ball(pair.open_left)).upper()


def _on_lattice(
    atoms: list[tuple[arb, int]], infinite: int, *, is_upper: bool, bits: int = _OFF_BITS
) -> GridLosses | None:
    if not atoms:
        return None
    step = _distance([_end(loss, is_upper) for loss, _ in atoms], bits)
    if step is None:
        return None
    return _place(atoms, infinite, step, Fraction(1, 1 << bits), is_upper=is_upper)


def _end(loss: arb, is_upper: bool) -> Fraction:
    return as_fraction(loss.upper() if is_upper else loss.lower())


def _place(
    atoms: list[tuple[arb, int]],
    infinite: int,
    step: Fraction,
    most: Fraction | None,
    *,
    is_upper: bool,
) -> GridLosses | None:
    """Losses on a lattice, moved to the safe side; None where one is off by more than ``most``."""
    ends = [_end(loss, is_upper) for loss, _ in atoms]
    places = [round((end - ends[0]) / step) for end in ends]
    rests = [end - step * place for end, place in zip(ends, places, strict=True)]
    if most is not None and max(rests) - min(rests) > most:
        return None
    first, last = min(places), max(places)
    cells = [0] * (last - first + 1)
    for place, (_, weight) in zip(places, atoms, strict=True):
        cells[place - first] += weight
    base = max(rests) if is_upper else min(rests)
    return trim(cells, first, infinite, step, is_upper=is_upper, base=base)


def _distance(ends: list[Fraction], bits: int) -> Fraction | None:
    """What all differences are multiples of, up to small remainders; None: of no such number."""
    low, high = min(ends), max(ends)
    if high - low <= _OFF:
        return Fraction(1)
    scale, rest = 1 << _WHOLE_BITS, 1 << (_WHOLE_BITS - bits + _SPARE_BITS)
    step = 0
    for end in ends:
        step = _common(step, round((end - low) * scale), rest)
        if step and step < rest << _CLEAR_BITS:
            return None
    count = round((high - low) * scale / step)
    return (high - low) / count if count <= _MOST_CELLS else None


def _common(one: int, other: int, rest: int) -> int:
    """Euclid's algorithm with nearest remainders, which ends at small ones."""
    while other > rest:
        left = one % other
        one, other = other, min(left, other - left)
    return one


@dataclass(frozen=True)
class MixedLosses:
    """Losses of releases on different lattices: those on one, and atoms of all the others.

    Floats, whose rounding is bounded and counts to the safe side.

    Parameters
    ----------
    one
        The losses on the lattice of most cells.
    losses, weights
        (n,) atoms of the others.
    infinite
        The mass of infinite loss of them all.
    """

    one: GridLosses
    losses: Floats
    weights: Floats
    infinite: float

    @property
    def is_upper(self) -> bool:
        """Which bound it is."""
        return self.one.is_upper

    @cached_property
    def _curve(self) -> tuple[Floats, Floats, Floats]:
        """Losses of the one, and sums of p and of p e^(loss here - loss) from each on."""
        places, masses = _in_floats(self.one)
        p = np.cumsum(masses[::-1])[::-1]
        shrink = np.exp(-np.diff(places))
        q = masses.copy()
        for k in range(len(q) - 2, -1, -1):
            q[k] += shrink[k] * q[k + 1]
        return places, np.append(p, 0.0), np.append(q, 0.0)

    def delta_at(self, epsilon: float) -> float:
        """delta at an epsilon >= 0, rounded to the safe side."""
        places, p, q = self._curve
        at = epsilon - self.losses
        cell = np.searchsorted(places, at, side="right")
        near = places[np.minimum(cell, len(places) - 1)]
        gaps = p[cell] - q[cell] * np.exp(np.minimum(at - near, 0.0))
        delta = float(np.dot(self.weights, np.maximum(gaps, 0.0)))
        # The curve falls by at most q for each unit of loss; a loss is known to 2^-36.
        before = np.maximum(cell - 1, 0)
        error = _ROUNDED * float(np.dot(self.weights, p[before] + q[before])) + _UNDERFLOW
        if self.is_upper:
            return min((delta + error + self.infinite) * (1 + _ROUNDED), 1.0)
        return max((delta - error + self.infinite) * (1 - _ROUNDED), 0.0)

    def epsilon_at(self, delta: float) -> float:
        """The epsilon >= 0 for a delta > 0, rounded to the safe side; inf where there is none."""
        top = float(self._curve[0][-1] + np.max(self.losses))
        if self.is_upper and self.delta_at(top + 1.0) > delta:
            return math.inf
        low, high = 0.0, max(top + 1.0, 0.0)
        if self.delta_at(0.0) <= delta:
            return 0.0
        while high - low > 1e-12 * max(high, 1.0):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta_at(middle) > delta else (low, middle)
        return high if self.is_upper else low


def mix(parts: Sequence[tuple[GridLosses, int]]) -> GridLosses | MixedLosses:
    """The losses of several releases, each some number of times, on whatever lattices."""
    powers = [part.power(times) for part, times in _on_common(parts)]
    groups: dict[Fraction, GridLosses] = {}
    for power in sorted(powers, key=lambda power: power.weights.degree()):
        earlier = groups.get(power.step)
        groups[power.step] = power if earlier is None else earlier * power
    if len(groups) == 1:
        return next(iter(groups.values()))
    ordered = sorted(groups.values(), key=lambda power: power.weights.degree())
    is_upper = ordered[0].is_upper
    losses, weights = _in_floats(ordered[0])
    for power in ordered[1:-1]:
        losses, weights = _product((losses, weights), _in_floats(power), is_upper=is_upper)
    total = math.prod(power.finite + power.infinite for power in ordered)
    finite = math.prod(power.finite for power in ordered)
    return MixedLosses(ordered[-1], losses, weights, (total - finite) / ONE ** len(ordered))


def _on_common(parts: Sequence[tuple[GridLosses, int]]) -> list[tuple[GridLosses, int]]:
    """Parts on one lattice, if there is one for all of them that is not too fine."""
    scale, rest = 1 << _WHOLE_BITS, 1 << (_WHOLE_BITS - _OFF_BITS + _SPARE_BITS)
    steps = [round(part.step * scale) for part, _ in parts if part.weights.degree() > 0]
    step = 0
    for own in steps:
        step = _common(step, own, rest)
    listed = list(parts)
    if not step or step < rest << _CLEAR_BITS:
        return listed
    # The distance of one part, split: at least that part stays where it is.
    finest = min((part for part, _ in parts if part.weights.degree() > 0), key=lambda p: p.step)
    chosen = finest.step / round(finest.step * scale / step)
    refined = [(_refine(part, chosen), times) for part, times in listed]
    cells = sum(max(part.weights.degree(), 0) * times for part, times in refined if part)
    if cells > _MOST_TOGETHER or any(part is None for part, _ in refined):
        return listed
    return [(part, times) for part, times in refined if part is not None]


def _refine(part: GridLosses, step: Fraction) -> GridLosses | None:
    """The same losses on a lattice of a smaller distance, moved a little to the safe side."""
    if part.step == step:
        return part
    if part.weights.degree() <= 0:
        place = round((part.base + part.first * part.step) / step)
        base = part.base + part.first * part.step - place * step
        return replace(part, first=place, step=step, base=base)
    ratio = round(part.step / step)
    last = part.first + part.weights.degree()
    off = [(part.step - ratio * step) * end for end in (part.first, last)]
    if ratio < 1 or ratio * part.weights.degree() > _MOST_TOGETHER:
        return None
    if max(map(abs, off)) > _OFF:
        return None
    cells = [0] * (ratio * part.weights.degree() + 1)
    cells[::ratio] = [int(weight) for weight in part.weights.coeffs()]
    base = part.base + (max(off) if part.is_upper else min(off))
    return replace(part, weights=fmpz_poly(cells), first=part.first * ratio, step=step, base=base)


def _in_floats(one: GridLosses) -> Atoms:
    """Losses in rising order and their weights, to the nearest float."""
    start, step = one.base + one.first * one.step, one.step
    weights = np.array([int(weight) / ONE for weight in one.weights.coeffs()] or [0.0])
    places = np.array([float(start + step * k) for k in range(len(weights))])
    kept = weights > 0
    return (places[kept], weights[kept]) if np.any(kept) else (places[:1], weights[:1])


def _product(one: Atoms, other: Atoms, *, is_upper: bool) -> Atoms:
    """Atoms of both together; too many of them are taken together to fewer.

    From above they are split onto neighbouring points, both masses kept (theory 6.12). From below
    neighbours are merged, which no test gains by.
    """
    few, many = sorted((one, other), key=lambda atoms: len(atoms[0]))
    if len(few[0]) * len(many[0]) <= _ATOMS:
        losses = np.add.outer(few[0], many[0]).ravel()
        return losses, np.multiply.outer(few[1], many[1]).ravel()
    low, high = (float(pick(few[0]) + pick(many[0])) for pick in (np.min, np.max))
    width = max((high - low) / (_ATOMS - 2), 2.0**-20 * max(abs(low), abs(high)))
    points = low + width * np.arange(_ATOMS)
    sums = np.zeros((2, _ATOMS))
    rows = max(1, _AT_ONCE // len(many[0]))
    for start in range(0, len(few[0]), rows):
        part = slice(start, start + rows)
        losses = np.add.outer(few[0][part], many[0]).ravel()
        weights = np.multiply.outer(few[1][part], many[1]).ravel()
        cell = np.clip(((losses - low) / width).astype(np.int64), 0, _ATOMS - 2)
        above = losses - points[cell]
        if is_upper:
            share = np.clip(np.expm1(-above) / math.expm1(-width) + 1e-9, 0.0, 1.0)
            sums[0] += np.bincount(cell + 1, weights * share, _ATOMS)
            sums[0] += np.bincount(cell, weights * (1 - share), _ATOMS)
        else:
            sums[0] += np.bincount(cell, weights, _ATOMS)
            sums[1] += np.bincount(cell, weights * np.exp(-above), _ATOMS)
    kept = sums[0] > 0
    if is_upper:
        return points[kept], sums[0][kept]
    return points[kept] - np.log(sums[1][kept] / sums[0][kept]) - _ROUNDED, sums[0][kept]
