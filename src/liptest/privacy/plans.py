"""What testing a privacy claim costs by every method, the paper's A_test beside them (theory 5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from liptest.data.distributions import Distribution, check_distribution, require_tables
from liptest.data.domains import Hypercube
from liptest.errors import InputError, check_count, check_open_unit
from liptest.lipschitz.plans import find_step, with_step
from liptest.lipschitz.testers import ALL_TESTERS
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.privacy.claims import Claim, ExactLog, parse_epsilon
from liptest.privacy.methods import (
    SamplingMethod,
    edges,
    group_form,
    light,
    neighbourhoods,
    paper_laws,
)
from liptest.privacy.verdicts import proof_sentence, sampling_sentence
from liptest.verdicts import Flag, Number, Record, Text, Whole

# check_privacy refuses an exhaustive pass over more datasets.
_MOST_DATASETS = 2**31 - 1


@dataclass(frozen=True)
class PrivacyPlanRow(Record):
    """One way to test a privacy claim, or why it does not apply (then ``laws`` is inf).

    Parameters
    ----------
    laws
        Output distributions to be computed, expected. A mechanism that finds neighbours' laws
        incrementally evaluates ``draws`` of them in full.
    draws
        Datasets or pairs drawn; 0 where nothing is drawn at random.
    approximation_factor
        theta: a YES is about theta * epsilon.
    form
        "neighbour" or "group" (theory 3.1, 3.2).
    guarantee
        What a YES means.
    """

    method: Text
    laws: Number
    draws: Whole
    approximation_factor: Number
    form: Text
    guarantee: Text
    source: Text
    in_paper: Flag = False
    range_step: Number | None = None
    not_applicable: Text = ""


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
    law = check_distribution(distribution, together=True)
    require_tables(law)
    task = _Task(
        law,
        check_count("outputs", outputs),
        Claim(parse_epsilon(epsilon)),
        check_open_unit("exception_mass", exception_mass),
        check_open_unit("failure_probability", failure_probability),
    )
    plain = (task.distribution, task.mass, task.failure)
    return (
        _plan_printed(task),
        _exhaustive(task),
        _plan_sampled(task, "neighbourhoods", "neighbour", lambda: neighbourhoods(*plain)),
        _plan_sampled(task, "light-neighbourhoods", "neighbour", lambda: light(*plain)),
        _plan_sampled(task, "edges", "neighbour", lambda: edges(*plain)),
        _plan_sampled(
            task, "group", "group", lambda: group_form(plain[0], task.outputs, *plain[1:])
        ),
        *(_atest(task, tester) for tester in ALL_TESTERS),
    )


def _plan_printed(task: _Task) -> PrivacyPlanRow:
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
    meaning = proof_sentence(task.claim, domain, "")
    laws = float(domain.size)
    return PrivacyPlanRow("exhaustive", laws, 0, 1.0, "neighbour", meaning, "theory 3.7")


def _plan_sampled(
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
        range_step=find_step(chosen),
    )


def _impossible(
    name: str, form: str, source: str, why: str, *, in_paper: bool = False
) -> PrivacyPlanRow:
    return PrivacyPlanRow(name, math.inf, 0, 1.0, form, "", source, in_paper, not_applicable=why)
