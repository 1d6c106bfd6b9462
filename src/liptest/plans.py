"""What testing would cost: the table of the paper's section 5 for one's own numbers.

``plan_table`` has a row per Lipschitz tester, ``privacy_plan_table`` a row per privacy method
with the paper's A_test, as printed, in front (theory 2 and 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from liptest.distributions import Distribution, ProductDistribution, check_distribution
from liptest.domains import Hypercube
from liptest.errors import InputError, check_count, check_open_unit, check_positive
from liptest.privacy.claims import Claim, ExactLog, parse_epsilon
from liptest.privacy.methods import (
    SamplingMethod,
    edges,
    group_form,
    light,
    neighbourhoods,
    paper_laws,
)
from liptest.privacy.wording import proof_sentence, sampling_sentence
from liptest.testers import ALL_TESTERS, DJT12, DiameterTester, LipschitzTester
from liptest.testers.diameter import admissible_step, steps_per_unit
from liptest.verdicts import QueryPlan, Record

# Functions, law and running time: the first four as the paper's section 5 prints them.
_SECTION_FIVE = {
    "JR11": ("{0,1}^d -> R", "uniform", "O(d ImD(f) / (proximity range_step))"),
    "AJMR12": ("{1..n}^d -> R", "uniform", "~O(d min(ImD(f), n d) / (proximity range_step))"),
    "CS12": ("{0,1}^d -> R", "uniform", "O(d / proximity)"),
    "DJT12": (
        "{0,1}^d -> R",
        "product",
        "O(d ImD(f) / ((proximity - d^2 range_step) range_step))",
    ),
}
_OURS = {
    "CDJS15": ("[n_1] x .. x [n_d] -> R", "product", "O(sum of expected depths / proximity)"),
    "VarianceEdges": ("{0,1}^d -> R", "product", "O(sum of p(1-p) / proximity)"),
    "HammingLines": ("records -> R", "product", "O(sum of (1 - max mass) / proximity) lines"),
}
# check_privacy refuses an exhaustive pass over more datasets.
_MOST_DATASETS = 2**31 - 1


@dataclass(frozen=True)
class PlanRow(Record):
    """One tester: its plan, or why there is none (then ``plan`` is None).

    Parameters
    ----------
    functions, law, running_time
        The columns of the paper's section 5, as printed where ``in_paper``; its epsilon and
        delta are called proximity and range_step here.
    range_step
        None where values are not rounded.
    note
        Which step was taken instead of an inadmissible one, and why.
    """

    tester: str
    functions: str
    law: str
    running_time: str
    in_paper: bool
    range_step: float | None
    plan: QueryPlan | None
    note: str = ""
    not_applicable: str = ""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        if not isinstance(data, dict) or data.get("plan") is None:
            return super().from_dict(data)
        return super().from_dict({**data, "plan": QueryPlan.from_dict(data["plan"])})


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
    return replace(row, range_step=_step_of(chosen), plan=plan, note=note)


def with_step(
    tester: LipschitzTester,
    distribution: Distribution,
    proximity: float,
    range_step: float | None = None,
) -> tuple[LipschitzTester, str]:
    """The tester with a step that it can use here, and why it is another than asked for."""
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


def _step_of(tester: LipschitzTester) -> float | None:
    return tester.range_step if isinstance(tester, DiameterTester) else None


@dataclass(frozen=True)
class PrivacyPlanRow(Record):
    """One way to test a privacy claim, or why it does not apply (then ``laws`` is inf).

    Parameters
    ----------
    laws
        Output laws asked for, expected. A mechanism that finds neighbours' laws incrementally
        evaluates ``draws`` of them in full.
    draws
        Datasets or pairs drawn; 0 where nothing is drawn at random.
    approximation_factor
        theta: a YES is about theta * epsilon.
    form
        "neighbour" or "group" (theory 3.1, 3.2).
    guarantee
        What a YES means.
    """

    method: str
    laws: float
    draws: int
    approximation_factor: float
    form: str
    guarantee: str
    source: str
    in_paper: bool = False
    range_step: float | None = None
    not_applicable: str = ""


@dataclass(frozen=True)
class _Task:
    distribution: Distribution
    outputs: int
    claim: Claim
    mass: float
    failure: float

    @property
    def budgets(self) -> tuple[float, float]:
        """Proximity and failure probability of each output in A_test."""
        return self.mass / self.outputs, self.failure / self.outputs

    def sentence(self, form: str, factor: float) -> str:
        return sampling_sentence(self.mass, self.failure, group=form == "group", factor=factor)


def privacy_plan_table(
    distribution: Distribution,
    outputs: int,
    *,
    epsilon: float | str | ExactLog,
    exception_mass: float,
    failure_probability: float,
) -> tuple[PrivacyPlanRow, ...]:
    """A row for each way to test an epsilon claim: laws, theta, form (theory 3.3 to 3.7, 5).

    The first row is the paper's A_test with its Algorithm 3 as printed; the last ones are A_test
    with each tester. Steps are those of ``plan_table``. A mechanism that sees only a statistic
    needs far fewer laws than the exhaustive row says (theory 3.8).

    Parameters
    ----------
    distribution
        Gives domain and law of the data.
    outputs
        Number of possible outputs, 1 or more.
    epsilon, exception_mass, failure_probability
        As for ``check_privacy``.

    Raises
    ------
    InputError
        A number is out of range.
    """
    task = _Task(
        check_distribution(distribution),
        check_count("outputs", outputs),
        Claim(parse_epsilon(epsilon)),
        check_open_unit("exception_mass", exception_mass),
        check_open_unit("failure_probability", failure_probability),
    )
    plain = (task.distribution, task.mass, task.failure)
    return (
        _printed(task),
        _exhaustive(task),
        _sampled(task, "neighbourhoods", "neighbour", lambda: neighbourhoods(*plain)),
        _sampled(task, "light-neighbourhoods", "neighbour", lambda: light(*plain)),
        _sampled(task, "edges", "neighbour", lambda: edges(*plain)),
        _sampled(task, "group", "group", lambda: group_form(plain[0], task.outputs, *plain[1:])),
        *(_atest(task, tester) for tester in ALL_TESTERS),
    )


def _printed(task: _Task) -> PrivacyPlanRow:
    name, source = "A_test, DJT12, as printed", "paper, Algorithms 1 and 3"
    laws = paper_laws(task.distribution, task.outputs, task.mass, task.failure)
    if math.isinf(laws):
        why = f"needs a product law on a Hypercube, not {task.distribution!r}"
        return _impossible(name, "group", source, why, in_paper=True)
    d, proximity = task.distribution.domain.dimension, task.budgets[0]
    step = proximity / (2 * d * d)
    meaning = task.sentence("group", 1 + step)
    return PrivacyPlanRow(name, laws, 0, 1 + step, "group", meaning, source, True, step)


def _exhaustive(task: _Task) -> PrivacyPlanRow:
    domain = task.distribution.domain
    if domain.size > _MOST_DATASETS:
        many = f"2^{domain.dimension}" if isinstance(domain, Hypercube) else "more than 2^31"
        why = f"{many} datasets are too many to visit"
        return _impossible("exhaustive", "neighbour", "theory 3.7", why)
    meaning = proof_sentence(task.claim, domain.neighbour_words, "")
    laws = float(domain.size)
    return PrivacyPlanRow("exhaustive", laws, 0, 1.0, "neighbour", meaning, "theory 3.7")


def _sampled(
    task: _Task, name: str, form: str, build: Callable[[], SamplingMethod]
) -> PrivacyPlanRow:
    try:
        method = build()
    except InputError as error:
        return _impossible(name, form, "", str(error))
    plan = method.plan
    if method.vacuous:
        return _impossible(name, form, plan.source, method.vacuous)
    meaning = task.sentence(form, 1.0)
    return PrivacyPlanRow(name, plan.laws, plan.draws, 1.0, form, meaning, plan.source)


def _atest(task: _Task, tester: LipschitzTester) -> PrivacyPlanRow:
    name, source = f"A_test, {tester.name}", f"theory 3.3, {tester.name}"
    reason = tester.not_applicable(task.distribution)
    if reason:
        return _impossible(name, "group", source, reason)
    proximity, failure = task.budgets
    try:
        chosen, _ = with_step(tester, task.distribution, proximity)
        plan = chosen.plan(task.distribution, proximity=proximity, failure_probability=failure)
    except InputError as error:
        return _impossible(name, "group", source, str(error))
    if plan.draws == 0:
        why = f"every function passes {tester.name} here, so a YES would say nothing"
        return _impossible(name, "group", source, why)
    theta, draws = plan.approximation_factor, plan.draws * task.outputs
    return PrivacyPlanRow(
        name,
        draws * plan.points_per_draw,
        draws,
        theta,
        "group",
        task.sentence("group", theta),
        source,
        range_step=_step_of(chosen),
    )


def _impossible(
    name: str, form: str, source: str, why: str, *, in_paper: bool = False
) -> PrivacyPlanRow:
    return PrivacyPlanRow(name, math.inf, 0, 1.0, form, "", source, in_paper, not_applicable=why)
