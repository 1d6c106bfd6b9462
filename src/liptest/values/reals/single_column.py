"""Columns of real numbers of 32 bits: what is done with them, and their sums.

A number of 32 bits is one of 64, too, so the ends of a cell are those of a ``RealColumn`` between
which the entries lie; what is calculated in 32 bits is calculated so at the ends. Constants have to
be numbers that 32 bits have: pandas and NumPy differ in what they make of others. The rounding of
the sum is part of the price (docs/theory/tables.md, B12). All else is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.protocol import Symbolic
from liptest.values.reals.real_column import FUNCTIONS, RealColumn
from liptest.values.reals.recipes import ENDS, has_known, is_safe
from liptest.values.reals.rounded_sums import single_rounding
from liptest.values.reals.single_total import SingleTotal, total_in_32_bits
from liptest.values.records.column import find_column
from liptest.values.records.record_storage import RecordStorage
from liptest.values.unfollowed import LastTotal

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_MOST = float(np.finfo(np.float32).max)
# Sums stay far from where 32 bits end.
_LARGEST_SUM = 1e37
_ADVICE = (
    "of numbers of 32 bits clip, + - * / with plain numbers that 32 bits have, .sum(), .mean() and "
    "a selection by earlier comparisons are followed; for all else use .astype(np.float64)"
)
_FOLLOWED = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin),
        *(np.absolute, np.fabs, np.negative, np.positive, np.square, np.sqrt),
        *(np.floor, np.ceil, np.rint, np.trunc),
    }
)


def _cumsum_of_reals(column: RealColumn, array: Any, axis: Any = None, **options: Any) -> Any:
    given = any(option is not None for option in options.values())
    if axis not in (None, 0) or given or array.storage is not column or column.kept is not None:
        return NotImplemented
    column.refuse_places()  # there may be no last one
    return LastTotal(column, partial(column.sum_up, "numpy.cumsum", in_pairs=False))


class SingleColumn(RecordStorage):
    """See the module; ``column`` has the same numbers in 64 bits."""

    __slots__ = ("column",)

    leads = True
    advice = _ADVICE

    def __init__(self, column: RealColumn) -> None:
        self.branching = column.branching
        self.column = column
        self.dtype = _SINGLE

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse(f"a use of its {name}")

    def has_records_of(self, other: Any) -> bool:
        """Whether two columns are of the same selection of records."""
        return self.column.has_records_of(other.column if type(other) is SingleColumn else other)

    # ---- storage

    @property
    def shape(self) -> tuple[int, ...]:
        return self.column.shape

    def as_list(self) -> Any:
        return self.refuse("a loop")

    def each_record(self) -> Any:
        """Single numbers of 32 bits are not followed."""
        return self.refuse("a loop")

    def moved(self, move: Any) -> Any:
        made = self.column.moved(move)
        return SingleColumn(made) if type(made) is RealColumn else self.refuse("rows")

    def copied(self, order: Any) -> Any:
        return SingleColumn(self.column.copied(order))

    def entries_at(self, index: Any) -> Any:
        if find_column(index) is None:
            return self.refuse("an index that is not a comparison of the same records")
        return SymbolicArray(SingleColumn(self.column.entries_at(index).storage))

    def astype(self, dtype: np.dtype[Any]) -> Any:
        if dtype == _SINGLE:
            return SymbolicArray(SingleColumn(self.column))
        if dtype != _DOUBLE:
            return self.refuse(f"astype({dtype})")
        return self.column.like((self.column.low, self.column.high), self.recipe_of_64)

    @property
    def recipe_of_64(self) -> Any:
        """How the same numbers of 64 bits are calculated."""
        return np.float64, self.column.recipe

    # ---- entry by entry

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        use = f"numpy.{ufunc.__name__}"
        if ufunc not in _FOLLOWED:
            return self.refuse(use)
        parts = [self._part(operand, use) for operand in inputs]
        lows, highs = [part[0] for part in parts], [part[1] for part in parts]
        if not is_safe(ufunc, lows, highs):
            return self.refuse(f"{use} of numbers that may be infinite")
        with np.errstate(all="ignore"):
            ends = ENDS[ufunc](ufunc, lows, highs)
        if ends is None or not all(np.isfinite(end).all() for end in ends):
            return self.refuse(f"{use}, which fails for some record")
        assert all(end.dtype == _SINGLE for end in ends)
        wide = tuple(np.broadcast_to(end, self.column.low.shape).astype(_DOUBLE) for end in ends)
        return _single(self.column, wide, (ufunc, *(part[2] for part in parts)))

    def _part(self, value: Any, use: str) -> tuple[Any, Any, Any]:
        """Its ends in 32 bits, and how it is calculated."""
        kind = type(value)
        if kind is SymbolicArray and type(value.storage) is SingleColumn:
            column = value.storage.column
            if not self.column.has_records_of(column):
                self.refuse(f"{use} of other records")
            return column.low.astype(_SINGLE), column.high.astype(_SINGLE), column.recipe
        if issubclass(kind, Symbolic):
            self.refuse(f"{use} with numbers of another type")
        number = self.constant(value, use)
        return np.array(number), np.array(number), ("number", np.float32, number)

    def constant(self, value: Any, use: str) -> np.float32:
        """A plain number that 32 bits have."""
        if type(value) not in (int, float, np.float32) or not abs(value) <= _MOST:
            self.refuse(f"{use} with what is not a plain number")
        number = np.float32(value)
        if float(number) != value:
            self.refuse(f"{use} with {value!r}, which 32 bits do not have,")
        return number

    # ---- answers

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return self.answer_by(_FUNCTIONS, function, arguments, options)

    def sum_up(self, use: str, *, in_pairs: bool, mean: bool = False, layout: Any = None) -> Any:
        """The answer; ``in_pairs`` and ``layout`` as those of a ``RealColumn``."""
        column, book = self.column, self.column.answers
        if book.in_groups() is not None or has_known(column.recipe):
            return self.refuse(f"{use} of groups, or of numbers that were released,")
        kept = np.ones(column.low.shape, np.bool_) if column.kept is None else column.kept
        low, high = (np.where(kept, end, 0.0) + 0.0 for end in (column.low, column.high))
        largest = Fraction(max(float(np.abs(low).max()), float(np.abs(high).max())))
        if largest * book.records > _LARGEST_SUM:
            return self.refuse(f"{use} of numbers that may overflow", "clip them first")
        if not largest:
            return np.float32(0)
        is_fixed = book.has_order and column.kept is None
        in_pairs = in_pairs and not column.is_strided
        rounding = single_rounding(
            largest, book.records, in_pairs=in_pairs, is_fixed=is_fixed, is_mean=mean
        )
        kept_here = None if column.kept is None else column.kept.tobytes()
        how = "mean" if mean else "sum"
        order = f"{how} in 32 bits, {use}, {in_pairs}", layout or column.is_strided
        recipe = order, column.recipe, kept_here
        answer = book.of_recipe(recipe, low, high, rounding)
        total = total_in_32_bits(column.branching.noise, answer, rounding)
        scale = Fraction(1, book.read_length()) if mean else Fraction(1)
        return SingleTotal(total.run, total.form * scale)

    def count(self) -> Any:
        """How many records there are."""
        return self.column.count()


def _single(column: RealColumn, ends: Any, recipe: Any) -> SymbolicArray:
    made: Any = column.like(ends, recipe).storage
    made.is_strided = column.is_strided
    return SymbolicArray(SingleColumn(made))


def in_32_bits(column: RealColumn) -> SymbolicArray:
    """A column cast to 32 bits."""
    ends = column.low, column.high
    if not all((np.abs(end) < _MOST).all() for end in ends):
        return column.refuse("astype(float32) of numbers that it may not have", "clip them first")  # type: ignore[no-any-return]
    made = tuple(end.astype(_SINGLE).astype(_DOUBLE) for end in ends)
    return _single(column, made, (np.float32, column.recipe))


# ---- functions


def _sum(column: SingleColumn, array: Any, axis: Any = None, dtype: Any = None) -> Any:
    if axis not in (None, 0) or array.storage is not column:
        return NotImplemented
    if dtype is None:
        return column.sum_up("numpy.sum", in_pairs=True)
    if dtype not in (np.float32, np.float64, float):
        return NotImplemented
    if np.dtype(dtype) == _SINGLE:
        return column.sum_up("numpy.sum", in_pairs=False)
    return column.astype(_DOUBLE).storage.sum_up("numpy.sum", in_pairs=False)


def _mean(column: SingleColumn, array: Any, axis: Any = None) -> Any:
    if axis not in (None, 0) or column.column.kept is not None or array.storage is not column:
        return NotImplemented
    if column.column.answers.records > 1 << 24:
        return NotImplemented
    column.column.refuse_length()
    return column.sum_up("numpy.mean", in_pairs=True, mean=True)


def _clip(column: SingleColumn, array: Any, *bounds: Any, **options: Any) -> Any:
    low = bounds[0] if bounds else options.pop("a_min", options.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else options.pop("a_max", options.pop("max", None))
    if options or len(bounds) > 2 or array.storage is not column:
        return NotImplemented
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        array = array if bound is None else ufunc(array, bound)
    return array


def _cumsum(column: SingleColumn, array: Any, axis: Any = None) -> Any:
    if axis not in (None, 0) or array.storage is not column or column.column.kept is not None:
        return NotImplemented
    column.column.refuse_places()
    return LastTotal(column, partial(column.sum_up, "numpy.cumsum", in_pairs=False))


RealColumn.in_32_bits = staticmethod(in_32_bits)
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _sum,
    np.mean: _mean,
    np.clip: _clip,
    np.cumsum: _cumsum,
    np.size: lambda column, array: column.count(),
}
FUNCTIONS[np.cumsum] = _cumsum_of_reals
