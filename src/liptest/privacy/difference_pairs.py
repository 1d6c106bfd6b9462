"""The worst of very many edges of a whole-number statistic, without visiting them one by one.

For a range of differences the loss of (v, v + w) is at most what the largest and smallest log
probabilities in the window v + range allow. Ranges are halved only where that bound exceeds the
largest loss found so far, or the claim: branch and bound, whose answer is that of a plain loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import BudgetError
from liptest.mechanisms.laws import ZERO_LOG, LawTable
from liptest.statistics.code_sets import bit_bytes, bit_positions
from liptest.statistics.difference_sets import DifferenceSets

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Probabilities of all laws together that are held at once.
MOST_ENTRIES = 1 << 26
# Values whose laws are asked for at once, rows of one block, and the widest window.
_SLICE = 1 << 15
_ROWS = 1 << 13
_WINDOW = 1 << 10
#: Pairs near the claim that are kept to be certified.
MOST_KEPT = 1 << 20


@dataclass(frozen=True, eq=False)
class ValueLaws:
    """Laws at all values that datasets have, one column per position; others are unknown."""

    outputs: tuple[Any, ...]
    logs: Floats
    known: NDArray[np.bool_]
    error: float
    zeros_exact: bool

    def table(self, positions: Indices) -> LawTable:
        """The laws at some positions, each with the error of the worst law of all."""
        errors = np.full(len(positions), self.error)
        rows = np.ascontiguousarray(self.logs[:, positions].T)
        return LawTable(self.outputs, rows, None, errors, self.zeros_exact)

    def between(self, start: int, stop: int, unknown: float) -> Floats:
        """Columns start .. stop - 1, those without a law, also beyond the table, ``unknown``."""
        end = min(stop, self.logs.shape[1])
        found = np.full((len(self.logs), stop - start), unknown)
        found[:, : end - start] = np.where(self.known[start:end], self.logs[:, start:end], unknown)
        return found


def uncertain_pair(sets: DifferenceSets, laws: ValueLaws) -> tuple[Indices, Indices] | None:
    """An edge at which one output has, at both ends, a zero that may be an underflow; or None."""
    if laws.zeros_exact:
        return None
    for row in laws.logs:
        zeros = (row == ZERO_LOG) & laws.known
        bits = int.from_bytes(np.packbits(zeros, bitorder="little").tobytes(), "little")
        for difference, lower in sets.lower.items() if bits else ():
            both = bits & (bits >> difference) & lower
            if both:
                first = (both & -both).bit_length() - 1
                return np.array([first]), np.array([first + difference])
    return None


def laws_by_position(mechanism: Any, sets: DifferenceSets) -> ValueLaws | None:
    """All laws of a statistic mechanism; None where windows cannot bound them.

    That is so for unbounded or partial laws, and for tables that would be too large.
    """
    outputs = mechanism.outputs
    if outputs is None or (sets.top + 1) * len(outputs) > MOST_ENTRIES:
        return None
    logs = np.zeros((len(outputs), sets.top + 1))
    known = np.zeros(sets.top + 1, dtype=bool)
    error, zeros_exact = 0.0, True
    for positions in bit_positions(sets.reached):
        for start in range(0, len(positions), _SLICE):
            part = positions[start : start + _SLICE]
            laws = mechanism.laws_of(sets.base + sets.unit * part)
            if not isinstance(laws, LawTable) or laws.outputs != outputs:
                return None
            rows = laws.logs[laws.distinct(np.arange(len(part)))]
            if laws.unexplored is not None and np.any(laws.unexplored):
                return None
            logs[:, part], known[part] = rows.T, True
            error = max(error, float(laws.errors.max(initial=0.0)))
            zeros_exact &= laws.zeros_exact
    return ValueLaws(tuple(outputs), logs, known, error, zeros_exact)


class WorstPairs:
    """Finds, block by block, the largest loss, and all losses above ``watched``.

    Parameters
    ----------
    sets, laws
        The edges and the laws at their ends.
    watched
        Pairs of a larger loss are all wanted, ``inf``: none but the worst.
    certain
        From a loss of this size on only the worst pair matters.
    """

    def __init__(
        self, sets: DifferenceSets, laws: ValueLaws, *, watched: float, certain: float
    ) -> None:
        self.best = -1.0
        self._sets, self._laws = sets, laws
        self._watched, self._certain = watched, certain
        self._lower = {w: bit_bytes(bits) for w, bits in sets.lower.items()}
        self._differences = np.array(sorted(sets.lower), dtype=np.int64)
        self._kept = 0

    def blocks(self) -> Iterator[tuple[Indices, Indices]]:
        """Smaller and larger positions of the pairs that matter, the worst of all among them."""
        for start in range(0, self._sets.top, _ROWS):
            rows = start + np.flatnonzero(self._laws.known[start : start + _ROWS])
            found = [self._segment(rows, first, last) for first, last in self._segments()]
            pairs = [pair for part in found for pair in part]
            if pairs:
                left = np.concatenate([one for one, _, _ in pairs])
                right = np.concatenate([one for _, one, _ in pairs])
                losses = np.concatenate([one for _, _, one in pairs])
                wanted = losses > min(self._watched, self._cut)
                wanted[int(np.argmax(losses))] = True
                yield left[wanted], right[wanted]

    @property
    def _cut(self) -> float:
        """Only pairs with a larger loss are of interest."""
        return self.best if self.best > self._certain else min(self.best, self._watched)

    def _segments(self) -> Iterator[tuple[int, int]]:
        """Positions [first, last) of differences that lie within one window."""
        first, count = 0, len(self._differences)
        while first < count:
            end = int(self._differences[first]) + _WINDOW
            last = int(np.searchsorted(self._differences, end))
            yield first, last
            first = last

    def _segment(
        self, rows: Indices, first: int, last: int
    ) -> list[tuple[Indices, Indices, Floats]]:
        low, high = int(self._differences[first]), int(self._differences[last - 1])
        rows = rows[rows + low <= self._sets.top]
        if len(rows) == 0:
            return []
        start, stop = int(rows[0]) + low, int(rows[-1]) + high + 1
        windows = _Windows(
            self._laws.between(start, stop, -np.inf),
            self._laws.between(start, stop, np.inf),
            start,
            high - low + 1,
        )
        found: list[tuple[Indices, Indices, Floats]] = []
        open_nodes = [(first, last, rows)]
        while open_nodes:
            a, b, inside = open_nodes.pop()
            inside, bounds = self._bounded(windows, inside, a, b)
            if len(inside) == 0:
                continue
            if b - a == 1:
                found += self._leaf(inside, bounds, int(self._differences[a]))
                continue
            middle = (a + b) // 2
            # The half that promises more is looked at first: its losses shut the other one.
            halves = [(a, middle, inside), (middle, b, inside)]
            open_nodes += sorted(halves, key=lambda node: self._promise(windows, node))
        return found

    def _promise(self, windows: _Windows, node: tuple[int, int, Indices]) -> float:
        a, b, inside = node
        few = inside[:: max(1, len(inside) // 16)]
        return float(self._bounds(windows, few, a, b).max(initial=-1.0))

    def _bounded(self, windows: _Windows, rows: Indices, a: int, b: int) -> tuple[Indices, Floats]:
        bounds = self._bounds(windows, rows, a, b)
        kept = bounds > self._cut
        return rows[kept], bounds[kept]

    def _bounds(self, windows: _Windows, rows: Indices, a: int, b: int) -> Floats:
        low, high = int(self._differences[a]), int(self._differences[b - 1])
        own = self._laws.logs[:, rows]
        largest, smallest = windows.ends(rows + low, high - low + 1)
        return np.asarray(np.maximum(largest - own, own - smallest).max(axis=0))

    def _leaf(
        self, rows: Indices, losses: Floats, difference: int
    ) -> list[tuple[Indices, Indices, Floats]]:
        raw = self._lower[difference]
        inside = rows >> 3 < len(raw)
        inside[inside] = (raw[rows[inside] >> 3] >> (rows[inside] & 7).astype(np.uint8)) & 1
        rows, losses = rows[inside], losses[inside]
        if len(rows) == 0:
            return []
        self.best = max(self.best, float(losses.max()))
        wanted = losses > min(self._watched, self._cut)
        wanted[int(np.argmax(losses))] = True
        self._count(int(wanted.sum()))
        return [(rows[wanted], rows[wanted] + difference, losses[wanted])]

    def _count(self, more: int) -> None:
        self._kept += more
        if self._kept > MOST_KEPT and self.best <= self._certain:
            raise BudgetError(
                f"more than {MOST_KEPT:,} pairs of values lie so close to the claim that each must "
                f"be certified; declare a smaller error=, or raise tolerance",
                needed=self._kept,
                budget=MOST_KEPT,
            )


class _Windows:
    """Largest and smallest entries of all windows of columns, by doubling.

    Parameters
    ----------
    high, low
        (k, n) entries, ``start`` being the position of the first column.
    widest
        Most columns in a window.
    """

    def __init__(self, high: Floats, low: Floats, start: int, widest: int) -> None:
        self._start = start
        self._high, self._low = [high], [low]
        width = 1
        while 2 * width <= widest:
            for tables, pick in ((self._high, np.maximum), (self._low, np.minimum)):
                last = tables[-1]
                tables.append(pick(last[:, :-width], last[:, width:]))
            width *= 2

    def ends(self, positions: Indices, width: int) -> tuple[Floats, Floats]:
        """Largest and smallest entry of each window of ``width`` columns from a position on."""
        level = width.bit_length() - 1
        first = positions - self._start
        second = first + width - (1 << level)
        high, low = self._high[level], self._low[level]
        return (
            np.maximum(high[:, first], high[:, second]),
            np.minimum(low[:, first], low[:, second]),
        )
