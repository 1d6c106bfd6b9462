"""Loops that draw until they are content, on data of any size (docs/theory/loops.md, L9)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.privacy.proofs.prices import align
from liptest.verdicts import Decision
from tests.shares import mostly_slow

PEOPLE = lt.Hypercube(6)
Code = Callable[..., Any]


def price_of(code: Code, domain: Any = PEOPLE) -> float:
    return align(lt.mechanism(code), domain).epsilon


def until_in_range(data: Any, rng: Any) -> Any:
    while True:
        v = int(data.sum()) + rng.laplace(scale=2.0)
        if 0 <= v <= 6:
            return v


def until_not_negative(data: Any, rng: Any) -> Any:
    count = sum(data)
    v = -1.0
    while v < 0:
        v = count + rng.laplace(0, 2.0)
    return v


def redrawn(data: Any, rng: Any) -> Any:
    count = int(data.sum())
    v = count + rng.logistic(0, 2.0)
    while v < 0 or v > 6:
        v = count + rng.logistic(0, 2.0)
    return v


def going_on(data: Any, rng: Any) -> Any:
    while True:
        v = round(int(data.sum()) + rng.laplace(scale=1.5))
        if v < 0:
            continue
        break
    return {"count": v}


def _laplace(z: Any, scale: float) -> Any:
    return np.exp(-np.abs(z) / scale) / (2 * scale)


def _logistic(z: Any, scale: float) -> Any:
    return 1 / (4 * scale * np.cosh(z / (2 * scale)) ** 2)


def largest_loss(density: Code, scale: float, low: float, high: float) -> float:
    """Of the law f(v - x) / Z(x) between two ends, on a grid, for x and x + 1."""
    v = np.linspace(low, high, 40_001)
    masses = [density(v - x, scale) for x in range(7)]
    laws = [mass / np.trapezoid(mass, v) for mass in masses]
    losses = [np.abs(np.log(one / other)).max() for one, other in pairwise(laws)]
    return float(max(losses))


@pytest.mark.parametrize(
    ("code", "density", "scale", "high", "expected"),
    [
        (until_in_range, _laplace, 2.0, 6.0, 1.0),
        (until_not_negative, _laplace, 2.0, 60.0, 1.0),
        (redrawn, _logistic, 2.0, 6.0, 1.0),
        (going_on, _laplace, 1.5, 60.0, 4 / 3),
    ],
)
def test_the_price_is_no_less_than_what_the_law_loses(
    code: Code, density: Code, scale: float, high: float, expected: float
) -> None:
    price = price_of(code)
    assert price == pytest.approx(expected)
    loss = largest_loss(density, scale, 0.0, high)
    assert loss <= price
    # The range costs something: the loss of Laplace noise is beyond that without one.
    assert density is not _laplace or loss > 1 / scale


def test_each_answer_of_a_histogram_is_drawn_for_itself() -> None:
    def one(x: Any, rng: Any) -> Any:
        while True:
            v = x + rng.laplace(scale=4.0)
            if v >= 0:
                return v

    def histogram(data: Any, rng: Any) -> Any:
        return [one(count, rng) for count in np.bincount(data, minlength=3)]

    # One record moves two cells, which pay for their answers; only one of them leaves less often.
    assert price_of(histogram, lt.RecordGrid([3] * 5)) == pytest.approx(3 / 4)


def after_noise(data: Any, rng: Any) -> Any:
    limit = rng.laplace(scale=2.0)
    while True:
        z = rng.laplace(scale=2.0)
        if z > limit:
            return int(data.sum()) + z


def in_a_loop(data: Any, rng: Any) -> Any:
    while True:
        z = rng.laplace(scale=2.0)
        while True:
            y = rng.laplace(scale=2.0)
            if y > 0:
                break
        if z > 0:
            return int(data.sum()) + y


def counted(data: Any, rng: Any) -> Any:
    passes = 0
    while True:
        passes += 1
        if int(data.sum()) + rng.laplace(scale=2.0) > 3:
            return passes


def largest_of(data: Any, rng: Any) -> Any:
    while True:
        place = np.argmax([int(data.sum()) + rng.laplace(scale=2.0), rng.laplace(scale=2.0)])
        if place == 0:
            return 1


@pytest.mark.parametrize("code", [after_noise, in_a_loop, counted, largest_of])
def test_what_the_theorem_does_not_reach_is_not_followed(code: Code) -> None:
    followed = lt.mechanism(code).align_paths(PEOPLE, way="passes")
    assert isinstance(followed, NoPaths)


def noise_in_range(data: Any, rng: Any) -> Any:
    while True:
        z = rng.laplace(scale=1.0)
        if -5 <= z <= 5:
            return int(data.sum()) + z


def told_by_leaving(data: Any, rng: Any) -> Any:
    while True:
        z = rng.laplace(scale=1.0)
        if z > int(data.sum()):
            return z


@pytest.mark.parametrize("code", mostly_slow([noise_in_range, told_by_leaving], 2))
def test_outputs_that_one_dataset_alone_has_have_no_price(code: Code) -> None:
    assert price_of(code) == math.inf


def until_a_share(data: Any, rng: Any) -> Any:
    while True:
        v = int(data.sum()) + rng.laplace(scale=2.0)
        if not (v < 0 or v > len(data)):
            return round(v, 1)


@pytest.mark.parametrize("epsilon", [0.99, 1.0])
def test_the_number_of_records_does_not_matter(epsilon: float) -> None:
    found = align(lt.mechanism(until_a_share), lt.Hypercube(5_000), Fraction(epsilon))
    assert (found.epsilon <= epsilon) == (epsilon == 1.0)
    assert found.given == (
        "loops that start over are counted as the pass that leaves them (theory L9)",
    )


@pytest.mark.slow
def test_the_verdict_says_what_it_rests_on() -> None:
    verdict = lt.check_privacy(until_a_share, lt.Hypercube(5_000), epsilon=1.0)
    assert verdict.decision == Decision.YES
    assert "theory L9" in str(verdict)
