"""Numbers that are functions of a sum of Bernoulli variables, and what is calculated from them.

A number is some steps after a base: a whole number times a power of two, or a place in a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.binary.sum_rows import join_tables
from liptest.values.binary.truth_tables import TruthTables, combine_entries

#: Whole numbers that are summed stay below this.
MOST = 1 << 62


def token(value: Any) -> Hashable:
    """Equal for values that no program can tell apart."""
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    return type(value), value.hex() if isinstance(value, float) else value


@dataclass(frozen=True)
class AppliedFunction:
    """A function of a number, and of a constant with it."""

    function: Callable[..., Any]
    constant: Any = field(default=None, compare=False)
    swapped: bool = False
    known_by: Hashable = None

    @classmethod
    def of(cls, function: Callable[..., Any], constant: Any, swapped: bool) -> AppliedFunction:
        """With a constant, on the left where it is swapped."""
        return cls(function, constant, swapped, token(constant))

    def __call__(self, value: Any) -> Any:
        if self.known_by is None:
            return self.function(value)
        if self.swapped:
            return self.function(self.constant, value)
        return self.function(value, self.constant)


@dataclass(frozen=True)
class Scaled:
    """The value ``kind((offset + factor * total) * 2**-shift)``, exactly."""

    kind: type
    shift: int = 0
    factor: int = 1
    offset: int = 0

    def __call__(self, total: int) -> Any:
        number = self.offset + self.factor * total
        return self.kind(math.ldexp(number, -self.shift) if self.shift else number)


@dataclass(frozen=True)
class ListEntry:
    """The value in a list."""

    values: tuple[Any, ...] = field(compare=False)
    known_by: Hashable

    @classmethod
    def of(cls, values: NDArray[Any]) -> ListEntry:
        """From an array."""
        return cls(tuple(values), (values.dtype.str, values.tobytes()))

    def __call__(self, total: int) -> Any:
        return self.values[total]


def whole_numbers(table: NDArray[Any]) -> tuple[NDArray[np.int64], int] | None:
    """Numbers as whole ones and a power of two that divides them; None where there is none."""
    if table.dtype.kind in "biu":
        if table.dtype == np.uint64 and table.size and int(table.max()) >= MOST:
            return None
        return table.astype(np.int64), 0
    if table.dtype not in (np.float64, np.float32) or not np.isfinite(table).all():
        return None
    if (np.signbit(table) & (table == 0)).any():
        return None
    fractions, exponents = np.frexp(table.astype(np.float64))
    used = np.where(table == 0, 0, 53 - exponents)
    shift = max(0, int(used.max(initial=0)))
    # The last of 53 digits that is not 0, over all of them.
    digits = (np.abs(fractions) * 2.0**53).astype(np.int64)
    zeros = np.array([(d & -d).bit_length() - 1 if d else 53 for d in digits.ravel().tolist()])
    needed = np.where(digits.ravel() == 0, 0, used.ravel() - zeros)
    shift = max(0, int(needed.max(initial=0)))
    scaled = np.ldexp(table.astype(np.float64), shift)
    if shift > 1000 or not (np.abs(scaled) < 2.0**53).all():
        return None
    return scaled.astype(np.int64), shift


def fits(kind: Any, least: int, most: int) -> bool:
    """Whether whole numbers up to these, in absolute value too, are exact in a type."""
    if kind is int:
        return True
    if issubclass(kind, np.integer):
        limits = np.iinfo(kind)
        return limits.min <= least and most <= limits.max and max(-least, most) < MOST
    if kind in (float, np.float64, np.float32):
        return max(-least, most) <= 1 << (24 if kind is np.float32 else 53)
    return False


COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_WIDE = (np.int64, np.int32)
# What a step may fail with where it warns or is refused.
_FAILURES = (ArithmeticError, TypeError, ValueError, Warning)


@dataclass(frozen=True, eq=False)
class Formula:
    """``steps`` after ``base`` of the sum of ``entries``, whole numbers in one line."""

    entries: TruthTables
    base: Scaled | ListEntry
    steps: tuple[AppliedFunction, ...] = ()

    @classmethod
    def of_entry(cls, entry: TruthTables) -> Formula:
        """An entry of an array, of no dimensions, that depends on some variables."""
        numbers: dict[Hashable, int] = {}
        places = [numbers.setdefault(token(value), len(numbers)) for value in entry.table]
        kept = [places.index(number) for number in range(len(numbers))]
        row = TruthTables(entry.variables[None], np.array([places], dtype=np.int64))
        return cls(row, ListEntry.of(entry.table[kept]))

    @property
    def key(self) -> Hashable:
        """Equal for equal functions of the sum."""
        return self.base, self.steps

    @cached_property
    def ends(self) -> tuple[int, int]:
        """Least and largest total."""
        table = self.entries.table
        return int(table.min(axis=1).sum()), int(table.max(axis=1).sum())

    def at(self, total: int) -> Any:
        """The number where the sum is this."""
        value = self.base(total)
        for step in self.steps:
            value = step(value)
        return value

    @cached_property
    def example(self) -> Any:
        """One of the values."""
        return self.at(self.ends[0])

    @property
    def is_one_entry(self) -> bool:
        """Whether it is a function of few variables."""
        return len(self.entries.table) == 1

    def after(self, step: AppliedFunction) -> Formula | None:
        """With one more step; None where that fails or warns for some total.

        Of a sum only for steps that grow or fall, or have few values: its ends tell.
        """
        made = replace(self, steps=(*self.steps, step))
        totals = self.entries.table[0].tolist() if self.is_one_entry else self.ends
        try:
            with np.errstate(all="raise", under="ignore"):
                values = [made.at(total) for total in totals]
        except _FAILURES:
            return None
        return (
            made if all(isinstance(value, (int, float, np.generic)) for value in values) else None
        )

    def entry(self) -> TruthTables | None:
        """As an entry of an array; None where it is more, or a Python number."""
        if not self.is_one_entry:
            return None
        values = [self.at(total) for total in self.entries.table[0].tolist()]
        if not all(isinstance(value, np.generic) for value in values):
            return None
        return TruthTables(self.entries.variables[0], np.array(values))

    def linear(self) -> tuple[TruthTables, Scaled] | None:
        """As a multiple of a sum; None where it is none."""
        if isinstance(self.base, Scaled) and not self.steps:
            return self.entries, self.base
        entry = self.entry()
        numbers = None if entry is None else whole_numbers(entry.table)
        if entry is None or numbers is None:
            return None
        whole, shift = numbers
        return TruthTables(entry.variables[None], whole[None]), Scaled(
            entry.table.dtype.type, shift
        )

    def folded(self, name: str, step: AppliedFunction) -> Formula | None:
        """A whole multiple after adding, subtracting or multiplying a whole number, as one."""
        base, constant = self.base, step.constant
        whole = isinstance(constant, (int, np.integer))
        if not isinstance(base, Scaled) or self.steps or not whole or base.shift:
            return None
        line = _line(base, name, int(constant), step.swapped)
        made = self.after(step)
        if line is None or made is None or not line[0]:
            return None
        kind = type(made.example)
        ends = sorted(line[1] + line[0] * total for total in self.ends)
        if not issubclass(kind, (int, np.integer)) or not fits(kind, ends[0], ends[1]):
            return None
        return Formula(self.entries, Scaled(kind, 0, *line))


def _line(base: Scaled, name: str, constant: int, swapped: bool) -> tuple[int, int] | None:
    """Factor and offset after an operation with a constant."""
    factor, offset = base.factor, base.offset
    if name == "mul":
        return factor * constant, offset * constant
    if name == "add":
        return factor, offset + constant
    if name == "sub":
        return (-factor, constant - offset) if swapped else (factor, offset - constant)
    return None


def entry_of_two(
    name: str, function: Callable[..., Any], left: TruthTables, right: TruthTables
) -> TruthTables | None:
    """An operation on two entries of no dimensions; None where it has many variables."""
    if name in ("add", "sub", "mul") or not name:
        # Where a number overflows, NumPy warns, but not in arrays.
        whole = [tables.table for tables in (left, right) if tables.table.dtype.kind in "iu"]
        if any(table.dtype not in _WIDE or (np.abs(table) >> 15).any() for table in whole):
            return None
    return combine_entries(function, (left, right))


def combination(
    name: str, function: Callable[..., Any], left: Formula, right: Formula
) -> Formula | None:
    """The sum or the difference of two multiples of sums, or what it compares to 0."""
    pair = left.linear(), right.linear()
    if pair[0] is None or pair[1] is None:
        return None
    kind = type(function(left.example, right.example))
    shift = max(pair[0][1].shift, pair[1][1].shift)
    lines, offset, ends = [], 0, [0, 0]
    signs = 1, 1 if name == "add" else -1
    for (entries, scaled), sign in zip((pair[0], pair[1]), signs, strict=True):
        factor = sign * scaled.factor << (shift - scaled.shift)
        own = [int(table.sum()) for table in (entries.table.min(1), entries.table.max(1))]
        own = sorted((sign * scaled.offset << (shift - scaled.shift)) + factor * e for e in own)
        if abs(factor) * int(np.abs(entries.table).max()) >= MOST or not fits(float, *own):
            return None
        offset += sign * scaled.offset << (shift - scaled.shift)
        ends = [ends[0] + own[0], ends[1] + own[1]]
        lines.append(TruthTables(entries.variables, entries.table * factor))
    joined = join_tables(lines)
    if name in COMPARISONS:
        base = Scaled(np.int64 if kind is np.bool_ else int, 0, 1, offset)
        return Formula(joined, base, (AppliedFunction.of(function, 0, False),))
    if not fits(kind, *ends):
        return None
    return Formula(joined, Scaled(kind, shift, 1, offset))


def has_ends(name: str, constant: Any, swapped: bool) -> bool:
    """Whether an operation with a constant grows or falls with the number, without a gap."""
    if name in ("truediv", "floordiv") and (swapped or not constant):
        return False
    return bool(name) and math.isfinite(constant)
