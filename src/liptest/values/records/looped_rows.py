"""A row of real numbers of one record, as a loop over rows meets it: ``for x in X: total += x``.

It stands for all records of one cell, as ``RealEntry`` does for one number: what is done with it is
done to arrays of that cell's records alone, whose first axis is that of the records. What the
passes add, or collect in a list, is then put together from all cells (docs/theory/loops.md, L1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray, fill_array
from liptest.values.protocol import is_symbolic
from liptest.values.reals.real_column import CALCULATIONS, RealColumn, RealEntry, column_of_entries
from liptest.values.reals.real_matrix import RealMatrix, join_columns
from liptest.values.reals.real_norms import Ball
from liptest.values.records.column import Column
from liptest.values.records.record_list import EntryOfRecord, RowOfRecord, TruthOfRecord

_ALL = slice(None)
# Whole numbers up to it are floats.
_EXACT = 2**53


class RealRow(RowOfRecord):
    """See the module.

    Parameters
    ----------
    storage
        Numbers of the records of one cell, a row or a matrix of each.
    cell
        Its number.
    """

    __slots__ = ("cell", "storage")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, storage: Any, cell: int) -> None:
        self.storage = storage
        self.cell = cell

    @property
    def shape(self) -> tuple[int, ...]:
        lines = RealMatrix.lines_within(SymbolicArray(self.storage))
        return tuple(lines.shape)

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers."""
        return int(np.prod(self.shape))

    @property
    def entries(self) -> list[Any]:
        lines = RealMatrix.lines_within(SymbolicArray(self.storage))
        return [self._entry(line) for line in lines.flat]

    def _entry(self, made: Any) -> Any:
        """What stands for one record in what was made for those of the cell."""
        storage = made.storage if type(made) is SymbolicArray else None
        if type(storage) is RealColumn:
            return RealEntry(storage, self.cell, is_numpy=True)
        if type(storage) is Column:
            is_number = storage.table.ndim == 1
            return storage.table[0].item() if is_number else self.refuse("a row of constants")
        return RealRow(storage, self.cell)

    def refuse(self, use: str) -> Any:
        """End the analysis."""
        return self.storage.refuse(use)

    def _operands(self, values: Sequence[Any]) -> list[Any]:
        """The values with an axis of records in front, where they are of this record."""
        axes = max(map(_find_axes, values))
        return [self._with_axes(value, axes) for value in values]

    def _with_axes(self, value: Any, axes: int) -> Any:
        if not isinstance(value, EntryOfRecord):
            return value
        if value.cell != self.cell:
            return self.refuse("a loop that takes the row of one record to another one")
        own: Any = value.storage if isinstance(value, RealRow) else value.column
        array = SymbolicArray(own)
        lacking = axes - int(RealMatrix.lines_within(array).ndim)
        if not lacking:
            return array
        return array[(_ALL, *(None,) * lacking, *(_ALL,) * (axes - lacking))]

    def calculated(self, ufunc: Any, *inputs: Any) -> Any:
        if ufunc is np.matmul:
            return self._dot(*inputs)
        return self._entry(ufunc(*self._operands(inputs)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            self.refuse(f"numpy.{ufunc.__name__} with options")
        return self.calculated(ufunc, *inputs)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        rule = _FUNCTIONS.get(function)
        given = {name: one for name, one in options.items() if one is not np._NoValue}
        if rule is None or not given.keys() <= _OPTIONS.get(function, set()):
            return self.refuse(f"numpy.{function.__name__} of the row of one record")
        return rule(self, *inputs, **given)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.refuse("numpy.array() of the row of one record")

    # ---- functions

    def _dot(self, left: Any, right: Any) -> Any:
        """Of two rows, or of a row and numbers that are the same for all records."""
        if _find_axes(left) != 1 or _find_axes(right) != 1:
            return self.refuse("a product of the row of one record with what is not a row")
        return self._sum(self.calculated(np.multiply, left, right))

    def _sum(self, row: Any, axis: Any = None) -> Any:
        if row.ndim != 1 or axis not in (None, 0, -1):
            return self.refuse("a sum within one record")
        return row._entry(np.sum(SymbolicArray(row.storage), axis=1))

    def _norm(self, row: Any, ord: Any = None, axis: Any = None) -> Any:
        if row.ndim != 1 or is_symbolic(ord) or axis not in (None, 0, -1):
            return self.refuse("a norm of what is not a row")
        return row._entry(np.linalg.norm(SymbolicArray(row.storage), ord, axis=1))

    def _outer(self, left: Any, right: Any) -> Any:
        if _find_axes(left) != 1 or _find_axes(right) != 1:
            return self.refuse("an outer product of what is not a row")
        down, across = self._with_axes(left, 1), self._with_axes(right, 1)
        down = down[:, :, None] if is_of_records(down) else np.asarray(down)[:, None]
        across = across[:, None, :] if is_of_records(across) else np.asarray(across)
        return self._entry(down * across)

    def _clip(self, row: Any, a_min: Any, a_max: Any) -> Any:
        clipped = row
        for ufunc, bound in ((np.maximum, a_min), (np.minimum, a_max)):
            clipped = clipped if bound is None else clipped.calculated(ufunc, clipped, bound)
        return clipped

    def _append(self, row: Any, values: Any) -> Any:
        return self._join((row, values))

    def _join(self, parts: Any) -> Any:
        """Rows and lists of numbers, one behind the other."""
        entries: list[Any] = []
        for part in parts:
            if isinstance(part, RealRow):
                entries += part.entries if part.ndim == 1 else [part]
            elif type(part) in (list, tuple):
                entries += part
            else:
                entries += part.tolist() if type(part) is np.ndarray and part.ndim == 1 else [part]
        row = row_of_entries(entries)
        return self.refuse("an array of what is not numbers in a line") if row is None else row

    def dot(self, other: Any) -> Any:
        """``numpy.dot``."""
        return self._dot(self, other)

    def sum(self) -> Any:
        """``numpy.sum``."""
        return self._sum(self)

    def copy(self) -> Any:
        """Another one of the same numbers."""
        return RealRow(self.storage, self.cell)

    # ---- entries

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: Any) -> Any:
        if is_symbolic(place) or isinstance(place, EntryOfRecord):
            self.refuse("an index of a row that depends on the data")
        places = place if type(place) is tuple else (place,)
        np.empty(self.shape)[places]  # raises NumPy's own error
        return self._entry(SymbolicArray(self.storage)[(_ALL, *places)])

    def __bool__(self) -> bool:
        return bool(self.refuse("the truth of a row"))

    def __matmul__(self, other: Any) -> Any:
        return self._dot(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._dot(other, self)


def _find_axes(value: Any) -> int:
    """Of the numbers of one record, or of numbers that are the same for all."""
    if isinstance(value, EntryOfRecord):
        return value.ndim if isinstance(value, RealRow) else 0
    return np.ndim(value)


def row_of_entries(entries: Sequence[Any]) -> RealRow | None:
    """Numbers of one record, and constants beside them, as its row; None for all else."""
    first = next((entry for entry in entries if type(entry) is RealEntry), None)
    if first is None or not all(type(one) is RealEntry or _is_constant(one) for one in entries):
        return None
    if any(type(entry) is RealEntry and entry.cell != first.cell for entry in entries):
        first.refuse("a loop that takes the number of one record to another one")
    rows: Any = join_columns(
        [
            SymbolicArray(one.column)
            if type(one) is RealEntry
            else first.column.constant(float(one))
            for one in entries
        ]
    )
    return None if rows is None else RealRow(rows.storage, first.cell)


def _is_constant(value: Any) -> bool:
    is_number = type(value) in (int, float, np.int64, np.float64)
    return is_number and bool(abs(value) <= _EXACT)


def is_of_records(value: Any) -> bool:
    """Whether it has an axis of records."""
    return type(value) is SymbolicArray and type(value.storage) in (RealMatrix, RealColumn)


_FUNCTIONS: dict[Any, Any] = {
    **dict.fromkeys((np.dot, np.inner, np.vdot), RealRow._dot),
    np.sum: RealRow._sum,
    np.linalg.norm: RealRow._norm,
    np.outer: RealRow._outer,
    np.clip: RealRow._clip,
    np.append: RealRow._append,
    **dict.fromkeys((np.concatenate, np.hstack), RealRow._join),
    np.ndim: lambda row, one: one.ndim,
    np.shape: lambda row, one: one.shape,
    np.size: lambda row, one: one.size,
}
#: What may be given by name.
_OPTIONS: dict[Any, set[str]] = {
    np.sum: {"axis"},
    np.linalg.norm: {"ord", "axis"},
    np.clip: {"a_min", "a_max"},
}


def _operator(ufunc: Any, *, swapped: bool = False) -> Any:
    def operate(self: RealRow, other: Any) -> Any:
        return self.calculated(ufunc, *((other, self) if swapped else (self, other)))

    return operate


def _refusing(name: str) -> Any:
    def method(self: RealRow, *arguments: Any) -> Any:
        return self.refuse(f"{name} of the row of one record")

    return method


for _name, _ufunc in CALCULATIONS.items():
    setattr(RealRow, f"__{_name}__", _operator(_ufunc))
    setattr(RealRow, f"__r{_name}__", _operator(_ufunc, swapped=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "setitem", "contains", "reversed"):
    setattr(RealRow, f"__{_name}__", _refusing(_name))


class OpenTruth(TruthOfRecord):
    """See ``TruthOfRecord``; of a norm and a constant both sides are known to be short."""

    __slots__ = ("cell", "storage", "use")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, storage: Any, use: str, cell: int) -> None:
        self.storage, self.use, self.cell = storage, use, cell

    def __bool__(self) -> bool:
        return bool(self.storage.number.refuse(f"{self.use} of what is made of a real column"))

    def either(self, value: Any, holds: Any, fails: Any) -> Any:
        """What is taken above the bound gets the larger one of both: there it is the same."""
        if self.storage.test is None or not isinstance(value, RealEntry):
            return holds(value) if self else fails(value)
        test, is_above = self.storage.test
        high = value.calculated(np.maximum, value, test.bound) if test.bound else value.above_zero()
        above, other = (holds(high), fails(value)) if is_above else (fails(high), holds(value))
        size = max(map(_size_of, (above, other)))
        sides = _find_entries(above, size), _find_entries(other, size)
        if len(sides[0]) != len(sides[1]):
            return self.storage.number.refuse("a choice between rows of different lengths")
        pairs = zip(*sides, strict=True)
        made = [test.column.chosen_by_norm(test, *map(_as_array, pair)) for pair in pairs]
        if type(above) is list or type(other) is list:
            return [RealEntry(column.storage, self.cell) for column in made]
        if not isinstance(above, RealRow) and not isinstance(other, RealRow):
            return RealEntry(made[0].storage, self.cell)
        return RealRow(RealMatrix([column.storage for column in made]), self.cell)


RealEntry.open_truth = OpenTruth
EntryOfRecord.in_row = staticmethod(row_of_entries)


def _size_of(value: Any) -> int:
    return value.size if isinstance(value, RealRow) else len(value) if type(value) is list else 1


def _find_entries(value: Any, size: int) -> list[Any]:
    """The numbers of a row or a list, or one number as often as needed."""
    if type(value) is list:
        return value
    return value.entries if isinstance(value, RealRow) else [value] * size


def _as_array(entry: Any) -> Any:
    return SymbolicArray(entry.column) if type(entry) is RealEntry else entry


def rows_of_matrix(matrix: RealMatrix) -> list[RealRow]:
    """The row of a record of each cell."""
    parts = [[entry.column for entry in column.each_record()] for column in matrix.columns]
    by_cell = enumerate(zip(*parts, strict=True))
    return [RealRow(RealMatrix(list(own)), cell) for cell, own in by_cell]


# ---- what the cells make together


def array_of_rows(of: RealColumn, values: Sequence[Any], kept: Any) -> SymbolicArray:
    """Rows of what is made of the row of a record of each cell."""
    rows = [value for value, is_kept in zip(values, kept, strict=True) if is_kept]
    if not all(isinstance(row, RealRow) and row.shape == rows[0].shape for row in rows):
        of.refuse("a list of rows of different lengths")
    width = rows[0].size
    by_cell = [value.entries if type(value) is RealRow else [0.0] * width for value in values]
    lines = with_joint_balls([list(line) for line in zip(*by_cell, strict=True)])
    columns = [column_of_entries(of, line, kept) for line in lines]
    if not all(type(column.storage) is RealColumn for column in columns):
        of.refuse("a list of rows, some of which are constant")
    layout = ("a list of rows",)
    if rows[0].ndim == 1:
        reals: Any = [column.storage for column in columns]
        return SymbolicArray(RealMatrix(reals, layout=layout))
    made: SymbolicArray = RealMatrix.of_lines(fill_array(columns, rows[0].shape, object), layout)
    return made


def with_joint_balls(lines: list[list[Any]]) -> list[list[Any]]:
    """Numbers by place and cell, of which each cell's are one vector where they all are.

    In each cell the numbers that are not 0 are different coordinates of one vector that is known
    to be in a ball; then all of them are in the largest of these balls (docs/theory/tables.md, B7).
    """
    keys: list[Any] = []
    radii: list[Any] = []
    exponents: set[float] = set()
    for own in zip(*lines, strict=True):
        if all(type(entry) is not RealEntry and entry == 0 for entry in own):
            keys.append(None)
            continue
        balls: list[Any] = [one.column.ball if type(one) is RealEntry else None for one in own]
        if any(ball is None or ball.key != balls[0].key for ball in balls):
            return lines
        places = tuple(ball.place for ball in balls)
        if len(set(places)) < len(places):
            return lines
        keys.append((balls[0].key, places))
        radii += [ball.radius for ball in balls]
        exponents |= {ball.exponent for ball in balls}
    if len(exponents) != 1:
        return lines
    joint = Ball(("cells", tuple(keys)), (), exponents.pop(), max(radii))
    return [
        [_with_ball(one, replace(joint, place=("place", place))) for one in line]
        for place, line in enumerate(lines)
    ]


def _with_ball(entry: Any, ball: Ball) -> Any:
    if type(entry) is not RealEntry:
        return entry
    column: Any = entry.column.copied(None)
    column.ball = ball
    return RealEntry(column, entry.cell, is_numpy=entry.is_numpy)
