from __future__ import annotations

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid
from liptest.data.points import PointBatch
from liptest.errors import BudgetError, InputError
from liptest.statistics import protocol
from liptest.statistics.protocol import Statistic
from liptest.statistics.user_statistic import UserStatistic


def maximum(points: np.ndarray) -> np.ndarray:
    return points.max(axis=1)


def test_one_line_makes_a_statistic() -> None:
    statistic = UserStatistic(maximum)
    assert isinstance(statistic, Statistic)
    assert (statistic.name, statistic.proved_edges) == ("maximum", False)
    assert UserStatistic(lambda x: x[:, 0], name="first").name == "first"
    assert statistic.values(np.array([[0, 2], [1, 1]], dtype=np.int8)).tolist() == [2, 1]


def test_without_edges_their_number_is_unknown_and_listing_says_so() -> None:
    statistic = UserStatistic(maximum)
    assert statistic.edge_count(Hypercube(3)) is None
    with pytest.raises(InputError, match="give edge_pairs="):
        statistic.edges(Hypercube(3))


def test_declared_edges_are_listed_once_and_without_equal_pairs() -> None:
    statistic = UserStatistic(maximum, lambda domain: [[0, 1], [1, 0], [1, 1], [2, 1]])
    [(left, right)] = statistic.edges(Hypergrid([3, 3]))
    assert (left.tolist(), right.tolist()) == ([0, 1], [1, 2])
    assert statistic.edge_count(Hypergrid([3, 3])) == 2


def test_vectors_are_unordered_pairs_too() -> None:
    pairs = [[[0, 1], [0, 2]], [[0, 2], [0, 1]], [[5, 0], [4, 9]]]
    statistic = UserStatistic(lambda x: np.stack([x[:, 0], x[:, 0]], 1), lambda domain: pairs)
    [(left, right)] = statistic.edges(Hypercube(2))
    assert left.tolist() == [[0, 1], [4, 9]]
    assert right.tolist() == [[0, 2], [5, 0]]


def test_too_many_declared_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "EDGE_BUDGET", 3)
    statistic = UserStatistic(maximum, lambda domain: [[k, k + 1] for k in range(5)])
    with pytest.raises(BudgetError, match="5 pairs"):
        statistic.edges(Hypercube(3))


def test_edges_that_nobody_realises_are_reported() -> None:
    statistic = UserStatistic(maximum, lambda domain: [[0, 7]])
    with pytest.raises(InputError, match="declares too much"):
        statistic.realise(Hypercube(3), np.int64(0), np.int64(7))
    with pytest.raises(InputError, match="declares too much"):
        # Both values occur, but on no two neighbouring datasets.
        UserStatistic(lambda x: x.sum(axis=1)).realise(Hypercube(3), np.int64(0), np.int64(2))


def test_a_domain_too_large_to_search() -> None:
    with pytest.raises(InputError, match="too many neighbouring pairs"):
        UserStatistic(maximum).realise(Hypercube(60), np.int64(0), np.int64(1))


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x.mean(axis=1),
        lambda x: x.sum(),
        lambda x: x[:1].sum(axis=1),
        lambda x: np.zeros((len(x), 1, 1), dtype=int),
    ],
)
def test_values_must_be_whole_numbers_one_row_per_dataset(compute: object) -> None:
    with pytest.raises(InputError, match="statistic=s: shape="):
        UserStatistic(compute, name="s").values(np.zeros((2, 3), dtype=np.int8))


def test_check_asks_for_a_value_of_the_domain() -> None:
    UserStatistic(lambda x: x[:, 2]).check(Hypercube(3))
    with pytest.raises(InputError, match="shape="):
        UserStatistic(lambda x: x / 2).check(Hypercube(3))


@pytest.mark.parametrize("pairs", [[[0.5, 1.5]], [0, 1], [[0, 1, 2]], [[[[0]], [[1]]]]])
def test_pairs_must_be_whole_numbers_two_by_two(pairs: object) -> None:
    with pytest.raises(InputError, match="edge_pairs: shape="):
        UserStatistic(maximum, lambda domain: pairs).edges(Hypercube(3))


def test_both_functions_must_be_callable() -> None:
    with pytest.raises(InputError, match="compute=3"):
        UserStatistic(3)
    with pytest.raises(InputError, match="edge_pairs=3"):
        UserStatistic(maximum, 3)


def test_a_batch_without_changes() -> None:
    points = np.zeros((2, 3), dtype=np.int8)
    statistic = UserStatistic(maximum)
    changed = statistic.changed_values(PointBatch(points), statistic.values(points))
    assert changed.shape == (0,)
