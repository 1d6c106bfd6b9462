"""How the entries of real columns are calculated, and between which floats they lie.

A recipe says how: ("real", name), ("number", type, value), ("table", type, bytes) by cell,
("cells", recipes), ("known", key) of what the program has released, or (ufunc, recipes..).
NumPy's functions that are followed are rounded correctly, hence monotone also as functions of
floats: their values at the ends of what they are given are the ends of what they give
(docs/theory/tables.md, B6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liptest.values.protocol import COMPARISONS

Table = NDArray[Any]
#: What an entry is calculated by.
Recipe = tuple[Any, ...]
#: Lower and upper ends; None where a function fails for some numbers between them.
Ends = tuple[Any, Any] | None
EndsRule = Callable[[Any, list[Table], list[Table]], Ends]


def _rising(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return ufunc(*lows), ufunc(*highs)


def _falling(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return ufunc(*highs), ufunc(*lows)


def _at_corners(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    values = [ufunc(*corner) for corner in product(*zip(lows, highs, strict=True))]
    return reduce(np.minimum, values), reduce(np.maximum, values)


def _quotient(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    if ((lows[1] <= 0) & (highs[1] >= 0)).any():
        return None
    return _at_corners(ufunc, lows, highs)


def falls_in_second(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    """Of a difference, or of a positive constant by what is not below 0."""
    return ufunc(lows[0], highs[1]), ufunc(highs[0], lows[1])


def is_safe(ufunc: Any, lows: list[Table], highs: list[Table]) -> bool:
    """Whether no operands give nan: of those that may be infinite few are followed."""
    finite = [
        bool(np.isfinite(low).all() and np.isfinite(high).all())
        for low, high in zip(lows, highs, strict=True)
    ]
    if all(finite) or ufunc in (*_OF_INFINITE, np.sqrt, *ABOUT):
        return True
    if ufunc is np.divide:
        return finite[0] or (finite[1] and lows[1].ndim == 0)
    is_constant = any(low.ndim == 0 and low != 0 and np.isfinite(low) for low in lows)
    return ufunc in (np.add, np.multiply) and any(finite) and is_constant


def _even(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    ends = ufunc(lows[0]), ufunc(highs[0])
    around = (lows[0] <= 0) & (highs[0] >= 0)
    return np.where(around, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _power(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    """Of exponent 2; the C library may be off by one float."""
    low, high = _even(np.square, lows, highs) or (0.0, 0.0)
    return np.maximum(np.nextafter(low, -np.inf), 0.0), np.nextafter(high, np.inf)


def _floor_quotient(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    """By a positive constant: the floor of the exact quotient, where that is far below 2**53.

    What NumPy subtracts is the exact remainder, so the quotient is next to a whole number, and it
    takes this one.
    """
    if not (np.array_equal(lows[1], highs[1]) and (lows[1] > 0).all()):
        return None
    low, high = _rising(np.divide, lows, highs) or (0.0, 0.0)
    if not (np.abs(low) < _FAR).all() or not (np.abs(high) < _FAR).all():
        return None
    return _rising(ufunc, lows, highs)


def _rising_about(least: float, domain: float = -np.inf) -> EndsRule:
    """Of a rising function above ``domain`` that the C library is off by a few floats of."""

    def ends(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
        if not (lows[0] > domain).all() and domain > -np.inf:
            return None
        low, high = ufunc(lows[0]), ufunc(highs[0])
        wide = np.maximum(np.abs([low, high]) * _ABOUT, _VANISHED)
        return np.maximum(low - wide[0], least), high + wide[1]

    return ends


def _root(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return None if (lows[0] < 0).any() else _rising(ufunc, lows, highs)


def root_by_power(numbers: Table) -> Table:
    """``numbers ** 0.5``, which the C library is off by a few floats of."""
    return np.asarray(np.power(numbers, 0.5))


def _root_about(ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
    return None if (lows[0] < 0).any() else _rising_about(0.0)(ufunc, lows, highs)


# Relatively, more than NumPy's functions are off; and what is less than any float, and its size.
_ABOUT, _VANISHED = 2.0**-46, 1e-300
# Quotients whose whole part floats find.
_FAR = 2.0**45
ENDS: dict[Any, EndsRule] = {
    **dict.fromkeys((np.add, np.maximum, np.minimum, np.floor, np.ceil, np.rint), _rising),
    **dict.fromkeys((np.trunc, np.positive, np.sign, np.fmax, np.fmin), _rising),
    **dict.fromkeys((np.absolute, np.fabs, np.square), _even),
    np.negative: _falling,
    np.subtract: falls_in_second,
    np.multiply: _at_corners,
    np.divide: _quotient,
    np.power: _power,
    np.sqrt: _root,
    np.floor_divide: _floor_quotient,
}
#: Functions that are off by a few floats, which may depend on the place of a number in memory: a
#: comparison of what they give is not one of records.
ABOUT: dict[Any, EndsRule] = {
    **dict.fromkeys((np.exp, np.exp2), _rising_about(0.0)),
    **dict.fromkeys((np.tanh, np.expm1), _rising_about(-1.0 - 2.0**-40)),
    **dict.fromkeys((np.arctan, np.cbrt), _rising_about(-np.inf)),
    **dict.fromkeys((np.log, np.log2, np.log10), _rising_about(-np.inf, 0.0)),
    np.log1p: _rising_about(-np.inf, -1.0),
    root_by_power: _root_about,
}
_OF_INFINITE = (np.maximum, np.minimum, np.fmax, np.fmin)
_TO_WHOLE = (np.sign, np.floor, np.floor_divide, np.ceil, np.rint, np.trunc, *COMPARISONS)
_OF_WHOLE = (*_OF_INFINITE, np.add, np.subtract, np.multiply, np.absolute, np.fabs, np.negative)


def has_known(recipe: Any) -> bool:
    """Whether a number that was released is part of it."""
    return type(recipe) is tuple and (recipe[:1] == ("known",) or any(map(has_known, recipe)))


def keys_in(recipe: Any) -> set[Any]:
    """The keys of the released numbers that are part of it."""
    if type(recipe) is not tuple or not recipe:
        return set()
    return {recipe[1]} if recipe[0] == "known" else set().union(*map(keys_in, recipe))


def gives_whole(recipe: Recipe) -> bool:
    """Whether an entry is a whole number, for all records."""
    kind, *rest = recipe
    if kind == "number":
        return float(rest[1]).is_integer()
    if kind == "table":
        table = np.frombuffer(rest[1], dtype=rest[0])
        return bool(np.all(table == np.floor(table)))
    if kind == "cells":
        return all(map(gives_whole, rest[0]))
    if kind is np.where:
        return all(map(gives_whole, rest[1:]))
    return kind in _TO_WHOLE or (kind in _OF_WHOLE and all(map(gives_whole, rest)))


def evaluate(recipe: Recipe, cells: NDArray[np.int64], entries: Mapping[Any, Any]) -> Table:
    """What NumPy calculates for records of these cells with these real numbers.

    Released numbers are among the ``entries``, or 0.
    """
    kind, *rest = recipe
    if kind == "known":
        value: Table = np.asarray(entries.get(rest[0], 0.0))
        return value
    if kind == "real":
        numbers: Table = entries[rest[0]]
        return numbers
    if kind == "number":
        constant: Table = rest[1]
        return constant
    if kind == "table":
        return np.frombuffer(rest[1], dtype=rest[0])[cells]
    if kind == "cells":
        made = np.repeat(0.0, len(cells))
        for cell in set(cells.tolist()):
            those = cells == cell
            own = {
                name: entry[those] if isinstance(name, str) else entry
                for name, entry in entries.items()
            }
            made[those] = evaluate(rest[0][cell], cells[those], own)
        return made
    with np.errstate(all="ignore"):
        table: Table = kind(*(evaluate(part, cells, entries) for part in rest))
    # Which of 0.0 and -0.0 is the larger one depends on the place of a record among the others.
    return table + 0.0 if kind in _OF_INFINITE and table.dtype.kind == "f" else table


# ---- comparisons


class RowCondition(NamedTuple):
    """A comparison of what is made of a record; tables in it are by value of the other columns."""

    comparison: Any
    left: Recipe
    right: Recipe

    @property
    def reals(self) -> set[str]:
        """The real columns in it."""
        return _reals_in(self.left) | _reals_in(self.right)

    @property
    def depends_on_others(self) -> bool:
        """Whether it is another one for other values of the columns that are not real."""
        return _has_tables(self.left) or _has_tables(self.right)

    @property
    def depends_on_known(self) -> bool:
        """Whether a number that was released is part of it."""
        return bool(self.keys)

    @property
    def keys(self) -> set[Any]:
        """Those of the released numbers in it."""
        return keys_in(self.left) | keys_in(self.right)

    def holds(self, rows: NDArray[np.int64], entries: Mapping[str, Table]) -> NDArray[np.bool_]:
        """Of records with these values of the other columns and these real numbers."""
        pair = (evaluate(side, rows, entries) for side in (self.left, self.right))
        return np.broadcast_to(self.comparison(*pair), rows.shape)


def row_condition(
    comparison: Any, left: Recipe, right: Recipe, row_values: NDArray[np.int64]
) -> RowCondition | None:
    """The comparison, in the same words for any cells; None for what is not of single records."""
    pair = [_by_row(side, row_values) for side in (left, right)]
    return None if None in pair else RowCondition(comparison, pair[0] or (), pair[1] or ())


def _by_row(recipe: Recipe, row_values: NDArray[np.int64]) -> Recipe | None:
    """A recipe with tables by value of the other columns, where they depend on these alone."""
    kind, *rest = recipe
    if kind in ("real", "number", "known"):
        return recipe
    if kind == "table":
        table = np.frombuffer(rest[1], dtype=rest[0])
        values = np.repeat(table[:1], int(row_values.max()) + 1)
        values[row_values] = table
        alike = values[row_values].tobytes() == rest[1]
        return ("table", rest[0], values.tobytes()) if alike else None
    if kind not in ENDS:
        return None
    parts = [_by_row(part, row_values) for part in rest]
    return None if None in parts else (kind, *parts)


def _reals_in(recipe: Recipe) -> set[str]:
    kind, *rest = recipe
    if kind == "real":
        return {rest[0]}
    return set().union(*map(_reals_in, rest)) if kind in ENDS else set()


def _has_tables(recipe: Recipe) -> bool:
    return recipe[0] == "table" or (recipe[0] in ENDS and any(map(_has_tables, recipe[1:])))


def truth_between(comparison: Any, left: Ends, right: Ends) -> tuple[Any, Any]:
    """Where a comparison certainly holds, and where it may."""
    assert left is not None
    assert right is not None
    if comparison in (np.greater, np.greater_equal):
        comparison = np.less if comparison is np.greater else np.less_equal
        left, right = right, left
    if comparison in (np.less, np.less_equal):
        return comparison(left[1], right[0]), comparison(left[0], right[1])
    assert comparison in COMPARISONS
    certain = (left[0] == left[1]) & (right[0] == right[1]) & (left[0] == right[0])
    possible = (left[0] <= right[1]) & (right[0] <= left[1])
    return (certain, possible) if comparison is np.equal else (~possible, ~certain)


# Intervals that are left open at a time, where a comparison is divided.
_MOST_OPEN = 32


def find_cuts(condition: RowCondition, low: float, high: float) -> list[float] | None:
    """The first floats of all intervals but the first in which a comparison of one column is alike.

    None where they are many, or not found: ends of a difference of equal numbers are never equal.
    """
    [name] = condition.reals
    starts, stops = _places_of_floats(np.array([low])), _places_of_floats(np.array([high]))
    settled: list[tuple[int, bool]] = []
    while len(starts):
        ends = _floats_at(starts), _floats_at(stops)
        pair = [_ends_between(side, {name: ends}) for side in (condition.left, condition.right)]
        if None in pair:
            return None
        truths = truth_between(condition.comparison, *pair)
        certain, possible = (np.broadcast_to(truth, starts.shape) for truth in truths)
        is_open = certain != possible
        settled += zip(starts[~is_open].tolist(), certain[~is_open].tolist(), strict=True)
        starts, stops = starts[is_open], stops[is_open]
        if len(starts) > _MOST_OPEN or (starts == stops).any():
            return None
        middle = (starts >> 1) + (stops >> 1) + (starts & stops & 1)
        starts, stops = np.concatenate([starts, middle + 1]), np.concatenate([middle, stops])
    settled.sort()
    changes = [right[0] for left, right in pairwise(settled) if left[1] != right[1]]
    cuts: list[float] = _floats_at(np.array(changes, dtype=np.int64)).tolist()
    return cuts


def _ends_between(recipe: Recipe, entries: Mapping[str, tuple[Table, Table]]) -> Ends:
    """Between which floats an entry lies where the real numbers do; None where it may fail."""
    kind, *rest = recipe
    if kind == "real":
        return entries[rest[0]]
    if kind == "number":
        return np.array(rest[1]), np.array(rest[1])
    parts = [_ends_between(part, entries) for part in rest]
    pairs = [part for part in parts if part is not None]
    if len(pairs) < len(parts):
        return None
    lows, highs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if not is_safe(kind, lows, highs):
        return None
    with np.errstate(all="ignore"):
        ends = ENDS[kind](kind, lows, highs)
    return None if ends is None or any(np.isnan(end).any() for end in ends) else ends


def _places_of_floats(numbers: Table) -> NDArray[np.int64]:
    """Whole numbers in the order of the floats, next to each other."""
    words = (numbers + 0.0).view(np.int64)
    return np.where(words < 0, np.iinfo(np.int64).min - words, words)


def _floats_at(places: NDArray[np.int64]) -> Table:
    words = np.where(places < 0, np.iinfo(np.int64).min - places, places)
    return words.view(np.float64)
