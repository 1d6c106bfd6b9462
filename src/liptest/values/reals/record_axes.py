"""Reductions within a record: the nearest of some points, the largest of some scores, norms.

``X[:, None] - points`` has an array of numbers for each record. A reduction along one of its axes,
but for the first, which is that of the records, is NumPy's own of the table of all values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from liptest.values.column_functions import bincount_of_records, sums_by_place
from liptest.values.protocol import Symbolic, is_symbolic

# Rules of other axes.
from liptest.values.records import (  # noqa: F401
    blocks,
    masked_column,
    ranked_records,
    spread_of_records,
)
from liptest.values.records.column import APART, FUNCTIONS, Column, find_column
from liptest.values.records.record_storage import RecordStorage, read_options

_NO_VALUE: Any = np._NoValue
#: Numbers that are added up in one way only: a first and a second.
FEW_ADDED = 2
# Of which a small relative change of the numbers makes a small one of the result.
_SUMS = (np.sum, np.mean, np.linalg.norm)
_ROWS = 2
_ORDERS = (np.max, np.min)
_PLACES = {np.argmin: 1, np.argmax: -1}


def axes_within(axis: Any, dimensions: int) -> tuple[int, ...] | None:
    """The axes, but for that of the records, that a reduction is over; None for others."""
    given = axis if isinstance(axis, tuple) else (axis,)
    try:
        places = tuple(operator.index(place) % dimensions for place in given)
    except TypeError:
        return None
    in_range = all(-dimensions <= place < dimensions for place in given)
    return places if places and in_range and 0 not in places else None


def _reduce(
    function: Any, array: Any, axis: Any = None, keepdims: Any = _NO_VALUE, **options: Any
) -> Any:
    """By record; NotImplemented where it is over the records, too."""
    column = find_column(array)
    if column is None or is_symbolic(axis) or read_options(options):
        return NotImplemented
    axes = axes_within(axis, column.own.ndim)
    if axes is None:
        return NotImplemented
    table, keep = column.own, {"keepdims": True} if keepdims is True else {}
    use = f"numpy.{function.__name__}"
    if function in _PLACES:
        return _place(column, function, axes, keep, use)
    if column.is_off and function not in _SUMS + _ORDERS:
        return column.refuse(f"{use} of floats that are rounded in an unknown order")
    whole = partial(function, table, axis=axes if len(axes) > 1 else axes[0], **keep)
    made = column.calculated(whole, use)
    added = np.prod([table.shape[place] for place in axes])
    is_rounded = function in _SUMS and made.dtype.kind == "f" and added > FEW_ADDED
    return column.like(made, is_off=column.is_off or is_rounded)


def _place(column: Column, function: Any, axes: Any, keep: dict[str, Any], use: str) -> Any:
    """The first place of the smallest or the largest; those that are so close are refused."""
    if len(axes) > 1:
        return NotImplemented
    table = column.own
    if column.is_off and table.shape[axes[0]] > 1:
        ranked = np.sort(_PLACES[function] * table, axis=axes[0])
        first, second = (np.take(ranked, place, axis=axes[0]) for place in (0, 1))
        if not np.all(second - first > APART * np.abs(table).max(axis=axes[0])):
            return column.refuse(f"{use} of floats that are rounded in an unknown order")
    made = column.calculated(lambda: function(table, axis=axes[0], **keep), use)
    return column.like(made, is_off=False)


def _norm(array: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if issubclass(type(ord), Symbolic) or isinstance(ord, str):
        return NotImplemented
    column = find_column(array)
    axes = None if column is None or is_symbolic(axis) else axes_within(axis, column.own.ndim)
    if column is None or axes is None or len(axes) > 1 or is_symbolic(keepdims):
        return NotImplemented
    made = column.calculated(
        lambda: np.linalg.norm(column.own, ord, axis=axes[0], keepdims=bool(keepdims)),
        "numpy.linalg.norm",
    )
    is_euclidean = ord is None or ord == 2
    few = is_euclidean and column.own.shape[axes[0]] <= FEW_ADDED
    return column.like(made, is_off=column.is_off or not few)


def _within(function: Any, otherwise: Callable[..., Any] | None) -> Callable[..., Any]:
    """A rule for axes within a record, and what follows the function else."""

    def rule(*arguments: Any, **options: Any) -> Any:
        made = NotImplemented
        if 1 <= len(arguments) <= 2:
            made = _reduce(function, *arguments, **options)
        if made is not NotImplemented or otherwise is None:
            return made
        return otherwise(*arguments, **options)

    return rule


for _function in (*_SUMS[:2], *_ORDERS, *_PLACES, np.prod, np.any, np.all, np.count_nonzero):
    FUNCTIONS[_function] = _within(_function, FUNCTIONS.get(_function))
FUNCTIONS[np.linalg.norm] = _norm


def add_at(array: Any, places: Any, numbers: Any) -> None:
    """``numpy.add.at`` of zeros: the sum of the numbers, or the rows, of each place."""
    storage = numbers.storage
    if any(is_symbolic(cell) or cell != 0 for cell in array.cells.flat):
        storage.refuse("numpy.add.at() into numbers that are not 0")
    if array.ndim != numbers.ndim or array.ndim > _ROWS:
        storage.refuse("numpy.add.at() of arrays of other shapes")
    if array.ndim == 1:
        array[...] = sums_by_place(places, numbers, len(array), array.dtype)
        return
    for part in range(array.shape[1]):
        array[:, part] = sums_by_place(places, numbers[:, part], len(array), array.dtype)


RecordStorage.add_at = staticmethod(add_at)
Column.bincount = staticmethod(bincount_of_records)
