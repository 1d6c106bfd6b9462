"""Sampling for mechanisms that treat many records alike: few neighbours stand for all.

Records are *symmetric* when exchanging their values leaves what the mechanism sees as it is: all
records of a count, a histogram or a median, those of one weight in a sum. Setting one of them to a
value b then gives what setting another one of the same value to b gives, so that one of them is
compared for all: a drawn dataset is compared with all its neighbours (theory 3.6b) at the cost of
as many laws as there are classes of symmetric records and pairs of values, however many records
there are. The guarantee is the same.

Where only the number of records of each class and value matters, these counts are drawn in the
place of datasets, and compared with those that one changed record leads to. The number of ones of
independent bits is Poisson-binomial; its masses are right up to a relative error of about
d * 2**-52, and d bits that are each exact to 53 bits are as far off. Independent records of one
class and one law have multinomial counts, drawn as binomial ones by NumPy: their probabilities are
right up to the rounding of floats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution
from liptest.data.domains import Domain, Hypercube, Hypergrid, IntArray, RecordGrid
from liptest.data.draws import IndexSampler, hamming_weight_masses
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.mechanisms.base import Mechanism
from liptest.privacy.claims import AnyClaim
from liptest.privacy.judge import LossJudge, make_witness
from liptest.runs.driver import Finding, Judgement, QueryBatch, Sampling
from liptest.statistics.protocol import Statistic, has_values_of
from liptest.statistics.sums import Count, WeightedSum

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
Pair = tuple[IntArray, IntArray]

# Domains with fewer neighbours are compared neighbour by neighbour.
_MANY_NEIGHBOURS = 1 << 10
# Fewer records are drawn one by one, with probabilities exact to 53 bits.
_MANY_RECORDS = 1 << 14
# Records for each count that is drawn, at least.
_RECORDS_PER_COUNT = 16


def find_symmetries(mechanism: Mechanism, domain: Domain) -> Indices | None:
    """(d,) class of each record, where comparing one of each class and value saves most work.

    Mechanisms that merely happened to read no more than a statistic are asked on all neighbours.
    """
    statistic = mechanism.statistic
    if statistic is None or mechanism.reads_only or not isinstance(domain, (Hypercube, RecordGrid)):
        return None
    neighbours, widest = _count_neighbours(domain), max(domain.sizes)
    if neighbours < _MANY_NEIGHBOURS:
        return None
    classes = statistic.kinds(domain)
    if classes is None:
        return None
    few = 2 * (int(classes.max()) + 1) * widest * (widest - 1) <= neighbours
    return classes if few else None


def sees_only_weight(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether only the number of ones matters: a mechanism of a count, and independent bits."""
    return (
        has_values_of(mechanism.statistic, Count)
        and isinstance(distribution, ProductDistribution)
        and isinstance(distribution.domain, Hypercube)
        and _takes_statistics(mechanism)
        and not mechanism.reads_only
    )


def _takes_statistics(mechanism: Any) -> bool:
    """Whether the same mechanism can be given another statistic."""
    return is_dataclass(mechanism) and any(
        field.name == "statistic" and field.init for field in fields(mechanism)
    )


def _count_neighbours(domain: Domain) -> int:
    """Number of neighbours of a dataset whose records are replaced."""
    return int((domain.size_array - 1).sum())


@dataclass(frozen=True, eq=False)
class SymmetricChanges:
    """One changed copy of a dataset for each class, value and other value.

    Parameters
    ----------
    classes
        (d,) class of each record.
    places, others
        (k,) each: a change of class and value ``places[j]``, a number ``class * widest + value``,
        to the value ``others[j]``; ``places`` ascend.
    widest
        Most values of a record.
    """

    classes: Indices
    places: Indices
    others: Indices
    widest: int

    @classmethod
    def of(cls, domain: Domain, classes: Indices) -> SymmetricChanges:
        """The changes that stand for all of a domain."""
        widest = max(domain.sizes)
        sizes = np.zeros(int(classes.max()) + 1, dtype=np.int64)
        sizes[classes] = domain.size_array
        values = np.arange(widest)
        inside = values < sizes[:, None]
        changes = inside[:, :, None] & inside[:, None, :] & (values[:, None] != values)
        each, value, other = np.nonzero(changes)
        return cls(classes, each * widest + value, other, widest)

    @property
    def cells(self) -> int:
        """Number of classes times the most values of a record."""
        return (int(self.classes.max()) + 1) * self.widest

    @property
    def targets(self) -> Indices:
        """(k,) where each change leads to, as ``places``."""
        return self.places // self.widest * self.widest + self.others

    def __len__(self) -> int:
        """The most that a dataset has."""
        return len(self.others)

    def neighbour_changes(self, points: IntArray) -> tuple[Indices, Indices, Indices]:
        """Rows, coordinates and values, (m,) each, as those of a domain but one for many."""
        held = np.full((len(points), self.cells), -1)
        codes = self.classes * self.widest + points
        np.put_along_axis(held, codes, np.arange(points.shape[1])[None, :], axis=1)
        changed = held[:, self.places]
        rows, which = np.nonzero(changed >= 0)
        return rows, changed[rows, which], self.others[which]

    def neighbouring_tables(self, tables: Indices) -> QueryBatch:
        """Tables of counts, (n, cells), each followed by those that one change leads to."""
        rows, which = np.nonzero(tables[:, self.places] > 0)
        near, each = tables[rows], np.arange(len(rows))
        near[each, self.places[which]] -= 1
        near[each, self.targets[which]] += 1
        return QueryBatch.of_neighbourhoods(tables, rows, near)

    def to_datasets(self, domain: Domain, table: IntArray, neighbour: IntArray) -> Pair:
        """Two neighbouring datasets with these counts."""
        # Of each class the records in the order of their values: cells ascend by class, then value.
        values = np.repeat(np.arange(len(table)) % self.widest, table)
        x = np.zeros(domain.dimension, dtype=domain.dtype)
        x[np.argsort(self.classes, kind="stable")] = values
        [before] = np.flatnonzero(neighbour < table)
        [after] = np.flatnonzero(neighbour > table)
        y = x.copy()
        own = self.classes * self.widest + x
        y[np.flatnonzero(own == before)[-1]] = after % self.widest
        return x, y


