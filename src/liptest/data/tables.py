"""Tables: records with named columns, handed to a mechanism as a data frame.

A row takes finitely many values, the product of those of its columns; a dataset is an array with
the number of each row's value, as in every other domain, so that all methods know it. ``frame``
makes the data frame of it that the mechanism gets.

Where rows are added and removed, a dataset has slots of which each holds a row or nothing, value 0.
Two slots with rows are at distance 2, so that neighbours are exactly the tables of which one is the
other without one row (docs/theory/tables.md).

Where a table is private by users, a slot holds a row and its user, and neighbours differ in the
rows of one user. Such tables are not visited one by one: claims are proved or refuted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, IntArray, MovesTogether, RecordGrid
from liptest.errors import (
    MOST_RECORDS,
    DatasetError,
    InputError,
    build_as,
    check_count,
    quote,
    with_example,
)

# Changed rows, and kinds of other rows, that are written out.
_SHOWN = 4
#: Different rows that a table may have.
MOST_ROWS = 1 << 20
#: Users that a table may have: a slot holds one plus the user, below 2^24, plus 2^24 times the row.
USER_BITS = 24
_USERS = 1 << USER_BITS
# A float is two whole numbers.
_WORD = 1 << 32


class ColumnKind:
    """What a column of a table holds: finitely many ``values``, in order."""

    @property
    def values(self) -> NDArray[Any]:
        """All values, 1-d."""
        raise NotImplementedError

    #: Whether the values are names, to be compared only.
    is_named = False
    #: Whether it is any float between two; ``values`` is then one number only.
    is_real = False


@build_as("lt.Integer(0, 120)")
@dataclass(frozen=True)
class Integer(ColumnKind):
    """Whole numbers from ``low`` to ``high``, both included, ``step`` apart."""

    low: int
    high: int
    step: int = 1

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise InputError(f"{name}={quote(value)} must be a whole number", name=name)
            object.__setattr__(self, name, int(value))
        check_count("step", self.step)
        if self.high < self.low:
            raise InputError(f"high={self.high} is below low={self.low}", name="high")

    @cached_property
    def values(self) -> NDArray[Any]:
        return np.arange(self.low, self.high + 1, self.step, dtype=np.int64)


@with_example("lt.Bit()")
def Bit() -> Integer:
    """0 or 1."""
    return Integer(0, 1)


@build_as('lt.Category(["north", "south"])')
@dataclass(frozen=True)
class Category(ColumnKind):
    """One of some names, strings."""

    names: Sequence[str]

    is_named = True

    def __post_init__(self) -> None:
        names = self.names
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise InputError(
                f"names={quote(names)} must be a list of strings, as ['north', 'south']",
                name="names",
            )
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise InputError(f"names={quote(list(names))} must be strings, each once", name="names")
        object.__setattr__(self, "names", tuple(names))

    @cached_property
    def values(self) -> NDArray[Any]:
        return np.array(self.names, dtype=object)


@build_as("lt.Key()")
@dataclass(frozen=True)
class Key(ColumnKind):
    """Whose row it is: the column that ``unit`` names. The mechanism sees whole numbers.

    Nothing is said of them but which are equal; rows are told apart by their other columns.
    """

    @property
    def values(self) -> NDArray[Any]:
        return np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class NearTables:
    """Some tables, of which only these and their neighbours matter (docs/theory/tables.md, B13).

    An analysis that takes its sums to lie between what they are there adds to ``checks`` a
    function of a table: whether its sums, and those of all its neighbours, lie between the same.
    """

    tables: tuple[IntArray, ...]
    checks: list[Callable[[IntArray], bool]] = field(default_factory=list)

    def holds_for(self, dataset: IntArray) -> bool:
        """Whether what was found near the tables is true near this one."""
        return bool(self.checks) and all(check(dataset) for check in self.checks)


class Table(Domain):
    """Tables of records with named columns; neighbours differ in one row, or in those of a user.

    The mechanism ``(frame, rng) -> output`` gets a pandas frame, or one of polars where it says so
    (``frame: pl.DataFrame``): whole numbers as int64, names as strings. A dataset is an array,
    (rows,), of the numbers of the rows' values: ``encode`` makes it of a frame, ``frame`` makes a
    frame of it.

    Parameters
    ----------
    columns
        What each column holds, by its name: an ``Integer``, a ``Category``, a ``Bit`` or a ``Key``.
    rows
        How many rows a table has, which is then public; where rows are added or removed, or the
        unit is a user, the most that it may have, also written ``(0, most)``.
    relation
        "replace": neighbours differ in the entries of one row. "add_remove": one of them is the
        other without one row; how many rows there are is then private, as everything else is.
    unit
        "row", or the name of the column that says whose row it is, an ``lt.Key()``: neighbours then
        differ in the rows of one user, which are replaced by others or by none ("replace"), or
        there in one table only ("add_remove").
    at_most
        The most rows that one user has. None: all may be of one user.

    Raises
    ------
    InputError
        No columns, a name that is not a string, a column of another kind, another relation, a unit
        that is not a key, or more than 2^20 different rows (give integers a step).
    """

    #: What each column holds.
    columns: dict[str, ColumnKind]
    #: "replace" or "add_remove".
    kind: str
    noun = "row"

    #: "row", or the name of the key.
    unit: str
    #: The most rows of a user; None: all of them.
    at_most: int | None
    #: Where only some tables and their neighbours are looked at: those.
    near: NearTables | None = None

    @with_example(
        'lt.Table({"age": lt.Integer(0, 120), "region": lt.Category(["n", "s"])}, rows=10_000)'
    )
    def __new__(
        cls,
        columns: Mapping[str, ColumnKind],
        *,
        rows: int | tuple[int, int],
        relation: str = "replace",
        unit: str = "row",
        at_most: int | None = None,
    ) -> Table:
        """A table of one of the relations."""
        if relation not in _RELATIONS:
            raise InputError(
                f"relation={quote(relation)} must be 'replace' or 'add_remove'", name="relation"
            )
        values = columns.values() if isinstance(columns, Mapping) else ()
        if any(isinstance(kind, ColumnKind) and kind.is_real for kind in values):
            return super().__new__(OF_REALS[relation, unit != _ROW])
        return super().__new__((_RELATIONS if unit == _ROW else _OF_USERS)[relation])

    def __init__(
        self,
        columns: Mapping[str, ColumnKind],
        *,
        rows: int | tuple[int, int],
        relation: str = "replace",
        unit: str = "row",
        at_most: int | None = None,
    ) -> None:
        checked = _check(columns)
        _check_unit(checked, unit, at_most)
        different = math.prod(len(kind.values) for kind in checked.values())
        if different > MOST_ROWS:
            raise InputError(
                f"columns: a row takes {different:,} values, more than {MOST_ROWS:,}; give whole "
                f"numbers a step, Integer(low, high, step=1000), or leave out columns",
                name="columns",
            )
        object.__setattr__(self, "columns", checked)
        object.__setattr__(self, "kind", relation)
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "at_most", at_most)
        object.__setattr__(self, "row_values", different + self.first)
        size = different * _USERS + 1 if self.is_free else self.row_values
        reals = sum(kind.is_real for kind in checked.values())
        Domain.__init__(self, (size, *(_WORD,) * (2 * reals)) * _most_rows(rows, bool(self.first)))

    #: Whether it is not visited one by one; a slot then holds a row and its user.
    is_free = False

    @property
    def rows(self) -> int:
        """Rows that a table has, or has at most."""
        return self.dimension

    @property
    def is_full(self) -> bool:
        """Whether all tables have as many rows."""
        return not self.first

    #: How many values a row takes, that of a slot without one included.
    row_values: int

    #: The number of the first row's value: one more where a slot may hold nothing.
    first = 0

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name!r}: {kind!r}" for name, kind in self.columns.items())
        relation = "" if self.kind == "replace" else f", relation={self.kind!r}"
        unit = "" if self.unit == _ROW else f", unit={self.unit!r}"
        most = "" if self.at_most is None else f", at_most={self.at_most}"
        return f"Table({{{kinds}}}, rows={self.rows}{relation}{unit}{most})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        same = list(self.columns.items()) == list(other.columns.items())
        return same and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash((tuple(self.columns.items()), self._numbers))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.columns, *self._numbers)

    @property
    def _numbers(self) -> tuple[int, str, str, int | None]:
        return self.rows, self.kind, self.unit, self.at_most

    @property
    def dataset_words(self) -> str:
        most = "up to " if self.first else ""
        return f"{most}{self.rows:,} rows with columns {', '.join(self.columns)}"

    @cached_property
    def places(self) -> dict[str, NDArray[np.int64]]:
        """By column: for each value of a row the number of the column's value in it.

        Of a slot without a row that of the first value, which nobody may look at.
        """
        shape = [len(kind.values) for kind in self.columns.values()]
        numbers = np.indices(shape).reshape(len(shape), -1).astype(np.int64)
        numbers = np.concatenate([np.zeros((len(shape), self.first), np.int64), numbers], axis=1)
        return dict(zip(self.columns, numbers, strict=True))

    @property
    def holds_row(self) -> NDArray[np.bool_]:
        """By value of a slot: whether there is a row."""
        return np.arange(self.row_values) >= self.first

    def resized(self, rows: int) -> Table:
        """The same with another number of rows."""
        return _rebuild(self.columns, rows, self.kind, self.unit, self.at_most)

    def around(self, tables: Sequence[IntArray]) -> Table:
        """The same, for an analysis of these tables and their neighbours only."""
        copied = copy(self)
        object.__setattr__(copied, "near", NearTables(tuple(tables)))
        return copied

    def neighbour_of(self, dataset: IntArray, rng: np.random.Generator) -> IntArray:
        """Some neighbour of a table: one row replaced, added or removed; or the table itself."""
        neighbour = np.asarray(dataset).copy()
        place = int(rng.integers(self.dimension))
        if self.first:
            neighbour[place] = 0 if neighbour[place] else rng.integers(1, self.row_values)
        else:
            neighbour[place] = rng.integers(self.row_values)
        return neighbour

    def row(self, value: int) -> dict[str, Any]:
        """The entries of a row, by column; empty for a slot without one."""
        if value < self.first:
            return {}
        return {
            name: _plain(kind.values[self.places[name][value]])
            for name, kind in self.columns.items()
        }

    def row_words(self, value: int) -> str:
        """The entries of a row: age 30, region 'north'."""
        entries = self.row(value).items()
        return ", ".join(f"{name} {entry!r}" for name, entry in entries) or "not there"

    def pair_words(self, point: Sequence[int], neighbour: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._pair_lines(point, neighbour))

    def _pair_lines(self, point: Sequence[int], neighbour: Sequence[int]) -> Iterator[str]:
        changed = [place for place in range(len(point)) if point[place] != neighbour[place]]
        for place in changed[:_SHOWN]:
            yield f"- row {place}: {self.row_words(point[place])}"
            yield f"+ row {place}: {self.row_words(neighbour[place])}"
        same = Counter(one for one, other in zip(point, neighbour, strict=True) if one == other)
        for value in range(self.first):
            same.pop(value, None)
        shown_rows = same.most_common(_SHOWN)
        for value, count in shown_rows:
            yield f"  {count:,} row{'' if count == 1 else 's'}: {self.row_words(value)}"
        others = sum(same.values()) - sum(count for _, count in shown_rows)
        if others:
            yield f"  {others:,} others"
        if not same:
            yield "  no other rows"

    def frame(self, dataset: IntArray, library: str = "pandas") -> Any:
        """The frame of a dataset, (rows,) numbers of values, by "pandas" or "polars"."""
        return _make_frame(self.entries(dataset), library)

    def entries(self, dataset: IntArray) -> dict[str, NDArray[Any]]:
        """By column the entries of all rows of a dataset."""
        numbers = np.asarray(dataset)
        numbers = numbers[numbers >= self.first]
        return {
            name: kind.values[self.places[name][numbers]] for name, kind in self.columns.items()
        }

    def encode(self, frame: Any) -> IntArray:
        """The dataset of a frame, or of a dict of columns: one number for each row.

        Raises DatasetError where a column is missing or holds what was not declared, or where the
        number of rows does not fit; the message names the column, never an entry.
        """
        numbers = np.zeros((), dtype=np.int64)
        for name, kind in self.columns.items():
            numbers = numbers * len(kind.values) + places_in(frame, name, kind)
        count, room = len(numbers), self.dimension
        if count > room or (count < room and not self.first):
            most = "at most " if self.first else ""
            raise DatasetError(f"the table has {count:,} rows, not {most}{room:,}")
        dataset = np.zeros(room, dtype=self.dtype)
        dataset[:count] = numbers + self.first
        return dataset


class ReplacedRows(Table, RecordGrid):
    """Tables of which one row is replaced."""

    neighbour_words = "replacing one row"
    relation = "replace one row"


class AddedRows(Table):
    """Tables of which one row is added or removed."""

    neighbour_words = "adding or removing one row"
    relation = "add or remove one row"
    first = 1

    @property
    def diameter(self) -> int:
        return 2 * self.dimension

    def value_pairs(self, coordinate: int) -> NDArray[np.int64]:
        rows = np.arange(1, self.sizes[coordinate])
        return np.stack([np.zeros_like(rows), rows], axis=1)

    def other_values(self, coordinate: int, value: int) -> NDArray[np.int64]:
        return np.arange(1, self.sizes[coordinate]) if value == 0 else np.array([0])

    def neighbour_changes(
        self, points: IntArray
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        values = np.arange(self.sizes[0])
        other = (values > 0) == (points[:, :, None] == 0)
        other &= (values == 0) | (points[:, :, None] == 0)
        rows, coordinates, chosen = np.nonzero(other)
        return rows, coordinates, chosen

    def _coordinate_distance(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[Any]:
        both = (np.asarray(left) > 0) & (np.asarray(right) > 0)
        return np.asarray(left != right).astype(np.int64) * (1 + both)


class RowsOfUsers(MovesTogether, Table):
    """Tables that differ in the rows of one user; a slot holds nothing, 0, or a row and its user.

    Two vectors of slots are neighbours where all that differs is of one user. Every list of rows is
    that of some vector, and neighbouring vectors stand for neighbouring lists.
    """

    noun = "row"
    first = 1
    is_free = True

    @property
    def most(self) -> int:
        """Rows that one user may have."""
        return min(self.rows, self.at_most or self.rows)

    @property
    def dataset_words(self) -> str:
        most = "" if self.at_most is None else f", at most {self.at_most} of each {self.unit}"
        return f"{Table.dataset_words.fget(self)}{most}"  # type: ignore[attr-defined]

    @property
    def diameter(self) -> int:
        return 2 * self.dimension

    @property
    def neighbouring_pairs(self) -> int:
        return self.size

    def _refusal(self) -> InputError:
        return InputError(
            f"domain={self}: tables of users are not visited one by one; claims on them are proved "
            f"or refuted",
            name="domain",
            value=self,
        )

    def slot(self, user: Any, row: Any) -> Any:
        """What a slot holds: a user's row, of values 1, 2, .. of ``row_values``.

        Of arrays of users and of rows, (n,), the array of what their slots hold.
        """
        return 1 + user + ((row - 1) << USER_BITS)

    def rows_in(self, dataset: IntArray) -> NDArray[np.int64]:
        """By slot the row's value, 0 where there is none."""
        slots = np.asarray(dataset).astype(np.int64)
        return np.where(slots > 0, ((slots - 1) >> USER_BITS) + 1, 0)

    def users_in(self, dataset: IntArray) -> NDArray[np.int64]:
        """By slot whose row it is, -1 where there is none."""
        slots = np.asarray(dataset).astype(np.int64)
        return np.where(slots > 0, (slots - 1) & (_USERS - 1), -1)

    def check_points(self, points: ArrayLike, *, private: bool = False) -> IntArray:
        datasets = super().check_points(points, private=private)
        for users in self.users_in(datasets):
            counts = np.bincount(users[users >= 0], minlength=1)
            if counts.max() > self.most:
                raise DatasetError(
                    f"a table has more than {self.most:,} rows of one user (at_most={self.at_most})"
                )
        return datasets

    def distance(self, points: ArrayLike, others: ArrayLike) -> NDArray[np.int64]:
        """1 for neighbours, 0 for equal tables, 2 for all others."""
        left, right = (np.atleast_2d(np.asarray(side)) for side in (points, others))
        pairs = zip(left, right, strict=True)
        return np.array([self._steps(one, other) for one, other in pairs], dtype=np.int64)

    def _steps(self, left: IntArray, right: IntArray) -> int:
        changed = np.flatnonzero(left != right)
        if not len(changed):
            return 0
        sides = [self.users_in(left), self.users_in(right)]
        users = {int(user) for side in sides for user in side[changed]} - {-1}
        if len(users) > 1:
            return 2
        is_there = [bool(users & set(side.tolist())) for side in sides]
        return 2 if self.kind == "add_remove" and all(is_there) else 1

    def draw(self, rng: np.random.Generator, few: int) -> IntArray:
        """Some table of a few users and rows, in any order, with rows alike and others."""
        room = self.dimension
        dataset = np.zeros(room, dtype=self.dtype)
        left = dict.fromkeys(range(max(2, few)), self.most)
        kinds = rng.integers(1, self.row_values, size=3)
        for place in range(min(room, int(rng.integers(0, 3 * few + 1)))):
            user = int(rng.integers(len(left)))
            if left[user]:
                left[user] -= 1
                row = int(rng.choice(kinds)) if rng.random() < 0.5 else 0
                dataset[place] = self.slot(user, row or int(rng.integers(1, self.row_values)))
        return dataset

    def neighbour_of(self, dataset: IntArray, rng: np.random.Generator) -> IntArray:
        """The table without the rows of one user, or itself."""
        neighbour = np.asarray(dataset).copy()
        user = int(rng.choice(self.users_in(neighbour)))
        if user >= 0:
            neighbour[self.users_in(neighbour) == user] = 0
        return neighbour

    def entries(self, dataset: IntArray) -> dict[str, NDArray[Any]]:
        slots = np.asarray(dataset)
        slots = slots[slots > 0]
        rows, users = self.rows_in(slots), self.users_in(slots)
        return {
            name: users if name == self.unit else kind.values[self.places[name][rows]]
            for name, kind in self.columns.items()
        }

    def encode(self, frame: Any) -> IntArray:
        rest = {name: kind for name, kind in self.columns.items() if name != self.unit}
        numbers = np.zeros((), dtype=np.int64)
        for name, kind in rest.items():
            numbers = numbers * len(kind.values) + places_in(frame, name, kind)
        users = number_users(frame, self.unit)
        if len(users) > self.dimension:
            raise DatasetError(f"the table has {len(users):,} rows, not at most {self.dimension:,}")
        dataset: IntArray = np.zeros(self.dimension, dtype=self.dtype)
        dataset[: len(users)] = 1 + users + (np.broadcast_to(numbers, users.shape) << USER_BITS)
        [checked] = self.check_points(dataset, private=True)
        return np.asarray(checked)

    def _pair_lines(self, point: Sequence[int], neighbour: Sequence[int]) -> Iterator[str]:
        both = [np.asarray(dataset, dtype=np.int64) for dataset in (point, neighbour)]
        changed = both[0] != both[1]
        users = {int(user) for side in both for user in self.users_in(side[changed])} - {-1}
        for mark, side in zip("-+", both, strict=True):
            for user in sorted(users):
                own = self.rows_in(side[self.users_in(side) == user])
                yield f"{mark} {self.unit} {user}: {self._rows_words(own.tolist())}"
        others = self.rows_in(both[0][~np.isin(self.users_in(both[0]), [-1, *users])]).tolist()
        yield f"  all others: {self._rows_words(others)}"

    def _rows_words(self, rows: list[int]) -> str:
        counts = Counter(rows).most_common(_SHOWN)
        words = [
            f"{count:,} row{'' if count == 1 else 's'} of {self.row_words(value) or 'no entries'}"
            for value, count in counts
        ]
        rest = len(rows) - sum(count for _, count in counts)
        return "; ".join([*words, *([f"{rest:,} other rows"] if rest else [])]) or "no rows"

    def row(self, value: int) -> dict[str, Any]:
        row = super().row(value)
        row.pop(self.unit, None)
        return row


