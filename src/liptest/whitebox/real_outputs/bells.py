"""Two normal densities of one scale between the same two ends: their ratio, and their excess.

Clipped normal noise has such densities. The log ratio is a linear function of the number, so that
its extremes are at the ends, and one density exceeds a multiple of the other on one side of a turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from liptest.errors import SymbolicError
from liptest.symbolic.densities import Extremes, without_bound
from liptest.symbolic.elimination import rational

#: None where infinite.
End = Fraction | None


# Where there is no bound, in units of the log ratio.
_FARTHER = (1, *sorted(size << k for k in range(30) for size in (2, 3)))


@dataclass(frozen=True)
class Bell:
    """The normal law about a centre, given that the number lies between two ends."""

    centre: Fraction
    scale: Fraction
    low: End = None
    high: End = None

    @property
    def mass(self) -> arb:
        """Of the normal law between the ends."""
        found = self.between(_ball(self.low), _ball(self.high))
        if not found > 0:
            raise SymbolicError("normal noise is clipped too far out in its tail; rescale it")
        return found

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
        distance = (number - arb(rational(self.centre))) / arb(rational(self.scale))
        return (distance * side / arb(2).sqrt()).erfc() / 2


def _ball(end: End) -> arb | None:
    return None if end is None else arb(rational(end))


def are_alike(one: Bell, other: Bell) -> bool:
    """Whether both have one scale and the same ends."""
    return (one.scale, one.low, one.high) == (other.scale, other.low, other.high)


def bell_extremes(one: Bell, other: Bell) -> Extremes:
    """Of the log ratio of the densities of two bells that are alike."""
    moved, middle = one.centre - other.centre, (one.centre + other.centre) / 2
    if not moved:
        return Extremes(arb(0), arb(0))
    if one.low is None or one.high is None:
        upwards = one.high is None
        step = abs(one.scale**2 / moved)
        start = middle
        if one.low is not None or one.high is not None:
            end = one.low if one.low is not None else one.high
            assert end is not None
            start = max(middle, end) if upwards else min(middle, end)
        if one.low is None and one.high is None:
            upwards = moved > 0
        places = tuple(rational(start + (step if upwards else -step) * far) for far in _FARTHER)
        return without_bound(places, above=(moved > 0) is upwards)
    masses = (other.mass / one.mass).log()
    ends = (one.low, one.high) if moved > 0 else (one.high, one.low)
    logs = [arb(rational(moved * (end - middle) / one.scale**2)) + masses for end in ends]
    low, high = (rational(end) for end in ends)
    return Extremes(logs[1], logs[0], (high,), (low,))


def bell_excess(one: Bell, other: Bell, weight: arb, against: arb) -> tuple[arb, tuple[Any, Any]]:
    """Integral of (weight * density - against * other density)+, and about where that is above 0.

    The bells are alike and their centres differ.
    """
    moved, middle = one.centre - other.centre, (one.centre + other.centre) / 2
    first, second = weight / one.mass, against / other.mass
    slope = arb(rational(one.scale**2 / moved))
    turn = arb(rational(middle)) + slope * (second / first).log()
    low, high = _ball(one.low), _ball(one.high)
    if low is not None:
        turn = turn.max(low)
    if high is not None:
        turn = turn.min(high)
    ends = (turn, high) if moved > 0 else (low, turn)
    size = first * one.between(*ends) - second * other.between(*ends)
    at = Fraction(float(turn.mid()))
    return size.max(arb(0)), (at, one.high) if moved > 0 else (one.low, at)
