"""Data frames as symbols: columns of records by name, as pandas hands them to a program.

A ``SymbolicFrame`` is several series of the same records (``record_series``). ``drop_duplicates``
and ``groupby(key).head(k)`` bound what one user contributes (``frame_groups``). Conditions in
words are read by ``frame_queries``.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

from liptest.values.array import SymbolicArray
from liptest.values.chosen_places import is_sample

# Gives series .str.
from liptest.values.pandas.answers_by_key import ByKey
from liptest.values.pandas.frame_groups import (
    Grouped,
    InBins,
    OfUsers,
    answer_named,
    need_all_bins,
)
from liptest.values.pandas.frame_queries import calculate_column, find_rows
from liptest.values.pandas.keyed_frame import AnswersByKey, Crossed
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.named_groups import has_zero
from liptest.values.pandas.of_pandas import (
    CountsRows,
    FrameOfPandas,
    OfPandas,
    columns_are_copied,
)
from liptest.values.pandas.placed_rows import HasPlaces, is_constant_slice
from liptest.values.pandas.record_series import BinSeries, KeySeries, Located, RecordSeries
from liptest.values.pandas.user_cells import OfUsersAndGroups
from liptest.values.protocol import find_branching, is_symbolic
from liptest.values.reals.real_matrix import join_columns
from liptest.values.records.made_rows import MadeRows
from liptest.values.records.record_rows import (
    PLACE,
    RecordRows,
    RowByPlace,
    common_type,
    rows_by_name,
)
from liptest.values.records.row_places import LaterRows, PlaceAmongRows, RowsLeft, find_codes

_BY_GROUPS = "frame.groupby(key)[column].sum().reindex(KEYS, fill_value=0)"
_ASSIGNED = "write frame[name] = frame[name].where(~condition, value)"


class SymbolicFrame(HasPlaces, CountsRows, FrameOfPandas):
    """Several columns of the same records, by name."""

    __slots__ = ("_series",)

    def __init__(self, series: dict[str, Any]) -> None:
        self._series = series

    @property
    def _first(self) -> Any:
        return next(iter(self._series.values()))

    branching = find_branching("_first")

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
                return self.refuse(f"the column {key!r}, which it does not have here")
            return self._series[key]
        if isinstance(key, list) and len(set(key)) < len(key):
            return self.refuse("an index that names a column twice")
        if isinstance(key, list) and all(column in self._series for column in key):
            return SymbolicFrame({column: self._series[column] for column in key})
        if type(key) is PlaceAmongRows and key.rows.most and _are_alike(key.by, self._first):
            return key.selected_from(self)
        if type(key) is RecordSeries:
            return self.those(key)
        if callable(key) and not _is_made(key):
            return self[key(self)]
        if is_constant_slice(key) or is_sample(key):
            return self.part(key)
        return self.refuse("an index")

    def part(self, places: Any) -> Any:
        """The rows at some places, or that random bits choose."""
        if not all(type(series) is RecordSeries for series in self._series.values()):
            return self.refuse("rows by their places beside users or bins")
        return SymbolicFrame({name: series.part(places) for name, series in self._series.items()})

    def is_whole(self) -> bool:
        return all(type(one) is RecordSeries and one.is_whole() for one in self._series.values())

    def __setitem__(self, key: Any, value: Any) -> None:
        """``frame["new"] = series``: the frame has another column from then on."""
        if not isinstance(key, str):
            self.refuse("an assignment", "name one column")
        self._series = {**self._series, key: self._column(key, value, "an assignment")}

    def __contains__(self, item: Any) -> bool:
        return item in self._series

    loc = property(Located, doc="Rows by a condition.")

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> Any:
        """A row of numbers for each record, of another type perhaps."""
        if not all(type(series) is RecordSeries for series in self._series.values()):
            return self.refuse(
                ".to_numpy of users or bins", "name its columns: frame[['age']].to_numpy()"
            )
        arrays = [series.numbers(".to_numpy") for series in self._series.values()]
        rows = join_columns(arrays)
        if rows is None:
            return self.refuse(".to_numpy")
        return rows if dtype is None else rows.astype(dtype)

    def columns_of_numbers(self) -> dict[str, Any]:
        """By name the numbers of each column; None for columns of names, users and bins."""
        plain = {
            k: type(one) is RecordSeries and one.names is None for k, one in self._series.items()
        }
        return {k: self._series[k].array if plain[k] else None for k in self._series}

    @property
    def values(self) -> Any:
        """A row of numbers for each record."""
        return self.to_numpy()

    def assign(self, **columns: Any) -> Any:
        """The frame with further columns."""
        made = dict(self._series)
        for name, value in columns.items():
            series = value(SymbolicFrame(made)) if callable(value) else value
            made[name] = self._column(name, series, ".assign")
        return SymbolicFrame(made)

    def set_some(self, condition: Any, name: Any, value: Any) -> None:
        """``frame.loc[condition, name] = value``."""
        column: Any = self._series.get(name) if isinstance(name, str) else None
        if type(column) is not RecordSeries or type(condition) is not RecordSeries or column.names:
            self.refuse("an assignment to rows", _ASSIGNED)
        other = self._column(name, value, "an assignment") if _is_made(value) else value
        kinds = {"i": "i", "f": "if"}.get(column.array.dtype.kind, "")
        given = {int: "i", float: "f"}.get(type(other), "")
        letter = other.array.dtype.kind if type(other) is RecordSeries else given
        if not letter or letter not in kinds or (letter == "f" and other != other):
            self.refuse("an assignment of another type than the column has", _ASSIGNED)
        if not columns_are_copied():
            self.refuse("an assignment to rows, which series may share", _ASSIGNED)
        self._series = {**self._series, name: column.where(~condition, other)}

    def _column(self, name: str, value: Any, use: str) -> Any:
        """A series of its records under another name."""
        if isinstance(value, SymbolicArray):
            value = RecordSeries(value)
        if type(value) not in (RecordSeries, BinSeries, PlaceAmongRows):
            return self.refuse(f"{use} of what is not made of its columns")
        if not _are_alike(value, self._first):
            return self.refuse(f"{use} of other rows than its own")
        if type(value) is PlaceAmongRows:
            return value
        if type(value) is BinSeries:
            return BinSeries(value.masks, name)
        return RecordSeries(value.array, name, value.names)

    def drop(self, labels: Any = None, axis: Any = 0, columns: Any = None) -> Any:
        """The frame without some columns."""
        gone = labels if columns is None and axis in (1, "columns") else columns
        names = [gone] if isinstance(gone, str) else gone
        if not isinstance(names, list) or not all(name in self._series for name in names):
            return self.refuse(".drop of anything but columns")
        return SymbolicFrame(
            {name: column for name, column in self._series.items() if name not in names}
        )

    def rename(self, columns: Any = None) -> Any:
        """The frame with other names of columns."""
        if type(columns) is not dict:
            return self.refuse(".rename", ".rename(columns={..})")
        names = [columns.get(name, name) for name in self._series]
        if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            return self.refuse(".rename that gives a name twice")
        return SymbolicFrame(
            {
                name: type(column)(column.masks, name)
                if type(column) is BinSeries
                else KeySeries(column.array, name)
                if type(column) is KeySeries
                else column
                if type(column) is PlaceAmongRows
                else RecordSeries(column.array, name, column.names)
                for name, column in zip(names, self._series.values(), strict=True)
            }
        )

    def pipe(self, function: Any, *arguments: Any, **named: Any) -> Any:
        """What a function makes of it."""
        if not callable(function):
            return self.refuse(".pipe of a tuple")
        return function(self, *arguments, **named)

    def query(self, expr: Any) -> Any:
        """The rows for which a condition holds, written as pandas has it."""
        return self[find_rows(self, expr, sys._getframe(1))]

    def eval(self, expr: Any) -> Any:
        """A column that is calculated, written as pandas has it; a further one if it has a name."""
        name, series = calculate_column(self, expr, sys._getframe(1))
        return self.assign(**{name: series}) if name else series

    def join(self, other: Any, on: Any = None, how: Any = "left") -> Any:
        """``merge`` with a public frame that has its keys as index."""
        if type(other).__name__ != "DataFrame" or is_symbolic(other) or not isinstance(on, str):
            return self.refuse(".join", "frame.merge(PUBLIC, on=column, how='left')")
        return self.merge(other.rename_axis(on).reset_index(), how, on)

    def merge(
        self,
        right: Any,
        how: Any = "inner",
        on: Any = None,
        left_on: Any = None,
        right_on: Any = None,
        **options: Any,
    ) -> Any:
        """The frame with the columns of a public one, which has each key once."""
        if on is None and left_on == right_on:
            on = left_on
        on = on[0] if isinstance(on, list) and len(on) == 1 else on
        key = self._series.get(on) if isinstance(on, str) else None
        if type(key) is not RecordSeries or how not in ("left", "inner") or options:
            return self.refuse(".merge", "frame.merge(PUBLIC, on=column, how='left')")
        if type(right).__name__ != "DataFrame" or is_symbolic(right) or on not in right.columns:
            return self.refuse(".merge with what is not a public frame")
        keys, added = right[on].tolist(), [name for name in right.columns if name != on]
        if len(set(keys)) < len(keys) or set(added) & set(self._series):
            return self.refuse(".merge with a key, or a name of a column, twice")
        rows = self[key.isin(keys)] if how == "inner" else self
        made, by = dict(rows._series), rows._series[on]
        for name in added:
            entries = dict(zip(keys, right[name].tolist(), strict=True))
            made[name] = rows._column(name, by.look_up(entries, ".merge"), ".merge")
        return SymbolicFrame(made)

    def itertuples(self, index: bool = True, name: Any = "Pandas") -> Any:
        """The rows, for loops that only add up."""
        names, columns = list(self._series), self._entries(".itertuples")
        if index:
            names, columns = ["Index", *names], [[PLACE] * len(columns[0]), *columns]
        rows = MadeRows(columns, partial(RowByPlace, names if name else ()))
        return self._walked(rows)

    def iterrows(self) -> Any:
        """As ``itertuples``, with the row as a series."""
        rows = self.each_row(".iterrows")
        return self._walked(rows.then(lambda row: RowByPlace((), (PLACE, row))))

    def _walked(self, rows: MadeRows) -> RecordRows:
        self.branching.makes_rows = True
        return RecordRows(self._leading, rows)

    def each_row(self, use: str) -> MadeRows:
        """By the value of a record its row, as a series of pandas."""
        series = self._series.values()
        is_plain = all(column.names is None for column in series if type(column) is RecordSeries)
        kinds = [column.array.dtype for column in series]
        return rows_by_name(
            list(self._series), self._entries(use), common_type(kinds) if is_plain else None
        )

    def to_dict(self, orient: Any = "dict") -> Any:
        """With "records" the rows as dicts, for loops that only add up."""
        if orient != "records":
            return self.refuse(".to_dict", "add up its columns")
        columns = self._entries(".to_dict")
        names = list(self._series)
        rows = MadeRows(columns, lambda entries: dict(zip(names, entries, strict=True)))
        return self._walked(rows)

    def apply_by(self, function: Any, by_rows: bool) -> Any:
        """``frame.apply(.., axis=1)``; ``function`` makes a list of numbers of the rows."""
        if not by_rows:
            return self.refuse(".apply to columns")
        if not self._has_rows:
            # Of no rows pandas makes another frame.
            return self.refuse(".apply by rows (there may be none)", "use its columns")
        numbers = function(self._walked(self.each_row(".apply")))
        return RecordSeries(numbers.column())

    @property
    def _leading(self) -> Any:
        """A column of its records, of real numbers if there is one."""
        arrays = [column.array for column in self._series.values()]
        return next((column for column in arrays if column.storage.leads), arrays[0])

    def _entries(self, use: str) -> list[Sequence[Any]]:
        """By column the entry of a record of each value."""
        if not all(type(column) is RecordSeries for column in self._series.values()):
            return self.refuse(f"{use} of users or bins", "name its columns: frame[['age']]")  # type: ignore[no-any-return]
        return [column.entries(use) for column in self._series.values()]

    def agg(self, func: Any = None) -> Any:
        """Sums and counts of columns, as pandas names them."""
        if isinstance(func, dict):
            given = func
        else:
            given = dict.fromkeys(self._series, func)
        if not all(name in self._series for name in given):
            return self.refuse(".agg of a column that is not there")
        answers = {
            name: self._answer_named(self._series[name], how)
            for name, how in given.items()
            if how != "size" or self.refuse(".agg with 'size'")
        }
        return KeyedSeries.of(answers, {})

    def _answer_named(self, series: Any, how: Any) -> Any:
        if type(series) is RecordSeries and isinstance(how, str) and how in series.named:
            return series.agg(how)
        return answer_named(self, how)(series)

    def pivot_table(
        self,
        values: Any = None,
        index: Any = None,
        columns: Any = None,
        aggfunc: Any = "mean",
        fill_value: Any = None,
        **options: Any,
    ) -> Any:
        """Sums or counts by the entries of one column, or of two."""
        given = [name for name in (values, index, columns) if name is not None]
        names = [name[0] if isinstance(name, list) and len(name) == 1 else name for name in given]
        is_named = all(isinstance(name, str) and name in self._series for name in names)
        # Of listed values pandas makes columns of two levels.
        if options or len(names) < 2 or not isinstance(values, str) or not is_named:
            return self.refuse(".pivot_table", "name one column for index, columns and values")
        by = tuple(self._series[name] for name in names[1:])
        if any(type(column) is not RecordSeries for column in by):
            return self.refuse(".pivot_table by users or bins")
        if not (fill_value is None or has_zero(fill_value)):
            return self.refuse(".pivot_table with another fill_value than 0")
        answers = ByKey(by, self._series[names[0]], answer_named(self, aggfunc))
        if len(by) == 2:
            return Crossed(answers, is_filled=fill_value is not None)
        if index is None:
            return self.refuse(".pivot_table by columns alone", "name a column for index")
        if not self._has_rows:
            # Of no rows pandas makes a frame without columns.
            return self.refuse(".pivot_table by one key (there may be no rows)", _BY_GROUPS)
        return AnswersByKey({names[0]: answers})

    def copy(self, deep: bool = True) -> Any:
        """The frame; what it holds cannot be written."""
        return SymbolicFrame(dict(self._series))

    def dropna(self, *, axis: Any = 0, how: Any = "any", subset: Any = None) -> Any:
        """Itself: nothing is missing in a table of declared columns."""
        names = [subset] if isinstance(subset, str) else subset
        is_known = names is None or (
            isinstance(names, list) and names and all(name in self._series for name in names)
        )
        if axis not in (0, "index") or how not in ("any", "all") or not is_known:
            return self.refuse(".dropna but of rows, by columns", '.dropna(subset=["column"])')
        return SymbolicFrame(dict(self._series))

    def count_rows(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        return self._first.count()

    @property
    def _has_rows(self) -> bool:
        """Whether there is a row in every table."""
        count = self.count_rows()
        return type(count) is int and count > 0

    @property
    def shape(self) -> tuple[Any, int]:
        """(rows, columns)."""
        return self.count_rows(), len(self._series)

    @property
    def empty(self) -> bool:
        """Whether there are no rows."""
        return bool(self.count_rows() == 0)

    def groupby(
        self, by: Any = None, observed: Any = None, sort: bool = True, **options: Any
    ) -> Any:
        """Records by the entries of a column."""
        name = by[0] if isinstance(by, list) and len(by) == 1 else by
        key = self._series.get(name) if isinstance(name, str) else None
        if type(key) is KeySeries and options.keys() == {"as_index"}:
            return OfUsers(self, key, as_index=options["as_index"] is not False)
        users_and_others = self._users_and_others(by)
        if users_and_others and options.keys() <= {"as_index"}:
            is_index = options.get("as_index", True) is not False
            return OfUsersAndGroups(self, users_and_others, as_index=is_index)
        if options:
            return self.refuse(f".groupby with {', '.join(options)}", "leave the option out")
        if isinstance(by, list) and len(by) == 1:
            by = by[0]
        if type(by) is BinSeries and _are_alike(by, self._first):
            return InBins(self, by) if observed is False else need_all_bins(by)
        if type(by) is RecordSeries and _are_alike(by, self._first):
            return Grouped(self, (by,), is_sorted=sort is True)
        names = by if isinstance(by, list) else [by]
        if not names or not all(isinstance(name, str) and name in self._series for name in names):
            return self.refuse(".groupby", "group by the names of columns")
        series = [self._series[name] for name in names]
        if len(series) > 1 and not all(type(column) is RecordSeries for column in series):
            return self.refuse(".groupby by users or bins and other columns")
        if type(series[0]) is BinSeries:
            return InBins(self, series[0]) if observed is False else need_all_bins(series[0])
        if type(series[0]) is KeySeries:
            return OfUsers(self, series[0])
        return Grouped(self, tuple(series), is_sorted=sort is True)

    def _users_and_others(self, by: Any) -> dict[str, Any]:
        """The columns of a group by users and other entries; nothing for other groups."""
        names = by if isinstance(by, list) and len(by) > 1 else []
        if not all(isinstance(name, str) and name in self._series for name in names):
            return {}
        keys = {name: self._series[name] for name in names}
        kinds = [type(column) for column in keys.values()]
        is_both = kinds.count(KeySeries) == 1 and kinds.count(RecordSeries) == len(names) - 1
        return keys if is_both else {}

    def drop_duplicates(self, subset: Any = None, keep: Any = "first", **options: Any) -> Any:
        """The first row of each user, or of each user in each group."""
        if keep != "first" or options:
            return self.refuse(".drop_duplicates with options", "keep the first row of each user")
        return self.bound_rows(self._first_rows(subset, ".drop_duplicates"))

    def duplicated(self, subset: Any = None, keep: Any = "first") -> Any:
        """Whether each row is not the first one of its user, or of its user in its group."""
        if keep != "first":
            return self.refuse(".duplicated with options", "keep the first row of each user")
        rows = self._first_rows(subset, ".duplicated")
        key = next(column for column in self._series.values() if type(column) is KeySeries)
        return LaterRows(PlaceAmongRows(key, rows=rows))

    def _first_rows(self, subset: Any, use: str) -> RowsLeft:
        names = [subset] if isinstance(subset, str) else subset
        is_named = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if is_named and [type(self._series.get(name)) for name in names] == [KeySeries]:
            return RowsLeft(1)
        keys = self._users_and_others(names)
        if not keys:
            return self.refuse(  # type: ignore[no-any-return]
                use,
                "name the column of users; users of each group are"
                " frame.groupby('region')[key].nunique().reindex(KEYS, fill_value=0)",
            )
        others = [column for column in keys.values() if type(column) is RecordSeries]
        return RowsLeft(1, by=find_codes(others))

    def those(self, condition: RecordSeries) -> SymbolicFrame:
        """The records for which a condition holds."""
        return SymbolicFrame({name: series[condition] for name, series in self._series.items()})

    def bound_rows(self, rows: RowsLeft) -> SymbolicFrame:
        """Some rows of each user."""
        return SymbolicFrame({name: rows.of(series) for name, series in self._series.items()})

    def sum(self, axis: Any = 0) -> Any:
        """The answers of all columns."""
        if axis in (1, "columns"):
            return self._sum_of_rows()
        if axis not in (0, "index"):
            return self.refuse(".sum with another axis")
        return KeyedSeries.of({name: one.sum() for name, one in self._series.items()}, {})

    def _sum_of_rows(self) -> Any:
        """Of each row; the order in which pandas adds up several floats is not known."""
        series = list(self._series.values())
        kinds = {
            column.numbers(".sum").dtype.kind if _has_numbers(column) else "" for column in series
        }
        if not kinds <= {"i", "f"} or ("f" in kinds and len(series) > 2):
            return self.refuse(".sum with axis=1", "add its columns: frame['a'] + frame['b']")
        return reduce(operator.add, series)

    def mean(self) -> Any:
        """The means of all columns, where the number of rows is public."""
        return KeyedSeries.of({name: one.mean() for name, one in self._series.items()}, {})

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Each entry of each column within two constants."""
        if not all(type(column) is RecordSeries for column in self._series.values()):
            return self.refuse(
                ".clip of users or bins", "name its columns: frame[['age']].clip(..)"
            )
        return SymbolicFrame(
            {name: column.clip(lower, upper) for name, column in self._series.items()}
        )

    def astype(self, dtype: Any) -> Any:
        """Numbers of another type, of all columns or of those that a dict names."""
        types = dtype if type(dtype) is dict else dict.fromkeys(self._series, dtype)
        if not all(type(self._series.get(name)) is RecordSeries for name in types):
            return self.refuse(".astype of users, of bins or of what is not a column")
        made = {name: self._series[name].astype(kind) for name, kind in types.items()}
        return SymbolicFrame({**self._series, **made})


def _has_numbers(series: Any) -> bool:
    return type(series) is RecordSeries and series.names is None


def _is_made(value: Any) -> bool:
    return isinstance(value, OfPandas)


def _are_alike(left: Any, right: Any) -> bool:
    """Whether two series are of the same records."""
    one, other = left.array.storage, right.array.storage
    return bool(one.has_records_of(other))
