"""Claims about whole numbers with noise of the code's own samplers are refuted with a witness."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.distributions import distribution_or_domain
from liptest.evidence.certificate import certify
from liptest.evidence.verify import problems
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, certify_comparison
from liptest.runs.fingerprints import fingerprint
from tests.unit.enumerate.samplers.test_sampler_noise import discrete_laplace, leans

CELLS = lt.RecordGrid([3] * 40)
SYSTEM = random.SystemRandom()


@lt.mechanism
def histogram(data: Any, rng: Any) -> list[int]:
    return [int((data == cell).sum()) + discrete_laplace(rng) for cell in range(3)]


@lt.mechanism
def leaning_histogram(data: Any, rng: Any) -> list[int]:
    return [int((data == cell).sum()) + leans(rng) for cell in range(3)]


@lt.mechanism
def until_small(data: Any, rng: Any) -> list[int]:
    while True:
        noise = discrete_laplace(rng)
        if abs(noise) < 3:
            break
    return [int(data.sum()) + noise, discrete_laplace(rng)]


def bernoulli(p: Fraction) -> int:
    return 1 if SYSTEM.randrange(p.denominator) < p.numerator else 0


def bernoulli_exp(x: Fraction) -> int:
    k = 1
    while bernoulli(x / k) == 1:
        k = k + 1
    return k % 2


def plain_laplace() -> int:
    """Of scale 1, with ``random.SystemRandom`` and fractions."""
    while True:
        sign = bernoulli(Fraction(1, 2))
        size = 0
        while bernoulli_exp(Fraction(1)) == 1:
            size += 1
        if sign == 1 and size == 0:
            continue
        return size * (1 - 2 * sign)


@lt.mechanism
def plain_count(rows: Any) -> int:
    """The function itself draws and calculates, too, and is handed an array."""
    return int(sum(rows)) + plain_laplace()


@lt.mechanism
def twice(data: Any) -> list[int]:
    return [int(sum(data)) + plain_laplace(), plain_laplace()]


def near(mechanism: Any, records: int = 8) -> Any:
    return mechanism.near_all_numbers(np.zeros(records, np.int8))


def ends(records: int = 8) -> tuple[Any, Any]:
    left = np.zeros(records, np.int8)
    right = left.copy()
    right[0] = 1
    return left, right


def mass(at: int) -> float:
    return math.tanh(0.5) * math.exp(-abs(at))


@pytest.mark.slow
def test_the_loss_and_both_probabilities_are_enclosed() -> None:
    seen = near(histogram)
    left, right = ends()
    output, *balls = seen.pair_witness(left, right, 1.0)
    counts = (8, 0, 0), (7, 1, 0)
    for ball, centres in zip(balls, counts, strict=True):
        known = math.prod(mass(at - centre) for at, centre in zip(output, centres, strict=True))
        assert float(ball.mid()) == pytest.approx(known, rel=1e-12)
        assert 0 < float(ball.rad()) < 1e-15
    assert float(seen.pair_loss(left, right).mid()) == pytest.approx(2.0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [2.0, 2.0 + 1e-12])
def test_what_is_tight_is_never_refuted(epsilon: float) -> None:
    answer = certify_comparison(near(histogram), *ends(), Claim(epsilon, 0.0, 0.0)).answer
    assert answer is not Answer.VIOLATED


@pytest.mark.slow
def test_less_is_refuted() -> None:
    answer = certify_comparison(near(histogram), *ends(), Claim(1.999, 0.0, 0.0)).answer
    assert answer is Answer.VIOLATED


@pytest.mark.slow
def test_a_delta_is_compared_up_to_the_distance_of_both_laws() -> None:
    seen, pair = near(twice), ends()
    exact = mass(0) / (1 - math.exp(-1)) * (1 - math.exp(0.5 - 1))  # of all numbers from c on
    for delta, expected in ((exact - 1e-9, Answer.VIOLATED), (exact + 1e-9, Answer.CLEAR)):
        assert certify_comparison(seen, *pair, Claim(0.5, delta, 0.0)).answer is expected


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [leaning_histogram, until_small, plain_count])
def test_other_samplers_loops_around_them_and_single_numbers_are_not_seen_so(
    mechanism: Any,
) -> None:
    assert near(mechanism) is None


def test_no_likelihoods_are_known() -> None:
    with pytest.raises(lt.errors.LiptestError, match="but for a tail"):
        near(histogram).pair_cells(*ends())


@pytest.mark.slow
def test_a_count_with_the_sampler_as_it_is_printed_is_proved() -> None:
    verdict = lt.check_privacy(
        plain_count, lt.Hypercube(5000), epsilon=1.0, delta=1e-12, seed=1, floats="ideal"
    )
    assert (verdict.decision, verdict.method) == ("YES", "alignment")


@pytest.mark.slow
def test_half_of_the_noise_is_refuted_and_the_certificate_holds() -> None:
    verdict = lt.check_privacy(histogram, CELLS, epsilon=1.0, seed=1)
    assert (verdict.decision, verdict.method) == ("NO", "refutation")
    assert verdict.witness.loss_lower == pytest.approx(2.0, abs=1e-9)
    assert "(theory L7)" in verdict.law_source
    assert verdict.witness.verify(histogram)
    given = certify(verdict, fingerprint(histogram), distribution_or_domain(CELLS), own_seed=False)
    assert problems(given.to_json(), histogram) == []
