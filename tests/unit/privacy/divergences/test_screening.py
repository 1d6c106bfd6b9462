"""Screening flags too much, never too little: within rounding of the line, and with wide errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.balls import precision
from liptest.mechanisms.laws import LawTable, OutputLaw
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, compare_laws, enclose_loss, screen_pairs

ENDS = np.array([0]), np.array([1])


def _table(rows, errors=(0.0, 0.0)):
    return LawTable((0, 1), np.log(np.array(rows)), None, np.array(errors))


@given(st.integers(1, 2**20), st.integers(-8, 8), st.floats(0.0, 3e-16))
def test_what_lies_within_rounding_of_the_line_is_flagged(numerator, ulps, error):
    """The line is moved by units in the last place around the loss, to either side."""
    p = Fraction(numerator, 2**21)
    q = p / 3
    logs = np.log([[float(p), float(1 - p)], [float(q), float(1 - q)]])
    table = LawTable((0, 1), logs, None, np.full(2, error + 2.0**-50))
    loss = float(table.losses(*ENDS)[0])
    line = loss
    for _ in range(abs(ulps)):
        line = math.nextafter(line, math.inf if ulps > 0 else 0.0)
    found = screen_pairs(table, *ENDS, [Claim(line, 0.0, 0.0)])
    assert list(found.flagged) == [0], "a tie is never clear"
    assert list(found.certain) == [], "nor is it certain"
    assert found.above[0] >= loss


@pytest.mark.parametrize("gap", [1e-9, 1e-6, 0.1])
def test_what_lies_far_from_the_line_is_decided(gap):
    table = _table([[0.75, 0.25], [0.25, 0.75]], (1e-15, 1e-15))
    loss = math.log(3)
    below, above = Claim(loss - gap, 0.0, 0.0), Claim(loss + gap, 0.0, 0.0)
    assert list(screen_pairs(table, *ENDS, [below]).certain) == [0]
    assert list(screen_pairs(table, *ENDS, [above]).flagged) == []
    # Several claims at once: how many may, and how many must be broken.
    both = screen_pairs(table, *ENDS, [below, above])
    assert (both.may.tolist(), both.must.tolist()) == ([1], [1])


@pytest.mark.parametrize("error", [1e-6, 0.01, 0.3])
def test_declared_errors_are_added_on_both_sides(error):
    table = _table([[0.75, 0.25], [0.25, 0.75]], (error, error))
    loss = math.log(3)
    for share, flagged, certain in (
        (1.9, [0], []),
        (-1.9, [0], []),
        (2.1, [], []),
        (-2.1, [0], [0]),
    ):
        claim = Claim(loss + share * error, 0.0, 0.0)
        found = screen_pairs(table, *ENDS, [claim])
        assert (found.flagged.tolist(), found.certain.tolist()) == (flagged, certain), share


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_losses_are_shared_among_the_distance(distance):
    table = _table([[0.75, 0.25], [0.25, 0.75]], (1e-15, 1e-15))
    for factor, flagged in ((0.999, [0]), (1.001, [])):
        claim = Claim(factor * math.log(3) / distance, 0.0, 0.0)
        found = screen_pairs(table, *ENDS, [claim], np.array([distance]))
        assert found.flagged.tolist() == flagged


def _law(logs, errors):
    return OutputLaw(range(len(logs)), np.array(logs), np.array(errors), source="declared")


@pytest.mark.slow
@given(
    st.lists(st.floats(-6.0, -0.1), min_size=2, max_size=4),
    st.lists(st.floats(0.0, 2.0), min_size=4, max_size=4),
    st.floats(-1.0, 1.0),
    st.lists(st.floats(-1.0, 1.0), min_size=8, max_size=8),
)
def test_losses_of_wide_balls_are_enclosed(logs, errors, move, inside):
    """Whatever the logs are within their errors, the loss lies in the enclosure."""
    k = len(logs)
    left, right = _law(logs, errors[:k]), _law([x + move for x in logs], errors[4 - k :])
    with precision(128):
        found = enclose_loss(left, right)
    losses = [
        abs(
            (logs[i] + inside[i] * left.errors[i])
            - (logs[i] + move + inside[4 + i] * right.errors[i])
        )
        for i in range(k)
    ]
    assert max(losses) <= found.upper + 1e-12
    widest = max(max(0.0, abs(move) - left.errors[i] - right.errors[i]) for i in range(k))
    assert found.lower <= widest + 1e-12
    assert found.lower <= found.upper
    claim = Claim(max(found.upper, 1e-6) * 1.001 + 1e-9, 0.0, 0.0)
    assert compare_laws(left, right, claim).answer is Answer.CLEAR
    if found.lower > 1e-3:
        assert (
            compare_laws(left, right, Claim(found.lower * 0.999, 0.0, 0.0)).answer
            is Answer.VIOLATED
        )


def test_a_wide_ball_around_the_line_is_open_either_way():
    left, right = _law([math.log(0.75)], [0.2]), _law([math.log(0.25)], [0.2])
    with precision(128):
        assert arb(left.exact(0)).contains(arb(0.75))
    for epsilon, answer in (
        (0.6, Answer.VIOLATED),
        (0.8, Answer.DOUBT),
        (1.4, Answer.DOUBT),
        (1.6, Answer.CLEAR),
    ):
        assert compare_laws(left, right, Claim(epsilon, 0.0, 0.0)).answer is answer
    for delta, answer in ((0.4, Answer.DOUBT), (0.9, Answer.CLEAR), (0.001, Answer.VIOLATED)):
        assert compare_laws(left, right, Claim(0.3, delta, 0.0)).answer is answer


@pytest.mark.parametrize("method", ["exact", "neighbourhoods", "light-neighbourhoods"])
def test_a_profile_is_made_by_the_method_that_is_asked_for(method):
    law = lt.ProductDistribution.bernoulli([0.4] * 3)
    mechanism = lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.25))
    found = lt.privacy_profile(
        mechanism,
        law,
        epsilons=[0.5, 1.5],
        method=method,
        draws=None,
        seed=1,
        exception_mass=0.05,
        failure_probability=0.01,
    )
    assert found.method == method
    assert (found.draws > 0) == (method != "exact")
