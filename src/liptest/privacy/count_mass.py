"""Exact exception mass of a mechanism that sees only a count (theory 3.8b).

Some set W of datasets must meet every bad neighbouring pair. For a mechanism that sees only the
number of ones it is enough to choose levels: the lightest set of levels that meets every bad
pair (k, k+1), a recurrence along the path 0 .. d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Domain
from liptest.mechanisms.base import Mechanism
from liptest.privacy.certify import Answer
from liptest.privacy.claims import Claim
from liptest.privacy.pairs import certified_comparison, screen_pairs
from liptest.statistics.protocol import Count
from liptest.sums_of_bits import level_masses

Flags = NDArray[np.bool_]

# Probabilities of outputs at all levels together that are computed.
_MOST_ENTRIES = 1 << 29
# Those at once.
_SLICE_ENTRIES = 1 << 22
# Pairs of levels that are certified one by one; of more, all are left open.
_MOST_CERTIFIED = 10_000


def has_count_mass(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether ``count_exception_mass`` applies: a count, a product law, not too many laws."""
    outputs = 1 if mechanism.outputs is None else len(mechanism.outputs)
    return (
        isinstance(mechanism.statistic, Count)
        and isinstance(distribution, ProductDistribution)
        and (distribution.domain.dimension + 1) * outputs <= _MOST_ENTRIES
    )


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
    [bounds] = count_exception_masses(mechanism, distribution, [claim])
    return bounds


def count_exception_masses(
    mechanism: Any, distribution: ProductDistribution, claims: Sequence[Claim]
) -> list[tuple[float, float]]:
    """``count_exception_mass`` of several claims; each law is asked for once."""
    masses, left_out = level_masses(distribution.probabilities)
    found = []
    for bad, possible in _bad_levels(mechanism, distribution.domain, claims):
        lower, upper = lightest_cover(masses, bad), lightest_cover(masses, possible)
        found.append((lower, upper + (left_out if possible.any() else 0.0)))
    return found


def _bad_levels(
    mechanism: Any, domain: Domain, claims: Sequence[Claim]
) -> Iterator[tuple[Flags, Flags]]:
    """For each claim which pairs (k, k+1) certainly break it, and which may; (d,) each."""
    d = domain.dimension
    bad, open_pairs = (np.zeros((len(claims), d), dtype=bool) for _ in range(2))
    outputs = 1 if mechanism.outputs is None else len(mechanism.outputs)
    step = max(64, min(1 << 16, _SLICE_ENTRIES // outputs))
    for start in range(0, d, step):
        levels = np.arange(start, min(start + step, d) + 1)
        laws = mechanism.laws_of(levels)
        rows = laws.distinct(np.arange(len(levels)))
        for place, claim in enumerate(claims):
            screened = screen_pairs(laws, rows[:-1], rows[1:], claim)
            bad[place, start + screened.certain] = True
            flagged = np.setdiff1d(screened.flagged, screened.certain)
            open_pairs[place, start + flagged] = True
    for claim, broken, left_open in zip(claims, bad, open_pairs, strict=True):
        yield _certified(mechanism, domain, claim, broken, left_open)


def _certified(
    mechanism: Any, domain: Domain, claim: Claim, bad: Flags, open_pairs: Flags
) -> tuple[Flags, Flags]:
    possible = bad | open_pairs
    for level in np.flatnonzero(open_pairs)[:_MOST_CERTIFIED]:
        x, y = mechanism.statistic.realise(domain, level, level + 1)
        answer = certified_comparison(mechanism, x, y, claim).answer
        bad[level] = answer is Answer.VIOLATED
        possible[level] = answer is not Answer.CLEAR
    return bad, possible
