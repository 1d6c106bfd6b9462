"""Functions of numbers that are known to the outside: what follows from them is known, too."""

from __future__ import annotations

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
    {np.median, np.percentile, np.quantile, np.std, np.var, np.ptp, np.bincount}
)
FREE_FUNCTIONS = ALWAYS_RELEASED | {
    *(np.argmax, np.argmin, np.max, np.min, np.amax, np.amin, np.sort, np.argsort),
}
#: Those that are sums of noise where their numbers are: of known numbers alone they are free.
OF_KNOWN = frozenset({np.sum, np.mean, np.cumsum})
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

    def entry(self, place: int, *values: Any) -> Any:
        """One entry of the result."""
        array = np.array(values, self._dtype).reshape(self._shape)
        return np.ravel(self._function(array, *self._more, **self._options))[place]


def is_positive(value: Any, released: Any) -> bool:
    """Whether it is ``numpy.maximum`` of known numbers, one of which is a constant above 0."""
    if type(value) is not released or value.function is not np.maximum:
        return False
    return any(not is_symbolic(part) and part > 0 for part in value.arguments)
