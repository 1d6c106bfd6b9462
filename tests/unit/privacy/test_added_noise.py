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
    assert "797 values" in verdict.guarantee.sentence
    given = certify(
        verdict, fingerprint(by_rejection), distribution_or_domain(PEOPLE), own_seed=False
    )
    assert problems(given.to_json(), by_rejection) == []


@pytest.mark.slow
def test_at_delta_0_the_delta_that_is_proved_is_said() -> None:
    verdict = check(by_rejection, method="alignment")
    assert verdict.decision == "INCONCLUSIVE"
    assert "e-20 it is proved for data of any size" in verdict.reason


@pytest.mark.slow
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


def discrete_laplace(scale: int, rng: Any) -> int:
    """Of a whole scale, as Canonne, Kamath and Steinke wrote it."""
    while True:
        while True:
            size = int(rng.integers(0, scale))
            if coin(rng, size, scale):
                break
        while coin(rng, 1, 1):
            size += scale
        sign = rng.integers(0, 2)
        if not (sign and size == 0):
            return size if sign == 0 else -size


@lt.mechanism
def of_scale_2(data: Any, rng: Any) -> int:
    return int(data.sum()) + discrete_laplace(2, rng)


@lt.mechanism
def of_scale_1(data: Any, rng: Any) -> list[int]:
    return [int(data.sum()) + discrete_laplace(1, rng)]


def mass(scale: float, at: int) -> float:
    """Of discrete Laplace noise."""
    return math.tanh(0.5 / scale) * math.exp(-abs(at) / scale)


@pytest.mark.slow
@pytest.mark.parametrize(("claimed", "delta"), [(0.45, 1e-3)])
def test_too_little_noise_of_a_rejection_sampler_is_refuted(claimed: float, delta: float) -> None:
    verdict = lt.check_privacy(of_scale_2, PEOPLE, epsilon=claimed, delta=delta, seed=1)
    assert (verdict.decision, verdict.method) == ("NO", "refutation")
    witness = verdict.witness
    counts = [sum(side) for side in (witness.dataset, witness.neighbour)]
    assert abs(counts[0] - counts[1]) == 1
    sums = [sum(mass(2, at - count) for at in witness.event) for count in counts]
    known = [witness.probability, witness.neighbour_probability]
    assert sums == pytest.approx(known, abs=1e-15)
    assert max(sums) - math.exp(claimed) * min(sums) > delta
    assert "enumerated once for their arguments (theory L4)" in verdict.law_source
    given = certify(
        verdict, fingerprint(of_scale_2), distribution_or_domain(PEOPLE), own_seed=False
    )
    assert problems(given.to_json(), of_scale_2) == []


@pytest.mark.slow
def test_a_claim_below_what_coins_cost_is_refuted() -> None:
    verdict = lt.check_privacy(by_rejection, lt.Hypercube(40), epsilon=0.9, seed=1)
    assert (verdict.decision, verdict.method) == ("NO", "refutation")
    assert verdict.witness.loss_lower == pytest.approx(1.0, abs=1e-12)


@pytest.mark.slow
def test_enough_noise_of_a_rejection_sampler_is_not_refuted() -> None:
    verdict = lt.check_privacy(of_scale_2, PEOPLE, epsilon=0.5, seed=1)
    assert (verdict.decision, verdict.witness) == ("INCONCLUSIVE", None)
    assert verdict.remedy.delta < 1e-17


@pytest.mark.slow
@pytest.mark.parametrize(("claimed", "decision"), [(1.0, "YES"), (0.9, "NO")])
def test_rejection_samplers_on_small_domains(claimed: float, decision: str) -> None:
    small = lt.Hypercube(2)
    verdict = lt.check_privacy(of_scale_1, small, epsilon=claimed, delta=1e-12, seed=1)
    assert verdict.decision == decision


@pytest.mark.slow
def test_the_law_of_a_rejection_sampler_is_printed() -> None:
    law = lt.output_law(of_scale_2, [1, 0, 1, 1])
    assert law.unexplored < 1e-17
    for at, known in law.items():
        assert known == pytest.approx(mass(2, at - 3), abs=1e-16)


@lt.mechanism
def leaves_late(data: Any, rng: Any) -> int:
    """A loop that looks like one that starts over, and counts its passes in a list."""
    passes = [0]
    while rng.random() < 0.5:
        passes[0] += 1
        if passes[0] == 30 and data[0]:
            return -1
    return 0


def test_a_loop_that_remembers_is_not_summed_up() -> None:
    law = lt.output_law(leaves_late, [1, 0])
    assert law[-1] == 2.0**-30
