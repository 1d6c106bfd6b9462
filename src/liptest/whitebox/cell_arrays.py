"""What arrays of objects that stand for numbers have in common: shape, truth, operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.faults import raises_as_numpy
from liptest.whitebox.ducks import Duck


class CellArray(Duck):
    """An array of which each entry is an object of its own, or a plain number."""

    __slots__ = ("_cells",)

    _looks_like = np.ndarray
    __hash__ = Duck.__hash__
    _cells: NDArray[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return self._cells.shape

    @property
    def ndim(self) -> int:
        """As of an array."""
        return self._cells.ndim

    @property
    def size(self) -> int:
        """As of an array."""
        return self._cells.size

    @raises_as_numpy
    def __len__(self) -> int:
        return len(self._cells)

    @raises_as_numpy
    def __bool__(self) -> bool:
        if self.size != 1:
            return bool(np.zeros(self.shape))  # NumPy's own error
        return bool(self.item() != 0)


def operator_method(ufunc: Any, *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """An operator that NumPy's function of it answers."""

    def method(self: Any, other: Any) -> Any:
        return ufunc(other, self) if swapped else ufunc(self, other)

    return method


def written_into(ufunc: Any) -> Callable[[Any, Any], Any]:
    """An operator as ``+=`` that puts what NumPy's function answers into the array."""

    def method(self: Any, other: Any) -> Any:
        self[...] = ufunc(self, other)
        return self

    return method


def give_operators(
    kind: type[Duck],
    ufuncs: Mapping[str, Any],
    in_place: Callable[[Any], Callable[[Any, Any], Any]] = written_into,
) -> None:
    """Give a class the operators with these names: ``a + b``, ``b + a`` and ``a += b``."""
    for name, ufunc in ufuncs.items():
        setattr(kind, f"__{name}__", operator_method(ufunc))
        setattr(kind, f"__r{name}__", operator_method(ufunc, swapped=True))
        setattr(kind, f"__i{name}__", in_place(ufunc))


def give_methods(kind: type[Duck], names: Iterable[str]) -> None:
    """Give a class the methods that NumPy's functions of these names answer."""
    for name in names:
        setattr(kind, name, _answered_by(getattr(np, name)))


def _answered_by(function: Any) -> Callable[..., Any]:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        return function(self, *arguments, **options)

    return method
