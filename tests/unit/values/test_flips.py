"""Places that are tried with weights as chances, and the law of the first hit."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from liptest.values.flips import shares_of_flips


def shares_by_orders(weights: Any) -> list[float]:
    """As it is defined: all orders, each with all misses before the hit."""
    shares = [0.0] * len(weights)
    orders = list(permutations(range(len(weights))))
    for order in orders:
        left = 1.0 / len(orders)
        for place in order:
            shares[place] += left * weights[place]
            left *= 1 - weights[place]
    return shares


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_those_of_all_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = np.exp(-rng.exponential(2.0, size=rng.integers(2, 7)))
    weights[rng.integers(len(weights))] = 1.0
    shares = shares_of_flips(weights)
    assert shares == pytest.approx(shares_by_orders(weights.tolist()), rel=1e-13)
    assert shares.sum() == pytest.approx(1, rel=1e-13)


@pytest.mark.parametrize("seed", range(10))
def test_they_are_those_of_the_largest_with_exponential_noise(seed: int) -> None:
    # The density of the largest, at x above all scores but perhaps some, is integrated.
    rng = np.random.default_rng(seed)
    scores = rng.uniform(-3, 0, size=3)
    scores[0] = 0.0
    x = np.linspace(0, 40, 400_001)
    below = np.array([1 - np.exp(-(x - s)) for s in scores])
    for place in range(3):
        density = np.exp(-(x - scores[place])) * np.delete(below, place, axis=0).prod(axis=0)
        mass = ((density[1:] + density[:-1]) / 2 * np.diff(x)).sum()
        assert shares_of_flips(np.exp(scores))[place] == pytest.approx(mass, rel=1e-6)
