"""NumPy's functions of symbolic values and arrays: one table for all kinds.

Every function of NumPy is in exactly one of four sets, by name; what is in none is refused:

* ``FOLLOWED``: answered here, from the cells (``@follows``); ``MOVES`` among them only move entries
  and give views where NumPy does, ``SHAPES`` look at shape and type only;
* ``CONCRETISED``: answered by NumPy, with a new array, after branching over all values; so is a
  followed function with options that are not followed;
* ``REFUSED``: they write into an argument, give views, or read and write files.

A storage is asked first (``Storage.answer_function``). To follow one more function: one decorated
function here, and its name leaves the other sets.
"""

from __future__ import annotations

import inspect
import math
import operator
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import chain
from typing import Any

import numpy as np

from liptest.values.answers.ranked_places import RankedPlace, Ranking
from liptest.values.array import Cells, SymbolicArray, cells_of, fill_array, make_array, make_model
from liptest.values.closeness import is_close
from liptest.values.draws.noise_run import NoiseRun
from liptest.values.faults import raises_as_numpy
from liptest.values.found_truths import count_truths, first_where, places_where
from liptest.values.lines import find_asking_line
from liptest.values.ordering import MOST_SORTED, find_order, place_of_largest
from liptest.values.protocol import (
    NUMPY,
    Symbolic,
    calculate,
    concretise_all,
    first_symbolic,
    is_nan,
    is_symbolic,
    round_to,
    symbolic_in,
)
from liptest.values.records.record_storage import beside_records
from liptest.values.ufuncs import entrywise, names_of_numpy, write_into

#: Not answered in a way of its own.
NOT_ANSWERED = object()
# What NumPy passes on for options that were not given.
_NO_VALUE: Any = np._NoValue
_ZERO: Any = 0
Handler = Callable[..., Any]
FOLLOWED: dict[Any, Handler] = {}


