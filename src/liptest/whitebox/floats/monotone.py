"""Numbers that are monotone functions of one grid point: calculating and rounding.

What is calculated from a random number and constants is such a number again; what rounds it to
few values branches over them. Every other use aborts the analysis.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.errors import BudgetError
from liptest.values.faults import raises_as_numpy
from liptest.values.images import Image, Step, pieces, regions
from liptest.values.transforms import (
    ABSOLUTE,
    AS_ENTRY,
    BINARY,
    FINITE,
    MATH,
    NEGATIVE,
    OPERATORS,
    POSITIVE,
    UNARY,
    binary,
    log_to_base,
    rounded,
    signed,
)
from liptest.whitebox.ducks import COMPARISONS, Duck, with_noise


class Number(Duck):
    """Base of what stands for one random float. ``Uniform`` compares, this calculates."""

    __slots__ = ()

    _low: int
    _high: int
    _line: Any

    def __bool__(self) -> bool:
        return bool(operator.ne(self, 0))

    def __int__(self) -> int:
        return int(self.settled("int()", int))

    def __trunc__(self) -> int:
        return int(self.settled("math.trunc", math.trunc))

    def __floor__(self) -> int:
        return int(self.settled("math.floor", math.floor))

    def __ceil__(self) -> int:
        return int(self.settled("math.ceil", math.ceil))

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return self.settled("round()", round)
        return self.after(rounded(round, digits))

    def __neg__(self) -> Any:
        return self.after(NEGATIVE)

    def __pos__(self) -> Any:
        return self.after(POSITIVE)

    def __abs__(self) -> Any:
        return self.after(ABSOLUTE)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            self.escape(f"numpy.{ufunc.__name__}")
        if with_noise(inputs):
            return NotImplemented
        if ufunc in COMPARISONS:
            return ufunc(*cells_of(inputs))
        if any(isinstance(one, (np.ndarray, list, tuple)) for one in inputs):
            # An array needs numbers, numbers need arrays only here.
            from liptest.whitebox.floats.uniform_arrays import entrywise

            return entrywise(self._tree, ufunc, inputs)
        return applied(ufunc, *inputs)

    def entry(self) -> Any:
        """The same number as an entry of an array."""
        return self.after(AS_ENTRY)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        if function in (np.round, np.around) and not options and len(arguments) <= 2:
            return self.after(rounded(np.round, arguments[1] if len(arguments) == 2 else 0))
        if function is np.clip and not options and len(arguments) == 3:
            return np.minimum(arguments[2], np.maximum(arguments[0], arguments[1]))
        searches = len(arguments) == 2 and options.keys() <= {"side", "right"}
        if function is np.searchsorted and searches and arguments[1] is self:
            return searched(arguments[0], self, options.get("side", "left"))
        if function is np.digitize and searches and arguments[0] is self:
            return searched(arguments[1], self, "left" if options.get("right") else "right")
        return Duck.__array_function__(self, function, types, arguments, options)

    def after(self, step: Step) -> Any:
        """What an operation makes of the number: a number again, or a plain one."""
        source, line = self._source(), self._line_seen()
        found = regions(line, step)
        region = found[source.part([one.stop for one in found[:-1]])]
        if region.refused is not None:
            self.escape(region.refused)
        if region.image is None:
            return step.of_number(line.value(max(source._low, region.start)))
        return source._derived(region.image)

    def settled(self, use: str, settle: Callable[[Any], Any] | None = None) -> Any:
        """``settle(number)``, or a rounded number itself, after branching over all it can be."""
        line, source = self._line_seen(), self._source()
        if settle is None and not line.discrete:
            self.escape(use)
        found = pieces(line, source._low, source._high, settle or line.kind)
        if found is None:
            self._too_many(use)
        chosen = self._tree.choose(found.weights) if len(found.weights) > 1 else 0
        if chosen == len(found.values):
            self._tree.leave_out()
        source._low, source._high = found.ends[chosen]
        return found.values[chosen]

    def part(self, stops: Sequence[int]) -> int:
        """Which part of the grid, cut at ``stops``, the number lies in: known, or chosen."""
        for place, stop in enumerate(stops):
            if self._source_below(stop):
                return place
        return len(stops)

    def _source(self) -> Any:
        """The number that this one is a function of."""
        return self

    def _line_seen(self) -> Any:
        """Its values, of the type that the code sees."""
        return self._line

    def _derived(self, image: Image) -> Any:
        """Another function of the same grid point."""
        raise NotImplementedError

    def _source_below(self, cut: int) -> bool:
        """Whether the grid point is below ``cut``."""
        raise NotImplementedError

    def _one_settled(self, other: Any, use: str) -> tuple[Any, Any]:
        """Both numbers, one of them a plain one, or both as noise; aborts where neither can be."""
        if not self._line_seen().discrete and not getattr(other._line, "discrete", False):
            # Noise is made of numbers; numbers need noise only here.
            from liptest.whitebox.noise.lifting import lifted

            pair = lifted(self), lifted(other)
            if None not in pair:
                return pair
        if self._line.discrete or not is_number(other):
            return self.settled(use), other
        return self, other.settled(use)

    def _too_many(self, use: str) -> NoReturn:
        self._tree.fail(
            BudgetError(
                f"{self._tree.name}: a number from rng.random() used in {use} takes too many "
                f"values to be enumerated; draw from fewer values, or declare the law with "
                f"lt.ClosedForm"
            )
        )


# Kept: while a program is analysed the names stand for something else.
_COPYSIGN, _LOG, _POW = math.copysign, math.log, math.pow


# Other types than these have methods of their own for what they are added to.
_ODD = (str, bytes, type(None), list, tuple, dict, set, frozenset, complex, np.generic)


def is_number(value: Any) -> bool:
    """Whether it stands for one random float."""
    return issubclass(type(value), Number)


def applied(ufunc: Any, *inputs: Any) -> Any:
    """A function of NumPy of numbers, at least one of which is random."""
    if len(inputs) == 1 and ufunc in UNARY:
        return inputs[0].after(UNARY[ufunc]) if is_number(inputs[0]) else ufunc(*inputs)
    if ufunc in FINITE:
        return FINITE[ufunc] if is_number(inputs[0]) else ufunc(*inputs)
    if len(inputs) == 2 and ufunc in BINARY:
        return calculated(ufunc, *inputs)
    if ufunc in COMPARISONS:
        return COMPARISONS[ufunc](*inputs)
    return ufunc(
        *(one.settled(f"numpy.{ufunc.__name__}") if is_number(one) else one for one in inputs)
    )


def calculated(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """An operation on two numbers, one of them random; NotImplemented for what is no number."""
    if is_number(left) and is_number(right):
        use = "arithmetic with another random number"
        return operation(*left._one_settled(right, use))
    if with_noise((left, right)):
        return NotImplemented
    swapped = is_number(right)
    number, constant = (right, left) if swapped else (left, right)
    if not is_number(number):
        return operation(left, right)
    step = binary(operation, constant, swapped=swapped)
    if step is not None:
        return number.after(step)
    if isinstance(constant, _ODD):
        # Where a float fails, so does this; what a float can do is not followed.
        _raise_as_a_float(operation, constant, number._looks_like(0.5), swapped)
        number.escape(f"arithmetic with a {type(constant).__name__}")
    return NotImplemented


@raises_as_numpy
def _raise_as_a_float(operation: Any, constant: Any, one: Any, swapped: bool) -> None:
    operation(*((constant, one) if swapped else (one, constant)))


def _operator(operation: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Any, Any], Any]:
    def method(self: Number, other: Any) -> Any:
        return calculated(operation, other, self) if swapped else calculated(operation, self, other)

    return method


for _name, _operation in OPERATORS.items():
    setattr(Number, f"__{_name}__", _operator(_operation, False))
    setattr(Number, f"__r{_name}__", _operator(_operation, True))


def cells_of(inputs: tuple[Any, ...]) -> list[NDArray[Any]]:
    """Object arrays whose comparison compares entry by entry."""
    scalar = next((one for one in inputs if is_number(one) and one._looks_like is float), None)
    cells = []
    for one in inputs:
        if hasattr(type(one), "_entries"):
            cells.append(one._entries())
        elif is_number(one):
            cells.append(np.fromiter([one], object, 1).reshape(()))
        else:
            array = np.asarray(one)
            if scalar is not None and array.dtype in (np.float32, np.float16):
                # NumPy rounds a Python float to the type of the array first.
                scalar.escape(f"a comparison with an array of {array.dtype}")
            cells.append(array.astype(object))
    return cells


@raises_as_numpy
def of_math(function: Any, x: Any, *more: Any) -> Any:
    """A function of the module math, of a random number or any other."""
    if function is _COPYSIGN and len(more) == 1 and is_number(more[0]) and not is_number(x):
        return more[0].after(signed(float(x)))
    if not is_number(x) or len(more) > 1 or (more and is_number(more[0])):
        return function(x, *more)
    if function in FINITE:
        return FINITE[function]
    if function is _POW and more:
        return calculated(_POW, x, float(more[0]))
    if function is _LOG and more:
        return x.after(log_to_base(function, float(more[0])))
    return function(x, *more) if more or function not in MATH else x.after(MATH[function])


def searched(entries: Any, number: Any, side: str) -> Any:
    """``numpy.searchsorted(entries, number, side)`` of ascending entries, by comparisons."""
    sorted_ = np.asarray(entries, dtype=np.float64)
    if sorted_.ndim != 1 or not np.all(sorted_[:-1] <= sorted_[1:]):
        number.escape("numpy.searchsorted or digitize, in what is not ascending")
    search = bisect_right if side == "right" else bisect_left
    return np.intp(search(sorted_.tolist(), number))
