from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.edges import min_mass_edges
from liptest.lipschitz.testers.search_trees import (
    MAX_OPTIMAL,
    make_balanced_tree,
    optimal_tree,
    search_tree,
    tree_pairs,
)

WEIGHTS = st.lists(st.integers(0, 50), min_size=1, max_size=9).filter(any)


def least_cost(weights):
    """Least sum of weight * depth over all trees, by trying every root of every interval."""

    @cache
    def cost(first, stop):
        if first == stop:
            return 0
        inside = sum(weights[first:stop])
        return inside + min(cost(first, k) + cost(k + 1, stop) for k in range(first, stop))

    return cost(0, len(weights)) - sum(weights)


def assert_search_tree(tree):
    """Between a value and its ancestor lie only descendants of the ancestor."""
    n = len(tree.parents)
    assert np.count_nonzero(tree.parents < 0) == 1
    above = [set(tree.ancestors(v).tolist()) for v in range(n)]
    for v in range(n):
        for a in above[v]:
            assert all(a in above[u] for u in range(min(a, v), max(a, v) + 1) if u != a)


@pytest.mark.slow
@given(WEIGHTS)
def test_the_optimal_tree_has_least_expected_depth(weights):
    tree = optimal_tree(np.array(weights, dtype=float))
    assert_search_tree(tree)
    assert int(np.array(weights) @ tree.depths) == least_cost(tuple(weights))


@pytest.mark.slow
@given(WEIGHTS)
def test_the_balanced_tree_is_a_search_tree_near_the_entropy(weights):
    mass = np.array(weights) / sum(weights)
    tree = make_balanced_tree(mass)
    assert_search_tree(tree)
    positive = mass[mass > 0]
    assert tree.find_expected_depth(mass) <= float(-positive @ np.log2(positive)) + 2


@given(st.integers(0, 1000))
def test_two_values_cost_the_lighter_one(thousandths):
    p = thousandths / 1000
    mass = np.array([1 - p, p])
    assert search_tree(mass).find_expected_depth(mass) == min(p, 1 - p)


@pytest.mark.parametrize(
    ("weights", "depths", "expected"),
    [
        ([1], [0], 0),
        ([1, 1, 1], [1, 0, 1], Fraction(2, 3)),
        ([1] * 7, [2, 1, 2, 0, 2, 1, 2], Fraction(10, 7)),
        ([8, 4, 2, 1], [0, 1, 2, 3], Fraction(11, 15)),
    ],
)
def test_known_trees(weights, depths, expected):
    mass = np.array(weights) / sum(weights)
    tree = search_tree(mass)
    assert tree.depths.tolist() == depths
    assert tree.find_expected_depth(mass) == pytest.approx(float(expected), abs=1e-15)


def test_ancestors_start_with_the_parent():
    tree = search_tree(np.array([8.0, 4.0, 2.0, 1.0]))
    assert tree.ancestors(3).tolist() == [2, 1, 0]
    assert tree.ancestors(0).tolist() == []


def test_long_lines_get_a_balanced_tree():
    mass = np.full(MAX_OPTIMAL + 48, 1.0 / (MAX_OPTIMAL + 48))
    assert search_tree(mass).depths.max() == 11  # 2048 values


def test_a_long_line_without_mass_stays_shallow():
    mass = np.zeros(5000)
    mass[0] = 1.0
    assert make_balanced_tree(mass).depths.max() <= 14


def test_tree_pairs_carry_the_mass_of_their_value():
    law = lt.ProductDistribution(
        lt.Hypergrid([3, 1, 4]), [[0.2, 0.7, 0.1], [1.0], [0.0, 0.5, 0.25, 0.25]]
    )
    pairs = tree_pairs(law)
    found = sorted(zip(pairs.coordinates, pairs.lower, pairs.upper, pairs.weights, strict=True))
    # Second tree: root 1, below it 2 or 3 with the other under it; value 0 has no mass.
    assert [(int(r), int(v)) for r, v, *_ in found[:2]] == [(0, 0), (0, 2)]
    assert [w for *_, w in found[:2]] == pytest.approx([0.2, 0.1])
    assert [int(r) for r, *_ in found[2:]] == [2, 2, 2]
    assert pairs.total == pytest.approx(0.3 + 0.75)


def test_on_the_cube_they_are_the_edges_of_min_mass():
    law = lt.ProductDistribution.bernoulli([0.1, 0.5, 0.8, 1.0])
    assert tree_pairs(law).weights == pytest.approx(min_mass_edges(law).weights)
    grid = lt.ProductDistribution(lt.Hypergrid([2] * 4), law.marginals())
    assert tree_pairs(grid).total == pytest.approx(min_mass_edges(law).total)
