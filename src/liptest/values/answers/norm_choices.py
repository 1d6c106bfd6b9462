"""``np.where(norms > c, c / norms, 1.0)``, and ``if norm > c: row = row * (c / norm)`` in a loop.

Where a norm is compared with a constant, either side knows something: above it the quotient is at
most 1, and below it the row itself is short (docs/theory/tables.md, B7). Which records are on which
side is not asked.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liptest.values.array import SymbolicArray
from liptest.values.reals.real_column import RealColumn
from liptest.values.reals.real_norms import SLACK, Ball, OfNorm, Operand

# Where the norm is smaller nothing is said; twice what is left of such a number.
_TINY = Fraction(2, 1 << 500)
_MOST = 1e100


class NormTest(NamedTuple):
    """Of a number v of each record that grows with a norm: whether v > ``bound``, or v >= it."""

    column: RealColumn
    bound: float

    @property
    def known(self) -> OfNorm:
        """What is known of v."""
        assert self.column.norm is not None
        return self.column.norm

    @property
    def longest(self) -> Fraction:
        """The largest norm of a record that is not above the bound."""
        least = self.known.least
        assert least is not None
        return Fraction(self.bound) / least * (1 + SLACK) + _TINY

    def above(self, value: Any) -> Any:
        """A quotient by v, where v is above the bound: by the larger one of both."""
        if type(value) is not SymbolicArray or type(value.storage) is not RealColumn:
            return value
        recipe = value.storage.recipe
        if (
            self.bound
            and recipe[0] is np.divide
            and recipe[1][0] == "number"
            and recipe[2] == self.column.recipe
        ):
            return np.divide(recipe[1][2], np.maximum(SymbolicArray(self.column), self.bound))
        return value


def norm_test(column: RealColumn, bound: Any) -> NormTest | None:
    """Such a test, if a column grows with a norm, and the bound is a constant >= 0."""
    norm = column.norm
    if norm is None or norm.power != 1 or not norm.least:
        return None
    return NormTest(column, float(bound)) if 0 <= bound < _MOST else None


def choose_by_norm(test: NormTest, above: Any, other: Any) -> SymbolicArray:
    """``np.where(v > bound, above, other)``."""
    column = test.column
    left, right = (column.part_of(one, "numpy.where") for one in (test.above(above), other))
    first, second = left.operand(), right.operand()
    ball = _joint_ball(test, first, second)
    low, high = np.minimum(left.low, right.low), np.maximum(left.high, right.high)
    if ball is not None:  # the row is short where it is left as it is
        radius = float(ball.radius) * (1 + 2.0**-50)
        low = np.minimum(left.low, np.maximum(right.low, -radius))
        high = np.maximum(left.high, np.minimum(right.high, radius))
    truth = np.greater, column.recipe, ("number", float, test.bound)
    recipe = np.where, truth, left.recipe, right.recipe
    ends = column._of_all_cells((low, high))
    return column.like(ends, recipe, _joint_factor(test, first, second), ball)


def _joint_factor(test: NormTest, above: Operand, other: Operand) -> OfNorm | None:
    """A factor that keeps the row short on either side."""
    constant, known = other.constant, above.norm
    if known is None or known.most is None or known.norm != test.known.norm or known.power != 1:
        return None
    if constant is None or not 1 / _MOST <= constant <= _MOST:
        return None
    most = max(known.most, Fraction(constant) * test.longest)
    return replace(known, least=None, most=most)


def _joint_ball(test: NormTest, above: Operand, other: Operand) -> Ball | None:
    """A coordinate of the row, which is scaled above the bound and left as it is otherwise."""
    ball, norm = above.ball, test.known.norm
    if ball is None or ball.place != other.recipe or other.recipe not in norm.columns:
        return None
    if ball.exponent != norm.exponent:
        return None
    key = np.where, (test.column.recipe, test.bound), ball.key, norm
    return replace(ball, key=key, radius=max(ball.radius, test.longest))


RealColumn.norm_test = staticmethod(norm_test)
RealColumn.chosen_by_norm = staticmethod(choose_by_norm)
