"""Records by what they have in common: other columns, and intervals of floats of real ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.recipes import RowCondition, find_cuts

Table = NDArray[Any]
#: Cells of all records.
MOST_CELLS = 20_000


class RowCells:
    """Records by what they have in common.

    Parameters
    ----------
    rows
        Values of the other columns: numbers, the first of which is ``first``.
    first
        1 where 0 stands for no record, which is then the first cell.
    limits
        By real column its least and its largest number.
    cuts
        By real column the numbers at which it is cut.
    conditions
        Comparisons that hold for all records of a cell, or for none.
    """

    def __init__(
        self,
        rows: int,
        first: int,
        limits: Mapping[str, tuple[float, float]],
        cuts: Mapping[str, frozenset[float]],
        conditions: tuple[RowCondition, ...] = (),
    ) -> None:
        self.first = first
        self.cuts = {name: frozenset(cuts.get(name, ())) for name in limits}
        #: Numbers at which cells are to be cut, too.
        self.wanted: dict[str, set[float]] = {name: set() for name in limits}
        #: Comparisons that cells are to be divided by, too.
        self.wanted_conditions: dict[RowCondition, None] = {}
        self.conditions = conditions
        #: Numbers that were released, by their forms, in a run at a point.
        self.known: dict[Any, float] = {}
        self._ends = {name: _intervals(*limits[name], self.cuts[name]) for name in limits}
        sides = [len(low) for low, _ in self._ends.values()] + [2] * len(conditions)
        self.count = first + rows * math.prod(sides)
        if self.count > MOST_CELLS:
            return  # nothing is made of so many
        places = np.indices((rows, *sides)).reshape(1 + len(sides), -1)
        absent = np.zeros(first, dtype=np.int64)
        truths = places[len(places) - len(conditions) :] == 1
        #: By condition whether it holds for the records of a cell.
        self.truths: dict[RowCondition, Table] = {
            condition: np.concatenate([absent == 1, truth])
            for condition, truth in zip(conditions, truths, strict=True)
        }
        #: By cell the value of the other columns, from 1 on; 0 for no record.
        self.row_values: NDArray[np.int64] = np.concatenate([absent, places[0] + 1])
        self.low: dict[str, Table] = {}
        self.high: dict[str, Table] = {}
        for name, place in zip(self._ends, places[1:], strict=False):
            nothing = np.zeros(first)
            low, high = self._ends[name]
            self.low[name] = np.concatenate([nothing, low[place]])
            self.high[name] = np.concatenate([nothing, high[place]])

    def of(self, rows: NDArray[np.int64], entries: Mapping[str, Table]) -> NDArray[np.int64]:
        """The cells of records: values of the other columns, from 1 on, and real numbers."""
        cells = rows - 1
        for name, (low, _) in self._ends.items():
            place = np.searchsorted(low, entries[name], side="right") - 1
            cells = cells * len(low) + place
        for condition in self.conditions:
            cells = cells * 2 + condition.holds(rows, entries)
        return self.first + cells

    def ask_for(self, condition: RowCondition) -> None:
        """Note a comparison: cells are cut where that of one column changes, or divided by it."""
        cuts = None
        if len(condition.reals) == 1 and not condition.depends_on_others:
            [name] = condition.reals
            lows, highs = self._ends[name]
            cuts = find_cuts(condition, float(lows[0]), float(highs[-1]))
            if cuts is not None and not set(cuts) <= self.cuts[name]:
                self.wanted[name] |= set(cuts)
                return
        self.wanted_conditions[condition] = None

    def ask(self, name: str, constants: Table) -> None:
        """Note that a column is compared with constants."""
        low, high = self._ends[name]
        inside = constants[(constants >= low[0]) & (constants <= high[-1])]
        self.wanted[name] |= set(inside.tolist()) - self.cuts[name]

    def divisions(self) -> tuple[dict[str, frozenset[float]], tuple[RowCondition, ...]] | None:
        """Old and new ones; None where there are no new ones."""
        if not any(self.wanted.values()) and not self.wanted_conditions:
            return None
        cuts = {name: cuts | self.wanted[name] for name, cuts in self.cuts.items()}
        return cuts, tuple(dict.fromkeys((*self.conditions, *self.wanted_conditions)))


def _intervals(low: float, high: float, cuts: frozenset[float]) -> tuple[Table, Table]:
    """All floats between two, in order: the cuts, and what lies between them."""
    intervals: list[tuple[float, float]] = []
    start = low
    for cut in sorted(cuts):
        if start < cut:
            intervals.append((start, float(np.nextafter(cut, -math.inf))))
        intervals.append((cut, cut))
        start = float(np.nextafter(cut, math.inf))
    if start <= high:
        intervals.append((start, high))
    lows, highs = zip(*intervals, strict=True)
    return np.array(lows), np.array(highs)
