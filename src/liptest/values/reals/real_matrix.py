"""Rows of real numbers of the records: several real columns side by side, as NumPy's 2-d arrays.

What is done entry by entry is done column by column. Norms and sums of rows are columns again, and
a norm is remembered, so that rows scaled by it are known to be bounded (``real_norms``). What moves
records, or brings them together in another way than by sums over all of them, is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from liptest.values.answers.aligned import AlignedValue, NoisyData
from liptest.values.array import CellStorage, SymbolicArray, fill_array, make_array
from liptest.values.protocol import COMPARISONS, Symbolic, is_symbolic
from liptest.values.reals.real_column import RealColumn
from liptest.values.reals.real_norms import OfNorm, norm_of_rows
from liptest.values.reals.recipes import Recipe
from liptest.values.records.column import NARROW, Column, find_column
from liptest.values.records.record_storage import (
    JOINS,
    OF_SHAPE,
    OwnNumbers,
    RecordStorage,
    answer_einsum,
    is_everything,
    take_records,
    transpose,
)

ADVICE = (
    "treat all rows alike (arithmetic, clip, np.linalg.norm(rows, axis=1), rows * scale[:, None]), "
    "then .sum(axis=0)"
)
#: Of sums of a row, relatively: more than their roundings in any order.
WIDER = 2.0**-50
_ROWS, _SQUARE = 2, 2
_NO_VALUE: Any = np._NoValue
_EXPONENTS: dict[Any, float] = {None: 2, 1: 1, 2: 2, math.inf: math.inf}


class RealMatrix(OwnNumbers):
    """See the module.

    Parameters
    ----------
    columns
        Of the same records.
    made_of
        Recipes of the columns that these are the squares (2), or the absolute values (1) of.
    layout
        Of what they were made, in words that tell where they lie in memory.
    """

    __slots__ = ("columns", "layout", "made_of")

    #: Makes rows of 32 bits of these, and joins columns of 32 bits (``single_matrix``).
    in_32_bits: ClassVar[Any]
    #: The same numbers as an array of columns (``record_arrays``).
    as_array: ClassVar[Any]
    #: The columns of an array of records, by place, and an array of such.
    lines_within: ClassVar[Any]
    of_lines: ClassVar[Any]
    of_singles: ClassVar[tuple[type, Callable[[list[Any]], Any]]]

    leads = is_in_parts = True
    advice = ADVICE

    def __init__(
        self,
        columns: list[RealColumn],
        made_of: tuple[int, tuple[Recipe, ...]] | None = None,
        layout: tuple[Any, ...] = (),
    ) -> None:
        self.columns = columns
        self.layout = layout
        self.made_of = made_of
        self.branching = columns[0].branching
        self.dtype = np.dtype(np.float64)
        self.is_own = False

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipe of each column."""
        return tuple(column.recipe for column in self.columns)

    @property
    def where(self) -> tuple[Any, ...]:
        """Where the numbers lie, of all columns: on it depends in which order they are added."""
        return self.layout, self.recipes

    # ---- storage

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.columns[0].shape, len(self.columns))

    def shape_seen(self) -> tuple[Any, ...]:
        return (*self.columns[0].shape_seen(), len(self.columns))

    def as_list(self) -> Any:
        return self.refuse("tolist() of rows")

    def moved(self, move: Any) -> Any:
        self.lend()
        return self.move_rows(self, move)

    def copied(self, order: Any) -> Any:
        return RealMatrix(self.columns, self.made_of, ("copied", str(order), self.layout))

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self.in_32_bits(self) if dtype == np.float32 else self.refuse(f"astype({dtype})")

    def entries_at(self, index: Any) -> Any:
        self.lend()
        if is_everything(index):
            return SymbolicArray(RealMatrix(self.columns, self.made_of, self.layout))
        part = self.columns[0].find_part(index)
        if part is not None:
            made = [column.in_part(part) for column in self.columns]
            return SymbolicArray(RealMatrix(made, layout=("selected", self.layout)))
        if find_column(index) is not None:
            made = [column.entries_at(index).storage for column in self.columns]
            return SymbolicArray(RealMatrix(made, layout=("selected", self.layout)))
        if type(index) is tuple and any(part is None for part in index):
            return self.as_array(self).entries_at(index)
        is_pair = type(index) is tuple and len(index) == 2
        if not is_pair or issubclass(type(index[1]), Symbolic):
            return self.refuse("an index")
        rows, place = index
        if type(rows) is not slice or rows != slice(None):
            return self.columns[0].take_rows(self, index)
        try:
            numbers = np.arange(len(self.columns))[place]
        except IndexError:
            return self.refuse("an index beyond the columns")
        if np.ndim(numbers) == 0:
            chosen = self.columns[int(numbers)].copied(None)
            chosen.is_strided = ("column", int(numbers), self.where)
            return SymbolicArray(chosen)
        if numbers.ndim != 1 or not len(numbers):
            return self.refuse("an index")
        chosen_ones = [self.columns[k] for k in numbers.tolist()]
        return SymbolicArray(RealMatrix(chosen_ones, layout=("columns", str(place), self.where)))

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        use = f"numpy.{ufunc.__name__}"
        if ufunc is np.matmul:
            return self.answer_function(np.dot, inputs, {})
        masked = Column.multiply_by_bits(ufunc, inputs)
        if masked is not None:
            return masked
        if ufunc in COMPARISONS or any(map(_has_more_axes, inputs)):
            return self.as_array(self).answer_ufunc(ufunc, inputs)
        inputs = tuple(_with_columns(operand, use) for operand in inputs)
        widths = [_width(operand) for operand in inputs]
        if None in widths:
            return self.refuse(f"{use} of rows with what has another shape")
        width = max(count or 1 for count in widths)
        if any(count not in (1, width) for count in widths):
            return self.refuse(f"{use} of rows with what has another shape")
        parts = [[_entry(operand, k) for operand in inputs] for k in range(width)]
        if not all(_are_alike(part) for part in parts):
            return self.refuse(f"{use} of other records")
        made = [_leading(part).answer_ufunc(ufunc, tuple(part)).storage for part in parts]
        layout = ("made", *(_find_layout(operand) for operand in inputs))
        rows = RealMatrix(made, _make_of(ufunc, inputs), layout)
        rows.is_own = True
        return SymbolicArray(rows)

    def is_alike(self, other: Any) -> bool:
        is_wide = type(other) is RealMatrix and len(other.columns) == len(self.columns)
        return is_wide and self.columns[0].has_records_of(other.columns[0])

    # ---- functions

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        self.lend(function)
        rule = _FUNCTIONS.get(function)
        given = {name: option for name, option in options.items() if option is not _NO_VALUE}
        answer = NotImplemented if rule is None else rule(self, *arguments, **given)
        if answer is NotImplemented and (function is np.where or self._leads(arguments)):
            answer = self.as_array(self).answer_rows(function, arguments, given)
        if answer is NotImplemented:
            return self.refuse(f"numpy.{function.__name__}")
        return answer

    def _leads(self, arguments: Any) -> bool:
        return type(arguments[0]) is SymbolicArray and arguments[0].storage is self

    def sums(self, use: str, scale: Fraction = Fraction(1)) -> Any:
        """The sums of the columns, added up in an order that is not known."""
        totals = []
        for column in self.columns:
            total = column.sum_up(use, in_pairs=False, layout=self.where)
            if scale != 1 and is_symbolic(total):
                total = AlignedValue(total.run, total.form * scale, total.kind, 1)
            totals.append(total)
        return make_array(self.branching, fill_array(totals, (len(totals),), object), np.float64)

    def has_records_of(self, other: Any) -> bool:
        """Whether a column, or rows, are of the same selection of records."""
        of = other.columns[0] if type(other) is RealMatrix else other
        return self.columns[0].has_records_of(of)

    def row_column(
        self, ends: tuple[Any, Any], recipe: Recipe, known: OfNorm | None, *, keep: bool
    ) -> Any:
        """A column of a number of each row."""
        first = self.columns[0]
        column = first.like(ends, recipe, known)
        return column.storage.as_rows(column.storage) if keep else column  # type: ignore[attr-defined]


