"""What a folded loop asks of the columns of an analysis, record value by record value."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from liptest.enumerate.folded.folding import fold_loops
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.folded.record_counts import Counts
from liptest.enumerate.symbols.loops_of_paths import PathSamplers
from liptest.enumerate.syntax.post_processing import Tail
from liptest.enumerate.syntax.pure_code import NUMBERS

# They register their functions.
from liptest.values.answers import answers_beside, norm_choices  # noqa: F401
from liptest.values.answers.aligned import AlignedValue
from liptest.values.answers.flips import CoinFunctions, place_by_floats, place_by_scores
from liptest.values.array import SymbolicArray
from liptest.values.column_functions import RecordPlaces
from liptest.values.faults import call_original
from liptest.values.found_truths import find_length_of_places
from liptest.values.pandas.answers_by_key import ByKey
from liptest.values.pandas.of_pandas import CountsRows
from liptest.values.pandas.record_series import RecordSeries
from liptest.values.polars.polars_frames import PolarsSeries
from liptest.values.reals import (  # noqa: F401
    math_of_entries,
    real_bins,
    real_functions,
    single_column,
    single_matrix,
)
from liptest.values.reals.real_column import RealColumn, column_of_entries
from liptest.values.reals.real_matrix import RealMatrix
from liptest.values.reals.rounded_sums import Rounding
from liptest.values.records import spread_of_records  # noqa: F401
from liptest.values.records.column import Column, find_column
from liptest.values.records.distinct import Distinct
from liptest.values.records.looped_rows import (
    RealRow,
    array_of_rows,
    rows_of_matrix,
    with_joint_balls,
)
from liptest.values.records.made_rows import ColumnEntries, MadeRows, line_of
from liptest.values.records.record_list import EntryOfRecord, RecordList
from liptest.values.records.record_rows import RecordRows, RowByPlace, first_number
from liptest.values.rounding import holds_negative_zero

if TYPE_CHECKING:
    from liptest.enumerate.symbols.plain_points import Program

# Of a float: half a step at 1.
_UNIT = Fraction(1, 1 << 53)
_LARGEST = 1 << 62


def rewrite_for_columns(
    function: Any,
    tail: Tail | None = None,
    samplers: PathSamplers | None = None,
    coins: CoinFunctions | None = None,
) -> Any:
    """The function with loops that columns can follow, and cut by a tail of it.

    With ``samplers`` loops that start over say where their passes begin. To be called within the
    analysis that runs it.
    """
    folds = Folds(
        find_record_rows,
        length_of=find_length,
        rows_together=rows_together,
        samplers=samplers,
        flips=place_by_scores,
        coins=coins,
    )
    return fold_loops(function, folds, tail)


def choosing_at_once(
    program: Program,
    function: Any,
    called: Callable[[Any], Callable[[Any, Any], Any]],
    coins: CoinFunctions | None = None,
) -> Program:
    """A program that knows itself with loops that try places as one choice (``flip_loops``).

    ``called`` makes of a function one of datasets and a generator.
    """

    def at_once() -> tuple[Any, set[str]]:
        folds = Folds(lambda value: None, flips=place_by_floats, coins=coins)
        return called(fold_loops(function, folds)), folds.flips_found

    return replace(program, at_once=at_once)


def find_record_rows(value: Any) -> RowsOfColumn | None:
    """The rows of a column of numbers, or of a list of them; None for everything else."""
    if type(value) is RecordList:
        if any(issubclass(kind, EntryOfRecord) for kind in set(map(type, value.values))):
            made = value.to_column(value.values, np.array(value.kept))
            # Not its shape: how many there are may be private.
            lines = None if type(made.storage) is RealColumn else RealMatrix.lines_within(made)
            if lines is None:
                return find_record_rows(made)
            return RowsOfRealRows(lines.flat[0].storage, value.values)
        numbers = list(map(first_number, value.values))
        if any(number is not None for number in numbers):
            leading = [0.0 if number is None else number for number in numbers]
            made = value.to_column(leading, np.array(value.kept))
            return RowsOfRealRows(made.storage, value.values)
        zeros = np.zeros(len(value.values), dtype=np.int64)
        column: Column = value.to_column(zeros, np.ones(len(zeros), dtype=np.bool_)).storage
        return RowsOfColumn(column, value.values, value.kept, value.length)
    if type(value) is RecordRows:
        return _rows_of_frame(value)
    if type(value) is PolarsSeries:
        value = value.series
    if type(value) is RecordSeries:
        return _rows_of_series(value)
    if type(value) is SymbolicArray and type(value.storage) is RealColumn:
        return RowsOfReals(value.storage, is_numpy=True)
    if type(value) is SymbolicArray and type(value.storage) is RealMatrix:
        return RowsOfRealRows(value.storage.columns[0], rows_of_matrix(value.storage))
    if type(value) is not SymbolicArray or type(value.storage) is not Column:
        return None
    column = value.storage
    if column.own.ndim > 1:
        return None
    if column.is_off:
        column.refuse("a loop over floats that are rounded in an unknown order")
    kept = [True] * len(column.table) if column.kept is None else column.kept.tolist()
    return RowsOfColumn(column, list(column.table), kept, column.count)


def find_length(value: Any) -> Any:
    """What len() gives of all that has no rows: of a frame the answer of a selection, too."""
    if type(value) in (Counts, Distinct, RecordPlaces):
        return value.how_many()
    if isinstance(value, ByKey):
        return value.count_groups()
    places = find_length_of_places(value)
    if places is not None:
        return places
    return value.count_rows() if isinstance(value, CountsRows) else call_original(len, value)


def _rows_of_frame(rows: RecordRows) -> RowsOfColumn:
    column = rows.array.storage
    if type(column) is RealColumn:
        found: RowsOfColumn = RowsOfReals(column)
        found.values = rows.values
        return found
    kept = [True] * len(column.table) if column.kept is None else column.kept.tolist()
    return RowsOfColumn(column, rows.values, kept, column.count)


def rows_together(iterables: Sequence[Any]) -> RecordRows | None:
    """``zip`` of columns of the same records, and of one number for all; None of all else."""
    rows_found = [
        None if _is_of_python(iterable) else find_record_rows(iterable) for iterable in iterables
    ]
    rows = [one for one in rows_found if one is not None]
    if not rows:
        return None
    first = rows[0]
    if len(rows) < len(rows_found) and not (all(first.kept) and type(first.length) is int):
        return None
    lines = [
        _repeat(one, first) if walked is None else walked.values
        for one, walked in zip(iterables, rows_found, strict=True)
    ]
    if any(line is None for line in lines):
        return None
    book = first.column.answers
    if not all(row.column.answers is book and row.kept == first.kept for row in rows):
        return None
    leading = next((row for row in rows if isinstance(row, RowsOfReals)), rows[0])
    array = SymbolicArray(leading.reals if isinstance(leading, RowsOfReals) else leading.column)
    return RecordRows(array, MadeRows([*filter(None, lines)], partial(RowByPlace, ())))


def _repeat(value: Any, rows: RowsOfColumn) -> Sequence[Any] | None:
    """One number for each possible record, of a list in which each record has this number."""
    numbers = value.tolist() if type(value) is np.ndarray and value.ndim == 1 else value
    if type(numbers) not in (list, tuple) or len(numbers) != rows.length:
        return None
    if (
        type(numbers[0]) not in NUMBERS
        or len({(type(number), repr(number)) for number in numbers}) > 1
    ):
        return None
    return [value[0]] * len(rows.values)


def _is_of_python(value: Any) -> bool:
    """Whether it is an iterable of Python itself."""
    return type(value) in (list, tuple, range, dict, str)


def _rows_of_series(series: RecordSeries) -> RowsOfColumn | None:
    """Python's numbers, or names, as a walk over a series of pandas gives them."""
    if series.names is None:
        is_real = type(series.array.storage) is RealColumn
        return find_record_rows(series.array if is_real else series.tolist())
    column = find_column(series.array)
    assert column is not None
    kept = [True] * len(column.table) if column.kept is None else column.kept.tolist()
    entries = ColumnEntries(column.table, series.names)
    return RowsOfColumn(column, entries, kept, column.count)


