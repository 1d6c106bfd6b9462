"""Rounding and clipping of numbers with noise."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from liptest.whitebox.noise.arithmetic import compared_any
from liptest.whitebox.noise.numbers import Noisy, is_nan, is_noisy


def truncated(number: Any, kind: Any) -> Any:
    """Cut off towards 0."""
    if not is_noisy(number):
        return kind(math.trunc(number))
    if number.is_whole:
        return number.typed(kind)
    return number.rounded("floor" if number.compared(operator.ge, 0) else "ceil", kind)


def rounded_to(number: Any, decimals: Any, kind: Any, own: Any = np.round) -> Any:
    """Rounded to decimals; ``own`` decides where floats do, as halves are no binary fractions."""
    places = operator.index(decimals)
    if issubclass(kind, (int, np.integer)) and places >= 0:
        return number
    if places == 0:
        return number.rounded("rint", kind)
    if not number.is_precise:
        return kind(own(number.settled("round()"), places))
    scale: Any = 10 ** abs(places)
    scaled = number * scale if places > 0 else number / scale
    whole = scaled.rounded("rint", kind)
    return whole / scale if places > 0 else whole * scale


def clipped(number: Any, low: Any, high: Any) -> Any:
    """``min(max(number, low), high)`` as ``numpy.clip``; None is no bound."""
    kind = getattr(number, "_looks_like", type(number))
    if is_nan(low) or is_nan(high):
        return kind(math.nan)
    if low is not None and bool(compared_any(operator.lt, number, low)):
        number = low
    if high is not None and bool(compared_any(operator.gt, number, high)):
        number = high
    return number.typed(kind) if is_noisy(number) else kind(number)


def _round(self: Noisy, decimals: int = 0) -> Any:
    """As ``numpy.round``."""
    return rounded_to(self, decimals, self._looks_like)


def _builtin_round(self: Noisy, digits: Any = None) -> Any:
    if digits is None:
        return self.rounded("rint", int)
    return rounded_to(self, digits, self._looks_like, round)


def _int(self: Noisy) -> int:
    found = truncated(self, int)
    return int(found.settled("int()") if is_noisy(found) else found)


_METHODS: dict[str, Any] = {
    "round": _round,
    # What NumPy asks of an entry of an array of objects.
    "rint": lambda self: self.rounded("rint", self._looks_like),
    "clip": lambda self, low=None, high=None: clipped(self, low, high),
    "__floor__": lambda self: self.rounded("floor", int),
    "__ceil__": lambda self: self.rounded("ceil", int),
    "__trunc__": lambda self: truncated(self, int),
    "__round__": _builtin_round,
    "__int__": _int,
}


for _name, _method in _METHODS.items():
    setattr(Noisy, _name, _method)
