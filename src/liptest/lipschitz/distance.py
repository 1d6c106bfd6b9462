"""Distance of a function to the Lipschitz functions (theory 1.1, 1.1b), bounds, image diameters.

The ground truth that testers are checked against: values and masses are exact rationals, and
the answer is proved by a maximum flow of the same value.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution, check_distribution
from liptest.data.domains import Domain, Hypercube
from liptest.data.points import from_array
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, check_count, check_seed, quote
from liptest.lipschitz.covers import (
    Cover,
    ExactTable,
    antichain_cover,
    exact_masses,
    exact_values,
    find_weighted_cover,
    line_envelopes,
    violation_limit,
)
from liptest.lipschitz.flow import Arcs
from liptest.lipschitz.oracles import as_oracle
from liptest.verdicts import Exact, Indices, Record, Text, Whole

# Bounds on the distance to the Lipschitz functions where all pairs are too many.
#
# Lower bound: the lightest cover of the violated edges alone, or a matching of them (theory 2.4:
# at least max_r s_r V_r). Upper bounds: theory 2.1 on the cube, theory 2.2 elsewhere, both for
# product laws; and covers of all violated pairs.


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
    covers = [_complete(table, mass, covered)]
    edges = find_violated_edges(table)
    if len(edges) <= max_edges:
        edge_cover = _edge_cover(edges, masses)
        lower = edge_cover.lower
        covered.reshape(-1)[edge_cover.members] = True
        covers.append(_complete(table, mass, covered))
    else:
        lower = Fraction(_matching(table, mass, costs))
    weights = [Fraction(int(mass[cover].sum())) for cover in covers]
    upper, cover = min(zip(weights, covers, strict=True), key=lambda pair: pair[0])
    if isinstance(distribution, ProductDistribution):
        shares = zip(costs, _heaviest(distribution), strict=True)
        upper = min(upper, 4 * sum((cost * share for cost, share in shares), Fraction(0)))
    return Bounds(lower, upper, np.flatnonzero(cover))


def find_violated_edges(table: ExactTable) -> NDArray[np.int64]:
    """All violated neighbouring pairs as indices of points, (m, 2)."""
    indices = np.arange(table.domain.size).reshape(table.domain.sizes)
    edges = [np.zeros((0, 2), dtype=np.int64)]
    for r in range(table.domain.dimension):
        values, names = np.moveaxis(table.numerators, r, 0), np.moveaxis(indices, r, 0)
        for a, b in table.domain.value_pairs(r).tolist():
            violated = _find_violated(values, a, b, table.slope)[0]
            edges.append(np.stack([names[a][violated], names[b][violated]], axis=1))
    return np.concatenate(edges)


def _find_violated(values: NDArray[Any], a: int, b: int, slope: int) -> NDArray[np.bool_]:
    # Slices keep Python ints: NumPy would turn a lone one into a machine word or a float.
    return np.asarray(np.abs(values[a : a + 1] - values[b : b + 1]) > slope, dtype=bool)


def _edge_cover(edges: NDArray[np.int64], masses: NDArray[Any]) -> Cover:
    members, positions = np.unique(edges, return_inverse=True)
    return find_weighted_cover(positions.reshape(-1, 2), members, masses[members], 1)


def _complete(
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
            taken = np.where(_find_violated(values, a, b, table.slope), taken, 0)
            rest[low] -= taken
            rest[high] -= taken
            total += int(taken.sum())
    return total


# Image diameters: how far the values of a function lie apart (the paper's ImD, and r).


# Coordinates drawn at a time.
_CHUNK = 1 << 22


def image_diameter(function: Any, domain: Domain) -> Fraction:
    """ImD(f): largest minus smallest value over all points, exactly.

    Parameters
    ----------
    function
        A callable (n, d) integers -> (n,) floats, ``lt.scalar(f)``, or a table of shape
        ``domain.sizes``; tables of integers or Fractions are taken exactly.
    domain
        At most 2**20 points; for more, ``sample_diameter``.

    Raises
    ------
    BudgetError
        The domain is larger than that.
    InputError, FunctionError
        No function or domain; NaN, infinity or a wrong shape.
    """
    if not isinstance(domain, Domain):
        raise InputError(f"domain={quote(domain)} must be a domain", name="domain", value=domain)
    values = exact_values(function, domain)
    return Fraction(max(values)) - Fraction(min(values))


def sample_diameter(
    function: Any, distribution: Distribution, *, draws: int, seed: int | None = None
) -> Fraction:
    """r: largest minus smallest value over ``draws`` points of a distribution, exactly.

    A lower bound on ``image_diameter``. With ``draws`` at least ln(1/w)/e, the points whose
    values lie above the sampled ones have mass at most e, except for a failure of probability w;
    the same holds for those below.

    Parameters
    ----------
    function
        As for ``image_diameter``; callables and lt.scalar on domains of any size.
    distribution
        Where the points are drawn from.
    draws
        Number of points, 1 or more.
    seed
        Same seed, same answer; None takes one from the operating system.

    Raises
    ------
    InputError, FunctionError
        A wrong argument; NaN, infinity or a wrong shape.
    """
    law = check_distribution(distribution)
    oracle = as_oracle(function, law.domain)
    rest = check_count("draws", draws)
    given = check_seed(seed)
    rng = np.random.Generator(np.random.SFC64(secrets.randbits(64) if given is None else given))
    lowest, highest = np.inf, -np.inf
    while rest:
        count = min(rest, max(1, _CHUNK // law.domain.dimension))
        values = oracle.values(from_array(law.sample(rng, count)))
        lowest, highest = min(lowest, values.min()), max(highest, values.max())
        rest -= count
    return Fraction(float(highest)) - Fraction(float(lowest))


#: Ordered pairs of points that ``distance_to_lipschitz`` compares before it falls back on bounds.
MAX_PAIRS = 2**26
_BLOCK = 2**20


@dataclass(frozen=True, eq=False)
class Distance(Record):
    """Distance of a function to the Lipschitz functions, as a probability.

    Parameters
    ----------
    value
        The exact distance, or None when only bounds are known.
    lower, upper
        Exact bounds: lower <= distance <= upper.
    cover
        (k,) indices of points, ascending: off them the function is Lipschitz, so that
        ``mcshane`` extends it. Its mass is the distance where ``value`` is known; else it is at
        least ``upper``. Points of mass 0 are covered freely, they cost nothing.
    violated_pairs
        Number of violated pairs of points; None when they were not all visited.
    source
        Where the numbers come from.
    """

    value: Exact | None
    lower: Exact
    upper: Exact
    cover: Indices
    violated_pairs: Whole | None
    source: Text

    def __str__(self) -> str:
        if self.value is not None:
            return f"distance {float(self.value):.12g} ({self.source})"
        bounded = f"{float(self.lower):.12g} <= distance <= {float(self.upper):.12g}"
        return f"{bounded} ({self.source})"


def distance_to_lipschitz(
    function: Any,
    distribution: Distribution,
    *,
    lipschitz_constant: float = 1.0,
    tolerance: float = 0.0,
    max_pairs: int = MAX_PAIRS,
) -> Distance:
    """Least mass on which a function must change to become Lipschitz (theory 1.1, 1.1b).

    The violated pairs, over ALL pairs of points, form a comparability graph: the least mass of
    a vertex cover is a maximum flow (weighted Dilworth). The points that can be in a violated
    pair are those above the largest Lipschitz function below the function, and those below the
    smallest one above it; when there are more than ``max_pairs`` pairs of such points the
    answer is bounds (theory 2.4). Lipschitz means on the whole domain; points of mass 0 may
    change for nothing, so the distance does not depend on the values there.

    Parameters
    ----------
    function
        A callable (n, d) integers -> (n,) floats, ``lt.scalar(f)``, or a table of shape
        ``domain.sizes``; tables of integers or Fractions are taken exactly.
    distribution
        Its masses count. A product law's are exact rationals; a SampledDistribution needs
        ``log_mass``, of which the floats ``exp(log_mass)`` are taken at face value.
    lipschitz_constant, tolerance
        A pair at distance k is violated above ``constant * (1 + 2 * tolerance) * k``, decided
        exactly, by the rule of ``check_lipschitz``.
    max_pairs
        Work that is affordable; 2**26 takes seconds and up to a gigabyte.

    Raises
    ------
    BudgetError
        More than 2**20 points.
    InputError, FunctionError
        A wrong argument; a function that gives NaN, infinity or a wrong shape.
    """
    distribution = check_distribution(distribution)
    limit = violation_limit(lipschitz_constant, tolerance)
    check_count("max_pairs", max_pairs, least=0)
    domain = distribution.domain
    table = ExactTable.of(function, domain, limit)
    masses, denominator = exact_masses(distribution, domain.points(np.arange(domain.size)))
    above = np.flatnonzero((table.numerators > table.lower()).reshape(-1))
    below = np.flatnonzero((table.numerators < table.upper()).reshape(-1))
    if len(above) * len(below) > max_pairs:
        bracket = bounds(table, distribution, masses)
        lower, upper = bracket.lower / denominator, bracket.upper / denominator
        value = lower if lower == upper else None
        return Distance(value, lower, upper, bracket.cover, None, "violated edges, theory 2.4")
    arcs = find_violated_pairs(table, above, below)
    weight, cover = antichain_cover(above, below, arcs, masses)
    value = Fraction(weight, denominator)
    source = "maximum flow over all pairs, theory 1.1b"
    return Distance(value, value, value, cover, len(arcs.targets), source)


def find_violated_pairs(
    table: ExactTable, above: NDArray[np.int64], below: NDArray[np.int64]
) -> Arcs:
    """All (x, y) in above x below, as positions in them, with f(x) - f(y) > slope * d(x, y).

    Floats decide what is far from a tie, Python ints the rest.
    """
    exact = table.numerators.reshape(-1)
    values = np.asarray(exact / table.denominator, dtype=np.float64)
    slope = table.slope / table.denominator
    slack = 2.0**-48 * (float(np.abs(values).max()) + slope * table.domain.diameter)
    high, low = values[above], values[below]
    left_points, right_points = table.domain.points(above), table.domain.points(below)
    starts, targets = [0], []
    rows = max(1, _BLOCK // max(1, len(below)))
    for first in range(0, len(above), rows):
        block = slice(first, first + rows)
        distances = table.domain.distances(left_points[block], right_points)
        with np.errstate(over="ignore"):
            excess = high[block, None] - low[None, :] - slope * distances
        violated = excess > slack
        ties = np.nonzero(np.abs(excess) <= slack)
        gaps = exact[above[block][ties[0]]] - exact[below[ties[1]]]
        violated[ties] = gaps > table.slope * distances[ties].astype(object)
        starts.extend((starts[-1] + np.cumsum(np.count_nonzero(violated, axis=1))).tolist())
        targets.append(np.nonzero(violated)[1].astype(np.int32))
    return Arcs(np.array(starts), np.concatenate([*targets, np.zeros(0, dtype=np.int32)]))
