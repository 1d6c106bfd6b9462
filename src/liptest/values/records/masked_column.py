"""Numbers of the records times random bits: ``data * mask``, ``numpy.where(mask, data, 0)``.

The entry of a record is its own number where the record's own bit is 1, and 0 elsewhere. So their
sum is that of the records whose bits are 1, a random sample (docs/theory/size.md, S11). So are rows
times an upright array of bits, ``rows * mask[:, None]``, and products, ``mask @ rows``. A function
of each entry that gives 0 for 0 makes others; what gives something else, or looks at single
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
from liptest.values.records.record_storage import RecordStorage, is_record_array, makes_upright
from liptest.values.rounding import holds_negative_zero

# Kept: while a program is analysed the names stand for something else.
_CLIP, _MEAN = np.clip, np.mean
_MULTIPLYING = (np.multiply, np.logical_and, np.bitwise_and)
# They give 0 for 0, whatever finite number the other one is.
_KEEPING_ZERO = (np.multiply, np.divide)
_ADVICE = "select the records (data[mask]), then sum or count"
_ROWS = 2


class MaskedColumn(RecordStorage):
    """See the module.

    Parameters
    ----------
    column
        The entries of all records, where their bits are 1: a column or rows, of tables or of reals.
    chosen
        The same entries of the chosen records alone.
    mask
        The bits, (records,).
    """

    __slots__ = ("chosen", "column", "mask")

    leads = True
    advice = _ADVICE

    def __init__(self, column: Any, chosen: Any, mask: SymbolicArray) -> None:
        self.branching = column.branching
        self.column, self.chosen, self.mask = column, chosen, mask
        self.dtype = column.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.column.shape  # type: ignore[no-any-return]

    def copied(self, order: Any) -> Any:
        return MaskedColumn(self.column, self.chosen, self.mask)

    def moved(self, move: Any) -> Any:
        return self.refuse("a use that moves records")

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self._made(self.column.astype(dtype))

    def entries_at(self, index: Any) -> Any:
        if makes_upright(index):
            return self._made(SymbolicArray(self.column)[:, None])
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
        self._check_keeps_zero(ufunc, inputs, use)
        return self._made(ufunc(*columns))

    def _column_of(self, value: Any, use: str) -> Any:
        masked = find_masked(value)
        if masked is not None:
            return SymbolicArray(masked.column) if self._is_alike(masked) else self.refuse(use)
        if is_record_array(value):
            is_alike = self.column.has_records_of(value.storage)
            return value if is_alike else self.refuse(f"{use} of other records")
        is_constant = not issubclass(type(value), Symbolic) and np.ndim(value) == 0
        return value if is_constant else self.refuse(f"{use} with numbers that are not constant")

    def _check_keeps_zero(self, ufunc: Any, inputs: tuple[Any, ...], use: str) -> None:
        """Refuse a function that gives something else than 0 where the bit is 0."""
        if any(map(_is_real, inputs)) and ufunc not in _KEEPING_ZERO:
            self.refuse(f"{use} that may not be 0 where the random bit is 0")
        try:
            with np.errstate(all="raise"):
                made = ufunc(*map(_entry_without_bit, inputs))
        except Exception as error:
            self.refuse(f"{use}, which fails for some record ({error})")
        if np.any(made) or holds_negative_zero(made):
            self.refuse(f"{use} that is not 0 where the random bit is 0")

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        use = f"numpy.{function.__name__}"
        first = find_masked(arguments[0]) if arguments else None
        given = {name: option for name, option in options.items() if option is not np._NoValue}
        axis = given.pop("axis", arguments[1] if len(arguments) == 2 else None)
        if function is _CLIP and first is self and not given and len(arguments) == 3:
            return np.minimum(np.maximum(arguments[0], arguments[1]), arguments[2])
        if function is np.dot and len(arguments) == 2 and not given:
            return self.answer_ufunc(np.multiply, tuple(arguments)).storage.sums(None, use)
        if first is not self or given or len(arguments) > 2:
            return self.refuse(use)
        if function is np.sum:
            return self.sums(axis, use)
        if function is np.count_nonzero and axis is None:
            return np.count_nonzero(SymbolicArray(self.chosen))
        if function is _MEAN:
            return self.sums(axis, use) / self.shape[0]
        return self.refuse(use)

    def sums(self, axis: Any, use: str) -> Any:
        """The sum over the chosen records, of rows that of each entry."""
        if axis not in ((0,) if len(self.shape) == _ROWS else (None, 0)):
            return self.refuse(f"{use} along another axis")
        # Floats that are added up with zeros between them are rounded in another way.
        use = f"{use} of entries times bits" if self.dtype.kind == "f" else use
        if type(self.chosen) is Column:
            return self.chosen.sums(axis, use)
        if len(self.shape) == _ROWS:
            return self.chosen.sums(use)
        return self.chosen.sum_up(use, in_pairs=False)

    def concretise(self, use: str) -> NDArray[Any]:
        return self.refuse(use)  # type: ignore[no-any-return]

    def shares_memory(self, other: Storage) -> bool:
        return False

    def _is_alike(self, other: MaskedColumn) -> bool:
        """Whether the same bits say which entries are there."""
        is_same = self.chosen.has_records_of(other.chosen)
        return bool(is_same and self.column.has_records_of(other.column))

    def _made(self, entries: Any) -> Any:
        made = mask_entries(entries, self.mask)
        return self.refuse("a use") if made is None else made


def _is_real(value: Any) -> bool:
    """Whether it has real numbers of the records, without bits."""
    return is_record_array(value) and type(value.storage) not in (Column, MaskedColumn)


def _entry_without_bit(operand: Any) -> Any:
    """What an operand is where the bit of a record is 0: by its value, of other columns."""
    masked, column = find_masked(operand), find_column(operand)
    if masked is not None:
        return np.zeros(1, masked.dtype)
    if _is_real(operand):
        return np.ones(1)
    return operand if column is None else column.table


def first_masked(inputs: tuple[Any, ...]) -> MaskedColumn | None:
    """The first entries times bits among some values; None for none."""
    return next((masked for masked in map(find_masked, inputs) if masked is not None), None)


def find_masked(value: Any) -> MaskedColumn | None:
    """The column times bits that an array is; None for all else."""
    is_array = type(value) is SymbolicArray and type(value.storage) is MaskedColumn
    return value.storage if is_array else None


def mask_entries(entries: Any, mask: SymbolicArray) -> SymbolicArray | None:
    """Entries of all records, and 0 where random bits are 0; None where that is not known."""
    if not is_record_array(entries) or entries.ndim > _ROWS:
        return None
    storage = entries.storage
    if type(storage) is Column and not _is_followed(storage):
        return None
    chosen = entries[mask]
    return SymbolicArray(MaskedColumn(storage, chosen.storage, mask))


def _is_followed(column: Column) -> bool:
    if column.is_selection or column.is_off:
        return False
    return not (column.dtype.kind == "f" and holds_negative_zero(column.own))


def multiply_by_bits(ufunc: Any, inputs: tuple[Any, ...]) -> SymbolicArray | None:
    """``data * mask``, ``rows * mask[:, None]`` and ``truths & mask``; None for all else."""
    masked = first_masked(inputs)
    if masked is not None:
        return masked.answer_ufunc(ufunc, inputs)  # type: ignore[no-any-return]
    if ufunc not in _MULTIPLYING or len(inputs) != 2:
        return None
    for entries, bits in (inputs, inputs[::-1]):
        if is_record_array(entries) and find_masked(entries) is None:
            mask = _read_bits(bits, entries)
            if mask is not None:
                return mask_entries(_as_product(ufunc, entries, bits), mask)
    return None


def _as_product(ufunc: Any, entries: SymbolicArray, bits: SymbolicArray) -> Any:
    """The entries where a bit is 1."""
    one = np.ones((), bits.dtype)[()]
    if _is_real(entries):
        return entries if ufunc is np.multiply else None
    return ufunc(entries, one)


def _read_bits(value: Any, entries: Any) -> SymbolicArray | None:
    """Random bits that meet records, truths or the numbers 0 and 1; None for all else.

    They are in a line, or upright beside rows.
    """
    if type(value) is not SymbolicArray or is_record_array(value) or value.storage.coins() is None:
        return None
    axes = entries.ndim if is_record_array(entries) else 1
    if value.ndim != axes or value.shape[1:] not in ((), (1,)):
        return None
    value = value.reshape(-1)
    if value.dtype == np.bool_:
        return read_mask(value)
    storage: Any = value.storage
    entries = storage.tables.table
    is_bit = value.dtype.kind in "if" and bool(np.isin(entries, (0, 1)).all())
    if not is_bit or holds_negative_zero(entries):
        return None
    return read_mask(np.not_equal(value, 0))


def multiply_bits_and_rows(left: Any, right: Any) -> Any:
    """``mask @ rows`` and ``rows.T @ mask``, of ``rows`` upright; None for all else."""
    if not is_record_array(right) or _read_bits(left, None) is None or right.ndim != _ROWS:
        return None
    masked = multiply_by_bits(np.multiply, (right, left[:, None]))
    return None if masked is None else np.sum(masked, axis=0)


def where_bits(condition: Any, one: Any, other: Any) -> SymbolicArray | None:
    """``numpy.where(mask, data, 0)`` and ``numpy.where(mask, 0, data)``; None for all else."""
    mask: Any = _read_bits(condition, one if is_record_array(one) else other)
    if mask is None:
        return None
    if is_record_array(other) and not is_record_array(one):
        mask, one, other = np.logical_not(mask), other, one
    is_zero = type(other) in (int, float) and other == 0 and not holds_negative_zero(other)
    if not is_record_array(one) or not is_zero:
        return None
    is_float = type(other) is float and not _is_real(one)
    return mask_entries(np.multiply(one, 1.0) if is_float else one, mask)


Column.multiply_by_bits = staticmethod(multiply_by_bits)
Column.multiply_bits_and_rows = staticmethod(multiply_bits_and_rows)
Column.where_bits = staticmethod(where_bits)
