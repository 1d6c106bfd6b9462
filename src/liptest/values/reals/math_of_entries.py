"""Functions of Python's module math of the number of one record: ``math.exp(v)``.

They are those of the C library, as NumPy's are, but each of one float: where NumPy gives infinity
or NaN they raise, so they are followed where no record is taken there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.reals.real_column import RealEntry
from liptest.values.reals.recipes import ABOUT, Ends, Table

# ``math.exp`` of more raises.
_LARGEST = 709.0
_RAISING = (np.exp, np.exp2, np.expm1)


class OfMath:
    """A function of the module math, of each entry of an array."""

    def __init__(self, function: Callable[[float], float], alike: np.ufunc) -> None:
        self.function = function
        self.alike = alike
        self.__name__ = function.__name__

    def __call__(self, numbers: Any) -> Table:
        entries = np.asarray(numbers, dtype=np.float64)
        made = [self.function(entry) for entry in entries.ravel().tolist()]
        return np.array(made, dtype=np.float64).reshape(entries.shape)

    def ends(self, ufunc: Any, lows: list[Table], highs: list[Table]) -> Ends:
        """As of NumPy's function, where none raises."""
        if self.alike in _RAISING and not (highs[0] <= _LARGEST).all():
            return None
        return ABOUT[self.alike](self.alike, lows, highs)


_ALIKE: dict[str, np.ufunc] = {
    **{"exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "tanh": np.tanh, "atan": np.arctan},
    **{"cbrt": np.cbrt, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p},
}
#: What is followed, by the function of the module math; a root is rounded correctly by both.
_FUNCTIONS: dict[Any, Any] = {math.sqrt: np.sqrt, math.fabs: np.fabs} | {
    function: OfMath(function, alike)
    for name, alike in _ALIKE.items()
    if (function := getattr(math, name, None)) is not None
}
_OF_FINITE: dict[Any, bool] = {math.isnan: False, math.isinf: False, math.isfinite: True}
ABOUT.update({one: one.ends for one in _FUNCTIONS.values() if type(one) is OfMath})


def apply_math(entry: RealEntry, function: Any, *more: Any) -> Any:
    """``function(entry)``."""
    if function in _OF_FINITE and math.isfinite(entry.largest):
        return _OF_FINITE[function]
    if function not in _FUNCTIONS or more:
        return entry.refuse(f"math.{function.__name__}")
    return entry.made(_FUNCTIONS[function], (entry,), is_numpy=False)


RealEntry.of_math = staticmethod(apply_math)
