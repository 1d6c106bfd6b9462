"""What NumPy calculates entry by entry, of symbolic values and arrays: one table for all kinds.

Each ufunc of NumPy is in exactly one of three sets: ``FOLLOWED`` has a rule for two cells (or one),
``CONCRETISED`` is answered by NumPy after branching over all values, ``REFUSED`` is not answered.
A kind may follow more in its own way: ``SymbolicValue.apply`` for numbers, ``answer_ufunc`` for
whole arrays; both are asked first.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from liptest.values.array import (
    DTYPES,
    CellStorage,
    SymbolicArray,
    as_cells,
    cells_of,
    fill_array,
    find_dtype,
    make_array,
    make_model,
)
from liptest.values.binary.bits import PackedBits
from liptest.values.booleans import compare_later, conjoin, differ, disjoin, negate
from liptest.values.draws.packed_uniforms import PackedUniforms
from liptest.values.draws.quantile_steps import of_ufunc
from liptest.values.draws.transforms import BINARY, UNARY
from liptest.values.faults import raises_as_numpy
from liptest.values.in_place import check_as_numpy, is_seen_once
from liptest.values.pandas.keyed_series import SERIES, as_keyed
from liptest.values.pandas.labelled import is_plain_frame, is_series
from liptest.values.protocol import (
    ARITHMETIC,
    COMPARISONS,
    NUMPY,
    Symbolic,
    SymbolicValue,
    calculate,
    compare,
    concretise_all,
    current,
    first_symbolic,
    is_nan,
    is_symbolic,
    truncate,
)
from liptest.values.records.record_storage import RecordStorage, beside_records

#: Methods of ufuncs that give something new.
_PURE = frozenset({"reduce", "accumulate", "outer", "reduceat"})
# What options of methods are where they say nothing.
_PLAIN = {"where": True, "keepdims": False}
_FLOATS = (np.float64, float)
_SCALARS = (*_FLOATS, np.int64, int)
# Array, places and what is added there.
_OF_AT = 3
# Whose accumulated numbers are of the type of the array.
_ACCUMULATED = (np.maximum, np.minimum, np.fmax, np.fmin, np.multiply, np.subtract)
# Storages whose shape no data change, and which may be written to.
_OF_KNOWN_SHAPE = (CellStorage, PackedBits, PackedUniforms)
_NARROW = (np.dtype(np.float16), np.dtype(np.float32))


def answer_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc with something symbolic among its inputs or outputs."""
    if method == "__call__" and not options and len(inputs) == 2:
        answer = _of_two_numbers(ufunc, *inputs)
        if answer is not NotImplemented:
            return answer
    for operand in inputs:
        if is_series(operand) or is_plain_frame(operand) or type(operand) in SERIES:
            return as_keyed(operand).__array_ufunc__(ufunc, method, *inputs, **options)
    use = f"numpy.{ufunc.__name__}"
    out = options.pop("out", (None,))[0]
    if method != "__call__" or options:
        return _of_method(ufunc, method, inputs, options, out)
    if out is None:
        return entrywise(ufunc, inputs)
    if ufunc.nout > 1:
        return _refuse((*inputs, out), f"{use} with out=")
    if type(out) is SymbolicArray:
        if ufunc.nout == 1 and all(map(_has_model, (*inputs, out))):
            _check_output(ufunc, inputs, out)
        return write_into(out, entrywise(ufunc, inputs))
    if all(_is_discrete(operand) for operand in inputs):
        return ufunc(*concretise_all(inputs, use), out=out)
    if not is_seen_once(out, inputs):
        first_symbolic(inputs).refuse(f"{use} into an array of plain numbers")
    check_as_numpy(ufunc, out, make_model(inputs[1]))
    if out.dtype not in DTYPES:
        first_symbolic(inputs).refuse(f"{use} into an array of {out.dtype}")
    answer = entrywise(ufunc, inputs)
    return make_array(first_symbolic(inputs).branching, as_objects(answer), out.dtype)


