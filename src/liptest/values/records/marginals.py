"""What a row has in some columns of a table: a column is a function of few kinds of rows.

A table with five columns may have a hundred thousand different rows, and a program reads one column
of it. What it calculates of that column alone is the same for all rows that are alike there, so it
is calculated once for each *kind* of rows, and spread over the rows where somebody asks for all.

Let f be a function of the columns C, and f' the one on their kinds with f(v) = f'(kind of v). Then

- f and f' take the same numbers, so bounds, types and rounding of f' are those of f;
- a function of entries in the same place, of f and g, is that of f' and g' on the kinds by the
  columns of both;
- f depends on a column if two rows differ in it alone and not in f. The columns that f depends on
  are the least with which there is an f', so the kinds by them, and f' there, are the same for all
  ways in which f was calculated;
- the values of rows are in lexicographic order of the columns, so the kinds are in the order of the
  first row of each, which has the first entry in all other columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]
#: Tables with fewer different rows are calculated with as they are.
FEWEST_ROWS = 1_024
#: So many times fewer kinds are calculated with.
TIMES_FEWER = 4


@dataclass(frozen=True, eq=False)
class Marginal:
    """The kinds of rows by some columns.

    Parameters
    ----------
    names
        The columns, in the table's order, without those of one entry.
    sizes
        How many entries each has.
    codes
        By the value of a row its kind; 0 for no row, where there may be none.
    rows
        By kind the first value of its rows.
    among
        Those of the same table.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    among: Marginals


class Marginals:
    """The kinds of rows by all sets of columns of a table, each made when it is asked for.

    Parameters
    ----------
    sizes
        By column how many entries it has.
    first
        The value of the first row: 1 where 0 stands for no row, which is a kind of its own.
    """

    def __init__(self, sizes: Mapping[str, int], first: int) -> None:
        self._sizes = {name: size for name, size in sizes.items() if size > 1}
        self._first = first
        self.values = first + math.prod(self._sizes.values())
        #: The values of all rows.
        self.every = np.arange(self.values, dtype=np.int64)
        self.every.flags.writeable = False
        self._made: dict[tuple[str, ...], Marginal | None] = {}
        self._between: dict[tuple[Any, Any], NDArray[np.int64]] = {}

    def of(self, names: Iterable[str]) -> Marginal | None:
        """The kinds by these columns; None where they are not far fewer than the rows."""
        wanted = set(names)
        ordered = tuple(name for name in self._sizes if name in wanted)
        if ordered not in self._made:
            self._made[ordered] = self._make(ordered)
        return self._made[ordered]

    def _make(self, names: tuple[str, ...]) -> Marginal | None:
        sizes = tuple(self._sizes[name] for name in names)
        first, count = self._first, math.prod(sizes)
        if TIMES_FEWER * (first + count) > self.values:
            return None
        own = np.arange(count).reshape([self._sizes[n] if n in names else 1 for n in self._sizes])
        codes = np.broadcast_to(own, tuple(self._sizes.values())).reshape(-1)
        rows = np.zeros(count, dtype=np.int64)
        rows[codes[::-1]] = np.arange(len(codes))[::-1]  # the first of each is put last
        absent = np.arange(first)
        return Marginal(
            names,
            sizes,
            np.concatenate([absent, first + codes]),
            np.concatenate([absent, first + rows]),
            self,
        )

    def places(self, before: Marginal, after: Marginal) -> NDArray[np.int64]:
        """By the kinds of more columns those by some of them."""
        assert set(before.names) <= set(after.names)
        pair = before.names, after.names
        if pair not in self._between:
            self._between[pair] = before.codes[after.rows]
        return self._between[pair]

    def reduce(self, table: Table, marginal: Marginal | None) -> tuple[Table, Marginal | None]:
        """The same line of numbers by the kinds of those columns alone that it depends on."""
        first = self._first
        names = tuple(self._sizes) if marginal is None else marginal.names
        grid = table[first:].reshape([self._sizes[name] for name in names])
        needed = []
        for axis, name in enumerate(names):
            alone = grid[(slice(None),) * axis + (slice(0, 1),)]
            if (grid == alone).all():
                grid = alone
            else:
                needed.append(name)
        if len(needed) == len(names):
            return table, marginal
        found = self.of(needed)
        if found is None:
            return table, marginal
        return np.concatenate([table[:first], grid.reshape(-1)]), found


def join(one: Marginal | None, other: Marginal | None) -> Marginal | None:
    """The kinds by the columns of both; None where all rows are to be told apart."""
    if one is other or one is None or other is None:
        return one if one is other else None
    return one.among.of((*one.names, *other.names))


def spread_kinds(table: Table, before: Marginal | None, after: Marginal | None) -> Table:
    """A table by kinds as one by the kinds of more columns, or by all rows."""
    if before is after:
        return table
    assert before is not None  # all rows are more than any kinds
    codes = before.codes if after is None else before.among.places(before, after)
    made: Table = table[codes]
    made.flags.writeable = table.flags.writeable
    return made


def are_tables_equal(
    one: tuple[Table, Marginal | None], other: tuple[Table, Marginal | None]
) -> bool:
    """Whether two tables are the same by all rows."""
    known = one[1] or other[1]
    if known is not None and one[1] is not other[1]:
        one, other = known.among.reduce(*one), known.among.reduce(*other)
    return one[1] is other[1] and bool((one[0] == other[0]).all())


class Tables(Sequence[Table]):
    """Lines of numbers by the value of a row, of which each is kept by kinds of rows."""

    def __init__(self) -> None:
        self._kept: list[tuple[Table, Marginal | None]] = []
        self._spread: dict[int, Table] = {}

    def append(self, table: Table, marginal: Marginal | None = None) -> None:
        """Keep one more."""
        self._kept.append((table, marginal))

    def by_kinds(self, number: int) -> tuple[Table, Marginal | None]:
        """The numbers by kinds, and the kinds; None for all rows."""
        return self._kept[number]

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, number: Any) -> Any:
        table, marginal = self._kept[number]
        if marginal is None:
            return table
        if number not in self._spread:
            self._spread[number] = table[marginal.codes]
        return self._spread[number]

    def at(self, number: int, values: NDArray[Any]) -> Table:
        """The numbers of rows of these values."""
        table, marginal = self._kept[number]
        made: Table = table[values if marginal is None else marginal.codes[values]]
        return made

    def extremes(self, number: int) -> list[int]:
        """The first values of a row that add most to a sum, and that take most from it."""
        table, marginal = self._kept[number]
        if table.ndim > 1 or table.dtype.kind not in "if":
            return []
        ends = [int(table.argmax()), int(table.argmin())]
        return ends if marginal is None else [int(marginal.rows[end]) for end in ends]

    def together(
        self, numbers: Sequence[int], marginals: Marginals | None, values: int
    ) -> tuple[list[Table], NDArray[np.int64]]:
        """Lines of numbers by the kinds of rows that tell them all, and the first row of each."""
        pairs = [self._kept[number] for number in numbers]
        if marginals is not None and all(own is not None for _, own in pairs):
            every = marginals.of(name for _, own in pairs if own is not None for name in own.names)
            if every is not None:
                return [spread_kinds(*pair, every) for pair in pairs], every.rows
        return [self[number] for number in numbers], np.arange(values)
