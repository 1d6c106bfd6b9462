"""Mechanisms that know the laws of a neighbourhood: same verdicts, and no trust without a check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.domains import Domain
from liptest.data.points import PointBatch
from liptest.errors import LawError, MechanismError, NonDeterministicError
from liptest.lipschitz.oracles import TableFunction, as_oracle
from liptest.mechanisms.laws import LawTable, OutputLaw
from liptest.mechanisms.neighbourhoods import (
    Changes,
    covering_batches,
    laws_of_batch,
    uses_neighbours,
)

OUTPUTS = ("low", "high")


def logs_of(sums: np.ndarray) -> np.ndarray:
    share = 1.0 / (1.0 + np.exp(-0.25 * sums.astype(float)))
    return np.log(np.stack([1 - share, share], axis=1))


class Plain(lt.Mechanism):
    """A weighted count of all coordinates, one law at a time."""

    name, outputs = "weighted", OUTPUTS

    def __init__(self, weights: list[int]) -> None:
        self.weights = np.array(weights)
        self.asked = 0

    def points_per_slice(self, domain: Domain) -> int:
        return 50

    def _table(self, sums: np.ndarray) -> LawTable:
        return LawTable(OUTPUTS, logs_of(sums), None, np.full(len(sums), 1e-15))

    def laws(self, points: PointBatch) -> LawTable:
        self.asked += len(points)
        return self._table(points.array().astype(np.int64) @ self.weights)

    def law(self, dataset: np.ndarray) -> OutputLaw:
        logs = logs_of(np.array([dataset.astype(np.int64) @ self.weights]))[0]
        return OutputLaw(OUTPUTS, logs, np.full(2, 1e-15))


class Incremental(Plain):
    """The same, which adds what a change adds."""

    def neighbour_laws(self, dataset: np.ndarray, changes: Changes) -> LawTable:
        own = dataset.astype(np.int64) @ self.weights
        added = (changes.values - dataset[changes.coordinates]) * self.weights[changes.coordinates]
        return self._table(np.append(own, own + added))


class Wrong(Incremental):
    """Hides what a change does."""

    def neighbour_laws(self, dataset: np.ndarray, changes: Changes) -> LawTable:
        own = dataset.astype(np.int64) @ self.weights
        return self._table(np.full(len(changes) + 1, own))


DOMAINS = [
    lt.Hypercube(1),
    lt.Hypercube(2),
    lt.Hypercube(7),
    lt.Hypercube(9),
    lt.Hypergrid([3, 1, 4]),
    lt.RecordGrid([2, 5, 3]),
]
each_domain = pytest.mark.parametrize("domain", DOMAINS, ids=str)


@each_domain
def test_a_batch_has_the_laws_of_its_points(domain: Domain) -> None:
    weights = list(range(1, domain.dimension + 1))
    points = domain.points(np.arange(domain.size))[::3]
    batch = PointBatch(points, *domain.neighbour_changes(points))
    mechanism, plain = Incremental(weights), Plain(weights)
    found, expected = laws_of_batch(mechanism, batch), laws_of_batch(plain, batch)
    places = np.arange(len(batch))
    assert np.allclose(found.logs[found.distinct(places)], expected.logs[expected.distinct(places)])
    assert mechanism.asked == 0
    assert plain.asked == len(batch)


@each_domain
@pytest.mark.parametrize("limit", [1, 7, 10_000])
def test_every_point_is_covered_once(domain: Domain, limit: int) -> None:
    seen: dict[int, bytes] = {}
    centres: set[int] = set()
    for batch, places in covering_batches(domain, limit):
        centres |= set(places[: len(batch.centres)].tolist())
        for place, point in zip(places.tolist(), batch.array(), strict=True):
            assert seen.setdefault(place, point.tobytes()) == point.tobytes()
    every = domain.points(np.arange(domain.size))
    assert seen == {k: point.tobytes() for k, point in enumerate(every)}
    longest = max(domain.sizes)
    if isinstance(domain, lt.Hypercube):
        longest = 1 << ((domain.dimension + 1).bit_length() - 1)
    assert len(centres) == domain.size // longest


@each_domain
@pytest.mark.parametrize("method", ["exhaustive", "neighbourhoods", "search"])
@pytest.mark.parametrize("epsilon", [0.2, 3.0])
def test_verdicts_are_those_of_the_plain_mechanism(
    domain: Domain, method: str, epsilon: float
) -> None:
    weights = list(range(1, domain.dimension + 1))
    found, expected = (
        lt.check_privacy(
            kind(weights),
            lt.ProductDistribution.uniform(domain),
            epsilon=epsilon,
            exception_mass=0.05,
            method=method,
            budget=5000,
            search_laws=0,
            seed=1,
        )
        for kind in (Incremental, Plain)
    )
    assert found.decision == expected.decision
    assert found.largest_loss == pytest.approx(expected.largest_loss)
    assert (found.cost.laws, found.cost.pairs) == (expected.cost.laws, expected.cost.pairs)
    if method == "neighbourhoods":
        assert found.witness == expected.witness


@pytest.mark.parametrize("method", ["exhaustive", "neighbourhoods"])
def test_other_laws_for_neighbours_are_no_verdict(method: str) -> None:
    with pytest.raises(NonDeterministicError, match="neighbour_laws gives another law"):
        lt.check_privacy(
            Wrong([1, 1, 1]),
            lt.ProductDistribution.uniform(lt.Hypercube(3)),
            epsilon=0.1,
            method=method,
            seed=1,
        )


def test_a_wrong_law_of_the_last_change_is_seen() -> None:
    class Last(Incremental):
        def neighbour_laws(self, dataset: np.ndarray, changes: Changes) -> LawTable:
            table = super().neighbour_laws(dataset, changes)
            table.logs[-1] = table.logs[-1][::-1]
            return table

    with pytest.raises(NonDeterministicError, match="neighbour_laws gives another law"):
        lt.check_privacy(
            Last([1, 2, 4]),
            lt.ProductDistribution.uniform(lt.Hypercube(3)),
            epsilon=50.0,
            method="neighbourhoods",
            seed=1,
        )


def test_what_neighbour_laws_raises_or_returns_is_checked() -> None:
    batch = Changes(np.array([0]), np.array([1])).of(np.array([0, 0], dtype=np.int8))

    class Raises(Plain):
        def neighbour_laws(self, dataset: Any, changes: Any) -> Any:
            raise ValueError("no")

    class Gives(Plain):
        def neighbour_laws(self, dataset: Any, changes: Any) -> Any:
            return [0.5, 0.5]

    with pytest.raises(MechanismError, match="neighbour_laws raised ValueError: 'no'"):
        laws_of_batch(Raises([1, 1]), batch)
    with pytest.raises(LawError, match="must give a LawTable"):
        laws_of_batch(Gives([1, 1]), batch)


STATISTICS = [
    (lt.Count(), lt.Hypercube(4)),
    (lt.statistics.WeightedSum([1, -2, 3]), lt.RecordGrid([3, 2, 4])),
    (lt.statistics.Contributions([0, 5, 1]), lt.Hypergrid([3, 3])),
    (lt.statistics.OrderStatistic(2), lt.RecordGrid([3, 3, 4])),
]


@pytest.mark.parametrize(("statistic", "domain"), STATISTICS)
def test_statistics_add_what_a_change_adds(statistic: Any, domain: Domain) -> None:
    mechanism = lt.StatisticMechanism(statistic, OUTPUTS, logs_of)
    shift = lt.ShiftMechanism(statistic, lt.DiscreteLaplace(3))
    assert not uses_neighbours(mechanism)
    dataset = domain.points([domain.size // 2])[0]
    _, coordinates, values = domain.neighbour_changes(dataset[None, :])
    changes = Changes(coordinates, values)
    points = changes.of(dataset).array()
    table = mechanism.neighbour_laws(dataset, changes)
    rows = table.distinct(np.arange(len(points)))
    assert np.allclose(table.logs[rows], logs_of(statistic.values(points)))
    shifts = shift.neighbour_laws(dataset, changes)
    found = shifts.centres[shifts.distinct(np.arange(len(points)))]
    assert found.tolist() == statistic.values(points).tolist()


@each_domain
def test_a_table_is_read_by_changes(domain: Domain) -> None:
    table = np.random.default_rng(0).random(domain.sizes)
    points = domain.points(np.arange(domain.size))
    batch = PointBatch(points, *domain.neighbour_changes(points))
    function = TableFunction(table, domain)
    assert np.array_equal(function.values_at(batch), function(batch.array()))
    assert np.array_equal(as_oracle(table, domain).values(batch), function(batch.array()))
