"""Entries of a plain array that random bits choose, without looking at one of the bits.

``values[mask]`` adds up to the product of ``mask`` and ``values``: a sum of independent bits, whose
law is known. Entries that are 0 drop out. All else that is done with them looks at the bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import SymbolicArray, make_array
from liptest.values.chosen_places import Chosen, read_mask
from liptest.values.rounding import holds_negative_zero

_NUMBERS = (bool, int, float, np.bool_, np.int64, np.float64)
# Of one entry each; what they raise of one that is not chosen is found out (``_calculate``).
_ENTRY_BY_ENTRY = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.negative, np.absolute),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(np.logical_and, np.logical_or, np.logical_not, np.invert, np.bitwise_and),
    }
)
# Sums of whole numbers up to here are exact in floats.
_LARGEST = 2**53
_MOST_BINS = 1024


class ChosenEntries(Chosen):
    """Entries of a plain line of numbers where bits are 1: ``values[mask]``."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[Any], mask: SymbolicArray) -> None:
        super().__init__(mask, values.dtype)
        self.values = values

    def made_of(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        return self.values[mask]

    def entries_at(self, index: Any) -> Any:
        chosen = _find_chosen(index)
        if chosen is None or chosen.dtype != np.bool_ or not chosen.has_mask_of(self):
            return NotImplemented
        there = chosen.values
        return SymbolicArray(ChosenEntries(self.values[there], self.mask[there]))

    def has_mask_of(self, other: ChosenEntries) -> bool:
        """Whether the same bits choose both, and none was looked at."""
        return self.mask is other.mask and self.is_open and other.is_open

    def copied(self, order: Any) -> Any:
        return ChosenEntries(self.values, self.mask) if self.is_open else super().copied(order)

    def astype(self, dtype: np.dtype[Any]) -> Any:
        made = self._calculate(lambda table: table.astype(dtype), self.values)
        return NotImplemented if made is None else made

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        tables = [self._table_of(value) for value in inputs]
        if ufunc in _ENTRY_BY_ENTRY and not any(table is None for table in tables):
            made = self._calculate(ufunc, *tables)
            if made is not None:
                return made
        return self.looked_at().answer_ufunc(ufunc, inputs)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        rule = _RULES.get(function)
        if rule is not None and self.is_open and _find_chosen(arguments[0]) is self:
            answer = rule(self, *arguments[1:], **options)
            if answer is not NotImplemented:
                return answer
        return self.looked_at().answer_function(function, arguments, options)

    def _table_of(self, value: Any) -> Any:
        """An operand as what meets the values; None for what is not the same for all entries."""
        if isinstance(value, _NUMBERS):
            return value
        chosen = _find_chosen(value)
        return chosen.values if chosen is not None and chosen.has_mask_of(self) else None

    def _calculate(self, function: Any, *tables: Any) -> Any:
        """A function of each entry; None where it is not known of some, or may fail there."""
        if not self.is_open:
            return None
        try:
            with np.errstate(all="raise"):
                values = function(*tables)
        except Exception:
            return None
        return SymbolicArray(ChosenEntries(values, self.mask))

    def sum_up(self, values: NDArray[Any]) -> Any:
        """The sum of one number for each chosen entry; NotImplemented where floats may round it."""
        kind: Any = np.float64 if values.dtype == np.float64 else np.int64
        if values.dtype.kind == "f" and kind is not np.float64:
            return NotImplemented
        if not _are_whole(values):
            return NotImplemented
        there = np.flatnonzero(values)
        if not len(there):
            return kind(0)
        return np.dot(self.mask[there], values[there].astype(kind))


def choose_entries(values: NDArray[Any], index: Any) -> SymbolicArray | None:
    """``values[index]`` where ``index`` are random bits or their places; None for all else."""
    mask = read_mask(index)
    if mask is None or values.ndim != 1 or values.dtype.kind not in "bif":
        return None
    if mask.shape != values.shape:
        return None
    return SymbolicArray(ChosenEntries(values.copy(), mask))


def _find_chosen(value: Any) -> ChosenEntries | None:
    is_array = type(value) is SymbolicArray and type(value.storage) is ChosenEntries
    return value.storage if is_array else None


def _are_whole(values: NDArray[Any]) -> bool:
    """Whether sums of any of the numbers are exact, and have the sign of zero that NumPy gives."""
    if values.dtype.kind == "f":
        if not np.isfinite(values).all() or (values != np.rint(values)).any():
            return False
        if holds_negative_zero(values):
            return False
    return float(np.abs(values.astype(np.float64)).sum()) < _LARGEST


def _sum(chosen: ChosenEntries, *arguments: Any, **options: Any) -> Any:
    return NotImplemented if arguments or options else chosen.sum_up(chosen.values)


def _count_nonzero(chosen: ChosenEntries, *arguments: Any, **options: Any) -> Any:
    return NotImplemented if arguments or options else chosen.sum_up(chosen.values != 0)


def _bincount(chosen: ChosenEntries, *arguments: Any, minlength: Any = 0, **options: Any) -> Any:
    values = chosen.values
    if arguments or options or type(minlength) is not int or values.dtype.kind != "i":
        return NotImplemented
    if not len(values) or values.min() < 0 or values.max() >= min(minlength, _MOST_BINS + 1):
        return NotImplemented  # how many bins there are depends on the bits
    totals = [chosen.sum_up(values == value) for value in range(minlength)]
    cells = np.empty(minlength, dtype=object)
    cells[:] = totals
    return make_array(chosen.branching, cells, np.dtype(np.int64))


_RULES = {np.sum: _sum, np.count_nonzero: _count_nonzero, np.bincount: _bincount}
