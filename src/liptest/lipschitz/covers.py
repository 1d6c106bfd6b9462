"""Minimum-weight vertex covers of given pairs, proved by a maximum flow (theory 1.1b, 3.1).

Exact where the graph is bipartite or a comparability graph; bounds otherwise, and then
``Cover.value`` is None. Weights are whole numbers of any length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.distributions import Distribution, check_distribution
from liptest.data.domains import Domain, IntArray, RecordGrid, require_one_at_a_time
from liptest.data.points import from_array
from liptest.data.product import ProductDistribution
from liptest.errors import (
    BudgetError,
    FunctionError,
    InputError,
    LiptestError,
    check_non_negative,
    check_positive,
    quote,
)
from liptest.lipschitz.flow import Arcs, minimum_cut
from liptest.lipschitz.oracles import as_oracle
from liptest.verdicts import Exact, Indices, Record

# Functions and masses of an enumerable domain, as whole numbers over one denominator.
#
# Every float is a rational number, so nothing has to be rounded: distance, covers and repair are
# decided on Python integers. Floats occur only to screen out what is far from a tie.


#: Points that a table may have.
MAX_POINTS = 2**20


def violation_limit(lipschitz_constant: float, tolerance: float) -> Fraction:
    """The exact number L: a pair at distance k is violated when |f(x) - f(y)| > L k.

    Raises InputError when the constant is not above 0 or the tolerance is outside [0, 1).
    """
    constant = check_positive("lipschitz_constant", lipschitz_constant)
    slack = check_non_negative("tolerance", tolerance, below=1.0)
    return Fraction(constant * (1.0 + slack) + constant * slack)


def to_integers(values: Iterable[Any]) -> tuple[NDArray[Any], int]:
    """Integers a and one denominator b with ``values[i] = a[i] / b`` exactly.

    ``values`` are finite ints, floats or Fractions; ``a`` is an object array of Python ints.
    """
    ratios = [_ratio(value) for value in values]
    denominator = math.lcm(*{bottom for _, bottom in ratios})
    numerators = np.empty(len(ratios), dtype=object)
    numerators[:] = [top * (denominator // bottom) for top, bottom in ratios]
    return numerators, denominator


def _ratio(value: Any) -> tuple[int, int]:
    if isinstance(value, (int, float, Fraction)):
        return value.as_integer_ratio()
    top, bottom = Fraction(value).as_integer_ratio()
    return int(top), int(bottom)


def exact_values(function: Any, domain: Domain) -> list[Any]:
    """All values of a function in index order: ints, floats or Fractions, as given.

    ``function`` is a callable, ``lt.scalar(f)`` or a table; an integer table, or a table of
    Fractions (dtype object), keeps its exact values.

    Raises
    ------
    BudgetError
        The domain has more than ``MAX_POINTS`` points.
    FunctionError, InputError
        As ``oracles.as_oracle`` and its values.
    """
    check_enumerable(domain)
    oracle = as_oracle(function, domain)
    if isinstance(function, np.ndarray) and function.dtype.kind in "iuO":
        return [_finite(value) for value in function.reshape(-1).tolist()]
    values: list[Any] = []
    for points in domain.all_points():
        values += oracle.values(from_array(points)).tolist()
    return values


def _finite(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        raise FunctionError(f"table: value={value}; a Lipschitz function needs finite values")
    return value


def check_enumerable(domain: Domain) -> None:
    """Raise BudgetError when the domain has more than ``MAX_POINTS`` points."""
    if domain.size > MAX_POINTS:
        raise BudgetError(
            f"{domain} has {quote(domain.size)} points, more than the {MAX_POINTS} that can be "
            f"enumerated; use check_lipschitz, which samples",
            needed=domain.size,
            budget=MAX_POINTS,
        )


def exact_masses(distribution: Distribution, points: IntArray) -> tuple[NDArray[Any], int]:
    """Masses of points as whole numbers over one denominator; (n, d) -> (n,) Python ints.

    A product law gives its exact rational masses. Other laws give ``exp(log_mass)`` as floats,
    taken at face value. InputError when the law has no masses.
    """
    if not isinstance(distribution, ProductDistribution):
        return to_integers(np.exp(distribution.log_mass(points)).tolist())
    masses = np.full(len(points), 1, dtype=object)
    denominator = 1
    for r in range(distribution.domain.dimension):
        numerators, bottom = to_integers(distribution.exact_marginal(r))
        masses *= numerators[points[:, r]]
        denominator *= bottom
    return masses, denominator


@dataclass(frozen=True, eq=False)
class ExactTable:
    """All values of a function, and the slope that a Lipschitz function may have.

    Parameters
    ----------
    domain
        Where the points live.
    numerators
        Python ints of shape ``domain.sizes``: the values times ``denominator``.
    denominator
        Common denominator of the values and the Lipschitz constant.
    slope
        The Lipschitz constant times ``denominator``.
    """

    domain: Domain
    numerators: NDArray[Any]
    denominator: int
    slope: int

    @classmethod
    def of(cls, function: Any, domain: Domain, limit: Fraction) -> ExactTable:
        """The table of a function; raises as ``exact_values``."""
        numbers, denominator = to_integers([*exact_values(function, domain), limit])
        return cls(domain, numbers[:-1].reshape(domain.sizes), denominator, int(numbers[-1]))

    def fractions(self, numerators: NDArray[Any]) -> NDArray[Any]:
        """Numerators as Fractions, same shape."""
        result = np.empty(numerators.shape, dtype=object)
        result.reshape(-1)[:] = [Fraction(n, self.denominator) for n in numerators.flat]
        return result

    def lower(self, covered: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """Numerators of the largest Lipschitz function that is nowhere above this one.

        With ``covered``, of shape ``domain.sizes``, only the values at the other points count.
        """
        return self._envelope(self.numerators, covered)

    def upper(self, covered: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """Numerators of the smallest Lipschitz function that is nowhere below this one."""
        return -self._envelope(-self.numerators, covered)

    def _envelope(
        self, numerators: NDArray[Any], covered: NDArray[np.bool_] | None
    ) -> NDArray[Any]:
        if covered is not None:
            # So high that a covered point never sets the minimum elsewhere.
            high = int(numerators.max()) + self.slope * (self.domain.diameter + 1)
            numerators = np.where(covered, high, numerators)
        return lower_envelope(numerators, self.domain, self.slope)


def lower_envelope(values: NDArray[Any], domain: Domain, slope: int) -> NDArray[Any]:
    """min over s of values(s) + slope * d(x, s), for all x; arrays of shape ``domain.sizes``.

    The metric is a sum over coordinates, so one pass per coordinate suffices.
    """
    result = values.copy()
    for r in range(domain.dimension):
        _lower_lines(np.moveaxis(result, r, 0), domain, slope)
    return result


def line_envelopes(table: ExactTable, coordinate: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lower and upper envelopes of each line in one direction, separately."""
    lower, upper = table.numerators.copy(), -table.numerators
    for values in (lower, upper):
        _lower_lines(np.moveaxis(values, coordinate, 0), table.domain, table.slope)
    return lower, -upper


