"""Batches of points in which most differ from another one in a single coordinate.

Every tester of theory.md compares a point with others on lines through it, so a batch holds
*centres* in full and the rest as changes. A function or mechanism may use that structure
(a count changes by one); everything else asks for the plain array, slice by slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, Hypergrid, IntArray
from liptest.errors import InputError

_WORD = 64


def _none() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class PointBatch:
    """``n`` centres followed by ``m`` changed copies of them.

    Parameters
    ----------
    centres
        (n, d) points.
    rows, coordinates, values
        (m,) integers each: changed point j is ``centres[rows[j]]`` with coordinate
        ``coordinates[j]`` set to ``values[j]``. ``rows`` ascend.
    """

    centres: IntArray
    rows: NDArray[np.int64] = field(default_factory=_none)
    coordinates: NDArray[np.int64] = field(default_factory=_none)
    values: NDArray[np.int64] = field(default_factory=_none)

    def __len__(self) -> int:
        return len(self.centres) + len(self.rows)

    def array(self) -> IntArray:
        """All points as one (n + m, d) array, centres first; fresh, so it may be overwritten."""
        n, d = self.centres.shape
        if len(self.rows) == 0:
            return self.centres.copy()
        block = np.empty((len(self), d), dtype=self.centres.dtype)
        block[:n] = self.centres
        if n == 1:
            block[1:] = self.centres[0]
        else:
            # "clip" only so that NumPy writes straight into the block: rows are in range.
            np.take(self.centres, self.rows, axis=0, out=block[n:], mode="clip")
        block[np.arange(n, len(self)), self.coordinates] = self.values
        return block

    def packed(self) -> NDArray[np.uint64]:
        """All points of 0 and 1 as bits, centres first; see ``pack_bits``. Fresh."""
        words, m = pack_bits(self.centres), np.arange(len(self.rows))
        changed = words[self.rows]
        flips = self.values != self.centres[self.rows, self.coordinates]
        if np.any((self.values < 0) | (self.values > 1)):
            raise _no_bits(self.values)
        places = (self.coordinates % _WORD).astype(np.uint64)
        changed[m, self.coordinates // _WORD] ^= flips.astype(np.uint64) << places
        return np.concatenate([words, changed])

    def point(self, position: int) -> IntArray:
        """The point at one position, as a fresh (d,) array."""
        n = len(self.centres)
        if position < n:
            return np.array(self.centres[position])
        change = position - n
        point: IntArray = np.array(self.centres[self.rows[change]])
        point[self.coordinates[change]] = self.values[change]
        return point

    def of_centres(self, start: int, stop: int) -> tuple[PointBatch, int]:
        """The centres ``start`` to ``stop - 1`` with their changes, and the first of these."""
        first, last = (int(k) for k in np.searchsorted(self.rows, [start, stop]))
        changes = slice(first, last)
        part = PointBatch(
            self.centres[start:stop],
            self.rows[changes] - start,
            self.coordinates[changes],
            self.values[changes],
        )
        return part, first

    def parts(self, limit: int) -> Iterator[tuple[int, int, PointBatch]]:
        """Cut into batches of about ``limit`` points, in draw order.

        Yields (first centre, first change, part). A part has every centre that its changes
        need, so a centre with more than ``limit`` changes occurs in several parts.
        """
        n, m = len(self.centres), len(self.rows)
        ends = np.searchsorted(self.rows, np.arange(1, n + 1))
        points = ends + np.arange(1, n + 1)  # up to each centre, its changes included
        row, change = 0, 0
        while row < n:
            fits = np.searchsorted(points, limit + change + row, side="right")
            stop_row = max(int(fits), row + 1)
            whole = int(ends[stop_row - 1])
            stop = min(whole, change + max(limit, 1)) if stop_row == row + 1 else whole
            yield (
                row,
                change,
                PointBatch(
                    self.centres[row:stop_row],
                    self.rows[change:stop] - row,
                    self.coordinates[change:stop],
                    self.values[change:stop],
                ),
            )
            change = stop
            row = stop_row if stop == whole else row
        assert change == m


@dataclass(frozen=True, eq=False)
class Geodesic:
    """A path between two points, coordinate by coordinate; both (d,).

    On the domains of liptest it is a shortest one, over neighbours. Another domain may have
    another distance: ``shows`` says whether two points of the path are neighbours for it.
    """

    domain: Domain
    start: IntArray
    end: IntArray

    @cached_property
    def _hops(self) -> NDArray[np.int64]:
        moves = self.end.astype(np.int64) - self.start
        return np.asarray(np.abs(moves) if isinstance(self.domain, Hypergrid) else moves != 0) * 1

    @cached_property
    def length(self) -> int:
        """Number of hops, the distance of the ends."""
        return int(self._hops.sum())

    def shows(self, low: int, high: int) -> bool:
        """Whether the domain, too, counts this many hops between two points of the path."""
        ends = self.point(low)[None, :], self.point(high)[None, :]
        return int(self.domain.distance(*ends)[0]) == high - low

    def point(self, hop: int) -> IntArray:
        """The point after some hops, 0 .. length; a fresh (d,) array."""
        before = np.cumsum(self._hops) - self._hops
        done = np.clip(hop - before, 0, self._hops)
        moves = self.end.astype(np.int64) - self.start
        per_hop = moves // np.maximum(self._hops, 1)
        return np.asarray(self.start + done * per_hop, dtype=self.start.dtype)


def from_array(points: NDArray[Any]) -> PointBatch:
    """A batch of plain points, no changes."""
    return PointBatch(np.ascontiguousarray(points))


def pack_bits(points: NDArray[Any]) -> NDArray[np.uint64]:
    """Rows of 0 and 1 as bits: (n, d) -> (n, ceil(d / 64)), d bits and then zeros.

    Coordinate r is bit ``r % 64``, from the lowest, of word ``r // 64``. Raises InputError for
    other values.
    """
    # As unsigned bytes negative values are large.
    bits = points.view(np.uint8) if points.dtype == np.int8 else points
    if points.size and (bits.max() > 1 or (bits is points and bits.min() < 0)):
        raise _no_bits(points)
    n, d = points.shape
    packed = np.zeros((n, -(-d // _WORD) * 8), dtype=np.uint8)
    packed[:, : -(-d // 8)] = np.packbits(bits, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def _no_bits(values: NDArray[Any]) -> InputError:
    return InputError(
        f"points: values from {values.min()} to {values.max()} are not bits; packed is for "
        f"functions and mechanisms on a Hypercube",
        name="points",
    )


def compact_codes(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct codes, ascending, and the position of each code among them.

    ``np.unique`` with inverse for (n,) codes of 0 or more, without a sort where they are dense.
    """
    top = int(codes.max(initial=0)) + 1
    if top > 16 * len(codes) + 1024:
        return np.unique(codes, return_inverse=True)
    present = np.zeros(top, dtype=bool)
    present[codes] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[codes]
