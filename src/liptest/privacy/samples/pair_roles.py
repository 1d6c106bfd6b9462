"""The parts that neighbouring pairs play in covers and in matchings (theory 3.9, 3.16).

Covers of the bad pairs bound the exception mass from above, fractional matchings of them from
below, by duality.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution
from liptest.data.domains import Hypercube, Hypergrid
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.errors import InputError
from liptest.privacy.methods import is_lighter_end, pad_marginals

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

# Sums of logs are good to far more digits than this leaves.
_ROUNDED = 1.0 - 1e-9
# Records with more values than this have no useful colour classes.
_MOST_COLOURS = 4


@dataclass(frozen=True)
class Roles:
    """The parts that the m pairs (centre, changed point) of a batch play.

    ``assigned``: the pair counts for its centre. Each neighbouring pair of the domain counts for
    one of its ends: for product laws the lighter one. ``ratio``: mass of the changed point over
    that of the centre; ``matching``: which set of disjoint pairs it is in.
    """

    assigned: NDArray[np.bool_]
    ratio: Floats
    matching: Indices


@dataclass(frozen=True, eq=False)
class Geometry:
    """Covers and matchings of the neighbouring pairs of a distribution's domain."""

    distribution: Distribution

    @property
    def has_masses(self) -> bool:
        """Whether the lighter end of a pair is known."""
        return self.distribution.has_log_mass

    @cached_property
    def most_neighbours(self) -> int:
        """Largest number of neighbours of a dataset."""
        domain = self.distribution.domain
        others = domain.size_array - 1
        return int((np.minimum(others, 2) if isinstance(domain, Hypergrid) else others).sum())

    @cached_property
    def colours(self) -> int:
        """Classes of datasets without neighbours in their own class; 1 where there are too many.

        The datasets outside one class meet every neighbouring pair.
        """
        domain = self.distribution.domain
        if isinstance(domain, (Hypercube, Hypergrid)):
            return 2
        return max(domain.sizes) if max(domain.sizes) <= _MOST_COLOURS else 1

    def colour(self, points: NDArray[Any]) -> Indices:
        """Class of each of (n, d) datasets: replacing or moving one value changes the sum."""
        return np.asarray(points.sum(axis=1, dtype=np.int64) % self.colours)

    @cached_property
    def matchings(self) -> int:
        """Number of sets of disjoint pairs that ``roles`` tells apart."""
        return int(self._offsets[-1])

    @cached_property
    def _offsets(self) -> Indices:
        # Pairs of values (a, b) of a coordinate: by the lower one's parity on a line, by a + b
        # modulo the number of values for records, so that no value occurs twice in a set.
        domain = self.distribution.domain
        if isinstance(domain, Hypercube):
            return np.arange(domain.dimension + 1)
        sets = np.full(domain.dimension, 2)
        if not isinstance(domain, Hypergrid):
            sets = domain.size_array
        return np.concatenate([[0], np.cumsum(sets)])

    def matching(self, coordinates: Indices, here: Indices, there: Indices) -> Indices:
        """Set of disjoint pairs to which the change of one coordinate belongs."""
        domain = self.distribution.domain
        start = self._offsets[coordinates]
        if isinstance(domain, Hypercube):
            return np.asarray(start)
        if isinstance(domain, Hypergrid):
            return np.asarray(start + np.minimum(here, there) % 2)
        return np.asarray(start + (here + there) % domain.size_array[coordinates])

    def roles(self, points: PointBatch) -> Roles:
        """Roles of all pairs of a batch; only where masses are known."""
        here = points.centres[points.rows, points.coordinates].astype(np.int64)
        matching = self.matching(points.coordinates, here, points.values)
        if not isinstance(self.distribution, ProductDistribution):
            # Rounding could let masses of two batches disagree on the lighter end.
            return Roles(here > points.values, self._ratio(points), matching)
        own = self._masses[points.coordinates, here]
        other = self._masses[points.coordinates, points.values]
        lighter = is_lighter_end(own, other, here, points.values)
        return Roles(lighter, other / own, matching)

    def _ratio(self, points: PointBatch) -> Floats:
        logs = self.distribution.log_mass(points.array())
        own = logs[: len(points.centres)]
        if np.any(np.isneginf(own)):
            raise InputError(
                "log_mass: the sampler drew a dataset to which log_mass gives probability 0; the "
                "two must describe the same law",
                name="log_mass",
            )
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(logs[len(points.centres) :] - own[points.rows]) * _ROUNDED)

    @cached_property
    def _masses(self) -> Floats:
        return pad_marginals(cast(ProductDistribution, self.distribution))
