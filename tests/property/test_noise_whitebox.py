"""Laws of code with symbolic noise: however it is written, and against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.mechanisms.laws import OutputLaw

SCALES = st.sampled_from([0.25, 1.0, 3.0, 0.1])
NUMBERS = st.integers(-4, 4)
few = settings(max_examples=25, deadline=None)


def law(program: Any, *data: int) -> OutputLaw:
    return lt.output_law(lt.mechanism(program), np.array(data))


def cdf(x: float, scale: float) -> float:
    tail = math.exp(-abs(x) / scale) / 2
    return tail if x < 0 else 1 - tail


@pytest.mark.slow
@few
@given(NUMBERS, SCALES, st.integers(0, 5), st.sampled_from([1, 2, 0.5]))
def test_rounded_and_clipped_laplace(x: int, scale: float, top: int, step: float) -> None:
    found = law(lambda d, g: np.clip(np.round((d[0] + g.laplace(0, scale)) / step), 0, top), x)
    edges = [-math.inf, *(step * (k + 0.5) - x for k in range(top)), math.inf]
    ends = [0.0 if e == -math.inf else 1.0 if e == math.inf else cdf(e, scale) for e in edges]
    expected = {float(k): ends[k + 1] - ends[k] for k in range(top + 1)}
    assert dict(found) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert math.fsum(found.values()) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.slow
@few
@given(NUMBERS, st.sampled_from([0.5, 0.25, 0.9]), st.integers(0, 4))
def test_clipped_two_sided_geometric(x: int, p: float, top: int) -> None:
    found = law(lambda d, g: np.clip(d[0] + g.geometric(p) - g.geometric(p), 0, top), x)
    q = 1 - p
    below = {k: q**-k / (1 + q) if k < 0 else 1 - q ** (k + 1) / (1 + q) for k in range(-9, 10)}
    # P(noise <= k - x), at the ends all that is beyond.
    sums = [below[k - x] for k in range(top)] + [1.0]
    expected = {k: sums[k] - (sums[k - 1] if k else 0.0) for k in range(top + 1)}
    assert dict(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@few
@given(st.lists(NUMBERS, min_size=1, max_size=4), SCALES, NUMBERS)
def test_shared_thresholds_do_not_depend_on_where_all_is(
    answers: list[int], scale: float, shift: int
) -> None:
    def sparse(data: Any, rng: Any) -> Any:
        return (data + rng.laplace(0, scale, len(data)) >= rng.laplace(data[0] * 0 + SHIFT[0])) * 1

    SHIFT = [0]
    first = law(sparse, *answers)
    SHIFT[0] = shift
    moved = law(sparse, *(one + shift for one in answers))
    assert dict(first) == pytest.approx(dict(moved), rel=1e-11)
    assert first.leaves == 2 ** len(answers)


@pytest.mark.slow
@few
@given(st.lists(NUMBERS, min_size=2, max_size=4), SCALES)
def test_the_largest_of_an_array_is_that_of_a_loop(answers: list[int], scale: float) -> None:
    def loop(data: Any, rng: Any) -> Any:
        best, place = -math.inf, None
        for number, one in enumerate(data):
            noisy = one + rng.laplace(0, scale)
            if noisy > best:
                best, place = noisy, number
        return place

    first = law(loop, *answers)
    second = law(lambda d, g: int(np.argmax(d + g.laplace(0, scale, len(d)))), *answers)
    assert dict(first) == pytest.approx(dict(second), rel=1e-11)
    assert second.leaves == len(answers)
