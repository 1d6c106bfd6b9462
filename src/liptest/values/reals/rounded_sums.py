"""How far floats may take a sum over the records, and two such sums from each other.

Bounds of the rounding of sums in any order, of those that NumPy adds pairwise, and of sums that are
added in one order which is the same for both tables (docs/theory/tables.md, B6 and B12;
Higham, 2002, chapter 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]
#: Half a step at 1, by the type of the sum.
_UNITS = {np.dtype(np.float64): Fraction(1, 1 << 53), np.dtype(np.float32): Fraction(1, 1 << 24)}
# What a float of a row may be off by, relatively, where NumPy's order of summing is not known.
_OFF = 2.0**-47
# NumPy adds up blocks of 128 numbers in 8 lines, and then these in pairs.
_BLOCK = 24
# What the records below all additions on a way through a block are together.
_ALONG_BLOCK = 1_300
_ZERO = Fraction(0)


@dataclass(frozen=True)
class Rounding:
    """``between``: how far two sums are taken from each other, ``single``: one from what is exact.

    ``words`` tell sums of one table from each other that are rounded in different ways.
    """

    between: Fraction = _ZERO
    single: Fraction = _ZERO
    words: str = ""

    @property
    def offset(self) -> Fraction:
        """How far one sum is taken, where that is more than half of what two are."""
        return self.single if self.words or 2 * self.single > self.between else _ZERO


NO_ROUNDING = Rounding()


def least_and_most(table: Table) -> tuple[Any, Any]:
    """The smallest and the largest entry."""
    return table.min().item(), table.max().item()


def is_exact(table: Table, records: int, digits: int = 53) -> bool:
    """Whether all entries are multiples of one power of 2, of which n of them are floats."""
    largest = max(abs(end) for end in least_and_most(table))
    denominators = [Fraction(number).denominator for number in table.tolist()]
    return Fraction(largest) * records * max(denominators) <= 1 << digits


#: What such words begin with.
ROUNDING = "the rounding of float sums"


def rounding_in_words(margins: dict[int, Fraction]) -> str:
    """How far the rounding of float sums may take an answer; empty where it may not."""
    margin = max(margins.values(), default=_ZERO)
    return f"{ROUNDING}, up to {float(margin):.3g}" if margin else ""


def find_margin(
    table: Table, records: int, *, is_off: bool, in_pairs: bool, is_fixed: bool = False
) -> Fraction:
    """How far floats may take two sums over n records from each other (docs/theory/size.md, S8).

    0 where all partial sums are floats. ``in_pairs`` is whether NumPy adds them pairwise, as it
    does along one line; ``is_fixed`` whether in one order, which is the same for both tables.
    """
    largest = Fraction(max(abs(end) for end in least_and_most(table)))
    margin = _ZERO
    if is_off:
        margin += 2 * records * Fraction(_OFF) * largest
    if not is_exact(table, records):
        dtype = np.dtype(np.float64)
        between = 2 * _single(largest, records, dtype, in_pairs=in_pairs)
        if is_fixed and not is_off:
            along = _along(largest, records, dtype, in_pairs=in_pairs)
            between = min(between, along)
        margin += between
    return margin


def _along(
    largest: Fraction, records: int, dtype: np.dtype[Any], *, in_pairs: bool, is_mean: bool = False
) -> Fraction:
    """By what is lost on the way from one record to the sum (docs/theory/tables.md, B12)."""
    along = records * (records + 1) // 2 + records
    if in_pairs:
        along = min(along, 3 * records + 16 * records.bit_length() + _ALONG_BLOCK)
    grown = _UNITS[dtype] / (1 - _steps(records + 1, dtype, in_pairs=in_pairs))
    return 2 * grown * (along + is_mean * records) * largest


def column_rounding(
    table: Table, records: int, *, is_off: bool, in_pairs: bool, is_fixed: bool
) -> Rounding:
    """Of the sum of a column, in its own type; ``is_fixed`` is whether its order is public."""
    if table.dtype == np.float64:
        in_any_order = find_margin(table, records, is_off=is_off, in_pairs=in_pairs)
        is_fixed = is_fixed and in_pairs  # else it may be a product, in an order that may vary
        margin = find_margin(table, records, is_off=is_off, in_pairs=in_pairs, is_fixed=is_fixed)
        return Rounding(margin, in_any_order / 2)
    if is_exact(table, records, 24):
        return NO_ROUNDING
    largest = Fraction(max(abs(end) for end in least_and_most(table)))
    return single_rounding(largest, records, in_pairs=in_pairs, is_fixed=is_fixed)


def share_of_rounding(table: Table, records: int, every: int) -> Rounding:
    """Of what some records add to a sum over ``every`` record, in any order.

    The sum is not further off than the shares of all its parts together: half a step for each
    addition, of the sizes of what is added up (docs/theory/size.md, S8).
    """
    largest = Fraction(max(abs(end) for end in least_and_most(table)))
    single = _single(largest, every, np.dtype(np.float64), in_pairs=False) * Fraction(
        records, every
    )
    return Rounding(2 * single, single)


def single_rounding(
    largest: Fraction, records: int, *, in_pairs: bool, is_fixed: bool, is_mean: bool = False
) -> Rounding:
    """Of sums of 32 bits, of a mean times n; the smaller of both bounds (B12)."""
    dtype = np.dtype(np.float32)
    single = _single(largest, records + is_mean, dtype, in_pairs=in_pairs)
    between = 2 * single
    if is_fixed:
        along = _along(largest, records, dtype, in_pairs=in_pairs, is_mean=is_mean)
        between = min(between, along)
    return Rounding(between, single, "in 32 bits")


def _single(largest: Fraction, records: int, dtype: np.dtype[Any], *, in_pairs: bool) -> Fraction:
    steps = _steps(records, dtype, in_pairs=in_pairs)
    return steps / (1 - steps) * records * largest


def _steps(records: int, dtype: np.dtype[Any], *, in_pairs: bool) -> Fraction:
    """Half a step at 1 for each addition on a way through the sum."""
    deep = min(records, records.bit_length() + _BLOCK) if in_pairs else records
    return deep * _UNITS[dtype]
