"""VarianceEdges finds what it promises, on functions whose distance is known by brute force.

The distance is the least mass of a set of points that meets every violated pair, over all 2^8
sets of points of the cube of 3 bits: nothing of the program takes part in it (theory 1.1, 2.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.distributions import Distribution
from liptest.lipschitz.verdicts import QueryPlan
from liptest.verdicts import Decision
from tests.statistical.binomial import SEEDS, STARVED, is_plausible

pytestmark = pytest.mark.slow

FAILURE = 0.05
CUBE = lt.Hypercube(3)
POINTS = CUBE.points(np.arange(8))

LAWS = {
    "uniform": lt.ProductDistribution.uniform(CUBE),
    "skewed": lt.ProductDistribution.bernoulli([0.5, 0.125, 0.75]),
    "one rare": lt.ProductDistribution.bernoulli([0.03, 0.5, 0.4]),
    "one constant": lt.ProductDistribution.bernoulli([0.25, 1.0, 0.5]),
}

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "one steep direction": lambda x: 1.5 * x[:, 2],
    "a spike": lambda x: 5.0 * np.all(x == [0, 1, 0], axis=1),
    "an edge of a spike": lambda x: 1.5 * (x[:, 0] & x[:, 1]),
    "a large jump on a ball": lambda x: 9.0 * (x.sum(axis=1) <= 1),
    "parity": lambda x: 1.25 * (x.sum(axis=1) % 2),
    "rough": lambda x: np.array([0.0, 1.7, 0.9, 2.1, 1.6, 0.2, 2.4, 0.4])[x @ [4, 2, 1]],
}


def distance(function: Callable[[np.ndarray], np.ndarray], law: lt.ProductDistribution) -> Fraction:
    values = [Fraction(float(value)) for value in function(POINTS)]
    masses = [law.exact_mass(point) for point in POINTS]
    bad = [
        1 << i | 1 << j
        for i, j in combinations(range(8), 2)
        if abs(values[i] - values[j]) > int(np.sum(POINTS[i] != POINTS[j]))
    ]
    covers = (cover for cover in range(256) if all(cover & pair for pair in bad))
    return min(sum((masses[i] for i in range(8) if c >> i & 1), Fraction(0)) for c in covers)


@dataclass(frozen=True)
class Starved(lt.testers.VarianceEdges):
    """Makes one draw in ``STARVED``."""

    def plan(self, distribution: Distribution, **numbers: float) -> QueryPlan:
        full = super().plan(distribution, **numbers)
        return replace(full, draws=-(-full.draws // STARVED))


def rejections(function: Any, law: lt.ProductDistribution, tester: Any, proximity: float) -> int:
    return sum(
        lt.check_lipschitz(
            function,
            law,
            proximity=proximity,
            failure_probability=FAILURE,
            tester=tester,
            seed=seed,
            tolerance=0.0,
        ).decision
        is Decision.REJECT
        for seed in range(SEEDS)
    )


CASES = [
    ("uniform", "one steep direction"),
    ("uniform", "a spike"),
    ("skewed", "one steep direction"),
    ("skewed", "a large jump on a ball"),
    ("skewed", "an edge of a spike"),
    ("one rare", "rough"),
    ("one constant", "an edge of a spike"),
]


@pytest.mark.parametrize(("law", "function"), CASES)
def test_far_functions_are_rejected_as_often_as_promised(law: str, function: str) -> None:
    true = float(distance(FUNCTIONS[function], LAWS[law]))
    assert true > 0
    asked = FUNCTIONS[function], LAWS[law]
    proximity = true * (1 - 1e-9)
    assert is_plausible(
        rejections(*asked, lt.testers.VarianceEdges(), proximity), SEEDS, at_least=1 - FAILURE
    )
    assert not is_plausible(rejections(*asked, Starved(), proximity), SEEDS, at_least=1 - FAILURE)


def test_distances_by_brute_force() -> None:
    uniform = LAWS["uniform"]
    known = {
        "one steep direction": Fraction(1, 2),
        "a spike": Fraction(1, 8),
        "an edge of a spike": Fraction(1, 4),
        "a large jump on a ball": Fraction(1, 2),
        "parity": Fraction(1, 2),
    }
    for name, value in known.items():
        assert distance(FUNCTIONS[name], uniform) == value
    assert distance(lambda x: x.sum(axis=1), uniform) == 0
    assert distance(FUNCTIONS["one steep direction"], LAWS["skewed"]) == Fraction(1, 4)
