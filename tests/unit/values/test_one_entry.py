"""Arrays of noise with one entry: their truth, their order, and what is largest of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import liptest as lt


def truth(data, rng):
    x = data[:1] + rng.laplace(0, 2.0, size=1)
    return int(bool(x > 0.5))


def as_condition(data, rng):
    x = data[:1] + rng.laplace(0, 2.0, size=1)
    if x > 0.5:
        return 1
    return 0


def negated(data, rng):
    x = data[:1] + rng.laplace(0, 2.0, size=(1, 1))
    return int(not (x <= 0.5))


def by_one_number(data, rng):
    return int(data[0] + rng.laplace(0, 2.0) > 0.5)


def _survival(value: float) -> float:
    """P(value + Laplace(2) > 0.5)."""
    gap = (0.5 - value) / 2.0
    return math.exp(-gap) / 2 if gap > 0 else 1 - math.exp(gap) / 2


@pytest.mark.parametrize("code", [truth, as_condition, negated, by_one_number])
@pytest.mark.parametrize("value", [0, 1])
def test_the_truth_of_one_entry_is_that_of_the_number(code, value):
    law = lt.output_law(code, [value])
    assert law[1] == pytest.approx(_survival(value), rel=1e-9)
    assert law[0] == pytest.approx(1 - _survival(value), rel=1e-9)


def largest(data, rng):
    return int(np.argmax(data[:1] + rng.laplace(0, 1.0, size=1)))


def smallest(data, rng):
    return int(np.argmin(data[:1] + rng.laplace(0, 1.0, size=1)))


def order(data, rng):
    return tuple(np.argsort(data[:1] + rng.laplace(0, 1.0, size=1)).tolist())


@pytest.mark.parametrize("code", [largest, smallest])
def test_one_entry_is_the_largest_and_the_smallest(code):
    assert dict(lt.output_law(code, [1])) == {0: 1.0}


def test_one_entry_is_in_order():
    assert dict(lt.output_law(order, [1])) == {(0,): 1.0}


def both(data, rng):
    x = data[:2] + rng.laplace(0, 1.0, size=2)
    return int(np.argmax(x)), int(np.argmin(x)), tuple(np.argsort(x).tolist())


def test_two_entries_agree_with_each_other():
    law = lt.output_law(both, [0, 1])
    assert set(law) == {(0, 1, (1, 0)), (1, 0, (0, 1))}
    # P(L1 - L2 > 1) for two Laplace variables of scale 1.
    assert law[0, 1, (1, 0)] == pytest.approx((2 + 1) / 4 * math.exp(-1.0), rel=1e-9)


def of_two(data, rng):
    x = data[:2] + rng.laplace(0, 1.0, size=2)
    return bool(x > 0)


def test_several_entries_have_no_truth():
    law = lt.output_law(of_two, [0, 1])
    assert [output.exception for output in law] == ["ValueError"]
