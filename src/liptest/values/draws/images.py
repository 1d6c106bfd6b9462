"""Monotone float functions of the grid, evaluated as the code does: cuts, regions, pieces.

Sums, differences, products, quotients and square roots are rounded correctly, hence monotone in
floats; so are floor, ceil and rint. log, exp and their kin are monotone except for errors of the
last digit: each use is checked at points near the cut and all over the region.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

import numpy as np

from liptest.values.draws.grid import Line, Split
from liptest.values.faults import raises_as_numpy

#: In place of a cut: the function is not monotone there.
UNCERTAIN = -1
#: Different values of one number that are told apart; if they are most of it, the rest is left out.
MAX_PIECES = 1 << 14
# After so many the rest may be left out if it is this part of all points ...
_FIRST_PIECES = 1 << 12
_REST_BITS = 64
# ... and it is seen whether it will ever be the smaller half; after fewer where pieces as long as
# those so far would be so many times too many.
_EARLY_PIECES, _EARLY_FACTOR = 1 << 7, 1 << 10

_NOT_MONOTONE = "a function that is not monotone in its last digits"
# Distances from a cut, and steps of a walk over a region that meets no regular pattern.
_NEAR = (1, 2, 3, 4, 6, 9, 14, 21, 33, 64, 129, 1000, 1 << 16, 1 << 24, 1 << 34)
_SAMPLES = 24
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Quantiles:
    """``factor`` times the inverse cdf of a family, at w or, where it is ``turned``, at 1 - w.

    For "exponential" it is the logarithm, which is minus the inverse cdf at 1 - w.
    """

    family: str
    factor: int = 1
    turned: bool = False


@dataclass(frozen=True, eq=False)
class Step:
    """One operation on a float. Objects are compared by identity: make equal ones once.

    ``apply`` is the real operation; ``direction`` says of an argument where the result grows
    (1) or falls (-1) with it. ``splits`` where it is regular only on each side of 0. ``rounds``
    where the result takes few values.
    """

    name: str
    apply: Callable[[Any], Any]
    direction: Callable[[Any], int]
    splits: bool = False
    rounds: bool = False
    #: (slope, shift) of what it does, without the rounding of floats; None where it is not a line.
    linear: tuple[Fraction, Fraction] | None = None
    #: c where it makes c / x of x.
    over: Fraction | None = None
    #: Of which noise it is the inverse cdf.
    quantile: Quantiles | None = None
    #: The operation, and the two lines of one grid that it joins.
    joins: tuple[str, Any, Any] | None = None

    @raises_as_numpy
    def of_number(self, x: Any) -> Any:
        """What the program has of a plain number: a value, or the exception of the operation."""
        try:
            return self.apply(x)
        except (ArithmeticError, ValueError) as error:
            # Without the frames of ``apply``: the exception is that of the real operation.
            raise error.with_traceback(None) from None

    def tag(self, x: Any) -> Any:
        """The same on each stretch on which the operation is regular, or gives one result."""
        side = (math.copysign(1.0, x), x == 0) if self.splits else None
        try:
            y = self.apply(x)
        except Exception as error:
            return "one result", type(error), side
        if type(y) is int:
            return "regular", side
        if not isinstance(y, float):
            return f"a {type(y).__name__}", side
        if math.isnan(y) or math.isinf(y):
            return "one result", str(y), math.isinf(x), side
        return "regular", side


@dataclass(frozen=True)
class Region:
    """Grid points start .. stop-1; without ``image`` each gives the same result, or is refused."""

    start: int
    stop: int
    image: Image | None = None
    refused: str | None = None


@dataclass(eq=False)
class Image:
    """The values of a step on those of an earlier line, on the grid points start .. stop-1."""

    inner: Line | Image
    step: Step
    start: int
    stop: int
    rising: bool
    discrete: bool
    kind: type
    at_least: Callable[[Any], int] = field(init=False)
    above: Callable[[Any], int] = field(init=False)
    #: Whether it is left to its uses to see if it is monotone: as noise it need not be.
    is_open: bool = field(init=False)
    _regions: dict[Step, tuple[Region, ...]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.is_open = self.step.quantile is not None or self.inner.is_open
        self.at_least = lru_cache(maxsize=1024)(self._at_least)
        self.above = lru_cache(maxsize=1024)(self._above)

    def value(self, point: int) -> Any:
        """The float at a grid point, of the type that the code sees."""
        return self.step.apply(self.inner.value(point))

    def _at_least(self, bound: Any) -> int:
        """Where values from ``bound`` on begin (rising) or end (falling); UNCERTAIN."""
        if self.rising:
            return self._cut(lambda value: not value < bound)
        return self._cut(lambda value: bool(value < bound))

    def _above(self, bound: Any) -> int:
        """Where values above ``bound`` begin (rising) or end (falling); UNCERTAIN."""
        if self.rising:
            return self._cut(lambda value: bool(value > bound))
        return self._cut(lambda value: not value > bound)

    def _cut(self, holds: Callable[[Any], bool]) -> int:
        if self.is_open and not self.is_monotone():
            return UNCERTAIN
        plain = int if self.kind is int else float
        return first_point(self.start, self.stop, lambda point: holds(plain(self.value(point))))

    def is_monotone(self) -> bool:
        """Whether the values at some points, and next to them, are in order."""
        points = sorted({*_spread(self.start, self.stop)})
        with np.errstate(all="ignore"):
            values = [self.value(point) for point in points]
        pairs = pairwise(values)
        return all(a <= b if self.rising else a >= b for a, b in pairs)


def regions(line: Line | Image, step: Step) -> tuple[Region, ...]:
    """Stretches of a line on which a step is regular, or gives one result; in order."""
    cached = line._regions
    if step not in cached:
        if len(cached) > 1024:
            cached.clear()
        with np.errstate(all="ignore"):
            cached[step] = tuple(_find(line, step))
    return cached[step]


@lru_cache(maxsize=1024)
def one_sided(line: Line | Image, step: Step, low: int, high: int) -> Region | None:
    """The grid points low .. high-1 as one region of a step, where no value changes its sign.

    A 0 belongs to either side; in ``regions`` it is a point of its own where a step splits there.
    """
    ends = line.value(low), line.value(high - 1)
    if not (min(ends) >= 0 or max(ends) <= 0) or ends[0] == ends[1]:
        return None
    outer = low if abs(ends[0]) > abs(ends[1]) else high - 1
    region = _region(line, step, low, high, "regular", at=outer)
    return region if region.refused is None else None


def _find(line: Line | Image, step: Step) -> Iterator[Region]:
    start = line.start
    last = step.tag(line.value(line.stop - 1))
    while start < line.stop:
        tag = step.tag(line.value(start))
        stop = line.stop if tag != last else _inner_point(line, step, start)
        if stop != UNCERTAIN and (tag != last or stop < line.stop):
            stop = first_point(start, stop, partial(_has_other_tag, line, step, tag))
        if stop == UNCERTAIN:
            yield Region(start, line.stop, refused=_NOT_MONOTONE)
            return
        yield _region(line, step, start, stop, tag[0])
        start = stop


def _inner_point(line: Line | Image, step: Step, start: int) -> int:
    """A point from ``start`` on where an inverse cdf is regular, if it is not at both ends."""
    if step.quantile is None or step.tag(line.value(start))[0] == "regular":
        return line.stop
    inside = operator.ge if line.rising else operator.le
    middle = first_point(start, line.stop, lambda point: bool(inside(line.value(point), 0.5)))
    is_inside = start < middle < line.stop and step.tag(line.value(middle))[0] == "regular"
    return middle if is_inside or middle == UNCERTAIN else line.stop


def _has_other_tag(line: Line | Image, step: Step, tag: Any, point: int) -> bool:
    return bool(step.tag(line.value(point)) != tag)


def _region(
    line: Line | Image, step: Step, start: int, stop: int, what: str, at: int | None = None
) -> Region:
    """A stretch; in which direction the step goes is asked at one of its points."""
    if what == "one result":
        return Region(start, stop)
    if what != "regular":
        return Region(start, stop, refused=f"{step.name}, which gives {what}")
    direction = step.direction(line.value(start if at is None else at))
    rising = line.rising == (direction > 0)
    kind = type(step.apply(line.value(start)))
    image = Image(line, step, start, stop, rising, line.discrete or step.rounds, kind)
    if not image.is_open and not image.is_monotone():
        return Region(start, stop, refused=f"{step.name}: {_NOT_MONOTONE}")
    return Region(start, stop, image)


def first_point(start: int, stop: int, holds: Callable[[int], bool]) -> int:
    """The first of the points that holds, ``stop`` if none; UNCERTAIN where that is not a cut."""
    with np.errstate(all="ignore"):
        cut, end = start, stop
        while cut < end:  # not by bisect: a range may be longer than it allows
            middle = (cut + end) // 2
            cut, end = (cut, middle) if holds(middle) else (middle + 1, end)
        before = (cut - near for near in _NEAR if cut - near >= start)
        after = (cut - 1 + near for near in _NEAR if cut - 1 + near < stop)
        if any(holds(point) for point in before) or not all(holds(point) for point in after):
            return UNCERTAIN
    return cut


def _spread(start: int, stop: int) -> Iterator[int]:
    yield from (start, stop - 1)
    for k in range(1, _SAMPLES):
        point = start + k * _GOLDEN % (stop - start)
        yield point
        if point + 1 < stop:
            yield point + 1


@dataclass(frozen=True)
class Pieces:
    """Stretches of the grid on which a number has one value.

    ``weights`` are their lengths, and last, where ``ends`` is shorter, what was not told apart.
    """

    weights: Split
    values: tuple[Any, ...]
    ends: tuple[tuple[int, int], ...]


@lru_cache(maxsize=1024)
def pieces(line: Line | Image, low: int, high: int, settle: Callable[[Any], Any]) -> Pieces | None:
    """The values of ``settle(value)`` on the grid points low .. high-1, longest stretches first.

    None when there are too many, or the function is not monotone.
    """
    if line.is_open and isinstance(line, Image) and not line.is_monotone():
        return None
    with np.errstate(all="ignore"):
        spans = _tell_apart(line, low, high, settle)
    if spans is None:
        return None
    spans.sort()
    weights = tuple(stop - start for start, stop, _ in spans)
    rest = high - low - sum(weights)
    common = math.gcd(*weights, rest)
    return Pieces(
        Split(weight // common for weight in (weights if rest == 0 else (*weights, rest))),
        tuple(value for *_, value in spans),
        tuple((start, stop) for start, stop, _ in spans),
    )


def _tell_apart(
    line: Line | Image, low: int, high: int, settle: Callable[[Any], Any]
) -> list[tuple[int, int, Any]] | None:
    def key(point: int) -> Any:
        # 0.0 and -0.0 are told apart: programs can.
        value = settle(line.value(point))
        return value, math.copysign(1.0, value) if value == 0 else 0.0

    open_, rest = [(low - high, low, high)], high - low
    spans: list[tuple[int, int, Any]] = []
    while open_ and not _is_enough(len(spans), rest, high - low):
        _, start, stop = heappop(open_)
        middle = key((start + stop) // 2)
        first = _beginning(start, stop, key, middle, line.rising, beyond=False)
        after = _beginning(start, stop, key, middle, line.rising, beyond=True)
        if UNCERTAIN in (first, after) or first >= after:
            return None
        spans.append((first, after, settle(line.value(first))))
        rest -= after - first
        for a, b in ((start, first), (after, stop)):
            if a < b:
                heappush(open_, (a - b, a, b))
    return spans if 2 * rest <= high - low else None


def _is_enough(count: int, rest: int, points: int) -> bool:
    """Whether to stop: all that is left is small, or it will never be."""
    far_too_many = {_FIRST_PIECES: 2, _EARLY_PIECES: _EARLY_FACTOR}.get(count)
    if far_too_many and count * points > far_too_many * (points - rest) * MAX_PIECES:
        return True
    return count >= MAX_PIECES or (count >= _FIRST_PIECES and rest <= points >> _REST_BITS)


def _beginning(
    start: int, stop: int, key: Callable[[int], Any], value: Any, rising: bool, *, beyond: bool
) -> int:
    """The first point whose value is ``value`` or beyond it, or only beyond it."""
    if rising:
        return first_point(start, stop, lambda p: key(p) > value if beyond else key(p) >= value)
    return first_point(start, stop, lambda p: key(p) < value if beyond else key(p) <= value)
