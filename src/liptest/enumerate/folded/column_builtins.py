"""Functions of Python and its library that walk over records: what stands for each in ``Folds``.

And methods of plain arrays that are given what is symbolic: NumPy's functions of the same names.
"""

from __future__ import annotations

import builtins
import collections
import functools
import heapq
import math
import statistics
from collections.abc import Callable
from types import BuiltinMethodType
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.protocol import NUMPY, first_symbolic

#: By the name of the method of ``Folds``.
OVER_COLUMNS: dict[str, Any] = {
    "sum": builtins.sum,
    "len": builtins.len,
    "any": builtins.any,
    "all": builtins.all,
    "list": builtins.list,
    "to_tuple": builtins.tuple,
    "counter": collections.Counter,
    "fsum": math.fsum,
    "mean": statistics.mean,
    "fmean": statistics.fmean,
    "reduce": functools.reduce,
    "max": builtins.max,
    "min": builtins.min,
    "zip": builtins.zip,
    "iterator": builtins.iter,
    "dict": builtins.dict,
    "sorted": builtins.sorted,
    "nlargest": heapq.nlargest,
    "nsmallest": heapq.nsmallest,
    "median": statistics.median,
    **{name: vars(statistics)[name] for name in ("variance", "pvariance", "stdev", "pstdev")},
}

#: Of an array ``a.dot(b)`` is ``numpy.dot(a, b)``, whatever b is.
_AS_FUNCTIONS: dict[str, Callable[..., Any]] = {
    one.__name__: one for one in (np.dot, np.searchsorted, np.take, np.clip)
}
_SEEN_AS_CALLS = (functools.reduce, builtins.zip, builtins.iter, builtins.dict)


def find_walked_arguments(function: Any) -> slice:
    """Which arguments such a function walks over."""
    if function in (builtins.len, builtins.dict, builtins.iter):
        return slice(0)
    if function is builtins.zip:
        return slice(None)
    second = (functools.reduce, heapq.nlargest, heapq.nsmallest)
    return slice(1, 2) if function in second else slice(1)


def over_columns(function: Any, folds: Any) -> Callable[..., Any] | None:
    """What takes the place of a function that was handed on: ``f(data)`` with ``sum`` for f.

    None for others, and for those of which the call itself has to be seen.
    """
    if type(function) is BuiltinMethodType and type(function.__self__) is np.ndarray:
        return _method_of_array(function)
    names = (name for name, own in OVER_COLUMNS.items() if own is function)
    method = getattr(folds, next(names, ""), None)
    if method is None or function in _SEEN_AS_CALLS:
        return None

    def call(*arguments: Any, **named: Any) -> Any:
        return (method if arguments else function)(*arguments, **named)

    return call


def _method_of_array(method: Any) -> Callable[..., Any] | None:
    """``array.dot``, which compiled code would answer; None where there is no such function."""
    owner, as_function = method.__self__, _AS_FUNCTIONS.get(method.__name__)
    if as_function is None:
        return None

    def call(*arguments: Any, **named: Any) -> Any:
        if type(first_symbolic((*arguments, *named.values()))) is not SymbolicArray:
            return method(*arguments, **named)
        return NUMPY.function(as_function, (owner, *arguments), named)

    return call
