"""``max(0, x)``, ``sorted(noisy)`` of numbers known to the outside: their order is not asked.

Python gives back one of the two objects, so the type of the result may depend on which one it is
(``max(0, x)`` is a float or the int 0). Where the types differ it is asked as soon as the type
matters, and not before: as an output, or as ``float(max(0, x))``, it never does.

Of many such numbers, ``min(a, b, c)`` or ``sorted(noisy)``, the same holds: each entry of the
result is a function of what is known, so there is one path, whatever the order is (docs/theory,
size, S7).
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from liptest.values.answers.aligned import AlignedRun, AlignedValue, NoisyData, ReleasedValue
from liptest.values.array import fill_array, make_array
from liptest.values.protocol import is_symbolic

_PLAIN = (int, float, np.int64, np.float64)
_NUMBERS = (np.dtype(np.int64), np.dtype(np.float64))


def best_of_two(written: Any, left: Any, right: Any) -> Any:
    """``max(left, right)`` or min; None where that is not a function of what is released."""
    for operand in (left, right):
        if issubclass(type(operand), NoisyData) and operand.run.is_curved:
            name = "maximum" if written is builtins.max else "minimum"
            return operand.run.larger(name, left, right)
    runs = [
        operand.run for operand in (left, right) if type(operand) in (AlignedValue, ReleasedValue)
    ]
    if not runs or not runs[0].releases or not all(map(_may_be_released, (left, right))):
        return None
    run: AlignedRun = runs[0]
    released = [
        operand.released(written.__name__) if is_symbolic(operand) else operand
        for operand in (left, right)
    ]
    kinds = {operand.kind if is_symbolic(operand) else type(operand) for operand in released}
    made = ReleasedValue if len(kinds) == 1 else _OfEitherType
    return made(run, min(kinds, key=str), written, tuple(released))


def best_of_known(written: Any, values: Sequence[Any]) -> Any:
    """``max(values)`` or min of several; None where that is not a function of what is released."""
    if len(values) < 2 or not _are_known(values):
        return None
    left = list(values)
    while len(left) > 1:
        # In pairs of pairs: the first of equal ones is kept, as Python does.
        pairs = [best_of_two(written, *left[k : k + 2]) for k in range(0, len(left) - 1, 2)]
        if any(best is None for best in pairs):  # of several types
            return None
        left = pairs + left[len(left) // 2 * 2 :]
    return left[0]


def place_of_known(place_of: Any, values: Sequence[Any]) -> int | None:
    """``np.argmax(values)`` or argmin, with a path for each place; None as above."""
    array = _as_array(values)
    return None if array is None else int(place_of(array))


def sort_known(values: Sequence[Any], *, descends: bool = False) -> list[Any] | None:
    """``sorted(values)``, where all are of one type; None as above."""
    array = _as_array(values)
    if array is None:
        return None
    kinds = {value.kind if is_symbolic(value) else type(value) for value in values}
    if len(kinds) > 1:
        return None
    (kind,) = kinds
    in_order: Any = np.sort(array)
    ordered = [entry.typed(kind) for entry in in_order.cells]
    return ordered[::-1] if descends else ordered


def median_known(values: Sequence[Any]) -> Any:
    """``statistics.median(values)``; None as above."""
    ordered = sort_known(values)
    if ordered is None:
        return None
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _as_array(values: Sequence[Any]) -> Any:
    if len(values) < 2 or not _are_known(values):
        return None
    first = next(filter(is_symbolic, values))
    models = [value.kind(0) if is_symbolic(value) else value for value in values]
    dtype = np.array(models).dtype
    if dtype not in _NUMBERS:
        return None
    return make_array(first.run.tree, fill_array(list(values), (len(values),), object), dtype)


def _are_known(values: Sequence[Any]) -> bool:
    """Whether all are released, or may be, and some are symbols of a run that releases."""
    noisy = [value for value in values if type(value) in (AlignedValue, ReleasedValue)]
    return bool(noisy) and noisy[0].run.releases and all(map(_may_be_released, values))


def _may_be_released(value: Any) -> bool:
    if type(value) is AlignedValue:
        return value.run.has_noise(value.form)
    if type(value) is ReleasedValue:
        return value.is_finite
    return type(value) in _PLAIN and math.isfinite(value)


class _OfEitherType(ReleasedValue):
    """One of two numbers of different types; asking for the type asks which one it is."""

    __slots__ = ()

    __hash__ = ReleasedValue.__hash__

    @property
    def kind(self) -> Any:
        """The type, on this path."""
        left, right = self.arguments
        is_right = right > left if self.function is builtins.max else right < left
        chosen = right if is_right else left
        return chosen.kind if is_symbolic(chosen) else type(chosen)

    @kind.setter
    def kind(self, value: Any) -> None:
        """It is that of one of the two."""

    def typed(self, kind: Any) -> Any:
        if kind in (int, float, np.int64, np.float64):
            return ReleasedValue(self.run, kind, kind, (self,))
        return super().typed(kind)
