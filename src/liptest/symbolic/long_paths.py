"""Paths of hundreds of conditions, all of them at once: ``robust_shifts`` in arrays.

Each answer moves by at most its largest difference, all of them together; the shift is a constant.
What is returned was checked in whole numbers, so it is a price; where arrays do not do, None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.answers import AlignedPath, Answer, Move
from liptest.symbolic.forms import Rational, lean
from liptest.symbolic.linear_programs import Shifts, propose_shifts
from liptest.symbolic.shifts import shift_cost, total_price

#: Conditions of a path that is long.
LONG = 40
# Factors, terms of a condition, and other whole numbers: 10 + 10 + 20 + 20 binary digits.
_FACTOR = _TERMS = 1 << 10
_NUMBER = 1 << 20
_DENOMINATORS = 1000


@dataclass(frozen=True)
class LongShift:
    """Constant shifts that keep a path for all differences, and a move that is likely dear."""

    price: Fraction
    constants: Shifts
    move: Move
    #: Whether an answer must stay above some sums and below others: slopes may cost less.
    has_order: bool = False

    def shifts(self) -> Shifts:
        """At every difference."""
        return self.constants


class _Terms(NamedTuple):
    """Of all conditions, one after the other: how many terms each has, their variables, factors."""

    lengths: NDArray[np.int64]
    variables: NDArray[np.int64]
    factors: NDArray[np.int64]


def find_long_shift(path: AlignedPath, bounds: Mapping[int, Rational]) -> LongShift | None:
    """Of a path with conditions of one side only, and no places; None for others."""
    terms = None if path.places else _terms(path)
    unit = lcm(*(Fraction(bound).denominator for bound in bounds.values()))
    if terms is None or _too_large(unit, bounds):
        return None
    number = [what.number if isinstance(what, Answer) else -1 for what in path.noises]
    is_answer = np.array([i >= 0 for i in number])
    own = [i for i in number if i >= 0]
    if len(own) != len(set(own)):
        return None
    reach = np.array([int(bounds.get(i, 0) * unit) for i in number])
    rows = np.repeat(np.arange(len(terms.lengths)), terms.lengths)
    needs = _add(rows, np.abs(terms.factors) * reach[terms.variables], len(terms.lengths))
    kept = ~is_answer[terms.variables]
    rows, variables, factors = rows[kept], terms.variables[kept], terms.factors[kept]
    used, columns = np.unique(variables, return_inverse=True)
    costs = [shift_cost(path.noises[v]) for v in used]
    lengths = np.bincount(rows, minlength=len(needs))
    solution = propose_shifts(
        costs, lengths, columns, factors.astype(float), needs / unit, len(needs)
    )
    if solution is None:
        return None
    shifts = [Fraction(float(value)).limit_denominator(_DENOMINATORS) for value in solution[0]]
    scale = lcm(*(shift.denominator for shift in shifts))
    steps = [int(shift * scale) for shift in shifts]
    if max(scale, *map(abs, steps)) > _NUMBER:
        return None
    held = _add(rows, factors * np.array(steps)[columns], len(needs))
    if not (held * unit >= needs * scale).all():
        return None
    moved = {int(v): lean(shift) for v, shift in zip(used, shifts, strict=True) if shift}
    price = total_price({int(v): cost for v, cost in zip(used, costs, strict=True)}, moved)
    if price is None:
        return None
    move = _move(path, terms, solution[1], bounds)
    return LongShift(price, moved, move, _is_on_both_sides(terms, is_answer))


def _is_on_both_sides(terms: _Terms, is_answer: NDArray[np.bool_]) -> bool:
    """Whether an answer has a factor above 0 and one below 0."""
    ups, downs = (terms.variables[sign * terms.factors > 0] for sign in (1, -1))
    return bool(is_answer[np.intersect1d(ups, downs)].any())


def _terms(path: AlignedPath) -> _Terms | None:
    """Turned so that each sum must stay 0 or more; None where a number is not small and whole."""
    conditions = path.conditions
    low = np.array([condition.low is not None for condition in conditions])
    high = np.array([condition.high is not None for condition in conditions])
    if (low == high).any():
        return None
    every = [condition.terms for condition in conditions]
    lengths = np.fromiter(map(len, every), dtype=np.int64, count=len(every))
    flat = list(chain.from_iterable(every))
    factors: Any = np.array([factor for _, factor in flat])
    if factors.dtype != np.int64 or np.abs(factors).max(initial=0) > _FACTOR:
        return None
    variables = np.array([v for v, _ in flat], dtype=np.int64)
    if lengths.max(initial=0) > _TERMS:
        return None
    return _Terms(lengths, variables, factors * np.repeat(np.where(low, 1, -1), lengths))


def _too_large(unit: int, bounds: Mapping[int, Rational]) -> bool:
    return max(unit, unit * max(bounds.values(), default=0)) > _NUMBER


def _add(rows: NDArray[np.int64], values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Sums of whole numbers by their row."""
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, rows, values)
    return sums


def _move(
    path: AlignedPath, terms: _Terms, weights: NDArray[np.float64], bounds: Mapping[int, Rational]
) -> Move:
    """The end of the box that the tight conditions point away from."""
    direction = np.zeros(len(path.noises))
    np.add.at(direction, terms.variables, np.repeat(weights, terms.lengths) * terms.factors)
    ends = {
        what.number: Fraction(bounds[what.number]) * (-1 if direction[v] > 0 else 1)
        for v, what in enumerate(path.noises)
        if isinstance(what, Answer) and direction[v] and what.number in bounds
    }
    return tuple(sorted(ends.items()))
