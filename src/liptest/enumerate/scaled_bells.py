"""Normal noise whose scale the data determine: where one density exceeds the other.

The log of the ratio of two normal densities of different scales is a polynomial of degree 2 in the
number. So one of them exceeds a multiple of the other between two numbers, or outside of them.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from liptest.enumerate.bells import Bell, End
from liptest.errors import SymbolicError
from liptest.symbolic.elimination import to_fmpq


def scaled_excess(
    one: Bell, other: Bell, weight: arb, factor: arb
) -> tuple[arb, list[tuple[End, End]]]:
    """By how much ``weight`` times a normal law exceeds ``factor`` times another, and where.

    Both are whole, and their scales differ.
    """
    turns = _turns(one, other, weight, factor)
    if turns is None and one.scale < other.scale:
        return arb(0), []
    if turns is None:
        return (weight - factor).max(arb(0)), [(None, None)]
    low, high = turns
    inside = [bell.between(low, high) for bell in (one, other)]
    if one.scale > other.scale:
        inside = [bell.between(None, low) + bell.between(high, None) for bell in (one, other)]
    # Where it is not known whether there are turns the excess may be 0, and its ball holds 0.
    size = weight * inside[0] - factor * inside[1]
    ends = [Fraction(float(turn.mid())) for turn in (low, high)]
    where: list[tuple[End, End]] = [(ends[0], ends[1])]
    if one.scale > other.scale:
        where = [(None, ends[0]), (ends[1], None)]
    return size.max(arb(0)), where


def _turns(one: Bell, other: Bell, weight: arb, factor: arb) -> tuple[arb, arb] | None:
    """Where both densities are equal; None where the narrower one is the smaller one everywhere."""
    widths = [arb(to_fmpq(bell.scale)) for bell in (one, other)]
    centres = [arb(to_fmpq(bell.centre)) for bell in (one, other)]
    # The log of the ratio is square * x^2 + slope * x + level.
    halves = [1 / (2 * width * width) for width in widths]
    square = halves[1] - halves[0]
    slope = 2 * (centres[0] * halves[0] - centres[1] * halves[1])
    level = centres[1] ** 2 * halves[1] - centres[0] ** 2 * halves[0]
    level += (weight * widths[1] / (factor * widths[0])).log()
    inner = slope * slope - 4 * square * level
    if not inner.is_finite():
        raise SymbolicError("epsilon is too large for the divergence of two densities")
    if inner < 0:
        return None
    # A ball that holds 0: the turns are nearly one, and the root is at most that of its upper end.
    root = inner.sqrt() if inner > 0 else _from_zero(inner.upper().sqrt())
    found = [(-slope - root) / (2 * square), (-slope + root) / (2 * square)]
    return (found[0], found[1]) if square > 0 else (found[1], found[0])


def _from_zero(end: arb) -> arb:
    return arb(0).union(end)
