"""Every shipped tester keeps the contract; broken ones do not."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.testers import ALL_TESTERS
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges
from liptest.runs.driver import QueryBatch
from liptest.testing.contract import check_tester, sample_distributions

NAMES = ["JR11", "AJMR12", "CS12", "DJT12", "CDJS15", "VarianceEdges", "HammingLines"]


def test_all_testers_are_listed():
    assert [tester.name for tester in ALL_TESTERS] == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("tester", ALL_TESTERS, ids=lambda tester: tester.name)
def test_contract(tester):
    check_tester(tester)


@pytest.mark.parametrize("step", [1.0, 1 / 3, 1 / 49])
def test_contract_of_other_steps(step):
    check_tester(JR11(range_step=step))


class NotFrozen(VarianceEdges):
    pass


@dataclass(frozen=True)
class WrongDistances(CDJS15):
    def draw(self, distribution, rng, count):
        return QueryBatch(super().draw(distribution, rng, count).points)


@dataclass(frozen=True)
class Starved(VarianceEdges):
    def draws_needed(self, constant, proximity, failure):
        return 1


@dataclass(frozen=True)
class Underplanned(VarianceEdges):
    def points_per_draw(self, distribution):
        return 1


@dataclass(frozen=True)
class NotReproducible(VarianceEdges):
    def draw(self, distribution, rng, count):
        return super().draw(distribution, np.random.default_rng(), count)


@dataclass(frozen=True)
class AcrossDraws(VarianceEdges):
    def draw(self, distribution, rng, count):
        points = super().draw(distribution, rng, count).points
        ends = np.array([[0, len(points) - 1]])
        distances = distribution.domain.distance(points.point(0), points.point(len(points) - 1))
        return QueryBatch(points, ends, distances)


@dataclass(frozen=True)
class Overconfident(VarianceEdges):
    def not_applicable(self, distribution):
        return "never on a Sunday"

    def plan(self, distribution, *, proximity, failure_probability):
        return VarianceEdges().plan(
            distribution, proximity=proximity, failure_probability=failure_probability
        )


@pytest.mark.parametrize(
    ("tester", "promise"),
    [
        (NotFrozen(), "not frozen"),
        (WrongDistances(), "wrong distances"),
        (Starved(), "rejects a function at distance"),
        (Underplanned(), "more points than points_per_draw"),
        (NotReproducible(), "equal generators"),
        (AcrossDraws(), "different draws"),
        (Overconfident(), "InputError expected"),
    ],
    ids=lambda item: getattr(type(item), "__name__", ""),
)
def test_broken_testers_fail(tester, promise):
    cube = lt.ProductDistribution.uniform(lt.Hypercube(6))
    grid = lt.ProductDistribution.uniform(lt.Hypergrid([5, 5]))
    with pytest.raises(AssertionError, match=promise):
        check_tester(tester, distributions=[grid if isinstance(tester, CDJS15) else cube])


def test_a_tester_that_applies_nowhere_fails():
    with pytest.raises(AssertionError, match="applies to none"):
        check_tester(VarianceEdges(), distributions=sample_distributions()[2:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tester", "corner", "decision"),
    [
        (DJT12(), 1.0, "ACCEPT"),
        (DJT12(), 2.5, "REJECT"),
        pytest.param(CDJS15(), 2.5, "REJECT", marks=pytest.mark.slow),
    ],
)
def test_processes_give_the_same_verdict(tester, corner, decision):
    law = lt.ProductDistribution.uniform(lt.Hypercube(4))
    table = np.zeros((2,) * 4)
    table[1, 1, 1, 0] = corner
    numbers = {"proximity": 0.1, "failure_probability": 0.1, "tester": tester, "seed": 5}
    alone = lt.check_lipschitz(table, law, **numbers)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        pooled = lt.check_lipschitz(table, law, executor=executor, **numbers)
    assert {**pooled.to_dict(), "cost": 0} == {**alone.to_dict(), "cost": 0}
    assert pooled.cost.queries == alone.cost.queries
    assert pooled.decision == decision
