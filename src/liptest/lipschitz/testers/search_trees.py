"""Binary search trees on the values of a coordinate, and the pairs they give (theory 2.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Hypercube
from liptest.data.edges import EdgeLaw, min_mass_edges
from liptest.data.product import ProductDistribution
from liptest.runs.driver import QueryBatch

#: Longest line whose tree is optimal; the tables of Knuth's recurrence take 12 n^2 bytes.
MAX_OPTIMAL = 2000


@dataclass(frozen=True, eq=False)
class SearchTree:
    """A binary search tree on 0 .. n-1, given by the parent of each value (-1 at the root)."""

    parents: NDArray[np.int64]

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """Depth of each value, (n,); the root has depth 0."""
        return np.asarray(np.bincount(self.pairs[0], minlength=len(self.parents)))

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each value with each of its proper ancestors: two arrays of length sum(depths)."""
        values = np.flatnonzero(self.parents >= 0)
        ancestors = self.parents[values]
        pairs = [(values, ancestors)]
        while len(values):
            above = self.parents[ancestors]
            values, ancestors = values[above >= 0], above[above >= 0]
            pairs.append((values, ancestors))
        return np.concatenate([v for v, _ in pairs]), np.concatenate([a for _, a in pairs])

    def ancestors(self, value: int) -> NDArray[np.int64]:
        """Proper ancestors of one value, the parent first."""
        values, ancestors = self.pairs
        return np.asarray(ancestors[values == value])

    def find_expected_depth(self, mass: NDArray[np.float64]) -> float:
        """E[depth] of a value drawn with probabilities ``mass``, (n,)."""
        return float(mass @ self.depths)


def search_tree(mass: NDArray[np.float64]) -> SearchTree:
    """The tree of least expected depth for these probabilities; (n,) floats.

    Above ``MAX_OPTIMAL`` values the tree is weight-balanced instead: its expected depth is
    within a constant of the least one, and the theorems hold for any tree.
    """
    return _find_tree(np.ascontiguousarray(mass, dtype=np.float64).tobytes())


# Keyed by content: equal coordinates share a tree, in every process.
@lru_cache(maxsize=4096)
def _find_tree(mass_bytes: bytes) -> SearchTree:
    mass = np.frombuffer(mass_bytes)
    return optimal_tree(mass) if len(mass) <= MAX_OPTIMAL else make_balanced_tree(mass)


def optimal_tree(mass: NDArray[np.float64]) -> SearchTree:
    """Knuth's O(n^2) recurrence: roots[i, j] lies between roots[i, j-1] and roots[i+1, j].

    The cost of the interval [i, j) is its mass plus the costs of the two sides of its root.
    """
    n = len(mass)
    sums = np.concatenate([[0.0], np.cumsum(mass)])
    costs = np.zeros((n + 1, n + 1))
    roots = np.zeros((n + 1, n + 1), dtype=np.int32)
    singles = np.arange(n)
    roots[singles, singles + 1] = singles
    costs[singles, singles + 1] = mass
    for length in range(2, n + 1):
        i = np.arange(n - length + 1)
        j = i + length
        first, last = roots[i, j - 1], roots[i + 1, j]
        # The candidates of all intervals of this length, one interval after the other.
        counts = last - first + 1
        starts = np.cumsum(counts) - counts
        owner = np.repeat(i, counts)
        root = np.arange(len(owner)) - np.repeat(starts - first, counts)
        sides = costs[owner, root] + costs[root + 1, owner + length]
        best = np.minimum.reduceat(sides, starts)
        hits = np.flatnonzero(sides == np.repeat(best, counts))
        roots[i, j] = root[hits[np.searchsorted(hits, starts)]]
        costs[i, j] = best + (sums[j] - sums[i])
    return _tree_from(n, lambda first, stop: int(roots[first, stop]))


def make_balanced_tree(mass: NDArray[np.float64]) -> SearchTree:
    """Each root halves the mass of its interval, or its length where there is no mass."""
    sums = np.concatenate([[0.0], np.cumsum(mass)])

    def root(first: int, stop: int) -> int:
        if sums[first] == sums[stop]:
            return (first + stop) // 2
        middle = (sums[first] + sums[stop]) / 2.0
        return min(max(int(np.searchsorted(sums, middle, side="right")) - 1, first), stop - 1)

    return _tree_from(len(mass), root)


def _tree_from(n: int, root: Callable[[int, int], int]) -> SearchTree:
    parents = np.full(n, -1, dtype=np.int64)
    intervals = [(0, n, -1)]
    while intervals:
        first, stop, parent = intervals.pop()
        if first < stop:
            top = root(first, stop)
            parents[top] = parent
            intervals += [(first, top, top), (top + 1, stop, top)]
    return SearchTree(parents)


@lru_cache(maxsize=2)
def tree_pairs(distribution: ProductDistribution) -> EdgeLaw:
    """Pairs (value, ancestor) of a line through x ~ D; ``total`` is Delta = sum_r Delta_r.

    A value of depth k has k ancestors, each with the value's mass as weight: direction r with
    probability Delta_r/Delta, the value with probability mass * depth/Delta_r, its ancestor
    uniform. On a cube these are the edges of min mass, and Delta = S.
    """
    if isinstance(distribution.domain, Hypercube):
        return min_mass_edges(distribution)
    coordinates, values, ancestors, weights = [], [], [], []
    for r, mass in enumerate(distribution.marginals()):
        lower, upper = search_tree(mass).pairs
        possible = mass[lower] > 0
        coordinates.append(np.full(np.count_nonzero(possible), r))
        values.append(lower[possible])
        ancestors.append(upper[possible])
        weights.append(mass[lower[possible]])
    return EdgeLaw(
        distribution,
        np.concatenate(coordinates),
        np.concatenate(values),
        np.concatenate(ancestors),
        np.concatenate(weights),
    )


def tree_batch(
    distribution: ProductDistribution, rng: np.random.Generator, count: int
) -> QueryBatch:
    """``count`` search-tree pairs with their distances."""
    points = tree_pairs(distribution).draw(rng, count)
    values = points.centres[points.rows, points.coordinates].astype(np.int64)
    return QueryBatch(points, distances=np.abs(values - points.values))
