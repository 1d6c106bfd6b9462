"""What a certificate of a filter rests on, as far as it can be looked at (theory 3.13)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from liptest.data.distributions import Distribution
from liptest.data.product import ProductDistribution
from liptest.errors import shown
from liptest.mechanisms.additive import DiscreteLaplace
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import Claim
from liptest.privacy.noisy_queries import FilteredQuery, epsilon_below, unaffordable_mass
from liptest.privacy.notions import claimed_number
from liptest.privacy.verdicts import BY_FILTER, PrivacyPlan, PrivacyVerdict
from liptest.runs.fingerprints import distribution_hash
from liptest.statistics.user_statistic import UserStatistic
from liptest.verdicts import Cost

_SOURCE = "theory 3.13"
# Floats of a verdict are rounded, and another processor may round them otherwise.
_CLOSE = 1e-9


def filter_problems(
    verdict: PrivacyVerdict, mechanism: Mechanism, distribution: Distribution
) -> Iterator[str]:
    """What a YES by a filter rests on (theory 3.13), as far as it can be looked at.

    The released law is k + noise: k of a query that liptest filters on this distribution, noise of
    scale at least K / epsilon for the K by which the filtered k changes between neighbours.
    """
    query = _filtered(mechanism)
    if query is None or not isinstance(mechanism, ShiftMechanism):
        yield "method=filter: the mechanism is not a filtered query with discrete Laplace noise"
        return
    yield from _untested_problems(verdict)
    noise, claim = mechanism.noise, verdict.claim
    if not isinstance(claim, Claim):
        yield f"method=filter: no filter is made for claim={claim}"
        return
    assert isinstance(noise, DiscreteLaplace)
    if noise.scale * epsilon_below(claim.epsilon) < query.grid.steps:
        yield "method=filter: the noise is narrower than the claim needs"
    if distribution_hash(query.distribution) != distribution_hash(distribution):
        yield "method=filter: the filter is made for another distribution"
    settings = verdict.settings
    most = None if settings is None else settings.parameters.get("max_references")
    if most != query.max_references or not isinstance(distribution, ProductDistribution):
        yield f"method=filter: max_references={shown(most)}, but it is {query.max_references}"
        return
    excepted, stated = unaffordable_mass(distribution, most), verdict.guarantee.exception_mass
    if stated is None or not math.isclose(excepted, stated, rel_tol=_CLOSE):
        yield f"guarantee: exception_mass={stated}, but datasets of mass {excepted} are excepted"
    if settings is not None and excepted > settings.exception_mass:
        yield f"guarantee: exception_mass={excepted} is more than was allowed"


def _untested_problems(verdict: PrivacyVerdict) -> Iterator[str]:
    seconds = verdict.cost.seconds
    nothing = Cost(seconds=seconds), PrivacyPlan(BY_FILTER, 0, 0.0, 0.0, _SOURCE), 0
    if (verdict.cost, verdict.plan, verdict.seed) != nothing:
        yield "method=filter: nothing was drawn or counted, but the verdict has counts or a seed"
    if verdict.guarantee.source != _SOURCE:
        yield f"guarantee: source={verdict.guarantee.source!r}, but a filter's is another"
    if verdict.largest_loss != claimed_number(verdict.claim):
        yield f"largest_loss={verdict.largest_loss}, but the noise is made for the claim"


def _filtered(mechanism: Mechanism) -> FilteredQuery | None:
    if type(mechanism) is not ShiftMechanism or type(mechanism.noise) is not DiscreteLaplace:
        return None
    statistic = mechanism.statistic
    query = statistic.compute if type(statistic) is UserStatistic else None
    return query if type(query) is FilteredQuery else None
