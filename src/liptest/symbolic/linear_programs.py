"""The cheapest shifts that keep linear conditions: proposed in floats, checked in rationals.

A solver (HiGHS) finds which conditions are tight and which shifts are 0. The shifts are then
solved for in rationals, and every condition, every equation and whether whole noise moves by whole
numbers is checked exactly. Only what passes is returned, so nothing rests on the solver: had it
erred, the price would be too high, never too low (docs/theory/size.md, S3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liptest.symbolic.forms import Rational, Terms, lean
from liptest.symbolic.shifts import ShiftCost

#: Shifts by variable; those that are 0 are left out.
Shifts = dict[int, Rational]


class ShiftBound(NamedTuple):
    """A sum of shifts with factors that is at least, or exactly, ``value``."""

    terms: Terms
    value: Rational


@dataclass(frozen=True)
class ShiftProgram:
    """Make the price of shifts 0, 1, .. of these costs small."""

    costs: tuple[ShiftCost, ...]
    at_least: tuple[ShiftBound, ...]
    exactly: tuple[ShiftBound, ...] = ()

    def allows(self, shifts: Shifts) -> bool:
        """Whether these shifts keep all bounds, exactly; noise moves as it may."""
        if any(self.costs[v].price(shift) is None for v, shift in shifts.items()):
            return False
        enough = all(_value(row, shifts) >= row.value for row in self.at_least)
        return enough and all(_value(row, shifts) == row.value for row in self.exactly)


@dataclass(frozen=True)
class Proposal:
    """Shifts that were checked, and how much each condition counts, in floats (a hint only)."""

    shifts: Shifts
    weights: Sequence[float] = field(default=(), compare=False)


def find_shifts(program: ShiftProgram) -> Proposal | None:
    """The cheapest shifts; None where there are none, or where none was found."""
    proposal = _without_solver(program)
    if proposal is not None:
        return proposal if program.allows(proposal.shifts) else None
    if len(program.at_least) > _MOST_KEPT:
        return _solve(program)
    return _remember(program)


@lru_cache(maxsize=4096)
def _remember(program: ShiftProgram) -> Proposal | None:
    return _solve(program)


# Larger programs are not looked up again.
_MOST_KEPT = 60
# Of the largest factor or bound.
_NEAR = 1e-7


def _value(row: ShiftBound, shifts: Shifts) -> Rational:
    total: Rational = 0
    for v, factor in row.terms:
        if v in shifts:
            total += factor * shifts[v]
    return total


def _without_solver(program: ShiftProgram) -> Proposal | None:
    """Where nothing need move, and where one equation says all."""
    if not any(row.value for row in program.exactly):
        if all(row.value <= 0 for row in program.at_least):
            return Proposal({})
    elif not program.at_least and len(program.exactly) == 1:
        return _one_equation(program, program.exactly[0])
    return None


def _one_equation(program: ShiftProgram, row: ShiftBound) -> Proposal | None:
    candidates = []
    for v, factor in row.terms:
        shift = lean(Fraction(row.value) / factor)
        price = program.costs[v].price(shift)
        if price is not None:
            candidates.append((price, v, shift))
        elif program.costs[v].is_whole:
            return None  # several whole shifts together may do it
    if not candidates:
        return None
    _, v, shift = min(candidates)
    return Proposal({v: shift})


def _solve(program: ShiftProgram) -> Proposal | None:
    scale = max(
        (abs(float(row.value)) for row in (*program.at_least, *program.exactly)), default=1.0
    )
    guess = _ask_solver(program, scale or 1.0)
    if guess is None:
        return None
    values, weights = guess
    for digits in (9, 6, 4):
        shifts = _exact_shifts(program, values, 10.0**-digits)
        if shifts is not None and program.allows(shifts):
            return Proposal(shifts, weights)
    return None


def _ask_solver(program: ShiftProgram, scale: float) -> tuple[list[float], list[float]] | None:
    """Floats near the cheapest shifts, and the weights of ``at_least``; None: none."""
    rows = (*program.at_least, *program.exactly)
    unit = 1.0 if any(cost.is_whole for cost in program.costs) else scale
    low = np.array([float(row.value) / unit for row in rows])
    proposed = propose_shifts(
        program.costs,
        np.array([len(row.terms) for row in rows]),
        np.array([v for row in rows for v, _ in row.terms], dtype=np.int64),
        np.array([float(factor) for row in rows for _, factor in row.terms]),
        low,
        len(program.at_least),
    )
    if proposed is None:
        return None
    values, weights = proposed
    return [float(value) * unit for value in values], weights.tolist()


def propose_shifts(
    costs: Sequence[ShiftCost],
    lengths: NDArray[np.int64],
    variables: NDArray[np.int64],
    factors: NDArray[np.float64],
    low: NDArray[np.float64],
    one_sided: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """What the solver proposes for rows one after the other, and the weights of the first rows.

    The first ``one_sided`` rows are at least ``low``, the others equal to it. Each shift is a
    move to the right minus one to the left. None where the solver finds nothing.
    """
    # Loaded only where it is asked.
    import highspy

    rates = [rate for cost in costs for rate in (cost.right, cost.left)]
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(rates), len(low)
    model.col_cost_ = np.array([0.0 if rate is None else float(rate) for rate in rates])
    model.col_lower_ = np.zeros(len(rates))
    model.col_upper_ = np.array([0.0 if rate is None else highspy.kHighsInf for rate in rates])
    high = low.copy()
    high[:one_sided] = highspy.kHighsInf
    model.row_lower_, model.row_upper_ = low, high
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(2 * lengths)]).astype(np.int32)
    columns = np.stack([2 * variables, 2 * variables + 1], axis=1).ravel()
    model.a_matrix_.index_ = columns.astype(np.int32)
    model.a_matrix_.value_ = np.stack([factors, -factors], axis=1).ravel()
    if any(cost.is_whole for cost in costs):
        kinds = highspy.HighsVarType
        whole = [cost.is_whole for cost in costs for _ in range(2)]
        model.integrality_ = [
            kinds.kInteger if is_whole else kinds.kContinuous for is_whole in whole
        ]
    solver = _quiet_solver()
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    primal = np.asarray(solution.col_value)
    values, weights = primal[::2] - primal[1::2], np.asarray(solution.row_dual)[:one_sided]
    return (values, weights) if np.isfinite(values).all() else None


def _quiet_solver() -> Any:
    """A solver that prints nothing, not even its name while it is made (highspy 1.16 does)."""
    import highspy

    solver_class: Any = highspy.Highs

    class Quiet(solver_class):  # type: ignore[misc]
        def enableCallbacks(self) -> None:
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    solver = Quiet()
    solver.setOptionValue("output_flag", False)
    return solver


def _exact_shifts(program: ShiftProgram, values: list[float], near: float) -> Shifts | None:
    """The rational point where what is tight at a point of floats is tight; None if none is."""
    size = max((abs(value) for value in values), default=0.0)
    fixed: dict[int, Rational] = {}
    for v, value in enumerate(values):
        if program.costs[v].is_whole:
            fixed[v] = round(value)
        elif abs(value) <= near * size:
            fixed[v] = 0
    rows = list(program.exactly)
    for row in program.at_least:
        gap = sum([float(f) * values[v] for v, f in row.terms]) - float(row.value)
        if abs(gap) <= max(near, _NEAR) * max(1e-300, size, abs(float(row.value))):
            rows.append(row)
    solved = _solve_values(rows, fixed, values)
    every = {**fixed, **solved}
    return {v: lean(Fraction(shift)) for v, shift in sorted(every.items()) if shift}


def _solve_values(
    rows: Iterable[ShiftBound], known: Mapping[int, Rational], near: Sequence[float]
) -> dict[int, Fraction]:
    """The variables that are not known, from equations; what they leave open is near a float.

    Gauss and Jordan with rows as dictionaries; equations that contradict earlier ones are left
    out, for what comes first counts most.
    """
    pivots: dict[int, tuple[dict[int, Fraction], Fraction]] = {}
    missing = sum(v not in known for v in range(len(near)))
    for row in rows:
        if len(pivots) == missing:
            break
        if all(v in known or (v in pivots and not pivots[v][0]) for v, _ in row.terms):
            continue
        left, value = _reduce(row, known, pivots)
        if not left:
            continue
        chosen = next(iter(left))
        lead = left.pop(chosen)
        others, constant = {v: -factor / lead for v, factor in left.items()}, value / lead
        for v, (inside, before) in pivots.items():
            if chosen in inside:
                factor = inside.pop(chosen)
                for other, step in others.items():
                    inside[other] = inside.get(other, _ZERO) + factor * step
                pivots[v] = inside, before + factor * constant
        pivots[chosen] = others, constant
    values = {
        v: Fraction(value).limit_denominator(10**6)
        for v, value in enumerate(near)
        if v not in known and v not in pivots
    }
    for v, (others, constant) in pivots.items():
        values[v] = constant + sum((f * values[other] for other, f in others.items()), _ZERO)
    return values


_ZERO = Fraction(0)


def _reduce(
    row: ShiftBound,
    known: Mapping[int, Rational],
    pivots: Mapping[int, tuple[dict[int, Fraction], Fraction]],
) -> tuple[dict[int, Fraction], Fraction]:
    """What an equation says of the variables that are neither known nor solved for."""
    left: dict[int, Fraction] = {}
    value = Fraction(row.value)
    for v, factor in row.terms:
        if v in known:
            value -= factor * known[v]
        elif v in pivots:
            others, constant = pivots[v]
            value -= factor * constant
            for other, step in others.items():
                left[other] = left.get(other, _ZERO) + factor * step
        else:
            left[v] = left.get(v, _ZERO) + factor
    return {v: factor for v, factor in left.items() if factor}, value
