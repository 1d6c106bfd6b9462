"""A sum of entries that are functions of 0/1 variables, as a sum of independent rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product as combinations

import numpy as np
from numpy.typing import NDArray

from liptest.values.binary.sum_laws import Key
from liptest.values.binary.truth_tables import TruthTables

# Entries that share variables are joined into one row of at most so many variables.
_MOST_JOINED = 8


@dataclass(frozen=True)
class Row:
    """A function of some variables: its values by their bits, the first foremost."""

    variables: tuple[int, ...]
    values: tuple[int, ...]

    def values_by(self, order: list[int]) -> tuple[int, ...] | None:
        """The values by the bits of the same variables in another order; None for other ones."""
        if tuple(order) == self.variables:
            return self.values
        if sorted(order) != sorted(self.variables):
            return None
        places = [order.index(variable) for variable in self.variables]
        every = combinations((0, 1), repeat=len(order))
        return tuple(self.values[_number(bits[place] for place in places)] for bits in every)


def _number(bits: Iterable[int]) -> int:
    number = 0
    for bit in bits:
        number = 2 * number + bit
    return number


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows without a variable in common, and a constant: all of one sum.

    ``blocks`` are rows of equally many variables each, all of which count.
    """

    blocks: tuple[TruthTables, ...]
    constant: int

    @classmethod
    def of(cls, rows: list[Row], constant: int = 0) -> Rows:
        """From a list of rows."""
        counts: dict[int, list[Row]] = {}
        for row in rows:
            counts.setdefault(len(row.variables), []).append(row)
        blocks = (
            TruthTables(
                np.array([row.variables for row in some], dtype=np.int64).reshape(-1, count),
                np.array([row.values for row in some], dtype=np.int64),
            )
            for count, some in sorted(counts.items())
        )
        return cls(tuple(blocks), constant)

    @property
    def variables(self) -> NDArray[np.int64]:
        """All of them, block by block, row by row."""
        if not self.blocks:
            return np.empty(0, dtype=np.int64)
        return np.concatenate([block.variables.ravel() for block in self.blocks])

    def origin(self) -> bytes:
        """The same for the same rows only."""
        counts = np.array([(block.count, len(block.variables)) for block in self.blocks])
        tables = [block.table.tobytes() for block in self.blocks]
        return b"".join([counts.tobytes(), self.variables.tobytes(), *tables])

    def key(self, zeros: NDArray[np.int64], ones: NDArray[np.int64]) -> Key:
        """What decides the law, given the weights of all variables."""
        return tuple(
            (
                block.count,
                zeros[block.variables].tobytes(),
                ones[block.variables].tobytes(),
                block.table.tobytes(),
            )
            for block in self.blocks
        )

    def listed(self) -> list[Row]:
        """All rows."""
        return [
            Row(tuple(variables), tuple(values))
            for block in self.blocks
            for variables, values in zip(
                block.variables.tolist(), block.table.tolist(), strict=True
            )
        ]

    def entries(self) -> TruthTables:
        """The rows as entries of an array in one line."""
        count = max((block.count for block in self.blocks), default=0)
        padded = [block.pad_with(count) for block in self.blocks]
        if not padded:
            return TruthTables(np.empty((0, 0), dtype=np.int64), np.empty((0, 1), dtype=np.int64))
        return join_tables(padded)


def join_tables(several: list[TruthTables]) -> TruthTables:
    """Entries in lines, one line after the other."""
    count = max(tables.count for tables in several)
    padded = [tables.pad_with(count) for tables in several]
    return TruthTables(
        np.concatenate([tables.variables for tables in padded]),
        np.concatenate([tables.table for tables in padded]),
    )


def rows_of_tables(entries: TruthTables) -> Rows | int:
    """The rows of a sum of entries in one line, whole numbers of 64 bits.

    Where too many entries share variables, one of these, which must be known first.
    """
    entries = entries.used()
    blocks, constant = _blocks(entries)
    rows = Rows(tuple(blocks), constant)
    variables = rows.variables
    if len(np.unique(variables)) == len(variables):
        return rows
    return _join(rows)


def _blocks(entries: TruthTables) -> tuple[list[TruthTables], int]:
    """Entries by the number of variables that count, and the sum of those without any."""
    counts = entries.variables >= 0
    if counts.all() and entries.count:
        return [entries], 0
    patterns, which = np.unique(counts, axis=0, return_inverse=True)
    which = which.reshape(-1)
    by_count: dict[int, list[TruthTables]] = {}
    constant = 0
    for number, pattern in enumerate(patterns):
        hit = which == number
        kept = np.flatnonzero(pattern)
        index = tuple(slice(None) if column else 0 for column in pattern)
        table = entries.at(hit).split()[(slice(None), *index)].reshape(-1, 1 << len(kept))
        if len(kept):
            some = TruthTables(entries.variables[hit][:, kept], table)
            by_count.setdefault(len(kept), []).append(some)
        else:
            constant = sum(table[:, 0].tolist())
    return [join_tables(some) for _, some in sorted(by_count.items())], constant


def _join(rows: Rows) -> Rows | int:
    """Rows that share variables as one, for all that do."""
    members: dict[int, list[Row]] = {}
    counts: dict[int, Counter[int]] = {}
    leader: dict[int, int] = {}
    for row in rows.listed():
        others = sorted({leader[variable] for variable in row.variables if variable in leader})
        some, count = [row], Counter(row.variables)
        for other in others:
            some += members.pop(other)
            count += counts.pop(other)
        if len(some) > 1 and len(count) > _MOST_JOINED:
            return count.most_common(1)[0][0]
        first = row.variables[0]
        members[first], counts[first] = some, count
        leader.update(dict.fromkeys(count, first))
    joined = [
        some[0] if len(some) == 1 else _sum_up(some, list(counts[first]))
        for first, some in members.items()
    ]
    return rows_of_joined(joined, rows.constant)


def rows_of_joined(rows: list[Row], constant: int) -> Rows:
    """Rows without a variable in common, some of which may not count."""
    made = Rows.of(rows)
    blocks, more = _blocks(made.entries().used())
    return Rows(tuple(blocks), constant + more)


def _sum_up(rows: list[Row], variables: list[int]) -> Row:
    place = {variable: column for column, variable in enumerate(variables)}
    values = (
        sum(row.values[_number(bits[place[v]] for v in row.variables)] for row in rows)
        for bits in combinations((0, 1), repeat=len(variables))
    )
    return Row(tuple(variables), tuple(values))
