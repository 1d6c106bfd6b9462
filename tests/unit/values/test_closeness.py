"""isclose of noisy counts: two comparisons with the ends that the function itself has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import liptest as lt
from liptest.values import closeness

SIZES = st.floats(-1e6, 1e6)
TOLERANCES = st.sampled_from([0.0, 1e-9, 1e-5, 0.1, 1 / 3, 0.5])
WIDTHS = st.sampled_from([0.0, 1e-8, 0.1, 1.0, 7.5])


@pytest.mark.slow
@given(SIZES, SIZES, TOLERANCES, WIDTHS, st.integers(-70, 70))
@example(10.0, 0.0, 0.5, 0.0, 1)
@example(-0.0, 1.0, 0.1, 0.0, 0)
def test_the_ends_are_those_of_the_functions(
    centre: float, far: float, relative: float, width: float, steps: int
) -> None:
    kinds: list[tuple[closeness.Ends, Any]] = [
        (
            closeness._ends_of_first(centre, relative, width),
            lambda x: np.isclose(x, centre, relative, width),
        ),
        (
            closeness._ends_of_second(centre, relative, width),
            lambda x: np.isclose(centre, x, relative, width),
        ),
        (
            closeness._math_ends(centre, rel_tol=relative, abs_tol=width),
            lambda x: math.isclose(x, centre, rel_tol=relative, abs_tol=width),
        ),
    ]
    for (low, high), holds in kinds:
        for end in (low, high, far):
            x = end + steps * math.ulp(end)
            assert holds(x) == (low <= x <= high)


def laplace_between(low: float, high: float, place: float, scale: float) -> float:
    def below(x: float) -> float:
        z = (x - place) / scale
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    return below(high) - below(low)


def close_to(data: Any, rng: np.random.Generator) -> bool:
    return bool(np.isclose(data.sum() + rng.laplace(scale=1.0), 10, atol=0.5))


def close_by_math(data: Any, rng: np.random.Generator) -> bool:
    return math.isclose(10, data.sum() + rng.laplace(scale=1.0), rel_tol=0.1)


def close_as_second(data: Any, rng: np.random.Generator) -> bool:
    return bool(np.isclose(10, data.sum() + rng.laplace(scale=1.0), rtol=0.1, atol=0))


def all_close(data: Any, rng: np.random.Generator) -> bool:
    noisy = np.array([data.sum(), data[0]]) + rng.laplace(scale=1.0, size=2)
    return bool(np.allclose(noisy, [3, 1], rtol=0, atol=1))


ROOM = 10 * 1e-5 + 0.5


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (close_to, 10 - ROOM, 10 + ROOM),
        (close_by_math, 9.0, 10 / 0.9),
        (close_as_second, 10 / 1.1, 10 / 0.9),
    ],
)
def test_the_law_is_that_of_the_interval(function: Any, low: float, high: float) -> None:
    law = lt.output_law(function, [1] * 8 + [0])
    assert math.isclose(law[True], laplace_between(low, high, 8, 1.0), rel_tol=1e-12)


def test_of_arrays_all_entries_are_close_or_not() -> None:
    law = lt.output_law(all_close, [1, 1, 0])
    true = laplace_between(2, 4, 2, 1.0) * laplace_between(0, 2, 1, 1.0)
    assert math.isclose(law[True], true, rel_tol=1e-12)


def close_to_other(data: Any, rng: np.random.Generator) -> bool:
    first, second = data.sum() + rng.laplace(scale=1.0), rng.laplace(scale=1.0)
    return bool(np.isclose(first, second, rtol=0, atol=1))


def test_two_noisy_numbers_are_compared_by_their_difference() -> None:
    # The difference of two Laplace numbers is above t > 0 with probability (1 + t/2) e^-t / 2.
    def above(t: float) -> float:
        return (1 + t / 2) * math.exp(-t) / 2

    law = lt.output_law(close_to_other, [1, 1, 1])
    assert math.isclose(law[True], above(2) - above(4), rel_tol=1e-9)


def whole_close(data: Any, rng: np.random.Generator) -> bool:
    noisy = data.sum() + rng.geometric(0.5) - rng.geometric(0.5)
    return bool(np.isclose(noisy, 4, atol=2)) and math.isclose(noisy, 5, abs_tol=2)


def test_whole_numbers_are_close_where_the_function_says_so() -> None:
    law = lt.output_law(whole_close, [1, 1, 1])
    close = [k for k in range(50) if np.isclose(k, 4, atol=2) and math.isclose(k, 5, abs_tol=2)]
    true = sum(0.5 ** abs(k - 3) / 3 for k in close)
    assert close == [3, 4, 5, 6]
    assert math.isclose(law[True], true, rel_tol=1e-12)


def too_little(data: Any, rng: np.random.Generator) -> bool:
    return bool(np.isclose(data.sum() + rng.laplace(scale=0.5), 10, atol=1))


@pytest.mark.parametrize("function", [close_to, close_by_math])
def test_at_any_size_it_costs_what_the_noise_costs(function: Any) -> None:
    verdict = lt.check_privacy(function, lt.Hypercube(5000), epsilon=1.0)
    assert verdict.decision == "YES"


@pytest.mark.slow
def test_too_little_noise_is_refuted_at_any_size() -> None:
    verdict = lt.check_privacy(too_little, lt.Hypercube(5000), epsilon=1.0)
    assert verdict.decision == "NO"
    assert math.isclose(verdict.largest_loss, 2.0, rel_tol=1e-9)
