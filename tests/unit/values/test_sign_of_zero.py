"""Sums that are 0 whatever the data are: 0.0 and -0.0 are told apart by copysign and str."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt

DATA = lt.RecordGrid([8] * 1000)


def zeros(data: Any) -> Any:
    return np.where(data > 0, 0.0, -0.0)


def listed(data: Any) -> Any:
    return [0.0 if value > 0 else -0.0 for value in data]


def begun_below(data: Any) -> float:
    total = -0.0
    for value in data:
        if value > 0:
            total += 0.0
    return total


def added_in_a_loop(data: Any) -> float:
    total = -0.0
    for value in data:
        total += 0.0 if value > 0 else -0.0
    return total


#: What is 0.0, or -0.0 where no record is above 0, or where some are.
TELLING: dict[str, Callable[[Any], Any]] = {
    "the last of cumsum": lambda data: np.cumsum(zeros(data))[-1],
    "the last of accumulate": lambda data: np.add.accumulate(zeros(data))[-1],
    "accumulated in Python": lambda data: list(itertools.accumulate(zeros(data)))[-1],
    "reduced": lambda data: functools.reduce(operator.add, listed(data)),
    "reduced by a lambda": lambda data: functools.reduce(lambda x, y: x + y, listed(data)),
    "begun below": begun_below,
    "in a loop": added_in_a_loop,
    "sum with a start": lambda data: sum(listed(data), -0.0),
    "a product with 0": lambda data: 0.0 * -((data > 0).sum()),
    "one record": lambda data: zeros(data)[5],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TELLING)
def test_the_sign_of_a_sum_that_is_0_is_not_lost(name: str) -> None:
    found = lt.check_privacy(
        lt.mechanism(lambda data: math.copysign(1, TELLING[name](data))), DATA, epsilon=1
    )
    assert found.decision != "YES"


@pytest.mark.slow
def test_the_sign_of_noise_times_0_is_not_lost() -> None:
    def sign(data: Any, rng: Any) -> str:
        return str(0.0 * ((data > 0).sum() - 1000 + rng.laplace(scale=1e-3)))

    assert lt.check_privacy(lt.mechanism(sign), DATA, epsilon=1).decision == "NO"


SAME: list[Callable[[Any], Any]] = [
    lambda data: np.where(data > 0, 0.0, 0.0).sum(),
    lambda data: 0.0 * (data > 0).sum(),
    lambda data: [weight * (data > 3).sum() for weight in (1.0, 0.0)].pop(),
    lambda data: (data > 0).sum() - (data > 0).sum(),
]


@pytest.mark.parametrize("released", SAME)
def test_sums_that_are_0_are_followed(released: Callable[[Any], Any]) -> None:
    found = lt.check_privacy(lt.mechanism(lambda data: str(released(data))), DATA, epsilon=1)
    assert found.decision == "YES"
