"""Sums over the records of products: ``X.T @ X``, ``X.T @ y``, ``numpy.einsum("ni,nj->ij", X, X)``.

What a record adds is a product of its own numbers, so the sums are answers as others are. Of
``X.T @ X`` more is known: the squares of what a record adds are together the fourth power of the
norm of its row (docs/theory/tables.md, B19). Other uses of transposed rows are those of rows, or
of one line after another: ``numpy.array([data == k for k in range(8)]).sum(axis=1)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from liptest.foreign import type_of_cell
from liptest.values.answers.aligned import AlignedValue
from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.protocol import Symbolic, is_symbolic
from liptest.values.reals.real_column import RealColumn
from liptest.values.reals.real_matrix import RealMatrix, join_columns
from liptest.values.reals.real_norms import SLACK
from liptest.values.records.column import Column
from liptest.values.records.record_storage import OF_SHAPE, RecordStorage, read_options

ADVICE = "sum up products over all records: X.T @ X, X.T @ y, (x * y).sum()"
_OF_AN_AXIS = (np.sum, np.mean, np.linalg.norm, np.argmin, np.argmax, np.min, np.max)
_OF_LINES = (np.sum, np.mean, np.count_nonzero)
# Kept: while a program is analysed the names stand for something else.
_CLIP, _MEAN, _TAKE = np.clip, np.mean, np.take
_PAIR = 2
_NARROWEST = 4  # bytes of numbers, below which sums have another type


class TransposedRows(RecordStorage):
    """Rows of numbers of the records, as ``.T`` gives them: a line for each number of a row.

    Where they are ``stacked`` the numbers of a line lie side by side, and are summed up so.
    """

    __slots__ = ("is_stacked", "rows")

    leads = True
    advice = ADVICE

    def __init__(self, rows: Column | RealMatrix, *, is_stacked: bool = False) -> None:
        self.rows = rows
        self.is_stacked = is_stacked
        self.branching = rows.branching
        self.dtype = rows.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(reversed(self.rows.shape))

    def moved(self, move: Callable[[Any], Any]) -> Any:
        return self.rows.moved(lambda places: move(places.T))

    def like(self, rows: Any) -> SymbolicArray:
        """Other rows, transposed as these are."""
        return SymbolicArray(TransposedRows(rows.storage, is_stacked=self.is_stacked))

    def copied(self, order: Any) -> Any:
        return self.like(SymbolicArray(self.rows.copied(order))).storage

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self.like(SymbolicArray(self.rows).astype(dtype))

    def entries_at(self, index: Any) -> Any:
        places = index if type(index) is tuple else (index,)
        if any(issubclass(type(place), Symbolic) for place in places) or len(places) != 1:
            return self.refuse("an index")
        chosen = SymbolicArray(self.rows)[:, places[0]]
        return self.like(chosen) if chosen.ndim > 1 else chosen

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc is np.matmul:
            return self.answer_function(np.dot, inputs, {})
        made = ufunc(*(self._upright(operand, f"numpy.{ufunc.__name__}") for operand in inputs))
        return self.like(made)

    def _upright(self, operand: Any, use: str) -> Any:
        """What meets rows as the operand meets transposed ones."""
        if type(operand) is SymbolicArray and type(operand.storage) is TransposedRows:
            if operand.storage.is_stacked is not self.is_stacked:
                self.refuse(f"{use} of lines side by side and of transposed rows")
            return SymbolicArray(operand.storage.rows)
        if is_line(operand):
            return operand[:, None]
        if issubclass(type(operand), Symbolic) or np.ndim(operand) not in (0, 2):
            return self.refuse(f"{use} of transposed rows with what has another shape")
        return operand if np.ndim(operand) == 0 else np.transpose(operand)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        given = read_options(options)
        if function is np.dot and not given and len(arguments) == 2:
            made = multiply_records(*arguments)
            return self.refuse("numpy.dot") if made is NotImplemented else made
        if function is np.transpose and not given and len(arguments) == 1:
            return arguments[0].T
        if function is _TAKE and given == {"axis": 0} and len(arguments) == _PAIR:
            return arguments[0][arguments[1]]
        if function in OF_SHAPE and not given and len(arguments) == 1:
            return OF_SHAPE[function](self, *arguments)
        axis = given.pop("axis", arguments[1] if len(arguments) == 2 else None)
        if function is np.size and not given:
            return arguments[0].size if axis is None else self.shape[axis]
        if function is _CLIP and not any(map(np.ndim, arguments[1:])):
            return self.like(_CLIP(SymbolicArray(self.rows), *arguments[1:], **options))
        answer = None
        if not given and len(arguments) <= _PAIR:
            answer = self._reduce(function, axis)
        return (
            self.refuse(f"numpy.{function.__name__} of transposed rows")
            if answer is None
            else answer
        )

    def _reduce(self, function: Any, axis: Any) -> Any:
        """Over the records, or over the numbers of each of them; None where it is not followed."""
        lines = [SymbolicArray(self.rows)[:, k] for k in range(self.shape[0])]
        is_exact = self.dtype.kind in "biu" and function is not _MEAN
        if axis is None and function in _OF_LINES and (is_exact or len(lines) == 1):
            return reduce(np.add, (function(line) for line in lines))
        if axis in (1, -1) and self.is_stacked:
            is_followed = function in _OF_LINES
            return _make_array(self.branching, map(function, lines), None) if is_followed else None
        is_followed = function in _OF_AN_AXIS and axis in (0, 1, -1)
        return function(SymbolicArray(self.rows), axis=1 - axis % 2) if is_followed else None


def meet_upright(function: Any, inputs: tuple[Any, ...]) -> Any:
    """What a line makes with a plain array (k, 1): k lines, stacked; None for others."""
    if not any(map(_is_upright, inputs)):
        return None
    if not all(is_line(one) or _is_upright(one) or np.ndim(one) == 0 for one in inputs):
        return None
    turned = (one[:, None] if is_line(one) else np.transpose(one) for one in inputs)
    return SymbolicArray(TransposedRows(function(*turned).storage, is_stacked=True))


def _is_upright(value: Any) -> bool:
    is_plain = type(value) is np.ndarray and value.dtype.kind in "biuf"
    return is_plain and value.ndim == _PAIR and value.shape[1] == 1


def is_line(value: Any) -> bool:
    """Whether it is a column: one number of each record."""
    if type(value) is not SymbolicArray:
        return False
    storage: Any = value.storage
    return type(storage) is RealColumn or (type(storage) is Column and storage.own.ndim == 1)


def is_turned(value: Any) -> bool:
    """Whether it is transposed rows."""
    return type(value) is SymbolicArray and type(value.storage) is TransposedRows


def is_rows(value: Any) -> bool:
    """Whether it has several numbers of each record."""
    if type(value) is not SymbolicArray:
        return False
    storage: Any = value.storage
    return type(storage) is RealMatrix or (type(storage) is Column and storage.own.ndim == 2)


def multiply_records(left: Any, right: Any) -> Any:
    """A product of matrices or lines that sums over the records, or one of transposed rows."""
    pair = (right, SymbolicArray(left.storage.rows)) if is_turned(left) else (left, right)
    chosen = Column.multiply_bits_and_rows(*pair)
    if chosen is not None:
        return chosen
    if is_turned(left):
        rows: Any = SymbolicArray(left.storage.rows)
        if is_line(right) or is_rows(right):
            return _sum_products([rows, right], ((0,), (1,)) if is_rows(right) else ((0,), ()))
        if _is_equal_line(right, rows):
            return np.sum(rows * right[0], axis=0)
    if is_line(left) and is_rows(right):
        return _sum_products([left, right], ((), (0,)))
    if is_turned(right) and np.ndim(left) == 1 and not is_line(left):
        return np.dot(SymbolicArray(right.storage.rows), left)
    return NotImplemented


def _is_equal_line(value: Any, rows: Any) -> bool:
    is_plain = type(value) is np.ndarray and value.ndim == 1 and value.dtype.kind in "iuf"
    return is_plain and len(value) == len(rows) and bool(np.all(value == value[0]))


def einsum_of_records(subscripts: Any, *arrays: Any, optimize: Any = False) -> Any:
    """A sum over the records, which are the first axis of all arrays."""
    if not isinstance(subscripts, str) or subscripts.count("->") != 1 or is_symbolic(optimize):
        return NotImplemented
    before, after = subscripts.replace(" ", "").split("->")
    operands = before.split(",")
    if len(operands) != len(arrays) or not all(operands) or len({o[0] for o in operands}) > 1:
        return NotImplemented
    labels = [operand[1:] for operand in operands]
    named = set("".join(labels))
    is_over_records = operands[0][0] not in named | set(after)
    if not is_over_records or set(after) != named or len(after) != len(named):
        return NotImplemented
    for array, own in zip(arrays, labels, strict=True):
        if not (is_line(array) if not own else len(own) == 1 and is_rows(array)):
            return NotImplemented
    return _sum_products(arrays, tuple(tuple(map(after.index, own)) for own in labels), "einsum")


def _sum_products(
    arrays: Sequence[Any], axes: tuple[tuple[int, ...], ...], name: str = "matmul"
) -> Any:
    """An array of sums over the records; of each operand the axis of it that its numbers are on."""
    first = arrays[0].storage
    widths = {axis[0]: _width(a) for a, axis in zip(arrays, axes, strict=True) if axis}
    shape = tuple(widths[axis] for axis in sorted(widths))
    # One memory with itself: NumPy calculates one half of it, or both alike.
    are_same = len(arrays) == 2 and first is arrays[1].storage and not _has_gaps(first)
    is_twice = are_same and name == "matmul" and len(shape) == 2
    layout = name, tuple(map(_where, arrays))
    cells: dict[tuple[int, ...], Any] = {}
    for place in product(*map(range, shape)):
        if is_twice and place[0] > place[1]:
            cells[place] = cells[place[1], place[0]]
            continue
        parts = [
            array[:, place[axis[0]]] if axis else array
            for array, axis in zip(arrays, axes, strict=True)
        ]
        use = f"numpy.{name}" if is_twice else f"numpy.{name}, at {place}"
        cells[place] = sum_of_products(reduce(np.multiply, parts), use, layout)
    if len(shape) == 2 and len(arrays) == 2:
        _note_moments(arrays, cells)
    values = list(cells.values())
    return _make_array(first.branching, values, shape) if shape else values[0]


def _make_array(branching: Any, sums: Iterable[Any], shape: Any) -> Any:
    """An array of sums over the records; in a line where no shape is given."""
    values = list(sums)
    kind = next((type_of_cell(value) for value in values if is_symbolic(value)), np.float64)
    cells = fill_array(values, (len(values),) if shape is None else shape, object)
    return make_array(branching, cells, np.dtype(kind))


def _where(array: Any) -> Any:
    return array.storage.where if type(array.storage) is RealMatrix else None


def _has_gaps(rows: Any) -> bool:
    """Whether some of the numbers of a row may lie apart, so that NumPy copies them, each time."""
    if type(rows) is RealMatrix:
        return rows.layout[:1] == ("columns",)
    return bool(rows.is_strided)


def _width(rows: Any) -> int:
    storage = rows.storage
    return len(storage.columns) if type(storage) is RealMatrix else int(storage.table.shape[1])


def sum_of_products(products: Any, use: str, layout: Any = None) -> Any:
    """The answer of a column of products, in an order of additions that is not known."""
    storage = products.storage
    if type(storage) is RealColumn:
        return storage.sum_up(use, in_pairs=False, layout=layout, is_product=True)
    if storage.dtype.kind not in "iuf" or storage.dtype.itemsize < _NARROWEST:
        return storage.refuse(f"{use} that gives {storage.dtype}")
    is_off = storage.is_off or storage.dtype.kind == "f"
    column = storage.other(storage.table, is_off=is_off)
    return column.sum_up(column.table, column.dtype.type, use)


def _note_moments(arrays: Sequence[Any], cells: dict[Any, Any]) -> None:
    """Note the cells of products of rows with themselves."""
    left, right = (array.storage for array in arrays)
    if not (type(left) is type(right) is RealMatrix) or left.recipes != right.recipes:
        return
    answers = {}
    for pair, total in cells.items():
        if is_symbolic(total):
            answer = _find_answer(total)
            if answer is None:
                return
            answers[pair] = answer
    size = largest_square_of_rows(left)
    if answers and size is not None:
        first = left.columns[0]
        kept = None if first.kept is None else first.kept.tobytes()
        first.answers.note_moments((left.where, right.where, kept), answers, size)


def _find_answer(total: Any) -> int | None:
    """The number of the one answer that a sum is."""
    if type(total) is not AlignedValue or len(total.form.terms) != 1 or total.form.constant:
        return None
    [(variable, factor)] = total.form.terms
    answer: Any = total.run.noises[variable]
    return answer.number if factor == 1 else None


def largest_square_of_rows(rows: RealMatrix) -> Fraction | None:
    """What the squares of the numbers of a row are together at most; None for any number."""
    balls: dict[Any, dict[Any, Fraction]] = {}
    total = np.zeros(len(rows.columns[0].low), dtype=object) + Fraction(0)
    for column in rows.columns:
        ball = column.ball
        places = {} if ball is None or ball.exponent > 2 else balls.setdefault(ball.key, {})
        if ball is not None and ball.exponent <= 2 and ball.place not in places:
            places[ball.place] = ball.radius
            continue
        most = np.maximum(np.abs(column.low), np.abs(column.high))
        if not np.isfinite(most).all():
            return None
        total = total + np.array([Fraction(end) ** 2 for end in most.tolist()], dtype=object)
    inside = sum((max(places.values()) ** 2 for places in balls.values() if places), Fraction(0))
    most_of_all: Fraction = max(total)
    return (most_of_all + inside) * (1 + SLACK) + SLACK**10


def move_rows(rows: Any, move: Callable[[Any], Any]) -> Any:
    """Rows in their places, or transposed; all else is refused."""
    width = _width(SymbolicArray(rows)) if is_rows(SymbolicArray(rows)) else 0
    if not width:
        return rows.refuse("a use that moves records")
    # Where it is not public how many rows there are, some.
    length = rows.shape[0] if _keep(rows) is None else width + 2
    places = np.arange(length * width).reshape(length, width)
    moved = move(places)
    if isinstance(moved, np.ndarray) and np.array_equal(moved, places.T):
        return TransposedRows(rows)
    if width == 1 and isinstance(moved, np.ndarray) and np.array_equal(moved, places[:, 0]):
        return rows.entries_at((slice(None), 0)).storage
    if not isinstance(moved, np.ndarray) or not np.array_equal(moved, places):
        return rows.refuse("a use that moves records")
    if type(rows) is RealMatrix:
        return RealMatrix(rows.columns, rows.made_of, rows.layout)
    made = rows.other(rows.table if np.may_share_memory(moved, places) else rows.table.copy())
    made.is_strided = rows.is_strided
    return made


def _keep(rows: Any) -> Any:
    return rows.columns[0].kept if type(rows) is RealMatrix else rows.kept


def join_rows(storage: Any, arrays: Any, axis: Any, function: Any) -> Any:
    """Rows of what several arrays of the same records have for a record, side by side."""
    if function is np.vstack or (function is np.stack and axis in (0, None)):
        return _join_lines(arrays) if axis in (0, None) else NotImplemented
    are_lines = function is np.stack
    if not isinstance(arrays, (list, tuple)) or axis not in (
        (1, -1) if axis is not None else (None,)
    ):
        return NotImplemented
    if axis is None and function is np.concatenate:
        return NotImplemented
    columns: list[SymbolicArray] = []
    for array in arrays:
        if is_line(array) and function in (np.stack, np.column_stack):
            columns.append(array)
        elif is_rows(array) and not are_lines:
            columns += [array[:, place] for place in range(_width(array))]
        else:
            constants = _constant_columns(storage, array, are_lines=are_lines)
            if constants is None:
                return NotImplemented
            columns += constants
    joined = join_columns(columns)
    return NotImplemented if joined is None else joined


def _join_lines(arrays: Any) -> Any:
    """Lines one below the other."""
    if not isinstance(arrays, (list, tuple)) or not all(map(is_line, arrays)):
        return NotImplemented
    joined = join_columns(list(arrays))
    if joined is None:
        return NotImplemented
    rows: Any = joined.storage
    return SymbolicArray(TransposedRows(rows, is_stacked=True))


def _constant_columns(storage: Any, array: Any, *, are_lines: bool) -> list[SymbolicArray] | None:
    """Of an array of constants that has the same numbers for each record."""
    of: Any = storage.columns[0] if type(storage) is RealMatrix else storage
    is_plain = type(array) is np.ndarray and array.dtype.kind in "iuf"
    if not is_plain or of.kept is not None or array.ndim not in ((1,) if are_lines else (1, 2)):
        return None
    if len(array) != of.read_length() or not np.all(array == array[:1]):
        return None
    values = len(of.low) if type(of) is RealColumn else len(of.table)
    return [
        SymbolicArray(Column(of.branching, of.answers, np.repeat(number, values)))
        for number in np.ravel(array[:1])
    ]


RecordStorage.move_rows = staticmethod(move_rows)
RecordStorage.multiply = staticmethod(multiply_records)
RecordStorage.einsum = staticmethod(einsum_of_records)
RecordStorage.join = staticmethod(join_rows)
RecordStorage.meet_upright = staticmethod(meet_upright)
