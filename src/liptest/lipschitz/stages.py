"""Runs a Lipschitz tester through the driver, in one stage or two."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from liptest.distributions import Distribution
from liptest.driver import Finding, Judgement, Outcome, Progress, QueryBatch, Sampling, run
from liptest.lipschitz.differences import DifferenceJudge, Extremes, ExtremesJudge
from liptest.lipschitz.narrowing import narrow
from liptest.oracles import FunctionOracle
from liptest.points import from_array
from liptest.testers import DiameterTester, LipschitzTester, PairTester
from liptest.verdicts import QueryPlan


@dataclass(frozen=True, eq=False)
class TesterTask:
    """Everything ``check_lipschitz`` was asked, checked; ``limit`` is the constant and its
    tolerance.
    """

    tester: LipschitzTester
    plan: QueryPlan
    distribution: Distribution
    oracle: FunctionOracle
    limit: float
    constant: float
    tolerance: float
    proximity: float
    failure: float
    seed: int
    executor: Executor | None
    progress: Progress | None

    @property
    def planned(self) -> int:
        """Draws of all stages at most."""
        return self.plan.diameter_draws + self.plan.draws


def run_tester(task: TesterTask) -> Outcome:
    """Run a tester; a violated pair is narrowed to neighbours (theory 1.2).

    Raises FunctionError when the function gives NaN, infinity or a wrong shape, or changes its
    answers.
    """
    outcome = _run(task)
    if outcome.total.violation is None:
        return outcome
    return replace(outcome, total=_narrowed(task, outcome.total, outcome.total.violation))


def _run(task: TesterTask) -> Outcome:
    if not isinstance(task.tester, DiameterTester):
        return _pairs(task, task.plan.draws)
    first = _diameter(task)
    if first.ended != "complete" or first.total.draws == 0:
        return first
    extremes: Extremes = first.total.evidence
    diameter = extremes.diameter(task.limit, task.tester.steps_per_unit)
    if diameter > task.tester.largest_diameter(task.distribution):
        return _too_wide(task, first, extremes)
    pairs = task.tester.pairs_needed(
        task.distribution, Fraction(diameter), task.proximity, task.failure
    )
    second = _pairs(task, pairs, first.total.draws)
    return Outcome(first.total + second.total, second.ended, first.seconds + second.seconds)


def _pairs(task: TesterTask, draws: int, before: int = 0) -> Outcome:
    """Draw pairs (or lines) and compare them; ``before`` draws were made in an earlier stage."""
    per_draw = task.plan.points_per_draw
    if isinstance(task.tester, PairTester):
        per_draw = max(per_draw, task.tester.pairs_per_draw(task.distribution))
    return run(
        Sampling(
            draw=partial(task.tester.draw, task.distribution),
            judge=DifferenceJudge(task.oracle, task.limit),
            draws=draws,
            points_per_draw=per_draw,
            dimension=task.distribution.domain.dimension,
            seed=task.seed,
            stage=int(before > 0),
        ),
        executor=task.executor,
        progress=_shifted(task.progress, before, before + draws),
    )


def _diameter(task: TesterTask) -> Outcome:
    """Draw points and find the smallest and the largest value."""
    return run(
        Sampling(
            draw=partial(_points, task.distribution),
            judge=ExtremesJudge(task.oracle, task.limit),
            draws=task.plan.diameter_draws,
            points_per_draw=1,
            dimension=task.distribution.domain.dimension,
            seed=task.seed,
        ),
        executor=task.executor,
        progress=_shifted(task.progress, 0, task.planned),
    )


def _points(distribution: Distribution, rng: np.random.Generator, count: int) -> QueryBatch:
    return QueryBatch(from_array(distribution.sample(rng, count)))


def _shifted(progress: Progress | None, before: int, planned: int) -> Progress | None:
    return None if progress is None else lambda done, _: progress(before + done, planned)


def _too_wide(task: TesterTask, first: Outcome, extremes: Extremes) -> Outcome:
    """The diameter rejects: no Lipschitz function has two values so far apart."""
    high, low = extremes.high_point, extremes.low_point
    distance = int(task.distribution.domain.distance(high, low)[0])
    found = Judgement(
        pairs=1,
        largest=(extremes.high - extremes.low) / max(distance, 1),
        violation=Finding(high, low, distance, (extremes.high, extremes.low)),
    )
    return replace(first, total=first.total + found, ended="violation")


def _narrowed(task: TesterTask, total: Judgement, violation: Finding) -> Judgement:
    found = narrow(violation, task.oracle, task.limit)
    left, right = found.finding.evidence
    return replace(
        total,
        violation=found.finding,
        queries=total.queries + found.queries,
        repeats=total.repeats + found.repeats,
        largest=max(total.largest, abs(left - right)),
    )
