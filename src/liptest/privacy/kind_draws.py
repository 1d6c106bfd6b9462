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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.distributions import Distribution
from liptest.driver import Judgement, QueryBatch, Sampling
from liptest.mechanisms.base import Mechanism
from liptest.points import PointBatch
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.privacy.kind_changes import KindChanges, few_kinds, neighbours_of
from liptest.privacy.kind_counts import count_sampling
from liptest.privacy.level_draws import draws_levels, level_sampling

Indices = NDArray[np.int64]


def draws_kinds(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether comparing one record of each kind and value saves most of the work."""
    return few_kinds(mechanism, distribution.domain) is not None


def kind_sampling(
    mechanism: Mechanism, distribution: Distribution, claim: Claim, *, draws: int, seed: int
) -> Sampling:
    """The task of comparing one record of each kind and value, where ``draws_kinds`` holds."""
    domain = distribution.domain
    draw = KindDraw.of(distribution, mechanism.statistic.kinds(domain))
    judge = KindJudge(LossJudge(mechanism, domain, claim), neighbours_of(domain))
    return Sampling(draw, judge, draws, 1.0 + len(draw.changes), domain.dimension, seed)


def few_neighbours(
    mechanism: Mechanism, distribution: Distribution, claim: Claim, *, draws: int, seed: int
) -> Sampling | None:
    """A cheaper task than comparing drawn datasets with each neighbour; None where there is none.

    Counts are drawn in the place of datasets where nothing else matters.
    """
    if draws_levels(mechanism, distribution):
        return level_sampling(mechanism, distribution, claim, draws=draws, seed=seed)
    counts = count_sampling(mechanism, distribution, claim, draws=draws, seed=seed)
    if counts is None and draws_kinds(mechanism, distribution):
        return kind_sampling(mechanism, distribution, claim, draws=draws, seed=seed)
    return counts


def asked_per_draw(mechanism: Mechanism, distribution: Distribution) -> float | None:
    """Most laws that ``few_neighbours`` asks for at a draw; None where it has no task.

    Plans and verdicts count the laws of all neighbours, which these stand for.
    """
    if draws_levels(mechanism, distribution):
        return 3.0
    kinds = few_kinds(mechanism, distribution.domain)
    return None if kinds is None else 1.0 + len(KindChanges.of(distribution.domain, kinds))


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
