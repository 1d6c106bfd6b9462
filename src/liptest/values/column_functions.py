"""NumPy's functions of columns: reductions, lookups, and what is done entry by entry.

One decorated function for each; what has none is refused (``column``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.answers.released_numbers import (
    bins_between,
    find_edges,
    has_edges_of_both,
    histogram_between,
)
from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.opaque_arrays import OpaqueLine
from liptest.values.protocol import Symbolic, is_symbolic

# Registers its type.
from liptest.values.reals import single_total  # noqa: F401
from liptest.values.records.column import FUNCTIONS, STEADY, Column, Table, find_column
from liptest.values.records.record_parts import find_line
from liptest.values.records.record_storage import read_options, take_records
from liptest.values.records.weighted_sums import sum_by_weights
from liptest.values.unfollowed import LastTotal

_NO_VALUE: Any = np._NoValue


def _follows(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(rule: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, rule))
        return rule

    return register


def _require_wide(column: Column, dtype: np.dtype[Any], use: str) -> None:
    """Refuse sums that NumPy keeps in a small type: they may wrap, and those of truths are or."""
    if dtype not in (np.int64, np.float64):
        column.refuse(f"{use} that is added up as {dtype}, which may wrap", "use np.int64")


@_follows(np.sum)
def _sum(
    array: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = _NO_VALUE,
    **options: Any,
) -> Any:
    column = find_column(array)
    if column is None or out is not None or read_options(options):
        return NotImplemented
    if dtype is not None:
        _require_wide(column, np.dtype(dtype), "numpy.sum")
        cast = find_column(array.astype(dtype))
        return NotImplemented if cast is None else cast.sums(axis, "numpy.sum")
    keep = keepdims is not _NO_VALUE and bool(keepdims)
    return NotImplemented if keep else column.sums(axis, "numpy.sum", in_line=True)


@_follows(np.average)
def _average(array: Any, axis: Any = None, weights: Any = None, **options: Any) -> Any:
    """The mean, and with equal weights of the records the sum of products over that of weights."""
    if weights is None:
        return _mean(array, axis, **options)
    column = find_column(array)
    if (
        column is None
        or column.own_kept is not None
        or column.own.ndim != 1
        or read_options(options)
    ):
        return NotImplemented
    is_plain = type(weights) is np.ndarray and weights.ndim == 1 and weights.dtype.kind in "iuf"
    if not is_plain or axis not in (None, 0, -1) or column.dtype == np.longdouble:
        return NotImplemented
    total = float(weights.sum(dtype=np.float64))
    if total == 0 or not math.isfinite(total):
        return NotImplemented
    products: Column = np.multiply(array, weights.astype(np.float64)).storage
    _require_wide(products, products.dtype, "numpy.average")
    return products.sums(None, "numpy.average", scale=1 / Fraction(total), kind=np.float64)


@_follows(np.mean)
def _mean(array: Any, axis: Any = None, **options: Any) -> Any:
    column, dtype = find_column(array), options.pop("dtype", None)
    if column is None or read_options(options) or column.own_kept is not None:
        return NotImplemented
    if dtype is not None:
        is_wide = np.dtype(dtype) == np.float64
        return _mean(array.astype(np.float64), axis) if is_wide else NotImplemented
    if column.dtype.kind == "f" and column.dtype != np.float64:
        return NotImplemented
    across = math.prod(column.own.shape[1:]) if axis is None else 1
    scale = Fraction(1, column.read_length() * across)
    return column.sums(axis, "numpy.mean", scale=scale, kind=np.float64, in_line=True)


@_follows(np.cumsum)
def _cumsum(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    column = find_column(array)
    if column is None or column.own_kept is not None or column.own.ndim > 1 or out is not None:
        return NotImplemented
    if dtype is not None or axis not in (None, 0, -1) or column.is_off:
        return NotImplemented
    column.refuse_places()  # there may be no last one
    kind = np.cumsum(column.own[:1]).dtype
    _require_wide(column, kind, "numpy.cumsum")
    return LastTotal(column, partial(column.sums, None, "numpy.cumsum"))


def _without_nan(function: Any) -> Callable[..., Any]:
    """Of ``np.nansum`` and ``np.nanmean``: sums are of numbers that are finite, or refused."""

    def rule(array: Any, axis: Any = None, **options: Any) -> Any:
        column = find_column(array)
        if column is None or read_options({"axis": axis, **options}) or column.own.ndim > 1:
            return NotImplemented
        if not np.all(np.isfinite(column.own)):
            column.refuse("numbers that are not finite")
        return function(array)

    return rule


FUNCTIONS[np.nansum], FUNCTIONS[np.nanmean] = _without_nan(_sum), _without_nan(_mean)


@_follows(np.count_nonzero)
def _count_nonzero(array: Any, axis: Any = None, **options: Any) -> Any:
    column = find_column(array)
    if column is None or axis is not None or read_options(options):
        return NotImplemented
    kind = type(np.count_nonzero(np.zeros(1)))  # older versions of NumPy give an int
    counted = column.other(column.table != 0)
    table = counted.table.reshape(column.answers.values, -1).sum(axis=1)
    return counted.sum_up(table, kind, "numpy.count_nonzero")


@_follows(np.any)
def _any(array: Any, axis: Any = None, **options: Any) -> Any:
    """Whether there is such a record: a comparison of how many there are."""
    column = find_column(array)
    if column is None or column.is_off or axis not in (None, 0) or read_options(options):
        return NotImplemented
    if column.own.ndim > 1:
        return NotImplemented
    has_any = _count_nonzero(array) > 0
    return has_any if is_symbolic(has_any) else np.bool_(has_any)


@_follows(np.all)
def _all(array: Any, axis: Any = None, **options: Any) -> Any:
    missing = _any(np.logical_not(array), axis, **options) if find_column(array) else NotImplemented
    return missing if missing is NotImplemented else np.logical_not(missing)


@_follows(np.bincount)
def bincount_of_records(array: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """``numpy.bincount``, of numbers of the records, too."""
    column = find_column(array)
    if column is None or column.own.ndim != 1 or column.is_off:
        return NotImplemented
    if is_symbolic(minlength) or column.dtype.kind not in "biu":
        return NotImplemented
    table, cells = column.table, operator.index(minlength)
    taken = table if column.kept is None else table[column.kept]
    if not len(taken) or int(taken.min()) < 0 or int(taken.max()) >= cells:
        return column.refuse(
            "numpy.bincount with a length that depends on the data",
            "give minlength= that is larger than every value",
        )
    if weights is not None:
        return sums_by_place(array, weights, cells, np.dtype(np.float64))
    counts = [column.sum_up(table == cell, np.int64, "numpy.bincount") for cell in range(cells)]
    return make_array(column.branching, fill_array(counts, (cells,), object), np.int64)


def sums_by_place(places: Any, numbers: Any, cells: int, kind: np.dtype[Any]) -> Any:
    """The sum of the numbers of those records that have each place, one after another."""
    column: Any = find_column(places)
    if type(numbers) in (int, float):
        numbers = column.like(np.repeat(np.asarray(numbers), len(column.table)))
    if type(numbers) is not SymbolicArray or not np.can_cast(numbers.dtype, kind, "safe"):
        return column.refuse("sums by place of these numbers")
    numbers = numbers.astype(kind)
    use, totals = "numpy.bincount", []
    for cell in range(cells):
        storage: Any = np.where(places == cell, numbers, kind.type(0)).storage
        if type(storage) is Column:
            totals.append(storage.sum_up(storage.table, kind.type, use))
        else:
            totals.append(storage.sum_up(use, in_pairs=False))
    return make_array(column.branching, fill_array(totals, (cells,), object), kind)


@_follows(np.histogram)
def _histogram(
    array: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    column = find_column(array)
    if column is None or density or weights is not None or column.own.ndim != 1:
        return NotImplemented
    edges = find_edges(bins)
    if edges is not None and range is None:
        return histogram_between(column, array, edges)
    if any(issubclass(type(argument), Symbolic) for argument in (bins, range)) or column.is_off:
        return NotImplemented
    if isinstance(bins, str) or (np.ndim(bins) == 0 and range is None):
        return column.refuse(
            "numpy.histogram with edges that depend on the data", "give its edges, or range="
        )
    different, places = np.unique(column.table, return_inverse=True)
    try:
        made = [np.histogram(np.array([value]), bins, range) for value in different]
    except Exception as error:
        return column.refuse(f"numpy.histogram ({error})")
    tables = np.array([counts for counts, _ in made])[places]
    counts = [column.sum_up(tables[:, k], np.int64, "numpy.histogram") for k in _range(tables)]
    cells = fill_array(counts, (tables.shape[1],), object)
    return make_array(column.branching, cells, np.int64), made[0][1]


@_follows(np.histogram2d)
def _histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Cells over fixed edges of two columns of the same records."""
    first, second = find_column(x), find_column(y)
    if first is None or second is None or density or weights is not None:
        return NotImplemented
    if not first.has_records_of(second) or first.own.ndim > 1 or second.own.ndim > 1:
        return NotImplemented
    if any(issubclass(type(one), Symbolic) for one in (bins, range)) or second.is_off:
        return NotImplemented
    has_edges = range is not None or has_edges_of_both(bins)
    if first.is_off or not has_edges:
        return first.refuse(
            "numpy.histogram2d with edges that depend on the data", "give its edges, or range="
        )
    pairs = np.stack([first.table, second.table], axis=1)
    different, places = np.unique(pairs, axis=0, return_inverse=True)
    try:
        made = [np.histogram2d([one], [other], bins, range) for one, other in different]
    except Exception as error:
        return first.refuse(f"numpy.histogram2d ({error})")
    tables = np.array([counts for counts, _, _ in made])[places.reshape(-1)]
    counts = [
        first.sum_up(tables[:, i, j], np.float64, "numpy.histogram2d")
        for i, j in np.ndindex(tables.shape[1:])
    ]
    cells = fill_array(counts, tables.shape[1:], object)
    return make_array(first.branching, cells, np.float64), made[0][1], made[0][2]


