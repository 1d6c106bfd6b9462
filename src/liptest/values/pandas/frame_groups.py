"""Groups of a symbolic frame: by users, by bins, by the entries of one column or of several."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.values.branching import Branching
from liptest.values.pandas.answers_by_key import ByKey
from liptest.values.pandas.counted_groups import SizesByKey, count_groups
from liptest.values.pandas.keyed_frame import AnswersByKey
from liptest.values.pandas.keyed_series import KeyedSeries, series_of_made
from liptest.values.pandas.labelled import say_names
from liptest.values.pandas.named_groups import keys_as_they_come
from liptest.values.pandas.of_pandas import (
    INSTEAD,
    CountsRows,
    GroupedColumns,
    MadeOfRows,
    OfPandas,
)
from liptest.values.pandas.record_series import BinSeries, KeySeries, RecordSeries
from liptest.values.pandas.user_totals import UserTotals
from liptest.values.protocol import find_branching
from liptest.values.records.column import Column
from liptest.values.records.row_places import PlaceAmongRows, RowsLeft, rows_of_users

#: What a group is summed up by.
_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda chosen: _sum_of_group(chosen),
    "count": lambda chosen: chosen.count(),
    "size": lambda chosen: chosen.count(),
    "nunique": lambda chosen: chosen.nunique(),
}


def answer_named(of: OfPandas, how: Any) -> Callable[[Any], Any]:
    """What a column is summed up by: "sum", "count", "size" or "nunique"."""
    how = {sum: "sum", len: "size"}.get(how, how) if callable(how) else how
    if isinstance(how, str) and how in _ANSWERS:
        return _ANSWERS[how]
    return of.refuse(f".agg with {how!r}", INSTEAD["mean"])  # type: ignore[no-any-return]


class OfUsers(GroupedColumns):
    """A frame by users: what each contributes can be bounded."""

    __slots__ = ("_as_index", "_by", "_frame")

    kind = object
    described = "the rows of each user (there may be any number)"
    advice = KeySeries.advice

    def __init__(self, frame: Any, by: KeySeries, *, as_index: bool = True) -> None:
        self._frame, self._by, self._as_index = frame, by, as_index

    branching = find_branching("_by")

    def __getitem__(self, key: Any) -> Any:
        series = self._frame[key] if isinstance(key, str) else None
        if type(series) is not RecordSeries:
            return self.refuse("an index")
        return ColumnOfUsers(self._by, series, as_index=self._as_index)

    def agg(self, func: Any = None, **named: Any) -> Any:
        """Several numbers of each user: ``.agg(total=("amount", "sum"))``, or by a dict."""
        if type(func) is dict and not named:
            named = {name: (name, how) for name, how in func.items() if isinstance(how, str)}
            func = None if len(named) == len(func) else func
        if (
            func is not None
            or not named
            or not all(
                isinstance(pair, tuple) and len(pair) == 2 and pair[0] in self._frame
                for pair in named.values()
            )
        ):
            return self.refuse(".agg", 'name what is made of them: .agg(total=("amount", "sum"))')
        return FrameOfUsers(
            {name: self[column].number(how) for name, (column, how) in named.items()}
        )

    aggregate = agg

    def cumcount(self, ascending: bool = True) -> Any:
        """Which row of its user each is: from 0 on."""
        if ascending is not True:
            return self.refuse(".cumcount from the last row on")
        return PlaceAmongRows(self._by)

    def size(self) -> Any:
        """How many rows each user has."""
        sizes = UserTotals.of(self._by, "size", self.refuse)
        return sizes if self._as_index else FrameOfUsers({"size": sizes})

    def head(self, n: Any = 5) -> Any:
        """The first n rows of each user."""
        if not self._as_index:
            return self.refuse(".groupby with as_index", "leave the option out")
        if type(n) is not int or n < 1:
            return self.refuse(".head", "give it a whole number of at least 1")
        return self._frame.bound_rows(RowsLeft(n))

    def transform(self, func: Any) -> Any:
        """With "size" how many rows the user of each row has."""
        return rows_of_users(self._by) if func == "size" else refuse_transform(self)

    def first(self) -> Any:
        """The first row of each user: nothing is missing."""
        return self._frame.bound_rows(RowsLeft(1)).drop(columns=[self._by.name])


class FrameOfUsers(CountsRows):
    """Several numbers of each user, by name."""

    __slots__ = ("_totals",)

    kind = object
    described = UserTotals.described
    advice = UserTotals.advice

    def __init__(self, totals: dict[str, UserTotals]) -> None:
        self._totals = totals

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return next(iter(self._totals.values())).branching  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, UserTotals):
            # Those of another frame are of other users.
            alike = {name: totals for name, totals in self._totals.items() if totals.is_of(key)}
            if not alike:
                return self.refuse("an index by numbers of other users")
            return FrameOfUsers({name: totals[key] for name, totals in alike.items()})
        if not isinstance(key, str) or key not in self._totals:
            return self.refuse("an index", "take one of its columns by name")
        return self._totals[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, str) or not isinstance(value, UserTotals):
            self.refuse("an assignment of what is not a number of each user")
        if not next(iter(self._totals.values())).is_of(value):
            self.refuse("an assignment of numbers of other users")
        self._totals = {**self._totals, key: value}

    def reset_index(self, *, drop: bool = False) -> Any:
        """The same: the users are not to be seen."""
        return FrameOfUsers(self._totals)

    copy = reset_index

    def count_rows(self) -> Any:
        """How many users there are."""
        return next(iter(self._totals.values())).count_rows()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._totals:
            return self._totals[name]
        return super().__getattr__(name)


UserTotals.frame_of = FrameOfUsers


def refuse_transform(of: OfPandas) -> Any:
    """Refuse a number of each user that stands at each row, but how many rows there are."""
    return of.refuse(
        ".transform, but to how many rows a user has",
        "bound these, frame[frame.groupby(key)['column'].transform('count') <= 3], or clip what "
        "each user adds: frame.groupby(key)['column'].sum().clip(0, 100).sum()",
    )


class ColumnOfUsers(MadeOfRows):
    """One column by users: one number is made of the rows of each."""

    __slots__ = ("_as_index", "_by", "_series")

    kind = object
    described = OfUsers.described
    advice = UserTotals.advice

    def __init__(self, by: KeySeries, series: RecordSeries, *, as_index: bool = True) -> None:
        self._by, self._series, self._as_index = by, series, as_index

    branching = find_branching("_by")

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def agg(self, func: Any = None) -> Any:
        """What a name says: "sum", "count", "size", "max", "min", "first", "last", "nunique"."""
        answer = self.number(func)
        if self._as_index:
            return answer
        return FrameOfUsers({"size" if func == "size" else self._series.name: answer})

    def number(self, func: Any) -> Any:
        """The same, never as a frame."""
        if not isinstance(func, str):
            return self.refuse(".agg", 'name what is made of the rows: .agg("sum")')
        return UserTotals.of(self._series, func, self.refuse)

    def rank(self, method: Any = "average", ascending: bool = True) -> Any:
        """Which row of its user each is by its entry, from 1 on; ``<= k`` bounds the rows."""
        if method != "first" or ascending not in (True, False):
            return self.refuse(
                ".rank, which gives rows of equal entries the same place",
                '.rank(method="first") <= 3: any number of rows may have equal entries',
            )
        order = self._series.numbers(".rank").storage
        if type(order) is not Column or order.is_off or order.table.dtype.kind not in "ib":
            return self.refuse(".rank of what are not whole numbers of the rows")
        table = order.table.astype(np.float64) * (1 if ascending else -1)
        return PlaceAmongRows(self._by, first=1, rows=RowsLeft(0, table.tobytes()))

    def cumcount(self, ascending: bool = True) -> Any:
        """Which row of its user each is: from 0 on."""
        if ascending is not True:
            return self.refuse(".cumcount from the last row on")
        return PlaceAmongRows(self._by)

    def transform(self, func: Any) -> Any:
        """With "count" or "size" how many rows the user of each row has."""
        return rows_of_users(self._by) if func in ("count", "size") else refuse_transform(self)

    def median(self) -> Any:
        """The median of each user."""
        return self.agg("median")

    def size(self) -> Any:
        """How many rows each user has."""
        return self.agg("size")

    def first(self) -> Any:
        """The number in the first row of each user."""
        return self.agg("first")

    def last(self) -> Any:
        """The number in the last row of each user."""
        return self.agg("last")

    def nunique(self) -> Any:
        """How many different entries each user has."""
        return self.agg("nunique")


def need_all_bins(bins: BinSeries) -> Any:
    """Refuse keys that are those bins that occur."""
    return bins.refuse(".groupby by bins that keeps only those that occur", "observed=False")


@lru_cache
def walks_all_bins() -> bool:
    """Whether this pandas walks groups of categories that have no rows."""
    import pandas

    few = pandas.DataFrame({"key": pandas.Categorical(["b"], categories=["a", "b"])})
    return [key for key, _ in few.groupby("key", observed=False)] == ["a", "b"]


class InBins(OfPandas):
    """A frame, or one column of it, by bins, all of which are keys."""

    __slots__ = ("_bins", "_frame", "_series")

    kind = object
    described = BinSeries.described

    def __init__(self, frame: Any, bins: BinSeries, series: RecordSeries | None = None) -> None:
        self._frame, self._bins, self._series = frame, bins, series

    branching = find_branching("_bins")

    def __getitem__(self, key: Any) -> Any:
        column = self._frame[key] if isinstance(key, str) else None
        if type(column) is not RecordSeries:
            return self.refuse("an index")
        return InBins(self._frame, self._bins, column)

    def size(self) -> Any:
        """How many records each bin has."""
        return self._bins.value_counts(sort=False)

    def __iter__(self) -> Any:
        """(bin, its rows), of bins without rows, too."""
        if not walks_all_bins():
            self.refuse("a loop over the groups")
        rows = self._frame if self._series is None else self._series
        return iter([(bin_, rows[mask]) for bin_, mask in self._bins.masks.items()])

    def apply(self, func: Any) -> Any:
        """What a function of the program makes of the rows of each bin, a number each."""
        if self._series is None or not callable(func):
            return self.refuse(".apply but of a function of one column")
        return series_of_made(self, {bin_: func(rows) for bin_, rows in self})

    def count(self) -> Any:
        """As ``size``, of one column: nothing is missing."""
        return self.size() if self._series is not None else self.refuse(".count of all columns")

    def sum(self) -> Any:
        """The sum of one column by bin."""
        series = self._series
        if series is None:
            return self.refuse(".sum of all columns", "name one: frame.groupby(..)['column'].sum()")
        masks = self._bins.masks.items()
        names = say_names(series.name, (self._bins.name,))
        return KeyedSeries.of({bin_: _sum_of_group(series[mask]) for bin_, mask in masks}, names)


class Grouped(GroupedColumns):
    """A frame, or one column of it, by the entries of others."""

    __slots__ = ("_by", "_frame", "_is_sorted", "_names", "_series")

    kind = object

    def __init__(
        self,
        frame: Any,
        by: tuple[RecordSeries, ...],
        series: RecordSeries | KeySeries | None = None,
        names: list[str] | None = None,
        *,
        is_sorted: bool = False,
    ) -> None:
        self._frame, self._by, self._series, self._names = frame, by, series, names
        self._is_sorted = is_sorted

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._by[0].branching  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, list) and key and all(name in self._frame for name in key):
            return Grouped(self._frame, self._by, None, list(key))
        if not isinstance(key, str):
            return self.refuse("an index")
        return Grouped(self._frame, self._by, self._frame[key], is_sorted=self._is_sorted)

    def walked_groups(self) -> Any:
        """The groups with their rows, for a loop that tells those that are large."""
        rows_of = self._rows_of_groups() if self._is_sorted else None
        pairs = None if rows_of is None else count_groups(self._by[0], None, rows_of)
        return self if pairs is None else pairs

    def _rows_of_groups(self) -> Callable[[Any], Any] | None:
        """Gives the rows of a group by its key; None where keys or columns are several."""
        rows = self._frame if self._series is None and self._names is None else self._series
        if len(self._by) > 1 or rows is None:
            return None
        return lambda key: rows[self._by[0] == key]

    def get_group(self, name: Any) -> Any:
        """The rows of one group, a KeyError where it does not occur."""
        rows_of = self._rows_of_groups()
        if rows_of is None or type(name) is tuple:
            return self.refuse(".get_group of these groups")
        if name in self.size():
            return rows_of(name)
        raise KeyError(name)

    @property
    def groups(self) -> Any:
        """The keys that occur, in which one is looked for."""
        return self.size().index

    def size(self) -> Any:
        """How many records each group has."""
        order = None if self._is_sorted else keys_as_they_come
        return SizesByKey(self._by, self._by[0], _ANSWERS["count"], order).called(None)

    def count(self) -> Any:
        """As ``size``, of each column: nothing is missing."""
        return self.agg("count")

    def sum(self) -> Any:
        """The sum of one column, or of each, by group."""
        return self.agg("sum")

    def nunique(self) -> Any:
        """How many different entries each group has."""
        return self.agg("nunique")

    def agg(self, func: Any = None, **named: Any) -> Any:
        """Sums and counts by group, as pandas names them."""
        if self._series is not None:
            return self._of_series(func, named)
        if func is None and named:
            given = {name: tuple(pair) for name, pair in named.items() if isinstance(pair, tuple)}
            if len(given) < len(named) or not all(len(pair) == 2 for pair in given.values()):
                return self.refuse(".agg", 'name what is summed up: .agg(total=("income", "sum"))')
            return self._of_columns(given)
        if isinstance(func, dict) and not named:
            return self._of_columns(_by_name(func))
        if self._names is not None and isinstance(func, str) and not named:
            return self._of_columns({name: (name, func) for name in self._names})
        return self.refuse(
            f".{func} of all columns" if isinstance(func, str) else ".agg",
            f"name one: frame.groupby(..)['column'].{func if isinstance(func, str) else 'sum'}()",
        )

    aggregate = agg

    def _of_series(self, func: Any, named: dict[str, Any]) -> Any:
        if named and func is None:
            return AnswersByKey(
                {
                    name: ByKey(self._by, self._series, answer_named(self, how))
                    for name, how in named.items()
                }
            )
        if isinstance(func, list) and func and not named:
            return AnswersByKey(
                {how: ByKey(self._by, self._series, answer_named(self, how)) for how in func}
            )
        answers = ByKey(self._by, self._series, answer_named(self, func))
        return answers.called(None if self._series is None else self._series.name)

    def _of_columns(self, columns: dict[Any, tuple[str, Any]]) -> Any:
        if not all(name in self._frame for name, _ in columns.values()):
            return self.refuse(".agg of a column that is not there")
        return AnswersByKey(
            {
                name: ByKey(self._by, self._frame[column], answer_named(self, how))
                for name, (column, how) in columns.items()
            }
        )


def _by_name(columns: dict[str, Any]) -> dict[Any, tuple[str, Any]]:
    """What is made of columns; of several for one the names have two levels in all columns."""
    if not any(isinstance(how, list) for how in columns.values()):
        return {name: (name, how) for name, how in columns.items()}
    lists = {name: how if isinstance(how, list) else [how] for name, how in columns.items()}
    return {(name, how): (name, how) for name, several in lists.items() for how in several}


def _sum_of_group(series: RecordSeries) -> Any:
    """The answer of a group, whose floats pandas adds up in a way of its own."""
    storage: Any = series.numbers(".sum").storage
    use = "a sum of a group"
    if storage.leads:
        return storage.sum_up(use, in_pairs=True)
    return storage.sums(None, use, in_line=True)


RecordSeries.grouped = Grouped
