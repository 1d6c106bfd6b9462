"""A number as a function of a sum of rows of 0/1 variables, and what is calculated from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from liptest.whitebox.bits.numbers import MOST, Listed, Scaled, Step, fits, token, whole_numbers
from liptest.whitebox.bits.rows import joined_entries
from liptest.whitebox.bits.tables import Entries, combined

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


_WIDE = (np.int64, np.int32)


# What a step may fail with where it warns or is refused.
_FAILURES = (ArithmeticError, TypeError, ValueError, Warning)


@dataclass(frozen=True, eq=False)
class Formula:
    """``steps`` after ``base`` of the sum of ``entries``, whole numbers in one line."""

    entries: Entries
    base: Scaled | Listed
    steps: tuple[Step, ...] = ()

    @classmethod
    def of_entry(cls, entry: Entries) -> Formula:
        """An entry of an array, of no dimensions, that depends on some variables."""
        numbers: dict[Hashable, int] = {}
        places = [numbers.setdefault(token(value), len(numbers)) for value in entry.table]
        kept = [places.index(number) for number in range(len(numbers))]
        row = Entries(entry.variables[None], np.array([places], dtype=np.int64))
        return cls(row, Listed.of(entry.table[kept]))

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

    @property
    def example(self) -> Any:
        """One of the values."""
        return self.at(self.ends[0])

    @property
    def is_one_entry(self) -> bool:
        """Whether it is a function of few variables."""
        return len(self.entries.table) == 1

    def after(self, step: Step) -> Formula | None:
        """With one more step; None where that fails or warns for some total.

        Of a sum only for steps that grow or fall, or have few values: its ends tell.
        """
        made = replace(self, steps=(*self.steps, step))
        totals = self.entries.table[0].tolist() if self.is_one_entry else self.ends
        try:
            with np.errstate(all="raise", under="ignore"):
                found = [made.at(total) for total in totals]
        except _FAILURES:
            return None
        return made if all(isinstance(one, (int, float, np.generic)) for one in found) else None

    def entry(self) -> Entries | None:
        """As an entry of an array; None where it is more, or a Python number."""
        if not self.is_one_entry:
            return None
        values = [self.at(total) for total in self.entries.table[0].tolist()]
        if not all(isinstance(value, np.generic) for value in values):
            return None
        return Entries(self.entries.variables[0], np.array(values))

    def linear(self) -> tuple[Entries, Scaled] | None:
        """As a multiple of a sum; None where it is none."""
        if isinstance(self.base, Scaled) and not self.steps:
            return self.entries, self.base
        entry = self.entry()
        found = None if entry is None else whole_numbers(entry.table)
        if entry is None or found is None:
            return None
        whole, shift = found
        return Entries(entry.variables[None], whole[None]), Scaled(entry.table.dtype.type, shift)

    def folded(self, name: str, step: Step) -> Formula | None:
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
    name: str, function: Callable[..., Any], left: Entries, right: Entries
) -> Entries | None:
    """An operation on two entries of no dimensions; None where it is none of few variables."""
    if name in ("add", "sub", "mul") or not name:
        # Where a number overflows, NumPy warns, but not in arrays.
        whole = [one.table for one in (left, right) if one.table.dtype.kind in "iu"]
        if any(one.dtype not in _WIDE or (np.abs(one) >> 15).any() for one in whole):
            return None
    return combined(function, (left, right))


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
        lines.append(Entries(entries.variables, entries.table * factor))
    joined = joined_entries(lines)
    if name in COMPARISONS:
        base = Scaled(np.int64 if kind is np.bool_ else int, 0, 1, offset)
        return Formula(joined, base, (Step.of(function, 0, False),))
    if not fits(kind, *ends):
        return None
    return Formula(joined, Scaled(kind, shift, 1, offset))
