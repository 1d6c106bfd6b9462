"""Probabilities of constraints on noise agree with draws of NumPy's generator."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liptest.symbolic.forms import Constraint
from liptest.symbolic.noise import Noise
from tests.statistical.binomial import DRAWS, STARVED, fits
from tests.unit.symbolic.systems import V, below, noise, probability, total

pytestmark = pytest.mark.slow

LAPLACE, NORMAL = noise("laplace"), noise("normal", 2)
GEOMETRIC = noise("geometric", 0.4)
CASES: list[tuple[list[Noise], list[Constraint]]] = [
    (
        [LAPLACE, noise("exponential", 2), noise("uniform")],
        [(V(0) - V(1)).between(-2, 1), (2 * V(0) + V(2)).between(-1, 2)],
    ),
    (
        [LAPLACE] * 4,
        [(V(i) - V(j)).between(-2, 1) for i, j in ((0, 1), (1, 2), (2, 0), (2, 3))],
    ),
    ([LAPLACE, LAPLACE, LAPLACE], [total(0, 1, 2).between(0, 2), total(0, 1).between(-1, 1)]),
    (
        [GEOMETRIC, noise("two-sided geometric", 0.7), GEOMETRIC],
        [(V(0) + V(1)).between(1, 4, low_closed=True), below(V(1) - V(2))],
    ),
    (
        [noise("gumbel"), NORMAL, noise("logistic", 1.5)],
        [(V(0) - V(1)).between(-1, 3), below(V(2) - V(0)), V(0).between(-1, 2)],
    ),
    ([NORMAL, NORMAL, LAPLACE], [(V(0) - V(1) + 2 * V(2)).between(0, 1)]),
]


def drawn(rng: np.random.Generator, one: Noise, scale: float) -> Any:
    size = float(one.parameter) * scale
    if one.family == "uniform":
        return rng.random(DRAWS) * scale
    if one.family == "geometric":
        return rng.geometric(float(one.parameter), DRAWS) * round(scale)
    if one.family == "two-sided geometric":
        p = 1 - float(one.parameter)
        return (rng.geometric(p, DRAWS) - rng.geometric(p, DRAWS)) * round(scale)
    if one.family == "exponential":
        return rng.exponential(size, DRAWS)
    return getattr(rng, one.family)(0.0, size, DRAWS)


def hits(noises: list[Noise], constraints: list[Constraint], seed: int, scale: float = 1.0) -> int:
    rng = np.random.default_rng(seed)
    draws = [drawn(rng, one, scale) for one in noises]
    inside = np.ones(DRAWS, dtype=bool)
    for one in constraints:
        form = sum(float(factor) * draws[variable] for variable, factor in one.terms)
        if one.low is not None:
            inside &= (form >= float(one.low)) if one.low_closed else (form > float(one.low))
        if one.high is not None:
            inside &= (form <= float(one.high)) if one.high_closed else (form < float(one.high))
    return int(inside.sum())


@pytest.mark.parametrize("place", range(len(CASES)))
def test_draws_agree(place: int) -> None:
    noises, constraints = CASES[place]
    mass = Fraction(float(probability(noises, *constraints).mid()))
    for wrong in (False, True):
        found = hits(noises, constraints, place, STARVED if wrong else 1.0)
        assert fits([found, DRAWS - found], [mass, 1 - mass]) is not wrong
