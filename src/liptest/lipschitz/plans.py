"""What Lipschitz testing costs: the table of the paper's section 5 for one's own numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from liptest.data.distributions import Distribution, check_distribution
from liptest.errors import InputError, check_open_unit, check_positive
from liptest.lipschitz.testers import ALL_TESTERS
from liptest.lipschitz.testers.base import (
    DiameterTester,
    LipschitzTester,
    admissible_step,
    steps_per_unit,
)
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.verdicts import QueryPlan
from liptest.verdicts import Flag, Number, Record, Text

# Functions, law and running time: the first four as the paper's section 5 prints them.
_SECTION_FIVE = {
    "JR11": ("{0,1}^d", "uniform", "O(d ImD(f) / (proximity range_step))"),
    "AJMR12": ("{1..n}^d", "uniform", "~O(d min(ImD(f), n d) / (proximity range_step))"),
    "CS12": ("{0,1}^d", "uniform", "O(d / proximity)"),
    "DJT12": (
        "{0,1}^d",
        "product",
        "O(d ImD(f) / ((proximity - d^2 range_step) range_step))",
    ),
}
_OURS = {
    "CDJS15": ("[n_1] x .. x [n_d]", "product", "O(sum of expected depths / proximity)"),
    "VarianceEdges": ("{0,1}^d", "product", "O(sum of p(1-p) / proximity)"),
    "HammingLines": ("records", "product", "O(sum of (1 - max mass) / proximity) lines"),
}


@dataclass(frozen=True)
class PlanRow(Record):
    """One tester: its plan, or why there is none (then ``plan`` is None).

    Parameters
    ----------
    functions, law, running_time
        The columns of the paper's section 5 (values are real), as printed where ``in_paper``;
        its epsilon and delta are called proximity and range_step here.
    range_step
        None where values are not rounded.
    note
        Which step was taken instead of an inadmissible one, and why.
    """

    tester: Text
    functions: Text
    law: Text
    running_time: Text
    in_paper: Flag
    range_step: Number | None
    plan: QueryPlan | None
    note: Text = ""
    not_applicable: Text = ""


def plan_table(
    distribution: Distribution,
    *,
    proximity: float,
    failure_probability: float,
    range_step: float | None = None,
) -> tuple[PlanRow, ...]:
    """A row for each Lipschitz tester, the paper's four first.

    Parameters
    ----------
    distribution
        Gives domain and law.
    range_step
        For the testers that round values. None takes 0.1, and for DJT12 the step of fewest
        queries. A step that a tester cannot use is replaced by the largest one below it that
        it can, for DJT12 by the step of fewest queries; ``note`` says so.

    Raises
    ------
    InputError
        A number is out of range.
    """
    law = check_distribution(distribution)
    numbers = (
        check_open_unit("proximity", proximity),
        check_open_unit("failure_probability", failure_probability),
    )
    step = None if range_step is None else check_positive("range_step", range_step)
    testers = sorted(ALL_TESTERS, key=lambda tester: tester.name not in _SECTION_FIVE)
    return tuple(_row(tester, law, *numbers, step) for tester in testers)


def _row(
    tester: LipschitzTester,
    distribution: Distribution,
    proximity: float,
    failure: float,
    range_step: float | None,
) -> PlanRow:
    in_paper = tester.name in _SECTION_FIVE
    row = PlanRow(
        tester.name, *{**_SECTION_FIVE, **_OURS}[tester.name], in_paper, range_step=None, plan=None
    )
    reason = tester.not_applicable(distribution)
    if reason:
        return replace(row, not_applicable=reason)
    try:
        chosen, note = with_step(tester, distribution, proximity, range_step)
        plan = chosen.plan(distribution, proximity=proximity, failure_probability=failure)
    except InputError as error:
        return replace(row, not_applicable=str(error))
    return replace(row, range_step=find_step(chosen), plan=plan, note=note)


def with_step(
    tester: LipschitzTester,
    distribution: Distribution,
    proximity: float,
    range_step: float | None = None,
) -> tuple[LipschitzTester, str]:
    """The tester with a step that it can use here, and why it is another than requested."""
    if not isinstance(tester, DiameterTester):
        return tester, ""
    note = ""
    if range_step is not None:
        step, note = _admissible(range_step)
        tester = replace(tester, range_step=step)
    if not isinstance(tester, DJT12):
        return tester, note
    best = replace(tester, range_step=tester.best_step(distribution, proximity))
    if range_step is None:
        return best, ""
    try:
        tester.plan(distribution, proximity=proximity, failure_probability=0.5)
    except InputError as error:
        why = str(error).removeprefix(f"tester={tester.name}: ")
        return best, f"{why}. Planned with {_fraction(best.range_step)}, the step of fewest queries"
    return tester, note


def _admissible(range_step: float) -> tuple[float, str]:
    try:
        return 1.0 / steps_per_unit(range_step), ""
    except InputError:
        step = admissible_step(range_step)
        why = f"range_step={range_step:g} is not 1 over a whole number"
        return step, f"{why}. Planned with {_fraction(step)}, the largest one below it"


def _fraction(step: float) -> str:
    return f"1/{round(1.0 / step)} = {step:.6g}"


def find_step(tester: LipschitzTester) -> float | None:
    """The tester's range_step, None where it has none."""
    return tester.range_step if isinstance(tester, DiameterTester) else None
