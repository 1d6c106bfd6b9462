"""Bounds on the distance to the Lipschitz functions where all pairs are too many.

Lower bound: the lightest cover of the violated edges alone, or a matching of them (theory 2.4:
at least max_r s_r V_r). Upper bounds: theory 2.1 on the cube, theory 2.2 elsewhere, both for
product laws; and covers of all violated pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Hypercube
from liptest.ground_truth.covers import Cover, weighted_cover
from liptest.ground_truth.tables import ExactTable, line_envelopes

#: Violated edges up to which their lightest cover is found; beyond, a matching.
MAX_EDGES = 2**20


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds in units of one over the denominator of the masses, and a cover.

    ``cover`` holds indices of points and weighs at least ``upper``.
    """

    lower: Fraction
    upper: Fraction
    cover: NDArray[np.int64]


def bounds(
    table: ExactTable,
    distribution: Distribution,
    masses: NDArray[Any],
    *,
    max_edges: int = MAX_EDGES,
) -> Bounds:
    """Bounds from violated edges and envelopes; ``masses`` are Python ints in index order.

    Time and memory grow with the number of edges of the domain.
    """
    mass = masses.reshape(table.domain.sizes)
    costs = [_line_covers(table, mass, r) for r in range(table.domain.dimension)]
    covered = np.zeros(table.domain.sizes, dtype=bool)
    covers = [_completed(table, mass, covered)]
    edges = violated_edges(table)
    if len(edges) <= max_edges:
        found = _edge_cover(edges, masses)
        lower = found.lower
        covered.reshape(-1)[found.members] = True
        covers.append(_completed(table, mass, covered))
    else:
        lower = Fraction(_matching(table, mass, costs))
    weights = [Fraction(int(mass[cover].sum())) for cover in covers]
    upper, cover = min(zip(weights, covers, strict=True), key=lambda pair: pair[0])
    if isinstance(distribution, ProductDistribution):
        shares = zip(costs, _heaviest(distribution), strict=True)
        upper = min(upper, 4 * sum((cost * share for cost, share in shares), Fraction(0)))
    return Bounds(lower, upper, np.flatnonzero(cover))


def violated_edges(table: ExactTable) -> NDArray[np.int64]:
    """All violated neighbouring pairs as indices of points, (m, 2)."""
    indices = np.arange(table.domain.size).reshape(table.domain.sizes)
    found = [np.zeros((0, 2), dtype=np.int64)]
    for r in range(table.domain.dimension):
        values, names = np.moveaxis(table.numerators, r, 0), np.moveaxis(indices, r, 0)
        for a, b in table.domain.value_pairs(r).tolist():
            violated = _violated(values, a, b, table.slope)[0]
            found.append(np.stack([names[a][violated], names[b][violated]], axis=1))
    return np.concatenate(found)


def _violated(values: NDArray[Any], a: int, b: int, slope: int) -> NDArray[np.bool_]:
    # Slices keep Python ints: NumPy would turn a lone one into a machine word or a float.
    return np.asarray(np.abs(values[a : a + 1] - values[b : b + 1]) > slope, dtype=bool)


def _edge_cover(edges: NDArray[np.int64], masses: NDArray[Any]) -> Cover:
    members, positions = np.unique(edges, return_inverse=True)
    return weighted_cover(positions.reshape(-1, 2), members, masses[members], 1)


def _completed(
    table: ExactTable, mass: NDArray[Any], covered: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Add the upper ends of the violated pairs that are left, or the lower ends if lighter."""
    high = ~covered & (table.numerators > table.lower(covered))
    low = ~covered & (table.numerators < table.upper(covered))
    ends = min(high, low, key=lambda end: int(mass[end].sum()))
    return covered | ends


def _heaviest(distribution: ProductDistribution) -> list[Fraction]:
    # On the cube v_r V_r = (1 - s_r) (s_r V_r): theory 2.1. Elsewhere 2.2 has no such factor.
    if not isinstance(distribution.domain, Hypercube):
        return [Fraction(1)] * distribution.domain.dimension
    laws = map(distribution.exact_marginal, range(distribution.domain.dimension))
    return [max(law) for law in laws]


def _line_covers(table: ExactTable, mass: NDArray[Any], coordinate: int) -> int:
    """Mass of a cover of each line in one direction, summed: at least E[dist(line)]."""
    lower, upper = line_envelopes(table, coordinate)
    high = np.where(table.numerators > lower, mass, 0).sum(axis=coordinate, keepdims=True)
    low = np.where(table.numerators < upper, mass, 0).sum(axis=coordinate, keepdims=True)
    return int(np.minimum(high, low).sum())


def _matching(table: ExactTable, mass: NDArray[Any], costs: list[int]) -> int:
    """Weight of a matching of violated edges, the most promising direction first.

    A fractional matching: the edges at a point carry at most its mass, so every cover weighs
    at least as much.
    """
    left, total = mass.copy(), 0
    for r in sorted(range(len(costs)), key=lambda r: -costs[r]):
        rest, values = np.moveaxis(left, r, 0), np.moveaxis(table.numerators, r, 0)
        for a, b in table.domain.value_pairs(r).tolist():
            low, high = slice(a, a + 1), slice(b, b + 1)
            taken = np.minimum(rest[low], rest[high])
            taken = np.where(_violated(values, a, b, table.slope), taken, 0)
            rest[low] -= taken
            rest[high] -= taken
            total += int(taken.sum())
    return total
