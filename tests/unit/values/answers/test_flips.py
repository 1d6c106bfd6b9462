"""Places that are tried with weights as chances, and the law of the first hit."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from liptest.values.answers.flips import Tried, Tries, shares_of_flips


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


def tried(tries: Tries, count: int, *, is_order: bool) -> list[int]:
    """The places that the choices come to, one after another."""
    if not is_order:
        assert all(several == count for several, _ in tries.choices)
        return [place for _, place in tries.choices]
    left = list(range(count))
    order = []
    for several, place in tries.choices:
        assert several == len(left)
        order.append(left.pop(place))
    return order + left


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("is_order", [True, False])
def test_tries_end_at_the_place_and_tell_another_chance(seed: int, is_order: bool) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    weights = np.exp(-rng.exponential(20.0, size=count))
    weights[rng.integers(count)] = 1.0
    place = int(rng.integers(count))
    tries = Tries(weights, place, rng, tried=Tried(is_order))
    places = tried(tries, count, is_order=is_order)
    for by, last in ((0, place), (1e-8, None), (-1e-8, None)):
        chances = np.clip(weights * (1 + by), 2.0**-52, 1)
        pairs = list(zip(places, tries.coins, strict=False))
        hits = [k for k, coin in pairs if coin < chances[k]]
        assert len(tries.coins) <= len(places)
        if last is not None:
            assert hits == [last] == [places[len(tries.coins) - 1]]
        elif by > 0:
            missed = [k for k, _ in pairs[:-1] if weights[k] > 1e-6]
            assert set(missed) <= set(hits)
        elif 1e-6 < weights[place] < 1:
            assert place not in hits or places.count(place) > 1