class HammingWeights:
    """Draws numbers of ones of independent bits, as (n, 1) points of the line 0 .. d."""

    def __init__(self, distribution: ProductDistribution) -> None:
        masses, _ = hamming_weight_masses(distribution.probabilities)
        self._sampler = IndexSampler(masses)
        self._dtype = Hypergrid([len(masses)]).dtype

    def __call__(self, rng: np.random.Generator, count: int) -> IntArray:
        return self._sampler.draw(rng, count)[:, None].astype(self._dtype)


@dataclass(frozen=True, eq=False)
class RecordGroup:
    """Independent records of one class and one law.

    ``cells`` are the values of positive mass, as ``class * widest + value``; ``rates`` the chance
    of each among those from it on, 1 for the last.
    """

    records: int
    cells: Indices
    rates: Floats

    @classmethod
    def of(cls, records: int, first: int, mass: Floats) -> RecordGroup:
        values = np.flatnonzero(mass > 0)
        rest = np.cumsum(mass[values][::-1])[::-1]
        return cls(records, first + values, np.minimum(mass[values] / rest, 1.0))

    def add(self, rng: np.random.Generator, tables: Indices) -> None:
        """Draw counts for each table, (n, cells), and add them to it."""
        left = np.full(len(tables), self.records, dtype=np.int64)
        for cell, rate in zip(self.cells[:-1], self.rates[:-1], strict=True):
            drawn = rng.binomial(left, rate)
            tables[:, cell] += drawn
            left -= drawn
        tables[:, self.cells[-1]] += left


@dataclass(frozen=True, eq=False)
class CountTables:
    """Draws how many records of each class have each value, as (n, cells) tables."""

    groups: tuple[RecordGroup, ...]
    cells: int

    @classmethod
    def of(cls, distribution: ProductDistribution, changes: SymmetricChanges) -> CountTables:
        """Records of one class and one law are drawn together."""
        sizes: dict[tuple[int, bytes], int] = {}
        for each, mass in zip(changes.classes.tolist(), distribution.marginals(), strict=True):
            key = each, mass.tobytes()
            sizes[key] = sizes.get(key, 0) + 1
        groups = (
            RecordGroup.of(records, each * changes.widest, np.frombuffer(mass))
            for (each, mass), records in sizes.items()
        )
        return cls(tuple(groups), changes.cells)

    @property
    def drawn(self) -> int:
        """How many numbers are drawn for a table."""
        return sum(len(group.cells) for group in self.groups)

    def __call__(self, rng: np.random.Generator, count: int) -> Indices:
        tables = np.zeros((count, self.cells), dtype=np.int64)
        for group in self.groups:
            group.add(rng, tables)
        return tables


@dataclass(frozen=True, eq=False)
class SymmetricDraw:
    """Draws datasets, or counts in their place, with neighbours that stand for all of theirs."""

    sample: Callable[[np.random.Generator, int], IntArray]
    with_neighbours: Callable[[IntArray], QueryBatch]

    def __call__(self, rng: np.random.Generator, count: int) -> QueryBatch:
        return self.with_neighbours(self.sample(rng, count))


