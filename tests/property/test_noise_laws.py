"""Closed forms of noise against sums of certified probabilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.mechanisms.additive import AdditiveNoise, DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.laws import exact_ball

REACH = 160
widths = st.fractions(Fraction(1, 4), 6, max_denominator=12)
noises = st.one_of(st.builds(DiscreteLaplace, widths), st.builds(DiscreteGaussian, widths))
epsilons = st.one_of(st.fractions(0, 4, max_denominator=30), st.just(Fraction(0)))


def summed(noise: AdditiveNoise, shift: int, epsilon: arb) -> arb:
    """The definition: sum over outputs of the positive part, tails enclosed."""
    total = arb(0).union(arb(exact_ball(noise.tail(REACH - abs(shift))).upper()))
    for j in range(-REACH, REACH + 1):
        gap = noise.log_pmf_ball(j).exp() - epsilon.exp() * noise.log_pmf_ball(j - shift).exp()
        total += gap.max(arb(0))
    return total


@pytest.mark.slow
@given(noises, st.integers(-9, 9), epsilons)
@settings(max_examples=60, deadline=None)
def test_divergence_in_closed_form_is_the_sum(
    noise: AdditiveNoise, shift: int, at: Fraction
) -> None:
    saved = ctx.prec
    try:
        ctx.prec = 128
        epsilon = exact_ball(at)
        ball, truth = noise.hockey_stick_ball(shift, epsilon), summed(noise, shift, epsilon)
        assert ball.overlaps(truth)
        assert ball.rad() < arb(2) ** -90
        assert truth.rad() < arb(2) ** -20
        assert ball.overlaps(summed(noise, -shift, epsilon))
        close = arb(float(noise.hockey_stick(np.array([shift]), float(at))[0]), 1e-13)
        assert close.overlaps(ball)
    finally:
        ctx.prec = saved


@given(noises, st.integers(1, 9), st.fractions(0, 3, max_denominator=10))
@settings(max_examples=40, deadline=None)
def test_a_wide_epsilon_encloses_both_ends(noise: AdditiveNoise, shift: int, at: Fraction) -> None:
    low, high = exact_ball(at), exact_ball(at + Fraction(1, 7))
    ball = noise.hockey_stick_ball(shift, low.union(high))
    for end in (low, high):
        assert ball.overlaps(noise.hockey_stick_ball(shift, end))


@pytest.mark.slow
@given(widths, st.integers(-30, 30), st.integers(-20, 20))
def test_laplace_loss_bounds_every_log_ratio_and_is_reached(
    scale: Fraction, shift: int, value: int
) -> None:
    noise = DiscreteLaplace(scale)
    ratio = abs(abs(value - shift) - abs(value)) / scale
    assert ratio <= abs(shift) / scale
    assert noise.loss_ball(shift).contains(exact_ball(abs(shift) / scale))
    j = noise.distinguishing_value(shift, 0.0)
    assert (abs(j - shift) - abs(j)) / scale == abs(shift) / scale
