"""The sensitivity gate catches a query whose bad pairs weigh just above the claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.gate.routes import SensitivityGate
from liptest.verdicts import Decision
from tests.statistical.binomial import SEEDS, is_plausible

pytestmark = pytest.mark.slow

FAILURE = 0.05
#: A tenth of the draws: every count of draws is proportional to 1 / exception_mass.
STARVED = 10
LAW = lt.ProductDistribution.bernoulli([0.5, 0.2, 0.1])
LOW, HIGH = (0, 1, 1), (1, 1, 1)
#: Both ends of the one bad pair weigh this much, so it is the exact exception mass: without one
#: of them no pair is bad, not even in the group form.
MASS = 0.5 * 0.2 * 0.1

METHODS: list[Any] = ["neighbourhoods", "light-neighbourhoods", "edges", lt.testers.VarianceEdges()]


def query() -> np.ndarray:
    """1 everywhere but 0 and 2 on one pair of neighbours: sensitivity 2, elsewhere 1."""
    table = np.ones((2, 2, 2))
    table[LOW], table[HIGH] = 0.0, 2.0
    return table


def test_the_mass_is_exact() -> None:
    points = LAW.domain.points(np.arange(8))
    pairs = [
        (tuple(x.tolist()), tuple(y.tolist()))
        for x in points
        for y in points
        if query()[tuple(y)] - query()[tuple(x)] > np.sum(x != y)
    ]
    assert pairs == [(LOW, HIGH)]
    assert float(LAW.exact_mass(LOW)) == float(LAW.exact_mass(HIGH)) == pytest.approx(MASS)


def caught(method: Any, exception_mass: float) -> int:
    table = query()
    gates = (
        SensitivityGate(
            table,
            LAW,
            sensitivity=1.0,
            epsilon=1.0,
            exception_mass=exception_mass,
            failure_probability=FAILURE,
            method=method,
            seed=seed,
        )
        for seed in range(SEEDS)
    )
    return sum(gate.certificate.decision is Decision.NO for gate in gates)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_bad_query_is_caught_as_often_as_promised(method: Any) -> None:
    claimed = MASS * (1 - 1e-9)
    assert is_plausible(caught(method, claimed), SEEDS, at_least=1 - FAILURE)
    assert not is_plausible(caught(method, STARVED * claimed), SEEDS, at_least=1 - FAILURE)
