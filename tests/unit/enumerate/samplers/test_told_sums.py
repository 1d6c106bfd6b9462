"""What is made of a sum of data and whole noise of the code's own making, once it is looked at."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.samplers.added_law import AddedLaw

_N = 4


def steps(rng: Any) -> int:
    """Whole noise on both sides, with an end, of no family."""
    return int(rng.binomial(6, 0.5)) - 3


def clipped(data: Any, rng: Any) -> int:
    return int(np.clip(np.count_nonzero(data) + steps(rng), 0, len(data)))


def with_python(data: Any, rng: Any) -> int:
    return max(0, min(_N, int(data.sum()) + steps(rng)))


def with_branches(data: Any, rng: Any) -> int:
    v = int(data.sum()) + steps(rng)
    if v < 0:
        v = 0
    if v > _N:
        return _N
    return v


def in_tens(data: Any, rng: Any) -> int:
    return round(int(data.sum()) + steps(rng), -1)


def a_share(data: Any, rng: Any) -> float:
    return float(np.maximum(data.sum() + steps(rng), 0) / 7)


def two_counts(data: Any, rng: Any) -> list[int]:
    return [max(0, int((data == k).sum()) + steps(rng)) for k in (0, 1)]


def by_a_logarithm(data: Any, rng: Any) -> int:
    u, v = rng.random(), rng.random()
    noise = int(np.floor(np.log(1 - u) / -0.5)) - int(np.floor(np.log(1 - v) / -0.5))
    return int(np.clip(int(data.sum()) + noise, 0, _N))


def added(function: Any, records: int = _N) -> Any:
    return lt.mechanism(function).find_added_law(lt.Hypercube(records))


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [clipped, with_python, with_branches, in_tens, a_share, two_counts]
)
def test_what_follows_costs_nothing(function: Any) -> None:
    law = added(function)
    assert isinstance(law, AddedLaw)
    assert law.unexplored == 0
    assert sum(law.masses.values()) == 1
    for epsilon in (Fraction(1, 2), Fraction(3, 2)):
        delta = law.delta_at(epsilon)
        true = _true_delta(function, float(epsilon))
        assert true <= float(delta) + 1e-12
        if len(law.places) == 1 and function is not in_tens:
            assert true > 0


def _true_delta(function: Any, epsilon: float) -> float:
    mechanism = lt.mechanism(function)
    laws = [dict(lt.output_law(mechanism, np.array(data))) for data in np.ndindex(*[2] * _N)]
    cube = list(np.ndindex(*[2] * _N))
    most = 0.0
    for one, data in zip(laws, cube, strict=True):
        for other, neighbour in zip(laws, cube, strict=True):
            if sum(a != b for a, b in zip(data, neighbour, strict=True)) == 1:
                gaps = (p - math.exp(epsilon) * other.get(o, 0.0) for o, p in one.items())
                most = max(most, math.fsum(max(gap, 0.0) for gap in gaps))
    return most


@pytest.mark.slow
def test_noise_by_a_logarithm_is_decided_at_any_size() -> None:
    verdict = lt.check_privacy(
        lt.mechanism(by_a_logarithm), lt.Hypercube(3000), epsilon=0.5, delta=1e-12
    )
    assert verdict.decision == "YES"
    assert verdict.guarantee.kind == "proof"


# ---- what is not post-processing


def tells_noise(data: Any, rng: Any) -> Any:
    z = steps(rng)
    return max(0, int(data.sum()) + z), z


def tells_one_noise(data: Any, rng: Any) -> int:
    z, total = steps(rng), int(data.sum())
    return abs(total + z) + (1 if z == -3 else 0)


def leaks_at_one_noise(data: Any, rng: Any) -> int:
    z, total = steps(rng), int(data.sum())
    return total if z == 3 else max(0, total + z)


def tells_noise_later(data: Any, rng: Any) -> int:
    z = steps(rng)
    v = int(data.sum()) + z
    return z if v < 0 else v


def adds_noise_twice(data: Any, rng: Any) -> int:
    z, total = steps(rng), int(data.sum())
    return total + 2 * z if total + z > 2 else 0


def tells_two_sums(data: Any, rng: Any) -> Any:
    total = int(data.sum())
    return max(0, total + steps(rng)), min(3, total + steps(rng))


def has_noise_of_equal_masses(data: Any, rng: Any) -> Any:
    z = int(rng.integers(2))
    return max(0, int(data.sum())), z


def asks_otherwise(data: Any, rng: Any) -> int:
    z, total = int(rng.integers(2)), int(data.sum())
    return max(2, total + 1) if z else min(2, total)


def rounds_parts(data: Any, rng: Any) -> float:
    return float(np.floor(data.sum() / 3 + steps(rng) / 3))


def draws_known_noise(data: Any, rng: Any) -> int:
    return int(np.abs(data.sum()) + rng.geometric(0.5) - rng.geometric(0.5))


def draws_real_noise(data: Any, rng: Any) -> int:
    return max(0, round(data.sum() + rng.laplace()))


@pytest.mark.parametrize(
    "function",
    [
        *(
            draws_known_noise,
            draws_real_noise,
            tells_noise,
            tells_one_noise,
            leaks_at_one_noise,
            tells_noise_later,
            adds_noise_twice,
        ),
        *(tells_two_sums, has_noise_of_equal_masses, asks_otherwise, rounds_parts),
    ],
)
def test_what_tells_more_than_the_sum_is_refused(function: Any) -> None:
    assert isinstance(added(function), str)


def calls(data: Any, rng: Any, seen: list[int] = []) -> int:  # noqa: B006
    seen.append(1)
    return max(0, int(data.sum()) + steps(rng) + len(seen) % 2)


def test_what_is_kept_between_calls_is_no_noise() -> None:
    assert isinstance(added(calls), str)
