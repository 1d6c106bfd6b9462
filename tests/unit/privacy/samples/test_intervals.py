"""Confidence bounds against exact binomial sums."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from liptest.privacy.samples.intervals import (
    binomial_lower,
    binomial_upper,
    clean_quantile,
    mean_lower,
    mean_upper,
)

CASES = [(0, 10), (1, 10), (5, 10), (9, 10), (10, 10), (3, 200), (100, 200), (199, 200)]


def at_most(hits: int, trials: int, p: float) -> Fraction:
    """Pr[Bin(trials, p) <= hits], exactly."""
    q = Fraction(p)
    terms = (math.comb(trials, k) * q**k * (1 - q) ** (trials - k) for k in range(hits + 1))
    return sum(terms, Fraction(0))


@pytest.mark.parametrize(("hits", "trials"), CASES)
@pytest.mark.parametrize("failure", [0.05, 1e-6])
def test_bounds_of_counts_are_valid_and_not_wider_than_needed(hits, trials, failure):
    upper, lower = (bound(hits, trials, failure) for bound in (binomial_upper, binomial_lower))
    assert 0.0 <= lower <= hits / trials <= upper <= 1.0
    if hits < trials:
        assert at_most(hits, trials, upper) <= Fraction(failure)
        inside = upper - 1e-3 * (upper - hits / trials)
        assert at_most(hits, trials, inside) > Fraction(failure)
    if hits > 0:
        assert 1 - at_most(hits - 1, trials, lower) <= Fraction(failure)
    assert (upper == 1.0) == (hits == trials)
    assert (lower == 0.0) == (hits == 0)


@pytest.mark.parametrize(("hits", "trials"), CASES)
def test_bounds_of_means_contain_those_of_counts(hits, trials):
    assert mean_lower(hits / trials, trials, 1e-3) <= binomial_lower(hits, trials, 1e-3)
    assert mean_upper(hits / trials, trials, 1e-3) >= binomial_upper(hits, trials, 1e-3)


@pytest.mark.parametrize("mean", [0.0, 1e-4, 0.3, 0.5, 1.0])
def test_bounds_of_means_solve_their_equation(mean):
    lower, upper = mean_lower(mean, 500, 1e-4), mean_upper(mean, 500, 1e-4)
    assert 0.0 <= lower <= mean <= upper <= 1.0
    for bound in (lower, upper):
        if 0 < bound < 1:
            divergence = sum(
                a * math.log(a / b) for a, b in ((mean, bound), (1 - mean, 1 - bound)) if a
            )
            assert math.exp(-500 * divergence) == pytest.approx(1e-4, rel=1e-3)


def test_where_no_number_is_excluded_the_bounds_are_the_ends():
    # Between these means and the ends lies no float.
    assert mean_upper(math.nextafter(1.0, 0.0), 10, 1e-3) == 1.0
    assert mean_lower(math.nextafter(0.0, 1.0), 10, 1e-3) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("mass", "trials"), [(0.1, 50), (0.1, 200), (1e-2, 1_380), (0.5, 3)])
def test_the_quantile_is_the_largest_that_holds(mass, trials):
    k = clean_quantile(mass, trials, 0.01)
    if k:
        assert at_most(k - 1, trials, mass) <= Fraction(1, 100)
    assert at_most(k, trials, mass) > Fraction(1, 100)


def test_too_few_trials_have_no_quantile():
    assert clean_quantile(1e-3, 100, 1e-6) == 0
