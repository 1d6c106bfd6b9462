"""Datasets that a search tries: structured ones first, then moves from what it has learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Domain, Hypercube, Hypergrid, IntArray, RecordGrid

# Constant datasets and single odd coordinates are tried for so many values and places.
_MOST_VALUES, _MOST_PLACES = 16, 4
_MOST_CELLS = 64


def constant(domain: Domain, value: int) -> IntArray:
    """Every coordinate at one value, or at its highest where that is lower."""
    return np.asarray(np.minimum(value, domain.size_array - 1).astype(domain.dtype))


def structured(distribution: Distribution, rng: np.random.Generator) -> IntArray:
    """Datasets at which boundary faults show, (n, d).

    All equal records (empty, full, one distinct value), all but one equal, halves, every other
    one, and the likeliest dataset of a product law.
    """
    domain = distribution.domain
    most = max(domain.sizes)
    values = _spread(most, _MOST_VALUES)
    found = [constant(domain, v) for v in (0, most - 1)]
    found += [constant(domain, v) for v in values if v not in (0, most - 1)]
    found += _odd_ones_out(domain, values, rng)
    found += _patterns(domain)
    if isinstance(domain, Hypergrid):
        found += _single_cells(domain)
    if isinstance(distribution, ProductDistribution):
        found.append(_likeliest(distribution))
    return np.array(found, dtype=domain.dtype)


def _spread(count: int, most: int) -> list[int]:
    return sorted({round(v) for v in np.linspace(0, count - 1, min(count, most))})


def _odd_ones_out(domain: Domain, values: list[int], rng: np.random.Generator) -> list[IntArray]:
    d = domain.dimension
    ends = [0, d - 1, *rng.permutation(d)[:_MOST_PLACES].tolist()]
    found = []
    for place in dict.fromkeys(ends):
        for base in (0, max(domain.sizes) - 1):
            for value in values:
                point = constant(domain, base)
                point[place] = min(value, domain.sizes[place] - 1)
                found.append(point)
    return found


def _single_cells(domain: Domain) -> list[IntArray]:
    # One cell holds everything; elsewhere such datasets are neighbours of constant ones.
    found = []
    for place in range(min(domain.dimension, _MOST_CELLS)):
        point = constant(domain, 0)
        point[place] = domain.sizes[place] - 1
        found.append(point)
    return found


def _patterns(domain: Domain) -> list[IntArray]:
    d, low, high = domain.dimension, constant(domain, 0), constant(domain, max(domain.sizes) - 1)
    places = np.arange(d)
    masks = [places < d // 2, places >= d // 2, places % 2 == 0, places % 2 == 1]
    return [np.where(mask, high, low) for mask in masks]


def _likeliest(distribution: ProductDistribution) -> IntArray:
    if "probabilities" in distribution.__dict__:
        return np.asarray(distribution.probabilities > 0.5).astype(distribution.domain.dtype)
    modes = [int(np.argmax(mass)) for mass in distribution.marginals()]
    return np.array(modes, dtype=distribution.domain.dtype)


def path(domain: Domain, start: IntArray, end: IntArray, rng: np.random.Generator) -> IntArray:
    """A shortest path of neighbours, its coordinates in random order; (distance + 1, d)."""
    steps = []
    for r in rng.permutation(np.flatnonzero(start != end)):
        steps += [(r, value) for value in _stops(domain, int(r), int(start[r]), int(end[r]))]
    points = np.repeat(start[None, :], len(steps) + 1, axis=0)
    for k, (r, value) in enumerate(steps, start=1):
        points[k:, r] = value
    return np.ascontiguousarray(points)


def _stops(domain: Domain, coordinate: int, start: int, end: int) -> list[int]:
    """Values of a shortest path in one coordinate, without the start."""
    if isinstance(domain, Hypergrid):
        return [*range(start, end, 1 if end > start else -1)[1:], end]
    if isinstance(domain, (Hypercube, RecordGrid)):
        return [end]
    before, edge = {start: start}, [start]
    while end not in before:
        edge = [
            after
            for value in edge
            for after in domain.other_values(coordinate, value).tolist()
            if before.setdefault(after, value) == value and after != start
        ]
    found = [end]
    while before[found[-1]] != start:
        found.append(before[found[-1]])
    return found[::-1]


@dataclass(frozen=True, eq=False)
class Proposals:
    """Kinds of moves; each gives one dataset, (d,)."""

    distribution: Distribution
    rng: np.random.Generator

    @property
    def domain(self) -> Domain:
        """Where the datasets live."""
        return self.distribution.domain

    def restart(self) -> IntArray:
        """A draw from the distribution."""
        return np.asarray(self.distribution.sample(self.rng, 1)[0])

    def uniform(self) -> IntArray:
        """Any dataset of the domain: also where the distribution has no mass."""
        return self._values(self.rng.random(self.domain.dimension))

    def few_values(self) -> IntArray:
        """Two different values in random shares: repeated records, counts at any level."""
        values = self.rng.integers(0, max(self.domain.sizes), size=2)
        first, second = (constant(self.domain, int(v)) for v in values)
        if values[0] == values[1]:
            second = constant(self.domain, 0)
        chosen = self.rng.random(self.domain.dimension) < self._share()
        return np.where(chosen, first, second)

    def _share(self) -> float:
        # Half the time near an end, where a table has few odd records.
        share = float(self.rng.random())
        if self.rng.random() < 0.5:
            share = float(self.domain.dimension**-share) / 2
        return share if self.rng.random() < 0.5 else 1.0 - share

    def block(self, point: IntArray) -> IntArray:
        """A block of coordinates set to one value, or each to a random one."""
        d = self.domain.dimension
        size = max(1, int(d ** self.rng.random()))
        start = int(self.rng.integers(0, d))
        places = (start + np.arange(size)) % d if self.rng.random() < 0.5 else None
        if places is None:
            places = self.rng.permutation(d)[:size]
        fresh = self.uniform()
        if self.rng.random() < 0.5:
            fresh = constant(self.domain, int(self.rng.integers(0, max(self.domain.sizes))))
        moved = point.copy()
        moved[places] = fresh[places]
        return moved

    def crossed(self, first: IntArray, second: IntArray) -> IntArray:
        """Each coordinate from one of two good datasets."""
        return np.where(self.rng.random(self.domain.dimension) < 0.5, first, second)

    def learnt(self, value_score: NDArray[np.float64]) -> IntArray:
        """Each coordinate at the value after which losses were largest, or often so.

        ``value_score`` holds sums and numbers of scores, (2, d, values).
        """
        sums, counts = value_score
        mean = np.where(counts > 0, sums / np.maximum(counts, 1), sums.sum() / max(counts.sum(), 1))
        width = np.arange(mean.shape[1])
        mean = np.where(width < self.domain.size_array[:, None], mean, -np.inf)
        finite = mean[np.isfinite(mean)]
        # Differences between coordinates are small: noise of their size keeps the choice open.
        scale = float(self.rng.random()) * (float(finite.std()) or 1.0)
        noise = self.rng.gumbel(size=mean.shape) * scale
        return np.asarray(np.argmax(mean + noise, axis=1).astype(self.domain.dtype))

    def _values(self, uniform: NDArray[np.float64]) -> IntArray:
        return np.asarray((uniform * self.domain.size_array).astype(self.domain.dtype))
