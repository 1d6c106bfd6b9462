"""What all releases from a private table cost together."""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest

import liptest as lt
from liptest.evidence.ledger_cost import cost_of_table
from liptest.evidence.ledger_entries import Attempt

COMMON = {"vendor": "acme", "time": "t", "mechanism": "m", "code": "c", "distribution": "d"}


def attempt(number, epsilon, delta, used, table="clicks", failure=F(0)):
    return Attempt(
        number=number,
        count=number,
        private_table=table,
        claim="",
        failure_probability=failure,
        decision="YES",
        epsilon=F(epsilon),
        delta=F(delta),
        releases=used,
        used=used,
        **COMMON,
    )


def binomial_delta(epsilon, k, total):
    p = 1 / (1 + math.exp(-epsilon))
    return sum(
        math.comb(k, j) * p**j * (1 - p) ** (k - j) * -math.expm1(total - (2 * j - k) * epsilon)
        for j in range(k + 1)
        if (2 * j - k) * epsilon > total
    )


def test_many_small_releases_cost_less_than_their_sum():
    found = cost_of_table([attempt(1, "0.1", 0, 40), attempt(2, "0.1", 0, 60)], "clicks", 1e-6)
    assert found.releases == 100
    assert found.sum_of_epsilons == 10
    assert found.epsilon < 6
    # Never below the exact cost of 100 randomised responses, and hardly above.
    assert binomial_delta(0.1, 100, found.epsilon) <= 1e-6 * (1 + 1e-9)
    assert binomial_delta(0.1, 100, found.epsilon - 0.02) > 1e-6
    assert found.is_within(6)
    assert not found.is_within(4)
    assert "epsilons add up to 10" in str(found)


def test_deltas_and_failures_take_their_part_of_delta():
    one = attempt(1, 1, "1e-6", 1)
    assert cost_of_table([one], "clicks", 1e-6).epsilon == pytest.approx(1.0)
    assert cost_of_table([one], "clicks", 1e-7).epsilon == math.inf
    assert "no epsilon" in str(cost_of_table([one], "clicks", 1e-7))
    risky = attempt(2, 1, 0, 0, failure=F(1, 10**6))
    assert cost_of_table([one, risky], "clicks", 1.5e-6).epsilon > 1.0
    assert cost_of_table([one, risky], "clicks", 1e-6).epsilon == math.inf
    two = cost_of_table([one, attempt(3, 2, 0, 1)], "clicks", 1e-5)
    assert 2 < two.epsilon <= 3


def test_a_table_without_releases_costs_nothing():
    assert cost_of_table([attempt(1, 1, 0, 0)], "clicks", 1e-6).epsilon == 0
    assert cost_of_table([attempt(1, 1, 0, 3, "other")], "clicks", 1e-6).epsilon == 0
    with pytest.raises(lt.errors.InputError, match="delta"):
        cost_of_table([], "clicks", 0.0)


def test_a_ledger_says_what_its_gates_released(tmp_path):
    ledger = lt.Ledger(tmp_path / "ledger.db")
    law = lt.ProductDistribution.bernoulli([0.3] * 6)
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(10))
    gate = lt.PrivacyGate(
        noisy, law, epsilon=0.1, releases=4, ledger=ledger, vendor="acme", private_table="clicks"
    )
    for _ in range(4):
        gate.release([0, 1, 0, 0, 1, 0])
    found = ledger.cost("clicks", delta=1e-3)
    assert found.releases == 4
    assert 0.3 < found.epsilon <= 0.4 * (1 + 1e-12)
