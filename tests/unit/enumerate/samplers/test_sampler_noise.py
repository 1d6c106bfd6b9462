"""Samplers of discrete Laplace noise count as that noise, with a delta for what they differ by."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.distributions import distribution_or_domain
from liptest.enumerate.samplers.sampler_noise import fit_geometric
from liptest.evidence.certificate import certify
from liptest.evidence.verify import problems
from liptest.runs.fingerprints import fingerprint

CELLS = lt.RecordGrid([3] * 5000)
BITS = lt.Hypercube(5000)


def coin(rng: Any, top: int, bottom: int) -> bool:
    k = 1
    while rng.integers(0, bottom * k) < top:
        k += 1
    return k % 2 == 1


def discrete_laplace(rng: Any) -> int:
    """Of scale 1 (Canonne, Kamath and Steinke 2020)."""
    while True:
        size = 0
        while coin(rng, 1, 1):
            size += 1
        sign = rng.integers(0, 2)
        if not (sign and size == 0):
            return size if sign == 0 else -size


def leans(rng: Any) -> int:
    """The same, but once in 2**30 calls it adds 1."""
    found = discrete_laplace(rng)
    return found + 1 if rng.integers(0, 2**30) == 0 else found


@lt.mechanism
def histogram(data: Any, rng: Any) -> list[int]:
    return [int((data == cell).sum()) + discrete_laplace(rng) for cell in range(3)]


@lt.mechanism
def most_frequent(data: Any, rng: Any) -> int:
    counts = np.bincount(data, minlength=3)
    return int(np.argmax([int(count) + discrete_laplace(rng) for count in counts]))


@lt.mechanism
def above(data: Any, rng: Any) -> bool:
    return bool(data.sum() + discrete_laplace(rng) > 2500)


@lt.mechanism
def above_leaning(data: Any, rng: Any) -> bool:
    return bool(data.sum() + leans(rng) > 2500)


def of_scale_4(rng: Any) -> int:
    """As they wrote it for whole scales."""
    while True:
        size = int(rng.integers(0, 4))
        if not coin(rng, size, 4):
            continue
        while coin(rng, 1, 1):
            size += 4
        sign = rng.integers(0, 2)
        if not (sign and size == 0):
            return size if sign == 0 else -size


@lt.mechanism
def sparse_vector(data: Any, rng: Any) -> int:
    threshold = 100 + of_scale_4(rng)
    for place in range(4):
        if int((data == place).sum()) + of_scale_4(rng) >= threshold:
            return place
    return -1


def masses(scale: float, far: int) -> list[Fraction]:
    """Of -far .. far, rounded down."""
    size = math.tanh(0.5 / scale)
    law = (size * math.exp(-abs(k) / scale) for k in range(-far, far + 1))
    return [Fraction(math.floor(mass * 2**52), 2**52) for mass in law]


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_distance_is_that_of_sums(scale: float) -> None:
    far = int(40 * scale)
    known = [int(mass * 2**60) for mass in masses(scale, far)]
    found = fit_geometric((tuple(range(-far, far + 1)), (*known, 2**60 - sum(known))))
    assert found is not None
    p, distance = found
    assert p == pytest.approx(1 - math.exp(-1 / scale), rel=1e-12)
    assert 0 <= distance < Fraction(1, 2**44)
    ratio = 1 - Fraction(p)
    law = {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-5 * far, 5 * far + 1)}
    over = sum(
        max(mass - (Fraction(known[k + far], 2**60) if abs(k) <= far else 0), Fraction(0))
        for k, mass in law.items()
    )
    assert over <= distance <= over + Fraction(1, 2**60)


@pytest.mark.parametrize(
    "outcomes",
    [
        ((0, 1), (1, 1, 0)),
        ((-1, 0, 1), (1, 2, 1, 0)),
        ((0.0, 1.0, -1.0), (2, 1, 1, 0)),
        ((0,), (1, 0)),
        ((2, 3), (1, 1, 0)),
        (tuple(range(-9, 10)), (*(2 ** (9 - abs(k)) for k in range(-9, 10)), 0)),
    ],
)
def test_other_laws_are_not_taken_for_it(outcomes: Any) -> None:
    assert fit_geometric(outcomes) is None


@pytest.mark.slow
def test_thresholds_of_a_sampler_are_proved() -> None:
    verdict = lt.check_privacy(above, BITS, epsilon=1.0, delta=1e-12, seed=1)
    assert (verdict.decision, verdict.method) == ("YES", "alignment")
    assert 0 < verdict.settings.parameters["delta"] < 1e-15
    given = certify(verdict, fingerprint(above), distribution_or_domain(BITS), own_seed=False)
    assert problems(given.to_json(), above) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "epsilon", "decision"),
    [
        (histogram, 2.0, "YES"),
        *((most_frequent, 2.0, "YES"), (above, 0.99, "INCONCLUSIVE")),
        *((above_leaning, 1.0, "INCONCLUSIVE"), (sparse_vector, 0.5, "YES")),
        (sparse_vector, 0.49, "INCONCLUSIVE"),
    ],
)
def test_what_is_proved_of_samplers(mechanism: Any, epsilon: float, decision: str) -> None:
    domain = BITS if mechanism in (above, above_leaning) else CELLS
    options: Any = {"epsilon": epsilon, "delta": 1e-12, "method": "alignment", "seed": 1}
    assert lt.check_privacy(mechanism, domain, **options).decision == decision


@pytest.mark.slow
def test_at_delta_0_the_delta_of_the_samplers_is_said() -> None:
    verdict = lt.check_privacy(histogram, CELLS, epsilon=2.0, method="alignment", seed=1)
    assert verdict.decision == "INCONCLUSIVE"
    assert "its functions draw discrete Laplace noise" in verdict.reason
