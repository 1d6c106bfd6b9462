"""method="auto": a proof where affordable, else the strongest sampling that is."""

from __future__ import annotations

from liptest.data.distributions import ProductDistribution
from liptest.mechanisms.base import Mechanism
from liptest.privacy.exhaustive import exhaustive_size
from liptest.privacy.methods import light, neighbourhoods
from liptest.privacy.request import Task
from liptest.privacy.symmetric_records import count_laws_per_draw
from liptest.privacy.verdicts import PrivacyPlan

# Laws that take some ten seconds: a law costs about a microsecond from a formula, a
# millisecond from enumerated code, and next to nothing when it is one of a statistic's few.
_AFFORDABLE = {"statistic": 10**10, "declared": 2 * 10**7, "enumerated": 10**5}
_AFFORDABLE_PAIRS = 10**8
_AFFORDABLE_EDGES = 2 * 10**7


def choose_method(task: Task) -> str:
    """Exhaustive, else full neighbourhoods, else light ones (theory 3.6b says why)."""
    size = exhaustive_size(task.mechanism, task.distribution.domain)
    most = _AFFORDABLE_EDGES if size.through_statistic else _AFFORDABLE_PAIRS
    if (
        size.possible
        and size.laws <= _limit(task, "plain")
        and size.visits(task.claim.delta) <= most
    ):
        return "exhaustive"
    numbers = task.settings.exception_mass, task.settings.failure_probability
    full = neighbourhoods(task.distribution, *numbers)
    domain = task.distribution.domain
    if not isinstance(task.distribution, ProductDistribution) or not domain.one_at_a_time:
        return "neighbourhoods"
    if _asked_for(task, full.plan) <= _limit(task, "sampling"):
        return "neighbourhoods"
    fewer = light(task.distribution, *numbers)
    return "neighbourhoods" if fewer.vacuous else "light-neighbourhoods"


def _asked_for(task: Task, plan: PrivacyPlan) -> float:
    """Laws that full neighbourhoods take; a budget pays for all that are counted."""
    few = count_laws_per_draw(task.mechanism, task.distribution)
    return plan.laws if few is None or task.settings.budget is not None else plan.draws * few


def _limit(task: Task, use: str) -> int:
    return (
        affordable_laws(task.mechanism, use)
        if task.settings.budget is None
        else task.settings.budget
    )


def affordable_laws(mechanism: Mechanism, use: str) -> int:
    """Laws that take some ten seconds; ``use`` is "sampling" or "plain"."""
    if use == "sampling" and mechanism.statistic is not None:
        return _AFFORDABLE["statistic"]
    return _AFFORDABLE.get(mechanism.source, _AFFORDABLE["enumerated"])
