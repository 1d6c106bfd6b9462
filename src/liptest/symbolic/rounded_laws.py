"""Laws of rounded sums of continuous noise over all whole numbers (T7, T10).

Such a number is m where U = V + place lies in [m, m + 1): V is a sum of noise, the place takes in
what is added and how it is rounded. A law is a mixture of such parts, each with a weight and
perhaps with U cut to an interval, and of single numbers. ``rounded_comparison`` compares two.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq

from liptest.balls import to_fmpq
from liptest.symbolic.exponential_polynomials import (
    Function,
    Rates,
    greatest_end,
    integral,
    least_end,
)
from liptest.symbolic.noise import Noise

_ZERO, _ONE = fmpq(0), fmpq(1)
# None is infinite.
_End = Any


class NoiseSource:
    """A sum of independent continuous noise: what is rounded, before anything is added to it.

    Sources of equal keys are the same log-concave noise; None where that is not known.
    """

    key: Hashable | None
    support: tuple[_End, _End]

    def between(self, low: _End, high: _End) -> arb:
        """The mass between two places of the support."""
        raise NotImplementedError

    def rate(self, direction: int) -> Any:
        """r where the density falls as e^(-r |v|) up to powers of v, None where it falls faster."""
        raise NotImplementedError

    def tail(self, direction: int) -> tuple[Any, arb] | None:
        """(r, C): cells from v to v + 1 far out have the mass C e^(-r |v|), v in a direction.

        Times a number between ``closeness`` and 1; None where that is not known.
        """
        return None

    def closeness(self, direction: int, place: Any) -> arb:
        """From a place on outwards, see ``tail``."""
        return arb(1)


@dataclass(frozen=True)
class OneNoise(NoiseSource):
    """One variable times a factor."""

    noise: Noise
    factor: Any

    @property
    def key(self) -> Hashable:  # type: ignore[override]
        size = abs(self.factor) if self.noise.is_symmetric else self.factor
        return self.noise.family, self._scale * abs(self.factor), size > 0

    @property
    def _scale(self) -> Any:
        scale = self.noise.parameter
        return to_fmpq(scale)

    @property
    def support(self) -> tuple[_End, _End]:  # type: ignore[override]
        ends = tuple(
            None if end is None else to_fmpq(end) * self.factor for end in self.noise.support
        )
        return (ends[0], ends[1]) if self.factor > 0 else (ends[1], ends[0])

    def between(self, low: _End, high: _End) -> arb:
        ends = [None if end is None else end / self.factor for end in (low, high)]
        return _mass(self.noise.family, self._scale, *(ends if self.factor > 0 else ends[::-1]))

    def rate(self, direction: int) -> Any:
        side = direction if self.factor > 0 else -direction
        family = self.noise.family
        if family == "normal" or (family == "gumbel" and side < 0):
            return None
        return 1 / (self._scale * abs(self.factor))

    def tail(self, direction: int) -> tuple[Any, arb] | None:
        rate = self.rate(direction)
        if rate is None or self.noise.family == "uniform":
            return None
        near = 1 - (-arb(rate)).exp() if direction > 0 else arb(rate).expm1()
        return rate, near / 2 if self.noise.family == "laplace" else near

    def closeness(self, direction: int, place: Any) -> arb:
        falls = (-arb(self.rate(direction) * abs(place))).exp()
        if self.noise.family == "logistic":
            return 1 / (1 + falls) ** 2
        return (-falls).exp() if self.noise.family == "gumbel" else arb(1)


@dataclass(frozen=True, eq=False)
class NoiseSum(NoiseSource):
    """A density in pieces, times what else is known given the sum."""

    rates: Rates
    function: Function
    key: Hashable | None
    tails: tuple[Any, Any]

    @property
    def support(self) -> tuple[_End, _End]:  # type: ignore[override]
        return self.function[0].low, self.function[-1].high

    def between(self, low: _End, high: _End) -> arb:
        mass = arb(0)
        for piece in self.function:
            start, end = greatest_end(piece.low, low), least_end(piece.high, high)
            if start is None or end is None or start < end:
                ends = (None if place is None else place - piece.origin for place in (start, end))
                mass += integral(self.rates, piece.terms, *ends)
        return mass

    def rate(self, direction: int) -> Any:
        return self.tails[direction > 0]


def _mass(family: str, scale: Any, low: _End, high: _End) -> arb:
    """P(low < X < high) for noise of a scale, precise in both tails."""
    if family == "uniform":  # a short part of it, too
        first = _ZERO if low is None else max(low, _ZERO)
        last = _ONE if high is None else min(high, _ONE)
        return arb(max(last - first, _ZERO))
    if low is not None and (high is None or low + high >= 0):
        near = mass_beyond(family, scale, low, 1)
        return near if high is None else near - mass_beyond(family, scale, high, 1)
    if high is None:
        return arb(1)
    near = mass_beyond(family, scale, high, -1)
    return near if low is None else near - mass_beyond(family, scale, low, -1)


def mass_beyond(family: str, scale: Any, at: Any, side: int) -> arb:
    """P(X > at), or with side -1 P(X < at)."""
    z = arb(at / scale)
    if family == "uniform":
        inside = min(max(at, _ZERO), _ONE)
        return arb(1 - inside if side > 0 else inside)
    if family == "exponential":
        above = (-z).exp() if at > 0 else arb(1)
        return above if side > 0 else 1 - above
    if family == "gumbel":
        falls = (-z).exp()
        return -(-falls).expm1() if side > 0 else (-falls).exp()
    z *= side
    if family == "normal":
        return (z / arb(2).sqrt()).erfc() / 2
    if family == "logistic":
        return 1 / (1 + z.exp())
    return (-z).exp() / 2 if at * side >= 0 else 1 - z.exp() / 2


@dataclass(frozen=True)
class RoundedPart:
    """weight * P(source + place in [m, m + 1), and between low and high)."""

    weight: arb
    source: NoiseSource
    place: Any
    low: _End = None
    high: _End = None

    def is_certainly(self, other: RoundedPart) -> bool:
        """Whether both are written down alike."""
        own, its = ((part.source.key, part.place, part.low, part.high) for part in (self, other))
        return own[0] is not None and own == its and bool(self.weight == other.weight)

    @property
    def span(self) -> tuple[int | None, int | None]:
        """First number, and that after the last."""
        low, high = (None if end is None else end + self.place for end in self.source.support)
        low, high = greatest_end(low, self.low), least_end(high, self.high)
        first = None if low is None else int(low.floor())
        return first, None if high is None else int(high.ceil())

    def mass(self, first: int | None, end: int | None) -> arb:
        """Of the numbers from ``first`` on, before ``end``."""
        own = (None if end is None else end + self.place for end in self.source.support)
        bounds = zip(own, (self.low, self.high), (first, end), strict=True)
        (low, high) = (
            [None if bound is None else fmpq(bound) for bound in some] for some in bounds
        )
        start, stop = low[0], high[0]
        for bound in low[1:]:
            start = greatest_end(start, bound)
        for bound in high[1:]:
            stop = least_end(stop, bound)
        if start is not None and stop is not None and start >= stop:
            return arb(0)
        ends = (None if edge is None else edge - self.place for edge in (start, stop))
        return self.weight * self.source.between(*ends)


class RoundedLaw:
    """A mixture of parts and of single numbers with their masses."""

    def __init__(self, parts: list[RoundedPart], points: dict[int, arb]) -> None:
        self.parts = [part for part in parts if not _is_nothing(part)]
        self.points = points

    def total(self) -> arb:
        """The probability of all numbers together."""
        return self.mass(None, None)

    def mass(self, first: int | None, end: int | None) -> arb:
        """Of the numbers from ``first`` on, before ``end``."""
        inside = (
            weight
            for number, weight in self.points.items()
            if (first is None or first <= number) and (end is None or number < end)
        )
        return sum((part.mass(first, end) for part in self.parts), sum(inside, arb(0)))

    def probability(self, number: int) -> arb:
        """Of one number; exactly 0 where it is."""
        return self.mass(number, number + 1)

    def enlarge_by(self, factor: Any) -> RoundedLaw:
        """All masses times a factor."""
        size = arb(factor)
        parts = [
            RoundedPart(part.weight * size, part.source, part.place, part.low, part.high)
            for part in self.parts
        ]
        return RoundedLaw(parts, {number: size * mass for number, mass in self.points.items()})

    def is_certainly(self, other: RoundedLaw) -> bool:
        """Whether both are written down alike."""
        if len(self.parts) != len(other.parts) or set(self.points) != set(other.points):
            return False
        pairs = zip(self.parts, other.parts, strict=True)
        weights = [(self.points[number], other.points[number]) for number in self.points]
        return all(part.is_certainly(its) for part, its in pairs) and all(
            p == q for p, q in weights
        )

    def some_number(self) -> int:
        """One that it has."""
        if self.points:
            return next(iter(self.points))
        first, end = self.parts[0].span
        return first if first is not None else 0 if end is None else end - 1


def _is_nothing(part: RoundedPart) -> bool:
    first, end = part.span
    return first is not None and end is not None and first >= end


def make_mixture(laws: list[RoundedLaw]) -> RoundedLaw:
    """All masses added."""
    points: dict[int, arb] = {}
    for law in laws:
        for number, weight in law.points.items():
            points[number] = points.get(number, arb(0)) + weight
    return RoundedLaw([part for law in laws for part in law.parts], points)
