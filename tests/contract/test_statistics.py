"""Every statistic keeps the contract, and a broken promise is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest import statistics
from liptest.data.domains import Domain
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.counting_queries import CountingQueries
from liptest.statistics.order_statistics import OrderStatistic
from liptest.statistics.protocol import Statistic
from liptest.statistics.sums import ContingencyTables
from liptest.statistics.user_statistic import UserStatistic
from liptest.testing.contract import check_statistic

CASES: list[tuple[Statistic, Domain]] = [
    (lt.Count(), lt.Hypercube(5)),
    (lt.statistics.WeightedSum([2, -3, 2, 0]), lt.RecordGrid([3, 2, 3, 4])),
    (lt.statistics.WeightedSum([2, 4], constant=-7), lt.Hypergrid([4, 3])),
    (lt.Histogram(3), lt.RecordGrid([3] * 4)),
    (lt.Histogram(3, given="counts"), lt.Hypergrid([2, 4, 3])),
    (lt.statistics.Contributions([0, 1, 5]), lt.RecordGrid([3] * 4)),
    (lt.statistics.Contributions.each([[0, 4], [1, 0, 2], [0, 4]]), lt.Hypergrid([2, 3, 2])),
    (ContingencyTables((2, 2), margins=[(0,), (1,)]), lt.RecordGrid([4] * 3)),
    (CountingQueries([[1, -1, 0], [0, 1, 1]], base=[3, 0]), lt.Hypercube(3)),
    (OrderStatistic(2), lt.RecordGrid([3, 5, 4])),
    (OrderStatistic([1, 3]), lt.RecordGrid([4] * 3)),
    (Coordinates((0, 2), (3, 2, 4), constant=-2), lt.Hypergrid([3, 2, 4])),
    (UserStatistic(lambda x: x.max(axis=1)), lt.Hypergrid([3, 3])),
    (
        UserStatistic(lambda x: x.max(axis=1), lambda domain: [[k, k + 1] for k in range(2)]),
        lt.Hypergrid([3, 3]),
    ),
]


@pytest.mark.parametrize(("statistic", "domain"), CASES)
def test_the_contract(statistic: Statistic, domain: Domain) -> None:
    check_statistic(statistic, domain)


def test_every_statistic_is_here() -> None:
    kinds = {getattr(statistics, name) for name in statistics.__all__}
    tried = {type(statistic) for statistic, _ in CASES}
    assert {kind for kind in kinds if not kind.__abstractmethods__} <= tried


def broken(name: str, answer: Callable[..., Any]) -> Statistic:
    return type("Broken", (lt.Count,), {name: answer})()


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("_add_up", lambda self, points: points.sum(axis=1) / 1, "int64"),
        ("changed_values", lambda self, batch, values: values[batch.rows], "changed_values"),
        ("edge_count", lambda self, domain: None, "none are known"),
        ("edge_count", lambda self, domain: 4, "edge_count=4"),
        ("edges", lambda self, domain: iter([(np.arange(2), np.arange(1, 3))]), "edges lack"),
        ("realise", lambda self, domain, a, b: (np.zeros(3), np.zeros(3)), "realise is wrong"),
        ("of_counts", lambda self, domain: lt.statistics.WeightedSum([1, 0]), "of_counts"),
        (
            "difference_sets",
            lambda self, domain: _sets(lt.statistics.WeightedSum([2] * 3)),
            "difference_sets",
        ),
    ],
)
def test_a_broken_promise_is_named(name: str, answer: Callable[..., Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_statistic(broken(name, answer), lt.Hypercube(3))


def test_too_many_edges_and_wrong_kinds_are_named() -> None:
    with pytest.raises(AssertionError, match="not an edge"):
        check_statistic(
            UserStatistic(
                lambda x: x[:, 0] * x[:, 1], lambda domain: [[0, 1], [0, 2], [1, 2], [0, 7]]
            ),
            lt.Hypergrid([3, 2]),
        )
    wrong = type(
        "Wrong", (lt.statistics.WeightedSum,), {"kinds": lambda self, domain: np.zeros(2, int)}
    )
    with pytest.raises(AssertionError, match="records 0 and 1"):
        check_statistic(wrong([1, 2]), lt.Hypercube(2))


def _sets(statistic: Any) -> Any:
    return statistic.difference_sets(lt.Hypercube(3))