class ReplacedUsers(RowsOfUsers):
    """Tables of which the rows of one user are replaced, by others or by none."""

    neighbour_words = "replacing the rows of one user by others or by none"
    relation = "replace one user"


class AddedUsers(RowsOfUsers):
    """Tables of which one is the other without the rows of one user."""

    neighbour_words = "adding or removing the rows of one user"
    relation = "add or remove one user"


_ROW = "row"
_RELATIONS: dict[str, type[Table]] = {"replace": ReplacedRows, "add_remove": AddedRows}
_OF_USERS: dict[str, type[Table]] = {"replace": ReplacedUsers, "add_remove": AddedUsers}
#: Tables with real columns, by relation and whether the unit is a user; see ``real_tables``.
OF_REALS: dict[tuple[str, bool], type[Table]] = {}


def _make_frame(entries: dict[str, NDArray[Any]], library: str) -> Any:
    if library == "polars":
        import polars

        kinds = {"i": polars.Int64, "f": polars.Float64, "O": polars.String}
        return polars.DataFrame(
            [polars.Series(name, own, kinds[own.dtype.kind]) for name, own in entries.items()]
        )
    import pandas

    return pandas.DataFrame(entries)


def _rebuild(
    columns: dict[str, ColumnKind], rows: int, relation: str, unit: str, at_most: int | None
) -> Table:
    return Table(columns, rows=rows, relation=relation, unit=unit, at_most=at_most)


