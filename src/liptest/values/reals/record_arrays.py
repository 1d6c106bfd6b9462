"""Arrays of numbers of each record, of which some are real: ``X[:, None] - points``.

There is a column for each place. What is done entry by entry is done column by column, and a
reduction within a record combines columns. So the nearest of some points is a comparison after
another, each of which divides the records into those for which it holds and the others
(docs/theory/tables.md, B6 and B9). What is made of one number or a row of each record is again a
column, or rows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.answers.aligned import AlignedValue
from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.protocol import Symbolic, is_symbolic
from liptest.values.reals.real_column import RealColumn
from liptest.values.reals.real_matrix import WIDER, RealMatrix
from liptest.values.reals.record_axes import FEW_ADDED, axes_within
from liptest.values.records.column import Column, find_column
from liptest.values.records.record_storage import RecordStorage, keeps_records

ADVICE = (
    "treat all records alike: X[:, None] - points, its sums, norms and smallest places within a "
    "record (axis=1 or 2), then sum or count"
)
Lines = NDArray[Any]
_BOUNDS = 2


class RecordArray(RecordStorage):
    """See the module.

    Parameters
    ----------
    lines
        For each place within a record the column of its numbers, as an array.
    layout
        Of what they were made, in words that tell where they lie in memory.
    """

    __slots__ = ("layout", "lines")

    leads = True
    advice = ADVICE

    def __init__(self, lines: Lines, layout: tuple[Any, ...] = ()) -> None:
        first = lines.flat[0]
        self.lines = lines
        self.layout = layout
        self.branching = first.storage.branching
        self.dtype = np.result_type(*(line.dtype for line in lines.flat))

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.lines.flat[0].shape, *self.lines.shape)

    @property
    def where(self) -> tuple[Any, ...]:
        """Where the numbers lie, on which the order of a sum depends."""
        return self.layout, self.lines.shape

    def moved(self, move: Any) -> Any:
        return self.refuse("a use that moves records")

    def copied(self, order: Any) -> Any:
        return RecordArray(self.lines, ("copied", str(order), self.layout))

    def as_list(self) -> Any:
        return self.refuse("tolist()")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self._each(lambda line: line.astype(dtype), "cast")

    def _each(self, function: Callable[[Any], Any], name: str) -> Any:
        made = [function(line) for line in self.lines.flat]
        return _join(fill_array(made, self.lines.shape, object), (name, self.layout))

    def entries_at(self, index: Any) -> Any:
        if find_column(index) is not None:
            return self._each(lambda line: line[index], "selected")
        places = index if type(index) is tuple else (index,)
        rest = _places_within(places, self.lines.ndim)
        if rest is None:
            return self.refuse("a use that looks at single records")
        numbers = np.arange(self.lines.size).reshape(self.lines.shape)
        try:
            chosen = numbers[rest]
        except IndexError:
            return self.refuse("an index beyond the numbers of a record")
        made = [self.lines.flat[place] for place in np.ravel(chosen).tolist()]
        if not made:
            return self.refuse("an index that gives no numbers")
        return _join(fill_array(made, np.shape(chosen), object), ("part", str(rest), self.where))

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc is np.matmul:
            return self.refuse("numpy.matmul of arrays of more than two axes")
        return self.entrywise(ufunc, inputs, f"numpy.{ufunc.__name__}")

    def entrywise(self, function: Any, inputs: tuple[Any, ...], use: str) -> Any:
        """``function`` of columns, place by place, and of constants and released numbers."""
        dimensions = 1 + self.lines.ndim
        for operand in inputs:
            own = lines_within(operand)
            dimensions = max(dimensions, np.ndim(operand) if own is None else 1 + own.ndim)
        parts = [self._operand(operand, dimensions, use) for operand in inputs]
        try:
            shape = np.broadcast_shapes(*(part.shape for part in parts))
        except ValueError:
            return self.refuse(f"{use} with what has another shape")
        every = [np.broadcast_to(part, shape).flat for part in parts]
        made = [function(*entries) for entries in zip(*every, strict=True)]
        layouts = [_find_layout(_storage(operand)) for operand in inputs]
        return _join(fill_array(made, shape, object), ("made", use, *layouts))

    def _operand(self, value: Any, dimensions: int, use: str) -> Lines:
        """Entries at the places within a record."""
        lines = lines_within(value)
        if lines is not None:
            if lines.ndim != dimensions - 1:
                return self.refuse(f"{use} with what has another shape")  # type: ignore[no-any-return]
            return lines
        if type(value) is SymbolicArray:
            if isinstance(value.storage, RecordStorage):
                return self.refuse(f"{use} with these numbers")  # type: ignore[no-any-return]
            cells = value.cells
        elif issubclass(type(value), Symbolic):
            cells = fill_array([value], (), object)
        else:
            plain = np.asarray(value)
            if plain.dtype.kind not in "biuf":
                self.refuse(f"{use} with an array of {plain.dtype}")
            cells = fill_array(plain.ravel().tolist(), plain.shape, object)
        if cells.ndim == dimensions:
            if len(cells) != 1:
                self.refuse(f"{use} with an array that differs from record to record")
            return cells[0] if dimensions > 1 else cells
        return cells

    # ---- functions

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return self.answer_by(_FUNCTIONS, function, arguments, options)

    def answer_rows(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """A function of rows that are this array; NotImplemented for those not followed."""
        rule = _FUNCTIONS.get(function)
        if rule is None:
            return NotImplemented
        first = arguments[:1] if function is np.where else (SymbolicArray(self),)
        return rule(self, *first, *arguments[1:], **options)

    def sums(self, use: str, scale: Fraction = Fraction(1)) -> Any:
        """The sum over all records, at each place."""
        totals = []
        for place, line in enumerate(self.lines.flat):
            storage: Any = line.storage
            if type(storage) is RealColumn:
                total = storage.sum_up(use, in_pairs=False, layout=(self.where, place))
            else:
                total = np.sum(line)
            if scale != 1 and is_symbolic(total):
                total = AlignedValue(total.run, total.form * scale, total.kind, 1)
            totals.append(total)
        kind = np.float64 if scale != 1 else np.sum(np.zeros(1, self.dtype)).dtype
        return make_array(self.branching, fill_array(totals, self.lines.shape, object), kind)


def _storage(value: Any) -> Any:
    return value.storage if type(value) is SymbolicArray else None


def _find_layout(storage: Any) -> tuple[Any, ...]:
    return storage.layout if type(storage) in (RecordArray, RealMatrix) else ()


def lines_within(value: Any) -> Lines | None:
    """The columns of an array of records at the places within one; None for all else."""
    storage = _storage(value)
    kind = type(storage)
    if kind is RecordArray:
        return storage.lines  # type: ignore[no-any-return]
    if kind is RealMatrix:
        columns = [SymbolicArray(column) for column in storage.columns]
        return fill_array(columns, (len(columns),), object)
    if kind is RealColumn:
        return fill_array([value], (), object)
    if kind is Column:
        shape = storage.table.shape[1:]
        rows = storage.table.reshape(len(storage.table), -1)
        parts = [storage.like(np.ascontiguousarray(rows[:, k])) for k in range(rows.shape[1])]
        return fill_array(parts, shape, object)
    return None


def _join(lines: Any, layout: tuple[Any, ...]) -> Any:
    """One column, rows of reals, a table, or else an array of records."""
    if not lines.ndim:
        return lines.item()
    storages = [line.storage for line in lines.flat]
    if all(type(storage) is Column and not storage.is_off for storage in storages):
        tables = np.stack([storage.table for storage in storages], axis=1)
        return storages[0].like(tables.reshape(len(tables), *lines.shape))
    if lines.ndim == 1 and all(type(storage) is RealColumn for storage in storages):
        return SymbolicArray(RealMatrix(storages, layout=("of an array", layout)))
    return SymbolicArray(RecordArray(lines, layout))


def _places_within(places: tuple[Any, ...], dimensions: int) -> tuple[Any, ...] | None:
    """An index without that of all records; None where it may say something of these."""
    if any(issubclass(type(place), Symbolic) or type(place) is bool for place in places):
        return None
    rest = places[1:]
    if places[:1] == (Ellipsis,) and keeps_records(places, dimensions + 1):
        return (Ellipsis, *rest)
    if not places or type(places[0]) is not slice or places[0] != slice(None):
        return None
    are_lines = all(np.ndim(place) <= 1 for place in rest if type(place) is not slice)
    return rest if are_lines else None


# ---- NumPy's functions


def _make_combination(combine: Callable[[RecordArray, list[Any]], Any]) -> Callable[..., Any]:
    """A rule that makes one column of those along an axis within a record."""

    def rule(
        storage: RecordArray, array: Any, axis: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        axes = None if options or is_symbolic(axis) else axes_within(axis, 1 + storage.lines.ndim)
        if axes is None or len(axes) > 1 or not isinstance(keepdims, (bool, np.bool_)):
            return NotImplemented
        if array.storage is not storage:
            return NotImplemented
        place = axes[0] - 1
        lanes = np.moveaxis(storage.lines, place, -1)
        made = [combine(storage, list(lanes[at])) for at in np.ndindex(lanes.shape[:-1])]
        result = fill_array(made, lanes.shape[:-1], object)
        result = np.expand_dims(result, place) if keepdims else result
        return _join(result, ("within", place, storage.where))

    return rule


def _add(storage: RecordArray, lane: list[Any]) -> Any:
    """The sum; of more than two in an order that is the same for all records."""
    total = reduce(np.add, lane)
    own: Any = total.storage
    if len(lane) <= FEW_ADDED or type(own) is not RealColumn:
        is_off = type(own) is Column and len(lane) > FEW_ADDED and own.dtype.kind == "f"
        return own.like(own.table, is_off=True) if is_off else total
    if not own.answers.has_order or len(_find_reals(own.recipe)) < FEW_ADDED:
        # How many records there are may decide in which order NumPy adds up the numbers of one.
        return storage.refuse("sums of more than two real numbers of a record")
    sizes = [_largest(line.storage) for line in lane]
    with np.errstate(all="ignore"):
        wide = WIDER * len(lane) * sum(sizes)
        low = np.where(own.low >= 0, np.maximum(own.low - wide, 0.0), own.low - wide)
        return own.like((low, own.high + wide), own.recipe)


def _largest(storage: Any) -> Any:
    if type(storage) is Column:
        return np.abs(storage.table)
    return np.maximum(np.abs(storage.low), np.abs(storage.high))


def _find_reals(recipe: Any) -> set[str]:
    if type(recipe) is not tuple:
        return set()
    return {recipe[1]} if recipe[0] == "real" else set().union(*map(_find_reals, recipe))


def _extreme(ufunc: Any) -> Callable[[RecordArray, list[Any]], Any]:
    return lambda _, lane: reduce(ufunc, lane)


def _find_place(ufunc: Any, comparison: Any) -> Callable[[RecordArray, list[Any]], Any]:
    """The first place of the smallest or the largest, by one comparison after another."""

    def combine(storage: RecordArray, lane: list[Any]) -> Any:
        best: Any = lane[0]
        place: Any = _zeros(best.storage)
        for number, line in enumerate(lane[1:], 1):
            is_better = comparison(line, best)
            if find_column(is_better) is None:
                storage.refuse("the place of the nearest of too many released numbers")
            place = np.where(is_better, number, place)
            best = ufunc(best, line)
        return place

    return combine


def _zeros(storage: Any) -> SymbolicArray:
    if type(storage) is Column:
        return storage.like(np.zeros(len(storage.table), np.intp), is_off=False)
    return SymbolicArray(storage.like_zeros(storage.kept))


def _norm(
    storage: RecordArray, array: Any, ord: Any = None, axis: Any = None, keepdims: Any = False
) -> Any:
    if array.storage is not storage or is_symbolic(ord) or isinstance(axis, tuple):
        return NotImplemented
    if ord in (None, 2):
        return np.sqrt(np.sum(np.square(array), axis=axis, keepdims=keepdims))
    if ord == 1:
        return np.sum(np.abs(array), axis=axis, keepdims=keepdims)
    is_largest = isinstance(ord, float) and ord == np.inf
    return np.max(np.abs(array), axis=axis, keepdims=keepdims) if is_largest else NotImplemented


def _sum(storage: RecordArray, array: Any, axis: Any = None, **options: Any) -> Any:
    if axis == 0 and type(axis) is int and not options and array.storage is storage:
        return storage.sums("numpy.sum")
    return _make_combination(_add)(storage, array, axis, **options)


def _mean(storage: RecordArray, array: Any, axis: Any = None, **options: Any) -> Any:
    first = storage.lines.flat[0].storage
    if axis != 0 or options or array.storage is not storage or first.kept is not None:
        return NotImplemented
    return storage.sums("numpy.mean", Fraction(1, first.read_length()))


def _clip(storage: RecordArray, array: Any, *bounds: Any, **options: Any) -> Any:
    low = bounds[0] if bounds else options.pop("a_min", options.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else options.pop("a_max", options.pop("max", None))
    if len(bounds) > _BOUNDS or options:
        return NotImplemented
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        array = array if bound is None else ufunc(array, bound)
    return array


def _where(storage: RecordArray, condition: Any, *pair: Any) -> Any:
    if len(pair) != 2:
        return NotImplemented
    return storage.entrywise(np.where, (condition, *pair), "numpy.where")


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: _mean,
    np.max: _make_combination(_extreme(np.maximum)),
    np.min: _make_combination(_extreme(np.minimum)),
    np.argmin: _make_combination(_find_place(np.minimum, np.less)),
    np.argmax: _make_combination(_find_place(np.maximum, np.greater)),
    np.linalg.norm: _norm,
    np.clip: _clip,
    np.where: _where,
}


def as_array(storage: Any) -> RecordArray:
    """Rows, or one number of each record, as an array of columns."""
    lines = lines_within(SymbolicArray(storage))
    assert lines is not None
    return RecordArray(lines, _find_layout(storage))


RealMatrix.as_array = staticmethod(as_array)
RealMatrix.lines_within = staticmethod(lines_within)
RealMatrix.of_lines = staticmethod(_join)
