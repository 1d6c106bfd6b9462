"""By how much a function exceeds a multiple of another: the integral of (g - factor h)+.

Between two ends of pieces the sign of g - factor h is looked for by bisection, with enclosures by
intervals and by the derivative. Where it is certain the integral is a closed form. What is left
open is so short, or so close to 0, that it counts as an interval from 0 on; so does the part of an
infinite stretch beyond which g has next to no mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from liptest.errors import SymbolicError
from liptest.symbolic.functions import Function, Piece, restricted, total
from liptest.symbolic.rates import Rates
from liptest.symbolic.ratios import piece_on, stretches
from liptest.symbolic.terms import Terms, derivative, integral, sum_of, times, to_list, value_at

#: (power, rate, coefficient) of each term.
Parts = list[tuple[int, Any, Any]]
#: From one value to another, None where infinite.
Stretch = tuple[Any, Any]

# What stays open weighs less than this, together a little more.
_NOTHING = arb(2) ** -220
# An enclosure so much larger than a value is not made smaller.
_SAME = 4
# Parts of one stretch that are looked at.
_MOST = 20_000


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
            cut = one._replace(low=low, high=high, terms=restricted(rates, one, low, high, 0))
            size += total(rates, [cut._replace(origin=_origin(low, high))])
            where.append((low, high))
            continue
        found = _on(rates, one, other, factor, (low, high))
        size += found.size
        where += found.where
    return Excess(size, _joined(where))


def _origin(low: Any, high: Any) -> Any:
    return low if low is not None else high if high is not None else fmpq(0)


def _on(rates: Rates, one: Piece, other: Piece, factor: arb, stretch: Stretch) -> Excess:
    low, high = (_end(rates, one, stretch, side) for side in (0, 1))
    parts = [restricted(rates, piece, low, high, 0) for piece in (one, other)]
    gap = sum_of([parts[0], times(parts[1], -factor)])
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


def _end(rates: Rates, one: Piece, stretch: Stretch, side: int) -> Any:
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
    mass: arb = total(rates, [Piece(low, high, end, restricted(rates, one, low, high, 0))])
    return mass


def _positive(rates: Rates, gap: Terms, length: Any) -> tuple[tuple[Stretch, ...], arb]:
    """Where a gap on [0, length) is certainly above 0, and what it may come to elsewhere."""
    parts = list(to_list(rates, gap)), list(to_list(rates, derivative(rates, gap)))
    found, open_, looked = [], arb(0), 0
    waiting = [(fmpq(0), length)]
    while waiting:
        low, high = waiting.pop()
        looked += 1
        if looked > _MOST:
            raise SymbolicError("where one density exceeds the other was not found; round them")
        middle = (low + high) / 2
        centre = value_at(rates, gap, arb(middle))
        value = _enclosed(*parts, (low, high), centre)
        if value <= 0:
            continue
        most = value.upper() * arb(high - low)
        if value > 0:
            found.append((low, high))
        elif most < _NOTHING or _is_as_known(value, centre):
            open_ += arb(0).union(most)
        else:
            waiting += [(middle, high), (low, middle)]
    return _joined(found), open_


def _is_as_known(value: arb, centre: arb) -> bool:
    """Whether the sign is open because of what the function is known to, not of the stretch."""
    return bool(centre.contains(0)) and bool(value.upper() <= _SAME * centre.abs_upper())


def _enclosed(gap: Parts, slope: Parts, ends: Stretch, centre: arb) -> arb:
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
    found, box = arb(0), arb(low).union(arb(high))
    for power, rate, coefficient in parts:
        exponential = arb(rate * low).exp().union(arb(rate * high).exp())
        found += coefficient * exponential * (box**power if power else 1)
    return found


def _joined(where: list[Stretch]) -> tuple[Stretch, ...]:
    """Neighbouring stretches as one; those around a zero stay apart."""
    found: list[Stretch] = []
    for low, high in where:
        if found and low is not None and found[-1][1] == low:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return tuple(found)