def _check_unit(columns: dict[str, ColumnKind], unit: Any, at_most: Any) -> None:
    keys = [name for name, kind in columns.items() if isinstance(kind, Key)]
    if unit == _ROW and keys:
        raise InputError(
            f"columns: {keys[0]} is a key, so say that its owner is private: unit={keys[0]!r}",
            name="unit",
        )
    if unit != _ROW and keys != [unit]:
        raise InputError(
            f"unit={quote(unit)} must be 'row' or the only column that is an lt.Key()", name="unit"
        )
    if at_most is not None:
        check_count("at_most", at_most)
        if unit == _ROW:
            raise InputError(f"at_most={at_most} without unit=: whose rows are meant?", name="unit")


def _most_rows(rows: Any, is_private: bool) -> int:
    if isinstance(rows, tuple):
        if not is_private or len(rows) != 2 or rows[0] != 0:
            instead = "(0, most)" if is_private else "one number, as rows are replaced"
            raise InputError(f"rows={quote(rows)} must be {instead}", name="rows", value=rows)
        rows = rows[1]
    return check_count("rows", rows, most=MOST_RECORDS)


def number_users(frame: Any, name: str) -> NDArray[np.int64]:
    """Users by numbers, in the order in which they occur; equal keys, as 1 and 1.0, are one.

    Rows without a key are refused: nobody knows how many users they are of.
    """
    try:
        entries = [_plain(entry) for entry in np.asarray(frame[name])]
        # What is missing is None, or equals nothing: each of its rows would be a user.
        is_missing = any(entry is None or entry != entry for entry in entries)
        places = {entry: place for place, entry in enumerate(dict.fromkeys(entries))}
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise DatasetError(f"the table has no column {name!r}, or not one of keys") from None
    if is_missing:
        raise DatasetError(f"column {name!r} has rows without a key")
    return np.array([places[entry] for entry in entries], dtype=np.int64)


