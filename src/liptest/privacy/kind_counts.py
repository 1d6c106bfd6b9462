"""Sampling for mechanisms that see of very many records only how many of each kind have a value.

As in ``liptest.privacy.level_draws``: such a table of counts is drawn in the place of a dataset,
and compared with the tables that one changed record leads to. Records that are independent, of one
kind and of one law have multinomial counts, drawn as binomial ones by NumPy: their probabilities
are right up to the rounding of floats. The guarantee is that of full neighbourhoods (theory 3.6b).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Domain, Hypergrid, IntArray
from liptest.driver import Finding, Judgement, QueryBatch, Sampling
from liptest.mechanisms.base import Mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge, witness_of
from liptest.privacy.kind_changes import KindChanges, few_kinds, neighbours_of, says_itself
from liptest.privacy.level_draws import can_see_another
from liptest.statistics.protocol import Statistic

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]

# Fewer records are drawn one by one, with probabilities exact to 53 bits.
_MANY = 1 << 14
# Records for each count that is drawn, at least.
_SAVED = 16


@runtime_checkable
class SeesCounts(Protocol):
    """A statistic that can be computed from how many records of each kind have each value."""

    def of_counts(self, domain: Domain) -> Statistic:
        """The same values from (n, kinds * widest) counts; kinds are those of ``kinds(domain)``."""
        ...


@dataclass(frozen=True, eq=False)
class Group:
    """Independent records of one kind and one law.

    ``cells`` are the values of positive mass, as ``kind * widest + value``; ``rates`` the chance of
    each among those from it on, 1 for the last.
    """

    records: int
    cells: Indices
    rates: Floats

    @classmethod
    def of(cls, records: int, first: int, mass: Floats) -> Group:
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


def count_sampling(
    mechanism: Mechanism, distribution: Distribution, claim: Claim, *, draws: int, seed: int
) -> Sampling | None:
    """The task of drawing counts in the place of datasets; None where that saves little."""
    domain, statistic = distribution.domain, mechanism.statistic
    if not isinstance(statistic, SeesCounts) or not isinstance(distribution, ProductDistribution):
        return None
    if domain.dimension < _MANY or not can_see_another(mechanism):
        return None
    if not says_itself(statistic, "of_counts"):
        return None
    kinds = few_kinds(mechanism, domain)
    if kinds is None:
        return None
    changes = KindChanges.of(domain, kinds)
    groups = _groups(distribution, kinds, changes.widest)
    cells = sum(len(group.cells) for group in groups)
    if _SAVED * cells > domain.dimension:
        return None
    draw, per_draw = CountDraw(tuple(groups), changes), 1.0 + len(changes)
    judge = CountJudge.of(mechanism, domain, claim, changes)
    return Sampling(draw, judge, draws, per_draw, changes.cells, seed)


def _groups(distribution: ProductDistribution, kinds: Indices, widest: int) -> list[Group]:
    found: dict[tuple[int, bytes], int] = {}
    for kind, mass in zip(kinds.tolist(), distribution.marginals(), strict=True):
        key = kind, mass.tobytes()
        found[key] = found.get(key, 0) + 1
    return [
        Group.of(records, kind * widest, np.frombuffer(mass))
        for (kind, mass), records in found.items()
    ]


@dataclass(frozen=True, eq=False)
class CountDraw:
    """Draws tables of counts, each followed by those that one changed record leads to."""

    groups: tuple[Group, ...]
    changes: KindChanges

    def __call__(self, rng: np.random.Generator, count: int) -> QueryBatch:
        tables = np.zeros((count, self.changes.cells), dtype=np.int64)
        for group in self.groups:
            group.add(rng, tables)
        rows, which = np.nonzero(tables[:, self.changes.places] > 0)
        near, each = tables[rows], np.arange(len(rows))
        near[each, self.changes.places[which]] -= 1
        near[each, self.changes.targets[which]] += 1
        return QueryBatch.of_neighbourhoods(tables, rows, near)


@dataclass(frozen=True, eq=False)
class CountJudge:
    """Judges drawn tables of counts; numbers, and witnesses, are those of datasets."""

    mechanism: Mechanism
    domain: Domain
    changes: KindChanges
    inner: LossJudge

    @classmethod
    def of(
        cls, mechanism: Mechanism, domain: Domain, claim: Claim, changes: KindChanges
    ) -> CountJudge:
        seen = mechanism.statistic.of_counts(domain)
        on_counts: Any = replace(mechanism, statistic=seen)  # type: ignore[type-var]
        tables = Hypergrid([domain.dimension + 1] * changes.cells)
        return cls(mechanism, domain, changes, LossJudge(on_counts, tables, claim))

    def judge(self, batch: QueryBatch) -> Judgement:
        """One draw stands for a dataset and all its neighbours."""
        found = self.inner.judge(batch)
        neighbours = neighbours_of(self.domain)
        return replace(
            found,
            queries=found.draws * (1 + neighbours),
            pairs=found.draws * neighbours,
            violation=self._as_datasets(found.violation),
            doubt=self._as_datasets(found.doubt),
        )

    def _as_datasets(self, finding: Finding | None) -> Finding | None:
        if finding is None:
            return None
        x = self._dataset(finding.point)
        [before] = np.flatnonzero(finding.other < finding.point)
        [after] = np.flatnonzero(finding.other > finding.point)
        y = x.copy()
        own = self.changes.kinds * self.changes.widest + x
        y[np.flatnonzero(own == before)[-1]] = after % self.changes.widest
        return Finding(x, y, 1, witness_of(self.mechanism, x, y, self.inner.claim))

    def _dataset(self, table: IntArray) -> IntArray:
        """A dataset with these counts: of each kind the records in the order of their values."""
        # Cells ascend by kind and then by value, as the places do by kind.
        values = np.repeat(np.arange(len(table)) % self.changes.widest, table)
        x = np.zeros(self.domain.dimension, dtype=self.domain.dtype)
        x[np.argsort(self.changes.kinds, kind="stable")] = values
        return x
