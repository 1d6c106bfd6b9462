"""check_samples and epsilon_lower_bound, end to end."""

from __future__ import annotations

import json
import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import liptest as lt
from liptest.blackbox.check import epsilon_lower_bound
from liptest.blackbox.verdicts import BlackBoxVerdict, LossBound
from liptest.evidence.certificate import certify_samples
from liptest.mechanisms.laws import Raised
from liptest.privacy.noiseless import noiseless_privacy
from liptest.verdicts import Decision
from tests.unit.blackbox.mechanisms import (
    BIT,
    TRUTH,
    laplace_count,
    leak,
    one_response,
    raising,
    responses,
)

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(3))


def check(function, data=BIT, **options):
    vectorised = options.pop("vectorised", True)
    settings = {"epsilon": 1.0, "samples": 100_000, "seed": 1, **options}
    return lt.check_samples(lt.Sampler(function, vectorised=vectorised), data, **settings)


def test_a_wrong_claim_is_refuted_with_pair_event_and_bound():
    verdict = check(responses, CUBE, epsilon=0.5)
    assert verdict.decision == Decision.NO
    witness = verdict.witness
    assert 0.5 < witness.lower_bound < 1.0
    assert len(witness.changed) == 1
    assert witness.failure_probability < 1e-6
    assert witness.confidence == 1 - witness.failure_probability
    assert verdict.largest_loss == witness.lower_bound
    assert verdict.cost.draws <= 100_000
    assert verdict.guarantee.kind == "statistical refutation"
    text = str(verdict)
    assert "NO by samples - a statistical refutation, not a certain one" in text
    assert "not a certain witness" in text
    assert "1 in 1,000,000" in text
    assert "independent and of one law" in text


def test_gross_violations_end_early():
    verdict = check(lambda x, n, rng: np.full(n, x.sum()), epsilon=1.0)
    assert verdict.decision == Decision.NO
    assert verdict.cost.draws < 2_000
    assert verdict.witness.lower_bound > 3


def test_a_true_claim_is_confirmed_at_a_resolution_only():
    verdict = check(responses, resolution=0.2)
    assert verdict.decision == Decision.YES
    assert verdict.is_finite
    assert 0 < verdict.resolution_reached <= 0.2
    assert verdict.guarantee.delta == verdict.resolution_reached
    text = str(verdict)
    assert "not a proof" in text
    assert "cannot prove pure differential privacy" in text
    assert "one pair tried and all events" in text
    assert "Other pairs" not in text


def test_a_resolution_out_of_reach_is_inconclusive_and_says_what_it_takes():
    verdict = check(responses, CUBE, samples=20_000, resolution=0.01)
    assert verdict.decision == Decision.INCONCLUSIVE
    assert verdict.resolution_reached > 0.01
    assert "samples" in verdict.reason
    assert "no promise" in verdict.guarantee.sentence
    needed = int(verdict.reason.split("about ")[1].split(" ")[0].replace(",", ""))
    assert needed > 1_000_000


def test_the_samples_that_it_asks_for_suffice():
    asked = check(responses, samples=5_000, resolution=0.1)
    assert asked.decision == Decision.INCONCLUSIVE
    needed = int(asked.reason.split("about ")[1].split(" ")[0].replace(",", ""))
    assert check(responses, samples=needed, resolution=0.1).decision == Decision.YES


@pytest.mark.slow
def test_continuous_outputs():
    assert check(laplace_count, epsilon=0.5).decision == Decision.NO
    verdict = check(laplace_count, resolution=0.3, samples=400_000)
    assert verdict.decision == Decision.YES
    assert not verdict.is_finite
    assert "unions of the cells" in str(verdict)


def test_delta_covers_a_leak_of_that_probability():
    assert check(leak, samples=400_000).decision == Decision.NO
    assert check(leak, samples=400_000).witness.delta == 0
    within = check(leak, samples=400_000, delta=0.01, resolution=0.1)
    assert within.decision == Decision.YES
    assert within.guarantee.delta == pytest.approx(0.01 + within.resolution_reached)
    wrong = check(lambda x, n, rng: np.where(rng.random(n) < 0.2, x[0], 9), delta=0.05)
    assert wrong.decision == Decision.NO
    assert "beyond delta 0.05" in str(wrong)


def test_exceptions_of_a_scalar_sampler_are_outputs():
    verdict = check(raising, samples=20_000, vectorised=False, epsilon=2.0)
    assert verdict.decision == Decision.NO
    assert "ZeroDivisionError" in str(verdict.witness.event)
    again = BlackBoxVerdict.from_json(verdict.to_json())
    assert again == verdict


def test_an_exception_of_a_vectorised_sampler_is_an_error():
    def broken(x, n, rng):
        raise ValueError("no")

    with pytest.raises(lt.errors.MechanismError, match="vectorised=False"):
        check(broken)
    with pytest.raises(MemoryError):
        check(lambda x, rng: (_ for _ in ()).throw(MemoryError), vectorised=False)


def test_scalar_and_vectorised_samplers_of_one_law():
    verdict = check(one_response, samples=30_000, vectorised=False, epsilon=0.3)
    assert verdict.decision == Decision.NO


