"""Normal noise that is drawn again until it fits: both densities have ends of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import UnsupportedForm

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


CASES = [
    *((within, -BOUND, BOUND, 1), (within, -BOUND, BOUND, 200)),
    *((above, -BOUND, math.inf, 200), (narrow, 0, 3, 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "low", "high", "size"), CASES)
def test_just_above_and_just_below_the_true_delta(
    program: Any, low: float, high: float, size: int
) -> None:
    delta = true_delta(low, high, 1.0)
    for factor, decision in ((1.0001, "YES"), (0.9999, "NO")):
        claim = {"epsilon": 1.0, "delta": factor * delta}
        options: dict[str, Any] = {"seed": 1, "floats": "ideal"}
        found = lt.check_privacy(lt.mechanism(program), lt.Hypercube(size), **claim, **options)
        assert found.decision == decision


def mirrored(data: Any, rng: Any) -> float:
    while True:
        z = rng.normal(0, SCALE)
        if 0 <= z <= 3:
            return int(data.sum()) - 2 * z


def in_two_pieces(data: Any, rng: Any) -> float:
    while True:
        z = rng.normal(0, SCALE)
        if abs(z) >= 1 and z <= 4:
            return int(data.sum()) + z


def further_for_more(data: Any, rng: Any) -> float:
    count = int(data.sum())
    while True:
        z = rng.normal(0, SCALE)
        if z <= 3 + count and z >= -3:
            return count + z


NUMBERS = np.linspace(-60, 60, 400_001)
PIECES = {
    mirrored: lambda count: (
        (count - NUMBERS) / 2,
        (count - NUMBERS >= 0) & (count - NUMBERS <= 6),
    ),
    in_two_pieces: lambda count: (
        NUMBERS - count,
        (abs(NUMBERS - count) >= 1) & (NUMBERS - count <= 4),
    ),
    further_for_more: lambda count: (
        NUMBERS - count,
        (NUMBERS - count <= 3 + count) & (NUMBERS - count >= -3),
    ),
}


def density(program: Any, count: int) -> Any:
    noise, inside = PIECES[program](count)
    made = inside * np.exp(-((noise / SCALE) ** 2) / 2)
    return made / made.sum()


@pytest.mark.slow
@pytest.mark.parametrize("program", PIECES)
def test_pieces_that_differ_are_compared_as_on_a_grid(program: Any) -> None:
    pair = density(program, 0), density(program, 1)
    sides = (pair, pair[::-1])
    delta = max(np.maximum(p - math.e * q, 0).sum() for p, q in sides)
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "epsilon": 1.0}
    for factor, decision in ((1.001, "YES"), (0.999, "NO")):
        claim = {"delta": factor * float(delta)}
        found = lt.check_privacy(lt.mechanism(program), lt.Hypercube(1), **claim, **options)
        assert found.decision == decision


def folded(data: Any, rng: Any) -> float:
    return int(data.sum()) + abs(rng.normal(0, SCALE))


def drawn_once_more(data: Any, rng: Any) -> float:
    z = rng.normal(0, SCALE)
    if z > 1:
        z = rng.normal(0, SCALE)
    return int(data.sum()) + z


@pytest.mark.slow
@pytest.mark.parametrize("program", [folded, drawn_once_more])
def test_pieces_that_overlap_are_refused(program: Any) -> None:
    with pytest.raises(UnsupportedForm, match="normal noise"):
        lt.check_privacy(lt.mechanism(program), lt.Hypercube(1), epsilon=1.0, delta=0.5, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("program", [within, above])
def test_at_delta_0_there_is_a_witness(program: Any) -> None:
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "epsilon": 1.0}
    found = lt.check_privacy(lt.mechanism(program), lt.Hypercube(200), **options)
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
