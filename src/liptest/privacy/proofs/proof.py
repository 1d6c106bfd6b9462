"""The exhaustive method (theory 3.7)."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from liptest.data.product import ProductDistribution
from liptest.errors import (
    InputError,
)
from liptest.mechanisms.base import (
    ClosedFormLosses,
    check_mechanism,
)
from liptest.mechanisms.laws import LawTable
from liptest.privacy.claims import AnyClaim, Claim
from liptest.privacy.comparison import (
    Answer,
    Screened,
    screen_pairs,
    show_loss,
)
from liptest.privacy.judge import LossJudge, Unexplored
from liptest.privacy.proofs.exhaustive import (
    ExhaustiveSize,
    PairBlock,
    check_affordable,
    exhaustive_size,
    pair_blocks,
)
from liptest.privacy.request import (
    Meaning,
    Task,
    make_verdict,
    meaning_of_pair,
    nothing,
    promise,
    with_paper_cost,
)
from liptest.privacy.verdicts import (
    PrivacyPlan,
    PrivacyVerdict,
    proof_sentence,
)
from liptest.privacy.wording.remedies import find_remedy
from liptest.privacy.wording.sentences import statistic_sentence, write_seen_sentence
from liptest.runs.driver import Finding, Judgement, RunOutcome
from liptest.runs.interrupts import until_interrupted
from liptest.verdicts import Decision

_SOURCE = "theory 3.7"
_FEW_PAIRS = 50_000


def run_exhaustive(task: Task) -> PrivacyVerdict:
    """Visit every neighbouring pair: YES is a proof of DP at the tolerance."""
    domain = task.distribution.domain
    size = exhaustive_size(task.mechanism, domain)
    check_affordable(size, task.settings.budget, task.mechanism)
    plan = with_paper_cost(task, PrivacyPlan("exhaustive", 0, float(size.laws), 0.0, _SOURCE))
    started = time.perf_counter()
    total, ended = Judgement(), "complete"
    try:
        blocks = pair_blocks(task.mechanism, domain, task.claim, task.settings.executor)
        judge = LossJudge(task.mechanism, domain, task.claim)
        judged = (judge_block(judge, block) for block in blocks)
        with closing(until_interrupted(judged)) as results:
            for result in results:
                total += result
                if task.settings.progress is not None:
                    task.settings.progress(total.pairs, size.pairs)
                if total.violation is not None:
                    ended = "violation"
                    break
    except KeyboardInterrupt:
        ended = "interrupted"
    outcome = RunOutcome(total, ended, time.perf_counter() - started)
    verdict = make_verdict(task, plan, outcome, *_meaning(task, outcome, size))
    if verdict.decision is not Decision.YES and ended != "interrupted":
        verdict = replace(verdict, remedy=find_remedy(task.mechanism, domain, task.claim, size))
    if isinstance(total.evidence, Unexplored):
        return verdict  # the exact exception mass would ask for laws that cost most
    return replace(verdict, exception_mass_found=_find_mass(task, verdict, size))


def _find_mass(task: Task, verdict: PrivacyVerdict, size: ExhaustiveSize) -> float | None:
    # Laws are computed once more, so only where they are few and cheap.
    from liptest.privacy.exception_mass import exception_mass, has_count_mass

    earlier = verdict.exception_mass_found
    few = size.pairs <= _FEW_PAIRS and not size.through_statistic
    masses = isinstance(task.distribution, ProductDistribution)
    if earlier is not None or verdict.decision is not Decision.NO or not (few and masses):
        return earlier
    closed = isinstance(check_mechanism(task.mechanism), ClosedFormLosses)
    if closed and not has_count_mass(task.mechanism, task.distribution):
        return None  # of real numbers that are compared by densities no mass is known
    claim = task.claim
    if not isinstance(claim, Claim):
        return None
    mass = exception_mass(
        task.mechanism,
        task.distribution,
        epsilon=claim.epsilon,
        delta=claim.delta,
        tolerance=claim.tolerance,
    )
    return mass.upper if mass.lower == mass.upper else None


def judge_block(judge: LossJudge, block: PairBlock) -> Judgement:
    """Compare one block; the worst pair that certainly breaks the claim is the witness."""
    screened = screen_pairs(block.laws, block.left, block.right, [judge.claim])
    total = Judgement(
        queries=block.queries,
        pairs=block.pairs,
        largest=show_loss(float(np.max(screened.losses, initial=0.0))),
        answered=block.laws.is_answered(),
        evidence=Unexplored.of(block.laws),
    )
    doubt: Finding | None = None
    for pair in _worst_first(block, screened, judge.claim):
        try:
            ends = block.locate(int(pair))
        except InputError:
            # A declared edge that no two neighbouring datasets realise proves nothing.
            doubt = doubt or Finding(np.zeros(0, np.int8), np.zeros(0, np.int8), 1)
            continue
        answer, finding = judge.certify(*ends, keep_doubt=doubt is None)
        if answer is Answer.VIOLATED and finding is not None:
            largest = max(total.largest, finding.evidence.measured)
            return replace(total, violation=finding, largest=largest)
        doubt = doubt or finding
    measured = 0.0 if doubt is None or doubt.evidence is None else doubt.evidence.measured
    return replace(total, doubt=doubt, largest=max(total.largest, measured))


def _worst_first(block: PairBlock, screened: Screened, claim: AnyClaim) -> NDArray[np.int64]:
    """What is flagged, so that one certification usually decides, and the witness tells most."""
    from liptest.privacy.exact import DIGITS

    flagged = screened.flagged
    losses = screened.losses[flagged]
    if not isinstance(block.laws, LawTable) or not isinstance(claim, Claim):
        return np.asarray(flagged[np.argsort(-losses, kind="stable")])
    # By the delta that the pair would need, as a tail of infinite loss hardly does.
    ends = block.left[flagged], block.right[flagged]
    sticks = block.laws.hockey_sticks(*ends, claim.threshold).round(DIGITS)
    return np.asarray(flagged[np.lexsort((-losses, -sticks))])


def _meaning(task: Task, outcome: RunOutcome, size: ExhaustiveSize) -> Meaning:
    doubt = outcome.total.doubt
    if outcome.total.violation is None and outcome.ended == "interrupted":
        return nothing("nothing is promised before every pair was visited.", _SOURCE), "interrupted"
    if outcome.total.violation is None and doubt is not None and doubt.evidence is None:
        reason = "a declared edge of the statistic breaks the claim, but no datasets realise it"
        return nothing(f"nothing is promised: {reason}; correct edge_pairs=.", _SOURCE), reason
    meaning = meaning_of_pair(task, _SOURCE, outcome.total)
    if meaning is not None:
        return meaning
    sentence = proof_sentence(task.claim, task.distribution.domain, size.condition)
    guarantee = promise(
        task,
        sentence + _why_enough(task, size, outcome.total.queries),
        "proof",
        _SOURCE,
        exception_mass=0.0,
        failure_probability=0.0,
        per_record=True,
        condition=size.condition,
    )
    return guarantee, ""


def _why_enough(task: Task, size: ExhaustiveSize, laws: int) -> str:
    if not size.through_statistic:
        return ""
    if task.mechanism.reads_only:
        name = task.mechanism.statistic.name
        what = "its count of ones" if name == "count" else f"its {name}"
        return write_seen_sentence(what, laws, size.pairs)
    return statistic_sentence(repr(task.mechanism.statistic.name), size.pairs)
