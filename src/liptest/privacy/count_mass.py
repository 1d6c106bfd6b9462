"""Exact exception mass of a mechanism that sees only a count (theory 3.8b).

Some set W of datasets must meet every bad neighbouring pair. For a mechanism that sees only the
number of ones it is enough to choose levels: the lightest set of levels that meets every bad
pair (k, k+1), a recurrence along the path 0 .. d.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.statistics import Count
from liptest.privacy.certify import Answer
from liptest.privacy.claims import Claim
from liptest.privacy.pairs import certified_comparison, screen_pairs

# The level weights cost d^2 additions here.
MAX_RECORDS = 20_000


def has_count_mass(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether ``count_exception_mass`` applies: a count, a product law, not too many records."""
    return (
        isinstance(mechanism.statistic, Count)
        and isinstance(distribution, ProductDistribution)
        and distribution.domain.dimension <= MAX_RECORDS
    )


def level_masses(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Law of the number of ones of independent bits (Poisson-binomial); (d,) -> (d + 1,).

    Sums of positive terms only, so each mass has a relative error of about d * 2**-52 however
    small it is.
    """
    masses = np.zeros(len(probabilities) + 1)
    masses[0] = 1.0
    for k, p in enumerate(probabilities, start=1):
        moved = masses[:k] * p
        masses[:k] *= 1.0 - p
        masses[1 : k + 1] += moved
    return masses


def lightest_cover(masses: NDArray[np.float64], bad: NDArray[np.bool_]) -> float:
    """Least mass of levels that meets every bad pair (k, k+1); ``bad`` is (d,)."""
    free, taken = 0.0, float(masses[0])
    for mass, is_bad in zip(masses[1:].tolist(), bad.tolist(), strict=True):
        best = min(free, taken)
        free, taken = (taken if is_bad else best), best + mass
    return min(free, taken)


def count_exception_mass(
    mechanism: Any, distribution: ProductDistribution, claim: Claim
) -> tuple[float, float]:
    """Least mass of a set W off which a count mechanism keeps the claim, from below and above.

    The two differ only where declared errors leave pairs of levels undecided.
    """
    domain = distribution.domain
    levels = np.arange(domain.dimension + 1)
    laws = mechanism.laws_of(levels)
    rows = laws.distinct(levels)
    screened = screen_pairs(laws, rows[:-1], rows[1:], claim)
    bad = np.zeros(domain.dimension, dtype=bool)
    bad[screened.certain] = True
    possible = bad.copy()
    for level in np.setdiff1d(screened.flagged, screened.certain):
        x, y = mechanism.statistic.realise(domain, level, level + 1)
        answer = certified_comparison(mechanism, x, y, claim).answer
        bad[level] = answer is Answer.VIOLATED
        possible[level] = answer is not Answer.CLEAR
    masses = level_masses(distribution.probabilities)
    return lightest_cover(masses, bad), lightest_cover(masses, possible)
