"""Entries or rows of a plain array that random bits choose, without looking at all of the bits.

``values[mask]`` adds up to the product of ``mask`` and ``values``: a sum of independent bits, whose
law is known. Entries that are 0 drop out, and so do rows of zeros: where few others are left, their
bits alone are looked at. All else that is done with them looks at all bits.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.chosen_places import Chosen, read_mask
from liptest.values.records.record_storage import is_everything, keeps_records, read_constant
from liptest.values.rounding import holds_negative_zero

_NUMBERS = (bool, int, float, np.bool_, np.int64, np.float64)
# Of one entry each, and rounded exactly: so they give the same wherever an entry stands.
_ENTRY_BY_ENTRY = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.divide, np.square, np.sqrt),
        *(np.negative, np.absolute, np.maximum, np.minimum),
        *(np.floor, np.ceil, np.rint, np.trunc),
        *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
        *(np.logical_and, np.logical_or, np.logical_not, np.invert, np.bitwise_and),
    }
)
# Kept: while a program is analysed the names may stand for something else.
_CLIP, _NORM, _ERRORS = np.clip, np.linalg.norm, np.geterr
# Sums of whole numbers up to here are exact in floats.
_LARGEST = 2**53
_MOST_BINS = 1024
# Sums of two floats are the same in any order; sums of so many within a row are, too.
_FEW, _NARROW = 2, 7
_ROWS = 2


class ChosenEntries(Chosen):
    """Entries of a plain line of numbers, or rows, where bits are 1: ``values[mask]``."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[Any], mask: SymbolicArray) -> None:
        super().__init__(mask, values.dtype)
        self.values = values

    def made_of(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        return self.values[mask]

    def entries_at(self, index: Any) -> Any:
        if self.is_open and self._keeps_rows(index):
            return SymbolicArray(ChosenEntries(self.values[index].copy(), self.mask))
        chosen = _find_chosen(index)
        if chosen is None or chosen.dtype != np.bool_ or not chosen.has_mask_of(self):
            return NotImplemented
        there = chosen.values
        return SymbolicArray(ChosenEntries(self.values[there], self.mask[there]))

    def _keeps_rows(self, index: Any) -> bool:
        """Whether an index says nothing of the first axis."""
        is_whole = type(index) is tuple and len(index) > 0 and is_everything(index[0])
        return is_whole and keeps_records((..., *index[1:]), self.values.ndim)

    def has_mask_of(self, other: ChosenEntries) -> bool:
        """Whether the same bits choose both, and none was looked at."""
        if not (self.is_open and other.is_open):
            return False
        return self.mask is other.mask or self._read_key() == other._read_key()

    def _read_key(self) -> Any:
        """Equal for the same bits."""
        coins = self.mask.storage.coins()
        return object() if coins is None else coins.key

    def copied(self, order: Any) -> Any:
        return ChosenEntries(self.values, self.mask) if self.is_open else super().copied(order)

    def astype(self, dtype: np.dtype[Any]) -> Any:
        return self.calculate(lambda: self.values.astype(dtype))

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc is np.matmul:
            return self.answer_function(np.dot, inputs, {})
        made = self.calculate(ufunc, *inputs) if ufunc in _ENTRY_BY_ENTRY else NotImplemented
        return self.looked_at().answer_ufunc(ufunc, inputs) if made is NotImplemented else made

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
        if chosen is not None:
            return chosen.values if chosen.has_mask_of(self) else None
        constant = _read_constant(value)
        is_alike = constant is not None and constant.ndim < self.values.ndim
        return constant if is_alike else None

    def calculate(self, function: Any, *operands: Any) -> Any:
        """A function of each entry, or row; NotImplemented where it is not known, or may fail."""
        tables = [self._table_of(operand) for operand in operands]
        if not self.is_open or any(table is None for table in tables):
            return NotImplemented
        if not {*_ERRORS().values()} <= {"warn", "ignore"}:
            return NotImplemented
        try:
            with np.errstate(all="ignore"):
                values = function(*tables)
        except Exception:
            return NotImplemented
        if values.shape[:1] != self.values.shape[:1]:
            return NotImplemented
        return SymbolicArray(ChosenEntries(values, self.mask))

    def sum_up(self, values: NDArray[Any]) -> Any:
        """The sum of one number for each chosen entry, or of one row.

        NotImplemented where floats may round it.
        """
        kind: Any = np.float64 if values.dtype == np.float64 else np.int64
        if values.dtype.kind == "f" and (kind is not np.float64 or holds_negative_zero(values)):
            return NotImplemented
        there = np.flatnonzero(values if values.ndim == 1 else (values != 0).any(axis=1))
        if values.ndim == 1 and _are_whole(values):
            return np.dot(self.mask[there], values[there].astype(kind)) if len(there) else kind(0)
        if len(there) > _FEW or values.dtype == np.bool_:
            return NotImplemented
        bits = self.mask[there].concretise("a random selection") if len(there) else there > 0
        total = values[there][bits].sum(axis=0)
        if values.ndim == 1:
            return total
        return make_array(self.branching, fill_array([*total], total.shape, object), total.dtype)


def choose_entries(values: NDArray[Any], index: Any) -> SymbolicArray | None:
    """``values[index]`` where ``index`` are random bits or their places; None for all else."""
    mask = read_mask(index)
    if mask is None or values.ndim not in (1, _ROWS) or values.dtype.kind not in "bif":
        return None
    if mask.shape != values.shape[:1]:
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


def _sum(chosen: ChosenEntries, axis: Any = None, *, keepdims: Any = None, **options: Any) -> Any:
    """Over the chosen, or within each of them."""
    given = any(one is not None and one is not np._NoValue for one in options.values())
    values, keeps = chosen.values, keepdims is True
    if given or (keepdims not in (None, np._NoValue, True, False)):
        return NotImplemented
    if axis in (1, -1) and values.ndim == _ROWS and values.shape[1] <= _NARROW:
        return chosen.calculate(lambda: values.sum(axis=1, keepdims=keeps))
    is_over = axis == 0 or (axis is None and values.ndim == 1)
    return chosen.sum_up(values) if is_over and not keeps else NotImplemented


def _read_constant(value: Any) -> NDArray[Any] | None:
    """A plain array of numbers, whether it has room for symbolic ones or not; None for all else."""
    constant = value if type(value) is np.ndarray else read_constant(value)
    return constant if constant is not None and constant.dtype.kind in "bif" else None


def _count_nonzero(chosen: ChosenEntries, *arguments: Any, **options: Any) -> Any:
    if arguments or options or chosen.values.ndim > 1:
        return NotImplemented
    return chosen.sum_up(chosen.values != 0)


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


def _clip(chosen: ChosenEntries, *bounds: Any, **options: Any) -> Any:
    given = {name: one for name, one in options.items() if one is not np._NoValue}
    low = bounds[0] if bounds else given.pop("a_min", given.pop("min", None))
    high = bounds[1] if len(bounds) > 1 else given.pop("a_max", given.pop("max", None))
    if given or len(bounds) > 2 or low is None or high is None:
        return NotImplemented
    return chosen.calculate(partial(_CLIP, chosen.values), low, high)


def _norm(chosen: ChosenEntries, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    values = chosen.values
    if values.ndim != _ROWS or axis not in (1, -1) or values.shape[1] > _NARROW:
        return NotImplemented
    if ord not in (None, 1, 2, np.inf) or type(keepdims) is not bool:
        return NotImplemented
    return chosen.calculate(lambda: _NORM(values, ord, 1, keepdims))


def _dot(chosen: ChosenEntries, vector: Any) -> Any:
    """Rows times a constant vector of zeros, of which no rounding depends on the way."""
    constant, values = _read_constant(vector), chosen.values
    if constant is None or constant.ndim != 1 or np.any(constant) or np.signbit(constant).any():
        return NotImplemented
    if values.ndim != _ROWS or len(constant) != values.shape[1]:
        return NotImplemented
    if not np.isfinite(values).all() or np.signbit(values).any():  # whose products may be -0.0
        return NotImplemented
    return chosen.calculate(lambda: np.repeat(0.0, len(values)))


_RULES: dict[Any, Any] = {
    **{np.sum: _sum, np.count_nonzero: _count_nonzero, np.bincount: _bincount},
    **{np.clip: _clip, np.linalg.norm: _norm, np.dot: _dot},
}
