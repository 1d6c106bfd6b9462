"""How large released numbers are that roots, squares, norms and the larger of two are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import liptest as lt
from liptest.values.answers.free_functions import SharedCall
from liptest.values.answers.released_numbers import _ends_of_power

MANY = lt.RecordGrid([4] * 1000)
Step = Callable[[Any], Any]


def after_release(step: Step) -> Any:
    """A noisy count, and a sum of what each record is beside a number that is made of it."""

    def release(data: Any, rng: Any) -> Any:
        number = np.minimum(data, 1).sum() + rng.laplace(scale=4)
        return number, np.clip(step(number) - data, 0, 1).sum() + rng.laplace(scale=4)

    return lt.mechanism(release)


def adam(number: Any) -> Any:
    return 0.1 * number / (np.sqrt(0.001 * number**2) + 1e-8)


def scaled_to_a_ball(number: Any) -> Any:
    both = np.array([number, 2 * number])
    return (both / max(1.0, np.linalg.norm(both)))[1]


def scaled_by_numpy(number: Any) -> Any:
    both = np.stack([number, 2 * number])
    return (both / np.maximum(1.0, np.linalg.norm(both)))[0]


def between(number: Any) -> Any:
    return np.median(np.array([number, 1.0, 2 * number]))


KNOWN = [adam, scaled_to_a_ball, scaled_by_numpy, between]


def align(step: Step, epsilon: float) -> Any:
    program = after_release(step)
    return lt.check_privacy(program, MANY, epsilon=epsilon, floats="ideal", method="alignment")


@pytest.mark.slow
@pytest.mark.parametrize("step", KNOWN)
def test_both_releases_are_paid_for(step: Step) -> None:
    assert align(step, 0.5 + 1e-6).decision == "YES"
    assert align(step, 0.49).decision != "YES"


def without_a_ball(number: Any) -> Any:
    both = np.array([number, 2 * number])
    return (both / np.linalg.norm(both))[1]


def of_a_power_of_three(number: Any) -> Any:
    return number**3


def divided(number: Any) -> Any:
    return 1 / np.sqrt(number**2)


@pytest.mark.slow
@pytest.mark.parametrize("step", [without_a_ball, of_a_power_of_three, divided])
def test_what_may_be_infinite_is_refused(step: Step) -> None:
    verdict = align(step, 0.5 + 1e-6)
    assert verdict.decision == "INCONCLUSIVE"
    assert "noise of any size" in verdict.reason


PLACES = st.tuples(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100), st.floats(0, 1))
PARTS = st.tuples(st.floats(-1e100, 1e100), st.floats(0, 1e100))


@given(PLACES, st.sampled_from([2.0, 0.5]))
def test_powers_lie_between_their_ends(place: tuple[float, float, float], exponent: float) -> None:
    low, high = sorted(place[:2])
    number = min(max(low + place[2] * (high - low), low), high)
    ends = _ends_of_power((low, high), (exponent, exponent))
    if ends is None:
        assert exponent == 0.5
        assert low < 0
        return
    for kind in (float, np.float64):
        assert ends[0] <= kind(number) ** exponent <= ends[1]


@pytest.mark.parametrize("base", [(-1.0, 1.0), (0.0, 3.0)])
@pytest.mark.parametrize("exponent", [(1.0, 2.0), (3.0, 3.0), (-1.0, -1.0)])
def test_other_powers_have_no_ends(base: Any, exponent: Any) -> None:
    assert _ends_of_power(base, exponent) is None


CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    *((np.linalg.norm, more) for more in ((), (1,), (2,), (math.inf,))),
    *((function, ()) for function in (np.median, np.max, np.min, np.sort)),
    *((np.quantile, (share,)) for share in (0.3, 0.5)),
]


@pytest.mark.slow
@given(st.lists(PARTS, min_size=1, max_size=4), st.sampled_from(CALLS), st.data())
def test_functions_of_arrays_lie_between_their_ends(
    parts: list[tuple[float, float]], call: tuple[Any, tuple[Any, ...]], data: Any
) -> None:
    ends = [(low, low + width) for low, width in parts]
    values = [data.draw(st.floats(*pair)) for pair in ends]
    function, more = call
    shared = SharedCall.__new__(SharedCall)
    shared._function, shared._more, shared._options = function, more, {}
    between_ends = shared.ends(ends)
    assert between_ends is not None
    made = np.ravel(function(np.array(values), *more))
    assert all(between_ends[0] <= one <= between_ends[1] for one in made)


@pytest.mark.parametrize("more", [(0,), (-1,), (0.5,)])
def test_other_norms_have_no_ends(more: tuple[float]) -> None:
    shared = SharedCall.__new__(SharedCall)
    shared._function, shared._more, shared._options = np.linalg.norm, more, {}
    assert shared.ends([(0.0, 1.0)] * 3) is None
