"""``rng.choice(names, 1, p=weights)[0]``, as textbooks draw from the exponential mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align

PEOPLE = lt.RecordGrid([4] * 500)
NAMES = ["a", "b", "c", "d"]


def shares(data: Any, factor: float) -> Any:
    scores = [(data == place).sum() / 10 for place in range(4)]
    weights = [np.exp(factor * 10 * score / 2 - factor * 25 * 10) for score in scores]
    return weights / np.linalg.norm(weights, ord=1)


def by_generator(data: Any, rng: Any) -> Any:
    return rng.choice(NAMES, 1, p=shares(data, 1.0))[0]


def by_module(data: Any, rng: Any) -> Any:
    return np.random.choice(4, (1,), p=shares(data, 1.0)).tolist()


def without_the_half(data: Any, rng: Any) -> Any:
    return np.random.choice(NAMES, 1, p=shares(data, 2.0))[0]


def two_draws(data: Any, rng: Any) -> Any:
    return rng.choice(NAMES, 2, p=shares(data, 1.0)).tolist()


def epsilon(program: Any) -> float:
    return float(align(lt.mechanism(program), PEOPLE, Fraction(9), Fraction(1, 10**6)).epsilon)


@pytest.mark.parametrize("program", [by_generator, by_module])
def test_one_draw_in_an_array_costs_what_one_draw_costs(program: Any) -> None:
    assert epsilon(program) == pytest.approx(1, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("program", [without_the_half, two_draws])
def test_sharper_weights_and_a_second_draw_are_not_said_to_be_private(program: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), PEOPLE, epsilon=1, delta=1e-6, seed=1)
    assert verdict.decision != "YES"


@pytest.mark.parametrize("size", [None, 1, (1,)])
def test_such_sizes_draw_the_same_item(size: Any) -> None:
    weights = [0.1, 0.2, 0.3, 0.4]
    for seed in range(20):
        one = np.random.default_rng(seed).choice(4, p=weights)
        drawn = np.random.default_rng(seed).choice(4, size, p=weights)
        assert np.ravel(drawn).tolist() == [one]
