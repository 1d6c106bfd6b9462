"""Bounds as text: outwards, fifty digits, tiny and endless numbers included."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import CERTIFIED_BITS, precision
from liptest.evidence.check_witness import BREAKS
from liptest.evidence.check_witness import check_certificate as check
from liptest.evidence.check_witness import read_rational as rational
from liptest.mechanisms.declared import ExactForm
from liptest.mechanisms.laws import OutputLaw, Raised
from liptest.privacy.witnesses import (
    ball_bounds,
    event_bounds,
    fraction_text,
    output_from_json,
    output_to_json,
)
from liptest.privacy.witnesses import probability_bounds as bounds_of

UNIFORM = lt.ProductDistribution.uniform(lt.Hypercube(1))


@pytest.mark.slow
@given(st.fractions(0, 1))
def test_fractions_stay_fractions(value):
    assert bounds_of(value) == (str(value), str(value))
    assert rational(str(value)) == value


@pytest.mark.slow
@given(st.floats(-2000.0, 0.0))
def test_balls_are_rounded_outwards(exponent):
    with precision(CERTIFIED_BITS):
        ball = arb(exponent).exp()
    [(low, high, *_)] = ball_bounds([(ball, ball)])
    below, above = rational(low), rational(high)
    assert 0 < below <= above <= 1
    assert above - below <= F(3, 10**49) * above
    assert math.isclose(float(below), math.exp(exponent), rel_tol=1e-9, abs_tol=5e-324)
    with precision(CERTIFIED_BITS):
        assert arb(below.numerator) / below.denominator <= ball.upper()
        assert arb(above.numerator) / above.denominator >= ball.lower()


def test_the_ends():
    with precision(CERTIFIED_BITS):
        assert bounds_of(arb(0)) == ("0", "0")
        assert bounds_of(arb(1)) == ("1.0000000000000000000000000000000000000000000000000e0", "1")
        assert bounds_of(arb(0.5, 0.75)) == ("0", "1")
        assert bounds_of(arb(-1_000_000).exp()) == ("0", "1e-100000")
        low, high = bounds_of(arb(-200_000).exp())
    assert low.endswith("e-86859")
    assert rational(low) < rational(high)


def test_a_long_fraction_becomes_an_interval():
    long = F(1, 3**20_000)
    assert fraction_text(long) == ""
    low, high = bounds_of(long)
    assert rational(low) <= long <= rational(high)
    assert len(low) < 70


def test_partial_laws_keep_their_unexplored_mass_apart():
    law = OutputLaw.from_fractions({0: F(1, 2)}, unexplored=F(1, 2))
    assert event_bounds(law, law, (0, 1)) == (("1/2",) * 4, ("0",) * 4)


def long_law(dataset):
    share = F(3, 5) ** 9000
    return (share, 1 - share) if dataset[0] else (share / 8, 1 - share / 8)


def test_a_witness_of_endless_digits_is_written_and_decided():
    """Python refuses to print whole numbers of more than 4300 digits."""
    mechanism = ExactForm((0, 1), long_law)
    gate = lt.PrivacyGate(mechanism, UNIFORM, epsilon=1.0)
    assert gate.certificate.decision == "NO"
    assert lt.verify(gate.certificate.to_json(), mechanism, UNIFORM)
    assert check(gate.certificate.to_dict()) == BREAKS


@pytest.mark.slow
def test_tiny_declared_probabilities_are_decided():
    """Logs far below the smallest float."""

    def logs(datasets):
        low = np.where(datasets[:, :1] == 1, -250_000.0, -150_000.0)
        return np.concatenate([low, np.zeros_like(low)], axis=1)

    mechanism = lt.ClosedForm((0, 1), logs)
    certificate = lt.PrivacyGate(mechanism, UNIFORM, epsilon=1.0).certificate
    assert certificate.verdict.witness.probability == 0.0
    assert lt.verify(certificate.to_json(), mechanism, UNIFORM)
    assert check(certificate.to_dict()) == BREAKS


@pytest.mark.parametrize(
    "output", [b"bytes", F(1, 3), frozenset({1}), (1, b"x"), 1.5, math.inf, Raised("E"), None]
)
def test_outputs_come_back_as_they_were_written(output):
    written = output_to_json(output)
    again = output_from_json(written)
    assert repr(again) == repr(output)
    assert output_to_json(again) == written


@pytest.mark.parametrize(
    ("epsilon", "delta", "most"), [(0.5, 0.01, 1), (0.5, 0.28, 9), (0.1, 0.4, 9)]
)
@pytest.mark.parametrize("noise", [lt.DiscreteLaplace(1), lt.DiscreteGaussian(0.8)], ids=repr)
def test_events_of_unbounded_outputs_decide(noise, epsilon, delta, most):
    mechanism = lt.ShiftMechanism(lt.Count(), noise)
    certificate = lt.PrivacyGate(mechanism, UNIFORM, epsilon=epsilon, delta=delta).certificate
    assert certificate.decision == "NO"
    assert 1 <= len(certificate.verdict.witness.event) <= most
    assert check(certificate.to_dict()) == BREAKS
    assert lt.verify(certificate.to_json(), mechanism, UNIFORM)
