"""``array.flat`` of an array of symbolic values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import COMPARISONS, Symbolic, concretise_all
from liptest.values.unfollowed import Unfollowed


class FlatEntries(Unfollowed):
    """The entries of an array in line, as ``array.flat``, which is walked once."""

    __slots__ = ("_array", "_place")

    described = "array.flat"

    def __init__(self, array: Any) -> None:
        self._array = array
        self._place = 0

    def refuse(self, use: str) -> NoReturn:
        """End the analysis."""
        array: Symbolic = self._array
        array.refuse(use)

    @raises_as_numpy
    def __len__(self) -> int:
        return int(self._array.size)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> FlatEntries:
        return self

    def __next__(self) -> Any:
        if self._place >= len(self):
            raise StopIteration
        self._place += 1
        return self._array.ravel()[self._place - 1]

    @raises_as_numpy
    def __getitem__(self, index: Any) -> Any:
        self._place = 0
        return self._array.ravel()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._place = 0
        places = np.arange(len(self))[concretise_all(index, "an index")]
        self._array[np.unravel_index(places, self._array.shape)] = value

    def copy(self) -> Any:
        """The entries as an array of their own."""
        return self._array.ravel().copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._array.ravel(), dtype=dtype)


def _flat_comparison(comparison: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: comparison(self.copy(), other)


for _compared in COMPARISONS.values():
    setattr(FlatEntries, f"__{_compared.__name__}__", _flat_comparison(_compared))
