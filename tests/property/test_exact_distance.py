"""Distance and covers against brute force, on domains of at most eight points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.lipschitz.covers import ExactTable, exact_masses, minimum_cover
from liptest.lipschitz.distance import bounds, distance_to_lipschitz
from liptest.lipschitz.repair import mcshane

DOMAINS = [
    Hypercube(1),
    Hypercube(2),
    Hypercube(3),
    Hypergrid([8]),
    Hypergrid([4, 2]),
    Hypergrid([2, 3]),
    RecordGrid([3, 2]),
    RecordGrid([4, 2]),
    RecordGrid([7]),
]
Pairs = list[tuple[int, int]]


@st.composite
def product_laws(draw: st.DrawFn) -> ProductDistribution:
    """Product laws, many of them with values of mass 0."""
    domain = draw(st.sampled_from(DOMAINS))
    marginals = []
    for size in domain.sizes:
        weights = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
        total = sum(weights)
        marginals.append([w / total for w in weights] if total else [1.0] + [0.0] * (size - 1))
    return ProductDistribution(domain, marginals)


@st.composite
def functions(draw: st.DrawFn, domain: Domain) -> np.ndarray:
    """Integers (ties), rationals (ties no float can express) and floats of every size."""
    kind = draw(
        st.sampled_from(
            [
                st.integers(0, 7),
                st.fractions(0, 5, max_denominator=4),
                st.floats(-4, 4),
                st.floats(allow_nan=False, allow_infinity=False),
                st.sampled_from([0.1, 0.2, 0.3, 1.1, 1.2, 2.1, 2.3]),
            ]
        )
    )
    values = draw(st.lists(kind, min_size=domain.size, max_size=domain.size))
    table = np.empty(domain.size, dtype=object)
    table[:] = values
    return table.reshape(domain.sizes)


laws_and_functions = product_laws().flatmap(
    lambda law: st.tuples(st.just(law), functions(law.domain))
)


def violated(function: np.ndarray, domain: Domain) -> Pairs:
    points = domain.points(np.arange(domain.size))
    values = [Fraction(value) for value in function.flat]
    apart = domain.distances(points, points)
    return [
        (i, j)
        for i in range(domain.size)
        for j in range(i)
        if abs(values[i] - values[j]) > int(apart[i, j])
    ]


def lightest(pairs: Pairs, weights: list[Fraction]) -> Fraction:
    total = sum(weights, Fraction(0))
    return (
        min(
            sum((w for i, w in enumerate(weights) if mask >> i & 1), Fraction(0))
            for mask in range(1 << len(weights))
            if all((mask >> i | mask >> j) & 1 for i, j in pairs)
        )
        if pairs
        else total - total
    )


def bounded(
    function: np.ndarray, law: ProductDistribution, max_edges: int
) -> tuple[Fraction, Fraction, list[int]]:
    """Bounds by a matching of the violated edges (no edges allowed), or by their cover."""
    table = ExactTable.of(function, law.domain, Fraction(1))
    weights, denominator = exact_masses(law, law.domain.points(np.arange(law.domain.size)))
    found = bounds(table, law, weights, max_edges=max_edges)
    return found.lower / denominator, found.upper / denominator, found.cover.tolist()


def masses(law: ProductDistribution) -> list[Fraction]:
    return [law.exact_mass(point) for point in law.domain.points(np.arange(law.domain.size))]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(laws_and_functions)
def test_distance_is_the_lightest_cover(case: tuple[ProductDistribution, np.ndarray]) -> None:
    law, function = case
    pairs, weights = violated(function, law.domain), masses(law)
    found = distance_to_lipschitz(function, law)
    assert found.value == found.lower == found.upper == lightest(pairs, weights)
    assert found.violated_pairs == len(pairs)
    cover = set(found.cover.tolist())
    assert all(i in cover or j in cover for i, j in pairs)
    assert sum((weights[i] for i in cover), Fraction(0)) == found.value


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(laws_and_functions)
def test_bounds_contain_the_distance(case: tuple[ProductDistribution, np.ndarray]) -> None:
    law, function = case
    pairs, weights = violated(function, law.domain), masses(law)
    exact = lightest(pairs, weights)
    for max_edges in (0, 100):
        lower, upper, members = bounded(function, law, max_edges)
        assert lower <= exact <= upper
        cover = set(members)
        assert all(i in cover or j in cover for i, j in pairs)
        assert sum((weights[i] for i in cover), Fraction(0)) >= upper


@settings(max_examples=20, deadline=None)
@given(laws_and_functions)
def test_bounds_are_at_least_those_of_theory_2_4(
    case: tuple[ProductDistribution, np.ndarray],
) -> None:
    law, function = case
    if not isinstance(law.domain, Hypercube):
        return
    weights, d = masses(law), law.domain.dimension
    edges = [
        pair for pair in violated(function, law.domain) if (pair[0] ^ pair[1]).bit_count() == 1
    ]
    found = [bounded(function, law, max_edges) for max_edges in (0, 100)]
    promised = Fraction(0)
    for r in range(d):
        zero, one = law.exact_marginal(r)
        along = [(i, j) for i, j in edges if i ^ j == 1 << (d - 1 - r)]
        chance = sum((weights[i] + weights[j] for i, j in along), Fraction(0))
        promised += 4 * zero * one * chance
        assert all(min(zero, one) * chance <= lower for lower, _, _ in found)
    assert all(upper <= promised for _, upper, _ in found)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(laws_and_functions)
def test_mcshane_changes_only_the_cover(case: tuple[ProductDistribution, np.ndarray]) -> None:
    law, function = case
    found = distance_to_lipschitz(function, law)
    extended = mcshane(function, law.domain, found.cover)
    assert violated(extended, law.domain) == []
    kept = np.setdiff1d(np.arange(law.domain.size), found.cover)
    exact = np.array([Fraction(value) for value in function.flat], dtype=object)
    assert (extended.reshape(-1)[kept] == exact[kept]).all()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(laws_and_functions, st.data())
def test_no_lipschitz_function_is_nearer(
    case: tuple[ProductDistribution, np.ndarray], data: st.DataObject
) -> None:
    law, function = case
    size = law.domain.size
    chosen = data.draw(st.lists(st.integers(0, size - 1), max_size=size))
    # Whatever is extended, off any set, the envelope is Lipschitz.
    other = mcshane(function, law.domain, chosen)
    assert violated(other, law.domain) == []
    exact = [Fraction(value) for value in function.flat]
    changed = [a != b for a, b in zip(other.flat, exact, strict=True)]
    cost = sum((w for w, moved in zip(masses(law), changed, strict=True) if moved), Fraction(0))
    value = distance_to_lipschitz(function, law).value
    assert value is not None
    assert value <= cost


weighted_graphs = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=12).map(
            lambda pairs: [(i, j) for i, j in pairs if i != j]
        ),
        st.lists(st.fractions(0, 3, max_denominator=5), min_size=n, max_size=n),
    )
)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(weighted_graphs)
def test_covers_of_any_graph(case: tuple[Pairs, list[Fraction]]) -> None:
    pairs, weights = case
    exact = lightest(pairs, weights)
    cover = minimum_cover(pairs, weights)
    assert cover.lower <= exact <= cover.upper <= 2 * cover.lower
    members = set(cover.members.tolist())
    assert all(i in members or j in members for i, j in pairs)
    assert sum((weights[i] for i in members), Fraction(0)) == cover.upper


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(weighted_graphs)
def test_bipartite_covers_are_exact(case: tuple[Pairs, list[Fraction]]) -> None:
    pairs, weights = case
    bipartite = [(i, j) for i, j in pairs if (i + j) % 2]
    assert minimum_cover(bipartite, weights).value == lightest(bipartite, weights)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(weighted_graphs)
def test_transitive_covers_are_exact(case: tuple[Pairs, list[Fraction]]) -> None:
    pairs, weights = case
    n = len(weights)
    above = np.zeros((n, n), dtype=bool)
    for i, j in pairs:
        above[max(i, j), min(i, j)] = True
    for middle in range(n):
        above |= np.outer(above[:, middle], above[middle])
    closed = [(i, j) for i, j in np.argwhere(above).tolist()]
    cover = minimum_cover(closed, weights, transitive=True)
    assert cover.value == lightest(closed, weights)
    members = set(cover.members.tolist())
    assert all(i in members or j in members for i, j in closed)