def _has_more_axes(value: Any) -> bool:
    """Whether it has an array of numbers for each record, or would make one of rows."""
    if type(value) is SymbolicArray and isinstance(value.storage, RecordStorage):
        is_table = type(value.storage) is Column and value.storage.own.ndim > _ROWS
        return is_table or not isinstance(value.storage, (Column, RealColumn, RealMatrix))
    return np.ndim(value) > _ROWS


def _with_columns(value: Any, use: str) -> Any:
    """Rows of numbers of a finite table as those of real ones."""
    column = find_column(value)
    if column is None or column.own.ndim != 2:
        return value
    return SymbolicArray(as_real(column, use))


def _find_layout(value: Any) -> tuple[Any, ...]:
    is_rows = type(value) is SymbolicArray and type(value.storage) is RealMatrix
    return value.storage.layout if is_rows else ()


def _width(value: Any) -> int | None:
    """How many columns an input has, 1 for a constant; None where it is not of rows."""
    if type(value) is SymbolicArray and isinstance(value.storage, CellStorage):
        return len(value) if value.ndim == 1 else None
    if type(value) is SymbolicArray:
        return len(value.storage.columns) if type(value.storage) is RealMatrix else None
    if issubclass(type(value), Symbolic):
        return 1 if issubclass(type(value), NoisyData) else None
    shape = np.shape(value)
    if shape in ((), (1,), (1, 1)):
        return 1
    return shape[-1] if len(shape) == 1 or (len(shape) == 2 and shape[0] == 1) else None


