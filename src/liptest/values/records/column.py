"""Data as a column: what a program makes of every record alike, as a table over record values.

A column has an entry, or a row of entries, for each record, and its entry for a record of value v
is ``table[v]``: NumPy's own function of all record values at once, hence of NumPy's type, overflow
and casting. A selection keeps the records whose values are ``kept``. What sums up the records is an
*answer*, a variable of the run (``aligned``). All else is refused: default deny.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liptest.values.answers.aligned import AlignedRun, AlignedValue, NoisyData
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.answers.functions_of_answers import OF_SCORES
from liptest.values.array import CellStorage, SymbolicArray, fill_array, make_array
from liptest.values.branching import Branching
from liptest.values.protocol import COMPARISONS, Symbolic, is_symbolic
from liptest.values.reals.rounded_sums import (
    NO_ROUNDING,
    Rounding,
    column_rounding,
    least_and_most,
)
from liptest.values.records.column_parts import ColumnInParts
from liptest.values.records.marginals import (
    Marginal,
    are_tables_equal,
    join,
    spread_kinds,
)
from liptest.values.records.record_list import RecordList
from liptest.values.records.record_parts import is_grid
from liptest.values.records.record_storage import keeps_records
from liptest.values.rounding import holds_negative_zero

Table = NDArray[Any]
# What places of records are given by.
_PLACES = (np.ndarray, list)
#: Relatively, below which rounding may decide.
APART = 2.0**-30
# Functions that compare with each number of a line by itself.
_OF_EDGES = (np.histogram, np.digitize)
# Whole numbers up to here are floats.
_LARGEST = 2**53
# Records that a loop gets one by one.
_MOST_WALKED = 2_000


class Column(ColumnInParts):
    """Entries that are a table of the record's value; see the module.

    Parameters
    ----------
    answers
        Of the analysis.
    table
        (values, *shape of the entry of a record).
    kept
        (values,) of a selection: whether records of this value are in it.
    is_off
        Whether floats of the table may be off by some units in the last place.
    is_strided
        Whether the entries are not next to each other in memory.
    marginal
        Kinds of rows that the table and ``kept`` are by (``marginals``); None for all values.
    """

    __slots__ = ("answers", "is_off", "is_strided", "marginal", "own", "own_kept")

    #: The same entries, of which more is made than tables (``real_matrix``).
    as_real: ClassVar[Callable[[Column, str], Any]]
    #: The same records in a grid of positions (``blocks``).
    in_grid: ClassVar[Callable[..., Any]]
    #: The same records times random bits (``masked_column``).
    multiply_by_bits: ClassVar[Callable[..., SymbolicArray | None]]
    multiply_bits_and_rows: ClassVar[Callable[..., Any]]
    where_bits: ClassVar[Callable[..., SymbolicArray | None]]
    #: ``numpy.bincount`` (``column_functions``).
    bincount: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        branching: Branching,
        answers: AnswerBook,
        table: Table,
        kept: Table | None = None,
        *,
        is_off: bool = False,
        is_strided: bool = False,
        marginal: Marginal | None = None,
    ) -> None:
        self.branching = branching
        self.answers = answers
        #: The table and the selection by the kinds of rows; nobody else has their memory.
        self.own, self.own_kept = table, kept
        self.marginal = marginal
        self.dtype = table.dtype
        self.is_off = is_off
        self.is_strided = is_strided

    @property
    def run(self) -> AlignedRun:
        """The run that it is part of."""
        run = self.branching.noise
        assert isinstance(run, AlignedRun)
        return run

    @property
    def table(self) -> Table:
        """By the value of a record its entry, to read and to write; it is by values from now on."""
        if self.marginal is not None:
            self.own, self.own_kept = self._spread_to(None)
            self.marginal = None
        return self.own

    @property
    def kept(self) -> Table | None:
        """By the value of a record whether it is in the selection; None for no selection."""
        return self.own_kept if self.marginal is None else self._spread_to(None)[1]

    def _spread_to(self, marginal: Marginal | None) -> tuple[Table, Table | None]:
        """Its table and selection by more kinds of rows, or by all values."""
        before, kept = self.marginal, self.own_kept
        kept = None if kept is None else spread_kinds(kept, before, marginal)
        return spread_kinds(self.own, before, marginal), kept

    def beside(self, values: Iterable[Any]) -> Column:
        """Itself, by kinds of rows that tell all entries of the columns among some values, too."""
        others = [column for column in map(find_column, values) if column is not None]
        marginal = self.marginal
        for other in others:
            marginal = join(marginal, other.marginal)
        if marginal is self.marginal:
            return self
        pair = self._spread_to(marginal)
        return Column(self.branching, self.answers, *pair, is_off=self.is_off, marginal=marginal)

    @property
    def shape(self) -> tuple[int, ...]:
        if self.own_kept is not None:
            self.refuse("the shape of a selection", "count it: (mask).sum() instead of its length")
        return (self.read_length(), *self.own.shape[1:])

    @property
    def shape_of_record(self) -> tuple[int, ...]:
        return self.own.shape[1:]

    def like(self, table: Table, *, is_off: bool | None = None) -> SymbolicArray:
        """An array of other entries of the same records."""
        return SymbolicArray(self.other(table, is_off=is_off))

    def other(self, table: Table, *, is_off: bool | None = None) -> Column:
        """Other entries of the same records."""
        off = self.is_off if is_off is None else is_off
        kept, kinds = self._kinds_of(table)
        return Column(self.branching, self.answers, table, kept, is_off=off, marginal=kinds)

    def _kinds_of(self, table: Table) -> tuple[Table | None, Marginal | None]:
        """The selection, and the kinds of rows, that a table is by: its own, or all values."""
        is_own = len(table) == len(self.own)  # there are fewer kinds than values
        return (self.own_kept, self.marginal) if is_own else (self.kept, None)

    def bound_rows(
        self, most: int, order: bytes = b"", *, by: bytes = b"", is_all: bool = False
    ) -> SymbolicArray:
        """Some rows of each user (``RowBound``)."""
        table, kept = self.table, self.kept
        assert kept is not None  # what slots without a row are left out by
        answers = self.answers.bound_rows(kept, most, order, by=by, is_all=is_all)
        made = Column(self.branching, answers, table, kept, is_off=self.is_off)
        return SymbolicArray(made)

    # ---- storage

    def as_list(self) -> Any:
        if self.own.ndim > 1 or self.is_off:
            return self.refuse("tolist()")
        kept = [True] * len(self.table) if self.kept is None else self.kept.tolist()
        return RecordList(self.branching, self.table.tolist(), kept, self.selected, self.count)

    def selected(self, table: Table, kept: Table) -> Any:
        """Other entries of those records whose values are kept."""
        some = None if bool(kept.all()) else kept
        return SymbolicArray(Column(self.branching, self.answers, table, some))

    def entries(self) -> None:
        if self.answers.records > _MOST_WALKED:
            self.refuse("a loop that does more than to add up")

    def moved(self, move: Any) -> Any:
        """The same records in their places, as ravel() and reshape(-1) of one line give them."""
        if self.own.ndim == 1 and self.own_kept is None:
            places = np.arange(self.answers.records)
            # Of entries that are not next to each other NumPy makes a copy sooner.
            places = np.repeat(places, 2)[::2] if self.is_strided else places
            moved = move(places)
            if isinstance(moved, np.ndarray) and np.array_equal(moved, places):
                is_view = np.may_share_memory(moved, places)
                return self.other(self.table if is_view else self.table.copy())
            has_parts = self.answers.has_positions and isinstance(moved, np.ndarray)
            if has_parts and is_grid(moved):
                return Column.in_grid(self, moved)
        return self.move_rows(self, move)

    def copied(self, order: Any) -> Any:
        return self.like(self.own.copy()).storage

    def write(self, index: Any, value: Any) -> None:
        if not self.table.flags.writeable:
            self.refuse("a write into data")
        mask = find_column(index)
        if mask is None:
            if not (index is Ellipsis or (type(index) is slice and index == slice(None))):
                self.refuse("a write that looks at single records")
            self._put(slice(None), self.table_of(value, "a write"))
        elif mask.dtype != np.bool_ or mask.own.ndim != 1 or not self.has_records_of(mask):
            self.refuse("a write where no comparison of the same records says")
        else:
            those, source = mask.table.copy(), find_column(value)
            if source is None:
                constant = self.table_of(value, "a write")
                if np.ndim(constant) >= self.table.ndim:
                    self.refuse("a write of what differs from record to record")
                self._put(those, constant)
                return
            kept = those if self.kept is None else those & self.kept
            is_same = source.answers is self.answers
            if not is_same or source.kept is None or not np.array_equal(source.kept, kept):
                self.refuse("a write of other records")
            self._put(those, source.table[those])
        self.is_off = self.is_off or _is_off(value)

    def _put(self, places: Any, value: Any) -> None:
        try:
            with np.errstate(all="raise"):
                self.table[places] = value
        except Exception as error:
            self.refuse(f"a write that fails for some record ({error})")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        if dtype.kind not in "biuf":
            self.refuse(f"astype({dtype})")
        with np.errstate(all="raise"):
            try:
                return self.like(self.own.astype(dtype))
            except FloatingPointError:
                return self.refuse(f"astype({dtype}) of what does not fit")

    def entries_at(self, index: Any) -> Any:
        if type(index) is SymbolicArray and type(index.storage) is Column:
            return self._select(index.storage)
        part = self.find_part(index)
        if part is not None:
            return SymbolicArray(part)
        places = index if type(index) is tuple else (index,)
        first = places[0] if places else Ellipsis
        if len(places) > 1 and (type(first) in _PLACES or issubclass(type(first), Symbolic)):
            return self.take_rows(self, places)
        if any(issubclass(type(place), Symbolic) for place in places):
            return self.refuse("an index")
        if first is None and self.own.ndim == 1 and places[1:] in ((), (slice(None),)):
            return SymbolicArray(self.other(self.table[:, None])).T
        if isinstance(first, (int, np.integer)) and type(first) is not bool:
            return self._record_at(int(first), places[1:])
        if type(first) is slice and first != slice(None):
            return SymbolicArray(self.part_at(self.positions_of(first)))[:, *places[1:]]
        if type(first) is not slice and not keeps_records(places, self.own.ndim):
            return self.refuse("a use that looks at single records")
        column = self.other(self.calculated(lambda: self.table[places], "an index"))
        column.is_strided = True
        return SymbolicArray(column)

    def _record_at(self, index: int, more: tuple[Any, ...]) -> Any:
        """The entry of one record, or its row: a sum over a part of one position."""
        if self.own_kept is not None or self.is_off:
            self.refuse("a use that looks at single records")
        self.refuse_places()
        positions = self.answers.positions
        if not -len(positions) <= index < len(positions):
            raise IndexError(
                f"index {index} is out of bounds for axis 0 with size {len(positions)}"
            )
        part = self.part_at(positions[index : index + 1 or None])
        if self.table.ndim == 1 and not more:
            return part.sum_up(self.table, self.dtype.type, "one record")
        row = part.sums(0, "one record", kind=self.dtype)
        return row[more] if more and type(row) is SymbolicArray else row

    @property
    def is_selection(self) -> bool:
        return self.own_kept is not None

    def whole_view(self) -> Column:
        return self.other(self.table.view())

    def in_book(self, book: Any) -> Column:
        table = self.table.view()
        table.flags.writeable = False  # what is written would be written for all records
        return Column(self.branching, book, table, is_off=self.is_off)

    def copy_entries(self) -> None:
        self.own = self.table.copy()
        self.own.flags.writeable = False  # of the copy alone

    def _select(self, mask: Column) -> Any:
        if mask.dtype != np.bool_ or mask.own.ndim != 1 or not self.has_records_of(mask):
            return self.refuse("an index that is not a comparison of the same records")
        every = self.beside([SymbolicArray(mask)])
        those = spread_kinds(mask.own, mask.marginal, every.marginal)
        kept = those.copy() if every.own_kept is None else those & every.own_kept
        # As NumPy's own it shares no memory: by kinds nothing is written.
        is_shared = every.marginal is None and not _is_never_written(every.own)
        made = self.branching, self.answers, every.own.copy() if is_shared else every.own, kept
        return SymbolicArray(Column(*made, is_off=self.is_off, marginal=every.marginal))

    def has_records_of(self, other: Column) -> bool:
        """Whether two columns are of the same selection of records."""
        if self.answers is not other.answers:
            return False
        # Real numbers are by all values.
        kept, kinds = (
            (other.own_kept, other.marginal) if type(other) is Column else (other.kept, None)
        )
        if self.own_kept is None or kept is None:
            return self.own_kept is kept
        return are_tables_equal((self.own_kept, self.marginal), (kept, kinds))

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        real = self._leading(inputs, f"numpy.{ufunc.__name__}")
        if real is not None:
            return real.answer_ufunc(ufunc, inputs)
        if ufunc is np.matmul:
            return self.answer_function(np.dot, inputs, {})
        masked = Column.multiply_by_bits(ufunc, inputs)
        if masked is not None:
            return masked
        if ufunc not in ENTRY_BY_ENTRY and ufunc not in NOT_ROUNDED:
            return self.refuse(f"numpy.{ufunc.__name__}")
        lines = self.meet_upright(ufunc, inputs)
        return self.entrywise(ufunc, inputs, f"numpy.{ufunc.__name__}") if lines is None else lines

    def _leading(self, inputs: tuple[Any, ...], use: str) -> Any:
        """``leading``, and beside numbers with noise itself as more than a table."""
        real = leading(inputs)
        return Column.as_real(self, use) if real is None and any(map(_is_noisy, inputs)) else real

    def entrywise(self, function: Any, inputs: tuple[Any, ...], use: str) -> Any:
        """``function`` of arrays of one shape entry by entry, constants among them."""
        every = self.beside(inputs)
        tables = [every.table_of(operand, use) for operand in inputs]
        is_off = any(_is_off(operand) for operand in inputs)
        if is_off and function in COMPARISONS and _are_apart(*tables):
            is_off = False
        if is_off and function not in STEADY:
            return self.refuse(f"{use} of floats that are rounded in an unknown order")
        if function in NOT_ROUNDED:
            if any(np.asarray(table).dtype in NARROW for table in tables):
                return self.refuse(f"{use} of floats of few digits", "cast them to np.float64")
            is_off = True
        return every.like(every.calculated(lambda: function(*tables), use), is_off=is_off)

    def calculated(self, call: Callable[[], Any], use: str) -> Table:
        """A table that NumPy calculates; what fails for some record is refused."""
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                table = call()
        except Exception as error:
            return self.refuse(f"{use}, which fails for some record ({error})")  # type: ignore[no-any-return]
        if type(table) is not np.ndarray or table.shape[:1] != (len(self.own),):
            self.refuse(use)
        if table.dtype.kind not in "biuf":
            self.refuse(f"{use} that gives {table.dtype}")
        made: Table = table
        return made

    def table_of(self, value: Any, use: str) -> Any:
        """An input as what meets the tables of others as the input meets the columns."""
        kind = type(value)
        if kind is SymbolicArray and type(value.storage) is Column:
            other: Column = value.storage
            if not self.has_records_of(other) or other.own.ndim != self.own.ndim:
                self.refuse(f"{use} of other records, or of another shape")
            if join(self.marginal, other.marginal) is not self.marginal:
                return self.refuse(f"{use} of columns that were not put side by side")
            table = spread_kinds(other.own, other.marginal, self.marginal)
            return table if self.own_kept is None else table[self._stand_ins()]
        if issubclass(kind, Symbolic):
            return self.refuse(f"{use} with noise, or with a sum of the data")
        if kind in (int, float, bool) or isinstance(value, np.generic):
            return value
        constant = np.asarray(value)
        if constant.dtype.kind not in "biuf":
            self.refuse(f"{use} with an array of {constant.dtype}")
        if constant.ndim < self.own.ndim:
            return constant
        if constant.ndim == self.own.ndim and len(constant) == 1:
            return constant
        is_line = constant.ndim == self.own.ndim and self.own_kept is None
        if is_line and len(constant) == self.read_length() and np.all(constant == constant[:1]):
            return constant[:1]
        return self.refuse(f"{use} with an array that differs from record to record")

    def _stand_ins(self) -> NDArray[np.intp]:
        """Record values, with one that is in the selection for all that are not."""
        assert self.own_kept is not None
        there = np.flatnonzero(self.own_kept)
        places = np.arange(len(self.own_kept))
        return np.where(self.own_kept, places, there[0]) if len(there) else places

    # ---- answers

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        given = (*arguments, *options.values())
        real = leading(given)
        if real is None and function not in _OF_EDGES:
            real = self._leading(given, f"numpy.{function.__name__}")
        if real is not None:
            is_first = leading(given) is None and find_column(arguments[0]) is self
            if is_first and function is not np.where:
                arguments = (SymbolicArray(real), *arguments[1:])
            return real.answer_function(function, arguments, options)
        rule = FUNCTIONS.get(function)
        if rule is None:
            return self.refuse(f"numpy.{function.__name__}")
        answer = rule(*arguments, **options)
        return (
            self.refuse(f"numpy.{function.__name__} with these arguments")
            if (answer is NotImplemented)
            else answer
        )

    def sum_up(
        self,
        table: Table,
        kind: Any,
        use: str,
        *,
        in_pairs: bool = False,
        share: Rounding | None = None,
    ) -> Any:
        """The answer of one table, as a number of a type.

        ``share``: of the rounding of a larger sum.
        """
        kept, kinds = self._kinds_of(table)
        if kept is not None:
            table = np.where(kept, table, np.zeros((), table.dtype))
        groups = self.answers.in_groups()
        if groups is not None:
            table = spread_kinds(table, kinds, None)
            parts = [
                self._of_book(book, those).sum_up(table, kind, use, in_pairs=in_pairs)
                for those, book in groups
                if np.any(table[those])
            ]
            return reduce(operator.add, parts) if parts else kind(0)
        records, answers = self.answers.records, self.answers
        if not np.all(np.isfinite(table)):
            self.refuse(f"{use} of numbers that are not finite")
        largest = max(abs(end) for end in least_and_most(table))
        rounding = NO_ROUNDING
        is_narrow = np.dtype(kind) == np.float32
        if np.dtype(kind) not in (np.int64, np.float64) and not (
            is_narrow and table.dtype == kind and not self.is_off
        ):
            self.refuse(f"{use} that gives {np.dtype(kind)}")
        if table.dtype.kind in "iu":
            if int(largest) * records >= _LARGEST:
                self.refuse(f"{use} of whole numbers that are too large for floats")
        elif table.dtype.kind == "f":
            if table.dtype != np.float64 and not is_narrow:
                self.refuse(f"{use} of {table.dtype}")
            is_fixed = answers.has_order and self.own_kept is None
            rounding = column_rounding(
                table, records, is_off=self.is_off, in_pairs=in_pairs, is_fixed=is_fixed
            )
            rounding = rounding if share is None else share
            if largest * records > (1e37 if is_narrow else 1e300):
                self.refuse(f"{use} of floats that may overflow")
        run = self.run
        if not np.any(table):
            return self.refuse(f"{use} of -0.0") if holds_negative_zero(table) else kind(0)
        if table.dtype.kind in "iu" and answers.are_sums_fixed(table):
            return kind(int(table[0]) * answers.read_length())
        answer = answers.of(table, rounding, use, kinds)
        if is_narrow:
            return OF_SCORES.single(run, answer, rounding)
        return run.value_of_answer(answer, kind)

    def _of_book(self, book: AnswerBook, those: Table) -> Column:
        """The same entries of some of these rows, of which another book has the answers."""
        kept = those if self.kept is None else those & self.kept
        return Column(self.branching, book, self.table, kept, is_off=self.is_off)

    def sums(
        self,
        axis: Any,
        use: str,
        *,
        scale: Fraction = Fraction(1),
        kind: Any = None,
        in_line: bool = False,
    ) -> Any:
        """The sum over all records, entry by entry of a row or of all.

        ``in_line`` is whether NumPy's own sum adds them up.
        """
        table = self.own
        kind = np.sum(table[:1]).dtype if kind is None else np.dtype(kind)
        rest = table.reshape(len(table), -1)
        if kind == np.float32 and (table.ndim > 1 or use == "numpy.dot"):
            return self.refuse(f"{use} of floats of 32 bits", "cast them to np.float64")
        if axis == 0 and table.ndim > 1:
            cells = [self._scale(rest[:, k], scale, kind, use) for k in range(rest.shape[1])]
            return make_array(self.branching, fill_array(cells, table.shape[1:], object), kind)
        if axis is not None and (axis != 0 or table.ndim > 1):
            return NotImplemented
        if rest.shape[1] > 1 and self.dtype.kind == "f":
            return NotImplemented  # in which order is not known
        in_pairs = in_line and table.ndim == 1 and not self.is_strided
        return self._scale(rest.sum(axis=1), scale, kind, use, in_pairs=in_pairs)

    def _scale(
        self,
        table: Table,
        scale: Fraction,
        kind: np.dtype[Any],
        use: str,
        *,
        in_pairs: bool = False,
    ) -> Any:
        total = self.sum_up(table, kind.type, use, in_pairs=in_pairs)
        if scale == 1 or not is_symbolic(total):
            return total
        return AlignedValue(total.run, total.form * scale, total.kind, 1)

    def count(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        if self.own_kept is None and not self.answers.is_by_coins:
            return self.read_length()
        kept = np.ones(len(self.own), np.bool_) if self.own_kept is None else self.own_kept
        column = Column(self.branching, self.answers, kept, marginal=self.marginal)
        return column.sum_up(kept, int, "len()")


def _is_never_written(table: Table) -> bool:
    """Whether nobody can write into the memory of a table."""
    return table.base is None and not table.flags.writeable


def _are_apart(left: Any, right: Any) -> bool:
    """Whether no two numbers are so close that rounding decides which is larger."""
    sizes = np.maximum(np.abs(left), np.abs(right))
    return bool(np.all(np.abs(np.subtract(left, right, dtype=np.float64)) > APART * sizes))


def _is_off(value: Any) -> bool:
    return type(value) is SymbolicArray and type(value.storage) is Column and value.storage.is_off


def leading(inputs: Iterable[Any]) -> Any:
    """The storage of real numbers among arrays of records, which calculates with the others."""
    arrays = (array for array in inputs if type(array) is SymbolicArray)
    return next((array.storage for array in arrays if array.storage.leads), None)


def _is_noisy(value: Any) -> bool:
    """Whether it is a number that noise and sums of the data determine, or a line of these."""
    if type(value) is SymbolicArray and isinstance(value.storage, CellStorage):
        return any(issubclass(type(cell), NoisyData) for cell in value.cells.flat)
    return issubclass(type(value), NoisyData)


def find_column(value: Any) -> Column | None:
    """The column that an array is; None for all else."""
    if type(value) is SymbolicArray and type(value.storage) is Column:
        return value.storage
    return None


NARROW = (np.dtype(np.float16), np.dtype(np.float32))
_OF_ROWS = (np.multiply, np.divide, np.maximum, np.minimum, np.absolute, np.negative, np.sqrt)
#: Functions of one entry each, the same wherever it is, and exactly rounded.
ENTRY_BY_ENTRY = frozenset(
    {
        *(np.add, np.subtract, np.floor_divide, np.remainder, np.power, np.square, np.positive),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.invert, np.fabs),
        *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift),
        *(np.fmax, np.fmin, np.sign, np.floor, np.ceil, np.rint, np.trunc, np.isnan),
        *(np.isfinite, np.isinf, *_OF_ROWS),
    }
)
#: Of one entry each, too, but the last digits depend on where it is.
NOT_ROUNDED = frozenset(
    {
        *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.cbrt, np.tanh),
        *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.arcsinh),
    }
)
#: Of these a small relative change of the arguments makes a small one of the result.
STEADY: set[Any] = set(_OF_ROWS)
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
