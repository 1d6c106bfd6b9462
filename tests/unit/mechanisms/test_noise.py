from __future__ import annotations

import math
import pickle
import random
import secrets
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from liptest.balls import precision
from liptest.errors import InputError
from liptest.mechanisms import additive
from liptest.mechanisms.additive import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    probability_bound,
)
from liptest.mechanisms.laws import exact_ball

BOTH = [DiscreteLaplace, DiscreteGaussian]


@pytest.mark.parametrize("kind", BOTH)
def test_is_a_noise_that_pickles_and_compares_by_value(kind: type) -> None:
    noise = kind(2.5)
    assert isinstance(noise, AdditiveNoise)
    noise.log_pmf(0)
    again = pickle.loads(pickle.dumps(noise))
    assert again == noise == kind(Fraction(5, 2))
    assert hash(again) == hash(noise)
    assert again.log_pmf(3) == noise.log_pmf(3)
    assert noise != kind(2)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "1", True, None, Fraction(0)])
def test_refuses_a_width_that_is_no_number_above_0(kind: type, wrong: object) -> None:
    with pytest.raises(InputError, match=r"(scale|sigma)="):
        kind(wrong)


@pytest.mark.parametrize("kind", BOTH)
def test_a_float_stands_for_its_exact_binary_value(kind: type) -> None:
    assert kind(0.1) == kind(Fraction(0.1)) != kind(Fraction(1, 10))
    assert kind(np.float64(0.5)) == kind(Fraction(1, 2))
    assert kind(np.int64(3)) == kind(3)
    assert "0.1" in repr(kind(0.1))
    assert "1/10" in repr(kind(Fraction(1, 10)))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("width", [Fraction(1, 20), 0.7, 1, 9.3])
def test_probabilities_add_up_to_1(kind: type, width: float) -> None:
    logs = kind(width).log_pmf(np.arange(-1000, 1001))
    assert math.isclose(np.exp(logs).sum(), 1.0, rel_tol=1e-13)


@pytest.mark.parametrize("kind", BOTH)
def test_balls_contain_the_float_logs(kind: type) -> None:
    noise = kind(2.5)
    for value in (-40, -1, 0, 3):
        slack = arb(0, 1e-14 * max(1.0, abs(float(noise.log_pmf(value)))))
        assert (noise.log_pmf_ball(value) + slack).contains(arb(float(noise.log_pmf(value))))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("window", [0, 1, 5, 30])
def test_tail_bounds_the_mass_outside(kind: type, window: int) -> None:
    noise = kind(3)
    values = np.arange(-600, 601)
    outside = np.exp(noise.log_pmf(values))[np.abs(values) > window].sum()
    assert outside * (1 - 1e-12) <= float(noise.tail(window)) <= max(1.6 * outside, 2.0**-255)


@pytest.mark.parametrize("kind", BOTH)
def test_a_tiny_tail_stays_a_small_fraction(kind: type) -> None:
    bound = kind(1e-9).tail(10)
    assert 0 < bound <= Fraction(1, 2**255)
    assert bound.denominator.bit_length() < 400


def test_probability_bound_is_never_above_1() -> None:
    assert probability_bound(arb(3)) == 1
    assert probability_bound(arb(1) / 3) >= Fraction(1, 3)


def test_laplace_loss_is_the_shift_over_the_scale() -> None:
    noise = DiscreteLaplace(Fraction(3, 2))
    assert noise.loss(np.array([-3, 0, 1])).tolist() == pytest.approx([2.0, 0.0, 2 / 3])
    assert noise.loss_ball(-3) == arb(2)
    logs = noise.log_pmf(np.arange(-50, 51)) - noise.log_pmf(np.arange(-50, 51) - 4)
    assert np.abs(logs).max() == pytest.approx(float(noise.loss(4)))


def test_laplace_divergence_is_exactly_0_at_the_loss() -> None:
    noise = DiscreteLaplace(Fraction(10, 3))
    assert noise.hockey_stick_ball(1, arb(3) / 10).contains(arb(0))
    assert DiscreteLaplace(4).hockey_stick_ball(1, arb("0.25")) == arb(0)
    assert float(DiscreteLaplace(4).hockey_stick(1, 0.25)) == 0.0
    assert DiscreteLaplace(4).hockey_stick_ball(1, arb("0.25") - arb(2) ** -50) > arb(0)


