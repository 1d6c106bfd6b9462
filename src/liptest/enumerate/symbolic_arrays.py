"""``numpy.array`` and the like of symbolic data: NumPy's own ask for plain numbers at once.

During an analysis of symbolic data the names stand for functions that keep a symbolic array, and
make one of a list of symbolic numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.enumerate.analysis_session import Session, follower
from liptest.values.array import SymbolicArray, array_of, filled
from liptest.values.protocol import is_symbolic
from liptest.values.record_list import RecordList

_MAKING = (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)


def replacements() -> dict[int, Any]:
    """Stand-ins by the id of the original."""
    return {
        id(original): follower(original, _keeping(original), draws=False) for original in _MAKING
    }


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
