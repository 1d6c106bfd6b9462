"""Data as a column: what a program makes of every record alike, as a table over record values.

A column has an entry, or a row of entries, for each record, and its entry for a record of value v
is ``table[v]``: NumPy's own function of all record values at once, hence of NumPy's type, overflow
and casting. A selection keeps the records whose values are ``kept``. What sums up the records is an
*answer*, a variable of the run (``aligned``). All else is refused: default deny.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.errors import InputError
from liptest.symbolic.answers import Answer, Differences, ManyDifferences, Move
from liptest.values.aligned import AlignedRun, AlignedValue
from liptest.values.array import Storage, SymbolicArray, array_of, filled
from liptest.values.branching import Branching
from liptest.values.protocol import COMPARISONS, Symbolic, is_symbolic
from liptest.values.record_list import RecordList

Table = NDArray[Any]
# Of a float: half a step at 1.
_UNIT = Fraction(1, 1 << 53)
# What a float of a row may be off by, relatively, where NumPy's order of summing is not known.
_OFF = 2.0**-47
_APART = 2.0**-30
# Whole numbers up to here are floats.
_LARGEST = 2**53
# Sums of real numbers that one record adds to, and corners of all boxes.
_MOST_WIDE, _MOST_CORNERS = 8, 100_000
# NumPy adds up blocks of 128 numbers in 8 lines, and then these in pairs.
_BLOCK = 24
ADVICE = (
    "treat all records alike with numpy functions entry by entry (arithmetic, clip, where, "
    "comparisons), then sum or count; liptest then knows the sensitivity for every size"
)


@dataclass(frozen=True)
class RowBound:
    """Of each user the first ``most`` rows whose values are ``kept``, of what ``before`` leaves."""

    before: RowBound | None
    kept: bytes
    most: int

    @property
    def rows(self) -> int:
        """The most rows of a user that are left."""
        return self.most if self.before is None else min(self.most, self.before.rows)


class AnswerBook:
    """The answers of an analysis: sums over all records of a table, equal ones once.

    Parameters
    ----------
    records
        How many records there are.
    values
        How many values a record takes.
    comes_and_goes
        Whether value 0 is that of no record, and neighbours have one record more or less.
    """

    def __init__(self, records: int, values: int, *, comes_and_goes: bool = False) -> None:
        self.records = records
        self.values = values
        self.comes_and_goes = comes_and_goes
        self.tables: list[Table] = []
        #: How far floats may take a sum from its exact value, by answer.
        self.margins: dict[int, Fraction] = {}
        #: Kinds of records, where records have real numbers.
        self.cells: Any = None
        #: Of answers that real numbers are part of: the largest that a record adds, and what it is.
        self.largest: dict[int, Table] = {}
        self.recipes: dict[int, Any] = {}
        #: What rows an answer is of, where the contributions of users are bounded.
        self.bounds: list[RowBound | None] = []
        self.bound: RowBound | None = None
        self._numbers: dict[Any, int] = {}
        self._answers: list[Answer] = []
        self._bounded: dict[RowBound, AnswerBook] = {}
        #: Whether the number of records was read, which is public.
        self.reads_length = False

    def of(self, table: Table, margin: Fraction = Fraction(0)) -> Answer:
        """The answer of a table, (values,) whole or finite numbers."""
        table = _lean(table)
        key = table.dtype.char.encode() + table.tobytes(), self.bound
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.tables)
            self.tables.append(table)
            self.bounds.append(self.bound)
            self._answers.append(Answer(number, table.dtype.kind == "i", f"sum {number + 1}"))
        if margin:
            self.margins[number] = max(margin, self.margins.get(number, Fraction(0)))
        return self._answers[number]

    @property
    def depends_on_length(self) -> bool:
        """Whether the number of records was read, or sums of floats are rounded by it."""
        return self.reads_length or any(self.margins.values())

    def of_recipe(self, recipe: Any, low: Table, high: Table, margin: Fraction) -> Answer:
        """The answer of what a record adds between two numbers, by its value, (values,) each."""
        key = recipe, self.bound
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.tables)
            self.tables.append(low)
            self.largest[number], self.recipes[number] = high, recipe
            self.bounds.append(self.bound)
            self._answers.append(Answer(number, False, f"sum {number + 1}"))
        self.margins[number] = max(margin, self.margins.get(number, Fraction(0)))
        return self._answers[number]

    def bounded(self, kept: Table, most: int) -> AnswerBook:
        """The same book, for sums over the first rows of each user."""
        bound = RowBound(self.bound, kept.tobytes(), most)
        if bound not in self._bounded:
            made = self._bounded[bound] = copy(self)  # which shares the lists
            made.bound = bound
        return self._bounded[bound]

    def value(self, number: int, counts: NDArray[np.int64]) -> Fraction:
        """The answer where so many records have each value."""
        table = self.tables[number]
        added = np.flatnonzero((table != 0) & (counts != 0))
        pairs = zip(table[added].tolist(), counts[added].tolist(), strict=True)
        if table.dtype.kind == "i":
            return Fraction(sum(entry * count for entry, count in pairs))
        return sum((Fraction(entry) * count for entry, count in pairs), Fraction(0))

    def differences(self) -> Differences:
        """What a replaced record changes, or one that comes or goes."""
        rows, size = self._corners(), len(self.tables)
        if self.comes_and_goes:
            assert not rows[0]  # a sum over what is not there
            found = Differences.of_tables(rows[1:], relation="added", size=size)
        else:
            found = Differences.of_tables(rows, size=size)
        return found.between(self.largest).widened(self.margins)

    def differences_of_users(
        self, most: int
    ) -> tuple[ManyDifferences, tuple[RowBound | None, ...]]:
        """What the rows of one user change, at most ``most`` of them; the bound of each part.

        Rows that differently bounded sums are of may be different ones (tables, B5).
        """
        size, parts = len(self.tables), []
        relation: Any = "added" if self.comes_and_goes else "replaced"
        bounds = tuple(dict.fromkeys(self.bounds))
        for bound in bounds:
            rows = self._corners({n for n, other in enumerate(self.bounds) if other == bound})
            assert not rows[0]  # a sum over what is not there
            times = most if bound is None else min(most, bound.rows)
            kept = rows[1:] if self.comes_and_goes else rows
            part = Differences.of_tables(kept, relation=relation, size=size)
            parts.append((times, part.between(self.largest)))
        if any(self.margins.values()):
            nothing = Differences.listed([{}], size=size)
            parts.append((1, nothing.widened(self.margins)))
            bounds = (*bounds, None)
        return ManyDifferences(size, tuple(parts)), bounds

    def _corners(self, numbers: Iterable[int] | None = None) -> list[dict[int, Fraction]]:
        """``rows_of``, and the other corners of the boxes that what a record adds lies in."""
        rows = self.rows_of(numbers)
        wide = sorted(self.largest if numbers is None else set(numbers) & self.largest.keys())
        found = list(rows)
        for value, row in enumerate(rows):
            open_ones = [n for n in wide if self.largest[n][value] != self.tables[n][value]]
            if len(open_ones) > _MOST_WIDE or len(found) > _MOST_CORNERS:
                raise InputError(
                    f"sums of {len(open_ones)} real numbers of one row are too many to be bounded "
                    f"together",
                    name="columns",
                )
            for chosen in product((False, True), repeat=len(open_ones)):
                ends = {
                    n: Fraction(self.largest[n][value].item())
                    for n, is_high in zip(open_ones, chosen, strict=True)
                    if is_high
                }
                if ends:
                    found.append({n: by for n, by in (row | ends).items() if by})
        return found

    def rows_of(self, numbers: Iterable[int] | None = None) -> list[dict[int, Fraction]]:
        """What a record of each value adds to the answers, or to those with these numbers."""
        rows: list[dict[int, Fraction]] = [{} for _ in range(self.values)]
        for number in range(len(self.tables)) if numbers is None else sorted(numbers):
            table = self.tables[number]
            for value in np.flatnonzero(table).tolist():
                rows[value][number] = Fraction(table[value].item())
        return rows

    def contributions(self, factors: dict[int, Fraction]) -> dict[int, Fraction]:
        """By value of a record: what one adds to the sum of these answers times these factors."""
        return {
            value: sum((by * row.get(answer, 0) for answer, by in factors.items()), Fraction(0))
            for value, row in enumerate(self.rows_of())
        }

    def values_of_move(self, move: Move) -> tuple[int, int] | None:
        """Two values of a record of which the second adds so much more than the first."""
        rows = [tuple(sorted(one.items())) for one in self.rows_of()]
        places = {row: value for value, row in reversed(list(enumerate(rows)))}
        for value, row in enumerate(rows[:1] if self.comes_and_goes else rows):
            added = dict(row)
            for answer, step in move:
                added[answer] = added.get(answer, Fraction(0)) + step
            other = tuple(sorted((answer, one) for answer, one in added.items() if one))
            if places.get(other, value) != value:
                return value, places[other]
        return None


def _lean(table: Table) -> Table:
    """Whole numbers as such, whatever their type."""
    if table.dtype.kind in "biu":
        return table.astype(np.int64)
    wide = table.astype(np.float64) + 0.0
    whole = bool(np.all(wide == np.floor(wide))) and bool(np.all(np.abs(wide) < 2.0**53))
    return wide.astype(np.int64) if whole else wide


class Column(Storage):
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
    """

    __slots__ = ("answers", "is_off", "is_strided", "kept", "table")

    def __init__(
        self,
        branching: Branching,
        answers: AnswerBook,
        table: Table,
        kept: Table | None = None,
        *,
        is_off: bool = False,
        is_strided: bool = False,
    ) -> None:
        self.branching = branching
        self.answers = answers
        self.table = table
        self.dtype = table.dtype
        self.kept = kept
        self.is_off = is_off
        self.is_strided = is_strided

    @property
    def run(self) -> AlignedRun:
        """The run that it is part of."""
        found = self.branching.noise
        assert isinstance(found, AlignedRun)
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        if self.kept is not None:
            self.refuse("the shape of a selection", "count it: (mask).sum() instead of its length")
        self.answers.reads_length = True
        return (self.answers.records, *self.table.shape[1:])

    def refuse(self, use: str, advice: str = ADVICE) -> Any:
        """End the analysis."""
        return OfData(self.branching, advice).refuse(use)

    def like(self, table: Table, *, is_off: bool | None = None) -> SymbolicArray:
        """An array of other entries of the same records."""
        return SymbolicArray(self.other(table, is_off=is_off))

    def other(self, table: Table, *, is_off: bool | None = None) -> Column:
        """Other entries of the same records."""
        off = self.is_off if is_off is None else is_off
        return Column(self.branching, self.answers, table, self.kept, is_off=off)

    def bounded(self, most: int) -> SymbolicArray:
        """The first rows of each user."""
        assert self.kept is not None  # what slots without a row are left out by
        answers = self.answers.bounded(self.kept, most)
        made = Column(self.branching, answers, self.table, self.kept, is_off=self.is_off)
        return SymbolicArray(made)

    # ---- storage

    def cells(self) -> Any:
        return self.refuse("a use that looks at single records")

    def as_list(self) -> Any:
        if self.table.ndim > 1 or self.is_off:
            return self.refuse("tolist()")
        kept = [True] * len(self.table) if self.kept is None else self.kept.tolist()
        return RecordList(self.branching, self.table.tolist(), kept, self.selected, self.count)

    def selected(self, table: Table, kept: Table) -> Any:
        """Other entries of those records whose values are kept."""
        some = None if bool(kept.all()) else kept
        return SymbolicArray(Column(self.branching, self.answers, table, some))

    def concretise(self, use: str) -> NDArray[Any]:
        return self.refuse(use)  # type: ignore[no-any-return]

    def moved(self, move: Any) -> Any:
        """The same records in their places, as ravel() and reshape(-1) of one line give them."""
        if self.table.ndim == 1 and self.kept is None:
            places = np.arange(self.answers.records)
            found = move(places)
            if isinstance(found, np.ndarray) and np.array_equal(found, places):
                is_view = np.may_share_memory(found, places)
                return self.other(self.table if is_view else self.table.copy())
        return self.refuse("a use that moves records")

    def copied(self, order: Any) -> Any:
        return self.like(self.table.copy()).storage

    @property
    def spokesman(self) -> Any:
        return OfData

    def write(self, index: Any, value: Any) -> None:
        if not self.table.flags.writeable:
            self.refuse("a write into data")
        mask = column_of(index)
        if mask is None:
            if not (index is Ellipsis or (type(index) is slice and index == slice(None))):
                self.refuse("a write that looks at single records")
            self._put(slice(None), self.table_of(value, "a write"))
        elif mask.dtype != np.bool_ or mask.table.ndim != 1 or not self.has_records_of(mask):
            self.refuse("a write where no comparison of the same records says")
        else:
            those, source = mask.table.copy(), column_of(value)
            if source is None:
                one = self.table_of(value, "a write")
                if np.ndim(one) >= self.table.ndim:
                    self.refuse("a write of what differs from record to record")
                self._put(those, one)
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

    def shares_memory(self, other: Storage) -> bool:
        return False

    def as_drawn(self) -> Any:
        return self.refuse("a draw")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        if dtype.kind not in "biuf":
            self.refuse(f"astype({dtype})")
        with np.errstate(all="raise"):
            try:
                return self.like(self.table.astype(dtype))
            except FloatingPointError:
                return self.refuse(f"astype({dtype}) of what does not fit")

    def entries_at(self, index: Any) -> Any:
        if type(index) is SymbolicArray and type(index.storage) is Column:
            return self._selected(index.storage)
        places = index if type(index) is tuple else (index,)
        if any(issubclass(type(one), Symbolic) for one in places):
            return self.refuse("an index")
        first = places[0] if places else Ellipsis
        whole = first is Ellipsis or (type(first) is slice and first == slice(None))
        if not whole or (first is Ellipsis and len(places) > 1):
            return self.refuse("a use that looks at single records")
        found = self.other(self.calculated(lambda: self.table[places], "an index"))
        found.is_strided = True
        return SymbolicArray(found)

    def _selected(self, mask: Column) -> Any:
        if mask.dtype != np.bool_ or mask.table.ndim != 1 or not self.has_records_of(mask):
            return self.refuse("an index that is not a comparison of the same records")
        kept = mask.table.copy() if self.kept is None else mask.table & self.kept
        column = Column(self.branching, self.answers, self.table, kept, is_off=self.is_off)
        return SymbolicArray(column)

    def has_records_of(self, other: Column) -> bool:
        """Whether two columns are of the same selection of records."""
        if self.answers is not other.answers:
            return False
        if self.kept is None or other.kept is None:
            return self.kept is other.kept
        return bool(np.array_equal(self.kept, other.kept))

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        real = leading(inputs)
        if real is not None:
            return real.answer_ufunc(ufunc, inputs)
        if ufunc is np.matmul:
            return self.answer_function(np.dot, inputs, {})
        if ufunc not in ENTRY_BY_ENTRY and ufunc not in NOT_ROUNDED:
            return self.refuse(f"numpy.{ufunc.__name__}")
        return self.entrywise(ufunc, inputs, f"numpy.{ufunc.__name__}")

    def entrywise(self, function: Any, inputs: tuple[Any, ...], use: str) -> Any:
        """``function`` of arrays of one shape entry by entry, constants among them."""
        tables = [self.table_of(one, use) for one in inputs]
        is_off = any(_is_off(one) for one in inputs)
        if is_off and function in COMPARISONS and _are_apart(*tables):
            is_off = False
        if is_off and function not in STEADY:
            return self.refuse(f"{use} of floats that are rounded in an unknown order")
        is_off = is_off or function in NOT_ROUNDED
        return self.like(self.calculated(lambda: function(*tables), use), is_off=is_off)

    def calculated(self, call: Callable[[], Any], use: str) -> Table:
        """A table that NumPy calculates; what fails for some record is refused."""
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                found = call()
        except Exception as error:
            return self.refuse(f"{use}, which fails for some record ({error})")  # type: ignore[no-any-return]
        if type(found) is not np.ndarray or found.shape[:1] != (self.answers.values,):
            self.refuse(use)
        if found.dtype.kind not in "biuf":
            self.refuse(f"{use} that gives {found.dtype}")
        made: Table = found
        return made

    def table_of(self, value: Any, use: str) -> Any:
        """An input as what meets the tables of others as the input meets the columns."""
        kind = type(value)
        if kind is SymbolicArray and type(value.storage) is Column:
            other: Column = value.storage
            if not self.has_records_of(other) or other.table.ndim != self.table.ndim:
                self.refuse(f"{use} of other records, or of another shape")
            return other.table if self.kept is None else other.table[self._stand_ins()]
        if issubclass(kind, Symbolic):
            return self.refuse(f"{use} with noise, or with a sum of the data")
        if kind in (int, float, bool) or isinstance(value, np.generic):
            return value
        constant = np.asarray(value)
        if constant.dtype.kind not in "biuf":
            self.refuse(f"{use} with an array of {constant.dtype}")
        if constant.ndim < self.table.ndim:
            return constant
        if constant.ndim == self.table.ndim and self.kept is None:
            self.answers.reads_length = True
            if len(constant) == 1 and self.answers.records != 1:
                return constant
            if len(constant) == self.answers.records and bool(np.all(constant == constant[:1])):
                return constant[:1]
        return self.refuse(f"{use} with an array that differs from record to record")

    def _stand_ins(self) -> NDArray[np.intp]:
        """Record values, with one that is in the selection for all that are not."""
        assert self.kept is not None
        there = np.flatnonzero(self.kept)
        places = np.arange(len(self.kept))
        return np.where(self.kept, places, there[0]) if len(there) else places

    # ---- answers

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        real = leading((*arguments, *options.values()))
        if real is not None:
            return real.answer_function(function, arguments, options)
        rule = FUNCTIONS.get(function)
        if rule is None:
            return self.refuse(f"numpy.{function.__name__}")
        found = rule(*arguments, **options)
        return (
            self.refuse(f"numpy.{function.__name__} with these arguments")
            if (found is NotImplemented)
            else found
        )

    def sum_up(self, table: Table, kind: Any, use: str, *, in_pairs: bool = False) -> Any:
        """The answer of one table, as a number of a type."""
        if self.kept is not None:
            table = np.where(self.kept, table, np.zeros((), table.dtype))
        records, answers = self.answers.records, self.answers
        if not np.all(np.isfinite(table)):
            self.refuse(f"{use} of numbers that are not finite")
        largest = max(abs(one) for one in _ends(table))
        margin = Fraction(0)
        if np.dtype(kind) not in (np.int64, np.float64):
            self.refuse(f"{use} that gives {np.dtype(kind)}")
        if table.dtype.kind in "iu":
            if int(largest) * records >= _LARGEST:
                self.refuse(f"{use} of whole numbers that are too large for floats")
        elif table.dtype.kind == "f":
            if table.dtype != np.float64:
                self.refuse(f"{use} of {table.dtype}")
            margin = margin_of(table, records, is_off=self.is_off, in_pairs=in_pairs)
            if largest * records > 1e300:
                self.refuse(f"{use} of floats that may overflow")
        run = self.run
        if not np.any(table):
            return kind(0)
        return run.value_of_answer(answers.of(table, margin), kind)

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
        kind = np.sum(self.table[:1]).dtype if kind is None else np.dtype(kind)
        rest = self.table.reshape(self.answers.values, -1)
        if axis == 0 and self.table.ndim > 1:
            found = [self._scaled(rest[:, k], scale, kind, use) for k in range(rest.shape[1])]
            return array_of(self.branching, filled(found, self.table.shape[1:], object), kind)
        if axis is not None and (axis != 0 or self.table.ndim > 1):
            return NotImplemented
        if rest.shape[1] > 1 and self.dtype.kind == "f":
            return NotImplemented  # in which order is not known
        in_pairs = in_line and self.table.ndim == 1 and not self.is_strided
        return self._scaled(rest.sum(axis=1), scale, kind, use, in_pairs=in_pairs)

    def _scaled(
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
        return AlignedValue(total.run, total.form * scale, total.kind)

    def count(self) -> Any:
        """How many records there are: a plain number, or the answer of a selection."""
        if self.kept is None:
            self.answers.reads_length = True
            return self.answers.records
        column = Column(self.branching, self.answers, self.kept)
        return column.sum_up(self.kept, int, "len()")


class OfData(Symbolic):
    """Has the words of refusals of data."""

    described = described_in_arrays = "data, of which only sums over all records are followed,"
    advice = ADVICE
    is_discrete = False

    def __init__(self, branching: Branching, advice: str) -> None:
        self.branching = branching
        self.advice = advice


def margin_of(table: Table, records: int, *, is_off: bool, in_pairs: bool) -> Fraction:
    """How far floats may take two sums over n records from each other (docs/theory/size.md, S8).

    0 where all partial sums are floats. ``in_pairs`` is whether NumPy adds them pairwise, as it
    does along one line.
    """
    largest = Fraction(max(abs(one) for one in _ends(table)))
    found = Fraction(0)
    if is_off:
        found += 2 * records * Fraction(_OFF) * largest
    if not _is_exact(table, records):
        deep = min(records, records.bit_length() + _BLOCK) if in_pairs else records
        steps = deep * _UNIT
        found += 2 * steps / (1 - steps) * records * largest
    return found


def _is_exact(table: Table, records: int) -> bool:
    """Whether all entries are multiples of one power of 2, of which n of them are floats."""
    largest = max(abs(one) for one in _ends(table))
    denominators = [Fraction(one).denominator for one in table.tolist()]
    return Fraction(largest) * records * max(denominators) <= 2**53


def _ends(table: Table) -> tuple[Any, Any]:
    return table.min().item(), table.max().item()


def _are_apart(left: Any, right: Any) -> bool:
    """Whether no two numbers are so close that rounding decides which is larger."""
    sizes = np.maximum(np.abs(left), np.abs(right))
    return bool(np.all(np.abs(np.subtract(left, right, dtype=np.float64)) > _APART * sizes))


def _is_off(value: Any) -> bool:
    return type(value) is SymbolicArray and type(value.storage) is Column and value.storage.is_off


def leading(inputs: Iterable[Any]) -> Any:
    """The storage of real numbers among arrays of records, which calculates with the others."""
    arrays = (one for one in inputs if type(one) is SymbolicArray)
    return next((one.storage for one in arrays if one.storage.leads), None)


def column_of(value: Any) -> Column | None:
    """The column that an array is; None for all else."""
    if type(value) is SymbolicArray and type(value.storage) is Column:
        return value.storage
    return None


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