def _of_two_numbers(ufunc: Any, left: Any, right: Any) -> Any:
    """Short cut where both are numbers, one of them of NumPy: what most programs do."""
    for operand in (left, right):
        # The type itself: what stands for the records in their order says that it is a number.
        if not is_symbolic(operand) and not issubclass(type(operand), _SCALARS):
            return NotImplemented
    for operand in (left, right):
        if is_symbolic(operand) and operand.answer_ufunc is not None:
            answer = operand.answer_ufunc(ufunc, (left, right))
            if answer is not NotImplemented:
                return answer
    if ufunc in COMPARISONS:
        return np.bool_(compare(COMPARISONS[ufunc], left, right))
    kinds = [operand.kind if is_symbolic(operand) else type(operand) for operand in (left, right)]
    is_numpy = any(issubclass(kind, np.generic) for kind in kinds)
    if is_numpy and ufunc in ARITHMETIC and ufunc is not np.matmul:
        return calculate(ARITHMETIC[ufunc], left, right)
    return NotImplemented


def _of_method(
    ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any], out: Any
) -> Any:
    given = {name: value for name, value in options.items() if value is not _PLAIN.get(name)}
    if method == "reduce" and ufunc in _REDUCTIONS:
        given.setdefault("axis", options.get("axis", 0))
        if out is not None:
            given["out"] = out
        return _REDUCTIONS[ufunc](inputs[0], **given)
    if method == "accumulate" and ufunc is np.add and out is None and not given:
        return np.cumsum(*inputs)
    if method == "at" and ufunc is np.add and len(inputs) == _OF_AT:
        inputs = _in_one_line(*inputs)
    if method == "at" and ufunc is np.add and _counts_places(*inputs):
        array, places, number = inputs
        if _has_records(places) and type(number) in _FLOATS and number % 1:
            number = places * 0 + number  # the rounding of its sums counts
        if type(number) is SymbolicArray and isinstance(number.storage, RecordStorage):
            number.storage.add_at(array, places, number)
            return None
        write_into(array, array + np.bincount(places, minlength=len(array)) * number)
        return None
    if method == "outer" and out is None and not given and _has_records(inputs[0]):
        return ufunc(inputs[0][:, None], inputs[1])
    if method == "outer" and out is None and not given and _are_noisy(*inputs):
        lines = [one if type(one) is SymbolicArray else np.asarray(one) for one in inputs]
        return ufunc(lines[0].reshape(*lines[0].shape, *[1] * lines[1].ndim), lines[1])
    if method == "accumulate" and out is None and ufunc in _ACCUMULATED and _are_noisy(*inputs):
        axis = given.pop("axis", 0)
        if not given and not is_symbolic(axis):
            return _accumulate(ufunc, inputs[0], axis)
    use = f"numpy.{ufunc.__name__}.{method}()"
    if method in _PURE and out is None:
        return getattr(ufunc, method)(*concretise_all(inputs, use), **concretise_all(given, use))
    first = first_symbolic((*inputs, out, *options.values()))
    return first.refuse(f"numpy.{ufunc.__name__}{'' if method == '__call__' else f'.{method}'}()")


def _are_noisy(*values: Any) -> bool:
    """Whether they are plain numbers and arrays with room for numbers, some not discrete."""
    arrays = [value for value in values if type(value) is SymbolicArray]
    if any(is_symbolic(value) for value in values) or not arrays:
        return False
    if any(type(array.storage) is not CellStorage for array in arrays):
        return False
    cells = (cell for array in arrays for cell in array.cells.flat)
    return any(is_symbolic(cell) and not cell.is_discrete for cell in cells)


def _accumulate(ufunc: Any, array: SymbolicArray, axis: Any) -> Any:
    """What a function of two numbers makes of the first ones along an axis, place by place."""
    with np.errstate(all="ignore"):
        dtype = ufunc.accumulate(make_model(array), axis=axis).dtype  # raises NumPy's own error
    cells, apply = array.cells, _of_cells(ufunc)
    made = np.empty(cells.shape, dtype=object)
    before, after = (np.moveaxis(whole, axis, -1) for whole in (cells, made))
    for lane in np.ndindex(before.shape[:-1]):
        after[lane] = fill_array(
            list(accumulate(before[lane], apply)), (cells.shape[axis],), object
        )
    return make_array(array.branching, made, dtype)