def test_outputs_of_many_kinds():
    def odd(x, n, rng):
        kinds = np.empty(4, dtype=object)
        kinds[:] = ["a", None, (1, 2), Raised("KeyError")]
        return kinds[(rng.random(n) * (2 + 2 * x[0])).astype(int)]

    verdict = check(odd, epsilon=3.0)
    assert verdict.decision == Decision.NO
    assert BlackBoxVerdict.from_json(verdict.to_json()) == verdict


def test_vectors_of_different_lengths():
    def shorter(x, rng):
        return rng.random(1 + (rng.random() < 0.3 + 0.4 * x[0])).tolist()

    verdict = check(shorter, samples=40_000, vectorised=False, epsilon=0.3)
    assert verdict.decision == Decision.NO


@pytest.mark.slow
def test_the_same_seed_gives_the_same_verdict_on_any_workers():
    settings = {"epsilon": 0.9, "samples": 300_000, "seed": 7}
    sampler = lt.Sampler(responses)
    known = lt.check_samples(sampler, CUBE, **settings).to_dict()
    known["cost"].pop("seconds")
    for pool in (ThreadPoolExecutor(2), ProcessPoolExecutor(2)):
        with pool as executor:
            found = lt.check_samples(sampler, CUBE, executor=executor, **settings).to_dict()
        found["cost"].pop("seconds")
        assert found == known
    other = lt.check_samples(sampler, CUBE, **{**settings, "seed": 8})
    assert [bound.hits for bound in other.bounds] != [tuple(b["hits"]) for b in known["bounds"]]


def test_a_seed_is_drawn_and_told():
    first, second = (check(responses, seed=None, samples=5_000) for _ in range(2))
    assert first.seed != second.seed
    again = check(responses, seed=first.seed, samples=5_000)
    assert again.bounds == first.bounds


def test_listed_pairs_are_the_callers_word():
    pairs = [([0, 0, 0], [0, 0, 1]), (np.array([1, 1, 1]), np.array([1, 1, 0]))]
    verdict = check(responses, pairs, epsilon=0.5)
    assert verdict.decision == Decision.NO
    assert verdict.relation == "declared by the caller"
    assert "pairs listed are neighbours" in verdict.guarantee.sentence
    assert verdict.cost.pairs == 2


def test_a_needle_is_found_where_every_dataset_is_tried():
    def needle(x, n, rng):
        if x.tolist() == [1, 0, 0, 1, 1, 0]:
            return np.full(n, x.sum())
        return np.clip(x.sum() + rng.geometric(0.5, n) - rng.geometric(0.5, n), 0, 6)

    verdict = check(needle, lt.ProductDistribution.uniform(lt.Hypercube(6)), epsilon=1.0)
    assert verdict.decision == Decision.NO
    assert (1, 0, 0, 1, 1, 0) in (verdict.witness.dataset, verdict.witness.neighbour)


@pytest.mark.slow
def test_large_domains_are_tried_in_part_and_say_so():
    law = lt.ProductDistribution.bernoulli(np.full(200, 0.1))
    verdict = check(lambda x, n, rng: x.sum() + rng.laplace(0, 1, n), law, samples=200_000)
    assert verdict.decision == Decision.INCONCLUSIVE
    assert "the two extreme datasets" in verdict.tried
    wrong = check(lambda x, n, rng: np.full(n, int(x.all())), law, samples=200_000)
    assert wrong.decision == Decision.NO
    assert sum(wrong.witness.dataset) + sum(wrong.witness.neighbour) == 399


def test_a_constant_sampler_loses_nothing():
    verdict = check(lambda x, n, rng: np.zeros(n), epsilon=0.1, resolution=0.1)
    assert verdict.decision == Decision.YES
    assert verdict.largest_loss == 0


def test_a_verdict_is_frozen_without_truth_value_and_comes_back_from_json():
    verdict = check(responses, epsilon=lt.log(2))
    with pytest.raises(TypeError, match="truth value"):
        bool(verdict)
    with pytest.raises(FrozenInstanceError):
        verdict.seed = 3
    data = json.loads(verdict.to_json())
    assert data["kind"] == "black box"
    assert data["samples"] == 100_000
    assert data["witness"]["event_words"]
    assert BlackBoxVerdict.from_json(json.dumps(data)) == verdict
    for broken in ({**data, "kind": "privacy"}, {**data, "extra": 1}, {"kind": "black box"}, []):
        with pytest.raises(lt.errors.InputError, match="not written by liptest"):
            BlackBoxVerdict.from_dict(broken)
    with pytest.raises(lt.errors.InputError, match="not JSON"):
        BlackBoxVerdict.from_json("no JSON")


def test_a_witness_can_be_repeated_on_fresh_samples():
    verdict = check(responses, epsilon=0.5)
    again = verdict.witness.repeat(
        lt.Sampler(responses), samples=40_000, failure_probability=1e-4, seed=99
    )
    assert (again.dataset, again.event) == (verdict.witness.dataset, verdict.witness.event)
    assert again.hits != verdict.witness.hits
    assert 0.5 < again.lower_bound < 1.0
    fair = verdict.witness.repeat(
        lt.Sampler(lambda x, n, rng: rng.integers(0, 2, n)),
        samples=40_000,
        failure_probability=1e-4,
        seed=99,
    )
    assert fair.lower_bound < 0.2