def _lower_lines(values: NDArray[Any], domain: Domain, slope: int) -> None:
    require_one_at_a_time(domain, "the envelope of a function")
    # Slices, not elements: NumPy would turn a lone Python int into a machine word or a float.
    if isinstance(domain, RecordGrid):
        np.minimum(values, values.min(axis=0, keepdims=True) + slope, out=values)
        return
    last = len(values) - 1
    for i in range(last):
        ahead = values[i + 1 : i + 2]
        np.minimum(ahead, values[i : i + 1] + slope, out=ahead)
    for i in range(last, 0, -1):
        behind = values[i - 1 : i]
        np.minimum(behind, values[i : i + 1] + slope, out=behind)


@dataclass(frozen=True, eq=False)
class Cover(Record):
    """Bounds on the least weight of a vertex cover, and a cover.

    Parameters
    ----------
    lower, upper
        Exact: every cover weighs at least ``lower``; ``members`` weighs ``upper``.
    members
        (k,) vertices of the cover, ascending.
    """

    lower: Exact
    upper: Exact
    members: Indices

    @property
    def value(self) -> Fraction | None:
        """The least weight, or None when only bounds are known."""
        return self.lower if self.lower == self.upper else None


def minimum_cover_of_pairs(distribution: Distribution, pairs: ArrayLike) -> Cover:
    """Least mass of a set of points that meets every given pair.

    With the bad neighbouring pairs of a mechanism this is its exact exception mass on cube and
    grid, which are bipartite by parity (theory 1.1b, 3.1). When one record is replaced by one
    of three or more values the pairs may form odd cycles: then ``value`` is None, mostly, and
    the bounds are those of ``minimum_cover``. The same holds for the pairs of several outputs
    together (the group form of theory 3.2).

    Parameters
    ----------
    distribution
        Gives the masses; a product law's are exact rationals.
    pairs
        (m, 2) indices of points (``domain.index``), in any order, repetitions allowed.

    Returns
    -------
    Cover
        ``members`` are indices of points.

    Raises
    ------
    InputError
        Wrong shape, an index outside the domain, a pair of equal points, no masses.
    """
    domain = check_distribution(distribution, together=True).domain
    edges = _check_pairs(pairs, domain.size)
    members, positions = np.unique(edges, return_inverse=True)
    masses, denominator = exact_masses(distribution, domain.points(members))
    return find_weighted_cover(positions.reshape(-1, 2), members, masses, denominator)


