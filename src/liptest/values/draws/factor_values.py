"""Numbers of which the law is known, and which are independent of all else in a run.

A pass of a loop that draws, and that nothing else depends on, comes to such a number
(``enumerate.records.factored_passes``). Arithmetic with plain numbers keeps it one; where the
program looks at it, one choice is made among its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.branching import Branching
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import NUMBERS, Operation, SymbolicValue


class Variable:
    """One random variable of a run: whole-number weights of its values, and what is known."""

    __slots__ = ("branching", "taken", "weights")

    def __init__(self, branching: Branching, weights: tuple[int, ...]) -> None:
        self.branching = branching
        self.weights = weights
        self.taken: int | None = None

    def choose(self) -> int:
        """Which value it has, by a choice of the run where nobody has asked before."""
        if self.taken is None:
            self.taken = self.branching.choose(self.weights)
        return self.taken


class FactorValue(SymbolicValue):
    """A function of one variable, as numbers of one type."""

    __slots__ = ("branching", "values", "variable")

    __hash__ = SymbolicValue.__hash__
    family = "factor"
    is_discrete = True
    described = "a number of a law that is known"

    def __init__(self, variable: Variable, values: tuple[Any, ...]) -> None:
        self.branching = variable.branching
        self.variable = variable
        self.values = values

    @property
    def kind(self) -> Any:
        """The type of its values."""
        return type(self.values[0])

    def concretise(self, use: str) -> Any:
        return self.values[self.variable.choose()]

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        return self.values[point_in(0, len(self.values))]

    def _after(self, step: Callable[[Any], Any]) -> Any:
        """The same function of all values; of what fails or warns the value that it has."""
        try:
            with np.errstate(all="raise", under="ignore"):
                made = tuple(map(step, self.values))
        except (ArithmeticError, TypeError, ValueError, Warning):
            return step(self.concretise(""))
        if len({type(value) for value in made}) > 1:
            return step(self.concretise(""))
        return FactorValue(self.variable, made)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if not isinstance(other, NUMBERS):
            return super().binary(operation, other, swapped=swapped)
        if swapped:
            return self._after(lambda value: operation(other, value))
        return self._after(lambda value: operation(value, other))

    def compare(self, comparison: Operation, other: Any) -> Any:
        return self.binary(comparison, other, swapped=False)

    def typed(self, kind: Any) -> Any:
        return self if kind is self.kind else self._after(kind)

    @raises_as_numpy
    def __bool__(self) -> bool:
        return bool(self.concretise("bool()"))
