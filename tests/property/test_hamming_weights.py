"""Drawing the count in the place of the dataset: same law, same judgements, real witnesses."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.draws import GRID
from liptest.data.points import PointBatch
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.privacy.samples.symmetric_records import (
    HammingWeights,
    sees_only_weight,
    symmetric_sampling,
)
from liptest.runs.driver import QueryBatch

chances = st.sampled_from([0.0, 1e-9, 0.1, 1 / 3, 0.5, 0.75, 1.0])
logits = st.sampled_from([-3.0, -0.5, 0.0, 0.25, 0.5, 2.0])


def coin_of_count(values: list[float]) -> lt.StatisticMechanism:
    """One biased bit, the bias given by the count."""
    share = 1.0 / (1.0 + np.exp(-np.array(values)))
    table = np.log(np.stack([1 - share, share], axis=1))
    return lt.StatisticMechanism(lt.Count(), ["no", "yes"], lambda counts: table[counts])


@pytest.mark.slow
@given(st.lists(chances, min_size=1, max_size=7))
def test_weights_are_drawn_with_the_masses_of_all_datasets(probabilities: list[float]) -> None:
    exact = [Fraction(0)] * (len(probabilities) + 1)
    for bits in product((0, 1), repeat=len(probabilities)):
        mass = Fraction(1)
        for bit, p in zip(bits, probabilities, strict=True):
            mass *= Fraction(p) if bit else 1 - Fraction(p)
        exact[sum(bits)] += mass
    weights = HammingWeights(lt.ProductDistribution.bernoulli(probabilities))
    steps = weights._sampler._values._steps[0]  # type: ignore[union-attr]
    drawn = np.diff(np.concatenate([[0], steps, [GRID]]))
    for mass, share in zip(exact, drawn.tolist(), strict=True):
        # One step of the grid each way, and the rounding of the masses.
        assert abs(mass - Fraction(share, GRID)) <= Fraction(8, GRID)
        assert share == 0 or mass > 0


@pytest.mark.slow
@given(st.data(), st.integers(1, 6))
def test_a_weight_is_judged_as_each_of_its_datasets(data: Any, d: int) -> None:
    mechanism = coin_of_count(data.draw(st.lists(logits, min_size=d + 1, max_size=d + 1)))
    domain, claim = lt.Hypercube(d), Claim(data.draw(st.sampled_from([0.3, 1.0, 2.0])), 0.0, 1e-9)
    dataset = np.array(data.draw(st.lists(st.integers(0, 1), min_size=d, max_size=d)), np.int8)
    centres = dataset[None, :]
    plain = LossJudge(mechanism, domain, claim).judge(
        QueryBatch(PointBatch(centres, *domain.neighbour_changes(centres)))
    )
    law = lt.ProductDistribution.bernoulli(dataset.astype(float))
    task = symmetric_sampling(mechanism, law, claim, draws=1, seed=0)
    assert task is not None
    found = task.chunk(0)
    assert (found.violation is None) == (plain.violation is None)
    assert (found.draws, found.queries, found.pairs) == (1, d + 1, d)
    if plain.violation is None:
        assert found.largest == pytest.approx(plain.largest)
        assert (plain.queries, plain.pairs) == (d + 1, d)
    else:
        assert found.violation is not None
        witness = found.violation.evidence
        assert witness.verify(mechanism)
        assert np.abs(found.violation.point - found.violation.other).sum() == 1


@pytest.mark.slow
def test_many_records_are_drawn_as_counts() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(10**5))
    mechanism = lt.catalogue.truncated_geometric_count(10**5, 1.0, outputs=21)
    options: dict[str, Any] = {"method": "neighbourhoods", "seed": 1, "search_laws": 0}
    options["exception_mass"] = 0.1
    verdict = lt.check_privacy(mechanism, law, epsilon=1, **options)
    assert (verdict.decision, verdict.cost.draws) == ("YES", 132)
    assert verdict.cost.laws == verdict.plan.laws == 132 * (10**5 + 1)
    with ProcessPoolExecutor(2) as executor:
        shared = lt.check_privacy(mechanism, law, epsilon=1, executor=executor, **options)
    assert (shared.cost.laws, shared.largest_loss) == (verdict.cost.laws, verdict.largest_loss)
    refuted = lt.check_privacy(mechanism, law, epsilon=0.9, **options)
    assert refuted.decision == "NO"
    assert refuted.witness is not None
    assert refuted.witness.verify(mechanism)


def test_only_what_sees_a_count_alone_is_drawn_so() -> None:
    cube = lt.ProductDistribution.uniform(lt.Hypercube(3))
    counted = coin_of_count([0.0] * 4)
    noisy = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
    assert sees_only_weight(counted, cube)
    assert sees_only_weight(noisy, cube)
    assert not sees_only_weight(lt.catalogue.randomised_response(3, 1.0), cube)
    weighted = lt.ShiftMechanism(lt.statistics.WeightedSum([1, 1, 1]), lt.DiscreteLaplace(2))
    assert not sees_only_weight(weighted, cube)
    sampled = lt.SampledDistribution(lt.Hypercube(3), lambda n, rng: rng.integers(0, 2, (n, 3)))
    assert not sees_only_weight(counted, sampled)


@pytest.mark.parametrize("mass", [0.3, 0.1])
def test_unbounded_noise_is_tested_on_drawn_counts(mass: float) -> None:
    law = lt.ProductDistribution.bernoulli(np.linspace(0, 1, 9))
    mechanism = lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(2))
    options: dict[str, Any] = {"exception_mass": mass, "method": "neighbourhoods", "seed": 2}
    assert lt.check_privacy(mechanism, law, epsilon=0.5, **options).decision == "YES"
    refuted = lt.check_privacy(mechanism, law, epsilon=0.4, **options)
    assert refuted.decision == "NO"
    assert refuted.witness is not None
    assert refuted.witness.verify(mechanism)


@pytest.mark.slow
@given(st.data(), st.integers(1, 5))
def test_weights_have_the_mass_that_a_flow_over_all_datasets_finds(data: Any, d: int) -> None:
    counted = coin_of_count(data.draw(st.lists(logits, min_size=d + 1, max_size=d + 1)))
    whole = lt.ClosedForm(["no", "yes"], lambda points: counted.log_pmf(points.sum(axis=1)))
    law = lt.ProductDistribution.bernoulli(data.draw(st.lists(chances, min_size=d, max_size=d)))
    epsilon = data.draw(st.sampled_from([0.2, 0.6, 1.3]))
    delta = data.draw(st.sampled_from([0.0, 0.05]))
    found, expected = (
        lt.exception_mass(mechanism, law, epsilon=epsilon, delta=delta)
        for mechanism in (counted, whole)
    )
    assert found.lower == pytest.approx(expected.lower, abs=1e-15)
    assert found.upper == pytest.approx(expected.upper, abs=1e-15)


class Parity(lt.Count):
    """Values of its own, for which nothing of a count is known."""

    def values(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(super().values(points) % 2)


def test_a_class_with_values_of_its_own_is_not_a_count() -> None:
    cube = lt.ProductDistribution.uniform(lt.Hypercube(3))
    table = lt.StatisticMechanism(Parity(), ["no"], lambda values: np.zeros((len(values), 1)))
    assert not sees_only_weight(table, cube)
