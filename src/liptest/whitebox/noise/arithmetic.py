"""Arithmetic and comparisons of numbers with noise, with each other and with plain numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from liptest.whitebox.ducks import COMPARISONS, Duck
from liptest.whitebox.noise.lifting import lifted
from liptest.whitebox.noise.numbers import KINDS, Noisy, Real, is_noisy, number_of

_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Fraction)


_REFLECTED = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
    operator.eq: operator.eq,
    operator.ne: operator.ne,
}


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
}


def calculated(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Arithmetic of two numbers, one of which has noise; NotImplemented for what is none."""
    noisy = left if is_noisy(left) else right
    other = right if noisy is left else left
    if isinstance(other, np.ndarray) or hasattr(type(other), "_cells"):
        return _OF_ARRAYS[operation](left, right)
    if not is_noisy(other):
        if issubclass(type(other), Duck):
            other = _lifted_or_settled(other, "arithmetic with a number with noise")
            return operation(left, other) if noisy is left else operation(other, right)
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        return _with_constant(operation, noisy, other, swapped=noisy is right)
    kind = _kind_of(noisy, operation, left._looks_like, right._looks_like)
    if operation not in (operator.add, operator.sub):
        return _both(operation, left, right)
    forms = left.linear(), right.linear()
    if forms[0] is None or forms[1] is None:
        return _both(operation, left, right)
    return number_of(noisy._run, operation(forms[0], forms[1]), kind)


def _lifted_or_settled(value: Any, use: str) -> Any:
    noise = lifted(value)
    return value.settled(use) if noise is None else noise


def _both(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """What is no sum: rounded numbers are branched over, one at least."""
    use = f"{operation.__name__} with another number with noise"
    if left.linear() is None or type(right) is Real:
        return operation(left.settled(use), right)
    return operation(left, right.settled(use))


def _with_constant(
    operation: Callable[[Any, Any], Any], noisy: Any, constant: Any, *, swapped: bool
) -> Any:
    kinds = (type(constant), noisy._looks_like)
    kind = _kind_of(noisy, operation, *(kinds if swapped else kinds[::-1]))
    pair = (constant, noisy._looks_like(1))
    if not isfinite(constant):
        if operation not in (operator.add, operator.sub):
            noisy.escape(f"{operation.__name__} with {constant!r}")
        return operation(*(pair if swapped else pair[::-1]))
    if constant == 0 and operation in (operator.truediv, operator.floordiv, operator.mod):
        if not swapped and noisy._looks_like in (int, float):
            operation(*pair[::-1])  # ZeroDivisionError
        noisy.escape(f"{operation.__name__} with 0")
    result: Any = noisy.with_constant(operation, constant, kind, swapped=swapped)
    return result


def _kind_of(noisy: Noisy, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    kind = _result_kind(operation, left, right)
    if kind not in KINDS:
        noisy.escape(f"{operation.__name__} that gives a {kind.__name__}")
    return kind


@lru_cache(maxsize=1024)
def _result_kind(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    return type(operation(left(2), right(2)))


def compared(comparison: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """A comparison of two numbers, one of which has noise; NotImplemented for what is none."""
    if not is_noisy(left):
        return compared(_REFLECTED[comparison], right, left)
    if isinstance(right, np.ndarray) or hasattr(type(right), "_cells"):
        return _UFUNC_OF[comparison](left, right)
    if issubclass(type(right), Duck) and not is_noisy(right):
        right = _lifted_or_settled(right, "a comparison with a number with noise")
    kind = type(right)
    answers_numpy = issubclass(left._looks_like, np.generic) or issubclass(
        right._looks_like if is_noisy(right) else kind, np.generic
    )
    if is_noisy(right):
        found = _noisy_compared(comparison, left, right)
    elif not isinstance(right, _NUMBERS):
        return NotImplemented
    elif not isfinite(right):
        found = bool(comparison(0.0, right))
    else:
        found = left.compared(comparison, right)
    return np.bool_(found) if answers_numpy else found


def _noisy_compared(comparison: Callable[[Any, Any], Any], left: Any, right: Any) -> bool:
    forms = left.linear(), right.linear()
    if forms[0] is not None and forms[1] is not None:
        return bool(left._run.holds(comparison, forms[0] - forms[1]))
    use = "a comparison with another number with noise"
    if forms[1] is None:
        return bool(left.compared(comparison, right.settled(use)))
    return bool(right.compared(_REFLECTED[comparison], left.settled(use)))


def compared_any(comparison: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """A comparison of two numbers, noisy or not."""
    if is_noisy(left) or is_noisy(right):
        return compared(comparison, left, right)
    return comparison(left, right)


_OF_ARRAYS: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
}


#: The operator of Python that does what a function of NumPy does.
OPERATION_OF: dict[Any, Any] = {ufunc: one for one, ufunc in _OF_ARRAYS.items()}


_UFUNC_OF: dict[Any, Any] = {comparison: ufunc for ufunc, comparison in COMPARISONS.items()}


def _operator_method(operation: Callable[[Any, Any], Any], *, swapped: bool) -> Any:
    def method(self: Noisy, other: Any) -> Any:
        return calculated(operation, *((other, self) if swapped else (self, other)))

    return method


def _comparison_method(comparison: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: compared(comparison, self, other)


for _name, _operation in _OPERATORS.items():
    setattr(Noisy, f"__{_name}__", _operator_method(_operation, swapped=False))
    setattr(Noisy, f"__r{_name}__", _operator_method(_operation, swapped=True))


for _comparison in COMPARISONS.values():
    setattr(Noisy, f"__{_comparison.__name__}__", _comparison_method(_comparison))
