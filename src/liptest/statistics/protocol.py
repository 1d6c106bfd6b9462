"""Statistics that a mechanism may see instead of the dataset, with their neighbouring values.

A mechanism that receives only ``s(x)`` is private as soon as the laws at all *edges* of the
statistic are close: pairs (s(x), s(y)) of neighbouring datasets (theory 3.8). Each built-in
statistic knows all its edges, with a proof in its docstring.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, Hypercube, IntArray, require_one_at_a_time
from liptest.data.points import PointBatch
from liptest.errors import BudgetError, InputError

Values = NDArray[np.int64]


#: More pairs of values than this are not enumerated: BudgetError.
EDGE_BUDGET = 20_000_000


#: Pairs per chunk of ``edges``.
EDGE_CHUNK = 1 << 16


@runtime_checkable
class Statistic(Protocol):
    """A function of the dataset; values are (n,) or (n, k) int64 arrays.

    ``proved_edges`` says whether ``edges`` is a theorem or a user's word; in the second case a
    YES that rests on it is conditional and says so.
    """

    @property
    def name(self) -> str:
        """Printed in verdicts."""
        ...

    @property
    def proved_edges(self) -> bool:
        """Whether ``edges`` is a theorem."""
        ...

    def check(self, domain: Domain) -> None:
        """Raise InputError when the statistic does not fit the domain."""
        ...

    def values(self, points: IntArray) -> Values:
        """Values at (n, d) points."""
        ...

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        """Values at the m changed points, given those at the n centres."""
        ...

    def edge_count(self, domain: Domain) -> int | None:
        """How many pairs ``edges`` yields; None when edges are not known.

        Where counting would be as dear as enumerating, an upper bound that is over EDGE_BUDGET.
        """
        ...

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        """All pairs of different values of neighbouring datasets, each once, in chunks.

        Raises BudgetError, before the first chunk, when there are more than EDGE_BUDGET.
        """
        ...

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        """Two neighbouring datasets with these values, or InputError when there are none."""
        ...


def check_statistic(mechanism: Any, domain: Domain) -> None:
    """Raise InputError when what a mechanism sees of a dataset does not fit the domain."""
    if mechanism.statistic is None:
        return
    require_one_at_a_time(domain, f"the statistic {mechanism.statistic.name!r}")
    mechanism.statistic.check(domain)


def check_edge_budget(statistic: object, domain: Domain, count: int) -> None:
    """Raise BudgetError when a statistic has more than EDGE_BUDGET pairs of values."""
    if count > EDGE_BUDGET:
        shown_count = f"{count:,}" if count < 10**30 else f"about 2**{count.bit_length() - 1}"
        raise BudgetError(
            f"statistic={statistic!r} on {domain} has up to {shown_count} pairs of "
            f"neighbouring values, more than the {EDGE_BUDGET:,} that are enumerated; use a "
            f"method that samples",
            needed=count,
            budget=EDGE_BUDGET,
        )


class Count:
    """Number of ones in a table of bits.

    Edges: (k, k+1) for k = 0 .. d-1. Flipping a bit changes the count by exactly 1, and
    every k < d is the count of a dataset that has a zero to flip.
    """

    name = "count"
    proved_edges = True

    def __repr__(self) -> str:
        return "Count()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Count)

    def __hash__(self) -> int:
        return hash("Count")

    def check(self, domain: Domain) -> None:
        if not isinstance(domain, Hypercube):
            raise InputError(
                f"statistic=Count() counts ones on a Hypercube, not on {domain}; use "
                f"WeightedSum or Histogram",
                name="statistic",
            )

    def values(self, points: IntArray) -> Values:
        return np.asarray(points.sum(axis=1, dtype=np.int64))

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        before = batch.centres[batch.rows, batch.coordinates]
        return np.asarray(values[batch.rows] + batch.values - before)

    def kinds(self, domain: Domain) -> NDArray[np.int64]:
        """All records are of one kind."""
        return np.zeros(domain.dimension, dtype=np.int64)

    def edge_count(self, domain: Domain) -> int | None:
        return domain.dimension

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        for start in range(0, domain.dimension, EDGE_CHUNK):
            lower = np.arange(start, min(start + EDGE_CHUNK, domain.dimension))
            yield lower, lower + 1

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        ends = int(left), int(right)
        if abs(ends[0] - ends[1]) != 1 or min(ends) < 0 or max(ends) > domain.dimension:
            raise InputError(
                f"no two neighbouring datasets of {domain} have the counts {ends[0]} and {ends[1]}",
                name="statistic",
            )
        records = np.arange(domain.dimension)
        first, second = ((records < count).astype(domain.dtype) for count in ends)
        return first, second
