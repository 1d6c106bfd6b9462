"""Claims about many random bits for each of many records, decided by the parts of one record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.evidence.certificate import certify
from liptest.evidence.verify import examine
from liptest.runs.fingerprints import fingerprint

RECORDS, BITS, LONG = 5_000, 32, 128
ONE_HOT = np.eye(BITS, dtype=int)
# Sixteen places of 128 for each of eight values.
FILTER = np.repeat(np.eye(LONG // 16, dtype=int), 16, axis=1)


def unary(data: Any, rng: Any) -> Any:
    return [[int(b) if rng.random() < 0.75 else 1 - int(b) for b in ONE_HOT[v]] for v in data]


def optimised(data: Any, rng: Any) -> Any:
    shares = np.where(ONE_HOT[data] == 1, 0.5, 0.25)
    return (rng.random((len(data), BITS)) < shares).sum(axis=0)


def leaking(data: Any, rng: Any) -> Any:
    """One bit of 32 is told as it is."""
    told = []
    for v in data:
        bits = np.where(rng.random(BITS) < 0.75, ONE_HOT[v], 1 - ONE_HOT[v])
        told.append([*bits.tolist(), int(v == 7)])
    return told


def filtered(data: Any, rng: Any) -> Any:
    bits = FILTER[data]
    return np.where(rng.random((len(data), LONG)) < 0.75, bits, 1 - bits)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "loss"),
    [
        pytest.param(unary, 2 * math.log(3), marks=pytest.mark.slow),
        (optimised, math.log(3)),
    ],
)
def test_many_bits_are_proved(function: Any, loss: float) -> None:
    domain = lt.RecordGrid([BITS] * RECORDS)
    verdict = lt.check_privacy(function, domain, epsilon=loss + 1e-9)
    assert verdict.decision == "YES"
    assert verdict.method == "per-record"
    assert verdict.largest_loss == pytest.approx(loss)
    assert verdict.cost.pairs == BITS * (BITS - 1) // 2


@pytest.mark.slow
def test_a_refutation_shows_the_dearest_output() -> None:
    domain = lt.RecordGrid([BITS] * RECORDS)
    verdict = lt.check_privacy(unary, domain, epsilon=2, seed=1)
    assert verdict.decision == "NO"
    witness = verdict.witness
    assert witness is not None
    assert witness.exact == ("1/16", "9/16") or witness.exact == ("9/16", "1/16")
    assert witness.verify(lt.mechanism(unary))
    uniform = lt.ProductDistribution.uniform(domain)
    mechanism = lt.mechanism(unary)
    certificate = certify(verdict, fingerprint(mechanism), uniform, own_seed=True)
    found = examine(certificate.to_json(), mechanism, uniform)
    assert (found.problems, found.certain) == ([], True)


@pytest.mark.slow
def test_what_is_told_as_it_is_has_no_bound() -> None:
    verdict = lt.check_privacy(leaking, lt.RecordGrid([BITS] * RECORDS), epsilon=50)
    assert verdict.decision == "NO"
    assert verdict.largest_loss == math.inf
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(leaking))


def binomial_delta(places: int, epsilon: float) -> float:
    """Of bits that all change, each kept with probability 3/4."""
    return (
        math.fsum(
            max(0.0, math.comb(places, k) * (3**k - math.exp(epsilon) * 3 ** (places - k)))
            for k in range(places + 1)
        )
        / 4.0**places
    )


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [4.0, 12.0])
def test_deltas_of_many_bits_are_those_of_the_binomial_law(epsilon: float) -> None:
    domain = lt.RecordGrid([len(FILTER)] * RECORDS)
    delta = binomial_delta(32, epsilon)
    above = lt.check_privacy(filtered, domain, epsilon=epsilon, delta=delta * (1 + 1e-6))
    below = lt.check_privacy(filtered, domain, epsilon=epsilon, delta=delta * (1 - 1e-6))
    assert (above.decision, below.decision) == ("YES", "NO")
    assert below.witness is not None
    assert below.witness.verify(lt.mechanism(filtered))


def of_two_kinds(data: Any, rng: Any) -> Any:
    """Between values 0 and 2 a rare sign of infinite loss, between 0 and 1 much that is finite."""
    told = []
    for v in data:
        bits = [int(rng.random() < (0.75 if v == 1 else 0.5)) for _ in range(8)]
        told.append([*bits, int(rng.random() < (2.0**-30 if v == 2 else 0.0))])
    return told


@pytest.mark.slow
def test_what_is_enough_is_so_for_every_kind_of_pair() -> None:
    """The pair with the largest loss is not the one that asks for the largest delta."""
    verdict = lt.check_privacy(of_two_kinds, lt.RecordGrid([3] * 100), epsilon=1)
    listed = lt.check_privacy(of_two_kinds, lt.RecordGrid([3]), epsilon=1, method="exhaustive")
    assert (verdict.decision, listed.decision) == ("NO", "NO")
    assert verdict.largest_loss == listed.largest_loss == math.inf
    assert verdict.sufficient_delta == pytest.approx(listed.sufficient_delta, rel=1e-5)
    enough = verdict.sufficient_delta
    assert enough is not None
    again = lt.check_privacy(of_two_kinds, lt.RecordGrid([3] * 100), epsilon=1, delta=enough)
    assert again.decision == "YES"
    # Of some kinds the claim holds, with a larger loss than where it does not.
    below = lt.check_privacy(of_two_kinds, lt.RecordGrid([3] * 100), epsilon=1, delta=0.3)
    assert (below.decision, below.largest_loss) == ("NO", math.inf)
    assert below.sufficient_delta == pytest.approx(enough, rel=1e-5)


GENERATOR = np.random.default_rng()


def made_elsewhere(data: Any) -> Any:
    return [[int(GENERATOR.random() < (0.6 if v == i else 0.5)) for i in range(8)] for v in data]


def test_a_generator_that_is_made_elsewhere_is_told() -> None:
    verdict = lt.check_privacy(made_elsewhere, lt.RecordGrid([3] * 100), epsilon=1)
    assert (verdict.decision, verdict.method) == ("YES", "per-record")
    assert verdict.largest_loss == pytest.approx(math.log(0.6 / 0.4))
    assert "GENERATOR" in verdict.law_source
