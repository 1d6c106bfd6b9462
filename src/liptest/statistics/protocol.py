"""Statistics that a mechanism may see instead of the dataset, with their neighbouring values.

A mechanism that receives only ``s(x)`` is private as soon as the laws at all *edges* of the
statistic are close: pairs (s(x), s(y)) of neighbouring datasets (theory 3.8). Each built-in
statistic knows all its edges, with a proof in its docstring.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray, require_one_at_a_time
from liptest.data.points import PointBatch
from liptest.errors import BudgetError, InputError, call_user_code, quote
from liptest.lipschitz.oracles import SLICE_BYTES
from liptest.statistics.code_sets import DifferenceSets

Values = NDArray[np.int64]

#: More pairs of values than this are not enumerated: BudgetError.
EDGE_BUDGET = 20_000_000
#: Pairs per chunk of ``edges``.
EDGE_CHUNK = 1 << 16

# Neighbouring pairs that are searched for datasets that realise a pair of values.
_SEARCH_BUDGET = 50_000_000
_LARGEST = 2**61

# Answers that hold for the values of a class alone.
_ABOUT_VALUES = (
    *("proved_edges", "changed_values", "edge_count", "edges", "realise"),
    *("kinds", "of_counts", "difference_sets"),
)

T = TypeVar("T", bound="Statistic")


class Statistic(ABC):
    """A function of the dataset; values are (n,) or (n, k) int64 arrays.

    A subclass gives ``name``, ``values`` and, where its edges are known, ``edge_count``, ``edges``
    and ``proved_edges``. All else has a default that is right for every statistic, only slower.

    A class that overrides ``values`` of a statistic falls back to these defaults where it does not
    speak for itself: what is inherited is about other values.
    """

    #: Printed in verdicts.
    name: str = "statistic"
    #: Whether ``edges`` is a theorem. If it is a user's word, a YES that rests on it is conditional
    #: and says so.
    proved_edges: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        order = [vars(each) for each in cls.__mro__]
        own = next(place for place, names in enumerate(order) if "values" in names)
        for answer in _ABOUT_VALUES:
            if not any(answer in names for names in order[: own + 1]):
                setattr(cls, answer, vars(Statistic)[answer])

    def check(self, domain: Domain) -> None:
        """Raise InputError when the statistic does not fit the domain."""
        self.values(np.zeros((1, domain.dimension), dtype=domain.dtype))

    @abstractmethod
    def values(self, points: IntArray) -> Values:
        """Values at (n, d) points."""

    def changed_values(self, batch: PointBatch, values: Values) -> Values:
        """Values at the m changed points, given those at the n centres."""
        # Slice by slice: all changed points at once may be thousands of times the centres.
        limit = max(64, SLICE_BYTES // batch.centres.shape[1])
        changed = [values[:0]]
        for _, _, part in batch.parts(limit):
            if len(part.rows):
                changed.append(values_at(self, part.array()[len(part.centres) :]))
        return np.concatenate(changed)

    def edge_count(self, domain: Domain) -> int | None:
        """How many pairs ``edges`` yields; None when edges are not known.

        Where counting would be as dear as enumerating, an upper bound that is over EDGE_BUDGET.
        """
        return None

    def edges(self, domain: Domain) -> Iterator[tuple[Values, Values]]:
        """All pairs of different values of neighbouring datasets, each once, in chunks.

        Raises BudgetError, before the first chunk, when there are more than EDGE_BUDGET, and
        InputError when edges are not known.
        """
        raise InputError(
            f"statistic={self.name} has no edges; give edge_pairs=, or use a method that samples",
            name="statistic",
        )

    def realise(self, domain: Domain, left: Values, right: Values) -> tuple[IntArray, IntArray]:
        """Two neighbouring datasets with these values, or InputError when there are none.

        The default searches all neighbouring pairs, and refuses where there are too many.
        """
        if domain.neighbouring_pairs > _SEARCH_BUDGET:
            raise InputError(
                f"statistic={self.name}: {domain} has too many neighbouring pairs to be searched "
                f"for the values {quote(_list(left))} and {quote(_list(right))}; use a method "
                f"that samples",
                name="statistic",
            )
        for block in domain.all_points(max(1, EDGE_CHUNK // domain.dimension)):
            pair = self._find_neighbours(domain, block, left, right)
            if pair is not None:
                return pair
        raise InputError(
            f"statistic={self.name}: no two neighbouring datasets of {domain} have the values "
            f"{quote(_list(left))} and {quote(_list(right))}, so edge_pairs= declares too much",
            name="statistic",
        )

    def kinds(self, domain: Domain) -> NDArray[np.int64] | None:
        """(d,) the kind of each record, numbered from 0; None when not known.

        Exchanging the values of two records of one kind leaves the statistic as it is.
        """
        return None

    def of_counts(self, domain: Domain) -> Statistic | None:
        """The same values from how many records of each kind have each value; None if not known.

        The counts are (n, kinds * widest), kinds being those of ``kinds(domain)``.
        """
        return None

    def difference_sets(self, domain: Domain) -> DifferenceSets | None:
        """The edges by difference, however many there are; None if not known or too large."""
        return None

    def _find_neighbours(
        self, domain: Domain, block: IntArray, left: Values, right: Values
    ) -> tuple[IntArray, IntArray] | None:
        starts = block[_are_equal(self.values(block), left)]
        if len(starts) == 0:
            return None
        batch = PointBatch(starts, *domain.neighbour_changes(starts))
        hits = np.flatnonzero(_are_equal(self.changed_values(batch, self.values(starts)), right))
        if len(hits) == 0:
            return None
        return batch.point(int(batch.rows[hits[0]])), batch.point(len(starts) + int(hits[0]))


def values_at(statistic: Statistic, points: IntArray) -> Values:
    """Values at (n, d) points, int64; MechanismError for what code of a user raises."""
    values = call_user_code(statistic.name, "the statistic", statistic.values, points)
    return as_whole_numbers(statistic.name, values, len(points))


def find_changed_values(statistic: Statistic, batch: PointBatch, values: Values) -> Values:
    """Values at the changed points of a batch, given those at its centres; as ``values_at``."""
    function = statistic.changed_values
    changed = call_user_code(statistic.name, "the statistic", function, batch, values)
    return as_whole_numbers(statistic.name, changed, len(batch.rows))


def as_whole_numbers(name: str, values: Any, rows: int) -> Values:
    """(rows,) or (rows, k) whole numbers as int64, or InputError."""
    array = np.asarray(values)
    if array.dtype.kind not in "iub" or array.ndim not in (1, 2) or len(array) != rows:
        raise InputError(
            f"statistic={name}: shape={array.shape}, dtype={array.dtype} for {rows} datasets; "
            f"return ({rows},) or ({rows}, k) whole numbers",
            name="statistic",
        )
    # Differences of values must stay exact in 64 bits: no wrapped leak may look close.
    if array.size and max(-int(array.min()), int(array.max())) >= _LARGEST:
        raise InputError(
            f"statistic={name}: a value is 2**61 or more in size; its differences would not fit "
            f"into 64 bits. Use a coarser statistic",
            name="statistic",
        )
    return array.astype(np.int64, copy=False)


def has_values_of(statistic: object, kind: type[T]) -> TypeGuard[T]:
    """Whether a statistic is of a kind and has its values; a subclass may have its own."""
    return isinstance(statistic, kind) and type(statistic).values is kind.values


def check_is_statistic(statistic: object) -> None:
    """Raise InputError for what is not a statistic."""
    if not isinstance(statistic, Statistic):
        raise InputError(
            f"statistic={quote(statistic)} is not a statistic; use lt.Count(), "
            f"lt.statistics.WeightedSum(weights), lt.Histogram(cells) or "
            f"lt.statistics.UserStatistic(function), or derive your own from "
            f"liptest.statistics.Statistic",
            name="statistic",
            value=statistic,
        )


def check_seen_statistic(mechanism: Any, domain: Domain) -> None:
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


def _are_equal(values: Values, wanted: Any) -> NDArray[np.bool_]:
    return np.asarray((values == np.asarray(wanted)).reshape(len(values), -1).all(axis=1))


def _list(value: Any) -> Any:
    return np.asarray(value).tolist()
