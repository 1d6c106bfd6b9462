"""What every tester would cost: the table of the paper's section 5 for one's own numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from liptest.distributions import Distribution, check_distribution
from liptest.errors import InputError, check_open_unit
from liptest.testers import ALL_TESTERS, DJT12, DiameterTester, LipschitzTester
from liptest.verdicts import QueryPlan, Record


@dataclass(frozen=True)
class PlanRow(Record):
    """One tester: its plan, or why there is none (then ``plan`` is None).

    ``range_step`` is None where values are not rounded.
    """

    tester: str
    range_step: float | None
    plan: QueryPlan | None
    not_applicable: str = ""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        parts = dict(data)
        if parts.get("plan") is not None:
            parts["plan"] = QueryPlan.from_dict(parts["plan"])
        return super().from_dict(parts)


def plan_table(
    distribution: Distribution,
    *,
    proximity: float,
    failure_probability: float,
    range_step: float | None = None,
) -> tuple[PlanRow, ...]:
    """A row for each tester shipped, in the order of theory section 2.

    Parameters
    ----------
    range_step
        For the testers that round values; None takes 0.1, and for DJT12 the step of fewest
        queries.

    Raises
    ------
    InputError
        A number is out of range, or range_step is not 1 over a whole number.
    """
    law = check_distribution(distribution)
    check_open_unit("proximity", proximity)
    check_open_unit("failure_probability", failure_probability)
    return tuple(
        _row(tester, law, proximity, failure_probability, range_step) for tester in ALL_TESTERS
    )


def _row(
    tester: LipschitzTester,
    distribution: Distribution,
    proximity: float,
    failure: float,
    range_step: float | None,
) -> PlanRow:
    reason = tester.not_applicable(distribution)
    step = None
    if isinstance(tester, DiameterTester):
        if range_step is not None:
            tester = replace(tester, range_step=range_step)
        elif isinstance(tester, DJT12) and not reason:
            tester = DJT12(range_step=tester.best_step(distribution, proximity))
        step = tester.range_step
    plan = None
    if not reason:
        try:
            plan = tester.plan(distribution, proximity=proximity, failure_probability=failure)
        except InputError as error:  # no room for this step
            reason = str(error)
    return PlanRow(tester.name, step, plan, reason)
