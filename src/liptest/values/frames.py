"""Data frames as symbols: columns of records by name, as pandas hands them to a program.

A ``SymbolicFrame`` is several series of the same records (``record_series``). ``drop_duplicates``
and ``groupby(key).head(k)`` bound what one user contributes. Sums by group are answers by key.
"""

from __future__ import annotations

from typing import Any

from liptest.values.branching import Branching
from liptest.values.keyed_series import KeyedSeries
from liptest.values.real_matrix import join_columns
from liptest.values.record_series import (
    BinSeries,
    ByKey,
    KeySeries,
    Located,
    OfPandas,
    RecordSeries,
    bound_rows,
)


class SymbolicFrame(OfPandas):
    """Several columns of the same records, by name."""

    __slots__ = ("_series",)

    has_columns = True

    def __init__(self, series: dict[str, Any]) -> None:
        self._series = series

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import pandas

        return pandas.DataFrame

    @property
    def _first(self) -> Any:
        return next(iter(self._series.values()))

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._first.branching  # type: ignore[no-any-return]

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self._series)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._series:
            return self._series[name]
        return super().__getattr__(name)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._series:
                raise KeyError(key)
            return self._series[key]
        if isinstance(key, list) and len(set(key)) < len(key):
            return self.refuse("an index that names a column twice")
        if isinstance(key, list) and all(one in self._series for one in key):
            return SymbolicFrame({one: self._series[one] for one in key})
        if type(key) is RecordSeries:
            return SymbolicFrame({name: one[key] for name, one in self._series.items()})
        return self.refuse("an index")

    def __contains__(self, item: Any) -> bool:
        return item in self._series

    @property
    def loc(self) -> Any:
        """Rows by a condition."""
        return Located(self)

    def to_numpy(self) -> Any:
        """A row of numbers for each record."""
        if not all(type(one) is RecordSeries for one in self._series.values()):
            return self.refuse(
                ".to_numpy of users or bins", "name its columns: frame[['age']].to_numpy()"
            )
        arrays = [one.numbers(".to_numpy") for one in self._series.values()]
        rows = join_columns(arrays)
        return self.refuse(".to_numpy") if rows is None else rows

    @property
    def values(self) -> Any:
        """A row of numbers for each record."""
        return self.to_numpy()

    def assign(self, **columns: Any) -> Any:
        """The frame with further columns."""
        made = dict(self._series)
        for name, value in columns.items():
            found = value(SymbolicFrame(made)) if callable(value) else value
            if type(found) not in (RecordSeries, BinSeries):
                return self.refuse(".assign of what is not made of its columns")
            if not _are_alike(found, self._first):
                return self.refuse(".assign of other rows than its own")
            made[name] = (
                BinSeries(found.masks, name)
                if type(found) is BinSeries
                else RecordSeries(found.array, name, found.names)
            )
        return SymbolicFrame(made)

    def copy(self, deep: bool = True) -> Any:
        """The frame; what it holds cannot be written."""
        return SymbolicFrame(dict(self._series))

    def dropna(self) -> Any:
        """Itself: nothing is missing in a table of declared columns."""
        return self

    def __len__(self) -> int:
        return self.count_rows()  # type: ignore[no-any-return]

    def count_rows(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        return self._first.count()

    @property
    def shape(self) -> tuple[Any, int]:
        """(rows, columns)."""
        return self.count_rows(), len(self._series)

    def groupby(
        self, by: Any = None, observed: Any = None, sort: bool = True, **options: Any
    ) -> Any:
        """Records by the entries of a column."""
        if options:
            return self.refuse(f".groupby with {', '.join(options)}", "leave the option out")
        if isinstance(by, list) and len(by) == 1:
            by = by[0]
        if type(by) is BinSeries and _are_alike(by, self._first):
            return InBins(self, by) if observed is False else _need_all_bins(by)
        if not isinstance(by, str) or by not in self._series:
            return self.refuse(".groupby", "group by the name of one column")
        series = self._series[by]
        if type(series) is BinSeries:
            return InBins(self, series) if observed is False else _need_all_bins(series)
        return OfUsers(self, series) if type(series) is KeySeries else Grouped(self, series)

    def drop_duplicates(self, subset: Any = None, keep: Any = "first", **options: Any) -> Any:
        """The first row of each user."""
        if keep != "first" or options:
            return self.refuse(".drop_duplicates with options", "keep the first row of each user")
        if isinstance(subset, list) and len(subset) == 1:
            subset = subset[0]
        if not isinstance(subset, str) or type(self._series.get(subset)) is not KeySeries:
            return self.refuse(".drop_duplicates", "name the column of users")
        return self.bounded(1)

    def bounded(self, most: int) -> SymbolicFrame:
        """Of each user the first rows."""
        made = {
            name: one.bounded(most)
            if type(one) in (KeySeries, BinSeries)
            else RecordSeries(bound_rows(one.array, most), name, one.names)
            for name, one in self._series.items()
        }
        return SymbolicFrame(made)

    def sum(self) -> Any:
        """The answers of all columns."""
        return KeyedSeries.of({name: one.sum() for name, one in self._series.items()})


def _are_alike(left: Any, right: Any) -> bool:
    """Whether two series are of the same records."""
    one, other = left.array.storage, right.array.storage
    return bool(one.has_records_of(other))


class OfUsers(OfPandas):
    """A frame by users: what each contributes can be bounded."""

    __slots__ = ("_by", "_frame")

    kind = object
    described = "the rows of each user, of which there may be any number,"
    advice = KeySeries.advice

    def __init__(self, frame: SymbolicFrame, by: KeySeries) -> None:
        self._frame, self._by = frame, by

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._by.branching

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def head(self, n: Any = 5) -> Any:
        """The first n rows of each user."""
        if type(n) is not int or n < 1:
            return self.refuse(".head", "give it a whole number of at least 1")
        return self._frame.bounded(n)


def _need_all_bins(bins: BinSeries) -> Any:
    return bins.refuse(".groupby by bins of which only those that occur are keys", "observed=False")


class InBins(OfPandas):
    """A frame, or one column of it, by bins, all of which are keys."""

    __slots__ = ("_bins", "_frame", "_series")

    kind = object
    described = BinSeries.described

    def __init__(
        self, frame: SymbolicFrame, bins: BinSeries, series: RecordSeries | None = None
    ) -> None:
        self._frame, self._bins, self._series = frame, bins, series

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._bins.branching

    def __getitem__(self, key: Any) -> Any:
        found = self._frame[key] if isinstance(key, str) else None
        if type(found) is not RecordSeries:
            return self.refuse("an index")
        return InBins(self._frame, self._bins, found)

    def size(self) -> Any:
        """How many records each bin has."""
        return self._bins.value_counts(sort=False)

    def count(self) -> Any:
        """As ``size``, of one column: nothing is missing."""
        return self.size() if self._series is not None else self.refuse(".count of all columns")

    def sum(self) -> Any:
        """The sum of one column by bin."""
        series = self._series
        if series is None:
            return self.refuse(".sum of all columns", "name one: frame.groupby(..)['column'].sum()")
        masks = self._bins.masks.items()
        return KeyedSeries.of({bin_: series[mask].sum() for bin_, mask in masks})


class Grouped(OfPandas):
    """A frame, or one column of it, by the entries of another."""

    __slots__ = ("_by", "_frame", "_series")

    kind = object

    def __init__(
        self, frame: SymbolicFrame, by: RecordSeries, series: RecordSeries | None = None
    ) -> None:
        self._frame, self._by, self._series = frame, by, series

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return self._by.branching

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.refuse("an index")
        return Grouped(self._frame, self._by, self._frame[key])

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._frame:
            return self[name]
        return super().__getattr__(name)

    def size(self) -> Any:
        """How many records each group has."""
        return ByKey(self._by, self._by, lambda chosen: chosen.count())

    def count(self) -> Any:
        """As ``size``, of one column: nothing is missing."""
        return self.size() if self._series is not None else self.refuse(".count of all columns")

    def sum(self) -> Any:
        """The sum of one column by group."""
        if self._series is None:
            return self.refuse(".sum of all columns", "name one: frame.groupby(..)['column'].sum()")
        return ByKey(self._by, self._series, lambda chosen: chosen.sum())
