"""A number of each user in each group: ``frame.groupby([user, "region"])["spend"].sum()``.

Each group has an answer of its own, to which a user adds what the user's rows in that group make
(docs/theory/tables.md, B15). ``.groupby("region").sum()`` of them are answers by key: which groups
occur depends on the data, so that they must be named.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import product
from typing import Any

from liptest.values.branching import Branching
from liptest.values.pandas.answers_by_key import ByKey
from liptest.values.pandas.of_pandas import (
    CountsRows,
    FrameOfPandas,
    GroupedColumns,
    MadeOfRows,
    OfPandas,
    SeriesOfPandas,
)
from liptest.values.pandas.record_series import KeySeries, RecordSeries
from liptest.values.pandas.user_totals import UserTotals
from liptest.values.protocol import find_branching
from liptest.values.records.row_places import PlaceAmongRows, RowsLeft, find_codes

# Groups of each user.
_MOST_GROUPS = 64
_ADVICE = (
    "clip what each user adds to a group, and name the groups: frame.groupby([key, 'region'])"
    "['column'].sum().clip(0, 10).groupby('region').sum().reindex(KEYS, fill_value=0)"
)


class OfUsersAndGroups(MadeOfRows, GroupedColumns):
    """A frame by users and the entries of other columns.

    Parameters
    ----------
    frame
        Of the rows.
    keys
        By name the columns in order, one of which says whose a row is.
    as_index
        Whether what is made has these as an index.
    column
        Of which numbers are made.
    """

    __slots__ = ("_as_index", "_column", "_frame", "_keys")

    kind = object
    described = "the rows of each user in each group (there may be any number)"
    advice = _ADVICE

    def __init__(
        self, frame: Any, keys: Mapping[str, Any], *, as_index: bool, column: Any = None
    ) -> None:
        self._frame, self._keys, self._as_index, self._column = frame, keys, as_index, column

    branching = find_branching("_by")

    @property
    def _by(self) -> KeySeries:
        return next(column for column in self._keys.values() if type(column) is KeySeries)

    def __getitem__(self, key: Any) -> Any:
        series = self._frame[key] if isinstance(key, str) else None
        if type(series) is not RecordSeries:
            return self.refuse("an index")
        return OfUsersAndGroups(self._frame, self._keys, as_index=self._as_index, column=series)

    def size(self) -> Any:
        """How many rows each user has in each group."""
        return self._made({"size": self._number("size", self._by)})

    def _leave(self, most: int) -> RowsLeft:
        others = [column for column in self._keys.values() if type(column) is RecordSeries]
        return RowsLeft(most, by=find_codes(others))

    def head(self, n: Any = 5) -> Any:
        """The first n rows of each user in each group."""
        if type(n) is not int or n < 1 or not self._as_index or self._column is not None:
            return self.refuse(".head", "give it a whole number of at least 1")
        return self._frame.bound_rows(self._leave(n))

    def cumcount(self, ascending: bool = True) -> Any:
        """Which row of its user in its group each is: from 0 on."""
        if ascending is not True:
            return self.refuse(".cumcount from the last row on")
        return PlaceAmongRows(self._by, rows=self._leave(0))

    def agg(self, func: Any = None, **named: Any) -> Any:
        """What a name says, of one column; or named, ``.agg(total=("amount", "sum"))``."""
        if func is None and named and self._column is None:
            pairs = [
                pair if isinstance(pair, tuple) and len(pair) == 2 else ("", "")
                for pair in named.values()
            ]
            if all(name in self._frame for name, _ in pairs):
                made = [self[name]._number(how, self._frame[name]) for name, how in pairs]
                return FrameOfCells(dict(zip(named, made, strict=True)))
        if not isinstance(func, str) or named or self._column is None:
            return self.refuse(".agg", 'name one column and what is made of it: ["x"].agg("sum")')
        return self._made({self._column.name: self._number(func, self._column)})

    def _made(self, numbers: dict[str, CellsOfUsers]) -> Any:
        return next(iter(numbers.values())) if self._as_index else FrameOfCells(numbers)

    def _number(self, how: Any, series: Any) -> CellsOfUsers:
        if not isinstance(how, str):
            self.refuse(".agg", 'name what is made of the rows: .agg("sum")')
        others = [column for column in self._keys.values() if type(column) is RecordSeries]
        if math.prod(len(column.declared()) for column in others) > _MOST_GROUPS:
            self.refuse(f"more than {_MOST_GROUPS} groups of each user")

        def of_rows(mask: RecordSeries) -> UserTotals:
            made: UserTotals = UserTotals.of(series[mask], how, self.refuse)
            return made

        return CellsOfUsers(self._keys, of_rows)


def _operator(name: str) -> Any:
    def operate(self: CellsOfUsers, other: Any) -> Any:
        return self.each(lambda totals: getattr(totals, name)(other))

    return operate


class CellsOfUsers(CountsRows, SeriesOfPandas):
    """A number of each user in each group.

    Parameters
    ----------
    keys
        By name the columns that it is grouped by, in order.
    of_rows
        The number of each user that the rows make for which a condition holds.
    """

    __slots__ = ("_keys", "_of_rows")

    described = UserTotals.described
    advice = _ADVICE

    def __init__(
        self, keys: Mapping[str, Any], of_rows: Callable[[RecordSeries], UserTotals]
    ) -> None:
        self._keys, self._of_rows = keys, of_rows

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return next(iter(self._keys.values())).branching  # type: ignore[no-any-return]

    def each(self, function: Callable[[UserTotals], UserTotals]) -> CellsOfUsers:
        """What is calculated with each number."""
        made = self._of_rows
        return CellsOfUsers(self._keys, lambda mask: function(made(mask)))

    __add__ = __radd__ = _operator("__add__")
    __sub__ = _operator("__sub__")
    __mul__ = __rmul__ = _operator("__mul__")
    __truediv__ = _operator("__truediv__")

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        """Each number within two constants."""
        return self.each(lambda totals: totals.clip(lower, upper))

    def abs(self) -> Any:
        """The absolute value of each number."""
        return self.each(lambda totals: totals.abs())

    def _cells(self, known: Mapping[str, Any]) -> Iterator[UserTotals]:
        """The numbers in those groups that have some entries."""
        others = {
            name: column for name, column in self._keys.items() if type(column) is RecordSeries
        }
        choices = [
            [known[name]] if name in known else column.declared() for name, column in others.items()
        ]
        for entries in product(*choices):
            masks = [
                column == entry for column, entry in zip(others.values(), entries, strict=True)
            ]
            yield self._of_rows(reduce(operator.and_, masks))

    def sum_all(self, known: Mapping[str, Any]) -> Any:
        """The answer of all users, in those groups that have some entries."""
        return sum(cell.sum() for cell in self._cells(known))

    def counted(self, known: Mapping[str, Any]) -> Any:
        """How many pairs of users and groups there are among these groups."""
        return sum(cell.count_rows() for cell in self._cells(known))

    def sum(self) -> Any:
        """The answer: each user adds a number for each group, or nothing."""
        return self.sum_all({})

    def count_rows(self) -> Any:
        """How many pairs of users and groups there are."""
        return self.counted({})

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def groupby(self, by: Any = None, *, level: Any = None, **options: Any) -> Any:
        """The numbers of all users by group."""
        if level is not None and by is None and not options:
            places = level if isinstance(level, list) else [level]
            names = list(self._keys)
            by = [
                names[place] if type(place) is int and 0 <= place < len(names) else place
                for place in places
            ]
        return self.group_by_names(by, options)

    def group_by_names(self, by: Any, options: Mapping[str, Any]) -> Any:
        """The same, by names of columns."""
        names = by if isinstance(by, list) else [by]
        series = [self._keys.get(name) if isinstance(name, str) else None for name in names]
        if options or not names or not all(type(column) is RecordSeries for column in series):
            return self.refuse(".groupby by anything but a column besides the users", _ADVICE)
        return GroupsOfCells(self, tuple(names), tuple(series))

    def reset_index(self, *, name: Any = None) -> Any:
        """A frame with these numbers."""
        if not isinstance(name, str) or name in self._keys:
            return self.refuse(".reset_index without a name", ".reset_index(name='n')")
        return FrameOfCells({name: self})


class GroupsOfCells(OfPandas):
    """Numbers of users in groups, by columns of these."""

    __slots__ = ("_cells", "_names", "_series")

    kind = object
    described, advice = ByKey.described, _ADVICE

    def __init__(
        self, cells: CellsOfUsers, names: tuple[str, ...], series: tuple[Any, ...]
    ) -> None:
        self._cells, self._names, self._series = cells, names, series

    branching = find_branching("_cells")

    def __getitem__(self, key: Any) -> Any:
        return self.refuse("an index")

    def sum(self) -> Any:
        """Of each group the sum over the users."""
        return ByGroupOfCells(self._cells.sum_all, self._names, self._series)

    def size(self) -> Any:
        """Of each group how many users have a row in it."""
        return ByGroupOfCells(self._cells.counted, self._names, self._series)

    count = size

    def agg(self, func: Any = None) -> Any:
        """What a name says: "sum", "size" or "count"."""
        known = {"sum": self.sum, "size": self.size, "count": self.size}
        return known[func]() if isinstance(func, str) and func in known else self.refuse(".agg")


class ByGroupOfCells(ByKey):
    """Answers over users by key; ``answer`` is that of some entries by name."""

    __slots__ = ("_names",)

    advice = "name the groups: .reindex(KEYS, fill_value=0)"

    def __init__(
        self,
        answer: Callable[[Mapping[str, Any]], Any],
        names: tuple[str, ...],
        by: tuple[RecordSeries, ...],
    ) -> None:
        super().__init__(by, None, answer)
        self._names = names

    def answer_of(self, key: Any) -> Any:
        """The answer of one group, 0 where it does not occur."""
        keys = key if len(self._by) > 1 else (key,)
        if type(keys) is not tuple or len(keys) != len(self._by):
            return self.refuse("a key that is not one of its groups")
        return self._answer(dict(zip(self._names, keys, strict=True)))


class FrameOfCells(FrameOfPandas):
    """Numbers of each user in each group, by name."""

    __slots__ = ("_cells",)

    described, advice = UserTotals.described, _ADVICE

    def __init__(self, cells: dict[str, CellsOfUsers]) -> None:
        self._cells = cells

    @property
    def branching(self) -> Branching:  # type: ignore[override]
        """The analysis that it is part of."""
        return next(iter(self._cells.values())).branching

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str) or key not in self._cells:
            return self.refuse("an index", "take one of its numbers by name")
        return self._cells[key]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name in self._cells:
            return self._cells[name]
        return super().__getattr__(name)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, str) or type(value) is not CellsOfUsers or key not in self._cells:
            self.refuse("an assignment to anything but one of its numbers")
        if value._keys is not self._cells[key]._keys:
            self.refuse("an assignment of numbers of other rows")
        self._cells = {**self._cells, key: value}

    def assign(self, **columns: Any) -> Any:
        """The frame with other numbers."""
        frame = FrameOfCells(self._cells)
        for name, value in columns.items():
            frame[name] = value(frame) if callable(value) else value
        return frame

    def reset_index(self) -> Any:
        """The same: the users are not to be seen."""
        return FrameOfCells(self._cells)

    def groupby(self, by: Any = None, **options: Any) -> Any:
        """Its numbers by group."""
        return _GroupsOfFrame(self, by, options)


class _GroupsOfFrame(OfPandas):
    """A frame of numbers of users in groups, by columns of these."""

    __slots__ = ("_by", "_frame", "_options")

    kind = object
    described, advice = ByKey.described, _ADVICE

    def __init__(self, frame: FrameOfCells, by: Any, options: Mapping[str, Any]) -> None:
        self._frame, self._by, self._options = frame, by, options

    branching = find_branching("_frame")

    def __getitem__(self, key: Any) -> Any:
        return self._frame[key].group_by_names(self._by, self._options)

    def __getattr__(self, name: str) -> Any:
        return self[name] if name in self._frame._cells else super().__getattr__(name)
