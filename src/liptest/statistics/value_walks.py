"""Values of a statistic at all points of a domain: each block of points from the one before.

The first coordinates are walked through so that one of them changes at a time; the last ones run
through all their values within a block. A block then costs what the change of one coordinate adds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.statistics.protocol import Statistic, Values, find_changed_values, values_at

#: Most points of a block; one coordinate with more values is a block all the same.
BLOCK = 1 << 16


def values_by_block(
    statistic: Statistic, domain: Domain, block: int = BLOCK
) -> Iterator[tuple[IntArray, Values]]:
    """All points in index order with their values: (n, d) and (n,) or (n, k), block after block.

    The points are the walk's own array: it changes with the next block.
    """
    first = suffix_start(domain, block)
    count = domain.size if first == 0 else int(domain.strides[first - 1])
    points = domain.points(np.arange(count))
    values = values_at(statistic, points)
    yield from _Walk(statistic, domain, points, np.arange(count)).below(0, first, values)


def suffix_start(domain: Domain, block: int) -> int:
    """The first coordinate of a block: the coordinates from it on have at most ``block`` values."""
    inside = np.flatnonzero(domain.strides * domain.size_array <= block)
    return int(inside[0]) if len(inside) else domain.dimension - 1


class _Walk:
    def __init__(
        self, statistic: Statistic, domain: Domain, points: IntArray, rows: NDArray[np.int64]
    ) -> None:
        self._statistic, self._domain = statistic, domain
        self._points, self._rows = points, rows

    def below(
        self, coordinate: int, stop: int, values: Values
    ) -> Iterator[tuple[IntArray, Values]]:
        """All settings of the coordinates from this one up to ``stop``; all of them start at 0."""
        if coordinate == stop:
            yield self._points, values
            return
        for value in range(self._domain.sizes[coordinate]):
            if value:
                values = self._find_change(coordinate, value, values)
                self._points[:, coordinate] = value
            yield from self.below(coordinate + 1, stop, values)
        self._points[:, coordinate] = 0

    def _find_change(self, coordinate: int, value: int, values: Values) -> Values:
        column = np.full(len(self._rows), coordinate)
        batch = PointBatch(self._points, self._rows, column, np.full(len(self._rows), value))
        return find_changed_values(self._statistic, batch, values)
