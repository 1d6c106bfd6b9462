"""The 2**53 floats that ``random()`` can return, and monotone images of them."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import lru_cache
from typing import Any

#: Points of the grid of ``random()``.
GRID = 2**53


class Line:
    """The floats ``low + width * u`` over the grid of u, as NumPy computes them.

    ``at_least(bound)`` is the first grid point whose value is >= bound, ``above(bound)`` the
    first whose value is > bound; GRID when there is none. Bounds are compared exactly.
    """

    #: The points, and what an image of the line asks of it.
    start, stop, rising, discrete, kind = 0, GRID, True, False, float

    def __init__(self, low: float, width: float) -> None:
        self._regions: dict[Any, Any] = {}
        self.low = low
        self.width = width
        self.at_least: Callable[[Any], int] = lru_cache(maxsize=1024)(self._at_least)
        self.above: Callable[[Any], int] = lru_cache(maxsize=1024)(self._above)

    def value(self, point: int) -> float:
        """The float at a grid point; never falls as the point rises."""
        return self.low + self.width * (point * 2.0**-53)

    def _at_least(self, bound: Any) -> int:
        return bisect_left(range(GRID), bound, key=self.value)

    def _above(self, bound: Any) -> int:
        return bisect_right(range(GRID), bound, key=self.value)


UNIT = Line(0.0, 1.0)


@lru_cache(maxsize=64)
def exact_line(low: float, high: float) -> Line | None:
    """The values of ``uniform(low, high)``; None where they may depend on the processor.

    Some processors fuse ``low + width * u`` into one rounding. That changes nothing when low is 0
    or when the product is exact, the width being a power of two (or 0).
    """
    width = high - low
    if low != 0.0 and width != 0.0 and math.frexp(width)[0] != 0.5:
        return None
    return Line(low, width)


@lru_cache(maxsize=4096)
def split_weights(below: int, above: int) -> tuple[int, int]:
    """Two branches in the given proportion, in lowest terms."""
    common = math.gcd(below, above)
    return below // common, above // common
