"""The groups that occur with their sizes: ``frame.groupby(key).size().items()`` and like loops.

Which groups there are depends on the data, so they are walked by a loop only that tells those whose
noisy size is large, as the distinct values of an array are (docs/theory/size.md, S13). Where they
do not come in the order of their keys, nothing may tell their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from liptest.values.pandas.answers_by_key import ByKey
from liptest.values.pandas.named_groups import Order
from liptest.values.protocol import is_symbolic
from liptest.values.records.column import Column, find_column
from liptest.values.records.distinct import Distinct, DistinctPairs
from liptest.values.unfollowed import HoldsEntry


class CountedGroups(Distinct):
    """The entries of a column that occur, as Python's numbers or names, with their counts.

    Parameters
    ----------
    column
        Whose records they are.
    names
        Of what the numbers of the column are places; None of numbers.
    order
        In which they come; None for that of the keys.
    rows_of
        Gives the rows of a group, where a group comes with these.
    names_of_row
        What key and count are called, where each group comes as a dict of both.
    """

    __slots__ = ("_names", "_names_of_row", "_order", "_places", "_rows_of")

    #: Each record is counted once, under one key.
    are_of_records = True

    def __init__(
        self,
        column: Column,
        names: tuple[str, ...] | None,
        order: Order | None = None,
        rows_of: Callable[[Any], Any] | None = None,
        names_of_row: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(column, are_counts=False)
        self._names, self._names_of_row = names, names_of_row
        places = super().possible.tolist()
        entries = places if names is None else [names[place] for place in places]
        self._places = dict(sorted(zip(entries, places, strict=True)))
        self._order, self._rows_of = order, rows_of

    @property
    def possible(self) -> Any:
        """All that may occur, in the order of the keys."""
        return list(self._places)

    @property
    def has_order(self) -> bool:
        """Whether they come in the order of the keys."""
        return self._order is None

    def by_values(self) -> CountedGroups:
        """The same in the order of the keys."""
        if self._names_of_row is not None:
            self.refuse("sorted() of rows that are dicts")
        return CountedGroups(self.column, self._names, None, self._rows_of)

    def count_of(self, value: Any) -> Any:
        """How many records have it: an answer, as a number of Python."""
        count = super().count_of(self._places[value])
        return count.typed(int) if is_symbolic(count) else int(count)

    def item_of(self, value: Any, count: Any) -> Any:
        """The count, or the rows of the group."""
        return count if self._rows_of is None else self._rows_of(value)

    def entry_of(self, value: Any, count: Any) -> Any:
        """The group with its count or rows, or a dict of both."""
        if self._names_of_row is None:
            return super().entry_of(value, count)
        return NamedRow(self, dict(zip(self._names_of_row, (value, count), strict=True)))

    def holds(self, value: Any, number: int) -> bool:
        """Whether an answer of a number is made of the records of a group alone."""
        return super().holds(self._places[value], number)

    def in_their_order(self, dataset: Any) -> list[Any]:
        """Those that occur in a dataset, as they come."""
        column, entries = self.column, {place: entry for entry, place in self._places.items()}
        kept = dataset if column.kept is None else dataset[column.kept[dataset]]
        assert self._order is not None
        return self._order([entries[place] for place in column.table[kept].tolist()])


class NamedRow(HoldsEntry):
    """A group that occurs, and its count, by the names of columns."""

    __slots__ = ("_entries", "_groups")

    described = "a row of a group"

    def __init__(self, groups: CountedGroups, entries: dict[str, Any]) -> None:
        self._groups, self._entries = groups, entries

    def __getitem__(self, name: Any) -> Any:
        if type(name) is not str or name not in self._entries:
            self.refuse("an index")
        return self._entries[name]

    def refuse(self, use: str) -> NoReturn:
        """End the analysis."""
        self._groups.refuse(use)


class GroupPairs(DistinctPairs):
    """The groups with their sizes; which there are depends on the data."""

    described = ".items() of groups that occur"


class SizesByKey(ByKey):
    """How many records each group has; ``order`` is that of groups, None for that of keys."""

    __slots__ = ("_order",)

    def __init__(
        self,
        by: tuple[Any, ...],
        series: Any,
        answer: Callable[[Any], Any],
        order: Order | None = None,
    ) -> None:
        super().__init__(by, series, answer)
        self._order = order

    def items(self) -> Any:
        """The groups that occur with their sizes, for a loop that tells those that are large."""
        first, *more = self._by
        pairs = None if more else count_groups(first, self._order)
        return self.refuse(".items") if pairs is None else pairs

    def count_groups(self) -> Any:
        """How many groups occur: the different entries of the column."""
        return self.refuse("len()") if len(self._by) > 1 else self._by[0].nunique()

    def sort_index(self) -> Any:
        """The same in the order of the keys."""
        return SizesByKey(self._by, self._series, self._answer).called(self._title)


def count_groups(
    by: Any,
    order: Order | None,
    rows_of: Callable[[Any], Any] | None = None,
    names: tuple[str, str] | None = None,
) -> GroupPairs | None:
    """Those of a column; None of one that is not followed."""
    column = find_column(by.array)
    if column is None or column.is_off or column.own.ndim > 1 or column.dtype.kind not in "iu":
        return None
    if column.kept is not None and not column.kept.any():
        return None
    return GroupPairs(CountedGroups(column, by.names, order, rows_of, names))


ByKey.sizes = SizesByKey
