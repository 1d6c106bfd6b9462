"""Edges of statistics against plain enumeration of all neighbouring pairs of small domains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.points import PointBatch
from liptest.errors import InputError
from liptest.statistics.protocol import Statistic
from liptest.statistics.sums import Count, Histogram, WeightedSum
from liptest.statistics.user_statistic import UserStatistic

small = settings(max_examples=50, deadline=None)


def pair_of(left: object, right: object) -> frozenset[tuple[int, ...]]:
    return frozenset(tuple(int(v) for v in np.atleast_1d(np.asarray(e))) for e in (left, right))


def true_pairs(statistic: Statistic, domain: Domain) -> set[frozenset[tuple[int, ...]]]:
    found = set()
    for point in domain.points(np.arange(domain.size)):
        block = np.concatenate([point[None, :], domain.neighbours(point)])
        values = statistic.values(block)
        found |= {pair_of(values[0], value) for value in values[1:]}
    return {pair for pair in found if len(pair) == 2}


def listed_pairs(statistic: Statistic, domain: Domain) -> list[frozenset[tuple[int, ...]]]:
    chunks = list(statistic.edges(domain))
    return [pair_of(a, b) for left, right in chunks for a, b in zip(left, right, strict=True)]


def check_edges(statistic: Statistic, domain: Domain) -> None:
    statistic.check(domain)
    listed = listed_pairs(statistic, domain)
    assert len(listed) == len(set(listed)) == statistic.edge_count(domain)
    assert set(listed) == true_pairs(statistic, domain)


def check_realised(statistic: Statistic, domain: Domain) -> None:
    for left, right in statistic.edges(domain):
        for a, b in zip(left, right, strict=True):
            for first, second in ((a, b), (b, a)):
                x, y = statistic.realise(domain, first, second)
                rows = domain.check_points(np.stack([x, y]))
                assert domain.distance(rows[:1], rows[1:])[0] == 1
                values = statistic.values(rows)
                assert np.array_equal(values[0], first)
                assert np.array_equal(values[1], second)


def check_changes(statistic: Statistic, domain: Domain) -> None:
    points = domain.points(np.arange(domain.size))[:: max(1, domain.size // 30)]
    batch = PointBatch(points, *domain.neighbour_changes(points))
    changed = statistic.changed_values(batch, statistic.values(points))
    assert np.array_equal(changed, statistic.values(batch.array()[len(points) :]))


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    kind = draw(st.sampled_from(["cube", "grid", "records"]))
    if kind == "cube":
        return Hypercube(draw(st.integers(1, 7)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return Hypergrid(sizes) if kind == "grid" else RecordGrid(sizes)


@st.composite
def sums(draw: st.DrawFn) -> tuple[WeightedSum, Domain]:
    domain = draw(domains())
    unit = draw(st.sampled_from([1, 1, 3, -(10**9)]))
    weight = st.integers(-7, 7).map(lambda w: w * unit)
    d = domain.dimension
    return WeightedSum(draw(st.lists(weight, min_size=d, max_size=d))), domain


@pytest.mark.slow
@given(sums())
@small
def test_weighted_sum_edges_are_exactly_the_neighbouring_pairs(
    case: tuple[WeightedSum, Domain],
) -> None:
    statistic, domain = case
    check_edges(statistic, domain)
    check_changes(statistic, domain)


@pytest.mark.slow
@given(sums())
@small
def test_weighted_sum_realises_exactly_its_edges(case: tuple[WeightedSum, Domain]) -> None:
    statistic, domain = case
    check_realised(statistic, domain)
    pairs = true_pairs(statistic, domain)
    reached = sorted(set(statistic.values(domain.points(np.arange(domain.size))).tolist()))
    for a in reached[:12]:
        for b in [v for v in reached[:12] if v != a and pair_of(a, v) not in pairs]:
            with pytest.raises(InputError, match="no two neighbouring datasets"):
                statistic.realise(domain, np.int64(a), np.int64(b))


@pytest.mark.slow
@given(st.integers(1, 4), st.integers(1, 5))
@small
def test_histogram_of_records(cells: int, records: int) -> None:
    domain, statistic = RecordGrid([cells] * records), Histogram(cells)
    check_edges(statistic, domain)
    check_realised(statistic, domain)
    check_changes(statistic, domain)


@pytest.mark.slow
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
@small
def test_histogram_given_as_counts(sizes: list[int]) -> None:
    domain, statistic = Hypergrid(sizes), Histogram(len(sizes), given="counts")
    check_edges(statistic, domain)
    check_realised(statistic, domain)
    check_changes(statistic, domain)


@given(st.integers(1, 7))
@small
def test_count(dimension: int) -> None:
    check_edges(Count(), Hypercube(dimension))
    check_realised(Count(), Hypercube(dimension))
    check_changes(Count(), Hypercube(dimension))


@pytest.mark.slow
@given(domains())
@small
def test_user_statistic_with_its_true_edges(domain: Domain) -> None:
    def compute(points: np.ndarray) -> np.ndarray:
        return np.stack([points.max(axis=1), points.min(axis=1)], axis=1)

    def edge_pairs(of: Domain) -> np.ndarray:
        found = [sorted(pair) for pair in true_pairs(UserStatistic(compute), of)]
        doubled = [*found, *[pair[::-1] for pair in found], [(0, 0), (0, 0)]]
        return np.array(doubled, dtype=np.int64).reshape(-1, 2, 2)

    statistic = UserStatistic(compute, edge_pairs)
    check_edges(statistic, domain)
    check_realised(statistic, domain)
    check_changes(statistic, domain)
