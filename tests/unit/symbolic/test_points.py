"""Points inside constraints, for runs with concrete noise."""

from __future__ import annotations

import numpy as np
import pytest

from liptest.errors import SymbolicError
from liptest.symbolic.probability import System
from tests.unit.symbolic.systems import V, at_least, at_most, below, equal, noise, total

MIXED = [
    noise("laplace"),
    noise("uniform"),
    noise("exponential"),
    noise("geometric", 0.5),
    noise("two-sided geometric", 0.5),
    noise("normal"),
]


@pytest.mark.parametrize("seed", range(8))
def test_points_lie_inside(seed: int) -> None:
    constraints = [
        below(V(0) - V(1), -100),
        (V(1) - V(2)).between(-0.001, 0),
        equal(V(3) + V(4), -7),
        at_least(V(4), -9),
        at_most(V(5), 1e-9),
    ]
    point = System(MIXED).points_inside(constraints)(np.random.default_rng(seed))
    assert point[0] - point[1] < -100
    assert -0.001 < point[1] - point[2] < 0 < point[2]
    assert 0 < point[1] < 1
    assert point[3] + point[4] == -7
    assert point[4] >= -9
    assert point[3] >= 1
    assert point[3].denominator == point[4].denominator == 1
    assert point[5] < 1e-9


def test_points_are_far_from_all_ends() -> None:
    point = System(MIXED).points_inside([total(0, 2).between(4, 5)])(np.random.default_rng(0))
    assert 4.1 < point[0] + point[2] < 4.9


def test_without_constraints_each_value_is_possible() -> None:
    point = System(MIXED).points_inside([])(np.random.default_rng(0))
    for noise_of, value in zip(MIXED, point, strict=True):
        low, high = noise_of.support
        assert low is None or value >= low
        assert high is None or value < high


def test_impossible_constraints_have_none() -> None:
    with pytest.raises(SymbolicError, match="cannot hold"):
        System(MIXED).points_inside([below(V(2))])(np.random.default_rng(0))
