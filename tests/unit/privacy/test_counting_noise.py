"""Poisson and binomial noise: no pure claim holds, and their deltas are those of long sums."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import liptest as lt
from benchmarks.tight_claims import count_answers

ONE = lt.Hypercube(1)
# Far beyond what a float of the sum shows.
REACH = 120


@lt.mechanism
def poisson(data: Any, rng: Any) -> int:
    return int(data[0]) + int(rng.poisson(5.0))


@lt.mechanism
def binomial(data: Any, rng: Any) -> int:
    return int(data[0]) + int(rng.binomial(20, 0.25))


@lt.mechanism
def skellam(data: Any, rng: Any) -> int:
    return int(data[0]) + int(rng.poisson(2.0)) - int(rng.poisson(2.0))


def poisson_masses(rate: int, reach: int) -> dict[int, Fraction]:
    """Up to the factor e^-rate, exactly."""
    found, mass = {}, Fraction(1)
    for k in range(reach):
        found[k] = mass
        mass = mass * rate / (k + 1)
    return found


def binomial_masses() -> dict[int, Fraction]:
    p = Fraction(1, 4)
    return {k: math.comb(20, k) * p**k * (1 - p) ** (20 - k) for k in range(21)}


def divergence(masses: dict[int, Fraction], scale: float, epsilon: float) -> float:
    """The larger one of both directions for a shift of 1, by direct sums."""
    factor = Fraction(math.exp(epsilon))
    moved = {k + 1: mass for k, mass in masses.items()}
    zero = Fraction(0)
    outputs = masses.keys() | moved.keys()
    sums = [
        sum(max(zero, p.get(k, zero) - factor * q.get(k, zero)) for k in outputs)
        for p, q in ((masses, moved), (moved, masses))
    ]
    return float(max(sums)) * scale


def skellam_masses() -> dict[int, Fraction]:
    one = poisson_masses(2, REACH // 2)
    found: dict[int, Fraction] = {}
    for k, p in one.items():
        for j, q in one.items():
            found[k - j] = found.get(k - j, Fraction(0)) + p * q
    return found


CASES: list[Any] = [
    (poisson, poisson_masses(5, REACH), math.exp(-5), epsilon) for epsilon in (0.5, 1.0, 1.5)
]
CASES += [(binomial, binomial_masses(), 1.0, epsilon) for epsilon in (0.5, 1.0, 2.0)]
CASES += [(skellam, skellam_masses(), math.exp(-4), epsilon) for epsilon in (0.5, 1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_deltas_are_those_of_direct_sums(case: Any) -> None:
    """YES a little above the exact delta, NO a little below it."""
    mechanism, masses, scale, epsilon = case
    exact = divergence(masses, scale, epsilon)
    for delta, decision in ((exact * (1 + 1e-6), "YES"), (exact * (1 - 1e-6), "NO")):
        verdict = lt.check_privacy(
            mechanism, ONE, epsilon=epsilon, delta=delta, tolerance=1e-9, seed=1
        )
        assert verdict.decision == decision


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [poisson, binomial, skellam])
@pytest.mark.parametrize("records", [1, 5000])
def test_no_pure_claim_holds(mechanism: Any, records: int) -> None:
    """The output of the witness is one whose loss exceeds the claim."""
    verdict = lt.check_privacy(mechanism, lt.Hypercube(records), epsilon=1.0, seed=1)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss_lower > 1.0
    assert verdict.witness.verify(mechanism)


@pytest.mark.slow
def test_tight_claims_of_discrete_laplace_noise_are_never_refuted() -> None:
    """Claimed by the smallest float that is not below the loss; without a tolerance."""
    found = count_answers(300)
    assert found == {"tight": {"YES": 300}, "1e-9 less": {"NO": 30}}