def _range(tables: Table) -> range:
    return range(tables.shape[1])


@_follows(np.dot)
def answer_dot(left: Any, right: Any, out: Any = None) -> Any:
    """A product with a vector: of equal entries over the records, of any over a row."""
    return _product(np.dot, left, right, out)


@_follows(np.inner)
def _inner(left: Any, right: Any) -> Any:
    return _product(np.inner, left, right)


@_follows(np.vdot)
def _vdot(left: Any, right: Any) -> Any:
    return _product(np.vdot, left, right)


def _product(function: Any, left: Any, right: Any, out: Any = None) -> Any:
    column = find_column(left)
    if out is not None:
        return NotImplemented
    made = Column.multiply(left, right) if function is np.dot else NotImplemented
    if made is not NotImplemented:
        return made
    if column is None:
        column, other = find_column(right), left
        if column is None or column.own.ndim != 1:
            return NotImplemented if column is None else column.refuse("a product of matrices")
    else:
        other = right
    if find_column(other) is not None and column.own.ndim == 1:
        product = np.multiply(left, right)
        products: Column = product.storage
        _require_wide(products, products.dtype, "numpy.dot")
        is_off = products.is_off or products.dtype.kind == "f"
        return products.other(products.table, is_off=is_off).sums(None, "numpy.dot")
    is_plain = type(other) is np.ndarray and other.ndim <= 2 and other.dtype.kind in "biuf"
    if column.own.ndim == 2 and is_plain and function is not np.vdot:
        rows = column.calculated(lambda: function(column.table, other), "numpy.dot")
        return column.like(rows, is_off=column.is_off or rows.dtype.kind == "f")
    if column.own.ndim != 1 or np.ndim(other) != 1:
        return column.refuse("a product of matrices")
    is_plain = type(other) in (np.ndarray, list, tuple)
    weighted = sum_by_weights(column, np.asarray(other)) if is_plain else None
    if weighted is not None:
        return weighted
    line: Column = np.multiply(left, right).storage
    _require_wide(line, line.dtype, "numpy.dot")
    return line.sums(None, "numpy.dot")


