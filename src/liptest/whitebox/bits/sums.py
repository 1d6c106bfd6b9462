"""Numbers that are functions of 0/1 variables: entries of arrays, and sums that nobody looked at.

Calculating with constants keeps them; two of them are added, subtracted and compared. Where the
code looks at one, one choice is made among its values, of which a comparison has two.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.whitebox.bits.formulas import COMPARISONS, Formula, combination, entry_of_two
from liptest.whitebox.bits.numbers import Step, token
from liptest.whitebox.bits.tables import Entries
from liptest.whitebox.bits.variables import Bits
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


_NAMES: dict[Any, str] = {
    function: name for name, pair in (_OPERATIONS | _ALONE).items() for function in pair
}


_CONSTANTS = (int, float, bool, np.integer, np.float64, np.float32, np.bool_)


_SHAPE = frozenset({"dtype", "shape", "ndim", "size", "itemsize", "nbytes"})


class BitSum(Duck):
    """See the module."""

    __slots__ = ("_bits", "_value", "formula")

    __hash__ = Duck.__hash__

    def __init__(self, bits: Bits, formula: Formula) -> None:
        self._tree = bits.tree
        self._bits = bits
        self.formula = formula
        # Once it is known; it stays, as an output may be kept.
        self._value: Any = None

    @property
    def _looks_like(self) -> type:  # type: ignore[override]
        return type(self.formula.example)

    def settled(self, use: str) -> Any:
        if self._value is None:
            formula = self.formula
            with np.errstate(all="ignore"):
                total = self._bits.decide(
                    formula.entries, formula.key, lambda one: token(formula.at(one))
                )
            self._value = formula.at(total)
        return self._value

    def entry(self) -> Entries | None:
        """As an entry of an array, with all that is known; None where it is none."""
        entry = self.formula.entry()
        return None if entry is None else self._bits.current(entry)

    def after(self, step: Step) -> Any:
        """What a step makes of the number: such a number again, or a plain one."""
        if self._value is not None:
            return step(self._value)
        made = self.formula.after(step)
        return step(self.settled("")) if made is None else BitSum(self._bits, made)

    def _with(self, name: str, function: Any, other: Any, swapped: bool) -> Any:
        """An operation with a constant or another such number; None with anything else."""
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
        if not self.formula.is_one_entry and not _has_ends(name, other, swapped):
            return step(self.settled(""))
        folded = self.formula.folded(name, step) if self._value is None else None
        return self.after(step) if folded is None else BitSum(self._bits, folded)

    def __bool__(self) -> bool:
        found = self.after(Step(operator.truth))
        return bool(found.settled("bool()") if issubclass(type(found), Duck) else found)

    def __getitem__(self, index: Any) -> Any:
        return self.settled("an index")[index]

    def __iter__(self) -> Any:
        return iter(self.settled("iteration"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.settled("numpy.array()"), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options:
            if any(np.ndim(one) for one in inputs if type(one) is not BitSum):
                # Arrays of entries need the numbers, the numbers need arrays only here.
                from liptest.whitebox.bits.arrays import entrywise

                return entrywise(self._bits, ufunc, inputs)
            found = self._ufunc(ufunc, inputs)
            if found is not None:
                return found
        plain = settled_in(inputs, ufunc.__name__)
        return getattr(ufunc, method)(*plain, **options)

    def _ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        name = _NAMES.get(ufunc, "")
        if len(inputs) == 1:
            return self.after(Step(ufunc)) if name or self.formula.is_one_entry else None
        if len(inputs) != 2:
            return None
        swapped = inputs[1] is self and inputs[0] is not self
        return self._with(name, ufunc, inputs[0] if swapped else inputs[1], swapped)

    def __getattr__(self, name: str) -> Any:
        if name in _SHAPE:
            return getattr(self.formula.example, name)
        return Duck.__getattr__(self, name)


def _has_ends(name: str, constant: Any, swapped: bool) -> bool:
    """Whether an operation with a constant grows or falls with the number, without a gap."""
    if name in ("truediv", "floordiv") and (swapped or not constant):
        return False
    return bool(name) and math.isfinite(constant)


def number_of(bits: Bits, entry: Entries) -> Any:
    """One entry of an array, of no dimensions, as a number: a plain one where nothing is random."""
    return BitSum(bits, Formula.of_entry(entry)) if entry.count else entry.table[0]


def _of_two(name: str, function: Any, left: BitSum, right: BitSum) -> Any:
    """An operation on two such numbers as one; None where it is none."""
    entries = left.entry(), right.entry()
    if entries[0] is not None and entries[1] is not None:
        found = entry_of_two(name, function, entries[0], entries[1])
        if found is not None:
            return number_of(left._bits, found)
    if name not in ("add", "sub", *COMPARISONS):
        return None
    formula = combination(name, function, left.formula, right.formula)
    return None if formula is None else BitSum(left._bits, formula)


def _operator(name: str, swapped: bool) -> Callable[[BitSum, Any], Any]:
    function, ufunc = _OPERATIONS[name]

    def method(self: BitSum, other: Any) -> Any:
        found = self._with(name, function, other, swapped)
        if found is not None:
            return found
        if isinstance(other, np.ndarray):
            return ufunc(other, self) if swapped else ufunc(self, other)
        plain = self.settled(name)
        return function(other, plain) if swapped else function(plain, other)

    return method


def _looking(function: Callable[..., Any], swapped: bool) -> Callable[[BitSum, Any], Any]:
    def method(self: BitSum, other: Any) -> Any:
        plain, other = self.settled(""), settled_in(other, "")
        return function(other, plain) if swapped else function(plain, other)

    return method


def _sign(name: str) -> Callable[[BitSum], Any]:
    return lambda self: self.after(Step(_ALONE[name][0]))


for _name in _OPERATIONS:
    setattr(BitSum, f"__{_name}__", _operator(_name, swapped=False))
    if _name not in COMPARISONS:
        setattr(BitSum, f"__r{_name}__", _operator(_name, swapped=True))


for _name in ("mod", "pow", "divmod", "lshift", "rshift", "matmul"):
    _function = divmod if _name == "divmod" else getattr(operator, _name)
    setattr(BitSum, f"__{_name}__", _looking(_function, swapped=False))
    setattr(BitSum, f"__r{_name}__", _looking(_function, swapped=True))


for _name in _ALONE:
    setattr(BitSum, f"__{_name}__", _sign(_name))
