"""Possible records that a loop cannot tell apart: one pass for all of them.

What a pass does is a function of the entries that it reads (docs/theory/loops.md, L1). So it is
walked with a row that notes these, and what it does is what it would do of every other possible
record that has the same entries in these columns: they are one *class*. Of the others those that
differ in the first entry that was read are walked later, then those that differ in the second one:
each pass reads first what decides what it reads next.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.folded.record_counts import ColumnRows, Counts
from liptest.enumerate.syntax.pure_code import is_plain
from liptest.values.records.made_rows import MadeRows, line_of
from liptest.values.records.record_list import EntryOfRecord

# Fewer possible records are walked one by one.
_FEW = 256
_Places = NDArray[np.int64]


def rows_to_walk(values: Sequence[Any], take: Callable[[Any], Any] | None = None) -> MadeRows:
    """What a loop takes of each possible record; the record itself where nothing is said."""
    records = values if type(values) is MadeRows else MadeRows([values], itemgetter(0))
    return records if take is None else records.then(take)


def is_of_numbers(value: Any) -> bool:
    """Whether it is numbers of one record, and constants, in tuples and lists perhaps."""
    if isinstance(value, EntryOfRecord) or is_plain(value):
        return True
    return type(value) in (tuple, list) and all(map(is_of_numbers, value))


def as_one(value: Any) -> tuple[Any]:
    """What ``for value in ..`` takes."""
    return (value,)


def take_each_of(rows: ColumnRows, count: int, value: Any) -> tuple[Any, ...]:
    """What ``for one, other in ..`` takes."""
    taken = tuple(value)
    if len(taken) != count:
        rows.refuse("a loop that takes apart what has another length")
    return taken


def join_alike(rows: ColumnRows, records: MadeRows) -> ColumnRows:
    """The rows, where there are many of them those that a pass cannot tell apart as one."""
    return rows if len(records) <= _FEW else AlikeRows(rows, records)


def walk_rows(rows: ColumnRows, records: MadeRows) -> Iterator[tuple[int, Any]]:
    """The places that are kept, with what a pass takes of each; known when all are walked."""
    if isinstance(rows, AlikeRows):
        yield from rows.walked()
        return
    for place, is_kept in enumerate(rows.kept):
        if is_kept:
            yield place, records[place]


def count_records(rows: ColumnRows) -> Counts:
    """How many records there are of each value that a walk over them gives."""
    records = rows_to_walk(rows.values)
    joined = join_alike(rows, records)
    counts = Counts(joined)
    for place, value in walk_rows(joined, records):
        counts.add(place, value, 1)
    counts.grow()
    return counts


class AlikeRows:
    """See ``ColumnRows``: of classes of possible records, which are found by a walk over them."""

    def __init__(self, rows: ColumnRows, records: MadeRows) -> None:
        self.branching = rows.branching
        self._rows = rows
        self._records = records
        self._codes: dict[int, NDArray[np.int64]] = {}
        #: By the value of a record its class; of those that are not kept the last one.
        self._classes = np.zeros(len(records), dtype=np.int64)
        self._count = 0

    def walked(self) -> Iterator[tuple[int, Any]]:
        """The number of each class, with what a pass takes of one of its records."""
        kept = line_of(self._rows.kept, np.bool_)
        waiting: list[tuple[int, _Places]] = []
        self._wait(waiting, np.flatnonzero(kept))
        self._count = 0
        while waiting:
            place, group = heapq.heappop(waiting)
            record, entries = self._records.noting(place)
            yield self._count, record
            entries.close()
            for column in dict.fromkeys(entries.read):
                group = self._split(waiting, group, column)
            self._classes[group] = self._count
            self._count += 1
        self._classes[~kept] = self._count

    def _split(self, waiting: list[tuple[int, _Places]], group: _Places, column: int) -> _Places:
        """Those that have the entry of the first one; the others wait by their entries."""
        if column not in self._codes:
            self._codes[column] = self._records.codes(column)
        codes = self._codes[column][group]
        own = codes == codes[0]
        if own.all():
            return group
        others, codes = group[~own], codes[~own]
        order = np.argsort(codes, kind="stable")
        ends = np.flatnonzero(np.diff(codes[order])) + 1
        for part in np.split(others[order], ends):
            self._wait(waiting, part)
        alike: _Places = group[own]
        return alike

    def _wait(self, waiting: list[tuple[int, _Places]], group: _Places) -> None:
        if len(group):
            heapq.heappush(waiting, (int(group[0]), group))

    # ---- as rows

    @property
    def column(self) -> Any:
        """The column of all these records."""
        return self._rows.column

    @property
    def length(self) -> Any:
        """How many records there are."""
        return self._rows.length

    @property
    def kept(self) -> list[bool]:
        """Of each class; the last one is that of records that are not kept."""
        return [True] * self._count + [False] * (not all(self._rows.kept))

    @property
    def values(self) -> list[Any]:
        """As many as there are classes; what is taken of them is not to be seen."""
        return [None] * len(self.kept)

    def each(self, entries: Sequence[Any]) -> list[Any]:
        """By the value of a record what is noted of its class."""
        return [entries[place] for place in self._classes.tolist()] if entries else []

    def answer(
        self, table: list[Any], kind: type, largest: Any, steps: int, classes: Any = None
    ) -> Any:
        """The sum over all records of what is noted of their classes."""
        return self._rows.answer(table, kind, largest, steps, self._classes)

    def joined(self, tables: list[list[Any]]) -> list[list[Any]]:
        """See ``ColumnRows``."""
        return self._rows.joined(tables)

    def mapped(self, values: list[Any], kept: list[bool]) -> Any:
        """A list with what is noted of the class of each record that is kept."""
        return self._rows.mapped(self.each(values), self.each(kept))

    def refuse(self, words: str) -> NoReturn:
        """End the run."""
        self._rows.refuse(words)
