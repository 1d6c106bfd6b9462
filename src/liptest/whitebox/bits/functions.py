"""NumPy's functions of arrays of 0/1 variables: sums, what follows from them, moves, the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.whitebox.bits.arrays import BitArray, array_of, as_entries, entrywise
from liptest.whitebox.bits.arrays import settled_options as _settled_options
from liptest.whitebox.bits.formulas import Formula
from liptest.whitebox.bits.numbers import MOST, Scaled, Step, fits, whole_numbers
from liptest.whitebox.bits.rows import joined_entries
from liptest.whitebox.bits.sums import BitSum
from liptest.whitebox.bits.tables import Entries, combined, plain_entries
from liptest.whitebox.bits.variables import Bits
from liptest.whitebox.bits.views import Store
from liptest.whitebox.ducks import Duck, settled_in

# Different values among which a largest one is looked for one by one.
_MOST_VALUES = 16


#: Not answered in a way of its own.
_NOT = object()


def answered(array: BitArray, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
    """A function of NumPy with an array of variables among its arguments."""
    known = _FUNCTIONS.get(function)
    if known is not None:
        found = known(*arguments, **options)
        if found is not _NOT:
            return found
    if function in _MOVES and type(arguments[0]) is BitArray:
        first, *rest = arguments
        return first._moved(lambda places: function(places, *rest, **options))
    if function in _SHAPES and type(arguments[0]) is BitArray:
        return function(array.entries.model(), *arguments[1:], **options)
    if function in _ENTRYWISE and not options and len(arguments) == _ENTRYWISE[function]:
        return entrywise(array._bits, function, tuple(arguments))
    use = f"numpy.{function.__name__}"
    if function.__name__ in _WRITING and type(arguments[0]) is BitArray:
        array.escape(use)
    return function(*settled_in(tuple(arguments), use), **_settled_options(options))


_WRITING = frozenset({"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"})


_ENTRYWISE = {np.where: 3, np.clip: 3, np.round: 1, np.around: 1, np.select: 0}


_MOVES = frozenset(
    {np.reshape, np.ravel, np.transpose, np.squeeze, np.swapaxes, np.moveaxis, np.expand_dims}
    | {np.flip, np.fliplr, np.flipud, np.roll, np.tile, np.repeat, np.take, np.atleast_1d}
    | {np.atleast_2d, np.copy, np.rot90, np.delete}
)


_SHAPES = frozenset(
    {np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like, np.full_like}
    | {np.result_type, np.iscomplexobj, np.isrealobj}
)


def _reducing(reduce: Callable[[BitArray], Any]) -> Callable[..., Any]:
    """A reduction of all entries, or along one axis, of which each result is looked at."""

    def reduction(array: Any, axis: Any = None, **options: Any) -> Any:
        if type(array) is not BitArray or any(one is not None for one in options.values()):
            return _NOT
        if axis is None or (array.ndim == 1 and axis in (0, -1)):
            return reduce(array)
        if not isinstance(axis, int) or array.ndim < 2:
            return _NOT
        lanes = np.moveaxis(array._all_places(), axis, -1)
        found = [reduce(array._seen(lane)) for lane in lanes.reshape(-1, lanes.shape[-1])]
        if any(one is _NOT for one in found):
            return _NOT
        plain = [one.settled("a sum along an axis") if _is_duck(one) else one for one in found]
        return np.array(plain).reshape(lanes.shape[:-1])

    return reduction


def _is_duck(one: Any) -> bool:
    return issubclass(type(one), Duck)


def _sum_of(
    bits: Bits, entries: Entries, table: tuple[NDArray[np.int64], int] | None, kind: Any
) -> Any:
    """The sum of whole numbers and a power of two, where every order of adding is exact."""
    if table is None:
        return _NOT
    whole, shift = table
    largest = sum(np.abs(whole).max(axis=1, initial=0).tolist())
    if not fits(kind, -largest if (whole < 0).any() else 0, largest):
        return _NOT
    return BitSum(bits, Formula(Entries(entries.variables, whole), Scaled(kind, shift)))


def _sum(array: BitArray) -> Any:
    entries = array.entries.flat()
    kind = type(np.sum(np.zeros(1, dtype=array.dtype)))
    return _sum_of(array._bits, entries, whole_numbers(entries.table), kind)


def _mean(array: BitArray) -> Any:
    if array.dtype.kind not in "biu" and array.dtype != np.float64:
        return _NOT
    entries = array.entries.flat()
    found = _sum_of(array._bits, entries, whole_numbers(entries.table), np.float64)
    return found if found is _NOT else found / array.size


def _count(array: BitArray, kind: Any) -> BitSum:
    entries = array.entries.flat()
    truth = entries.table.astype(bool).astype(np.int64)
    return BitSum(array._bits, Formula(Entries(entries.variables, truth), Scaled(kind)))


def _count_nonzero(array: BitArray) -> Any:
    return _count(array, type(np.count_nonzero(np.zeros(1))))


def _any(array: BitArray) -> Any:
    return _count(array, np.int64).after(Step.of(np.greater, 0, False))


def _all(array: BitArray) -> Any:
    return _count(array, np.int64).after(Step.of(np.equal, array.size, False))


def _extreme(sign: int) -> Callable[[BitArray], Any]:
    def extreme(array: BitArray) -> Any:
        table = array.entries.table
        values = np.unique(table)[::-sign]
        if not _is_ordered(table) or not 0 < len(values) <= _MOST_VALUES:
            return _NOT
        for value in values[:-1]:
            if _any(_where_equal(array, value)):
                return value
        return values[-1]

    return extreme


def _is_ordered(table: NDArray[Any]) -> bool:
    """Whether equal numbers are the same, and there is no NaN."""
    if table.dtype.kind == "f":
        return not bool(np.isnan(table).any() or (np.signbit(table) & (table == 0)).any())
    return table.dtype.kind in "biu"


def _where_equal(array: BitArray, value: Any) -> BitArray:
    entries = array.entries
    return BitArray(array._bits, Store(Entries(entries.variables, entries.table == value)))


def _first_extreme(sign: int) -> Callable[[BitArray], Any]:
    def first_extreme(array: BitArray) -> Any:
        table = array.entries.table
        if not _is_ordered(table) or not table.size:
            return _NOT
        best = table.max() if sign > 0 else table.min()
        line = array.ravel()
        for place in range(line.size):
            if line[place] == best:
                return np.intp(place)
        plain = line.settled("argmax")
        return plain.argmax() if sign > 0 else plain.argmin()

    return first_extreme


def dot(left: Any, right: Any, *out: Any) -> Any:
    """``numpy.dot`` of vectors, or of a vector and a matrix, of which one may be plain."""
    shapes = np.shape(left), np.shape(right)
    if not out and len(shapes[0]) == len(shapes[1]) == 1 and shapes[0] == shapes[1]:
        found = _dot(left, right)
        if found is not _NOT:
            return found
    elif not out and type(left) is BitArray and len(shapes[0]) == 1 and len(shapes[1]) == 2:
        return _each([dot(left, column) for column in np.asarray(_plain(right)).T])
    elif not out and type(right) is BitArray and len(shapes[1]) == 1 and len(shapes[0]) == 2:
        return _each([dot(row, right) for row in np.asarray(_plain(left))])
    return np.dot(_plain(left), _plain(right), *out)


def _inner(left: Any, right: Any) -> Any:
    return dot(left, right) if np.ndim(left) == np.ndim(right) == 1 else _NOT


def _each(sums: list[Any]) -> NDArray[Any]:
    return np.array([_plain(one) for one in sums])


def _plain(one: Any) -> Any:
    return one.settled("numpy.dot") if _is_duck(one) else one


def _dot(left: Any, right: Any) -> Any:
    bits = (left if type(left) is BitArray else right)._bits
    pair = [
        as_entries(bits, one) if type(one) is BitArray else plain_entries(np.asarray(one))
        for one in (left, right)
    ]
    models = [one.model() for one in pair]  # type: ignore[union-attr]
    kind = type(np.dot(*models))
    whole = [whole_numbers(one.table) for one in pair]  # type: ignore[union-attr]
    if kind not in (np.int64, np.float64) or whole[0] is None or whole[1] is None:
        return _NOT
    if int(np.abs(whole[0][0]).max()) * int(np.abs(whole[1][0]).max()) >= MOST:
        return _NOT
    numbers = [
        Entries(one.variables, table)  # type: ignore[union-attr]
        for one, (table, _) in zip(pair, (whole[0], whole[1]), strict=True)
    ]
    entries = combined(np.multiply, tuple(numbers))
    if entries is None:
        return _NOT
    return _sum_of(bits, entries, (entries.table, whole[0][1] + whole[1][1]), kind)


def _concatenate(arrays: Any, axis: Any = 0, **options: Any) -> Any:
    if options or axis is None:
        return _NOT
    bits = next(one._bits for one in arrays if type(one) is BitArray)
    given = [_entries_of(bits, one) for one in arrays]
    models = [one.model() for one in given]
    dtype = np.concatenate(models, axis=axis).dtype  # raises NumPy's own errors
    count = max(one.count for one in given)
    padded = [one.padded(count) for one in given]
    place = range(models[0].ndim)[axis]
    return array_of(
        bits,
        Entries(
            np.concatenate([one.variables for one in padded], axis=place),
            np.concatenate([one.table.astype(dtype) for one in padded], axis=place),
        ),
    )


def _entries_of(bits: Bits, one: Any) -> Entries:
    found = as_entries(bits, one)
    return plain_entries(np.asarray(one)) if found is None else found


def _stacked(function: Callable[..., Any]) -> Callable[..., Any]:
    def stacked(arrays: Any, *arguments: Any, **options: Any) -> Any:
        """As indices into all the entries in line, stacked likewise."""
        if options.keys() - {"axis"} or not isinstance(arrays, (list, tuple)):
            return _NOT
        bits = next(one._bits for one in arrays if type(one) is BitArray)
        given = [_entries_of(bits, one) for one in arrays]
        dtype = np.result_type(*(one.table for one in given))
        ends = np.cumsum([one.model().size for one in given])
        places = [
            np.arange(end - one.model().size, end).reshape(one.shape)
            for end, one in zip(ends, given, strict=True)
        ]
        line = joined_entries(
            [Entries(one.flat().variables, one.flat().table.astype(dtype)) for one in given]
        )
        return array_of(bits, line.at(function(places, *arguments, **options)))

    return stacked


def _array_equal(left: Any, right: Any, **options: Any) -> Any:
    if options:
        return _NOT
    return np.shape(left) == np.shape(right) and bool(np.all(np.equal(left, right)))


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reducing(_sum),
    np.mean: _reducing(_mean),
    np.any: _reducing(_any),
    np.all: _reducing(_all),
    np.count_nonzero: _reducing(_count_nonzero),
    np.max: _reducing(_extreme(1)),
    np.amax: _reducing(_extreme(1)),
    np.min: _reducing(_extreme(-1)),
    np.amin: _reducing(_extreme(-1)),
    np.argmax: _reducing(_first_extreme(1)),
    np.argmin: _reducing(_first_extreme(-1)),
    np.dot: dot,
    np.inner: _inner,
    np.concatenate: _concatenate,
    np.stack: _stacked(np.stack),
    np.hstack: _stacked(np.hstack),
    np.vstack: _stacked(np.vstack),
    np.column_stack: _stacked(np.column_stack),
    np.array_equal: _array_equal,
}
