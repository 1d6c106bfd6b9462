"""Rows of real numbers of 32 bits: several ``SingleColumn`` side by side, as a 2-d array.

What is done entry by entry is done column by column. In which order NumPy adds up the rows depends
on where they lie in memory, so their sums have the bound of any order, which is the same one for
both tables (docs/theory/tables.md, B12). All else is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.protocol import Symbolic
from liptest.values.reals.real_matrix import RealMatrix
from liptest.values.reals.single_column import SingleColumn, in_32_bits
from liptest.values.records.column import find_column
from liptest.values.records.record_storage import RecordStorage

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_ADVICE = (
    "of rows of 32 bits + - * / and clip with plain numbers, single columns and .sum(axis=0) are "
    "followed; for all else use .astype(np.float64)"
)


class SingleMatrix(RecordStorage):
    """See the module; ``layout`` tells where the numbers lie, as that of ``RealMatrix`` does."""

    __slots__ = ("columns", "layout")

    leads = True
    advice = _ADVICE

    def __init__(self, columns: list[SingleColumn], layout: Any) -> None:
        self.columns, self.layout = columns, layout
        self.branching = columns[0].branching
        self.dtype = _SINGLE

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.columns[0].shape, len(self.columns))

    @property
    def where(self) -> tuple[Any, ...]:
        """Where the numbers lie, of all columns."""
        return self.layout, tuple(column.column.recipe for column in self.columns)

    def as_list(self) -> Any:
        return self.refuse("tolist() of rows")

    def moved(self, move: Any) -> Any:
        return self.refuse("a use that moves records")

    def copied(self, order: Any) -> Any:
        return SingleMatrix(self.columns, ("copied", str(order), self.layout))

    def astype(self, dtype: np.dtype[Any]) -> Any:
        if dtype != _DOUBLE:
            return self.refuse(f"astype({dtype})")
        made = [column.astype(dtype).storage for column in self.columns]
        return SymbolicArray(RealMatrix(made, layout=("cast", self.layout)))

    def entries_at(self, index: Any) -> Any:
        if find_column(index) is not None:
            made = [column.entries_at(index).storage for column in self.columns]
            return SymbolicArray(SingleMatrix(made, ("selected", self.layout)))
        is_column = type(index) is tuple and len(index) == 2 and type(index[1]) is int
        if not is_column or not (type(index[0]) is slice and index[0] == slice(None)):
            return self.refuse("an index but of one column, rows[:, 0],")
        if not -len(self.columns) <= index[1] < len(self.columns):
            return self.refuse("an index beyond the columns")
        chosen = self.columns[index[1]].copied(None)
        chosen.column.is_strided = ("column", index[1] % len(self.columns), self.where)
        return SymbolicArray(chosen)

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        use = f"numpy.{ufunc.__name__}"
        parts = [self._parts(operand, use) for operand in inputs]
        made = [
            one.answer_ufunc(ufunc, tuple(part[place] for part in parts)).storage
            for place, one in enumerate(self.columns)
        ]
        return SymbolicArray(SingleMatrix(made, ("made", self.layout)))

    def _parts(self, value: Any, use: str) -> list[Any]:
        """By column what an input is."""
        if type(value) is SymbolicArray and value.storage is self:
            return [SymbolicArray(column) for column in self.columns]
        if issubclass(type(value), Symbolic) or np.ndim(value):
            return self.refuse(f"{use} of rows with what is not a plain number")  # type: ignore[no-any-return]
        return [value] * len(self.columns)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return self.answer_by(_FUNCTIONS, function, arguments, options)

    def sums(self, use: str, *, mean: bool = False) -> Any:
        """The sums of the columns, or their means."""
        where = self.where
        totals = [
            column.sum_up(use, in_pairs=False, mean=mean, layout=where) for column in self.columns
        ]
        return make_array(self.branching, fill_array(totals, (len(totals),), object), _SINGLE)


def _sum(matrix: SingleMatrix, array: Any, axis: Any = None, dtype: Any = None) -> Any:
    if axis != 0 or array.storage is not matrix:
        return NotImplemented
    if dtype is not None and np.dtype(dtype) == _DOUBLE:
        return matrix.astype(_DOUBLE).storage.sums("numpy.sum of numbers of 32 bits")
    return matrix.sums("numpy.sum") if dtype in (None, np.float32) else NotImplemented


def _mean(matrix: SingleMatrix, array: Any, axis: Any = None) -> Any:
    column = matrix.columns[0].column
    if axis != 0 or column.kept is not None or column.answers.records > 1 << 24:
        return NotImplemented
    column.refuse_length()
    return matrix.sums("numpy.mean", mean=True)


def _clip(matrix: SingleMatrix, array: Any, low: Any = None, high: Any = None) -> Any:
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        array = array if bound is None else ufunc(array, bound)
    return array


_FUNCTIONS: dict[Any, Callable[..., Any]] = {np.sum: _sum, np.mean: _mean, np.clip: _clip}


def rows_in_32_bits(matrix: RealMatrix) -> SymbolicArray:
    """Rows cast to 32 bits."""
    made = [in_32_bits(column).storage for column in matrix.columns]
    return SymbolicArray(SingleMatrix(made, ("cast", matrix.layout)))  # type: ignore[arg-type]


def join_single(columns: list[Any]) -> SymbolicArray | None:
    """Rows of columns of 32 bits of the same records."""
    if not all(columns[0].has_records_of(column) for column in columns):
        return None
    return SymbolicArray(SingleMatrix(columns, ()))


RealMatrix.in_32_bits = staticmethod(rows_in_32_bits)
RealMatrix.of_singles = (SingleColumn, join_single)