@dataclass(frozen=True, eq=False)
class SymmetricJudge:
    """Judges what a ``SymmetricDraw`` drew; numbers, and witnesses, are those of datasets.

    Parameters
    ----------
    mechanism, domain
        What is tested, on datasets.
    inner
        Judges what is drawn.
    to_datasets
        Two neighbouring datasets for what is drawn in the place of datasets.
    """

    mechanism: Mechanism
    domain: Domain
    inner: LossJudge
    to_datasets: Callable[[IntArray, IntArray], Pair] | None = None

    def judge(self, batch: QueryBatch) -> Judgement:
        """One draw stands for a dataset and all its neighbours."""
        judgement = self.inner.judge(batch)
        neighbours = _count_neighbours(self.domain)
        return replace(
            judgement,
            queries=judgement.draws * (1 + neighbours),
            pairs=judgement.draws * neighbours,
            violation=self._on_datasets(judgement.violation),
            doubt=self._on_datasets(judgement.doubt),
        )

    def _on_datasets(self, finding: Finding | None) -> Finding | None:
        if finding is None or self.to_datasets is None:
            return finding
        x, y = self.to_datasets(finding.point, finding.other)
        return Finding(x, y, 1, make_witness(self.mechanism, x, y, self.inner.claim))


def symmetric_sampling(
    mechanism: Mechanism, distribution: Distribution, claim: AnyClaim, *, draws: int, seed: int
) -> Sampling | None:
    """A cheaper task than comparing drawn datasets with each neighbour; None where there is none.

    Counts are drawn in the place of datasets where nothing else matters.
    """
    domain = distribution.domain
    if sees_only_weight(mechanism, distribution):
        draw, judge = _sample_weights(mechanism, distribution, claim)
        return Sampling(draw, judge, draws, 3.0, 1, seed)
    classes = find_symmetries(mechanism, domain)
    if classes is None:
        return None
    changes = SymmetricChanges.of(domain, classes)
    points_per_draw = 1.0 + len(changes)
    tables = _count_tables(mechanism, distribution, changes)
    if tables is not None:
        draw, judge = _sample_tables(mechanism, domain, claim, changes, tables)
        return Sampling(draw, judge, draws, points_per_draw, changes.cells, seed)
    draw = SymmetricDraw(distribution.sample, partial(_with_changes, changes))
    judge = SymmetricJudge(mechanism, domain, LossJudge(mechanism, domain, claim))
    return Sampling(draw, judge, draws, points_per_draw, domain.dimension, seed)


def count_laws_per_draw(mechanism: Mechanism, distribution: Distribution) -> float | None:
    """Most laws that ``symmetric_sampling`` asks for at a draw; None where it has no task.

    Plans and verdicts count the laws of all neighbours, which these stand for.
    """
    if sees_only_weight(mechanism, distribution):
        return 3.0
    classes = find_symmetries(mechanism, distribution.domain)
    return None if classes is None else 1.0 + len(SymmetricChanges.of(distribution.domain, classes))


def _with_changes(near: Domain | SymmetricChanges, centres: IntArray) -> QueryBatch:
    return QueryBatch(PointBatch(centres, *near.neighbour_changes(centres)))


def _sample_weights(
    mechanism: Mechanism, distribution: Any, claim: AnyClaim
) -> tuple[SymmetricDraw, SymmetricJudge]:
    domain = distribution.domain
    line = Hypergrid([domain.dimension + 1])
    on_line: Any = replace(mechanism, statistic=WeightedSum([1]))  # type: ignore[type-var]
    return (
        SymmetricDraw(HammingWeights(distribution), partial(_with_changes, line)),
        SymmetricJudge(
            mechanism,
            domain,
            LossJudge(on_line, line, claim),
            partial(_weights_to_datasets, mechanism.statistic, domain),
        ),
    )


def _weights_to_datasets(
    statistic: Statistic, domain: Domain, weight: IntArray, neighbour: IntArray
) -> Pair:
    ends = np.array([weight[0], neighbour[0]], dtype=np.int64)
    return statistic.realise(domain, ends[0], ends[1])


def _count_tables(
    mechanism: Mechanism, distribution: Distribution, changes: SymmetricChanges
) -> CountTables | None:
    """What draws tables of counts; None where that is not possible, or saves little."""
    statistic, records = mechanism.statistic, distribution.domain.dimension
    if statistic.of_counts(distribution.domain) is None:
        return None
    if not isinstance(distribution, ProductDistribution) or not _takes_statistics(mechanism):
        return None
    if records < _MANY_RECORDS:
        return None
    tables = CountTables.of(distribution, changes)
    return tables if _RECORDS_PER_COUNT * tables.drawn <= records else None


def _sample_tables(
    mechanism: Mechanism,
    domain: Domain,
    claim: AnyClaim,
    changes: SymmetricChanges,
    tables: CountTables,
) -> tuple[SymmetricDraw, SymmetricJudge]:
    seen = mechanism.statistic.of_counts(domain)
    on_tables: Any = replace(mechanism, statistic=seen)  # type: ignore[type-var]
    grid = Hypergrid([domain.dimension + 1] * changes.cells)
    return (
        SymmetricDraw(tables, changes.neighbouring_tables),
        SymmetricJudge(
            mechanism,
            domain,
            LossJudge(on_tables, grid, claim),
            partial(changes.to_datasets, domain),
        ),
    )
