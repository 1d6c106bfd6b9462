from __future__ import annotations

import pickle

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.errors import BudgetError, InputError
from liptest.statistics.protocol import EDGE_BUDGET, Statistic
from liptest.statistics.sums import Count, WeightedSum


def edges(statistic: Statistic, domain: object) -> list[tuple[int, int]]:
    return [
        (int(a), int(b))
        for left, right in statistic.edges(domain)
        for a, b in zip(left, right, strict=True)
    ]


def test_count_of_a_long_table() -> None:
    pairs = edges(Count(), Hypercube(200_000))
    assert pairs == [(k, k + 1) for k in range(200_000)]


def test_count_needs_a_cube() -> None:
    with pytest.raises(InputError, match="WeightedSum or Histogram"):
        Count().check(Hypergrid([3, 3]))


def test_statistics_compare_by_value_and_pickle() -> None:
    for statistic in (Count(), WeightedSum([1, -2])):
        again = pickle.loads(pickle.dumps(statistic))
        assert again == statistic
        assert hash(again) == hash(statistic)
    assert WeightedSum([1, 2]) != WeightedSum([2, 1])
    assert isinstance(WeightedSum([1]), Statistic)


def test_reachable_values_need_not_be_neighbouring() -> None:
    # 1 and 2 are both reachable with weights (1, 2), but no single flip leads from 1 to 2.
    statistic, domain = WeightedSum([1, 2]), Hypercube(2)
    assert sorted(edges(statistic, domain)) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    with pytest.raises(InputError, match="no two neighbouring datasets"):
        statistic.realise(domain, np.int64(1), np.int64(2))
    # A record that can be replaced by any of 0, 1, 2 does lead from 1 to 2.
    assert (1, 2) in edges(statistic, RecordGrid([3, 3]))


def test_equal_values_are_realised_where_a_weight_is_0() -> None:
    x, y = WeightedSum([0, 1]).realise(Hypercube(2), np.int64(1), np.int64(1))
    assert (x.tolist(), y.tolist()) in (([0, 1], [1, 1]), ([1, 1], [0, 1]))
    with pytest.raises(InputError, match="no two neighbouring datasets"):
        WeightedSum([1, 1]).realise(Hypercube(2), np.int64(1), np.int64(1))


def test_a_sum_outside_the_range_is_realised_by_nothing() -> None:
    for left, right in ((-1, 0), (2, 3), (7, 8)):
        with pytest.raises(InputError, match="no two neighbouring datasets"):
            WeightedSum([1, 1]).realise(Hypercube(2), np.int64(left), np.int64(right))


@pytest.mark.parametrize(
    "wrong", [[], [1.5], [[1]], ["a"], 3, [True], [1 << 63], [-(1 << 63)], [[1], [1, 2]]]
)
def test_weights_must_be_whole_numbers(wrong: object) -> None:
    with pytest.raises(InputError, match="weights"):
        WeightedSum(wrong)


def test_one_weight_for_each_coordinate() -> None:
    with pytest.raises(InputError, match="2 weights for the 3 coordinates"):
        WeightedSum([1, 2]).check(Hypercube(3))


def test_sums_beyond_61_bits_are_refused() -> None:
    with pytest.raises(InputError, match="61 bits"):
        WeightedSum([1 << 61, 1 << 61, 1 << 61]).check(Hypercube(3))


@pytest.mark.slow
def test_a_million_records() -> None:
    domain = Hypercube(1_000_000)
    statistic = WeightedSum(np.ones(1_000_000, dtype=np.int64))
    assert statistic.edge_count(domain) == 1_000_000
    x, y = statistic.realise(domain, np.int64(500), np.int64(499))
    assert (int(x.sum()), int(y.sum())) == (500, 499)
    assert int((x != y).sum()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "domain"),
    [
        (2 ** np.arange(40), Hypercube(40)),
        (np.ones(5000, dtype=int), RecordGrid([5000] * 5000)),
        (np.arange(1, 2001), Hypercube(2000)),
    ],
)
def test_too_many_edges_are_refused_before_they_are_listed(
    weights: np.ndarray, domain: object
) -> None:
    statistic = WeightedSum(weights)
    with pytest.raises(BudgetError, match="pairs of neighbouring values") as caught:
        statistic.edges(domain)
    assert caught.value.budget == EDGE_BUDGET
    assert caught.value.needed == statistic.edge_count(domain)
    assert caught.value.needed > EDGE_BUDGET


def test_exact_edge_count_over_the_budget_is_still_a_count() -> None:
    # 1..400: 32,000,196 pairs, counted although they would not be listed.
    statistic, domain = WeightedSum(np.arange(1, 401)), Hypercube(400)
    d, largest = 400, 400 * 401 // 2
    assert EDGE_BUDGET < statistic.edge_count(domain) <= d * (largest + 1)
    assert statistic.edge_count(domain) == 32_000_196


@pytest.mark.parametrize(
    ("weights", "domain"),
    [
        ([1 << 60, 3], Hypercube(2)),
        ([1 << 40, -(3**20), 7], Hypercube(3)),
        ([10**9, 1, 10**9 - 1], RecordGrid([3, 2, 4])),
        ([52_000_000, 61_500_001, 48_250_007, 52_000_000], Hypergrid([2, 3, 1, 2])),
    ],
)
def test_large_weights_of_few_records_are_listed(weights: list[int], domain: object) -> None:
    statistic = WeightedSum(weights)
    found = edges(statistic, domain)
    points = domain.points(np.arange(domain.size))
    sums = points.astype(object) @ np.array(weights, dtype=object)
    near = domain.distances(points, points) == 1
    wanted = {(sums[i], sums[j]) for i, j in np.argwhere(near) if sums[i] < sums[j]}
    assert len(found) == len(wanted) == statistic.edge_count(domain)
    assert {(min(pair), max(pair)) for pair in found} == wanted
    for low, high in found[:10]:
        x, y = statistic.realise(domain, np.int64(high), np.int64(low))
        assert statistic.values(np.stack([x, y])).tolist() == [high, low]
        assert domain.distance(x, y).tolist() == [1]


def test_searching_enormous_sums_is_refused() -> None:
    with pytest.raises(BudgetError, match="too large to be searched"):
        WeightedSum(2 ** np.arange(40)).realise(Hypercube(40), np.int64(5), np.int64(4))
