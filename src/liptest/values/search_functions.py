"""``numpy.searchsorted`` and ``numpy.digitize``: where a number lies among ascending ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np

from liptest.values.answers.weights import are_running_totals
from liptest.values.array import SymbolicArray, cells_of
from liptest.values.numpy_functions import NOT_ANSWERED, follows
from liptest.values.protocol import Symbolic, is_symbolic


@follows(np.searchsorted)
def _searchsorted(entries: Any, number: Any, side: str = "left", sorter: Any = None) -> Any:
    if sorter is not None or side not in ("left", "right"):
        return NOT_ANSWERED
    listed = entries.tolist() if type(entries) is np.ndarray else entries
    if type(entries) is SymbolicArray:
        listed = cells_of(entries).tolist()
    if type(listed) in (list, tuple) and any(map(is_symbolic, listed)):
        return _search_totals(list(listed), number, side)
    if issubclass(type(entries), Symbolic) or not is_symbolic(number):
        return NOT_ANSWERED
    ascending = np.asarray(entries, dtype=np.float64)
    if ascending.ndim != 1 or not np.all(ascending[:-1] <= ascending[1:]):
        number.refuse("numpy.searchsorted or digitize, in what is not ascending")
    return _place(ascending.tolist(), number, side)


def _place(ascending: list[Any], number: Any, side: str) -> np.intp:
    search = bisect_right if side == "right" else bisect_left
    return np.intp(search(ascending, number))


def _search_totals(totals: list[Any], number: Any, side: str) -> Any:
    """Among running totals of weights, which are known to ascend."""
    if not are_running_totals(totals):
        return NOT_ANSWERED
    if is_symbolic(number):
        return _place(totals, number, side)
    if type(number) is not SymbolicArray or number.ndim != 1:
        return NOT_ANSWERED
    return np.array([_place(totals, one, side) for one in cells_of(number)], np.intp)


@follows(np.digitize)
def _digitize(number: Any, bins: Any, right: Any = False) -> Any:
    if not is_symbolic(number):
        return NOT_ANSWERED
    return _searchsorted(bins, number, "left" if right else "right")