def _entry(value: Any, place: int) -> Any:
    """The column of an input at a place, or its number there."""
    if type(value) is SymbolicArray and isinstance(value.storage, CellStorage):
        return value.cells[place if len(value) > 1 else 0]
    if type(value) is SymbolicArray:
        columns: list[RealColumn] = value.storage.columns  # type: ignore[attr-defined]
        return SymbolicArray(columns[place if len(columns) > 1 else 0])
    if issubclass(type(value), NoisyData):
        return value
    if np.ndim(value) == 0:
        return value.item() if isinstance(value, np.ndarray) else value
    line = np.asarray(value).reshape(-1)
    return line[place if len(line) > 1 else 0]


def _leading(parts: list[Any]) -> RealColumn:
    column = next(part.storage for part in parts if type(part) is SymbolicArray)
    assert isinstance(column, RealColumn)
    return column


def _are_alike(parts: list[Any]) -> bool:
    first = _leading(parts)
    return all(first.has_records_of(part.storage) for part in parts if type(part) is SymbolicArray)


def _make_of(ufunc: Any, inputs: tuple[Any, ...]) -> tuple[int, tuple[Recipe, ...]] | None:
    storages = [operand.storage for operand in inputs if type(operand) is SymbolicArray]
    matrices = [storage for storage in storages if type(storage) is RealMatrix]
    recipes = matrices[0].recipes
    if ufunc in (np.absolute, np.fabs):
        return 1, recipes
    twice = ufunc is np.multiply and len(matrices) == 2 and matrices[1].recipes == recipes
    is_square = ufunc is np.square or (ufunc is np.power and inputs[1] == _SQUARE)
    return (2, recipes) if twice or is_square else None


# ---- NumPy's functions


