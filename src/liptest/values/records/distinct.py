"""The distinct values of records, with their counts: ``np.unique(data, return_counts=True)``.

Which values there are depends on the data, so neither their number nor their order is followed.
The count of a constant value is an answer, 0 where it is missing: ``cells[values] = counts``, in
cells that are 0, and ``dict(zip(values, counts)).get(value, 0)`` ask for no more.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import CellStorage
from liptest.values.opaque_arrays import OpaqueLine
from liptest.values.protocol import is_symbolic
from liptest.values.records.column import FUNCTIONS, Column, find_column
from liptest.values.unfollowed import Unfollowed

_ADVICE = (
    "count over a range that is fixed before: np.bincount(data, minlength=k), or write the counts "
    "into an array of zeros (cells[values] = counts), and add noise to all of them"
)


class Distinct(OpaqueLine):
    """The distinct values, or how often each of them is there; nothing is asked of them alone.

    Parameters
    ----------
    column
        Whose records they are.
    are_counts
        Whether it stands for the counts.
    """

    __slots__ = ("are_counts", "branching", "column")

    described = described_in_arrays = "an array of the values that are there in the data"
    advice = _ADVICE

    @property
    def has_order(self) -> bool:
        """Whether the values come in their own order, and not in one of the records."""
        return True

    def __init__(self, column: Column, *, are_counts: bool) -> None:
        self.branching = column.branching
        self.column = column
        self.are_counts = are_counts

    def by_values(self) -> Distinct:
        """The same values in their own order."""
        return self

    def is_counted_by(self, other: Any) -> bool:
        """Whether these are values, and the other their counts."""
        is_other = type(other) is Distinct and other.column is self.column
        return is_other and other.are_counts and not self.are_counts

    @property
    def possible(self) -> NDArray[Any]:
        """All that may be there, in their order."""
        table, kept = self.column.table, self.column.kept
        return np.unique(table if kept is None else table[kept])

    def count_of(self, value: Any) -> Any:
        """How many records have it: an answer."""
        table = self.column.table == value
        return self.column.sum_up(table, np.int64, "numpy.unique")

    def item_of(self, value: Any, count: Any) -> Any:
        """What comes with a value where it is walked: its count."""
        return count

    def entry_of(self, value: Any, count: Any) -> Any:
        """What a loop over values with their counts is handed."""
        return value, self.item_of(value, count)

    def holds(self, value: Any, number: int) -> bool:
        """Whether an answer of a number is made of the records of a value alone."""
        book, table = self.column.answers, self.column.table == value
        is_known = number not in book.recipes and number not in book.largest
        if not is_known or book.has_parts or book.tables[number].shape != table.shape:
            return False
        others = ~table if self.column.kept is None else ~(table & self.column.kept)
        return not np.any(book.tables[number][others])

    def how_many(self) -> Any:
        """The number of the values: each is there where its count is above 0."""
        return sum(self.count_of(value) > 0 for value in self.possible)

    def tolist(self) -> Any:
        """The same numbers."""
        return self

    def write_into(self, cells: CellStorage, value: Any) -> bool:
        """``cells[values] = counts``: what is missing stays the 0 that it was."""
        if not self.is_counted_by(value) or self.column.dtype.kind not in "iu":
            self.refuse("an index")
        places = self.possible
        room = cells.cells()
        if cells.dtype not in (np.int64, np.float64) or room.ndim != 1:
            self.refuse("an index")
        if places[0] < 0 or places[-1] >= len(room):
            self.refuse("an index that may be out of range")
        if any(is_symbolic(room[place]) or room[place] != 0 for place in places):
            self.refuse("an index of cells that are not 0")
        for place in places.tolist():
            count = self.count_of(place)
            kind = cells.dtype.type
            room[place] = count.typed(kind) if is_symbolic(count) else kind(count)
        return True


class DistinctPairs(Unfollowed):
    """``zip(values, counts)`` of distinct values: how many there are depends on the data."""

    described = "zip()"

    def __init__(self, values: Distinct) -> None:
        self.values = values

    def in_order(self, *, descends: bool) -> Any:
        """The same in the order of the values."""
        return None if descends else type(self)(self.values.by_values())

    def refuse(self, use: str) -> NoReturn:
        """End the analysis."""
        self.values.refuse(use)


def _unique(array: Any, *more: Any, return_counts: Any = False, **options: Any) -> Any:
    column = find_column(array)
    if column is None or more or options or column.own.ndim > 1 or column.is_off:
        return NotImplemented
    if column.dtype.kind not in "iuf":
        return NotImplemented
    if column.kept is not None and not column.kept.any():
        return NotImplemented
    # Of its own: a later write into the records is not one into these.
    copied = column.other(column.table.copy())
    if not return_counts:
        return Distinct(copied, are_counts=False)
    return Distinct(copied, are_counts=False), Distinct(copied, are_counts=True)


FUNCTIONS[np.unique] = _unique
