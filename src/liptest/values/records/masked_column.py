"""A column times random bits: ``data * mask``, ``numpy.where(mask, data, 0)``, ``mask & truths``.

Its entry for a record is that of a column where the record's own bit is 1, and 0 elsewhere. So its
sum is that of the records whose bits are 1, a random sample (docs/theory/size.md, S11). A function
of each entry that gives 0 for 0 makes another one; what gives something else, or looks at single
entries, is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import Storage, SymbolicArray
from liptest.values.chosen_places import read_mask
from liptest.values.protocol import Symbolic
from liptest.values.records.column import ENTRY_BY_ENTRY, Column, find_column
from liptest.values.records.record_storage import RecordStorage
from liptest.values.rounding import holds_negative_zero

_MULTIPLYING = (np.multiply, np.logical_and, np.bitwise_and)
_ADVICE = "select the records (data[mask]), then sum or count"


class MaskedColumn(RecordStorage):
    """See the module.

    Parameters
    ----------
    column
        The entries of all records, where their bits are 1.
    chosen
        The same entries of the chosen records alone.
    mask
        The bits.
    """

    __slots__ = ("chosen", "column", "mask")

    advice = _ADVICE

    def __init__(self, column: Column, chosen: Column, mask: SymbolicArray) -> None:
        self.branching = column.branching
        self.column, self.chosen, self.mask = column, chosen, mask
        self.dtype = column.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.column.shape

    def copied(self, order: Any) -> Any:
        return MaskedColumn(self.column, self.chosen, self.mask)

    def moved(self, move: Any) -> Any:
        return self.refuse("a use that moves records")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self._made(self.column.astype(dtype))

    def entries_at(self, index: Any) -> Any:
        truths = find_masked(index)
        if truths is None or not self._is_alike(truths) or truths.dtype != np.bool_:
            return self.refuse("an index")
        return SymbolicArray(self.chosen)[SymbolicArray(truths.chosen)]

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        use = f"numpy.{ufunc.__name__}"
        if ufunc is np.matmul:
            return self.answer_function(np.dot, inputs, {})
        if ufunc not in ENTRY_BY_ENTRY:
            return self.refuse(use)
        columns = [self._column_of(operand, use) for operand in inputs]
        self._check_keeps_zero(ufunc, [_entry_without_bit(operand) for operand in inputs], use)
        return self._made(ufunc(*columns))

    def _column_of(self, value: Any, use: str) -> Any:
        masked = find_masked(value)
        if masked is not None:
            return SymbolicArray(masked.column) if self._is_alike(masked) else self.refuse(use)
        column = find_column(value)
        if column is not None:
            return value if column.has_records_of(self.column) else self.refuse(use)
        is_constant = not issubclass(type(value), Symbolic) and np.ndim(value) == 0
        return value if is_constant else self.refuse(f"{use} with numbers that are not constant")

    def _check_keeps_zero(self, ufunc: Any, entries: list[Any], use: str) -> None:
        """Refuse a function that gives something else than 0 where the bit is 0."""
        try:
            with np.errstate(all="raise"):
                made = ufunc(*entries)
        except Exception as error:
            self.refuse(f"{use}, which fails for some record ({error})")
        if np.any(made) or holds_negative_zero(made):
            self.refuse(f"{use} that is not 0 where the random bit is 0")

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        use = f"numpy.{function.__name__}"
        first = find_masked(arguments[0]) if arguments else None
        if function in (np.sum, np.count_nonzero) and first is self and not options:
            return function(SymbolicArray(self.chosen), *arguments[1:])
        if function is np.mean and first is self and len(arguments) == 1 and not options:
            return np.sum(SymbolicArray(self.chosen)) / self.column.read_length()
        if function is np.dot and len(arguments) == 2 and not options:
            return self.answer_ufunc(np.multiply, tuple(arguments)).storage.sums(None, use)
        return self.refuse(use)

    def sums(self, axis: Any, use: str) -> Any:
        """As of a column."""
        return self.chosen.sums(axis, use)

    def concretise(self, use: str) -> NDArray[Any]:
        return self.refuse(use)  # type: ignore[no-any-return]

    def shares_memory(self, other: Storage) -> bool:
        return False

    def _is_alike(self, other: MaskedColumn) -> bool:
        """Whether the same bits say which entries are there."""
        same = self.chosen.answers is other.chosen.answers
        return same and self.column.has_records_of(other.column)

    def _made(self, entries: SymbolicArray) -> Any:
        made = mask_column(entries, self.mask)
        return self.refuse("a use") if made is None else made


def _entry_without_bit(operand: Any) -> Any:
    """What an operand is where the bit of a record is 0: by its value, of other columns."""
    masked, column = find_masked(operand), find_column(operand)
    if masked is not None:
        return np.zeros(1, masked.dtype)
    return operand if column is None else column.table


def find_masked(value: Any) -> MaskedColumn | None:
    """The column times bits that an array is; None for all else."""
    is_array = type(value) is SymbolicArray and type(value.storage) is MaskedColumn
    return value.storage if is_array else None


def mask_column(entries: Any, mask: SymbolicArray) -> SymbolicArray | None:
    """Entries of all records, and 0 where random bits are 0; None where that is not known."""
    column = find_column(entries)
    if column is None or column.own.ndim != 1 or column.own_kept is not None or column.is_off:
        return None
    if column.dtype.kind == "f" and holds_negative_zero(column.own):
        return None
    chosen = find_column(column.entries_at(mask))
    return None if chosen is None else SymbolicArray(MaskedColumn(column, chosen, mask))


def multiply_by_bits(ufunc: Any, inputs: tuple[Any, ...]) -> SymbolicArray | None:
    """``data * mask`` and ``truths & mask``; None for all else."""
    if ufunc not in _MULTIPLYING or len(inputs) != 2:
        return None
    for entries, bits in (inputs, inputs[::-1]):
        mask = _read_bits(bits)
        if mask is not None and find_column(entries) is not None:
            return mask_column(_as_product(ufunc, entries, bits), mask)
    return None


def _as_product(ufunc: Any, entries: SymbolicArray, bits: SymbolicArray) -> Any:
    """The entries where a bit is 1."""
    one = np.ones((), bits.dtype)[()]
    return ufunc(entries, one)


def _read_bits(value: Any) -> SymbolicArray | None:
    """Random bits, as truths or as the numbers 0 and 1; None for all else."""
    if type(value) is not SymbolicArray or value.storage.coins() is None:
        return None
    if value.dtype == np.bool_:
        return read_mask(value)
    storage: Any = value.storage
    entries = storage.tables.table
    is_bit = value.dtype.kind in "if" and bool(np.isin(entries, (0, 1)).all())
    if not is_bit or holds_negative_zero(entries):
        return None
    return read_mask(np.not_equal(value, 0))


def where_bits(condition: Any, one: Any, other: Any) -> SymbolicArray | None:
    """``numpy.where(mask, data, 0)`` and ``numpy.where(mask, 0, data)``; None for all else."""
    mask: Any = read_mask(condition)
    if mask is None:
        return None
    if find_column(other) is not None and find_column(one) is None:
        mask, one, other = np.logical_not(mask), other, one
    is_zero = type(other) in (int, float) and other == 0 and not holds_negative_zero(other)
    if find_column(one) is None or not is_zero:
        return None
    return mask_column(np.multiply(one, 1.0) if type(other) is float else one, mask)


Column.multiply_by_bits = staticmethod(multiply_by_bits)
Column.where_bits = staticmethod(where_bits)
