"""Claims about programs that make their whole noise themselves."""

from __future__ import annotations

import math
from typing import Any

import pytest

import liptest as lt
from liptest.data.distributions import distribution_or_domain
from liptest.evidence.certificate import certify
from liptest.evidence.verify import problems
from liptest.runs.fingerprints import fingerprint

PEOPLE = lt.Hypercube(5000)
E1 = math.exp(-1.0)


def coin(rng: Any, top: int, bottom: int) -> bool:
    """Bernoulli(exp(-top/bottom)) (Canonne, Kamath, Steinke 2020)."""
    k = 1
    while rng.integers(0, bottom * k) < top:
        k += 1
    return k % 2 == 1


@lt.mechanism
def by_rejection(data: Any, rng: Any) -> int:
    while True:
        u = 0
        while coin(rng, 1, 1):
            u += 1
        sign = rng.integers(0, 2)
        if not (sign and u == 0):
            return int(data.sum()) + (u if sign == 0 else -u)


@lt.mechanism
def two_loops(data: Any, rng: Any) -> int:
    up = down = 0
    while rng.random() < E1:
        up += 1
    while rng.random() < E1:
        down += 1
    return int(data.sum()) + up - down


def check(mechanism: Any, **options: Any) -> Any:
    return lt.check_privacy(mechanism, PEOPLE, epsilon=1.0, seed=1, **options)


@pytest.mark.slow
def test_a_rejection_sampler_is_proved_with_the_delta_of_its_tail() -> None:
    verdict = check(by_rejection, delta=1e-12)
    assert (verdict.decision, verdict.method) == ("YES", "alignment")
    assert verdict.guarantee.kind == "proof"
    assert 0 < verdict.settings.parameters["delta"] < 1e-16
    assert "for every number of records" in verdict.proof
    assert "87 values" in verdict.guarantee.sentence
    given = certify(
        verdict, fingerprint(by_rejection), distribution_or_domain(PEOPLE), own_seed=False
    )
    assert problems(given.to_json(), by_rejection) == []


@pytest.mark.slow
def test_at_delta_0_the_delta_that_is_proved_is_said() -> None:
    verdict = check(by_rejection, method="alignment")
    assert verdict.decision == "INCONCLUSIVE"
    assert "e-18 it is proved for data of any size" in verdict.reason


def test_loops_of_coins_are_proved_at_delta_0() -> None:
    verdict = check(two_loops)
    assert (verdict.decision, verdict.method) == ("YES", "alignment")
    assert verdict.settings.parameters["price"] == pytest.approx(1.0, abs=1e-12)
    assert verdict.settings.parameters["delta"] == 0.0


@pytest.mark.slow
def test_too_little_noise_is_not_proved() -> None:
    verdict = lt.check_privacy(
        by_rejection, PEOPLE, epsilon=0.9, delta=1e-3, seed=1, method="alignment"
    )
    assert verdict.decision == "INCONCLUSIVE"