def test_gaussian_loss_is_infinite() -> None:
    noise = DiscreteGaussian(5)
    assert noise.loss(np.array([0, 1, -2])).tolist() == [0.0, math.inf, math.inf]
    assert noise.loss_ball(0) == arb(0)
    assert not noise.loss_ball(1).is_finite()
    assert noise.hockey_stick_ball(0, arb(1)) == arb(0)
    assert noise.hockey_stick(np.array([[0, 1], [1, 0]]), 0.1).shape == (2, 2)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("shift", [-3, -1, 1, 4])
def test_distinguishing_value_shows_the_loss(kind: type, shift: int) -> None:
    noise = kind(2)
    for epsilon in (0.1, 0.4, 3.0):
        j = noise.distinguishing_value(shift, epsilon)
        loss = float(noise.log_pmf(j) - noise.log_pmf(j - shift))
        assert loss > min(epsilon, float(noise.loss(shift)) - 1e-12)


def test_extreme_scales() -> None:
    wide, narrow = DiscreteLaplace(1e300), DiscreteLaplace(1e-300)
    assert float(wide.loss(1)) == 1e-300
    assert wide.log_pmf(0) == pytest.approx(-math.log(2e300))
    assert narrow.log_pmf(0) == 0.0
    assert narrow.draw(secrets.randbelow) == 0
    assert float(wide.hockey_stick(1, 0.0)) == 0.0 or float(wide.hockey_stick(1, 0.0)) < 1e-299


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("width", [Fraction(1, 3), 1, Fraction(9, 4)])
def test_draws_of_narrow_noise_have_the_law(kind: type, width: Fraction) -> None:
    noise, randbelow = kind(width), random.Random(3).randrange
    draws = np.array([noise.draw(randbelow) for _ in range(2000)])
    for value in (-1, 0, 1):
        share = np.exp(noise.log_pmf(value))
        assert np.mean(draws == value) == pytest.approx(share, abs=0.04)


@pytest.mark.parametrize("shift", [1, 7])
def test_the_sum_of_a_gaussian_is_as_precise_as_it_is_asked_to_be(shift: int) -> None:
    for bits in (64, 256):
        with precision(bits):
            ball = DiscreteGaussian(30).hockey_stick_ball(shift, exact_ball(Fraction(1, 4)))
            assert ball.rad() < arb(2) ** (2 - bits)


@pytest.mark.parametrize("shift", [1, 30, 90])
@pytest.mark.parametrize("sigma", [2, 30])
def test_the_rest_of_a_sum_is_enclosed_wherever_it_is_cut(
    shift: int, sigma: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise, at = DiscreteGaussian(sigma), exact_ball(Fraction(1, 4))
    with precision(64):
        truth = noise.hockey_stick_ball(shift, at)
        monkeypatch.setattr(additive, "_SPARE_BITS", 4 - 64)
        cut = noise.hockey_stick_ball(shift, at)
    assert cut.contains(truth)
    assert truth.rad() < arb(2) ** -54
    assert cut.rad() < 0.1


@pytest.mark.parametrize("kind", BOTH)
def test_numbers_that_do_not_move_are_told_apart_by_nothing(kind: type) -> None:
    for epsilon in (0.0, 0.25):
        found = kind(2).hockey_stick(np.array([0, 1, 0, -1]), epsilon)
        assert found[0] == found[2] == 0.0 < found[1] == found[3]


def test_steps_of_a_grid_that_are_taken() -> None:
    for step in (Fraction(1, 1 << 100), 2.0**-100, Fraction(1, 3), 1, 7, 2.0**100, 1 << 100):
        assert additive.check_step(step) == Fraction(step)
    for wrong in (2.0**-101, 2.0**101, Fraction(1, (1 << 100) + 1), (1 << 100) + 1):
        with pytest.raises(InputError, match=r"lies outside of 7\.89e-31 to 1\.27e\+30"):
            additive.check_step(wrong)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("width", [Fraction(2, 5), 1, Fraction(10, 3)])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_hockey_stick_is_the_sum_over_a_long_window(
    kind: type, width: Fraction, size: int
) -> None:
    noise = kind(width)
    j = np.arange(-400, 401)
    p, moved = np.exp(noise.log_pmf(j)), np.exp(noise.log_pmf(j - size))
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2), Fraction(size) / width):
        true = float(np.maximum(p - math.exp(epsilon) * moved, 0.0).sum())
        with precision(128):
            ball = noise.hockey_stick_at(size, epsilon)
            both = [noise.hockey_stick_ball(end, exact_ball(epsilon)) for end in (size, -size)]
        for found in (ball, *both):
            assert float(found) == pytest.approx(true, rel=1e-9, abs=1e-12)
        assert noise.hockey_stick(size, float(epsilon)) == pytest.approx(true, rel=1e-9, abs=1e-12)
