"""Rows of records that are made when they are asked for, and note which of their entries are read.

A frame of five columns may have a hundred thousand possible rows, of which a loop reads two
entries: what it does is the same for all rows that have these two entries in common
(``enumerate.folded.alike_rows``).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

_ALIKE_IF_EQUAL = (int, bool, str)


class ColumnEntries(Sequence[Any]):
    """By the value of a record its number or name, as Python's own.

    Parameters
    ----------
    table
        A line of numbers; of names their places in ``names``.
    make
        What is made of a number.
    """

    __slots__ = ("_make", "_names", "_table")

    def __init__(
        self, table: NDArray[Any], names: tuple[str, ...] | None = None, make: Any = None
    ) -> None:
        self._table, self._names, self._make = table, names, make

    def made(self, make: Callable[[Any], Any]) -> ColumnEntries:
        """The same numbers as another type."""
        return ColumnEntries(self._table, self._names, make)

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, place: Any) -> Any:
        entry = self._table[place].item()
        if self._names is not None:
            return self._names[entry]
        return entry if self._make is None else self._make(entry)

    def __iter__(self) -> Iterator[Any]:
        entries: list[Any] = self._table.tolist()
        make = self._make if self._names is None else self._names.__getitem__
        return iter(entries if make is None else map(make, entries))

    @property
    def codes(self) -> NDArray[np.int64]:
        """A number for each entry, the same for those that are the same."""
        return _codes_of_array(self._table)


class MadeRows(Sequence[Any]):
    """What a loop walks, by the value of a record.

    Parameters
    ----------
    columns
        Entries by the value of a record, of each column.
    make
        What is made of the entries of one record.
    """

    __slots__ = ("columns", "make")

    def __init__(
        self, columns: Sequence[Sequence[Any]], make: Callable[[Sequence[Any]], Any]
    ) -> None:
        self.columns, self.make = columns, make

    def then(self, make: Callable[[Any], Any]) -> MadeRows:
        """What is made of these rows."""
        first = self.make
        return MadeRows(self.columns, lambda entries: make(first(entries)))

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, place: Any) -> Any:
        return self.make(tuple(column[place] for column in self.columns))

    def noting(self, place: int) -> tuple[Any, ReadEntries]:
        """One row, and what notes which of its entries are read."""
        entries = ReadEntries(self.columns, place)
        return self.make(entries), entries

    def codes(self, column: int) -> NDArray[np.int64]:
        """A number for each entry of a column, the same for those that no pass can tell apart."""
        entries = self.columns[column]
        if type(entries) is ColumnEntries:
            return entries.codes
        return _codes_of_list(entries)


class ReadEntries(Sequence[Any]):
    """The entries of one row; ``read`` are the columns of those that were asked for."""

    __slots__ = ("_columns", "_is_closed", "_place", "read")

    def __init__(self, columns: Sequence[Sequence[Any]], place: int) -> None:
        self._columns, self._place = columns, place
        self.read: list[int] = []
        self._is_closed = False

    def close(self) -> None:
        """Let nothing more be read: the pass is over."""
        self._is_closed = True

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, place: Any) -> Any:
        if type(place) is slice:
            return tuple(self[one] for one in range(*place.indices(len(self))))
        number = range(len(self))[operator.index(place)]
        if self._is_closed:
            _refuse_later()
        self.read.append(number)
        return self._columns[number][self._place]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))


def _refuse_later() -> NoReturn:
    raise TypeError("a row is read after its pass")


def _codes_of_array(table: NDArray[Any]) -> NDArray[np.int64]:
    """Of floats by their bits: -0.0 is another number than 0.0."""
    bits = table.view(np.int64) if table.dtype == np.float64 else table
    codes: NDArray[np.int64] = np.unique(bits, return_inverse=True)[1]
    return codes


def _codes_of_list(entries: Sequence[Any]) -> NDArray[np.int64]:
    """Entries of several types, or of another than these, are all told apart."""
    if all(map(operator.is_, entries, itertools.repeat(entries[0]))):
        return np.zeros(len(entries), dtype=np.int64)
    kinds = set(map(type, entries))
    if kinds == {float}:
        return _codes_of_array(line_of(entries, np.float64))
    if len(kinds) > 1 or not kinds.issubset(_ALIKE_IF_EQUAL):
        return np.arange(len(entries))
    codes = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    return np.fromiter(map(codes.__getitem__, entries), np.int64, len(entries))


def line_of(entries: Sequence[Any], kind: Any) -> NDArray[Any]:
    """Numbers of one type as an array: ``np.array`` asks of each whether it is a symbol."""
    return np.fromiter(entries, kind, len(entries))
