"""Records in a grid of positions: each line of it is a part of the records."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import Storage, SymbolicArray, fill_array, make_array
from liptest.values.protocol import Symbolic
from liptest.values.records.column import Column, find_column
from liptest.values.records.record_parts import find_line, is_grid
from liptest.values.records.record_storage import OfData

_QUANTILES = np.percentile, np.quantile
_OF_LINES = (np.sum, np.mean, np.count_nonzero, np.median, np.max, np.min, np.std, np.var)


class Blocks(Storage):
    """Records in a grid, as ``reshape(k, -1)`` gives: each line of it is a part of the records.

    Parameters
    ----------
    column
        All records.
    grid
        (k, m) their positions, of which rows and columns are ranges.
    """

    __slots__ = ("column", "grid")

    def __init__(self, column: Column, grid: NDArray[Any]) -> None:
        self.branching = column.branching
        self.dtype = column.dtype
        self.column = column
        self.grid = grid

    @property
    def shape(self) -> tuple[int, ...]:
        return self.grid.shape

    def _of(self, found: Any) -> Any:
        """The same grid of other entries."""
        column = find_column(found)
        assert column is not None
        return SymbolicArray(Blocks(column, self.grid))

    def _part(self, positions: NDArray[Any]) -> Any:
        """Records in a line."""
        line = find_line(positions)
        if line is None:
            return self.column.refuse("a use that looks at single records")
        every = self.column.answers.positions
        if type(every) is not range:
            return self.column.refuse("blocks of records at listed places")
        start, step = every[line[0]], every.step * line.step
        return SymbolicArray(self.column.part_at(range(start, start + step * len(line), step)))

    def moved(self, move: Any) -> Any:
        moved = move(self.grid)
        if isinstance(moved, np.ndarray) and moved.ndim == 1 and len(moved) > 1:
            return self._part(moved).storage
        if isinstance(moved, np.ndarray) and is_grid(moved):
            table = self.column.table.view()
            table.flags.writeable = False
            return Blocks(self.column.other(table), moved)
        return self.column.refuse("a use that moves records")

    def entries_at(self, index: Any) -> Any:
        places = index if type(index) is tuple else (index,)
        if any(issubclass(type(place), Symbolic) for place in places):
            return self.column.refuse("an index")
        return NotImplemented  # it moves the grid

    def copied(self, order: Any) -> Any:
        return Blocks(self.column.copied(order), self.grid)

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self._of(self.column.astype(dtype))

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        return self._of(self.column.answer_ufunc(ufunc, self._columns(inputs)))

    def _columns(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The columns of grids of the same records, and constants."""
        columns = []
        for operand in inputs:
            blocks = grid_of_records(operand)
            if blocks is not None and np.array_equal(blocks.grid, self.grid):
                columns.append(SymbolicArray(blocks.column))
            elif issubclass(type(operand), Symbolic) or np.ndim(operand):
                self.column.refuse("a use of other records, or of numbers that differ between them")
            else:
                columns.append(operand)
        return tuple(columns)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        given, first = dict(options), 1 + (function in _QUANTILES)
        share, rest = arguments[1:first], arguments[first:]
        axis = given.pop("axis", rest[0] if rest else None)
        if function in _OF_LINES + _QUANTILES and len(rest) < 2 and not given.keys() - {"ddof"}:
            of_block = partial(function, **given)
            if axis in (None, (0, 1)):
                return of_block(self._part(np.sort(self.grid, axis=None)), *share)
            if axis not in (0, 1, -1):
                return self.column.refuse(f"numpy.{function.__name__} with axis={axis}")
            lines = self.grid.T if axis == 0 else self.grid
            parts = [self._part(line) for line in lines]
            for part in parts:
                part.storage.is_strided = True  # the order of NumPy's sums is not known
            cells = [of_block(part, *share) for part in parts]
            kind = np.asarray(of_block(np.zeros(2, self.dtype), *share)).dtype
            return make_array(self.branching, fill_array(cells, (len(lines),), object), kind)
        if function.__name__ in ("clip", "where", "round", "isin"):
            named = dict(zip(options, self._columns(tuple(options.values())), strict=True))
            return self._of(function(*self._columns(arguments), **named))
        return self.column.refuse(f"numpy.{function.__name__} of records in a grid")

    def cells(self) -> Any:
        return self.column.cells()

    def as_list(self) -> Any:
        return self.column.refuse("tolist() of records in a grid")

    def concretise(self, use: str) -> NDArray[Any]:
        return self.column.concretise(use)

    def write(self, index: Any, value: Any) -> None:
        self.column.refuse("a write into records in a grid")

    def shares_memory(self, other: Storage) -> bool:
        return False

    @property
    def spokesman(self) -> Any:
        return OfData


def grid_of_records(value: Any) -> Blocks | None:
    """The grid of records that an array is; None for all else."""
    if type(value) is SymbolicArray and type(value.storage) is Blocks:
        return value.storage
    return None


Column.in_grid = Blocks
