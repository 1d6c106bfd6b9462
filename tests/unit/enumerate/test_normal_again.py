"""Normal noise that is drawn again until it fits: both densities have ends of their own."""

from __future__ import annotations

import math
from typing import Any

import pytest

import liptest as lt

BOUND, SCALE = 20, 5


def within(data: Any, rng: Any) -> float:
    while True:
        z = rng.normal(0, SCALE)
        if abs(z) <= BOUND:
            return int(data.sum()) + z


def above(data: Any, rng: Any) -> float:
    z = rng.normal(0, SCALE)
    while z < -BOUND:
        z = rng.normal(0, SCALE)
    return int(data.sum()) + z


def narrow(data: Any, rng: Any) -> float:
    while True:
        z = rng.normal(0, SCALE)
        if 0 <= z <= 3:
            return int(data.sum()) + z


def below(z: float) -> float:
    return math.erfc(-z / SCALE / math.sqrt(2)) / 2


def true_delta(low: float, high: float, epsilon: float) -> float:
    """The larger of both excesses of neighbours, by the normal distribution function."""
    # Of the noise at 0 over that at 1: below 1 + low only the first has a density.
    turn = min(max(0.5 - epsilon * SCALE**2, 1 + low), high)
    mass = below(high) - below(low)
    one = below(turn) - below(low) - math.exp(epsilon) * max(0, below(turn - 1) - below(low))
    # Of that at 1 over that at 0.
    turn = max(min(0.5 + epsilon * SCALE**2, high), 1 + low)
    two = below(high) - below(turn - 1) - math.exp(epsilon) * max(0, below(high) - below(turn))
    return max(one, two) / mass


CASES = [(within, -BOUND, BOUND), (above, -BOUND, math.inf), (narrow, 0, 3)]


@pytest.mark.parametrize(("program", "low", "high"), CASES)
@pytest.mark.parametrize("size", [2, 5000])
def test_just_above_and_just_below_the_true_delta(
    program: Any, low: float, high: float, size: int
) -> None:
    delta = true_delta(low, high, 1.0)
    for factor, decision in ((1.0001, "YES"), (0.9999, "NO")):
        claim = {"epsilon": 1.0, "delta": factor * delta}
        options: dict[str, Any] = {"seed": 1, "floats": "ideal"}
        found = lt.check_privacy(lt.mechanism(program), lt.Hypercube(size), **claim, **options)
        assert found.decision == decision


@pytest.mark.parametrize("program", [within, above])
def test_at_delta_0_there_is_a_witness(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "epsilon": 1.0}
    found = lt.check_privacy(lt.mechanism(program), lt.Hypercube(5000), **options)
    assert found.decision == "NO"
    assert found.witness is not None
    assert found.witness.loss == math.inf


def in_range(data: Any, rng: Any) -> float:
    """Both ends are the same for all data, and the loss is largest where next to nothing falls."""
    while True:
        v = int(data.sum()) + rng.normal(0, SCALE)
        if 0 <= v <= 5000:
            return v


def test_a_witness_is_told_whose_probabilities_can_be() -> None:
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "epsilon": 1.0}
    found = lt.check_privacy(lt.mechanism(in_range), lt.Hypercube(5000), **options)
    assert found.decision == "NO"
    assert found.witness is not None
    assert found.witness.loss > 1