def answer_function(function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function of NumPy with something symbolic among its arguments."""
    use = f"numpy.{function.__name__}"
    out = _bound(function, arguments, options).get("out")
    if out is not None and function not in WITH_OUT:
        _refuse((*arguments, *options.values()), f"{use} with out=")
    arguments = beside_records(arguments)
    for operand in symbolic_in((*arguments, *options.values())):
        answer = operand.answer_function(function, arguments, options)
        if answer is not NotImplemented:
            return answer
    rule = FOLLOWED.get(function)
    if rule is not None:
        answer = rule(*arguments, **options)
        if answer is not NOT_ANSWERED:
            return answer
    if function in MOVES and type(arguments[0]) is SymbolicArray:
        return _move(function, *arguments, **options)
    if function in SHAPES and arguments and issubclass(type(arguments[0]), Symbolic):
        return function(make_model(arguments[0]), *arguments[1:], **options)
    if rule is None and function not in MOVES and function.__name__ not in CONCRETISED:
        _refuse((*arguments, *options.values()), use)
    if out is not None:
        _refuse((*arguments, *options.values()), f"{use} with out=")
    return call_plain(function, concretise_all(arguments, use), concretise_all(options, use))


@raises_as_numpy
def call_plain(function: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """What NumPy itself gives, or raises, for plain arguments."""
    return function(*arguments, **options)


def _refuse(values: Any, use: str) -> Any:
    return first_symbolic(values).refuse(use)


@lru_cache(maxsize=512)
def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _bound(function: Any, arguments: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name; those that a function of C has no names for are left out."""
    signature = _signature(function)
    if signature is None:
        more = {"out": arguments[2]} if function is np.dot and len(arguments) > 2 else {}
        return {**options, **more}
    try:
        return dict(signature.bind(*arguments, **options).arguments)
    except TypeError:
        return dict(options)


def follows(*functions: Any) -> Callable[[Handler], Handler]:
    """Register the decorated function as the way in which NumPy's functions are answered."""

    def register(handler: Handler) -> Handler:
        FOLLOWED.update(dict.fromkeys(functions, handler))
        return handler

    return register


#: They only move the entries of one array.
MOVES = names_of_numpy(
    *("reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "squeeze", "swapaxes"),
    *("moveaxis", "rollaxis", "flip", "fliplr", "flipud", "tile"),
    *("repeat", "take", "compress", "copy", "delete"),
)
#: They look at shape and type of the first argument only.
SHAPES = names_of_numpy(
    *("shape", "ndim", "size", "zeros_like", "ones_like", "empty_like", "full_like"),
    *("iscomplexobj", "isrealobj"),
)
#: Functions whose ``out=`` may be a symbolic array.
WITH_OUT = names_of_numpy("clip", "round", "around", "sum", "cumsum", "max", "min", "amax", "amin")


def _move(function: Any, array: Any, *arguments: Any, **options: Any) -> Any:
    use = f"numpy.{function.__name__}"
    rest, more = concretise_all(arguments, use), concretise_all(options, use)
    move = np.ndarray.ravel if function is np.ravel else function  # it asks for an array first
    return array.moved(lambda cells: move(cells, *rest, **more))


# Those of NumPy that are written in Python ask for arrays by names that stand for others here.


def _reshaping(function: Any) -> Handler:
    def reshape(array: Any, *arguments: Any, **options: Any) -> Any:
        if not issubclass(type(array), Symbolic) or _any_symbolic(*arguments, *options.values()):
            return NOT_ANSWERED
        model = np.empty(np.shape(make_model(array)), np.bool_)
        shape = np.shape(call_plain(function, (model, *arguments), options))
        if type(array) is SymbolicArray:
            return array.reshape(shape)
        return make_array(array.branching, fill_array([array], shape, object), np.dtype(array.kind))

    return reshape


def _copying(function: Any) -> Handler:
    def copy_with(array: Any, *arguments: Any, **options: Any) -> Any:
        if type(array) is not SymbolicArray or _any_symbolic(*arguments, *options.values()):
            return NOT_ANSWERED
        places = np.arange(array.size).reshape(array.shape)
        taken = call_plain(function, (places, *arguments), options)
        return array.moved(lambda cells: cells.ravel()[taken])

    return copy_with


for _function in names_of_numpy("atleast_1d", "atleast_2d", "atleast_3d", "expand_dims"):
    FOLLOWED[_function] = _reshaping(_function)
for _function in names_of_numpy("roll", "resize"):
    FOLLOWED[_function] = _copying(_function)


@follows(np.diagonal)
def _diagonal(array: Any, *arguments: Any, **options: Any) -> Any:
    if type(array) is not SymbolicArray or _any_symbolic(*arguments, *options.values()):
        return NOT_ANSWERED
    return array.moved(lambda cells: cells.diagonal(*arguments, **options))


def _splitting(function: Any) -> Handler:
    def split(array: Any, *arguments: Any, **options: Any) -> Any:
        if type(array) is not SymbolicArray:
            return NOT_ANSWERED
        use = f"numpy.{function.__name__}"
        rest, more = concretise_all(arguments, use), concretise_all(options, use)
        parts = call_plain(function, (np.empty(array.shape, np.bool_), *rest), more)

        def part(cells: Any, place: int) -> Any:
            return function(cells, *rest, **more)[place]

        return type(parts)(array.moved(partial(part, place=k)) for k in range(len(parts)))

    return split


for _function in names_of_numpy("array_split", "split", "hsplit", "vsplit", "dsplit", "unstack"):
    FOLLOWED[_function] = _splitting(_function)


# ---- reductions


def _reducing(reduce: Callable[[Cells], Any], function: Any) -> Handler:
    """A reduction of all entries, or along one axis."""

    def reduction(
        array: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        **options: Any,
    ) -> Any:
        given = [
            option for option in options.values() if option is not None and option is not _NO_VALUE
        ]
        if given or dtype is not None:
            return NOT_ANSWERED
        cells = cells_of(array)
        if not is_followed(cells):
            return NOT_ANSWERED
        keep = keepdims is not _NO_VALUE and bool(keepdims)
        model = function(
            np.asarray(make_model(array)), axis=axis, **({"keepdims": True} if keep else {})
        )
        lanes = cells.reshape(1, -1)
        if axis is not None:
            axes = axis if isinstance(axis, tuple) else (axis,)
            lanes = np.moveaxis(cells, axes, range(-len(axes), 0))
            lanes = lanes.reshape(-1, math.prod(lanes.shape[cells.ndim - len(axes) :]))
        entries = fill_array([reduce(lane) for lane in lanes], (len(lanes),), object)
        shape = np.shape(model)
        reduced = entries.reshape(shape) if shape else entries[0]
        made = make_array(first_symbolic((array,)).branching, reduced, np.asarray(model).dtype)
        if out is None:
            return made
        return write_into(out, made) if type(out) is SymbolicArray else NOT_ANSWERED

    return reduction


def is_followed(cells: Cells) -> bool:
    """Whether some cell is more than a comparison, or another number to be looked at first."""
    values = [cell for cell in cells.flat if is_symbolic(cell)]
    return any(cell.calculates_with_its_own or not cell.is_discrete for cell in values)


def sum_cells(lane: Any) -> Any:
    """The sum of cells, in their order."""
    total: Any = 0
    for cell in lane:
        total = _plus(total, cell)
    return total


def _plus(left: Any, right: Any) -> Any:
    if is_symbolic(left) or is_symbolic(right):
        return calculate(operator.add, left, right)
    return left + right


def _times(left: Any, right: Any) -> Any:
    if is_symbolic(left) or is_symbolic(right):
        return calculate(operator.mul, left, right)
    return left * right


def _extreme(sign: int) -> Callable[[Cells], Any]:
    return lambda lane: lane[place_of_largest(lane, sign)]


_sum_up = _reducing(sum_cells, np.sum)


@follows(np.sum)
def _sum(array: Any, *arguments: Any, **options: Any) -> Any:
    if (
        type(array) is SymbolicArray
        and array.dtype == np.bool_
        and _is_plain_call(arguments, options)
    ):
        cells = cells_of(array)
        if not is_followed(cells):
            return count_truths(array, cells, np.int64)
    return _sum_up(array, *arguments, **options)


def _is_plain_call(arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether a reduction of all entries is asked for, with nothing else said."""
    given = (*arguments, *options.values())
    return all(option is None or option is _NO_VALUE for option in given)


_mean = follows(np.mean)(_reducing(lambda lane: sum_cells(lane) / len(lane), np.mean))
_max = follows(*names_of_numpy("max", "amax"))(_reducing(_extreme(1), np.max))
_min = follows(*names_of_numpy("min", "amin"))(_reducing(_extreme(-1), np.min))


@follows(np.linalg.norm)
def _norm(array: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if ord != 1 or axis is not None or keepdims or np.ndim(make_model(array)) != 1:
        return NOT_ANSWERED
    return np.sum(np.abs(np.asarray(array) if type(array) is list else array))


def _searching(function: Any, wanted: bool, answer: Callable[[int | None], Any]) -> Handler:
    """any() and all(): nothing is looked at that does not count; along an axis by lanes."""

    def search(
        array: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        given = [
            option for option in options.values() if option is not None and option is not _NO_VALUE
        ]
        if given or out is not None or isinstance(axis, tuple):
            return NOT_ANSWERED
        cells = cells_of(array)
        if axis is None and (keepdims is _NO_VALUE or not keepdims):
            return np.bool_(answer(first_where(cells, wanted)))
        keep = {} if keepdims is _NO_VALUE else {"keepdims": keepdims}
        model = function(np.ones(cells.shape, np.bool_), axis=axis, **keep)
        lanes = cells.reshape(1, -1) if axis is None else np.moveaxis(cells, axis, -1)
        lanes = lanes.reshape(-1, lanes.shape[-1])
        answers = [answer(first_where(lane, wanted)) for lane in lanes]
        return np.array(answers, dtype=np.bool_).reshape(np.shape(model))

    return search


follows(np.any)(_searching(np.any, True, lambda place: place is not None))


follows(np.all)(_searching(np.all, False, lambda place: place is None))


def _place(sign: int, function: Any) -> Handler:
    by_value = _reducing(lambda lane: place_of_largest(lane, sign), function)

    def place(array: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        cells = cells_of(array)
        if type(array) is SymbolicArray and array.dtype == np.bool_:
            if (
                options
                or out is not None
                or (axis is not None and cells.ndim > 1)
                or not cells.size
            ):
                return NOT_ANSWERED
            return np.intp(first_where(cells, sign > 0) or 0)
        return by_value(array, axis=axis, out=out, **options)

    return place


follows(np.argmax)(_place(1, np.argmax))


follows(np.argmin)(_place(-1, np.argmin))


@follows(np.count_nonzero)
def _count_nonzero(array: Any, axis: Any = None, **options: Any) -> Any:
    if axis is not None or options:
        return NOT_ANSWERED
    return count_truths(array, cells_of(array), type(np.count_nonzero(np.zeros(1))))


def _of_truths(function: Any) -> Handler:
    return lambda array: places_where(function, array)


for _function in names_of_numpy("nonzero", "flatnonzero", "argwhere"):
    FOLLOWED[_function] = _of_truths(_function)


@follows(np.cumsum)
def _cumsum(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    cells = cells_of(array)
    if dtype is not None or (axis is not None and cells.ndim != 1) or not is_followed(cells):
        return NOT_ANSWERED
    model = np.cumsum(np.asarray(make_model(array)), axis)
    totals, total = list[Any](), _ZERO
    for cell in cells.flat:
        # The first one is kept, also -0.0.
        total = _plus(total, cell) if totals or model.dtype.kind != "f" else cell
        totals.append(total)
    line = fill_array(totals, (len(totals),), object)
    made = make_array(first_symbolic((array,)).branching, line, model.dtype)
    if out is None:
        return made
    return write_into(out, made) if type(out) is SymbolicArray else NOT_ANSWERED


@follows(np.dot)
def _dot(left: Any, right: Any, out: Any = None) -> Any:
    pair = cells_of(left), cells_of(right)
    if not any(map(is_followed, pair)):
        return NOT_ANSWERED
    model = np.dot(np.asarray(make_model(left)), np.asarray(make_model(right)))
    if not pair[0].ndim or not pair[1].ndim:
        return np.multiply(left, right)
    if max(pair[0].ndim, pair[1].ndim) > 2:
        return NOT_ANSWERED
    rows, columns = np.atleast_2d(pair[0]), pair[1]
    columns = columns.reshape(-1, 1) if columns.ndim == 1 else columns
    products = [_sum_of_products(row, column) for row in rows for column in columns.T]
    cells = fill_array(products, (len(products),), object)
    made = cells.reshape(np.shape(model)) if np.ndim(model) else cells[0]
    return make_array(first_symbolic((left, right)).branching, made, np.asarray(model).dtype)


def _sum_of_products(row: Any, column: Any) -> Any:
    """What is 0 times a finite number is left out, where something is left."""
    pairs = list(zip(row, column, strict=True))
    kept = [
        pair for pair in pairs if not (_is_finite_at_zero(*pair) or _is_finite_at_zero(*pair[::-1]))
    ]
    some = kept if any(map(is_symbolic, chain.from_iterable(kept))) else pairs
    return sum_cells([_times(a, b) for a, b in some])


def _is_finite_at_zero(value: Any, factor: Any) -> bool:
    return is_symbolic(value) and value.is_finite and not is_symbolic(factor) and factor == 0


@follows(np.inner)
def _inner(a: Any, b: Any) -> Any:
    return np.dot(a, b) if np.ndim(a) == np.ndim(b) == 1 else NOT_ANSWERED


@follows(np.diff)
def _diff(array: Any, n: int = 1, axis: int = -1, **options: Any) -> Any:
    if options or n != 1 or np.ndim(array) != 1:
        return NOT_ANSWERED
    return array[1:] != array[:-1] if array.dtype == np.bool_ else array[1:] - array[:-1]


# ---- order


@follows(np.sort)
def _sort(array: Any, axis: Any = -1, kind: Any = None, order: Any = None, **options: Any) -> Any:
    cells = cells_of(array)
    if order is not None or any(options.values()) or not is_followed(cells):
        return NOT_ANSWERED
    if axis is None:
        cells, axis = cells.ravel(), -1
    lanes = np.moveaxis(cells, axis, -1)
    flat = lanes.reshape(-1, lanes.shape[-1])
    taken = [lane[place] for lane in flat for place in find_order(lane)]
    made = np.moveaxis(fill_array(taken, flat.shape, object).reshape(lanes.shape), -1, axis)
    return make_array(array.branching, made, array.dtype)


@follows(np.argsort)
def _argsort(array: Any, axis: Any = -1, kind: Any = None, order: Any = None, **more: Any) -> Any:
    cells = cells_of(array)
    if (
        cells.ndim != 1
        or axis not in (-1, 0, None)
        or order is not None
        or more.keys() - {"stable"}
    ):
        return NOT_ANSWERED
    if not is_followed(cells):
        return NOT_ANSWERED
    stable = kind in ("stable", "mergesort") or more.get("stable")
    values = [cell for cell in cells if is_symbolic(cell)]
    numbers = [cell for cell in cells if not is_symbolic(cell) and not is_nan(cell)]
    tied = any(cell.is_discrete for cell in values) or len(set(numbers)) < len(numbers)
    if not stable and tied:
        return NOT_ANSWERED  # the order of equal ones is not known
    # The law of a whole order is one question; where data are symbolic each question has a price.
    is_asked_whole = len(cells) <= MOST_SORTED and not NoiseRun.of(array.branching).has_answers
    if is_asked_whole or any(map(is_nan, cells)):
        return np.array(find_order(cells), dtype=np.intp)
    ranking = Ranking(cells)
    ranked = [RankedPlace(array.branching, ranking, rank) for rank in range(len(cells))]
    return make_array(array.branching, fill_array(ranked, cells.shape, object), np.dtype(np.intp))


@follows(np.argpartition, np.partition)
def _partitioned(array: Any, *arguments: Any, **options: Any) -> Any:
    if not is_followed(cells_of(array)):
        return NOT_ANSWERED
    line = find_asking_line(sys._getframe(1))
    branching = first_symbolic((array,)).branching
    return branching.forbid(
        f"numpy.partition or argpartition of noisy numbers ({line}), whose order within the parts "
        f"is not known",
        "write np.argsort(noisy)[::-1][:k], or np.sort",
    )


# ---- entry by entry

#: Whether ``numpy.clip`` keeps the entry where it equals a bound, as -0.0 equals 0.0: from 2.1 on.
_KEEPS_ENTRY = bool(np.signbit(np.clip(-0.0, 0, 1)))


@follows(np.clip)
def _clip(array: Any, *bounds: Any, out: Any = None, **options: Any) -> Any:
    given = {name: option for name, option in options.items() if option is not _NO_VALUE}
    if len(bounds) > 2 and out is None:
        out = bounds[2]
    low = bounds[0] if bounds else given.pop("a_min", given.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else given.pop("a_max", given.pop("max", None))
    if low is _NO_VALUE or high is _NO_VALUE or given:
        return NOT_ANSWERED
    clipped = array
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        if bound is not None:
            pair = (bound, clipped) if _KEEPS_ENTRY else (clipped, bound)
            clipped = entrywise(ufunc, pair) if _any_symbolic(*pair) else ufunc(*pair)
    if clipped is array and type(array) is SymbolicArray:
        clipped = array.copy()
    if out is None:
        return clipped
    return write_into(out, clipped) if type(out) is SymbolicArray else NOT_ANSWERED


def _any_symbolic(*values: Any) -> bool:
    return any(issubclass(type(value), Symbolic) for value in values)


@follows(*names_of_numpy("round", "around"))
def _round(array: Any, decimals: Any = 0, out: Any = None) -> Any:
    dtype = np.round(np.asarray(make_model(array)), decimals).dtype
    if is_symbolic(array):
        return round_to(array, decimals, dtype.type, np.round)

    def round_array(one: Any) -> Any:
        if is_symbolic(one):
            return round_to(one, decimals, dtype.type, np.round)
        return np.round(one, decimals)

    made = np.frompyfunc(round_array, 1, 1)(cells_of(array))
    numbers = make_array(array.branching, made, dtype)
    if out is None:
        return numbers
    return write_into(out, numbers) if type(out) is SymbolicArray else NOT_ANSWERED


@follows(*names_of_numpy("fix"))
def _fix(array: Any, out: Any = None) -> Any:
    return NOT_ANSWERED if out is not None else np.trunc(array)


@follows(np.where)
def _where(condition: Any, *pair: Any) -> Any:
    if len(pair) != 2:
        return _of_truths(np.where)(condition)
    truth = condition
    if _any_symbolic(condition):
        truth = _of_truths(np.asarray)(condition)
    if not _any_symbolic(*pair):
        return np.where(truth, *pair)
    dtype = np.where(np.asarray(truth), *map(make_model, pair)).dtype
    cells = np.where(np.asarray(truth), *map(cells_of, pair))
    branching = first_symbolic(pair).branching
    return make_array(branching, cells if cells.ndim else cells[()], dtype)


# ---- joining


def _joining(function: Any) -> Handler:
    def join(arrays: Any, *arguments: Any, **options: Any) -> Any:
        if any(options.get(name) is not None for name in ("out", "dtype")):
            return NOT_ANSWERED
        parts = arrays if isinstance(arrays, (list, tuple)) else list(arrays)
        model = function([np.asarray(make_model(part)) for part in parts], *arguments, **options)
        cells = function([cells_of(part) for part in parts], *arguments, **options)
        return make_array(first_symbolic(parts).branching, cells, model.dtype)

    return join


for _function in names_of_numpy(
    "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"
):
    FOLLOWED[_function] = _joining(_function)


@follows(np.append)
def _append(array: Any, values: Any, axis: Any = None) -> Any:
    model = np.append(np.asarray(make_model(array)), np.asarray(make_model(values)), axis)
    cells = np.append(cells_of(array), cells_of(values), axis)
    return make_array(first_symbolic((array, values)).branching, cells, model.dtype)


@follows(np.insert)
def _insert(array: Any, places: Any, values: Any, axis: Any = None) -> Any:
    if issubclass(type(places), Symbolic):
        return NOT_ANSWERED
    model = np.insert(np.asarray(make_model(array)), places, make_model(values), axis)
    cells = np.insert(cells_of(array), places, cells_of(values), axis)
    return make_array(first_symbolic((array, values)).branching, cells, model.dtype)


# ---- writing


@follows(np.copyto)
def _copyto(target: Any, source: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if type(target) is not SymbolicArray or where is not True or casting != "same_kind":
        _refuse((target, source, where), "numpy.copyto")
    write_into(target, source)


@follows(np.put)
def _put(array: Any, places: Any, values: Any, mode: Any = "raise") -> None:
    if type(array) is not SymbolicArray or mode != "raise":
        _refuse((array, places, values), "numpy.put")
    where = np.ravel(np.asarray(concretise_all(places, "numpy.put")))
    given = cells_of(values).ravel()
    for k, place in enumerate(where.tolist() if given.size else []):
        array[np.unravel_index(range(array.size)[place], array.shape)] = given[k % given.size]


# ---- alike


@follows(np.array_equal)
def _array_equal(left: Any, right: Any, equal_nan: bool = False) -> Any:
    if equal_nan:
        return NOT_ANSWERED
    return np.shape(make_model(left)) == np.shape(make_model(right)) and bool(np.all(left == right))


@follows(np.isclose)
def _isclose(*arguments: Any, **options: Any) -> Any:
    close = is_close(*arguments, **options)
    return NOT_ANSWERED if close is None else close


@follows(np.allclose)
def _allclose(*arguments: Any, **options: Any) -> Any:
    close = is_close(*arguments, **options)
    return NOT_ANSWERED if close is None else bool(np.all(close))


@follows(np.result_type)
def _result_type(*values: Any) -> Any:
    return np.result_type(
        *(make_model(value) if _any_symbolic(value) else value for value in values)
    )


@follows(np.may_share_memory, np.shares_memory)
def _shares_memory(*values: Any, **options: Any) -> Any:
    return _refuse(values, "numpy.shares_memory")


#: Answered by NumPy after branching over all values, with new arrays or numbers.
CONCRETISED = frozenset(
    {
        *("alltrue", "angle", "apply_along_axis", "apply_over_axes", "arange"),
        *("array2string", "array_equiv", "array_repr", "array_str"),
        *("bincount", "block", "can_cast", "choose", "common_type", "corrcoef"),
        *("cov", "cross", "cumprod", "cumproduct", "cumulative_prod"),
        *("cumulative_sum", "diagflat", "empty", "extract", "eye", "full"),
        *("geomspace", "histogram", "histogram2d", "histogram_bin_edges"),
        "min_scalar_type",
        *("histogramdd", "i0", "identity", "in1d", "interp", "intersect1d"),
        *("iscomplex", "isin", "isneginf", "isposinf", "isreal", "lexsort", "linspace"),
        *("logspace", "median", "meshgrid", "msort", "nan_to_num", "nanargmax", "nanargmin"),
        *("nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin"),
        *("nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ones"),
        *("packbits", "pad", "percentile", "piecewise", "poly"),
        *("polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub"),
        *("polyval", "prod", "rot90", "product", "ptp", "quantile", "ravel_multi_index", "roots"),
        *("select", "setdiff1d", "setxor1d", "sinc", "sometrue", "sort_complex", "std"),
        *("take_along_axis", "tri"),
        *("trim_zeros", "union1d", "unique", "unique_all", "unique_counts"),
        *("unique_inverse", "unique_values", "unpackbits", "unravel_index", "unwrap", "vander"),
        *("var", "zeros"),
    }
)
#: They write into an argument, give views of it, or have to do with files, types and memory.
REFUSED = frozenset(
    {
        *("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "astype"),
        *("broadcast_arrays", "broadcast_to", "busday_count", "busday_offset"),
        *("datetime_as_string", "diag_indices_from", "einsum_path", "fill_diagonal"),
        *("frombuffer", "fromfile", "fromfunction", "fromiter", "fromstring", "genfromtxt"),
        *("imag", "is_busday", "ix_", "loadtxt", "place", "put_along_axis", "putmask", "real"),
        *("real_if_close", "require", "save", "savetxt", "savez", "savez_compressed"),
        *("tril_indices_from", "triu_indices_from"),
    }
)
NUMPY.function = answer_function