def _has_records(value: Any) -> bool:
    """Whether it is a number of each record."""
    of_records = type(value) is SymbolicArray and isinstance(value.storage, RecordStorage)
    return of_records and value.ndim == 1


def _in_one_line(array: Any, places: Any, number: Any) -> tuple[Any, Any, Any]:
    """The same where places in several axes are places in one line, which is a view of all."""
    is_cells = type(array) is SymbolicArray and type(array.storage) is CellStorage
    if type(places) is not tuple or not is_cells or len(places) != array.ndim:
        return array, places, number
    line = array.reshape(-1)
    if not any(map(_has_records, places)) or not line.storage.shares_memory(array.storage):
        return array, places, number
    return line, np.ravel_multi_index(places, array.shape), number


def _counts_places(array: Any, places: Any, number: Any = None) -> bool:
    """Whether ``numpy.add.at`` counts how often each place occurs, or adds numbers there."""
    are_arrays = all(type(line) is SymbolicArray for line in (array, places))
    if not are_arrays or places.ndim != 1 or places.dtype.kind not in "iu":
        return False
    if type(number) is SymbolicArray:
        return isinstance(number.storage, RecordStorage)
    return array.ndim == 1 and isinstance(number, _SCALARS)


def _is_discrete(value: Any) -> bool:
    """Whether it is a plain number or array, or packed so that all of it can be concretised."""
    if type(value) is SymbolicArray:
        return value.storage.is_discrete
    return not is_symbolic(value) or (value.is_discrete and value.family != "noise")


def _has_model(value: Any) -> bool:
    """Whether ``make_model`` has the type and shape of a number or array, whatever the data are."""
    if type(value) is SymbolicArray:
        return type(value.storage) in _OF_KNOWN_SHAPE
    if type(value) is np.ndarray:
        return value.dtype.kind in "biuf"
    return type(value) in _SCALARS or issubclass(type(value), SymbolicValue)


@raises_as_numpy
def _check_output(ufunc: Any, inputs: tuple[Any, ...], out: SymbolicArray) -> None:
    """Raise what NumPy raises where a result does not fit into ``out``, by its type or shape."""
    with np.errstate(all="ignore"):
        ufunc(*map(make_model, inputs), out=make_model(out))


def write_into(out: SymbolicArray, found: Any) -> SymbolicArray:
    """A result as ``out=``: cast and shaped as NumPy does, seen by all views."""
    kind = find_dtype(found)
    if not np.can_cast(kind, out.dtype, "same_kind"):
        model = np.zeros(1, dtype=out.dtype)
        np.add(np.zeros(1, dtype=kind), 0, out=model)  # raises NumPy's own error
    if np.broadcast_shapes(np.shape(make_model(found)), out.shape) != out.shape:
        np.add(np.zeros(np.shape(make_model(found))), 0, out=np.zeros(out.shape))  # raises
    anew = out.storage.rewritten(found.storage) if type(found) is SymbolicArray else None
    if anew is not None:
        out.storage = anew
    else:
        out[...] = found
    return out


