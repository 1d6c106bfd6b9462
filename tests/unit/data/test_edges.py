"""Edge laws against all neighbouring pairs, in exact arithmetic (theory 2.1, 3.5)."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.data.edges import EdgeLaw, edge_distribution, min_mass_edges, variance_edges
from liptest.data.product import ProductDistribution
from liptest.errors import InputError

Pair = tuple[tuple[int, ...], tuple[int, ...]]

CUBES = [
    ProductDistribution.uniform(Hypercube(3)),
    ProductDistribution.bernoulli([0.5, 0.125, 0.75, 1 / 3]),
    ProductDistribution.bernoulli([1.0, 0.25, 0.0]),
    ProductDistribution.bernoulli([1 - 2.0**-53, 1e-300]),
]
GRIDS = [
    ProductDistribution.uniform(Hypergrid([3, 2])),
    ProductDistribution(Hypergrid([4, 1, 2]), [[0.5, 0.0, 0.25, 0.25], [1.0], [0.125, 0.875]]),
    ProductDistribution(RecordGrid([4, 1, 2]), [[0.5, 0.0, 0.25, 0.25], [1.0], [0.125, 0.875]]),
    ProductDistribution(RecordGrid([3, 3]), [[0.25, 0.25, 0.5], [1 / 3, 1 / 3, 1 / 3]]),
]


def enumerated(law: EdgeLaw) -> dict[Pair, Fraction]:
    """Probability of each edge, not normalised, from the classes of the law."""
    distribution = law.distribution
    domain = distribution.domain
    found: dict[Pair, Fraction] = {}
    classes = zip(law.coordinates, law.lower, law.upper, law.weights, strict=True)
    for r, low, high, weight in classes:
        for x in domain.points(np.arange(domain.size)):
            if x[r] != low:
                continue
            rest = [distribution.exact_marginal(s)[x[s]] for s in range(len(x)) if s != r]
            mass = Fraction(float(weight))
            for factor in rest:
                mass *= factor
            y = x.copy()
            y[r] = high
            pair = (tuple(x.tolist()), tuple(y.tolist()))
            assert pair not in found
            found[pair] = mass
    return found


def neighbouring_pairs(domain: Domain) -> list[Pair]:
    points = domain.points(np.arange(domain.size))
    return [
        (tuple(x.tolist()), tuple(y.tolist()))
        for x in points
        for y in domain.neighbours(x)
        if tuple(x.tolist()) < tuple(y.tolist())
    ]


def check_law(law: EdgeLaw, mass: Callable[[Pair], Fraction]) -> None:
    pairs = neighbouring_pairs(law.distribution.domain)
    edges = enumerated(law)
    assert set(edges) == set(pairs)
    for pair in pairs:
        assert float(edges[pair]) == pytest.approx(float(mass(pair)), rel=1e-15, abs=0)
    assert float(sum(edges.values())) == pytest.approx(law.total, rel=1e-15, abs=0)


@pytest.mark.parametrize("distribution", [*CUBES, *GRIDS], ids=str)
def test_min_mass_edges_have_the_smaller_mass(distribution: ProductDistribution) -> None:
    check_law(
        min_mass_edges(distribution),
        lambda pair: min(distribution.exact_mass(end) for end in pair),
    )


def direction(pair: Pair) -> int:
    return next(r for r, (a, b) in enumerate(zip(*pair, strict=True)) if a != b)


def rest(distribution: ProductDistribution, pair: Pair) -> Fraction:
    mass = Fraction(1)
    for r, value in enumerate(pair[0]):
        if r != direction(pair):
            mass *= distribution.exact_marginal(r)[value]
    return mass


@pytest.mark.parametrize("distribution", CUBES, ids=str)
def test_variance_edges_have_variance_times_rest(distribution: ProductDistribution) -> None:
    def mass(pair: Pair) -> Fraction:
        zero, one = distribution.exact_marginal(direction(pair))
        return zero * one * rest(distribution, pair)

    check_law(variance_edges(distribution), mass)


@pytest.mark.parametrize("distribution", CUBES, ids=str)
def test_the_edges_of_the_paper_have_the_mass_of_both_ends(
    distribution: ProductDistribution,
) -> None:
    """D_E: a uniform non-degenerate coordinate of x ~ D is flipped."""
    p = distribution.probabilities
    moving = ((p > 0) & (p < 1)).tolist()
    law = edge_distribution(distribution)
    assert law.total == sum(moving)

    def mass(pair: Pair) -> Fraction:
        both = sum((distribution.exact_mass(end) for end in pair), Fraction(0))
        return both if moving[direction(pair)] else Fraction(0)

    check_law(law, mass)


@pytest.mark.parametrize("build", [min_mass_edges, variance_edges, edge_distribution])
def test_draws_are_edges_of_positive_weight(build: Callable[..., EdgeLaw]) -> None:
    law = build(ProductDistribution.bernoulli([1.0, 0.25, 0.0, 0.5]))
    batch = law.draw(np.random.default_rng(1), 400)
    assert len(batch.centres) == len(batch.rows) == 400
    assert np.array_equal(batch.rows, np.arange(400))
    assert set(batch.coordinates) == {1, 3}
    assert np.all(batch.centres[:, [0, 2]] == [1, 0])
    assert np.all(batch.centres[batch.rows, batch.coordinates] == 0)
    assert np.all(batch.values == 1)


def test_draws_on_grids_join_neighbouring_values() -> None:
    for distribution in GRIDS:
        batch = min_mass_edges(distribution).draw(np.random.default_rng(2), 300)
        ends = batch.array()
        domain = distribution.domain
        assert np.all(domain.distance(ends[:300], ends[300:]) == 1)
        assert np.all(np.isfinite(distribution.log_mass(ends)))


@pytest.mark.parametrize("build", [min_mass_edges, variance_edges, edge_distribution])
def test_without_moving_coordinates_there_are_no_edges(build: Callable[..., EdgeLaw]) -> None:
    law = build(ProductDistribution.bernoulli([1.0, 0.0]))
    assert law.total == 0.0
    with pytest.raises(InputError, match="degenerate"):
        law.draw(np.random.default_rng(1), 1)


def test_a_grid_of_single_values_has_no_edges() -> None:
    for kind in (Hypergrid, RecordGrid):
        law = min_mass_edges(ProductDistribution.uniform(kind([1, 1])))
        assert law.total == 0.0
        assert len(law.weights) == 0


@pytest.mark.parametrize("build", [variance_edges, edge_distribution])
def test_laws_of_the_cube_refuse_grids(build: Callable[..., EdgeLaw]) -> None:
    with pytest.raises(InputError, match=r"needs a Hypercube, got Hypergrid\(\[2, 2\]\)"):
        build(ProductDistribution.uniform(Hypergrid([2, 2])))


def test_pickling_keeps_the_law() -> None:
    law = min_mass_edges(CUBES[1])
    law.draw(np.random.default_rng(1), 1)
    again = pickle.loads(pickle.dumps(law))
    drawn = [x.draw(np.random.default_rng(3), 50).array() for x in (law, again)]
    assert np.array_equal(*drawn)
