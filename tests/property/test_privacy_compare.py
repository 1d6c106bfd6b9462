"""Certified comparison against decimal arithmetic of 120 digits, on random rational laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

import liptest as lt
from liptest.mechanisms.laws import OutputLaw
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, compare_laws, enclose_loss
from tests.unit.privacy.cases import (
    breaks,
    claimed,
    exp_of,
    from_weights,
    hockey_stick,
    log_of,
    ratio,
)

WEIGHTS = st.one_of(
    st.integers(0, 4), st.integers(1, 10**6), st.integers(10**29, 10**30), st.just(1)
)
NUDGES = st.sampled_from([1 - 1e-3, 1 - 1e-12, 1 - 2e-16, 1.0, 1 + 3e-16, 1 + 1e-12, 1 + 1e-3, 2.0])
TOLERANCES = st.sampled_from([0.0, 1e-12, 1e-9, 1e-3])


@st.composite
def law_pairs(draw):
    outputs = draw(st.integers(1, 5))
    sides = [draw(st.lists(WEIGHTS, min_size=outputs, max_size=outputs)) for _ in range(2)]
    assume(all(sum(side) for side in sides))
    return [from_weights(side) for side in sides]


def as_law(row):
    return OutputLaw.from_fractions(dict(enumerate(row)))


def nudged(value, nudge):
    """A float epsilon near the one at which value would be the loss."""
    return max(float(value) * nudge, 1e-12)


def check(pair, claim):
    truth = breaks(*pair, claim.epsilon, claim.delta, claim.tolerance)
    assume(truth is not None)
    event(f"broken: {truth}")
    expected = Answer.VIOLATED if truth else Answer.CLEAR
    left, right = map(as_law, pair)
    for first, second in ((left, right), (right, left)):
        assert compare_laws(first, second, claim).answer is expected


@pytest.mark.slow
@given(law_pairs(), NUDGES, TOLERANCES)
def test_pure_claims_near_the_boundary(pair, nudge, tolerance):
    found = ratio(*pair)
    loss = Fraction(1) if found is None or found == 1 else log_of(found)
    epsilon = nudged((loss - Fraction(tolerance)) / (1 + Fraction(tolerance)), nudge)
    check(pair, Claim(epsilon, 0.0, tolerance))


@pytest.mark.slow
@given(law_pairs(), st.sampled_from([-1, 0, 1]))
def test_logs_of_rationals_are_decided_to_the_last_digit(pair, side):
    found = ratio(*pair)
    assume(found is not None)
    argument = found * (1 + side * Fraction(1, 10**100))
    assume(argument > 1)
    claim = Claim(lt.log(argument), 0.0, 0.0)
    assert breaks(*pair, claim.epsilon) is (side < 0)
    check(pair, claim)


@pytest.mark.slow
@given(law_pairs(), st.floats(1e-6, 5), NUDGES, TOLERANCES)
def test_deltas_near_the_boundary(pair, epsilon, nudge, tolerance):
    stick = hockey_stick(*pair, exp_of(claimed(epsilon, tolerance)))
    delta = float(stick / (1 + Fraction(tolerance))) * nudge
    assume(0 < delta < 1)
    check(pair, Claim(epsilon, delta, tolerance))


@given(law_pairs())
def test_the_enclosure_contains_the_loss(pair):
    found = enclose_loss(*map(as_law, pair))
    worst = ratio(*pair)
    if worst is None:
        assert found.lower == found.upper == math.inf
    else:
        assert Fraction(found.lower) <= log_of(worst) <= Fraction(found.upper)
        assert found.upper - found.lower <= 1e-15 * max(1.0, found.upper)


LOGS = st.lists(st.sampled_from([-0.5, -1.0, -1.25, -3.0, -1e7]), min_size=1, max_size=4)


@pytest.mark.slow
@given(LOGS, st.data(), st.sampled_from([0.0, 1e-12, 1e-6, 0.1]))
def test_intervals_are_decided_as_intervals(left, data, error):
    right = data.draw(st.lists(st.sampled_from(left), min_size=len(left), max_size=len(left)))
    gaps = [abs(Fraction(a) - Fraction(b)) for a, b in zip(left, right, strict=True)]
    spread = 2 * Fraction(error)
    least, most = max(max(gaps) - spread, Fraction(0)), max(gaps) + spread
    epsilon = nudged(data.draw(st.sampled_from([least, max(gaps), most])), data.draw(NUDGES))
    limit = Fraction(epsilon)
    # Radii of balls have 30 bits, rounded outwards.
    margin = Fraction(1, 10**25) + Fraction(error) / 10**6
    assume(all(abs(limit - bound) > margin for bound in (least, most)))
    laws = [
        OutputLaw(range(len(logs)), np.array(logs), np.full(len(logs), error))
        for logs in (left, right)
    ]
    expected = Answer.DOUBT
    if most < limit:
        expected = Answer.CLEAR
    elif least > limit:
        expected = Answer.VIOLATED
    event(expected.value)
    assert compare_laws(*laws, Claim(epsilon, 0.0, 0.0)).answer is expected


@pytest.mark.slow
@given(
    law_pairs(),
    law_pairs(),
    st.integers(1, 9),
    st.floats(0.01, 2),
    st.sampled_from([0.0, 0.2, 0.9]),
)
def test_a_partial_law_is_decided_only_as_all_its_completions_are(
    pair, rest, tenths, epsilon, delta
):
    """Each law is known up to tenths/10 of its mass, which follows any law on the outputs."""
    part = Fraction(tenths, 10)
    claim = Claim(epsilon, delta, 0.0)
    partial = [
        OutputLaw.from_fractions({i: p * (1 - part) for i, p in enumerate(row)}, unexplored=part)
        for row in pair
    ]
    answer = compare_laws(*partial, claim).answer
    event(answer.value)
    if answer is Answer.DOUBT:
        return
    size = max(len(row) for row in (*pair, *rest)) + 1
    whole = [completed(row, part, more, size) for row, more in zip(pair, rest, strict=True)]
    truth = breaks(*whole, epsilon, delta)
    assert truth in (None, answer is Answer.VIOLATED)


def completed(row, part, rest, size):
    """Outputs of the rest from the far end, so that some are listed nowhere."""
    known = [p * (1 - part) for p in row] + [Fraction(0)] * (size - len(row))
    for i, p in enumerate(rest):
        known[size - 1 - i] += p * part
    return known
