"""Sums of contributions, contingency tables, order statistics against plain enumeration."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import BudgetError, InputError
from liptest.statistics import code_sets, reachable
from liptest.statistics.order_statistics import OrderStatistic
from liptest.statistics.protocol import EDGE_BUDGET
from liptest.statistics.sums import ContingencyTables, Contributions
from tests.property.test_statistics import (
    check_changes,
    check_edges,
    check_realised,
    domains,
    pair_of,
    small,
    true_pairs,
)

WEIGHTS = st.integers(-3, 3) | st.sampled_from([-(10**6), 10**6])


@st.composite
def contributions(draw: st.DrawFn) -> tuple[Contributions, Domain]:
    domain, k = draw(domains()), draw(st.integers(0, 2))

    def table(size: int) -> Any:
        row = WEIGHTS if k == 0 else st.lists(WEIGHTS, min_size=k, max_size=k)
        return draw(st.lists(row, min_size=size, max_size=size))

    if draw(st.booleans()) and len(set(domain.sizes)) == 1:
        return Contributions(table(domain.sizes[0])), domain
    known = {size: table(size) for size in domain.sizes}
    fresh = draw(st.booleans())
    return Contributions.each([table(n) if fresh else known[n] for n in domain.sizes]), domain


@pytest.mark.slow
@given(contributions())
@small
def test_contributions_have_exactly_the_neighbouring_pairs(
    case: tuple[Contributions, Domain],
) -> None:
    statistic, domain = case
    check_edges(statistic, domain)
    check_realised(statistic, domain)
    check_changes(statistic, domain)


@pytest.mark.slow
@given(contributions(), st.sampled_from([0, 3, 1 << 20]))
@small
def test_large_sums_are_kept_as_lists_with_the_same_edges(
    case: tuple[Contributions, Domain], most_ways: int
) -> None:
    statistic, domain = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_sets, "_MOST_WAYS", most_ways)
        patch.setattr(code_sets, "MOST_BITS", 0)
        patch.setattr(reachable, "MOST_BITS", 0)
        reach = reachable.Reach.of(statistic.tables(domain), domain)
        chunks = list(reach.list_edges())
        assert all(isinstance(lower, code_sets.ListedCodes) for _, lower in reach.edge_sets())
        ends = [(a, b) for left, right in chunks for a, b in zip(left, right, strict=True)]
        for a, b in ends[:20]:
            found = statistic.values(np.stack(reach.find_neighbours(a, b))).reshape(2, -1)
            assert np.array_equal(found, [a, b])
    listed = [pair_of(a, b) for a, b in ends]
    assert len(listed) == len(set(listed)) == reach.count_edges()
    assert set(listed) == true_pairs(statistic, domain)


@pytest.mark.slow
@given(contributions())
@small
def test_pairs_that_are_no_edges_are_realised_by_nothing(
    case: tuple[Contributions, Domain],
) -> None:
    statistic, domain = case
    pairs = true_pairs(statistic, domain)
    reached = np.unique(statistic.values(domain.points(np.arange(domain.size))), axis=0)[:8]
    for a in reached:
        for b in reached:
            # A change that the sum does not show is not an edge of the statistic.
            if pair_of(a, b) not in pairs and not np.array_equal(a, b):
                with pytest.raises(InputError, match="no two neighbouring datasets"):
                    statistic.realise(domain, a, b)


@st.composite
def order_statistics(draw: st.DrawFn) -> tuple[OrderStatistic, Domain]:
    domain = draw(domains())
    d = domain.dimension
    if draw(st.booleans()) or len(set(domain.sizes)) > 1:
        return OrderStatistic(draw(st.integers(1, d))), domain
    ranks = draw(st.sets(st.integers(1, d), min_size=1, max_size=3))
    return OrderStatistic(sorted(ranks)), domain


@pytest.mark.slow
@given(order_statistics())
@small
def test_order_statistics_have_exactly_the_neighbouring_pairs(
    case: tuple[OrderStatistic, Domain],
) -> None:
    statistic, domain = case
    check_edges(statistic, domain)
    check_realised(statistic, domain)
    check_changes(statistic, domain)


@pytest.mark.slow
@given(order_statistics())
@small
def test_order_statistics_realise_exactly_their_edges(
    case: tuple[OrderStatistic, Domain],
) -> None:
    statistic, domain = case
    pairs = true_pairs(statistic, domain)
    reached = np.unique(statistic.values(domain.points(np.arange(domain.size))), axis=0)[:8]
    for a in reached:
        for b in reached:
            if pair_of(a, b) not in pairs and not np.array_equal(a, b):
                with pytest.raises(InputError, match="no two neighbouring datasets"):
                    statistic.realise(domain, a, b)


MARGINS = [
    ((2, 2), None, 3),
    ((2, 3), [(0,), (1,)], 3),
    ((2, 2, 2), [(0, 1), (1, 2)], 2),
    ((2, 2, 2), [(0, 1), (1, 2), (0, 2)], 2),
    ((3, 2), [(1, 0)], 2),
]


@pytest.mark.slow
@pytest.mark.parametrize(("attributes", "margins", "records"), MARGINS)
def test_contingency_tables_of_records(attributes: Any, margins: Any, records: int) -> None:
    statistic = ContingencyTables(attributes, margins=margins)
    domain = RecordGrid([math.prod(attributes)] * records)
    check_edges(statistic, domain)
    check_realised(statistic, domain)
    check_changes(statistic, domain)


@pytest.mark.parametrize(("attributes", "margins", "records"), MARGINS)
def test_contingency_tables_of_counts(attributes: Any, margins: Any, records: int) -> None:
    sizes = [1 + (records * j) % 3 for j in range(math.prod(attributes))]
    statistic = ContingencyTables(attributes, margins=margins, given="counts", sizes=sizes)
    check_edges(statistic, Hypergrid(sizes))
    check_realised(statistic, Hypergrid(sizes))
    check_changes(statistic, Hypergrid(sizes))


def test_a_table_counts_records_by_their_attributes() -> None:
    statistic = ContingencyTables((2, 3), margins=[(1,), (0, 1)])
    # (0, 0), (1, 2), (1, 2): codes 0, 5, 5.
    found = statistic.values(np.array([[0, 5, 5]]))
    assert found.tolist() == [[1, 0, 2, 1, 0, 0, 0, 0, 2]]


def test_order_statistics_of_a_dataset() -> None:
    points = np.array([[4, 0, 2, 9], [1, 1, 1, 0]])
    assert OrderStatistic(2).values(points).tolist() == [2, 1]
    assert OrderStatistic([1, 4]).values(points).tolist() == [[0, 9], [0, 1]]


@pytest.mark.parametrize(
    ("statistic", "domain", "needed"),
    [
        # 16 cells, 99 records: C(114, 15) histograms times 120 pairs is more than the box bounds.
        (ContingencyTables((4, 4)), RecordGrid([16] * 100), 101**16 * 120),
        (OrderStatistic([25, 50, 75]), RecordGrid([21] * 100), math.comb(26, 6) * 210),
        (Contributions(range(101)), RecordGrid([101] * 5000), 49_995_050),
    ],
)
def test_too_many_pairs_are_refused_with_their_number(
    statistic: Any, domain: Domain, needed: int
) -> None:
    assert statistic.edge_count(domain) == needed > EDGE_BUDGET
    with pytest.raises(BudgetError) as caught:
        statistic.edges(domain)
    assert caught.value.needed == needed


def test_ranks_and_margins_may_be_arrays() -> None:
    assert OrderStatistic(np.array([1, 3])) == OrderStatistic([1, 3])
    assert OrderStatistic(np.int64(2)) == OrderStatistic(2)
    margins = np.array([[0], [1]])
    statistic = ContingencyTables(np.array([2, 3]), margins=margins)
    assert statistic == ContingencyTables([2, 3], margins=[[0], [1]])
    assert repr(statistic).count("int64") == 0


def test_many_records_are_counted_without_visiting_datasets() -> None:
    statistic, domain = Contributions([0, 1, 7, 50]), RecordGrid([4] * 500)
    (left, right), *_ = statistic.edges(domain)
    x, y = statistic.realise(domain, left[-1], right[-1])
    assert statistic.values(np.stack([x, y])).tolist() == [left[-1], right[-1]]
    assert int((x != y).sum()) == 1


def test_vectors_of_many_records_are_counted_without_adding_them_one_by_one() -> None:
    # No three rows in a line: each share of the three kinds of record has a sum of its own.
    statistic, domain = Contributions([[0, 0, 0], [1, 7, 50], [50, 7, 1]]), RecordGrid([3] * 1500)
    assert statistic.edge_count(domain) == 3 * math.comb(1501, 2)
    left, right = next(iter(statistic.edges(domain)))
    x, y = statistic.realise(domain, left[-1], right[-1])
    assert statistic.values(np.stack([x, y])).tolist() == [left[-1].tolist(), right[-1].tolist()]
    assert int((x != y).sum()) == 1


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=4, unique=True).map(sorted),
    st.integers(0, 6),
    st.integers(0, 200),
)
@small
def test_sums_of_terms_and_how_often_each_is_taken(
    terms: list[int], times: int, total: int
) -> None:
    every = {sum(chosen) for chosen in combinations_with_replacement(terms, times)}
    assert code_sets.find_sums(terms, times).tolist() == sorted(every)
    found = code_sets.term_counts(total, terms, times)
    assert (found is not None) == (total in every)
    if found is not None:
        assert sum(found) == times
        assert min(found) >= 0
        assert sum(n * term for n, term in zip(found, terms, strict=True)) == total


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Contributions([]), "table"),
        (lambda: Contributions([0.5]), "table"),
        (lambda: Contributions([[0], [1, 2]]), "table"),
        (lambda: Contributions([2**61]), "table"),
        (lambda: Contributions.each([]), "tables"),
        (lambda: Contributions.each([[0, 1], [[0], [1]]]), "tables"),
        (lambda: Contributions([0, 1]).check(RecordGrid([3])), "statistic"),
        (lambda: Contributions.each([[0, 1]]).check(Hypercube(2)), "statistic"),
        (lambda: Contributions([0, 2**60]).check(Hypercube(2)), "statistic"),
        (lambda: ContingencyTables((2, 2), margins=[()]), "margins"),
        (lambda: ContingencyTables((2, 2), margins=[]), "margins"),
        (lambda: ContingencyTables((2, 2), margins=[(0, 0)]), "margins"),
        (lambda: ContingencyTables((2, 2), margins=[(2,)]), "margins"),
        (lambda: ContingencyTables((2, 2), margins=[0, 1]), "margins"),
        (lambda: ContingencyTables((2, 2), margins=1), "margins"),
        (lambda: ContingencyTables((0, 2)), "attributes"),
        (lambda: ContingencyTables(4), "attributes"),
        (lambda: ContingencyTables([]), "attributes"),
        (lambda: ContingencyTables((2, 2), given="counts"), "given"),
        (lambda: ContingencyTables((2, 2), given="counts", sizes=[2]), "sizes"),
        (lambda: ContingencyTables((2, 2)).check(Hypergrid([4])), "statistic"),
        (lambda: OrderStatistic(0), "ranks"),
        (lambda: OrderStatistic([]), "ranks"),
        (lambda: OrderStatistic([2, 1]), "ranks"),
        (lambda: OrderStatistic(np.array([[1, 2]])), "ranks"),
        (lambda: OrderStatistic([[1], [1, 2]]), "ranks"),
        (lambda: OrderStatistic(3).check(Hypercube(2)), "statistic"),
        (lambda: OrderStatistic([1, 2]).check(RecordGrid([2, 3])), "statistic"),
    ],
)
def test_bad_arguments(make: Any, name: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.name == name
