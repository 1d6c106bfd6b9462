"""Minimum-weight vertex covers of given pairs, proved by a maximum flow (theory 1.1b, 3.1).

Exact where the graph is bipartite or a comparability graph; bounds otherwise, and then
``Cover.value`` is None. Weights are whole numbers of any length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.distributions import Distribution, check_distribution
from liptest.errors import InputError, LiptestError, shown
from liptest.ground_truth.flow import Arcs, minimum_cut
from liptest.ground_truth.tables import exact_masses, whole_numbers
from liptest.verdicts import Record


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

    lower: Fraction
    upper: Fraction
    members: NDArray[np.int64]

    @property
    def value(self) -> Fraction | None:
        """The least weight, or None when only bounds are known."""
        return self.lower if self.lower == self.upper else None

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        lower, upper = Fraction(data["lower"]), Fraction(data["upper"])
        return cls(lower, upper, np.asarray(data["members"], dtype=np.int64))


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
    edges = _checked_pairs(pairs, domain.size)
    members, positions = np.unique(edges, return_inverse=True)
    masses, denominator = exact_masses(distribution, domain.points(members))
    return weighted_cover(positions.reshape(-1, 2), members, masses, denominator)


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
    edges = _checked_pairs(pairs, len(weights))
    masses, denominator = _checked_weights(weights)
    vertices = np.arange(len(masses))
    if not transitive:
        return weighted_cover(edges, vertices, masses, denominator)
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


def weighted_cover(
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


def _checked_weights(weights: Sequence[Any]) -> tuple[NDArray[Any], int]:
    try:
        masses, denominator = whole_numbers(weights)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"weights={shown(weights)} must be finite numbers", name="weights", value=weights
        ) from None
    negative = np.flatnonzero(masses < 0)
    if len(negative):
        first = int(negative[0])
        raise InputError(
            f"weights[{first}]={shown(weights[first])} must be 0 or more", name="weights"
        )
    return masses, denominator


def _checked_pairs(pairs: ArrayLike, count: int) -> NDArray[np.int64]:
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
