from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.errors import BudgetError, InputError
from liptest.statistics.protocol import EDGE_BUDGET, Statistic
from liptest.statistics.sums import Histogram


def test_is_a_statistic_that_compares_by_value_and_pickles() -> None:
    statistic = Histogram(3)
    assert isinstance(statistic, Statistic)
    assert pickle.loads(pickle.dumps(statistic)) == statistic == Histogram(3)
    assert hash(statistic) == hash(Histogram(3))
    assert statistic != Histogram(3, given="counts")
    assert statistic != Histogram(4)


def test_values_are_counts_of_records() -> None:
    points = np.array([[0, 2, 2], [1, 1, 1]], dtype=np.int8)
    assert Histogram(3).values(points).tolist() == [[1, 0, 2], [0, 3, 0]]
    assert Histogram(3, given="counts").values(points).tolist() == points.tolist()


def test_the_number_of_edges_is_the_formula_of_theory_3_8() -> None:
    for n, k in ((1, 2), (3, 3), (5, 4)):
        listed = sum(len(left) for left, _ in Histogram(k).edges(RecordGrid([k] * n)))
        assert listed == math.comb(n + k - 2, k - 1) * k * (k - 1) // 2


def test_two_cells_of_a_cube() -> None:
    pairs = [p for left, _ in Histogram(2).edges(Hypercube(3)) for p in left.tolist()]
    assert sorted(pairs) == [[1, 2], [2, 1], [3, 0]]


def test_one_cell_has_no_edges() -> None:
    assert Histogram(1).edge_count(RecordGrid([1] * 3)) == 0
    assert list(Histogram(1).edges(RecordGrid([1] * 3))) == []


@pytest.mark.parametrize(
    ("statistic", "domain"),
    [
        (Histogram(3), RecordGrid([3, 4])),
        (Histogram(3), Hypergrid([3, 3, 3])),
        (Histogram(3), Hypercube(3)),
        (Histogram(3, given="counts"), RecordGrid([3, 3, 3])),
        (Histogram(3, given="counts"), Hypergrid([3, 3])),
    ],
)
def test_a_domain_of_the_other_kind_is_refused(statistic: Histogram, domain: object) -> None:
    with pytest.raises(InputError, match="given='records' counts records"):
        statistic.check(domain)


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="cells=0"):
        Histogram(0)
    with pytest.raises(InputError, match="given='rows'"):
        Histogram(2, given="rows")


def test_too_many_edges_are_refused_with_the_number() -> None:
    domain = RecordGrid([10] * 5000)
    with pytest.raises(BudgetError, match="243,952,161,110,515,276,818,978,150,000") as caught:
        Histogram(10).edges(domain)
    assert caught.value.needed == math.comb(5008, 9) * 45 > EDGE_BUDGET
    with pytest.raises(BudgetError, match=r"about 2\*\*"):
        Histogram(200).edges(RecordGrid([200] * 5000))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([2, 0, 0], [0, 2, 0]),
        ([1, 1, 0], [1, 1, 0]),
        ([2, 1, 0], [1, 2, 0]),
        ([3, -1, 0], [2, 0, 0]),
        ([1, 1, 0], [1, 0, 0]),
    ],
)
def test_what_no_replacement_does_is_not_realised(left: list[int], right: list[int]) -> None:
    with pytest.raises(InputError, match="no two neighbouring datasets"):
        Histogram(3).realise(RecordGrid([3, 3]), np.array(left), np.array(right))


def test_counts_are_realised_by_themselves() -> None:
    statistic, domain = Histogram(2, given="counts"), Hypergrid([4, 4])
    x, y = statistic.realise(domain, np.array([1, 2]), np.array([1, 3]))
    assert (x.tolist(), y.tolist()) == ([1, 2], [1, 3])
    with pytest.raises(InputError, match="no two neighbouring datasets"):
        statistic.realise(domain, np.array([1, 2]), np.array([2, 3]))
    with pytest.raises(InputError, match="outside"):
        statistic.realise(domain, np.array([1, 3]), np.array([1, 4]))