class RowsOfColumn:
    """See ``folds.ColumnRows``."""

    def __init__(
        self, column: Column, values: Sequence[Any], kept: list[bool], length: Any
    ) -> None:
        self.branching = column.branching
        self.values = values
        self.kept = kept
        self._column = column
        self._length = length

    @property
    def column(self) -> Column:
        """The column of all these records."""
        return self._column

    @property
    def length(self) -> Any:
        """What len() gives."""
        return self._length()

    def answer(
        self, table: list[Any], kind: type, largest: Any, steps: int, classes: Any = None
    ) -> Any:
        """The sum over all records of ``table[r]``, or of ``table[classes[r]]``."""
        column = self._column
        records = column.answers.records
        if not any(table):
            if kind is float and any(map(holds_negative_zero, table)):
                column.refuse("a sum of -0.0, whose sign depends on the order of the records")
            return kind(0)
        margin = Fraction(0)
        if kind is int:
            if max(map(abs, table)) * records >= _LARGEST:
                column.refuse("a sum of whole numbers that is too large")
            entries = _by_value(np.array(table, dtype=np.int64), classes)
            if column.kept is None and column.answers.are_sums_fixed(entries):
                return int(entries[0]) * column.answers.read_length()
        else:
            if largest * records > 1e300:
                column.refuse("a sum of floats that may overflow")
            entries = np.array([float(entry) for entry in table])
            exact = [Fraction(entry) for entry in entries.tolist()] == table
            margin = _rounding(table, largest, records, steps, is_exact=exact)
            entries = _by_value(entries, classes)
        form = column.run.answer(column.answers.of(entries, Rounding(margin)))
        return AlignedValue(column.run, form, kind)

    def mapped(self, values: list[Any], kept: list[bool]) -> Any:
        """A list with a number for each record that is kept."""
        mask = line_of(kept, np.bool_)
        those: Column = self._column.selected(mask, mask).storage
        return RecordList(self.branching, values, kept, self._column.selected, those.count)

    def each(self, entries: Sequence[Any]) -> Sequence[Any]:
        """By the value of a record what is noted at its place."""
        return entries

    def joined(self, tables: list[list[Any]]) -> list[list[Any]]:
        """See ``looped_rows``."""
        return with_joint_balls(tables)

    def refuse(self, words: str) -> NoReturn:
        """End the run."""
        raise AssertionError(self._column.refuse(words))


