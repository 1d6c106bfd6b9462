"""Exact distance of a function to the Lipschitz functions (theory 1.1, 1.1b).

The ground truth that testers are checked against: values and masses are exact rationals, and
the answer is proved by a maximum flow of the same value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, check_distribution
from liptest.errors import check_count
from liptest.ground_truth.bounds import bounds
from liptest.ground_truth.covers import antichain_cover
from liptest.ground_truth.flow import Arcs
from liptest.ground_truth.tables import ExactTable, exact_masses, violation_limit
from liptest.verdicts import Record

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

    value: Fraction | None
    lower: Fraction
    upper: Fraction
    cover: NDArray[np.int64]
    violated_pairs: int | None
    source: str

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        parts = dict(data)
        for name in ("value", "lower", "upper"):
            parts[name] = None if parts[name] is None else Fraction(parts[name])
        parts["cover"] = np.asarray(parts["cover"], dtype=np.int64)
        return cls(**parts)

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
        found = bounds(table, distribution, masses)
        lower, upper = found.lower / denominator, found.upper / denominator
        value = lower if lower == upper else None
        return Distance(value, lower, upper, found.cover, None, "violated edges, theory 2.4")
    arcs = violated_pairs(table, above, below)
    weight, cover = antichain_cover(above, below, arcs, masses)
    value = Fraction(weight, denominator)
    source = "maximum flow over all pairs, theory 1.1b"
    return Distance(value, value, value, cover, len(arcs.targets), source)


def violated_pairs(table: ExactTable, above: NDArray[np.int64], below: NDArray[np.int64]) -> Arcs:
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
