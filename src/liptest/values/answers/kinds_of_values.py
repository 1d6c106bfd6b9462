"""Values of a record that add the same to all answers are one kind; kinds are what is listed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.answers import Move
from liptest.values.records.marginals import Tables

Table = NDArray[Any]
# A product of two numbers of codes below this is an int64.
_MOST_CODES = 1 << 31


def find_kinds(tables: Iterable[Table], values: int) -> list[int]:
    """The first value of each kind, in their order: kinds differ in an entry of some table.

    Records of two values of one kind add the same. So the difference between two records depends
    on their kinds alone, and listing kinds lists all differences. Tables are (values,).
    """
    _, first = np.unique(_code_together(tables, values), return_index=True)
    return [int(value) for value in np.sort(first)]


def two_of_each(tables: Iterable[Table], values: int) -> list[int]:
    """The first two values of each kind, in their order; one where there are not two."""
    codes = _code_together(tables, values)
    order = np.argsort(codes, kind="stable")
    is_first = np.ones(values, dtype=np.bool_)
    is_first[1:] = np.diff(codes[order]) != 0
    is_second = np.zeros(values, dtype=np.bool_)
    is_second[1:] = is_first[:-1] & ~is_first[1:]
    return [int(value) for value in np.sort(order[is_first | is_second])]


def _code_together(tables: Iterable[Table], values: int) -> NDArray[np.int64]:
    """A number for each value, the same for those of one kind."""
    codes, most = np.zeros(values, dtype=np.int64), 1
    for table in tables:
        own, count = _code(table)
        if count > 1 and most * count >= _MOST_CODES:
            codes, most = _code(codes)
        codes, most = codes * count + own, most * count
        if most >= _MOST_CODES:
            codes, most = _code(codes)
    return codes


def _code(table: Table) -> tuple[NDArray[np.int64], int]:
    """Equal entries as equal numbers below a count."""
    if table.dtype.kind == "i":
        low, high = int(table.min()), int(table.max())
        if high - low < table.size:
            return (table - low).astype(np.int64), high - low + 1
    distinct, own = np.unique(table, return_inverse=True)
    return own.reshape(-1).astype(np.int64), len(distinct)


def rows_at(
    tables: Tables, numbers: Iterable[int], values: Sequence[int]
) -> list[dict[int, Fraction]]:
    """What a record of each of these values adds to the answers with these numbers."""
    rows: list[dict[int, Fraction]] = [{} for _ in values]
    for number in sorted(numbers):
        table = tables.at(number, np.asarray(values, dtype=np.int64))
        added = np.flatnonzero(table)
        for place, amount in zip(added.tolist(), table[added].tolist(), strict=True):
            rows[place][number] = Fraction(amount)
    return rows


def sums_of_values(
    tables: Tables, factors: dict[int, Fraction], values: int, *, with_all: bool
) -> dict[int, Fraction]:
    """By value of a record: what one adds to answers times their factors, all together.

    Of all values, or of two of those that add the same to each of these answers.
    """
    own = (tables[number] for number in factors)
    told = range(values) if with_all else two_of_each(own, values)
    rows = rows_at(tables, factors, told)
    added = (sum((by * row.get(n, 0) for n, by in factors.items()), Fraction(0)) for row in rows)
    return dict(zip(told, added, strict=True))


def steps_of_one(number: int, rows: Iterable[Move]) -> list[Move]:
    """The differences of rows in which one answer alone is not 0, each once."""
    amounts = {dict(row).get(number, Fraction(0)) for row in rows}
    whole = math.lcm(*(amount.denominator for amount in amounts))
    counts = [int(amount * whole) for amount in amounts]
    # Larger numbers are kept as Python has them.
    is_small = max(map(abs, counts)) < _MOST_CODES
    table = np.array(counts, dtype=np.int64 if is_small else object)
    steps = np.unique(np.subtract.outer(table, table)).tolist()
    return [((number, Fraction(step, whole)),) for step in steps if step]


def keep_lean(table: Table) -> Table:
    """Whole numbers as such, whatever their type."""
    if table.dtype.kind in "biu":
        return table.astype(np.int64)
    wide = table.astype(np.float64) + 0.0
    whole = bool(np.all(wide == np.floor(wide))) and bool(np.all(np.abs(wide) < 2.0**53))
    return wide.astype(np.int64) if whole else wide
