"""Tables: records with named columns, handed to a mechanism as a data frame.

A row takes finitely many values, the product of those of its columns; a dataset is an array with
the number of each row's value, as in every other domain, so that all methods know it. ``frame``
makes the data frame of it that the mechanism gets.

Where rows are added and removed, a dataset has slots of which each holds a row or nothing, value 0.
Two slots with rows are at distance 2, so that neighbours are exactly the tables of which one is the
other without one row (docs/theory/tables.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray, RecordGrid
from liptest.errors import DatasetError, InputError, check_count, shown

# Changed rows, and kinds of other rows, that are written out.
_SHOWN = 4
#: Different rows that a table may have.
MOST_ROWS = 1 << 20


class ColumnKind:
    """What a column of a table holds: finitely many ``values``, in order."""

    @property
    def values(self) -> NDArray[Any]:
        """All values, 1-d."""
        raise NotImplementedError

    #: Whether the values are names, to be compared only.
    is_named = False


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
                raise InputError(f"{name}={shown(value)} must be a whole number", name=name)
            object.__setattr__(self, name, int(value))
        check_count("step", self.step)
        if self.high < self.low:
            raise InputError(f"high={self.high} is below low={self.low}", name="high")

    @cached_property
    def values(self) -> NDArray[Any]:
        return np.arange(self.low, self.high + 1, self.step, dtype=np.int64)


def Bit() -> Integer:
    """0 or 1."""
    return Integer(0, 1)


@dataclass(frozen=True)
class Category(ColumnKind):
    """One of some names, strings."""

    names: Sequence[str]

    is_named = True

    def __post_init__(self) -> None:
        names = self.names
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise InputError(
                f"names={shown(names)} must be a list of strings, as ['north', 'south']",
                name="names",
            )
        if not all(isinstance(one, str) for one in names) or len(set(names)) < len(names):
            raise InputError(f"names={shown(list(names))} must be strings, each once", name="names")
        object.__setattr__(self, "names", tuple(names))

    @cached_property
    def values(self) -> NDArray[Any]:
        return np.array(self.names, dtype=object)


class Table(Domain):
    """Tables of records with named columns; neighbours differ in one row.

    The mechanism ``(frame, rng) -> output`` gets a pandas frame: whole numbers as int64, names as
    strings. A dataset is an array, (rows,), of the numbers of the rows' values: ``encode`` makes
    it of a frame, ``frame`` makes a frame of it.

    Parameters
    ----------
    columns
        What each column holds, by its name: an ``Integer``, a ``Category`` or a ``Bit``.
    rows
        How many rows a table has, which is then public; where rows are added or removed, the most
        that it may have.
    relation
        "replace": neighbours differ in the entries of one row. "add_remove": one of them is the
        other without one row; how many rows there are is then private, as everything else is.

    Raises
    ------
    InputError
        No columns, a name that is not a string, a column of another kind, another relation, or
        more than 2^20 different rows (give integers a step).
    """

    #: What each column holds.
    columns: dict[str, ColumnKind]
    #: "replace" or "add_remove".
    kind: str
    noun = "row"

    def __new__(
        cls, columns: Mapping[str, ColumnKind], *, rows: int, relation: str = "replace"
    ) -> Table:
        """A table of one of the two relations."""
        if relation not in _RELATIONS:
            raise InputError(
                f"relation={shown(relation)} must be 'replace' or 'add_remove'", name="relation"
            )
        return super().__new__(_RELATIONS[relation])

    def __init__(
        self, columns: Mapping[str, ColumnKind], *, rows: int, relation: str = "replace"
    ) -> None:
        checked = _checked(columns)
        different = math.prod(len(kind.values) for kind in checked.values())
        if different > MOST_ROWS:
            raise InputError(
                f"columns: a row takes {different:,} values, more than {MOST_ROWS:,}; give whole "
                f"numbers a step, Integer(low, high, step=1000), or leave out columns",
                name="columns",
            )
        object.__setattr__(self, "columns", checked)
        object.__setattr__(self, "kind", relation)
        Domain.__init__(self, (different + self.first,) * check_count("rows", rows))

    #: The number of the first row's value: one more where a slot may hold nothing.
    first = 0

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name!r}: {kind!r}" for name, kind in self.columns.items())
        relation = "" if self.kind == "replace" else f", relation={self.kind!r}"
        return f"Table({{{kinds}}}, rows={self.dimension}{relation})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        same = list(self.columns.items()) == list(other.columns.items())
        return same and self.dimension == other.dimension and self.kind == other.kind

    def __hash__(self) -> int:
        return hash((tuple(self.columns.items()), self.dimension, self.kind))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.columns, self.dimension, self.kind)

    @property
    def dataset_words(self) -> str:
        most = "up to " if self.first else ""
        return f"{most}{self.dimension:,} rows with columns {', '.join(self.columns)}"

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
        return np.arange(self.sizes[0]) >= self.first

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

    def frame(self, dataset: IntArray) -> Any:
        """The pandas frame of a dataset, (rows,) numbers of values."""
        import pandas

        numbers = np.asarray(dataset)
        numbers = numbers[numbers >= self.first]
        return pandas.DataFrame(
            {name: kind.values[self.places[name][numbers]] for name, kind in self.columns.items()}
        )

    def encode(self, frame: Any) -> IntArray:
        """The dataset of a frame, or of a dict of columns: one number for each row.

        Raises DatasetError where a column is missing or holds what was not declared, or where the
        number of rows does not fit; the message names the column, never an entry.
        """
        numbers = np.zeros((), dtype=np.int64)
        for name, kind in self.columns.items():
            numbers = numbers * len(kind.values) + _places_in(frame, name, kind)
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


_RELATIONS: dict[str, type[Table]] = {"replace": ReplacedRows, "add_remove": AddedRows}


def _rebuilt(columns: dict[str, ColumnKind], rows: int, relation: str) -> Table:
    return Table(columns, rows=rows, relation=relation)


def _checked(columns: Any) -> dict[str, ColumnKind]:
    if not isinstance(columns, Mapping) or not columns:
        raise InputError(
            f"columns={shown(columns)} must be a dict, as {{'age': lt.Integer(0, 120)}}",
            name="columns",
        )
    for name, kind in columns.items():
        if not isinstance(name, str):
            raise InputError(f"columns: the name {shown(name)} must be a string", name="columns")
        if not isinstance(kind, ColumnKind):
            raise InputError(
                f"columns: {name}={shown(kind)} must be lt.Integer(low, high), "
                f"lt.Category([..]) or lt.Bit()",
                name="columns",
            )
    return dict(columns)


def _places_in(frame: Any, name: str, kind: ColumnKind) -> NDArray[np.int64]:
    try:
        column = np.asarray(frame[name])
    except (KeyError, TypeError, ValueError):
        raise DatasetError(f"the table has no column {name!r}") from None
    known = {_plain(value): place for place, value in enumerate(kind.values)}
    try:
        return np.array([known[_plain(entry)] for entry in column], dtype=np.int64)
    except (KeyError, TypeError):
        raise DatasetError(f"column {name!r} holds values that were not declared") from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
