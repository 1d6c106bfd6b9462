"""Geometric noise by hand: an exponential number of ``rng.random()``, cut off to whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.values.steps_of_noise import _geometric as geometric_of

N = 30
Q = math.exp(-0.5)
FIRST = np.zeros(N, int)


def steps(rng: Any) -> int:
    return math.floor(math.log(1 - rng.random()) / math.log(Q))


def floor_of_logs(data: Any, rng: Any) -> int:
    return int(data.sum()) + steps(rng) - steps(rng)


def of_numpy(data: Any, rng: Any) -> int:
    up = int(np.floor(np.log(rng.random()) / -0.5))
    return int(data.sum()) + up - int(np.floor(np.log(rng.random()) / -0.5))


def cut_off(data: Any, rng: Any) -> int:
    up = int(-math.log(1 - rng.random()) * 2.0)
    return int(data.sum()) + up - int(-2.0 * math.log1p(-rng.random()))


def not_below_zero(data: Any, rng: Any) -> int:
    return max(0, int(data.sum()) + steps(rng) - steps(rng))


def ceiled(data: Any, rng: Any) -> int:
    up = math.ceil(-2.0 * math.log(1 - rng.random()))
    return int(data.sum()) + up + math.floor(2.0 * math.log(1 - rng.random()))


def sign_apart(data: Any, rng: Any) -> int:
    size = math.ceil(-2.0 * math.log(1 - rng.random()))
    return int(data.sum()) + (size if rng.random() < 0.5 else 1 - size)


PROGRAMS = [floor_of_logs, of_numpy, cut_off, not_below_zero, ceiled, sign_apart]


def verdict(program: Any, epsilon: float) -> Any:
    domain = lt.Hypercube(N)
    return lt.check_privacy(lt.mechanism(program), domain, epsilon=epsilon, floats="ideal", seed=1)


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_proved_as_geometric_noise_is(program: Any) -> None:
    assert verdict(program, 0.5).decision == "YES"


def test_less_is_refuted() -> None:
    found = verdict(sign_apart, 0.49)
    assert found.decision == "NO"
    assert found.witness.loss == pytest.approx(0.5, abs=1e-9)


ROUNDINGS = {
    "floor": lambda e: math.floor(e),
    "ceil": lambda e: math.ceil(e),
    "int": lambda e: int(e),
    "int, one added": lambda e: int(e + 1),
    "floor of its opposite": lambda e: math.floor(-e),
    "ceil of its opposite": lambda e: math.ceil(-e),
    "int of its opposite": lambda e: int(2 - e - 2),
    "numpy.floor": lambda e: int(np.floor(np.float64(3) + e)),
    "numpy.ceil": lambda e: int(np.ceil(1 - e)),
}


@pytest.mark.parametrize("name", ROUNDINGS)
def test_laws_are_those_of_exponential_noise_cut_off(name: str) -> None:
    """Against P(a <= X < b) = exp(-a/2) - exp(-b/2), each cell found by running the rounding."""
    rounding = ROUNDINGS[name]

    def program(data: Any, rng: Any) -> int:
        return rounding(-2.0 * math.log(1 - rng.random()))

    law = dict(lt.output_law(lt.mechanism(program), FIRST))
    for k in range(12):
        mass = math.exp(-k / 2) - math.exp(-(k + 1) / 2)
        assert law[rounding(k + 0.5)] == pytest.approx(mass, rel=1e-12)


def test_a_zero_below_zero_stays_one() -> None:
    def program(data: Any, rng: Any) -> Any:
        return math.copysign(1.0, np.ceil(2.0 * np.log(1 - rng.random())))

    assert dict(lt.output_law(lt.mechanism(program), FIRST)) == {-1.0: 1.0}


def twice(data: Any, rng: Any) -> Any:
    u = rng.random()
    return [int(data.sum()) + math.floor(-2 * math.log(u)), math.floor(-2 * math.log(u))]


def both(data: Any, rng: Any) -> Any:
    noise = -2 * math.log(rng.random())
    return [int(data.sum()) + math.floor(noise), noise]


def compared(data: Any, rng: Any) -> int:
    u = rng.random()
    k = math.floor(-2 * math.log(u))
    return int(data.sum()) + k - (1 if u < 0.3 else 0)


@pytest.mark.parametrize("program", [twice, both, compared])
def test_a_number_that_is_used_again_has_no_law_of_its_own(program: Any) -> None:
    assert verdict(program, 0.5).decision != "YES"


def test_the_ratio_is_rounded_down() -> None:
    for scale in (0.01, 0.5, 2.0, 1e6):
        noise = geometric_of(Fraction(scale))
        ratio = float(1 - noise.parameter)
        assert ratio == pytest.approx(math.exp(-1 / scale), rel=1e-15)
        assert 0 < noise.parameter < 1
