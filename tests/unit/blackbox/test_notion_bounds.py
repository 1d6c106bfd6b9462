"""Lower bounds of rho and mu from samples."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import liptest as lt
from liptest.blackbox.notion_bounds import least_probability, mu_lower_bound, rho_lower_bound
from liptest.errors import InputError
from tests.statistical.binomial import is_plausible
from tests.unit.blackbox.mechanisms import BIT, responses

PAIR = ([0], [1])


def gauss(x, n, rng):
    """mu 1, rho 1/2."""
    return x[0] + rng.normal(0.0, 1.0, n)


def test_probabilities_are_bounded_from_below():
    for hits, draws in ((1, 1), (3, 10), (10, 10), (7, 60)):
        low = least_probability(hits, draws, 0.05)
        tail = sum(
            math.comb(draws, k) * low**k * (1 - low) ** (draws - k) for k in range(hits, draws + 1)
        )
        assert Fraction(49, 1000) < tail <= Fraction(5, 100)
    assert least_probability(0, 10, 0.05) == 0


@pytest.mark.slow
def test_gaussian_noise():
    mu = mu_lower_bound(lt.Sampler(gauss), PAIR, samples=50_000, seed=1)
    rho = rho_lower_bound(lt.Sampler(gauss), PAIR, samples=50_000, seed=1)
    assert 0.85 < mu.lower_bound < 1.0
    assert 0.25 < rho.lower_bound < 0.5
    assert "mu at least 0." in str(mu)


@pytest.mark.slow
def test_a_bit_tells_all():
    exact = lt.exact_rho(lt.catalogue.randomised_response(1, 1.0), lt.Hypercube(1))
    found = rho_lower_bound(lt.Sampler(responses), BIT, samples=100_000, seed=1)
    assert 0.9 * exact.value < found.lower_bound < exact.value


def test_nothing_known_is_0():
    same = lt.Sampler(lambda x, n, rng: rng.integers(0, 2, n))
    assert mu_lower_bound(same, PAIR, samples=5_000, seed=1).lower_bound < 0.1
    with pytest.raises(InputError, match="failure_probability"):
        mu_lower_bound(same, PAIR, failure_probability=1.0)


@pytest.mark.slow
def test_bounds_are_above_the_truth_no_more_often_than_allowed():
    seeds, above = 80, 0
    for seed in range(seeds):
        found = mu_lower_bound(
            lt.Sampler(gauss), PAIR, samples=2_500, seed=seed, failure_probability=0.1
        )
        above += found.lower_bound > 1.0
    assert is_plausible(seeds - above, seeds, at_least=0.9)