def minimum_cover(pairs: ArrayLike, weights: Sequence[Any], *, transitive: bool = False) -> Cover:
    """Minimum-weight vertex cover of weighted pairs, exact where a flow can decide it.

    Exact for bipartite graphs and, with ``transitive``, for comparability graphs. Otherwise
    ``lower`` is the optimum of the linear program, which is half-integral (Nemhauser and
    Trotter 1975), and ``members`` are its positive part without what is redundant: at most
    twice as heavy.

    Parameters
    ----------
    pairs
        (m, 2) vertex numbers, in any order, repetitions allowed.
    weights
        A finite int, float or Fraction of at least 0 per vertex; taken exactly.
    transitive
        Each pair (x, y) means that x is above y in a transitive relation. This is checked.

    Raises
    ------
    InputError
        A wrong shape, vertex or weight; ``transitive`` for a relation that is not.
    """
    edges = _check_pairs(pairs, len(weights))
    masses, denominator = _check_weights(weights)
    vertices = np.arange(len(masses))
    if not transitive:
        return find_weighted_cover(edges, vertices, masses, denominator)
    _check_transitive(edges, len(masses))
    arcs = Arcs.of(edges[:, 0], edges[:, 1], len(masses))
    weight, members = antichain_cover(vertices, vertices, arcs, masses)
    value = Fraction(weight, denominator)
    return Cover(value, value, members)


def antichain_cover(
    above: NDArray[np.int64], below: NDArray[np.int64], arcs: Arcs, masses: NDArray[Any]
) -> tuple[int, NDArray[np.int64]]:
    """Weight and members of a minimum cover of a transitive relation (weighted Dilworth).

    The flow splits the vertices into chains of total weight (all - flow); an antichain meets a
    chain at most once, so a cover, which leaves an antichain, weighs at least the flow. The
    vertices that the cut leaves alone on both sides are an antichain of exactly that weight.

    Parameters
    ----------
    above, below
        (a,) and (b,) vertices that may be the upper or the lower end of a pair.
    arcs
        The pairs, as positions in ``above`` and ``below``; must be transitive.
    masses
        Python ints, one per vertex.
    """
    cut = minimum_cut(masses[above].tolist(), masses[below].tolist(), arcs)
    joined = arcs.starts[1:] > arcs.starts[:-1]
    members = np.union1d(above[cut.left & joined], below[cut.right])
    _check_weight(masses[members], cut.value)
    return cut.value, members


