"""``max(0, x)`` of a number that is known to the outside: which of both it is is not asked.

Python gives back one of the two objects, so the type of the result may depend on which one it is
(``max(0, x)`` is a float or the int 0). Where the types differ it is asked as soon as the type
matters, and not before: as an output, or as ``float(max(0, x))``, it never does.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from liptest.values.answers.aligned import AlignedRun, AlignedValue, NoisyData, ReleasedValue
from liptest.values.protocol import is_symbolic

_PLAIN = (int, float, np.int64, np.float64)


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
