"""Columns of real numbers of the records: between which two floats each entry lies.

Records are divided into cells: the same entries in all other columns, and of each real column an
interval of floats. A cell has a lower and an upper end for everything that is made of a record.
The functions of NumPy that are followed give ends from ends (``recipes``; docs/theory/tables.md,
B6). A comparison cuts the cells where it changes, or divides them into those records for which it
holds and the others, and the program is followed again. All else is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liptest.values.answers.aligned import AlignedValue, NoisyData
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.answers.released_numbers import LARGEST_SUM, MOST_MEETINGS, release_beside
from liptest.values.array import SymbolicArray
from liptest.values.branching import Branching
from liptest.values.promotion import promote
from liptest.values.protocol import COMPARISONS, Symbolic
from liptest.values.reals.real_norms import (
    Ball,
    OfNorm,
    Operand,
    find_ball,
    find_factor,
    is_above_zero,
)
from liptest.values.reals.recipes import (
    ABOUT,
    ENDS,
    Recipe,
    falls_in_second,
    gives_whole,
    has_known,
    is_safe,
    root_by_power,
    row_condition,
    truth_between,
)
from liptest.values.reals.rounded_sums import column_rounding
from liptest.values.records.column import Column, find_column
from liptest.values.records.column_parts import ColumnInParts
from liptest.values.records.record_list import EntryOfRecord, RecordList
from liptest.values.records.record_storage import (
    ADVICE,
    OwnNumbers,
    is_everything,
    makes_upright,
)

Table = NDArray[Any]
_NUMBERS = (int, float, np.integer, np.floating)
# Means are these sums, divided.
_SAME_SUMS = {"numpy.mean": "numpy.sum"}
# Which hold of a norm above a constant; above 0 it is not equal to it.
_ABOVE = (np.greater, np.greater_equal, np.not_equal)
_BELOW = (np.less, np.less_equal, np.not_equal)
# Exponents of a root and a square.
_HALF, _SQUARE = 0.5, 2
REAL_ADVICE = "clip real columns with constants, then sum or count"


class RealColumn(ColumnInParts, OwnNumbers):
    """See the module.

    Parameters
    ----------
    low, high
        (cells,) floats: between which the entry of a record lies.
    recipe
        How an entry is calculated; equal ones are equal columns.
    kept
        (cells,) of a selection: whether records of this cell are in it.
    name
        Of the column itself; "" of what is made of columns.
    """

    __slots__ = ("answers", "ball", "high", "is_strided", "kept", "low", "name", "norm", "recipe")

    leads = True
    advice = REAL_ADVICE
    #: Rows of this column alone (``real_matrix``).
    as_rows: ClassVar[Any]
    #: Whether something holds, where that is known of some records (``open_truths``).
    truths_between: ClassVar[Any]
    #: A comparison with a constant of what grows with a norm (``norm_choices``).
    norm_test: ClassVar[Any]
    chosen_by_norm: ClassVar[Any]
    #: Its numbers cast (``single_column``).
    in_32_bits: ClassVar[Any]
    #: Whole numbers of it (``real_bins``).
    whole_numbers: ClassVar[Any]

    def __init__(
        self,
        branching: Branching,
        answers: AnswerBook,
        ends: tuple[Table, Table],
        recipe: Recipe,
        kept: Table | None = None,
        name: str = "",
    ) -> None:
        self.branching = branching
        self.answers = answers
        self.low, self.high = ends
        self.recipe = recipe
        self.kept = kept
        self.name = name
        self.dtype = np.dtype(np.float64)
        self.is_own = False
        #: What is known beside the ends (``real_norms``).
        self.norm: OfNorm | None = None
        self.ball: Ball | None = None
        #: Whether the entries are not next to each other in memory.
        self.is_strided = False

    def like(
        self,
        ends: tuple[Table, Table],
        recipe: Recipe,
        norm: OfNorm | None = None,
        ball: Ball | None = None,
    ) -> SymbolicArray:
        """Other entries of the same records."""
        low, high = (np.asarray(end, dtype=np.float64) for end in ends)
        if np.isnan(low).any() or np.isnan(high).any():
            self.refuse("arithmetic that gives no number for some record")
        column = RealColumn(self.branching, self.answers, (low, high), recipe, self.kept)
        column.norm, column.ball = norm, ball
        if ball is not None:
            radius = float(ball.radius) * (1 + 2.0**-50)
            column.low, column.high = np.maximum(low, -radius), np.minimum(high, radius)
        column.is_own = True
        return SymbolicArray(column)

    def is_alike(self, other: Any) -> bool:
        return type(other) is RealColumn and self.has_records_of(other)

    @property
    def is_selection(self) -> bool:
        return self.kept is not None

    def whole_view(self) -> RealColumn:
        return self._copy(self.answers, self.kept)

    def in_book(self, book: Any) -> RealColumn:
        return self._copy(book, self.kept)

    def _copy(self, answers: AnswerBook, kept: Table | None) -> RealColumn:
        """The same entries of other records."""
        ends = self.low, self.high
        column = RealColumn(self.branching, answers, ends, self.recipe, kept, self.name)
        column.norm, column.ball, column.is_strided = self.norm, self.ball, self.is_strided
        return column

    def _is_true(self, table: Table) -> SymbolicArray:
        return SymbolicArray(Column(self.branching, self.answers, table, self.kept))

    def has_records_of(self, other: Any) -> bool:
        """Whether two columns are of the same selection of records."""
        if type(other) not in (Column, RealColumn) or other.answers is not self.answers:
            return False
        if self.kept is None or other.kept is None:
            return self.kept is other.kept
        return bool(np.array_equal(self.kept, other.kept))

    def bound_rows(
        self, most: int, order: bytes = b"", *, by: bytes = b"", is_all: bool = False
    ) -> SymbolicArray:
        """Some rows of each user (``RowBound``)."""
        assert self.kept is not None  # what slots without a row are left out by
        answers = self.answers.bound_rows(self.kept, most, order, by=by, is_all=is_all)
        return SymbolicArray(self._copy(answers, self.kept))

    # ---- storage

    @property
    def shape(self) -> tuple[int, ...]:
        if self.kept is not None:
            self.refuse("the shape of a selection", "count it: (mask).sum() instead of its length")
        return (self.read_length(),)

    def cells(self) -> Any:
        return self.refuse("a use that looks at single records", ADVICE)

    def as_list(self) -> Any:
        kept = [True] * len(self.low) if self.kept is None else self.kept.tolist()
        return RecordList(
            self.branching, self.each_record(), kept, partial(column_of_entries, self), self.count
        )

    def each_record(self, *, is_numpy: bool = False) -> list[RealEntry]:
        """The number of a record of each cell: of NumPy, or a float of Python."""
        every = range(len(self.low))
        return [RealEntry(self._at(cell), cell, is_numpy=is_numpy) for cell in every]

    def _at(self, cell: int) -> RealColumn:
        """The records of one cell alone."""
        recipe = self.recipe[1][cell] if self.recipe[0] == "cells" else self.recipe
        ends = self.low[cell : cell + 1], self.high[cell : cell + 1]
        name = recipe[1] if recipe[0] == "real" else ""
        return RealColumn(self.branching, self.answers, ends, recipe, None, name)

    def concretise(self, use: str) -> NDArray[Any]:
        return self.refuse(use, ADVICE)  # type: ignore[no-any-return]

    def moved(self, move: Any) -> Any:
        self.lend()
        if self.kept is None:
            places = np.arange(self.answers.records)
            moved = move(places)
            line = isinstance(moved, np.ndarray) and moved.shape in (places.shape, (len(places), 1))
            if line and np.array_equal(moved.reshape(-1), places):
                rows = self.as_rows(self) if moved.ndim > 1 else None
                return self.copied(None) if rows is None else rows.storage
        return self.refuse("a use that moves records", ADVICE)

    def copied(self, order: Any) -> Any:
        return self._copy(self.answers, self.kept)

    def astype(self, dtype: np.dtype[Any]) -> Any:
        if dtype == np.float64:
            return SymbolicArray(self._copy(self.answers, self.kept))
        if dtype == np.int64:
            return self.whole_numbers(self)
        return self.in_32_bits(self) if dtype == np.float32 else self.refuse(f"astype({dtype})")

    def entries_at(self, index: Any) -> Any:
        self.lend()
        if is_everything(index):
            return SymbolicArray(self.whole_view())
        if makes_upright(index):
            return self.as_rows(self)
        if index is None or (type(index) is tuple and index == (None, slice(None))):
            return self.as_rows(self).T
        part = self.find_part(index)
        if part is not None:
            return SymbolicArray(part)
        mask = find_column(index)
        if mask is None or not self.may_select(mask):
            return self.refuse("an index that is not a comparison of the same records")
        kept = mask.table.copy() if self.kept is None else mask.table & self.kept
        return SymbolicArray(self._copy(self.answers, kept))

    def may_select(self, mask: Column) -> bool:
        """Whether it is one truth of each of the same records."""
        is_line = mask.dtype == np.bool_ and mask.own.ndim == 1
        return is_line and self.has_records_of(mask)

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        use = f"numpy.{ufunc.__name__}"
        if ufunc is np.matmul:
            return self.answer_function(np.dot, inputs, {})
        masked = Column.multiply_by_bits(ufunc, inputs)
        if masked is not None:
            return masked
        if ufunc is np.power:
            exponent = inputs[1] if type(inputs[1]) in (int, float) else None
            if exponent == _HALF:
                return self.answer_ufunc(root_by_power, inputs[:1])
            if exponent != _SQUARE:
                return self.refuse(f"{use} with another exponent than 2 or 0.5")
        parts = [
            self.part_of(operand, use, is_of_any_size=ufunc in COMPARISONS) for operand in inputs
        ]
        if ufunc in COMPARISONS:
            return self._compare(ufunc, parts, use)
        rule = ENDS.get(ufunc, ABOUT.get(ufunc))
        if rule is None:
            return self.refuse(use)
        lows, highs = [part.low for part in parts], [part.high for part in parts]
        if not is_safe(ufunc, lows, highs):
            return self.refuse(f"{use} of numbers that may be infinite")
        if ufunc is np.multiply and parts[0].recipe == parts[1].recipe:
            rule, ufunc = ENDS[np.square], np.square
            parts, lows, highs = parts[:1], lows[:1], highs[:1]
        operands = [part.operand() for part in parts]
        # A constant by a norm is infinite where this is 0, which np.minimum mends.
        rule = falls_in_second if is_above_zero(ufunc, operands) else rule
        with np.errstate(all="ignore"):
            ends = rule(ufunc, lows, highs)
        if ends is None:
            return self.refuse(f"{use}, which fails for some record")
        recipe = ufunc, *(part.recipe for part in parts)
        facts = find_factor(ufunc, operands), find_ball(ufunc, operands)
        return self.like(self._of_all_cells(ends), recipe, *facts)

    def _of_all_cells(self, ends: tuple[Any, Any]) -> tuple[Table, Table]:
        shape = self.low.shape
        return np.broadcast_to(ends[0], shape), np.broadcast_to(ends[1], shape)

    def part_of(self, value: Any, use: str, *, is_of_any_size: bool = False) -> _Part:
        """An input: its ends, and how it is calculated."""
        kind = type(value)
        if kind is SymbolicArray:
            storage: Any = value.storage
            if not self.has_records_of(storage) or (
                type(storage) is Column and (storage.own.ndim > 1 or storage.is_off)
            ):
                return self.refuse(f"{use} of other records")  # type: ignore[no-any-return]
            if type(storage) is RealColumn:
                part = _Part(storage.low, storage.high, storage.recipe, storage.name)
                part.norm, part.ball = storage.norm, storage.ball
                return part
            table = storage.table
            recipe = ("table", table.dtype.char, table.tobytes())
            return _Part(table, table, recipe)
        if issubclass(kind, Symbolic):
            # What is drawn without the data is known from then on.
            value = value if issubclass(kind, NoisyData) else promote(value)
        if issubclass(type(value), NoisyData):
            return self._known(value, use, is_of_any_size=is_of_any_size)
        if issubclass(kind, Symbolic):
            return self.refuse(f"{use} with noise, or with a sum of the data")  # type: ignore[no-any-return]
        is_number = isinstance(value, _NUMBERS) and not isinstance(value, bool)
        if not is_number or math.isnan(value):
            return self.refuse(f"{use} with what is not a constant number")  # type: ignore[no-any-return]
        return _Part(np.array(value), np.array(value), ("number", kind, value))

    def _known(self, value: NoisyData, use: str, *, is_of_any_size: bool) -> _Part:
        """A number with noise, which is released: what follows is true for each value of it."""
        if self.answers.cells is None or value.run.is_curved:
            return self.refuse(f"{use} with noise, or with a sum of the data")  # type: ignore[no-any-return]
        released = release_beside(value, self.answers, use)
        if self.answers.cells.meetings > MOST_MEETINGS and value.run.path > 1:
            self.refuse(f"{use} on many paths, with noise", "run fewer steps, or decide less often")
        if not is_of_any_size:
            if not math.isfinite(released.low):
                self.refuse(f"{use} with noise of any size", "clip it (np.clip(number, 0, 100))")
            if not issubclass(value.kind, (float, np.float64)):
                self.refuse(f"{use} with a released whole number", "make it a float(..) first")
        low, high = (np.full(self.low.shape, end) for end in (released.low, released.high))
        return _Part(low, high, ("known", released.key))

    def _compare(self, ufunc: Any, parts: list[_Part], use: str) -> Any:
        left, right = parts
        truths = truth_between(ufunc, (left.low, left.high), (right.low, right.high))
        certain, possible = (np.broadcast_to(truth, self.low.shape) for truth in truths)
        if (certain != possible).any():
            recipe = (ufunc, left.recipe, right.recipe)
            test = self._norm_test(ufunc, parts)
            if (test or has_known(recipe)) and not self._may_divide(ufunc, parts):
                return self.truths_between(self, certain, possible, recipe, test)
            named, other = (left, right) if left.name else (right, left)
            if not named.name or other.name or not _is_point(other):
                return self._is_true(self._divide(ufunc, parts, certain, possible, use))
            self.answers.cells.ask(named.name, np.unique(np.asarray(other.low, dtype=np.float64)))
        return self._is_true(certain.copy())

    def _norm_test(self, ufunc: Any, parts: list[_Part]) -> tuple[Any, bool] | None:
        """Of a norm and a constant: the test, and whether it holds above the constant."""
        is_above, is_equality = ufunc in _ABOVE, ufunc in (np.equal, np.not_equal)
        left, right = parts
        if right.norm is not None:
            left, right, is_above = right, left, ufunc in _BELOW
        constant = right.operand().constant
        if left.norm is None or constant is None or (is_equality and constant != 0):
            return None
        column: Any = self.like(self._of_all_cells((left.low, left.high)), left.recipe, left.norm)
        test = self.norm_test(column.storage, constant)
        return None if test is None else (test, is_above)

    def _may_divide(self, ufunc: Any, parts: list[_Part]) -> bool:
        """Whether cells of their own are left for those records of which a comparison holds."""
        cells = self.answers.cells
        if len(self.low) != cells.count:  # those of one cell
            return False
        condition = row_condition(ufunc, parts[0].recipe, parts[1].recipe, cells.row_values)
        return condition is not None and cells.has_room_for(condition)

    def _divide(
        self, ufunc: Any, parts: list[_Part], certain: Table, possible: Table, use: str
    ) -> Table:
        """By cell whether a comparison of what is made of real columns holds."""
        cells = self.answers.cells
        condition = None
        if len(self.low) == cells.count:
            condition = row_condition(ufunc, parts[0].recipe, parts[1].recipe, cells.row_values)
        if condition is None:
            self.refuse(f"{use} of what is made of a real column")
        truth = cells.truth_of(condition)
        if truth is None:  # it is followed again; meanwhile no two records need be alike
            truth = np.arange(len(certain)) == np.flatnonzero(certain != possible)[0]
        return np.where(certain == possible, certain, truth)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        self.lend(function)
        rule = FUNCTIONS.get(function)
        answer = NotImplemented if rule is None else rule(self, *arguments, **options)
        if answer is NotImplemented:
            return self.refuse(f"numpy.{function.__name__}")
        return answer

    # ---- answers

    def sum_up(
        self,
        use: str,
        *,
        in_pairs: bool = True,
        scale: Fraction = Fraction(1),
        kind: Any = np.float64,
        layout: Any = None,
        is_product: bool = False,
    ) -> Any:
        """The answer, times a number; ``in_pairs`` is whether NumPy adds along one line.

        ``layout`` is where the numbers lie in memory, on which the order of the sum depends.
        """
        kept = np.ones(self.low.shape, dtype=np.bool_) if self.kept is None else self.kept
        groups = self.answers.in_groups()
        if groups is not None:
            parts = [
                self._copy(book, those & kept).sum_up(
                    use,
                    in_pairs=in_pairs,
                    scale=scale,
                    kind=kind,
                    layout=layout,
                    is_product=is_product,
                )
                for those, book in groups
                if (those & kept).any()
            ]
            return reduce(operator.add, parts) if parts else kind(0)
        low, high = (np.where(kept, end, 0.0) + 0.0 for end in (self.low, self.high))
        if not (largest := self._find_largest(use, low, high)):
            return kind(0)
        in_pairs = in_pairs and not self.is_strided
        rounding = self._round_sum(largest, in_pairs=in_pairs, is_product=is_product)
        kept_here = None if self.kept is None else self.kept.tobytes()
        # Added up in another way it is another number, in its last digits.
        order = f"{_SAME_SUMS.get(use, use)}{'' if in_pairs else ', in some order'}"
        key = (order, layout or self.is_strided), self.recipe, kept_here
        answer = self.answers.of_recipe(key, low, high, rounding)
        if self.ball is not None:
            self.answers.note_ball((self.ball.key, kept_here), answer.number, self.ball)
        total = self.branching.noise.value_of_answer(answer, kind)
        return total if scale == 1 else AlignedValue(total.run, total.form * scale, total.kind, 1)

    def _find_largest(self, use: str, low: Table, high: Table) -> Any:
        """The largest absolute value; what may overflow in a sum is refused."""
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return self.refuse(f"{use} of numbers without bounds", "clip them first")
        largest = np.maximum(np.abs(low), np.abs(high)).max()
        most = float(LARGEST_SUM) if has_known(self.recipe) else 1e300
        if largest * self.answers.records > most:
            return self.refuse(f"{use} of floats that may overflow", "clip them first")
        return largest

    def _round_sum(self, largest: Any, *, in_pairs: bool, is_product: bool) -> Any:
        """What floats lose of the sum of numbers that are so large at most."""
        # Of numbers that are not multiples of anything: the entry next to a whole one.
        some = np.nextafter(largest / 3, np.inf)
        sizes = np.array([largest, 1.0 if gives_whole(self.recipe) else some])
        if is_product:  # of which some may vanish in floats (tables, B19)
            sizes = np.maximum(sizes * (1 + 2.0**-20), 1e-200)
        is_fixed, records = self.answers.has_order and self.kept is None, self.answers.records
        return column_rounding(sizes, records, is_off=False, in_pairs=in_pairs, is_fixed=is_fixed)

    def count(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        return self.like_zeros(self.kept).count()

    def constant(self, number: float) -> SymbolicArray:
        """A number for each of these records."""
        return self.like(self._of_all_cells((number, number)), ("number", float, number))

    def like_zeros(self, kept: Table | None) -> Column:
        """A column of zeros of these records."""
        zeros = np.zeros(self.low.shape, dtype=np.int64)
        return Column(self.branching, self.answers, zeros, kept)


class RealEntry(EntryOfRecord):
    """The real number of one record of a cell, as a loop over the records meets it.

    What is done with it is done to a column of that cell alone; comparisons are plain. Where
    ``is_numpy`` is False it may be a float of Python, whose division by 0 raises.
    """

    __slots__ = ("cell", "column", "is_numpy")

    __hash__ = None  # type: ignore[assignment]
    #: A comparison that some records of its cell hold (``looped_rows``).
    open_truth: ClassVar[Any]
    #: ``(entry, function, ..)`` of the module math (``math_of_entries``).
    of_math: ClassVar[Any]

    def __init__(self, column: RealColumn, cell: int, *, is_numpy: bool = False) -> None:
        self.column = column
        self.cell = cell
        self.is_numpy = is_numpy

    @property
    def is_calculated(self) -> bool:
        return not self.column.name

    @property
    def ends(self) -> tuple[float, float]:
        """Between which two floats it lies."""
        return float(self.column.low[0]), float(self.column.high[0])

    @property
    def largest(self) -> float:
        """The largest size that it may have."""
        return max(map(abs, self.ends))

    def calculated(self, ufunc: Any, *inputs: Any) -> Any:
        """What a ufunc of NumPy gives: another one, or whether a comparison holds."""
        is_numpy = all if ufunc in (np.maximum, np.minimum) else any
        return self.made(ufunc, inputs, is_numpy=is_numpy(map(_is_of_numpy, inputs)))

    def made(self, ufunc: Any, inputs: tuple[Any, ...], *, is_numpy: bool) -> Any:
        """The same, a number of NumPy or a float of Python."""
        if any(type(operand) is RealEntry and operand.cell != self.cell for operand in inputs):
            self.refuse("a loop that takes the number of one record to another one")
        parts = [
            SymbolicArray(operand.column) if type(operand) is RealEntry else operand
            for operand in inputs
        ]
        array = self.column.answer_ufunc(ufunc, tuple(parts))
        column = array.storage
        if type(column) is RealColumn:
            entry = RealEntry(column, self.cell, is_numpy=is_numpy)
            if not is_numpy and _may_raise(ufunc, inputs, entry):
                self.refuse(f"{ufunc.__name__} of floats of Python, which may raise")
            return entry
        if type(column) is not Column:
            return self.open_truth(column, f"numpy.{ufunc.__name__}", self.cell)
        return bool(column.table[0])

    def above_zero(self) -> RealEntry:
        """It, where it is known to be above 0: by it nothing raises."""
        return RealEntry(self.column, self.cell, is_numpy=True)

    def apply_math(self, function: Any, *more: Any) -> Any:
        return self.of_math(self, function, *more)

    def refuse(self, use: str) -> Any:
        """End the analysis."""
        return self.column.refuse(use)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            self.refuse(f"numpy.{ufunc.__name__} with options")
        return self.made(ufunc, inputs, is_numpy=True)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if function.__name__ != "clip" or options or len(inputs) != 3:
            self.refuse(f"numpy.{function.__name__} of the number of one record")
        low, high = inputs[1:]
        above = self.made(np.maximum, (self, low), is_numpy=True)
        return above.made(np.minimum, (above, high), is_numpy=True)

    def as_float(self) -> Any:
        return RealEntry(self.column, self.cell)

    def __bool__(self) -> bool:
        return bool(self.calculated(np.not_equal, self, 0.0))

    def __float__(self) -> float:
        return self.refuse("a function of Python's floats")  # type: ignore[no-any-return]

    __int__ = __index__ = __round__ = __floor__ = __ceil__ = __trunc__ = __float__


def _is_of_numpy(operand: Any) -> bool:
    if type(operand) is RealEntry:
        return operand.is_numpy
    kind = operand.kind if issubclass(type(operand), Symbolic) else type(operand)
    return issubclass(kind, np.generic)


def _may_raise(ufunc: Any, inputs: tuple[Any, ...], made: RealEntry) -> bool:
    """Whether floats of Python raise where those of NumPy are infinite."""
    if ufunc is np.power:
        return not math.isfinite(made.largest)
    divisor = inputs[-1]
    is_quotient = ufunc is np.divide and type(divisor) is RealEntry
    return is_quotient and divisor.ends[0] <= 0 <= divisor.ends[1]


def _of_entry(ufunc: Any, *, swapped: bool = False) -> Any:
    def operate(self: RealEntry, other: Any) -> Any:
        if isinstance(other, EntryOfRecord) and type(other) is not RealEntry:
            return NotImplemented  # a row
        return self.calculated(ufunc, *((other, self) if swapped else (self, other)))

    return operate


#: By name of the operator.
CALCULATIONS: dict[str, Any] = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide},
    **{"floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power},
}
_COMPARED = {operation.__name__: ufunc for ufunc, operation in COMPARISONS.items()}
for _name, _ufunc in CALCULATIONS.items():
    setattr(RealEntry, f"__r{_name}__", _of_entry(_ufunc, swapped=True))
for _name, _ufunc in (CALCULATIONS | _COMPARED).items():
    setattr(RealEntry, f"__{_name}__", _of_entry(_ufunc))


def column_of_entries(of: RealColumn, values: Any, kept: Table) -> SymbolicArray:
    """A column of what is made of the number of a record of each cell."""
    some = None if bool(kept.all()) else kept
    if not any(type(entry) is RealEntry for entry in values):
        return SymbolicArray(Column(of.branching, of.answers, np.asarray(values), some))
    parts = [_entry_parts(entry) for entry in values]
    ends = np.array([part[0] for part in parts]), np.array([part[1] for part in parts])
    recipes = tuple(part[2] for part in parts)
    # Of those that are not there nothing is asked.
    own = {source for source, is_kept in zip(recipes, kept, strict=True) if is_kept}
    recipe: Recipe = own.pop() if len(own) == 1 else ("cells", recipes)
    name = recipe[1] if recipe[0] == "real" else ""
    made = RealColumn(of.branching, of.answers, ends, recipe, some, name)
    made.ball = _common_ball(values)
    return SymbolicArray(made)


def _common_ball(values: Any) -> Ball | None:
    """That of all numbers but those that are 0, which is in each ball."""
    balls = [value.column.ball for value in values if type(value) is RealEntry]
    is_zero = all(type(value) is RealEntry or value == 0 for value in values)
    return balls[0] if is_zero and all(ball == balls[0] for ball in balls) else None


def _entry_parts(one: Any) -> tuple[float, float, Recipe]:
    if type(one) is RealEntry:
        return *one.ends, one.column.recipe
    return float(one), float(one), ("number", float, float(one))


class _Part:
    """An operand: between which numbers it lies, and how it is calculated."""

    __slots__ = ("ball", "high", "low", "name", "norm", "recipe")

    def __init__(self, low: Table, high: Table, recipe: Recipe, name: str = "") -> None:
        self.low, self.high, self.recipe, self.name = low, high, recipe, name
        self.norm: OfNorm | None = None
        self.ball: Ball | None = None

    def operand(self) -> Operand:
        """What ``real_norms`` asks of it."""
        ends = float(np.min(self.low)), float(np.max(self.high))
        return Operand(self.recipe, *ends, self.norm, self.ball)


def _is_point(part: _Part) -> bool:
    return bool(np.array_equal(part.low, part.high)) and part.recipe[0] in ("number", "table")


#: How functions of NumPy are followed; modules register theirs (``real_functions``, ``real_bins``).
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
