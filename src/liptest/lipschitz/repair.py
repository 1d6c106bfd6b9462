"""Repair of a function into a Lipschitz one, on exact rationals (theory 4; paper section 4.2).

Tables are object arrays of Fractions of shape ``domain.sizes``; ``table.astype(float)`` rounds
each value to the nearest float, which may break a tie by one unit in the last place.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.distributions import Distribution, check_distribution
from liptest.data.domains import Domain, Hypercube
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, quote
from liptest.lipschitz.covers import ExactTable, exact_values, violation_limit
from liptest.lipschitz.testers.base import steps_per_unit

Table = NDArray[Any]
_HALF = Fraction(1, 2)
_FLOOR = np.frompyfunc(math.floor, 1, 1)
_CEILING = np.frompyfunc(math.ceil, 1, 1)


def exact_table(function: Any, domain: Domain) -> Table:
    """All values of a function as Fractions; raises as ``tables.exact_values``."""
    table = np.empty(domain.size, dtype=object)
    table[:] = [Fraction(value) for value in exact_values(function, domain)]
    return table.reshape(domain.sizes)


def round_to_step(table: Table, range_step: Fraction) -> Table:
    """floor(value / step + 1/2) * step: ties one way, so that |a-b| <= 1 stays so (theory 1.3)."""
    return np.asarray(_FLOOR(table / range_step + _HALF) * range_step)


def basic_operator(
    table: Table, coordinate: int, *, probability: Fraction, range_step: Fraction
) -> Table:
    """B_i of the paper, once: every violated edge along i closes by one step.

    The end with x_i = 1 moves by (1 - p_i) step, the end with x_i = 0 by p_i step, towards each
    other. ``probability`` 1/2 is the symmetric operator of JR11.
    """
    violated = np.abs(_gaps(table, coordinate)) > 1
    return _close(table, coordinate, probability, violated.astype(object) * range_step)


def repeat_operator(
    table: Table, coordinate: int, *, probability: Fraction, range_step: Fraction
) -> Table:
    """B_i until no edge along i is violated: ceil((gap - 1)/step) times at each edge.

    No violation score along another coordinate grows, provided that all values are multiples
    of the step (Lemma 4.9); the last step of another edge may overshoot.
    """
    excess = np.maximum(np.abs(_gaps(table, coordinate)) - 1, 0)
    amounts = _CEILING(excess / range_step) * range_step
    return _close(table, coordinate, probability, amounts)


def _ends(table: Table, coordinate: int) -> tuple[Table, Table]:
    # Values at 0 and at 1, with the coordinate moved to the front and kept.
    moved = np.moveaxis(table, coordinate, 0)
    return moved[:1], moved[1:]


def _gaps(table: Table, coordinate: int) -> Table:
    zero, one = _ends(table, coordinate)
    return np.asarray(one - zero)


def _close(table: Table, coordinate: int, probability: Fraction, amounts: Table) -> Table:
    # ``amounts`` is what each edge's gap loses.
    signed = np.where(_gaps(table, coordinate) > 0, amounts, -amounts)
    zero, one = _ends(table, coordinate)
    ends = [zero + probability * signed, one - (1 - probability) * signed]
    return np.moveaxis(np.concatenate(ends), 0, coordinate)


def violation_scores(table: Table, distribution: ProductDistribution) -> list[Fraction]:
    """VS^i for each coordinate i: sum over edges of max(0, (p_x + p_y)(|f(x) - f(y)| - 1))."""
    _check_cube(distribution)
    laws = [distribution.exact_marginal(r) for r in range(distribution.domain.dimension)]
    scores = []
    for r in range(len(laws)):
        # The other coordinates are averaged out, the last one first.
        score = np.maximum(np.abs(_gaps(table, r)) - 1, 0)
        for law in reversed(laws[:r] + laws[r + 1 :]):
            score = score[..., 0] * law[0] + score[..., 1] * law[1]
        scores.append(Fraction(score.item()))
    return scores


def repair(
    function: Any,
    distribution: Distribution,
    *,
    range_step: float | Fraction,
    symmetric: bool = False,
) -> Table:
    """A_d ... A_1 of the paper applied to a function rounded to whole multiples of a step.

    The result has no violated edge, so it is 1-Lipschitz, and takes values in step * Z. It
    differs from the rounded function on a mass of at most the sum over i of the mass of the
    edges along i that are violated when i's turn comes.

    Parameters
    ----------
    function
        A callable (n, d) integers -> (n,) floats, ``lt.scalar(f)``, or a table of shape
        ``domain.sizes``; tables of integers or Fractions are taken exactly.
    distribution
        A product law on a Hypercube: p_i decides which end of an edge moves more.
    range_step
        The step, 1 over a whole number (paper: delta); 0.1 means exactly 1/10.
    symmetric
        JR11's operator: both ends move alike.

    Returns
    -------
    table
        Object array of Fractions, shape ``domain.sizes``.

    Raises
    ------
    InputError
        No product law on a Hypercube; a step of another kind.
    BudgetError, FunctionError
        As ``tables.exact_values``.
    """
    law = _check_cube(distribution)
    step = Fraction(1, steps_per_unit(float(range_step)))
    table = round_to_step(exact_table(function, law.domain), step)
    for r in range(law.domain.dimension):
        probability = _HALF if symmetric else law.exact_marginal(r)[1]
        table = repeat_operator(table, r, probability=probability, range_step=step)
        table = round_to_step(table, step)
    return table


def mcshane(
    table: Any, domain: Domain, cover: ArrayLike, *, lipschitz_constant: float = 1.0
) -> Table:
    """Extend a function off a cover: g(x) = min over s not in the cover of f(s) + c d(x, s).

    When the function is c-Lipschitz off the cover, g is c-Lipschitz and equals it there
    (McShane 1934; theory 1.1). The cover of ``distance_to_lipschitz`` is such a set. A cover of
    all points gives 0.

    Parameters
    ----------
    table
        A function as for ``distance_to_lipschitz``.
    domain
        Where the points live.
    cover
        (k,) indices of points.
    lipschitz_constant
        c, above 0.

    Returns
    -------
    table
        Object array of Fractions, shape ``domain.sizes``.

    Raises
    ------
    InputError
        Indices outside the domain, a constant not above 0; else as ``tables.exact_values``.
    """
    exact = ExactTable.of(table, domain, violation_limit(lipschitz_constant, 0.0))
    covered = np.zeros(domain.size, dtype=bool)
    covered[_check_cover(cover, domain)] = True
    if covered.all():
        return exact.fractions(np.zeros(domain.sizes, dtype=object))
    return exact.fractions(exact.lower(covered.reshape(domain.sizes)))


def _check_cover(cover: ArrayLike, domain: Domain) -> NDArray[np.int64]:
    indices = np.asarray(cover)
    if indices.size == 0:
        return np.zeros(0, dtype=np.int64)
    whole = indices.ndim == 1 and indices.dtype.kind in "iu"
    if not whole or not np.all((indices >= 0) & (indices < domain.size)):
        raise InputError(
            f"cover={quote(cover)} must be a list of point indices in 0 .. {domain.size - 1}",
            name="cover",
        )
    return indices.astype(np.int64)


def _check_cube(distribution: Distribution) -> ProductDistribution:
    law = check_distribution(distribution)
    if not isinstance(law, ProductDistribution) or not isinstance(law.domain, Hypercube):
        raise InputError(
            f"distribution={law!r}: repair needs a product law on a Hypercube; elsewhere extend "
            f"from outside a cover with mcshane",
            name="distribution",
        )
    return law
