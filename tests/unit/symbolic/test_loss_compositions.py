"""What several random samples lose together, against laws that are composed in other ways."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.symbolic.direct_sums import normal_epsilon
from liptest.symbolic.loss_compositions import SampledLoss, compose_losses

ZERO = Fraction(0)


def sampled(
    share: Any, shift: Any = 0, pure: Any = 0, *, missing: Any = None, pure_missing: Any = None
) -> SampledLoss:
    shifts = Fraction(shift), Fraction(shift if missing is None else missing)
    pures = Fraction(pure), Fraction(pure if pure_missing is None else pure_missing)
    return SampledLoss(Fraction(share), pures[0], shifts[0], pures[1], shifts[1])


def proved(losses: list[SampledLoss], delta: float) -> float:
    epsilon = compose_losses(losses, Fraction(delta))
    assert epsilon is not None
    return float(epsilon)


@pytest.mark.parametrize(("shift", "steps"), [(1.0, 1), (0.1, 25), (0.5, 4), (0.05, 400)])
def test_normal_noise_of_all_records_is_that_of_the_joint_shift(shift: float, steps: int) -> None:
    """Of all records the loss is known in closed form (theory S6): little is added to it."""
    delta = Fraction(1, 10**5)
    joint = normal_epsilon(Fraction(shift * math.sqrt(steps)), delta, ZERO)
    assert joint is not None
    found = proved([sampled(1, shift)] * steps, float(delta))
    assert joint <= found <= float(joint) * 1.005


def delta_of_laws(left: list[float], right: list[float], steps: int, epsilon: float) -> float:
    """The divergence of independent draws of two laws, by listing all of them."""
    total = 0.0
    for places in itertools.product(range(len(left)), repeat=steps):
        pair = [math.prod(law[place] for place in places) for law in (left, right)]
        total += max(0.0, pair[0] - math.exp(epsilon) * pair[1])
    return total


@pytest.mark.slow
@given(
    share=st.sampled_from([1.0, 0.5, 0.25, 0.1]),
    pure=st.floats(0.1, 2.0),
    steps=st.integers(1, 5),
    epsilon=st.floats(0.0, 1.5),
)
def test_coins_that_tell_a_bit_are_never_undercut(
    share: float, pure: float, steps: int, epsilon: float
) -> None:
    """Each step flips the bit of a record that is sampled, and a fair coin of one that is not."""
    truth = math.exp(pure) / (1 + math.exp(pure))
    ones = (1 - share) / 2 + share * truth
    delta = delta_of_laws([ones, 1 - ones], [1 - ones, ones], steps, epsilon)
    if delta < 1e-9:
        return
    found = compose_losses([sampled(share, pure=pure)] * steps, Fraction(delta))
    assert found is None or found >= epsilon * (1 - 1e-9) - 1e-9


def test_randomised_response_of_all_records_is_composed_exactly() -> None:
    """A loss of at most 1 is that of randomised response, whose composition is listed."""
    truth = math.e / (1 + math.e)
    for steps in (1, 2, 4):
        for epsilon in (0.3, 0.8):
            delta = delta_of_laws([truth, 1 - truth], [1 - truth, truth], steps, epsilon)
            found = proved([sampled(1, pure=1)] * steps, delta)
            assert epsilon - 1e-9 <= found <= epsilon + 0.02


def density(numbers: np.ndarray) -> np.ndarray:
    """Of a standard normal number."""
    return np.exp(-(numbers**2) / 2) / math.sqrt(2 * math.pi)


def loss_of_two_samples(share: float, shift: float, steps: int, epsilon: float) -> float:
    """The delta of sums with normal noise of 1, of which a record is told with this share.

    The record of one table adds ``shift``, that of the other one takes it away. By quadrature.
    """
    grid = np.linspace(-12, 12, 4801)
    width = grid[1] - grid[0]
    laws = [
        ((1 - share) * density(grid) + share * density(grid - sign * shift)) * width
        for sign in (1, -1)
    ]
    if steps == 1:
        return float(np.maximum(0, laws[0] - math.exp(epsilon) * laws[1]).sum())
    pairs = [np.outer(law, law) for law in laws]
    return float(np.maximum(0, pairs[0] - math.exp(epsilon) * pairs[1]).sum())


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize(("share", "shift"), [(0.1, 1.0), (0.3, 0.5), (0.02, 2.0)])
def test_sampled_normal_noise_is_never_undercut(share: float, shift: float, steps: int) -> None:
    for epsilon in (0.05, 0.2, 0.5):
        delta = loss_of_two_samples(share, shift, steps, epsilon)
        if delta < 1e-6:
            continue
        found = proved([sampled(share, 2 * shift, missing=shift)] * steps, delta * (1 - 1e-4))
        assert found >= epsilon * (1 - 1e-3)
        assert found <= 2.5 * epsilon + 0.25  # it says something


def test_a_step_of_little_is_nothing() -> None:
    assert compose_losses([sampled(0.1)] * 5, Fraction(1, 10**6)) == 0
    assert compose_losses([], Fraction(1, 10**6)) == 0


@pytest.mark.slow
def test_more_steps_larger_shares_and_shifts_cost_more() -> None:
    base = proved([sampled(0.01, 1)] * 100, 1e-6)
    assert proved([sampled(0.01, 1)] * 200, 1e-6) > base
    assert proved([sampled(0.02, 1)] * 100, 1e-6) > base
    assert proved([sampled(0.01, 1.2)] * 100, 1e-6) > base
    assert proved([sampled(0.01, 1)] * 100, 1e-7) > base
    assert proved([sampled(0.01, 2, missing=1)] * 100, 1e-6) > base


@pytest.mark.slow
def test_different_steps_are_composed() -> None:
    """In any order, and no less than either part."""
    some, others = [sampled(0.05, 1)] * 20, [sampled(0.2, pure=0.1)] * 10
    both = proved(some + others, 1e-6)
    assert both == proved(others + some, 1e-6)
    assert both > max(proved(some, 1e-6), proved(others, 1e-6))


def test_what_is_too_large_is_not_proved() -> None:
    assert compose_losses([sampled(1, 100)] * 50, Fraction(1, 10**6)) is None