def _sum(
    matrix: RealMatrix, array: Any, axis: Any = None, *, keepdims: Any = False, **options: Any
) -> Any:
    if any(option is not None for option in options.values()) or is_symbolic(keepdims):
        return NotImplemented
    if axis == 0 and not keepdims:
        return matrix.sums("numpy.sum")
    if axis not in (1, -1):
        return NotImplemented
    lows, highs = ([getattr(column, end) for column in matrix.columns] for end in ("low", "high"))
    with np.errstate(all="ignore"):
        size = WIDER * len(lows) * sum(map(np.maximum, map(abs, lows), map(abs, highs)))
        low, high = sum(lows) - size, sum(highs) + size
    norm = None
    if matrix.made_of is not None:
        low, high = np.maximum(np.where(np.isnan(low), 0.0, low), 0.0), high
        power, recipes = matrix.made_of
        norm = norm_of_rows(power, recipes, power=power)
    recipe = (_add, *matrix.recipes)
    return matrix.row_column((low, high), recipe, norm, keep=bool(keepdims))


def _dot(matrix: RealMatrix, array: Any, factors: Any, **options: Any) -> Any:
    """Rows times a vector: a number of each row."""
    is_of_rows = type(array) is SymbolicArray and array.storage is matrix
    made = matrix.multiply(array, factors)
    if made is not NotImplemented:
        return NotImplemented if options else made
    if options or not is_of_rows or np.ndim(factors) != 1:
        return NotImplemented
    if _width(factors) != len(matrix.columns):
        return NotImplemented
    products = np.multiply(array, factors).storage
    return _sum(RealMatrix(products.columns), products, axis=1)


def _mean(matrix: RealMatrix, array: Any, axis: Any = None, **options: Any) -> Any:
    first = matrix.columns[0]
    if axis != 0 or options or first.kept is not None:
        return NotImplemented
    return matrix.sums("numpy.mean", Fraction(1, first.read_length()))


def _norm(
    matrix: RealMatrix, array: Any, ord: Any = None, axis: Any = None, keepdims: Any = False
) -> Any:
    if axis not in (1, -1) or is_symbolic(ord) or isinstance(ord, str) or ord not in _EXPONENTS:
        return NotImplemented
    exponent = _EXPONENTS[ord]
    sizes = [_sizes(column) for column in matrix.columns]
    wide = 0.0 if exponent == math.inf else WIDER * (len(sizes) + 2)
    with np.errstate(all="ignore"):
        low, high = (
            _NORMS[exponent](*(size[end] for size in sizes)) * (1 + sign * wide)
            for end, sign in ((0, -1), (1, 1))
        )
    norm = norm_of_rows(exponent, matrix.recipes)
    recipe = (_NORMS[exponent], *matrix.recipes)
    return matrix.row_column((low, high), recipe, norm, keep=bool(keepdims))