def entrywise(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """The results as an array, a plain one where nothing is random, or as one number."""
    inputs = beside_records(inputs)
    if ufunc is np.divmod and not all(map(_is_discrete, inputs)):
        return tuple(entrywise(part, inputs) for part in (np.floor_divide, np.remainder))
    for operand in inputs:
        if issubclass(type(operand), Symbolic):
            answer = operand.answer_ufunc(ufunc, inputs)
            if answer is not NotImplemented:
                return answer
    use = f"numpy.{ufunc.__name__}"
    if ufunc is np.matmul:
        return np.dot(*inputs) if max(map(np.ndim, inputs)) <= 2 else _refuse(inputs, use)
    if ufunc not in FOLLOWED and of_ufunc(ufunc) is None:
        if ufunc not in CONCRETISED:
            _refuse(inputs, use)
        return ufunc(*concretise_all(inputs, use))
    with np.errstate(all="ignore"):
        model = ufunc(*map(make_model, inputs))
    cells = [_cells(operand, inputs) for operand in inputs]
    if ufunc in COMPARISONS and isinstance(model, np.ndarray):
        later = np.frompyfunc(lambda *pair: compare_later(COMPARISONS[ufunc], *pair), 2, 1)
        return make_array(first_symbolic(inputs).branching, later(*cells), np.bool_)
    if model.dtype not in DTYPES:
        if all(cell.is_discrete for array in cells for cell in array.flat if is_symbolic(cell)):
            return ufunc(*concretise_all(inputs, use))
        _refuse(inputs, f"{use} to {model.dtype}")
    if not isinstance(model, np.ndarray):
        entries = _of_cells(ufunc)(*(array.item() for array in cells))
        return make_array(first_symbolic(inputs).branching, entries, model.dtype)
    with np.errstate(all="ignore"):
        entries = np.frompyfunc(_of_cells(ufunc), len(inputs), 1)(*cells)
    return make_array(first_symbolic(inputs).branching, entries, model.dtype)


def _cells(value: Any, inputs: tuple[Any, ...]) -> Any:
    """Cells of one input; short floats as NumPy widens them beside long ones."""
    array = value if type(value) is np.ndarray or isinstance(value, np.generic) else None
    if array is not None and array.dtype in _NARROW:
        weak = any(is_symbolic(operand) and operand.kind in (int, float) for operand in inputs)
        wide = np.asarray(array) if weak else np.asarray(array).astype(np.float64)
        return as_cells(wide)
    return cells_of(value)


def _of_cells(ufunc: Any) -> Callable[..., Any]:
    rule = FOLLOWED[ufunc] if ufunc in FOLLOWED else _concretise(ufunc)

    def apply(*cells: Any) -> Any:
        now = tuple(map(current, cells))
        for cell in now:
            if is_symbolic(cell):
                answer = cell.apply(ufunc, now)
                if answer is not NotImplemented:
                    return answer
        if not any(map(is_symbolic, now)):
            return ufunc(*now)
        return rule(*now)

    return apply


def as_objects(value: Any) -> Any:
    """Cells of a result, or the one."""
    cells = cells_of(value)
    return cells if cells.ndim else cells.item()


def _refuse(inputs: Any, use: str) -> Any:
    return first_symbolic(inputs).refuse(use)


# Python raises, or gives another type, where NumPy answers or wraps.
_OTHERWISE_IN_NUMPY = frozenset(
    {operator.truediv, operator.floordiv, operator.mod, operator.pow}
    | {operator.lshift, operator.rshift}
)


def _by_operator(operation: Any) -> Callable[[Any, Any], Any]:
    if operation in _OTHERWISE_IN_NUMPY:
        return lambda left, right: calculate(operation, _of_numpy(left), _of_numpy(right))
    return lambda left, right: calculate(operation, left, right)


def _of_numpy(cell: Any) -> Any:
    """A plain number of Python as the one of NumPy that it is in an array."""
    return np.asarray(cell)[()] if type(cell) in (int, float) else cell


def _by_comparison(comparison: Any) -> Callable[[Any, Any], Any]:
    return lambda left, right: bool(compare(comparison, left, right))


def _bitwise(operation: Any, later: Any) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if all(_is_truth(operand) for operand in (left, right)):
            return later(left, right)
        return calculate(operation, left, right)

    return apply


def _is_truth(cell: Any) -> bool:
    return (cell.kind if is_symbolic(cell) else type(cell)) in (bool, np.bool_)


def _invert(cell: Any) -> Any:
    return negate(cell) if _is_truth(cell) else ~cell.concretise("numpy.invert")


def _rounding(how: str) -> Callable[[Any], Any]:
    return lambda number: number.rounded(how, number.kind)


def _concretise(ufunc: Any) -> Callable[..., Any]:
    """For ufuncs that only some kinds follow."""
    return lambda *cells: ufunc(*concretise_all(cells, f"numpy.{ufunc.__name__}"))


def larger(left: Any, right: Any) -> Any:
    """The larger of two cells; NaN where one is that."""
    if is_nan(left) or is_nan(right):
        return math.nan
    return right if compare(operator.lt, left, right) else left


def smaller(left: Any, right: Any) -> Any:
    """The smaller of two cells; NaN where one is that."""
    if is_nan(left) or is_nan(right):
        return math.nan
    return right if compare(operator.gt, left, right) else left


def _last_largest(left: Any, right: Any) -> Any:
    """As ``numpy.maximum``: of equal ones, as 0.0 and -0.0 are, the second."""
    return larger(right, left)


def _last_smallest(left: Any, right: Any) -> Any:
    """The smaller of two, the last where they are equal, as ``numpy.minimum``."""
    return smaller(right, left)


def _but_for_nan(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Choose between two numbers, but of one number and NaN take the number."""

    def chosen(left: Any, right: Any) -> Any:
        return right if is_nan(left) else left if is_nan(right) else choose(left, right)

    return chosen


def _sign(one: Any) -> Any:
    return 1 if compare(operator.gt, one, 0) else -1 if compare(operator.lt, one, 0) else 0


#: Rules for cells, at least one of which is symbolic.
FOLLOWED: dict[Any, Callable[..., Any]] = {
    **{one: _concretise(one) for one in (*UNARY, *BINARY)},
    **{ufunc: _by_operator(operation) for ufunc, operation in ARITHMETIC.items()},
    **{ufunc: _by_comparison(comparison) for ufunc, comparison in COMPARISONS.items()},
    np.logical_and: conjoin,
    np.logical_or: disjoin,
    np.logical_xor: differ,
    np.logical_not: negate,
    np.bitwise_and: _bitwise(operator.and_, conjoin),
    np.bitwise_or: _bitwise(operator.or_, disjoin),
    np.bitwise_xor: _bitwise(operator.xor, differ),
    np.invert: _invert,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: abs,
    np.floor: _rounding("floor"),
    np.ceil: _rounding("ceil"),
    np.rint: _rounding("rint"),
    np.trunc: lambda one: truncate(one, one.kind),
    np.maximum: _last_largest,
    np.minimum: _last_smallest,
    np.fmax: _but_for_nan(larger),
    np.fmin: _but_for_nan(smaller),
    np.sign: _sign,
    **{one: _concretise(one) for one in (np.isnan, np.isinf, np.isfinite)},
}
#: Functions that are what a ufunc's ``reduce`` is.
_REDUCTIONS: Mapping[Any, Any] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_or: np.any,
    np.logical_and: np.all,
    np.bitwise_or: np.any,
    np.bitwise_and: np.all,
}


def names_of_numpy(*names: str) -> frozenset[Any]:
    """What this version of NumPy has of these names."""
    return frozenset(getattr(np, name) for name in names if hasattr(np, name))


#: Answered by NumPy after branching over all values; their results are new.
CONCRETISED = names_of_numpy(
    *("arccos", "arccosh", "arcsin", "arctan2", "arctanh", "cos", "cosh", "sin", "tan"),
    *("degrees", "radians", "deg2rad", "rad2deg", "divmod", "modf", "frexp", "ldexp", "fmod"),
    *("copysign", "signbit", "nextafter", "spacing", "heaviside", "hypot", "gcd", "lcm"),
    *("logaddexp", "logaddexp2", "conjugate", "bitwise_count", "float_power"),
) - frozenset(FOLLOWED)
#: Products of vectors by other names, dates and strings.
REFUSED = names_of_numpy("isnat", "vecdot", "matvec", "vecmat")
NUMPY.ufunc = answer_ufunc
