"""Uniform noise in an output: no epsilon without a delta, and the delta of moved supports."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt

pytestmark = pytest.mark.slow
MANY, FEW = lt.Hypercube(5_000), lt.Hypercube(4)


def of_numpy(data: Any, rng: Any) -> Any:
    return data.sum() + rng.uniform(-5, 5)


def of_random(data: Any, rng: Any) -> Any:
    return data.sum() + 10 * rng.random() - 5


def of_python(data: Any) -> Any:
    return int(data.sum()) + random.uniform(-5, 5)


# The supports of neighbours, 10 long each, differ by 1 at both ends: delta is 1/10 at any epsilon.
@pytest.mark.parametrize("function", [of_numpy, of_random, of_python])
@pytest.mark.parametrize("domain", [MANY, FEW])
def test_delta_is_the_part_of_the_support_that_moves(
    function: Callable[..., Any], domain: Any
) -> None:
    mechanism = lt.mechanism(function)
    kept = lt.check_privacy(mechanism, domain, epsilon=1e-4, delta=0.1)
    assert (kept.decision, kept.guarantee.kind) == ("YES", "proof")
    assert lt.check_privacy(mechanism, domain, epsilon=5.0, delta=0.09).decision == "NO"
    assert lt.check_privacy(mechanism, domain, epsilon=50.0).decision == "NO"


@pytest.mark.parametrize("half", [1, 3, 0.75])
@pytest.mark.parametrize("step", [1, 2])
def test_delta_of_other_widths(half: float, step: int) -> None:
    def told(data: Any, rng: Any) -> Any:
        return step * data.sum() + rng.uniform(-half, half)

    delta = min(1.0, step / (2 * half))
    least = lt.check_privacy(lt.mechanism(told), FEW, epsilon=0.5, delta=0.98 * delta)
    assert least.decision == "NO"
    if delta < 1:
        enough = lt.check_privacy(lt.mechanism(told), FEW, epsilon=0.5, delta=delta + 1e-9)
        assert enough.decision == "YES"


def told_twice(data: Any, rng: Any) -> Any:
    u = rng.random()
    return u, data.sum() + u


def told_after_a_comparison(data: Any, rng: Any) -> Any:
    u = rng.random()
    return data.sum() + u if u < 0.5 else 0


def scaled_by_data(data: Any, rng: Any) -> Any:
    return rng.random() * data.sum()


def between_ends_of_data(data: Any, rng: Any) -> Any:
    return rng.uniform(0, data.sum() + 1)


@pytest.mark.parametrize(
    "function", [told_twice, told_after_a_comparison, scaled_by_data, between_ends_of_data]
)
def test_wrong_uses_are_refuted(function: Callable[..., Any]) -> None:
    verdict = lt.check_privacy(lt.mechanism(function), FEW, epsilon=5.0)
    assert verdict.decision == "NO"


def independent_of_data(data: Any, rng: Any) -> Any:
    u = rng.random()
    return u, 1 - u, 3 if data[0] > 1 else u * 2


def below_a_half(data: Any, rng: Any) -> Any:
    u = rng.random()
    return data.sum() + u if u < 0.5 else 0


def test_what_holds_is_proved() -> None:
    independent = lt.check_privacy(lt.mechanism(independent_of_data), FEW, epsilon=1e-6)
    assert independent.decision == "YES"
    # Half of the outputs of neighbours are apart from each other, and no more than that.
    apart = lt.mechanism(below_a_half)
    assert lt.check_privacy(apart, FEW, epsilon=1e-6, delta=0.5).decision == "YES"
    assert lt.check_privacy(apart, FEW, epsilon=9.0, delta=0.49).decision == "NO"


def test_arrays_of_them_are_followed() -> None:
    def cells(data: Any, rng: Any) -> Any:
        return np.array([data[0], data[1]]) + rng.uniform(-2, 2, size=2)

    mechanism = lt.mechanism(cells)
    assert lt.check_privacy(mechanism, lt.Hypercube(2), epsilon=3.0, delta=0.24).decision == "NO"
    assert lt.check_privacy(mechanism, lt.Hypercube(2), epsilon=3.0, delta=0.25).decision == "YES"


def test_uniform_noise_of_width_0_is_a_constant() -> None:
    def added(data: Any, rng: Any) -> Any:
        return data.sum() + rng.uniform(2, 2)

    def alone(data: Any, rng: Any) -> Any:
        return rng.uniform(2, 2), 0 * rng.random()

    assert lt.check_privacy(added, lt.Hypercube(5), epsilon=1.0, delta=0.5).decision == "NO"
    assert lt.check_privacy(alone, lt.Hypercube(5), epsilon=1e-9).decision == "YES"
