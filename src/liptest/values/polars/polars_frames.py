"""Data frames of polars as symbols, on the same columns of records as those of pandas.

A ``PolarsFrame`` has a series for each column; expressions are read by ``polars_expressions``. What
all rows give is a ``KnownFrame``: as many rows as are known, of names, answers and noise. Groups
have keys that occur in the data: they have to meet a frame of declared keys.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from liptest.values.pandas.of_pandas import CountsRows
from liptest.values.pandas.record_series import KeySeries, RecordSeries
from liptest.values.polars.polars_expressions import (
    Reader,
    add_rows,
    array_of_series,
    average_rows,
    calculate_rows,
    cast_rows,
    clip_rows,
    combine,
    compare_rows,
    find_letter,
    is_in,
)
from liptest.values.polars.polars_joins import find_joined_columns
from liptest.values.polars.polars_known import KnownFrame, OfPolars, flat
from liptest.values.polars.polars_nodes import is_plain_number, name_expressions
from liptest.values.polars.polars_parts import Narrow, RowsTotal
from liptest.values.polars.polars_users import AnyRowOfUsers, UsersOfPolars
from liptest.values.protocol import find_branching
from liptest.values.reals.real_column import RealColumn
from liptest.values.reals.real_matrix import join_columns
from liptest.values.records.row_places import PlaceAmongRows, RowsLeft, find_codes

KEYS_ADVICE = (
    "join a frame of declared keys: keys.join(groups, on='region', how='left', "
    "maintain_order='left').fill_null(0), or take dict(groups.iter_rows()).get(key, 0)"
)
_CELLS_ADVICE = (
    "clip what each user adds to a group, and name the groups: frame.group_by(key, 'region').agg("
    "pl.col('x').sum().clip(0, 100)).group_by('region').agg(pl.sum('x')), joined to declared keys"
)
_USERS_ADVICE = (
    "bound what each contributes: frame.group_by(key, maintain_order=True).head(k), "
    "frame.unique(key, keep='first', maintain_order=True)"
)


class PolarsFrame(CountsRows, OfPolars):
    """Several columns of the same records, by name; ``is_lazy`` until it is collected."""

    __slots__ = ("_is_lazy", "_series")

    #: Makes frames of groups that occur (``occurring_keys``).
    occurring: ClassVar[Any]

    def __init__(self, series: dict[str, Any], *, is_lazy: bool = False) -> None:
        self._series = series
        self._is_lazy = is_lazy

    @property
    def kind(self) -> Any:
        """What it stands for."""
        import polars

        return polars.LazyFrame if self._is_lazy else polars.DataFrame

    @property
    def _first(self) -> Any:
        return next(iter(self._series.values()))

    branching = find_branching("_first")

    @property
    def is_lazy(self) -> bool:
        """Whether it is to be collected."""
        return self._is_lazy

    def _made(self, series: dict[str, Any]) -> PolarsFrame:
        return PolarsFrame(series, is_lazy=self._is_lazy)

    def _refuse_lazy(self, use: str) -> None:
        if self._is_lazy:
            self.refuse(f"{use} of a lazy frame", "call .collect() before")

    # ---- what it is

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self._series)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self._series)

    @property
    def height(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        return self.count_rows()

    def count_rows(self) -> Any:
        """The same."""
        self._refuse_lazy(".height")
        return self._first.count()

    @property
    def shape(self) -> tuple[Any, int]:
        """(rows, columns)."""
        return self.height, len(self._series)

    def lazy(self) -> PolarsFrame:
        """The same, to be collected."""
        return PolarsFrame(self._series, is_lazy=True)

    def collect(self) -> Any:
        """The frame itself."""
        if not self._is_lazy:
            return self.refuse(".collect of a frame that is not lazy")
        return PolarsFrame(self._series)

    def clone(self) -> Any:
        """The frame; what it holds cannot be written."""
        return self._made(dict(self._series))

    def drop_nulls(self) -> Any:
        """Itself: nothing is missing in a table of declared columns."""
        return self.clone()

    # ---- columns

    def __getitem__(self, key: Any) -> Any:
        self._refuse_lazy("an index")
        if isinstance(key, str):
            return self.get_column(key)
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self.select(key)
        return self.refuse("an index")

    def __contains__(self, item: Any) -> bool:
        return item in self._series

    def get_column(self, name: str) -> Any:
        """One column."""
        self._refuse_lazy(".get_column")
        if name not in self._series:
            return self.refuse(f"the column {name!r}, which is not there")
        series = self._series[name]
        return PolarsSeries(series) if type(series) is RecordSeries else PolarsUsers(series)

    def drop(self, *columns: Any) -> Any:
        """Without some columns."""
        names = flat(columns)
        kept = {name: series for name, series in self._series.items() if name not in names}
        if not all(isinstance(label, str) and label in self._series for label in names) or not kept:
            return self.refuse(".drop of what is not the name of a column")
        return self._made(kept)

    def _named(self, positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """By name what expressions give, for each record or of all."""
        reader = Reader(self._series, self.refuse)
        nodes = name_expressions(flat(positional), self.columns, self.refuse)
        for name, expression in named.items():
            [node] = name_expressions([expression], self.columns, self.refuse).values()
            nodes[name] = node
        return {name: reader.calculate(node) for name, node in nodes.items()}

    def select(self, *exprs: Any, **named_exprs: Any) -> Any:
        """Columns of the records, or numbers of all of them."""
        named = self._named(exprs, named_exprs)
        if named and all(type(total) is RowsTotal for total in named.values()):
            columns = {name: [total] for name, total in named.items()}
            return KnownFrame(self.branching, columns, set(), is_lazy=self._is_lazy)
        return self._made(self._columns_of(named, ".select"))

    def with_columns(self, *exprs: Any, **named_exprs: Any) -> Any:
        """With further columns, or others of the same name."""
        made = self._columns_of(self._named(exprs, named_exprs), ".with_columns")
        return self._made(self._series | made)

    def _columns_of(self, made: dict[str, Any], use: str) -> dict[str, Any]:
        columns = {}
        for name, series in made.items():
            if type(series) is Narrow:
                self.refuse(f"{use} of numbers of 32 bits", "cast them: .cast(pl.Int64)")
            if type(series) not in (RecordSeries, KeySeries, PlaceAmongRows):
                self.refuse(f"{use} of sums or constants beside columns", "take them by themselves")
            if not series.array.storage.has_records_of(self._first.array.storage):
                self.refuse(f"{use} of other rows than its own", "filter the frame")
            is_column = type(series) is RecordSeries
            columns[name] = RecordSeries(series.array, name, series.names) if is_column else series
        if not columns:
            self.refuse(f"{use} of nothing")
        return columns

    # ---- rows

    def filter(self, *predicates: Any, **constraints: Any) -> Any:
        """The records for which all conditions hold."""
        reader = Reader(self._series, self.refuse)
        conditions = []
        for predicate in flat(predicates):
            if type(predicate) is PolarsSeries:
                conditions.append(predicate.condition(".filter"))
            else:
                nodes = name_expressions([predicate], self.columns, self.refuse)
                conditions += [reader.selection(node, ".filter") for node in nodes.values()]
        for name, value in constraints.items():
            conditions.append(compare_rows(self.refuse, operator.eq, self._series.get(name), value))
        if not conditions:
            return self.refuse(".filter without a condition")
        mask = combine(conditions)
        return mask.selected_from(self) if type(mask) is PlaceAmongRows else self.those(mask)

    def those(self, condition: RecordSeries) -> Any:
        """The records for which a condition holds."""
        return self._made({name: series[condition] for name, series in self._series.items()})

    def join(
        self, other: Any, on: Any = None, how: Any = "inner", *, maintain_order: Any = None
    ) -> Any:
        """With the columns of a public frame, by a key that it has once."""
        self._refuse_lazy(".join")
        return self._made(find_joined_columns(self, self._series, other, on, how, maintain_order))

    def unique(self, subset: Any = None, *, keep: str = "any", maintain_order: bool = False) -> Any:
        """The first row of each user, or of each user in each group."""
        names = flat((subset,))
        keys: list[Any] = [
            self._series.get(name) if isinstance(name, str) else None for name in names
        ]
        kinds = [type(key) for key in keys]
        if (
            kinds.count(KeySeries) != 1
            or kinds.count(RecordSeries) < len(kinds) - 1
            or self._is_lazy
        ):
            return self.refuse(".unique", _USERS_ADVICE)
        others = [key for key in keys if type(key) is RecordSeries]
        if keep not in ("first", "any") or (others and keep == "any"):
            return self.refuse(".unique of any rows", 'say which ones: keep="first"')
        if keep == "any":
            return AnyRowOfUsers(keys[0])
        return self.bound_rows(RowsLeft(1, by=find_codes(others) if others else b""))

    def bound_rows(self, rows: RowsLeft) -> Any:
        """Some rows of each user."""
        return self._made({name: rows.of(series) for name, series in self._series.items()})

    def group_by(self, *by: Any, maintain_order: bool = False, **named_by: Any) -> Any:
        """Records by the entries of a column."""
        names = flat(by)
        kinds = [type(self._series.get(name)) if isinstance(name, str) else None for name in names]
        if not named_by and kinds in ([KeySeries, RecordSeries], [RecordSeries, KeySeries]):
            return UsersInGroups(self, names[kinds.index(RecordSeries)])
        if named_by or len(names) != 1:
            return self.refuse(".group_by", "group by the name of one column")
        if not isinstance(names[0], str):
            names = list(name_expressions(names, self.columns, self.refuse))
        series = self._series.get(names[0])
        if type(series) not in (RecordSeries, KeySeries):
            return self.refuse(".group_by", "group by the name of one column")
        return PolarsGroups(self, names[0])

    def of_users(self, aggs: Sequence[Any], named: dict[str, Any]) -> Any:
        """Numbers of each user."""
        reader = Reader(self._series, self.refuse)
        return UsersOfPolars.of(reader, aggs, named, is_lazy=self._is_lazy)

    def of_users_with(
        self, name: str, key: Any, aggs: Sequence[Any], named: dict[str, Any]
    ) -> UsersOfPolars:
        """Numbers of each user, of the rows that have an entry in a column."""
        condition = compare_rows(self.refuse, operator.eq, self._series[name], key)
        kept = {one: series[condition] for one, series in self._series.items()}
        made: UsersOfPolars = PolarsFrame(kept, is_lazy=self._is_lazy).of_users(aggs, named)
        return made

    def series_of(self, name: str) -> Any:
        """One column as it is."""
        return self._series[name]

    def calculate_for(
        self, condition: RecordSeries, positional: Sequence[Any], named: dict[str, Any]
    ) -> dict[str, Any]:
        """What expressions give of some rows."""
        kept = PolarsFrame({name: series[condition] for name, series in self._series.items()})
        return kept._named(positional, named)

    # ---- numbers of all records

    def sum(self) -> Any:
        """The sums of all columns."""
        import polars

        return self.select(polars.all().sum())

    def to_numpy(self) -> Any:
        """A row of numbers for each record."""
        self._refuse_lazy(".to_numpy")
        if not all(type(series) is RecordSeries for series in self._series.values()):
            return self.refuse(".to_numpy of users", "select its columns before")
        if any(find_letter(series) == "b" for series in self._series.values()):
            return self.refuse(".to_numpy of truths", "cast them: .cast(pl.Int64)")
        arrays = [series.numbers(".to_numpy") for series in self._series.values()]
        rows = join_columns(arrays, is_strided=True)
        return self.refuse(".to_numpy") if rows is None else rows


class PolarsUsers(CountsRows, OfPolars):
    """The column that says whose a record is."""

    __slots__ = ("_series",)

    _stands_for = "Series"
    described = KeySeries.described
    advice = _USERS_ADVICE

    def __init__(self, series: KeySeries) -> None:
        self._series = series

    branching = find_branching("_series")

    def n_unique(self) -> Any:
        """How many users there are."""
        return self._series.nunique()

    def len(self) -> Any:
        """How many records there are."""
        return self._series.count()

    count_rows = len


def _operator(kind: str, *, swapped: bool = False) -> Any:
    def operate(self: PolarsSeries, other: Any) -> Any:
        pair = self.numbers(kind), self.operand(other, kind)
        return self.made(calculate_rows(self.refuse, kind, *(pair[::-1] if swapped else pair)))

    return operate


def _comparison(operation: Any) -> Any:
    def compare(self: PolarsSeries, other: Any) -> Any:
        value = other.series if type(other) is PolarsSeries else other
        return self.made(compare_rows(self.refuse, operation, self.series, value))

    return compare


def _logical(operation: Any) -> Any:
    def operate(self: PolarsSeries, other: Any) -> Any:
        if type(other) is not PolarsSeries:
            return self.refuse("an operator of conditions")
        pair = (side.condition("an operator") for side in (self, other))
        return self.made(operation(*pair))

    return operate


class PolarsSeries(CountsRows, OfPolars):
    """One column of a frame."""

    __slots__ = ("series",)

    _stands_for = "Series"

    def __init__(self, series: RecordSeries) -> None:
        self.series = series

    branching = find_branching("series")

    def made(self, series: Any) -> PolarsSeries:
        """Other entries of the same records."""
        return PolarsSeries(series)

    def condition(self, use: str) -> RecordSeries:
        """Its truths."""
        if self.series.names is not None or find_letter(self.series) != "b":
            self.refuse(f"{use} of what is not a comparison")
        return self.series

    def numbers(self, use: str) -> RecordSeries:
        """Its numbers."""
        self.series.numbers(use)
        if find_letter(self.series) == "b":
            self.refuse(f"{use} of truths", "cast them: .cast(pl.Int64)")
        return self.series

    def operand(self, other: Any, use: str) -> Any:
        """Numbers of records, or a constant."""
        if type(other) is PolarsSeries:
            return other.numbers(use)
        return (
            other if is_plain_number(other) else self.refuse(f"{use} with a {type(other).__name__}")
        )

    __add__, __radd__ = _operator("Plus"), _operator("Plus", swapped=True)
    __sub__, __rsub__ = _operator("Minus"), _operator("Minus", swapped=True)
    __mul__, __rmul__ = _operator("Multiply"), _operator("Multiply", swapped=True)
    __truediv__ = _operator("TrueDivide")
    __floordiv__, __mod__ = _operator("FloorDivide"), _operator("Modulus")
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)
    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __and__, __or__ = _logical(operator.and_), _logical(operator.or_)
    __xor__ = _logical(operator.xor)

    def __neg__(self) -> Any:
        return self.made(-self.numbers("an operator"))

    def __invert__(self) -> Any:
        return self.made(~self.condition("an operator"))

    def abs(self) -> Any:
        """The absolute value of each entry."""
        return self.made(self.numbers(".abs").abs())

    def clip(self, lower_bound: Any = None, upper_bound: Any = None) -> Any:
        """Each entry within two constants."""
        bounds = [bound for bound in (lower_bound, upper_bound) if bound is not None]
        if not all(map(is_plain_number, bounds)):
            return self.refuse(".clip with bounds that are not constants")
        numbers = self.numbers(".clip")
        return self.made(clip_rows(self.refuse, numbers, lower_bound, upper_bound))

    def is_in(self, other: Any) -> Any:
        """Whether each entry is one of some constants."""
        values = list(other) if type(other) in (list, tuple) else other
        return self.made(is_in(self.refuse, self.series, values))

    def is_between(self, lower_bound: Any, upper_bound: Any, closed: Any = "both") -> Any:
        """Whether each entry is within two constants, ends included."""
        if closed != "both" or not (is_plain_number(lower_bound) and is_plain_number(upper_bound)):
            return self.refuse(".is_between with these arguments")
        return (self >= lower_bound) & (self <= upper_bound)

    def cast(self, dtype: Any) -> Any:
        """Numbers of another type."""
        return self.made(cast_rows(self.refuse, self.series, str(dtype)))

    def filter(self, predicate: Any) -> Any:
        """The entries for which a condition holds."""
        if type(predicate) is not PolarsSeries:
            return self.refuse(".filter with what is not a comparison")
        return self.made(self.series[predicate.condition(".filter")])

    def sum(self) -> Any:
        """The answer."""
        return add_rows(self.refuse, self.series)

    def mean(self) -> Any:
        """The answer, where the number of rows is public."""
        return average_rows(self.refuse, self.numbers(".mean"))

    def value_counts(self, *, sort: bool = False, name: Any = None) -> Any:
        """How many records have each value."""
        own = self.series.name
        if not isinstance(own, str):
            return self.refuse(".value_counts of what has no name")
        groups = PolarsGroups(PolarsFrame({own: self.series}), own)
        return groups.len("count" if name is None else name)

    def count(self) -> Any:
        """How many records there are: nothing is missing."""
        return self.series.count()

    def len(self) -> Any:
        """How many records there are."""
        return self.series.count()

    count_rows = len

    def to_numpy(self) -> Any:
        """The column as an array."""
        return array_of_series(self.series)

    def to_list(self) -> Any:
        """The column as a list."""
        return self.series.numbers(".to_list").tolist()

    def __iter__(self) -> Any:
        return iter(self.to_list())


# ---- groups


class _CountsEach(OfPolars):
    """What makes numbers of each group, or of each user."""

    __slots__ = ()

    def agg(self, *aggs: Any, **named_aggs: Any) -> Any:
        """Numbers of each."""
        raise NotImplementedError

    def len(self, name: str = "len") -> Any:
        """How many rows each has; users, where they are what is left of a group."""
        import polars

        return self.agg(polars.len().alias(name))


class GroupedFrame(_CountsEach):
    """A frame by a column, perhaps among others."""

    __slots__ = ("_frame", "_name")

    kind = object

    def __init__(self, frame: PolarsFrame, name: str) -> None:
        self._frame, self._name = frame, name

    branching = find_branching("_frame")


class PolarsGroups(GroupedFrame):
    """A frame by the entries of a column."""

    __slots__ = ()

    advice = KEYS_ADVICE

    def keys(self) -> RecordSeries:
        """The column of entries; users and real numbers are refused."""
        keys = self._frame.series_of(self._name)
        if type(keys) is not RecordSeries:
            self.refuse("the rows of each user", _USERS_ADVICE)
        assert isinstance(keys, RecordSeries)
        if type(keys.array.storage) is RealColumn:
            self.refuse(".group_by of real numbers", "compare them with edges")
        return keys

    def head(self, n: Any = 5) -> Any:
        """The first rows of each user."""
        if type(self._frame.series_of(self._name)) is not KeySeries:
            return self.refuse(".head of groups that are not users")
        if type(n) is not int or n < 1:
            return self.refuse(".head", "give it a whole number of at least 1")
        return self._frame.bound_rows(RowsLeft(n))

    def agg(self, *aggs: Any, **named_aggs: Any) -> Any:
        """Numbers of each group that occurs, or of each user."""
        if type(self._frame.series_of(self._name)) is KeySeries:
            return self._frame.of_users(aggs, named_aggs)
        keys = self.keys()

        def of_key(key: Any) -> dict[str, Any]:
            condition = compare_rows(self.refuse, operator.eq, keys, key)
            made = self._frame.calculate_for(condition, aggs, named_aggs)
            if not made or not all(type(total) is RowsTotal for total in made.values()):
                self.refuse(".agg of what is not a number of each group")
            return made

        return self._frame.occurring(self._frame, self._name, of_key, is_lazy=self._frame.is_lazy)


class UsersInGroups(GroupedFrame):
    """A frame by users and the entries of one column."""

    __slots__ = ()

    advice = _CELLS_ADVICE

    def agg(self, *aggs: Any, **named_aggs: Any) -> Any:
        """Numbers of each user in each group."""
        PolarsGroups(self._frame, self._name).keys()

        def of_key(key: Any) -> UsersOfPolars:
            return self._frame.of_users_with(self._name, key, aggs, named_aggs)

        return CellsOfPolars(self._frame, self._name, of_key)


class _OfCells(OfPolars):
    """By key of a group the numbers of its users."""

    __slots__ = ("_frame", "_name", "_of_key")

    advice = _CELLS_ADVICE

    def __init__(
        self, frame: PolarsFrame, name: str, of_key: Callable[[Any], UsersOfPolars]
    ) -> None:
        self._frame, self._name, self._of_key = frame, name, of_key

    branching = find_branching("_frame")


class CellsOfPolars(_OfCells):
    """A row for each user in each group."""

    __slots__ = ()

    described = UsersOfPolars.described

    @property
    def kind(self) -> Any:
        """What it stands for."""
        return self._frame.kind

    def _each(self, function: Callable[[UsersOfPolars], Any]) -> Any:
        of_key = self._of_key
        return CellsOfPolars(self._frame, self._name, lambda key: function(of_key(key)))

    def with_columns(self, *exprs: Any, **named_exprs: Any) -> Any:
        """With further numbers of each user."""
        return self._each(lambda users: users.with_columns(*exprs, **named_exprs))

    def filter(self, *predicates: Any) -> Any:
        """Those for which a comparison holds."""
        return self._each(lambda users: users.filter(*predicates))

    def group_by(self, *by: Any, maintain_order: bool = False, **named_by: Any) -> Any:
        """By the groups."""
        if named_by or flat(by) != [self._name]:
            return self.refuse(".group_by by anything but the column besides the users")
        return CellsByGroup(self._frame, self._name, self._of_key)


class CellsByGroup(_OfCells, _CountsEach):
    """Numbers of each user by group, of which sums over users are made."""

    __slots__ = ()

    kind = object

    def agg(self, *aggs: Any, **named_aggs: Any) -> Any:
        """Sums over users by group."""
        return self._frame.occurring(
            self._frame,
            self._name,
            lambda key: self._of_key(key).totals_of(aggs, named_aggs),
            are_of_rows=False,
            is_lazy=self._frame.is_lazy,
        )
