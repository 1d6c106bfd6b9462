"""Operators that give the same object for the same kept numbers, whatever the path."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.symbolic.forms import Rational
from liptest.values.protocol import REFLECTED, Operation, calculate, compare

_PLAIN = frozenset({int, float, np.int64, np.float64})


def keep_results(value_type: Any, exact: Callable[[Any], Rational]) -> None:
    """Give a class of numbers of a run, which may be ``is_kept``, such operators.

    ``exact`` is what a plain number is.
    """
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
        name = operation.__name__
        setattr(value_type, f"__{name}__", _remembering(value_type, operation, swapped=False))
        setattr(value_type, f"__r{name}__", _remembering(value_type, operation, swapped=True))
    for comparison in REFLECTED:
        setattr(value_type, f"__{comparison.__name__}__", _asking(value_type, comparison, exact))


def _remembering(value_type: Any, operation: Operation, *, swapped: bool) -> Any:
    """An operator that gives the same object for the same kept ones, whatever the path."""

    def method(self: Any, other: Any) -> Any:
        pair = (other, self) if swapped else (self, other)
        kind = type(other)
        if not self.is_kept or self.run.point is not None:
            return calculate(operation, *pair)
        if kind is value_type and other.is_kept:
            key: Any = (operation, id(self), id(other), swapped)
        elif kind in _PLAIN:
            key = (operation, id(self), kind, other, swapped)
        else:
            return calculate(operation, *pair)
        made = self.run.made
        calculated = made.get(key)
        if calculated is None:
            calculated = calculate(operation, *pair)
            if type(calculated) is value_type:
                calculated.is_kept = True
                made[key] = calculated
        return calculated.handed_out() if type(calculated) is value_type else calculated

    return method


def _asking(value_type: Any, comparison: Operation, exact: Callable[[Any], Rational]) -> Any:
    """A comparison that asks the same question for the same kept numbers."""

    def method(self: Any, other: Any) -> Any:
        kind = type(other)
        if not self.is_kept or self.run.point is not None:
            return compare(comparison, self, other)
        if kind is value_type and other.is_kept:
            key: Any = (comparison, id(self), id(other))
        elif kind in _PLAIN:
            key = (comparison, id(self), kind, other)
        else:
            return compare(comparison, self, other)
        run = self.run
        asked = run.made.get(key)
        if asked is None:
            if kind is not value_type and not abs(other) <= sys.float_info.max:
                return compare(comparison, self, other)
            form = self.form - (other.form if kind is value_type else exact(other))
            if not form.terms or not run.has_noise(form):
                return compare(comparison, self, other)
            numpy = issubclass(self.kind, np.generic) or issubclass(
                other.kind if kind is value_type else kind, np.generic
            )
            asked = run.made[key] = run.question(comparison, form), numpy
        holds = run.settle(asked[0])
        return np.bool_(holds) if asked[1] else holds

    return method
