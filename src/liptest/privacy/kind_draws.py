"""Sampling for mechanisms that see a statistic which treats many records alike.

Let two records be of one *kind* when exchanging their values leaves the statistic as it is, as in a
histogram, a median, a sum in which they have one weight. In a drawn dataset all records of one kind
and one value have the same neighbours as the mechanism sees them: setting one of them to a value b
gives the statistic that setting another of them to b gives. So one of them is compared for
all, and comparing a drawn dataset with all its neighbours (theory 3.6b) costs as many laws as there
are kinds and pairs of values, however many records there are. The guarantee is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution
from liptest.domains import Domain, Hypercube, IntArray, RecordGrid
from liptest.driver import Judgement, QueryBatch, Sampling
from liptest.mechanisms.base import Mechanism
from liptest.points import PointBatch
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.privacy.level_draws import draws_levels, level_sampling

Indices = NDArray[np.int64]

# Domains with fewer neighbours are compared neighbour by neighbour.
_MANY = 1 << 10


@runtime_checkable
class HasKinds(Protocol):
    """A statistic that knows which records it treats alike."""

    def kinds(self, domain: Domain) -> Indices:
        """(d,) the kind of each record, numbered from 0; exchanging two of one kind is not seen."""
        ...


def draws_kinds(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether comparing one record of each kind and value saves most of the work."""
    return few_kinds(mechanism, distribution.domain) is not None


def few_kinds(mechanism: Mechanism, domain: Domain) -> Indices | None:
    """(d,) kind of each record, where comparing one of each kind and value saves most of the work.

    Mechanisms that merely happened to read no more than a statistic are asked on all neighbours.
    """
    statistic = mechanism.statistic
    known = isinstance(statistic, HasKinds) and not getattr(mechanism, "reads_only", False)
    if not known or not isinstance(domain, (Hypercube, RecordGrid)):
        return None
    neighbours, widest = _neighbours(domain), max(domain.sizes)
    if neighbours < _MANY:
        return None
    kinds = statistic.kinds(domain)
    few = 2 * (int(kinds.max()) + 1) * widest * (widest - 1) <= neighbours
    return kinds if few else None


def kind_sampling(
    mechanism: Mechanism, distribution: Distribution, claim: Claim, *, draws: int, seed: int
) -> Sampling:
    """The task of comparing one record of each kind and value, where ``draws_kinds`` holds."""
    domain = distribution.domain
    draw = KindDraw.of(distribution, mechanism.statistic.kinds(domain))
    judge = KindJudge(LossJudge(mechanism, domain, claim), _neighbours(domain))
    return Sampling(draw, judge, draws, 1.0 + len(draw.changes), domain.dimension, seed)


def few_neighbours(
    mechanism: Mechanism, distribution: Distribution, claim: Claim, *, draws: int, seed: int
) -> Sampling | None:
    """A cheaper task than comparing drawn datasets with each neighbour; None where there is none.

    Counts are drawn in the place of datasets where nothing else matters.
    """
    if draws_levels(mechanism, distribution):
        return level_sampling(mechanism, distribution, claim, draws=draws, seed=seed)
    if draws_kinds(mechanism, distribution):
        return kind_sampling(mechanism, distribution, claim, draws=draws, seed=seed)
    return None


def asked_per_draw(mechanism: Mechanism, distribution: Distribution) -> float | None:
    """Most laws that ``few_neighbours`` asks for at a draw; None where it has no task.

    Plans and verdicts count the laws of all neighbours, which these stand for.
    """
    if draws_levels(mechanism, distribution):
        return 3.0
    kinds = few_kinds(mechanism, distribution.domain)
    return None if kinds is None else 1.0 + len(KindChanges.of(distribution.domain, kinds))


def _neighbours(domain: Domain) -> int:
    return int((domain.size_array - 1).sum())


@dataclass(frozen=True, eq=False)
class KindChanges:
    """One changed copy of a dataset for each kind, value and other value.

    Parameters
    ----------
    kinds
        (d,) kind of each record.
    places, others
        (k,) each: a change of kind and value ``places[j]``, a number ``kind * widest + value``,
        to the value ``others[j]``; ``places`` ascend.
    widest
        Most values of a record.
    """

    kinds: Indices
    places: Indices
    others: Indices
    widest: int

    @classmethod
    def of(cls, domain: Domain, kinds: Indices) -> KindChanges:
        """The changes that stand for all of a domain."""
        widest = max(domain.sizes)
        sizes = np.zeros(int(kinds.max()) + 1, dtype=np.int64)
        sizes[kinds] = domain.size_array
        values = np.arange(widest)
        inside = values < sizes[:, None]
        changes = inside[:, :, None] & inside[:, None, :] & (values[:, None] != values)
        kind, value, other = np.nonzero(changes)
        return cls(kinds, kind * widest + value, other, widest)

    def __len__(self) -> int:
        """The most that a dataset has."""
        return len(self.others)

    def neighbour_changes(self, points: IntArray) -> tuple[Indices, Indices, Indices]:
        """Rows, coordinates and values, (m,) each, as those of a domain but one for many."""
        held = np.full((len(points), (int(self.kinds.max()) + 1) * self.widest), -1)
        codes = self.kinds * self.widest + points
        np.put_along_axis(held, codes, np.arange(points.shape[1])[None, :], axis=1)
        changed = held[:, self.places]
        rows, which = np.nonzero(changed >= 0)
        return rows, changed[rows, which], self.others[which]


@dataclass(frozen=True, eq=False)
class KindDraw:
    """Draws datasets, each with one changed copy for each kind, value and other value."""

    distribution: Distribution
    changes: KindChanges

    @classmethod
    def of(cls, distribution: Distribution, kinds: Indices) -> KindDraw:
        return cls(distribution, KindChanges.of(distribution.domain, kinds))

    def __call__(self, rng: np.random.Generator, count: int) -> QueryBatch:
        centres = self.distribution.sample(rng, count)
        return QueryBatch(PointBatch(centres, *self.changes.neighbour_changes(centres)))


@dataclass(frozen=True, eq=False)
class KindJudge:
    """Judges drawn datasets; one change stands for those of all records of its kind and value."""

    inner: LossJudge
    neighbours: int

    def judge(self, batch: QueryBatch) -> Judgement:
        """Laws and pairs are counted as those of datasets with all their neighbours."""
        found: Any = self.inner.judge(batch)
        counted: Judgement = replace(
            found,
            queries=found.draws * (1 + self.neighbours),
            pairs=found.draws * self.neighbours,
        )
        return counted
