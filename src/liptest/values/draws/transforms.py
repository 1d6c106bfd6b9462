"""The operations on one random float that keep it a monotone function of its grid point."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from liptest.values.draws.images import Step

Direction = Callable[[Any], int]


def _grows(x: Any) -> int:
    return 1


def _falls(x: Any) -> int:
    return -1


def _away_from_zero(x: Any) -> int:
    return 1 if x >= 0 else -1


_GROWING = (
    *("positive", "floor", "ceil", "rint", "trunc", "sign", "sqrt", "cbrt"),
    *("log", "log1p", "log2", "log10", "exp", "exp2", "expm1", "tanh", "arctan", "sinh", "arcsinh"),
)
_ROUNDING = frozenset({"floor", "ceil", "rint", "trunc", "sign"})
_EVEN = ("absolute", "fabs", "square")


def _unary(name: str, function: Callable[[Any], Any]) -> Step:
    if name in _EVEN:
        return Step(name, function, _away_from_zero, splits=True)
    if name == "negative":
        return Step(name, function, _falls, linear=(Fraction(-1), Fraction(0)))
    if name == "reciprocal":
        return Step(name, function, _falls, splits=True, over=Fraction(1))
    if name == "positive":
        return Step(name, function, _grows, linear=(Fraction(1), Fraction(0)))
    return Step(name, function, _grows, rounds=name in _ROUNDING)


#: NumPy's functions of one float.
UNARY: dict[Any, Step] = {
    getattr(np, name): _unary(name, getattr(np, name))
    for name in (*_GROWING, *_EVEN, "negative", "reciprocal")
}
#: Functions of the module math of one float.
MATH: dict[Any, Step] = {
    getattr(math, name): _unary(name, getattr(math, name))
    for name in (
        *("log", "log1p", "log2", "log10", "exp", "exp2", "expm1", "sqrt", "cbrt", "fabs"),
        *("tanh", "atan", "sinh", "asinh"),
    )
    if hasattr(math, name)
}
#: Functions of the module math of one float and a constant.
MATH_OF_TWO = (math.pow, math.copysign)
#: What is known of every number that is followed: it is finite.
FINITE: dict[Any, Any] = {
    **{math.isnan: False, math.isinf: False, math.isfinite: True},
    **{np.isnan: np.False_, np.isinf: np.False_, np.isfinite: np.True_},
}
_SAME = (Fraction(1), Fraction(0))
_TURNED = (Fraction(-1), Fraction(0))
NEGATIVE = Step("negation", operator.neg, _falls, linear=_TURNED)
POSITIVE = Step("+", operator.pos, _grows, linear=_SAME)
ABSOLUTE = Step("abs", abs, _away_from_zero, splits=True)
#: What an entry of an array is, for the code that sees it.
AS_ENTRY = Step("numpy.float64", np.float64, _grows, linear=_SAME)
AS_FLOAT = Step("float", float, _grows, linear=_SAME)
#: Of whole numbers.
AS_WHOLE = Step("int", int, _grows, linear=_SAME)


def _sum(constant: Any, swapped: bool) -> Direction:
    return _grows


def _difference(constant: Any, swapped: bool) -> Direction:
    return _falls if swapped else _grows


def _product(constant: Any, swapped: bool) -> Direction:
    return _grows if constant >= 0 else _falls


def _quotient(constant: Any, swapped: bool) -> Direction:
    growing = constant >= 0 if not swapped else constant < 0
    return _grows if growing else _falls


def _power(constant: Any, swapped: bool) -> Direction:
    if swapped:
        return _grows if constant >= 1 else _falls
    upwards = 1 if constant >= 0 else -1
    if constant % 2 == 0:
        return lambda x: upwards * _away_from_zero(x)
    return lambda x: upwards


_EXTREMES = ("maximum", "minimum", "fmax", "fmin")
_DIRECTIONS: dict[str, Callable[[Any, bool], Direction]] = {
    "add": _sum,
    "sub": _difference,
    "subtract": _difference,
    "mul": _product,
    "multiply": _product,
    "truediv": _quotient,
    "divide": _quotient,
    "floordiv": _quotient,
    "rshift": _difference,
    "floor_divide": _quotient,
    "pow": _power,
    "power": _power,
    "float_power": _power,
    **dict.fromkeys(_EXTREMES, _sum),
}
#: NumPy's functions of a float and a constant.
BINARY = frozenset(
    getattr(np, name) for name in _DIRECTIONS if isinstance(getattr(np, name, None), np.ufunc)
)
_REAL = (int, float, np.integer, np.floating, np.bool_)


def binary(
    operation: Callable[[Any, Any], Any], constant: Any, *, swapped: bool, rounded: bool = False
) -> Step | None:
    """``operation(x, constant)``, swapped ``operation(constant, x)``; None for odd constants.

    ``rounded`` is whether x takes few values, so that it is -0.0 with some probability.
    """
    if not isinstance(constant, _REAL) or isinstance(constant, np.longdouble):
        return None
    # 0.0 and -0.0 are equal, but not to a quotient.
    kind: Any = type(constant)
    # The larger of x and 0 is 0.0, then -0.0, then 0.0 again.
    splits = rounded and constant == 0 and operation.__name__ in _EXTREMES
    return _binary(operation, kind, constant, math.copysign(1.0, constant), swapped, splits)


@lru_cache(maxsize=4096)
def _binary(
    operation: Callable[[Any, Any], Any],
    kind: Any,
    constant: Any,
    sign: float,
    swapped: bool,
    splits: bool,
) -> Step:
    name = operation.__name__
    apply = partial(operation, constant) if swapped else _with_second(operation, constant)
    splits = splits or (name in ("truediv", "divide", "floordiv", "floor_divide") and swapped)
    splits = splits or (name in ("pow", "power", "float_power") and not swapped)
    direction = _DIRECTIONS[name](constant, swapped)
    rounds = name.startswith("floor")
    line = _line(name, constant, swapped)
    over = _exact(constant) if swapped and _divides(name) and math.isfinite(constant) else None
    return Step(name, apply, direction, splits=splits, rounds=rounds, linear=line, over=over)


def _divides(name: str) -> bool:
    return name in ("truediv", "divide")


def _exact(constant: Any) -> Fraction:
    return Fraction(constant.item() if isinstance(constant, np.generic) else constant)


def _line(name: str, constant: Any, swapped: bool) -> tuple[Fraction, Fraction] | None:
    if not math.isfinite(constant):
        return None
    number = _exact(constant)
    if name == "add":
        return Fraction(1), number
    if name in ("sub", "subtract"):
        return (Fraction(-1), number) if swapped else (Fraction(1), -number)
    if name in ("mul", "multiply"):
        return number, Fraction(0)
    if _divides(name) and number and not swapped:
        return 1 / number, Fraction(0)
    return None


def _with_second(operation: Callable[[Any, Any], Any], constant: Any) -> Callable[[Any], Any]:
    return lambda x: operation(x, constant)


@lru_cache(maxsize=256)
def make_rounding(function: Callable[..., Any], digits: int) -> Step:
    """``round(x, digits)`` or ``numpy.round(x, digits)``."""
    return Step("round", _with_second(function, digits), _grows, rounds=True)


@lru_cache(maxsize=256)
def make_sign(size: float) -> Step:
    """``math.copysign(size, x)``."""
    return Step("copysign", partial(math.copysign, size), _grows, rounds=True)


@lru_cache(maxsize=256)
def log_to_base(function: Callable[..., Any], base: float) -> Step:
    """``math.log(x, base)``; ``function`` is math.log."""
    return Step("log", _with_second(function, base), _grows if base > 1 else _falls)
