"""Constraints that go around in cycles: what others imply is left out, the rest is split.

Where a variable is in several forms, one of its lower bounds is the largest and one of its upper
bounds the smallest: the cases are apart from each other and each is a constraint on the other
variables. Between the two bounds the probability is the difference of those below each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flint import fmpq

from liptest.errors import UnsupportedForm
from liptest.symbolic.inequalities import Rows, Stage, added, eliminated
from liptest.symbolic.plans import Key

Range = tuple[Any, Any]
Bounded = dict[Key, Range]


def rows_of(ranges: Bounded, supports: dict[int, Range], whole: bool) -> Rows:
    """All inequalities."""
    rows: Rows = {}
    every = [(((one, fmpq(1)),), ends) for one, ends in supports.items()]
    for form, (low, high) in [*every, *ranges.items()]:
        factors = _factors(form)
        if high is not None:
            added(rows, factors, high, whole)
        if low is not None:
            added(rows, {one: -factor for one, factor in factors.items()}, -low, whole)
    return rows


def _factors(form: Any) -> dict[int, Any]:
    return {one: fmpq(f.numerator, f.denominator) for one, f in form}


def stages_of(ranges: Bounded, supports: dict[int, Range], whole: bool) -> list[Stage] | None:
    """The elimination of all variables; None where the constraints cannot hold."""
    return eliminated(rows_of(ranges, supports, whole), whole)


def without_implied(ranges: Bounded, supports: dict[int, Range], whole: bool) -> Bounded:
    """The same points with fewer bounds."""
    left = dict(ranges)
    for form in sorted(ranges, key=len, reverse=True):
        for side in (0, 1):
            end = left[form][side]
            if end is None:
                continue
            others = {**left, form: _with(left[form], side, None)}
            step = 1 if whole else 0
            opposite = (None, end - step) if side == 0 else (end + step, None)
            known = others[form]
            if stages_of({**others, form: _meet(known, opposite)}, supports, whole) is None:
                left = others
    return {form: ends for form, ends in left.items() if ends != (None, None)}


def _with(ends: Range, side: int, value: Any) -> Range:
    return (value, ends[1]) if side == 0 else (ends[0], value)


def _meet(left: Range, right: Range) -> Range:
    """One of the two has each end."""
    low, high = (a if b is None else b for a, b in zip(left, right, strict=True))
    return low, high


def check_differences(ranges: Bounded) -> None:
    """Over the integers only differences are sure to have whole solutions."""
    if any(len(form) > 1 and sorted(f for _, f in form) != [-1, 1] for form in ranges):
        raise UnsupportedForm(
            "several sums of the same discrete variables, not all of them differences, are compared"
        )


class Bound(NamedTuple):
    """factors . others + constant bounds a variable; ``form`` and ``side`` are where it is from."""

    form: Key
    side: int
    factors: dict[int, Any]
    constant: Any


def cases(
    ranges: Bounded, whole: bool
) -> list[tuple[int, list[tuple[dict[int, Any], Any]], Bounded]]:
    """(sign, further inequalities sum < or <= bound, ranges) with one variable less in a cycle."""
    variable = _simplest(ranges)
    lower, upper = _bounds(ranges, variable)
    found = []
    for low in _or_none(lower):
        for high in _or_none(upper):
            further = _largest(low, lower, whole) + _smallest(high, upper, whole)
            kept = _kept(ranges, variable, low, high)
            if low is None or high is None or low.form == high.form:
                found.append((1, further, kept))
                continue
            apart = _difference(low, high)
            further = [*further, apart]
            without_low = {**kept, low.form: _with(kept[low.form], low.side, None)}
            found.append((1, further, without_low))
            # Below the lower bound: its opposite in place of both.
            swapped = {**kept, high.form: _with(kept[high.form], high.side, None)}
            end = kept[low.form][low.side]
            step = (-1 if low.side == 0 else 1) if whole else 0
            swapped[low.form] = _with((None, None), 1 - low.side, end + step)
            found.append((-1, further, swapped))
    return found


def _or_none(bounds: list[Bound]) -> Sequence[Bound | None]:
    return bounds if bounds else (None,)


def _simplest(ranges: Bounded) -> int:
    counts: dict[int, int] = {}
    for form in ranges:
        for one, _ in form if len(form) > 1 else ():
            counts[one] = counts.get(one, 0) + 1
    return min((one for one in counts if counts[one] > 1), key=lambda one: (counts[one], one))


def _bounds(ranges: Bounded, variable: int) -> tuple[list[Bound], list[Bound]]:
    sides: tuple[list[Bound], list[Bound]] = ([], [])
    for form, ends in ranges.items():
        factors = _factors(form)
        own = factors.pop(variable, None)
        if own is None or len(form) == 1:
            continue
        rest = {one: -factor / own for one, factor in factors.items()}
        for side, end in enumerate(ends):
            if end is not None:
                sides[side if own > 0 else 1 - side].append(Bound(form, side, rest, end / own))
    return sides


def _difference(low: Bound, high: Bound) -> tuple[dict[int, Any], Any]:
    """low - high as factors, and what it must be at most for low <= high."""
    factors = dict(low.factors)
    for one, factor in high.factors.items():
        factors[one] = factors.get(one, fmpq(0)) - factor
    return factors, high.constant - low.constant


def _largest(low: Bound | None, every: list[Bound], whole: bool) -> Any:
    return _ordered(low, every, whole, largest=True)


def _smallest(high: Bound | None, every: list[Bound], whole: bool) -> Any:
    return _ordered(high, every, whole, largest=False)


def _ordered(chosen: Bound | None, every: list[Bound], whole: bool, *, largest: bool) -> Any:
    """The first of the extreme ones is chosen: those before it are strictly less extreme."""
    found, before = [], True
    for one in every:
        if one is chosen:
            before = False
            continue
        assert chosen is not None
        factors, bound = _difference(one, chosen) if largest else _difference(chosen, one)
        found.append((factors, bound - 1 if whole and before else bound))
    return found


def _kept(ranges: Bounded, variable: int, low: Bound | None, high: Bound | None) -> Bounded:
    """Without the bounds on a variable that are not the chosen ones."""
    chosen = {(one.form, one.side) for one in (low, high) if one is not None}
    found: Bounded = {}
    for form, ends in ranges.items():
        if len(form) == 1 or all(one != variable for one, _ in form):
            found[form] = ends
        else:
            found[form] = (
                ends[0] if (form, 0) in chosen else None,
                ends[1] if (form, 1) in chosen else None,
            )
    return found
