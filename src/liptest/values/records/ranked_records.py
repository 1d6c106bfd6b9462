"""Records in their order: the median, a quantile, the largest, ``sorted(data)[k]``.

The record of one rank may become any other value when one record is replaced, so it is an answer
that moves by its whole range (``answer_functions.Ranked``; docs/theory/size.md, S14). Nothing else
is asked of records in their order.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.symbolic.answer_functions import Ranked
from liptest.symbolic.forms import Form
from liptest.values.answers.aligned import AlignedValue
from liptest.values.answers.block_statistics import form_of_block, is_block
from liptest.values.array import SymbolicArray, answer_by, fill_array, make_array
from liptest.values.opaque_arrays import OpaqueArray
from liptest.values.protocol import COMPARISONS, Symbolic, is_symbolic
from liptest.values.records.column import FUNCTIONS, Column, find_column
from liptest.values.records.record_list import RecordList
from liptest.values.records.record_storage import read_options

_NO_VALUE: Any = np._NoValue
# Values of a record that may be told apart, and whole numbers of which floats interpolate exactly.
_MOST_LEVELS, _LARGEST = 2_000, 1 << 30
_ADVICE = (
    "take one record of it by its place, as s[len(s) // 2]; what is small for every dataset is a "
    "quantile from noisy counts"
)


class SortedRecords(OpaqueArray):
    """All records from the smallest to the largest; entries are read at constant places.

    Parameters
    ----------
    column
        Of the records.
    kind
        The type of an entry.
    descends
        Whether the largest comes first.
    """

    __slots__ = ("branching", "column", "descends", "kind")

    described = described_in_arrays = "the records in their order"
    advice = _ADVICE

    def __init__(self, column: Column, kind: Any, *, descends: bool = False) -> None:
        self.branching = column.branching
        self.column = column
        self.kind = kind
        self.descends = descends

    def __len__(self) -> int:
        return self.column.read_length()

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self)

    @property
    def shape(self) -> tuple[int]:
        """That of a line."""
        return (len(self),)

    def tolist(self) -> SortedRecords:
        """The same records as Python's numbers."""
        return SortedRecords(self.column, self.kind(0).item().__class__, descends=self.descends)

    def __getitem__(self, index: Any) -> Any:
        if type(index) is slice and (index.start, index.stop, index.step) == (None, None, -1):
            return SortedRecords(self.column, self.kind, descends=not self.descends)
        if type(index) is slice and not any(map(is_symbolic, _ends_of(index))):
            ranks = range(1, len(self) + 1)[:: -1 if self.descends else 1][index]
            return SortedPart(self.column, ranks, self.kind)
        if is_symbolic(index) or isinstance(index, (slice, tuple, np.ndarray)):
            return self.refuse("a use of several records")
        place, records = operator.index(index), len(self)
        if not -records <= place < records:
            raise IndexError("list index out of range")
        place %= records
        return record_of_rank(
            self.column, records - place if self.descends else place + 1, self.kind
        )

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        others = [part for part in inputs if part is not self]
        if ufunc not in COMPARISONS or len(others) != 1 or not _is_number(others[0]):
            return self.refuse(f"numpy.{ufunc.__name__}")
        column = SymbolicArray(self.column)
        return SortedTruths(ufunc(*(column if part is self else part for part in inputs)))

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        if function is not np.searchsorted or arguments[0] is not self or self.descends:
            return NotImplemented
        return self._places_among(*arguments[1:], **options)

    def _places_among(self, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        """How many records are below numbers: their places in the order."""
        is_plain = _is_number(v) or (
            type(v) is np.ndarray and v.ndim == 1 and v.dtype.kind in "iuf"
        )
        if sorter is not None or not is_plain or side not in ("left", "right"):
            return self.refuse("numpy.searchsorted")
        column = SymbolicArray(self.column)
        is_before: Any = np.less if side == "left" else np.less_equal
        if np.ndim(v) == 0:
            return np.sum(is_before(column, v))
        counts = [np.sum(is_before(column, number)) for number in np.asarray(v)]
        return make_array(
            self.branching, fill_array(counts, (len(counts),), object), np.dtype(np.int64)
        )


def _ends_of(index: slice) -> tuple[Any, ...]:
    return index.start, index.stop, index.step


class SortedPart(OpaqueArray):
    """Records of some ranks, which are added up: a trimmed mean."""

    __slots__ = ("branching", "column", "kind", "ranks")

    described = described_in_arrays = "some records in their order"
    advice = "add them up: np.sort(data)[k:-k].mean()"

    def __init__(self, column: Column, ranks: range, kind: Any) -> None:
        self.branching = column.branching
        self.column = column
        self.ranks = ranks
        self.kind = kind

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        is_sum = function in (np.sum, np.mean) and len(arguments) == 1
        if not is_sum or read_options(options) or not self.ranks or is_block(self.column):
            return NotImplemented
        divisor = len(self) if function is np.mean else 1
        kind = np.float64 if function is np.mean else np.int64
        return _as_number(
            self.column, [(rank, Fraction(1, divisor)) for rank in sorted(self.ranks)], kind
        )

    sum, mean = answer_by("sum"), answer_by("mean")


class SortedTruths(OpaqueArray):
    """Of which sorted records something holds: how many they are does not depend on their order."""

    __slots__ = ("branching", "records")

    described = described_in_arrays = "truths of the records in their order"
    advice = "count them: (np.sort(data) <= number).sum()"

    def __init__(self, records: Any) -> None:
        self.branching = records.branching
        self.records = records

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        is_count = function in (np.sum, np.mean, np.count_nonzero)
        if not is_count or len(arguments) > 1 or read_options(options):
            return NotImplemented
        return function(self.records)

    sum, mean = answer_by("sum"), answer_by("mean")


def _is_number(value: Any) -> bool:
    is_plain = not issubclass(type(value), Symbolic) and np.ndim(value) == 0
    return is_plain and np.asarray(value).dtype.kind in "iuf"


def can_be_ranked(column: Column) -> bool:
    """Whether records are whole numbers in a line, of which it is known how many there are."""
    is_line = column.own.ndim == 1 and column.own_kept is None and not column.is_off
    if not is_line or column.answers.is_by_coins or column.dtype != np.int64:
        return False
    # By kinds of rows, which are fewer than values.
    return bool(np.abs(column.own).max() < _LARGEST) and len(np.unique(column.own)) <= _MOST_LEVELS


def record_of_rank(column: Column, rank: int, kind: Any) -> Any:
    """The record of a rank, 1 being the smallest, as a number of a type."""
    if is_block(column):
        return _of_block(column, _at_rank, kind, rank, Fraction(1))
    return _as_number(column, [(rank, Fraction(1))], kind)


def _as_number(column: Column, weights: list[tuple[int, Fraction]], kind: Any) -> Any:
    form = _form_of_ranks(column, weights)
    if form.terms:
        return AlignedValue(column.run, form, kind)
    return kind(float(form.constant)) if kind is np.float64 else kind(int(form.constant))


def _form_of_ranks(column: Column, weights: list[tuple[int, Fraction]]) -> Form:
    """The records of ascending ranks times weights, added up."""
    levels, table = np.unique(column.own), column.own
    records = column.read_length()
    if len(levels) == 1:
        return Form(int(levels[0]) * sum(weight for _, weight in weights))
    counts = [column.sum_up(table == level, np.int64, "a record of one rank") for level in levels]
    parts = tuple(column.run.sum_of_answers(count.form) for count in counts)
    exact = tuple(Fraction(int(number)) for number in levels)
    return column.run.function_of_answers(Ranked(parts, exact, tuple(weights), records))


def _at_rank(numbers: Any, rank: int) -> Any:
    return np.sort(numbers)[rank - 1]


def _at_place(numbers: Any, place: Fraction) -> Any:
    ranked, low = np.sort(numbers), int(place)
    share = float(place - low)
    return ranked[low] * (1 - share) + (ranked[low + 1] * share if share else 0)


def _of_block(column: Column, function: Any, kind: Any, given: Any, part: Fraction) -> Any:
    """A number of a block that lies between its records, and moves by a part of their range.

    All records in their order move together as far as the record that is replaced.
    """
    least, most = int(column.own.min()), int(column.own.max())
    if least == most:
        return kind(least)
    ends, reach = (Fraction(least), Fraction(most)), part * (most - least)
    form = form_of_block(column, function, ends, given, reach=reach)
    return AlignedValue(column.run, form, kind)


def _between(column: Column, place: Fraction) -> AlignedValue | Any:
    """A number between two records in their order, where ``place`` is from 0 on."""
    if is_block(column):
        share = place - int(place)
        return _of_block(column, _at_place, np.float64, place, max(share, 1 - share))
    low = int(place)
    share = place - low
    weights = [(low + 1, 1 - share), (low + 2, share)]
    return _as_number(column, weights if share else weights[:1], np.float64)


def sort_records(values: Any, *, descends: bool) -> SortedRecords | None:
    """``sorted(values)`` of numbers of the records; None where they are not followed."""
    column = _column_of_numbers(values)
    return None if column is None else SortedRecords(column, _kind(values), descends=descends)


def extreme_record(values: Any, sign: int) -> Any:
    """``max(values)``, or with the sign -1 ``min(values)``; None where that is not followed."""
    column = _column_of_numbers(values)
    if column is None:
        return None
    return record_of_rank(column, column.read_length() if sign > 0 else 1, _kind(values))


def median_record(values: Any) -> Any:
    """``statistics.median(values)``; None where that is not followed."""
    column = _column_of_numbers(values)
    if column is None:
        return None
    records = column.read_length()
    if records % 2:
        return record_of_rank(column, records // 2 + 1, _kind(values))
    return _between(column, Fraction(records - 1, 2)).typed(float)


def _kind(values: Any) -> Any:
    return int if type(values) is RecordList else np.int64


def _column_of_numbers(values: Any) -> Column | None:
    is_list = type(values) is RecordList
    if is_list and not all(type(entry) is int for entry in values.values):
        return None
    column = find_column(values.column() if is_list else values)
    return column if column is not None and can_be_ranked(column) else None


def _find_ranked(array: Any, options: dict[str, Any]) -> Column | None:
    """The column of which the record of one rank is asked; None for other uses."""
    column = find_column(array)
    given = [
        option for option in options.values() if option is not None and option is not _NO_VALUE
    ]
    return None if column is None or given or not can_be_ranked(column) else column


def _largest(array: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
    column = _find_ranked(array, {"axis": axis, "out": out, **options})
    if column is None:
        return NotImplemented
    return record_of_rank(column, column.read_length(), column.dtype.type)


def _smallest(array: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
    column = _find_ranked(array, {"axis": axis, "out": out, **options})
    return NotImplemented if column is None else record_of_rank(column, 1, column.dtype.type)


def _range(array: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
    column = _find_ranked(array, {"axis": axis, "out": out, **options})
    records = 0 if column is None or is_block(column) else column.read_length()
    if column is None or records <= 1:
        return NotImplemented
    weights = [(1, Fraction(-1)), (records, Fraction(1))]
    return _as_number(column, weights, column.dtype.type)


def _median(array: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
    column = _find_ranked(array, {"axis": axis, "out": out, **options})
    if column is None:
        return NotImplemented
    return _between(column, Fraction(column.read_length() - 1, 2))


def _quantile(array: Any, q: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
    column = _find_ranked(array, {"axis": axis, "out": out, **options})
    if column is None or is_symbolic(q) or np.ndim(q) or not 0 <= q <= 1:
        return NotImplemented
    # As NumPy has it, in floats.
    return _between(column, Fraction(float(q) * (column.read_length() - 1)))


def _percentile(array: Any, q: Any, *more: Any, **options: Any) -> Any:
    if is_symbolic(q) or np.ndim(q):
        return NotImplemented
    return _quantile(array, np.true_divide(q, 100), *more, **options)


def _sort(array: Any, axis: Any = -1, **options: Any) -> Any:
    column = _find_ranked(array, options)
    if column is None or axis not in (-1, 0):
        return NotImplemented
    return SortedRecords(column, column.dtype.type)


for _functions, _rule in (
    ((np.max, np.amax), _largest),
    ((np.min, np.amin), _smallest),
    ((np.ptp,), _range),
    ((np.median,), _median),
    ((np.quantile,), _quantile),
    ((np.percentile,), _percentile),
    ((np.sort,), _sort),
):
    FUNCTIONS.update(dict.fromkeys(_functions, _rule))
