"""Ends of enclosures, remedies and searches that few programs reach: each from its pieces."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb

import liptest as lt
from liptest.balls import precision
from liptest.mechanisms.laws import ZERO_LOG, LawTable, exact_ball
from liptest.privacy import exact
from liptest.privacy.claims import Claim
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.renyi import PairOrders
from liptest.privacy.divergences.tradeoff import _hull_bound, largest_of_corners
from liptest.privacy.proofs.exhaustive import PairBlock, ValueLaws, exhaustive_size, uncertain_pair
from liptest.privacy.searches import refutation
from liptest.privacy.wording.remedies import _epsilon_at
from liptest.statistics.code_sets import DifferenceSets
from liptest.symbolic.work import TooDearError

COIN = lt.ProductDistribution.uniform(lt.Hypercube(1))


def _block(rows: list[list[float]], errors: list[float]) -> PairBlock:
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(np.array(rows)), ZERO_LOG)
    laws = LawTable(tuple(range(len(rows[0]))), logs, None, np.array(errors), True)
    left = np.arange(len(rows) - 1)
    return PairBlock(laws, left, left + 1, len(left), len(rows), lambda k: (k, k + 1))


@pytest.mark.parametrize("errors", [[1e-3, 1e-3, 1e-1], [1e-1, 1e-3, 1e-3]])
def test_what_is_known_least_is_the_end_of_all(errors: list[float]) -> None:
    block = _block([[0.5, 0.5]] * 3, errors)
    found = exact.largest_over(lt.catalogue.randomised_response(1, 1.0), [block])
    assert found.upper == max(block.laws.screen_error(block.left, block.right))


@pytest.mark.slow
def test_an_enclosure_compares_plain_pairs() -> None:
    """More records than can be visited: what is found lies just below what is proved."""

    def count(data: Any, rng: Any) -> float:
        return float(data.sum() + rng.laplace(0, 2.0))

    found = exact._enclosure(lt.mechanism(count), lt.Hypercube(50))
    assert found is not None
    assert (found.value, found.upper) == (pytest.approx(0.5), pytest.approx(0.5))
    assert found.pairs > 0


def test_a_refuted_table_tells_the_mass_of_what_breaks_the_claim() -> None:
    """Of (0, 0), (0, 1), (1, 0), (1, 1) the second has a law of its own."""

    def log_pmf(points: Any) -> Any:
        heads = np.where((points[:, 0] == 0) & (points[:, 1] == 1), 0.9, 0.5)
        return np.log(np.stack([heads, 1 - heads], axis=1))

    law = lt.ProductDistribution.bernoulli([0.25, 0.5])
    told = lt.ClosedForm([0, 1], log_pmf)
    verdict = lt.check_privacy(told, law, epsilon=1.0, method="exhaustive")
    assert verdict.exception_mass_found == pytest.approx(3 / 8)


@pytest.mark.parametrize("largest", [0.9, math.inf])
def test_an_epsilon_that_mends_is_hardly_more_than_needed(largest: float) -> None:
    """0.5 - e^epsilon 0.25 = delta; one output has a loss without bound and less than delta."""
    block = _block([[0.5, 0.49, 0.01], [0.25, 0.75, 0.0]], [0.0, 0.0])
    found = _epsilon_at([block], Claim(0.1, 0.05), largest)
    assert found == pytest.approx(math.log(0.46 / 0.25), abs=1e-4)
    assert found >= math.log(0.46 / 0.25) - 1e-12


def test_zeros_on_both_sides_alone_are_uncertain() -> None:
    sets = DifferenceSets(0, 1, 2, 0b111, {1: 0b011})

    def laws(zeros: list[int]) -> ValueLaws:
        logs = np.log(np.full((2, 3), 0.5))
        logs[0, zeros] = ZERO_LOG
        return ValueLaws(("a", "b"), logs, np.ones(3, dtype=bool), 0.0, False)

    assert uncertain_pair(sets, laws([])) is None
    assert uncertain_pair(sets, laws([0, 2])) is None
    found = uncertain_pair(sets, laws([1, 2]))
    assert found is not None
    assert [end.tolist() for end in found] == [[1], [2]]


def test_a_probability_of_0_leaves_divergences_without_a_bound() -> None:
    with precision(128):
        atoms = [(arb(0.5), arb(1)), (arb(0.5), arb(0))]
        orders = PairOrders(LikelihoodPair(None, lambda: atoms, Fraction(0), Fraction(0)))
        assert math.isinf(float(orders.renyi(Fraction(2))[1]))


def test_equal_laws_have_a_mu_of_0_at_no_test() -> None:
    with precision(128):
        found = largest_of_corners([(arb(0.5), arb(0.5))] * 2)
    assert [float(end) for end in (found.lower, *found.masses)] == [0.0, 0.0, 0.0]


def test_lines_bound_mu_where_the_best_corner_holds_almost_all() -> None:
    with precision(128):
        pairs = [("0.85", "0.05"), ("0.14", "0.15"), ("0.01", "0.8")]
        atoms = [(exact_ball(Fraction(p)), exact_ball(Fraction(q))) for p, q in pairs]
        found = float(_hull_bound(atoms))
    normal = NormalDist()
    assert found == pytest.approx(normal.inv_cdf(0.99) - normal.inv_cdf(0.2), rel=1e-9)


def test_a_search_says_that_laws_were_too_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    class Judge:
        def __init__(self, *arguments: Any) -> None: ...

        def certify(self, *ends: Any, keep_doubt: bool = False) -> Any:
            raise TooDearError("more work than a search is given")

        try_first = certify

    monkeypatch.setattr(refutation, "LossJudge", Judge)
    task: Any = SimpleNamespace(distribution=COIN, claim=Claim(1.0))
    found = refutation.Refutation()
    search = refutation._Search(lt.catalogue.randomised_response(1, 1.0), task, found)
    assert search.try_pairs(iter([(0, 1)] * 9))
    assert found.is_too_dear
    assert found.pairs < 9


def test_edges_are_proved_for_classes_of_the_package_alone() -> None:
    class Mine(lt.Count):
        """Says of itself that its edges are proved."""

    def mechanism(statistic: Any) -> lt.StatisticMechanism:
        coin = np.log(np.full(2, 0.5))
        return lt.StatisticMechanism(
            statistic, [0, 1], lambda values: np.tile(coin, (len(values), 1))
        )

    domain = lt.Hypercube(3)
    assert Mine.proved_edges
    assert exhaustive_size(mechanism(lt.Count()), domain).condition == ""
    assert "declared" in exhaustive_size(mechanism(Mine()), domain).condition
