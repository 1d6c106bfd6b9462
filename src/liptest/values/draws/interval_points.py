"""Grid points of intervals, to which random numbers are put where an analysis meets a real run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Points that a random float tells apart.
_OF_FLOATS = 1 << 53
# Kept: while a program is analysed the names may stand for something else.
_WHERE = np.where

Points = NDArray[np.int64]


class IntervalPoints:
    """Draws a point of ``range(low, high)``: each end with a probability of ``ends``, else any."""

    __slots__ = ("_ends", "_rng")

    def __init__(self, rng: np.random.Generator, ends: float = 0.25) -> None:
        self._rng = rng
        self._ends = ends

    def __call__(self, low: int, high: int) -> int:
        chosen = self._rng.random()
        if chosen < self._ends:
            return low
        if chosen < 2 * self._ends:
            return high - 1
        if high - low <= _OF_FLOATS:
            return low + int(self._rng.random() * (high - low))
        # More points than floats tell apart where whole numbers are drawn.
        bits = self._rng.bytes(8 + (high - low).bit_length() // 8)
        return low + int.from_bytes(bits, "little") % (high - low)

    def many(self, low: Points, high: Points) -> Points:
        """One of each of many intervals, (n,) ends of at most 2**53 points."""
        chosen, share = self._rng.random((2, len(low)))
        # Of fewer points the last one may be rounded up to the end.
        inside = (share * (high - low)).astype(np.int64)
        inside = _WHERE(inside < high - low, inside, high - low - 1)
        inside = _WHERE(chosen < 2 * self._ends, high - low - 1, inside)
        return low + _WHERE(chosen < self._ends, 0, inside)
