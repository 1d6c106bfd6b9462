"""Bounds on the distance to the Lipschitz functions where a maximum flow is too large.

Lower bound: a matching of violated edges, at least max_r s_r V_r. Upper bounds: theory 2.1 on
the cube, theory 2.2 elsewhere, both for product laws; and the lighter of two covers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Hypercube
from liptest.tables import ExactTable, line_envelopes


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds in units of one over the denominator of the masses, and a cover.

    ``cover`` holds indices of points and weighs at least ``upper``.
    """

    lower: int
    upper: Fraction
    cover: NDArray[np.int64]


def bounds(table: ExactTable, distribution: Distribution, masses: NDArray[Any]) -> Bounds:
    """Bounds from violated edges and envelopes; ``masses`` are Python ints in index order.

    Time and memory grow with the number of edges.
    """
    mass = masses.reshape(table.domain.sizes)
    ends = (table.numerators > table.lower, table.numerators < table.upper)
    covers = [(Fraction(int(mass[end].sum())), np.flatnonzero(end)) for end in ends]
    upper, cover = min(covers, key=lambda pair: pair[0])
    costs = [_line_covers(table, mass, r) for r in range(table.domain.dimension)]
    if isinstance(distribution, ProductDistribution):
        shares = zip(costs, _heaviest(distribution), strict=True)
        upper = min(upper, 4 * sum((cost * share for cost, share in shares), Fraction(0)))
    return Bounds(_matching(table, mass, costs), upper, cover)


def _heaviest(distribution: ProductDistribution) -> list[Fraction]:
    # On the cube v_r V_r = (1 - s_r) (s_r V_r): theory 2.1. Elsewhere 2.2 has no such factor.
    if not isinstance(distribution.domain, Hypercube):
        return [Fraction(1)] * distribution.domain.dimension
    laws = map(distribution.exact_marginal, range(distribution.domain.dimension))
    return [max(law) for law in laws]


def _line_covers(table: ExactTable, mass: NDArray[Any], coordinate: int) -> int:
    """Mass of a cover of each line in one direction, summed: at least E[dist(line)]."""
    lower, upper = line_envelopes(table, coordinate)
    high = np.where(table.numerators > lower, mass, 0).sum(axis=coordinate)
    low = np.where(table.numerators < upper, mass, 0).sum(axis=coordinate)
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
            violated = np.abs(values[a] - values[b]) > table.slope
            taken = np.where(violated, np.minimum(rest[a], rest[b]), 0)
            rest[a] -= taken
            rest[b] -= taken
            total += int(taken.sum())
    return total
