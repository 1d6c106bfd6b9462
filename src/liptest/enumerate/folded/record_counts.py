"""A ``collections.Counter`` of the records: counts by constant keys are answers.

Which keys it has depends on the data, and their order on which record comes first. So nothing can
be asked of it but the count of a constant key, how many keys there are, and to walk them in a loop
that tells those alone whose noisy count is large (``passing``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn, Protocol

import numpy as np

from liptest.enumerate.syntax.pure_code import NUMBERS, calculates, is_plain
from liptest.values.branching import Branching
from liptest.values.records.record_list import EntryOfRecord
from liptest.values.unfollowed import Unfollowed

_Number = int | float | Fraction
# Sums of NumPy's whole numbers may wrap beyond 2**62; of fewer than 2**40 records they do not.
_MOST = 1 << 22
_OF_VALUES = (
    "Counter.values, which depends on which records there are, but for max(counts.values())"
)
_OF_ITEMS = "Counter.items, which depends on which records there are"


class ColumnRows(Protocol):
    """A column, record by record; place r stands for all records of the r-th possible value."""

    #: The analysis that it is part of.
    branching: Branching

    @property
    def values(self) -> Sequence[Any]:
        """What walking over it gives for each possible value."""
        ...

    @property
    def kept(self) -> list[bool]:
        """Whether such records are there at all; not all are in a selection."""
        ...

    @property
    def column(self) -> Any:
        """The column of all these records."""
        ...

    @property
    def length(self) -> Any:
        """What len() gives: a plain number, or the answer of a selection."""
        ...

    def answer(
        self,
        table: list[_Number],
        kind: type,
        largest: _Number,
        steps: int,
        classes: Any = None,
    ) -> Any:
        """The sum over all records of ``table[r]``, as a number of a type, int or float.

        A pass adds no more than so many times, and what it adds comes to no more than
        ``largest`` in size. With ``classes`` it is the sum of ``table[classes[r]]``.
        """
        ...

    def joined(self, tables: list[list[Any]]) -> list[list[Any]]:
        """What each possible record adds at each place of an array, of which it is one vector."""
        ...

    def mapped(self, values: list[Any], kept: list[bool]) -> Any:
        """A list with ``values[r]`` for each record, except for those that are not kept."""
        ...

    def each(self, entries: Sequence[Any]) -> Sequence[Any]:
        """By the value of a record what is noted at its place."""
        ...

    def refuse(self, words: str) -> NoReturn:
        """End the run: what is done with the records is not followed."""
        ...


def rows_at_index(count: Any, columns: Sequence[ColumnRows | None]) -> list[ColumnRows] | None:
    """The columns, where all are of the same so many records, so that one index reads one record.

    Records in another order (``data[::-1]``, ``rng.permutation(data)``) are others at an index.
    """
    rows = [column for column in columns if column is not None]
    if not rows or len(rows) < len(columns) or type(count) is not int:
        return None
    if any(type(column.length) is not int or column.length != count for column in rows):
        return None
    first = rows[0]
    are_same = all(
        column.column.answers is first.column.answers and len(column.kept) == len(first.kept)
        for column in rows
    )
    return rows if are_same and all(all(column.kept) for column in rows) else None


class RecordTable:
    """What each possible record adds to one number."""

    def __init__(self, size: int) -> None:
        self._entries: list[Any] = [0] * size
        self._sizes: list[_Number] = [0] * size
        self._steps = [0] * size
        self._kind: type = int
        self._largest = 0

    def grow(self, size: int) -> None:
        """Have as many places; nothing is added at new ones."""
        more = size - len(self._entries)
        for line in (self._entries, self._sizes, self._steps):
            line.extend([0] * more)

    def add(self, place: int, value: Any, sign: int, rows: ColumnRows) -> None:
        if place >= len(self._entries):
            self.grow(place + 1)
        if isinstance(value, EntryOfRecord):
            negative: Any = value
            self._add_real(place, value if sign > 0 else -negative)
            return
        if type(value) not in NUMBERS or not math.isfinite(value):
            rows.refuse(f"adding a {type(value).__name__} in a loop over the records")
        if isinstance(value, float):
            self._kind = float
            number: Any = Fraction(value)
        else:
            number = int(value)
        if isinstance(self._entries[place], EntryOfRecord):
            number = float(number)
        self._entries[place] += sign * number
        self._sizes[place] += abs(number)
        self._steps[place] += 1
        if isinstance(value, np.integer):
            self._largest = max(self._largest, abs(int(value)))

    def _add_real(self, place: int, value: Any) -> None:
        """The sum of a pass is off by what the margin has room for."""
        before: Any = self._entries[place]
        if not isinstance(before, EntryOfRecord):
            before = float(before)
        is_something = isinstance(before, EntryOfRecord) or before
        self._entries[place] = before + value if is_something else value
        largest = value.largest
        self._sizes[place] += Fraction(largest) if math.isfinite(largest) else largest
        self._steps[place] += 1
        self._kind = float

    @property
    def counts_of_one(self) -> Sequence[int] | None:
        """What it adds for each record, where that is 1 or nothing at all."""
        is_count = self._kind is int and self._entries == self._steps and max(self._steps) <= 1
        return self._steps if is_count else None

    def answer(self, rows: ColumnRows) -> Any:
        if self._largest >= _MOST:
            rows.refuse("a sum that NumPy's whole numbers may not hold")
        return rows.answer(self._entries, self._kind, max(self._sizes), max(self._steps))


def join_places(tables: list[RecordTable], rows: ColumnRows) -> None:
    """Note of what is added to an array that the numbers of a record are one vector."""
    joined = rows.joined([table._entries for table in tables])
    for table, entries in zip(tables, joined, strict=True):
        table._entries = entries


def find_start(factory: Any) -> int | float | None:
    """What a ``defaultdict`` of numbers begins with, 0 or 0.0; None of all others."""
    is_it = factory in (int, float) or calculates(factory)
    start = factory() if is_it else None
    return start if type(start) in (int, float) and repr(start) in ("0", "0.0") else None


class Counts(Unfollowed):
    """A ``collections.Counter`` of a column: the number of each constant key is an answer.

    Which keys it has depends on the records, so nothing else can be asked of it.
    """

    described = "a Counter of the records, which depends on which there are"

    def __init__(
        self,
        rows: ColumnRows,
        tables: dict[Any, RecordTable] | None = None,
        *,
        raises: bool = False,
        start: float = 0,
    ) -> None:
        self._rows = rows
        self._start = start
        self._tables = {} if tables is None else tables
        self.raises = raises
        #: What it was made of, in the order of its keys.
        self.pairs: Any = None

    def items(self) -> Any:
        """Its entries, to be walked by a loop that tells those whose noisy count is large."""
        return self.pairs if self.pairs is not None else CountedKeys(self, with_counts=True)

    def keys(self) -> Any:
        """Its keys, for such a loop."""
        return CountedKeys(self, with_counts=False)

    def in_order(self, *, descends: bool) -> Any:
        """``sorted(counts)``: its keys."""
        return self.keys().in_order(descends=descends)

    def most_common(self, n: Any = None) -> Any:
        """All its entries, for such a loop; the first few of them tell the largest counts."""
        if n is not None:
            return self.refuse("Counter.most_common(n), which tells which counts are the largest")
        return CountedKeys(self, with_counts=True, order=KeysByCount(self))

    def values(self) -> Any:
        """Its counts, of which the largest can be asked."""
        return CountedValues(self)

    def numbers_of_all(self, *, is_there: bool) -> list[Any] | None:
        """The counts of all keys that may be there, so the largest is that of those that are.

        ``is_there``: at least one of them has to be above 0 on every dataset. Else 0 is the largest
        of none. None where no key may be there, or a record counts more than once.
        """
        rows, added = self._rows, [table.counts_of_one or () for table in self._tables.values()]
        if not added or not self.are_of_records or self._start != 0:
            return None
        if is_there:
            are_some = type(rows.length) is int and rows.length > 0 and all(rows.kept)
            if not are_some or not all(map(any, zip(*added, strict=True))):
                return None
        return [self._number(key) for key in self._tables]

    @property
    def column(self) -> Any:
        """Whose records they are."""
        return self._rows.column

    @property
    def possible(self) -> list[Any]:
        """All keys that may be there."""
        return list(self._tables)

    @property
    def are_of_records(self) -> bool:
        """Whether each record counts once, under one key."""
        added = [table.counts_of_one for table in self._tables.values()]
        if any(counts is None for counts in added):
            return False
        return all(sum(own) <= 1 for own in zip(*added, strict=True))

    def count_of(self, key: Any) -> Any:
        """How many records have a key."""
        return self._number(key)

    def item_of(self, key: Any, count: Any) -> Any:
        """What comes with a key where it is walked: its count."""
        return count

    def entry_of(self, key: Any, count: Any) -> Any:
        """What a loop over keys with their counts is handed."""
        return key, count

    def holds(self, key: Any, number: int) -> bool:
        """Whether an answer is known to be made of the records of a key alone: none is."""
        return False

    def refuse(self, use: str) -> NoReturn:
        """End the run."""
        self._rows.refuse(use)

    def in_their_order(self, dataset: Any) -> list[Any]:
        """The keys that are there in a dataset, as its records come."""
        distinct, first = np.unique(dataset, return_index=True)
        places = distinct[np.argsort(first)].tolist()
        owners = self.owners()
        return list(dict.fromkeys(owners[place] for place in places if place in owners))

    def owners(self) -> dict[int, Any]:
        """By the number of a record's value the key under which it is counted."""
        return {
            place: key
            for key, table in self._tables.items()
            for place in np.flatnonzero(self._rows.each(table.counts_of_one or ())).tolist()
        }

    def add(self, place: int, key: Any, number: Any) -> None:
        """Such records count so many times under a key."""
        table = self._tables.setdefault(key, RecordTable(len(self._rows.values)))
        table.add(place, number, 1, self._rows)

    def grow(self) -> None:
        """Note that all records are counted."""
        for table in self._tables.values():
            table.grow(len(self._rows.values))

    def __getitem__(self, key: Any) -> Any:
        if not is_plain(key):
            self._rows.refuse("a count of a key that is not constant")
        if self.raises:
            self._rows.refuse("an entry of a dict that is there for some records only; use .get")
        return self._number(key)

    def how_many(self) -> Any:
        """The number of its keys: each is there where its count is above 0."""
        return sum(self._number(key) > 0 for key in self._tables)

    def _number(self, key: Any) -> Any:
        if key not in self._tables:
            return self._start
        added = self._tables[key].answer(self._rows)
        return added if type(self._start) is int else self._start + added

    def get(self, key: Any, default: Any = None) -> Any:
        """The number of a key; with another default than 0 it tells whether there are any."""
        if type(default) is not type(self._start) or default != 0:
            self._rows.refuse("a dict's get without the default 0")
        if not is_plain(key):
            self._rows.refuse("a count of a key that is not constant")
        return self._number(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse(f"Counter.{name}, which depends on which records there are")


class WalkedCounts:
    """Counts whose keys are walked in an order of its own; the rest is that of ``counts``."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    def __getattr__(self, name: str) -> Any:
        return object.__getattribute__(self.counts, name)


class KeysByCount(WalkedCounts):
    """As ``Counter.most_common`` has them: of equal counts that which comes first."""

    def in_their_order(self, dataset: Any) -> list[Any]:
        """The keys that are there in a dataset."""
        owners = self.counts.owners()
        keys = [owners[place] for place in np.asarray(dataset).tolist() if place in owners]
        return [key for key, _ in Counter(keys).most_common()]


class KeysInOrder(WalkedCounts):
    """Keys in their own order."""

    def __init__(self, counts: Counts, *, descends: bool) -> None:
        super().__init__(counts)
        self.descends = descends

    @property
    def possible(self) -> list[Any]:
        """All keys that may be there."""
        keys = self.counts.possible
        are_names = all(type(key) is str for key in keys)
        if not are_names and any(type(key) not in (int, np.int64) for key in keys):
            self.counts.refuse("sorted() of keys that are not all names or whole numbers")
        return sorted(keys, reverse=self.descends)


class CountedKeys(Unfollowed):
    """The keys of counts, or these with their counts; nothing but such a loop walks them.

    ``order`` is what they are walked as, where it is not that of the records.
    """

    def __init__(self, counts: Counts, *, with_counts: bool, order: Any = None) -> None:
        self.counts = counts
        self.with_counts = with_counts
        self.walked = counts if order is None else order

    @property
    def has_order(self) -> bool:
        """Whether they come in the order of the keys."""
        return type(self.walked) is KeysInOrder

    def in_order(self, *, descends: bool) -> Any:
        """``sorted(counts.items())``: each key is there once."""
        order = KeysInOrder(self.counts, descends=descends)
        return CountedKeys(self.counts, with_counts=self.with_counts, order=order)

    def refuse(self, use: str) -> NoReturn:
        """End the run."""
        self.counts.refuse(_OF_ITEMS)


class CountedValues(Unfollowed):
    """The counts of those keys that are there: only the largest is the same for all keys."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    def refuse(self, use: str) -> NoReturn:
        """End the run."""
        self.counts.refuse(_OF_VALUES)
