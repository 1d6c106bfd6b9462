"""Verdicts on laws that a budget has left partial: only what holds for every completion."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import liptest as lt
from liptest.verdicts import Decision

CUBE = lt.Hypercube(3)
UNIFORM = lt.ProductDistribution.uniform(CUBE)
METHODS = ["exhaustive", "neighbourhoods"]


def geometric(data, rng):
    """A count with noise that may run for ever: 2**-40 of the law is left open."""
    noise = 0
    while rng.random() < 0.5:
        noise += 1
    return int(data.sum()) + noise % 2


def leaky(data, rng):
    """Outputs 0 with probability 1/2 where the first record is 1, else never in what is seen."""
    passes = 0
    while rng.random() < 0.5:
        passes = passes + 1  # so that the loop is run as it is written
        if data[0]:
            return 0
    return 1


def check(function, method, **options):
    mechanism = lt.mechanism(max_choices=40)(function)
    return lt.check_privacy(
        mechanism, UNIFORM, method=method, exception_mass=0.05, failure_probability=0.05, seed=1,
        **options,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_pure_privacy_is_left_open(method):
    verdict = check(geometric, method, epsilon=28)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "9.09e-13 of its probability unexplored" in verdict.reason
    assert "unexplored" in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_delta_above_what_is_open_is_decided(method):
    # Outputs c and c + 1 have 2/3 and 1/3, of which neighbouring counts share one.
    far = Fraction(2, 3)
    for delta, decision in [(float(far) + 1e-3, "YES"), (float(far) - 1e-3, "NO")]:
        assert check(geometric, method, epsilon=0.5, delta=delta).decision == decision


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_violation_for_every_completion_is_a_no(method):
    verdict = check(leaky, method, epsilon=20)
    assert verdict.decision is Decision.NO
    assert verdict.witness.verify(lt.mechanism(max_choices=40)(leaky))
    # Certain is only 1/2 against what is open; the float screen would have said infinity.
    assert 20 < verdict.largest_loss == verdict.witness.loss_lower < 40 * np.log(2)
    assert verdict.witness.loss_upper == np.inf


@pytest.mark.slow
def test_a_loss_within_what_is_open_is_no_violation():
    assert check(leaky, "exhaustive", epsilon=28).decision is Decision.INCONCLUSIVE


def test_exact_epsilon_encloses_what_is_open():
    found = lt.exact_epsilon(lt.mechanism(max_choices=40)(leaky), CUBE)
    assert 26 < found.lower <= found.value < 40 * np.log(2)
    assert found.upper == np.inf


@pytest.mark.slow
def test_a_hopeless_mechanism_ends_early_without_a_verdict(monkeypatch):
    monkeypatch.setattr("liptest.enumerate.trees.enumeration._MAX_PARTIAL_LEAVES", 64)

    def wide(data, rng):
        return tuple(int(bit) ^ int(rng.random() < 0.5) for bit in data)

    mechanism = lt.mechanism(max_leaves=32)(wide)
    law = lt.ProductDistribution.uniform(lt.Hypercube(12))
    verdict = lt.check_privacy(mechanism, law, epsilon=1, method="neighbourhoods", seed=1)
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "up to 1 of its probability" in verdict.reason
    with pytest.raises(lt.errors.BudgetError, match="visiting all of them takes too long"):
        lt.check_privacy(mechanism, law, epsilon=1, method="exhaustive")


@pytest.mark.slow
def test_a_partial_law_is_never_drawn_from():
    mechanism = lt.mechanism(max_choices=40)(geometric)
    gate = lt.PrivacyGate(mechanism, UNIFORM, epsilon=0.5, delta=0.67)
    assert gate.certificate.decision is Decision.YES
    with pytest.raises(lt.errors.GateError):
        gate.release([0, 1, 1])


def two_loops(data, rng):
    """The discrete Laplace law of ratio r**2 as it is often written: two loops without an end."""
    noisy = int(data.sum())
    while rng.random() < 0.5:
        noisy += 1
    while rng.random() < 0.5:
        noisy -= 1
    return noisy


@pytest.mark.slow
def test_several_loops_without_an_end_cost_their_likely_paths_only():
    law = lt.output_law(lt.mechanism(two_loops), np.array([1, 0, 1]))
    # Runs below 2**-64 are left out; there are 65 lengths of the first loop above that.
    assert 0 < law.unexplored < 70 * 2.0**-64
    for output in (-3, 2, 9):
        exact = Fraction(1, 3) * Fraction(1, 2) ** abs(output - 2)
        assert exact - Fraction(law.unexplored) <= law.exact(output) <= exact


def test_light_paths_are_walked_where_the_law_can_be_complete():
    @lt.mechanism
    def bounded(data, rng):
        ones = 0
        while ones < 150 and rng.random() < 0.5:
            ones += 1
        return ones

    law = lt.output_law(bounded, np.array([1, 0, 1]))
    assert law.unexplored == 0
    assert law.exact(150) == Fraction(1, 2**150)


@pytest.mark.slow
def test_a_program_without_an_end_ends_though_its_paths_are_light():
    @lt.mechanism
    def endless(data, rng):
        while True:
            rng.integers(2)

    with pytest.raises(lt.errors.BudgetError, match="does a loop never end"):
        lt.output_law(endless, np.array([1, 0, 1]))


def two_loops_as_written(data, rng):
    """The same law from loops that are run as they are."""
    noisy = int(data.sum())
    while rng.random() < 0.5:
        noisy = noisy + 1
    while rng.random() < 0.5:
        noisy = noisy - 1
    return noisy


@pytest.mark.slow
def test_a_tail_that_no_budget_closes_is_not_said_to_need_a_larger_budget():
    verdict = lt.check_privacy(
        lt.mechanism(two_loops_as_written), UNIFORM, epsilon=lt.log(2), method="exhaustive"
    )
    assert verdict.decision is Decision.INCONCLUSIVE
    assert "max_leaves" not in str(verdict)
    assert "lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(scale))" in str(verdict)
    with_delta = lt.check_privacy(
        lt.mechanism(two_loops_as_written),
        UNIFORM,
        epsilon=lt.log(2),
        delta=1e-12,
        method="exhaustive",
    )
    assert with_delta.decision is Decision.YES
    found = lt.check_privacy(
        lt.mechanism(two_loops), UNIFORM, epsilon=lt.log(2), method="exhaustive"
    )
    assert found.decision is Decision.YES  # whole numbers without an end, compared over all
