"""Exact exception mass: against brute force over all sets of datasets, and the count recurrence."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import liptest as lt


def brute_force_mass(mechanism, distribution, epsilon: float) -> float:
    domain = distribution.domain
    points = domain.points(np.arange(domain.size))
    laws = [mechanism.law(point) for point in points]
    mass = distribution.mass(points)
    bad = []
    for i, j in itertools.combinations(range(domain.size), 2):
        if domain.distance(points[i], points[j])[0] == 1:
            loss = max(abs(math.log(laws[i][o]) - math.log(laws[j][o])) for o in laws[i])
            if loss > epsilon * (1 + 1e-9) + 1e-9:
                bad.append((i, j))
    sets = range(2**domain.size)
    covers = (w for w in sets if all(w >> i & 1 or w >> j & 1 for i, j in bad))
    return min(sum(mass[i] for i in range(domain.size) if w >> i & 1) for w in covers)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("domain", [lt.Hypercube(3), lt.Hypergrid([3, 3]), lt.RecordGrid([3, 2])])
def test_exact_exception_mass_is_the_least_over_all_sets(seed, domain):
    rng = np.random.default_rng(seed)
    table = rng.random((domain.size, 2))
    table /= table.sum(axis=1, keepdims=True)
    mechanism = lt.ClosedForm([0, 1], lambda x: np.log(table[domain.index(x)]))
    marginals = [rng.dirichlet(np.ones(n)) for n in domain.sizes]
    distribution = lt.ProductDistribution(domain, marginals)
    for epsilon in (0.3, 1.0, 2.0):
        found = lt.exception_mass(mechanism, distribution, epsilon=epsilon)
        truth = brute_force_mass(mechanism, distribution, epsilon)
        assert found.lower <= truth + 1e-12
        assert found.upper >= truth - 1e-12
        if not isinstance(domain, lt.RecordGrid):
            assert found.lower == pytest.approx(truth, abs=1e-12) == found.upper


def test_the_count_recurrence_agrees_with_the_flow_over_datasets():
    rng = np.random.default_rng(5)
    table = rng.random((8, 3))
    logs = np.log(table / table.sum(axis=1, keepdims=True))
    distribution = lt.ProductDistribution.bernoulli(rng.random(7))
    count = lt.StatisticMechanism(lt.Count(), range(3), lambda s: logs[s])
    plain = lt.ClosedForm(range(3), lambda x: logs[x.sum(axis=1)])
    for epsilon in (0.2, 0.5, 1.0):
        levels = lt.exception_mass(count, distribution, epsilon=epsilon)
        flow = lt.exception_mass(plain, distribution, epsilon=epsilon)
        assert levels.lower == pytest.approx(flow.lower, abs=1e-12)
        assert flow.lower == flow.upper


def test_profile_falls_to_zero_at_the_exact_epsilon():
    mechanism = lt.catalogue.truncated_geometric_count(6, 0.7)
    distribution = lt.ProductDistribution.uniform(lt.Hypercube(6))
    profile = lt.privacy_profile(mechanism, distribution, epsilons=[0.3, 0.7, 1.0])
    masses = [point.upper for point in profile.points]
    assert masses[0] == pytest.approx(0.5)
    assert masses[1:] == [0.0, 0.0]
    assert profile.largest_loss == pytest.approx(0.7, abs=1e-12)
    assert profile.smallest_epsilon(0.1) == 0.7
    assert profile.smallest_epsilon(0.6) == 0.3


def test_a_pair_that_cannot_be_decided_counts_above_only():
    eta = 1e-3
    p = math.exp(1.0) / (1 + math.exp(1.0))
    mechanism = lt.ClosedForm(
        [0, 1], lambda x: np.log(np.where(x == [[0, 1]], p, 1 - p)), error=eta
    )
    distribution = lt.ProductDistribution.bernoulli([0.3])
    found = lt.exception_mass(mechanism, distribution, epsilon=1.0)
    assert (found.lower, found.upper) == (0.0, pytest.approx(0.3))


def test_too_many_pairs_are_refused_with_the_number():
    mechanism = lt.ClosedForm([0], lambda x: np.zeros((len(x), 1)))
    distribution = lt.ProductDistribution.uniform(lt.Hypercube(30))
    with pytest.raises(lt.errors.BudgetError, match="4,000,000"):
        lt.exception_mass(mechanism, distribution, epsilon=1.0)


@pytest.mark.parametrize(
    "options",
    [
        {"epsilons": 1.0},
        {"epsilons": ["a"]},
        {"epsilons": [None]},
        {"failure_probability": 0},
        {"exception_mass": 2},
        {"seed": -1},
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_where_the_profile_is_exact_too(options):
    law = lt.ProductDistribution.uniform(lt.Hypercube(2))
    with pytest.raises(lt.errors.InputError):
        lt.privacy_profile(lt.catalogue.randomised_response(2, 1.0), law, **options)


def test_an_epsilon_may_be_written_as_a_logarithm():
    law = lt.ProductDistribution.uniform(lt.Hypercube(2))
    given = lt.catalogue.randomised_response(2, 1.0)
    for epsilons in (["log(3)"], [lt.log(3)], (math.log(3),)):
        [point] = lt.privacy_profile(given, law, epsilons=epsilons).points
        assert point.epsilon == pytest.approx(math.log(3))


def test_each_law_of_a_count_is_asked_for_once_for_all_epsilons():
    asked = []

    def logs(values):
        asked.append(len(values))
        weights = np.exp(-np.abs(np.arange(51)[None, :] - np.asarray(values)[:, None]))
        return np.log(weights / weights.sum(axis=1, keepdims=True))

    mechanism = lt.StatisticMechanism(lt.Count(), range(51), logs)
    law = lt.ProductDistribution.bernoulli(np.linspace(0.1, 0.9, 50))
    counted = []
    for many in (1, 30):
        asked.clear()
        whole = lt.privacy_profile(mechanism, law, epsilons=np.linspace(0.2, 2, many))
        counted.append(sum(asked))
    assert counted[0] == counted[1]
    for point in whole.points:
        [one] = lt.privacy_profile(mechanism, law, epsilons=[point.epsilon]).points
        assert one == point
