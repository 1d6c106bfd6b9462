"""Which row of its user each one is: ``cumcount() < 3`` bounds what one user contributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liptest.values.pandas.of_pandas import OfPandas
from liptest.values.pandas.record_series import BinSeries, KeySeries, RecordSeries
from liptest.values.protocol import find_branching

# Groups of each user.
_MOST_GROUPS = 64


@dataclass(frozen=True)
class RowsLeft:
    """Which rows of each user are left: what ``Column.bounded`` takes."""

    most: int
    order: bytes = b""
    by: bytes = b""
    is_all: bool = False

    def of(self, series: Any) -> Any:
        """These rows of a series."""
        if type(series) is PlaceAmongRows:
            return PlaceAmongRows(
                self.of(series.by), first=series.first, rows=series.rows, is_past=True
            )
        if type(series) is BinSeries:
            masks = {bin_: self.of(mask) for bin_, mask in series.masks.items()}
            return BinSeries(masks, series.name)
        storage = series.array.storage
        array = storage.bound_rows(self.most, self.order, by=self.by, is_all=self.is_all)
        if type(series) is KeySeries:
            return KeySeries(array, series.name)
        return RecordSeries(array, series.name, series.names)


class PlaceAmongRows(OfPandas):
    """``groupby(user).cumcount()``: ``< k`` are the first rows of each user.

    ``groupby(user)[column].rank(method="first") <= k`` are the first ones in an order of values.
    With ``is_all`` it is how many rows the user has, as ``transform("count")``: ``<= k`` are all
    rows of users with at most so many (docs/theory/tables.md, B5).

    Parameters
    ----------
    by
        The column of users.
    first
        The place of the first row.
    rows
        How rows are chosen; ``most`` is 0 until there was a comparison.
    also
        A condition of the rows beside it.
    is_past
        Whether rows were selected since, so that the places are no longer those of all rows.
    """

    __slots__ = ("also", "by", "first", "is_past", "rows")

    kind = object
    bounds_rows = True
    described = "which row of its user each one is, or how many rows that user has,"
    advice = "bound the rows: frame[frame.groupby(key).cumcount() < 3], or .head(3)"

    def __init__(
        self,
        by: KeySeries,
        *,
        first: int = 0,
        rows: RowsLeft | None = None,
        also: RecordSeries | None = None,
        is_past: bool = False,
    ) -> None:
        self.by, self.first, self.also, self.is_past = by, first, also, is_past
        self.rows = rows or RowsLeft(0)

    branching = find_branching("by")

    @property
    def array(self) -> Any:
        """The places as an array of the same records."""
        return self.by.array

    def _up_to(self, most: Any, more: int) -> Any:
        rows = most + more - self.first if isinstance(most, (int, np.integer)) else 0
        if self.rows.most or rows < 1:
            return self.refuse("a comparison but with a constant")
        if self.is_past:
            return self.refuse(
                "a comparison after rows were selected", "bound the rows before other conditions"
            )
        return PlaceAmongRows(self.by, rows=replace(self.rows, most=int(rows)))

    def __lt__(self, other: Any) -> Any:
        return self._up_to(other, 0)

    def __le__(self, other: Any) -> Any:
        return self._up_to(other, 1)

    def __eq__(self, other: object) -> Any:
        is_first = isinstance(other, (int, np.integer)) and other == self.first
        return self._up_to(other, 1) if is_first else self.refuse("an operator (eq)")

    lt, le, eq = __lt__, __le__, __eq__
    __hash__ = None

    def __add__(self, other: Any) -> Any:
        if type(other) is not int or self.rows.most:
            return self.refuse("an operator (add)")
        return PlaceAmongRows(
            self.by, first=self.first + other, rows=self.rows, is_past=self.is_past
        )

    __radd__ = __add__

    def __and__(self, other: Any) -> Any:
        if type(other) is not RecordSeries or not self.rows.most:
            return self.refuse("an operator but of a bound of rows and a condition of rows")
        also = other if self.also is None else self.also & other
        return PlaceAmongRows(self.by, rows=self.rows, also=also)

    __rand__ = __and__

    def __getitem__(self, key: Any) -> Any:
        if type(key) is not RecordSeries or self.rows.most:
            return self.refuse("an index")
        return PlaceAmongRows(self.by[key], first=self.first, rows=self.rows, is_past=True)

    def selected_from(self, frame: Any) -> Any:
        """The rows of a frame that it says."""
        made = frame.bound_rows(self.rows)
        return made if self.also is None else made.those(self.rows.of(self.also))


class LaterRows(OfPandas):
    """``frame.duplicated(..)``: whether a row is not the first one; ``~`` are the first ones."""

    __slots__ = ("_first",)

    kind = object
    described = "which rows are not the first ones of their user,"
    advice = "write frame.drop_duplicates(..), or frame[~frame.duplicated(..)]"

    def __init__(self, first: PlaceAmongRows) -> None:
        self._first = first

    branching = find_branching("_first")

    def __invert__(self) -> Any:
        return self._first

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")


def rows_of_users(by: KeySeries) -> PlaceAmongRows:
    """How many rows the user of each row has."""
    return PlaceAmongRows(by, first=1, rows=RowsLeft(0, is_all=True))


def find_codes(series: list[RecordSeries]) -> bytes:
    """By value of a row the number of its group, as ``RowBound`` has it; refuses too many."""
    columns = []
    for one in series:
        column: Any = one.array.storage
        if column.leads or column.is_off or column.own.ndim > 1:
            one.refuse("a bound of rows of each user by real numbers", "cut them into bins before")
        columns.append(column.table)
    rows = np.stack([np.unique(one, return_inverse=True)[1] for one in columns], axis=1)
    groups, codes = np.unique(rows, axis=0, return_inverse=True)
    if len(groups) > _MOST_GROUPS:
        series[0].refuse(f"a bound of rows of each user in more than {_MOST_GROUPS} groups")
    return codes.reshape(-1).astype(np.int64).tobytes()


KeySeries.counted = staticmethod(rows_of_users)
