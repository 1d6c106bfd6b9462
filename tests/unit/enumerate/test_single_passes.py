"""Loops that draw noise again until it fits: private as their single pass is (theory L10)."""

from __future__ import annotations

import math
from typing import Any

import pytest

import liptest as lt
from liptest.enumerate.single_passes import AGAIN

N = lt.Hypercube(5000)
P = 1 - math.exp(-1)


def laplace(data: Any, rng: Any) -> float:
    z = rng.laplace(0, 1)
    while abs(z) > 5:
        z = rng.laplace(0, 1)
    return int(data.sum()) + z


def laplace_above(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace(0, 1)
        if z > -5:
            break
    return int(data.sum()) + z


def geometric(data: Any, rng: Any) -> int:
    while True:
        z = int(rng.geometric(P)) - int(rng.geometric(P))
        if -5 <= z <= 5:
            return int(data.sum()) + z


def laplace_mass(low: float, high: float) -> float:
    def below(z: float) -> float:
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    return below(high) - below(low)


def geometric_mass(low: int, high: int) -> float:
    ratio = math.exp(-1)
    return sum((1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(low, high + 1))


# What a neighbour cannot answer, which is all that noise of scale 1 loses beyond epsilon 1.
DELTAS = {
    laplace: laplace_mass(-5, -4) / laplace_mass(-5, 5),
    laplace_above: laplace_mass(-5, -4) / (1 - math.exp(-5) / 2),
    geometric: geometric_mass(-5, -5) / geometric_mass(-5, 5),
}


def verdict(program: Any, delta: float, epsilon: float = 1.0, domain: Any = N) -> Any:
    mechanism = lt.mechanism(program)
    options: dict[str, Any] = {"seed": 1, "floats": "ideal", "method": "alignment"}
    return lt.check_privacy(mechanism, domain, epsilon=epsilon, delta=delta, **options)


@pytest.mark.parametrize("program", DELTAS)
def test_the_true_delta_is_proved_and_no_less(program: Any) -> None:
    delta = DELTAS[program]
    found = verdict(program, 1.0001 * delta)
    assert found.decision == "YES"
    assert "for every number of records" in str(found)
    assert "counts as one pass (theory L10)" in str(found)
    assert verdict(program, 0.9999 * delta).decision == "INCONCLUSIVE"
    # The probability of a pass that leaves is part of it.
    assert verdict(program, delta * leaving(program)).decision == "INCONCLUSIVE"


def leaving(program: Any) -> float:
    followed = lt.mechanism(program).aligned_paths(N, way="passes")
    assert followed.leaving is not None
    return float(followed.leaving)


def test_the_probability_to_leave() -> None:
    assert leaving(laplace) == pytest.approx(1 - math.exp(-5), rel=1e-15)
    assert leaving(geometric) == pytest.approx(geometric_mass(-5, 5), rel=1e-15)


def test_the_single_pass_has_the_law_of_a_pass() -> None:
    followed = lt.mechanism(geometric).aligned_paths(N, way="passes")
    law = followed.single.law([1, 1, 0])
    masses = dict(zip(law.outputs, (math.exp(one) for one in law.log_probabilities), strict=True))
    assert set(masses) == {AGAIN, *range(-3, 8)}
    for z in range(-5, 6):
        assert masses[2 + z] == pytest.approx(geometric_mass(z, z))


def of_the_data(data: Any, rng: Any) -> float:
    while True:
        z = int(data.sum()) + rng.laplace(0, 1)
        if z > 3:
            return z


def scale_drawn_before(data: Any, rng: Any) -> float:
    """Where a pass leaves less often counts more: that is not the law of a single pass."""
    scale = 9.0 if rng.random() < 0.5 else 1.0
    while True:
        z = rng.laplace(0, scale)
        if abs(z) < 1:
            return int(data.sum()) + z


def coin_in_the_loop(data: Any, rng: Any) -> float:
    while True:
        z = rng.laplace(0, 1)
        if z > -5 and rng.random() < 0.5:
            return int(data.sum()) + z


def twice(data: Any, rng: Any) -> tuple[float, float]:
    while True:
        y = rng.laplace(0, 1)
        if y > -5:
            break
    while True:
        z = rng.laplace(0, 1)
        if z > -5:
            break
    return int(data.sum()) + y, int(data.sum()) + z


@pytest.mark.parametrize("program", [of_the_data, scale_drawn_before, coin_in_the_loop, twice])
def test_other_loops_are_not_counted_so(program: Any) -> None:
    followed = lt.mechanism(program).aligned_paths(N, way="passes")
    assert getattr(followed, "single", None) is None


class _Named(Exception):
    pass


_Named.__qualname__ = AGAIN.exception


def raises_what_stands_for_it(data: Any, rng: Any) -> float:
    """Of a count of 0 it raises what the single pass answers where the loop goes on."""
    while True:
        z = rng.laplace(0, 1)
        if z > -0.1:
            break
    if int(data.sum()) + z < 0.5:
        raise _Named
    return int(data.sum()) + z


def test_no_program_hides_behind_a_second_pass() -> None:
    assert verdict(raises_what_stands_for_it, 0.4, 0.01).decision == "INCONCLUSIVE"
