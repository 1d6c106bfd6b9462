"""Methods that look at datasets one by one: all of them, or those that are drawn."""

from __future__ import annotations

from dataclasses import replace

from liptest.data.distributions import DomainAlone, require_draws
from liptest.data.domains import require_one_at_a_time
from liptest.data.product import ProductDistribution
from liptest.errors import InputError
from liptest.mechanisms.base import Mechanism, through_all_numbers, through_reads
from liptest.privacy.exact import try_in_worker
from liptest.privacy.methods import (
    SamplingMethod,
    affordable_laws,
    edges,
    group,
    light,
    neighbourhoods,
)
from liptest.privacy.proofs.at_any_size import try_records
from liptest.privacy.proofs.by_records import Unproved
from liptest.privacy.proofs.exhaustive import exhaustive_size
from liptest.privacy.proofs.proof import run_exhaustive
from liptest.privacy.request import Task
from liptest.privacy.samples.atest import run_atest
from liptest.privacy.samples.sampled_tables import run_sampled_tables, speaks_of_tables
from liptest.privacy.samples.sampling_run import run_sampling
from liptest.privacy.samples.symmetric_records import count_laws_per_draw
from liptest.privacy.searches.search import run_search, then_search
from liptest.privacy.verdicts import BY_RECORDS, PrivacyPlan, PrivacyVerdict

_AFFORDABLE_PAIRS = 10**8
_AFFORDABLE_EDGES = 2 * 10**7


def visit_or_draw(task: Task, *, for_release: bool) -> PrivacyVerdict:
    """The verdict of the method that is asked for, or of the cheapest one.

    ``for_release``: as for ``check_with_settings``. Raises the errors of the mechanism.
    """
    domain = task.distribution.domain
    if speaks_of_tables(task):
        return run_sampled_tables(task)
    try_in_worker(task.mechanism, domain, task.settings.executor)
    certain = _by_records(task)
    if certain is not None:
        return certain

    def through(mechanism: Mechanism) -> PrivacyVerdict:
        return through_reads(mechanism, domain, lambda seen: _run(replace(task, mechanism=seen)))

    if for_release:
        return through(task.mechanism)
    return through_all_numbers(task.mechanism, domain.zeros, through)


def _by_records(task: Task) -> PrivacyVerdict | None:
    """The verdict for records that are treated one by one, where all datasets are too many."""
    method, domain = task.settings.method, task.distribution.domain
    if method == BY_RECORDS:
        verdict = try_records(task)
        if isinstance(verdict, Unproved):
            raise InputError(f"method={method!r}: {verdict.reason}", name="method", value=method)
        return verdict
    is_small = domain.size <= affordable_laws(task.mechanism, "plain")
    if method != "auto" or (is_small and not task.mechanism.is_per_record):
        return None
    verdict = try_records(task)
    return None if isinstance(verdict, Unproved) else verdict


def _run(task: Task) -> PrivacyVerdict:
    tester = task.settings.tester
    if tester is not None:
        require_one_at_a_time(task.distribution.domain, f"method={tester.name!r}")
        require_draws(task.distribution, f"method={tester.name!r}")
        return then_search(task, run_atest(task, tester))
    method = str(task.settings.method)
    chosen = choose_method(task) if method == "auto" else method
    if chosen not in ("exhaustive", "neighbourhoods", "search"):
        require_one_at_a_time(task.distribution.domain, f"method={chosen!r}")
    if chosen == "exhaustive":
        return run_exhaustive(task)
    if chosen == "search":
        return run_search(task)
    require_draws(task.distribution, f"method={chosen!r}")
    return then_search(task, run_sampling(task, _plan(task, chosen)))


def choose_method(task: Task) -> str:
    """Exhaustive, else full neighbourhoods, else light ones (theory 3.6b says why)."""
    size = exhaustive_size(task.mechanism, task.distribution.domain)
    most = _AFFORDABLE_EDGES if size.through_statistic else _AFFORDABLE_PAIRS
    if size.possible and size.laws <= _limit(task, "plain") and size.visits(task.claim) <= most:
        return "exhaustive"
    if isinstance(task.distribution, DomainAlone):
        return "neighbourhoods"
    numbers = task.settings.exception_mass, task.settings.failure_probability
    full = neighbourhoods(task.distribution, *numbers)
    domain = task.distribution.domain
    if not isinstance(task.distribution, ProductDistribution) or not domain.one_at_a_time:
        return "neighbourhoods"
    if _count_laws(task, full.plan) <= _limit(task, "sampling"):
        return "neighbourhoods"
    fewer = light(task.distribution, *numbers)
    return "neighbourhoods" if fewer.vacuous else "light-neighbourhoods"


def _count_laws(task: Task, plan: PrivacyPlan) -> float:
    """Laws that full neighbourhoods take; a budget pays for all that are counted."""
    few = count_laws_per_draw(task.mechanism, task.distribution)
    return plan.laws if few is None or task.settings.budget is not None else plan.draws * few


def _limit(task: Task, use: str) -> int:
    return (
        affordable_laws(task.mechanism, use)
        if task.settings.budget is None
        else task.settings.budget
    )


def _plan(task: Task, method: str) -> SamplingMethod:
    numbers = task.settings.exception_mass, task.settings.failure_probability
    if method == "group":
        return group(task.mechanism, task.distribution, *numbers)
    builders = {
        "neighbourhoods": neighbourhoods,
        "light-neighbourhoods": light,
        "edges": edges,
    }
    return builders[method](task.distribution, *numbers)