def _check(columns: Any) -> dict[str, ColumnKind]:
    if not isinstance(columns, Mapping) or not columns:
        # Data themselves are not shown: they may be private.
        what = "{}" if isinstance(columns, Mapping) else f"<{type(columns).__name__}>"
        raise InputError(
            f"columns={what} must be a dict of names and kinds, as "
            f"{{'age': lt.Integer(0, 120)}}; data themselves are not given",
            name="columns",
        )
    for name, kind in columns.items():
        if not isinstance(name, str):
            raise InputError(f"columns: the name {quote(name)} must be a string", name="columns")
        if not isinstance(kind, ColumnKind):
            what = getattr(kind, "__name__", quote(kind))
            raise InputError(
                f"columns: {name}={what} must be lt.Integer(low, high), "
                f"lt.Category([..]), lt.Bit(), lt.Real(lower, upper) or lt.Key()",
                name="columns",
            )
    return dict(columns)


def places_in(frame: Any, name: str, kind: ColumnKind) -> NDArray[np.int64]:
    """The numbers of a column's entries among its values; DatasetError for what is not declared."""
    try:
        column = np.asarray(frame[name])
    except (KeyError, TypeError, ValueError):
        raise DatasetError(f"the table has no column {name!r}") from None
    places = {_plain(value): place for place, value in enumerate(kind.values)}
    try:
        return np.array([places[_plain(entry)] for entry in column], dtype=np.int64)
    except (KeyError, TypeError):
        raise DatasetError(f"column {name!r} holds values that were not declared") from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
