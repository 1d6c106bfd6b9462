"""Functions that read little of a dataset, as mechanisms that see a statistic of it.

When on a dataset with k ones the function reads only what k tells, then its law on all datasets
with k ones is that law; likewise for a few coordinates (docs/theory/readings.md). Every law that
is used was enumerated, and its reads were looked at: nothing is inferred from examples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, Hypercube, IntArray
from liptest.data.points import PointBatch
from liptest.enumerate.trees.law_memory import agree, law_table
from liptest.enumerate.watch.access_tracking import Read, coordinates_read, reads_only_a_count
from liptest.errors import BudgetError, NonDeterministicError
from liptest.mechanisms.base import Mechanism, MechanismWrapper, ReadsMore
from liptest.mechanisms.declared import distinct_values
from liptest.mechanisms.laws import LawTable, Output, OutputLaw
from liptest.statistics.coordinates import Coordinates
from liptest.statistics.sums import Count

# Datasets that are handed over at once; each costs 8 d bytes.
_SLICE = 64
# Values of the coordinates that are read: more are not looked at one by one.
_MOST_VALUES = 1024
# Values at which what was not read is altered, as a check.
_ALTERED = 8


@dataclass(frozen=True, eq=False)
class NarrowedFunction(MechanismWrapper):
    """A function that sees its dataset through ``statistic``, as far as can be seen.

    Raises ReadsMore on use, when it reads more on some dataset.
    """

    inner: Any
    statistic: Any = field()
    dimension: int
    allowed: Callable[[list[Read]], bool]
    _altered: list[int] = field(default_factory=list, init=False, repr=False)

    reads_only: ClassVar[bool] = True
    has_trace: ClassVar[bool] = True

    def points_per_slice(self, domain: Domain) -> int:
        """How many points a slice has, as for a function of a statistic."""
        return 1 << 16

    def laws(self, points: PointBatch) -> LawTable:
        """One law per different value."""
        values, rows = distinct_values(self.statistic, points)
        return law_table(self._laws_of(values), self.outputs, rows)

    def laws_of(self, values: NDArray[np.int64]) -> LawTable:
        """Laws given m values of the statistic, in the order given."""
        return law_table(self._laws_of(values), self.outputs, None)

    def fresh_law(self, dataset: IntArray) -> OutputLaw:
        """The law enumerated anew, from the whole dataset."""
        law: OutputLaw = self.inner.fresh_law(dataset)
        return law

    def trace(self, dataset: IntArray, *outputs: Output) -> Any:
        """Random choices that lead to one of the outputs on a dataset, (d,)."""
        return self.inner.trace(dataset, *outputs)

    def _laws_of(self, values: NDArray[np.int64]) -> list[OutputLaw]:
        all_laws: list[OutputLaw] = []
        for start in range(0, len(values), _SLICE):
            datasets = self._representatives(values[start : start + _SLICE])
            laws, reads = self.inner.laws_and_reads(datasets)
            if not all(map(self.allowed, reads)):
                raise ReadsMore
            self._check_altered(datasets, laws)
            all_laws.extend(laws)
        return all_laws

    def _representatives(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        if isinstance(self.statistic, Count):
            return (np.arange(self.dimension) < values[:, None]).astype(np.int64)
        datasets = np.zeros((len(values), self.dimension), dtype=np.int64)
        datasets[:, list(self.statistic.chosen)] = values
        return datasets

    def _check_altered(self, datasets: NDArray[np.int64], laws: list[OutputLaw]) -> None:
        """Alter what was not read: the law must stay."""
        for dataset, law in zip(datasets, laws, strict=True):
            if len(self._altered) >= _ALTERED:
                return
            self._altered.append(0)
            other = self.inner.fresh_law(self._alter(dataset))
            if not agree(other, law):
                raise NonDeterministicError(
                    f"{self.name}: non-deterministic: its law changed with a part of the dataset "
                    f"that it was not seen to read; it must get its data from its argument only"
                )

    def _alter(self, dataset: NDArray[np.int64]) -> NDArray[np.int64]:
        rng = np.random.default_rng(len(self._altered))
        if isinstance(self.statistic, Count):
            return rng.permutation(dataset)
        # 0 and 1 are values of every coordinate that has a neighbour.
        other = rng.integers(0, 2, len(dataset)) * self._changeable
        other[list(self.statistic.chosen)] = dataset[list(self.statistic.chosen)]
        return other

    @property
    def _changeable(self) -> NDArray[np.int64]:
        return (np.asarray(self.statistic.sizes) > 1).astype(np.int64)


def narrow_function(function: Any, domain: Domain) -> Mechanism | None:
    """The function seen through a count or a few coordinates; None when it reads more than that."""
    try:
        first = function.first_reads(np.zeros(domain.dimension, dtype=np.int64))
        if isinstance(domain, Hypercube) and domain.dimension > 1 and reads_only_a_count(first):
            return NarrowedFunction(function, Count(), domain.dimension, reads_only_a_count)
        return _on_coordinates(function, domain, coordinates_read(first))
    except (BudgetError, ReadsMore):
        return None


def _on_coordinates(function: Any, domain: Domain, chosen: set[int] | None) -> Mechanism | None:
    """Read all values of the coordinates that are read, until no further ones are."""
    while chosen is not None and len(chosen) < domain.dimension:
        places = tuple(sorted(chosen)) or (0,)
        statistic = Coordinates(places, domain.sizes)
        if statistic.inner(domain).size > _MOST_VALUES:
            return None

        allowed = partial(_reads_among, frozenset(places))
        seen = NarrowedFunction(function, statistic, domain.dimension, allowed)
        more = _read_on(seen, statistic.inner(domain))
        if more is not None and more <= set(places):
            return seen
        chosen = None if more is None else more | set(places)
    return None


def _reads_among(places: frozenset[int], reads: list[Read]) -> bool:
    read = coordinates_read(reads)
    return read is not None and read <= places


def _read_on(seen: NarrowedFunction, inner: Domain) -> set[int] | None:
    coordinates: set[int] = set()
    for block in inner.all_points(_SLICE):
        _, reads = seen.inner.laws_and_reads(seen._representatives(block.astype(np.int64)))
        for places in map(coordinates_read, reads):
            if places is None:
                return None
            coordinates |= places
    return coordinates
