"""The paper's A_test (Algorithm 1): one Lipschitz tester per output."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass, replace
from functools import partial

from liptest.lipschitz.testers.base import LipschitzTester, PairTester
from liptest.mechanisms.additive import DiscreteLaplace
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.judge import LossJudge
from liptest.privacy.methods import find_uncovered_records, finite_outputs
from liptest.privacy.request import (
    Meaning,
    Task,
    make_verdict,
    meaning_of_pair,
    nothing,
    require_pure,
    vacuous_verdict,
    with_paper_cost,
)
from liptest.privacy.samples.sampling_run import make_sampled_promise, run_draws
from liptest.privacy.verdicts import PrivacyPlan, PrivacyVerdict
from liptest.runs.driver import Judgement, RunOutcome


def run_atest(task: Task, tester: LipschitzTester) -> PrivacyVerdict:
    """For each output o test lambda_o = ln mu(o) / epsilon (theory 3.3).

    Budgets as printed: proximity exception_mass/|outputs| and failure_probability/|outputs| per
    output. YES certifies the group form at approximation_factor * epsilon. Testers with a
    diameter stage draw their pairs for the largest diameter instead, which needs no such stage
    (docs/theory/notes.md, H). A whole number plus Laplace noise is one function (3.12).
    """
    who = f"method={tester.name}"
    require_pure(who, task.claim)
    task = replace(task, parameters=asdict(tester) if is_dataclass(tester) else {})
    outputs = _functions(task.mechanism, who)
    count = len(outputs)
    single = tester.plan(
        task.distribution,
        proximity=task.settings.exception_mass / count,
        failure_probability=task.settings.failure_probability / count,
    )
    theory = "3.12" if outputs == [None] else "3.3"
    source, per_draw = f"theory {theory}, {tester.name}", float(single.points_per_draw)
    plan = with_paper_cost(
        task,
        PrivacyPlan(tester.name, single.draws, single.draws * per_draw, per_draw, source),
    )
    if single.draws == 0:
        reason = f"every function passes {tester.name} here, so a YES would say nothing"
        return vacuous_verdict(task, plan, reason + ".", reason)
    outcome = _run_outputs(task, tester, plan, outputs)
    whole = replace(plan, draws=single.draws * count, laws=plan.laws * count)
    return make_verdict(task, whole, outcome, *_meaning(task, tester, whole, outcome))


def _functions(mechanism: Mechanism, who: str) -> list[tuple[Output] | None]:
    """What the tester runs on: each output alone, or None for all of them at once.

    A whole number k plus Laplace noise loses |k(x) - k(y)| / scale, at one output and all: one
    Lipschitz test of k decides all outputs.
    """
    if isinstance(mechanism, ShiftMechanism) and type(mechanism.noise) is DiscreteLaplace:
        return [None]
    finite_outputs(mechanism, who)
    return [(output,) for output in mechanism.outputs or ()]


def _run_outputs(
    task: Task,
    tester: LipschitzTester,
    plan: PrivacyPlan,
    outputs: list[tuple[Output] | None],
) -> RunOutcome:
    total, seconds, ended = Judgement(), 0.0, "complete"
    draw = partial(tester.draw, task.distribution)
    pairs = tester.pairs_per_draw(task.distribution) if isinstance(tester, PairTester) else 1
    for number, output in enumerate(outputs):
        left = None if task.settings.budget is None else task.settings.budget - total.queries
        if left is not None and left <= 0:
            ended = "budget"
            break
        capped = replace(task, settings=replace(task.settings, budget=left))
        judge = LossJudge(task.mechanism, task.distribution.domain, task.claim, output)
        outcome = run_draws(capped, draw, judge, plan, pairs_per_draw=pairs, stage=number)
        total += outcome.total
        seconds += outcome.seconds
        if outcome.ended != "complete":
            ended = outcome.ended
            break
    return RunOutcome(total, ended, seconds)


def _meaning(
    task: Task, tester: LipschitzTester, plan: PrivacyPlan, outcome: RunOutcome
) -> Meaning:
    meaning = meaning_of_pair(task, plan.source, outcome.total)
    if meaning is not None:
        return meaning
    if outcome.ended != "complete":
        reason = f"{outcome.ended} after {outcome.total.draws:,} of {plan.draws:,} draws"
        return nothing("nothing is promised before every output was tested.", plan.source), reason
    uncovered = find_uncovered_records(task.distribution, task.settings.exception_mass)
    factor = tester.approximation_factor
    guarantee = make_sampled_promise(
        task, plan.source, group=True, factor=factor, not_covered=uncovered
    )
    return guarantee, ""
