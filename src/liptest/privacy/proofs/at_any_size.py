"""What is tried before anything that takes long, at any size of the data.

In this order: a few datasets, whether the code answers at all; proofs by alignment and of one
record; a search for a refutation of a fixed number of laws. Small domains are visited first, since
that also tells the largest loss. Every step counts what it does, so that verdicts do not depend on
the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from liptest.balls import float_above
from liptest.data.answers import Answers
from liptest.data.distributions import DomainAlone
from liptest.data.domains import IntArray
from liptest.data.tables import RowsOfUsers
from liptest.errors import (
    LiptestError,
    MechanismError,
    UnlikeAnalysisError,
    UnsupportedRandomnessError,
)
from liptest.privacy.claims import text_above
from liptest.privacy.proofs.alignment import prove_by_alignment, run_alignment, say_unproved
from liptest.privacy.proofs.by_records import Unproved, prove_by_records
from liptest.privacy.proofs.prices import Alignment
from liptest.privacy.proofs.unanswered import never_answered
from liptest.privacy.request import Task, make_verdict, nothing
from liptest.privacy.searches.plain_pairs import is_large, plain_pairs
from liptest.privacy.searches.refutation import (
    TOO_DEAR,
    Refutation,
    SpreadSearch,
    run_refutation,
    search_refutation,
)
from liptest.privacy.searches.total_search import search_totals
from liptest.privacy.verdicts import (
    BY_ALIGNMENT,
    BY_REFUTATION,
    PrivacyPlan,
    PrivacyVerdict,
    Remedy,
)
from liptest.runs.driver import Judgement, RunOutcome
from liptest.runs.interrupts import deadline
from liptest.runs.workers import elsewhere, has_processes
from liptest.verdicts import Decision

_DRAWN = 3
_NOTHING = "nothing is promised"


@dataclass(frozen=True)
class Early:
    """A verdict, or what the early steps say of the claim without deciding it."""

    verdict: PrivacyVerdict | None = None
    alignment: Alignment | None = None
    refutation: Refutation | None = None
    records: Unproved | None = None


def run_at_any_size(task: Task) -> PrivacyVerdict:
    """The methods that do not visit or draw datasets."""
    methods = {
        BY_ALIGNMENT: run_alignment,
        BY_REFUTATION: _run_refutation,
    }
    return methods[str(task.settings.method)](task)


def _run_refutation(task: Task) -> PrivacyVerdict:
    """As after a proof by alignment that failed: the same pairs in the same order."""
    totals = search_totals(task)
    if totals.finding is not None:
        return totals.verdict(task)
    aligned = prove_by_alignment(task)
    return run_refutation(task, aligned if isinstance(aligned, Alignment) else None)


@dataclass(frozen=True, eq=False)
class _EarlySteps:
    task: Task

    def __call__(self) -> Early:
        return _early_steps(self.task)


def try_early(task: Task) -> Early:
    """The steps that take seconds at most, for code whose data are many.

    Code that may end its process runs in a worker, where there are workers.
    """
    if not task.mechanism.has_symbolic_data or not _is_early(task):
        return Early()
    if has_processes(task.settings.executor):
        return elsewhere(_EarlySteps(task.alone()), task.settings.executor)
    return _early_steps(task)


def _is_early(task: Task) -> bool:
    """Whether data are many, or texts are answered, which are enumerated text by text."""
    return is_large(task.distribution.domain) or task.mechanism.telling_words() is not None


def is_hopeless(task: Task, early: Early) -> bool:
    """Whether a single law of the code takes too long, so that visiting many is left to the user.

    Only where nothing was said of how data are drawn, or of how many laws may be computed.
    """
    tried = early.refutation
    if tried is None or task.settings.budget is not None:
        return False
    none_answered = tried.is_too_dear and len(tried.refusals) >= tried.pairs
    return none_answered and isinstance(task.distribution, DomainAlone)


def try_late(task: Task, early: Early, error: LiptestError) -> PrivacyVerdict | None:
    """What is known where visiting or drawing was refused; None: nothing better than the error.

    Of a small domain the early steps have not been tried.
    """
    is_broken = isinstance(error, MechanismError) and not _is_refusal(error)
    if not task.mechanism.has_symbolic_data or is_broken:
        return None
    if not _is_early(task):
        return _early_steps(task).verdict
    return leave_undecided(task, early) if isinstance(task.distribution, DomainAlone) else None


def decide_late(task: Task, found: PrivacyVerdict) -> PrivacyVerdict:
    """A proof by alignment where visiting a small domain has left the claim open, or that verdict.

    The tails of laws that were enumerated in part leave a claim open, however light they are.
    After Ctrl-C, or when the time has ended, nothing is started.
    """
    if found.decision is not Decision.INCONCLUSIVE or found.was_cut_off:
        return found
    if not task.mechanism.has_symbolic_data or _is_early(task):
        return found
    aligned = prove_by_alignment(task)
    return aligned if isinstance(aligned, PrivacyVerdict) else found


def _is_refusal(error: LiptestError) -> bool:
    return isinstance(error, (UnlikeAnalysisError, UnsupportedRandomnessError))


def _early_steps(task: Task) -> Early:
    _require_answers(task)
    # Milliseconds where it does not apply; a run of alignment on many records may be long.
    by_records = try_records(task)
    if isinstance(by_records, PrivacyVerdict):
        return Early(by_records)
    totals = search_totals(task)
    if totals.finding is not None:
        return Early(totals.verdict(task), refutation=totals)
    spread = SpreadSearch(task)
    aligned = prove_by_alignment(task, spread.finds)
    if isinstance(aligned, PrivacyVerdict):
        return Early(aligned)
    if aligned.is_refuted:
        return Early(spread.found.verdict(task), aligned, spread.found)
    refuted = search_refutation(task, aligned)
    if refuted.finding is not None:
        return Early(refuted.verdict(task), aligned, refuted)
    if spread.finds():
        # What floats never choose may refute a claim that a small delta mends.
        refuting = replace(spread.found.verdict(task), remedy=_find_delta(aligned))
        return Early(refuting, aligned, spread.found)
    return Early(None, aligned, refuted, by_records)


def try_records(task: Task) -> PrivacyVerdict | Unproved:
    """What the law of one record decides, or why nothing."""
    return prove_by_records(task, _decide_one_row)


def _decide_one_row(task: Task) -> PrivacyVerdict | str:
    """Of a table of one row: a proof by alignment, or of real columns a refutation; or neither."""
    aligned = prove_by_alignment(task)
    if isinstance(aligned, PrivacyVerdict):
        return aligned
    if isinstance(task.distribution.domain, RowsOfUsers):
        refuted = search_refutation(task, aligned)
        if refuted.finding is not None:
            return refuted.verdict(task)
    return say_unproved(aligned, task.claim)


def _require_answers(task: Task) -> None:
    """Raise MechanismError where every run on corners and on a few draws raises."""
    said: str | None = None
    for dataset in _first_datasets(task):
        said = task.mechanism.only_raises(dataset)
        if said is None:
            return
    raise never_answered(task.mechanism.name, said, task.distribution.domain)


def _first_datasets(task: Task) -> Iterator[IntArray]:
    """Corners and a few draws, each made only when it is needed: the first is mostly enough."""
    domain, rng = task.distribution.domain, np.random.default_rng(task.seed)
    yield domain.zeros
    if isinstance(domain, RowsOfUsers):
        yield from (domain.draw(rng, few) for few in range(1, _DRAWN + 1))
        yield from next(plain_pairs(domain), ())  # those drawn may have no rows
        return
    ends = np.ones(domain.dimension) if isinstance(domain, Answers) else domain.size_array - 1
    yield ends.astype(domain.dtype)
    if not isinstance(domain, Answers):
        yield from task.distribution.sample(rng, _DRAWN)


def leave_undecided(task: Task, early: Early) -> PrivacyVerdict:
    """What the early steps came to, where nothing else is tried."""
    alignment = early.alignment
    assert alignment is not None
    reason = say_unproved(alignment, task.claim)
    remedy: Remedy | None = None
    if not alignment.has_price:
        if early.records is not None and early.records.remedy is not None:
            reason, remedy = early.records.reason, early.records.remedy
        reason = f"not proved: {reason}"
    refutation = early.refutation
    if refutation is not None and refutation.is_too_dear:
        reason += f"; {TOO_DEAR}"
    laws, pairs, largest = (
        (0, 0, 0.0)
        if refutation is None
        else (refutation.laws, refutation.pairs, refutation.largest)
    )
    total = Judgement(queries=laws, pairs=pairs, largest=largest, answered=True)
    guarantee = nothing(f"{_NOTHING}: neither a proof nor a violation was found.", "theory S1")
    plan = PrivacyPlan("auto", 0, float(laws), 0.0, "theory S1")
    verdict = make_verdict(task, plan, RunOutcome(total, "complete", 0.0), guarantee, reason)
    return replace(verdict, remedy=_find_delta(alignment) or remedy)


def _find_delta(alignment: Alignment) -> Remedy | None:
    """The delta with which the claim is proved, where one is known."""
    if alignment.enough is None:
        return None
    return Remedy(delta=float(text_above(float_above(alignment.enough))))


def within_time(task: Task, check: Callable[[], PrivacyVerdict]) -> PrivacyVerdict:
    """A check that ``max_seconds`` ends with what is known by then."""
    with deadline(task.settings.max_seconds) as limit:
        try:
            verdict = check()
        except (KeyboardInterrupt, LiptestError):
            limit.close()
            if not limit.is_over:
                raise
            return _out_of_time(task)
    if not limit.is_over:
        return verdict
    if not verdict.reason.startswith("interrupted"):
        return _out_of_time(task)  # code may have swallowed the interrupt and answered otherwise
    words = f"max_seconds={limit.seconds:g} ended"
    return replace(verdict, reason=verdict.reason.replace("interrupted", words, 1))


def _out_of_time(task: Task) -> PrivacyVerdict:
    plan = PrivacyPlan("auto", 0, 0.0, 0.0, "theory 3.9")
    empty = RunOutcome(Judgement(answered=True), "interrupted", task.settings.max_seconds or 0.0)
    guarantee = nothing(f"{_NOTHING}: the time ended before anything was decided.", "theory 3.9")
    reason = f"max_seconds={task.settings.max_seconds:g} ended before anything was decided"
    return make_verdict(task, plan, empty, guarantee, reason)