@pytest.mark.slow
def test_a_lower_bound_to_quote():
    bound = epsilon_lower_bound(lt.Sampler(responses), ([0, 1], [1, 1]), seed=2)
    assert isinstance(bound, LossBound)
    assert 0.98 < bound.lower_bound < 1.01
    assert bound.confidence == 0.95
    assert sum(bound.draws) > 500_000
    assert abs(max(bound.shares) - TRUTH) < 0.01
    assert "with confidence 95 %" in str(bound)
    assert LossBound.from_dict(json.loads(json.dumps(bound.to_dict()))) == bound


def test_a_lower_bound_beyond_delta():
    sampler = lt.Sampler(leak)
    without = epsilon_lower_bound(sampler, BIT, samples=200_000, seed=3)
    beyond = epsilon_lower_bound(sampler, BIT, samples=200_000, seed=3, delta=0.01)
    assert without.lower_bound > 3
    assert 0.9 < beyond.lower_bound < 1.02


def test_nothing_to_bound():
    bound = epsilon_lower_bound(
        lt.Sampler(lambda x, n, rng: rng.random(n)), ([0], [1]), samples=20_000, seed=4
    )
    assert bound.lower_bound < 0.1
    assert "loss at least 0.0" in str(bound)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"resolution": 0.0}, "resolution"),
        ({"failure_probability": 1.0}, "failure_probability"),
        ({"samples": 100}, "samples"),
        ({"seed": -1}, "seed"),
        ({"executor": 3}, "executor"),
        ({"data": []}, "pairs"),
        ({"data": [([0], [0])]}, "pair"),
        ({"data": [([0], [1, 1])]}, "pair"),
        ({"data": [([0.5], [1.0])]}, "dataset"),
        ({"data": 3}, "distribution"),
        ({"data": lt.ProductDistribution.uniform(lt.Hypergrid([1, 1]))}, "data"),
        ({"data": [([k], [k + 1]) for k in range(300)]}, "samples"),
    ],
)
def test_wrong_arguments_are_named(changes, name):
    with pytest.raises(lt.errors.InputError) as caught:
        check(responses, **changes)
    assert caught.value.name == name


def test_what_is_no_sampler():
    with pytest.raises(lt.errors.InputError, match=r"lt\.Sampler"):
        lt.check_samples(responses, BIT, epsilon=1.0)
    with pytest.raises(lt.errors.InputError, match="callable"):
        lt.Sampler(3)


def test_datasets_are_read_only():
    seen = []

    def writes(x, n, rng):
        seen.append(x.flags.writeable)
        return np.zeros(n)

    check(writes, samples=2_000)
    assert not any(seen)


def test_progress_is_told():
    calls = []
    check(responses, progress=lambda done, planned: calls.append((done, planned)))
    assert calls[-1][0] <= calls[-1][1] == 100_000
    assert calls == sorted(calls)


def test_pairs_may_be_arrays():
    sampler = lt.Sampler(lambda x, n, rng: np.full(n, x[0]))
    one, many = np.array([[0], [1]]), np.array([[[0], [1]], [[1], [2]]])
    assert epsilon_lower_bound(sampler, one, samples=20_000, seed=1).lower_bound > 5
    verdict = lt.check_samples(sampler, many, epsilon=1.0, samples=20_000, seed=1)
    assert (verdict.decision, verdict.cost.pairs) == ("NO", 2)
    listed = lt.check_samples(sampler, many.tolist(), epsilon=1.0, samples=20_000, seed=1)
    assert listed.witness == verdict.witness
    certificate = certify_samples(verdict, sampler, many)
    assert certificate.data_hash == certify_samples(listed, sampler, many.tolist()).data_hash
    with pytest.raises(lt.errors.InputError, match="is empty"):
        lt.check_samples(sampler, np.zeros((0, 2, 1), dtype=int), epsilon=1.0)


def test_a_resolution_of_one_or_more_is_none():
    sampler = lt.Sampler(lambda x, n, rng: np.full(n, 0))
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    verdict = lt.check_samples(sampler, law, epsilon=600.0, samples=20_000, seed=1)
    assert verdict.reason == (
        "the samples reach no resolution below 1, requested was 0.05; that takes more samples "
        "than can be drawn"
    )


@pytest.mark.parametrize(
    "use",
    [
        lambda s, law: lt.PrivacyGate(s, law, epsilon=1.0),
        lambda s, law: lt.exact_epsilon(s, law.domain),
        lambda s, law: lt.privacy_profile(s, law),
        lambda s, law: noiseless_privacy(s, law, epsilon=1.0),
        lambda s, law: lt.output_law(s, [0]),
    ],
)
def test_what_needs_laws_says_what_samplers_are_for(use):
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    words = r"no output distributions; use lt\.check_samples"
    with pytest.raises(lt.errors.InputError, match=words):
        use(lt.Sampler(lambda x, n, rng: np.full(n, 0)), law)