def find_weighted_cover(
    edges: NDArray[np.int64], names: NDArray[np.int64], masses: NDArray[Any], denominator: int
) -> Cover:
    """``minimum_cover`` of checked (m, 2) pairs of positions in ``names`` and ``masses``."""
    both = np.concatenate([edges, edges[:, ::-1]])
    arcs = Arcs.of(both[:, 0], both[:, 1], len(masses))
    sides = _two_sides(arcs, len(masses))
    if np.any(sides[edges[:, 0]] == sides[edges[:, 1]]):
        return _half_integral(arcs, names, masses, denominator)
    # Each pair once, from its left end; right vertices have empty rows on the left.
    left = np.where(sides, 0, masses)
    right = np.where(sides, masses, 0)
    forward = both[~sides[both[:, 0]]]
    cut = minimum_cut(
        left.tolist(), right.tolist(), Arcs.of(forward[:, 0], forward[:, 1], len(masses))
    )
    chosen = (cut.left & ~sides & (arcs.starts[1:] > arcs.starts[:-1])) | (cut.right & sides)
    _check_weight(masses[chosen], cut.value)
    value = Fraction(cut.value, denominator)
    return Cover(value, value, names[chosen])


def _two_sides(arcs: Arcs, count: int) -> NDArray[np.bool_]:
    # A proper 2-colouring where there is one; arcs go both ways.
    starts, targets = arcs.starts.tolist(), arcs.targets.tolist()
    side: list[bool | None] = [None] * count
    for root in range(count):
        if side[root] is not None:
            continue
        side[root] = False
        stack = [root]
        while stack:
            x = stack.pop()
            for y in targets[starts[x] : starts[x + 1]]:
                if side[y] is None:
                    side[y] = not side[x]
                    stack.append(y)
    return np.array(side, dtype=bool)


def _half_integral(
    arcs: Arcs, names: NDArray[np.int64], masses: NDArray[Any], denominator: int
) -> Cover:
    # The flow of the doubled graph is twice the linear program's value: it is symmetrised to a
    # fractional matching, and (left + right) / 2 is a fractional cover of the same weight.
    cut = minimum_cut(masses.tolist(), masses.tolist(), arcs)
    chosen = (cut.left | cut.right).tolist()
    for x in np.argsort(-masses, kind="stable").tolist():
        if chosen[x] and all(chosen[y] for y in arcs.row(x).tolist()):
            chosen[x] = False
    members = np.flatnonzero(chosen)
    upper = Fraction(int(masses[members].sum()), denominator)
    return Cover(Fraction(cut.value, 2 * denominator), upper, names[members])


def _check_weight(masses: NDArray[Any], flow: int) -> None:
    weight = int(masses.sum())
    if weight != flow:
        raise LiptestError(
            f"cover={weight} is not proved by flow={flow}, both over one denominator; report this"
        )


def _check_weights(weights: Sequence[Any]) -> tuple[NDArray[Any], int]:
    try:
        masses, denominator = to_integers(weights)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"weights={quote(weights)} must be finite numbers", name="weights", value=weights
        ) from None
    negative = np.flatnonzero(masses < 0)
    if len(negative):
        first = int(negative[0])
        raise InputError(
            f"weights[{first}]={quote(weights[first])} must be 0 or more", name="weights"
        )
    return masses, denominator


def _check_pairs(pairs: ArrayLike, count: int) -> NDArray[np.int64]:
    edges = np.asarray(pairs)
    if edges.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            f"pairs: shape={edges.shape}, dtype={edges.dtype}; give (m, 2) whole numbers",
            name="pairs",
        )
    wrong = (edges < 0).any(axis=1) | (edges >= count).any(axis=1) | (edges[:, 0] == edges[:, 1])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"pairs[{row}]={edges[row].tolist()}: give two different numbers in 0 .. {count - 1}",
            name="pairs",
        )
    return edges.astype(np.int64)


def _check_transitive(edges: NDArray[np.int64], count: int) -> None:
    below = [0] * count
    for x, y in edges.tolist():
        below[x] |= 1 << y
    for x, y in edges.tolist():
        if below[x] | below[y] != below[x]:
            raise InputError(
                f"pairs: {x} is above {y}, but not above all that {y} is above; give a "
                f"transitive relation, or transitive=False for bounds",
                name="pairs",
            )
