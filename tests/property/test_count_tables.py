"""Counts drawn in the place of very many records: the same laws, numbers and witnesses."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.domains import Domain
from liptest.mechanisms.shift import VectorShift
from liptest.privacy.claims import Claim
from liptest.privacy.samples import symmetric_records
from liptest.privacy.samples.symmetric_records import (
    CountTables,
    RecordGroup,
    SymmetricChanges,
    SymmetricDraw,
    symmetric_sampling,
)
from tests.statistical.binomial import DRAWS, fits


class TwoHistograms(lt.Histogram):
    """A histogram of the first half of the records, and one of the rest."""

    def values(self, points: np.ndarray) -> np.ndarray:
        half = points.shape[1] // 2
        parts = points[:, :half], points[:, half:]
        return np.concatenate([super(TwoHistograms, self).values(part) for part in parts], axis=1)

    def changed_values(self, batch: Any, values: np.ndarray) -> np.ndarray:
        return self.values(batch.array()[len(batch.centres) :])

    def kinds(self, domain: Domain) -> np.ndarray:
        places = np.arange(domain.dimension)
        return (places >= domain.dimension // 2).astype(np.int64)

    def of_counts(self, domain: Domain) -> lt.Histogram:
        return lt.Histogram(2 * self.cells, given="counts")

    def edge_count(self, domain: Domain) -> None:
        return None


def law_of(kind: str, records: int) -> lt.ProductDistribution:
    domain = lt.RecordGrid([3] * records)
    if kind == "uniform":
        return lt.ProductDistribution.uniform(domain)
    rows = [[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]]
    return lt.ProductDistribution(domain, [rows[r % 2] for r in range(records)])


def sized(statistic: Any, modulus: int) -> Any:
    """Two laws that are far apart at one value in so many of the last cell."""

    def log_pmf(values: np.ndarray) -> np.ndarray:
        p = np.where(values[:, -1] % modulus == 0, 0.05, 0.3)
        return np.log(np.stack([p, 1 - p], axis=1))

    return lt.StatisticMechanism(statistic, [0, 1], log_pmf)


@pytest.mark.parametrize("kind", ["uniform", "two laws"])
@pytest.mark.parametrize("statistic", [lt.Histogram(3), TwoHistograms(3)], ids=type)
def test_tables_are_followed_by_those_of_all_their_neighbours(
    monkeypatch: pytest.MonkeyPatch, kind: str, statistic: Any
) -> None:
    monkeypatch.setattr(symmetric_records, "_MANY_RECORDS", 1)
    law = law_of(kind, 1000)
    task = symmetric_sampling(sized(statistic, 7), law, Claim(1.0), draws=5, seed=1)
    assert task is not None
    batch = task.draw(np.random.default_rng(1), 5)
    assert batch.pairs is not None
    tables = batch.points.centres
    firsts = np.unique(batch.pairs[:, 0])
    assert len(firsts) == batch.draws == 5
    judge: Any = task.judge
    for first in firsts:
        assert tables[first].sum() == 1000
        near = tables[batch.pairs[batch.pairs[:, 0] == first, 1]]
        dataset, _ = judge.to_datasets(tables[first], near[0])
        assert statistic.values(dataset[None])[0].tolist() == tables[first].tolist()
        wanted = {tuple(v) for v in statistic.values(law.domain.neighbours(dataset)).tolist()}
        assert {tuple(v) for v in near.tolist()} == wanted
        assert len(near) == len(wanted)


def test_counts_have_the_law_of_independent_records() -> None:
    law = law_of("two laws", 6)
    changes = SymmetricChanges.of(law.domain, np.zeros(6, dtype=np.int64))
    draw = CountTables.of(law, changes)
    assert sorted(group.records for group in draw.groups) == [3, 3]
    tables = draw(np.random.default_rng(5), DRAWS)
    points = law.domain.points(np.arange(law.domain.size))
    # A number for each table: its cells are below 7.
    code = np.array([1, 7, 49])
    owners = lt.Histogram(3).values(points) @ code
    counts = np.bincount(tables @ code, minlength=7**3)
    assert fits(counts, np.bincount(owners, weights=law.mass(points), minlength=7**3))
    even = np.bincount(owners, minlength=7**3) / len(points)
    assert not fits(counts, even)


def test_a_value_of_no_mass_is_never_drawn() -> None:
    group = RecordGroup.of(10**6, 0, np.array([1 / 3, 1 / 3, 1 / 3, 0.0]))
    assert group.cells.tolist() == [0, 1, 2]
    assert group.rates[-1] == 1.0
    tables = np.zeros((50, 4), dtype=np.int64)
    group.add(np.random.default_rng(1), tables)
    assert np.all(tables.sum(axis=1) == 10**6)
    assert not tables[:, 3].any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "two laws"])
@pytest.mark.parametrize("statistic", [lt.Histogram(3), TwoHistograms(3)], ids=type)
@pytest.mark.parametrize(("modulus", "decision"), [(7, "NO"), (10**6, "YES")])
def test_verdicts_and_counts_are_those_of_drawn_records(
    monkeypatch: pytest.MonkeyPatch, kind: str, statistic: Any, modulus: int, decision: str
) -> None:
    law, mechanism = law_of(kind, 1 << 14), sized(statistic, modulus)
    options: dict[str, Any] = {"epsilon": 1, "method": "neighbourhoods", "seed": 1}
    options |= {"exception_mass": 0.3, "search_laws": 0}
    counted = lt.check_privacy(mechanism, law, **options)
    with ProcessPoolExecutor(2) as executor:
        shared = lt.check_privacy(mechanism, law, executor=executor, **options)
    assert (shared.cost.laws, shared.witness) == (counted.cost.laws, counted.witness)
    monkeypatch.setattr(symmetric_records, "_MANY_RECORDS", 1 << 30)
    drawn = lt.check_privacy(mechanism, law, **options)
    assert str(counted.decision) == str(drawn.decision) == decision
    assert counted.cost.laws == counted.cost.draws * (1 + 2 * (1 << 14))
    if decision == "YES":
        assert (counted.cost.laws, counted.cost.pairs) == (drawn.cost.laws, drawn.cost.pairs)
        assert counted.plan == drawn.plan
        assert counted.cost.laws == counted.plan.laws
    else:
        assert counted.witness is not None
        assert counted.witness.verify(mechanism)
        pair = np.array([counted.witness.dataset, counted.witness.neighbour])
        assert law.domain.distance(pair[:1], pair[1:]).tolist() == [1]


@pytest.mark.slow
def test_noise_on_a_histogram_of_very_many_records_is_judged_by_counts() -> None:
    law = lt.ProductDistribution.uniform(lt.RecordGrid([4] * 20_000))
    options: dict[str, Any] = {"method": "neighbourhoods", "seed": 1, "search_laws": 0}
    noise = lt.DiscreteLaplace(2.0)
    mechanism = VectorShift(lt.Histogram(4), noise)
    assert str(lt.check_privacy(mechanism, law, epsilon=1.0, **options).decision) == "YES"
    found = lt.check_privacy(mechanism, law, epsilon=0.99, **options)
    assert str(found.decision) == "NO"
    assert found.witness is not None
    assert found.witness.verify(mechanism)


class FirstRecord(lt.Histogram):
    """Values of its own, and nothing said about them."""

    def values(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(points[:, :1].astype(np.int64))


class Halved(lt.Histogram):
    """Still the same for all orders of the records, but no longer the counts."""

    def values(self, points: np.ndarray) -> np.ndarray:
        return super().values(points) // 2

    def kinds(self, domain: Domain) -> np.ndarray:
        return super().kinds(domain)


@pytest.mark.slow
def test_what_a_class_says_of_its_values_does_not_hold_for_others() -> None:
    many = law_of("uniform", 1 << 14)
    assert symmetric_sampling(sized(FirstRecord(3), 7), many, Claim(1.0), draws=5, seed=1) is None
    halved = symmetric_sampling(sized(Halved(3), 7), many, Claim(1.0), draws=5, seed=1)
    assert halved is not None
    assert isinstance(halved.draw, SymmetricDraw)
    assert halved.draw.sample == many.sample


@pytest.mark.slow
def test_where_counts_are_drawn() -> None:
    def drawn(mechanism: Any, law: Any) -> bool:
        found = symmetric_sampling(mechanism, law, Claim(1.0), draws=5, seed=1)
        return (
            found is not None
            and isinstance(found.draw, SymmetricDraw)
            and isinstance(found.draw.sample, CountTables)
        )

    many, mechanism = law_of("uniform", 1 << 14), sized(lt.Histogram(3), 7)
    assert drawn(mechanism, many)
    assert not drawn(mechanism, law_of("uniform", (1 << 14) - 1))
    assert not drawn(sized(lt.statistics.OrderStatistic([5, 9]), 7), many)
    rows = np.random.default_rng(1).dirichlet([1, 1, 1], 1 << 14)
    assert not drawn(mechanism, lt.ProductDistribution(many.domain, rows))
    sampled = lt.SampledDistribution(many.domain, lambda n, rng: many.sample(rng, n))
    assert not drawn(mechanism, sampled)


def test_changes_lead_from_cell_to_cell() -> None:
    changes = SymmetricChanges.of(lt.RecordGrid([2, 3]), np.array([0, 1]))
    pairs = set(zip(changes.places.tolist(), changes.targets.tolist(), strict=True))
    assert changes.cells == 6
    assert pairs == {(0, 1), (1, 0), (3, 4), (3, 5), (4, 3), (4, 5), (5, 3), (5, 4)}
