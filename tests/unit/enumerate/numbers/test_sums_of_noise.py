"""Answers that are sums of several continuous draws: densities, losses and deltas of sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

import liptest as lt
from liptest.enumerate.numbers.real_outputs import ContinuousFunction
from liptest.errors import InputError, UnsupportedForm, UnsupportedRandomnessError

Floats = NDArray[np.float64]
ONE_BIT = lt.Hypercube(1)


def stick(draw: Callable[..., Any], epsilon: float) -> float:
    """The hockey-stick divergence of one record that is 0 or 1."""
    seen = lt.mechanism(draw).densities()
    assert isinstance(seen, ContinuousFunction)
    found = seen.pair_hockey_stick(np.array([0]), np.array([1]), arb(epsilon))
    assert found.rad() < 1e-15
    return float(found.mid())


def difference(data: Any, rng: Any) -> Any:
    return data.sum() + rng.exponential(2) - rng.exponential(2)


def alone(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, 2)


def two(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, 2) + rng.laplace(0, 2)


def two_apart(data: Any, rng: Any) -> Any:
    noisy = [data.sum() + rng.laplace(0, 2), rng.laplace(0, 2)]
    return (0, noisy[0] - noisy[1]) if noisy[0] > noisy[1] else (1, noisy[1] - noisy[0])


@pytest.mark.slow
def test_the_difference_of_exponential_draws_is_laplace_noise() -> None:
    for measure in (lt.exact_epsilon, lt.exact_rho, lt.exact_mu):
        found, known = (measure(lt.mechanism(draw), ONE_BIT) for draw in (difference, alone))
        assert found.value == pytest.approx(known.value, rel=1e-9)
    for epsilon in (0.0, 0.2, 0.45, 0.6):
        assert stick(difference, epsilon) == pytest.approx(stick(alone, epsilon), abs=1e-15)


def of_two(t: Floats) -> Floats:
    """The density of the sum of two Laplace draws of scale 2."""
    return np.asarray((1 + np.abs(t) / 2) * np.exp(-np.abs(t) / 2) / 8)


def integral(values: Callable[[Floats], Floats]) -> float:
    """Gauss-Legendre on short cells, which end where a density changes its formula."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    edges = np.arange(-160, 162) / 2
    points = edges[:-1, None] + (nodes + 1) / 4
    return float((values(points) * weights / 4).sum())


@pytest.mark.slow
@pytest.mark.parametrize("draw", [two, two_apart])
def test_two_laplace_draws_by_quadrature(draw: Any) -> None:
    total = integral(lambda t: np.abs(of_two(t) - of_two(t - 1))) / 2
    assert stick(draw, 0.0) == pytest.approx(total, abs=1e-12)
    # The loss is largest far out, where nothing reaches it.
    epsilon = lt.exact_epsilon(lt.mechanism(draw), ONE_BIT)
    assert epsilon.lower <= 0.5 <= epsilon.upper < 0.5 + 1e-11
    assert stick(draw, 0.5) < 1e-60
    assert stick(draw, 0.49) > 0


@pytest.mark.slow
def test_rho_and_mu_of_two_laplace_draws_by_quadrature() -> None:
    mechanism = lt.mechanism(two)
    rho = lt.exact_rho(mechanism, ONE_BIT)
    limit = integral(lambda t: of_two(t) * np.log(of_two(t) / of_two(t - 1)))
    assert rho.upper - rho.lower < 1e-9
    assert rho.value == pytest.approx(limit, rel=1e-9)
    mu = lt.exact_mu(mechanism, ONE_BIT)
    assert 0 < mu.lower <= mu.upper <= mu.lower * (1 + 1e-7)
    # By symmetry the best test is the sign of t - 1 / 2: of the density 2 u for u = t / 2 + 1 / 4.
    share = 1 / 2 + (1 - integral(lambda t: np.abs(of_two(t) - of_two(t - 1))) / 2) / -2 + 1 / 2
    assert mu.value == pytest.approx(2 * NormalDist().inv_cdf(share), rel=1e-6)


@pytest.mark.slow
def test_three_uniform_draws_moved() -> None:
    def draw(data: Any, rng: Any) -> Any:
        return data.sum() + rng.random() + rng.random() + rng.random()

    assert lt.exact_epsilon(lt.mechanism(draw), ONE_BIT).value == math.inf
    # Irwin and Hall: two thirds lie between 1 and 2.
    assert stick(draw, 0.0) == pytest.approx(2 / 3, abs=1e-12)


def test_probabilities_of_cells_are_those_of_draws() -> None:
    seen = lt.mechanism(two).densities()
    assert isinstance(seen, ContinuousFunction)
    law = seen.law(np.array([1]))
    assert float(law.unexplored) < 1e-5
    masses = dict(law.items())
    rng = np.random.default_rng(3)
    drawn = 1 + rng.laplace(0, 2, 40_000) + rng.laplace(0, 2, 40_000)
    below = sum(mass for cell, mass in masses.items() if cell.high <= 0)
    assert below == pytest.approx(np.mean(drawn < 0), abs=0.012)


@pytest.mark.parametrize(
    "draw",
    [
        lambda data, rng: data.sum() + rng.normal() + rng.normal(),
        lambda data, rng: data.sum() + rng.laplace() + rng.normal(),
    ],
)
def test_sums_with_smooth_noise_are_refused_at_their_line(draw: Any) -> None:
    with pytest.raises(UnsupportedRandomnessError, match="a sum of several continuous"):
        lt.exact_epsilon(lt.mechanism(draw), ONE_BIT)


def test_sums_that_share_a_draw_are_refused() -> None:
    def shared(data: Any, rng: Any) -> Any:
        first, second, third = (rng.laplace() for _ in range(3))
        return data.sum() + first + second, first + third

    with pytest.raises(UnsupportedRandomnessError, match="a sum of several continuous"):
        lt.exact_epsilon(lt.mechanism(shared), ONE_BIT)

    def compared(data: Any, rng: Any) -> Any:
        first, second, third = (rng.laplace() for _ in range(3))
        return data.sum() + first + second, first + second + third > 0

    with pytest.raises((UnsupportedForm, InputError)):
        lt.exact_epsilon(lt.mechanism(compared), ONE_BIT)


@pytest.mark.slow
def test_a_sum_that_is_told_twice_is_one_number() -> None:
    def twice(data: Any, rng: Any) -> Any:
        total = data.sum() + rng.laplace(0, 2) + rng.laplace(0, 2)
        return total, 2 * total + 1

    assert lt.exact_epsilon(lt.mechanism(twice), ONE_BIT).value == pytest.approx(0.5, abs=1e-11)
