"""The 2**53 floats that ``random()`` can return, and monotone images of them."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Points of the grid of ``random()``.
GRID = 2**53
# Draws by which two ways of rounding are told apart: they differ at some percent of all points.
_PROBES = 512
_MOST_HALVES = 4096
# Kept: while a program is analysed the names stand for something else.
_GENERATOR, _BITS = np.random.Generator, np.random.PCG64


class Line:
    """The floats ``low + width * u`` over the grid of u, as NumPy computes them.

    ``at_least(bound)`` is the first grid point whose value is >= bound, ``above(bound)`` the
    first whose value is > bound; GRID when there is none. Bounds are compared exactly.
    """

    #: The points, and what an image of the line asks of it.
    start, stop, rising, discrete, is_open = 0, GRID, True, False, False
    kind: Any = float

    def __init__(self, low: float, width: float) -> None:
        self._regions: dict[Any, Any] = {}
        #: What ``halves`` has found.
        self.known_halves: dict[float, tuple[int, Split | None]] = {}
        self.low = low
        self.width = width

    # Many lines are made of which nothing is asked.
    @cached_property
    def at_least(self) -> Callable[[Any], int]:
        return lru_cache(maxsize=1024)(self._at_least)

    @cached_property
    def above(self) -> Callable[[Any], int]:
        return lru_cache(maxsize=1024)(self._above)

    @property
    def law(self) -> Any:
        """Equal for lines that give the same floats."""
        return type(self).__name__, self.low, self.width

    def value(self, point: int) -> float:
        """The float at a grid point; never falls as the point rises."""
        return self.low + self.width * (point * 2.0**-53)

    def values(self, points: NDArray[np.int64]) -> NDArray[np.float64]:
        """The floats at several grid points, (n,)."""
        if type(self) is Line:
            return np.asarray(self.low + self.width * (points * 2.0**-53), dtype=np.float64)
        return np.array([self.value(point) for point in points.tolist()], dtype=np.float64)

    def halves(self, bound: float) -> tuple[int, Split | None]:
        """``at_least(bound)``, and the weights below and from there on; None if one is empty."""
        cut = self.at_least(bound)
        halves = cut, split_weights(cut, GRID - cut) if 0 < cut < GRID else None
        if len(self.known_halves) > _MOST_HALVES:
            self.known_halves.clear()
        self.known_halves[bound] = halves
        return halves

    def _at_least(self, bound: Any) -> int:
        return bisect_left(range(GRID), bound, key=self.value)

    def _above(self, bound: Any) -> int:
        return bisect_right(range(GRID), bound, key=self.value)


UNIT = Line(0.0, 1.0)


class FusedLine(Line):
    """The floats ``low + width * u`` rounded once, as processors with fused operations do it."""

    def value(self, point: int) -> float:
        """The float at a grid point; never falls as the point rises."""
        return float(Fraction(self.low) + Fraction(self.width) * Fraction(point, GRID))


class CoarseLine(Line):
    """The 2**24 floats of ``random(dtype=numpy.float32)``, as Python's floats."""

    # Not noise of density 1: sums with other noise are refused.
    discrete = True
    stop = 1 << 24

    def value(self, point: int) -> float:
        """A multiple of 2**-24."""
        return point * 2.0**-24

    def halves(self, bound: float) -> tuple[int, Split | None]:
        """``at_least(bound)``, and the weights below and from there on; None if one is empty."""
        cut = self.at_least(bound)
        return cut, split_weights(cut, self.stop - cut) if 0 < cut < self.stop else None

    def _at_least(self, bound: Any) -> int:
        return bisect_left(range(self.stop), bound, key=self.value)

    def _above(self, bound: Any) -> int:
        return bisect_right(range(self.stop), bound, key=self.value)


COARSE = CoarseLine(0.0, 1.0)


class WholeLine(Line):
    """The whole numbers 0 .. count-1, all of them equally likely."""

    kind: Any = int
    discrete = True

    def __init__(self, count: int) -> None:
        super().__init__(0.0, 1.0)
        self.stop = count

    @property
    def law(self) -> Any:
        """Equal for lines that give the same numbers."""
        return self.stop

    def value(self, point: int) -> Any:
        """The point itself."""
        return point

    def _at_least(self, bound: Any) -> int:
        if bound in (math.inf, -math.inf) or bound != bound:
            return self.stop if bound == math.inf else 0
        return int(min(max(math.ceil(bound), 0), self.stop))

    def _above(self, bound: Any) -> int:
        if bound in (math.inf, -math.inf) or bound != bound:
            return self.stop if bound == math.inf else 0
        return int(min(max(math.floor(bound) + 1, 0), self.stop))


whole_line = lru_cache(maxsize=256)(WholeLine)


class EntryLine(Line):
    """The whole numbers first .. first + count - 1 of one of NumPy's types, all equally likely."""

    discrete = True

    def __init__(self, first: int, count: int, kind: Any) -> None:
        super().__init__(0.0, 1.0)
        self.first, self.stop, self.kind = first, count, kind

    @property
    def law(self) -> Any:
        """Equal for lines that give the same numbers."""
        return self.first, self.stop, self.kind.__name__

    def value(self, point: int) -> Any:
        """The number of a point."""
        return self.kind(self.first + point)

    def _at_least(self, bound: Any) -> int:
        return self._cut(bound, lambda point: bool(self.value(point) >= bound))

    def _above(self, bound: Any) -> int:
        return self._cut(bound, lambda point: bool(self.value(point) > bound))

    def _cut(self, bound: Any, holds: Callable[[int], bool]) -> int:
        """The first point that holds; NumPy compares whole numbers with floats as floats."""
        if bound != bound:
            return 0
        low, high = 0, self.stop
        while low < high:  # a range may be longer than bisect allows
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle + 1, high)
        return low


entry_line = lru_cache(maxsize=256)(EntryLine)


@lru_cache(maxsize=64)
def exact_line(low: float, high: float) -> Line | None:
    """The values of ``uniform(low, high)`` as NumPy computes them on this processor.

    ``low + width * u`` is rounded twice, or once where the compiler fused both operations: what
    NumPy draws here decides, where the two differ. None if it does neither.
    """
    width = high - low
    for line in (Line(low, width), FusedLine(low, width)):
        if all(line.value(point) == drawn for point, drawn in _draw_points(low, high)):
            return line
    return None


def _draw_points(low: float, high: float) -> list[tuple[int, float]]:
    """Grid points, and what NumPy makes of them."""
    points = _GENERATOR(_BITS(0)).random(_PROBES) * GRID
    drawn = _GENERATOR(_BITS(0)).uniform(low, high, _PROBES)
    return list(zip(map(int, points.tolist()), drawn.tolist(), strict=True))


class Split(tuple[int, ...]):
    """Weights of intervals of the grid: what tells apart the values of one random float.

    A tuple like the weights of any other choice; the type says that the choice is about a float.
    """

    __slots__ = ()


@lru_cache(maxsize=4096)
def split_weights(below: int, above: int) -> Split:
    """Two branches in the given proportion, in lowest terms."""
    common = math.gcd(below, above)
    return Split((below // common, above // common))
