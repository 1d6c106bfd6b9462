"""The exact epsilons that the docstrings of the catalogue give, by a plain loop over all pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Hypercube, RecordGrid
from liptest.mechanisms import catalogue

Loss = Callable[..., float]
EPSILONS = [0.1, 1.0, 3.0]
close = pytest.approx


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomised_response(largest_loss: Loss, epsilon: float) -> None:
    for d in (1, 3):
        mechanism = catalogue.randomised_response(d, epsilon)
        assert largest_loss(mechanism, Hypercube(d)) == close(epsilon, rel=1e-12)
        mechanism = catalogue.k_ary_randomised_response(d + 1, epsilon)
        assert largest_loss(mechanism, RecordGrid([d + 1])) == close(epsilon, rel=1e-12)


@pytest.mark.parametrize("keep", [Fraction(3, 4), Fraction(1, 10)])
def test_exact_randomised_response(largest_loss: Loss, keep: Fraction) -> None:
    mechanism = catalogue.exact_randomised_response(2, keep)
    truth = abs(math.log(keep / (1 - keep)))
    assert largest_loss(mechanism, Hypercube(2)) == close(truth, rel=1e-14)


@pytest.mark.parametrize("epsilon", [*EPSILONS, 800.0])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_right_counts(largest_loss: Loss, d: int, epsilon: float) -> None:
    for mechanism in (
        catalogue.truncated_geometric_count(d, epsilon),
        catalogue.truncated_geometric_count(d, epsilon, outputs=2),
        catalogue.truncated_geometric_count(d, epsilon, outputs=d + 4),
        catalogue.clamped_geometric_count(d, epsilon, 0, d),
        catalogue.clamped_geometric_count(d, epsilon, d - 1, d),
    ):
        assert largest_loss(mechanism, Hypercube(d)) == close(epsilon, rel=1e-12)


@pytest.mark.parametrize("rate", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_subsampled_count(largest_loss: Loss, d: int, epsilon: float, rate: float) -> None:
    truth = math.log(1 + rate * (math.exp(epsilon) - 1))
    mechanism = catalogue.subsampled_count(d, epsilon, rate)
    assert largest_loss(mechanism, Hypercube(d)) == close(truth, rel=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("d", "k"), [(1, 2), (4, 2), (3, 3), (5, 3), (3, 4)])
def test_exponential_mechanism(largest_loss: Loss, d: int, k: int, epsilon: float) -> None:
    u = math.exp(epsilon / 2)
    gain = (u - 1) * (u ** (d - 1) - 1) / (u + u ** (d - 1) + k - 2)
    mechanism = catalogue.exponential_mechanism(d, epsilon, choices=k)
    truth = epsilon / 2 + math.log(1 + gain)
    assert largest_loss(mechanism, RecordGrid([k] * d)) == close(truth, rel=1e-12)
    assert truth < epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("d", "k"), [(2, 2), (5, 2), (2, 3), (4, 3), (3, 4)])
def test_permute_and_flip(largest_loss: Loss, d: int, k: int, epsilon: float) -> None:
    def integral(p: float) -> float:
        # (1-t)(1-tp)^(k-2) on 0..1, by Simpson's rule, which is exact up to cubes.
        values = [(1 - t) * (1 - t * p) ** (k - 2) for t in (0.0, 0.5, 1.0)]
        return (values[0] + 4 * values[1] + values[2]) / 6

    waits = [integral(math.exp(-epsilon * votes / 2)) for votes in (d, d - 1)]
    mechanism = catalogue.permute_and_flip(d, epsilon, choices=k)
    truth = epsilon - math.log(waits[0] / waits[1])
    assert largest_loss(mechanism, RecordGrid([k] * d)) == close(truth, rel=1e-11)


def test_permute_and_flip_is_the_mean_over_all_orders() -> None:
    # Scores 2, 1, 0 and epsilon 2: flips succeed with 1, 1/e, 1/e^2; all six orders by hand.
    p = [1.0, math.exp(-1), math.exp(-2)]
    chances = np.zeros(3)
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        left = 1.0
        for item in order:
            chances[item] += left * p[item] / 6
            left *= 1 - p[item]
    law = catalogue.permute_and_flip(3, 2.0).law(np.array([0, 0, 1]))
    assert [law[o] for o in range(3)] == close(chances.tolist(), rel=1e-14)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_wrong_ones_are_infinitely_wrong(largest_loss: Loss, d: int) -> None:
    for mechanism in (
        catalogue.one_sided_noise_count(d, 1.0),
        catalogue.data_dependent_clamp(d, 1.0),
        catalogue.leak(d, 0.01),
        catalogue.needle(d, [1] * d, 1.0),
    ):
        assert largest_loss(mechanism, Hypercube(d)) == math.inf


def test_data_dependent_clamp_is_right_on_tables_with_many_ones(largest_loss: Loss) -> None:
    def fuller(point: np.ndarray) -> list[np.ndarray]:
        others = Hypercube(5).neighbours(point)
        return [other for other in others if min(other.sum(), point.sum()) >= 3]

    mechanism = catalogue.data_dependent_clamp(5, 1.0)
    assert largest_loss(mechanism, Hypercube(5), fuller) == close(1.0, rel=1e-12)


def test_needle_is_right_off_the_needle(largest_loss: Loss) -> None:
    needle = [0, 1, 1, 0]

    def others(point: np.ndarray) -> list[np.ndarray]:
        if point.tolist() == needle:
            return []
        return [y for y in Hypercube(4).neighbours(point) if y.tolist() != needle]

    mechanism = catalogue.needle(4, needle, 0.7)
    assert largest_loss(mechanism, Hypercube(4), others) == close(0.7, rel=1e-12)


def hockey_stick(mechanism: object, x: list[int], y: list[int], epsilon: float) -> float:
    left, right = (mechanism.law(np.array(side)) for side in (x, y))
    pairs = [(left.get(o, 0.0), right.get(o, 0.0)) for o in {*left, *right}]
    factor = math.exp(epsilon)
    return max(
        sum(max(0.0, p - factor * q) for p, q in pairs),
        sum(max(0.0, q - factor * p) for p, q in pairs),
    )


def test_leak_has_its_delta() -> None:
    mechanism = catalogue.leak(3, 0.01, record=1)
    for epsilon in (0.0, 5.0):
        assert hockey_stick(mechanism, [0, 0, 0], [0, 1, 0], epsilon) == close(0.01)
    assert hockey_stick(mechanism, [0, 0, 0], [1, 0, 1], 0.0) == 0.0


@pytest.mark.parametrize("count", [0, 1, 3])
def test_one_sided_noise_has_its_delta(count: int) -> None:
    mechanism = catalogue.one_sided_noise_count(4, 0.8)
    x = [1] * count + [0] * (4 - count)
    y = [1] * (count + 1) + [0] * (3 - count)
    assert hockey_stick(mechanism, x, y, 0.8) == close(-math.expm1(-0.8), rel=1e-12)
