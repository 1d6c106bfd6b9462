"""Bins of real numbers of records: ``np.histogram``, ``np.digitize``, ``(x // 10).astype(int)``.

The bin of a number is that of how many edges it is not below, so it is found by comparisons with
the edges, which cut the cells (docs/theory/tables.md, B6). Whole numbers of a column are bins, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from liptest.values.answers.released_numbers import find_bins, has_edges_of_both
from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.protocol import is_symbolic
from liptest.values.reals.real_column import FUNCTIONS, RealColumn

# Edges that are compared with.
_MOST = 512


def _histogram(
    column: RealColumn, array: Any, bins: Any = 10, range: Any = None, **options: Any
) -> Any:
    """Counts between constant edges, and the edges; the last bin has its end."""
    if any(option is not None and option is not False for option in options.values()):
        return NotImplemented
    if any(map(is_symbolic, (bins, range))):
        return NotImplemented
    if isinstance(bins, str) or (np.ndim(bins) == 0 and range is None):
        return column.refuse(
            "numpy.histogram with edges that depend on the data", "give its edges, or range="
        )
    try:
        _, edges = np.histogram([0.0], bins, range)
    except Exception as error:
        return column.refuse(f"numpy.histogram ({error})")
    counts = [np.sum(inside) for inside in find_bins(array, edges.tolist())]
    cells = fill_array(counts, (len(counts),), object)
    return make_array(column.branching, cells, np.dtype(np.int64)), edges


def _histogram2d(
    column: RealColumn, x: Any, y: Any, bins: Any = 10, range: Any = None, **options: Any
) -> Any:
    """Counts between constant edges of two columns, and both edges."""
    if any(option is not None and option is not False for option in options.values()):
        return NotImplemented
    axes = bins if isinstance(bins, (list, tuple)) else [bins]
    if any(map(is_symbolic, (*axes, range))) or not type(x) is type(y) is SymbolicArray:
        return NotImplemented
    if range is None and not has_edges_of_both(bins):
        return column.refuse(
            "numpy.histogram2d with edges that depend on the data", "give its edges, or range="
        )
    try:
        _, *edges = np.histogram2d([0.0], [0.0], bins, range)
    except Exception as error:
        return column.refuse(f"numpy.histogram2d ({error})")
    across = find_bins(y, edges[1].tolist())
    counts = [
        np.sum((one & other).astype(np.float64))
        for one in find_bins(x, edges[0].tolist())
        for other in across
    ]
    cells = fill_array(counts, (len(edges[0]) - 1, len(across)), object)
    return make_array(column.branching, cells, np.dtype(np.float64)), *edges


def _places(column: RealColumn, array: Any, edges: Any, *, is_right: bool, use: str) -> Any:
    """How many edges are at most (``is_right``), or below, the number of a record."""
    if is_symbolic(edges) or np.ndim(edges) != 1 or array.storage is not column:
        return NotImplemented
    levels = np.asarray(edges)
    if levels.dtype.kind not in "iuf" or not len(levels) or (np.diff(levels) < 0).any():
        return NotImplemented
    if len(levels) > _MOST or not np.isfinite(levels).all():
        return column.refuse(f"{use} with more than {_MOST} edges, or infinite ones")
    numbers = levels.astype(np.float64).tolist()
    reached = [array >= edge if is_right else array > edge for edge in numbers]
    return _count(reached)


def _count(truths: list[Any]) -> Any:
    total = truths[0].astype(np.int64)
    for truth in truths[1:]:
        total = total + truth.astype(np.int64)
    return total


def _digitize(column: RealColumn, array: Any, bins: Any, right: Any = False) -> Any:
    return _places(column, array, bins, is_right=not right, use="numpy.digitize")


def _searchsorted(
    column: RealColumn, edges: Any, array: Any, side: Any = "left", sorter: Any = None
) -> Any:
    if sorter is not None or side not in ("left", "right") or type(array) is not SymbolicArray:
        return NotImplemented
    return _places(column, array, edges, is_right=side == "right", use="numpy.searchsorted")


def _whole_numbers(column: RealColumn) -> Any:
    """Cut off towards 0, as ``astype(int)`` does: how many whole numbers are at most it."""
    array: Any = np.trunc(SymbolicArray(column))
    low, high = float(array.storage.low.min()), float(array.storage.high.max())
    if not (math.isfinite(low) and math.isfinite(high)) or high - low > _MOST:
        return column.refuse(
            f"astype(int64) of more than {_MOST} whole numbers", "clip it, or use np.floor"
        )
    first, last = int(low), int(high)
    reached = [array >= float(number) for number in range(first + 1, last + 1)]
    if not reached:
        return (array >= low).astype(np.int64) * first
    return first + _count(reached)


RealColumn.whole_numbers = staticmethod(_whole_numbers)
FUNCTIONS[np.histogram] = _histogram
FUNCTIONS[np.histogram2d] = _histogram2d
FUNCTIONS[np.digitize] = _digitize
FUNCTIONS[np.searchsorted] = _searchsorted
