"""What one sample of neighbourhoods tells about a whole grid of epsilons (theory 3.9, 3.16).

For each pair of datasets that was compared: at how many epsilons of the grid may it break the
claim, and at how many does it certainly. For each pair also the part that it plays in covers (upper
bounds of the exception mass) and in fractional matchings (lower bounds, by duality).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution, ProductDistribution
from liptest.data.domains import Hypercube, Hypergrid
from liptest.data.points import PointBatch, compact_codes
from liptest.errors import InputError
from liptest.mechanisms.laws import INFINITE_LOSS, ComparableLaws
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import loss_slack

Indices = NDArray[np.int64]


Floats = NDArray[np.float64]


_DIGITS = 1e-11


# Sums of logs are good to far more digits than this leaves.
_ROUNDED = 1.0 - 1e-9


# Records with more values than this have no useful colour classes.
_MOST_COLOURS = 4


@dataclass(frozen=True)
class EpsilonGrid:
    """The epsilons of a profile, ascending, fixed before the data is looked at."""

    epsilons: tuple[float, ...]
    delta: float
    tolerance: float

    def __len__(self) -> int:
        return len(self.epsilons)

    @property
    def claims(self) -> list[Claim]:
        """One claim per epsilon."""
        return [Claim(e, self.delta, self.tolerance) for e in self.epsilons]

    @cached_property
    def thresholds(self) -> Floats:
        """epsilon' of each claim."""
        return np.array([claim.threshold for claim in self.claims])


def even_grid(top: float, points: int, delta: float, tolerance: float) -> EpsilonGrid:
    """``points`` epsilons up to a largest loss, without the last digits that rounding left there.

    The tolerance outweighs them, and a claim of epsilon 1 is then a point of the grid.
    """
    values = np.linspace(top / points, top, points).tolist()
    if tolerance >= _DIGITS:
        values = [float(f"{value:.12g}") for value in values]
    return EpsilonGrid(tuple(values), delta, tolerance)


@dataclass(frozen=True)
class Levels:
    """Of p pairs: the number of epsilons, from the smallest on, that each may or must break.

    ``above`` bounds the loss of each pair from above.
    """

    may: Indices
    must: Indices
    above: Floats


def pair_levels(laws: ComparableLaws, left: Indices, right: Indices, grid: EpsilonGrid) -> Levels:
    """Levels of pairs of distinct laws; each different pair is looked at once."""
    if len(left) == 0:
        none = np.zeros(0, dtype=np.int64)
        return Levels(none, none, np.zeros(0))
    code, inverse = compact_codes(left * (int(right.max()) + 1) + right)
    index = np.empty(len(code), dtype=np.int64)
    index[inverse] = np.arange(len(left))
    found = _levels(laws, left[index], right[index], grid)
    return Levels(found.may[inverse], found.must[inverse], found.above[inverse])


def _levels(laws: ComparableLaws, left: Indices, right: Indices, grid: EpsilonGrid) -> Levels:
    losses = laws.losses(left, right)
    slack = loss_slack(laws, left, right, losses)
    infinite, open_zeros = losses >= INFINITE_LOSS, laws.has_uncertain_zeros(left, right)
    above = np.where(infinite | open_zeros, np.inf, losses + slack)
    below = losses - slack
    if not laws.zeros_exact:
        # What looks like a zero may be an underflow: no loss is certain.
        below = np.where(infinite, 0.0, below)
    may = np.searchsorted(grid.thresholds, above, side="left")
    must = np.searchsorted(grid.thresholds, below, side="left")
    if grid.delta > 0:
        may, must = _delta_levels(laws, left, right, grid, may, slack)
        may = np.where(open_zeros, len(grid), may)
    return Levels(may, must, above)


def _delta_levels(
    laws: ComparableLaws,
    left: Indices,
    right: Indices,
    grid: EpsilonGrid,
    pure: Indices,
    slack: Floats,
) -> tuple[Indices, Indices]:
    # A divergence falls with epsilon, so what is certain at one epsilon is so at all smaller ones.
    may, must = np.zeros_like(pure), np.zeros_like(pure)
    for level, claim in enumerate(grid.claims):
        where = np.flatnonzero(pure > level)
        if len(where) == 0:
            break
        sticks = laws.hockey_sticks(left[where], right[where], claim.threshold)
        factor = 1.0 + math.exp(min(claim.threshold, 700.0))
        error = factor * (2 * slack[where] + 2.0**-48)
        may[where[sticks > claim.delta_threshold - error]] = level + 1
        must[where[sticks > claim.delta_threshold + error]] = level + 1
    return may, must


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
        lighter = (own < other) | ((own == other) & (here > points.values))
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
        distribution = cast(ProductDistribution, self.distribution)
        if isinstance(distribution.domain, Hypercube):
            return np.stack([1.0 - distribution.probabilities, distribution.probabilities], axis=1)
        table = np.zeros((distribution.domain.dimension, max(distribution.domain.sizes)))
        for r, mass in enumerate(distribution.marginals()):
            table[r, : len(mass)] = mass
        return table
