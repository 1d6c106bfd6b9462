"""``frame.groupby(key).size().items()``: the groups that occur, with their sizes, by key.

Which groups there are depends on the data, so they are walked by a loop only that tells those whose
noisy size is large, as the distinct values of an array are (docs/theory/size.md, S13).
"""

from __future__ import annotations

from typing import Any

from liptest.values.pandas.record_series import ByKey
from liptest.values.protocol import is_symbolic
from liptest.values.records.column import Column, find_column
from liptest.values.records.distinct import Distinct, DistinctPairs


class CountedGroups(Distinct):
    """The entries of a column that occur, as Python's numbers or names, with their counts.

    Parameters
    ----------
    column
        Whose records they are.
    names
        Of what the numbers of the column are places; None of numbers.
    """

    __slots__ = ("_places",)

    def __init__(self, column: Column, names: tuple[str, ...] | None) -> None:
        super().__init__(column, are_counts=False)
        places = super().possible.tolist()
        entries = places if names is None else [names[place] for place in places]
        self._places = dict(sorted(zip(entries, places, strict=True)))

    @property
    def possible(self) -> Any:
        """All that may occur, in the order that groups have."""
        return list(self._places)

    def count_of(self, value: Any) -> Any:
        """How many records have it: an answer, as a number of Python."""
        count = super().count_of(self._places[value])
        return count.typed(int) if is_symbolic(count) else int(count)


class GroupPairs(DistinctPairs):
    """The groups with their sizes; which there are depends on the data."""

    described = ".items() of groups that occur"


class SizesByKey(ByKey):
    """How many records each group has, of groups in the order of their keys."""

    __slots__ = ()

    def items(self) -> Any:
        """The groups that occur with their sizes, for a loop that tells those that are large."""
        first, *more = self._by
        pairs = None if more else _count_groups(first.array, first.names)
        return self.refuse(".items") if pairs is None else pairs


def _count_groups(array: Any, names: tuple[str, ...] | None) -> GroupPairs | None:
    """Those of a column; None of one that is not followed."""
    column = find_column(array)
    if column is None or column.is_off or column.table.ndim > 1 or column.dtype.kind not in "iu":
        return None
    if column.kept is not None and not column.kept.any():
        return None
    return GroupPairs(CountedGroups(column, names))
