"""Pr[one draw is violated] >= dist(f) / K, both sides exact: theorems 2.1, 2.2 and lemma 2.3."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.edges import edge_distribution, variance_edges
from liptest.lipschitz.distance import distance_to_lipschitz
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.search_trees import tree_pairs
from liptest.lipschitz.testers.variance_edges import VarianceEdges

EDGE_LAWS = {
    "CS12": edge_distribution,
    "VarianceEdges": variance_edges,
    "CDJS15": tree_pairs,
    "AJMR12": tree_pairs,
}
# Differences of these are exact in floats, as the exact distance needs them.
VALUES = st.sampled_from([-1.5, -1.25, -0.5, 0.0, 0.5, 1.0, 1.5, 2.25, 3.75, 9.0])


def marginals(size):
    weights = st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: np.array(w) / sum(w))


@st.composite
def laws(draw, kind, *, even=False):
    sizes = {
        lt.Hypercube: st.integers(1, 4).map(lambda d: (2,) * d),
        lt.Hypergrid: st.lists(st.integers(1, 4), min_size=1, max_size=2).map(tuple),
        lt.RecordGrid: st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple),
    }[kind]
    shape = draw(sizes)
    domain = lt.Hypercube(len(shape)) if kind is lt.Hypercube else kind(shape)
    if even:
        return lt.ProductDistribution.uniform(domain)
    return lt.ProductDistribution(domain, [draw(marginals(size)) for size in shape])


@st.composite
def tables(draw, domain):
    values = draw(st.lists(VALUES, min_size=domain.size, max_size=domain.size))
    return np.array(values).reshape(domain.sizes)


def lines(law, coordinate):
    """Each line of a direction with the mass of its other coordinates."""
    domain = law.domain
    for point in domain.points(np.arange(domain.size)):
        if point[coordinate] == 0:
            masses = [law.marginal(r)[v] for r, v in enumerate(point) if r != coordinate]
            yield domain.line(point, coordinate), float(np.prod(masses))


def violated_by_pairs(edges, table):
    """Pr[a pair of the law is violated], by enumeration."""
    law, total = edges.distribution, 0.0
    for r in range(law.domain.dimension):
        classes = np.flatnonzero(edges.coordinates == r)
        for line, mass in lines(law, r):
            values = table.reshape(-1)[law.domain.index(line)]
            for k in classes:
                a, b = int(edges.lower[k]), int(edges.upper[k])
                if abs(values[a] - values[b]) > abs(a - b):
                    total += mass * edges.weights[k]
    return total / edges.total


def violated_lines(law, table):
    weights = [1.0 - law.marginal(r).max() for r in range(law.domain.dimension)]
    total = sum(
        weights[r] * mass
        for r in range(law.domain.dimension)
        for line, mass in lines(law, r)
        if np.ptp(table.reshape(-1)[law.domain.index(line)]) > 1
    )
    return total / sum(weights)


def check_bound(tester, law, table, chance):
    distance = float(distance_to_lipschitz(table, law).value)
    constant = tester.detection_constant(law)
    if constant == 0:
        assert distance == 0
    else:
        assert chance() >= distance / constant - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("tester", [VarianceEdges(), CDJS15(), CS12()], ids=lambda t: t.name)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_edges_of_the_cube(tester, data):
    law = data.draw(laws(lt.Hypercube, even=tester.name == "CS12"))
    table = data.draw(tables(law.domain))
    edges = EDGE_LAWS[tester.name](law)
    check_bound(tester, law, table, lambda: violated_by_pairs(edges, table))


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_search_tree_pairs_of_grids(data):
    law = data.draw(laws(lt.Hypergrid))
    table = data.draw(tables(law.domain))
    check_bound(CDJS15(), law, table, lambda: violated_by_pairs(tree_pairs(law), table))


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_lines_of_records(data):
    law = data.draw(laws(lt.RecordGrid))
    table = data.draw(tables(law.domain))
    check_bound(HammingLines(), law, table, lambda: violated_lines(law, table))


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_violated_pair_of_a_line_is_seen_by_an_ancestor(data):
    mass = data.draw(st.integers(1, 9).flatmap(marginals))
    law = lt.ProductDistribution(lt.Hypergrid([len(mass)]), [mass])
    table = data.draw(tables(law.domain))
    edges = tree_pairs(law)
    seen = {
        int(v)
        for a, b in zip(edges.lower, edges.upper, strict=True)
        if abs(table[a] - table[b]) > abs(a - b)
        for v in (a, b)
    }
    for u, v in combinations(np.flatnonzero(mass > 0).tolist(), 2):
        if abs(table[u] - table[v]) > v - u:
            assert seen & {u, v}


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_printed_count_of_ajmr12_follows_from_the_bound(size):
    # Without rounding loss: pairs at r = step need no more than K/e ln(1/w) with K = 4 d Delta_n.
    law = lt.ProductDistribution.uniform(lt.Hypergrid([size, size]))
    tester = AJMR12(range_step=1.0)
    pairs = tester.pairs_needed(law, 1, 0.2, 0.1)
    assert pairs * 0.2 / CDJS15().detection_constant(law) >= np.log(2 / 0.1) * (1 - 1e-12)
