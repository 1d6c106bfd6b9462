"""Every named sum over the records is the sum of its tables: values, changes, edges, datasets.

``Contributions`` with the tables written out is the reference; it is itself held against plain
enumeration in ``test_more_statistics``. What the named statistics know in closed form must be the
same, edge by edge.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.domains import Domain
from liptest.data.points import PointBatch
from liptest.errors import InputError
from liptest.testing.contract import check_statistic
from tests.property.test_statistics import (
    domains,
    listed_pairs,
    pair_of,
    small,
    true_pairs,
)

Case = tuple[Any, Domain, list[np.ndarray]]


def count(draw: st.DrawFn) -> Case:
    domain = lt.Hypercube(draw(st.integers(1, 7)))
    return lt.Count(), domain, [np.arange(2)] * domain.dimension


def weighted_sum(draw: st.DrawFn) -> Case:
    domain = draw(domains())
    unit = draw(st.sampled_from([1, 1, 3, -(10**8)]))
    d = domain.dimension
    weights = [w * unit for w in draw(st.lists(st.integers(-7, 7), min_size=d, max_size=d))]
    tables = [w * np.arange(n) for w, n in zip(weights, domain.sizes, strict=True)]
    constant = draw(st.sampled_from([0, 0, 5, -(10**9)]))
    tables[0] = tables[0] + constant
    return lt.statistics.WeightedSum(weights, constant=constant), domain, tables


def histogram_of_records(draw: st.DrawFn) -> Case:
    cells, records = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cube = cells == 2 and draw(st.booleans())
    domain = lt.Hypercube(records) if cube else lt.RecordGrid([cells] * records)
    return lt.Histogram(cells), domain, [np.eye(cells, dtype=np.int64)] * records


def histogram_of_counts(draw: st.DrawFn) -> Case:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    unit = np.eye(len(sizes), dtype=np.int64)
    tables = [np.arange(n)[:, None] * row for n, row in zip(sizes, unit, strict=True)]
    return lt.Histogram(len(sizes), given="counts"), lt.Hypergrid(sizes), tables


def contingency_tables(draw: st.DrawFn) -> Case:
    attributes = draw(st.sampled_from([(2, 2), (2, 3), (2, 2, 2)]))
    names = st.lists(
        st.integers(0, len(attributes) - 1), min_size=1, max_size=len(attributes), unique=True
    )
    margins = draw(st.lists(names, min_size=1, max_size=3))
    rows = []
    for code in range(math.prod(attributes)):
        own = np.unravel_index(code, attributes)
        parts = []
        for margin in margins:
            table = np.zeros([attributes[j] for j in margin], dtype=np.int64)
            table[tuple(own[j] for j in margin)] = 1
            parts.append(table.reshape(-1))
        rows.append(np.concatenate(parts))
    if draw(st.booleans()):
        domain: Domain = lt.RecordGrid([len(rows)] * draw(st.integers(1, 3)))
        statistic = lt.statistics.ContingencyTables(attributes, margins=margins)
        return statistic, domain, [np.array(rows)] * domain.dimension
    sizes = draw(st.lists(st.integers(1, 2), min_size=len(rows), max_size=len(rows)))
    counted = lt.statistics.ContingencyTables(
        attributes, margins=margins, given="counts", sizes=sizes
    )
    tables = [np.arange(n)[:, None] * row for n, row in zip(sizes, rows, strict=True)]
    return counted, lt.Hypergrid(sizes), tables


def counting_queries(draw: st.DrawFn) -> Case:
    queries, records = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    signs = np.array(
        [[draw(st.integers(-1, 1)) for _ in range(records)] for _ in range(queries)],
        dtype=np.int64,
    )
    base = np.array(draw(st.lists(st.integers(-3, 3), min_size=queries, max_size=queries)))
    tables = [np.stack([0 * column, column]) for column in signs.T]
    tables[0] = tables[0] + base
    return lt.statistics.CountingQueries(signs, base=base), lt.Hypercube(records), tables


KINDS = [
    count,
    weighted_sum,
    histogram_of_records,
    histogram_of_counts,
    contingency_tables,
    counting_queries,
]


@st.composite
def named_sums(draw: st.DrawFn) -> Case:
    return draw(st.sampled_from(KINDS))(draw)


@pytest.mark.slow
@given(named_sums())
@small
def test_a_named_sum_is_what_enumeration_finds(case: Case) -> None:
    statistic, domain, _ = case
    check_statistic(statistic, domain)


@pytest.mark.slow
@given(named_sums())
@small
def test_a_named_sum_is_the_sum_of_its_tables(case: Case) -> None:
    statistic, domain, tables = case
    general = lt.statistics.Contributions.each(tables)
    points = domain.points(np.arange(domain.size))
    assert np.array_equal(statistic.values(points), general.values(points))
    some = points[:: max(1, len(points) // 20)]
    batch = PointBatch(some, *domain.neighbour_changes(some))
    values = statistic.values(some)
    changed = statistic.changed_values(batch, values)
    assert np.array_equal(changed, general.changed_values(batch, values))
    assert np.array_equal(values, statistic.values(some)), "the given values are left as they are"
    assert statistic.edge_count(domain) == general.edge_count(domain)
    assert set(listed_pairs(statistic, domain)) == set(listed_pairs(general, domain))


@given(named_sums())
@small
def test_records_of_one_kind_may_be_exchanged(case: Case) -> None:
    statistic, domain, tables = case
    kinds = statistic.kinds(domain)
    assert sorted(set(kinds.tolist())) == list(range(int(kinds.max()) + 1))
    steps = [np.diff(table, axis=0) for table in tables]
    same = np.array([[np.array_equal(a, b) for b in steps] for a in steps])
    assert np.all(same[kinds[:, None] == kinds[None, :]])


@given(named_sums())
@small
def test_differences_say_which_values_are_reached(case: Case) -> None:
    statistic, domain, _ = case
    sets = statistic.difference_sets(domain)
    if sets is not None:
        reached = statistic.values(domain.points(np.arange(domain.size)))
        assert sets.values == len(set(reached.tolist()))
        assert sets.edges == len(true_pairs(statistic, domain))


@pytest.mark.slow
@given(named_sums())
@small
def test_what_is_not_an_edge_is_realised_by_nothing(case: Case) -> None:
    statistic, domain, _ = case
    pairs = true_pairs(statistic, domain)
    reached = np.unique(statistic.values(domain.points(np.arange(domain.size))), axis=0)[:8]
    for a in [*reached, reached[-1] + 1, reached[0] - 1]:
        for b in reached:
            # A change that the sum does not show is not an edge of the statistic.
            if pair_of(a, b) not in pairs and not np.array_equal(a, b):
                with pytest.raises(InputError):
                    statistic.realise(domain, a, b)


@given(named_sums(), named_sums())
@small
def test_named_sums_compare_by_what_they_are(case: Case, other: Case) -> None:
    statistic = case[0]
    again = pickle.loads(pickle.dumps(statistic))
    assert again == statistic
    assert hash(again) == hash(statistic)
    assert repr(again) == repr(statistic)
    assert (statistic == other[0]) == (
        type(statistic) is type(other[0]) and repr(statistic) == repr(other[0])
    ) or isinstance(statistic, lt.statistics.CountingQueries | lt.statistics.ContingencyTables)
    assert statistic != lt.statistics.Contributions.each(case[2]), "the name belongs to it"
