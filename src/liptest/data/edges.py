"""Laws on neighbouring pairs of a product distribution, for testers and for privacy.

An edge is drawn as a direction, a pair of values in that direction, and the other coordinates
from D. ``total`` is the normaliser that theorems quote: S for min-mass, Q for variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Hypercube
from liptest.data.draws import IndexSampler
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.errors import InputError

# Every chunk of a run asks for the same law again.
_KEPT = 2


@dataclass(frozen=True, eq=False)
class EdgeLaw:
    """A law on neighbouring pairs: one row per (direction, value pair).

    Parameters
    ----------
    distribution
        The product law of the coordinates off the direction.
    coordinates, lower, upper
        (m,) the direction and the two values of each class of edges.
    weights
        (m,) masses, not normalised; their sum is ``total``.
    """

    distribution: ProductDistribution
    coordinates: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    weights: NDArray[np.float64]

    @cached_property
    def total(self) -> float:
        """Sum of the weights (S of theory 3.5, Q of 2.1)."""
        return float(self.weights.sum())

    def draw(self, rng: np.random.Generator, count: int) -> PointBatch:
        """``count`` edges: centres at the lower value, one change each to the upper value."""
        classes = self._sampler.draw(rng, count)
        centres = self.distribution.sample(rng, count)
        rows = np.arange(count)
        coordinates = self.coordinates[classes]
        centres[rows, coordinates] = self.lower[classes]
        return PointBatch(centres, rows, coordinates, self.upper[classes])

    @cached_property
    def _sampler(self) -> IndexSampler:
        return IndexSampler(self.weights)

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key != "_sampler"}


@lru_cache(maxsize=_KEPT)
def min_mass_edges(distribution: ProductDistribution) -> EdgeLaw:
    """Edges of probability min(p_x, p_y)/S; S = sum over (r, pair) of the smaller marginal mass."""
    domain = distribution.domain
    if isinstance(domain, Hypercube):
        p = distribution.probabilities
        return _cube_edges(distribution, np.minimum(p, 1.0 - p))
    coordinates, lower, upper, weights = [], [], [], []
    for r in range(domain.dimension):
        mass, pairs = distribution.marginal(r), domain.value_pairs(r)
        coordinates.append(np.full(len(pairs), r))
        lower.append(pairs[:, 0])
        upper.append(pairs[:, 1])
        weights.append(np.minimum(mass[pairs[:, 0]], mass[pairs[:, 1]]))
    return EdgeLaw(
        distribution,
        np.concatenate(coordinates),
        np.concatenate(lower),
        np.concatenate(upper),
        np.concatenate(weights),
    )


@lru_cache(maxsize=_KEPT)
def variance_edges(distribution: ProductDistribution) -> EdgeLaw:
    """Cube edges with direction weights v_r = p_r (1 - p_r); total Q."""
    require_cube(distribution, "variance edges")
    p = distribution.probabilities
    return _cube_edges(distribution, p * (1.0 - p))


@lru_cache(maxsize=_KEPT)
def edge_distribution(distribution: ProductDistribution) -> EdgeLaw:
    """The paper's D_E: a uniform non-degenerate coordinate of x ~ D is flipped.

    As a law on unordered edges: direction uniform, other coordinates ~ D, which gives each
    edge (p_x + p_y)/d.
    """
    require_cube(distribution, "D_E")
    p = distribution.probabilities
    return _cube_edges(distribution, ((p > 0) & (p < 1)).astype(np.float64))


def require_cube(distribution: ProductDistribution, who: str) -> None:
    """Raise InputError unless the distribution lives on a Hypercube."""
    if not isinstance(distribution.domain, Hypercube):
        raise InputError(
            f"{who} needs a Hypercube, got {distribution.domain}; see the testers for grids",
            name="distribution",
        )


def _cube_edges(distribution: ProductDistribution, weights: NDArray[np.float64]) -> EdgeLaw:
    d = distribution.domain.dimension
    return EdgeLaw(
        distribution,
        np.arange(d),
        np.zeros(d, dtype=np.int64),
        np.ones(d, dtype=np.int64),
        weights,
    )
