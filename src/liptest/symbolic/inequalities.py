"""Linear inequalities with rational factors: whether they can hold, what follows, and a point.

Fourier-Motzkin elimination. Over the reals all inequalities are strict, for sets of measure 0 do
not count; over the integers none is, and bounds on differences of variables have whole solutions
whenever they have real ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import fmpq

from liptest.errors import UnsupportedForm

#: Inequalities of one elimination.
MOST = 4000

#: Of each direction (the first factor is 1 or -1) the smallest upper bound.
Rows = dict[tuple[tuple[int, Any], ...], Any]


class Stage(NamedTuple):
    """A variable that was eliminated, and the inequalities that it was in."""

    variable: int
    rows: Rows


def added(rows: Rows, factors: dict[int, Any], bound: Any, whole: bool) -> bool:
    """Add sum of factor * variable < bound (whole: <=); False where that can never hold."""
    terms = sorted((one, factor) for one, factor in factors.items() if factor != 0)
    if not terms:
        return bool(bound >= 0 if whole else bound > 0)
    size = abs(terms[0][1])
    key = tuple((one, factor / size) for one, factor in terms)
    bound = bound / size
    if key not in rows or bound < rows[key]:
        rows[key] = bound
    return True


def eliminated(rows: Rows, whole: bool) -> list[Stage] | None:
    """The stages of an elimination of all variables; None where the inequalities cannot hold."""
    stages: list[Stage] = []
    rows = dict(rows)
    while rows:
        variable = _cheapest(rows)
        inside = {key: bound for key, bound in rows.items() if _factor(key, variable) != 0}
        rows = {key: bound for key, bound in rows.items() if key not in inside}
        stages.append(Stage(variable, inside))
        if not _combined(rows, inside, variable, whole):
            return None
        if len(rows) > MOST:
            raise UnsupportedForm("very many sums of the same noise variables are compared")
    return stages


def _combined(rows: Rows, inside: Rows, variable: int, whole: bool) -> bool:
    for low, low_bound in inside.items():
        below = _factor(low, variable)
        for high, high_bound in inside.items() if below < 0 else ():
            above = _factor(high, variable)
            if above <= 0:
                continue
            factors: dict[int, Any] = {}
            for terms, scale in ((low, -1 / below), (high, 1 / above)):
                for one, factor in terms:
                    factors[one] = factors.get(one, fmpq(0)) + factor * scale
            factors[variable] = fmpq(0)
            bound = high_bound / above - low_bound / below
            if not added(rows, factors, bound, whole):
                return False
    return True


def _cheapest(rows: Rows) -> int:
    counts: dict[int, list[int]] = {}
    for key in rows:
        for one, factor in key:
            counts.setdefault(one, [0, 0])[factor > 0] += 1
    return min(counts, key=lambda one: (counts[one][0] * counts[one][1], one))


def _factor(key: tuple[tuple[int, Any], ...], variable: int) -> Any:
    return next((factor for one, factor in key if one == variable), fmpq(0))


def ends_of(stage: Stage, values: dict[int, Any]) -> tuple[Any, Any]:
    """Where a variable may lie, given those that were eliminated after it; None infinite."""
    low = high = None
    for key, bound in stage.rows.items():
        rest = sum((f * values[one] for one, f in key if one != stage.variable), fmpq(0))
        factor = _factor(key, stage.variable)
        end = (bound - rest) / factor
        if factor > 0:
            high = end if high is None else min(high, end)
        else:
            low = end if low is None else max(low, end)
    return low, high
