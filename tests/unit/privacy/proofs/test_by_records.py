"""Proofs and refutations for many records that are treated one by one."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.domains import Domain
from liptest.evidence.certificate import certify
from liptest.evidence.check_witness import BREAKS, check_certificate
from liptest.evidence.verify import examine
from liptest.mechanisms.laws import AtPlace
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import compare_laws
from liptest.privacy.witnesses import PrivacyWitness
from liptest.runs.fingerprints import fingerprint
from tests.shares import mostly_slow
from tests.unit.enumerate.later_programs import AGAIN, LATER
from tests.unit.enumerate.row_programs import ALONE, JOINT

RECORDS = 10_000
KEEP = (math.e - 1) / (math.e + 3)
FOUR = lt.ProductDistribution.uniform(lt.RecordGrid([4] * RECORDS))
BITS = lt.ProductDistribution.uniform(lt.Hypercube(RECORDS))


def response(data: Any, rng: Any) -> Any:
    return np.where(rng.random(len(data)) < KEEP, data, rng.integers(0, 4, len(data))).tolist()


def too_true(data: Any, rng: Any) -> Any:
    return np.where(rng.random(len(data)) < 0.5, data, rng.integers(0, 4, len(data))).tolist()


def too_true_loop(data: Any, rng: Any) -> Any:
    told = []
    for value in data:
        told.append(  # noqa: PERF401
            int(value) if rng.random() < 0.5 else int(rng.integers(0, 4))
        )
    return told


def noisy(data: Any, rng: Any) -> Any:
    return data + rng.laplace(0, 1.0, size=len(data))


def noisy_loop(data: Any, rng: Any) -> Any:
    return [float(value + rng.laplace(0, 1.0)) for value in data]


def normal(data: Any, rng: Any) -> Any:
    return (data + rng.normal(0, 4.0, len(data))).tolist()


def check(function: Any, distribution: Any, **claim: Any) -> lt.PrivacyVerdict:
    return lt.check_privacy(lt.mechanism(function), distribution, seed=1, **claim)


@pytest.mark.slow
def test_yes_by_proof() -> None:
    verdict = check(response, FOUR, epsilon=1.0)
    assert (verdict.decision, verdict.guarantee.kind) == ("YES", "proof")
    assert verdict.method == "per-record"
    assert verdict.largest_loss == pytest.approx(1.0)
    assert "treated one by one" in str(verdict)
    assert "10,000" in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("function", [too_true, too_true_loop])
def test_no_with_a_witness(function: Any) -> None:
    verdict = check(function, FOUR, epsilon=1.0)
    witness = verdict.witness
    assert verdict.decision == "NO"
    assert witness is not None
    assert len(witness.dataset) == RECORDS
    [place] = witness.changed
    assert isinstance(witness.output, AtPlace)
    assert witness.output.place == place
    assert witness.loss == pytest.approx(math.log(5))
    assert witness.verify(lt.mechanism(function))
    assert not witness.verify(lt.mechanism(response))
    assert "at place" in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize("function", [response, pytest.param(too_true, marks=pytest.mark.slow)])
def test_certificates_hold(function: Any) -> None:
    mechanism = lt.mechanism(function)
    verdict = lt.check_privacy(mechanism, FOUR, epsilon=1.0, seed=1)
    certificate = certify(verdict, fingerprint(mechanism), FOUR, own_seed=True)
    found = examine(certificate.to_json(), mechanism, FOUR)
    assert (found.problems, found.certain) == ([], True)
    if verdict.decision == "NO":
        assert check_certificate(json.loads(certificate.to_json())) == BREAKS
        other = examine(certificate.to_json(), lt.mechanism(response), FOUR)
        assert any("does not break" in line for line in other.problems)


@pytest.mark.slow
@pytest.mark.parametrize("function", [noisy, noisy_loop])
def test_noisy_answers(function: Any) -> None:
    assert check(function, BITS, epsilon=1.0).decision == "YES"
    verdict = check(function, BITS, epsilon=0.9)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(function))
    assert "taken as ideal" in str(verdict)


@pytest.mark.slow
def test_delta() -> None:
    claims = {"YES": 0.01, "NO": 1e-4}
    for decision, delta in claims.items():
        verdict = check(normal, BITS, epsilon=0.5, delta=delta)
        assert verdict.decision == decision
    assert verdict.witness is not None
    assert verdict.witness.verify(lt.mechanism(normal))


@pytest.mark.slow
def test_a_witness_at_one_place_is_about_one_changed_record_of_code_that_has_one() -> None:
    def shown(*changed: int) -> PrivacyWitness:
        neighbour = tuple(int(place in changed) for place in range(3))
        event = (AtPlace(changed[0], 1),)
        return PrivacyWitness((0, 0, 0), neighbour, event, 0.1, 0.6, 1.0, 2.0, Claim(0.5))

    mechanism = lt.mechanism(too_true)
    assert shown(1).verify(mechanism)
    assert not shown(1, 2).verify(mechanism)
    assert not shown(1).verify(lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1)))


@pytest.mark.slow
def test_coordinates_of_different_sizes() -> None:
    sizes = lt.ProductDistribution.uniform(lt.RecordGrid([2] * 5_000 + [4] * 5_000))
    verdict = check(too_true, sizes, epsilon=1.0)
    assert verdict.witness is not None
    assert verdict.witness.changed[0] >= 5_000


# Private none the less: the rest calculates with what was told, and with coins of its own.
PRIVATE = {"one_coin_more_at_the_end", "one_object_for_all"}


@pytest.mark.parametrize("function", mostly_slow(JOINT, 3), ids=lambda f: f.__name__)
def test_what_brings_records_together_has_no_such_proof(function: Any) -> None:
    distribution = lt.ProductDistribution.uniform(lt.RecordGrid([3] * 40))
    if function.__name__ in PRIVATE:
        verdict = check(function, distribution, epsilon=1.0, method="per-record")
        assert verdict.largest_loss == 0.0
        return
    with pytest.raises(lt.errors.InputError, match="per-record"):
        check(function, distribution, epsilon=5.0, method="per-record")


FAST = {"response"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        pytest.param(one, marks=() if one.__name__ in FAST else pytest.mark.slow, id=one.__name__)
        for one in ALONE
        if one.__name__ != "rappor"  # many bits of each record
    ],
)
def test_as_brute_force_over_all_pairs(function: Any) -> None:
    """The claim is decided as by the laws of all pairs of datasets of two records."""
    values = 2 if function.__name__ in ("table_rows", "comprehension_of_tuples") else 3
    domain: Domain = lt.RecordGrid([values] * 2)
    mechanism = lt.mechanism(function)
    points = domain.points(range(domain.size))
    laws = [mechanism.law(point) for point in points]
    for epsilon in (0.3, 0.7, 1.1, 2.0):
        claim = lt.check_privacy(
            mechanism,
            lt.ProductDistribution.uniform(domain),
            epsilon=epsilon,
            method="per-record",
            seed=1,
        )
        broken = any(
            compare_laws(left, right, claim.claim, 1).answer.name == "VIOLATED"
            for one, left in zip(points, laws, strict=True)
            for other, right in zip(points, laws, strict=True)
            if int(np.sum(one != other)) == 1
        )
        assert claim.decision == ("NO" if broken else "YES")


def test_other_neighbours_are_refused() -> None:
    grid = lt.ProductDistribution.uniform(lt.Hypergrid([4] * 3))
    with pytest.raises(lt.errors.InputError, match="do not differ in one record"):
        check(response, grid, epsilon=1.0, method="per-record")


@lt.mechanism(per_record=True)
def declared(value: int, rng: Any) -> Any:
    return value if rng.random() < KEEP else int(rng.integers(0, 4))


@lt.mechanism(per_record=True, outputs=["low", "high"])
def in_words(value: int, rng: Any) -> str:
    high = value > 1 if rng.random() < 0.75 else value <= 1
    return "high" if high else "low"


REMEMBERED: list[int] = []


@lt.mechanism(per_record=True)
def remembering(value: int, rng: Any) -> Any:
    REMEMBERED.append(value)
    return int(rng.integers(0, 2)) + (REMEMBERED[-2] if len(REMEMBERED) > 1 else 0)


class TestDeclared:
    @pytest.mark.slow
    def test_a_function_of_one_record(self) -> None:
        assert declared(np.array([1, 2, 3]), np.random.default_rng(1)) in [
            [a, b, c] for a in range(4) for b in range(4) for c in range(4)
        ]
        verdict = lt.check_privacy(declared, FOUR, epsilon=1.0)
        assert (verdict.decision, verdict.method) == ("YES", "per-record")
        assert lt.check_privacy(declared, FOUR, epsilon=0.99).decision == "NO"

    @pytest.mark.slow
    def test_declared_outputs_are_those_of_one_record(self) -> None:
        verdict = lt.check_privacy(in_words, FOUR, epsilon=1.0)
        assert verdict.decision == "NO"
        assert verdict.largest_loss == pytest.approx(math.log(3))
        assert verdict.witness is not None
        assert verdict.witness.verify(in_words)
        assert lt.check_privacy(in_words, FOUR, epsilon=1.1).decision == "YES"

    def test_the_law_of_few_records_is_the_product(self) -> None:
        law = lt.output_law(in_words, [0, 3])
        assert float(law["low", "high"]) == pytest.approx(0.75**2)

    @pytest.mark.slow
    def test_it_travels(self) -> None:
        assert pickle.loads(pickle.dumps(in_words)) is in_words
        assert certify(
            lt.check_privacy(in_words, FOUR, epsilon=1.1, seed=1),
            fingerprint(in_words),
            FOUR,
            own_seed=True,
        )

    def test_state_is_refused(self) -> None:
        with pytest.raises(lt.errors.LiptestError):
            lt.check_privacy(remembering, FOUR, epsilon=5.0, method="per-record")

    def test_no_statistic(self) -> None:
        with pytest.raises(lt.errors.InputError, match="statistic"):
            lt.mechanism(per_record=True, statistic=lt.Count())(lambda value, rng: value)


FORTY = lt.ProductDistribution.uniform(lt.RecordGrid([3] * 40))
DISCRETE = ("counted_loop", "sum_of_a_comprehension", "largest_noise", "in_branches", "dictionary")


class TestLaterCode:
    @pytest.mark.slow
    @pytest.mark.parametrize("function", LATER, ids=lambda f: f.__name__)
    def test_it_is_as_private_as_what_it_reads(self, function: Any) -> None:
        verdict = check(function, FORTY, epsilon=5.0, method="per-record")
        assert (verdict.decision, verdict.guarantee.kind) == ("YES", "proof")
        assert "calculated from the list of their outputs alone" in str(verdict)
        if function.__name__ in DISCRETE:
            exact = lt.exact_epsilon(lt.mechanism(function), lt.RecordGrid([3] * 2))
            assert exact.lower <= verdict.largest_loss * (1 + 1e-9)

    @pytest.mark.slow
    def test_nothing_is_refuted(self) -> None:
        function = next(one for one in LATER if one.__name__ == "counted_loop")
        with pytest.raises(lt.errors.InputError, match=r"have loss 1\.38629"):
            check(function, FORTY, epsilon=1.0, method="per-record")

    @pytest.mark.parametrize("function", mostly_slow(AGAIN, 3), ids=lambda f: f.__name__)
    def test_not_where_the_data_are_used_again(self, function: Any) -> None:
        with pytest.raises(lt.errors.InputError, match="per-record"):
            check(function, FORTY, epsilon=50.0, method="per-record")

    @pytest.mark.slow
    def test_a_certificate_holds(self) -> None:
        mechanism = lt.mechanism(LATER[0])
        verdict = lt.check_privacy(mechanism, FORTY, epsilon=5.0, method="per-record", seed=1)
        certificate = certify(verdict, fingerprint(mechanism), FORTY, own_seed=True)
        found = examine(certificate.to_json(), mechanism, FORTY)
        assert (found.problems, found.certain) == ([], True)
