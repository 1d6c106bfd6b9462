"""``numpy.array`` and the like of symbolic data: NumPy's own ask for plain numbers at once.

During an analysis of symbolic data the names stand for functions that keep a symbolic array, and
make one of a list of symbolic numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.enumerate.analysis_session import Session, follower
from liptest.values.array import CellStorage, SymbolicArray, array_of, as_cells, filled
from liptest.values.lines import place_of
from liptest.values.protocol import is_symbolic
from liptest.values.record_list import RecordList
from liptest.values.record_series import RecordSeries

# Of constants, into which numbers that data determine may be written.
_FILLED = (np.zeros, np.ones, np.full)
_MOST_FILLED = 4096
_MAKING = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)


def replacements() -> dict[int, Any]:
    """Stand-ins by the id of the original; of pandas, too, where it is loaded."""
    pandas = sys.modules.get("pandas")
    cut = None if pandas is None else vars(pandas).get("cut")
    return _of_numpy() if cut is None else _of_numpy() | _of_pandas(cut)


@lru_cache
def _of_pandas(cut: Any) -> dict[int, Any]:
    return {id(cut): follower(cut, _cutting(cut), draws=False)}


def _cutting(original: Callable[..., Any]) -> Callable[..., Any]:
    """``pandas.cut`` of a symbolic column."""

    def make(session: Session, values: Any, *more: Any, **options: Any) -> Any:
        if type(values) is RecordSeries:
            return values.cut_at(*more, **options)
        return original(values, *more, **options)

    return make


@lru_cache
def _of_numpy() -> dict[int, Any]:
    found = {id(one): follower(one, _keeping(one), draws=False) for one in _MAKING}
    return found | {id(one): follower(one, _filling(one), draws=False) for one in _FILLED}


def _filling(original: Callable[..., Any]) -> Callable[..., Any]:
    def make(session: Session, *arguments: Any, **options: Any) -> Any:
        found = original(*arguments, **options)
        run = session.tree.noise
        if run is None or not run.has_answers:
            return found
        caller = sys._getframe(2)  # of the stand-in
        if place_of(caller)[0] != caller.f_code.co_filename:
            return found
        if not session.fills_symbolic:
            session.filled_plain = True
            return found
        if found.dtype not in (np.float64, np.int64) or found.size > _MOST_FILLED:
            return found
        return SymbolicArray(CellStorage(session.tree, as_cells(found), found.dtype))

    return make


def _keeping(original: Callable[..., Any]) -> Callable[..., Any]:
    def make(session: Session, value: Any, dtype: Any = None, *more: Any, **options: Any) -> Any:
        found = _symbolic_array(session, value)
        if found is None or more or options.keys() - {"copy"}:
            return original(value, dtype, *more, **options)
        copy = options.get("copy", original is np.array)
        if dtype is not None and np.dtype(dtype) != found.dtype:
            return found.astype(dtype)
        return found.copy() if copy and found is value else found

    return make


def _symbolic_array(session: Session, value: Any) -> Any:
    """The value as a symbolic array; None for all else."""
    run = session.tree.noise
    if run is None or not run.has_answers:
        return None
    if type(value) is SymbolicArray:
        return value
    if type(value) is RecordList:
        return value.column()
    if type(value) not in (list, tuple) or not any(map(is_symbolic, value)):
        return None
    if not all(is_symbolic(one) or isinstance(one, (int, float, np.generic)) for one in value):
        return None
    kinds = [one.kind if is_symbolic(one) else type(one) for one in value]
    dtype = np.array([kind(1) for kind in kinds]).dtype
    return array_of(session.tree, filled(list(value), (len(value),), object), dtype)