class RowsOfReals(RowsOfColumn):
    """Of real numbers: what a pass adds lies between the ends of a cell."""

    def __init__(self, column: RealColumn, *, is_numpy: bool = False) -> None:
        kept = [True] * len(column.low) if column.kept is None else column.kept.tolist()
        zeros = column.like_zeros(column.kept)
        super().__init__(zeros, column.each_record(is_numpy=is_numpy), kept, column.count)
        self.reals = column

    def answer(
        self, table: list[Any], kind: type, largest: Any, steps: int, classes: Any = None
    ) -> Any:
        if not any(isinstance(entry, EntryOfRecord) for entry in table):
            return super().answer(table, kind, largest, steps, classes)
        table = table if classes is None else [table[place] for place in classes.tolist()]
        records = self._column.answers.records
        if largest == math.inf:
            self.reals.refuse("a sum of numbers without bounds", "clip them first")
        if largest * records > 1e300:
            self.reals.refuse("a sum of floats that may overflow", "clip them first")
        every = np.ones(len(table), dtype=np.bool_)
        column: Any = column_of_entries(self.reals, table, every).storage
        margin = _rounding([], largest, records, steps, is_exact=False)
        recipe = f"a loop of {steps}", column.recipe, None
        answer = column.answers.of_recipe(
            recipe, column.low + 0.0, column.high + 0.0, Rounding(margin)
        )
        if column.ball is not None:
            column.answers.note_ball((column.ball.key, recipe[0]), answer.number, column.ball)
        return self._column.run.value_of_answer(answer, float)

    def mapped(self, values: list[Any], kept: list[bool]) -> Any:
        mask = line_of(kept, np.bool_)
        those: Column = self._column.selected(mask, mask).storage
        has_rows = any(type(value) is RealRow for value in values)
        to_column = partial(array_of_rows if has_rows else column_of_entries, self.reals)
        return RecordList(self.branching, values, kept, to_column, those.count)


class RowsOfRealRows(RowsOfReals):
    """The rows of a dataset whose records are rows of real numbers."""

    def __init__(self, column: RealColumn, values: Sequence[Any]) -> None:
        super().__init__(column)
        self.values = values


def _by_value(entries: Any, classes: Any) -> Any:
    """By the value of a record what is noted of its class."""
    return entries if classes is None else entries[classes]


def _rounding(
    table: list[Any], largest: Any, records: int, steps: int, *, is_exact: bool
) -> Fraction:
    """How far float sums in some order may take two sums of records from each other.

    With n records of at most k additions, each of at most b in size all together, a float sum is
    off by no more than nk u / (1 - nk u) n b, u = 2**-53; 0 where all partial sums are floats.
    """
    finest = max((Fraction(entry).denominator for entry in table), default=1)
    if is_exact and steps <= 1 and Fraction(largest) * records * finest <= 1 << 53:
        return Fraction(0)
    off = records * steps * _UNIT
    return 2 * (off / (1 - off) + _UNIT) * records * Fraction(largest)
