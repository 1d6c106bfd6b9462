"""Normal noise of which intervals are known: clipped, or drawn again until it fits.

Two laws are sums of normal densities of one scale, each between two ends, of which no two of one
law overlap. Between neighbouring ends the log ratio of both is a linear function of the number: its
extremes are at these ends, and one density exceeds the other on one side of a turn. Where one law
alone has a density the ratio has no bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from liptest.balls import to_fmpq
from liptest.errors import SymbolicError
from liptest.symbolic.densities import RatioExtremes, without_bound

#: None where infinite.
End = Fraction | None
#: Where there is no bound, in units of the log ratio.
FARTHER = (1, *sorted(size << k for k in range(30) for size in (2, 3)))


@dataclass(frozen=True)
class Bell:
    """The normal law about a centre, given that the number lies between two ends."""

    centre: Fraction
    scale: Fraction
    low: End = None
    high: End = None

    @property
    def mass(self) -> arb:
        """The mass of the normal law between the ends."""
        mass = self.between(_ball(self.low), _ball(self.high))
        if not mass > 0:
            raise SymbolicError("normal noise is clipped too far out in its tail; rescale it")
        return mass

    def between(self, low: arb | None, high: arb | None) -> arb:
        """The probability of the whole normal law between two numbers."""
        if low is None:
            return arb(1) if high is None else self._tail(high, -1)
        if high is None:
            return self._tail(low, 1)
        # Of the two tails the lighter one keeps its digits.
        side = 1 if float((low + high).mid()) >= 2 * self.centre else -1
        return (self._tail(low, side) - self._tail(high, side)) * side

    def _tail(self, number: arb, side: int) -> arb:
        """Above a number, or below it."""
        distance = (number - arb(to_fmpq(self.centre))) / arb(to_fmpq(self.scale))
        return (distance * side / arb(2).sqrt()).erfc() / 2


def _ball(end: End) -> arb | None:
    return None if end is None else arb(to_fmpq(end))


#: Bells with their weights, which do not overlap.
Bells = list[tuple[Bell, arb]]


@dataclass(frozen=True)
class _Cell:
    """Between two neighbouring ends: a bell of each side, and its weight over its mass."""

    low: End
    high: End
    one: tuple[Bell, arb] | None
    other: tuple[Bell, arb] | None

    def holds(self, number: Fraction) -> bool:
        """Whether a number is between the ends."""
        is_above = self.low is None or self.low < number
        return is_above and (self.high is None or number < self.high)

    @property
    def inside(self) -> Fraction:
        """A number between the ends."""
        if self.low is None or self.high is None:
            end = self.high if self.low is None else self.low
            return Fraction(0) if end is None else end + (1 if self.high is None else -1)
        return (self.low + self.high) / 2


def _cells(one: Bells, other: Bells) -> list[_Cell] | None:
    """All cells in which there is a bell; None where bells overlap, or differ in scale."""
    both = (*one, *other)
    if len({bell.scale for bell, _ in both}) > 1:
        return None
    cuts = sorted({end for bell, _ in both for end in (bell.low, bell.high) if end is not None})
    heights = [[(bell, weight / bell.mass) for bell, weight in side] for side in (one, other)]
    cells = []
    for low, high in pairwise((None, *cuts, None)):
        over = [[part for part in side if _covers(part[0], low, high)] for side in heights]
        if max(map(len, over)) > 1:
            return None
        if any(over):
            cells.append(_Cell(low, high, *(side[0] if side else None for side in over)))
    return cells


def _covers(bell: Bell, low: End, high: End) -> bool:
    starts = bell.low is None or (low is not None and bell.low <= low)
    return starts and (bell.high is None or (high is not None and high <= bell.high))


def bell_extremes(one: Bells, other: Bells) -> RatioExtremes | None:
    """Of the log ratio of the densities; None where they are not compared so."""
    cells = _cells(one, other)
    if cells is None:
        return None
    ends: list[tuple[arb, Fraction]] = []
    ways: dict[Fraction, list[Fraction]] = {}
    for cell in cells:
        if cell.one is None or cell.other is None:
            return without_bound((to_fmpq(cell.inside),), above=cell.other is None)
        (left, height), (right, against) = cell.one, cell.other
        moved, middle = left.centre - right.centre, (left.centre + right.centre) / 2
        heights = (height / against).log()
        if not moved:
            ends.append((heights, cell.inside))
            continue
        # Without any end, the way on which the ratio grows.
        for end, upwards in ((cell.high, True), (cell.low, False))[:: 1 if moved > 0 else -1]:
            if end is None:
                step = abs(left.scale**2 / moved) * (1 if upwards else -1)
                known = cell.low if upwards else cell.high
                start = middle if known is None else (max if upwards else min)(middle, known)
                places = tuple(to_fmpq(start + step * far) for far in FARTHER)
                return without_bound(places, above=(moved > 0) is upwards)
            ends.append((arb(to_fmpq(moved * (end - middle) / left.scale**2)) + heights, end))
            # Far out probabilities are too small to show: places on the way there come first.
            step = abs(left.scale**2 / moved) * (1 if upwards else -1)
            on_way = (middle + step * far for far in FARTHER)
            ways[end] = [at for at in on_way if cell.holds(at)]
    largest, smallest = ends[0][0], ends[0][0]
    for size, _ in ends:
        largest, smallest = largest.max(size), smallest.min(size)
    first, *_, last = sorted([*ends, *ends], key=lambda entry: float(entry[0].mid()))
    above, below = (tuple(map(to_fmpq, (*ways.get(end, ()), end))) for _, end in (last, first))
    return RatioExtremes(largest, smallest, above, below)


def bell_excess(one: Bells, other: Bells) -> tuple[arb, list[tuple[End, End]]] | None:
    """Integral of (one - other)+, and about where that is above 0; None as ``bell_extremes``."""
    cells = _cells(one, other)
    if cells is None:
        return None
    parts = [part for cell in cells for part in _excess_in(cell)]
    regions: list[tuple[End, End]] = []
    for _, (low, high) in parts:
        if low is not None and high is not None and low >= high:
            continue
        if regions and regions[-1][1] is not None and regions[-1][1] == low:
            regions[-1] = regions[-1][0], high
        else:
            regions.append((low, high))
    return sum((size for size, _ in parts), arb(0)), regions


def _excess_in(cell: _Cell) -> Iterator[tuple[arb, tuple[End, End]]]:
    if cell.one is None:
        return
    low, high = _ball(cell.low), _ball(cell.high)
    left, height = cell.one
    right, against = cell.other or (left, arb(0))
    moved, middle = left.centre - right.centre, (left.centre + right.centre) / 2
    if not moved:
        size = ((height - against) * left.between(low, high)).max(arb(0))
        if not size.is_zero():
            yield size, (cell.low, cell.high)
        return
    slope = arb(to_fmpq(left.scale**2 / moved))
    turn = arb(to_fmpq(middle)) + slope * (against / height).log()
    if low is not None:
        turn = turn.max(low)
    if high is not None:
        turn = turn.min(high)
    ends = (turn, high) if moved > 0 else (low, turn)
    size = height * left.between(*ends) - against * right.between(*ends)
    at = Fraction(float(turn.mid()))
    yield size.max(arb(0)), (at, cell.high) if moved > 0 else (cell.low, at)
