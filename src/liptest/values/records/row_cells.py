"""Records by what they have in common: other columns, and intervals of floats of real ones.

Which truths do comparisons of one record with released numbers have together? ``x > w - 1`` and
``x < w + 1`` of one record x and one released w are never both false. Comparisons with numbers that
differ by constants are a *group*: where x lies among these numbers says all of them. Other
comparisons may be true or false whatever the others are (docs/theory/tables.md, B9).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liptest.values.reals.recipes import RowCondition, find_cuts

Table = NDArray[Any]
#: Cells of all records.
MOST_CELLS = 20_000
# The same where comparisons with released numbers divide them, into so many ways each.
_MOST_DIVIDED, _MOST_WAYS = 8_192, 32


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
        #: Those of its comparisons that the program has asked for.
        self.asked: dict[RowCondition, None] = {}
        #: Numbers that were released, by their keys, in a run at a point, and how often one was.
        self.known: dict[Any, Any] = {}
        self.releases = 0
        #: How often one has met records, in runs that are not at a point.
        self.meetings = 0
        self._limits = limits
        self._rooms: dict[RowCondition, bool] = {}
        self._ends = {name: _intervals(*limits[name], self.cuts[name]) for name in limits}
        self._groups = group_comparisons(conditions, limits)
        sides = [len(low) for low, _ in self._ends.values()]
        sides += [len(group.truths) for group in self._groups]
        self.count = first + rows * math.prod(sides)
        if self.count > MOST_CELLS:
            return  # nothing is made of so many
        places = np.indices((rows, *sides)).reshape(1 + len(sides), -1)
        absent = np.zeros(first, dtype=np.int64)
        ways = places[len(places) - len(self._groups) :]
        #: By condition whether it holds for the records of a cell.
        self.truths: dict[RowCondition, Table] = {
            condition: np.concatenate([absent == 1, group.truths[way, k]])
            for group, way in zip(self._groups, ways, strict=True)
            for k, condition in enumerate(group.conditions)
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
        for group in self._groups:
            cells = cells * len(group.truths) + group.places_of(rows, {**entries, **self.known})
        return self.first + cells

    def has_room_for(self, condition: RowCondition) -> bool:
        """Whether cells may be divided by one more comparison with a released number."""
        if condition in self.truths or condition in self.wanted_conditions:
            return True
        if condition not in self._rooms:
            self._rooms[condition] = self._is_room_for(condition)
        return self._rooms[condition]

    def _is_room_for(self, condition: RowCondition) -> bool:
        every = (*self.conditions, *self.wanted_conditions, condition)
        ways = math.prod(len(group.truths) for group in group_comparisons(every, self._limits))
        own = math.prod(len(group.truths) for group in self._groups)
        return ways <= _MOST_WAYS and self.count // own * ways <= _MOST_DIVIDED

    def release(self, key: Any, number: Any) -> None:
        """Note a number that was released in a run at a point."""
        self.known[key] = number
        self.releases += 1

    def forget(self) -> None:
        """Forget what was released in another run."""
        self.known.clear()

    def truth_of(self, condition: RowCondition) -> Table | None:
        """By cell whether a comparison holds; None where it is asked for the first time."""
        truth = self.truths.get(condition)
        if truth is None:
            self._ask_for(condition)
        else:
            self.asked[condition] = None
        return truth

    def _ask_for(self, condition: RowCondition) -> None:
        """Note a comparison: cells are cut where that of one column changes, or divided by it."""
        cuts = None
        is_of_others = condition.depends_on_others or condition.depends_on_known
        if len(condition.reals) == 1 and not is_of_others:
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
        """Those that were asked for, and new ones; None where there are no new ones."""
        if not any(self.wanted.values()) and not self.wanted_conditions:
            return None
        cuts = {name: cuts | self.wanted[name] for name, cuts in self.cuts.items()}
        return cuts, (*self.asked, *self.wanted_conditions)


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


Truths = NDArray[np.bool_]
_MIRRORED: dict[Any, Any] = {
    np.less: np.greater,
    np.less_equal: np.greater_equal,
    np.greater: np.less,
    np.greater_equal: np.less_equal,
}
# What floats of numbers with noise may be off by, relatively.
_APART = Fraction(1, 1 << 30)


class ConditionGroup(NamedTuple):
    """Comparisons, and the truths (ways, comparisons) that they may have."""

    conditions: tuple[RowCondition, ...]
    truths: Truths

    def places_of(self, rows: NDArray[np.int64], entries: Mapping[Any, Any]) -> NDArray[np.intp]:
        """By record the first way in which it has what is known already, where there is one."""
        known = [k for k, one in enumerate(self.conditions) if one.keys <= entries.keys()]
        if not known:
            return np.zeros(len(rows), dtype=np.intp)
        codes, first = np.unique(_codes(self.truths[:, known]), return_index=True)
        held = np.stack([self.conditions[k].holds(rows, entries) for k in known], axis=1)
        places = np.searchsorted(codes, _codes(held))
        return first[np.minimum(places, len(codes) - 1)]


def _codes(truths: Truths) -> NDArray[np.int64]:
    return truths.astype(np.int64) @ (1 << np.arange(truths.shape[1], dtype=np.int64))


def group_comparisons(
    conditions: Iterable[RowCondition], limits: Mapping[str, tuple[float, float]]
) -> list[ConditionGroup]:
    """All comparisons in groups; ``limits`` are those of the real columns."""
    own: dict[Any, list[RowCondition]] = {}
    for condition in conditions:
        sides = _sides(condition)
        own.setdefault(condition if sides is None else sides[:2], []).append(condition)
    return [made for group in own.values() for made in _split(group, limits)]


def _split(
    conditions: list[RowCondition], limits: Mapping[str, tuple[float, float]]
) -> list[ConditionGroup]:
    sides = [one for one in map(_sides, conditions) if one is not None]
    if not sides:
        return [
            ConditionGroup((condition,), np.array([[False], [True]])) for condition in conditions
        ]
    number, name = sides[0][:2]
    compared = [side[2:] for side in sides]
    steps = sorted({offset for _, offset in compared})
    room = _APART * (_largest(number, limits) + max(map(abs, steps)))
    if any(after - before <= room for before, after in pairwise(steps)):
        pairs = list(zip(conditions, compared, strict=True))
        alone = [[one for one, (_, offset) in pairs if offset == step] for step in steps]
        return [made for own in alone for made in _split(own, limits)]
    ways = []
    for place in range(2 * len(steps) + 1):
        signs = {step: place - 2 * k - 1 for k, step in enumerate(steps)}
        ways.append([bool(comparison(signs[step], 0)) for comparison, step in compared])
    if name[0] == "value":  # which may be no number
        ways.append([comparison is np.not_equal for comparison, _ in compared])
    return [ConditionGroup(tuple(conditions), np.unique(np.array(ways), axis=0))]


def _sides(condition: RowCondition) -> tuple[Any, Any, Any, Fraction] | None:
    """What is compared of a record, with which released number and how; None for all else.

    The released number is one by its name, and a constant that is added to it.
    """
    comparison, left, right = condition
    if left[0] == "known":
        comparison, left, right = _MIRRORED.get(comparison, comparison), right, left
    if right[0] != "known" or left[0] not in ("table", "real"):
        return None
    name = right[1]
    if name[0] == "sum":
        return left, name[:3], comparison, Fraction(name[3])
    return left, name, comparison, Fraction(0)


def _largest(recipe: Any, limits: Mapping[str, tuple[float, float]]) -> Fraction:
    """The largest size of a number of a record."""
    if recipe[0] == "real":
        return Fraction(max(map(abs, limits[recipe[1]])))
    table = np.frombuffer(recipe[2], dtype=recipe[1])
    return Fraction(float(np.max(np.abs(table.astype(np.float64)))))
