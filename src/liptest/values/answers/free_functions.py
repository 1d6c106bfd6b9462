"""Functions of numbers that are known to the outside: what follows from them is known, too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.protocol import is_symbolic

#: Functions of numbers that are known that follow from them, finite where they are.
TOTAL = frozenset(
    {np.maximum, np.minimum, np.fmax, np.fmin, np.absolute, np.fabs, np.sign, np.square}
    | {np.rint, np.floor, np.ceil, np.trunc, np.tanh, np.arctan, np.sin, np.cos}
)
FREE = TOTAL | {np.exp, np.log, np.sqrt, np.log1p, np.expm1, np.log2, np.log10, np.exp2}
#: Functions of arrays, of which the shape of the result follows from that of the array.
ALWAYS_RELEASED = frozenset(
    {np.median, np.percentile, np.quantile, np.std, np.var, np.ptp, np.bincount, np.linalg.norm}
)
FREE_FUNCTIONS = ALWAYS_RELEASED | {
    *(np.argmax, np.argmin, np.max, np.min, np.amax, np.amin, np.sort, np.argsort),
}
#: Those that are sums of noise where their numbers are: of known numbers alone they are free.
OF_KNOWN = frozenset({np.sum, np.mean, np.cumsum})
# Those that give numbers between the smallest and the largest of the array, but for rounding.
_BETWEEN = frozenset(
    {np.median, np.percentile, np.quantile, np.max, np.min, np.amax, np.amin, np.sort}
)
# Sums of squares of such numbers are floats.
_LARGEST_SQUARED = 2.0**500
FINITE: dict[Any, Any] = {np.isnan: np.False_, np.isinf: np.False_, np.isfinite: np.True_}


def to_whole(how: str, kind: Any, value: Any) -> Any:
    """A known number, rounded as the function of NumPy of this name does."""
    return kind(getattr(np, how)(value))


def to_decimals(own: Any, kind: Any, decimals: int, value: Any) -> Any:
    """A known number, rounded to decimals by a function of its own."""
    return kind(own(value, decimals))


class SharedCall:
    """A function of NumPy of an array of known numbers, with all its entries."""

    def __init__(self, function: Any, more: Any, options: Any, array: SymbolicArray) -> None:
        self._function = function
        self._more = more
        self._options = options
        self._shape = array.shape
        self._dtype = array.dtype

    @property
    def key(self) -> Any:
        """The same for calls that do the same."""
        words = repr(self._more), repr(sorted(self._options.items()))
        return self._function, words, self._shape, self._dtype

    def ends(self, parts: list[tuple[float, float]]) -> tuple[float, float] | None:
        """Between which floats its entries lie, where its numbers lie between these; or None."""
        low, high = min(part[0] for part in parts), max(part[1] for part in parts)
        size = max(abs(low), abs(high))
        if self._function is np.linalg.norm and size <= _LARGEST_SQUARED:
            is_one = self._more in ((), (1,), (2,), (math.inf,)) and not self._options
            return (0.0, len(parts) * size * (1 + 2.0**-40)) if is_one else None
        if self._function in _BETWEEN:
            return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        return None

    def entry(self, place: int, *values: Any) -> Any:
        """One entry of the result."""
        array = np.array(values, self._dtype).reshape(self._shape)
        return np.ravel(self._function(array, *self._more, **self._options))[place]


def is_positive(value: Any, released: Any) -> bool:
    """Whether it is the larger of known numbers, one of which is a constant above 0."""
    if not isinstance(value, released) or value.function not in (np.maximum, max):
        return False
    return any(not is_symbolic(part) and part > 0 for part in value.arguments)