@_follows(np.einsum)
def _einsum(subscripts: Any, *arrays: Any, **options: Any) -> Any:
    """A sum over the records, or a product with another column or equal constants."""
    if not isinstance(subscripts, str) or read_options(options):
        return NotImplemented
    if max(map(np.ndim, arrays), default=0) > 1:
        return Column.einsum(subscripts, *arrays)
    ways = {1: ("i->",), 2: ("i,i->", "i,i")}.get(len(arrays), ())
    if subscripts.replace(" ", "") not in ways or any(np.ndim(array) != 1 for array in arrays):
        return NotImplemented
    summands = find_column(reduce(np.multiply, arrays))
    if summands is None:
        return NotImplemented
    _require_wide(summands, summands.dtype, "numpy.einsum")
    return summands.sums(None, "numpy.einsum")


@_follows(np.transpose)
def _transpose(array: Any, axes: Any = None) -> Any:
    return NotImplemented if find_column(array) is None or axes is not None else array.T


@_follows(np.clip)
def _clip(array: Any, *bounds: Any, out: Any = None, **options: Any) -> Any:
    given = {name: option for name, option in options.items() if option is not _NO_VALUE}
    low = bounds[0] if bounds else given.pop("a_min", given.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else given.pop("a_max", given.pop("max", None))
    column = find_column(array)
    if column is None or out is not None or given or len(bounds) > 2:
        return NotImplemented
    pair = [None if bound is None or bound is _NO_VALUE else bound for bound in (low, high)]
    every = column.beside(pair)
    tables = [bound if bound is None else every.table_of(bound, "numpy.clip") for bound in pair]
    return every.like(every.calculated(lambda: np.clip(every.own, *tables), "numpy.clip"))


class RecordPlaces(OpaqueLine):
    """The places of those records for which a truth holds: an index, or how many there are."""

    __slots__ = ("branching", "column", "mask")

    described = described_in_arrays = "an array of the places of records"
    advice = "select the records themselves (data[data == 1]), or count them"

    def __init__(self, column: Column, mask: Any) -> None:
        self.branching = column.branching
        self.column = column
        self.mask = mask

    def as_index(self) -> Any:
        return self.mask

    def how_many(self) -> Any:
        """How many records there are: an answer."""
        return self.column.count()


@_follows(np.flatnonzero)
def _places(array: Any) -> Any:
    column = find_column(array)
    if column is None or column.own.ndim != 1 or column.is_off or column.dtype.kind not in "biu":
        return NotImplemented
    there = column.table != 0
    kept = there if column.kept is None else there & column.kept
    those = Column(column.branching, column.answers, column.table, kept)
    return RecordPlaces(those, array if column.dtype == np.bool_ else array != 0)


@_follows(np.nonzero)
def _nonzero(array: Any) -> Any:
    places = _places(array)
    return places if places is NotImplemented else (places,)


@_follows(np.where)
def _where(condition: Any, *pair: Any) -> Any:
    if not pair:
        return _nonzero(condition)
    columns = [column for column in map(find_column, (condition, *pair)) if column is not None]
    if len(pair) != 2 or not columns:
        return NotImplemented
    first = columns[0]
    masked = Column.where_bits(condition, *pair)
    if masked is not None:
        return masked
    if find_column(condition) is None:
        return first.refuse("numpy.where with a condition that is not of the records")
    return first.entrywise(np.where, (condition, *pair), "numpy.where")


@_follows(np.select)
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if not isinstance(condlist, (list, tuple)) or not isinstance(choicelist, (list, tuple)):
        return NotImplemented
    columns = [find_column(condition) for condition in condlist]
    if not columns or columns[0] is None or len(columns) != len(choicelist):
        return NotImplemented
    if any(column is None for column in columns):
        return columns[0].refuse("numpy.select with a condition that is not of the records")
    return columns[0].entrywise(_select_first, (*condlist, *choicelist, default), "numpy.select")


def _select_first(*tables: Any) -> Any:
    """``numpy.select`` of so many conditions and choices, and what else holds."""
    half = len(tables) // 2
    return np.select(tables[:half], tables[half:-1], tables[-1])


STEADY |= {np.where, _select_first}


@_follows(np.round, np.around)
def _round(array: Any, decimals: Any = 0, out: Any = None) -> Any:
    column = find_column(array)
    if column is None or out is not None or column.is_off or is_symbolic(decimals):
        return NotImplemented
    return column.like(np.round(column.own, decimals))


@_follows(np.column_stack)
def _column_stack(arrays: Any) -> Any:
    return _stack(arrays, None, np.column_stack)


@_follows(np.hstack)
def _hstack(arrays: Any) -> Any:
    return _stack(arrays, None, np.hstack)


@_follows(np.vstack)
def _vstack(arrays: Any) -> Any:
    return _stack(arrays, 0, np.stack)


@_follows(np.atleast_2d)
def _atleast_2d(array: Any) -> Any:
    return array if array.ndim > 1 else array[None]


@_follows(np.concatenate)
def _concatenate(arrays: Any, axis: Any = 0) -> Any:
    return _stack(arrays, axis, np.concatenate)


@_follows(np.stack)
def _stack(arrays: Any, axis: Any = 0, function: Any = np.stack) -> Any:
    """Rows of what several columns of the same records have for a record."""
    if not isinstance(arrays, (list, tuple)):
        return NotImplemented
    columns = [column for column in map(find_column, arrays) if column is not None]
    first = columns[0] if columns else None
    if first is None:
        return NotImplemented
    are_lines = len(columns) == len(arrays) and all(column.own.ndim == 1 for column in columns)
    in_rows = function is np.column_stack or (function is np.stack and axis in (1, -1))
    if not (are_lines and in_rows):
        return Column.join(first, arrays, axis, function)
    every = first.beside(arrays)
    tables = [every.table_of(array, "numpy.stack") for array in arrays]
    return every.like(np.stack(tables, axis=1), is_off=any(column.is_off for column in columns))


@_follows(np.isin)
def _isin(array: Any, wanted: Any, **options: Any) -> Any:
    column = find_column(array)
    if column is None or options or issubclass(type(wanted), Symbolic) or column.is_off:
        return NotImplemented
    return column.like(np.isin(column.own, wanted))


@_follows(np.take)
def _take(
    constants: Any, places: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
) -> Any:
    column = find_column(places)
    if column is None and out is None and mode == "raise":
        return take_records(constants, places, axis)
    if column is None or issubclass(type(constants), Symbolic) or out is not None:
        return NotImplemented
    if axis not in (0, None) or (axis is None and np.ndim(constants) != 1):
        return NotImplemented
    return look_up(np.asarray(constants), places) if mode == "raise" else NotImplemented


@_follows(np.searchsorted)
def _searchsorted(edges: Any, numbers: Any, side: Any = "left", sorter: Any = None) -> Any:
    column = find_column(numbers)
    if column is None or issubclass(type(edges), Symbolic) or sorter is not None or column.is_off:
        return NotImplemented
    return column.like(
        column.calculated(lambda: np.searchsorted(edges, column.own, side), "numpy.searchsorted")
    )


@_follows(np.digitize)
def _digitize(numbers: Any, bins: Any, right: Any = False) -> Any:
    column, edges = find_column(numbers), find_edges(bins)
    if column is not None and edges is not None and type(right) is bool:
        return bins_between(column, numbers, edges, is_right=right)
    if column is None or issubclass(type(bins), Symbolic) or column.is_off:
        return NotImplemented
    return column.like(
        column.calculated(lambda: np.digitize(column.own, bins, right), "numpy.digitize")
    )


@_follows(np.copy)
def _copy(array: Any, order: Any = "K", subok: Any = False) -> Any:
    column = find_column(array)
    return NotImplemented if column is None else SymbolicArray(column.copied(order))


@_follows(np.split, np.array_split)
def _split(array: Any, sections: Any, axis: Any = 0) -> Any:
    """Parts of the records, in NumPy's sizes."""
    column = find_column(array)
    if column is None or axis != 0 or is_symbolic(sections) or column.own_kept is not None:
        return NotImplemented
    positions = np.arange(column.read_length())
    parts = [find_line(part) for part in np.array_split(positions, sections)]
    return NotImplemented if None in parts else [array[p.start : p.stop] for p in parts if p]


@_follows(np.reshape)
def _reshape(array: Any, *shape: Any, **options: Any) -> Any:
    return array.reshape(*shape, **options)


@_follows(np.shape)
def _shape(array: Any) -> Any:
    return array.shape


@_follows(np.size)
def _size(array: Any, axis: Any = None) -> Any:
    column = find_column(array)
    if column is None or axis not in (None, 0):
        return NotImplemented
    if column.own.ndim > 1 and axis is None:
        return math.prod(array.shape)
    return column.count()


@_follows(np.ndim)
def _ndim(array: Any) -> Any:
    column = find_column(array)
    return NotImplemented if column is None else column.own.ndim


def _constant(function: Any) -> Callable[..., Any]:
    def make(array: Any, *arguments: Any, **options: Any) -> Any:
        column = find_column(array)
        given = (*arguments, *options.values())
        if column is None or any(issubclass(type(argument), Symbolic) for argument in given):
            return NotImplemented
        return function(np.empty(array.shape, array.dtype), *arguments, **options)

    return make


for _function in (np.zeros_like, np.ones_like, np.full_like):
    FUNCTIONS[_function] = _constant(_function)


@_follows(np.ravel_multi_index)
def _ravel_multi_index(places: Any, shape: Any, mode: Any = "raise", order: Any = "C") -> Any:
    """The places in one line of those in several axes; what lies outside is refused."""
    are_plain = type(shape) is tuple and all(type(length) is int for length in shape)
    if type(places) is not tuple or not are_plain or (mode, order) != ("raise", "C"):
        return NotImplemented
    return _at_places(lambda *tables: np.ravel_multi_index(tables, shape), places)


@_follows(np.unravel_index)
def _unravel_index(places: Any, shape: Any, order: Any = "C") -> Any:
    """The places in several axes of those in one line."""
    column = find_column(places)
    are_plain = type(shape) is tuple and all(type(length) is int for length in shape)
    if column is None or not are_plain or order != "C":
        return NotImplemented

    def place(axis: int) -> Any:
        return lambda table: np.unravel_index(table, shape)[axis].copy()

    return tuple(_at_places(place(axis), (places,)) for axis in range(len(shape)))


def _at_places(function: Callable[..., Any], places: tuple[Any, ...]) -> Any:
    """A function of the places of each record, whole numbers; NotImplemented for other places."""
    columns = [column for column in map(find_column, places) if column is not None]
    if not columns or any(_is_of_rows(column) for column in columns):
        return NotImplemented
    if any(type(place) not in (int, np.int64, SymbolicArray) for place in places):
        return NotImplemented
    return columns[0].entrywise(function, places, "an index")


def _is_of_rows(column: Column) -> bool:
    return column.dtype.kind not in "iu" or column.own.ndim != 1


def look_up(constants: NDArray[Any], places: Any) -> Any:
    """``constants[places]`` of a column of places: a table of the constants, or of their rows.

    ``places`` may be a tuple of columns of the same records, and of whole numbers.
    """
    if type(places) is tuple:
        return _look_up_in_axes(constants, places)
    column = find_column(places)
    if column is None or column.dtype.kind not in "iu" or column.own.ndim != 1:
        return column.refuse("an index of another array") if column else NotImplemented
    if constants.dtype.kind not in "biuf" or constants.ndim not in (1, 2):
        return column.refuse(f"an index of an array of {constants.dtype}")
    return column.like(column.calculated(lambda: constants[column.own], "an index"))


def _look_up_in_axes(constants: NDArray[Any], places: tuple[Any, ...]) -> Any:
    if not any(map(find_column, places)) or constants.dtype.kind not in "biuf":
        return NotImplemented
    return _at_places(lambda *tables: constants[tables], places)
