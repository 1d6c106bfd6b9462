"""Numbers that are functions of 0/1 variables: entries of arrays, and sums that nobody looked at.

Such a number is a function of a sum of independent rows. Calculating with constants keeps it one;
two of them are added, subtracted and compared. Where the code looks at it, one choice is made
among its values, of which a comparison has two.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.whitebox.bit_numbers import MOST, Listed, Scaled, Step, fits, token, whole_numbers
from liptest.whitebox.bit_rows import joined_entries
from liptest.whitebox.bit_tables import Entries, combined
from liptest.whitebox.bits import Bits
from liptest.whitebox.ducks import Duck, settled_in

_OPERATIONS: dict[str, tuple[Callable[..., Any], Any]] = {
    "add": (operator.add, np.add),
    "sub": (operator.sub, np.subtract),
    "mul": (operator.mul, np.multiply),
    "truediv": (operator.truediv, np.true_divide),
    "floordiv": (operator.floordiv, np.floor_divide),
    "and": (operator.and_, np.bitwise_and),
    "or": (operator.or_, np.bitwise_or),
    "xor": (operator.xor, np.bitwise_xor),
    "lt": (operator.lt, np.less),
    "le": (operator.le, np.less_equal),
    "gt": (operator.gt, np.greater),
    "ge": (operator.ge, np.greater_equal),
    "eq": (operator.eq, np.equal),
    "ne": (operator.ne, np.not_equal),
}
_ALONE: dict[str, tuple[Callable[..., Any], Any]] = {
    "neg": (operator.neg, np.negative),
    "pos": (operator.pos, np.positive),
    "abs": (operator.abs, np.absolute),
    "invert": (operator.invert, np.invert),
}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_NAMES: dict[Any, str] = {
    function: name for name, pair in (_OPERATIONS | _ALONE).items() for function in pair
}
_CONSTANTS = (int, float, bool, np.integer, np.float64, np.float32, np.bool_)


class BitSum(Duck):
    """See the module. ``entries`` in one line, of whole numbers, are summed."""

    __slots__ = ("_base", "_bits", "_ends", "_entries", "_steps", "_value")

    __hash__ = Duck.__hash__

    def __init__(
        self, bits: Bits, entries: Entries, base: Scaled | Listed, steps: tuple[Step, ...] = ()
    ) -> None:
        self._tree = bits.tree
        self._bits = bits
        self._entries = entries
        self._base = base
        self._steps = steps
        self._value: Any = None
        self._ends: tuple[int, int] | None = None

    @property
    def _looks_like(self) -> type:  # type: ignore[override]
        return type(self._at(self._range[0]))

    @property
    def _range(self) -> tuple[int, int]:
        """Least and largest total."""
        if self._ends is None:
            table = self._entries.table
            self._ends = int(table.min(axis=1).sum()), int(table.max(axis=1).sum())
        return self._ends

    def _at(self, total: int) -> Any:
        value = self._base(total)
        for step in self._steps:
            value = step(value)
        return value

    def settled(self, use: str) -> Any:
        if self._value is None:
            with np.errstate(all="ignore"):
                total = self._bits.decide(
                    self._entries, (self._base, self._steps), lambda one: token(self._at(one))
                )
            self._value = self._at(total)
        return self._value

    @property
    def is_one_entry(self) -> bool:
        """Whether it is a function of few variables."""
        return len(self._entries.table) == 1

    def entry(self) -> Entries | None:
        """As an entry of an array of no dimensions; None where it is more, or a Python number."""
        if not self.is_one_entry:
            return None
        values = [self._at(total) for total in self._entries.table[0].tolist()]
        if not all(isinstance(value, np.generic) for value in values):
            return None
        return Entries(self._entries.variables[0], np.array(values))

    def _after(self, step: Step) -> Any:
        """A step that the number may be asked for later, or its value now."""
        if self._value is not None:
            return step(self._value)
        made = BitSum(self._bits, self._entries, self._base, (*self._steps, step))
        return made if made._is_safe() else step(self.settled(""))

    def _is_safe(self) -> bool:
        """Whether the last step neither fails nor warns, whatever the total."""
        totals = self._entries.table[0].tolist() if self.is_one_entry else self._range
        try:
            with np.errstate(all="raise", under="ignore"):
                found = [self._at(total) for total in totals]
        except (ArithmeticError, TypeError, ValueError, Warning):
            return False
        return all(isinstance(one, (bool, int, float, np.generic)) for one in found)

    def _calculated(self, name: str, function: Any, other: Any, swapped: bool) -> Any:
        """An operation with another such number or a constant; None with anything else."""
        if issubclass(type(other), BitSum):
            if self._value is None and other._value is None:
                pair = (other, self) if swapped else (self, other)
                found = _of_two(name, function, *pair)
                if found is not None:
                    return found
            other = other.settled("")
        if issubclass(type(other), Duck) or not isinstance(other, _CONSTANTS):
            return None
        step = Step.of(function, other, swapped)
        divides = name in ("truediv", "floordiv") and (swapped or not other)
        if not self.is_one_entry and (not name or divides):
            return step(self.settled(""))
        folded = _folded(self, name, step) if self._value is None else None
        return self._after(step) if folded is None else folded

    def linear(self) -> tuple[Entries, Scaled] | None:
        """As a multiple of a sum; None where it is none."""
        if isinstance(self._base, Scaled) and not self._steps:
            return self._entries, self._base
        entry = self.entry()
        found = None if entry is None else whole_numbers(entry.table)
        if entry is None or found is None:
            return None
        whole, shift = found
        return Entries(entry.variables[None], whole[None]), Scaled(entry.table.dtype.type, shift)

    def __bool__(self) -> bool:
        found = self._after(Step(operator.truth))
        return bool(found.settled("bool()") if issubclass(type(found), Duck) else found)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.settled("numpy.array()"), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options:
            if any(np.ndim(one) for one in inputs if not issubclass(type(one), BitSum)):
                # An array of these needs the numbers, the numbers need arrays only here.
                from liptest.whitebox.bit_arrays import entrywise

                return entrywise(self._bits, ufunc, inputs)
            found = self._alone(ufunc, inputs)
            if found is not None:
                return found
        plain = settled_in(inputs, ufunc.__name__)
        return getattr(ufunc, method)(*plain, **options)

    def _alone(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        name = _NAMES.get(ufunc, "")
        if len(inputs) == 1:
            return self._after(Step(ufunc)) if name or self.is_one_entry else None
        if len(inputs) != 2:
            return None
        swapped = inputs[1] is self and inputs[0] is not self
        return self._calculated(name, ufunc, inputs[0] if swapped else inputs[1], swapped)

    def __getattr__(self, name: str) -> Any:
        if name in _SHAPE:
            return getattr(self._at(self._range[0]), name)
        return Duck.__getattr__(self, name)


_SHAPE = frozenset({"dtype", "shape", "ndim", "size", "itemsize", "nbytes"})


def entry_of(bits: Bits, entries: Entries) -> Any:
    """One entry of an array, of no dimensions, as a number: a plain one where nothing is random."""
    if not entries.count:
        return entries.table[0]
    numbers: dict[Hashable, int] = {}
    places = [numbers.setdefault(token(value), len(numbers)) for value in entries.table]
    kept = [places.index(number) for number in range(len(numbers))]
    row = Entries(entries.variables[None], np.array([places], dtype=np.int64))
    return BitSum(bits, row, Listed.of(entries.table[kept]))


def _folded(number: BitSum, name: str, step: Step) -> BitSum | None:
    """A whole multiple of a sum after adding, subtracting or multiplying a whole number."""
    base, constant = number._base, step.constant
    whole = isinstance(constant, (int, np.integer))
    if not isinstance(base, Scaled) or number._steps or not whole or base.shift:
        return None
    constant = int(constant)
    if name == "mul":
        factor, offset = base.factor * constant, base.offset * constant
    elif name in ("add", "sub"):
        signs = (1, 1) if name == "add" else (-1, 1) if step.swapped else (1, -1)
        factor, offset = base.factor * signs[0], base.offset * signs[0] + constant * signs[1]
    else:
        return None
    least, most = number._range
    ends = sorted((offset + factor * least, offset + factor * most))
    try:
        with np.errstate(all="raise"):
            kinds = {type(step(number._at(total))) for total in (least, most)}
    except (ArithmeticError, TypeError, ValueError, Warning):
        return None
    (kind,) = kinds
    if not issubclass(kind, (int, np.integer)) or not fits(kind, *ends) or not factor:
        return None
    return BitSum(number._bits, number._entries, Scaled(kind, 0, factor, offset))


def _of_two(name: str, function: Any, left: BitSum, right: BitSum) -> Any:
    """An operation on two numbers as such a number; None where it is none."""
    found = _of_two_entries(name, function, left, right)
    if found is not None:
        return found
    if name not in ("add", "sub", *_COMPARISONS):
        return None
    kind = type(function(left._at(left._range[0]), right._at(right._range[0])))
    pair = left.linear(), right.linear()
    if pair[0] is None or pair[1] is None:
        return None
    return _combination(left._bits, name, function, kind, pair[0], pair[1])


def _of_two_entries(name: str, function: Any, left: BitSum, right: BitSum) -> Any:
    entries = left.entry(), right.entry()
    if entries[0] is None or entries[1] is None:
        return None
    if name in ("add", "sub", "mul") or not name:
        # Where a number overflows, NumPy warns, but not in arrays.
        exact = [whole_numbers(one.table) for one in entries if one.table.dtype.kind in "iu"]
        if any(one is None or (np.abs(one[0]) >= 1 << 6).any() for one in exact):
            return None
    bits = left._bits
    found = combined(function, tuple(bits.current(one) for one in entries))
    return None if found is None else entry_of(bits, found)


def _combination(
    bits: Bits,
    name: str,
    function: Any,
    kind: Any,
    left: tuple[Entries, Scaled],
    right: tuple[Entries, Scaled],
) -> BitSum | None:
    """The sum or the difference of two multiples of sums, or what it compares to 0."""
    compares = name in _COMPARISONS
    shift = max(left[1].shift, right[1].shift)
    lines, offset, least, most = [], 0, 0, 0
    for (entries, scaled), sign in ((left, 1), (right, 1 if name == "add" else -1)):
        factor = sign * scaled.factor << (shift - scaled.shift)
        offset += sign * scaled.offset << (shift - scaled.shift)
        ends = sorted(factor * int(f(entries.table, axis=1).sum()) for f in (np.min, np.max))
        if abs(factor) * int(np.abs(entries.table).max()) >= MOST:
            return None
        least, most = least + ends[0], most + ends[1]
        lines.append(Entries(entries.variables, entries.table * factor))
        own = (ends[0] + offset, ends[1] + offset)
        if compares and not fits(np.float64, *own):
            return None
    joined = joined_entries(lines)
    if compares:
        zero = Scaled(np.int64 if kind is np.bool_ else int, 0, 1, offset)
        return BitSum(bits, joined, zero, (Step.of(function, 0, False),))
    if not fits(kind, least + offset, most + offset):
        return None
    return BitSum(bits, joined, Scaled(kind, shift, 1, offset))


def _operator(name: str, swapped: bool) -> Callable[[BitSum, Any], Any]:
    function, ufunc = _OPERATIONS[name]

    def method(self: BitSum, other: Any) -> Any:
        found = self._calculated(name, function, other, swapped)
        if found is not None:
            return found
        if isinstance(other, np.ndarray):
            return ufunc(other, self) if swapped else ufunc(self, other)
        plain = self.settled(name)
        return function(other, plain) if swapped else function(plain, other)

    return method


def _sign(name: str) -> Callable[[BitSum], Any]:
    def method(self: BitSum) -> Any:
        return self._after(Step(_ALONE[name][0]))

    return method


for _name in _OPERATIONS:
    setattr(BitSum, f"__{_name}__", _operator(_name, swapped=False))
    if _name not in _COMPARISONS:
        setattr(BitSum, f"__r{_name}__", _operator(_name, swapped=True))
for _name in _ALONE:
    setattr(BitSum, f"__{_name}__", _sign(_name))
