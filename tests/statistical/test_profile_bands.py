"""Bands cover the exact curve at least as often as they claim, at all epsilons at once.

The failure probability is large, so that a band that is wrong more often is noticed. Two starved
variants fail the same check: bounds as for fifty times the draws that were made, and an epsilon
from a loss further down the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.request import Task
from liptest.privacy.samples.bands import Profiling, _lower, _run, _upper, claims_at, sample_bands
from liptest.privacy.settings import CheckSettings
from tests.statistical.binomial import STARVED, is_plausible

pytestmark = pytest.mark.slow

RUNS, DRAWS, FAILURE, MASS = 500, 300, 0.2, 0.05
EPSILONS = (0.3, 0.7, 1.2, 2.0)
GRID = claims_at(EPSILONS, 0.0, 1e-9)


@dataclass(frozen=True)
class Case:
    mechanism: object
    distribution: object


def table(domain, seed):
    rows = np.random.default_rng(seed).dirichlet(np.ones(2), domain.size)
    rng = np.random.default_rng(seed + 1)
    law = lt.ProductDistribution(domain, [rng.dirichlet(np.full(n, 2.0)) for n in domain.sizes])
    return Case(lt.ClosedForm(range(2), lambda x: np.log(rows[domain.index(x)])), law)


NEEDLE = lt.catalogue.needle(3, [1, 1, 1], 0.5)
CASES = {
    "a needle": Case(NEEDLE, lt.ProductDistribution.bernoulli([0.5, 0.6, 0.4])),
    "a cube": table(lt.Hypercube(4), 3),
    "counts": table(lt.Hypergrid([4, 3]), 4),
    "records": table(lt.RecordGrid([3, 3]), 5),
}


def exact(case):
    found = lt.privacy_profile(case.mechanism, case.distribution, epsilons=EPSILONS, method="exact")
    return np.array([(point.lower, point.upper) for point in found.points])


def task(case, seed, *, light):
    settings = CheckSettings(epsilon=1.0, exception_mass=MASS, failure_probability=FAILURE)
    return Profiling(Task(case.mechanism, case.distribution, settings, seed), light)


def covered(lower, upper, truth):
    return bool(np.all(lower <= truth[:, 1] + 1e-12) and np.all(upper >= truth[:, 0] - 1e-12))


# Where covers and matchings are tight, bounds of too few draws miss the curve.
RUNS_OF_BANDS = [
    ("a needle", False, True),
    ("a needle", True, True),
    ("a cube", False, True),
    ("a cube", True, False),
    ("counts", False, True),
    ("records", False, False),
]


@pytest.mark.parametrize(("name", "light", "tight"), RUNS_OF_BANDS)
def test_bands_cover_the_exact_curve(name, light, tight):
    case, truth, share = CASES[name], exact(CASES[name]), FAILURE / 3
    hits = starved = 0
    for seed in range(RUNS):
        one = task(case, seed, light=light)
        judge = one.judge(GRID)
        counts = _run(one, judge, DRAWS, 0).total.evidence
        for factor in (1, STARVED):
            more, draws = times(counts, factor), factor * DRAWS
            upper = _upper(more, draws, share / (len(GRID) * judge.covers))
            lower = _lower(one, more, draws, share / (2 * len(GRID)))
            good = covered(lower, upper, truth)
            hits, starved = (hits + good, starved) if factor == 1 else (hits, starved + good)
    assert is_plausible(hits, RUNS, at_least=1 - 2 * share)
    assert not (tight and is_plausible(starved, RUNS, at_least=1 - 2 * share))


def times(counts, factor):
    """The counts as if every draw had been made so often."""
    return replace(
        counts,
        covers=counts.covers * factor,
        matchings=counts.matchings * factor,
        shares=counts.shares * factor,
    )


def test_the_certified_epsilon_is_exceeded_by_little_mass():
    case = CASES["a cube"]
    domain = case.distribution.domain
    laws = case.mechanism.log_pmf(domain.points(np.arange(domain.size)))
    losses = np.abs(laws[:, None] - laws[None, :]).max(axis=2)
    points = domain.points(np.arange(domain.size))
    neighbours = domain.distances(points, points) == 1
    lighter = case.distribution.mass(points)[:, None] < case.distribution.mass(points)[None, :]
    largest = np.where(neighbours & lighter, losses, 0.0).max(axis=1)
    masses = case.distribution.mass(points)
    hits = starved = 0
    for seed in range(RUNS):
        one = task(case, seed, light=False)
        found = sample_bands(one, GRID, DRAWS)
        hits += masses[largest > found.certified].sum() <= MASS
        tail = _run(one, one.judge(GRID, kept=DRAWS), DRAWS, 0).total.evidence.largest
        starved += masses[largest > tail[int(1.5 * DRAWS * MASS)]].sum() <= MASS
    assert is_plausible(hits, RUNS, at_least=1 - FAILURE / 3)
    assert not is_plausible(starved, RUNS, at_least=1 - FAILURE / 3)
