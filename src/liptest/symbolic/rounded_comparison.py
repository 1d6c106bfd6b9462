"""Two laws of rounded sums, compared over all whole numbers: quotients, and excess (T7, T10).

Between the places where parts begin or end, the quotient of two parts of one log-concave noise
rises or falls all the way (T7), so that its ends decide, limits included. Mixtures are looked at
number by number, and far out by enclosures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from flint import arb, fmpq

from liptest.errors import SymbolicError, UnsupportedForm
from liptest.symbolic.rounded_laws import RoundedLaw, RoundedPart
from liptest.symbolic.whole_laws import (
    MOST_NUMBERS,
    Extreme,
    QuotientExtremes,
    WholeExcess,
    join_spans,
)

_ZERO, _ONE = fmpq(0), fmpq(1)
# How far out witnesses of a limit are looked for.
_DOUBLINGS = 24
# Enclosures of a tail so narrow are not made narrower.
_NARROW = arb(2) ** -90
# Quotients that differ by less, as a share, are one; a tail that weighs less is one cell.
_SAME, _NOTHING = arb(2) ** -60, arb(2) ** -200


@dataclass(frozen=True)
class _Range:
    """Numbers from ``first`` on, before ``end``, on which the same parts of both laws are."""

    above: RoundedLaw
    below: RoundedLaw
    first: int | None
    end: int | None

    @property
    def is_single(self) -> bool:
        return self.first is not None and self.end == self.first + 1

    @property
    def is_alike(self) -> bool:
        """Whether the quotient certainly runs one way, or stays."""
        sides = self.above.parts, self.below.parts
        if any(len(parts) != 1 for parts in sides) or self.above.points or self.below.points:
            return False
        keys = [parts[0].source.key for parts in sides]
        return keys[0] is not None and keys[0] == keys[1]

    @property
    def is_of_one_law(self) -> bool:
        """Whether the other one has none of these numbers."""
        return any(not side.parts and not side.points for side in (self.above, self.below))

    @property
    def size(self) -> int | None:
        return None if self.first is None or self.end is None else self.end - self.first

    def at(self, number: int) -> tuple[arb, arb]:
        return self.above.probability(number), self.below.probability(number)

    def masses(self, first: int | None, end: int | None) -> tuple[arb, arb]:
        return self.above.mass(first, end), self.below.mass(first, end)


def _ranges(above: RoundedLaw, below: RoundedLaw) -> Iterator[_Range]:
    cuts = set()
    for law in (above, below):
        for part in law.parts:
            first, end = part.span
            cuts |= set() if first is None else {first, first + 1}
            cuts |= set() if end is None else {end - 1, end}
        for number in law.points:
            cuts |= {number, number + 1}
    if not cuts:
        cuts = {int(part.place.floor()) for part in above.parts[:1]}
    for first, end in pairwise([None, *sorted(cuts), None]):
        sides = [_on(law, first, end) for law in (above, below)]
        if any(side.parts or side.points for side in sides):
            yield _Range(sides[0], sides[1], first, end)


def _on(law: RoundedLaw, first: int | None, end: int | None) -> RoundedLaw:
    parts = []
    for part in law.parts:
        start, stop = part.span
        starts = start is None or (first is not None and start <= first)
        if starts and (stop is None or (end is not None and end <= stop)):
            parts.append(part)
    number = first if first is not None and end == first + 1 else None
    points = {number: law.points[number]} if number in law.points else {}
    return RoundedLaw(parts, points)


class _Largest:
    """The largest quotient that was seen, as a ball."""

    def __init__(self) -> None:
        self.found: Extreme | None = None

    def see(self, value: Any, *numbers: int) -> None:
        """None is infinite."""
        current = self.found
        if current is None:
            self.found = Extreme(value, numbers)
        elif value is None or current.value is None:
            attained = current.value is None and (value is not None or len(current.numbers) == 1)
            self.found = current if attained else Extreme(None, numbers)
        else:
            larger = bool(value > current.value)
            self.found = Extreme(value.max(current.value), numbers if larger else current.numbers)


def find_rounded_extremes(above: RoundedLaw, below: RoundedLaw) -> QuotientExtremes:
    """Of the quotient above/below over all numbers where one is not 0 (T7, T10).

    Raises UnsupportedForm where mixtures are not followed into their tails.
    """
    if above.is_certainly(below):
        same = Extreme(_ONE, (above.some_number(),))
        return QuotientExtremes(same, same)
    largest, smallest = _Largest(), _Largest()
    for stretch in _ranges(above, below):
        _look(stretch, largest, smallest)
    assert largest.found is not None
    assert smallest.found is not None
    value = smallest.found.value
    back = Extreme(_ZERO if value is None else 1 / value, smallest.found.numbers)
    return QuotientExtremes(largest.found, back)


def _look(one: _Range, largest: _Largest, smallest: _Largest) -> None:
    def see(p: arb, q: arb, *numbers: int) -> None:
        if p.is_zero() and q.is_zero():
            return
        if not (p.is_zero() or p > 0) or not (q.is_zero() or q > 0):
            raise SymbolicError("a probability is too close to 0; rescale the noise")
        largest.see(None if q.is_zero() else p / q, *numbers)
        smallest.see(None if p.is_zero() else q / p, *numbers)

    for number in _list(one):
        see(*one.at(number), number)
    if one.is_alike or one.size is None:
        for direction, end in ((-1, one.first), (1, one.end)):
            if end is None:
                start = _start(one, direction)
                numbers = tuple(start + (direction << k) for k in range(_DOUBLINGS))
                for quotient in _far(one, direction, start, see):
                    see(*quotient, *numbers)


def _start(one: _Range, direction: int) -> int:
    """The first number on the way out; no range is without any end."""
    near = one.first if direction > 0 else one.end
    assert near is not None
    return near if direction > 0 else near - 1


def _list(one: _Range) -> Iterator[int]:
    """The numbers that are looked at one by one, tails apart."""
    ends = [one.first, None if one.end is None else one.end - 1]
    if one.is_alike or one.size is None or one.is_of_one_law:
        yield from dict.fromkeys(end for end in ends if end is not None)
        return
    if one.size > MOST_NUMBERS:
        raise UnsupportedForm(f"two laws differ on {one.size:,} whole numbers one by one")
    assert one.first is not None
    yield from range(one.first, one.first + one.size)


def _far(one: _Range, direction: int, start: int, see: Any) -> Iterator[tuple[arb, arb]]:
    """What the quotient comes to far out, as numerator and denominator; sees what is nearer."""
    sides = one.above.parts, one.below.parts
    if not sides[0] or not sides[1]:
        yield arb(len(sides[0])), arb(len(sides[1]))
        return
    if one.is_alike:
        yield _limit(sides[0][0], sides[1][0], direction)
        return
    for tail in _tails(one, direction, start):
        for step in range(tail.known, tail.reach):
            number = start + direction * step
            see(*one.at(number), number)
        if tail.is_narrow or tail.is_unbounded:
            yield tail.quotient
            return
    raise UnsupportedForm("a mixture of laws whose tails settle late")


def _limit(one: RoundedPart, other: RoundedPart, direction: int) -> tuple[arb, arb]:
    """Where the quotient of two parts of the same noise runs to; 0 in one place is not a bound."""
    moved = (one.place - other.place) * direction
    rate = one.source.rate(direction)
    if moved == 0:
        return one.weight, other.weight
    if rate is None:
        return arb(int(moved > 0)), arb(int(moved < 0))
    return one.weight * arb(rate * moved).exp(), other.weight


@dataclass(frozen=True)
class _Tail:
    """An enclosure of both laws, up to a common factor, from start + reach on outwards."""

    above: arb
    below: arb
    known: int
    reach: int
    #: Whether one of them vanishes beside the other.
    is_unbounded: bool = False

    @property
    def quotient(self) -> tuple[arb, arb]:
        return self.above, self.below

    @property
    def is_narrow(self) -> bool:
        if not (self.above > 0 and self.below > 0):
            return False
        quotient = self.above / self.below
        return bool(quotient.rad() < _NARROW * quotient.lower())


def _tails(one: _Range, direction: int, start: int) -> Iterator[_Tail]:
    """Further and further out."""
    parts = [*one.above.parts, *one.below.parts]
    keys = {part.source.key for part in parts}
    before, reach = 0, 16
    while reach <= MOST_NUMBERS:
        number = start + direction * reach
        enclose = _by_leader if len(keys) == 1 and None not in keys else _by_rate
        sizes = enclose(parts, direction, number)
        cut = len(one.above.parts)
        lasting = [any(last for _, last in some) for some in (sizes[:cut], sizes[cut:])]
        above, below = (
            sum((size for size, _ in some), arb(0)) for some in (sizes[:cut], sizes[cut:])
        )
        if all(lasting):
            yield _Tail(above, below, before, reach)
        else:
            yield _Tail(
                arb(int(lasting[0])), arb(int(lasting[1])), before, reach, is_unbounded=True
            )
        before, reach = reach, 2 * reach


def _by_leader(parts: list[RoundedPart], direction: int, number: int) -> list[tuple[arb, bool]]:
    """Each part by the one that lies furthest out: that runs one way to its limit (T7)."""
    leader = max(parts, key=lambda part: part.place * direction)
    alone = RoundedPart(arb(1), leader.source, leader.place)
    sizes = []
    for part in parts:
        other = RoundedPart(arb(1), part.source, part.place)
        above, below = _limit(other, alone, direction)
        near = other.mass(number, number + 1) / alone.mass(number, number + 1)
        size = (above / below).union(near) * part.weight
        sizes.append((size, not above.is_zero()))
    return sizes


def _by_rate(parts: list[RoundedPart], direction: int, number: int) -> list[tuple[arb, bool]]:
    """Each part by e^(-r |n|), r the smallest rate: with that one it stays, else it vanishes."""
    listed = []
    for part in parts:
        tail = part.source.tail(direction)
        if tail is None:
            raise UnsupportedForm("a mixture of noise whose tails are not compared")
        near = (number - part.place) * direction
        if near <= (1 if direction < 0 else 0):
            listed.append((part, tail, arb(0)))
            continue
        listed.append((part, tail, part.source.closeness(direction, near - (direction < 0))))
    slowest = min(rate for _, (rate, _), _ in listed)
    sizes = []
    for part, (rate, size), close in listed:
        moved = arb(rate * part.place * direction).exp() * size * part.weight
        further = (-arb((rate - slowest) * number * direction)).exp()
        lasting = rate == slowest
        kept = close.union(arb(1)) * (arb(1) if lasting else arb(0).union(further))
        sizes.append((moved * kept, lasting))
    return sizes


def find_rounded_excess(above: RoundedLaw, below: RoundedLaw, factor: arb) -> WholeExcess:
    """The sum of (above - factor * below)+ over all whole numbers, and where it is above 0."""
    size = arb(0)
    where: list[tuple[int | None, int | None]] = []
    for stretch in _ranges(above, below):
        for excess, spans in _excesses(stretch, factor):
            size += excess
            where += spans
    return WholeExcess(size, tuple(join_spans(where)))


_Spans = list[tuple[int | None, int | None]]


def _excesses(one: _Range, factor: arb) -> Iterator[tuple[arb, _Spans]]:
    if not one.above.parts and not one.above.points:
        return
    if not one.below.parts and not one.below.points:
        yield one.above.mass(one.first, one.end), [(one.first, one.end)]
        return
    if one.is_alike and not one.is_single:
        yield _excess_one_way(one, factor)
        return
    inside: list[int] = []
    if one.size is not None:
        inside = list(_list(one))
    for number in inside:
        yield _excess_at(one, number, factor)
    if one.size is None:
        for direction, end in ((-1, one.first), (1, one.end)):
            if end is None:
                yield from _excess_far(one, direction, factor)


def _excess_at(one: _Range, number: int, factor: arb) -> tuple[arb, _Spans]:
    p, q = one.at(number)
    gap = p - factor * q
    if gap > 0:
        return gap, [(number, number + 1)]
    return (arb(0) if gap <= 0 else arb(0).union(gap.upper())), []


def _excess_far(one: _Range, direction: int, factor: arb) -> Iterator[tuple[arb, _Spans]]:
    """One side of a mixture without an end."""
    start = _start(one, direction)
    for tail in _tails(one, direction, start):
        for step in range(tail.known, tail.reach):
            yield _excess_at(one, start + direction * step, factor)
        number = start + direction * tail.reach
        span = (number, None) if direction > 0 else (None, number + 1)
        p, q = one.masses(*span)
        if tail.is_unbounded:
            low, high = (arb(0), p) if not tail.below.is_zero() else (p - factor * q, p)
            ball = low.max(arb(0)).union(high)
        else:
            largest = tail.above / tail.below
            ball = (p - factor * q).max(arb(0)).union(((largest - factor) * q).max(arb(0)))
        if ball.rad() < _NARROW:
            yield ball, [span] if p - factor * q > 0 else []
            return
    raise UnsupportedForm("a mixture of laws whose tails settle late")


def _excess_one_way(one: _Range, factor: arb) -> tuple[arb, _Spans]:
    """Where the quotient rises or falls all the way: one side of a number (T7).

    That set is looked for in floats; what it may be wrong by is bounded and added.
    """
    sides = one.above.parts[0], one.below.parts[0]
    moved = sides[0].place - sides[1].place
    if moved == 0:
        p, q = one.masses(one.first, one.end)
        gap = (p - factor * q).max(arb(0))
        return gap, [(one.first, one.end)] if gap > 0 else []
    direction = 1 if moved > 0 else -1
    if _starts_above(one, direction, factor):
        p, q = one.masses(one.first, one.end)
        return p - factor * q, [(one.first, one.end)]
    turn = _turn(one, direction, factor)
    if turn is None:  # the quotient is nowhere the larger one, up to rounding
        p, q = arb(0), arb(0)
        outside: tuple[int | None, int | None] = one.first, one.end
        where: _Spans = []
    else:
        inside = (turn, one.end) if direction > 0 else (one.first, turn + 1)
        outside = (one.first, turn) if direction > 0 else (turn + 1, one.end)
        where = [inside]
        p, q = one.masses(*inside)
    size = p - factor * q
    if turn is not None:
        near = _quotient(one, turn)
        size += arb(0).union(((factor - near) * q).max(arb(0)).upper())
    if outside[0] is None or outside[1] is None or outside[0] < outside[1]:
        edge = outside[1] if direction > 0 else outside[0]
        last = _edge_quotient(one, edge, direction)
        rest = ((last - factor) * one.below.mass(*outside)).max(arb(0))
        size += arb(0).union(rest.upper())
    return size.max(arb(0)), where


def _quotient(one: _Range, number: int) -> arb:
    p, q = one.at(number)
    if not q > 0:
        raise SymbolicError("a probability is too close to 0; rescale the noise")
    return p / q


def _edge_quotient(one: _Range, edge: int | None, direction: int) -> arb:
    """The largest quotient of the numbers before ``edge``, or after it with direction -1."""
    if edge is not None:
        return _quotient(one, edge - 1 if direction > 0 else edge)
    above, below = _limit(one.above.parts[0], one.below.parts[0], direction)
    return above / below


def _starts_above(one: _Range, direction: int, factor: arb) -> bool:
    """Whether the smallest quotient is above a factor."""
    near = one.first if direction > 0 else None if one.end is None else one.end - 1
    if near is not None:
        return bool(_quotient(one, near) > factor)
    above, below = _limit(one.above.parts[0], one.below.parts[0], -direction)
    return below.is_zero() or bool(above / below > factor)


def _turn(one: _Range, direction: int, factor: arb) -> int | None:
    """The first number in a direction whose quotient is above a factor; None if there is none."""

    def is_above(number: int) -> bool:
        return bool(_quotient(one, number) > factor)

    last = (None if one.end is None else one.end - 1) if direction > 0 else one.first
    if last is None:
        above, below = _limit(one.above.parts[0], one.below.parts[0], direction)
        if not below.is_zero() and not above / below > factor:
            return None
        start = _start(one, direction)
        return _bisect(is_above, start, _step(is_above, start, direction))
    if not is_above(last):
        return None
    near = one.first if direction > 0 else None if one.end is None else one.end - 1
    if near is None:
        near = _step(lambda number: not is_above(number), last, -direction)
    return _bisect(is_above, near, last)


def _step(holds: Any, start: int, direction: int) -> int:
    """A number beyond a start for which something holds."""
    for k in range(_DOUBLINGS):
        if holds(start + (direction << k)):
            return start + (direction << k)
    raise UnsupportedForm("two laws that differ far out")


def _bisect(is_above: Any, low: int, high: int) -> int:
    """Between a number that is not above, or is the first, and one that is: the first that is."""
    if is_above(low):
        return low
    while abs(high - low) > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class QuotientCell:
    """Numbers with their masses under both laws, and an enclosure of the quotients above/below.

    No quotient: only one of the laws has them.
    """

    above: arb
    below: arb
    quotient: arb | None = None


def quotient_cells(above: RoundedLaw, below: RoundedLaw) -> Iterator[QuotientCell]:
    """All whole numbers, in cells whose quotients are nearly one, or that weigh nearly nothing.

    Raises UnsupportedForm where the quotient has no bound, or tails settle late.
    """
    for stretch in _ranges(above, below):
        if stretch.is_of_one_law:
            yield QuotientCell(*stretch.masses(stretch.first, stretch.end))
        elif stretch.is_alike:
            yield from _cells_one_way(stretch)
        elif stretch.size is not None:
            yield from (_cell_at(stretch, number) for number in _list(stretch))
        else:
            for direction, end in ((-1, stretch.first), (1, stretch.end)):
                if end is None:
                    yield from _cells_far(stretch, direction)


def _cell_at(one: _Range, number: int) -> QuotientCell:
    p, q = one.at(number)
    if p.is_zero() or q.is_zero():
        return QuotientCell(p, q)
    return QuotientCell(p, q, _quotient(one, number))


def _cells_far(one: _Range, direction: int) -> Iterator[QuotientCell]:
    """One side of a mixture without an end."""
    start = _start(one, direction)
    for tail in _tails(one, direction, start):
        if tail.is_unbounded:
            break
        for step in range(tail.known, tail.reach):
            yield _cell_at(one, start + direction * step)
        if tail.is_narrow:
            yield QuotientCell(*_beyond(one, start, direction, tail.reach), tail.above / tail.below)
            return
    raise UnsupportedForm("a mixture of laws whose tails settle late, or never")


def _cells_one_way(one: _Range) -> Iterator[QuotientCell]:
    """Of one noise: the quotient rises or falls all the way (T7)."""
    if one.size is not None:
        assert one.first is not None
        yield from _halve(one, one.first, one.first + one.size)
        return
    direction = 1 if one.end is None else -1
    above, below = _limit(one.above.parts[0], one.below.parts[0], direction)
    if above.is_zero() or below.is_zero():
        raise UnsupportedForm("laws whose quotient has no bound")
    start, reach = _start(one, direction), 0
    for k in range(_DOUBLINGS):
        masses = _beyond(one, start, direction, reach)
        quotient = _quotient(one, start + direction * reach).union(above / below)
        if _is_one(quotient) or masses[0].max(masses[1]) < _NOTHING:
            yield QuotientCell(*masses, quotient)
            return
        ends = sorted(start + direction * step for step in (reach, (1 << k) - 1 + (1 << k)))
        yield from _halve(one, *(end + (direction < 0) for end in ends))
        reach = 2 * reach + 1
    raise UnsupportedForm("two laws that differ far out")


def _beyond(one: _Range, start: int, direction: int, reach: int) -> tuple[arb, arb]:
    """Both masses of a tail."""
    number = start + direction * reach
    return one.masses(*((number, None) if direction > 0 else (None, number + 1)))


def _halve(one: _Range, first: int, end: int) -> Iterator[QuotientCell]:
    """The numbers from ``first`` on, before ``end``, where the quotient runs one way."""
    if end - first == 1:
        yield _cell_at(one, first)
        return
    quotient = _quotient(one, first).union(_quotient(one, end - 1))
    if _is_one(quotient):
        yield QuotientCell(*one.masses(first, end), quotient)
        return
    middle = (first + end) // 2
    yield from _halve(one, first, middle)
    yield from _halve(one, middle, end)


def _is_one(quotient: arb) -> bool:
    return bool(quotient.rad() < _SAME * quotient.lower())
