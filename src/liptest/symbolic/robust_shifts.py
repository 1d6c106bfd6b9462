"""One shift for all differences at once: a constant and slopes, docs/theory/size.md, S4.

Where the answers are many, the differences are too many to be tried one by one. The shift
s = s0 + S t serves all of them: S where equations force it, s0 as large as the worst difference
of each condition asks. Every such shift is a proof; another one may be cheaper: where a noisy
answer is below some others and above the rest, its noise may take back what its answer moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from liptest.symbolic.answers import Differences, Move
from liptest.symbolic.forms import Rational, lean
from liptest.symbolic.linear_programs import ShiftBound, ShiftProgram, Shifts, find_shifts
from liptest.symbolic.path_programs import Block, Factors, PathRow, add_factors
from liptest.symbolic.shifts import ShiftCost, total_price


@dataclass(frozen=True)
class RobustShift:
    """Variable v is shifted by ``constants[v] + slopes[v] . t``; the price is of the constants."""

    price: Fraction
    constants: Shifts
    slopes: dict[int, Factors]
    #: A difference that is likely dear.
    move: Move


def find_robust_shifts(block: Block, differences: Differences) -> Iterator[RobustShift]:
    """Cheap ones, the likely cheapest first; none where none is found."""
    forced = _find_forced_slopes(block, differences)
    if forced is None:
        return
    for slopes in (forced, *_find_slopes_of_orders(block, differences, forced)):
        found = _find_constants(block, differences, slopes)
        if found is not None:
            yield found


def _find_constants(
    block: Block, differences: Differences, slopes: dict[int, Factors]
) -> RobustShift | None:
    """The cheapest constants beside these slopes."""
    variables = sorted(block.costs)
    at = {v: number for number, v in enumerate(variables)}
    at_least, moved = [], []
    for row in block.conditions:
        left = _move(row, slopes)
        need = differences.largest(_negative(left)) if left else 0
        if need or row.noise:
            at_least.append(ShiftBound(_renumber(row, at), need))
            moved.append(left)
    for v, slope in slopes.items():
        if block.costs[v].left is None:
            # That a shift is to the right does not say where it is dear.
            at_least.append(ShiftBound(((at[v], 1),), differences.largest(_negative(slope))))
            moved.append({})
    exactly = tuple(ShiftBound(_renumber(row, at), 0) for row in block.equations)
    costs = tuple(block.costs[v] for v in variables)
    proposal = find_shifts(ShiftProgram(costs, tuple(at_least), exactly))
    if proposal is None:
        return None
    constants = {variables[number]: shift for number, shift in proposal.shifts.items()}
    price = total_price(block.costs, constants)
    move = _dear_move(moved, proposal.weights, slopes, differences)
    return None if price is None else RobustShift(price, constants, slopes, move)


def _find_slopes_of_orders(
    block: Block, differences: Differences, forced: Mapping[int, Factors]
) -> Iterator[dict[int, Factors]]:
    """Slopes that take back what noisy answers move which are below some and above others.

    First of these alone, then of all that are above others, too.
    """
    signs: dict[int, set[bool]] = {}
    own: dict[int, dict[int, Rational]] = {}
    for row in block.conditions:
        answers = dict(row.answers)
        for v, factor in row.noise:
            beside = {i: lean(Fraction(by) / factor) for i, by in answers.items()}
            earlier = own.setdefault(v, beside)
            own[v] = {i: by for i, by in earlier.items() if beside.get(i) == by}
            signs.setdefault(v, set()).add(factor > 0)
    equal = {v for row in block.equations for v, _ in row.noise}
    may_slope = {
        v: _negative(answers)
        for v, answers in own.items()
        if answers and v not in equal and _may_slope(block.costs[v], answers, differences)
    }
    between = {v: slope for v, slope in may_slope.items() if len(signs[v]) > 1}
    if between:
        yield {**forced, **between}
        above = {v: slope for v, slope in may_slope.items() if True in signs[v]}
        yield {**forced, **above}


def _find_forced_slopes(block: Block, differences: Differences) -> dict[int, Factors] | None:
    """Slopes with e.S + g = 0 for all equations; None where they are not possible."""
    slopes: dict[int, Factors] = {}
    for row in block.equations:
        pivot, factor = row.noise[0]
        slope = {i: lean(Fraction(-coefficient) / factor) for i, coefficient in row.answers}
        if not _is_still(slope, differences):
            if not _may_slope(block.costs[pivot], slope, differences):
                return None
            slopes[pivot] = slope
    # Where a slope is left out its form is 0 for every difference.
    return slopes


def _is_still(slope: Factors, differences: Differences) -> bool:
    return not (differences.largest(slope) or differences.largest(_negative(slope)))


def _may_slope(cost: ShiftCost, slope: Factors, differences: Differences) -> bool:
    if cost.right is None:
        return False
    whole = differences.is_whole and all(Fraction(f).denominator == 1 for f in slope.values())
    return whole or not cost.is_whole


def _move(row: PathRow, slopes: Mapping[int, Factors]) -> Factors:
    """l.S + d."""
    if not slopes:
        return dict(row.answers)
    factors = dict(row.answers)
    for v, factor in row.noise:
        if v in slopes:
            add_factors(factors, slopes[v], factor)
    return factors


def _dear_move(
    moved: list[Factors],
    weights: object,
    slopes: Mapping[int, Factors],
    differences: Differences,
) -> Move:
    direction: dict[int, float] = {}
    for factors, weight in zip(moved, list(weights), strict=False):  # type: ignore[call-overload]
        for i, factor in factors.items():
            direction[i] = direction.get(i, 0.0) - weight * float(factor)
    for slope in slopes.values():
        for i, factor in slope.items():
            direction[i] = direction.get(i, 0.0) + float(factor)
    return differences.find_largest({i: Fraction(factor) for i, factor in direction.items()})


def _renumber(row: PathRow, at: Mapping[int, int]) -> tuple[tuple[int, Rational], ...]:
    return tuple((at[v], factor) for v, factor in row.noise)


def _negative(factors: Mapping[int, Rational]) -> Factors:
    return {i: -factor for i, factor in factors.items()}
