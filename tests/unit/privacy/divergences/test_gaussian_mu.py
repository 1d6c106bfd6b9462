"""mu of discrete Gaussian noise: corners by plain sums, and what is said beyond them."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from flint import arb

import liptest as lt
from liptest.balls import precision
from liptest.privacy.divergences.noise_likelihoods import _is_settled, _largest, enclose_gaussian_mu

QUANTILE = NormalDist().inv_cdf


def by_sums(sigma, shift):
    x = np.arange(-round(12 * sigma) - 9, round(12 * sigma) + 10)
    masses = np.exp(-(x**2) / (2 * sigma**2))
    tails = np.cumsum((masses / masses.sum())[::-1])[::-1]
    kept = [(a, b) for a, b in zip(tails, tails[shift:], strict=False) if b > 1e-20 and a < 0.99]
    return max(QUANTILE(a) - QUANTILE(b) for a, b in kept)


@pytest.mark.parametrize(
    ("sigma", "shift"), [("1/2", 1), ("1", 1), ("1", 3), ("7/5", 2), ("3", 1), ("3", 5), ("5", 4)]
)
def test_it_is_the_largest_corner(sigma, shift):
    scale = Fraction(sigma)
    found = enclose_gaussian_mu(scale, shift)
    exact = by_sums(float(scale), shift)
    assert float(found.lower) == pytest.approx(exact, rel=1e-9)
    assert float(found.upper) == pytest.approx(exact, rel=1e-9)
    assert found.upper >= found.lower > shift / float(scale)


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(3)])
def test_far_corners_are_below_whatever_settles_them(sigma):
    """What is proved of all corners from k on is true of those that can be calculated."""
    with precision(192):
        mu = arb(1.02) / arb(float(sigma))
        settled = [k for k in range(1, 120) if _is_settled(sigma, 1, mu, k)]
    assert settled
    x = np.arange(-200, 201)
    log = -(x**2) / (2 * float(sigma) ** 2)
    for k in settled[:20]:
        near, far = (math.fsum(np.exp(log[x >= at] - log[x == k]).tolist()) for at in (k - 1, k))
        total = math.fsum(np.exp(log).tolist())
        base = math.exp(float(log[x == k][0]))
        if base * far / total > 1e-290:
            gap = QUANTILE(base * near / total) - QUANTILE(base * far / total)
            assert gap <= float(mu)
    with precision(192):
        assert not _is_settled(sigma, 1, 1 / arb(float(sigma)) * arb(0.999), 100)


def test_twice_as_many_corners_change_nothing():
    few, more = (_largest(Fraction(3), 1, last) for last in (40, 80))
    with precision(192):
        assert abs(float(few.upper - more.upper)) < 1e-40


@pytest.mark.slow
def test_wide_noise_stays_open():
    assert enclose_gaussian_mu(Fraction(40), 1) is None
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(40))
    with pytest.raises(lt.errors.InputError, match="no closed form"):
        lt.exact_mu(noisy, lt.Hypercube(2))


@pytest.mark.slow
def test_claims_of_mu():
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(1))
    law = lt.ProductDistribution.bernoulli([0.3] * 4)
    mu = lt.exact_mu(noisy, law.domain)
    assert mu.upper - mu.lower < 1e-15
    assert lt.check_privacy(noisy, law, mu=mu.upper).decision == "YES"
    assert lt.check_privacy(noisy, law, mu=mu.lower * (1 - 1e-7)).decision == "NO"
    # Releases of it compose as normal ones of that mu, from above.
    verdict = lt.check_privacy(noisy, law, mu=mu.upper)
    assert lt.compose([verdict], releases=4).mu == pytest.approx(2 * mu.upper, rel=1e-8)
