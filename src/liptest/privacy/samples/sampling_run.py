"""Runs a sampling method through the driver and says what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from liptest.privacy import verdicts as wording
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.privacy.methods import Draw, SamplingMethod
from liptest.privacy.request import (
    Meaning,
    Task,
    make_verdict,
    meaning_of_pair,
    nothing,
    promise,
    require_pure,
    vacuous_verdict,
    with_paper_cost,
)
from liptest.privacy.samples.intervals import certify_mass
from liptest.privacy.samples.symmetric_records import symmetric_sampling
from liptest.privacy.verdicts import PrivacyPlan, PrivacyVerdict
from liptest.privacy.wording.sentences import partial_sentence
from liptest.runs.driver import Judge, PieceJudge, RunOutcome, Sampling, run
from liptest.verdicts import Guarantee, round_up

# Enumerated laws may take long: small chunks, so that little is lost when a run stops.
_PIECE = 1 << 12
_CHUNK_POINTS = {"enumerated": 1 << 7, "enumerated by type": 1 << 7}


def run_sampling(task: Task, method: SamplingMethod) -> PrivacyVerdict:
    """Theory 3.4 to 3.6b through the one driver."""
    plan = with_paper_cost(task, method.plan)
    if method.group_form:
        require_pure(f"method={plan.method!r}", task.claim)
    if method.vacuous:
        return vacuous_verdict(task, plan, method.vacuous, method.vacuous)
    asked = task.mechanism, task.distribution, task.claim
    full = plan.method == "neighbourhoods"
    few = symmetric_sampling(*asked, draws=plan.draws, seed=task.seed) if full else None
    if few is not None:
        outcome = _run_within_budget(task, few, plan)
    else:
        judge = LossJudge(task.mechanism, task.distribution.domain, task.claim)
        outcome = run_draws(task, method.draw, judge, plan, pairs_per_draw=method.pairs_per_draw)
    return make_verdict(task, plan, outcome, *_meaning(task, method, outcome))


def run_draws(
    task: Task,
    draw: Draw,
    judge: Judge,
    plan: PrivacyPlan,
    *,
    pairs_per_draw: float = 1.0,
    stage: int = 0,
    chunk_points: Mapping[str, int] = _CHUNK_POINTS,
) -> RunOutcome:
    """Hand a law of batches to the driver; ``chunk_points`` for sources whose laws take long."""
    domain = task.distribution.domain
    sampling = Sampling(
        draw=draw,
        judge=judge,
        draws=plan.draws,
        points_per_draw=max(plan.laws_per_draw, pairs_per_draw),
        dimension=domain.dimension,
        seed=task.seed,
        stage=stage,
    )
    if task.mechanism.statistic is None:
        sampling = _pace(sampling, chunk_points.get(task.mechanism.source))
    return _run_within_budget(task, sampling, plan)


def _pace(sampling: Sampling, limit: int | None) -> Sampling:
    """Small chunks, where a law may take long."""
    if limit is not None:
        return replace(sampling, chunk_points=limit)
    if not isinstance(sampling.judge, PieceJudge):
        return sampling
    pieces = sampling.chunk_points // _PIECE
    return replace(sampling, pieces=min(pieces, sampling.chunk_draws))


def _run_within_budget(task: Task, sampling: Sampling, plan: PrivacyPlan) -> RunOutcome:
    if task.settings.budget is not None and plan.laws > task.settings.budget:
        # No more than the budget pays for, also within the first chunk.
        most = max(1, int(task.settings.budget / plan.laws_per_draw))
        sampling = replace(sampling, draws=min(plan.draws, most))
    outcome = run(
        sampling,
        executor=task.settings.executor,
        progress=task.settings.progress,
        max_queries=task.settings.budget,
        journal=task.journal(plan.method, sampling.stage),
    )
    if sampling.draws < plan.draws and outcome.ended == "complete":
        return replace(outcome, ended="budget", planned=plan.draws)
    return outcome


def make_sampled_promise(
    task: Task, source: str, *, group: bool, factor: float = 1.0, **numbers: Any
) -> Guarantee:
    """The meaning of a YES by sampling: ``factor`` times epsilon, in group form or not."""
    mass, failure = task.settings.exception_mass, task.settings.failure_probability
    claim = task.claim
    return promise(
        task,
        wording.sampling_sentence(mass, failure, group=group, factor=factor),
        "sampling",
        source,
        exception_mass=mass,
        failure_probability=failure,
        approximation_factor=factor,
        form="group" if group else "neighbour",
        **({"epsilon": float(claim.epsilon) * factor} if isinstance(claim, Claim) else {}),
        **numbers,
    )


def _meaning(task: Task, method: SamplingMethod, outcome: RunOutcome) -> Meaning:
    source = method.plan.source
    meaning = meaning_of_pair(task, source, outcome.total)
    if meaning is not None:
        return meaning
    if outcome.ended != "complete":
        return _partial(task, method, outcome)
    guarantee = make_sampled_promise(
        task,
        source,
        group=method.group_form,
        per_record=method.per_record,
        not_covered=method.not_covered,
    )
    return guarantee, ""


def _partial(task: Task, method: SamplingMethod, outcome: RunOutcome) -> Meaning:
    # 3.9b needs independent clean draws of the datasets themselves, not of edges.
    of_datasets = method.plan.method.endswith("neighbourhoods")
    done, planned, ended = outcome.total.draws, method.plan.draws, outcome.ended
    return partial_promise(task, done, planned, ended, method.plan.source, of_datasets=of_datasets)


def partial_promise(
    task: Task, done: int, planned: int, ended: str, source: str, *, of_datasets: bool = True
) -> Meaning:
    """What so many clean draws say where more were planned."""
    failure = task.settings.failure_probability
    why = "the budget ended" if ended == "budget" else ended
    reason = f"{why} after {done:,} of {planned:,} draws, all clean"
    if not of_datasets or done == 0:
        return nothing("no promise.", source), reason
    mass = certify_mass(done, failure)
    sentence = wording.sampling_sentence(round_up(mass), failure, group=False, factor=1.0)
    guarantee = promise(
        task,
        partial_sentence(sentence),
        "none",
        "theory 3.9b",
        exception_mass=mass,
        failure_probability=failure,
    )
    return guarantee, reason
