"""What NumPy calculates of numbers and arrays with noise entry by entry."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.in_place import check_as_numpy, is_seen_once
from liptest.values.noise_run import NoiseRun
from liptest.whitebox.ducks import COMPARISONS, Duck
from liptest.whitebox.noise.arithmetic import OPERATION_OF, calculated, compared_any
from liptest.whitebox.noise.arrays import (
    DTYPES,
    NoiseArray,
    array_of,
    cells_of,
    first_noisy,
    model_of,
)
from liptest.whitebox.noise.numbers import is_nan, is_noisy
from liptest.whitebox.noise.rounding import truncated
from liptest.whitebox.noise.truths import compared_later

_SCALARS = (np.float64, np.int64, float, int)


def of_ufunc(
    run: NoiseRun, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """A function of NumPy that works entry by entry."""
    if method == "__call__" and not options and len(inputs) == 2:
        found = _of_two_numbers(ufunc, *inputs)
        if found is not NotImplemented:
            return found
    use = f"numpy.{ufunc.__name__}"
    out = options.pop("out", (None,))[0]
    if method == "reduce" and ufunc in _REDUCTIONS:
        return getattr(np, _REDUCTIONS[ufunc])(inputs[0], **_given(options))
    if method == "accumulate" and ufunc is np.add:
        return np.cumsum(*inputs, **options)
    if method != "__call__" or options:
        first_noisy(inputs).escape(use)
    if out is None:
        return entrywise(run, ufunc, inputs)
    if type(out) is NoiseArray:
        out[...] = entrywise(run, ufunc, inputs)
        return out
    if not is_seen_once(out, inputs):
        first_noisy(inputs).escape(f"{use} into an array of plain numbers")
    check_as_numpy(ufunc, out, model_of(inputs[1]))
    if out.dtype not in DTYPES:
        first_noisy(inputs).escape(f"{use} into an array of {out.dtype}")
    return NoiseArray(run, cells_of(entrywise(run, ufunc, inputs)), out.dtype)


def _of_two_numbers(ufunc: Any, left: Any, right: Any) -> Any:
    """Short cut where both are numbers, one of them of NumPy: what most programs do."""
    for one in (left, right):
        if not is_noisy(one) and not isinstance(one, _SCALARS):
            return NotImplemented
    if ufunc in OPERATION_OF:
        return calculated(OPERATION_OF[ufunc], left, right)
    if ufunc in COMPARISONS:
        return np.bool_(compared_any(COMPARISONS[ufunc], left, right))
    return NotImplemented


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def entrywise(run: NoiseRun, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """The results as an array with noise, a plain array of truths, or one number."""
    function = _FUNCTIONS.get(ufunc)
    if function is None:
        plain = [_settled(one, f"numpy.{ufunc.__name__}") for one in inputs]
        return ufunc(*plain)
    with np.errstate(all="ignore"):
        model = ufunc(*map(model_of, inputs))
    if ufunc in COMPARISONS and isinstance(model, np.ndarray):
        return compared_later(run.tree, COMPARISONS[ufunc], *map(cells_of, inputs))
    cells = np.frompyfunc(function, len(inputs), 1)(*map(cells_of, inputs))
    if model.dtype == np.bool_:
        return cells.astype(np.bool_) if isinstance(cells, np.ndarray) else np.bool_(cells)
    if model.dtype not in DTYPES:
        first_noisy(inputs).escape(f"numpy.{ufunc.__name__} to {model.dtype}")
    return array_of(run, cells, model.dtype)


def _settled(value: Any, use: str) -> Any:
    if is_noisy(value) or issubclass(type(value), Duck):
        return value.settled(use)
    return value


def _of_operation(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if is_noisy(left) or is_noisy(right):
            return calculated(operation, left, right)
        return operation(left, right)

    return apply


def _of_comparison(comparison: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: bool(compared_any(comparison, left, right))


def _of_one(method: Callable[[Any], Any], plain: Any) -> Callable[[Any], Any]:
    return lambda one: method(one) if is_noisy(one) else plain(one)


def _rounding(how: str, plain: Any) -> Callable[[Any], Any]:
    return _of_one(lambda one: one.rounded(how, one._looks_like), plain)


def _larger(left: Any, right: Any) -> Any:
    if is_nan(left) or is_nan(right):
        return math.nan
    return right if compared_any(operator.lt, left, right) else left


def _smaller(left: Any, right: Any) -> Any:
    if is_nan(left) or is_nan(right):
        return math.nan
    return right if compared_any(operator.gt, left, right) else left


def _but_for_nan(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Of one number and NaN, the number."""

    def chosen(left: Any, right: Any) -> Any:
        return right if is_nan(left) else left if is_nan(right) else choose(left, right)

    return chosen


def _sign(one: Any) -> Any:
    if is_nan(one):
        return one
    return 1 if compared_any(operator.gt, one, 0) else -1 if one < 0 else 0


_REDUCTIONS = {np.add: "sum", np.maximum: "max", np.minimum: "min"}


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{ufunc: _of_operation(operation) for ufunc, operation in OPERATION_OF.items()},
    **{ufunc: _of_comparison(comparison) for ufunc, comparison in COMPARISONS.items()},
    np.negative: operator.neg,
    np.positive: lambda one: one,
    np.absolute: abs,
    np.floor: _rounding("floor", np.floor),
    np.ceil: _rounding("ceil", np.ceil),
    np.rint: _rounding("rint", np.rint),
    np.trunc: _of_one(lambda one: truncated(one, one._looks_like), np.trunc),
    np.maximum: _larger,
    np.minimum: _smaller,
    np.fmax: _but_for_nan(_larger),
    np.fmin: _but_for_nan(_smaller),
    np.sign: _sign,
    np.isnan: _of_one(lambda one: False, np.isnan),
    np.isinf: _of_one(lambda one: False, np.isinf),
    np.isfinite: _of_one(lambda one: True, np.isfinite),
}
