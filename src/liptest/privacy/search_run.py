"""Verdicts of searches: ``method="search"``, and the search that follows a YES by sampling."""

from __future__ import annotations

from dataclasses import replace

from liptest.data.domains import require_one_at_a_time
from liptest.mechanisms.base import Mechanism
from liptest.privacy.exhaustive import exhaustive_size
from liptest.privacy.in_worker import search_in_worker
from liptest.privacy.proof import run_exhaustive
from liptest.privacy.request import (
    Meaning,
    Task,
    found_mass,
    meaning_of_pair,
    nothing,
    refuted,
    verdict_of,
    with_paper_cost,
)
from liptest.privacy.search import SearchOutcome, search
from liptest.privacy.verdicts import BY_SEARCH, PrivacyPlan, PrivacyVerdict, counted
from liptest.runs.driver import Outcome
from liptest.verdicts import Decision

_SOURCE = "theory 3.10"
# Laws of a search alone: seconds.
_BUDGET = {"declared": 100_000, "enumerated": 10_000}
# After a YES: at most this share of the laws that the sampling planned, and at most so many.
SEARCH_SHARE = 0.1
_MOST = {"declared": 20_000, "enumerated": 2_000}


def run_search(task: Task) -> PrivacyVerdict:
    """``method="search"``: NO with a witness, or INCONCLUSIVE.

    Where the budget pays for all neighbouring pairs they are all compared instead, which is a
    proof (method "exhaustive").
    """
    budget = task.settings.budget
    if budget is None:
        budget = _BUDGET.get(task.mechanism.source, _BUDGET["enumerated"])
    size = exhaustive_size(task.mechanism, task.distribution.domain)
    if size.possible and size.laws <= budget and size.pairs <= 100 * budget:
        return run_exhaustive(task)
    require_one_at_a_time(task.distribution.domain, "method='search' over so many datasets")
    plan = with_paper_cost(task, PrivacyPlan(BY_SEARCH, 0, float(budget), 0.0, _SOURCE))
    found = search(task, budget)
    verdict = verdict_of(
        task, plan, Outcome(found.total, found.ended, found.seconds), *_meaning(task, found)
    )
    return replace(verdict, cost=replace(verdict.cost, search_datasets=found.datasets))


def then_search(task: Task, verdict: PrivacyVerdict) -> PrivacyVerdict:
    """Search where a YES by sampling does not look; only a violation changes the decision."""
    if not task.distribution.domain.one_at_a_time:
        return verdict  # its moves are changes of one coordinate
    laws = _phase_budget(task, verdict)
    if verdict.guarantee.kind != "sampling" or laws < 2:
        return verdict
    found = search_in_worker(task, laws)
    cost = replace(
        verdict.cost,
        search_laws=found.laws,
        search_datasets=found.datasets,
        seconds=verdict.cost.seconds + found.seconds,
    )
    violation = found.total.violation
    if violation is None:
        return replace(verdict, cost=cost)
    return replace(
        verdict,
        decision=Decision.NO,
        witness=violation.evidence,
        guarantee=refuted(task, _SOURCE),
        cost=cost,
        largest_loss=max(verdict.largest_loss, found.total.largest),
        exception_mass_found=found_mass(task, verdict.plan, Decision.NO),
    )


def default_search_laws(mechanism: Mechanism, planned: float) -> int:
    """Laws of the search after a YES for which ``planned`` laws were planned."""
    most = _MOST.get(mechanism.source, _MOST["enumerated"])
    return int(min(most, SEARCH_SHARE * planned))


def _phase_budget(task: Task, verdict: PrivacyVerdict) -> int:
    laws = task.settings.search_laws
    if laws is None:
        laws = default_search_laws(task.mechanism, verdict.plan.laws)
    return (
        laws
        if task.settings.budget is None
        else min(laws, task.settings.budget - verdict.cost.laws)
    )


def _meaning(task: Task, search: SearchOutcome) -> Meaning:
    found = meaning_of_pair(task, _SOURCE, search.total)
    if found is not None:
        return found
    words = "interrupted: " if search.ended == "interrupted" else ""
    reason = f"{words}search over {counted(search.datasets, 'dataset')} found no violation"
    return nothing("nothing is promised: a search proves only what it finds.", _SOURCE), reason
