"""NumPy's functions of arrays with noise: sums, largest ones, order, moves; the rest is refused."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.noise_run import NoiseRun
from liptest.whitebox.ducks import MOVES, WRITING, Duck
from liptest.whitebox.noise.arithmetic import calculated, compared_any
from liptest.whitebox.noise.arrays import Cells, NoiseArray, array_of, cells_of, model_of
from liptest.whitebox.noise.numbers import is_nan, is_noisy
from liptest.whitebox.noise.order import largest, order
from liptest.whitebox.noise.rounding import rounded_to
from liptest.whitebox.noise.ufuncs import entrywise

#: Not answered in a way of its own.
_NOT = object()


_ZERO: Any = 0


def answered(
    run: NoiseRun, function: Any, arguments: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """A function of NumPy with noise among its arguments."""
    own = _FUNCTIONS.get(function)
    if own is not None:
        found = own(run, *arguments, **options)
        if found is not _NOT:
            return found
    if function in MOVES and arguments and _is_array(arguments[0]):
        array, *rest = arguments
        return array.like(function(cells_of(array), *rest, **options))
    if function in _SHAPES:
        return function(model_of(arguments[0]), *arguments[1:], **options)
    use = f"numpy.{function.__name__}"
    if function.__name__ in WRITING:
        _escape((*arguments, *options.values()), use)
    plain = _settled(arguments, use)
    return function(*plain, **{name: _settled(one, use) for name, one in options.items()})


_SHAPES = frozenset(
    {np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like, np.full_like}
    | {np.result_type, np.iscomplexobj, np.isrealobj}
)


def _is_array(value: Any) -> bool:
    return type(value) is NoiseArray


def _escape(values: Any, use: str) -> Any:
    for one in values:
        if is_noisy(one) or _is_array(one):
            one.escape(use)


def _settled(value: Any, use: str) -> Any:
    if issubclass(type(value), Duck):
        return value.settled(use)
    if type(value) in (list, tuple):
        return type(value)(_settled(one, use) for one in value)
    return value


def _reducing(reduce: Callable[[NoiseRun, Cells], Any], name: str) -> Callable[..., Any]:
    """A reduction of all entries, or along one axis."""

    def reduction(
        run: NoiseRun, array: Any, axis: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        if any(one is not None for one in options.values()):
            return _NOT
        cells, model = cells_of(array), np.asarray(model_of(array))
        dtype = getattr(np, name)(model, axis=axis).dtype
        lanes = cells.reshape(1, -1)
        shape: tuple[int, ...] = ()
        if axis is not None:
            lanes = np.moveaxis(cells, axis, -1)
            shape = lanes.shape[:-1]
            lanes = lanes.reshape(-1, lanes.shape[-1])
        found = np.empty(len(lanes), dtype=object)
        for place, lane in enumerate(lanes):
            found[place] = reduce(run, lane)
        reduced = found.reshape(shape) if shape else found[0]
        if keepdims:
            kept = getattr(np, name)(model, axis=axis, keepdims=True).shape
            reduced = found.reshape(kept)
        return array_of(run, reduced, dtype)

    return reduction


def plus(left: Any, right: Any) -> Any:
    """The sum of two entries, with noise or not."""
    if is_noisy(left) or is_noisy(right):
        return calculated(operator.add, left, right)
    return left + right


def _sum(run: NoiseRun, lane: Cells) -> Any:
    total: Any = 0
    for one in lane:
        total = plus(total, one)
    return total


def _mean(run: NoiseRun, lane: Cells) -> Any:
    return _sum(run, lane) / len(lane)


def _extreme(sign: int) -> Callable[[NoiseRun, Cells], Any]:
    return lambda run, lane: lane[largest(run, lane, sign)]


def _place_of(sign: int, name: str) -> Callable[..., Any]:
    def reduce(run: NoiseRun, lane: Cells) -> Any:
        return largest(run, lane, sign)

    return _reducing(reduce, name)


def _sort(run: NoiseRun, array: Any, axis: Any = -1, kind: Any = None, **options: Any) -> Any:
    cells = cells_of(array)
    if cells.ndim != 1 or axis not in (-1, 0) or options:
        return _NOT
    return array_of(run, cells[order(run, cells)], array.dtype)


def _argsort(run: NoiseRun, array: Any, axis: Any = -1, kind: Any = None, **options: Any) -> Any:
    cells = cells_of(array)
    if cells.ndim != 1 or axis not in (-1, 0) or options.keys() - {"stable"}:
        return _NOT
    stable = kind in ("stable", "mergesort") or options.get("stable")
    if not stable and any(one.is_whole or not is_noisy(one) for one in cells if is_noisy(one)):
        return _NOT  # the order of equal ones is not known
    return np.array(order(run, cells), dtype=np.intp)


def _cumsum(run: NoiseRun, array: Any, axis: Any = None, **options: Any) -> Any:
    cells = cells_of(array)
    if options or (axis is not None and cells.ndim != 1):
        return _NOT
    found, total = np.empty(cells.size, dtype=object), _ZERO
    for place, one in enumerate(cells.flat):
        found[place] = total = plus(total, one)
    return array_of(run, found, array.dtype)


def _dot(run: NoiseRun, left: Any, right: Any, *out: Any) -> Any:
    if out or np.ndim(left) > 2 or np.ndim(right) > 2 or not np.ndim(left) or not np.ndim(right):
        return _NOT
    model = np.dot(np.asarray(model_of(left)), np.asarray(model_of(right)))
    rows, columns = np.atleast_2d(cells_of(left)), cells_of(right)
    columns = columns.reshape(-1, 1) if columns.ndim == 1 else columns
    products = [[_inner(run, row, column) for column in columns.T] for row in rows]
    found = np.empty((len(rows), columns.shape[1]), dtype=object)
    found[:] = products
    return array_of(run, found.reshape(model.shape) if model.ndim else found[0, 0], model.dtype)


def _inner(run: NoiseRun, row: Any, column: Any) -> Any:
    return _sum(run, np.array([_times(a, b) for a, b in zip(row, column, strict=True)], object))


def _times(left: Any, right: Any) -> Any:
    if is_noisy(left) or is_noisy(right):
        return calculated(operator.mul, left, right)
    return left * right


def _diff(run: NoiseRun, array: Any, n: int = 1, **options: Any) -> Any:
    if options or n != 1 or array.ndim != 1:
        return _NOT
    return array[1:] - array[:-1]


def _clip(run: NoiseRun, array: Any, *bounds: Any, **options: Any) -> Any:
    low = bounds[0] if bounds else options.pop("a_min", options.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else options.pop("a_max", options.pop("max", None))
    if options:
        return _NOT
    bottom = -np.inf if low is None else low
    top = np.inf if high is None else high
    if is_noisy(array) or _is_array(array):
        model = np.asarray(np.clip(np.asarray(model_of(array)), low, high))
        cells = np.frompyfunc(_clipped, 3, 1)(cells_of(array), cells_of(bottom), cells_of(top))
        return array_of(run, cells, model.dtype)
    return entrywise(run, np.minimum, (entrywise(run, np.maximum, (array, bottom)), top))


def _clipped(one: Any, low: Any, high: Any) -> Any:
    for bound in (one, low, high):
        if is_nan(bound):
            return bound
    if compared_any(operator.lt, one, low):
        one = low
    return high if compared_any(operator.gt, one, high) else one


def _round(run: NoiseRun, array: Any, decimals: Any = 0, out: Any = None) -> Any:
    if out is not None:
        return _NOT
    dtype = np.asarray(model_of(array)).dtype

    def rounded(one: Any) -> Any:
        return rounded_to(one, decimals, dtype.type) if is_noisy(one) else np.round(one, decimals)

    return array_of(run, np.frompyfunc(rounded, 1, 1)(cells_of(array)), dtype)


def _where(run: NoiseRun, condition: Any, *pair: Any) -> Any:
    if len(pair) != 2:
        return _NOT
    truth = condition
    if is_noisy(condition) or _is_array(condition):
        truth = condition != 0
    dtype = np.where(np.asarray(truth), *map(model_of, pair)).dtype
    cells = np.where(np.asarray(truth), *map(cells_of, pair))
    return array_of(run, cells if cells.ndim else cells[()], dtype)


def _joining(function: Any) -> Callable[..., Any]:
    def joined(run: NoiseRun, arrays: Any, *arguments: Any, **options: Any) -> Any:
        if not isinstance(arrays, (list, tuple)):
            return _NOT
        model = function([np.asarray(model_of(one)) for one in arrays], *arguments, **options)
        cells = function([cells_of(one) for one in arrays], *arguments, **options)
        return array_of(run, cells, model.dtype)

    return joined


def _append(run: NoiseRun, array: Any, values: Any, axis: Any = None) -> Any:
    model = np.append(np.asarray(model_of(array)), np.asarray(model_of(values)), axis)
    return array_of(run, np.append(cells_of(array), cells_of(values), axis), model.dtype)


def _truth(function: Any) -> Callable[..., Any]:
    def of_truth(run: NoiseRun, array: Any, *arguments: Any, **options: Any) -> Any:
        return function(array != 0, *arguments, **options)

    return of_truth


def _isclose(run: NoiseRun, *arguments: Any, **options: Any) -> Any:
    _escape(arguments, "numpy.isclose")


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reducing(_sum, "sum"),
    np.mean: _reducing(_mean, "mean"),
    np.max: _reducing(_extreme(1), "max"),
    np.min: _reducing(_extreme(-1), "min"),
    np.argmax: _place_of(1, "argmax"),
    np.argmin: _place_of(-1, "argmin"),
    np.sort: _sort,
    np.argsort: _argsort,
    np.cumsum: _cumsum,
    np.dot: _dot,
    np.inner: lambda run, a, b: _dot(run, a, b) if np.ndim(a) == np.ndim(b) == 1 else _NOT,
    np.diff: _diff,
    np.clip: _clip,
    np.round: _round,
    np.where: _where,
    np.append: _append,
    **{one: _joining(one) for one in (np.concatenate, np.stack, np.hstack, np.vstack)},
    np.column_stack: _joining(np.column_stack),
    **{one: _truth(one) for one in (np.any, np.all, np.count_nonzero, np.nonzero)},
    np.flatnonzero: _truth(np.flatnonzero),
    np.isclose: _isclose,
}


_FUNCTIONS[np.around] = _round


_FUNCTIONS[np.amax] = _FUNCTIONS[np.max]


_FUNCTIONS[np.amin] = _FUNCTIONS[np.min]
