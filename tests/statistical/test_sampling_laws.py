"""Draws have the laws that are asked for; other laws, a little off, fail the same check."""

from __future__ import annotations

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid, RecordGrid
from liptest.data.edges import EdgeLaw, edge_distribution, min_mass_edges, variance_edges
from liptest.data.product import ProductDistribution
from tests.statistical.binomial import DRAWS, fits

pytestmark = pytest.mark.slow

LAWS = [
    (
        ProductDistribution.bernoulli([0.5, 0.1, 0.0, 1.0, 1 / 3]),
        ProductDistribution.bernoulli([0.5, 0.11, 0.0, 1.0, 1 / 3]),
    ),
    (
        ProductDistribution(Hypergrid([3, 1, 4]), [[0.2, 0.7, 0.1], [1.0], [0.4, 0.0, 0.3, 0.3]]),
        ProductDistribution(Hypergrid([3, 1, 4]), [[0.2, 0.7, 0.1], [1.0], [0.41, 0.0, 0.3, 0.29]]),
    ),
    (
        ProductDistribution.uniform(RecordGrid([18, 2])),
        ProductDistribution(RecordGrid([18, 2]), [[1 / 18] * 18, [0.45, 0.55]]),
    ),
]


def exact_masses(law: ProductDistribution) -> list[float]:
    return [float(law.exact_mass(x)) for x in law.domain.points(np.arange(law.domain.size))]


@pytest.mark.parametrize("pair", LAWS, ids=lambda pair: str(pair[0].domain))
def test_points_have_their_masses(pair: tuple[ProductDistribution, ProductDistribution]) -> None:
    for law, other in (pair, pair[::-1]):
        drawn = law.domain.index(law.sample(np.random.default_rng(20240501), DRAWS))
        counts = np.bincount(drawn, minlength=law.domain.size)
        assert fits(counts, exact_masses(law))
        assert not fits(counts, exact_masses(other))


def test_bits_are_independent_of_their_neighbours() -> None:
    """Rows share words of random bytes: pairs of adjacent bits and of adjacent rows."""
    law = ProductDistribution.bernoulli([0.3] * 7)
    points = law.sample(np.random.default_rng(3), DRAWS).astype(np.int64)
    flat = points.reshape(-1)
    masses = [0.49, 0.21, 0.21, 0.09]
    for shift in (1, 7, 8):
        codes = 2 * flat[:-shift:17] + flat[shift::17][: len(flat[:-shift:17])]
        assert fits(np.bincount(codes, minlength=4), masses)
    assert not fits(np.bincount(3 * flat[::17], minlength=4), masses)


def edge_index(law: EdgeLaw, seed: int) -> np.ndarray:
    batch = law.draw(np.random.default_rng(seed), DRAWS)
    r = batch.coordinates
    return np.asarray(law.distribution.domain.index(batch.centres) * len(law.coordinates) + r)


@pytest.mark.parametrize("build", [min_mass_edges, variance_edges, edge_distribution])
def test_edges_have_their_masses(build: object) -> None:
    cube = ProductDistribution.bernoulli([0.5, 0.1, 0.75])
    laws = {make: make(cube) for make in (min_mass_edges, variance_edges, edge_distribution)}
    law = laws.pop(build)  # type: ignore[call-overload]
    counts = np.bincount(edge_index(law, seed=9), minlength=24)
    assert fits(counts, edge_masses(law))
    assert all(not fits(counts, edge_masses(other)) for other in laws.values())


def edge_masses(law: EdgeLaw) -> list[float]:
    """Of (point at the lower value, direction), in the order of ``edge_index``."""
    d = law.distribution.domain.dimension
    masses = np.zeros((2**d, d))
    for i, x in enumerate(Hypercube(d).points(np.arange(2**d))):
        for r in range(d):
            if x[r] == 0:
                rest = law.distribution.exact_mass(x) / law.distribution.exact_marginal(r)[0]
                masses[i, r] = law.weights[r] / law.total * float(rest)
    return masses.reshape(-1).tolist()