def _sizes(column: RealColumn) -> tuple[Any, Any]:
    """Between which numbers the absolute values lie."""
    ends = np.abs(column.low), np.abs(column.high)
    around = (column.low <= 0) & (column.high >= 0)
    return np.where(around, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _largest(
    matrix: RealMatrix, array: Any, axis: Any = None, *, keepdims: Any = False, **options: Any
) -> Any:
    """Of the absolute values of a row: its largest norm."""
    if any(option is not None for option in options.values()) or is_symbolic(keepdims):
        return NotImplemented
    if axis not in (1, -1) or matrix.made_of is None or matrix.made_of[0] != 1:
        return NotImplemented
    ends = [
        reduce(np.maximum, (getattr(column, end) for column in matrix.columns)) for end in _ENDS
    ]
    norm = norm_of_rows(math.inf, matrix.made_of[1])
    recipe = (_NORMS[math.inf], *matrix.recipes)
    return matrix.row_column((ends[0], ends[1]), recipe, norm, keep=bool(keepdims))


def _where(matrix: RealMatrix, *arguments: Any) -> Any:
    masked = Column.where_bits(*arguments) if len(arguments) == 3 else None
    return NotImplemented if masked is None else masked


def _clip(matrix: RealMatrix, array: Any, *bounds: Any, **options: Any) -> Any:
    low = bounds[0] if bounds else options.pop("a_min", options.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else options.pop("a_max", options.pop("max", None))
    if len(bounds) > 2 or any(option is not None for option in options.values()):
        return NotImplemented
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        array = array if bound is None else ufunc(array, bound)
    return array


def _add(*columns: Any) -> Any:
    return reduce(np.add, columns)


def _euclidean(*columns: Any) -> Any:
    return np.sqrt(reduce(np.add, [column * column for column in columns]))


def _absolute_sum(*columns: Any) -> Any:
    return reduce(np.add, [np.abs(column) for column in columns])


def _largest_size(*columns: Any) -> Any:
    return reduce(np.maximum, [np.abs(column) for column in columns])


_ENDS = "low", "high"
_NORMS: dict[float, Callable[..., Any]] = {
    1: _absolute_sum,
    2: _euclidean,
    math.inf: _largest_size,
}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.atleast_2d: lambda matrix, array: array,
    np.sum: _sum,
    np.mean: _mean,
    np.dot: _dot,
    np.linalg.norm: _norm,
    np.max: _largest,
    np.amax: _largest,
    np.clip: _clip,
    np.where: _where,
    np.einsum: answer_einsum,
    np.take: lambda matrix, array, *where, **axis: take_records(array, *where, **axis),
    np.transpose: transpose,
    **OF_SHAPE,
    **JOINS,
}


def join_columns(arrays: list[SymbolicArray], *, is_strided: bool = False) -> SymbolicArray | None:
    """Rows of columns of the same records; None where they are not followed side by side."""
    if any(type(array.storage) is RealColumn for array in arrays):
        return _real_rows([array.storage for array in arrays])
    kind, joined = RealMatrix.of_singles
    if all(type(array.storage) is kind for array in arrays):
        rows: SymbolicArray | None = joined([array.storage for array in arrays])
        return rows
    columns = [column for array in arrays if (column := find_column(array)) is not None]
    if len(columns) < len(arrays) or any(part.is_off for part in columns):
        return None
    tables = [part.table for part in columns]
    made = columns[0].other(np.stack(tables, axis=1).astype(np.result_type(*tables)))
    made.is_strided = is_strided
    return SymbolicArray(made)


def _real_rows(columns: list[Any]) -> SymbolicArray | None:
    """Rows of real columns and of columns of numbers."""
    made = []
    first = next(column for column in columns if type(column) is RealColumn)
    for column in columns:
        if type(column) is Column:
            if column.own.ndim > 1 or column.is_off or not first.has_records_of(column):
                return None
            column = _real_column(column, column.table)
        if type(column) is not RealColumn or not first.has_records_of(column):
            return None
        made.append(column)
    return SymbolicArray(RealMatrix(made))


def _real_column(column: Column, table: Any) -> RealColumn:
    table = table.astype(np.float64)
    recipe = ("table", table.dtype.char, table.tobytes())
    return RealColumn(column.branching, column.answers, (table, table), recipe, column.kept)


def as_real(column: Column, use: str) -> Any:
    """Numbers of a finite table as real ones, which meet released numbers."""
    if column.answers.cells is None:
        column.refuse(f"{use} with noise, or with a sum of the data")
    is_finite = bool(np.isfinite(column.table).all())
    if column.is_off or not is_finite or column.dtype in NARROW:
        column.refuse(f"{use} of these numbers with noise", "use whole numbers, or np.float64")
    if column.own.ndim > _ROWS:
        return RealMatrix.as_array(column)
    if column.own.ndim > 1:
        return RealMatrix([_real_column(column, part) for part in column.table.T])
    made = _real_column(column, column.table)
    made.is_strided = column.is_strided
    return made


def _as_rows(column: RealColumn) -> SymbolicArray:
    return SymbolicArray(RealMatrix([column]))


RealColumn.as_rows = staticmethod(_as_rows)
Column.as_real = staticmethod(as_real)
